"""Means of people with many rows, of arrays, and of few people."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks import data
from benchmarks.timing import Result, alternate, once

LO, HI = 0.0, 100.0


def results(*, quick: bool) -> Iterator[Result]:
    if not quick:
        yield from from_people()
    yield from from_arrays()
    yield from small()


def from_people() -> Iterator[Result]:
    import polars as pl

    path = data.rows_parquet()

    def bare() -> Any:
        return (
            pl.scan_parquet(path)
            .group_by("person")
            .agg(pl.len(), pl.col("value").clip(LO, HI).sum())
            .collect(engine="streaming")
        )

    def ours() -> Any:
        return ep.mean("value", epsilon="epsilon", bounds=(LO, HI), data=path, person="person")

    turns = alternate(ours, bare, runs=5)
    yield turns.result("person=, 3·10⁶ people, against group-by person", 3)


def from_arrays() -> Iterator[Result]:
    values, epsilon = data.arrays()
    turns = alternate(
        lambda: ep.mean(values, epsilon=epsilon, bounds=(LO, HI)),
        lambda: np.clip(values, LO, HI).mean(),
    )
    yield turns.result("mean, 10⁷ NumPy rows, against np.clip.mean", 8)


def small() -> Iterator[Result]:
    rng = np.random.default_rng(4)
    values, epsilon = rng.uniform(LO, HI, 1000), np.exp(rng.uniform(-3.0, 1.0, 1000))

    def work() -> Any:
        return ep.mean(values, epsilon=epsilon, bounds=(LO, HI))

    work()
    yield Result(
        "mean of 1,000 rows", 1e3 * sorted(once(work) for _ in range(51))[25], "ms", 5, True
    )
    code = "import time; t = time.perf_counter(); import epsilons; print(time.perf_counter() - t)"
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        for _ in range(5)
    ]
    yield Result("import epsilons", sorted(times)[2], "s", 0.5, True)
