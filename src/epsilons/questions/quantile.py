"""Quantiles of a column, from a table of bins, or from exact selections under replace.

A table is paid for once and gives every quantile, but its noise adds up over bins, and its
resolution is limited by its bins. With selections, each quantile needs two: the first selects the
cell of the quantile among many cells, and the second selects an interval among wider and wider
intervals around this cell. The method with the shorter interval for uniform values is chosen; this
depends on public facts only. Under add/remove, the method is always a table, with noise in its
total as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

import numpy as np

from epsilons import door, listed, parameters, words
from epsilons.budgets.allocation import Allocation, allocation_of, best_cap
from epsilons.budgets.allocation.declared import Declared
from epsilons.budgets.allocation.rules import Effective, capped, weighing_of
from epsilons.budgets.levels import Budgets, float_up
from epsilons.draws.mechanisms import CellSums, CellTable, added_up, build_histogram
from epsilons.draws.mechanisms.nested import Nested
from epsilons.errors import ArgumentError, MissingValueError
from epsilons.frozen import remembered, storable
from epsilons.loading import later
from epsilons.questions.question import (
    UNWEIGHED,
    Answer,
    Call,
    Draw,
    Question,
    Sentences,
    Steps,
)
from epsilons.questions.steps.designs import Design, Known, cell_design, cells_of, tells
from epsilons.questions.steps.ways import Read, add_remove, replace_end
from epsilons.results.release import ByLevel, Scalar
from epsilons.results.release.estimate import Estimate
from epsilons.results.report import numbers
from epsilons.risk import ClosedNoise, SumNoise, Weighing
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import CellsGoal, MeanGoal
from epsilons.risk.margins import RatioCells
from epsilons.risk.means import mean
from epsilons.risk.quantiles import (
    AnsweredQuantiles,
    NestedQuantiles,
    QuantilesMargin,
    RatioQuantiles,
    TableQuantiles,
    closed_variance,
    even,
    nested_shift,
    reach,
    ways,
)
from epsilons.risk.shares import WeighedCells
from epsilons.risk.weighing import Assumption
from epsilons.types import About, Column, Floats, Integers, LossOfOne, Missing, freeze

if TYPE_CHECKING:
    from epsilons.results.release import said
    from epsilons.results.release.release import Release
    from epsilons.results.report import sheet
else:
    said = later("epsilons.results.release.said")
    sheet = later("epsilons.results.report.sheet")

__all__ = [
    "BINS",
    "FINE",
    "METHODS",
    "Quantile",
    "QuantileMethod",
    "Quantiles",
    "RankedTable",
    "Reading",
    "Selecting",
    "best_way",
    "merged",
    "tabled",
    "under_add_remove",
]

QuantileMethod: TypeAlias = Literal["auto", "table", "selection"]

FINE: Final = 1024
"""The number of bins that people are counted in. They are the cells of selections, and the bins of
the finest table."""

METHODS: Final[tuple[str, ...]] = get_args(QuantileMethod)[1:]

BINS: Final = tuple(2**power for power in range(3, 11))
"""The possible numbers of bins of a table; each bin merges some of the finest bins."""

_INTERVAL: Final = Fraction(1, 2)
"""The fraction of a quantile's budget for its interval; the quantile gets the rest."""

_PARTS: Final = 2**16
"""Selections round a share q to a multiple of 1 divided by this number."""

_WHOLE: Final = (_PARTS, 0)
"""The ranks that an interval must reach if both of its ends are the bounds of the range. Every
interval reaches them, so they require nothing."""


