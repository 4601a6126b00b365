"""Budgets that are counted in parts have the same counts as in a dictionary."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from epsilons.local import state
from epsilons.local.state import Levels

BUDGETS = st.floats(0.0, math.inf) | st.sampled_from([0.0, -0.0, 5e-324, 0.1, 1.0, math.inf])


@given(st.lists(BUDGETS, max_size=40))
@example([-0.0, 0.0, 1.0])
@example([math.inf, -0.0])
@example([])
def test_budgets_are_counted_by_bin(budgets: list[float]) -> None:
    people: dict[int, int] = {}
    sums: dict[int, Fraction | float] = {}
    for budget in budgets:
        key = struct.unpack("<q", struct.pack("<d", abs(budget)))[0] >> 48
        people[key] = people.get(key, 0) + 1
        one = budget if math.isinf(budget) else Fraction(budget)
        sums[key] = sums.get(key, Fraction(0)) + one
    # A sum of the largest floats overflows. In both computations, such bins are ∞.
    expected = [float(sums[key]) if sums[key] < 2**1023 else math.inf for key in sorted(sums)]
    with mock.patch.object(state, "_PART", 7), np.errstate(over="ignore"):
        found = Levels(np.array(budgets, dtype=np.float64)).bins
    assert found.keys.tolist() == sorted(people)
    assert found.people.tolist() == [people[key] for key in sorted(people)]
    for mine, theirs in zip(found.budgets.tolist(), expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-12) or theirs == math.inf


@given(st.lists(BUDGETS, min_size=1, max_size=40), st.integers(0, 40))
def test_merging_counts_all(budgets: list[float], cut: int) -> None:
    given_ = np.minimum(np.array(budgets), 1e300)
    whole = Levels(given_).bins
    both = Levels(given_[:cut]).merged(Levels(given_[cut:])).bins
    assert whole.keys.tolist() == both.keys.tolist()
    assert whole.people.tolist() == both.people.tolist()
    np.testing.assert_allclose(whole.budgets, both.budgets, rtol=1e-12)
