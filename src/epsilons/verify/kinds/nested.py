"""The checks of permute-and-flip, which selects one of several nested intervals.

Losses are computed as in `losses/selection.py`, with another distance u.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, Protocol

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.verify.drawn import LARGE, PICKS, Found, Tools
from epsilons.verify.fit import shares
from epsilons.verify.losses.laws import whole
from epsilons.verify.losses.selection import SelectionFields, check_moves
from epsilons.verify.losses.sums import weights_of
from epsilons.verify.replaying.runs import selection_moved
from epsilons.verify.verdict import Checks, Comparison, verdict_of

_HEAVY = 2**10
"""Two weights in the test data sets are multiples of this one; the others are 1 and 2."""


class NestedMechanism(SelectionFields, Protocol):
    """The fields of a selection of nested intervals that the checker reads."""

    @property
    def starts(self) -> Any:
        """The first cell of each interval."""

    @property
    def ends(self) -> Any:
        """The cell that follows the last cell of each interval."""

    @property
    def parts(self) -> int:
        """The denominator of `low` and `high`."""

    @property
    def low(self) -> int:
        """The part of the weight that may be before an interval."""

    @property
    def high(self) -> int:
        """The part of the weight that must be before the end of an interval."""

    def exponent(self, candidate: int, cells: Any, masses: Any, /) -> Fraction:
        """Return u/scale of an interval."""


def nested_losses(mechanism: NestedMechanism) -> tuple[Fraction, ...]:
    """Return an upper bound on the privacy loss of a person at each level: 2·parts·weight/scale.

    An interval is accepted with probability e^{−(u − min u)/scale}. Permute-and-flip selects each
    interval as if every −u/scale had its own exponential noise, and the largest sum were selected.
    So the loss is at most the largest difference between the changes of u/scale for two intervals.

    Args:
        mechanism: one stage of a release of quantiles.

    Raises:
        PrivacyError: the exponents are not those of such a selection, or change too much.
    """
    parts = whole(mechanism.parts, 1, "The denominator of a rank")
    scale = whole(mechanism.scale, 1, "The divisor of a distance")
    weights = weights_of(mechanism, len(mechanism.levels))
    if not len(mechanism.starts) == len(mechanism.ends) >= 1:
        raise PrivacyError("Every interval must have one start and one end.")
    middle = len(mechanism.starts) // 2
    start, end = int(mechanism.starts[middle]), int(mechanism.ends[middle])
    # The weights of two heavy people. If one is before an interval and the other after it, there
    # can be too much weight on both sides of the interval.
    heavy = min(max((mechanism.low + mechanism.high) // 2, 1), parts)
    check_moves(
        lambda people: _nested_exponents(mechanism, people),
        (start - 1, start, end - 1, end),
        (1, 2, _HEAVY * heavy, _HEAVY * (parts - heavy)),
        "replace",
        Fraction(2 * parts, scale),
    )
    return tuple(Fraction(2 * parts * k, scale) for k in weights)


def _nested_exponents(
    mechanism: NestedMechanism, people: Sequence[tuple[int, int]]
) -> list[Fraction]:
    """Return the exponents of some intervals, checked against a direct count of people."""
    cells = sorted({cell for cell, _ in people})
    masses = [sum(k for at, k in people if at == cell) for cell in cells]
    everyone = sum(masses)

    def surplus(at: int) -> int:
        before = sum(k for cell, k in people if cell < mechanism.starts[at])
        upto = sum(k for cell, k in people if cell < mechanism.ends[at])
        return min(
            mechanism.low * everyone - mechanism.parts * before,
            mechanism.parts * upto - mechanism.high * everyone,
        )

    last = len(mechanism.starts) - 1
    near = {0, 1, last // 2, last // 2 + 1, last - 1, last}
    found = []
    for at in sorted(each for each in near if 0 <= each <= last):
        distance = max(0, -surplus(at), surplus(at - 1) if at else 0)
        exponent = mechanism.exponent(at, np.array(cells), np.array(masses))
        if exponent != Fraction(distance, mechanism.scale):
            raise PrivacyError("An exponent is not the distance of an interval over the scale.")
        found.append(exponent)
    return found


def nested_drawn(mechanism: Any, tools: Tools) -> Found:
    """Check drawn intervals for simulated people, against the law of permute-and-flip.

    If every candidate arrives at a uniform time, candidate i is selected if it is accepted, and no
    other candidate that is accepted arrives earlier. So P(i) = ∫ a_i·Π_{j≠i}(1 − x·a_j) dx over
    [0, 1], where a are the probabilities of acceptance. The integrand is a polynomial, for which
    Gauss–Legendre quadrature is exact.
    """
    starts, ends = ([int(each) for each in side] for side in (mechanism.starts, mechanism.ends))
    scale, parts, size = int(mechanism.scale), int(mechanism.parts), len(starts)
    middle, unit = size // 2, min(max(1, scale // parts), LARGE)
    nodes, lengths = np.polynomial.legendre.leggauss(size // 2 + 1)
    times = (nodes + 1.0) / 2.0
    groups = sorted({0, 1, size // 4, middle, middle + 1, 3 * size // 4, size - 1} - {size})
    for people in (
        {starts[middle]: unit, ends[middle] - 1: 2 * unit + 1, ends[-1]: unit},
        {starts[-1]: 2 * unit, starts[0]: unit, ends[middle]: unit, ends[-1] - 1: unit // 2 + 1},
    ):
        everyone = sum(people.values())
        surplus = [
            min(
                mechanism.low * everyone - parts * sum(k for c, k in people.items() if c < start),
                parts * sum(k for c, k in people.items() if c < end) - mechanism.high * everyone,
            )
            for start, end in zip(starts, ends, strict=True)
        ]
        far = [max(0, -at, back) for at, back in zip(surplus, [0, *surplus], strict=False)]
        accepted = np.array([math.exp(-(each - min(far)) / scale) for each in far])
        missed = np.log1p(-times[:, None] * accepted)
        others = np.exp(missed.sum(axis=1)[:, None] - missed)
        law = accepted * (lengths / 2.0 @ others)
        places = sorted(people)
        given = np.array(places), np.array([people[at] for at in places])
        found = [mechanism.draw(tools.source, total=given) for _ in range(PICKS)]
        counts = np.add.reduceat(np.bincount(found, minlength=size), groups)
        chance = shares(counts.tolist(), np.add.reduceat(law, groups).tolist())
        yield Comparison("nested: intervals drawn one at a time", PICKS, chance)


CHECKS: Final = {
    "nested": Checks(
        verdict_of(nested_losses, "replace", exact=False), nested_drawn, selection_moved
    )
}
"""The row of this kind in the table of checks."""
