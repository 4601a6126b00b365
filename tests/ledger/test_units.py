"""Nano-ε: budgets down, charges up, floats never above, all against exact rational numbers."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilons.budgets import float_down
from epsilons.errors import BudgetError
from epsilons.ledger import units


@settings(max_examples=300, deadline=None)
@given(st.integers(0, units.MOST))
def test_a_float_is_the_largest_that_is_not_above(amount: int) -> None:
    (found,) = units.floats(np.array([amount])).tolist()
    assert found == float_down(Fraction(amount, units.ONE))


def test_many_floats() -> None:
    random = np.random.default_rng(1)
    amounts = np.concatenate([random.integers(0, units.MOST, 2000), np.arange(0, 10**9, 10**6)])
    exact = [float_down(Fraction(each, units.ONE)) for each in amounts.tolist()]
    assert units.floats(amounts).tolist() == exact


@settings(max_examples=300, deadline=None)
@given(st.floats(0.0, 2.0**20))
def test_a_budget_is_its_shortest_decimal_rounded_down(budget: float) -> None:
    exact = math.floor(Fraction(Decimal(repr(budget))) * units.ONE)
    assert units.units(budget) == exact
    assert units.many_units(np.array([budget])).tolist() == [exact]


@settings(max_examples=200, deadline=None)
@given(st.decimals(0, 1000, places=12))
def test_decimals(budget: Decimal) -> None:
    exact = math.floor(Fraction(budget) * units.ONE)
    assert units.units(budget) == exact
    assert units.many_units(np.array([budget], dtype=object)).tolist() == [exact]


def test_what_is_public() -> None:
    for budget in (math.inf, Decimal("Infinity")):
        assert units.units(budget) == units.PUBLIC
    for budget in (2.0**21, 10**30):  # a finite budget is not public, however large it is
        assert units.units(budget) == units.MOST
    assert units.as_float(units.PUBLIC) == math.inf
    assert units.units(2**20) == units.MOST


@pytest.mark.parametrize("budget", [-1.0, math.nan, "1", None, True])
def test_what_is_no_budget(budget: object) -> None:
    with pytest.raises(BudgetError):
        units.units(budget)


@settings(max_examples=200, deadline=None)
@given(st.fractions(0, 1000))
def test_a_charge_is_rounded_up(loss: Fraction) -> None:
    charged = units.charged(loss)
    assert charged - 1 < loss * units.ONE <= charged


@settings(max_examples=200, deadline=None)
@given(st.integers(0, units.MOST), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_share_is_rounded_down(budget: int, one: int, other: int) -> None:
    part, whole = sorted((one, other))
    (found,) = units.of_share(np.array([budget]), part, whole).tolist()
    assert found == budget * part // whole
    assert units.of_share(np.array([units.PUBLIC]), part, whole).tolist() == [units.MOST]


def test_a_budget_of_more_bits_than_a_float_is_rounded_down() -> None:
    """NumPy's long doubles are no rational numbers of Python."""
    given = np.longdouble(1) / np.longdouble(3)
    assert units.units(given) == 333_333_333
    assert units.exact(np.longdouble(2.5)) == Fraction(5, 2)
    assert units.units(np.longdouble("inf")) == units.PUBLIC
