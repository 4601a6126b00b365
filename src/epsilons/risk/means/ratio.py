"""Confidence intervals for a ratio of two noisy sums, valid for every number of people.

Everyone has a weight k and a value x on a unit range. The sums are t = Σ k·x and T = Σ k, and the
released numbers are noisy versions t̂ and T̂. At the true mean m, t̂ − m·T̂ = Σ k·(x − m) + noise.
The distribution of this error is known except for T, and T̂ gives a bound on T. Each m is tested
with this distribution. The set of all accepted m has the stated coverage for every T, because the
ratio is not linearized.
Proof: docs/proofs/add-remove.md (3), (5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Final, Protocol

import numpy as np

from epsilons.draws.noise import PairLaw, Pieces
from epsilons.frozen import storable
from epsilons.risk.tails import pieces
from epsilons.risk.tails.laplace import bisect, tail
from epsilons.types import Booleans, Floats, Integers

# The sum of two independent Laplace variables, and noise with nearly this distribution.

_CLOSE: Final = 1e-3
"""Scales with a smaller relative difference are moved apart, because the formula divides by the
difference."""

_SURELY: Final = 1.001
"""Factor that covers rounding errors in the comparison of a lower bound with a number."""


@dataclass(frozen=True)
class Difference:
    """Noise within `slack` of the sum of two independent Laplace variables of scales a ≥ b.

    Its probabilities can also be up to `factor` times as large. The sum has the distribution
    (a²·Laplace(a) − b²·Laplace(b))/(a² − b²), and its tails have the same form.
    Proof: docs/proofs/add-remove.md (6), (7).
    """

    a: float
    b: float
    slack: float
    factor: float = 1.0

    def tail(self, alpha: float, sigma: float) -> float:
        """Bound on P(S + noise > alpha), where P(S > s) ≤ exp(−s²/2σ²)."""
        alpha -= self.slack
        if alpha <= 0.0:
            return 1.0

        def alone(scale: float) -> float:
            return _laplace_tail(alpha, sigma, scale)

        return min(with_two(alone, self.a, self.b) * self.factor, 1.0)

    def rarely(self, alpha: float, sigma: float, beta: float) -> bool:
        """Whether `tail` is at most beta."""
        return self.tail(alpha, sigma) <= beta


def with_two(alone: Callable[[float], float], a: float, b: float) -> float:
    """Bound on a tail with the sum of two Laplace noises, from tails with one of them alone.

    Proof: docs/proofs/add-remove.md (6).

    Args:
        alone: the tail with one Laplace noise, as a function of its scale.
        a: the larger scale.
        b: the smaller scale.
    """
    excess = 0.0
    if a - b < _CLOSE * a:
        # The tail is a smooth function of the scales, so this changes it by a factor 1 +
        # O(_CLOSE²).
        a, b = a * (1.0 + _CLOSE / 2.0), a * (1.0 - _CLOSE / 2.0)
        excess = _CLOSE**2
    first, second = alone(a), alone(b)
    share = b * b / ((a - b) * (a + b))
    return max(first + share * (first - second), 0.0) * (1.0 + excess)


@dataclass(frozen=True)
class BracketedNoise:
    """Hourglass noise, bracketed by Laplace noise that is shifted by ±`near.slack`.

    The exact distribution has very many pieces. The Laplace bounds decide most cases without
    evaluating any piece. A decision that a tail is at most beta is proven. A wrong decision that a
    tail is above beta can only make an interval longer.
    Proof: docs/proofs/add-remove.md (7).
    """

    near: Difference
    law: Pieces
    across: float
    along: float

    @cached_property
    def _pieces(self) -> pieces.Flat:
        return pieces.hourglass(self.law, self.across, self.along)

    def tail(self, alpha: float, sigma: float) -> float:
        """Bound on P(S + noise > alpha), where P(S > s) ≤ exp(−s²/2σ²)."""
        return self._pieces.tail(alpha, sigma)

    def rarely(self, alpha: float, sigma: float, beta: float) -> bool:
        """Whether `tail` is at most beta."""
        if self.near.tail(alpha, sigma) <= beta:
            return True
        if self.near.tail(alpha + 2.0 * self.near.slack, sigma) > _SURELY * beta:
            return False
        return self._pieces.rarely(alpha, sigma, beta)


def _laplace_tail(alpha: float, sigma: float, scale: float) -> float:
    if scale <= 0.0:
        return math.exp(-min((alpha / sigma) ** 2 / 2.0, 745.0)) if sigma > 0.0 else 0.0
    if sigma <= 0.0:
        return 0.5 * math.exp(-min(alpha / scale, 745.0))
    return tail(alpha, sigma, scale)


_TOTAL_SHARE: Final = 0.05
"""Part of the error probability that is used to bound the total."""

_SMALLEST_RATE: Final = 0.1
"""Below this rate, hourglass and ring noise are compared with two Laplace noises, which are at most
two units away. Above it, the stairs are summed one by one."""

_RATES: Final = np.concatenate([np.geomspace(1e-3, 0.5, 24), np.linspace(0.55, 0.995, 24)])
"""Rates of Chernoff's bound, relative to the largest possible one."""

