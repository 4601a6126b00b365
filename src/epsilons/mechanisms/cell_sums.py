"""The frozen mechanism of frequencies under add/remove: weighted counts, whose total is private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from epsilons.frozen import storable
from epsilons.ladder import Ladder
from epsilons.mechanisms.additive import COARSE_BITS, MANY, lattice, noisy_cells, weighted
from epsilons.mechanisms.rungs import multiples, weights_up_to
from epsilons.noise import DiscreteLaplace, Source
from epsilons.risk import Weighing
from epsilons.tally import Tally
from epsilons.types import Floats, Integers, freeze


@storable("mechanisms.CellSums")
@dataclass(frozen=True, eq=False)
class CellSums:
    """Weighted integer counts by cell, each plus integer noise of its own.

    A person on a rung of the ladder has a whole weight k, a function of the rung alone, and adds
    k·reach to one cell, or shares of it to several. It holds no data.

    Guarantee:
        Adding or removing a person moves the counts by at most k·reach in ℓ1. The noises are
        independent and each changes by at most e^{1/scale} from one integer to the next, so the
        loss is at most k·reach/scale, a rational number, which `epsilons.verify.exact` compares
        with the rung. Nothing is rounded after the counts.

    Reference:
        Algorithm 3 of paper *add-remove* for any number of cells (a mean has two: x and 1 − x), on
        integers and for personal weights. Proof: docs/proofs/add-remove.md.

    Attributes:
        levels: the rungs of the public ladder.
        weights: the whole weight k of a person on each rung.
        reach: what a person of weight 1 adds in all.
        law: the law of the noise of each cell.
        cells: how many categories there are.
        grid: 1: nothing is divided before the noise.
        moves: 1: a person comes or goes.
        keep: None: everyone is surely used.
    """

    kind = "open cells"
    levels: Floats
    weights: Integers
    reach: int
    law: DiscreteLaplace
    cells: int
    grid: int = 1
    moves: int = 1
    keep: tuple[Fraction, ...] | None = None

    def __post_init__(self) -> None:
        freeze(self.levels, self.weights)

    def total(self, tally: Tally) -> npt.NDArray[Any]:
        """The weighted count of each cell, before noise."""
        weights = self.weights[np.searchsorted(self.levels, tally.levels)]
        if len(weights) == 0:
            return np.zeros(self.cells, dtype=np.int64)
        return weighted(weights, tally.cells)

    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy counts of all cells.

        Args:
            source: where the randomness comes from.
            size: how many times; None for once.
            total: the weighted counts of the data; with 0 the noise alone is drawn.

        Returns:
            Integers by cell, or by draw and cell: int64 where everything fits.
        """
        return noisy_cells(self.law, source, self.cells, size, total)

    def counts(self, drawn: npt.NDArray[Any]) -> Floats:
        """Noisy counts in units of weight."""
        return np.asarray(drawn, dtype=np.float64) / self.reach

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """What a person on each rung loses at most."""
        rate = self.reach / self.law.scale
        return multiples(rate, self.weights)

    @property
    def scale(self) -> float:
        """The scale of the noise in units of weight."""
        return float(self.law.scale / self.reach)

    def weighing(self, counts: Integers) -> Weighing:
        """The leading term of the estimator if so many people stand on each rung.

        The noise of the total, which all cells share, is forecast for even shares.
        """
        total = float(self.weights.astype(np.float64) @ counts)
        if total <= 0.0:
            return Weighing(np.full(len(counts), 1.0 / max(int(counts.sum()), 1)), counts, math.inf)
        scale = self.scale * math.sqrt(1.0 - 1.0 / self.cells) / total
        return Weighing(self.weights / total, counts, scale)


def build_cell_sums(
    ladder: Ladder, left: tuple[Fraction, ...], cap: float, *, cells: int, unit: int
) -> CellSums:
    """The mechanism in which everyone spends what they have left, up to a cap.

    Weights are e·2^s rounded down and the scale of the noise is unit·2^s, so that a person's loss
    is k·unit/scale = k/2^s ≤ e.
    """
    most = 36 if cells <= MANY else COARSE_BITS
    shift = lattice(np.array([cap]), most=most, reserved=unit.bit_length())
    scale = Fraction(2) ** shift
    weights = weights_up_to(left, cap, scale)
    law = DiscreteLaplace(unit * scale)
    return CellSums(ladder.levels, np.array(weights, dtype=np.int64), unit, law, cells)
