"""What follows from a release without another draw: totals, numbers of people, quantiles."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, cast

import numpy as np

from epsilons import parameters
from epsilons.errors import KindError
from epsilons.loading import later
from epsilons.release.estimate import Cells, Scalar
from epsilons.risk import ratio
from epsilons.risk.estimated import Estimated
from epsilons.risk.margins import Ratio, RatioCells
from epsilons.types import Floats

if TYPE_CHECKING:
    from epsilons.release.release import Release
    from epsilons.risk import quantiles
else:
    quantiles = later("epsilons.risk.quantiles")

__all__ = ["Amount", "Counts", "Derived"]


_GRID_SHARE: Final = 0.01
"""The part of the error probability that bounds how many people a grid puts off."""


class Amount(Estimated):
    """A number that follows from a release, in data units, with its interval."""

    __slots__ = ()


class Counts(NamedTuple):
    """Numbers of people, in the order of the categories.

    Attributes:
        value: the estimates, which need not be whole.
        low: the lower ends of the intervals, each by itself.
        high: the upper ends.
        band_low: the lower ends of ranges that hold all at once.
        band_high: the upper ends.
    """

    value: Floats
    low: Floats
    high: Floats
    band_low: Floats
    band_high: Floats


class Derived:
    """What releases can tell beside their estimates."""

    def total(self, confidence: float = 0.95) -> Amount:
        """The sum of the values of all people, from their mean: nothing more is spent.

        With `person` it is the sum of everyone's own mean. Under replace it is n times the mean.
        Under add/remove it comes from the two noisy sums themselves, if everyone who counts has the
        same weight; people below the lowest level are in no sum.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            The total, with an interval, in data units.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
            KindError: this is not a mean of these very people, or no total is proven.

        Guarantee:
            The interval misses with probability at most 1 − confidence:
            docs/proofs/counts.md.
        """
        release = cast("Release", self)
        level, estimate = parameters.confidence(confidence), release.estimate
        means = isinstance(estimate, Scalar) and not isinstance(
            estimate.margin, quantiles.QuantilesMargin
        )
        if not means or release.about != "people":
            _refuse("total", "the mean of exactly these people", release)
        scalar = cast(Scalar, estimate)
        if isinstance(scalar.margin, Ratio):
            return _sum_of(scalar.margin, scalar.bounds, level)
        if release.n is None or release.n_is_noisy:
            _refuse("total", "a mean whose people are public", release)
        n = float(release.n)
        low, high = release.interval(level)
        return Amount(n * scalar.value, n * low, n * high)

    def counts(self, confidence: float = 0.95) -> Counts:
        """How many people are in each category, from their shares: nothing more is spent.

        Under replace it is n times the shares. Under add/remove it is the noisy counts themselves,
        if everyone who counts has the same weight; people below the lowest level are in none.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            Numbers of people, with intervals and with a band.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
            KindError: these are not shares of these very people, or no numbers are proven.

        Guarantee:
            Each interval, and the band as a whole, misses with probability at most 1 − confidence:
            docs/proofs/counts.md.
        """
        release = cast("Release", self)
        level, estimate = parameters.confidence(confidence), release.estimate
        if not isinstance(estimate, Cells) or release.about != "people":
            _refuse("counts", "the frequencies of exactly these people", release)
        cells = estimate
        if isinstance(cells.margin, RatioCells):
            return _numbers_of(cells.margin, level)
        if release.n is None or release.n_is_noisy:
            _refuse("counts", "frequencies whose people are public", release)
        n = float(release.n)
        ends = (*release.interval(level), *release.band(level))
        return Counts(n * cells.value, *(n * end for end in ends))

    def quantile(self, q: float, confidence: float = 0.95) -> Amount:
        """The value that a share q of people is at or below, from frequencies of bins.

        Within a bin it is interpolated. The interval goes from an end of a bin to another.

        Args:
            q: strictly between 0 and 1.
            confidence: strictly between 0 and 1.

        Returns:
            The quantile, with an interval, in data units. Ends of open bins are infinite.

        Raises:
            ArgumentError: q or the confidence is not strictly between 0 and 1.
            KindError: this is not a release of bins that cover every number between two ends.

        Guarantee:
            Over all data that the assumption allows, the interval misses with probability at most
            1 − confidence: docs/proofs/quantiles.md.
        """
        release = cast("Release", self)
        share = parameters.quantiles(q)
        level, estimate = parameters.confidence(confidence), release.estimate
        if not isinstance(share, float):
            raise KindError("quantile takes one q at a time: ask for each, or ask ep.quantile.")
        if not isinstance(estimate, Cells):
            _refuse("quantile", "frequencies of bins, published with edges=", release)
        cells = estimate
        edges = _edges(cells.categories)
        value, (low, high) = quantiles.quantile_of_cells(
            cells.margin, cells.raw, share, edges, release.assumption, level
        )
        return Amount(value, low, high)


def _edges(categories: tuple[object, ...]) -> Floats:
    """All ends of bins.

    Raises:
        KindError: they are no bins, or there are gaps, or another category beside them.
    """
    pairs = [each for each in categories if isinstance(each, tuple)]
    if len(pairs) != len(categories) or any(a[1] != b[0] for a, b in pairwise(pairs)):
        raise KindError(
            "quantile is for frequencies of bins without gaps and without other: publish them with "
            "edges=[…], the first -inf and the last inf if values may be anywhere."
        )
    return np.array([pairs[0][0], *(pair[1] for pair in pairs)], dtype=np.float64)


def _sum_of(margin: Ratio, bounds: tuple[float, float], confidence: float) -> Amount:
    """The sum of the values of people who have one weight, from the two sums that were drawn."""
    if not margin.equal:
        _unequal("total")
    lo, hi = bounds
    t, total = margin.drawn
    start, whole = margin.scheme.start, margin.scheme.total
    parts = ((hi - lo) * start[0] + lo * whole[0], (hi - lo) * start[1] + lo * whole[1])
    beta = 1.0 - confidence
    far = ratio.quantile(ratio.noise_of(margin.law, parts), beta * (1.0 - _GRID_SHARE) / 2.0)
    value = ((hi - lo) * t + lo * total) / margin.largest
    # Values are on a grid: everyone may be off by a part of it.
    about = ratio.quantile(ratio.noise_of(margin.law, whole), beta * _GRID_SHARE)
    grid = margin.slack * (hi - lo) * max(total + about, 0.0) / margin.largest
    reach = far / margin.largest + grid
    return Amount(value, value - reach, value + reach)


def _numbers_of(margin: RatioCells, confidence: float) -> Counts:
    """Numbers of people who have one weight, from the counts that were drawn."""
    if not margin.equal:
        _unequal("counts")
    drawn, beta = margin.drawn / margin.largest, 1.0 - confidence
    scale = margin.scale / margin.largest
    point = 1.0 / margin.largest
    ends = []
    for part in (beta, beta / len(drawn)):
        reach = scale * -math.log(part) + point  # P(|noise| > a) ≤ e^{−a/scale} on a lattice
        ends += [np.maximum(drawn - reach, 0.0), np.maximum(drawn + reach, 0.0)]
    return Counts(np.maximum(drawn, 0.0), *ends)


def _unequal(name: str) -> NoReturn:
    raise KindError(
        f"{name}: weights differ and are private, so a weighted sum says little about a number of "
        "people. Publish with cap= at the lowest of levels: then everyone has the same weight."
    )


def _refuse(name: str, of: str, release: Release) -> NoReturn:
    raise KindError(
        f"{name} is for {of}: this release is of a {release.statistic}, "
        f'about="{release.about}", neighbours="{release.neighbours}".'
    )
