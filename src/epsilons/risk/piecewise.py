"""Error bounds of weighted sums of piecewise reports, which can hold more than one bit.

A report is one of the answers 0 to N − 1. The K consecutive answers in a window are more likely
than all others. The start of the window is random, and its expectation is an affine function of the
value. Only `ReportedPiecewise` depends on the reports that were received. All other results depend
on budgets alone.

Proof: docs/proofs/piecewise.md (2), (3), (4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from epsilons.frozen import storable
from epsilons.risk.local import Reported, Sums
from epsilons.risk.margins import Bounds
from epsilons.types import Floats

_RARE: Final = 20.0
"""The error probability of the bound on the variance is that of the interval, divided by this."""

_PASSES: Final = 8
"""Number of passes in `ReportedPiecewise.reach`. Each pass gives a valid bound, and more passes
would hardly change it."""


class AnswerWindow(NamedTuple):
    """The number of possible answers at a budget, and the length of the window.

    Attributes:
        answers: N, the number of answers: the integers from 0 to N − 1.
        inside: K, the number of consecutive answers in the window.
    """

    answers: int
    inside: int

    @property
    def places(self) -> int:
        """N − K, the largest answer at which the window can start; the smallest is 0."""
        return self.answers - self.inside


class ReportSpread(NamedTuple):
    """The scale and the second moment of reports, at each budget.

    An answer is converted to a number Y whose expectation is the value in [0, 1].

    Attributes:
        step: the difference between the numbers Y of adjacent answers.
        square: the largest E(Y − ½)² over all values. Both ends of the range attain it.
    """

    step: Floats
    square: Floats


def spread(window: AnswerWindow, epsilon: Floats) -> ReportSpread:
    """Return the scale and the second moment of reports with this window.

    Proof: docs/proofs/piecewise.md (2), (3).

    Args:
        window: the window.
        epsilon: budgets above 0, or ∞.
    """
    many, inside, places = window.answers, window.inside, window.places
    odds, falls = inside / places, np.exp(-epsilon)
    near = odds / (odds + falls)  # the probability of an answer in the window
    # If the window moves by one, the expected answer moves by P(in) − (1 − P(in))·odds.
    step = 1.0 / (-np.expm1(-epsilon) * near * places)
    # Mean squared distances of answers from the middle: inside a window at an end, and outside it.
    own = (3 * places * places + inside * inside - 1) / 12.0
    rest = (many * (many * many - 1) / 12.0 - inside * own) / places
    return ReportSpread(step, step * step * (rest + near * (own - rest)))


def noise(window: AnswerWindow, epsilon: Floats, value: Floats) -> Floats:
    """Return the variance of a report, given the value in [0, 1].

    Proof: docs/proofs/piecewise.md (3).

    Args:
        window: the window.
        epsilon: budgets above 0, or ∞.
        value: the values, which broadcast with the budgets.
    """
    found, places = spread(window, epsilon), window.places
    # E(Y − ½)² is largest if the window is at an end. At distance d from the middle, it is smaller
    # by step/places·(places²/4 − d²). It is linear in the value between two starts of the window.
    place = value * places
    below = np.floor(place)
    part = place - below
    apart = (below - places / 2.0) ** 2 + part * (2.0 * below + 1.0 - places)
    short = found.step / places * (places * places / 4.0 - apart)
    return found.square - short - (value - 0.5) ** 2


@storable("risk.ReportedPiecewise")
@dataclass(frozen=True, eq=False)
class ReportedPiecewise(Reported):
    """Margin of a mean from piecewise reports, some of which may be one bit.

    Guarantee:
        For all populations on the range, the interval fails to cover the true value with
        probability at most 1 − confidence. The bound is Bernstein's inequality. The variance in it
        is the smaller of the worst case and a bound from the spread of the reports.
        Proof: docs/proofs/piecewise.md (4).

    Attributes:
        sums: sums over people. For reports that are not one bit, `tail` is Σ w²·(worst-case
            variance), and `largest` is the largest w·|report − ½|. For reports of one bit, `proxy`
            is as in `Sums`.
        seen: Σ w²·(report − estimate)² over reports that are not one bit; ∞ in a forecast.
        heavy: Σ w² over reports that are not one bit.
        off: |estimate − ½| on a unit range.
    """

    seen: float = math.inf
    heavy: float = 0.0
    off: float = 0.5

    def reach(self, bounds: Bounds, confidence: float) -> float:
        """Bound on the error at this confidence, in data units."""
        if self.sums.largest <= 0.0:  # all reports are one bit
            return super().reach(bounds, confidence)
        lo, hi = bounds
        sums, beta = self.sums, 1.0 - confidence
        cost = math.log(2.0 / (beta - beta / _RARE))
        rare = math.log(_RARE / beta) / 2.0

        def bernstein(variance: float) -> float:
            rest = (sums.largest + sums.most / 2.0) * cost / 3.0
            return (math.sqrt(2.0 * (sums.proxy + variance) * cost) + rest) / sums.weight

        far = bernstein(sums.tail)
        for _ in range(_PASSES):
            # Bounds on the spread around the true mean, which is at most `far` from the estimate.
            apart = math.sqrt(self.seen) + math.sqrt(self.heavy) * far
            spare = rare * (sums.largest + sums.most * min(self.off + far, 0.5)) ** 2
            found = (math.sqrt(apart * apart + spare) + math.sqrt(spare)) ** 2
            far = bernstein(min(sums.tail, found))
        return (hi - lo) * (far + self.slack)


def window_sums(weight: Floats, found: ReportSpread, window: AnswerWindow) -> Sums:
    """Return sums over reports with the same window. They do not depend on the answers.

    Args:
        weight: the weight of each report.
        found: the scale and the second moment of each report.
        window: the window.
    """
    reach = (window.answers - 1) / 2.0 * found.step
    heavy = weight * weight
    square, variance = float(heavy.sum()), float(heavy @ found.square)
    return Sums(
        weight=float(weight.sum()),
        square=square,
        variance=variance,
        tail=variance,
        largest=(furthest := float((weight * reach).max())),
        most=float(weight.max()),
        reach=furthest,
    )
