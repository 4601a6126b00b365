"""Errors of a mean for a sample of people with weights, if budgets are unrelated to values.

People of equal weight are a class. Budgets must be unrelated to values within each class: all
values of a class are drawn from one population, whatever the budgets. Different classes may have
different populations. Proof: docs/proofs/weights.md (10).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from epsilons.budgets.levels import Classes
from epsilons.frozen import storable
from epsilons.risk.goals import MeanGoal
from epsilons.risk.margins import Weighed
from epsilons.risk.means import mean
from epsilons.risk.weighing import SAMPLE, Assumption, Moments, Weighing
from epsilons.types import Floats


def lean(classes: Classes, weighing: Weighing) -> float:
    """The largest bias of an estimator in which the weights of classes differ from their shares.

    It is ½Σ|W_c − A_c|, where W_c is the weight of class c in the estimate, and A_c is its share of
    all units. A person of weight d is d units. Proof: docs/proofs/weights.md (10).
    """
    units, place = np.unique(classes.units, return_inverse=True)
    own = classes.units * weighing.weights[classes.level]
    weights = np.bincount(place, classes.people * own)
    shares = np.bincount(place, classes.people) * units / weighing.n
    return 0.5 * float(np.abs(weights - shares).sum())


def in_classes(classes: Classes, weighing: Weighing) -> Weighing:
    """Return the estimator with its `squares`: Σd² over the people of each level."""
    squares = np.bincount(classes.level, classes.people * np.square(classes.units, dtype=float))
    return replace(weighing, squares=tuple(squares.tolist()))


@dataclass(frozen=True, eq=False)
class ClassGoal(MeanGoal):
    """The error of a mean of a sample of people with weights, if budgets are unrelated to values.

    Proof: docs/proofs/weights.md (10).

    Attributes:
        classes: the people. A search can also try estimators with other levels. Their errors are
            computed as if everyone counted equally. This affects the choice of an estimator, but no
            published claim.
    """

    shared: ClassVar[bool] = False
    classes: Classes = field(kw_only=True)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def risk(self, weighing: Weighing) -> float:
        """The mean squared error of an estimator, or a quantile of its error."""
        if self.loss != "pac" or not self._knows(weighing):
            return super().risk(weighing)
        own, shift = in_classes(self.classes, weighing), lean(self.classes, weighing)
        return mean.deviation_of(own, shift, own.square, 1.0 - self.confidence)

    def squares(self, estimator: Weighing | Moments) -> Floats:
        """The mean squared error of one estimator, or of many as an array."""
        if not isinstance(estimator, Weighing) or not self._knows(estimator):
            return super().squares(estimator)
        own, shift = in_classes(self.classes, estimator), lean(self.classes, estimator)
        return np.asarray(shift**2 + 0.25 * own.square + 2.0 * own.scale**2)

    def _knows(self, weighing: Weighing) -> bool:
        return len(weighing.weights) == int(self.classes.level.max()) + 1

    def is_exact(self, weighing: Weighing) -> bool:  # noqa: ARG002
        """False: the risk adds up the worst bias and the worst sampling error."""
        return False

    @property
    def by_moments(self) -> bool:
        """False: the risk also depends on the classes."""
        return False


@storable("risk.WeighedClasses")
@dataclass(frozen=True, eq=False)
class WeighedClasses(Weighed):
    """Margin of a mean of a sample of people with weights, given classes of equal weight.

    Guarantee:
        The guarantee of `Weighed`. If the assumption is that budgets are unrelated to values, this
        need only be true among people of equal weight. Proof: docs/proofs/weights.md (10).

    Attributes:
        lean: the largest bias if budgets are unrelated to values.
    """

    lean: float

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error on a unit range, at this confidence, rounding included."""
        if assumption != SAMPLE:
            return super().error(assumption, confidence)
        own = self.weighing
        return mean.deviation_of(own, self.lean, own.square, 1.0 - confidence) + self.slack
