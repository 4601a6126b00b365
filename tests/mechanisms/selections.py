"""Small selection mechanisms, and reference implementations of their probabilities."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from epsilons.draws.mechanisms.selection import Listed, Selection

PRIOR = [1, 3, 2, 1]


ODDS = [(1, 1), (1, 3), (3, 1), (2, 5), (1, 63), (32, 32)]


def selection(
    scale: int = 8,
    neighbours: str = "replace",
    candidates: Any = None,
    weights: Any = (1, 2, 5),
    odds: tuple[int, int] = (1, 1),
) -> Selection:
    return Selection(
        np.array([0.25, 0.5, 2.0]),
        np.array(weights),
        scale,
        neighbours,
        Listed(np.array(PRIOR)) if candidates is None else candidates,
        "a median",
        odds,
    )


def law(people: list[tuple[int, int]], scale: int | Fraction) -> list[float]:
    """Return the probabilities of four candidates, computed from a list of (cell, weight)."""
    shares = []
    for candidate, prior in enumerate(PRIOR):
        below = sum(k for cell, k in people if cell < candidate)
        upto = sum(k for cell, k in people if cell <= candidate)
        total = sum(k for _, k in people)
        shares.append(prior * math.exp(-max(0, 2 * below - total, total - 2 * upto) / scale))
    return [share / sum(shares) for share in shares]


def masses(people: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    cells = sorted({cell for cell, _ in people})
    return np.array(cells, dtype=np.int64), np.array(
        [sum(k for at, k in people if at == cell) for cell in cells], dtype=np.int64
    )


def probabilities(mechanism: Selection, people: list[tuple[int, int]]) -> list[float]:
    """Return the probabilities computed from the mechanism's exponents."""
    cells, sums = masses(people)
    exponents = [float(mechanism.exponent(at, cells, sums)) for at in range(len(PRIOR))]
    # Subtracting the least exponent changes no probability, and avoids underflow of all shares.
    least = min(exponents)
    shares = [p * math.exp(least - e) for p, e in zip(PRIOR, exponents, strict=True)]
    return [share / sum(shares) for share in shares]


SPREADS = {
    "replace": lambda odds: 2 * (odds[0] + odds[1]),
    "add-remove": lambda odds: 2 * max(odds),
}
