"""The best width of the first stair, compared with all widths and the continuous optimum."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import Hourglass, Staircase, Staircase2D

RATES = [
    *(Fraction(1, 10**k) for k in (9, 6, 3)),
    *(Fraction(k, 10) for k in (1, 5, 10, 25, 40, 60, 80, 100, 120, 160, 320, 700, 7000)),
]
LARGE = st.builds(Fraction, st.integers(1, 700 * 10**9), st.just(10**9))


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 40, 211])
def test_no_other_width_is_better(rate: Fraction, n: int) -> None:
    for kind in (Staircase, Staircase2D):
        variances = [kind(rate, n, g).variance for g in range(1, n + 1)]
        chosen = kind.best(rate, n).inner
        # In floats, widths next to the best width can have the same variance, but none has a
        # smaller one.
        assert variances[chosen - 1] <= min(variances) * (1 + 4e-16)
        if rate >= 1:
            assert variances.index(min(variances)) == chosen - 1


def test_pairs_have_two_valleys() -> None:
    # The variance first rises and then falls as the first stair gets wider. So the search must
    # consider all local minima.
    variances = [Staircase2D(4, 200, g).variance for g in range(1, 201)]
    assert variances[0] < variances[1]
    assert Staircase2D.best(4, 200).inner == variances.index(min(variances)) + 1 == 79
    # If the lattice is coarse compared with the rate, a width of one lattice step is best.
    assert Staircase2D.best(40, 200).inner == 1


@settings(max_examples=60, deadline=None)
@given(rate=LARGE, n=st.integers(1, 2**45))
def test_neighbours_and_ends_are_no_better(rate: Fraction, n: int) -> None:
    for kind in (Staircase, Staircase2D):
        chosen = kind.best(rate, n).inner
        least = kind(rate, n, chosen).variance
        for g in {1, n, max(1, chosen - 1), min(n, chosen + 1), max(1, n // 2), max(1, n // 9)}:
            assert least <= kind(rate, n, g).variance * (1 + 4e-16)


@pytest.mark.parametrize("rate", RATES[:-2], ids=str)
def test_the_share_is_that_of_geng_and_viswanath(rate: Fraction) -> None:
    n = 2**45
    with localcontext() as context:
        context.prec = 120
        b = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
        cubic = (b - 2 * b**2 + 2 * b**4 - b**5) / 2
        root = (cubic.ln() / 3).exp()
        share = -b / (1 - b) + root / (1 - b) ** 2
        # On the lattice, the first stair has 2g - 1 points. So on each side it is half a step
        # narrower than g.
        assert abs(Staircase.best(rate, n).inner - Decimal("0.5") - n * share) < 1


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 2), 1, 2, 4, 8, 16, 32], ids=str)
def test_the_variance_is_that_of_the_paper_as_the_lattice_grows(rate: Fraction) -> None:
    # Kulesza, Suresh and Wang (2024), equation (2).
    b = math.exp(-rate)
    sigma2 = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
    # At rate 32 with 2**20 steps, the first stair has a width of only 20. So the lattice matters,
    # and the variance is 0.02 % below that of the paper.
    for n, near in ((2**20, 1e-6 if rate <= 16 else 2e-4), (2**45, 1e-12)):
        law = Staircase.best(rate, n)
        assert law.variance / n**2 == pytest.approx(sigma2, rel=near)
        glass = Hourglass.best(rate, n)
        assert glass.inner == law.inner
        # At the continuous optimum, the coordinates are uncorrelated.
        assert abs(glass.covariance) < max(1e-3, 1 / law.inner) * glass.variance
    assert Staircase2D.best(rate, 2**20).variance > Staircase.best(rate, 2**20).variance
