"""Joint tests of two groups: bounds on the error of a linear combination of their means.

Let W be the total weight of a group's people, and let Ŵ and Â be the noisy sums of their weights
and of their weighted values. The estimate of the group's mean is M̂ = Â/Ŵ, and the test of a
candidate m uses T(m) = Â − m·Ŵ. With r = Ŵ/W, T(m)/W = r·(M̂ − m). So a combination of two groups'
statistics T/W equals the same combination of M̂ − m, except for the small terms (1 − r)·(M̂ − m).
The joint test uses the distribution of the combined noise, not a sum of two quantiles. Its bias
bound uses that the groups are disjoint. Proof: docs/proofs/groups.md (19), (20), (21), (22).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise, product
from typing import Final, NamedTuple

import numpy as np

from epsilons.risk.groups.bias import Range, few
from epsilons.risk.groups.reach import LEVELS, Reach, grown
from epsilons.risk.means.mean import SAMPLING
from epsilons.risk.tails.combined import EDGES, Combined, of_four
from epsilons.types import Booleans, Floats

OWN: Final = 0.04
"""Part of the error probability for each group's own interval."""

ABOUT: Final = 0.01
"""Part of the error probability for each end of the interval of each group's share."""

JOINTLY: Final = 0.04
"""Groups are tested jointly if the noise scale of a cell is below this fraction of an average
group. Otherwise two separate intervals are shorter, because the noise of shares is large."""

_CELLS: Final = 4
"""Number of bins into which the range of ratios is divided."""

Times = tuple[Range, Range]

