"""Under add/remove, no data are ever rejected. Bad arguments are rejected before any draw."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, BoundsError, BudgetError, ColumnError, EpsilonsError
from tests.engines import on_engine
from tests.questions.add_remove_cases import Dry, Row, columns, word

pytestmark = pytest.mark.usefixtures("shorter")

DATA: dict[str, list[Row]] = {
    "empty": [],
    "one person": [(0.3, 1.0, "a")],
    "all missing": [(None, 1.0, "a"), (math.nan, 2.0, "b"), (math.inf, 2.0, "c")],
    "all budgets bad": [(0.1, None, "a"), (0.2, -1.0, "b"), (0.3, math.nan, "c")],
    "all at zero": [(0.1, 0.0, "a"), (0.2, 0.0, "b")],
    "two budgets": [(0.1, 1.0, "a"), (0.9, 2.0, "a")],
    "nobody": [(0.1, 1.0, None), (0.9, 2.0, None)],
    "undeclared": [(0.55, 1.0, "a"), (0.56, 2.0, "b")],
    "all public": [(0.1, math.inf, "a"), (0.9, math.inf, "b")],
}
FORMS = ["arrays", "pandas", "polars", "csv"]


def known(form: str) -> list[dict[str, Any]]:
    """Return public facts.

    Without declared levels there are thousands of rungs (budget levels), which are slow, so only
    arrays are tested.
    """
    few: list[dict[str, Any]] = [{"levels": [0.5, 1.0]}, {"epsilon": 1.0}]
    return [*few, {"related": False}] if form == "arrays" else few


def table(form: str, rows: list[Row], directory: Path, *, words: bool) -> Any:
    values, budgets, people = columns(rows)
    shown = [word(v) for v in values] if words else values
    schema = {"x": pl.String if words else pl.Float64, "e": pl.Float64, "who": pl.String}
    frame = pl.DataFrame({"x": shown, "e": budgets, "who": people}, schema=schema)
    if form == "pandas":
        typed = {"x": "str" if words else "float64", "e": "float64", "who": "str"}
        made = pd.DataFrame({"x": shown, "e": budgets, "who": people})
        return made if len(made) and words else made.astype({"x": typed["x"], "e": "float64"})
    return on_engine(form, frame, directory)


FRAME = pl.DataFrame({"x": [0.1, 0.2], "e": [1.0, 2.0], "who": ["a", "b"], "word": ["v", "w"]})
BAD: dict[str, tuple[type[EpsilonsError], str, dict[str, Any]]] = {
    "bounds": (BoundsError, "reversed", {"bounds": (1, 0)}),
    "bounds text": (BoundsError, "two numbers", {"bounds": "x"}),
    "levels empty": (BudgetError, "levels", {"levels": []}),
    "levels zero": (BudgetError, "levels", {"levels": [0.0]}),
    "levels negative": (BudgetError, "levels", {"levels": [-1.0]}),
    "levels NaN": (BudgetError, "levels", {"levels": [math.nan]}),
    "levels text": (BudgetError, "levels", {"levels": "1"}),
    "levels of text": (BudgetError, "levels", {"levels": ["1"]}),
    "levels bool": (BudgetError, "levels", {"levels": [True]}),
    "levels number": (BudgetError, "levels", {"levels": 1.0}),
    "levels too close": (BudgetError, "nine", {"levels": [1.0, 1.0001]}),
    "levels too many": (BudgetError, "levels", {"levels": np.geomspace(0.01, 10.0, 300)}),
    "guess negative": (ArgumentError, "whole", {"levels": {1.0: -1}}),
    "guess fraction": (ArgumentError, "whole", {"levels": {1.0: 1.5}}),
    "guess text": (ArgumentError, "whole", {"levels": {1.0: "many"}}),
    "levels and one ε": (ArgumentError, "levels", {"levels": [1.0], "epsilon": 1.0}),
    "cap zero": (BudgetError, "cap", {"cap": 0.0}),
    "cap negative": (BudgetError, "cap", {"cap": -1.0}),
    "cap NaN": (BudgetError, "cap", {"cap": math.nan}),
    "cap text": (BudgetError, "cap", {"cap": "1"}),
    "cap bool": (BudgetError, "cap", {"cap": True}),
    "method": (ArgumentError, "hourglass", {"method": "optimal"}),
    "hourglass, no levels": (ArgumentError, "levels", {"method": "hourglass"}),
    "staircase2d, no levels": (ArgumentError, "levels", {"method": "staircase2d"}),
    "neighbours": (ArgumentError, "add-remove", {"neighbours": "remove"}),
    "ε negative": (BudgetError, "epsilon", {"epsilon": -1.0}),
    "ε zero": (BudgetError, "epsilon", {"epsilon": 0.0}),
    "ε NaN": (BudgetError, "epsilon", {"epsilon": math.nan}),
    "ε None": (BudgetError, "epsilon", {"epsilon": None}),
    "ε too small": (BudgetError, "epsilon", {"epsilon": 1e-14}),
    "ε counts": (ArgumentError, "who", {"epsilon": ep.Budgets({1.0: 2})}),
    "lengths": (
        ArgumentError,
        "values and epsilon have different lengths",
        {"epsilon": [1.0, 1.0, 1.0]},
    ),
    "people": (ArgumentError, "values and person have different lengths", {"person": ["a"]}),
    "unknown column": (ColumnError, "y", {"values": "y", "epsilon": "e", "data": FRAME}),
    "confidence": (ArgumentError, "confidence", {"confidence": 1.0}),
    "about": (ArgumentError, "population", {"about": "populace"}),
    "related": (ArgumentError, "Write related=False", {"related": 0}),
    "missing": (ArgumentError, "midpoint", {"missing": "drop"}),
    "source": (ArgumentError, "source", {"source": 3}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_refused_before_anything_is_drawn(case: str) -> None:
    kind, words, changes = BAD[case]
    arguments: dict[str, Any] = {
        "values": [0.1, 0.2], "epsilon": [1.0, 2.0], "bounds": (0, 1), "source": Dry(),
        "neighbours": "add-remove", "related": False, **changes,
    }  # fmt: skip
    with pytest.raises(kind, match=words):
        ep.mean(arguments.pop("values"), **arguments)


@pytest.mark.parametrize("changes", [{"epsilon": [1.0] * 7}, {"person": range(7)}, {"shape": 7}])
def test_how_many_rows_there_are_is_told_by_no_refusal(changes: dict[str, Any]) -> None:
    """Error messages do not reveal the number of people, which is private."""
    values: Any = np.zeros((8, changes["shape"])) if "shape" in changes else np.zeros(8)
    given: Any = {"epsilon": 1.0, "neighbours": "add-remove"}
    given |= {name: each for name, each in changes.items() if name != "shape"}
    pairs: Any = [(0, 1), (1, 2)]
    for call in (
        lambda: ep.mean(values, bounds=(0, 1), **given),
        lambda: ep.frequencies(values, categories=pairs, **given),
        lambda: ep.mean(values, bounds=None, **given),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert not set("78") & set(str(caught.value))


@pytest.mark.parametrize("case", ["levels empty", "cap zero", "method", "ε zero", "lengths"])
def test_bad_arguments_of_frequencies_are_refused(case: str) -> None:
    kind, _, changes = BAD[case]
    arguments: dict[str, Any] = {
        "epsilon": [1.0, 2.0], "categories": ["a", "b"], "source": Dry(),
        "neighbours": "add-remove", "related": False, **changes,
    }  # fmt: skip
    with pytest.raises(kind):
        ep.frequencies(["a", "b"], **arguments)


@pytest.mark.parametrize("fact", [{"levels": [1.0]}, {"cap": 1.0}])
def test_public_facts_are_for_add_remove_alone(fact: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="add-remove"):
        ep.mean([0.1, 0.2], epsilon=1.0, bounds=(0, 1), source=Dry(), **fact)
    with pytest.raises(ArgumentError, match="add-remove"):
        ep.frequencies(["a", "b"], epsilon=1.0, categories=["a", "b"], source=Dry(), **fact)
