"""Margins of quantiles: tests of ranks, turned into intervals of values."""

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
from epsilons.risk import ratio
from epsilons.risk.margins import Bounds, Margin, RatioCells
from epsilons.risk.mean import SAMPLING, SampleError, hoeffding, permutation_proxy, sampling_reach
from epsilons.risk.shares import TotalledCells, WeighedCells
from epsilons.risk.tails.laplace import kearns_saul, least
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats, Integers

__all__ = [
    "OpenQuantiles",
    "QuantilesMargin",
    "SelectedQuantiles",
    "SumTail",
    "TableQuantiles",
    "Way",
    "chance",
    "closed_tail",
    "closed_variance",
    "crossing",
    "cumulative",
    "inverted",
    "open_exceeds",
    "open_tail",
    "quantile_of_cells",
    "reach",
    "selection_shift",
    "ways",
]


# Tails of sums of the noises of several cells: upper bounds that are nearly exact.
#
# A cumulative share adds up cells, and their noises. The density f_j of the sum of j Laplace noises
# of scale 1 follows from f_{j−1} and f_{j−2} by a recursion with positive terms. All f_j are
# symmetric and decrease on either side of 0, and so do their products. So a sum over a grid, with
# each piece evaluated at its nearer end, bounds a tail from above.
# Proof: docs/proofs/quantiles.md (4).

_POINTS: Final = 4096
"""Number of grid points on either side of 0."""

_BEYOND: Final = 1e-14
"""Upper bound on the probability beyond the grid."""


class SumTail:
    """Bound on P(X > x) for symmetric unimodal X, from a grid. Proof: docs/proofs/quantiles.md (4).

    Args:
        step: step of the grid.
        density: of X at 0, step, 2·step, …
    """

    def __init__(self, step: float, density: Floats) -> None:
        self._step = step
        self._last = len(density) - 1
        # `over` takes every piece beyond a point at its nearer end, `under` at its farther end.
        upper = np.cumsum(step * density[::-1])[::-1]
        over, under = np.minimum(upper + _BEYOND, 0.5), np.append(upper[1:], 0.0)
        # At −i·step: one minus a lower bound on the tail beyond i·step.
        self._table = np.concatenate([1.0 - under[:0:-1], over])

    def __call__(self, x: Floats) -> Floats:
        """Bound on P(X > x) for each x: the one at the grid point below it."""
        at = np.clip(x / self._step, -self._last, self._last)
        found = self._table[np.floor(at).astype(np.int64) + self._last]
        return np.where(x < -self._last * self._step, 1.0, found)

    @property
    def pieces(self) -> tuple[Floats, Floats]:
        """Starts x of the pieces of the line, ascending, and bounds on P(X > x)."""
        starts = np.arange(-self._last, self._last + 1, dtype=np.float64)
        return self._step * starts, self._table


def closed_variance(cells: int, added: float) -> float:
    """The variance of the sum of some cells of a closed table of scale 1."""
    return added * (cells - added) * (2 * cells - 1) / (cells * (cells + 1))


@lru_cache(maxsize=64)
def closed_tail(cells: int, added: int) -> SumTail:
    """The tail of the sum of `added` cells of a closed table, ∝ e^{−Σ|z|} on Σz = 0.

    Its density is f_added·f_rest, divided by the density at 0 of the sum of all noises.
    Proof: docs/proofs/quantiles.md (4).

    Args:
        cells: number of all cells.
        added: number of cells in the sum, from 1 to cells − 1.
    """
    step, densities = _densities(cells)
    return SumTail(step, densities[added] * densities[cells - added] / densities[cells, 0])


def open_tail(cells: int, added: int) -> SumTail:
    """The tail of the sum of `added` independent noises. Proof: docs/proofs/quantiles.md (4)."""
    step, densities = _densities(cells)
    return SumTail(step, densities[added])


