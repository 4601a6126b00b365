"""Margins of quantiles: confidence intervals from tests of cumulative shares."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, TypeAlias

import numpy as np

from epsilons.errors import KindError
from epsilons.frozen import storable
from epsilons.risk.margins import Bounds, Margin, RatioCells
from epsilons.risk.means import ratio
from epsilons.risk.means.mean import (
    SAMPLING,
    SampleError,
    hoeffding,
    permutation_proxy,
    sampling_reach,
)
from epsilons.risk.shares import TotalledCells, WeighedCells
from epsilons.risk.tails.laplace import kearns_saul, least
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats, Integers

# Tails of sums of noises of several cells: nearly exact upper bounds.
#
# A cumulative share is a sum over cells, and so is its noise. The density f_j of the sum of j
# Laplace noises of scale 1 follows from f_{j−1} and f_{j−2} by a recursion with positive terms. All
# f_j and their products are symmetric and decreasing on either side of 0. So a sum over a grid,
# with each grid interval evaluated at the end nearer to 0, is an upper bound on a tail.
# Proof: docs/proofs/quantiles.md (4).

_POINTS: Final = 4096
"""Number of grid points on either side of 0."""

_BEYOND: Final = 1e-14
"""Upper bound on the probability beyond the grid."""


class SumTail:
    """Upper bound on P(X > x) for a symmetric unimodal X, from its density on a grid.

    Proof: docs/proofs/quantiles.md (4).

    Args:
        step: step of the grid.
        density: density of X at 0, step, 2·step, and so on.
    """

    def __init__(self, step: float, density: Floats) -> None:
        self._step = step
        self._last = len(density) - 1
        # `over` evaluates each grid interval at the end nearer to 0, `under` at the other end.
        upper = np.cumsum(step * density[::-1])[::-1]
        over, under = np.minimum(upper + _BEYOND, 0.5), np.append(upper[1:], 0.0)
        # At −i·step: one minus a lower bound on the tail beyond i·step.
        self._table = np.concatenate([1.0 - under[:0:-1], over])

    def __call__(self, x: Floats) -> Floats:
        """Bound on P(X > x) for each x, from the next grid point below it."""
        at = np.clip(x / self._step, -self._last, self._last)
        found = self._table[np.floor(at).astype(np.int64) + self._last]
        return np.where(x < -self._last * self._step, 1.0, found)

    @property
    def pieces(self) -> tuple[Floats, Floats]:
        """Grid points x, ascending, and bounds on P(X > x)."""
        starts = np.arange(-self._last, self._last + 1, dtype=np.float64)
        return self._step * starts, self._table


def closed_variance(cells: int, added: float) -> float:
    """Variance of the noise of `added` cells, if all noises (of scale 1) sum to zero.

    Proof: docs/proofs/tables.md (1).
    """
    return added * (cells - added) * (2 * cells - 1) / (cells * (cells + 1))


@lru_cache(maxsize=64)
def closed_tail(cells: int, added: int) -> SumTail:
    """Tail of the sum of `added` of `cells` noises z with density ∝ e^{−Σ|z|} on Σz = 0.

    The density of the sum is f_added·f_rest, divided by the density at 0 of the sum of all
    independent noises.
    Proof: docs/proofs/quantiles.md (4).

    Args:
        cells: number of all cells.
        added: number of cells in the sum, from 1 to cells − 1.
    """
    step, densities = _densities(cells)
    return SumTail(step, densities[added] * densities[cells - added] / densities[cells, 0])


def independent_tail(cells: int, added: int) -> SumTail:
    """Tail of the sum of `added` independent Laplace noises.

    Proof: docs/proofs/quantiles.md (4).
    """
    step, densities = _densities(cells)
    return SumTail(step, densities[added])


def independent_exceeds(cells: int, added: int, first: float, x: float) -> float:
    """Upper bound on P(first·A − (1 − first)·B > x) for two independent sums of Laplace noises.

    A is the sum of `added` noises and B the sum of the others. Let Y be the term with the smaller
    coefficient and X the other term. The bound is Σ P(Y in a grid interval)·P(X > x − end of the
    interval), summed by parts. It increases in every tail probability of Y, so upper bounds on
    these give an upper bound. Proof: docs/proofs/quantiles.md (4).

    Args:
        cells: number of all noises, of scale 1.
        added: number of noises in A, from 1 to cells − 1.
        first: coefficient of A, in [0, 1].
        x: the threshold.
    """
    step, densities = _densities(cells)
    (large, many), (small, few) = sorted(
        ((first, added), (1.0 - first, cells - added)), reverse=True
    )
    broad = SumTail(step, densities[many])
    if small <= 0.0:
        return float(broad(np.array(x / large)))
    starts, begun = SumTail(step, densities[few]).pieces
    above = broad((x - small * starts[1:]) / large)
    return float(above[0] + begun[1:-1] @ np.diff(above) + (1.0 - above[-1]) * begun[-1])


@lru_cache(maxsize=4)
def _densities(cells: int) -> tuple[float, Floats]:
    """The step of the grid, and an array with f_j on the grid in row j = 1, …, cells."""
    step = (80.0 + 9.0 * math.sqrt(2.0 * cells)) / _POINTS
    s = step * np.arange(_POINTS)
    found = np.zeros((cells + 1, _POINTS))
    found[1] = 0.5 * np.exp(-s)
    found[2] = 0.25 * (1.0 + s) * np.exp(-s)
    for j in range(2, cells):
        found[j + 1] = (2 * j - 1) / (2 * j) * found[j] + s * s / (4 * j * (j - 1)) * found[j - 1]
    return step, found


# Confidence intervals of a quantile, from noisy cumulative shares at the ends of bins.
#
# At an end e of a bin the true share F(e) of people below e is fixed. If the q quantile is above
# e, then F(e) < q; if it is below e, then F(e) ≥ q. So each end is tested separately at the share
# q, without a union bound over ends. The search for the lower limit starts at the left and moves
# right as long as F(e) ≥ q is rejected. The search for the upper limit starts at the right and
# moves left as long as F(e) < q is rejected. The interval can only be wrong if the test fails at
# one particular end on each side. These two ends depend on the data, not on the noise.
# Proof: docs/proofs/quantiles.md (2).

_TINY: Final = 1e-150
"""Sums of squared weights below this are too small to be divisors."""

Refutes: TypeAlias = Callable[[int, float], bool]
"""Type of a test: takes a number of cells and the error of their sum, and returns True if such a
large error is too improbable."""


@dataclass(frozen=True, eq=False)
class Way:
    """One of several valid bounds on the one-sided error of a cumulative share.

    Proof: docs/proofs/quantiles.md (2).

    Attributes:
        shift: the part of the error that is not random, or that uses a separate part of the error
            probability.
        chances: tails of the sampling error, in the form of `SampleError.chances`; None if only
            noise is random.
        side: the error probability that remains for one side.
    """

    shift: float
    chances: tuple[Floats, Floats] | None
    side: float


def ways(weighing: Weighing, assumption: Assumption, q: float, beta: float) -> tuple[Way, ...]:
    """Return the bounds that an assumption allows. Only public facts may decide between them.

    Proof: docs/proofs/quantiles.md (2).

    Args:
        weighing: the estimator of the cumulative shares; its scale is the noise scale of a cell.
        assumption: the assumption about the data.
        q: the share that is tested.
        beta: error probability of both sides together.
    """
    n, bias = weighing.n, weighing.bias
    anyhow = Way(assumption.apart * bias, None, beta / 2.0)
    if not assumption.sampled:
        if assumption.related is not False:
            return (anyhow,)
        shuffled = permutation_proxy(weighing)
        chances = hoeffding(shuffled) if shuffled > _TINY else None
        return Way(0.0, chances, beta / 2.0), Way(bias, None, beta / 2.0)
    if assumption.related is False:
        # The worst-case population has exactly the share q below the end of the bin.
        drawn = SampleError(weighing, q * (1.0 - q)).chances
        return (Way(0.0, drawn, beta / 2.0),)
    part, rest = SAMPLING * beta, (1.0 - SAMPLING) * beta / 2.0
    coin = float(kearns_saul(np.array(q)))
    if assumption.anything:
        return (Way(bias + math.sqrt(2.0 * coin * math.log(2.0 / part) / n), None, rest),)
    # Budgets determine which of the two bounds is smaller, so both sampling events must hold
    # simultaneously.
    outer, own = sampling_reach(n, part / 2.0), hoeffding(weighing.square)
    apart = assumption.apart
    return Way(bias + outer, None, rest), Way(apart * (bias + outer), own, rest)


def chance(
    weighing: Weighing, cells: int, way: Way, added: int, off: float, *, outside: bool = False
) -> float:
    """Bound on the probability that the one-sided error of a sum of cells exceeds `off`.

    Proof: docs/proofs/quantiles.md (2), (6).

    Args:
        weighing: the estimator, as in `ways`.
        cells: number of cells.
        way: the bound to use.
        added: number of cells in the sum.
        off: one-sided error of the sum, without the shift.
        outside: whether an arbitrary fraction of one more cell is added.
    """
    starts = np.zeros(1) if way.chances is None else way.chances[0]
    far = off - starts
    if weighing.scale <= 0.0:
        above = np.where(far < 0.0, 1.0, 0.0)
    else:
        noise = independent_tail if weighing.closed is None else closed_tail
        above = noise(cells, added)(far / weighing.scale)
        if outside:
            # Quantiles of such noises are convex in the coefficients (Bobkov). So for a positive
            # threshold, the tail is at most the larger of two tails: without the cell, and with all
            # of it.
            more = noise(cells, added + 1)(far / weighing.scale)
            above = np.where(far > 0.0, np.maximum(above, more), 1.0)
    if way.chances is None:
        return float(above[0])
    # S + z > off means that S > x with x = off − z. Sum over the grid of x, with P(S > x) ≤ 1 below
    # its first point.
    masses = np.append(above[1:], 1.0) - above
    return float((way.chances[1] @ masses).max()) + float(above[0])


def reach(weighing: Weighing, cells: int, way: Way, added: int) -> float:
    """One-sided bound on the error of a sum of `added` cells.

    Proof: docs/proofs/quantiles.md (2).
    """
    if not math.isfinite(weighing.scale):
        return math.inf

    def excess(off: float) -> float:
        return chance(weighing, cells, way, added, off) - way.side

    return way.shift + least(excess, weighing.scale * math.sqrt(cells) + 1e-12)


def inverted(
    shares: Floats, q: float, edges: Floats, lower: Refutes, upper: Refutes
) -> tuple[float, float]:
    """The confidence interval of a quantile, from a test at each inner end of the bins.

    Proof: docs/proofs/quantiles.md (2).

    Args:
        shares: the noisy share below each inner end of the bins, in order.
        q: order of the quantile, in (0, 1).
        edges: all ends of bins, one more than there are bins.
        lower: test of the hypothesis that the quantile is within the first cells. Takes the number
            of these cells, and q minus their share.
        upper: test of the hypothesis that the quantile is beyond the first cells. Takes the number
            of these cells, and their share minus q.
    """
    first, last = 0, len(edges) - 1
    while first < len(shares) and lower(first + 1, q - float(shares[first])):
        first += 1
    while last > first + 1 and upper(last - 1, float(shares[last - 2]) - q):
        last -= 1
    return float(edges[first]), float(edges[last])


def crossing(shares: Floats, q: float, edges: Floats) -> float:
    """The noisy quantile: halfway between the first and the last crossing of q.

    A crossing within a bin is interpolated. The result is in every interval from `inverted`.

    Args:
        shares: the noisy share below each inner end of the bins.
        q: order of the quantile, in (0, 1).
        edges: all ends of bins; the outermost ends can be infinite.
    """
    whole = np.concatenate([[0.0], shares, [1.0]])
    reached = np.flatnonzero(whole[1:] >= q)
    first = int(reached[0]) if len(reached) else len(whole) - 2
    short = np.flatnonzero(whole[:-1] < q)
    last = int(short[-1]) if len(short) else 0
    return (_within(whole, q, edges, first) + _within(whole, q, edges, last)) / 2.0


def _within(whole: Floats, q: float, edges: Floats, bin_: int) -> float:
    """The interpolated crossing of q within a bin; if the bin is unbounded, its finite end."""
    lo, hi = float(edges[bin_]), float(edges[bin_ + 1])
    if math.isinf(lo) or math.isinf(hi):
        return hi if math.isinf(lo) else lo
    left, right = float(whole[bin_]), float(whole[bin_ + 1])
    part = (q - left) / (right - left) if right > left else 0.5
    return lo + min(max(part, 0.0), 1.0) * (hi - lo)


def cumulative(shares: Floats) -> Floats:
    """The noisy share below each inner end of the bins, from the noisy shares of the bins."""
    return np.asarray(np.cumsum(shares)[:-1])


EVEN: Final = "forecast for values spread evenly over the range"
"""Description of the risk of a quantile. A worst case over all data would be the whole range."""

_FLOATS: Final = 1e-12
"""Upper bound on the rounding error of a cumulative share."""

_TOTAL_SHARE: Final = 0.05
"""Part of the error probability that is used to bound an unknown total."""


class QuantilesMargin(Margin, ABC):
    """Base class of margins of quantiles. Proof: docs/proofs/quantiles.md (2), (3)."""

    kind: ClassVar[str | None] = EVEN
    staked: ClassVar[bool] = False
    quantiles: Floats

    @property
    def ranks(self) -> tuple[float, ...]:
        """The share of people at or below each released number."""
        return tuple(self.quantiles.tolist())

    @abstractmethod
    def values(self, bounds: Bounds) -> Floats:
        """The noisy quantiles."""

    @abstractmethod
    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The confidence interval of the quantile at this index."""

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """The confidence interval of the first quantile."""
        return self.one(0, bounds, assumption, confidence)

    def intervals(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """An interval for each quantile separately."""
        places = range(len(self.quantiles))
        low, high = np.array([self.one(at, bounds, assumption, confidence) for at in places]).T
        return low, high

    def band(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Simultaneous intervals for all quantiles, by a union bound."""
        each = 1.0 - (1.0 - confidence) / len(self.quantiles)
        return self.intervals(bounds, assumption, each)


def even(bounds: Bounds, cells: int) -> Floats:
    """The ends of `cells` bins of equal width."""
    lo, hi = bounds
    return np.append(lo + (hi - lo) * (np.arange(cells) / cells), hi)


@storable("risk.TableQuantiles")
@dataclass(frozen=True, eq=False)
class TableQuantiles(QuantilesMargin):
    """Margin of quantiles from a table of bins, for people with public budgets.

    Guarantee:
        For all data that the assumption allows, each interval and the whole band fail to cover the
        true quantiles with probability at most 1 − confidence. Proof: docs/proofs/quantiles.md (2).

    Attributes:
        quantiles: orders of the quantiles, in (0, 1).
        cells: the margin of the table.
        drawn: the noisy shares of the bins.
    """

    quantiles: Floats
    cells: WeighedCells
    drawn: Floats

    def values(self, bounds: Bounds) -> Floats:
        """The noisy quantiles."""
        shares, edges = cumulative(self.drawn), even(bounds, self.cells.cells)
        return np.array([crossing(shares, q, edges) for q in self.quantiles.tolist()])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The confidence interval of the quantile at this index."""
        q, edges = float(self.quantiles[at]), even(bounds, self.cells.cells)
        return _closed(self.cells, self.drawn, q, edges, assumption, confidence)


def _closed(
    margin: WeighedCells,
    drawn: Floats,
    q: float,
    edges: Floats,
    assumption: Assumption,
    confidence: float,
    *,
    outside: bool = False,
) -> Bounds:
    """The confidence interval of a quantile from a table, for people with public budgets.

    Proof: docs/proofs/quantiles.md (2), (6).

    Args:
        margin: margin of the table.
        drawn: the noisy shares of its cells.
        q: order of the quantile, in (0, 1).
        edges: all ends of the bins.
        assumption: the assumption about the data.
        confidence: confidence level of the interval.
        outside: whether the last cell counts people who did not answer. The fraction q of this
            cell, and of its noise, is then added to the share below every end.
    """
    weighing, cells = margin.weighing, margin.cells
    shares = cumulative(drawn[:-1]) + q * float(drawn[-1]) if outside else cumulative(drawn)
    if not math.isfinite(weighing.scale):
        return float(edges[0]), float(edges[-1])
    beta = 1.0 - confidence
    if weighing.scale > 0.0:  # probabilities on the lattice are larger by at most this factor
        beta *= math.exp(-2.0 * cells * margin.slack / weighing.scale)
    proofs = ways(weighing, assumption, q, beta)
    middle = min(max(round(q * (cells - outside)), 1), cells - 1 - outside)
    way = min(proofs, key=lambda each: reach(weighing, cells, each, middle))
    given = way.shift + _FLOATS + (cells * margin.slack if weighing.scale > 0.0 else 0.0)

    def refutes(added: int, off: float) -> bool:
        if not off > given:
            return False
        return chance(weighing, cells, way, added, off - given, outside=outside) <= way.side

    return inverted(shares, q, edges, refutes, refutes)


@storable("risk.AnsweredQuantiles")
@dataclass(frozen=True, eq=False)
class AnsweredQuantiles(QuantilesMargin):
    """Margin of quantiles of people who answered, from a table of people with public budgets.

    The last cell counts people who did not answer. If the fraction q of that cell counts as below
    every value, the q quantile of all people equals the q quantile of those who answered. So no
    ratio is needed.

    Guarantee:
        The guarantee of `TableQuantiles`, regardless of who answered.
        Proof: docs/proofs/quantiles.md (6).

    Attributes:
        quantiles: orders of the quantiles, in (0, 1).
        cells: the margin of the table, including the last cell.
        drawn: the noisy shares of the bins, and of people who did not answer.
    """

    quantiles: Floats
    cells: WeighedCells
    drawn: Floats

    def values(self, bounds: Bounds) -> Floats:
        """The noisy quantiles."""
        inner = self.drawn[:-1]
        answered, edges = 1.0 - float(self.drawn[-1]), even(bounds, len(inner))
        found = []
        for q in self.quantiles.tolist():
            below = cumulative(inner) + q * float(self.drawn[-1])
            shares = cumulative(inner / answered) if answered > 0.0 else below
            found.append(crossing(shares, q, edges))
        return np.array(found)

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The confidence interval of the quantile at this index."""
        q, edges = float(self.quantiles[at]), even(bounds, len(self.drawn) - 1)
        given = (self.cells, self.drawn, q, edges, assumption.of_some, confidence)
        return _closed(*given, outside=True)


@storable("risk.OpenQuantiles")
@dataclass(frozen=True, eq=False)
class RatioQuantiles(QuantilesMargin):
    """Margin of quantiles from a table of bins, for an unknown number of people.

    Guarantee:
        The guarantee of `TableQuantiles`, for every number of people.
        Proof: docs/proofs/quantiles.md (2).

    Attributes:
        quantiles: orders of the quantiles, in (0, 1).
        cells: the margin of the table, with its noisy counts.
    """

    quantiles: Floats
    cells: RatioCells

    def values(self, bounds: Bounds) -> Floats:
        """The noisy quantiles; the middle of the range if the noisy total is not positive."""
        drawn, total = self.cells.drawn, self.cells.total
        if total <= 0.0:
            return np.full(len(self.quantiles), bounds[0] / 2.0 + bounds[1] / 2.0)
        shares, edges = cumulative(drawn / total), even(bounds, len(drawn))
        return np.array([crossing(shares, q, edges) for q in self.quantiles.tolist()])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The confidence interval of the quantile at this index."""
        edges = even(bounds, len(self.cells.drawn))
        return _of_unknown_people(
            self.cells, float(self.quantiles[at]), edges, assumption, confidence
        )


def _of_unknown_people(
    margin: RatioCells, q: float, edges: Floats, assumption: Assumption, confidence: float
) -> Bounds:
    """The confidence interval of a quantile, from noisy counts of an unknown number of people.

    If p is the true share below the end of a bin, then (1 − p)·(count below) − p·(count above) is
    only noise and sampling error. So no ratio is needed. Proof: docs/proofs/quantiles.md (2).
    """
    cells, total = len(margin.drawn), margin.total
    asked = margin.asked(assumption, confidence)
    beta, apart = 1.0 - asked.rest, asked.apart
    side, given = beta / 2.0, float(cells)  # rounding can add one lattice step per noise
    if asked.largest > 0.0:
        noise = ratio.OwnTotal(margin.scale, cells).noise
        about = ratio.quantile(noise, beta * _TOTAL_SHARE / 2.0)
        sigma = math.sqrt(asked.square(max(total + about, 0.0))) / 2.0
        given += sigma * math.sqrt(2.0 * math.log(2.0 / (beta * SAMPLING)))
        side = beta * (1.0 - SAMPLING - _TOTAL_SHARE) / 2.0
    below = np.cumsum(margin.drawn)[:-1]

    def refutes(p: float, sign: float, added: int) -> bool:
        if not 0.0 < p < 1.0:
            return False
        off = sign * ((1.0 - p) * float(below[added - 1]) - p * (total - float(below[added - 1])))
        far = off - given
        return far > 0.0 and independent_exceeds(cells, added, 1.0 - p, far / margin.scale) <= side

    return inverted(
        below,
        q,
        edges,
        lambda added, _: refutes(q - apart, -1.0, added),
        lambda added, _: refutes(q + apart, 1.0, added),
    )


@storable("risk.SelectedQuantiles")
@dataclass(frozen=True, eq=False)
class SelectedQuantiles(QuantilesMargin):
    """Margin of quantiles that were selected privately, each with two outer selections as limits.

    Guarantee:
        The guarantee of `TableQuantiles`. If the rank gap to an outer selection is too small for a
        confidence, the bound of the range is used as that limit.
        Proof: docs/proofs/quantiles.md (3).

    Attributes:
        quantiles: orders of the quantiles, in (0, 1).
        weighing: the weights of people in weighted ranks; its scale is not used.
        cells: number of candidates.
        picks: three candidates for each quantile: the selected one, the lower and the upper outer
            selection; −1 if there was no outer selection.
        gaps: two rank gaps for each quantile, to its lower and its upper outer selection, as shares
            of the total weight.
        rate: decrease of the log probability of an outer candidate per unit of rank (share of
            weight).
    """

    quantiles: Floats
    weighing: Weighing
    cells: int
    picks: Integers
    gaps: Floats
    rate: float

    def values(self, bounds: Bounds) -> Floats:
        """The middles of the selected candidates, clipped to the outer selections."""
        edges = even(bounds, self.cells)
        middles = (edges[:-1] + edges[1:]) / 2.0
        own, low, high = self.picks.reshape(-1, 3).T
        least = np.where(low >= 0, low, 0)
        most = np.maximum(np.where(high >= 0, high, self.cells - 1), least)
        return np.asarray(middles[np.clip(own, least, most)])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The confidence interval of the quantile at this index."""
        edges, q, beta = even(bounds, self.cells), float(self.quantiles[at]), 1.0 - confidence
        needed = selection_shift(self.weighing, assumption, q, beta, self.cells, self.rate)
        ends = [bounds[0], bounds[1]]
        for side in (0, 1):
            pick = int(self.picks[3 * at + 1 + side])
            if pick >= 0 and float(self.gaps[2 * at + side]) >= needed:
                ends[side] = float(edges[pick + side])
        return min(ends), max(ends)


@storable("risk.NestedQuantiles")
@dataclass(frozen=True, eq=False)
class NestedQuantiles(QuantilesMargin):
    """Margin of quantiles that were selected privately, each with one of nested intervals.

    Guarantee:
        The guarantee of `TableQuantiles`. If the rank gap of a side is too small for a confidence,
        the bound of the range is used on that side.
        Proof: docs/proofs/quantiles.md (3).

    Attributes:
        quantiles: orders of the quantiles, in (0, 1).
        weighing: the weights of people in weighted ranks; its scale is not used.
        cells: number of cells.
        picks: three numbers for each quantile: its cell, the first cell of its interval, and the
            cell that follows the last cell of its interval.
        gaps: two rank gaps for each quantile, to the ranks that its interval must reach below and
            above, as shares of the total weight. If an interval ends at a bound of the range, the
            gap on that side does not matter.
        tried: number of intervals to select from.
        rate: decrease of the log probability of an interval per unit of rank (share of weight).
    """

    quantiles: Floats
    weighing: Weighing
    cells: int
    picks: Integers
    gaps: Floats
    tried: int
    rate: float

    def values(self, bounds: Bounds) -> Floats:
        """The middles of the selected cells."""
        edges = even(bounds, self.cells)
        return np.asarray(((edges[:-1] + edges[1:]) / 2.0)[self.picks[::3]])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The confidence interval of the quantile at this index."""
        edges, q, beta = even(bounds, self.cells), float(self.quantiles[at]), 1.0 - confidence
        needed = nested_shift(self.weighing, assumption, q, beta, self.tried, self.rate)
        reached = self.gaps[2 * at : 2 * at + 2] >= needed
        _, start, end = self.picks[3 * at : 3 * at + 3].tolist()
        low, high = edges[[start, end]].tolist()
        return low if reached[0] else bounds[0], high if reached[1] else bounds[1]


def nested_shift(
    weighing: Weighing, assumption: Assumption, q: float, beta: float, tried: int, rate: float
) -> float:
    """Rank gap at which an interval, selected from nested intervals, misses with probability ≤ β.

    The widest interval is the whole range. A narrower interval that misses is accepted with
    probability at most e^{−rate·(gap − off)}. It only matters if it is visited before the first
    interval that is wide enough, which has probability ½. One selection serves both sides. So the
    gap is that of one side of `selection_shift` with (tried − 1)/4 candidates.
    Proof: docs/proofs/quantiles.md (3).

    Args:
        weighing: the weights of people.
        assumption: the assumption about the data.
        q: order of the quantile, in (0, 1).
        beta: error probability of both sides together.
        tried: number of intervals to select from.
        rate: decrease of the log probability per unit of rank (share of weight).
    """
    return selection_shift(weighing, assumption, q, beta, (tried - 1) / 4.0, rate)


def selection_shift(
    weighing: Weighing, assumption: Assumption, q: float, beta: float, cells: float, rate: float
) -> float:
    """Rank gap with which an outer selection is on the correct side, except with probability β/2.

    A candidate on the wrong side of the quantile misses the target rank by at least gap − off,
    where `off` is the error of weighted ranks. So any such candidate is selected with probability
    at most cells·e^{−rate·(gap − off)}.
    Proof: docs/proofs/quantiles.md (3).

    Args:
        weighing: the weights of people.
        assumption: the assumption about the data.
        q: order of the quantile, in (0, 1).
        beta: error probability of both sides together.
        cells: number of candidates.
        rate: decrease of the log probability per unit of rank (share of weight).
    """
    if not rate > 0.0:
        return math.inf
    shifts = []
    for way in ways(weighing, assumption, q, beta):
        people, left = 0.0, way.side
        if way.chances is not None:
            starts, tails = way.chances
            left = way.side / 2.0
            enough = np.flatnonzero(tails.max(axis=0) <= left)
            people = float(starts[enough[0]]) if len(enough) else math.inf
        shifts.append(way.shift + people + math.log(cells / left) / rate)
    return min(shifts)


def quantile_of_cells(
    margin: object,
    raw: Floats,
    q: float,
    edges: Floats,
    assumption: Assumption,
    confidence: float,
) -> tuple[float, Bounds]:
    """A quantile of binned values, with its confidence interval.

    Proof: docs/proofs/quantiles.md (2).

    Args:
        margin: margin of the shares.
        raw: the noisy shares.
        q: order of the quantile, in (0, 1).
        edges: all ends of the bins.
        assumption: the assumption about the data.
        confidence: confidence level of the interval.

    Raises:
        KindError: no valid interval is known for the method that released the shares.
    """
    value = crossing(cumulative(raw), q, edges)
    if isinstance(margin, WeighedCells) and margin.weighing.keep is None:
        return value, _closed(margin, raw, q, edges, assumption, confidence)
    if isinstance(margin, RatioCells) and not isinstance(margin, TotalledCells):
        return value, _of_unknown_people(margin, q, edges, assumption, confidence)
    raise KindError(
        "quantile needs frequencies of bins with a known noise in each cell: this method has no "
        'proven interval. Publish them with method="auto", or call ep.quantile.'
    )
