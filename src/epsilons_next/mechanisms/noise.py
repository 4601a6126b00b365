"""The laws of noise: what they protect, how they are drawn, and what it costs to be moved."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, TypeAlias

from epsilons_next.errors import PrivacyError
from epsilons_next.mechanisms.samplers import sums_to_zero, two_sided
from epsilons_next.mechanisms.source import Source

__all__ = ["LAWS", "SCALE", "Closed", "Columns", "Laplace", "Neighbours", "Noise"]

SCALE: Final = 1 << 62
"""The scale of noise in a release. Weights follow from it, so that ε = 2⁻²⁰ has a weight, too."""

Neighbours = Literal["replace", "add-remove"]
"""What one person can change: their answers, or whether they are there at all."""

Columns = tuple[tuple[int, ...], ...]
"""For each cell, what one unit in it adds to each number that is drawn."""


def distance(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class Laplace:
    """Independent noise on each number, P(z) ∝ exp(−Σ|z|/scale).

    Guarantee: if one person moves the numbers by at most m in all, no result is more than
    exp(m/scale) times as likely with their entry as with another.
    Proof: docs/proofs/next/noise.md (1).
    """

    scale: int = SCALE

    def sensitivity(self, columns: Columns, neighbours: Neighbours) -> int:
        """Return the most that one unit moves the numbers: into another cell, or away."""
        if neighbours == "replace":
            return max((distance(*pair) for pair in combinations(columns, 2)), default=0)
        return max(sum(map(abs, column)) for column in columns)

    def draw(self, numbers: int, source: Source) -> list[int]:
        """Draw the noise of so many numbers."""
        drawn: list[int] = two_sided(source, self.scale, numbers).tolist()
        return drawn


@dataclass(frozen=True)
class Closed:
    """Noise that sums to zero, P(z) ∝ exp(−Σ|z|/2·scale) where Σz = 0: what goes up comes down.

    Guarantee: if nobody can change the sum of the numbers, and one person moves them by at most 2m
    in all, no result is more than exp(m/scale) times as likely with their entry as with another.
    Proof: docs/proofs/next/noise.md (2).
    """

    scale: int = SCALE

    def sensitivity(self, columns: Columns, neighbours: Neighbours) -> int:
        """Return half of the most that one unit moves the numbers, rounded up.

        Raises:
            PrivacyError: somebody can change the sum of the numbers, which this noise would show.
        """
        if neighbours != "replace" or len(set(map(sum, columns))) > 1:
            raise PrivacyError("Noise that sums to zero shows the sum of what it hides.")
        return -(-max((distance(*pair) for pair in combinations(columns, 2)), default=0) // 2)

    def draw(self, numbers: int, source: Source) -> list[int]:
        """Draw the noise of so many numbers."""
        return sums_to_zero(source, self.scale, numbers)


Noise: TypeAlias = Laplace | Closed
"""Noise on several integers at once. Moving them by a sensitivity of m points costs m/scale."""

LAWS: Final = (Laplace, Closed)
"""The laws that were proven. Nothing is drawn by another one."""
