"""Exact privacy losses: dispatch on the kind of mechanism, and channels of the local model."""

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

# One checker for every kind of mechanism.

_MANY: Final = 128
"""If there is more than one law, each is evaluated at all points up to this distance from 0."""

_TOSSED: Final = ("diffusion", "reduction")
"""Kinds that always sample people; sums and cells declare sampling by their `keep`."""


def exact(mechanism: object) -> Verdict:
    """Compute the privacy loss of a person of each level from what a mechanism declares.

    What it checks: that everyone's loss is at most their budget, recomputed with rational numbers
    from integer weights, the sensitivity of this kind of mechanism, and the pieces of the noise
    laws; that the mechanism's statements agree with its kind; that laws state the probabilities of
    the pieces that they declare, at about a thousand points; that a composition holds as many
    stages as were charged, and each spends what it was charged.

    What it does not check: that draws follow the laws and that totals move as little as declared,
    which `draws` tests; nor the path from rows to totals.

    Args:
        mechanism: for instance `release.mechanism`. Its `kind` selects the checker.

    Returns:
        The verdict: losses next to budgets.

    Raises:
        PrivacyError: the kind of the mechanism is unknown, the mechanism contradicts its kind, or
            this checker cannot bound the losses of one of its laws.
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
    """Composition: each person's losses add up over the stages, which must match the charges."""
    budgets = budgets_of(mechanism.levels)
    stages, charges = tuple(mechanism.stages), tuple(mechanism.charges)
    if not stages or len(stages) != len(charges):
        raise PrivacyError(
            f"{len(charges)} stages were drawn and charged, and the mechanism holds {len(stages)}."
        )
    verdicts = [exact(stage) for stage in stages]
    if any(verdict.budgets != budgets for verdict in verdicts):
        raise PrivacyError("The stages do not refer to the same people.")
    if len({verdict.neighbours for verdict in verdicts}) > 1:
        raise PrivacyError("The stages do not refer to the same change of one person.")
    for stage, verdict, charge in zip(stages, verdicts, charges, strict=True):
        if len(charge) != len(budgets):
            raise PrivacyError("The charges do not refer to the same people as the stages.")
        # With sampling the recomputed loss is a bound, which may be below the charge.
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
    """Parallel composition: the loss of a level is the largest over the groups that have it.

    A person is in one group, and loses what its mechanism spends. Group membership is public, so
    replacing a person's value leaves them in their group.
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
    """Whether a stage samples people."""
    return stage.kind in _TOSSED or getattr(stage, "keep", None) is not None


def _reduced(mechanism: Any) -> Verdict:
    """Noisy counts of octaves, then a mechanism on slots with public budgets, one per person."""
    counted, slots = exact(mechanism.counts_stage), exact(mechanism.bounded)
    if (counted.neighbours, slots.neighbours) != ("add-remove", "replace"):
        raise PrivacyError("People must be counted under add/remove, and slots replaced.")
    if counted.budgets != budgets_of(mechanism.levels):
        raise PrivacyError("The stages do not refer to the same people.")
    cells = [operator.index(each) for each in mechanism.counts_stage.cell_of]
    place = [operator.index(each) for each in mechanism.place]
    if len(place) != len(cells):
        raise PrivacyError("The mechanism does not give each rung one level of slots.")
    seated = {(cell, at) for cell, at in zip(cells, place, strict=True) if at >= 0}
    # Each level of slots belongs to one octave: a level without people would go uncharged.
    if sorted(at for _, at in seated) != list(range(len(slots.budgets))):
        raise PrivacyError("Not every level of slots belongs to the people of one cell.")
    counted_cells = [cell for cell, _ in seated]
    # The number of slots comes from a noisy count, and is charged with that count.
    if len(set(counted_cells)) < len(counted_cells) or min(counted_cells, default=0) < 0:
        raise PrivacyError("The slots of some people come from no count of theirs.")
    pairs = zip(counted.losses, place, strict=True)
    losses = tuple(first + (slots.losses[at] if at >= 0 else Fraction(0)) for first, at in pairs)
    return Verdict(counted.budgets, losses, exact=False, neighbours="add-remove")


def _counted(mechanism: Any) -> Verdict:
    """Counts: a person moves the count of their own cell by one, and no other count."""
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
"""The checker for each kind that a mechanism may declare."""


# The exact privacy loss of a local randomizer, by enumeration of all its answers.
#
# The checker gets a table: for each value that a person may have, the probability of each answer
# as an integer over a common total. It assumes nothing about the table, uses only integers and
# certified logarithms, and shares no code with the randomizers.

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
        """The probability of each output times `total`, an integer; one row for each input."""

    @property
    def total(self) -> int:
        """The sum of every row."""


def exact_channel(channel: CheckedChannel) -> Verdict:
    """Compute the privacy loss of a local randomizer from its table of probabilities.

    Args:
        channel: for instance `mechanism.channel(epsilon)` of a mechanism of `epsilons.local`.

    Returns:
        The verdict: the largest log-ratio of the probabilities of one answer under two values, to
        60 digits, rounded up; infinite if an answer is possible under one value only.

    Raises:
        PrivacyError: the rows of the table are not probabilities.
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
    """Natural logarithm of a ratio ≥ 1, rounded up with a relative error of about 10⁻⁶⁰."""
    if ratio == 1:
        return Fraction(0)
    spare = max(0, len(str(ratio.denominator)) - len(str(ratio.numerator - ratio.denominator)))
    with decimal.localcontext() as context:
        context.prec = _DIGITS + spare + 10
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        # The quotient has a relative error of 10^−prec, so its logarithm has that absolute error.
        # Where the ratio is near 1 and the logarithm small, the spare digits make up for it.
        quotient = decimal.Decimal(ratio.numerator) / decimal.Decimal(ratio.denominator)
        found = quotient.ln()
        return Fraction(found) * (1 + Fraction(1, 10**_DIGITS))
