"""Intervals of a mean in two stages cover as stated, although the first selects the second.

There are three distributions, few people and many, and four assumptions. The mechanisms of a
release draw all noise, and its margin computes the intervals. Intervals grow with the drawn
variance, so only some are computed. Each run uses an interval that was computed for a variance no
larger than its own.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁷: fewer than 100 exact binomial tests at 10⁻⁹ each.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.door import GRID
from epsilons.door.count.tallies import squares
from epsilons.draws.mechanisms import SumAndSquares
from epsilons.questions.steps.adaptive import SPREADS, Stages
from epsilons.risk.goals import MeanGoal
from epsilons.risk.means.spread import Parts, Seen, Spreading, WeighedInStages, divided
from epsilons.risk.tails.laplace import ErrorDivision
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats

TAIL: Final = 1e-9
BETA: Final = 0.05
RUNS: Final = 3000
STEP: Final = 1.15

POPULATION: Final = Assumption("population", True)

pytestmark = pytest.mark.statistical


def law(name: str) -> Floats:
    """Return a population of equally likely values in the unit range."""
    rank = (np.arange(20_000) + 0.5) / 20_000
    if name == "halves":
        return (rank < 0.5).astype(np.float64)
    if name == "rare":  # few large values: the estimated spread depends strongly on the sample
        return (rank < 0.01).astype(np.float64)
    return np.clip(np.random.default_rng(1).normal(0.4, 0.05, rank.size), 0.0, 1.0)


class Cell(NamedTuple):
    """One combination of parameters to test."""

    law: str
    n: int
    assumption: Assumption

    @property
    def seed(self) -> int:
        return zlib.crc32(repr(self).encode())


@cache
def stages(n: int, assumption: Assumption) -> Stages:
    counts = np.array([n // 2, n - n // 2])
    levels = np.array([0.1, 1.0]) * 2000.0 / n
    return Stages.of(levels, counts, MeanGoal(assumption, "mse", 1.0 - BETA), (0.0, 1.0))


class Run(NamedTuple):
    """One run: the chosen mean, the drawn moments, and the true mean and deviation."""

    at: int
    offset: float
    square: float
    truth: float
    deviation: float


def moments(mechanism: SumAndSquares, values: Floats, noise: Floats) -> Floats:
    """Return noisy moments of people ordered by level, on the unit range."""
    weights = np.repeat(mechanism.weights, mechanism.counts) / float(mechanism.all_weights)
    grid = np.floor(values * GRID + 0.5).astype(np.int64)
    exact = np.stack([(grid / GRID - 0.5) @ weights, (squares(grid) / GRID) @ weights], 1)
    return np.asarray(exact + noise.astype(np.float64) / float(mechanism.all_weights))


def values_of(cell: Cell) -> tuple[Floats, Floats]:
    """Draw the values of people in each run, and return them with the true values."""
    rng, source = np.random.default_rng(cell.seed), law(cell.law)
    if cell.assumption.sampled:
        values = rng.choice(source, (RUNS, cell.n))
        if cell.assumption.related is not False:
            values = np.sort(values, axis=1)  # people with small budgets have the lowest values
        return values, source
    fixed = np.sort(rng.choice(source, cell.n))
    values = np.tile(fixed, (RUNS, 1))
    return (rng.permuted(values, axis=1) if cell.assumption == UNRELATED else values), fixed


@cache
def runs_of(cell: Cell) -> list[Run]:
    """Simulate many runs of both stages."""
    both, source = stages(cell.n, cell.assumption), ep.Seeded(cell.seed)
    values, truth = values_of(cell)
    first = moments(both.first, values, both.first.draw(source, RUNS))
    whole = both.first.all_weights
    drawn = [(round((o + 0.5) * whole), round(s * whole)) for o, s in first.tolist()]
    place = np.array([both.found(pair) for pair in drawn])
    found = []
    for at in np.unique(place).tolist():
        mine = values[place == at]
        second = moments(both.seconds[at], mine, both.seconds[at].draw(source, len(mine)))
        true = float(truth.mean()), float(truth.std())
        found += [Run(at, offset, square, *true) for offset, square in second.tolist()]
    return found


@cache
def parts_of(cell: Cell) -> tuple[ErrorDivision, ...]:
    seconds = [each.weighing for each in stages(cell.n, cell.assumption).seconds]
    return divided(seconds, SPREADS, replace(cell.assumption, related=False))


def margin_of(cell: Cell, at: int, offset: float, square: float) -> WeighedInStages:
    both, part = stages(cell.n, cell.assumption), parts_of(cell)[at]
    second = both.seconds[at]
    return WeighedInStages(
        second.weighing, second.slack, offset, square,
        expected=SPREADS[at], among=both.among, choices=len(SPREADS),
        noise=part.noise, own=part.own,
    )  # fmt: skip


@cache
def reach(cell: Cell, at: int, step: int | None) -> float:
    """Return the half-width of the interval if the drawn variance is `STEP`**`step`.

    If `step` is None, the drawn variance is negative.
    """
    second = stages(cell.n, cell.assumption).seconds[at]
    allowed = second.slack - second.weighing.scale * math.log(2.0 * Parts.of(BETA).noise)
    square = -1.0 if step is None else STEP**step - allowed
    return margin_of(cell, at, 0.0, square).error(cell.assumption, 1.0 - BETA)


def half(cell: Cell, run: Run) -> float:
    """Return the half-width of a run, rounded down."""
    second = stages(cell.n, cell.assumption).seconds[run.at]
    parts = Parts.of(BETA)
    seen = Seen(run.offset, run.square, second.slack)
    variance = Spreading(second.weighing, cell.assumption).most(seen, parts.noise, parts.offset)
    if variance <= 0.0:
        return reach(cell, run.at, None)
    return reach(cell, run.at, math.floor(math.log(variance, STEP)))


def covered(cell: Cell, factor: float = 1.0) -> int:
    return sum(
        abs(run.offset + 0.5 - run.truth) <= factor * half(cell, run) for run in runs_of(cell)
    )


CELLS: Final = [
    Cell(name, n, assumption)
    for name in ("halves", "rare", "gaussian")
    for n in (60, 2000)
    for assumption in (UNRELATED, SAMPLE, RELATED, POPULATION)
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_the_interval_holds_as_often_as_stated(cell: Cell) -> None:
    assert binom.cdf(covered(cell), RUNS, 1.0 - BETA) > TAIL


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.n == 2000], ids=str)
def test_the_interval_of_the_deviation_holds_as_often_as_stated(cell: Cell) -> None:
    held = 0
    for run in runs_of(cell)[::10]:
        margin = margin_of(cell, run.at, run.offset, run.square)
        found = margin.spread((0.0, 1.0), cell.assumption, 1.0 - BETA)
        held += found.low <= run.deviation <= found.high
    assert binom.cdf(held, len(runs_of(cell)[::10]), 1.0 - BETA) > TAIL


def test_which_mean_was_chosen_goes_with_the_data() -> None:
    """Which of the possible second stages is chosen depends on the data.

    So the tests above can detect errors that the choice causes.
    """
    chosen = Counter(run.at for run in runs_of(Cell("rare", 2000, UNRELATED)))
    assert len(chosen) > 2
    assert stages(2000, UNRELATED).among > 4


@pytest.mark.parametrize("assumption", [UNRELATED, RELATED])
def test_intervals_that_are_too_narrow_are_noticed(assumption: Assumption) -> None:
    cell = Cell("halves", 2000, assumption)
    assert binom.cdf(covered(cell, 0.4), RUNS, 1.0 - BETA) < TAIL
