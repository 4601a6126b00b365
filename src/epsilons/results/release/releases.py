"""Several releases about the same people, paid from the same privacy budgets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from epsilons import door, parameters, words
from epsilons.errors import ArgumentError
from epsilons.frozen import storable
from epsilons.listed import shown
from epsilons.loading import later
from epsilons.results import report
from epsilons.results.release import stored
from epsilons.results.release.release import Release
from epsilons.results.release.spending import Spending, weights_of
from epsilons.results.report.numbers import aligned, aligned_share, legible, number, percent
from epsilons.results.report.shown import Shown
from epsilons.types import Floats, Frame, Length

if TYPE_CHECKING:
    from epsilons.results.release import said, statement
    from epsilons.results.report import sheet
    from epsilons.results.report.sheet import Fact
else:
    said = later("epsilons.results.release.said")
    statement = later("epsilons.results.release.statement")
    sheet = later("epsilons.results.report.sheet")

__all__ = ["JointRange", "JointRanges", "joint_ranges"]


# Simultaneous intervals for all numbers of several releases.


class JointRange(NamedTuple):
    """The simultaneous intervals of one of several releases.

    Attributes:
        name: the name of the release.
        low: the lower end, or an array of lower ends in the order of its numbers.
        high: the upper end, or an array of upper ends in the same order.
    """

    name: str
    low: Any
    high: Any


@dataclass(frozen=True, eq=False)
class JointRanges(Sequence[JointRange]):
    """Simultaneous intervals for all releases; index it by position or by name.

    Attributes:
        confidence: a lower bound on the probability that all intervals cover the true values.
        each: the intervals, in the order of the releases.
        of: for each release, the printed names of its numbers; a single "" for one number.
    """

    confidence: float
    each: tuple[JointRange, ...]
    of: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.each)

    @overload
    def __getitem__(self, index: int | str) -> JointRange: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[JointRange, ...]: ...
    def __getitem__(self, index: int | str | slice) -> JointRange | tuple[JointRange, ...]:
        if not isinstance(index, str):
            return self.each[index]
        for found in self.each:
            if found.name == index:
                return found
        known = ", ".join(repr(found.name) for found in self.each)
        raise ArgumentError(f"There is no release called {shown(index)} here. There are {known}.")

    def to_dict(self) -> dict[str, Any]:
        """The intervals as plain data."""
        ranges = {
            name: [np.asarray(low).tolist(), np.asarray(high).tolist()]
            for name, low, high in self.each
        }
        return {"confidence": self.confidence, "ranges": ranges}

    def __str__(self) -> str:
        rows = []
        for (name, low, high), labels in zip(self.each, self.of, strict=True):
            lows, highs = np.atleast_1d(low), np.atleast_1d(high)
            wide = float(np.max(highs - lows))
            for label, *ends in zip(labels, lows.tolist(), highs.tolist(), strict=True):
                own = f"{name}: {label}" if label else name
                rows.append((own, *(aligned(end, wide) for end in ends)))
        return report.table(("all at once", f"from ({percent(self.confidence)})", "to"), rows)


def joint_ranges(
    releases: Sequence[Release], names: Sequence[str], confidence: float
) -> JointRanges:
    """Compute simultaneous intervals for all numbers of all releases.

    Args:
        releases: the releases, about the same or different people.
        names: the names of the releases.
        confidence: strictly between 0 and 1.

    Guarantee:
        The probability that any interval misses is at most 1 − confidence. The error probability is
        divided among the releases in proportion to how many numbers they have. The union bound
        holds for dependent events, so the releases may share people and noise.
    """
    sizes = [int(np.size(release.value)) for release in releases]
    miss = [(1.0 - confidence) * size / sum(sizes) for size in sizes]
    ranges = [_range(release, 1.0 - part) for release, part in zip(releases, miss, strict=True)]
    rows = zip(names, ranges, strict=True)
    each = tuple(JointRange(name, *ends) for name, ends in rows)
    return JointRanges(confidence, each, tuple(one.estimate.names for one in releases))


def _range(release: Release, confidence: float) -> tuple[Any, Any]:
    """Intervals for all numbers of one release: its band, or intervals by the union bound."""
    size = np.size(release.value)
    estimate: Any = release.estimate
    if size > 1 and hasattr(estimate, "band"):
        found: tuple[Any, Any] = estimate.band(release.assumption, confidence)
        return found
    return release.interval(1.0 - (1.0 - confidence) / size)


_COLUMNS: Final = (
    *("informative", "release", "statistic", "of", "unit"),
    *("band_low", "band_high"),
)

_PRINTED: Final = 24
"""The maximum number of printed rows of all tables together; each table has at least three."""

_ON_PAGE: Final = 500
"""The approximate maximum number of rows in the table of a page, over all releases."""

_DRAWN: Final = (
    "Dots show the published values, dark lines their separate intervals, and light bars "
    "the ranges that hold for all at once."
)


@storable("release.Releases")
@dataclass(frozen=True, eq=False, repr=False)
class Releases(Shown, Sequence[Release], stored.Stated):
    """Releases that were published together, in the order of the questions.

    Attributes:
        each: the releases.
        spent: the amount spent on all releases together, as a function of ε.
        mechanism: all mechanisms that were used, for `epsilons.verify.exact`.
        title: a title for all releases together; None if the caller gave none.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> questions = [ep.Mean(hours, bounds=(0, 24)), ep.Variance(hours, bounds=(0, 24))]
        >>> releases = ep.publish(questions, epsilon=epsilon, source=ep.Seeded(1))
        >>> releases.names, round(releases.spent(0.5), 3)
        (('Mean', 'Variance'), 0.5)
        >>> ep.verify.exact(releases.mechanism).holds
        True
    """

    each: tuple[Release, ...]
    spent: Spending
    mechanism: Any
    title: str | None = None

    def for_each(self, epsilon: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Floats:
        """Return how much each person spent on all releases: see `Release.for_each`."""
        return self.spent.for_each(epsilon, weights)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Distinct names of the releases: the title, or the statistic and its column."""
        return tuple(report.names_of([(one.title, one.statistic, one.name) for one in self.each]))

    def band(self, confidence: float = 0.95) -> JointRanges:
        """Return simultaneous intervals for all published numbers of all releases.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            For each release its name, and the lower and upper ends: two numbers, or two arrays.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumptions of all releases allow, the probability that any of
            the intervals misses is at most 1 − confidence.
        """
        return joint_ranges(self.each, self.names, parameters.confidence(confidence))

    @property
    def confidence(self) -> float:
        """The confidence of the printed simultaneous intervals: the lowest of all releases."""
        return min(one.confidence for one in self.each)

    def to_frame(self, confidence: float | None = None) -> Frame:
        """Return all published numbers of all releases as a Polars frame, with a row for each.

        Args:
            confidence: the confidence of the separate and the simultaneous intervals; by default
                the property `confidence`.

        Returns:
            Columns `name` (the release, and its number if it has several), `value`, `low` and
            `high`, and after these: whether the number is informative, the release, its statistic,
            the label of the number ("" if it is the only one), its unit or "", and the ends of the
            simultaneous interval for all numbers of all releases.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
        """
        level = self.confidence if confidence is None else parameters.confidence(confidence)
        rows: list[tuple[str, float, float, float]] = []
        more: list[tuple[Any, ...]] = []
        for one, (name, *joint) in zip(self.each, self.band(level), strict=True):
            unit = "" if one.estimate.in_percent else one.unit or ""
            ends = [np.atleast_1d(each).tolist() for each in joint]
            told = one.estimate.rows(one.assumption, level)
            for row, *band in zip(told, *ends, strict=True):
                called = f"{name}: {row.name}" if row.name else name
                rows.append((called, row.value, row.low, row.high))
                more.append((row.informative, name, one.statistic, row.name, unit, *band))
        columns = map(list, zip(*more, strict=True))
        return door.numbers_frame(rows, dict(zip(_COLUMNS, columns, strict=True)))

    def _in_a_line(self) -> str:
        return f"{len(self.each)} releases, {'; '.join(self.names)}"

    def sheet(self) -> report.Sheet:
        """The contents of all releases as a report sheet, which every output format shows."""
        blocks = [
            _Block(name, one, tuple(zip(np.atleast_1d(low), np.atleast_1d(high), strict=True)))
            for one, (name, low, high) in zip(self.each, self.band(self.confidence), strict=True)
        ]
        tables = sum(not block.single for block in blocks)
        most = max(_PRINTED // max(tables, 1), 3)
        count = sum(len(block.rows) for block in blocks)
        at_once = (
            f"With probability {percent(self.confidence)}, all {count:,} numbers are in their "
            "all-at-once ranges together; the other intervals are for each number separately."
        )
        people = said.people_words(self.each[0]).removeprefix("About ")
        published = dict.fromkeys(said.published_words(one) for one in self.each if one.date)
        byline = " · ".join(published)
        made = [said.made_words(one, column=False) for one in self.each]
        # Only the first sentence of each verdict is shown here, so warnings repeat the others.
        warnings = (
            each for one in self.each for each in one.warnings if each != one.verdict.words[0]
        )
        note = sheet.Note
        return sheet.Sheet(
            name=f"{len(self.each)} releases about {people[:1].lower()}{people[1:]}",
            title=self.title,
            byline=byline[:1].upper() + byline[1:],
            simulated=not all(one.private for one in self.each),
            summary=(*said.shared_lines(self.each, self.spent),),
            blocks=(
                (
                    *(
                        note("verdict", f"{block.name}: {block.release.verdict.words[0]}")
                        for block in blocks
                    ),
                    _in_one_table(blocks),
                ),
                *(block.brief(most) for block in blocks),
                (
                    note("note", _DRAWN, depth="whole"),
                    note("note", at_once),
                    *(block.figure for block in blocks),
                    _all_numbers(blocks, count),
                ),
                (
                    said.spending_part(
                        self.spent, offered=any(one.ledger is not None for one in self.each)
                    ),
                ),
                (
                    *(note("warning", each) for each in said.once(warnings)),
                    *(
                        note("protected", each)
                        for each in said.once(one.protects for one in self.each)
                    ),
                    *(
                        note("assumed", each)
                        for each in said.once(one.assumes for one in self.each)
                    ),
                    sheet.Facts("made", tuple(self._how(blocks)), depth="whole"),
                    *said.adds_up(self.each),
                    *(note("made", each, "brief") for each in dict.fromkeys(made) if each),
                    *statement.notes(self.each, self.spent),
                ),
            ),
        )

    def _how(self, blocks: Iterable[_Block]) -> Iterable[Fact]:
        """The method of each release, as facts."""
        for block in blocks:
            one = block.release
            column = "" if one.name is None else f", column {legible(one.name)}"
            how = f"{one.statistic}, method {one.method}{column}"
            yield sheet.Fact(block.name, f"{how}. {one.treats}".strip())
        yield from (sheet.Fact("Menu", each) for each in said.once(one.menu for one in self.each))
        yield sheet.Fact("Neighbours", words.NEIGHBOURS[self.each[0].neighbours])
        yield from said.in_a_ledger(self.each)

    def statement(self, length: Length = "public") -> str:
        """Return paragraphs about all releases, ready to copy: see `Release.statement`.

        Args:
            length: "public", "board" or "methods".

        Raises:
            ArgumentError: the length is not one of these.
        """
        return statement.statement(self.each, self.spent, parameters.choice("length", length))

    def to_dict(self) -> dict[str, Any]:
        """The contents of all releases, all of which may be published, as plain data."""
        return {**self.stated, "each": [one.to_dict() for one in self.each]}

    @property
    def stated(self) -> dict[str, Any]:
        """The same data as `to_dict`, but with empty `sides` in each release."""
        return {
            "kind": "releases",
            "title": self.title,
            "names": list(self.names),
            "each": [one.stated for one in self.each],
            "confidence": self.confidence,
            "band": [
                [np.atleast_1d(low).tolist(), np.atleast_1d(high).tolist()]
                for _, low, high in self.band(self.confidence)
            ],
            "spent": [row._asdict() for row in self.spent],
            **weights_of(self.spent),
        }

    def to_json(self) -> str:
        """Return `to_dict` as JSON, with ∞ as "inf", and the stored releases for `from_json`."""
        return stored.written(self, "releases")

    @classmethod
    def from_json(cls, text: str) -> Releases:
        """Read releases that `to_json` wrote: see `Release.from_json`.

        Raises:
            ArgumentError: the text is not the JSON of releases, or its format has another version;
                or something in it disagrees with the stored releases.
        """
        return stored.read(text, "releases", cls)

    def __len__(self) -> int:
        return len(self.each)

    @overload
    def __getitem__(self, index: int) -> Release: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Release, ...]: ...
    def __getitem__(self, index: int | slice) -> Release | tuple[Release, ...]:
        return self.each[index]


