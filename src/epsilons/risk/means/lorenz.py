"""Confidence intervals of means and shares: each possible value is tested, by a Lorenz curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from epsilons.frozen import storable
from epsilons.risk import cells
from epsilons.risk.margins import Bounds, Weighed
from epsilons.risk.means import mean
from epsilons.risk.means.spread import (
    DECIDED_AT,
    Parts,
    Seen,
    Spreading,
    Terms,
    Way,
    WeighedSpread,
    way_of,
)
from epsilons.risk.shares import WeighedCells
from epsilons.risk.tails.laplace import GIVEN
from epsilons.risk.weighing import SAMPLE, Assumption, Weighing
from epsilons.types import Booleans, Floats, Integers

# If the estimate describes the given people, and budgets may be related to values, only the noise
# is random. If the mean of these people is T, the estimate without noise is between two limits that
# depend only on T and the weights. T is rejected if the noisy estimate is too far outside these
# limits. The interval consists of all T that are not rejected. Data are on a unit range.
# Proof: docs/proofs/lorenz.md (1), (2), (3).


Far: TypeAlias = Callable[[Floats], Floats]
"""Type of a bound on |c + noise|, as a function of the largest |c|."""

_NODES: Final = 33
"""Number of biases at which the quantile of noise without a closed form is computed."""

_HALVINGS: Final = 48
"""Ends of intervals are found to 2⁻⁴⁸ of the range, and rounded outwards."""

_AT_ONCE: Final = 6
"""Bisection steps that are done at once. NumPy tests 63 points nearly as fast as one."""

_MANY: Final = 1000
"""Number of ends above which one step is done at a time, because memory would be the limit."""

_ROUNDED: Final = 2.0 * 0.5**_HALVINGS
"""Bands are widened by this. So an interval for one share, which is rounded outwards, never ends
outside a band of the same length."""


def _last(kept: Callable[[Floats], Booleans], low: Floats, at_once: int = _AT_ONCE) -> Floats:
    """For each number `low`, the last point between it and 1 that is kept, rounded up.

    Args:
        kept: a function of a row of ascending points for each number, which returns whether each
            point is kept. If a point is not kept, neither are the points after it.
        low: the numbers, at most 1; they are kept.
        at_once: bisection steps that are done at once.
    """
    at_once = at_once if len(low) <= _MANY else 1
    parts = 2**at_once
    inner, width = np.arange(1, parts), 1.0 - low
    for _ in range(_HALVINGS // at_once):
        width = width / parts
        low = low + width * kept(low[:, None] + width[:, None] * inner).sum(axis=1)
    return low + width


class LorenzCurve:
    """The Lorenz curve: the total weight of the lightest people, as a function of their share.

    Proof: docs/proofs/lorenz.md (1), (2), (3), (5).

    Args:
        weighing: the estimator, which uses everyone.
    """

    def __init__(self, weighing: Weighing) -> None:
        order = np.argsort(weighing.weights, kind="stable")
        counts = weighing.counts[order]
        self._weighing, self._total = weighing, weighing.total
        self._shares = np.append(0.0, np.cumsum(counts) / weighing.n)
        self._held = np.append(0.0, np.cumsum(counts * weighing.weights[order]))
        below_average = int(np.argmax(self._total * self._shares - self._held))
        self._light = float(self._shares[below_average])
        self._reaches: dict[tuple[float, float], Far] = {}
        slow = weighing.stairs is not None or weighing.cube is not None
        self._at_once = 1 if slow else _AT_ONCE

    def share(self, weight: float) -> float:
        """The largest share of people whose weights sum to at most `weight`."""
        return float(np.interp(weight, self._held, self._shares))

    def lowest(self, truth: Floats, apart: float) -> Floats:
        """The lowest possible estimate without noise, if the mean of the given people is `truth`.

        Args:
            truth: the mean, in [0, 1].
            apart: largest difference between the means of people at different budgets.
        """
        # The means of all budget levels are within a window of length `apart`. In the worst case,
        # this share of people, the lightest, are at its upper end, and all others at its lower end.
        share = np.minimum(np.maximum(self._light, (truth - 1.0 + apart) / apart), truth / apart)
        share = np.clip(share, 0.0, 1.0)
        lost = share * self._total - np.interp(share, self._shares, self._held)
        return np.asarray((1.0 - self._total) / 2.0 + truth * self._total - apart * lost)

    def intervals(
        self, drawn: Floats, apart: float, beta: float, slack: float = 0.0
    ) -> tuple[Floats, Floats]:
        """For each estimate, the interval of means that are not rejected at error probability beta.

        Args:
            drawn: the noisy estimates.
            apart: largest difference between the means of people at different budgets.
            beta: the error probability.
            slack: error from rounding to integers.
        """
        far = self._far(apart, beta)
        return self._ends(drawn, apart, far, slack)

    def beyond(self, drawn: Floats, apart: float, reach: float) -> tuple[Floats, Floats]:
        """For each estimate, the interval of means that are possible if |noise| ≤ `reach`."""

        def far(half: Floats) -> Floats:
            return half + reach

        return self._ends(drawn, apart, far)

    def half_width(self, apart: float, beta: float) -> float:
        """Half of the length of the interval, if the estimate is the middle of the range."""
        middle = np.array([0.5])
        return float(self._highest(middle, apart, self._far(apart, beta))[0]) - 0.5

    def _ends(
        self, drawn: Floats, apart: float, far: Far, slack: float = 0.0
    ) -> tuple[Floats, Floats]:
        """For each estimate, the interval of means that are not rejected."""
        both = np.concatenate([1.0 - drawn, drawn]) + slack
        below, above = np.split(self._highest(both, apart, far), 2)
        return 1.0 - below, above

    def _highest(self, drawn: Floats, apart: float, far: Far) -> Floats:
        """For each estimate, the largest mean that is not rejected; 0 if all are rejected."""

        def kept(truth: Floats) -> Booleans:
            least, most = self.lowest(truth, apart), 1.0 - self.lowest(1.0 - truth, apart)
            return np.asarray((least + most) / 2.0 - far((most - least) / 2.0) <= drawn[:, None])

        high = _last(kept, np.zeros(len(drawn)), self._at_once)
        return np.where(high <= _ROUNDED, 0.0, high)

    def _far(self, apart: float, beta: float) -> Far:
        """A bound on the largest 1 − beta quantile of |c + noise| for |c| ≤ h, as a function of h.

        Its values are at least h. It is cached.
        """
        if (apart, beta) not in self._reaches:
            self._reaches[apart, beta] = self._reach(apart, beta)
        return self._reaches[apart, beta]

    def _reach(self, apart: float, beta: float) -> Far:
        scale = self._weighing.scale
        if scale <= 0.0:
            return lambda halves: halves

        def exact(half: float) -> float:
            return max(mean.deviation_of(self._weighing, half, 0.0, beta), half)

        def laplace(halves: Floats) -> Floats:
            return np.maximum(scale * _laplace_quantile(halves / scale, beta), halves)

        if self._at_once == 1:
            return np.vectorize(exact, otypes=[np.float64])
        if self._weighing.closed is None:
            return laplace
        # If the bias grows, the quantile grows by at most the same amount. So between two nodes, it
        # is at most its value at the upper node, and at most its value at the lower node plus the
        # distance from that node.
        widest = 0.5 - float(self.lowest(np.array([0.5]), apart)[0])
        nodes = np.linspace(0.0, max(widest, 0.0), _NODES)
        found = np.array([exact(node) for node in nodes.tolist()])

        def far(halves: Floats) -> Floats:
            at = np.clip(np.searchsorted(nodes, halves, side="right") - 1, 0, _NODES - 2)
            return np.asarray(np.minimum(found[at] + halves - nodes[at], found[at + 1]))

        return far


def _laplace_quantile(ratio: Floats, beta: float) -> Floats:
    """The 1 − beta quantile of |ratio + Laplace(1)| for ratios ≥ 0, where it exceeds the ratio.

    Proof: docs/proofs/risk.md (28).
    """
    log_cosh = ratio + np.log1p(np.exp(-2.0 * ratio)) - math.log(2.0)
    return np.asarray(log_cosh - math.log(beta))


def half_widths(levels: Floats, counts: Integers, caps: Floats, beta: float) -> Floats:
    """For each cap, half of the length of the interval, if the estimate is the middle of the range.

    This is `LorenzCurve.half_width` for effective budgets min(ε, cap), Laplace noise, and budgets
    that are related to values in any way, for many caps at once. Proof: docs/proofs/lorenz.md (11).

    Args:
        levels: the distinct budgets, ascending.
        counts: the number of people at each level.
        caps: the caps, all above 0 and finite.
        beta: the error probability.
    """
    caps = caps[:, None]
    people = np.append(0.0, np.cumsum(counts))
    held = np.append(0.0, np.cumsum(counts * np.minimum(levels, caps.max())))
    below = np.searchsorted(levels, caps, side="right")

    def strictest(share: Floats) -> Floats:
        """The sum of the effective budgets of this share of people, the strictest."""
        number = share * people[-1]
        above = held[below] + caps * (number - people[below])
        return np.asarray(np.where(number <= people[below], np.interp(number, people, held), above))

    total = strictest(np.ones_like(caps))

    def kept(truth: Floats) -> Booleans:
        least, rest = strictest(truth), strictest(1.0 - truth)
        half = np.maximum((total - least - rest) / 2.0, 0.0)
        far = np.maximum(_laplace_quantile(half, beta), half)
        return np.asarray((least - rest) / 2.0 <= far)

    return _last(kept, np.full(len(caps), 0.5)) - 0.5


@lru_cache(maxsize=64)
def curve_of(weighing: Weighing) -> LorenzCurve:
    """The Lorenz curve, cached because a release needs it repeatedly."""
    return LorenzCurve(weighing)


@dataclass(frozen=True, eq=False)
class TestedSpreading(Spreading):
    """Error bounds that use the spread if this is better than an interval by the Lorenz curve.

    Proof: docs/proofs/lorenz.md (4).
    """

    def usual(self, beta: float) -> float:
        """Half of the length of an interval without the spread, for an estimate of ½."""
        found = super().usual(beta)
        if self.assumption.sampled:
            return found
        curve = curve_of(self.weighing).half_width(self.assumption.apart or 1.0, beta)
        return curve if self.assumption.related is not False else min(found, curve)


@storable("risk.LorenzMean")
@dataclass(frozen=True, eq=False)
class LorenzMean(Weighed):
    """Margin of a weighted mean of people with public budgets, by a test of each possible mean.

    Guarantee:
        For all data that the assumption allows, the interval fails to cover the true value with
        probability at most 1 − confidence. Proof: docs/proofs/lorenz.md (3), (4), (6), (7).
    """

    def interval(
        self, raw: float, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A confidence interval, clipped to the bounds."""
        lo, hi = bounds
        if not math.isfinite(self.weighing.scale) or not math.isfinite(raw):
            return lo, hi
        drawn, beta = (raw - lo) / (hi - lo), 1.0 - confidence
        if assumption.sampled and assumption.related is not False:
            low, high = self._sampled(drawn, assumption, beta)
        elif self._by_curve(assumption):
            apart = assumption.apart or 1.0
            low, high = self._tested(drawn, apart, beta)
        else:
            reach = self.error(assumption, confidence)
            low, high = drawn - reach, drawn + reach
        low, high = (lo + (hi - lo) * min(max(end, 0.0), 1.0) for end in (low, high))
        return min(low, hi), min(high, hi)

    @property
    def _curve(self) -> LorenzCurve:
        return curve_of(self.weighing)

    def _tested(self, drawn: float, apart: float, beta: float) -> Bounds:
        """An interval for the mean of the given people, at error probability beta."""
        low, high = self._curve.intervals(np.array([drawn]), apart, beta, self.slack)
        return float(low[0]), float(high[0])

    def _by_curve(self, assumption: Assumption) -> bool:
        """Whether the interval comes from tests of each possible mean of the given people.

        The choice depends only on public facts.
        """
        if assumption.sampled or assumption.related is not False:
            return not assumption.sampled
        beta = 1.0 - DECIDED_AT
        usual = mean.quantile(self.weighing, assumption, DECIDED_AT)
        return self._curve.half_width(1.0, beta) < usual

    def _sampled(self, drawn: float, assumption: Assumption, beta: float) -> Bounds:
        """An interval for a population with budgets related to values.

        Proof: docs/proofs/lorenz.md (6), (7).
        """
        part, rest = self._divided(beta)
        if not assumption.anything:
            part /= 2.0  # both sampling errors must be bounded simultaneously
            if self._within_is_narrower(assumption):
                reach = self._within(assumption, part, rest) + self.slack
                return drawn - reach, drawn + reach
        low, high = self._tested(drawn, 1.0, rest)
        far = self._sampling(beta, part)
        return low - far, high + far

    def _within_is_narrower(self, assumption: Assumption) -> bool:
        """Whether the bound that uses δ is forecast to be smaller than the one that does not."""
        beta = 1.0 - DECIDED_AT
        part, rest = self._divided(beta)
        anything = self._curve.half_width(1.0, rest) + self._expected_sampling(beta, part / 2.0)
        return self._within(assumption, part / 2.0, rest) < anything

    def _within(self, assumption: Assumption, part: float, rest: float) -> float:
        """Bound on the error if the means at different budgets differ by at most δ."""
        shift = float(mean.leaning(self.weighing, assumption.apart))
        around = mean.deviation_of(self.weighing, shift, self.weighing.square, rest)
        return around + assumption.apart * mean.sampling_reach(self.weighing.n, part)

    def _divided(self, beta: float) -> tuple[float, float]:
        """The parts of beta for the sampling of people and for the noise."""
        return mean.SAMPLING * beta, (1.0 - mean.SAMPLING) * beta

    def _sampling(self, beta: float, part: float) -> float:  # noqa: ARG002
        """Bound on the sampling error of the unweighted mean of these people."""
        return mean.sampling_reach(self.weighing.n, part)

    def _expected_sampling(self, beta: float, part: float) -> float:
        """A forecast of `_sampling`, from public facts alone."""
        return self._sampling(beta, part)


