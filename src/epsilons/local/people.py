"""Validation of people's input: numbers, categories and budgets, before anything is drawn."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.budgets.levels import floats_down, is_number, numbers_given
from epsilons.door.given.arrays import floats
from epsilons.errors import ArgumentError, BudgetError, DataError, MissingValueError
from epsilons.listed import shown
from epsilons.risk.local import LEAST, MOST
from epsilons.types import Floats, Integers

# Budgets and numbers.

_HINT = "0 sends pure noise and math.inf the value itself."

GRID: Final = 1 << 30
"""The number of steps of the public grid. Values are rounded to the grid before randomization."""


def budgets_of(epsilons: Any, people: int) -> Floats:
    """Return the budget of each person, rounded down to a float64.

    Args:
        epsilons: one number for everyone, or one number for each person.
        people: the number of people.

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
    if people and not budgets.min() >= 0.0:  # `min` is NaN if any budget is NaN
        raise BudgetError(
            f"epsilons must lie in [0, ∞], but somebody's is negative or NaN. {_HINT}"
        )
    return budgets


def array_of(values: Any) -> NDArray[Any]:
    """Return values as an array; None among numbers becomes NaN.

    Raises:
        DataError: the values differ in kind or shape.
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
    """Return values as float64, and whether each is missing.

    Args:
        values: one row for each person.
        shape: the shape of one person's value.
        missing: "error" to refuse a value that is NaN or infinite, "midpoint" to accept it.

    Raises:
        DataError: values are not numbers of that shape.
        MissingValueError: a value is missing. This runs on the person's device: the error depends
            on the value and must not leave the device.
    """
    if missing == "midpoint" and not shape and isinstance(values, (list, tuple)):
        # In a list the type of a value is private data: a non-number counts as missing.
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
    if absent.any() and shape:  # the sum of finite numbers can overflow
        absent = np.asarray(~np.isfinite(numbers).all(axis=1))
    if missing == "error" and absent.any():
        raise MissingValueError(
            "A value is missing (NaN or infinite). Give missing='midpoint' to send the middle "
            "in its place: a report that never arrives reveals as much as one that does."
        )
    return numbers, absent


def gridded(numbers: Floats, absent: NDArray[Any], bounds: tuple[float, float]) -> Integers:
    """Clip numbers to the bounds and round them to the grid; missing ones become the midpoint."""
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
        raise ArgumentError(f"{name}={shown(value)} must be an integer from {least:,} to {most:,}.")
    return int(value)


def positive(name: str, value: Any) -> float:
    """Return `value` as a float, strictly between 10⁻¹⁵⁰ and 10¹⁵⁰.

    Raises:
        ArgumentError: it is not such a number.
    """
    number = isinstance(value, (int, float, np.integer, np.floating))
    if number and not isinstance(value, bool) and 0.0 < value < math.inf:
        size = float(value)
        if 1e-150 < size < 1e150:
            return size
    raise ArgumentError(
        f"{name}={shown(value)} must be a number above zero, and not beyond 10^±150."
    )


# Categories: the labels, and the cell of each value.


@dataclass(frozen=True, eq=False)
class Labels:
    """The declared categories, in order.

    Attributes:
        names: the labels: strings, integers or booleans.
        other: the cell of undeclared values, or None.
        counted: whether the labels are 0, 1, …, k − 1.
    """

    names: tuple[Any, ...]
    other: int | None
    counted: bool

    @classmethod
    def of(cls, categories: Any, other: Any) -> Labels:
        """Check categories, and return them as labels.

        Raises:
            ArgumentError: there are too few or too many categories, a category is invalid or
                occurs twice, or `other` is not a category.
        """
        if isinstance(categories, Collection) and not isinstance(categories, (str, bytes, dict)):
            names = tuple(
                label.item() if isinstance(label, np.generic) else label for label in categories
            )
            count_of("the number of categories", len(names), 2, 10**6)
        else:
            names = tuple(range(count_of("categories", categories, 2, 10**6)))
        if not all(isinstance(name, (str, int)) for name in names):
            raise ArgumentError("categories must be strings, integers or booleans.")
        if len(set(names)) != len(names):
            raise ArgumentError("categories must be distinct, but one comes twice.")
        if other is not None and other not in names:
            raise ArgumentError(f"other={shown(other)} must be one of the categories.")
        counted = all(type(name) is int and name == k for k, name in enumerate(names))
        return cls(names, None if other is None else names.index(other), counted)

    @cached_property
    def digest(self) -> bytes:
        """The first eight bytes of SHA-256 of the labels as lines of JSON."""
        text = "\n".join(json.dumps(name, ensure_ascii=False) for name in self.names)
        return hashlib.sha256(text.encode()).digest()[:8]

    def cells_of(self, values: Any) -> NDArray[np.int64]:
        """Return the cell of each value.

        Raises:
            DataError: values are not one label for each person, or a value is undeclared and there
                is no `other`. This runs on the person's device.
        """
        given: NDArray[Any]
        try:
            if isinstance(values, (list, tuple)):
                # A single label of another type would make NumPy convert all to text or floats.
                given = np.fromiter(values, dtype=object, count=len(values))
            else:
                given = np.asarray(values)
        except (ValueError, TypeError):
            raise DataError("values must be one label for each person.") from None
        if given.ndim != 1:
            raise DataError(
                f"values must be one label for each person, not of shape {given.shape}."
            )
        if self.counted and given.dtype.kind in "iu":
            inside = (given >= 0) & (given < len(self.names))
            cells = np.where(inside, given, -1).astype(np.int64)
        else:
            cells = self._looked_up(given)
        absent = cells < 0
        if absent.any():
            if self.other is None:
                raise DataError(
                    "A value is not among the categories. Declare it, or give other= a category "
                    "that catches whatever is not declared."
                )
            cells[absent] = self.other
        return cells

    def _looked_up(self, given: NDArray[Any]) -> NDArray[np.int64]:
        """Return the cell of each value, −1 if undeclared; look up each distinct value once."""
        place = {(type(name), name): k for k, name in enumerate(self.names)}
        if given.dtype.kind not in "OUSiub":
            return np.full(len(given), -1, dtype=np.int64)
        if given.dtype.kind == "O":  # labels of several types, or missing labels
            found = [_place(place, value) for value in given.tolist()]
            return np.array(found, dtype=np.int64)
        distinct, back = np.unique(given, return_inverse=True)
        cells = [place.get((type(value), value), -1) for value in distinct.tolist()]
        return np.array(cells, dtype=np.int64)[back]


def _place(places: dict[tuple[type, Any], int], value: Any) -> int:
    """Return the index of one value among labels of the same type, −1 if undeclared."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return places.get((type(value), value), -1)
    except TypeError:  # unhashable, such as a list
        return -1


