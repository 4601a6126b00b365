"""Each part of the bounds for means agrees with its definition and with brute force."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import theory
from epsilons.theory.worlds import (
    MEAN_ABSOLUTE,
    MEAN_SQUARE,
    SortedPeople,
    best_split,
    central_square,
    chain_reach,
    chain_square,
    log_affinity,
    log_sums_of,
    people_of,
    shuffled_reach,
    shuffled_square,
    sizes,
    sums_of,
)


def test_affinity_is_the_definition_person_by_person() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        eps = np.sort(rng.exponential(1.0, 5))
        people = SortedPeople(eps, np.ones(5, np.int64))
        differ, reveal = float(rng.random()), float(rng.exponential(0.3))
        best = -math.inf
        for k in range(6):
            cosh = 0.0
            for flips in itertools.product((0, 1), repeat=k):
                odds = math.prod(differ if f else 1.0 - differ for f in flips)
                cosh += odds * math.cosh(sum(f * e for f, e in zip(flips, eps[:k], strict=True)))
            best = max(best, math.log(2.0 / (1.0 + cosh)) - reveal * (5 - k))
        assert log_affinity(people, differ, reveal) == pytest.approx(best)


def test_splits_are_the_best_of_all() -> None:
    rng = np.random.default_rng(5)
    for _ in range(30):
        people = SortedPeople(np.sort(rng.exponential(1.0, 4)), rng.integers(1, 60, 4))
        each = np.repeat(people.levels, people.counts)
        n = people.n
        spent = np.concatenate([[0.0], np.cumsum(each)])
        chain = [(k / (2 * n) / math.cosh(spent[k] / 2)) ** 2 for k in range(n + 1)]
        assert chain_square(people, replaced=True) == pytest.approx(max(chain))
        removed = []
        for k in range(n + 1):
            b = math.exp(-spent[k])
            alike = b * (2 / math.cosh(spent[k]) + 1 - b) / (1 + b)
            removed.append((k / (2 * n)) ** 2 * alike)
        assert chain_square(people, replaced=False) == pytest.approx(max(removed), rel=1e-3)
        worth = float(rng.exponential(5.0))
        assert chain_reach(people, worth) == max(k for k in range(n + 1) if spent[k] < worth)
        some = sizes(n)
        assert sums_of(people, people.levels, some) == pytest.approx(spent[some])
        by_hand = [math.log(np.exp(each[:k]).sum()) for k in some.tolist()]
        assert log_sums_of(people, people.levels, some) == pytest.approx(by_hand)

        def concave(k: Any, s: Any, worth: float = worth) -> Any:
            return -((s - worth) ** 2)

        whole = max(float(concave(k, spent[k])) for k in range(n + 1))
        assert best_split(people, (people.levels,), concave) == pytest.approx(whole)


def test_two_laws_within_reach_of_a_third_are_that_much_alike() -> None:
    """The bound is the smallest mean of 2pq/(p + q) under a third law.

    Here p and q are densities relative to that law, with values in {b, 1/b}.
    """
    for spent in (0.1, 0.7, 2.0):
        b = math.exp(-spent)
        rare = b / (1 + b)
        people = SortedPeople(np.array([spent]), np.array([1]))
        bound = 4.0 * chain_square(people, replaced=False)
        values = []
        for both in np.linspace(0.0, rare, 50).tolist():
            masses = {(1 / b, 1 / b): both, (1 / b, b): rare - both, (b, 1 / b): rare - both}
            masses[b, b] = 1.0 - sum(masses.values())
            values.append(sum(m * 2 * p * q / (p + q) for (p, q), m in masses.items()))
        assert min(values) == pytest.approx(bound)


def test_very_many_levels_are_joined_upwards() -> None:
    rng = np.random.default_rng(8)
    each = np.concatenate([np.exp(rng.uniform(-3, 3, 20_000)), [0.0, 0.0, math.inf]])
    joined = people_of(ep.Budgets(each))
    assert joined.n == len(each)
    assert len(joined.levels) < 2000
    moved = np.repeat(joined.levels, joined.counts)[2:-1] / np.sort(each)[2:-1]
    assert np.all((moved >= 1.0) & (moved <= math.exp(1 / 256)))
    assert joined.levels[0] == 0.0
    assert joined.levels[-1] == math.inf
    whole = SortedPeople(np.sort(each)[1:], np.concatenate([[2], np.ones(len(each) - 2, np.int64)]))
    exact = central_square(whole)
    assert exact * (1 - 5e-3) <= central_square(joined) <= exact * (1 + 1e-6)


def test_constants_of_the_prior() -> None:
    u = (np.arange(10**5) + 0.5) / 10**5
    density = np.cos(np.pi * u / 2) ** 2
    density /= density.sum()
    assert pytest.approx(float(density @ u), rel=1e-8) == MEAN_ABSOLUTE
    assert pytest.approx(float(density @ u**2), rel=1e-8) == MEAN_SQUARE


def test_information_is_not_below_that_of_private_tables() -> None:
    """The Fisher information of random private tables about p is at most the bound."""
    rng = np.random.default_rng(6)
    data = list(itertools.product((0, 1), repeat=3))
    for _ in range(60):
        eps = rng.exponential(1.0, 3)
        signs = rng.choice([-0.5, 0.5], size=(4, 3))
        table = np.exp([[float(s @ (eps * x)) for s in signs] for x in data])
        table *= rng.random(4) + 0.1
        table /= table.sum(axis=1, keepdims=True)
        worst = [
            max(
                abs(math.log(table[data.index(x), t] / table[data.index(y), t]))
                for t in range(4)
                for x in data
                if x[i] == 0
                for y in [(*x[:i], 1, *x[i + 1 :])]
            )
            for i in range(3)
        ]
        r = float(rng.uniform(0.05, 0.45))
        pulls = np.tanh(np.array(worst) / 2)
        allowed = float(np.sum(2 * pulls / (1 - 2 * r * pulls))) ** 2
        for p in np.linspace(0.5 - r, 0.5 + r, 9).tolist():
            weight = np.array([math.prod(p if b else 1 - p for b in x) for x in data])
            slope = weight * np.array([sum((b - p) / (p * (1 - p)) for b in x) for x in data])
            assert float(np.sum((slope @ table) ** 2 / (weight @ table))) <= allowed * (1 + 1e-9)


def test_information_is_what_counts_for_many() -> None:
    """With many people, the lower bound is nearly the variance of the best affine estimator."""
    people = {0.001: 10**6, 2.0: 10**6}
    many = theory.least_error(people, about="population", related=False)
    best = math.sqrt(ep.allocate(people, about="population", related=False).risk)
    assert 0.9 * best < many <= best
    half = ep.Budgets({0.5: 10**5, math.inf: 10**5})
    unrelated = theory.least_error(half, about="people", related=False)
    assert unrelated <= math.sqrt(ep.allocate(half, about="people", related=False).risk)


def test_random_subsets_are_bounded_from_below() -> None:
    """E[c/(e^S + c)] is at least the bound that the search uses.

    S is the sum of ε over a random subset of d people.
    """
    rng = np.random.default_rng(7)
    for _ in range(20):
        eps = np.sort(rng.exponential(1.0, 7))
        people = SortedPeople(eps, np.ones(7, np.int64))
        cells, beta = int(rng.integers(2, 9)), float(rng.uniform(0.02, 0.4))
        for replaced in (True, False):
            d = shuffled_reach(people, cells, beta, replaced=replaced)
            if d == 0:
                continue
            sums = np.array([sum(s) for s in itertools.combinations(eps.tolist(), d)])
            c = cells - 1
            exact = (
                np.mean(c / (np.exp(sums) + c)) if replaced else np.mean(np.exp(-sums)) * c / cells
            )
            assert exact > beta
        square = max(
            (d / 14) ** 2
            * float(np.mean([math.cosh(sum(s) / 2) ** -2 for s in itertools.combinations(eps, d)]))
            for d in range(1, 8)
        )
        assert 0.2 * square <= shuffled_square(people) <= square
