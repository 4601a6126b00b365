"""The exact privacy loss of each person in weighted sums: one, several, and under add/remove."""

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
from epsilons.verify.losses.closed import table
from epsilons.verify.losses.laws import LawPieces, declared, one_number, two_numbers, whole
from epsilons.verify.verdict import Verdict, budgets_of

# The exact privacy loss of each person in weighted sums of integers with noise of their own.
#
# The checker is handed a mechanism and reads what it would draw from: integer weights, how far a
# person can move, the pieces of the law. It shares no code with what it checks, uses rational
# numbers and correctly rounded decimals only, and takes no number on trust that it can recompute.
# What a person can move follows from the kind of mechanism, and must be what the mechanism says.

_DIGITS, _TRUSTED = 60, 45
"""Significant digits that are carried, and those that are relied on."""

_SHORT: Final = "The values of a sum can move by all of the grid, and it says by less."


@dataclass(frozen=True)
class SumsKind:
    """What the kind of a mechanism says of it, whatever the mechanism says.

    Attributes:
        neighbours: what counts as a change of one person.
        moves: in how many places a person's whole reach can come or go.
        cells: whether there are many sums, among which a person may share what they add.
        coins: whether people are kept by coins; None if either may be.
        closed: whether the sum over all cells never moves, and the noise sums to zero.
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
}
"""The kinds of weighted sums. A person who is replaced leaves one cell and enters another."""


class AdditiveMechanism(Protocol):
    """An additive integer mechanism: floor(Σ k·g / grid) + noise, perhaps after coins.

    Each person of a level with budget `levels[l]` adds `weights[l]·g`, where g can move by `reach`
    in each of `moves` sums, which all have noise of their own: a distance of moves·reach in ℓ1,
    however it is spread over sums if the grid is 1. Where `keep` is given, a person of level l is
    used with probability `keep[l]`, and otherwise counts as what is half as far from everything.
    """

    @property
    def kind(self) -> str:
        """One of `SUMS`."""

    @property
    def levels(self) -> Any:
        """The budgets ε."""

    @property
    def weights(self) -> Any:
        """The integer weight of a person of each level."""

    @property
    def reach(self) -> int:
        """How far one person's integer can move."""

    @property
    def grid(self) -> int:
        """The divisor of the sum."""

    @property
    def moves(self) -> int:
        """In how many sums a person can move by their reach."""

    @property
    def law(self) -> Any:
        """The law of the noise."""

    @property
    def keep(self) -> Sequence[Fraction] | None:
        """The probability of being used, level by level; None if everyone surely is."""


