"""The mechanisms under add/remove: two sums, cells, and counts of people by public budget level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from epsilons.budgets.levels import Ladder
from epsilons.door import Tally
from epsilons.door.count.line import Lined
from epsilons.draws.mechanisms.sums import (
    COARSE_BITS,
    MANY,
    around,
    dot,
    lattice,
    noisy_cells,
    points,
    weighted,
)
from epsilons.draws.noise import DiscreteLaplace, PairLaw, Source
from epsilons.frozen import storable
from epsilons.risk import Weighing
from epsilons.risk.means import ratio
from epsilons.types import Floats, Integers, freeze

__all__ = ["multiples", "weights_up_to"]


# Weights and losses of the rungs (public budget levels) of a ladder, which can have thousands.


def weights_up_to(left: Sequence[Fraction], cap: float, unit: Fraction) -> list[int]:
    """Return min(e, cap)·unit, rounded down exactly, for each remaining budget e.

    Rounding down preserves order, so each e and the cap can be rounded before the minimum is taken.
    Only integers are divided: a fine ladder has thousands of rungs, and reducing that many
    fractions would be slow.
    """
    over, under = unit.numerator, unit.denominator
    most = math.floor(Fraction(cap) * unit)
    weights = []
    for each in left:
        own = each.numerator * over // (each.denominator * under)
        weights.append(min(own, most))
    return weights


def multiples(unit: Fraction, weights: Integers) -> tuple[Fraction, ...]:
    """Return unit·k for each weight k; each distinct product is computed once."""
    found: dict[int, Fraction] = {}
    for k in set(weights.tolist()):
        found[k] = unit * k
    return tuple(map(found.__getitem__, weights.tolist()))


# The mechanism of a mean under add/remove: two integer sums with joint noise.


@storable("mechanisms.TwoSums")
@dataclass(frozen=True, eq=False)
class TwoSums:
    """Two linear combinations of a weighted sum and a weighted count, plus joint noise.

    A person on a rung of the ladder has an integer weight k, which depends only on the rung, and an
    integer g in [0, grid]. With `steps` lattice points per unit of weight, let t = floor(steps·Σ
    k·g / grid) and T = steps·Σ k. The mechanism draws the pair (a·t + b·T, c·t + d·T) plus noise.
    All results are post-processing of this pair. The object holds no data.

    Guarantee:
        Adding or removing a person of weight k moves T by exactly k·steps, and t in the same
        direction by some u with 0 ≤ u ≤ k·steps. For all such moves, the probability of the noise
        changes by at most a factor e^{loss(k)}. The exponent is rational, and
        `epsilons.verify.exact` compares it with the rung. Nothing is rounded after the sums.

    Reference:
        Paper *add-remove*, Algorithms 1-3, on integers and for personal weights. Proof:
        docs/proofs/add-remove.md (1).

    Attributes:
        levels: the rungs of the public ladder.
        weights: the integer weight k of a person on each rung.
        scheme: the combinations that get noise.
        law: the joint distribution of the two noise values.
        grid: the divisor of the sum.
        bounds: the range of the values.
    """

    kind = "two sums"
    released = "weighted sums of the values and of their complements plus noise"
    levels: Floats
    weights: Integers
    scheme: ratio.Scheme
    law: PairLaw
    grid: int
    bounds: tuple[float, float]

    def __post_init__(self) -> None:
        freeze(self.levels, self.weights)

    @property
    def matrix(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The coefficients ((a, b), (c, d)) of the two combinations."""
        return self.scheme.matrix

    @property
    def steps(self) -> int:
        """The number of lattice points per unit of weight."""
        return self.law.steps

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """The largest loss of a person on each rung."""
        (a, b), (c, d) = self.matrix
        # A unit of weight moves (t, T) by (u, 1) with 0 ≤ u ≤ 1. The ℓ1 norm of the change of the
        # pair is convex in u, so it is largest at u = 0 or u = 1.
        unit = max(abs(b) + abs(d), abs(a + b) + abs(c + d)) * self.law.rate
        return multiples(unit, self.weights)

    def total(self, tally: Tally) -> tuple[int, int]:
        """Return the pair of lattice points of the data, before noise."""
        rung = np.searchsorted(self.levels, tally.levels)
        weights = self.weights[rung]
        t = self.steps * dot(weights, tally.sums) // self.grid
        all_of_it = self.steps * dot(weights, tally.counts)
        (a, b), (c, d) = self.matrix
        return a * t + b * all_of_it, c * t + d * all_of_it

    @overload
    def draw(
        self, source: Source, size: None = None, total: tuple[int, int] = (0, 0)
    ) -> tuple[int, int]: ...
    @overload
    def draw(
        self, source: Source, size: int, total: tuple[int, int] = (0, 0)
    ) -> npt.NDArray[Any]: ...
    def draw(
        self, source: Source, size: int | None = None, total: tuple[int, int] = (0, 0)
    ) -> tuple[int, int] | npt.NDArray[Any]:
        """Draw pairs of lattice points.

        Args:
            source: where the randomness comes from.
            size: the number of draws; None for one.
            total: the lattice points of the data; with (0, 0) the draw is noise only.

        Returns:
            A pair of Python integers, or an array of pairs: int64 if all values fit.
        """
        if size is None:
            first, second = self.law.draw(source)
            return first + total[0], second + total[1]
        return around(points(total), self.law.draw(source, size))

    def sums(self, drawn: tuple[int, int]) -> tuple[Fraction, Fraction]:
        """Return the noisy weighted sum and the noisy weighted count, in units of weight."""
        (a, b), (c, d) = self.matrix
        p, q = drawn
        whole = (a * d - b * c) * self.steps
        return Fraction(d * p - b * q, whole), Fraction(a * q - c * p, whole)

    def estimate(self, drawn: tuple[int, int]) -> float:
        """Return the mean of a drawn pair, clipped to the bounds; the midpoint if count ≤ 0."""
        lo, hi = self.bounds
        t, count = self.sums(drawn)
        share = Fraction(1, 2) if count <= 0 else min(max(t / count, Fraction(0)), Fraction(1))
        return min(max(lo + (hi - lo) * float(share), lo), hi)

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """Return `estimate` for an array of draws."""
        lo, hi = self.bounds
        (a, b), (c, d) = self.matrix
        p, q = drawn[:, 0], drawn[:, 1]
        t = np.asarray(d * p - b * q, dtype=np.float64)
        count = np.asarray(a * q - c * p, dtype=np.float64)
        share = np.clip(t / np.where(count > 0.0, count, 1.0), 0.0, 1.0)
        return np.asarray(lo + (hi - lo) * np.where(count > 0.0, share, 0.5))

    def weighing(self, counts: Integers) -> Weighing:
        """Return the first-order approximation of the estimator, given the people on each rung.

        Its noise scale is the scale of Laplace noise with the same variance.
        """
        total = float(self.weights.astype(np.float64) @ counts)
        variance = ratio.noise_variance(self.law, self.scheme)
        if total <= 0.0:
            return Weighing(np.full(len(counts), 1.0 / max(int(counts.sum()), 1)), counts, math.inf)
        return Weighing(self.weights / total, counts, math.sqrt(variance / 2.0) / total)


