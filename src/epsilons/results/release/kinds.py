"""More kinds of estimates: variances, covariances, and numbers of people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from epsilons.draws.noise import DiscreteLaplace
from epsilons.frozen import remembered, storable
from epsilons.loading import later
from epsilons.results.release.estimate import Estimate, Scalar
from epsilons.results.report import numbers
from epsilons.results.report.phrases import short
from epsilons.risk import margins
from epsilons.risk.margins import Estimated, Margin
from epsilons.risk.means.spread import Spread
from epsilons.risk.moments.margins import SoftMoments
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats

if TYPE_CHECKING:
    from epsilons.results.release import said, verdict
    from epsilons.results.release.release import Release
    from epsilons.results.report import sheet
else:
    said = later("epsilons.results.release.said")
    verdict = later("epsilons.results.release.verdict")
    sheet = later("epsilons.results.report.sheet")


# Variances and covariances.

Bounds = tuple[float, float]

_ENDLESS = "any"
"""The text for an infinite end of an interval."""


@storable("release.Variance")
@dataclass(frozen=True, eq=False, kw_only=True)
class VarianceEstimate(Scalar):
    """The variance of a column.

    Attributes:
        bounds: the possible range of a variance, given the range of the values.
        values: the range of the values.
    """

    whole: ClassVar[str] = "the largest standard deviation, for its root"
    phrase: ClassVar[str] = "the standard deviation{of} (a typical distance from the average)"
    values: Bounds

    @property
    def _values(self) -> Bounds:
        return self.values

    def spread(self, assumption: Assumption, confidence: float) -> Spread:
        """The standard deviation: the roots of the variance and of both ends of its interval."""
        low, high = self.interval(assumption, confidence)
        return Spread(self.value**0.5, low**0.5, high**0.5)

    def precisions(self, assumption: Assumption, confidence: float) -> list[verdict.Precision]:
        """The precision of the standard deviation, relative to its largest possible value."""
        largest = (self.values[1] - self.values[0]) / 2.0
        low, high = self.reopened(self.interval(assumption, confidence))
        root = verdict.precision_of(self.value**0.5, low**0.5, high**0.5, (0.0, largest))
        return [root._replace(half=(high - low) / 2.0)]

    def quoted(self, release: Release) -> list[sheet.Row]:
        """The number that a statement about the release quotes: the standard deviation."""
        found = self.spread(release.assumption, release.confidence)
        return [sheet.Row("", *found, release.rows[0].informative)]

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        return {**super().to_dict(assumption, confidence), "values": list(self.values)}


@storable("release.Total")
@dataclass(frozen=True, eq=False, kw_only=True)
class TotalEstimate(Scalar):
    """The sum of everyone's values.

    Attributes:
        bounds: the possible range of the sum: the number of people times the range of one value. If
            participation is private, the number of people is a noisy count.
        values: the range of one person's value.
    """

    whole: ClassVar[str] = "the number"
    phrase: ClassVar[str] = "the total{of}"
    remedy: ClassVar[str] = "larger budgets for the strictest people"
    adds: ClassVar[bool] = True
    values: Bounds

    @property
    def _values(self) -> Bounds:
        return self.values

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        return {**super().to_dict(assumption, confidence), "values": list(self.values)}


@storable("release.Pair")
@dataclass(frozen=True, eq=False, kw_only=True)
class Pair(Estimate):
    """The covariance of two columns, with their slope, correlation and means.

    Attributes:
        value: the covariance, clipped to its possible range.
        raw: the drawn shares of the nine (3 × 3) cells among which each pair of values is divided.
        bounds: the range of the first column.
        beside: the range of the second column.
        margin: the margin of error.
        columns: the names of both columns; empty for arrays.
    """

    kind: ClassVar = "pair"
    whole: ClassVar[str] = "what a correlation can be"
    value: float
    raw: Floats
    bounds: Bounds
    beside: Bounds
    margin: SoftMoments
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.raw.flags.writeable = False

    @property
    def _widths(self) -> tuple[float, float]:
        return self.bounds[1] - self.bounds[0], self.beside[1] - self.beside[0]

    @property
    def unit(self) -> float:
        """The factor that converts a covariance on unit ranges to data units."""
        first, second = self._widths
        return first * second

    @property
    def limits(self) -> Bounds:
        """The possible range of a covariance: ± a quarter of the product of both widths."""
        return -self.unit / 4.0, self.unit / 4.0

    def precisions(self, assumption: Assumption, confidence: float) -> list[verdict.Precision]:
        """The precision of the correlation, because a covariance has no natural scale."""
        correlation = self.correlation(assumption, confidence)
        found = verdict.precision_of(*correlation, (-1.0, 1.0))
        low, high = self.reopened(self.interval(assumption, confidence))
        return [found._replace(half=(high - low) / 2.0)]

    @property
    def unclipped(self) -> float:
        """The covariance before it was clipped to its possible range."""
        return self.margin.raw_covariance * self.unit

    @cached_property
    def drawn_outside(self) -> bool:
        """Whether the covariance or a mean was drawn outside its range."""
        means = (self.margin.raw_mean(i) for i in (0, 1))
        return any(not 0.0 <= mean <= 1.0 for mean in means) or super().drawn_outside

    @remembered
    def interval(self, assumption: Assumption, confidence: float) -> Bounds:
        """A confidence interval for the covariance, with at least this confidence."""
        return self.kept(self.margin.covariance(assumption, confidence).times(self.unit).interval)

    @remembered
    def slope(self, assumption: Assumption, confidence: float) -> Estimated:
        """The least-squares slope of the second column on the first.

        Its interval is infinite if too little is known about the variance of the first column.
        """
        first, second = self._widths
        return self.margin.slope(assumption, confidence).times(second / first)

    @remembered
    def correlation(self, assumption: Assumption, confidence: float) -> Estimated:
        """The correlation; its interval is [−1, 1] if too little is known about the variances."""
        return self.margin.correlation(assumption, confidence)

    @remembered
    def means(self, assumption: Assumption, confidence: float) -> tuple[Estimated, Estimated]:
        """The means of both columns."""
        found = []
        for i, (low, high) in enumerate((self.bounds, self.beside)):
            mean = self.margin.mean(i, assumption, confidence)
            ends = margins.reopened(mean.interval, self.margin.raw_mean(i), (0.0, 1.0))
            found.append(Estimated(*(low + (high - low) * at for at in (mean.value, *ends))))
        return found[0], found[1]

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        low, high = self.interval(assumption, confidence)
        first, second = self.means(assumption, confidence)
        return {
            "value": self.value,
            "raw": self.raw.tolist(),
            "interval": [low, high],
            "bounds": list(self.bounds),
            "beside": list(self.beside),
            **({"columns": list(self.columns)} if self.columns else {}),
            "slope": self.slope(assumption, confidence)._asdict(),
            "correlation": self.correlation(assumption, confidence)._asdict(),
            "means": [first._asdict(), second._asdict()],
        }

    def listed(self, assumption: Assumption, confidence: float) -> tuple[sheet.Row, ...]:
        """Covariance, correlation, slope and both means, each with its own interval."""
        [found] = self.precisions(assumption, confidence)
        known, slope = found.worth != "useless", self.slope(assumption, confidence)
        means = zip(
            ("mean of x", "mean of y"),
            self.means(assumption, confidence),
            self._known_means(assumption, confidence),
            strict=True,
        )
        own = Estimated(self.value, *self.interval(assumption, confidence))
        endless = math.isinf(slope.high - slope.low)
        return (
            sheet.Row("covariance", *own, known),
            sheet.Row("correlation", *self.correlation(assumption, confidence), known),
            sheet.Row("slope", *slope, known and not endless),
            *(sheet.Row(name, *mean, known) for name, mean, known in means),
        )

    def _known_means(self, assumption: Assumption, confidence: float) -> list[bool]:
        """Whether the mean of each column is informative."""
        means = self.means(assumption, confidence)
        return [
            verdict.precision_of(*mean, bounds).worth != "useless"
            for mean, bounds in zip(means, (self.bounds, self.beside), strict=True)
        ]

    def what(self, release: Release, of: str) -> str:  # noqa: ARG002
        """The phrase with which a statement names the correlation."""
        pair = f"{of} with a second one" if of else " of two measurements"
        if of and self.columns:
            first, second = map(short, self.columns)
            pair = f' of "{first}" with "{second}"'
        return f"the correlation{pair} (from −1 to 1; 0 is no linear relation)"

    def quoted(self, release: Release) -> list[sheet.Row]:
        """The number that a statement about the release quotes: the correlation."""
        found = self.correlation(release.assumption, release.confidence)
        return [sheet.Row("", *found, release.rows[0].informative)]

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        told = release.assumption, release.confidence
        (row,) = self.rows(*told)
        correlation, (first, second) = self.correlation(*told), self.means(*told)
        means = self._known_means(*told)
        confidence, wide = numbers.percent(release.confidence), row.high - row.low
        value, low, high = (numbers.aligned(each, wide) for each in (row.value, row.low, row.high))
        [found] = self.precisions(*told)
        known = found.worth != "useless"
        shown = value if known else said.DASH
        x, y = (
            map(short, self.columns) if self.columns else ("the first column", "the second column")
        )
        on = x if self.columns else "the first"
        cells = (
            ("correlation", *_shown(correlation, known=known)),
            (f"slope of {y} on {on}", *_shown(self.slope(*told), known=known)),
            (f"mean of {x}", *_shown(first, known=means[0])),
            (f"mean of {y}", *_shown(second, known=means[1])),
        )
        heads = ("of both columns", "estimate", f"from ({confidence})", "to")
        table = sheet.SheetTable("rows", heads, cells, "Each interval holds separately.")
        ranges = [
            f"{numbers.number(a)} to {numbers.number(b)}" for a, b in (self.bounds, self.beside)
        ]
        drawn = sheet.Row("correlation", *correlation, informative=known)
        title = f"correlation, {confidence} interval"
        own = said.Own(
            f"Covariance: {shown}",
            numbers.number,
            headline=f"Covariance: {shown}   ({confidence} interval {low} to {high})",
            claim=f"With {confidence} confidence between {low} and {high}.",
            first=[[], [table]],
            people=[said.people_fact(release), said.values_fact(" and from ".join(ranges))],
            nothing=[] if known else [said.NOTHING],
            figures=said.one_number(drawn, (-1.0, 1.0), title, cells[0][1:], "correlation"),
        )
        return said.sheet_of(release, own)


def _shown(found: Estimated, *, known: bool) -> tuple[str, str, str]:
    """A number and the ends of its interval as text; a dash for an uninformative number."""
    wide = found.high - found.low
    if math.isinf(wide):
        return said.DASH, _ENDLESS, _ENDLESS
    value, low, high = (numbers.aligned(each, wide) for each in found)
    return value if known else said.DASH, low, high


# Numbers of people.


@storable("release.Counting")
@dataclass(frozen=True)
class Counting(Margin):
    """The margin of a noisy count: its only error is the noise."""

    staked: ClassVar[bool] = False
    kind: ClassVar[str | None] = None

    def allows(self, assumption: Assumption) -> bool:
        """Whether to show this assumption: only the weakest, because a count uses no values."""
        return assumption.anything


@storable("release.Count")
@dataclass(frozen=True, eq=False, kw_only=True)
class CountEstimate(Estimate):
    """The number of people.

    Guarantee:
        The interval misses with probability at most 1 − confidence, for every number of people,
        because the distribution of the noise is known exactly.

    Attributes:
        value: the number of people, at least 0.
        raw: the drawn number, which can be negative.
        law: the distribution of the noise.
        margin: the margin of error, which depends only on the noise.
    """

    kind: ClassVar = "count"
    whole: ClassVar[str] = "the number"
    among: ClassVar[bool] = False
    value: int
    raw: int
    law: DiscreteLaplace
    margin: Counting = Counting()

    unit: ClassVar[float] = 1.0
    limits: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def interval(self, assumption: Assumption, confidence: float) -> tuple[int, int]:  # noqa: ARG002
        """An interval for the number of people."""
        reach = self.law.deviation(1.0 - confidence)
        low, high = self.kept((max(self.raw - reach, 0), max(self.raw + reach, 0)))
        return int(low), int(high)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error, at this confidence."""
        return float(super().error(assumption, confidence))

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        low, high = self.interval(assumption, confidence)
        return {"value": self.value, "raw": self.raw, "interval": [low, high]}

    def what(self, release: Release, of: str) -> str:  # noqa: ARG002
        """The phrase that names the number of people."""
        return "the number of people" + " who answered" * (release.missing == "exclude")

    def told(self, release: Release, row: sheet.Row) -> tuple[str, ...]:  # noqa: ARG002
        """The number and the ends of its interval, as text."""
        return tuple(f"{one:,}" for one in (row.value, row.low, row.high))

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        return _people_sheet(self, release, ())


