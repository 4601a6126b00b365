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
from epsilons.risk.assumptions import Assumption, assumption_of
from epsilons.risk.weighing import Moments, Weighing
from epsilons.types import Floats

Words: TypeAlias = tuple[Assumption, str, float]
"""What is assumed, the loss and the confidence, checked."""


_WIDE: Final = 1e154
"""Ranges whose squares may not be floats."""


@dataclass(frozen=True)
class Goal(ABC):
    """What every goal offers.

    Attributes:
        assumption: what is taken to be true of the data.
        loss: "mse" or "pac".
        confidence: of the PAC error.
        statistic: what is estimated, by name: the key of every table of rules and methods.
        moves: how many sums one person can change by their whole weight, if they are replaced.
    """

    assumption: Assumption
    loss: str
    confidence: float

    statistic: ClassVar[str]
    moves: ClassVar[int]

    @property
    @abstractmethod
    def categories(self) -> int | None:
        """How many categories there are; None if there are none."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers are estimated at once."""

    @abstractmethod
    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator: mean squared error, or the error not exceeded."""

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

    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The mean squared error as of a mean, of an estimator or of many at once."""
        return mean.mse(estimator, self.assumption)

    def noise_per_square(self, n: int) -> float:
        """The c of mean squared errors Σw² + c·scale², where budgets tell nothing."""
        return mean.noise_per_square(self.assumption, n)

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
    moves: ClassVar[int] = 1

    @property
    def categories(self) -> None:
        """There are none."""
        return

    @property
    def numbers(self) -> int:
        """One."""
        return 1

    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator: mean squared error, or the error not exceeded."""
        if self.loss == "pac":
            return mean.quantile(weighing, self.assumption, self.confidence, spread=self.spread)
        return float(self.squares(weighing))

    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The mean squared error of an estimator, or of many at once."""
        return mean.mse(estimator, self.assumption, self.spread)

    def noise_per_square(self, n: int) -> float:
        """The c of mean squared errors Σw² + c·scale², where budgets tell nothing."""
        return mean.noise_per_square(self.assumption, n, self.spread)

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
    """The largest error of any share is to be small.

    Attributes:
        cells: the number of categories, at least 2.
    """

    cells: int

    statistic: ClassVar[str] = "frequencies"
    moves: ClassVar[int] = 2

    @property
    def categories(self) -> int:
        """How many categories there are."""
        return self.cells

    @property
    def numbers(self) -> int:
        """A share for each category."""
        return self.cells

    def risk(self, weighing: Weighing) -> float:
        """The risk of an estimator: mean squared error, or the error not exceeded."""
        if self.loss == "pac":
            return cells.quantile(weighing, self.assumption, self.cells, self.confidence)
        return cells.mse(weighing, self.assumption, self.cells)

    def is_exact(self, weighing: Weighing) -> bool:
        """Whether `risk` is the exact worst case, or a proven bound on it."""
        assumption = self.assumption
        return assumption.anything and not assumption.sampled and weighing.keep is None

    @property
    def worst(self) -> Self:
        """Itself: nobody guesses the spread of categories."""
        return self

    @property
    def by_moments(self) -> bool:
        """It never is."""
        return False

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
    """The goal for a mean, with a guess of its spread, or for frequencies of so many categories."""
    if categories is None:
        return MeanGoal(*words, spread)
    return CellsGoal(*words, categories)
