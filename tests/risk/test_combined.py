"""Tails of linear combinations of noise agree with drawn tables and closed formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.draws.noise import Closed
from epsilons.risk.tails.combined import (
    EDGES,
    EXACT,
    PARTS,
    WAVES,
    Combined,
    of_a_sum,
    of_four,
    of_means,
    row_of,
)
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.types import Floats

LAST = PARTS // 2 - 1


def tail(law: Combined, row: int, t: float) -> float:
    return float(np.exp(law.log_exceeds(row, np.array(t))))


def laplace_sum(coefficients: tuple[float, ...], t: float) -> float:
    """Return P(Σ a·L > t) for independent Laplace noises of different scales.

    It is computed by partial fractions.
    """
    total = 0.0
    for a in coefficients:
        others = [b for b in coefficients if b != a]
        total += 0.5 * math.exp(-t / a) * math.prod(a * a / (a * a - b * b) for b in others)
    return total


# Compare with the tail of one cell, which has its own formula.


@pytest.mark.parametrize("cells", [3, 4, 7, EXACT])
@pytest.mark.parametrize("t", [0.0, 0.04, 0.7, 2.0, 9.95, 25.0])
def test_at_an_end_of_the_range_one_cell_is_left(cells: int, t: float) -> None:
    exact = float(ClosedNoise(cells).exceeds(t))
    assert exact * (1.0 - 1e-9) <= tail(of_means(cells), 0, t) <= exact * 1.004


@pytest.mark.parametrize("t", [0.0, 0.35, 4.0])
def test_two_cells_are_the_noise_of_a_mean(t: float) -> None:
    for row in (0, 7, LAST):
        assert tail(of_means(2), row, t) == pytest.approx(0.5 * math.exp(-2.0 * t), rel=1e-9)


# Independent noise.


@pytest.mark.parametrize("row", [3, 15, LAST])
@pytest.mark.parametrize("t", [0.1, 1.0, 6.0])
def test_independent_noise_has_its_formula(row: int, t: float) -> None:
    m = float(EDGES[row])
    exact = laplace_sum((1.0 - m, m), t)
    assert exact * (1.0 - 1e-9) <= tail(of_means(None), row, t) <= exact * 1.004
    law, unit = of_four(None, (0.7, -0.3, -0.2, 0.45))
    exact = laplace_sum((0.7, 0.3, 0.2, 0.45), t)
    assert exact * (1.0 - 1e-9) <= tail(law, 0, t / unit) <= exact * 1.01 + 1e-7


def test_the_sum_of_two_independent_noises() -> None:
    for t in (0.0, 1.0, 8.0):
        exact = 0.25 * (2.0 + t) * math.exp(-t)
        assert exact * (1.0 - 1e-9) <= tail(of_a_sum(None), 0, t) <= exact * 1.003


def test_many_cells_are_nearly_independent_and_never_below_what_they_are() -> None:
    many, exact = of_means(EXACT + 1), of_means(EXACT)
    for row in (0, 9, LAST):
        for t in (0.3, 2.0, 5.0):
            assert tail(exact, row, t) <= tail(many, row, t)
            assert tail(many, row, t) <= 1.06 * tail(of_means(None), row, t)


# Drawn tables. Correct code fails each comparison with probability 10⁻⁹.

SCALE = 1 << 16
DRAWS = 60_000


def noises(cells: int, seed: int) -> Floats:
    drawn = Closed(Fraction(SCALE), cells).draw(ep.Seeded(seed), DRAWS)
    return np.asarray(drawn, dtype=np.float64) / SCALE


def agree(seen: int, probability: float) -> bool:
    """Return whether an observed count is compatible with the probability, by a two-sided test."""
    low = binom.ppf(5e-10, DRAWS, probability * 0.995)
    return bool(low <= seen <= binom.isf(5e-10, DRAWS, min(probability, 1.0)))


@pytest.mark.parametrize("cells", [3, 4, 9])
def test_tables_that_are_drawn_have_these_tails(cells: int) -> None:
    z = noises(cells, cells)
    for row in (0, 12, LAST):
        m = EDGES[row]
        combined = (1.0 - m) * z[:, 0] - m * z[:, 1]
        for t in (0.25, 1.55, 3.0):
            assert agree(int((combined > t).sum()), tail(of_means(cells), row, t))
    summed = z[:, 0] + z[:, 1]
    assert agree(int((summed > 1.2).sum()), tail(of_a_sum(cells), 0, 1.2))
    # Power: the test rejects the tail of a difference if the draws are those of a sum.
    assert not agree(int((summed > 1.2).sum()), tail(of_means(cells), LAST, 1.2))


def test_four_of_many_cells_are_never_below_what_they_are() -> None:
    for t in (0.5, 2.0, 6.0):
        few, many = (of_four(cells, (0.8, -0.2, -0.6, 0.4))[0] for cells in (WAVES, WAVES + 1))
        assert tail(few, 0, t) <= tail(many, 0, t) <= 1.15 * tail(few, 0, t)


@pytest.mark.parametrize("cells", [None, 4, 5, 9])
def test_one_coefficient_has_the_tail_of_one_cell_far_out(cells: int | None) -> None:
    """A combination with a single coefficient has the tail of one cell.

    Of all linear combinations, its characteristic function decays most slowly. So the numerical
    inversion, which omits high frequencies, has its largest error here.
    """
    law, _ = of_four(cells, (1.0, 0.0, 0.0, 0.0))
    for t in (0.0, 0.7, 2.0, 5.0, 11.0):
        exact = 0.5 * math.exp(-t) if cells is None else float(ClosedNoise(cells).exceeds(t))
        assert exact * (1.0 - 1e-9) <= tail(law, 0, t)
        # Beyond 5, tails are extrapolated, and may be larger.
        assert tail(law, 0, t) <= exact * (1.02 + 0.2 * t) or t > 5.0


@pytest.mark.parametrize("cells", [4, 5, 9])
def test_waves_beyond_the_last_fall_nearly_like_one_over_theta(cells: int) -> None:
    """A characteristic function falls as fast as 1/θ or faster, up to 1 %.

    The test computes characteristic functions by integration over the real line.
    """
    rng = np.random.default_rng(cells)

    def wave(coefficients: Floats, theta: float) -> float:
        at = [-theta * each for each in sorted({*coefficients.tolist(), 0.0})]
        across = np.unique(np.concatenate([c + np.sinh(np.linspace(-9, 9, 6001)) for c in at]))
        below = (1.0 + across * across) ** (cells - 4)
        for each in coefficients:
            below = below * (1.0 + (theta * each + across) ** 2)
        return float(np.trapezoid(1.0 / below, across))

    for _ in range(6):
        m, n, c = rng.choice([0.0, 0.01, 0.5, 0.97, 1.0], 3)
        coefficients = np.array([1.0 - m, -m, -c * (1.0 - n), c * n])
        coefficients = coefficients / np.abs(coefficients).max()
        found = [theta * wave(coefficients, theta) for theta in (40.0, 60.0, 90.0, 300.0)]
        assert all(later <= 1.01 * before for before, later in pairwise(found))


@pytest.mark.parametrize("cells", [None, 4, 9])
def test_quantiles_are_convex_in_the_coefficients(cells: int | None) -> None:
    rng = np.random.default_rng(8)

    def quantile(coefficients: Floats, part: float) -> float:
        law, unit = of_four(cells, tuple(coefficients.tolist()))
        return unit * float(law.reach(0, np.inf, part))

    for _ in range(6):
        v, w = rng.uniform(0.3, 1.0, (2, 4)) * [1.0, -1.0, -1.0, 1.0]
        w *= rng.choice([0.3, 1.0, 3.0])
        for part in (0.4, 0.05, 0.002):
            ends = quantile(v, part) + quantile(w, part)
            assert quantile((v + w) / 2.0, part) <= 0.5 * ends * 1.005


# Quantities derived from tails.


@pytest.mark.parametrize("cells", [None, 2, 4, 20])
def test_a_reach_is_exceeded_as_often_as_it_says(cells: int | None) -> None:
    law = of_means(cells)
    for row in (0, LAST):
        for gap in (0.0, 0.5, 30.0):
            q = float(law.reach(row, gap, 0.05))
            assert tail(law, row, q) + tail(law, row, q + gap) <= 0.05
            assert tail(law, row, q - 1e-6) + tail(law, row, q - 1e-6 + gap) > 0.05


def test_an_envelope_is_above_the_tail_and_touches_it() -> None:
    law = of_means(4)
    rates = np.array([0.3, 1.0, 1.6])
    envelope = law.log_envelope(rates)
    at = np.linspace(0.0, 20.0, 801)
    for row in (0, LAST):
        logs = law.log_exceeds(row, at)
        for rate, log in zip(rates, envelope[row], strict=True):
            assert np.all(log >= logs + rate * at - 1e-9)
        back = np.log1p(-np.exp(logs))
        for rate, log in zip(rates, envelope[row], strict=True):
            touched = max(float((logs + rate * at).max()), float((back - rate * at).max()))
            assert log >= np.max(back - rate * at) - 1e-9
            assert log <= touched + 0.03
    assert np.isinf(law.log_envelope(np.array([2.5]))).all()


def test_every_part_of_means_has_a_row_that_is_not_nearer_to_the_middle() -> None:
    rows = row_of(np.arange(PARTS))
    outer = np.abs(0.5 - EDGES[rows])
    inner = np.maximum(np.abs(0.5 - EDGES[:-1]), np.abs(0.5 - EDGES[1:]))
    assert np.all(outer >= inner - 1e-12)
    # Tails grow with the distance from the middle.
    logs = of_means(5).logs[:, :300]
    assert np.all(np.diff(logs, axis=0) <= 1e-9)
