"""Margins of a mean whose range had to be found, for Gaussian data."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final, Self

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.assumptions import SAMPLE, Assumption
from epsilons.risk.margins import Bounds, Margin, Ratio
from epsilons.risk.normal import (
    clipped_square,
    clipping_bias,
    normal_laplace_quantile,
    quantile,
)
from epsilons.risk.weighing import Weighing
from epsilons.types import Floats, Integers

SIGMA: Final = 1.482602218505602
"""σ of a Gaussian over the median of the distances to its middle."""

SIDE: Final = 0.1
"""The part of the error probability that the two selections, and what clipping takes, may use."""

FOUND: Final = "for Gaussian data of the deviation that was found"
"""What the risk of such a mean is."""

_BINS: Final = math.log(64.0)
_LARGEST: Final = float(np.finfo(np.float64).max)


@storable("risk.Picture")
@dataclass(frozen=True)
class Picture:
    """What the selections said, and how well they could: all that an interval needs of them.

    Attributes:
        centre: about the median.
        deviation: about the median of the distances to it.
        width: the width of a bucket at the centre.
        near: the share of the prior that one bucket at the centre has.
        odds: the share of the prior that the deviation has.
        sharp: s·Σr of the centre and of the deviation: a rank error of t has odds e^{−sharp·t}.
        alike: (Σr)²/Σr² of either: as how many people with equal weights they count.
    """

    centre: float
    deviation: float
    width: float
    near: float
    odds: float
    sharp: tuple[float, float]
    alike: tuple[float, float]

    def sigma(self, beta: float) -> float:
        """A bound on σ that fails with probability at most β, for Gaussian data.

        A radius around the centre that holds less than half of the population by g is chosen with
        probability at most e^{−λg + λ²/8m} over the prior share of the right one, for every λ up to
        `sharp`; m is `alike`. Centres are put into bins of an eighth of the radius, of which there
        are at most 2^6 within three σ. And no interval holds more of a Gaussian than the one of its
        length around μ.
        """
        log_odds = _BINS - math.log(self.odds / 2.0) - math.log(beta)
        share = 0.5 - _rank_error(log_odds, self.sharp[1], self.alike[1])
        return 1.0625 * self.deviation / quantile((1.0 + share) / 2.0) if share > 0.0 else math.inf

    def off(self, sigma: float, beta: float) -> float:
        """A bound on |centre − μ| if this is σ, that fails with probability at most β.

        For any t, the buckets within t of the middle rank have a share of the prior, and a bucket
        farther than g is chosen with the odds e^{−λ(g−t) + 4λ²/8m} over it, of either side, and of
        each of three cases for where the median of the sample lies.
        """
        best = math.inf
        for inner in (0.005, 0.01, 0.02, 0.05, 0.1):
            fit = max(2.0 * quantile(0.5 + inner) * sigma / self.width, 1.0)
            share = min(self.near * fit / 2.0, 0.125)
            log_odds = math.log(6.0 / beta) - math.log(share)
            best = min(best, inner + _rank_error(log_odds, self.sharp[0], self.alike[0] / 4.0))
        return sigma * quantile(0.5 + best) + self.width if best < 0.5 else math.inf


def _rank_error(log_odds: float, sharp: float, alike: float) -> float:
    """The least of ln(odds)/λ + λ/8m over 0 < λ ≤ sharp."""
    if sharp <= 0.0:
        return math.inf
    rate = min(sharp, math.sqrt(8.0 * alike * log_odds))
    return log_odds / rate + rate / (8.0 * alike)


@dataclass(frozen=True, eq=False)
class _Gaussian(Margin, ABC):
    """What the margins of a Gaussian population share.

    Attributes:
        picture: what the selections said, and how well they could.
    """

    picture: Picture

    kind: ClassVar[str | None] = FOUND
    parts: ClassVar[int] = 3
    """How many parts of the error probability are not for the sum itself."""

    def allows(self, assumption: Assumption) -> bool:
        """A Gaussian population, of which budgets say nothing."""
        return assumption == SAMPLE

    def interval(
        self,
        raw: float,
        bounds: Bounds,
        assumption: Assumption,  # noqa: ARG002
        confidence: float,
    ) -> Bounds:
        """A range that holds the mean of the population.

        It is infinite where too little is known of the spread, or of how many people there are.
        """

        def reach_at(sigma: float, beta: float) -> float:
            return self._reach_at(bounds, sigma, beta)

        largest = self._largest(bounds, 1.0 - confidence)
        reach = reach_over_sigmas(self.picture, largest, 1.0 - confidence, reach_at)
        return raw - reach, raw + reach

    def expecting(self, bounds: Bounds, sigma: float) -> Self:  # noqa: ARG002
        """The same with what would be drawn of Gaussian data of this σ: for forecasts."""
        return self

    def _largest(self, bounds: Bounds, beta: float) -> float:  # noqa: ARG002
        """A bound on σ, for an interval that misses with this probability."""
        return self.picture.sigma(SIDE * beta)

    @abstractmethod
    def _reach_at(self, bounds: Bounds, sigma: float, beta: float) -> float:
        """The half-width if this is σ."""


@storable("risk.Located")
@dataclass(frozen=True, eq=False)
class Located(_Gaussian):
    """The margin of a weighted mean on a range that was found, of people whose budgets are public.

    It adds up the error of the sample, of clipping and of the noise.

    Guarantee:
        For independent Gaussian values and budgets that say nothing of them, the interval misses
        with probability at most 1 − confidence: docs/proofs/gaussian.md.

    Attributes:
        picture: what the selections said, and how well they could.
        weighing: the estimator on a unit range.
        slack: what integers may add to an error on a unit range.
    """

    weighing: Weighing
    slack: float

    def mse(self, bounds: Bounds, sigma: float) -> float:
        """The squared error of the mean for Gaussian data of this σ: sample and noise."""
        lo, hi = bounds
        noise = (hi - lo) * self.weighing.scale
        # Products: they may be infinite.
        return sigma * sigma * self.weighing.square + 2.0 * noise * noise

    def _reach_at(self, bounds: Bounds, sigma: float, beta: float) -> float:
        """The half-width if this is σ."""
        lo, hi = bounds
        weighing = self.weighing
        half = (hi - lo) / 2.0
        off = self.picture.off(sigma, SIDE * beta)
        off += abs((lo + hi) / 2.0 - self.picture.centre)
        bias = clipping_bias(off, half, sigma)
        spread = sigma * math.sqrt(weighing.square)
        # What clipping takes from each value varies, too: Chebyshev's inequality.
        jitter = spread * math.sqrt(clipped_square(off / sigma, half / sigma) / (SIDE * beta))
        rest = (1.0 - self.parts * SIDE) * beta
        noise = normal_laplace_quantile(spread, (hi - lo) * weighing.scale, rest)
        return float(bias + jitter + noise + (hi - lo) * self.slack)


@storable("risk.LocatedRatio")
@dataclass(frozen=True, eq=False)
class LocatedRatio(_Gaussian):
    """The margin of a mean of an unknown number of people, on a range that was found.

    Guarantee:
        As of `Located`.

    Attributes:
        picture: what the selections said, and how well they could.
        scale: the scale of the noise of each of the two sums, in units of weight.
        sums: the two noisy sums.
    """

    scale: float
    sums: Ratio

    def mse(self, bounds: Bounds, sigma: float) -> float:
        """The squared error for Gaussian data of this σ, if the noisy weight is the true one."""
        lo, hi = bounds
        weight = max(self.sums.drawn[1], 1e-300)
        sample = sigma * sigma * min(float(self.sums.largest) / weight, 1.0)
        noise = (hi - lo) * self.scale / weight
        return sample + noise * noise

    def _reach_at(self, bounds: Bounds, sigma: float, beta: float) -> float:
        """The half-width if this is σ: as under replace, with the least weight that is likely."""
        lo, hi = bounds
        half = (hi - lo) / 2.0
        # Of each of two noises, both ways.
        noise = self.scale * math.log(4.0 / (SIDE * beta))
        weight = self.sums.drawn[1] - 2.0 * noise
        if weight <= 0.0:
            return math.inf
        off = self.picture.off(sigma, SIDE * beta) + abs((lo + hi) / 2.0 - self.picture.centre)
        spread = sigma * math.sqrt(self.sums.largest / weight)
        jitter = spread * math.sqrt(clipped_square(off / sigma, half / sigma) / (SIDE * beta))
        sample = normal_laplace_quantile(spread, 0.0, (1.0 - 4.0 * SIDE) * beta)
        both = 2.0 * half * self.scale * math.log(2.0 / (SIDE * beta)) / weight
        return (
            clipping_bias(off, half, sigma) + jitter + sample + both + 2.0 * half * self.sums.slack
        )


def reach_over_sigmas(
    picture: Picture, largest: float, beta: float, reach_at: Callable[[float, float], float]
) -> float:
    """The largest half-width over all σ, from the width of a bucket to the bound on σ."""
    if not math.isfinite(largest):
        return math.inf
    # In eighths of an octave near the bound; farther down the half-width only falls, unless the
    # centre is not known at all, and that shows at the smallest σ of all.
    sizes = [largest * 2.0 ** (-k / 8.0) for k in range(65)]
    sizes += [sizes[-1] * 2.0**-k for k in range(1, 33)]
    sizes = [size for size in sizes if size > picture.width]
    return max(reach_at(size, beta) for size in (largest, *sizes, min(picture.width, largest)))


def selected(weights: Integers, counts: Integers, scale: float) -> tuple[float, float]:
    """How well a selection by weighted ranks can say: its parts of `Picture.sharp` and `alike`.

    Args:
        weights: of a person of each level.
        counts: how many have each.
        scale: of the noise, in units of weight.
    """
    total = float(weights.astype(np.float64) @ counts)
    square = float(weights.astype(np.float64) ** 2 @ counts)
    return 2.0 * total / scale, total**2 / square if square else 1.0


def diffused(
    keep: Floats, counts: Integers, base: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """How well counts of those who are kept, and of pairs of them, can say: `sharp` and `alike`.

    Args:
        keep: the probability with which a person of each level is kept.
        counts: how many have each.
        base: what those who are kept lose.
    """
    people = float(keep @ counts)
    # Pairs are drawn among all levels: one is whole with about the square of the mean rate.
    pairs = people * people / float(counts.sum()) / 2.0
    return (people * base / 8.0, pairs * base / 32.0), (max(people, 1.0), max(pairs, 1.0))


def finite(raw: float) -> float:
    """An estimate that a float can hold: noise on a range as wide as all floats may leave it."""
    return min(max(raw, -_LARGEST), _LARGEST)
