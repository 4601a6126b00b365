"""Count people by budget level and bucket of the float64 line, where the range is unknown."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from epsilons.budgets.levels import HUGE, Ladder, in_range, keys, moved
from epsilons.door.count.asks import BAD_BUDGET, Ask, Faults, Names, check_people
from epsilons.door.count.tallies import masses, require
from epsilons.door.engines.table import engine_of
from epsilons.door.given.arrays import Arrays
from epsilons.door.given.columns import Columns
from epsilons.errors import MissingValueError
from epsilons.loading import later
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    from epsilons.door.engines import line_engine
    from epsilons.door.rows import Held, Rows
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


# People by budget level and bucket of the whole float64 line, where the range is unknown.
#
# A bucket of the line is a float with few significant bits. Veltkamp's splitting rounds a value to
# it, in three operations that every engine rounds alike, without a logarithm. There are 1024
# buckets from one power of two to the next, for either sign, and one at 0. `Window` zooms in: equal
# cells between two ends. A pass is one group-by with a small result.
#
# Levels are coarser here than elsewhere: they keep 2 of the 9 significant bits. Each level of
# `Rows.count` lies in one of them, and there are about seven where `Rows.count` has a thousand. A
# level spends on its range what its smallest budget allows; the rest is left for the mean. Fewer
# groups are faster.

BITS: Final = 11
"""Significant bits of a bucket of the line."""

CELLS: Final = 2 ** (BITS - 1)
"""The number of buckets from one power of two to the next."""

LINE_SPLITTER: Final = 2.0 ** (53 - BITS) + 1.0
LEVEL_SPLITTER: Final = 2.0**51 + 1.0
"""Veltkamp's constants: they keep 11 bits of a value, and 2 bits of a budget."""

LOWEST: Final = -900
"""Values below 2^(LOWEST − 1) in magnitude are in the bucket of 0. This limit is public."""

TOP: Final = (1024 - LOWEST + 1) * CELLS
"""The index of the last bucket, which holds the largest floats."""

SHRINK: Final = 2.0**-64
"""Values are scaled down before they are rounded, so splitting never overflows. Scaling is exact
for all values outside the bucket of 0."""

NO_KEY: Final = 1.0 + 2.0**-30
"""Marks a missing value among buckets: it has too many bits to be a bucket."""

NO_CELL: Final = -2
"""Marks a missing value among the cells of a window, where −1 is everything below the window."""

LIMIT: Final = 2.0**1021
"""Ranges and windows lie within ± this, so sums and differences of their ends are finite."""

_UNIT = 2**28
"""Room for integer weights in 64 bits: at most 2³⁵ people are counted."""


@dataclass(frozen=True)
class Window:
    """Equal cells between two ends: 0, ..., cells − 1; −1 is below, and `cells` is above."""

    lo: float
    hi: float
    cells: int

    @classmethod
    def around(cls, centre: float, reach: float, cells: int) -> Window:
        """A window of `cells` cells around a centre, clipped to ± `LIMIT`."""
        centre = min(max(centre, -LIMIT), LIMIT)
        return cls(max(centre - reach, -LIMIT), min(centre + reach, LIMIT), cells)

    @property
    def width(self) -> float:
        """The width of a cell."""
        return (self.hi - self.lo) / self.cells

    def value_of(self, index: int) -> float:
        """The middle of a cell."""
        return self.lo + (index + 0.5) * self.width


@dataclass(frozen=True, eq=False)
class LineGroups:
    """Unchecked counts: one group for each level and bucket in which there is somebody.

    Attributes:
        keys: the level of the group. Budgets in a level agree in their leading bits.
        budgets: the smallest ε in the group.
        cells: the bucket, as a float, or as an index in a window.
        people: the number of people.
        faults: what may have to be refused.
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
    """People by level, and sums of their weights by bucket, once weights are chosen.

    Attributes:
        levels: the smallest budget of each level, ascending.
        keys: the number that all budgets of a level round to.
        counts: the number of people in each level, including those whose value is missing.
    """

    levels: Floats
    keys: Floats
    counts: Integers

    @abstractmethod
    def masses(self, *weights: Integers) -> tuple[Integers, ...]:
        """Add weights up by bucket.

        Args:
            weights: one or more sets of weights; each has the weight of a person by level.

        Returns:
            The buckets in which there is somebody, ascending (there may be others, of no weight);
            and for each set of weights the sum over the people in each bucket.
        """


@dataclass(frozen=True, eq=False)
class Line(Lined):
    """People by level and bucket.

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
        """Add weights up by bucket: see `Lined.masses`."""
        return by_bucket(self.cell_of, [each[self.level_of] * self.people for each in weights])

    def sound(self) -> Line:
        """Return these counts, if people can add up to them: see `tallies.sound`.

        Raises:
            PrivacyError: they cannot.
        """
        levels = self.levels
        require((levels >= 0.0).all() and (np.diff(levels) > 0.0).all(), "levels")
        require((self.counts >= 0).all(), "numbers of people")
        there = np.zeros_like(self.counts)
        np.add.at(there, self.level_of, self.people)
        require((self.people >= 0).all() and (self.missing >= 0).all(), "buckets")
        require(np.array_equal(there + self.missing, self.counts), "buckets")
        return self


