"""Several questions in one query: one group-by of budget and all labels, with the sums of all.

What each question asks for is a margin of that table, and is added up from its lines in integers:
they are the integers that the question would have counted alone. Here a row is a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from epsilons.budgets import moved
from epsilons.ladder import Ladder
from epsilons.tally import cells, columns
from epsilons.tally.adding import added_up
from epsilons.tally.asks import Ask
from epsilons.tally.categories import Categories, Kind
from epsilons.tally.cells import CellGroups, Parts
from epsilons.tally.cells_engine import PIECE
from epsilons.tally.collect import collected
from epsilons.tally.columns import Columns, Mark
from epsilons.tally.expressions import (
    Total,
    budget_and_person,
    few_budgets,
    put_on_rungs,
    rungs_put_off,
    with_key,
)
from epsilons.tally.failures import guarded
from epsilons.tally.frames import asked
from epsilons.tally.grid import HALF
from epsilons.tally.grid_engine import Square
from epsilons.tally.grouping import Grouping
from epsilons.tally.labels_engine import (
    as_floats,
    cells_in,
    labels_of,
    outside,
    placed,
    sorted_out,
    values,
)
from epsilons.tally.levels import SumGroups, levels_of
from epsilons.tally.shares import Counting, ShareGroups, add_up_shares, joined, parts_of_rows
from epsilons.tally.sums_engine import on_grid, valid_rows, with_squares
from epsilons.types import Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["Counted", "Wanted", "count"]

Counted: TypeAlias = SumGroups | CellGroups | ShareGroups
"""What was counted for one question, unchecked."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """One question of a table.

    Attributes:
        ask: what is counted.
        values: the column of values.
        categories: what was declared of it; None for numbers.
        groups: what was declared of others.
        where: the column that says which rows are asked, or None.
        counting: which rows count, where shares are asked for.
    """

    ask: Ask
    values: str
    categories: Categories | None
    groups: Grouping | None
    where: str | None
    counting: Counting

    @property
    def labelled(self) -> list[tuple[str, Categories]]:
        """The columns of labels, and what was declared of them."""
        if self.categories is not None:
            return [(self.values, self.categories)]
        return [] if self.groups is None else list(_pairs(self.groups))

    @property
    def named(self) -> list[tuple[str, Kind]]:
        """All columns, and what their entries must be."""
        found: list[tuple[str, Kind]] = [(column, each.kind) for column, each in self.labelled]
        if self.categories is None:
            found.append((self.values, "numbers"))
        return found if self.where is None else [*found, (self.where, "booleans")]


def _pairs(groups: Grouping) -> zip[tuple[Any, Categories]]:
    return zip(groups.by, groups.declared, strict=True)


@dataclass(eq=False)
class _Plan:
    """The columns of one query, each once.

    Attributes:
        table: with all columns.
        held: by column and kind, its name in the table and how its text is written.
        keys: the values that rows are grouped by: name, column, and what was declared first.
        labels: what labels were declared of a key: its name, that of its values, and these.
        numbers: the numbers that are added up.
        flags: the columns that say which rows are asked.
        squared: the numbers whose squares are added up, too.
    """

    table: Columns
    held: dict[tuple[str, Kind], Mark]
    keys: dict[Any, tuple[str, Mark, Categories]] = field(default_factory=dict)
    labels: dict[Any, tuple[str, str, Mark, Categories]] = field(default_factory=dict)
    numbers: dict[Any, tuple[str, Wanted]] = field(default_factory=dict)
    flags: dict[str, str] = field(default_factory=dict)
    squared: set[str] = field(default_factory=set)

    @property
    def budgets(self) -> bool:
        """Whether there is a column of budgets."""
        return isinstance(self.table.epsilon, str)

    def label(self, column: str, declared: Categories) -> str:
        """The name of a column of labels, which is made if it is new."""
        mark = self.held[column, declared.kind]
        raw = (column, declared.kind, declared.breaks.tobytes())
        key, _, _ = self.keys.setdefault(raw, (f"k{len(self.keys)}", mark, declared))
        own = (*raw, declared.declared, declared.cells.tobytes())
        return self.labels.setdefault(own, (f"v{len(self.labels)}", key, mark, declared))[0]

    def number(self, wanted: Wanted) -> str:
        """The name of a column of numbers, which is made if it is new."""
        own = (wanted.values, wanted.ask.bounds, wanted.ask.rule, wanted.where)
        return self.numbers.setdefault(own, (f"x{len(self.numbers)}", wanted))[0]

    def first(self, wanted: Wanted) -> str:
        """The first number of the same rows: how many have a value is asked once of them."""
        own = (wanted.values, wanted.where)
        every = (name for name, each in self.numbers.values() if (each.values, each.where) == own)
        return next(every)

    def flag(self, column: str) -> str:
        """The name of a column of truth values, which is made if it is new."""
        return self.flags.setdefault(column, f"w{len(self.flags)}")


def count(every: Sequence[Wanted], data: Any, epsilon: Any, ladder: Ladder | None) -> list[Counted]:
    """Count several questions of one table in one query.

    Args:
        every: the questions.
        data: the table, of which a row is a person.
        epsilon: the column of budgets, or one number.
        ladder: the public ladder, if budgets are private.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    plan = _planned(every, data, epsilon, ladder)
    for wanted in every:
        for column, declared in wanted.labelled:
            plan.label(column, declared)
        if wanted.categories is None:
            name = plan.number(wanted)
            if wanted.ask.what == "moments":
                plan.squared.add(name)
        if wanted.where is not None:
            plan.flag(wanted.where)

    def run() -> nw.DataFrame[Any]:
        import narwhals as nw

        table, later = rungs_put_off(plan.table)
        few = not plan.budgets or later is not None or few_budgets(table)
        found = [
            collected(_query(plan, _rows(plan, piece), few=few, later=later), table.passed)
            for piece in ([table] if few else table.pieces(PIECE))
        ]
        return found[0] if len(found) == 1 else nw.concat(found)

    result = guarded(run, *plan.table.failure)
    return guarded(lambda: _margins(plan, every, result), *plan.table.failure)


