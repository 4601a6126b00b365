"""Exact privacy losses of people in weighted sums: one, several, and under add/remove."""

from __future__ import annotations

import decimal
import math
import operator
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.types import Floats
from epsilons.verify.fit import cut
from epsilons.verify.losses.closed import table
from epsilons.verify.losses.laws import LawPieces, declared, one_number, two_numbers, whole
from epsilons.verify.verdict import Verdict, budgets_of

# The exact privacy loss of each person in weighted sums of integers with independent noise.
#
# The checker reads the fields that determine a draw: integer weights, the sensitivity of a sum, and
# the pieces of the law. It shares no code with the mechanisms, and uses only rational numbers and
# correctly rounded decimals. It recomputes every number that it can. The sensitivity follows from
# the kind of mechanism, and must match the mechanism's declaration.

_DIGITS, _TRUSTED = 60, 45
"""Significant digits of the computation, and the number of digits that are relied on."""

_SHORT: Final = "The values of a sum can move by all of the grid, and it says by less."


@dataclass(frozen=True)
class SumsKind:
    """Properties of a kind of mechanism, independent of the declaration of any mechanism.

    Attributes:
        neighbours: the relation between neighbouring data sets.
        moves: the number of sums that a person can change by their entire reach.
        cells: whether there are many sums, over which a person can split their contribution.
        coins: whether people are sampled; None if both are possible.
        closed: whether the sum over all cells is constant, and the noise sums to zero.
    """

    neighbours: str
    moves: int
    cells: bool
    coins: bool | None
    closed: bool = False


SUMS: Final = {
    "sum": SumsKind("replace", moves=1, cells=False, coins=False),
    "sampled sum": SumsKind("replace", moves=1, cells=False, coins=True),
    "cells": SumsKind("replace", moves=2, cells=True, coins=None),
    "closed cells": SumsKind("replace", moves=2, cells=True, coins=False, closed=True),
    "report": SumsKind("local", moves=1, cells=False, coins=False),
    "open cells": SumsKind("add-remove", moves=1, cells=True, coins=False),
    "octaves": SumsKind("replace", moves=2, cells=True, coins=False),
    "open octaves": SumsKind("add-remove", moves=1, cells=True, coins=False),
}
"""The kinds of weighted sums. A replaced person can leave one cell and enter another."""


class AdditiveMechanism(Protocol):
    """An additive integer mechanism: floor(Σ k·g / grid) + noise, possibly after sampling.

    Each person at level l adds `weights[l]·g`, where g can change by `reach` in each of `moves`
    sums with independent noise. So the sums change by at most moves·reach in ℓ1. If the grid is 1,
    this also holds for a person who splits their contribution over many sums. With sampling, a
    person at level l is used with probability `keep[l]`. Otherwise their value is replaced by the
    middle of the range, which is at most half the range away from any value.
    """

    @property
    def kind(self) -> str:
        """The kind of mechanism, a key of `SUMS`."""

    @property
    def levels(self) -> Any:
        """The budgets ε."""

    @property
    def weights(self) -> Any:
        """The integer weight of a person at each level."""

    @property
    def reach(self) -> int:
        """The maximum change of one person's integer g."""

    @property
    def grid(self) -> int:
        """The divisor of the sum."""

    @property
    def moves(self) -> int:
        """The number of sums that a person can change by their reach."""

    @property
    def law(self) -> Any:
        """The distribution of the noise."""

    @property
    def keep(self) -> Sequence[Fraction] | None:
        """The probability that a person at each level is used; None if everyone is used."""