_PARTS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Fractions of an error probability that are tried for the tail in the direction of the bias."""

_SPLITS: Final = (0.05, 0.3, 0.7)
"""Fractions of an error probability that are tried for sampling error; the rest is for noise."""


class PairSide(NamedTuple):
    """Estimates and bounds for one group.

    Attributes:
        drawn: noisy total weight of the group's people.
        estimate: M̂ on a unit range, not clipped.
        share: lower and upper bound on the true total weight.
        mean: confidence interval for the group's mean, on the unit range.
    """

    drawn: float
    estimate: float
    share: Range
    mean: Range


@dataclass(frozen=True, eq=False)
class GroupPair:
    """Estimates and bounds for two groups, and bounds on combinations of their means.

    Proof: docs/proofs/groups.md (19), (20), (21), (22), (24).

    Guarantee:
        If the true shares and means of both groups are within their intervals, |t₁(M̂₁ − m₁) −
        t₂(M̂₂ − m₂)| exceeds `error((t₁, t₂), β)` with probability at most β.

    Attributes:
        reach: bounds on the test statistic T of one group.
        cells: number of cells whose noises sum to zero; None if they are independent.
        sides: the two groups.
        integers: error of T that is due to rounding to integers.
    """

    reach: Reach
    cells: int | None
    sides: tuple[PairSide, PairSide]
    integers: float

    def difference(self, beta: float, times: tuple[float, float] = (1.0, 1.0)) -> Range:
        """An interval for the first mean minus the second, except with probability beta.

        With `times`, each mean is first multiplied by a nonnegative factor.
        Proof: docs/proofs/groups.md (19).
        """
        (a, b), (c, d) = (side.mean for side in self.sides)
        f, g = times
        crude = f * a - g * d, f * b - g * c
        if not self._told:
            return crude
        between = f * self.sides[0].estimate - g * self.sides[1].estimate
        far = self.error(((f, f), (g, g)), beta)
        return _both(crude, (between - far, between + far))

    def ratio(self, bounds: Range, beta: float) -> Range:
        """An interval for the first mean divided by the second, in data units.

        At the true ratio R, the first estimate minus R times the second estimate is pure error. A
        ratio R is accepted if this error is within its bound.
        Proof: docs/proofs/groups.md (24).
        """
        lo, unit = bounds[0], bounds[1] - bounds[0]
        (a, b), (c, d) = ((lo + unit * each for each in side.mean) for side in self.sides)
        if c <= 0.0 <= d:
            return -math.inf, math.inf
        ends = [above / below for above, below in product((a, b), (c, d))]
        crude = min(ends), max(ends)
        first, second = (lo + unit * side.estimate for side in self.sides)
        if not self._told or crude[0] <= 0.0 or second == 0.0:
            return crude
        cells = list(pairwise(np.geomspace(*crude, _CELLS + 1).tolist()))

        @cache
        def left(cell: Range) -> Range | None:
            far = unit * self.error(((1.0, 1.0), cell), beta)
            least, most = sorted(((first - far) / second, (first + far) / second))
            least, most = max(least, cell[0]), min(most, cell[1])
            return (least, most) if least <= most else None

        # The interval ends in the first and the last bin that contain an accepted ratio.
        low = next((found for cell in cells if (found := left(cell))), None)
        if low is None:
            return crude
        high = next(found for cell in reversed(cells) if (found := left(cell)))
        return _both(crude, (low[0], high[1]))

    @property
    def _told(self) -> bool:
        """Whether the lower bounds on both shares are positive."""
        return min(side.share[0] for side in self.sides) > 0.0

    def error(self, times: Times, beta: float) -> float:
        """Bound on the error of a linear combination of the two estimates.

        Proof: docs/proofs/groups.md (19).

        Args:
            times: lower and upper bound on the nonnegative factor of each mean; the second mean is
                subtracted.
            beta: the error probability.
        """
        shares = self._shares
        if self.reach.way == "chance":
            part = 4.0 * ABOUT * beta
            shares = self._expected(0, ABOUT * beta), self._expected(1, ABOUT * beta)
            if min(share[0] for share in shares) <= 0.0:
                return math.inf
            far = self._by_chance(times, shares, beta - part)
        elif self.reach.way == "drawn":
            part = SAMPLING * beta
            far = self._noisy(times, self._sampled(times, part), beta - part)
        else:
            far = self._noisy(times, self._leaning(times), beta)
        for (_, most), share, side in zip(times, shares, self.sides, strict=True):
            off = max(abs(side.estimate - end) for end in side.mean)
            aside = max(abs(1.0 - side.drawn / end) for end in share)
            far += most * (self.integers / share[0] + off * aside)
        return far

    @property
    def _shares(self) -> tuple[Range, Range]:
        return self.sides[0].share, self.sides[1].share

    def _inside(self, side: int) -> Booleans:
        """A mask of the bins of the unit range that may contain the mean of a group."""
        low, high = self.sides[side].mean
        return np.asarray((EDGES[1:] >= low) & (EDGES[:-1] <= high))

    def _leaning(self, times: Times) -> float:
        """Bound on the bias of the combination for the given people.

        Proof: docs/proofs/groups.md (21).
        """
        alone = 0.0
        for side in (0, 1):
            least, heavy = self.sides[side].share
            found = self.reach.leaning(np.array([heavy]))
            inside = self._inside(side)
            alone += (
                times[side][1] * float(np.maximum(found.up, found.down)[0, inside].max()) / least
            )
        most = (times[0][1], times[1][1])
        return min(alone, self.reach.assumption.apart * self.reach.apart(self._shares, most))

    def _sampled(self, times: Times, part: float) -> float:
        """Bound on the bias of a sample from a population with budgets related to values."""
        far = 0.0
        for side in (0, 1):
            least, most = self.sides[side].share
            found = self.reach.of_sample(np.array([most]), part / 2.0)
            inside = self._inside(side)
            far += times[side][1] * float(np.maximum(found.up, found.down)[0, inside].max()) / least
        return far

    def _noisy(self, times: Times, bias: float, beta: float) -> float:
        """Quantile bound on |noise + bias| for every bias of at most this absolute value.

        The quantile of a linear combination is a norm of its coefficients, so its maximum is at a
        corner of the possible coefficients. The tail on the side of the bias gets a part p of β,
        the other tail the rest.
        Proof: docs/proofs/groups.md (20).
        """
        scale = self.reach.weighing.scale
        if not scale > 0.0:
            return bias
        laws, units = self._laws(times, self._shares)
        parts = beta * np.array([_PARTS, [1.0 - part for part in _PARTS]])
        rows = np.arange(len(units))
        each = scale * units * laws.reach(rows, np.inf, parts[:, :, None])
        near, other = each.max(axis=2)
        return bias + float(np.maximum(near, other - 2.0 * bias).min())

    def _laws(self, times: Times, shares: tuple[Range, Range]) -> tuple[Combined, Floats]:
        """The noise distributions at the corners of the possible coefficients, with their units."""
        found = []
        means = (side.mean for side in self.sides)
        for first, second, one, other, t, u in sorted({*product(*means, *shares, *times)}):
            a, b = t / one, u / other
            coefficients = (a * (1.0 - first), -a * first, -b * (1.0 - second), b * second)
            found.append(of_four(self.cells, coefficients))
        laws = Combined(
            np.concatenate([law.logs for law, _ in found]),
            np.concatenate([law.below for law, _ in found]),
        )
        return laws, np.array([unit for _, unit in found])

    def _by_chance(self, times: Times, shares: tuple[Range, Range], beta: float) -> float:
        """Bound on the error if budgets are unrelated to values: the smallest of several bounds."""
        rates, logs = self._moments(times, shares)
        scale = self.reach.weighing.scale

        def sampling(part: float) -> float:
            return float(((logs + math.log(2.0 / part)) / rates).min())

        if not scale > 0.0:
            return sampling(beta)
        laws, units = self._laws(times, shares)

        def noise(part: float) -> float:
            far = units * laws.reach(np.arange(len(units)), np.zeros(len(units)), part)
            return scale * float(far.max())

        added = [sampling(part * beta) + noise((1.0 - part) * beta) for part in _SPLITS]
        each = laws.log_envelope(rates * scale * units[:, None])
        # `log_envelope` returns an ln K with P(noise > t) ≤ K·e^{−λt} at each corner. At t ≤ 0, the
        # tails between the corners are only bounded by 1, so ln K must be at least 0.
        envelope = np.maximum(each.max(axis=0), 0.0)
        together = float(((logs + envelope + math.log(2.0 / beta)) / rates).min())
        return min(together, *added)

    def _moments(self, times: Times, shares: tuple[Range, Range]) -> tuple[Floats, Floats]:
        """Rates λ, and bounds on log moment generating functions of both signs.

        Proof: docs/proofs/groups.md (22).
        """
        weights, counts = self._terms
        steepest = max(t[1] / share[0] for t, share in zip(times, shares, strict=True))
        top = self.reach.rates(float(weights.max()) * steepest, 0.0)
        rates = top if not self.reach.weighing.scale > 0.0 else self._rates(times, shares, top)
        sides = np.zeros((2, len(rates)))
        for side, (t, share) in enumerate(zip(times, shares, strict=True)):
            inside = self._inside(side)
            for weight, count in zip(weights.tolist(), counts.tolist(), strict=True):
                each = grown(rates * (t[1] * weight / share[0]))
                sides[side] += count * share[0] * each[inside].max(axis=0)
                sides[1 - side] += count * share[0] * each[inside[::-1]].max(axis=0)
        return rates, sides.max(axis=0)

    def _rates(self, times: Times, shares: tuple[Range, Range], top: Floats) -> Floats:
        """Rates up to the largest at which the moments of the noise are finite."""
        unit = max(t[0] / share[1] for t, share in zip(times, shares, strict=True))
        most = 2.0 / (self.reach.weighing.scale * unit)
        return np.asarray(top * min(most / float(top[-1]), 1.0))

    @cached_property
    def _terms(self) -> tuple[Floats, Floats]:
        """The merged coefficients of values that are sampled or permuted: see `Reach.terms`."""
        weights, counts, _ = self.reach.terms
        return few(weights, counts, LEVELS)

    def _expected(self, side: int, part: float) -> Range:
        """Lower and upper bound on the expected share of a group.

        Proof: docs/proofs/groups.md (17).
        """
        least, most = self.sides[side].share
        weights, counts = self.reach.seen
        square, largest = float(counts @ np.square(weights)), float(weights.max())
        high = float(self.reach.upper(np.array([most]), square, part)[0])
        log = -math.log(part)
        step, spread = largest * log / 3.0, square * log
        if least <= 2.0 * step:
            return 0.0, high
        centre = least - step + spread
        low = centre - math.sqrt(max(centre**2 - (least - step) ** 2 + step**2, 0.0))
        return max(low, 0.0), high


def _both(first: Range, second: Range) -> Range:
    """The intersection of two ranges; the first range if the intersection is empty."""
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (float(low), float(high)) if low <= high else first
