"""The algorithm "diffusion": its parts fail as printed, and our corrected versions work.

The paper has ten faults. Each has a test that runs the printed version, which exists only in these
tests, and our version. Faults 7 and 8 are about the reduction: see test_reduction.py.
"""

from __future__ import annotations

import decimal
import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from scipy.stats import norm

import epsilons as ep
from epsilons.budgets.allocation.rules import square_cap
from epsilons.errors import PrivacyError
from epsilons.papers.diffusion import (
    Crossing,
    _octave_of_differences,
    _radius,
    diffuse,
    rate,
)
from epsilons.theory.gaussian import gaussian_error
from epsilons.verify.losses.selection import diffused_losses


def quiet(end: int, step: int) -> Crossing:
    """Return a crossing with negligible noise."""
    return Crossing(step, Fraction(1, 1000), Fraction(1, 1000), end)


def loss(keep: float, base: float) -> float:
    """Return the privacy loss of a person who is kept with this probability, by Theorem 10."""
    return math.log1p(keep * math.expm1(base))


# 1. Sampling rates are too high.


@pytest.mark.parametrize(("base", "epsilon", "printed"), [(1.0, 0.1, 0.159), (4.0, 0.4, 1.85)])
def test_fault_1_printed_rates_lose_more_than_epsilon(
    base: float, epsilon: float, printed: float
) -> None:
    assert loss(epsilon / base, base) == pytest.approx(printed, abs=0.005)
    assert loss(epsilon / base, base) > epsilon
    assert loss(float(rate(Fraction(epsilon), Fraction(base))), base) <= epsilon * (1 + 1e-12)
    # Equation (7) prints half of this rate, which is safe only for a small cap.
    if math.expm1(base) / base > 2:
        assert loss(epsilon / (2 * base), base) > epsilon


@given(st.floats(1e-6, 5.0), st.floats(0.01, 5.0))
def test_a_rate_is_the_largest_that_keeps_the_promise(epsilon: float, base: float) -> None:
    found = rate(Fraction(epsilon), Fraction(base))
    if epsilon >= base:
        assert found == 1
        return
    exact = math.expm1(epsilon) / math.expm1(base)
    assert float(found) == pytest.approx(exact, rel=1e-9, abs=2**-52)
    assert loss(float(found), base) <= epsilon * (1 + 1e-12)


@given(st.floats(1e-12, 5.0), st.integers(1, 2**18).map(lambda k: Fraction(k, 2**16)))
def test_a_rate_is_rounded_down(epsilon: float, base: Fraction) -> None:
    """A rate is at most the exact quotient, and less than 2⁻⁵³ below it.

    The test computes the quotient in sixty digits.
    """
    if epsilon >= base:
        return
    with decimal.localcontext() as context:
        context.prec = 60
        budget, tau = Decimal(epsilon), Decimal(base.numerator) / base.denominator
        exact = Fraction((budget.exp() - 1) / (tau.exp() - 1))
    found = rate(Fraction(epsilon), base)
    assert found <= exact < found + Fraction(1, 2**53)
    assert found.denominator <= 2**53


def test_rates_at_the_ends() -> None:
    assert rate(Fraction(0), Fraction(1)) == 0
    assert rate(math.inf, Fraction(1)) == 1


def test_fault_1_the_printed_cap_can_exceed_every_budget() -> None:
    budgets = ep.Budgets(np.full(10, 0.5))
    printed = (float(budgets.levels[0] ** 2 * 10) + 8.0) / 5.0
    assert printed > 2.0 > 0.5
    mechanism = diffuse(budgets.levels, budgets.counts)
    assert mechanism.base <= Fraction(1, 4)  # everyone spends half of their budget here
    assert set(mechanism.keep) == {Fraction(1)}


def test_fault_1_the_checker_catches_printed_rates() -> None:
    mechanism = diffuse(np.array([0.2, 2.0]), np.array([500, 500]))
    printed = tuple(min(Fraction(s) / mechanism.base, Fraction(1)) for s in mechanism.shares)
    for found, share in zip(diffused_losses(mechanism), mechanism.shares, strict=True):
        assert found <= share
    broken = replace(mechanism, keep=printed)
    assert diffused_losses(broken)[0] > mechanism.shares[0]
    with pytest.raises(PrivacyError, match="kept"):
        diffused_losses(replace(mechanism, keep=(Fraction(2), Fraction(1))))


# 2. Negative numbers are ignored.


def printed_positive(values: np.ndarray) -> np.ndarray:
    """Return D ∩ ℝ⁺, as printed in line 1 of Algorithm 4."""
    return values[values > 0]