_BLOCK: Final = 1000
"""Number of shares whose intervals are computed at once."""

_FINE: Final = 256
"""Precision of an interval end: 1/256 of its distance from the estimate."""


@storable("risk.Scheme")
@dataclass(frozen=True)
class Scheme:
    """The two linear combinations that get noise: p = a·t + b·T and q = c·t + d·T.

    Attributes:
        matrix: ((a, b), (c, d)), integers.
        start: coefficients of the noises of p and q in the noise of t̂.
        total: coefficients of the noises of p and q in the noise of T̂.
    """

    matrix: tuple[tuple[int, int], tuple[int, int]]
    start: tuple[float, float]
    total: tuple[float, float]

    def at(self, m: float) -> tuple[float, float]:
        """The coefficients of the noises of p and q in the noise of t̂ − m·T̂."""
        return self.start[0] - m * self.total[0], self.start[1] - m * self.total[1]


SUM_AND_COUNT: Final = Scheme(((1, 0), (0, 1)), (1.0, 0.0), (0.0, 1.0))
"""Noise on the sum and the count: Algorithm 1 of paper *add-remove*."""

CENTRED: Final = Scheme(((2, -1), (0, 1)), (0.5, 0.5), (0.0, 1.0))
"""Noise on twice the sum of x − ½, and on the count: Algorithm 2 of the same paper."""

TWO_SUMS: Final = Scheme(((1, 0), (-1, 1)), (1.0, 0.0), (1.0, 1.0))
"""Noise on the sum of x and on the sum of 1 − x: Algorithm 3 of the same paper."""


class Tail(Protocol):
    """Interface of symmetric noise: the tail of a sum plus noise.

    Proof: docs/proofs/add-remove.md (6).
    """

    def tail(self, alpha: float, sigma: float) -> float:
        """Bound on P(S + noise > alpha), where P(S > s) ≤ exp(−s²/2σ²)."""


class Noise(Tail, Protocol):
    """Interface of symmetric noise with a fast test of whether a tail is small.

    Proof: docs/proofs/add-remove.md (6).
    """

    def rarely(self, alpha: float, sigma: float, beta: float) -> bool:
        """Whether `tail` is at most beta."""


def noise_of(law: PairLaw, coefficients: tuple[float, float]) -> Noise:
    """The distribution of a linear combination of two noises, in units of the law's steps.

    The result depends on the shape of the pieces of the joint distribution.
    Proof: docs/proofs/add-remove.md (6).
    """
    return _SHAPES[law.pieces.shape](law.pieces, *coefficients)


