"""Nano-ε: what accounts are kept in. Budgets are rounded down, charges up, and sums are exact.

A budget is the shortest decimal of what was given, rounded down to nano-ε: ten releases of 0.1 fit
into 1.0 to the last unit, as they would in no sum of floats.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.budgets import float_down, is_number
from epsilons.errors import BudgetError
from epsilons.types import Floats, Integers

__all__ = [
    "MOST",
    "ONE",
    "PUBLIC",
    "as_float",
    "charged",
    "exact",
    "floats",
    "many_units",
    "of_share",
    "units",
]

ONE: Final = 10**9
"""An ε of 1."""

MOST: Final = 2**20 * ONE
"""The most that is offered to one release, and the largest budget that is not public."""

PUBLIC: Final = 2**62
"""The budget of a public person: an account without a limit."""

_DIGITS: Final = 10**6
"""Below so many ε nine digits after the point are at most fifteen, and floats tell them apart."""

_SPLITTER: Final = 2.0**27 + 1.0
"""Veltkamp's constant that halves a float of 53 bits."""


def exact(number: Any) -> Fraction | float:
    """The shortest decimal of a number, exactly; ∞ stays what it is."""
    if isinstance(number, np.longdouble):
        number = float_down(number)
    if isinstance(number, np.generic):
        number = number.item()
    if isinstance(number, float):
        return Fraction(repr(number)) if math.isfinite(number) else number
    if isinstance(number, Decimal) and not number.is_finite():
        return float(number)
    return Fraction(number)


def units(budget: Any) -> int:
    """A budget in nano-ε, rounded down; ∞ is public, and what is above `MOST` counts as that.

    Raises:
        BudgetError: it is negative, NaN, or no number.
    """
    if not is_number(budget) or not budget >= 0:
        raise BudgetError(
            f"epsilon={budget!r} is not a budget: give a number from 0 to infinity; 0 leaves a "
            "person out, inf makes their value public."
        )
    given = exact(budget)
    if isinstance(given, float):
        return PUBLIC
    return min(math.floor(given * ONE), MOST)


def many_units(budgets: npt.NDArray[Any]) -> Integers:
    """`units` of many checked budgets."""
    if budgets.dtype.kind != "f":
        kinds, place = np.unique(budgets, return_inverse=True)
        return np.array([units(each) for each in kinds.tolist()], dtype=np.int64)[place.ravel()]
    given = budgets.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.rint(given * ONE)
        # A decimal of at most fifteen digits that is this float is its shortest one.
        short = (near / ONE == given) & (given < _DIGITS)
    found = np.where(short, near, 0.0).astype(np.int64)
    found[~short] = [units(each) for each in given[~short].tolist()]
    return found


def charged(loss: Fraction | float) -> int:
    """A loss in nano-ε, rounded up.

    Raises:
        OverflowError: it is infinite: no account offers so much.
    """
    return math.ceil(loss * ONE)


def as_float(amount: int) -> float:
    """An amount as ε, for prints: ∞ for a public person's budget."""
    return math.inf if amount >= PUBLIC else amount / ONE


def floats(offered: Integers) -> Floats:
    """What is offered as floats, each the largest that is not above it.

    The nearest float may be above. Its product with 10⁹ is computed in two floats that sum to it
    exactly, and compared with what was offered.
    """
    amount = offered.astype(np.float64)  # below 2⁵³, so exactly
    near = amount / ONE
    billion = float(ONE)
    product = near * billion
    high = near * _SPLITTER - (near * _SPLITTER - near)
    top = billion * _SPLITTER - (billion * _SPLITTER - billion)
    low, rest = near - high, billion - top
    error = ((high * top - product) + high * rest + low * top) + low * rest
    above = (product - amount) + error > 0.0
    return np.where(above, np.nextafter(near, 0.0), near)


def of_share(budgets: Integers, part: int, whole: int) -> Integers:
    """A share part/whole of budgets, rounded down; the most that is offered, of public ones."""
    share = budgets // whole * part + budgets % whole * part // whole
    return np.where(budgets >= PUBLIC, MOST, share)