def test_fault_2_the_printed_range_forgets_negative_numbers() -> None:
    values = np.random.default_rng(1).normal(-50.0, 1.0, 20_000)
    assert printed_positive(values).size == 0
    levels, counts = np.array([1.0]), np.array([20_000])
    found = diffuse(levels, counts).draw(ep.Seeded(1), total=(values, np.zeros(20_000, dtype=int)))
    assert abs(found.centre + 50.0) < 1.0
    assert 0.5 < found.radius < 16.0


# 3. A second crossing is missing, and one person affects many pairs.


def printed_granularity(gaps: np.ndarray) -> float | None:
    """Return the granularity by lines 3 to 8 of Algorithm 4, without noise.

    Return None if it is undefined.
    """
    j = None
    first = next(i for i in range(1, 2000) if np.sum(gaps <= 2.0 ** (i - 1)) > gaps.size / 2)
    if first > 1:
        return 2.0 ** (first - 2) / 2.0
    return None if j is None else 2.0**-j / 2.0


def test_fault_3_the_printed_granularity_is_undefined_for_small_spreads() -> None:
    values = np.random.default_rng(2).normal(0.0, 0.01, 4000)
    assert printed_granularity(np.abs(values[::2] - values[1::2])) is None
    mechanism = diffuse(np.array([4.0]), np.array([4000]))
    everyone = np.ones(4000, dtype=bool)
    octave = _octave_of_differences(mechanism, values, everyone, ep.Seeded(1))
    assert 0.01 / 8 <= 2.0 ** (octave - 2) <= 0.01


def printed_pairs(values: np.ndarray, kept: np.ndarray) -> int:
    """Count the adjacent pairs of remaining people whose values differ by at most 1."""
    left = values[kept]
    even = left.size // 2 * 2
    return int((np.abs(left[:even:2] - left[1:even:2]) <= 1.0).sum())


def near_pairs(values: np.ndarray, kept: np.ndarray) -> int:
    """Return the number of pairs with values at most 1 apart, from the library's first query."""
    asked: list[Any] = []

    class Heard(Crossing):
        def draw(self, source: Any, queries: Any, level: int) -> int:
            asked.append(queries)
            return 0

    mechanism = diffuse(np.array([1.0]), np.array([len(values)]))
    heard = Heard.of(Fraction(1), step=2, end=mechanism.up.end)
    _octave_of_differences(replace(mechanism, up=heard, down=heard), values, kept, ep.Seeded(1))
    pairs = int(asked[0][-1])  # at the last octave, every pair is counted
    return (int(asked[0][0]) + pairs) // 2


def test_fault_3_one_person_changes_many_printed_pairs() -> None:
    values = np.repeat(10.0 * np.arange(10), 2)
    everyone = np.ones(20, dtype=bool)
    assert printed_pairs(values, everyone) == near_pairs(values, everyone) == 10
    for gone in range(20):
        without = everyone.copy()
        without[gone] = False
        assert near_pairs(values, without) == 9
    without[:] = everyone
    without[0] = False
    assert printed_pairs(values, without) == 0


# 4. The radius is half of the radius that fired.


def test_fault_4_the_printed_radius_is_half_of_what_fired() -> None:
    values = np.full(1000, 3.0)
    crossing = Crossing(1, Fraction(1, 20), Fraction(1, 20), 2160)
    ours = _radius(crossing, np.append(values, 0.0), 1.0, ep.Seeded(1))
    assert ours == 4.0
    fired = int(math.log2(ours)) + 1  # the paper counts indices from 1
    printed = 2.0 ** (fired - 2)
    assert np.mean(np.abs(values) <= printed) == 0.0
    assert np.mean(np.abs(values) <= ours) == 1.0


# 5. The printed loop of a crossing need not end.


def test_fault_5_a_crossing_has_an_end() -> None:
    def printed(limit: int) -> bool:
        """Return whether the printed loop stops within `limit` queries, none of which fires."""
        return any(-(10**9) > 0 for _ in range(limit))

    assert not printed(10_000)
    never = np.full(50, -(10**9))
    assert quiet(50, 1).draw(ep.Seeded(1), never, 0) == 49
    with pytest.raises(ValueError, match="public"):
        quiet(50, 1).draw(ep.Seeded(1), never[:10], 0)


# 6. The printed cap is not the same for all people who should be capped.


