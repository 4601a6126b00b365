"""The error bound of a sample holds for every population, and is close to the Gaussian bound."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from epsilons.risk.means import mean
from epsilons.risk.means.mean import SampleError
from epsilons.risk.tails.gaussian import normal_laplace_quantile
from epsilons.risk.tails.laplace import deviation
from epsilons.risk.weighing import SAMPLE, Weighing
from epsilons.types import Floats, Integers

BETAS = (0.5, 0.2, 0.1, 0.05, 0.01, 1e-4)
SHARES = np.concatenate([np.geomspace(1e-4, 0.05, 12), np.linspace(0.06, 0.5, 23)])


def equal(n: int, noise: float) -> Weighing:
    """Return an estimator with equal weights. The noise is in standard deviations of a coin."""
    return Weighing(np.array([1.0 / n]), np.array([n]), noise * 0.5 / math.sqrt(n))


def unequal(few: int, many: int, times: float, noise: float) -> Weighing:
    """Return an estimator in which a few people have `times` the weight of the others."""
    counts = np.array([many, few])
    weights = np.array([1.0, times]) / (many + few * times)
    return Weighing(weights, counts, noise * 0.5 * math.sqrt(float(counts @ weights**2)))


def binomial(n: int, p: float) -> Floats:
    """Return the probabilities of a binomial distribution, from log factorials."""
    k = np.arange(n + 1)
    logs = np.array([math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k])
    return np.exp(logs + k * math.log(p) + (n - k) * math.log1p(-p))


def coins(weighing: Weighing, p: float) -> tuple[Floats, Floats]:
    """Return every value of Σw·(X − p) for coins X, and its probability."""
    values, chances = np.zeros(1), np.ones(1)
    pairs: list[tuple[float, int]] = list(
        zip(weighing.weights.tolist(), weighing.counts.tolist(), strict=True)
    )
    for weight, count in pairs:
        own: Integers = np.arange(count + 1)
        values = (values[:, None] + weight * (own - count * p)[None, :]).ravel()
        chances = (chances[:, None] * binomial(count, p)[None, :]).ravel()
    return values, chances


def missed(weighing: Weighing, p: float, a: float) -> float:
    """Return the exact P(|Σw·(X − p) + L| > a) for coins X."""
    values, chances = coins(weighing, p)
    if weighing.scale <= 0.0:
        return float(chances[np.abs(values) > a * (1.0 + 1e-12)].sum())

    def above(x: Floats) -> Floats:
        half = 0.5 * np.exp(-np.abs(x) / weighing.scale)
        return np.where(x >= 0.0, half, 1.0 - half)

    return float(chances @ (above(a - values) + above(a + values)))


WEIGHINGS = {
    "ten": equal(10, 0.0),
    "ten, much noise": equal(10, 2.0),
    "a hundred": equal(100, 0.0),
    "a hundred, noise": equal(100, 0.5),
    "a thousand": equal(1000, 0.0),
    "a thousand, little noise": equal(1000, 0.05),
    "a thousand, noise": equal(1000, 1.0),
    "five thousand": equal(5000, 0.1),
    "a few weigh five times as much": unequal(20, 400, 5.0, 0.2),
    "one weighs a hundred times as much": unequal(1, 500, 100.0, 0.3),
}


def test_a_constant_that_is_too_small_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    # For coins, the constant must be about 0.4. The code uses 0.56, and 0.3 would be too small.
    monkeypatch.setattr(mean, "BERRY_ESSEEN", 0.3)
    weighing = equal(1000, 0.0)
    bound = SampleError(weighing)
    near = (np.arange(1, 60) / 1000.0 * 0.9999).tolist()
    assert any(missed(weighing, 0.5, a) > bound.beyond(a) for a in near)


@pytest.mark.parametrize(
    ("n", "noise", "confidence", "over"),
    [
        (10_000, 0.0, 0.9, 1.07),
        (10_000, 0.0, 0.95, 1.10),
        (10_000, 1.0, 0.5, 1.07),
        (10_000, 1.0, 0.99, 1.04),
        (1000, 1.0, 0.95, 1.10),
        (100, 5.0, 0.9, 1.05),
        (1_000_000, 0.3, 0.95, 1.02),
        (1_000_000, 0.0, 0.5, 1.02),
    ],
)
def test_it_is_nearly_the_quantile_of_coins(
    n: int, noise: float, confidence: float, over: float
) -> None:
    weighing = equal(n, noise)
    found = mean.quantile(weighing, SAMPLE, confidence)
    truth = normal_laplace_quantile(0.5 / math.sqrt(n), weighing.scale, 1.0 - confidence)
    assert found <= over * truth
    assert found >= truth * 0.999


def test_it_is_never_wider_than_hoeffding() -> None:
    for weighing in WEIGHINGS.values():
        for beta in BETAS:
            hoeffding = deviation(0.0, weighing.square, weighing.scale, beta)
            assert mean.quantile(weighing, SAMPLE, 1.0 - beta) <= hoeffding * (1.0 + 1e-12)


def test_a_population_that_varies_less_is_off_less() -> None:
    weighing = equal(10_000, 0.5)
    reaches = [
        SampleError(weighing, v).deviation(0.05) for v in np.linspace(0.01, 0.25, 60).tolist()
    ]
    assert all(x <= y * (1.0 + 1e-9) for x, y in itertools.pairwise(reaches))
    truth = normal_laplace_quantile(0.1 / math.sqrt(10_000), weighing.scale, 0.05)
    assert truth <= reaches[0] <= 1.15 * truth
    p = 0.5 - math.sqrt(0.25 - 0.01)  # coins with this variance
    assert missed(weighing, p, reaches[0]) <= 0.05


@pytest.mark.parametrize("variance", [0.0005, 0.003, 0.02])
@pytest.mark.parametrize("name", ["a hundred", "one weighs a hundred times as much"])
def test_rare_coins_are_off_no_more_often_than_bounded(name: str, variance: float) -> None:
    weighing = WEIGHINGS[name]
    p = 0.5 - math.sqrt(0.25 - variance)
    bound = SampleError(weighing, variance)
    far = math.sqrt(weighing.square)
    for a in (far * np.linspace(0.01, 2.0, 60)).tolist():
        assert missed(weighing, p, a) <= bound.beyond(a) * (1.0 + 1e-9)


def test_bounds_fall_with_the_distance_and_end_at_one() -> None:
    for weighing in WEIGHINGS.values():
        bound = SampleError(weighing)
        far = (math.sqrt(weighing.square) + weighing.scale) * np.linspace(0.0, 12.0, 200)
        found = [bound.beyond(a) for a in far.tolist()]
        assert all(x >= y for x, y in itertools.pairwise(found))
        assert found[0] == 1.0
        assert found[-1] < 1e-4
