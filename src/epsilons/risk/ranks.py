"""Where a quantile may be, from noisy cumulative shares at the ends of bins.

At an end e of a bin the true share F(e) of people below it is fixed. If the quantile q is above e,
then F(e) < q; if it is below e, then F(e) ≥ q. So each end is tested by itself, at the share q, and
no union over ends is needed: the range goes from the last of the ends in a row from the left that
are surely below to the first of those in a row to the right that are surely above. It misses only
if the test fails at one end on either side, which the data fix and no noise.
Derivation: docs/proofs/quantiles.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from epsilons.risk.assumptions import Assumption
from epsilons.risk.mean import SAMPLING, permutation_proxy, sampling_reach
from epsilons.risk.partial import closed_tail, open_tail
from epsilons.risk.sampled import Sampled, hoeffding
from epsilons.risk.tails import kearns_saul, least
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats

__all__ = ["Way", "chance", "crossing", "cumulative", "inverted", "reach", "ways"]

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
        chances: of the people, as `Sampled.chances`; None if nothing but noise is random.
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
        drawn = Sampled(weighing, q * (1.0 - q)).chances
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
