"""Means that a test does not refute, from how far the test may be off.

Derived in `docs/proofs/groups.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from epsilons.risk.combined import EDGES
from epsilons.types import Floats

__all__ = ["Heights", "inverted", "least_refuted"]


@dataclass(frozen=True, eq=False)
class Heights:
    """How far T may be above 0, and below, for every mean in a part of the unit range."""

    up: Floats
    down: Floats

    def smaller(self, other: Heights) -> Heights:
        """Of two, for each part, that with the smaller sum: both must be fixed numbers."""
        first = self.up + self.down <= other.up + other.down
        return Heights(np.where(first, self.up, other.up), np.where(first, self.down, other.down))

    def by_sides(self, other: Heights) -> Heights:
        """Of two, the smaller of each side: both sides of both must have half of β each."""
        return Heights(np.minimum(self.up, other.up), np.minimum(self.down, other.down))


def inverted(first: Floats, total: Floats, heights: Heights) -> tuple[Floats, Floats]:
    """The means that are not refuted: those m with |first − m·total| within the heights.

    Args:
        first: what T is at m = 0, for each group.
        total: what it falls by from there to m = 1.
        heights: for each group, and each part of means.

    Returns:
        The ends of the smallest interval that holds them; the whole range where nothing is known,
        and where no mean is left.
    """
    good = total > 0.0
    whole = np.where(good, total, 1.0)[:, None]
    with np.errstate(over="ignore"):
        low = np.maximum((first[:, None] - heights.up) / whole, EDGES[:-1])
        high = np.minimum((first[:, None] + heights.down) / whole, EDGES[1:])
    left = (low <= high) & good[:, None]
    low = np.where(left, low, np.inf).min(axis=1)
    high = np.where(left, high, -np.inf).max(axis=1)
    some = left.any(axis=1)
    return np.where(some, low, 0.0), np.where(some, high, 1.0)


def least_refuted(first: Floats, total: Floats, heights: Heights) -> Floats:
    """The mean that the test accepts most: where |first − m·total| is least of the heights.

    Heights are constant within a part of means, and first − m·total is monotone, so that the least
    ratio is at an edge of a part wherever the test is nowhere 0.

    Args:
        first: what T is at m = 0, for each group.
        total: what it falls by from there to m = 1, not 0.
        heights: for each group, and each part of means.
    """
    edges = np.stack([EDGES[:-1], EDGES[1:]])[:, None, :]
    off = first[:, None] - edges * total[:, None]
    allowed = np.where(off > 0.0, heights.up, heights.down)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(off == 0.0, 0.0, np.abs(off) / allowed)
    best = np.argmin(ratio.swapaxes(0, 1).reshape(len(first), -1), axis=1)
    return np.asarray(edges.reshape(-1)[best])
