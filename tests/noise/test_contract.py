"""The interface of every noise distribution, checked against sums of its probabilities.

A new distribution needs one file in `noise/` and one line in `LINES` or `PAIRS` here. The joint
distribution of all cells of a table needs a line in `TABLES` instead.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilons import Seeded
from epsilons.draws.noise import (
    Closed,
    Cube,
    DiscreteLaplace,
    Geometric,
    Hourglass,
    Laplaces,
    Law,
    PairLaw,
    PointMass,
    Staircase,
    Staircase2D,
)
from epsilons.errors import ArgumentError

LINES: list[Law] = [
    PointMass(),
    Geometric(Fraction(3, 2)),
    DiscreteLaplace(Fraction(3, 2)),
    DiscreteLaplace(Fraction(1, 3)),
    Staircase(Fraction(1, 2), 1, 1),
    Staircase(Fraction(2, 3), 5, 2),
    Staircase(Fraction(3), 4, 4),
]
PAIRS: list[PairLaw] = [
    Laplaces(Fraction(3, 2)),
    Staircase2D(Fraction(4, 3), 3, 1),
    Staircase2D(Fraction(3), 4, 4),
    Hourglass(Fraction(4, 3), 3, 2),
    Hourglass(Fraction(3), 2, 1),
]
TABLES: list[Closed | Cube] = [
    Closed(Fraction(3, 2), 2),
    Closed(Fraction(3, 2), 3),
    Closed(Fraction(4, 3), 4),
    Cube(Fraction(3, 2), 1),
    Cube(Fraction(3, 2), 2),
    Cube(Fraction(4, 3), 4),
]
FAR, FAR_PAIRS = 400, 90
"""Enumeration limits: each distribution has less than 1e-15 of its probability outside."""

EVERY = [pytest.param(law, id=repr(law)) for law in (*LINES, *PAIRS, *TABLES)]


def concrete(base: type[Any]) -> Iterator[type[Any]]:
    for each in base.__subclasses__():
        yield from concrete(each)
        if not each.__abstractmethods__ and each.__module__.startswith("epsilons."):
            yield each


def test_no_law_is_forgotten_here() -> None:
    assert {type(law) for law in LINES} == set(concrete(Law))
    assert {type(law) for law in PAIRS} == set(concrete(PairLaw))


def beside(cells: int, scale: float) -> dict[int, float]:
    """Return Σ e^{-(|z₁| + |z₂| + …)/scale} over all cells z with a given total, for each total."""
    one = np.exp(-np.abs(np.arange(-FAR, FAR + 1)) / scale)
    found = one
    for _ in range(cells - 1):
        found = np.convolve(found, one)
    middle = len(found) // 2
    return {x: float(found[middle + x]) for x in range(-FAR, FAR + 1)}


def in_shells(law: Cube, first: int) -> float:
    """Return Σ e^{-r/scale} over the vectors with this first entry; r is the largest |entry|."""
    others = law.dimension - 1
    sizes = [(2 * r + 1) ** others for r in range(first - 1, FAR + 1)]
    sizes[0] = 0
    return math.fsum(
        (sizes[i + 1] - sizes[i]) * math.exp(-(first + i) / law.scale) for i in range(FAR - first)
    )


def chances(law: Any) -> dict[int, float]:
    """Return the probabilities of a number, or of the first entry of a vector."""
    if isinstance(law, Law):
        found = {x: law.log_pmf(x) for x in range(-FAR, FAR + 1)}
        return {x: math.exp(log) for x, log in found.items()}
    around = range(-FAR_PAIRS, FAR_PAIRS + 1)
    if isinstance(law, Cube):
        # For each first entry, sum over the possible shells of the other entries.
        found = {x: in_shells(law, abs(x)) for x in around}
        whole = math.fsum(found.values())
        return {x: mass / whole for x, mass in found.items()}
    if isinstance(law, Closed):
        # For each first cell, sum over all values of the other cells that make the total 0.
        rest = beside(law.cells - 1, float(law.scale))
        whole = math.fsum(math.exp(-abs(x) / law.scale) * rest[-x] for x in around)
        return {x: math.exp(-abs(x) / law.scale) * rest[-x] / whole for x in around}
    return {x: math.fsum(math.exp(law.log_pmf(x, y)) for y in around) for x in around}


def shifts(law: Any, points: int) -> Iterator[tuple[int, ...]]:
    """Yield the shifts of this length, in the norm of the distribution.

    Mirror images may be omitted.
    """
    if isinstance(law, Law):
        yield (points,)
    elif isinstance(law, Cube):
        for shift in itertools.product(range(-1, 2), repeat=law.dimension):
            yield tuple(points * each for each in shift)
    elif isinstance(law, Closed):
        for shift in itertools.product(range(-points, points + 1), repeat=law.cells):
            if sum(map(abs, shift)) == points and (sum(shift) == 0 or points % 2):
                yield shift
    else:
        for first in range(points + 1):
            yield first, points - first


def exponent(law: Any, at: tuple[int, ...]) -> Any:
    return law.exponent(at) if isinstance(law, Closed | Cube) else law.exponent(*at)


@pytest.mark.parametrize("law", EVERY)
@pytest.mark.parametrize("points", [0, 1, 2, 3, 4, 5, 6, 8])
def test_the_loss_is_the_largest_ratio(law: Any, points: int) -> None:
    """The loss equals the largest log-ratio over all outcomes within a few stairs.

    Outcomes that are farther out have the same ratios.
    """
    wide = range(-16, 17)
    outcomes: list[tuple[int, ...]] = [(x,) for x in wide]
    if isinstance(law, PairLaw):
        outcomes = list(itertools.product(wide, wide))
    if isinstance(law, Closed):
        some = itertools.product(range(-1, 2), repeat=law.cells)
        outcomes = [at for at in some if sum(at) == 0]
    if isinstance(law, Cube):
        outcomes = list(itertools.product(range(-2, 3), repeat=law.dimension))
    worst: Fraction | float = Fraction(0)
    for at in outcomes:
        for shift in shifts(law, points):
            moved = tuple(x + s for x, s in zip(at, shift, strict=True))
            here, there = exponent(law, at), exponent(law, moved)
            if not (math.isinf(here) and math.isinf(there)):
                worst = max(worst, abs(here - there))
    assert law.loss(points) == worst
    assert isinstance(law.loss(points), Fraction) or math.isinf(worst)


@pytest.mark.parametrize("law", EVERY)
def test_one_draw_and_many_follow_the_law(law: Any) -> None:
    """Mean squares and tails are within six standard errors.

    The false-alarm probability is 1e-8 each.
    """
    one = law.draw(Seeded(5))
    assert type(one) is (int if isinstance(law, Law) else tuple)
    many = np.asarray(law.draw(Seeded(6), 20_000))
    singles = np.array([law.draw(source) for source in [Seeded(7)] for _ in range(4_000)])
    mass = chances(law)
    mean = math.fsum(x * p for x, p in mass.items())
    fourth = math.fsum((x - mean) ** 4 * p for x, p in mass.items())
    for drawn in (many, singles):
        first = drawn.reshape(len(drawn), -1)[:, 0].astype(np.float64)
        error = math.sqrt(max(fourth - law.variance**2, 0.0) / len(first))
        assert abs(np.mean((first - mean) ** 2) - law.variance) <= 6.0 * error + 1e-12
        share = np.mean(first > 1)
        spread = math.sqrt(law.tail(1) * (1.0 - law.tail(1)) / len(first))
        assert abs(share - law.tail(1)) <= 6.0 * spread + 1e-12


@pytest.mark.parametrize("law", EVERY)
@pytest.mark.parametrize("wrong", [-1, 0.5, None, True])
def test_what_is_no_distance_is_refused(law: Any, wrong: Any) -> None:
    for ask in (law.tail, law.loss):
        with pytest.raises(ArgumentError):
            ask(wrong)


@pytest.mark.parametrize("law", EVERY)
@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.1, math.nan])
def test_what_is_no_probability_is_refused(law: Any, wrong: float) -> None:
    with pytest.raises(ArgumentError):
        law.deviation(wrong)


@pytest.mark.parametrize("law", EVERY)
def test_the_declared_scale_costs_the_same(law: Any) -> None:
    """A shift by a multiple of the unit has the loss of Laplace noise of the declared scale."""
    pieces = law.pieces
    if pieces.shape == "point":
        assert pieces.scale == 0
    elif pieces.shape != "half-line":
        points = 2 if pieces.shape == "closed" else pieces.steps
        assert Fraction(points) / pieces.scale == law.loss(points)
