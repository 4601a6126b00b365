"""The columns that questions about a table need, collected for one query without duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from epsilons.door.count.asks import Ask, Bounds, Rules
from epsilons.door.engines.expressions import budget_and_person, double, plain_budget
from epsilons.door.engines.grid_engine import NUMBERS, is_moderate, on_grid
from epsilons.door.engines.labels_engine import bins, labels_of, placed, sorted_out
from epsilons.door.engines.table import dialect_of, engine_of
from epsilons.door.given.categories import Categories
from epsilons.door.given.columns import Columns, Mark

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["QueryPlan", "Wanted", "wanted"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """One question about a table.

    Attributes:
        ask: the question.
        rules: how rows are counted.
        values: the column of values.
        labels: the columns of labels, each with its declared categories.
        beside: the second column of numbers, or None.
        where: the Boolean column that selects rows, or None.
    """

    ask: Ask
    rules: Rules
    values: Mark
    labels: tuple[tuple[Mark, Categories], ...]
    beside: Mark | None
    where: Mark | None

    @property
    def both(self) -> tuple[tuple[Mark, Bounds], tuple[Mark, Bounds]]:
        """The two columns of numbers of a pair, with their ranges.

        Raises:
            TypeError: there is only one column of numbers.
        """
        if self.beside is None or self.ask.beside is None:
            raise TypeError("these rows are of one column of numbers")
        return (self.values, self.ask.ends), (self.beside, self.ask.beside)


def wanted(ask: Ask, rules: Rules, table: Columns) -> Wanted:
    """Return a question with the columns of a table that was opened for this question only."""
    kind = "numbers" if rules.categories is None else rules.categories.kind
    own = Mark("values", table.values, kind, table.spelling)
    marks: dict[str, Mark] = {}
    labels: list[tuple[Mark, Categories]] = []
    for mark in table.marks:
        marks[mark.parameter] = mark
    if rules.groups is not None:
        columns = map(marks.__getitem__, rules.groups.columns)
        labels += zip(columns, rules.groups.declared, strict=True)
    if rules.categories is not None:
        labels.append((own, rules.categories))
    return Wanted(ask, rules, own, tuple(labels), marks.get("y"), marks.get("where"))


@dataclass(eq=False)
class QueryPlan:
    """The columns of one query. Questions share columns where they can.

    Attributes:
        table: the table that has all columns.
        every: the questions.
        keys: the columns to group by, each with its name, its source and the categories that the
            first question about it declares.
        labels: the columns of labels, each with its name, the name of its key, its source and its
            declared categories.
        numbers: the columns of numbers to add up.
        pairs: the pairs of columns of numbers, each counted in nine cells.
        flags: the Boolean columns that select rows.
        squared: the names of numbers whose squares are also added up.
        columns: the names of all numbers. A pair has two.
        by: the names of all keys.
        places: the names of all labels, each followed by the name of a column that marks
            undeclared values.
        firsts: for each column of values and each selection of rows, the name of the first column
            in `numbers` that was made from them. Valid rows are counted only for this column.
        apart: whether people are counted by group.
        budgets: whether there is a column of budgets.
        weighed: whether people have weights, already converted to units in each row.
        folded: whether people can have many rows, which are folded into entries.
    """

    table: Columns
    every: Sequence[Wanted]
    keys: dict[Any, tuple[str, Mark, Categories]] = field(default_factory=dict)
    labels: dict[Any, tuple[str, str, Mark, Categories]] = field(default_factory=dict)
    numbers: dict[Any, tuple[str, Wanted]] = field(default_factory=dict)
    pairs: dict[Any, tuple[str, Wanted]] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    squared: set[str] = field(default_factory=set)
    columns: list[str] = field(default_factory=list)
    by: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    firsts: dict[Any, str] = field(default_factory=dict)
    apart: bool = False
    budgets: bool = field(init=False)
    weighed: bool = field(init=False)
    folded: bool = field(init=False)

    def __post_init__(self) -> None:
        self.budgets = isinstance(self.table.epsilon, str)
        self.weighed = self.table.units is not None
        self.folded = self.table.person is not None
        for each in self.every:
            self.apart = self.apart or (each.ask.apart and bool(each.labels))
            for mark, declared in each.labels:
                self.label(mark, declared)
            if each.where is not None:
                self.flag(each.where)
            if each.ask.what == "pairs":
                self.pair(each)
            elif each.ask.what != "cells":
                name = self.number(each)
                if each.ask.what == "squares":
                    self.squared.add(name)

    def label(self, mark: Mark, declared: Categories) -> str:
        """Return the name of a column of labels, and add the column if it is new."""
        raw = (mark.column, declared.kind, declared.breaks.tobytes())
        own = (*raw, declared.declared, declared.cells.tobytes())
        if own not in self.labels:
            name = f"k{len(self.labels)}"
            if raw not in self.keys:
                self.keys[raw] = (name, mark, declared)
                self.by.append(name)
            self.labels[own] = (name, self.keys[raw][0], mark, declared)
            self.places += [name, f"{name} out"]
        return self.labels[own][0]

    def number(self, each: Wanted) -> str:
        """Return the name of a column of numbers, and add the column if it is new."""
        own = (each.values.column, each.ask.bounds, each.where)
        if own not in self.numbers:
            self.columns.append(f"x{len(self.numbers)}")
            self.numbers[own] = (self.columns[-1], each)
            self.firsts.setdefault((each.values, each.where), self.columns[-1])
        return self.numbers[own][0]

    def pair(self, each: Wanted) -> str:
        """Return the name of a pair of columns of numbers, and add the columns if they are new.

        The name belongs to the first column. The second column has the same name, followed by 2.
        """
        exclude = each.rules.missing == "exclude"
        own = (each.values, each.beside, each.ask.bounds, each.ask.beside, exclude)
        if own not in self.pairs:
            name = f"p{len(self.pairs)}q"
            self.columns += [name, f"{name}2"]
            self.pairs[own] = (name, each)
        return self.pairs[own][0]

    def flag(self, mark: Mark) -> str:
        """Return the name of a Boolean column, and add the column if it is new."""
        return self.flags.setdefault(mark.column, f"w{len(self.flags)}")

    def rows(self, table: Columns) -> nw.LazyFrame[Any]:
        """Return rows with all keys, numbers and flags, and the columns of `budget_and_person`.

        Args:
            table: the whole table, or a part of its rows.
        """
        import narwhals as nw

        rows = self._in_text(table)
        if rows is None:
            columns: list[nw.Expr] = []
            for name, mark, declared in self.keys.values():
                if declared.kind == "bins":
                    columns += bins(table, mark.column, declared, name)
                else:
                    columns.append(nw.col(mark.column).alias(name))
            for name, each in self.numbers.values():
                where = None if each.where is None else nw.col(each.where.column)
                own = (each.values.column, each.ask.ends, name)
                columns += on_grid(table, *own, where)
            for name, each in self.pairs.values():
                for end, (mark, bounds) in zip(("", "2"), each.both, strict=True):
                    columns += on_grid(table, mark.column, bounds, name + end, paired=True)
            for column, name in self.flags.items():
                flag = nw.col(column)
                columns += [
                    flag.fill_null(False).cast(nw.Int64).alias(name),
                    (~flag.is_null()).cast(nw.Int64).alias(f"{name} is known"),
                ]
            rows = table.frame.select(*columns, *budget_and_person(table))
        for name, _, declared in self.keys.values():
            if declared.kind == "bins":
                rows = placed(rows, name, declared)
        return rows

    def _in_text(self, table: Columns) -> nw.LazyFrame[Any] | None:
        """Return keys and numbers on their grids in SQL, if the plan has no other columns."""
        sql = dialect_of(table.frame)
        others = self.flags or self.pairs or self.folded or table.ladder is not None
        if sql is None or others or any(each.kind == "bins" for _, _, each in self.keys.values()):
            return None
        asked = [(name, each.values.column, each.ask) for name, each in self.numbers.values()]
        if not all(is_moderate(ask.ends) for _, _, ask in asked):
            return None
        numbers = [(name, double(table, column, sql), ask.ends) for name, column, ask in asked]
        named = ((sql.name(mark.column), sql.name(name)) for name, mark, _ in self.keys.values())
        keys = [f"{column} AS {name}" for column, name in named]
        in_sql = NUMBERS[engine_of(table.frame).kind]
        return in_sql(table.frame, numbers, [*keys, *plain_budget(table, sql)])

    def sorted_out(self, parts: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
        """Replace keys by labels, and mark undeclared values in columns that end in `out`."""
        import narwhals as nw

        copies: dict[str, nw.Expr] = {}
        for name, key, _, _ in self.labels.values():
            if name != key:
                copies[name] = nw.col(key)
        parts = parts.with_columns(**copies) if copies else parts
        for name, _, mark, declared in self.labels.values():
            own = labels_of(declared, mark.spelling)
            parts = sorted_out(parts, own, declared, name, f"{name} out")
        return parts
