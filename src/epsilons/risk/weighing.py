"""Inputs of risk formulas: assumptions about the data, and an estimator's weights and noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Final

import numpy as np

from epsilons import parameters
from epsilons.budgets.levels import dot, summed
from epsilons.draws.noise import Law, Pieces
from epsilons.frozen import storable
from epsilons.risk.tails import laplace, pieces
from epsilons.risk.tails.joint import ClosedNoise, CubeNoise
from epsilons.types import Floats, Integers

# Staircase noise: its scale, its tail, and quantiles of a sum with such noise.

_SMOOTH: Final = 0.125
"""Below this rate, a sum over hundreds of stairs would be needed. Laplace noise is used instead; it
can be coupled with the staircase noise within one unit. Proof: docs/proofs/risk.md (16)."""


@storable("risk.StairNoise")
@dataclass(frozen=True, eq=False)
class StairNoise:
    """Staircase noise on a unit range. Proof: docs/proofs/risk.md (8), (12), (15), (16).

    Attributes:
        law: the distribution of the noise, on a lattice.
        unit: length of `law.pieces.steps` lattice steps, on the unit range.
    """

    law: Law
    unit: float

    @cached_property
    def scale(self) -> float:
        """The scale of Laplace noise with the same variance."""
        return math.sqrt(self.law.variance / 2.0) / self._shape.steps * self.unit

    def deviation(self, shift: float, square: float, beta: float) -> float:
        """An α with P(|c + S + X| > α) ≤ β for every |c| ≤ shift; X is the noise.

        S is independent of X, with P(±S > s) ≤ exp(−2s²/square). If `square` is 0, the result is
        the smallest such α. Proof: docs/proofs/risk.md (8), (13).
        """
        if square <= 0.0:
            return laplace.quantile_of(self.exceeds, shift, self.scale, beta)
        sigma = math.sqrt(square) / 2.0
        return shift + laplace.two_sided(
            lambda far: self.tail(far, sigma), shift, beta, sigma + self.scale
        )

    def tail(self, alpha: float, sigma: float) -> float:
        """Bound on P(S + X > alpha), where P(S > s) ≤ exp(−s²/2σ²) for s ≥ 0, and σ > 0."""
        if self._shape.rate < _SMOOTH:
            return laplace.tail(alpha - self.unit, sigma, self.unit / float(self._shape.rate))
        return self._pieces.tail(alpha / self.unit, sigma / self.unit)

    def exceeds(self, alpha: float) -> float:
        """P(X > alpha), with the probability of each lattice point spread over one lattice step."""
        if alpha < 0.0:
            return 1.0 - self.exceeds(-alpha)
        at, rate = alpha / self.unit, float(self._shape.rate)
        inner = (self._shape.inner - 0.5) / self._shape.steps
        beyond = 0.5 / (1.0 + inner * math.expm1(rate))  # P(X > inner)
        if at <= inner:
            return beyond + (0.5 - beyond) * (1.0 - at / inner)
        stair = math.floor(at - inner)
        part = 1.0 + (at - inner - stair) * math.expm1(-rate)
        return beyond * math.exp(-min(rate * stair, 745.0)) * part

    @cached_property
    def _shape(self) -> Pieces:
        return self.law.pieces

    @cached_property
    def _pieces(self) -> pieces.Flat:
        return pieces.staircase(self._shape)


# Estimators: weights, noise, and optionally random inclusion (coins).


@dataclass(frozen=True)
class SumNoise:
    """The kind and the relative size of the noise of sums, before weights are known.

    Attributes:
        moves: number of sums that one person can change by their whole weight. The noise scale of
            each sum is proportional to it. In two cases it is not a number of sums, but only a
            factor of the noise scale: for means with joint noise, and for sums of several noises.
            Such a sum is treated as Laplace noise with the same variance.
        closed: the noise of cells, if it sums to zero; None if it is independent Laplace noise.
        cube: the noise of a mean, if several means have joint noise; None if it is Laplace noise.
    """

    moves: float = 1
    closed: ClosedNoise | None = None
    cube: CubeNoise | None = None


INDEPENDENT: Final = SumNoise()
"""The noise of one sum, or of each cell under add/remove."""


@dataclass(frozen=True)
class Moments:
    """Sums over people that determine mean squared errors, as arrays for many estimators.

    All fields that are arrays have the same shape. A `Weighing` has attributes with the same names.

    Attributes:
        n: number of people.
        total: Σ w_i.
        spread: Σ (w_i − total/n)².
        bias: ½ Σ |w_i − 1/n|.
        scale: scale of the Laplace noise, or of Laplace noise with the same variance.
        jitter: Σ w_i²·(1 − p_i)/p_i, where person i is used with probability p_i.
        closed: the noise of cells, if it sums to zero; None if it is independent Laplace noise.
        design: the design effect Σd² / Σd, if a person of weight d counts as d of the n people.
    """

    n: int
    total: Floats
    spread: Floats
    bias: Floats
    scale: Floats
    jitter: float = 0.0
    closed: ClosedNoise | None = None
    design: float = 1.0

    @property
    def sample(self) -> float:
        """The effective sample size 1/Σa², where a is a person's share of all n."""
        return self.n / self.design

    @property
    def square(self) -> Floats:
        """The sum Σ w_i² over independent people. With a design effect it is approximate."""
        return self.design * (self.spread + np.square(self.total) / self.n)

    def designed(self, design: float) -> Moments:
        """The same moments, with this design effect."""
        return replace(self, design=design)