@storable("risk.LorenzSpread")
@dataclass(frozen=True, eq=False)
class LorenzSpread(LorenzMean, WeighedSpread):
    """Margin of a weighted mean and its spread, by a test of each possible mean.

    Guarantee:
        The guarantees of `LorenzMean` and, for the standard deviation, of `WeighedSpread`. For a
        population with budgets related to values, the sampling error is bounded by the spread that
        was released. Proof: docs/proofs/lorenz.md (3), (4), (5), (6), (7).
    """

    def _by_curve(self, assumption: Assumption) -> bool:
        """Whether the interval comes from tests of each possible mean of the given people.

        The choice depends only on public facts.
        """
        return not self.uses_spread(assumption) and super()._by_curve(assumption)

    def way(self, assumption: Assumption) -> Way | None:
        """The quantity that the spread is used to bound; None if there is none.

        If people are a sample and budgets are related to values, the result is None, and the spread
        is used in `_sampling` instead.
        """
        return way_of(TestedSpreading, self.weighing, assumption, GIVEN, self.expected)

    def _divided(self, beta: float) -> tuple[float, float]:
        """The parts of beta for the sampling of people and for the noise of the mean."""
        return super()._divided(beta - sum(Parts.of(beta)))

    def _sampling(self, beta: float, part: float) -> float:
        """Bound on the sampling error of the unweighted mean, by the spread that was released."""
        return self._sampling_of(self._seen, beta, part)

    def _expected_sampling(self, beta: float, part: float) -> float:
        """A forecast of `_sampling`, for the expected spread around the middle of the range."""
        return self._sampling_of(Seen(0.0, self.expected * self.expected, 0.0), beta, part)

    def _sampling_of(self, seen: Seen, beta: float, part: float) -> float:
        """Bound on the sampling error of the unweighted mean, given released numbers.

        Proof: docs/proofs/lorenz.md (5), (6).
        """
        parts, n = Parts.of(beta), self.weighing.n
        weighted = Spreading(self._alike, SAMPLE).most(seen, parts.noise, parts.offset)
        variance = min(curve_of(self._alike).share(weighted), 0.25)
        plain = Spreading(Weighing(np.array([1.0 / n]), np.array([n]), 0.0), SAMPLE)
        sigma = plain.largest_deviation(variance, parts.squares, parts.centre)
        terms = Terms(np.array([1.0 / n]), np.array([float(n)]))
        return min(terms.reach(sigma, 0.0, part), mean.sampling_reach(n, part))


