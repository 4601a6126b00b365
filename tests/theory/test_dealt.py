"""Brute force confirms every step of the bound for values 0 and 1 that are assigned at random."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy.special import gammaln

import epsilons as ep
from epsilons.theory.worlds import SortedPeople, _error, _told_by_one, dealt_square, people_of
from epsilons.types import Floats
from tests.theory.programs import SMALL, minimax

DATA = list(itertools.product((0, 1), repeat=4))
ONES = np.array([sum(x) for x in DATA])


def private_table(rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the distribution of a release for all data of four people, and everyone's loss."""
    pulls = rng.choice([-1.0, 1.0], size=(5, 4)) * rng.exponential(0.7, 4)
    table = np.exp([[float(row @ np.array(x)) for row in pulls] for x in DATA])
    table *= rng.random(5) + 0.1
    table /= table.sum(axis=1, keepdims=True)
    place = {x: i for i, x in enumerate(DATA)}
    losses = [
        max(
            float(np.abs(np.log(table[place[x]] / table[place[(*x[:i], 1, *x[i + 1 :])]])).max())
            for x in DATA
            if x[i] == 0
        )
        for i in range(4)
    ]
    return table, np.array(losses)


def laws(table: Floats) -> Floats:
    """Return the distribution of the release for each number of randomly assigned ones."""
    return np.array([table[j == ONES].mean(axis=0) for j in range(5)])


def apart(joint: Floats) -> float:
    """Return Σ(√f(m + 1) − √f(m))², where f is 0 outside its support."""
    roots = np.sqrt(np.pad(joint, ((1, 1), (0, 0))))
    return float(np.square(np.diff(roots, axis=0)).sum())


def bayes(joint: Floats) -> float:
    """Return the smallest mean squared error of an estimate of the number of ones."""
    number = np.arange(len(joint))[:, None]
    mean = (number * joint).sum(axis=0) / joint.sum(axis=0)
    return float((joint * (number - mean) ** 2).sum())


