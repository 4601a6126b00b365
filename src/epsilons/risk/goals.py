"""Goals: what is true of the data, and which error is to be small, of a mean or of frequencies.

Rules, plans and releases ask a goal; nobody asks what kind of goal it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Self, TypeAlias

from epsilons import parameters
from epsilons.errors import ArgumentError
from epsilons.risk import cells, mean
from epsilons.risk import cells as largest
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import OPEN, Assumption, Moments, SumNoise, Weighing, assumption_of
from epsilons.types import Floats

Words: TypeAlias = tuple[Assumption, str, float]
"""What is assumed, the loss and the confidence, checked."""


_WIDE: Final = 1e154
"""Ranges whose squares may not be floats."""


@dataclass(frozen=True)
class Goal(ABC):
    """What every goal offers.

    Attributes:
        assumption: what is assumed about the data.
        loss: "mse", "pac", or for cells also "largest".
        confidence: of the PAC error.
        statistic: what is estimated, by name: the key of every table of rules and methods.
    """

    assumption: Assumption
    loss: str
    confidence: float

    statistic: ClassVar[str]

    @property
    @abstractmethod
    def categories(self) -> int | None:
        """How many categories there are; None if there are none."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers are estimated at once."""

    @property
    @abstractmethod
    def noise(self) -> SumNoise:
        """The noise of the sums under replace: how many one person moves, and of which kind."""

    @abstractmethod
    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator: the mean of a squared error, or the error not exceeded."""

    def aim(self, weighing: Weighing) -> float:
        """What weights are chosen by: the risk, unless that is a bound that ranks them badly."""
        return self.risk(weighing)

    def typical(self, risk: float) -> float:
        """A risk as an error of one number: the root of a mean square, of one of the numbers."""
        if self.loss == "pac":
            return risk
        return math.sqrt(risk / self.numbers if self.loss == "mse" else risk)

    @property
    def squared(self) -> Self:
        """The same for the typical error: of one number, or of the largest if that is asked."""
        return self if self.loss == "largest" else replace(self, loss="mse")

    def rmse(self, weighing: Weighing) -> float:
        """The typical error of an estimator: a root mean square, whatever the loss is."""
        squared = self.squared
        return squared.typical(squared.risk(weighing))

    @abstractmethod
    def is_exact(self, weighing: Weighing) -> bool:
        """Whether `risk` is the exact worst case, or a proven bound on it."""

    @property
    @abstractmethod
    def by_moments(self) -> bool:
        """Whether `risk` is `risk.mse` of the moments of an estimator, of many at once."""

    @property
    @abstractmethod
    def by_bias(self) -> bool:
        """Whether `risk` is a quantile that grows in bias and scale alone, along a closed slope."""

    @abstractmethod
    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The mean squared error, summed over all numbers, of an estimator or of many at once."""

    @abstractmethod
    def noise_per_square(self, n: int, noise: SumNoise) -> float:
        """The c of `squares` ∝ Σw² + c/(Σe)², where budgets tell nothing."""

    @abstractmethod
    def noise_square(self, noise: SumNoise) -> float:
        """The part of the noise in `squares`, in units of 1/(Σe)²."""

    @property
    @abstractmethod
    def squared_bias(self) -> float:
        """The part of what budgets tell in `squares` of these people, in units of bias²."""

    @abstractmethod
    def drawn_square(self, n: int) -> float:
        """The mean squared sampling error of n people who count alike, over all numbers."""

    def told(self, bias: float) -> float:
        """The risk of what budgets tell alone, for weights of this bias."""
        apart = self.assumption.apart * bias
        if self.loss == "pac" or apart == 0.0:
            return apart
        return self.squared_bias * bias * bias if self.loss == "mse" else apart * apart

    @property
    def most(self) -> float:
        """The risk of knowing nothing: 1, and of the squares of all shares together 2."""
        return 2.0 if self.loss == "mse" and self.numbers > 1 else 1.0

    @property
    def guessed(self) -> bool:
        """Whether the spread is guessed."""
        return False

    @property
    @abstractmethod
    def worst(self) -> Self:
        """The same without a guess of the spread: what may be claimed."""

    @property
    @abstractmethod
    def log_pac(self) -> float:
        """The L of paper *correlated* for its PAC errors."""

    @property
    @abstractmethod
    def log_mse(self) -> float:
        """The L of paper *correlated* for its mean squared errors."""


