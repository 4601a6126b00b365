"""Under add/remove, declaring more never makes errors larger, and plans agree with releases."""

from __future__ import annotations

import math
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.mechanisms.composed import Composed
from epsilons.questions.steps.designs import Design
from epsilons.results.release import Release
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests.questions.add_remove_cases import behind

ASSUMED = [SAMPLE, UNRELATED, RELATED]
PEOPLE: dict[str, dict[float, int]] = {
    "one level": {0.1: 4000},
    "nobody above": {0.1: 4000, 1.0: 0},
    "nobody below": {0.1: 0, 1.0: 4000},
    "two levels": {0.1: 2000, 1.0: 2000},
    "near": {0.9: 3000, 1.0: 3000},
    "few strict": {0.01: 10, 1.0: 4000},
    "public": {0.05: 500, 0.5: 1000, math.inf: 40},
}


def rows(people: dict[float, int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    epsilon = np.repeat(np.array(list(people)), list(people.values()))
    return 60.0 * np.random.default_rng(len(epsilon)).beta(2.0, 5.0, len(epsilon)), epsilon


def mean_of(people: dict[float, int], seed: int = 3, **words: Any) -> Release:
    values, epsilon = rows(people)
    given: dict[str, Any] = {
        "epsilon": epsilon,
        "bounds": (0, 60),
        "source": ep.Seeded(seed),
    } | words
    return ep.mean(values, neighbours="add-remove", **given)


def cells_of(people: dict[float, int], seed: int = 3, **words: Any) -> Release:
    values, epsilon = rows(people)
    given: dict[str, Any] = {
        "epsilon": epsilon,
        "edges": [0, 15, 30, 60],
        "source": ep.Seeded(seed),
    } | words
    return ep.frequencies(values, neighbours="add-remove", **given)


RELEASES: dict[str, Any] = {"mean": mean_of, "frequencies": cells_of}


def width(release: Any) -> float:
    low, high = release.interval()
    return float(np.max(np.asarray(high) - np.asarray(low)))


def drawn(release: Any) -> list[float]:
    return np.asarray(behind(release).drawn).tolist()


@pytest.mark.parametrize("statistic", RELEASES)
@pytest.mark.parametrize("assumption", ASSUMED)
def test_one_level_is_one_level_however_it_is_declared(
    statistic: str, assumption: Assumption
) -> None:
    make = RELEASES[statistic]
    people = PEOPLE["one level"]
    declared: list[dict[str, Any]] = [
        {"epsilon": 0.1},
        {"levels": [0.1]},
        {"levels": people},
        {"levels": [0.1], "cap": 0.1},
        {"levels": {0.1: 4000, 0.0: 3}},
    ]
    found = [make(people, **asdict(assumption), **facts) for facts in declared]
    first = found[0]
    assert width(first) < 0.2 * (60.0 if statistic == "mean" else 1.0)
    for each in found[1:]:
        assert drawn(each) == drawn(first)
        assert [each.n, each.risk, width(each)] == [first.n, first.risk, width(first)]
        # Sides are the results under other assumptions. They include the error of n.
        assert each.sides == first.sides
        assert each.spent(0.1) == first.spent(0.1) == pytest.approx(0.1)
        assert not isinstance(each.mechanism, Composed)


EQUAL: dict[str, tuple[dict[float, int], dict[str, Any]]] = {
    "a cap at the lowest": (PEOPLE["two levels"], {"levels": [0.1, 1.0], "cap": 0.1}),
    "a cap below the lowest": (PEOPLE["two levels"], {"levels": [0.1, 1.0], "cap": 0.05}),
    "and a guess": (PEOPLE["two levels"], {"levels": PEOPLE["two levels"], "cap": 0.1}),
    "nobody above": (PEOPLE["nobody above"], {"levels": PEOPLE["nobody above"]}),
    "everybody is public": ({math.inf: 500}, {"levels": [math.inf]}),
}


@pytest.mark.parametrize("statistic", RELEASES)
@pytest.mark.parametrize("case", EQUAL)
def test_equal_weights_need_no_count(case: str, statistic: str) -> None:
    people, facts = EQUAL[case]
    release = RELEASES[statistic](people, about="people", related=True, **facts)
    assert behind(release).equal
    assert behind(release).counted is None
    assert not isinstance(release.mechanism, Composed)
    assert width(release) < 0.1 * (60.0 if statistic == "mean" else 1.0)
    unrelated = RELEASES[statistic](people, about="people", related=False, **facts)
    assert width(unrelated) == pytest.approx(width(release))
    assert release.n == pytest.approx(sum(people.values()), abs=2000)


def test_weights_are_not_equal_where_some_have_none() -> None:
    """With large staircase steps, the lowest level has weight 0, so its values are ignored."""
    people = {0.01: 500, 2.0: 500}
    release = mean_of(people, levels=[0.01, 2.0], about="people", related=True, method="hourglass")
    assert not behind(release).equal
    assert width(release) > 20.0
    for weights, equal in (([0, 5], False), ([4, 5], False), ([0, 0], False), ([5, 5], True)):
        mechanism: Any = SimpleNamespace(weights=np.array(weights))
        nothing: Any = None
        assert Design("any", mechanism, nothing, nothing).equal is equal


def test_a_cap_bounds_all_that_is_spent_also_where_people_are_counted() -> None:
    people = PEOPLE["two levels"]
    for make in RELEASES.values():
        for cap in (0.3, 0.5, 1.5):
            release = make(people, about="people", related=True, levels=[0.1, 1.0], cap=cap)
            verdict = ep.verify.exact(release.mechanism)
            assert isinstance(release.mechanism, Composed)
            assert verdict.holds
            assert max(verdict.losses) <= cap
            least = 0.1 if behind(release).equal else 0.9 * min(cap, 1.0)
            assert max(verdict.losses) > least