def by_bucket(cell_of: Integers, sums: Sequence[Integers]) -> tuple[Integers, ...]:
    """Add up by bucket: the buckets, ascending, and the sums in each."""
    cells, place = np.unique(cell_of, return_inverse=True)
    totals = np.zeros((len(sums), cells.size), dtype=np.int64)
    for total, each in zip(totals, sums, strict=True):
        np.add.at(total, place, each)
    return (cells, *totals)


def checked_line(groups: LineGroups, window: Window | None, names: Names, missing: str) -> Line:
    """Return people by level and bucket, after all checks.

    Args:
        groups: unchecked counts.
        window: the window of the cells; None for the whole line.
        names: the names of the parameters in messages.
        missing: "error" refuses missing values; "midpoint" leaves them out of every bucket.

    Raises:
        BudgetError: a budget is negative, NaN or null, or everyone's is 0.
        DataError: there are too few people, a value is missing, somebody has two budgets.
    """
    found, level_of = np.unique(groups.keys, return_inverse=True)
    levels = np.full(found.size, np.inf)
    np.minimum.at(levels, level_of, groups.budgets)
    counts = np.zeros(found.size, dtype=np.int64)
    np.add.at(counts, level_of, groups.people)
    check_people(levels, counts, groups.faults, names, _UNIT)
    gone = groups.cells == (NO_KEY if window is None else NO_CELL)
    lost = np.zeros(found.size, dtype=np.int64)
    np.add.at(lost, level_of[gone], groups.people[gone])
    if groups.faults.missing:
        refuse_missing(names, missing)
    cells = groups.cells[~gone]
    return Line(
        levels=levels + 0.0,
        keys=found,
        counts=counts,
        missing=lost,
        level_of=level_of[~gone].astype(np.int64),
        cell_of=index_of(cells) if window is None else cells.astype(np.int64),
        people=groups.people[~gone],
    )


def refuse_missing(names: Names, missing: str) -> None:
    """Refuse missing values under missing="error".

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
    """The coarse rungs of a public ladder: of all rungs with the same coarse key, the lowest.

    Returns:
        Coarse rungs and their keys, ascending, and for each rung of the ladder the index of its
        coarse rung.
    """
    found, first, place = np.unique(coarse(ladder.levels), return_index=True, return_inverse=True)
    return ladder.levels[first], found, place.astype(np.int64)


def line_on_rungs(groups: LineGroups, window: Window | None, ladder: Ladder) -> Line:
    """Count people on all coarse rungs of a public ladder, including rungs without anyone."""
    levels, found, _ = rungs(ladder)
    used = groups.budgets > 0.0
    place = np.minimum(np.searchsorted(found, groups.keys), found.size - 1)
    gone = groups.cells == (NO_KEY if window is None else NO_CELL)
    counts, lost = np.zeros((2, found.size), dtype=np.int64)
    np.add.at(counts, place[used], groups.people[used])
    np.add.at(lost, place[used & gone], groups.people[used & gone])
    there = used & ~gone
    cells = groups.cells[there]
    return Line(
        levels=levels,
        keys=found,
        counts=counts,
        missing=lost,
        level_of=place[there].astype(np.int64),
        cell_of=index_of(cells) if window is None else cells.astype(np.int64),
        people=groups.people[there],
    )


def coarse(epsilon: Floats) -> Floats:
    """The coarse level of nonnegative budgets: rounded to 9 significant bits, then to 2.

    Two budgets in one level of `Rows.count` are in one level here, because the second rounding
    depends only on the result of the first.
    """
    fine = keys(epsilon)
    with np.errstate(over="ignore", invalid="ignore"):
        product = fine * LEVEL_SPLITTER
        rounded: Floats = product - (product - fine)
    return np.where(fine <= HUGE, rounded, fine)


def rounded(values: Floats) -> Floats:
    """Finite values, times `SHRINK`, rounded to the floats that represent their buckets."""
    scaled = values * SHRINK
    product = scaled * LINE_SPLITTER
    short: Floats = product - (product - scaled)
    return short


def index_of(floats: Floats) -> Integers:
    """The indices of buckets, given the floats from `rounded`: ascending, 0 at 0, and odd.

    Odd means that −x has the index −i. Every float, even one that is not a bucket, has an index
    from −TOP to TOP.
    """
    with np.errstate(over="ignore"):
        grown = np.clip(floats / SHRINK, -_LARGEST, _LARGEST)
    fraction, exponent = np.frexp(grown)
    mantissa = np.floor(np.abs(fraction) * (2 * CELLS)).astype(np.int64)
    size = 1 + (exponent.astype(np.int64) - LOWEST) * CELLS + (mantissa - CELLS)
    size = np.where((exponent >= LOWEST) & (fraction != 0.0), size, 0)
    return np.where(fraction < 0.0, -size, size)


def value_of(index: int) -> float:
    """The float that represents a bucket."""
    if index == 0:
        return 0.0
    octave, mantissa = divmod(abs(index) - 1, CELLS)
    size = float(np.ldexp((CELLS + mantissa) / (2 * CELLS), octave + LOWEST))
    return size if index > 0 else -size


def values_of(indices: Integers) -> Floats:
    """The floats that represent buckets."""
    octave, mantissa = np.divmod(np.abs(indices) - 1, CELLS)
    sizes = np.ldexp((CELLS + mantissa) / (2 * CELLS), octave + LOWEST)
    return np.where(indices == 0, 0.0, np.where(indices > 0, sizes, -sizes))


def width_of(index: int) -> float:
    """The width of a bucket: the distance to the next bucket."""
    octave = (abs(index) - 1) // CELLS if index else 0
    return float(np.ldexp(1.0 / (2 * CELLS), octave + LOWEST)) if index else 2.0**LOWEST


_LARGEST = value_of(TOP)


# Buckets of the float64 line in NumPy: the same as `line_engine.py` on engines, for small data.


@dataclass(frozen=True, eq=False)
class Folded:
    """One entry for each person: their value (NaN if missing) and their budget; and faults."""

    values: Floats
    budgets: Floats
    faults: Faults
    moved: bool = False

    @cached_property
    def coarse_keys(self) -> Floats:
        """The level of each person on the line. Bad budgets have a level of their own."""
        usable = self.budgets >= 0.0
        return np.where(usable, coarse(np.maximum(self.budgets, 0.0)), BAD_BUDGET)

    def levels(self) -> tuple[Floats, Integers, Integers]:
        """The levels of `Rows.count`, ascending; the number of people in each; each one's level."""
        found, level_of = np.unique(keys(self.budgets), return_inverse=True)
        smallest = np.full(found.size, np.inf)
        np.minimum.at(smallest, level_of, self.budgets)
        return smallest, np.bincount(level_of).astype(np.int64), level_of.astype(np.int64)