# Budgets that reports may have: the levels of a declared menu, or else a range that limits abuse.

_SHOWN = 8
"""The largest number of levels that a message lists."""

Menu = Sequence[float] | None
"""The declared levels, ascending; None if no menu was declared."""


def menu_of(levels: Any) -> Menu:
    """Check the argument `levels`.

    Args:
        levels: None, or the budgets that people are offered.

    Returns:
        The distinct levels, ascending, or None.

    Raises:
        BudgetError: `levels` is not a collection of budgets, or all budgets are 0.
    """
    if levels is None:
        return None
    if isinstance(levels, (str, bytes)) or not isinstance(levels, Iterable):
        raise BudgetError(
            f"levels={shown(levels)} must be the budgets that people are offered, such as "
            "[0.1, 1.0]."
        )
    found = sorted({_level(level) for level in levels})
    if not found or found[-1] == 0.0:
        raise BudgetError("levels must hold a budget above 0: reports at ε = 0 are pure noise.")
    return tuple(found)


def _level(level: Any) -> float:
    number = isinstance(level, (int, float, np.integer, np.floating))
    if number and not isinstance(level, bool):
        size = float(level)
        if size == level and (size == 0.0 or LEAST <= size <= MOST or size == math.inf):
            return size + 0.0
    raise BudgetError(
        "levels: each must be 0, a float64 from 2⁻²⁰ to 2²⁰, or math.inf for people who send "
        "their value itself."
    )


def refusal(epsilon: Floats, most: float, levels: Menu) -> str | None:
    """Return why budgets are refused, as the end of a sentence; None if all are accepted.

    Args:
        epsilon: budgets in [0, ∞].
        most: the largest budget.
        levels: the menu.
    """
    if len(epsilon) == 0:
        return None
    if levels is None:
        if most <= MOST:
            return None
        if most < math.inf:
            return "is above 2²⁰, which no level can be"
        return (
            "is ∞, the value itself in the open, which is taken only where it is declared: give "
            "levels= with math.inf among them"
        )
    menu = np.array(levels)
    place = np.minimum(np.searchsorted(menu, epsilon), len(menu) - 1)
    if bool((menu[place] == epsilon).all()):
        return None
    names = ["∞" if level == math.inf else f"{level:.12g}" for level in levels[:_SHOWN]]
    more = f" and {len(levels) - _SHOWN:,} more" if len(levels) > _SHOWN else ""
    return f"is not one of the declared levels ({', '.join(names)}{more})"
