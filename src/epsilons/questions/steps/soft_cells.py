"""Soft cells: everyone divides one unit among cells, and noisy sums of cells are drawn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Final, get_args

from epsilons import door, words
from epsilons.draws.mechanisms import CellSums, CellTable, build_histogram
from epsilons.questions.question import UNWEIGHED, Call, Question, Sentences, Steps
from epsilons.questions.steps import grouping, ways
from epsilons.questions.steps.designs import Design, cell_design, cells_of
from epsilons.questions.steps.ways import Read
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import CellsGoal
from epsilons.risk.moments.forms import WeighedForms
from epsilons.risk.moments.margins import SoftMoments
from epsilons.risk.moments.tested import AnsweredTests, RatioTests, WeighedTests
from epsilons.types import SoftMethod

__all__ = ["SoftQuestion", "not_taken"]

_SLACK: Final = 16.0 / door.GRID
"""A bound on the rounding error of a share: from the grid of values, the means of rows, cells that
are rounded down, and the lattice of the noise."""


class SoftQuestion(Question):
    """The base class of questions that are answered from shares of soft cells.

    Attributes:
        truth: the estimated quantity, in words.
        moments: the quantities whose means are assumed to differ by at most δ between people with
            different budgets, in words, such as "values and their squares".
    """

    truth: ClassVar[str]
    moments: ClassVar[str]
    every_method: ClassVar[tuple[str, ...]] = get_args(SoftMethod)[1:]
    supposed: ClassVar[float | None] = 12.0**-0.5
    """The standard deviation of uniform values, as a fraction of the range."""

    @property
    @abstractmethod
    def goal(self) -> CellsGoal:
        """The error to minimize: the sum of squared errors of all cells."""

    def methods(self, neighbours: str) -> Collection[str]:
        """Return the names that `method` can have besides "auto"."""
        return grouping.METHODS if neighbours == "replace" else grouping.OPEN_METHODS

    def said(self, neighbours: str, treats: str) -> Sentences:
        """Return the sentences in which the release says what it protects and assumes.

        Args:
            neighbours: the neighbouring relation.
            treats: how values outside the bounds are treated.
        """
        protects = words.PROTECTED[neighbours]
        differ = f"{words.MEANS_DIFFER}, and so do the means of any combination of {self.moments}"
        assumes = words.assumed(
            self.truth, neighbours, self.assumption, differ=differ, some=self.excludes
        )
        if self.excludes:
            protects += words.hidden(groups=False, public=False, answers=True, where=False)
            treats += words.left_out(answers=True, groups=False, where=None)
        return Sentences(protects, assumes, treats)

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Return the generator of the draws of all cells, under replace or add/remove.

        Under replace, the noise of all cells sums to zero, because the true shares sum to 1. If
        people who did not answer are excluded, they are in one more cell. Under add/remove, each
        cell has independent noise.
        """
        counted = self.counted(rows, call)
        if call.neighbours == "add-remove":
            choose = partial(cell_design, goal=self.goal, unit=counted.unit)
            return ways.add_remove(counted, call.terms, self.goal, choose, self._of_sums)
        goal = replace(self.goal, cells=counted.cells.shape[1])
        build = partial(build_histogram, unit=counted.unit)
        return ways.replace(counted, goal, self.method, build, self._of_shares)

    def _of_shares(self, mechanism: CellTable, drawn: Any) -> Read:
        """Compute the estimate from a draw, under replace."""
        slack, shares = mechanism.slack, mechanism.estimates(drawn)
        own = (mechanism.weighing, slack + _SLACK, slack, shares)
        margin = AnsweredTests(WeighedTests(*own)) if self.excludes else WeighedForms(*own)
        return self.answered(margin)

    def _of_sums(self, chosen: Design[CellSums], counts: LevelCount | None, drawn: Any) -> Read:
        """Compute the estimate from a draw, under add/remove."""
        margin = RatioTests(**cells_of(chosen, drawn, counts), slack=_SLACK)
        return replace(self.answered(margin), total=margin.total)

    @abstractmethod
    def answered(self, margin: SoftMoments) -> Read:
        """Return the estimate that follows from the drawn cells, with its risk in data units."""


def not_taken(statistic: str, squared: str) -> dict[str, str]:
    """Return the reasons why these questions have no loss, no unit and no weights.

    Args:
        statistic: the name of the statistic.
        squared: the unit that the result would have, in words.
    """
    return {
        "loss": f"loss={{}} is not for a {statistic}, which minimizes mean squared errors: leave "
        "loss out.",
        "unit": f"unit: a {statistic} is in {squared}. Leave it out, and put it in title.",
        **UNWEIGHED,
    }
