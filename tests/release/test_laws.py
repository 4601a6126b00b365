"""Intervals of releases are as wide as an independent computation of the noise requires."""

from __future__ import annotations

import itertools
import math
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import epsilons as ep
from epsilons.risk.margins import Ratio, RatioCells
from epsilons.risk.weighing import RELATED, UNRELATED, Assumption

N = 4000
EPSILON = 0.3


def halves(interval: Any, raw: Any) -> np.ndarray:
    low, high = interval
    return np.array([np.max(raw - np.asarray(low)), np.max(np.asarray(high) - raw)])


def mean(assumption: Assumption, **given: Any) -> ep.Release:
    values = np.tile([40.0, 60.0], N // 2)
    kind: dict[str, Any] = {"bounds": (0, 100), "source": ep.Seeded(1), **given}
    return ep.mean(values, epsilon=EPSILON, **asdict(assumption), **kind)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("assumption", [UNRELATED, RELATED, Assumption("people", 0.3)])
def test_where_only_the_noise_is_random_an_interval_is_its_quantile(
    assumption: Assumption, confidence: float
) -> None:
    """If budgets are equal, the only error is Laplace noise of scale range/(n·ε).

    The interval is its quantile.
    """
    release = mean(assumption)
    scale = 100.0 / (N * EPSILON)
    expected = stats.laplace.ppf(0.5 + confidence / 2.0, scale=scale)
    np.testing.assert_allclose(halves(release.interval(confidence), release.raw), expected, 1e-4)
    for side in release.sides:
        assert side.error == pytest.approx(-math.log(0.05) * scale, rel=1e-4)
    data = release.to_dict()
    low, high = data["interval"]
    assert high - low == pytest.approx(-2.0 * math.log(0.05) * scale, rel=1e-4)


def of_four(x: float, scale: float) -> float:
    """Return the density of one of four Laplace variables, given that they sum to zero.

    See `cell_of_four`.
    """
    far = abs(x) / scale
    return math.exp(-2.0 * far) * (3.0 + 3.0 * far + far * far) / (5.0 * scale)


def shares(assumption: Assumption, **given: Any) -> Any:
    values = np.repeat([0, 1, 2, 3], N // 4)
    kind: dict[str, Any] = {"categories": [0, 1, 2, 3], "source": ep.Seeded(2), **given}
    return ep.frequencies(values, epsilon=EPSILON, **asdict(assumption), **kind)


def cell_of_four(beta: float) -> float:
    """Solve P(|z| > a) = β for a.

    z is one of four unit Laplace variables that sum to zero. The other three sum to −z, with
    density e^{−|z|}·(3 + 3|z| + z²)/16.
    """

    def rest(a: float) -> float:
        return integrate.quad(lambda x: math.exp(-2.0 * x) * (3.0 + 3.0 * x + x * x), a, 60.0)[0]

    whole = rest(0.0)
    return float(optimize.brentq(lambda a: rest(a) / whole - beta, 0.0, 50.0))


def two_laplace_tail(a: float, b: float, at: float) -> float:
    """Return P(X + Y > at) for independent Laplace variables of scales a and b, by integration."""

    def inside(x: float) -> float:
        return float(stats.laplace.pdf(x, scale=a)) * float(stats.laplace.sf(at - x, scale=b))

    spots = sorted({-40.0 * a, 0.0, at, 40.0 * a + at})
    return sum(integrate.quad(inside, u, v, limit=200)[0] for u, v in itertools.pairwise(spots))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_an_interval_under_add_remove_ends_where_the_noise_refutes_it(confidence: float) -> None:
    """At an end m of an interval, the tail of the noise has the allowed probability.

    For a noisy sum t̂ and a noisy total T̂, t̂ − m·T̂ has noise (1 − m)·X − m·Y.
    A fraction of 1/20 of β is reserved for the total. The search stops at a precision of 1/256, and
    the total shifts the allowed tail slightly. An interval 10 % narrower would exclude possible
    true values.
    """
    release = mean(RELATED, neighbours="add-remove")
    sums = release.estimate.margin
    assert isinstance(sums, Ratio)
    t, total = sums.drawn
    scale = sums.largest / EPSILON
    for end in release.interval(confidence):
        m = end / 100.0
        far = two_laplace_tail((1.0 - m) * scale, m * scale, abs(t - m * total))
        allowed = (1.0 - confidence) * 0.95 / 2.0
        assert 0.85 * allowed <= far <= 1.001 * allowed
    spread = halves(release.interval(0.95), release.value).max()
    assert release.sides[0].error == pytest.approx(spread, rel=1e-6)


def least_chernoff(a: float, b: float, more: int, far: float) -> float:
    """Return the smaller of two bounds on P(X + Y₁ + … > far).

    One is Chernoff's bound at the best rate. The other is ½·E[exp((Y₁ + … − far)/a)], from the tail
    of X; it is used if a > b.
    """

    def exponent(rate: float) -> float:
        return -rate * far - math.log1p(-((rate * a) ** 2)) - more * math.log1p(-((rate * b) ** 2))

    widest = max(a, b)
    best = optimize.minimize_scalar(
        exponent, bounds=(0.0, (1.0 - 1e-9) / widest), method="bounded", options={"xatol": 1e-12}
    ).fun
    if a > b:
        best = min(best, -far / a - math.log(2.0) - more * math.log1p(-((b / a) ** 2)))
    return math.exp(min(best, 0.0))


@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_intervals_of_shares_under_add_remove(confidence: float) -> None:
    """Chernoff's bound gives the ends p of the intervals.

    For noisy counts c, c_j − p·Σc has noise (1 − p)·X − p·(Y₁ + Y₂ + Y₃).
    """
    release = shares(RELATED, neighbours="add-remove")
    sums = release.estimate.margin
    assert isinstance(sums, RatioCells)
    counts = sums.drawn
    scale = sums.largest / EPSILON
    allowed = (1.0 - confidence) * 0.95 / 2.0
    for ends in release.interval(confidence):
        for count, p in zip(counts, ends, strict=True):
            far = abs(count - p * counts.sum())
            found = least_chernoff((1.0 - p) * scale, p * scale, 3, far)
            assert 0.85 * allowed <= found <= 1.001 * allowed
    band, each = release.band(confidence), release.interval(1.0 - (1.0 - confidence) / 4.0)
    np.testing.assert_allclose(band, each)
    share = np.clip(release.raw, 0.0, 1.0)
    low, high = release.band(0.95)
    expected = max(np.max(share - low), np.max(high - share))
    assert release.error_at_once == pytest.approx(expected, rel=1e-9)
