"""The declared properties of staircase noise, compared with sums, even at extreme parameters."""

from __future__ import annotations

import decimal
import itertools
import math
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import Hourglass, Staircase, Staircase2D
from epsilons.errors import ArgumentError

Kind = type[Staircase] | type[Hourglass] | type[Staircase2D]
KINDS: list[Kind] = [Staircase, Hourglass, Staircase2D]
PAIRS: list[type[Hourglass] | type[Staircase2D]] = [Hourglass, Staircase2D]
SHAPES = [(1, 1), (2, 1), (2, 2), (5, 1), (5, 3), (8, 8)]
RATES = [Fraction(1, 20), Fraction(1, 2), Fraction(1), Fraction(5), Fraction(40)]

rationals = st.builds(Fraction, st.integers(1, 10**12), st.integers(1, 10**12))


def tower(rate: Fraction, n: int, g: int, far: int) -> dict[int, Decimal]:
    """Return the unnormalized probability e^{-rate·k} of each distance, where k is its stair."""
    b = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
    weights, weight = {}, Decimal(1)
    for a in range(far):
        if a >= g and (a - g) % n == 0:
            weight *= b
        weights[a] = weight
    return weights


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize(("n", "g"), SHAPES)
def test_a_staircase_is_that_of_a_sum(rate: Fraction, n: int, g: int) -> None:
    law = Staircase(rate, n, g)
    with localcontext() as context:
        context.prec = 60
        half = tower(rate, n, g, math.ceil(90 / rate) * n + 2 * n)
        total = 2 * sum(half.values()) - 1
        variance = 2 * sum(a * a * w for a, w in half.items()) / total
        for x in (0, 1, -1, n, -3 * n, 7):
            if abs(x) in half:
                expected = float((half[abs(x)] / total).ln())
                assert law.log_pmf(x) == pytest.approx(expected, rel=4e-15, abs=1e-300)
    assert law.variance == pytest.approx(float(variance), rel=1e-15)


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize(("n", "g"), SHAPES)
def test_a_staircase_of_pairs_is_that_of_a_sum(rate: Fraction, n: int, g: int) -> None:
    law = Staircase2D(rate, n, g)
    with localcontext() as context:
        context.prec = 60
        shells = tower(rate, n, g, math.ceil(100 / rate) * n + 2 * n)
        # |x| + |y| = s has 4s points: each x in -s, ..., s occurs twice, except the ends.
        total = 1 + sum(4 * s * w for s, w in shells.items())
        squares, below = Decimal(0), 0  # 1 + 4 + ... + (s - 1)^2
        for s, w in shells.items():
            squares += (4 * below + 2 * s * s) * w
            below += s * s
        assert law.variance == pytest.approx(float(squares / total), rel=1e-15)
        for x, y in ((0, 0), (1, 0), (-1, n), (n, -2)):
            expected = float((shells[abs(x) + abs(y)] / total).ln())
            assert law.log_pmf(x, y) == pytest.approx(expected, rel=4e-15, abs=1e-300)