def _radii() -> Integers:
    """Return 0, 1, 2, … up to all cells. Each number exceeds the last by 1 or by a quarter."""
    found = [0]
    while found[-1] < FINE:
        found.append(max(found[-1] + 1, found[-1] * 5 // 4))
    return np.array(found, dtype=np.int64)


RADII: Final = _radii()
"""How many cells an interval has on either side of the cell that was selected, from narrow to wide.

With more radii, the choice of intervals is finer, but each selection needs a larger distance in
ranks. A ratio of 5/4 is about as good as any from 1.1 to 1.4.
"""

_BITS: Final = 61
_MOST_BITS: Final = 20
_FEWEST_BITS: Final = 8
"""Limits on integer weights: the most bits of the sum of all weights, and the most and the fewest
bits of the largest weight."""

_NOISE: Final = 2.0
"""The average length of one side of an interval, in ranks, is `nested_shift` plus this multiple of
1/rate. The selected cell is off by about 1/rate, and so is the selected interval."""

_LARGEST: Final = 1024.0
"""The most that a selection takes from anyone's budget."""

_NOBODY_KNOWS: Final = 32
"""The number of bins of a table if nothing is known about the number of people."""

_DIFFER: Final = (
    "The share of people below any value differs from budget to budget by at most {} of all people"
)

_PARTS_LEFT_OUT: Final = (
    " Missing values are left out. Someone with several rows divides one unit among all of them, "
    "and the parts of rows without a value are left out."
)


# The question.


@dataclass(frozen=True, eq=False)
class Quantile(Question):
    """The q-quantile: the smallest value with a share of at least q at or below it.

    Attributes:
        q: one share strictly between 0 and 1, or several. See `epsilons.quantile`.
        bounds: the range of the values.

    Raises:
        ArgumentError: an argument is invalid.

    Examples:
        >>> import epsilons as ep
        >>> question = ep.Quantile("minutes", [0.25, 0.75], bounds=(0, 120))
        >>> asked = {"epsilon": "epsilon", "data": "people.csv", "person": "person"}
        >>> [release] = ep.publish([question], source=ep.Seeded(1), **asked)
        >>> release.value.round(1).tolist()
        [17.3, 36.6]
    """

    statistic: ClassVar[str] = "quantile"
    KIND: ClassVar[str] = "Quantile"
    describes: ClassVar[str] = "values of {file} that given shares of people are at or below"
    of_shares: ClassVar[bool] = True
    every_method: ClassVar[tuple[str, ...]] = METHODS
    NOT_TAKEN: ClassVar[Mapping[str, str]] = UNWEIGHED
    ADVICE: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"q": "give a number strictly between 0 and 1, such as 0.5 for the median."}
    )
    supposed: ClassVar[float | None] = 12.0**-0.5  # forecasts are for uniform values

    values: Column = field(repr=False)  # it can be an array of people's values
    q: float | Sequence[float] = field(
        metadata={
            "planned": 0.5,
            "option": {
                "type": float,
                "multiple": True,
                "help": "The share of people at or below the quantile, such as 0.5; repeat it for "
                "several.",
            },
        }
    )
    _: KW_ONLY
    bounds: tuple[float, float]
    about: About = "people"
    related: bool | float = True
    loss: LossOfOne = "mse"
    confidence: float = 0.95
    method: QuantileMethod = "auto"
    missing: Missing | None = None
    title: str | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.loss_of_a_mean(self.loss)
        self._set("q", parameters.quantiles(self.q))
        self._set("bounds", parameters.bounds(self.bounds))
        listed.bins(self._edges)

    @property
    def _edges(self) -> list[float]:
        """The edges of the finest bins; values outside the bounds are in the outermost bins."""
        return [-math.inf, *even(self.bounds, FINE)[1:-1].tolist(), math.inf]

    @property
    def goal(self) -> MeanGoal:
        """The assumption, and the error to report."""
        return MeanGoal(self.assumption, self.loss, self.confidence)

    def methods(self, neighbours: str) -> Collection[str]:
        """Return the names that `method` can have besides "auto".

        Only a table supports missing="exclude".
        """
        return METHODS if neighbours == "replace" and not self.excludes else METHODS[:1]

    def look(self, call: Call) -> door.Look:
        """Count rows that need the curator's attention. Infinite values count as in range."""
        declared = door.declare(None, self._edges, None)
        return door.look(self.values, **call.given, categories=declared, lowest=call.lowest)

    def open(self, call: Call) -> door.Rows:
        """Check the arguments and return the rows, with a cell for each bin and for missing values.

        Under add/remove, excluded missing values are in no cell.
        """
        policy = self.policy(call.neighbours)
        apart = policy == "midpoint" or (self.excludes and call.neighbours == "replace")
        declared = door.declare(None, self._edges, "missing" if apart else None)
        return door.open(self.values, **call.given, categories=declared, ladder=call.ladder)

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return what to count: people in each bin, and in the cell of missing values if any."""
        return door.Ask("cells")

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Return the generator of the draws: a table of bins or, only under replace, selections."""
        counted, goal = self.counted(rows, call), self.goal
        quantiles = np.array(self.q, ndmin=1)
        if call.neighbours == "add-remove":
            return under_add_remove(counted, call.terms, goal, quantiles, self._read)
        budgets = Budgets.of_levels(counted.levels, counted.counts)
        if self.excludes:
            return tabled(budgets, goal, quantiles, outside=True).steps(counted, self._read)
        way = best_way(budgets, goal, quantiles, self.method, counted.unit)
        return way.steps(counted, self._read)

    def _read(self, margin: QuantilesMargin, square: float, half: float | None) -> Read:
        """Return the quantile (an array if several were requested) and its error for the loss."""
        values, bounds = margin.values(self.bounds), self.bounds
        estimate: Scalar | Quantiles
        if isinstance(self.q, float):
            one = float(values[0])
            estimate = Scalar(value=one, raw=one, bounds=bounds, margin=margin)
        else:
            estimate = Quantiles(value=values, raw=values, bounds=bounds, margin=margin)
        if self.loss != "pac":
            return Read(estimate, self.goal.in_units(square, bounds))
        if half is None:
            return Read(estimate, estimate.error(self.assumption, self.confidence))
        return Read(estimate, self.goal.in_units(half, bounds))

    def counted(self, rows: door.Rows, call: Call) -> door.Tally:
        """Return the number of people in each bin, for each budget offered to this question."""
        try:
            return super().counted(rows, call)
        except MissingValueError as refused:
            raise MissingValueError(
                str(refused).split(" Declare")[0] + ' missing="exclude" takes the quantiles of '
                "those who have a value, and keeps secret who they are; "
                'missing="midpoint" counts such values as the middle of the bounds. Do not drop '
                "the rows yourself: the number of people is published."
            ) from None

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """Return the sentences in which the release says what it protects and assumes."""
        midpoint, some = self.policy(neighbours) == "midpoint", self.excludes
        protects = words.PROTECTED[neighbours]
        treats = words.clipped(self.bounds, midpoint=midpoint, alone=True)
        if some:
            protects += words.hidden(groups=False, public=False, answers=True, where=False)
            treats += _PARTS_LEFT_OUT
        truth = f"the {self._name} of"
        assumes = words.assumed(truth, neighbours, self.assumption, differ=_DIFFER, some=some)
        return Sentences(protects, assumes, treats)

    @property
    def _name(self) -> str:
        """The name of one or several quantiles."""
        if isinstance(self.q, Sequence):
            return ", ".join(f"{each:.6g}" for each in self.q) + " quantiles"
        return "median" if self.q == 0.5 else f"{self.q:.6g} quantile"