def open_exceeds(cells: int, added: int, first: float, x: float) -> float:
    """Bound on P(first·A − (1 − first)·B > x), A a sum of `added` Laplace noises, B of the rest.

    The variable with the smaller coefficient, Y, is divided into pieces: Σ P(Y in the piece)·P(X >
    x − its end), summed by parts. The sum grows with every tail of Y, so upper bounds on these give
    an upper bound. Proof: docs/proofs/quantiles.md (4).

    Args:
        cells: number of all noises, of scale 1.
        added: number of noises in A, from 1 to cells − 1.
        first: in [0, 1].
        x: the number to exceed.
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
    """The step of the grid, and f_j on the grid in row j = 1, …, cells."""
    step = (80.0 + 9.0 * math.sqrt(2.0 * cells)) / _POINTS
    s = step * np.arange(_POINTS)
    found = np.zeros((cells + 1, _POINTS))
    found[1] = 0.5 * np.exp(-s)
    found[2] = 0.25 * (1.0 + s) * np.exp(-s)
    for j in range(2, cells):
        found[j + 1] = (2 * j - 1) / (2 * j) * found[j] + s * s / (4 * j * (j - 1)) * found[j - 1]
    return step, found


# Intervals of a quantile, from noisy cumulative shares at the ends of bins.
#
# At an end e of a bin the true share F(e) of people below it is fixed. If the q quantile is above
# e, then F(e) < q; if it is below e, then F(e) ≥ q. So each end is tested separately at the share
# q, without a union bound over ends. From the left, the interval starts at the last of the
# consecutive ends at which F(e) ≥ q is rejected; from the right, it stops at the last of the
# consecutive ends at which F(e) < q is rejected. It misses only if the test fails at one particular
# end on either side, which depends on the data and not on the noise.
# Proof: docs/proofs/quantiles.md (2).

_TINY: Final = 1e-150
"""Sums of squared weights below this are too small to divide by."""

Refutes: TypeAlias = Callable[[int, float], bool]
"""Whether this error of the sum of the first cells is too improbable for noise and sampling."""


@dataclass(frozen=True, eq=False)
class Way:
    """One proof that bounds the one-sided error of a cumulative share.

    Proof: docs/proofs/quantiles.md (2).

    Attributes:
        shift: the part of the error that is not random, or has its own part of the error
            probability.
        chances: tails of the sampling error, as `SampleError.chances`; None if only noise is
            random.
        side: the error probability that is left for this side.
    """

    shift: float
    chances: tuple[Floats, Floats] | None
    side: float


def ways(weighing: Weighing, assumption: Assumption, q: float, beta: float) -> tuple[Way, ...]:
    """The proofs that an assumption allows; public facts may choose any.

    Proof: docs/proofs/quantiles.md (2).

    Args:
        weighing: of the cumulative shares; its scale is that of the noise of a cell.
        assumption: what is assumed about the data.
        q: the share that is tested.
        beta: probability that either side misses.
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
        # The worst population has exactly the share q below the end.
        drawn = SampleError(weighing, q * (1.0 - q)).chances
        return (Way(0.0, drawn, beta / 2.0),)
    part, rest = SAMPLING * beta, (1.0 - SAMPLING) * beta / 2.0
    coin = float(kearns_saul(np.array(q)))
    if assumption.anything:
        return (Way(bias + math.sqrt(2.0 * coin * math.log(2.0 / part) / n), None, rest),)
    # Budgets determine which of the two is smaller, so both sampling events must hold at once.
    outer, own = sampling_reach(n, part / 2.0), hoeffding(weighing.square)
    apart = assumption.apart
    return Way(bias + outer, None, rest), Way(apart * (bias + outer), own, rest)


def chance(
    weighing: Weighing, cells: int, way: Way, added: int, off: float, *, outside: bool = False
) -> float:
    """Bound on the probability of an error above `off` in a sum of cells, on one side.

    Proof: docs/proofs/quantiles.md (2), (6).

    Args:
        weighing: as above.
        cells: number of cells.
        way: the proof.
        added: number of cells in the sum.
        off: one-sided error of their share, without the shift.
        outside: whether a part of one more cell, anything from none to all of it, is added.
    """
    starts = np.zeros(1) if way.chances is None else way.chances[0]
    far = off - starts
    if weighing.scale <= 0.0:
        above = np.where(far < 0.0, 1.0, 0.0)
    else:
        noise = open_tail if weighing.closed is None else closed_tail
        above = noise(cells, added)(far / weighing.scale)
        if outside:
            # Quantiles of such noises are convex in the coefficients (Bobkov). So a tail beyond 0
            # is at most the larger of those with none and with all of the cell.
            more = noise(cells, added + 1)(far / weighing.scale)
            above = np.where(far > 0.0, np.maximum(above, more), 1.0)
    if way.chances is None:
        return float(above[0])
    # S + z > off means S > x where z = off − x: sum over cells of x, with P ≤ 1 below the first.
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
    """The interval of a quantile, from a test at each end of a bin.

    Proof: docs/proofs/quantiles.md (2).

    Args:
        shares: the noisy share below each inner end of the bins, in order.
        q: which quantile.
        edges: all ends of bins, one more than there are bins.
        lower: rejects that the quantile lies in the first so many cells, given q minus their share.
        upper: rejects that the quantile lies beyond so many cells, given their share minus q.
    """
    first, last = 0, len(edges) - 1
    while first < len(shares) and lower(first + 1, q - float(shares[first])):
        first += 1
    while last > first + 1 and upper(last - 1, float(shares[last - 2]) - q):
        last -= 1
    return float(edges[first]), float(edges[last])


