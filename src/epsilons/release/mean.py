"""The release of a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilons import parameters, report
from epsilons.release.base import Mechanism, Release
from epsilons.risk.margins import ScalarMargin, Weighed

if TYPE_CHECKING:
    import altair


def bounds_words(bounds: tuple[float, float], *, midpoint: bool) -> str:
    """What values outside of the bounds count as and, if any are accepted, missing values."""
    lo, hi = bounds
    words = f"Values outside {report.number(lo)} to {report.number(hi)} count as the nearest bound"
    if midpoint:
        middle = report.number(lo / 2.0 + hi / 2.0)
        words += f"; missing values count as {middle}, the middle, unless the person has others"
    return words + "."


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanRelease(Release):
    """A published mean.

    Attributes:
        bounds: the range of the values.
    """

    value: float
    raw: float
    bounds: tuple[float, float]

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A range that holds the true mean with at least this probability.

        It comes from budgets and public facts alone, never from the spread of the data.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), cut to the bounds.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, the probability that the interval misses is at
            most 1 − confidence. It is exact for correlated data if everyone is surely used, and
            otherwise a proven bound.
        """
        sure = parameters.confidence(confidence)
        return self.margin.interval(self.raw, self.bounds, self.assume, sure)

    @property
    def error_if_related(self) -> float:
        """The error not exceeded with `confidence` if budgets and values are related.

        It speaks of the mean of these very people, whatever else was assumed.
        """
        return self.margin.if_related(self.raw, self.value, self.bounds, self.confidence)

    @property
    def treats(self) -> str:
        """What became of values that do not fit, in words: of the call, never of the data."""
        return bounds_words(self.bounds, midpoint=self.missing == "midpoint")

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        mean = {"value": self.value, "raw": self.raw, "interval": [low, high]}
        return {**mean, "bounds": list(self.bounds), **super().to_dict()}

    def plot(self) -> altair.VConcatChart:
        """The value with its interval on the range, and who spent what.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return report.release_plot(self.to_dict())

    @property
    def margin(self) -> ScalarMargin:
        """How far the truth may be from `raw`."""
        mechanism: Mechanism = self.mechanism
        return Weighed(mechanism.weighing, mechanism.slack)
