"""Estimates, each with its margin: one number, the shares of categories, or a vector."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from epsilons import parameters
from epsilons.errors import ArgumentError, KindError
from epsilons.frozen import remembered, storable
from epsilons.loading import later
from epsilons.results.report import numbers
from epsilons.risk import margins
from epsilons.risk.margins import CellsMargin, ScalarMargin
from epsilons.risk.means.spread import Spread, WeighedSpread
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats, Integers, freeze

if TYPE_CHECKING:
    from epsilons.results.release import grouped, said, verdict
    from epsilons.results.release.release import Release
    from epsilons.results.report import sheet
    from epsilons.risk import local, ranges
else:
    local = later("epsilons.risk.local")
    ranges = later("epsilons.risk.ranges")
    sheet = later("epsilons.results.report.sheet")
    grouped = later("epsilons.results.release.grouped")
    said = later("epsilons.results.release.said")
    verdict = later("epsilons.results.release.verdict")

__all__ = ["Estimate"]


# The base class.


class Estimate:
    """The base class of estimates.

    Attributes:
        kind: the kind of result, as JSON states it.
        value: the published number or numbers.
        raw: the numbers before they were clipped or projected.
        margin: the margin of error.
        in_percent: whether its numbers are shares of people.
        each: the noun for what one number describes, singular and plural.
        whole: the name of the quantity that half-widths are compared with, such as "the range".
        remedy: advice on how to get narrower intervals, in words.
        phrase: the name of the published numbers, in which {of} stands for the measured column.
        joined: the words between the name of a number and its value in a statement.
        among: whether a statement says which people the numbers are about.
        known_as: a description of `error` for users, in which {confidence} stands for its
            confidence; "" for the standard description.
        adds: whether it is a sum over people: more people then do not make its error smaller, and
            its half-width is compared with the number itself.
        rounding: the largest difference, as a fraction of the range, between what is estimated with
            people's weights and with these weights rounded.
    """

    kind: ClassVar[str]
    value: Any
    raw: Any
    margin: Any
    in_percent: ClassVar[bool] = False
    each: ClassVar[tuple[str, str]] = ("category", "categories")
    whole: ClassVar[str] = "the range"
    remedy: ClassVar[str] = "more people, or larger budgets for the strictest people"
    phrase: ClassVar[str] = "the average{of}"
    joined: ClassVar[str] = ":"
    among: ClassVar[bool] = True
    known_as: ClassVar[str] = ""
    adds: ClassVar[bool] = False
    rounding: float = 0.0

    @property
    def ranks(self) -> tuple[float, ...]:
        """The share of people at or below each number, if it was asked for; otherwise empty."""
        found: tuple[float, ...] = getattr(self.margin, "ranks", ())
        return found

    @property
    def keys(self) -> tuple[Any, ...]:
        """What each number has in common with its counterpart in another release."""
        return self.ranks or ("",)

    @property
    def of_shares(self) -> bool:
        """Whether the assumption δ bounds differences of shares of people, not of means."""
        return self.in_percent or bool(self.ranks)

    @property
    def compared_by(self) -> Any:
        """The numbers that comparisons use: the published numbers, or means before shrinkage."""
        return self.value

    @property
    def unclipped(self) -> Any:
        """Its numbers before they were clipped to `limits`."""
        return self.raw

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its numbers; a single "" if there is only one number."""
        return ("",)

    def interval(self, assumption: Assumption, confidence: float) -> tuple[Any, Any]:
        """A confidence interval for each number, with at least this confidence."""
        raise NotImplementedError

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error of its numbers, at this confidence; here for a single number."""
        low, high = self.interval(assumption, confidence)
        found: float = max(self.value - low, high - self.value)
        return found

    @property
    def unit(self) -> float:
        """The factor that converts errors on a unit range to data units."""
        lo, hi = self.limits
        return hi - lo

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        raise NotImplementedError

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        raise NotImplementedError

    def rows(self, assumption: Assumption, confidence: float) -> tuple[sheet.Row, ...]:
        """Each of its numbers with its name and its interval."""
        worths = self.precisions(assumption, confidence)
        return tuple(
            sheet.Row(name, value, low, high, informative=precision.worth != "useless")
            for name, (value, low, high), precision in zip(
                self.names,
                _listed(self.value, *self.interval(assumption, confidence)),
                worths,
                strict=True,
            )
        )

    def listed(self, assumption: Assumption, confidence: float) -> tuple[sheet.Row, ...]:
        """All numbers that a frame lists, with their names and intervals."""
        return self.rows(assumption, confidence)

    def further(self, assumption: Assumption, confidence: float) -> dict[str, Any]:  # noqa: ARG002
        """Further columns of a frame, by name, with an entry for each number that it lists."""
        return {}

    def precisions(self, assumption: Assumption, confidence: float) -> list[verdict.Precision]:
        """The precision of each of its numbers."""
        found = self.spread(assumption, confidence)
        spread = None if found is None else found.high
        limits = (-math.inf, math.inf) if self.adds else self.limits
        ends = self.reopened(self.interval(assumption, confidence))
        return [
            verdict.precision_of(value, low, high, limits, spread)
            for value, low, high in _listed(self.value, *ends)
        ]

    def reopened(self, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        """The ends of its intervals, moved back into `limits` where noise pushed them outside."""
        return margins.reopened(ends, self.unclipped, self.limits)

    @cached_property
    def drawn_outside(self) -> bool:
        """Whether a number was drawn outside the limits."""
        lo, hi = self.limits
        raw = np.asarray(self.unclipped, dtype=np.float64)
        return bool(((raw < lo) | (raw > hi)).any())

    def kept(self, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        """The ends of its intervals, reopened if a number was drawn outside the limits."""
        return self.reopened(ends) if self.drawn_outside else ends

    def widened(self, ends: tuple[Any, Any]) -> tuple[Any, Any]:
        """The ends of its intervals, moved apart by the rounding of weights."""
        if not self.rounding:
            return ends
        far, (lo, hi) = self.rounding * self.unit, self.limits
        low, high = np.maximum(ends[0] - far, lo), np.minimum(ends[1] + far, hi)
        return (low, high) if np.ndim(low) else (float(low), float(high))

    @property
    def limits(self) -> tuple[float, float]:
        """The smallest and largest possible value of its numbers; infinite where unknown."""
        return 0.0, 1.0

    def spread(self, assumption: Assumption, confidence: float) -> Spread | None:  # noqa: ARG002
        """The standard deviation of the data; None if it was not released."""
        return None

    def influence(self, lies: int) -> float:
        """Return a bound on how far dishonest reports can have moved the estimate.

        For shares the bound holds for each share; for vectors it is in ℓ2.

        Raises:
            KindError: this is not the local model, so there are no reports.
        """
        if not hasattr(self.margin, "influence"):
            raise KindError(
                "influence is for the local model: with a trusted curator nobody sends reports."
            )
        return float(self.margin.influence(lies, *self._place))

    @property
    def _place(self) -> tuple[Any, ...]:
        """The argument of `margin.influence`: the raw estimate, on which the bound depends."""
        return (self.raw,)

    def _influence_of_one(self) -> dict[str, float]:
        """A bound on the effect of one dishonest report, as plain data; empty without reports."""
        return {"influence_of_one": self.influence(1)} if hasattr(self.margin, "influence") else {}

    def found(self) -> dict[str, float]:
        """Intermediate estimates as plain data; empty by default."""
        return {}

    # Statements.

    def what(self, release: Release, of: str) -> str:  # noqa: ARG002
        """The phrase that names the published numbers.

        Args:
            release: the release with this estimate.
            of: words for the column that was measured; "" if it is not named.
        """
        return self.phrase.format(of=of)

    def quoted(self, release: Release) -> Sequence[sheet.Row]:
        """The numbers that a statement about the release quotes."""
        return release.rows

    def told(self, release: Release, row: sheet.Row) -> tuple[str, ...]:
        """A quoted number and the ends of its interval, as text."""
        each, wide = (row.value, row.low, row.high), row.high - row.low
        if self.in_percent or release.statistic == "share":
            return tuple(numbers.aligned_share(one, wide) for one in each)
        value, low, high = (numbers.aligned(one, wide) for one in each)
        return said.with_unit(release, value), low, said.with_unit(release, high)


def _listed(*columns: Any) -> Iterator[tuple[float, ...]]:
    """The entries of columns, row by row; a single number is a column of one."""
    return zip(*(np.atleast_1d(each).tolist() for each in columns), strict=True)


_ENDS: Final = ("from", "to")
"""The names of a bin's edges in a table."""

