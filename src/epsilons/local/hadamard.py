"""The Walsh-Hadamard matrix: H[j, v] = (−1)^(number of bits that j and v share)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from epsilons.types import Floats


def order(cells: int) -> int:
    """The smallest power of two with a column for each cell, at least 2."""
    return 1 << max(cells - 1, 1).bit_length()


def negative(rows: NDArray[np.uint32], cells: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Where H[row, cell] is −1."""
    return np.asarray((np.bitwise_count(rows & cells) & np.uint8(1)).view(np.bool_))


def transform(values: Floats) -> Floats:
    """H·values by log₂ D passes of sums and differences.

    Args:
        values: as many as a power of two.
    """
    size = len(values)
    there, back = values.astype(np.float64), np.empty(size)
    half = size // 2
    # Each pass sends pairs of neighbours to the two halves: the order of rows comes out right.
    for _ in range(size.bit_length() - 1):
        np.add(there[0::2], there[1::2], out=back[:half])
        np.subtract(there[0::2], there[1::2], out=back[half:])
        there, back = back, there
    return there
