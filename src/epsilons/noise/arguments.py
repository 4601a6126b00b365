"""What the samplers accept: whole numbers only, for no float may decide what is protected."""

from __future__ import annotations

import operator
from fractions import Fraction

from epsilons.errors import ArgumentError


def integer(name: str, value: object) -> int:
    """Return `value` as a Python integer, NumPy's integers included and booleans not.

    Args:
        name: the parameter, as the user types it.
        value: what the user gave.

    Raises:
        ArgumentError: it is not an integer.
    """
    if type(value) is int:  # the common case, and this stands in the path of every small request
        return value
    if not isinstance(value, bool):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise ArgumentError(f"{name} must be an integer, not {type(value).__name__}.")


def natural(name: str, value: object, least: int = 0) -> int:
    """Return `value` as a Python integer of at least `least`.

    Args:
        name: the parameter, as the user types it.
        value: what the user gave.
        least: the smallest that is accepted.

    Raises:
        ArgumentError: it is not such an integer.
    """
    number = integer(name, value)
    if number < least:
        raise ArgumentError(f"{name} must be at least {least}.")
    return number


def positive_rational(name: str, value: object) -> Fraction:
    """Return `value` as an exact fraction above zero, made of Python integers.

    Args:
        name: the parameter, as the user types it.
        value: what the user gave.

    Raises:
        ArgumentError: it is not an integer or a `Fraction`, or not above zero.
    """
    if isinstance(value, Fraction):
        # A fraction may carry NumPy integers, which would wrap where Python's do not.
        number = Fraction(int(value.numerator), int(value.denominator))
    elif isinstance(value, float):
        raise ArgumentError(
            f"{name} must be exact: an integer or a Fraction, not a float. "
            f"Write Fraction({name}) if the float itself is meant."
        )
    else:
        number = Fraction(integer(name, value))
    if number <= 0:
        raise ArgumentError(f"{name} must be above zero.")
    return number