@dataclass(frozen=True)
class MeanGoal(Goal):
    """The error of a mean is to be small.

    Attributes:
        spread: a guess of the standard deviation of the values on a unit range, which moves what is
            chosen and no claim; one half, the largest there is, if there is none.
    """

    spread: float = mean.WIDEST

    statistic: ClassVar[str] = "mean"

    @property
    def categories(self) -> None:
        """There are none."""
        return

    @property
    def numbers(self) -> int:
        """One."""
        return 1

    @property
    def noise(self) -> SumNoise:
        """Of one sum."""
        return OPEN

    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator: mean squared error, or the error not exceeded."""
        if self.loss == "pac":
            return mean.quantile(weighing, self.assumption, self.confidence, spread=self.spread)
        return float(self.squares(weighing))

    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The mean squared error of an estimator, or of many at once."""
        return mean.mse(estimator, self.assumption, self.spread)

    def noise_per_square(self, n: int, noise: SumNoise) -> float:
        """The c of mean squared errors ∝ Σw² + c/(Σe)², where budgets tell nothing."""
        return noise.moves**2 * mean.noise_per_square(self.assumption, n, self.spread)

    def noise_square(self, noise: SumNoise) -> float:
        """The variance of Laplace noise."""
        return 2.0 * noise.moves**2

    @property
    def squared_bias(self) -> float:
        """How far apart means may be, squared."""
        return self.assumption.apart**2

    def drawn_square(self, n: int) -> float:
        """The variance of the mean of n values, at most."""
        return mean.WIDEST**2 / n

    @property
    def guessed(self) -> bool:
        """Whether the spread is guessed."""
        return self.spread < mean.WIDEST

    @property
    def worst(self) -> Self:
        """The same without a guess of the spread."""
        return replace(self, spread=mean.WIDEST)

    def in_units(self, unit: float, bounds: tuple[float, float]) -> float:
        """A risk on a unit range, in data units."""
        width = bounds[1] - bounds[0]
        if self.loss == "pac" or unit == 0.0:
            return unit * width
        # Products may be infinite, where a power raises an error: a range that was found is wide if
        # values are, and no data may be refused.
        return unit * width**2 if width < _WIDE else unit * width * width

    def is_exact(self, weighing: Weighing) -> bool:
        """Whether `risk` is the exact worst case, or a proven bound on it."""
        assumption, sure = self.assumption, weighing.keep is None
        if self.guessed:
            return False
        if assumption.related is False or assumption.sampled:
            return self.loss == "mse" and assumption.related is False
        return sure or (self.loss == "mse" and assumption.anything)

    @property
    def by_moments(self) -> bool:
        """The mean squared error is."""
        return self.loss == "mse"

    @property
    def by_bias(self) -> bool:
        """The quantile of people with related budgets is, from the median on."""
        related = self.assumption.related is not False and not self.assumption.sampled
        return self.loss == "pac" and related and self.confidence >= 0.5 and not self.guessed

    @property
    def log_pac(self) -> float:
        """ln(1/β)."""
        return -math.log1p(-self.confidence)

    @property
    def log_mse(self) -> float:
        """1."""
        return 1.0


