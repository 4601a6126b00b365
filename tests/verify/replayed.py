"""Data and questions for the tests of replay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import epsilons as ep
from epsilons.verify import Replay, replay
from tests.assumed import SAMPLE
from tests.engines import FRAMES

SIZE = 120
LEVELS = [0.1, 0.5, 2.0]
CATEGORIES = ["bike", "car", "walk"]
RNG = np.random.default_rng(4)
WHO = [f"person {i // 2}" for i in range(SIZE)]
BUDGETS = [LEVELS[i // 2 % 3] for i in range(SIZE)]
COLUMNS: dict[str, list[Any]] = {
    "minutes": RNG.uniform(1.0, 9.0, SIZE).tolist(),
    "mode": [CATEGORIES[i % 3] for i in range(SIZE)],
    "epsilon": BUDGETS,
    "person": WHO,
}
# Under the assumption SAMPLE, weights differ more between budgets. So replay detects a value that
# is paired with the wrong budget.
QUESTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda minutes, _: ep.Mean(minutes, bounds=(0, 10), **SAMPLE),
    "mean, midpoint": lambda minutes, _: ep.Mean(minutes, bounds=(0, 10), missing="midpoint"),
    "frequencies": lambda _, mode: ep.Frequencies(
        mode, categories=CATEGORIES, other="other", **SAMPLE
    ),
    "bins": lambda minutes, _: ep.Frequencies(minutes, edges=[0, 3, 6, 10], other="other"),
}
TERMS: dict[str, dict[str, Any]] = {
    "replace": {"neighbours": "replace"},
    "add-remove": {"neighbours": "add-remove", "levels": LEVELS},
}


def frame() -> pl.DataFrame:
    return pl.DataFrame(COLUMNS)


FORMS = [*FRAMES, "pandas of objects"]


def held(found: Replay) -> None:
    assert found.holds, str(found)
    assert found.require() is found
    assert sum(outcome.moved for outcome in found.outcomes) >= 3
    assert len(str(found).splitlines()) <= 20


def asked(name: str, terms: str, data: Any, **more: Any) -> Replay:
    question = QUESTIONS[name]("minutes", "mode")
    given = {"epsilon": "epsilon", "person": "person", **TERMS[terms], **more}
    return replay(question, data=data, **given)


MANY = RNG.normal(50.0, 3.0, 2400)
OFFERED = RNG.choice([0.5, 2.0, 8.0], 2400)
