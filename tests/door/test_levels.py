"""The grid of values, the rounding of budgets to levels, and the limits of 64-bit integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.budgets.levels import in_range, keys
from epsilons.door import GRID
from epsilons.door.count.asks import (
    BAD_BUDGET,
    Ask,
    Counted,
    Faults,
    Names,
    Rules,
    checked,
    levels_of,
)
from epsilons.door.count.tallies import to_grid
from epsilons.errors import DataError
from tests.door.asking import sums_of


@settings(deadline=None)
@given(
    value=st.floats(-2.0, 12.0),
    bounds=st.sampled_from([(0.0, 1.0), (0.1, 0.7), (-1.0, 10.0)]),
)
def test_a_value_lies_within_a_step_of_its_place(value: float, bounds: tuple[float, float]) -> None:
    lo, hi = map(Fraction, bounds)
    exact = (min(max(Fraction(value), lo), hi) - lo) / (hi - lo) * GRID
    grid, valid = to_grid(np.array([value]), bounds)
    assert valid.all()
    assert abs(int(grid[0]) - exact) <= Fraction(1, 2) + Fraction(1, 2**20)


def test_the_ends_and_the_middle_of_the_grid() -> None:
    grid, _ = to_grid(np.array([-1.0, 0.0, -0.0, 0.5, 1.0, 1e300]), (0.0, 1.0))
    assert grid.tolist() == [0, 0, 0, GRID // 2, GRID, GRID]


@settings(deadline=None)
@given(epsilon=st.floats(0.0, allow_nan=False))
def test_a_key_has_nine_bits(epsilon: float) -> None:
    key = float(keys(np.array([epsilon]))[0])
    if epsilon > 2.0**900 or epsilon == 0.0:
        assert key == epsilon
        return
    mantissa, _ = math.frexp(key)
    assert mantissa * 2**9 == int(mantissa * 2**9)
    assert key > 0.0
    assert abs(Fraction(key) - Fraction(epsilon)) <= Fraction(epsilon) / 2**9


def test_a_level_is_the_smallest_of_its_budgets() -> None:
    close = [1.0, 1.0005, 1.0009]
    tally = sums_of([0.0, 1.0, 1.0, 1.0], epsilon=[*close, 1.01], bounds=(0.0, 1.0))
    assert tally.levels.tolist() == [1.0, 1.01]
    assert tally.counts.tolist() == [3, 1]
    assert tally.sums.tolist() == [2 * GRID, GRID]


ODD = (0.0, -0.0, 5e-324, 2.0**-41, 2.0**20, 2.0**20 + 1.0, 1e300, math.inf, math.nan, -3.0)


@settings(deadline=None)
@given(st.lists(st.sampled_from(ODD) | st.floats(0.0) | st.floats(0.9, 1.1)))
def test_levels_are_ascending_and_hold_the_budgets_with_their_key(given: list[float]) -> None:
    levels, level_of = levels_of(np.array(given), len(given))
    assert sorted(set(levels.tolist())) == levels.tolist()
    assert len(level_of) == len(given)
    usable = in_range(np.where(np.array(given) >= 0.0, given, BAD_BUDGET)) if given else np.empty(0)
    for place, level in enumerate(levels.tolist()):
        own = usable[level_of == place]
        assert own.min() == level
        assert len(set(keys(own).tolist())) == 1
    assert len(set(keys(levels).tolist())) == len(levels)


def test_neighbouring_keys_are_two_levels() -> None:
    for low in (1.0, 0.25, 2.0**-30):
        budgets = np.array([low, low * (1.0 + 2.0**-8)])
        assert keys(budgets).tolist() == budgets.tolist()
        assert levels_of(budgets, 2)[1].tolist() == [0, 1]


def test_few_budgets_lose_nothing() -> None:
    budgets = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    tally = sums_of([0.5] * 10, epsilon=budgets, bounds=(0.0, 1.0))
    assert tally.levels.tolist() == budgets


def test_infinity_is_a_level_of_its_own() -> None:
    budgets = [math.inf, 1.7e308, 1e308, math.inf]
    tally = sums_of([0.5] * 4, epsilon=budgets, bounds=(0.0, 1.0))
    assert tally.levels.tolist() == [2.0**20, math.inf]  # finite budgets become at most 2²⁰
    assert tally.counts.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("people", "most"),
    [
        ([2**33], 1),
        ([2**32, 2**32], 1),
        ([2**62, 2**62, 2**62, 2**62], 1),
        ([2, -1], 1),
        ([5], 2**31),
    ],
)
def test_sums_that_could_wrap_are_refused(people: list[int], most: int) -> None:
    cells = np.zeros((len(people), 2), dtype=np.int64)
    levels = np.arange(1.0, len(people) + 1)
    counted = Counted(levels, np.array(people), cells, Faults(most=most))
    with pytest.raises(DataError, match=r"too many (people|rows)"):
        checked(counted, Rules(Names(), "midpoint", 1, None, None), Ask("numbers"), Names())
