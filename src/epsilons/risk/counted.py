"""Bounds on the bias of a weighted mean, from noisy counts of people at each weight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from epsilons.frozen import storable
from epsilons.types import Floats, Integers


@storable("risk.LevelCount")
@dataclass(frozen=True, eq=False)
class LevelCount:
    """Released noisy counts of the people on each rung (budget level) of a ladder.

    Proof: docs/proofs/add-remove.md (8).

    Attributes:
        counts: the noisy counts.
        rates: rate (inverse scale) of the noise of each count.
        weights: weight of a person on each rung.
    """

    counts: tuple[int, ...]
    rates: tuple[float, ...]
    weights: Integers

    def bias(self, beta: float) -> float:
        """Bound on |weighted mean − mean|, except with probability beta.

        For people with weights k the largest distance is ½Σ|k/Σk − 1/n|. This is the maximum, over
        weight thresholds, of the share of people below the threshold minus their share of the total
        weight. Let r be the number of people below divided by the number above, and ρ the average
        weight above divided by the average weight below. Then the difference is r/(1 + r) − r/(ρ +
        r). It increases in ρ, and in r up to √ρ. Both are set to the worst values that the noise of
        the counts allows. Proof: docs/proofs/add-remove.md (8).
        """
        low, high = self.ends(beta)
        k = self.weights.astype(np.float64)
        if not float(low @ k) > 0.0:
            return 1.0
        worst = 0.0
        for cut in range(1, len(k)):
            below, above = slice(0, cut), slice(cut, None)
            smaller = min(_averages(high[below], low[below], k[below]))
            larger = max(_averages(low[above], high[above], k[above]))
            fewest, most = float(low[below].sum()), float(high[below].sum())
            fewer, others = float(low[above].sum()), float(high[above].sum())
            if smaller <= 0.0:  # all people below the threshold may have weight 0
                worst = max(worst, most / (most + fewer) if most > 0.0 else 0.0)
            elif others > 0.0:
                times = larger / smaller
                largest = most / fewer if fewer > 0.0 else math.inf
                r = min(max(math.sqrt(times), fewest / others), largest)
                worst = max(worst, r / (1.0 + r) - r / (times + r))
        return min(worst, 1.0)

    def fewest(self, beta: float) -> int:
        """Lower bound on the number of people; it holds whenever the bounds of `ends` hold."""
        return int(self.ends(beta)[0].sum())

    @property
    def total(self) -> float:
        """A noisy estimate of the total weight. It only serves to choose between valid bounds."""
        return float(np.maximum(self.counts, 0) @ self.weights)

    def most(self, beta: float) -> Floats:
        """Simultaneous upper bounds on the numbers of people on all rungs.

        They hold except with probability β.
        """
        # P(noise > a) ≤ ½·e^{−rate·a} for discrete Laplace noise.
        reach = -np.minimum(math.log(2.0 * beta / len(self.counts)), 0.0) / np.array(self.rates)
        return np.asarray(np.maximum(np.array(self.counts) + reach + 1.0, 0.0))

    def ends(self, beta: float) -> tuple[Floats, Floats]:
        """Simultaneous bounds on the number of people on each rung, except with probability β."""
        noisy = np.array(self.counts, dtype=np.float64)
        # P(|noise| > a) ≤ e^{−rate·a} for discrete Laplace noise.
        reach = -math.log(beta / len(noisy)) / np.array(self.rates) + 1.0
        return np.maximum(noisy - reach, 0.0), np.maximum(noisy + reach, 0.0)


_CENTRES: Final = 65
"""Number of centres c that `most_squares` tries. Each gives a bound, and the smallest is used."""


def most_squares(weights: Integers, total: float, people: Floats | None, *, sampled: bool) -> float:
    """A v with P(Σ k·(x − m) > s) ≤ exp(−2s²/v), if budgets are unrelated to values.

    Everyone has a weight k and a value x in [0, 1]; m is the mean. For a sample, v is a bound on
    Σk². For values that are randomly permuted among people, v is a bound on the sum of the squared
    steps of a martingale that reveals large weights first. This sum is at most Σk². It is also at
    most Σ(k − c)² for every c, plus Σ(K − smallest weight)² over the distinct weights K.
    Proof: docs/proofs/add-remove.md (15), (16).

    Args:
        weights: the weights that people can have.
        total: upper bound on the sum of everyone's weights.
        people: upper bound on the number of people at each weight; None if it is unknown.
        sampled: whether people are a sample.
    """
    k, place = np.unique(weights.astype(np.float64), return_inverse=True)
    if not k[-1] > 0.0:
        return 0.0
    most = np.full(len(k), np.inf)
    if people is not None:
        most = np.bincount(place, people, len(k))
    centres = np.zeros(1)
    if not sampled:
        middle = math.sqrt(k[0] * k[-1])
        centres = np.concatenate([[0.0, middle], np.linspace(k[0], k[-1], _CENTRES)])
    found = costliest(np.square(k - centres[:, None]), k, most, total)
    found[1:] += float(np.square(k[1:] - k[0]).sum())
    return float(found.min()) * (1.0 + 1e-9)


def costliest(worth: Floats, weights: Floats, people: Floats, total: float) -> Floats:
    """Upper bounds on Σ worth over everyone, if a person's worth depends only on their weight.

    For every price p ≥ 0 of a unit of weight, the sum is at most p·total plus what people are worth
    above the price of their weight. The smallest of these bounds is used.
    Proof: docs/proofs/add-remove.md (16).

    Args:
        worth: the worth of a person at each weight, nonnegative. Each row gives one bound.
        weights: the weights that people can have.
        people: upper bound on the number of people at each weight; infinity if it is unknown.
        total: upper bound on the sum of everyone's weights.
    """
    heavy = weights > 0.0
    prices = np.where(heavy, worth / np.where(heavy, weights, 1.0), 0.0)
    prices = np.concatenate([np.zeros((len(worth), 1)), prices], axis=1)
    over = np.maximum(worth[:, None, :] - prices[..., None] * weights, 0.0)
    # Where worth and price are equal, rounding can leave a tiny difference. It counts as 0, because
    # it would be multiplied by infinity if the number of people is unknown.
    over[np.isinf(people) & (over <= 1e-12 * worth[:, None, :])] = 0.0
    with np.errstate(invalid="ignore"):
        each = np.where(over > 0.0, over * people, 0.0).sum(axis=2) + prices * total
    return np.asarray(each.min(axis=1) * (1.0 + 1e-9))


def _averages(first: Floats, then: Floats, weights: Floats) -> list[float]:
    """Average weights for every cut: rungs before the cut have counts `first`, all others `then`.

    The extreme averages over all counts between `first` and `then` have this form.
    """
    found = []
    for place in range(len(weights) + 1):
        people = np.concatenate([first[:place], then[place:]])
        total = float(people.sum())
        found.append(float(people @ weights) / total if total > 0.0 else float(weights[0]))
    return found
