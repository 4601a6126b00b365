"""`ep.allocate`: examples from the papers, everyone's spending, and rejected arguments."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.budgets.allocation import RULES, allocate_for
from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.parameters import LOSSES_OF_A_MEAN
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption


def ratio(epsilon: Any) -> float:
    """Return the risk of the best threshold divided by that of the best affine estimator."""
    return sampled(epsilon, "threshold").risk / sampled(epsilon, "affine").risk


def sampled(epsilon: Any, method: str = "auto") -> ep.Allocation:
    return ep.allocate(epsilon, about="population", related=False, method=method)


def test_example_1_of_limits_gives_37_36ths_and_17_8ths() -> None:
    affine = sampled([0.5, 1.0], "affine")
    threshold = sampled([0.5, 1.0], "threshold")
    assert affine.risk == pytest.approx(37 / 36, abs=1e-9)
    assert threshold.risk == pytest.approx(17 / 8, abs=1e-9)
    assert ratio([0.5, 1.0]) == pytest.approx(153 / 74, abs=1e-9)
    np.testing.assert_allclose(affine.weights, [1 / 3, 2 / 3], rtol=1e-15)
    assert affine.scale == pytest.approx(2 / 3, rel=1e-15)


def test_a_few_public_people_beside_many_strict_ones_nearly_double_the_risk() -> None:
    assert 1.94 < ratio({0.001: 10**4, math.inf: 12}) < 1.96


@pytest.mark.parametrize("m", range(2, 13))
def test_the_construction_of_limits_loses_at_least_a_fifth_of_the_square_of_its_levels(
    m: int,
) -> None:
    found = ratio({2.0 ** -(i - 1): 2 ** (i - 1) for i in range(1, m + 1)})
    assert m * m / 5.0 <= found <= m * m


levels = st.floats(1e-6, 1e6)
people = st.integers(1, 10**6)


@settings(max_examples=200, deadline=None)
@given(levels, people, people)
def test_one_level_beside_public_people_loses_at_most_a_factor_of_2(
    level: float, strict: int, public: int
) -> None:
    assert 1.0 - 1e-9 <= ratio({level: strict, math.inf: public}) <= 2.0 + 1e-9


@settings(max_examples=200, deadline=None)
@given(levels, levels, people, people)
def test_two_levels_lose_at_most_a_factor_of_4(
    one: float, two: float, first: int, second: int
) -> None:
    budgets = ep.Budgets([one, two]) if one == two else ep.Budgets({one: first, two: second})
    assert 1.0 - 1e-9 <= ratio(budgets) <= 4.0 + 1e-9


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(levels, people, min_size=2, max_size=8))
def test_m_levels_lose_at_most_a_factor_of_the_square_of_m(budgets: dict[float, int]) -> None:
    assert 1.0 - 1e-9 <= ratio(budgets) <= len(budgets) ** 2 + 1e-9


def test_affine_minimises_the_mean_squared_error_of_a_sample_whatever_is_asked() -> None:
    epsilon = [0.1, 0.3, 2.0, 2.0, 9.0]
    best = sampled(epsilon, "optimal")
    for assumption in (SAMPLE, UNRELATED, RELATED):
        for loss in LOSSES_OF_A_MEAN:
            found = ep.allocate(epsilon, **asdict(assumption), loss=loss, method="affine")
            np.testing.assert_array_equal(found.spent, best.spent)


@pytest.mark.parametrize("method", RULES)
def test_for_each_gives_everyone_what_their_level_spends(method: str) -> None:
    epsilon = np.array([0.5, 0.0, 3.0, 0.1, 0.5, 40.0])
    found = ep.allocate(epsilon, method=method)
    spent = dict(zip(found.levels.tolist(), found.spent.tolist(), strict=True))
    each = found.for_each(epsilon)
    assert each.tolist() == [spent[e] for e in epsilon.tolist()]
    assert np.all(each <= epsilon)
    assert each.dtype == np.float64


def test_somebody_between_two_levels_spends_what_the_level_below_spends() -> None:
    found = ep.allocate([0.0, 0.1, 0.5, 2.0], method="proportional")
    between = np.array([0.0, 0.05, 0.1, 0.3, 0.5, 1.9, 2.0, 100.0, math.inf])
    each = found.for_each(between)
    assert each.tolist() == [0.0, 0.0, 0.1, 0.1, 0.5, 0.5, 2.0, 2.0, 2.0]
    assert np.all(each <= between)
    assert found.for_each([]).tolist() == []


@pytest.mark.parametrize("epsilon", [[0.05], [math.nan], [0.5, math.nan], [-1.0], [0.5, 0.0]])
def test_for_each_refuses_people_below_every_level(epsilon: list[float]) -> None:
    with pytest.raises(BudgetError, match="below every level"):
        ep.allocate([0.1, 0.5]).for_each(epsilon)


def test_an_allocation_describes_itself_and_does_not_change() -> None:
    found = sampled({0.1: 500, 1.0: 200})
    assert found.n == 700
    assert found.method == "optimal"
    assert found.goal == MeanGoal(SAMPLE, "mse", 0.95, tested=True)
    assert found.exact
    assert repr(found).startswith("Allocation(method='optimal', 700 people, 2 levels, scale=")
    with pytest.raises(AttributeError):
        found.risk = 0.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.spent[0] = 9.0
    weighing = found.weighing
    assert (weighing.scale, weighing.n, weighing.keep) == (found.scale, 700, None)
    np.testing.assert_array_equal(weighing.weights, found.weights)


def test_a_bound_is_not_called_exact() -> None:
    assert not ep.allocate([0.1, 1.0], about="population", related=False, loss="pac").exact
    assert ep.allocate([0.1, 1.0], about="people", related=True, loss="pac").exact


def test_budgets_are_left_as_they_were_given() -> None:
    epsilon = np.array([0.5, 0.1, 3.0])
    budgets = ep.Budgets(epsilon)
    for method in RULES:
        ep.allocate(epsilon, method=method)
        allocate_for(budgets, MeanGoal(RELATED, "pac", 0.9), method)
    assert epsilon.tolist() == [0.5, 0.1, 3.0]
    assert budgets == ep.Budgets([0.1, 0.5, 3.0])


def test_everyone_public_needs_no_noise() -> None:
    for method in RULES:
        found = ep.allocate({math.inf: 4}, method=method, about="people", related=False)
        assert (found.scale, found.risk) == (0.0, 0.0), method


REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ([0.1, 1.0], {"about": "peple"}, ArgumentError, "about='peple'.*Did you mean 'people'"),
    ([0.1, 1.0], {"related": 0}, ArgumentError, "related=0 .*Write related=False"),
    ([0.1, 1.0], {"related": None}, ArgumentError, "related=None is invalid"),
    ([0.1, 1.0], {"loss": "mze"}, ArgumentError, "loss='mze'.*Did you mean 'mse'"),
    ([0.1, 1.0], {"loss": 2}, ArgumentError, "loss=2"),
    ([0.1, 1.0], {"method": "treshold"}, ArgumentError, "Did you mean 'threshold'"),
    ([0.1, 1.0], {"method": "hpm-cq"}, ArgumentError, "Did you mean 'hpm-c"),
    ([0.1, 1.0], {"method": "zzz"}, ArgumentError, "'auto', 'optimal'"),
    ([0.1, 1.0], {"statistic": "meen"}, ArgumentError, "Did you mean 'mean'"),
    ([0.1, 1.0], {"categories": ["a"]}, ArgumentError, "categories"),
    ([0.1, 1.0], {"confidence": 1.0}, ArgumentError, "confidence=1.0"),
    ([0.1, 1.0], {"confidence": 95}, ArgumentError, "confidence=95"),
    ([0.1, 1.0], {"confidence": "0.9"}, ArgumentError, "confidence='0.9'"),
    ([0.1, -1.0], {}, BudgetError, "negative"),
    ([0.1, math.nan], {}, BudgetError, "NaN"),
    ([0.0, 0.0], {}, BudgetError, "0 for everyone"),
    ({0.0: 9}, {}, BudgetError, "0 for everyone"),
    ([0.5], {}, DataError, "fewer than two"),
    ([], {}, DataError, "empty"),
    ({}, {}, DataError, "empty"),
    (0.5, {}, ArgumentError, "one column"),
    ([[0.1, 0.2], [0.3, 0.4]], {}, ArgumentError, "one column"),
    (["a", "b"], {}, BudgetError, "numbers"),
    (None, {}, BudgetError, "numbers"),
    ({0.5: 1.5}, {}, ArgumentError, "whole number"),
    ({0.5: -2}, {}, ArgumentError, "whole number"),
    ({0.5: "two"}, {}, ArgumentError, "whole number"),
]


@pytest.mark.parametrize(
    ("epsilon", "options", "error", "says"), REFUSED, ids=[f"{x[0]}-{x[1]}" for x in REFUSED]
)
def test_what_cannot_be_meant_is_refused_with_a_hint(
    epsilon: Any, options: dict[str, Any], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says) as caught:
        ep.allocate(epsilon, **options)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ep.errors.EpsilonsError)


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 1e-308])
@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED])
def test_public_people_beside_budgets_that_are_next_to_nothing(
    tiny: float, assumption: Assumption
) -> None:
    """If the best cap is too large for a float, only people with ε = ∞ have weight, without NaN."""
    found = ep.allocate([tiny, math.inf], **asdict(assumption), method="minimax")
    assert np.isfinite(found.risk)
    assert 0.0 < found.total <= 1.0
