"""Error bounds of weighted sums of local reports, with explicit constants.

All functions depend only on budgets and public facts.
Proof: docs/proofs/local.md (3), (4), (5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ArgumentError
from epsilons.frozen import storable
from epsilons.listed import shown
from epsilons.risk.margins import Bounds, Margin
from epsilons.risk.means.mean import sampling_reach
from epsilons.risk.shares import AroundCells, around
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats, Weights

_POINTS = 400
_LEANS = 32
_NODES = 1000
_TAUS = 140


@storable("risk.Sums")
class Sums(NamedTuple):
    """Sums over people; w is a person's weight before weights are normalized.

    Attributes:
        weight: Σ w.
        square: Σ w².
        variance: Σ w²·(worst-case variance of a report).
        proxy: Σ w²·σ², where E e^{λ(Y − θ)} ≤ e^{λ²σ²/2} for a report Y of θ (for vectors, in every
            direction).
        tail: Σ w²·b², where b is the scale of Laplace noise.
        bounded: Σ w²·r², where r bounds the length of the part of a report that is not
            sub-Gaussian.
        largest: the largest w·b.
        most: the largest w.
        reach: the largest w·|report − middle| over all valid reports at these budgets, honest or
            not; in ℓ2 for vectors, and the largest over cells for categories.
    """

    weight: float = 0.0
    square: float = 0.0
    variance: float = 0.0
    proxy: float = 0.0
    tail: float = 0.0
    bounded: float = 0.0
    largest: float = 0.0
    most: float = 0.0
    reach: float = 0.0

    def merged(self, other: Sums) -> Sums:
        """Combine two groups of people: add the sums and take the maxima."""
        both = Sums(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))
        return both._replace(
            largest=max(self.largest, other.largest),
            most=max(self.most, other.most),
            reach=max(self.reach, other.reach),
        )

    def times(self, people: int) -> Sums:
        """The sums over `people` identical copies of this person."""
        many = Sums(*(people * each for each in self))
        return many._replace(largest=self.largest, most=self.most, reach=self.reach)


def influence(lies: int, people: int, sums: Sums, off: float) -> float:
    """Bound on how far `lies` dishonest reports move an estimate. Proof: docs/proofs/local.md (5).

    Let S = Σ w·(report − middle) and m = S/W. Removing reports with sums S′ and W′ moves m by (S′ −
    m·W′)/(W − W′), where |S′| ≤ k·reach and W′ ≤ k·most. The bound is attained if all dishonest
    reports have the largest weight and reach, and point away from m.

    Args:
        lies: number k ≥ 0 of dishonest reports.
        people: number of all reports.
        sums: sums over all reports, including dishonest ones.
        off: |m|, the distance of the estimate from the middle.

    Returns:
        The bound on a unit range; ∞ if dishonest reports may have all the weight.
    """
    if lies == 0:
        return 0.0
    others = sums.weight - lies * sums.most
    if lies >= people or others <= 1e-9 * sums.weight:  # the tolerance is far above rounding errors
        return math.inf
    return lies * (sums.reach + off * sums.most) / others


def chernoff(proxy: float, tail: float, largest: float, beta: float) -> float:
    """A t with P(|S| > t) ≤ β for a sum S of independent sub-Gaussian and Laplace terms.

    ln E e^{λS} ≤ λ²·proxy/2 − Σ ln(1 − λ²z²), where the sum is over the Laplace terms of scale z ≤
    largest, and the z² sum to `tail`. Since φ(x) = −ln(1 − x)/x is increasing, the sum is at most
    λ²·tail·φ(λ²·largest²). Every λ gives a bound, and the smallest of many is used.
    Proof: docs/proofs/local.md (4).

    Args:
        proxy: sum of the proxy variances.
        tail: sum of the squared Laplace scales.
        largest: the largest Laplace scale.
        beta: the error probability.
    """
    if tail <= 0.0:
        return math.sqrt(2.0 * proxy * math.log(2.0 / beta))
    share = np.linspace(0.0, 1.0, _POINTS + 2)[1:-1] ** 2  # as fractions of the largest possible λ
    # For a sum of many small terms the best λ is far below the largest.
    normal = math.sqrt(2.0 * math.log(2.0 / beta) / (proxy + 2.0 * tail)) * largest
    share = np.concatenate([share, normal * np.geomspace(0.25, 1.5, _POINTS)])
    share = share[(share > 0.0) & (share < 1.0)]
    x = share * share
    lam = share / largest
    bound = lam * lam * (proxy / 2.0 + tail * (-np.log1p(-x) / x))
    return float(((bound + math.log(2.0 / beta)) / lam).min())


def chi_square(dimension: int, beta: float) -> float:
    """A y with P(‖S‖² > y) ≤ β, if E e^{⟨λ, S⟩} ≤ e^{‖λ‖²/2} for all λ.

    The result y ≥ d solves (y/d)^{d/2}·e^{(d − y)/2} = β. This is Chernoff's bound for a chi-square
    variable, which also holds for ‖S‖². The result is at most d + 2√(d·ln(1/β)) + 2·ln(1/β).
    Proof: docs/proofs/local.md (4).
    """
    need = 2.0 * math.log(1.0 / beta) / dimension

    def excess(ratio: float) -> float:
        return ratio - 1.0 - math.log(ratio) - need

    low, high = 1.0, 2.0 + 2.0 * math.sqrt(need) + 2.0 * need
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if excess(middle) >= 0.0 else (middle, high)
    return dimension * high


def bounded_norm(squares: float, beta: float) -> float:
    """A t with P(‖S‖ > t) ≤ β for a sum of independent centered vectors of bounded length.

    Each term is w·(Z − EZ), and `squares` is the sum of the bounds on ‖wZ‖². Then E‖S‖ ≤ √squares.
    Changing one Z moves ‖S‖ by at most twice the bound on ‖wZ‖, so McDiarmid's inequality applies.
    Proof: docs/proofs/local.md (4).
    """
    return math.sqrt(squares) * (1.0 + math.sqrt(2.0 * math.log(1.0 / beta)))


def spread(rho: Floats, dimension: int) -> Floats:
    """A κ with E e^{λ⟨ℓ, Y − EY⟩} ≤ e^{λ²κB²/2d} for a randomly signed direction Y of length B.

    Y = ±B·V, where V is uniform on the unit sphere. The sign is correct with probability (1 + ρ)/2.
    κ is close to 1 for small ρ, and at most 2 for every ρ. Proof: docs/proofs/local.md (4).

    Args:
        rho: the advantages ρ in [0, 1]; they are rounded up to multiples of 1/32.
        dimension: dimension of the space.
    """
    table = _spread_table(dimension)
    return table[np.ceil(np.clip(rho, 0.0, 1.0) * (len(table) - 1)).astype(np.int64)]


@lru_cache(maxsize=64)
def _spread_table(dimension: int) -> Floats:
    """κ for ρ = 0, 1/32, …, 1: a numerical maximum plus one percent.

    For any ℓ, Z = ⟨ℓ, Y⟩/B is ±a with a = |⟨ℓ, V⟩|, and its sign has bias ρ·g(a), |g| ≤ 1. For a
    given E[g·sinh(ta)], EZ is smallest if g is −1 below some c and 1 above it, because
    sinh(ta)/a is increasing (Neyman–Pearson). So κ is the maximum over c and τ = t²/d of 2·(ln E
    e^{tZ} − t·EZ)/τ for these g. Proof: docs/proofs/local.md (4).
    """
    if dimension == 1:
        return np.ones(_LEANS + 1)  # a single sign: Hoeffding's lemma
    top = min(math.pi / 2.0, 14.0 / math.sqrt(dimension))
    angle = (np.arange(_NODES) + 0.5) * (top / _NODES)
    mass = np.exp((dimension - 2) * np.log(np.cos(angle)))
    mass /= mass.sum()
    a = np.sin(angle)
    rho = np.arange(_LEANS + 1)[:, None] / _LEANS
    before = np.concatenate([[0.0], np.cumsum(mass * a)])
    mean = before[-1] - 2.0 * before
    found = np.ones(_LEANS + 1)
    for tau in np.geomspace(1e-2, 2000.0, _TAUS).tolist():
        t = math.sqrt(tau * dimension)
        # Both terms are divided by e^{τ/2}, an upper bound on the even part.
        up, down = np.exp(t * a - tau / 2.0), np.exp(-t * a - tau / 2.0)
        even = float(mass @ (up + down)) / 2.0
        below = np.concatenate([[0.0], np.cumsum(mass * (up - down) / 2.0)])
        odd = below[-1] - 2.0 * below
        whole = np.log(np.maximum(even + rho * odd, 1e-300)) - t * rho * mean
        np.maximum(found, 1.0 + 2.0 * whole.max(axis=1) / tau, out=found)
    return np.minimum(1.01 * np.maximum.accumulate(found), 2.0)


@lru_cache(maxsize=256)
def mean_dot(dimension: int) -> float:
    """E|⟨V, u⟩| for V uniform on the unit sphere: Γ(d/2)/(√π·Γ((d + 1)/2))."""
    ratio = math.lgamma(dimension / 2.0) - math.lgamma((dimension + 1.0) / 2.0)
    return math.exp(ratio) / math.sqrt(math.pi)


def signs_variance(rho: Floats, kappa: Floats, signs: int, dimension: int) -> Floats:
    """E‖Y‖² of the estimate Y of a vector in the unit ball from several reported signs.

    Proof: docs/proofs/local.md (3).

    Args:
        rho: E[e₁], where e_i is 1 if sign i is reported truthfully, and −1 otherwise.
        kappa: E[e₁·e₂].
        signs: number of signs in a report.
        dimension: dimension of the space.

    Returns:
        The worst-case variance; infinite if a report is pure noise.
    """
    square = mean_dot(dimension) ** 2
    with np.errstate(divide="ignore", over="ignore"):
        return (1.0 + (signs - 1) * kappa * square) / (square * rho * rho * signs)


def related(square: float, weight: float, people: int) -> float:
    """Upper bound on min(½·Σ|w_i/W − 1/n|, 1), the effect of budgets related to values.

    Proof: docs/proofs/local.md (7).
    """
    if weight <= 0.0:
        return 1.0
    spare = max(people * square / (weight * weight) - 1.0, 0.0)
    return min(0.5 * math.sqrt(spare), 1.0)


# Weights of reports: by worst-case variance ("variance"), as in the papers ("paper"), or equal
# ("uniform").

WEIGHTS: Final = get_args(Weights)
"""Accepted values of `weights`."""

LEAST: Final = 2.0**-20
"""Reports at smaller budgets are almost pure noise. They get weight 0 for every value of `weights`.