@dataclass(frozen=True)
class _Block:
    """One of several releases, for a common report.

    Attributes:
        name: the name of the release.
        release: the release.
        joint: for each of its numbers, the simultaneous interval for all numbers of all releases.
    """

    name: str
    release: Release
    joint: tuple[tuple[float, float], ...]

    @cached_property
    def rows(self) -> tuple[sheet.Row, ...]:
        """The numbers with their intervals."""
        return self.release.rows

    @property
    def single(self) -> bool:
        """Whether there is only one number."""
        return [row.name for row in self.rows] == [""]

    @property
    def confidence(self) -> str:
        """The confidence of the intervals, in words."""
        return percent(self.release.confidence)

    @property
    def unit(self) -> str:
        """The unit of the numbers; "" for shares, and if none was given."""
        return "" if self.release.estimate.in_percent else self.release.unit or ""

    @cached_property
    def cells(self) -> tuple[tuple[str, ...], ...]:
        """Each number as text: its name, its value, its interval, and its simultaneous interval."""
        wide = max((row.high - row.low for row in self.rows), default=0.0)
        told = aligned_share if self.release.estimate.in_percent else aligned

        def shown(each: float) -> str:
            return told(each, wide) if math.isfinite(each) else number(each)

        return tuple(
            (
                row.name,
                shown(row.value) if row.informative else said.DASH,
                *map(shown, (row.low, row.high, *map(float, joint))),
            )
            for row, joint in zip(self.rows, self.joint, strict=True)
        )

    def brief(self, most: int) -> tuple[sheet.Part, ...]:
        """A few lines about the release, for brief formats."""
        if self.single:
            _, value, low, high, first, last = self.cells[0]
            within = f"{self.confidence} interval {low} to {high}; all at once {first} to {last}"
            return (
                sheet.Note("rows", f"{self.name}: {value} {self.unit}".rstrip(), "brief"),
                sheet.Note("rows", within, "brief", set_in=True),
            )
        unit = said.unit_words(self.release)
        of = (f"of{unit}", "share") if self.release.estimate.in_percent else ("of", f"value{unit}")
        heads = (*of, f"from ({self.confidence})", "to", "from, all at once", "to")
        rest = " more: value, interval() and JSON have them all"
        table = sheet.SheetTable("rows", heads, self.cells, most=most, rest=rest, depth="brief")
        return sheet.Note("rows", f"{self.name}, {len(self.rows):,} numbers", "brief"), table

    @property
    def figure(self) -> sheet.Figure:
        """A small figure with a line of text above it; infinite numbers are left out."""
        cells, statistic = self.cells, self.release.statistic
        words_ = f"{len(cells):,} numbers, each with its {self.confidence} interval."
        if self.single:
            _, value, low, high, _, _ = cells[0]
            within = f"with {self.confidence} confidence between {low} and {high}."
            words_ = f"{f'{value} {self.unit}'.rstrip()}, {within}"
        pairs = [
            (replace(row, name=row.name or statistic), joint)
            for row, joint in zip(self.rows, self.joint, strict=True)
            if all(map(math.isfinite, (row.value, row.low, row.high, *joint)))
        ]
        shares = self.release.estimate.in_percent
        title = "share of people" if shares else self.release.unit or "value"
        drawing = None
        if pairs:
            rows, joints = zip(*pairs, strict=True)
            ends = tuple((float(low), float(high)) for low, high in joints)
            drawing = sheet.Ranges(rows, title, None, "numbers", shares=shares, joint=ends)
        shown = "; ".join(f"{row[0]} {row[1]}".strip() for row in cells[:12])
        label = f"{self.name}: {shown}"
        return sheet.Figure(drawing, label, lead=True, name=self.name, words=words_)

    def of(self, name: str) -> str:
        """The label of a number with its unit, for a table with different units in its rows."""
        return f"{name} ({self.unit})" if name and self.unit else name or self.unit


