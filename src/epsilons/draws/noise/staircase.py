"""The staircase law on the integers, and the stairs that it shares with the laws of pairs."""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise.exact import CHUNK, WIDEST, Ascent, below, below_many, rise
from epsilons.draws.noise.laws import Geometric, Law, Pieces, as_float
from epsilons.draws.noise.source import Source, integer, natural, positive_rational
from epsilons.errors import ArgumentError
from epsilons.frozen import storable

# The stairs that three laws share: their parameters, their levels and the sums over them.
#
# With b = e^{-rate} every sum over the stairs is a polynomial in t = b / (1 - b) = 1 / (e^rate - 1)
# with nonnegative integer coefficients. So nothing cancels, however large or small the rate is.

Distance = TypeVar("Distance", int, NDArray[Any])

DIGITS: Final = 60
"""Decimal digits that a result keeps at any rate; a float has 17."""


@dataclass(frozen=True, init=False)
class Stairs:
    """The parameters of noise that falls in stairs: by e^{-rate} once in every `steps` points.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1. Every stair except the first is
            this wide.
        inner: the width of the first stair, from 1 to `steps`. It is at least 1 because 0 must lie
            on it: an hourglass with an empty first stair would cost three times its rate.

    Raises:
        ArgumentError: a parameter is not such a number.
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

    def _level(self, distance: Distance) -> Distance:
        """Return the number of the stair at a distance of at least 0; the first stair is 0."""
        return (distance + (self.steps - self.inner)) // self.steps

    def _next(self, distance: int) -> tuple[int, int]:
        """Return the stair of distance + 1, and how many distances of it are left."""
        level = self._level(distance + 1)
        return level, self.inner + level * self.steps - (distance + 1)


def precisely(rate: Fraction, digits: int = DIGITS) -> AbstractContextManager[decimal.Context]:
    """Open a decimal context in which sums over the stairs keep `digits` digits.

    Args:
        rate: the rate. 1 - e^{-rate} loses as many digits as 1/rate has before its decimal point. A
            difference of sums with the same highest powers of 1/rate loses as many for each power.
        digits: how many digits must be left.

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
        inner: the width of the first one.

    Guarantee: correct to the last digits of the context, because no term is negative. The distances
    of stair k >= 1 are c + (k - 1) steps with c = inner, ..., inner + steps - 1, and the sum of
    (k - 1)^i b^k over k >= 1 is t, t^2, t^2 (1 + 2t), t^2 (1 + 6t + 6t^2) for i = 0, 1, 2, 3.
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
    # Below this the sum would lose digits, and excess^2 / 2 is too small to matter in a float.
    return float((1 + excess).ln() if excess > Decimal("1e-20") else excess)


# The best width of the first stair: the width of least variance, among all widths.
#
# The variance is M / W, two polynomials in the width g. It rises from g to g + 1 where
# D(g) = M(g + 1) W(g) - M(g) W(g + 1) is at least 0, which is a polynomial as well. For pairs the
# variance may have two local minima, one of them at g = 1, so a search for one could go wrong. Here
# all sign changes of D are found: a polynomial is monotone between the sign changes of its
# difference polynomial, which has a lower degree.

Parts = Callable[[int], tuple[Decimal, Decimal]]


def best_inner(rate: Fraction | int, steps: int) -> int:
    """Return the width of the first stair that minimizes the variance of `Staircase`.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1.

    Returns:
        An integer from 1 to `steps`; the smallest if several are equally good.

    Raises:
        ArgumentError: a parameter is not such a number.

    Guarantee: no other width has a variance that is smaller by more than one part in 10**50.

    Reference: Geng and Viswanath (2014), The Optimal Mechanism in Differential Privacy, equation
    (50), which is the limit of this width over `steps` as they grow.
    """
    rate, steps = positive_rational("rate", rate), natural("steps", steps, 1)
    with precisely(rate, _digits(steps)):
        t = odds(rate)

        def parts(g: int) -> tuple[Decimal, Decimal]:
            return power_sum(2, t, steps, g), 2 * g - 1 + 2 * steps * t

        return _least(parts, 3, steps)


def best_inner_2d(rate: Fraction | int, steps: int) -> int:
    """Return the width of the first ring that minimizes the variance of `Staircase2D`.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1.

    Returns:
        An integer from 1 to `steps`; the smallest if several are equally good.

    Raises:
        ArgumentError: a parameter is not such a number.

    Guarantee: no other width has a variance that is smaller by more than one part in 10**50.
    """
    rate, steps = positive_rational("rate", rate), natural("steps", steps, 1)
    with precisely(rate, _digits(steps)):
        t = odds(rate)

        def parts(g: int) -> tuple[Decimal, Decimal]:
            first = power_sum(1, t, steps, g)
            return 4 * power_sum(3, t, steps, g) + 2 * first, 1 + 4 * first

        return _least(parts, 5, steps)


def _digits(steps: int) -> int:
    """Return enough digits for D, where up to seven powers of `steps` cancel."""
    return 2 * DIGITS + 7 * len(str(steps))