def _planned(every: Sequence[Wanted], data: Any, epsilon: Any, ladder: Ladder | None) -> _Plan:
    """Open the table anew, with all columns."""
    named = list(dict.fromkeys(pair for wanted in every for pair in wanted.named))
    (first, kind), *others = named
    marked = {f"column {i}": column for i, (column, _) in enumerate(others)}
    given = asked(first, epsilon, data, None, marked)
    marks = [
        Mark(name, column, own)
        for (name, column), (_, own) in zip(given.marks.items(), others, strict=True)
    ]
    table = columns.read(given.values, given.epsilon, given.data, None, kind, ladder, marks)
    own = Mark("values", table.values, kind, table.spelling)
    return _Plan(table, dict(zip(named, [own, *table.marks], strict=True)))


def _rows(plan: _Plan, table: Columns) -> nw.LazyFrame[Any]:
    """Return the values of all labels, all numbers, who is asked, and `e`."""
    import narwhals as nw

    wanted: list[nw.Expr] = []
    for name, mark, declared in plan.keys.values():
        wanted += values(table, mark.column, declared, name)
    for name, each in plan.numbers.values():
        view = replace(table, values=plan.held[each.values, "numbers"].column)
        where = None
        if each.where is not None:
            where = nw.col(plan.held[each.where, "booleans"].column)
        grid = on_grid(view, _bounds(each), each.ask.rule, where)
        wanted += [one.alias(name + end) for one, end in zip(grid, ("", " is valid"), strict=False)]
    for column, name in plan.flags.items():
        flag = nw.col(plan.held[column, "booleans"].column)
        wanted += [
            flag.fill_null(False).cast(nw.Int64).alias(name),
            (~flag.is_null()).cast(nw.Int64).alias(f"{name} is known"),
        ]
    rows = table.frame.select(*wanted, *budget_and_person(table))
    for name, _, declared in plan.keys.values():
        rows = placed(rows, name, declared)
    if not plan.squared:
        return rows
    there = rows.collect_schema()
    squares: list[Square] = []
    for name in sorted(plan.squared):
        valid = f"{name} is valid"
        squares.append((name, valid if valid in there else None, f"{name} squared"))
    return with_squares(rows, squares)


def _bounds(wanted: Wanted) -> tuple[float, float]:
    if wanted.ask.bounds is None:
        raise TypeError("numbers are put on a grid between bounds")
    return wanted.ask.bounds


