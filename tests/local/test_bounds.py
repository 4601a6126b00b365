"""Bounds of the local model against their definitions; what a missing value sends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import local
from epsilons.local.people import GRID
from epsilons.local.reports import Reports
from epsilons.risk.local import Sums, chernoff, chi_square, influence, related
from tests.local.tape import words


@pytest.mark.parametrize("beta", [0.5, 0.1, 0.01, 1e-6])
@pytest.mark.parametrize("d", [1, 2, 10, 1000])
def test_the_radius_solves_its_equation(d: int, beta: float) -> None:
    """(y/d)^{d/2}·e^{(d − y)/2} = β."""
    y = chi_square(d, beta)
    log = d / 2 * math.log(y / d) + (d - y) / 2
    assert log == pytest.approx(math.log(beta), rel=1e-9)
    assert y > d


def test_how_far_weights_are_from_equal_ones() -> None:
    """½·Σ|w/W − 1/n| is never more, and two weights for halves of the people reach it."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        w = rng.exponential(size=int(rng.integers(2, 30))) ** rng.uniform(0.1, 3.0)
        half = 0.5 * float(np.abs(w / w.sum() - 1 / len(w)).sum())
        assert half <= related(float(w @ w), float(w.sum()), len(w)) + 1e-12
    two = np.repeat([1.0, 3.0], 10)
    exact = 0.5 * float(np.abs(two / two.sum() - 1 / 20).sum())
    assert related(float(two @ two), float(two.sum()), 20) == pytest.approx(exact)


WIDE = np.repeat([0.5, 2.0], 10_000)


def released(mechanism: Any, value: Any) -> Any:
    return mechanism.estimate(mechanism.randomize_many([value] * 20_000, WIDE, ep.Seeded(1)))


def test_the_error_if_related_is_both_parts() -> None:
    """How far weights may draw the mean, and how far the reports are from it."""
    for mechanism, value, size in (
        (local.Bit(), True, 1.0),
        (local.Mean((-1, 3)), 2.0, 4.0),
        (local.Mean((-1, 3), method="laplace"), 2.0, 4.0),
        (local.Frequencies(4), 1, 1.0),
        (local.Vector(1, radius=2.0), [1.0], 4.0),
    ):
        release = released(mechanism, value)
        sums: Sums = release.estimate.margin.sums
        drawn = size * related(sums.square, sums.weight, 20_000)
        if mechanism.kind == "vector":
            reach = release.radius(0.95)
        elif mechanism.kind == "frequencies":
            reach = chernoff(sums.proxy, 0.0, 0.0, 0.05 / 4) / sums.weight
        else:
            far = chernoff(sums.proxy, sums.tail, sums.largest, 0.05)
            reach = size * (far / sums.weight + (0.0 if mechanism.kind == "bit" else 0.5 / GRID))
        assert 0.05 * size < drawn < size
        assert release.error_if_related == pytest.approx(min(drawn + reach, size), rel=1e-9)


def test_influence_at_its_ends() -> None:
    sums = Sums(weight=10.0, most=1.0, reach=0.5)
    assert influence(0, 10, sums, 0.2) == 0.0
    assert influence(1, 10, sums, 0.2) == pytest.approx(0.7 / 9.0)
    assert influence(4, 10, sums, 0.0) == pytest.approx(2.0 / 6.0)
    assert influence(10, 10, sums, 0.2) == math.inf
    assert influence(11, 30, sums, 0.2) == math.inf
    assert influence(3, 3, Sums(weight=10.0, most=1.0, reach=0.5), 0.2) == math.inf


def test_a_missing_answer_is_a_fair_coin_and_a_missing_number_the_middle() -> None:
    bit = local.Bit(missing="midpoint")
    keep = 2**64 - 1
    for word, expected in ((2**63, True), (2**63 - 1, False), (0, False), (keep, True)):
        report = bit.randomize(math.nan, 1.0, words(word, keep))
        assert report.columns[0].tolist() == [expected]
    mean = local.Mean((0, 8), missing="midpoint")
    half = GRID // 2
    for first, expected in ((half - 1, True), (half, False)):
        report = mean.randomize(None, 1.0, words(first << 34, keep))
        assert report.columns[0].tolist() == [expected]
    vector = local.Vector(3, missing="midpoint")
    for seed in range(5):
        one = vector.randomize([math.nan, 0.0, 1.0], 2.0, ep.Seeded(seed))
        two = vector.randomize([0.0, 0.0, 0.0], 2.0, ep.Seeded(seed))
        assert one.to_bytes() == two.to_bytes()


def test_a_simulated_report_says_so_wherever_it_goes() -> None:
    bit = local.Bit()
    for source, private in ((None, True), (ep.Seeded(1), False)):
        reports = bit.randomize_many([True, False], 1.0, source)
        assert reports.private == private
        assert Reports.from_bytes(reports.to_bytes()).private == private
        assert reports.to_bytes()[6] == (0 if private else 1)
        columns = reports.to_columns()
        assert columns["private"].tolist() == [private] * 2
        assert Reports.from_columns(columns, mechanism=bit).private == private
