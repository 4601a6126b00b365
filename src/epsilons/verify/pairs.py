"""The exact privacy loss under add/remove of two sums with a pair of noises.

A person of weight k moves the count T by k·steps lattice points and the sum t by some d in the same
direction, 0 ≤ d ≤ k·steps: the loss is the largest change of the law's exponent over all such moves
and all positions. On rings it is a matter of distance alone. On an hourglass the law is constant
between the edges of its stairs, so it is attained where a position or its image lies at an edge, or
where d is at an end: the vertices of polygons whose sides are x = const, x + d = const and
d = const, and which are whole numbers.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, Protocol

from epsilons.errors import PrivacyError
from epsilons.verify.additive import weights_of
from epsilons.verify.laws import two_numbers, whole

_NEAR = 4
"""Stairs, and units of the count, that are looked at on each side: beyond them all repeats."""

_FAR = (7, 64, 1001, 2**20)
"""Stairs farther out at which it is checked that all repeats."""

_WHOLE = 8
"""Steps up to which every position and every move is looked at."""

TWO_SUMS = ((1, 0), (-1, 1))


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


class Stepped(Protocol):
    """A law of pairs, as vertices are looked for."""

    def exponent(self, x: int, y: int, /) -> Fraction | float:
        """−ln of the probability of (x, y), plus ln of that of (0, 0), exactly."""


def pair_losses(mechanism: PairMechanism) -> tuple[Fraction | float, ...]:
    """The loss of a person on each rung.

    Raises:
        PrivacyError: the law is not one whose losses this checker can bound.
    """
    weights = weights_of(mechanism, len(mechanism.levels))
    law = two_numbers(mechanism.law)
    steps = whole(mechanism.steps, 1, "The lattice points of a unit of weight")
    if law.steps != steps:
        raise PrivacyError("A unit of weight is not a unit of the noise.")
    (a, b), (c, d) = (map(operator.index, row) for row in mechanism.matrix)
    if law.shape == "rings":
        return tuple(law.loss(_farthest((a, b), (c, d), k * steps)) for k in weights)
    if ((a, b), (c, d)) != TWO_SUMS:
        raise PrivacyError("An hourglass is for the sums of x and of 1 − x only.")
    unit = unit_loss(law, steps, law.inner)
    # A move by k units is k moves by one: the losses of a path add up.
    return tuple(unit * k for k in weights)


def unit_loss(law: Stepped, steps: int, inner: int) -> Fraction:
    """The largest change of the exponent of an hourglass when a person of weight 1 comes or goes.

    Raises:
        PrivacyError: the change has no bound.
    """
    return everywhere(law, steps) if steps <= _WHOLE else at_vertices(law, steps, inner)


def _farthest(first: tuple[int, int], second: tuple[int, int], weight: int) -> int:
    """The largest ℓ1 norm of a move: it is convex in d, so an end is the farthest."""
    return max(sum(abs(a * t + b * weight) for a, b in (first, second)) for t in (0, weight))


def everywhere(law: Stepped, steps: int) -> Fraction:
    """Every position within some units, and every move."""
    around = range(-3 * steps - 2, 3 * steps + 3)
    largest = Fraction(0)
    for x in around:
        for y in around:
            here = law.exponent(x, y)
            for d in range(steps + 1):
                largest = max(largest, _change(here, law.exponent(x + d, y + steps - d)))
    return largest


def at_vertices(law: Stepped, steps: int, inner: int) -> Fraction:
    """Vertices (x, d) for all counts near the origin, and far out along the waist."""

    def exponent(x: int, k: int) -> Fraction | float:
        return law.exponent(x, k * steps - x)

    near = _ends(range(_NEAR), steps, inner)
    largest = _over_vertices(exponent, near, steps, range(-_NEAR - 2, _NEAR + 3))
    for far in _FAR:
        ends = _ends((far, far + 1), steps, inner)
        waist = [sign * far + k for sign in (-1, 1) for k in range(-3, 4)]
        largest = max(largest, _over_vertices(exponent, ends, steps, [*waist, 0]))
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


def _ends(stairs: Iterable[int], steps: int, inner: int) -> list[int]:
    """The first and the last positions of stairs, on both sides of 0, and those beside 0."""
    ends = {-1, 0, 1}
    for j in stairs:
        first = 0 if j == 0 else inner + (j - 1) * steps
        last = inner + j * steps - 1
        ends |= {first, last, -first, -last, last + 1, -last - 1, 1 - first}
    return sorted(ends)


def _change(before: Fraction | float, after: Fraction | float) -> Fraction:
    """How far apart two exponents are; positions that are both impossible are not."""
    if math.isinf(before) and math.isinf(after):
        return Fraction(0)
    if math.isinf(before) or math.isinf(after):
        raise PrivacyError("One person decides whether a result is possible at all.")
    return abs(Fraction(after) - Fraction(before))
