"""The line in two narrow queries in place of a wide one, where budgets are few.

A selection needs the weight of all people in each bucket, and weights follow from levels and from
how many people are on each. So budgets are counted first, alone, which takes a small part of a pass
over the rows. Once weights are chosen, they are looked up for each row by its budget and added up
by bucket. There are as many groups as buckets then, and not as buckets times levels: they stay in
the cache of a processor. All sums are those of `Line.masses`, integer by integer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from epsilons.budgets import in_range, moved
from epsilons.ladder import keys
from epsilons.loading import later
from epsilons.tally.asks import Ask
from epsilons.tally.columns import Columns
from epsilons.tally.counted import BAD_BUDGET, Faults
from epsilons.tally.engines import engine_of
from epsilons.tally.line import (
    NO_CELL,
    NO_KEY,
    Line,
    Lined,
    LineGroups,
    Window,
    by_bucket,
    checked_line,
    coarse,
    index_of,
    line_on_rungs,
    refuse_missing,
)
from epsilons.tally.tallies import masses
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    from epsilons.tally import line_engine
    from epsilons.tally.rows import Held, Rows
else:
    line_engine = later("epsilons.tally.line_engine")

__all__ = ["LARGE", "ByWeight", "Lines"]

LARGE: Final = 200_000
"""People from which two narrow queries in SQL are quicker than a wide one: each must be planned."""

_BUDGETS: Final = Window(0.0, 1.0, 1)
"""Stands for buckets that are whole numbers: here the places of budgets in a list."""

Weigh = Callable[[Floats, list[Integers]], tuple[Integers, ...]]
"""Adds the weights of budgets up by bucket."""


@dataclass(frozen=True, eq=False)
class ByWeight(Lined):
    """People by level, whose weights are added up by bucket when they are chosen: one pass.

    Attributes:
        own: the budgets of people who count, all different.
        level_of: the level of each budget, as an index.
        people: how many have each budget.
        weigh: adds weights of these budgets up.
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
    """The line of rows, and windows of it, where all that is wanted is weights by bucket.

    Args:
        rows: of numbers.
        held: where they are; None if nobody holds them.
    """

    def __init__(self, rows: Rows, held: Held | None) -> None:
        self._rows = rows
        self._held = held

    def line(self, window: Window | None = None) -> Lined:
        """Count people by level, and be ready to add up weights by bucket: see `Rows.line`.

        Where a row is a person and budgets are few, buckets are not looked at before weights are
        chosen, nor is whether a value is missing.

        Args:
            window: cells to zoom in on; None for the whole line.

        Raises:
            EpsilonsError: as `Rows.line`, then or when weights are added up.
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
        """The levels of `Rows.count`, which are finer, ascending.

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
        """All budgets, and people by level and budget; None where buckets are counted by level."""
        held = self._held
        if not isinstance(held, Columns):
            return None
        found = line_engine.budgets(held)
        if found is None or (engine_of(held.frame).sql and found[1].sum() < LARGE):
            return None
        # One zero: to look -0.0 up and 0.0, which are equal, would count such rows twice.
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
        """Add weights of budgets up by bucket, in one pass."""
        held, rules = self._held, self._rows.rules
        if not isinstance(held, Columns):
            raise TypeError("weights are looked up by an engine")
        if not own.size:  # nobody counts, and an engine would not know the type of nothing
            return by_bucket(np.zeros(0, dtype=np.int64), weights)
        cells, sums = line_engine.weigh(held, window, own, weights)
        gone = cells == (NO_KEY if window is None else NO_CELL)
        if gone.any() and rules.ladder is None:
            refuse_missing(rules.names, rules.missing)
        there = cells[~gone]
        found = index_of(there) if window is None else there.astype(np.int64)
        return by_bucket(found, [each[~gone] for each in sums])


def _groups(budgets: Floats, people: Integers) -> LineGroups:
    """People by budget, each a bucket of its own."""
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
