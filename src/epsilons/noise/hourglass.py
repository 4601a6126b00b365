"""The hourglass law on pairs: two staircases for the budget of one, if their sum is whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilons.frozen import storable
from epsilons.noise.arguments import integer
from epsilons.noise.ascent import rise
from epsilons.noise.inner import best_inner
from epsilons.noise.laplace import DiscreteLaplace, as_float
from epsilons.noise.pair import PairLaw
from epsilons.noise.pieces import Pieces
from epsilons.noise.source import Source
from epsilons.noise.staircase import Staircase
from epsilons.noise.stairs import (
    Stairs,
    log_one_plus,
    odds,
    power_sum,
    powers_below,
    precisely,
)


@storable("noise.Hourglass")
@dataclass(frozen=True, init=False)
class Hourglass(Stairs, PairLaw):
    """The hourglass law on pairs (x, y) of integers whose sum is a multiple of `steps`.

    Guarantee: with x + y = k steps and j = level(|x|), P(x, y) is proportional to e^{-rate h},
    where h = j + |k - j| for x >= 0 and h = j + |k + j| for x < 0; draws are exact. A shift by
    (s, steps - s), 0 <= s <= steps, or by its negative changes no h by more than 1, so it changes
    log P by at most `rate`. Both x and y have the law `Staircase(rate, steps, inner)`.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1.
        inner: the width of the first stair, from 1 to `steps`; `best` chooses it.

    Raises:
        ArgumentError: a parameter is not such a number.

    Reference: Kulesza, Suresh and Wang (2024), Mean Estimation in the Add-Remove Model of
    Differential Privacy, Section 4.1: equation (7), and Lemma 4.3 for the draws; here on a lattice.
    """

    @classmethod
    def best(cls, rate: Fraction | int, steps: int) -> Hourglass:
        """Return the hourglass of least variance.

        Args:
            rate: an integer or `Fraction` above zero.
            steps: how many lattice points make one unit, at least 1.

        Raises:
            ArgumentError: a parameter is not such a number.
        """
        return cls(rate, steps, best_inner(rate, steps))

    @property
    def pieces(self) -> Pieces:
        """The law falls by the rate with every unit away from its waist, or along it."""
        return Pieces("hourglass", self.rate, self.steps, self.inner)

    def exponent(self, x: int, y: int) -> Fraction | float:
        """Return log pmf(0, 0) - log pmf(x, y) = rate * h, exactly; infinite off the support.

        Args:
            x: an integer.
            y: an integer.

        Raises:
            ArgumentError: `x` or `y` is not an integer.
        """
        x, y = integer("x", x), integer("y", y)
        k, off = divmod(x + y, self.steps)
        if off:
            return math.inf
        j = self._level(abs(x))
        return self.rate * (j + abs(k - j if x >= 0 else k + j))

    def log_pmf(self, x: int, y: int) -> float:
        """Return the natural logarithm of the probability of `(x, y)`.

        Args:
            x: an integer.
            y: an integer.

        Raises:
            ArgumentError: `x` or `y` is not an integer.
        """
        return -self._log_normaliser - as_float(self.exponent(x, y))

    @cached_property
    def _log_normaliser(self) -> float:
        """That of the staircase times (1 + b) / (1 - b) = 1 + 2t."""
        with precisely(self.rate):
            t = odds(self.rate)
            excess = 2 * (self.inner - 1) + 2 * self.steps * t
            return log_one_plus(excess + 2 * t + 2 * t * excess)

    @property
    def variance(self) -> float:
        """The variance of either coordinate, that of the staircase."""
        return self._across.variance

    @property
    def covariance(self) -> float:
        """The covariance of the coordinates, in closed form; it may have either sign.

        Given x, the mean of k is j with the sign of x. So E[xy] = steps E[|x| j] - E[x^2], and
        the sum of a level(a) b^level(a) over all a >= 0 is what `mixed` says.
        """
        with precisely(self.rate):
            t, n, g = odds(self.rate), self.steps, self.inner
            first = powers_below(1, g + n) - powers_below(1, g)
            mixed = (first + 2 * n * n * t) * t * (1 + t)
            product = n * mixed - power_sum(2, t, n, g)
            return float(2 * product / (2 * g - 1 + 2 * n * t))

    def tail(self, x: int) -> float:
        """Return the probability of more than `x` in one coordinate, that of the staircase.

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not such a number.
        """
        return self._across.tail(x)

    @cached_property
    def _across(self) -> Staircase:
        """The law of x."""
        return Staircase(self.rate, self.steps, self.inner)

    @cached_property
    def _along(self) -> DiscreteLaplace:
        """The law of k about its mean, whatever x is."""
        return DiscreteLaplace(1 / self.rate)

    def _one(self, source: Source) -> tuple[int, int]:
        x = self._across.draw(source)
        j = self._level(abs(x))
        k = (j if x >= 0 else -j) + self._along.draw(source)
        return x, k * self.steps - x

    def _chunk(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        x = self._across.draw(source, size)
        j = self._level(np.abs(x))
        # The mean of y given x, within one unit of 0, so that it cannot wrap where x did not.
        middle = np.where(x >= 0, j, -j) * self.steps - x
        return x, rise(self._along.draw(source, size), self.steps, middle)
