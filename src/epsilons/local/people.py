"""What people hand in: budgets and numbers, checked before anything is drawn."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.budgets import floats_down, is_number, numbers_given
from epsilons.errors import ArgumentError, BudgetError, DataError, MissingValueError
from epsilons.tally.arrays import floats
from epsilons.types import Floats, Integers

_HINT = "0 sends pure noise and math.inf the value itself."

GRID: Final = 1 << 30
"""Steps of the public grid on which a number is put before it is randomized."""


def budgets_of(epsilons: Any, people: int) -> Floats:
    """The budget of each person: one number for all, or one for each, rounded down to a float64.

    Args:
        epsilons: what the user gave.
        people: how many there are.

    Raises:
        BudgetError: a budget is negative, NaN or not a number.
        ArgumentError: there are more or fewer budgets than people.
    """
    try:
        given = numbers_given(epsilons)
    except (ValueError, TypeError):
        raise BudgetError(f"epsilons must be numbers, one for each person. {_HINT}") from None
    objects = given.dtype.kind == "O" and all(map(is_number, given.ravel().tolist()))
    if given.dtype.kind not in "fiu" and not objects:
        raise BudgetError(f"epsilons must be numbers, but is of type {given.dtype}. {_HINT}")
    if given.ndim > 1 or (given.ndim == 1 and len(given) != people):
        raise ArgumentError(
            f"epsilons must be one number for all or one for each of the {people:,} people, "
            f"but has shape {given.shape}."
        )
    budgets = np.ascontiguousarray(np.broadcast_to(floats_down(given), people))
    if people and not budgets.min() >= 0.0:  # NaN is the minimum wherever there is one
        raise BudgetError(
            f"epsilons must lie in [0, ∞], but somebody's is negative or NaN. {_HINT}"
        )
    return budgets


def array_of(values: Any) -> NDArray[Any]:
    """Values as an array; None among numbers is a missing one.

    Raises:
        DataError: they are not alike, and make no array.
    """
    try:
        given = np.asarray(values)
    except (ValueError, TypeError):
        raise DataError("values must all be of one kind and shape, one for each person.") from None
    if given.dtype == object and given.ndim == 1:
        plain = (bool, int, float, np.bool_, np.integer, np.floating)
        if all(value is None or isinstance(value, plain) for value in given.tolist()):
            return np.array([math.nan if value is None else value for value in given], dtype=float)
    return given


def numbers_of(values: Any, shape: tuple[int, ...], missing: str) -> tuple[Floats, NDArray[Any]]:
    """Values as float64, and where one is missing.

    Args:
        values: what the user gave, one row for each person.
        shape: of one person's value.
        missing: "error" to refuse a value that is NaN or infinite, "midpoint" to take the middle.

    Raises:
        DataError: these are not numbers of that shape.
        MissingValueError: one is missing. On the person's own device: do not send it on.
    """
    if missing == "midpoint" and not shape and isinstance(values, (list, tuple)):
        # In a list the type of a value is data: one that is no number is a missing one.
        given: NDArray[Any] = floats(values, "values", lenient=True)
    else:
        given = array_of(values)
    if given.dtype.kind not in "fiub":
        raise DataError(f"values must be numbers, but are of type {given.dtype}.")
    if given.ndim != 1 + len(shape) or given.shape[1:] != shape:
        one = f"a vector of {shape[0]:,} numbers" if shape else "one number"
        raise DataError(f"values must be {one} for each person, but have shape {given.shape}.")
    numbers = np.ascontiguousarray(given, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        total = numbers.sum(axis=1) if shape else numbers
    absent: NDArray[Any] = ~np.isfinite(total)
    if absent.any() and shape:  # a sum may overflow where no number is missing
        absent = np.asarray(~np.isfinite(numbers).all(axis=1))
    if missing == "error" and absent.any():
        raise MissingValueError(
            "A value is missing (NaN or infinite). Give missing='midpoint' to send the middle "
            "in its place: a report that never arrives reveals as much as one that does."
        )
    return numbers, absent


def gridded(numbers: Floats, absent: NDArray[Any], bounds: tuple[float, float]) -> Integers:
    """Numbers on the public grid, cut to the bounds; the middle where one is missing."""
    lo, hi = bounds
    if absent.any():
        numbers = np.where(absent, lo + (hi - lo) / 2.0, numbers)
    steps = np.floor((np.clip(numbers, lo, hi) - lo) * (GRID / (hi - lo)) + 0.5)
    found: Integers = np.clip(steps.astype(np.int64), 0, GRID)
    if absent.any():
        found[absent] = GRID // 2
    return found


def count_of(name: str, value: Any, least: int, most: int) -> int:
    """Return `value` as an integer from `least` to `most`.

    Raises:
        ArgumentError: it is not such an integer.
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        raise ArgumentError(f"{name}={value!r} must be an integer from {least:,} to {most:,}.")
    return int(value)


def positive(name: str, value: Any) -> float:
    """Return `value` as a finite float above zero.

    Raises:
        ArgumentError: it is not.
    """
    number = isinstance(value, (int, float, np.integer, np.floating))
    if number and not isinstance(value, bool) and 0.0 < value < math.inf:
        size = float(value)
        if 1e-150 < size < 1e150:
            return size
    raise ArgumentError(f"{name}={value!r} must be a number above zero, and not beyond 10^±150.")
