"""Exact samplers on integers, whole arrays at a time. One draw is an array of one.

Every probability is exact: a rejected word is drawn again, and no float decides.
Proof: docs/proofs/next/noise.md.
"""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np
from numpy.typing import NDArray

from epsilons_next.mechanisms.source import Source

__all__ = ["below", "coins", "integer_below", "subset", "sums_to_zero", "two_sided"]

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Large = NDArray[np.object_]
"""Python's integers, of any size."""

_WORD = 1 << 64


def below(source: Source, bound: int, number: int) -> Integers:
    """Draw uniform integers in 0 … bound − 1, for a bound of at most 2⁶³.

    Words beyond the last whole cycle are drawn again, so that a remainder is uniform.
    """
    drawn = np.empty(number, np.uint64)
    waiting = np.arange(number)
    last = np.uint64(_WORD // bound * bound - 1)
    while len(waiting):
        words = source.words(len(waiting))
        accepted = words <= last
        drawn[waiting[accepted]] = words[accepted] % np.uint64(bound)
        waiting = waiting[~accepted]
    return drawn.astype(np.int64)


def integer_below(source: Source, bound: int) -> int:
    """Draw one uniform integer in 0 … bound − 1, for a bound of any size."""
    bits = bound.bit_length()
    while True:
        words = source.words(-(-bits // 64)).tobytes()
        drawn = int.from_bytes(words, "little") & ((1 << bits) - 1)
        if drawn < bound:
            return drawn


def coins(source: Source, part: Integers, whole: int) -> Flags:
    """Toss coins that are true with probability exp(−part/whole), for 0 ≤ part ≤ whole.

    Reference: Canonne, Kamath, Steinke 2020, algorithm 1. A coin of part/(k·whole) is a coin of
    part/whole and one of 1/k, so that nothing is multiplied.
    """
    result = np.empty(len(part), np.bool_)
    waiting, k = np.arange(len(part)), 1
    while len(waiting):
        on = below(source, whole, len(waiting)) < part[waiting]
        on &= below(source, k, len(waiting)) == 0
        result[waiting[~on]] = k % 2 == 1
        waiting, k = waiting[on], k + 1
    return result


def geometric(source: Source, scale: int, number: int) -> Large:
    """Draw integers i ≥ 0 with probability ∝ exp(−i/scale), for a scale of at most 2⁶³.

    An integer is fine + scale · coarse, whose probabilities are exp(−fine/scale) and exp(−coarse).
    """
    fine = np.empty(number, np.int64)
    waiting = np.arange(number)
    while len(waiting):
        tried = below(source, scale, len(waiting))
        accepted = coins(source, tried, scale)
        fine[waiting[accepted]] = tried[accepted]
        waiting = waiting[~accepted]
    coarse = np.zeros(number, np.int64)
    going = np.arange(number)
    while len(going):
        going = going[coins(source, np.ones(len(going), np.int64), 1)]
        coarse[going] += 1
    drawn: Large = fine.astype(object) + scale * coarse.astype(object)
    return drawn


def two_sided(source: Source, scale: int, number: int) -> Large:
    """Draw integers z with probability ∝ exp(−|z|/scale). Minus zero is drawn again."""
    drawn = np.empty(number, object)
    waiting = np.arange(number)
    while len(waiting):
        size = geometric(source, scale, len(waiting))
        negative = below(source, 2, len(waiting)) == 1
        accepted = (size != 0) | ~negative
        drawn[waiting[accepted]] = np.where(negative, -size, size)[accepted]
        waiting = waiting[~accepted]
    return drawn


def subset(source: Source, size: int, of: int) -> Integers:
    """Draw a uniform set of places: those with the smallest words. Equal words are drawn again."""
    while True:
        words = source.words(of)
        order = np.argsort(words, kind="stable")
        if len(np.unique(words)) == of:
            return order[:size]


def sums_to_zero(source: Source, scale: int, cells: int) -> list[int]:
    """Draw integers z of sum zero with probability ∝ exp(−Σ|z|/2·scale).

    The positive parts sum to r, in j of the cells. r is proposed as a sum of cells − 1 geometric
    variables, j as the number of the first `cells` of 2·(cells − 1) places in a uniform subset of
    half of them, and both together are accepted in proportion to the number of such z.
    Proof: docs/proofs/next/noise.md (3).
    """
    free = cells - 1
    while True:
        r = int(geometric(source, scale, free).sum())
        if r == 0:
            if integer_below(source, comb(2 * free, free)) == 0:
                return [0] * cells
            continue
        j = int(np.count_nonzero(subset(source, free, 2 * free) < cells))
        if 1 <= j <= min(r, free) and all(
            integer_below(source, r + cells - j - 1 + a) < r - a for a in range(1, j)
        ):
            break
    z = [0] * cells
    positive = subset(source, j, cells).tolist()
    negative = sorted(set(range(cells)) - set(positive))
    others = len(negative)
    for place, part in zip(positive, composition(source, r, j), strict=True):
        z[place] = part
    for place, part in zip(negative, composition(source, r + others, others), strict=True):
        z[place] = 1 - part
    return z


def composition(source: Source, whole: int, parts: int) -> list[int]:
    """Draw uniform positive integers of a given sum: the gaps between different cuts."""
    while True:
        cuts = {1 + integer_below(source, whole - 1) for _ in range(parts - 1)}
        if len(cuts) == parts - 1:
            ends = [0, *sorted(cuts), whole]
            return [b - a for a, b in pairwise(ends)]