# The mechanism of frequencies under add/remove: weighted counts with a private total.


@storable("mechanisms.CellSums")
@dataclass(frozen=True, eq=False)
class CellSums:
    """Weighted integer counts of cells, with independent integer noise in each cell.

    A person on a rung of the ladder has an integer weight k, which depends only on the rung. The
    person adds k·reach to one cell, or shares of k·reach to several cells. The object holds no
    data.

    Guarantee:
        Adding or removing a person moves the counts by at most k·reach in the ℓ1 norm. The noise
        values are independent, and the probability of each changes by at most a factor e^{1/scale}
        from one integer to the next. So the loss is at most k·reach/scale. It is rational, and
        `epsilons.verify.exact` compares it with the rung. Nothing is rounded after the counts.

    Reference:
        Algorithm 3 of paper *add-remove* for any number of cells (a mean has two: x and 1 − x), on
        integers and for personal weights. Proof: docs/proofs/add-remove.md (1).

    Attributes:
        levels: the rungs of the public ladder.
        weights: the integer weight k of a person on each rung.
        reach: the total that a person of weight 1 adds.
        law: the distribution of the noise of each cell.
        cells: the number of categories.
        grid: 1, because nothing is divided before the noise.
        moves: 1, because a person is added or removed.
        keep: None, because everyone is used without sampling.
    """

    kind = "open cells"
    released = "a weighted count of the people in each cell plus noise"
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
        """Return the weighted counts of the cells, before noise."""
        weights = self.weights[np.searchsorted(self.levels, tally.levels)]
        if len(weights) == 0:
            return np.zeros(self.cells, dtype=np.int64)
        return weighted(weights, tally.cells)

    def draw(self, source: Source, size: int | None = None, total: Any = 0) -> npt.NDArray[Any]:
        """Draw the noisy counts of all cells.

        Args:
            source: where the randomness comes from.
            size: the number of draws; None for one.
            total: the weighted counts of the data; with 0 the draw is noise only.

        Returns:
            Integers by cell, or by draw and cell: int64 if all values fit.
        """
        return noisy_cells(self.law, source, self.cells, size, total)

    def counts(self, drawn: npt.NDArray[Any]) -> Floats:
        """Return noisy counts in units of weight."""
        return np.asarray(drawn, dtype=np.float64) / self.reach

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """The largest loss of a person on each rung."""
        rate = self.reach / self.law.scale
        return multiples(rate, self.weights)

    @property
    def scale(self) -> float:
        """The scale of the noise in units of weight."""
        return float(self.law.scale / self.reach)

    def weighing(self, counts: Integers) -> Weighing:
        """Return the first-order approximation of the estimator, given the people on each rung.

        Counts are divided by their noisy total, whose noise affects every cell. The approximation
        assumes equal shares.
        """
        total = float(self.weights.astype(np.float64) @ counts)
        if total <= 0.0:
            return Weighing(np.full(len(counts), 1.0 / max(int(counts.sum()), 1)), counts, math.inf)
        scale = self.scale * math.sqrt(1.0 - 1.0 / self.cells) / total
        return Weighing(self.weights / total, counts, scale)


