"""The largest bias of a private group agrees with linear programs and enumeration."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from epsilons.risk.groups.bias import Leaning, apart, few
from epsilons.risk.tails.combined import EDGES, PARTS
from epsilons.types import Floats, Integers


def people(budgets: list[float], counts: list[int]) -> tuple[Floats, Integers]:
    e, n = np.array(budgets), np.array(counts)
    return e / (e @ n), n


CASES = [
    people([0.1, 0.5, 0.5], [7, 7, 7]),
    people([0.1, 0.3, 0.5, 1.0, 2.0], [5, 7, 3, 8, 2]),
    people([0.0, 0.2, 1.0], [4, 10, 6]),
    people([1.0], [9]),
]


def solved(weights: Floats, counts: Integers, m: float, share: float) -> float:
    """Return the largest Σw·(ones − m·(ones + zeros)), by linear programming.

    The maximum is over groups with mean m and weight up to `share`.
    """
    k = len(weights)
    each = np.hstack([np.eye(k), np.eye(k)])
    found = linprog(
        -np.concatenate([(1.0 - m) * weights, -m * weights]),
        A_ub=np.vstack([np.tile(weights, 2), each]),
        b_ub=np.concatenate([[share], counts]),
        A_eq=np.concatenate([np.full(k, 1.0 - m), np.full(k, -m)])[None],
        b_eq=[0.0],
    )
    return float(-found.fun)


@pytest.mark.parametrize("case", range(len(CASES)))
def test_bias_is_that_of_the_worst_group(case: int) -> None:
    weights, counts = CASES[case]
    shares = np.array([0.04, 0.3, 0.8, 1.0])
    table = Leaning(weights, counts).most(shares)
    assert table.shape == (len(shares), PARTS)
    for row, part in product(range(len(shares)), (2, 15, 31, 40, 58)):
        exact = max(
            solved(weights, counts, m, shares[row])
            for m in np.linspace(EDGES[part], EDGES[part + 1], 4).tolist()
        )
        assert exact - 1e-9 <= table[row, part] <= 1.15 * exact + 1e-3


def test_whoever_there_may_be_a_ratio_of_weights_bounds_the_bias() -> None:
    weights, counts = people([0.1, 0.5], [10**6, 10**6])
    most = Leaning(weights, counts).most(np.array([1e-3]))[0].max() / 1e-3
    rho = math.sqrt(5.0)
    assert most == pytest.approx((rho - 1.0) / (rho + 1.0), rel=1e-2)


def test_with_a_price_of_people_nothing_is_asked_of_their_mean() -> None:
    """With a fixed dual price per person, the bound hardly depends on the mean of a group.

    It is close to the bias of the mean of all people.
    """
    weights, counts = CASES[1]
    b = 0.5 * float(counts @ np.abs(weights - 1.0 / counts.sum()))
    table = Leaning(weights, counts, 1.0 / counts.sum()).most(np.ones(1))
    assert np.all(table[0] >= b - 1e-12)
    assert table[0] == pytest.approx(np.full(PARTS, b), rel=0.2)


def test_few_weights_are_not_better_than_all() -> None:
    rng = np.random.default_rng(1)
    weights, counts = np.sort(rng.random(200)), rng.integers(1, 9, 200)
    nodes, found = few(weights, counts, 20)
    assert len(nodes) <= 20
    assert found.sum() == pytest.approx(counts.sum())
    assert found @ nodes == pytest.approx(counts @ weights)
    for at in (0.1, 0.5, 0.9):
        assert found @ np.abs(nodes - at) >= counts @ np.abs(weights - at) - 1e-9


# Two groups.


def worst_pair(weights: Floats, counts: Integers, shares: tuple[float, float]) -> float:
    """Return the largest sum of two groups' biases, over all splits of light and heavy people."""
    light, heavy = (float(each) for each in weights)
    l_all, h_all = (float(each) for each in counts)
    best = 0.0

    def bias(lights: float, heavies: float) -> float:
        weight = light * lights + heavy * heavies
        return heavies * heavy / weight - heavies / (lights + heavies)

    for first in np.linspace(0.0, l_all, 161):
        h1 = (shares[0] - light * first) / heavy
        for second in np.linspace(0.0, l_all - first, 81):
            h2 = (shares[1] - light * second) / heavy
            if h1 >= 0.0 and h2 >= 0.0 and h1 + h2 <= h_all * (1.0 + 1e-9):
                best = max(best, bias(first, h1) + bias(second, h2))
    return best


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.3, 0.7), (0.2, 0.2), (0.05, 0.6)])
def test_two_groups_have_different_people(shares: tuple[float, float]) -> None:
    weights, counts = people([0.1, 0.5], [1333, 2667])
    exact = worst_pair(weights, counts, shares)
    found = apart(weights, counts, ((shares[0],) * 2, (shares[1],) * 2), (1.0, 1.0))
    assert exact - 1e-3 <= found <= 1.09 * exact
    wider = apart(weights, counts, ((0.9 * shares[0], shares[0]),) * 2, (1.0, 1.0))
    assert wider > 0.0


def test_together_they_have_less_than_each_could() -> None:
    """If each of two groups has half of the weight, the bound is close to 2b.

    Here b is the bias of the mean of all people. Two bounds for separate groups are larger.
    """
    weights, counts = people([0.1, 0.5], [1333, 2667])
    b = 0.5 * float(counts @ np.abs(weights - 1.0 / counts.sum()))
    found = apart(weights, counts, ((0.5, 0.5), (0.5, 0.5)), (1.0, 1.0))
    rho = math.sqrt(5.0)
    assert 2.0 * b <= found < 1.06 * 2.0 * b
    assert found < 0.7 * 2.0 * (rho - 1.0) / (rho + 1.0)


def test_equal_weights_have_no_bias() -> None:
    weights, counts = people([0.5, 0.5], [5, 9])
    assert apart(weights, counts, ((0.4, 0.5), (0.5, 0.6)), (1.0, 3.0)) == 0.0
