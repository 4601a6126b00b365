"""Means by group: the mean and the share of each group, and what lies between two of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from epsilons import report
from epsilons.errors import ArgumentError
from epsilons.frozen import storable
from epsilons.release.every import Estimate
from epsilons.risk.assumptions import Assumption
from epsilons.risk.estimated import Bracketed
from epsilons.risk.margins import AnyMargin
from epsilons.types import Floats

__all__ = ["Compared", "Groups", "GroupsMargin", "Shares"]

Bounds = tuple[float, float]


class Shares(Bracketed[Any]):
    """Which part of all people some are, with its interval: a number each, or an array."""

    __slots__ = ()


class GroupsMargin(AnyMargin, Protocol):
    """The margin of means by group."""

    @property
    def drawn(self) -> Floats:
        """What was drawn."""

    def means(self, bounds: Bounds) -> Floats:
        """The mean of each group, within the bounds."""

    def within(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Floats:
        """The mean of each group, inside its own interval."""

    def intervals(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """For each group by itself, a range that holds its mean."""

    def band(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Ranges that hold the means of all groups at once."""

    def difference(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A range that holds the mean of one group less that of another."""

    def ratio(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A range that holds the mean of one group over that of another."""

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, and the ends of its interval."""


@dataclass(frozen=True)
class Compared:
    """Two groups beside each other.

    Attributes:
        what: "difference": the mean of the first less that of the second; "ratio": over it.
        first: the label of a group.
        second: that of another.
        value: of the two means that were published.
        low: the lower end of an interval that holds the truth.
        high: its upper end.
        confidence: with at least this probability.
        unit: of the values, if the caller of the release said so; a ratio has none.
        nothing: whether the interval is all that there could be, and tells nothing.
    """

    what: str
    first: Any
    second: Any
    value: float
    low: float
    high: float
    confidence: float
    unit: str | None = None
    nothing: bool = False

    def __str__(self) -> str:
        names = report.group_name(self.first), report.group_name(self.second)
        return report.compared(self.what, names, self._numbers, self.unit, nothing=self.nothing)

    @property
    def _numbers(self) -> tuple[float, float, float, float]:
        return self.value, self.low, self.high, self.confidence

    def to_dict(self) -> dict[str, Any]:
        """As plain data; the value is None where it is 0 over 0."""
        return {
            "what": self.what,
            "first": _plain(self.first),
            "second": _plain(self.second),
            "value": None if np.isnan(self.value) else self.value,
            "low": self.low,
            "high": self.high,
            "nothing": self.nothing,
        }


@storable("release.Groups")
@dataclass(frozen=True, eq=False, kw_only=True)
class Groups(Estimate):
    """The mean of each group, and its share of all people.

    Attributes:
        labels: of the groups, in the order that was declared; pairs of labels for two columns.
        bounds: the range of the values.
        margin: what was drawn, and how far the truth may be.
        by: the name of each column of groups; None for an array.
        public: whether it is no secret who is in which group.
        outside: whether people may be in none of the groups: they count in shares.
        compared: the pairs of labels whose difference and ratio are shown with the means.
        published: the means as they were published, on the range of the values; None where they
            are those of `margin.means`, as in all releases of 0.2.0.
    """

    LATER: ClassVar = ("compared", "published")
    kind: ClassVar = "groups"
    labels: tuple[Any, ...]
    bounds: Bounds
    margin: GroupsMargin
    by: tuple[str | None, ...] = (None,)
    public: bool = False
    outside: bool = False
    compared: tuple[tuple[Any, Any], ...] = ()
    published: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        for first, second in self.compared:
            self._places(first, second)

    @cached_property
    def value(self) -> Floats:
        """The mean of each group, within the bounds: the middle where nothing is known."""
        means = self.margin.means(self.bounds)
        if self.published is not None:
            means = np.array(self.published, dtype=np.float64)
        means.flags.writeable = False
        return means

    @property
    def raw(self) -> Floats:
        """What was drawn: the share of each cell; of public groups, their means."""
        return self.margin.drawn

    @property
    def unit(self) -> float:
        """What an error of 1 on a unit range is, in data units."""
        lo, hi = self.bounds
        return hi - lo

    def interval(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """For each group by itself, a range that holds its mean."""
        return self.margin.intervals(self.bounds, assumption, confidence)

    def band(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Ranges that hold the means of all groups at once."""
        return self.margin.band(self.bounds, assumption, confidence)

    def shares(self, assumption: Assumption, confidence: float) -> Shares:
        """The share of each group among all people."""
        return Shares(*self.margin.shares(assumption, confidence))

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Half the width of the interval of the group in the middle, by these widths."""
        low, high = self.interval(assumption, confidence)
        return float(np.median(high - low)) / 2.0

    def difference(
        self, first: Any, second: Any, assumption: Assumption, confidence: float
    ) -> Compared:
        """The mean of one group less that of another.

        Raises:
            ArgumentError: they are not two labels of groups.
        """
        one, other = self._places(first, second)
        low, high = self.margin.difference(one, other, self.bounds, assumption, confidence)
        value = float(self.value[one] - self.value[other])
        nothing = low <= -self.unit and high >= self.unit
        labels = self.labels[one], self.labels[other]
        return Compared("difference", *labels, value, low, high, confidence, nothing=nothing)

    def ratio(self, first: Any, second: Any, assumption: Assumption, confidence: float) -> Compared:
        """The mean of one group over that of another.

        Raises:
            ArgumentError: they are not two labels of groups; or values may be of both signs.
        """
        one, other = self._places(first, second)
        lo, hi = self.bounds
        if lo < 0.0 < hi:
            raise ArgumentError(
                "ratio needs values of one sign, but the bounds allow both: the mean below may "
                "be about 0. Use difference."
            )
        low, high = self.margin.ratio(one, other, self.bounds, assumption, confidence)
        small, large = sorted((abs(lo), abs(hi)))
        least, most = small / large, large / small if small > 0.0 else np.inf
        low, high = min(max(low, least), most), max(min(high, most), least)
        top, bottom = float(self.value[one]), float(self.value[other])
        value = top / bottom if bottom else np.inf if top else np.nan
        labels = self.labels[one], self.labels[other]
        nothing = (low, high) == (least, most)
        return Compared("ratio", *labels, value, low, high, confidence, nothing=nothing)

    def comparing(self, first: Any, second: Any) -> Groups:
        """The same, with these two among the groups that are compared wherever it is shown.

        Raises:
            ArgumentError: they are not two labels of groups.
        """
        one, other = self._places(first, second)
        pair = self.labels[one], self.labels[other]
        return replace(self, compared=tuple(dict.fromkeys((*self.compared, pair))))

    def _comparisons(self, assumption: Assumption, confidence: float) -> list[dict[str, Any]]:
        """Every difference that is shown, and every ratio that there is, as plain data."""
        lo, hi = self.bounds
        ways = (self.difference,) if lo < 0.0 < hi else (self.difference, self.ratio)
        return [
            way(first, second, assumption, confidence).to_dict()
            for first, second in self.compared
            for way in ways
        ]

    def _places(self, first: Any, second: Any) -> tuple[int, int]:
        """Where two groups are."""
        pair = [tuple(each) if isinstance(each, list) else each for each in (first, second)]
        for name, label in zip(("first", "second"), pair, strict=True):
            if not any(type(label) is type(own) and label == own for own in self.labels):
                raise ArgumentError(
                    f"{name}={label!r} is not the label of a group: release.groups has them all."
                )
        if pair[0] == pair[1]:
            raise ArgumentError("first and second are the same group: give two.")
        return self.labels.index(pair[0]), self.labels.index(pair[1])

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As plain data."""
        share = self.shares(assumption, confidence)
        compared = self._comparisons(assumption, confidence)
        return {
            "groups": [_plain(each) for each in self.labels],
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

    def table(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As columns: a row for each group."""
        low, high = self.interval(assumption, confidence)
        band_low, band_high = self.band(assumption, confidence)
        share = self.shares(assumption, confidence)
        names = [each or f"group{place or ''}" for place, each in enumerate(self.by)]
        if len(names) == 1:
            labels: dict[str, Any] = {names[0]: list(self.labels)}
        else:
            labels = {name: [pair[at] for pair in self.labels] for at, name in enumerate(names)}
        return {
            **labels,
            "mean": self.value,
            "low": low,
            "high": high,
            "band_low": band_low,
            "band_high": band_high,
            "share": share.value,
            "share_low": share.low,
            "share_high": share.high,
        }


def _plain(label: Any) -> Any:
    """A label as JSON has it: two of them as a list."""
    return list(label) if isinstance(label, tuple) else label