def fold(rows: Arrays) -> Folded:
    """Return one entry per person: the midpoint of their extremes, and their smallest budget."""
    valid = np.isfinite(rows.values)
    missing = int((~valid).sum())
    values = np.where(valid, rows.values, np.nan)
    epsilon = rows.epsilon
    if isinstance(epsilon, float):
        budgets = np.full(values.size, epsilon)
    else:
        budgets = np.where(epsilon >= 0.0, epsilon, BAD_BUDGET) + 0.0
    other = moved(budgets)
    if rows.person is None:
        return Folded(values, in_range(budgets), Faults(missing=missing, most=1), other)
    who = np.unique(rows.person, return_inverse=True)[1]
    sizes = np.bincount(who)
    low, high = np.full(sizes.size, np.inf), np.full(sizes.size, -np.inf)
    np.minimum.at(low, who[valid], values[valid])
    np.maximum.at(high, who[valid], values[valid])
    with np.errstate(invalid="ignore"):
        middle = low / 2.0 + high / 2.0  # halve first: the sum may overflow
    smallest, largest = np.full(sizes.size, np.inf), np.full(sizes.size, -np.inf)
    np.minimum.at(smallest, who, budgets)
    np.maximum.at(largest, who, budgets)
    conflicts = int((smallest != largest).sum())
    faults = Faults(missing=missing, conflicts=conflicts, most=int(sizes.max(initial=0)))
    return Folded(middle, in_range(smallest), faults, other)


def count(people: Folded, window: Window | None) -> LineGroups:
    """Count people by level and bucket."""
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
    """The bucket of every value."""
    there = ~np.isnan(values)
    safe = np.where(there, values, 0.0)
    if window is None:
        return np.where(there, rounded(safe), NO_KEY)
    with np.errstate(over="ignore"):
        steps = (safe - window.lo) * (1.0 / window.width)
    steps = np.floor(np.clip(steps, -0.5, window.cells + 0.5))
    return np.where(there, steps, NO_CELL).astype(np.int64)


# The line in two narrow queries instead of a wide one, where there are few different budgets.
#
# A selection needs the total weight of people in each bucket. Weights depend on the levels and the
# number of people in each. So budgets alone are counted first, which takes a small part of a pass
# over the rows. Once weights are chosen, the second query looks them up for each row by its budget
# and adds them up by bucket. It has as many groups as buckets, not buckets times levels, and they
# stay in the processor's cache. All sums are the same integers as those of `Line.masses`.

