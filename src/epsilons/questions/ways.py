"""The two ways to an answer: of people who are public, and of people who are private.

`replace`: allocate, build, draw, read. `add_remove`: count people where nothing is known of them,
choose a design, draw, read. A question says what is its own: its goal, how a mechanism is built,
and how its estimate is read from what was drawn. Where stages come first, such as those that find a
range, they end in `replace_end` or `add_remove_end`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from dataclasses import replace as changed
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from epsilons.budgets.allocation import Allocation, allocate_for
from epsilons.budgets.allocation.declared import Declared
from epsilons.budgets.levels import Budgets, float_up
from epsilons.door import Tally
from epsilons.draws.mechanisms import LevelCounts, added_up
from epsilons.questions.designs import Design, Known, expected, tells
from epsilons.questions.question import Answer, Draw, Steps
from epsilons.results.release import AnyEstimate, ByLevel, Expected
from epsilons.risk import Weighing
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import Goal
from epsilons.types import Floats, Integers

__all__ = [
    "CountedPeople",
    "PrivatePeople",
    "Read",
    "add_remove",
    "add_remove_end",
    "after",
    "counted_first",
    "replace",
    "replace_end",
]


@dataclass(frozen=True, eq=False)
class Read:
    """What a question reads from what was drawn.

    Attributes:
        estimate: the result, with its margin.
        risk: of the estimate, in data units, for the loss of the question.
        exact: whether the risk is an exact worst case, where that of the allocation is.
        total: of the weights of all people, with noise, where people are private.
        weighing: the estimator on a unit range; None if it is not a weighted mean, nor shares.
    """

    estimate: AnyEstimate
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
    """People and budgets are public: who spends what follows from them, and then one draw.

    Args:
        counted: the cells of people, by what they offer.
        goal: which error is to be small.
        method: a rule by name, or "auto".
        build: the mechanism of an allocation.
        read: what the mechanism, and what was drawn from it, say.
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
    """The last draw of people who are public, and the answer.

    Args:
        counted: the cells of people, by what they offer.
        mechanism: what is drawn from.
        read: what the mechanism, and what was drawn from it, say.
        method: the rule that was taken, by name.
        spent: what a person of each level spends in all stages.
        exact: whether an exact risk can be read.
    """
    drawn = yield Draw(mechanism, mechanism.total(counted))
    found = read(mechanism, drawn)
    return Answer(
        estimate=found.estimate,
        method=method,
        n=counted.n,
        risk=found.risk,
        exact=exact and found.exact,
        spent=ByLevel(counted.levels, spent, counted.counts),
        weighing=found.weighing,
    )


def after(before: tuple[Fraction | float, ...], mechanism: Any) -> Floats:
    """What a person of each level spends on a last draw and on the stages before it.

    Args:
        before: what the stages took.
        mechanism: of the last draw.
    """
    lost = added_up((before, mechanism.losses))
    spent = np.array([float_up(each) for each in lost])
    return np.asarray(np.minimum(spent, mechanism.levels))


class PrivatePeople(Protocol):
    """People who are private, before the last draw: counted, or located, or neither."""

    def level_count(self, weights: Integers) -> LevelCount | None:
        """The noisy counts, where each rung has its own."""

    def number(self, chosen: Design[Any], total: float) -> int | None:
        """The noisy number of people; None if there is none."""

    def spending(self, last: tuple[Fraction, ...]) -> ByLevel:
        """What everyone spends in all, of which the last stage takes so much."""

    def expected(self, n: int | None) -> Expected | None:
        """How many people are expected to have how much left; None if nobody knows."""


def add_remove(
    counted: Tally,
    terms: Declared,
    goal: Goal,
    choose: Callable[[Known], Design[Any]],
    read: Callable[[Design[Any], LevelCount | None, Any], Read],
) -> Steps:
    """People are private: perhaps they are counted, and then there is one draw.

    Args:
        counted: the cells of people, by what they offer: seen by what is drawn alone.
        terms: what is declared.
        goal: which error is to be small.
        choose: the design that is taken, for what is known.
        read: what a design, the noisy counts and what was drawn say.
    """
    people = yield from counted_first(terms, goal, choose, counted)
    return (yield from add_remove_end(counted, people, choose(people.known), read))


