"""The gain of personal budgets over a single threshold is within its bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons import theory


def ratio(budgets: ep.Budgets) -> float:
    """Return the best threshold's squared error divided by the best affine estimator's."""
    return sampled(budgets, "threshold") / sampled(budgets, "affine")


def sampled(budgets: ep.Budgets, method: str) -> float:
    return ep.allocate(budgets, about="population", related=False, method=method).risk


def test_example_one() -> None:
    budgets = ep.Budgets({0.5: 1, 1.0: 1})
    assert sampled(budgets, "threshold") == pytest.approx(float(Fraction(17, 8)))
    assert sampled(budgets, "affine") == pytest.approx(float(Fraction(37, 36)))
    assert ratio(budgets) == pytest.approx(float(Fraction(153, 74)))
    assert 153 / 74 <= theory.threshold_ratio(budgets) == pytest.approx(9 / 4)  # (1 + 1/2)²


def test_public_records_beside_private_ones() -> None:
    budgets = ep.Budgets({0.001: 10**4, math.inf: 12})
    assert ratio(budgets) == pytest.approx(1.95, abs=1e-2)
    assert theory.threshold_ratio(budgets) == 2.0


@pytest.mark.parametrize("m", range(2, 21))
def test_the_construction_gains_at_least_a_fifth_of_the_square(m: int) -> None:
    budgets = theory.unthresholdable(m)
    assert budgets.n == 2**m - 1
    assert np.all(budgets.levels * budgets.counts == 1.0)
    assert m * m / 5 <= ratio(budgets) <= theory.threshold_ratio(budgets) <= m * m


def test_the_worst_of_two_levels() -> None:
    """A search over profiles with two levels finds a ratio above 2.05, and none above 4."""
    rng = np.random.default_rng(3)
    worst = 0.0
    start = (math.log(0.5), math.log(2.0), 0.0, 0.0)  # Example 1 of paper *limits*
    best = np.array(start)
    for step in (2.0, 1.0, 0.5, 0.2, 0.1):
        for _ in range(60):
            tried = best + step * rng.normal(size=4)
            low, times, one, two = np.exp(np.clip(tried, -12, 12))
            if times <= 1.0:
                continue
            people = {low: max(1, round(one)), low * times: max(1, round(two))}
            found = ratio(ep.Budgets(people))
            assert found <= theory.threshold_ratio(people) * (1 + 1e-9) <= 4.0 * (1 + 1e-9)
            if found > worst:
                worst, best = found, tried
    assert 2.05 < worst < 4.0


@given(
    profile=st.dictionaries(
        st.one_of(st.sampled_from([0.0, math.inf]), st.floats(1e-4, 50.0)),
        st.integers(1, 10**4),
        min_size=1,
        max_size=7,
    ).filter(lambda found: sum(found.values()) >= 2 and max(found) > 0.0)
)
@settings(max_examples=60, deadline=None)
def test_no_profile_exceeds_the_bound(profile: dict[float, int]) -> None:
    budgets = ep.Budgets(profile)
    bound = theory.threshold_ratio(budgets)
    assert ratio(budgets) <= bound * (1 + 1e-9)
    used = [n for level, n in profile.items() if level > 0]
    assert bound <= min(len(used) ** 2, (1 + math.log2(sum(used))) ** 2) * (1 + 1e-12)


def test_many_people_and_one_level() -> None:
    assert theory.threshold_ratio({1.0: 5}) == 1.0
    assert theory.threshold_ratio({0.0: 4, 1.0: 5}) == 1.0
    many = {float(i): 10**8 for i in range(1, 100)}
    exact = math.fsum(1.0 / k for k in range(1, 10**6)) + math.log(99 * 10**8 / (10**6 - 0.5))
    assert theory.threshold_ratio(many) == pytest.approx(exact**2, rel=1e-9)


@pytest.mark.parametrize("levels", [1, 0, -3, 53, 2.0, True, "4"])
def test_bad_numbers_of_levels_are_refused(levels: object) -> None:
    with pytest.raises(ep.errors.ArgumentError, match="levels"):
        theory.unthresholdable(levels)  # type: ignore[arg-type]


def test_bad_budgets_are_refused() -> None:
    with pytest.raises(ep.errors.BudgetError):
        theory.threshold_ratio({-1.0: 5})
    with pytest.raises(ep.errors.DataError):
        theory.threshold_ratio([0.5])


def test_the_largest_construction_can_be_made() -> None:
    budgets = theory.unthresholdable(52)
    assert budgets.n == 2**52 - 1
    assert ratio(budgets) >= 52**2 / 5