# The two methods under replace, and the table under add/remove.

Reading: TypeAlias = Callable[[QuantilesMargin, float, float | None], Read]
"""A function that makes the result of a question from three arguments: a margin with the draws; the
mean squared error in ranks for uniform values; and the approximate half-width of an interval, as a
fraction of the range, or None if it is not predicted."""


@dataclass(frozen=True, eq=False)
class RankedTable:
    """A table of bins, and its predicted error.

    Attributes:
        quantiles: the quantiles to estimate.
        goal: the assumption about the data, with the loss and the confidence.
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

    def steps(self, counted: door.Tally, reading: Reading) -> Steps:
        """Return the generator that draws the table."""
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
    """Two selections for each quantile (of its cell and of its interval), and their errors.

    Attributes:
        quantiles: the quantiles to estimate.
        goal: the assumption about the data, with the loss and the confidence.
        budgets: the budgets of the people.
        weights: the integer weight of a person at each level, in units of 2^−shift of ε.
        shift: the exponent of that unit.
        aims: for each quantile, the ranks that its interval must reach below and above it, as
            multiples of 1/`_PARTS`. On a side where the interval ends at the bound of the range,
            the rank is the entry of `_WHOLE` for that side.
        half: the approximate half-width of an interval, as a fraction of the range.
    """

    quantiles: Floats
    goal: MeanGoal
    budgets: Budgets
    weights: Integers
    shift: int
    aims: tuple[tuple[int, int], ...]
    half: float
    method = "selection"

    def steps(self, counted: door.Tally, reading: Reading) -> Steps:
        """Return the generator that draws all selections, one after another."""
        masses = self.weights @ merged(counted.cells, FINE)
        there = np.flatnonzero(masses)
        total = there, masses[there]
        left = 2 * len(self.aims) - self.aims.count(_WHOLE)
        picks, stages = [], []
        for q, aim in zip(self.quantiles.tolist(), self.aims, strict=True):
            stages.append(self._quantile(q, counted.unit))
            left -= 1
            pick = yield Draw(stages[-1], total, left > 0)
            around = 0, FINE
            if aim != _WHOLE:
                stages.append(stage := self._interval(pick, aim, counted.unit))
                left -= 1
                at = yield Draw(stage, total, left > 0)
                around = int(stage.starts[at]), int(stage.ends[at])
            picks += [pick, *around]
        weighing = weighing_of(self.budgets, Effective(self.weights.astype(np.float64)))
        margin = NestedQuantiles(
            self.quantiles,
            weighing,
            FINE,
            np.array(picks, dtype=np.int64),
            np.abs(self.quantiles[:, None] - np.array(self.aims) / _PARTS).ravel(),
            len(RADII),
            self._rate(_INTERVAL),
        )
        spent = np.array([float_up(each) for each in added_up(s.losses for s in stages)])
        square = _square(weighing, self.goal, 1.0 / self._rate(self._own))
        found = reading(margin, square, self.half)
        return Answer(
            estimate=found.estimate,
            method=self.method,
            n=self.budgets.n,
            risk=found.risk,
            exact=False,
            spent=ByLevel(self.budgets.levels, spent, self.budgets.counts),
        )

    @property
    def _own(self) -> Fraction:
        """The fraction of a quantile's budget that the selection of its cell gets.

        It is 1 if no interval is drawn.
        """
        return Fraction(1) if set(self.aims) == {_WHOLE} else 1 - _INTERVAL

    def _rate(self, part: Fraction) -> float:
        """Return how much log-probabilities fall per unit of rank, for this part of a budget."""
        whole = int(self.weights.astype(object) @ self.budgets.counts.astype(object))
        return float(whole * part / len(self.quantiles) / 2 / Fraction(2) ** self.shift)

    def _quantile(self, q: float, unit: int) -> Nested:
        """Return the selection of the first cell with a share q of the weight at or below it."""
        ends = np.arange(1, FINE + 1)
        aim = _PARTS, min(max(round(q * _PARTS), 1), _PARTS - 1)
        return self._stage(self._own, np.zeros_like(ends), ends, aim, _SOUGHT[0], unit)

    def _interval(self, pick: int, aim: tuple[int, int], unit: int) -> Nested:
        """Return the selection of an interval around a cell."""
        low, high = aim
        starts = np.maximum(pick - RADII, 0) if low < _PARTS else np.zeros_like(RADII)
        ends = np.minimum(pick + 1 + RADII, FINE) if high > 0 else np.full_like(RADII, FINE)
        return self._stage(_INTERVAL, starts, ends, aim, _SOUGHT[1], unit)

    def _stage(
        self,
        part: Fraction,
        starts: Integers,
        ends: Integers,
        aim: tuple[int, int],
        seeks: str,
        unit: int,
    ) -> Nested:
        """Return one selection. A person of weight k spends k·part/2^shift/quantiles on it."""
        scale = 2 * _PARTS * unit * Fraction(2) ** self.shift * len(self.quantiles) / part
        if scale.denominator != 1:
            raise ValueError("the divisor of a distance is a whole number")
        return Nested(
            self.budgets.levels.copy(),
            self.weights * unit,
            scale.numerator,
            starts,
            ends,
            _PARTS,
            *aim,
            seeks,
        )


_SOUGHT: Final = ("a quantile of the values", "an interval around it")
"""Descriptions, in words, of what the two selections of a quantile find."""


def best_way(
    budgets: Budgets, goal: MeanGoal, quantiles: Floats, method: str, unit: int
) -> RankedTable | Selecting:
    """Return the method with the shorter intervals for uniform values, or the named method.

    Args:
        budgets: the budgets of the people.
        goal: the assumption about the data, with the loss and the confidence.
        quantiles: the quantiles to estimate.
        method: "auto", "table" or "selection".
        unit: the total contribution of one person to all bins.
    """
    crowded = (budgets.n * unit).bit_length() > _BITS - _FEWEST_BITS
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
        goal: the assumption about the data, with the loss and the confidence.
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
    answer = capped(budgets, cap)
    shares = CellsGoal(goal.assumption, "mse", goal.confidence, cells)
    weighing = weighing_of(budgets, answer, SumNoise(2, ClosedNoise(cells)))
    added = min(max(round(q * cells), 1), cells - 1)
    proofs = ways(weighing, goal.assumption, q, 1.0 - goal.confidence)
    far = min(reach(weighing, cells, way, added) for way in proofs)
    allocation = allocation_of(budgets, shares, "table", answer)
    return RankedTable(quantiles, goal, allocation, far + 1.0 / bins, outside)


def selecting(budgets: Budgets, goal: MeanGoal, quantiles: Floats, unit: int) -> Selecting:
    """Return selections, with intervals as wide in ranks as the confidence requires.

    Raises:
        ArgumentError: there are too many people for integer weights.
    """
    beta, q = 1.0 - goal.confidence, _nearest(quantiles)
    part = float(_INTERVAL / len(quantiles))
    noise = SumNoise(2.0 * math.log(len(RADII) / (2.0 * beta)) / part / math.sqrt(2.0))
    spends = np.minimum(budgets.levels, min(best_cap(budgets, _coins(goal, q), noise), _LARGEST))
    bits = min(_BITS - (budgets.n * unit).bit_length(), _MOST_BITS)
    if bits < _FEWEST_BITS:
        raise ArgumentError(
            'method="selection" cannot handle this many people: use method="table".'
        )
    shift = bits - math.frexp(float(spends.max()))[1]
    weights = np.floor(np.ldexp(spends, shift)).astype(np.int64)
    weighing = weighing_of(budgets, Effective(weights.astype(np.float64)))
    rate = float(np.ldexp(weights.astype(np.float64), -shift) @ budgets.counts) * part / 2.0
    aims, half = [], 0.0
    for each in quantiles.tolist():
        far = nested_shift(weighing, goal.assumption, each, beta, len(RADII), rate)
        aims.append((_below(each - far), _above(each + far)))
        half = max(half, min(far, max(each, 1.0 - each)))
    typical = _NOISE / rate if rate > 0.0 else math.inf
    return Selecting(
        quantiles, goal, budgets, weights, shift, tuple(aims), half + typical + 1.0 / FINE
    )


def _below(q: float) -> int:
    """Return q·`_PARTS`, rounded down. If this is not above 0, return `_PARTS`: no requirement."""
    return (math.floor(q * _PARTS) if q > 0.0 else 0) or _WHOLE[0]


def _above(q: float) -> int:
    """Return q·`_PARTS`, rounded up. If this is not below `_PARTS`, return 0: no requirement."""
    return math.ceil(q * _PARTS) % _PARTS if q < 1.0 else _WHOLE[1]


def _nearest(quantiles: Floats) -> float:
    """Return the one of these quantiles that is nearest to the median. It has the most noise."""
    return float(quantiles[np.abs(quantiles - 0.5).argmin()])


def _coins(goal: MeanGoal, q: float) -> MeanGoal:
    """Return the error to minimize for the share of people below the q-quantile.

    The share is a mean of zeros and ones. If budgets are independent of values, its standard
    deviation is √(q(1 − q)); otherwise the largest possible one is assumed.
    """
    spread = math.sqrt(q * (1.0 - q)) if goal.assumption.related is False else mean.WIDEST
    return replace(goal, loss="mse", spread=max(spread, 1e-3))


def _square(weighing: Weighing, goal: MeanGoal, scale: float) -> float:
    """Return the mean squared error of a rank under Laplace noise of this scale."""
    plain = replace(weighing, scale=scale, closed=None)
    return min(float(mean.mse(plain, goal.assumption)), 1.0)


def merged(cells: Integers, bins: int, *, outside: bool = False) -> Integers:
    """Merge the finest bins.

    Args:
        cells: the counts in the finest bins at each level, and possibly in one more cell.
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


