"""Bounds on the test statistic T of a group's mean, for all data.

A hypothetical mean m of a group is tested with T = (1 − m)·A − m·B, where A and B are the noisy
shares of its two cells. If everybody outside the group had the value m, the mean of all people
would be m, and T would be the error of their weighted mean. So bounds on such errors are bounds on
T. Here they are sharper, because only people in the group have values other than m.
Proof: docs/proofs/groups.md (1), (3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

import numpy as np

from epsilons.risk.groups.bias import Leaning, Range, apart, few
from epsilons.risk.means.mean import SAMPLING
from epsilons.risk.tails.combined import EDGES, PARTS, Combined, of_a_row, of_means, row_of
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats, Integers

# Confidence intervals: the means that a test accepts, given its critical values.
# Proof: docs/proofs/groups.md (3).


@dataclass(frozen=True, eq=False)
class Heights:
    """Critical values of T above and below 0, for each bin of the unit range of means."""

    up: Floats
    down: Floats

    def smaller(self, other: Heights) -> Heights:
        """Take the pair of critical values with the smaller sum, for each bin.

        The critical values must not depend on the noise.
        """
        first = self.up + self.down <= other.up + other.down
        return Heights(np.where(first, self.up, other.up), np.where(first, self.down, other.down))

    def by_sides(self, other: Heights) -> Heights:
        """Take the smaller critical value on each side; each side must have error rate β/2."""
        return Heights(np.minimum(self.up, other.up), np.minimum(self.down, other.down))


def inverted(first: Floats, total: Floats, heights: Heights) -> tuple[Floats, Floats]:
    """The interval of accepted means m: −down ≤ first − m·total ≤ up.

    Proof: docs/proofs/groups.md (3).

    Args:
        first: T at m = 0, for each group.
        total: decrease of T from m = 0 to m = 1.
        heights: critical values for each group and each bin of means.

    Returns:
        Ends of the smallest interval that contains all accepted means. It is the whole range if
        total is not positive or no mean is accepted.
    """
    good = total > 0.0
    whole = np.where(good, total, 1.0)[:, None]
    with np.errstate(over="ignore"):
        low = np.maximum((first[:, None] - heights.up) / whole, EDGES[:-1])
        high = np.minimum((first[:, None] + heights.down) / whole, EDGES[1:])
    left = (low <= high) & good[:, None]
    low = np.where(left, low, np.inf).min(axis=1)
    high = np.where(left, high, -np.inf).max(axis=1)
    some = left.any(axis=1)
    return np.where(some, low, 0.0), np.where(some, high, 1.0)


def least_refuted(first: Floats, total: Floats, heights: Heights) -> Floats:
    """The mean m with the smallest ratio of |first − m·total| to its critical value.

    Critical values are constant within a bin of means, and first − m·total is monotone in m. So the
    smallest ratio is at an edge of a bin, unless first − m·total is 0 somewhere. If several
    edges have this ratio, the edge nearest to first/total is returned.

    Args:
        first: T at m = 0, for each group.
        total: decrease of T from m = 0 to m = 1, not 0.
        heights: critical values for each group and each bin of means.
    """
    edges = np.stack([EDGES[:-1], EDGES[1:]])[:, None, :]
    off = first[:, None] - edges * total[:, None]
    allowed = np.where(off > 0.0, heights.up, heights.down)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(off == 0.0, 0.0, np.abs(off) / allowed)
    ratio = ratio.swapaxes(0, 1).reshape(len(first), -1)
    far = np.abs(np.clip(first / total, 0.0, 1.0)[:, None] - edges.reshape(-1))
    best = np.argmin(np.where(ratio == ratio.min(axis=1, keepdims=True), far, np.inf), axis=1)
    return np.asarray(edges.reshape(-1)[best])


_APART: Final = 0.1
"""Standard deviation that shrinkage assumes for the means of groups around their pooled mean, as a
fraction of the range."""


def shrunk(first: Floats, total: Floats, pooled: float, variance: float | Floats) -> Floats:
    """Means on the unit range, shrunk toward their pooled mean. Proof: docs/proofs/groups.md (30).

    Args:
        first: T at m = 0, for each group.
        total: decrease of T from m = 0 to m = 1. If it is not positive, the result is `pooled`.
        pooled: the pooled mean.
        variance: the variance of the noise of T at the pooled mean.
    """
    weight, off = np.maximum(total, 0.0), first - pooled * total
    prior = _APART**2 * weight
    with np.errstate(invalid="ignore", over="ignore"):
        moved = prior * off / np.where(prior > 0.0, prior * weight + variance, 1.0)
    return np.where(np.isfinite(moved), pooled + moved, pooled)


_ABOUT_SHARE: Final = 0.05
"""Part of the error probability that is used to bound a group's share."""

