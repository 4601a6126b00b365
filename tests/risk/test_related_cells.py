"""The risk of frequencies with related budgets agrees with grids of biases and simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from epsilons.risk import Weighing, cells
from epsilons.risk.cells import largest_square as square_of
from epsilons.risk.weighing import RELATED, SAMPLE, Assumption
from epsilons.types import Floats


def within(biases: Floats, scale: float, a: float) -> Floats:
    """Return P(all |c_j + L_j| ≤ a) for each row of biases c, with Laplace noise L."""
    law = stats.laplace(scale=scale)
    return np.prod(law.cdf(a - biases) - law.cdf(-a - biases), axis=1)


def mean_square(biases: Floats, scale: float) -> float:
    """Return E max_j (c_j + L_j)², by quadrature."""
    row, far = biases[None, :], float(np.abs(biases).max()) + 40.0 * scale
    inside = integrate.quad(
        lambda a: 2.0 * a * (1.0 - float(within(row, scale, a)[0])), 0.0, far, limit=400
    )
    return float(inside[0])


def biases_on_a_grid(k: int, apart: float, steps: int) -> Floats:
    """Return biases on a grid that sum to zero, with |c| ≤ `apart` each and Σ|c| ≤ 2."""
    axis = np.linspace(-apart, apart, 2 * steps + 1)
    found = np.array(list(itertools.product(axis, repeat=k - 1)))
    found = np.column_stack([found, -found.sum(axis=1)])
    allowed = np.abs(found[:, -1]) <= apart + 1e-12
    return found[allowed & (np.abs(found).sum(axis=1) <= 2.0 + 1e-12)]


STEPS = {0.9: 9, 0.75: 6, 0.6: 6, 0.5: 6, 0.4: 6, 0.05: 6}
"""The number of grid steps from 0 to each `apart`. If biases of size `apart` do not sum to exactly
1, one cell has the remainder, which must be a grid point too."""


FEW = [(k, apart, steps) for k in (2, 3, 4, 5) for apart, steps in STEPS.items()]


N = 30
BUDGETS = np.array([0.4, 2.0])


def estimator(generous: int) -> Weighing:
    """Return weights proportional to budgets, given the number of generous people."""
    counts = np.array([N - generous, generous])
    total = float(counts @ BUDGETS)
    return Weighing(BUDGETS / total, counts, 0.2 / total)


POPULATIONS = {  # the fraction of generous people; shares of strict and of generous people
    "apart": (0.5, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "near": (0.5, (0.5, 0.5, 0.0), (0.4, 0.6, 0.0)),
    "few": (0.1, (0.4, 0.3, 0.3), (0.3, 0.4, 0.3)),
    "many cells": (0.3, (0.3, 0.3, 0.2, 0.2), (0.2, 0.2, 0.3, 0.3)),
}


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("related", [True, 0.1])
def test_bounds_hold_in_populations_of_pairs(name: str, related: bool | float) -> None:
    """Bounds hold in 20,000 seeded samples.

    With an allowance of six standard errors, the false-alarm probability is below 1e-8.
    """
    part, strict, generous = POPULATIONS[name]
    if related is not True and name == "apart":
        return
    assumption = Assumption("population", related)
    k, runs, rng = len(strict), 20_000, np.random.default_rng(7)
    truth = (1.0 - part) * np.array(strict) + part * np.array(generous)
    drawn = rng.binomial(N, part, runs)
    lists = [estimator(g) for g in range(N + 1)]
    weights = np.array([each.weights for each in lists])[drawn]
    hits = rng.multinomial(N - drawn, strict) * weights[:, :1]
    hits = hits + rng.multinomial(drawn, generous) * weights[:, 1:]
    scales = np.array([each.scale for each in lists])[drawn]
    error = np.abs(hits + rng.laplace(0.0, scales[:, None], (runs, k)) - truth).max(axis=1)
    seen = np.unique(drawn)
    bound = np.zeros(N + 1)
    bound[seen] = [square_of(lists[g], assumption, k) for g in seen]
    excess = error**2 - bound[drawn]
    assert excess.mean() <= 6.0 * excess.std() / math.sqrt(runs)
    for beta in (0.5, 0.1, 0.01):
        limit = np.zeros(N + 1)
        limit[seen] = [cells.quantile(lists[g], assumption, k, 1.0 - beta) for g in seen]
        missed = int((error > limit[drawn]).sum())
        assert missed <= beta * runs + 6.0 * math.sqrt(beta * runs) + 6.0


def largest_square(k: int, apart: float) -> float:
    """Return the largest Σc² over possible biases on a grid."""
    return float(np.square(biases_on_a_grid(k, apart, 4)).sum(axis=1).max())


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("related", [True, 0.5, 0.25, 0.02])
@pytest.mark.parametrize("keep", [None, 0.4])
def test_the_squared_error_of_a_population_is_what_it_is_said_to_be(
    k: int, related: bool | float, keep: float | None
) -> None:
    """The squared error combines bias, sampling, sampling coins, and the largest of k noises."""
    counts, scale = np.array([200, 100]), 0.003
    made = Weighing(
        np.array([0.002, 0.006]), counts, scale, None if keep is None else np.full(2, keep)
    )
    people = np.repeat(made.weights, counts)
    bias = float(np.maximum(people - 1.0 / 300, 0.0).sum())
    # If errors sum to zero, the largest square is at most 1 − 1/k of the sum of squares.
    share = 1.0 - 1.0 / k
    plain = max(math.sqrt(share * (1.0 - 1.0 / m) / 300) for m in range(2, k + 1))
    part = bias + plain
    if related is not True:
        own = share * math.sqrt(float(people @ people))
        # At two equally likely budgets, the shares differ by δ in every cell.
        drawn = math.sqrt(share * min(k * related**2 / 4.0, share) / 300)
        far = bias * math.sqrt(share * largest_square(k, related))
        part = min(part, own + related * bias + drawn, math.hypot(own, far + drawn))
    if keep is not None:
        part += math.sqrt(float(people @ people) * (1.0 - keep) / keep)

    def density(m: float) -> float:
        return k * math.exp(-m) * (-math.expm1(-m)) ** (k - 1)

    expected = integrate.quad(lambda m: (part + scale * m) ** 2 * density(m), 0.0, 60.0)[0]
    found = square_of(made, Assumption("population", related), k)
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("keep", [None, 0.5])
@pytest.mark.parametrize("k", [2, 5, 30])
def test_a_little_related_is_between_not_and_in_any_way(k: int, keep: float | None) -> None:
    coins = None if keep is None else np.full(2, keep)
    made = Weighing(np.array([0.01, 0.03]), np.array([40, 20]), 0.01, coins)
    for about in ("people", "population"):
        asked = [Assumption(about, r) for r in (1e-9, 0.01, 0.2, 0.5, 0.9, 1.0 - 1e-9, True)]
        squares = [square_of(made, each, k) for each in asked]
        errors = [cells.quantile(made, each, k, 0.9) for each in asked]
        assert all(a <= b * (1.0 + 1e-9) for a, b in itertools.pairwise(squares))
        assert squares[-2] == pytest.approx(squares[-1], rel=1e-6)
        assert all(a <= b * (1.0 + 1e-9) for a, b in itertools.pairwise(errors[:-1]))
        # A population needs two simultaneous sampling bounds if `related` is a number, and only one
        # if it is True.
        more = 1.0 + 1e-6 if about == "people" else 1.15
        assert errors[-1] * (1.0 - 1e-9) <= errors[-2] <= errors[-1] * more
    assert square_of(made, Assumption("people", 5e-324), k) <= square_of(made, RELATED, k)
    little = Assumption("population", 1e-9)
    assert square_of(made, SAMPLE, k) <= square_of(made, little, k) * (1.0 + 1e-9)
    if keep is None:
        assert square_of(made, little, k) == pytest.approx(square_of(made, SAMPLE, k), rel=1e-6)
    assert square_of(made, RELATED, k) <= square_of(made, Assumption("population", True), k)
