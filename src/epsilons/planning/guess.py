"""A guess of the spread: what it buys if it is right, and what it costs if it is wrong."""

from __future__ import annotations

from typing import NamedTuple

from epsilons.budgets import Budgets
from epsilons.planning.sides import best_of
from epsilons.report.plan_data import GuessRow
from epsilons.risk.goals import Goal

__all__ = ["Guess", "guess_of"]


class Guess(NamedTuple):
    """What a guess of the spread does to the best method, in data units.

    Attributes:
        cap: the most that anyone spends with it.
        rmse: the typical error with it, if it is right.
        worst: the typical error with it, in the worst case over all data.
        plain_cap: the most that anyone spends without it.
        plain_rmse: the typical error without it, for the same data.
        plain_worst: the typical error without it, in the worst case.
    """

    cap: float
    rmse: float
    worst: float
    plain_cap: float
    plain_rmse: float
    plain_worst: float

    def as_row(self) -> GuessRow:
        """As plain data."""
        return GuessRow(
            cap=self.cap,
            rmse=self.rmse,
            worst=self.worst,
            plain_cap=self.plain_cap,
            plain_rmse=self.plain_rmse,
            plain_worst=self.plain_worst,
        )


def guess_of(
    budgets: Budgets,
    goal: Goal,
    bounds: tuple[float, float],
    neighbours: str,
    cap: float | None,
) -> Guess | None:
    """What the guess of a goal buys and costs; None if there is none.

    Args:
        budgets: the people, or for add/remove a guess.
        goal: with a guess of the spread.
        bounds: the range of the values.
        neighbours: what counts as a change of one person.
        cap: for add/remove, the most that anyone spends, if the caller said so.
    """
    if not goal.guessed:
        return None
    width, found = bounds[1] - bounds[0], []
    for asked in (goal, goal.worst):
        weighing, most = best_of(budgets, asked, neighbours, cap)
        found += [most, *(width * each.rmse(weighing) for each in (goal, goal.worst))]
    return Guess(*found)
