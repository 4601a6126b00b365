"""Margins of quantiles: ranks that the data may have, turned into values by what was released."""

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


# How far sums of the noises of several cells go: bounds from above that are nearly exact.
#
# A cumulative share adds up cells, and their noises. The density f_j of the sum of j Laplace noises
# of scale 1 follows from those of j − 1 and j − 2 by a recursion of positive terms. All of them are
# symmetric and fall on either side of 0, and so do their products: sums over a grid that take each
# piece at its nearer end bound their tails from above. Derivation: docs/proofs/quantiles.md.

_POINTS: Final = 4096
"""Points of the grid on either side of 0."""

_BEYOND: Final = 1e-14
"""More than the probability of anything beyond the grid."""


class SumTail:
    """A bound on P(X > x) for a symmetric X that the density falls from: it is looked up on a grid.

    Args:
        step: of the grid.
        density: at 0, step, 2·step, …
    """

    def __init__(self, step: float, density: Floats) -> None:
        self._step = step
        self._last = len(density) - 1
        # From each point on, every piece at its nearer end; and every piece at its farther end.
        upper = np.cumsum(step * density[::-1])[::-1]
        over, under = np.minimum(upper + _BEYOND, 0.5), np.append(upper[1:], 0.0)
        # At −i·step it is one minus what is surely beyond i·step.
        self._table = np.concatenate([1.0 - under[:0:-1], over])

    def __call__(self, x: Floats) -> Floats:
        """A bound on P(X > x) for each x: that at the point of the grid below it."""
        at = np.clip(x / self._step, -self._last, self._last)
        found = self._table[np.floor(at).astype(np.int64) + self._last]
        return np.where(x < -self._last * self._step, 1.0, found)

    @property
    def pieces(self) -> tuple[Floats, Floats]:
        """Where pieces of the line begin, ascending, and bounds on P(X > that)."""
        starts = np.arange(-self._last, self._last + 1, dtype=np.float64)
        return self._step * starts, self._table


def closed_variance(cells: int, added: float) -> float:
    """The variance of the sum of some cells of a closed table of scale 1."""
    return added * (cells - added) * (2 * cells - 1) / (cells * (cells + 1))


@lru_cache(maxsize=64)
def closed_tail(cells: int, added: int) -> SumTail:
    """Of the sum of the noises of `added` cells of a closed table, ∝ e^{−Σ|z|} on Σz = 0.

    Its density is f_added·f_rest over that of all noises together at 0.

    Args:
        cells: how many there are in all.
        added: from 1 to one less.
    """
    step, densities = _densities(cells)
    return SumTail(step, densities[added] * densities[cells - added] / densities[cells, 0])


def open_tail(cells: int, added: int) -> SumTail:
    """Of the sum of the noises of `added` of so many cells, which are independent."""
    step, densities = _densities(cells)
    return SumTail(step, densities[added])


def open_exceeds(cells: int, added: int, first: float, x: float) -> float:
    """A bound on P(first·A − (1 − first)·B > x), A of `added` Laplace noises and B of all others.

    In each piece of the line the one of the larger part is at its end: Σ P(Y in the piece)·P(X > x
    − its end), summed by parts. It grows with every tail of Y, so that bounds on these do.

    Args:
        cells: how many noises of scale 1 there are in all.
        added: how many of them are in A, from 1 to one less.
        first: from 0 to 1.
        x: what is exceeded.
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
    """The grid, and on it f_j in the row j = 1, …, cells."""
    step = (80.0 + 9.0 * math.sqrt(2.0 * cells)) / _POINTS
    s = step * np.arange(_POINTS)
    found = np.zeros((cells + 1, _POINTS))
    found[1] = 0.5 * np.exp(-s)
    found[2] = 0.25 * (1.0 + s) * np.exp(-s)
    for j in range(2, cells):
        found[j + 1] = (2 * j - 1) / (2 * j) * found[j] + s * s / (4 * j * (j - 1)) * found[j - 1]
    return step, found


# Where a quantile may be, from noisy cumulative shares at the ends of bins.
#
# At an end e of a bin the true share F(e) of people below it is fixed. If the quantile q is above
# e, then F(e) < q; if it is below e, then F(e) ≥ q. So each end is tested by itself, at the share
# q, and no union over ends is needed: the range goes from the last of the ends in a row from the
# left that are surely below to the first of those in a row to the right that are surely above. It
# misses only if the test fails at one end on either side, which the data fix and no noise.
# Derivation: docs/proofs/quantiles.md.

_TINY: Final = 1e-150
"""Sums of squared weights below this are nothing that floats can divide by."""

Refutes: TypeAlias = Callable[[int, float], bool]
"""Whether noise and people explain that the sum of the first cells is off by so much only too
rarely."""


@dataclass(frozen=True, eq=False)
class Way:
    """One proof of how far a cumulative share may be from the truth, on one side.

    Attributes:
        shift: what is no chance, or was paid for apart.
        chances: of the people, as `SampleError.chances`; None if nothing but noise is random.
        side: the probability that is left for this side.
    """

    shift: float
    chances: tuple[Floats, Floats] | None
    side: float


def ways(weighing: Weighing, assumption: Assumption, q: float, beta: float) -> tuple[Way, ...]:
    """The proofs that an assumption allows: public facts may choose any of them.

    Args:
        weighing: of the cumulative shares; its scale is that of the noise of a cell.
        assumption: what is assumed about the data.
        q: the share that is tested.
        beta: the probability that either side misses.
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
        # The worst population has the share q below the end: with less, fewer are counted.
        drawn = SampleError(weighing, q * (1.0 - q)).chances
        return (Way(0.0, drawn, beta / 2.0),)
    part, rest = SAMPLING * beta, (1.0 - SAMPLING) * beta / 2.0
    coin = float(kearns_saul(np.array(q)))
    if assumption.anything:
        return (Way(bias + math.sqrt(2.0 * coin * math.log(2.0 / part) / n), None, rest),)
    # Budgets tell which of the two is smaller, so both samplings must hold at once.
    outer, own = sampling_reach(n, part / 2.0), hoeffding(weighing.square)
    apart = assumption.apart
    return Way(bias + outer, None, rest), Way(apart * (bias + outer), own, rest)


