"""The exact privacy loss of each person in a weighted sum of integers and one of their squares.

The square of g is v = floor((g − grid/2)² / grid), and |g − g′| + |v − v′| is at most the grid:
with y = g − grid/2 and D = |g − g′| the squares y²/grid differ by D·|y + y′|/grid, and
|y + y′| ≤ grid − D, so by less than grid − D unless D is the grid, where they are the same; and
grid − D is a whole number, so that rounding down does not take them farther apart.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from epsilons.errors import PrivacyError
from epsilons.verify.additive import lattice_moves
from epsilons.verify.laws import one_number


def squares_losses(mechanism: Any) -> tuple[Fraction | float, ...]:
    """The loss of a person of each level.

    Both sums move together by k·reach on the grid. Each is rounded down, and two roundings up of
    numbers that add up to a whole one make one more than it at most.

    Raises:
        PrivacyError: the mechanism is not of its kind, or the law is not one whose losses this
            checker can bound.
    """
    moves = lattice_moves(mechanism, "half of a square is no square.")
    law = one_number(mechanism.law)
    if law.steps != 1:
        raise PrivacyError("Each of two sums may cross a stair of its own.")
    return tuple(law.loss(each + 1) if each else Fraction(0) for each in moves)