def test_numbers_that_are_near_cannot_be_told() -> None:
    """The smallest mean squared error is at least (1/H − 1)/4, where H is the result of `apart`."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        prior = rng.dirichlet(np.full(5, rng.choice([0.3, 1.0, 10.0])))
        joint = prior[:, None] * laws(private_table(rng)[0])
        assert float(_error(np.array(apart(joint)))) <= bayes(joint) + 1e-12
    wide = np.zeros((400, 1))  # for a wide prior, the bound is nearly attained
    wide[:, 0] = np.sin(math.pi * np.arange(1, 401) / 401) ** 2 / 200.5
    assert float(_error(np.array(apart(wide)))) >= 0.7 * bayes(wide)


def test_what_is_told_by_one_change_is_bounded() -> None:
    """If one value changes, the distribution of the release changes by at most the bound.

    Values are fair coins, or have a fixed sum.
    """
    rng = np.random.default_rng(2)
    for _ in range(200):
        table, losses = private_table(rng)
        found = laws(table)
        steps = np.square(np.sqrt(found[1:]) - np.sqrt(found[:-1])).sum(axis=1)
        told = partial(
            _told_by_one, SortedPeople(np.sort(losses), np.ones(4, np.int64)), np.array([4])
        )
        coins = np.array([math.comb(4, j) for j in range(5)]) / 16.0
        exact = float(np.sqrt(coins[1:] * coins[:-1]) @ steps)
        assert exact <= float(told(np.array([3.0 / 5.0]))[0]) + 1e-12
        # If there is a single 1, three people can change to 1. If there are two, two people can.
        for ones in (1, 2):
            assert steps[ones] <= float(told(np.array([1.0 / (4 - ones)]))[0]) + 1e-12


@pytest.mark.parametrize("zeros", [1, 2, 3])
@pytest.mark.parametrize("budgets", [(0.0,) * 19 + (6.0,), (0.1, 0.2, 0.5, 1.0, 3.0), (0.7,) * 6])
def test_those_who_may_change_are_a_random_few(budgets: tuple[float, ...], zeros: int) -> None:
    """The bound is at least (√b − 1)(1 − √a), averaged over all sets of people who can change.

    For a set of people, a is the mean of e^{−ε}, and b is the mean of e^ε.
    """
    exact = np.mean(
        [
            (math.sqrt(np.mean(np.exp(few))) - 1.0) * (1.0 - math.sqrt(np.mean(np.exp(-few))))
            for few in map(np.array, itertools.combinations(budgets, zeros))
        ]
    )
    told = partial(_told_by_one, people_of(ep.Budgets(np.array(budgets))), np.array([len(budgets)]))
    assert exact <= float(told(np.array([1.0 / zeros]))[0])


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 2.0])
def test_randomized_response_tells_as_much_as_is_allowed(epsilon: float) -> None:
    """Randomized response on the majority nearly attains the bound if there are many people."""
    told = partial(
        _told_by_one, SortedPeople(np.array([epsilon]), np.array([10**6])), np.array([10**6])
    )
    found = float(told(np.array([2e-6]))[0])
    exact = 2.0 - 2.0 / math.cosh(0.5 * epsilon)
    assert exact <= found <= 1.01 * math.cosh(0.5 * epsilon) * exact


@pytest.mark.parametrize("k", [1, 2, 5, 40, 1000])
def test_priors_are_as_near_as_said(k: int) -> None:
    j = np.arange(k + 1.0)
    coins = np.exp(gammaln(k + 1.0) - gammaln(j + 1) - gammaln(k - j + 1) - k * math.log(2.0))
    exact = apart(coins[:, None])
    assert exact <= 1.0 / (k + 1) + 3.0 / (k + 1) ** 2
    if k >= 40:
        assert exact >= 0.97 / (k + 1)
    cosine = np.cos(0.5 * math.pi * np.arange(-k, k + 1) / (k + 1)) ** 2
    assert cosine.sum() == pytest.approx(k + 1)
    exact = apart(cosine[:, None] / (k + 1))
    assert exact == pytest.approx(4.0 * math.sin(0.25 * math.pi / (k + 1)) ** 2)
    # The mean of 1/(number of zeros), weighted by √(P(j)·P(j + 1)) for j ones.
    zeros = np.sqrt(coins[1:] * coins[:-1]) @ (1.0 / np.arange(k, 0.0, -1.0))
    assert float(zeros) <= 3.0 / (k + 1)


@pytest.mark.parametrize("budgets", SMALL, ids=str)
def test_it_is_below_the_true_minimax_risk(budgets: tuple[float, ...]) -> None:
    assert dealt_square(people_of(ep.Budgets(budgets))) <= minimax(
        budgets, about="people", related=False
    )


@pytest.mark.parametrize(
    ("people", "part"),
    [
        ({0.1: 10_000}, 0.7),
        ({1.0: 10_000}, 0.6),
        ({0.1: 5000, 1.0: 5000}, 0.7),
        ({0.1: 500, 1.0: 500}, 0.69),
        ({0.01: 50_000, 1.0: 50_000}, 0.69),
        ({0.1: 10_000, 1.0: 90_000}, 0.7),
        ({0.1: 50, 1.0: 50}, 0.65),
    ],
    ids=str,
)
def test_it_is_most_of_the_best_plan(people: dict[float, int], part: float) -> None:
    """The lower bound is not far below the error of the best method in a plan.

    The root mean square error of Laplace noise is √2 times the bound from its Fisher information.
    So the ratio is 1/√2 if noise dominates.
    """
    least = ep.theory.least_error(people, about="people", related=False)
    best = math.sqrt(ep.allocate(people, about="people", related=False).risk)
    assert part * best <= least <= best


def test_public_people_and_silent_ones_have_a_bound() -> None:
    assert dealt_square(people_of(ep.Budgets({1.0: 5, math.inf: 5}))) >= 0.0
    assert dealt_square(people_of(ep.Budgets({0.0: 500, math.inf: 500}))) == pytest.approx(
        0.25 * 500 / 1000**2, rel=0.06
    )  # for half of the people, values are unknown coin tosses
