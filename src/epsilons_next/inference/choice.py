"""Which mechanism is drawn: the law that protects what is drawn, and the best cap.

Proof: docs/proofs/next/caps.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilons_next.budgets.caps import best_cap
from epsilons_next.budgets.levels import Budgets
from epsilons_next.grid import GRID
from epsilons_next.inference.bounds import by_kind
from epsilons_next.inference.estimand import Estimand
from epsilons_next.inference.laws import Law
from epsilons_next.inference.lorenz import Weights
from epsilons_next.inference.noisy import NoisySums, expected
from epsilons_next.inference.rows import Reading
from epsilons_next.mechanisms.linear import Linear, Matrix
from epsilons_next.mechanisms.noise import SCALE, Closed, Laplace, Neighbours, Noise

__all__ = ["Drawing"]

Floats = NDArray[np.float64]

ROUGHLY: Final = 10
"""How often a width is halved that caps are compared by."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """What will be drawn of whom, before and after.

    Args:
        matrix: what is drawn of the cells.
        numbers: what will be published of it.
        budgets: how much of everybody's ε may be used, and how many they are.
    """

    matrix: Matrix
    numbers: Estimand
    budgets: Budgets

    @property
    def neighbours(self) -> Neighbours:
        """What one person can change."""
        return "add-remove" if self.budgets.counts is None else "replace"

    @property
    def noise(self) -> Noise:
        """Noise that sums to zero, where nobody can change the sum of what is drawn."""
        sums = set(map(sum, self.matrix.columns))
        closed = self.neighbours == "replace" and len(sums) == 1 and self.matrix.rows > 1
        return Closed() if closed else Laplace()

    @property
    def reach(self) -> int:
        """How far one unit moves what is drawn."""
        return self.noise.sensitivity(self.matrix.columns, self.neighbours)

    @property
    def law(self) -> Law:
        """The law of noise in the numbers, in units of ε."""
        rest = self.matrix.rows - sum(self.numbers.counts)
        return Law(self.numbers.counts, rest, isinstance(self.noise, Closed), float(self.reach))

    def mechanism(self, reading: Reading) -> Linear:
        """Return the mechanism whose cap makes the interval narrowest; weights are rounded down.

        Where it is secret who took part, everybody has the lowest limit, and all weigh the same;
        who has nothing left does not count.
        """
        offered = np.array(self.budgets.offered)
        if self.budgets.counts is None:
            least = offered[offered > 0.0].min()
            used = np.where(offered > 0.0, least, 0.0)
        else:
            used = best_cap(offered, lambda rows: self._widths(rows, reading))
        # The scale over the grid is a power of two, so nothing is rounded but the last quotient.
        weights = np.floor(used * float(SCALE // GRID)).astype(np.int64) // self.reach
        return Linear(tuple(weights.tolist()), self.matrix, self.noise)

    def _widths(self, rows: Floats, reading: Reading) -> Floats:
        """The half-widths that rows of effective budgets give in the middle of the range."""
        law, widths = self.law, np.full(len(rows), np.inf)
        weights = [self._weights(used) for used in rows]
        ways = [expected(self.numbers, law, each, reading) for each in weights]
        total = np.array([each.total for each in weights])
        for way in range(len(ways[0])):
            for places, together in by_kind([each[way] for each in ways]):
                middle = self.numbers.coefficients(np.full(len(places), 0.5))
                half = together.critical(law, middle, reading.miss, ROUGHLY) / total[places]
                widths[places] = np.minimum(widths[places], half)
        return widths

    def _weights(self, each: Floats) -> Weights:
        counts = self.budgets.counts
        assert counts is not None
        units, people, squares = (
            np.array(values, float) for values in (counts.units, counts.people, counts.squares)
        )
        return Weights(each, units, people, squares, float(counts.most), counts.rounding)

    def read(self, mechanism: Linear, integers: tuple[int, ...], reading: Reading) -> NoisySums:
        """Return what may be concluded from what was drawn, in units of ε."""
        each = np.array([float(loss) for loss in mechanism.losses(self.neighbours)])
        scale = self.reach / mechanism.noise.scale
        drawn = np.array([float(integer) for integer in integers]) * scale
        weights = None if self.budgets.counts is None else self._weights(each)
        return NoisySums(self.numbers, self.numbers.sums(drawn), self.law, weights, reading)
