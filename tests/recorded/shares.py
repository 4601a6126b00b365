"""Recorded calls of frequencies under replace."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from epsilons.budgets.allocation import FREQUENCY_RULES
from tests.recorded import people as p
from tests.recorded.means import ASSUMED
from tests.recorded.place import Calls, Run, frequencies, sampled_frequencies, with_sampling


def _by(name: str, epsilon: Any, **more: Any) -> Run:
    """Return a call of frequencies with a rule, or with sampling."""
    if name == "sampling":
        return sampled_frequencies(p.TEXT, epsilon, categories=p.WORDS, **more)
    return frequencies(p.TEXT, epsilon, categories=p.WORDS, method=name, **more)


def _by_rule() -> dict[str, Run]:
    calls: dict[str, Run] = {}
    for place, name in enumerate(("auto", *with_sampling(FREQUENCY_RULES))):
        told, words = ASSUMED[place % 3]
        calls[f"{name}, {told}"] = _by(name, p.EPSILON, **words)
        told, words = ASSUMED[(place + 1) % 3]
        calls[f"{name}, {told}, pac"] = _by(name, p.MIXED, loss="pac", confidence=0.9, **words)
    return calls


CALLS: Calls = {
    **_by_rule(),
    "auto, related": frequencies(
        p.TEXT, p.EPSILON, categories=p.WORDS, about="people", related=True
    ),
    "a little related": frequencies(
        p.TEXT, p.EPSILON, categories=p.WORDS, about="people", related=0.05
    ),
    "a population, related": frequencies(
        p.TEXT, p.EPSILON, categories=p.WORDS, about="population", related=True
    ),
    "a population, a little related, pac": frequencies(
        p.TEXT, p.MIXED, categories=p.WORDS, about="population", related=0.1, loss="pac"
    ),
    "not projected": frequencies(p.TEXT, p.EPSILON * 0.1, categories=p.WORDS, project=False),
    "projected": frequencies(p.TEXT, p.EPSILON * 0.1, categories=p.WORDS),
    "another order": frequencies(p.TEXT, p.EPSILON, categories=p.WORDS[::-1]),
    "text, other": frequencies(p.TEXT, p.EPSILON, categories=["bus", "car"], other="else"),
    "text, other is one": frequencies(
        p.TEXT, p.EPSILON, categories=["bus", "car", "walk"], other="walk"
    ),
    "missing text, other": frequencies(
        [None if k % 9 == 0 else each for k, each in enumerate(p.TEXT.tolist())],
        p.EPSILON,
        categories=p.WORDS,
        other="?",
    ),
    "integers": frequencies(p.WHOLE, p.EPSILON, categories=[-1, 0, 1, 2, 3]),
    "integers, other": frequencies(p.WHOLE, p.EPSILON, categories=[0, 2], other=-7),
    "booleans": frequencies(p.TRUTH, p.EPSILON, categories=[False, True]),
    "edges": frequencies(p.VALUES, p.EPSILON, edges=[-100, 20, 50.5, 60, 200]),
    "edges, other": frequencies(p.HOLES, p.EPSILON, edges=[0, 50, 100], other="out"),
    "pairs": frequencies(p.VALUES, p.EPSILON, edges=[(-100, 30), (30, 70), (70, math.inf)]),
    "pairs with gaps": frequencies(
        p.VALUES, p.EPSILON, edges=[(0, 30), (40, 70)], other="elsewhere"
    ),
    "infinite edges": frequencies(p.VALUES, p.EPSILON, edges=[-math.inf, 0.0, math.inf]),
    "several rows of a person": frequencies(
        p.TEXT, p.OF_PERSON, categories=p.WORDS, person=p.PERSON
    ),
    "seventeen rows of a person": frequencies(
        np.arange(170) % 3, np.full(170, 1.0), categories=[0, 1, 2], person=np.arange(170) % 10
    ),
    "one budget for all": frequencies(p.TEXT, 0.4, categories=p.WORDS),
    "one public": frequencies(p.TEXT, p.WITH_PUBLIC, categories=p.WORDS),
    "many public": frequencies(
        p.TEXT, p.MANY_PUBLIC, categories=p.WORDS, about="people", related=True
    ),
    "all public": frequencies(p.TEXT, math.inf, categories=p.WORDS),
    "tiny budgets": frequencies(p.TEXT, p.EPSILON * 1e-9, categories=p.WORDS),
    "huge budgets": frequencies(p.TEXT, p.EPSILON * 1e9, categories=p.WORDS),
    "500 budgets": frequencies(p.DISTINCT_VALUES, p.DISTINCT, edges=[0, 10, 60, 100]),
    "100 categories": frequencies(
        (p.CROWD_VALUES.astype(np.int64) % 100), p.CROWD_EPSILON, categories=list(range(100))
    ),
    "a crowd": frequencies(p.CROWD_VALUES, p.CROWD_EPSILON, edges=[0, 20, 40, 1000]),
    "ten people": frequencies(
        ["a", "b"] * 5, p.FEW_EPSILON, categories=["a", "b", "c"], confidence=0.8
    ),
}
