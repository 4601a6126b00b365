"""The number of people, or of the people in one category."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from epsilons import door, parameters, words
from epsilons.budgets.allocation import Allocation
from epsilons.budgets.levels import Ladder, float_up
from epsilons.draws.mechanisms import Additive, LevelCounts, build
from epsilons.draws.mechanisms.add_remove import rounded_down
from epsilons.errors import ArgumentError
from epsilons.questions.question import (
    UNWEIGHED,
    Answer,
    Call,
    Draw,
    Question,
    Sentences,
    Steps,
)
from epsilons.questions.steps import grouping, ways
from epsilons.questions.steps.ways import Read
from epsilons.results.release import ByLevel
from epsilons.results.release.kinds import CountEstimate as Counted, SomeEstimate as Some
from epsilons.risk.goals import MeanGoal
from epsilons.risk.margins import Weighed
from epsilons.types import Column, LossOfOne, Missing, Where

__all__ = ["Count"]

_METHOD = "together"
_OPTIMAL = "optimal"


@dataclass(frozen=True, eq=False)
class Count(Question):
    """The number of people under add/remove, or of people in one category: see `epsilons.count`.

    Attributes:
        values: any column of numbers. All rows are counted, or with missing="exclude" only people
            with a value in this column. None stands for the column of budgets.
        where: a column and a label, or a Boolean column: only people who have a row with that
            label, or with True, are counted. If it is None, everyone is counted.
        selected: the column of `where`.
        label: the label of the people to count; None if everyone, or everyone with a value, counts.
        labelled: that label, checked.

    Raises:
        ArgumentError: an argument is invalid.

    Examples:
        >>> import epsilons as ep
        >>> offered = {"neighbours": "add-remove", "levels": [0.05, 0.2, 0.5, 1.0, 2.0]}
        >>> asked = {"epsilon": "epsilon", "data": "people.csv", "person": "person"}
        >>> [release] = ep.publish([ep.Count()], source=ep.Seeded(1), **offered, **asked)
        >>> round(release.value)
        3962
    """

    statistic: ClassVar[str] = "count"
    KIND: ClassVar[str] = "Count"
    describes: ClassVar[str] = "how many people {file} has, or how many of them are in a category"
    every_method: ClassVar[tuple[str, ...]] = (_METHOD, _OPTIMAL)

    NOT_TAKEN: ClassVar[Mapping[str, str]] = {
        "about": "about={} is invalid for a count, which is about exactly these people. Leave "
        "about out.",
        "related": "related={} means nothing for a count: everyone counts as one, whatever their "
        "budget. Leave related out.",
        "method": "method={} is not known: there is one method for a count. Leave method out.",
        "unit": "unit: a count is of people. Leave it out, and put it in title.",
        **UNWEIGHED,
    }

    values: Column | None = field(default=None, repr=False)
    _: KW_ONLY
    loss: LossOfOne = "mse"
    confidence: float = 0.95
    missing: Missing | None = None
    where: Where | None = field(default=None, repr=False)
    title: str | None = None
    selected: Any = field(default=None, init=False, repr=False)
    label: Any = field(default=None, init=False, repr=False)
    labelled: door.Categories | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.loss_of_a_mean(self.loss)
        if self.where is not None:
            column, label = grouping.selecting(self.where)
            self._set("selected", column)
            self._set("label", True if label is None else label)
            self._set("where", (column, self.label))
            self._set("labelled", door.declare_label(self.label, "where"))
            if self.values is not None or self.missing is not None:
                raise ArgumentError(
                    "where says who counts, and a missing value does not count: leave values and "
                    "missing out."
                )
        if self.excludes and self.values is None:
            raise ArgumentError(
                'missing="exclude" counts those who have a value: name the column, or give an '
                "array, as values."
            )

    @property
    def categories(self) -> tuple[Any, ...]:
        """The label of the people to count; empty if everyone is counted."""
        return () if self.where is None else (self.label,)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the question reads, by the names of their fields."""
        return {"values": self.values if self.where is None else self.selected}

    @property
    def subject(self) -> Any:
        """The column that a release is named after."""
        return self.columns["values"]

    def of_columns(self, columns: dict[str, Any]) -> Self:
        """Return the same question about another column."""
        if self.where is None:
            return super().of_columns(columns)
        return replace(self, where=(columns["values"], self.label))

    @property
    def goal(self) -> MeanGoal:
        """The error to minimize under replace, where budgets may be related to the label."""
        return MeanGoal(self.assumption, self.loss, self.confidence)

    @property
    def refuses(self) -> str:
        """The values that are rejected, in words: an empty string, because a count rejects none."""
        return ""

    def methods(self, neighbours: str) -> Collection[str]:
        """The names that `method` can have besides "auto"."""
        return (_OPTIMAL,) if neighbours == "replace" else (_METHOD,)

    def check(self, neighbours: str) -> None:
        """Reject a count of everyone under replace: the number of people is public there."""
        super().check(neighbours)
        if neighbours == "replace" and self.where is None:
            raise ArgumentError(
                'neighbours="replace" makes the number of people public: count them directly, '
                'without noise. If who takes part is private, write neighbours="add-remove". To '
                'count those in a category, write where=("column", "label").'
            )

    def policy(self, neighbours: str) -> str:  # noqa: ARG002
        """Return how missing values are treated: counted like any other value, unless excluded."""
        return "exclude" if self.excludes else "midpoint"

    def look(self, call: Call) -> door.Look:
        """Count rows that need the curator's attention, such as missing values.

        No row is rejected.
        """
        if self.labelled is not None:
            given = {**call.given, "categories": self.labelled, "lowest": call.lowest}
            return door.look(self.selected, **given)
        return door.look(self._column(call), **call.given, bounds=None, lowest=call.lowest)

    def _column(self, call: Call) -> Any:
        """Return any column that has an entry for each row."""
        if self.values is not None:
            return self.values
        if isinstance(call.epsilon, (int, float)):
            raise ArgumentError(
                "values: a single epsilon for everyone does not say who takes part. Name any "
                "column of numbers, or give an array with an entry for each row."
            )
        return call.epsilon

    def check_terms(self, call: Call) -> None:
        """Reject a count without declared levels.

        Raises:
            ArgumentError: no levels are declared, so the required amount of noise is unknown.
        """
        if call.ladder is not None and call.ladder.fine:
            raise ArgumentError(
                "levels: a count needs the budgets that people were offered, such as "
                "levels=[0.1, 1]: its noise must hide anyone who has the lowest of them."
            )

    def open(self, call: Call) -> door.Rows:
        """Check the arguments and return the rows, ready to be counted. Values do not matter."""
        if self.labelled is not None:
            given = {**call.given, "categories": self.labelled, "ladder": call.ladder}
            return door.open(self.selected, **given)
        given = {**call.given, "missing": self.policy(call.neighbours), "ladder": call.ladder}
        return door.open(self._column(call), **given)

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return what to count at each level: everyone, or only people with a value or a label."""
        if self.where is not None:
            return door.Ask("cells", adds=True)
        return door.Ask("squares" if self.excludes else "numbers", (0.0, 1.0))

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Return the generator of one draw: a share of people under replace, else a count."""
        if call.neighbours == "replace":
            counted = self.counted(rows, call)
            return ways.replace(counted, self.goal, _OPTIMAL, self._built, self._read)
        return self._counted(rows, call)

    def _built(self, allocation: Allocation) -> Additive:
        """Build the mechanism of one weighted sum: everyone has the value 1 or 0."""
        return build(allocation, grid=door.GRID, bounds=(0.0, 1.0))

    def _read(self, mechanism: Additive, drawn: int) -> Read:
        """Compute the number of people with the label: the number of all people times a share."""
        n, goal, weighing = int(mechanism.counts.sum()), self.goal, mechanism.weighing
        share = mechanism.estimate(drawn)
        raw = round(n * share) if math.isfinite(share) else 0
        # The count is rounded to an integer, which adds at most 1/2 to its error.
        margin = Weighed(weighing, mechanism.slack + 0.5 / n)
        estimate = Some(value=min(max(raw, 0), n), raw=raw, bounds=(0.0, float(n)), margin=margin)
        risk = goal.in_units(goal.risk(weighing), estimate.bounds)
        risk = (math.sqrt(risk) + 0.5) ** 2 if self.loss == "mse" else risk + 0.5
        return Read(estimate, risk, weighing=weighing)

    def _counted(self, rows: door.Rows, call: Call) -> Steps:
        """Yield one count, with enough noise for a person at the lowest level."""
        mechanism = _counts(call.terms.ladder, call.terms.cap)
        counted = call.part(rows.count(self.asks(call)))
        if self.where is not None:  # the first cell has a unit for each person with the label
            counted = replace(counted, counts=counted.cells[:, 0] // counted.unit)
        (drawn,) = yield Draw(mechanism, mechanism.total(counted))
        law = mechanism.laws[0]
        spent = np.array([float_up(each) for each in mechanism.losses])
        estimate = Counted(value=max(drawn, 0), raw=drawn, law=law)
        risk = law.variance if self.loss == "mse" else float(law.deviation(1.0 - self.confidence))
        return Answer(
            estimate=estimate,
            method=_METHOD,
            n=max(drawn, 0) if self.where is None else None,
            n_is_noisy=self.where is None,
            risk=risk,
            exact=True,
            spent=ByLevel(mechanism.levels, spent, None),
        )

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """Return the sentences in which the release says what it protects and assumes."""
        if self.where is not None:
            name = self.selected if isinstance(self.selected, str) else ""
            private = neighbours == "add-remove"
            return Sentences(
                words.PROTECTED[neighbours],
                words.COUNTED_SOME if private else words.COUNTED_SHARE,
                words.counted_having(name, self.label),
            )
        if not self.excludes:
            return Sentences(words.PROTECTED[neighbours], words.COUNTED, "")
        return Sentences(
            words.PROTECTED[neighbours]
            + words.hidden(groups=False, public=False, answers=True, where=False),
            words.COUNTED_ANSWERS,
            words.left_out(answers=True, groups=False, where=None).strip(),
        )


def _counts(ladder: Ladder, cap: float | None) -> LevelCounts:
    """Build the mechanism that counts everyone in one cell, with noise for the lowest level.

    Counting the levels separately, each with its own noise, would not be more accurate.
    """
    lowest = Fraction(float(ladder.levels[0]))
    rate = rounded_down(lowest if cap is None else min(lowest, Fraction(cap)))
    return LevelCounts(ladder.levels, np.zeros(len(ladder.levels), dtype=np.int64), (rate,))
