"""Recorded calls of means on a known range, under replace."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from epsilons.budgets.allocation import RULES
from tests.recorded import people as p
from tests.recorded.place import SAMPLE, Calls, Run, mean, sampled_mean, with_sampling

ASSUMED: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("sample", SAMPLE),
    ("unrelated", {"about": "people", "related": False}),
    ("related", {"about": "people", "related": True}),
)
"""Assumptions, by name."""

DEFAULT = ASSUMED[-1][1]

NAMES: Final = ("auto", *with_sampling(RULES))


def _by(name: str, values: Any, epsilon: Any, **more: Any) -> Run:
    """Return a call of a mean with a rule, or with sampling."""
    if name == "sampling":
        return sampled_mean(values, epsilon, **more)
    return mean(values, epsilon, method=name, **more)


def _by_rule() -> dict[str, Run]:
    """Return calls with every rule, under every assumption, for both losses."""
    calls: dict[str, Run] = {}
    for name, (told, words) in itertools.product(NAMES, ASSUMED):
        calls[f"{name}, {told}"] = _by(name, p.VALUES, p.EPSILON, **words)
    for place, name in enumerate(NAMES):
        told, words = ASSUMED[place % 3]
        calls[f"{name}, {told}, pac"] = _by(
            name, p.VALUES, p.MIXED, loss="pac", confidence=0.9, **words
        )
        calls[f"{name}, one public"] = _by(
            name, p.VALUES, p.WITH_PUBLIC, **ASSUMED[(place + 1) % 3][1]
        )
    for told, words in ASSUMED:
        calls[f"auto, {told}, pac, plain"] = mean(p.VALUES, p.EPSILON, loss="pac", **words)
        calls[f"auto, {told}, pac at 0.3"] = mean(
            p.VALUES, p.EPSILON, loss="pac", confidence=0.3, **words
        )
    return calls


CALLS: Calls = {
    **_by_rule(),
    "default": mean(p.VALUES, p.EPSILON, **DEFAULT),
    "default, pac": mean(p.VALUES, p.EPSILON, loss="pac", **DEFAULT),
    **{
        f"a little related, {about}": mean(p.VALUES, p.EPSILON, about=about, related=0.05)
        for about in ("people", "population")
    },
    "a population, related": mean(p.VALUES, p.EPSILON, about="population", related=True),
    "a population, related, pac": mean(
        p.VALUES, p.EPSILON, about="population", related=True, loss="pac", confidence=0.9
    ),
    "a little related, sampling": sampled_mean(p.VALUES, p.EPSILON, about="people", related=0.2),
    "ten people": mean(p.FEW_VALUES, p.FEW_EPSILON, (0, 10)),
    "ten people, staircase": mean(p.FEW_VALUES, p.FEW_EPSILON, (0, 10), method="staircase"),
    "lists": mean(p.FEW_VALUES.tolist(), p.FEW_EPSILON.tolist(), (0, 10)),
    "two people": mean([1.0, 2.0], [0.5, 3.0], (0, 10)),
    "one budget for all": mean(p.VALUES, 0.7),
    "one budget for all, staircase": mean(p.VALUES, 8.0, method="staircase"),
    "a Decimal for all": mean(p.VALUES, Decimal("0.1")),
    "Fractions": mean([1.0, 2.0, 3.0], [Fraction(1, 3), Fraction(2, 3), Fraction(5)], (0, 4)),
    "integers of budgets": mean(p.VALUES, np.full(p.N, 2, dtype=np.int64)),
    "negative bounds": mean(p.VALUES - 80.0, p.EPSILON, (-80.5, 20.25)),
    "tiny range": mean(p.VALUES * 1e-9, p.EPSILON, (0.0, 1e-7)),
    "huge range": mean(p.VALUES * 1e148, p.EPSILON, (-1e150, 1e150)),
    "bounds as a list": mean(p.VALUES, p.EPSILON, [0, 100.0]),
    "several rows of a person": mean(p.VALUES, p.OF_PERSON, person=p.PERSON),
    "several rows, text of persons": mean(
        p.VALUES, p.OF_PERSON, person=[f"p{each}" for each in p.PERSON]
    ),
    "several rows, sampling": sampled_mean(p.VALUES, p.OF_PERSON, person=p.PERSON),
    "several rows with holes": mean(p.HOLES, p.OF_PERSON, person=p.PERSON, missing="midpoint"),
    "holes": mean(p.HOLES, p.EPSILON, missing="midpoint"),
    "holes, sampling": sampled_mean(p.HOLES, p.EPSILON, missing="midpoint"),
    "infinite values": mean(
        np.where(p.VALUES > 90, np.inf, p.VALUES), p.EPSILON, missing="midpoint"
    ),
    "None among lists": mean(
        [1.0, None, 3.0, 4.0], [0.5, 1.0, 1.0, 2.0], (0, 5), missing="midpoint"
    ),
    "zeros beside": mean(p.VALUES, np.where(np.arange(p.N) < 200, 0.0, 1.0)),
    "many public": mean(p.VALUES, p.MANY_PUBLIC),
    "many public, related": mean(p.VALUES, p.MANY_PUBLIC, about="people", related=True),
    "all public": mean(p.VALUES, math.inf),
    "all public, related": mean(p.VALUES, np.full(p.N, np.inf), about="people", related=True),
    "public beside next to nothing": mean(
        p.VALUES, np.where(np.arange(p.N) < 3, math.inf, 1e-12), about="people", related=True
    ),
    "500 budgets": mean(p.DISTINCT_VALUES, p.DISTINCT),
    "500 budgets, related": mean(p.DISTINCT_VALUES, p.DISTINCT, about="people", related=True),
    "500 budgets, staircase": mean(p.DISTINCT_VALUES, p.DISTINCT, method="staircase"),
    "500 budgets, sampling": sampled_mean(p.DISTINCT_VALUES, p.DISTINCT),
    "500 budgets, affine, pac": mean(
        p.DISTINCT_VALUES, p.DISTINCT, method="affine", loss="pac", about="people", related=False
    ),
    "tiny budgets": mean(p.VALUES, p.EPSILON * 1e-9),
    "next to nothing": mean(p.VALUES, 1e-15),
    "huge budgets": mean(p.VALUES, p.EPSILON * 1e9),
    "tiny and huge": mean(p.VALUES, np.where(p.EPSILON > 0.7, 1e12, 1e-12)),
    "largest float": mean(p.VALUES, 1.7e308),
    "weak budgets are warned of": mean(p.VALUES, p.EPSILON * 30.0),
    "close budgets": mean(p.VALUES, 1.0 + p.EPSILON * 1e-15),
    "a crowd": mean(p.CROWD_VALUES, p.CROWD_EPSILON),
    "a crowd, related, pac": mean(
        p.CROWD_VALUES, p.CROWD_EPSILON, about="people", related=True, loss="pac", confidence=0.99
    ),
    "a crowd, sampling": sampled_mean(p.CROWD_VALUES, p.CROWD_EPSILON),
    "float32": mean(p.VALUES.astype(np.float32), p.EPSILON.astype(np.float32)),
    "integers": mean(np.arange(60), np.full(60, 0.5)),
    "zeros and ones": mean(np.arange(60) % 2, np.full(60, 0.5), (0, 1), confidence=0.6),
}