_CELLS: Final = 12
_COORDINATES: Final = 10
"""The maximum numbers of printed categories and of printed coordinates."""


@storable("release.Scalar")
@dataclass(frozen=True, eq=False, kw_only=True)
class Scalar(Estimate):
    """One number.

    Attributes:
        value: the estimate, clipped to the bounds.
        raw: the estimate before clipping.
        bounds: the range of the values, known or estimated.
        margin: the margin of error.
        sigma: the standard deviation from which the range was derived; None if there was none.
        alike: whether nearly all values appeared equal when the range was estimated.
    """

    kind: ClassVar = "scalar"
    value: float
    raw: float
    bounds: tuple[float, float]
    margin: ScalarMargin
    sigma: float | None = None
    alike: bool = False
    rounding: float = 0.0

    @remembered
    def interval(self, assumption: Assumption, confidence: float) -> tuple[float, float]:
        """A confidence interval, with at least this confidence."""
        ends = self.margin.interval(self.raw, self.bounds, assumption, confidence)
        return self.kept(self.widened(ends))

    @property
    def limits(self) -> tuple[float, float]:
        """The range of the values."""
        return self.bounds

    @property
    def unclipped(self) -> float:
        """The number before it was clipped to the bounds."""
        own = getattr(self.margin, "unclipped", None)
        return self.raw if own is None else float(own(self.bounds))

    @property
    def _place(self) -> tuple[float, tuple[float, float]]:
        return self.raw, self.bounds

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        low, high = self.interval(assumption, confidence)
        spread, share = (found(assumption, confidence) for found in (self.spread, self.share))
        return {
            "value": self.value,
            "raw": self.raw,
            "interval": [low, high],
            "bounds": list(self.bounds),
            **({} if spread is None else {"spread": spread._asdict()}),
            **({} if share is None else {"share": share._asdict()}),
            **self._influence_of_one(),
        }

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        (row,) = self.rows(release.assumption, release.confidence)
        wide, confidence = row.high - row.low, numbers.percent(release.confidence)
        value, low, high = (numbers.aligned(each, wide) for each in (row.value, row.low, row.high))
        value = value if row.informative else said.DASH
        shown = said.with_unit(release, value) if row.informative else value
        name = f"{release.statistic.capitalize()}: {shown}"
        title = f"{release.statistic}{said.unit_words(release)}, {confidence} interval"
        between = said.with_unit(release, f"between {low} and {high}")
        lo, hi = (numbers.number(end) for end in self._values)
        values = said.with_unit(release, f"{lo} to {hi}")
        covers = row.low <= self.bounds[0] and row.high >= self.bounds[1]
        nothing = [said.NOTHING] if covers else []
        own = said.Own(
            name,
            said.told_in_units(release),
            headline=f"{name}   ({confidence} interval {low} to {high})",
            claim=f"With {confidence} confidence {between}.",
            people=(said.people_fact(release), said.values_fact(values)),
            more=[*self._share_fact(release), *self._spread_fact(release)],
            nothing=nothing if row.informative else [*nothing, *self._helps(release)],
            figures=said.one_number(row, self.bounds, title, (value, low, high), "value"),
        )
        return said.sheet_of(release, own)

    @property
    def _values(self) -> tuple[float, float]:
        """The range of the values."""
        return self.bounds

    def _share_fact(self, release: Release) -> list[sheet.Fact]:
        """The share of people over whom the mean is taken, as a fact; empty for everyone."""
        found = self.share(release.assumption, release.confidence)
        if found is None:
            return []
        apart = found.high - found.low or 0.01
        shown = [numbers.aligned_share(each, apart) for each in found]
        within = f"{numbers.percent(release.confidence)} interval {shown[1]} to {shown[2]}"
        return [sheet.Fact("Share", f"It is the mean of {shown[0]} of these people ({within})")]

    def _spread_fact(self, release: Release) -> list[sheet.Fact]:
        """The standard deviation of the data, as a fact, if it was released."""
        found = self.spread(release.assumption, release.confidence)
        if found is None:
            return []
        shown = [numbers.aligned(each, found.high - found.low) for each in found]
        confidence = numbers.percent(release.confidence)
        if found.low == 0.0 and shown[0] == shown[1]:
            # The noise hides the spread. Printing 0 would suggest that all values are equal.
            most = said.with_unit(release, f"at most {shown[2]}")
            words = f"Standard deviation {most} (with {confidence} confidence)"
        else:
            within = f"{confidence} interval {shown[1]} to {shown[2]}"
            words = f"Standard deviation {said.with_unit(release, shown[0])} ({within})"
        return [sheet.Fact("Spread", words)]

    def _helps(self, release: Release) -> list[str]:
        """Advice if the mean of a subset of people has an uninformative interval."""
        if self.share(release.assumption, release.confidence) is None:
            return []
        levels = ["levels=, the budgets that people were offered"]
        private = levels if release.neighbours == "add-remove" else []
        return [said.would_help(["larger budgets", *private, *said.narrower(release)])]

    def further(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """Further columns of a frame: the share of people that the mean covers."""
        share = self.share(assumption, confidence)
        if share is None:
            return {}
        named = zip(("share", "share_low", "share_high"), share, strict=True)
        return {name: [each] for name, each in named}

    def share(self, assumption: Assumption, confidence: float) -> grouped.Shares | None:
        """The share of people over whom the mean is taken; None for a mean of everyone."""
        found = getattr(self.margin, "share", None)
        return None if found is None else grouped.Shares(*found(assumption, confidence))

    @remembered
    def spread(self, assumption: Assumption, confidence: float) -> Spread | None:
        """The standard deviation of the data; None if it was not released."""
        if not isinstance(self.margin, WeighedSpread):
            return None
        found = self.margin.spread(self.bounds, assumption, confidence)
        far = self.rounding * self.unit**2
        low, high = max(found.low**2 - far, 0.0) ** 0.5, (found.high**2 + far) ** 0.5
        return found._replace(low=low, high=min(high, self.unit / 2.0)) if far else found

    def found(self) -> dict[str, float]:
        """The centre and the standard deviation that define the estimated range, as plain data."""
        if self.sigma is None or not isinstance(self.margin, (ranges.Located, ranges.LocatedRatio)):
            return {}
        return {"sigma": self.sigma, "centre": self.margin.picture.centre}

    def what(self, release: Release, of: str) -> str:
        """The phrase that names the number: an average, unless it is a rank or a share."""
        if self.ranks:
            return f"the value{of} that {numbers.percent(self.ranks[0])} of people are at or below"
        return "the share of yes" if release.statistic == "share" else super().what(release, of)


@storable("release.Cells")
@dataclass(frozen=True, eq=False, kw_only=True)
class Cells(Estimate):
    """The share of people in each category.

    Attributes:
        value: the shares, projected to the simplex or clipped to [0, 1].
        raw: the shares before projection or clipping.
        categories: the labels, in the order of `value` and `raw`.
        margin: the margin of error.
        other: the category for missing and undeclared values; None if there was none.
        columns: for a table of several columns, the name of each column (None for an array).
            Each category is then a tuple with one label per column. Empty for a single column.
    """

    kind: ClassVar = "cells"
    in_percent: ClassVar[bool] = True
    whole: ClassVar[str] = "all people"
    phrase: ClassVar[str] = "the shares{of}"
    value: Floats
    raw: Floats
    categories: tuple[Any, ...]
    margin: CellsMargin
    other: Any = None
    rounding: float = 0.0
    columns: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        freeze(self.value, self.raw)

    @property
    def keys(self) -> tuple[Any, ...]:
        """The categories."""
        return self.categories

    @property
    def called(self) -> tuple[str, ...]:
        """The names of the columns of a table; `column 1`, … for arrays."""
        return tuple(name or f"column {at}" for at, name in enumerate(self.columns, 1))

    def places(self, columns: Sequence[str]) -> tuple[Integers, tuple[Any, ...]]:
        """Group the cells of the table by their labels in some of the columns.

        Args:
            columns: the names of these columns.

        Returns:
            The index of the group of each cell, and the labels of the groups.

        Raises:
            ArgumentError: a name is not the name of a column or occurs twice, or all columns are
                given.
        """
        for name in columns:
            parameters.choice("column", name, self.called)
        if not 0 < len(set(columns)) == len(columns) < len(self.columns):
            raise ArgumentError(
                f"column: give the name of one column, or of some but not all: "
                f"{', '.join(self.called)}."
            )
        at = [self.called.index(name) for name in columns]
        own = [
            each[at[0]] if len(at) == 1 else tuple(each[i] for i in at) for each in self.categories
        ]
        labels = tuple(dict.fromkeys(own))
        place = {label: index for index, label in enumerate(labels)}
        return np.array([place[each] for each in own], dtype=np.int64), labels

    @remembered
    def interval(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """A separate interval for the share of each category."""
        return self.kept(self.widened(self.margin.intervals(self.raw, assumption, confidence)))

    @remembered
    def band(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Simultaneous confidence intervals for all shares."""
        return self.kept(self.widened(self.margin.band(self.raw, assumption, confidence)))

    @remembered
    def at_once(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the largest error of any share, at this confidence."""
        return min(self.margin.at_once(self.raw, assumption, confidence) + self.rounding, 1.0)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the largest error of any share, at this confidence, as in `at_once`."""
        return self.at_once(assumption, confidence)

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        low, high = self.interval(assumption, confidence)
        band_low, band_high = self.band(assumption, confidence)
        return {
            "categories": [plain(each) for each in self.categories],
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "band": [band_low.tolist(), band_high.tolist()],
            "error_at_once": self.at_once(assumption, confidence),
            **({"columns": list(self.columns)} if self.columns else {}),
            **self._influence_of_one(),
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the categories; the name of a bin consists of its edges."""
        return tuple(
            map(numbers.group_name if self.columns else numbers.category_name, self.categories)
        )

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        rows = self.rows(release.assumption, release.confidence)
        confidence, points = numbers.percent(release.confidence), numbers.points
        of = ", ".join(self.called) or "category"
        things = "cells" if self.columns else "categories"
        table = sheet.SheetTable(
            "rows",
            (f"{of}{said.unit_words(release)}", "share", f"from ({confidence})", "to"),
            tuple(said.cells_of(rows, numbers.aligned_share)),
            "Published shares.",
            most=_CELLS,
            rest=" more: value, interval() and JSON have them all",
        )
        title = f"share of people, {confidence} interval"
        first = tuple(numbers.category_name(each[0]) for each in self.categories if self.columns)
        axis = of if self.columns else release.unit
        drawing = sheet.Ranges(rows, title, axis, things, shares=True, bars=True, groups=first)
        at_once = points(release.error_at_once)
        within = f"within {at_once} of the raw shares with probability {confidence}"
        # If the interval of one share is all of [0, 1], the other shares are unknown as well.
        low, high = min(row.low for row in rows), max(row.high for row in rows)
        nothing = low <= 0.0 and high >= 1.0 and max(row.high - row.low for row in rows) >= 1.0
        own = said.Own(
            f"Shares of {len(rows):,} {things}",
            points,
            first=[[table]],
            people=[said.people_fact(release, f" in {len(rows):,} {things}")],
            errors=[
                sheet.Fact("Error", said.risk_words(release, points)),
                sheet.Fact("All at once", within, f"All {things} at once: {within}"),
            ],
            nothing=[said.NOTHING] if nothing else [],
            figures=[said.drawn(table, drawing, "shares")],
        )
        return said.sheet_of(release, own)

    def further(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """Further columns of a frame: labels, or the edges of bins, and simultaneous intervals."""
        band_low, band_high = self.band(assumption, confidence)
        bins = all(isinstance(each, tuple) for each in self.categories)
        names: dict[str, Any] = {"category": list(self.categories)}
        if self.columns:
            names = labelled(self.called, self.categories)
        elif bins:
            names = {end: [each[at] for each in self.categories] for at, end in enumerate(_ENDS)}
        return {**names, "band_low": band_low, "band_high": band_high}


def plain(label: Any) -> Any:
    """Convert a label for JSON: a pair becomes a list."""
    return list(label) if isinstance(label, tuple) else label


def labelled(columns: Sequence[str], labels: Sequence[Any]) -> dict[str, Any]:
    """A column of a frame for each column of labels; bins are written as text."""
    every = zip(*(each if len(columns) > 1 else (each,) for each in labels), strict=True)
    return {
        name: [numbers.category_name(each) if isinstance(each, tuple) else each for each in own]
        for name, own in zip(columns, every, strict=True)
    }


@storable("release.Vector")
@dataclass(frozen=True, eq=False, kw_only=True)
class VectorEstimate(Estimate):
    """The mean of vectors in a ball.

    Attributes:
        value: the estimate, projected to the ball.
        raw: the estimate before the projection.
        ball: the radius of the ball that contains all vectors.
        margin: the margin of error.
    """

    kind: ClassVar = "vector"
    value: Floats
    raw: Floats
    ball: float
    margin: local.VectorMargin

    def __post_init__(self) -> None:
        freeze(self.value, self.raw)

    @property
    def limits(self) -> tuple[float, float]:
        """The range of one coordinate of a vector in the ball."""
        return -self.ball, self.ball

    @remembered
    def interval(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """A separate interval for the mean of each coordinate."""
        return self.margin.intervals(self.raw, assumption, confidence)

    @remembered
    def radius(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the ℓ2 distance between the true mean and `raw`, at this confidence."""
        return self.margin.radius(assumption, confidence)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the ℓ2 error, at this confidence."""
        return min(self.radius(assumption, confidence), 2.0 * self.ball)

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        low, high = self.interval(assumption, confidence)
        return {
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "ball": self.ball,
            "radius": self.radius(assumption, confidence),
            **self._influence_of_one(),
        }

    def further(self, assumption: Assumption, confidence: float) -> dict[str, Any]:  # noqa: ARG002
        """A further column of a frame: the index of each coordinate."""
        return {"coordinate": list(range(len(self.value)))}

    @property
    def names(self) -> tuple[str, ...]:
        """The indices of the coordinates."""
        return tuple(map(str, range(len(self.value))))

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        rows = self.rows(release.assumption, release.confidence)
        confidence = numbers.percent(release.confidence)
        table = sheet.SheetTable(
            "rows",
            ("coordinate", "mean", f"from ({confidence})", "to"),
            tuple(said.cells_of(rows)),
            "Published means.",
            most=_COORDINATES,
            rest=" more: value and interval() have them all",
        )
        drawing = sheet.Ranges(rows, f"mean, {confidence} interval", "coordinate", "coordinates")
        radius = self.radius(release.assumption, release.confidence)
        far, typical = numbers.number(radius), numbers.number(math.sqrt(release.risk))
        within = f"within {far} (ℓ2) of the raw mean with probability {confidence}"
        error = (
            f"Typical error (root mean square, all coordinates together) {typical}, "
            "proven bound over all data"
        )
        whole = ["That is the whole ball: with these budgets it says nothing."]
        length = f"of length up to {numbers.number(self.ball)}"
        own = said.Own(
            f"Mean of vectors with {len(rows):,} coordinates",
            numbers.number,
            first=[[table]],
            people=[
                said.people_fact(release, f", {len(rows):,} coordinates"),
                sheet.Fact("Vectors", length, f"vectors {length}"),
            ],
            errors=[
                sheet.Fact("Error", error),
                sheet.Fact("All at once", within, f"All coordinates at once: {within}"),
            ],
            nothing=whole if radius >= 2.0 * self.ball else [],
            figures=[said.drawn(table, drawing, "means")],
        )
        return said.sheet_of(release, own)

    def what(self, release: Release, of: str) -> str:  # noqa: ARG002
        """The phrase that names the means."""
        return f"the averages of {len(self.value):,} coordinates"
