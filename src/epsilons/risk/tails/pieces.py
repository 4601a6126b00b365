"""Piecewise uniform noise, and the tails of a bounded sum plus such noise.

Staircase noise is uniform on each stair. So the bound on the tail of a bounded sum plus such noise
is a sum over stairs, and each term is an integral of a Gaussian function in closed form. On the
lattice a stair is a row of points. Each point is spread evenly over one lattice step, which moves
the noise by at most half a step (`slack`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import numpy as np

from epsilons.budgets.levels import dot
from epsilons.draws.noise import Pieces
from epsilons.types import Floats

_FAR: Final = 45.0
"""Stairs with probability below e^−45 relative to the first stair are omitted, and treated as
exceeding every threshold."""

_MOST_STAIRS: Final = 4000

_NEGLIGIBLE: Final = 1e-13
"""Pieces with a smaller probability are also omitted, and treated as exceeding every threshold."""

_LAST: Final = 6.0
"""Argument above which the complementary error function is below 10⁻¹⁶."""

_BEYOND: Final = 3e-16
"""Upper bound on the contribution of all pieces beyond `_LAST`; it is above e^−36."""

_CUTS: Final = 1024
"""Table points of the complementary error function per unit."""

_AT_ONCE: Final = 4096
"""Batch size at which all arrays fit in the first-level cache."""

_HEAVY: Final = 1e-7
"""Pieces with a larger probability are evaluated first."""

_BINS: Final = 32
"""Number of bins into which the distances of one ring are divided."""


@dataclass(frozen=True, eq=False)
class Flat:
    """A mixture of uniform distributions on intervals. Proof: docs/proofs/risk.md (15).

    Attributes:
        left: left end of each interval.
        right: right end; equal to `left` for a point.
        mass: probability of each interval.
        rest: probability of the omitted pieces, which are treated as exceeding every number.
        slack: largest distance between the true noise and this mixture.
        heavy: number of leading intervals with a larger probability than all others; 0 if unknown.
    """

    left: Floats
    right: Floats
    mass: Floats
    rest: float
    slack: float
    heavy: int = 0

    def tail(self, alpha: float, sigma: float) -> float:
        """Bound on P(S + X > alpha), where S is independent and P(S > s) ≤ exp(−s²/2σ²) for s ≥ 0.

        The bound is E[h(alpha − X)], where h(s) is exp(−s²/2σ²) for s ≥ 0 and 1 for s < 0.
        Proof: docs/proofs/risk.md (15).

        Args:
            alpha: the threshold.
            sigma: scale parameter σ of the sum S; 0 if there is no sum.
        """
        alpha -= self.slack
        root = sigma * math.sqrt(2.0)
        # Pieces above alpha count in full. Pieces far below alpha are covered by _BEYOND.
        over = self.left > alpha
        some = np.flatnonzero(~over & (self.right > alpha - _LAST * root))
        surely = float(self.mass[over].sum()) + self.rest
        if sigma > 0.0:
            surely += _BEYOND
        left, right, mass = self.left[some], self.right[some], self.mass[some]
        beyond = np.maximum(right - np.maximum(left, alpha), 0.0)
        if sigma > 0.0:
            bell = _erfc(np.maximum(alpha - right, 0.0) / root)
            bell -= _erfc(np.maximum(alpha - left, 0.0) / root)
            beyond += sigma * math.sqrt(math.pi / 2.0) * bell
        width = right - left
        point = np.flatnonzero(width <= 0.0)
        width[point] = 1.0
        beyond /= width
        if sigma > 0.0:
            beyond[point] = np.exp(-np.square((alpha - left[point]) / root))
        return surely + dot(mass, beyond)

    def rarely(self, alpha: float, sigma: float, beta: float) -> bool:
        """Whether `tail` is at most beta. Proof: docs/proofs/add-remove.md (7).

        With very many pieces, the heavy pieces alone nearly always decide. Treating all other
        pieces as below alpha gives a lower bound on the tail; treating them as above alpha gives an
        upper bound.
        """
        if self.heavy:
            left, right, mass = (each[: self.heavy] for each in (self.left, self.right, self.mass))
            least = Flat(left, right, mass, self.rest, self.slack).tail(alpha, sigma)
            if least > beta:
                return False
            if least + float(self.mass[self.heavy :].sum()) <= beta:
                return True
        return self.tail(alpha, sigma) <= beta


def staircase(law: Pieces) -> Flat:
    """The distribution of one staircase variable, in units of its steps.

    Proof: docs/proofs/risk.md (12).
    """
    inner = (law.inner - 0.5) / law.steps
    masses = stair_masses(law)
    j = np.arange(1, len(masses))
    left = np.concatenate([[-inner], inner + (j - 1.0), -inner - j])
    right = np.concatenate([[inner], inner + j, -inner - (j - 1.0)])
    mass = np.concatenate([masses[:1], masses[1:] / 2.0, masses[1:] / 2.0])
    return Flat(left, right, mass, _rest(mass), 0.5 / law.steps)


def hourglass(law: Pieces, across: float, along: float) -> Flat:
    """The distribution of across·x + along·k, if (x, y) has the hourglass law and x + y is k steps.

    Given that x is on stair j, k is ±j (with the sign of x) plus an independent two-sided geometric
    variable. Proof: docs/proofs/add-remove.md (6). Proof: docs/proofs/stairs.md (3).
    """
    stairs, k = _stairs_and_sums(law)
    if across == 0.0:  # only the integer k matters
        sums, place = np.unique(k, return_inverse=True)
        mass: Floats = np.zeros(len(sums))
        np.add.at(mass, place, stairs.mass)
        return Flat(along * sums, along * sums, mass, stairs.rest, 0.0)
    ends = [across * end + along * k for end in (stairs.left, stairs.right)]
    slack = abs(across) * stairs.slack
    return Flat(np.minimum(*ends), np.maximum(*ends), stairs.mass, stairs.rest, slack, stairs.heavy)


@lru_cache(maxsize=8)
def _stairs_and_sums(law: Pieces) -> tuple[Flat, Floats]:
    """The distribution of x with each stair repeated for each k, and the k of each repetition.

    Heavy pieces come first.
    """
    stairs = staircase(law)
    half = len(stairs.mass) // 2
    j = np.arange(1.0, half + 1.0)
    lean = np.concatenate([[0.0], j, -j])
    rate = float(law.rate)
    far = math.ceil(_FAR / rate)
    i = np.arange(-far, far + 1)
    chance = math.tanh(rate / 2.0) * np.exp(-rate * np.abs(i))
    seen = chance > _NEGLIGIBLE
    i, chance = i[seen], chance[seen]
    joint = stairs.mass[:, None] * chance[None, :]
    row, column = np.nonzero(joint > _NEGLIGIBLE)
    mass = joint[row, column]
    heavy = mass > _HEAVY
    order = np.concatenate([np.flatnonzero(heavy), np.flatnonzero(~heavy)])
    row, column, mass = row[order], column[order], mass[order]
    left, right, first = stairs.left[row], stairs.right[row], int(heavy.sum())
    kept = Flat(left, right, mass, _rest(mass), stairs.slack, first)
    return kept, lean[row] + i[column]


def rings(law: Pieces, first: float, second: float) -> Flat:
    """The distribution of first·x + second·y for a pair (x, y) of the 2-d staircase.

    At distance s = |x| + |y| the pair and the combination are uniform on four segments.
    Distances are divided into bins. Rounding to the middle of a bin moves a point by at most half
    the width of the bin. All pieces are moved up by this amount, which gives an upper bound on the
    tail.
    Proof: docs/proofs/add-remove.md (6).
    """
    rate, inner = float(law.rate), law.inner / law.steps
    count = math.ceil(_FAR / rate) + 2
    bins = max(min(_BINS, 4096 // count), 4)
    edges = np.concatenate(
        [np.linspace(0.0, inner, bins + 1), inner + np.arange(1, bins * count) / bins]
    )
    s, width = (edges[1:] + edges[:-1]) / 2.0, np.diff(edges)
    level = np.concatenate([np.zeros(bins), np.arange(bins * count - 1) // bins + 1.0])
    weight = s * width * np.exp(-rate * level)
    mass = np.tile(weight / weight.sum() / 4.0, 4)
    starts = np.concatenate([first * s, first * s, -first * s, -first * s])
    ends = np.concatenate([second * s, -second * s, second * s, -second * s])
    most = max(abs(first), abs(second))
    own = np.tile(most * width / 2.0, 4)  # moves every piece upwards
    left, right = np.minimum(starts, ends) + own, np.maximum(starts, ends) + own
    return Flat(left, right, mass, 1e-15, most * 2.0 / law.steps)


def stair_masses(law: Pieces) -> Floats:
    """The probability of each stair, both signs combined, down to a ratio of e^−45.

    Proof: docs/proofs/risk.md (15).
    """
    rate = float(law.rate)
    stairs = min(math.ceil(_FAR / rate) + 2, _MOST_STAIRS)
    first = (2.0 * law.inner - 1.0) / (2.0 * law.steps)
    heights = np.exp(-rate * np.arange(stairs))
    heights[0] = first
    # 1/(e^rate − 1), without overflow of e^rate.
    others = math.exp(-rate) / -math.expm1(-rate)
    return np.asarray(heights / (first + others))


def _rest(mass: Floats) -> float:
    return max(1.0 - math.fsum(mass.tolist()), 0.0)


@cache
def _table() -> tuple[Floats, Floats]:
    """The complementary error function at multiples of 1/_CUTS, and its slope there."""
    x = np.arange(int(_LAST * _CUTS) + 1) / _CUTS
    values = np.array([math.erfc(each) for each in x.tolist()])
    return values, -2.0 / math.sqrt(math.pi) * np.exp(-x * x)


def _erfc(x: Floats) -> Floats:
    """The complementary error function of entries ≥ 0, which NumPy lacks.

    It is a Taylor series of third order around the nearest table point z, with f″ = −2z·f′ and f‴ =
    (4z² − 2)·f′. The error is at most max|f⁗|/(24·(2·_CUTS)⁴) < 2·10⁻¹⁴.
    """
    values, slopes = _table()
    found = np.zeros(len(x))
    for start in range(0, len(x), _AT_ONCE):
        some = np.minimum(x[start : start + _AT_ONCE], _LAST)
        place = np.rint(some * _CUTS).astype(np.intp)
        z = place * (1.0 / _CUTS)
        some -= z  # distance from z, at most half a step
        series = ((2.0 * z * z - 1.0) * (some / 3.0) - z) * some + 1.0
        found[start : start + _AT_ONCE] = values[place] + slopes[place] * some * series
    return found
