"""The plan of means by group: the widths of intervals for groups of several sizes."""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons import listed, parameters, words
from epsilons.budgets.levels import Budgets
from epsilons.errors import ArgumentError, EpsilonsError
from epsilons.loading import later
from epsilons.local.people import count_of
from epsilons.planning.asked import Forecasts
from epsilons.planning.trial import Trial
from epsilons.results import report
from epsilons.results.release import ByLevel, Spent
from epsilons.results.release.grouped import Groups
from epsilons.results.release.verdict import (
    Help,
    ReleaseVerdict,
    help_words,
    precision_at,
    precision_words,
    to_two_digits,
)
from epsilons.risk.weighing import Assumption

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["GroupForecast", "GroupsPlan", "groups_plan"]

_SIZES: Final = (1.0, 0.5, 0.25, 0.1)
"""The sizes of groups to forecast, as fractions of an equal share of all people."""

_MEANS: Final = (0.1, 0.5, 0.9)
"""The group means to try, on a unit range; the widest of their intervals is reported."""


@dataclass(frozen=True)
class GroupForecast:
    """The forecast for a group of one size.

    Attributes:
        share: the fraction of all people who are in the group.
        people: the approximate number of these people.
        half_width: the approximate largest half-width of the group's interval, in data units.
    """

    share: float
    people: int
    half_width: float


@dataclass(frozen=True, eq=False, repr=False)
class GroupsPlan(Forecasts):
    """Forecasts of means by group, from budgets alone.

    Attributes:
        groups: the number of groups.
        groups_are: "private" or "public".
        n: the number of people.
        bounds: the range of the values.
        confidence: the confidence of the intervals.
        assumption: the assumption about the data.
        forecasts: the forecasts for a group with an equal share of the people, and for smaller
            groups.
        spent: for each level, ε, the number of people, and the amounts that each of them spends and
            keeps. For public groups, these are the people in a group with an equal share.

    Examples:
        >>> import epsilons as ep
        >>> plan = ep.plan({0.1: 500, 1.0: 9500}, bounds=(0, 24), groups=5)
        >>> plan.groups, plan.groups_are
        (5, 'private')
        >>> print(plan.verdict.words[0])
        Precise to ±0.6 or better in all 5 groups, if they are equally large.
    """

    groups: int
    groups_are: str
    n: int
    bounds: tuple[float, float]
    confidence: float
    assumption: Assumption
    forecasts: tuple[GroupForecast, ...]
    spent: tuple[Spent, ...]

    @property
    def protects(self) -> str:
        """A sentence on what will be protected."""
        public = self.groups_are == "public"
        hidden = words.hidden(groups=True, public=public, answers=False, where=False)
        return words.WILL_PROTECT["replace"] + hidden

    @property
    def warnings(self) -> list[str]:
        """Warnings that a reader must not overlook."""
        return report.weak_budgets(row.epsilon for row in self.spent)

    @cached_property
    def verdict(self) -> ReleaseVerdict:
        """The verdict on the planned means if all groups are equally large: precision and advice.

        The wording is that of `release.verdict`.
        """
        lo, hi = self.bounds
        one = precision_at(self.forecasts[0].half_width, hi - lo)
        each = (one,) * self.groups
        said = precision_words(each, to_two_digits(), Groups.each, Groups.whole)
        if self.groups > 1:
            said = f"{said.removesuffix('.')}, if they are equally large."
        helps = (Help(None, Groups.remedy),) if one.worth == "useless" else ()
        return ReleaseVerdict(each, None, helps, (said, *map(help_words, helps)))

    def _rows(self) -> list[dict[str, Any]]:
        return [asdict(each) for each in self.forecasts]

    def _in_a_line(self) -> str:
        return f"means of {self.groups:,} {self.groups_are} groups of {self.n:,} people"

    def sheet(self) -> report.Sheet:
        """The contents of the plan as a sheet, which every output format shows."""
        return said.groups_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole plan as plain data."""
        return {
            "kind": "groups plan",
            "groups": self.groups,
            "groups_are": self.groups_are,
            "n": self.n,
            "bounds": list(self.bounds),
            "confidence": self.confidence,
            "verdict": self.verdict.to_dict(),
            "about": self.assumption.about,
            "related": self.assumption.related,
            "assumption": words.planned("replace", self.assumption),
            "protects": self.protects,
            "warnings": self.warnings,
            "forecasts": self._rows(),
            "spent": [row._asdict() for row in self.spent],
        }


def groups_plan(trial: Trial, groups: Any, groups_are: Any) -> GroupsPlan:
    """Forecast the intervals of groups of several sizes.

    Args:
        trial: the mean of everybody, the budgets, the neighbouring relation and the cap.
        groups: the number of groups, or their labels.
        groups_are: "private" or "public".

    Raises:
        ArgumentError: the groups are invalid, or have fewer than two people each.
    """
    count, budgets, question = _count(groups), trial.budgets, trial.question
    public = parameters.choice("groups_are", groups_are) == "public" or count == 1
    sizes = [size / count for size in _SIZES if size * budgets.n >= 2 * count]
    if not sizes:
        raise ArgumentError(
            f"groups: {count:,} groups of {budgets.n:,} people have fewer than two each."
        )
    if public:  # nobody can change their group, so each group is a separate release
        asked = trial.asking(by="group", groups=["all"], groups_are="public")
        each = [_alone(asked, share) for share in sizes]
    else:
        asked = trial.asking(by="group", groups=list(range(count)))
        each = [_widest(asked, first=share) for share in sizes]
    low, high = trial.found.estimate.bounds
    return GroupsPlan(
        groups=count,
        groups_are=str(groups_are),
        n=budgets.n,
        bounds=(low, high),
        confidence=question.confidence,
        assumption=question.assumption,
        forecasts=tuple(
            GroupForecast(share, round(share * budgets.n), min(half, (high - low) / 2.0))
            for share, (half, _) in zip(sizes, each, strict=True)
        ),
        spent=each[0][1],
    )


def _count(groups: Any) -> int:
    """The number of groups."""
    if isinstance(groups, Sized) and not isinstance(groups, (str, bytes)):
        each = list(groups)  # type: ignore[call-overload]
        if len(each) == 2 and all(isinstance(one, (list, tuple)) for one in each):
            return len(each[0]) * len(each[1])
        return len(listed.labels(groups, "groups"))
    return count_of("groups", groups, 1, 10**5)


def _alone(asked: Trial, share: float) -> tuple[float, tuple[Spent, ...]]:
    """The half-width of a public group's interval (∞ without a release), and what people spend."""
    counts = np.maximum(np.round(share * asked.budgets.counts), 0).astype(np.int64)
    if counts.sum() < 2:
        counts[int(np.argmax(asked.budgets.counts))] += 2
    there = counts > 0
    levels, people = asked.budgets.levels[there], counts[there]
    try:
        return _widest(asked.of(Budgets.of_levels(levels, people)))
    except EpsilonsError:
        return math.inf, ByLevel(levels, np.zeros(len(levels)), people).rows


def _widest(asked: Trial, **people: Any) -> tuple[float, tuple[Spent, ...]]:
    """The largest half-width of the first group's interval over `_MEANS`, and what people spend."""
    halves = []
    for mean in _MEANS:
        found = asked.rehearsed(middle=mean, **people)
        low, high = found.estimate.interval(asked.question.assumption, asked.question.confidence)
        halves.append(float(high[0] - low[0]) / 2.0)
    return max(halves), found.spending.rows
