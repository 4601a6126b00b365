"""People whose very presence is private: counted first, where nothing is known of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from epsilons.allocation.declared import Declared
from epsilons.budgets import float_up
from epsilons.mechanisms import LevelCounts, added_up
from epsilons.release import ByLevel, Expected
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import Goal
from epsilons.statistics.designs import Design, Known, expected, tells
from epsilons.statistics.steps import Draw
from epsilons.tally import Tally
from epsilons.types import Integers

__all__ = ["Counted", "counted_first"]


@dataclass(frozen=True, eq=False)
class Counted:
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
) -> Generator[Draw, Any, Counted]:
    """Count people, privately, if that is the way.

    Args:
        terms: what is declared.
        goal: which error is to be small.
        choose: the design that would be taken, for what is known.
        counted: how many people are on which rung: private, and seen by the count alone.
    """
    known, stage = _way(terms, goal, choose)
    if stage is None:
        return Counted(known, None, (), terms.guess is not None and tells(terms.guess))
    drawn = yield Draw(stage, stage.total(counted), more=True)
    related = goal.assumption.related is not False and not terms.ladder.fine
    guess = stage.heads(drawn) if related else stage.guess(drawn)
    return Counted(replace(known, guess=expected(guess)), stage, drawn, tells(guess))


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
    after = replace(known, left=left)
    if terms.guess is not None:
        alike = replace(known, cap=float(lowest))
        if choose(alike).risk <= choose(after).risk:
            return alike, None
    return after, stage
