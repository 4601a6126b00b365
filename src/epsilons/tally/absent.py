"""People who have budgets and no values: what is counted where a question is only rehearsed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, cast

import numpy as np

from epsilons.errors import ArgumentError
from epsilons.tally.asks import Ask, Rules
from epsilons.tally.counted import Faults, check_people, check_size, levels_of
from epsilons.tally.grid import GRID, HALF, squares
from epsilons.tally.line import Line, LineGroups, Window, checked_line, coarse, line_on_rungs
from epsilons.tally.rows import Rows
from epsilons.tally.tallies import Tally
from epsilons.tally.units import LARGEST_TABLE, cut, number_cells
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

    Categories are as large as one another, and groups as large as `Absent` says.

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
    def _by_level(self) -> tuple[Floats, Integers]:
        """The levels, and the people of each."""
        levels, place = levels_of(self._standing, self._standing.size)
        people = np.zeros(levels.size, dtype=np.int64)
        np.add.at(people, place, self._absent.counts)
        if not self._rules.private:
            check_people(levels, people, Faults(), self.names, GRID)
            return levels, people
        check_size(people, self.names, GRID)
        return levels[levels > 0.0], people[levels > 0.0]

    def count(self, ask: Ask) -> Tally:
        """The people of each level, who divide their units alike: see `Rows.count`.

        Raises:
            ArgumentError: there are too many levels and cells for a table of them.
            EpsilonsError: as `Rows.count`.
        """
        self._check(ask)
        rules, (levels, people) = self._rules, self._by_level
        labels, unit = rules.labels(ask), rules.unit_of(ask)
        if ask.what == "cells":
            self._check_table("categories", len(labels))
            cells = _evenly(unit * people, len(labels))
        elif ask.what == "numbers" and rules.some:
            cells = self._grouped(len(labels))
        else:
            cells = number_cells(ask.what, people, self._numbers(ask, people), rules)
        apart = self._among(len(labels), people) if ask.apart else None
        return Tally(levels, people, cells, unit, labels, apart)

    def _numbers(self, ask: Ask, people: Integers) -> dict[str, Integers]:
        """The sums of numbers: half of the people are above the middle of the range, half below.

        Where budgets are private, a number is at the end of its range: the noise of a ratio counts
        most there. Two columns have nothing to do with one another.
        """
        off = round((WIDEST if self._absent.spread is None else self._absent.spread) * GRID)
        low, high = HALF - off, HALF + off
        found = {"x": HALF * people, "absent": np.zeros_like(people)}
        if ask.what == "numbers":
            return {"x": GRID * people} if self._rules.private else found
        if ask.what == "squares":
            return {**found, "v": squares(np.array([low]))[0] * people}
        four = cut(np.array([low, low, high, high]), np.array([low, high, low, high]))
        return {**found, **{name: people * int(each.sum()) // 4 for name, each in four.items()}}

    def _grouped(self, groups: int) -> Integers:
        """Two cells of each group, and last those who are outside: nobody."""
        self._check_table("groups", 2 * groups)
        _, people = self._by_level
        points = self._among(groups, GRID * people)
        above = np.floor(self._absent.middle * points).astype(np.int64)
        cells = np.zeros((len(people), 2 * groups + self._rules.outside), dtype=np.int64)
        cells[:, 0 : 2 * groups : 2] = above
        cells[:, 1 : 2 * groups : 2] = points - above
        return cells

    def _check_table(self, name: str, cells: int) -> None:
        """Refuse a table that no data could be counted in."""
        levels = len(self._by_level[0])
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
            faults=Faults(),
        )
        if ladder is None:
            return checked_line(groups, window, self.names, "error")
        return line_on_rungs(groups, window, ladder)


def _evenly(whole: Integers, parts: int) -> Integers:
    """Whole numbers, each divided into so many parts, with what is over as far apart as can be."""
    each, over = np.divmod(whole, parts)
    return np.asarray(each[:, None] + np.diff(np.arange(parts + 1) * over[:, None] // parts))
