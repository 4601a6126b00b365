"""Rounding to nano-ε equals rational arithmetic.

Budgets and floats are rounded down, charges up.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.budgets.levels import float_down
from epsilons.errors import BudgetError
from epsilons.ledger import book


@settings(max_examples=300, deadline=None)
@given(st.integers(0, book.MOST))
def test_a_float_is_the_largest_that_is_not_above(amount: int) -> None:
    (found,) = book.floats(np.array([amount])).tolist()
    assert found == float_down(Fraction(amount, book.ONE))


def test_many_floats() -> None:
    random = np.random.default_rng(1)
    amounts = np.concatenate([random.integers(0, book.MOST, 2000), np.arange(0, 10**9, 10**6)])
    exact = [float_down(Fraction(each, book.ONE)) for each in amounts.tolist()]
    assert book.floats(amounts).tolist() == exact


@settings(max_examples=300, deadline=None)
@given(st.floats(0.0, 2.0**20))
def test_a_budget_is_its_shortest_decimal_rounded_down(budget: float) -> None:
    exact = math.floor(Fraction(Decimal(repr(budget))) * book.ONE)
    assert book.units(budget) == exact
    assert book.many_units(np.array([budget])).tolist() == [exact]


@settings(max_examples=200, deadline=None)
@given(st.decimals(0, 1000, places=12))
def test_decimals(budget: Decimal) -> None:
    exact = math.floor(Fraction(budget) * book.ONE)
    assert book.units(budget) == exact
    assert book.many_units(np.array([budget], dtype=object)).tolist() == [exact]


def test_what_is_public() -> None:
    for budget in (math.inf, Decimal("Infinity")):
        assert book.units(budget) == book.PUBLIC
    for budget in (2.0**21, 10**30):  # a finite budget is never public, even if it is huge
        assert book.units(budget) == book.MOST
    assert book.as_float(book.PUBLIC) == math.inf
    assert book.units(2**20) == book.MOST


@pytest.mark.parametrize("budget", [-1.0, math.nan, "1", None, True])
def test_what_is_no_budget(budget: object) -> None:
    with pytest.raises(BudgetError):
        book.units(budget)


@settings(max_examples=200, deadline=None)
@given(st.fractions(0, 1000))
def test_a_charge_is_rounded_up(loss: Fraction) -> None:
    charged = book.charged(loss)
    assert charged - 1 < loss * book.ONE <= charged


@settings(max_examples=200, deadline=None)
@given(st.integers(0, book.MOST), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_share_is_rounded_down(budget: int, one: int, other: int) -> None:
    part, whole = sorted((one, other))
    (found,) = book.of_share(np.array([budget]), part, whole).tolist()
    assert found == budget * part // whole
    assert book.of_share(np.array([book.PUBLIC]), part, whole).tolist() == [book.MOST]


def test_a_budget_of_more_bits_than_a_float_is_rounded_down() -> None:
    """NumPy's long doubles are rounded down.

    `Fraction` does not accept them, so they need code of their own.
    """
    given = np.longdouble(1) / np.longdouble(3)
    assert book.units(given) == 333_333_333
    assert book.exact(np.longdouble(2.5)) == Fraction(5, 2)
    assert book.units(np.longdouble("inf")) == book.PUBLIC