_BIN: Final = math.log(1.02)
"""Width of bins of shares on a log scale. Groups in one bin use the same bound."""

_SMALLEST: Final = 1e-9
"""Shares below this are rounded up to it."""

_RATES: Final = np.concatenate([np.geomspace(1e-5, 0.28, 36), np.linspace(0.3, 0.9999, 60)])
"""Rates of Chernoff's bound, relative to the largest one."""

_STEEPEST: Final = 60.0
"""Largest exponent in a moment generating function; e to this power does not overflow."""

LEVELS: Final = 12
"""Largest number of distinct weights that moments use exactly. If there are more, they are
merged."""

ROWS: Final = row_of(np.arange(PARTS))
"""The row of `combined.of_means` for each bin of means."""


def noise_of(cells: int | None, others: int = 1) -> tuple[Combined, Integers]:
    """The noise of T, and its row for each bin of means. Proof: docs/proofs/frequencies.md (13).

    Args:
        cells: number of noises that sum to zero; None if they are independent.
        others: number of cells whose sum is B.
    """
    if others == 1:
        return of_means(cells), ROWS
    return of_a_row(cells, others), np.arange(PARTS)


Way = Literal["chance", "bias", "drawn"]
"""The kind of error of a test other than noise: sampling error, the bias of the given people, or
both for people sampled together with their budgets."""


