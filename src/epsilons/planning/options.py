"""What would buy most: another assumption, a guess, or a little more of the strictest people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from epsilons.budgets import Budgets
from epsilons.planning.sides import Outcome, best_of
from epsilons.report import number
from epsilons.report.numbers import percent
from epsilons.report.phrases import related_words
from epsilons.risk import Weighing
from epsilons.risk.goals import Goal, MeanGoal
from epsilons.statistics.locate import budgets_of

__all__ = [
    "GUESS",
    "Option",
    "by_about",
    "by_guess",
    "by_sides",
    "error_words",
    "hint_of",
    "in_units",
    "option",
    "put_best_first",
    "strictest_give_more",
]

GUESS: Final = 0.1
"""The guess of the spread that is tried, in parts of the range."""

WORTH: Final = 1.02
"""What makes an error smaller by less is not worth a word."""

MORE: Final = 1.5
"""How many times their budget the strictest are asked for."""

FEW: Final = 0.01
"""The part of the people who are the strictest, at the least."""


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


def by_sides(sides: Sequence[Outcome], goal: Goal) -> list[Option]:
    """What stronger answers to whether budgets go with values would buy.

    Args:
        sides: what is best with each answer.
        goal: of the plan, whose answer is one of them.
    """
    errors = {side.related: side.pac if goal.loss == "pac" else side.rmse for side in sides}
    related = goal.assumption.related
    now = errors[related]
    found = []
    for answer, error in errors.items():
        if float(answer) >= float(related):
            continue
        words = "if budgets say nothing about values"
        if answer is not False:
            how = related_words(answer, cells=goal.categories is not None)
            words = f"if budgets go with values {how}"
        found.append(option(words, f"related={answer}", now, error))
    return found


def by_about(goal: Goal, error: Callable[[Goal], float]) -> list[Option]:
    """What it would buy if these very people were asked about, and not their population.

    Args:
        goal: of the plan.
        error: of the best method for a goal, in the units of the plan.
    """
    if not goal.assumption.sampled:
        return []
    people = replace(goal, assumption=replace(goal.assumption, about="people"))
    then = error(people)
    words = "if you ask about exactly these people, and not the population that they come from"
    return [option(words, 'about="people"', error(goal), then)]


def by_guess(
    budgets: Budgets, goal: Goal, width: float, neighbours: str, cap: float | None
) -> list[Option]:
    """What a guess of the spread would buy if it is right: against no guess, on the same data.

    Args:
        budgets: the people.
        goal: of the plan.
        width: of the range of the values.
        neighbours: what counts as a change of one person.
        cap: for add/remove, the most that anyone spends, if the caller said so.
    """
    if not isinstance(goal, MeanGoal) or goal.guessed:
        return []
    guessed = replace(goal, spread=GUESS)
    now, then = (
        in_units(guessed, best_of(budgets, asked, neighbours, cap)[0], width)
        for asked in (goal, guessed)
    )
    words = (
        f"if it were known that values have a standard deviation of about {percent(GUESS)} of the "
        "range"
    )
    return [option(words, f"spread={GUESS}", now, then)]


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


def in_units(goal: Goal, weighing: Weighing, width: float) -> float:
    """The error of an estimator for the loss of a goal, in data units."""
    return width * goal.typical(goal.risk(weighing))


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
