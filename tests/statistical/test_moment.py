"""Intervals that use the spread of the data cover as stated, and so do intervals of the spread.

There are six distributions and two real columns, from ten people to ten thousand, two profiles of
budgets, and three assumptions. The mechanism of a release draws the noise, and its margin computes
the intervals. Intervals grow with the drawn variance, so only some are computed. Each run uses the
interval of a run with the same or a smaller variance.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁶: fewer than 1,000 exact binomial tests at 10⁻⁹ each.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.door import GRID
from epsilons.door.count.tallies import squares
from epsilons.draws.mechanisms import SumAndSquares, build_moments
from epsilons.risk.goals import MeanGoal
from epsilons.risk.means.spread import WeighedSpread
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats
from tests.statistical.people import column

TAIL: Final = 1e-9
CONFIDENCE: Final = 0.95
SHOWN: Final = 12
POINTS: Final = 20_000
BATCH: Final = 100


def law(name: str) -> Floats:
    """Return a population of equally likely values in the unit range."""
    rank = (np.arange(POINTS) + 0.5) / POINTS
    if name in ("wages", "affairs"):
        return column(name).unit
    if name == "halves":
        return (rank < 0.5).astype(np.float64)
    if name == "rare":
        return (rank < 0.03).astype(np.float64)
    if name == "skewed":
        return rank**6
    if name == "zeros":
        return np.where(rank < 0.8, 0.0, (rank - 0.8) / 0.2)
    if name == "uniform":
        return rank
    rng = np.random.default_rng(1)
    return np.clip(rng.normal(0.4, 0.1, POINTS), 0.0, 1.0)


LAWS: Final = ("halves", "rare", "skewed", "zeros", "uniform", "gaussian", "wages", "affairs")


def epsilons(profile: str, n: int) -> Floats:
    """Return the budgets of n people, ascending."""
    if profile == "halves":
        return np.repeat([0.1, 1.0], [n // 2, n - n // 2])
    return np.exp(np.floor(np.linspace(-3.0, 1.0, n) * 8.0) / 8.0)  # at most 33 levels


@cache
def built(profile: str, n: int, assumption: Assumption, spread: float = 0.5) -> SumAndSquares:
    goal = MeanGoal(assumption, "mse", CONFIDENCE, spread)
    allocation = allocate_for(ep.Budgets(epsilons(profile, n)), goal, "optimal")
    made = build_moments(allocation, grid=GRID, bounds=(0.0, 1.0))
    assert isinstance(made, SumAndSquares)
    return made


class Cell(NamedTuple):
    """One combination of parameters to test."""

    law: str
    profile: str
    n: int
    assumption: Assumption
    spread: float = 0.5

    @property
    def seed(self) -> int:
        return zlib.crc32(repr(self).encode())


def values_of(cell: Cell, runs: int, rng: np.random.Generator) -> Iterator[tuple[Floats, Floats]]:
    """Yield batches of runs: values of people ordered by level, and the true mean and spread."""
    source = law(cell.law)
    fixed = np.sort(rng.choice(source, cell.n))
    for start in range(0, runs, BATCH):
        size = min(BATCH, runs - start)
        if cell.assumption == SAMPLE:
            values = rng.choice(source, (size, cell.n))
            truth = source
        else:
            values = np.tile(fixed, (size, 1))  # people with small budgets have the lowest values
            if cell.assumption == UNRELATED:
                values = rng.permuted(values, axis=1)
            truth = fixed
        yield values, np.array([truth.mean(), truth.std()])


class Drawn(NamedTuple):
    """The draws of each run, and the true mean and spread."""

    offsets: Floats
    squares: Floats
    truth: Floats


def drawn_of(cell: Cell, runs: int) -> Drawn:
    """Simulate many runs, with noise drawn by the mechanism."""
    mechanism = built(cell.profile, cell.n, cell.assumption, cell.spread)
    rng = np.random.default_rng(cell.seed)
    weights = np.repeat(mechanism.weights, mechanism.counts) / float(mechanism.all_weights)
    found, truths = [], []
    for values, truth in values_of(cell, runs, rng):
        truths.append(truth)
        grid = np.floor(values * GRID + 0.5).astype(np.int64)
        moments = np.stack([(grid / GRID - 0.5) @ weights, (squares(grid) / GRID) @ weights], 1)
        found.append(moments)
    noise = mechanism.draw(ep.Seeded(cell.seed), runs).astype(np.float64)
    offsets, second = (np.concatenate(found) + noise / float(mechanism.all_weights)).T
    return Drawn(offsets, second, truths[-1])


def margin_of(cell: Cell, offset: float, square: float) -> WeighedSpread:
    mechanism = built(cell.profile, cell.n, cell.assumption, cell.spread)
    expected = 0.2 if cell.spread == 0.5 else cell.spread
    return WeighedSpread(mechanism.weighing, mechanism.slack, offset, square, expected)


def halves(cell: Cell, drawn: Drawn, factor: float = 1.0) -> Floats:
    """Return the half-width of each run, rounded down.

    Args:
        cell: the parameters.
        drawn: the runs for these parameters.
        factor: a factor on the drawn standard deviation; with a small factor, intervals must miss.
    """
    found = Drawn(drawn.offsets * factor, drawn.squares * factor * factor, drawn.truth)
    if not margin_of(cell, 0.0, 0.0).uses_spread(cell.assumption):
        wide = margin_of(cell, 0.0, 0.0).error(cell.assumption, CONFIDENCE)
        return np.full(len(found.offsets), wide)
    # The variance is the mean square minus the squared offset. All runs use the largest offset,
    # which gives the narrowest intervals. So the half-width depends only on the square.
    order = np.argsort(found.squares)
    nodes = order[np.linspace(0, len(order) - 1, SHOWN).astype(int)]
    widths = np.array(
        [
            margin_of(cell, float(np.abs(found.offsets).max()), float(found.squares[at])).error(
                cell.assumption, CONFIDENCE
            )
            for at in nodes
        ]
    )
    place = np.searchsorted(found.squares[nodes], found.squares, side="right") - 1
    return np.asarray(widths[np.maximum(place, 0)])


def misses(cell: Cell, drawn: Drawn, factor: float = 1.0) -> int:
    """Count the intervals that miss the mean. An interval of the full range never misses."""
    far = np.abs(drawn.offsets + 0.5 - drawn.truth[0])
    return int((far > halves(cell, drawn, factor)).sum())


def table(cell: Cell, runs: int) -> None:
    drawn = drawn_of(cell, runs)
    limit = binom.isf(TAIL, runs, 1.0 - CONFIDENCE)
    assert misses(cell, drawn) <= limit
    some = min(runs, 100) if runs < 1000 else 1000
    wrong = 0
    for offset, square in zip(drawn.offsets[:some], drawn.squares[:some], strict=True):
        found = margin_of(cell, float(offset), float(square))
        _, low, high = found.spread((0.0, 1.0), cell.assumption, CONFIDENCE)
        wrong += not low <= drawn.truth[1] <= high
    assert wrong <= binom.isf(TAIL, some, 1.0 - CONFIDENCE)


ASSUMPTIONS: Final = (SAMPLE, UNRELATED, RELATED)


@pytest.mark.parametrize("name", LAWS)
def test_intervals_of_who_guessed_the_spread_hold(name: str) -> None:
    """Intervals cover if the spread was guessed, although a guess can raise cap and bias."""
    cell = Cell(name, "halves", 1000, RELATED, 0.05)
    assert margin_of(cell, 0.0, 0.0).uses_spread(RELATED)
    table(cell, 400)


def test_a_spread_that_is_taken_too_small_is_noticed() -> None:
    """Power: with a tenth of the standard deviation, more intervals miss than the test allows."""
    cell = Cell("uniform", "halves", 10_000, SAMPLE)
    drawn = drawn_of(cell, 1000)
    assert misses(cell, drawn) <= binom.isf(TAIL, 1000, 0.05)
    assert misses(cell, drawn, 0.1) > binom.isf(TAIL, 1000, 0.05)


def test_noise_that_is_taken_a_tenth_too_small_is_noticed() -> None:
    """Power: with 90 % of the noise scale, too many intervals miss if only the noise is random."""
    cell = Cell("uniform", "halves", 100, RELATED)
    drawn = drawn_of(cell, 20_000)
    limit = binom.isf(TAIL, 20_000, 0.05)
    far = np.abs(drawn.offsets + 0.5 - drawn.truth[0])
    margin = margin_of(cell, 0.0, 0.0)
    scale = margin.weighing.scale
    wrong = dataclasses.replace(
        margin, weighing=dataclasses.replace(margin.weighing, scale=0.9 * scale)
    )
    assert (far > margin.error(RELATED, 0.95)).sum() <= limit
    assert (far > wrong.error(RELATED, 0.95)).sum() > limit
