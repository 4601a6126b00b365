"""Lower bounds for related budgets are below the error of every plan, and scale as documented."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons import theory

RELATED: list[dict[str, Any]] = [
    {"about": "people", "related": 0.05},
    {"about": "people", "related": 0.6},
    {"about": "population", "related": True},
    {"about": "population", "related": 0.05},
]
levels = st.one_of(st.sampled_from([0.0, math.inf]), st.floats(1e-4, 20.0))
profiles = st.dictionaries(levels, st.integers(1, 400), min_size=1, max_size=4).filter(
    lambda found: sum(found.values()) >= 2 and max(found) > 0.0
)


@given(profile=profiles, words=st.sampled_from(RELATED), cells=st.integers(2, 12))
@settings(max_examples=10, deadline=None)
def test_no_rule_for_frequencies_is_below(
    profile: dict[float, int], words: dict[str, Any], cells: int
) -> None:
    asked = {"statistic": "frequencies", "categories": cells, **words}
    forecasts = ep.plan(profile, **asked).forecasts
    assert theory.least_error(profile, **asked) <= min(each.rmse for each in forecasts)
    pac = theory.least_error(profile, loss="pac", **asked)
    assert pac <= min(each.pac for each in forecasts)


@pytest.mark.parametrize("loss", ["mse", "pac"])
@pytest.mark.parametrize("apart", [0.02, 0.3, 0.9])
def test_means_within_a_part_of_the_range_are_means_of_a_narrower_range(
    loss: str, apart: float
) -> None:
    """The assumption allows any data on a range of width δ.

    So the bound is that of such a range.
    """
    for budgets in ({0.05: 200, 1.0: 300}, {0.2: 3, 2.0: 4, math.inf: 1}):
        narrow = theory.least_error(budgets, bounds=(0, apart), related=True, loss=loss)
        found = theory.least_error(budgets, related=apart, loss=loss)
        assert found == pytest.approx(narrow, rel=1e-12)
        assert 0.0 < found < theory.least_error(budgets, related=True, loss=loss)


@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_a_population_may_always_be_one_in_which_budgets_tell_nothing(loss: str) -> None:
    budgets = {0.05: 200, 1.0: 300}
    words: dict[str, Any] = {"about": "population", "loss": loss}
    plain = theory.least_error(budgets, related=False, **words)
    assert plain > 0.0
    for related in (True, 0.05, 0.9):
        assert theory.least_error(budgets, related=related, **words) == plain


def test_what_is_assumed_if_nothing_is_said() -> None:
    budgets = {0.05: 200, 1.0: 300}
    for asked in ({}, {"loss": "pac"}, {"statistic": "frequencies", "categories": 3}):
        words: dict[str, Any] = dict(asked)
        default = theory.least_error(budgets, **words)
        assert default == theory.least_error(budgets, about="people", related=True, **words)
        assert default != theory.least_error(budgets, about="population", related=False, **words)
        assert default != theory.least_error(budgets, about="people", related=False, **words)


@pytest.mark.parametrize("loss", ["mse", "pac"])
@pytest.mark.parametrize("apart", [0.25, 0.5, 0.7])
def test_of_each_level_so_many_people_are_free_that_shares_stay_near(
    loss: str, apart: float
) -> None:
    """The lower bound for shares is the bound for free people, times their fraction of everyone.

    Free people can be in any category, and all others are in the first. At each level, so few
    people are free that shares at different budgets stay within δ.
    """
    people = {0.1: 41, 0.6: 83, 2.0: 30}
    free = {level: int(apart * count) for level, count in people.items()}
    for level, count in people.items():
        # The largest number of free people for which the shares of every category always stay
        # within δ.
        assert free[level] / count <= apart < (free[level] + 1) / count
    part = sum(free.values()) / sum(people.values())
    words: dict[str, Any] = {"statistic": "frequencies", "categories": 4, "loss": loss}
    alone = theory.least_error(free, related=True, **words)
    found = theory.least_error(people, related=apart, **words)
    assert found == pytest.approx(part * alone, rel=1e-12)
    assert found > 0.0


def test_shares_of_free_people_are_within_delta_of_one_another() -> None:
    """Shares at two levels differ by at most δ, whatever categories the free people choose."""
    people, apart = (5, 4), 0.5
    free = [int(apart * count) for count in people]
    for first in itertools.product(range(3), repeat=free[0]):
        for second in itertools.product(range(3), repeat=free[1]):
            shares = [
                np.bincount([*placed, *(0,) * (count - len(placed))], minlength=3) / count
                for placed, count in zip((first, second), people, strict=True)
            ]
            assert np.abs(shares[0] - shares[1]).max() <= apart


def test_too_few_free_people_say_nothing() -> None:
    words: dict[str, Any] = {"statistic": "frequencies", "categories": 2}
    assert theory.least_error({0.5: 19, 1.0: 19}, related=0.05, **words) == 0.0
    assert theory.least_error({0.5: 20, 1.0: 20}, related=0.05, **words) > 0.0
    # People at ε = 0 are free, but do not contribute to the bound.
    assert theory.least_error({0.0: 400, 1.0: 20}, related=0.05, **words) == 0.0
