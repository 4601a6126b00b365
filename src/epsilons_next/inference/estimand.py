"""What is published of the numbers that were drawn: the share that a part has of a whole.

A mean is low + (high − low) · Σx/Σ(x + 1 − x), a share is a category over all of them. They differ
in which of the drawn numbers are the part, and which the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Estimand"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Estimand:
    """Numbers of one form: each is low + (high − low) · u; u is the share of its part in its whole.

    Args:
        names: what they are called, by column.
        counts: how many of the drawn numbers are of each kind; others do not matter to them.
        sums: adds up the drawn numbers of each kind, for each published number.
        part: for each kind, how often it counts for the part.
        whole: for each kind, how often it counts for the whole; None if the whole is everybody, of
            whom is known how much weight they have.
        low, high: between which ends the number is.
        square: for each kind and at last for everybody, what it adds to Σ(x − u)², times 1, u and
            u²; None if squares were not drawn.
    """

    names: tuple[tuple[str, ...], ...]
    counts: tuple[int, ...]
    sums: Callable[[Floats], Floats]
    part: Floats
    whole: Floats | None
    low: float = 0.0
    high: float = 1.0
    square: Floats | None = None

    def coefficients(self, u: Floats) -> Floats:
        """Return for each candidate how often each kind counts in part − u · whole."""
        whole = np.zeros_like(self.part) if self.whole is None else self.whole
        coefficients: Floats = self.part - u[:, None] * whole
        return coefficients