@pytest.mark.parametrize("rate", RATES[1:4], ids=str)
@pytest.mark.parametrize(("n", "g"), SHAPES)
@pytest.mark.parametrize("kind", PAIRS)
def test_moments_of_pairs_are_those_of_all_points(
    kind: type[Hourglass] | type[Staircase2D], n: int, g: int, rate: Fraction
) -> None:
    law = kind(rate, n, g)
    reach = math.ceil(45 / rate) * n
    x = np.arange(-reach, reach + 1)[:, None]
    j = (np.abs(x) + n - g) // n
    if kind is Hourglass:
        k = np.arange(-reach // n - 5, reach // n + 6)[None, :]
        level, y = j + np.abs(k - np.sign(x) * j), k * n - x
    else:
        y = np.arange(-reach, reach + 1)[None, :]
        level = (np.abs(x) + np.abs(y) + n - g) // n
    weights = np.exp(-float(rate) * level)
    total = float(weights.sum())
    assert -math.log(total) == pytest.approx(law.log_pmf(0, 0), rel=1e-12)
    assert law.variance == pytest.approx(float((weights * x * x).sum()) / total, rel=1e-12)
    assert law.variance == pytest.approx(float((weights * y * y).sum()) / total, rel=1e-12)
    covariance = float((weights * x * y).sum()) / total
    assert law.covariance == pytest.approx(covariance, rel=1e-11, abs=1e-12 * law.variance)


@pytest.mark.parametrize(("n", "g"), SHAPES)
def test_probabilities_sum_to_one(n: int, g: int) -> None:
    rate = Fraction(2)
    one, glass, two = Staircase(rate, n, g), Hourglass(rate, n, g), Staircase2D(rate, n, g)
    span = range(-21 * n, 21 * n + 1)
    assert math.fsum(math.exp(one.log_pmf(x)) for x in span) == pytest.approx(1, rel=1e-14)
    pairs = ((x, k * n - x) for x in range(-10 * n, 10 * n + 1) for k in range(-25, 26))
    assert math.fsum(math.exp(glass.log_pmf(x, y)) for x, y in pairs) == pytest.approx(1, rel=1e-8)
    square = itertools.product(range(-12 * n, 12 * n + 1), repeat=2)
    total = math.fsum(math.exp(two.log_pmf(x, y)) for x, y in square)
    assert total == pytest.approx(1, rel=1e-7)


@settings(max_examples=60, deadline=None)
@given(
    rate=rationals | st.sampled_from([Fraction(1, 10**9), Fraction(1, 10**6), Fraction(700)]),
    n=st.integers(1, 2**45) | st.just(2**45),
    share=st.fractions(0, 1),
)
def test_any_parameters_are_accurate(rate: Fraction, n: int, share: Fraction) -> None:
    # An independent derivation: either |x| is on the first stair, or |x| = g + r + n K with r
    # uniform and K geometric.
    g = max(1, math.floor(share * n))
    law, glass = Staircase(rate, n, g), Hourglass(rate, n, g)
    with localcontext() as context:
        context.prec, context.Emin = 200, decimal.MIN_EMIN
        b = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        t = b / (1 - b)
        near, far = Decimal(2 * g - 1), 2 * n * t
        offset = g + Decimal(n - 1) / 2
        place = offset**2 + Decimal(n * n - 1) / 12
        square = place + 2 * n * t * offset + n * n * t * (1 + 2 * t)
        disc = Decimal(g * (g - 1)) / 3  # the variance of a uniform draw from 2g - 1 integers
        variance = (near * disc + far * square) / (near + far)
        # j = 1 + K, so |x| j = (offset + n K)(1 + K).
        product = offset * (1 + t) + n * (t + t * (1 + 2 * t))
        covariance = n * product * far / (near + far) - variance
        normaliser = near + far
        expected = float(normaliser.ln() if normaliser > Decimal("1.000001") else normaliser - 1)
        tight = normaliser > Decimal("1.000001")
    assert law.variance == pytest.approx(float(variance), rel=1e-15)
    assert glass.variance == law.variance
    assert glass.covariance == pytest.approx(float(covariance), rel=1e-15)
    assert -law.log_pmf(0) == pytest.approx(expected, rel=1e-14 if tight else 1e-6, abs=1e-190)
    assert -glass.log_pmf(0, 0) >= -law.log_pmf(0) >= 0
    assert 0 <= Staircase2D(rate, n, g).variance < math.inf


def test_the_ends_of_all_ranges() -> None:
    for kind in KINDS:
        huge, tiny = kind(10**40, 4, 1), kind(Fraction(1, 10**400), 4, 2)
        assert huge.variance == 0.0
        assert tiny.variance == math.inf
        assert kind(700, 2**45, 1).variance < 1e-240
    assert Staircase(10**400, 4, 1).log_pmf(0) == 0.0
    assert Staircase(10**400, 4, 1).log_pmf(1) == -math.inf
    assert -Staircase(Fraction(1, 10**400), 1, 1).log_pmf(0) == pytest.approx(
        400 * math.log(10) + math.log(2)
    )
    # In floats, e^{-700} is lost if it is added to 1.
    assert -Staircase(700, 1, 1).log_pmf(0) == pytest.approx(2 * math.exp(-700), rel=1e-12)
    assert -Hourglass(700, 1, 1).log_pmf(0, 0) == pytest.approx(4 * math.exp(-700), rel=1e-12)
    assert -Staircase2D(700, 1, 1).log_pmf(0, 0) == pytest.approx(4 * math.exp(-700), rel=1e-12)
    assert Hourglass(1, 3, 2).exponent(10**50, -(10**50)) == 2 * ((10**50 + 1) // 3)


def test_unit_steps_are_the_discrete_laplace_and_its_hourglass() -> None:
    law = Staircase(Fraction(3, 7), 1, 1)
    assert [law.exponent(x) for x in (-2, 0, 5)] == [Fraction(6, 7), 0, Fraction(15, 7)]
    # The hourglass has x = ±j here. For every x, y = k - x has a discrete Laplace distribution.
    assert Hourglass(Fraction(3, 7), 1, 1).covariance == pytest.approx(0, abs=1e-12)


def test_laws_are_frozen_values() -> None:
    for kind in KINDS:
        law = kind(Fraction(2, 4), np.int64(5), 2)  # type: ignore[arg-type]
        assert law == kind(Fraction(1, 2), 5, 2)
        assert hash(law) == hash(kind(Fraction(1, 2), 5, 2))
        assert type(law.steps) is int
        law.draw(None)  # values that a draw caches do not affect equality
        assert law == kind(Fraction(1, 2), 5, 2)
        assert pickle.loads(pickle.dumps(law)) == law
        assert repr(law) == f"{kind.__name__}(rate=Fraction(1, 2), steps=5, inner=2)"
        assert kind(3, 5, 2).rate == Fraction(3)
        with pytest.raises(AttributeError):
            law.inner = 3  # type: ignore[misc]
    assert len({kind(1, 5, 2) for kind in KINDS}) == 3


@pytest.mark.parametrize("rate", [0, -1, Fraction(-1, 3), 1.0, math.inf, math.nan, "1", None, True])
@pytest.mark.parametrize("kind", KINDS)
def test_rates_are_exact_and_positive(kind: Kind, rate: object) -> None:
    with pytest.raises(ArgumentError, match="rate"):
        kind(rate, 3, 1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="rate"):
        kind.best(rate, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [0, -1, 1.0, "1", None, True])
@pytest.mark.parametrize("kind", KINDS)
def test_widths_are_whole_numbers(kind: Kind, wrong: object) -> None:
    with pytest.raises(ArgumentError, match="steps"):
        kind(1, wrong, 1)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="inner"):
        kind(1, 3, wrong)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="inner must be at most steps"):
        kind(1, 3, 4)
    with pytest.raises(ArgumentError, match="steps"):
        kind.best(1, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("x", [0.0, "0", None, Fraction(1, 2), True])
def test_outcomes_are_integers(x: object) -> None:
    one = Staircase(1, 3, 2)
    for ask in (one.exponent, one.log_pmf):
        with pytest.raises(ArgumentError, match="x must"):
            ask(x)  # type: ignore[arg-type]
    for kind in PAIRS:
        law = kind(1, 3, 2)
        with pytest.raises(ArgumentError, match="x must"):
            law.exponent(x, 0)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="y must"):
            law.log_pmf(0, x)  # type: ignore[arg-type]
