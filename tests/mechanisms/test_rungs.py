"""Weights and losses on a ladder equal exact fractions, rounded down."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from epsilons.budgets.levels import float_down
from epsilons.draws.mechanisms.add_remove import multiples

fractions = st.fractions(min_value=0, max_value=2**20)


@given(fractions, st.lists(st.integers(0, 2**45), max_size=9))
def test_losses_are_multiples(unit: Fraction, weights: list[int]) -> None:
    weights = [*weights, *weights]
    assert multiples(unit, np.array(weights, dtype=np.int64)) == tuple(unit * k for k in weights)


@given(st.fractions() | st.integers(-(10**400), 10**400).map(lambda whole: Fraction(whole, 3)))
def test_no_float_between_a_fraction_and_what_it_is_rounded_down_to(number: Fraction) -> None:
    found = float_down(number)
    assert found <= number < math.nextafter(found, math.inf)
