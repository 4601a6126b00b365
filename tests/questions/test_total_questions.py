"""Under add/remove, every question has an answer for any data, the same for all kinds of tables."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons.results.release.kinds import Pair
from tests.engines import on_engine
from tests.plain import plain

Row = tuple[Any, Any, Any, Any, Any, Any]  # value, second value, budget, person, group, flag

DATA: dict[str, list[Row]] = {
    "empty": [],
    "one person": [(0.3, 0.1, 1.0, "i", "a", True)],
    "one in two groups": [
        (0.3, 0.1, 1.0, "i", "a", True),
        (0.5, 0.1, 1.0, "i", "b", True),
        (None, 0.1, 1.0, "i", "b", None),
    ],
    "all missing": [(None, None, 1.0, "i", None, None), (math.nan, 1.0, 2.0, "j", "a", False)],
    "all budgets bad": [(0.1, 0.1, None, "i", "a", True), (0.2, 0.1, -1.0, "j", "b", True)],
    "all at zero": [(0.1, 0.1, 0.0, "i", "a", True), (0.2, 0.2, 0.0, "j", "b", False)],
    "two budgets": [(0.1, 0.1, 1.0, "i", "a", True), (0.9, 0.1, 0.5, "i", "b", True)],
    "nobody": [(0.1, 0.1, 1.0, None, "a", True), (0.9, 0.9, 2.0, None, "b", True)],
    "in no group": [(0.5, 0.1, 1.0, "i", "A", True), (0.6, 0.1, 2.0, "j", "", False)],
    "all public": [(0.1, 0.1, math.inf, "i", "a", True), (0.9, 0.1, math.inf, "j", "b", True)],
}
TYPES: dict[str, Any] = {
    "x": pl.Float64, "y": pl.Float64, "e": pl.Float64,
    "who": pl.String, "g": pl.String, "yes": pl.Boolean,
}  # fmt: skip
LABELS = ["a", "b"]
RANGE: dict[str, Any] = {"bounds": (0.0, 1.0)}
RANGES: dict[str, Any] = {"x_bounds": (0.0, 1.0), "y_bounds": (0.0, 1.0)}

Question = Callable[[dict[str, Any]], Any]
QUESTIONS: dict[str, Question] = {
    "groups": lambda c: ep.Mean(c["x"], by=c["g"], groups=LABELS, **RANGE),
    "those who answered": lambda c: ep.Mean(
        c["x"], by=c["g"], groups=LABELS, missing="exclude", **RANGE
    ),
    "two columns": lambda c: ep.Mean(
        c["x"], by=[c["g"], c["yes"]], groups=[LABELS, [True, False]], **RANGE
    ),
    "one column twice": lambda c: ep.Mean(
        c["x"], by=[c["g"], c["g"]], groups=[LABELS, ["b", "a"]], **RANGE
    ),
    "the flag is the group": lambda c: ep.Mean(
        c["x"], by=c["yes"], groups=[True], where=c["yes"], **RANGE
    ),
    "people are groups": lambda c: ep.Mean(c["x"], by=c["who"], groups=["i", "j"], **RANGE),
    "budgets are values": lambda c: ep.Mean(c["e"], where=c["yes"], **RANGE),
    "some": lambda c: ep.Mean(c["x"], where=c["yes"], **RANGE),
    "quantile": lambda c: ep.Quantile(c["x"], q=[0.25, 0.5], **RANGE),
    "variance": lambda c: ep.Variance(c["x"], **RANGE),
    "covariance": lambda c: ep.Covariance(c["x"], c["y"], **RANGES),
    "with itself": lambda c: ep.Covariance(c["x"], c["x"], **RANGES),
    "count": lambda c: ep.Count(c["x"]),
}
FORMS = ["pandas", "polars", "csv", "duckdb"]


def given(form: str, rows: list[Row], directory: Path) -> dict[str, Any]:
    """Return the columns as arrays, or a table of the given kind with the names of its columns."""
    lists = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in TYPES]
    every = dict(zip(TYPES, lists, strict=True))
    if form == "arrays":
        return every
    frame = pl.DataFrame(every, schema=TYPES)
    data: Any
    if form == "pandas":
        data = pd.DataFrame(every).astype(
            {"x": "float64", "y": "float64", "e": "float64", "who": "str", "g": "str"}
            | {"yes": "boolean"}
        )
    else:
        data = on_engine(form, frame, directory)
    return {"data": data, **{name: name for name in TYPES}}


def released(columns: dict[str, Any], asked: list[str], *, person: bool) -> list[Any]:
    """Return the releases of these questions, without the names of columns."""
    found = ep.publish(
        [QUESTIONS[name](columns) for name in asked],
        data=columns.get("data"),
        epsilon=columns["e"],
        person=columns["who"] if person else None,
        neighbours="add-remove",
        levels=[0.5, 1.0],
        source=ep.Seeded(7),
    )
    assert str(found)
    return [plain(_without_names(each)) for each in found.each]


def _without_names(release: Any) -> Any:
    estimate = release.estimate
    if hasattr(estimate, "by"):
        estimate = replace(estimate, by=(None,) * len(estimate.by))
    if isinstance(estimate, Pair):
        estimate = replace(estimate, columns=())
    return replace(release, person="", name=None, treats="", estimate=estimate)


@pytest.mark.parametrize("asked", QUESTIONS)
def test_nobody_at_all_is_an_answer_to_each(asked: str, tmp_path: Path) -> None:
    """Each question has an answer even if there are no people.

    Here each question is asked alone, because other code may count several questions in one call.
    """
    columns = given("polars", DATA["all at zero"], tmp_path)
    assert released(columns, [asked], person=True) == released(
        given("arrays", [], tmp_path), [asked], person=True
    )