def _rings(law: Pieces, first: float, second: float) -> Noise:
    """A linear combination of a pair whose density is constant on rings of |x| + |y|."""
    if law.steps == 1:  # two independent Laplace noises on the lattice
        return _near(float(1 / law.rate), first, second, abs(first) + abs(second))
    if law.rate >= _SMALLEST_RATE:
        return pieces.rings(law, first, second)
    # level(s) − s/steps varies by less than one unit. So each probability is at most e^{rate} times
    # that of two discrete Laplace noises, which are at most one step away from continuous noises.
    rate = float(law.rate)
    slack = (abs(first) + abs(second)) / law.steps
    return _near(1.0 / rate, first, second, slack, math.exp(rate))


def _hourglass(law: Pieces, first: float, second: float) -> Noise:
    """A linear combination of a pair with the hourglass distribution."""
    near = _near(1.0 / float(law.rate), first, second, 2.0 * (abs(first) + abs(second)))
    if law.rate >= _SMALLEST_RATE:
        return BracketedNoise(near, law, first - second, second)
    return near


def _near(
    scale: float, first: float, second: float, slack: float, factor: float = 1.0
) -> Difference:
    """Noise close to a linear combination of two independent Laplace noises of this scale."""
    a, b = sorted((abs(first) * scale, abs(second) * scale), reverse=True)
    return Difference(a, b, slack, factor)


_SHAPES: Final[Mapping[str, Callable[[Pieces, float, float], Noise]]] = MappingProxyType(
    {"rings": _rings, "hourglass": _hourglass}
)


def noise_variance(law: PairLaw, scheme: Scheme) -> float:
    """The largest variance of the noise of t̂ − m·T̂ over m in [0, 1], in squared units.

    The variance is a convex quadratic in m, so its maximum is at an end.
    Proof: docs/proofs/add-remove.md (14).
    """
    unit = float(law.steps) ** 2
    variance, covariance = law.variance / unit, law.covariance / unit
    return max(
        variance * (first * first + second * second) + 2.0 * covariance * first * second
        for first, second in (scheme.at(0.0), scheme.at(1.0))
    )


def interval(
    law: PairLaw,
    scheme: Scheme,
    drawn: tuple[float, float],
    *,
    largest: float,
    confidence: float,
    squares: Callable[[float], float] | None = None,
) -> tuple[float, float]:
    """A confidence interval within [0, 1] for the mean m. Proof: docs/proofs/add-remove.md (5).

    Args:
        law: joint distribution of the noise.
        scheme: the two linear combinations to which noise was added.
        drawn: t̂ and T̂, in units of the law's steps.
        largest: the largest possible weight, if Σ k·(x − m) is a sampling error; 0 if the sum is 0,
            because m is the weighted mean itself.
        confidence: strictly between 0 and 1.
        squares: function of an upper bound on T. It returns a v with P(Σ k·(x − m) > s) ≤
            exp(−2s²/v). If it is None, v is `largest` times that upper bound.

    Returns:
        (low, high).

    Guarantee:
        For every number of people and all weights up to `largest`, the interval fails to cover m
        with probability at most 1 − confidence.
    """
    t, total = drawn
    if total <= 0.0:
        return 0.0, 1.0
    beta = 1.0 - confidence
    slack = 1.0 / law.steps
    about_total = quantile(noise_of(law, scheme.total), beta * _TOTAL_SHARE / 2.0)
    most = max(total + about_total, 0.0)
    sigma = math.sqrt(largest * most if squares is None else squares(most)) / 2.0
    side = beta * (1.0 - _TOTAL_SHARE) / 2.0
    estimate = min(max(t / total, 0.0), 1.0)

    def refutes(m: float, far: float) -> bool:
        """Whether all candidates between m and `far` are rejected.

        `far` is nearer to the estimate than m. Between the two, the noise of t̂ − m·T̂ changes by
        at most |far − m| times the noise of T̂.
        """
        reach = abs(t - far * total) - abs(far - m) * about_total - slack
        return reach > 0.0 and noise_of(law, scheme.at(m)).rarely(reach, sigma, side)

    return march(0.0, estimate, refutes), march(1.0, estimate, refutes)


