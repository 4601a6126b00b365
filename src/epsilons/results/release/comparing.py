"""Comparisons: of two releases of one number, and of the groups or categories of one release."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast, overload

import numpy as np

from epsilons import door, parameters
from epsilons.errors import ArgumentError, KindError
from epsilons.loading import later
from epsilons.results import report
from epsilons.results.release.estimate import Cells, Scalar, VectorEstimate, plain
from epsilons.results.report import numbers, phrases
from epsilons.results.report.shown import Written
from epsilons.risk import compared
from epsilons.risk.margins import Bounds, Estimated, Weighed, reopened, weighted_ends
from epsilons.risk.shares import WeighedCells
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats, Frame

if TYPE_CHECKING:
    from epsilons.results.release import grouped, kinds, said, verdict
    from epsilons.results.release.release import Release
    from epsilons.results.report import sheet
else:
    grouped = later("epsilons.results.release.grouped")
    kinds = later("epsilons.results.release.kinds")
    said = later("epsilons.results.release.said")
    sheet = later("epsilons.results.report.sheet")
    verdict = later("epsilons.results.release.verdict")

__all__ = ["Compared", "Comparisons", "compare"]

Ends: TypeAlias = tuple[Floats, Floats]

_SIGNS: Final = {"difference": "minus", "change": "minus", "ratio": "over", "factor": "over"}

_PRINTED: Final = 12
"""The maximum number of printed comparisons."""

_TESTED: Final = 24
"""The maximum number of groups for which every pair is tested jointly, because this is slow."""

_FACTOR: Final = 4.0
"""A ratio is not usable if its upper end is at least this many times its lower end."""

_USELESS: Final = "Comparisons shown as – are not usable: almost any value fits."
_OVERLAP: Final = "This holds regardless of who is in both releases."
_PLANNED: Final = (
    "This holds regardless of who is in both releases, if the budgets and settings of the second "
    "were not chosen in view of the first result."
)


@dataclass(frozen=True)
class Compared:
    """The comparison of two groups or categories, or of one number in two releases.

    Attributes:
        what: "difference" (the first minus the second) or "ratio" (the first divided by the
            second) of two groups; "change" (the second minus the first) or "factor" (the second
            divided by the first) of two releases.
        first: the label of a group, or the name of a release.
        second: the label of another group, or the name of another release.
        value: the difference or ratio of the two published numbers. If means were shrunk, it is
            computed from the means before shrinkage.
        low: the lower end of its interval.
        high: the upper end.
        confidence: the confidence of the interval.
        unit: the unit of the values; None if unknown, and for a ratio.
        nothing: whether the interval covers every possible value and so says nothing.
        of: the name of the number that is compared in two releases; "" if each has only one.
        shares: whether shares of people are compared.
        wide: the length of the range of the compared numbers; 0 if intervals are not compared
            with it.
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
    of: str = ""
    shares: bool = False
    wide: float = 0.0

    def __str__(self) -> str:
        between, shown, low, high = self.cells
        within = f"{numbers.percent(self.confidence)} interval {low} to {high}"
        line = numbers.legible(f"{self.what.capitalize()}, {between}: {shown}   ({within})")
        if self.informative:
            return line
        return f"{line}\n{said.NOTHING if self.nothing else verdict.NOT_USABLE}"

    @property
    def informative(self) -> bool:
        """Whether the interval excludes enough values to be of use.

        A difference is always between −`wide` and `wide`. It is not usable if its interval covers
        half of that range. A ratio is not usable if its upper end is at least 4 times its lower
        end.
        """
        if self.nothing:
            return False
        if _SIGNS[self.what] == "minus":
            return not self.wide or self.high - self.low < 4.0 * verdict.USELESS * self.wide
        return self.high < _FACTOR * self.low

    @property
    def differs(self) -> bool:
        """Whether the interval excludes equal numbers: a difference of 0, or a ratio of 1."""
        equal = 0.0 if _SIGNS[self.what] == "minus" else 1.0
        return not self.low <= equal <= self.high

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Text for a table: both names, the value with its unit, and the ends of its interval."""
        first, second = numbers.group_name(self.first), numbers.group_name(self.second)
        if self.what in ("change", "factor"):
            first, second = second, first
        points = self.shares and _SIGNS[self.what] == "minus"
        times, unit = (100.0, "points") if points else (1.0, self.unit)
        wide, value = times * (self.high - self.low), times * self.value
        shown = numbers.aligned(value, wide) if np.isfinite(value) else numbers.number(value)
        if not any(each in shown for each in "123456789∞n"):
            shown = shown.removeprefix("-")  # print 0, not -0
        shown = shown if unit is None else f"{shown} {unit}"
        shown = shown if self.informative else said.DASH
        low, high = (numbers.aligned(times * end, wide) for end in (self.low, self.high))
        named = f"{self.of}: " if self.of else ""
        return f"{named}{first} {_SIGNS[self.what]} {second}", shown, low, high

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain data. A ratio has the value None if both numbers are 0."""
        return {
            "what": self.what,
            "first": plain(self.first),
            "second": plain(self.second),
            "value": None if np.isnan(self.value) else self.value,
            "low": self.low,
            "high": self.high,
            "nothing": self.nothing,
        }


