"""The exact privacy loss of a local randomizer, by enumeration of everything that it can answer.

The checker is handed a table: for each value that a person may have, the probability of each answer
as a whole number over a common total. It believes nothing about the table, uses integers and
certified logarithms only, and shares no code with the randomizers.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

from epsilons.errors import PrivacyError
from epsilons.verify.verdict import Verdict, budgets_of

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
