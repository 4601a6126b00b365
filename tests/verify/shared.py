"""A minimal question about shares by group, for tests of replay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

import epsilons as ep
from epsilons import door
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import Budgets
from epsilons.door import GRID
from epsilons.draws.mechanisms import build_histogram
from epsilons.draws.mechanisms.add_remove import CellSums
from epsilons.draws.noise import DiscreteLaplace
from epsilons.questions.question import Draw


@dataclass(frozen=True, eq=False)
class Shared:
    """Means by group, with the same weight for everyone who is included.

    Attributes:
        values: a column.
        bounds: its bounds.
        by: one or two columns of groups, or none.
        groups: the labels of each column of groups.
        where: a column that selects people, or None.
        missing: how missing values are treated.
        groups_are: "public" or "private".
    """

    values: Any
    bounds: tuple[float, float] = (0.0, 10.0)
    by: tuple[Any, ...] = ()
    groups: tuple[Any, ...] = ()
    where: Any = None
    missing: str = "exclude"
    groups_are: str = "private"
    statistic: ClassVar[str] = "shares"

    @property
    def grouping(self) -> door.Grouping | None:
        if not self.by:
            return None
        return door.Grouping(self.by, tuple(door.declare(each, None, None) for each in self.groups))

    @property
    def columns(self) -> dict[str, Any]:
        found = {"values": self.values, **dict(zip(("by", "by_2"), self.by, strict=False))}
        return found if self.where is None else {**found, "where": self.where}

    def of_columns(self, columns: dict[str, Any]) -> Shared:
        by = tuple(columns[name] for name in ("by", "by_2") if name in columns)
        return replace(self, values=columns["values"], by=by, where=columns.get("where"))

    def policy(self, _: str) -> str:
        return self.missing

    def call(self, **given: Any) -> Any:
        return ep.Mean("x", bounds=self.bounds).call(**given)

    def open(self, call: Any) -> door.Rows:
        return door.open(
            self.values,
            epsilon=call.epsilon,
            data=call.data,
            person=call.person,
            missing=self.missing,
            ladder=call.ladder,
            groups=self.grouping,
            where=self.where,
        )

    def steps(self, rows: door.Rows, call: Any) -> Iterator[Draw]:
        counted = rows.count(door.Ask("numbers", self.bounds))
        cells = counted.cells.shape[1]
        if call.ladder is not None:
            levels = np.array(call.ladder.levels)
            law = DiscreteLaplace(Fraction(10 * GRID))
            weights = np.ones(len(levels), dtype=np.int64)
            mechanism = CellSums(levels, weights, GRID, law, cells)
            yield Draw(mechanism, mechanism.total(counted))
        else:
            budgets = Budgets.of_levels(counted.levels, counted.counts)
            goal = ep.Frequencies("x", categories=list(range(cells))).goal
            closed = build_histogram(allocate_for(budgets, goal, "uniform"), unit=GRID)
            yield Draw(closed, closed.total(counted))

    def sentences(self, *_: Any) -> str:
        return "said"
