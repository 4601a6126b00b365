"""Margins of moments whose slopes and correlations are tested directly.

A slope β is accepted if the interval of the covariance of x and y − βx contains 0, and a
correlation is tested in a similar way. No quotient is linearized, and the errors of dividend and
divisor are not bounded separately. Bounds use the joint distribution of the noise of all cells, and
bounds on the variances.
Proof: docs/proofs/pairs.md (12), (13), (14), (15), (16).
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from epsilons.frozen import remembered, storable
from epsilons.risk.margins import Bounds, Estimated
from epsilons.risk.means import mean
from epsilons.risk.means.spread import Spreading, Terms
from epsilons.risk.moments.margins import (
    TOTAL,
    Function,
    RatioMoments,
    SoftMoments,
    WeighedMoments,
    once_more,
)
from epsilons.risk.tails.combined import Contrast, Hull
from epsilons.risk.weighing import Assumption, Weighing
from epsilons.types import Floats

MEANS: Final = 0.01
"""Part of the error probability for each bound on a mean. Four such parts are reserved."""

SQUARES: Final = 0.01
"""Part of the error probability for the upper bound on each of the two variances."""

_SHAPE: Final = 0.1
"""Part of the error probability for the ratio of two variances, in a correlation."""

REST: Final = 1.0 - 4.0 * MEANS - 2.0 * SQUARES
"""Part of the error probability that remains for the error of the tested function."""

ROUNDS: Final = 3
"""Number of times that an upper bound on a variance is computed, each time from the last bound."""

_ASIDE: Final = 0.05
"""If products of two errors exceed this fraction of a bound, a second bound is computed. It has no
such products, because it holds for all means near the drawn means. The smaller bound is used."""

_FINE: Final = 1.0 / 512.0
"""Precision of an end of an interval, relative to its distance from the estimate."""

_PARTS: Final = ((0, 0), (0, 1), (1, 1))
"""For each coefficient of a form, the two columns whose product it multiplies."""

Form = tuple[float, float, float]
"""Coefficients A, B, C of the function A·s² + B·s·t + C·t², for s = a − m and t = b − m′.
The numbers m and m′ are the true means, or approximations of them."""

X: Final[Form] = (1.0, 0.0, 0.0)
XY: Final[Form] = (0.0, 1.0, 0.0)
Y: Final[Form] = (0.0, 0.0, 1.0)
_NONE: Final[Form] = (0.0, 0.0, 0.0)


class IntervalInputs(NamedTuple):
    """The inputs of all tests of an interval. Each bound has its own part of the error probability.

    Proof: docs/proofs/pairs.md (13), (16).

    Attributes:
        assumption: the assumption about the data.
        beta: the error probability of the interval.
        off: bounds on the errors of both means.
        squares: bounds on the means of s² and t², which are ∞ if they are not used. A subclass can
            have more such bounds.
    """

    assumption: Assumption
    beta: float
    off: tuple[float, float]
    squares: tuple[float, ...]


def extent(
    form: Form, first: tuple[float, float], second: tuple[float, float]
) -> tuple[float, float]:
    """The smallest and the largest value of a form, for s and t in ranges that contain 0.

    Over a box, a quadratic form has each extreme at a corner, at a stationary point on an edge, or
    at 0.
    Proof: docs/proofs/pairs.md (13).
    """
    a, b, c = form
    places = [(s, t) for s in first for t in second]
    if c != 0.0:
        places += [(s, min(max(-b * s / (2.0 * c), second[0]), second[1])) for s in first]
    if a != 0.0:
        places += [(min(max(-b * t / (2.0 * a), first[0]), first[1]), t) for t in second]
    values = [0.0, *(a * s * s + b * s * t + c * t * t for s, t in places)]
    return min(values), max(values)


def largest(excess: Callable[[float], float], low: float, guess: float) -> float:
    """The largest point up to which `excess` is negative, rounded down by at most a part `_FINE`.

    `excess` must be negative at `low`, and is negative at the returned point. The search is fast if
    `excess` is nearly convex.
    Proof: docs/proofs/pairs.md (14).
    """
    near, far = (low, excess(low)), (guess, excess(guess))
    while far[1] < 0.0:
        near, far = far, (2.0 * far[0], excess(2.0 * far[0]))
        if not math.isfinite(far[0]):
            return near[0]
    while far[0] - near[0] > _FINE * far[0]:
        part = near[1] / (near[1] - far[1]) if math.isfinite(far[1]) else 0.5
        step = min(max(part, 0.02), 0.98) * (far[0] - near[0])
        # Aim slightly beyond the estimated zero, so both ends of the bracket approach it.
        at = near[0] + step + (0.4 if part < 0.5 else -0.4) * _FINE * far[0]
        at = at if near[0] < at < far[0] else 0.5 * (near[0] + far[0])
        here = (at, excess(at))
        near, far = (here, far) if here[1] < 0.0 else (near, here)
    return near[0]


class TestedMoments(SoftMoments, ABC):
    """Margin of moments. Each moment is tested as the mean of a quadratic form of both columns.

    Proof: docs/proofs/pairs.md (13), (14), (15), (16).
    """

    def mean_squares(
        self,
        assumption: Assumption,  # noqa: ARG002
        beta: float,  # noqa: ARG002
        off: tuple[float, float],  # noqa: ARG002
    ) -> tuple[float, float]:
        """Bounds on the means of s² and t², each except with probability `SQUARES`·β.

        They are ∞ here: no bounds are used unless a subclass has them.
        """
        return math.inf, math.inf

    @remembered
    def covariance(self, assumption: Assumption, confidence: float) -> Estimated:
        """The covariance of two columns, in [−¼, ¼]. Proof: docs/proofs/pairs.md (13)."""
        if not self.readable:
            return Estimated(0.0, -0.25, 0.25)
        known = self._known(assumption, 1.0 - confidence)
        drawn, reach = self._drawn(0, 1), self._reach([XY], known, REST)
        ends = (min(max(each, -0.25), 0.25) for each in (drawn, drawn - reach, drawn + reach))
        return Estimated(*ends)

    @remembered
    def variance(self, i: int, assumption: Assumption, confidence: float) -> Estimated:
        """The variance of a column, in [0, ¼]. Proof: docs/proofs/pairs.md (13)."""
        if not self.readable:
            return Estimated(0.0, 0.0, 0.25)
        known = self._known(assumption, 1.0 - confidence)
        drawn, form = self._drawn(i, i), (X, Y)[i]
        below = self._reach([_less(_NONE, 1.0, form)], known, REST)
        low = min(max(drawn - below, 0.0), 0.25)
        high = min(max(drawn + self._reach([form], known, REST), low), 0.25)
        found = drawn + self.around_mean(i)
        return Estimated(min(max(found, low), high), low, high)

    def slope(self, assumption: Assumption, confidence: float) -> Estimated:
        """Regression slope of the second column on the first.

        A slope β is accepted if the interval of the covariance of x and y − βx contains 0.
        Proof: docs/proofs/pairs.md (14).
        """
        if not (self.readable and self._drawn(0, 0) > 0.0):
            return Estimated(0.0, -math.inf, math.inf)
        return self._quotient(XY, X, self._known(assumption, 1.0 - confidence), REST)

    def correlation(self, assumption: Assumption, confidence: float) -> Estimated:
        """The correlation of two columns, in [−1, 1]. Proof: docs/proofs/pairs.md (15)."""
        nothing = Estimated(0.0, -1.0, 1.0)
        if not self.readable:
            return nothing
        x, y = self._drawn(0, 0), self._drawn(1, 1)
        if not (x > 0.0 and y > 0.0):
            return nothing
        rho = self._drawn(0, 1) / math.sqrt(x * y)
        value = min(max(rho, -1.0), 1.0)
        known = self._known(assumption, 1.0 - confidence)
        _, low, high = self._quotient(Y, X, known, _SHAPE)
        if not (low > 0.0 and math.isfinite(high)):
            return Estimated(value, -1.0, 1.0)
        ends = math.sqrt(low), math.sqrt(high)
        down, up = (self._highest(sign, ends, known) for sign in (-1.0, 1.0))
        return Estimated(value, min(-down, value), max(up, value))

    def _highest(self, sign: float, ends: tuple[float, float], known: IntervalInputs) -> float:
        """Upper bound on the correlation, or on minus the correlation if `sign` is −1.

        Args:
            sign: 1 or −1.
            ends: bounds on the ratio of the two standard deviations.
            known: the inputs of all tests of the interval.
        """
        x, y = self._drawn(0, 0), self._drawn(1, 1)
        whole, drawn = math.sqrt(x * y), math.sqrt(y / x)
        rho = sign * self._drawn(0, 1) / whole
        if rho >= 1.0:
            return 1.0
        # For r between both ends, the forms r·s²/2 + t²/(2r) are convex combinations of three: the
        # forms at both ends, and the form where the tangents at both ends meet.
        corners = [(0.5 * r, 0.5 / r) for r in ends]
        corners.append(tuple(2.0 / (1.0 / p + 1.0 / q) for p, q in zip(*corners, strict=True)))
        most = max(0.5 * (r / drawn + drawn / r) for r in ends)

        def forms(u: float) -> list[Form]:
            times = u * rho + 1.0  # u times the tested correlation ρ = rho + 1/u
            return [(-times * p, sign * u, -times * q) for p, q in corners]

        first = 1.0 / (1.0 - rho)  # the u of the correlation 1

        def excess(u: float) -> float:
            least = whole * (1.0 - (most - 1.0) * max(-(u * rho + 1.0), 0.0))
            return self._reach(forms(first) + forms(u), known, REST - _SHAPE) - least

        if not excess(first) < 0.0:
            return 1.0
        tested = (-0.5 * rho * drawn, sign, -0.5 * rho / drawn)
        alone = self._reach([tested], known, REST - _SHAPE)
        if not alone > 0.0:
            return rho
        return rho + 1.0 / largest(excess, first, max(whole / alone, 1.01 * first))

    def _quotient(self, above: Form, below: Form, known: IntervalInputs, part: float) -> Estimated:
        """The mean of a form divided by that of a nonnegative form, with its interval.

        Let `drawn` be the quotient of the drawn means. For θ = drawn + 1/u, the form
        u·above − (u·drawn + 1)·below is linear in u. At the true θ its mean is 0, and its drawn
        mean is minus the drawn mean of `below`. So if the error bound for all forms between 0 and u
        is smaller than the drawn mean of `below`, all values above θ are rejected. Values below
        `drawn` are tested in the same way.
        Proof: docs/proofs/pairs.md (14).
        """
        divisor = self._value(below)
        theta = self._value(above) / divisor
        alone = self._reach([_less(above, theta, below)], known, part)
        if not alone > 0.0:
            return Estimated(theta, theta, theta)
        ends = []
        for sign in (-1.0, 1.0):

            def excess(u: float, sign: float = sign) -> float:
                a, b, c = (sign * u * each for each in above)
                tested = _less((a, b, c), sign * u * theta + 1.0, below)
                return self._reach([tested, _less(_NONE, 1.0, below)], known, part) - divisor

            far = math.inf
            if excess(0.0) < 0.0:
                far = 1.0 / largest(excess, 0.0, divisor / alone)
            ends.append(theta + sign * far)
        return Estimated(theta, *ends)

    @property
    def _one(self) -> Floats:
        """The coefficients of the cells in the constant function 1."""
        return np.ones(len(self.shares))

    @remembered
    def _known(self, assumption: Assumption, beta: float) -> IntervalInputs:
        off = [self._aside(i, assumption, MEANS * beta) for i in range(len(self._lines))]
        both = (off[0], off[-1])
        return IntervalInputs(assumption, beta, both, self.mean_squares(assumption, beta, both))

    def _value(self, form: Form) -> float:
        """The drawn mean of a form: around the drawn means, from the drawn shares."""
        return sum(each * self._drawn(*at) for each, at in zip(form, _PARTS, strict=True) if each)

    def _reach(self, forms: Sequence[Form], known: IntervalInputs, part: float) -> float:
        """Bound on the mean of a form around the true means, minus its drawn mean.

        It is valid for each convex combination of the given forms. If the bounds in `known` hold,
        it holds except with probability `part`·β.
        Proof: docs/proofs/pairs.md (13).
        """
        a, b = known.off
        if math.isinf(a + b):
            return math.inf
        each = [(abs(p) * a * a, abs(q) * a * b, abs(r) * b * b) for p, q, r in forms]
        once = max(
            x * (p > 0.0) + y + z * (r > 0.0)
            for (x, y, z), (p, _, r) in zip(each, forms, strict=True)
        )
        twice = 2.0 * max(map(sum, each))
        part *= known.beta
        far = self.far(self._tested(forms, known.squares), known.assumption, part)
        if twice > _ASIDE * far:
            around = self._tested(forms, known.squares, known.off)
            return once + min(far + twice, self.far(around, known.assumption, part))
        return once + far + twice

    def _tested(
        self,
        forms: Sequence[Form],
        squares: tuple[float, ...],
        off: tuple[float, float] = (0.0, 0.0),
    ) -> Function:
        """The forms as functions of one person: around the drawn means, or all means near them.

        Args:
            forms: the forms.
            squares: bounds on the means of s² and t², and perhaps more.
            off: largest distances of the means from the drawn means. For all such means, the
                function is a convex combination of the functions at the corners, except for a
                constant.
        """
        rows = np.array(forms)
        values = np.zeros((len(rows), len(self.shares)))
        for column, at in enumerate(_PARTS):
            if rows[:, column].any():
                values += np.outer(rows[:, column], self._around(*at).values)
        means = [min(max(self._means[i], -0.5), 0.5) for i in (0, -1)]
        if any(off):
            first, second = (self._lines[i] - means[i] * self._one for i in (0, -1))
            x, y = np.array(list(product((-off[0], off[0]), (-off[1], off[1])))).T[:, :, None]
            by_x = -2.0 * x * rows[:, 0] - y * rows[:, 1]
            by_y = -x * rows[:, 1] - 2.0 * y * rows[:, 2]
            constant = x * x * rows[:, 0] + x * y * rows[:, 1] + y * y * rows[:, 2]
            moved = by_x[:, :, None] * first + by_y[:, :, None] * second
            moved += constant[:, :, None] * self._one
            values = (values + moved).reshape(-1, values.shape[1])
        ranges = [
            (-0.5 - each - far, 0.5 - each + far) for each, far in zip(means, off, strict=True)
        ]
        ends = [extent(form, *ranges) for form in forms]
        low, high = min(end[0] for end in ends), max(end[1] for end in ends)
        if math.isinf(squares[0] + squares[1]):
            return Function(values, high - low, low)
        return Function(values, high - low, low, self._root(forms, ranges, squares))

    def _root(
        self, forms: Sequence[Form], ranges: Sequence[Bounds], squares: tuple[float, ...]
    ) -> float:
        """Bound on the root mean squares of all convex combinations of the given forms.

        Proof: docs/proofs/pairs.md (16).

        Args:
            forms: the forms.
            ranges: ranges of s and t.
            squares: bounds on the means of s² and t².
        """
        x, y = squares
        ends = [end for form in forms for end in extent(form, *ranges)]
        typical = max(abs(p) * x + abs(q) * math.sqrt(x * y) + abs(r) * y for p, q, r in forms)
        return math.sqrt(max(map(abs, ends)) * typical)


def _less(form: Form, times: float, other: Form) -> Form:
    a, b, c = (one - times * two for one, two in zip(form, other, strict=True))
    return a, b, c


@lru_cache(maxsize=64)
def _terms(weighing: Weighing, assumption: Assumption) -> Terms:
    """The coefficients of a random sum, cached because a search needs them repeatedly."""
    return Spreading(weighing, assumption).terms


@storable("risk.WeighedTests")
@dataclass(frozen=True, eq=False)
class WeighedTests(TestedMoments, WeighedMoments):
    """Margin of moments with direct tests, for people with public budgets.

    Guarantee:
        For all data that the assumption allows, each interval fails to cover the true value with
        probability at most 1 − confidence.
        Proof: docs/proofs/pairs.md (12), (13), (14), (15), (16).
    """

    def noise(self, values: Floats) -> Hull:
        """The noise of a linear combination of shares, or of all convex combinations of several."""
        return Hull(values, self.weighing.scale, self.weighing.closed)

    def far(self, function: Function, assumption: Assumption, beta: float) -> float:
        """Bound on the error of the mean of a function, except with probability beta.

        Proof: docs/proofs/pairs.md (16).
        """
        if math.isinf(function.root):
            return super().far(function, assumption, beta)
        whole, reach = self.weighing, function.reach
        noise, rest = self.noise(function.values).times(1.0 / reach), self.continuous(beta)
        root, related = min(function.root / reach, 1.0), assumption.related is not False
        # The smallest bound so far. It is used unless budgets are sampled and related to values.
        most = math.inf

        @cache
        def around(shift: float, square: float, part: float) -> float:
            nonlocal most
            if assumption.sampled and related:
                return noise.deviation(shift, square, part)
            if not assumption.sampled and square <= 0.0:  # the shift is a bound on the bias
                shift = min(shift, self._leaning(root))
            most = min(most, noise.deviation(shift, square, part, most))
            return most

        if not related:
            if not assumption.sampled:
                around(whole.bias, 0.0, rest)
            above = _terms(whole, assumption).above(min(root, mean.WIDEST))
            most = noise.with_sum(above, rest, most)
        ways = [mean.reach(whole, assumption, around, rest)]
        if assumption.sampled and related:
            part, n = mean.SAMPLING * rest, whole.n
            log = math.log((2.0 if assumption.anything else 4.0) / part)
            sample = Terms(np.array([1.0 / n]), np.array([n])).bernstein(min(root, 0.5), log)
            ways.append(around(whole.bias, 0.0, (1.0 - mean.SAMPLING) * rest) + sample)
        return reach * min(ways) + self.rounded(function)

    def mean_squares(
        self, assumption: Assumption, beta: float, off: tuple[float, float]
    ) -> tuple[float, float]:
        """Bounds on the means of s² and t², each except with probability `SQUARES`·β.

        A bound on a variance also bounds the mean square of the function from which the variance
        is estimated. So each bound is used to compute the next one, which can be smaller.
        Proof: docs/proofs/pairs.md (16).
        """
        if not assumption.sampled and self.weighing.bias <= 0.0:
            return math.inf, math.inf  # equal weights have no bias, so no bound on it is needed
        found = [1.0, 1.0]
        for i, form in enumerate((X, Y)[: len(self._lines)]):
            for _ in range(ROUNDS):
                known = IntervalInputs(assumption, beta, off, (found[0], found[1]))
                high = min(self._drawn(i, i) + self._reach([form], known, SQUARES), 0.25)
                found[i] = min(found[i], max(high, 0.0) + off[i] ** 2)
        return found[0], found[1]

    def _leaning(self, root: float) -> float:
        """Bound on the bias of the mean of a function in a unit range, from its root mean square.

        The contribution of people with weights far from the average is bounded by the range. The
        contribution of all others is bounded by the Cauchy–Schwarz inequality.
        Proof: docs/proofs/pairs.md (16).
        """
        by_range, by_square = self._apart
        return float((by_range + root * by_square).min())

    @cached_property
    def _apart(self) -> tuple[Floats, Floats]:
        counts, n = self.weighing.counts, self.weighing.n
        apart = np.abs(self.weighing.weights - 1.0 / n)
        order = np.argsort(-apart, kind="stable")
        apart, counts = apart[order], counts[order]
        by_range = np.append(0.0, np.cumsum(counts * apart))
        squares = np.append(np.cumsum((counts * np.square(apart))[::-1])[::-1], 0.0)
        return by_range, np.sqrt(n * squares)


@storable("risk.VariedTests")
@dataclass(frozen=True, eq=False)
class VariedTests(WeighedTests):
    """Margin of a variance from a noisy sum and a noisy sum of squares.

    The two sums are used like shares of cells: `drawn` is Σ w·(x − ½) and Σ w·(x − ½)², each plus
    noise. The error of the mean of a function c₁·a + c₂·a² + c₀ does not depend on c₀, so c₀ is
    left out.

    Guarantee:
        For all data that the assumption allows, the interval fails to cover the true variance with
        probability at most 1 − confidence. Proof: docs/proofs/moment.md (14).

    Attributes:
        quiet: the noise scale of the second sum, divided by that of the first.
    """

    quiet: float

    def noise(self, values: Floats) -> Hull:
        """The noise of a linear combination of sums, or of all convex combinations of several."""
        return Hull(values * np.array([1.0, self.quiet]), self.weighing.scale)

    def around_mean(self, i: int) -> float:
        """The variance of the noise of the mean."""
        return self.noise(self._lines[i]).variance

    @cached_property
    def _lines(self) -> tuple[Floats, ...]:
        return (np.array([1.0, 0.0]),)

    @property
    def _one(self) -> Floats:
        return np.zeros(2)

    def _product(self, i: int, j: int) -> Floats:  # noqa: ARG002
        return np.array([0.0, 1.0])

    def _around(self, i: int, j: int) -> Function:  # noqa: ARG002
        m = min(max(self._means[0], -0.5), 0.5)
        return Function(np.array([-2.0 * m, 1.0]), (0.5 + abs(m)) ** 2)


def _with_none(values: Floats) -> Floats:
    """Append the coefficient 0, for the cell of people who did not answer."""
    return np.append(values, np.zeros((*values.shape[:-1], 1)), axis=-1)


@storable("risk.AnsweredTests")
@dataclass(frozen=True, eq=False)
class AnsweredTests(TestedMoments):
    """Margin of moments with direct tests, of the people who answered, if budgets are public.

    The last cell counts people who did not answer. Their number is private, so a mean is a quotient
    of two noisy numbers.

    Guarantee:
        For all data that the assumption allows, and regardless of who answered, each interval fails
        to cover the true value with probability at most 1 − confidence.
        Proof: docs/proofs/pairs.md (11), (12), (13), (14), (15).

    Attributes:
        all_cells: the margin of the shares of all cells, including the last one.
    """

    all_cells: WeighedTests

    @property
    def answered(self) -> float:
        """The noisy share of people who answered."""
        return 1.0 - float(self.all_cells.drawn[-1])

    @cached_property
    def shares(self) -> Floats:
        """The noisy share of each cell among people who answered.

        Shares are equal if the noisy number of answers is not positive.
        """
        inner = self.all_cells.drawn[:-1]
        if not self.answered > 0.0:
            return np.full(len(inner), 1.0 / len(inner))
        return np.asarray(inner / self.answered)

    def noise(self, values: Floats) -> Contrast:
        """The noise of a combination of shares, taking the noisy share of answers as true."""
        around = _with_none(values - (values @ self.shares)[..., None])
        if not self.answered > 0.0:
            return Contrast(around, math.inf)
        return self.all_cells.noise(around / self.answered)

    def far(self, function: Function, assumption: Assumption, beta: float) -> float:
        """Bound on the error of the mean of a function, except with probability beta."""
        about = self._about(assumption, beta)
        if not self.answered > about:
            return math.inf
        around, rest = self._around_answers(function), (1.0 - TOTAL) * beta
        off = self.all_cells.far(around, assumption.of_some, rest)
        return off / (self.answered - about)

    def _around_answers(self, function: Function) -> Function:
        """The function minus its noisy mean, and 0 for people who did not answer."""
        middle = function.values @ self.shares
        middle = np.clip(middle, function.low, function.low + function.reach)[..., None]
        return Function(_with_none(function.values - middle), function.reach)

    def _about(self, assumption: Assumption, beta: float) -> float:
        """Bound on the error of the share of answers, except with probability `TOTAL`·β."""
        answers = np.append(np.ones(len(self.shares)), 0.0)
        return self.all_cells.far(Function(answers, 1.0), assumption.of_membership, TOTAL * beta)

    def _aside(self, i: int, assumption: Assumption, beta: float) -> float:
        """The bound on a mean that is used in products of two such bounds."""
        about = self._about(assumption, beta)
        return once_more(self._off(i, assumption, beta), self.answered, about)

    def leading(self, function: Function, assumption: Assumption) -> float:
        """The leading term of the mean squared error of the mean of a function."""
        if not self.answered > 0.0:
            return function.reach**2
        around = self._around_answers(function)
        unit = self.all_cells.leading(around, assumption.of_some) / self.answered**2
        return min(unit, function.reach**2)


@storable("risk.OpenTests")
@dataclass(frozen=True, eq=False, kw_only=True)
class RatioTests(TestedMoments, RatioMoments):
    """Margin of moments with direct tests, of an unknown number of people.

    Guarantee:
        For every number of people and all data that the assumption allows, each interval fails to
        cover the true value with probability at most 1 − confidence.
        Proof: docs/proofs/pairs.md (6), (10), (12), (13), (14), (15).
    """

    def combined(self, values: Floats, scale: float) -> Hull:
        """The noise of a linear combination of counts, or of all convex combinations of several."""
        return Hull(values, scale)
