"""The exact privacy loss of each person in weighted sums of integers with noise of their own.

The checker is handed a mechanism and reads what it would draw from: integer weights, how far a
person can move, the pieces of the law. It shares no code with what it checks, uses rational numbers
and correctly rounded decimals only, and takes no number on trust that it can recompute. What a
person can move follows from the kind of mechanism, and must be what the mechanism says.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol

from epsilons.errors import PrivacyError
from epsilons.verify.closed import table
from epsilons.verify.laws import LawPieces, one_number, whole
from epsilons.verify.verdict import Verdict, budgets_of

_DIGITS, _TRUSTED = 60, 45
"""Significant digits that are carried, and those that are relied on."""

_SHORT: Final = "The values of a sum can move by all of the grid, and it says by less."


@dataclass(frozen=True)
class SumsKind:
    """What the kind of a mechanism says of it, whatever the mechanism says.

    Attributes:
        neighbours: what counts as a change of one person.
        moves: in how many places a person's whole reach can come or go.
        cells: whether there are many sums, among which a person may share what they add.
        coins: whether people are kept by coins; None if either may be.
        closed: whether the sum over all cells never moves, and the noise sums to zero.
    """

    neighbours: str
    moves: int
    cells: bool
    coins: bool | None
    closed: bool = False


SUMS: Final = {
    "sum": SumsKind("replace", moves=1, cells=False, coins=False),
    "sampled sum": SumsKind("replace", moves=1, cells=False, coins=True),
    "cells": SumsKind("replace", moves=2, cells=True, coins=None),
    "closed cells": SumsKind("replace", moves=2, cells=True, coins=False, closed=True),
    "report": SumsKind("local", moves=1, cells=False, coins=False),
    "open cells": SumsKind("add-remove", moves=1, cells=True, coins=False),
}
"""The kinds of weighted sums. A person who is replaced leaves one cell and enters another."""


class AdditiveMechanism(Protocol):
    """An additive integer mechanism: floor(Σ k·g / grid) + noise, perhaps after coins.

    Each person of a level with budget `levels[l]` adds `weights[l]·g`, where g can move by `reach`
    in each of `moves` sums, which all have noise of their own: a distance of moves·reach in ℓ1,
    however it is spread over sums if the grid is 1. Where `keep` is given, a person of level l is
    used with probability `keep[l]`, and otherwise counts as what is half as far from everything.
    """

    @property
    def kind(self) -> str:
        """One of `SUMS`."""

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


def exact_additive(mechanism: AdditiveMechanism) -> Verdict:
    """Compute the loss of a person of each level of an additive integer mechanism.

    Replacing a person's value moves Σ k·g by at most k·reach, so its quotient by the grid, rounded
    down, by at most ceil(k·reach/grid) lattice points, and that in each of `moves` sums; the loss
    is what the pieces of the law allow over that distance.

    Args:
        mechanism: for instance `release.mechanism`.

    Returns:
        The verdict: losses beside budgets.

    Raises:
        PrivacyError: the mechanism is not of the kind that it says, or the law is not one whose
            losses this checker can bound.
    """
    kind = SUMS[mechanism.kind]
    budgets = budgets_of(mechanism.levels)
    weights = weights_of(mechanism, len(budgets))
    reach = whole(mechanism.reach, 1, "The reach of a person")
    grid = whole(mechanism.grid, 1, "The grid")
    if mechanism.moves != kind.moves:
        raise PrivacyError(
            f"A person moves in {kind.moves} of the sums of such a mechanism ({mechanism.kind!r}), "
            f"and it says {mechanism.moves}."
        )
    law = _closed(mechanism) if kind.closed else one_number(mechanism.law)
    if kind.cells:
        if grid != 1:
            raise PrivacyError(
                "Sums that are rounded one by one can move by more than their total."
            )
        if law.steps != 1:
            raise PrivacyError("Each of several sums may cross a stair of its own.")
    elif reach < grid:
        raise PrivacyError(_SHORT)
    if kind.coins is not None and kind.coins != (mechanism.keep is not None):
        raise PrivacyError(
            "Coins that are not tossed protect nobody, and those that are must be said."
        )
    distances = [k * reach * kind.moves for k in weights]
    if mechanism.keep is None:
        losses = tuple(_moved(law, distance, grid) for distance in distances)
        return Verdict(budgets, losses, exact=True, neighbours=kind.neighbours)
    if len(mechanism.keep) != len(weights):
        raise PrivacyError("The mechanism does not give each level one probability of being kept.")
    bounds = tuple(
        _sampled(law, distance, p, grid)
        for distance, p in zip(distances, mechanism.keep, strict=True)
    )
    return Verdict(budgets, bounds, exact=False, neighbours=kind.neighbours)


def _closed(mechanism: Any) -> LawPieces:
    """The law of all cells together: of each alone it would say nothing."""
    return table(mechanism.law, mechanism.cells)


def weights_of(mechanism: Any, levels: int) -> list[int]:
    """The weights, one from 0 for each level.

    Raises:
        PrivacyError: there are others.
    """
    weights = [whole(k, 0, "The one weight of each level") for k in mechanism.weights]
    if len(weights) != levels:
        raise PrivacyError("The mechanism does not give each level one weight.")
    return weights


def lattice_moves(mechanism: Any, why: str) -> list[int]:
    """How far a person of each level moves one of several sums, in lattice points.

    Each moves by k·reach on the grid, so its quotient, rounded down, by ceil(k·reach/grid).

    Args:
        mechanism: of sums of the same people, who are all surely used.
        why: what is said of coins, if there are some.

    Raises:
        PrivacyError: weights, grid or reach are not what they must be, or there are coins.
    """
    weights = weights_of(mechanism, len(mechanism.levels))
    grid = whole(mechanism.grid, 1, "The grid")
    reach = whole(mechanism.reach, 1, "The reach of a person")
    if reach < grid:
        raise PrivacyError(_SHORT)
    if getattr(mechanism, "keep", None) is not None:
        raise PrivacyError(f"Coins are for one sum: {why}")
    return [-(-k * reach // grid) for k in weights]


def _moved(law: LawPieces, distance: int, grid: int) -> Fraction | float:
    """The loss over a distance on the grid: lattice points are crossed whole."""
    return law.loss(-(-distance // grid))


def _sampled(law: LawPieces, distance: int, keep: Fraction, grid: int) -> Fraction | float:
    """A certified bound on ln((1 + p(e^h − 1))/(1 − p(1 − e^{−h}))).

    h is the loss over half the distance: a person who is not kept counts as the middle.
    """
    if type(keep) not in (int, Fraction) or not 0 <= keep <= 1:
        raise PrivacyError("A probability of being kept must be a fraction from 0 to 1.")
    if distance == 0 or keep == 0:
        return Fraction(0)
    half = _moved(law, distance, 2 * grid)
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
