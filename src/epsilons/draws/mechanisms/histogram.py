"""The frozen mechanisms of frequencies: weighted integer counts by cell, with noise in each."""

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
from epsilons.frozen import storable
from epsilons.risk import Weighing
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.types import Floats, Integers, freeze

_SAFE = 2**62
_HUGE = 1e300


@dataclass(frozen=True, eq=False)
class CellTable(ABC):
    """Weighted integer counts by cell, before it is said how their noises go together.

    A person adds k·unit to one cell, or shares of it to several, k·unit in all at most. It holds no
    data: the counts come in when it is drawn.

    Guarantee:
        Replacing a person takes at most k·unit from some cells and adds at most k·unit to others: a
        distance of `moves`·k·reach = 2·k·unit in ℓ1. What that costs is what the law of the noise
        allows over that distance.

    Reference:
        Proofs: docs/proofs/frequencies.md and docs/proofs/closed.md.

    Attributes:
        levels: the budgets ε.
        counts: how many people have each.
        weights: the integer weight k of a person of each level.
        reach: what a person of weight 1 adds in all.
        law: the law of the noise.
        divisor: D: what counts are divided by.
        cells: how many categories there are.
        keep: the probability with which a person of each level is used; None if all surely are.
        grid: 1: nothing is divided before the noise.
        moves: 2: a person may leave one cell and enter another.
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
        """The weighted count of each cell, Σ k·cells[level, cell], before noise."""
        return weighted(self.weights, tally.cells)

    def thin(self, source: Source, level_of: Integers, cell_of: Integers) -> npt.NDArray[Any]:
        """The weighted count of those who stay, after a coin for each person.

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
        """What it is: a checker knows from it what one person can move."""

    @abstractmethod
    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy counts of all cells.

        Args:
            source: where the randomness comes from.
            size: how many times; None for once.
            total: the weighted counts of the data; with 0 the noise alone is drawn.

        Returns:
            Integers by cell, or by draw and cell: int64 where everything fits.
        """

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """The shares that noisy counts stand for; they may lie outside [0, 1]."""
        if drawn.dtype != object:
            return np.asarray(drawn, dtype=np.float64) / float(self.divisor)
        over, under = self.divisor.denominator, self.divisor.numerator
        flat = [_quotient(int(count) * over, under) for count in drawn.ravel().tolist()]
        # Noise beyond every float says nothing of a share: any large number will do.
        return np.asarray(np.clip(np.array(flat), -_HUGE, _HUGE).reshape(drawn.shape))

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """What a person of each level loses at most; ∞ for those who are used without noise."""
        far = self.reach * self.moves
        surely = tuple(self.law.loss(k * far) for k in self.weights.tolist())
        return sampled_losses(self.levels, surely, self.keep)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, in points of a cell."""
        return self.law.pieces.scale

    @cached_property
    def weighing(self) -> Weighing:
        """The estimator of one share, with the integer weights that are really used."""
        weights = self.weights.astype(np.float64) * (self.reach / float(self.divisor))
        return weighed(weights, self.counts, ratio(self.scale, self.divisor), self.keep)

    @cached_property
    def slack(self) -> float:
        """What integers may add to the error of a share: one lattice point of noise."""
        return ratio(Fraction(1), self.divisor)

    def _scaled(self, counts: Integers, weight: int) -> npt.NDArray[Any]:
        if weight * self.reach * max(int(counts.sum()), 1) < _SAFE:
            return counts * (weight * self.reach)
        return np.asarray(counts.astype(object) * (weight * self.reach))