def crossing(shares: Floats, q: float, edges: Floats) -> float:
    """The drawn quantile: halfway between the first and the last crossing of q.

    Within a bin it is interpolated. It lies in every interval from `inverted`.

    Args:
        shares: the noisy share below each inner end of the bins.
        q: which quantile.
        edges: all ends of bins; the outermost may be infinite.
    """
    whole = np.concatenate([[0.0], shares, [1.0]])
    reached = np.flatnonzero(whole[1:] >= q)
    first = int(reached[0]) if len(reached) else len(whole) - 2
    short = np.flatnonzero(whole[:-1] < q)
    last = int(short[-1]) if len(short) else 0
    return (_within(whole, q, edges, first) + _within(whole, q, edges, last)) / 2.0


def _within(whole: Floats, q: float, edges: Floats, bin_: int) -> float:
    """The point at which q is crossed within a bin; the finite end of an unbounded bin."""
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
"""Description of the risk of a quantile; its worst case over all data would be the whole range."""

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
        """The share of people at or below each of the numbers."""
        return tuple(self.quantiles.tolist())

    @abstractmethod
    def values(self, bounds: Bounds) -> Floats:
        """The drawn quantiles."""

    @abstractmethod
    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The interval of the quantile at this index."""

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """The interval of the first quantile."""
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
    """The margin of quantiles from a table of bins, for people whose budgets are public.

    Guarantee:
        For all data that the assumption allows, each interval, and the band as a whole, misses with
        probability at most 1 − confidence. Proof: docs/proofs/quantiles.md (2).

    Attributes:
        quantiles: which quantiles.
        cells: the margin of the table.
        drawn: the noisy shares of the bins.
    """

    quantiles: Floats
    cells: WeighedCells
    drawn: Floats

    def values(self, bounds: Bounds) -> Floats:
        """The drawn quantiles."""
        shares, edges = cumulative(self.drawn), even(bounds, self.cells.cells)
        return np.array([crossing(shares, q, edges) for q in self.quantiles.tolist()])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The interval of the quantile at this index."""
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
    """The interval of a quantile from a table, for people whose budgets are public.

    Proof: docs/proofs/quantiles.md (2), (6).

    Args:
        margin: of the table.
        drawn: the noisy shares of its cells.
        q: which quantile.
        edges: all ends of the bins.
        assumption: what is assumed about the data.
        confidence: of the interval.
        outside: whether the last cell holds those who did not answer: a part q of it, and of its
            noise, counts as below every end.
    """
    weighing, cells = margin.weighing, margin.cells
    shares = cumulative(drawn[:-1]) + q * float(drawn[-1]) if outside else cumulative(drawn)
    if not math.isfinite(weighing.scale):
        return float(edges[0]), float(edges[-1])
    beta = 1.0 - confidence
    if weighing.scale > 0.0:  # factor between probabilities on the lattice and in the continuum
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
    """The margin of quantiles of those who answered, from a table of people with public budgets.

    The last cell holds those who did not answer. The q quantile of the others is that of all people
    if a part q of that cell counts as below every value, so no ratio is needed.

    Guarantee:
        That of `TableQuantiles`, regardless of who answered. Proof: docs/proofs/quantiles.md (6).

    Attributes:
        quantiles: which quantiles.
        cells: the margin of the table, including the last cell.
        drawn: the noisy shares of the bins, and of those who did not answer.
    """

    quantiles: Floats
    cells: WeighedCells
    drawn: Floats

    def values(self, bounds: Bounds) -> Floats:
        """The drawn quantiles."""
        inner = self.drawn[:-1]
        answered, edges = 1.0 - float(self.drawn[-1]), even(bounds, len(inner))
        found = []
        for q in self.quantiles.tolist():
            below = cumulative(inner) + q * float(self.drawn[-1])
            shares = cumulative(inner / answered) if answered > 0.0 else below
            found.append(crossing(shares, q, edges))
        return np.array(found)

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The interval of the quantile at this index."""
        q, edges = float(self.quantiles[at]), even(bounds, len(self.drawn) - 1)
        given = (self.cells, self.drawn, q, edges, assumption.of_some, confidence)
        return _closed(*given, outside=True)


@storable("risk.OpenQuantiles")
@dataclass(frozen=True, eq=False)
class OpenQuantiles(QuantilesMargin):
    """The margin of quantiles from a table of bins, for an unknown number of people.

    Guarantee:
        That of `TableQuantiles`, for every number of people. Proof: docs/proofs/quantiles.md (2).

    Attributes:
        quantiles: which quantiles.
        cells: the margin of the table, with what was drawn.
    """

    quantiles: Floats
    cells: RatioCells

    def values(self, bounds: Bounds) -> Floats:
        """The drawn quantiles; the middle of the range if the noisy total is not positive."""
        drawn, total = self.cells.drawn, self.cells.total
        if total <= 0.0:
            return np.full(len(self.quantiles), bounds[0] / 2.0 + bounds[1] / 2.0)
        shares, edges = cumulative(drawn / total), even(bounds, len(drawn))
        return np.array([crossing(shares, q, edges) for q in self.quantiles.tolist()])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The interval of the quantile at this index."""
        edges = even(bounds, len(self.cells.drawn))
        return _open(self.cells, float(self.quantiles[at]), edges, assumption, confidence)


