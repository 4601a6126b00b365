"""The way of soft cells: everyone divides one unit, and each cell is a weighted sum with noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import replace
from typing import Any, ClassVar, Final, get_args

from epsilons import door, words
from epsilons.budgets.allocation import Allocation
from epsilons.budgets.allocation.declared import Declared
from epsilons.draws.mechanisms import CellSums, CellTable, build_histogram
from epsilons.questions import ways
from epsilons.questions.designs import Design, Known, cell_design, cells_of
from epsilons.questions.question import Call, Question, Sentences, Steps
from epsilons.questions.ways import Read
from epsilons.results.release import Pair, Scalar
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import CellsGoal
from epsilons.risk.moments import AnsweredMoments, RatioMoments, SoftMoments, WeighedMoments
from epsilons.types import SoftMethod

__all__ = ["OPEN", "RULES", "SoftQuestion", "closed", "not_taken", "opened"]

RULES: Final = ("optimal", "threshold", "uniform", "proportional")
"""The rules for soft cells."""

OPEN: Final = ("transformed",)
"""The methods under add/remove."""

_SLACK: Final = 16.0 / door.GRID
"""What grid, fold and the floors of cells may add to a share, and the lattice of open noise."""


class SoftQuestion(Question):
    """A question whose answer follows from shares of soft cells."""

    every_method: ClassVar[tuple[str, ...]] = get_args(SoftMethod)[1:]
    supposed: ClassVar[float | None] = 12.0**-0.5
    """Of values that are spread evenly."""

    @property
    @abstractmethod
    def goal(self) -> CellsGoal:
        """The errors of all cells are to be small."""

    def methods(self, neighbours: str) -> Collection[str]:
        """The names that `method` may have besides "auto"."""
        return RULES if neighbours == "replace" else OPEN

    def said(self, neighbours: str, treats: str) -> Sentences:
        """What the release says in words.

        Args:
            neighbours: what counts as a change of one person.
            treats: what becomes of values outside of the bounds.
        """
        protects = words.protected(neighbours)
        assumes = words.assumed(self.statistic, neighbours, self.assumption, some=self.excludes)
        if self.excludes:
            protects += words.hidden(groups=False, public=False, answers=True, where=False)
            treats += words.left_out(answers=True, groups=False, where=None)
        return Sentences(protects, assumes, treats)

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Weighted cells: of people who are public, or of people who are not."""
        counted = self.counted(rows, call)
        if call.neighbours == "add-remove":
            return opened(self, counted, call.terms)
        return closed(self, counted)

    @abstractmethod
    def answered(self, margin: SoftMoments) -> tuple[Pair | Scalar, float]:
        """The estimate, and its risk in data units."""


def not_taken(statistic: str, squared: str) -> dict[str, str]:
    """Why there are neither losses nor units here.

    Args:
        statistic: what is asked.
        squared: what the unit would be.
    """
    return {
        "loss": f"loss={{}} is not for a {statistic}, which minimizes mean squared errors: leave "
        "loss out.",
        "unit": f"unit: a {statistic} is in {squared}. Leave it out, and put it in title.",
    }


def closed(asked: SoftQuestion, counted: door.Tally) -> Steps:
    """People and budgets are public: noise that sums to zero, as units do.

    Those who did not answer, if they are left out, are one more cell.
    """

    def read(mechanism: CellTable, drawn: Any) -> Read:
        slack, shares = mechanism.slack, mechanism.estimates(drawn)
        margin = WeighedMoments(mechanism.weighing, slack + _SLACK, slack, shares)
        return Read(*asked.answered(AnsweredMoments(margin) if asked.excludes else margin))

    def build(allocation: Allocation) -> CellTable:
        return build_histogram(allocation, unit=counted.unit)

    goal = replace(asked.goal, cells=counted.cells.shape[1])
    return ways.replace(counted, goal, asked.method, build, read)


def opened(asked: SoftQuestion, counted: door.Tally, terms: Declared) -> Steps:
    """People are private: perhaps they are counted, then each cell has noise of its own."""

    def choose(known: Known) -> Design[CellSums]:
        return cell_design(known, asked.goal, unit=counted.unit)

    def read(chosen: Design[CellSums], counts: LevelCount | None, drawn: Any) -> Read:
        margin = RatioMoments(**cells_of(chosen, drawn, counts), slack=_SLACK)
        estimate, risk = asked.answered(margin)
        return Read(estimate, risk, total=margin.total)

    return ways.add_remove(counted, terms, asked.goal, choose, read)