def march(start: float, estimate: float, refutes: Callable[[float, float], bool]) -> float:
    """Move from an end of the range towards the estimate while all candidates are rejected."""
    m, step = start, (estimate - start) / 4.0
    while abs(step) > max(abs(estimate - m) / _FINE, 1e-12):
        if refutes(m, m + step):
            m += step
            step = min(2.0 * step, (estimate - m) / 2.0, key=abs)
        else:
            step /= 2.0
    return m


def quantile(noise: Tail, beta: float) -> float:
    """The one-sided 1 − beta quantile of the noise. Proof: docs/proofs/add-remove.md (5)."""
    return _sum_quantile(noise, beta) if isinstance(noise, _Sum) else _quantile(noise, beta)


@lru_cache(maxsize=256)
def _sum_quantile(noise: _Sum, beta: float) -> float:
    """The quantile of a `_Sum`, cached for repeated use. Proof: docs/proofs/add-remove.md (12)."""
    return _quantile(noise, beta)


def _quantile(noise: Tail, beta: float) -> float:
    high = 1.0
    while noise.tail(high, 0.0) > beta:
        high *= 2.0
    return bisect(lambda alpha: noise.tail(alpha, 0.0) - beta, 0.0, high)


@dataclass(frozen=True)
class _Sum:
    """`first` Laplace variables of scale a and `more` of scale b, all independent.

    The tail is bounded by Chernoff's bound at many rates. If there is one variable of scale a, the
    bound at rate 1/a uses its exact tail, which is at most ½·e^{−z/a} for every z.
    Proof: docs/proofs/add-remove.md (12).
    """

    a: Any
    b: Any
    more: int
    slack: float
    first: int = 1

    def tail(self, alpha: Any, sigma: float) -> Any:
        """The bound for one number, or for arrays of `alpha`, `a` and `b` of the same length."""
        alpha, a, b = np.asarray(alpha - self.slack), np.asarray(self.a), np.asarray(self.b)
        widest = np.maximum(a, b if self.more else 0.0)
        # If the noise is very small, larger rates are useless because of the sum S.
        limit = np.minimum(1.0 / widest, 50.0 / sigma if sigma > 0.0 else math.inf)
        rates = limit[..., None] * _RATES
        exponent = 0.5 * (sigma * rates) ** 2 - rates * alpha[..., None]
        exponent -= self.first * np.log1p(-np.square(rates * a[..., None]))
        exponent -= self.more * np.log1p(-np.square(rates * b[..., None]))
        best = exponent.min(axis=-1)
        if self.first == 1:
            with np.errstate(divide="ignore", invalid="ignore"):
                others = 0.5 * (sigma / a) ** 2 - self.more * np.log1p(-np.square(b / a))
                alone = others - alpha / a - math.log(2.0)
                # Compare with the same quotient as above, because (1/a)·a may round to less than 1.
                exact = (a > b) & (limit >= 1.0 / a)
            best = np.where(exact, np.minimum(best, alone), best)
        return np.where(alpha > 0.0, np.exp(np.minimum(best, 0.0)), 1.0)[()]


@dataclass(frozen=True)
class OwnTotal:
    """Noise of counts if the noisy total is the sum of the noisy counts.

    Attributes:
        scale: scale of the discrete Laplace noise of each count.
        cells: number of counts.
        added: number of counts that are added up, for shares of sums; otherwise 1.
    """

    scale: float
    cells: int
    added: int = 1

    @property
    def noise(self) -> Tail:
        """The noise of the total."""
        return _Sum(self.scale, self.scale, self.cells - 1, 0.0)

    def beside(self, p: Any) -> _Sum:
        """The noise of a sum of `added` counts minus p times the noise of the total."""
        own, rest = (1.0 - p) * self.scale, p * self.scale
        return _Sum(own, rest, self.cells - self.added, 0.0, self.added)


