"""What a question is told of people: how much of everybody's ε it may use, and what is public."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Budgets", "Counts"]


@dataclass(frozen=True)
class Counts:
    """How many people are in each class that is asked. It is public who takes part.

    Args:
        units: units of survey weight; without weights, people.
        people: how many persons.
        squares: the sum of everybody's squared units.
        most: the most units of one person.
        rounding: how far rounding the weights moves a mean over everyone asked, of the range.
        one: the survey weight of one unit.
    """

    units: tuple[int, ...]
    people: tuple[int, ...]
    squares: tuple[float, ...]
    most: int = 1
    rounding: float = 0.0
    one: float = 1.0


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
