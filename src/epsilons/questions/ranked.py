"""Methods for quantiles: a table of bins, or exact selection under replace.

A table is paid for once and gives every quantile, but its noise adds up over bins, and its
resolution is limited by its bins. A selection finds one quantile among many candidates, and two
more selections give its interval. The method with the shorter interval for uniform values is
chosen; this depends on public facts only. Under add/remove, the method is always a table, with
noise in its total as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from epsilons.budgets.allocation import Allocation, allocation_of, best_cap
from epsilons.budgets.allocation.declared import Declared
from epsilons.budgets.allocation.rules import Effective, capped, weighing_of
from epsilons.budgets.levels import Budgets, float_up
from epsilons.door import Tally
from epsilons.draws.mechanisms import (
    CellsOf,
    CellSums,
    CellTable,
    Selection,
    added_up,
    build_histogram,
    spread_of,
)
from epsilons.errors import ArgumentError
from epsilons.questions.designs import Design, Known, cell_design, cells_of, tells
from epsilons.questions.question import Answer, Draw, Steps
from epsilons.questions.ways import Read, add_remove, replace_end
from epsilons.results.release import ByLevel
from epsilons.risk import ClosedNoise, SumNoise, Weighing, mean
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import CellsGoal, MeanGoal
from epsilons.risk.margins import RatioCells
from epsilons.risk.quantiles import (
    AnsweredQuantiles,
    OpenQuantiles,
    QuantilesMargin,
    SelectedQuantiles,
    TableQuantiles,
    closed_variance,
    reach,
    ways,
)
from epsilons.risk.quantiles import selection_shift as shift_of
from epsilons.risk.shares import WeighedCells
from epsilons.types import Floats, Integers

__all__ = [
    "BINS",
    "FINE",
    "METHODS",
    "SOUGHT",
    "RankedTable",
    "Reading",
    "Selecting",
    "best_way",
    "merged",
    "open_table",
    "tabled",
]

FINE: Final = 1024
"""The number of bins that people are counted in: candidates of selections, or the finest table."""

METHODS: Final = ("table", "selection")

BINS: Final = tuple(2**power for power in range(3, 11))
"""The possible numbers of bins of a table; each bin merges some of the finest bins."""

_ENDS: Final = Fraction(2, 5)
"""The fraction of a quantile's budget for each end of its interval; the quantile gets the rest."""

_PARTS: Final = 256
"""The sum of the two odds of a quantile, which are integers."""

_BITS: Final = 61
_MOST_BITS: Final = 20
_FEWEST_BITS: Final = 8
"""The total bits of all weights, and the most and the fewest bits of the largest weight."""

_LARGEST: Final = 1024.0
"""The most that a selection takes from anyone's budget."""

_NOBODY_KNOWS: Final = 32
"""The number of bins of a table if nothing is known about the number of people."""


Reading: TypeAlias = Callable[[QuantilesMargin, float, float | None], Read]
"""A function that makes the result of a question from three arguments: a margin with the draws; the
mean squared error in ranks for uniform values; and the approximate half-width of an interval, as a
fraction of the range, or None if it is not predicted."""


@dataclass(frozen=True, eq=False)
class RankedTable:
    """A table of bins, and its predicted error.

    Attributes:
        quantiles: the quantiles to estimate.
        goal: the assumption.
        allocation: the allocation of the table.
        half: the approximate half-width of an interval, as a fraction of the range.
        outside: whether there is a last cell for people who did not answer.
    """

    quantiles: Floats
    goal: MeanGoal
    allocation: Allocation
    half: float
    outside: bool = False
    method = "table"

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.allocation.goal.numbers

    def steps(self, counted: Tally, reading: Reading) -> Steps:
        """Draw the table."""
        cells = merged(counted.cells, self.cells - self.outside, outside=self.outside)

        def read(mechanism: CellTable, drawn: Any) -> Read:
            weighing = mechanism.weighing
            margin = WeighedCells(weighing, mechanism.slack, self.cells)
            added = _nearest(self.quantiles) * self.cells
            scale = weighing.scale * math.sqrt(closed_variance(self.cells, added) / 2.0)
            square = _square(weighing, self.goal, scale) + 1.0 / (12.0 * self.cells**2)
            kind = AnsweredQuantiles if self.outside else TableQuantiles
            found = kind(self.quantiles, margin, mechanism.estimates(drawn))
            return reading(found, square, self.half)

        return replace_end(
            replace(counted, cells=cells),
            build_histogram(self.allocation, unit=counted.unit),
            read,
            method=self.method,
            spent=self.allocation.spent,
        )


