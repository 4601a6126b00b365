"""Intervals cover if δ is the actual difference, and miss if δ is smaller.

The data are the worst case under each assumption. So these tests show that coverage tests can fail,
and that the bias can be as large as its bound. Other tests here measure how much a small δ reduces
the error on the demo data.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁷: fewer than 100 comparisons at 10⁻⁹ each, by exact
binomial tails or six standard errors.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.draws.mechanisms import SumAndSquares
from epsilons.types import Floats

TAIL: Final = 1e-9
SIGMAS: Final = 6.0
RUNS: Final = 400
DRAWS: Final = 40_000
MINUTES: Final = (0.0, 120.0)


def misses(values: Any, epsilon: Floats, truth: Any, seed: int, **said: Any) -> int:
    """Count the releases in which the interval or the band missed, out of 400."""
    source, found = ep.Seeded(seed), 0
    for _ in range(RUNS):
        if "categories" in said:
            low, high = ep.frequencies(values, epsilon=epsilon, source=source, **said).band()
        else:
            low, high = ep.mean(values, epsilon=epsilon, source=source, **said).interval()
        found += not bool(np.all((low <= truth) & (truth <= high)))
    return found


def hold(found: int) -> bool:
    """Return whether the number of misses is consistent with 95 % coverage."""
    return found <= binom.isf(TAIL, RUNS, 0.05)


def fail(found: int) -> bool:
    """Return whether the number of misses shows a coverage below one half."""
    return found > binom.isf(TAIL, RUNS, 0.5)


# The default assumption of earlier versions, with budgets that are related to values.


# Worst-case data in which budget levels differ by exactly δ.

WIDE: Final = np.repeat([0.05, 1.0], 2_000)
DELTAS: Final = (0.04, 0.1, 0.2)


def heavy(release: ep.Release) -> np.ndarray:
    """Return, for each budget level, whether its people have a weight above 1/n."""
    weighing = release.mechanism.weighing
    return np.asarray(weighing.weights > 1.0 / weighing.n)


def worst(delta: float) -> np.ndarray:
    """Return zeros and ones.

    Among people with weights above 1/n, the share of ones is larger by δ.
    """
    ones = round(2_000 * (0.5 + delta / 2.0))
    values = np.concatenate([np.arange(2_000) >= ones, np.arange(2_000) < ones]).astype(np.int64)
    assert values[2_000:].mean() - values[:2_000].mean() == pytest.approx(delta, rel=1e-12)
    return values


# The error on the demo data with δ = 5 %.


@cache
def commute() -> tuple[Floats, Floats]:
    table = pl.read_csv(str(files("epsilons") / "data" / "commute.csv"))
    return table["minutes"].to_numpy().clip(*MINUTES), table["epsilon"].to_numpy()


def apart_by(delta: float, release: ep.Release) -> Floats:
    """Return the demo's minutes, with a mean larger by δ among people of weight above 1/n."""
    minutes, epsilon = commute()
    values, middle = minutes.copy(), float(minutes.mean())
    reach = delta * (MINUTES[1] - MINUTES[0]) / 2.0
    for level, above in zip(release.mechanism.levels, heavy(release), strict=True):
        own = minutes[epsilon == level]
        # Values are shrunk slightly towards the mean, so all of them stay in the range.
        values[epsilon == level] = 0.8 * (own - own.mean()) + middle + (reach if above else -reach)
    assert MINUTES[0] <= values.min()
    assert values.max() <= MINUTES[1]
    return values


def errors(values: Floats, seed: int, **said: Any) -> tuple[Floats, ep.Release]:
    """Return the errors of many draws from the mechanism of one release, and the release."""
    epsilon = commute()[1]
    release = ep.mean(values, epsilon=epsilon, bounds=MINUTES, source=ep.Seeded(seed), **said)
    mechanism = release.mechanism
    assert isinstance(mechanism, SumAndSquares)
    nothing = mechanism.estimate((0, 0))
    noise = mechanism.estimates(mechanism.draw(ep.Seeded(seed), DRAWS)) - nothing
    weights = np.repeat(mechanism.weighing.weights, mechanism.counts)
    exact = float(weights @ values[np.argsort(epsilon, kind="stable")])
    # The released value is this weighted mean plus the noise that its seed gives.
    drawn = mechanism.estimate(mechanism.draw(ep.Seeded(seed))) - nothing
    assert release.raw == pytest.approx(exact + drawn, abs=1e-6)
    return exact + noise - float(values.mean()), release


def test_a_small_difference_buys_a_third_less_error_on_the_demo() -> None:
    minutes, epsilon = commute()
    built = ep.mean(minutes, epsilon=epsilon, bounds=MINUTES, related=0.05, source=ep.Seeded(0))
    values = apart_by(0.05, built)
    ours, release = errors(values, 11, related=0.05)
    strict, _ = errors(values, 12, method="uniform")
    squares, theirs = np.square(ours), np.square(strict)
    measured = math.sqrt(theirs.mean() / squares.mean())
    room = 0.5 * math.hypot(squares.std() / squares.mean(), theirs.std() / theirs.mean())
    room *= SIGMAS * measured / math.sqrt(DRAWS)
    plan = ep.plan(ep.Budgets(epsilon), bounds=MINUTES, related=0.05)
    (forecast,) = (side.gain for side in plan.sides if side.related == 0.05)
    print(
        f"measured {math.sqrt(squares.mean()):.3f} and {math.sqrt(theirs.mean()):.3f} minutes, "
        f"{measured:.3f} times; forecast {forecast:.3f} times"
    )
    assert forecast >= 1.35
    assert measured >= 1.35
    assert measured == pytest.approx(forecast, abs=room)
    low, high = release.interval()
    missed = int((np.abs(ours) > (high - low) / 2.0).sum())
    print(f"held {1.0 - missed / DRAWS:.4f}")
    assert binom.ppf(TAIL, DRAWS, 0.05) <= missed <= binom.isf(TAIL, DRAWS, 0.05)
