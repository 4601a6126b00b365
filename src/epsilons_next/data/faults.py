"""What can be wrong with a table: counted in one place, worded in one place, for the curator.

Nobody's privacy rests on it: what is wrong counts as nothing, or as the least.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.data.tables import Table
from epsilons_next.errors import DataError

__all__ = ["Faults"]

WORDS: Final[Mapping[str, str]] = {
    "no person": "{rows} {have} no id, or one that is neither an integer nor text",
    "no limit": "{rows} {have} no limit, or none that can be one. Everyone needs exactly one: "
    "mend the table, or set it to 0 to leave them out",
    "no word": "{rows} {have} a word that is not in menu ({menu})",
    "two limits": "{people} {have} two limits. Everyone needs exactly one: mend the table",
    "weight": "{rows} {have} no weight, an infinite one, or one that is not above 0",
    "two weights": "{people} {have} two weights. Everyone has exactly one: mend the table",
    "missing": '{of_all} {have} no entry. missing="exclude" leaves them out, and the result says '
    "so; do not drop them from the table, since how many people there are is published",
    "undeclared": '{rows} {have} an entry that is not declared; other="other" takes them all',
    "no number": "{entries} {are} text that is no number (thousands separators?). They are not "
    '"missing": mend the column first',
}  # fmt: skip

EVERYBODY: Final = ("no person", "no limit", "no word", "two limits", "weight", "two weights")
"""Faults that matter of everybody, and not only of whom a question asks."""


Fault = tuple[str, str]
"""What is wrong, by a key of WORDS, and with which column."""


class Faults:
    """What is wrong with the rows of one table, as far as one split reads them."""

    def __init__(self, roster: Roster, table: Table, split: Split) -> None:
        self.roster, self.table, self.split = roster, table, split
        self.each: list[Fault] = []

    def in_rows(self) -> list[pl.Expr]:
        """What must be looked at row by row: numbers, before they are added up."""
        result = []
        for i, number in enumerate(self.split.numbers):
            column = self.table.columns[number.column]
            result += [
                column.no_number.alias(f"none {i}"),
                (~column.number.is_finite()).fill_null(value=True).alias(f"empty {i}"),
            ]
        return result

    def counted(self) -> list[pl.Expr]:
        """Count rows by fault, where each line stands for `rows` rows that are alike."""
        split, roster, asked = self.split, self.roster, pl.col("asked")
        strict, rows = split.missing == "error", pl.col("rows")
        none = "no limit" if roster.menu is None else "no word"
        result: dict[Fault, pl.Expr] = {(none, roster.named): pl.col("limit").is_null() * rows}
        if roster.weights is not None:
            result["weight", roster.weights] = pl.col("weight").is_null() * rows
        if roster.person is not None:
            result["no person", roster.person] = pl.col("person").is_null() * rows
        for labels in split.where if strict else ():
            missing = self.table.columns[labels.column].is_missing(labels)
            result["missing", labels.column] = (asked.is_null() & missing) * rows
        for labels in split.groups:
            column, known = self.table.columns[labels.column], labels.other is not None
            missing = column.is_missing(labels)
            undeclared = asked & column.place(labels).is_null() & ~missing
            result["undeclared", labels.column] = undeclared * rows * int(not known)
            result["missing", labels.column] = (asked & missing) * rows * int(strict and not known)
        for i, number in enumerate(split.numbers):
            text = pl.col(f"none {i}")
            result["no number", number.column] = asked * text
            result["missing", number.column] = asked * (pl.col(f"empty {i}") - text) * int(strict)
        return self._named(result)

    def of_persons(self) -> list[pl.Expr]:
        """Say who has two limits, or two weights, among the lines of one person."""
        two = {name: pl.col(name).min() != pl.col(name).max() for name in ("limit", "weight")}
        result: dict[Fault, pl.Expr] = {("two limits", self.roster.named): two["limit"]}
        if self.roster.weights is not None:
            result["two weights", self.roster.weights] = two["weight"]
        return self._named(result)

    def _named(self, result: Mapping[Fault, pl.Expr]) -> list[pl.Expr]:
        start = len(self.each)
        self.each += result
        return [
            flag.cast(pl.Int64).fill_null(0).alias(f"fault {start + i}")
            for i, flag in enumerate(result.values())
        ]

    def refuse(self, entries: pl.DataFrame, asked: NDArray[np.bool_]) -> None:
        """Refuse a table in which something is wrong, before anything is drawn.

        Raises:
            DataError: the first fault that somebody has. It shows no entry.
        """
        each_is_one = self.roster.person is None
        for i, (fault, column) in enumerate(self.each):
            lines = entries[f"fault {i}"].to_numpy()
            number = int((lines if fault in EVERYBODY else lines[asked]).sum())
            if number:
                one = number == 1
                everyone = int(entries["people"].sum())
                people = "1 person" if one else f"{number:,} people"
                rows = people if each_is_one else "1 row" if one else f"{number:,} rows"
                words = WORDS[fault].format(
                    people=people,
                    rows=rows,
                    of_all=f"{number:,} of {everyone:,} people" if each_is_one else rows,
                    entries="1 entry" if one else f"{number:,} entries",
                    have="has" if one else "have",
                    menu=", ".join(str(word) for word in self.roster.menu or ()),
                    are="is" if one else "are",
                )
                raise DataError(f'"{column}": {words}.')
