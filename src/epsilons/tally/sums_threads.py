"""The tally of many rows in arrays: NumPy in parts that stay in the cache, on all processors.

Where there are few budgets, this takes half the time of a processor that an engine's group-by does:
a budget finds its level by one product and two looks, without a search. The integers are those of
`sums_numpy.py`.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from threading import Event
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epsilons.tally.arrays import Arrays
from epsilons.tally.grid import HALF, Rule, squares, to_grid
from epsilons.tally.levels import SumGroups
from epsilons.tally.sums_numpy import of_budgets
from epsilons.types import Booleans, Floats, Integers

__all__ = ["count"]

PART: Final = 3 << 12
"""Rows that are counted together: few enough that arrays of them stay in the cache, and in memory
that is used again and not asked of the system. Floats hold sums of their integers: below 2⁴⁴."""

PEEK: Final = 1 << 13
"""Rows whose budgets are looked at first, spread over all."""

MOST: Final = 128
"""More different budgets among them are many: then an engine counts."""

RARE: Final = 1 << 14
"""Rows of one thread whose budget was not among these: of more, too, an engine counts."""

WORKERS: Final = 8
"""Threads at most: memory is no faster for more."""

Words = NDArray[np.uint64]


class Totals(NamedTuple):
    """Bits of budgets; and people, sums, missing values, squares if asked for, of each."""

    budgets: Words
    numbers: Integers


@dataclass(frozen=True, eq=False)
class Places:
    """Where a few budgets are found: the first bits of their product with a number tell.

    Attributes:
        budgets: bits of the budgets, distinct.
        factor: by which no two of them have the same first bits.
        shift: leaves the first bits.
        rank: for each value of the first bits, which budget has it, if one has.
    """

    budgets: Words
    factor: np.uint64
    shift: np.uint64
    rank: Integers

    @classmethod
    def of(cls, budgets: Words) -> Places:
        """Look for a number: more than one in three is good."""
        bits = max(2 * len(budgets).bit_length() - 1, 1)
        shift, factor = np.uint64(64 - bits), 0x9E3779B97F4A7C15
        while len(np.unique(place := budgets * np.uint64(factor) >> shift)) < len(budgets):
            factor = factor * 0xD1342543DE82EF95 % 2**64  # odd, as both are
        rank = np.zeros(1 << bits, dtype=np.int64)
        rank[place] = np.arange(len(budgets))
        return cls(budgets, np.uint64(factor), shift, rank)

    def find(self, budgets: Words) -> tuple[Integers, Booleans]:
        """Which of the budgets each one is, if it is one of them; and whether it is."""
        place = budgets * self.factor
        place >>= self.shift
        rank = self.rank.take(place.view(np.int64), mode="clip")  # a place is in the table
        return rank, self.budgets.take(rank, mode="clip") == budgets


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that one thread counts.

    Attributes:
        values: numbers.
        budgets: their bits.
        places: where budgets are found.
        bounds: of the grid.
        rule: what is put on it.
        moments: 2 if squares are added up, too.
        stop: set if somebody gave up.
    """

    values: Floats
    budgets: Words
    places: Places
    bounds: tuple[float, float]
    rule: Rule | None
    moments: int
    stop: Event

    def count(self) -> list[Totals]:
        """Add up, rare budgets apart; give up where they are many."""
        many = len(self.places.budgets)
        totals = np.zeros((2 + self.moments, many), dtype=np.int64)
        found = [Totals(self.places.budgets, totals)]
        left = 0
        for start in range(0, len(self.values), PART):
            if self.stop.is_set():
                return []
            part = slice(start, start + PART)
            numbers, budgets = self._numbers(self.values[part]), self.budgets[part]
            rank, there = self.places.find(budgets)
            if not there.all():
                other = ~there
                rows = [each if each is None else each[other] for each in numbers]
                found.append(_apart(budgets[other], rows))
                left += len(found[-1].budgets)
                if left > RARE:
                    self.stop.set()
                rank = rank[there]
                numbers = [each if each is None else each[there] for each in numbers]
            totals[0] += np.bincount(rank, minlength=many)
            for total, each in zip(totals[1:], numbers, strict=True):
                if each is not None:
                    total += np.bincount(rank, each, many).astype(np.int64)
        return found

    def _numbers(self, values: Floats) -> list[Integers | None]:
        """Everyone's integer, 1 where a value is missing (None if none is), and their square."""
        grid, valid = to_grid(values, self.bounds, self.rule)
        missing: Integers | None = None
        if not valid.all():
            grid[~valid] = HALF
            missing = (~valid).astype(np.int64)
        return [grid, missing] if self.moments == 1 else [grid, missing, squares(grid)]


def _apart(budgets: Words, numbers: list[Integers | None]) -> Totals:
    """Rows as they are, each a person."""
    rows = np.ones((1 + len(numbers), len(budgets)), dtype=np.int64)
    for row, each in zip(rows[1:], numbers, strict=True):
        row[:] = 0 if each is None else each
    return Totals(budgets, rows)


def count(
    arrays: Arrays | None, bounds: tuple[float, float], rule: Rule | None = None, moments: int = 1
) -> SumGroups | None:
    """Count people and add up their integers by budget level, as `sums_numpy.count` does.

    Args:
        arrays: checked; None if rows are not in arrays.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        moments: 1 for sums alone, 2 for sums of squares, too.

    Returns:
        The groups; None where an engine counts: budgets are many, or one for all, or a person may
        have many rows.
    """
    if arrays is None or isinstance(arrays.epsilon, float) or arrays.person is not None:
        return None
    rows = arrays.values.size
    budgets: Words = arrays.epsilon.view(np.uint64)
    seen = np.unique(budgets[:: max(rows // PEEK, 1)])
    if not 1 <= len(seen) <= MOST:
        return None
    places, stop = Places.of(seen), Event()
    parts = -(-rows // PART)
    workers = min(_processors(), WORKERS, parts)
    cuts = [parts * k // workers * PART for k in range(workers)] + [rows]
    works = [
        Rows(arrays.values[a:b], budgets[a:b], places, bounds, rule, moments, stop)
        for a, b in pairwise(cuts)
    ]
    found = _together(works, stop)
    if stop.is_set():
        return None
    numbers = np.concatenate([each.numbers for each in found], axis=1)
    return of_budgets(np.concatenate([each.budgets for each in found]).view(np.float64), numbers)


def _processors() -> int:
    """How many processors this process may use."""
    mine = getattr(os, "sched_getaffinity", None)
    return os.cpu_count() or 1 if mine is None else len(mine(0))


def _together(works: list[Rows], stop: Event) -> list[Totals]:
    """Count in threads; an interrupt stops them all."""
    with ThreadPoolExecutor(len(works), "epsilons tally") as pool:
        try:
            return [each for found in pool.map(Rows.count, works) for each in found]
        except BaseException:
            stop.set()
            raise
