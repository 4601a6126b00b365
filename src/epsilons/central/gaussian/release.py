"""The release of a mean whose range had to be found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilons import parameters
from epsilons.central.gaussian.diffusion import Diffused, Spread
from epsilons.central.gaussian.locate import Found
from epsilons.central.gaussian.normal import (
    clipped_square,
    clipping_bias,
    normal_laplace_quantile,
    quantile,
)
from epsilons.central.gaussian.staged import Staged
from epsilons.release import MeanRelease

__all__ = [
    "KIND",
    "SIDE",
    "GaussianRelease",
    "Picture",
    "finite",
    "gaussian_mse",
    "picture_of",
    "picture_of_spread",
    "reach_over_sigmas",
]

SIDE = 0.1
"""The part of the error probability that the two selections, and what clipping takes, may use."""

_BINS = math.log(64.0)
_LARGEST = float(np.finfo(np.float64).max)

KIND = "for Gaussian data of the deviation that was found"


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


@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianRelease(MeanRelease):
    """A published mean on a range that was found privately.

    Attributes:
        bounds: the range that was found; values outside of it were clipped.
        sigma: the standard deviation that the range was made from, about right for Gaussian data.
        picture: what the selections said, and how well they could.
        mechanism: a `Staged`, or a `Reduced` for diffusion under add/remove.
    """

    sigma: float
    picture: Picture
    mechanism: Any

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A range that holds the mean of a Gaussian population with at least this probability.

        It adds up the error of the sample, of clipping and of the noise, and it comes from what was
        released, never from the spread of the data themselves.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high); infinite where too little is known of the spread.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            For independent Gaussian values and budgets that say nothing of them it misses with
            probability at most 1 − confidence: docs/proofs/gaussian.md.
        """
        reach = self._reach(1.0 - parameters.confidence(confidence))
        return self.raw - reach, self.raw + reach

    @property
    def risk_kind(self) -> str:
        """What `risk` is."""
        return KIND

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        return {**super().to_dict(), "sigma": self.sigma, "centre": self.picture.centre}

    def _reach(self, beta: float) -> float:
        """The largest half-width that any σ up to its bound asks for."""
        return reach_over_sigmas(self.picture, beta, self._reach_at)

    def _reach_at(self, sigma: float, beta: float) -> float:
        """The half-width if this is σ."""
        lo, hi = self.bounds
        weighing = self.mechanism.weighing
        half = (hi - lo) / 2.0
        off = self.picture.off(sigma, SIDE * beta)
        off += abs((lo + hi) / 2.0 - self.picture.centre)
        bias = clipping_bias(off, half, sigma)
        spread = sigma * math.sqrt(weighing.square)
        # What clipping takes from each value varies, too: Chebyshev's inequality.
        jitter = spread * math.sqrt(clipped_square(off / sigma, half / sigma) / (SIDE * beta))
        rest = (1.0 - 3.0 * SIDE) * beta
        noise = normal_laplace_quantile(spread, (hi - lo) * weighing.scale, rest)
        return float(bias + jitter + noise + (hi - lo) * self.mechanism.slack)


def reach_over_sigmas(
    picture: Picture, beta: float, reach_at: Callable[[float, float], float]
) -> float:
    """The largest half-width over all σ, from the width of a bucket to the bound on σ."""
    largest = picture.sigma(SIDE * beta)
    if not math.isfinite(largest):
        return math.inf
    # In eighths of an octave near the bound; farther down the half-width only falls, unless the
    # centre is not known at all, and that shows at the smallest σ of all.
    sizes = [largest * 2.0 ** (-k / 8.0) for k in range(65)]
    sizes += [sizes[-1] * 2.0**-k for k in range(1, 33)]
    sizes = [size for size in sizes if size > picture.width]
    return max(reach_at(size, beta) for size in (largest, *sizes, min(picture.width, largest)))


def picture_of(found: Found) -> Picture:
    """The picture that the last two selections give."""
    sharp, alike = [], []
    for stage in found.stages[-2:]:
        total = float(stage.weights.astype(np.float64) @ stage.counts)
        square = float(stage.weights.astype(np.float64) ** 2 @ stage.counts)
        sharp.append(2.0 * total / stage.scale)
        alike.append(total**2 / square if square else 1.0)
    return Picture(
        found.centre,
        found.deviation,
        found.width,
        found.near,
        found.odds,
        (sharp[0], sharp[1]),
        (alike[0], alike[1]),
    )


def picture_of_spread(spread: Spread, mechanism: Diffused) -> Picture:
    """The picture that diffusion gives: differences of pairs are √2 times as wide as values."""
    keep = np.array([float(p) for p in mechanism.keep])
    people = float(keep @ mechanism.counts)
    # Pairs are drawn among all levels: one is whole with about the square of the mean rate.
    pairs = people * people / float(mechanism.counts.sum()) / 2.0
    base = float(mechanism.base)
    return Picture(
        spread.centre,
        spread.gap / math.sqrt(2.0),
        spread.step,
        1.0 / spread.cells,
        1.0 / mechanism.up.end,
        (people * base / 8.0, pairs * base / 32.0),
        (max(people, 1.0), max(pairs, 1.0)),
    )


def finite(raw: float) -> float:
    """An estimate that a float can hold: noise on a range as wide as all floats may leave it."""
    return min(max(raw, -_LARGEST), _LARGEST)


def gaussian_mse(mechanism: Staged, sigma: float) -> float:
    """The squared error of the mean for Gaussian data of this σ: sample and noise."""
    lo, hi = mechanism.last.bounds
    weighing = mechanism.weighing
    noise = (hi - lo) * weighing.scale
    return sigma * sigma * weighing.square + 2.0 * noise * noise  # products: they may be infinite
