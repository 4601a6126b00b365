"""`spread=` changes the cap of a release, but not its guarantees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import risk
from epsilons.errors import ArgumentError
from epsilons.risk.margins import Weighed
from epsilons.risk.means.spread import WeighedSpread

RNG = np.random.default_rng(8)
EPSILON = np.repeat([0.1, 1.0], 2000)
VALUES = np.clip(RNG.normal(50.0, 5.0, 4000), 0.0, 100.0)
TERMS: dict[str, dict[str, Any]] = {
    "replace": {},
    "add-remove": {"neighbours": "add-remove", "levels": {0.1: 2000, 1.0: 2000}},
}


def released(**more: Any) -> ep.Release:
    return ep.mean(
        VALUES, epsilon=EPSILON, bounds=(0, 100), related=False, source=ep.Seeded(3), **more
    )


@pytest.mark.parametrize("terms", TERMS)
def test_the_cap_moves_and_promises_stay(terms: str) -> None:
    plain, guessed = released(**TERMS[terms]), released(spread=0.05, **TERMS[terms])
    assert guessed.spent(1.0) > 1.5 * plain.spent(1.0)
    assert guessed.risk > plain.risk  # the stated risk is the worst case
    assert "about 5 % of the range; no claim depends on that guess" in guessed.assumes
    assert "standard deviation" not in plain.assumes
    ep.verify.exact(guessed.mechanism).require()


def test_the_interval_is_that_of_the_mechanism() -> None:
    """Without the measured spread, the interval has the half-width that `risk` states.

    The measured spread makes the interval of the release shorter.
    """
    guessed = released(spread=0.05)
    same = ep.allocate(dict.fromkeys([0.1, 1.0], 2000), related=False, spread=0.05)
    assert guessed.spent(1.0) == pytest.approx(same.cap)
    low, high = guessed.interval()
    reach = 100 * risk.quantile(guessed.mechanism.weighing, guessed.assumption, 0.95)
    margin = guessed.estimate.margin
    assert isinstance(margin, WeighedSpread)
    assert margin.uses_spread(guessed.assumption)
    assert (high - low) / 2 < 0.6 * reach
    plain = Weighed(margin.weighing, margin.slack)
    low, high = plain.interval(guessed.raw, guessed.bounds, guessed.assumption, 0.95)
    assert (high - low) / 2 == pytest.approx(reach, rel=1e-6)


def test_real_errors_are_smaller() -> None:
    """Over 400 draws, the guess makes mean squares smaller by a factor above 2.

    The predicted factor is 4.0, and the false-alarm probability is below 1e-6.
    """
    errors = {}
    for spread in (None, 0.05):
        mechanism = released(spread=spread).mechanism
        rng = np.random.default_rng(9)
        off = []
        for seed in range(400):
            values = rng.permutation(VALUES)
            one = ep.mean(
                values, epsilon=EPSILON, bounds=(0, 100), related=False, spread=spread,
                source=ep.Seeded(seed),
            )  # fmt: skip
            assert one.mechanism.weights.tolist() == mechanism.weights.tolist()
            off.append(one.raw - VALUES.mean())
        errors[spread] = float(np.mean(np.square(off)))
    assert errors[None] > 2.0 * errors[0.05]


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentError, match="spread is a fraction of the range"):
        ep.Mean(VALUES, bounds=None, spread=0.1)
    with pytest.raises(ArgumentError, match=r"spread=0\.7 is invalid"):
        ep.Mean(VALUES, bounds=(0, 100), spread=0.7)


def test_a_plan_says_what_it_buys_and_may_cost() -> None:
    plan = ep.plan({0.1: 2000, 1.0: 2000}, bounds=(0, 100), related=False, spread=0.05)
    plain = ep.plan({0.1: 2000, 1.0: 2000}, bounds=(0, 100), related=False)
    guess = plan.guess
    assert guess is not None
    assert plain.guess is None
    assert guess.rmse < guess.plain_rmse
    assert guess.worst > guess.plain_worst == pytest.approx(plain.forecasts[0].rmse)
    assert guess.rmse == pytest.approx(plan.forecasts[0].rmse)
    assert guess.worst == pytest.approx(plan.forecasts[0].worst)
    assert guess.cap == pytest.approx(released(spread=0.05).spent(1.0))
    text = plan.details()
    assert "The guess: if it is right" in text
    assert "for values with a standard deviation of 5 % of the range" in text
    assert "guess" not in str(plain).lower()
