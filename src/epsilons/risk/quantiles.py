"""Margins of quantiles: ranks that the data may have, turned into values by what was released."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from epsilons.errors import KindError
from epsilons.frozen import storable
from epsilons.risk import ratio
from epsilons.risk.assumptions import Assumption
from epsilons.risk.margins import Bounds, Margin, RatioCells
from epsilons.risk.mean import SAMPLING
from epsilons.risk.partial import open_exceeds
from epsilons.risk.ranks import chance, crossing, cumulative, inverted, reach, ways
from epsilons.risk.totalled import TotalledCells
from epsilons.risk.weighed_cells import WeighedCells
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats, Integers

__all__ = [
    "OpenQuantiles",
    "QuantilesMargin",
    "SelectedQuantiles",
    "TableQuantiles",
    "quantile_of_cells",
    "selection_shift",
]

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