About 10¹² such people are worth as much as one at ε = 1. With a positive weight, a report at ε =
1e-310 would cause a division by zero, and a report at 1e-9 would dominate an equally weighted
mean."""

MOST: Final = 2.0**20
"""The largest finite budget. Above ε = 45 the randomized response is the same for all budgets."""


_TOLD: Final = (2.0**-5, 700.0)
"""Range of budgets in which tanh(ε/2) can be computed from e^ε: there is no overflow, and only the
last digits are wrong."""

MANY: Final = 4096
"""Number of people from which a faster method is used. Its results differ in the last digits."""

_ONE: Final = np.ones(())
_TWO: Final = np.full((), 2.0)
# These are arrays, because NumPy would convert a Python number at each call.

LARGEST_ARM: Final = math.sqrt(2.0) / 8.0
"""The maximum of w/ε for w = 1/(1 + 8/ε²), attained at ε = √8."""


def tangent(epsilon: Floats, extent: tuple[float, float], arm: Floats) -> None:
    """Write tanh(ε/2) into an array, or 0 if ε is below `LEAST`.

    Args:
        epsilon: the budgets.
        extent: lower and upper bound on the budgets.
        arm: output array; relative errors are at most 2⁻⁴⁵.
    """
    least, most = extent
    if len(epsilon) >= MANY and least >= _TOLD[0] and most <= _TOLD[1]:
        # 1 − q with q = 2/(1 + e^ε) takes half the time of np.tanh. If e^ε has a relative error of
        # 2u, u = 2⁻⁵³, then q has 4u, and 1 − q has (4·q/(1 − q) + 1)·u ≤ (8/ε + 1)·u.
        np.exp(epsilon, arm)
        np.add(arm, _ONE, arm)
        np.divide(_TWO, arm, arm)
        np.subtract(_ONE, arm, arm)
        return
    np.multiply(epsilon, 0.5, arm)
    np.tanh(arm, arm)
    if least < LEAST:
        arm[epsilon < LEAST] = 0.0


def inverse(arm: Floats) -> NDArray[np.bool_]:
    """Replace tanh(ε/2) by its reciprocal in place; 0 stays 0.

    Returns:
        A mask of the entries that are not 0.
    """
    useful: NDArray[np.bool_] = arm > 0.0
    np.divide(1.0, arm, out=arm, where=useful)
    return useful


def response(weights: str, epsilon: Floats, weight: Floats, arm: Floats) -> None:
    """Write weights w of randomized responses, and w·c with c = 1/tanh(ε/2), into two arrays.

    For "variance" and "paper" (paper *local*, Algorithms 2 and 5), w is 1/c². Reports at budgets
    below `LEAST` always get weight 0.

    Args:
        weights: one of `WEIGHTS`.
        epsilon: the budgets.
        weight: output, w.
        arm: output, w·c.
    """
    tangent(epsilon, (float(epsilon.min()), float(epsilon.max())), arm)
    if weights == "uniform":
        weight[:] = inverse(arm)
    else:
        np.multiply(arm, arm, out=weight)


def laplace(weights: str, epsilon: Floats) -> Floats:
    """The weight of a reported number with Laplace noise, on a unit range, for ε > 0.

    For "variance" it is 1/(1 + 8/ε²), which is inversely proportional to the worst-case variance ¼
    + 2/ε². For "paper" (paper *local*, Algorithm 1, on [−1, 1]) it is 1/(1 + 1/ε²).
    """
    if weights == "uniform":
        return np.ones_like(epsilon)
    square = epsilon * epsilon
    found = square + (8.0 if weights == "variance" else 1.0)
    return np.divide(square, found, out=found)


def laplace_tail(weight: float, square: float) -> float:
    """Σ w²/ε² for "variance" weights, from Σ w and Σ w²: it follows from w + 8w/ε² = 1.

    Proof: docs/proofs/local.md (4).
    """
    return max(weight - square, 0.0) / 8.0


def by_variance(weights: str, epsilon: Floats, variance: Floats) -> Floats:
    """The weight of a reported vector: 1/variance, ε² as in paper *local* (Algorithm 3), or 1.

    Args:
        weights: one of `WEIGHTS`.
        epsilon: the budgets.
        variance: worst-case variances; infinite if a report is pure noise.
    """
    useful = epsilon >= LEAST
    if weights == "variance":
        return np.where(useful, 1.0 / variance, 0.0)
    if weights == "paper":  # ε² is unbounded, so ε = ∞ gets the weight of MOST
        return np.where(useful, np.minimum(epsilon, MOST) ** 2, 0.0)
    return useful.astype(np.float64)


def rappor(weights: str, epsilon: Floats) -> tuple[Floats, Floats]:
    """The weight w of a k-RAPPOR report, and w·c with c = coth(ε/4).

    For "variance" it is 4/c², the inverse of the worst-case variance of a cell. For "paper" (paper
    *correlated*, (149), without its ℓ1 term) it is 1/(1 + c/ε).
    """
    slope = np.where(epsilon >= LEAST, np.tanh(epsilon / 4.0), 0.0)
    useful = slope > 0.0
    inverse = np.zeros_like(slope)
    np.divide(1.0, slope, out=inverse, where=useful)
    if weights == "variance":
        return 4.0 * slope * slope, 4.0 * slope
    if weights == "uniform":
        return useful.astype(np.float64), inverse
    ratio = np.zeros_like(slope)
    np.divide(inverse, epsilon, out=ratio, where=useful)
    weight = np.where(useful, 1.0 / (1.0 + ratio), 0.0)
    return weight, weight * inverse


# Margins of estimates from local reports, for all populations, and bounds on dishonest reports.


class VectorMargin(Margin, Protocol):
    """Margin of a mean vector. Proof: docs/proofs/local.md (4)."""

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """A confidence interval for each coordinate separately."""

    def radius(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the ℓ2 distance between the estimate and the true mean."""


