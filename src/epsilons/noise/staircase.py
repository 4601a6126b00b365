"""The staircase law on the integers: the least variance for one number of a given sensitivity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilons.frozen import storable
from epsilons.noise.arguments import integer, natural
from epsilons.noise.ascent import Ascent, rise
from epsilons.noise.bernoulli import CHUNK
from epsilons.noise.inner import best_inner
from epsilons.noise.laplace import Geometric, as_float
from epsilons.noise.law import Law
from epsilons.noise.magnitude import WIDEST
from epsilons.noise.pieces import Pieces
from epsilons.noise.source import Source
from epsilons.noise.stairs import Stairs, fallen, log_one_plus, odds, power_sum, precisely
from epsilons.noise.uniform import below, below_many


@storable("noise.Staircase")
@dataclass(frozen=True, init=False)
class Staircase(Stairs, Law):
    """The staircase law: constant on stairs of `steps` integers, the first of them `inner` wide.

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
        """log(2 inner - 1 + 2 steps t), without the cancellation of what is next to 1."""
        with precisely(self.rate):
            return log_one_plus(2 * (self.inner - 1) + 2 * self.steps * odds(self.rate))

    @property
    def variance(self) -> float:
        """The variance, in closed form and right to the last digit of a float."""
        with precisely(self.rate):
            t = odds(self.rate)
            squares = 2 * power_sum(2, t, self.steps, self.inner)
            return float(squares / (2 * self.inner - 1 + 2 * self.steps * t))

    def tail(self, x: int) -> float:
        """Return the probability of more than `x`: the rest of its stair, and all beyond.

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
        """Whether x is beyond the first stair, which has one zero: never one for each sign."""
        return Ascent(self.rate, 2 * self.inner - 1, 2 * self.steps)

    @cached_property
    def _heights(self) -> Geometric:
        """How many stairs lie between x and the first one."""
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
        # One part of Python integers makes the whole array one: nothing is cast down.
        return np.concatenate(parts)

    def _chunk(self, source: Source, size: int) -> NDArray[Any]:
        """Draw some, `steps` and the rate being small enough."""
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
    """Return the variance of the best staircase in squared units, as its steps grow.

    Args:
        rate: above zero.

    Guarantee: no law with this privacy loss for a move by one unit has a smaller variance.

    Reference: Geng and Viswanath (2014), Theorem 7; paper *add-remove*, equation (2).
    """
    b = math.exp(-rate)
    first = math.pow(b * (1.0 + b) / 2.0, 2.0 / 3.0)
    return (first + b) / math.expm1(-rate) ** 2
