"""Goals: an assumption about the data and an error to minimize, for a mean or for frequencies.

Allocation rules, plans and releases use the interface `Goal` and never check its type.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Self, TypeAlias

from epsilons import parameters
from epsilons.errors import ArgumentError
from epsilons.frozen import shared
from epsilons.risk import cells
from epsilons.risk.means import mean
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import (
    INDEPENDENT,
    Assumption,
    Moments,
    SumNoise,
    Weighing,
    assumption_of,
)
from epsilons.types import Floats

Words: TypeAlias = tuple[Assumption, str, float]
"""The assumption, the loss and the confidence, validated."""


_WIDE: Final = 1e154
"""Ranges of at least this width are squared by multiplication, which overflows to infinity."""


@dataclass(frozen=True)
class Goal(ABC):
    """The interface of all goals.

    Attributes:
        assumption: the assumption about the data.
        loss: "mse", "pac", or for cells also "largest".
        confidence: confidence level of the PAC error.
        statistic: name of the estimated statistic; tables of rules and methods use it as a key.
        shared: whether results are kept for other questions with an equal goal.
    """

    assumption: Assumption
    loss: str
    confidence: float

    statistic: ClassVar[str]
    shared: ClassVar[bool] = True

    @property
    @abstractmethod
    def categories(self) -> int | None:
        """Number of categories; None if there are none."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """Number of estimated numbers: one mean, or one share for each category."""

    @property
    @abstractmethod
    def noise(self) -> SumNoise:
        """The noise of the sums under replacement of one person's record."""

    @abstractmethod
    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator: a mean squared error, or a quantile of the error."""

    def aim(self, weighing: Weighing) -> float:
        """The objective for choosing weights: the risk, or an approximation of it."""
        return self.risk(weighing)

    def typical(self, risk: float) -> float:
        """Convert a risk to the error of one number: a root mean square error, or the quantile."""
        if self.loss == "pac":
            return risk
        return math.sqrt(risk / self.numbers if self.loss == "mse" else risk)

    @property
    def squared(self) -> Self:
        """The same goal with a squared loss: "largest" stays, any other loss becomes "mse"."""
        return self if self.loss == "largest" else replace(self, loss="mse")

    def rmse(self, weighing: Weighing) -> float:
        """The root mean square error of an estimator for one number, for every loss."""
        squared = self.squared
        return squared.typical(squared.risk(weighing))

    @abstractmethod
    def is_exact(self, weighing: Weighing) -> bool:
        """Whether `risk` is the exact worst case, not only an upper bound."""

    @property
    @abstractmethod
    def by_moments(self) -> bool:
        """Whether `risk` depends only on `Moments`, so it can be vectorized."""

    @property
    @abstractmethod
    def by_bias(self) -> bool:
        """Whether `risk` is a quantile of bias and scale alone, with a known derivative."""

    @abstractmethod
    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The mean squared error summed over all numbers, for one estimator or many."""

    @abstractmethod
    def noise_per_square(self, n: int, noise: SumNoise) -> float:
        """The c for which `squares` is proportional to Σw² + c/(Σe)².

        It exists if budgets are unrelated to values.
        """

    @abstractmethod
    def noise_square(self, noise: SumNoise) -> float:
        """The noise term of `squares`, in units of 1/(Σe)²."""

    @property
    @abstractmethod
    def squared_bias(self) -> float:
        """The bias term of `squares` for the given people, in units of bias²."""

    @abstractmethod
    def drawn_square(self, n: int) -> float:
        """The squared sampling error of n people with equal weights, summed over all numbers."""

    @property
    def by_interval(self) -> bool:
        """Whether `auto` may choose the cap for which the interval is shortest."""
        return False

    def told(self, bias: float) -> float:
        """The part of the risk caused by budgets related to values, for weights with this bias.

        Proof: docs/proofs/risk.md (4). Proof: docs/proofs/tables.md (6).
        """
        apart = self.assumption.apart * bias
        if self.loss == "pac" or apart == 0.0:
            return apart
        return self.squared_bias * bias * bias if self.loss == "mse" else apart * apart

    @property
    def most(self) -> float:
        """The largest risk of an answer without data: 1, or 2 for the sum of squares of shares."""
        return 2.0 if self.loss == "mse" and self.numbers > 1 else 1.0

    @property
    def guessed(self) -> bool:
        """Whether the spread is guessed."""
        return False

    @property
    @abstractmethod
    def worst(self) -> Self:
        """The same goal without a guess of the spread. Published claims use this goal."""

    @property
    @abstractmethod
    def log_pac(self) -> float:
        """The logarithmic factor L of paper *correlated* for PAC errors."""

    @property
    @abstractmethod
    def log_mse(self) -> float:
        """The logarithmic factor L of paper *correlated* for mean squared errors."""