@storable("risk.Reported")
@dataclass(frozen=True, eq=False)
class Reported(Margin):
    """Margin of a mean, or of one share, from local reports.

    Guarantee:
        For all populations on the range, the interval fails to cover the true value with
        probability at most 1 − confidence. It is Chernoff's bound, with the exact moment generating
        function of Laplace noise, and Hoeffding's lemma for bounded terms.
        Proof: docs/proofs/local.md (4), (5), (7).

    Attributes:
        sums: sums over people; they depend only on budgets and weights.
        slack: error from rounding values to a grid, on a unit range.
        people: number of reports.
    """

    sums: Sums
    slack: float
    people: int

    kind: ClassVar[str | None] = None

    def interval(
        self, raw: float, bounds: Bounds, assumption: Assumption, confidence: float
    ) -> Bounds:
        """A confidence interval, clipped to the bounds."""
        lo, hi = bounds
        far, rest = _apart(self.sums, self.people, assumption, 1.0 - confidence)
        reach = (hi - lo) * far + self.reach(bounds, 1.0 - rest)
        return min(max(raw - reach, lo), hi), max(min(raw + reach, hi), lo)

    def influence(self, lies: int, raw: float, bounds: Bounds) -> float:
        """Bound on how far `lies` dishonest reports can have moved the estimate, in data units.

        Raises:
            ArgumentError: `lies` is not an integer from 0 to the number of people.
        """
        lo, hi = bounds
        off = abs(raw - (lo + hi) / 2.0) / (hi - lo)
        return (hi - lo) * _moved(lies, self.people, self.sums, off)

    def mse(self, bounds: Bounds) -> float:
        """The worst-case mean squared error over all populations, in squared data units."""
        lo, hi = bounds
        return (hi - lo) ** 2 * (self.sums.variance / self.sums.weight**2 + self.slack * self.slack)

    def reach(self, bounds: Bounds, confidence: float) -> float:
        """Bound on the error at this confidence, in data units."""
        lo, hi = bounds
        sums = self.sums
        far = chernoff(sums.proxy, sums.tail, sums.largest, 1.0 - confidence)
        return (hi - lo) * (far / sums.weight + self.slack)


