"""The mechanism: everybody's cells, weighted and added up, plus noise.

What is verified is what is drawn from: it holds no data and no limits, which the curator has.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from epsilons_next.errors import PrivacyError
from epsilons_next.grid import GRID
from epsilons_next.mechanisms.noise import LAWS, Columns, Neighbours, Noise
from epsilons_next.mechanisms.source import Source

__all__ = ["Linear", "Matrix"]


@dataclass(frozen=True)
class Matrix:
    """What is drawn of the cells: of each group the same rows, and the last cell if there is one.

    Args:
        block: for each row that is drawn of a group, how often it counts each of its cells.
        groups: how many groups there are, each with cells of its own.
        outside: whether one more cell is drawn, that of people in no group.
    """

    block: tuple[tuple[int, ...], ...]
    groups: int
    outside: bool

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.groups * len(self.block[0]) + self.outside

    @property
    def rows(self) -> int:
        """How many numbers are drawn."""
        return self.groups * len(self.block) + self.outside

    @property
    def columns(self) -> Columns:
        """All that one unit can do: the cells of two groups, since all are alike, and the last."""
        few = min(self.groups, 2)
        nothing = (0,) * len(self.block)
        columns = [
            (*nothing * group, *cell, *nothing * (few - 1 - group), *(0,) * self.outside)
            for group in range(few)
            for cell in zip(*self.block, strict=True)
        ]
        return (*columns, *[(*nothing * few, 1)] * self.outside)

    def times(self, cells: NDArray[np.object_]) -> list[int]:
        """Return what is to be drawn, of weighted cells, in integers of any size."""
        inner = cells[: len(cells) - self.outside].reshape(self.groups, -1)
        drawn = inner @ np.array(self.block, object).T
        return [*drawn.ravel().tolist(), *cells[len(cells) - self.outside :].tolist()]


@dataclass(frozen=True)
class Linear:
    """Draws matrix · Σ weight × cells + noise.

    Args:
        weights: for each class of people, what one unit of theirs counts.
        matrix: what is drawn of the cells.
        noise: the law.

    Guarantee: somebody with u units in a class of weight w loses at most
    u · w · sensitivity · GRID / scale, exactly. Proof: docs/proofs/next/linear.md.

    Raises:
        PrivacyError: this is no mechanism of integers, or its law is none that was proven.
    """

    weights: tuple[int, ...]
    matrix: Matrix
    noise: Noise

    def __post_init__(self) -> None:
        proven = type(self.noise) in LAWS and type(self.matrix) is Matrix
        held, tuples = self.matrix, {type(each) for each in (self.weights, *self.matrix.block)}
        counted = (*self.weights, *chain(*held.block), held.groups, self.noise.scale)
        integers = all(type(each) is int for each in counted) and type(held.outside) is bool
        if not (proven and integers and tuples == {tuple}) or min(self.weights, default=0) < 0:
            raise PrivacyError(
                "A mechanism has integers, weights from 0, and a law that was proven."
            )
        if self.noise.scale <= 0 or held.groups < 1 or len(set(map(len, held.block))) != 1:
            raise PrivacyError("A scale is above 0, and every row counts every cell of a group.")

    def losses(self, neighbours: Neighbours) -> list[Fraction]:
        """Return by class what one unit can lose."""
        moved = self.noise.sensitivity(self.matrix.columns, neighbours) * GRID
        return [Fraction(weight * moved, self.noise.scale) for weight in self.weights]

    def totals(self, sums: NDArray[np.int64]) -> list[int]:
        """Return what would be drawn without noise, of the cells by class."""
        return self.matrix.times(np.array(self.weights, object) @ sums.astype(object))

    def draw(self, sums: NDArray[np.int64], source: Source) -> tuple[int, ...]:
        """Draw, of the cells by class."""
        noise = self.noise.draw(self.matrix.rows, source)
        return tuple(total + z for total, z in zip(self.totals(sums), noise, strict=True))
