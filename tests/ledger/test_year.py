"""Twelve monthly means with a ledger have the forecast errors and leave the forecast budgets."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws import corridor
from epsilons.questions.question import Call
from epsilons.types import Floats

MONTHS = 12
N = 10_000
WHO = np.arange(N)
EPSILON: Floats = np.exp(np.random.default_rng(17).uniform(-3, 1, N))
TIMES = 6
"""The number of simulated years."""

HIGH, HIGHEST, LOW = 1.4, 4.8, 0.3
"""Limits on mean |error|/forecast: largest overall, largest in a month, smallest overall."""

Year = tuple[np.ndarray, float]


def half(random: np.random.Generator) -> Floats:
    """Give a random half of the people the value 1.

    This is the worst case if budgets are unrelated.
    """
    found: Floats = random.permutation(WHO % 2).astype(np.float64)
    return found


def strict(_: np.random.Generator) -> Floats:
    """Give people with small budgets the value 1, so budgets are related to values."""
    found: Floats = (np.median(EPSILON) > EPSILON).astype(np.float64)
    return found


def carried_out(
    where: Path, question: dict[str, Any], values: Callable[..., Floats], **rule: Any
) -> Year:
    """Return the error of each month, and the fraction of all budgets that is left at the end."""
    random = np.random.default_rng([17, sum(map(ord, where.name))])
    errors = []
    with ep.Ledger.create(where) as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        for month in range(MONTHS):
            x = values(random)
            asked = ep.Mean(x, **question)
            call = Call.of(epsilon=None, person=WHO)
            seed = ep.Seeded(int(random.integers(2**32)))  # users cannot pass a seed with a ledger
            claim = ledger.claim(str(month), **rule)
            (release,) = corridor.through([asked], call, seed, claim)
            errors.append(float(release.raw) - x.mean())
        status = ledger.status()
        assert status.given is not None
        assert status.spent is not None
        left = 1.0 - status.spent / status.given
        ledger.check().require()
    return np.array(errors), left


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("related", "values"), [(False, half), (True, strict)])
def test_a_year_is_as_forecast(
    related: bool, values: Callable[..., Floats], tmp_path: Path
) -> None:
    """Errors and remaining budgets of a year are as forecast.

    False alarms: the mean absolute value of 72 Laplace draws exceeds 1.4 standard deviations with
    probability below 10⁻⁹, and is below 0.3 with probability below 10⁻⁸. The mean of 6 exceeds 4.8
    with probability below 10⁻¹⁰. The next test computes these Gamma tails. Normal errors are more
    concentrated.
    """
    question: dict[str, Any] = {"bounds": (0, 1), "related": related}
    with ep.Ledger.create(tmp_path / "plan.db") as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        plan = ledger.plan([ep.Mean("x", **question)] * MONTHS)
    forecast = np.array([step.error for step in plan.steps])
    years = [
        carried_out(tmp_path / f"even{year}.db", question, values, share=1 / MONTHS)
        for year in range(TIMES)
    ]
    errors = np.array([errors for errors, _ in years])
    ratios = np.abs(errors) / forecast
    assert ratios.mean() <= HIGH
    assert (ratios.mean(axis=0) <= HIGHEST).all()
    assert all(left == pytest.approx(plan.left, abs=0.01) for _, left in years)
    # If each month may take up to the same limit from everyone, errors are also as forecast,
    # including the error of the last month.
    uniform = [
        carried_out(tmp_path / f"limit{year}.db", question, values, at_most=plan.at_most)
        for year in range(TIMES)
    ]
    limited = np.array([errors for errors, _ in uniform])
    foretold = np.array([step.uniform for step in plan.steps])
    assert (np.abs(limited) / foretold).mean() <= HIGH
    assert (np.abs(limited[:, -1]) / foretold[-1]).mean() <= HIGHEST
    assert all(left == pytest.approx(plan.left_uniform, abs=0.02) for _, left in uniform)
    if not related:  # these data are nearly the worst case, so errors are near their forecasts
        assert ratios.mean() >= LOW
        assert (np.abs(limited) / foretold).mean() >= LOW
        assert foretold[-1] > 1.5 * forecast[-1]
    rows = zip(
        np.sqrt((errors**2).mean(axis=0)),
        forecast,
        np.sqrt((limited**2).mean(axis=0)),
        foretold,
        strict=True,
    )
    print(f"\nrelated={related}: month, measured, forecast, measured and forecast with a limit")
    for month, row in enumerate(rows, start=1):
        print(month, *(f"{each:.4g}" for each in row))
    print("left", years[0][1], plan.left, "with a limit", uniform[0][1], plan.left_uniform)


def test_how_rare_a_false_alarm_is() -> None:
    """The stated false-alarm probabilities are correct.

    The absolute value of Laplace noise with standard deviation 1 is exponential with mean √½.
    """
    from scipy import stats

    many = MONTHS * TIMES
    assert stats.gamma(many, scale=math.sqrt(0.5) / many).sf(HIGH) < 1e-9
    assert stats.gamma(many, scale=math.sqrt(0.5) / many).cdf(LOW) < 1e-8
    assert MONTHS * stats.gamma(TIMES, scale=math.sqrt(0.5) / TIMES).sf(HIGHEST) < 1e-9


def test_an_error_that_is_three_times_too_large_would_be_noticed() -> None:
    """If errors are three times too large, the test passes with probability below 10⁻³."""
    from scipy import stats

    many = MONTHS * TIMES
    assert stats.gamma(many, scale=3.0 * math.sqrt(0.5) / many).cdf(HIGH) < 1e-3
