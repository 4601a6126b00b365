"""The numbers of a plan, compared with formulas and searches that are reimplemented here."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

import epsilons as ep
from epsilons.risk.weighing import RELATED, SAMPLE, Assumption

PEOPLE = {0.01: 10, 0.1: 500, 1.0: 490}
WIDTH = 24.0


def rmse(
    levels: np.ndarray, counts: np.ndarray, spent: np.ndarray, assumption: Assumption
) -> float:
    """Return the root mean square error on the unit range if each level spends `spent`."""
    total = float(counts @ spent)
    if total <= 0.0:
        return math.inf
    weights, n = spent / total, counts.sum()
    data = counts @ weights**2 / 4.0
    if assumption == RELATED:
        data = (counts @ np.abs(weights - 1.0 / n) / 2.0) ** 2
    return math.sqrt(float(data) + 2.0 / total**2)


def best(people: dict[float, int], assumption: Assumption) -> float:
    """Return the least error over grids of caps.

    Each grid is centred on the best cap of the one before.
    """
    levels, counts = np.array(list(people)), np.array(list(people.values()))
    low, high, least = levels.min() / 2.0, levels.max(), math.inf
    for _ in range(4):
        caps = np.geomspace(low, high, 201)
        errors = [rmse(levels, counts, np.minimum(levels, cap), assumption) for cap in caps]
        at = int(np.argmin(errors))
        least = min(least, errors[at])
        low, high = caps[max(at - 1, 0)], caps[min(at + 1, 200)]
    return least


def threshold(people: dict[float, int], assumption: Assumption) -> float:
    levels, counts = np.array(list(people)), np.array(list(people.values()))
    return min(rmse(levels, counts, np.where(levels >= t, t, 0.0), assumption) for t in levels)


def uniform(people: dict[float, int], assumption: Assumption) -> float:
    levels, counts = np.array(list(people)), np.array(list(people.values()))
    return rmse(levels, counts, np.full(len(levels), levels.min()), assumption)


@pytest.mark.parametrize("assumption", [SAMPLE, RELATED])
def test_gains_and_errors(assumption: Assumption) -> None:
    plan = ep.plan(PEOPLE, bounds=(-4, -4 + WIDTH), **asdict(assumption))
    least, alone, alike = (f(PEOPLE, assumption) for f in (best, threshold, uniform))
    assert plan.best == "optimal"
    assert plan["optimal"].rmse == pytest.approx(WIDTH * least, rel=1e-4)
    assert plan["threshold"].rmse == pytest.approx(WIDTH * alone, rel=1e-9)
    assert plan["uniform"].rmse == pytest.approx(WIDTH * alike, rel=1e-9)
    assert plan.gains["threshold"] == pytest.approx(alone / least, rel=1e-4)
    assert plan.gains["uniform"] == pytest.approx(alike / least, rel=1e-4)
    for forecast in plan.forecasts:
        assert forecast.gain == pytest.approx(WIDTH * alike / forecast.rmse, rel=1e-9)
    gain = plan.verdict.gain
    assert gain is not None
    assert gain.over_single == plan.gains["threshold"]
    assert gain.over_strictest == plan.gains["uniform"]
    assert f"{alone / least:.2f} ×" in " ".join(str(plan).split())


CHANGES: list[tuple[str, dict[float, int]]] = [
    ("10 % more people, with budgets like these", {0.01: 11, 0.1: 550, 1.0: 539}),
    ("10 % fewer people", {0.01: 9, 0.1: 450, 1.0: 441}),
    ("10 % of the people go to ε = 0.01", {0.01: 109, 0.1: 450, 1.0: 441}),
    ("10 % of the people go to ε = 1", {0.01: 9, 0.1: 450, 1.0: 541}),
    ("ε = 0.01 were 0.015 instead", {0.015: 10, 0.1: 500, 1.0: 490}),
    ("ε = 0.1 were 0.15 instead", {0.01: 10, 0.15: 500, 1.0: 490}),
    ("ε = 1 were 1.5 instead", {0.01: 10, 0.1: 500, 1.5: 490}),
]


@pytest.mark.parametrize("assumption", [SAMPLE, RELATED])
def test_what_if(assumption: Assumption) -> None:
    found = ep.plan(PEOPLE, bounds=(0, WIDTH), **asdict(assumption)).sensitivity
    assert [change.change for change in found] == [words for words, _ in CHANGES]
    now = best(PEOPLE, assumption)
    for change, (_, people) in zip(found, CHANGES, strict=True):
        then = best(people, assumption)
        assert change.error == pytest.approx(WIDTH * then, rel=1e-4)
        assert change.ratio == pytest.approx(then / now, rel=1e-4)


@pytest.mark.parametrize("share", [0.9, 0.6])
def test_how_many_more(share: float) -> None:
    wanted = share * WIDTH * best(PEOPLE, SAMPLE)
    mix, *alone = ep.plan(PEOPLE, bounds=(0, WIDTH), **asdict(SAMPLE)).need(rmse=wanted)
    assert mix.epsilon is None
    assert mix.people is not None
    times = 1.0 + mix.people / sum(PEOPLE.values())
    for factor, reached in ((times, True), (0.98 * times, False)):
        then = {level: round(n * factor) for level, n in PEOPLE.items()}
        assert (WIDTH * best(then, SAMPLE) <= wanted * (1.0 + 2e-3)) == reached
    for need in alone:
        if need.people is None or need.epsilon is None:
            continue
        more = {level: n + need.people * (level == need.epsilon) for level, n in PEOPLE.items()}
        fewer = more | {need.epsilon: int(more[need.epsilon] - max(2, 0.003 * need.people))}
        assert WIDTH * best(more, SAMPLE) <= wanted * (1.0 + 1e-4)
        assert WIDTH * best(fewer, SAMPLE) > wanted * (1.0 - 1e-4)


SHARES = {"statistic": "frequencies", "categories": 4}


def test_the_curve_is_the_error_over_the_cap() -> None:
    curve = ep.plan(PEOPLE, bounds=(0, WIDTH), **asdict(SAMPLE)).to_dict()["curve"]
    levels, counts = np.array(list(PEOPLE)), np.array(list(PEOPLE.values()))
    for cap, error in zip(curve["cap"], curve["error"], strict=True):
        spent = np.minimum(levels, cap)
        assert error == pytest.approx(WIDTH * rmse(levels, counts, spent, SAMPLE), rel=1e-9)


def test_who_is_used_and_what_is_kept() -> None:
    plan = ep.plan(PEOPLE)
    assert plan["threshold"].used == pytest.approx(0.99)
    assert plan["optimal"].used == 1.0
    for forecast in plan.forecasts:
        for row in forecast.spent:
            assert row.people == PEOPLE[row.epsilon]
            assert row.spent <= row.epsilon * (1.0 + 1e-12)
            assert row.kept == pytest.approx(row.epsilon - row.spent, abs=1e-9)


def test_under_add_remove_the_gain_is_over_everyone_at_the_strictest() -> None:
    """Under add/remove, the gain is over a release in which everyone has the smallest ε.

    Then each of two sums has noise of scale 1/ε. In the worst case, all values are at one end of
    the range, and only one sum affects the mean.
    """
    people = {0.1: 5000, 1.0: 3000}
    plan = ep.plan(people, neighbours="add-remove", bounds=(0, WIDTH), **asdict(SAMPLE))
    n = sum(people.values())
    alike = WIDTH * math.sqrt(0.25 / n + 2.0 / (n * 0.1) ** 2)
    for forecast in plan.forecasts:
        assert forecast.gain == pytest.approx(alike / forecast.rmse, rel=1e-3)
