"""Recorded calls of means and frequencies under add/remove, on a known range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import epsilons as ep
from tests.recorded import people as p, place as call
from tests.recorded.means import ASSUMED
from tests.recorded.place import Calls, Run

METHODS = ("auto", "transformed", "hourglass", "staircase2d", "shifted", "independent")
OFFERED = [0.1, 0.5, 1.0, 2.0]
GUESSED = {0.1: 50, 0.5: 70, 1.0: 70, 2.0: 50}
FIVES = np.full(60, 0.5)


def mean(values: Any, epsilon: Any, bounds: Any = (0, 100), **more: Any) -> Run:
    return call.mean(values, epsilon, bounds, neighbours="add-remove", **more)


def shares(values: Any, epsilon: Any, **more: Any) -> Run:
    return call.frequencies(values, epsilon, neighbours="add-remove", **more)


def _by_method() -> dict[str, Run]:
    calls: dict[str, Run] = {}
    for place, name in enumerate(METHODS):
        told, words = ASSUMED[place % 3]
        few = slice(0, 60)  # for many people, intervals of staircase noise are slow
        calls[f"{name}, guessed, {told}"] = mean(
            p.VALUES[few], p.EPSILON[few], method=name, levels=GUESSED, **words
        )
        calls[f"{name}, guessed, pac"] = mean(
            p.VALUES[few], p.EPSILON[few], method=name, levels=GUESSED, loss="pac", confidence=0.9
        )
        calls[f"{name}, offered"] = mean(
            p.VALUES[few],
            p.EPSILON[few],
            method=name,
            levels=OFFERED,
            **ASSUMED[(place + 2) % 3][1],
        )
        calls[f"{name}, one epsilon"] = mean(p.VALUES[few], 1.5, method=name)
    return calls


CALLS: Calls = {
    **{f"mean, {name}": run for name, run in _by_method().items()},
    "mean, no levels": mean(p.VALUES, p.EPSILON),
    "mean, no levels, related": mean(p.VALUES, p.EPSILON, about="people", related=0.05),
    "mean, cap": mean(p.VALUES, p.EPSILON, cap=0.8),
    "mean, cap and levels": mean(p.VALUES, p.EPSILON, cap=0.8, levels=OFFERED),
    "mean, cap and guesses, related": mean(
        p.VALUES, p.EPSILON, cap=1.0, levels=GUESSED, about="people", related=True
    ),
    "mean, cap and one epsilon": mean(p.VALUES, 2.0, cap=0.5),
    "mean, offered, related, auto": mean(
        p.VALUES, p.EPSILON, levels=OFFERED, about="people", related=True
    ),
    "mean, offered, unrelated": mean(
        p.VALUES, p.EPSILON, levels=OFFERED, about="people", related=False
    ),
    **{
        f"mean, {name}, {about}, {related}": mean(
            p.VALUES, p.EPSILON, levels=levels, about=about, related=related
        )
        for name, levels in (("offered", OFFERED), ("guessed", GUESSED))
        for about, related in (("people", 0.05), ("population", True), ("population", 0.05))
    },
    "frequencies, offered, population, 0.05": shares(
        p.TEXT, p.EPSILON, categories=p.WORDS, levels=OFFERED, about="population", related=0.05
    ),
    "mean, one level": mean(p.VALUES, p.EPSILON, levels=[0.5], about="people", related=True),
    "mean, Budgets for levels": mean(p.VALUES, p.EPSILON, levels=ep.Budgets(GUESSED)),
    "mean, public people": mean(p.VALUES, p.WITH_PUBLIC, levels=[0.1, 0.5, 1, 2, math.inf]),
    "mean, holes": mean(p.HOLES, p.EPSILON, levels=GUESSED),
    "mean, strange budgets": mean(
        p.VALUES, np.where(np.arange(p.N) % 7 == 0, np.nan, p.EPSILON - 0.2), levels=GUESSED
    ),
    "mean, several rows": mean(p.VALUES, p.OF_PERSON, person=p.PERSON, levels=[0.3, 1.0, 2.5]),
    "mean, two budgets of a person": mean(p.VALUES, p.EPSILON, person=p.PERSON, levels=OFFERED),
    "mean, nobody": mean([], [], levels=GUESSED),
    "mean, one person": mean([7.0], [1.0], levels=OFFERED, cap=1.0),
    "mean, a crowd": mean(p.CROWD_VALUES, p.CROWD_EPSILON, levels={0.25: 1000, 1: 1000, 3: 1000}),
    "mean, wrong guesses": mean(p.VALUES, p.EPSILON, levels={0.1: 5, 2.0: 90_000}),
    "mean, 500 budgets": mean(p.DISTINCT_VALUES, p.DISTINCT, cap=2.0),
    "mean, tiny budgets": mean(p.VALUES, 1e-6),
    "mean, huge budget": mean(p.VALUES, 1e7),
    "frequencies, no levels": shares(p.TEXT, p.EPSILON, categories=p.WORDS),
    "frequencies, offered": shares(p.TEXT, p.EPSILON, categories=p.WORDS, levels=OFFERED),
    "frequencies, offered, related": shares(
        p.TEXT, p.EPSILON, categories=p.WORDS, levels=OFFERED, about="people", related=True
    ),
    "frequencies, guessed": shares(
        p.TEXT, p.EPSILON, categories=p.WORDS, levels=GUESSED, method="transformed"
    ),
    "frequencies, guessed, unrelated, pac": shares(
        p.TEXT,
        p.EPSILON,
        categories=p.WORDS,
        levels=GUESSED,
        about="people",
        related=False,
        loss="pac",
    ),
    "frequencies, cap": shares(p.TEXT, p.EPSILON, categories=p.WORDS, cap=0.6),
    "frequencies, one epsilon": shares(
        p.TEXT, 0.9, categories=p.WORDS, about="people", related=True
    ),
    "frequencies, other": shares(
        p.TEXT, p.EPSILON, categories=["bus"], other="else", levels=GUESSED
    ),
    "frequencies, undeclared": shares(p.TEXT, p.EPSILON, categories=["bus", "car"], levels=GUESSED),
    "frequencies, edges": shares(p.HOLES, p.EPSILON, edges=[0, 30, 100], levels=OFFERED),
    "frequencies, not projected": shares(
        p.TRUTH, p.EPSILON, categories=[True, False], levels=GUESSED, project=False
    ),
    "frequencies, several rows": shares(
        p.TEXT, p.OF_PERSON, categories=p.WORDS, person=p.PERSON, levels=[0.3, 1.0, 2.5]
    ),
    "frequencies, nobody": shares([], [], categories=[0, 1], levels=GUESSED),
}
