"""Many signs at once: a cap of the cube, in which the answer lies more often than outside it.

A person's j signs s are answered by s with some of them turned. The answer lies within Hamming
distance t of s, K of the 2^j answers, with the probability that ε allows; given that, and given the
contrary, all answers are equally likely. The number K is the same for every s, so that the loss is
exactly that of the one coin of `coins`. With j = 1 and t = 0 it is randomized response.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilons.local.channel import Channel
from epsilons.local.coins import WORD, flips, threshold
from epsilons.noise import Source, below_many
from epsilons.risk.local import signs_variance
from epsilons.types import Floats

MOST_SIGNS: Final = 32
LARGEST_CAP: Final = 1 << 13
"""Answers in a cap, at most: they are listed once and drawn from the list."""


@dataclass(frozen=True)
class Cap:
    """The answers within a distance of a sign vector.

    Attributes:
        signs: j, from 1 to 32.
        distance: t, how many of them may differ.
    """

    signs: int
    distance: int

    @cached_property
    def inside(self) -> int:
        """K: how many answers are in the cap."""
        return sum(math.comb(self.signs, h) for h in range(self.distance + 1))

    @property
    def answers(self) -> int:
        """N: how many answers there are."""
        return 1 << self.signs

    def advantage(self, epsilon: Floats) -> tuple[Floats, Floats]:
        """E[e₁] and E[e₁·e₂], where e_i is 1 if sign i is answered as it is, and −1 otherwise.

        Args:
            epsilon: budgets.

        Returns:
            (ρ, κ); κ is 1 if there is one sign only.
        """
        j, total = self.signs, self.answers
        sizes = [math.comb(j, h) for h in range(self.distance + 1)]
        first = sum(c * (j - 2 * h) for h, c in enumerate(sizes)) / self.inside / j
        pairs = sum(c * ((j - 2 * h) ** 2 - j) for h, c in enumerate(sizes)) / self.inside
        second = pairs / (j * (j - 1)) if j > 1 else 1.0
        # Over all answers both means are 0, so the outside mirrors the inside in proportion.
        odds = self.inside / (total - self.inside)
        falls = np.exp(-np.asarray(epsilon, dtype=np.float64))
        # P(in) − (1 − P(in))·K/(N − K), written so that nothing cancels where ε is small.
        net = -np.expm1(-np.asarray(epsilon, dtype=np.float64)) * odds / (odds + falls)
        rho = first * net
        kappa = second * net if j > 1 else np.ones_like(rho)
        return rho, kappa

    def variance(self, epsilon: Floats, dimension: int) -> Floats:
        """E‖Y‖² of the estimate of a vector in the unit ball: its worst-case variance."""
        rho, kappa = self.advantage(epsilon)
        return signs_variance(rho, kappa, self.signs, dimension)

    def turns(self, source: Source, epsilon: Floats) -> NDArray[np.uint32]:
        """For each budget, which signs to turn: a mask of `signs` bits.

        Guarantee:
            Independent; outside the cap with probability `threshold(ε, K, N)`/2⁶⁴, and uniform
            inside and outside, exactly.
        """
        out = flips(source, epsilon, self.inside, self.answers)
        if self.signs == 1:  # one answer inside, one outside
            return out.astype(np.uint32)
        found = np.zeros(len(epsilon), dtype=np.uint32)
        near = np.flatnonzero(~out)
        if self.inside > 1:
            found[near] = self._masks[below_many(source, self.inside, len(near))]
        far = np.flatnonzero(out)
        while len(far):
            drawn = (source.words(len(far)) >> np.uint64(64 - self.signs)).astype(np.uint32)
            found[far] = drawn
            far = far[np.bitwise_count(drawn) <= self.distance]
        return found

    def channel(self, epsilon: float) -> Channel:
        """The exact law of an answer to any signs, for `epsilons.verify`; for up to 8 signs."""
        flip = threshold(epsilon, self.inside, self.answers)
        inside, outside = self.inside, self.answers - self.inside
        every = range(self.answers)
        total = WORD * inside * outside
        near, far = (WORD - flip) * outside, flip * inside
        rows = tuple(
            tuple(near if (s ^ c).bit_count() <= self.distance else far for c in every)
            for s in every
        )
        return Channel(epsilon, tuple(every), tuple(every), rows, total)

    @cached_property
    def _masks(self) -> NDArray[np.uint32]:
        """All masks of the cap: fewer bits first, then smaller numbers."""
        masks = [
            sum(1 << k for k in places)
            for h in range(self.distance + 1)
            for places in itertools.combinations(range(self.signs), h)
        ]
        masks.sort(key=lambda mask: (mask.bit_count(), mask))
        return np.array(masks, dtype=np.uint32)


ONE: Final = Cap(1, 0)


@lru_cache(maxsize=1)
def caps() -> tuple[Cap, ...]:
    """All caps that are small enough, and not more than half the cube."""
    found = [Cap(j, t) for j in range(1, MOST_SIGNS + 1) for t in range((j + 1) // 2)]
    return tuple(cap for cap in found if cap.inside <= LARGEST_CAP)


@lru_cache(maxsize=64)
def ladder(dimension: int) -> tuple[Floats, tuple[Cap, ...]]:
    """From which budget on which cap has the smallest worst-case variance.

    Returns:
        (starts, caps): ascending budgets, and the cap from each on, compared at the start.
    """
    budgets = np.arange(1, 40 * 32) / 32.0
    table = np.array([cap.variance(budgets, dimension) for cap in caps()])
    # More signs cost more to draw: each must make it better by a part in a hundred.
    cost = 1.0 + 0.01 * np.array([cap.signs for cap in caps()])[:, None]
    best = np.argmin(table * cost, axis=0)
    starts, chosen = [0.0], [ONE]
    for budget, index in zip(budgets.tolist(), best.tolist(), strict=True):
        if caps()[index] != chosen[-1]:
            starts.append(budget)
            chosen.append(caps()[index])
    return np.array(starts), tuple(chosen)
