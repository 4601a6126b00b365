"""The declared properties of distributions, compared with sums in 60-digit arithmetic."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import DiscreteLaplace, Geometric, PointMass
from epsilons.errors import ArgumentError

SCALES = [
    Fraction(1, 40),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(1),
    Fraction(7, 3),
    Fraction(50),
]
KINDS = [Geometric, DiscreteLaplace]
Law = Geometric | DiscreteLaplace
Kind = type[Geometric] | type[DiscreteLaplace]

rationals = st.builds(Fraction, st.integers(1, 10**30), st.integers(1, 10**30))


def weights(law: Law) -> dict[int, Decimal]:
    """Return the weights a^|x| of all outcomes x that matter at 60 digits."""
    a = (-Decimal(law.scale.denominator) / Decimal(law.scale.numerator)).exp()
    far = math.ceil(150 * law.scale) + 3
    start = 0 if isinstance(law, Geometric) else -far
    return {x: a ** abs(x) for x in range(start, far + 1)}


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_and_variance_are_those_of_a_sum(kind: Kind, scale: Fraction) -> None:
    law = kind(scale)
    with localcontext() as context:
        context.prec = 60
        table = weights(law)
        total = sum(table.values(), Decimal(0))
        for x in (0, 1, 2, 7, -3):
            if x in table:
                assert law.log_pmf(x) == pytest.approx(float((table[x] / total).ln()), rel=4e-15)
        mean = sum((x * w for x, w in table.items()), Decimal(0)) / total
        squares = (((x - mean) ** 2) * w for x, w in table.items())
        variance = sum(squares, Decimal(0)) / total
    assert law.variance == pytest.approx(float(variance), rel=1e-14)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_sum_to_one(kind: Kind, scale: Fraction) -> None:
    law = kind(scale)
    far = math.ceil(40 * scale) + 2
    start = 0 if kind is Geometric else -far
    total = math.fsum(math.exp(law.log_pmf(x)) for x in range(start, far + 1))
    assert total == pytest.approx(1.0, rel=1e-13)


@settings(max_examples=300, deadline=None)
@given(scale=rationals | st.builds(Fraction, st.integers(1, 1000), st.integers(1, 10**5)))
def test_any_scale_is_accurate(scale: Fraction) -> None:
    with localcontext() as context:
        context.prec = 100
        context.Emin = -(10**17)
        rate = Decimal(scale.denominator) / Decimal(scale.numerator)
        a = (-rate).exp()
        # Even at this precision, 1 - a loses the digits of a small a. So the series is used
        # instead.
        geometric = float((1 - a).ln() if a > Decimal("1e-20") else -a)
        laplace = float(((1 - a) / (1 + a)).ln() if a > Decimal("1e-20") else -2 * a)
        variance = float(2 * a / (1 - a) ** 2)
    # In floats, e^-rate loses as many digits as the rate has before its decimal point.
    near = 1e-14 * max(1.0, float(rate))
    assert Geometric(scale).log_pmf(0) == pytest.approx(geometric, rel=near, abs=1e-300)
    assert DiscreteLaplace(scale).log_pmf(0) == pytest.approx(laplace, rel=near, abs=1e-300)
    assert DiscreteLaplace(scale).variance == pytest.approx(variance, rel=near, abs=1e-300)
    assert Geometric(scale).variance == pytest.approx(variance / 2, rel=near, abs=1e-300)


def test_scales_beyond_all_floats() -> None:
    huge, tiny = Fraction(10**400), Fraction(1, 10**400)
    for kind in KINDS:
        assert kind(huge).variance == math.inf
        assert kind(tiny).variance == 0.0
        assert kind(tiny).log_pmf(0) == 0.0
        assert kind(tiny).log_pmf(1) == -math.inf
    assert Geometric(huge).log_pmf(0) == pytest.approx(-400 * math.log(10))
    assert Geometric(huge).log_pmf(10**400) == pytest.approx(-400 * math.log(10) - 1)
    assert DiscreteLaplace(huge).log_pmf(-(10**400)) == pytest.approx(
        -math.log(2) - 400 * math.log(10) - 1
    )


@settings(deadline=None)
@given(scale=rationals, x=st.integers(-(10**40), 10**40))
def test_exponents_are_exact(scale: Fraction, x: int) -> None:
    laplace, geometric = DiscreteLaplace(scale), Geometric(scale)
    assert laplace.exponent(x) == abs(x) / scale
    assert isinstance(laplace.exponent(x), Fraction)
    assert geometric.exponent(x) == (x / scale if x >= 0 else math.inf)
    for law in (laplace, geometric):
        if law.exponent(x) != math.inf:
            assert law.log_pmf(x) == law.log_pmf(0) - float(law.exponent(x))
        else:
            assert law.log_pmf(x) == -math.inf


def test_a_point_mass_is_at_zero() -> None:
    law = PointMass()
    assert law.exponent(0) == 0
    assert law.exponent(1) == law.exponent(-1) == math.inf
    assert math.exp(law.log_pmf(0)) == 1.0
    assert law.log_pmf(3) == -math.inf
    assert law.variance == 0.0
    assert law == PointMass()


def test_laws_are_frozen_values() -> None:
    law = DiscreteLaplace(Fraction(7, 3))
    assert law == DiscreteLaplace(Fraction(14, 6))
    assert law != Geometric(Fraction(7, 3))  # type: ignore[comparison-overlap]
    assert hash(law) == hash(DiscreteLaplace(Fraction(14, 6)))
    assert pickle.loads(pickle.dumps(law)) == law
    assert repr(law) == "DiscreteLaplace(scale=Fraction(7, 3))"
    with pytest.raises(AttributeError):
        law.scale = Fraction(1)  # type: ignore[misc]


def test_integers_are_scales_and_numpy_does_not_leak_in() -> None:
    for scale in (3, np.int64(3), Fraction(np.int64(3)), Fraction(3)):  # type: ignore[call-overload]
        law = DiscreteLaplace(scale)  # type: ignore[arg-type]
        assert law == DiscreteLaplace(Fraction(3))
        assert type(law.scale) is Fraction
        assert type(law.scale.numerator) is int


@pytest.mark.parametrize("scale", [0, -1, Fraction(-1, 3), 1.0, 0.5, math.inf, math.nan, "1", None])
@pytest.mark.parametrize("kind", KINDS)
def test_scales_are_exact_and_positive(kind: Kind, scale: object) -> None:
    with pytest.raises(ArgumentError, match="scale"):
        kind(scale)  # type: ignore[arg-type]


@pytest.mark.parametrize("x", [0.0, "0", None, Fraction(1, 2), True])
@pytest.mark.parametrize("law", [Geometric(1), DiscreteLaplace(1), PointMass()], ids=repr)
def test_outcomes_are_integers(law: Law | PointMass, x: object) -> None:
    with pytest.raises(ArgumentError, match="x must"):
        law.log_pmf(x)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="x must"):
        law.exponent(x)  # type: ignore[arg-type]
