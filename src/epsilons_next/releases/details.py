"""Everything that is public of a release, for who must sign it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from epsilons_next.inference.rows import Reading, Row
from epsilons_next.releases.facts import Facts
from epsilons_next.releases.numbers import limit, loss, times
from epsilons_next.releases.text import holds, numbers, privacy

__all__ = ["details"]

MOST = 30
"""So many limits are listed; the others are put together."""


def details(rows: Sequence[Row], facts: Facts, reading: Reading, asked: Reading) -> str:
    """Return the numbers, what each limit cost, a paragraph to copy, and the mechanism."""
    parts = [
        numbers(rows, facts, reading),
        _spending(facts),
        _paragraph(rows, facts, reading, asked),
    ]
    source = "the system" if facts.private else "a seed: this is no private release"
    parts.append(f"Mechanism: {facts.method}. Exact integer noise; randomness from {source}.")
    return "\n\n".join(textwrap.fill(part, 101) if "\n" not in part else part for part in parts)


def _spending(facts: Facts) -> str:
    """A table of limits, how many people have them, and what one of them has spent."""
    lines = [f"{'limit ε':>10}  {'people':>12}  {'this release':>12}  {'in all by then':>14}"]
    for each in facts.spending[:MOST]:
        people = "secret" if each.people is None else f"{each.people:,}"
        lines.append(
            f"{limit(each.limit):>10}  {people:>12}  {loss(each.lost):>12}  {loss(each.spent):>14}"
        )
    if len(facts.spending) > MOST:
        lines.append(f"… {len(facts.spending) - MOST:,} more: release.spent")
    return "\n".join(lines)


def _paragraph(rows: Sequence[Row], facts: Facts, reading: Reading, asked: Reading) -> str:
    """What a lawyer needs, in one paragraph."""
    if facts.limits[0] == math.inf:
        return f"To copy: {privacy(facts)}."
    exempt = " (not if their limit is ∞: then their record is public)" * facts.exempt
    what = "a person's answers" if facts.public else "whether a person took part, and their answers"
    change = "answered anything else" if facts.public else "not taken part"
    return (
        "To copy: These numbers were published under differential privacy (pure ε, for each "
        f"person). Of whom: {facts.who}. Protected is {what}: nobody who sees the numbers, "
        "whatever else they know, can tell much better than without them, because every result "
        f"would have been nearly as likely if the person had {change}{exempt}, at most "
        f"{times(facts.spent)} times more or less. Each person named a limit ε of their own; the "
        f"release was {privacy(facts)}. About the numbers: each interval "
        f"{holds(rows[:1], facts, reading, asked)}."
    )