LARGE: Final = 200_000
"""The number of people from which two narrow SQL queries are faster than a wide one. Each query
must be planned."""

_BUDGETS: Final = Window(0.0, 1.0, 1)
"""A window that marks buckets as integers: here indices of budgets in a list."""

Weigh = Callable[[Floats, list[Integers]], tuple[Integers, ...]]
"""A function that adds the weights of budgets up by bucket."""


@dataclass(frozen=True, eq=False)
class ByWeight(Lined):
    """People by level. One pass adds their weights up by bucket once weights are chosen.

    Attributes:
        own: the budgets of people who count, all different.
        level_of: the level of each budget, as an index.
        people: the number of people with each budget.
        weigh: the function that adds the weights of these budgets up.
    """

    own: Floats
    level_of: Integers
    people: Integers
    weigh: Weigh

    def masses(self, *weights: Integers) -> tuple[Integers, ...]:
        """Add weights up by bucket: see `Lined.masses`."""
        each_has = [each[self.level_of] for each in weights]
        cells, *found = self.weigh(self.own, each_has)
        masses(found, each_has, self.people)
        return (cells, *found)


class Lines:
    """The line of rows, and windows of it, for callers that only need weights by bucket.

    Args:
        rows: rows of numbers.
        held: the table or arrays that hold them, or None.
    """

    def __init__(self, rows: Rows, held: Held | None) -> None:
        self._rows = rows
        self._held = held

    def line(self, window: Window | None = None) -> Lined:
        """Count people by level, and prepare to add up weights by bucket: see `Rows.line`.

        If every row is its own person and there are few budgets, values are not read before weights
        are chosen, so missing values are not noticed before then either.

        Args:
            window: cells to zoom in on; None for the whole line.

        Raises:
            EpsilonsError: as `Rows.line`, here or when weights are added up.
        """
        if self._budgets is None:
            return self._rows.line(window)
        own, heads = self._budgets
        used = own[heads.cell_of]

        def weigh(own: Floats, weights: list[Integers]) -> tuple[Integers, ...]:
            return self._weighed(window, own, weights)

        by_budget = (used, heads.level_of, heads.people)
        return ByWeight(heads.levels, heads.keys, heads.counts, *by_budget, weigh)

    def levels(self) -> Floats:
        """The levels of `Rows.count`, ascending. They are finer than those of the line.

        Raises:
            EpsilonsError: as `Rows.count`.
        """
        if self._budgets is None:
            return self._rows.count(Ask("numbers", (0.0, 1.0))).levels
        own, ladder = self._budgets[0], self._rows.rules.ladder
        if ladder is not None:
            found = np.unique(ladder.of(own))
            return found[found > 0.0]
        own = in_range(own)
        return own[np.unique(keys(own), return_index=True)[1]]  # it ascends: the first is smallest

    @cached_property
    def _budgets(self) -> tuple[Floats, Line] | None:
        """All budgets, and people by level and budget; None if one wide query counts everything."""
        held = self._held
        if not isinstance(held, Columns):
            return None
        found = line_engine.budgets(held)
        if found is None or (engine_of(held.frame).sql and found[1].sum() < LARGE):
            return None
        # + 0.0 merges -0.0 and 0.0. They are equal, so looking up both would count rows twice.
        own, place = np.unique(found[0] + 0.0, return_inverse=True)
        people = np.zeros(own.size, dtype=np.int64)
        np.add.at(people, place, found[1])
        rules = self._rows.rules
        if rules.ladder is None:
            groups = self._rows.noted(_groups(own, people))
            return own, checked_line(groups, _BUDGETS, rules.names, rules.missing)
        return own, line_on_rungs(_groups(rules.ladder.of(own), people), _BUDGETS, rules.ladder)

    def _weighed(
        self, window: Window | None, own: Floats, weights: list[Integers]
    ) -> tuple[Integers, ...]:
        """Add the weights of budgets up by bucket, in one pass."""
        held, rules = self._held, self._rows.rules
        if not isinstance(held, Columns):
            raise TypeError("weights are looked up by an engine")
        if not own.size:  # nobody counts, and an engine cannot infer the type of an empty list
            return by_bucket(np.zeros(0, dtype=np.int64), weights)
        cells, sums = line_engine.weigh(held, window, own, weights)
        gone = cells == (NO_KEY if window is None else NO_CELL)
        if gone.any() and rules.ladder is None:
            refuse_missing(rules.names, rules.missing)
        there = cells[~gone]
        found = index_of(there) if window is None else there.astype(np.int64)
        return by_bucket(found, [each[~gone] for each in sums])


def _groups(budgets: Floats, people: Integers) -> LineGroups:
    """People by budget. Each budget is a bucket of its own."""
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
