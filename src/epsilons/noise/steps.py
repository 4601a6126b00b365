"""How often a coin of e^{-1} falls heads before it falls tails: many at once, by inversion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epsilons.noise.enclosure import continues_below, enclose
from epsilons.noise.source import Source

REACH = 44
"""As far as the table goes: e^{-44} is the last power that a 64-bit word can still tell from 0."""


def _threshold(j: int) -> int:
    """Return floor(2**64 e^{-j})."""
    lo, hi = enclose(j, 1, 128)
    if lo >> 64 != hi >> 64:
        raise AssertionError("128 bits settle every entry of the table, as the tests check")
    return lo >> 64


TABLE: NDArray[np.uint64] = np.array([_threshold(j) for j in range(REACH, 0, -1)], dtype=np.uint64)
"""floor(2**64 e^{-j}) for j = REACH, ..., 1: rising, and no two alike."""
TABLE.flags.writeable = False


def steps_many(source: Source, size: int) -> NDArray[np.int64]:
    """Draw `size` counts V with P(V >= j) = e^{-j}.

    Args:
        source: where the bits come from.
        size: how many.

    Returns:
        Counts of at least 0.

    Guarantee: independent, P(V = j) = (1 - e^{-1}) e^{-j} exactly. V is the number of j with
    U < e^{-j} for one uniform U. The first 64 bits of U decide it unless they equal an entry of
    the table, when further bits are drawn. A V that reaches the end of the table begins again
    there, which the law allows: it has no memory.
    """
    words = source.words(size)
    at_most = np.searchsorted(TABLE, words, side="right")  # how many thresholds are <= the word
    steps: NDArray[np.int64] = REACH - at_most
    ties = np.flatnonzero(TABLE[at_most - 1] == words)  # index -1 is e^{-1}'s: no word below all
    for i in ties.tolist():
        j = int(steps[i]) + 1  # the word equals the threshold of e^{-j}
        steps[i] += continues_below(source, int(words[i]), 64, j, 1)
    far = np.flatnonzero(steps == REACH)
    if len(far):
        steps[far] += steps_many(source, len(far))
    return steps
