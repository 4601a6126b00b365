"""Every step from noisy cumulative shares to the interval of a quantile agrees with brute force."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from epsilons.risk import ClosedNoise, Weighing
from epsilons.risk.quantiles import chance, crossing, cumulative, inverted, reach, ways
from epsilons.risk.weighing import Assumption

COUNTS = np.array([2, 3, 2])
WEIGHTS = np.array([0.05, 0.1, 0.3])


def weighing(scale: float = 0.01) -> Weighing:
    return Weighing(WEIGHTS, COUNTS, scale, closed=ClosedNoise(8))


def farthest() -> float:
    """Return the largest |weighted share − share| over all sets of people, by enumeration."""
    each = np.repeat(WEIGHTS, COUNTS)
    assert each.sum() == pytest.approx(1.0)
    every = itertools.product((0, 1), repeat=len(each))
    return max(abs(float(each @ below) - sum(below) / len(each)) for below in every)


@pytest.mark.parametrize("about", ["people", "population"])
def test_what_budgets_tell_is_part_of_every_proof_that_leaves_it_open(about: str) -> None:
    [way] = ways(weighing(), Assumption(about, True), 0.5, 0.1)
    assert way.chances is None
    assert way.shift >= farthest() - 1e-12
    if about == "people":
        assert way.shift == pytest.approx(farthest())
        assert way.side == 0.05
    else:
        # Hoeffding's one-sided bound for n coins with probability q, at error probability 0.03.
        coins = math.sqrt(math.log(2.0 / 0.03) / (2.0 * COUNTS.sum()))
        assert way.shift == pytest.approx(farthest() + coins)
        assert way.side == pytest.approx(0.035)


def test_a_part_of_it_is_told_if_budgets_tell_little() -> None:
    [way] = ways(weighing(), Assumption("people", 0.1), 0.5, 0.1)
    assert way.shift == pytest.approx(0.1 * farthest())
    either = ways(weighing(), Assumption("people", False), 0.5, 0.1)
    assert [each.shift for each in either] == pytest.approx([0.0, farthest()])


def test_shuffled_people_are_farther_off_no_oftener_than_they_may_be() -> None:
    """The bound is at least the exact tail of a share, over all permutations of seven people."""
    each = np.repeat(WEIGHTS, COUNTS)
    way = ways(weighing(0.0), Assumption("people", False), 0.5, 0.1)[0]
    for below in range(1, 7):
        picked = itertools.combinations(range(7), below)
        off = np.array([each[list(who)].sum() - below / 7 for who in picked])
        for x in (0.05, 0.1, 0.2, 0.3):
            exact = float((off > x).mean())
            assert chance(weighing(0.0), 8, way, 4, x) >= exact


@pytest.mark.parametrize("q", [0.5, 0.1])
def test_a_sample_is_farther_off_no_oftener_than_it_may_be(q: float) -> None:
    each = np.repeat(WEIGHTS, COUNTS)
    [way] = ways(weighing(0.0), Assumption("population", False), q, 0.1)
    coins = np.array(list(itertools.product((0, 1), repeat=7)))
    for p in (q, q / 2.0):  # if p < q, fewer people are below, so the tail is smaller
        weight = p ** coins.sum(axis=1) * (1.0 - p) ** (7 - coins.sum(axis=1))
        for x in (0.05, 0.2, 0.4):
            exact = float(weight[coins @ each - q > x].sum())
            assert chance(weighing(0.0), 8, way, 4, x) >= exact


def test_noise_and_people_together_are_more_than_either() -> None:
    for assumption in (Assumption("people", False), Assumption("population", False)):
        way = ways(weighing(), assumption, 0.5, 0.1)[0]
        both = reach(weighing(0.1), 8, way, 4)
        assert both > reach(weighing(0.0), 8, way, 4)
        alone = ways(weighing(), Assumption("people", True), 0.5, 0.1)[0]
        assert both > reach(weighing(0.1), 8, alone, 4) - alone.shift


def test_the_reach_is_where_the_chance_is_what_is_left() -> None:
    for way in ways(weighing(), Assumption("people", False), 0.3, 0.1):
        far = reach(weighing(0.1), 8, way, 3) - way.shift
        assert chance(weighing(0.1), 8, way, 3, far * 1.001) <= way.side
        assert chance(weighing(0.1), 8, way, 3, far * 0.98) > way.side


def test_a_range_ends_at_the_last_of_the_ends_that_are_refuted() -> None:
    edges = np.arange(9.0)
    shares = np.array([0.0, 0.6, 0.1, 0.4, 0.55, 0.9, 0.8])

    def refutes(_: int, off: float) -> bool:
        return off > 0.2

    # The search from the left stops at the second share, which is not more than 0.2 below q. The
    # search from the right passes the last two shares, which are more than 0.2 above q.
    assert inverted(shares, 0.5, edges, refutes, refutes) == (1.0, 6.0)
    assert inverted(shares, 0.5, edges, lambda *_: False, lambda *_: False) == (0.0, 8.0)
    assert inverted(shares, 0.5, edges, lambda *_: True, lambda *_: True)[0] == 7.0


def test_a_quantile_is_between_its_first_and_its_last_crossing() -> None:
    edges = np.arange(5.0)
    assert crossing(np.array([0.25, 0.5, 0.75]), 0.5, edges) == 2.0
    assert crossing(np.array([0.25, 0.5, 0.75]), 0.6, edges) == pytest.approx(2.4)
    # The first crossing is in the first bin, at 0.5/0.6. The last crossing is in the third bin, at
    # 0.4/0.6.
    wild = crossing(np.array([0.6, 0.1, 0.7]), 0.5, edges)
    assert wild == pytest.approx((0.5 / 0.6 + 2.0 + 0.4 / 0.6) / 2.0)
    open_ends = np.array([-np.inf, 1.0, 2.0, np.inf])
    assert crossing(np.array([0.7, 0.9]), 0.5, open_ends) == 1.0
    assert crossing(np.array([0.1, 0.2]), 0.5, open_ends) == 2.0
    assert cumulative(np.array([0.1, 0.2, 0.7])).tolist() == pytest.approx([0.1, 0.3])
