"""Arrays that the user gave, checked: numbers in float64, budgets in float64, people as numbers."""

from __future__ import annotations

import contextlib
import numbers
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from epsilons.budgets import float_down, floats_down, is_number, is_number_type
from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.ladder import Ladder
from epsilons.tally.categories import Kind, wrong_entry, wrong_type
from epsilons.tally.counted import Names, said
from epsilons.tally.given import Column, is_null, opened, same_labels
from epsilons.tally.grid import LARGEST
from epsilons.tally.identity import people
from epsilons.tally.spellings import as_cells
from epsilons.types import Booleans, Floats, Integers

__all__ = [
    "Arrays",
    "budgets_and_people",
    "floats",
    "length",
    "one_budget",
    "read",
    "unchecked",
    "unnamed",
]


@dataclass(frozen=True, eq=False)
class Arrays:
    """Rows in memory: values, the budget of each row (or of all), and the person of each row.

    Attributes:
        values: numbers, NaN or infinite where they are missing.
        epsilon: the budget of each row, or of all.
        person: who a row belongs to; None if a row is a person.
        group: the place of its group among those declared, or below 0; None if there are none.
        asked: 1 for a row that is asked, 0 for one that is not, below 0 if nobody knows; None if
            all are.
        beside: a second number of each row, if there is one.
    """

    values: Floats
    epsilon: Floats | float
    person: npt.NDArray[Any] | None
    group: Integers | None = None
    asked: Integers | None = None
    beside: Floats | None = None


