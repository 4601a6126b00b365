"""The plan of a mean on a range that nobody knows: which range, what it costs, what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons import report, words
from epsilons.allocation.best import merged
from epsilons.allocation.declared import declared_of
from epsilons.allocation.split import TOO_OFTEN, best_split
from epsilons.budgets import Budgets
from epsilons.errors import BudgetError
from epsilons.loading import later
from epsilons.planning.asked import Asked
from epsilons.planning.options import (
    Option,
    by_about,
    error_words,
    hint_of,
    in_units,
    option,
    put_best_first,
    strictest_give_more,
)
from epsilons.planning.range_forecast import (
    ROUNDED_UP,
    RangeForecast,
    as_plain,
    range_forecast,
    sigma_of,
)
from epsilons.planning.rehearsal import rehearse
from epsilons.planning.sides import best_of
from epsilons.report.numbers import percent
from epsilons.report.phrases import related_words
from epsilons.risk.assumptions import Assumption
from epsilons.risk.goals import Goal, MeanGoal
from epsilons.risk.margins import holds_on_any_range
from epsilons.statistics.found_range import people_for_any as needed_for_any
from epsilons.statistics.found_range import people_for_gaussian as needed_for_gaussian
from epsilons.statistics.mean import Mean
from epsilons.statistics.outer import FARTHEST, best_share
from epsilons.tally import line
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["RangePlan", "range_plan"]

_LITTLE: Final = 0.05
_QUESTIONED: Final = 256
_MOST: Final = 2**32
"""People that are never expected: twice as many can be tallied."""


@dataclass(frozen=True, eq=False, repr=False)
class RangePlan(Asked):
    """A forecast of a mean on a range that has to be found.

    Attributes:
        forecasts: for values that are spread out, which one look is enough for, and for values that
            lie close together. If there are too few people, for as many as are needed.
        quantile: any shape: the low quantile that is asked for; the high one is one minus it.
        wider: any shape: the width of the range, as a multiple of the distance of the two.
        width: Gaussian shape: how wide the range is, in standard deviations, at most.
        failure: Gaussian shape: a bound on the probability that the range is wrong.
        people_needed: about how many people with budgets like these it takes; None if there are
            enough.
        budgets: the people, or for add/remove a guess.
        goal: what is assumed about the data, and which error is minimized.
        shape: "any" or "gaussian".
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends, if the caller said so.
    """

    forecasts: tuple[RangeForecast, ...]
    quantile: float | None
    wider: float | None
    width: float | None
    failure: float | None
    people_needed: int | None
    budgets: Budgets
    goal: MeanGoal
    shape: str
    neighbours: str
    cap: float | None

    @property
    def enough(self) -> bool:
        """Whether these people are enough; if not, replace refuses, and add/remove guesses."""
        return self.people_needed is None

    @property
    def advice(self) -> str:
        """One sentence on what to do."""
        if self.people_needed is not None:
            then = (
                "it would be refused"
                if self.neighbours == "replace"
                else "the range would be a guess"
            )
            return (
                f"Do not ask yet: with {self.budgets.n:,} people {then}. About "
                f"{self.people_needed:,} people with budgets like these would be enough, or give "
                "bounds=(lo, hi)."
            )
        part = percent(round(self.forecasts[0].share, 2))
        return f"Ask with bounds=None: {part} of what people spend goes into finding the range."

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """What could be assumed or asked for, and is not, the most helpful first; if enough."""
        if not self.enough:
            return ()
        now = self._error(self.forecasts[0])
        few = merged(self.budgets, _QUESTIONED)

        def of_goal(goal: Goal) -> float:
            asked = replace(self.goal, assumption=goal.assumption)
            return self._error(self._with(self.budgets, asked))

        def of_people(budgets: Budgets) -> float:
            return self._error(self._with(budgets, self.goal))

        return put_best_first(
            [
                self._known_range(now),
                *self._less_related(now, of_goal),
                *(by_about(self.goal, of_goal) if self.shape == "any" else ()),
                *strictest_give_more(few, of_people, of_people(few)),
            ]
        )

    @property
    def hint(self) -> str:
        """One sentence on what would help most."""
        if not self.enough:
            return (
                "What would help most: bounds=(lo, hi), a range that you can defend without "
                "looking at the data. Then nothing is spent on finding one, and these people are "
                "enough."
            )
        return hint_of(self.options, error_words(self.loss, self.confidence))

    def _rows(self) -> list[dict[str, Any]]:
        return [as_plain(each) for each in self.forecasts]

    def _in_a_line(self) -> str:
        enough = "enough people" if self.enough else f"{self.people_needed:,} people are needed"
        return f"mean of {self.budgets.n:,} people on a range that is to be found, {enough}"

    @property
    def warnings(self) -> list[str]:
        """What a reader must not overlook."""
        return [
            *report.weak_budgets(self.budgets.levels.tolist()),
            *report.few_at_each(self.goal.assumption.related, self.budgets.counts.tolist()),
        ]

    def sheet(self) -> report.Sheet:
        """What it says, in no form."""
        return said.range_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole plan as plain data."""
        assumption = self.goal.assumption
        return {
            "kind": "range plan",
            "statistic": "mean",
            "n": self.budgets.n,
            "shape": self.shape,
            "about": assumption.about,
            "related": assumption.related,
            "neighbours": self.neighbours,
            "assumption": words.planned_gaussian(self.neighbours)
            if self.shape == "gaussian"
            else words.planned(self.neighbours, assumption, found=True),
            "protects": words.protected(self.neighbours, range_is_known=False),
            "loss": self.loss,
            "confidence": self.confidence,
            "enough": self.enough,
            "people_needed": self.people_needed,
            "quantile": self.quantile,
            "wider": self.wider,
            "width": self.width,
            "failure": self.failure,
            "advice": self.advice,
            "options": [option._asdict() for option in self.options],
            "hint": self.hint,
            "warnings": self.warnings,
            "forecasts": self._rows(),
        }

    def _error(self, forecast: RangeForecast) -> float:
        return forecast.rmse if self.loss == "mse" else forecast.pac

    def _with(self, budgets: Budgets, goal: MeanGoal) -> RangeForecast:
        """The forecast for other people, or another goal, if one look is enough."""
        asked = _question(goal, self.shape)
        found = rehearse(asked, budgets, self.neighbours, self.cap, close=False)
        return range_forecast(found, asked, self.neighbours)

    def _known_range(self, now: float) -> Option:
        """What it would buy to know a range that is as wide."""
        goal, width = self.goal, 1.0
        if self.width is not None:
            goal, width = replace(goal, spread=min(1.0 / self.width, 0.5)), self.width
        then = in_units(goal, best_of(self.budgets, goal, self.neighbours, self.cap)[0], width)
        return option("if a range as wide as this were known", "bounds=(lo, hi)", now, then)

    def _less_related(self, now: float, error: Callable[[Goal], float]) -> list[Option]:
        """What it would buy if budgets told less of values, where that is proven."""
        asked = Assumption(self.goal.assumption.about, _LITTLE)
        if not holds_on_any_range(asked) or not self.goal.assumption.apart > _LITTLE:
            return []
        then = error(replace(self.goal, assumption=asked))
        how = f"if budgets go with values {related_words(_LITTLE)}"
        return [option(how, f"related={_LITTLE}", now, then)]


