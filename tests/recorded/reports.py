"""Recorded calls of the local model: reports and estimates."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

import epsilons as ep
from tests.recorded import people as p
from tests.recorded.engines import file
from tests.recorded.place import Calls, Place, Run

LEVELS = [0.1, 0.5, 1.0, 2.0]
VECTORS = np.random.default_rng(8).normal(0.0, 0.4, (p.N, 3))


def told(
    mechanism: Any,
    values: Any,
    epsilon: Any = p.EPSILON,
    *,
    channel: tuple[float, ...] = (),
    **more: Any,
) -> Run:
    """Return a call that makes reports, an estimate, and the exact privacy loss of the reports."""

    def run(place: Place) -> dict[str, Any]:
        reports = mechanism.randomize_many(values, epsilon, place.source)
        losses = {
            f"loss at {each}": ep.verify.exact_channel(mechanism.channel(each)) for each in channel
        }
        return {
            "reports": reports,
            "release": mechanism.estimate(reports, **more),
            "mechanism": repr(mechanism),
            "fingerprint": mechanism.fingerprint,
            **losses,
        }

    return run


def of_table(mechanism: Any, values: Any, kind: str) -> Run:
    """Return a call that estimates from a table of reports."""

    def run(place: Place) -> Any:
        reports = mechanism.randomize_many(values, p.EPSILON, place.source)
        table = pl.DataFrame(reports.to_columns())
        data: Any = table
        if kind == "pandas":
            data = table.to_pandas()
        elif kind == "lazy":
            data = table.lazy()
        elif kind == "parquet":
            data = file(place.directory, "parquet", table, f"reports-{mechanism.kind}")
        return mechanism.estimate(data=data)

    return run


def of_bytes(mechanism: Any, values: Any, weights: str) -> Run:
    """Return a call that estimates from a column of bytes, and from merged states."""

    def run(place: Place) -> dict[str, Any]:
        parts = [
            mechanism.randomize_many(values[part], p.EPSILON[part], place.source)
            for part in (slice(0, 90), slice(90, None))
        ]
        sent = [each.to_bytes() for each in parts]
        states = [mechanism.state(each, weights=weights) for each in sent]
        return {
            "column": mechanism.estimate(
                "sent", data=pl.DataFrame({"sent": sent}), weights=weights
            ),
            "stream": mechanism.estimate(iter(sent), weights=weights),
            "merged": mechanism.estimate(states[0] + states[1], weights=weights),
        }

    return run


def one(mechanism: Any, value: Any, epsilon: float) -> Run:
    return lambda place: mechanism.randomize(value, epsilon, place.source)


MEAN = ep.local.Mean((0, 100))
LAPLACE = ep.local.Mean((0, 100), method="laplace")
BIT = ep.local.Bit()
SHARES = {
    method: ep.local.Frequencies(p.WORDS, method=method)
    for method in ("auto", "hadamard", "projection", "rappor")
}


def _weighted() -> dict[str, Run]:
    calls: dict[str, Run] = {}
    for weights in ("variance", "paper", "uniform"):
        calls[f"mean, {weights}"] = told(MEAN, p.VALUES, weights=weights)
        calls[f"laplace, {weights}"] = told(LAPLACE, p.VALUES, weights=weights)
        calls[f"bit, {weights}"] = told(BIT, p.TRUTH, weights=weights)
        calls[f"vector, {weights}"] = told(ep.local.Vector(3), VECTORS, weights=weights)
        for method, mechanism in SHARES.items():
            calls[f"frequencies, {method}, {weights}"] = told(mechanism, p.TEXT, weights=weights)
    return calls


CALLS: Calls = {
    **_weighted(),
    "mean, bit, levels": told(
        ep.local.Mean((0, 100), "bit", levels=LEVELS), p.VALUES, channel=(0.1, 2.0), confidence=0.8
    ),
    "mean, piecewise, levels": told(
        ep.local.Mean((0, 100), "piecewise", levels=LEVELS), p.VALUES, channel=(0.1, 2.0)
    ),
    "mean, piecewise, uniform": told(
        ep.local.Mean((0, 100), "piecewise"), p.VALUES, p.EPSILON * 4.0, weights="uniform"
    ),
    "mean, laplace, levels": told(ep.local.Mean((0, 100), "laplace", levels=LEVELS), p.VALUES),
    "mean, laplace, tiny budgets": told(LAPLACE, p.VALUES, p.EPSILON * 1e-6),
    "mean, laplace, huge budgets": told(LAPLACE, p.VALUES, p.EPSILON * 1e5),
    "mean, holes": told(ep.local.Mean((0, 100), missing="midpoint"), p.HOLES),
    "mean, public": told(
        ep.local.Mean((0, 100), levels=[1.0, np.inf]), p.VALUES, np.where(p.TRUTH, np.inf, 1.0)
    ),
    "bit, levels": told(ep.local.Bit(levels=LEVELS), p.TRUTH, channel=(0.0, 0.5, 2.0)),
    "bit, holes": told(
        ep.local.Bit("midpoint"), np.where(np.arange(p.N) % 9 == 0, np.nan, p.TRUTH)
    ),
    "bit, zeros": told(BIT, p.TRUTH.astype(int), p.MIXED),
    "vector, duchi": told(
        ep.local.Vector(3, radius=2.0, method="duchi"), VECTORS, channel=(0.5, 3.0)
    ),
    "vector, generous": told(ep.local.Vector(3), VECTORS, p.EPSILON * 4.0, channel=(6.0,)),
    "vector, levels": told(ep.local.Vector(3, levels=LEVELS), VECTORS, confidence=0.7),
    "vector, holes": told(
        ep.local.Vector(3, missing="midpoint"), np.where(p.TRUTH[:, None], np.nan, VECTORS)
    ),
    "frequencies, how many": told(ep.local.Frequencies(5), p.WHOLE % 5, channel=(1.0,)),
    "frequencies, other": told(ep.local.Frequencies(["bus", "else"], other="else"), p.TEXT),
    "frequencies, seed": told(
        ep.local.Frequencies(p.WORDS, "projection", 12_345), p.TEXT, channel=(1.0,)
    ),
    "frequencies, rappor, levels": told(
        ep.local.Frequencies(p.WORDS, "rappor", levels=LEVELS), p.TEXT, channel=(1.0,)
    ),
    **{
        f"table, {kind}, {name}": of_table(mechanism, values, kind)
        for kind, name, mechanism, values in (
            ("polars", "mean", MEAN, p.VALUES),
            ("pandas", "laplace", LAPLACE, p.VALUES),
            ("lazy", "bit", BIT, p.TRUTH),
            ("parquet", "frequencies", SHARES["auto"], p.TEXT),
            ("polars", "rappor", SHARES["rappor"], p.TEXT),
            ("parquet", "vector", ep.local.Vector(3), VECTORS),
        )
    },
    "bytes, mean": of_bytes(MEAN, p.VALUES, "variance"),
    "bytes, frequencies": of_bytes(SHARES["hadamard"], p.TEXT, "uniform"),
    "one report, mean": one(MEAN, 30.0, 0.5),
    "one report, laplace": one(LAPLACE, 30.0, 0.5),
    "one report, bit": one(BIT, True, 0.5),
    "one report, vector": one(ep.local.Vector(2), [0.3, 0.4], 2.5),
    "one report, frequencies": one(SHARES["rappor"], "car", 0.5),
}
