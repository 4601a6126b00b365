"""The forecast error for a guessed spread agrees with the error of data with that spread."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import epsilons as ep
from epsilons import risk
from epsilons.errors import ArgumentError
from epsilons.risk import Weighing
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
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
    """Return values around the middle with exactly this standard deviation."""
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
    """The error equals the mean over all samples of four people with two possible values."""
    one = estimator(4, 3)
    points = np.array([0.5 - spread, 0.5 + spread])
    samples = points[np.array(list(itertools.product((0, 1), repeat=4)))]
    found = float(risk.mse(one, SAMPLE, spread))
    assert found == pytest.approx(np.mean((samples @ one.weights - 0.5) ** 2) + 2 * NOISE**2)


def test_people_whose_budgets_tell_everything() -> None:
    """Values proportional to the weights have the largest error of all data with this spread."""
    one = estimator(50, 4)
    along = one.weights - one.weights.mean()
    data = 0.5 + 0.05 * along / math.sqrt(float(along @ along) / 50)
    assert data.min() > 0.0
    assert data.max() < 1.0
    far = float(one.weights @ data - data.mean())
    assert float(risk.mse(one, RELATED, 0.05)) == pytest.approx(far**2 + 2 * NOISE**2)


@pytest.mark.parametrize("total", [1.0, 0.7, 1.2])
@pytest.mark.parametrize("assumption", [each for each in ANSWERS if each.related], ids=str)
def test_no_data_of_the_spread_do_worse(assumption: Assumption, total: float) -> None:
    """No random data with this spread have a larger bias than the bound, for any sum of weights."""
    rng, allowed, nearest = np.random.default_rng(5), 0, 0.0
    counts = np.array([4, 6, 5], dtype=np.int64)
    for _ in range(600):
        weights = rng.random(3)
        weights *= total / float(weights @ counts)
        one = Weighing(weights, counts, 0.0)
        data = rng.random() + 0.2 * rng.normal(size=3).repeat(counts) * assumption.apart
        data = np.clip(data + 0.05 * rng.normal(size=15), 0.0, 1.0)
        means = [part.mean() for part in np.split(data, np.cumsum(counts)[:-1])]
        if max(means) - min(means) > assumption.apart:
            continue
        allowed += 1
        bias = 0.5 + float(np.repeat(weights, counts) @ (data - 0.5)) - float(data.mean())
        bound = float(risk.mse(one, assumption, float(data.std())))
        assert bias**2 <= bound * (1.0 + 1e-9) + 1e-24
        nearest = max(nearest, bias**2 / max(bound, 1e-9))
    assert allowed > 100
    assert assumption.sampled or nearest > 0.5  # the bound is not far from the exact value


@pytest.mark.parametrize("total", [0.5, 0.8, 1.3])
@pytest.mark.parametrize("spread", [0.1, 0.3, 0.5])
def test_weights_that_do_not_sum_to_one(spread: float, total: float) -> None:
    """If weights do not sum to one, the error is the maximum over two-point distributions.

    These have at most the given spread.
    """
    weights = total * estimator(4, 7).weights
    one = Weighing(weights, np.ones(4, dtype=np.int64), 0.0)
    samples = np.array(list(itertools.product((0, 1), repeat=4)))
    worst = 0.0
    for share in np.linspace(0.001, 0.999, 999):
        far = min(1.0, spread / math.sqrt(share * (1.0 - share)))
        for low in {0.0, 1.0 - far}:
            chance = np.prod(np.where(samples == 1, share, 1.0 - share), axis=1)
            off = 0.5 + (low + far * samples - 0.5) @ weights - low - far * share
            worst = max(worst, float(chance @ off**2))
    found = float(risk.mse(one, SAMPLE, spread))
    assert worst <= found * (1.0 + 1e-9)
    assert worst == pytest.approx(found, rel=1e-2)


@pytest.mark.parametrize("related", [True, 0.05])
def test_what_budgets_tell_is_a_shift_of_the_quantile(related: bool | float) -> None:
    """With related budgets only the noise is random.

    The error is the quantile of Laplace noise plus a shift.
    """
    one, assumption = estimator(50, 4), Assumption("people", related)
    shift = math.sqrt(float(risk.mse(one, assumption, 0.05)) - 2 * NOISE**2)
    alpha = risk.quantile(one, assumption, 0.9, spread=0.05)
    law = stats.laplace(scale=NOISE)
    assert law.sf(alpha - shift) + law.cdf(-alpha - shift) == pytest.approx(0.1, rel=1e-7)


@pytest.mark.parametrize("spread", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("assumption", [UNRELATED, SAMPLE], ids=str)
def test_the_quantile_is_kept_by_bell_shaped_data(assumption: Assumption, spread: float) -> None:
    """For Gaussian data, 0.5 % to 10 % of the errors exceed the 90 % quantile."""
    rng, n = np.random.default_rng(9), 60
    one = replace(estimator(n, 8), scale=0.001)  # with little noise, so the spread matters
    alpha = risk.quantile(one, assumption, 0.9, spread=spread)
    noise = rng.laplace(scale=0.001, size=20_000)
    if assumption.sampled:
        off = rng.normal(0.0, spread, (20_000, n)) @ one.weights + noise
    else:
        data = values(n, spread, 3)
        orders = rng.permuted(np.tile(data, (20_000, 1)), axis=1)
        off = orders @ one.weights - data.mean() + noise
    missed = float(np.mean(np.abs(off) > alpha))
    assert 0.005 < missed < 0.1


@pytest.mark.parametrize("total", [1.0, 0.9])
@pytest.mark.parametrize("spread", [0.01, 0.1, 0.3, 0.4999])
@pytest.mark.parametrize("assumption", ANSWERS, ids=str)
def test_a_guess_never_promises_more_than_the_worst_case(
    assumption: Assumption, spread: float, total: float
) -> None:
    made = estimator(40, 6)
    one = replace(made, weights=total * made.weights)
    worst = float(risk.mse(one, assumption))
    assert float(risk.mse(one, assumption, spread)) <= worst * (1.0 + 1e-9)
    for confidence in (0.6, 0.95):
        error = risk.quantile(one, assumption, confidence, spread=spread)
        assert error <= risk.quantile(one, assumption, confidence) * (1.0 + 1e-9)


@pytest.mark.parametrize("assumption", ANSWERS, ids=str)
def test_a_smaller_spread_is_never_worse(assumption: Assumption) -> None:
    one = estimator(40, 6)
    for quantity in (
        lambda spread: float(risk.mse(one, assumption, spread)),
        lambda spread: risk.quantile(one, assumption, 0.95, spread=spread),
    ):
        errors = [quantity(spread) for spread in (0.01, 0.05, 0.2, 0.4999)]
        assert errors == sorted(errors)
    # For a spread near ½ the error equals the worst case.
    near, worst = float(risk.mse(one, assumption, 0.499999)), float(risk.mse(one, assumption))
    assert near == pytest.approx(worst, rel=1e-4)


def test_a_threshold_is_the_best_for_such_data() -> None:
    """People with small budgets are left out only if the spread is small."""
    people = {0.3: 100, 1.0: 100}
    for spread, spent in ((None, [0.3, 0.3]), (0.02, [0.0, 1.0])):
        chosen = ep.allocate(people, related=False, spread=spread, method="threshold")
        assert chosen.spent.tolist() == spent
        variance = (0.5 if spread is None else spread) ** 2
        all_, some = 2 / (200 * 0.3) ** 2, variance * 200 / 199 / 200 + 2 / 100**2
        assert chosen.aimed == pytest.approx(min(all_, some))


def test_what_is_claimed_does_not_depend_on_it() -> None:
    """With the same cap, risk and interval are the same with and without a guess of the spread."""
    people = {0.1: 500, 1.0: 500}
    guessed = ep.allocate(people, related=False, spread=0.1)
    assert guessed.risk == float(risk.mse(guessed.weighing, UNRELATED))
    assert guessed.aimed == float(risk.mse(guessed.weighing, UNRELATED, 0.1))
    assert guessed.aimed < guessed.risk
    plain = ep.allocate(people, related=False)
    assert plain.aimed == plain.risk < guessed.risk
    assert float(risk.mse(plain.weighing, UNRELATED, 0.1)) > guessed.aimed


def test_gains_on_ten_thousand_people() -> None:
    """A guess reduces the squared error by a factor of 1.3 to 7.3."""
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