@storable("risk.Weighing")
@dataclass(frozen=True, eq=False)
class Weighing:
    """An estimator Σ w_i·x_i plus noise, for values on a unit range.

    Two estimators with the same numbers are equal, so caches share what depends on budgets alone
    among all releases with these budgets.

    Attributes:
        weights: the (expected) weight of a person at each budget level.
        counts: number of people at each level.
        scale: scale of the Laplace noise, or of Laplace noise with the same variance.
        keep: probability that a person at each level is used; None if everyone is used.
        stairs: the noise, if it is staircase noise; None if it is Laplace noise.
        closed: the noise of cells, if it sums to zero; None if it is independent Laplace noise.
        cube: the noise of a mean, if several means have joint noise; None if it is Laplace noise.
        squares: for each level, Σd² over its people, or a bound on it, if a person of weight d
            counts as d units in `counts`; None if everyone is one unit. The units of a person all
            have the same value.
    """

    weights: Floats
    counts: Integers
    scale: float
    keep: Floats | None = None
    stairs: StairNoise | None = None
    closed: ClosedNoise | None = None
    cube: CubeNoise | None = None
    squares: tuple[float, ...] | None = None

    @cached_property
    def _key(self) -> tuple[object, ...]:
        arrays = (self.weights, self.counts, self.keep)
        digests = (None if one is None else sha256(one.tobytes()).digest() for one in arrays)
        return *digests, self.scale, self.stairs, self.closed, self.cube, self.squares

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weighing) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def n(self) -> int:
        """Number of people."""
        return int(self.counts.sum())

    @cached_property
    def total(self) -> float:
        """The sum of all weights, Σ w_i."""
        return summed(self.counts, self.weights, self.n)

    @cached_property
    def spread(self) -> float:
        """Σ (w_i − total/n)², without the cancellation in Σ w_i² − total²/n."""
        off_centre = self.weights - self.total / self.n
        np.multiply(off_centre, off_centre, out=off_centre)
        return summed(self.counts, off_centre, self.n)

    @property
    def square(self) -> float:
        """The sum Σ w_i² over independent people; w_i is the weight of all units of a person."""
        if self.squares is None:
            return self.spread + self.total**2 / self.n
        return dot(np.array(self.squares), np.square(self.weights))

    @property
    def sample(self) -> float:
        """The effective sample size 1/Σa², where a is a person's share of all units.

        Proof: docs/proofs/weights.md (9).
        """
        return self.n if self.squares is None else self.n / (math.fsum(self.squares) / self.n)

    def designed(self, design: float) -> Weighing:
        """The same estimator. If `squares` is None, it is estimated by the design effect."""
        if design == 1.0 or self.squares is not None:
            return self
        return replace(self, squares=tuple((design * self.counts).tolist()))

    @cached_property
    def bias(self) -> float:
        """The largest possible bias, ½ Σ |w_i − 1/n|, of weights that sum to one."""
        distance = self.weights - 1.0 / self.n
        np.abs(distance, out=distance)
        return 0.5 * summed(self.counts, distance, self.n)

    @property
    def heaviest(self) -> float:
        """The largest weight, relative to equal weights."""
        return float(self.weights.max()) * self.n

    @cached_property
    def jitter(self) -> float:
        """The effect of random inclusion, Σ w_i²·(1 − p_i)/p_i."""
        if self.keep is None:
            return 0.0
        used = self.keep > 0
        weights, keep = self.weights[used], self.keep[used]
        return dot(self.counts[used], np.square(weights) * (1.0 - keep) / keep)


# Assumptions about the data: the target of an estimate, and how budgets are related to values.
#
# Together they determine which quantities are random.
#
#     about       related    random in addition to the noise
#     people      True       nothing: budgets may be related to values in any way
#     people      δ          nothing; the means of people at different budgets differ by at most δ
#     people      False      who has which budget: a random permutation
#     population  True       the people: pairs of a value and a budget, drawn from any population
#     population  δ          the same; the means at different budgets differ by at most δ
#     population  False      the people: values drawn from one population, for any budgets


@dataclass(frozen=True)
class Assumption:
    """The target of an estimate, and the assumed relation between budgets and values.

    Attributes:
        about: "people" if the estimate describes the given people; "population" if the people are
            a sample, and the estimate describes their population.
        related: True if budgets may be related to values in any way, False if they are unrelated,
            or a number δ in (0, 1) if the means of people at different budgets differ by at most δ
            of the range.
    """

    about: str
    related: bool | float

    @property
    def sampled(self) -> bool:
        """Whether people are a sample of a population."""
        return self.about == "population"

    @property
    def apart(self) -> float:
        """Largest difference between the means of people at different budgets, on a unit range."""
        return float(self.related)

    @property
    def anything(self) -> bool:
        """Whether budgets may be related to values in any way."""
        return self.related is True

    @property
    def of_some(self) -> Assumption:
        """The assumption for a function that is 0 for people who did not answer.

        Relative to the mean of the people who answered, the mean of each budget level is within δ
        times the fraction of the level that answered. That fraction is arbitrary, so the means of
        levels differ by at most 2δ.
        Proof: docs/proofs/pairs.md (11).
        """
        if isinstance(self.related, bool):
            return self
        return Assumption(self.about, True if self.related >= 0.5 else 2.0 * self.related)

    @property
    def of_membership(self) -> Assumption:
        """The assumption for the indicator of answering.

        A number δ says nothing about who answers, so it becomes "related in any way".
        """
        return Assumption(self.about, self.related is not False)


RELATED: Final = Assumption("people", True)
"""The default assumption, which holds for all data."""

UNRELATED: Final = Assumption("people", False)
SAMPLE: Final = Assumption("population", False)


def assumption_of(about: object, related: object) -> Assumption:
    """Return the validated assumption from a user's two arguments.

    Raises:
        ArgumentError: one of the arguments is invalid.
    """
    return Assumption(parameters.choice("about", about), parameters.related(related))
