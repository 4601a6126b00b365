"""What can be wrong with a table: counted in one place. Nobody's privacy rests on it.

What is wrong counts as nothing, or as the least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.data.tables import Table

__all__ = ["Fault", "Faults"]

EVERYBODY: Final = ("no person", "no limit", "no word", "two limits", "weight", "two weights")
"""Faults that matter of everybody, and not only of whom a question asks."""


@dataclass(frozen=True)
class Fault:
    """Something that is wrong, and how often: of rows, or of people if limits or weights are two.

    Args:
        kind: what it is.
        column: the column that it is in.
        number: how often.
    """

    kind: str
    column: str
    number: int


class Faults:
    """What is wrong with the rows of one table, as far as one split reads them."""

    def __init__(self, roster: Roster, table: Table, split: Split) -> None:
        self.roster, self.table, self.split = roster, table, split
        self.each: list[tuple[str, str]] = []

    def in_rows(self) -> list[pl.Expr]:
        """What must be looked at row by row: which entries are text that is no number."""
        columns = (self.table.columns[number.column] for number in self.split.numbers)
        return [column.no_number.alias(f"none {i}") for i, column in enumerate(columns)]

    def counted(self) -> list[pl.Expr]:
        """Count rows by fault, where each line stands for `rows` rows that are alike."""
        split, roster, asked = self.split, self.roster, pl.col("asked")
        strict, rows = split.missing == "error", pl.col("rows")
        none = "no limit" if roster.menu is None else "no word"
        result = [(none, roster.named, pl.col("limit").is_null() * rows)]
        if roster.weights is not None:
            result.append(("weight", roster.weights, pl.col("weight").is_null() * rows))
        if roster.person is not None:
            result.append(("no person", roster.person, pl.col("person").is_null() * rows))
        for labels in split.where if strict else ():
            missing = self.table.columns[labels.column].is_missing(labels)
            result.append(("missing", labels.column, (asked.is_null() & missing) * rows))
        for labels in split.groups:
            if labels.other is None:
                column = self.table.columns[labels.column]
                missing = column.is_missing(labels)
                undeclared = asked & column.place(labels).is_null() & ~missing
                result.append(("undeclared", labels.column, undeclared * rows))
                result.append(("missing", labels.column, (asked & missing) * rows * int(strict)))
        for i, number in enumerate(split.numbers):
            text = pl.col(f"none {i}")
            empty = rows - pl.col(f"numbers {i}") - text
            result.append(("no number", number.column, asked * text))
            result.append(("missing", number.column, asked * empty * int(strict)))
        return self._named(result)

    def of_persons(self) -> list[pl.Expr]:
        """Say who has two limits, or two weights, among the lines of one person."""
        two = {name: pl.col(name).min() != pl.col(name).max() for name in ("limit", "weight")}
        result = [("two limits", self.roster.named, two["limit"])]
        if self.roster.weights is not None:
            result.append(("two weights", self.roster.weights, two["weight"]))
        return self._named(result)

    def _named(self, faults: list[tuple[str, str, pl.Expr]]) -> list[pl.Expr]:
        start = len(self.each)
        self.each += [(kind, column) for kind, column, _ in faults]
        return [
            flag.cast(pl.Int64).fill_null(0).alias(f"fault {start + i}")
            for i, (_, _, flag) in enumerate(faults)
        ]

    def counts(self, entries: pl.DataFrame) -> tuple[Fault, ...]:
        """Return what somebody has, of everybody or of those who are asked."""
        limit, faults = pl.col("limit"), []
        asked = entries.filter((limit > 0.0) & (limit >= self.split.at_least))
        for i, (kind, column) in enumerate(self.each):
            lines = entries if kind in EVERYBODY else asked
            number = int(lines[f"fault {i}"].sum())
            faults += [Fault(kind, column, number)] * (number > 0)
        return tuple(faults)
