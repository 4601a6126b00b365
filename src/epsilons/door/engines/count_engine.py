"""Count any number of questions in one query on an engine.

The query groups rows by budget and all labels, and adds up all numbers. Its result is the same
integers on every engine. Rows are grouped by their original values. Text is then compared only once
per group, and a dictionary of text is never decoded. A second step merges values in no category
into one group, so the result has at most levels × labels rows. If `expressions.at_hand` loaded the
groups into memory, NumPy does the second step, and the result has a row for each group. Each
question needs a marginal of that table, which is added up in integers.

If people have many rows, `fold_engine.py` first reduces these to entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.budgets.levels import Ladder, budgets_of_units, moved
from epsilons.door.count.asks import Counted, Faults, levels_of, summed
from epsilons.door.count.tallies import GRID, HALF
from epsilons.door.count.units import (
    BELOW,
    UnitParts,
    joined,
    number_cells,
    of_categories,
    of_groups,
)
from epsilons.door.count.weights import Heads, ends_of
from epsilons.door.engines.expressions import (
    MOST_AT_HAND,
    Aggregate,
    added_up,
    at_hand,
    few_budgets,
    grouped,
    of_somebody,
    put_on_rungs,
    rungs_put_off,
    with_key,
)
from epsilons.door.engines.fold_engine import by_people, folded
from epsilons.door.engines.grid_engine import Square, lacking, valid_rows, with_parts, with_squares
from epsilons.door.engines.labels_engine import cells_in, labels_of
from epsilons.door.engines.plan import QueryPlan, Wanted
from epsilons.door.engines.running import as_floats, as_integers, collected, guarded
from epsilons.door.engines.table import dialect_of, engine_of
from epsilons.door.engines.weights_engine import in_units, weighted_totals
from epsilons.door.given.columns import Columns
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["PIECE", "count"]

PIECE = 2**23
"""The number of rows that Polars counts at a time if there are many groups. Polars caches a few
thousand groups, and holds the rows of all other groups until the end. With few groups, one query
counts all rows."""


def count(every: Sequence[Wanted], table: Columns) -> list[Counted]:
    """Count several questions about one table in one query.

    Args:
        every: the questions. If people have many rows, there must be only one.
        table: a frame with checked columns.

    Raises:
        ArgumentError: the table of levels and labels would be too large.
        FileError: the file cannot be read to its end.
        DataError: the engine failed, or weights are refused.
    """
    found = None
    if table.weights is not None:
        found = guarded(table.failure, _by_pairs, QueryPlan(table, every))
        table = table if found is not None else in_units(table)
    if found is None:
        found = guarded(table.failure, _by_budgets, QueryPlan(table, every))
    return guarded(table.failure, list, map(found.margin, every))


def _by_budgets(plan: QueryPlan) -> _Lines:
    """Add up rows by budget and all labels."""
    import narwhals as nw

    table = plan.table
    own, ladder = table, None
    if table.ladder is not None and plan.budgets and not plan.folded:
        own, ladder = rungs_put_off(table, table.ladder)
    # If rows of numbers were folded into fewer entries, these are always grouped by key.
    looked = not (plan.folded and plan.columns)
    few = not plan.budgets or ladder is not None or (looked and few_budgets(own))
    pieces = [own]
    if plan.labels and (plan.folded or not few) and engine_of(own.frame).streams:
        pieces = by_people(own) if plan.folded else own.pieces(PIECE)
    parts, later = [], ladder
    for piece in pieces:
        query, later = _query(plan, _people(plan, piece), few=few, later=ladder)
        parts.append(collected(query, table.passed))
    result = parts[0] if len(parts) == 1 else nw.concat(parts)
    epsilon = as_floats(result["e"]) if plan.budgets else float(table.epsilon)
    if later is not None and not isinstance(epsilon, float):
        epsilon = later.of(epsilon)
    found = _Lines(plan, result, epsilon)
    if not plan.weighed:
        return found
    return replace(found, heads=Heads(*map(found.found, ("heads", "fewest", "most units"))))


def _by_pairs(plan: QueryPlan) -> _Lines | None:
    """Add up rows by budget, weight and all labels; return None if that makes too many groups.

    Everyone in a group has the same number of units, so `_Lines` multiplies the sums of a group by
    that number. `_by_budgets` multiplies each row instead, and gives the same integers.
    Proof: docs/proofs/weights.md (8).

    Raises:
        DataError: the engine failed, or weights are refused.
    """
    import narwhals as nw

    table = plan.table
    if table.weights is None:
        raise TypeError("these rows have no weights")
    if not few_budgets(table):
        return None
    pair = ["e", "w"] if plan.budgets else ["w"]
    rows = _people(plan, table)
    totals = _totals(plan, rows)
    parts = at_hand(added_up(rows, [*plan.by, *pair], totals), table.passed, bounded=False)
    if dialect_of(parts) is not None:
        return None  # there are too many groups
    parts = plan.sorted_out(parts).select(*plan.places, nw.col(*totals).cast(nw.Int64), *pair)
    result = collected(parts.head(MOST_AT_HAND), table.passed)
    if len(result) == MOST_AT_HAND:
        return None
    _, weights, name = table.weights
    size = as_integers(result["size"])
    units = weights.units_of_groups(as_floats(result["w"]), size, name)
    epsilon = as_floats(result["e"]) if plan.budgets else float(table.epsilon)
    heads = Heads(size, units, units)
    return _Lines(plan, result, budgets_of_units(epsilon, units), units, heads)


def _people(plan: QueryPlan, table: Columns) -> nw.LazyFrame[Any]:
    """Return the rows of a table, or people's entries, with the numbers to add up."""
    rows = plan.rows(table)
    if plan.folded:
        rows = folded(plan, rows)
    for name, each in plan.pairs.values():
        if each.rules.missing == "exclude":
            rows = lacking(rows, name)
        rows = with_parts(rows, name)
    if not plan.squared:
        return rows
    there = rows.collect_schema()
    squares: list[Square] = []
    for name in sorted(plan.squared):
        valid = f"{name} is valid"
        squares.append((name, valid if valid in there else None, f"{name} squared"))
    return with_squares(rows, squares)