def range_plan(budgets: Budgets, asked: Mean, neighbours: str, cap: float | None) -> RangePlan:
    """Forecast a mean on a range that has to be found.

    Args:
        budgets: the people, or for add/remove a guess.
        asked: the question, of no column.
        neighbours: "replace" or "add-remove".
        cap: for add/remove, the most that anyone spends, if the caller said so.

    Raises:
        ArgumentError: that is not proven for such data.
        BudgetError: not even as many people as can be tallied would find a range.
    """
    asked.check(neighbours)
    goal = asked.goal
    levels, counts = _coarse(budgets, neighbours, cap)
    gaussian = asked.shape == "gaussian"
    needed = (_needed_gaussian if gaussian else _needed_any)(levels, counts, goal, neighbours)
    people = budgets
    if needed is not None:
        if needed > _MOST:
            raise BudgetError(
                "epsilon is too small for any number of people to find the range of the values: "
                "give bounds=(lo, hi)."
            )
        more = np.ceil(budgets.counts * (needed / budgets.n)).astype(np.int64)
        people = Budgets.of_levels(budgets.levels, more)
        levels, counts = _coarse(people, neighbours, cap)
    found = [rehearse(asked, people, neighbours, cap, close=close) for close in (False, True)]
    first = found[0]
    quantile = wider = width = failure = None
    if gaussian:
        width = ROUNDED_UP * first.width / sigma_of(first)
        failure = best_split(levels, counts, neighbours=neighbours).failure
    else:
        low, high = first.first.odds
        quantile, wider = low / (low + high), first.width
    return RangePlan(
        forecasts=tuple(range_forecast(each, asked, neighbours) for each in found),
        quantile=quantile,
        wider=wider,
        width=width,
        failure=failure,
        people_needed=needed,
        budgets=budgets,
        goal=goal,
        shape=asked.shape,
        neighbours=neighbours,
        cap=cap,
    )


def _question(goal: MeanGoal, shape: str) -> Mean:
    """The question that is planned: of no column."""
    said: dict[str, Any] = {
        "shape": shape,
        "about": goal.assumption.about,
        "related": goal.assumption.related,
        "loss": goal.loss,
        "confidence": goal.confidence,
    }
    return Mean([], bounds=None, **said)


def _coarse(budgets: Budgets, neighbours: str, cap: float | None) -> tuple[Floats, Integers]:
    """The levels that find a range, and their people."""
    if neighbours == "replace":
        place = np.unique(line.coarse(budgets.levels), return_index=True, return_inverse=True)
        levels, counts = budgets.levels[place[1]], np.zeros(len(place[0]), dtype=np.int64)
        np.add.at(counts, place[2], budgets.counts)
        return levels, counts
    terms = declared_of(None, budgets, cap)
    lowest, _, at = line.rungs(terms.ladder)
    counts = np.zeros(len(lowest), dtype=np.int64)
    np.add.at(counts, at, 0 if terms.guess is None else terms.guess)
    return (lowest if terms.cap is None else np.minimum(lowest, terms.cap)), counts


def _needed_any(levels: Floats, counts: Integers, goal: MeanGoal, neighbours: str) -> int | None:
    """How many people it takes to find the range of any data; None if there are enough."""
    if best_share(levels, counts, goal, neighbours=neighbours).quantile <= FARTHEST:
        return None
    return needed_for_any(levels, counts, goal, neighbours=neighbours)


def _needed_gaussian(
    levels: Floats,
    counts: Integers,
    goal: MeanGoal,  # noqa: ARG001
    neighbours: str,
) -> int | None:
    """The same for Gaussian data."""
    if best_split(levels, counts, neighbours=neighbours).failure <= TOO_OFTEN:
        return None
    return needed_for_gaussian(levels, counts, neighbours=neighbours)
