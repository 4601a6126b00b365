"""The staircase law on the integers, and the parameters that it shares with the laws of pairs."""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise.exact import CHUNK, WIDEST, Ascent, below, below_many, rise
from epsilons.draws.noise.laws import Geometric, Law, Pieces
from epsilons.draws.noise.source import Source, natural, positive_rational
from epsilons.errors import ArgumentError
from epsilons.frozen import storable

# The parts that three staircase laws share: parameters, levels, and sums over the stairs.
#
# With b = e^{-rate} every sum over the stairs is a polynomial in t = b / (1 - b) = 1 / (e^rate - 1)
# with nonnegative integer coefficients. So there is no cancellation at any rate.

Distance = TypeVar("Distance", int, NDArray[Any])

DIGITS: Final = 60
"""The decimal precision of results at any rate; a float has 17 digits."""


@dataclass(frozen=True, init=False)
class Stairs:
    """The parameters of staircase noise: the probability falls by e^{-rate} every `steps` points.

    Args:
        rate: the privacy loss per unit of change: an integer or `Fraction` above zero.
        steps: the number of lattice points per unit, at least 1. Every stair except the first has
            this width.
        inner: the width of the first stair, from 1 to `steps`. It is at least 1 because 0 must be
            on it. Otherwise the hourglass law of `pairs.py` would cost three times its rate.

    Raises:
        ArgumentError: a parameter is not of the right type or out of range.
    """

    rate: Fraction
    steps: int
    inner: int

    def __init__(self, rate: Fraction | int, steps: int, inner: int) -> None:
        object.__setattr__(self, "rate", positive_rational("rate", rate))
        object.__setattr__(self, "steps", natural("steps", steps, 1))
        object.__setattr__(self, "inner", natural("inner", inner, 1))
        if self.inner > self.steps:
            raise ArgumentError("inner must be at most steps.")

    @classmethod
    def best(cls, rate: Fraction | int, steps: int) -> Self:
        """Return the law with the smallest variance: the one with the best first stair.

        If several widths are equally good, the first stair has the smallest of them.

        Args:
            rate: an integer or `Fraction` above zero.
            steps: the number of lattice points per unit, at least 1.

        Raises:
            ArgumentError: a parameter is not of the right type or out of range.

        Guarantee: the relative excess over the smallest variance is at most 10**-50.

        Reference: Geng and Viswanath (2014), The Optimal Mechanism in Differential Privacy. For one
        number, equation (50) is the limit of `inner` divided by `steps`, as `steps` grows.
        """
        rate, steps = positive_rational("rate", rate), natural("steps", steps, 1)
        with precisely(rate, _digits(steps)):
            inner = _least(partial(cls._moments, odds(rate), steps), cls._degree, steps)
        return cls(rate, steps, inner)

    _degree = 3
    """The degree of D, the polynomial of `_least`."""

    @staticmethod
    def _moments(t: Decimal, steps: int, inner: int) -> tuple[Decimal, Decimal]:
        """Return half the sum of x^2 over all x, with their weights, and the sum of the weights.

        These are the sums for one number, as in `Staircase` and in either coordinate of the
        hourglass law.
        """
        return power_sum(2, t, steps, inner), 2 * inner - 1 + 2 * steps * t

    def _level(self, distance: Distance) -> Distance:
        """Return the index, from 0, of the stair at a distance of at least 0."""
        return (distance + (self.steps - self.inner)) // self.steps

    def _next(self, distance: int) -> tuple[int, int]:
        """Return the stair of d = distance + 1, and how many of its distances are at least d."""
        level = self._level(distance + 1)
        return level, self.inner + level * self.steps - (distance + 1)


