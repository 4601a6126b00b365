"""Noise distributions of pairs: two Laplace variables, the staircase on pairs, the hourglass."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise.exact import CHUNK, WIDEST, Ascent, batch, below, below_many, rise
from epsilons.draws.noise.laws import AnyLaw, DiscreteLaplace, Geometric, Pieces, as_float
from epsilons.draws.noise.source import Source, integer, positive_rational
from epsilons.draws.noise.staircase import (
    Staircase,
    Stairs,
    fallen,
    log_one_plus,
    odds,
    power_sum,
    powers_below,
    precisely,
)
from epsilons.frozen import storable

# The interface of every noise law of two numbers.


class PairLaw(AnyLaw[tuple[int, int]]):
    """A distribution on pairs of integers: its probabilities, and exact draws from them.

    Both coordinates have mean 0 and the same variance. Arrays have Python integers if `steps` or
    the denominator of the rate is above 2**53 or a draw would reach 2**62.
    """

    rate: Fraction
    steps: int

    def exponent(self, x: int, y: int) -> Fraction | float:
        """Return log pmf(0, 0) - log pmf(x, y): exact, or infinite if the pair cannot occur.

        Args:
            x: an integer.
            y: an integer.

        Raises:
            ArgumentError: `x` or `y` is not an integer.
        """
        return self._exponent(integer("x", x), integer("y", y))

    @abstractmethod
    def _exponent(self, x: int, y: int) -> Fraction | float:
        """Return log pmf(0, 0) - log pmf(x, y) for integers."""

    @abstractmethod
    def log_pmf(self, x: int, y: int) -> float:
        """Return the natural logarithm of the probability of `(x, y)`."""

    @property
    @abstractmethod
    def covariance(self) -> float:
        """The covariance of the two coordinates."""

    def _many(self, source: Source, size: int) -> NDArray[Any]:
        if max(self.steps, self.rate.denominator) > WIDEST:
            draws = np.empty((size, 2), dtype=object)
            for i in range(size):
                draws[i] = self._one(source)
            return draws
        parts: list[NDArray[Any]] = [np.empty((0, 2), dtype=np.int64)]
        for start in range(0, size, CHUNK):
            x, y = self._chunk(source, min(CHUNK, size - start))
            parts.append(np.stack((x, y), axis=1))
        # If one part has Python integers, so does the whole array, and no value is cast down.
        return np.concatenate(parts)

    @abstractmethod
    def _chunk(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw both coordinates of `size` pairs, if `steps` and the rate do not exceed `WIDEST`."""


# Two independent discrete Laplace laws: noise for a pair of sums.


