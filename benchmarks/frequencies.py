"""Frequencies over ten million rows, and of a million categories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import epsilons as ep
from benchmarks import data
from benchmarks.timing import Result, alternate, once
from epsilons.allocation import Goal, allocate_for
from epsilons.budgets import Budgets
from epsilons.central import build_histogram
from epsilons.noise import System
from epsilons.risk.simplex import project


def results() -> Iterator[Result]:
    import polars as pl

    path = data.categories_parquet()
    words: list[Any] = [f"category {k:02d}" for k in range(100)]
    whole: list[Any] = list(range(100))
    for name, column, categories in (("words", "value", words), ("integers", "number", whole)):

        def bare(column: str = column) -> Any:
            scan = pl.scan_parquet(path).group_by("epsilon", column).agg(pl.len())
            return scan.collect(engine="streaming")

        def ours(column: str = column, categories: list[Any] = categories) -> Any:
            return ep.frequencies(column, epsilon="epsilon", categories=categories, data=path)

        words_of_it = f"frequencies, 10⁷ rows, 100 {name}, 50 levels, against the bare group-by"
        yield alternate(ours, bare).result(words_of_it, 1.6)
    yield from a_million_categories()


def a_million_categories() -> Iterator[Result]:
    """Everything after the tally: allocation, weighted sums, noise, projection, risk, bands."""
    rng = np.random.default_rng(1)
    cells = 1_000_000
    levels = np.geomspace(0.01, 10.0, 50)
    sums = rng.poisson(0.2, (50, cells)).astype(np.int64)
    budgets = Budgets.of_levels(levels, sums.sum(axis=1))

    def after() -> None:
        allocation = allocate_for(budgets, Goal("iid", "mse", 0.95, cells), "auto")
        mechanism = build_histogram(allocation, unit=1)
        raw = mechanism.estimates(mechanism.draw(System(), total=mechanism.total(sums)))
        project(raw)

    after()
    seconds = sorted(once(after) for _ in range(3))[1]
    yield Result("10⁶ categories, 50 levels, after the tally", seconds, "s", 2, True)
    point = rng.laplace(1e-6, 1e-4, cells)
    turns = alternate(lambda: project(point), lambda: np.sort(point), runs=15)
    yield turns.result("projection of 10⁶ cells, against np.sort", 5)