def chance(
    weighing: Weighing, cells: int, way: Way, added: int, off: float, *, outside: bool = False
) -> float:
    """A bound on the probability that people and noise put a sum of cells off by so much.

    Args:
        weighing: as above.
        cells: how many there are.
        way: the proof.
        added: how many of them are added up.
        off: by how much their share is on one side of the one that is tested, beside the shift.
        outside: whether some part of one more cell is added up with them, from none to all of it.
    """
    starts = np.zeros(1) if way.chances is None else way.chances[0]
    far = off - starts
    if weighing.scale <= 0.0:
        above = np.where(far < 0.0, 1.0, 0.0)
    else:
        noise = open_tail if weighing.closed is None else closed_tail
        above = noise(cells, added)(far / weighing.scale)
        if outside:
            # The quantiles of such noises are convex in their coefficients (Bobkov): a tail beyond
            # the middle is at most the larger one of none of the cell and of all of it.
            more = noise(cells, added + 1)(far / weighing.scale)
            above = np.where(far > 0.0, np.maximum(above, more), 1.0)
    if way.chances is None:
        return float(above[0])
    # S + z > off is S > x where z is off − x, cell by cell; in the first one S may be anything.
    masses = np.append(above[1:], 1.0) - above
    return float((way.chances[1] @ masses).max()) + float(above[0])


def reach(weighing: Weighing, cells: int, way: Way, added: int) -> float:
    """How far the sum of so many cells may be off on one side, by this proof."""
    if not math.isfinite(weighing.scale):
        return math.inf

    def excess(off: float) -> float:
        return chance(weighing, cells, way, added, off) - way.side

    return way.shift + least(excess, weighing.scale * math.sqrt(cells) + 1e-12)


def inverted(
    shares: Floats, q: float, edges: Floats, lower: Refutes, upper: Refutes
) -> tuple[float, float]:
    """The range of a quantile.

    Args:
        shares: the noisy share below each inner end of the bins, ascending.
        q: which quantile.
        edges: all ends of bins, one more than there are bins.
        lower: refutes that so many cells hold the quantile, being so much short of q.
        upper: refutes that the quantile is beyond so many cells, which hold so much more than q.
    """
    first, last = 0, len(edges) - 1
    while first < len(shares) and lower(first + 1, q - float(shares[first])):
        first += 1
    while last > first + 1 and upper(last - 1, float(shares[last - 2]) - q):
        last -= 1
    return float(edges[first]), float(edges[last])


def crossing(shares: Floats, q: float, edges: Floats) -> float:
    """The quantile as it was drawn: halfway between the first and the last crossing of q.

    Within a bin it is interpolated. It lies in every range that `inverted` gives.

    Args:
        shares: the noisy share below each inner end of the bins.
        q: which quantile.
        edges: all ends of bins, of which the outermost may be infinite.
    """
    whole = np.concatenate([[0.0], shares, [1.0]])
    reached = np.flatnonzero(whole[1:] >= q)
    first = int(reached[0]) if len(reached) else len(whole) - 2
    short = np.flatnonzero(whole[:-1] < q)
    last = int(short[-1]) if len(short) else 0
    return (_within(whole, q, edges, first) + _within(whole, q, edges, last)) / 2.0