def precisely(rate: Fraction, digits: int = DIGITS) -> AbstractContextManager[decimal.Context]:
    """Return a decimal context in which sums over the stairs are correct to `digits` digits.

    Args:
        rate: the rate. 1 - e^{-rate} loses as many digits as 1/rate has before its decimal point. A
            difference of sums with the same highest powers of 1/rate loses this many digits for
            each power.
        digits: the number of correct digits of a result.

    Guarantee: the caller's decimal context has no influence.
    """
    lost = 5 * len(str(rate.denominator // rate.numerator))
    return decimal.localcontext(
        decimal.Context(
            prec=digits + lost,
            rounding=decimal.ROUND_HALF_EVEN,
            Emin=decimal.MIN_EMIN,
            Emax=decimal.MAX_EMAX,
            traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
        )
    )


def odds(rate: Fraction) -> Decimal:
    """Return t = 1 / (e^rate - 1) in the context of `precisely`.

    Args:
        rate: the rate, above zero.
    """
    b = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
    return b / (1 - b)


def fallen(rate: Fraction, level: int) -> Decimal:
    """Return e^{-rate level} in the context of `precisely`.

    Args:
        rate: the rate, above zero.
        level: at least 0.
    """
    return (-Decimal(rate.numerator) * level / Decimal(rate.denominator)).exp()


def powers_below(power: int, bound: int) -> int:
    """Return 0^power + 1^power + ... + (bound - 1)^power, with 0^0 = 1.

    Args:
        power: from 0 to 3.
        bound: at least 0.
    """
    if power == 0:
        return bound
    if power == 2:
        return (bound - 1) * bound * (2 * bound - 1) // 6
    triangle = bound * (bound - 1) // 2
    return triangle if power == 1 else triangle * triangle


def power_sum(power: int, t: Decimal, steps: int, inner: int) -> Decimal:
    """Return the sum of a^power b^level(a) over all a = 0, 1, 2, ...

    Args:
        power: from 0 to 3.
        t: the `odds` of the rate.
        steps: the width of a stair.
        inner: the width of the first stair.

    Guarantee: correct to the precision of the context, because no term is negative. The distances
    of stair k >= 1 are c + (k - 1) steps with c = inner, ..., inner + steps - 1. The sum of (k -
    1)^i b^k over k >= 1 is t, t^2, t^2 (1 + 2t), t^2 (1 + 6t + 6t^2) for i = 0, 1, 2, 3.
    """
    square = t * t
    heights = (t, square, square * (1 + 2 * t), square * (1 + 6 * t + 6 * square))
    total = Decimal(powers_below(power, inner))
    for i in range(power + 1):
        within = powers_below(power - i, inner + steps) - powers_below(power - i, inner)
        total += math.comb(power, i) * steps**i * within * heights[i]
    return total


def log_one_plus(excess: Decimal) -> float:
    """Return log(1 + excess) in the context of `precisely`.

    Args:
        excess: at least 0.
    """
    # For a smaller excess, 1 + excess would lose digits, and excess^2 / 2 is negligible in a float.
    return float((1 + excess).ln() if excess > Decimal("1e-20") else excess)


# The best width of the first stair: the width with the smallest variance.
#
# The variance is M / W, a ratio of two polynomials in the width g. It rises from g to g + 1 where
# D(g) = M(g + 1) W(g) - M(g) W(g + 1) is at least 0, and D is also a polynomial. For pairs the
# variance can have two local minima, one at g = 1, so a local search could return the wrong one.
# Instead, all sign changes of D are found. A polynomial is monotone between the sign changes of its
# difference polynomial, which has a lower degree, so recursion finds them.

Parts = Callable[[int], tuple[Decimal, Decimal]]


def _digits(steps: int) -> int:
    """Return a sufficient number of digits for D, in which up to seven powers of `steps` cancel."""
    return 2 * DIGITS + 7 * len(str(steps))


def _least(parts: Parts, degree: int, steps: int) -> int:
    """Return the g in 1, ..., `steps` that minimizes M / W; `degree` is the degree of D."""
    rows = [parts(g) for g in range(1, degree + 3)]
    values = [rows[i + 1][0] * rows[i][1] - rows[i][0] * rows[i + 1][1] for i in range(degree + 1)]
    candidates = [1, *_changes(_newton(values), steps - 1), steps]

    def ratio(g: int) -> Decimal:
        above, below = parts(g)
        return above / below

    return min(candidates, key=ratio)


def _newton(values: Sequence[Decimal]) -> list[Decimal]:
    """Return the forward differences at 1 of the polynomial with these values at 1, 2, 3, ..."""
    row, differences = list(values), []
    while row:
        differences.append(row[0])
        row = [after - before for before, after in itertools.pairwise(row)]
    return differences


def _changes(differences: Sequence[Decimal], last: int) -> list[int]:
    """Return the points in 1, ..., last at which a polynomial changes sign; 0 counts as positive.

    Args:
        differences: the forward differences from `_newton`. The polynomial is the sum of these
            times binomial coefficients of g - 1.
        last: the last point.

    Returns:
        Each g at which the sign differs from the sign at g - 1, ascending.
    """
    if len(differences) <= 1 or last < 2:
        return []

    def negative(g: int) -> bool:
        return sum((d * math.comb(g - 1, i) for i, d in enumerate(differences)), Decimal(0)) < 0

    changes = []
    # Without the first entry, these are the differences of the difference polynomial.
    ends = [1, *_changes(differences[1:], last - 1), last]
    for start, end in itertools.pairwise(ends):
        before = negative(start)
        if negative(end) == before:
            continue
        while end - start > 1:
            middle = (start + end) // 2
            if negative(middle) == before:
                start = middle
            else:
                end = middle
        changes.append(end)
    return changes


# The staircase law on the integers: the smallest variance for one number of given sensitivity.


@storable("noise.Staircase")
@dataclass(frozen=True, init=False)
class Staircase(Stairs, Law):
    """The staircase law: constant on stairs of `steps` integers; the first stair is `inner` wide.

    Guarantee: P(x) is proportional to e^{-rate level(|x|)} with
    level(a) = floor((a + steps - inner) / steps); draws are exact. A shift by at most `steps`
    changes no level by more than 1, so it changes log P by at most `rate`.
    Proof: docs/proofs/stairs.md (1), (5).

    Arrays have Python integers if `steps` or the denominator of the rate is above 2**53 or a draw
    would reach 2**62.

    Args:
        rate: the privacy loss per unit of change: an integer or `Fraction` above zero.
        steps: the number of lattice points per unit, at least 1.
        inner: the width of the first stair, from 1 to `steps`; `best` chooses it.

    Raises:
        ArgumentError: a parameter is not of the right type or out of range.

    Reference: Geng and Viswanath (2014), The Optimal Mechanism in Differential Privacy; here on a
    lattice, which allows exact draws.
    """

    @property
    def pieces(self) -> Pieces:
        """The pieces: the log-probability falls by the rate from each stair of |x| to the next."""
        return Pieces("line", self.rate, self.steps, self.inner)

    def _exponent(self, x: int) -> Fraction:
        """Return rate * level(|x|), exactly."""
        return self.rate * self._level(abs(x))

    @cached_property
    def _log_at_zero(self) -> float:
        """Minus log(2 inner - 1 + 2 steps t), computed without cancellation."""
        with precisely(self.rate):
            return -log_one_plus(2 * (self.inner - 1) + 2 * self.steps * odds(self.rate))

    @property
    def variance(self) -> float:
        """The variance, in closed form and correct to the last digit of a float."""
        with precisely(self.rate):
            half, weights = self._moments(odds(self.rate), self.steps, self.inner)
            return float(2 * half / weights)

    def _tail(self, x: int) -> float:
        """Return P(X > x): the rest of the stair of x, and all stairs beyond it."""
        level, left = self._next(x)
        with precisely(self.rate):
            t = odds(self.rate)
            share = (left + self.steps * t) / (2 * self.inner - 1 + 2 * self.steps * t)
            return float(share * fallen(self.rate, level))

    @cached_property
    def _ascent(self) -> Ascent:
        """The coin for whether x is beyond the first stair, which has 2 inner - 1 integers."""
        return Ascent(self.rate, 2 * self.inner - 1, 2 * self.steps)

    @cached_property
    def _heights(self) -> Geometric:
        """The distribution of the number of stairs between x and the first stair."""
        return Geometric(1 / self.rate)

    def _one(self, source: Source) -> int:
        if not self._ascent.one(source):
            return below(source, 2 * self.inner - 1) - (self.inner - 1)
        height = self._heights.draw(source)
        size = self.inner + height * self.steps + below(source, self.steps)
        return -size if source.bits(1) else size

    def _many(self, source: Source, size: int) -> NDArray[Any]:
        if max(self.steps, self.rate.denominator) > WIDEST:
            draws = np.empty(size, dtype=object)
            draws[:] = [self._one(source) for _ in range(size)]
            return draws
        parts: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
        starts = range(0, size, CHUNK)
        parts.extend(self._chunk(source, min(CHUNK, size - start)) for start in starts)
        # If one part has Python integers, so does the whole array, and no value is cast down.
        return np.concatenate(parts)

    def _chunk(self, source: Source, size: int) -> NDArray[Any]:
        """Draw `size` integers; `steps` and the rate must not exceed `WIDEST`."""
        ascends = self._ascent.many(source, size)
        far = np.flatnonzero(ascends)
        near = np.flatnonzero(~ascends)
        # One word gives the sign and the position on the stair, because 2 * steps is at most 2**54.
        places = below_many(source, 2 * self.steps, len(far))
        sizes = rise(self._heights.draw(source, len(far)), self.steps, (places >> 1) + self.inner)
        draws: NDArray[Any] = np.empty(size, dtype=sizes.dtype)
        draws[far] = np.where(places & 1, -sizes, sizes)
        draws[near] = below_many(source, 2 * self.inner - 1, len(near)) - (self.inner - 1)
        return draws


def least_variance(rate: float) -> float:
    """Return the variance of the best staircase law in squared units, for infinitely many steps.

    Args:
        rate: the rate, above zero.

    Guarantee: no law with this privacy loss per unit of change has a smaller variance.

    Reference: Geng and Viswanath (2014), Theorem 7; paper *add-remove*, equation (2).
    """
    b = math.exp(-rate)
    first = math.pow(b * (1.0 + b) / 2.0, 2.0 / 3.0)
    return (first + b) / math.expm1(-rate) ** 2
