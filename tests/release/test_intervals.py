"""Intervals of releases agree with formulas that are written out here."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.noise import Laplaces
from epsilons.results.release import ByLevel
from epsilons.risk.counted import LevelCount, most_squares
from epsilons.risk.margins import Ratio, RatioCells, Weighed
from epsilons.risk.means import ratio
from epsilons.risk.shares import WeighedCells
from epsilons.risk.weighing import RELATED, UNRELATED

N, EPSILON, BETA = 400, 0.5, 0.05


def test_the_interval_of_a_mean_is_the_quantile_of_its_noise() -> None:
    """If everyone has the same ε and related=True, noise is the only error.

    So the interval is a quantile of the noise. Releases of earlier versions have the same interval.
    """
    values = [20.0] * N
    release = ep.mean(
        values, epsilon=EPSILON, bounds=(0, 60), about="people", related=True, method="uniform"
    )
    low, high = release.interval(1.0 - BETA)
    reach = 60.0 / (EPSILON * N) * math.log(1.0 / BETA)
    assert high - release.raw == pytest.approx(reach, rel=1e-6)
    assert release.raw - low == pytest.approx(reach, rel=1e-6)
    assert release.sides[0].error == pytest.approx(reach, rel=1e-6)
    former = Weighed(release.mechanism.weighing, 0.01)
    assert former.error(RELATED, 1.0 - BETA) == pytest.approx(reach / 60.0 + 0.01, rel=1e-6)
    ends = former.interval(30.0, (0.0, 60.0), RELATED, 1.0 - BETA)
    assert ends == pytest.approx((29.4 - reach, 30.6 + reach), rel=1e-6)


def test_the_intervals_of_shares_are_quantiles_of_their_noise() -> None:
    """The intervals of shares are quantiles of their noise.

    A person changes two cells, so the scale is 2/(ε·n), and the noise of all cells sums to zero.

    One of four such cells has P(|z| > a) = e^{−2a}·(5 + 4a + a²)/5, in units of the scale.
    """
    release = ep.frequencies(
        [0, 1, 2, 3] * (N // 4), epsilon=EPSILON, categories=range(4), about="people", related=True
    )
    scale = 2.0 / (EPSILON * N)
    low, high = release.interval(1.0 - BETA)
    for reach in (high - release.raw, release.raw - low):
        a = reach / scale
        missed = np.exp(-2.0 * a) * (5.0 + 4.0 * a + a * a) / 5.0
        assert missed.tolist() == pytest.approx([BETA] * 4, rel=1e-5)
    inner = high - low
    low, high = release.band(1.0 - BETA)
    # The band is wider than a single interval, and narrower than a band for four independent
    # noises.
    at_once = -math.log(1.0 - (1.0 - BETA) ** (1 / 4))
    assert (high - low > inner).all()
    assert (high - low < 2.0 * scale * at_once).all()
    # Releases of earlier versions have the same intervals. With independent noise, each interval
    # and the band have closed forms.
    former = WeighedCells(release.mechanism.weighing, 0.0, 4)
    low, high = former.intervals(release.raw, RELATED, 1.0 - BETA)
    assert high - low == pytest.approx(inner, rel=1e-6)
    alone = WeighedCells(replace(former.weighing, closed=None), 0.01, 4)
    half = np.full(4, 0.5)
    for ends, factor in (
        (alone.intervals(half, RELATED, 1.0 - BETA), -math.log(BETA)),
        (alone.band(half, RELATED, 1.0 - BETA), at_once),
    ):
        reach = scale * factor + 0.01
        np.testing.assert_allclose(ends, np.outer([0.5 - reach, 0.5 + reach], np.ones(4)), 1e-6)


@pytest.mark.parametrize("weights", [(1, 4), (1, 2, 8), (0, 1, 1), (3, 3)])
def test_the_bias_is_the_largest_over_all_counts_that_the_noise_allows(
    weights: tuple[int, ...],
) -> None:
    """The stated bias is a nearly tight upper bound over all counts that the noise allows."""
    rates = (0.8, 1.0, 2.0)[: len(weights)]
    noisy = (60, 45, 70)[: len(weights)]
    counted = LevelCount(noisy, rates, np.array(weights))
    bias = counted.bias(BETA)
    reach = [math.log(len(weights) / BETA) / rate + 1.0 for rate in rates]
    spans = [np.linspace(n - r, n + r, 9) for n, r in zip(noisy, reach, strict=True)]
    k = np.array(weights, dtype=float)
    worst = 0.0
    for counts in itertools.product(*spans):
        n = np.array(counts)
        worst = max(worst, 0.5 * float(np.abs(n * k / (n @ k) - n / n.sum()).sum()))
    assert bias >= worst - 1e-12
    # With more than two rungs (budget levels), the bound is looser: it treats the rungs with small
    # weights and those with large weights separately.
    assert bias <= (1.001 if len(weights) == 2 else 1.3) * worst + 1e-12


PEOPLE = {0.5: 300, 1.0: 300}
BUDGETS = np.repeat([0.5, 1.0], 300)


def related(make: Any, values: Any, **words: Any) -> Any:
    return make(
        values,
        epsilon=BUDGETS,
        neighbours="add-remove",
        levels=[0.5, 1.0],
        cap=1.0,
        about="people",
        source=ep.Seeded(4),
        **{"related": True, **words},
    )


def test_an_interval_for_related_budgets_shares_its_error_between_count_and_noise() -> None:
    values = np.linspace(0.2, 0.6, 600)
    release = related(ep.mean, values, bounds=(0, 1), method="transformed", related=0.01)
    sums = release.estimate.margin
    assert isinstance(sums, Ratio)
    assert sums.counted is not None
    assert not sums.equal
    apart = 0.01 * sums.counted.bias(BETA / 2.0) + sums.slack
    low, high = ratio.interval(
        sums.law, sums.scheme, sums.drawn, largest=0.0, confidence=1.0 - BETA / 2.0
    )
    assert release.interval(1.0 - BETA) == (max(low - apart, 0.0), min(high + apart, 1.0))


def test_a_band_under_add_remove_speaks_of_all_categories() -> None:
    release = related(ep.frequencies, [0, 1, 2] * 200, categories=range(3))
    for confidence in (0.5, 0.95):
        each = 1.0 - (1.0 - confidence) / 3.0
        for found, wanted in zip(release.band(confidence), release.interval(each), strict=True):
            assert found.tolist() == wanted.tolist()
        (low, high), (inner_low, inner_high) = (
            release.band(confidence),
            release.interval(confidence),
        )
        assert (high - low > inner_high - inner_low).all()
    sums = release.estimate.margin
    assert isinstance(sums, RatioCells)
    assert sums.counted is not None
    assert not sums.equal
    apart = sums.counted.bias(BETA / 3.0)
    noises = ratio.OwnTotal(sums.scale, len(sums.drawn))
    low, high = ratio.share_intervals(
        sums.drawn, sums.total, noises, largest=0.0, confidence=1.0 - BETA + BETA / 3.0
    )
    found_low, found_high = release.interval(1.0 - BETA)
    assert found_low.tolist() == np.maximum(low - apart, 0.0).tolist()
    assert found_high.tolist() == np.minimum(high + apart, 1.0).tolist()


def test_a_person_spends_what_the_highest_rung_below_their_budget_spends() -> None:
    rule = ByLevel(np.array([0.1, 0.5, 2.0]), np.array([0.1, 0.4, 0.7]), None)
    found = [rule(e) for e in (0.0, 0.09, 0.1, 0.3, 0.5, 0.6, 2.0, 50.0, math.inf, math.nan, -1.0)]
    assert found == [0.0, 0.0, 0.1, 0.1, 0.4, 0.4, 0.7, 0.7, 0.7, 0.0, 0.0]
    assert [row.kept for row in rule] == pytest.approx([0.0, 0.1, 1.3])


@pytest.mark.parametrize(
    ("counts", "rates", "weights", "sampled"),
    [
        ((13, 12), (0.01, 0.02), (1, 4), True),  # the noise is larger than all counts
        ((-40, -3), (0.01, 0.02), (1, 4), True),
        ((300, 300), (0.1, 0.2), (1, 4), True),
        ((90_000, 80_000), (1.0, 1.0), (999, 1000), True),  # the weights are nearly equal
        ((0, 90_000), (10.0, 10.0), (1, 1000), False),  # at most one person has the small weight
    ],
)
def test_unrelated_budgets_have_the_shorter_of_two_intervals(
    counts: tuple[int, ...], rates: tuple[float, ...], weights: tuple[int, ...], sampled: bool
) -> None:
    """If budgets are unrelated, the shorter of two intervals is used.

    One treats people as a sample, and the other is valid for any people. The choice depends on
    counts only.
    """
    largest, total = float(weights[-1]), 1e6 * float(weights[-1])
    counted = LevelCount(counts, rates, np.array(weights))
    margin = Ratio(
        law=Laplaces(1),
        scheme=ratio.TWO_SUMS,
        drawn=(0.4 * total, total),
        largest=largest,
        equal=False,
        slack=1e-9,
        counted=counted,
    )
    found = margin.interval(0.4, (0.0, 1.0), UNRELATED, 1.0 - BETA)
    part = BETA / 10.0
    most = counted.ends(part)[1]
    apart = 0.0 if sampled else counted.bias(part)
    low, high = ratio.interval(
        margin.law,
        margin.scheme,
        margin.drawn,
        largest=largest if sampled else 0.0,
        confidence=1.0 - BETA + part,
        squares=lambda sums: sampled * most_squares(counted.weights, sums, most, sampled=False),
    )
    reach = apart + margin.slack
    assert found == (max(low - reach, 0.0), min(high + reach, 1.0))
