"""Count people by budget level and bucket of the float64 line, for values of unknown range."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from epsilons.budgets.levels import HUGE, Ladder, in_range, keys, moved
from epsilons.door.count.asks import BAD_BUDGET, Ask, Faults, Names, check_people, summed
from epsilons.door.count.tallies import masses, require
from epsilons.door.engines.table import engine_of
from epsilons.door.given import arrays
from epsilons.door.given.arrays import Arrays
from epsilons.door.given.columns import Columns
from epsilons.errors import MissingValueError
from epsilons.loading import later
from epsilons.types import Booleans, Floats, Integers

if TYPE_CHECKING:
    from epsilons.door.engines import line_engine
    from epsilons.door.rows import Rows
else:
    line_engine = later("epsilons.door.engines.line_engine")

__all__ = [
    "CELLS",
    "LARGE",
    "TOP",
    "ByWeight",
    "Folded",
    "Line",
    "LineGroups",
    "Lined",
    "Lines",
    "Window",
    "by_bucket",
    "checked_line",
    "coarse",
    "count",
    "fold",
    "index_of",
    "line_on_rungs",
    "refuse_missing",
    "rungs",
    "value_of",
    "values_of",
    "width_of",
]


# Counts of people by budget level and bucket, for values of unknown range. Buckets cover all
# float64 numbers, which are called the line.
#
# A bucket is a float with few significant bits. Veltkamp's splitting rounds a value to its bucket
# in three floating-point operations, without a logarithm. Every engine rounds these identically.
# There are 1024 buckets between consecutive powers of two, for either sign, and one at 0. A
# `Window` divides an interval into finer cells of equal width. Each pass over the rows is one
# group-by with a small result.
#
# Levels are coarser here than elsewhere: they keep 2 instead of 9 significant bits. Each level of
# `Rows.count` is contained in one coarse level. There are about seven coarse levels for a thousand
# levels of `Rows.count`, and fewer groups are faster. To estimate the range, everyone in a coarse
# level spends according to its smallest budget. They keep the rest for the mean.

BITS: Final = 11
"""The number of significant bits of a bucket."""

CELLS: Final = 2 ** (BITS - 1)
"""The number of buckets between consecutive powers of two."""

LINE_SPLITTER: Final = 2.0 ** (53 - BITS) + 1.0
LEVEL_SPLITTER: Final = 2.0**51 + 1.0
"""Veltkamp's constants: they keep 11 bits of a value, and 2 bits of a budget."""

LOWEST: Final = -900
"""Values below 2^(LOWEST − 1) in magnitude are in the bucket of 0. This limit is public."""

TOP: Final = (1024 - LOWEST + 1) * CELLS
"""The index of the last bucket, which contains the largest floats."""

SHRINK: Final = 2.0**-64
"""Values are scaled down before they are rounded, so splitting never overflows. Scaling is exact
for all values outside the bucket of 0."""

NO_KEY: Final = 1.0 + 2.0**-30
"""Marks a missing value among buckets. It has too many significant bits to be a bucket."""

NO_CELL: Final = -2
"""Marks a missing value among the cells of a window. The index −1 is for values below the
window."""

LIMIT: Final = 2.0**1021
"""Ranges and windows lie within ± `LIMIT`, so sums and differences of their ends are finite."""

_UNIT = 2**28
"""The largest weight of a person. At most 2³⁵ people can be counted, so sums fit 64 bits."""


@dataclass(frozen=True)
class Window:
    """An interval that is divided into equal cells with the indices 0 to `cells` − 1.

    The index −1 is for values below the interval, and `cells` for values above it.
    """

    lo: float
    hi: float
    cells: int

    @classmethod
    def around(cls, centre: float, reach: float, cells: int) -> Window:
        """Return a window of `cells` cells around a centre, clipped to ± `LIMIT`."""
        centre = min(max(centre, -LIMIT), LIMIT)
        return cls(max(centre - reach, -LIMIT), min(centre + reach, LIMIT), cells)

    @property
    def width(self) -> float:
        """The width of a cell."""
        return (self.hi - self.lo) / self.cells

    def value_of(self, index: int) -> float:
        """Return the middle of a cell."""
        return self.lo + (index + 0.5) * self.width