# Shares of people with public budgets. Each share is a mean of values 0 and 1.


@storable("risk.LorenzCells")
@dataclass(frozen=True, eq=False)
class LorenzCells(WeighedCells):
    """Margin of the shares of people with public budgets, by a test of each possible share.

    Guarantee:
        For all data that the assumption allows, each interval and the whole band fail to cover the
        true shares with probability at most 1 − confidence.
        Proof: docs/proofs/lorenz.md (4), (8), (9), (10).
    """

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """An interval for each share separately, clipped to [0, 1]."""
        if not math.isfinite(self.weighing.scale) or not self._by_curve(assumption):
            return super().intervals(raw, assumption, confidence)
        low, high = self._tested(raw, assumption, 1.0 - self.limit(confidence))
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def band(self, raw: Floats, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Simultaneous intervals for all shares, clipped to [0, 1]."""
        if self.cells == 2 and self.weighing.closed is not None:
            return self.intervals(raw, assumption, confidence)  # each share determines the other
        if not math.isfinite(self.weighing.scale) or not self._band_by_curve(assumption):
            low, high = super().band(raw, assumption, confidence)
        else:
            low, high = self._beyond(raw, assumption, confidence)
        return np.clip(low - _ROUNDED, 0.0, 1.0), np.clip(high + _ROUNDED, 0.0, 1.0)

    def _by_curve(self, assumption: Assumption) -> bool:
        """Whether intervals come from tests of each possible share.

        The choice depends only on public facts: lengths are compared for equal shares.
        """
        sampled, related = assumption.sampled, assumption.related is not False
        if assumption.anything or related != sampled:
            return related
        low, high = self._tested(self._even, assumption, 1.0 - self.limit(DECIDED_AT))
        return float(high[0] - low[0]) < 2.0 * self.error(assumption, DECIDED_AT)

    def _band_by_curve(self, assumption: Assumption) -> bool:
        """Whether the band comes from tests of each possible share.

        The choice depends only on public facts: lengths are compared for equal shares.
        """
        if assumption.sampled or assumption.related is False:
            return False
        low, high = self._beyond(self._even, assumption, DECIDED_AT)
        return float(high[0] - low[0]) < 2.0 * self.worst(assumption, DECIDED_AT)

    @property
    def _even(self) -> Floats:
        return np.array([1.0 / self.cells])

    def _beyond(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Simultaneous intervals for the given people, from a bound on the noise of all shares."""
        factor = cells.noise_factor(self.cells, 1.0 - self.limit(confidence), self.weighing.closed)
        reach = self.weighing.scale * factor + self.slack
        return curve_of(self.weighing).beyond(raw, assumption.apart, reach)

    def _tested(self, raw: Floats, assumption: Assumption, beta: float) -> tuple[Floats, Floats]:
        """An interval for each share, for the given people or for a population."""
        curve = curve_of(self.weighing)
        if not assumption.sampled:
            return curve.intervals(raw, assumption.apart or 1.0, beta, self.slack)
        part, rest = mean.SAMPLING * beta, (1.0 - mean.SAMPLING) * beta
        if not assumption.anything:
            # The other half is for the sampling error of the bound that uses δ.
            part /= 2.0
        low, high = curve.intervals(raw, 1.0, rest, self.slack)
        log = math.log(2.0 / part) / self.weighing.n
        below, above = np.split(_largest_share(np.concatenate([1.0 - low, high]), log), 2)
        return 1.0 - below, above


def _largest_share(share: Floats, log: float) -> Floats:
    """For each share of a sample, the largest share p of a population with kl(share, p) ≤ `log`.

    kl is the Kullback–Leibler divergence of two shares.

    Proof: docs/proofs/lorenz.md (9).
    """
    share = np.clip(share, 0.0, 1.0)[:, None]

    def kept(p: Floats) -> Booleans:
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.where(share > 0.0, share * np.log(share / p), 0.0)
            far += np.where(share < 1.0, (1.0 - share) * np.log((1.0 - share) / (1.0 - p)), 0.0)
        return np.asarray(far <= log)

    return _last(kept, share[:, 0])
