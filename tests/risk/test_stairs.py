"""Risks with staircase noise agree with sums over the lattice and with draws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from epsilons import Seeded
from epsilons.draws.noise import Law, Staircase
from epsilons.risk import StairNoise, Weighing
from epsilons.risk.goals import MeanGoal
from epsilons.risk.tails import laplace as tails
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption

RATES = (Fraction(1, 50), Fraction(1, 9), Fraction(1, 4), Fraction(1), Fraction(4), Fraction(11))
BETAS = (0.9, 0.6, 0.5, 0.1, 0.05, 0.001)
SHIFTS = (0.0, 0.02, 0.3, 2.0)
STEPS = 60
UNIT = 0.05


def made(rate: Fraction, steps: int = STEPS) -> StairNoise:
    return StairNoise(Staircase.best(rate, steps), UNIT)


def masses(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return all lattice points whose probability matters, in units, and their probabilities."""
    shape = law.pieces
    most = shape.steps * (math.ceil(60 / shape.rate) + 2)
    points = np.arange(-most, most + 1)
    levels = (np.abs(points) + shape.steps - shape.inner) // shape.steps
    weights = np.exp(-float(shape.rate) * levels)
    return points / shape.steps, weights / weights.sum()


@pytest.mark.parametrize("rate", RATES)
def test_the_scale_is_that_of_laplace_noise_with_the_same_variance(rate: Fraction) -> None:
    stairs = made(rate)
    points, mass = masses(stairs.law)
    assert 2.0 * stairs.scale**2 == pytest.approx(float(mass @ points**2) * UNIT**2, rel=1e-9)


