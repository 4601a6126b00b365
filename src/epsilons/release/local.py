"""Releases of the local model: estimates from reports that were private before they came."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilons import parameters, words
from epsilons.budgets import Floats
from epsilons.errors import ArgumentError
from epsilons.release.base import Release
from epsilons.risk import local as bounds_of
from epsilons.risk.local import Sums


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalMeanRelease(Release):
    """A mean, or a share, from local reports.

    Attributes:
        bounds: the range of the values.
        sums: sums over people from which intervals come: of budgets and weights alone.
        slack: what the grid may add to an error, on a unit range.
    """

    value: float
    raw: float
    n: int
    bounds: tuple[float, float]
    sums: Sums
    slack: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A range that holds the true mean with at least this probability.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), cut to the bounds.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all populations on the range, the probability that it misses is at most
            1 − confidence: a Chernoff bound with the exact moment generating function of the
            Laplace part and Hoeffding's for what is bounded.
        """
        lo, hi = self.bounds
        reach = self._reach(parameters.confidence(confidence))
        return min(max(self.raw - reach, lo), hi), max(min(self.raw + reach, hi), lo)

    def influence(self, lies: int) -> float:
        """How far dishonest reports can have moved the mean.

        Args:
            lies: how many of these reports are dishonest, from 0 to all of them.

        Returns:
            A proven bound on the distance between `raw` and the estimate from the other reports
            alone, in data units; ∞ if so many may have all the weight. It is reached
            where all of them claim the budget that weighs most, and say the same.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to n.
        """
        lo, hi = self.bounds
        off = abs(self.raw - (lo + hi) / 2.0) / (hi - lo)
        return (hi - lo) * _moved(lies, self.n, self.sums, off)

    @property
    def error_if_related(self) -> float:
        """The error not exceeded with `confidence` if budgets and values are related."""
        lo, hi = self.bounds
        far = bounds_of.related(self.sums.square, self.sums.weight, self.n)
        return min((hi - lo) * far + self._reach(self.confidence), hi - lo)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        mean = {"kind": "scalar", "value": self.value, "raw": self.raw, "interval": [low, high]}
        more = {"bounds": list(self.bounds), "influence_of_one": self.influence(1)}
        return {**mean, **more, **super().to_dict()}

    @property
    def treats(self) -> str:
        """What became of values that do not fit, in words: of the call, never of the data."""
        return words.clipped(self.bounds, midpoint=False) if self.statistic == "mean" else ""

    def _reach(self, confidence: float) -> float:
        lo, hi = self.bounds
        sums = self.sums
        far = bounds_of.chernoff(sums.proxy, sums.tail, sums.largest, 1.0 - confidence)
        return (hi - lo) * (far / sums.weight + self.slack)


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalVectorRelease(Release):
    """The mean of vectors in a ball, from local reports.

    Attributes:
        ball: the radius of the ball that holds all vectors.
        sums: sums over people from which intervals come, in the unit ball: of budgets and weights
            alone.
    """

    value: Floats
    raw: Floats
    n: int
    ball: float
    sums: Sums

    def radius(self, confidence: float = 0.95) -> float:
        """How far the true mean is from `raw` at most, in ℓ2, with at least this probability.

        Args:
            confidence: strictly between 0 and 1.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all populations in the ball. The square grows as d + ln(1/β), not as d·ln(1/β).
        """
        beta = 1.0 - parameters.confidence(confidence)
        sums = self.sums
        if sums.bounded <= 0.0:
            far = math.sqrt(sums.proxy * bounds_of.chi_square(len(self.raw), beta))
        elif sums.proxy <= 0.0:
            far = bounds_of.bounded_norm(sums.bounded, beta)
        else:
            far = math.sqrt(sums.proxy * bounds_of.chi_square(len(self.raw), beta / 2.0))
            far += bounds_of.bounded_norm(sums.bounded, beta / 2.0)
        return self.ball * far / sums.weight

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """For each coordinate, a range that holds its mean with at least this probability.

        Each by itself: `radius` speaks of all coordinates at once.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays, cut to what the ball allows.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
        """
        beta = 1.0 - parameters.confidence(confidence)
        proxy = self.sums.proxy + self.sums.bounded
        reach = self.ball * bounds_of.chernoff(proxy, 0.0, 0.0, beta) / self.sums.weight
        low, high = self.raw - reach, self.raw + reach
        return np.clip(low, -self.ball, self.ball), np.clip(high, -self.ball, self.ball)

    def influence(self, lies: int) -> float:
        """How far dishonest reports can have moved the mean vector.

        Args:
            lies: how many of these reports are dishonest, from 0 to all of them.

        Returns:
            A proven bound on the distance between `raw` and the estimate from the other reports
            alone, in ℓ2; ∞ if so many may have all the weight. It is reached
            where all of them claim the budget that weighs most, and say the same.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to n.
        """
        off = float(np.linalg.norm(self.raw)) / self.ball
        return self.ball * _moved(lies, self.n, self.sums, off)

    @property
    def error_if_related(self) -> float:
        """The ℓ2 error not exceeded with `confidence` if budgets and values are related."""
        far = 2.0 * self.ball * bounds_of.related(self.sums.square, self.sums.weight, self.n)
        return min(far + self.radius(self.confidence), 2.0 * self.ball)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        vector = {
            "kind": "vector",
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "ball": self.ball,
            "radius": self.radius(self.confidence),
            "influence_of_one": self.influence(1),
        }
        return {**vector, **super().to_dict()}

    @property
    def treats(self) -> str:
        """What became of vectors that do not fit, in words: of the call, never of the data."""
        return words.shortened(self.ball)


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalFrequencyRelease(Release):
    """Shares of categories from local reports.

    Attributes:
        categories: the labels, in the order of `value` and `raw`.
        sums: sums over people from which intervals come: of budgets and weights alone.
        middle: of what one report says of the share of a category.
    """

    value: Floats
    raw: Floats
    n: int
    categories: tuple[Any, ...]
    sums: Sums
    middle: float

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """For each category, a range that holds its share with at least this probability.

        Each by itself: use `band` to speak of all categories at once.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories, cut to [0, 1].

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
        """
        return self._around(self._reach(1.0 - parameters.confidence(confidence)))

    def band(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Ranges that hold all shares at once with at least this probability.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories, cut to [0, 1].

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.
        """
        return self._around(self._worst(parameters.confidence(confidence)))

    def influence(self, lies: int) -> float:
        """How far dishonest reports can have moved the share of any category.

        Args:
            lies: how many of these reports are dishonest, from 0 to all of them.

        Returns:
            A proven bound on the distance between `raw` and the estimate from the other reports
            alone, in the worst category; ∞ if so many may have all the weight. It is reached
            where all of them claim the budget that weighs most, and say the same.

        Raises:
            ArgumentError: `lies` is not a whole number from 0 to n.
        """
        off = float(np.abs(self.raw - self.middle).max())
        return _moved(lies, self.n, self.sums, off)

    @property
    def error_if_related(self) -> float:
        """The error of the worst category if budgets and categories are related."""
        far = bounds_of.related(self.sums.square, self.sums.weight, self.n)
        return min(far + self._worst(self.confidence), 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        band_low, band_high = self.band(self.confidence)
        shares = {
            "kind": "cells",
            "categories": list(self.categories),
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "band": [band_low.tolist(), band_high.tolist()],
            "error_at_once": min(self._worst(self.confidence), 1.0),
            "influence_of_one": self.influence(1),
        }
        return {**shares, **super().to_dict()}

    def _reach(self, beta: float) -> float:
        return bounds_of.chernoff(self.sums.proxy, 0.0, 0.0, beta) / self.sums.weight

    def _worst(self, confidence: float) -> float:
        return self._reach((1.0 - confidence) / len(self.categories))

    def _around(self, reach: float) -> tuple[Floats, Floats]:
        return np.clip(self.raw - reach, 0.0, 1.0), np.clip(self.raw + reach, 0.0, 1.0)


def _moved(lies: int, people: int, sums: Sums, off: float) -> float:
    """How far lies can have moved an estimate on a unit range."""
    whole = isinstance(lies, (int, np.integer)) and not isinstance(lies, bool)
    if not whole or not 0 <= lies <= people:
        raise ArgumentError(f"lies={lies!r} must be a whole number from 0 to {people:,}.")
    return bounds_of.influence(int(lies), people, sums, off)
