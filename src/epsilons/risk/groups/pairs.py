"""Joint tests of two groups: bounds on the error of a combination of their means.

With M̂ = Â/Ŵ and r = Ŵ/W, T(m)/W = r·(M̂ − m). So a combination of the two groups' tests is the
same combination of M̂ − m, except for terms (1 − r) times the error of each mean, which are small.
The noise of the combination has its own law, in place of the sum of two quantiles, and biases are
those of different people. Proof: docs/proofs/groups.md (19), (20), (21), (22).
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
from epsilons.risk.mean import SAMPLING
from epsilons.risk.tails.combined import EDGES, Combined, of_four
from epsilons.types import Booleans, Floats

OWN: Final = 0.04
"""Part of the error probability for each group's own interval."""

ABOUT: Final = 0.01
"""Part of the error probability for each end of each group's share."""

JOINTLY: Final = 0.04
"""Groups are tested jointly if the noise of a cell is below this fraction of an average group.
Otherwise the noise of shares is not small, and two separate intervals are shorter."""

_CELLS: Final = 4
"""Number of parts into which the range of ratios is divided."""

Times = tuple[Range, Range]

_PARTS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Parts of an error probability that are tried for the nearer side of noise around a bias."""

_SPLITS: Final = (0.05, 0.3, 0.7)
"""Parts of an error probability that are tried for sampling, where noise is added separately."""


class PairSide(NamedTuple):
    """What is known about one group.

    Attributes:
        drawn: noisy total weight of its people.
        estimate: M̂ on a unit range, not clipped.
        share: lower and upper bound on their total weight.
        mean: an interval of the unit range for its mean.
    """

    drawn: float
    estimate: float
    share: Range
    mean: Range


@dataclass(frozen=True, eq=False)
class GroupPair:
    """What is known about two groups. Proof: docs/proofs/groups.md (19), (20), (21), (22), (24).

    Guarantee:
        If the shares and the means of both groups are within their ranges, |t₁(M̂₁ − m₁) −
        t₂(M̂₂ − m₂)| exceeds `error((t₁, t₂), β)` with probability at most β.

    Attributes:
        reach: bounds for the test of one group.
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

        Or for these two means, each times a nonnegative factor. Proof: docs/proofs/groups.md (19).
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

        At the true ratio R, the first estimate minus R times the second is the error of that
        combination. R is not rejected if that is within the error bound.
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

        # Only the first and the last part with anything left matter: the others are in between.
        low = next((found for cell in cells if (found := left(cell))), None)
        if low is None:
            return crude
        high = next(found for cell in reversed(cells) if (found := left(cell)))
        return _both(crude, (low[0], high[1]))

    @property
    def _told(self) -> bool:
        """Whether both groups have people, given that the bounds on their shares hold."""
        return min(side.share[0] for side in self.sides) > 0.0

    def error(self, times: Times, beta: float) -> float:
        """Bound on the error of combinations of the two estimates.

        Proof: docs/proofs/groups.md (19).

        Args:
            times: lower and upper bound on the nonnegative factor of each mean; the second is
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
        """Which parts of means may contain that of a group."""
        low, high = self.sides[side].mean
        return np.asarray((EDGES[1:] >= low) & (EDGES[:-1] <= high))

    def _leaning(self, times: Times) -> float:
        """Bound on the bias of these people. Proof: docs/proofs/groups.md (21)."""
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
        """Bound on the bias of people who were drawn from a population with related budgets."""
        far = 0.0
        for side in (0, 1):
            least, most = self.sides[side].share
            found = self.reach.of_sample(np.array([most]), part / 2.0)
            inside = self._inside(side)
            far += times[side][1] * float(np.maximum(found.up, found.down)[0, inside].max()) / least
        return far

    def _noisy(self, times: Times, bias: float, beta: float) -> float:
        """Bound on noise plus a bias of at most this, on either side.

        The quantile of a combination is a norm of its coefficients, so the corners of the possible
        coefficients are worst. At q the nearer side has a part p of β, and the other one the rest.
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
        """The laws of the noise at the corners of the possible coefficients, each with its unit."""
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
        """Bound if budgets are unrelated to values: the smallest of several fixed numbers."""
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
        # Below 0, tails at coefficients between the corners are only bounded by 1.
        envelope = np.maximum(each.max(axis=0), 0.0)
        together = float(((logs + envelope + math.log(2.0 / beta)) / rates).min())
        return min(together, *added)

    def _moments(self, times: Times, shares: tuple[Range, Range]) -> tuple[Floats, Floats]:
        """Rates, and bounds on log moments, for the larger of both sides.

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
        """Rates up to the largest at which the noise has moments."""
        unit = max(t[0] / share[1] for t, share in zip(times, shares, strict=True))
        most = 2.0 / (self.reach.weighing.scale * unit)
        return np.asarray(top * min(most / float(top[-1]), 1.0))

    @cached_property
    def _terms(self) -> tuple[Floats, Floats]:
        """The coefficients of values that are sampled or permuted: see `Reach`."""
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
    """The intersection of two ranges; the first one if it is empty."""
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (float(low), float(high)) if low <= high else first