@dataclass(frozen=True, eq=False)
class Comparisons(Written, Sequence[Compared]):
    """Several comparisons, each with an interval; `holds` states their joint guarantee.

    Attributes:
        title: the first line of the printed comparisons.
        confidence: the confidence of the intervals.
        each: the comparisons.
        words: two phrases, for intervals that include equal numbers and for those that do not.
        holds: a sentence on the conditions under which the intervals hold.
        lines: the two releases that are compared, in words; empty for groups of one release.
        private: False if a release was drawn from a seed.

    Examples:
        >>> import epsilons as ep
        >>> groups = {"by": ["a", "b"] * 200, "groups": ["a", "b"]}
        >>> asked = {"epsilon": 1.0, "bounds": (0, 24), "source": ep.Seeded(1)}
        >>> compared = ep.mean([3, 8] * 200, **asked, **groups).differences()
        >>> len(compared), compared.confidence
        (1, 0.95)
        >>> print(compared[0])
        Difference, b minus a: 5.33   (95 % interval 4.49 to 6.17)
    """

    title: str
    confidence: float
    each: tuple[Compared, ...]
    words: tuple[str, str]
    holds: str
    lines: tuple[str, ...] = ()
    private: bool = True

    def __len__(self) -> int:
        return len(self.each)

    @overload
    def __getitem__(self, index: int | str) -> Compared: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Compared, ...]: ...
    def __getitem__(self, index: int | str | slice) -> Compared | tuple[Compared, ...]:
        if not isinstance(index, str):
            return self.each[index]
        for found in self.each:
            if index in (found.of, found.cells[0]):
                return found
        raise ArgumentError(f"There is no comparison called {index!r} here: print shows them.")

    def sheet(self) -> report.Sheet:
        """The comparisons as a sheet, which every output format shows."""
        heads = ("", "", f"from ({numbers.percent(self.confidence)})", "to", "")
        rows = tuple((*row.cells, self.words[row.differs]) for row in self.each)
        useless = [] if all(row.informative for row in self.each) else [_USELESS]
        return sheet.Sheet(
            self.title,
            (
                (
                    *(sheet.Note("people", line, set_in=True) for line in self.lines),
                    sheet.SheetTable(
                        "rows", heads, rows, most=_PRINTED, rest=" more: to_frame() has them all"
                    ),
                    *(sheet.Note("note", each) for each in (*useless, self.holds)),
                ),
            ),
            headline=f"{self.title}.",
            simulated=not self.private,
        )

    def __str__(self) -> str:
        # Tables of comparisons have no name in their first line, unlike other results.
        return self.details().replace(phrases.SEEDED + "\n\n", phrases.SEEDED + "\n")

    def to_dict(self) -> dict[str, Any]:
        """The comparisons as plain data."""
        rows = [{"of": row.of, **row.to_dict(), "differs": row.differs} for row in self.each]
        told = {"title": self.title, "confidence": self.confidence, "holds": self.holds}
        return {**told, "private": self.private, "compared": rows}

    def to_frame(self) -> Frame:
        """Return a Polars frame: name, value, low, high, what is compared, whether it differs."""
        more: dict[str, list[Any]] = {
            name: [numbers.group_name(getattr(row, name)) for row in self.each]
            for name in ("what", "of", "first", "second")
        }
        told = {
            name: [getattr(row, name) for row in self.each] for name in ("informative", "differs")
        }
        return door.numbers_frame(
            [(row.cells[0], row.value, row.low, row.high) for row in self.each], {**told, **more}
        )


