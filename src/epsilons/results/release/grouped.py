"""Estimates of means by group: the mean and share of each group, and comparisons of two groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.frozen import remembered, storable
from epsilons.listed import shown
from epsilons.loading import later
from epsilons.results.release.estimate import Estimate, labelled, plain
from epsilons.results.report import numbers
from epsilons.risk import margins
from epsilons.risk.margins import Bracketed, Margin
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats

if TYPE_CHECKING:
    from epsilons.results.release import comparing, said
    from epsilons.results.release.comparing import Compared
    from epsilons.results.release.release import Release
    from epsilons.results.report import sheet
else:
    comparing = later("epsilons.results.release.comparing")
    said = later("epsilons.results.release.said")
    sheet = later("epsilons.results.report.sheet")

__all__ = ["Groups", "GroupsMargin", "Shares"]

Bounds = tuple[float, float]

_PRINTED: Final = 20
"""The maximum number of printed groups, which are the groups with the largest shares."""

_NEARLY: Final = 0.8
"""An interval at least this wide, relative to the range of values, is reported as uninformative."""

_SAYS_NOTHING: Final = "A comparison whose interval covers everything possible says nothing."


class Shares(Bracketed[Any]):
    """The share of people in a subset, with its interval: numbers, or arrays for several groups."""

    __slots__ = ()


class GroupsMargin(Margin, Protocol):
    """The margin of error of means by group."""

    @property
    def drawn(self) -> Floats:
        """The drawn (noisy) numbers."""

    def unclipped(self, bounds: Bounds) -> Floats:
        """The mean of each group before it was clipped to the bounds."""

    def means(self, bounds: Bounds) -> Floats:
        """The mean of each group, within the bounds."""

    def within(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Floats:
        """The mean of each group, adjusted if necessary to be inside its own interval."""

    def shrunk(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Floats:
        """The mean of each group, shrunk toward the mean of all groups, inside its own interval."""

    def intervals(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """A separate interval for the mean of each group."""

    def band(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Simultaneous intervals for the means of all groups."""

    def difference(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """An interval for the mean of one group minus the mean of another."""

    def ratio(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """An interval for the mean of one group divided by the mean of another."""

    def jointly(self, assumption: Assumption, confidence: float) -> bool:
        """Whether a joint test compares each pair; otherwise intervals follow from the band."""

    def combination(
        self, weights: Floats, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """An interval for the sum of the means, each times a weight."""

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, and the ends of its interval."""


@storable("release.Groups")
@dataclass(frozen=True, eq=False, kw_only=True)
class Groups(Estimate):
    """The mean of each group, and its share of all people.

    Attributes:
        labels: the labels of the groups, in the declared order; pairs of labels for two columns.
        bounds: the range of the values.
        margin: the drawn numbers, and the margin of error.
        by: the name of each column of groups; None for an array.
        public: whether group membership is public.
        outside: whether some people may be in none of the groups. Shares are relative to all
            people, including these.
        compared: pairs of groups; their differences and ratios are shown with the means.
        published: the published means, within the bounds; None if they are `margin.means`.
        shrunk: whether the published means are shrunk toward the mean of all groups. Intervals and
            comparisons are computed without shrinkage.
    """

    kind: ClassVar = "groups"
    remedy: ClassVar[str] = "fewer or larger groups, more people, or larger budgets"
    each: ClassVar[tuple[str, str]] = ("group", "groups")
    known_as: ClassVar[str] = "half of a {confidence} interval, median over groups"
    labels: tuple[Any, ...]
    bounds: Bounds
    margin: GroupsMargin
    by: tuple[str | None, ...] = (None,)
    public: bool = False
    outside: bool = False
    compared: tuple[tuple[Any, Any], ...] = ()
    published: tuple[float, ...] | None = None
    shrunk: bool = False

    def __post_init__(self) -> None:
        for first, second in self.compared:
            self._places(first, second)

    @cached_property
    def value(self) -> Floats:
        """The mean of each group, within the bounds; unknown means are the middle of the range."""
        means = self.margin.means(self.bounds)
        if self.published is not None:
            means = np.array(self.published, dtype=np.float64)
        means.flags.writeable = False
        return means

    @property
    def keys(self) -> tuple[Any, ...]:
        """The labels of the groups."""
        return self.labels

    @property
    def compared_by(self) -> Floats:
        """The means that comparisons use, without shrinkage."""
        return self.margin.means(self.bounds) if self.shrunk else self.value

    @cached_property
    def raw(self) -> Floats:
        """The drawn numbers: shares of cells or, if groups are public, means of groups."""
        return self.margin.drawn

    @property
    def unclipped(self) -> Floats:
        """The mean of each group before it was clipped to the bounds."""
        return self.margin.unclipped(self.bounds)

    @property
    def limits(self) -> Bounds:
        """The range of the values."""
        return self.bounds

    @remembered
    def interval(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """A separate interval for the mean of each group."""
        return self.kept(self.margin.intervals(self.bounds, assumption, confidence))

    @remembered
    def band(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Simultaneous intervals for the means of all groups."""
        return self.kept(self.margin.band(self.bounds, assumption, confidence))

    def what(self, release: Release, of: str) -> str:  # noqa: ARG002
        """The phrase that names the means."""
        return f"the averages{of} by {' and '.join(filter(None, self.by)) or 'group'}"

    @remembered
    def shares(self, assumption: Assumption, confidence: float) -> Shares:
        """The share of each group among all people, with its interval."""
        return Shares(*self.margin.shares(assumption, confidence))

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The median half-width of the groups' intervals."""
        low, high = self.interval(assumption, confidence)
        return float(np.median(high - low)) / 2.0

    def difference(
        self, first: Any, second: Any, assumption: Assumption, confidence: float
    ) -> Compared:
        """The mean of one group minus the mean of another, with its interval.

        Raises:
            ArgumentError: these are not the labels of two groups.
        """
        one, other = self._places(first, second)
        ends = self.margin.difference(one, other, self.bounds, assumption, confidence)
        drawn = float(self.unclipped[one] - self.unclipped[other])
        found = margins.reopened(ends, drawn, (-self.unit, self.unit))
        low, high = found if self.drawn_outside else ends
        means = self.compared_by
        value = float(means[one] - means[other])
        nothing = found[0] <= -self.unit and found[1] >= self.unit
        labels = self.labels[one], self.labels[other]
        told = value, low, high, confidence
        return comparing.Compared("difference", *labels, *told, nothing=nothing, wide=self.unit)

    def ratio(self, first: Any, second: Any, assumption: Assumption, confidence: float) -> Compared:
        """The mean of one group divided by the mean of another, with its interval.

        Raises:
            ArgumentError: these are not the labels of two groups; or values can have both signs.
        """
        one, other = self._places(first, second)
        lo, hi = self.bounds
        if lo < 0.0 < hi:
            raise ArgumentError(
                "ratio needs values of one sign, but the bounds allow both: the divisor may "
                "be about 0. Use difference."
            )
        low, high = self.margin.ratio(one, other, self.bounds, assumption, confidence)
        small, large = sorted((abs(lo), abs(hi)))
        least, most = small / large, large / small if small > 0.0 else np.inf
        low, high = min(max(low, least), most), max(min(high, most), least)
        means = self.compared_by
        top, bottom = float(means[one]), float(means[other])
        value = top / bottom if bottom else np.inf if top else np.nan
        labels = self.labels[one], self.labels[other]
        nothing = (low, high) == (least, most)
        return comparing.Compared("ratio", *labels, value, low, high, confidence, nothing=nothing)

    def comparing(self, first: Any, second: Any) -> Groups:
        """A copy of this estimate that also shows the comparison of these two groups.

        Raises:
            ArgumentError: these are not the labels of two groups.
        """
        one, other = self._places(first, second)
        pair = self.labels[one], self.labels[other]
        return replace(self, compared=tuple(dict.fromkeys((*self.compared, pair))))

    def comparisons(self, assumption: Assumption, confidence: float) -> list[Compared]:
        """All comparisons to show: differences, and ratios unless values can have both signs."""
        lo, hi = self.bounds
        ways = (self.difference,) if lo < 0.0 < hi else (self.difference, self.ratio)
        return [
            way(first, second, assumption, confidence)
            for first, second in self.compared
            for way in ways
        ]

    def _places(self, first: Any, second: Any) -> tuple[int, int]:
        """The indices of two groups.

        Raises:
            ArgumentError: these are not the labels of two groups.
        """
        pair = [tuple(each) if isinstance(each, list) else each for each in (first, second)]
        for name, label in zip(("first", "second"), pair, strict=True):
            if not any(type(label) is type(own) and label == own for own in self.labels):
                raise ArgumentError(
                    f"{name}={shown(label)} is not the label of a group: release.groups has them "
                    "all."
                )
        if pair[0] == pair[1]:
            raise ArgumentError("first and second are the same group: give two.")
        return self.labels.index(pair[0]), self.labels.index(pair[1])

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        share = self.shares(assumption, confidence)
        compared = [each.to_dict() for each in self.comparisons(assumption, confidence)]
        return {
            "groups": [plain(each) for each in self.labels],
            "by": list(self.by),
            "groups_are": "public" if self.public else "private",
            "outside": self.outside,
            "value": self.value.tolist(),
            "interval": [each.tolist() for each in self.interval(assumption, confidence)],
            "band": [each.tolist() for each in self.band(assumption, confidence)],
            "share": share.value.tolist(),
            "share_interval": [share.low.tolist(), share.high.tolist()],
            "bounds": list(self.bounds),
            **({"compared": compared} if compared else {}),
        }

    def further(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """Further columns of a frame: labels, simultaneous intervals, and shares of all people."""
        band_low, band_high = self.band(assumption, confidence)
        share = self.shares(assumption, confidence)
        names = [each or f"group{place or ''}" for place, each in enumerate(self.by)]
        return {
            **labelled(names, self.labels),
            "band_low": band_low,
            "band_high": band_high,
            "share": share.value,
            "share_low": share.low,
            "share_high": share.high,
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the groups, with both labels if there are two columns."""
        return tuple(map(numbers.group_name, self.labels))

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        rows = self.rows(release.assumption, release.confidence)
        share = self.shares(release.assumption, release.confidence)
        lo, hi = self.bounds
        confidence, unit = numbers.percent(release.confidence), said.unit_words(release)
        ends = (f"from ({confidence})", "to")
        by = " and ".join(each or "group" for each in dict.fromkeys(self.by))
        certain = bool((share.low == share.high).all())
        heads = (by, f"mean{unit}", *ends, "share of people", *(() if certain else ends))
        apart = float(np.max(share.high - share.low)) or 0.01
        shares = [
            tuple(numbers.aligned_share(at, apart) for at in each[: 1 if certain else 3])
            for each in zip(*(column.tolist() for column in share), strict=True)
        ]
        means = said.cells_of(rows, wide=min(row.high - row.low for row in rows))
        table = sheet.SheetTable(
            "rows",
            heads,
            tuple((*mean, *more) for mean, more in zip(means, shares, strict=True)),
            "Published means and shares.",
            ranked=tuple(np.argsort(-share.value, kind="stable").tolist()),
            most=_PRINTED,
            rest=" more, with smaller shares: to_frame() and JSON have them all",
        )
        drawing = sheet.Ranges(rows, f"mean{unit}, {confidence} interval", by, "groups")
        membership = f"group membership is {'public' if self.public else 'private'}"
        within = f" in {len(rows):,} group{'s' if len(rows) > 1 else ''} ({membership})"
        values = said.with_unit(release, f"{numbers.number(lo)} to {numbers.number(hi)}")
        own = said.Own(
            f"Means of {len(rows):,} groups",
            said.told_in_units(release),
            first=[[table], self._compared_parts(release, ends)],
            people=[
                said.people_fact(release, within),
                said.values_fact(values),
                sheet.Fact("Groups", f"{by}: {membership}"),
            ],
            nothing=self._nothing(release, rows),
            figures=[said.drawn(table, drawing, "means")],
        )
        return said.sheet_of(release, own)

    def _compared_parts(self, release: Release, ends: tuple[str, str]) -> list[sheet.Part]:
        """The comparisons of groups: lines for brief formats, a table for the page."""
        found = [
            replace(each, unit=release.unit) if each.what == "difference" else each
            for each in self.comparisons(release.assumption, release.confidence)
        ]
        if not found:
            return []
        section = "Groups compared"
        lines = [line for each in found for line in str(each).split("\n")]
        table = ("compared", "value", *ends), tuple(each.cells for each in found)
        return [
            *(sheet.Note("rows", line, depth="brief", set_in=True) for line in lines),
            sheet.SheetTable("rows", *table, depth="whole", section=section),
            *(
                [sheet.Note("note", _SAYS_NOTHING, depth="whole", section=section)]
                if any(each.nothing for each in found)
                else []
            ),
        ]

    def _nothing(self, release: Release, rows: tuple[sheet.Row, ...]) -> list[str]:
        """A warning about intervals that cover nearly the whole range, with advice."""
        empty = sum(row.high - row.low >= _NEARLY * self.unit for row in rows)
        if not empty:
            return []
        whole = len(rows)
        of = f" of {empty:,} of {whole:,} groups" if empty < whole else ""
        helps = ["fewer or larger groups", "larger budgets", *said.narrower(release)]
        everyone = release.neighbours == "replace" and not self.outside
        if not self.public and everyone and whole > 1:
            helps.append('groups_are="public", if group membership is no secret')
        what = f"The intervals{of} cover nearly everything possible: they say almost nothing."
        return [f"{what} {said.would_help(helps)}"]
