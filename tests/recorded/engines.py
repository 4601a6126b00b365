"""Recorded calls that ask every engine the same questions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import epsilons as ep
from tests.engines import ENGINES, SPARK, on_engine, written
from tests.recorded import people as p
from tests.recorded.place import SAMPLE, Calls, Place, Run, assumed

TABLE = pl.DataFrame(
    {
        "x": p.VALUES,
        "holes": [None if np.isnan(each) else float(each) for each in p.HOLES],
        "word": p.TEXT,
        "whole": p.WHOLE,
        "e": p.EPSILON,
        "who": p.PERSON,
        "f": p.OF_PERSON,
    }
)
KINDS = [*(name for name in ENGINES if name != SPARK), "tsv"]


def file(directory: Path, kind: str, table: pl.DataFrame = TABLE, name: str = "people") -> Path:
    """Write the table to a file if it does not exist, and return the path."""
    path = directory / f"{name}.{kind}"
    return path if path.exists() else written(table, path)


def held(kind: str, place: Place) -> Any:
    """Return the table as a frame of an engine, or as a file."""
    if kind == "tsv":
        return file(place.directory, kind)
    return on_engine(kind, TABLE, place.directory, place.spark)


def _mean(
    kind: str, values: str = "x", epsilon: Any = "e", bounds: Any = (0, 100), **more: Any
) -> Run:
    words = assumed(bounds) | more
    return lambda place: ep.mean(
        values, epsilon=epsilon, bounds=bounds, data=held(kind, place), source=place.source, **words
    )


def _shares(kind: str, **more: Any) -> Run:
    words = SAMPLE | more
    return lambda place: ep.frequencies(
        "word", epsilon="f", data=held(kind, place), person="who", source=place.source, **words
    )


def _of(kind: str) -> dict[str, Run]:
    private = {"neighbours": "add-remove"}
    return {
        f"{kind}: mean": _mean(kind),
        f"{kind}: mean of persons with holes": _mean(
            kind, "holes", "f", person="who", missing="midpoint"
        ),
        f"{kind}: frequencies": _shares(kind, categories=p.WORDS),
        f"{kind}: private mean": _mean(kind, levels=[0.1, 0.5, 1.0, 2.0], **private),
    }


def _of_papers(kind: str) -> dict[str, Run]:
    """Return calls of `epsilons.papers` with columns of a frame instead of arrays."""

    def sampled(place: Place) -> ep.Release:
        return ep.papers.sampled_mean(
            held(kind, place)["x"], epsilon=6.0, bounds=(0, 100), source=place.source, **SAMPLE
        )

    def diffused(place: Place) -> ep.Release:
        return ep.papers.diffused_mean(held(kind, place)["x"], epsilon=6.0, source=place.source)

    return {f"{kind}: sampling": sampled, f"{kind}: diffusion": diffused}


def _some(kind: str) -> dict[str, Run]:
    """Return calls that are recorded for some engines only."""
    private = {"neighbours": "add-remove"}
    return {
        f"{kind}: private frequencies": _shares(
            kind, categories=["bus"], other="else", levels=[0.3, 1.0, 2.5], **private
        ),
        f"{kind}: private, unknown range": _mean(
            kind, bounds=None, levels={0.1: 50, 1.0: 100, 2.0: 50}, **private
        ),
        f"{kind}: unknown range": _mean(kind, epsilon=6.0, bounds=None),
    }


CALLS: Calls = {
    **{
        name: run
        for kind in KINDS
        for name, run in _of(kind).items()
        if kind != "dask" or name in ("dask: mean", "dask: frequencies")
    },
    **{
        name: run
        for kind in ("polars lazy", "duckdb", "csv", "ibis")
        for name, run in _some(kind).items()
    },
    **{
        name: run
        for kind in ("pandas", "polars", "pyarrow")
        for name, run in _of_papers(kind).items()
    },
    **{
        name: run
        for name, run in (_of(SPARK) | _some(SPARK)).items()
        if name in (f"{SPARK}: {each}" for each in ("mean", "frequencies", "unknown range"))
    },
}