# Two releases of one number.


def compare(first: Release, second: Release, confidence: float = 0.95) -> Comparisons:
    """Compare two releases of the same statistic, such as last year's and this year's.

    This costs no privacy budget: everything is computed from the two releases. If they have several
    numbers (categories, groups or quantiles), the numbers that both have are compared.

    Args:
        first: a release, such as last year's.
        second: another one, such as this year's.
        confidence: strictly between 0 and 1.

    Returns:
        The change (the second minus the first), and the factor (the second divided by the first) if
        all values have the same sign, each with an interval. If there are several numbers, the
        intervals for all changes are simultaneous, and so are those for all factors.

    Raises:
        ArgumentError: the confidence is not strictly between 0 and 1; or the releases are not
            comparable: they differ in statistic, bounds, unit, unit of privacy or treatment of
            missing values, one is about its people and the other about a population, or they have
            no label in common.

    Guarantee:
        For all data that the assumptions of both releases allow, and regardless of who is in both,
        the intervals miss with probability at most 1 − confidence. For means, shares and counts
        under replace this requires that the budgets and settings of the second release were not
        chosen in view of the first result. Proof: docs/proofs/risk.md (29), (31), (32).

    Examples:
        >>> import epsilons as ep
        >>> asked = {"epsilon": [0.5, 1.0, 1.0, 2.0] * 50, "bounds": (0, 24)}
        >>> first = ep.mean([3, 8, 1, 6] * 50, source=ep.Seeded(1), **asked)
        >>> second = ep.mean([9, 9, 8, 9] * 50, source=ep.Seeded(2), **asked)
        >>> print(ep.compare(first, second)[0])
        Change, second minus first: 4.76   (95 % interval 3.74 to 5.78)
    """
    level = parameters.confidence(confidence)
    _check(first, second)
    places, names = _places(first, second)
    changes, factors, planned = _ends((first, second), places, level)
    one, other = (
        np.atleast_1d(each.estimate.compared_by).astype(np.float64) for each in (first, second)
    )
    before, after = one[[i for i, _ in places]], other[[j for _, j in places]]
    lo, hi = _limits(first)
    drawn, again = (np.atleast_1d(each.estimate.unclipped) for each in (first, second))
    apart = np.array([again[j] - drawn[i] for i, j in places], dtype=np.float64)
    changes = reopened(changes, apart, (lo - hi, hi - lo))
    small, large = sorted((abs(lo), abs(hi)))
    with np.errstate(divide="ignore", invalid="ignore"):
        families = [("change", after - before, changes, (lo - hi, hi - lo))]
        if lo >= 0.0 or hi <= 0.0:
            possible = (small / large, large / small if small else math.inf)
            families.append(("factor", after / before, factors, possible))
    unit, shares = first.unit or second.unit, first.estimate.in_percent
    rows = []
    for at, name in enumerate(names):
        for what, values, (low, high), (least, most) in families:
            told = float(values[at]), float(low[at]), float(high[at]), level
            own = unit if what == "change" else None
            nothing = bool(low[at] <= least and high[at] >= most)
            more: dict[str, Any] = {"of": name, "shares": shares, "wide": hi - lo}
            rows.append(Compared(what, "first", "second", *told, own, nothing, **more))
    at_once = "All changes hold at once, and so do all factors. " if len(names) > 1 else ""
    return Comparisons(
        f"Two releases compared: {_named(first)}",
        level,
        tuple(rows),
        ("no change can be seen", "a change"),
        at_once + (_PLANNED if planned else _OVERLAP),
        (f"first: {_line(first)}", f"second: {_line(second)}"),
        first.private and second.private,
    )