@dataclass(frozen=True, eq=False)
class LineGroups:
    """Unchecked counts, with one group for each pair of a level and a bucket that occurs.

    Attributes:
        keys: the level of each group: the number that its budgets round to.
        budgets: the smallest ε in the group.
        cells: the bucket of each group, as a float, or as an index in a window.
        people: the number of people in each group.
        faults: counts of faults that may lead to a refusal.
        moved: whether `levels.in_range` changed somebody's budget.
    """

    keys: Floats
    budgets: Floats
    cells: Floats | Integers
    people: Integers
    faults: Faults
    moved: bool = False


@dataclass(frozen=True, eq=False)
class Lined(ABC):
    """People by level. Once weights are chosen, `masses` adds them up by bucket.

    Attributes:
        levels: the smallest budget of each level, ascending.
        keys: the number that all budgets of a level round to.
        counts: the number of people in each level, including people whose value is missing.
    """

    levels: Floats
    keys: Floats
    counts: Integers

    @abstractmethod
    def masses(self, *weights: Integers) -> tuple[Integers, ...]:
        """Return sums of weights by bucket.

        Args:
            weights: one or more arrays; each holds a person's weight by level.

        Returns:
            The indices of buckets, ascending, and for each array of weights the sum in each bucket.
            All buckets with people are present; others have sums of 0.
        """


@dataclass(frozen=True, eq=False)
class Line(Lined):
    """Counts of people by level and bucket, in groups.

    Attributes:
        missing: the number of people in each level whose value is missing.
        level_of: the level of each group, as an index.
        cell_of: the bucket of each group, as an index.
        people: the number of people in each group.
    """

    missing: Integers
    level_of: Integers
    cell_of: Integers
    people: Integers

    def masses(self, *weights: Integers) -> tuple[Integers, ...]:
        """Return sums of weights by bucket: see `Lined.masses`."""
        return by_bucket(self.cell_of, [each[self.level_of] * self.people for each in weights])

    def sound(self) -> Line:
        """Return these counts, after checking that they are possible: see `tallies.sound`.

        Raises:
            PrivacyError: no group of people can have these counts.
        """
        levels = self.levels
        require((levels >= 0.0).all() and (np.diff(levels) > 0.0).all(), "levels")
        require((self.counts >= 0).all(), "numbers of people")
        there = summed(self.level_of, self.people, levels.size)
        require((self.people >= 0).all() and (self.missing >= 0).all(), "buckets")
        require(np.array_equal(there + self.missing, self.counts), "buckets")
        return self


def by_bucket(cell_of: Integers, sums: Sequence[Integers]) -> tuple[Integers, ...]:
    """Return the distinct buckets, ascending, and the sums in each bucket."""
    cells, place = np.unique(cell_of, return_inverse=True)
    return (cells, *(summed(place, each, cells.size) for each in sums))


def checked_line(groups: LineGroups, window: Window | None, names: Names, missing: str) -> Line:
    """Return counts of people by level and bucket, after all checks.

    Args:
        groups: unchecked counts.
        window: the window that contains the cells; None for the whole line.
        names: the names of the parameters in messages.
        missing: "error" refuses missing values; "midpoint" leaves them out of every bucket.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        DataError: there are too few people, a value is missing, somebody has two budgets.
    """
    found, level_of = np.unique(groups.keys, return_inverse=True)
    levels = np.full(found.size, np.inf)
    np.minimum.at(levels, level_of, groups.budgets)
    counted = _line(levels + 0.0, found, level_of, groups.cells, groups.people, window)
    check_people(counted.levels, counted.counts, groups.faults, names, _UNIT)
    if groups.faults.missing:
        refuse_missing(names, missing)
    return counted


def _line(
    levels: Floats,
    keys_of: Floats,
    level_of: Integers,
    cells: Floats | Integers,
    people: Integers,
    window: Window | None,
) -> Line:
    """Return counts of people, given the level and the bucket of each group, as in `LineGroups`."""
    there, cell_of = _buckets(cells, window)
    return Line(
        levels=levels,
        keys=keys_of,
        counts=summed(level_of, people, levels.size),
        missing=summed(level_of[~there], people[~there], levels.size),
        level_of=level_of[there].astype(np.int64),
        cell_of=cell_of,
        people=people[there],
    )