@storable("noise.Laplaces")
@dataclass(frozen=True, init=False)
class Laplaces(PairLaw):
    """Independent discrete Laplace laws of the same scale.

    Guarantee: P(x, y) is proportional to e^{-(|x| + |y|) / scale} on all pairs of integers; draws
    are exact. A shift by (s, t) changes log P by at most (|s| + |t|) / scale.
    Proof: docs/proofs/noise.md (3).

    Args:
        scale: an integer or `Fraction` above zero.

    Raises:
        ArgumentError: the scale is not an integer or a `Fraction` above zero.
    """

    scale: Fraction
    rate: Fraction
    steps: int

    def __init__(self, scale: Fraction | int) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", scale))
        object.__setattr__(self, "rate", 1 / self.scale)
        object.__setattr__(self, "steps", 1)

    @property
    def _each(self) -> DiscreteLaplace:
        return DiscreteLaplace(self.scale)

    @property
    def pieces(self) -> Pieces:
        """The pieces: the log-probability falls by 1/scale per unit of the distance |x| + |y|."""
        return Pieces("rings", self.rate)

    def _exponent(self, x: int, y: int) -> Fraction:
        """Return (|x| + |y|) / scale, exactly."""
        return (abs(x) + abs(y)) / self.scale

    def log_pmf(self, x: int, y: int) -> float:
        """Return the natural logarithm of the probability of `(x, y)`."""
        return self._each.log_pmf(x) + self._each.log_pmf(y)

    @property
    def variance(self) -> float:
        """The variance of either coordinate."""
        return self._each.variance

    @property
    def covariance(self) -> float:
        """The covariance of the coordinates: 0, because they are independent."""
        return 0.0

    def _tail(self, x: int) -> float:
        return self._each.tail(x)

    def _one(self, source: Source) -> tuple[int, int]:
        return self._each.draw(source), self._each.draw(source)

    def _chunk(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._each.draw(source, size), self._each.draw(source, size)


# The staircase law on pairs of integers: constant on rings of the distance |x| + |y|.


@storable("noise.Staircase2D")
@dataclass(frozen=True, init=False)
class Staircase2D(Stairs, PairLaw):
    """The staircase law for two numbers that together change by at most one unit.

    Guarantee: P(x, y) is proportional to e^{-rate level(|x| + |y|)} on all pairs of integers, with
    level(a) = floor((a + steps - inner) / steps); draws are exact. A shift by (s, t),
    |s| + |t| <= steps, changes no level by more than 1, so it changes log P by at most `rate`.
    Proof: docs/proofs/stairs.md (2), (5).

    How draws work: 4s pairs have distance s >= 1, namely (s - a, a) for a = 0, ..., s - 1, and
    their rotations by quarter turns. Beyond the first ring, s = inner + r + h steps with 0 <= r <
    steps. Pairs with a < inner + r have weight e^{-rate h} for every h >= 0, so h is geometric and
    (r, a) is uniform. The other pairs have a = inner + r + i steps + r' with i < h. So h = 1 + i +
    i', where i and i' are independent and geometric, and r and r' are uniform. Beyond the first
    ring nothing is rejected.

    Args:
        rate: the privacy loss per unit of change: an integer or `Fraction` above zero.
        steps: the number of lattice points per unit, at least 1.
        inner: the width of the first ring, from 1 to `steps`; `best` chooses it.

    Raises:
        ArgumentError: a parameter is not of the right type or out of range.

    Reference: Geng, Kairouz, Oh and Viswanath (2015), The Staircase Mechanism in Differential
    Privacy; here on a lattice, which allows exact draws.
    """

    @property
    def pieces(self) -> Pieces:
        """The pieces: the log-probability falls by the rate per ring of |x| + |y|."""
        return Pieces("rings", self.rate, self.steps, self.inner)

    def _exponent(self, x: int, y: int) -> Fraction:
        """Return rate * level(|x| + |y|), exactly."""
        return self.rate * self._level(abs(x) + abs(y))

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
        """The log of the sum of weights: weight 1 for (0, 0), and 4s pairs at each distance s."""
        with precisely(self.rate):
            return log_one_plus(4 * power_sum(1, odds(self.rate), self.steps, self.inner))

    @property
    def variance(self) -> float:
        """The variance of either coordinate."""
        with precisely(self.rate):
            thrice, weights = self._moments(odds(self.rate), self.steps, self.inner)
            return float(thrice / (3 * weights))

    _degree = 5

    @staticmethod
    def _moments(t: Decimal, steps: int, inner: int) -> tuple[Decimal, Decimal]:
        """Return three times the sum of x^2 over all pairs, and the sum of their weights.

        There are 4s pairs at distance s >= 1, and the sum of their x^2 is (4s^3 + 2s) / 3.
        """
        first = power_sum(1, t, steps, inner)
        return 4 * power_sum(3, t, steps, inner) + 2 * first, 1 + 4 * first

    @property
    def covariance(self) -> float:
        """The covariance of the coordinates: 0, because (x, y) and (x, -y) are equally likely."""
        return 0.0

    def _tail(self, x: int) -> float:
        """Return P(X > x) for one coordinate X.

        At distance s = x + u, u >= 1, there are 2u - 1 such pairs. So the remaining r distances of
        the current ring have r^2 pairs, and the k-th ring after it has n (2r + (2k - 1) n).
        """
        level, r = self._next(x)
        with precisely(self.rate):
            t, n = odds(self.rate), self.steps
            pairs = r * r + n * t * (2 * r + n + 2 * n * t)
            every = 1 + 4 * power_sum(1, t, n, self.inner)
            return float(pairs / every * fallen(self.rate, level))

    @cached_property
    def _ascent(self) -> Ascent:
        """The coin that decides whether the distance is beyond the first ring."""
        g, n = self.inner, self.steps
        return Ascent(self.rate, 1 + 2 * g * (g - 1), 2 * n * (2 * g + n - 1), 4 * n * n)

    @cached_property
    def _beyond(self) -> Ascent:
        """The coin that decides, beyond the first ring, whether a is at least inner + r."""
        return Ascent(self.rate, 2 * self.inner + self.steps - 1, 2 * self.steps)

    @cached_property
    def _heights(self) -> Geometric:
        """The distribution of the ring counts h, i and i' in the description of draws."""
        return Geometric(1 / self.rate)

    def _one(self, source: Source) -> tuple[int, int]:
        n, g = self.steps, self.inner
        if not self._ascent.one(source):
            while True:
                u, v = below(source, 2 * g - 1), below(source, 2 * g - 1)
                if (u - v) % 2 == 0:  # the same parity: see `_disc`
                    return (u + v) // 2 - (g - 1), (u - v) // 2
        height = self._heights.draw(source)
        if self._beyond.one(source):
            ring = g + below(source, n)
            a = ring + height * n + below(source, n)
            s = ring + (1 + height + self._heights.draw(source)) * n
        else:
            u, a = below(source, n), below(source, 2 * g + n - 1)
            if a >= g + u:  # folded back: see `_low`
                u, a = n - 1 - u, a - (g + u)
            s = g + u + height * n
        quarter = source.bits(2)
        x, y = (s - a, a) if quarter & 1 else (-a, s - a)
        return (x, y) if quarter & 2 else (-x, -y)

    def _chunk(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        ascends = self._ascent.many(source, size)
        far = np.flatnonzero(ascends)
        beyond = self._beyond.many(source, len(far))
        pieces = [
            (np.flatnonzero(~ascends), self._disc(source, size - len(far))),
            (far[~beyond], self._turned(source, *self._low(source, int((~beyond).sum())))),
            (far[beyond], self._turned(source, *self._high(source, int(beyond.sum())))),
        ]
        plain = all(part.dtype != object for _, pair in pieces for part in pair)
        x: NDArray[Any] = np.empty(size, dtype=np.int64 if plain else object)
        y: NDArray[Any] = np.empty_like(x)
        for where, pair in pieces:
            x[where], y[where] = pair
        return x, y

    def _disc(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw pairs from the first ring, in which all pairs are equally likely.

        These are the pairs with |x + y| and |x - y| at most inner - 1; x + y and x - y have the
        same parity.
        """
        width = 2 * self.inner - 1
        parts = [np.empty((2, 0), dtype=np.int64)]
        missing = size
        while missing > 0:
            tries = batch(missing)
            u, v = below_many(source, width, tries), below_many(source, width, tries)
            kept = np.stack((u, v))[:, (u ^ v) & 1 == 0][:, :missing]
            parts.append(kept)
            missing -= kept.shape[1]
        u, v = np.concatenate(parts, axis=1)
        return (u + v) // 2 - (self.inner - 1), (u - v) // 2

    def _low(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw s and a < inner + r; folding maps exactly two (u, v) to each (r, a)."""
        n, g = self.steps, self.inner
        u, v = below_many(source, n, size), below_many(source, 2 * g + n - 1, size)
        folded = v >= g + u
        a = np.where(folded, v - (g + u), v)
        r = np.where(folded, n - 1 - u, u)
        return rise(self._heights.draw(source, size), n, r + g), a

    def _high(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw s and a >= inner + r."""
        n = self.steps
        ring = below_many(source, n, size) + self.inner
        i, more = self._heights.draw(source, size), self._heights.draw(source, size)
        a = rise(i, n, ring + below_many(source, n, size))
        return rise(1 + i + more, n, ring), a

    def _turned(
        self, source: Source, s: NDArray[Any], a: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rotate (s - a, a) by a random number of quarter turns."""
        quarters = below_many(source, 4, len(s))
        odd, kept = quarters & 1 == 1, quarters & 2 == 2
        x, y = np.where(odd, s - a, -a), np.where(odd, a, s - a)
        return np.where(kept, x, -x), np.where(kept, y, -y)


# The hourglass law on pairs: two staircases at the loss of one, if their sum is a whole number of
# units.


@storable("noise.Hourglass")
@dataclass(frozen=True, init=False)
class Hourglass(Stairs, PairLaw):
    """The hourglass law, on pairs (x, y) of integers for which x + y is a multiple of `steps`.

    Guarantee: with x + y = k steps and j = level(|x|), P(x, y) is proportional to e^{-rate h},
    where h = j + |k - j| for x >= 0 and h = j + |k + j| for x < 0; draws are exact. A shift by
    (s, steps - s), 0 <= s <= steps, or by its negative changes no h by more than 1, so it changes
    log P by at most `rate`. Both x and y are distributed as `Staircase(rate, steps, inner)`.
    Proof: docs/proofs/stairs.md (3), (5).

    Args:
        rate: the privacy loss per unit of change: an integer or `Fraction` above zero.
        steps: the number of lattice points per unit, at least 1.
        inner: the width of the first stair, from 1 to `steps`; `best` chooses it.

    Raises:
        ArgumentError: a parameter is not of the right type or out of range.

    Reference: Kulesza, Suresh and Wang (2024), Mean Estimation in the Add-Remove Model of
    Differential Privacy, Section 4.1: equation (7), and Lemma 4.3 for the draws; here on a lattice.
    """

    @property
    def pieces(self) -> Pieces:
        """The pieces: the log-probability falls by the rate with every unit of h."""
        return Pieces("hourglass", self.rate, self.steps, self.inner)

    def _exponent(self, x: int, y: int) -> Fraction | float:
        """Return rate * h, exactly; infinite outside the support."""
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
        """The log-normalizer: that of the staircase, plus log((1 + b) / (1 - b)) = log(1 + 2t)."""
        with precisely(self.rate):
            t = odds(self.rate)
            excess = 2 * (self.inner - 1) + 2 * self.steps * t
            return log_one_plus(excess + 2 * t + 2 * t * excess)

    @property
    def variance(self) -> float:
        """The variance of either coordinate, the same as for `Staircase`."""
        return self._across.variance

    @property
    def covariance(self) -> float:
        """The covariance of the coordinates, in closed form; it can have either sign.

        Given x, the mean of k is j times the sign of x. So E[xy] = steps E[|x| j] - E[x^2]. `mixed`
        is the sum of a level(a) b^level(a) over all a >= 0.
        """
        with precisely(self.rate):
            t, n, g = odds(self.rate), self.steps, self.inner
            first = powers_below(1, g + n) - powers_below(1, g)
            mixed = (first + 2 * n * n * t) * t * (1 + t)
            product = n * mixed - power_sum(2, t, n, g)
            return float(2 * product / (2 * g - 1 + 2 * n * t))

    def _tail(self, x: int) -> float:
        return self._across.tail(x)

    @cached_property
    def _across(self) -> Staircase:
        """The distribution of x."""
        return Staircase(self.rate, self.steps, self.inner)

    @cached_property
    def _along(self) -> DiscreteLaplace:
        """The distribution of k minus its mean given x; it is the same for every x."""
        return DiscreteLaplace(1 / self.rate)

    def _one(self, source: Source) -> tuple[int, int]:
        x = self._across.draw(source)
        j = self._level(abs(x))
        k = (j if x >= 0 else -j) + self._along.draw(source)
        return x, k * self.steps - x

    def _chunk(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        x = self._across.draw(source, size)
        j = self._level(np.abs(x))
        # The mean of y given x is within one unit of 0, so it fits int64 if x does.
        middle = np.where(x >= 0, j, -j) * self.steps - x
        return x, rise(self._along.draw(source, size), self.steps, middle)
