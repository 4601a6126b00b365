"""The risk of a mean with related budgets agrees with linear programs and enumeration.

All people at one budget level have the same weight. Tests enumerate every sample of every
population of pairs (value, budget) on a grid. A linear program finds the worst-case means of
levels.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from epsilons import risk
from epsilons.risk import Weighing
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats

DELTAS = (0.01, 0.05, 0.3, 0.7, 0.95)
SEEDS = range(8)


def weighing(seed: int, levels: int = 4, total: float | None = None) -> Weighing:
    """Return a random estimator. For every other seed, its weights sum to one."""
    rng = np.random.default_rng([seed, levels])
    counts = rng.integers(1, 6, levels)
    weights = np.sort(rng.exponential(size=levels))
    if total is None:
        total = 1.0 if seed % 2 else float(rng.uniform(0.3, 1.2))
    weights *= total / float(counts @ weights)
    return Weighing(weights, counts, float(rng.choice([0.02, 0.1])))


def worst_bias(made: Weighing, apart: float) -> float:
    """Return the largest error without noise, by linear programming.

    The means of all levels lie in a window of width `apart`.
    """
    levels = len(made.counts)
    lean = made.counts * made.weights - made.counts / made.n
    middle = 0.5 * (1.0 - made.total)
    rows, limits = [], []
    for level in range(levels):
        row = np.zeros(levels + 1)
        row[level], row[-1] = 1.0, -1.0  # mean − start ≤ apart, start − mean ≤ 0
        rows += [row, -row]
        limits += [apart, 0.0]
    found = []
    for sign in (1.0, -1.0):
        answer = optimize.linprog(
            -sign * np.append(lean, 0.0), np.array(rows), limits, bounds=[(0, 1)] * (levels + 1)
        )
        assert answer.status == 0
        found.append(-answer.fun + sign * middle)
    return max(found)


@pytest.mark.parametrize("apart", DELTAS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_worst_means_of_levels_are_those_of_a_linear_program(seed: int, apart: float) -> None:
    made, assumption = weighing(seed), Assumption("people", apart)
    bias = worst_bias(made, apart)
    assert float(risk.mse(made, assumption)) == pytest.approx(bias**2 + 2.0 * made.scale**2)
    law = stats.laplace(scale=made.scale)
    for confidence in (0.5, 0.9, 0.999):
        alpha = risk.quantile(made, assumption, confidence)
        missed = law.sf(alpha - bias) + law.cdf(-alpha - bias)
        assert missed == pytest.approx(1.0 - confidence, rel=1e-7)
    assert MeanGoal(assumption, "mse", 0.9).is_exact(made)
    assert MeanGoal(assumption, "pac", 0.9).is_exact(made)


@pytest.mark.parametrize("total", [1.0, 0.6, 1.2])
@pytest.mark.parametrize("apart", [0.25, 0.5, 0.75])
def test_no_people_whose_levels_are_near_one_another_do_worse(apart: float, total: float) -> None:
    """The bound on the bias is the largest error over all values of six people.

    Values are multiples of ¼, and the means of levels are near one another, as assumed.
    """
    made = Weighing(np.array([0.05, 0.1, 0.2]) * total / 0.7, np.array([2, 2, 2]), 0.0)
    data = np.array(list(itertools.product((0.0, 0.25, 0.5, 0.75, 1.0), repeat=6)))
    means = data.reshape(-1, 3, 2).mean(axis=2)
    allowed = data[means.max(axis=1) - means.min(axis=1) <= apart + 1e-12]
    weights = np.repeat(made.weights, made.counts)
    error = np.abs(0.5 + (allowed - 0.5) @ weights - allowed.mean(axis=1)).max()
    assert math.sqrt(float(risk.mse(made, Assumption("people", apart)))) == pytest.approx(error)


BUDGETS = (0.3, 2.0)
PEOPLE = 4


def estimators() -> dict[int, Weighing]:
    """Return an estimator for each number of generous people, who have the larger budget.

    Its weights are proportional to budgets.
    """
    found = {}
    for generous in range(PEOPLE + 1):
        counts = np.array([PEOPLE - generous, generous])
        total = float(counts @ np.array(BUDGETS))
        found[generous] = Weighing(np.array(BUDGETS) / total, counts, 0.1 / total)
    return found


ESTIMATORS = estimators()
PAIRS = list(itertools.product((0, 1), (0, 1)))  # the value, and whether the person is generous


@functools.cache
def samples() -> tuple[Floats, Floats, Floats]:
    """Return every sample: counts of pairs, weighted sums, and numbers of generous people."""
    rows = []
    for each in itertools.product(range(4), repeat=PEOPLE):
        generous = sum(PAIRS[pair][1] for pair in each)
        weights = ESTIMATORS[generous].weights
        value = sum(PAIRS[pair][0] * weights[PAIRS[pair][1]] for pair in each)
        rows.append((*(each.count(pair) for pair in range(4)), value, generous))
    table = np.array(rows)
    return table[:, :4], table[:, 4], table[:, 5].astype(np.int64)


def populations(apart: float, steps: int = 8) -> Iterator[tuple[Floats, float]]:
    """Yield distributions of pairs, with their means.

    The means at both budgets are within `apart` of each other.
    """
    for first, second, third in itertools.product(range(steps + 1), repeat=3):
        if first + second + third > steps:
            continue
        law = np.array([first, second, third, steps - first - second - third]) / steps
        strict, generous = law[0] + law[2], law[1] + law[3]
        if min(strict, generous) > 0.0 and abs(law[2] / strict - law[3] / generous) > apart:
            continue
        yield law, float(law[2] + law[3])


ASKED = [Assumption("population", related) for related in (True, 0.1, 0.35, 0.8)]


@pytest.mark.parametrize("assumption", ASKED)
def test_no_population_of_pairs_has_a_larger_error(assumption: Assumption) -> None:
    """The error of every population of pairs is at most the bound, on average over all samples.

    All samples are enumerated, and the noise is exact.
    """
    counts, sums, generous = samples()
    scales = np.array([ESTIMATORS[g].scale for g in generous])
    bound = np.array([float(risk.mse(ESTIMATORS[g], assumption)) for g in range(PEOPLE + 1)])
    betas = (0.5, 0.1, 0.01)
    alphas = {
        beta: np.array(
            [risk.quantile(ESTIMATORS[g], assumption, 1.0 - beta) for g in range(PEOPLE + 1)]
        )[generous]
        for beta in betas
    }
    seen = 0
    for law, truth in populations(assumption.apart):
        chance = np.prod(law**counts, axis=1)
        assert float(chance.sum()) == pytest.approx(1.0)
        off = sums - truth
        assert chance @ (off**2 + 2.0 * scales**2) <= chance @ bound[generous] * (1.0 + 1e-12)
        noise = stats.laplace(scale=scales)
        for beta in betas:
            missed = noise.sf(alphas[beta] - off) + noise.cdf(-alphas[beta] - off)
            assert chance @ missed <= beta * (1.0 + 1e-9)
        seen += 1
    assert seen >= 30


@pytest.mark.parametrize("total", [1.0, 0.8])
@pytest.mark.parametrize("apart", [0.05, 0.3, 0.9, 1.0])
def test_the_squared_error_of_a_population_is_what_it_is_said_to_be(
    apart: float, total: float
) -> None:
    """The squared error combines the bias of the drawn people and the worst-case sampling error."""
    made = weighing(3, total=total)
    people = np.repeat(made.weights, made.counts)
    n, noise = made.n, 2.0 * made.scale**2
    # The largest variance of a sum of n coins, over all probabilities of heads.
    draws = stats.binom(n, np.linspace(0.0, 1.0, 1001))
    sampling = float(np.sqrt(draws.var()).max()) / n
    anything = (worst_bias(made, 1.0) + sampling) ** 2
    # Given the budgets, values are independent, and each end has probability ½.
    coins = float(np.sum((people * 0.5) ** 2))
    within = coins + (worst_bias(made, apart) + apart * sampling) ** 2
    expected = anything if apart == 1.0 else min(anything, within)
    assumption = Assumption("population", True if apart == 1.0 else apart)
    assert float(risk.mse(made, assumption)) == pytest.approx(expected + noise, rel=1e-9)
    assert not MeanGoal(assumption, "mse", 0.9).is_exact(made)
    assert not MeanGoal(assumption, "pac", 0.9).is_exact(made)


def quantile(shift: float, sigma: float, scale: float, beta: float) -> float:
    """Return the 1 − β quantile of a shift plus Laplace noise plus a bounded sum.

    It is computed by quadrature.
    """
    law = stats.laplace(scale=scale)

    def side(at: float) -> float:
        if sigma == 0.0:
            return float(law.sf(at))
        inside = integrate.quad(
            lambda s: s * math.exp(-s * s / 2.0) * float(law.sf(at - s * sigma)),
            0.0,
            12.0,
            points=[min(max(at / sigma, 0.0), 12.0)],
            limit=200,
        )
        return float(inside[0])

    def excess(at: float) -> float:
        other = at + shift if sigma == 0.0 else at
        return side(at - shift) + side(other) - beta

    return float(optimize.brentq(excess, shift, shift + 40.0 * (sigma + scale), xtol=1e-10))


@pytest.mark.parametrize("beta", [0.1, 0.01])
@pytest.mark.parametrize("apart", [0.02, 0.2, 1.0])
def test_the_quantile_of_a_population_spends_all_of_beta_and_no_more(
    apart: float, beta: float
) -> None:
    """The error probabilities of all bounds that make up the quantile sum to β.

    All sampling bounds together (one or two) get 0.3·β. All other errors get the rest.
    """
    made = Weighing(np.array([0.002, 0.004]), np.array([200, 150]), 0.004)
    assumption = Assumption("population", True if apart == 1.0 else apart)
    found = risk.quantile(made, assumption, 1.0 - beta)

    def sampling(part: float) -> float:
        """Return Hoeffding's two-sided bound for 350 draws."""
        return float(
            optimize.brentq(lambda s: 2.0 * math.exp(-2.0 * 350 * s * s) - part, 1e-6, 2.0)
        )

    spread = 0.5 * math.sqrt(float(made.counts @ made.weights**2))
    anything = quantile(made.bias, 0.0, made.scale, 0.7 * beta)
    if apart == 1.0:
        known = anything + sampling(0.3 * beta)
    else:
        near = quantile(apart * made.bias, spread, made.scale, 0.7 * beta)
        outer = sampling(0.15 * beta)
        known = min(anything + outer, near + apart * outer)
    assert found == pytest.approx(known, rel=1e-6)


