from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.draws.noise import Seeded, Source, System, below, below_many, permutation
from epsilons.draws.noise.exact import below_each, permutations
from epsilons.errors import ArgumentError

Fit = Callable[[Sequence[float], Sequence[float]], float]
Tape = Callable[[Iterable[int]], Source]


@settings(deadline=None)
@given(m=st.integers(1, 2**200), seed=st.integers(0, 2**64))
def test_below_is_below(m: int, seed: int) -> None:
    assert 0 <= below(Seeded(seed), m) < m
    assert 0 <= below(System(), m) < m


@settings(deadline=None)
@given(m=st.integers(1, 2**62), size=st.integers(0, 50), seed=st.integers(0, 2**64))
def test_below_many_is_below(m: int, size: int, seed: int) -> None:
    for source in (Seeded(seed), System()):
        draws = below_many(source, m, size)
        assert draws.dtype == np.int64
        assert draws.shape == (size,)
        assert all(0 <= draw < m for draw in draws.tolist())


@pytest.mark.parametrize("m", [2, 3, 7, 10, 64, 100, 257])
def test_small_bounds_are_uniform(m: int, fit: Fit, alpha: float) -> None:
    source = Seeded(m)
    draws = [below(source, m) for _ in range(300 * m)]
    assert fit(np.bincount(draws, minlength=m).tolist(), [1 / m] * m) > alpha
    many = below_many(source, m, 3000 * m)
    assert fit(np.bincount(many, minlength=m).tolist(), [1 / m] * m) > alpha


LARGE = [2**53 - 1, 3 * 2**60, 2**62 - 1, 2**62]


