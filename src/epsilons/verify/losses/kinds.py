"""Exact privacy losses: a checker for each kind of mechanism, and for local randomizers."""

from __future__ import annotations

import decimal
import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Protocol

from epsilons.errors import PrivacyError
from epsilons.loading import later
from epsilons.verify.losses.laws import NEAR, one_number
from epsilons.verify.verdict import Verdict, budgets_of

if TYPE_CHECKING:
    from epsilons.verify import table
else:
    table = later("epsilons.verify.table")

# One checker for each kind of mechanism.

_MANY: Final = 128
"""If there are several laws, each is evaluated at all points up to this distance from 0."""

_TOSSED: Final = ("diffusion", "reduction")
"""Kinds that always sample people; sums and cells declare sampling in `keep`."""


def exact(mechanism: object) -> Verdict:
    """Compute the privacy loss of a person at each level from a mechanism's declaration.

    What it checks: that everyone's loss is at most their budget. The losses are recomputed in
    rational numbers, from integer weights, the sensitivity of this kind of mechanism, and the
    pieces of the noise laws. The mechanism's fields must agree with its kind. The probabilities of
    laws must match their declared pieces at about a thousand points. The stages of a composition
    must match the recorded charges.

    What it does not check: whether draws follow the laws, and whether one person moves totals by at
    most the declared amount. `draws` tests both. The path from rows to totals is not checked here
    either.

    Args:
        mechanism: for example `release.mechanism`. Its `kind` selects the checker.

    Returns:
        The verdict, with the losses and the budgets.

    Raises:
        PrivacyError: the kind of the mechanism is unknown, the mechanism contradicts its kind, or
            this checker cannot bound the losses of one of its laws.

    Examples:
        >>> import epsilons as ep
        >>> hours, epsilon = [3.5, 8.0, 1.0, 6.5] * 50, [0.5, 1.0, 1.0, 2.0] * 50
        >>> release = ep.mean(hours, epsilon=epsilon, bounds=(0, 24), source=ep.Seeded(1))
        >>> verdict = ep.verify.exact(release.mechanism)
        >>> verdict.holds, verdict.exact
        (True, True)
    """
    kind = getattr(mechanism, "kind", None)
    if kind not in table.EXACT:
        known = ", ".join(map(repr, table.EXACT))
        raise PrivacyError(
            f"The mechanism must declare its `kind`, one of {known}: what a person can move in it "
            "follows from that."
        )
    return table.EXACT[kind](mechanism)


def composed_loss(mechanism: Any) -> Verdict:
    """Check a composition: each person's losses add up, and each stage must match its charge."""
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
        # With sampling the recomputed loss is an upper bound, which can be below the charge.
        within = operator.le if _tosses(stage) else operator.eq
        if not all(map(within, verdict.losses, charge)):
            raise PrivacyError("The loss of a stage is not what was charged for it.")
    losses = tuple(
        sum(each, Fraction(0))
        for each in zip(*(verdict.losses for verdict in verdicts), strict=True)
    )
    whole = all(verdict.exact for verdict in verdicts)
    return Verdict(budgets, losses, exact=whole, neighbours=verdicts[0].neighbours)


def parallel_loss(mechanism: Any) -> Verdict:
    """Check parallel composition: the loss at a level is its largest loss in any group.

    A person is in one group, and only the mechanism of that group affects them. Groups are public,
    so replacing a person's value does not change their group.
    """
    budgets = budgets_of(mechanism.levels)
    place = {budget: at for at, budget in enumerate(budgets)}
    if len(place) < len(budgets):
        raise PrivacyError("The levels of the mechanism are not distinct.")
    verdicts = [exact(part) for part in mechanism.parts if part is not None]
    if not verdicts:
        raise PrivacyError("The mechanism has no group that is drawn.")
    losses: list[Fraction | float] = [Fraction(0)] * len(budgets)
    for verdict in verdicts:
        if verdict.neighbours != "replace":
            raise PrivacyError("The mechanism of a public group must be under replace.")
        for budget, loss in zip(verdict.budgets, verdict.losses, strict=True):
            if budget not in place:
                raise PrivacyError("A group has a level that the whole mechanism does not have.")
            losses[place[budget]] = max(losses[place[budget]], loss)
    exactly = all(verdict.exact for verdict in verdicts)
    return Verdict(budgets, tuple(losses), exact=exactly, neighbours="replace")


def _tosses(stage: Any) -> bool:
    """Whether a stage samples people."""
    return stage.kind in _TOSSED or getattr(stage, "keep", None) is not None


