"""Count on an engine where every row is its own person: any number of questions in one query.

It is one group-by of budget and all labels, with the sums of all numbers: the same integers on
every engine. Rows are grouped by their original values, so text is compared only once for each
group, and a dictionary of text is never decoded. Values in no category are then merged into one
group. So the result has at most levels × labels lines, or the groups that `expressions.py` loads
into memory. Each question needs a margin of that table, which is added up from its lines in
integers.

Where people may have several rows, `fold_engine.py` counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.budgets.levels import Ladder, moved
from epsilons.door.count.asks import Ask, Bounds, Counted, Faults, Rules, levels_of
from epsilons.door.count.tallies import HALF
from epsilons.door.count.units import (
    BELOW,
    UnitParts,
    joined,
    number_cells,
    of_categories,
    of_groups,
    rows_by_group,
)
from epsilons.door.engines.expressions import (
    Total,
    added_up,
    budget_and_person,
    double,
    few_budgets,
    plain_budget,
    put_on_rungs,
    rungs_put_off,
    with_key,
)
from epsilons.door.engines.grid_engine import (
    Square,
    both_on_grid,
    in_sql,
    is_moderate,
    lacking,
    on_grid,
    valid_rows,
    with_parts,
    with_squares,
)
from epsilons.door.engines.labels_engine import (
    as_floats,
    as_integers,
    cells_in,
    labels_of,
    outside,
    placed,
    sorted_out,
    values,
)
from epsilons.door.engines.running import collected, guarded
from epsilons.door.engines.table import dialect_of, engine_of
from epsilons.door.given.categories import Categories
from epsilons.door.given.columns import Columns, Mark
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["PIECE", "Wanted", "count", "wanted"]

PIECE = 2**23
"""Rows that are counted at a time in Polars where groups are many: it keeps rows until the end
whose group is not among the last few thousand. Where they are few, all are counted at once."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """One question of a table.

    Attributes:
        ask: what is counted.
        rules: how.
        values: the column of values.
        labels: the columns of labels, and what was declared of them.
        beside: the second column of numbers, or None.
        where: the column that selects rows, or None.
    """

    ask: Ask
    rules: Rules
    values: Mark
    labels: tuple[tuple[Mark, Categories], ...]
    beside: Mark | None
    where: Mark | None

    @property
    def both(self) -> tuple[tuple[Mark, Bounds], tuple[Mark, Bounds]]:
        """The two columns of a pair, with their ranges.

        Raises:
            TypeError: these rows are of one column of numbers.
        """
        if self.beside is None or self.ask.beside is None:
            raise TypeError("these rows are of one column of numbers")
        return (self.values, self.ask.ends), (self.beside, self.ask.beside)


def wanted(ask: Ask, rules: Rules, table: Columns) -> Wanted:
    """What is asked of a table that was opened for it alone."""
    kind = "numbers" if rules.categories is None else rules.categories.kind
    own = Mark("values", table.values, kind, table.spelling)
    marks = {mark.parameter: mark for mark in table.marks}
    labels: tuple[tuple[Mark, Categories], ...] = ()
    if rules.categories is not None:
        labels = ((own, rules.categories),)
    elif rules.groups is not None:
        pairs = zip(rules.groups.columns, rules.groups.declared, strict=True)
        labels = tuple((marks[name], declared) for name, declared in pairs)
    return Wanted(ask, rules, own, labels, marks.get("y"), marks.get("where"))


@dataclass(eq=False)
class _Plan:
    """The columns of one query, each once.

    Attributes:
        table: with all columns.
        keys: the values that rows are grouped by: name, column, and what was declared first.
        labels: what labels were declared of a key: its name, that of its values, and these.
        numbers: the numbers that are added up.
        pairs: the pairs of numbers whose parts are.
        flags: the columns that say which rows are asked.
        squared: the numbers whose squares are added up as well.
    """

    table: Columns
    keys: dict[Any, tuple[str, Mark, Categories]] = field(default_factory=dict)
    labels: dict[Any, tuple[str, str, Mark, Categories]] = field(default_factory=dict)
    numbers: dict[Any, tuple[str, Wanted]] = field(default_factory=dict)
    pairs: dict[Any, tuple[str, Wanted]] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    squared: set[str] = field(default_factory=set)

    @property
    def budgets(self) -> bool:
        """Whether there is a column of budgets."""
        return isinstance(self.table.epsilon, str)

    def add(self, each: Wanted) -> None:
        """Make room for a question."""
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
        """The name of a column of labels, which is made if it is new."""
        raw = (mark.column, declared.kind, declared.breaks.tobytes())
        key, _, _ = self.keys.setdefault(raw, (f"k{len(self.keys)}", mark, declared))
        own = (*raw, declared.declared, declared.cells.tobytes())
        first = all(other != key for _, other, _, _ in self.labels.values())
        name = key if first else f"v{len(self.labels)}"
        return self.labels.setdefault(own, (name, key, mark, declared))[0]

    def number(self, each: Wanted) -> str:
        """The name of a column of numbers, which is made if it is new."""
        own = (each.values.column, each.ask.bounds, each.ask.rule, each.where)
        return self.numbers.setdefault(own, (f"x{len(self.numbers)}", each))[0]

    def first(self, each: Wanted) -> str:
        """The first number of the same rows: how many have a value is asked once of them."""
        own = (each.values, each.where)
        every = (name for name, one in self.numbers.values() if (one.values, one.where) == own)
        return next(every)

    def pair(self, each: Wanted) -> str:
        """The name of two columns of numbers, which is made if it is new.

        It ends in a letter: the second column is called the same with a 2 after it.
        """
        exclude = each.rules.missing == "exclude"
        own = (each.values, each.beside, each.ask.bounds, each.ask.beside, exclude)
        return self.pairs.setdefault(own, (f"p{len(self.pairs)}q", each))[0]

    def flag(self, mark: Mark) -> str:
        """The name of a column of truth values, which is made if it is new."""
        return self.flags.setdefault(mark.column, f"w{len(self.flags)}")


def count(every: Sequence[Wanted], table: Columns) -> list[Counted]:
    """Count questions of one table in one query.

    Args:
        every: the questions.
        table: a frame with checked columns. Every row is its own person.

    Raises:
        ArgumentError: there are too many levels and labels for a table of them.
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    plan = _Plan(table)
    for each in every:
        plan.add(each)

    def run() -> tuple[nw.DataFrame[Any], Ladder | None]:
        import narwhals as nw

        own, later = rungs_put_off(table)
        few = not plan.budgets or later is not None or few_budgets(own)
        pieces = [own] if few or not plan.labels else own.pieces(PIECE)
        queries = [_query(plan, _rows(plan, piece), few=few, later=later) for piece in pieces]
        found = [collected(query, table.passed) for query, _ in queries]
        return found[0] if len(found) == 1 else nw.concat(found), queries[0][1]

    result, later = guarded(run, *table.failure)
    epsilon = as_floats(result["e"]) if plan.budgets else float(table.epsilon)
    if later is not None and not isinstance(epsilon, float):
        epsilon = later.of(epsilon)
    lines = _Lines(plan, result, epsilon)
    return guarded(lambda: [lines.margin(each) for each in every], *table.failure)


