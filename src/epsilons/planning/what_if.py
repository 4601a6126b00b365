"""What-if forecasts: other assumptions, a guess of the spread, other people and other budgets."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from epsilons.budgets.allocation.rules import merged
from epsilons.budgets.levels import Budgets
from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.planning.trial import Trial, error_of, gain_over
from epsilons.questions.question import Question
from epsilons.questions.steps.locate import budgets_of
from epsilons.results.release.derived import answers
from epsilons.results.release.verdict import WORTH, Help, defended, help_words, helps_most
from epsilons.results.report import number
from epsilons.results.report.numbers import percent
from epsilons.results.report.phrases import some_places
from epsilons.types import Floats, Integers

__all__ = [
    "GUESS",
    "QUESTIONED",
    "Error",
    "Guess",
    "Need",
    "Option",
    "SideOutcome",
    "WhatIf",
    "by_about",
    "by_guess",
    "by_sides",
    "guess_of",
    "hint_of",
    "in_proportion",
    "level_name",
    "need",
    "needed",
    "option",
    "outcomes",
    "put_best_first",
    "sensitivity",
    "strictest_give_more",
    "wanted_error",
]

Error: TypeAlias = Callable[[Budgets], float]
"""A function from budgets to the error of the best method."""

GUESS: Final = 0.1
"""The guess of the spread to try, as a fraction of the range."""

MORE: Final = 1.5
"""The factor by which the strictest people raise their budgets."""

FEW: Final = 0.01
"""The strictest people are those with the smallest budgets, at least this share of everyone."""

SHARE: Final = 0.1
"""The share of people who join, leave or choose another budget in a what-if forecast."""

QUESTIONED: Final = 256
"""The maximum number of levels in what-if forecasts; if there are more, some are merged."""

_LEVELS: Final = 4
"""The maximum number of levels that are tried one at a time."""

_MOST: Final = 2**33
"""More people than this cannot be tallied."""


class SideOutcome(NamedTuple):
    """The best method under one assumption on how budgets are related to values.

    Attributes:
        related: the assumption: True, False, or a number δ.
        cap: the most that anyone spends.
        rmse: the typical error of the best method, in data units.
        pac: the PAC error at the plan's confidence.
        gain: the typical error if everyone had the smallest ε, divided by `rmse`.
    """

    related: bool | float
    cap: float
    rmse: float
    pac: float
    gain: float


def outcomes(trial: Trial) -> tuple[SideOutcome, ...]:
    """The best method under each assumption on how budgets are related to values.

    Args:
        trial: the plan's trial. Its assumption is one of those that are tried.
    """
    found = []
    for assumption in answers(trial.question.assumption):
        asked = trial.asking(related=assumption.related)
        gain = gain_over(asked.strictest, asked.rmse)
        found.append(SideOutcome(assumption.related, asked.most, asked.rmse, asked.pac, gain))
    return tuple(found)


class Guess(NamedTuple):
    """The best method with and without a guess of the spread; errors are in data units.

    Attributes:
        cap: the most that anyone spends with the guess.
        rmse: the typical error with the guess, if it is right.
        worst: the typical error with the guess, in the worst case over all data.
        plain_cap: the most that anyone spends without the guess.
        plain_rmse: the typical error without the guess, for data with the guessed spread.
        plain_worst: the typical error without the guess, in the worst case over all data.
    """

    cap: float
    rmse: float
    worst: float
    plain_cap: float
    plain_rmse: float
    plain_worst: float


def guess_of(trial: Trial) -> Guess | None:
    """Compare the best methods with and without the guess of the spread; None without a guess."""
    if trial.guess is None:
        return None
    goal, found = trial.goal, []
    for asked in (trial, trial.asking(spread=None)):
        errors = [Trial.error_for(asked.found, each) for each in (goal, goal.worst)]
        found += [asked.most, *errors]
    return Guess(*found)


class Option(NamedTuple):
    """A change of assumptions, guesses or budgets, and the error that it would give.

    Attributes:
        change: the change, in words. If an argument makes the change, these words are a condition
            on the data that begins with "if".
        write: the argument that makes the change, such as "related=False"; "" if there is none.
        error: the error of the best method after the change, in the units of the plan.
        times: the current error divided by `error`.
    """

    change: str
    write: str
    error: float
    times: float

    @property
    def help(self) -> Help:
        """The option as the object that the verdict of a release uses."""
        said = (self.write, self.change) if self.write else (self.change,)
        return Help(self.times, *said)


def option(change: str, write: str, now: float, then: float) -> Option:
    """Make an option from the errors before (`now`) and after (`then`) the change."""
    return Option(change, write, then, gain_over(now, then))


def by_sides(sides: Sequence[SideOutcome], question: Question) -> list[Option]:
    """Options that assume a weaker relation between budgets and values.

    Args:
        sides: the best method under each assumption.
        question: the plan's question; its assumption is one of those in `sides`.
    """
    errors = {side.related: error_of(side, question.loss) for side in sides}
    related, now = question.related, errors[question.related]
    return [
        option(defended(answer, cells=question.of_shares), f"related={answer}", now, error)
        for answer, error in errors.items()
        if float(answer) < float(related)
    ]


def by_about(trial: Trial, error: Callable[[Trial], float]) -> list[Option]:
    """The option to estimate the value for exactly these people instead of the population.

    Args:
        trial: the plan's trial.
        error: a function from a trial to its error, in the units of the plan.
    """
    if not trial.question.assumption.sampled:
        return []
    words = "if you ask about exactly these people, and not the population that they come from"
    now, then = error(trial), error(trial.asking(about="people"))
    return [option(words, 'about="people"', now, then)]


def by_guess(trial: Trial) -> list[Option]:
    """The option to guess the spread. Errors with and without the guess are for the same data.

    Args:
        trial: the plan's trial.
    """
    weighs = trial.found.answer.weighing is not None
    if trial.guess is not None or not hasattr(trial.question, "spread") or not weighs:
        return []
    guessed = trial.asking(spread=GUESS)
    now = Trial.error_for(trial.found, guessed.goal, trial.question.loss)
    words = f"if values have a standard deviation of about {percent(GUESS)} of the range"
    return [option(words, f"spread={GUESS}", now, guessed.error)]


def strictest_give_more(budgets: Budgets, error: Error) -> list[Option]:
    """The option that the strictest people raise their budgets by half.

    Args:
        budgets: the budgets, and the number of people with each.
        error: a function from budgets to the error of the best method, in the units of the plan.
    """
    budgets = merged(budgets, QUESTIONED)
    asked = (budgets.levels > 0.0) & np.isfinite(budgets.levels)
    if not asked.any():
        return []
    enough = np.cumsum(np.where(asked, budgets.counts, 0)) >= FEW * budgets.n
    last = int(np.argmax(enough)) if enough.any() else int(np.flatnonzero(asked)[-1])
    chosen = asked & (np.arange(len(asked)) <= last)
    levels = np.where(chosen, MORE * budgets.levels, budgets.levels)
    now, then = error(budgets), error(budgets_of(levels, budgets.counts))
    people, top = int(budgets.counts[chosen].sum()), float(budgets.levels[last])
    who = f"the {people:,} strictest people" if people > 1 else "the strictest person"
    who = "everyone" if people == budgets.n else who
    words = f"budgets half as large again for {who} (ε up to {number(top)})"
    if chosen.sum() == 1:
        words = f"ε = {number(MORE * top)} in place of {number(top)} for {who}"
    return [option(words, "", now, then)]


def put_best_first(options: Iterable[Option]) -> tuple[Option, ...]:
    """Sort options by how much they help, the most helpful first; ties keep their order."""
    return tuple(sorted(options, key=lambda option: -option.times))


def hint_of(options: Sequence[Option], loss: str, confidence: float) -> str:
    """One sentence on what would help most.

    Args:
        options: the options, the best first.
        loss: the loss of the error that they reduce.
        confidence: the confidence of the PAC error.
    """
    error = f"error at {percent(confidence)}" if loss == "pac" else "typical error"
    if not helps_most(each.help for each in options):
        return (
            "What would help most: nothing much. None of the other assumptions, guesses and small "
            f"changes of budgets tried makes the {error} {number(WORTH)} × smaller."
        )
    endlessly = "zero" if options[0].error == 0.0 else "finite"
    return help_words(options[0].help, error, endlessly=endlessly)


class WhatIf(NamedTuple):
    """The error after a change of people or budgets.

    Attributes:
        change: the change, in words.
        error: the error of the best method after the change.
        ratio: `error` divided by the current error.
    """

    change: str
    error: float
    ratio: float


class Need(NamedTuple):
    """The number of additional people needed for a wanted error.

    Attributes:
        epsilon: the budget of the additional people; None if they have the same mix of budgets as
            the others.
        people: the number of additional people; negative if fewer people in the same mix are
            enough; None if no number of people is enough.
    """

    epsilon: float | None
    people: int | None


def sensitivity(budgets: Budgets, error: Error) -> tuple[WhatIf, ...]:
    """Forecast the error for other people and other budgets.

    Args:
        budgets: the budgets, and the number of people with each.
        error: a function from budgets to the error of the best method.
    """
    budgets = merged(budgets, QUESTIONED)
    now = error(budgets)
    strict, generous = float(budgets.levels[0]), float(budgets.levels[-1])
    percent = f"{100 * SHARE:g} %"
    asked = [
        (f"{percent} more people, with budgets like these", _more(budgets, 1.0 + SHARE)),
        (f"{percent} fewer people", _more(budgets, 1.0 - SHARE)),
    ]
    if strict < generous:
        asked += [
            (f"{percent} of the people go to {level_name(strict)}", _moved(budgets, 0)),
            (f"{percent} of the people go to {level_name(generous)}", _moved(budgets, -1)),
        ]
    finite = budgets.levels[(budgets.levels > 0.0) & np.isfinite(budgets.levels)]
    for level in _few(finite):
        higher = level * MORE
        words = f"{level_name(level)} were {number(higher)} instead"
        asked.append((words, _instead(budgets, level, higher)))
    errors = [error(people) for _, people in asked]
    rows = zip(asked, errors, strict=True)
    return tuple(WhatIf(words, then, _ratio(then, now)) for (words, _), then in rows)


def need(
    budgets: Budgets, error: Error, wanted: float, levels: Iterable[float] | None = None
) -> tuple[Need, ...]:
    """Return how many more people are needed for a wanted error: in the same mix, and by level.

    Args:
        budgets: the budgets, and the number of people with each.
        error: a function from budgets to the error of the best method.
        wanted: the wanted error.
        levels: the levels to try one at a time; None for all levels above 0.
    """

    def fewest(counts: Callable[[int], Integers], start: int) -> int | None:
        def enough(people: int) -> bool:
            some = counts(people)
            try:
                asked = Budgets.of_levels(budgets.levels[some > 0], some[some > 0])
                return error(asked) <= wanted
            except (BudgetError, DataError):  # too few people, or too many to be tallied
                return False

        return _fewest(enough, start)

    def at(level: float, more: int) -> Integers:
        counts: Integers = budgets.counts + np.where(budgets.levels == level, more, 0)
        return counts

    total = fewest(functools.partial(in_proportion, budgets.counts), budgets.n)
    chosen = budgets.levels[budgets.levels > 0.0].tolist() if levels is None else levels
    alone = [Need(level, fewest(functools.partial(at, level), 0)) for level in chosen]
    return (Need(None, None if total is None else total - budgets.n), *alone)


def in_proportion(counts: Integers, total: int) -> Integers:
    """Scale the numbers of people at each level to a total.

    Numbers are rounded so that the total is exact and the first level has at least one person.

    Args:
        counts: the number of people at each level, the smallest ε first.
        total: the number of people after scaling.
    """
    people = int(counts.sum())
    upto = np.array([-(-each * total // people) for each in np.cumsum(counts).tolist()])
    scaled: Integers = np.diff(upto, prepend=0)
    return scaled


def needed(budgets: Budgets, error: Error, wanted: float | None) -> tuple[Need, ...]:
    """The result of `need` for the few levels that a plan shows; empty if no error is wanted."""
    if wanted is None:
        return ()
    budgets = merged(budgets, QUESTIONED)
    return need(budgets, error, wanted, _few(budgets.levels[budgets.levels > 0.0]))


def wanted_error(given: object, *, share: bool) -> float:
    """Check a wanted half-width.

    Args:
        given: the user's argument.
        share: whether the half-width is that of a share of people.

    Raises:
        ArgumentError: it is not a number above 0; or for a share, it is not below 1.
    """
    number = float(given) if isinstance(given, (int, float)) else math.nan
    if isinstance(given, bool) or not 0.0 < number < (1.0 if share else math.inf):
        unit = ", as a share: 0.02 for 2 percentage points" if share else " in data units"
        raise ArgumentError(f"goal must be a half-width, a number above 0{unit}.")
    return number


def _fewest(enough: Callable[[int], bool], start: int) -> int | None:
    """The smallest number of people that is enough, up to a relative error of 0.1 %.

    Args:
        enough: a function that returns whether a number of people is enough.
        start: the number to try first.

    Returns:
        The number; None if no number is enough.
    """
    high = start
    if enough(high):
        while high > 1 and enough(high // 2):
            high //= 2
    else:
        while not enough(high):
            high = max(2 * high, 1)
            if high > _MOST:
                return None
    if high == 0:
        return 0
    low = high // 2
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _more(budgets: Budgets, factor: float) -> Budgets:
    counts = np.maximum(np.round(budgets.counts * factor), 1).astype(np.int64)
    return Budgets.of_levels(budgets.levels, np.maximum(counts, 2 if len(counts) == 1 else 1))


def _moved(budgets: Budgets, place: int) -> Budgets:
    """Move a tenth of the people of every level to one level."""
    leaving = np.floor(budgets.counts * SHARE).astype(np.int64)
    leaving[place] = 0
    counts = budgets.counts - leaving
    counts[place] += leaving.sum()
    return Budgets.of_levels(budgets.levels, counts)


def _instead(budgets: Budgets, level: float, other: float) -> Budgets:
    levels = np.where(budgets.levels == level, other, budgets.levels)
    return budgets_of(levels, budgets.counts)


def _few(levels: Floats) -> list[float]:
    few: list[float] = levels[some_places(len(levels), _LEVELS)].tolist()
    return few


def level_name(level: float) -> str:
    """A budget level in words."""
    return "public records" if math.isinf(level) else f"ε = {number(level)}"


def _ratio(then: float, now: float) -> float:
    if then == now:
        return 1.0
    return then / now if now > 0.0 else math.inf
