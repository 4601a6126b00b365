"""In each step of a statistic, all but the total is public, and losses are within budgets.

A statistic is a generator: its caller sees each mechanism before anything is drawn from it. These
tests act as the caller. Under add/remove and with the same drawn numbers, everything that a
statistic yields except totals, and its answer, must be the same for all data. For all budgets,
nobody is charged more than they offer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation.declared import declared_of
from epsilons.budgets.levels import float_down
from epsilons.draws.accounts import Charge, sum_of
from epsilons.draws.mechanisms import Selection
from epsilons.errors import BudgetError
from epsilons.questions.question import Answer, Call, Draw, Question
from epsilons.questions.steps.designs import two_sums_design
from epsilons.questions.steps.ways import counted_first
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED
from tests.plain import plain
from tests.tallied import of_numbers

pytestmark = pytest.mark.usefixtures("shorter")


@dataclass(frozen=True)
class Run:
    """A completed run of a statistic: the yielded draws, the values sent back, and the answer."""

    yielded: list[Draw]
    sent: list[Any]
    answer: Answer


def driven(question: Question, call: Call, earlier: Run | None = None) -> Run:
    """Run a statistic to its end. If there is an earlier run, send the values that it drew."""
    question.check(call.neighbours)
    source = ep.Seeded(7)
    steps = question.steps(question.open(call), call)
    yielded: list[Draw] = []
    sent: list[Any] = []
    answer = None
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            return Run(yielded, sent, end.value)
        if earlier is None:
            answer = step.mechanism.draw(source, total=step.total)
        else:
            answer = earlier.sent[len(yielded)]
        yielded.append(step)
        sent.append(answer)


def called(
    epsilon: Any, neighbours: str = "replace", levels: Any = None, cap: Any = None, parts: int = 1
) -> Call:
    declared = declared_of(epsilon, levels, cap) if neighbours == "add-remove" else None
    return Call(epsilon, None, None, neighbours, declared, Fraction(1, parts))


# Only totals depend on who is in the data.

People = tuple[np.ndarray, np.ndarray]


def people(size: int, seed: int, *, centre: float, budgets: Sequence[float]) -> People:
    rng = np.random.default_rng(seed)
    return rng.normal(centre, 1.0, size), rng.choice(budgets, size)


EVERYBODY: dict[str, People] = {
    "many": people(1500, 1, centre=1e9, budgets=[0.5, 2.0, 8.0]),
    "nobody": (np.zeros(0), np.zeros(0)),
    "one": (np.array([-1e300]), np.array([0.5])),
    "others": people(40, 2, centre=-3.0, budgets=[0.0, 0.3, 7.0, math.inf, math.nan]),
    "the rich": people(700, 3, centre=0.5, budgets=[8.0]),
}

FACTS: dict[str, dict[str, Any]] = {
    "levels": {"levels": [0.5, 2.0, 8.0]},
    "a guess": {"levels": {0.5: 300, 2.0: 300, 8.0: 300}},
    "levels and a cap": {"levels": [0.5, 2.0, 8.0], "cap": 3.0},
    "nothing known": {},
    "a cap": {"cap": 3.0},
}


def public(step: Draw) -> Any:
    """Return everything in a step except the total."""
    return plain(replace(step, total=None)), plain(step.mechanism.losses), plain(step.charged)


# Staircase noise needs declared levels, and thousands of rungs (budget levels) are slow.
def test_the_range_is_looked_for_more_than_once() -> None:
    """The range is searched for in several rounds.

    So the test above covers windows and later rounds, which could leak.
    """
    values, epsilon = EVERYBODY["many"]
    run = driven(ep.Mean(values, bounds=None), called(epsilon, "add-remove", **FACTS["a guess"]))
    assert sum(isinstance(draw.mechanism, Selection) for draw in run.yielded) >= 4


@pytest.mark.parametrize("facts", FACTS)
def test_who_is_counted_first_decides_nothing_but_the_total(facts: str) -> None:
    goal = MeanGoal(RELATED, "mse", 0.95)
    terms = declared_of(np.ones(2), FACTS[facts].get("levels"), FACTS[facts].get("cap"))

    def choose(known: Any) -> Any:
        return two_sums_design(known, goal, "transformed", bounds=(0.0, 1.0))

    found = []
    for scale in (1, 1000):
        rungs = terms.ladder.levels[-3:]
        counts = scale * np.arange(1, 4)
        counting = counted_first(terms, goal, choose, of_numbers(rungs, counts, counts * 5))
        seen: list[Any] = []
        try:
            draw = next(counting)
            assert draw.total.sum() == counts.sum()
            seen.append(public(draw))
            while True:
                draw = counting.send((70,) * len(draw.total))
        except StopIteration as end:
            seen.append(plain(end.value))
        found.append(seen)
    assert found[0] == found[1]


# Nobody is charged more than they offer.

FEW, ENOUGH = 60, 2000
"""Two numbers of people: too few to find a range, and enough."""

VALUES = np.random.default_rng(3).normal(0.5, 0.1, ENOUGH)
TINY, SMALLEST, HUGE = 5e-324, 2.0**-40, 1e300

BUDGETS: dict[str, Sequence[float]] = {
    "every kind": [0.0, TINY, SMALLEST, 0.3, 7.0, HUGE, math.inf],
    "many": (10.0 ** np.random.default_rng(4).uniform(-3.0, 2.0, FEW)).tolist(),
    "zeros": [0.0, 1.0],
    "tiny": [TINY, 1e-300, SMALLEST, 1e-6],
    "huge": [1e6, 2.0**20, HUGE],
    "infinite": [0.1, 3.0, math.inf],
    "all infinite": [math.inf],
    "neighbours": [1.0, math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)],
}

DECLARED: dict[str, dict[str, Any]] = {
    "levels": {"levels": [SMALLEST, 0.3, 7.0, 2.0**20]},
    "public levels": {"levels": [0.3, math.inf]},
    "a guess": {"levels": {SMALLEST: 5, 0.3: 0, 7.0: 10**6}},
    "a tiny cap": {"levels": [0.3, 7.0], "cap": SMALLEST * 4},
    "nothing known": {},
}

ASKED: dict[str, Question] = {
    "mean": ep.Mean(VALUES[:FEW], bounds=(0, 1)),
    "unknown range": ep.Mean(VALUES, bounds=None),
    "frequencies": ep.Frequencies(VALUES[:FEW], edges=[0.0, 0.4, 0.6], other="else"),
}


def given(question: Question, budgets: Sequence[float]) -> np.ndarray:
    """Return a budget for everyone, by repeating the given budgets."""
    return np.resize(budgets, len(question.values))


def ways(neighbours: str) -> list[tuple[str, str]]:
    """Return every statistic with each of its methods."""
    return [(name, method) for name in ASKED for method in ASKED[name].methods(neighbours)]


def charged(run: Run, call: Call, budget: float) -> Fraction | float:
    """Return the total loss of a person with this budget."""
    total = sum_of(Charge(*draw.charged) for draw in run.yielded)
    return Charge(call.budgets(total.levels), total.losses).on(np.array([budget]))[0]


def affordable(question: Question, call: Call, budgets: Sequence[float]) -> bool:
    """Check that nobody is charged more than their share. Return whether there is an answer."""
    try:
        run = driven(question, call)
    except BudgetError:  # raised before anything is drawn, as `test_corridor.py` checks
        assert call.neighbours == "replace"
        return False
    for draw in run.yielded:
        assert all(loss >= 0 for loss in draw.mechanism.losses)
        assert len(draw.mechanism.losses) == len(draw.mechanism.levels)
    for budget in budgets:
        taken = charged(run, call, budget)
        assert taken / call.share <= (budget if math.isinf(budget) else Fraction(budget))
        offered = budget if math.isinf(budget) else float_down(Fraction(budget) * call.share)
        said = run.answer.spent(offered)
        assert said <= offered
        assert float(taken) <= said * (1 + 1e-12)
    assert [draw.more for draw in run.yielded] == [True] * (len(run.yielded) - 1) + [False]
    return True


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(("name", "method"), ways("replace"))
def test_under_replace_nobody_is_charged_more_than_they_offer(
    name: str, method: str, parts: int
) -> None:
    question = replace(ASKED[name], method=method)
    answered = [
        kind
        for kind, budgets in BUDGETS.items()
        if affordable(question, called(given(question, budgets), parts=parts), budgets)
    ]
    # In "zeros", half of the people have a budget of 0.
    assert {"many", "huge", "infinite", "zeros"} <= set(answered)
    assert "every kind" in answered  # its smallest budgets count as 0