@dataclass(frozen=True, eq=False)
class Selecting:
    """Three selections for each quantile, and their predicted error.

    Attributes:
        quantiles: the quantiles to estimate.
        goal: the assumption.
        budgets: the budgets of the people.
        weights: the integer weight of a person at each level, in units of 2^−shift of ε.
        shift: the exponent of that unit.
        aims: for each quantile, its odds, and the odds of one quantile below and one above; None if
            there is no such quantile.
        half: the approximate half-width of an interval, as a fraction of the range.
    """

    quantiles: Floats
    goal: MeanGoal
    budgets: Budgets
    weights: Integers
    shift: int
    aims: tuple[tuple[tuple[int, int] | None, ...], ...]
    half: float
    method = "selection"

    def steps(self, counted: Tally, reading: Reading) -> Steps:
        """Draw all selections, one after another."""
        masses = self.weights @ merged(counted.cells, FINE)
        there = np.flatnonzero(masses)
        wanted = [(place, odds) for aims in self.aims for place, odds in enumerate(aims)]
        left = sum(odds is not None for _, odds in wanted)
        picks, stages = [], []
        for place, odds in wanted:
            pick = -1
            if odds is not None:
                left -= 1
                stages.append(self._stage(odds, place, counted.unit))
                pick = yield Draw(stages[-1], (there, masses[there]), left > 0)
            picks.append(pick)
        weighing = weighing_of(self.budgets, Effective(self.weights.astype(np.float64)))
        every = [0.0 if odds is None else _share(odds) for _, odds in wanted]
        aimed = np.array(every).reshape(-1, 3)[:, 1:]
        whole = int(self.weights.astype(object) @ self.budgets.counts.astype(object))
        rates = [float(whole * part / 2 / 2**self.shift) for part in _parts(len(self.quantiles))]
        margin = SelectedQuantiles(
            self.quantiles,
            weighing,
            FINE,
            np.array(picks, dtype=np.int64),
            np.abs(self.quantiles[:, None] - aimed).ravel(),
            rates[1],
        )
        spent = np.array([float_up(each) for each in added_up(s.losses for s in stages)])
        found = reading(margin, _square(weighing, self.goal, 1.0 / rates[0]), self.half)
        return Answer(
            estimate=found.estimate,
            method=self.method,
            n=self.budgets.n,
            risk=found.risk,
            exact=False,
            spent=ByLevel(self.budgets.levels, spent, self.budgets.counts),
        )

    def _stage(self, odds: tuple[int, int], place: int, unit: int) -> Selection:
        """Return a selection that takes its part of everyone's spending: k·part/2^shift."""
        part = _parts(len(self.quantiles))[place]
        scale = spread_of("replace", odds) * unit * 2**self.shift / part
        if scale.denominator != 1:
            raise ValueError("the divisor of a distance is a whole number")
        return Selection(
            self.budgets.levels.copy(),
            self.weights * unit,
            scale.numerator,
            "replace",
            CellsOf(FINE),
            SOUGHT[place],
            odds,
        )


SOUGHT: Final = ("a quantile of the values", "a quantile below it", "a quantile above it")
"""Descriptions of the quantities that the three selections find."""


def best_way(
    budgets: Budgets, goal: MeanGoal, quantiles: Floats, method: str, unit: int
) -> RankedTable | Selecting:
    """Return the method with the shorter intervals for uniform values, or the named method.

    Args:
        budgets: the budgets of the people.
        goal: the assumption.
        quantiles: the quantiles to estimate.
        method: "auto", "table" or "selection".
        unit: the total contribution of one person to all bins.
    """
    crowded = (budgets.n * unit * _PARTS).bit_length() > _BITS - _FEWEST_BITS
    if method == "table" or (method == "auto" and crowded):
        return tabled(budgets, goal, quantiles)
    chosen = selecting(budgets, goal, quantiles, unit)
    if method == "selection":
        return chosen
    table = tabled(budgets, goal, quantiles)
    return table if table.half <= chosen.half else chosen


