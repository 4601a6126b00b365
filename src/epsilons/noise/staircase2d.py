"""The staircase law on pairs of integers: constant on rings of the distance |x| + |y|."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilons.frozen import storable
from epsilons.noise.arguments import integer, natural
from epsilons.noise.ascent import Ascent, rise
from epsilons.noise.inner import best_inner_2d
from epsilons.noise.laplace import Geometric, as_float
from epsilons.noise.magnitude import batch
from epsilons.noise.pair import PairLaw
from epsilons.noise.pieces import Pieces
from epsilons.noise.source import Source
from epsilons.noise.stairs import Stairs, fallen, log_one_plus, odds, power_sum, precisely
from epsilons.noise.uniform import below, below_many


@storable("noise.Staircase2D")
@dataclass(frozen=True, init=False)
class Staircase2D(Stairs, PairLaw):
    """The staircase law for two numbers that move by at most one unit together.

    Guarantee: P(x, y) is proportional to e^{-rate level(|x| + |y|)} on all pairs of integers, with
    level(a) = floor((a + steps - inner) / steps); draws are exact. A shift by (s, t),
    |s| + |t| <= steps, changes no level by more than 1, so it changes log P by at most `rate`.

    The draws use that 4s pairs have the distance s >= 1: (s - a, a) for a = 0, ..., s - 1, and
    their quarter turns. Beyond the first ring s = inner + r + h steps, 0 <= r < steps. Those with
    a < inner + r weigh e^{-rate h} for every h >= 0: so h is geometric, and (r, a) uniform. The
    others have a = inner + r + i steps + r' with i < h: so h = 1 + i + i', where i and i' are
    geometric and independent, and r and r' uniform. Nothing of this is rejected.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1.
        inner: the width of the first ring, from 1 to `steps`; `best` chooses it.

    Raises:
        ArgumentError: a parameter is not such a number.

    Reference: Geng, Kairouz, Oh and Viswanath (2015), The Staircase Mechanism in Differential
    Privacy; here on a lattice, where it can be drawn exactly.
    """

    @classmethod
    def best(cls, rate: Fraction | int, steps: int) -> Staircase2D:
        """Return the staircase of least variance.

        Args:
            rate: an integer or `Fraction` above zero.
            steps: how many lattice points make one unit, at least 1.

        Raises:
            ArgumentError: a parameter is not such a number.
        """
        return cls(rate, steps, best_inner_2d(rate, steps))

    @property
    def pieces(self) -> Pieces:
        """The law falls by the rate from each ring of |x| + |y| to the next."""
        return Pieces("rings", self.rate, self.steps, self.inner)

    def exponent(self, x: int, y: int) -> Fraction:
        """Return log pmf(0, 0) - log pmf(x, y) = rate * level(|x| + |y|), exactly.

        Args:
            x: an integer.
            y: an integer.

        Raises:
            ArgumentError: `x` or `y` is not an integer.
        """
        return self.rate * self._level(abs(integer("x", x)) + abs(integer("y", y)))

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
        """1 for the pair of zeros, and 4s for each distance s."""
        with precisely(self.rate):
            return log_one_plus(4 * power_sum(1, odds(self.rate), self.steps, self.inner))

    @property
    def variance(self) -> float:
        """The variance of either coordinate: at distance s the x^2 sum to (4s^3 + 2s) / 3."""
        with precisely(self.rate):
            t, n, g = odds(self.rate), self.steps, self.inner
            first = power_sum(1, t, n, g)
            return float((4 * power_sum(3, t, n, g) + 2 * first) / (3 + 12 * first))

    @property
    def covariance(self) -> float:
        """The covariance of the coordinates: 0, for (x, y) and (x, -y) are equally likely."""
        return 0.0

    def tail(self, x: int) -> float:
        """Return the probability of more than `x` in one coordinate.

        At a distance s = x + u, u >= 1, there are 2u - 1 such pairs: r^2 on the r distances that
        are left of a ring, and n (2r + (2k - 1) n) on the k-th ring after it.

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not such a number.
        """
        level, r = self._next(natural("x", x))
        with precisely(self.rate):
            t, n = odds(self.rate), self.steps
            pairs = r * r + n * t * (2 * r + n + 2 * n * t)
            every = 1 + 4 * power_sum(1, t, n, self.inner)
            return float(pairs / every * fallen(self.rate, level))

    @cached_property
    def _ascent(self) -> Ascent:
        """Whether the distance is beyond the first ring."""
        g, n = self.inner, self.steps
        return Ascent(self.rate, 1 + 2 * g * (g - 1), 2 * n * (2 * g + n - 1), 4 * n * n)

    @cached_property
    def _beyond(self) -> Ascent:
        """Whether, beyond the first ring, a is at least inner + r."""
        return Ascent(self.rate, 2 * self.inner + self.steps - 1, 2 * self.steps)

    @cached_property
    def _heights(self) -> Geometric:
        """How many rings lie between."""
        return Geometric(1 / self.rate)

    def _one(self, source: Source) -> tuple[int, int]:
        n, g = self.steps, self.inner
        if not self._ascent.one(source):
            while True:
                u, v = below(source, 2 * g - 1), below(source, 2 * g - 1)
                if (u - v) % 2 == 0:  # see `_disc`
                    return (u + v) // 2 - (g - 1), (u - v) // 2
        height = self._heights.draw(source)
        if self._beyond.one(source):
            ring = g + below(source, n)
            a = ring + height * n + below(source, n)
            s = ring + (1 + height + self._heights.draw(source)) * n
        else:
            u, a = below(source, n), below(source, 2 * g + n - 1)
            if a >= g + u:  # see `_low`
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
        """Draw pairs of the first ring, which are equally likely.

        x + y = u and x - y = v, of one parity and each within inner - 1 of 0, are all of them.
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
        """Draw s and a < inner + r: of all (u, v), two give each (r, a)."""
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
        """Turn (s - a, a) by one of the four quarter turns."""
        quarters = below_many(source, 4, len(s))
        odd, kept = quarters & 1 == 1, quarters & 2 == 2
        x, y = np.where(odd, s - a, -a), np.where(odd, a, s - a)
        return np.where(kept, x, -x), np.where(kept, y, -y)
