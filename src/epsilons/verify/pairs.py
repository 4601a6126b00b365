"""The exact privacy loss under add/remove of two sums with a pair of noises.

A person of weight k moves the count T by k·steps lattice points and the sum t by some d in the same
direction, 0 ≤ d ≤ k·steps: the loss is the largest change of the law's exponent over all such moves
and all positions. Between the edges of their stairs the laws here are constant, so it is attained
where a position or its image lies at an edge, or where d is at an end: the vertices of polygons
whose sides are x = const, x + d = const and d = const, and which are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Protocol

from epsilons.errors import PrivacyError

_NEAR = 4
"""Stairs, and units of the count, that are looked at on each side: beyond them all repeats."""

_FAR = (7, 64, 1001, 2**20)
"""Stairs farther out at which it is checked that all repeats."""

_WHOLE = 8
"""Steps up to which every position and every move is looked at."""

_PROBES = (*range(-33, 34), *(sign * (2**k + 1) for k in range(6, 80, 9) for sign in (-1, 1)))

TWO_SUMS = ((1, 0), (-1, 1))


class PairLaw(Protocol):
    """The law of a pair of integer noises, as a checker reads it."""

    def exponent(self, x: int, y: int, /) -> Fraction | float:
        """−ln of the probability of (x, y), plus ln of that of (0, 0), exactly."""


class PairMechanism(Protocol):
    """(a·t + b·T, c·t + d·T) plus a pair of noises."""

    @property
    def levels(self) -> Any:
        """The rungs of the public ladder."""

    @property
    def weights(self) -> Any:
        """The whole weight of a person on each."""

    @property
    def matrix(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """((a, b), (c, d))."""

    @property
    def steps(self) -> int:
        """Lattice points to a unit of weight."""

    @property
    def law(self) -> Any:
        """The law of the pair of noises."""


def pair_losses(mechanism: PairMechanism) -> tuple[Fraction, ...]:
    """The loss of a person on each rung.

    Raises:
        PrivacyError: the law is not one whose losses this checker can bound.
    """
    weights = [int(k) for k in mechanism.weights]
    if len(weights) != len(mechanism.levels) or min(weights) < 0:
        raise PrivacyError("The mechanism does not give each rung one weight from 0.")
    law, steps = mechanism.law, int(mechanism.steps)
    if not hasattr(law, "inner"):
        rate = _laplace_rate(law)
        return tuple(rate * _farthest(mechanism.matrix, k * steps) for k in weights)
    if mechanism.matrix != TWO_SUMS:
        raise PrivacyError("Stairs are for the sums of x and of 1 − x only.")
    unit = unit_loss(law, steps)
    # A move by k units is k moves by one: the losses of a path add up.
    return tuple(unit * k for k in weights)


def unit_loss(law: Any, steps: int) -> Fraction:
    """The largest change of the exponent when a person of weight 1 comes or goes.

    Raises:
        PrivacyError: the law is no staircase of its own parameters, or the change has no bound.
    """
    inner = int(law.inner)
    if int(law.steps) != steps:
        raise PrivacyError("A unit of weight is not a unit of the noise.")
    if not 0 <= inner <= steps:
        raise PrivacyError("The first stair is wider than a unit.")
    if steps <= _WHOLE:
        return _everywhere(law, steps)
    if math.isinf(law.exponent(1, 0)):
        return _hourglass(law, steps, inner)
    return _rings(law, steps, inner)


def _farthest(matrix: tuple[tuple[int, int], tuple[int, int]], weight: int) -> int:
    """The largest ℓ1 norm of a move: it is convex in d, so an end is the farthest."""
    (a, b), (c, d) = matrix
    return max(abs(a * t + b * weight) + abs(c * t + d * weight) for t in (0, weight))


def _laplace_rate(law: PairLaw) -> Fraction:
    """The r of a law e^{−r(|x| + |y|)}, checked at many points."""
    rate = Fraction(law.exponent(1, 0))
    points = [(x, y) for x in _PROBES for y in (0, 1, -5, x, -x, 2**40 + 3)]
    for x, y in points:
        if law.exponent(x, y) != rate * (abs(x) + abs(y)):
            raise PrivacyError("The law of the noise is not e^(−r(|x| + |y|)): no loss is known.")
    return rate


def _everywhere(law: PairLaw, steps: int) -> Fraction:
    """Every position within some units, and every move."""
    around = range(-3 * steps - 2, 3 * steps + 3)
    largest = Fraction(0)
    for x in around:
        for y in around:
            here = law.exponent(x, y)
            for d in range(steps + 1):
                largest = max(largest, _change(here, law.exponent(x + d, y + steps - d)))
    return largest


def _hourglass(law: PairLaw, steps: int, inner: int) -> Fraction:
    """Vertices (x, d) for all counts near the origin, and far out along the waist."""

    def exponent(x: int, k: int) -> Fraction | float:
        return law.exponent(x, k * steps - x)

    near = _ends(range(_NEAR), steps, inner)
    largest = _over_vertices(exponent, near, steps, range(-_NEAR - 2, _NEAR + 3))
    for far in _FAR:
        ends = _ends((far, far + 1), steps, inner)
        waist = [sign * far + k for sign in (-1, 1) for k in range(-3, 4)]
        largest = max(largest, _over_vertices(exponent, ends, steps, [*waist, 0]))
    _check_flat(exponent, steps, inner)
    return largest


def _over_vertices(
    exponent: Callable[[int, int], Fraction | float],
    ends: list[int],
    steps: int,
    counts: Iterable[int],
) -> Fraction:
    moves = {(x, d) for x in ends for d in (0, steps)}
    moves |= {(x - d, d) for x in ends for d in (0, steps)}
    moves |= {(x, e - x) for x in ends for e in ends if 0 <= e - x <= steps}
    largest = Fraction(0)
    for k in counts:
        for x, d in moves:
            largest = max(largest, _change(exponent(x, k), exponent(x + d, k + 1)))
    return largest


def _rings(law: PairLaw, steps: int, inner: int) -> Fraction:
    """A law of the distance |x| + |y| alone, which no move changes by more than a unit."""

    def exponent(s: int, k: int) -> Fraction | float:  # noqa: ARG001
        return law.exponent(s, 0)

    ends = [s for s in _ends((*range(_NEAR), *_FAR), steps, inner) if s >= 0]
    for s in ends:
        for x in {0, s // 3, s // 2, s - 1, s}:
            for first, second in ((x, s - x), (-x, s - x), (x, x - s), (-x, x - s)):
                if abs(first) + abs(second) == s and law.exponent(first, second) != exponent(s, 0):
                    raise PrivacyError("The law of the noise is not one of the distance alone.")
    moves = {(s, e - s) for s in ends for e in ends if 0 <= e - s <= steps}
    moves |= {(s, steps) for s in ends} | {(s - steps, steps) for s in ends if s >= steps}
    _check_flat(exponent, steps, inner)
    return max(_change(exponent(s, 0), exponent(s + d, 0)) for s, d in moves)


def _ends(stairs: Iterable[int], steps: int, inner: int) -> list[int]:
    """The first and the last positions of stairs, on both sides of 0, and those beside 0."""
    ends = {-1, 0, 1}
    for j in stairs:
        first = 0 if j == 0 else inner + (j - 1) * steps
        last = inner + j * steps - 1
        ends |= {first, last, -first, -last, last + 1, -last - 1, 1 - first}
    return sorted(ends)


def _check_flat(exponent: Callable[[int, int], Fraction | float], steps: int, inner: int) -> None:
    """Check that nothing changes between the edges of a stair."""
    for j in (*range(_NEAR), *_FAR):
        first = 1 if j == 0 else inner + (j - 1) * steps
        last = inner + j * steps - 1
        inside = {first, last, (first + last) // 2, first + (last - first) // 7}
        for sign in (-1, 1):
            found = {exponent(sign * x, sign * j) for x in inside if first <= x <= last}
            if len(found) > 1:
                raise PrivacyError("The law of the noise changes within one of its stairs.")


def _change(before: Fraction | float, after: Fraction | float) -> Fraction:
    """How far apart two exponents are; positions that are both impossible are not."""
    if math.isinf(before) and math.isinf(after):
        return Fraction(0)
    if math.isinf(before) or math.isinf(after):
        raise PrivacyError("One person decides whether a result is possible at all.")
    return abs(Fraction(after) - Fraction(before))
