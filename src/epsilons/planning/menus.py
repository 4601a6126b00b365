"""The comparison of menus of budgets that might be offered to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from epsilons import words
from epsilons.budgets.levels import Budgets
from epsilons.errors import ArgumentError
from epsilons.loading import later
from epsilons.local.people import count_of
from epsilons.planning.asked import Forecasts
from epsilons.planning.central import Plan, plan_of
from epsilons.planning.trial import Trial, gain_over
from epsilons.planning.what_if import in_proportion
from epsilons.questions.question import Question
from epsilons.results import report
from epsilons.results.release.verdict import ReleaseVerdict
from epsilons.results.report.numbers import distinct

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["MenuCost", "MenuForecast", "Menus", "MenusPlan", "menus_plan"]

Menus: TypeAlias = Mapping[str, Mapping[float, float]] | Sequence[Mapping[float, float]]
"""Menus with or without names: for each ε, the share of people who are expected to choose it."""

_PARTS: Final = 10**9
"""Shares of people are rounded to multiples of 1 divided by this number."""

_MOST: Final = 2**32
"""The largest number of people for which menus are compared."""

_SHARES: Final = tuple(sorted({*range(0, 51, 2), 1, 5, 25}))
"""The shares of strict people, in percent, for which the error is forecast."""


class MenuForecast(NamedTuple):
    """The forecast of one menu.

    Attributes:
        menu: its name.
        rmse: the typical error, in data units.
        half_width: half the width of the interval that a release will have, in data units.
        gain: the typical error if everyone had the smallest ε, divided by `rmse`.
        gain_over_single: the typical error with the best single ε, divided by `rmse`. With a single
            ε, people with a smaller ε are left out.
    """

    menu: str
    rmse: float
    half_width: float
    gain: float
    gain_over_single: float


class MenuCost(NamedTuple):
    """The cost of strict people in a menu of two budgets: the error for each share of them.

    Attributes:
        strict, generous: the smaller and the larger ε.
        shares: shares of people who choose the smaller ε, from 0 to 0.5.
        errors: the error for each share, for the plan's loss, in data units.
    """

    strict: float
    generous: float
    shares: tuple[float, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class MenusPlan(Forecasts):
    """Forecasts of several menus of budgets, for the same number of people.

    Attributes:
        plans: the plan of each menu, by the menu's name.

    Examples:
        >>> import epsilons as ep
        >>> menus = {"choice": {0.1: 0.5, 1.0: 0.5}, "single": {0.5: 1.0}}
        >>> compared = ep.compare_menus(menus, people=990)
        >>> {name: round(plan.forecasts[0].rmse, 4) for name, plan in compared.plans.items()}
        {'choice': 0.0143, 'single': 0.0029}
    """

    plans: Mapping[str, Plan]

    @property
    def n(self) -> int:
        """The number of people."""
        return next(iter(self.plans.values())).budgets.n

    @property
    def forecasts(self) -> tuple[MenuForecast, ...]:
        """The forecast of each menu, in order."""
        return tuple(
            MenuForecast(
                menu=name,
                rmse=plan[plan.best].rmse,
                half_width=plan.trial.found.reach,
                gain=plan.gains["uniform"],
                gain_over_single=plan.gains["threshold"],
            )
            for name, plan in self.plans.items()
        )

    @property
    def errors(self) -> dict[str, float]:
        """The error of each menu for the plan's loss, by the menu's name."""
        return {name: plan.trial.error for name, plan in self.plans.items()}

    @property
    def best(self) -> str:
        """The name of the menu with the smallest error."""
        return min(self.errors, key=lambda name: self.errors[name])

    @cached_property
    def costs(self) -> dict[str, MenuCost]:
        """The cost of strict people in each menu of two budgets, by the menu's name."""
        shares = tuple(share / 100.0 for share in _SHARES)
        return {
            name: MenuCost(
                strict=float(plan.budgets.levels[0]),
                generous=float(plan.budgets.levels[1]),
                shares=shares,
                errors=_errors_by_share(plan),
            )
            for name, plan in self.plans.items()
            if len(plan.budgets) == 2 and plan.budgets.levels[0] > 0.0
        }

    @cached_property
    def verdict(self) -> ReleaseVerdict:
        """The verdict: the menu with the smallest error, and the precision with it.

        The wording is that of `release.verdict`. The plan of each menu has its own verdict, with
        the gain from personal budgets and advice.
        """
        each, precise = self.plans[self.best].precision
        others = {name: error for name, error in self.errors.items() if name != self.best}
        said = [precise]
        if others:
            second = min(others, key=lambda name: others[name])
            times = f"{gain_over(others[second], self.errors[self.best]):.2f} ×"
            best = f'The error is smallest with "{self.best}"'
            said.insert(0, f'{best}: {times} smaller than with "{second}".')
        return ReleaseVerdict(each, None, (), tuple(said))

    @property
    def warnings(self) -> list[str]:
        """Warnings that a reader must not overlook."""
        return list(dict.fromkeys(each for plan in self.plans.values() for each in plan.warnings))

    def _rows(self) -> list[dict[str, Any]]:
        return [each._asdict() for each in self.forecasts]

    def _in_a_line(self) -> str:
        return f"{len(self.plans)} menus for {self.n:,} people, {'; '.join(self.plans)}"

    def sheet(self) -> report.Sheet:
        """The contents of the comparison as a sheet, which every output format shows."""
        return said.menus_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole comparison as plain data."""
        plan = self.plans[self.best]
        return {
            "kind": "menus plan",
            "statistic": plan.statistic,
            "n": self.n,
            "bounds": list(plan.bounds),
            "neighbours": plan.neighbours,
            "assumption": words.planned(plan.neighbours, plan.assumption),
            "loss": plan.loss,
            "confidence": plan.confidence,
            "verdict": self.verdict.to_dict(),
            "best": self.best,
            "warnings": self.warnings,
            "forecasts": self._rows(),
            "menus": {
                name: [
                    {"epsilon": row.epsilon, "people": row.people}
                    for row in each.forecasts[0].spent
                ]
                for name, each in self.plans.items()
            },
            "costs": {
                name: {**cost._asdict(), "shares": list(cost.shares), "errors": list(cost.errors)}
                for name, cost in self.costs.items()
            },
        }


def menus_plan(question: Question, neighbours: str, menus: Menus, people: object) -> MenusPlan:
    """Forecast several menus of budgets.

    Args:
        question: the question; its columns are not read.
        neighbours: "replace" or "add-remove".
        menus: the menus, by name or without names.
        people: the number of people.

    Raises:
        ArgumentError: there is no menu, the shares of a menu do not add up to 1, or `people` is not
            an integer above 1.
        BudgetError: an ε is invalid.
    """
    total = count_of("people", people, 2, _MOST)
    named = menus if isinstance(menus, Mapping) else _named(menus)
    chosen = {str(name): _chosen(menu, total) for name, menu in named.items()}
    if not chosen:
        raise ArgumentError("menus: give at least one, such as {0.1: 0.1, 1: 0.9}.")
    trials = {name: Trial(question, some, neighbours, None) for name, some in chosen.items()}
    return MenusPlan({name: plan_of(trial) for name, trial in trials.items()})


def _named(menus: Sequence[Any]) -> dict[str, Any]:
    """Return menus by name. A name lists budgets and shares, as on the command line."""
    names = [
        ",".join(f"{epsilon:g}:{100 * share:g}%" for epsilon, share in menu.items())
        if isinstance(menu, Mapping)
        else str(menu)
        for menu in menus
    ]
    return dict(zip(distinct(names), menus, strict=True))


def _chosen(menu: Any, people: int) -> Budgets:
    """The budgets of a menu, and the number of people who choose each."""
    shares = list(menu.values()) if isinstance(menu, Mapping) else []
    numbers = all(isinstance(share, (int, float)) and 0.0 <= share <= 1.0 for share in shares)
    if not numbers or abs(sum(shares) - 1.0) > 1e-6:
        raise ArgumentError(
            "menus: each must be a mapping from ε to shares of people that add up to 1, such as "
            "{0.1: 0.1, 1: 0.9}."
        )
    parts = Budgets({epsilon: round(share * _PARTS) for epsilon, share in menu.items()})
    return _people(parts.levels, parts.counts, people)


def _errors_by_share(plan: Plan) -> tuple[float, ...]:
    """The error for each share of people at the stricter of two budgets."""
    budgets, trial = plan.budgets, plan.trial
    parts = [np.array([share, 100 - share]) for share in _SHARES]
    return tuple(trial.of(_people(budgets.levels, each, budgets.n)).error for each in parts)


def _people(levels: Any, parts: Any, total: int) -> Budgets:
    """The budgets of `total` people, who are divided among the levels in proportion to `parts`."""
    counts = in_proportion(parts, total)
    return Budgets.of_levels(levels[counts > 0], counts[counts > 0])
