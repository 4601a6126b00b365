"""Margins of the moments of one or two columns, and of a variance."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Final, NamedTuple

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.goals import MeanGoal
from epsilons.risk.margins import Behind, Bounds, Estimated, Margin
from epsilons.risk.means import mean
from epsilons.risk.means.spread import Seen, Spreading
from epsilons.risk.tails.combined import Contrast
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats

# Margins of the moments of one or two columns, from the shares of soft cells (each person is
# divided among several cells).
#
# Values are on unit ranges, relative to the middle: a = x − ½, b = y − ½. Let e(f) be the error of
# the estimated mean of a function f of one person. It is linear in f, and each fixed f has a bound
# on e(f). With true means μ and ν the covariance is E ψ for ψ = (a − μ)(b − ν). The error of the
# noisy covariance is e(ψ) − e(a)·e(b). The true means are unknown. But e is linear, so the noisy
# means can replace them in ψ, up to products of small errors.
# Proof: docs/proofs/pairs.md (6), (7).

AT_THE_MEANS: Final = "an approximation that takes the published means as true"
"""Description of the risk of a covariance or variance."""

_MEANS: Final = 0.02
"""Part of the error probability for each bound on a mean."""

_SQUARES: Final = 0.04
"""Part of the error probability for each bound on a variance."""

TOTAL: Final = 0.025
"""Part of the error probability for each bound on a noisy total."""

_DROWNED: Final = 1e100
"""Shares with a larger absolute value are unusable."""

MIDDLE: Final = np.array([0.5, 0.0, -0.5])
"""Coefficients of the cells x², 2x(1 − x) and (1 − x)² in a."""

SQUARE: Final = np.array([0.25, -0.25, 0.25])
"""Coefficients of the same cells in a²."""


class Function(NamedTuple):
    """A function f of one person's a and b.

    Attributes:
        values: coefficient of each cell. The function is the sum, over cells, of this coefficient
            times the person's part in the cell.
        reach: upper bound on the difference between two values of the function.
        low: lower bound on the function; low + reach is an upper bound.
        root: bound on the root mean square of the function over people; ∞ if none is known.

    If `values` has several rows, the object stands for all convex combinations of their functions.
    """

    values: Floats
    reach: float
    low: float = 0.0
    root: float = math.inf


def _less(function: Function, times: float, square: Function) -> Function:
    """Return `function` − `times`·`square`, where `square` is nonnegative."""
    reach = function.reach + abs(times) * square.reach
    low = function.low - max(times, 0.0) * square.reach
    return Function(function.values - times * square.values, reach, low)


@dataclass(frozen=True, eq=False)
class SoftMoments(Margin, ABC):
    """Margin of moments from three cells of one column, or nine cells of two columns.

    Proof: docs/proofs/pairs.md (3).
    """

    kind: ClassVar[str | None] = AT_THE_MEANS
    staked: ClassVar[bool] = False
    squares: ClassVar[int] = 1
    """How many times a slope uses the part `_SQUARES` of an error probability."""

    @property
    @abstractmethod
    def shares(self) -> Floats:
        """The noisy share of each cell; they sum to one."""

    @abstractmethod
    def far(self, function: Function, assumption: Assumption, beta: float) -> float:
        """Bound on the error of the mean of a function, except with probability beta."""

    @abstractmethod
    def noise(self, values: Floats) -> Contrast:
        """The noise of a linear combination of shares."""

    @abstractmethod
    def leading(self, function: Function, assumption: Assumption) -> float:
        """The leading term of the mean squared error of the mean of a function."""

    @cached_property
    def _lines(self) -> tuple[Floats, ...]:
        """The coefficients of the cells in a, and in b if there are two columns."""
        if len(self.shares) == len(MIDDLE):
            return (MIDDLE,)
        even = np.ones(len(MIDDLE))
        return np.kron(MIDDLE, even), np.kron(even, MIDDLE)

    def _product(self, i: int, j: int) -> Floats:
        if i != j:
            return np.asarray(self._lines[i] * self._lines[j])
        if len(self._lines) == 1:
            return SQUARE
        even = np.ones(len(MIDDLE))
        return np.kron(SQUARE, even) if i == 0 else np.kron(even, SQUARE)

    @cached_property
    def _means(self) -> tuple[float, ...]:
        return tuple(float(line @ self.shares) for line in self._lines)

    def _around(self, i: int, j: int) -> Function:
        """The function (a − m)·(b − m′) for noisy means m and m′, clipped to possible values."""
        m, other = (min(max(self._means[at], -0.5), 0.5) for at in (i, j))
        values = self._product(i, j) - other * self._lines[i] - m * self._lines[j] + m * other
        if i == j:
            return Function(values, (0.5 + abs(m)) ** 2)
        ends = [(x - m) * (y - other) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
        return Function(values, max(ends) - min(ends), min(ends))

    def _drawn(self, i: int, j: int) -> float:
        """The covariance (or variance) computed from the noisy shares."""
        return float(self._product(i, j) @ self.shares) - self._means[i] * self._means[j]

    @property
    def readable(self) -> bool:
        """Whether the shares are finite and not extremely large."""
        return bool(np.isfinite(self.shares).all() and np.abs(self.shares).max() < _DROWNED)

    def _off(self, i: int, assumption: Assumption, beta: float) -> float:
        return self.far(Function(self._lines[i], 1.0, -0.5), assumption, beta)

    def _aside(self, i: int, assumption: Assumption, beta: float) -> float:
        """The bound on a mean that is used in products of two such bounds."""
        return self._off(i, assumption, beta)

    def raw_mean(self, i: int) -> float:
        """The noisy mean of a column on a unit range, before it is clipped."""
        return self._means[i] + 0.5 if self.readable else 0.5

    @property
    def raw_covariance(self) -> float:
        """The noisy covariance on unit ranges, before it is clipped."""
        return self._drawn(0, 1) if self.readable else 0.0

    def mean(self, i: int, assumption: Assumption, confidence: float) -> Estimated:
        """The mean of a column, in [0, 1], with its interval. Proof: docs/proofs/pairs.md (6)."""
        if not self.readable:
            return Estimated(0.5, 0.0, 1.0)
        value, reach = self._means[i] + 0.5, self._off(i, assumption, 1.0 - confidence)
        ends = (min(max(each, 0.0), 1.0) for each in (value, value - reach, value + reach))
        return Estimated(*ends)

    def covariance(self, assumption: Assumption, confidence: float) -> Estimated:
        """The covariance of two columns, in [−¼, ¼]. Proof: docs/proofs/pairs.md (7)."""
        beta = 1.0 - confidence
        if not self.readable:
            return Estimated(0.0, -0.25, 0.25)
        drawn = self._drawn(0, 1)
        off = self._aside(0, assumption, _MEANS * beta)
        off *= self._aside(1, assumption, _MEANS * beta)
        reach = self.far(self._around(0, 1), assumption, (1.0 - 4.0 * _MEANS) * beta) + 3.0 * off
        ends = (min(max(each, -0.25), 0.25) for each in (drawn, drawn - reach, drawn + reach))
        return Estimated(*ends)

    def variance(self, i: int, assumption: Assumption, confidence: float) -> Estimated:
        """The variance of a column, in [0, ¼]. Proof: docs/proofs/pairs.md (7)."""
        beta = 1.0 - confidence
        if not self.readable:
            return Estimated(0.0, 0.0, 0.25)
        drawn = self._drawn(i, i)
        square = self._aside(i, assumption, _MEANS * beta) ** 2
        reach = self.far(self._around(i, i), assumption, (1.0 - 2.0 * _MEANS) * beta) + 2.0 * square
        low = min(max(drawn - reach, 0.0), 0.25)
        high = min(max(drawn + reach + square, low), 0.25)
        found = drawn + self.around_mean(i)
        return Estimated(min(max(found, low), high), low, high)

    def slope(self, assumption: Assumption, confidence: float) -> Estimated:
        """Regression slope of the second column on the first: covariance divided by variance.

        At the true slope β the mean of (a − μ)(b − ν − β(a − μ)) is 0.
        Proof: docs/proofs/pairs.md (8).
        """
        beta = 1.0 - confidence
        square = self._drawn(0, 0) if self.readable else 0.0
        if not square > 0.0:
            return Estimated(0.0, -math.inf, math.inf)
        slope = self._drawn(0, 1) / square
        a, b = (self._aside(i, assumption, _MEANS * beta) for i in (0, 1))
        cross, own = self._around(0, 1), self._around(0, 0)
        tested = _less(cross, slope, own)
        rest = 1.0 - 4.0 * _MEANS - self.squares * _SQUARES
        reach = self.far(tested, assumption, rest * beta)
        reach += 3.0 * a * (b + abs(slope) * a)
        below = square - self.far(own, assumption, _SQUARES * beta) - 3.0 * a * a
        if not below > 0.0 or not math.isfinite(reach):
            return Estimated(slope, -math.inf, math.inf)
        return Estimated(slope, slope - reach / below, slope + reach / below)

    def correlation(self, assumption: Assumption, confidence: float) -> Estimated:
        """The correlation of two columns, in [−1, 1]. Proof: docs/proofs/pairs.md (9).

        At the true correlation ρ, with r the ratio of the standard deviations, the mean of
        (a − μ)(b − ν) − (ρ/2)·(r·(a − μ)² + (b − ν)²/r) is 0.
        """
        beta = 1.0 - confidence
        nothing = Estimated(0.0, -1.0, 1.0)
        if not self.readable:
            return nothing
        x, y = self._drawn(0, 0), self._drawn(1, 1)
        if not (x > 0.0 and y > 0.0):
            return nothing
        whole, r = math.sqrt(x * y), math.sqrt(y / x)
        rho = self._drawn(0, 1) / whole
        value = min(max(rho, -1.0), 1.0)
        a, b = (self._aside(i, assumption, _MEANS * beta) for i in (0, 1))
        cross, first, second = self._around(0, 1), self._around(0, 0), self._around(1, 1)
        far_x = self.far(first, assumption, _SQUARES * beta) + 3.0 * a * a
        far_y = self.far(second, assumption, _SQUARES * beta) + 3.0 * b * b
        if not (far_x < x and far_y < y):
            return Estimated(value, -1.0, 1.0)
        # Largest factor, in either direction, between the true ratio and the noisy ratio r.
        most = math.sqrt(
            max((1.0 + far_y / y) / (1.0 - far_x / x), (1.0 + far_x / x) / (1.0 - far_y / y))
        )
        apart = 0.5 * (r * far_x + far_y / r)
        mixed = r * a * a + b * b / r
        both = Function(r * first.values + second.values / r, r * first.reach + second.reach / r)
        tested = _less(cross, 0.5 * rho, both)
        reach = self.far(tested, assumption, (1.0 - 6.0 * _MEANS - 4.0 * _SQUARES) * beta)
        reach += 3.0 * a * b + (abs(rho) + 0.5 * most) * mixed
        reach += apart * abs(rho) * (most - 1.0) + (0.5 * (most + 1.0 / most) - 1.0) * whole
        below = whole - apart * most
        if not below > 0.0:
            return Estimated(value, -1.0, 1.0)
        low, high = max(rho - reach / below, -1.0), min(rho + reach / below, 1.0)
        return Estimated(value, min(low, 1.0), max(high, -1.0))

    def around_mean(self, i: int) -> float:
        """The variance of the noise of a mean.

        The expected square of a noisy mean is larger than the square of the mean by this variance.
        """
        return self.noise(self._lines[i] - self._means[i]).variance

    @property
    def raw_variance(self) -> float:
        """The noisy variance of the first column, corrected for noise."""
        if not self.readable:
            return 0.0
        return self._drawn(0, 0) + self.around_mean(0)

    def risk(self, i: int, j: int, assumption: Assumption) -> float:
        """The leading term of the mean squared error of a covariance, or of a variance."""
        most = 0.25 if i != j else 0.0625  # estimates are clipped to possible values
        return min(self.leading(self._around(i, j), assumption), most)


def once_more(off: float, total: float, about: float) -> float:
    """A bound on the error of a quotient, for use in products of two such bounds.

    Proof: docs/proofs/pairs.md (6).

    Args:
        off: the error of the quotient.
        total: the noisy divisor.
        about: bound on the error of the divisor.
    """
    if not (math.isfinite(off) and total > about):
        return math.inf
    return off * math.sqrt((total + about) / (total - about))


@storable("risk.WeighedMoments")
@dataclass(frozen=True, eq=False)
class WeighedMoments(SoftMoments):
    """Margin of moments, for people with public budgets.

    Guarantee:
        For all data that the assumption allows, each interval fails to cover the true value with
        probability at most 1 − confidence. Proof: docs/proofs/pairs.md (3), (6).

    Attributes:
        weighing: the estimator of one share.
        slack: error of a share that is due to rounding to the grid and the lattice.
        lattice: distance between neighbouring points of the noise lattice, as a share.
        drawn: the noisy shares.
    """

    weighing: Weighing
    slack: float
    lattice: float
    drawn: Floats

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def shares(self) -> Floats:
        """The noisy share of each cell."""
        return self.drawn

    def noise(self, values: Floats) -> Contrast:
        """The noise of a linear combination of shares."""
        return Contrast(values, self.weighing.scale, self.weighing.closed)

    def far(self, function: Function, assumption: Assumption, beta: float) -> float:
        """Bound on the error of the mean of a function, except with probability beta."""
        noise = self.noise(function.values / function.reach)
        off = mean.reach(self.weighing, assumption, noise.deviation, self.continuous(beta))
        return function.reach * off + self.rounded(function)

    def continuous(self, beta: float) -> float:
        """The error probability to use in the formulas for continuous noise, if beta is allowed.

        For integer noise that sums to zero, probabilities can be larger than for continuous noise,
        by at most a known factor. So beta is divided by this factor.
        """
        scale = self.weighing.scale
        if not scale > 0.0:
            return beta
        return beta * math.exp(-2.0 * len(self.drawn) * self.lattice / scale)

    def rounded(self, function: Function) -> float:
        """Bound on the rounding error of the mean of a function."""
        return self.slack * float(np.abs(function.values).sum(axis=-1).max())

    def leading(self, function: Function, assumption: Assumption) -> float:
        """The leading term of the mean squared error of the mean of a function."""
        whole, reach = self.weighing, function.reach
        scale = math.sqrt(self.noise(function.values / reach).variance / 2.0)
        unit = mean.mse(Weighing(whole.weights, whole.counts, scale), assumption)
        return float(unit) * reach * reach


@dataclass(frozen=True, eq=False, kw_only=True)
class RatioMoments(Behind, SoftMoments):
    """Base class of margins of moments of an unknown number of people.

    Guarantee:
        For every number of people and all data that the assumption allows, each interval fails to
        cover the true value with probability at most 1 − confidence.
        Proof: docs/proofs/pairs.md (3), (6), (10).

    Attributes:
        drawn: the noisy count of each cell, in units of weight.
        scale: scale of the discrete Laplace noise of each count.
        slack: error of a share that is due to rounding to the grid and the lattice.
    """

    kind: ClassVar[str | None] = AT_THE_MEANS
    squares: ClassVar[int] = 2
    drawn: Floats
    scale: float
    slack: float

    def __post_init__(self) -> None:
        self.drawn.flags.writeable = False

    @property
    def total(self) -> float:
        """The noisy total: the sum of all counts."""
        return math.fsum(self.drawn.tolist())

    @cached_property
    def shares(self) -> Floats:
        """The noisy share of each cell; equal shares if the noisy total is not positive."""
        if not self.total > 0.0:
            return np.full(len(self.drawn), 1.0 / len(self.drawn))
        return np.asarray(self.drawn / self.total)

    def noise(self, values: Floats) -> Contrast:
        """The noise of a linear combination of shares, taking the noisy total as true."""
        return self.combined(values, self.scale / self.total if self.total > 0.0 else math.inf)

    def combined(self, values: Floats, scale: float) -> Contrast:
        """The noise of a linear combination of counts."""
        return Contrast(values, scale)

    def far(self, function: Function, assumption: Assumption, beta: float) -> float:
        """Bound on the error of the mean of a function, except with probability beta."""
        asked = self.asked(assumption, 1.0 - beta)
        beta = 1.0 - asked.rest
        values, reach = function.values, function.reach
        about = self._about(beta)
        sure = self.total - about
        if not sure > 0.0:
            return math.inf
        own = self.combined(values - (values @ self.shares)[..., None], self.scale)
        square = asked.square(self.total + about) * reach * reach
        off = own.deviation(0.0, square, (1.0 - 2.0 * TOTAL) * beta) / sure
        return off + asked.apart * reach + self.slack * float(np.abs(values).sum(axis=-1).max())

    def _about(self, beta: float) -> float:
        """Bound on the error of the noisy total, except with probability `TOTAL`·β."""
        whole = self.combined(np.ones(len(self.drawn)), self.scale)
        return whole.deviation(0.0, 0.0, TOTAL * beta)

    def _aside(self, i: int, assumption: Assumption, beta: float) -> float:
        """The bound on a mean that is used in products of two such bounds.

        For a function around a noisy mean, the noise of the total enters a second time.
        """
        about = self._about(1.0 - self.asked(assumption, 1.0 - beta).rest)
        return once_more(self._off(i, assumption, beta), self.total, about)

    def leading(self, function: Function, assumption: Assumption) -> float:
        """The leading term of the mean squared error of the mean of a function."""
        if self.total <= 0.0 or not self.largest:
            return function.reach**2
        own = function.values - float(function.values @ self.shares)
        scale = math.sqrt(Contrast(own / function.reach, self.scale).variance / 2.0)
        goal = MeanGoal(assumption, "mse", 0.95)
        return self._leading(goal, self.total, scale) * function.reach**2


# Margins of a variance, from a noisy sum and sum of squares, or from three cells.


class VarianceMargin(Margin, ABC):
    """Base class of margins of variances. Proof: docs/proofs/moment.md (12)."""

    kind: ClassVar[str | None] = AT_THE_MEANS
    staked: ClassVar[bool] = False

    @property
    @abstractmethod
    def raw(self) -> float:
        """The noisy variance on a unit range, before clipping."""

    @abstractmethod
    def variance(self, assumption: Assumption, confidence: float) -> Estimated:
        """The variance with its interval, on a unit range. Proof: docs/proofs/moment.md (12)."""

    @abstractmethod
    def risk(self, assumption: Assumption) -> float:
        """The leading term of the mean squared error, on a unit range."""

    def interval(
        self,
        raw: float,  # noqa: ARG002
        bounds: Bounds,
        assumption: Assumption,
        confidence: float,
    ) -> Bounds:
        """A confidence interval for the variance. Proof: docs/proofs/moment.md (12)."""
        return self.variance(assumption, confidence).times(4.0 * bounds[1]).interval


@storable("risk.Varied")
@dataclass(frozen=True, eq=False)
class Varied(VarianceMargin):
    """Margin of a variance that was released with a mean, for people with public budgets.

    Guarantee:
        For all data that the assumption allows, the interval fails to cover the true variance with
        probability at most 1 − confidence. Proof: docs/proofs/moment.md (11), (12).

    Attributes:
        weighing: the estimator of the mean on a unit range, with weights that sum to one.
        slack: error from rounding to integers, on a unit range.
        offset: Σ w·(x − ½) plus noise.
        square: Σ w·(x − ½)² plus noise.
    """

    weighing: Weighing
    slack: float
    offset: float
    square: float

    @property
    def raw(self) -> float:
        """The noisy variance on a unit range, before clipping."""
        # The expected square of a noisy mean is the square of the mean plus the variance of the
        # noise.
        return self.square - self.offset * self.offset + 2.0 * self.weighing.scale**2

    def variance(self, assumption: Assumption, confidence: float) -> Estimated:
        """The variance with its interval, on a unit range."""
        seen = Seen(self.offset, self.square, self.slack)
        ends = Spreading(self.weighing, assumption).deviation(seen, 1.0 - confidence)
        low, high = (end * end for end in ends)
        raw = self.raw if math.isfinite(self.raw) else 0.25
        return Estimated(min(max(raw, low), high), low, high)

    def risk(self, assumption: Assumption) -> float:
        """The leading term of the mean squared error, on a unit range."""
        off = min(abs(self.offset), 0.5) if math.isfinite(self.offset) else 0.5
        reach = (0.5 + off) ** 2
        scale = self.weighing.scale * math.hypot(1.0, 2.0 * off) / reach
        whole = Weighing(self.weighing.weights, self.weighing.counts, scale)
        return min(float(mean.mse(whole, assumption)) * reach * reach, 0.0625)


@storable("risk.ThreeCells")
@dataclass(frozen=True, eq=False)
class ThreeCells(VarianceMargin):
    """Margin of the variance of an unknown number of people, or of the people who answered.

    Guarantee:
        The guarantee of the margin of moments. Proof: docs/proofs/pairs.md (7), (10), (11).

    Attributes:
        moments: the margin of the moments of three cells.
    """

    moments: SoftMoments

    @property
    def raw(self) -> float:
        """The noisy variance on a unit range, before clipping."""
        return self.moments.raw_variance

    def variance(self, assumption: Assumption, confidence: float) -> Estimated:
        """The variance with its interval, on a unit range."""
        return self.moments.variance(0, assumption, confidence)

    def risk(self, assumption: Assumption) -> float:
        """The leading term of the mean squared error, on a unit range."""
        return self.moments.risk(0, 0, assumption)
