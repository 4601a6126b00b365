"""Time of frequencies of a million categories, after the tally."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.timing import Result, alternate, once
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import Budgets
from epsilons.door import Tally
from epsilons.draws.mechanisms import build_histogram
from epsilons.draws.noise import System
from epsilons.risk.cells import project
from epsilons.risk.goals import CellsGoal
from epsilons.risk.weighing import SAMPLE


def results() -> Iterator[Result]:
    yield from a_million_categories()


def a_million_categories() -> Iterator[Result]:
    """Time of all work after the tally: allocation, weighted sums, noise and projection."""
    rng = np.random.default_rng(1)
    cells = 1_000_000
    levels = np.geomspace(0.01, 10.0, 50)
    sums = rng.poisson(0.2, (50, cells)).astype(np.int64)
    people = sums.sum(axis=1)
    budgets = Budgets.of_levels(levels, people)
    counted = Tally(levels, people, sums, 1, tuple(range(cells)))

    def after() -> None:
        allocation = allocate_for(budgets, CellsGoal(SAMPLE, "mse", 0.95, cells), "auto")
        mechanism = build_histogram(allocation, unit=1)
        raw = mechanism.estimates(mechanism.draw(System(), total=mechanism.total(counted)))
        project(raw)

    after()
    seconds = sorted(once(after) for _ in range(3))[1]
    yield Result("10⁶ categories, 50 levels, after the tally", seconds, "s", 2, True)
    point = rng.laplace(1e-6, 1e-4, cells)
    turns = alternate(lambda: project(point), lambda: np.sort(point), runs=15)
    yield turns.result("projection of 10⁶ cells, against np.sort", 5)
