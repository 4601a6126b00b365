"""How far a weighted sum of values of one population is off, if their deviation is known.

The formulas are derived in `docs/proofs/moment.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from epsilons.budgets import dot
from epsilons.risk.tails import bisect
from epsilons.types import Floats

_SLOPES: Final = 96
"""Exponents at which moments are bounded: any of them gives a bound, and the best is taken."""

_STEEPEST: Final = 60.0
"""The largest exponent, in parts of the largest weight: its exponential is a float."""

_NODES: Final = 128
"""Weights up to which each is looked at by itself."""


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum Σ a_i·(X_i − μ) of values in [0, 1] that are independent, or associated negatively.

    Attributes:
        weights: the coefficients a from 0, each once.
        counts: how many terms have each.
    """

    weights: Floats
    counts: Floats

    @cached_property
    def square(self) -> float:
        """Σ a²."""
        return dot(self.counts, np.square(self.weights))

    @cached_property
    def largest(self) -> float:
        """The largest coefficient."""
        return float(self.weights.max(initial=0.0))

    def bernstein(self, sigma: float, log: float) -> float:
        """What the sum exceeds with a probability of at most e^−log, of this deviation or less."""
        part = self.largest * log / 3.0
        return part + math.sqrt(part * part + 2.0 * self.square * sigma * sigma * log)

    def reach(self, sigma: float, scale: float, beta: float) -> float:
        """The h with P(|Σ a·(X − μ) + L| > h) ≤ β, for values of at most this deviation.

        L is Laplace noise of this scale, and independent.
        """
        if self.largest <= 0.0:
            return -scale * math.log(beta)
        tail = _Tail.of(self, sigma)

        def excess(far: float) -> float:
            return 2.0 * tail.beyond(far, scale) - beta

        high = math.sqrt(self.square) * max(sigma, 1e-3) + scale
        while excess(high) > 0.0:
            high *= 2.0
        return bisect(excess, 0.0, high)

    @cached_property
    def few(self) -> tuple[Floats, Floats]:
        """Few weights and how many have them, whose bounds on moments are not smaller.

        A bound on moments is convex in the weight, so that a weight between two nodes may be
        counted at both of them, in parts that keep its sum.
        """
        used = self.weights > 0.0
        weights, counts = self.weights[used], self.counts[used]
        if len(weights) <= _NODES:
            return weights, counts
        nodes = np.geomspace(weights.min(), weights.max(), _NODES)
        nodes[0], nodes[-1] = weights.min(), weights.max()
        at = np.clip(np.searchsorted(nodes, weights, side="right") - 1, 0, _NODES - 2)
        part = (weights - nodes[at]) / (nodes[at + 1] - nodes[at])
        found = np.bincount(at, counts * (1.0 - part), _NODES)
        found += np.bincount(at + 1, counts * part, _NODES)
        return nodes, found.astype(np.float64)


def log_moment(slope: Floats, sigma: float) -> Floats:
    """The largest ln E e^{λ(X − μ)} of values in [0, 1] of at most this deviation, for λ ≥ 0.

    It is that of a rare 1 among zeros: of the deviation itself, or of the smaller one that is worst
    for this λ.
    """
    rare = (1.0 - math.sqrt(max(1.0 - 4.0 * sigma * sigma, 0.0))) / 2.0
    grown = np.expm1(slope)
    small = slope < 1e-4
    worst = np.where(small, 0.5 - slope / 12.0, 1.0 / np.where(small, 1.0, slope) - 1.0 / grown)
    share = np.minimum(rare, worst)
    return np.asarray(np.log1p(share * grown) - slope * share)


@dataclass(frozen=True, eq=False)
class _Tail:
    """A bound on P(S > s): the least of e^{K − λs} over some λ, of which 0 is one.

    Its logarithm is a broken line, so that its integral against Laplace noise is a sum.

    Attributes:
        slopes: the λ, ascending from 0.
        logs: the K of each.
        ends: where the best λ is the next one.
    """

    slopes: Floats
    logs: Floats
    ends: Floats

    @classmethod
    def of(cls, terms: Terms, sigma: float) -> _Tail:
        deviation = math.sqrt(terms.square) * sigma
        top = _STEEPEST / terms.largest
        low = top / 1000.0
        if deviation > 0.0:
            top = min(top, 40.0 / deviation)
            low = min(0.2 / deviation, top / 100.0)
        weights, counts = terms.few
        slopes = np.geomspace(low, top, _SLOPES)
        logs = log_moment(np.outer(slopes, weights), sigma) @ counts
        slopes, logs = np.append(0.0, slopes), np.append(0.0, logs)
        # K is convex: these ends ascend, but for rounding.
        ends = np.maximum.accumulate(np.diff(logs) / np.diff(slopes))
        return cls(slopes, logs, ends)

    def beyond(self, far: float, scale: float) -> float:
        """A bound on P(S + L > far)."""
        if scale <= 0.0:
            return math.exp(min(float(np.min(self.logs - self.slopes * far)), 0.0))
        # Left of the first end S is anything: L alone must be beyond what is left.
        first = far - float(self.ends[0])
        half = 0.5 * math.exp(-abs(first) / scale)
        gone = half if first >= 0.0 else 1.0 - half
        starts, stops = self.ends, np.append(self.ends[1:], math.inf)
        # For s below `far` the noise is above 0, for s above it is below.
        before = starts, np.maximum(np.minimum(stops, far), starts)
        after = np.minimum(np.maximum(starts, far), stops), stops
        both = [
            self._part(far, sign / scale, *ends) for sign, ends in ((1.0, before), (-1.0, after))
        ]
        return min(gone + sum(both) / (2.0 * scale), 1.0)

    def _part(self, far: float, rate: float, starts: Floats, stops: Floats) -> float:
        """∫ e^{K − λs + rate·(s − far)} ds over the pieces, from starts to stops."""
        slopes, logs = rate - self.slopes[1:], self.logs[1:]
        endless = np.isinf(stops)  # the last piece, if it falls
        at = np.where((slopes > 0.0) & ~endless, stops, starts)  # where it is largest
        highest = np.exp(np.minimum(logs - self.slopes[1:] * at + rate * (at - far), 0.0))
        length = np.where(endless, 0.0, stops - starts)
        fall = np.abs(slopes) * length
        some = np.where(fall > 1e-9, fall, 1.0)
        parts = np.where(fall > 1e-9, -np.expm1(-some) / some, 1.0) * length
        return float(highest @ np.where(endless, 1.0 / np.abs(slopes), parts))
