"""Exact private selection of one of nested intervals: a quantile, and an interval around it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from epsilons.draws.noise import Source, exp_minus
from epsilons.draws.noise.exact import permutation, steps_many
from epsilons.frozen import storable
from epsilons.types import Floats, Integers, freeze

__all__ = ["Nested"]


@storable("mechanisms.Nested")
@dataclass(frozen=True, eq=False)
class Nested:
    """Permute-and-flip that selects the first of nested intervals that is wide enough.

    Everyone is in one cell, or divided among several, and has an integer weight. Interval t has the
    cells starts[t], ..., ends[t] − 1. Let A be the weight in all cells before starts[t], B the
    weight in all cells before ends[t], and K the weight of all people. The interval is wide enough
    if A ≤ low·K/parts and B ≥ high·K/parts. Its surplus s(t) is the smaller of low·K − parts·A and
    parts·B − high·K. Its distance is u(t) = max(0, −s(t), s(t − 1)): it is 0 for the first interval
    that is wide enough. The intervals are visited in random order, and each is accepted with
    probability e^{−(u − min u)/scale}; the first to be accepted is selected. The object holds no
    data: the weights are passed to `draw`.

    To select a quantile, let all intervals start at the first cell, and let low = parts. Then A is
    0, so only the condition on B matters. The last cell of the first interval that is wide enough
    is the one that contains the quantile high/parts.

    Guarantee:
        If a person of weight k is replaced, a surplus changes by at most parts·k, and so does every
        distance. Every log-ratio of probabilities is at most 2·parts·k/scale.
        Proof: docs/proofs/quantiles.md (1).

    Reference:
        McKenna and Sheldon 2020. With the same loss, the expected distance of the selection is
        never larger than that of the exponential mechanism, and can be half of it.

    Attributes:
        levels: budget levels ε.
        weights: the integer weight k of a person at each level.
        scale: the divisor of a distance, an integer.
        starts: the first cell of each interval, descending.
        ends: the cell that follows the last cell of each interval, ascending.
        parts: the denominator of `low` and `high`.
        low: at most low/parts of the weight may be before an interval.
        high: at least high/parts of the weight must be before the end of an interval.
        seeks: a description of the selected quantity.
    """

    kind = "nested"
    released = "a quantile, or an interval around it, by permute-and-flip"
    paper = (
        'McKenna and Sheldon, "Permute-and-Flip: a new mechanism for differentially private '
        'selection", NeurIPS 2020'
    )
    neighbours = "replace"
    levels: Floats
    weights: Integers
    scale: int
    starts: Integers
    ends: Integers
    parts: int
    low: int
    high: int
    seeks: str

    def __post_init__(self) -> None:
        freeze(self.levels, self.weights, self.starts, self.ends)

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """The loss of a person at each level: 2·parts·k/scale."""
        return tuple(Fraction(2 * self.parts * int(k), self.scale) for k in self.weights.tolist())

    def distances(self, cells: Integers, masses: Integers) -> list[int]:
        """Return the distance u of every interval.

        Args:
            cells: the indices of cells that contain people, ascending; empty ones can be omitted.
            masses: the total weight of the people in each cell.
        """
        # Products with `parts` may need more than 64 bits, so these are Python integers.
        sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(masses)]).astype(object)
        before, upto = (sums[np.searchsorted(cells, at)] for at in (self.starts, self.ends))
        whole = sums[-1]
        surplus = np.minimum(
            self.low * whole - self.parts * before, self.parts * upto - self.high * whole
        )
        far = np.maximum(-surplus, 0)
        far[1:] = np.maximum(far[1:], surplus[:-1])
        found: list[int] = far.tolist()
        return found

    def exponent(self, candidate: int, cells: Integers, masses: Integers) -> Fraction:
        """Return u/scale of one interval.

        Args:
            candidate: the index of the interval.
            cells: the indices of cells that contain people, ascending.
            masses: the total weight of the people in each cell.
        """
        near = slice(max(candidate - 1, 0), candidate + 1)
        last = replace(self, starts=self.starts[near], ends=self.ends[near])
        return Fraction(last.distances(cells, masses)[-1], self.scale)

    def typical(self, total: tuple[Integers, Integers]) -> int:
        """Return the index of the interval that a plan assumes, for the total of `draw`.

        Noise makes selected intervals longer than needed: here, by half of the noise scale.
        """
        far = self.distances(*total)
        return max(at for at in range(far.index(0), len(far)) if 2 * far[at] < self.scale)

    def draw(self, source: Source, total: tuple[Integers, Integers]) -> int:
        """Draw the index of an interval.

        Args:
            source: where the randomness comes from.
            total: the indices of cells that contain people, ascending (empty ones can be omitted),
                and the total weight of the people in each.

        Guarantee:
            The order of the intervals is uniformly random, and every probability of acceptance is
            exact. Let (u − min u)/scale = j + f, with an integer j and 0 ≤ f < 1. The interval is
            accepted if V ≥ j for a random count V, which has probability e^{−j}, and if an
            independent coin succeeds, which has probability e^{−f}.
        """
        far = self.distances(*total)
        least = min(far)
        quotients = [divmod(each - least, self.scale) for each in far]
        steps = steps_many(source, len(far))
        order: list[int] = permutation(source, len(far)).tolist()
        return next(
            at
            for at in order
            if steps[at] >= quotients[at][0] and exp_minus(source, quotients[at][1], self.scale)
        )
