"""Arrays that the user gave, checked: numbers in float64, budgets in float64, people as numbers."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from epsilons.errors import ArgumentError, BudgetError, ColumnError, DataError
from epsilons.tally.grid import LARGEST, Floats, Integers
from epsilons.tally.ladder import Ladder

__all__ = [
    "Arrays",
    "budgets_and_people",
    "column",
    "floats",
    "is_null",
    "length",
    "one_budget",
    "read",
]

REAL_KINDS = "iuf"


@dataclass(frozen=True, eq=False)
class Arrays:
    """Rows in memory: values, the budget of each row (or of all), and the person of each row."""

    values: Floats
    epsilon: Floats | float
    person: npt.NDArray[np.generic] | None


def read(
    values: object,
    epsilon: object,
    person: object,
    names: tuple[str, str, str],
    ladder: Ladder | None = None,
) -> Arrays:
    """Check arrays.

    Args:
        values: one number for each row; None, NaN and infinities are missing values.
        epsilon: one budget for each row, or one number for all.
        person: who each row belongs to, anything that can be compared; or None.
        names: what messages call the three.
        ladder: the public ladder that budgets stand on, if they are private. Then rows that belong
            to no one are left out of the sum, and nothing is refused because of a value.

    Raises:
        ArgumentError: something is not one column, or the lengths differ.
        ColumnError: something is not made of numbers.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    numbers_ = floats(values, names[0], booleans=True)
    budgets, who = budgets_and_people(epsilon, person, names, numbers_.size, ladder)
    return Arrays(numbers_, budgets, who)


def budgets_and_people(
    epsilon: object,
    person: object,
    names: tuple[str, str, str],
    rows: int,
    ladder: Ladder | None = None,
) -> tuple[Floats | float, npt.NDArray[np.generic] | None]:
    """Check the budgets and the people of so many rows, as `read` does."""
    scalar = one_budget(epsilon)
    budgets = scalar if scalar is not None else floats(epsilon, names[1], booleans=False)
    who, nobody = (None, None) if person is None else _people(person, names[2])
    for name, other in ((names[1], budgets), (names[2], who)):
        if isinstance(other, np.ndarray) and other.size != rows:
            raise ArgumentError(
                f"{names[0]} and {name} are not equally long: give one entry for each row in each."
            )
    if ladder is None:
        if nobody is not None and nobody.any():
            raise DataError(
                f"{names[2]} has rows without a person (null or NaN). "
                "Drop these rows, or give each its own person."
            )
        return budgets, who
    if nobody is None and isinstance(budgets, float):
        return float(ladder.of(np.array([budgets]))[0]), who
    rungs = ladder.of(np.full(rows, budgets) if isinstance(budgets, float) else budgets)
    if nobody is not None:
        rungs[nobody] = 0.0
    return rungs, who


def one_budget(epsilon: object) -> float | None:
    """Return `epsilon` if it is one number for everyone, and None if it is something else."""
    if isinstance(epsilon, Mapping) or (hasattr(epsilon, "levels") and hasattr(epsilon, "counts")):
        raise ArgumentError(
            "epsilon says how many people chose each level but not who: "
            "give one epsilon for each person, in the order of values."
        )
    if isinstance(epsilon, np.ndarray) and epsilon.ndim == 0:
        epsilon = epsilon[()]
    if isinstance(epsilon, (bool, np.bool_)) or not isinstance(
        epsilon, (int, float, np.integer, np.floating)
    ):
        if epsilon is None or isinstance(epsilon, (bool, np.bool_, numbers.Number)):
            raise BudgetError(
                f"epsilon={epsilon!r} is not a budget: give a number from 0 to infinity, "
                "or one for each person."
            )
        return None
    try:
        budget = float(epsilon) + 0.0
    except OverflowError:  # an integer beyond float64: rounded down, if it is positive
        budget = LARGEST if epsilon > 0 else -LARGEST
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
    return column(given, name).size


