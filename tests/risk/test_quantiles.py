"""Intervals of selected quantiles contain the right bins, and miss no more often than stated."""

from __future__ import annotations

import math

import numpy as np
import pytest

import epsilons as ep
from epsilons.risk import Weighing
from epsilons.risk.quantiles import (
    NestedQuantiles,
    SelectedQuantiles,
    nested_shift,
    selection_shift,
)
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED

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


def nested(gaps: list[float], picks: tuple[int, ...] = (4, 2, 7)) -> NestedQuantiles:
    return NestedQuantiles(
        np.array([0.5]), EVEN, 8, np.array(picks), np.array(gaps), tried=9, rate=100.0
    )


def test_a_nested_interval_is_that_of_its_cells() -> None:
    found = nested([0.4, 0.4])
    assert found.interval(0.0, (0.0, 16.0), RELATED, 0.9) == (4.0, 14.0)
    assert found.values((0.0, 16.0)).tolist() == [9.0]
    two = NestedQuantiles(
        np.array([0.2, 0.5]), EVEN, 8, np.array([1, 0, 3, 4, 2, 7]), np.full(4, 0.4), 9, 100.0
    )
    assert two.values((0.0, 16.0)).tolist() == [3.0, 9.0]
    low, high = two.intervals((0.0, 16.0), RELATED, 0.9)
    assert (low.tolist(), high.tolist()) == ([0.0, 4.0], [6.0, 14.0])


def test_a_side_of_a_nested_interval_that_is_aimed_too_near_is_a_bound() -> None:
    assert nested([0.01, 0.4]).one(0, (0.0, 16.0), RELATED, 0.9) == (0.0, 14.0)
    assert nested([0.4, 0.01]).one(0, (0.0, 16.0), RELATED, 0.9) == (4.0, 16.0)
    assert nested([0.3, 0.3]).one(0, (0.0, 16.0), RELATED, 1.0 - 1e-15) == (0.0, 16.0)


@pytest.mark.parametrize("beta", [0.2, 0.05, 0.001])
def test_nested_intervals_miss_no_more_often_than_is_paid_for(beta: float) -> None:
    """The worst case attains the bound, by the exact law of permute-and-flip.

    Nearly a share q of the people is in the first cell, and all others are in the last one, so the
    quantile is there. Every interval except the widest ends before the last cell, at the same
    distance.
    """
    tried, rate, q = 32, 200.0, 0.5
    gap = nested_shift(EVEN, RELATED, q, beta, tried, rate)
    assert gap == pytest.approx(math.log((tried - 1) / (2.0 * beta)) / rate)
    heads = math.exp(-rate * gap)
    # The widest interval is selected if no other one that is accepted arrives before it.
    widest = (1.0 - (1.0 - heads) ** tried) / (tried * heads)
    assert 0.8 * beta < 1.0 - widest <= beta
    assert nested_shift(EVEN, RELATED, q, beta, tried, 0.0) == math.inf


def test_a_nested_gap_has_room_for_errors_of_people() -> None:
    """The error probability is divided among the selection and both sides' sampling errors."""
    plain = nested_shift(EVEN, RELATED, 0.5, 0.05, 32, 200.0)
    for assumption in (SAMPLE, UNRELATED):
        assert nested_shift(EVEN, assumption, 0.5, 0.05, 32, 200.0) >= plain
    drawn = nested_shift(EVEN, SAMPLE, 0.5, 0.05, 32, 200.0)
    assert drawn > plain + 0.05  # the sampling error of a hundred people
    shuffled = Weighing(np.array([0.016, 0.004]), np.array([50, 50]), 1.0)
    off = nested_shift(shuffled, RELATED, 0.5, 0.05, 32, 200.0) - plain
    assert off == pytest.approx(shuffled.bias)


@pytest.mark.parametrize(("epsilon", "neighbours"), [(1.0, "replace"), (0.05, "add-remove")])
def test_a_band_of_quantiles_is_a_union_of_intervals(epsilon: float, neighbours: str) -> None:
    values = np.random.default_rng(0).beta(2.0, 4.0, 4000)
    release = ep.quantile(
        values, q=[0.2, 0.4, 0.6, 0.8], bounds=(0, 1), epsilon=epsilon, method="table",
        neighbours=neighbours, source=ep.Seeded(1),
    )  # fmt: skip
    for confidence in (0.3, 0.95):
        band, each = release.band(confidence), release.interval(1.0 - (1.0 - confidence) / 4.0)
        assert np.array_equal(band, each)
    low, high = release.interval(0.3)
    band_low, band_high = release.band(0.3)
    assert np.sum(band_high - band_low) > 1.1 * np.sum(high - low)
    error = np.max([release.value - band_low, band_high - release.value])
    assert release.estimate.error(release.assumption, 0.3) == pytest.approx(error)
