"""A look at rows before anything is asked of them: what is missing, clipped, undeclared, and whose.

Nothing of the data is refused here, and nothing of it is protected: what comes back is for the
curator alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from epsilons.tally import columns, look_engine, look_numpy, unread
from epsilons.tally.categories import Categories, Kind
from epsilons.tally.collect import collected
from epsilons.tally.failures import guarded
from epsilons.tally.frames import asked
from epsilons.types import Integers

__all__ = ["Look", "look"]


@dataclass(frozen=True)
class Look:
    """What rows hold, unchecked. What does not apply is None.

    Attributes:
        rows: how many there are.
        people: how many there are; rows that belong to no one are none.
        nobody: rows without a person.
        missing: rows whose value is null or NaN, or an entry of another type in a list.
        infinite: rows of numbers whose value is infinite; for a mean these are missing, too.
        below: rows whose value is finite and below the lower bound.
        above: rows whose value is finite and above the upper bound.
        undeclared: rows whose value is there, and in no declared category.
        silent: people of whom no value is there.
        conflicts: people whose rows have two budgets; the smallest of them counts below.
        unusable: people whose budget is negative, NaN or missing.
        zero: people whose budget is 0.
        public: people whose budget is infinite.
        short: people whose budget is above 0 and below the lowest level.
        least: the smallest budget that is above 0 and finite, if there is any.
        largest: the largest such budget.
        median_rows: of the rows of each person.
        most_rows: the most rows of one person.
        unread: how text in place of numbers is written, the most frequent form first.
        unread_budgets: the same of budgets.
    """

    rows: int
    people: int
    nobody: int
    missing: int
    infinite: int | None
    below: int | None
    above: int | None
    undeclared: int | None
    silent: int
    conflicts: int
    unusable: int
    zero: int
    public: int
    short: int
    least: float | None
    largest: float | None
    median_rows: float
    most_rows: int
    unread: tuple[str, ...] = ()
    unread_budgets: tuple[str, ...] = ()


def look(
    values: Any,
    *,
    epsilon: Any,
    data: Any = None,
    person: Any = None,
    bounds: tuple[float, float] | None = None,
    categories: Categories | None = None,
    lowest: float = 0.0,
) -> Look:
    """Look at rows, in one pass.

    Args:
        values: one value for each row, or the name of a column of `data`.
        epsilon: one budget for each row, one number for everyone, or the name of a column.
        data: a frame that Narwhals reads, or the path of a file.
        person: who each row belongs to, or the name of a column; None if a row is a person.
        bounds: of numbers, if they are known.
        categories: what was declared; None for numbers.
        lowest: the lowest level of budgets, where these are private.

    Raises:
        ArgumentError: the arguments do not fit together (`ColumnError`: a column is not there or
            not of its type; `BudgetError`: one number cannot be the budget of everyone).
        DataError: the engine failed.
        FileError: `data` is a path, and the file cannot be read to its end.
    """
    kind: Kind = "numbers" if categories is None else categories.kind
    private = lowest > 0.0
    kinds: dict[str, Kind] = {"values": kind, "epsilon": "bins"}
    given = asked(values, epsilon, data, person, kinds=kinds, private=private)
    if given.data is None:
        rows = look_numpy.marked(given, bounds, categories)
        table = columns.Columns(rows.frame, "values", rows.epsilon, None)
    else:
        named = given.values, given.epsilon, given.data, given.person
        table = columns.read(*named, kind, lenient=private)
        if categories is not None and "values" in table.recast:
            categories = categories.recast

    def run() -> dict[str, list[Any]]:
        frame = table.frame
        if given.data is not None:
            frame = look_engine.marked(table, bounds, categories)
        result = collected(look_engine.query(frame, lowest), table.passed)
        return {name: result[name].to_list() for name in result.columns}

    found = guarded(run, *table.failure)
    shared = None if isinstance(table.epsilon, str) else float(table.epsilon)
    seen = _summed(found, shared, lowest)
    text: tuple[str, ...] = ()
    budgets: tuple[str, ...] = ()
    if seen.missing and kind in ("numbers", "bins", "integers"):
        text = unread.forms_of(given.values, given.data, kind)
    if seen.unusable and shared is None:
        budgets = unread.forms_of(given.epsilon, given.data, "numbers")
    return replace(seen, unread=text, unread_budgets=budgets)


def _summed(found: Mapping[str, list[Any]], shared: float | None, lowest: float) -> Look:
    """Add up what a query found, by how many rows people have.

    Args:
        found: its columns.
        shared: the budget of everyone, if it is one number.
        lowest: the lowest level.
    """

    def total(name: str) -> int:
        return sum(int(each or 0) for each in found[name])  # in SQL the sum of nothing is null

    def applies(name: str) -> int | None:
        return total(name) if name in found else None

    size, groups, people = (
        np.array([int(each or 0) for each in found[name]], dtype=np.int64)
        for name in ("rows", "groups", "people")
    )
    n = int(people.sum())
    if shared is None:
        budgets = {name: total(name) for name in ("conflicts", "unusable", "zero", "public")}
        budgets["short"] = total("short")
        usable = n - budgets["unusable"] - budgets["zero"] - budgets["public"]
        least = min((each for each in found["least"] if each is not None), default=0.0)
        largest = max((each for each in found["largest"] if each is not None), default=0.0)
    else:
        public = n if shared == np.inf else 0
        budgets = dict.fromkeys(("conflicts", "unusable", "zero"), 0)
        budgets |= {"public": public, "short": n if shared < lowest else 0}
        usable, least, largest = n - public, shared, shared
    return Look(
        rows=int((size * groups).sum()),
        people=n,
        nobody=int((size * (groups - people)).sum()),
        missing=total("missing"),
        infinite=applies("infinite"),
        below=applies("below"),
        above=applies("above"),
        undeclared=applies("undeclared"),
        silent=total("silent"),
        conflicts=budgets["conflicts"],
        unusable=budgets["unusable"],
        zero=budgets["zero"],
        public=budgets["public"],
        short=budgets["short"],
        least=float(least) if usable > 0 else None,
        largest=float(largest) if usable > 0 else None,
        median_rows=_median(size, people),
        most_rows=int(size[people > 0].max(initial=0)),
    )


def _median(size: Integers, people: Integers) -> float:
    """The median of sizes, of which each has so many people; 0 if there is nobody."""
    order = np.argsort(size)
    ends = np.cumsum(people[order])
    if ends.size == 0 or ends[-1] == 0:
        return 0.0
    middle = [(int(ends[-1]) - 1) // 2, int(ends[-1]) // 2]
    return float(size[order][np.searchsorted(ends, middle, side="right")].mean())