def _named(release: Release) -> str:
    return release.title or report.names_of([(None, release.statistic, release.name)])[0].lower()


def _line(release: Release) -> str:
    """Describe a release in a few words: its value, its number of people, and its date."""
    value = release.value
    several = isinstance(value, np.ndarray)
    shown = f"{len(value):,} numbers" if several else said.with_unit(release, numbers.number(value))
    people = said.people_words(release)
    return "; ".join(filter(None, (shown, people[:1].lower() + people[1:], release.date)))


def _limits(release: Release) -> Bounds:
    """The range of the numbers; both ends are infinite if the range was estimated from data."""
    found = hasattr(release.estimate.margin, "picture")
    return (-math.inf, math.inf) if found else release.estimate.limits


def _check(first: Release, second: Release) -> None:
    """Check that two releases are about the same quantity.

    Raises:
        KindError: one of them is not a single release, or is a mean vector.
        ArgumentError: they differ in statistic, bounds, unit, unit of privacy, target, or treatment
            of missing values.
    """
    for name, each in (("first", first), ("second", second)):
        if not hasattr(each, "estimate"):
            raise KindError(f"{name} must be one release, such as releases[0]: compare takes two.")
        if isinstance(each.estimate, VectorEstimate):
            raise KindError(f"{name}: mean vectors have no comparison.")
    clipped = "Values were clipped to them, so the two would be about differently clipped values."
    folded = "A person counts once, with all of their rows, so the two weigh rows differently."
    facts = (
        ("statistic", first.statistic, second.statistic, ""),
        ("bounds", _ranges(first), _ranges(second), clipped),
        ("unit", first.unit, second.unit, ""),
        ("person", first.person, second.person, folded),
        ("about", first.about, second.about, "One is about its people, one about a population."),
        (
            "missing",
            *("midpoint" if each.missing == "midpoint" else "" for each in (first, second)),
            'In one of them missing values count as the middle of the range (missing="midpoint").',
        ),
    )
    for name, one, other, why in facts:
        unknown = name in ("unit", "person") and not (one and other)
        if one != other and not unknown:
            told = f"{one!r} and {other!r}".replace("((", "(").replace("),)", ")")
            shown = "" if name == "missing" else f": {told}"
            raise ArgumentError(
                f"compare: the two releases differ in {name}{shown}. {why}".rstrip()
                + " Publish both in the same way to compare them."
            )


def _ranges(release: Release) -> tuple[Any, ...]:
    """The ranges that values were clipped to; empty if the range was estimated from data."""
    estimate: Any = release.estimate
    if hasattr(estimate.margin, "picture"):
        return ()
    named = (getattr(estimate, name, None) for name in ("values", "bounds", "beside"))
    return tuple(tuple(map(float, each)) for each in named if each is not None)


def _places(first: Release, second: Release) -> tuple[list[tuple[int, int]], list[str]]:
    """The indices of the numbers that both releases have, and their names.

    Raises:
        ArgumentError: the releases have no number in common.
    """
    one, other = ([(type(key), key) for key in each.estimate.keys] for each in (first, second))
    places = [(at, other.index(label)) for at, label in enumerate(one) if label in other]
    if not places:
        raise ArgumentError(
            f"compare: the two releases have no {first.estimate.each[0]} in common. Publish both "
            "with the same labels to compare them."
        )
    names = first.estimate.names
    return places, ["" if len(one) == len(other) == 1 else names[at] for at, _ in places]


