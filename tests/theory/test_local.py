"""Lower bounds of the local model hold for random channels, exact tests and known mechanisms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons import theory
from epsilons.theory.local import _each_apart, _told
from epsilons.theory.worlds import SortedPeople
from tests.profiles import ADVERSARIAL, ORDINARY

ALL = ADVERSARIAL | ORDINARY


def response_rmse(budgets: ep.Budgets) -> float:
    """Return the error of randomized response with the best weights, for a fair coin.

    A fair coin is the worst case.
    """
    told = 4.0 * float(budgets.counts @ np.tanh(budgets.levels / 2) ** 2)
    return 1.0 / math.sqrt(told) if told > 0.0 else math.inf


@pytest.mark.parametrize("name", list(ALL))
def test_below_randomized_response_and_near_it(name: str) -> None:
    budgets = ALL[name]
    found = theory.local_error(budgets)
    assert found <= min(response_rmse(budgets), 0.5)
    assert found >= 0.44 * min(response_rmse(budgets), 0.5)


def test_with_many_people_randomized_response_is_best_to_the_constant() -> None:
    budgets = ep.Budgets({0.1: 10**9, 1.0: 10**8})
    assert theory.local_error(budgets) == pytest.approx(response_rmse(budgets), rel=1e-2)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0, math.inf])
@pytest.mark.parametrize("confidence", [0.6, 0.75, 0.95, 0.999])
def test_the_gap_cannot_be_told_by_the_best_test(epsilon: float, confidence: float) -> None:
    """No test of randomized responses can distinguish coins of ½ ± gap with this confidence.

    The error probabilities of the best test are exact.
    """
    for n in (2, 10, 300):
        gap = theory.local_error({epsilon: n}, loss="pac", confidence=confidence)
        lean = gap * math.tanh(epsilon / 2)
        k = np.arange(n + 1)
        apart = np.abs(binom.pmf(k, n, 0.5 + lean) - binom.pmf(k, n, 0.5 - lean)).sum() / 2
        assert (1.0 - apart) / 2 >= 1.0 - confidence - 1e-12


def test_no_channel_tells_more_of_a_coin() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        epsilon = float(rng.exponential(1.5))
        pull = math.tanh(epsilon / 2)
        # The probabilities of answers for record 0. Those for record 1 differ by a factor of at
        # most e^{±ε}, and sum to 1.
        zero = rng.dirichlet(np.ones(5))
        factor = np.exp(epsilon * rng.choice([-1.0, 1.0, 0.3], size=5))
        one = zero * factor
        one /= one.sum()
        if np.max(np.abs(np.log(one / zero))) > epsilon:
            continue
        gap = float(rng.uniform(0.01, 0.5))
        high, low = (0.5 + gap) * one + (0.5 - gap) * zero, (0.5 - gap) * one + (0.5 + gap) * zero
        assert np.sqrt(high * low).sum() >= math.sqrt(1.0 - (2 * gap * pull) ** 2) - 1e-12
        information = float(np.sum((one - zero) ** 2 / high))
        assert information <= 4 * pull**2 / (1.0 - (2 * gap * pull) ** 2) + 1e-12


def test_no_channel_tells_more_of_a_vector() -> None:
    """Random private channels satisfy the bounds on Fisher information and on affinity.

    A record is one of 2k vectors: the k unit vectors and their negatives.
    """
    rng = np.random.default_rng(2)
    largest = closest = 0.0
    for _ in range(400):
        k = int(rng.integers(1, 6))
        epsilon = float(rng.exponential(2.0))
        width = float(rng.uniform(0.01, 0.9))
        lean = rng.uniform(-width, width, k)
        answers = int(rng.integers(2, 9))
        # Rows are records: + and − for each axis. Each answer has a high or a low probability, with
        # ratio e^ε.
        high = rng.random((2 * k, answers)) < rng.random()
        if rng.random() < 0.5:  # opposite answers for opposite records are the most informative
            high[k:] = ~high[:k]
        table = np.where(high, math.exp(epsilon), 1.0)
        table /= table.sum(axis=1).max()
        table = np.hstack([table, 1.0 - table.sum(axis=1, keepdims=True)])  # one more answer
        whole = table[:, -1]
        if whole.min() > 1e-12 and whole.max() / whole.min() > math.exp(epsilon):
            continue
        if whole.min() <= 1e-12 < whole.max():
            continue
        table = table[:, table.max(axis=0) > 1e-12]
        weight = np.concatenate([1.0 + lean, 1.0 - lean]) / (2 * k)
        slope = (table[:k] - table[k:]) / 2.0  # derivatives in the coordinates of the mean
        told = float(np.sum(slope**2 / (weight @ table)))
        people = SortedPeople(np.array([epsilon]), np.array([1]))
        allowed = k * float(_told(people, np.array([float(k)]), width)[0])
        assert told <= allowed * (1 + 1e-9)
        largest = max(largest, told / allowed)
        apart = 0.0  # the mean of −2·ln(affinity) over axes
        corner = width * np.sign(lean)
        for j in range(k):
            other = corner.copy()
            other[j] *= -1.0
            laws = [np.concatenate([1.0 + c, 1.0 - c]) / (2 * k) @ table for c in (corner, other)]
            apart -= 2.0 * math.log(float(np.sqrt(laws[0] * laws[1]).sum())) / k
        most = float(_each_apart(people, float(k), width)[0])
        assert apart <= most * (1 + 1e-9) + 1e-12
        closest = max(closest, apart / most)
    assert largest > 0.5
    assert closest > 0.5


@pytest.mark.parametrize("dimension", [1, 2, 10, 200])
def test_below_the_ball_mechanism(dimension: int) -> None:
    """The bound is below the error of the ball mechanism.

    The worst-case mean squared error of that mechanism is Σ w²B², for reports of weight w and
    length B.
    """
    ratio = math.lgamma((dimension + 1) / 2) - math.lgamma(dimension / 2)
    for budgets in (
        ep.Budgets({0.1: 3000, 1.0: 7000}),
        ep.Budgets({2.0: 50}),
        ep.Budgets({0.5: 9}),
    ):
        length = math.sqrt(math.pi) * math.exp(ratio) / np.tanh(budgets.levels / 2)
        actual = min(1.0, 1.0 / math.sqrt(float(budgets.counts @ (1.0 / length**2))))
        found = theory.local_vector_error(budgets, dimension=dimension)
        assert 0.1 * actual <= found <= actual


def test_more_dimensions_are_harder_and_the_order_is_right() -> None:
    budgets = {1.0: 10**6}
    found = [theory.local_vector_error(budgets, dimension=d) for d in (1, 4, 16, 64)]
    assert found == sorted(found)
    assert 2.5 < found[3] / found[1] < 4.5  # errors grow with √d, and √(64/4) = 4
    quantiles = [
        theory.local_vector_error(budgets, dimension=d, loss="pac", confidence=0.9)
        for d in (1, 4, 16, 64, 256)
    ]
    assert quantiles == sorted(quantiles)
    assert quantiles[-1] > 2 * quantiles[0]


def test_levels_that_are_nearly_equal_are_nearly_one() -> None:
    near = {0.5: 50, 0.5 + 1e-10: 50}
    for loss in ("mse", "pac"):
        for dimension in (1, 7):
            words: dict[str, Any] = {"loss": loss, "dimension": dimension}
            one = theory.local_vector_error({0.5: 100}, **words)
            assert theory.local_vector_error(near, **words) == pytest.approx(one)


@pytest.mark.parametrize(
    "changes",
    [
        {"dimension": 0},
        {"dimension": 2.0},
        {"dimension": True},
        {"radius": 0.0},
        {"radius": math.inf},
        {"loss": "x"},
        {"confidence": 0.0},
    ],
)
def test_bad_arguments_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ep.errors.ArgumentError):
        theory.local_vector_error({1.0: 5}, **{"dimension": 3, **changes})
    if not {"dimension", "radius"} & set(changes):
        with pytest.raises(ep.errors.ArgumentError):
            theory.local_error({1.0: 5}, **changes)
    with pytest.raises(ep.errors.BoundsError):
        theory.local_error({1.0: 5}, bounds=(1, 1))
