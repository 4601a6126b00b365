"""A weighted quantile among public candidates: an exponential mechanism that is drawn exactly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from epsilons.frozen import storable
from epsilons.mechanisms.candidates import Candidates
from epsilons.noise import Source, below, exp_minus
from epsilons.noise.enclosure import continues_below, enclose
from epsilons.types import Floats, Integers, freeze

__all__ = ["Selection", "spread_of"]

_BITS = 64
_FAR = 45
"""e^{−t} is below 2^−64 from here on: beyond it one unit is the envelope."""

_ENVELOPE = [enclose(t, 1, _BITS)[1] for t in range(_FAR)] + [1]
"""Whole numbers that are at least 2^64·e^{−t}, for t = 0, ..., and for all that is farther."""

_LARGEST = 2**62
"""Divisors up to this fit 64 bits, and so do all distances."""


def spread_of(neighbours: str, odds: tuple[int, int]) -> int:
    """How far apart two distances can move when a person of weight 1 changes.

    Args:
        neighbours: "replace" or "add-remove".
        odds: of a quantile.
    """
    left, right = odds
    return 2 * (left + right) if neighbours == "replace" else 2 * max(left, right)


@storable("mechanisms.Selection")
@dataclass(frozen=True, eq=False)
class Selection:
    """One candidate, likelier the nearer it is to a weighted quantile of the people.

    Everyone is in one candidate (or before the first, or after the last), with an integer weight.
    With odds (l, r) the quantile is l/(l + r), for (1, 1) the median. The distance of a candidate
    is how far it is from having l parts of the weight to its left for r parts to its right:
    u = max(0, r·before − l·(in or after), l·after − r·(before or in)). Then P(candidate) ∝
    prior·e^{−u/scale}. It holds no data: the weights of the candidates come in when it is drawn.

    Guarantee:
        A person of weight k who moves changes either of the two by at most (l + r)·k, and by at
        most max(l, r)·k if they come or go. So no distance grows by more than half of k·spread,
        none falls by more, and every log-ratio of probabilities, the common divisor included, is at
        most k·spread/scale. Proof: docs/proofs/gaussian.md.

    Reference:
        McSherry and Talwar 2007; paper *gaussian*, Algorithm 2, with weights in place of sampling,
        a prior, and no rank to be moved inwards.

    Attributes:
        levels: the budgets ε.
        weights: the integer weight k of a person of each level.
        scale: the divisor of a distance, a whole number.
        neighbours: "replace" or "add-remove".
        candidates: what is chosen from.
        seeks: what is sought, in words.
        odds: how much of the weight should lie to the left, and how much to the right.
    """

    kind = "selection"
    levels: Floats
    weights: Integers
    scale: int
    neighbours: str
    candidates: Candidates
    seeks: str
    odds: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        freeze(self.levels, self.weights)

    @property
    def spread(self) -> int:
        """How far apart two distances can move when a person of weight 1 changes."""
        return spread_of(self.neighbours, self.odds)

    def placed(self, levels: Floats, place: Integers) -> Selection:
        """The same selection, said of finer levels, each of which lies in one of its own."""
        return replace(self, levels=levels.copy(), weights=self.weights[place])

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """What a person of each level spends: k·spread/scale."""
        return tuple(Fraction(int(k) * self.spread, self.scale) for k in self.weights.tolist())

    def exponent(self, candidate: int, cells: Integers, masses: Integers) -> Fraction:
        """u/scale: −ln P(candidate) + ln(prior), up to one constant for all candidates.

        Args:
            candidate: one of the candidates.
            cells: the candidates that somebody is in, ascending; others may be left out.
            masses: the weight of the people in each.
        """
        starts, far = distances(self.candidates, cells, masses, self.odds)
        unit = int(self.candidates.before(np.array([candidate]))[0])
        run = int(np.searchsorted(starts, unit, side="right")) - 1
        return Fraction(int(far[run]), self.scale)

    def draw(self, source: Source, total: tuple[Integers, Integers]) -> int:
        """Draw a candidate.

        Args:
            source: where the randomness comes from.
            total: the candidates that somebody is in, ascending (others may be left out), and the
                weight of the people in each.

        Guarantee:
            P ∝ prior·e^{−u/scale}, exactly: a whole number above 2^64·e^{−t}, t = floor(u/scale),
            is the envelope, and what it is too large by is rejected by exact coins.
        """
        starts, far = distances(self.candidates, *total, self.odds)
        prior = np.diff(starts)
        far = np.where(prior > 0, far, far.max())
        far = far - far.min()  # the same law: it is the differences that count
        if self.scale > _LARGEST:  # no weights add up to as much: the same quotient and rest
            steps, rest = np.zeros_like(far), far
        else:
            steps, rest = np.divmod(far, self.scale)
        group = np.minimum(steps, _FAR)
        grouped = np.zeros(_FAR + 1, dtype=np.int64)
        np.add.at(grouped, group, prior)
        sums = grouped.tolist()
        bounds = [weight * top for weight, top in zip(sums, _ENVELOPE, strict=True)]
        whole = sum(bounds)
        while True:
            point = below(source, whole)
            t = 0
            while point >= bounds[t]:
                point -= bounds[t]
                t += 1
            lead, unit = divmod(point, sums[t])
            members = np.flatnonzero(group == t)
            ends = np.cumsum(prior[members])
            place = int(np.searchsorted(ends, unit, side="right"))
            run = int(members[place])
            offset = unit - int(ends[place] - prior[run])
            if continues_below(source, lead, _BITS, int(steps[run]), 1) and exp_minus(
                source, int(rest[run]), self.scale
            ):
                return self.candidates.at(int(starts[run]) + offset)


def distances(
    candidates: Candidates, cells: Integers, masses: Integers, odds: tuple[int, int] = (1, 1)
) -> tuple[Integers, Integers]:
    """The distances, for runs of candidates that share one.

    Args:
        candidates: what is chosen from.
        cells: the candidates that somebody is in, ascending and distinct.
        masses: the weight of the people in each.
        odds: of the quantile.

    Returns:
        Where each run begins in the order of prior weight, with the end of the last one; and the
        distance of each run. Runs are: before the first cell, that cell, between it and the next.
    """
    first, end = candidates.first, candidates.last + 1
    edges = np.empty(2 * cells.size + 2, dtype=np.int64)
    edges[0], edges[-1] = first, end
    edges[1:-1:2], edges[2:-1:2] = cells, cells + 1
    np.clip(edges, first, end, out=edges)
    upto = np.zeros(2 * cells.size + 1, dtype=np.int64)
    below_run = np.zeros(2 * cells.size + 1, dtype=np.int64)
    if cells.size:
        summed = np.cumsum(masses)
        upto[1::2], upto[2::2] = summed, summed
        below_run[1::2], below_run[2::2] = summed - masses, summed
    total = int(masses.sum())
    left, right = odds
    before = right * below_run - left * (total - below_run)
    after = left * (total - upto) - right * upto
    far = np.maximum(np.maximum(before, after), 0)
    return candidates.before(edges), far