@pytest.mark.parametrize("rate", RATES)
def test_how_often_it_is_exceeded_is_a_sum_over_the_lattice(rate: Fraction) -> None:
    stairs = made(rate)
    points, mass = masses(stairs.law)
    for m in (-400, -61, -1, 0, 5, 30, 59, 60, 61, 200, 600):
        border = (m + 0.5) / STEPS  # halfway between lattice points, where both tails agree
        expected = float(mass[points > border].sum())
        assert stairs.exceeds(border * UNIT) == pytest.approx(expected, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("beta", BETAS)
def test_the_quantile_without_a_sum_is_exact(rate: Fraction, shift: float, beta: float) -> None:
    """The quantile α is exact: P(error > α) is β for this shift, and at most β for smaller ones."""
    stairs = made(rate, 2**30)
    alpha = stairs.deviation(shift, 0.0, beta)

    def misses(at: float, by: float) -> float:
        return stairs.exceeds(at - by) + stairs.exceeds(at + by)

    assert misses(alpha, shift) <= beta * (1.0 + 1e-9)
    assert misses(alpha * (1.0 - 1e-6), shift) > beta
    for smaller in np.linspace(0.0, shift, 7):
        assert misses(alpha, float(smaller)) <= beta * (1.0 + 1e-9)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("sigma", [0.003, 0.05, 0.4])
def test_the_tail_beside_a_sum_is_a_sum_over_the_lattice(rate: Fraction, sigma: float) -> None:
    stairs = made(rate, 400)
    points, mass = masses(stairs.law)
    for alpha in (0.01, 0.06, 0.2, 1.0):
        gap = np.maximum(alpha - points * UNIT, 0.0)
        expected = float(mass @ np.exp(-(gap**2) / (2.0 * sigma**2)))
        found = stairs.tail(alpha, sigma)
        assert found >= expected * (1.0 - 1e-9) - 1e-15
        # A lattice of 400 steps per unit changes the quantile by less than this tolerance. For
        # small rates, the code uses a looser bound.
        slack = UNIT if rate < Fraction(1, 8) else UNIT / 400
        if alpha <= slack:
            continue  # here the bound is 1
        gap = np.maximum(alpha - 2.0 * slack - points * UNIT, 0.0)
        above = float(mass @ np.exp(-(gap**2) / (2.0 * sigma**2)))
        assert found <= above * (1.0 + 1e-9) + 1e-12


@pytest.mark.parametrize("rate", [*RATES, Fraction(1, 1000), Fraction(30)])
def test_laplace_noise_is_never_more_than_one_unit_away(rate: Fraction) -> None:
    stairs = StairNoise(Staircase.best(rate, 2**30), 1.0)

    def laplace(at: float) -> float:
        return 0.5 * math.exp(-float(rate) * max(at, 0.0))

    for at in np.linspace(0.0, 40.0, 2001).tolist():
        assert laplace(at + 1.0) <= stairs.exceeds(at) * (1.0 + 1e-12)
        assert stairs.exceeds(at) <= laplace(at - 1.0) * (1.0 + 1e-12)


@pytest.mark.parametrize("beta", BETAS)
def test_both_ways_to_bound_a_tail_agree_where_they_meet(beta: float) -> None:
    below = made(Fraction(1, 8) - Fraction(1, 10**6), 2**30)
    above = made(Fraction(1, 8), 2**30)
    assert below.deviation(0.1, 0.01, beta) == pytest.approx(
        above.deviation(0.1, 0.01, beta), abs=1.01 * UNIT
    )
    assert below.deviation(0.1, 0.01, beta) >= above.deviation(0.1, 0.01, beta)


def test_fine_stairs_are_laplace_noise() -> None:
    stairs = StairNoise(Staircase.best(Fraction(1, 10**6), 2**30), 1e-7)
    for beta in (0.05, 0.5):
        mine = stairs.deviation(0.03, 0.0, beta)
        assert mine == pytest.approx(tails.laplace_quantile(0.03, 0.1, beta), rel=1e-4)
        mine = stairs.deviation(0.03, 0.1, beta)
        assert mine == pytest.approx(tails.deviation(0.03, 0.1, 0.1, beta), rel=1e-4)


def weighing(rate: Fraction, held: tuple[int, ...], counts: tuple[int, ...]) -> Weighing:
    together = float(np.dot(held, counts))
    stairs = StairNoise(Staircase.best(rate, 2**30), 1.0 / together)
    weights = np.array(held) / together
    return Weighing(weights, np.array(counts), stairs.scale, stairs=stairs)


CASES = [
    weighing(Fraction(2), (1, 2), (6, 5)),
    weighing(Fraction(4), (1,), (8,)),
    weighing(Fraction(1), (0, 1, 3), (3, 5, 7)),
    weighing(Fraction(1, 10), (1, 8), (4, 4)),
]


@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED])
def test_risks_are_as_simulated_on_the_worst_data(case: int, assumption: Assumption) -> None:
    """Risks agree with 20,000 draws on the worst-case data.

    There are 12 × 4 comparisons, each with false-alarm probability at most 10⁻⁸.
    """
    each, runs = CASES[case], 20_000
    assert each.stairs is not None
    rng = np.random.default_rng([case, [SAMPLE, UNRELATED, RELATED].index(assumption)])
    noise = each.stairs.law.draw(Seeded(case), runs).astype(np.float64)
    noise *= each.stairs.unit / each.stairs.law.pieces.steps
    counts, n = each.counts, each.n
    if assumption == SAMPLE:
        sums, truth = rng.binomial(counts, 0.5, (runs, len(counts))) @ each.weights, 0.5
    elif assumption == UNRELATED:
        ones = rng.multivariate_hypergeometric(counts, n // 2, size=runs)
        sums, truth = ones @ each.weights, (n // 2) / n
    else:
        heavy = each.weights > 1.0 / n
        sums = np.full(runs, float(counts[heavy] @ each.weights[heavy]))
        truth = float(counts[heavy].sum()) / n
    errors = sums + noise - truth
    squared = errors**2
    forecast = MeanGoal(assumption, "mse", 0.95).risk(each)
    assert abs(squared.mean() - forecast) <= 6.0 * squared.std() / math.sqrt(runs)
    for confidence in (0.5, 0.9, 0.99):
        bound = MeanGoal(assumption, "pac", confidence).risk(each)
        misses = int((np.abs(errors) > bound).sum())
        assert misses <= binom.isf(1e-9, runs, 1.0 - confidence)
        if assumption == RELATED:  # here the bound is exact
            assert misses >= binom.ppf(1e-9, runs, 1.0 - confidence)
    assert MeanGoal(assumption, "mse", 0.9).is_exact(each)
    assert MeanGoal(assumption, "pac", 0.9).is_exact(each) == (assumption == RELATED)
