"""Jobs for `growth.py`, by name. Each takes a size, generates data, and returns a call to time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["WORKS", "Ready"]

MANY_ROWS = 1_000_000
LEVELS = 50

Ready = Callable[[], Any]


def _file(size: int, statistic: str, engine: str) -> Ready:
    from benchmarks import speed
    from benchmarks.data import table

    path = table(size)
    if engine == "polars":
        import polars  # noqa: F401  (imported here, so the import is not timed)

        return lambda: speed.release(speed.Work(statistic, "epsilon"), path)
    import duckdb

    connection = duckdb.connect()
    return lambda: speed.release(
        speed.Work(statistic, "epsilon"), connection.read_parquet(str(path))
    )


def _budgets(count: int) -> np.ndarray:
    return np.geomspace(0.01, 10.0, count)


def _allocate(size: int) -> Ready:
    import epsilons as ep

    budgets = np.repeat(_budgets(size), 2)
    return lambda: ep.allocate(budgets)


def _levels(size: int) -> Ready:
    import polars  # noqa: F401

    import epsilons as ep

    rng = np.random.default_rng(1)
    values = rng.normal(50.0, 20.0, MANY_ROWS)
    epsilon = rng.permutation(np.resize(_budgets(size), MANY_ROWS))
    return lambda: ep.mean(values, epsilon=epsilon, bounds=(0.0, 100.0))


def _cells(size: int) -> Ready:
    from epsilons.budgets.allocation import allocate_for
    from epsilons.budgets.levels import Budgets
    from epsilons.door import Tally
    from epsilons.draws.mechanisms import build_histogram
    from epsilons.draws.noise import System
    from epsilons.risk.cells import project
    from epsilons.risk.goals import CellsGoal
    from epsilons.risk.weighing import SAMPLE

    rng = np.random.default_rng(2)
    sums = rng.poisson(20.0, (LEVELS, size)).astype(np.int64)
    levels, people = _budgets(LEVELS), sums.sum(axis=1)
    budgets = Budgets.of_levels(levels, people)
    counted = Tally(levels, people, sums, 1, tuple(range(size)))

    def after() -> None:
        allocation = allocate_for(budgets, CellsGoal(SAMPLE, "mse", 0.95, size), "auto")
        mechanism = build_histogram(allocation, unit=1)
        raw = mechanism.estimates(mechanism.draw(System(), total=mechanism.total(counted)))
        project(raw)

    return after


def _whole(size: int) -> Ready:
    import polars  # noqa: F401

    import epsilons as ep

    rng = np.random.default_rng(3)
    values = rng.integers(0, size, MANY_ROWS)
    epsilon = _budgets(LEVELS)[rng.integers(0, LEVELS, MANY_ROWS)]
    categories = list(range(size))
    return lambda: ep.frequencies(values, epsilon=epsilon, categories=categories)


def _local_mean(size: int) -> Ready:
    from epsilons import local

    rng = np.random.default_rng(4)
    values, budgets = rng.random(size), rng.uniform(0.05, 3.0, size)
    mean = local.Mean((0, 1))
    return lambda: mean.estimate(mean.randomize_many(values, budgets))


def _local_shares(size: int) -> Ready:
    from epsilons import local

    rng = np.random.default_rng(5)
    values, budgets = rng.integers(0, 1000, size), rng.uniform(0.05, 3.0, size)
    shares = local.Frequencies(1000)
    return lambda: shares.estimate(shares.randomize_many(values, budgets))


WORKS: dict[str, Callable[[int], Ready]] = {
    "mean": lambda size: _file(size, "mean", "polars"),
    "frequencies": lambda size: _file(size, "frequencies", "polars"),
    "mean-duckdb": lambda size: _file(size, "mean", "duckdb"),
    "frequencies-duckdb": lambda size: _file(size, "frequencies", "duckdb"),
    "allocate": _allocate,
    "levels": _levels,
    "cells": _cells,
    "whole": _whole,
    "local-mean": _local_mean,
    "local-shares": _local_shares,
}
