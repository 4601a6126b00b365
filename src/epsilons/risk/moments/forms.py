"""Margins of moments whose tests use all that nine cells show about the spread of a form.

The error by chance of the mean of a form A·s² + B·s·t + C·t² depends on the standard deviation of
the form. Nine cells show the means of s², t², s·t and s²·t². With the ranges of s and t, these
bound the standard deviation of every form. Variances bound the errors of means in turn.
Proof: docs/proofs/pairs.md (17), (18), (19).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from epsilons.frozen import remembered, storable
from epsilons.risk.margins import Bounds, Estimated
from epsilons.risk.moments.margins import MIDDLE, SQUARE, Function
from epsilons.risk.moments.tested import (
    MEANS,
    REST,
    ROUNDS,
    SQUARES,
    XY,
    Form,
    IntervalInputs,
    VariedTests,
    WeighedTests,
    X,
    Y,
)
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats


class Sizes(NamedTuple):
    """Bounds on means of products of s and t, around the drawn means and around the true means.

    Proof: docs/proofs/pairs.md (17), (19).

    Attributes:
        x: upper bound on the mean of s².
        y: upper bound on the mean of t².
        both: upper bound on the root mean square of s·t.
        low: lower bound on the mean of s·t.
        high: upper bound on the mean of s·t.
    """

    x: float
    y: float
    both: float = math.inf
    low: float = -math.inf
    high: float = math.inf


def deviation(form: Form, ranges: Sequence[Bounds], sizes: Sizes) -> float:
    """Bound on the standard deviation of a form.

    It is the smaller of two bounds. The first adds the standard deviations of the three terms. The
    second is for a form that is a product of two lines: the largest value of one line, times the
    root mean square of the other.
    Proof: docs/proofs/pairs.md (18).

    Args:
        form: the form.
        ranges: ranges of s and t.
        sizes: bounds on means of products of s and t.
    """
    p, q, r = form
    s, t = (max(-low, high) for low, high in ranges)
    x, y = math.sqrt(sizes.x), math.sqrt(sizes.y)
    terms = abs(p) * _below(sizes.x, s * s) + abs(r) * _below(sizes.y, t * t)
    terms += abs(q) * min(sizes.both, s * y, t * x)
    square = q * q - 4.0 * p * r
    if q == 0.0 or square < 0.0:
        return terms
    # The form is (h·s + r·t)·((p/h)·s + t).
    h = 0.5 * (q + math.copysign(math.sqrt(square), q))
    (far, root), (other_far, other_root) = (
        (_farthest(line, ranges), _line_root(line, sizes)) for line in ((h, r), (p / h, 1.0))
    )
    return min(terms, far * other_root, root * other_far)


def squares_near(m: float, far: float) -> list[Floats]:
    """Coefficients of three cells in three functions that enclose all (a − μ)² with |μ − m| ≤ far.

    Each (a − μ)² is a convex combination of (a − m − far)², (a − m + far)² and (a − m)² − far².
    Proof: docs/proofs/pairs.md (19).
    """
    plain, moved = SQUARE - 2.0 * m * MIDDLE + m * m, 2.0 * far * (MIDDLE - m)
    return [plain - moved + far * far, plain + moved + far * far, plain - far * far]


def _below(mean: float, most: float) -> float:
    """The largest standard deviation of a variable in [0, most] with at most this mean."""
    at = min(mean, 0.5 * most)
    return math.sqrt(at * (most - at))


def _farthest(line: tuple[float, float], ranges: Sequence[Bounds]) -> float:
    """The largest absolute value of a·s + b·t."""
    ends = [sorted(each * end for end in both) for each, both in zip(line, ranges, strict=True)]
    return max(sum(end[1] for end in ends), -sum(end[0] for end in ends))


def _line_root(line: tuple[float, float], sizes: Sizes) -> float:
    """Bound on the root mean square of a·s + b·t."""
    a, b = line
    most = math.sqrt(sizes.x * sizes.y)
    mixed = min(sizes.high, most) if a * b > 0.0 else max(sizes.low, -most)
    return math.sqrt(max(a * a * sizes.x + 2.0 * a * b * mixed + b * b * sizes.y, 0.0))


@storable("risk.WeighedForms")
@dataclass(frozen=True, eq=False)
class WeighedForms(WeighedTests):
    """Margin of moments with direct tests, for people with public budgets.

    Guarantee:
        For all data that the assumption allows, each interval fails to cover the true value with
        probability at most 1 − confidence.
        Proof: docs/proofs/pairs.md (12), (13), (14), (15), (17), (18), (19).
    """

    @property
    def _part(self) -> float:
        """Part of the error probability for each bound on the means of s², t², s·t and s²·t².

        All of them have 2·`SQUARES`. One column has only the first.
        """
        return 2.0 * SQUARES / (4 if len(self._lines) > 1 else 1)

    @remembered
    def _known(self, assumption: Assumption, beta: float) -> IntervalInputs:
        """The inputs of all tests. Proof: docs/proofs/pairs.md (17), (19)."""
        if not assumption.sampled and self.weighing.bias <= 0.0:
            return super()._known(assumption, beta)  # equal weights: no chance and no bias
        found = [self._one_column(i, assumption, beta) for i in range(len(self._lines))]
        off, squares = (found[0][0], found[-1][0]), (found[0][1], found[-1][1])
        known = IntervalInputs(assumption, beta, off, Sizes(*squares))
        if len(found) == 1 or math.isinf(sum(off)):
            return known
        sizes = Sizes(*squares, self._product_root(known))
        reach = self._reach([XY], known._replace(squares=sizes), self._part) + off[0] * off[1]
        drawn = self._drawn(0, 1)
        return known._replace(squares=sizes._replace(low=drawn - reach, high=drawn + reach))

    def _one_column(self, i: int, assumption: Assumption, beta: float) -> tuple[float, float]:
        """Bounds on the error of a mean and on the mean of s² (or t²), each from the other.

        Proof: docs/proofs/pairs.md (17).
        """
        variance, off = 0.25, math.inf
        for _ in range(ROUNDS):
            line = Function(self._lines[i], 1.0, -0.5, math.sqrt(variance))
            off = min(off, self.far(line, assumption, MEANS * beta))
            square = variance + off * off
            known = IntervalInputs(assumption, beta, (off, off), Sizes(square, square))
            high = self._drawn(i, i) + self._reach([(X, Y)[i]], known, self._part)
            variance = min(variance, max(high, 0.0))
        return off, variance + off * off

    def _product_root(self, known: IntervalInputs) -> float:
        """Bound on the root mean square of s·t, around the drawn means and the true means.

        For all means near the drawn ones, s²·t² is a convex combination of nine functions.
        Proof: docs/proofs/pairs.md (19).
        """
        x, y, *_ = known.squares
        means = [min(max(m, -0.5), 0.5) for m in self._means]
        first, second = (squares_near(*each) for each in zip(means, known.off, strict=True))
        rows = np.array([np.kron(*both) for both in product(first, second)])
        a, b = (0.5 + abs(m) + far for m, far in zip(means, known.off, strict=True))
        drawn, most = float((rows @ self.shares).max()), (a * b) ** 2
        found = most
        for _ in range(ROUNDS):
            function = Function(rows, most, 0.0, _below(found, most))
            reach = self.far(function, known.assumption, self._part * known.beta)
            found = min(found, max(drawn + reach, 0.0))
        off_x, off_y = known.off
        return math.sqrt(found) + off_y * math.sqrt(x) + off_x * math.sqrt(y) + off_x * off_y

    def _root(
        self, forms: Sequence[Form], ranges: Sequence[Bounds], squares: tuple[float, ...]
    ) -> float:
        """Bound on the standard deviations of all convex combinations of the given forms.

        Proof: docs/proofs/pairs.md (18).
        """
        return max(deviation(form, ranges, Sizes(*squares)) for form in forms)


_HALVINGS: Final = 9
"""Largest number of times that a range of means is divided for one end of an interval."""

_WORTH: Final = 0.01
"""Smallest gain that is searched for, relative to the distance of an end from the estimate."""


@storable("risk.VariedForms")
@dataclass(frozen=True, eq=False)
class VariedForms(WeighedForms, VariedTests):
    """Margin of a variance from a noisy sum and a noisy sum of squares.

    A variance is tested together with each mean that is near the drawn mean.

    Guarantee:
        For all data that the assumption allows, the interval fails to cover the true variance with
        probability at most 1 − confidence. Proof: docs/proofs/moment.md (15), pairs.md (17), (18).
    """

    @remembered
    def variance(self, i: int, assumption: Assumption, confidence: float) -> Estimated:
        """The variance of the column, in [0, ¼]. Proof: docs/proofs/moment.md (15)."""
        if not self.readable:
            return Estimated(0.0, 0.0, 0.25)
        beta = 1.0 - confidence
        known = self._known(assumption, beta)
        (m, square), off, drawn = self.drawn.tolist(), known.off[0], self._drawn(i, i)
        most = known.squares[0] - off * off  # bounds the variance, or is not known

        def far(first: float, last: float, part: float) -> float:
            """Bound on the error of the mean of (a − μ)², for all μ from `first` to `last`."""
            rows = np.array([[-2.0 * first, 1.0], [-2.0 * last, 1.0]])
            reach = (0.5 + max(abs(first), abs(last))) ** 2
            root = _below(most, reach) if math.isfinite(most) else math.inf
            return self.far(Function(rows, reach, 0.0, root), assumption, part * beta)

        plain = far(0.0, 0.0, 2.0 * SQUARES)

        @cache
        def ends(first: float, last: float) -> Bounds:
            """The smallest and the largest variance that passes with a mean in this range."""
            near, wide = (sorted((abs(first - c), abs(last - c))) for c in (m, 0.0))
            if first <= m <= last:
                near[0] = 0.0
            if first <= 0.0 <= last:
                wide[0] = 0.0
            reach = far(first, last, REST)
            low = max(drawn + near[0] ** 2 - reach, square - plain - wide[1] ** 2, 0.0)
            high = min(drawn + near[1] ** 2 + reach, square + plain - wide[0] ** 2)
            return low, max(min(high, 0.25 - wide[0] ** 2), 0.0)

        box = min(max(m - off, -0.5), 0.5), min(max(m + off, -0.5), 0.5)
        high = _largest(lambda *both: ends(*both)[1], box, drawn)
        low = min(-_largest(lambda *both: -ends(*both)[0], box, -drawn), high)
        value = min(max(drawn + self.around_mean(i), low), high)
        return Estimated(value, low, high)


def _largest(bound: Callable[[float, float], float], box: Bounds, start: float) -> float:
    """Bound on the largest value in a range, where `bound` gives one for every smaller range.

    The range with the largest bound is halved, until the bound is nearly that of one point.
    """
    middle = 0.5 * (box[0] + box[1])
    alone = bound(middle, middle)
    pieces = [(bound(*box), *box)]
    for _ in range(_HALVINGS):
        worst, first, last = max(pieces)
        if worst <= alone + _WORTH * abs(alone - start):
            break
        pieces.remove((worst, first, last))
        middle = 0.5 * (first + last)
        pieces += [(bound(*both), *both) for both in ((first, middle), (middle, last))]
    return max(pieces)[0]
