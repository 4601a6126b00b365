"""The release of frequencies: a share for each category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilons import parameters, report
from epsilons.budgets import Floats
from epsilons.release.base import Mechanism, Release
from epsilons.risk.margins import CellsMargin, WeighedCells

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, eq=False, kw_only=True)
class FrequencyRelease(Release):
    """Published frequencies.

    Attributes:
        categories: the labels, in the order of `value` and `raw`.
        other: the category that caught what is missing or not declared; None if there was none.
    """

    value: Floats
    raw: Floats
    categories: tuple[Any, ...]
    other: Any = None

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """For each category, a range that holds its share with at least this probability.

        Each by itself: use `band` to speak of all categories at once.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories, cut to [0, 1].

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, each interval misses with a probability of at
            most 1 − confidence.
        """
        return self.margin.intervals(self.raw, self.assume, parameters.confidence(confidence))

    def band(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Ranges that hold all shares at once with at least this probability.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories, cut to [0, 1].

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, the probability that any of them misses is at
            most 1 − confidence.
        """
        return self.margin.band(self.raw, self.assume, parameters.confidence(confidence))

    @property
    def error_at_once(self) -> float:
        """The error of the worst category that is not exceeded with `confidence`."""
        return self.margin.at_once(self.raw, self.assume, self.confidence)

    @property
    def error_if_related(self) -> float:
        """The error of the worst category, not exceeded with `confidence`, if budgets tell values.

        It speaks of these very people, whatever else was assumed.
        """
        return self.margin.if_related(self.raw, self.confidence)

    @property
    def treats(self) -> str:
        """What became of values that do not fit, in words: of the call, never of the data."""
        if self.other is not None:
            return f"Missing and undeclared values count as {self.other!r}."
        if self.neighbours == "add-remove":
            return "Missing and undeclared values are in no category."
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        band_low, band_high = self.band(self.confidence)
        shares = {
            "categories": [list(c) if isinstance(c, tuple) else c for c in self.categories],
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "band": [band_low.tolist(), band_high.tolist()],
            "error_at_once": self.error_at_once,
        }
        return {**shares, **super().to_dict()}

    def plot(self) -> altair.VConcatChart:
        """Bars with error whiskers, and who spent what.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return report.frequencies_plot(self.to_dict())

    def __str__(self) -> str:
        return report.frequencies_text(self.to_dict())

    def _repr_html_(self) -> str:
        return report.frequencies_html(self.to_dict())

    @property
    def margin(self) -> CellsMargin:
        """How far the true shares may be from `raw`."""
        mechanism: Mechanism = self.mechanism
        return WeighedCells(mechanism.weighing, mechanism.slack, len(self.categories))
