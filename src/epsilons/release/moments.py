"""What was estimated of how values vary: a variance, or how two columns go together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from epsilons.frozen import storable
from epsilons.loading import later
from epsilons.release.estimate import Scalar
from epsilons.release.every import Estimate
from epsilons.report import numbers
from epsilons.risk.assumptions import Assumption
from epsilons.risk.estimated import Estimated
from epsilons.risk.soft import SoftMoments
from epsilons.risk.spread import Spread
from epsilons.types import Floats

if TYPE_CHECKING:
    from epsilons.release import said
    from epsilons.release.release import Release
    from epsilons.report import sheet
else:
    said = later("epsilons.release.said")
    sheet = later("epsilons.report.sheet")

Bounds = tuple[float, float]

_ENDLESS = "any"
"""Said of an end that is not known."""


@storable("release.Variance")
@dataclass(frozen=True, eq=False, kw_only=True)
class Variance(Scalar):
    """The variance of a column.

    Attributes:
        bounds: what a variance can be, on the range of the values.
        values: the range of the values.
    """

    values: Bounds

    @property
    def _values(self) -> Bounds:
        return self.values

    def spread(self, assumption: Assumption, confidence: float) -> Spread:
        """The standard deviation: the root of the variance, and of the ends of its interval."""
        low, high = self.interval(assumption, confidence)
        return Spread(self.value**0.5, low**0.5, high**0.5)

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As plain data."""
        return {**super().to_dict(assumption, confidence), "values": list(self.values)}


@storable("release.Pair")
@dataclass(frozen=True, eq=False, kw_only=True)
class Pair(Estimate):
    """The covariance of two columns, with all that goes with it.

    Attributes:
        value: the covariance, within what it can be.
        raw: the share of each of nine cells, as it was drawn.
        bounds: the range of the first column.
        beside: the range of the second.
        margin: how far the truth may be.
    """

    kind: ClassVar = "pair"
    value: float
    raw: Floats
    bounds: Bounds
    beside: Bounds
    margin: SoftMoments

    def __post_init__(self) -> None:
        self.raw.flags.writeable = False

    @property
    def _widths(self) -> tuple[float, float]:
        return self.bounds[1] - self.bounds[0], self.beside[1] - self.beside[0]

    @property
    def unit(self) -> float:
        """What a covariance of 1 on unit ranges is, in data units."""
        first, second = self._widths
        return first * second

    def interval(self, assumption: Assumption, confidence: float) -> Bounds:
        """A range that holds the covariance with at least this probability."""
        return self.margin.covariance(assumption, confidence).times(self.unit).interval

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error of the covariance not exceeded with this probability."""
        low, high = self.interval(assumption, confidence)
        return max(self.value - low, high - self.value)

    def slope(self, assumption: Assumption, confidence: float) -> Estimated:
        """By how much the second column rises with one of the first, by least squares.

        An endless range, where too little is known of how the first varies.
        """
        first, second = self._widths
        return self.margin.slope(assumption, confidence).times(second / first)

    def correlation(self, assumption: Assumption, confidence: float) -> Estimated:
        """From −1 to 1; that range where too little is known of how both vary."""
        return self.margin.correlation(assumption, confidence)

    def means(self, assumption: Assumption, confidence: float) -> tuple[Estimated, Estimated]:
        """The means of both columns."""
        found = []
        for i, (low, high) in enumerate((self.bounds, self.beside)):
            mean = self.margin.mean(i, assumption, confidence)
            found.append(Estimated(*(low + (high - low) * each for each in mean)))
        return found[0], found[1]

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As plain data."""
        low, high = self.interval(assumption, confidence)
        first, second = self.means(assumption, confidence)
        return {
            "value": self.value,
            "raw": self.raw.tolist(),
            "interval": [low, high],
            "bounds": list(self.bounds),
            "beside": list(self.beside),
            "slope": self.slope(assumption, confidence)._asdict(),
            "correlation": self.correlation(assumption, confidence)._asdict(),
            "means": [first._asdict(), second._asdict()],
        }

    def table(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As columns: a row for each number, each with its interval by itself."""
        low, high = self.interval(assumption, confidence)
        told = {
            "covariance": Estimated(self.value, low, high),
            "correlation": self.correlation(assumption, confidence),
            "slope": self.slope(assumption, confidence),
            **dict(zip(("mean", "mean_beside"), self.means(assumption, confidence), strict=True)),
        }
        value, low_, high_ = zip(*told.values(), strict=True)
        return {"number": list(told), "value": [*value], "low": [*low_], "high": [*high_]}

    def says(self, release: Release) -> sheet.Sheet:
        """What a release of it says."""
        told = release.assumption, release.confidence
        (row,) = self.rows(*told)
        correlation, (first, second) = self.correlation(*told), self.means(*told)
        confidence, wide = numbers.percent(release.confidence), row.high - row.low
        value, low, high = (numbers.aligned(each, wide) for each in (row.value, row.low, row.high))
        cells = (
            ("correlation", *_shown(correlation)),
            ("slope of the second column on the first", *_shown(self.slope(*told))),
            ("mean of the first column", *_shown(first)),
            ("mean of the second column", *_shown(second)),
        )
        heads = ("of both columns", "estimate", f"from ({confidence})", "to")
        table = sheet.Table("rows", heads, cells, "Each interval by itself.")
        ranges = [
            f"{numbers.number(a)} to {numbers.number(b)}" for a, b in (self.bounds, self.beside)
        ]
        # Widths of covariances go up to half of the product of both ranges.
        nothing = wide >= 0.999 * self.unit / 2.0
        drawn = sheet.Row("correlation", *correlation)
        title = f"correlation, {confidence} interval"
        own = said.Own(
            f"Covariance: {value}",
            numbers.number,
            headline=f"Covariance: {value}   ({confidence} interval {low} to {high})",
            claim=f"With {confidence} confidence between {low} and {high}.",
            first=[[], [table]],
            people=[said.people_fact(release), said.values_fact(" and from ".join(ranges))],
            nothing=[said.NOTHING] if nothing else [],
            figures=said.one_number(drawn, (-1.0, 1.0), title, cells[0][1:], "correlation"),
        )
        return said.sheet_of(release, own)


def _shown(found: Estimated) -> tuple[str, str, str]:
    """A number and its ends in words."""
    wide = found.high - found.low
    if math.isinf(wide):
        return numbers.number(found.value), _ENDLESS, _ENDLESS
    value, low, high = (numbers.aligned(each, wide) for each in found)
    return value, low, high
