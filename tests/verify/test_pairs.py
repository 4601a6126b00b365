"""The loss of a pair of sums agrees with enumeration, even for broken mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from epsilons.draws.mechanisms.add_remove import TwoSums
from epsilons.draws.noise import DiscreteLaplace, Hourglass, Laplaces, Pieces, Staircase2D
from epsilons.errors import PrivacyError
from epsilons.risk.means import ratio
from epsilons.verify.losses import sums
from epsilons.verify.losses.laws import LawPieces as Declared
from epsilons.verify.losses.sums import pair_losses, unit_loss

KINDS: list[Any] = [Hourglass, Staircase2D]
RATES = [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(8), Fraction(32)]
BOUNDS = (0.0, 1.0)


@dataclass(frozen=True)
class Fake:
    """A distribution with an arbitrary exponent, in units of the rate."""

    steps: int
    inner: int
    height: Callable[[int, int, int, int], float]
    rate: Fraction = Fraction(1)
    shape: str = "hourglass"

    @property
    def pieces(self) -> Fake:
        """Return this object as the declared pieces, even if its exponent contradicts them."""
        return self

    def exponent(self, x: int, y: int) -> Fraction | float:
        found = self.height(x, y, self.steps, self.inner)
        return found if math.isinf(found) else self.rate * Fraction(found)


def level(a: int, steps: int, inner: int) -> int:
    """Return the number of the stair at a distance, by a loop."""
    stair, end = 0, inner
    while a >= end:
        stair, end = stair + 1, end + steps
    return stair


def stair(a: int, steps: int, inner: int) -> int:
    """Return the same number as `level` in closed form, for any distance."""
    return max(0, -(-(a - inner + 1) // steps))


def hourglass(x: int, y: int, steps: int, inner: int) -> float:
    k, off = divmod(x + y, steps)
    if off:
        return math.inf
    j = stair(abs(x), steps, inner)
    return j + abs(k - j) if x >= 0 else j + abs(k + j)


def moved_by_one(x: int, y: int, steps: int, inner: int) -> float:
    """A wrong hourglass: its narrowest place is one step too far from 0, on both sides."""
    k, off = divmod(x + y, steps)
    if off:
        return math.inf
    j = stair(abs(x), steps, inner)
    return j + abs(k - j - 1) if x >= 0 else j + abs(k + j + 1)


def not_mirrored(x: int, y: int, steps: int, inner: int) -> float:
    """A wrong hourglass: its narrowest place is on the same side for both signs of x."""
    k, off = divmod(x + y, steps)
    if off:
        return math.inf
    j = stair(abs(x), steps, inner)
    return j + abs(k - j)


def of_one_side(x: int, y: int, steps: int, inner: int) -> float:
    """A wrong hourglass: one half is impossible."""
    return math.inf if x < 0 else hourglass(x, y, steps, inner)


def rings(x: int, y: int, steps: int, inner: int) -> float:
    return stair(abs(x) + abs(y), steps, inner)


def squares(x: int, y: int, steps: int, inner: int) -> float:
    """Wrong rings: in the maximum norm, a move in both coordinates counts only once."""
    return stair(max(abs(x), abs(y)), steps, inner)


def bumpy(x: int, y: int, steps: int, inner: int) -> float:
    """Wrong rings: there is a bump in the middle of the second stair."""
    s = abs(x) + abs(y)
    return stair(s, steps, inner) + (s == inner + (steps - 1) // 2) * 5


def enumerated(law: Any, steps: int, units: int, reach: int = 4) -> Fraction:
    """Return the largest change of the exponent, over all positions and moves of `units`."""
    around = range(-reach * steps, reach * steps + 1)
    largest = Fraction(0)
    for x in around:
        for y in around:
            here = law.exponent(x, y)
            if math.isinf(here):
                continue
            for d in range(units * steps + 1):
                there = law.exponent(x + d, y + units * steps - d)
                assert math.isfinite(there)
                largest = max(largest, abs(Fraction(there) - Fraction(here)))
    return largest


def test_the_stairs_of_the_checker_are_those_of_a_loop() -> None:
    for inner in range(1, 6):
        pieces = Declared("line", Fraction(1), 5, inner)
        for a in range(40):
            assert pieces.stair(a) == stair(a, 5, inner) == level(a, 5, inner)


# Mechanisms.


def two_sums(law: Any, levels: list[float], weights: list[int], scheme: Any = None) -> TwoSums:
    scheme = ratio.TWO_SUMS if scheme is None else scheme
    return TwoSums(np.array(levels), np.array(weights), scheme, law, 2**30, BOUNDS)


def keeps(mechanism: Any) -> bool:
    """Return whether every loss is at most its rung (budget level)."""
    losses = pair_losses(mechanism)
    return all(x <= Fraction(y) for x, y in zip(losses, mechanism.levels.tolist(), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_losses_of_personal_weights(kind: Any) -> None:
    made = two_sums(kind.best(Fraction(1, 2), 2**40), [0.25, 0.5, 1.2, 4.0], [0, 1, 2, 8])
    assert list(pair_losses(made)) == [0, Fraction(1, 2), 1, 4]
    assert keeps(made)


@pytest.mark.parametrize("scheme", ["TWO_SUMS", "CENTRED", "SUM_AND_COUNT"])
def test_losses_of_laplace_noise_are_those_of_all_moves(scheme: str) -> None:
    chosen: ratio.Scheme = getattr(ratio, scheme)
    law, weights = Laplaces(Fraction(7, 2)), [0, 1, 2, 5]
    made = two_sums(law, [0.1, 1.0, 2.0, 5.0], weights, chosen)
    (a, b), (c, d) = chosen.matrix
    for k, loss in zip(weights, pair_losses(made), strict=True):
        starts = [(x, y) for x in range(-6, 7) for y in range(-6, 7)]
        moves = [(a * t + b * k, c * t + d * k) for t in range(k + 1)]
        changes = [
            abs(Fraction(law.exponent(x + p, y + q)) - Fraction(law.exponent(x, y)))
            for x, y in starts
            for p, q in moves
        ]
        assert loss == max(changes)


def test_the_count_moves_with_the_sum() -> None:
    """For the same noise, the two sums Σx and Σ(1 − x) lose half as much as a sum and a count."""
    one, two = (
        pair_losses(two_sums(Laplaces(4), [1.0], [4], scheme))[0]
        for scheme in (ratio.TWO_SUMS, ratio.SUM_AND_COUNT)
    )
    assert [one, two] == [1, 2]


BROKEN: dict[str, Any] = {
    "Laplace scale too small": two_sums(Laplaces(2**40 - 1), [1.0], [2**40]),
    "Laplace for two sums, sum and count": two_sums(
        Laplaces(2**40), [1.0], [2**40], ratio.SUM_AND_COUNT
    ),
    "Laplace for two sums, centred": two_sums(Laplaces(2**40), [1.0], [2**40], ratio.CENTRED),
    "weight too large": two_sums(Hourglass.best(Fraction(1, 2), 2**40), [1.0], [3]),
    "rate too large": two_sums(Staircase2D.best(Fraction(10**9 + 1, 10**9), 2**40), [1.0], [1]),
    "one of many": two_sums(Hourglass.best(1, 2**40), [1.0, 2.5, 4.0], [1, 3, 4]),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_mechanisms_lose_more_than_the_budget(case: str) -> None:
    assert not keeps(BROKEN[case])


def test_an_empty_first_stair_costs_three_times_the_rate() -> None:
    assert enumerated(Fake(4, 0, hourglass), 4, 1) == 3
    assert unit_loss(Fake(4, 0, hourglass), 4, 0) == 3


def test_the_unbroken_twins_of_these_laws_keep_their_rate() -> None:
    for steps, inner in ((5, 2), (2**20, 2**18)):
        twins = (Fake(steps, inner, hourglass), Fake(steps, inner, rings, shape="rings"))
        for law in twins:
            assert pair_losses(two_sums(law, [1.0], [1])) == (1,)


@dataclass(frozen=True)
class Loose:
    """A mechanism with arbitrary fields. Its unit can differ from that of its noise."""

    levels: Any
    weights: Any
    matrix: Any
    steps: int
    law: Any


GOOD = Loose([1.0], [1], sums.TWO_SUMS, 64, Hourglass.best(1, 64))

REFUSED: dict[str, Any] = {
    "steps one smaller than the unit": replace(GOOD, law=Hourglass.best(1, 63)),
    "steps one larger than the unit": replace(GOOD, steps=63),
    "hourglass of sum and count": replace(GOOD, matrix=((1, 0), (0, 1))),
    "hourglass of centred sums": replace(GOOD, matrix=((2, -1), (0, 1))),
    "first stair wider than a unit": replace(GOOD, law=Fake(64, 65, hourglass)),
    "no first stair": replace(GOOD, law=Fake(64, 0, hourglass)),
    "first stair below nothing": replace(GOOD, law=Fake(64, -1, hourglass)),
    "half of it impossible": replace(GOOD, law=Fake(64, 20, of_one_side)),
    "rings of the larger coordinate": replace(GOOD, law=Fake(64, 20, squares, shape="rings")),
    "a bump on a stair": replace(GOOD, law=Fake(64, 20, bumpy, shape="rings")),
    "y₀ off by one": replace(GOOD, law=Fake(64, 20, moved_by_one)),
    "y₀ off by one, coarse": replace(GOOD, steps=5, law=Fake(5, 2, moved_by_one)),
    "y₀ off by one, fine": replace(GOOD, steps=2**20, law=Fake(2**20, 2**18, moved_by_one)),
    "not mirrored": replace(GOOD, law=Fake(64, 20, not_mirrored)),
    "not mirrored, fine": replace(GOOD, steps=2**20, law=Fake(2**20, 2**18, not_mirrored)),
    "no hourglass": replace(GOOD, law=Fake(64, 20, rings)),
    "an hourglass that says rings": replace(GOOD, law=Fake(64, 20, hourglass, shape="rings")),
    "a law of one number": replace(GOOD, law=DiscreteLaplace(1)),
    "a weight that is no whole number": replace(GOOD, weights=[0.5]),
    "too few weights": replace(GOOD, levels=[1.0, 2.0]),
    "a negative weight": replace(GOOD, weights=[-1]),
}


def test_a_law_that_only_looks_like_laplace_is_not_believed() -> None:
    class Heavier:
        pieces = Pieces("rings", Fraction(1))

        def exponent(self, x: int, y: int) -> Fraction:
            s = abs(x) + abs(y)
            return Fraction(s) if s < 2**41 else Fraction(2 * s)

    with pytest.raises(PrivacyError, match="pieces"):
        pair_losses(replace(GOOD, steps=1, law=Heavier()))


# Releases.

RELEASES: dict[str, dict[str, Any]] = {
    "one budget": {"epsilon": 1.0},
    "one budget, 4": {"epsilon": 4.0},
    "a tiny budget": {"epsilon": 1e-9},
    "public": {"epsilon": math.inf},
    "nothing known": {"epsilon": [0.5, 1.0, 3.0, math.inf], "related": False},
    "a cap": {"epsilon": [0.5, 1.0, 3.0, math.inf], "cap": 2.0, "related": 0.05},
    "levels": {"epsilon": [0.5, 1.0, 3.0, 4.0], "levels": [0.5, 1.0, 3.0]},
    "a guess": {"epsilon": [4.0, 8.0, 4.0, 8.0], "levels": {4.0: 500, 8.0: 500}},
    "levels up to public": {"epsilon": [0.1, 1.0, 2.0, 8.0], "levels": [0.1, 1.0, math.inf]},
    "shifted": {"epsilon": [0.5, 1.0, 2.0, 2.0], "method": "shifted", "related": False},
    "independent": {"epsilon": [0.5, 1.0, 2.0, 2.0], "method": "independent", "related": False},
    "hourglass": {"epsilon": [0.5, 1.0, 2.0, 2.0], "levels": [0.7, 1.9], "method": "hourglass"},
    "staircase2d": {"epsilon": [0.5, 1.0, 2.0, 2.0], "levels": [0.7, 1.9], "method": "staircase2d"},
}
