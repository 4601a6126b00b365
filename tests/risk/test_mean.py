"""The risk of a mean agrees with brute force over all data, permutations and coins."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from epsilons import risk
from epsilons.risk import Moments, Weighing
from epsilons.risk.goals import MeanGoal
from epsilons.risk.tails.laplace import deviation
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats

ASSUMPTIONS = (SAMPLE, UNRELATED, RELATED)
BETAS = (0.9, 0.6, 0.5, 0.1, 0.05, 0.001)
SEEDS = range(12)


def weighing(seed: int, *, most: int = 8, coins: bool = False) -> Weighing:
    """Return a random estimator. For every other seed, its weights sum to one."""
    rng = np.random.default_rng([seed, most, coins])
    counts = rng.multinomial(int(rng.integers(2, most + 1)), np.ones(3) / 3)
    counts = counts[counts > 0]
    weights = rng.exponential(size=len(counts)) * (rng.random(len(counts)) < 0.9)
    if not weights.any():
        weights[:] = 1.0
    total = 1.0 if seed % 2 else float(rng.uniform(0.2, 1.3))
    weights *= total / float(counts @ weights)
    keep = None
    if coins:
        keep = rng.uniform(0.05, 1.0, len(counts))
        keep[0] = (1.0, 0.5, keep[0])[seed % 3]
    return Weighing(weights, counts, float(rng.choice([0.0, 0.03, 0.3])), keep)


def expanded(made: Weighing) -> Floats:
    return np.repeat(made.weights, made.counts)


def vertices(n: int) -> Floats:
    return np.array(list(itertools.product((0.0, 1.0), repeat=n)))


def errors(weights: Floats, data: Floats, target: Floats | float) -> Floats:
    """Return the error of the centered estimator on each row of data, without noise."""
    return np.asarray(0.5 + (data - 0.5) @ weights - target)


def coin_table(made: Weighing) -> tuple[Floats, Floats]:
    """Return the weights for each outcome of the coins, and the probability of each outcome."""
    weights = expanded(made)
    if made.keep is None:
        return weights[None, :], np.ones(1)
    keep = np.repeat(made.keep, made.counts)
    heads = vertices(len(weights))
    return heads * weights / keep, np.prod(np.where(heads > 0, keep, 1.0 - keep), axis=1)


def brute_force(made: Weighing, assumption: Assumption) -> float:
    """Return the worst-case mean squared error over all data, by enumeration."""
    data = vertices(made.n)
    means, ones = data.mean(axis=1), data.sum(axis=1)
    tables = list(zip(*coin_table(made), strict=True))

    def squares(target: Floats | float) -> Floats:
        return np.asarray(sum(p * errors(w, data, target) ** 2 for w, p in tables))

    if assumption == RELATED:
        worst = squares(means).max()
    elif assumption == UNRELATED:
        # Given the number of ones, all sets of people with value 1 are equally likely.
        at = squares(means)
        worst = max(at[ones == j].mean() for j in range(made.n + 1))
    else:
        worst = max(
            float(p**ones * (1.0 - p) ** (made.n - ones) @ squares(p))
            for p in np.linspace(0.0, 1.0, 21)
        )
    return float(worst) + 2.0 * made.scale**2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_mean_squared_error_is_the_worst_over_all_vertices(
    assumption: Assumption, seed: int
) -> None:
    made = weighing(seed)
    assert float(risk.mse(made, assumption)) == pytest.approx(
        brute_force(made, assumption), rel=1e-12
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_coins_that_decide_who_is_used_are_in_the_mean_squared_error(
    assumption: Assumption, seed: int
) -> None:
    made = weighing(seed, most=5, coins=True)
    assert float(risk.mse(made, assumption)) == pytest.approx(
        brute_force(made, assumption), rel=1e-12
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_no_data_inside_the_cube_and_no_other_distribution_is_worse(seed: int) -> None:
    made = weighing(seed, most=6)
    weights, rng = expanded(made), np.random.default_rng(seed)
    order = np.array(list(itertools.permutations(range(made.n))))
    noise = 2.0 * made.scale**2
    for _ in range(20):
        data = rng.random(made.n) ** rng.choice([0.2, 1.0, 5.0])
        off = errors(weights, data[None, :], float(data.mean()))
        assert off[0] ** 2 + noise <= risk.mse(made, RELATED) + 1e-12
        off = errors(weights, data[order], float(data.mean()))
        assert (off**2).mean() + noise <= risk.mse(made, UNRELATED) + 1e-12
        # A distribution on three points, with this bias and this variance.
        points, chance = rng.random(3), rng.dirichlet(np.ones(3))
        mean = float(chance @ points)
        bias = (1.0 - made.total) * (0.5 - mean)
        variance = float(chance @ (points - mean) ** 2) * float(weights @ weights)
        assert bias**2 + variance + noise <= risk.mse(made, SAMPLE) + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_moments_of_many_estimators_give_the_risk_of_each(
    assumption: Assumption, seed: int
) -> None:
    made = [weighing(seed), Weighing(weighing(seed).weights * 0.7, weighing(seed).counts, 0.2)]
    people = [expanded(one) for one in made]
    n = made[0].n
    moments = Moments(
        n=n,
        total=np.array([w.sum() for w in people]),
        spread=np.array([((w - w.mean()) ** 2).sum() for w in people]),
        bias=np.array([np.abs(w - 1.0 / n).sum() / 2.0 for w in people]),
        scale=np.array([one.scale for one in made]),
    )
    together = risk.mse(moments, assumption)
    assert together.shape == (2,)
    expected = [brute_force(one, assumption) for one in made]
    np.testing.assert_allclose(together, expected, rtol=1e-12)


@pytest.mark.parametrize("n", range(2, 10))
def test_the_finite_population_factor_is_that_of_the_worst_population(n: int) -> None:
    share = np.arange(n + 1) / n
    largest = float((share * (1.0 - share)).max()) * n / (n - 1)
    assert risk.finite_population(n) == pytest.approx(4.0 * largest, rel=1e-14)
    weights = np.random.default_rng(n).dirichlet(np.ones(n))
    made = Weighing(weights, np.ones(n, dtype=np.int64), 0.1)
    worst = brute_force(made, UNRELATED)
    constant = risk.noise_per_square(UNRELATED, n)
    shape = float(weights @ weights) - 1.0 / n + constant * 0.1**2
    assert worst / shape == pytest.approx(2.0 / constant, rel=1e-12)
    assert brute_force(made, SAMPLE) == pytest.approx(
        0.25 * (float(weights @ weights) + risk.noise_per_square(SAMPLE, n) * 0.1**2), rel=1e-12
    )


def laplace_excess(shifts: Floats | float, alpha: float, scale: float) -> Floats:
    """Return the exact P(|shift + L| > alpha)."""
    if scale == 0.0:
        return np.asarray(np.abs(shifts) > alpha * (1.0 + 1e-12), dtype=np.float64)
    size = np.abs(shifts)
    inner, outer = np.exp(-np.abs(size - alpha) / scale), np.exp(-(size + alpha) / scale)
    return np.where(size <= alpha, 0.5 * (inner + outer), 1.0 - 0.5 * (inner - outer))


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("ratio", [0.0, 1e-6, 0.1, 1.0, 3.0, 30.0, 1e4])
def test_the_quantile_with_related_budgets_is_exact(ratio: float, beta: float) -> None:
    # Two people: weights ½ ± b have bias b.
    scale = 1e-2 if ratio <= 30.0 else 1e-5
    b = ratio * scale
    made = Weighing(np.array([0.5 - b, 0.5 + b]), np.array([1, 1]), scale)
    alpha = risk.quantile(made, RELATED, 1.0 - beta)
    assert MeanGoal(RELATED, "pac", 0.9).is_exact(made)
    # The exact probabilities slightly above and slightly below the quantile, by SciPy.
    law, near = stats.laplace(scale=scale), 1e-9 * (alpha + scale)
    above = law.sf(alpha + near - b) + law.cdf(-alpha - near - b)
    below = law.sf(alpha - near - b) + law.cdf(-alpha + near - b)
    assert above < beta < below
    smaller = np.linspace(-b, b, 41)
    assert np.max(law.sf(alpha + near - smaller) + law.cdf(-alpha - near - smaller)) < beta


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_without_noise_and_with_equal_weights_only_sampling_is_left(assumption: Assumption) -> None:
    made = Weighing(np.array([0.25]), np.array([4]), 0.0)
    found = risk.quantile(made, assumption, 0.95)
    expected = math.sqrt(math.log(2.0 / 0.05) / (2.0 * 4)) if assumption == SAMPLE else 0.0
    assert found == pytest.approx(expected, rel=1e-12)
    assert risk.quantile(Weighing(made.weights, made.counts, math.inf), assumption, 0.9) == math.inf


def excess(made: Weighing, assumption: Assumption, alpha: float, rng: np.random.Generator) -> float:
    """Return the exact maximum of P(|error| > alpha).

    The maximum is over the vertices of the cube, and some data inside it.
    """
    n = made.n
    data = vertices(n)
    means, ones = data.mean(axis=1), data.sum(axis=1)
    tables = list(zip(*coin_table(made), strict=True))

    def chance(rows: Floats, target: Floats | float) -> Floats:
        parts = (p * laplace_excess(errors(w, rows, target), alpha, made.scale) for w, p in tables)
        return np.asarray(sum(parts))

    if assumption == RELATED:
        return float(chance(data, means).max())
    if assumption == UNRELATED:
        at = chance(data, means)
        order = np.array(list(itertools.permutations(range(n))))
        inside = [rng.random(n) for _ in range(3)]
        return max(
            *(float(at[ones == j].mean()) for j in range(n + 1)),
            *(float(chance(x[order], float(x.mean())).mean()) for x in inside),
        )
    return max(
        float(p**ones * (1.0 - p) ** (n - ones) @ chance(data, p)) for p in np.linspace(0, 1, 11)
    )


@pytest.mark.parametrize("ratio", [1e-8, 1e-3, 0.1, 0.9, 3.0, 40.0, 1e3, 1e8])
@pytest.mark.parametrize("beta", BETAS)
def test_a_deviation_integrates_hoeffdings_tail_against_the_noise(
    beta: float, ratio: float
) -> None:
    n = 100
    sigma = 0.5 / math.sqrt(n)  # Hoeffding: P(S > s) ≤ exp(−2s²n)
    scale = sigma / ratio
    alpha = deviation(0.0, 1.0 / n, scale, beta)

    def tail(at: float) -> float:
        def inside(s: float) -> float:
            """Return P(S + L > at) by integration: ∫ P(L > at − s) d(1 − exp(−s²/2σ²))."""
            return s * math.exp(-s * s / 2.0) * float(stats.laplace.sf((at - s * sigma) / scale))

        near = min(at / sigma, 40.0)
        spots = sorted(
            {0.0, near, min(near + 20.0 / ratio, 40.0), max(near - 20.0 / ratio, 0.0), 40.0}
        )
        pieces = itertools.pairwise(spots)
        return sum(integrate.quad(inside, a, b, epsabs=1e-13, limit=200)[0] for a, b in pieces)

    assert 2.0 * tail(alpha) == pytest.approx(beta, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_proxy_of_a_permutation_bounds_its_moment_generating_function(seed: int) -> None:
    made = weighing(seed, most=7)
    rng = np.random.default_rng(seed)
    weights = expanded(made)
    proxy = risk.permutation_proxy(made)
    order = np.array(list(itertools.permutations(range(made.n))))
    several = [*vertices(made.n)[:: max(1, 2**made.n // 16)], *rng.random((4, made.n))]
    several.append((weights > np.median(weights)).astype(np.float64))
    for data in several:
        sums = data[order] @ weights
        sums = sums - sums.mean()
        for size in (0.1, 1.0, 5.0, 20.0):
            for sign in (1.0, -1.0):
                # Hoeffding's lemma for the sum, with the computed variance proxy in place of Σ(w −
                # mean)².
                grown = float(np.mean(np.exp(sign * size * sums)))
                assert grown <= math.exp(size**2 * proxy / 8.0) * (1.0 + 1e-12)
        # To second order, the same inequality says that 4 times the variance is at most the proxy.
        assert 4.0 * float(np.mean(sums**2)) <= proxy * (1.0 + 1e-12) + 1e-15


@pytest.mark.parametrize("seed", SEEDS)
def test_levels_are_a_shorthand_for_people(seed: int) -> None:
    made = weighing(seed, most=60, coins=seed % 3 == 0)
    keep = None if made.keep is None else np.repeat(made.keep, made.counts)
    one_by_one = Weighing(expanded(made), np.ones(made.n, dtype=np.int64), made.scale, keep)
    for assumption in ASSUMPTIONS:
        assert float(risk.mse(one_by_one, assumption)) == pytest.approx(
            float(risk.mse(made, assumption)), rel=1e-12
        )
    for assumption in (SAMPLE, RELATED):
        assert risk.quantile(one_by_one, assumption, 0.95) == pytest.approx(
            risk.quantile(made, assumption, 0.95), rel=1e-9
        )
    # For a level with many people, an integral bounds the sum from above.
    people, levels = risk.permutation_proxy(one_by_one), risk.permutation_proxy(made)
    assert people <= levels * (1.0 + 1e-12)
    assert levels <= people * 1.1 + 1e-15


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
@pytest.mark.parametrize("seed", SEEDS)
def test_more_confidence_and_more_noise_cost_more(seed: int, assumption: Assumption) -> None:
    made = weighing(seed, most=30)
    confidences = (0.01, 0.3, 0.5, 0.6, 0.9, 0.99, 0.9999)
    found = [risk.quantile(made, assumption, c) for c in confidences]
    assert found == sorted(found)
    if made.scale == 0.0:
        return  # the next test is about estimators without noise
    noisier = Weighing(made.weights, made.counts, made.scale + 0.1)
    assert risk.mse(noisier, assumption) > risk.mse(made, assumption)
    for confidence, quiet in zip(confidences[2:], found[2:], strict=True):
        # For a sample, the quantile is a bound. Noise can make it tighter by a few percent.
        assert risk.quantile(noisier, assumption, confidence) > 0.95 * quiet


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize("total", [1.0, 0.5])
def test_no_noise_costs_no_more_than_a_whiff_of_it(
    total: float, confidence: float, assumption: Assumption
) -> None:
    weights = np.array([0.02, 0.08]) * total
    quiet = Weighing(weights, np.array([10, 10]), 0.0)
    whiff = Weighing(weights, np.array([10, 10]), 1e-12)
    assert risk.quantile(quiet, assumption, confidence) == pytest.approx(
        risk.quantile(whiff, assumption, confidence), rel=1e-6
    )
    assert risk.mse(quiet, assumption) == pytest.approx(
        float(risk.mse(whiff, assumption)), rel=1e-9
    )


def test_risk_by_name_is_the_risk_and_only_bounds_are_called_bounds() -> None:
    sure, coins = weighing(3), weighing(3, coins=True)
    for assumption in ASSUMPTIONS:
        for made in (sure, coins):
            of = {loss: MeanGoal(assumption, loss, 0.9).risk(made) for loss in ("mse", "pac")}
            assert of["mse"] == float(risk.mse(made, assumption))
            assert of["pac"] == risk.quantile(made, assumption, 0.9)
            assert MeanGoal(assumption, "mse", 0.9).is_exact(made)
            exact = MeanGoal(assumption, "pac", 0.9).is_exact(made)
            assert exact == (assumption == RELATED and made is sure)


def test_levels_that_nobody_has_change_no_bound() -> None:
    weights, counts = np.array([0.004, 0.001]), np.array([100, 600])
    made = risk.Weighing(weights, counts, 0.01)
    many = np.linspace(0.0005, 0.02, 400)
    empty = risk.Weighing(
        np.concatenate([weights, many]), np.concatenate([counts, np.zeros(400, np.int64)]), 0.01
    )
    assert risk.permutation_proxy(empty) == pytest.approx(risk.permutation_proxy(made), rel=1e-12)