def _in_one_table(blocks: Sequence[_Block]) -> sheet.SheetTable:
    """A table of all numbers, for the short summary that `print` shows."""
    rows = tuple(
        (" ".join(filter(None, (block.name, row[0]))), *_with_unit(row[1:4], block.unit))
        for block in blocks
        for row in block.cells
    )
    confidence = " or ".join(dict.fromkeys(block.confidence for block in blocks))
    heads = ("", "value", f"from ({confidence})", "to")
    return sheet.SheetTable("rows", heads, rows, depth="first")


def _with_unit(cells: Sequence[str], unit: str) -> tuple[str, ...]:
    value, *ends = cells
    return (f"{value} {unit}".rstrip(), *ends)


def _all_numbers(blocks: Sequence[_Block], count: int) -> sheet.SheetTable:
    """A table of all numbers of all releases, ready to copy."""
    most = _ON_PAGE // len(blocks) + 1
    rows = tuple(
        (block.name, block.of(of), *row) for block in blocks for of, *row in block.cells[:most]
    )
    more = f" The first of {count:,} are shown; to_json() has them all."
    caption = "What was published, ready to copy." + (more if len(rows) < count else "")
    confidence = " or ".join(dict.fromkeys(block.confidence for block in blocks))
    heads = ("release", "of", "value", f"from ({confidence})", "to", "from, all at once", "to")
    return sheet.SheetTable("rows", heads, rows, caption, depth="whole", section="All numbers")
