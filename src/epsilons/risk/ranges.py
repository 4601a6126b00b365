"""Privately estimated ranges: forecasts of their cost, and margins of a mean on such a range."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Final, Self

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.margins import Bounds, Margin, Ratio
from epsilons.risk.tails.gaussian import (
    clipped_square,
    clipping_bias,
    normal_laplace_quantile,
    quantile,
    upper_tail,
)
from epsilons.risk.weighing import SAMPLE, Assumption, Weighing
from epsilons.types import Floats, Integers

# Failure probabilities and errors of range estimation: forecasts for Gaussian data, in units of σ.
#
# In one stage person i spends the budget r_i. The rank error exceeds g with probability at most
# C·e^{−X}, where X = Σ(s·g·r_i − s²·r_i²/8). The first term comes from the exponential mechanism (s
# = ½ for replace, 1 for add-remove). The second comes from the sample, by Hoeffding's lemma. The
# contribution of a person is largest at r = 4g/s, the cap of a stage.
# Proof: docs/proofs/gaussian.md (8).

SHARPNESS: Final = MappingProxyType({"replace": 0.5, "add-remove": 1.0})
"""The factor s for each neighbouring relation."""

CENTRE_GAP: Final = 1.0 / 3.0
DEVIATION_GAP: Final = 0.25
"""Acceptable rank errors. They keep the center within one σ, and the deviation between a third of σ
and 1.2 σ."""

CENTRE_ODDS: Final = 10.0
DEVIATION_ODDS: Final = 4.0
"""ln C: log ratio of the prior weights of wrong and right candidates. The values are for data whose
magnitude is about a thousand times their standard deviation."""

_FAILURE: Final = 16.0
"""Assumed cost of a wrong range, in σ²."""

_WIDTH: Final = 8.0
"""Width of the range in units of σ that the forecast assumes."""

_SLOPE: Final = 2.0
"""Error of the deviation in units of σ, per unit of rank error."""

_TAIL: Final = 8.0
"""Log odds against a larger rank error of the deviation than the forecast assumes."""


def most_useful(gap: float, s: float) -> float:
    """The largest useful budget of a person in a stage: 4g/s.

    Proof: docs/proofs/gaussian.md (8).
    """
    return 4.0 * gap / s


def failure(centre: Floats, deviation: Floats, people: Floats, s: float, odds: float) -> Floats:
    """Bound on the probability of a wrong range. Proof: docs/proofs/gaussian.md (8).

    Args:
        centre: budget that a person spends on the weighted median; the last axis has an entry for
            each level.
        deviation: budget that a person at each level spends on the weighted median of the distances
            from the center.
        people: number of people at each level.
        s: a value of `SHARPNESS`.
        odds: log ratio of the prior weights of wrong and right centers.
    """
    found = np.exp(np.minimum(odds - _exponent(centre, people, CENTRE_GAP, s), 0.0))
    found = found + np.exp(
        np.minimum(DEVIATION_ODDS - _exponent(deviation, people, DEVIATION_GAP, s), 0.0)
    )
    return np.minimum(found, 1.0)


def forecast(mean: Floats, deviation: Floats, people: Floats, s: float, wrong: Floats) -> Floats:
    """Forecast of the squared error of the subsequent mean, in σ², failures included.

    Args:
        mean: budget of a person at each level that remains for the mean.
        deviation: budget spent on the weighted median of the distances.
        people: number of people at each level.
        s: a value of `SHARPNESS`.
        wrong: probability of a wrong range.
    """
    with np.errstate(divide="ignore", over="ignore"):
        risk = capped_mse(mean, people, range_noise(_WIDTH))
        rank = _TAIL / (s * (deviation @ people))
        return np.asarray(risk * (1.0 + _SLOPE * rank) ** 2 + _FAILURE * wrong)


def capped_mse(effective: Floats, people: Floats | Integers, noise: float) -> Floats:
    """Squared error of a weighted mean in units of σ²: (Σe² + noise)/(Σe)².

    Args:
        effective: effective budget e of a person at each level, along the last axis.
        people: number of people at each level.
        noise: variance of the noise of the sum.
    """
    return np.asarray((effective**2 @ people + noise) / (effective @ people) ** 2)


def range_noise(width: float = _WIDTH) -> float:
    """The variance of Laplace noise with scale `width`, the width of the range in units of σ."""
    return 2.0 * width**2


def _exponent(shares: Floats, people: Floats, gap: float, s: float) -> Floats:
    """The exponent X in the bound C·e^{−X} on the probability of a rank error above `gap`.

    Proof: docs/proofs/gaussian.md (8).
    """
    return np.asarray(s * gap * (shares @ people) - s * s / 8.0 * (shares**2 @ people))


# Margins of a mean on a privately estimated range, for Gaussian data.

SIGMA: Final = 1.482602218505602
"""σ of a Gaussian divided by its median absolute deviation."""

SIDE: Final = 0.1
"""Part of the error probability for each of the two selections (center and deviation), and for
clipping."""

FOUND: Final = "for Gaussian data of the deviation that was found"
"""Description of the risk of a mean on a privately estimated range."""

_BINS: Final = math.log(64.0)
_LARGEST: Final = float(np.finfo(np.float64).max)


@storable("risk.Picture")
@dataclass(frozen=True)
class Picture:
    """The selected center and deviation, and their accuracy. Proof: docs/proofs/gaussian.md (9).

    Attributes:
        centre: the selected median.
        deviation: the selected median of the distances from the center.
        width: width of a bucket (candidate) at the center.
        near: prior probability of one bucket at the center.
        odds: prior probability of the selected deviation.
        sharp: s·Σr for the center and for the deviation; a rank error of t has odds e^{−sharp·t}.
        alike: (Σr)²/Σr² for both, the effective number of people with equal weights.
    """

    centre: float
    deviation: float
    width: float
    near: float
    odds: float
    sharp: tuple[float, float]
    alike: tuple[float, float]

    def sigma(self, beta: float) -> float:
        """Upper bound on σ for Gaussian data, except with probability β.

        The deviation is selected as a radius around the center. A radius is too small if at most a
        fraction ½ − g of the population is within it. Such a radius is selected with probability at
        most e^{−λg + λ²/8m}, divided by the prior probability of the correct radius. This holds for
        every λ up to `sharp`, where m is `alike`. A union bound covers all centers: they are put
        into bins of an eighth of the radius, and at most 2^6 bins are within three σ. The worst
        center is μ: of all intervals of one length, the one around μ has the largest probability.
        Proof: docs/proofs/gaussian.md (9).
        """
        log_odds = _BINS - math.log(self.odds / 2.0) - math.log(beta)
        share = 0.5 - _rank_error(log_odds, self.sharp[1], self.alike[1])
        return 1.0625 * self.deviation / quantile((1.0 + share) / 2.0) if share > 0.0 else math.inf

    def off(self, sigma: float, beta: float) -> float:
        """Bound on |centre − μ| for this σ, except with probability β.

        Take any t < g. A bucket is good if its rank is within t of ½, and bad if its rank is
        farther than g from ½. The odds of selecting a bad bucket rather than a good one are at most
        e^{−λ(g−t) + 4λ²/8m}, divided by the prior probability of all good buckets. A union bound
        covers both sides, and three cases for the position of the sample median.
        Proof: docs/proofs/gaussian.md (9).
        """
        best = math.inf
        for inner in (0.005, 0.01, 0.02, 0.05, 0.1):
            fit = max(2.0 * quantile(0.5 + inner) * sigma / self.width, 1.0)
            share = min(self.near * fit / 2.0, 0.125)
            log_odds = math.log(6.0 / beta) - math.log(share)
            best = min(best, inner + _rank_error(log_odds, self.sharp[0], self.alike[0] / 4.0))
        return sigma * quantile(0.5 + best) + self.width if best < 0.5 else math.inf


def _rank_error(log_odds: float, sharp: float, alike: float) -> float:
    """The minimum of ln(odds)/λ + λ/8m over 0 < λ ≤ sharp, where m is `alike`."""
    if sharp <= 0.0:
        return math.inf
    rate = min(sharp, math.sqrt(8.0 * alike * log_odds))
    return log_odds / rate + rate / (8.0 * alike)


@dataclass(frozen=True, eq=False)
class _Gaussian(Margin, ABC):
    """Base class of margins for a Gaussian population. Proof: docs/proofs/gaussian.md (9).

    Attributes:
        picture: the selected center and deviation, and their accuracy.
    """

    picture: Picture

    kind: ClassVar[str | None] = FOUND
    parts: ClassVar[int] = 3
    """Number of times that the part `SIDE` of the error probability is used for errors other than
    the error of the sum."""

    def allows(self, assumption: Assumption) -> bool:
        """Whether the assumption is a population with budgets unrelated to values."""
        return assumption == SAMPLE

    def interval(
        self,
        raw: float,
        bounds: Bounds,
        assumption: Assumption,  # noqa: ARG002
        confidence: float,
    ) -> Bounds:
        """A confidence interval for the mean of the population.

        It is infinite if the spread or the number of people is not known well enough.
        """

        def reach_at(sigma: float, beta: float) -> float:
            return self._reach_at(bounds, sigma, beta)

        largest = self._largest(bounds, 1.0 - confidence)
        reach = reach_over_sigmas(self.picture, largest, 1.0 - confidence, reach_at)
        return raw - reach, raw + reach

    def expecting(self, bounds: Bounds, sigma: float) -> Self:  # noqa: ARG002
        """The margin that is expected for Gaussian data of this σ, for forecasts."""
        return self

    def _largest(self, bounds: Bounds, beta: float) -> float:  # noqa: ARG002
        """Upper bound on σ, for an interval with error probability beta."""
        return self.picture.sigma(SIDE * beta)

    @abstractmethod
    def _reach_at(self, bounds: Bounds, sigma: float, beta: float) -> float:
        """The half-width for this σ."""

    def _clipping(self, bounds: Bounds, sigma: float, spread: float, beta: float) -> float:
        """Bound on the error due to clipping; `spread` is the standard deviation of the mean."""
        lo, hi = bounds
        half = (hi - lo) / 2.0
        off = self.picture.off(sigma, SIDE * beta) + abs((lo + hi) / 2.0 - self.picture.centre)
        # The total amount removed by clipping is random. Chebyshev's inequality bounds it.
        jitter = spread * math.sqrt(clipped_square(off / sigma, half / sigma) / (SIDE * beta))
        return clipping_bias(off, half, sigma) + jitter


@storable("risk.Located")
@dataclass(frozen=True, eq=False)
class Located(_Gaussian):
    """Margin of a weighted mean on a privately estimated range, for people with public budgets.

    The half-width is the sum of the errors of sampling, clipping and noise.

    Guarantee:
        For independent Gaussian values and budgets unrelated to values, the interval fails to cover
        the true mean with probability at most 1 − confidence. Proof: docs/proofs/gaussian.md (9).

    Attributes:
        picture: the selected center and deviation, and their accuracy.
        weighing: the estimator on a unit range.
        slack: error from rounding to integers, on a unit range.
    """

    weighing: Weighing
    slack: float

    def mse(self, bounds: Bounds, sigma: float) -> float:
        """The mean squared error for Gaussian data of this σ: sampling error plus noise."""
        lo, hi = bounds
        noise = (hi - lo) * self.weighing.scale
        # Products overflow to infinity, but float powers raise OverflowError.
        return sigma * sigma * self.weighing.square + 2.0 * noise * noise

    def _reach_at(self, bounds: Bounds, sigma: float, beta: float) -> float:
        """The half-width for this σ."""
        lo, hi = bounds
        spread = sigma * math.sqrt(self.weighing.square)
        rest = (1.0 - self.parts * SIDE) * beta
        noise = normal_laplace_quantile(spread, (hi - lo) * self.weighing.scale, rest)
        clipping = self._clipping(bounds, sigma, spread, beta)
        return float(clipping + noise + (hi - lo) * self.slack)


@storable("risk.LocatedRatio")
@dataclass(frozen=True, eq=False)
class LocatedRatio(_Gaussian):
    """Margin of the mean of an unknown number of people, on a privately estimated range.

    Guarantee:
        The guarantee of `Located`. Proof: docs/proofs/gaussian.md (9).

    Attributes:
        picture: the selected center and deviation, and their accuracy.
        scale: noise scale of each of the two sums, in units of weight.
        sums: the margin of the two noisy sums.
    """

    scale: float
    sums: Ratio

    def mse(self, bounds: Bounds, sigma: float) -> float:
        """The mean squared error for Gaussian data of this σ, taking the noisy weight as true."""
        lo, hi = bounds
        weight = max(self.sums.drawn[1], 1e-300)
        sample = sigma * sigma * min(float(self.sums.largest) / weight, 1.0)
        noise = (hi - lo) * self.scale / weight
        return sample + noise * noise

    def _reach_at(self, bounds: Bounds, sigma: float, beta: float) -> float:
        """The half-width for this σ, with a lower bound on the total weight."""
        lo, hi = bounds
        half = (hi - lo) / 2.0
        # A union bound over two noises with two sides each.
        noise = self.scale * math.log(4.0 / (SIDE * beta))
        weight = self.sums.drawn[1] - 2.0 * noise
        if weight <= 0.0:
            return math.inf
        spread = sigma * math.sqrt(self.sums.largest / weight)
        clipping = self._clipping(bounds, sigma, spread, beta)
        sample = normal_laplace_quantile(spread, 0.0, (1.0 - 4.0 * SIDE) * beta)
        both = 2.0 * half * self.scale * math.log(2.0 / (SIDE * beta)) / weight
        return clipping + sample + both + 2.0 * half * self.sums.slack


def reach_over_sigmas(
    picture: Picture, largest: float, beta: float, reach_at: Callable[[float, float], float]
) -> float:
    """The largest half-width over all σ up to `largest`. Proof: docs/proofs/gaussian.md (9)."""
    if not math.isfinite(largest):
        return math.inf
    # The grid has steps of 2^{1/8} near the bound. For smaller σ the half-width decreases, unless
    # the center is unknown; the smallest σ covers that case.
    sizes = [largest * 2.0 ** (-k / 8.0) for k in range(65)]
    sizes += [sizes[-1] * 2.0**-k for k in range(1, 33)]
    sizes = [size for size in sizes if size > picture.width]
    return max(reach_at(size, beta) for size in (largest, *sizes, min(picture.width, largest)))


def selected(weights: Integers, counts: Integers, scale: float) -> tuple[float, float]:
    """Accuracy of a selection by weighted ranks: entries of `Picture.sharp` and `Picture.alike`.

    Args:
        weights: weight of a person at each level.
        counts: number of people at each level.
        scale: noise scale, in units of weight.
    """
    total = float(weights.astype(np.float64) @ counts)
    square = float(weights.astype(np.float64) ** 2 @ counts)
    return 2.0 * total / scale, total**2 / square if square else 1.0


def diffused(
    keep: Floats, counts: Integers, base: float
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Accuracy of two selections by counts of people and of pairs who were sampled.

    The results are `Picture.sharp` and `Picture.alike`.

    Args:
        keep: probability that a person at each level is sampled.
        counts: number of people at each level.
        base: privacy loss of the sampled people.
    """
    people = float(keep @ counts)
    # Pairs are formed across levels. The probability that both members are sampled is
    # about the square of the mean probability.
    pairs = people * people / float(counts.sum()) / 2.0
    return (people * base / 8.0, pairs * base / 32.0), (max(people, 1.0), max(pairs, 1.0))


