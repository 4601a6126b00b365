"""Noisy weights of the octaves of the float64 line: where values of unknown range lie."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.door.count import line
from epsilons.draws.mechanisms.selection import octave_prior
from epsilons.draws.mechanisms.sums import noisy_cells
from epsilons.draws.noise import DiscreteLaplace, Source
from epsilons.frozen import storable
from epsilons.types import Floats, Integers, freeze

__all__ = ["HIGHS", "LOWS", "RARE", "ZERO", "Octaves", "octaves_of"]

ZERO: Final = 1025 - line.LOWEST
"""The index of the cell of 0. The cells of the negative octaves come before it, those of the
positive octaves after it."""

_CELLS: Final = 2 * ZERO + 1


def octaves_of(buckets: Integers) -> Integers:
    """Return the cell of each bucket of the line: the octave (2^{e−1}, 2^e], its negative, or 0.

    A power of two is the upper end of its octave. So a column that ends at 64 needs no octave
    beyond 64.
    """
    sizes = np.abs(buckets)
    octave = np.maximum((sizes - 2) // line.CELLS, 0) + 1
    return np.where(sizes == 0, ZERO, ZERO + np.sign(buckets) * octave)


def _ends() -> tuple[Floats, Floats, Floats]:
    """Return the ends of all cells, and −ln of the prior of each cell."""
    exponents = np.arange(line.LOWEST, 1025, dtype=np.int64)
    outer = np.minimum(np.ldexp(1.0, np.minimum(exponents, 1023)), line.LIMIT)
    inner = np.concatenate([[0.0], outer[:-1]])
    zero, prior = np.zeros(1), octave_prior(exponents).astype(np.float64)
    sizes = np.concatenate([prior[::-1], octave_prior(np.zeros(1, dtype=np.int64)), prior])
    return (
        np.concatenate([-outer[::-1], zero, inner]),
        np.concatenate([-inner[::-1], zero, outer]),
        -np.log(sizes / sizes.sum()),
    )


LOWS, HIGHS, RARE = _ends()
"""The lower and the upper end of each cell, and −ln of the prior of each cell."""

freeze(LOWS, HIGHS, RARE)


@storable("mechanisms.Octaves")
@dataclass(frozen=True, eq=False)
class Octaves:
    """The weight of the people in each octave of the line, with independent noise in each octave.

    Everyone has an integer weight k and is in one cell: an octave of either sign, or 0. People
    whose value is missing are in no cell. The object holds no data: the weights of buckets are
    passed to `total`.

    Guarantee:
        Replacing a person takes k from one cell and adds k to another; adding or removing them
        changes one cell by k. So the ℓ1 distance is at most `moves`·k. The noise values are
        independent, and the probability of each changes by at most a factor e^{1/scale} from one
        integer to the next. So the loss is at most moves·k/scale. Nothing is rounded after the
        sums. Proof: docs/proofs/gaussian.md (11).

    Attributes:
        levels: budget levels ε.
        weights: the integer weight k of a person at each level.
        law: the distribution of the noise of each cell.
        neighbours: "replace" or "add-remove".
    """

    levels: Floats
    weights: Integers
    law: DiscreteLaplace
    neighbours: str

    released = "a weighted count of the people in each octave of the line plus noise"
    reach = 1
    grid = 1
    cells = _CELLS
    keep = None

    def __post_init__(self) -> None:
        freeze(self.levels, self.weights)

    @property
    def kind(self) -> str:
        """The kind of mechanism; checkers derive from it how much one person can change."""
        return "octaves" if self.neighbours == "replace" else "open octaves"

    @property
    def moves(self) -> int:
        """The number of cells that a person can change by their weight."""
        return 2 if self.neighbours == "replace" else 1

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """The largest loss of a person at each level: moves·k/scale."""
        return tuple(self.moves * k / self.law.scale for k in self.weights.tolist())

    def placed(self, levels: Floats, place: Integers) -> Octaves:
        """Return the same mechanism on finer levels, each contained in one current level."""
        return replace(self, levels=levels.copy(), weights=self.weights[place])

    def total(self, summed: tuple[Integers, ...]) -> Integers:
        """Return the weight of the people in each cell, before noise.

        Args:
            summed: the indices of buckets of the line, and the weight of the people in each.
        """
        buckets, masses = summed
        total = np.zeros(_CELLS, dtype=np.int64)
        np.add.at(total, octaves_of(buckets), masses)
        return total

    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy weights of all cells.

        Args:
            source: where the randomness comes from.
            size: the number of draws; None for one.
            total: the weights of the cells; with 0 the draw is noise only.

        Returns:
            Integers by cell, or by draw and cell: int64 if all values fit.
        """
        return noisy_cells(self.law, source, _CELLS, size, total)
