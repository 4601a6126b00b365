"""How wide the first stair should be: the width of least variance, among all widths.

The variance is M / W, two polynomials in the width g, and it rises from g to g + 1 where
D(g) = M(g + 1) W(g) - M(g) W(g + 1) is at least 0, a polynomial too. For pairs it may have two
valleys, one of them at g = 1, so a search that trusts one would go wrong. Here all changes of
sign of D are found: a polynomial is monotone between the changes of sign of its difference, which
is of a lower degree.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from epsilons.noise.arguments import natural, positive_rational
from epsilons.noise.stairs import DIGITS, odds, power_sum, precisely

Parts = Callable[[int], tuple[Decimal, Decimal]]


def best_inner(rate: Fraction | int, steps: int) -> int:
    """Return the width of the first stair that gives `Staircase` its least variance.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1.

    Returns:
        An integer from 1 to `steps`; the smallest, if several are equally good.

    Raises:
        ArgumentError: a parameter is not such a number.

    Guarantee: no other width has a variance that is smaller by more than one part in 10**50.

    Reference: Geng and Viswanath (2014), The Optimal Mechanism in Differential Privacy, equation
    (50), which is its share of `steps` as they grow.
    """
    rate, steps = positive_rational("rate", rate), natural("steps", steps, 1)
    with precisely(rate, _digits(steps)):
        t = odds(rate)

        def parts(g: int) -> tuple[Decimal, Decimal]:
            return power_sum(2, t, steps, g), 2 * g - 1 + 2 * steps * t

        return _least(parts, 3, steps)


def best_inner_2d(rate: Fraction | int, steps: int) -> int:
    """Return the width of the first ring that gives `Staircase2D` its least variance.

    Args:
        rate: the privacy loss of a move by one unit: an integer or `Fraction` above zero.
        steps: how many lattice points make one unit, at least 1.

    Returns:
        An integer from 1 to `steps`; the smallest, if several are equally good.

    Raises:
        ArgumentError: a parameter is not such a number.

    Guarantee: no other width has a variance that is smaller by more than one part in 10**50.
    """
    rate, steps = positive_rational("rate", rate), natural("steps", steps, 1)
    with precisely(rate, _digits(steps)):
        t = odds(rate)

        def parts(g: int) -> tuple[Decimal, Decimal]:
            first = power_sum(1, t, steps, g)
            return 4 * power_sum(3, t, steps, g) + 2 * first, 1 + 4 * first

        return _least(parts, 5, steps)


def _digits(steps: int) -> int:
    """Return digits enough for D, whose terms cancel by up to seven powers of `steps`."""
    return 2 * DIGITS + 7 * len(str(steps))


def _least(parts: Parts, degree: int, steps: int) -> int:
    """Return the g from 1 to `steps` with the least ratio; D is of that degree."""
    rows = [parts(g) for g in range(1, degree + 3)]
    values = [rows[i + 1][0] * rows[i][1] - rows[i][0] * rows[i + 1][1] for i in range(degree + 1)]
    candidates = [1, *_changes(_newton(values), steps - 1), steps]

    def ratio(g: int) -> Decimal:
        above, below = parts(g)
        return above / below

    return min(candidates, key=ratio)


def _newton(values: Sequence[Decimal]) -> list[Decimal]:
    """Return the differences at 1 of the polynomial with these values at 1, 2, 3, ..."""
    row, differences = list(values), []
    while row:
        differences.append(row[0])
        row = [after - before for before, after in itertools.pairwise(row)]
    return differences


def _changes(differences: Sequence[Decimal], last: int) -> list[int]:
    """Return where in 1, ..., last a polynomial becomes negative or ceases to be.

    Args:
        differences: those of `_newton`: the polynomial is their sum, times binomials of g - 1.
        last: where to end.

    Returns:
        Each g at which the answer differs from that at g - 1, rising.
    """
    if len(differences) <= 1 or last < 2:
        return []

    def negative(g: int) -> bool:
        return sum((d * math.comb(g - 1, i) for i, d in enumerate(differences)), Decimal(0)) < 0

    changes = []
    # Without its first entry this is the difference polynomial: between its changes, one trend.
    ends = [1, *_changes(differences[1:], last - 1), last]
    for start, end in itertools.pairwise(ends):
        before = negative(start)
        if negative(end) == before:
            continue
        while end - start > 1:
            middle = (start + end) // 2
            if negative(middle) == before:
                start = middle
            else:
                end = middle
        changes.append(end)
    return changes
