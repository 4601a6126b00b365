"""The normal law and the effect of clipping, against SciPy's integrals."""

from __future__ import annotations

import itertools
import math

import pytest
from scipy.integrate import quad
from scipy.stats import laplace, norm

from epsilons.risk.tails.gaussian import (
    clipped_square,
    clipping_bias,
    normal_laplace_quantile,
    normal_laplace_tail,
    quantile,
)


@pytest.mark.parametrize("p", [0.5, 0.6, 0.75, 0.975, 0.999999])
def test_quantile(p: float) -> None:
    assert quantile(p) == pytest.approx(norm.ppf(p), abs=1e-9)


def test_quantile_at_one() -> None:
    assert quantile(1.0) == math.inf


@pytest.mark.parametrize(("off", "reach", "sigma"), [(0.3, 2.0, 1.0), (1.0, 0.5, 2.0), (0.0, 3, 1)])
def test_clipping(off: float, reach: float, sigma: float) -> None:
    def clipped(z: float) -> float:
        return min(max(sigma * z, off - reach), off + reach)

    points = sorted({-9.0, (off - reach) / sigma, (off + reach) / sigma, 9.0})
    bias = sum(
        quad(lambda z: (clipped(z) - sigma * z) * norm.pdf(z), a, b)[0]
        for a, b in itertools.pairwise(points)
    )
    square = sum(
        quad(lambda z: (clipped(z) / sigma - z) ** 2 * norm.pdf(z), a, b)[0]
        for a, b in itertools.pairwise(points)
    )
    assert clipping_bias(off, reach, sigma) == pytest.approx(abs(bias), abs=1e-9)
    assert clipped_square(off / sigma, reach / sigma) == pytest.approx(square, abs=1e-9)


def test_what_is_not_known_is_infinite() -> None:
    assert clipping_bias(math.inf, 1.0, 1.0) == math.inf
    assert clipping_bias(1.0, 1.0, math.inf) == math.inf
    assert clipped_square(math.inf, 1.0) == 1.0
    assert normal_laplace_quantile(1.0, math.inf, 0.05) == math.inf
    assert normal_laplace_quantile(0.0, 0.0, 0.05) == 0.0
    assert clipping_bias(0.0, 1e300, 1e-300) == 0.0
    assert clipped_square(0.0, 1e300) == 0.0


@pytest.mark.parametrize(
    ("sigma", "scale"), [(1.0, 1.0), (1.0, 0.01), (0.01, 1.0), (1.0, 1e-12), (1e-200, 1.0), (0, 2)]
)
@pytest.mark.parametrize("alpha", [0.1, 1.0, 4.0])
def test_normal_and_laplace(sigma: float, scale: float, alpha: float) -> None:
    if sigma < 1e-100:
        exact = laplace.sf(alpha, scale=scale)
    elif scale < 1e-9:
        exact = norm.sf(alpha, scale=sigma)
    else:
        width = 12 * sigma
        exact = quad(
            lambda x: norm.pdf(x, scale=sigma) * laplace.sf(alpha - x, scale=scale),
            -width,
            width,
            points=[min(max(alpha, -width), width), 0.0],
            limit=500,
        )[0]
    found = normal_laplace_tail(alpha, sigma, scale)
    assert found == pytest.approx(exact, rel=1e-6, abs=1e-12)
    reach = normal_laplace_quantile(sigma, scale, 0.05)
    assert 2 * normal_laplace_tail(reach, sigma, scale) == pytest.approx(0.05, rel=1e-6)


def test_a_quantile_of_almost_nothing_is_found() -> None:
    """Subnormal numbers cannot be halved forever."""
    for sigma, scale in ((5e-324, 1e-322), (1e-323, 0.0), (0.0, 5e-324)):
        assert 0.0 < normal_laplace_quantile(sigma, scale, 0.05) < 1e-320
