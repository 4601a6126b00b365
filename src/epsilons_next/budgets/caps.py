"""Effective budgets: nobody spends more than a cap, and the best rule is a cap.

Proof: docs/proofs/next/caps.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["best_cap"]

TRIED: Final = 9
"""So many caps are tried, and then again between the neighbours of the best: widths are flat."""


def best_cap(
    offered: NDArray[np.float64], widths: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return min(offered, cap) for the cap with the least width of what will be printed.

    Args:
        offered: how much of each class may be used.
        widths: for rows of effective budgets, the widths that they give.
    """
    used = offered[offered > 0.0]
    low, high = used.min(), used.max()
    for _ in range(4 if low < high else 1):
        caps = np.unique(np.geomspace(low, high, TRIED))
        best = int(np.argmin(widths(np.minimum(offered, caps[:, None]))))
        low, high = caps[max(best - 1, 0)], caps[min(best + 1, len(caps) - 1)]
    if caps[best] == used.max():
        return offered
    # Three digits are enough to choose a cap, and what was used can be read. One above the best may
    # be one at which too few people carry the result for a normal law.
    caps = np.array([float(f"{caps[best] * part:.3g}") for part in (0.995, 1.0)])
    best = int(np.argmin(widths(np.minimum(offered, caps[:, None]))))
    return np.minimum(offered, float(caps[best]))