def _totals(plan: QueryPlan, rows: nw.LazyFrame[Any]) -> dict[str, Aggregate]:
    """Return the aggregates of the query."""
    totals: dict[str, Aggregate] = {"size": ("", "rows")}
    for name, each in plan.numbers.values():
        if name == plan.firsts[each.values, each.where]:
            totals[f"{name} n"] = valid_rows(rows, name)
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
    if not plan.folded:
        return totals
    totals["somebody"] = of_somebody(rows)
    if plan.budgets:
        totals["conflict"] = ("conflict", "max")
    if plan.columns:
        totals |= {"rows": ("size", "sum"), "most": ("rows", "max"), "missing": ("missing", "sum")}
        if plan.labels:
            totals["points"] = ("points", "sum")
        if plan.apart:
            totals["declared"] = ("declared", "max")
    return totals


def _query(
    plan: QueryPlan, rows: nw.LazyFrame[Any], *, few: bool, later: Ladder | None
) -> tuple[nw.LazyFrame[Any], Ladder | None]:
    """Return a query that adds up rows by budget level and all labels.

    Args:
        plan: the columns of the query.
        rows: rows with the columns of the plan, or entries.
        few: whether there are few exact budgets. Rows are then grouped by budget, otherwise by
            level.
        later: the ladder on which to place groups, or None.

    Returns:
        The query, and the ladder on which to place its result; None if it is already placed.
    """
    import narwhals as nw

    totals = _totals(plan, rows)
    if plan.weighed:
        rows, totals = weighted_totals(rows, totals, folded=plan.folded)
    # If rows of numbers were folded into entries, `folded` has already looked up their labels,
    # because it needs them to divide people's units.
    ready = plan.folded and bool(plan.columns)
    entries = ["each"] if plan.folded and plan.labels else []
    by, first = [*(plan.places if ready else plan.by), *entries], totals
    if plan.budgets and not few:
        rows, by, first = with_key(rows), [*by, "key"], totals | {"e": ("e", "min")}
    elif plan.budgets:
        by = [*by, "e"]
    parts = added_up(rows, by, first)
    if not entries:
        bounded = not plan.keys and not (plan.budgets and few)
        parts = at_hand(parts, plan.table.passed, bounded=bounded)
    # If groups were loaded into memory, they are few, and NumPy adds them up.
    again = engine_of(parts) == engine_of(rows) and not ready
    if not plan.keys:
        again = again and plan.budgets and few and not engine_of(parts).streams
    if again:
        parts, later = put_on_rungs(parts, later), None
    if not ready:
        parts = plan.sorted_out(parts)
    if again:
        once_more: dict[str, Aggregate] = {
            name: (name, how if how in ("min", "max") else "sum")
            for name, (_, how) in totals.items()
        }
        by = [*plan.places, *entries]
        if plan.budgets:
            parts, by = with_key(parts), [*by, "key"]
            once_more["e"] = ("e", "min")
        parts = grouped(parts, by, once_more)
    if engine_of(parts).streams and not again:
        return parts, later  # these are from `added_up` and already have 64 bits
    whole = nw.col(*entries, *totals).cast(nw.Int64)
    return parts.select(*plan.places, whole, *(["e"] if plan.budgets else [])), later


