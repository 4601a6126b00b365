"""The staircase rule: multiples of one rate, comparison with brute force, and when it is chosen."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons import Allocation
from epsilons.budgets.allocation.rules import LEAST, MARGIN, STEPS, variance
from epsilons.draws.noise import Staircase
from epsilons.parameters import LOSSES_OF_A_MEAN
from epsilons.risk import StairNoise, Weighing
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests.profiles import ADVERSARIAL, ORDINARY

ASSUMPTIONS, LOSSES = (SAMPLE, UNRELATED, RELATED), LOSSES_OF_A_MEAN
GOALS = list(itertools.product(ASSUMPTIONS, LOSSES))


def units(found: Allocation) -> list[Fraction]:
    """Return the exact weight of a person at each level: what they spend, divided by the rate."""
    assert found.stairs is not None
    rate = Fraction(found.stairs.law.pieces.rate)
    return [Fraction(spent) / rate for spent in found.spent.tolist()]


def check(found: Allocation) -> None:
    """Check exactly that everyone spends a small multiple of one rate, and at most their budget."""
    if found.stairs is None:  # all people have public records
        assert found.scale == 0.0
        assert math.isinf(found.levels[-1])
        return
    rate, each = Fraction(found.stairs.law.pieces.rate), units(found)
    assert all(unit.denominator == 1 and 0 <= unit <= 32 for unit in each)
    for unit, level in zip(each, found.levels.tolist(), strict=True):
        assert math.isinf(level) or unit * rate <= Fraction(level)
    together = sum(unit * n for unit, n in zip(each, found.counts.tolist(), strict=True))
    np.testing.assert_allclose(found.weights, [float(unit / together) for unit in each], rtol=1e-12)
    assert found.stairs.unit == pytest.approx(float(1 / together), rel=1e-12)
    assert found.cap is not None
    assert found.spent.max() <= found.cap
    if rate >= Fraction(1, 4096):
        assert rate.denominator <= 2**53  # draws are fast up to a denominator of this size


@pytest.mark.parametrize(("assumption", "loss"), GOALS)
@pytest.mark.parametrize("profile", [*ADVERSARIAL, *ORDINARY])
def test_budgets_are_rounded_down_to_multiples_of_the_rate(
    profile: str, assumption: Assumption, loss: str
) -> None:
    budgets = (ADVERSARIAL | ORDINARY)[profile]
    check(ep.allocate(budgets, **asdict(assumption), loss=loss, method="staircase"))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.floats(0.0, 1e308) | st.just(math.inf) | st.floats(0.1, 20.0), min_size=2, max_size=20
    ).filter(lambda each: max(each) >= 2.0**-60),
    st.sampled_from(ASSUMPTIONS),
)
def test_nobody_spends_more_than_they_have_exactly(
    epsilon: list[float], assumption: Assumption
) -> None:
    check(ep.allocate(epsilon, **asdict(assumption), method="staircase"))


SMALL: list[dict[float, int]] = [
    {4.0: 10},
    {4.0: 5, 8.0: 5},
    {1.0: 3, 2.5: 4, 7.0: 2},
    {0.3: 4, 0.7: 2, 5.0: 6},
    {2.0: 1, 3.0: 1, 5.0: 1, 7.0: 1},
    {0.0: 3, 1.1: 4, 1.9: 4},
    {0.9: 30, 6.1: 2},
]


def by_hand(
    budgets: dict[float, int], rate: float, most: int, assumption: Assumption, loss: str
) -> float:
    """Return the risk for one rate and one largest weight, computed from the noise distribution."""
    people = np.array(sorted(itertools.chain.from_iterable([e] * n for e, n in budgets.items())))
    held = np.minimum(np.floor(people / rate * (1.0 + 1e-13)), most)
    if held.sum() == 0.0:
        return math.inf
    law = Staircase.best(Fraction(rate), STEPS)
    stairs = StairNoise(law, 1.0 / held.sum())
    ones = np.ones(len(people), dtype=np.int64)
    made = Weighing(held / held.sum(), ones, stairs.scale, stairs=stairs)
    return MeanGoal(assumption, loss, 0.95).risk(made)


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
@pytest.mark.parametrize("budgets", SMALL)
def test_no_rate_and_no_cap_is_better(budgets: dict[float, int], assumption: Assumption) -> None:
    found = ep.allocate(budgets, **asdict(assumption), method="staircase")
    parts = {level / m for level in budgets for m in range(1, 13) if level > 0.0}
    between = np.geomspace(0.1, max(budgets), 60).tolist()  # larger rates cannot be better
    rates = [rate for rate in {*parts, *between} if rate >= 0.1]
    least = min(
        by_hand(budgets, rate, most, assumption, "mse")
        for rate in rates
        for most in (1, 2, 3, 5, 8, 32)
    )
    assert found.risk <= least * (1.0 + 1e-9)
    assert found.stairs is not None
    most = round(max(map(float, units(found))))
    again = by_hand(budgets, float(found.stairs.law.pieces.rate), most, assumption, "mse")
    assert found.risk == pytest.approx(again, rel=1e-9)


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
@pytest.mark.parametrize("budgets", SMALL[:3])
def test_the_search_for_the_pac_error_is_near_the_best(
    budgets: dict[float, int], assumption: Assumption
) -> None:
    """The search for the PAC error is nearly exact, although it tries only a few candidates.

    Here, its risk is within 3 % of the smallest risk over all rates.
    """
    found = ep.allocate(budgets, **asdict(assumption), loss="pac", method="staircase").risk
    rates = {level / m for level in budgets for m in range(1, 7)}
    least = min(
        by_hand(budgets, rate, most, assumption, "pac") for rate in rates for most in (1, 2, 3, 6)
    )
    assert found <= 1.03 * least


def test_the_variance_of_a_rate_is_that_of_the_paper_and_of_the_law() -> None:
    for rate in (0.01, 0.5, 1.0, 4.0, 8.0, 20.0):
        b = math.exp(-rate)
        printed = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
        mine = float(variance(np.array([rate]))[0])
        assert mine == pytest.approx(printed, rel=1e-9)
        law = Staircase.best(Fraction(rate), STEPS)
        assert mine == pytest.approx(law.variance / STEPS**2, rel=1e-6)


def test_the_variance_is_never_below_a_known_part_of_that_of_laplace_noise() -> None:
    rates = np.geomspace(1e-3, 60.0, 4000)
    part = variance(rates) * rates**2 / 2.0
    assert np.all(part >= np.exp(-(rates**2) / 12.0) * (1.0 - 1e-12))
    assert np.all(part <= 1.0 + 1e-12)
    assert np.all(np.diff(part) < 1e-12)


LARGE = [{4.0: 1000}, {4.0: 500, 8.0: 500}, {2.0: 300, 3.0: 300}, {2.0: 1000}]


@pytest.mark.parametrize("assumption", [UNRELATED, RELATED])
@pytest.mark.parametrize("budgets", LARGE)
@pytest.mark.parametrize("loss", LOSSES)
def test_auto_takes_it_where_all_budgets_are_large(
    budgets: dict[float, int], assumption: Assumption, loss: str
) -> None:
    found = ep.allocate(budgets, **asdict(assumption), loss=loss)
    assert found.method == "staircase"
    assert (
        found.risk
        < (1.0 - MARGIN)
        * ep.allocate(budgets, **asdict(assumption), loss=loss, method="optimal").risk
    )
    assert found.stairs is not None
    assert found.stairs.law.pieces.rate >= LEAST


def test_auto_takes_it_for_a_sample_only_while_noise_counts() -> None:
    assert ep.allocate({4.0: 20}, **asdict(SAMPLE)).method == "staircase"
    # For 1,000 people the sampling error dominates: staircase noise would gain only 0.02 %.
    assert ep.allocate({4.0: 1000}, **asdict(SAMPLE)).method == "optimal"


@pytest.mark.parametrize(("assumption", "loss"), GOALS)
@pytest.mark.parametrize("budgets", [{0.5: 1000}, {0.5: 4}, {0.05: 20, 0.5: 20}, {0.1: 9, 0.69: 1}])
def test_auto_leaves_small_budgets_as_they_were(
    budgets: dict[float, int], assumption: Assumption, loss: str
) -> None:
    found = ep.allocate(budgets, **asdict(assumption), loss=loss)
    assert found.method != "staircase"
    assert found.stairs is None


def test_public_people_are_capped_or_alone() -> None:
    beside = ep.allocate({4.0: 100, math.inf: 3}, about="people", related=True, method="staircase")
    assert beside.stairs is not None
    assert beside.spent[-1] == beside.cap
    alone = ep.allocate({0.001: 3, math.inf: 300}, **asdict(SAMPLE), method="staircase")
    assert (alone.scale, alone.cap) == (0.0, math.inf)
    assert alone.spent.tolist() == [0.0, math.inf]


def test_many_levels_are_searched_in_groups_and_served_one_by_one() -> None:
    rng = np.random.default_rng(4)
    epsilon = rng.uniform(3.0, 9.0, 20_000)
    found = ep.allocate(epsilon, about="people", related=False)
    check(found)
    assert found.method == "staircase"
    assert (
        found.risk
        < 0.9 * ep.allocate(epsilon, about="people", related=False, method="optimal").risk
    )


def test_frequencies_know_no_staircase() -> None:
    with pytest.raises(ep.errors.ArgumentError, match="method"):
        ep.allocate([4.0, 4.0], statistic="frequencies", categories=3, method="staircase")
    assert ep.allocate([4.0, 4.0], statistic="frequencies", categories=3).stairs is None
