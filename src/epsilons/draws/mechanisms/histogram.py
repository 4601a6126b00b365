"""The mechanisms of frequencies: weighted integer counts of cells, with noise in each cell."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from epsilons.budgets.allocation import Allocation
from epsilons.door import Tally
from epsilons.draws.mechanisms.sums import (
    COARSE_BITS,
    MANY,
    around,
    dot,
    lattice,
    noisy_cells,
    ratio,
    sampled_losses,
    stays,
    weighed,
    weighted,
    weights_of,
)
from epsilons.draws.noise import Closed, DiscreteLaplace, PointMass, Source
from epsilons.errors import PrivacyError
from epsilons.frozen import shared, storable
from epsilons.risk import Weighing
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.types import Floats, Integers, freeze

_SAFE = 2**62
_HUGE = 1e300


@dataclass(frozen=True, eq=False)
class CellTable(ABC):
    """Weighted integer counts of cells; subclasses define the noise.

    A person adds k·unit to one cell, or shares of it to several cells, at most k·unit in total. The
    object holds no data: the counts are passed to `draw`.

    Guarantee:
        Replacing a person takes at most k·unit from some cells and adds at most k·unit to others.
        The ℓ1 distance is at most `moves`·k·reach = 2·k·unit. The loss is at most the loss of the
        noise for a shift by that distance.

    Reference:
        Proof: docs/proofs/frequencies.md (14). Proof: docs/proofs/closed.md (1).

    Attributes:
        levels: budget levels ε.
        counts: the number of people at each level.
        weights: the integer weight k of a person at each level.
        reach: the total that a person of weight 1 adds.
        law: the distribution of the noise.
        divisor: D, the denominator of shares.
        cells: the number of categories.
        keep: the probability that a person at each level is used; None without sampling.
        grid: 1, because nothing is divided before the noise.
        moves: 2, because a person can leave one cell and enter another.
    """

    levels: Floats
    counts: Integers
    weights: Integers
    reach: int
    law: DiscreteLaplace | PointMass | Closed
    divisor: Fraction
    cells: int
    keep: tuple[Fraction, ...] | None = None
    grid: int = 1
    moves: int = 2

    def __post_init__(self) -> None:
        freeze(self.levels, self.counts, self.weights)

    def total(self, tally: Tally) -> npt.NDArray[Any]:
        """Return the weighted counts of the cells, Σ k·cells[level, cell], before noise."""
        return weighted(self.weights, tally.cells)

    def thin(self, source: Source, level_of: Integers, cell_of: Integers) -> npt.NDArray[Any]:
        """Toss a coin for each person, and return the weighted counts of the people who are kept.

        Args:
            source: where the coins come from.
            level_of: the index of each person's level.
            cell_of: the index of each person's cell.
        """
        if self.keep is None:
            raise ValueError("a mechanism that thins has keep probabilities")
        left = cell_of[stays(source, self.keep, level_of)]
        counts = np.bincount(left, minlength=self.cells).astype(np.int64)
        return self._scaled(counts, int(self.weights.max()))

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind of mechanism; checkers derive from it how much one person can change."""

    @abstractmethod
    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy counts of all cells.

        Args:
            source: where the randomness comes from.
            size: the number of draws; None for one.
            total: the weighted counts of the data; with 0 the draw is noise only.

        Returns:
            Integers by cell, or by draw and cell: int64 if all values fit.
        """

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """Return shares from noisy counts; they can be outside [0, 1]."""
        if drawn.dtype != object:
            return np.asarray(drawn, dtype=np.float64) / float(self.divisor)
        flat = [ratio(Fraction(int(count)), self.divisor) for count in drawn.ravel().tolist()]
        # Noise beyond the range of floats carries no information about a share, so it is clipped.
        return np.asarray(np.clip(np.array(flat), -_HUGE, _HUGE).reshape(drawn.shape))

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """The largest loss of a person at each level; ∞ for people who are used without noise."""
        far = self.reach * self.moves
        surely = tuple(self.law.loss(k * far) for k in self.weights.tolist())
        return surely if self.keep is None else sampled_losses(self.levels, surely, self.keep)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in lattice steps of a cell."""
        return self.law.pieces.scale

    @cached_property
    def weighing(self) -> Weighing:
        """The estimator of one share, with the integer weights of the mechanism."""
        weights = self.weights.astype(np.float64) * (self.reach / float(self.divisor))
        freeze(weights)
        return weighed(weights, self.counts, ratio(self.scale, self.divisor), self.keep)

    @cached_property
    def slack(self) -> float:
        """The largest rounding error of a share: one lattice step of the noise."""
        return ratio(Fraction(1), self.divisor)

    def _scaled(self, counts: Integers, weight: int) -> npt.NDArray[Any]:
        if weight * self.reach * max(int(counts.sum()), 1) < _SAFE:
            return counts * (weight * self.reach)
        return np.asarray(counts.astype(object) * (weight * self.reach))


