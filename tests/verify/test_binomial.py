"""Binomial tails agree with exact fractions and SciPy, and the bound has the stated error rate."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import beta

from epsilons.errors import ArgumentError
from epsilons.verify.fit import lower_log_odds, tail


def exact_tail(successes: int, trials: int, odds: Fraction) -> Fraction:
    """Return the binomial tail as a sum of terms, in rational numbers."""
    p = odds / (1 + odds)
    return sum(
        (
            math.comb(trials, k) * p**k * (1 - p) ** (trials - k)
            for k in range(successes, trials + 1)
        ),
        Fraction(0),
    )


@settings(deadline=None, max_examples=200)
@given(st.data(), st.integers(1, 60), st.floats(-8, 8))
def test_tails_are_the_sums_of_their_terms(data: Any, trials: int, log_odds: float) -> None:
    successes = data.draw(st.integers(0, trials))
    expected = exact_tail(successes, trials, Fraction(math.exp(log_odds)))
    # Above one half, the tail is one minus the other tail.
    assert tail(successes, trials, log_odds) == pytest.approx(
        float(expected), rel=2e-13, abs=1e-300
    )


@pytest.mark.parametrize("log_odds", [-0.02, 0.0, 0.1])
def test_long_tails_are_the_sums_of_their_terms(log_odds: float) -> None:
    trials = 2000
    odds = Fraction(math.exp(log_odds)).limit_denominator(1000)
    a, b = odds.numerator, odds.denominator
    successes = trials * a // (a + b) + 100
    # The sum is computed with integers over a common denominator, because fractions would be
    # reduced at every step.
    numerator = sum(
        math.comb(trials, k) * a**k * b ** (trials - k) for k in range(successes, trials + 1)
    )
    expected = float(Fraction(numerator, (a + b) ** trials))
    assert tail(successes, trials, math.log(odds)) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("successes", "trials"),
    [
        (1, 1),
        (5, 5),
        (1, 10),
        (9, 10),
        (500, 1000),
        (3, 10**6),
        (10**6 - 10, 10**6),
        (10**6, 10**6),
        (262_000, 476_000),
        (5 * 10**8, 10**9),
    ],
)
@pytest.mark.parametrize("error", [0.5, 0.1, 1e-3, 1e-9])
def test_the_bound_is_the_quantile_of_a_beta_law(successes: int, trials: int, error: float) -> None:
    chance = beta.ppf(error, successes, trials - successes + 1)
    wrong = beta.isf(error, trials - successes + 1, successes)  # 1 − p, to full precision
    expected = math.log(chance / (1 - chance) if chance < 0.5 else (1 - wrong) / wrong)
    bound = lower_log_odds(successes, trials, error)
    assert bound == pytest.approx(expected, abs=1e-7)
    assert bound <= expected + 1e-9


@settings(deadline=None, max_examples=200)
@given(st.data(), st.integers(1, 40), st.floats(1e-9, 0.99))
def test_the_bound_is_safe_and_as_large_as_that_allows(
    data: Any, trials: int, error: float
) -> None:
    successes = data.draw(st.integers(1, trials))
    bound = lower_log_odds(successes, trials, error)
    assert exact_tail(successes, trials, Fraction(math.exp(bound))) <= Fraction(error)
    assert exact_tail(successes, trials, Fraction(math.exp(bound + 1e-6))) > Fraction(error)


@pytest.mark.parametrize("error", [0.3, 0.05, 0.001])
@pytest.mark.parametrize("trials", [1, 7, 40])
def test_the_promise_is_kept_for_every_chance(error: float, trials: int) -> None:
    """For every probability, the bound exceeds its log-odds with probability at most `error`."""
    bounds = [lower_log_odds(k, trials, error) for k in range(trials + 1)]
    assert bounds == sorted(bounds)
    for log_odds in [x / 4 for x in range(-24, 25)]:
        above = [k for k, bound in enumerate(bounds) if bound > log_odds]
        if above:
            assert exact_tail(above[0], trials, Fraction(math.exp(log_odds))) <= Fraction(error)


def test_the_ends() -> None:
    assert lower_log_odds(0, 5, 0.01) == -math.inf
    assert tail(0, 5, 1.0) == 1.0
    assert tail(3, 5, 800.0) == 1.0
    assert tail(3, 5, -800.0) == 0.0
    chance = 0.001 ** (1 / 30)  # if all trials succeed, p^n = error
    assert lower_log_odds(30, 30, 0.001) == pytest.approx(math.log(chance / (1 - chance)))


@pytest.mark.parametrize(
    ("successes", "trials", "error"),
    [
        (-1, 5, 0.1),
        (6, 5, 0.1),
        (0, 0, 0.1),
        (True, 5, 0.1),
        (2.0, 5, 0.1),
        (2, 5, 0.0),
        (2, 5, 1.0),
    ],
)
def test_what_makes_no_sense_is_refused(successes: Any, trials: int, error: float) -> None:
    with pytest.raises(ArgumentError):
        lower_log_odds(successes, trials, error)
