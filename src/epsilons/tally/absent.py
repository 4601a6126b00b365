"""People who have budgets and no values: what is counted where a question is only rehearsed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, cast

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.tally import pairs
from epsilons.tally.cells import LARGEST_TABLE, CellTally
from epsilons.tally.grid import GRID, HALF, Rule, of_squares, squares
from epsilons.tally.levels import SumGroups, Tally, checked, levels_of, on_rungs
from epsilons.tally.line import Line, LineGroups, Window, checked_line, coarse, line_on_rungs
from epsilons.tally.rows import Rows, Rules
from epsilons.types import Floats, Integers

__all__ = ["WIDEST", "Absent", "AbsentRows"]

WIDEST: Final = 0.5
"""The largest standard deviation that values can have, in parts of their range."""


@dataclass(frozen=True, eq=False)
class Absent:
    """People whose budgets are all that is known of them: `open` takes them in place of budgets.

    Attributes:
        levels: their budgets.
        counts: how many people have each.
        spread: how far everyone's value is from the middle of the range, in parts of the range:
            half of the people are above it, half below. None for what is usual for a question.
        first: which part of all people is in the first group; None if all groups are as large.
        middle: where the mean of each group is, in parts of the range.
    """

    levels: Floats
    counts: Integers
    spread: float | None = field(default=None, kw_only=True)
    first: float | None = field(default=None, kw_only=True)
    middle: float = field(default=0.5, kw_only=True)


class AbsentRows(Rows):
    """Rows of people who are not there: whatever is asked, the people of each level are counted.

    Cells are as large as one another, and groups as large as `Absent` says.

    Args:
        people: who would be there.
        rules: how they would be counted.
    """

    def __init__(self, people: Absent, rules: Rules) -> None:
        super().__init__(cast(Any, None), rules)  # nobody holds them
        self._absent = people

    @cached_property
    def _standing(self) -> Floats:
        """Budgets as they count."""
        ladder = self._rules.ladder
        return self._absent.levels if ladder is None else ladder.of(self._absent.levels)

    @cached_property
    def _everybody(self) -> Tally:
        """The people of each level, all of them in the middle of the range.

        Where budgets are private, they are at its end: the noise of a ratio counts most there.
        """
        levels, place = levels_of(self._standing, self._standing.size)
        people, none = np.zeros((2, levels.size), dtype=np.int64)
        np.add.at(people, place, self._absent.counts)
        ladder = self._rules.ladder
        at = HALF if ladder is None else GRID
        groups = SumGroups(levels, people, at * people, none, none, none, none)
        if ladder is None:
            return checked(groups, self._names, "error")
        return on_rungs(groups, self._names, ladder.levels)

    @property
    def _ends(self) -> Integers:
        """Where people are on the grid, half of them in each of the two places."""
        off = round((WIDEST if self._absent.spread is None else self._absent.spread) * GRID)
        return np.array([HALF - off, HALF + off])

    def sums(self, bounds: tuple[float, float], rule: Rule | None = None) -> Tally:  # noqa: ARG002
        """The people of each level: see `Rows.sums`."""
        return self._everybody

    def moments(self, bounds: tuple[float, float], rule: Rule | None = None) -> Tally:  # noqa: ARG002
        """The same, with squares: see `Rows.moments`."""
        counted = self._everybody
        return replace(counted, squares=squares(self._ends)[0] * counted.counts)

    def thirds(self, bounds: tuple[float, float]) -> CellTally:
        """Three cells of one unit: see `Rows.thirds`."""
        people, square = self._everybody.counts, cast(Integers, self.moments(bounds).squares)
        cells = pairs.three_cells(people, HALF * people, of_squares(square, HALF * people, people))
        return self._soft_cells(cells, pairs.THREE)

    def pairs(
        self,
        bounds: tuple[float, float],  # noqa: ARG002
        beside: tuple[float, float],  # noqa: ARG002
    ) -> CellTally:
        """Nine cells, of columns that have nothing to do with one another: see `Rows.pairs`."""
        counted, (low, high) = self._everybody, self._ends
        first, second = np.array([low, low, high, high]), np.array([low, high, low, high])
        cut = pairs.cut(first, second).items()
        parts = {name: counted.counts * int(each.sum()) // 4 for name, each in cut}
        none = np.zeros_like(counted.counts)
        people = (counted.levels, counted.counts, HALF * counted.counts)
        groups = SumGroups(*people, none, none, none, none)
        return self._soft_cells(pairs.nine_cells(groups, parts), pairs.NINE)

    def _soft_cells(self, cells: Integers, categories: tuple[Any, ...]) -> CellTally:
        if self._rules.missing == "exclude" and self._rules.ladder is None:
            nobody = np.zeros((len(cells), 1), dtype=np.int64)
            cells = np.concatenate([cells, nobody], axis=1)
        return self._in_table(cells, GRID, categories)

    def cells(self) -> CellTally:
        """Categories that are as large as one another: see `Rows.cells`."""
        labels, unit = self._declared.labels, self._rules.unit
        self._check_table("categories", len(labels))
        return self._in_table(_evenly(unit * self._everybody.counts, len(labels)), unit, labels)

    def shares(
        self,
        bounds: tuple[float, float],  # noqa: ARG002
        rule: Rule | None = None,  # noqa: ARG002
        *,
        apart: bool = False,
    ) -> CellTally:
        """Two cells of each group: see `Rows.shares`."""
        counting, people = self._rules.counting, self._everybody.counts
        groups = len(counting.labels)
        self._check_table("groups", 2 * groups)
        points = self._among(groups, GRID * people)
        above = np.floor(self._absent.middle * points).astype(np.int64)
        cells = np.zeros((len(people), 2 * groups + counting.outside), dtype=np.int64)
        cells[:, 0 : 2 * groups : 2] = above
        cells[:, 1 : 2 * groups : 2] = points - above
        found = self._in_table(cells, GRID, counting.labels)
        return replace(found, people=self._among(groups, people)) if apart else found

    def _in_table(self, cells: Integers, unit: int, categories: tuple[Any, ...]) -> CellTally:
        counted = self._everybody
        return CellTally(counted.levels, counted.counts, cells, unit, categories)

    def _check_table(self, name: str, cells: int) -> None:
        """Refuse a table that no data could be counted in.

        Raises:
            ArgumentError: it is too large.
        """
        levels = len(self._everybody.levels)
        if levels * cells > LARGEST_TABLE:
            raise ArgumentError(
                f"{name}: {cells:,} cells for each of {levels:,} budget levels are too many. "
                f"Declare fewer {name}, or offer fewer budgets."
            )

    def _among(self, groups: int, whole: Integers) -> Integers:
        """What the people of each level have, divided among groups."""
        if self._absent.first is None or groups == 1:
            return _evenly(whole, groups)
        own = np.floor(self._absent.first * whole).astype(np.int64)
        return np.column_stack([own, _evenly(whole - own, groups - 1)])

    def line(self, window: Window | None = None) -> Line:
        """The people of each level, all of them at 0: see `Rows.line`."""
        levels, ladder = self._standing, self._rules.ladder
        none = np.zeros(len(levels), dtype=np.int64)
        groups = LineGroups(
            keys=coarse(levels),
            budgets=levels,
            cells=none.astype(np.float64) if window is None else none,
            people=self._absent.counts,
            conflicts=none,
            nobody=none,
            most=none,
        )
        if ladder is None:
            return checked_line(groups, window, self._names, "error")
        return line_on_rungs(groups, window, ladder)


def _evenly(whole: Integers, parts: int) -> Integers:
    """Whole numbers, each divided into so many parts, with what is over as far apart as can be."""
    each, over = np.divmod(whole, parts)
    return np.asarray(each[:, None] + np.diff(np.arange(parts + 1) * over[:, None] // parts))