def tabled(
    budgets: Budgets, goal: MeanGoal, quantiles: Floats, *, outside: bool = False
) -> RankedTable:
    """Return the table with the number of bins that gives the shortest intervals.

    With more bins, bins are narrower but have more noise. The search stops at the first number of
    bins that makes intervals longer.

    Args:
        budgets: the budgets of the people.
        goal: the assumption.
        quantiles: the quantiles to estimate.
        outside: whether there is one more cell, for people who did not answer.
    """
    best = _table_of(budgets, goal, quantiles, BINS[0], outside=outside)
    for bins in BINS[1:]:
        other = _table_of(budgets, goal, quantiles, bins, outside=outside)
        if other.half >= best.half:
            break
        best = other
    return best


def _table_of(
    budgets: Budgets, goal: MeanGoal, quantiles: Floats, bins: int, *, outside: bool
) -> RankedTable:
    """Return a table with this many bins and the best cap for the quantile with the most noise."""
    q, cells = _nearest(quantiles), bins + outside
    noise = SumNoise(2.0 * math.sqrt(closed_variance(cells, q * cells) / 2.0))
    cap = best_cap(budgets, _coins(goal, q), noise)
    answer = Effective(capped(budgets, cap), cap=cap)
    shares = CellsGoal(goal.assumption, "mse", goal.confidence, cells)
    weighing = weighing_of(budgets, answer, SumNoise(2, ClosedNoise(cells)))
    added = min(max(round(q * cells), 1), cells - 1)
    proofs = ways(weighing, goal.assumption, q, 1.0 - goal.confidence)
    far = min(reach(weighing, cells, way, added) for way in proofs)
    allocation = allocation_of(budgets, shares, "table", answer)
    return RankedTable(quantiles, goal, allocation, far + 1.0 / bins, outside)


def selecting(budgets: Budgets, goal: MeanGoal, quantiles: Floats, unit: int) -> Selecting:
    """Return selections, with interval ends as extreme as the confidence requires.

    Raises:
        ArgumentError: there are too many people for integer weights.
    """
    middle, end, _ = _parts(len(quantiles))
    beta, q = 1.0 - goal.confidence, _nearest(quantiles)
    noise = SumNoise(2.0 * math.log(2.0 * FINE / beta) / float(end) / math.sqrt(2.0))
    spends = np.minimum(capped(budgets, best_cap(budgets, _coins(goal, q), noise)), _LARGEST)
    bits = min(_BITS - (budgets.n * unit * _PARTS).bit_length(), _MOST_BITS)
    if bits < _FEWEST_BITS:
        raise ArgumentError(
            'method="selection" cannot handle this many people: use method="table".'
        )
    shift = bits - math.frexp(float(spends.max()))[1]
    weights = np.floor(np.ldexp(spends, shift)).astype(np.int64)
    weighing = weighing_of(budgets, Effective(weights.astype(np.float64)))
    rate = float(np.ldexp(weights.astype(np.float64), -shift) @ budgets.counts) * float(end) / 2.0
    aims, half = [], 0.0
    for each in quantiles.tolist():
        far = shift_of(weighing, goal.assumption, each, beta, FINE, rate)
        aims.append((_odds(each), _below(each - far), _above(each + far)))
        half = max(half, min(far, max(each, 1.0 - each)))
    typical = float(end / middle) / rate if rate > 0.0 else math.inf
    return Selecting(
        quantiles, goal, budgets, weights, shift, tuple(aims), half + typical + 1.0 / FINE
    )


