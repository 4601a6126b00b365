"""The nearest point of the simplex."""

from __future__ import annotations

import numpy as np

from epsilons.types import Floats


def project(point: Floats) -> Floats:
    """Project onto the simplex: shares from 0 that sum to one, nearest in ℓ2.

    The nearest shares are max(x − θ, 0) with the θ that makes them sum to one, found by one sort.
    The truth is on the simplex, which is convex, so that no ℓ2 error grows.

    Args:
        point: any finite numbers.

    Returns:
        Shares in the same order.
    """
    point = point - point.max()  # the same for all: it changes no projection, and sums stay small
    ordered = np.sort(point)[::-1]
    sums = np.cumsum(ordered)
    # Σ_{j ≤ i} (x_j − x_i) − 1 grows with i; where it turns positive, coordinates become zero.
    spare = sums - np.arange(1, len(ordered) + 1) * ordered
    positive = max(int(np.searchsorted(spare, 1.0, side="left")), 1)
    shares = np.maximum(point - (sums[positive - 1] - 1.0) / positive, 0.0)
    return np.asarray(shares / shares.sum())
