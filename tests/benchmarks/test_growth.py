"""Fitted exponents are those of the simulated data, and a size can be timed in another process."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from benchmarks import growth
from benchmarks.growth import fit
from benchmarks.works import WORKS

pytestmark = pytest.mark.slow  # benchmarks, which nothing else uses


@given(st.floats(-1.0, 3.0), st.floats(1e-9, 1e3))
def test_a_power_law_is_found(exponent: float, constant: float) -> None:
    sizes = [10.0**k for k in range(1, 7)]
    found = fit(sizes, [constant * size**exponent for size in sizes])
    assert found.exponent == pytest.approx(exponent, abs=1e-9)
    assert found.error == pytest.approx(0.0, abs=1e-6)
    assert found.points == 3


def test_the_lower_decades_do_not_count() -> None:
    sizes = [1e3, 1e4, 1e5, 1e6]
    times = [7.0, 1.0, 10.0, 100.0]
    assert fit(sizes, times).exponent == pytest.approx(1.0)
    assert fit(sizes, times, decades=3.0).exponent < 0.7


def test_the_standard_error_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(1)
    sizes = np.repeat([1e4, 1e5, 1e6], 5)
    times = sizes**1.1 * np.exp(rng.normal(0.0, 0.2, sizes.size))
    (slope, _), variances = np.polyfit(np.log(sizes), np.log(times), 1, cov=True)
    found = fit(sizes.tolist(), times.tolist())
    assert found.exponent == pytest.approx(slope)
    assert found.error == pytest.approx(math.sqrt(variances[0, 0]))
    assert found.points == 15


def test_noise_is_covered_by_three_errors() -> None:
    # There are 200 fits with 13 degrees of freedom. |t| > 6 has probability 4.4e-5 in each fit, so
    # more than three such fits have probability below 1e-11.
    rng = np.random.default_rng(2)
    sizes = np.repeat([1e4, 1e5, 1e6], 5)
    far = 0
    for _ in range(200):
        found = fit(sizes.tolist(), (sizes * np.exp(rng.normal(0.0, 0.3, sizes.size))).tolist())
        far += abs(found.exponent - 1.0) > 6.0 * found.error
    assert far <= 3


def test_n_log_n_keeps_its_limit_and_a_square_does_not() -> None:
    sizes = [10.0**k for k in range(1, 7)]
    ordered = fit(sizes, [size * math.log(size) for size in sizes])
    assert growth._line("", ordered, growth.SORTED).holds
    square = fit(sizes, [size**2 for size in sizes])
    assert not growth._line("", square, growth.SORTED).holds


def test_two_points_have_no_error_and_one_has_no_slope() -> None:
    assert math.isinf(fit([1.0, 10.0], [1.0, 10.0]).error)
    with pytest.raises(ValueError, match="sizes"):
        fit([10.0, 10.0], [1.0, 2.0])


def test_a_point_is_measured_apart() -> None:
    point = growth.apart("local-mean", 2000, 3)
    assert point.size == 2000
    assert len(point.seconds) == len(point.busy) == 3
    assert all(0.0 < each < 10.0 for each in point.busy)
    assert all(0.0 < each < 10.0 for each in point.seconds)
    assert 0.0 <= point.own < 2**30


def test_a_point_that_fails_is_told() -> None:
    with pytest.raises(RuntimeError, match="no-such-work"):
        growth.apart("no-such-work", 10, 1)


def test_memory_is_seen_while_it_is_held() -> None:
    before = growth._status()["RssAnon"]
    with growth.Watch() as watch:
        held = np.ones(8_000_000)
        while watch.most < before + 0.9 * held.nbytes:
            pass
    assert watch.most - before >= 0.9 * held.nbytes


@pytest.mark.parametrize("quick", [True, False])
def test_every_curve_has_a_work_and_enough_decades(quick: bool) -> None:
    for curve in growth.curves(quick=quick):
        assert curve.work in WORKS
        upper = [s for s in curve.sizes if s >= curve.sizes[-1] / 10**growth.DECADES]
        assert len(upper) >= 3