def read(
    values: object,
    epsilon: object,
    person: object,
    names: Names,
    ladder: Ladder | None = None,
    *,
    lenient: bool,
    y: object = None,
) -> Arrays:
    """Check arrays.

    Args:
        values: one number for each row; None, NaN and infinities are missing values.
        epsilon: one budget for each row, or one number for all.
        person: who each row belongs to, anything that can be compared; or None.
        names: what messages call the three.
        ladder: the public ladder that budgets stand on, if they are private. Then rows that belong
            to no one are left out of the sum, and nothing is refused because of an entry.
        lenient: whether an entry of values that is no number is a missing value, in a list or a
            column of objects; it is refused otherwise.
        y: a second number for each row, if there is one.

    Raises:
        ArgumentError: something is not one column, the lengths differ, or labels do.
        ColumnError: something is not made of numbers.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    unnamed({said("values", names.marks): values, "y": y, "epsilon": epsilon, "person": person})
    lenient = lenient or ladder is not None
    private = ladder is not None
    numbers_ = floats(values, names.values, lenient=lenient, private=private)
    second = None
    if y is not None:
        second = floats(y, names.of("y"), lenient=lenient, private=private)
        if second.size != numbers_.size:
            raise _other_length(names.values, names.of("y"))
    budgets, who = budgets_and_people(epsilon, person, names, numbers_.size, ladder)
    return Arrays(numbers_, budgets, who, beside=second)


def unnamed(given: Mapping[str, object]) -> None:
    """Refuse names of columns, since there is no data, and columns whose labels differ.

    Args:
        given: what the user gave, by parameter.

    Raises:
        ArgumentError: there are such.
    """
    for name, column in given.items():
        if isinstance(column, str):
            raise ArgumentError(
                f"{name}={column!r} names a column, but data is not given: "
                "give data=, a frame or the path of a file."
            )
    same_labels(**given)


def budgets_and_people(
    epsilon: object,
    person: object,
    names: Names,
    rows: int,
    ladder: Ladder | None = None,
) -> tuple[Floats | float, npt.NDArray[Any] | None]:
    """Check the budgets and the people of so many rows, as `read` does."""
    private = ladder is not None
    budgets, who, nobody = unchecked(epsilon, person, names, rows, lenient=private, private=private)
    if ladder is None:
        if nobody is not None and nobody.any():
            raise DataError(
                f"{names.person} has rows without a person (null or NaN). Give each its own "
                'person; neighbours="add-remove" leaves such rows out.'
            )
        return budgets, who
    if nobody is None and isinstance(budgets, float):
        return float(ladder.of(np.array([budgets]))[0]), who
    rungs = ladder.of(np.full(rows, budgets) if isinstance(budgets, float) else budgets)
    if nobody is not None:
        rungs[nobody] = 0.0
    return rungs, who


def unchecked(
    epsilon: object,
    person: object,
    names: Names,
    rows: int,
    *,
    lenient: bool,
    private: bool = False,
) -> tuple[Floats | float, npt.NDArray[Any] | None, Booleans | None]:
    """Return the budgets and the people of so many rows, and which rows belong to no one.

    Raises:
        ArgumentError: something is not one column, or the lengths differ.
        ColumnError: something is not of the type that it must be.
        BudgetError: `epsilon` is one number that cannot be a budget.
    """
    budgets: Floats | float | None = one_budget(epsilon)
    if budgets is None:
        budgets = _budgets(epsilon, names.epsilon, lenient=lenient, private=private)
    who = nobody = None
    if person is not None:
        who, nobody = people(person, names.person, lenient=lenient)
    for name, other in ((names.epsilon, budgets), (names.person, who)):
        if isinstance(other, np.ndarray) and other.size != rows:
            raise _other_length(names.values, name)
    return budgets, who, nobody


def _other_length(first: str, second: str) -> ArgumentError:
    return ArgumentError(
        f"{first} and {second} have different lengths: give each one entry per row."
    )


def one_budget(epsilon: object) -> float | None:
    """Return `epsilon` if it is one number for everyone, and None if it is something else.

    What is not a float64 is rounded down to one.
    """
    if isinstance(epsilon, Mapping) or (hasattr(epsilon, "levels") and hasattr(epsilon, "counts")):
        raise ArgumentError(
            "epsilon says how many people chose each level, but not who did: give one epsilon "
            "for each person, in the order of values."
        )
    if isinstance(epsilon, np.ndarray) and epsilon.ndim == 0:
        epsilon = epsilon[()]
    if not is_number(epsilon):
        if epsilon is None or isinstance(epsilon, (bool, np.bool_, numbers.Number)):
            raise BudgetError(
                f"epsilon={epsilon!r} is not a budget: give a number from 0 to infinity, "
                "or one for each person."
            )
        return None
    budget = float_down(epsilon) + 0.0
    if not budget >= 0.0:
        raise BudgetError(
            f"epsilon={budget!r} must not be negative or NaN: a budget is a number from 0 to "
            "infinity; 0 leaves a person out, inf makes their value public."
        )
    if budget == 0.0:
        raise BudgetError("epsilon=0 for everyone: nobody's value may be used at all.")
    return budget


def length(given: object, name: str) -> int:
    """Return how many rows `given` has, without making an array of it where it says so itself."""
    if isinstance(given, Sized) and not isinstance(given, np.ndarray):
        return len(given)
    return len(opened(given, name))


def floats(
    given: object, name: str, *, lenient: bool, kind: Kind = "numbers", private: bool = False
) -> Floats:
    """Return values in float64, with NaN wherever there is no number.

    Args:
        given: a list, an array or a series.
        name: what messages call it.
        lenient: whether text is read as a cell of a file is, and an entry that is no number is a
            missing value, in a list or a column of objects; it is refused otherwise.
        kind: "numbers", among which truth values are 0 and 1, or "bins", which have none.
        private: whether a column of another type is read so, too, and nothing is refused.

    Raises:
        ArgumentError: it is not one column.
        ColumnError: its type declares something else than numbers, or an entry is no number.
    """
    column, truth = opened(given, name), kind == "numbers"
    entries = _numbers(column, name, kind, booleans=truth, lenient=lenient, private=private)
    if isinstance(entries, list):
        plain = _plain(entries)
        if plain is not None:
            return plain
        return np.fromiter(map(_nearest, entries), np.float64, len(entries))
    with np.errstate(over="ignore", invalid="ignore"):
        return np.ascontiguousarray(entries, dtype=np.float64)


def _budgets(given: object, name: str, *, lenient: bool, private: bool) -> Floats:
    """Return budgets in float64, rounded down, with NaN wherever there is no number."""
    column = opened(given, name)
    entries = _numbers(column, name, "numbers", booleans=False, lenient=lenient, private=private)
    if isinstance(entries, list):
        plain = _plain(entries)
        if plain is not None and not (np.abs(plain) >= 2.0**53).any():
            return plain
        entries = np.fromiter((np.nan if e is None else e for e in entries), object, len(entries))
    return np.ascontiguousarray(floats_down(entries))


def _numbers(
    column: Column, name: str, kind: Kind, *, booleans: bool, lenient: bool, private: bool
) -> npt.NDArray[Any] | list[Any]:
    """Return the entries of a column of numbers, None for those of a list that are missing.

    Raises:
        ColumnError: the type declares something else, or an entry that is no number is refused.
    """
    held = column.family
    odd = held in ("text", "time") or (held == "boolean" and not booleans)
    if held == "nested" or (odd and not private and not column.inferred):
        raise wrong_type(kind, f"{name} must be", column.dtype)
    entries = column.entries
    if isinstance(entries, np.ndarray):
        if not odd:
            return entries
        entries = entries.tolist() if held == "text" else [None] * len(entries)
    if lenient:
        entries = as_cells(entries, "numbers" if booleans else "bins")
    truth = (bool, np.bool_) if booleans else ()
    unfit = {
        type_
        for type_ in set(map(type, entries))
        if not (is_number_type(type_) or issubclass(type_, truth))
    }
    if not unfit:
        return entries
    if not lenient:
        for item in entries:
            if type(item) in unfit and not is_null(item):
                raise wrong_entry(kind, f"{name} must be", type(item))
    return [None if type(item) in unfit else item for item in entries]


def _plain(entries: list[Any]) -> Floats | None:
    """Return a list of Python's own numbers, and None, in float64; None if it is another."""
    if set(map(type, entries)) <= {float, int, bool, type(None)}:
        with contextlib.suppress(OverflowError):  # an integer beyond all floats
            return np.array(entries, dtype=np.float64)
    return None


def _nearest(item: Any) -> float:
    """The float64 nearest to a number, at most the largest in size; NaN for None."""
    if item is None or is_null(item):
        return np.nan
    try:
        near = float(item)
    except OverflowError:
        near = np.inf if item > 0 else -np.inf
    return min(max(near, -LARGEST), LARGEST) if near != item else near