@pytest.mark.parametrize("about", ["people", "population"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_little_related_is_between_not_and_in_any_way(seed: int, about: str) -> None:
    made = weighing(seed, total=1.0)
    deltas = [1e-9, *DELTAS, 1.0 - 1e-9]
    asked = [Assumption(about, related) for related in (*deltas, True)]
    squares = [float(risk.mse(made, each)) for each in asked]
    assert squares == sorted(squares)
    assert squares[-2] == pytest.approx(squares[-1], rel=1e-6)
    errors = [risk.quantile(made, each, 0.9) for each in asked]
    assert all(a <= b * (1.0 + 1e-12) for a, b in itertools.pairwise(errors[:-1]))
    # A population needs two simultaneous sampling bounds if `related` is a number, and only one if
    # it is True.
    more = 1.0 + 1e-6 if about == "people" else 1.15
    assert errors[-1] * (1.0 - 1e-6) <= errors[-2] <= errors[-1] * more
    noise = 2.0 * made.scale**2
    if about == "people":
        # If the means of levels are equal, only noise is left, for all weights.
        assert squares[0] == pytest.approx(noise, rel=1e-6)
        assert errors[0] == pytest.approx(made.scale * math.log(1.0 / 0.1), rel=1e-6)
    else:
        assert squares[0] == pytest.approx(float(risk.mse(made, SAMPLE)), rel=1e-6)
        alone = risk.quantile(made, SAMPLE, 0.9)
        # For unrelated budgets, the smaller of this bound and a nearly Gaussian bound is used.
        assert alone <= errors[0] <= 1.5 * alone


@pytest.mark.parametrize("n", [5, 400])
def test_with_equal_weights_only_sampling_is_left(n: int) -> None:
    """With equal weights, the worst-case mean square is ¼/n for every `related`."""
    made = Weighing(np.array([1.0 / n]), np.array([n]), 0.0)
    for related in (True, 0.05, 0.9):
        found = float(risk.mse(made, Assumption("population", related)))
        assert found == pytest.approx(float(stats.binom(n, 0.5).var()) / n**2, rel=1e-9)
        assert float(risk.mse(made, Assumption("people", related))) == pytest.approx(0.0, abs=1e-30)


def test_an_assumption_says_what_it_is() -> None:
    assert (RELATED.sampled, RELATED.apart, RELATED.anything) == (False, 1.0, True)
    assert (UNRELATED.sampled, UNRELATED.apart, UNRELATED.anything) == (False, 0.0, False)
    assert (SAMPLE.sampled, SAMPLE.apart, SAMPLE.anything) == (True, 0.0, False)
    little = Assumption("population", 0.05)
    assert (little.sampled, little.apart, little.anything) == (True, 0.05, False)
    assert risk.noise_per_square(Assumption("population", True), 4) == 8.0
    assert risk.noise_per_square(Assumption("people", 0.3), 4) == 6.0
