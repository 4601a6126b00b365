"""Every kind of mechanism, read by the checker that fits it; and channels of the local model."""

from __future__ import annotations

import decimal
import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, Protocol

from epsilons.errors import PrivacyError
from epsilons.verify.losses.laws import NEAR, one_number
from epsilons.verify.losses.selection import diffused_losses, selection_losses
from epsilons.verify.losses.sums import (
    SUMS,
    exact_additive,
    pair_losses,
    several_losses,
    squares_losses,
)
from epsilons.verify.verdict import Verdict, budgets_of

# Every kind of mechanism, read by the checker that fits it.

_MANY: Final = 128
"""Where there are many laws, each is asked at every point so near to 0."""

_TOSSED: Final = ("diffusion", "reduction")
"""Kinds in which coins are tossed for everyone; sums and cells say so with their `keep`."""


def exact(mechanism: object) -> Verdict:
    """Compute the loss of a person of each level, from what a mechanism declares.

    What it checks: that everyone's loss, recomputed with rational numbers from integer weights, how
    far a person moves in a mechanism of this kind, and the pieces of the laws of the noise, is at
    most their budget; that what the mechanism states agrees with its kind; that laws state the
    probabilities of the pieces that they declare, at about a thousand points; that a composition
    holds as many stages as were charged, and each takes what it was charged.

    What it does not check: that draws follow the laws and that totals move as little as declared,
    which `draws` tests; nor the path from rows to totals.

    Args:
        mechanism: for instance `release.mechanism`. It is read by its `kind`.

    Returns:
        The verdict: losses next to budgets.

    Raises:
        PrivacyError: the mechanism declares no kind that this checker knows, is not what its kind
            says, or has a law whose losses this checker cannot bound.
    """
    kind = getattr(mechanism, "kind", None)
    if kind not in KINDS:
        known = ", ".join(repr(each) for each in KINDS)
        raise PrivacyError(
            f"The mechanism must declare its `kind`, one of {known}: what a person can move in it "
            "follows from that."
        )
    return KINDS[kind](mechanism)


def _composed(mechanism: Any) -> Verdict:
    """Losses of the stages add up, person by person, and every stage that was charged is there."""
    budgets = budgets_of(mechanism.levels)
    stages, charges = tuple(mechanism.stages), tuple(mechanism.charges)
    if not stages or len(stages) != len(charges):
        raise PrivacyError(
            f"{len(charges)} stages were drawn and charged, and the mechanism holds {len(stages)}."
        )
    verdicts = [exact(stage) for stage in stages]
    if any(verdict.budgets != budgets for verdict in verdicts):
        raise PrivacyError("The stages do not speak of the same people.")
    if len({verdict.neighbours for verdict in verdicts}) > 1:
        raise PrivacyError("The stages do not speak of the same change of one person.")
    for stage, verdict, charge in zip(stages, verdicts, charges, strict=True):
        if len(charge) != len(budgets):
            raise PrivacyError("The charges do not speak of the same people as the stages.")
        # Where coins are tossed the loss is a bound, at most what the coins were made for.
        within = operator.le if _tosses(stage) else operator.eq
        if not all(map(within, verdict.losses, charge)):
            raise PrivacyError("A stage does not take what it was charged: another one was drawn.")
    losses = tuple(
        sum(each, Fraction(0))
        for each in zip(*(verdict.losses for verdict in verdicts), strict=True)
    )
    whole = all(verdict.exact for verdict in verdicts)
    return Verdict(budgets, losses, exact=whole, neighbours=verdicts[0].neighbours)


def _parallel(mechanism: Any) -> Verdict:
    """A person is in one group, and loses what the mechanism of that group takes: at most the most.

    Who is in which group is public, so that a person who is replaced stays in theirs.
    """
    budgets = budgets_of(mechanism.levels)
    place = {budget: at for at, budget in enumerate(budgets)}
    if len(place) < len(budgets):
        raise PrivacyError("The levels of the people of all groups are not distinct.")
    verdicts = [exact(part) for part in mechanism.parts if part is not None]
    if not verdicts:
        raise PrivacyError("The mechanism holds no group that is drawn.")
    losses: list[Fraction | float] = [Fraction(0)] * len(budgets)
    for verdict in verdicts:
        if verdict.neighbours != "replace":
            raise PrivacyError("Groups whose people are public hold people who are replaced.")
        for budget, loss in zip(verdict.budgets, verdict.losses, strict=True):
            if budget not in place:
                raise PrivacyError("A group has people of a level that the whole does not have.")
            losses[place[budget]] = max(losses[place[budget]], loss)
    exactly = all(verdict.exact for verdict in verdicts)
    return Verdict(budgets, tuple(losses), exact=exactly, neighbours="replace")


def _tosses(stage: Any) -> bool:
    """Whether people of a stage are kept by coins."""
    return stage.kind in _TOSSED or getattr(stage, "keep", None) is not None


def _reduced(mechanism: Any) -> Verdict:
    """Counts of octaves, and a mechanism for public budgets on slots, of which a person has one."""
    counted, slots = exact(mechanism.counts_stage), exact(mechanism.bounded)
    if (counted.neighbours, slots.neighbours) != ("add-remove", "replace"):
        raise PrivacyError("People must be counted under add/remove, and slots replaced.")
    if counted.budgets != budgets_of(mechanism.levels):
        raise PrivacyError("The stages do not speak of the same people.")
    cells = [operator.index(each) for each in mechanism.counts_stage.cell_of]
    place = [operator.index(each) for each in mechanism.place]
    if len(place) != len(cells):
        raise PrivacyError("The mechanism does not give each rung one level of slots.")
    seated = {(cell, at) for cell, at in zip(cells, place, strict=True) if at >= 0}
    # One octave, one level of slots: a level that nobody has would be one that is not charged.
    if sorted(at for _, at in seated) != list(range(len(slots.budgets))):
        raise PrivacyError("Not every level of slots belongs to the people of one cell.")
    counted_cells = [cell for cell, _ in seated]
    # How many slots there are comes from a count, and is charged with it.
    if len(set(counted_cells)) < len(counted_cells) or min(counted_cells, default=0) < 0:
        raise PrivacyError("The slots of some people come from no count of theirs.")
    pairs = zip(counted.losses, place, strict=True)
    losses = tuple(first + (slots.losses[at] if at >= 0 else Fraction(0)) for first, at in pairs)
    return Verdict(counted.budgets, losses, exact=False, neighbours="add-remove")


