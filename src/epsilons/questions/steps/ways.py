"""The steps of an answer under replace and under add/remove.

Under replace, participation and budgets are public. Under add/remove, both are private.

`replace`: allocate, build, draw, read. `add_remove`: count people if nothing is known about them,
choose a design, draw, read. A question supplies its goal, a function that builds its mechanism, and
a function that computes its estimate from the draw. Questions with earlier stages, such as those
that estimate a range, finish with `replace_end` or `add_remove_end`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace as changed
from fractions import Fraction
from functools import lru_cache
from operator import sub
from typing import Any, Protocol

import numpy as np

from epsilons.budgets.allocation import Allocation, allocate_for
from epsilons.budgets.allocation.declared import Declared
from epsilons.budgets.levels import Budgets, Ladder, float_down, float_up
from epsilons.door import Tally
from epsilons.draws.mechanisms import LevelCounts, added_up
from epsilons.draws.mechanisms.add_remove import SHARE, STRICT
from epsilons.questions.question import Answer, Draw, Steps
from epsilons.questions.steps.designs import Design, Known, expected, tells
from epsilons.results.release import ByLevel, Estimate, Expected, PerWeight
from epsilons.risk import Weighing
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import Goal
from epsilons.risk.weighing import UNRELATED
from epsilons.types import Floats, Integers

__all__ = [
    "CountedPeople",
    "PrivatePeople",
    "Read",
    "Wide",
    "add_remove",
    "add_remove_end",
    "after",
    "counted_first",
    "replace",
    "replace_end",
    "spending",
]


@dataclass(frozen=True, eq=False)
class Read:
    """The result that a question computes from a draw.

    Attributes:
        estimate: the result, with its margin.
        risk: the risk of the estimate, in data units, for the loss of the question.
        exact: whether the risk is an exact worst case, provided that the allocation's risk is one.
        total: the noisy sum of everyone's weights, under add/remove.
        weighing: the estimator on a unit range; None if it is neither a weighted mean nor shares.
    """

    estimate: Estimate
    risk: float
    exact: bool = False
    total: float = 0.0
    weighing: Weighing | None = None


def replace(
    counted: Tally,
    goal: Goal,
    method: str,
    build: Callable[[Allocation], Any],
    read: Callable[[Any, Any], Read],
) -> Steps:
    """Answer under replace: choose how much of each budget to use, then draw once.

    Args:
        counted: the tally of people's cells, for each budget that they offer.
        goal: the error to minimize.
        method: the name of a rule, or "auto".
        build: a function that makes the mechanism of an allocation.
        read: a function that computes the result from the mechanism and the draw.
    """
    allocation = allocate_for(Budgets.of_levels(counted.levels, counted.counts), goal, method)
    return (
        yield from replace_end(
            counted,
            build(allocation),
            read,
            method=allocation.method,
            spent=allocation.spent,
            exact=allocation.exact,
        )
    )


def replace_end(
    counted: Tally,
    mechanism: Any,
    read: Callable[[Any, Any], Read],
    *,
    method: str,
    spent: Floats,
    exact: bool = True,
) -> Steps:
    """Make the last draw under replace, and return the answer.

    Args:
        counted: the tally of people's cells, for each budget that they offer.
        mechanism: the mechanism to draw from.
        read: a function that computes the result from the mechanism and the draw.
        method: the name of the rule that was used.
        spent: the amount that a person at each level spends in all stages.
        exact: whether the allocation allows an exact risk.
    """
    drawn = yield Draw(mechanism, mechanism.total(counted))
    found = read(mechanism, drawn)
    estimate: Any = found.estimate
    if counted.rounding and found.weighing is not None:  # otherwise the margin includes it
        estimate = changed(estimate, rounding=counted.rounding)
    return Answer(
        estimate=estimate,
        method=method,
        n=counted.n,
        risk=found.risk,
        exact=exact and found.exact,
        spent=spending(counted, spent),
        weighing=found.weighing,
    )


def spending(counted: Tally, spent: Floats) -> ByLevel:
    """Return what everyone spends under replace, given what one person at each level spends.

    If people have weights, `spent` is what one unit at each level spends.
    """
    heads, weight = counted.heads, counted.weight
    if heads is None:
        return ByLevel(counted.levels, spent, counted.counts)
    total = counted.mean_weight * float(counted.counts.sum())
    people = (heads.by_level, weight, total, heads.fewest, heads.most)
    return PerWeight(counted.levels, spent, *people)


def after(before: tuple[Fraction | float, ...], mechanism: Any) -> Floats:
    """Return the total spending of a person at each level: earlier stages plus the last draw.

    Args:
        before: the losses in the earlier stages.
        mechanism: the mechanism of the last draw.
    """
    lost = added_up((before, mechanism.losses))
    spent = np.array(list(map(float_up, lost)))
    return np.asarray(np.minimum(spent, mechanism.levels))


class PrivatePeople(Protocol):
    """Public information about the people under add/remove, before the last draw."""

    def level_count(self, weights: Integers) -> LevelCount | None:
        """Return the noisy counts, if every rung (public budget level) was counted separately."""

    def number(self, chosen: Design[Any], total: float) -> int | None:
        """Return the noisy number of people; None if people were not counted."""

    def spending(self, last: tuple[Fraction, ...]) -> ByLevel:
        """Return the total that each person spends, given the losses `last` in the last stage."""

    def expected(self, n: int | None) -> Expected | None:
        """Return the expected number of people at each remaining budget; None if unknown."""


Wide = Callable[[Design[Any], LevelCount | None, Integers], float]
"""Type of a function that forecasts the width of an interval. Its arguments are a design, the noisy
counts if there are any, and the expected number of people on each rung (public budget level)."""


def add_remove(
    counted: Tally,
    terms: Declared,
    goal: Goal,
    choose: Callable[[Known], Design[Any]],
    read: Callable[[Design[Any], LevelCount | None, Any], Read],
    wide: Wide | None = None,
) -> Steps:
    """Answer under add/remove: count people first if needed, then draw once.

    Args:
        counted: the tally of people's cells, for each budget that they offer; only draws may use
            it.
        terms: the public declarations about people, such as budget levels.
        goal: the error to minimize.
        choose: a function that returns the design, given public information.
        read: a function that computes the result from the design, the noisy counts and the draw.
        wide: a function that forecasts the width of the interval. The forecast decides whether
            everyone gets the same weight. If it is None, predicted errors decide this.
    """
    people = yield from counted_first(terms, goal, choose, counted, wide)
    return (yield from add_remove_end(counted, people, choose(people.known), read))


def add_remove_end(
    counted: Tally,
    people: PrivatePeople,
    chosen: Design[Any],
    read: Callable[[Design[Any], LevelCount | None, Any], Read],
) -> Steps:
    """Make the last draw under add/remove, and return the answer.

    Args:
        counted: the tally of people's cells, for each budget that they offer; only the draw may use
            it.
        people: the public information about the people.
        chosen: the design to use.
        read: a function that computes the result from the design, the noisy counts and the draw.
    """
    mechanism = chosen.mechanism
    drawn = yield Draw(mechanism, mechanism.total(counted))
    found = read(chosen, people.level_count(mechanism.weights), drawn)
    n = people.number(chosen, found.total)
    return Answer(
        estimate=found.estimate,
        method=chosen.method,
        n=n,
        n_is_noisy=n is not None,
        risk=found.risk,
        exact=False,
        spent=people.spending(mechanism.losses),
        weighing=found.weighing,
        expected=people.expected(n),
    )


@dataclass(frozen=True, eq=False)
class CountedPeople:
    """Public information about the people under add/remove, with noisy counts if there are any.

    Attributes:
        known: the information that the choice of a design can depend on.
        stage: the mechanism that counted them; None if they were not counted.
        drawn: the noisy counts.
        told: whether anything is known about the number of people at each budget.
    """

    known: Known
    stage: LevelCounts | None
    drawn: tuple[int, ...]
    told: bool

    def number(self, chosen: Design[Any], total: float) -> int | None:
        """Return the noisy number of people; with equal weights it is computed from the total.

        It is None if weights differ, and people were not counted or no levels are declared.
        """
        if chosen.equal:
            return max(round(total / int(chosen.mechanism.weights.max())), 0)
        if self.stage is None or self.known.ladder.fine:
            return None
        return max(sum(self.drawn), 0)

    def expected(self, n: int | None) -> Expected | None:
        """Return the expected number of people at each remaining budget; None if unknown.

        If no levels are declared, people are counted by octaves of ε, only to choose a cap. Errors
        computed from such coarse counts would contradict the error of the release.

        Args:
            n: the noisy number of people, if there is one.
        """
        if self.known.ladder.fine:
            return None
        cap = self.known.cap
        levels, people = self.known.people(math.inf if cap is None else cap)
        if len(levels) == 1 and n is not None and n >= 2:
            return Expected(levels, np.array([n], dtype=np.int64))
        return Expected(levels, people) if self.told else None

    def level_count(self, weights: Integers) -> LevelCount | None:
        """Return the noisy counts, if every rung (public budget level) was counted separately."""
        if self.stage is None or self.known.ladder.fine:
            return None
        return LevelCount(self.drawn, tuple(map(float, self.stage.rates)), weights)

    def spending(self, last: tuple[Fraction, ...]) -> ByLevel:
        """Return the total that each person spends, given the losses `last` in the last stage."""
        lost = last if self.stage is None else added_up((self.stage.losses, last))
        totals = np.array(list(map(float_up, lost)))
        return ByLevel(self.known.ladder.levels, totals, None)


def counted_first(
    terms: Declared,
    goal: Goal,
    choose: Callable[[Known], Design[Any]],
    counted: Tally,
    wide: Wide | None = None,
) -> Generator[Draw, Any, CountedPeople]:
    """Count people privately, if a count is useful or necessary (see `_way`).

    Args:
        terms: the public declarations about people, such as budget levels.
        goal: the error to minimize.
        choose: a function that returns the design, given public information.
        counted: the number of people on each rung: private, and used only by the count.
        wide: a function that forecasts the width of the interval, or None.
    """
    known, stage = _way(terms, goal, choose, wide)
    if stage is None:
        return CountedPeople(known, None, (), terms.guess is not None and tells(terms.guess))
    drawn = yield Draw(stage, stage.total(counted), more=True)
    related = goal.assumption.related is not False and not terms.ladder.fine
    guess = stage.heads(drawn) if related else stage.guess(drawn)
    known = changed(known, guess=expected(guess))
    if related and wide is not None and tells(guess):
        # The noisy counts have been released, so the choice may depend on them.
        alike = _alike(known)
        if _width(alike, stage, drawn, choose, wide) < _width(known, stage, drawn, choose, wide):
            known = alike
    return CountedPeople(known, stage, drawn, tells(guess))


def _alike(known: Known) -> Known:
    """Return the same information, with a cap at which everyone has the lowest rung's weight."""
    lowest = float_down(min(known.left))
    return changed(known, cap=lowest if known.cap is None else min(lowest, known.cap))