def reduced_loss(mechanism: Any) -> Verdict:
    """Check a mechanism that counts people by octave of ε, and then fills a number of slots.

    The counts are noisy. The number of slots, and their budgets, are public. A person's loss is the
    loss of the count plus the loss of the mechanism on the slots.
    """
    counted, slots = exact(mechanism.counts_stage), exact(mechanism.bounded)
    if (counted.neighbours, slots.neighbours) != ("add-remove", "replace"):
        raise PrivacyError("Counts must be under add/remove, and slots under replace.")
    if counted.budgets != budgets_of(mechanism.levels):
        raise PrivacyError("The stages do not refer to the same people.")
    cells = [operator.index(each) for each in mechanism.counts_stage.cell_of]
    place = [operator.index(each) for each in mechanism.place]
    if len(place) != len(cells):
        raise PrivacyError("The mechanism does not give each rung one level of slots.")
    seated = {(cell, at) for cell, at in zip(cells, place, strict=True) if at >= 0}
    # Each level of slots must belong to exactly one octave. A person's loss includes only the slots
    # of their own octave, so the loss of any other level of slots would be charged to nobody.
    if sorted(at for _, at in seated) != list(range(len(slots.budgets))):
        raise PrivacyError("Not every level of slots belongs to the people of one cell.")
    counted_cells = [cell for cell, _ in seated]
    # The number of slots comes from a noisy count and is charged with that count.
    if len(set(counted_cells)) < len(counted_cells) or min(counted_cells, default=0) < 0:
        raise PrivacyError("The slots of some people come from no count of theirs.")
    pairs = zip(counted.losses, place, strict=True)
    losses = tuple(first + (slots.losses[at] if at >= 0 else Fraction(0)) for first, at in pairs)
    return Verdict(counted.budgets, losses, exact=False, neighbours="add-remove")


def counted_loss(mechanism: Any) -> Verdict:
    """Check counts: a person moves the count of their own cell by one, and no other count."""
    budgets = budgets_of(mechanism.levels)
    laws = mechanism.laws
    near = NEAR if len(laws) == 1 else _MANY
    rates = [one_number(law, near).loss(1) for law in laws]
    cells = [operator.index(cell) for cell in mechanism.cell_of]
    if len(cells) != len(budgets) or max(cells, default=-1) >= len(rates):
        raise PrivacyError("The mechanism does not give each rung one cell.")
    losses = tuple(rates[cell] if cell >= 0 else Fraction(0) for cell in cells)
    return Verdict(budgets, losses, exact=True, neighbours="add-remove")


# The exact privacy loss of a local randomizer, by enumeration of all its outputs.
#
# The checker gets a table: for each possible value of a person, the probability of each output
# times a common total, as an integer. It assumes nothing about the table, uses only integers and
# certified logarithms, and shares no code with the randomizers.

_DIGITS = 60


class CheckedChannel(Protocol):
    """A local randomizer as a table of probabilities."""

    @property
    def epsilon(self) -> float:
        """The budget that the randomizer must respect."""

    @property
    def inputs(self) -> Sequence[Any]:
        """The possible values of a person."""

    @property
    def outputs(self) -> Sequence[Any]:
        """The possible outputs."""

    @property
    def chances(self) -> Sequence[Sequence[int]]:
        """The probability of each output times `total`, an integer; one row for each input."""

    @property
    def total(self) -> int:
        """The sum of every row."""


def exact_channel(channel: CheckedChannel) -> Verdict:
    """Compute the privacy loss of a local randomizer from its table of probabilities.

    Args:
        channel: for example `mechanism.channel(epsilon)` of a mechanism in `epsilons.local`.

    Returns:
        The verdict. The loss is the largest log-ratio of the probabilities of one output for two
        values, to 60 digits, rounded up; infinite if an output is possible for one value only.

    Raises:
        PrivacyError: the rows of the table are not probabilities.

    Examples:
        >>> import epsilons as ep
        >>> ep.verify.exact_channel(ep.local.Bit().channel(0.5)).holds
        True
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
    """Return the natural logarithm of a ratio ≥ 1, rounded up; relative error about 10⁻⁶⁰."""
    if ratio == 1:
        return Fraction(0)
    spare = max(0, len(str(ratio.denominator)) - len(str(ratio.numerator - ratio.denominator)))
    with decimal.localcontext() as context:
        context.prec = _DIGITS + spare + 10
        context.Emax, context.Emin = decimal.MAX_EMAX, decimal.MIN_EMIN
        # The quotient has a relative error of 10^−prec, so its logarithm has that absolute error.
        # If the ratio is near 1, the logarithm is small, and the extra digits cover the relative
        # error.
        quotient = decimal.Decimal(ratio.numerator) / decimal.Decimal(ratio.denominator)
        found = quotient.ln()
        return Fraction(found) * (1 + Fraction(1, 10**_DIGITS))
