"""The way of soft cells: everyone divides one unit, and each cell is a weighted sum with noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import replace
from typing import Any, ClassVar, Final, get_args

from epsilons import tally, words
from epsilons.allocation import allocate_for
from epsilons.budgets import Budgets
from epsilons.mechanisms import CellSums, build_histogram
from epsilons.release import ByLevel, Pair, Scalar
from epsilons.risk.goals import CellsGoal
from epsilons.risk.soft import AnsweredMoments, RatioMoments, SoftMoments, WeighedMoments
from epsilons.statistics.call import Call
from epsilons.statistics.designs import Design, Known, cell_design
from epsilons.statistics.people import counted_first
from epsilons.statistics.question import Question, Sentences
from epsilons.statistics.steps import Answer, Draw, Steps
from epsilons.types import SoftMethod

__all__ = ["OPEN", "RULES", "SoftQuestion", "closed", "not_taken", "opened"]

RULES: Final = ("optimal", "threshold", "uniform", "proportional")
"""The rules for soft cells."""

OPEN: Final = ("transformed",)
"""The methods under add/remove."""

_SLACK: Final = 16.0 / tally.GRID
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


def closed(asked: SoftQuestion, counted: tally.Tally, call: Call) -> Steps:
    """People and budgets are public: noise that sums to zero, as units do.

    Those who did not answer, if they are left out, are one more cell.
    """
    counted = call.part(counted)
    budgets = Budgets.of_levels(counted.levels, counted.counts)
    goal = replace(asked.goal, cells=counted.cells.shape[1])
    allocation = allocate_for(budgets, goal, asked.method)
    mechanism = build_histogram(allocation, unit=counted.unit)
    drawn = yield Draw(mechanism, mechanism.total(counted))
    margin = WeighedMoments(
        mechanism.weighing,
        mechanism.slack + _SLACK,
        mechanism.slack,
        mechanism.estimates(drawn),
    )
    estimate, risk = asked.answered(AnsweredMoments(margin) if asked.excludes else margin)
    return Answer(
        estimate=estimate,
        method=allocation.method,
        n=allocation.n,
        risk=risk,
        exact=False,
        spent=ByLevel(allocation.levels, allocation.spent, allocation.counts),
    )


def opened(asked: SoftQuestion, counted: tally.Tally, call: Call) -> Steps:
    """People are private: perhaps they are counted, then each cell has noise of its own."""
    counted = call.part(counted)
    goal = asked.goal

    def choose(known: Known) -> Design[CellSums]:
        return cell_design(known, goal, unit=counted.unit)

    people = yield from counted_first(call.terms, goal, choose, counted)
    chosen = choose(people.known)
    mechanism = chosen.mechanism
    drawn: Any = yield Draw(mechanism, mechanism.total(counted))
    margin = RatioMoments(
        drawn=mechanism.counts(drawn),
        scale=mechanism.scale,
        slack=_SLACK,
        largest=float(mechanism.weights.max()),
        equal=chosen.equal,
        counted=people.level_count(mechanism.weights),
    )
    estimate, risk = asked.answered(margin)
    n = people.number(chosen, margin.total)
    return Answer(
        estimate=estimate,
        method=chosen.method,
        n=n,
        n_is_noisy=n is not None,
        risk=risk,
        exact=False,
        spent=people.spending(mechanism.losses),
        expected=people.expected(n),
    )
