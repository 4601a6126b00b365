"""Intervals of covariance, slope, correlation and variance cover as often as stated.

The cases include independent, equal, two-point, skewed and constant columns, and 20 to 10,000
people. Weights are unequal. People with small budgets have low values, or budgets are shuffled.
There are samples of a population, and both neighbour models.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁶: fewer than 1,000 exact binomial tests at 10⁻⁹ each.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import Ladder
from epsilons.door import GRID
from epsilons.door.count.units import cut, nine_cells
from epsilons.draws.mechanisms import build_histogram
from epsilons.draws.mechanisms.add_remove import build_cell_sums
from epsilons.risk.goals import CellsGoal
from epsilons.risk.margins import Estimated
from epsilons.risk.moments.forms import WeighedForms
from epsilons.risk.moments.tested import _SHAPE, REST, RatioTests, TestedMoments
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats
from tests import coverage
from tests.tallied import tallied

TAIL: Final = 1e-9
CONFIDENCE: Final = 0.8
LEVELS: Final = np.array([0.5, 2.0])


class Case(NamedTuple):
    """One combination of parameters to test."""

    law: str
    n: int
    about: str
    related: bool | float
    neighbours: str = "replace"
    rule: str = "proportional"
    few: bool = False  # one strict person, not half of all

    @property
    def seed(self) -> int:
        return zlib.crc32(repr(self).encode())

    @property
    def assumption(self) -> Assumption:
        return Assumption(self.about, self.related)


def columns(law: str, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    x = rng.random(n)
    if law == "apart":
        return x, rng.random(n)
    if law == "same":
        return x, x.copy()
    if law == "points":
        x = (x < 0.4).astype(np.float64)
        return x, np.where(rng.random(n) < 0.8, x, 1.0 - x)
    if law == "atoms":  # most people have 0 in both columns
        x = np.where(x < 0.8, 0.0, np.floor(10.0 * x - 8.0) / 4.0 + 0.1)
        return x, np.where(rng.random(n) < 0.9, 0.2 * x, 1.0)
    if law == "skewed":
        x = x**5
        return x, np.clip(0.5 * x + 0.1 * rng.random(n), 0.0, 1.0)
    return np.full(n, 0.3), x  # in the distribution "still", the first column is constant


POPULATION: Final = {"apart": 0.0, "same": 1.0 / 12.0, "points": 0.24 * 0.6, "still": 0.0}
"""The covariance of each distribution, if it has a simple formula."""


def drawn(case: Case, level: Floats, x: Floats, y: Floats, source: ep.Seeded) -> TestedMoments:
    """Draw a release with unequal weights, and return its margin."""
    g, h = (np.floor(each * GRID + 0.5).astype(np.int64) for each in (x, y))
    place = np.searchsorted(LEVELS, level)
    people = np.bincount(place, minlength=2).astype(np.int64)

    def added(numbers: Any) -> Any:
        total = np.zeros(2, dtype=np.int64)
        np.add.at(total, place, numbers)
        return total

    cells = nine_cells(people, {name: added(part) for name, part in cut(g, h).items()})
    goal = CellsGoal(case.assumption, "mse", CONFIDENCE, 9)
    if case.neighbours == "replace":
        allocation = allocate_for(ep.Budgets(level), goal, case.rule)
        mechanism = build_histogram(allocation, unit=GRID)
        found = mechanism.estimates(
            mechanism.draw(source, total=mechanism.total(tallied(cells=cells)))
        )
        return WeighedForms(mechanism.weighing, 2e-8, mechanism.slack, found)
    from fractions import Fraction

    ladder = Ladder(LEVELS, fine=False)
    sums = build_cell_sums(ladder, (Fraction(1, 2), Fraction(2)), 2.0, cells=9, unit=GRID)
    noisy = sums.counts(sums.draw(source, total=sums.weights @ cells))
    return RatioTests(
        drawn=noisy, scale=sums.scale, slack=2e-8, largest=float(sums.weights.max()), equal=False
    )


def drawn_all(case: Case, runs: int) -> Iterator[tuple[Floats, Floats, TestedMoments]]:
    """Yield the columns and the margin of each run."""
    rng = np.random.default_rng(case.seed)
    x, y = columns(case.law, case.n, rng)
    order = np.argsort(x + y)
    x, y = x[order], y[order]  # people with small budgets have the lowest values
    level = np.sort(np.tile(LEVELS, case.n)[: case.n])
    if case.few:
        level = np.append(LEVELS[0], np.full(case.n - 1, LEVELS[1]))
    for run in range(runs):
        if case.about == "population":
            x, y = columns(case.law, case.n, rng)
        elif case.related is False:
            mixed = rng.permutation(case.n)
            x, y = x[mixed], y[mixed]
        yield x, y, drawn(case, level, x, y, ep.Seeded(case.seed + run))


Asked = Callable[[str, Case, TestedMoments, Floats, Floats], bool]


def asked_of(
    case: Case, runs: int, about: dict[str, Asked], smaller: float = 1.0
) -> Iterator[dict[str, Callable[[], bool]]]:
    """What is asked of each run. The factor `smaller` understates the noise, to test power."""
    for x, y, margin in drawn_all(case, runs):
        told_by = margin
        if smaller != 1.0:
            assert isinstance(margin, WeighedForms)
            less = dataclasses.replace(margin.weighing, scale=margin.weighing.scale * smaller)
            told_by = dataclasses.replace(margin, weighing=less)
        yield {name: partial(asked, name, case, told_by, x, y) for name, asked in about.items()}


def covers(name: str, case: Case, margin: TestedMoments, x: Floats, y: Floats) -> bool:
    told, true = told_and_true(name, case, margin, x, y)
    return told.low - 1e-9 <= true <= told.high + 1e-9


def told_and_true(
    name: str, case: Case, margin: TestedMoments, x: Floats, y: Floats
) -> tuple[Estimated, float]:
    """Return the requested estimate with its interval, and the true value."""
    both = float(np.mean(x * y) - x.mean() * y.mean())
    if case.about == "population":
        both = POPULATION[case.law]
    given = (case.assumption, CONFIDENCE)
    if name == "covariance":
        return margin.covariance(*given), both
    if name == "variance":
        return margin.variance(0, *given), float(x.var())
    if name == "slope":
        return margin.slope(*given), both / float(x.var())
    return margin.correlation(*given), both / float(x.std() * y.std())


def accepted(name: str, case: Case, margin: TestedMoments, x: Floats, y: Floats) -> bool:
    """Whether the test of a slope or a correlation accepts the true value.

    `tests/risk/test_tested.py` checks that intervals end where tests begin to reject.
    """
    ratio = float(y.std() / x.std())
    slope = float(np.mean(x * y) - x.mean() * y.mean()) / float(x.var())
    form = (-slope, 1.0, 0.0) if name == "slope" else (-0.5 * slope, 1.0, -0.5 * slope / ratio**2)
    known = margin._known(case.assumption, 1.0 - CONFIDENCE)
    part = REST if name == "slope" else REST - _SHAPE
    drawn = margin._value(form)
    signed = form if drawn < 0.0 else tuple(-each for each in form)
    return abs(drawn) <= margin._reach([signed], known, part)  # type: ignore[list-item]


def check(case: Case, runs: int, *tested: str) -> None:
    """Intervals cover as often as stated, and those of the names in `tested` accept the truth."""
    names = ["covariance"]
    if case.about == "people":
        names += ["variance"] if case.law == "still" else ["variance", "slope", "correlation"]
    about = ((name, accepted if name in tested else covers) for name in names)
    coverage.check(asked_of(case, runs, dict(about)), runs, CONFIDENCE, TAIL)


HARD: Final = [
    Case("atoms", 400, "people", True, few=True),
    Case("atoms", 20, "people", False),
    Case("points", 20, "people", True, few=True),
    Case("same", 400, "people", False, few=True),
    Case("skewed", 2000, "people", 0.4, rule="optimal"),
    Case("atoms", 1000, "people", True, "add-remove"),
]
"""Data and weights for which bounds are tight, or for which most bounds do not help."""


def test_noise_that_is_larger_than_it_is_said_to_be_is_noticed() -> None:
    """Power: if the stated noise scale is a fifth of the true one, too many intervals miss."""
    case = Case("apart", 3000, "people", True, rule="uniform")
    with pytest.raises(AssertionError, match="covariance"):
        coverage.check(asked_of(case, 80, {"covariance": covers}, 0.2), 80, CONFIDENCE, TAIL)
