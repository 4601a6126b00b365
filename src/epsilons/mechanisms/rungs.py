"""Weights and losses of the rungs of a ladder, of which there may be thousands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from epsilons.types import Integers

__all__ = ["multiples", "weights_up_to"]


def weights_up_to(left: Sequence[Fraction], cap: float, unit: Fraction) -> list[int]:
    """min(e, cap)·unit rounded down, exactly, of each e that is left.

    Rounding down keeps the order, so that the cap is rounded by itself. Whole numbers are divided
    as they are: a fine ladder has thousands of rungs, and no quotient needs to be reduced.
    """
    over, under = unit.numerator, unit.denominator
    most = math.floor(Fraction(cap) * unit)
    return [min(each.numerator * over // (each.denominator * under), most) for each in left]


def multiples(unit: Fraction, weights: Integers) -> tuple[Fraction, ...]:
    """unit·k for each weight k; once for all people of one weight."""
    found = {k: unit * k for k in set(weights.tolist())}
    return tuple(found[k] for k in weights.tolist())
