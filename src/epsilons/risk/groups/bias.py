"""Bounds on the bias of a private group's weighted mean, if budgets are related to values.

Membership in a group is private, and only the approximate total weight of its people is known. So
the worst-case bias is a maximum over all possible groups. It is a linear program, and every dual
feasible point gives an upper bound. Data are on a unit range.
Proof: docs/proofs/groups.md (12), (21).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from epsilons.risk.tails.combined import EDGES, PARTS
from epsilons.types import Floats, Integers

_NODES: Final = 24
"""Largest number of distinct weights that are used exactly. If there are more, they are merged."""

_BETWEEN: Final = 24
"""Number of dual prices α of a person that are tried, besides the weights themselves."""

_TOGETHER: Final = 2**21
"""Number of array entries that are processed in one batch."""

_LEANS: Final = np.linspace(0.0, 1.0, 17)
_PRICES: Final = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Dual prices that are tried for a pair of groups, as fractions of the largest useful price."""

_SPLITS: Final = 240
"""Largest number of splits in the branch-and-bound search over average weights."""

_NEAR: Final = 0.005
"""Boxes with sides below this fraction of the largest weight are not split."""

Range = tuple[float, float]


def few(weights: Floats, counts: Floats | Integers, most: int = _NODES) -> tuple[Floats, Floats]:
    """Merge weights into at most `most` nodes without making any bound smaller.

    Bounds are sums over people of convex functions of their weight. So a person between two nodes
    can be split between both nodes, with fractions that preserve the total weight.
    Proof: docs/proofs/groups.md (12).
    """
    there = counts > 0
    order = np.argsort(weights[there], kind="stable")
    weights = weights[there][order]
    people = np.asarray(counts[there][order], dtype=np.float64)
    if len(weights) <= most:
        return weights, people
    positive = weights[weights > 0.0]
    nodes = np.geomspace(positive[0], positive[-1], most - 1)
    nodes[0], nodes[-1] = positive[0], positive[-1]
    if weights[0] <= 0.0:
        nodes = np.append(0.0, nodes)
    at = np.clip(np.searchsorted(nodes, weights, side="right") - 1, 0, len(nodes) - 2)
    part = (weights - nodes[at]) / (nodes[at + 1] - nodes[at])
    found = np.bincount(at, people * (1.0 - part), len(nodes))
    found += np.bincount(at + 1, people * part, len(nodes))
    used = found > 0.0
    return np.asarray(nodes[used]), np.asarray(found[used], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Leaning:
    """Upper bound on Σ w·u·(x − m) over people with these weights, if Σ u·(x − m) is 0.

    Here m is the group's mean. Each person's membership u and value x can be any numbers in [0, 1].
    The dual variables are a price α of a person and a price γ ≥ 0 of weight. The sum is at most

        γ·W + Σ max(0, (1 − m)(w − α) − γw, −m(w − α) − γw),     W ≥ Σ w·u.

    Proof: docs/proofs/groups.md (12).

    Attributes:
        weights: weight of a person at each level.
        counts: number of people at each level, or an upper bound on it.
        price: a fixed α. The bound is then on Σ (w − α)·u·(x − m), without a condition on Σ u·(x −
            m).
    """

    weights: Floats
    counts: Floats | Integers
    price: float | None = None

    def most(self, shares: Floats) -> Floats:
        """Bound on the upward bias for each group weight W and each bin of means."""
        base, prices = self._dual
        found = np.empty((len(shares), PARTS))
        step = max(_TOGETHER // base.size, 1)
        for start in range(0, len(shares), step):
            some = shares[start : start + step, None, None]
            found[start : start + step] = (base + prices * some).min(axis=2)
        if self.price is None:
            found = np.minimum(found, shares[:, None] * self.alone)
        return found

    @cached_property
    def alone(self) -> Floats:
        """The largest bias of any group of total weight 1, for each bin of means.

        If the largest weight is ρ times the smallest, it is m(1 − m)(ρ − 1)/(1 + m(ρ − 1)). The
        worst case gives heavy people the value 1 and light people 0. The expression increases up to
        m = 1/(√ρ + 1).
        Proof: docs/proofs/groups.md (12).
        """
        there = self.weights[self.counts > 0]
        if not there.min() > 0.0:
            return 1.0 - EDGES[:-1]
        times = float(there.max() / there.min())
        m = np.clip(1.0 / (times**0.5 + 1.0), EDGES[:-1], EDGES[1:])
        return np.asarray(m * (1.0 - m) * (times - 1.0) / (1.0 + m * (times - 1.0)))

    @cached_property
    def _dual(self) -> tuple[Floats, Floats]:
        """The sum over people, and the price γ, for each bin of means and each pair of prices.

        For given prices the bound is convex in m, so its maximum is at an end of the bin.
        """
        weights, counts = few(self.weights, self.counts)
        if self.price is None:
            low = weights[weights > 0.0][0] if weights[-1] > 0.0 else 1.0
            between = np.geomspace(low, max(weights[-1], low), _BETWEEN)
            alphas = np.unique(np.concatenate([weights, between]))
        else:
            alphas = np.array([self.price])
        middle = 0.5 * (EDGES[:-1] + EDGES[1:])[:, None, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            over = 1.0 - alphas[:, None] / weights
        at = np.maximum((1.0 - middle) * over, -middle * over)  # the γ above which a level adds 0
        at = np.where(np.isfinite(at), at, 0.0)
        prices = np.concatenate([np.zeros((*at.shape[:2], 1)), at], axis=2)
        base = np.zeros(prices.shape)
        for ends in (EDGES[:-1, None, None], EDGES[1:, None, None]):
            total = np.zeros(prices.shape)
            for weight, count in zip(weights.tolist(), counts.tolist(), strict=True):
                off = (weight - alphas)[None, :, None]
                gain = np.maximum((1.0 - ends) * off, -ends * off) - prices * weight
                total += count * np.maximum(gain, 0.0)
            base = np.maximum(base, total)
        return base.reshape(PARTS, -1), prices.reshape(PARTS, -1)


def apart(
    weights: Floats,
    counts: Floats | Integers,
    shares: tuple[Range, Range],
    times: tuple[float, float],
) -> float:
    """Bound on the sum of two groups' biases, if means at different budgets differ by at most 1.

    The bias of a group's weighted mean is at most half the ℓ1 distance between its people's weights
    and equal weights. The groups are disjoint, so light people in one group are not available to
    the other. A branch-and-bound search splits boxes of the two average weights where the bound is
    largest.
    Proof: docs/proofs/groups.md (21).

    Args:
        weights: weight of a person at each level; all people's weights sum to one.
        counts: number of people at each level.
        shares: lower and upper bound on the total weight of each group.
        times: factor on the bias of each group.
    """
    heavy, people = few(weights, counts, _NODES // 2)
    n = float(people.sum())
    pair = _Pair(heavy * n, people / n, shares, times)
    low, high = float(pair.weights[0]), float(pair.weights[-1])
    if high - low <= 1e-12 * high:
        return 0.0
    first: _Box = ((low, high), (low, high))
    queue = [(-pair.bound(first), first)]
    for _ in range(_SPLITS):
        bound, box = queue[0]
        wide = [(b - a) / high for a, b in box]
        if max(wide) < _NEAR:
            break
        heapq.heappop(queue)
        side = int(wide[1] > wide[0])
        a, b = box[side]
        for half in ((a, (a + b) / 2.0), ((a + b) / 2.0, b)):
            each = (half, box[1]) if side == 0 else (box[0], half)
            if pair.possible(each):  # the bound of the enclosing box also holds for each half
                heapq.heappush(queue, (max(-pair.bound(each), bound), each))
        if not queue:
            return -bound
    return -queue[0][0]


_Box = tuple[Range, Range]


class _Gains(NamedTuple):
    """Contributions of people at each level to the bound for a group, by dual prices.

    Attributes:
        each: contribution of one person at each level, for the lowest and highest average weight.
        alone: contribution of all people if there were no other group, at the worse of both ends.
        cost: cost of the prices (the term outside the sum over people).
        best: minimum of `alone` plus `cost`.
    """

    each: Floats
    alone: Floats
    cost: Floats
    best: float


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two disjoint groups of people.

    Attributes:
        weights: weight of a person at each level, in units of the average weight.
        people: share of all people at each level.
        shares: lower and upper bound on the total weight of each group.
        times: factor on the bias of each group.
        known: cached results, by group and average weights.
    """

    weights: Floats
    people: Floats
    shares: tuple[Range, Range]
    times: tuple[float, float]
    known: dict[tuple[int, Range], _Gains] = field(default_factory=dict)

    def possible(self, box: _Box) -> bool:
        """Whether two groups with these average weights are possible in this population.

        A group of total weight W and average weight a contains the fraction W/a of all people.
        """
        least = sum(share[0] / a[1] for share, a in zip(self.shares, box, strict=True))
        lightest = min(a[0] for a in box)
        if least > 1.0 + 1e-9:
            return False
        rest = max(1.0 - sum(share[0] for share in self.shares), 0.0)
        if not self.weights[0] > 0.0 or not lightest > 0.0:
            return True
        most = sum(share[1] / a[0] for share, a in zip(self.shares, box, strict=True))
        return most + rest / float(self.weights[0]) >= 1.0 - 1e-9

    def bound(self, box: _Box) -> float:
        """Bound for all average weights in a box: the smallest over the prices that are tried.

        For given prices the bound is convex in both average weights, so its maximum is at a corner.
        The contribution of people is at least their contribution to either group alone, and at most
        the sum of both. This excludes most prices without further computation.
        Proof: docs/proofs/groups.md (21).
        """
        one, other = (self._gains(side, box[side]) for side in (0, 1))
        enough = (one.best + other.best) * (1.0 + 1e-12)
        i = np.flatnonzero(np.maximum(one.alone, other.best) + one.cost <= enough)
        j = np.flatnonzero(np.maximum(other.alone, one.best) + other.cost <= enough)
        together = one.cost[i, None] + other.cost[j]
        least = np.maximum(one.alone[i, None], other.alone[j]) + together
        first, second = np.nonzero(least <= enough)
        gain = np.maximum(one.each[:, None, i[first]], other.each[None, :, j[second]])
        worst = (np.maximum(gain, 0.0) @ self.people).max(axis=(0, 1))
        return float((worst + together[first, second]).min())

    def _gains(self, side: int, ends: Range) -> _Gains:
        """Cached contributions of people to a group, by dual prices."""
        if (side, ends) not in self.known:
            self.known[side, ends] = self._gained(side, ends)
        return self.known[side, ends]

    def _gained(self, side: int, ends: Range) -> _Gains:
        (least, most), times = self.shares[side], self.times[side]
        off = self.weights - np.array(ends)[:, None, None]
        found = times / least * (np.maximum(off, 0.0) - _LEANS[:, None] * off)
        heaviest = np.maximum(self.weights, 1e-12 * self.weights[-1])
        top = (np.maximum(*found) / heaviest).max(axis=1)
        prices = (_PRICES * top[:, None]).reshape(-1)
        each = np.repeat(found, len(_PRICES), axis=1) - prices[:, None] * self.weights
        alone = (np.maximum(each, 0.0) @ self.people).max(axis=0)
        cost = prices * most
        return _Gains(each, alone, cost, float((alone + cost).min()))