def _rows(plan: _Plan, table: Columns) -> nw.LazyFrame[Any]:
    """Return the values of all labels, all numbers, who is asked, and `e`."""
    import narwhals as nw

    rows = _in_text(plan, table)
    if rows is None:
        columns: list[nw.Expr] = []
        for name, mark, declared in plan.keys.values():
            columns += values(table, mark.column, declared, name)
        for name, each in plan.numbers.values():
            where = None if each.where is None else nw.col(each.where.column)
            grid = on_grid(table, each.values.column, each.ask.ends, each.ask.rule, where)
            ends = zip(grid, ("", " is valid"), strict=False)
            columns += [one.alias(name + end) for one, end in ends]
        for name, each in plan.pairs.values():
            for end, (mark, bounds) in zip(("", "2"), each.both, strict=True):
                columns += both_on_grid(table, mark.column, bounds, name + end)
        for column, name in plan.flags.items():
            flag = nw.col(column)
            columns += [
                flag.fill_null(False).cast(nw.Int64).alias(name),
                (~flag.is_null()).cast(nw.Int64).alias(f"{name} is known"),
            ]
        rows = table.frame.select(*columns, *budget_and_person(table))
    for name, _, declared in plan.keys.values():
        rows = placed(rows, name, declared)
    for name, each in plan.pairs.values():
        if each.rules.missing == "exclude":
            rows = lacking(rows, name)
        rows = with_parts(rows, name)
    return _squared(rows, sorted(plan.squared))