def exact_additive(mechanism: AdditiveMechanism) -> Verdict:
    """Compute the loss of a person of each level of an additive integer mechanism.

    Replacing a person's value moves Σ k·g by at most k·reach, so its quotient by the grid, rounded
    down, by at most ceil(k·reach/grid) lattice points, and that in each of `moves` sums; the loss
    is what the pieces of the law allow over that distance.

    Args:
        mechanism: for instance `release.mechanism`.

    Returns:
        The verdict: losses beside budgets.

    Raises:
        PrivacyError: the mechanism is not of the kind that it says, or the law is not one whose
            losses this checker can bound.
    """
    kind = SUMS[mechanism.kind]
    budgets = budgets_of(mechanism.levels)
    weights = weights_of(mechanism, len(budgets))
    reach = whole(mechanism.reach, 1, "The reach of a person")
    grid = whole(mechanism.grid, 1, "The grid")
    if mechanism.moves != kind.moves:
        raise PrivacyError(
            f"A person moves in {kind.moves} of the sums of such a mechanism ({mechanism.kind!r}), "
            f"and it says {mechanism.moves}."
        )
    law = _closed(mechanism) if kind.closed else one_number(mechanism.law)
    if kind.cells:
        if grid != 1:
            raise PrivacyError(
                "Sums that are rounded one by one can move by more than their total."
            )
        if law.steps != 1:
            raise PrivacyError("Each of several sums may cross a stair of its own.")
    elif reach < grid:
        raise PrivacyError(_SHORT)
    if kind.coins is not None and kind.coins != (mechanism.keep is not None):
        raise PrivacyError(
            "Coins that are not tossed protect nobody, and those that are must be said."
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


def _closed(mechanism: Any) -> LawPieces:
    """The law of all cells together: of each alone it would say nothing."""
    return table(mechanism.law, mechanism.cells)


def weights_of(mechanism: Any, levels: int) -> list[int]:
    """The weights, one from 0 for each level.

    Raises:
        PrivacyError: there are others.
    """
    weights = [whole(k, 0, "The one weight of each level") for k in mechanism.weights]
    if len(weights) != levels:
        raise PrivacyError("The mechanism does not give each level one weight.")
    return weights


def lattice_moves(mechanism: Any, why: str) -> list[int]:
    """How far a person of each level moves one of several sums, in lattice points.

    Each moves by k·reach on the grid, so its quotient, rounded down, by ceil(k·reach/grid).

    Args:
        mechanism: of sums of the same people, who are all surely used.
        why: what is said of coins, if there are some.

    Raises:
        PrivacyError: weights, grid or reach are not what they must be, or there are coins.
    """
    weights = weights_of(mechanism, len(mechanism.levels))
    grid = whole(mechanism.grid, 1, "The grid")
    reach = whole(mechanism.reach, 1, "The reach of a person")
    if reach < grid:
        raise PrivacyError(_SHORT)
    if getattr(mechanism, "keep", None) is not None:
        raise PrivacyError(f"Coins are for one sum: {why}")
    return [-(-k * reach // grid) for k in weights]


def _moved(law: LawPieces, distance: int, grid: int) -> Fraction | float:
    """The loss over a distance on the grid: lattice points are crossed whole."""
    return law.loss(-(-distance // grid))


def _sampled(law: LawPieces, distance: int, keep: Fraction, grid: int) -> Fraction | float:
    """A certified bound on ln((1 + p(e^h − 1))/(1 − p(1 − e^{−h}))).

    h is the loss over half the distance: a person who is not kept counts as the middle.
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
    # A loss is about p·h where both are small: carry as many digits more as that has zeros.
    zeros = sum(max(0, len(str(x.denominator)) - len(str(x.numerator))) for x in (half, keep))
    with decimal.localcontext() as context:
        context.prec = _DIGITS + zeros
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        h = decimal.Decimal(half.numerator) / decimal.Decimal(half.denominator)
        p = decimal.Decimal(keep.numerator) / decimal.Decimal(keep.denominator)
        total = (1 + p * (h.exp() - 1)).ln() - (1 - p * (1 - (-h).exp())).ln()
        # Every operation is correctly rounded and there are fewer than twenty, on numbers whose
        # logarithm is at most h: the error is far below the digits that are relied on.
        margin = decimal.Decimal(10) ** -(_TRUSTED + zeros) * (1 + abs(total))
        return Fraction(total + margin)


# The exact privacy loss of each person in a weighted sum of integers and one of their squares.
#
# The square of g is v = floor((g − grid/2)² / grid), and |g − g′| + |v − v′| is at most the grid:
# with y = g − grid/2 and D = |g − g′| the squares y²/grid differ by D·|y + y′|/grid, and
# |y + y′| ≤ grid − D, so by less than grid − D unless D is the grid, where they are the same; and
# grid − D is a whole number, so that rounding down does not take them farther apart.


def squares_losses(mechanism: Any) -> tuple[Fraction | float, ...]:
    """The loss of a person of each level.

    Both sums move together by k·reach on the grid. Each is rounded down, and two roundings up of
    numbers that add up to a whole one make one more than it at most.

    Raises:
        PrivacyError: the mechanism is not of its kind, or the law is not one whose losses this
            checker can bound.
    """
    moves = lattice_moves(mechanism, "half of a square is no square.")
    law = one_number(mechanism.law)
    if law.steps != 1:
        raise PrivacyError("Each of two sums may cross a stair of its own.")
    return tuple(law.loss(each + 1) if each else Fraction(0) for each in moves)


# Several sums at once: what the law of their noise declares and says, and how draws fit it.
#
# With a = e^{−rate}, a vector of d numbers whose largest is M has the probability a^M/Z. There are
# (2M + 1)^d − (2M − 1)^d of them; 2·(2M − 1)^j·(2M + 1)^(d − 1 − j) of these have their first
# number of that size at place j. So a draw becomes d + 2 numbers: how large M is, where it stands
# first, and each number in its place. If the law is the declared one, these are independent and
# uniform.

_ASKED: Final = 300
_FAR: Final = 300


def several_losses(mechanism: Any) -> tuple[Fraction | float, ...]:
    """The loss of a person of each level, in all sums together.

    The largest of all moves is no larger than that of each sum.

    Raises:
        PrivacyError: the mechanism is not of its kind, or the law is not one whose losses this
            checker can bound.
    """
    moves = lattice_moves(mechanism, "here everyone is surely used.")
    law = vector(mechanism.law, len(mechanism.bounds))
    return tuple(map(law.loss, moves))


def vector(law: Any, sums: int) -> LawPieces:
    """The pieces of a law of several numbers, by the largest of them.

    Args:
        law: with `pieces`, `dimension`, and with `exponent` of a list of integers.
        sums: how many numbers there must be.

    Raises:
        PrivacyError: it declares none, or others than its exponents have, or is of other numbers.
    """
    pieces = declared(law, ("cube",))
    if pieces.steps != 1 or pieces.inner != 1:
        raise PrivacyError("Each of several sums may cross a stair of its own.")
    if whole(law.dimension, 1, "The dimension of the noise") != sums:
        raise PrivacyError("The noise is not of as many numbers as there are sums.")
    for at in _points(sums):
        if law.exponent(at) != pieces.rate * max(map(abs, at)):
            raise PrivacyError(
                "The law of the noise is not made of the pieces that it declares: it has a hole, a "
                "bump or another slope, or does not follow the largest of its numbers."
            )
    return pieces


def _points(sums: int) -> Iterator[list[int]]:
    """Vectors of every size: one number alone, all alike, and any."""
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
    """The d + 2 numbers that one draw stands for.

    Args:
        law: what was declared.
        noise: an integer for each sum.
        chance: the random places within jumps.
    """
    d, most = len(noise), max(map(abs, noise))
    far, near = _above(law, d, most), _above(law, d, most - 1)
    found = [far + chance.random() * (near - far)]
    if most == 0:
        return [_cut(found[0]), *(chance.random() for _ in range(d + 1))]
    first = next(place for place, each in enumerate(noise) if abs(each) == most)
    # Places before the first have the ratio (2M − 1)/(2M + 1) each, cut off after d.
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
    return [_cut(each) for each in found]


def _cut(number: float) -> float:
    """Rounding may not lead out of [0, 1)."""
    return min(max(number, 0.0), 1.0 - 2.0**-53)


@lru_cache(maxsize=8)
def _parts(law: LawPieces, d: int) -> Floats:
    """The chances of K: the largest number is K and d waiting times for coins of p = 1 − a.

    The sum of ((2M + 1)^d − (2M − 1)^d)·x^M is E(x)/(1 − x)^d, where E has the numbers of
    signed orders of d things by their descents: (2k + 1)·E_k + (2d − 2k + 1)·E_(k−1) for one more.
    """
    weights = np.array([1.0])
    for n in range(1, d + 1):
        k = np.arange(n + 1.0)
        more, less = np.append(weights, 0.0), np.insert(weights, 0, 0.0)
        weights = ((2.0 * k + 1.0) * more + (2.0 * n - 2.0 * k + 1.0) * less) / (2.0 * n)
    weights = weights * np.exp(-float(law.rate) * np.arange(d + 1.0))
    return np.asarray(weights / weights.sum())


def _above(law: LawPieces, d: int, x: int) -> float:
    """The probability that the largest number is more: of fewer heads than d in x − k + d tosses.

    K, and d waiting times of which each is a row of tails: they are more than y together if fewer
    than d of the first y + d tosses are heads.
    """
    if x < 0:
        return 1.0
    rate = Fraction(law.rate)
    fall = float(rate)
    p = -math.expm1(-fall)
    log_p = math.log(p) if p > 0.0 else math.log(rate.numerator) - math.log(rate.denominator)
    heads, k = np.arange(float(d)), np.arange(d + 1.0)[:, np.newaxis]
    tosses = float(min(x, 10**300)) - k + d
    # C(tosses, h)·p^h·a^(tosses − h), factor by factor; no more heads than tosses.
    with np.errstate(divide="ignore"):
        each = np.log(np.maximum(tosses - heads[:-1], 0.0)) - np.log(heads[1:]) + log_p
    logs = np.concatenate([np.zeros((d + 1, 1)), np.cumsum(each, axis=1)], axis=1)
    missed = float(min(x * rate, Fraction(60 * d + 2000))) + (d - k) * fall
    fewer = np.exp(logs - missed + heads * fall).sum(axis=1)
    return float(_parts(law, d) @ np.where(tosses[:, 0] < d, 1.0, fewer))


def even(law: LawPieces, d: int) -> float:
    """The probability that the largest number is even: it shows noise on another lattice.

    With −a for a, the sum over all M is E(−a)/(1 + a)^d: so the mean of (−1)^M is their ratio.
    """
    signs = np.where(np.arange(d + 1) % 2 == 0, 1.0, -1.0)
    lean = float(_parts(law, d) @ signs) * math.tanh(float(law.rate) / 2.0) ** d
    return (1.0 + lean) / 2.0


# The exact privacy loss under add/remove of two sums with a pair of noises.
#
# A person of weight k moves the count T by k·steps lattice points and the sum t by some d in the
# same direction, 0 ≤ d ≤ k·steps: the loss is the largest change of the law's exponent over all
# such moves and all positions. On rings it is a matter of distance alone. On an hourglass the law
# is constant between the edges of its stairs, so it is attained where a position or its image lies
# at an edge, or where d is at an end: the vertices of polygons whose sides are x = const, x + d =
# const and d = const, and which are whole numbers.

_NEAR = 4
"""Stairs, and units of the count, that are looked at on each side: beyond them all repeats."""

_FAR_PAIRS = (7, 64, 1001, 2**20)
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
