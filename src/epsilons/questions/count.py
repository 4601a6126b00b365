"""The number of people, if participation is private."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from epsilons import door, parameters, words
from epsilons.budgets.levels import Ladder, float_up
from epsilons.draws.mechanisms import LevelCounts
from epsilons.draws.mechanisms.add_remove import rounded_down
from epsilons.errors import ArgumentError
from epsilons.questions.question import Answer, Call, Draw, Question, Sentences, Steps
from epsilons.results.release import ByLevel
from epsilons.results.release.kinds import CountEstimate as Counted
from epsilons.types import Column, LossOfOne, Missing

__all__ = ["Count"]

_METHOD = "together"


@dataclass(frozen=True, eq=False)
class Count(Question):
    """The number of people under add/remove: see `epsilons.count`.

    Attributes:
        values: any column of numbers. All rows are counted, or with missing="exclude" only people
            with a value in this column. None for the column of budgets.

    Raises:
        ArgumentError: an argument is invalid.
    """

    statistic: ClassVar[str] = "count"
    KIND: ClassVar[str] = "Count"
    describes: ClassVar[str] = "how many people {file} has, if their presence is private"
    every_method: ClassVar[tuple[str, ...]] = (_METHOD,)

    NOT_TAKEN: ClassVar[Mapping[str, str]] = {
        "about": "about={} is invalid for a count, which is about exactly these people. Leave "
        "about out.",
        "related": "related={} means nothing for a count: everyone counts as one, whatever their "
        "budget. Leave related out.",
        "method": "method={} is not known: there is one method for a count. Leave method out.",
        "unit": "unit: a count is of people. Leave it out, and put it in title.",
    }

    values: Column | None = field(default=None, repr=False)
    _: KW_ONLY
    loss: LossOfOne = "mse"
    confidence: float = 0.95
    missing: Missing | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.loss_of_a_mean(self.loss)
        if self.excludes and self.values is None:
            raise ArgumentError(
                'missing="exclude" counts those who have a value: name the column, or give an '
                "array, as values."
            )

    def methods(self, neighbours: str) -> Collection[str]:  # noqa: ARG002
        """The names that `method` can have besides "auto"."""
        return (_METHOD,)

    def check(self, neighbours: str) -> None:
        """Reject a count under replace, where participation is public."""
        super().check(neighbours)
        if neighbours == "replace":
            raise ArgumentError(
                'neighbours="replace" makes the number of people public: count them directly, '
                'without noise. If who takes part is private, write neighbours="add-remove".'
            )

    def policy(self, neighbours: str) -> str:  # noqa: ARG002
        """Return how missing values are treated: counted like any other value, unless excluded."""
        return "exclude" if self.excludes else "midpoint"

    def look(self, call: Call) -> door.Look:
        """Inspect the rows as numbers."""
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
        if call.terms.ladder.fine:
            raise ArgumentError(
                "levels: a count needs the budgets that people were offered, such as "
                "levels=[0.1, 1]: its noise must hide anyone who has the lowest of them."
            )

    def open(self, call: Call) -> door.Rows:
        """Open the rows; only the number of people matters, not their values."""
        given = {**call.given, "missing": self.policy(call.neighbours), "ladder": call.ladder}
        return door.open(self._column(call), **given)

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return what to count: everyone at each level, or three cells of people with a value."""
        return door.Ask("squares" if self.excludes else "numbers", (0.0, 1.0))

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Yield one count of everyone, with enough noise for a person at the lowest level."""
        mechanism = _counts(call.terms.ladder, call.terms.cap)
        counted = call.part(rows.count(self.asks(call)))
        (drawn,) = yield Draw(mechanism, mechanism.total(counted))
        law = mechanism.laws[0]
        spent = np.array([float_up(each) for each in mechanism.losses])
        estimate = Counted(value=max(drawn, 0), raw=drawn, law=law)
        risk = law.variance if self.loss == "mse" else float(law.deviation(1.0 - self.confidence))
        return Answer(
            estimate=estimate,
            method=_METHOD,
            n=max(drawn, 0),
            n_is_noisy=True,
            risk=risk,
            exact=True,
            spent=ByLevel(mechanism.levels, spent, None),
        )

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """Return the sentences of the release."""
        if not self.excludes:
            return Sentences(words.protected(neighbours), words.COUNTED, "")
        return Sentences(
            words.protected(neighbours)
            + words.hidden(groups=False, public=False, answers=True, where=False),
            words.COUNTED_ANSWERS,
            words.left_out(answers=True, groups=False, where=None).strip(),
        )


def _counts(ladder: Ladder, cap: float | None) -> LevelCounts:
    """Count all levels in one cell, with the noise of the lowest level: no count has less noise."""
    lowest = Fraction(float(ladder.levels[0]))
    rate = rounded_down(lowest if cap is None else min(lowest, Fraction(cap)))
    return LevelCounts(ladder.levels, np.zeros(len(ladder.levels), dtype=np.int64), (rate,))