def _squared(rows: nw.LazyFrame[Any], names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Add the squares of some numbers."""
    if not names:
        return rows
    there = rows.collect_schema()
    valid = [f"{name} is valid" if f"{name} is valid" in there else None for name in names]
    squares: list[Square] = [
        (name, own, f"{name} squared") for name, own in zip(names, valid, strict=True)
    ]
    return with_squares(rows, squares)


def _in_text(plan: _Plan, table: Columns) -> nw.LazyFrame[Any] | None:
    """Numbers on their grids in one text of SQL, where there is nothing but numbers."""
    sql = dialect_of(table.frame)
    if sql is None or plan.keys or plan.flags or plan.pairs or table.ladder is not None:
        return None
    asked = [(name, each.values.column, each.ask) for name, each in plan.numbers.values()]
    if any(ask.rule is not None or not is_moderate(ask.ends) for _, _, ask in asked):
        return None
    numbers = [(name, double(table, column, sql), ask.ends) for name, column, ask in asked]
    return in_sql(table.frame, numbers, plain_budget(table, sql))


def _totals(plan: _Plan, rows: nw.LazyFrame[Any]) -> dict[str, Total]:
    """What is added up of rows."""
    totals: dict[str, Total] = {"size": ("", "rows")}
    for name, each in plan.numbers.values():
        if name == plan.first(each):
            totals[f"{name} n"] = valid_rows(rows, name, f"{name} is valid")
        totals[f"{name} s"] = (name, "sum")
        if name in plan.squared:
            totals[f"{name} q"] = (f"{name} squared", "sum")
    for name, each in plan.pairs.values():
        totals[f"{name} x"] = (name, "sum")
        totals |= {f"{name} {part}": (f"{name} {part}", "sum") for part in ("a", *BELOW)}
        totals |= {f"{name}{end} n": (f"{name}{end} is valid", "sum") for end in ("", "2")}
        if each.rules.missing == "exclude":
            totals[f"{name} absent"] = (f"{name} is absent", "sum")
    for name in plan.flags.values():
        totals[f"{name} a"] = (name, "sum")
        totals[f"{name} k"] = (f"{name} is known", "sum")
    return totals


def _query(
    plan: _Plan, rows: nw.LazyFrame[Any], *, few: bool, later: Ladder | None
) -> tuple[nw.LazyFrame[Any], Ladder | None]:
    """Add rows up by level and all labels.

    Args:
        plan: what is added up.
        rows: of all columns.
        few: whether exact budgets are few: rows are grouped by these, and by levels elsewhere.
        later: the ladder that groups are put on.

    Returns:
        The query, and the ladder that what comes back is put on.
    """
    import narwhals as nw

    totals = _totals(plan, rows)
    by, first = [name for name, _, _ in plan.keys.values()], totals
    if plan.budgets and not few:
        rows, by, first = with_key(rows), [*by, "key"], totals | {"e": ("e", "min")}
    elif plan.budgets:
        by = [*by, "e"]
    bounded = not plan.keys and not (plan.budgets and few)
    parts = added_up(rows, by, first, plan.table.passed, bounded=bounded)
    # What was brought from elsewhere is few: NumPy adds it up.
    again = engine_of(parts) == engine_of(rows)
    if not plan.keys:
        again = again and plan.budgets and few and not engine_of(parts).streams
    own: list[str] = []
    if again:
        parts, later = put_on_rungs(parts, later), None
    copies = [nw.col(key).alias(name) for name, key, _, _ in plan.labels.values() if name != key]
    parts = parts.with_columns(*copies) if copies else parts
    for name, _, mark, declared in plan.labels.values():
        out = f"{name} out"
        parts = sorted_out(parts, labels_of(declared, mark.spelling), declared, name, out)
        parts = outside(parts, declared, name, out)
        own += [name, out]
    if again:
        sums = [nw.col(name).sum() for name in totals]
        by = list(own)
        if plan.budgets:
            parts, by = with_key(parts), [*by, "key"]
            sums.append(nw.col("e").min().alias("e"))
        parts = parts.group_by(*by).agg(*sums)
    if engine_of(parts).streams and not again:
        return parts, later  # its sums are of 64 bits
    whole = [nw.col(name).cast(nw.Int64) for name in totals]
    return parts.select(*own, *whole, *(["e"] if plan.budgets else [])), later


@dataclass(frozen=True, eq=False)
class _Lines:
    """What came back: a line for each combination of budget and labels.

    Attributes:
        plan: what was added up.
        result: the lines.
        epsilon: the budget of each, or of all.
    """

    plan: _Plan
    result: nw.DataFrame[Any]
    epsilon: Floats | float

    def found(self, name: str) -> Integers:
        """A sum of each line; in SQL that of nothing is null."""
        return as_integers(self.result[name].fill_null(0))

    def place(self, mark: Mark, declared: Categories) -> Integers:
        """The cell of each line, `UNDECLARED` or `MISSING`."""
        name, labels = self.plan.label(mark, declared), labels_of(declared, mark.spelling)
        return cells_in(self.result, labels, declared, name, f"{name} out")

    def margin(self, each: Wanted) -> Counted:
        """Add up what a question asks for."""
        if each.ask.what == "cells":
            cell = self.place(*each.labels[0])
            parts = UnitParts(self.epsilon, cell, self.found("size"), None, Faults(most=1))
            return of_categories(parts, each.rules)
        if each.rules.some and each.ask.what == "numbers":
            return self._by_group(each)
        return self._numbers(each)

    def _by_group(self, each: Wanted) -> Counted:
        plan, size = self.plan, self.found("size")
        group = np.zeros(size.size, dtype=np.int64)
        for index, (mark, declared) in enumerate(each.labels):
            cell = self.place(mark, declared)
            group = cell if index == 0 else joined(group, cell, len(declared.labels))
        where = None
        if each.where is not None:
            flag = plan.flag(each.where)
            where = (self.found(f"{flag} a"), self.found(f"{flag} k"))
        own, total = self.found(f"{plan.first(each)} n"), self.found(f"{plan.number(each)} s")
        parts = rows_by_group(self.epsilon, group, (size, own, total), where, each.rules)
        return of_groups(parts, each.rules)

    def _numbers(self, each: Wanted) -> Counted:
        plan, size = self.plan, self.found("size")
        levels, level_of = levels_of(self.epsilon, size.size)

        def added(numbers: Integers) -> Integers:
            total = np.zeros(levels.size, dtype=np.int64)
            np.add.at(total, level_of, numbers)
            return total

        if each.ask.what == "pairs":
            name = plan.pair(each)
            ends = ("x", "a", *BELOW, *(("absent",) if each.rules.missing == "exclude" else ()))
            sums = {end: added(self.found(f"{name} {end}")) for end in ends}
            gaps = 2 * size - self.found(f"{name} n") - self.found(f"{name}2 n")
        else:
            name, gaps = plan.number(each), size - self.found(f"{plan.first(each)} n")
            absent = added(gaps)
            sums = {"x": added(self.found(f"{name} s")) + HALF * absent, "absent": absent}
            if each.ask.what == "squares":
                sums["v"] = added(self.found(f"{name} q"))
        people, faults = added(size), Faults(missing=int(gaps.sum()))
        cells = number_cells(each.ask.what, people, sums, each.rules)
        return Counted(levels, people, cells, faults, moved(self.epsilon))