def exact_additive(mechanism: AdditiveMechanism) -> Verdict:
    """Compute the privacy loss of a person at each level of an additive integer mechanism.

    Replacing a person's value changes Σ k·g by at most k·reach. So the quotient by the grid,
    rounded down, changes by at most ceil(k·reach/grid) lattice steps, in each of `moves` sums. The
    loss is the largest change of the law's exponent over that distance.

    Args:
        mechanism: for example `release.mechanism`.

    Returns:
        The verdict, with the losses and the budgets.

    Raises:
        PrivacyError: the mechanism contradicts its kind, or this checker cannot bound the losses
            of its law.
    """
    kind = SUMS[mechanism.kind]
    budgets = budgets_of(mechanism.levels)
    weights = weights_of(mechanism, len(budgets))
    reach = whole(mechanism.reach, 1, "The reach of a person")
    grid = whole(mechanism.grid, 1, "The grid")
    if mechanism.moves != kind.moves:
        raise PrivacyError(
            f"A person moves in {kind.moves} of the sums of a mechanism of kind "
            f"{mechanism.kind!r}, but the mechanism declares {mechanism.moves}."
        )
    _check_divisor(mechanism)
    law = _closed(mechanism) if kind.closed else one_number(mechanism.law)
    if kind.cells:
        if grid != 1:
            raise PrivacyError(
                "Cells must not be rounded: together they could move by more than one unit."
            )
        if law.steps != 1:
            raise PrivacyError("Stairs are for one sum: several sums may each cross a stair.")
    elif reach < grid:
        raise PrivacyError(_SHORT)
    if kind.coins is not None and kind.coins != (mechanism.keep is not None):
        raise PrivacyError(
            "The mechanism must give probabilities of being kept if its kind samples people, and "
            "only then."
        )
    distances = [k * reach * kind.moves for k in weights]
    if mechanism.keep is None:
        losses = tuple(_moved(law, distance, grid) for distance in distances)
        return Verdict(budgets, losses, exact=True, neighbours=kind.neighbours)
    if len(mechanism.keep) != len(weights):
        raise PrivacyError("The mechanism does not give each level one probability of being kept.")
    bounds = tuple(
        _sampled(law, distance, p, grid)
        for distance, p in zip(distances, mechanism.keep, strict=True)
    )
    return Verdict(budgets, bounds, exact=False, neighbours=kind.neighbours)


def _check_divisor(mechanism: Any) -> None:
    """Reject a divisor that would make the scale of the noise of a mean negative."""
    if not getattr(mechanism, "divisor", 1) > 0:
        raise PrivacyError("The divisor of a sum and of its noise must be above 0.")


def _closed(mechanism: Any) -> LawPieces:
    """Return the joint law of the noise of all cells, which sums to zero."""
    return table(mechanism.law, mechanism.cells)


def weights_of(mechanism: Any, levels: int) -> list[int]:
    """Return the weights, one nonnegative integer for each level.

    Raises:
        PrivacyError: a weight is not a nonnegative integer, or the number of weights is wrong.
    """
    weights = [whole(k, 0, "The one weight of each level") for k in mechanism.weights]
    if len(weights) != levels:
        raise PrivacyError("The mechanism does not give each level one weight.")
    return weights


