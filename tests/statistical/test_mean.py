"""Bias, forecast error and interval coverage of the mean, on worst-case data.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁶: 200 comparisons at 10⁻⁹ each (six standard errors, or the
exact binomial tail). Ratios of widths have a larger tolerance.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import asdict
from functools import cache

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import RULES
from epsilons.draws.mechanisms import Additive, SumAndSquares
from epsilons.results.release import Scalar
from epsilons.risk.margins import Weighed
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests.profiles import ORDINARY

ASSUMPTIONS = (SAMPLE, UNRELATED, RELATED)
RUNS = 20_000
PROFILES = {**ORDINARY, "generous": ep.Budgets({2.0: 12, 4.0: 20, 8.0: 8})}
"""Budget profiles. For the last profile, a staircase is chosen under every assumption."""

TAIL = 1e-9


def people_of(budgets: ep.Budgets) -> np.ndarray:
    return np.repeat(budgets.levels, budgets.counts)


@cache
def released(profile: str, assumption: Assumption, method: str = "auto") -> ep.Release:
    epsilon = people_of(PROFILES[profile])
    return ep.mean(
        np.zeros(len(epsilon)),
        epsilon=epsilon,
        bounds=(0, 1),
        **asdict(assumption),
        method=method,
        source=ep.Seeded(1),
    )


@cache
def errors_of(
    release: ep.Release, assumption: Assumption, seed: int, share: float = 0.5
) -> np.ndarray:
    """Simulate errors on two-point data, the worst case. Results are cached."""
    mechanism = release.mechanism
    assert isinstance(mechanism, (Additive, SumAndSquares))
    rng = np.random.default_rng(seed)
    counts, weights = mechanism.counts, mechanism.weights.astype(np.float64)
    n = int(counts.sum())
    if assumption == SAMPLE:
        ones = rng.binomial(counts, share, size=(RUNS, len(counts)))
        truth = share
    elif assumption == UNRELATED:
        ones = rng.multivariate_hypergeometric(counts, int(share * n), size=RUNS)
        truth = int(share * n) / n
    else:  # the worst order: people with weights above 1/n have the value 1, the others 0
        heavy = mechanism.weighing.weights > 1.0 / n
        ones = np.broadcast_to(np.where(heavy, counts, 0), (RUNS, len(counts)))
        truth = float(counts[heavy].sum()) / n
    drawn = mechanism.law.draw(ep.Seeded(seed), RUNS)
    noise = mechanism.means(drawn) - mechanism.mean(0)
    data = mechanism.mean(0) + ones @ weights / float(mechanism.divisor)
    return np.asarray(data + noise - truth)


@pytest.mark.parametrize("assumption", ASSUMPTIONS)
def test_a_staircase_is_among_what_is_tested_here(assumption: Assumption) -> None:
    assert released("generous", assumption).method == "staircase"


def half_width(release: ep.Release, confidence: float) -> float:
    """Return the half-width of the interval, or ∞ if the interval is the full range.

    `test_moment.py` tests intervals that use the spread of the data.
    """
    assert isinstance(release.estimate, Scalar)
    margin = release.estimate.margin
    assert isinstance(margin, Weighed)
    plain = Weighed(margin.weighing, margin.slack)
    centred = dataclasses.replace(release.estimate, raw=0.0, value=0.0, margin=plain)
    low, high = dataclasses.replace(release, estimate=centred).interval(confidence)
    return high if low == 0.0 and high < 1.0 else math.inf


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED])
@pytest.mark.parametrize("method", [name for name in RULES if name != "minimax"])
def test_no_method_is_biased_when_budgets_say_nothing(method: str, assumption: Assumption) -> None:
    release = released("half strict", assumption, method)
    errors = errors_of(release, assumption, seed=12, share=0.3)
    assert abs(errors.mean()) <= 6.0 * errors.std() / math.sqrt(RUNS)


def test_minimax_has_the_bias_that_was_foretold() -> None:
    release = released("wide", SAMPLE, "minimax")
    pull = 1.0 - release.mechanism.weighing.total
    errors = errors_of(release, SAMPLE, seed=13, share=0.9)
    assert pull > 0.01
    assert abs(errors.mean() + pull * 0.4) <= 6.0 * errors.std() / math.sqrt(RUNS)
