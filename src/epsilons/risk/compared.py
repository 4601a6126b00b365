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
from epsilons.risk.ratio import Difference
from epsilons.risk.shares import WeighedCells
from epsilons.risk.spread import WeighedSpread
from epsilons.risk.weighing import Assumption

EVEN: Final = 0.5
"""Part of an error probability for each of two releases, where nothing public chooses a better
one."""

_SPLITS: Final = (EVEN, 0.25, 0.75, 0.1, 0.9)
"""Parts that are tried for the first of two releases."""

Pair = tuple[float, float]


@dataclass(frozen=True, eq=False)
class TwoMeans:
    """Two weighted means on the same bounds, of people who may be in both.

    Guarantee:
        For all data that the assumptions allow, regardless of who is in both, the interval of the
        difference misses with probability at most beta, and so does that of the ratio, if weights
        and noise of the second mean do not depend on what was drawn for the first.
        Proof: docs/proofs/risk.md (29), (30), (31).

    Attributes:
        margins: of the two means.
        drawn: the two means as they were drawn, in data units.
        bounds: of the values.
        assumptions: about the data of each.
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
        """An interval for the second mean divided by the first, of values with one sign."""
        wide = self.bounds[1] - self.bounds[0]
        if self.split is not None:
            return quotient(*self._ends)
        return ratio_ends(
            (self.drawn[1], self.drawn[0]), self.bounds, lambda a, b: wide * self._joint(b, a)
        )

    @cached_property
    def split(self) -> float | None:
        """The part of beta for the first interval; None if both are bounded jointly.

        It follows from public facts: a spread that was drawn is replaced by the expected one.
        Where budgets are sampled together with the values, they must not choose.
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
        """The two intervals."""
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
    """Whether budgets are sampled together with values: then they must not choose a formula."""
    return any(each.sampled and each.related is not False for each in assumptions)


def error_of_two(
    margins: Sequence[Weighed], assumptions: Sequence[Assumption], times: Pair, beta: float
) -> float:
    """Bound on the error of a combination of two means, on a unit range, at error probability beta.

    Both noises are Laplace noise, or less spread than that, and independent. What else is random
    may depend on each other, and on the noise of the first. Proof: docs/proofs/risk.md (29), (30).

    Args:
        margins: of the two means.
        assumptions: about the data of each.
        times: nonnegative coefficients; their signs do not matter.
        beta: the error probability.

    Returns:
        ∞ if an error is not of this form.
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
    """Bound on the change of any share minus that of the raw shares, for all shares at once.

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
    """The ends of the second number divided by the first, both within intervals of one sign.

    Proof: docs/proofs/risk.md (31).
    """
    (a, b), (c, d) = first, second
    if min(a, c) < 0.0:
        (a, b), (c, d) = (-b, -a), (-d, -c)
    return c / b if b > 0.0 else 0.0, d / a if a > 0.0 else math.inf


def _expected(margin: Weighed) -> Weighed:
    """The margin if its spread is as expected, around the middle of the range."""
    if not isinstance(margin, WeighedSpread):
        return margin
    return replace(margin, offset=0.0, square=margin.expected**2)
