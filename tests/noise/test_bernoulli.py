from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import (
    Seeded,
    Source,
    System,
    exact as bernoulli,
    exp_minus,
    exp_minus_many,
)
from epsilons.errors import ArgumentError

Coin = Callable[[int, int, float], float]
Tape = Callable[[Iterable[int]], Source]

ODDS = [(0, 1), (1, 1), (1, 3), (2, 3), (1, 1000), (7, 3), (3, 1), (2**99, 2**100 + 1)]
ONES = 2**64 - 1


def tosses_of(p: int, q: int, size: int, seed: int) -> int:
    return int(exp_minus_many(Seeded(seed), np.full(size, p, dtype=np.int64), q).sum())


LONG = [(2**44 + 12_345, 2**45), (2**53 - 1, 2**53), (2**61, 2**62), (9 * 2**40, 2**42)]


@pytest.mark.parametrize(("p", "q"), [*ODDS[:-1], *LONG])
def test_many_coins_have_their_law(p: int, q: int, coin: Coin, alpha: float) -> None:
    assert coin(tosses_of(p, q, 1_000_000, p), 1_000_000, math.exp(-p / q)) > alpha


@settings(deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**64))
def test_filter_and_fallback_agree_coin_by_coin(data: st.DataObject, seed: int) -> None:
    q = data.draw(st.integers(1, 2**62))
    p = np.array(data.draw(st.lists(st.integers(0, q), max_size=8)), dtype=np.int64)
    filtered = exp_minus_many(Seeded(seed), p, q)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bernoulli, "BAND", 2.0)
        exact = exp_minus_many(Seeded(seed), p, q)
    assert filtered.tolist() == exact.tolist()


@settings(deadline=None)
@given(data=st.data())
def test_words_at_the_edge_are_decided_exactly(data: st.DataObject, tape: Tape) -> None:
    # The nearest words on both sides of e^{-p/q}, which floats cannot distinguish.
    q = data.draw(st.integers(1, 2**62))
    p = data.draw(st.integers(1, q))
    with localcontext() as context:
        context.prec = 80
        edge = int(Decimal(2) ** 64 * (-Decimal(p) / Decimal(q)).exp())

    def toss(word: int, rest: int) -> bool:
        heads = exp_minus_many(tape([word] + [rest] * 4), np.array([p], dtype=np.int64), q)
        return bool(heads[0])

    assert toss(edge - 1, ONES)
    if edge < ONES:
        assert not toss(edge + 1, 0)
    assert toss(edge, 0)
    assert not toss(edge, ONES)


def test_certain_coins_never_fall_tails(tape: Tape) -> None:
    assert exp_minus_many(tape([ONES, 0]), np.zeros(2, dtype=np.int64), 5).all()
    assert all(exp_minus(Seeded(1), 0, q) for q in (1, 2, 10**50))


def test_the_filter_keeps_within_a_quarter_of_its_band() -> None:
    x = np.linspace(0.0, 1.0, 4001)
    values = bernoulli.polynomial(x)
    with localcontext() as context:
        context.prec = 50
        errors = [
            abs((-Decimal(a)).exp() - Decimal(b))
            for a, b in zip(x.tolist(), values.tolist(), strict=True)
        ]
    assert max(errors) < Decimal(bernoulli.BAND) / 4
    # The band is not much wider than needed: truncation errors at the ends of [0, 1] exceed a
    # sixteenth of its width.
    assert max(errors) > Decimal(bernoulli.BAND) / 16


def test_the_test_has_power(coin: Coin, alpha: float) -> None:
    assert coin(tosses_of(1, 3, 1_000_000, 1), 1_000_000, math.exp(-1.05 / 3)) < alpha
    source = Seeded(2)
    heads = sum(exp_minus(source, 1, 1) for _ in range(30_000))
    assert coin(heads, 30_000, math.exp(-1.05)) < alpha


def test_coins_in_all_chunks_are_tossed(coin: Coin, alpha: float) -> None:
    # Numerators alternate between 0 and 3. The coins of each numerator are tested separately.
    size = 3 * bernoulli.CHUNK + 17
    p = np.arange(size, dtype=np.int64) % 2 * 3
    heads = exp_minus_many(Seeded(4), p, 2)
    assert heads[::2].all()
    assert coin(int(heads[1::2].sum()), size // 2, math.exp(-1.5)) > alpha


def test_nothing_is_nothing() -> None:
    assert exp_minus_many(System(), np.zeros(0, dtype=np.int64), 3).shape == (0,)


@pytest.mark.parametrize(
    ("p", "q", "name"),
    [(-1, 1, "p"), (1, 0, "q"), (1, -2, "q"), (0.5, 1, "p"), (1, 2.0, "q"), (True, 1, "p")],
)
def test_one_coin_refuses(p: object, q: object, name: str) -> None:
    with pytest.raises(ArgumentError, match=f"{name} must"):
        exp_minus(Seeded(1), p, q)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("p", "q", "name"),
    [
        (np.array([-1]), 1, "p"),
        (np.array([1]), 0, "q"),
        (np.array([1]), 2**62 + 1, "q"),
        (np.array([1]), 1.5, "q"),
        (np.array([0.5]), 1, "p"),
        (np.array([1], dtype=np.int32), 1, "p"),
        (np.array([[1]]), 1, "p"),
        ([1], 1, "p"),
    ],
)
def test_many_coins_refuse(p: object, q: object, name: str) -> None:
    with pytest.raises(ArgumentError, match=f"{name} must"):
        exp_minus_many(Seeded(1), p, q)  # type: ignore[arg-type]
