"""The exact privacy loss of each person, computed from the law of the noise alone.

The checker is handed a mechanism and reads what it would draw from: integer weights, how far a
person can move, the law. It shares no code with what it checks, uses rational numbers and
correctly rounded decimals only, and takes no number on trust that it can recompute.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from epsilons.errors import PrivacyError

_PROBES = 64
_DIGITS, _TRUSTED = 60, 45
"""Significant digits that are carried, and those that are relied on."""


class Law(Protocol):
    """The law of integer noise, as a checker reads it."""

    def exponent(self, x: int, /) -> Fraction:
        """−ln of the probability of x, plus ln of that of 0, exactly."""


class Mechanism(Protocol):
    """An additive integer mechanism: floor(Σ k·g / grid) + noise, perhaps after coins.

    Each person of a level with budget `levels[l]` adds `weights[l]·g`, where g can move by `reach`
    in each of `moves` sums, which all have noise of their own: a distance of moves·reach in ℓ1,
    however it is spread over sums if the grid is 1. Where `keep` is given, a person of level l is
    used with probability `keep[l]`, and otherwise counts as what is half as far from everything.
    """

    @property
    def levels(self) -> Any:
        """The budgets ε."""

    @property
    def weights(self) -> Any:
        """The integer weight of a person of each level."""

    @property
    def reach(self) -> int:
        """How far one person's integer can move."""

    @property
    def grid(self) -> int:
        """The divisor of the sum."""

    @property
    def moves(self) -> int:
        """In how many sums a person can move by their reach."""

    @property
    def law(self) -> Any:
        """The law of the noise."""

    @property
    def keep(self) -> Sequence[Fraction] | None:
        """The probability of being used, level by level; None if everyone surely is."""


@dataclass(frozen=True)
class Verdict:
    """The loss of a person of each level beside their budget.

    Attributes:
        budgets: ε of each level, exactly the float64 that was given; math.inf for public.
        losses: the largest log-ratio of probabilities that a person of the level can cause: an
            exact rational, or a certified upper bound where people are sampled; math.inf if the
            mechanism hides nothing of them.
        exact: whether the losses are exact.
    """

    budgets: tuple[Fraction | float, ...]
    losses: tuple[Fraction | float, ...]
    exact: bool

    @property
    def holds(self) -> bool:
        """Whether nobody's loss is above their budget."""
        return all(loss <= budget for loss, budget in zip(self.losses, self.budgets, strict=True))

    def require(self) -> Verdict:
        """Return this verdict if everyone is protected.

        Raises:
            PrivacyError: the mechanism spends more than somebody's budget.
        """
        for loss, budget in zip(self.losses, self.budgets, strict=True):
            if loss > budget:
                raise PrivacyError(
                    f"A person with ε = {float(budget):.17g} loses {float(loss):.17g}: "
                    "the mechanism must not be used."
                )
        return self

    def __str__(self) -> str:
        words = "exact" if self.exact else "certified upper bound"
        rows = [
            f"  ε = {float(budget):<12.9g} loss {float(loss):.9g} ({words})"
            for loss, budget in zip(self.losses, self.budgets, strict=True)
        ]
        shown = rows if len(rows) <= 12 else [*rows[:6], f"  … {len(rows) - 11} more", *rows[-5:]]
        head = "Everyone's budget is kept." if self.holds else "SOMEBODY'S BUDGET IS NOT KEPT."
        return "\n".join([head, *shown])


def exact(mechanism: Mechanism) -> Verdict:
    """Compute the loss of a person of each level of an additive integer mechanism.

    Replacing a person's value moves Σ k·g by at most k·reach, so its quotient by the grid, rounded
    down, by at most ceil(k·reach/grid) lattice points, and that in each of `moves` sums; the loss
    is what the law of the noise allows over that distance.

    Args:
        mechanism: for instance `release.mechanism`.

    Returns:
        The verdict: losses beside budgets.

    Raises:
        PrivacyError: the law is not one whose losses this checker can bound.
    """
    rate = _rate(mechanism.law)
    budgets = tuple(_rational(float(level)) for level in mechanism.levels)
    weights = [int(k) for k in mechanism.weights]
    if len(weights) != len(budgets) or min(weights) < 0:
        raise PrivacyError("The mechanism does not give each level one weight from 0.")
    if mechanism.moves > 1 and mechanism.grid != 1:
        raise PrivacyError("Sums that are rounded one by one can move by more than their total.")
    reach = mechanism.moves * mechanism.reach
    if mechanism.keep is None:
        losses = tuple(_moved(rate, k * reach, mechanism.grid) for k in weights)
        return Verdict(budgets, losses, exact=True)
    bounds = tuple(
        _sampled(rate, k * reach, p, mechanism.grid)
        for k, p in zip(weights, mechanism.keep, strict=True)
    )
    return Verdict(budgets, bounds, exact=False)


def _rate(law: Law) -> Fraction | float:
    """The log-ratio of neighbouring lattice points, checked against the law at many points.

    A law p(x) ∝ e^{−r|x|} has the largest log-ratio r·s over a distance s.
    """
    first = law.exponent(1)
    if first == math.inf:
        if all(law.exponent(x) == math.inf for x in (-1, 2, -(2**70))) and law.exponent(0) == 0:
            return math.inf  # all mass at 0: a distance of one tells everything
        raise PrivacyError("The law of the noise is neither geometric nor a point.")
    rate = Fraction(first)
    probes = [*range(-_PROBES, _PROBES + 1), *(2**k + 1 for k in range(7, 300, 7))]
    for x in probes:
        if law.exponent(x) != rate * abs(x):
            raise PrivacyError("The law of the noise is not e^(−r·|x|), so its loss is not known.")
    return rate


def _moved(rate: Fraction | float, distance: int, grid: int) -> Fraction | float:
    """The loss over a distance on the grid: lattice points are crossed whole."""
    points = -(-distance // grid)
    return Fraction(0) if points == 0 else rate * points


def _sampled(rate: Fraction | float, distance: int, keep: Fraction, grid: int) -> Fraction | float:
    """A certified bound on ln((1 + p(e^h − 1))/(1 − p(1 − e^{−h}))).

    h is the loss over half the distance: a person who is not kept counts as the middle.
    """
    if not 0 <= keep <= 1:
        raise PrivacyError("A probability of being kept lies outside [0, 1].")
    if distance == 0 or keep == 0:
        return Fraction(0)
    half = _moved(rate, distance, 2 * grid)
    if isinstance(half, float):
        return math.inf
    if keep == 1:
        return 2 * half
    # A loss is about p·h where both are small: carry as many digits more as that has zeros.
    zeros = sum(max(0, len(str(x.denominator)) - len(str(x.numerator))) for x in (half, keep))
    with decimal.localcontext() as context:
        context.prec = _DIGITS + zeros
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        h = decimal.Decimal(half.numerator) / decimal.Decimal(half.denominator)
        p = decimal.Decimal(keep.numerator) / decimal.Decimal(keep.denominator)
        loss = (1 + p * (h.exp() - 1)).ln() - (1 - p * (1 - (-h).exp())).ln()
        # Every operation is correctly rounded and there are fewer than twenty, on numbers whose
        # logarithm is at most h: the error is far below the digits that are relied on.
        margin = decimal.Decimal(10) ** -(_TRUSTED + zeros) * (1 + abs(loss))
        return Fraction(loss + margin)


def _rational(budget: float) -> Fraction | float:
    return budget if math.isinf(budget) else Fraction(budget)
