"""Intervals of a mean from three noisy cells, against enumeration and formulas written out here."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar

from epsilons.risk.counted import LevelCount, costliest
from epsilons.risk.means.ratio_spread import RatioSpread, _Chance
from epsilons.risk.weighing import RELATED, UNRELATED

BETA = 0.05
WEIGHTS = np.array([2, 8, 20])


def cells_of(k: Any, x: Any) -> Any:
    """Return the sums of k·x², 2k·x·(1 − x) and k·(1 − x)²."""
    return np.array([k @ (x * x), 2.0 * k @ (x * (1.0 - x)), k @ np.square(1.0 - x)])


@pytest.mark.parametrize("seed", range(4))
def test_moments_of_all_assignments_are_within_their_bounds(seed: int) -> None:
    """Six people, all 720 assignments of values to weights: exact moments, and exact tails."""
    rng = np.random.default_rng(seed)
    k = np.array([1.0, 1.0, 1.0, 3.0, 3.0, 7.0])
    x = [rng.integers(0, 2, 6).astype(float), rng.random(6), rng.random(6) ** 4][seed % 3]
    m, sigma = float(x.mean()), float(x.std())
    every = np.array(list(itertools.permutations(x)))
    sums, squares = (every - m) @ k, np.square(every - m) @ k
    heads = np.array([3.0, 2.0, 1.0])
    chance = _Chance(np.array([1.0, 3.0, 7.0]), heads, float(k.sum()), sampled=False)
    rates = np.geomspace(0.01, 5.0, 20)
    bounds = chance.logs(rates, sigma)
    for sign in (1.0, -1.0):
        exact = np.log(np.exp(sign * np.outer(rates, sums)).mean(axis=1))
        assert (exact <= bounds + 1e-12).all()
    assert chance.squares == pytest.approx(np.square(k - 1.0).sum(), rel=1e-6)
    widest = max(m, 1.0 - m) ** 2
    for log in (0.5, 1.0, 2.0):
        far = k.sum() * sigma**2 - sigma * math.sqrt(2.0 * widest * chance.squares * log)
        assert (squares < far).mean() <= math.exp(-log)


def test_the_worth_of_people_is_bounded_as_a_linear_program_does_it() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        worth, weights = rng.random(4), np.sort(rng.random(4)) + 0.1
        people, total = rng.integers(1, 50, 4).astype(float), 40.0 * rng.random()
        best = linprog(-worth, A_ub=[weights], b_ub=[total], bounds=[(0.0, h) for h in people])
        assert costliest(worth[None], weights, people, total)[0] == pytest.approx(-best.fun)
    # If the number of people at each weight is unknown, only their total weight limits them.
    unknown = costliest(worth[None], weights, np.full(4, np.inf), 10.0)[0]
    assert unknown == pytest.approx(10.0 * (worth / weights).max())


def by_hand(margin: RatioSpread, m: float, heads: Any) -> float:
    """Return the logarithm of the bound on the tail at a candidate m, without a grid of rates."""
    (first, middle, last), scale = margin.drawn.tolist(), margin.scale
    rest = 0.9 * BETA
    t, total = first + middle / 2.0, first + middle + last
    about = min(
        (-3.0 * math.log1p(-((r * scale) ** 2)) - math.log(0.025 * rest)) / r
        for r in np.linspace(1e-3, 0.999, 4000) / scale
    )
    square = (1.0 - m) ** 2 * first - m * (1.0 - m) * middle + m * m * last
    square += scale * math.log(1.5 / (0.02 * rest))
    lost = 2.0 * max(m, 1.0 - m) ** 2 * float(heads @ np.square(WEIGHTS - 2.0))
    lost *= -math.log(0.04 * rest)
    low = total - about
    sigma = (math.sqrt(lost) + math.sqrt(lost + 4.0 * low * square)) / (2.0 * low)
    sigma = min(sigma, math.sqrt(m * (1.0 - m)))
    rare = (1.0 - math.sqrt(1.0 - 4.0 * sigma**2)) / 2.0
    reach = abs(t - m * total)

    def log(rate: float) -> float:
        moments = []
        for each in (WEIGHTS - 2.0, 20.0 - WEIGHTS):
            slopes = rate * each
            with np.errstate(divide="ignore", invalid="ignore"):
                worst = np.where(slopes > 1e-9, 1.0 / slopes - 1.0 / np.expm1(slopes), 0.5)
            share = np.minimum(rare, worst)
            moments.append(float(heads @ (np.log1p(share * np.expm1(slopes)) - slopes * share)))
        noises = [-math.log1p(-((rate * scale * c) ** 2)) for c in (m, abs(0.5 - m), 1.0 - m)]
        return min(moments) + sum(noises) - rate * reach

    top = 0.999 / (scale * max(m, 1.0 - m))
    return float(minimize_scalar(log, bounds=(1e-6, top), method="bounded").fun)


def test_an_end_is_where_the_tail_is_as_small_as_stated() -> None:
    """At each end of an interval, the recomputed bound on the tail equals the end's part of β.

    The tolerance is small: an end computed for a part that is larger by 2 % of β fails the test.
    """
    counted = LevelCount((800, 900, 3000), (0.05, 0.05, 0.1), WEIGHTS)
    rng = np.random.default_rng(3)
    k = np.repeat(WEIGHTS, [800, 900, 3000]).astype(float)
    cells = cells_of(k, rng.beta(2.0, 5.0, len(k)))
    margin = RatioSpread(
        drawn=cells,
        scale=20.0,
        slack=0.0,
        largest=20.0,
        equal=False,
        counted=counted,
        rungs=WEIGHTS,
    )
    low, high = margin.unit(UNRELATED, 1.0 - BETA)
    part = 0.1 * BETA
    heads = np.array(counted.counts) - math.log(2.0 * part / 3.0) / np.array(counted.rates) + 1.0
    side = math.log((1.0 - 0.05 - 0.02 - 0.04) * 0.9 * BETA / 2.0)
    for end in (low, high):
        assert side - 0.05 < by_hand(margin, end, heads) < side + 0.01
    # Values that vary less have a shorter interval, and budgets that may be related a longer one.
    tight = cells_of(k, np.full(len(k), 0.3))
    still = RatioSpread(**{**_given(margin), "drawn": tight}).unit(UNRELATED, 1.0 - BETA)
    assert still[1] - still[0] < 0.7 * (high - low)
    other = margin.unit(RELATED, 1.0 - BETA)
    assert other[1] - other[0] > high - low
    wider = RatioSpread(**{**_given(margin), "counted": None}).unit(UNRELATED, 1.0 - BETA)
    assert wider[1] - wider[0] > high - low


def _given(margin: RatioSpread) -> dict[str, Any]:
    names = ("drawn", "scale", "slack", "largest", "equal", "counted", "rungs")
    return {name: getattr(margin, name) for name in names}