def build_cell_sums(
    ladder: Ladder, left: tuple[Fraction, ...], cap: float, *, cells: int, unit: int
) -> CellSums:
    """Build the mechanism in which everyone spends their remaining budget up to a cap.

    Weights are e·2^s rounded down and the scale of the noise is unit·2^s, so a person's loss is
    k·unit/scale = k/2^s ≤ e.
    """
    most = 36 if cells <= MANY else COARSE_BITS
    shift = lattice(np.array([cap]), most=most, reserved=unit.bit_length())
    scale = Fraction(2) ** shift
    weights = weights_up_to(left, cap, scale)
    law = DiscreteLaplace(unit * scale)
    return CellSums(ladder.levels, np.array(weights, dtype=np.int64), unit, law, cells)


# A private count of people on each rung. It costs a part of the budget and finds a better cap.

SHARE: Final = Fraction(1, 8)
"""The fraction of everyone's rung that the count spends."""

STRICT: Final = Fraction(1, 2)
"""The same for people whose rung is at most `SHARE` of the highest one, if budgets are unrelated to
values. Their weights in the sums are small, so the sums need little of their budgets. A more
precise count shortens the interval, which must allow for the largest number of such people that
the count does not exclude."""

_LOWEST: Final = -6
"""The lowest octave that is counted if no levels are declared: ε = 1/64."""

_ENOUGH: Final = 1.0
"""On higher rungs, the count spends no more than on this rung, where the scale of its noise is
already below ten people."""

_NOTICED: Final = 3.0
"""A noisy count of at most this multiple of its noise scale is treated as zero."""

_MOST: Final = 2**40
"""The maximum number of people that is expected in a cell."""

_DOUBTS: Final = ((0.0, 0.9), (3.0, 0.09), (6.0, 0.009), (10.0, 0.001))
"""The cases of `doubts`: the noise that is subtracted, in multiples of its scale, and the
approximate probability of the case."""

_BITS: Final = 40