def _counted(mechanism: Any) -> Verdict:
    """A person moves the count of their cell by one, and no other."""
    budgets = budgets_of(mechanism.levels)
    laws = mechanism.laws
    near = NEAR if len(laws) == 1 else _MANY
    rates = [one_number(law, near).loss(1) for law in laws]
    cells = [operator.index(cell) for cell in mechanism.cell_of]
    if len(cells) != len(budgets) or max(cells, default=-1) >= len(rates):
        raise PrivacyError("The mechanism does not give each rung one cell.")
    losses = tuple(rates[cell] if cell >= 0 else Fraction(0) for cell in cells)
    return Verdict(budgets, losses, exact=True, neighbours="add-remove")


def _paired(mechanism: Any) -> Verdict:
    budgets = budgets_of(mechanism.levels)
    return Verdict(budgets, pair_losses(mechanism), exact=True, neighbours="add-remove")


def _squared(mechanism: Any) -> Verdict:
    budgets = budgets_of(mechanism.levels)
    return Verdict(budgets, squares_losses(mechanism), exact=True, neighbours="replace")


def _several(mechanism: Any) -> Verdict:
    budgets = budgets_of(mechanism.levels)
    return Verdict(budgets, several_losses(mechanism), exact=True, neighbours="replace")


def _selected(mechanism: Any) -> Verdict:
    budgets = budgets_of(mechanism.levels)
    losses = selection_losses(mechanism)
    return Verdict(budgets, losses, exact=False, neighbours=mechanism.neighbours)


def _diffused(mechanism: Any) -> Verdict:
    budgets = budgets_of(mechanism.levels)
    return Verdict(budgets, diffused_losses(mechanism), exact=False, neighbours="replace")


KINDS: Final[dict[str, Callable[[Any], Verdict]]] = {
    **dict.fromkeys(SUMS, exact_additive),
    "sum and squares": _squared,
    "several sums": _several,
    "two sums": _paired,
    "counts": _counted,
    "selection": _selected,
    "diffusion": _diffused,
    "composition": _composed,
    "parallel": _parallel,
    "reduction": _reduced,
}
"""What a mechanism may declare itself to be, and who reads it then."""


# The exact privacy loss of a local randomizer, by enumeration of everything that it can answer.
#
# The checker is handed a table: for each value that a person may have, the probability of each
# answer as a whole number over a common total. It believes nothing about the table, uses integers
# and certified logarithms only, and shares no code with the randomizers.

_DIGITS = 60


class CheckedChannel(Protocol):
    """A randomizer as a table."""

    @property
    def epsilon(self) -> float:
        """The budget that it must keep."""

    @property
    def inputs(self) -> Sequence[Any]:
        """The values that a person may have."""

    @property
    def outputs(self) -> Sequence[Any]:
        """The answers that can be given."""

    @property
    def chances(self) -> Sequence[Sequence[int]]:
        """A row for each input, a whole number for each output."""

    @property
    def total(self) -> int:
        """What every row sums to."""


def exact_channel(channel: CheckedChannel) -> Verdict:
    """Compute the loss of a local randomizer from its table.

    Args:
        channel: for instance `mechanism.channel(epsilon)` of a mechanism of `epsilons.local`.

    Returns:
        The verdict: the largest log-ratio of the probabilities of one answer under two values, to
        60 digits, rounded up; infinite if an answer is possible under one value only.

    Raises:
        PrivacyError: the table is not one of probabilities.
    """
    rows = [[int(chance) for chance in row] for row in channel.chances]
    if len(rows) != len(channel.inputs) or len(rows) < 2:
        raise PrivacyError("The table does not have one row for each of at least two values.")
    for row in rows:
        if len(row) != len(channel.outputs) or min(row) < 0 or sum(row) != channel.total:
            raise PrivacyError("A row of the table does not sum to one over the answers.")
    budgets = budgets_of([channel.epsilon])
    widest = Fraction(1)
    for column in zip(*rows, strict=True):
        most, least = max(column), min(column)
        if most and not least:
            return Verdict(budgets, (math.inf,), exact=True, neighbours="local")
        if most * widest.denominator > least * widest.numerator:
            widest = Fraction(most, least)
    return Verdict(budgets, (_logarithm(widest),), exact=True, neighbours="local")


def _logarithm(ratio: Fraction) -> Fraction:
    """Ln of a ratio from 1, rounded up: the next number of 60 digits, or one above it."""
    if ratio == 1:
        return Fraction(0)
    spare = max(0, len(str(ratio.denominator)) - len(str(ratio.numerator - ratio.denominator)))
    with decimal.localcontext() as context:
        context.prec = _DIGITS + spare + 10
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        # The quotient is off by one part in 10^prec, so its logarithm by that much: where the ratio
        # is near 1 and the logarithm small, the spare digits make up for it.
        quotient = decimal.Decimal(ratio.numerator) / decimal.Decimal(ratio.denominator)
        found = quotient.ln()
        return Fraction(found) * (1 + Fraction(1, 10**_DIGITS))