@dataclass(frozen=True, eq=False)
class Reach:
    """Bounds on T for groups of any share.

    Proof: docs/proofs/groups.md (4), (10), (12), (14), (18).

    Guarantee:
        For a group of total weight W, T at the true mean is within `heights(W', β)` with
        probability at least 1 − β, for every W' ≥ W. If only a noisy W is known, a part of β is
        used to bound it: `spent` is the part for the noise of W, and `upper` bounds the expected
        share.

    Attributes:
        weighing: the estimator for all people, with weights that sum to one.
        assumption: the assumption about the data.
        noise: the noise of T, in units of the estimator's noise scale.
        rows: row of `noise` for each bin of means.
        whole: whether the group contains everybody.
    """

    weighing: Weighing
    assumption: Assumption
    noise: Combined
    rows: Integers | int
    whole: bool = False

    @property
    def spent(self) -> float:
        """Part of an error probability that is used for the noise of W."""
        return 0.0 if self.whole else _ABOUT_SHARE / 2.0

    @property
    def way(self) -> Way:
        """The kind of error of T other than noise."""
        if self.assumption.related is not False:
            return "drawn" if self.assumption.sampled else "bias"
        # With equal weights a random permutation has neither sampling error nor bias.
        return "chance" if self.terms[0].max() > 0.0 else "bias"

    def heights(self, shares: Floats, beta: float) -> Heights:
        """Critical values of T, for groups of at most these weights.

        Args:
            shares: weights of groups, in [0, 1].
            beta: the error probability.
        """
        if self.way == "chance":
            return self.by_chance(shares, beta)
        if self.way == "bias":
            return self.noisy(self.leaning(shares), beta)
        part = SAMPLING * beta
        if self.assumption.anything:
            return self.noisy(self.of_sample(shares, part), beta - part)
        # The choice depends on budgets, which are sampled as well. So both sampling events must
        # hold simultaneously, and each gets half of `part`.
        way = self.within if self.nearer(beta) else self._anything
        return way(shares, part, beta)

    def nearer(self, beta: float) -> bool:
        """Whether δ gives a smaller bound than the one for budgets that are related in any way.

        The comparison uses a group with half the total weight and a mean in the middle of the
        range. It depends only on budgets.
        Proof: docs/proofs/groups.md (14), (23).
        """
        if self.way != "drawn" or self.assumption.anything:
            return False
        half, part = np.array([0.5]), SAMPLING * beta
        ways = (self._anything, self.within)
        middle = [float(way(half, part, beta).up[0, PARTS // 2]) for way in ways]
        return middle[1] < middle[0]

    def _anything(self, shares: Floats, part: float, beta: float) -> Heights:
        return self.noisy(self.of_sample(shares, part / 2.0), beta - part)

    def typical(self, shares: Floats) -> Floats:
        """The leading term of the root mean square error of T without noise."""
        chance = np.sqrt(0.25 * self._square * shares)
        if self.way == "chance":
            return np.asarray(chance)
        bias = self.leaning(shares).up.max(axis=1)
        return np.asarray(bias if self.way == "bias" else bias + chance)

    @property
    def _square(self) -> float:
        """The factor f in the sampling variance of T, which is at most ¼·f·share."""
        whole, n = self.weighing, self.weighing.n
        return whole.square if self.assumption.sampled else whole.spread * n / (n - 1)

    def noisy(self, off: Heights, beta: float) -> Heights:
        """Critical values for noise plus any bias between −off.down and off.up.

        Proof: docs/proofs/groups.md (10).
        """
        scale = self.weighing.scale
        if not math.isfinite(scale):
            return Heights(np.full(off.up.shape, np.inf), np.full(off.up.shape, np.inf))
        if scale <= 0.0:
            return off
        # If only a noisy weight is known, critical values must not decrease in this weight. So each
        # side gets β/2.
        gap = (off.up + off.down) / scale if self.whole else 0.0
        far = scale * self.noise.reach(self.rows, gap, beta)
        return Heights(off.up + far, off.down + far)

    def leaning(self, shares: Floats) -> Heights:
        """The largest bias among the given people. Proof: docs/proofs/groups.md (12), (13)."""
        most = self._bias.most(shares)
        if not self.assumption.anything:
            most = np.minimum(most, self.assumption.apart * most.max(axis=1, keepdims=True))
        return Heights(most, most[:, ::-1])

    @cached_property
    def _bias(self) -> Leaning:
        return Leaning(self.weighing.weights, self.weighing.counts)

    @cached_property
    def _free_bias(self) -> Leaning:
        """The bias among a sample, whose mean can differ from the population mean."""
        return Leaning(self.weighing.weights, self.weighing.counts, 1.0 / self.weighing.n)

    def of_sample(self, shares: Floats, part: float) -> Heights:
        """Bias among sampled people, plus the sampling error of their unweighted sum.

        Proof: docs/proofs/groups.md (14).
        """
        most = self._free_bias.most(shares)
        heads = self.upper(self.heads(shares), 1.0 / self.weighing.n, part * self.nuisance)
        n = self.weighing.n
        plain = self.moments(np.array([1.0 / n]), np.array([float(n)]), heads, 0.0)
        far = plain.least(math.log(2.0 / (part * (1.0 - self.nuisance))))
        return Heights(most + far, (most + far)[:, ::-1])

    def within(self, shares: Floats, part: float, beta: float) -> Heights:
        """Critical values, if conditional means given the budgets differ by at most δ.

        Proof: docs/proofs/groups.md (14).
        """
        apart, n = self.assumption.apart, self.weighing.n
        largest = float(self.weighing.weights.max())
        rest = beta - part
        expected = self.upper(shares, largest, rest * self.nuisance)
        most = apart * self._free_bias.most(np.minimum(expected, 1.0)).max(axis=1)
        heads = self.upper(self.heads(shares), 1.0 / n, part / 2.0 * self.nuisance)
        log = math.log(2.0 / (part / 2.0 * (1.0 - self.nuisance)))
        bernstein = log / (3.0 * n) + np.sqrt((log / (3.0 * n)) ** 2 + 2.0 * heads * log / n)
        most = most + apart * np.minimum(bernstein, math.sqrt(log / (2.0 * n)))
        chance = self.around(expected, largest, apart)
        far = chance.least(math.log(2.0 / (rest * (1.0 - self.nuisance))))
        up = most[:, None] + far
        return Heights(up, most[:, None] + far[:, ::-1])

    def by_chance(self, shares: Floats, beta: float) -> Heights:
        """Critical values if budgets are unrelated to values, for a sample or a random permutation.

        Proof: docs/proofs/groups.md (15), (16), (17), (18).
        """
        weights, counts = self.seen
        part = beta * self.nuisance
        heads = self.upper(shares, float(counts @ np.square(weights)), part)
        if not self.assumption.sampled:
            heads = np.minimum(heads, self.heads(shares))
        weights, counts, turned = self.terms
        chance = self.moments(weights, counts, heads, self.weighing.scale)
        far = chance.least(math.log(2.0 / (beta - part)))
        found = Heights(far[:, ::-1], far) if turned else Heights(far, far[:, ::-1])
        if self.assumption.sampled:
            return found
        return self.or_leaning(found, beta - part)

    def or_leaning(self, found: Heights, beta: float) -> Heights:
        """The smaller of `found` and the bias bound for any budgets and any group weight.

        If only a noisy weight of the group is known, the noise must not decide which bound is used.
        With β/2 for each side, the minimum on each side does not decrease in that weight.
        Proof: docs/proofs/groups.md (4), (18).
        """
        most = self._bias.most(np.ones(1))
        other = self.noisy(Heights(most, most[:, ::-1]), beta)
        return found.smaller(other) if self.whole else found.by_sides(other)

    def apart(self, shares: tuple[Range, Range], times: tuple[float, float]) -> float:
        """Bound on the sum of two groups' biases, if means at different budgets can differ by 1."""
        return apart(self.weighing.weights, self.weighing.counts, shares, times)

    @cached_property
    def seen(self) -> tuple[Floats, Floats]:
        """Coefficients of group membership in the estimated share, and their counts.

        For a sample, the coefficients are the weights. For a random permutation, they are the
        weights minus the smallest weight, because the sum over all people is fixed. The bounds for
        independent people also hold for a permutation, because permuted numbers are negatively
        associated. Proof: docs/proofs/groups.md (18).
        """
        counts = self.weighing.counts.astype(np.float64)
        weights = self.weighing.weights[counts > 0.0]
        if not self.assumption.sampled:
            weights = weights - weights.min()
        return weights, counts[counts > 0.0]

    @cached_property
    def terms(self) -> tuple[Floats, Floats, bool]:
        """Coefficients in T, their counts, and whether their sign is flipped.

        The coefficients are the same as in `seen`, or the largest weight minus these weights if
        that has the smaller sum of squares. In a permutation, the people's terms u·(x − m) sum to
        0, so this changes only the sign of T.
        Proof: docs/proofs/groups.md (18).
        """
        weights, counts = self.seen
        below = weights.max() - weights
        if self.assumption.sampled or counts @ np.square(weights) <= counts @ np.square(below):
            return weights, counts, False
        return below, counts, True

    @property
    def nuisance(self) -> float:
        """Part of an error probability that is used to bound the expected share of a group."""
        return 0.0 if self.whole else _ABOUT_SHARE / 2.0

    def upper(self, shares: Floats, square: float, part: float) -> Floats:
        """Upper bound on the expected share of a group, given its share in the sample.

        For numbers u in [0, 1] with mean p, e^{−λu} ≤ 1 − λu + λ²u²/2. So a weighted sum of them is
        at least p − √(2·square·p·ln(1/part)), except with probability `part`.
        Proof: docs/proofs/groups.md (17).
        """
        if self.whole:
            return np.ones_like(shares)
        half = -0.5 * square * math.log(part)
        return np.minimum(np.square(math.sqrt(half) + np.sqrt(half + shares)), 1.0)

    def heads(self, shares: Floats) -> Floats:
        """The largest fraction of people that can have this total weight.

        It is attained by the lightest people.
        """
        order = np.argsort(self.weighing.weights, kind="stable")
        weights = self.weighing.weights[order]
        counts = self.weighing.counts[order].astype(np.float64)
        heavy = np.cumsum(counts * weights)
        people = np.cumsum(counts) / self.weighing.n
        unheard = float(people[weights <= 0.0].max(initial=0.0))
        some = weights > 0.0
        at = np.interp(shares, np.append(0.0, heavy[some]), np.append(unheard, people[some]))
        return np.asarray(np.minimum(at, 1.0))

    def moments(self, weights: Floats, counts: Floats, heads: Floats, scale: float) -> Chance:
        """Bounds on moments of Σ w·u·(x − m), where u has mean `heads` and the group has mean m.

        For one person ln E e^{λu(x − m)} ≤ ln(1 + p·(φ − 1)) with φ = (1 − m)e^{−λm} + m·e^{λ(1 −
        m)}, because the exponential is convex in u and in x. Each bin of means uses its largest φ.
        Proof: docs/proofs/groups.md (15).
        """
        weights, counts = few(weights, counts, LEVELS)
        rates = self.rates(float(weights.max()), scale)
        logs = np.zeros((len(heads), PARTS, len(rates)))
        for weight, count in zip(weights.tolist(), counts.tolist(), strict=True):
            logs += count * np.log1p(heads[:, None, None] * grown(rates * weight))
        return self.chance(rates, logs, scale)

    def around(self, expected: Floats, largest: float, apart: float) -> Chance:
        """Bounds on moments of Σ w·(D − E D), D = u·(x − m), if means of x are within `apart` of m.

        ln E e^{λ(D − E D)} ≤ E(e^{λD} − 1 − λD). The right side is convex in x and in u, and grows
        at least in proportion to the weight. Proof: docs/proofs/groups.md (15).
        """
        rates = self.rates(largest, self.weighing.scale)
        x = rates * largest
        low, high = EDGES[:-1, None], EDGES[1:, None]
        above, below = _rest(x * (1.0 - low)), _rest(-x * high)  # largest values in each bin
        means = (np.maximum(low - apart, 0.0), np.minimum(high + apart, 1.0))
        most = np.maximum(*((1.0 - mean) * below + mean * above for mean in means))
        logs = (expected / largest)[:, None, None] * most
        return self.chance(rates, logs, self.weighing.scale)

    def rates(self, largest: float, scale: float) -> Floats:
        """Rates λ at which moments do not overflow and the moments of the noise are finite."""
        top = _STEEPEST / largest
        return _RATES * (min(top, 2.0 / scale) if scale > 0.0 else top)

    def chance(self, rates: Floats, logs: Floats, scale: float) -> Chance:
        """Add noise of this scale to bounds on moments. Proof: docs/proofs/groups.md (16)."""
        if not scale > 0.0:
            return Chance(rates, logs)
        if not math.isfinite(scale):
            return Chance(rates, logs + np.inf)
        envelope = _envelope(self.noise, float(rates[-1] / _RATES[-1] * scale))[self.rows]
        return Chance(rates, logs + envelope)


@lru_cache(maxsize=64)
def _envelope(noise: Combined, most: float) -> Floats:
    """The envelope of the noise at rates up to `most`, cached."""
    return noise.log_envelope(_RATES * most)


@dataclass(frozen=True, eq=False)
class Chance:
    """Chernoff bounds: P(X > x) ≤ e^{K − λx} for each rate λ. Proof: docs/proofs/groups.md (16).

    Attributes:
        rates: the λ.
        logs: the K, by share, bin of means and rate.
    """

    rates: Floats
    logs: Floats

    def least(self, log: float) -> Floats:
        """The smallest x for which the bound on P(X > x) is at most e^{−log}."""
        return np.asarray(((self.logs + log) / self.rates).min(axis=2))


def grown(x: Floats) -> Floats:
    """The largest φ − 1 in each bin of means, φ = (1 − m)e^{−xm} + m·e^{x(1 − m)}, x ≥ 0.

    ln φ is concave in m, and largest at 1/x − 1/(e^x − 1). Proof: docs/proofs/groups.md (15).
    """
    grown = np.expm1(x)
    small = x < 1e-4
    best = np.where(
        small, 0.5 - x / 12.0, 1.0 / np.where(small, 1.0, x) - 1.0 / np.where(small, 1.0, grown)
    )
    m = np.clip(best, EDGES[:-1, None], EDGES[1:, None])
    return np.asarray(np.expm1(np.log1p(m * grown) - x * m))


def _rest(x: Floats) -> Floats:
    """e^x − 1 − x, without cancellation: for small x an upper bound, x²/2 + |x|³/6·e^|x|.

    Proof: docs/proofs/groups.md (15).
    """
    near = 0.5 * x * x + np.abs(x) ** 3 / 6.0 * np.exp(np.minimum(np.abs(x), 1.0))
    return np.asarray(np.where(np.abs(x) < 1e-3, near, np.expm1(x) - x))


def binned(shares: Floats) -> tuple[Floats, Integers]:
    """Round shares up to a few bin ends; return the bin ends, and the bin of each share."""
    place = np.floor(np.log(np.clip(shares, _SMALLEST, 1.0)) / -_BIN)
    found, index = np.unique(place, return_inverse=True)
    return np.exp(-_BIN * found), index
