"""Intervals of moments from soft cells cover the true values if errors are within their bounds.

With soft cells, each person divides one unit among several cells.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from epsilons.risk.margins import Weighed
from epsilons.risk.means import mean
from epsilons.risk.means.spread import Seen, Spreading
from epsilons.risk.moments.forms import WeighedForms
from epsilons.risk.moments.margins import (
    Function,
    RatioMoments,
    SoftMoments,
    Varied,
    WeighedMoments,
)
from epsilons.risk.moments.tested import RatioTests, TestedMoments, WeighedTests
from epsilons.risk.tails.combined import Contrast
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption, Weighing
from epsilons.types import Floats


@dataclass(frozen=True, eq=False)
class Boxed(SoftMoments):
    """Moments from shares that are each off by at most `most`.

    Error bounds follow from `most` alone.
    """

    drawn: Floats
    most: float

    @property
    def shares(self) -> Floats:
        return self.drawn

    def noise(self, values: Floats) -> Contrast:
        return Contrast(values, 0.0)

    def far(self, function: Function, assumption: Assumption, beta: float) -> float:
        return self.most * float(np.abs(function.values).sum(axis=-1).max())

    def leading(self, function: Function, assumption: Assumption) -> float:
        return function.reach


class BoxedTests(TestedMoments, Boxed):
    """The same moments as `Boxed`, with intervals from direct tests."""


def thirds(x: Floats) -> Floats:
    return np.stack([x * x, 2.0 * x * (1.0 - x), (1.0 - x) ** 2])


def nine(x: Floats, y: Floats) -> Floats:
    return np.asarray((thirds(x)[:, None, :] * thirds(y)[None, :, :]).mean(axis=2).ravel())


def columns(law: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    x = rng.random(40)
    laws: list[tuple[Any, Any]] = [
        (x, rng.random(40)),
        (x, x.copy()),
        (x, 1.0 - x),
        ((x < 0.3) * 1.0, (rng.random(40) < 0.5) * 1.0),
        (x**6, np.clip(x**6 + 0.1 * rng.random(40), 0.0, 1.0)),
        (0.9 + 0.1 * x, rng.random(40)),
    ]
    return laws[law]


@pytest.mark.parametrize("boxed", [Boxed, BoxedTests])
def test_without_errors_everything_is_exact(boxed: type[Boxed]) -> None:
    rng = np.random.default_rng(9)
    x, y = rng.random(50), rng.random(50)
    margin = boxed(nine(x, y), 0.0)
    slope, rho = margin.slope(RELATED, 0.9), margin.correlation(RELATED, 0.9)
    assert slope.interval == pytest.approx((np.polyfit(x, y, 1)[0],) * 2)
    assert rho.interval == pytest.approx((np.corrcoef(x, y)[0, 1],) * 2)
    assert margin.covariance(RELATED, 0.9).interval == pytest.approx(
        (np.cov(x, y, bias=True)[0, 1],) * 2
    )
    three = boxed(thirds(x).mean(axis=1), 0.0)
    assert three.variance(0, RELATED, 0.9).interval == pytest.approx((x.var(),) * 2)
    assert three.raw_variance == pytest.approx(x.var())


def weighed(n: int = 900, kind: type[WeighedMoments] = WeighedMoments) -> WeighedMoments:
    counts = np.array([n // 3, n - n // 3])
    weights = np.array([0.5, 1.5]) / float(np.array([0.5, 1.5]) @ counts)
    rng = np.random.default_rng(1)
    shares = nine(rng.random(50), rng.random(50))
    whole = Weighing(weights, counts, 0.002, closed=ClosedNoise(9))
    return kind(whole, 1e-8, 1e-11, shares)


KINDS = pytest.mark.parametrize("kind", [WeighedMoments, WeighedTests, WeighedForms])


ALL = [Assumption(about, r) for about in ("people", "population") for r in (True, 0.05, False)]


@pytest.mark.parametrize("assumption", ALL)
def test_a_bound_of_one_function_is_that_of_a_mean_but_for_the_noise(
    assumption: Assumption,
) -> None:
    """The error bound for the mean of a function with range ℓ is ℓ times that of a mean.

    This is tested with negligible noise, because the noise of a function depends on all cells.
    """
    margin = weighed()
    silent = Weighing(margin.weighing.weights, margin.weighing.counts, 1e-9)
    quiet = WeighedMoments(silent, 0.0, 0.0, margin.drawn)
    u = np.array([0.5, 0.0, -0.5])
    for values, reach in ((np.kron(u, np.ones(3)), 1.0), (np.kron(u, u), 0.5)):
        found = quiet.far(Function(values, reach), assumption, 0.05)
        usual = reach * (Weighed(silent, 0.0).error(assumption, 0.95))
        assert found >= 0.9 * usual
        if assumption not in (SAMPLE, UNRELATED):
            assert found == pytest.approx(usual, rel=0.02)


@KINDS
def test_shares_that_drowned_tell_nothing(kind: type[WeighedMoments]) -> None:
    whole = weighed()
    for drawn in (np.full(9, 1e200), np.full(9, math.inf)):
        margin = kind(whole.weighing, 0.0, 0.0, drawn)
        assert margin.covariance(RELATED, 0.9).interval == (-0.25, 0.25)
        assert margin.variance(0, RELATED, 0.9).interval == (0.0, 0.25)
        assert margin.mean(1, RELATED, 0.9).interval == (0.0, 1.0)
        assert margin.slope(RELATED, 0.9).interval == (-math.inf, math.inf)
        assert margin.correlation(RELATED, 0.9).interval == (-1.0, 1.0)
    open_ = RatioMoments if kind is WeighedMoments else RatioTests
    empty = open_(drawn=np.full(9, -3.0), scale=5.0, slack=0.0, largest=1.0, equal=True)
    assert empty.covariance(RELATED, 0.9).interval == (-0.25, 0.25)
    assert empty.slope(RELATED, 0.9).interval == (-math.inf, math.inf)
    assert empty.correlation(RELATED, 0.9).interval == (-1.0, 1.0)
    assert empty.risk(0, 1, RELATED) <= 0.25


def test_a_noisy_total_is_no_more_than_noise() -> None:
    """With very many people, a noisy total adds almost nothing to the error. With few, it does."""
    rng = np.random.default_rng(3)
    shares = nine(rng.random(50), rng.random(50))
    open_ = RatioMoments(drawn=shares * 1e7, scale=2.0, slack=0.0, largest=1.0, equal=True)
    u = np.array([0.5, 0.0, -0.5])
    values = np.kron(u, u)
    own = Contrast(values - float(values @ shares), 2.0).deviation(0.0, 0.0, 0.95 * 0.05)
    assert open_.far(Function(values, 0.5), RELATED, 0.05) == pytest.approx(own / 1e7, rel=1e-3)
    few = RatioMoments(drawn=shares * 30.0, scale=2.0, slack=0.0, largest=1.0, equal=True)
    assert few.far(Function(values, 0.5), RELATED, 0.05) > 1.3 * own / 30.0


@pytest.mark.parametrize("people", [150.0, 1000.0])
def test_the_noise_of_a_total_counts_in_products_of_errors(people: float) -> None:
    """Shares are divided by a noisy total, whose error makes products of errors larger too."""
    rng = np.random.default_rng(4)
    shares = nine(rng.random(50), rng.random(50))
    open_ = RatioMoments(drawn=shares * people, scale=2.0, slack=0.0, largest=1.0, equal=True)
    beta = 0.1
    about = Contrast(np.ones(9), 2.0).deviation(0.0, 0.0, 0.025 * 0.92 * beta)
    more = (people + about) / (people - about)
    u, even = np.array([0.5, 0.0, -0.5]), np.ones(3)
    a, b = (
        open_.far(Function(line, 1.0), RELATED, 0.02 * beta)
        for line in (np.kron(u, even), np.kron(even, u))
    )
    own = open_.far(open_._around(0, 1), RELATED, 0.92 * beta)
    told = open_.covariance(RELATED, 1.0 - beta)
    least = min(own + (1.0 + 2.0 * more) * a * b, 0.25 - told.value)
    assert told.high - told.value >= least * (1.0 - 1e-12)


def test_a_variance_beside_a_mean_is_the_square_of_its_spread() -> None:
    whole = Weighing(np.array([1.0 / 500]), np.array([500]), 0.004)
    margin = Varied(whole, 1e-6, 0.1, 0.05)
    low, high = Spreading(whole, SAMPLE).deviation(Seen(0.1, 0.05, 1e-6), 0.05)
    told = margin.variance(SAMPLE, 0.95)
    assert told.interval == pytest.approx((low * low, high * high))
    assert told.value == pytest.approx(0.05 - 0.01 + 2 * 0.004**2)
    assert margin.interval(0.0, (0.0, 25.0), SAMPLE, 0.95) == pytest.approx(
        (100.0 * low * low, 100.0 * high * high)
    )
    reach = 0.36  # the range of (x − ½ − 0.1)², around the noisy mean
    noise = 2.0 * 0.004**2 * (1.0 + 0.04)
    assert margin.risk(SAMPLE) == pytest.approx(reach**2 * 0.25 / 500 + noise)
    assert float(mean.mse(whole, SAMPLE)) > 0.0