def _buckets(cells: Floats | Integers, window: Window | None) -> tuple[Booleans, Integers]:
    """Return which groups have a value, and the indices of the buckets of these groups."""
    there = cells != (NO_KEY if window is None else NO_CELL)
    found = cells[there]
    return there, index_of(found) if window is None else found.astype(np.int64)


def refuse_missing(names: Names, missing: str) -> None:
    """Refuse missing values if missing="error".

    Raises:
        MissingValueError: `missing` is "error".
    """
    if missing == "error":
        raise MissingValueError(
            f"{names.values} has missing values (null, NaN or infinite).{names.missing} This "
            "message depends on private data: it is for the curator only. "
            'missing="midpoint" puts such values in the middle of the range that is found and '
            'never refuses; missing="exclude" needs bounds=(lo, hi). Do not drop the rows '
            "yourself: the number of people is published."
        )


def rungs(ladder: Ladder) -> tuple[Floats, Floats, Integers]:
    """Return the lowest rung (public budget level) of a ladder in each coarse level.

    Returns:
        The coarse rungs and their keys, ascending; and for each rung of the ladder, the index of
        its coarse rung.
    """
    found, first, place = np.unique(coarse(ladder.levels), return_index=True, return_inverse=True)
    return ladder.levels[first], found, place.astype(np.int64)


def line_on_rungs(groups: LineGroups, window: Window | None, ladder: Ladder) -> Line:
    """Count people on all coarse rungs of a public ladder, including rungs without people."""
    levels, found, _ = rungs(ladder)
    used = groups.budgets > 0.0
    place = np.minimum(np.searchsorted(found, groups.keys[used]), found.size - 1)
    return _line(levels, found, place, groups.cells[used], groups.people[used], window)


def coarse(epsilon: Floats) -> Floats:
    """Return the coarse levels of nonnegative budgets, rounded to 9 significant bits, then to 2.

    Two budgets in the same level of `Rows.count` are also in the same coarse level, because the
    second rounding depends only on the result of the first.
    """
    fine = keys(epsilon)
    with np.errstate(over="ignore", invalid="ignore"):
        product = fine * LEVEL_SPLITTER
        rounded: Floats = product - (product - fine)
    return np.where(fine <= HUGE, rounded, fine)


def rounded(values: Floats) -> Floats:
    """Return finite values, multiplied by `SHRINK` and rounded to the floats of their buckets."""
    scaled = values * SHRINK
    product = scaled * LINE_SPLITTER
    short: Floats = product - (product - scaled)
    return short


def index_of(floats: Floats) -> Integers:
    """Return the indices of buckets, given the floats from `rounded`. The index of 0 is 0.

    Indices ascend with the floats, and −x has the negative index of x. Every float, even one that
    is not a bucket, has an index from −TOP to TOP.
    """
    with np.errstate(over="ignore"):
        grown = np.clip(floats / SHRINK, -_LARGEST, _LARGEST)
    fraction, exponent = np.frexp(grown)
    mantissa = np.floor(np.abs(fraction) * (2 * CELLS)).astype(np.int64)
    size = 1 + (exponent.astype(np.int64) - LOWEST) * CELLS + (mantissa - CELLS)
    size = np.where((exponent >= LOWEST) & (fraction != 0.0), size, 0)
    return np.where(fraction < 0.0, -size, size)


def value_of(index: int) -> float:
    """Return the float that represents a bucket."""
    return float(values_of(np.array(index)))


def values_of(indices: Integers) -> Floats:
    """Return the floats that represent buckets."""
    octave, mantissa = np.divmod(np.abs(indices) - 1, CELLS)
    sizes = np.ldexp((CELLS + mantissa) / (2 * CELLS), octave + LOWEST)
    return np.where(indices == 0, 0.0, np.where(indices > 0, sizes, -sizes))


def width_of(index: int) -> float:
    """Return the width of a bucket: the distance to the next bucket."""
    octave = (abs(index) - 1) // CELLS if index else 0
    return float(np.ldexp(1.0 / (2 * CELLS), octave + LOWEST)) if index else 2.0**LOWEST


