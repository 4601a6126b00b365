"""Finding the range of data of any shape: which values are inside, and how rarely it is wrong.

The tests are seeded, so results are reproducible. With a new seed, about 1 range in 3000 is wrong;
the number of wrong ranges is compared with an exact binomial tail of 10⁻⁸.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import BudgetError
from tests.questions.add_remove_cases import Dry

N = 3000
RNG = np.random.default_rng(5)
EPSILON = np.round(10.0 ** RNG.uniform(-1.0, 0.0, N), 2)


def mostly_zero(share: float, n: int = N) -> np.ndarray:
    rng = np.random.default_rng(6)
    return np.where(rng.random(n) < share, 0.0, rng.exponential(30.0, n))


SHAPES: dict[str, tuple[np.ndarray, float, float]] = {
    # The values, the smallest fraction of them inside the range, and the largest bias from
    # clipping, in standard deviations.
    "Gaussian": (RNG.normal(50.0, 5.0, N), 0.995, 0.01),
    "68 % zeros": (mostly_zero(0.68), 0.78, 0.3),
    "lognormal": (RNG.lognormal(3.0, 1.0, N), 0.9, 0.15),
    "Cauchy": (RNG.standard_cauchy(N), 0.8, 0.2),
    "two clusters": (RNG.choice([-1000.0, 1000.0], N) + RNG.normal(0.0, 1.0, N), 1.0, 1e-9),
    "integers": (RNG.poisson(4.0, N) * 1.0, 0.95, 0.02),
    "far out": (RNG.choice([-1e300, 1e300], N), 1.0, 1e-9),
    "far off": (6600.0 + RNG.normal(0.0, 1.0, N), 0.98, 0.02),
}
ALIKE: dict[str, np.ndarray] = {
    "constant": np.full(N, 7.25),
    "zero": np.zeros(N),
    "95 % zeros": mostly_zero(0.95),
    "one in ten thousand": np.append(np.full(N - 1, -3.0), 1e9),
}
TERMS: dict[str, dict[str, Any]] = {
    "replace": {},
    "levels": {"neighbours": "add-remove", "levels": [0.1, 0.2, 0.4, 0.7, 1.0]},
    "no levels": {"neighbours": "add-remove", "related": 0.05},
    "a guess": {"neighbours": "add-remove", "levels": {0.1: 800, 0.2: 1200, 0.5: 1000}},
}


def found(values: Any, terms: str, seed: int, **more: Any) -> Any:
    given_ = {"epsilon": EPSILON, "bounds": None, "source": ep.Seeded(seed), **TERMS[terms], **more}
    return ep.mean(values, **given_)


@pytest.mark.parametrize("terms", ["replace", "levels"])
def test_with_more_people_what_is_rare_is_found(terms: str) -> None:
    """With 95 % zeros and enough people, the range contains most of the nonzero values."""
    values, epsilon = mostly_zero(0.95, 40_000), np.resize(EPSILON, 40_000)
    for seed in range(6):
        release = found(values, terms, seed, epsilon=epsilon)
        assert not release.estimate.alike
        assert release.bounds[1] > 10.0
        assert abs(np.clip(values, *release.bounds).mean() - values.mean()) < 0.2 * values.std()


@pytest.mark.parametrize("terms", ["replace", "levels"])
def test_values_close_together_and_far_off_are_told_apart(terms: str) -> None:
    values = 1e12 + np.random.default_rng(1).uniform(-1.0, 1.0, 30_000)
    for seed in range(6):
        release = found(values, terms, seed, epsilon=np.ones(30_000))
        lo, hi = release.bounds
        assert lo <= 1e12 - 0.9
        assert hi >= 1e12 + 0.9
        assert hi - lo <= 20.0
        assert not release.estimate.alike


@pytest.mark.parametrize("terms", TERMS)
def test_where_all_are_missing_there_is_a_release(terms: str) -> None:
    for seed in range(5):
        release = found(np.full(N, math.nan), terms, seed, missing="midpoint")
        lo, hi = release.bounds
        assert -math.inf < lo < hi < math.inf
        assert lo <= release.value <= hi


def test_nobody_looks_closer_at_zero() -> None:
    """If only 0 is found, there is no closer look, and the mean gets what it would have cost."""
    for seed in range(5):
        release = found(np.zeros(N), "replace", seed, epsilon=4.0)
        assert len(release.mechanism.stages) == 2
        assert release.estimate.alike


def test_without_a_closer_look_the_range_is_all_octaves_that_were_found() -> None:
    """Budgets are too small for a closer look at one octave: its neighbours stay in the range."""
    values = np.resize(np.arange(18.0, 90.0), 500)
    for seed in range(20):
        release = found(values, "replace", seed, epsilon=0.25)
        assert len(release.mechanism.stages) == 2
        lo, hi = release.bounds
        assert lo <= 32.0
        assert hi >= 128.0


# The frequency of wrong ranges.


def lost(runs: int, terms: dict[str, Any]) -> int:
    """Count the ranges that miss the data, which have mean 6,600 and standard deviation 1."""
    count = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        values = 6600.0 + rng.normal(0.0, 1.0, 3000)
        epsilon = 10.0 ** rng.uniform(-1.0, 0.0, 3000)
        release = ep.mean(values, epsilon=epsilon, bounds=None, source=ep.Seeded(seed), **terms)
        lo, hi = release.bounds
        count += not (lo <= 6600.0 <= hi and hi - lo <= 100.0)
    return count


@pytest.mark.parametrize("epsilon", [0.05, np.resize([0.05, 0.4], 200)], ids=["one", "two"])
def test_too_few_people_are_told_how_many_would_do(epsilon: Any) -> None:
    values = np.arange(200.0)
    with pytest.raises(BudgetError) as refused:
        ep.mean(values, epsilon=epsilon, bounds=None, source=Dry())
    words = str(refused.value)
    assert "for 200 people" in words
    assert "Nothing was drawn" in words
    people = int(words.split("About ")[1].split(" ")[0])
    assert people > 200

    def asked(n: int) -> Callable[[], Any]:
        return lambda: ep.mean(
            np.resize(values, n), epsilon=np.resize(epsilon, n), bounds=None, source=ep.Seeded(1)
        )

    assert asked(people)().n == people
    with pytest.raises(BudgetError):
        asked(int(0.85 * people))()