def column(given: object, name: str) -> npt.NDArray[np.generic]:
    """Return `given` as a one-dimensional array of whatever type it has."""
    array: npt.NDArray[np.generic] | None
    try:
        array = np.asarray(given)
    except Exception:
        array = None  # the message of NumPy or of a library might show a value: it is not kept
    if array is None or array.ndim == 0:
        raise ArgumentError(
            f"{name} must be a list, an array or a series, one entry for each row; "
            f"it is of type {type(given).__name__}."
        )
    if array.ndim != 1:
        raise ArgumentError(f"{name} has {array.ndim} dimensions: one column is meant.")
    return array


def floats(given: object, name: str, *, booleans: bool) -> Floats:
    """Return `given` in float64, with NaN wherever it has no number."""
    array = column(given, name)
    kinds = REAL_KINDS + ("b" if booleans else "")
    if array.dtype.kind == "O":
        return _floats_of_objects(array, name, booleans=booleans)
    if array.dtype.kind not in kinds:
        raise ColumnError(
            f"{name} must be numbers; its type is {array.dtype}. "
            "Convert it before: text is never read as numbers here."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        result: Floats = np.ascontiguousarray(array, dtype=np.float64)
    if isinstance(given, np.ma.MaskedArray):
        # np.asarray forgets the mask, and what is behind a mask is not a value.
        result = np.where(np.ma.getmaskarray(given), np.nan, result)
    return result


def _floats_of_objects(array: npt.NDArray[np.generic], name: str, *, booleans: bool) -> Floats:
    """Return Python objects in float64: numbers, and None (or pandas' NA) for missing."""
    result = np.empty(array.size, dtype=np.float64)
    for row, item in enumerate(array.tolist()):
        if is_null(item):
            result[row] = math.nan
        elif isinstance(item, (numbers.Real, Decimal, np.bool_)) and (
            booleans or not isinstance(item, (bool, np.bool_))
        ):
            try:
                result[row] = float(item)
            except OverflowError:
                result[row] = LARGEST if item > 0 else -LARGEST  # type: ignore[operator]
            except ValueError:  # a signalling NaN of decimal
                result[row] = math.nan
        else:
            raise ColumnError(
                f"{name} must be numbers; it holds something of type {type(item).__name__}. "
                "Convert it before: text is never read as numbers here."
            )
    return result


def is_null(item: object) -> bool:
    """Whether an entry of an array of Python objects stands for no value."""
    if isinstance(item, (float, np.floating)):
        return bool(item != item)
    # pandas is not imported here, so its NA and NaT are known by name.
    return item is None or type(item).__name__ in ("NAType", "NaTType")


def _people(given: object, name: str) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.bool_]]:
    """Return people as numbers, the same number for the same person, and which rows have none."""
    array = column(given, name)
    if array.dtype.kind in "USO" and not isinstance(given, np.ndarray):
        # A list of text and NaN would become all text, and NaN a person called "nan".
        array = np.asarray(given, dtype=object)
    if isinstance(given, np.ma.MaskedArray) and np.ma.getmaskarray(given).any():
        # What is behind a mask may be somebody's name, but the row is nobody's.
        array = np.array(given.tolist(), dtype=object)  # which says None where it is masked
    kind = array.dtype.kind
    if kind == "f":
        array = array.astype(np.float64) + 0.0  # one zero
        nobody = np.isnan(array)
    elif kind in "mM":
        nobody = np.isnat(array)
    elif kind == "O":
        nobody = np.fromiter(map(is_null, array.tolist()), bool, array.size)
    else:
        nobody = np.zeros(array.size, dtype=bool)
    if kind in "iufb":
        return np.ascontiguousarray(array), nobody
    if kind in "mM":
        return np.ascontiguousarray(array.view(np.int64)), nobody
    codes: dict[object, int] = {}
    found: Integers | None
    try:
        found = np.fromiter(
            (codes.setdefault(item, len(codes)) for item in array.tolist()), dtype=np.int64
        )
    except TypeError:
        found = None
    if found is None:
        raise ColumnError(f"{name} must be text or numbers: some entries cannot be compared.")
    return found, nobody
