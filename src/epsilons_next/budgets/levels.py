"""How much of everybody's ε a question may use, and what else is public of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from epsilons_next.checks import finite
from epsilons_next.errors import ArgumentError

__all__ = ["Budgets", "Counts", "proportions"]


@dataclass(frozen=True)
class Counts:
    """How many people are in each class that is asked. It is public who takes part.

    Args:
        units: units of survey weight; without weights, people.
        people: how many persons.
        squares: the sum of everybody's squared units.
        most: the most units of one person.
        rounding: how far rounding the weights moves a mean over everyone asked, of the range.
    """

    units: tuple[int, ...]
    people: tuple[int, ...]
    squares: tuple[float, ...]
    most: int
    rounding: float


@dataclass(frozen=True)
class Budgets:
    """How much of everybody's ε a question may use, and how many they are, if that is public.

    Args:
        offered: for each class that is asked, how much one unit of theirs may lose.
        counts: how many they are; None where it is secret who takes part.
    """

    offered: tuple[float, ...]
    counts: Counts | None

    @property
    def weighted(self) -> bool:
        """Whether people have survey weights."""
        return self.counts is not None and self.counts.units != self.counts.people


def proportions(parts: Sequence[float] | None, number: int) -> list[Fraction]:
    """Return how much each of several questions is offered, in proportion.

    Raises:
        ArgumentError: these are not so many numbers above 0, near enough to each other.
    """
    if parts is None:
        return [Fraction(1)] * number
    if not isinstance(parts, (list, tuple)) or len(parts) != number:
        raise ArgumentError(f"parts: one number for each question, {number} in all, as in [2, 1].")
    each = [finite("parts", part) for part in parts]
    if min(each) <= 0.0 or max(each) > 1e6 * min(each):
        raise ArgumentError("parts: numbers above 0, of which none is a million times another.")
    return [Fraction(part) for part in each]