@storable("mechanisms.LevelCounts")
@dataclass(frozen=True, eq=False)
class LevelCounts:
    """The noisy number of people in each cell of the ladder, paid for with a part of their budgets.

    Guarantee:
        A person is counted only in the cell of their rung. The probability of a cell's noise
        changes by at most a factor e^{rate} from one integer to the next. So adding or removing a
        person costs them at most the rate of their cell, and nothing if their rung is in no cell.
        The rate is at most an eighth of the cell's lowest rung (half of it for low rungs if budgets
        are unrelated to values), and never above ⅛.
        Proof: docs/proofs/add-remove.md (1).

    Attributes:
        levels: the rungs of the public ladder.
        cell_of: the cell of each rung; −1 for rungs that are not counted.
        rates: the rate of the noise of each cell.
    """

    kind = "counts"
    released = "a count of the people at budget levels plus noise"
    levels: Floats
    cell_of: Integers
    rates: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        freeze(self.levels, self.cell_of)

    @classmethod
    def of(cls, ladder: Ladder, cap: float | None = None, strict: Fraction = SHARE) -> LevelCounts:
        """Return the mechanism with a cell for each declared rung, or each octave of a fine ladder.

        Args:
            ladder: the public ladder.
            cap: the maximum that anyone spends in total; the count spends at most an eighth of it.
            strict: for rungs up to an eighth of the highest one, the fraction of the rung that the
                count spends.
        """
        if ladder.fine:
            octave = np.frexp(ladder.levels)[1] - 1
            cell_of = np.where(octave >= _LOWEST, octave - _LOWEST, -1).astype(np.int64)
            lowest = [2.0 ** (_LOWEST + cell) for cell in range(int(cell_of.max()) + 1)]
        else:
            cell_of = np.arange(len(ladder.levels))
            lowest = ladder.levels.tolist()
        most = _ENOUGH if cap is None else min(_ENOUGH, cap)
        spends = list(map(Fraction, np.minimum(lowest, most).tolist()))
        low = max(spends) / 32
        rates = (rounded_down((strict if each <= low else SHARE) * each) for each in spends)
        return cls(ladder.levels, cell_of, tuple(rates))

    def placed(self, levels: Floats, place: Integers) -> LevelCounts:
        """Return the same mechanism on finer levels, each contained in one current level."""
        return LevelCounts(levels.copy(), self.cell_of[place], self.rates)

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """The largest loss of a person on each rung."""
        rates = (*self.rates, Fraction(0))
        return tuple(map(rates.__getitem__, self.cell_of.tolist()))

    def total(self, tally: Tally | Lined) -> Integers:
        """Return the exact counts of the cells, from the number of people at each level."""
        cells = self.cell_of[np.searchsorted(self.levels, tally.levels)]
        counted = np.zeros(len(self.rates), dtype=np.int64)
        np.add.at(counted, cells[cells >= 0], tally.counts[cells >= 0])
        return counted

    @cached_property
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        """The distribution of the noise of each cell."""
        return tuple(DiscreteLaplace(1 / rate) for rate in self.rates)

    def draw(self, source: Source, total: Integers) -> tuple[int, ...]:
        """Draw the noisy counts."""
        drawn = []
        for law, count in zip(self.laws, total.tolist(), strict=True):
            drawn.append(law.draw(source) + count)
        return tuple(drawn)

    def typical(self, total: Integers) -> tuple[int, ...]:
        """Return the counts that a plan assumes, which have no noise."""
        return tuple(total.tolist())

    def guess(self, drawn: tuple[int, ...]) -> Integers:
        """Return a guess of the number of people on each rung.

        All people of a cell are assumed to be on its middle rung.
        """
        people = np.zeros(len(self.levels), dtype=np.int64)
        for cell, (count, rate) in enumerate(zip(drawn, self.rates, strict=True)):
            if count * rate > _NOTICED:
                rungs = np.flatnonzero(self.cell_of == cell)
                people[rungs[len(rungs) // 2]] = min(count, _MOST)
        return people

    def doubts(self, drawn: tuple[int, ...]) -> tuple[tuple[float, Integers], ...]:
        """Return pessimistic numbers of people on each rung, as cases with probabilities.

        If the result depends on a few people with large budgets, the count must not overstate their
        number. Among many empty cells, the largest noisy count is the largest of many noise values.
        The people of a cell can also be on its lower rungs. So each case subtracts some multiple of
        the noise scale from each count, and spreads the people of a cell evenly over its rungs.

        Args:
            drawn: the noisy counts.
        """
        sizes = np.bincount(self.cell_of[self.cell_of >= 0], minlength=len(self.rates))
        people = np.clip(np.array(drawn, dtype=np.float64), 0.0, _MOST)
        scales = np.array([1.0 / float(rate) for rate in self.rates])
        cases = []
        for less, chance in _DOUBTS:
            fewer = np.maximum(people - less * scales, 0.0) / np.maximum(sizes, 1)
            each = np.where(self.cell_of >= 0, fewer[self.cell_of], 0.0)
            cases.append((chance, np.floor(each).astype(np.int64)))
        return tuple(cases)

    def heads(self, drawn: tuple[int, ...]) -> Integers:
        """Return the noisy counts, with 0 for negative ones; each rung must have its own cell.

        Unlike in `guess`, small counts are not treated as zero. If budgets depend on values,
        leaving people out can cause a bias as large as their share.
        """
        return np.clip(np.array(drawn, dtype=np.int64), 0, _MOST)


def rounded_down(number: Fraction) -> Fraction:
    """Round down to about 40 significant bits, so noise of this rate is fast to draw."""
    places = _BITS - (number.numerator.bit_length() - number.denominator.bit_length())
    unit = Fraction(2) ** places
    return Fraction((number * unit).__floor__()) / unit
