"""Lower bounds for means and frequencies are below the minimax risk and the risk of every rule."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog

import epsilons as ep
from epsilons import theory
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests.profiles import ORDINARY
from tests.theory.programs import minimax

ASSUMPTIONS = (SAMPLE, UNRELATED, RELATED)
levels = st.one_of(st.sampled_from([0.0, math.inf]), st.floats(1e-4, 20.0))
profiles = st.dictionaries(levels, st.integers(1, 400), min_size=1, max_size=5).filter(
    lambda found: sum(found.values()) >= 2 and max(found) > 0.0
)


def test_one_coin_is_told_apart_exactly_as_often_as_budgets_say() -> None:
    """Randomized response with two possible answers attains the bound.

    So no larger bound is valid.
    """
    for epsilon in (0.1, 1.0, 3.0):
        miss = minimax((epsilon,), about="people", related=True, loss="pac", alpha=0.5, steps=2)
        assert miss == pytest.approx(1.0 / (1.0 + math.exp(epsilon)), abs=1e-9)
        # `miss` is the error probability of randomized response. At a confidence above 1 − miss,
        # the person with the smallest budget forces an error of ¼. At a lower one, there may be no
        # error.
        budgets = {epsilon: 1, math.inf: 1}
        for factor, reach in ((0.99, 0.25), (1.01, 0.0)):
            found = theory.least_error(
                budgets, about="people", related=True, loss="pac", confidence=1.0 - factor * miss
            )
            assert found == pytest.approx(reach)


def test_the_printed_bound_for_unrelated_budgets_is_broken_by_randomized_response() -> None:
    """Randomized response contradicts (35) of paper *correlated*.

    (35) claims E e^{−Z} ≤ β for every method with an error below ½. For one person, Z is ε.
    """
    epsilon = 1.0
    beta = minimax((epsilon,), about="people", related=False, loss="pac", alpha=0.5, steps=2)
    assert math.exp(-epsilon) > beta * 1.3


@given(profile=profiles, assumption=st.sampled_from(ASSUMPTIONS), cells=st.integers(2, 30))
@settings(max_examples=4, deadline=None)
def test_no_rule_for_frequencies_is_below(
    profile: dict[float, int], assumption: Assumption, cells: int
) -> None:
    arguments: dict[str, Any] = {
        "statistic": "frequencies",
        "categories": cells,
        **asdict(assumption),
    }
    budgets = ep.Budgets(profile)
    forecasts = ep.plan(budgets, **arguments).forecasts
    assert theory.least_error(budgets, **arguments) <= min(each.rmse for each in forecasts)
    pac = theory.least_error(budgets, loss="pac", **arguments)
    assert pac <= min(each.pac for each in forecasts)


@given(
    profile=profiles,
    factor=st.floats(1.0, 3.0),
    assumption=st.sampled_from(ASSUMPTIONS),
    neighbours=st.sampled_from(["replace", "add-remove"]),
    loss=st.sampled_from(["mse", "pac"]),
)
@settings(max_examples=30, deadline=None)
def test_larger_budgets_never_raise_the_bound(
    profile: dict[float, int], factor: float, assumption: Assumption, neighbours: str, loss: str
) -> None:
    looser: dict[float, int] = {}
    for epsilon, count in profile.items():
        looser[epsilon * factor] = looser.get(epsilon * factor, 0) + count
    words: dict[str, Any] = {**asdict(assumption), "neighbours": neighbours, "loss": loss}
    strict = theory.least_error(profile, **words)
    # The numerical search for the best bound is not exact.
    assert theory.least_error(looser, **words) <= strict * (1.0 + 2e-3) + 1e-12


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
@pytest.mark.parametrize("loss", ["mse", "pac"])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_levels_that_are_nearly_equal_are_nearly_one(
    assumption: Assumption, loss: str, neighbours: str
) -> None:
    words: dict[str, Any] = {**asdict(assumption), "loss": loss, "neighbours": neighbours}
    for count in (7, 100, 3000):
        one = theory.least_error({0.2: count, 1.0: count}, **words)
        near = {0.2: count, 1.0: count // 2, 1.0 + 1e-9: count - count // 2}
        assert theory.least_error(near, **words) == pytest.approx(one, rel=1e-6)


def test_units_are_those_of_the_data() -> None:
    budgets = ORDINARY["half strict"]
    for loss in ("mse", "pac"):
        unit = theory.least_error(budgets, loss=loss)
        assert theory.least_error(budgets, loss=loss, bounds=(-10, 30)) == pytest.approx(40 * unit)


def test_people_who_say_nothing_leave_half_the_range() -> None:
    budgets = {0.0: 3, math.inf: 1}
    assert theory.least_error(budgets, about="people", related=True) == pytest.approx(3 / 8)
    assert theory.least_error({math.inf: 9}, about="people", related=True) == 0.0
    # Hodges and Lehmann: the minimax risk of the mean of n public coins.
    sample = theory.least_error({math.inf: 9}, about="population", related=False)
    assert sample == pytest.approx(1 / 8)


def test_many_categories_are_harder_to_tell_apart() -> None:
    words: dict[str, Any] = {
        "about": "people",
        "related": True,
        "loss": "pac",
        "statistic": "frequencies",
    }
    found = [theory.least_error({0.01: 10**4}, categories=k, **words) for k in (2, 20, 200)]
    by_hand = [math.ceil(math.log((k - 1) * 19) / 0.01 - 1e-9) - 1 for k in (2, 20, 200)]
    assert found == pytest.approx([each / 2e4 for each in by_hand])


@pytest.mark.parametrize("removable", [False, True])
def test_packed_answers_are_missed_as_often_as_said(removable: bool) -> None:
    """The bound on the error probability equals that of the best mechanism.

    Linear programming finds that mechanism, for two people, three categories and three answers.
    """
    first, second = 0.4, 0.9
    states: tuple[int | None, ...] = (0, 1, 2, None) if removable else (0, 1, 2)
    data = list(itertools.product(states, repeat=2))
    place = {(each, k): 3 * i + k for i, each in enumerate(data) for k in range(3)}
    size = len(place)
    rows = []
    for x, y in itertools.permutations(data, 2):
        changed = [i for i in range(2) if x[i] != y[i]]
        if len(changed) != 1:
            continue
        i = changed[0]
        if removable and (x[i] is None) == (y[i] is None):
            continue
        for k in range(3):
            row = np.zeros(size + 1)
            row[place[x, k]], row[place[y, k]] = 1.0, -math.exp((first, second)[i])
            rows.append(row)
    for j in range(3):  # P(answer is not j) if everyone is in category j
        row = np.zeros(size + 1)
        row[[place[(j, j), k] for k in range(3) if k != j]] = 1.0
        row[-1] = -1.0
        rows.append(row)
    whole = np.zeros((len(data), size + 1))
    for (each, _), column in place.items():
        whole[data.index(each), column] = 1.0
    cost = np.zeros(size + 1)
    cost[-1] = 1.0
    found = linprog(cost, np.array(rows), np.zeros(len(rows)), whole, np.ones(len(data)))
    total = first + second
    bound = 2.0 / (math.exp(total) + 2.0)
    if removable:
        bound = max(2.0 / (math.exp(2 * total) + 2.0), math.exp(-total) * 2.0 / 3.0)
    assert found.status == 0
    assert bound <= found.fun * (1 + 1e-9)
    assert found.fun <= 1.2 * bound
    words: dict[str, Any] = {
        "statistic": "frequencies",
        "categories": 3,
        "about": "people",
        "related": True,
        "loss": "pac",
        "neighbours": "add-remove" if removable else "replace",
    }
    for factor, reach in ((0.999, 0.5), (1.001, 0.25)):
        error = theory.least_error([first, second], confidence=1.0 - factor * bound, **words)
        assert error == pytest.approx(reach)


def test_one_budget_has_the_variance_of_the_best_staircase() -> None:
    # Paper *add-remove*: rows 4 and 8 are from Table 1, rows 16 and 32 from equation (2).
    for epsilon, printed in ((4, 0.520), (8, 0.108), (16, 1.894e-3), (32, 1.752e-7)):
        sigma = theory.one_budget_error(epsilon, 10) * 10
        assert sigma**2 * epsilon**2 / 2 == pytest.approx(printed, rel=2e-3)
    assert theory.one_budget_error(1e-150, 10, bounds=(0, 2)) == pytest.approx(
        2 * math.sqrt(2) / 1e-150 / 10
    )
    assert theory.one_budget_error(math.inf, 10) == 0.0
    for each in (0.2, 1.0, 4.0):
        finite = theory.least_error({each: 2000}, about="people", related=True)
        assert finite <= theory.one_budget_error(each, 2000)


@pytest.mark.parametrize(
    "changes",
    [
        {"about": "x"},
        {"related": "x"},
        {"related": 1.5},
        {"loss": "x"},
        {"neighbours": "x"},
        {"confidence": 1.0},
        {"bounds": (1, 0)},
        {"bounds": None},
        {"statistic": "frequencies"},
        {"categories": 3},
        {"statistic": "frequencies", "categories": 3, "bounds": (0, 2)},
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ep.errors.ArgumentError):
        theory.least_error({1.0: 5}, **changes)


def test_bad_budgets_and_numbers_are_refused() -> None:
    for budgets in ({-1.0: 3}, {math.nan: 3}, {0.0: 3}):
        with pytest.raises(ep.errors.BudgetError):
            theory.least_error(budgets)
    with pytest.raises(ep.errors.DataError):
        theory.least_error([1.0])
    for epsilon, n in ((0.0, 5), (-1.0, 5), (math.nan, 5), (True, 5), (1.0, 1), (1.0, 2.5)):
        with pytest.raises(ep.errors.ArgumentError):
            theory.one_budget_error(epsilon, n)  # type: ignore[arg-type]
