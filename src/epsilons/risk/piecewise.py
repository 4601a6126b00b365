"""Error bounds of weighted sums of piecewise reports, which hold more than one bit.

Of N answers in a row, a window of K contains those that favor a value. Its place is affine in the
value. All functions depend only on budgets and public facts.
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
"""One part in so many of the error probability pays for the estimated variance."""

_PASSES: Final = 8
"""Each pass of `ReportedPiecewise.reach` holds by itself; more passes hardly change the result."""


class Window(NamedTuple):
    """The answers that are possible at a budget, and those that favor a value.

    Attributes:
        answers: N, the number of answers: the integers from 0 to N − 1.
        inside: K, how many consecutive answers favor a value.
    """

    answers: int
    inside: int

    @property
    def places(self) -> int:
        """N − K: the window begins at one of the integers from 0 to this."""
        return self.answers - self.inside


class Spread(NamedTuple):
    """What a report says about a value in [0, 1], at each budget.

    Attributes:
        step: the difference between the numbers that adjacent answers stand for.
        square: the largest E(Y − ½)², where Y is the number that the answer stands for. Values at
            both ends of the range attain it.
    """

    step: Floats
    square: Floats


def spread(window: Window, epsilon: Floats) -> Spread:
    """Return what reports with this window say. Proof: docs/proofs/piecewise.md (2), (3).

    Args:
        window: the window.
        epsilon: budgets above 0, or ∞.
    """
    many, inside, places = window.answers, window.inside, window.places
    odds, falls = inside / places, np.exp(-epsilon)
    near = odds / (odds + falls)  # the probability of an answer in the window
    # The expected answer moves by this much if the window moves by one: P(in) − (1 − P(in))·odds.
    step = 1.0 / (-np.expm1(-epsilon) * near * places)
    # Means of squares of the answers around their middle: in a window at an end, and of all.
    own = (3 * places * places + inside * inside - 1) / 12.0
    rest = (many * (many * many - 1) / 12.0 - inside * own) / places
    return Spread(step, step * step * (rest + near * (own - rest)))


def noise(window: Window, epsilon: Floats, value: Floats) -> Floats:
    """Return the variance that a report adds to a value in [0, 1].

    Proof: docs/proofs/piecewise.md (3).

    Args:
        window: the window.
        epsilon: budgets above 0, or ∞.
        value: the values, which broadcast with the budgets.
    """
    found, places = spread(window, epsilon), window.places
    # E(Y − ½)² is linear between two places of the window, and it falls with the square of their
    # distance from the middle: by step/places for each unit.
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
        probability at most 1 − confidence. Bernstein's inequality takes the smaller of the
        worst-case variance and a bound from the spread of the reports.
        Proof: docs/proofs/piecewise.md (4).

    Attributes:
        sums: sums over people. Of reports that are not one bit, `tail` is Σ w²·(worst-case
            variance) and `largest` is the largest w·|report − ½|; `proxy` is that of the others.
        seen: Σ w²·(report − estimate)² of reports that are not one bit; ∞ in a forecast.
        heavy: Σ w² of reports that are not one bit.
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
            # Around the true mean, which is at most `far` from the estimate.
            apart = math.sqrt(self.seen) + math.sqrt(self.heavy) * far
            spare = rare * (sums.largest + sums.most * min(self.off + far, 0.5)) ** 2
            found = (math.sqrt(apart * apart + spare) + math.sqrt(spare)) ** 2
            far = bernstein(min(sums.tail, found))
        return (hi - lo) * (far + self.slack)


def window_sums(weight: Floats, found: Spread, window: Window) -> Sums:
    """Return the sums of reports with one window, which do not depend on the answers.

    Args:
        weight: the weight of each report.
        found: what each report says.
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
