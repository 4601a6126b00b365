"""Every kind of mechanism, read by the checker that fits it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from epsilons.errors import PrivacyError
from epsilons.verify.additive import exact_additive, rate_of
from epsilons.verify.pairs import pair_losses
from epsilons.verify.selection import diffused_losses, selection_losses
from epsilons.verify.verdict import Verdict


def exact(mechanism: Any) -> Verdict:
    """Compute the loss of a person of each level, from the laws that a mechanism draws from.

    Args:
        mechanism: for instance `release.mechanism`. It is read by what it has: `stages` (their
            losses add up), a `matrix` (two sums with a pair of noises, under add/remove), a
            `cell_of` each rung (counts of people, under add/remove), `candidates` (a selection),
            `crossings` (people who are kept by coins, and asked until something is crossed), a
            `bounded` mechanism for slots that people are drawn for, or otherwise one law for
            weighted integer sums.

    Returns:
        The verdict: losses beside budgets.

    Raises:
        PrivacyError: the law is not one whose losses this checker can bound.
    """
    if hasattr(mechanism, "bounded"):
        return _reduced(mechanism)
    if hasattr(mechanism, "stages"):
        return _composed(mechanism)
    if hasattr(mechanism, "candidates"):
        return Verdict(_budgets(mechanism.levels), selection_losses(mechanism), exact=False)
    if hasattr(mechanism, "crossings"):
        return Verdict(_budgets(mechanism.levels), diffused_losses(mechanism), exact=False)
    if hasattr(mechanism, "matrix"):
        return Verdict(_budgets(mechanism.levels), pair_losses(mechanism), exact=True)
    if hasattr(mechanism, "cell_of"):
        return Verdict(_budgets(mechanism.levels), _counted(mechanism), exact=True)
    return exact_additive(mechanism)


def _composed(mechanism: Any) -> Verdict:
    """Losses of the stages add up, person by person."""
    budgets = _budgets(mechanism.levels)
    verdicts = [exact(stage) for stage in mechanism.stages]
    if any(verdict.budgets != budgets for verdict in verdicts):
        raise PrivacyError("The stages do not speak of the same people.")
    losses = tuple(
        sum(each, Fraction(0))
        for each in zip(*(verdict.losses for verdict in verdicts), strict=True)
    )
    return Verdict(budgets, losses, exact=all(verdict.exact for verdict in verdicts))


def _reduced(mechanism: Any) -> Verdict:
    """Counts of octaves, and a mechanism for public budgets on slots, of which a person has one."""
    counted = exact(mechanism.counts_stage)
    slots = exact(mechanism.bounded).losses
    places = zip(counted.losses, mechanism.place.tolist(), strict=True)
    losses = tuple(first + (slots[at] if at >= 0 else Fraction(0)) for first, at in places)
    return Verdict(counted.budgets, losses, exact=False)


def _counted(mechanism: Any) -> tuple[Fraction | float, ...]:
    """A person moves the count of their cell by one, and no other."""
    rates = [rate_of(law) for law in mechanism.laws]
    cells = [int(cell) for cell in mechanism.cell_of]
    if len(cells) != len(mechanism.levels) or max(cells, default=-1) >= len(rates):
        raise PrivacyError("The mechanism does not give each rung one cell.")
    return tuple(rates[cell] if cell >= 0 else Fraction(0) for cell in cells)


def _budgets(levels: Sequence[float]) -> tuple[Fraction | float, ...]:
    return tuple(float(x) if math.isinf(x) else Fraction(float(x)) for x in levels)
