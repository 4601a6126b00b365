"""How far a weighted mean may be from the mean, told by noisy counts of who has which weight."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from epsilons.frozen import storable
from epsilons.types import Floats, Integers


@storable("risk.LevelCount")
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
            if smaller <= 0.0:  # nothing is heard of those below
                worst = max(worst, most / (most + fewer) if most > 0.0 else 0.0)
            elif others > 0.0:
                times = larger / smaller
                largest = most / fewer if fewer > 0.0 else math.inf
                r = min(max(math.sqrt(times), fewest / others), largest)
                worst = max(worst, r / (1.0 + r) - r / (times + r))
        return min(worst, 1.0)

    def fewest(self, beta: float) -> int:
        """A number of people that there surely are, unless in the cases that `bias` leaves out."""
        return int(self.ends(beta)[0].sum())

    @property
    def total(self) -> float:
        """About the total of weights: noisy: it may choose a proof, and be no part of it."""
        return float(np.maximum(self.counts, 0) @ self.weights)

    def ends(self, beta: float) -> tuple[Floats, Floats]:
        """The fewest and the most people on each rung, all of them, but in β of all cases."""
        noisy = np.array(self.counts, dtype=np.float64)
        # P(|noise| > a) ≤ e^{−rate·a} for the discrete Laplace law.
        reach = -math.log(beta / len(noisy)) / np.array(self.rates) + 1.0
        return np.maximum(noisy - reach, 0.0), np.maximum(noisy + reach, 0.0)


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
