"""The largest log-ratio of each staircase noise, by enumerating the regions of the paper.

Each lattice point has a level, and its probability is proportional to e^(−rate·level). Here levels
are computed from the regions of Kulesza, Suresh and Wang (2024), equations (7), (11) and (12), not
by the classes under test. The classes must agree with these levels at every point.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from epsilons.draws.noise import Hourglass, Staircase, Staircase2D
from epsilons.errors import PrivacyError
from epsilons.verify.losses.laws import one_number
from epsilons.verify.losses.sums import unit_loss

RATE = Fraction(7, 5)
SHAPES = [(n, g) for n in range(1, 9) for g in range(1, n + 1)]
Pair = Callable[[int, int], int]  # a function that returns the level at (x, k)


def stair(a: int, n: int, g: int) -> int:
    """Return the level of a number by equation (11), counting one unit at a time."""
    down = 0
    while a >= n:
        a -= n
        down += 1
    return down if a < g else down + 1


def glass(x: int, k: int, n: int, g: int) -> int:
    """Return the level of a pair by equation (7), which has segments A_k and B_k(i).

    They are mirrored for x < 0.
    """
    if x < 0:
        return glass(-x, -k, n, g)
    if x < k * n + g:
        return k
    i = 1
    while x >= (k + i) * n + g:
        i += 1
    return 2 * i + k


class Levelled:
    """A distribution of pairs that is defined by its levels, as input for the checker."""

    def __init__(self, n: int, level: Pair) -> None:
        self.n, self.level = n, level

    def exponent(self, x: int, y: int) -> Fraction | float:
        k, off = divmod(x + y, self.n)
        return math.inf if off else Fraction(self.level(x, k))


def largest_of_pairs(level: Pair, n: int) -> int:
    """Return the largest change of level over the shifts (s, n - s) and their negatives."""
    xs, ks = range(-4 * n, 4 * n + 1), range(-7, 8)
    table = {(x, k): level(x, k) for x in range(-5 * n, 5 * n + 1) for k in range(-8, 9)}
    return max(abs(table[x + s, k + 1] - table[x, k]) for x in xs for k in ks for s in range(n + 1))


@pytest.mark.parametrize(("n", "g"), SHAPES)
def test_a_staircase_costs_its_rate(n: int, g: int) -> None:
    law = Staircase(RATE, n, g)
    levels = {x: stair(abs(x), n, g) for x in range(-6 * n, 6 * n + 1)}
    assert all(law.exponent(x) == RATE * level for x, level in levels.items())
    inside = range(-5 * n, 5 * n + 1)
    assert max(abs(levels[x + s] - levels[x]) for x in inside for s in range(n + 1)) == 1
    losses = [abs(law.log_pmf(x + s) - law.log_pmf(x)) for x in inside for s in range(n + 1)]
    assert max(losses) == pytest.approx(float(RATE), rel=1e-13)
    # A shift by one more lattice step has a larger loss.
    assert max(abs(levels[x + n + 1] - levels[x]) for x in range(-2 * n, 2 * n)) == 2


@pytest.mark.parametrize(("n", "g"), SHAPES)
def test_zero_with_both_signs_costs_more(n: int, g: int) -> None:
    # If sign and magnitude were drawn separately, zero would occur with both signs.
    rate = float(RATE)
    log_weights = {
        x: math.log(2 if x == 0 else 1) - rate * stair(abs(x), n, g) for x in range(-3 * n, 3 * n)
    }
    losses = [abs(log_weights[s] - log_weights[0]) for s in range(-n, n + 1)]
    assert max(losses) == pytest.approx(rate + math.log(2))

    class Doubled(Staircase):
        """A distribution in which zero occurs with both signs. The checker rejects its pieces."""

        def exponent(self, x: int) -> Fraction | float:
            return super().exponent(x) + (Fraction(7, 10) if x else 0)

    assert one_number(Staircase(RATE, n, g)).loss(n) == RATE
    with pytest.raises(PrivacyError, match="pieces"):
        one_number(Doubled(RATE, n, g))


@pytest.mark.parametrize(("n", "g"), SHAPES)
def test_an_hourglass_costs_its_rate(n: int, g: int) -> None:
    law = Hourglass(RATE, n, g)
    for x, k in itertools.product(range(-4 * n, 4 * n + 1), range(-6, 7)):
        assert law.exponent(x, k * n - x) == RATE * glass(x, k, n, g)
        if n > 1:
            assert law.exponent(x, k * n - x + 1) == math.inf
            assert law.log_pmf(x, k * n - x - 1) == -math.inf
    assert largest_of_pairs(lambda x, k: glass(x, k, n, g), n) == 1


@pytest.mark.rotates(8)
@pytest.mark.parametrize("n", range(1, 9))
def test_broken_hourglasses_cost_more(n: int) -> None:
    def empty_first_stair(x: int, k: int) -> int:
        j = abs(x) // n + 1
        return j + abs(k - j if x >= 0 else k + j)

    def found(level: Pair) -> Fraction:
        """Return the loss that the checker finds.

        It must equal the loss computed from the regions.
        """
        largest = unit_loss(Levelled(n, level), n, 1)
        assert largest == largest_of_pairs(level, n)
        return largest

    assert found(empty_first_stair) == 3
    for g in range(1, n + 1):

        def centre_off_by_one(x: int, k: int, g: int = g) -> int:
            j = stair(abs(x), n, g)
            return j + abs(k - j - 1 if x >= 0 else k + j)

        def not_mirrored(x: int, k: int, g: int = g) -> int:
            j = stair(abs(x), n, g)
            return j + abs(k - j)

        assert found(centre_off_by_one) > 1
        assert found(not_mirrored) > 1


@pytest.mark.parametrize("n", range(1, 9))
def test_a_staircase_of_pairs_costs_its_rate(n: int) -> None:
    far = 3 * n
    for g in range(1, n + 1):
        law = Staircase2D(RATE, n, g)
        span = range(-far, far + 1)
        table = np.array([[stair(abs(x) + abs(y), n, g) for y in span] for x in span])
        for x, y in itertools.product(range(-n - 1, n + 2), range(-n - 1, n + 2)):
            assert law.exponent(x, y) == RATE * int(table[x + far, y + far])
        middle = table[n:-n, n:-n]
        size = len(middle)
        worst = 0
        for s in range(-n, n + 1):
            for t in range(abs(s) - n, n - abs(s) + 1):
                moved = table[n + s : n + s + size, n + t : n + t + size]
                worst = max(worst, int(np.abs(moved - middle).max()))
        assert worst == 1
        beyond = table[2 * n + 1 :, n : n + size][:size]
        assert int(np.abs(beyond - middle[: len(beyond)]).max()) == 2


@pytest.mark.parametrize(("n", "g"), SHAPES)
def test_both_marginals_of_an_hourglass_are_the_staircase(n: int, g: int) -> None:
    rate = Fraction(3, 2)
    law, one = Hourglass(rate, n, g), Staircase(rate, n, g)
    for v in range(-3 * n, 3 * n + 1):
        pairs = [(v, k * n - v) for k in range(-45, 46)]
        across = math.fsum(math.exp(law.log_pmf(x, y)) for x, y in pairs)
        along = math.fsum(math.exp(law.log_pmf(y, x)) for x, y in pairs)
        assert across == pytest.approx(math.exp(one.log_pmf(v)), rel=1e-14)
        assert along == pytest.approx(math.exp(one.log_pmf(v)), rel=1e-14)