@dataclass(frozen=True, eq=False)
class _Lines:
    """The result of the query, with one line for each combination of budget and labels.

    Attributes:
        plan: the columns of the query.
        result: the lines.
        epsilon: the budget of each line, or one budget for all. With weights, it is the budget of
            one unit.
        units: the number of units of a person in each line, if the sums in `result` must still be
            multiplied by it; otherwise None.
        heads: the people of each line and their units, if people have weights; otherwise None.
    """

    plan: QueryPlan
    result: nw.DataFrame[Any]
    epsilon: Floats | float
    units: Integers | None = None
    heads: Heads | None = None

    def found(self, name: str) -> Integers:
        """Return one sum for each line. In SQL the sum of no rows is null."""
        series = self.result[name]
        sums = as_integers(series.fill_null(0) if series.null_count() else series)
        return sums if self.units is None else sums * self.units

    @cached_property
    def faults(self) -> Faults:
        """Counts of people's faults, such as two budgets, which are the same for every question."""
        if not self.plan.folded:
            return Faults(most=1)
        entries = self.found("size") if self.heads is None else self.heads.number
        return Faults(
            conflicts=int(self.found("conflict").sum()) if self.plan.budgets else 0,
            weights=int(self.found("doubles").sum()) if self.plan.weighed else 0,
            nobody=int((entries - self.found("somebody")).sum()),
            most=int(self.found("most" if self.plan.columns else "each").max(initial=0)),
        )

    def margin(self, each: Wanted) -> Counted:
        """Return the counts for one question: a marginal of the table."""
        if each.ask.what != "cells" and not (each.rules.some and each.ask.what == "numbers"):
            return self._numbers(each)
        place = np.zeros(len(self.result), dtype=np.int64)
        for index, (mark, declared) in enumerate(each.labels):
            name, labels = self.plan.label(mark, declared), labels_of(declared, mark.spelling)
            cell = cells_in(self.result, labels, declared, name, f"{name} out")
            place = cell if index == 0 else joined(place, cell, len(declared.labels))
        whole = each.ask.adds or not self.plan.folded
        entries = None if whole or not each.labels else self.found("each")
        size = self.found("size")
        parts = UnitParts(self.epsilon, place, size, entries, self.faults, heads=self.heads)
        if each.ask.what == "cells":
            return of_categories(parts, each.rules, each.ask)
        return of_groups(self._divided(each, parts), each.rules, each.ask)

    def _divided(self, each: Wanted, parts: UnitParts) -> UnitParts:
        """Return the parts with people's contributions to their groups."""
        plan, out = self.plan, parts.cell < 0
        rows = self.found("rows") if plan.folded else parts.size
        asked, known = rows, rows
        if each.where is not None:
            flag = plan.flag(each.where)
            asked, known = self.found(f"{flag} a"), self.found(f"{flag} k")
        inside = self.found(f"{plan.firsts[each.values, each.where]} n")
        above = self.found(f"{plan.number(each)} s")
        if plan.folded:
            missing = self.found("missing")
        else:  # each person gives a whole unit to one group
            missing = asked - inside
            gaps = missing * each.rules.in_the_middle
            inside = np.where(out, 0, inside + gaps)
            above = np.where(out, 0, above + HALF * gaps)
        faults = replace(
            parts.faults,
            missing=int(missing.sum()),
            undeclared=int(asked[out].sum()),
            unknown=int((rows - known).sum()),
            several=int((self.found("declared") > 1).sum()) if plan.folded and plan.apart else 0,
        )
        points = self.found("points") if plan.folded and plan.labels else GRID * inside
        return replace(parts, faults=faults, inside=inside, points=points, above=above)

    def _numbers(self, each: Wanted) -> Counted:
        """Return counts of numbers without groups: everyone is in one group."""
        plan, size = self.plan, self.found("size")
        levels, level_of = levels_of(self.epsilon, size.size)

        def added(numbers: Integers) -> Integers:
            return summed(level_of, numbers, levels.size)

        if each.ask.what == "pairs":
            name = plan.pair(each)
            ends = ("x", "a", *BELOW, *(("absent",) if each.rules.missing == "exclude" else ()))
            sums = {end: added(self.found(f"{name} {end}")) for end in ends}
            gaps = 2 * size - self.found(f"{name} n") - self.found(f"{name}2 n")
        else:
            name, first = plan.number(each), plan.firsts[each.values, each.where]
            gaps = size - self.found(f"{first} n")
            absent = added(gaps)
            given = added(self.found(f"{name} s"))
            sums = {"x": given + each.ask.nothing * absent, "absent": absent}
            if each.ask.what == "squares":
                sums["v"] = added(self.found(f"{name} q"))
        missing = self.found("missing") if plan.folded else gaps
        faults = replace(self.faults, missing=int(missing.sum()))
        people = added(size)
        cells = number_cells(each.ask.what, people, sums, each.rules)
        heads = self.heads
        if heads is not None:
            units = ends_of(level_of, heads.fewest, heads.most, levels.size)
            heads = Heads(added(heads.number), *units)
        return Counted(levels, people, cells, faults, moved(self.epsilon), heads=heads)
