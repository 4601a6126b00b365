"""Laplace noise at each person's ε: exact counts, the float filter, and its exact fallback."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from epsilons.draws.noise import DiscreteLaplace, Seeded
from epsilons.local import draws
from epsilons.local.draws import geometric, minus_log, noise, settle
from tests.local.tape import words


def count(word: int, epsilon: float, grid: int) -> int:
    """Return ⌊−ln W·grid/ε⌋ in decimal arithmetic, for a W that is not near a step."""
    with localcontext() as context:
        context.prec = 80
        height = -(Decimal(word) / Decimal(2**64)).ln()
        return int(height * grid / Decimal(epsilon))


def test_the_logarithm_is_within_half_its_band() -> None:
    rng = np.random.default_rng(1)
    lead = rng.integers(1, 2**64, 4000, dtype=np.uint64) >> rng.integers(0, 60, 4000).astype("u8")
    lead = np.concatenate([lead, (2.0 ** np.arange(63)).astype(np.uint64)])
    floats = np.maximum(lead, 1).astype(np.float64)
    with localcontext() as context:
        context.prec = 40
        for found, each in zip(minus_log(floats).tolist(), lead.tolist(), strict=True):
            true = -(Decimal(max(each, 1)) / Decimal(2**64)).ln()
            assert abs(Decimal(found) - true) <= Decimal(draws.LAPLACE_BAND) / 2 * (1 + true)


@pytest.mark.parametrize("epsilon", [2.0**-20, 1e-3, 0.1, 1.0, 3.7, 50.0])
def test_counts_are_those_of_their_words(epsilon: float) -> None:
    found = geometric(Seeded(2), np.full(500, epsilon), 2**30)
    drawn = Seeded(2).words(500).tolist()
    assert found.tolist() == [count(word, epsilon, 2**30) for word in drawn]


def test_the_exact_way_gives_the_same_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Integer arithmetic gives the same counts as the float filter.

    Here, the float filter is made to treat every count as undecided.
    """
    budgets = np.geomspace(0.01, 30.0, 200)
    fast = geometric(Seeded(4), budgets, 2**12)
    monkeypatch.setattr(draws, "LAPLACE_BAND", 1e6)
    assert np.array_equal(fast, geometric(Seeded(4), budgets, 2**12))


@pytest.mark.parametrize("guess", [0, 1, 5, 1000, 10**9])
def test_any_guess_settles_on_the_same_count(guess: int) -> None:
    word, rate = 0x3456789ABCDEF012, Fraction(1, 1000)
    assert settle(words(), word, guess, rate) == count(word, 1.0, 1000)


def test_a_word_of_zeros_goes_on() -> None:
    """If the first random word is zero, further words determine the count. So it has no maximum."""
    tape = words(0, 1 << 63)  # W = 2⁻⁶⁵
    assert geometric(tape, np.array([1.0]), 1).tolist() == [45]  # −ln W = 45.05
    further = words(0, 0, 1 << 63)
    assert geometric(further, np.array([1.0]), 1).tolist() == [89]


def test_public_budgets_have_no_noise() -> None:
    assert noise(words(5, 7), np.array([math.inf]), 2**30).tolist() == [0]
    assert noise(words(0, 0), np.array([math.inf]), 2**30).tolist() == [0]


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_law_is_discrete_laplace(epsilon: float) -> None:
    """Noise is discrete Laplace.

    The limit is six standard errors for each of 60 cells. The false-alarm probability is 10⁻⁸ per
    cell.
    """
    many = 400_000
    drawn = noise(Seeded(9), np.full(many, epsilon), 4)
    law = DiscreteLaplace(Fraction(4) / Fraction(epsilon))
    for z in range(-9, 10):
        share, p = float(np.mean(drawn == z)), math.exp(law.log_pmf(z))
        assert abs(share - p) < 6.0 * math.sqrt(p * (1.0 - p) / many) + 1e-9


def test_each_scale_has_its_own_variance() -> None:
    """Noise has the right variance at each scale.

    The limit is six standard errors, with the kurtosis 6 of the Laplace distribution.
    """
    budgets = np.repeat([0.5, 5.0], 200_000)
    drawn = noise(Seeded(10), budgets, 2**30).reshape(2, -1) / 2.0**30
    for row, epsilon in zip(drawn, (0.5, 5.0), strict=True):
        expected = 2.0 / epsilon**2
        assert abs(row.var() / expected - 1.0) < 6.0 * math.sqrt(5.0 / row.size)