def _least(parts: Parts, degree: int, steps: int) -> int:
    """Return the g from 1 to `steps` that minimizes the ratio; `degree` is the degree of D."""
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
    """Return where in 1, ..., last a polynomial becomes negative or stops being negative.

    Args:
        differences: those of `_newton`: the polynomial is their sum, times binomials of g - 1.
        last: where to stop.

    Returns:
        Each g where the sign differs from that at g - 1, ascending.
    """
    if len(differences) <= 1 or last < 2:
        return []

    def negative(g: int) -> bool:
        return sum((d * math.comb(g - 1, i) for i, d in enumerate(differences)), Decimal(0)) < 0

    changes = []
    # Without its first entry this is the difference polynomial: monotone between its sign changes.
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


# The staircase law on the integers: the smallest variance for one number of a given sensitivity.


@storable("noise.Staircase")
@dataclass(frozen=True, init=False)
class Staircase(Stairs, Law):
    """The staircase law: constant on stairs of `steps` integers; the first is `inner` wide.

    Guarantee: P(x) is proportional to e^{-rate level(|x|)} with
    level(a) = floor((a + steps - inner) / steps); draws are exact. A shift by at most `steps`
    changes no level by more than 1, so it changes log P by at most `rate`.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1.
        inner: the width of the first stair, from 1 to `steps`; `best` chooses it.

    Raises:
        ArgumentError: a parameter is not such a number.

    Reference: Geng and Viswanath (2014), The Optimal Mechanism in Differential Privacy, here on a
    lattice, where it can be drawn exactly.
    """

    @classmethod
    def best(cls, rate: Fraction | int, steps: int) -> Staircase:
        """Return the staircase of least variance.

        Args:
            rate: an integer or `Fraction` above zero.
            steps: how many lattice points make one unit, at least 1.

        Raises:
            ArgumentError: a parameter is not such a number.
        """
        return cls(rate, steps, best_inner(rate, steps))

    @property
    def pieces(self) -> Pieces:
        """The law falls by the rate from each stair of |x| to the next."""
        return Pieces("line", self.rate, self.steps, self.inner)

    def exponent(self, x: int) -> Fraction:
        """Return log pmf(0) - log pmf(x) = rate * level(|x|), exactly.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        return self.rate * self._level(abs(integer("x", x)))

    def log_pmf(self, x: int) -> float:
        """Return the natural logarithm of the probability of `x`.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        return -self._log_normaliser - as_float(self.exponent(x))

    @cached_property
    def _log_normaliser(self) -> float:
        """log(2 inner - 1 + 2 steps t), computed from its excess over 1 so that nothing cancels."""
        with precisely(self.rate):
            return log_one_plus(2 * (self.inner - 1) + 2 * self.steps * odds(self.rate))

    @property
    def variance(self) -> float:
        """The variance, in closed form and correct to the last digit of a float."""
        with precisely(self.rate):
            t = odds(self.rate)
            squares = 2 * power_sum(2, t, self.steps, self.inner)
            return float(squares / (2 * self.inner - 1 + 2 * self.steps * t))

    def tail(self, x: int) -> float:
        """Return the probability of more than `x`: the rest of its stair, and all stairs beyond.

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not such a number.
        """
        level, left = self._next(natural("x", x))
        with precisely(self.rate):
            t = odds(self.rate)
            share = (left + self.steps * t) / (2 * self.inner - 1 + 2 * self.steps * t)
            return float(share * fallen(self.rate, level))

    @cached_property
    def _ascent(self) -> Ascent:
        """The coin that decides whether x is beyond the first stair; 0 counts once there."""
        return Ascent(self.rate, 2 * self.inner - 1, 2 * self.steps)

    @cached_property
    def _heights(self) -> Geometric:
        """The number of stairs between x and the first one."""
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
        # One part of Python integers turns the whole array into objects: nothing is cast down.
        return np.concatenate(parts)

    def _chunk(self, source: Source, size: int) -> NDArray[Any]:
        """Draw `size` integers; `steps` and the rate fit `WIDEST`."""
        ascends = self._ascent.many(source, size)
        far = np.flatnonzero(ascends)
        near = np.flatnonzero(~ascends)
        # One word gives the sign and the place on the stair: 2 * steps is at most 2**54.
        places = below_many(source, 2 * self.steps, len(far))
        sizes = rise(self._heights.draw(source, len(far)), self.steps, (places >> 1) + self.inner)
        draws: NDArray[Any] = np.empty(size, dtype=sizes.dtype)
        draws[far] = np.where(places & 1, -sizes, sizes)
        draws[near] = below_many(source, 2 * self.inner - 1, len(near)) - (self.inner - 1)
        return draws


def least_variance(rate: float) -> float:
    """Return the variance of the best staircase in squared units, in the limit of many steps.

    Args:
        rate: above zero.

    Guarantee: no law with this privacy loss for a move by one unit has a smaller variance.

    Reference: Geng and Viswanath (2014), Theorem 7; paper *add-remove*, equation (2).
    """
    b = math.exp(-rate)
    first = math.pow(b * (1.0 + b) / 2.0, 2.0 / 3.0)
    return (first + b) / math.expm1(-rate) ** 2
