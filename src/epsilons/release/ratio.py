"""Releases under add/remove: the number of people is private, and so are all budgets.

What they say beside the estimate comes from public facts and from the noisy sums themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from epsilons import parameters
from epsilons.budgets import Floats, Integers
from epsilons.noise import PairLaw
from epsilons.release.base import Spent, left
from epsilons.release.frequencies import FrequencyRelease
from epsilons.release.mean import MeanRelease
from epsilons.risk import ratio

_ROWS = 8
"""Rungs of a fine ladder that are shown."""

_PUBLIC = 2.0**20

LEADING = "leading term at the noisy number of people"


def shown_levels(rungs: Floats) -> Floats:
    """The rungs as people know them: the highest one that can be stands for public records."""
    return np.where(rungs >= _PUBLIC, math.inf, rungs)


@dataclass(frozen=True, eq=False)
class SpendingRule:
    """What a person with a budget ε spends: a rule, since who is there is private.

    Attributes:
        levels: the rungs of the public ladder; a person stands on the highest that is not above ε.
        spent: what a person on each rung spends.
    """

    levels: Floats
    spent: Floats

    def __call__(self, epsilon: float) -> float:
        """What a person with this budget spends; nothing, if it is NaN."""
        if not epsilon >= self.levels[0]:
            return 0.0
        rung = int(np.searchsorted(self.levels, epsilon, side="right")) - 1
        return float(self.spent[rung])

    def __iter__(self) -> Iterator[Spent]:
        """A row for each rung, or for some of them if there are very many."""
        count = len(self.levels)
        shown = range(count)
        if count > 256:
            caps = self.levels[-1] * 2.0 ** np.arange(1 - _ROWS, 1)
            shown = np.searchsorted(self.levels, caps).tolist()
        levels = shown_levels(self.levels)
        for rung in shown:
            level, spent = float(levels[rung]), float(self.spent[rung])
            yield Spent(level, None, spent, left(level, spent))


@dataclass(frozen=True, eq=False)
class LevelCount:
    """How many people stand on each rung, as released.

    Attributes:
        counts: the noisy numbers.
        rates: of the noise of each.
        weights: the weight of a person on each rung.
    """

    counts: tuple[int, ...]
    rates: tuple[float, ...]
    weights: Integers

    def bias(self, beta: float) -> float:
        """The distance of the weighted mean from the mean, unless with probability beta.

        It is ½Σ|k/Σk − 1/n| for people of the weights k: the largest difference, over the rungs
        below any height, of their share of the people and their share of the weight. With r people
        below for each one above, and weights that are ρ times larger there on average, that is
        r/(1 + r) − r/(ρ + r). It grows with ρ, and in r up to √ρ. Both are taken where they make it
        largest, within what the noise of the counts allows.
        """
        noisy = np.array(self.counts, dtype=np.float64)
        # P(|noise| > a) ≤ e^{−rate·a} for the discrete Laplace law.
        reach = -math.log(beta / len(noisy)) / np.array(self.rates) + 1.0
        low, high = np.maximum(noisy - reach, 0.0), np.maximum(noisy + reach, 0.0)
        k = self.weights.astype(np.float64)
        if not float(low @ k) > 0.0:
            return 1.0
        worst = 0.0
        for cut in range(1, len(noisy)):
            below, above = slice(0, cut), slice(cut, None)
            smaller = min(_averages(high[below], low[below], k[below]))
            larger = max(_averages(low[above], high[above], k[above]))
            fewest, most = float(low[below].sum()), float(high[below].sum())
            fewer, others = float(low[above].sum()), float(high[above].sum())
            if smaller <= 0.0:  # nothing is heard of those below
                worst = max(worst, most / (most + fewer) if most > 0.0 else 0.0)
            elif others > 0.0:
                times = larger / smaller
                largest = most / fewer if fewer > 0.0 else math.inf
                r = min(max(math.sqrt(times), fewest / others), largest)
                worst = max(worst, r / (1.0 + r) - r / (times + r))
        return min(worst, 1.0)


def _averages(first: Floats, then: Floats, weights: Floats) -> list[float]:
    """Average weights of people, the first numbers up to each rung, and the others from there on.

    Among these are the least and the largest averages of all numbers between the two.
    """
    found = []
    for place in range(len(weights) + 1):
        people = np.concatenate([first[:place], then[place:]])
        total = float(people.sum())
        found.append(float(people @ weights) / total if total > 0.0 else float(weights[0]))
    return found


@dataclass(frozen=True, eq=False, kw_only=True)
class _Noisy:
    """What is known of the weights behind noisy sums.

    Attributes:
        largest: the largest weight that anyone can have.
        equal: whether everyone surely has the same weight.
        counted: how many people stand on each rung, if that was released.
    """

    largest: float
    equal: bool
    counted: LevelCount | None = None

    def _asked(self, assume: str, confidence: float) -> tuple[float, float, float]:
        """What an interval is asked for.

        Returns:
            The largest weight of a sample, or 0 if the weighted mean itself is meant; how far that
            may lie from what is wanted; and the confidence that is left for the interval.
        """
        if assume != "iid" and self.equal:
            return 0.0, 0.0, confidence  # the weighted mean is the mean
        if assume != "correlated":
            return self.largest, 0.0, confidence
        if self.counted is None:
            return 0.0, 1.0, confidence  # it may lie anywhere
        beta = (1.0 - confidence) / 2.0
        return 0.0, self.counted.bias(beta), 1.0 - beta


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisySums(_Noisy):
    """The noisy weighted sum and count of a mean, and the law of their noise.

    Attributes:
        law: of the pair of noises.
        scheme: which combinations it was added to.
        drawn: the sum and the count, in units of weight.
        slack: what the grid of values may add, on a unit range.
    """

    law: PairLaw
    scheme: ratio.Scheme
    drawn: tuple[float, float]
    slack: float

    def interval(self, assume: str, confidence: float) -> tuple[float, float]:
        """A range of the unit range that holds the truth with at least this probability."""
        largest, apart, rest = self._asked(assume, confidence)
        low, high = ratio.interval(
            self.law, self.scheme, self.drawn, largest=largest, confidence=rest
        )
        reach = apart + self.slack
        return max(low - reach, 0.0), min(high + reach, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class RatioMeanRelease(MeanRelease):
    """A published mean of an unknown number of people.

    Attributes:
        n: the noisy number of people; None if it was not released.
        spent: a rule from ε to what was spent; iterating over it gives a row for each rung.
        sums: the noisy numbers that `value` and the interval are computed from.
    """

    n: float | None
    spent: SpendingRule
    sums: NoisySums

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A range that holds the true mean with at least this probability.

        It comes from the noisy sums and public facts alone.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), within the bounds.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            For every number of people and over all data that the assumption allows, the interval
            misses with a probability of at most 1 − confidence: docs/proofs/add-remove.md.
        """
        return self._interval(self.assume, parameters.confidence(confidence))

    @property
    def risk_kind(self) -> str:
        """What `risk` is."""
        return LEADING

    @property
    def error_if_related(self) -> float:
        """The error not exceeded with `confidence` if budgets and values are related.

        It speaks of the mean of these very people. It is the whole range where nothing was released
        of how many people have which budget.
        """
        low, high = self._interval("correlated", self.confidence)
        return max(self.value - low, high - self.value)

    def _interval(self, assume: str, confidence: float) -> tuple[float, float]:
        lo, hi = self.bounds
        low, high = self.sums.interval(assume, confidence)
        return min(lo + (hi - lo) * low, hi), min(lo + (hi - lo) * high, hi)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoisyCells(_Noisy):
    """The noisy weighted counts of categories, and the scale of their noise.

    Attributes:
        drawn: the count of each category, in units of weight.
        scale: of the discrete Laplace noise of each.
    """

    drawn: Floats
    scale: float

    @cached_property
    def total(self) -> float:
        """The noisy sum of all counts."""
        return math.fsum(self.drawn.tolist())

    def intervals(self, assume: str, confidence: float) -> tuple[Floats, Floats]:
        """For each category by itself, a range that holds its share."""
        largest, apart, rest = self._asked(assume, confidence)
        low, high = ratio.share_intervals(self.drawn, self.scale, largest=largest, confidence=rest)
        return np.maximum(low - apart, 0.0), np.minimum(high + apart, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class RatioFrequencyRelease(FrequencyRelease):
    """Published frequencies of an unknown number of people.

    Attributes:
        n: the noisy number of people; None if it was not released.
        spent: a rule from ε to what was spent; iterating over it gives a row for each rung.
        sums: the noisy counts that `value` and the intervals are computed from.
    """

    n: float | None
    spent: SpendingRule
    sums: NoisyCells

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """For each category, a range that holds its share with at least this probability.

        Each by itself: use `band` to speak of all categories at once.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            For every number of people and over all data that the assumption allows, each interval
            misses with a probability of at most 1 − confidence: docs/proofs/add-remove.md.
        """
        return self.sums.intervals(self.assume, parameters.confidence(confidence))

    def band(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Ranges that hold all shares at once with at least this probability.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            The probability that any of them misses is at most 1 − confidence.
        """
        return self.sums.intervals(self.assume, self._each(parameters.confidence(confidence)))

    @property
    def risk_kind(self) -> str:
        """What `risk` is."""
        return LEADING

    @property
    def error_if_related(self) -> float:
        """The error of the worst category, not exceeded with `confidence`, if budgets tell values.

        It is 1 where nothing was released of how many people have which budget.
        """
        return self._farthest("correlated", self.confidence)

    def _each(self, confidence: float) -> float:
        return 1.0 - (1.0 - confidence) / len(self.categories)

    def _farthest(self, assume: str, confidence: float) -> float:
        low, high = self.sums.intervals(assume, self._each(confidence))
        share = np.clip(self.raw, 0.0, 1.0)
        return float(np.maximum(share - low, high - share).max())

    @property
    def error_at_once(self) -> float:
        """The error of the worst category that is not exceeded with `confidence`."""
        return self._farthest(self.assume, self.confidence)
