"""What every estimate can tell, whatever it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from epsilons.errors import KindError
from epsilons.loading import later
from epsilons.risk.assumptions import Assumption

if TYPE_CHECKING:
    from epsilons.report import sheet
else:
    sheet = later("epsilons.report.sheet")

__all__ = ["Estimate", "Reportable"]


class Estimate:
    """What every estimate has.

    Attributes:
        in_percent: whether its numbers are shares of people.
        each: what one of its numbers is of, and several.
    """

    value: Any
    in_percent: ClassVar[bool] = False
    each: ClassVar[tuple[str, str]] = ("category", "categories")

    @property
    def names(self) -> tuple[str, ...]:
        """What its numbers are of; one "" if there is one."""
        return ("",)

    def interval(self, assumption: Assumption, confidence: float) -> tuple[Any, Any]:
        """A range that holds the truth with at least this probability: of each by itself."""
        raise NotImplementedError

    def rows(self, assumption: Assumption, confidence: float) -> tuple[sheet.Row, ...]:
        """Each of its numbers with its name and its interval."""
        numbers = (self.value, *self.interval(assumption, confidence))
        return tuple(
            map(sheet.Row, self.names, *(np.atleast_1d(each).tolist() for each in numbers))
        )

    def known_as(self, confidence: str) -> str:  # noqa: ARG002
        """What its `error` is called, if a word of its own is needed.

        Args:
            confidence: of it, in words.
        """
        return ""

    def influence(self, lies: int) -> float:  # noqa: ARG002
        """How far dishonest reports can have moved it.

        Raises:
            KindError: nobody sent reports.
        """
        raise KindError(
            "influence is for the local model: with a trusted curator nobody sends reports."
        )

    def found(self) -> dict[str, float]:
        """What was found beside it, as plain data: nothing."""
        return {}


class Reportable(Estimate):
    """An estimate that the local model has, too: then its margin knows what reports can do."""

    margin: Any
    raw: Any

    def influence(self, lies: int) -> float:
        """How far dishonest reports can have moved it: one number, any of several, or in ℓ2."""
        if not self._has_reports:
            return super().influence(lies)
        return float(self.margin.influence(lies, *self._place))

    @property
    def _has_reports(self) -> bool:
        return hasattr(self.margin, "influence")

    @property
    def _place(self) -> tuple[Any, ...]:
        """Where it is: what can move it at most depends on it."""
        return (self.raw,)

    def _influence_of_one(self) -> dict[str, float]:
        """How far one dishonest report can move it, as plain data, where there are reports."""
        return {"influence_of_one": self.influence(1)} if self._has_reports else {}
