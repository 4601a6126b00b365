"""A rehearsal: a question led to its answer without data, so that a plan says what a release does.

Who is there has budgets, and no values. Where the range would be drawn, something is answered that
it might be; where sums would be drawn, they come without noise. All that a plan reads of it is what
budgets and people decide: who pays what, weights, noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np

from epsilons import tally
from epsilons.allocation.declared import declared_of
from epsilons.budgets import Budgets
from epsilons.ladder import Ladder, keys
from epsilons.mechanisms import Selection, TheLine, added_up
from epsilons.release import Scalar
from epsilons.statistics.call import Call
from epsilons.statistics.locate import DEVIATION, ROUNDS
from epsilons.statistics.mean import Mean
from epsilons.statistics.outer import HIGH
from epsilons.statistics.steps import Answer, Draw
from epsilons.tally import line
from epsilons.tally.counted import Faults, Names, check_size
from epsilons.tally.grid import HALF
from epsilons.tally.lines import Lines
from epsilons.types import Floats, Integers

__all__ = ["Rehearsal", "rehearse"]

_ONE: Final = int(line.index_of(line.rounded(np.array([1.0])))[0])
"""The bucket of 1, where the middle of the data is said to be."""

_OCTAVE: Final = line.CELLS
_RINGS: Final = 24
"""So many radii above the smallest the deviation is said to be: a hundred buckets, and one of
fourteen deviations is the distance of the mean from 0."""


class _Absent(tally.Rows):
    """People with budgets and without values.

    Args:
        budgets: theirs.
        ladder: the public rungs, if budgets are private.
    """

    def __init__(self, budgets: Budgets, ladder: Ladder | None) -> None:
        self._levels = budgets.levels if ladder is None else ladder.of(budgets.levels)
        self._counts = budgets.counts
        self._ladder = ladder

    def line(self, window: line.Window | None = None) -> line.Line:
        """The people of each level, all of them at 0."""
        none = np.zeros(len(self._levels), dtype=np.int64)
        groups = line.LineGroups(
            keys=line.coarse(self._levels),
            budgets=self._levels,
            cells=none.astype(np.float64) if window is None else none,
            people=self._counts,
            faults=Faults(),
        )
        if self._ladder is None:
            return line.checked_line(groups, window, Names(), "error")
        return line.line_on_rungs(groups, window, self._ladder)

    def lines(self) -> Lines:
        """The same line: there is nothing to read."""
        return Lines(self, None)

    def count(self, ask: tally.Ask) -> tally.Tally:
        """The people of each level, all of them in the middle of the range."""
        found, place = np.unique(keys(self._levels), return_inverse=True)
        levels = np.full(len(found), np.inf)
        np.minimum.at(levels, place, self._levels)
        people = np.zeros(len(found), dtype=np.int64)
        np.add.at(people, place, self._counts)
        check_size(people, Names(), tally.GRID)
        there = levels > 0.0 if self._ladder is not None else levels >= 0.0
        levels, people = levels[there], people[there]
        squares = np.zeros_like(people) if ask.what == "squares" else None
        return tally.Tally.of_numbers(levels, people, HALF * people, squares)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """How a mean on a range that has to be found would go.

    Attributes:
        estimate: what would be returned, whatever its value.
        looks: how often the data would be looked at to find the range.
        levels: the budgets of the people.
        counts: how many have each, or are expected to.
        on_range: what a person of each spends before the mean: on the range, and on a count.
        on_mean: what a person of each spends on the mean.
        first: what the first selection was drawn from.
    """

    estimate: Scalar
    looks: int
    levels: Floats
    counts: Integers
    on_range: Floats
    on_mean: Floats
    first: Selection

    @property
    def margin(self) -> Any:
        """How far the truth may be: of its own kind for each way."""
        return self.estimate.margin

    @property
    def width(self) -> float:
        """Of the range."""
        lo, hi = self.estimate.bounds
        return hi - lo


def rehearse(
    question: Mean, budgets: Budgets, neighbours: str, cap: float | None, *, close: bool
) -> Rehearsal:
    """Lead a question to its answer, whoever is there.

    Args:
        question: a mean on a range that has to be found.
        budgets: the people, or for add/remove a guess.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends, if the caller said so.
        close: whether values lie so close together that one look is not enough.

    Raises:
        BudgetError: there are too few people for these budgets.
    """
    declared = declared_of(None, budgets, cap) if neighbours == "add-remove" else None
    ladder = None if declared is None else declared.ladder
    call = Call(None, None, None, neighbours, declared)
    rows = _Absent(budgets, ladder)
    steps = question.steps(rows, call)
    draws: list[Draw] = []
    sent: Any = None
    while True:
        try:
            step = steps.send(sent)
        except StopIteration as end:
            return _rehearsal(end.value, draws, rows)
        if not isinstance(step, Draw):
            raise TypeError("a range is found without coins")
        draws.append(step)
        # The finest picture is fine enough for anything.
        sent = _said(step, close=close and _looks(draws) < ROUNDS)


def _said(draw: Draw, *, close: bool) -> Any:
    """What might have been drawn."""
    mechanism, total = draw.mechanism, draw.total
    if not isinstance(mechanism, Selection):
        return tuple(total.tolist()) if isinstance(total, np.ndarray) else total
    candidates = mechanism.candidates
    if mechanism.seeks == DEVIATION:
        return candidates.first if close else candidates.first + _RINGS
    middle = _ONE if isinstance(candidates, TheLine) else candidates.last // 2
    return middle + _OCTAVE if mechanism.seeks == HIGH and not close else middle


def _looks(draws: list[Draw]) -> int:
    """How often the data were looked at to find a range: two selections each."""
    return sum(isinstance(draw.mechanism, Selection) for draw in draws) // 2


def _rehearsal(answer: Answer, draws: list[Draw], rows: _Absent) -> Rehearsal:
    """What was rehearsed, by the levels of the last draw."""
    last, before = draws[-1], draws[:-1]
    counted = rows.count(tally.Ask("numbers", (0.0, 1.0)))
    levels = last.mechanism.levels
    counts = np.zeros(len(levels), dtype=np.int64)
    np.add.at(counts, np.searchsorted(levels, counted.levels), counted.counts)
    parts = [_losses_on(draw, levels) for draw in before]
    first = next(each.mechanism for each in before if isinstance(each.mechanism, Selection))
    return Rehearsal(
        estimate=cast(Scalar, answer.estimate),
        looks=_looks(before),
        levels=levels,
        counts=counts,
        on_range=np.array([float(loss) for loss in added_up(parts)]),
        on_mean=np.array([float(loss) for loss in last.mechanism.losses]),
        first=first,
    )


def _losses_on(draw: Draw, levels: Floats) -> tuple[Fraction | float, ...]:
    """What a person of each of these levels loses to a draw that may speak of coarser ones."""
    own, losses = draw.charged
    place = np.searchsorted(own, levels, side="right") - 1
    return tuple(losses[at] for at in place.tolist())
