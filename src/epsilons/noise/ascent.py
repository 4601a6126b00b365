"""Whether noise leaves its first stair: one coin, exactly, at any rate.

To draw a stair and to reject it if the first is narrow would take forever at a large rate: both the
first stair and those beyond are then unlikely. So the coin's probability is enclosed instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilons.noise.enclosure import enclose
from epsilons.noise.magnitude import LIMIT
from epsilons.noise.source import Source

WORD = 64


@dataclass(frozen=True)
class Ascent:
    """A coin of odds (once t + twice t^2) : stay, with t = 1 / (e^rate - 1).

    Args:
        rate: above zero.
        stay: the weight of tails, at least 1.
        once: the weight of t in heads, at least 1.
        twice: the weight of t^2 in heads, at least 0.
    """

    rate: Fraction
    stay: int
    once: int
    twice: int = 0

    def enclose(self, bits: int) -> tuple[int, int]:
        """Enclose the probability P of heads between two multiples of 2**-bits.

        Args:
            bits: the precision, at least 1.

        Returns:
            Integers (lo, hi).

        Guarantee: lo <= P * 2**bits <= hi with lo < 2**bits and hi > 0, and they come as near
        relative to 2**bits as one likes. P rises with b = e^{-rate}, so it is enclosed by its
        values at the ends of an enclosure of b, which are ratios of integers.
        """
        p, q = self.rate.numerator, self.rate.denominator
        # Guard bits are for speed alone: P may be steeper than b by these weights, or by 1 / rate.
        weights = self.stay.bit_length() + self.once.bit_length() + self.twice.bit_length()
        work = bits + weights + 2 * q.bit_length() + 8
        # e^{-p/q} < 2**-work, of which `enclose` would compute all digits
        lo, hi = enclose(p, q, work) if p < q * work else (0, 1)
        above, below = self._share(lo, work)
        least = (above << bits) // below
        above, below = self._share(hi, work)
        return least, -((-above << bits) // below)

    def _share(self, n: int, work: int) -> tuple[int, int]:
        """Return P as a ratio of integers for b = n / 2**work."""
        rest = (1 << work) - n
        if rest == 0:  # the enclosure of b ends with 1, where t is infinite
            return 1, 1
        heads = (self.once * rest + self.twice * n) * n
        return heads, self.stay * rest * rest + heads

    @cached_property
    def _first(self) -> tuple[int, int]:
        """The enclosure to one word, which decides nearly always."""
        return self.enclose(WORD)

    def one(self, source: Source) -> bool:
        """Toss the coin.

        Args:
            source: where the bits come from.

        Guarantee: True with probability P, exactly.
        """
        return self._decide(source, source.bits(WORD))

    def many(self, source: Source, size: int) -> NDArray[np.bool_]:
        """Toss the coin `size` times.

        Args:
            source: where the bits come from.
            size: how many.

        Guarantee: independent, True with probability P, exactly.
        """
        lo, hi = self._first
        words = source.words(size)
        heads: NDArray[np.bool_] = words < np.uint64(lo)
        # `hi` itself may be 2**64, which no word can be compared with
        near = ~heads & (words <= np.uint64(hi - 1))
        if near.any():
            for i in np.flatnonzero(near).tolist():
                heads[i] = self._decide(source, int(words[i]))
        return heads

    def _decide(self, source: Source, lead: int) -> bool:
        """Return whether U < P for a uniform number U that begins with the word `lead`."""
        bits = WORD
        lo, hi = self._first
        while lo <= lead < hi:
            lead = lead << WORD | source.bits(WORD)
            bits += WORD
            lo, hi = self.enclose(bits)
        return lead < lo


def rise(counts: NDArray[Any], steps: int, rest: NDArray[Any]) -> NDArray[Any]:
    """Return counts * steps + rest, on Python integers if any of them would reach 2**62.

    Args:
        counts: whole numbers of any sign.
        steps: at least 1, at most `magnitude.WIDEST`.
        rest: whole numbers, within 4 * steps of 0 unless they are Python integers, too.

    Guarantee: nothing wraps.
    """
    if counts.dtype != object and len(counts):
        largest = max(int(counts.max()), -int(counts.min())) + 4
        if largest > LIMIT // steps:
            counts = counts.astype(object)
    # Python integers on one side make the other side and the result Python integers too.
    raised: NDArray[Any] = counts * steps + rest
    return raised
