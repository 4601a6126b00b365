"""A guess of the spread: the error of data that have it, beside such data themselves."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import epsilons as ep
from epsilons import risk
from epsilons.allocation import best_cap
from epsilons.allocation.caps import capped
from epsilons.allocation.rule import Effective, weighing_of
from epsilons.errors import ArgumentError
from epsilons.risk import Weighing
from epsilons.risk.assumptions import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.risk.goals import MeanGoal
from epsilons.types import Floats

ANSWERS = [
    Assumption(about, related)
    for about in ("people", "population")
    for related in (True, 0.05, False)
]
NOISE = 0.03


def estimator(n: int, seed: int) -> Weighing:
    weights = np.random.default_rng(seed).random(n)
    return Weighing(weights / weights.sum(), np.ones(n, dtype=np.int64), NOISE)


def values(n: int, spread: float, seed: int) -> Floats:
    """Values with exactly this standard deviation, around the middle."""
    drawn = np.random.default_rng(seed).normal(size=n)
    drawn -= drawn.mean()
    return 0.5 + spread * drawn / math.sqrt(float(drawn @ drawn) / n)


@pytest.mark.parametrize("spread", [0.02, 0.1])
@pytest.mark.parametrize("n", [3, 6])
def test_people_whose_budgets_are_shuffled(n: int, spread: float) -> None:
    one, data = estimator(n, 1), values(n, spread, 2)
    orders = np.array(list(itertools.permutations(range(n))))
    off = data[orders] @ one.weights - data.mean()
    found = float(risk.mse(one, UNRELATED, spread))
    assert found == pytest.approx(np.mean(off**2) + 2 * NOISE**2)


@pytest.mark.parametrize("spread", [0.02, 0.1, 0.3])
def test_a_sample(spread: float) -> None:
    """Two points of this deviation, every sample of four of them."""
    one = estimator(4, 3)
    points = np.array([0.5 - spread, 0.5 + spread])
    samples = points[np.array(list(itertools.product((0, 1), repeat=4)))]
    found = float(risk.mse(one, SAMPLE, spread))
    assert found == pytest.approx(np.mean((samples @ one.weights - 0.5) ** 2) + 2 * NOISE**2)


def test_people_whose_budgets_tell_everything() -> None:
    """Values along the weights are as far off as values of their deviation can be."""
    one = estimator(50, 4)
    along = one.weights - one.weights.mean()
    data = 0.5 + 0.05 * along / math.sqrt(float(along @ along) / 50)
    assert data.min() > 0.0
    assert data.max() < 1.0
    far = float(one.weights @ data - data.mean())
    assert float(risk.mse(one, RELATED, 0.05)) == pytest.approx(far**2 + 2 * NOISE**2)


@pytest.mark.parametrize("assumption", ANSWERS, ids=str)
def test_no_data_of_the_spread_do_worse(assumption: Assumption) -> None:
    """Random data with levels: the bias and the variance of what is left to chance."""
    rng = np.random.default_rng(5)
    counts = np.array([4, 6, 5], dtype=np.int64)
    for _ in range(200):
        weights = rng.random(3)
        weights /= float(weights @ counts)
        one = Weighing(weights, counts, 0.0)
        data = rng.random(15) ** rng.integers(1, 4)
        means = [part.mean() for part in np.split(data, np.cumsum(counts)[:-1])]
        if assumption.apart < max(means) - min(means) and assumption.related is not False:
            continue
        bound = float(risk.mse(one, assumption, float(data.std())))
        if assumption.related is False:  # what chance leaves is tested above
            continue
        bias = float(np.repeat(weights, counts) @ data - data.mean())
        assert bias**2 <= bound * (1.0 + 1e-9)


@pytest.mark.parametrize("assumption", ANSWERS, ids=str)
def test_a_smaller_spread_is_never_worse(assumption: Assumption) -> None:
    one = estimator(40, 6)
    for quantity in (
        lambda spread: float(risk.mse(one, assumption, spread)),
        lambda spread: risk.quantile(one, assumption, 0.95, spread=spread),
    ):
        errors = [quantity(spread) for spread in (0.01, 0.05, 0.2, 0.4999)]
        assert errors == sorted(errors)
    # A half is the worst case itself, or a little above what is known of it.
    near, worst = float(risk.mse(one, assumption, 0.4999)), float(risk.mse(one, assumption))
    assert worst <= near * 1.001 or near == pytest.approx(worst, rel=0.05)


@pytest.mark.parametrize("loss", ["mse", "pac"])
@pytest.mark.parametrize("assumption", ANSWERS, ids=str)
def test_the_cap_is_the_best_for_such_data(assumption: Assumption, loss: str) -> None:
    budgets = ep.Budgets({0.05: 300, 0.3: 500, 1.0: 150, 4.0: 50})
    goal = MeanGoal(assumption, loss, 0.95, 0.08)

    def error(cap: float) -> float:
        return goal.risk(weighing_of(budgets, Effective(capped(budgets, cap))))

    found = error(best_cap(budgets, goal, 1))
    least = min(error(cap) for cap in np.geomspace(0.05, 4.0, 400).tolist())
    assert found <= least * (1.0 + 1e-6)
    assert replace(goal, spread=0.5) == goal.worst


def test_what_is_claimed_does_not_depend_on_it() -> None:
    """The same cap gives the same risk and interval, however it was found."""
    people = {0.1: 500, 1.0: 500}
    guessed = ep.allocate(people, related=False, spread=0.1)
    assert guessed.risk == float(risk.mse(guessed.weighing, UNRELATED))
    assert guessed.aimed == float(risk.mse(guessed.weighing, UNRELATED, 0.1))
    assert guessed.aimed < guessed.risk
    plain = ep.allocate(people, related=False)
    assert plain.aimed == plain.risk < guessed.risk
    assert float(risk.mse(plain.weighing, UNRELATED, 0.1)) > guessed.aimed


def test_gains_on_ten_thousand_people() -> None:
    """How many times smaller the squared error is, half at 0.1 and half at 1, beside none."""
    people = {0.1: 5000, 1.0: 5000}
    plain = ep.allocate(people, related=False).weighing
    gains = []
    for spread in (0.05, 0.1, 0.2):
        guessed = ep.allocate(people, related=False, spread=spread)
        gains.append(float(risk.mse(plain, UNRELATED, spread)) / guessed.aimed)
    assert np.round(gains, 1).tolist() == [7.3, 2.6, 1.3]


@pytest.mark.parametrize("spread", [0, 0.6, -0.1, 1, True, "0.1", math.nan, 1e-7])
def test_other_spreads_are_refused(spread: object) -> None:
    with pytest.raises(ArgumentError, match=r"spread=.* is invalid"):
        ep.allocate({0.1: 5, 1.0: 5}, spread=spread)  # type: ignore[arg-type]


def test_categories_have_none() -> None:
    with pytest.raises(ArgumentError, match="spread is for a mean"):
        ep.allocate({0.1: 5, 1.0: 5}, statistic="frequencies", categories=3, spread=0.1)
    with pytest.raises(ArgumentError, match="spread is for a mean"):
        ep.plan({0.1: 5, 1.0: 5}, statistic="frequencies", categories=3, spread=0.1)
