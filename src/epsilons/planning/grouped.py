"""The plan of means by group: how wide the intervals of groups of several sizes will be."""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import asdict, dataclass
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
from epsilons.risk.weighing import Assumption

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


def groups_plan(trial: Trial, groups: Any, groups_are: Any) -> GroupsPlan:
    """Forecast the intervals of groups of several sizes.

    Args:
        trial: a mean of everybody, the people and the terms.
        groups: how many there are, or their labels.
        groups_are: "private" or "public".

    Raises:
        ArgumentError: they are not groups.
    """
    count, budgets, question = _count(groups), trial.budgets, trial.question
    public = parameters.choice("groups_are", groups_are) == "public" or count == 1
    sizes = [size / count for size in _SIZES if size * budgets.n >= 2 * count]
    if not sizes:
        raise ArgumentError(
            f"groups: {count:,} groups of {budgets.n:,} people have fewer than two each."
        )
    if public:  # nobody moves between them, so each is as if it were alone
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
    """How many groups there are."""
    if isinstance(groups, Sized) and not isinstance(groups, (str, bytes)):
        each = list(groups)  # type: ignore[call-overload]
        if len(each) == 2 and all(isinstance(one, (list, tuple)) for one in each):
            return len(each[0]) * len(each[1])
        return len(listed.labels(groups, "groups"))
    return count_of("groups", groups, 1, 10**5)


def _alone(asked: Trial, share: float) -> tuple[float, tuple[Spent, ...]]:
    """Half of the interval of a public group, and who pays what; the range if nobody gives."""
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
    """Half of the interval of the first group, wherever its mean is, and who pays what."""
    halves = []
    for mean in _MEANS:
        found = asked.rehearsed(middle=mean, **people)
        low, high = found.estimate.interval(asked.question.assumption, asked.question.confidence)
        halves.append(float(high[0] - low[0]) / 2.0)
    return max(halves), found.spending.rows
