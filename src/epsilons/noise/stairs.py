"""The stairs that three laws share: their parameters, their levels and the sums over them.

With b = e^{-rate} every sum over the stairs is a polynomial in t = b / (1 - b) = 1 / (e^rate - 1)
whose coefficients are integers of at least 0. So nothing cancels, however large or small the rate.
"""

from __future__ import annotations

import decimal
import math
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeVar

from numpy.typing import NDArray

from epsilons.errors import ArgumentError
from epsilons.noise.arguments import natural, positive_rational

Distance = TypeVar("Distance", int, NDArray[Any])

DIGITS: Final = 60
"""Decimal digits that are left of a result, whatever its rate: a float has 17."""


@dataclass(frozen=True, init=False)
class Stairs:
    """The parameters of noise that falls in stairs: by e^{-rate} once in every `steps` points.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1. All stairs but the first are as
            wide.
        inner: the width of the first stair, from 1 to `steps`. It is at least 1 because zero must
            lie on it: the hourglass of an empty first stair costs three times its rate.

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
        """Return the stair of a distance of at least 0, which begins with 0."""
        return (distance + (self.steps - self.inner)) // self.steps

    def _next(self, distance: int) -> tuple[int, int]:
        """Return the stair of the next distance, and how many of its distances are left."""
        level = self._level(distance + 1)
        return level, self.inner + level * self.steps - (distance + 1)


def precisely(rate: Fraction, digits: int = DIGITS) -> AbstractContextManager[decimal.Context]:
    """Open a decimal context in which sums over the stairs keep so many digits.

    Args:
        rate: the rate. 1 - e^{-rate} loses as many digits as 1/rate has before its point, and a
            difference of sums that share their highest powers of 1/rate as many for each power.
        digits: how many are to be left.

    Guarantee: nothing is taken from the context of the caller.
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

    Guarantee: right to the last digits of the context, for no term is below zero. The distances
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
    # Below this the sum would lose digits, and excess^2 / 2 is less than a float can tell.
    return float((1 + excess).ln() if excess > Decimal("1e-20") else excess)
