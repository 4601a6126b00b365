"""What risk needs to know of an estimator: weights, noise, and perhaps coins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from epsilons.budgets import dot, summed
from epsilons.frozen import storable
from epsilons.risk.closed import ClosedNoise
from epsilons.risk.cube import CubeNoise
from epsilons.risk.stairs import StairNoise
from epsilons.types import Floats, Integers


@dataclass(frozen=True)
class SumNoise:
    """What the noise of sums is before anyone's weight is known: how large, and of which kind.

    Attributes:
        moves: how many sums one person can change by their whole weight: the noise of each grows
            with it. Of means that are drawn together, by how much it grows; where noises are added
            up, the scale of Laplace noise of their variance.
        closed: the noise of cells, if it sums to zero; None if each has Laplace noise of its own.
        cube: the noise of a mean, if several are drawn together; None if it is Laplace noise.
    """

    moves: float = 1
    closed: ClosedNoise | None = None
    cube: CubeNoise | None = None


OPEN: Final = SumNoise()
"""Of one sum; and of cells under add/remove, where people come and go, and no total is public."""


@dataclass(frozen=True)
class Moments:
    """The sums over people that mean squared error depends on, for many estimators at once.

    A `Weighing` has them too, under the same names. The fields are arrays of one shape.

    Attributes:
        n: the number of people.
        total: Σ w_i.
        spread: Σ (w_i − total/n)².
        bias: ½ Σ |w_i − 1/n|.
        scale: the scale of the Laplace noise, or of Laplace noise with the same variance.
        jitter: Σ w_i²·(1 − p_i)/p_i, where person i is used with probability p_i.
        closed: the noise of cells, if it sums to zero; None if each has Laplace noise of its own.
    """

    n: int
    total: Floats
    spread: Floats
    bias: Floats
    scale: Floats
    jitter: float = 0.0
    closed: ClosedNoise | None = None


@storable("risk.Weighing")
@dataclass(frozen=True, eq=False)
class Weighing:
    """An estimator on a unit range: Σ w_i·x_i plus noise.

    Attributes:
        weights: the (expected) weight of each person of a level.
        counts: the number of people of each level.
        scale: the scale of the Laplace noise, or of Laplace noise with the same variance.
        keep: the probability with which a person of each level is used; None if all surely are.
        stairs: the noise, if it falls in stairs; None if it is Laplace noise.
        closed: the noise of cells, if it sums to zero; None if each has Laplace noise of its own.
        cube: the noise of a mean, if several are drawn together; None if it is Laplace noise.
    """

    LATER: ClassVar = ("cube",)
    weights: Floats
    counts: Integers
    scale: float
    keep: Floats | None = None
    stairs: StairNoise | None = None
    closed: ClosedNoise | None = None
    cube: CubeNoise | None = None

    @cached_property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @cached_property
    def total(self) -> float:
        """Σ w_i."""
        return summed(self.counts, self.weights, self.n)

    @cached_property
    def spread(self) -> float:
        """Σ (w_i − total/n)², without the cancellation of Σ w_i² − total²/n."""
        off_centre = self.weights - self.total / self.n
        np.multiply(off_centre, off_centre, out=off_centre)
        return summed(self.counts, off_centre, self.n)

    @property
    def square(self) -> float:
        """Σ w_i²."""
        return self.spread + self.total**2 / self.n

    @cached_property
    def bias(self) -> float:
        """½ Σ |w_i − 1/n|."""
        distance = self.weights - 1.0 / self.n
        np.abs(distance, out=distance)
        return 0.5 * summed(self.counts, distance, self.n)

    @cached_property
    def jitter(self) -> float:
        """Σ w_i²·(1 − p_i)/p_i."""
        if self.keep is None:
            return 0.0
        used = self.keep > 0
        if used.all():
            return self._coins(self.counts, self.weights, self.keep)
        return self._coins(self.counts[used], self.weights[used], self.keep[used])

    @staticmethod
    def _coins(counts: Integers, weights: Floats, keep: Floats) -> float:
        return dot(counts, np.square(weights) * (1.0 - keep) / keep)
