"""Distinct people in a table, their budgets and their weights, for a ledger's accounts.

Releases use `rows.py`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from epsilons.budgets.levels import is_number, numbers_given
from epsilons.door.count.weights import Weights
from epsilons.door.engines.entries import as_declared, bytewise
from epsilons.door.engines.expressions import floats
from epsilons.door.engines.running import collected, guarded
from epsilons.door.given import arrays, column, columns
from epsilons.door.given.columns import Columns, Mark
from epsilons.door.given.frames import AskedRows, asked
from epsilons.door.given.menus import Chosen
from epsilons.door.given.spellings import as_cells
from epsilons.door.offers import People, as_ids, checked, in_rows, order_of
from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ConflictingBudgetsError,
    DataError,
)
from epsilons.types import Floats

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = ["enrolled", "people", "weighed_people"]

NOBODY: Final = "person has rows without a person (null or NaN). Give each an id."


Budgets: TypeAlias = npt.NDArray[Any]
"""One budget for each person or row: an array of floats, or of Python decimals and integers."""


def people(data: Any, person: Any, *, lenient: bool) -> People:
    """Return the distinct people in the data.

    Args:
        data: a frame, the path of a file, or None if `person` is an array.
        person: one id for each row, or the name of a column.
        lenient: whether to ignore rows without a person, and entries of a list that are neither
            integers nor text; otherwise they are refused.

    Raises:
        ArgumentError: the arguments do not fit together.
        ColumnError: the column does not exist, or its type cannot be a type of ids.
        DataError: the engine failed.
        FileError: the file cannot be read.
    """
    wanted = asked(person, 1.0, data, person)
    if wanted.data is None:
        rows = in_rows(wanted.person, wanted.names.person, lenient=lenient)
        if not lenient:
            _refuse_nobody(rows)
        return rows
    table = _read(wanted, lenient=lenient)
    found = _distinct(table, [table.values])
    if not lenient and found[table.values].null_count():
        raise DataError(NOBODY)
    return People(as_ids(found[table.values], str(person)), table.spelling)


def weighed_people(data: Any, person: Any, weights: Weights) -> tuple[People, Floats]:
    """Return the distinct people in the data and the weight of each, and set `weights.unit`.

    Args:
        data: a frame, the path of a file, or None if the others are arrays.
        person: one id for each row, or the name of a column.
        weights: the weights of people.

    Raises:
        ArgumentError: the arguments do not fit together.
        ColumnError: a column does not exist, or has the wrong type.
        DataError: a row has no person, somebody has two weights, or a weight is missing, infinite
            or not above 0; or the engine failed.
        FileError: the file cannot be read.
    """
    marks = {"weights": weights.column}
    wanted = asked(person, 1.0, data, person, marks, kinds=dict.fromkeys(marks, "numbers"))
    name = wanted.names.of("weights")
    if wanted.data is None:
        who = in_rows(wanted.person, wanted.names.person, lenient=False)
        _refuse_nobody(who)
        given = arrays.floats(wanted.marks["weights"], name, lenient=False)
        if who.rows is None or given.size != who.rows.size:
            raise ArgumentError(
                "person and weights have different lengths: give one entry for each row."
            )
        own = np.empty(len(who))
        own[who.rows] = given
        several = bool((own[who.rows] != given).any())
    else:
        table = _read(wanted)
        own_weight = (floats(table, mark.column) for mark in table.marks)
        ids, weight = _distinct(table, [table.values, *own_weight]).get_columns()
        if ids.null_count():
            raise DataError(NOBODY)
        who = People(as_ids(ids, str(person)), table.spelling)
        own = weight.to_numpy()  # null becomes NaN
        several = ids.n_unique() < len(ids)
    weights.units(own, None, name)  # refuses weights that cannot be used
    if several:
        raise DataError(f"{name}: somebody has two weights. Give each person one.")
    return who, own


def enrolled(
    data: Any, person: Any, epsilon: Any, *, lenient: bool = False
) -> tuple[People, Budgets]:
    """Return the distinct people in the data, and the budget of each.

    Args:
        data: a frame, the path of a file, or None if the others are arrays.
        person: one id for each row, or the name of a column.
        epsilon: one budget for each row, the name of a column, one number for everyone, or the
            words of a menu (see `chosen`).
        lenient: whether to ignore rows without a person or a budget, and to use the smallest of
            several budgets. This is for callers in which a refusal would reveal data.

    Raises:
        ArgumentError: the arguments do not fit together.
        BudgetError: a budget is negative, NaN or missing, unless `lenient`.
        ColumnError: a column does not exist, or has the wrong type.
        ConflictingBudgetsError: somebody has two budgets, unless `lenient`.
        DataError: a row has no person, unless `lenient`, or the engine failed.
        FileError: the file cannot be read.
    """
    if is_number(epsilon):
        who = people(data, person, lenient=lenient)
        return who, _budgets(np.full(len(who), epsilon, dtype=_kind_of(epsilon)))
    wanted = asked(
        person, epsilon, data, person, kinds={"epsilon": "bins"} if lenient else {}, private=lenient
    )
    if wanted.data is None:
        return _of_arrays(wanted, lenient=lenient)
    table = _read(wanted, lenient=lenient)
    if not isinstance(table.epsilon, str):
        raise ArgumentError("epsilon must be the name of a column of data, since data is given.")
    pairs = _distinct(table, [table.values, table.epsilon])
    if lenient:
        pairs = pairs.filter(pairs[table.values].is_not_null())
    ids = pairs[table.values]
    if lenient and not _sound(ids, pairs[table.epsilon]):
        return _lowest(People(as_ids(ids, str(person)), table.spelling), pairs[table.epsilon])
    if ids.null_count():
        raise DataError(NOBODY)
    if ids.n_unique() != len(ids):
        raise ConflictingBudgetsError("epsilon: somebody has two budgets. Give each person one.")
    pairs = pairs[order_of(ids)]
    ids, budgets = pairs[table.values], pairs[table.epsilon]
    if isinstance(wanted.epsilon, Chosen):
        _refuse_unknown(budgets.to_numpy())
    if budgets.null_count():
        raise BudgetError("epsilon is missing for somebody. Leave these people out, or ask them.")
    plain = budgets.dtype.is_float()
    array = budgets.to_numpy() if plain else np.array(budgets.to_list(), dtype=object)
    return People(as_ids(ids, str(person)), table.spelling), _budgets(array)


def _of_arrays(wanted: AskedRows, *, lenient: bool) -> tuple[People, Budgets]:
    who = in_rows(wanted.person, wanted.names.person, lenient=lenient)
    if not lenient:
        _refuse_nobody(who)
    if isinstance(wanted.epsilon, Chosen):
        own = (wanted.epsilon, wanted.names.epsilon)
        budgets = arrays.of_menu(*own, lenient=lenient, private=lenient)
        if not lenient:
            _refuse_unknown(budgets)
    elif lenient:
        budgets = _cells(wanted)
    else:
        try:
            budgets = numbers_given(wanted.epsilon)
        except (ValueError, TypeError):
            budgets = np.array([], dtype=object)
    if budgets.ndim != 1 or who.rows is None or len(budgets) != len(who.rows):
        raise ArgumentError(
            "person and epsilon have different lengths: give one entry for each row."
        )
    if lenient:
        import polars as pl

        some = who.rows >= 0
        rows = replace(who, ids=who.ids.gather(who.rows[some]), rows=None)
        return _lowest(rows, pl.Series(budgets[some].tolist(), dtype=pl.Object))
    budgets = _budgets(budgets)
    each = np.empty(len(who), dtype=budgets.dtype)
    each[who.rows] = budgets
    if (each[who.rows] != budgets).any():
        raise ConflictingBudgetsError("epsilon: somebody has two budgets. Give each person one.")
    return who, each


def _cells(wanted: AskedRows) -> Budgets:
    """Return budgets as the user gave them, with text parsed like the cells of a file.

    Raises:
        ArgumentError: they are not a single column.
    """
    entries = column.opened(wanted.epsilon, wanted.names.epsilon).entries
    plain = isinstance(entries, np.ndarray) and entries.dtype.kind in "fiu"
    listed = np.asarray(entries).tolist() if plain else list(entries)
    cells = as_cells(listed, "bins")
    return np.fromiter(cells, dtype=object, count=len(cells))


def _sound(ids: pl.Series, budgets: pl.Series) -> bool:
    """Whether everyone has exactly one budget, which is neither negative, NaN nor null."""
    if ids.n_unique() != len(ids) or budgets.null_count():
        return False
    nan = budgets.dtype.is_float() and budgets.is_nan().any()
    return bool((budgets >= 0).all() and not nan)


def _lowest(rows: People, budgets: pl.Series) -> tuple[People, Budgets]:
    """Return the distinct people who have a budget, with their smallest budget.

    Args:
        rows: the person of each row. People can occur several times.
        budgets: the budget of each row. Invalid budgets are ignored.
    """
    found: dict[Any, tuple[int, Any]] = {}
    for place, (who, budget) in enumerate(zip(rows.ids.to_list(), budgets.to_list(), strict=True)):
        if _is_budget(budget) and (who not in found or budget < found[who][1]):
            found[who] = found[who][0] if who in found else place, budget
    places = [place for place, _ in found.values()]
    kept = replace(rows, ids=rows.ids.gather(places))
    return kept, np.array([budget for _, budget in found.values()], dtype=object)


def _is_budget(item: Any) -> bool:
    """Whether an item is a number from 0 to infinity."""
    try:
        return is_number(item) and bool(item >= 0)
    except ArithmeticError:  # a decimal NaN cannot be compared
        return False


def _kind_of(epsilon: Any) -> Any:
    return np.float64 if isinstance(epsilon, float) else object


def _budgets(array: Budgets) -> Budgets:
    """Return budgets, after checking that all of them are valid.

    Raises:
        BudgetError: an entry is negative, NaN or not a number.
    """
    numbers = array.dtype.kind in "fiu" or all(map(is_number, array.tolist()))
    if not numbers or not all(each >= 0 for each in _ends(array)):
        raise BudgetError(
            "epsilon is negative, NaN or not a number for somebody. A budget is a number from 0 to "
            "infinity; 0 leaves a person out, inf makes their value public."
        )
    return array


def _ends(array: Budgets) -> list[Any]:
    """Return the minimum of an array of numbers, or all entries of an array of objects.

    Everything in the result is >= 0 if and only if all entries of the array are.
    """
    if array.dtype.kind == "O":
        return [each if each == each else float("nan") for each in array.tolist()]
    return [array.min()] if array.size else []


def _refuse_unknown(budgets: Floats) -> None:
    """Refuse words that are missing or not in the menu.

    Raises:
        BudgetError: somebody has such a word.
    """
    unknown = int((budgets < 0.0).sum())
    if unknown:
        raise BudgetError(
            f"epsilon has words that are missing or not in menu, for {unknown:,} people. Declare "
            "every word that people could choose, and leave out those who chose none."
        )


def _refuse_nobody(who: People) -> None:
    if who.rows is not None and (who.rows < 0).any():
        raise DataError(NOBODY)


def _read(wanted: AskedRows, *, lenient: bool = False) -> Columns:
    """Open a table of people's ids, in a form that engines compare byte by byte."""
    given, person = wanted.epsilon, wanted.person
    menu = given.menu if isinstance(given, Chosen) else None
    given = given.column if isinstance(given, Chosen) else given
    epsilon = given if isinstance(given, str) else 1.0
    marks = tuple(Mark(name, each, "numbers") for name, each in wanted.marks.items())
    table = columns.opened(wanted.data, person, epsilon, menu, marks, lenient=lenient)
    if lenient:
        table = guarded(table.failure, columns.with_whole, table, table.values)
    text = checked(table.types, table.values, person)

    def written() -> Columns:
        kind: Any = "text" if text else "integers"
        held = {**dict.fromkeys(table.named.values()), table.values: kind}
        frame = as_declared(table.frame, held)
        who = table.values
        frame, spelling = bytewise(
            frame, who if text else None, who, table.types, {"values": person, "person": person}
        )
        return columns.of_words(replace(table, frame=frame, spelling=spelling))

    return guarded(table.failure, written)


def _distinct(table: Columns, wanted: list[str | nw.Expr]) -> pl.DataFrame:
    """Return the distinct rows of some columns, computed by the engine."""

    def run() -> pl.DataFrame:
        query: nw.LazyFrame[Any] = table.frame.select(*wanted).unique()
        found: pl.DataFrame = collected(query, table.passed).to_polars()
        return found

    return guarded(table.failure, run)
