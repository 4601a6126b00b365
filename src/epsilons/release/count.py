"""What was estimated: how many people there are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from epsilons.frozen import storable
from epsilons.loading import later
from epsilons.noise import DiscreteLaplace
from epsilons.release.every import Estimate
from epsilons.report import numbers
from epsilons.risk.assumptions import Assumption
from epsilons.risk.margins import Margin

if TYPE_CHECKING:
    from epsilons.release import said
    from epsilons.release.release import Release
    from epsilons.report import sheet
else:
    said = later("epsilons.release.said")
    sheet = later("epsilons.report.sheet")


@storable("release.Counting")
@dataclass(frozen=True)
class Counting(Margin):
    """The margin of a noisy number: nothing but its noise."""

    staked: ClassVar[bool] = False
    kind: ClassVar[str | None] = None

    def allows(self, assumption: Assumption) -> bool:
        """Whatever budgets say of values: a count looks at none. It is said once."""
        return assumption.anything


@storable("release.Count")
@dataclass(frozen=True, eq=False, kw_only=True)
class Count(Estimate):
    """How many people there are.

    Guarantee:
        The interval misses with a probability of at most 1 − confidence, for every number of
        people: the law of the noise is exact.

    Attributes:
        value: at least 0.
        raw: as it was drawn.
        law: of the noise.
        margin: which looks at nothing but the noise.
    """

    kind: ClassVar = "count"
    value: int
    raw: int
    law: DiscreteLaplace
    margin: Counting = Counting()

    unit: ClassVar[float] = 1.0

    def interval(self, assumption: Assumption, confidence: float) -> tuple[int, int]:  # noqa: ARG002
        """A range that holds the number of people with at least this probability."""
        reach = self.law.deviation(1.0 - confidence)
        return max(self.raw - reach, 0), max(self.raw + reach, 0)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error not exceeded with this probability."""
        low, high = self.interval(assumption, confidence)
        return float(max(self.value - low, high - self.value))

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As plain data."""
        low, high = self.interval(assumption, confidence)
        return {"value": self.value, "raw": self.raw, "interval": [low, high]}

    def table(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As columns: one row."""
        low, high = self.interval(assumption, confidence)
        return {"value": [self.value], "low": [low], "high": [high]}

    def says(self, release: Release) -> sheet.Sheet:
        """What a release of it says."""
        (row,) = self.rows(release.assumption, release.confidence)
        confidence = numbers.percent(release.confidence)
        shown = f"{row.value:,}", f"{row.low:,}", f"{row.high:,}"
        value, low, high = shown
        title = f"people, {confidence} interval"
        own = said.Own(
            f"About {value} people",
            lambda error: f"{numbers.number(error)} people",
            headline=f"Count: {value} people   ({confidence} interval {low} to {high})",
            claim=f"With {confidence} confidence between {low} and {high} people.",
            figures=said.one_number(row, (0.0, math.inf), title, shown, "number"),
        )
        return said.sheet_of(release, own)
