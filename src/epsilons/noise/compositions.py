"""Uniform ways to write a number as a sum of whole parts: one, or many at once."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from epsilons.noise.source import Source
from epsilons.noise.uniform import below, below_each


def subset(source: Source, size: int, count: int) -> list[int]:
    """Draw some of 0, ..., size - 1.

    Args:
        source: where the bits come from.
        size: of how many, of any size.
        count: how many, at most `size`.

    Returns:
        Different integers, ascending.

    Guarantee: uniform on all subsets of so many, exactly.

    Reference: Bentley and Floyd (1987), Programming pearls: a sample of brilliance.
    """
    chosen: set[int] = set()
    for top in range(size - count, size):
        pick = below(source, top + 1)
        chosen.add(top if pick in chosen else pick)
    return sorted(chosen)


def composition(source: Source, total: int, parts: int) -> list[int]:
    """Draw `parts` integers of at least 1 that sum to `total`.

    Args:
        source: where the bits come from.
        total: of any size, at least `parts`.
        parts: at least 1.

    Guarantee: uniform on all such lists, exactly: each is one set of places to cut at.
    """
    cuts = [0, *(cut + 1 for cut in subset(source, total - 1, parts - 1)), total]
    return [after - before for before, after in itertools.pairwise(cuts)]


def compositions(
    source: Source, total: NDArray[np.int64], parts: NDArray[np.int64], width: int
) -> NDArray[np.int64]:
    """Draw many compositions.

    Args:
        source: where the bits come from.
        total: of each, at most 2**62.
        parts: of each, from 1 to its total.
        width: at least the most parts.

    Returns:
        A row for each: its parts, and then zeros.

    Guarantee: independent, each with the law of `composition`, exactly. A row whose places to cut
    at are not all different is drawn again by `composition`, which depends on nothing before.
    """
    ends = total[:, np.newaxis]
    inside = np.arange(width - 1) < parts[:, np.newaxis] - 1
    cuts = np.repeat(ends, width - 1, axis=1)
    cuts[inside] = 1 + below_each(source, cuts[inside] - 1)
    cuts.sort(axis=1)
    twice = (cuts[:, 1:] == cuts[:, :-1]) & (cuts[:, 1:] < ends)
    found: NDArray[np.int64] = np.diff(cuts, axis=1, prepend=0, append=ends)
    for row in np.flatnonzero(twice.any(axis=1)).tolist():
        count = int(parts[row])
        found[row, :count] = composition(source, int(total[row]), count)
        found[row, count:] = 0
    return found
