"""What if: other assumptions, a guess, other people and other budgets, and what would help most."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from epsilons.budgets.levels import Budgets
from epsilons.errors import DataError
from epsilons.planning.trial import Errors, Trial, gain_over
from epsilons.questions import Question
from epsilons.questions.locate import budgets_of
from epsilons.results.release.derived import answers
from epsilons.results.report import number
from epsilons.results.report.numbers import percent
from epsilons.results.report.phrases import related_words
from epsilons.types import Floats

__all__ = [
    "GUESS",
    "Error",
    "Guess",
    "Need",
    "Option",
    "SideOutcome",
    "WhatIf",
    "by_about",
    "by_guess",
    "by_sides",
    "error_words",
    "guess_of",
    "hint_of",
    "need",
    "option",
    "outcomes",
    "put_best_first",
    "sensitivity",
    "strictest_give_more",
]

Error: TypeAlias = Callable[[Budgets], float]
"""The error of the best method, for any people."""

GUESS: Final = 0.1
"""The guess of the spread that is tried, in parts of the range."""

WORTH: Final = 1.02
"""What makes an error smaller by less is not worth a word."""

MORE: Final = 1.5
"""How many times their budget the strictest are asked for."""

FEW: Final = 0.01
"""The part of the people who are the strictest, at the least."""

SHARE: Final = 0.1
"""The part of the people who change their mind."""

_LEVELS: Final = 4
"""The levels that are asked about, if there are more."""

_MOST: Final = 2**33
"""People beyond whom no data set can be tallied."""


class SideOutcome(NamedTuple):
    """What is best if budgets are related to values in this way.

    Attributes:
        related: in which way.
        cap: the most that anyone spends.
        rmse: the typical error of the best method, in data units.
        pac: the error that it does not exceed with the plan's confidence.
        gain: how many times smaller the typical error is than with everyone at the strictest ε.
    """

    related: bool | float
    cap: float
    rmse: float
    pac: float
    gain: float


def outcomes(trial: Trial) -> tuple[SideOutcome, ...]:
    """What is best with each answer to whether budgets are related to values.

    Args:
        trial: whose assumption is one of those that are shown.
    """
    found = []
    for assumption in answers(trial.question.assumption):
        asked = trial.asking(related=assumption.related)
        rmse, pac = asked.errors
        gain = gain_over(asked.strictest, rmse)
        found.append(SideOutcome(assumption.related, asked.most, rmse, pac, gain))
    return tuple(found)


class Guess(NamedTuple):
    """What a guess of the spread does to the best method, in data units.

    Attributes:
        cap: the most that anyone spends with it.
        rmse: the typical error with it, if it is right.
        worst: the typical error with it, in the worst case over all data.
        plain_cap: the most that anyone spends without it.
        plain_rmse: the typical error without it, for the same data.
        plain_worst: the typical error without it, in the worst case.
    """

    cap: float
    rmse: float
    worst: float
    plain_cap: float
    plain_rmse: float
    plain_worst: float


def guess_of(trial: Trial) -> Guess | None:
    """What the guess of a question buys and costs; None if there is none."""
    if trial.guess is None:
        return None
    goal, found = trial.goal, []
    for asked in (trial, trial.asking(spread=None)):
        errors = [Trial.errors_for(asked.found, each).rmse for each in (goal, goal.worst)]
        found += [asked.most, *errors]
    return Guess(*found)


class Option(NamedTuple):
    """Something that could be assumed, guessed or asked for, and is not.

    Attributes:
        change: what, in words that begin with "if".
        write: how it is written; "" if it is nothing that is written.
        error: the error of the best method then, in the units of the plan.
        times: how many times smaller that is than now.
    """

    change: str
    write: str
    error: float
    times: float


def option(change: str, write: str, now: float, then: float) -> Option:
    """What a change would buy, from the errors now and then."""
    return Option(change, write, then, _times(now, then))


def by_sides(sides: Sequence[SideOutcome], question: Question) -> list[Option]:
    """What stronger answers to whether budgets go with values would buy.

    Args:
        sides: what is best with each answer.
        question: of the plan, whose answer is one of them.
    """
    errors = {side.related: Errors(side.rmse, side.pac).of(question.loss) for side in sides}
    related = question.related
    now = errors[related]
    found = []
    for answer, error in errors.items():
        if float(answer) >= float(related):
            continue
        words = "if budgets say nothing about values"
        if answer is not False:
            how = related_words(answer, cells=question.statistic == "frequencies")
            words = f"if budgets go with values {how}"
        found.append(option(words, f"related={answer}", now, error))
    return found


def by_about(trial: Trial, error: Callable[[Trial], float]) -> list[Option]:
    """What it would buy if these very people were asked about, and not their population.

    Args:
        trial: of the plan.
        error: of any trial, in the units of the plan.
    """
    if not trial.question.assumption.sampled:
        return []
    words = "if you ask about exactly these people, and not the population that they come from"
    now, then = error(trial), error(trial.asking(about="people"))
    return [option(words, 'about="people"', now, then)]


def by_guess(trial: Trial) -> list[Option]:
    """What a guess of the spread would buy if it is right: against no guess, on the same data.

    Args:
        trial: of the plan.
    """
    if trial.guess is not None or not hasattr(trial.question, "spread"):
        return []
    guessed = trial.asking(spread=GUESS)
    now = Trial.errors_for(trial.found, guessed.goal).of(trial.question.loss)
    words = (
        f"if it were known that values have a standard deviation of about {percent(GUESS)} of the "
        "range"
    )
    return [option(words, f"spread={GUESS}", now, guessed.error)]


def strictest_give_more(
    budgets: Budgets, error: Callable[[Budgets], float], now: float
) -> list[Option]:
    """What it would buy if the strictest people allowed half as much again.

    Args:
        budgets: the people.
        error: of the best method for any people, in the units of the plan.
        now: the error for these.
    """
    asked = (budgets.levels > 0.0) & np.isfinite(budgets.levels)
    if not asked.any():
        return []
    enough = np.cumsum(np.where(asked, budgets.counts, 0)) >= FEW * budgets.n
    last = int(np.argmax(enough)) if enough.any() else int(np.flatnonzero(asked)[-1])
    chosen = asked & (np.arange(len(asked)) <= last)
    levels = np.where(chosen, MORE * budgets.levels, budgets.levels)
    then = error(budgets_of(levels, budgets.counts))
    people, top = int(budgets.counts[chosen].sum()), number(float(budgets.levels[last]))
    where = f"ε = {top}" if chosen.sum() == 1 else f"ε up to {top}"
    who = "everyone" if people == budgets.n else f"the {people:,} strictest people"
    words = f"if {who}, at {where}, allowed half as much again"
    return [option(words, "", now, then)]


def put_best_first(options: Iterable[Option]) -> tuple[Option, ...]:
    """Options in the order of what they buy; of equals the first."""
    return tuple(sorted(options, key=lambda option: -option.times))


def hint_of(options: Sequence[Option], error: str) -> str:
    """One sentence on what would buy most.

    A weaker answer to the same question, which is easier to defend, stands beside the strongest.

    Args:
        options: the best first.
        error: what the error is called.
    """
    if not options or options[0].times <= WORTH:
        return (
            "What would help most: nothing much. None of the other assumptions, guesses and small "
            f"changes of budgets tried makes the {error} more than {percent(WORTH - 1.0)} smaller."
        )
    first = options[0]
    told = f"What would help most: {_clause(first)}, the {error} would be {_smaller(first.times)}"
    weaker = next((each for each in options if _weaker(each, first)), None)
    return told + ("." if weaker is None else f"; {_clause(weaker)}, {_smaller(weaker.times)}.")


def error_words(loss: str, confidence: float) -> str:
    """What the error of a loss is called."""
    return f"error at {percent(confidence)}" if loss == "pac" else "typical error"


def _weaker(option: Option, first: Option) -> bool:
    """Whether this is a weaker answer than that nothing is related."""
    both = first.write == "related=False" and option.write.startswith("related=")
    return both and option is not first and option.times > WORTH


def _clause(option: Option) -> str:
    return f"{option.change} ({option.write})" if option.write else option.change


def _smaller(times: float) -> str:
    return "zero" if math.isinf(times) else f"{number(times, 3)} × smaller"


def _times(now: float, then: float) -> float:
    """How many times smaller an error is."""
    if now == then or math.isinf(then):
        return 1.0
    return now / then if then > 0.0 else math.inf


class WhatIf(NamedTuple):
    """What would happen if something changed.

    Attributes:
        change: in words.
        error: the error of the best method then.
        ratio: how many times the error of now that is.
    """

    change: str
    error: float
    ratio: float


class Need(NamedTuple):
    """How many more people at one level would reach a wanted error.

    Attributes:
        epsilon: the level.
        people: how many more; None if no number would.
    """

    epsilon: float
    people: int | None


def sensitivity(budgets: Budgets, error: Error) -> tuple[WhatIf, ...]:
    """How the error would change with the people and with their budgets.

    Args:
        budgets: the people.
        error: of the best method.
    """
    now = error(budgets)
    strict, generous = float(budgets.levels[0]), float(budgets.levels[-1])
    percent = f"{100 * SHARE:g} %"
    asked = [
        (f"{percent} more people, with budgets like these", _more(budgets, 1.0 + SHARE)),
        (f"{percent} fewer people", _more(budgets, 1.0 - SHARE)),
    ]
    if strict < generous:
        asked += [
            (f"{percent} of the people go to {_name(strict)}", _moved(budgets, 0)),
            (f"{percent} of the people go to {_name(generous)}", _moved(budgets, -1)),
        ]
    finite = budgets.levels[(budgets.levels > 0.0) & np.isfinite(budgets.levels)]
    for level in _few(finite):
        higher = level * MORE
        words = f"{_name(level)} were {number(higher)} instead"
        asked.append((words, _instead(budgets, level, higher)))
    errors = [error(people) for _, people in asked]
    rows = zip(asked, errors, strict=True)
    return tuple(WhatIf(words, then, _ratio(then, now)) for (words, _), then in rows)


def need(budgets: Budgets, error: Error, wanted: float) -> tuple[Need, ...]:
    """How many more people at each level would reach an error.

    Args:
        budgets: the people.
        error: of the best method.
        wanted: the error that is to be reached.
    """
    return tuple(
        Need(level, _more_of(budgets, level, error, wanted))
        for level in budgets.levels.tolist()
        if level > 0.0
    )


def _more_of(budgets: Budgets, level: float, error: Error, wanted: float) -> int | None:
    """The smallest number of people to add to a level, to a part in a thousand."""

    def enough(people: int) -> bool:
        counts = budgets.counts + np.where(budgets.levels == level, people, 0)
        try:
            return error(Budgets.of_levels(budgets.levels, counts)) <= wanted
        except DataError:  # no data set has so many people
            return False

    if enough(0):
        return 0
    high = 1
    while not enough(high):
        high *= 2
        if high > _MOST:
            return None
    low = high // 2
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _more(budgets: Budgets, factor: float) -> Budgets:
    counts = np.maximum(np.round(budgets.counts * factor), 1).astype(np.int64)
    return Budgets.of_levels(budgets.levels, np.maximum(counts, 2 if len(counts) == 1 else 1))


def _moved(budgets: Budgets, place: int) -> Budgets:
    """Some of the people of every level go to one of them."""
    leaving = np.floor(budgets.counts * SHARE).astype(np.int64)
    leaving[place] = 0
    counts = budgets.counts - leaving
    counts[place] += leaving.sum()
    return Budgets.of_levels(budgets.levels, counts)


def _instead(budgets: Budgets, level: float, other: float) -> Budgets:
    levels = np.where(budgets.levels == level, other, budgets.levels)
    return budgets_of(levels, budgets.counts)


def _few(levels: Floats) -> list[float]:
    if len(levels) <= _LEVELS:
        return [float(level) for level in levels]
    chosen = np.linspace(0, len(levels) - 1, _LEVELS).round().astype(int)
    return [float(level) for level in levels[chosen]]


def _name(level: float) -> str:
    return "public records" if math.isinf(level) else f"ε = {number(level)}"


def _ratio(then: float, now: float) -> float:
    if then == now:
        return 1.0
    return then / now if now > 0.0 else math.inf
