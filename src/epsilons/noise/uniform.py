"""Uniform integers below any bound, and uniform orders, by rejection: one, or many at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ArgumentError
from epsilons.noise.arguments import natural
from epsilons.noise.source import Source

LARGEST = 1 << 62
"""The largest bound of the vector form: results and their sums of two stay within int64."""


def below(source: Source, m: int) -> int:
    """Draw an integer below `m`.

    Args:
        source: where the bits come from.
        m: the bound, of any size.

    Returns:
        An integer in 0, ..., m - 1.

    Raises:
        ArgumentError: `m` is not an integer of at least 1.

    Guarantee: uniform on 0, ..., m - 1, exactly.
    """
    if type(m) is not int or m < 1:
        m = natural("m", m, 1)
    k = (m - 1).bit_length()
    while (draw := source.bits(k)) >= m:
        pass
    return draw


def below_many(source: Source, m: int, size: int) -> NDArray[np.int64]:
    """Draw `size` integers below `m`.

    Args:
        source: where the bits come from.
        m: the bound, at most 2**62.
        size: how many.

    Returns:
        Integers in 0, ..., m - 1.

    Raises:
        ArgumentError: `m` is not an integer from 1 to 2**62, or `size` is not one of at least 0.

    Guarantee: independent and uniform on 0, ..., m - 1, exactly.
    """
    m, size = natural("m", m, 1), natural("size", size)
    if m > LARGEST:
        raise ArgumentError("m must be at most 2**62 for many draws at once; use below().")
    if m == 1:
        return np.zeros(size, dtype=np.int64)
    surplus = (1 << 64) % m
    if surplus == 0:  # a power of two: the low bits of a word are uniform as they are
        return (source.words(size) & np.uint64(m - 1)).view(np.int64)
    # Words below the largest multiple of m are uniform on whole cycles of m; others are redrawn.
    cycles = np.uint64((1 << 64) - surplus)
    words = source.words(size)
    while not (good := words < cycles).all():
        words = words[good]
        words = np.concatenate([words, source.words(size - len(words))])
    # NumPy divides by a scalar with vector instructions, but has none for the remainder.
    step = np.uint64(m)
    return (words - (words // step) * step).view(np.int64)


def below_each(source: Source, m: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw one integer below each of many bounds.

    Args:
        source: where the bits come from.
        m: the bounds: a one-dimensional int64 array, from 1 to 2**62.

    Returns:
        For each bound an integer in 0, ..., m - 1, in the order of `m`.

    Raises:
        ArgumentError: `m` is not of that kind.

    Guarantee: independent, each uniform on 0, ..., m - 1, exactly.
    """
    if not isinstance(m, np.ndarray) or m.dtype != np.int64 or m.ndim != 1:
        raise ArgumentError("m must be a one-dimensional array of int64.")
    if len(m) and not 1 <= m.min() <= m.max() <= LARGEST:
        raise ArgumentError("m must be from 1 to 2**62 for many draws at once; use below().")
    bounds = m.view(np.uint64)
    # 2**64 mod m, for unsigned numbers wrap. Words above the last whole cycle of m are redrawn.
    last = ~((np.uint64(0) - bounds) % bounds)
    words = source.words(len(m)).copy()
    while len(again := np.flatnonzero(words > last)):
        words[again] = source.words(len(again))
    return (words % bounds).view(np.int64)


def permutation(source: Source, size: int) -> NDArray[np.int64]:
    """Draw an order of 0, ..., size - 1.

    Args:
        source: where the bits come from.
        size: how many.

    Returns:
        Each of 0, ..., size - 1 once.

    Raises:
        ArgumentError: `size` is not an integer of at least 0.

    Guarantee: uniform on all orders, exactly.
    """
    size = natural("size", size)
    while True:
        words = source.words(size)
        order = np.argsort(words)
        # Equal words would stay in some order of their own: draw again, and all orders are alike.
        if not (np.diff(words[order]) == 0).any():
            return order.astype(np.int64, copy=False)


def permutations(source: Source, rows: int, size: int) -> NDArray[np.int64]:
    """Draw many orders of 0, ..., size - 1.

    Args:
        source: where the bits come from.
        rows: how many orders.
        size: of how many each.

    Returns:
        An order in each row.

    Raises:
        ArgumentError: `rows` or `size` is not an integer of at least 0.

    Guarantee: independent, each uniform on all orders, exactly.
    """
    rows, size = natural("rows", rows), natural("size", size)
    words = source.words(rows * size).reshape(rows, size)
    order: NDArray[np.int64] = np.argsort(words, axis=1).astype(np.int64, copy=False)
    lined = np.take_along_axis(words, order, axis=1)
    for row in np.flatnonzero((lined[:, 1:] == lined[:, :-1]).any(axis=1)).tolist():
        order[row] = permutation(source, size)
    return order