def _ends(
    pair: tuple[Release, Release], places: list[tuple[int, int]], level: float
) -> tuple[Ends, Ends, bool]:
    """Return the intervals for changes and for factors, and whether they are conditional.

    Conditional intervals are valid only if the second release was planned without knowledge of the
    first result.

    Proof: docs/proofs/risk.md (29), (31), (32).
    """
    first, second = (cast(Any, release.estimate) for release in pair)
    assumptions = pair[0].assumption, pair[1].assumption
    margins, beta = (first.margin, second.margin), 1.0 - level
    planned = not compared.random_budgets(assumptions)
    exact = not (first.rounding or second.rounding)  # otherwise only intervals include the rounding
    if all(isinstance(each, Scalar) for each in (first, second)) and all(
        exact and isinstance(each, Weighed) for each in margins
    ):
        two = compared.TwoMeans(margins, (first.raw, second.raw), first.bounds, assumptions, beta)
        lo, hi = first.bounds
        ratio = (math.nan, math.nan) if lo < 0.0 < hi else two.ratio
        return _arrays(*two.difference), _arrays(*ratio), planned
    half = 1.0 - compared.EVEN * beta
    (a, b), (c, d) = (
        [end[[pair[at] for pair in places]] for end in _arrays(*_at_once(each, assumption, half))]
        for at, (each, assumption) in enumerate(zip((first, second), assumptions, strict=True))
    )
    found = [compared.quotient(one[:2], one[2:]) for one in zip(a, b, c, d, strict=True)]
    factors = _arrays(*zip(*found, strict=True))
    reach: float | None = None
    if isinstance(first, kinds.CountEstimate):
        reach = compared.count_reach((first.law, second.law), beta)
    elif all(exact and isinstance(margin, WeighedCells) for margin in margins):
        reach = compared.shares_reach(margins, assumptions, beta)
    if reach is None:
        return (c - b, d - a), factors, False
    one, other = _arrays(first.raw, second.raw)
    between = np.array([other[j] - one[i] for i, j in places])
    lo, hi = first.limits
    return (
        (np.maximum(between - reach, lo - hi), np.minimum(between + reach, hi - lo)),
        factors,
        planned,
    )


def _arrays(low: Any, high: Any) -> Ends:
    """Return the lower and the upper ends of intervals as arrays of floats."""
    return np.atleast_1d(low).astype(np.float64), np.atleast_1d(high).astype(np.float64)


def _at_once(estimate: Any, assumption: Assumption, confidence: float) -> tuple[Any, Any]:
    """Return simultaneous intervals for all numbers of an estimate."""
    found = estimate.band if np.size(estimate.value) > 1 else estimate.interval
    ends: tuple[Any, Any] = found(assumption, confidence)
    return ends


# Groups or categories of one release.


