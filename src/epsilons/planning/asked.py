"""What every plan knows of what was asked, and can tell."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from epsilons import door
from epsilons.questions import Question
from epsilons.results.report.shown import Shown

__all__ = ["Asked", "Forecasts"]


class Forecasts(Shown):
    """A plan: it has a row for each thing that it forecasts."""

    @abstractmethod
    def _rows(self) -> Sequence[Mapping[str, Any]]:
        """What is forecast, as plain data, each with the same names."""

    def to_frame(self) -> Any:
        """A Polars frame: a row for each thing that is forecast.

        Returns:
            The numbers and words of each, by the names that `to_dict` has for them: methods of a
            mean or of shares, kinds of local reports, sizes of groups, or several questions. A
            number that cannot be forecast is NaN. Who would spend what is not in it.
        """
        rows = self._rows()
        names = [name for name, each in rows[0].items() if not isinstance(each, list)]
        return door.frame({name: _column([row[name] for row in rows]) for name in names})


def _column(entries: list[Any]) -> list[Any]:
    """Entries of one type: what is not known is NaN among numbers, and "" among words."""
    nothing = "" if any(isinstance(each, str) for each in entries) else math.nan
    return [nothing if each is None else each for each in entries]


class Asked(Forecasts):
    """A plan of a question: what is assumed of the data, and which error is to be small."""

    question: Question

    @property
    def loss(self) -> str:
        """Which error is minimized."""
        return self.question.loss

    @property
    def confidence(self) -> float:
        """Of the PAC error."""
        return self.question.confidence
