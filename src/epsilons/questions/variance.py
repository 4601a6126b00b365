"""The variance and the standard deviation of a column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np

from epsilons import door, parameters, words
from epsilons.budgets.allocation import Allocation
from epsilons.draws.mechanisms import PARTS_OF_A_VARIANCE, SumAndSquares, build_moments
from epsilons.questions.question import Answer, Call, Sentences, Steps
from epsilons.questions.steps import soft_cells, ways
from epsilons.questions.steps.ways import Read
from epsilons.results.release.kinds import VarianceEstimate as Estimate
from epsilons.risk.goals import CellsGoal, MeanGoal
from epsilons.risk.moments.forms import VariedForms
from epsilons.risk.moments.margins import SoftMoments, ThreeCells
from epsilons.types import About, Column, Missing, SoftMethod

__all__ = ["Variance"]


@dataclass(frozen=True, eq=False)
class Variance(soft_cells.SoftQuestion):
    """The variance of a column: see `epsilons.variance` for the arguments.

    Attributes:
        bounds: the range (lo, hi) of the values.

    Raises:
        ArgumentError: an argument is invalid (BoundsError for the bounds).

    Examples:
        >>> import epsilons as ep
        >>> question = ep.Variance("minutes", bounds=(0, 120))
        >>> asked = {"epsilon": "epsilon", "data": "people.csv", "person": "person"}
        >>> [release] = ep.publish([question], source=ep.Seeded(1), **asked)
        >>> round(release.value)
        272
    """

    statistic: ClassVar[str] = "variance"
    KIND: ClassVar[str] = "Variance"
    describes: ClassVar[str] = "the variance of a column of {file}"
    truth: ClassVar[str] = "the variance of"
    moments: ClassVar[str] = "values and their squares"
    NOT_TAKEN: ClassVar[Mapping[str, str]] = soft_cells.not_taken(statistic, "squares of the unit")

    values: Column = field(repr=False)  # not printed: it can be an array of people's values
    _: KW_ONLY
    bounds: tuple[float, float]
    about: About = "people"
    related: bool | float = True
    confidence: float = 0.95
    method: SoftMethod = "auto"
    missing: Missing | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("bounds", parameters.bounds(self.bounds, power=4))

    @property
    def goal(self) -> CellsGoal:
        """The error to minimize if three cells are drawn: the sum of their squared errors."""
        return CellsGoal(self.assumption, self.loss, self.confidence, 3)

    def look(self, call: Call) -> door.Look:
        """Count rows that need the curator's attention, such as values outside the bounds."""
        return door.look(self.values, **call.given, bounds=self.bounds, lowest=call.lowest)

    def open(self, call: Call) -> door.Rows:
        """Check the arguments and return the rows, with their values as numbers."""
        return door.open(
            self.values, **call.given, missing=self.policy(call.neighbours), ladder=call.ladder
        )

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return the sums to compute: three cells, from which mean and mean square follow."""
        return door.Ask("squares", self.bounds)

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Return the generator of one draw: a sum with squares, or else three cells.

        Three cells are needed under add/remove, or if people without a value are excluded.
        """
        if call.neighbours == "add-remove" or self.excludes:
            return super().steps(rows, call)
        # "auto" could choose staircase noise, which does not support squares.
        rule = "optimal" if self.method == "auto" else self.method
        goal = MeanGoal(self.assumption, self.loss, self.confidence)
        counted = self.counted(rows, call)
        return ways.replace(counted, goal, rule, self._built, self._read)

    def _built(self, allocation: Allocation) -> Any:
        """Build the mechanism of a weighted sum with squares, on a unit range."""
        return build_moments(
            allocation, grid=door.GRID, bounds=(0.0, 1.0), parts=PARTS_OF_A_VARIANCE
        )

    def _read(self, mechanism: SumAndSquares, pair: tuple[int, int]) -> Read:
        """Compute the variance from the drawn sum and squares."""
        seen = np.array(mechanism.moments(pair))
        margin = VariedForms(mechanism.weighing, mechanism.slack, 0.0, seen, mechanism.quiet)
        return self.answered(margin)

    def answered(self, margin: SoftMoments) -> Read:
        """Return the variance that follows from the drawn cells, with its risk in data units."""
        lo, hi = self.bounds
        unit, cells = (hi - lo) ** 2, ThreeCells(margin)
        found = cells.variance(self.assumption, self.confidence)
        estimate = Estimate(
            value=found.value * unit,
            raw=cells.raw * unit,
            bounds=(0.0, unit / 4.0),
            values=self.bounds,
            margin=cells,
        )
        return Read(estimate, cells.risk(self.assumption) * unit * unit)

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """Return the sentences in which the release says what it protects and assumes."""
        midpoint = self.policy(neighbours) == "midpoint"
        return self.said(neighbours, words.clipped(self.bounds, midpoint=midpoint))
