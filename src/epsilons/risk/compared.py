"""Two releases of one number, which may be about the same people: bounds on the difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np

from epsilons.draws.noise import DiscreteLaplace
from epsilons.risk.groups.public import joint, ratio_ends, ways_of
from epsilons.risk.margins import Bounds, Weighed
from epsilons.risk.means.ratio import Difference
from epsilons.risk.means.spread import WeighedSpread
from epsilons.risk.shares import WeighedCells
from epsilons.risk.weighing import Assumption

EVEN: Final = 0.5
"""Part of the error probability for each of two releases, if public facts cannot decide on a better
split."""

_SPLITS: Final = (EVEN, 0.25, 0.75, 0.1, 0.9)
"""Parts that are tried for the first of two releases."""

Pair = tuple[float, float]


@dataclass(frozen=True, eq=False)
class TwoMeans:
    """Two weighted means on the same bounds. The same people may be in both.

    Guarantee:
        For all data that the assumptions allow, and regardless of who is in both samples, the
        intervals of the difference and of the ratio each fail to cover the true value with
        probability at most beta. The weights and the noise of the second mean must not depend on
        the draw of the first.
        Proof: docs/proofs/risk.md (29), (30), (31).

    Attributes:
        margins: the margins of the two means.
        drawn: the two means as they were drawn, in data units.
        bounds: the range of the values.
        assumptions: the assumptions about the data of each mean.
        beta: the error probability.
    """

    margins: tuple[Weighed, Weighed]
    drawn: Pair
    bounds: Bounds
    assumptions: tuple[Assumption, Assumption]
    beta: float

    @property
    def difference(self) -> Bounds:
        """An interval for the second mean minus the first."""
        wide = self.bounds[1] - self.bounds[0]
        if self.split is not None:
            (a, b), (c, d) = self._ends
            return c - b, d - a
        between, reach = self.drawn[1] - self.drawn[0], wide * self._joint(1.0, 1.0)
        if not math.isfinite(between + reach):
            return -wide, wide
        low, high = np.clip([between - reach, between + reach], -wide, wide)
        return float(low), float(high)

    @property
    def ratio(self) -> Bounds:
        """An interval for the second mean divided by the first; all values must have one sign."""
        wide = self.bounds[1] - self.bounds[0]
        if self.split is not None:
            return quotient(*self._ends)
        return ratio_ends(
            (self.drawn[1], self.drawn[0]), self.bounds, lambda a, b: wide * self._joint(b, a)
        )

    @cached_property
    def split(self) -> float | None:
        """The part of beta for the first interval; None if both are bounded jointly.

        The choice uses only public facts: the expected spread in place of a drawn one. If budgets
        are sampled together with the values, it must not depend on budgets, so the split is even.
        Proof: docs/proofs/risk.md (31).
        """
        if random_budgets(self.assumptions):
            return EVEN
        likely = [_expected(margin) for margin in self.margins]

        def apart(part: float) -> float:
            levels = 1.0 - part * self.beta, 1.0 - (1.0 - part) * self.beta
            each = zip(likely, self.assumptions, levels, strict=True)
            return sum(margin.error(assumption, level) for margin, assumption, level in each)

        least, best = min((apart(part), part) for part in _SPLITS)
        return None if self._joint(1.0, 1.0) < least else best

    @cached_property
    def _ends(self) -> tuple[Bounds, Bounds]:
        """The confidence intervals of the two means; `split` divides beta between them."""
        part = EVEN if self.split is None else self.split
        first, second = (
            margin.interval(raw, self.bounds, assumption, 1.0 - share * self.beta)
            for margin, raw, assumption, share in zip(
                self.margins, self.drawn, self.assumptions, (part, 1.0 - part), strict=True
            )
        )
        return first, second

    def _joint(self, first: float, second: float) -> float:
        return error_of_two(self.margins, self.assumptions, (first, second), self.beta)


def random_budgets(assumptions: Sequence[Assumption]) -> bool:
    """Whether budgets are sampled together with values, so no choice may depend on budgets."""
    return any(each.sampled and each.related is not False for each in assumptions)


def error_of_two(
    margins: Sequence[Weighed], assumptions: Sequence[Assumption], times: Pair, beta: float
) -> float:
    """Bound on the error of a combination of two means, on a unit range, at error probability beta.

    Both noises are Laplace noise, or noise that is less spread out, and they are independent. The
    errors without noise may depend on each other. If such an error is a bounded bias, the bias of
    the second mean may also depend on the noise of the first.
    Proof: docs/proofs/risk.md (29), (30).

    Args:
        margins: the margins of the two means.
        assumptions: the assumptions about the data of each mean.
        times: the absolute values of the two coefficients.
        beta: the error probability.

    Returns:
        The bound; ∞ if no such bound is proven for one of the errors.
    """
    ways, scales = [], []
    for margin, assumption, part in zip(margins, assumptions, times, strict=True):
        weighing = margin.weighing
        chosen = isinstance(margin, WeighedSpread) and margin.times(assumption) > 1
        plain = weighing.cube is None and abs(weighing.total - 1.0) < 1e-9
        found = ways_of(weighing, assumption)
        if chosen or not plain or found is None or not math.isfinite(weighing.scale):
            return math.inf
        ways.append([(part * shift, part * math.sqrt(square)) for shift, square in found])
        scales.append(part * weighing.scale)
    noise = Difference(max(scales), min(scales), 0.0)
    found_all = [
        one[0] + other[0] + joint(noise, 0.0, (one[1] + other[1]) ** 2, beta)
        for one, other in product(*ways)
    ]
    slack = sum(part * margin.slack for margin, part in zip(margins, times, strict=True))
    return min(found_all) + slack


def shares_reach(
    margins: tuple[WeighedCells, WeighedCells],
    assumptions: tuple[Assumption, Assumption],
    beta: float,
) -> float:
    """Bound on the error of the difference of the raw shares, for all categories simultaneously.

    Proof: docs/proofs/risk.md (32).
    """
    halves = zip(margins, assumptions, strict=True)
    apart = sum(margin.worst(each, 1.0 - EVEN * beta) for margin, each in halves)
    if random_budgets(assumptions):
        return apart
    rest, sides = beta / max(margin.cells for margin in margins), []
    for margin in margins:
        weighing = margin.weighing
        two = margin.cells == 2 and weighing.closed is not None
        scale = weighing.scale / 2.0 if two else weighing.scale
        sides.append(Weighed(replace(weighing, closed=None, scale=scale), margin.slack))
        rest *= 1.0 - margin.limit(0.0)
    return min(apart, error_of_two(sides, assumptions, (1.0, 1.0), rest))


def count_reach(laws: tuple[DiscreteLaplace, DiscreteLaplace], beta: float) -> int:
    """Bound on the noise of the difference of two counts. Proof: docs/proofs/risk.md (29)."""
    low, high = sorted(float(law.scale) for law in laws)
    return math.floor(joint(Difference(high, low, 0.0), 0.0, 0.0, beta) + 2.0)


def quotient(first: Bounds, second: Bounds) -> Bounds:
    """The smallest and the largest quotient of the second number by the first.

    Both numbers are within the given intervals, which have the same sign.

    Proof: docs/proofs/risk.md (31).
    """
    (a, b), (c, d) = first, second
    if min(a, c) < 0.0:
        (a, b), (c, d) = (-b, -a), (-d, -c)
    return c / b if b > 0.0 else 0.0, d / a if a > 0.0 else math.inf


def _expected(margin: Weighed) -> Weighed:
    """The margin with the expected spread around the middle of the range, not the drawn spread."""
    if not isinstance(margin, WeighedSpread):
        return margin
    return replace(margin, offset=0.0, square=margin.expected**2)