def finite(raw: float) -> float:
    """Clip an estimate to finite floats, because noise on a huge range can overflow."""
    return min(max(raw, -_LARGEST), _LARGEST)


# Margin of a mean on a privately estimated range, with a released second moment.

_FINE: Final = 2.0 ** (-1.0 / 32.0)
_PIECES: Final = 96
"""Bins of σ below the bound of the selections: 32 per octave (factor of 2), for three octaves."""

_STEP: Final = 1.0 / 32.0
"""Half the distance between the centers of ranges on the grid, in units of σ."""

_PARTS: Final = 12
"""Number of bins for the offset of a center."""

_LENGTHS: Final = 65
_SHORTER: Final = 2.0 ** (-1.0 / 8.0)
"""Lengths of ranges on the grid: steps of 2^{1/8}, from σ/4 to 64 σ."""


@storable("risk.LocatedSquares")
@dataclass(frozen=True, eq=False)
class LocatedSquares(Located):
    """Margin of a weighted mean on a privately estimated range, with its second moment.

    The squares of the clipped values give a bound on σ that is valid for every estimated range.

    Guarantee:
        The guarantee of `Located`. Proof: docs/proofs/gaussian.md (9), (10).

    Attributes:
        square: Σ w·(x − ½)² of the values clipped to the range, on a unit range, plus noise.
    """

    square: float

    parts: ClassVar[int] = 4

    def expecting(self, bounds: Bounds, sigma: float) -> Self:
        """The margin that is expected for a Gaussian of this σ in the middle of the range."""
        half = (bounds[1] - bounds[0]) / 2.0
        return replace(self, square=(sigma / half) ** 2 * _cut_square(half / sigma) / 4.0)

    def _largest(self, bounds: Bounds, beta: float) -> float:
        """Upper bound on σ: the smaller of the bounds from the selections and from the squares."""
        high = super()._largest(bounds, beta)
        part = SIDE * beta / 2.0
        noise = -self.weighing.scale * math.log(2.0 * part)
        seen = (bounds[1] - bounds[0]) * math.sqrt(max(self.square + self.slack + noise, 0.0))
        if not (math.isfinite(high) and math.isfinite(seen)):
            return high
        for _ in range(_PIECES):
            low = _FINE * high
            if not self._least(bounds, low, high, beta) > seen:
                return high
            high = low
        return high

    def _least(self, bounds: Bounds, low: float, high: float, beta: float) -> float:
        """Lower bound on the root mean square of clipped values, for σ in [low, high]."""
        half, width = (bounds[1] - bounds[0]) / 2.0, self.picture.width
        off = (self.picture.off(low, SIDE * beta) - width) * high / low + width
        off += abs((bounds[0] + bounds[1]) / 2.0 - self.picture.centre)
        if not math.isfinite(off) or half < 0.25 * high:
            return 0.0
        ranges = _LENGTHS * (off / (_STEP * low) + 2.0)
        wrong = math.log(ranges) - math.log(SIDE * beta / 2.0)
        # In units of σ, because powers of σ can overflow. With larger offsets and lengths, squares
        # have a larger mean but also a larger variance.
        reach, far = min(_SHORTER * half / high, 64.0), off / low + _STEP
        longest, most = min(half / low, 64.0), 2.0 * self.weighing.square * wrong
        ends = [far * i / _PARTS for i in range(_PARTS + 1)]
        least = min(
            _cut_square(reach, near) - math.sqrt(most * _cut_fourth(longest, next_))
            for near, next_ in itertools.pairwise(ends)
        )
        return low * math.sqrt(max(least, 0.0)) - _STEP * high


def _cut_square(reach: float, off: float = 0.0) -> float:
    """E min((Z + off)², reach²) for a standard normal Z; it increases in both arguments.

    Proof: docs/proofs/gaussian.md (10).
    """
    below, above = -reach - off, reach - off
    inside = upper_tail(below) - upper_tail(above)
    bells = [math.exp(-min(x * x / 2.0, 745.0)) / math.sqrt(2.0 * math.pi) for x in (below, above)]
    square = (1.0 + off * off) * inside + below * bells[0] - above * bells[1]
    square += 2.0 * off * (bells[0] - bells[1])
    return square + reach * reach * (1.0 - inside)


def _cut_fourth(reach: float, off: float) -> float:
    """Upper bound on E min((Z + off)⁴, reach⁴); it increases in both arguments.

    Proof: docs/proofs/gaussian.md (10).
    """
    whole = 3.0 + off * off * (6.0 + off * off)
    return min(whole, reach * reach * _cut_square(reach, off))