def _within(whole: Floats, q: float, edges: Floats, bin_: int) -> float:
    """Where a bin is crossed; the finite end of one that is open."""
    lo, hi = float(edges[bin_]), float(edges[bin_ + 1])
    if math.isinf(lo) or math.isinf(hi):
        return hi if math.isinf(lo) else lo
    left, right = float(whole[bin_]), float(whole[bin_ + 1])
    part = (q - left) / (right - left) if right > left else 0.5
    return lo + min(max(part, 0.0), 1.0) * (hi - lo)


def cumulative(shares: Floats) -> Floats:
    """The noisy share below each inner end of bins, from the noisy shares of the bins."""
    return np.asarray(np.cumsum(shares)[:-1])


EVEN: Final = "forecast for values spread evenly over the range"
"""What the risk of a quantile is: over all data it would be the whole range."""

_FLOATS: Final = 1e-12
"""More than what floats put a cumulative share off."""

_TOTAL_SHARE: Final = 0.05
"""The part of the error probability that bounds an unknown total."""


class QuantilesMargin(Margin, ABC):
    """What margins of quantiles share."""

    kind: ClassVar[str | None] = EVEN
    staked: ClassVar[bool] = False
    quantiles: Floats

    @abstractmethod
    def values(self, bounds: Bounds) -> Floats:
        """The quantiles as they were drawn."""

    @abstractmethod
    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The range of the quantile at this place."""

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """A range that holds the first of them with at least this probability."""
        return self.one(0, bounds, assumption, confidence)

    def intervals(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """For each quantile by itself, a range that holds it."""
        places = range(len(self.quantiles))
        low, high = np.array([self.one(at, bounds, assumption, confidence) for at in places]).T
        return low, high

    def band(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Ranges that hold all quantiles at once."""
        each = 1.0 - (1.0 - confidence) / len(self.quantiles)
        return self.intervals(bounds, assumption, each)


def even(bounds: Bounds, cells: int) -> Floats:
    """The ends of so many bins of one width."""
    lo, hi = bounds
    return np.append(lo + (hi - lo) * (np.arange(cells) / cells), hi)


@storable("risk.TableQuantiles")
@dataclass(frozen=True, eq=False)
class TableQuantiles(QuantilesMargin):
    """The margin of quantiles that were read from a table of bins, of people who are public.

    Guarantee:
        Over all data that the assumption allows, each range, and the band as a whole, misses with a
        probability of at most 1 − confidence: docs/proofs/quantiles.md.

    Attributes:
        quantiles: which quantiles.
        cells: the margin of the table.
        drawn: the noisy shares of the bins.
    """

    quantiles: Floats
    cells: WeighedCells
    drawn: Floats

    def values(self, bounds: Bounds) -> Floats:
        """The quantiles as they were drawn."""
        shares, edges = cumulative(self.drawn), even(bounds, self.cells.cells)
        return np.array([crossing(shares, q, edges) for q in self.quantiles.tolist()])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The range of the quantile at this place."""
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
    """The range of a quantile, from a table of people who are public.

    Args:
        margin: of the table.
        drawn: the noisy shares of its cells.
        q: which quantile.
        edges: all ends of the bins.
        assumption: what is assumed about the data.
        confidence: of the range.
        outside: whether a last cell is of those who did not answer: a part q of it, and of its
            noise, is below every end.
    """
    weighing, cells = margin.weighing, margin.cells
    shares = cumulative(drawn[:-1]) + q * float(drawn[-1]) if outside else cumulative(drawn)
    if not math.isfinite(weighing.scale):
        return float(edges[0]), float(edges[-1])
    beta = 1.0 - confidence
    if weighing.scale > 0.0:  # a lattice has no more than this of what is said of noise without one
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
    """The margin of quantiles of those who answered, from a table of people who are public.

    A last cell is of those who did not. The quantile q of the others is that of all people if a
    part q of that cell is counted below every value: so no ratio is taken.

    Guarantee:
        As of `TableQuantiles`, whoever answered.

    Attributes:
        quantiles: which quantiles.
        cells: the margin of the table, the last cell included.
        drawn: the noisy shares of the bins, and of those who did not answer.
    """

    quantiles: Floats
    cells: WeighedCells
    drawn: Floats

    def values(self, bounds: Bounds) -> Floats:
        """The quantiles as they were drawn."""
        inner = self.drawn[:-1]
        answered, edges = 1.0 - float(self.drawn[-1]), even(bounds, len(inner))
        found = []
        for q in self.quantiles.tolist():
            below = cumulative(inner) + q * float(self.drawn[-1])
            shares = cumulative(inner / answered) if answered > 0.0 else below
            found.append(crossing(shares, q, edges))
        return np.array(found)

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The range of the quantile at this place."""
        q, edges = float(self.quantiles[at]), even(bounds, len(self.drawn) - 1)
        given = (self.cells, self.drawn, q, edges, assumption.of_some, confidence)
        return _closed(*given, outside=True)