@dataclass(frozen=True)
class MeanGoal(Goal):
    """The error of a mean. Proof: docs/proofs/risk.md (4), (6), (11).

    Attributes:
        spread: a guess of the standard deviation of the values on a unit range. It affects the
            choice of weights, but no published claim. Without a guess it is ½, the largest possible
            value.
        design: the design effect Σd² / Σd of people with weights d. It affects the choice of the
            estimator, but no published claim: claims use Σd² of the people at each level.
        tested: whether the interval of a release tests each possible mean: see `risk.lorenz`.
    """

    spread: float = mean.WIDEST
    design: float = field(default=1.0, kw_only=True)
    tested: bool = field(default=False, kw_only=True)

    statistic: ClassVar[str] = "mean"
    categories: ClassVar[None] = None
    numbers: ClassVar[int] = 1
    log_mse: ClassVar[float] = 1.0

    @property
    def noise(self) -> SumNoise:
        """The noise of one sum."""
        return INDEPENDENT

    def risk(self, weighing: Weighing) -> float:
        """The mean squared error of an estimator, or a quantile of its error."""
        if self.loss == "pac":
            own = weighing.designed(self.design)
            return mean.quantile(own, self.assumption, self.confidence, spread=self.spread)
        return float(self.squares(weighing))

    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The mean squared error of one estimator, or of many as an array."""
        return mean.mse(estimator.designed(self.design), self.assumption, self.spread)

    def noise_per_square(self, n: int, noise: SumNoise) -> float:
        """The c for which the error is proportional to Σw² + c/(Σe)².

        It exists if budgets are unrelated to values.
        """
        return noise.moves**2 * mean.noise_per_square(self.assumption, n, self.spread)

    def noise_square(self, noise: SumNoise) -> float:
        """The variance of Laplace noise, in units of 1/(Σe)²."""
        return 2.0 * noise.moves**2

    @property
    def squared_bias(self) -> float:
        """The square of the largest difference between means at different budgets."""
        return self.assumption.apart**2

    def drawn_square(self, n: int) -> float:
        """The largest variance of the mean of n values."""
        return mean.WIDEST**2 * self.design / n

    @property
    def guessed(self) -> bool:
        """Whether the spread is guessed."""
        return self.spread < mean.WIDEST

    @property
    def worst(self) -> Self:
        """The same goal without a guess of the spread."""
        return replace(self, spread=mean.WIDEST)

    def in_units(self, unit: float, bounds: tuple[float, float]) -> float:
        """Convert a risk on a unit range to data units."""
        width = bounds[1] - bounds[0]
        if self.loss == "pac" or unit == 0.0:
            return unit * width
        # A float power raises OverflowError, but a product overflows to infinity. A range that is
        # estimated from data can be this wide, and such data must not raise an error.
        return unit * width**2 if width < _WIDE else unit * width * width

    def is_exact(self, weighing: Weighing) -> bool:
        """Whether `risk` is the exact worst case, not only an upper bound."""
        assumption, sure = self.assumption, weighing.keep is None
        if self.guessed:
            return False
        if assumption.related is False or assumption.sampled:
            return self.loss == "mse" and assumption.related is False
        return sure or (self.loss == "mse" and assumption.anything)

    @property
    def by_moments(self) -> bool:
        """Whether the loss is the mean squared error."""
        return self.loss == "mse"

    @property
    def by_bias(self) -> bool:
        """Whether `risk` is a quantile above the median that depends only on bias and scale."""
        related = self.assumption.related is not False and not self.assumption.sampled
        return self.loss == "pac" and related and self.confidence >= 0.5 and not self.guessed

    @property
    def by_interval(self) -> bool:
        """Whether `auto` may choose the cap for which the interval is shortest."""
        return self.tested and self.by_bias and self.assumption.anything

    @property
    def log_pac(self) -> float:
        """The factor L, which is ln(1/β) for a mean."""
        return -math.log1p(-self.confidence)


@dataclass(frozen=True)
class CellsGoal(Goal):
    """The errors of shares: the sum of squared errors, or the largest error.

    Proof: docs/proofs/tables.md (6), (10). Proof: docs/proofs/frequencies.md (1), (5), (6).

    Attributes:
        cells: number of categories, at least 2.
    """

    cells: int

    statistic: ClassVar[str] = "frequencies"
    by_bias: ClassVar[bool] = False

    @property
    def categories(self) -> int:
        """Number of categories."""
        return self.cells

    @property
    def numbers(self) -> int:
        """Number of shares: one for each category."""
        return self.cells

    @property
    def noise(self) -> SumNoise:
        """Noise of the cells: one person changes two cells, and the noises can sum to zero."""
        return SumNoise(2, ClosedNoise(self.cells))

    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator for the loss "mse", "largest" or "pac".

        It is the expected sum of squares, the expected largest square, or the half-width of the
        band.
        """
        if self.loss == "pac":
            return cells.band(weighing, self.assumption, self.cells, self.confidence)
        if self.loss == "largest":
            return cells.largest_square(weighing, self.assumption, self.cells)
        return float(self.squares(weighing))

    def aim(self, weighing: Weighing) -> float:
        """The sum of squares, or an approximation of the risk for the largest error."""
        if self.loss == "pac":
            return cells.quantile_aim(weighing, self.assumption, self.cells, self.confidence)
        if self.loss == "largest":
            return cells.largest_aim(weighing, self.assumption, self.cells)
        return float(self.squares(weighing))

    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The expected sum of squares, for one estimator or many."""
        return cells.squares(estimator, self.assumption, self.cells)

    def noise_per_square(self, n: int, noise: SumNoise) -> float:
        """The c for which `squares` is proportional to Σw² + c/(Σe)².

        It exists if budgets are unrelated to values.
        """
        return cells.noise_per_square(self.assumption, n, self.cells, noise)

    def noise_square(self, noise: SumNoise) -> float:
        """The sum of the noise variances of all cells, in units of 1/(Σe)²."""
        return noise.moves**2 * cells.noise_square(self.cells, noise.closed)

    @property
    def squared_bias(self) -> float:
        """The largest sum of squared biases over cells, in units of bias²."""
        return cells.squared_bias(self.cells, self.assumption.apart)

    def drawn_square(self, n: int) -> float:
        """The sampling variance of n draws, summed over cells, for the worst-case shares."""
        return cells.mixed(n, self.cells, sampled=True) / n

    def is_exact(self, weighing: Weighing) -> bool:
        """Whether `risk` is the exact worst case, not only an upper bound."""
        assumption, people = self.assumption, not self.assumption.sampled
        if self.loss == "mse":
            return assumption.related is False or (assumption.anything and people)
        few = weighing.closed is None or self.cells <= cells.MANY
        return assumption.anything and people and few and weighing.keep is None

    @property
    def worst(self) -> Self:
        """This goal itself: categories have no guess of a spread."""
        return self

    @property
    def by_moments(self) -> bool:
        """Whether the loss is the sum of squares."""
        return self.loss == "mse"

    @property
    def log_pac(self) -> float:
        """The factor L, which is ln(k/β) for k categories."""
        return math.log(self.cells) - math.log1p(-self.confidence)

    @property
    def log_mse(self) -> float:
        """The factor L, which is ln k for k categories."""
        return math.log(self.cells)


def claimed(weighing: Weighing, goal: Goal) -> float:
    """The risk that a release claims: without a guess of the spread, on a unit range."""
    return _claimed(weighing, goal) if goal.shared else goal.worst.risk(weighing)


@shared
def _claimed(weighing: Weighing, goal: Goal) -> float:
    """The same, kept with the estimator, which releases with the same budgets share."""
    return goal.worst.risk(weighing)


def checked(about: object, related: object, loss: object, confidence: object) -> Words:
    """Return the validated assumption, loss and confidence from a user's arguments.

    Raises:
        ArgumentError: an argument is invalid, or the confidence is not strictly between 0 and 1.
    """
    return (
        assumption_of(about, related),
        parameters.choice("loss", loss),
        parameters.confidence(confidence),
    )


def guess_for(categories: int | None, spread: object) -> float:
    """Return the validated guess of the spread of a mean.

    Raises:
        ArgumentError: the guess is invalid, or it was given for frequencies.
    """
    if categories is not None and spread is not None:
        raise ArgumentError("spread is for a mean: leave it out for frequencies.")
    return parameters.spread(spread)


def goal_of(words: Words, categories: int | None, spread: float = mean.WIDEST) -> Goal:
    """Return the goal for a mean (if `categories` is None) or for frequencies.

    Raises:
        ArgumentError: the loss is only defined for frequencies, but the goal is a mean.
    """
    if categories is None:
        parameters.loss_of_a_mean(words[1])
        return MeanGoal(*words, spread, tested=True)
    return CellsGoal(*words, categories)