_LARGEST = value_of(TOP)


# Buckets of arrays, in NumPy, for small data. `line_engine.py` does the same on engines.


@dataclass(frozen=True, eq=False)
class Folded:
    """People, with one entry each: value (NaN if missing) and budget; with counts of faults."""

    values: Floats
    budgets: Floats
    faults: Faults
    moved: bool = False

    @cached_property
    def coarse_keys(self) -> Floats:
        """The coarse level of each person. Invalid budgets have a separate level."""
        usable = self.budgets >= 0.0
        return np.where(usable, coarse(np.maximum(self.budgets, 0.0)), BAD_BUDGET)

    def levels(self) -> tuple[Floats, Integers, Integers]:
        """Return the levels of `Rows.count`, ascending, their sizes, and each person's level."""
        found, level_of = np.unique(keys(self.budgets), return_inverse=True)
        smallest = np.full(found.size, np.inf)
        np.minimum.at(smallest, level_of, self.budgets)
        return smallest, np.bincount(level_of).astype(np.int64), level_of.astype(np.int64)


def fold(rows: Arrays) -> Folded:
    """Return for each person the midpoint of their extreme values, and their smallest budget."""
    people = arrays.fold(rows.epsilon, rows.person, rows.values.size)
    valid, who, size = np.isfinite(rows.values), people.who, people.rows.size
    budgets = np.full(size, people.budgets) + 0.0
    if who is None:
        values = np.where(valid, rows.values, np.nan)
    else:
        low, high = np.full(size, np.inf), np.full(size, -np.inf)
        np.minimum.at(low, who[valid], rows.values[valid])
        np.maximum.at(high, who[valid], rows.values[valid])
        with np.errstate(invalid="ignore"):
            values = low / 2.0 + high / 2.0  # halve first: the sum can overflow
    faults = people.faults(missing=int((~valid).sum()))
    return Folded(values, in_range(budgets), faults, moved(budgets))


def count(people: Folded, window: Window | None) -> LineGroups:
    """Count people by coarse level and bucket."""
    keys_of, cells = people.coarse_keys, _cells(people.values, window)
    order = np.lexsort((cells, keys_of))
    level, cells, budgets = keys_of[order], cells[order], people.budgets[order]
    fresh = np.ones(level.size, dtype=bool)
    fresh[1:] = (level[1:] != level[:-1]) | (cells[1:] != cells[:-1])
    starts = np.flatnonzero(fresh)
    return LineGroups(
        keys=level[starts],
        budgets=np.minimum.reduceat(budgets, starts) if level.size else budgets,
        cells=cells[starts],
        people=np.diff(starts, append=level.size).astype(np.int64),
        faults=people.faults,
        moved=people.moved,
    )


def _cells(values: Floats, window: Window | None) -> Floats | Integers:
    """Return the bucket of every value."""
    there = ~np.isnan(values)
    safe = np.where(there, values, 0.0)
    if window is None:
        return np.where(there, rounded(safe), NO_KEY)
    with np.errstate(over="ignore"):
        steps = (safe - window.lo) * (1.0 / window.width)
    steps = np.floor(np.clip(steps, -0.5, window.cells + 0.5))
    return np.where(there, steps, NO_CELL).astype(np.int64)


# The line in two narrow queries instead of a wide one, if there are few different budgets.
#
# A selection needs the total weight of the people in each bucket. Weights depend on the levels and
# on the number of people in each level. The first query counts people by budget only, which takes a
# fraction of the time of a pass over all columns. Once weights are chosen, the second query looks
# them up by each row's budget and adds them up by bucket. It has one group per bucket instead of
# one per bucket and level, and these fewer groups fit in the processor's cache. All sums are the
# same integers as in `Line.masses`.

LARGE: Final = 200_000
"""The number of people from which two narrow SQL queries are faster than a wide one. Below it, the
time to plan a second query outweighs the gain."""

_BUDGETS: Final = Window(0.0, 1.0, 1)
"""A window in which each bucket is one budget: its index is a position in a list of budgets."""