@storable("mechanisms.Histogram")
@dataclass(frozen=True, eq=False)
class Histogram(CellTable):
    """Weighted integer counts by cell, each plus integer noise of its own.

    It serves where people are kept by coins, where public people alone are counted, and where there
    are very many cells, or more than the noise has points. Elsewhere `ClosedHistogram` has less
    noise.

    Guarantee:
        Replacing a person takes at most k·unit from some cells and adds at most k·unit to others:
        a distance of `moves`·k·reach = 2·k·unit in ℓ1. The noises are independent and each changes
        by at most e^{1/scale} from one integer to the next, so the loss is at most
        2·k·unit/scale, a rational number, which `epsilons.verify.exact` compares with ε. Nothing is
        rounded after the counts.

    Reference:
        Algorithm 1 (HPF) of paper *correlated*, on integers. Proof: docs/proofs/frequencies.md.

    Attributes:
        law: of the noise of each cell.
    """

    kind = "cells"
    law: DiscreteLaplace | PointMass

    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy counts of all cells: see `CellTable.draw`."""
        return noisy_cells(self.law, source, self.cells, size, total)


@storable("mechanisms.ClosedHistogram")
@dataclass(frozen=True, eq=False)
class ClosedHistogram(CellTable):
    """Weighted integer counts by cell, plus integer noise that sums to zero over the cells.

    How many people there are, and what they weigh, is public, and so is what all cells sum to. The
    noise need not hide it.

    Guarantee:
        Everyone adds exactly k·unit in all, so that replacing a person takes as much from some
        cells as it adds to others: a vector that sums to 0, of length `moves`·k·reach = 2·k·unit at
        most in ℓ1. The probability of noise that sums to 0 changes by at most e^{1/scale} for each
        point of that length, so the loss is at most 2·k·unit/scale, a rational number, which
        `epsilons.verify.exact` compares with ε. Only for replaced people, and only without coins:
        the sum over the cells is published as it is.

    Reference:
        Hardt and Talwar (2010): the noise of the norm whose unit ball is all that one person can
        change; here on integers and for personal weights. Proof: docs/proofs/closed.md.

    Attributes:
        law: of the noise of all cells together.
        keep: None: everyone is surely used.
    """

    kind = "closed cells"
    law: Closed

    def total(self, tally: Tally) -> npt.NDArray[Any]:
        """The weighted count of each cell, before noise.

        Raises:
            PrivacyError: the cells of a level do not sum to a unit for each of its people. The sum
                over cells gets no noise, and would tell of it.
        """
        people = [count * self.reach for count in self.counts.tolist()]
        if tally.cells.sum(axis=1).tolist() != people:
            raise PrivacyError(
                "The cells of a level do not sum to one unit for each of its people: noise that "
                "sums to zero would show it. Nothing was drawn."
            )
        return super().total(tally)

    @cached_property
    def weighing(self) -> Weighing:
        """The estimator of one share, beside others whose noises it shares."""
        return replace(super().weighing, closed=ClosedNoise(self.cells))

    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy counts of all cells: see `CellTable.draw`."""
        drawn = around(total, self.law.draw(source, 1 if size is None else size))
        return np.asarray(drawn[0] if size is None else drawn)


def build_histogram(allocation: Allocation, *, unit: int) -> CellTable:
    """The mechanism of an allocation for frequencies.

    Weights are e·2^s rounded down, and the scale of the noise is 2·unit·2^s, so that a person's
    loss is 2·k·unit/scale = k/2^s ≤ e ≤ ε. The noise sums to zero, unless there is no noise at all,
    or very many cells, or more of them than the noise has points: then few draws of a closed table
    would be kept. There independent noise is about as good.

    Args:
        allocation: for frequencies; it knows how many cells there are.
        unit: what a person of weight 1 adds in all.
    """
    spent, counts, cells = allocation.spent, allocation.counts, allocation.goal.numbers
    shift = table_lattice(spent, allocation.n, cells, unit)
    scale = 2 * unit * Fraction(2) ** shift
    law: DiscreteLaplace | PointMass = DiscreteLaplace(scale)
    few = cells - 1 <= scale and cells <= MANY
    closed = not math.isinf(spent[-1]) and few
    if math.isinf(spent[-1]):
        weights = np.where(np.isinf(spent), 1, 0).astype(np.int64)
        law = PointMass()
    else:
        weights = weights_of(spent, shift)
    people = zip(weights.tolist(), counts.tolist(), strict=True)
    divisor = Fraction(unit * sum(k * n for k, n in people))
    if closed:
        noise = Closed(scale, cells)
        return ClosedHistogram(allocation.levels, counts, weights, unit, noise, divisor, cells)
    return Histogram(allocation.levels, counts, weights, unit, law, divisor, cells)


def table_lattice(spent: Floats, people: int, cells: int, unit: int = 1) -> int:
    """The s of weights e·2^s: few enough bits for 64-bit counts, if that leaves enough.

    Args:
        spent: the effective budgets, ascending.
        people: how many there are.
        cells: how many categories there are.
        unit: what a person of weight 1 adds in all.
    """
    room = 61 - (people * unit).bit_length()
    fewest = 24 if cells <= MANY else COARSE_BITS
    return lattice(spent, most=max(min(room, 45), fewest), reserved=unit.bit_length())


def _quotient(above: int, below: int) -> float:
    """A quotient of integers as the nearest float, ±∞ where none is large enough."""
    try:
        return above / below
    except OverflowError:
        return math.inf if above > 0 else -math.inf
