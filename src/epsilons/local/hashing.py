"""Public randomness from a seed: signs and directions that anyone can compute again.

All of it comes from splitmix64 (Steele, Lea and Flood 2014): word number c of a seed s is
mix(s + (c + 1)·GOLDEN) in 64-bit arithmetic. Nothing here is secret, and no privacy rests on it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Singles = NDArray[np.float32]

GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_HALF: Final = np.uint64(0xFFFFFFFF)


def mix(words: Words) -> Words:
    """The finaliser of splitmix64: a bijection of 64-bit words in which every bit moves all."""
    words = words ^ (words >> np.uint64(30))
    words *= _FIRST
    words ^= words >> np.uint64(27)
    words *= _SECOND
    words ^= words >> np.uint64(31)
    return words


def words_of(seeds: Words, count: int) -> Words:
    """The first `count` words of each seed: an array of len(seeds) × count."""
    steps = np.arange(1, count + 1, dtype=np.uint64) * GOLDEN
    return mix(seeds[:, None] + steps)


def signs(seed: int, rows: Words, cells: Words) -> NDArray[np.bool_]:
    """The sign of a cell in a row of the public matrix, at each pair: True is −1.

    It is the first bit of mix(mix(seed + (row + 1)·GOLDEN) + (cell + 1)·GOLDEN).

    Args:
        seed: the public seed.
        rows: the rows wanted.
        cells: the columns wanted, of a shape that fits that of the rows.
    """
    one = np.uint64(1)
    keys = mix(np.uint64(seed) + (rows + one) * GOLDEN)
    return (mix(keys + (cells + one) * GOLDEN) >> np.uint64(63)).astype(np.bool_)


def directions(seeds: Words, count: int, dimension: int) -> Singles:
    """`count` directions for each seed: Gaussian vectors of length one.

    Pair p of direction k takes word k·P + p of its seed, P = ⌈dimension/2⌉: with h its high and l
    its low 32 bits, the pair is √(−2·ln((h + 1)/2³²)) times the cosine and the sine of 2π·l/2³².

    Args:
        seeds: one for each person.
        count: how many directions each has.
        dimension: of the space.

    Returns:
        float32, len(seeds) × count × dimension. The rounding of another machine changes them in
        the seventh digit, which moves an estimate less than that.
    """
    pairs = (dimension + 1) // 2
    words = words_of(seeds, count * pairs)
    size = ((words >> np.uint64(32)).astype(np.float32) + np.float32(1.0)) * np.float32(2.0**-32)
    np.log(size, out=size)
    size *= np.float32(-2.0)
    np.sqrt(size, out=size)
    turn = (words & _HALF).astype(np.float32)
    turn *= np.float32(2.0 * np.pi / 2.0**32)
    both = np.empty((*words.shape, 2), dtype=np.float32)
    np.multiply(size, np.cos(turn), out=both[..., 0])
    np.multiply(size, np.sin(turn), out=both[..., 1])
    found = both.reshape(len(seeds), count, 2 * pairs)[:, :, :dimension]
    length = np.sqrt(np.einsum("nkd,nkd->nk", found, found))
    flat = length == 0.0  # once in 2²⁴ in one dimension, never in more
    if flat.any():
        found[flat, 0] = 1.0
        length[flat] = 1.0
    found /= length[:, :, None]
    return found
