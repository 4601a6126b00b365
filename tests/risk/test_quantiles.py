"""Intervals of selected quantiles end at the selected bins, or at the bounds of the range."""

from __future__ import annotations

import math

import numpy as np
import pytest

from epsilons.risk import Weighing
from epsilons.risk.quantiles import SelectedQuantiles, selection_shift
from epsilons.risk.weighing import RELATED, SAMPLE

EVEN = Weighing(np.array([0.01]), np.array([100]), 1.0)


def margin(picks: list[int], gaps: list[float], rate: float = 100.0) -> SelectedQuantiles:
    return SelectedQuantiles(np.array([0.5]), EVEN, 8, np.array(picks), np.array(gaps), rate)


def test_the_range_holds_the_bins_of_both_ends() -> None:
    found = margin([4, 2, 6], [0.4, 0.4])
    assert found.interval(0.0, (0.0, 16.0), RELATED, 0.9) == (4.0, 14.0)
    assert found.values((0.0, 16.0)).tolist() == [9.0]


def test_an_end_that_was_not_selected_or_is_aimed_too_near_is_a_bound() -> None:
    assert margin([4, -1, 6], [0.4, 0.4]).one(0, (0.0, 16.0), RELATED, 0.9) == (0.0, 14.0)
    assert margin([4, 2, 6], [0.4, 0.01]).one(0, (0.0, 16.0), RELATED, 0.9) == (4.0, 16.0)
    assert margin([4, 2, 6], [0.3, 0.3]).one(0, (0.0, 16.0), RELATED, 1.0 - 1e-15) == (0.0, 16.0)


def test_a_quantile_that_is_drawn_beyond_its_ends_is_moved_to_them() -> None:
    assert margin([7, 2, 5], [0.4, 0.4]).values((0.0, 16.0)).tolist() == [11.0]
    assert margin([0, 2, 5], [0.4, 0.4]).values((0.0, 16.0)).tolist() == [5.0]


@pytest.mark.parametrize("beta", [0.2, 0.01])
def test_the_wrong_side_is_selected_no_oftener_than_is_paid_for(beta: float) -> None:
    """A selection ends on the wrong side of the true quantile with at most the stated probability.

    In the worst case all people are in one bin, and every other candidate is farther away.
    """
    cells, rate, q = 64, 200.0, 0.5
    gap = selection_shift(EVEN, RELATED, q, beta, cells, rate)
    assert gap == pytest.approx(math.log(2.0 * cells / beta) / rate)
    # The target rank is q − gap, and everyone is in the next-to-last bin.
    wrong = math.exp(-rate * gap) * (cells - 1)
    assert wrong / (1.0 + wrong) <= beta / 2.0
    assert selection_shift(EVEN, SAMPLE, q, beta, cells, rate) > gap
    assert selection_shift(EVEN, RELATED, q, beta, cells, 0.0) == math.inf