@dataclass(frozen=True)
class ApartTotal:
    """Noise of counts if the total was released separately, with independent noise.

    Attributes:
        scale: scale of the discrete Laplace noise of each count.
        total_scale: scale of the noise of the total.
        added: number of counts that are added up, for shares of sums; otherwise 1.
    """

    scale: float
    total_scale: float
    added: int = 1

    @property
    def noise(self) -> Tail:
        """The noise of the total."""
        return _Sum(self.total_scale, 0.0, 0, 0.0)

    def beside(self, p: Any) -> _Sum:
        """The noise of a sum of `added` counts minus p times the noise of the total."""
        return _Sum(self.scale, p * self.total_scale, 1, 0.0, self.added)


def share_intervals(
    counts: Floats,
    total: float,
    noises: OwnTotal | ApartTotal,
    *,
    largest: float,
    confidence: float,
    squares: Callable[[float], float] | None = None,
) -> tuple[Floats, Floats]:
    """A confidence interval for the share of each noisy count.

    Proof: docs/proofs/add-remove.md (12), (13).

    Args:
        counts: weighted counts with independent discrete Laplace noise, in units of weight; or
            sums of such counts.
        total: the noisy total, in the same units.
        noises: the noise of the counts and of the total.
        largest: the largest possible weight if the counts are a sample, otherwise 0.
        confidence: confidence level of each interval separately.
        squares: function of an upper bound on the true total: see `interval`.

    Returns:
        (low, high).

    Guarantee:
        For every number of people and all weights up to `largest`, each interval fails to cover its
        share with probability at most 1 − confidence.
    """
    if total <= 0.0:
        return np.zeros(len(counts)), np.ones(len(counts))
    beta = 1.0 - confidence
    about_total = quantile(noises.noise, beta * _TOTAL_SHARE / 2.0)
    most = max(total + about_total, 0.0)
    sigma = math.sqrt(largest * most if squares is None else squares(most)) / 2.0
    side = beta * (1.0 - _TOTAL_SHARE) / 2.0
    # Cells with equal counts have equal intervals. Large tables have few distinct counts.
    found, place = np.unique(counts, return_inverse=True)

    def ends(count: Floats) -> Floats:
        """The lower ends of the intervals of these counts, and then the upper ends."""
        start, both = np.repeat([0.0, 1.0], len(count)), np.tile(count, 2)

        def refuted(at: Integers, p: Floats, far: Floats) -> Booleans:
            reach = np.abs(both[at] - far * total) - np.abs(far - p) * about_total
            return np.asarray((reach > 0.0) & (noises.beside(p).tail(reach, sigma) <= side))

        return _marched(start, np.clip(both / total, 0.0, 1.0), refuted).reshape(2, -1)

    blocks = np.array_split(found, math.ceil(len(found) / _BLOCK))
    low, high = np.concatenate([ends(block) for block in blocks], axis=1)
    return low[place], high[place]


def _marched(
    start: Floats,
    estimate: Floats,
    refuted: Callable[[Integers, Floats, Floats], Booleans],
) -> Floats:
    """`march` for many numbers. `refuted` is given the places of those that still move."""
    m, step, at = start.copy(), (estimate - start) / 4.0, np.arange(len(start))
    while True:
        fine = np.maximum(np.abs(estimate[at] - m[at]) / _FINE, 1e-12)
        at = at[np.abs(step[at]) > fine]
        if not len(at):
            return m
        far = m[at] + step[at]
        moves = refuted(at, m[at], far)
        m[at] = np.where(moves, far, m[at])
        twice, left = 2.0 * step[at], (estimate[at] - m[at]) / 2.0
        longer = np.where(np.abs(twice) <= np.abs(left), twice, left)
        step[at] = np.where(moves, longer, step[at] / 2.0)
