"""Intervals of a mean of an unknown number of people, from three noisy cells that show its spread.

Everyone has a weight k and a value x on a unit range, and divides k among x², 2x(1 − x) and
(1 − x)². The three noisy sums give Σ k·x, Σ k and, for each candidate m of the mean, Σ k·(x − m)².
Proof: docs/proofs/add-remove.md (20), (21).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.counted import costliest
from epsilons.risk.margins import Asked, Bounds, Estimated, OnRungs
from epsilons.risk.means import ratio
from epsilons.risk.means.spread import TailBound, log_moment
from epsilons.risk.tails.combined import Contrast
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats

_TOTAL, _NOISE, _SQUARES = 0.05, 0.02, 0.04
"""Parts of the error probability: for the noise of the total, for the noise of the sum of squares
Σ k·(x − m)², and for the deviation of this sum by chance, because who has which value is random."""

_RATES: Final = np.geomspace(1e-7, 1.0, 96)
"""Rates of Chernoff's bound, relative to the largest one."""

_MOST: Final = 1000.0
"""Largest rate, relative to 1/(scale of the widest noise); steeper bounds are not needed."""

_STEEPEST: Final = 60.0
"""Largest rate, relative to 1/(largest weight); its exponential does not overflow."""


@storable("risk.RatioSpread")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioSpread(OnRungs):
    """Margin of the mean of an unknown number of people, with the spread of their values.

    Guarantee:
        For every number of people and all data that the assumption allows, the interval fails to
        cover the true mean with probability at most 1 − confidence.
        Proof: docs/proofs/add-remove.md (20), (21).

    Attributes:
        drawn: the noisy sums of k·x², 2k·x·(1 − x) and k·(1 − x)², in units of weight.
        scale: scale of the discrete Laplace noise of each sum.
        slack: one step of the grid of values on a unit range, and of the lattice of the sums.
    """

    drawn: Floats
    scale: float
    slack: float

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def sums(self) -> tuple[float, float]:
        """The noisy Σ k·x and Σ k."""
        first, middle, last = self.drawn.tolist()
        return first + middle / 2.0, first + middle + last

    @property
    def _sum_scale(self) -> float:
        return self.scale * math.sqrt(1.25)

    def total(self, bounds: Bounds, confidence: float) -> Estimated:
        """The sum of everyone's values with an interval, if everyone has the same weight.

        Proof: docs/proofs/counts.md (4).
        """
        (lo, hi), (t, total), beta = bounds, self.sums, 1.0 - confidence
        noise = Contrast(np.array([hi, (hi + lo) / 2.0, lo]), self.scale)
        far = noise.deviation(0.0, 0.0, beta * (1.0 - _TOTAL))
        about = ratio.quantile(ratio.OwnTotal(self.scale, 3).noise, beta * _TOTAL)
        grid = self.slack * (hi - lo) * max(total + about, 0.0)
        value, reach = ((hi - lo) * t + lo * total) / self.largest, (far + grid) / self.largest
        return Estimated(value, value - reach, value + reach)

    def asked(self, assumption: Assumption, confidence: float) -> Asked:
        """Return the interval to compute.

        If budgets are unrelated to values, it is always an interval of the mean itself, never one
        of the weighted mean plus a bound on the bias.
        """
        found = super().asked(assumption, confidence)
        if assumption.related is not False or self.equal or found.largest > 0.0:
            return found
        part = self._part(assumption) * (1.0 - confidence)
        squares = partial(self._squares, part=part, sampled=False)
        return Asked(self.largest, 0.0, found.rest, squares)

    def unit(self, assumption: Assumption, confidence: float) -> tuple[float, float]:
        """A confidence interval on the unit range. Proof: docs/proofs/add-remove.md (21)."""
        t, total = self.sums
        if total <= 0.0:
            return 0.0, 1.0
        asked = self.asked(assumption, confidence)
        beta = 1.0 - asked.rest
        about = ratio.quantile(ratio.OwnTotal(self.scale, 3).noise, beta * _TOTAL / 2.0)
        most = max(total + about, 0.0)
        seen = asked.largest > 0.0 and assumption.related is False
        side = beta * (1.0 - _TOTAL - (_NOISE + _SQUARES) * seen) / 2.0
        square = asked.square(most)
        chance = self._chance(assumption, confidence, most) if seen else None

        def refutes(m: float, far: float) -> bool:
            """Whether all candidates between m and `far` are rejected: see `ratio.interval`."""
            reach = abs(t - far * total) - abs(far - m) * about - 3.0 * self.slack
            if reach <= 0.0:
                return False
            own, b, a = sorted(self.scale * part for part in (m, abs(0.5 - m), 1.0 - m))
            rates = _RATES * min(
                _MOST / a,
                0.999 / own if own > 0.0 else math.inf,
                _STEEPEST / asked.largest if asked.largest > 0.0 else math.inf,
            )
            logs = np.square(rates) * square / 8.0
            if chance is not None:
                sigma = self._deviation((m, far), chance, total - about, beta)
                logs = np.minimum(logs, chance.logs(rates, sigma))
            logs = logs - np.log1p(-np.square(rates * own))
            # The probability is bounded in two ways. The first is Chernoff's bound for S = Σ k·(x −
            # m) and all noises. It is better if S is large. The second uses the exact law of the
            # two widest noises. It is better if these are large.
            few = rates * a < 0.999
            both = logs[few] - np.log1p(-np.square(rates[few, None] * [a, b])).sum(axis=1)
            if float((both - rates[few] * reach).min(initial=0.0)) <= math.log(side):
                return True
            tail = TailBound.through(rates, logs)
            return ratio.with_two(lambda scale: tail.beyond(reach, scale), a, b) <= side

        estimate = min(max(t / total, 0.0), 1.0)
        low, high = ratio.march(0.0, estimate, refutes), ratio.march(1.0, estimate, refutes)
        reach = asked.apart + self.slack
        return max(low - reach, 0.0), min(high + reach, 1.0)

    def _heads(self, part: float) -> Floats:
        """Upper bounds on the numbers of people on all rungs, except with probability `part`.

        One-sided bounds are enough here. The base class needs two-sided bounds, because it uses the
        counts to choose between bounds on the bias. This class does not.
        """
        assert self.counted is not None
        return self.counted.most(part)

    def _chance(self, assumption: Assumption, confidence: float, most: float) -> _Chance:
        """The sum of everyone's k·(x − m), for at most this total weight.

        If there are very many weights, any weight can be between 0 and the largest one.
        """
        part = self._part(assumption) * (1.0 - confidence)
        weights = (
            np.append(self.rungs, self.largest)
            if len(self.rungs)
            else np.array([0.0, self.largest])
        )
        people = np.full(len(weights), np.inf)
        if self.counted is not None and part > 0.0:
            weights, people = self.counted.weights, self._heads(part)
        return _Chance(weights.astype(np.float64), people, most, assumption.sampled)

    def _deviation(
        self, candidates: tuple[float, float], chance: _Chance, total: float, beta: float
    ) -> float:
        """Bound on the standard deviation of the values, if the mean is between two candidates.

        Args:
            candidates: the two candidates.
            chance: the sum of everyone's k·(x − m).
            total: lower bound on Σ k.
            beta: the error probability of the interval.
        """
        m = np.array(candidates)
        within = 0.25 if (m - 0.5).prod() < 0.0 else float((m * (1.0 - m)).max())
        if total <= 0.0:
            return math.sqrt(within)
        first, middle, last = self.drawn.tolist()
        # Convex in m, so the largest value is at an end.
        squares = np.square(1.0 - m) * first - m * (1.0 - m) * middle + np.square(m) * last
        noise = self.scale * math.log(1.5 / (beta * _NOISE)) + self.slack * chance.total
        square = max(float(squares.max()) + noise, 0.0)
        widest = float(np.maximum(m, 1.0 - m).max()) ** 2  # bounds every (x − m)²
        lost = -2.0 * widest * chance.squares * math.log(beta * _SQUARES)
        sigma = (math.sqrt(lost) + math.sqrt(lost + 4.0 * total * square)) / (2.0 * total)
        return min(sigma, math.sqrt(within))


@dataclass(frozen=True, eq=False)
class _Chance:
    """The random sum S = Σ k·(x − m). Values are assigned to people at random, or are a sample.

    Attributes:
        weights: the weights that people can have.
        people: upper bound on the number of people at each weight; infinity if it is unknown.
        total: upper bound on Σ k.
        sampled: whether people are a sample.
    """

    weights: Floats
    people: Floats
    total: float
    sampled: bool

    @property
    def above(self) -> Floats:
        """The weights; if values are assigned at random, minus the smallest weight."""
        return self.weights if self.sampled else self.weights - self.weights.min()

    @cached_property
    def squares(self) -> float:
        """Bound on the sum of all squares of `above`."""
        return float(self._most(np.square(self.above)[None])[0])

    def logs(self, rates: Floats, sigma: float) -> Floats:
        """Bounds on ln E e^{±λS}, for values with a standard deviation of at most sigma."""
        found = self._most(log_moment(np.outer(rates, self.above), sigma))
        if self.sampled:
            return found
        below = self.weights.max() - self.weights
        return np.minimum(found, self._most(log_moment(np.outer(rates, below), sigma)))

    def _most(self, worth: Floats) -> Floats:
        return costliest(worth, self.weights, self.people, self.total)
