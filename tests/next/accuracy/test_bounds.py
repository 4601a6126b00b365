"""Bounds of bias and chance against brute force; each constant from both sides."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

from epsilons_next.inference.lorenz import Weights
from epsilons_next.inference.sampling import carried, hoeffding, normal_tail


def weights(each: list[float], units: list[int], **words: float) -> Weights:
    n = np.array(units, float)
    return Weights(np.array(each), n, n, n, **words)


def program(
    each: list[float], units: list[int], u: float, apart: float, shift: float = 0.0
) -> tuple[float, float]:
    """The least and the most Σ k·f by a linear program over the means of classes."""
    k, n = np.array(each), np.array(units, float)
    bounds = [(-u, 1 - u)] * len(k)
    differences = [
        [(i == a) - (i == b) for i in range(len(k))]
        for a in range(len(k))
        for b in range(len(k))
        if a != b
    ]
    above = np.array([*differences, n, -n], float)
    limits = [apart] * len(differences) + [shift * n.sum()] * 2
    found = [linprog(sign * k * n, above, limits, bounds=bounds) for sign in (1, -1)]
    return float(found[0].fun), -float(found[1].fun)


CLASSES = [
    ([0.0, 0.1, 0.5, 2.0], [5, 30, 40, 25]),
    ([0.05, 1.0], [40, 3960]),
    ([1.0], [50]),
    ([0.0, 1.0], [1, 1]),
    ([0.3, 0.3, 0.9], [10, 20, 5]),
]


@pytest.mark.parametrize(("each", "units"), CLASSES)
@pytest.mark.parametrize("u", [0.0, 0.02, 0.3, 0.5, 0.91, 1.0])
@pytest.mark.parametrize("apart", [0.0, 0.05, 0.4, 0.8, 1.0])
def test_bias_is_the_best_that_a_linear_program_finds(
    each: list[float], units: list[int], u: float, apart: float
) -> None:
    """With nothing assumed people of a class may differ, which means of classes allow for."""
    held = weights(each, units)
    least, most = (float(end[0]) for end in held.bias(np.array([u]), apart))
    wanted = program(each, units, u, apart)
    assert least == pytest.approx(wanted[0], abs=1e-7 * held.total)
    assert most == pytest.approx(wanted[1], abs=1e-7 * held.total)


@pytest.mark.parametrize("rounding", [0.01, 0.2])
def test_rounded_weights_move_the_mean_of_units(rounding: float) -> None:
    each, units = [0.1, 0.5, 2.0], [30, 40, 30]
    for u in (0.0, 0.1, 0.5, 0.95):
        found = weights(each, units, rounding=rounding).bias(np.array([u]), 1.0)
        wanted = program(each, units, u, 1.0, rounding)
        assert float(found[0][0]) <= wanted[0] + 1e-7
        assert float(found[1][0]) >= wanted[1] - 1e-7
        if rounding <= u <= 1 - rounding:
            assert float(found[0][0]) == pytest.approx(wanted[0], abs=1e-6)


def test_bias_knows_where_a_mean_can_be() -> None:
    held = weights([0.1, 2.0], [50, 50])
    assert held.lightest(np.array([0.02])) == pytest.approx(0.02 * 105 / 5 / 2, rel=1e-9)
    assert held.heaviest(np.array([0.3, 0.7])).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("each", [[0.1, 0.5, 2.0, 2.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]])
def test_dealt_limits_are_bounded_over_every_deal(each: list[float]) -> None:
    values, counts = np.unique(each, return_counts=True)
    held = weights(values.tolist(), counts.tolist())
    square = held.dealt()
    n = len(each)
    for ones in range(1, n):
        f = np.array([1 - ones / n] * ones + [-ones / n] * (n - ones))
        deals = np.array([np.dot(deal, f) for deal in set(permutations(each))])
        for s in np.linspace(0.01, deals.max(), 25):
            assert (deals >= s - 1e-12).mean() <= hoeffding(np.array([s]), np.array([square]))[
                0
            ] + 1e-12


def test_the_bound_of_dealt_limits_is_no_larger_than_it_must_be() -> None:
    """The sum over single people of the squared ranges, written out."""
    values, counts = [0.1, 0.5, 2.0], [20, 50, 30]
    k = np.repeat(values, counts)
    k = k - k.mean()
    k = k[np.argsort(-np.abs(k), kind="stable")]
    steps = [
        (k[i] - k[i + 1 :].mean()) * (len(k) - i - 1) / (len(k) - i - 0.5)
        for i in range(len(k) - 1)
    ]
    assert weights(values, counts).dealt() == pytest.approx(
        float(np.sum(np.square(steps))), rel=0.02
    )


def test_the_normal_tail_is_that_of_scipy() -> None:
    x = np.linspace(-9, 9, 400)
    assert normal_tail(x) == pytest.approx(stats.norm.sf(x), rel=2e-7)


def test_people_who_carry_a_sum_are_counted_by_its_kurtosis() -> None:
    k = np.array([3.0, 0.1])
    people = np.array([12.0, 5_000.0])
    square, fourth = 12 * 9 + 50, 12 * 81 + 0.5
    assert carried(k, people) == pytest.approx((square + 8) ** 2 / fourth)
    assert carried(np.zeros(1), np.ones(1)) == math.inf