@dataclass(frozen=True, eq=False)
class ByWeight(Lined):
    """People by level. Once weights are chosen, one pass over the rows adds them up by bucket.

    Attributes:
        level_of: the level of each distinct budget, as an index.
        people: the number of people with each budget.
        weigh: the function that adds up the weights of these budgets by bucket.
    """

    level_of: Integers
    people: Integers
    weigh: Callable[[list[Integers]], tuple[Integers, ...]]

    def masses(self, *weights: Integers) -> tuple[Integers, ...]:
        """Return sums of weights by bucket: see `Lined.masses`."""
        each_has = [each[self.level_of] for each in weights]
        cells, *found = self.weigh(each_has)
        masses(found, each_has, self.people)
        return (cells, *found)


class Lines:
    """Counts rows on the line or in windows of it, for callers that only need weights by bucket.

    Args:
        rows: rows of numbers.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def line(self, window: Window | None = None) -> Lined:
        """Count people by level, and prepare sums of weights by bucket: see `Rows.line`.

        If every row is its own person and there are few budgets, values are read only after weights
        are chosen. Missing values are detected only then.

        Args:
            window: the cells to count in; None for the whole line.

        Raises:
            EpsilonsError: as for `Rows.line`, either here or when weights are added up.
        """
        if self._budgets is None:
            return self._rows.line(window)
        own, heads = self._budgets
        weigh = partial(self._weighed, window, own[heads.cell_of])
        by_level = heads.levels, heads.keys, heads.counts
        return ByWeight(*by_level, heads.level_of, heads.people, weigh)

    def levels(self) -> Floats:
        """Return the levels of `Rows.count`, ascending. They are finer than those of the line.

        Raises:
            EpsilonsError: as for `Rows.count`.
        """
        if self._budgets is None:
            return self._rows.count(Ask("numbers", (0.0, 1.0))).levels
        own, ladder = self._budgets[0], self._rows.rules.ladder
        if ladder is not None:
            found = np.unique(ladder.of(own))
            return found[found > 0.0]
        own = in_range(own)
        return own[np.unique(keys(own), return_index=True)[1]]  # the smallest budget of each key

    @cached_property
    def _budgets(self) -> tuple[Floats, Line] | None:
        """Return all budgets, and people by level and budget; None if one wide query is used."""
        held = self._rows.held
        if not isinstance(held, Columns):
            return None
        found = line_engine.budgets(held)
        if found is None or (engine_of(held.frame).sql and found[1].sum() < LARGE):
            return None
        # + 0.0 merges -0.0 and 0.0. They are equal, so a lookup of both would count rows twice.
        own, place = np.unique(found[0] + 0.0, return_inverse=True)
        people = summed(place, found[1], own.size)
        rules = self._rows.rules
        if rules.ladder is None:
            groups = _groups(own, people)
            self._rows.moved |= groups.moved
            return own, checked_line(groups, _BUDGETS, rules.names, rules.missing)
        return own, line_on_rungs(_groups(rules.ladder.of(own), people), _BUDGETS, rules.ladder)

    def _weighed(
        self, window: Window | None, own: Floats, weights: list[Integers]
    ) -> tuple[Integers, ...]:
        """Add up the weights of budgets by bucket, in one pass."""
        held, rules = self._rows.held, self._rows.rules
        if not isinstance(held, Columns):
            raise TypeError("weights are looked up by an engine")
        if not own.size:  # an engine cannot infer the type of an empty list
            return by_bucket(np.zeros(0, dtype=np.int64), weights)
        cells, sums = line_engine.weigh(held, window, own, weights)
        there, found = _buckets(cells, window)
        if not there.all() and rules.ladder is None:
            refuse_missing(rules.names, rules.missing)
        return by_bucket(found, [each[there] for each in sums])


def _groups(budgets: Floats, people: Integers) -> LineGroups:
    """Return people by budget. Each budget is a separate bucket."""
    given, budgets = budgets, in_range(budgets)
    usable = budgets >= 0.0
    return LineGroups(
        keys=np.where(usable, coarse(np.where(usable, budgets, 0.0)), BAD_BUDGET),
        budgets=np.where(usable, budgets, BAD_BUDGET),
        cells=np.arange(budgets.size),
        people=people,
        faults=Faults(most=1),
        moved=moved(given),
    )
