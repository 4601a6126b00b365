"""The plan of means by group: how wide the intervals of groups of several sizes will be."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons import listed, parameters, report, tally, words
from epsilons.allocation import Allocation, allocate_for
from epsilons.budgets import Budgets
from epsilons.errors import ArgumentError, EpsilonsError
from epsilons.loading import later
from epsilons.local.people import count_of
from epsilons.mechanisms import build, build_histogram
from epsilons.planning.asked import Forecasts
from epsilons.release import ByLevel, Spent
from epsilons.risk.assumptions import Assumption
from epsilons.risk.goals import CellsGoal, Goal
from epsilons.risk.grouped import GroupedMeans
from epsilons.risk.margins import Weighed

if TYPE_CHECKING:
    from epsilons.planning import said
else:
    said = later("epsilons.planning.said")

__all__ = ["GroupForecast", "GroupsPlan", "groups_plan"]

_SIZES: Final = (1.0, 0.5, 0.25, 0.1)
"""Sizes of groups that are looked at, in parts of an even share."""

_MEANS: Final = (0.1, 0.5, 0.9)
"""Where the mean of a group may be, on a unit range: the widest interval is told."""


@dataclass(frozen=True)
class GroupForecast:
    """What will be known of a group.

    Attributes:
        share: of all people that are in it.
        people: how many that is, about.
        half_width: half of the width that its interval has at most, about, in data units.
    """

    share: float
    people: int
    half_width: float


@dataclass(frozen=True, eq=False, repr=False)
class GroupsPlan(Forecasts):
    """Forecasts of means by group, from budgets alone.

    Attributes:
        groups: how many there are.
        groups_are: "private" or "public".
        n: how many people there are.
        bounds: the range of the values.
        confidence: of the intervals.
        assumption: what is assumed about the data.
        forecasts: of a group of an even share of the people, and of smaller ones.
        spent: who pays what: for each level ε, people, spent and kept; of public groups, in one of
            an even share.
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
        """What will be protected, in words."""
        public = self.groups_are == "public"
        hidden = words.hidden(groups=True, public=public, answers=False, where=False)
        return words.will_protect("replace") + hidden

    @property
    def warnings(self) -> list[str]:
        """What a reader must not overlook."""
        return report.weak_budgets(row.epsilon for row in self.spent)

    def _rows(self) -> list[dict[str, Any]]:
        return [asdict(each) for each in self.forecasts]

    def _in_a_line(self) -> str:
        return f"means of {self.groups:,} {self.groups_are} groups of {self.n:,} people"

    def sheet(self) -> report.Sheet:
        """What it says, in no form."""
        return said.groups_sheet(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "kind": "groups plan",
            "groups": self.groups,
            "groups_are": self.groups_are,
            "n": self.n,
            "bounds": list(self.bounds),
            "confidence": self.confidence,
            "about": self.assumption.about,
            "related": self.assumption.related,
            "assumption": words.planned("replace", self.assumption),
            "protects": self.protects,
            "warnings": self.warnings,
            "forecasts": self._rows(),
            "spent": [row._asdict() for row in self.spent],
        }


def groups_plan(
    budgets: Budgets, goal: Goal, bounds: tuple[float, float], groups: Any, groups_are: Any
) -> GroupsPlan:
    """Forecast the intervals of groups of several sizes.

    Args:
        budgets: of the people.
        goal: of a mean.
        bounds: the range of the values.
        groups: how many there are, or their labels.
        groups_are: "private" or "public".

    Raises:
        ArgumentError: they are not groups.
    """
    count = _count(groups)
    public = parameters.choice("groups_are", groups_are) == "public" or count == 1
    sizes = [size / count for size in _SIZES if size * budgets.n >= 2 * count]
    if not sizes:
        raise ArgumentError(
            f"groups: {count:,} groups of {budgets.n:,} people have fewer than two each."
        )
    wide = bounds[1] - bounds[0]
    if public:
        halves = [_apart(budgets, goal, share) for share in sizes]
        allocation = allocate_for(_part(budgets, sizes[0]), goal, "auto")
    else:
        table = CellsGoal(goal.assumption, "mse", goal.confidence, 2 * count)
        allocation = allocate_for(budgets, table, "auto")
        halves = [_together(allocation, goal, share, count) for share in sizes]
    return GroupsPlan(
        groups=count,
        groups_are=str(groups_are),
        n=budgets.n,
        bounds=bounds,
        confidence=goal.confidence,
        assumption=goal.assumption,
        forecasts=tuple(
            GroupForecast(share, round(share * budgets.n), wide * min(half, 0.5))
            for share, half in zip(sizes, halves, strict=True)
        ),
        spent=ByLevel(allocation.levels, allocation.spent, allocation.counts).rows,
    )


def _count(groups: Any) -> int:
    """How many groups there are."""
    if isinstance(groups, Sized) and not isinstance(groups, (str, bytes)):
        each = list(groups)  # type: ignore[call-overload]
        if len(each) == 2 and all(isinstance(one, (list, tuple)) for one in each):
            return len(each[0]) * len(each[1])
        return len(listed.labels(groups, "groups"))
    return count_of("groups", groups, 1, 10**5)


def _part(budgets: Budgets, share: float) -> Budgets:
    """As many people with the same budgets as a group of this share has, about."""
    counts = np.maximum(np.round(share * budgets.counts), 0).astype(np.int64)
    if counts.sum() < 2:
        counts[int(np.argmax(budgets.counts))] += 2
    there = counts > 0
    return Budgets.of_levels(budgets.levels[there], counts[there])


def _apart(budgets: Budgets, goal: Goal, share: float) -> float:
    """Half of the interval of a public group, on a unit range; all of it if nobody gives."""
    try:
        allocation = allocate_for(_part(budgets, share), goal, "auto")
    except EpsilonsError:
        return 1.0
    mechanism = build(allocation, grid=tally.GRID, bounds=(0.0, 1.0))
    return Weighed(mechanism.weighing, mechanism.slack).error(goal.assumption, goal.confidence)


def _together(allocation: Allocation, goal: Goal, share: float, count: int) -> float:
    """Half of the interval of a private group of this share beside others, on a unit range."""
    mechanism = build_histogram(allocation, unit=tally.GRID)
    rest = (1.0 - share) / (count - 1)
    widest = 0.0
    for mean in _MEANS:
        drawn = np.full(2 * count, rest / 2.0)
        drawn[:2] = share * mean, share * (1.0 - mean)
        margin = GroupedMeans(mechanism.weighing, mechanism.slack, drawn, outside=False)
        low, high = margin.intervals((0.0, 1.0), goal.assumption, goal.confidence)
        widest = max(widest, float(high[0] - low[0]))
    return widest / 2.0