def test_fault_6_the_printed_cap_does_not_stay() -> None:
    epsilon = np.sort(np.concatenate([np.full(5, 1.0), np.full(50, 50.0)]))
    printed = [epsilon[0]] + [
        min(epsilon[k], (np.sum(epsilon[:k] ** 2) + 8) / np.sum(epsilon[:k]))
        for k in range(1, epsilon.size)
    ]
    saturated = [each for each, own in zip(printed, epsilon, strict=True) if each < own]
    assert max(saturated) > 2 * min(saturated)
    cap = square_cap(ep.Budgets(epsilon), 8.0)
    assert np.unique(np.minimum(epsilon, cap)).tolist() == [1.0, cap]
    assert cap == pytest.approx(min(saturated))


# 9. The lower bound is wrong.


def test_fault_9_the_printed_distance_of_two_gaussians_is_wrong() -> None:
    for tau in (0.1, 0.5, 2.0):
        exact = quad(
            lambda x, tau=tau: 0.5 * abs(norm.pdf(x, -tau) - norm.pdf(x, tau)), -12, 12, points=[0]
        )[0]
        assert math.erf(tau / math.sqrt(2.0)) == pytest.approx(exact, abs=1e-8)
        assert abs(math.erf(tau) / math.sqrt(2.0) - exact) > 1e-4


def test_fault_9_the_bound_that_is_used_is_the_sharper_one() -> None:
    epsilon = np.repeat([0.05, 1.0], 500)
    pulls = np.cumsum(np.tanh(epsilon / 2.0))
    k = np.arange(1, 1001)
    simple = math.sqrt(math.pi / 8.0) / np.min(pulls + np.sqrt(1000.0 - k))
    printed_proof = 1.0 / np.min(
        4.0 * math.sqrt(2.0 / math.pi) * np.cumsum(-np.expm1(-epsilon)) + 2.0 * np.sqrt(1000.0 - k)
    )
    used = gaussian_error(epsilon, sigma=1.0)
    assert used >= simple >= printed_proof


# 10. The constant is wrong.


def test_fault_10_eight_is_not_the_constant_of_a_gaussian() -> None:
    budgets = ep.Budgets({0.05: 5000, 1.0: 5000})
    width = 16.0  # the width of the range in multiples of σ, from the printed radii

    def error(constant: float) -> float:
        spent = np.minimum(budgets.levels, square_cap(budgets, constant))
        squares = float(spent**2 @ budgets.counts) + 2.0 * width**2
        return math.sqrt(squares) / float(spent @ budgets.counts)

    assert error(8.0) > 1.4 * error(2.0 * width**2)


# Other properties.


def test_diffusion_stages_add_up_to_the_base() -> None:
    mechanism = diffuse(np.array([0.1, 1.0, math.inf]), np.array([500, 500, 2]))
    median = Fraction(4 * mechanism.middle_weight, mechanism.middle_scale)
    assert sum(part.loss for part in mechanism.crossings) + median <= mechanism.base
    certified = diffused_losses(mechanism)
    for found, share in zip(certified, mechanism.shares, strict=True):
        assert found <= share
    for share, level in zip(mechanism.losses, (0.1, 1.0, 10.0), strict=True):
        assert share <= Fraction(level) / 2
    for p, share in zip(mechanism.keep, mechanism.shares, strict=True):
        if p < 1:
            assert loss(float(p), float(mechanism.base)) <= float(share) * (1 + 1e-12)


@pytest.mark.parametrize(("mu", "sigma"), [(1000.0, 2.0), (-3.0, 1.0), (1e12, 1.0), (5.0, 1e-9)])
def test_the_mean_by_diffusion(mu: float, sigma: float) -> None:
    rng = np.random.default_rng(1)
    values, epsilon = rng.normal(mu, sigma, 20_000), 10.0 ** rng.uniform(-1, 0, 20_000)
    release = ep.papers.diffused_mean(values, epsilon=epsilon, source=ep.Seeded(1))
    assert release.method == "diffusion"
    assert abs(release.value - mu) < 0.2 * sigma
    for spent, level in zip(
        release.mechanism.losses, release.mechanism.levels.tolist(), strict=True
    ):
        assert spent <= Fraction(level)


def test_diffusion_under_add_remove() -> None:
    rng = np.random.default_rng(1)
    epsilon = np.where(np.arange(20_000) % 2 == 0, 0.2, 1.0)
    release = ep.papers.reduced_mean(
        rng.normal(1000.0, 2.0, 20_000),
        epsilon=epsilon,
        levels=[0.2, 1.0],
        source=ep.Seeded(1),
    )
    assert abs(release.value - 1000.0) < 0.4
    assert release.neighbours == "add-remove"
    for spent, level in zip(
        release.mechanism.losses, release.mechanism.levels.tolist(), strict=True
    ):
        assert spent <= Fraction(level)
    empty = ep.papers.reduced_mean([], epsilon=[], levels=[1.0], source=ep.Seeded(1))
    assert math.isfinite(empty.value)