@storable("risk.OpenQuantiles")
@dataclass(frozen=True, eq=False)
class OpenQuantiles(QuantilesMargin):
    """The margin of quantiles that were read from a table of bins, of an unknown number of people.

    Guarantee:
        As of `TableQuantiles`, for every number of people.

    Attributes:
        quantiles: which quantiles.
        cells: the margin of the table, with what was drawn.
    """

    quantiles: Floats
    cells: RatioCells

    def values(self, bounds: Bounds) -> Floats:
        """The quantiles as they were drawn; the middle if nobody seems to be there."""
        drawn, total = self.cells.drawn, self.cells.total
        if total <= 0.0:
            return np.full(len(self.quantiles), bounds[0] / 2.0 + bounds[1] / 2.0)
        shares, edges = cumulative(drawn / total), even(bounds, len(drawn))
        return np.array([crossing(shares, q, edges) for q in self.quantiles.tolist()])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The range of the quantile at this place."""
        edges = even(bounds, len(self.cells.drawn))
        return _open(self.cells, float(self.quantiles[at]), edges, assumption, confidence)


def _open(
    margin: RatioCells, q: float, edges: Floats, assumption: Assumption, confidence: float
) -> Bounds:
    """The range of a quantile, from noisy counts of an unknown number of people.

    At the end of a bin below which the share is p, (1 − p)·(people below) − p·(all others) sums to
    nothing but noise, and what a sample is off by. So no ratio is taken.
    """
    cells, total = len(margin.drawn), margin.total
    largest, apart, rest = margin.asked(assumption, confidence)
    side, given = (1.0 - rest) / 2.0, float(cells)  # a lattice point of each noise
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
    """The margin of quantiles that were selected, each between two that are farther out.

    Guarantee:
        As of `TableQuantiles`. An end that was aimed too near for a confidence is a bound.

    Attributes:
        quantiles: which quantiles.
        weighing: the weights of people in ranks; its scale says nothing.
        cells: how many candidates there are.
        picks: for one quantile after the other its candidate, that of the one below it and that
            of the one above it; −1 for one that was not selected.
        gaps: for one after the other, how much of the weight lies between it and the two.
        rate: by how much a rank of all the weight lowers the logarithm of a chance at the ends.
    """

    quantiles: Floats
    weighing: Weighing
    cells: int
    picks: Integers
    gaps: Floats
    rate: float

    def values(self, bounds: Bounds) -> Floats:
        """The middles of the candidates that were selected, within their neighbours."""
        edges = even(bounds, self.cells)
        middles = (edges[:-1] + edges[1:]) / 2.0
        own, low, high = self.picks.reshape(-1, 3).T
        least = np.where(low >= 0, low, 0)
        most = np.maximum(np.where(high >= 0, high, self.cells - 1), least)
        return np.asarray(middles[np.clip(own, least, most)])

    def one(self, at: int, bounds: Bounds, assumption: Assumption, confidence: float) -> Bounds:
        """The range of the quantile at this place."""
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
    """How far out of a quantile another must be aimed, to be on its side but for β/2.

    A candidate beyond the quantile is farther from what was sought by the gap, less what the ranks
    of the weights may be off: P ≤ cells·e^{−rate·(gap − off)}.

    Args:
        weighing: the weights of people.
        assumption: what is assumed about the data.
        q: which quantile.
        beta: the probability that either side misses.
        cells: how many candidates there are.
        rate: by how much a rank of all the weight lowers the logarithm of a chance.
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
    """A quantile of values in bins, with its range.

    Args:
        margin: of the shares.
        raw: the shares as they were drawn.
        q: which quantile.
        edges: all ends of the bins.
        assumption: what is assumed about the data.
        confidence: of the range.

    Raises:
        KindError: no range is proven for shares that were drawn in this way.
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