def differences_of(release: Release, confidence: float) -> Comparisons:
    """The differences of all pairs of groups or categories, the largest first.

    The intervals are simultaneous. Proof: docs/proofs/groups.md (26), (29).

    Raises:
        KindError: there are fewer than two groups or categories.
    """
    estimate, labels = _several("differences", release)
    pairs = list(combinations(range(len(labels)), 2))
    if not pairs:
        raise KindError("differences needs two groups: this release has one.")
    assumption, margin = release.assumption, estimate.margin
    level = 1.0 - (1.0 - confidence) / len(pairs)
    exact = isinstance(margin, WeighedCells) and not estimate.rounding
    far = margin.apart(assumption, confidence) if exact else None
    groups = isinstance(estimate, grouped.Groups) and len(labels) <= _TESTED
    if far is not None:
        raw = estimate.raw
        ends = [(raw[i] - raw[j] - far, raw[i] - raw[j] + far) for i, j in pairs]
    elif groups and margin.jointly(assumption, confidence):
        ends = [margin.difference(*at, estimate.bounds, assumption, level) for at in pairs]
    else:
        low, high = estimate.band(assumption, confidence)
        ends = [(low[i] - high[j], high[i] - low[j]) for i, j in pairs]
    value, drawn, wide, rows = estimate.compared_by, estimate.unclipped, estimate.unit, []
    for (i, j), (a, b) in zip(pairs, ends, strict=True):
        sign = 1.0 if value[i] >= value[j] else -1.0
        first, second = (i, j) if sign > 0.0 else (j, i)
        least, most = (float(np.clip(end, -wide, wide)) for end in sorted((sign * a, sign * b)))
        apart = float(drawn[first] - drawn[second])
        least, most = reopened((least, most), apart, (-wide, wide))
        told = float(value[first] - value[second]), least, most, confidence
        unit, nothing = release.unit, least <= -wide and most >= wide
        one, other, shares = labels[first], labels[second], estimate.in_percent
        more: dict[str, Any] = {"shares": shares, "wide": wide}
        rows.append(Compared("difference", one, other, *told, unit, nothing, **more))
    rows.sort(key=lambda row: -row.value)
    seen = sum(row.differs for row in rows)
    many = "1 pair" if len(pairs) == 1 else f"{len(pairs):,} pairs"
    return Comparisons(
        f"{many} of {estimate.each[1]}, {seen:,} of which differ",
        confidence,
        tuple(rows),
        ("may be equal", "differ"),
        "All intervals hold at once.",
        private=release.private,
    )


def combined_of(release: Release, weights: Mapping[Any, float], confidence: float) -> Estimated:
    """The weighted sum of the means of groups, or of the shares of categories, with its interval.

    Proof: docs/proofs/groups.md (27), (28), (29).

    Raises:
        KindError: the release has neither groups nor categories.
        ArgumentError: a label or a weight is invalid.
    """
    estimate, labels = _several("combine", release)
    name = "groups" if isinstance(estimate, grouped.Groups) else "categories"
    if not isinstance(weights, Mapping) or not weights:
        raise ArgumentError('combine takes a weight for each label, such as {"north": 0.4}.')
    vector = np.zeros(len(labels))
    for label, weight in weights.items():
        at = [
            place for place, own in enumerate(labels) if type(own) is type(label) and own == label
        ]
        if not at:
            raise ArgumentError(f"combine: one of these is no label: release.{name} has them all.")
        if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)):
            raise ArgumentError("combine: every weight must be a number.")
        if not math.isfinite(weight):
            raise ArgumentError("combine: every weight must be finite.")
        vector[at[0]] = float(weight)
    assumption, margin = release.assumption, estimate.margin
    if name == "groups":
        low, high = margin.combination(vector, estimate.bounds, assumption, confidence)
    elif isinstance(margin, WeighedCells) and not estimate.rounding:
        low, high = margin.combination(estimate.raw, vector, assumption, confidence)
    else:
        level = 1.0 - (1.0 - confidence) / max(int(np.count_nonzero(vector)), 1)
        low, high = weighted_ends(vector, estimate.interval(assumption, level))
    return Estimated(min(max(float(vector @ estimate.compared_by), low), high), low, high)


def _several(name: str, release: Release) -> tuple[Any, tuple[Any, ...]]:
    """Return the estimate of a release with groups or categories, and their labels.

    Raises:
        KindError: the release has neither groups nor categories.
    """
    estimate: Any = release.estimate
    if isinstance(estimate, grouped.Groups):
        return estimate, estimate.labels
    if isinstance(estimate, Cells):
        return estimate, estimate.categories
    raise KindError(
        f"{name} is for means by group and for frequencies: this release is of {release.statistic}."
    )
