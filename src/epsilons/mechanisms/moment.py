"""The frozen mechanism of a mean with its spread: two integer sums, at the price of the first."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from epsilons.allocation import Allocation
from epsilons.frozen import storable
from epsilons.mechanisms.additive import Additive, build, noisy_cells, points, ratio
from epsilons.noise import Law, Source
from epsilons.risk import Weighing
from epsilons.tally import Tally
from epsilons.types import Floats, Integers, freeze


@storable("mechanisms.SumAndSquares")
@dataclass(frozen=True, eq=False)
class SumAndSquares:
    """A weighted sum of integers, and of their squares around the middle, each with its own noise.

    A person's value is an integer g in [0, grid], and their square is v =
    floor((g − grid/2)² / grid). The mechanism is the pair of lattice points floor(Σ k·g / grid) and
    floor(Σ k·v / grid), plus two noises of the law that the first would have alone. It holds no
    data: the sums come in when it is drawn.

    Guarantee:
        A person who is replaced moves g and v together by at most `reach` = grid: who moves far
        moves between places whose squares are alike. So with weight k they move the two lattice
        points together by at most m = ceil(k·reach/grid) + 1, the one for two roundings, and not
        at all if k is 0. Their loss is at most m/scale, a rational number, which
        `epsilons.verify.exact` compares with ε. Nothing is rounded after the sums.

    Reference:
        Algorithm HPM of paper *correlated*, on integers; the second sum is new. Proof:
        docs/proofs/moment.md.

    Attributes:
        levels: the budgets ε.
        counts: how many people have each.
        weights: the integer weight k of a person of each level.
        reach: how far one person's g and v can move together.
        grid: the divisor of both sums.
        law: the law of each noise.
        divisor: D, in lattice points: what a mean is divided by.
        bounds: the range of the values, to which lattice points are mapped back.
        keep: None: everyone is surely used.
    """

    kind = "sum and squares"
    keep = None
    levels: Floats
    counts: Integers
    weights: Integers
    reach: int
    grid: int
    law: Law
    divisor: Fraction
    bounds: tuple[float, float]

    def __post_init__(self) -> None:
        freeze(self.levels, self.counts, self.weights)

    def total(self, tally: Tally) -> tuple[int, int]:
        """The lattice points of the data, Σ g and Σ v of people, before noise."""
        return self.alone.point(tally.sums), self.alone.point(tally.squares)

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
            return self.law.draw(source) + total[0], self.law.draw(source) + total[1]
        return noisy_cells(self.law, source, 2, size, points(total))

    def estimate(self, drawn: tuple[int, int]) -> float:
        """The mean, in data units, that a pair stands for; perhaps outside the bounds."""
        return self.alone.estimate(drawn[0])

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """`estimate`, for many at once."""
        return self.alone.estimates(drawn[:, 0])

    def moments(self, drawn: tuple[int, int]) -> tuple[float, float]:
        """How far from the middle, and how far squared, weighted people are on a unit range.

        Returns:
            Σ w·(x − ½) and Σ w·(x − ½)² with their noises, of weights w = k/Σk.
        """
        middle = Fraction(self.all_weights, 2)
        whole = Fraction(self.all_weights)
        return ratio(drawn[0] - middle, whole), ratio(Fraction(drawn[1]), whole)

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """What a person of each level loses at most; ∞ for those who are used without noise."""
        return tuple(
            self.law.loss(-(-k * self.reach // self.grid) + 1) if k else Fraction(0)
            for k in self.weights.tolist()
        )

    @property
    def scale(self) -> Fraction:
        """The scale of each noise, in lattice points."""
        return self.alone.scale

    @property
    def weighing(self) -> Weighing:
        """The estimator of the mean on a unit range, with the weights that are really used."""
        return self.alone.weighing

    @property
    def slack(self) -> float:
        """What integers may add to an error on a unit range: grid, fold, floor and lattice."""
        return self.alone.slack

    @property
    def all_weights(self) -> int:
        """Σ k over all people."""
        return self.alone.all_weights

    @cached_property
    def alone(self) -> Additive:
        """The first sum by itself, which knows what a mean is."""
        return Additive(
            self.levels,
            self.counts,
            self.weights,
            self.reach,
            self.grid,
            self.law,
            self.divisor,
            self.bounds,
        )


def build_moments(
    allocation: Allocation, *, grid: int, bounds: tuple[float, float]
) -> SumAndSquares | Additive:
    """The mechanism of an allocation: with squares, where they cost nothing.

    Weights are e·2^s rounded down, less one, for the second rounding: a person's loss is (k + 1)
    /2^s ≤ e ≤ ε. A staircase, of which two sums could each cross a stair, is for the mean alone.
    """
    alone = build(allocation, grid=grid, bounds=bounds)
    if allocation.stairs is not None:
        return alone
    return with_squares(alone, Fraction(allocation.total))


def with_squares(alone: Additive, total: Fraction = Fraction(1)) -> SumAndSquares:
    """The mechanism of a mean, with the squares beside it: weights are one less.

    Args:
        alone: the sum by itself, with Laplace noise or none.
        total: what its weights add up to.
    """
    weights, divisor = alone.weights, alone.divisor
    if alone.law.loss(1) != np.inf:  # whoever is public loses nothing to a rounding
        weights = np.maximum(weights - 1, 0)
        people = zip(weights.tolist(), alone.counts.tolist(), strict=True)
        divisor = Fraction(sum(k * n for k, n in people)) / total
    return SumAndSquares(
        alone.levels,
        alone.counts,
        weights,
        alone.grid,
        alone.grid,
        alone.law,
        divisor,
        alone.bounds,
    )