def _width(
    known: Known,
    stage: LevelCounts,
    drawn: tuple[int, ...],
    choose: Callable[[Known], Design[Any]],
    wide: Wide,
) -> tuple[float, float]:
    """Return the forecast width of the interval, given the noisy counts, and the predicted risk.

    If two intervals are both the whole range, their risks are compared instead.
    """
    chosen = choose(known)
    counts = LevelCount(drawn, tuple(map(float, stage.rates)), chosen.mechanism.weights)
    return wide(chosen, counts, known.guess), chosen.risk


@lru_cache(maxsize=4)
def _exactly(levels: bytes) -> tuple[Fraction, ...]:
    """Return rungs as fractions. The result is kept: a ladder can have thousands of rungs."""
    return tuple(Fraction(level) for level in np.frombuffer(levels).tolist())


@lru_cache(maxsize=4)
def _counting(levels: bytes, fine: bool, cap: float | None, strict: Fraction) -> LevelCounts:
    """Return the mechanism that counts people. It is kept, like the mechanisms of allocations."""
    return LevelCounts.of(Ladder(np.frombuffer(levels), fine), cap, strict)


def _way(
    terms: Declared, goal: Goal, choose: Callable[[Known], Design[Any]], wide: Wide | None
) -> tuple[Known, LevelCounts | None]:
    """Return what the choice of a design may use, and the mechanism that counts people, if any.

    People are counted if nothing is known about the number of people at each budget. If budgets may
    be related to values, different weights require a count, because no interval could be computed
    without it. Then there are two options: count people and use different weights, or give everyone
    the weight of the lowest rung, which requires no count. The option with the smaller predicted
    error is used, or, if widths of intervals can be predicted, the option with the shorter
    interval. If both intervals are the whole range, predicted errors decide.
    """
    ladder = terms.ladder
    levels = ladder.levels.tobytes()
    nobody = np.zeros(len(ladder.levels), dtype=np.int64)
    guess = expected(nobody if terms.guess is None else terms.guess)
    known = Known(ladder, _exactly(levels), terms.cap, guess)
    if terms.cap is not None or terms.guess is not None or terms.equal:
        related = goal.assumption.related is not False and not ladder.fine
        if not related or choose(known).equal:
            return known, None
    precise = goal.assumption == UNRELATED and not ladder.fine
    stage = _counting(levels, ladder.fine, terms.cap, STRICT if precise else SHARE)
    most = known.left if terms.cap is None else [min(r, Fraction(terms.cap)) for r in known.left]
    left = tuple(map(sub, most, stage.losses))
    later = changed(known, left=left)
    if terms.guess is not None:
        alike = _alike(known)
        if wide is None or ladder.fine or goal.assumption.related is False:
            shorter = choose(alike).risk <= choose(later).risk
        else:
            people = tuple(known.guess.tolist())
            equal = choose(alike)
            width = wide(equal, None, known.guess), equal.risk
            shorter = width <= _width(later, stage, people, choose, wide)
        if shorter:
            return alike, None
    return later, stage
