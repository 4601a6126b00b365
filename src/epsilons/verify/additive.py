"""The exact privacy loss of each person, computed from the law of the noise alone.

The checker is handed a mechanism and reads what it would draw from: integer weights, how far a
person can move, the law. It shares no code with what it checks, uses rational numbers and
correctly rounded decimals only, and takes no number on trust that it can recompute.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from epsilons.errors import PrivacyError
from epsilons.verify.verdict import Verdict

_PROBES = 64
_FAR = range(7, 300, 7)
"""Laws are asked at all points up to `_PROBES` from 0, and at some near these powers of two."""

_DIGITS, _TRUSTED = 60, 45
"""Significant digits that are carried, and those that are relied on."""


Loss: TypeAlias = Callable[[int], Fraction | float]
"""The loss over a distance of so many lattice points."""


class Law(Protocol):
    """The law of integer noise, as a checker reads it.

    A law with `steps` says of itself that it falls in stairs, and then has `rate` and `inner`, too.
    """

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


def exact_additive(mechanism: Mechanism) -> Verdict:
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
    law = mechanism.law
    stepped = hasattr(law, "steps")
    loss = _stairs(law) if stepped else _slope(law)
    budgets = tuple(_rational(float(level)) for level in mechanism.levels)
    weights = [int(k) for k in mechanism.weights]
    if len(weights) != len(budgets) or min(weights) < 0:
        raise PrivacyError("The mechanism does not give each level one weight from 0.")
    if mechanism.moves > 1 and mechanism.grid != 1:
        raise PrivacyError("Sums that are rounded one by one can move by more than their total.")
    if mechanism.moves > 1 and stepped:
        raise PrivacyError("Each of several sums may cross a stair of its own.")
    reach = mechanism.moves * mechanism.reach
    if mechanism.keep is None:
        losses = tuple(_moved(loss, k * reach, mechanism.grid) for k in weights)
        return Verdict(budgets, losses, exact=True)
    bounds = tuple(
        _sampled(loss, k * reach, p, mechanism.grid)
        for k, p in zip(weights, mechanism.keep, strict=True)
    )
    return Verdict(budgets, bounds, exact=False)


def rate_of(law: Law) -> Fraction | float:
    """The log-ratio of neighbouring lattice points, checked against the law at many points.

    A law p(x) ∝ e^{−r|x|} has the largest log-ratio r·s over a distance s.

    Args:
        law: of integer noise.

    Returns:
        r; math.inf if the law is a point.

    Raises:
        PrivacyError: the law is of another kind.
    """
    first = law.exponent(1)
    if first == math.inf:
        if all(law.exponent(x) == math.inf for x in (-1, 2, -(2**70))) and law.exponent(0) == 0:
            return math.inf  # all mass at 0: a distance of one tells everything
        raise PrivacyError("The law of the noise is neither geometric nor a point.")
    rate = Fraction(first)
    for x in [*range(-_PROBES, _PROBES + 1), *(2**k + 1 for k in _FAR)]:
        if law.exponent(x) != rate * abs(x):
            raise PrivacyError("The law of the noise is not e^(−r·|x|), so its loss is not known.")
    return rate


def _slope(law: Law) -> Loss:
    """The loss of a law p(x) ∝ e^{−r|x|}, or of a point."""
    rate = rate_of(law)
    return lambda points: rate * points


def _stairs(law: Any) -> Loss:
    """The loss of a law p(x) ∝ e^{−r·level(|x|)}, level(a) = floor((a + N − g)/N), also checked.

    level(|x + d|) − level(|x|) for |d| ≤ s is largest where x and d have one sign, as level grows:
    there it is floor((a + s + N − g)/N) − floor((a + N − g)/N), at most ceil(s/N), and just that at
    a = g − 1.
    """
    rate, steps, inner = Fraction(law.rate), int(law.steps), int(law.inner)
    if rate <= 0 or not 1 <= inner <= steps:
        raise PrivacyError("The law of the noise has no stairs of such widths.")
    stairs = [*range(_PROBES), *(2**k + 1 for k in _FAR)]
    edges = [inner + steps * stair + off for stair in stairs for off in (-1, 0, 1)]
    for a in [*range(_PROBES + 1), *(2**k + 1 for k in _FAR), *edges]:
        exponent = rate * ((a + steps - inner) // steps)
        if law.exponent(a) != exponent or law.exponent(-a) != exponent:
            raise PrivacyError("The law of the noise is not the staircase that it says it is.")
    return lambda points: rate * -(-points // steps)


def _moved(loss: Loss, distance: int, grid: int) -> Fraction | float:
    """The loss over a distance on the grid: lattice points are crossed whole."""
    points = -(-distance // grid)
    return Fraction(0) if points == 0 else loss(points)


def _sampled(loss: Loss, distance: int, keep: Fraction, grid: int) -> Fraction | float:
    """A certified bound on ln((1 + p(e^h − 1))/(1 − p(1 − e^{−h}))).

    h is the loss over half the distance: a person who is not kept counts as the middle.
    """
    if not 0 <= keep <= 1:
        raise PrivacyError("A probability of being kept lies outside [0, 1].")
    if distance == 0 or keep == 0:
        return Fraction(0)
    half = _moved(loss, distance, 2 * grid)
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
        total = (1 + p * (h.exp() - 1)).ln() - (1 - p * (1 - (-h).exp())).ln()
        # Every operation is correctly rounded and there are fewer than twenty, on numbers whose
        # logarithm is at most h: the error is far below the digits that are relied on.
        margin = decimal.Decimal(10) ** -(_TRUSTED + zeros) * (1 + abs(total))
        return Fraction(total + margin)


def _rational(budget: float) -> Fraction | float:
    return budget if math.isinf(budget) else Fraction(budget)