def under_add_remove(
    counted: door.Tally, terms: Declared, goal: MeanGoal, quantiles: Floats, reading: Reading
) -> Steps:
    """Answer under add/remove: count people if needed, then the bins.

    The cap that minimizes the squared errors of all bins is also the best for every quantile, if
    budgets are independent of values: docs/proofs/quantiles.md.

    Args:
        counted: the number of people in each of the finest bins; only draws may use it.
        terms: the public declarations about people, such as budget levels.
        goal: the assumption about the data, with the loss and the confidence.
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
        # The noise of a rank q is Σ_{bins below} z − q·Σz. Its variance is q(1 − q) times the sum
        # over all bins: a quarter of it at the median.
        even = np.full(cells, 1.0 / cells)
        square = min(margin.leading(shares, even) / 4.0 + 1.0 / (12.0 * cells**2), 1.0)
        found = reading(RatioQuantiles(quantiles, margin), square, None)
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


# Several quantiles of one column.


@storable("release.Quantiles")
@dataclass(frozen=True, eq=False, kw_only=True)
class Quantiles(Estimate):
    """Several quantiles.

    Attributes:
        value: the quantiles, within the bounds, in ascending order of q.
        raw: the same as `value`.
        bounds: the range of the values.
        margin: the shares q, and the margin of error.
    """

    kind: ClassVar = "quantiles"
    each: ClassVar[tuple[str, str]] = ("quantile", "quantiles")
    phrase: ClassVar[str] = "the values{of}"
    joined: ClassVar[str] = " of people are at or below"
    value: Floats
    raw: Floats
    bounds: tuple[float, float]
    margin: QuantilesMargin

    def __post_init__(self) -> None:
        freeze(self.value, self.raw)

    @property
    def limits(self) -> tuple[float, float]:
        """The range of the values."""
        return self.bounds

    @remembered
    def interval(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """A separate interval for each quantile."""
        return self.margin.intervals(self.bounds, assumption, confidence)

    @remembered
    def band(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Simultaneous intervals for all quantiles."""
        return self.margin.band(self.bounds, assumption, confidence)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the error of every quantile, at this confidence."""
        low, high = self.band(assumption, confidence)
        return float(max((self.value - low).max(), (high - self.value).max()))

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """The estimate as plain data."""
        low, high = self.interval(assumption, confidence)
        band_low, band_high = self.band(assumption, confidence)
        return {
            "quantiles": self.margin.quantiles.tolist(),
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "band": [band_low.tolist(), band_high.tolist()],
            "bounds": list(self.bounds),
        }

    def further(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """Further columns of a frame: the share of each quantile, and simultaneous intervals."""
        low, high = self.band(assumption, confidence)
        return {"quantile": self.margin.quantiles, "band_low": low, "band_high": high}

    @property
    def names(self) -> tuple[str, ...]:
        """The shares q, in percent."""
        return tuple(map(numbers.percent, self.ranks))

    def says(self, release: Release) -> sheet.Sheet:
        """The report sheet of a release with this estimate."""
        rows = self.rows(release.assumption, release.confidence)
        confidence, unit = numbers.percent(release.confidence), said.unit_words(release)
        heads = ("share of people", f"is at or below{unit}", f"from ({confidence})", "to")
        table = sheet.SheetTable("rows", heads, tuple(said.cells_of(rows)), "Published quantiles.")
        title = f"at or below{unit}, {confidence} interval"
        drawing = sheet.Ranges(rows, title, "people", "quantiles")
        lo, hi = self.bounds
        nothing = all(row.low <= lo and row.high >= hi for row in rows)
        values = said.with_unit(release, f"{numbers.number(lo)} to {numbers.number(hi)}")
        own = said.Own(
            f"{len(rows)} quantiles",
            said.told_in_units(release),
            first=[[table]],
            people=[said.people_fact(release), said.values_fact(values)],
            nothing=[said.NOTHING] if nothing else [],
            figures=[said.drawn(table, drawing, "quantiles")],
        )
        return said.sheet_of(release, own)