@storable("release.CountOfSome")
@dataclass(frozen=True, eq=False, kw_only=True)
class SomeEstimate(Scalar):
    """The number of people in a category, among a public number of people.

    Attributes:
        value: the number, an integer from 0 to the number of people.
        raw: the drawn number, rounded to an integer.
        bounds: 0 and the number of people.
    """

    whole: ClassVar[str] = "the number"
    remedy: ClassVar[str] = "larger budgets for the strictest people"
    adds: ClassVar[bool] = True
    value: int
    raw: int

    def interval(self, assumption: Assumption, confidence: float) -> tuple[int, int]:
        """An interval for the number of people, which is an integer."""
        low, high = super().interval(assumption, confidence)
        return math.ceil(low), math.floor(high)

    def what(self, release: Release, of: str) -> str:  # noqa: ARG002
        """The phrase that names the number of people."""
        return "the number of people"

    def told(self, release: Release, row: sheet.Row) -> tuple[str, ...]:  # noqa: ARG002
        """The number and the ends of its interval, as text."""
        return tuple(f"{one:,}" for one in (row.value, row.low, row.high))

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        return _people_sheet(self, release, [said.people_fact(release)])


def _people_sheet(
    estimate: CountEstimate | SomeEstimate, release: Release, people: Sequence[sheet.Fact]
) -> sheet.Sheet:
    """The report sheet of a number of people."""
    (row,) = estimate.rows(release.assumption, release.confidence)
    confidence = numbers.percent(release.confidence)
    shown = f"{row.value:,}" if row.informative else said.DASH, f"{row.low:,}", f"{row.high:,}"
    value, low, high = shown
    title = f"people, {confidence} interval"
    count = f"Count: {value} people" if row.informative else f"Count: {value}"
    own = said.Own(
        f"About {value} people" if row.informative else count,
        lambda error: f"{numbers.number(error)} people",
        headline=f"{count}   ({confidence} interval {low} to {high})",
        claim=f"With {confidence} confidence between {low} and {high} people.",
        people=people,
        figures=said.one_number(row, estimate.limits, title, shown, "number"),
    )
    return said.sheet_of(release, own)