def _open(
    margin: RatioCells, q: float, edges: Floats, assumption: Assumption, confidence: float
) -> Bounds:
    """The interval of a quantile, from noisy counts of an unknown number of people.

    At the end of a bin with a share p below it, (1 − p)·(count below) − p·(count of the others) is
    only noise and sampling error. So no ratio is needed. Proof: docs/proofs/quantiles.md (2).
    """
    cells, total = len(margin.drawn), margin.total
    largest, apart, rest = margin.asked(assumption, confidence)
    side, given = (1.0 - rest) / 2.0, float(cells)  # one lattice point for each noise
    if largest > 0.0:
        about = ratio.quantile(
            ratio.OwnTotal(margin.scale, cells).noise, (1.0 - rest) * _TOTAL_SHARE / 2.0
        )
        sigma = math.sqrt(largest * max(total + about, 0.0)) / 2.0
        part = (1.0 - rest) * SAMPLING
        given += sigma * math.sqrt(2.0 * math.log(2.0 / part))
        side = (1.0 - rest) * (1.0 - SAMPLING - _TOTAL_SHARE) / 2.0
    below = np.cumsum(margin.drawn)[:-1]

    def refutes(p: float, sign: float, added: int) -> bool:
        if not 0.0 < p < 1.0:
            return False
        off = sign * ((1.0 - p) * float(below[added - 1]) - p * (total - float(below[added - 1])))
        far = off - given
        return far > 0.0 and open_exceeds(cells, added, 1.0 - p, far / margin.scale) <= side

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
    """The margin of selected quantiles, each between two selections that are farther out.

    Guarantee:
        That of `TableQuantiles`. If the gap of an end is too small for a confidence, that end is a
        bound of the range. Proof: docs/proofs/quantiles.md (3).

    Attributes:
        quantiles: which quantiles.
        weighing: the weights of people in ranks; its scale is not used.
        cells: number of candidates.
        picks: for each quantile in turn, the selected candidate, the one below and the one above
            it; −1 for one that was not selected.
        gaps: for each quantile in turn, the share of the weight between it and the other two.
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
        """The interval of the quantile at this index."""
        edges, q, beta = even(bounds, self.cells), float(self.quantiles[at]), 1.0 - confidence
        needed = selection_shift(self.weighing, assumption, q, beta, self.cells, self.rate)
        ends = [bounds[0], bounds[1]]
        for side in (0, 1):
            pick = int(self.picks[3 * at + 1 + side])
            if pick >= 0 and float(self.gaps[2 * at + side]) >= needed:
                ends[side] = float(edges[pick + side])
        return min(ends), max(ends)


def selection_shift(
    weighing: Weighing, assumption: Assumption, q: float, beta: float, cells: int, rate: float
) -> float:
    """The gap in rank at which an outer selection is on its side of q, except with probability β/2.

    A candidate beyond the quantile is farther from the sought rank by at least gap − off, where off
    is the error of weighted ranks: P ≤ cells·e^{−rate·(gap − off)}.
    Proof: docs/proofs/quantiles.md (3).

    Args:
        weighing: the weights of people.
        assumption: what is assumed about the data.
        q: which quantile.
        beta: probability that either side misses.
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
    """A quantile of binned values, with its interval. Proof: docs/proofs/quantiles.md (2).

    Args:
        margin: of the shares.
        raw: the drawn shares.
        q: which quantile.
        edges: all ends of the bins.
        assumption: what is assumed about the data.
        confidence: of the interval.

    Raises:
        KindError: no interval is proven for shares that were drawn in this way.
    """
    value = crossing(cumulative(raw), q, edges)
    if isinstance(margin, WeighedCells) and margin.weighing.keep is None:
        return value, _closed(margin, raw, q, edges, assumption, confidence)
    if isinstance(margin, RatioCells) and not isinstance(margin, TotalledCells):
        return value, _open(margin, q, edges, assumption, confidence)
    raise KindError(
        "quantile is for frequencies of bins whose noises are known cell by cell: no range is "
        'proven for this method. Publish them with method="auto", or ask ep.quantile.'
    )