def _parts(quantiles: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return the parts of a budget for a quantile and for both ends of its interval."""
    return (1 - 2 * _ENDS) / quantiles, _ENDS / quantiles, _ENDS / quantiles


def _odds(q: float) -> tuple[int, int]:
    """Return integers approximately in the ratio of q to 1 − q."""
    left = min(max(round(q * _PARTS), 1), _PARTS - 1)
    return left, _PARTS - left


def _below(q: float) -> tuple[int, int] | None:
    """Return the odds of a quantile, rounded outwards; None if no quantile is that extreme."""
    left = math.floor(q * _PARTS) if q > 0.0 else 0
    return (left, _PARTS - left) if left >= 1 else None


def _above(q: float) -> tuple[int, int] | None:
    left = math.ceil(q * _PARTS) if q < 1.0 else _PARTS
    return (left, _PARTS - left) if left < _PARTS else None


def _share(odds: tuple[int, int]) -> float:
    return odds[0] / sum(odds)


def _nearest(quantiles: Floats) -> float:
    """Return the quantile nearest to the median; this quantile has the most noise."""
    return float(quantiles[np.abs(quantiles - 0.5).argmin()])


def _coins(goal: MeanGoal, q: float) -> MeanGoal:
    """Return the goal for the share of people below a quantile, which has a known spread."""
    spread = math.sqrt(q * (1.0 - q)) if goal.assumption.related is False else mean.WIDEST
    return replace(goal, loss="mse", spread=max(spread, 1e-3))


def _square(weighing: Weighing, goal: MeanGoal, scale: float) -> float:
    """Return the mean squared error of a rank under Laplace noise of this scale."""
    plain = replace(weighing, scale=scale, closed=None)
    return min(float(mean.mse(plain, goal.assumption)), 1.0)


def merged(cells: Integers, bins: int, *, outside: bool = False) -> Integers:
    """Merge the finest bins.

    Args:
        cells: by level, the finest bins, and possibly one more cell.
        bins: the number of bins to merge into.
        outside: whether the extra cell stays separate; otherwise it is added to the middle bin.
    """
    levels = len(cells)
    fine = cells[:, :FINE].copy()
    if cells.shape[1] > FINE and not outside:
        fine[:, FINE // 2] += cells[:, FINE]
    # Without people there are no levels, and a −1 in the shape would be ambiguous.
    table = np.asarray(fine.reshape(levels, bins, FINE // bins).sum(axis=2))
    return np.column_stack([table, cells[:, FINE]]) if outside else table


def open_table(
    counted: Tally, terms: Declared, goal: MeanGoal, quantiles: Floats, reading: Reading
) -> Steps:
    """Answer under add/remove: count people if needed, then the bins.

    The cap that minimizes the squared errors of all bins is also the best for every quantile, if
    budgets are independent of values: docs/proofs/quantiles.md.

    Args:
        counted: people in the finest bins; only draws can use it.
        terms: the declarations.
        goal: the assumption.
        quantiles: the quantiles to estimate.
        reading: a function that makes the result from the margin and the errors.
    """
    cells = bins_for(terms)
    shares = CellsGoal(goal.assumption, "mse", goal.confidence, cells)

    def choose(known: Known) -> Design[CellSums]:
        chosen = cell_design(known, shares, unit=counted.unit)
        return replace(chosen, method=METHODS[0])

    def read(chosen: Design[CellSums], counts: LevelCount | None, drawn: Any) -> Read:
        margin = RatioCells(**cells_of(chosen, drawn, counts))
        # The noise of a rank is the sum of the noises of its bins. At the median, its variance is a
        # quarter of the sum of the variances of all bins.
        even = np.full(cells, 1.0 / cells)
        square = min(margin.leading(shares, even) / 4.0 + 1.0 / (12.0 * cells**2), 1.0)
        found = reading(OpenQuantiles(quantiles, margin), square, None)
        return replace(found, total=margin.total)

    table = replace(counted, cells=merged(counted.cells, cells))
    return add_remove(table, terms, shares, choose, read)


def bins_for(terms: Declared) -> int:
    """Return the number of bins with the shortest intervals for the expected people."""
    guess = terms.guess
    if guess is None or not tells(guess):
        return _NOBODY_KNOWS
    cap = math.inf if terms.cap is None else terms.cap
    spends = float(np.minimum(terms.ladder.levels, cap) @ guess)

    def half(bins: int) -> float:
        """Return the approximate half-width of an interval for uniform values."""
        return 2.0 * math.sqrt(bins / 2.0) / spends + 1.0 / bins

    return int(min(BINS, key=half))
