"""Releases of the local model: estimates from reports that were private before they came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from epsilons import parameters, report
from epsilons.budgets import Floats
from epsilons.release.base import Release
from epsilons.release.mean import bounds_words
from epsilons.report import local as words
from epsilons.risk.local import Sums
from epsilons.risk.reported import Reported, ReportedCells, ReportedVector

if TYPE_CHECKING:
    import altair


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalMeanRelease(Release):
    """A mean, or a share, from local reports.

    Attributes:
        bounds: the range of the values.
        sums: sums over people from which intervals come: of budgets and weights alone.
        slack: what the grid may add to an error, on a unit range.
    """

    value: float
    raw: float
    n: int
    bounds: tuple[float, float]
    sums: Sums
    slack: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A range that holds the true mean with at least this probability.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), cut to the bounds.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all populations on the range, the probability that it misses is at most
            1 − confidence: a Chernoff bound with the exact moment generating function of the
            Laplace part and Hoeffding's for what is bounded.
        """
        sure = parameters.confidence(confidence)
        return self.margin.interval(self.raw, self.bounds, self.assume, sure)

    def influence(self, lies: int) -> float:
        """How far dishonest reports can have moved the mean.

        Args:
            lies: how many of these reports are dishonest, from 0 to all of them.

        Returns:
            A proven bound on the distance between `raw` and the estimate from the other reports
            alone, in data units; ∞ if so many may have all the weight. It is reached
            where all of them claim the budget that weighs most, and say the same.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to n.
        """
        return self.margin.influence(lies, self.raw, self.bounds)

    @property
    def error_if_related(self) -> float:
        """The error not exceeded with `confidence` if budgets and values are related."""
        return self.margin.if_related(self.raw, self.value, self.bounds, self.confidence)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        mean = {"value": self.value, "raw": self.raw, "interval": [low, high]}
        more = {"bounds": list(self.bounds), "influence_of_one": self.influence(1)}
        return {**mean, **more, **super().to_dict()}

    @property
    def treats(self) -> str:
        """What became of values that do not fit, in words: of the call, never of the data."""
        return bounds_words(self.bounds, midpoint=False) if self.statistic == "mean" else ""

    def plot(self) -> altair.VConcatChart:
        """The value with its interval on the range, and who spent what.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return report.release_plot(self.to_dict())

    @property
    def margin(self) -> Reported:
        """How far the truth may be from `raw`."""
        return Reported(self.sums, self.slack, self.n)


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalVectorRelease(Release):
    """The mean of vectors in a ball, from local reports.

    Attributes:
        ball: the radius of the ball that holds all vectors.
        sums: sums over people from which intervals come, in the unit ball: of budgets and weights
            alone.
    """

    value: Floats
    raw: Floats
    n: int
    ball: float
    sums: Sums

    def radius(self, confidence: float = 0.95) -> float:
        """How far the true mean is from `raw` at most, in ℓ2, with at least this probability.

        Args:
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all populations in the ball. The square grows as d + ln(1/β), not as d·ln(1/β).
        """
        return self.margin.radius(parameters.confidence(confidence))

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """For each coordinate, a range that holds its mean with at least this probability.

        Each by itself: `radius` speaks of all coordinates at once.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays, cut to what the ball allows.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
        """
        return self.margin.intervals(self.raw, parameters.confidence(confidence))

    def influence(self, lies: int) -> float:
        """How far dishonest reports can have moved the mean vector.

        Args:
            lies: how many of these reports are dishonest, from 0 to all of them.

        Returns:
            A proven bound on the distance between `raw` and the estimate from the other reports
            alone, in ℓ2; ∞ if so many may have all the weight. It is reached
            where all of them claim the budget that weighs most, and say the same.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to n.
        """
        return self.margin.influence(lies, self.raw)

    @property
    def error_if_related(self) -> float:
        """The ℓ2 error not exceeded with `confidence` if budgets and values are related."""
        return self.margin.if_related(self.confidence)

    @property
    def margin(self) -> ReportedVector:
        """How far the true mean may be from `raw`."""
        return ReportedVector(self.sums, len(self.raw), self.ball, self.n)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        vector = {
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "ball": self.ball,
            "radius": self.radius(self.confidence),
            "influence_of_one": self.influence(1),
        }
        return {**vector, **super().to_dict()}

    @property
    def treats(self) -> str:
        """What became of vectors that do not fit, in words: of the call, never of the data."""
        return f"Vectors longer than {report.number(self.ball)} are shortened to that length."

    def plot(self) -> altair.LayerChart:
        """Each coordinate with its interval.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return words.vector_plot(self.to_dict())

    def __str__(self) -> str:
        return words.vector_text(self.to_dict())

    def _repr_html_(self) -> str:
        return words.vector_html(self.to_dict())


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalFrequencyRelease(Release):
    """Shares of categories from local reports.

    Attributes:
        categories: the labels, in the order of `value` and `raw`.
        sums: sums over people from which intervals come: of budgets and weights alone.
        middle: of what one report says of the share of a category.
    """

    value: Floats
    raw: Floats
    n: int
    categories: tuple[Any, ...]
    sums: Sums
    middle: float

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """For each category, a range that holds its share with at least this probability.

        Each by itself: use `band` to speak of all categories at once.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories, cut to [0, 1].

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
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
        """
        return self.margin.band(self.raw, self.assume, parameters.confidence(confidence))

    def influence(self, lies: int) -> float:
        """How far dishonest reports can have moved the share of any category.

        Args:
            lies: how many of these reports are dishonest, from 0 to all of them.

        Returns:
            A proven bound on the distance between `raw` and the estimate from the other reports
            alone, in the worst category; ∞ if so many may have all the weight. It is reached
            where all of them claim the budget that weighs most, and say the same.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to n.
        """
        return self.margin.influence(lies, self.raw)

    @property
    def error_if_related(self) -> float:
        """The error of the worst category if budgets and categories are related."""
        return self.margin.if_related(self.raw, self.confidence)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        band_low, band_high = self.band(self.confidence)
        shares = {
            "categories": list(self.categories),
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "band": [band_low.tolist(), band_high.tolist()],
            "error_at_once": self.margin.at_once(self.raw, self.assume, self.confidence),
            "influence_of_one": self.influence(1),
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
    def margin(self) -> ReportedCells:
        """How far the true shares may be from `raw`."""
        return ReportedCells(self.sums, len(self.categories), self.n, self.middle)
