"""Base classes of plans."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from epsilons import door
from epsilons.budgets.levels import Budgets
from epsilons.planning.trial import Trial
from epsilons.questions.question import Question
from epsilons.results import report
from epsilons.results.release.verdict import ReleaseVerdict
from epsilons.results.report.shown import Shown
from epsilons.risk.weighing import Assumption
from epsilons.types import Frame

__all__ = ["Forecasts", "QuestionPlan"]


class Forecasts(Shown):
    """A plan: a list of forecasts, which can be read as a table."""

    @property
    @abstractmethod
    def verdict(self) -> ReleaseVerdict:
        """The verdict on the planned result: precision, gain from personal budgets, and advice."""

    @abstractmethod
    def _rows(self) -> Sequence[Mapping[str, Any]]:
        """The forecasts as plain data, all with the same keys."""

    def to_frame(self) -> Frame:
        """The forecasts as a Polars frame.

        Returns:
            A row for each method of a mean or of shares, for each kind of local report, for each
            size of a group, or for each of several questions. `name` says which. `value` is the
            typical error or, if that is not forecast, the half-width of an interval. A forecast has
            no interval, so `low` and `high` are NaN. Further columns are named as in `to_dict`. A
            number that cannot be forecast is NaN. Spending is not included.
        """
        rows = self._rows()
        first, *_ = rows[0]
        names = [name for name, each in rows[0].items() if not isinstance(each, list)]
        errors = _column([row.get("rmse", row.get("half_width")) for row in rows])
        return door.numbers_frame(
            [
                (str(row[first]), error, math.nan, math.nan)
                for row, error in zip(rows, errors, strict=True)
            ],
            {name: _column([row[name] for row in rows]) for name in names if name != "name"},
        )


def _column(entries: list[Any]) -> list[Any]:
    """A column of one type: None becomes NaN among numbers, and "" among text."""
    nothing = "" if any(isinstance(each, str) for each in entries) else math.nan
    return [nothing if each is None else each for each in entries]


class QuestionPlan(Forecasts):
    """Base class of the plans of one question."""

    question: Question
    budgets: Budgets
    neighbours: str
    cap: float | None

    @cached_property
    def trial(self) -> Trial:
        """The question with the budgets, the neighbouring relation and the cap."""
        return Trial(self.question, self.budgets, self.neighbours, self.cap)

    @property
    def assumption(self) -> Assumption:
        """The assumption about the data."""
        return self.question.assumption

    @property
    def loss(self) -> str:
        """The error that is minimized: "mse", "pac" or "largest"."""
        return self.question.loss

    @property
    def confidence(self) -> float:
        """The confidence of the PAC error."""
        return self.question.confidence

    @property
    def warnings(self) -> list[str]:
        """Warnings that a reader must not overlook."""
        return [
            *report.weak_budgets(self.budgets.levels.tolist()),
            *report.few_at_each(self.assumption.related, self.budgets.counts.tolist()),
        ]
