"""Margin of the means of groups with public membership. Each mean is released separately."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Final, cast

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.groups.reach import shrunk
from epsilons.risk.margins import Bounds, Margin, Weighed, weighted_ends
from epsilons.risk.means import mean
from epsilons.risk.means.ratio import Difference
from epsilons.risk.tails.combined import Contrast
from epsilons.risk.tails.laplace import bisect, deviation, quantile_of, two_sided
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats, Integers, freeze

_SPLITS: Final = (0.5, 0.4, 0.6, 0.25, 0.75, 0.1, 0.9)
"""Fractions of an error probability that are tried for the first of two groups; the second gets the
rest."""

_FAR: Final = 1e12
"""Ratios above this are treated as infinite."""


@storable("risk.PublicGroups")
@dataclass(frozen=True, eq=False)
class PublicGroups(Margin):
    """Margin of the means of groups with public membership.

    Guarantee:
        For all data that the assumption allows, each interval (also of a difference or a ratio) and
        the whole band fail to cover the true values with probability at most 1 − confidence.
        Proof: docs/proofs/parallel.md (2), (3), (4), (5), (6).

    Attributes:
        weighings: the estimator of each group on a unit range; None if a group was not released.
        slacks: rounding error of each estimate, on a unit range.
        drawn: the noisy mean of each group, in data units; NaN if it was not released.
        people: number of people in each group.
        rounding: error of each share of people that is due to rounded weights.
    """

    weighings: tuple[Weighing | None, ...]
    slacks: tuple[float, ...]
    drawn: Floats
    people: Integers
    rounding: float = 0.0

    kind: ClassVar[str | None] = None
    staked: ClassVar[bool] = False

    def __post_init__(self) -> None:
        freeze(self.drawn, self.people)

    @property
    def numbers(self) -> int:
        """Number of groups."""
        return len(self.weighings)

    def unclipped(self, bounds: Bounds) -> Floats:
        """The mean of each group; the middle of the bounds if it was not released."""
        return np.where(np.isnan(self.drawn), sum(bounds) / 2.0, self.drawn)

    def means(self, bounds: Bounds) -> Floats:
        """The mean of each group, clipped to the bounds; the middle if it was not released."""
        return np.asarray(np.clip(self.unclipped(bounds), *bounds))

    def within(
        self,
        bounds: Bounds,
        assumption: Assumption,  # noqa: ARG002
        confidence: float,  # noqa: ARG002
    ) -> Floats:
        """The mean of each group; it is always in the group's interval."""
        return self.means(bounds)

    def shrunk(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Floats:
        """The mean of each group, shrunk toward the pooled mean, and clipped to its own interval.

        Proof: docs/proofs/groups.md (30).
        """
        lo, hi = bounds
        told = np.isfinite(self.drawn)
        people, unit = self.people * told, (np.where(told, self.drawn, lo) - lo) / (hi - lo)
        pooled = min(max(float(people @ unit) / max(int(people.sum()), 1), 0.0), 1.0)
        scales = np.array([0.0 if each is None else each.scale for each in self.weighings])
        found = shrunk(unit, told.astype(np.float64), pooled, 2.0 * np.square(scales))
        return np.clip(lo + (hi - lo) * found, *self.intervals(bounds, assumption, confidence))

    def intervals(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """A confidence interval for each group's mean; the whole range if it was not released."""
        ends = [
            bounds
            if weighing is None
            else Weighed(weighing, slack).interval(raw, bounds, assumption, confidence)
            for weighing, slack, raw in zip(
                self.weighings, self.slacks, self.drawn.tolist(), strict=True
            )
        ]
        low, high = np.array(ends, dtype=np.float64).reshape(-1, 2).T
        return low, high

    def band(
        self, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """Simultaneous intervals for the means of all groups."""
        every = max(sum(each is not None for each in self.weighings), 1)
        return self.intervals(bounds, assumption, 1.0 - (1.0 - confidence) / every)

    def difference(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A confidence interval for the difference of two groups' means."""
        lo, hi = bounds
        reach = (hi - lo) * self._reach((first, second), (1.0, 1.0), assumption, confidence)
        between = self.drawn[first] - self.drawn[second]
        if math.isnan(between) or math.isinf(reach):
            return lo - hi, hi - lo
        low, high = max(between - reach, lo - hi), min(between + reach, hi - lo)
        return float(min(low, hi - lo)), float(max(high, lo - hi))

    def ratio(
        self, first: int, second: int, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A confidence interval for the ratio of two groups' means.

        The range of the values must not contain both positive and negative numbers.
        Proof: docs/proofs/parallel.md (6).
        """
        lo, hi = bounds

        def reach(a: float, b: float) -> float:
            return (hi - lo) * self._reach((first, second), (a, b), assumption, confidence)

        return ratio_ends((self.drawn[first], self.drawn[second]), bounds, reach)

    def jointly(self, assumption: Assumption, confidence: float) -> bool:
        """Whether joint bounds for the differences of all pairs are narrower than the band.

        The choice depends on weights and noise, which are public. If budgets are sampled together
        with the values, it must not depend on budgets, so the band is used.
        Proof: docs/proofs/groups.md (26).
        """
        if assumption.sampled and assumption.related is not False:
            return False
        told = [place for place, each in enumerate(self.weighings) if each is not None]
        level = 1.0 - (1.0 - confidence) / max(len(told), 1)
        apart = sum(
            (len(told) - 1) * Weighed(each, slack).error(assumption, level)
            for each, slack in zip(self.weighings, self.slacks, strict=True)
            if each is not None
        )
        level = 1.0 - (1.0 - confidence) / math.comb(self.numbers, 2)
        pairs = combinations(told, 2)
        return sum(self._reach(pair, (1.0, 1.0), assumption, level) for pair in pairs) < apart

    def combination(
        self, weights: Floats, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """An interval for the weighted sum of the means.

        The mean of a group that was not released can be anywhere within the bounds.
        Proof: docs/proofs/groups.md (27).
        """
        lo, hi = bounds
        there = [each is not None and math.isfinite(each.scale) for each in self.weighings]
        told = np.flatnonzero(np.array(there) & (weights != 0.0))
        sums = np.zeros(self.numbers)
        sums[told] = weights[told]
        whole = np.full(self.numbers, lo), np.full(self.numbers, hi)
        ends, others = weighted_ends(sums, whole), weighted_ends(weights - sums, whole)
        reach = (hi - lo) * self._sum_reach(told, np.abs(weights[told]), assumption, confidence)
        centre = float(weights[told] @ self.drawn[told])
        if math.isfinite(centre + reach):
            low, high = np.clip([centre - reach, centre + reach], *ends)
            ends = float(low), float(high)
        return ends[0] + others[0], ends[1] + others[1]

    def shares(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats, Floats]:
        """The share of each group among all people, with its interval.

        For the given people the share is exact. For a population it has a sampling error.
        """
        n = max(int(self.people.sum()), 1)
        value = self.people / n
        far = mean.sampling_reach(n, 1.0 - confidence) if assumption.sampled else 0.0
        far += self.rounding
        return value, np.maximum(value - far, 0.0), np.minimum(value + far, 1.0)

    def _reach(
        self,
        groups: tuple[int, int],
        parts: tuple[float, float],
        assumption: Assumption,
        confidence: float,
    ) -> float:
        """Bound on the error of a linear combination of two means, on a unit range."""
        pair = [self.weighings[group] for group in groups]
        weighings = [each for each in pair if each is not None and math.isfinite(each.scale)]
        if len(weighings) < 2:
            return math.inf
        slack = sum(part * self.slacks[group] for part, group in zip(parts, groups, strict=True))
        ways = [ways_of(each, assumption) for each in weighings]
        beta = 1.0 - confidence
        if any(each is None for each in ways):
            return self._apart(weighings, parts, assumption, beta) + slack
        scales = [part * each.scale for part, each in zip(parts, weighings, strict=True)]
        noise = Difference(max(scales), min(scales), 0.0)
        found = [
            joint(
                noise,
                parts[0] * one[0] + parts[1] * other[0],
                parts[0] ** 2 * one[1] + parts[1] ** 2 * other[1],
                beta,
            )
            for one in ways[0] or ()
            for other in ways[1] or ()
        ]
        return min(found) + slack

    def _sum_reach(
        self, groups: Integers, parts: Floats, assumption: Assumption, confidence: float
    ) -> float:
        """Bound on the error of a combination of any number of means, on a unit range.

        Proof: docs/proofs/groups.md (27).
        """
        if len(groups) == 2:
            pair = int(groups[0]), int(groups[1])
            return self._reach(pair, (float(parts[0]), float(parts[1])), assumption, confidence)
        beta, all_parts = 1.0 - confidence, parts.tolist()
        weighings = [cast(Weighing, self.weighings[group]) for group in groups.tolist()]
        slack = float(parts @ np.array(self.slacks)[groups])
        level = 1.0 - beta / max(len(weighings), 1)
        each_off = [mean.quantile(each, assumption, level) for each in weighings]
        apart = slack + float(parts @ np.array(each_off))
        ways = [ways_of(each, assumption) for each in weighings]
        if len(weighings) < 2 or any(each is None for each in ways):
            return apart
        noise = Contrast(parts * np.array([each.scale for each in weighings]), 1.0)
        found = [
            noise.deviation(
                sum(part * shift for part, (shift, _) in zip(all_parts, each, strict=True)),
                sum(part**2 * square for part, (_, square) in zip(all_parts, each, strict=True)),
                beta,
            )
            for each in zip(*(each or () for each in ways), strict=True)
        ]
        return min(min(found) + slack, apart)

    def _apart(
        self,
        weighings: list[Weighing],
        parts: tuple[float, float],
        assumption: Assumption,
        beta: float,
    ) -> float:
        """The sum of two separate error bounds, for the best split of the error probability."""

        def error(at: int, part: float) -> float:
            if parts[at] == 0.0:
                return 0.0
            return parts[at] * mean.quantile(weighings[at], assumption, 1.0 - part * beta)

        if 0.0 in parts:
            return error(0, 1.0) + error(1, 1.0)
        return min(error(0, part) + error(1, 1.0 - part) for part in self._splits(assumption))

    def _splits(self, assumption: Assumption) -> tuple[float, ...]:  # noqa: ARG002
        """The fractions of the error probability that are tried for the first of two groups."""
        return _SPLITS


@storable("risk.PublicGroupsEvenly")
@dataclass(frozen=True, eq=False)
class PublicGroupsEvenly(PublicGroups):
    """`PublicGroups` with a fixed split where budgets are sampled together with the values.

    Proof: docs/proofs/parallel.md (5).
    """

    def _splits(self, assumption: Assumption) -> tuple[float, ...]:
        """The fractions to try; only the even split if budgets are sampled together with values.

        The best fraction depends on budgets. If these are sampled together with values, a choice
        among several fractions would not be valid.
        """
        chosen = assumption.sampled and assumption.related is not False
        return _SPLITS[:1] if chosen else _SPLITS


def ratio_ends(
    drawn: tuple[float, float], bounds: Bounds, reach: Callable[[float, float], float]
) -> Bounds:
    """An interval for the quotient of two means of values with one sign.

    Proof: docs/proofs/parallel.md (6).

    Args:
        drawn: the two estimates, in data units; NaN for a group that was not released.
        bounds: the range of the values.
        reach: bound on the error of a·(first mean) − b·(second mean) for coefficients a, b ≥ 0. It
            increases in both, and is proportional to them.
    """
    lo, hi = bounds
    least_one, most = (lo, hi) if lo >= 0.0 else (-hi, -lo)
    sign = 1.0 if lo >= 0.0 else -1.0
    ends = least_one / most, most / least_one if least_one > 0.0 else math.inf
    own = sign * np.array(drawn)
    if np.isnan(own).any():
        return ends
    above, below = np.maximum(own, 0.0).tolist()
    # Each condition changes its sign once. Proof: docs/proofs/parallel.md (6).
    low, far = 0.0, _FAR
    if above > reach(1.0, 0.0):
        low = _last(lambda rho: above - rho * below - reach(1.0, rho), 0.0, far)
    high = math.inf
    if below > reach(0.0, 1.0):
        last = _last(lambda s: below - above * s - reach(s, 1.0), 0.0, far)
        high = 1.0 / max(last, 1.0 / _FAR)
    return min(max(low, ends[0]), ends[1]), max(min(high, ends[1]), ends[0])


def ways_of(weighing: Weighing, assumption: Assumption) -> list[tuple[float, float]] | None:
    """Bounds on an error without noise: a shift plus a sum S with P(S > s) ≤ exp(−2s²/v).

    Proof: docs/proofs/parallel.md (5).

    Returns:
        Alternative pairs of a shift and a v; None if the error does not have this form.
    """
    if weighing.stairs is not None or weighing.keep is not None:
        return None
    if assumption.related is False:
        if assumption.sampled:
            return [(0.0, weighing.square)]
        return [(0.0, mean.permutation_proxy(weighing)), (weighing.bias, 0.0)]
    if assumption.sampled:
        return None
    return [(float(mean.leaning(weighing, assumption.apart)), 0.0)]


def joint(noise: Difference, shift: float, square: float, beta: float) -> float:
    """An α with P(|c + S + noise| > α) ≤ β for all |c| ≤ shift.

    Proof: docs/proofs/parallel.md (4), (5).
    """
    sigma = math.sqrt(square) / 2.0

    def exceeds(alpha: float) -> float:
        # Without S only noise is left. It is symmetric, so P(noise > 0) = ½.
        if sigma > 0.0 or alpha > 0.0:
            return noise.tail(alpha, sigma)
        return 0.5 if alpha == 0.0 else 1.0 - noise.tail(-alpha, 0.0)

    if noise.a <= 0.0:
        return deviation(shift, square, 0.0, beta)
    if sigma <= 0.0:
        return quantile_of(exceeds, shift, noise.a, beta)
    return shift + two_sided(exceeds, shift, beta, noise.a + sigma)


def _last(positive: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a decreasing function, rounded down."""
    if positive(high) > 0.0:
        return high
    end = bisect(positive, low, high)
    return end if positive(end) > 0.0 else max(end * (1.0 - 1e-9) - 1e-12, low)
