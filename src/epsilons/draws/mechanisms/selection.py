"""Exact private selection of a quantile from public candidates, to find a range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from epsilons.door.count import line
from epsilons.draws.noise import Source, below, exp_minus
from epsilons.draws.noise.exact import continues_below, enclose
from epsilons.frozen import storable
from epsilons.types import Floats, Integers, freeze

__all__ = [
    "Candidates",
    "CellsOf",
    "Listed",
    "Selection",
    "TheLine",
    "radii",
    "spread_of",
]


# Public candidates in a public order. Each has a public integer prior that is independent of data.
#
# A prior costs no privacy. On the real line it prefers numbers near 1 to numbers near 10³⁰⁰: the
# prior of the octave 2^e is proportional to 1/(|e| + 8)². So few people suffice to find numbers of
# ordinary size, and every number can be found.

_UNIT = 2**30
_NEAR = 8


class Candidates(Protocol):
    """Candidates with the indices first, ..., last, each with an integer prior weight."""

    @property
    def first(self) -> int:
        """The index of the first candidate."""

    @property
    def last(self) -> int:
        """The index of the last candidate."""

    def before(self, index: Integers) -> Integers:
        """Return the prior weight of all candidates before each index; an index can be last + 1."""

    def at(self, weight: int) -> int:
        """Return the candidate at which the cumulative prior weight first exceeds `weight`."""


def octave_prior(exponents: Integers) -> Integers:
    """Return, for each exponent e, the prior weight of one cell in the octave 2^e; at least 1."""
    return np.asarray(_UNIT // (np.abs(exponents) + _NEAR) ** 2, dtype=np.int64)


def _octaves() -> Integers:
    """Return cumulative prior weights on one side of 0: entry o is that of the first o octaves."""
    exponents = np.arange(line.LOWEST, 1025, dtype=np.int64)
    return np.concatenate([[0], np.cumsum(octave_prior(exponents) * line.CELLS)])


_OCTAVES = _octaves()
_CELL = np.diff(_OCTAVES) // line.CELLS
_HALF = int(_OCTAVES[-1])
_ZERO = _UNIT // _NEAR**2 * line.CELLS
"""The prior weight of the bucket of 0: the same as that of the octave of 1."""


@storable("mechanisms.TheLine")
@dataclass(frozen=True)
class TheLine:
    """All buckets of the float64 line, by their index in `door.count.line`."""

    @property
    def first(self) -> int:
        """The bucket of the most negative floats."""
        return -line.TOP

    @property
    def last(self) -> int:
        """The bucket of the largest floats."""
        return line.TOP

    def before(self, index: Integers) -> Integers:
        """Return the prior weight of all buckets before each index."""
        positive = _HALF + _ZERO + _up_to(index - 1)
        return np.where(index > 0, positive, _HALF - _up_to(-index))

    def at(self, weight: int) -> int:
        """Return the bucket at which the cumulative prior weight first exceeds `weight`."""
        if weight < _HALF:
            return -_find(_HALF - 1 - weight)
        if weight < _HALF + _ZERO:
            return 0
        return _find(weight - _HALF - _ZERO)


def _up_to(size: Integers) -> Integers:
    """Return the prior weight of the buckets 1, ..., size on one side of 0."""
    octave, cells = np.divmod(np.maximum(size, 0), line.CELLS)
    inner = np.minimum(octave, len(_CELL) - 1)
    return np.asarray(_OCTAVES[octave] + np.where(cells > 0, _CELL[inner] * cells, 0))


def _find(weight: int) -> int:
    octave = int(np.searchsorted(_OCTAVES, weight, side="right")) - 1
    return octave * line.CELLS + (weight - int(_OCTAVES[octave])) // int(_CELL[octave]) + 1


@storable("mechanisms.CellsOf")
@dataclass(frozen=True)
class CellsOf:
    """The cells of a window, which is a bounded range of values. Each has the prior weight 1.

    Attributes:
        count: the number of cells.
    """

    count: int

    @property
    def first(self) -> int:
        """The first cell."""
        return 0

    @property
    def last(self) -> int:
        """The last cell."""
        return self.count - 1

    def before(self, index: Integers) -> Integers:
        """Return how many cells are before each index."""
        return np.asarray(index, dtype=np.int64)

    def at(self, weight: int) -> int:
        """Return the cell at which the cumulative prior weight first exceeds `weight`."""
        return weight


@storable("mechanisms.Listed")
@dataclass(frozen=True, eq=False)
class Listed:
    """A short list of candidates.

    Attributes:
        weights: the prior weight of each candidate, at least 1.
    """

    weights: Integers

    @property
    def first(self) -> int:
        """The first candidate."""
        return 0

    @property
    def last(self) -> int:
        """The last candidate."""
        return len(self.weights) - 1

    def before(self, index: Integers) -> Integers:
        """Return the prior weight of all candidates before each index."""
        return np.asarray(self._ends[index])

    def at(self, weight: int) -> int:
        """Return the candidate at which the cumulative prior weight first exceeds `weight`."""
        return int(np.searchsorted(self._ends, weight, side="right")) - 1

    @cached_property
    def _ends(self) -> Integers:
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.weights)])


_STEPS = np.array([1.0, 19 / 16, 45 / 32, 27 / 16])
"""About 2^{0, ¼, ½, ¾}: four radii per octave."""


def radii(least: float, most: float) -> tuple[Floats, Listed]:
    """Return candidates for a radius, with four in each octave, and their prior weights.

    Args:
        least: the smallest useful radius, which is the first candidate.
        most: the largest radius.

    Returns:
        The radii from `least` to `most`, ascending; and the prior weight of each, which depends
        only on its octave.
    """
    exponents = np.arange(line.LOWEST - 64, 1023, dtype=np.int64)
    sizes = np.ldexp(_STEPS[None, :], exponents[:, None]).ravel()
    weights = np.repeat(octave_prior(exponents), len(_STEPS))
    chosen = (sizes > least) & (sizes <= most)
    first = int(octave_prior(np.array([np.frexp(least)[1]]))[0])
    return (
        np.concatenate([[least], sizes[chosen]]),
        Listed(np.concatenate([[first], weights[chosen]])),
    )


_BITS = 64
_FAR = 45
"""For t of at least this, e^{−t} is below 2^−64, and the envelope is 1."""

_ENVELOPE = [enclose(t, 1, _BITS)[1] for t in range(_FAR)] + [1]
"""Integers of at least 2^64·e^{−t} for t = 0, ..., _FAR − 1, followed by 1 for all larger t."""

_LARGEST = 2**62
"""Divisors up to this value fit 64 bits, and so do all distances."""


def spread_of(neighbours: str, odds: tuple[int, int]) -> int:
    """Return how much a person of weight 1 can change u(a) − u(b), for any candidates a and b.

    `Selection` defines the distance u of a candidate.

    Args:
        neighbours: "replace" or "add-remove".
        odds: the odds (l, r) of the quantile.
    """
    left, right = odds
    return 2 * (left + right) if neighbours == "replace" else 2 * max(left, right)


@storable("mechanisms.Selection")
@dataclass(frozen=True, eq=False)
class Selection:
    """An exponential mechanism that selects a candidate near a weighted quantile of the people.

    Everyone is in one candidate, before the first, or after the last, and has an integer weight.
    With odds (l, r) the quantile is l/(l + r); for (1, 1) it is the median. At the quantile, the
    weights to the left and to the right have the ratio l : r. The distance u of a candidate
    measures how far it is from this ratio. Let `before`, `in` and `after` be the total weights of
    the people before, in and after the candidate. Then u = max(0, r·before − l·(in + after),
    l·after − r·(before + in)), and P(candidate) ∝ prior·e^{−u/scale}. The object holds no data: the
    weights are passed to `draw`.

    Guarantee:
        If a person of weight k moves, either of the two differences changes by at most (l + r)·k.
        If a person is added or removed, it changes by at most max(l, r)·k. So every distance
        changes by at most half of k·spread. Every log-ratio of probabilities, including the
        normalizer, is at most k·spread/scale. Proof: docs/proofs/gaussian.md (1).

    Reference:
        McSherry and Talwar 2007; paper *gaussian*, Algorithm 2, with weights in place of sampling,
        with a prior, and without moving the rank inwards.

    Attributes:
        levels: budget levels ε.
        weights: the integer weight k of a person at each level.
        scale: the divisor of a distance, an integer.
        neighbours: "replace" or "add-remove".
        candidates: the candidates to choose from.
        seeks: a description of the selected quantity.
        odds: the ratio of the weight to the left of the quantile to the weight to its right.
    """

    kind = "selection"
    released = "a quantile by the exponential mechanism"
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
        """How much a person of weight 1 can change u(a) − u(b), for any candidates a and b."""
        return spread_of(self.neighbours, self.odds)

    def placed(self, levels: Floats, place: Integers) -> Selection:
        """Return the same selection on finer levels, each contained in one current level."""
        return replace(self, levels=levels.copy(), weights=self.weights[place])

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """The loss of a person at each level: k·spread/scale."""
        return tuple(Fraction(int(k) * self.spread, self.scale) for k in self.weights.tolist())

    def exponent(self, candidate: int, cells: Integers, masses: Integers) -> Fraction:
        """Return u/scale: −ln P(candidate) + ln(prior), up to the same constant for all candidates.

        Args:
            candidate: the index of a candidate.
            cells: the indices of candidates that contain people, ascending; empty ones can be
                omitted.
            masses: the total weight of the people in each cell.
        """
        starts, far = distances(self.candidates, cells, masses, self.odds)
        unit = int(self.candidates.before(np.array([candidate]))[0])
        run = int(np.searchsorted(starts, unit, side="right")) - 1
        return Fraction(int(far[run]), self.scale)

    def draw(self, source: Source, total: tuple[Integers, Integers]) -> int:
        """Draw a candidate.

        Args:
            source: where the randomness comes from.
            total: the indices of candidates that contain people, ascending (empty ones can be
                omitted), and the total weight of the people in each.

        Guarantee:
            P ∝ prior·e^{−u/scale}, exactly. The draw is by rejection, with u measured from its
            minimum. For t = floor(u/scale), let E(t) be an integer of at least 2^64·e^{−t}. A
            candidate is proposed with probability proportional to prior·E(t). It is accepted with
            probability 2^64·e^{−u/scale}/E(t), exactly; if not, another one is proposed.
        """
        starts, far = distances(self.candidates, *total, self.odds)
        prior = np.diff(starts)
        far = np.where(prior > 0, far, far.max())
        far = far - far.min()  # P does not change: only differences matter
        if self.scale > _LARGEST:  # larger than any total weight, so all quotients are 0
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
    """Return the distances for runs of candidates; all candidates of a run have the same distance.

    Args:
        candidates: the candidates to choose from.
        cells: the indices of candidates that contain people, ascending and distinct.
        masses: the total weight of the people in each cell.
        odds: the odds (l, r) of the quantile.

    Returns:
        The cumulative prior weight at the start of each run, followed by the end of the last run;
        and the distance of each run. The runs are: the candidates before the first cell, that cell,
        the candidates up to the next cell, and so on.
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