@storable("mechanisms.Histogram")
@dataclass(frozen=True, eq=False)
class Histogram(CellTable):
    """Weighted integer counts of cells, with independent integer noise in each cell.

    It is used if people are sampled or only public people are counted. It is also used if there are
    very many cells, or if the number of cells exceeds the scale of the noise. Otherwise
    `ClosedHistogram` has less noise.

    Guarantee:
        Replacing a person takes at most k·unit from some cells and adds at most k·unit to others.
        The ℓ1 distance is at most `moves`·k·reach = 2·k·unit. The noise values are independent, and
        the probability of each changes by at most a factor e^{1/scale} from one integer to the
        next. So the loss is at most 2·k·unit/scale. It is rational, and `epsilons.verify.exact`
        compares it with ε. Nothing is rounded after the counts.

    Reference:
        Algorithm 1 (HPF) of paper *correlated*, on integers.
        Proof: docs/proofs/frequencies.md (14).

    Attributes:
        law: the distribution of the noise of each cell.
    """

    kind = "cells"
    released = "a weighted count of the people in each cell plus noise"
    law: DiscreteLaplace | PointMass

    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy counts of all cells: see `CellTable.draw`."""
        return noisy_cells(self.law, source, self.cells, size, total)


@storable("mechanisms.ClosedHistogram")
@dataclass(frozen=True, eq=False)
class ClosedHistogram(CellTable):
    """Weighted integer counts of cells, plus integer noise that sums to zero over the cells.

    The number of people and their weights are public, so the sum of all cells is public. The noise
    need not hide that sum.

    Guarantee:
        Everyone adds exactly k·unit in total. So replacing a person takes as much from some cells
        as it adds to others: the change sums to 0, and its ℓ1 norm is at most `moves`·k·reach =
        2·k·unit. The probability of noise that sums to 0 changes by at most a factor e^{1/scale}
        per unit of ℓ1 distance. So the loss is at most 2·k·unit/scale. It is rational, and
        `epsilons.verify.exact` compares it with ε. This holds only under replacement and only
        without sampling, because the sum over the cells is published without noise.

    Reference:
        Hardt and Talwar (2010): noise of the norm whose unit ball is the set of all changes by one
        person; here on integers and for personal weights. Proof: docs/proofs/closed.md (1).

    Attributes:
        law: the joint distribution of the noise of all cells.
        keep: None, because everyone is used without sampling.
    """

    kind = "closed cells"
    paper = 'Hardt and Talwar, "On the geometry of differential privacy", 2010'
    released = "a weighted count of the people in each cell plus noise that sums to zero"
    law: Closed

    def total(self, tally: Tally) -> npt.NDArray[Any]:
        """Return the weighted counts of the cells, before noise.

        Raises:
            PrivacyError: the cells of a level do not sum to one unit per person. The sum over cells
                gets no noise, so it would reveal this.
        """
        people = self.counts.astype(object) * self.reach  # Python integers do not wrap
        if tally.cells.sum(axis=1).tolist() != people.tolist():
            raise PrivacyError(
                "The cells of a level do not sum to one unit for each of its people. Their sum "
                "gets no noise, so it would reveal this. Nothing was drawn."
            )
        return super().total(tally)

    @cached_property
    def weighing(self) -> Weighing:
        """The estimator of one share; its noise is correlated with the noise of the other cells."""
        return replace(super().weighing, closed=ClosedNoise(self.cells))

    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy counts of all cells: see `CellTable.draw`."""
        drawn = around(total, self.law.draw(source, 1 if size is None else size))
        return np.asarray(drawn[0] if size is None else drawn)


@shared
def build_histogram(allocation: Allocation, *, unit: int) -> CellTable:
    """Build the mechanism of an allocation for frequencies.

    Weights are e·2^s rounded down, and the scale of the noise is 2·unit·2^s, so a person's loss is
    2·k·unit/scale = k/2^s ≤ e ≤ ε. The noise sums to zero, with three exceptions: there is no
    noise, there are very many cells, or the number of cells exceeds the scale of the noise. In the
    last case, rejection sampling of noise that sums to zero would reject most proposals. In the
    last two cases, independent noise has nearly the same variance.

    Args:
        allocation: an allocation for frequencies; its goal contains the number of cells.
        unit: the total that a person of weight 1 adds.
    """
    spent, counts, cells = allocation.spent, allocation.counts, allocation.goal.numbers
    shift = table_lattice(spent, allocation.n, cells, unit)
    scale = 2 * unit * Fraction(2) ** shift
    public = math.isinf(spent[-1])
    weights = np.isinf(spent).astype(np.int64) if public else weights_of(spent, shift)
    divisor = Fraction(unit * dot(weights, counts))
    few = cells - 1 <= scale and cells <= MANY
    if few and not public:
        noise = Closed(scale, cells)
        return ClosedHistogram(allocation.levels, counts, weights, unit, noise, divisor, cells)
    law = PointMass() if public else DiscreteLaplace(scale)
    return Histogram(allocation.levels, counts, weights, unit, law, divisor, cells)


def table_lattice(spent: Floats, people: int, cells: int, unit: int = 1) -> int:
    """Return the exponent s of weights e·2^s.

    Counts fit 64 bits, unless weights would then have fewer bits than the minimum.

    Args:
        spent: the effective budgets, ascending.
        people: the number of people.
        cells: the number of categories.
        unit: the total that a person of weight 1 adds.
    """
    room = 61 - (people * unit).bit_length()
    fewest = 24 if cells <= MANY else COARSE_BITS
    return lattice(spent, most=max(min(room, 45), fewest), reserved=unit.bit_length())
