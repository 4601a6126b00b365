"""Ranges that have to be found: what finding one is worth, and the margins of a mean on it."""

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

# What finding a range is worth, and how often it fails: forecasts for Gaussian data, in σ.
#
# A stage that gives person i the share r_i errs by more than g in rank with probability at most
# C·e^{−X}, X = Σ(s·g·r_i − s²·r_i²/8): the first term is the exponential mechanism (s = ½ for
# replace, 1 for add-remove), the second the moment generating function of the sample, by
# Hoeffding's lemma. Nobody is worth more than r = 4g/s, so that is the cap of a stage.
# docs/proofs/gaussian.md has the proof.

SHARPNESS: Final = MappingProxyType({"replace": 0.5, "add-remove": 1.0})
"""s, by what counts as a change of one person."""

CENTRE_GAP: Final = 1.0 / 3.0
DEVIATION_GAP: Final = 0.25
"""Errors in rank that do no harm: a centre within one σ, a deviation from a third to 1.2 σ."""

CENTRE_ODDS: Final = 10.0
DEVIATION_ODDS: Final = 4.0
"""ln C: how much prior weight the wrong candidates have over the right ones, for numbers that have
some three digits more than their deviation."""

_FAILURE: Final = 16.0
"""What a wrong range is taken to cost, in σ²."""

_WIDTH: Final = 8.0
"""The width of the range in σ, for the forecast."""

_SLOPE: Final = 2.0
"""How many per cent of σ an error of one per cent of rank costs in the deviation."""

_TAIL: Final = 8.0
"""ln of the odds against the error of the deviation that the forecast counts with."""


def most_useful(gap: float, s: float) -> float:
    """The share of a stage beyond which nobody helps it: 4g/s."""
    return 4.0 * gap / s


def failure(centre: Floats, deviation: Floats, people: Floats, s: float, odds: float) -> Floats:
    """A bound on the probability of a wrong range, for shares of either stage along the last axis.

    Args:
        centre: the share of the weighted median of a person of each level.
        deviation: the share of the weighted median of the distances to it.
        people: how many have each level.
        s: of `SHARPNESS`.
        odds: the prior weight of wrong centres over right ones, as a logarithm.
    """
    found = np.exp(np.minimum(odds - _exponent(centre, people, CENTRE_GAP, s), 0.0))
    found = found + np.exp(
        np.minimum(DEVIATION_ODDS - _exponent(deviation, people, DEVIATION_GAP, s), 0.0)
    )
    return np.minimum(found, 1.0)


def forecast(mean: Floats, deviation: Floats, people: Floats, s: float, wrong: Floats) -> Floats:
    """The squared error of the mean that follows, in σ², failures included.

    Args:
        mean: what the mean gets of a person of each level.
        deviation: the share of the weighted median of the distances.
        people: how many have each level.
        s: of `SHARPNESS`.
        wrong: the probability of a wrong range.
    """
    with np.errstate(divide="ignore", over="ignore"):
        risk = capped_mse(mean, people, range_noise(_WIDTH))
        rank = _TAIL / (s * (deviation @ people))
        return np.asarray(risk * (1.0 + _SLOPE * rank) ** 2 + _FAILURE * wrong)


def capped_mse(effective: Floats, people: Floats | Integers, noise: float) -> Floats:
    """(Σe² + noise)/(Σe)²: the squared error of a weighted mean, in squares of the deviation.

    Args:
        effective: the effective budget of a person of each level, along the last axis.
        people: how many have each level.
        noise: the variance of the noise of the sum.
    """
    return np.asarray((effective**2 @ people + noise) / (effective @ people) ** 2)


def range_noise(width: float = _WIDTH) -> float:
    """The variance of Laplace noise for a range of so many σ: twice the square of its scale."""
    return 2.0 * width**2


def _exponent(shares: Floats, people: Floats, gap: float, s: float) -> Floats:
    """X: the logarithm of how unlikely an error of `gap` in rank is."""
    return np.asarray(s * gap * (shares @ people) - s * s / 8.0 * (shares**2 @ people))


# Margins of a mean whose range had to be found, for Gaussian data.

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


# The margin of a mean on a range that was found, with the squares that were drawn beside it.

_FINE: Final = 2.0 ** (-1.0 / 32.0)
_PIECES: Final = 96
"""Pieces of σ below the bound of the selections, each so fine: three octaves."""

_STEP: Final = 1.0 / 32.0
"""Between middles of ranges that are told apart, half of it, in σ."""

_PARTS: Final = 12
"""Parts of how far a middle may be off."""

_LENGTHS: Final = 65
_SHORTER: Final = 2.0 ** (-1.0 / 8.0)
"""Lengths of ranges that are told apart: eighths of an octave, from a quarter of σ to 64 σ."""


@storable("risk.LocatedSquares")
@dataclass(frozen=True, eq=False)
class LocatedSquares(Located):
    """The margin of a weighted mean on a range that was found, with its second moment.

    The squares of cut values say how large σ can be, whichever range was found.

    Guarantee:
        As of `Located`: docs/proofs/gaussian.md.

    Attributes:
        square: Σ w·(x − ½)² of the values cut to the range, on a unit range, with its noise.
    """

    square: float

    parts: ClassVar[int] = 4

    def expecting(self, bounds: Bounds, sigma: float) -> Self:
        """The same with the squares that a Gaussian of this σ in the middle has."""
        half = (bounds[1] - bounds[0]) / 2.0
        return replace(self, square=(sigma / half) ** 2 * _cut_square(half / sigma) / 4.0)

    def _largest(self, bounds: Bounds, beta: float) -> float:
        """The bound on σ of the selections, or that of the squares, if it is smaller."""
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
        """The root of the least weighted squares of cut values, for any σ between these two."""
        half, width = (bounds[1] - bounds[0]) / 2.0, self.picture.width
        off = (self.picture.off(low, SIDE * beta) - width) * high / low + width
        off += abs((bounds[0] + bounds[1]) / 2.0 - self.picture.centre)
        if not math.isfinite(off) or half < 0.25 * high:
            return 0.0
        ranges = _LENGTHS * (off / (_STEP * low) + 2.0)
        wrong = math.log(ranges) - math.log(SIDE * beta / 2.0)
        # In units of σ, whose powers may be beyond all floats. The farther off, and the longer, the
        # larger squares are, but the more they vary.
        reach, far = min(_SHORTER * half / high, 64.0), off / low + _STEP
        longest, most = min(half / low, 64.0), 2.0 * self.weighing.square * wrong
        ends = [far * i / _PARTS for i in range(_PARTS + 1)]
        least = min(
            _cut_square(reach, near) - math.sqrt(most * _cut_fourth(longest, next_))
            for near, next_ in itertools.pairwise(ends)
        )
        return low * math.sqrt(max(least, 0.0)) - _STEP * high


def _cut_square(reach: float, off: float = 0.0) -> float:
    """E min((Z + off)², reach²) of a standard normal Z: it grows with both."""
    below, above = -reach - off, reach - off
    inside = upper_tail(below) - upper_tail(above)
    bells = [math.exp(-min(x * x / 2.0, 745.0)) / math.sqrt(2.0 * math.pi) for x in (below, above)]
    square = (1.0 + off * off) * inside + below * bells[0] - above * bells[1]
    square += 2.0 * off * (bells[0] - bells[1])
    return square + reach * reach * (1.0 - inside)


def _cut_fourth(reach: float, off: float) -> float:
    """A bound on E min((Z + off)⁴, reach⁴), which grows with both."""
    whole = 3.0 + off * off * (6.0 + off * off)
    return min(whole, reach * reach * _cut_square(reach, off))
