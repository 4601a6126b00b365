"""Numbers as readers see them: as many digits as the interval allows, and ends rounded outwards."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from epsilons_next.inference.rows import Row

__all__ = ["Written", "limit", "loss", "times"]

TOLERANCE: Final = 1e-9
"""So much of a digit is a rounding error, and no reason for the next one."""

LARGE: Final = 20.0
"""From this ε on a factor is written as a power."""


class Written:
    """Rows with one number of decimals: up to the second digit of the median half of an interval.

    It is up to the first digit, if that is 3 or more. Digits before the point become zeros.
    """

    def __init__(self, rows: Sequence[Row], *, share: bool) -> None:
        self._factor = 100.0 if share else 1.0
        half = self._factor * statistics.median(row.half for row in rows)
        first = math.floor(math.log10(half)) if half > 0.0 else -2
        large = half >= 3.0 * 10.0**first * (1.0 - TOLERANCE)
        self._places = -first if large else 1 - first

    def number(self, value: float) -> str:
        """Write a number."""
        return self._text(round(self._steps(value)))

    def low(self, value: float) -> str:
        """Write a lower end."""
        return self._text(math.floor(self._steps(value) + TOLERANCE))

    def high(self, value: float) -> str:
        """Write an upper end."""
        return self._text(math.ceil(self._steps(value) - TOLERANCE))

    def _steps(self, value: float) -> float:
        return self._factor * value * 10.0**self._places

    def _text(self, steps: int) -> str:
        if self._places > 0:
            return f"{steps / 10**self._places:,.{self._places}f}"
        return f"{steps * 10**-self._places:,}"


def limit(epsilon: float) -> str:
    """Write a limit."""
    return "∞" if math.isinf(epsilon) else f"{epsilon:.6g}"


def loss(epsilon: Fraction) -> str:
    """Write what was used, rounded up to three digits."""
    if not epsilon:
        return "0"
    places = 2 - math.floor(math.log10(epsilon))
    power = Fraction(10) ** places
    return f"{float(math.ceil(epsilon * power) / power):.6g}"


def times(epsilon: Fraction) -> str:
    """Write e^ε rounded up: how many times as likely a result can be."""
    if epsilon > LARGE:
        return f"e^{loss(epsilon)}"
    return f"{math.ceil(100.0 * math.exp(epsilon) * (1.0 + 1e-15)) / 100.0:,.2f}"