@storable("risk.ReportedCells")
@dataclass(frozen=True, eq=False)
class ReportedCells(AroundCells):
    """Margin of the shares of categories, from local reports.

    Proof: docs/proofs/local.md (4), (5), (7).

    Attributes:
        sums: sums over people; they depend only on budgets and weights.
        cells: number of categories.
        people: number of reports.
        middle: middle of the possible estimates of a share from one report.
    """

    sums: Sums
    cells: int
    people: int
    middle: float

    kind: ClassVar[str | None] = None

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """An interval for each share separately, clipped to [0, 1]."""
        far, rest = _apart(self.sums, self.people, assumption, 1.0 - confidence)
        return around(raw, far + self.reach(rest))

    def influence(self, lies: int, raw: Floats) -> float:
        """Bound on how far `lies` dishonest reports can have moved any share.

        Raises:
            ArgumentError: `lies` is not an integer from 0 to the number of people.
        """
        off = float(np.abs(raw - self.middle).max())
        return _moved(lies, self.people, self.sums, off)

    def mse(self) -> float:
        """The worst-case mean squared error of a share, over all populations."""
        return self.sums.variance / self.sums.weight**2

    def reach(self, beta: float) -> float:
        """Bound on the error of one share, except with probability beta."""
        return chernoff(self.sums.proxy, 0.0, 0.0, beta) / self.sums.weight

    def worst(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the largest error of any share, at this confidence."""
        beta = (1.0 - confidence) / self.cells
        far, rest = _apart(self.sums, self.people, assumption, beta)
        return far + self.reach(rest)


@storable("risk.ReportedVector")
@dataclass(frozen=True, eq=False)
class ReportedVector(Margin):
    """Margin of the mean of vectors in a ball, from local reports.

    Guarantee:
        The bounds hold for all populations in the ball. The square of the radius grows as d +
        ln(1/β), not as d·ln(1/β). Proof: docs/proofs/local.md (4), (5), (7).

    Attributes:
        sums: sums over people for the unit ball; they depend only on budgets and weights.
        dimension: dimension of the vectors.
        ball: radius of the ball that contains all vectors.
        people: number of reports.
    """

    sums: Sums
    dimension: int
    ball: float
    people: int

    kind: ClassVar[str | None] = None
    staked: ClassVar[bool] = False

    def intervals(
        self, raw: Floats, assumption: Assumption, confidence: float
    ) -> tuple[Floats, Floats]:
        """An interval for each coordinate separately, clipped to the ball."""
        proxy = self.sums.proxy + self.sums.bounded
        far, rest = _apart(self.sums, self.people, assumption, 1.0 - confidence)
        own = chernoff(proxy, 0.0, 0.0, rest) / self.sums.weight
        reach = self.ball * (2.0 * far + own)
        low, high = raw - reach, raw + reach
        return np.clip(low, -self.ball, self.ball), np.clip(high, -self.ball, self.ball)

    def radius(self, assumption: Assumption, confidence: float) -> float:
        """Bound on the ℓ2 distance between the estimate and the true mean, at this confidence."""
        sums = self.sums
        apart, beta = _apart(sums, self.people, assumption, 1.0 - confidence)
        # In ℓ2, add a bound on the expected sampling error of the mean of n conditional means. They
        # are in a set of diameter D = 2·apart·ball, so this error is at most D/√(2n).
        apart += assumption.apart * math.sqrt(0.5 / self.people)
        if sums.bounded <= 0.0:
            far = math.sqrt(sums.proxy * chi_square(self.dimension, beta))
        elif sums.proxy <= 0.0:
            far = bounded_norm(sums.bounded, beta)
        else:
            far = math.sqrt(sums.proxy * chi_square(self.dimension, beta / 2.0))
            far += bounded_norm(sums.bounded, beta / 2.0)
        return self.ball * (far / sums.weight + 2.0 * apart)

    def influence(self, lies: int, raw: Floats) -> float:
        """Bound on how far `lies` dishonest reports can have moved the mean vector, in ℓ2.

        Raises:
            ArgumentError: `lies` is not an integer from 0 to the number of people.
        """
        off = float(np.linalg.norm(raw)) / self.ball
        return self.ball * _moved(lies, self.people, self.sums, off)

    def mse(self) -> float:
        """The worst-case mean squared error in ℓ2, over all populations in the ball."""
        return self.ball**2 * (self.sums.variance / self.sums.weight**2)


def _apart(sums: Sums, people: int, assumption: Assumption, beta: float) -> tuple[float, float]:
    """Bound on the error that is caused by budgets related to values, on a unit range.

    Given their budgets, people are independent draws with the conditional means at their budgets.
    The weighted mean of these means differs from their unweighted mean by at most half the ℓ1
    distance between the weights and equal weights. The unweighted mean has the sampling error of n
    draws. Both errors are multiplied by the largest difference between the conditional means.
    Proof: docs/proofs/local.md (7).

    Returns:
        The bound on the error, and the remaining error probability.
    """
    if assumption.related is False:
        return 0.0, beta
    far = related(sums.square, sums.weight, people) + sampling_reach(people, beta / 2.0)
    return assumption.apart * far, beta / 2.0


def _moved(lies: int, people: int, sums: Sums, off: float) -> float:
    """Check `lies`, and return the bound of `influence`. Proof: docs/proofs/local.md (5)."""
    whole = isinstance(lies, (int, np.integer)) and not isinstance(lies, bool)
    if not whole or not 0 <= lies <= people:
        raise ArgumentError(f"lies={shown(lies)} must be a whole number from 0 to {people:,}.")
    return influence(int(lies), people, sums, off)
