"""Quantiles of a column, if everyone has their own budget."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar, get_args

import numpy as np

from epsilons import door, listed, parameters, words
from epsilons.budgets.levels import Budgets
from epsilons.errors import MissingValueError
from epsilons.questions.question import Answer, Call, Question, Sentences, Steps
from epsilons.questions.ranked import FINE, METHODS, best_way, open_table, tabled
from epsilons.questions.ways import Read
from epsilons.results.release import Quantiles, Scalar
from epsilons.risk.goals import MeanGoal
from epsilons.risk.quantiles import QuantilesMargin, even
from epsilons.types import About, Column, LossOfOne, Missing, QuantileMethod

__all__ = ["Quantile"]


@dataclass(frozen=True, eq=False)
class Quantile(Question):
    """The q-quantile: the smallest value with a share of at least q at or below it.

    Attributes:
        q: one share strictly between 0 and 1, or several. See `epsilons.quantile`.
        bounds: the range of the values.

    Raises:
        ArgumentError: an argument is invalid.
    """

    statistic: ClassVar[str] = "quantile"
    KIND: ClassVar[str] = "Quantile"
    describes: ClassVar[str] = "values of {file} that given shares of people are at or below"
    every_method: ClassVar[tuple[str, ...]] = get_args(QuantileMethod)[1:]

    values: Column = field(repr=False)  # not printed: it can be an array of people's values
    q: float | Sequence[float]
    _: KW_ONLY
    bounds: tuple[float, float]
    about: About = "people"
    related: bool | float = True
    loss: LossOfOne = "mse"
    confidence: float = 0.95
    method: QuantileMethod = "auto"
    missing: Missing | None = None
    title: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.loss_of_a_mean(self.loss)
        self._set("q", parameters.quantiles(self.q))
        self._set("bounds", parameters.bounds(self.bounds))
        listed.bins(self._edges)

    @property
    def _edges(self) -> list[float]:
        """The edges of the finest bins; values outside the bounds are in the outermost bins."""
        return [-math.inf, *even(self.bounds, FINE)[1:-1].tolist(), math.inf]

    @property
    def goal(self) -> MeanGoal:
        """The assumption, and the error to report."""
        return MeanGoal(self.assumption, self.loss, self.confidence)

    def methods(self, neighbours: str) -> Collection[str]:
        """Return the names that `method` can have besides "auto"; "exclude" needs a table."""
        return METHODS if neighbours == "replace" and not self.excludes else METHODS[:1]

    def look(self, call: Call) -> door.Look:
        """Inspect the rows as values in bins; infinite values are in the outermost bins."""
        declared = door.declare(None, self._edges, None)
        return door.look(self.values, **call.given, categories=declared, lowest=call.lowest)

    def open(self, call: Call) -> door.Rows:
        """Open the rows as values in bins, with one more cell for missing values.

        Under add/remove, excluded missing values are in no cell.
        """
        policy = self.policy(call.neighbours)
        apart = policy == "midpoint" or (self.excludes and call.neighbours == "replace")
        declared = door.declare(None, self._edges, "missing" if apart else None)
        return door.open(self.values, **call.given, categories=declared, ladder=call.ladder)

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return the quantities to count: the bins, and the cell of missing values if any."""
        return door.Ask("cells")

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Yield a table under add/remove; under replace, a table or selections."""
        counted, goal = self.counted(rows, call), self.goal
        quantiles = np.array(self.q, ndmin=1)
        if call.neighbours == "add-remove":
            return open_table(counted, call.terms, goal, quantiles, self._read)
        budgets = Budgets.of_levels(counted.levels, counted.counts)
        if self.excludes:
            return tabled(budgets, goal, quantiles, outside=True).steps(counted, self._read)
        way = best_way(budgets, goal, quantiles, self.method, counted.unit)
        return way.steps(counted, self._read)

    def _read(self, margin: QuantilesMargin, square: float, half: float | None) -> Read:
        """Compute one quantile or an array, with the requested kind of error."""
        values, bounds = margin.values(self.bounds), self.bounds
        estimate: Scalar | Quantiles
        if isinstance(self.q, float):
            one = float(values[0])
            estimate = Scalar(value=one, raw=one, bounds=bounds, margin=margin)
        else:
            estimate = Quantiles(value=values, raw=values, bounds=bounds, margin=margin)
        if self.loss != "pac":
            return Read(estimate, self.goal.in_units(square, bounds))
        if half is None:
            return Read(estimate, estimate.error(self.assumption, self.confidence))
        return Read(estimate, self.goal.in_units(half, bounds))

    def counted(self, rows: door.Rows, call: Call) -> door.Tally:
        """Return the bins, by the part of their budget that people offer to this question."""
        try:
            return super().counted(rows, call)
        except MissingValueError as refused:
            raise MissingValueError(
                str(refused).split(" Declare")[0] + ' missing="exclude" takes the quantiles of '
                "those who have a value, and keeps secret who they are; "
                'missing="midpoint" counts such values as the middle of the bounds. Do not drop '
                "the rows yourself: the number of people is published."
            ) from None

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """Return the sentences of the release."""
        midpoint, some = self.policy(neighbours) == "midpoint", self.excludes
        protects, which = words.protected(neighbours), words.quantiles(self.q)
        treats = words.clipped(self.bounds, midpoint=midpoint, alone=True)
        if some:
            protects += words.hidden(groups=False, public=False, answers=True, where=False)
            treats += words.PARTS_LEFT_OUT
        assumes = words.assumed("quantile", neighbours, self.assumption, which, some=some)
        return Sentences(protects, assumes, treats)