@pytest.mark.parametrize("m", [*LARGE, 10**30, 2**200 - 1, 2**200, 3 * 2**198 + 1])
def test_large_bounds_are_uniform_high_and_low(m: int, fit: Fit, alpha: float) -> None:
    source = Seeded(m)
    draws = [below(source, m) for _ in range(5000)]
    high = np.bincount([draw * 16 // m for draw in draws], minlength=16)
    low = np.bincount([draw % 16 for draw in draws], minlength=16)
    assert fit(high.tolist(), [1 / 16] * 16) > alpha
    assert fit(low.tolist(), [1 / 16] * 16) > alpha


@pytest.mark.parametrize("m", LARGE)
def test_large_bounds_are_uniform_for_many(m: int, fit: Fit, alpha: float) -> None:
    draws = below_many(Seeded(m), m, 100_000)
    high = np.bincount(draws // (m // 16 + 1), minlength=16)
    low = np.bincount(draws % 16, minlength=16)
    width = m // 16 + 1
    shares = [(min(m, (i + 1) * width) - i * width) / m for i in range(16)]
    assert fit(high.tolist(), shares) > alpha
    assert fit(low.tolist(), [1 / 16] * 16) > alpha


def test_the_test_has_power(fit: Fit, alpha: float) -> None:
    # Rejection prevents a bias: three bits modulo 7 give zero with twice the right probability.
    biased = below_many(Seeded(1), 8, 21_000) % 7
    assert fit(np.bincount(biased, minlength=7).tolist(), [1 / 7] * 7) < alpha


def test_words_beyond_the_last_cycle_are_redrawn(tape: Tape) -> None:
    last = 2**64 - 1  # 2**64 = 1 (mod 3), so only this word is beyond the full cycles of 3
    assert below_many(tape([last, 4, last, 5]), 3, 2).tolist() == [1, 2]


@pytest.mark.parametrize("m", [0, -1, 1.0, 2.5, "3", None, True])
def test_bounds_are_whole_numbers_above_zero(m: object) -> None:
    with pytest.raises(ArgumentError, match="m must"):
        below(Seeded(1), m)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="m must"):
        below_many(Seeded(1), m, 1)  # type: ignore[arg-type]


def test_many_draws_have_limits() -> None:
    with pytest.raises(ArgumentError, match=r"2\*\*62"):
        below_many(Seeded(1), 2**62 + 1, 1)
    with pytest.raises(ArgumentError, match="size"):
        below_many(Seeded(1), 2, -1)


def test_numpy_integers_do_not_wrap() -> None:
    assert 0 <= below(Seeded(1), np.int64(2**62)) < 2**62  # type: ignore[arg-type]
    assert isinstance(below(Seeded(1), np.int64(5)), int)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_orders_are_uniform(size: int, fit: Fit, alpha: float) -> None:
    source = Seeded(size)
    orders = list(itertools.permutations(range(size)))
    drawn = [tuple(permutation(source, size).tolist()) for _ in range(100 * len(orders))]
    counts = [drawn.count(order) for order in orders]
    assert sum(counts) == len(drawn)
    assert fit(counts, [1 / len(orders)] * len(orders)) > alpha


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_an_order_has_everyone_once(size: int) -> None:
    for source in (Seeded(1), System()):
        order = permutation(source, size)
        assert order.dtype == np.int64
        assert sorted(order.tolist()) == list(range(size))


def test_equal_words_are_drawn_again(tape: Tape) -> None:
    assert permutation(tape([7, 2**64 - 1, 7, 9, 0, 2**63]), 3).tolist() == [1, 0, 2]
    with pytest.raises(ArgumentError, match="size"):
        permutation(Seeded(1), -1)


def test_each_of_many_bounds_is_uniform(fit: Fit, alpha: float) -> None:
    bounds = np.resize(np.array([1, 2, 3, 7, 64, 100, 3 * 2**60, 2**62 - 1, 2**62]), 90_000)
    drawn = below_each(Seeded(3), bounds)
    assert drawn.dtype == np.int64
    assert ((drawn >= 0) & (drawn < bounds)).all()
    for m in np.unique(bounds).tolist()[1:]:
        own = drawn[bounds == m].tolist()
        cells = min(m, 16)
        counts = np.bincount([x * cells // m for x in own], minlength=cells)
        shares = [(-(-(i + 1) * m // cells) - -(-i * m // cells)) / m for i in range(cells)]
        assert fit(counts.tolist(), shares) > alpha
        low = np.bincount([x % 2 for x in own], minlength=2)
        assert fit(low.tolist(), [(m + 1) // 2 / m, m // 2 / m]) > alpha


def test_each_of_many_bounds_redraws_alone(tape: Tape) -> None:
    last = 2**64 - 1  # 2**64 = 1 (mod 3), so only this word is beyond the full cycles of 3
    assert below_each(tape([last, last, 5, last, 7]), np.array([3, 4, 3])).tolist() == [1, 3, 2]
    assert below_each(Seeded(1), np.zeros(0, dtype=np.int64)).tolist() == []


@pytest.mark.parametrize(
    "m", [[3], np.array([3.0]), np.array([[3]]), np.array([0]), np.array([-2])]
)
def test_many_bounds_are_whole_numbers_above_zero(m: Any) -> None:
    with pytest.raises(ArgumentError, match="m must"):
        below_each(Seeded(1), m)
    with pytest.raises(ArgumentError, match=r"2\*\*62"):
        below_each(Seeded(1), np.array([1, 2**62 + 1]))


def test_many_orders_are_uniform(fit: Fit, alpha: float) -> None:
    every = list(itertools.permutations(range(3)))
    drawn = [tuple(each) for each in permutations(Seeded(5), 3000, 3).tolist()]
    assert fit([drawn.count(order) for order in every], [1 / 6] * 6) > alpha
    pairs = list(zip(drawn[::2], drawn[1::2], strict=True))
    both = list(itertools.product(every, every))
    assert fit([pairs.count(each) for each in both], [1 / 36] * 36) > alpha


def test_an_order_of_equal_words_is_drawn_again(tape: Tape) -> None:
    words = [7, 2**64 - 1, 7, 3, 2, 1, 9, 0, 2**63]
    assert permutations(tape(words), 2, 3).tolist() == [[1, 0, 2], [2, 1, 0]]
    assert permutations(Seeded(1), 0, 3).shape == (0, 3)