def _query(
    plan: _Plan, rows: nw.LazyFrame[Any], *, few: bool, later: Ladder | None
) -> nw.LazyFrame[Any]:
    """Add rows up by level and all labels; `later` is the ladder that groups are put on."""
    import narwhals as nw

    totals: dict[str, Total] = {"size": ("", "rows")}
    for name, each in plan.numbers.values():
        if name == plan.first(each):
            totals[f"{name} n"] = valid_rows(rows, name, f"{name} is valid")
        totals[f"{name} s"] = (name, "sum")
        if name in plan.squared:
            totals[f"{name} q"] = (f"{name} squared", "sum")
    for name in plan.flags.values():
        totals[f"{name} a"] = (name, "sum")
        totals[f"{name} k"] = (f"{name} is known", "sum")
    by = [name for name, _, _ in plan.keys.values()]
    first = totals
    if plan.budgets and not few:
        rows, by, first = with_key(rows), [*by, "key"], totals | {"e": ("e", "min")}
    elif plan.budgets:
        by = [*by, "e"]
    parts = put_on_rungs(added_up(rows, by, first, plan.table.passed), later)
    own: list[str] = []
    for name, key, mark, declared in plan.labels.values():
        out = f"{name} out"
        parts = parts.with_columns(nw.col(key).alias(name))
        parts = sorted_out(parts, labels_of(declared, mark.spelling), declared, name, out)
        parts = outside(parts, declared, name, out)
        own += [name, out]
    again = [nw.col(name).sum() for name in totals]
    smallest = [nw.col("e").min().alias("e")] if plan.budgets else []
    by = list(own)
    if plan.budgets:
        parts, by = with_key(parts), [*by, "key"]
    parts = parts.group_by(*by).agg(*again, *smallest) if by else parts.select(*again)
    whole = [nw.col(name).cast(nw.Int64) for name in totals]
    return parts.select(*own, *whole, *(["e"] if plan.budgets else []))


def _margins(plan: _Plan, every: Sequence[Wanted], result: nw.DataFrame[Any]) -> list[Counted]:
    """Add up what each question asks for."""
    lines = len(result)
    epsilon = as_floats(result["e"]) if plan.budgets else float(plan.table.epsilon)
    nothing: Integers = np.zeros(lines, dtype=np.int64)

    def total(name: str) -> Integers:
        # In SQL the sum of nothing is null.
        return np.array([number or 0 for number in result[name].to_list()], dtype=np.int64)

    found = {name: total(name) for name in result.columns if _is_total(name)}
    size = found["size"]
    place: dict[str, Integers] = {}
    for name, _, mark, declared in plan.labels.values():
        labels = labels_of(declared, mark.spelling)
        place[name] = cells_in(result, labels, declared, name, f"{name} out")

    def margin(wanted: Wanted) -> Counted:
        own = [place[plan.label(*pair)] for pair in wanted.labelled]
        if wanted.categories is not None:
            parts = Parts(epsilon, own[0], size, None, nothing[:1], nothing[:1])
            return cells.add_up(parts, wanted.categories)
        name = plan.number(wanted)
        n, s = found[f"{plan.first(wanted)} n"], found[f"{name} s"]
        if wanted.ask.what == "shares":
            group = nothing
            for index, (_, declared) in enumerate(wanted.labelled):
                group = own[0] if index == 0 else joined(group, own[1], len(declared.labels))
            where = None
            if wanted.where is not None:
                flag = plan.flag(wanted.where)
                where = (found[f"{flag} a"], found[f"{flag} k"])
            shares = parts_of_rows(epsilon, group, (size, n, s), where, wanted.counting)
            return add_up_shares(shares, len(wanted.counting.labels))
        squares = found[f"{name} q"] if wanted.ask.what == "moments" else None
        sums = _sums(levels_of(epsilon, lines), size, n, s, squares)
        return replace(sums, moved=moved(epsilon))

    return [margin(wanted) for wanted in every]


def _is_total(name: str) -> bool:
    return name == "size" or name.endswith((" n", " s", " q", " a", " k"))


def _sums(
    levels: tuple[Any, Integers], size: Integers, n: Integers, s: Integers, q: Integers | None
) -> SumGroups:
    """Add up by level, missing values at the middle."""
    found, level_of = levels

    def added(numbers: Integers) -> Integers:
        total = np.zeros(found.size, dtype=np.int64)
        np.add.at(total, level_of, numbers)
        return total

    missing = added(size - n)
    nothing = np.zeros_like(missing)
    return SumGroups(
        levels=found,
        people=added(size),
        sums=added(s) + HALF * missing,
        missing=missing,
        conflicts=nothing,
        nobody=nothing,
        most=nothing,
        squares=None if q is None else added(q),
    )