def add_remove_end(
    counted: Tally,
    people: PrivatePeople,
    chosen: Design[Any],
    read: Callable[[Design[Any], LevelCount | None, Any], Read],
) -> Steps:
    """The last draw of people who are private, and the answer.

    Args:
        counted: the cells of people, by what they offer: seen by what is drawn alone.
        people: what is known of them.
        chosen: the design that is taken.
        read: what a design, the noisy counts and what was drawn say.
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
    """What is known once people were counted, or need not be.

    Attributes:
        known: all that a choice may look at.
        stage: how they were counted; None if they were not.
        drawn: the noisy counts.
        told: whether something is known of how many have which budget.
    """

    known: Known
    stage: LevelCounts | None
    drawn: tuple[int, ...]
    told: bool

    @property
    def people(self) -> int | None:
        """The noisy number of people, where all who have a say were counted."""
        if self.stage is None or self.known.ladder.fine:
            return None
        return max(sum(self.drawn), 0)

    def number(self, chosen: Design[Any], total: float) -> int | None:
        """The noisy number of people, also where equal weights of a noisy total tell it."""
        if not chosen.equal:
            return self.people
        return max(round(total / int(chosen.mechanism.weights.max())), 0)

    def expected(self, n: int | None) -> Expected | None:
        """How many people are expected to have how much left; None if nobody knows.

        Where no levels are declared, counts of octaves choose a cap, and are no counts of budgets:
        errors that follow from such counts would contradict the error of the release.

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
        """The noisy counts, where each rung has its own."""
        if self.stage is None or self.known.ladder.fine:
            return None
        return LevelCount(self.drawn, tuple(map(float, self.stage.rates)), weights)

    def spending(self, last: tuple[Fraction, ...]) -> ByLevel:
        """What everyone spends in all, of which the last stage takes so much."""
        lost = last if self.stage is None else added_up((self.stage.losses, last))
        totals = np.array([float_up(each) for each in lost])
        return ByLevel(self.known.ladder.levels, totals, None)


def counted_first(
    terms: Declared, goal: Goal, choose: Callable[[Known], Design[Any]], counted: Tally
) -> Generator[Draw, Any, CountedPeople]:
    """Count people, privately, if that is the way.

    Args:
        terms: what is declared.
        goal: which error is to be small.
        choose: the design that would be taken, for what is known.
        counted: how many people are on which rung: private, and seen by the count alone.
    """
    known, stage = _way(terms, goal, choose)
    if stage is None:
        return CountedPeople(known, None, (), terms.guess is not None and tells(terms.guess))
    drawn = yield Draw(stage, stage.total(counted), more=True)
    related = goal.assumption.related is not False and not terms.ladder.fine
    guess = stage.heads(drawn) if related else stage.guess(drawn)
    return CountedPeople(changed(known, guess=expected(guess)), stage, drawn, tells(guess))


@lru_cache(maxsize=4)
def _exactly(levels: bytes) -> tuple[Fraction, ...]:
    """Rungs as fractions, once: of a ladder that is not declared there are thousands, the same."""
    return tuple(Fraction(level) for level in np.frombuffer(levels, dtype=np.float64).tolist())


def _known(terms: Declared) -> Known:
    rungs = _exactly(terms.ladder.levels.tobytes())
    nobody = np.zeros(len(rungs), dtype=np.int64)
    guess = expected(nobody if terms.guess is None else terms.guess)
    return Known(terms.ladder, rungs, terms.cap, guess)


def _way(
    terms: Declared, goal: Goal, choose: Callable[[Known], Design[Any]]
) -> tuple[Known, LevelCounts | None]:
    """What a choice may look at, and how people are counted before it, if they are.

    People are counted where nothing is known of how many have which budget. Where budgets may say
    anything about values, weights that differ are worth nothing without a count: no interval could
    be given. So people are counted there too, or all get the weight of the lowest rung, which
    needs no count: whichever has the smaller forecast error for the people that are expected.
    """
    known = _known(terms)
    lowest = min(terms.ladder.levels[0], math.inf if terms.cap is None else terms.cap)
    if not terms.must_count:
        related = goal.assumption.related is not False and not terms.ladder.fine
        if not related or choose(known).equal:
            return known, None
    stage = LevelCounts.of(terms.ladder, terms.cap)
    most = known.left if terms.cap is None else [min(r, Fraction(terms.cap)) for r in known.left]
    left = tuple(rung - spent for rung, spent in zip(most, stage.losses, strict=True))
    later = changed(known, left=left)
    if terms.guess is not None:
        alike = changed(known, cap=float(lowest))
        if choose(alike).risk <= choose(later).risk:
            return alike, None
    return later, stage
