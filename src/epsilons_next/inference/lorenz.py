"""Weights of people, and how far apart they can pull a weighted sum and a plain one: bias.

Proof: docs/proofs/next/lorenz.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

__all__ = ["Weights"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Weights:
    """How much a unit of each class counts, which is the ε that it spends, and how many there are.

    Args:
        each: by class, what one unit counts.
        units: how many units are in it; without survey weights, people.
        people: how many persons.
        squares: the sum of their squared units.
        most: the most units of one person.
        rounding: how far rounding survey weights moves a mean, of the range.
    """

    each: Floats
    units: Floats
    people: Floats
    squares: Floats
    most: float = 1.0
    rounding: float = 0.0

    @cached_property
    def total(self) -> float:
        """All weight."""
        return float(self.each @ self.units)

    @cached_property
    def n(self) -> float:
        """All units."""
        return float(self.units.sum())

    @property
    def equal(self) -> bool:
        """Whether everybody counts alike, so that limits cannot matter."""
        return bool(np.ptp(self.each) == 0.0)

    @cached_property
    def curve(self) -> tuple[Floats, Floats]:
        """The Lorenz curve: shares of people, lightest first, and the share of weight they have."""
        order = np.argsort(self.each, kind="stable")
        people, held = self.units[order], (self.units * self.each)[order]
        shares = np.concatenate([[0.0], np.cumsum(people)]) / self.n
        return shares, np.concatenate([[0.0], np.cumsum(held)]) / self.total

    def bias(self, u: Floats, apart: float) -> tuple[Floats, Floats]:
        """Bound Σ weight · f, for f in [−u, 1 − u] with a mean of 0 by the survey weights.

        Args:
            u: the candidates.
            apart: how far the means of classes lie apart, at most; 1 if nothing is assumed.

        Returns:
            The least and the most.
        """
        return self.total * self._least(u, apart), -self.total * self._least(1.0 - u, apart)

    def _least(self, p: Floats, apart: float) -> Floats:
        """The lightest have as much as they can: −apart · max(g − L(g)) where g can be."""
        shares, held = self.curve
        moved = np.maximum(p - self.rounding, 0.0)
        if apart <= 0.0:
            return moved - p
        if apart >= 1.0:
            return np.interp(moved, shares, held) - p
        ends = np.maximum((moved - 1.0 + apart) / apart, 0.0), np.minimum(moved / apart, 1.0)
        at = np.clip(shares[np.argmax(shares - held)], *ends)
        behind: Floats = np.maximum(at - np.interp(at, shares, held), 0.0)
        return -apart * behind - (p - moved)

    def lightest(self, weighted: Floats) -> Floats:
        """The largest plain mean of values in 0 … 1 with this weighted mean."""
        shares, held = self.curve
        return np.interp(weighted, held, shares)

    def heaviest(self, u: Floats) -> Floats:
        """The largest weight at rank u or 1 − u: how fast bias follows the mean of a sample."""
        order = np.sort(self.each)
        shares = self.curve[0][1:]
        ranks = np.searchsorted(shares, np.stack([u, 1.0 - u]))
        result: Floats = order[np.minimum(ranks, len(order) - 1)].max(axis=0)
        return result

    @property
    def persons(self) -> Floats:
        """What a person of each class counts, in the mean of squares."""
        return self.each * np.sqrt(self.squares / np.maximum(self.people, 1.0))

    @property
    def heavy(self) -> float:
        """How much larger a sum of squares by person may be than one by unit; 1 without weights."""
        return self.most * self.n / float(self.squares.sum())

    @cached_property
    def centred(self) -> Floats:
        """How far each weight is from their mean."""
        return self.each - self.total / self.n

    def dealt(self) -> float:
        """Return v with P(Σ weight · f > s) ≤ exp(−2s²/v), for f in a unit range dealt at random.

        Reference: a martingale in the order of the distance from the mean (Hoeffding 1963).
        """
        order = np.argsort(-np.abs(self.centred), kind="stable")
        k, n = self.centred[order], self.units[order]
        after = self.n - np.cumsum(n)
        rest = np.append(np.cumsum((n * k)[::-1])[::-1][1:], 0.0)
        inner = (after > 0) & (n > 0)
        a, b = after[inner], after[inner] + n[inner]
        gap = k[inner] - rest[inner] / a
        return float(np.sum((a * gap) ** 2 * (1 / a**2 + 1 / (a + 0.5) - 1 / (b - 0.5))))