def lattice_moves(mechanism: Any, why: str) -> list[int]:
    """Return by how many lattice steps a person at each level can move each of several sums.

    A sum changes by k·reach on the grid. So its quotient, rounded down, changes by at most
    ceil(k·reach/grid).

    Args:
        mechanism: several sums over the same people, without sampling.
        why: the end of the message if the mechanism samples people.

    Raises:
        PrivacyError: weights, grid or reach are invalid, or people are sampled.
    """
    weights = weights_of(mechanism, len(mechanism.levels))
    grid = whole(mechanism.grid, 1, "The grid")
    reach = whole(mechanism.reach, 1, "The reach of a person")
    _check_divisor(mechanism)
    if reach < grid:
        raise PrivacyError(_SHORT)
    if getattr(mechanism, "keep", None) is not None:
        raise PrivacyError(f"Coins are for one sum: {why}")
    return [-(-k * reach // grid) for k in weights]


def _moved(law: LawPieces, distance: int, grid: int) -> Fraction | float:
    """Return the loss over a distance on the grid, rounded up to whole lattice steps."""
    return law.loss(-(-distance // grid))


def _sampled(law: LawPieces, distance: int, keep: Fraction, grid: int) -> Fraction | float:
    """Return a certified upper bound on ln((1 + p(e^h − 1))/(1 − p(1 − e^{−h}))).

    h is the loss over half the distance, because a person who is not kept counts as the middle of
    the range.
    """
    if type(keep) not in (int, Fraction) or not 0 <= keep <= 1:
        raise PrivacyError("A probability of being kept must be a fraction from 0 to 1.")
    if distance == 0 or keep == 0:
        return Fraction(0)
    half = _moved(law, distance, 2 * grid)
    if isinstance(half, float):
        return math.inf
    if keep == 1:
        return 2 * half
    # The loss is about p·h if both are small. Extra digits compensate for its leading zeros.
    zeros = sum(max(0, len(str(x.denominator)) - len(str(x.numerator))) for x in (half, keep))
    with decimal.localcontext() as context:
        context.prec = _DIGITS + zeros
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        h = decimal.Decimal(half.numerator) / decimal.Decimal(half.denominator)
        p = decimal.Decimal(keep.numerator) / decimal.Decimal(keep.denominator)
        total = (1 + p * (h.exp() - 1)).ln() - (1 - p * (1 - (-h).exp())).ln()
        # Fewer than twenty operations, all correctly rounded, on numbers with a logarithm of at
        # most h. So the error is far below the trusted digits.
        margin = decimal.Decimal(10) ** -(_TRUSTED + zeros) * (1 + abs(total))
        return Fraction(total + margin)


# The exact privacy loss of each person in a weighted sum of integers and a sum of their squares.
#
# The square of g is v = floor((g − grid/2)² / grid). Claim: |g − g′| + |v − v′| ≤ grid. With
# y = g − grid/2 and D = |g − g′|, the squares y²/grid differ by D·|y + y′|/grid, and
# |y + y′| ≤ grid − D. So they differ by less than grid − D, or are equal if D is the grid.
# grid − D is an integer, so rounding down does not increase their difference beyond it.
#
# If the sums have factors a and b, the bound is on a·|g − g′| + b·|v − v′|. For b ≤ a it is a·grid,
# because a·D + b·(grid − D) ≤ a·grid. For b > a, rounded squares differ by less than
# D·(grid − D)/grid + 1, and a·D + b·D·(1 − D/grid) is largest at D = grid·(a + b)/(2b).


def squares_losses(mechanism: Any) -> tuple[Fraction | float, ...]:
    """Return the privacy loss of a person at each level, from a sum and a sum of squares.

    The two sums together change by at most k·reach on the grid. Each quotient is rounded down, so
    each change is at most rounded up, and ceil(x) + ceil(y) ≤ ceil(x + y) + 1.

    Raises:
        PrivacyError: the mechanism contradicts its kind, or this checker cannot bound the losses
            of its law.
    """
    moves = lattice_moves(mechanism, "half of a square is no square.")
    a, b = (Fraction(part) for part in getattr(mechanism, "parts", (1, 1)))
    if min(a, b) <= 0:
        raise PrivacyError("The factors of both sums must be positive.")
    if (
        mechanism.reach
        < (a if b <= a else (a + b) ** 2 / (4 * b) + b / mechanism.grid) * mechanism.grid
    ):
        raise PrivacyError(_SHORT)
    law = one_number(mechanism.law)
    if law.steps != 1:
        raise PrivacyError("Stairs are for one sum: several sums may each cross a stair.")
    return tuple(law.loss(each + 1) if each else Fraction(0) for each in moves)


# Several sums with joint noise: check the law of the noise, and how well draws fit it.
#
# With a = e^{−rate}, a vector of d numbers with largest absolute value M has probability a^M/Z.
# There are (2M + 1)^d − (2M − 1)^d such vectors. In 2·(2M − 1)^j·(2M + 1)^(d − 1 − j) vectors, the
# first entry of size M has index j. A draw is mapped to d + 2 numbers: for M, for the index of the
# first entry of size M, and for each entry within its range. If draws follow the declared law,
# these are independent and uniform.

_ASKED: Final = 300
_FAR: Final = 300


def several_losses(mechanism: Any) -> tuple[Fraction | float, ...]:
    """Return the privacy loss of a person at each level, from all sums together.

    The law depends only on the largest absolute entry, and every sum changes by at most the same
    distance.

    Raises:
        PrivacyError: the mechanism contradicts its kind, or this checker cannot bound the losses
            of its law.
    """
    moves = lattice_moves(mechanism, "here everyone must be used.")
    law = vector(mechanism.law, len(mechanism.bounds))
    return tuple(map(law.loss, moves))


def vector(law: Any, sums: int) -> LawPieces:
    """Return the declared pieces of a law on vectors by maximum norm, checked against exponents.

    Args:
        law: a law with `pieces`, `dimension` and `exponent(list of integers)`.
        sums: the required dimension.

    Raises:
        PrivacyError: the law declares no pieces, its exponents contradict them, or its dimension is
            different.
    """
    pieces = declared(law, ("cube",))
    if pieces.steps != 1:
        raise PrivacyError("Stairs are for one sum: several sums may each cross a stair.")
    if whole(law.dimension, 1, "The dimension of the noise") != sums:
        raise PrivacyError("The noise does not have one number for each sum.")
    for at in _points(sums):
        if law.exponent(at) != pieces.rate * max(map(abs, at)):
            raise PrivacyError(
                "The law of the noise is not made of the pieces that it declares: it has a hole, a "
                "bump or another slope, or does not follow the largest of its numbers."
            )
    return pieces


def _points(sums: int) -> Iterator[list[int]]:
    """Generate points to check: vectors with one nonzero entry, with equal sizes, or random."""
    chance = random.Random(sums)  # noqa: S311
    yield [0] * sums
    for size in (*range(1, 60), *(2**j + 1 for j in range(6, _FAR, 7))):
        at = [0] * sums
        at[chance.randrange(sums)] = chance.choice((-1, 1)) * size
        yield at
        yield [chance.choice((-1, 1)) * size for _ in range(sums)]
    for _ in range(_ASKED):
        most = chance.randint(1, _FAR)
        yield [chance.getrandbits(most) - (1 << most) // 2 for _ in range(sums)]


def numbers(law: LawPieces, noise: list[int], chance: np.random.Generator) -> list[float]:
    """Map one draw to d + 2 numbers, independent and uniform on [0, 1) if the law is right.

    Args:
        law: the declared law.
        noise: an integer for each sum.
        chance: generator for the randomization within jumps of the distribution function.
    """
    d, most = len(noise), max(map(abs, noise))
    far, near = _above(law, d, most), _above(law, d, most - 1)
    found = [far + chance.random() * (near - far)]
    if most == 0:
        return [cut(found[0]), *(chance.random() for _ in range(d + 1))]
    first = next(place for place, each in enumerate(noise) if abs(each) == most)
    # The index of the first entry of size M is geometric with ratio (2M − 1)/(2M + 1), below d.
    fall = (
        math.log1p(-2.0 / (2.0 * most + 1.0)) if most < 2**53 else -1.0 / float(min(most, 10**300))
    )
    start, end, all_of_it = (math.expm1(fall * i) for i in (first, first + 1, d))
    found.append((start + chance.random() * (end - start)) / all_of_it)
    for place, each in enumerate(noise):
        if place == first:
            found.append(((each > 0) + chance.random()) / 2.0)
        else:
            half = most - 1 if place < first else most
            found.append(
                float(Fraction(each + half, 2 * half + 1)) + chance.random() / (2 * half + 1)
            )
    return [cut(each) for each in found]


@lru_cache(maxsize=8)
def _parts(law: LawPieces, d: int) -> Floats:
    """Return the distribution of K, where M is K plus d geometric waiting times with p = 1 − a.

    Σ_M ((2M + 1)^d − (2M − 1)^d)·x^M = E(x)/(1 − x)^d, where E is the type-B Eulerian polynomial:
    its coefficients count signed permutations by descents. In dimension n they follow from those
    in dimension n − 1: (2k + 1)·E_k + (2n − 2k + 1)·E_(k−1).
    """
    weights = np.array([1.0])
    for n in range(1, d + 1):
        k = np.arange(n + 1.0)
        more, less = np.append(weights, 0.0), np.insert(weights, 0, 0.0)
        weights = ((2.0 * k + 1.0) * more + (2.0 * n - 2.0 * k + 1.0) * less) / (2.0 * n)
    weights = weights * np.exp(-float(law.rate) * np.arange(d + 1.0))
    return np.asarray(weights / weights.sum())


def _above(law: LawPieces, d: int, x: int) -> float:
    """Return P(M > x): given K = k, the probability of fewer than d heads in x − k + d tosses.

    M is K plus d waiting times. Each waiting time counts the tails before the next head. So
    together they exceed y exactly if fewer than d of the first y + d tosses are heads.
    """
    if x < 0:
        return 1.0
    rate = Fraction(law.rate)
    fall = float(rate)
    p = -math.expm1(-fall)
    log_p = math.log(p) if p > 0.0 else math.log(rate.numerator) - math.log(rate.denominator)
    heads, k = np.arange(float(d)), np.arange(d + 1.0)[:, np.newaxis]
    tosses = float(min(x, 10**300)) - k + d
    # The terms C(tosses, h)·p^h·a^(tosses − h) for h heads, from successive factors; 0 if h >
    # tosses.
    with np.errstate(divide="ignore"):
        each = np.log(np.maximum(tosses - heads[:-1], 0.0)) - np.log(heads[1:]) + log_p
    logs = np.concatenate([np.zeros((d + 1, 1)), np.cumsum(each, axis=1)], axis=1)
    missed = float(min(x * rate, Fraction(60 * d + 2000))) + (d - k) * fall
    fewer = np.exp(logs - missed + heads * fall).sum(axis=1)
    return float(_parts(law, d) @ np.where(tosses[:, 0] < d, 1.0, fewer))


def even(law: LawPieces, d: int) -> float:
    """Return the probability that M is even, to detect a wrong lattice.

    Replacing a by −a turns the sum over all M into E(−a)/(1 + a)^d. So the expectation of (−1)^M is
    the ratio of the two values.
    """
    signs = np.where(np.arange(d + 1) % 2 == 0, 1.0, -1.0)
    lean = float(_parts(law, d) @ signs) * math.tanh(float(law.rate) / 2.0) ** d
    return (1.0 + lean) / 2.0


# The exact privacy loss under add/remove of two sums with joint noise.
#
# A person of weight k moves the count T by k·steps lattice steps, and the sum t by some d in the
# same direction, 0 ≤ d ≤ k·steps. The loss is the largest change of the law's exponent over all
# such moves and all positions. On rings it depends on the distance alone. On an hourglass the law
# is constant between the edges of its stairs. So the maximum is attained at a vertex of a polygon
# with sides x = const, x + d = const and d = const: a position before or after the move is at an
# edge, or d is 0 or k·steps. All vertices are integers.

_NEAR = 4
"""The numbers of stairs and of count units to search on each side of 0. Farther out, the changes of
the exponent repeat."""

_FAR_PAIRS = (7, 64, 1001, 2**20)
"""More distant stairs that are also searched, to check that the changes repeat."""

_WHOLE = 8
"""The largest number of steps for which all positions and all moves are searched."""

TWO_SUMS = ((1, 0), (-1, 1))


class PairMechanism(Protocol):
    """Two linear combinations of t and T, plus joint noise."""

    @property
    def levels(self) -> Any:
        """The rungs of the public ladder of budgets."""

    @property
    def weights(self) -> Any:
        """The integer weight of a person on each rung."""

    @property
    def matrix(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The coefficients of t and T, in one row for each combination."""

    @property
    def steps(self) -> int:
        """The number of lattice steps per unit of weight."""

    @property
    def law(self) -> Any:
        """The joint distribution of the two noise values."""


class Stepped(Protocol):
    """A law of pairs, with the method that the search over vertices needs."""

    def exponent(self, x: int, y: int, /) -> Fraction | float:
        """Return −ln P(x, y) + ln P(0, 0), exactly."""


def pair_losses(mechanism: PairMechanism) -> tuple[Fraction | float, ...]:
    """Return the privacy loss of a person on each rung, from two sums with joint noise.

    Raises:
        PrivacyError: the mechanism contradicts its kind, or this checker cannot bound the losses
            of its law.
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
    # A move by k units consists of k moves by one unit, and the losses add up.
    return tuple(unit * k for k in weights)


def unit_loss(law: Stepped, steps: int, inner: int) -> Fraction:
    """Return the privacy loss of adding or removing a person of weight 1, for an hourglass law.

    Raises:
        PrivacyError: the loss is unbounded.
    """
    return everywhere(law, steps) if steps <= _WHOLE else at_vertices(law, steps, inner)


def _farthest(first: tuple[int, int], second: tuple[int, int], weight: int) -> int:
    """Return the largest ℓ1 norm of a move; it is convex in d, so the maximum is at an end."""
    return max(sum(abs(a * t + b * weight) for a, b in (first, second)) for t in (0, weight))


def everywhere(law: Stepped, steps: int) -> Fraction:
    """Return the largest change of the exponent over all moves and all positions near 0."""
    around = range(-3 * steps - 2, 3 * steps + 3)
    largest = Fraction(0)
    for x in around:
        for y in around:
            here = law.exponent(x, y)
            for d in range(steps + 1):
                largest = max(largest, _change(here, law.exponent(x + d, y + steps - d)))
    return largest


def at_vertices(law: Stepped, steps: int, inner: int) -> Fraction:
    """Return the largest change of the exponent over vertices (x, d).

    The counts are near 0, or far from 0 along the waist, the most likely counts for each x.
    """

    def exponent(x: int, k: int) -> Fraction | float:
        return law.exponent(x, k * steps - x)

    near = _ends(range(_NEAR), steps, inner)
    largest = _over_vertices(exponent, near, steps, range(-_NEAR - 2, _NEAR + 3))
    for far in _FAR_PAIRS:
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
    """Return the first and last positions of stairs on both sides of 0, and positions near 0."""
    ends = {-1, 0, 1}
    for j in stairs:
        first = 0 if j == 0 else inner + (j - 1) * steps
        last = inner + j * steps - 1
        ends |= {first, last, -first, -last, last + 1, -last - 1, 1 - first}
    return sorted(ends)


def _change(before: Fraction | float, after: Fraction | float) -> Fraction:
    """Return the absolute difference of two exponents; 0 if both positions are impossible."""
    if math.isinf(before) and math.isinf(after):
        return Fraction(0)
    if math.isinf(before) or math.isinf(after):
        raise PrivacyError("One person decides whether a result is possible at all.")
    return abs(Fraction(after) - Fraction(before))