@dataclass(frozen=True)
class CellsGoal(Goal):
    """The errors of shares are to be small: all squares together, or the largest error.

    Attributes:
        cells: the number of categories, at least 2.
    """

    cells: int

    statistic: ClassVar[str] = "frequencies"

    @property
    def categories(self) -> int:
        """How many categories there are."""
        return self.cells

    @property
    def numbers(self) -> int:
        """A share for each category."""
        return self.cells

    @property
    def noise(self) -> SumNoise:
        """A person leaves one cell and enters another, so that noise may sum to zero."""
        return SumNoise(2, ClosedNoise(self.cells))

    def risk(self, weighing: Weighing) -> float:
        """The mean of the sum of squares, or of the largest square; or the error not exceeded."""
        if self.loss == "pac":
            return cells.band(weighing, self.assumption, self.cells, self.confidence)
        if self.loss == "largest":
            return cells.largest_square(weighing, self.assumption, self.cells)
        return float(self.squares(weighing))

    def aim(self, weighing: Weighing) -> float:
        """The sum of squares; of the largest error what it is in the Gaussian limit."""
        if self.loss == "pac":
            return cells.quantile_aim(weighing, self.assumption, self.cells, self.confidence)
        if self.loss == "largest":
            return cells.largest_aim(weighing, self.assumption, self.cells)
        return float(self.squares(weighing))

    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The mean of the sum of squares, of an estimator or of many at once."""
        return cells.squares(estimator, self.assumption, self.cells)

    def noise_per_square(self, n: int, noise: SumNoise) -> float:
        """The c of sums of squares ∝ Σw² + c/(Σe)², where budgets tell nothing."""
        return cells.noise_per_square(self.assumption, n, self.cells, noise)

    def noise_square(self, noise: SumNoise) -> float:
        """The variances of the noises of all cells."""
        return noise.moves**2 * cells.noise_square(self.cells, noise.closed)

    @property
    def squared_bias(self) -> float:
        """As many cells are off as can be."""
        return largest.squared_bias(self.cells, self.assumption.apart)

    def drawn_square(self, n: int) -> float:
        """The variances of n draws, over all cells."""
        return cells.mixed(n, self.cells, sampled=True) / n

    def is_exact(self, weighing: Weighing) -> bool:
        """Whether `risk` is the exact worst case, or a proven bound on it."""
        assumption, people = self.assumption, not self.assumption.sampled
        if self.loss == "mse":
            return assumption.related is False or (assumption.anything and people)
        few = weighing.closed is None or self.cells <= largest.MANY
        return assumption.anything and people and few and weighing.keep is None

    @property
    def worst(self) -> Self:
        """Itself: nobody guesses the spread of categories."""
        return self

    @property
    def by_moments(self) -> bool:
        """The sum of squares is."""
        return self.loss == "mse"

    @property
    def by_bias(self) -> bool:
        """No slope of it is closed."""
        return False

    @property
    def log_pac(self) -> float:
        """ln(k/β)."""
        return math.log(self.cells) - math.log1p(-self.confidence)

    @property
    def log_mse(self) -> float:
        """Ln k."""
        return math.log(self.cells)


def checked(about: object, related: object, loss: object, confidence: object) -> Words:
    """The words of a user.

    Raises:
        ArgumentError: a word is invalid, or the confidence is not strictly between 0 and 1.
    """
    return (
        assumption_of(about, related),
        parameters.choice("loss", loss),
        parameters.confidence(confidence),
    )


def guess_for(categories: int | None, spread: object) -> float:
    """A guess of the spread of a mean.

    Raises:
        ArgumentError: it is invalid, or there are categories.
    """
    if categories is not None and spread is not None:
        raise ArgumentError("spread is for a mean: leave it out for frequencies.")
    return parameters.spread(spread)


def goal_of(words: Words, categories: int | None, spread: float = mean.WIDEST) -> Goal:
    """The goal for a mean, with a guess of its spread, or for frequencies of so many categories.

    Raises:
        ArgumentError: the loss is one of categories, and there are none.
    """
    if categories is None:
        parameters.loss_of_a_mean(words[1])
        return MeanGoal(*words, spread)
    return CellsGoal(*words, categories)
