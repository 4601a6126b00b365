"""The coin that decides whether a staircase draw leaves the first stair is tossed exactly."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import Seeded, Source
from epsilons.draws.noise.exact import Ascent, rise

Coin = Callable[[int, int, float], float]
Tape = Callable[[Iterable[int]], Source]

COINS = [
    Ascent(Fraction(1), 1, 2),
    Ascent(Fraction(1, 1000), 5, 8),
    Ascent(Fraction(20), 2 * 10**6 - 1, 2**46),
    Ascent(Fraction(30), 1, 2**46),
    Ascent(Fraction(3, 2), 13, 40, 100),
    Ascent(Fraction(44), 1 + 2 * 10**8, 2**91, 2**92),
]
RATES = st.builds(Fraction, st.integers(1, 10**10), st.integers(1, 10**10))


def heads_of(coin: Ascent) -> Decimal:
    b = (-Decimal(coin.rate.numerator) / Decimal(coin.rate.denominator)).exp()
    t = b / (1 - b)
    heads = coin.once * t + coin.twice * t * t
    return heads / (heads + coin.stay)


@settings(max_examples=200, deadline=None)
@given(
    rate=RATES | st.sampled_from([Fraction(700), Fraction(1, 10**9)]),
    stay=st.integers(1, 2**92),
    once=st.integers(1, 2**92),
    twice=st.integers(0, 2**92),
    bits=st.integers(1, 300),
)
def test_the_enclosure_holds_and_is_narrow(
    rate: Fraction, stay: int, once: int, twice: int, bits: int
) -> None:
    coin = Ascent(rate, stay, once, twice)
    lo, hi = coin.enclose(bits)
    with localcontext() as context:
        context.prec, context.Emin = 250, decimal.MIN_EMIN
        assert lo <= heads_of(coin) * Decimal(2) ** bits <= hi
    assert 0 <= lo < 2**bits
    assert 0 < hi <= 2**bits
    assert hi - lo <= 2


@pytest.mark.parametrize("rate", [Fraction(10**400), Fraction(1, 10**400)], ids=["huge", "tiny"])
def test_rates_beyond_all_floats(rate: Fraction) -> None:
    coin = Ascent(rate, 3, 2**46)
    assert coin.many(Seeded(1), 100).tolist() == [rate < 1] * 100
    assert coin.one(Seeded(1)) == (rate < 1)


@pytest.mark.parametrize("ascent", COINS, ids=repr)
def test_coins_have_their_law(ascent: Ascent, coin: Coin, alpha: float) -> None:
    share = float(heads_of(ascent))
    assert coin(int(ascent.many(Seeded(1), 1_000_000).sum()), 1_000_000, share) > alpha
    source = Seeded(2)
    assert coin(sum(ascent.one(source) for _ in range(30_000)), 30_000, share) > alpha
    assert coin(int(ascent.many(Seeded(1), 1_000_000).sum()), 1_000_000, share * 0.95) < alpha


@pytest.mark.parametrize("coin", COINS, ids=repr)
def test_words_at_the_edge_are_decided_by_further_bits(coin: Ascent, tape: Tape) -> None:
    with localcontext() as context:
        context.prec = 120
        edge = int(Decimal(2) ** 64 * heads_of(coin))
        second = int(Decimal(2) ** 128 * heads_of(coin)) - (edge << 64)
    ones = 2**64 - 1
    cases = [
        ([edge - 1, ones, ones], True),
        ([edge + 1, 0, 0], False),
        ([edge, 0, 0], True),
        ([edge, ones, ones], False),
        ([edge, second, 0, 0], True),
        ([edge, second, ones, ones], False),
    ]
    for words, heads in cases:
        assert coin.one(tape(words)) is heads
        assert coin.many(tape(words), 1).tolist() == [heads]


def test_nothing_wraps() -> None:
    near, far = np.array([0, 5, -7]), np.array([0, 2**40, -(2**40)])
    rest = np.array([1, 2, 3])
    assert rise(near, 2**45, rest).dtype == np.int64
    raised = rise(far, 2**45, rest)
    assert raised.dtype == object
    assert raised.tolist() == [1, 2**85 + 2, -(2**85) + 3]
    assert rise(near, 2**45, rest.astype(object)).tolist() == [1, 5 * 2**45 + 2, -7 * 2**45 + 3]
    assert rise(near[:0], 2**45, rest[:0]).tolist() == []
