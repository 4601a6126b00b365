"""The frozen mechanism of a mean under add/remove: two integer sums with noise for the pair."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from epsilons.frozen import storable
from epsilons.mechanisms.additive import around, points
from epsilons.mechanisms.rungs import multiples
from epsilons.noise import PairLaw, Source
from epsilons.risk import Weighing, ratio
from epsilons.tally import Tally
from epsilons.types import Floats, Integers, freeze


@storable("mechanisms.TwoSums")
@dataclass(frozen=True, eq=False)
class TwoSums:
    """Two combinations of a weighted sum and a weighted count, plus noise for both.

    A person on a rung of the ladder has a whole weight k, a function of the rung alone, and an
    integer g in [0, grid]. With steps lattice points to a unit of weight, t = floor(steps·Σ k·g /
    grid) and T = steps·Σ k. The mechanism is the pair (a·t + b·T, c·t + d·T) plus noise, and
    everything else is computed from what it draws. It holds no data.

    Guarantee:
        Adding or removing a person of weight k moves T by exactly k·steps, and t in the same
        direction by d, 0 ≤ d ≤ k·steps. Over all these moves the law of the noise changes by at
        most e^{loss(k)}, a rational exponent that `epsilons.verify.exact` computes and compares
        with the rung. Nothing is rounded after the sums.

    Reference:
        Paper *add-remove*, Algorithms 1-3, on integers and for personal weights. Proof:
        docs/proofs/add-remove.md.

    Attributes:
        levels: the rungs of the public ladder.
        weights: the whole weight k of a person on each rung.
        scheme: which combinations get noise.
        law: the law of the pair of noises.
        grid: the divisor of the sum.
        bounds: the range of the values.
    """

    kind = "two sums"
    levels: Floats
    weights: Integers
    scheme: ratio.Scheme
    law: PairLaw
    grid: int
    bounds: tuple[float, float]

    def __post_init__(self) -> None:
        freeze(self.levels, self.weights)

    @property
    def matrix(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """((a, b), (c, d))."""
        return self.scheme.matrix

    @property
    def steps(self) -> int:
        """Lattice points to a unit of weight."""
        return self.law.steps

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """What a person on each rung loses at most."""
        (a, b), (c, d) = self.matrix
        # A unit of weight moves (t, T) by (d, 1), 0 ≤ d ≤ 1: the farther end, in ℓ1.
        unit = max(abs(b) + abs(d), abs(a + b) + abs(c + d)) * self.law.rate
        return multiples(unit, self.weights)

    def total(self, tally: Tally) -> tuple[int, int]:
        """The lattice points of the data, before noise."""
        rung = np.searchsorted(self.levels, tally.levels)
        weights = self.weights[rung].tolist()
        weighted = sum(k * s for k, s in zip(weights, tally.sums.tolist(), strict=True))
        people = sum(k * n for k, n in zip(weights, tally.counts.tolist(), strict=True))
        t, all_of_it = int(self.steps * weighted // self.grid), self.steps * int(people)
        (a, b), (c, d) = self.matrix
        return a * t + b * all_of_it, c * t + d * all_of_it

    @overload
    def draw(
        self, source: Source, size: None = None, total: tuple[int, int] = (0, 0)
    ) -> tuple[int, int]: ...
    @overload
    def draw(
        self, source: Source, size: int, total: tuple[int, int] = (0, 0)
    ) -> npt.NDArray[Any]: ...
    def draw(
        self, source: Source, size: int | None = None, total: tuple[int, int] = (0, 0)
    ) -> tuple[int, int] | npt.NDArray[Any]:
        """Draw pairs of lattice points.

        Args:
            source: where the randomness comes from.
            size: how many; None for one.
            total: the lattice points of the data; with (0, 0) the noise alone is drawn.

        Returns:
            A pair of Python integers, or an array of pairs: int64 where everything fits.
        """
        if size is None:
            first, second = self.law.draw(source)
            return first + total[0], second + total[1]
        return around(points(total), self.law.draw(source, size))

    def sums(self, drawn: tuple[int, int]) -> tuple[Fraction, Fraction]:
        """The noisy weighted sum and count, in units of weight."""
        (a, b), (c, d) = self.matrix
        p, q = drawn
        whole = (a * d - b * c) * self.steps
        return Fraction(d * p - b * q, whole), Fraction(a * q - c * p, whole)

    def estimate(self, drawn: tuple[int, int]) -> float:
        """The mean that a pair stands for: within the bounds, their middle if the count is lost."""
        lo, hi = self.bounds
        t, count = self.sums(drawn)
        share = Fraction(1, 2) if count <= 0 else min(max(t / count, Fraction(0)), Fraction(1))
        return min(max(lo + (hi - lo) * float(share), lo), hi)

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """`estimate`, for many at once."""
        lo, hi = self.bounds
        (a, b), (c, d) = self.matrix
        p, q = drawn[:, 0], drawn[:, 1]
        t = np.asarray(d * p - b * q, dtype=np.float64)
        count = np.asarray(a * q - c * p, dtype=np.float64)
        share = np.clip(t / np.where(count > 0.0, count, 1.0), 0.0, 1.0)
        return np.asarray(lo + (hi - lo) * np.where(count > 0.0, share, 0.5))

    def weighing(self, counts: Integers) -> Weighing:
        """The leading term of the estimator if so many people stand on each rung.

        Its scale is that of Laplace noise of the same variance.
        """
        total = float(self.weights.astype(np.float64) @ counts)
        variance = ratio.noise_variance(self.law, self.scheme)
        if total <= 0.0:
            return Weighing(np.full(len(counts), 1.0 / max(int(counts.sum()), 1)), counts, math.inf)
        return Weighing(self.weights / total, counts, math.sqrt(variance / 2.0) / total)
