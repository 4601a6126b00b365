"""The one door for rows: arguments, schema and entries of arrays are checked here, once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from epsilons.errors import ArgumentError
from epsilons.ladder import Ladder
from epsilons.parameters import choice
from epsilons.tally import arrays, cells_numpy, columns, series
from epsilons.tally.arrays import Arrays
from epsilons.tally.asks import Rules
from epsilons.tally.categories import Categories, Grouping, Kind, refuse_midpoint
from epsilons.tally.cells_numpy import CellArrays
from epsilons.tally.columns import Columns
from epsilons.tally.frames import Asked, asked
from epsilons.tally.rows import ONLY_SHARES, Held, Rows
from epsilons.tally.units import LARGEST_TABLE, SHARES

__all__ = ["SMALL", "open"]

POLICIES: Final = ("error", "midpoint", "exclude")
"""What may be done with missing values."""

SMALL = 10**5
"""Rows of arrays up to which NumPy is faster than starting an engine."""


def open(
    values: Any,
    *,
    epsilon: Any,
    data: Any = None,
    person: Any = None,
    missing: str = "error",
    categories: Categories | None = None,
    ladder: Ladder | None = None,
    groups: Grouping | None = None,
    where: Any = None,
    y: Any = None,
) -> Rows:
    """Check the arguments, the schema and the entries of arrays, and be ready to count.

    Args:
        values: one value for each row, or the name of a column of `data`: a number, or, with
            categories, of their kind. Of numbers, null, NaN and infinities are missing.
        epsilon: one budget for each row, one number for everyone, or the name of a column.
        data: a frame that Narwhals reads, or the path of a Parquet or CSV file: see `source`.
        person: who each row belongs to, or the name of a column; None if a row is a person.
        missing: "error" refuses missing values, "midpoint" puts them in the middle of the range,
            "exclude" leaves such rows out, and those of no declared group; a category has neither.
        categories: what `declare` made of categories or edges; None for numbers.
        ladder: a public ladder of budgets, if budgets and the number of people are private. Then
            no data is refused: a missing number is in the middle, a value that is in no category is
            in no cell, of two budgets the smaller counts, and whoever has none is left out.
        groups: those that numbers are told apart by; None for one that holds everybody.
        where: for each row whether it is asked, or the name of a column of booleans; None if all
            are.
        y: a second number for each row, or the name of a column, for pairs; None if one
            column is counted.

    Raises:
        ArgumentError: the arguments do not fit together (`ColumnError`: a column is not there or
            not of its type; `BudgetError`: one number cannot be the budget of everyone).
        DataError: an entry of arrays cannot be used.
        FileError: `data` is a path, and the file cannot be read.
    """
    choice("missing", missing, POLICIES)
    marked = groups is not None or where is not None
    some = marked or (missing == "exclude" and y is None)
    if (some and categories is not None) or (marked and y is not None):
        raise TypeError(ONLY_SHARES)
    if categories is not None:
        _check_cells(categories, missing, ladder)
    if groups is not None and ladder is not None:
        _check_table("groups", 2 * groups.size, ladder)
    marks = {} if groups is None else groups.columns
    marks = marks if where is None else {**marks, "where": where}
    marks = marks if y is None else {**marks, "y": y}
    kinds: dict[str, Kind] = {"values": "numbers" if categories is None else categories.kind}
    kinds |= {"epsilon": "bins", "where": "booleans", "y": "numbers"}
    if groups is not None:
        declared = (each.kind for each in groups.declared)
        kinds |= dict(zip(groups.columns, declared, strict=True))
    private = ladder is not None
    given = asked(values, epsilon, data, person, marks, kinds=kinds, private=private)
    unit = 1 if person is None else SHARES
    rules = Rules(
        given.names,
        missing,
        unit,
        categories,
        ladder,
        groups,
        some,
        # What was taken out of a frame, as arrays, is no table to ask again.
        source=None if given.data is None else data,
        values=values,
        epsilon=epsilon,
        where=where,
        beside=y,
    )
    if some:
        return _recast(_with_marks(given, rules), rules)
    if categories is not None:
        return _recast(_of_categories(given, categories, ladder), rules)
    if given.data is not None:
        return Rows(_read(given, ladder=ladder), rules)
    own = (given.values, given.epsilon, given.person)
    second = given.marks.get("y")
    numbers = arrays.read(*own, given.names, ladder, lenient=missing != "error", y=second)
    small = numbers.values.size <= SMALL
    return Rows(numbers if small else series.of_arrays(numbers), rules)


def _recast(held: Held, rules: Rules) -> Rows:
    """Rows, with labels written as numbers are where columns of numbers are read as text."""
    if not isinstance(held, Columns) or not held.recast:
        return Rows(held, rules)
    categories, groups = rules.categories, rules.groups
    if categories is not None and "values" in held.recast:
        categories = categories.recast
    if groups is not None:
        pairs = zip(groups.columns, groups.declared, strict=True)
        declared = (each.recast if name in held.recast else each for name, each in pairs)
        groups = replace(groups, declared=tuple(declared))
    return Rows(held, replace(rules, categories=categories, groups=groups))


def _check_cells(categories: Categories, missing: str, ladder: Ladder | None) -> None:
    """Refuse what does not fit categories, before any data are touched.

    Raises:
        ArgumentError: something does not.
    """
    refuse_midpoint(missing)
    if ladder is not None:
        _check_table("categories", len(categories.labels), ladder)


def _check_table(name: str, cells: int, ladder: Ladder) -> None:
    """Refuse more cells than any table of these levels has room for, before data are touched.

    Beside its rungs, data have at most two levels: on no rung, and no budget. So no table that
    passes here is refused later, whoever is there.

    Raises:
        ArgumentError: there are more.
    """
    if (len(ladder.levels) + 2) * cells > LARGEST_TABLE:
        raise ArgumentError(
            f"{name}: {cells:,} cells for each of {len(ladder.levels):,} public budget levels are "
            f"too many. Declare fewer {name}, or a few levels."
        )


def _read(given: Asked, kind: Kind = "numbers", ladder: Ladder | None = None) -> Columns:
    """Check the columns of a frame or a file."""
    own = (given.values, given.epsilon, given.data, given.person)
    marks = [columns.Mark(name, column, "numbers") for name, column in given.marks.items()]
    return columns.read(*own, kind, ladder, marks)


def _with_marks(given: Asked, rules: Rules) -> Arrays | Columns:
    """Check numbers, their groups, and which of them are asked."""
    groups, ladder = rules.groups, rules.ladder
    if given.data is not None:
        kinds = [] if groups is None else [each.kind for each in groups.declared]
        marks = [
            columns.Mark(name, column, kind)
            for (name, column), kind in zip(given.marks.items(), [*kinds, "booleans"], strict=False)
        ]
        own = (given.values, given.epsilon, given.data, given.person)
        return columns.read(*own, ladder=ladder, marks=marks)
    lenient = ladder is not None or rules.missing == "exclude"
    numbers = arrays.read(
        given.values,
        given.epsilon,
        given.person,
        given.names,
        ladder,
        lenient=lenient or rules.missing == "midpoint",
    )
    by = {name: column for name, column in given.marks.items() if name != "where"}
    group = asked_ = None
    if groups is not None:
        group = cells_numpy.groups_of(
            groups, by, given.names, lenient=lenient, private=ladder is not None
        )
    if "where" in given.marks:
        asked_ = cells_numpy.asked_of(
            given.marks["where"], given.names, lenient=lenient, private=ladder is not None
        )
    for name, column in (("by", group), ("where", asked_)):
        if column is not None and column.size != numbers.values.size:
            raise ArgumentError(
                f"{given.names.values} and {name} have different lengths: give each one entry per "
                "row."
            )
    return replace(numbers, group=group, asked=asked_)


def _of_categories(
    given: Asked, declared: Categories, ladder: Ladder | None
) -> CellArrays | Columns:
    """Check values of categories: as a table for an engine, or as arrays where NumPy counts them.

    NumPy counts small data, and columns whose entries have to be looked at one by one.
    """
    if given.data is not None:
        return _read(given, declared.kind, ladder)
    own = (given.values, given.epsilon, given.person)
    if arrays.length(given.values, given.names.values) > SMALL:
        table = series.of_values(*own, declared.kind, given.names, ladder)
        if table is not None:
            return table
    return cells_numpy.read(*own, declared, given.names, ladder)
