"""Intervals hold as often as they say, on real columns and on the worst ones.

The truth is computed from what the user typed. A cell fails if so many misses have a probability below
one in a million where the interval is right; chance is a normal law, and may miss 7 times in 100.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons_next as ep
from epsilons_next.inference.rows import Row
from tests.next import profiles, simulated
from tests.next.columns import MENUS, columns, limits

ALARM = 1e-6
PEOPLE = 700
LEVELS = [0.02, 0.05, 0.1, 0.2, 1.0]
Truths = dict[tuple[str, ...], float]


def table(values: np.ndarray, menu: str, rng: np.random.Generator) -> pl.DataFrame:
    """Return people with some rows each, whose number goes with their limit, and gaps in two columns."""
    e = limits(values, menu, rng)
    rows = 1 + (e < 0.3) * rng.integers(0, 3, len(values))
    place = np.repeat(np.arange(len(values)), rows)
    noise = rng.normal(0.0, 0.1 * values.std(), len(place))
    groups = np.array(["a", "b", "c"])[rng.integers(0, 3, len(place))]
    groups = np.where(rng.random(len(place)) < 0.6, "a", groups)
    return pl.DataFrame(
        {
            "p": place,
            "e": e[place],
            "x": values[place] + noise,
            "g": groups,
            "h": np.where(rng.random(len(place)) < 0.5, "yes", "no"),
        }
    ).with_columns(
        y=pl.when(pl.Series(rng.random(len(place)) < 0.1)).then(None).otherwise("x"),
        k=pl.when(pl.Series(rng.random(len(place)) < 0.1)).then(None).otherwise("h"),
    )


def truths(
    frame: pl.DataFrame, statistic: str, field: str, bounds: tuple[float, float], least: float
) -> Truths:
    """What is true of the people in a frame, from rows, in plain words."""
    number = "y" if field == "exclude" else "x"
    rows = frame.filter(pl.col("e") >= least)
    if field == "where":
        rows = rows.filter(pl.col("h") == "yes")
    if field == "exclude":
        rows = rows.filter(pl.col("y").is_not_null() & (pl.col("k") == "yes"))
    rows = rows.with_columns(v=pl.col(number).clip(*bounds))
    kept = rows.group_by("p").agg(n=pl.len())
    label = {"mean": [], "shares": ["s"]}[statistic]
    rows = rows.with_columns(
        s=pl.when(pl.col("x") < sum(bounds) / 4).then(pl.lit("low")).otherwise(pl.lit("high"))
    )
    keys = (["g"] if field == "by" else []) + label
    own = rows.group_by("p", *keys).agg(pl.len().alias("m"), pl.col("v").mean()).join(kept, on="p")
    own = own.with_columns(w=pl.col("m") / pl.col("n"))
    found: Truths = {}
    names = list(
        itertools.product(*({"g": ["a", "b", "c"], "s": ["low", "high"]}[k] for k in keys))
    )
    for name in names:
        inside = own.filter(
            pl.all_horizontal(
                pl.lit(True), *(pl.col(k) == v for k, v in zip(keys, name, strict=True))
            )
        )
        if statistic == "mean":
            found[name] = float((inside["w"] * inside["v"]).sum() / inside["w"].sum())
        else:
            outer = own.filter(
                pl.all_horizontal(
                    pl.lit(True),
                    *(pl.col(k) == v for k, v in zip(keys[:-1], name[:-1], strict=True)),
                )
            )
            found[name] = float(inside["w"].sum() / outer["w"].sum())
    return found


def question(statistic: str, field: str, bounds: tuple[float, float], **words: Any) -> Any:
    fields: dict[str, Any] = {
        "plain": {},
        "by": {"by": {"g": ["a", "b", "c"]}},
        "where": {"where": {"h": "yes"}},
        "exclude": {"missing": "exclude", "where": {"k": "yes"}},
        "at_least": {"at_least": 0.1},
    }[field]
    if statistic == "mean":
        return ep.Mean("y" if field == "exclude" else "x", bounds, **fields, **words)
    quarter = sum(bounds) / 4
    bins = {"low": ep.Bins(-np.inf, quarter), "high": ep.Bins(quarter, np.inf)}
    del bins
    if field == "exclude":
        fields = {**fields, "where": {"k": "yes"}}
    return ep.Shares("s", ["low", "high"], **fields, **words)


def apart(frame: pl.DataFrame, bounds: tuple[float, float], statistic: str) -> float:
    """How far people with different limits lie apart on average, in truth."""
    value = (
        pl.col("x").clip(*bounds)
        if statistic == "mean"
        else (pl.col("x") < sum(bounds) / 4).cast(pl.Float64)
    )
    own = frame.group_by("p").agg(value.mean().alias("v"), pl.col("e").first())
    means = own.group_by("e").agg(pl.col("v").mean())["v"]
    return float(means.max() - means.min()) * 1.0001 + 1e-9


READINGS: dict[str, dict[str, Any]] = {
    "nothing assumed": {},
    "within": {"assume": "within"},
    "unrelated": {"assume": "unrelated"},
    "population": {"about": "population"},
    "population, unrelated": {"about": "population", "assume": "unrelated"},
}
FIELDS = ("plain", "by", "where", "exclude", "at_least")
CELLS = [
    (statistic, field, hidden, reading, column, menu)
    for statistic, field, hidden, reading, column, menu in itertools.product(
        ("mean", "shares"), FIELDS, (False, True), READINGS, columns(), MENUS
    )
    if not (hidden and "population" in reading)
    and not (reading == "within" and field in ("by", "where", "exclude"))
    and not ("unrelated" in reading and "related" == menu.split()[-1])
]
SOME = CELLS if profiles.CAMPAIGN else random.Random(20261119).sample(CELLS, 70)


def runs_of(cell: tuple[Any, ...]) -> Iterator[tuple[list[Row], Truths]]:
    """Releases of one cell, each with its truth."""
    statistic, field, hidden, reading, column, menu = cell
    values, bounds = columns()[column]
    rng = np.random.default_rng(abs(hash(column)) % 1000 if False else len(column))
    least = 0.1 if field == "at_least" else 0.0
    words = dict(READINGS[reading])
    secret: dict[str, Any] = {"secret": "participation", "offered": LEVELS} if hidden else {}

    def asked(frame: pl.DataFrame) -> tuple[Any, Any]:
        frame = frame.with_columns(
            s=pl.when(pl.col("x") < sum(bounds) / 4).then(pl.lit("low")).otherwise(pl.lit("high"))
        )
        if field == "exclude" and statistic == "shares":
            frame = frame.with_columns(s=pl.when(pl.col("y").is_not_null()).then("s"))
        own = dict(words)
        if own.get("assume") == "within":
            own["assume"] = ep.Within(apart(frame, bounds, statistic))
        return ep.People(frame, "e", "p", **secret), question(statistic, field, bounds, **own)

    if "population" not in reading and "unrelated" not in reading:
        frame = table(rng.choice(values, PEOPLE), menu, rng)
        truth = truths(frame, statistic, field, bounds, least)
        for rows in simulated.releases(*asked(frame), seed=1):
            yield rows, truth
    base = table(rng.choice(values, PEOPLE), menu, rng)
    big = table(rng.choice(values, 60_000), menu, rng) if "population" in reading else None
    everybody = truths(big, statistic, field, bounds, least) if big is not None else {}
    for seed in itertools.count():
        again = np.random.default_rng([7, seed])
        if big is None:  # limits are dealt anew to the same people
            people = base.group_by("p", maintain_order=True).agg(pl.all())
            frame = people.with_columns(
                e=people["e"].gather(again.permutation(len(people)))
            ).with_columns(e=pl.col("e").list.first().repeat_by(pl.col("x").list.len()))
            frame = frame.explode("e", "x", "g", "h", "y", "k")
            truth = truths(frame, statistic, field, bounds, least)
        else:
            ids = pl.DataFrame({"p": again.choice(60_000, PEOPLE, replace=False)})
            frame, truth = big.join(ids, on="p"), everybody
        rows = next(simulated.releases(*asked(frame), seed=seed))
        yield rows, truth


def misses(
    found: Iterator[tuple[list[Row], Truths]], runs: int
) -> tuple[dict[tuple[str, ...], int], int, int]:
    """Misses of each number, bands that miss any, and how many runs there were."""
    missed: dict[tuple[str, ...], int] = {}
    bands = 0
    for rows, truth in itertools.islice(found, runs):
        together = False
        for row in rows:
            true = truth[row.names]
            slack = 1e-6 * max(abs(true), 1.0)
            missed[row.names] = missed.get(row.names, 0) + (
                not row.low - slack <= true <= row.high + slack
            )
            together |= not row.band_low - slack <= true <= row.band_high + slack
        bands += together
    return missed, bands, runs


@pytest.mark.parametrize("cell", SOME, ids=lambda cell: "-".join(map(str, cell)))
def test_real_columns(cell: Any) -> None:
    chance = cell[3] not in ("nothing assumed", "within")
    runs = profiles.RUNS // (6 if chance else 3)
    missed, bands, runs = misses(runs_of(cell), runs)
    rate = 0.07 if chance else 0.05
    for name, number in {**missed, ("all at once",): bands}.items():
        assert not simulated.too_many(number, runs, rate, ALARM), f"{name}: {number} of {runs}"
