"""Rows with values that engines treat differently, and every question about them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import epsilons.door.rows
from epsilons.budgets.levels import Ladder
from epsilons.door import Tally, open as open_rows
from epsilons.door.count import line
from epsilons.errors import EpsilonsError
from tests.door.asking import cells_of, moments_of, sums_of

BOUNDS = (-20.0, 70.3)
LEVELS = [0.0, -0.0, 0.1, 0.25, 0.3, 1.0, 7.5, 1e308, 5e-324, math.inf]
WORDS = ["a", "b", "ü", "", "A", "a "]
HARD = [None, math.nan, math.inf, -math.inf, -0.0, 0.0, 1e300, -1e-310, -20.0, 70.3, 25.15]


def rows(n: int) -> pl.DataFrame:
    """Return about three rows per person.

    Everyone has one budget, and a tenth of values are in `HARD`.
    """
    rng = np.random.default_rng(8)
    who = rng.integers(0, n // 3, n)
    whole = rng.normal(25.0, 40.0, n)
    whole[::1000] = -0.0
    value = pl.Series(whole)
    place = np.flatnonzero(rng.random(n) < 0.1)
    chosen = rng.integers(0, len(HARD), len(place))
    value = value.scatter(place, pl.Series([HARD[k] for k in chosen.tolist()], dtype=pl.Float64))
    word = pl.Series([*WORDS, None])[rng.integers(0, len(WORDS) + 1, n)]
    return pl.DataFrame(
        {
            "value": value,
            "whole": whole,
            "word": word,
            "epsilon": np.array(LEVELS)[rng.integers(0, len(LEVELS), n // 3)][who],
            "own": np.exp(rng.uniform(-3.0, 1.0, 10**5))[rng.integers(0, 10**5, n)],
            "broken": pl.Series([0.5, math.nan, 1.0])[rng.integers(0, 3, n)],
            "who": who,
        }
    )


def asked(given: Callable[..., dict[str, Any]]) -> dict[str, Callable[[], Any]]:
    """Return every question by name.

    Args:
        given: a function from column names to the arguments `values`, `epsilon` and `person`.
    """
    declared, fine = Ladder.declare(np.array([0.1, 1.0, 7.5])), Ladder.up_to(7.5)
    some: dict[str, Any] = {"categories": ["a", "b", "ü", ""]}
    bins: dict[str, Any] = {"edges": [(-math.inf, -5), (-5, 0), (0.5, 25.15), (30, 70.3)]}
    one, many = given("value", "epsilon"), given("value", "own")
    people = given("value", "epsilon", "who")
    return {
        "mean, midpoint": lambda: sums_of(**one, bounds=BOUNDS, missing="midpoint"),
        "mean, error": lambda: sums_of(**one, bounds=BOUNDS, missing="error"),
        "mean of whole data": lambda: sums_of(**given("whole", "epsilon"), bounds=BOUNDS),
        "mean, many budgets": lambda: sums_of(**many, bounds=BOUNDS, missing="midpoint"),
        "mean of people": lambda: sums_of(**people, bounds=BOUNDS, missing="midpoint"),
        "squares, midpoint": lambda: moments_of(**one, bounds=BOUNDS, missing="midpoint"),
        "squares, many budgets": lambda: moments_of(**many, bounds=BOUNDS, missing="midpoint"),
        "squares of people": lambda: moments_of(**people, bounds=BOUNDS, missing="midpoint"),
        "mean of people, error": lambda: sums_of(**people, bounds=BOUNDS, missing="error"),
        "mean, NaN budgets": lambda: sums_of(**given("whole", "broken"), bounds=BOUNDS),
        "mean, add-remove": lambda: sums_of(**one, bounds=BOUNDS, ladder=declared),
        "mean of people, add-remove": lambda: sums_of(**people, bounds=BOUNDS, ladder=fine),
        "NaN budgets, add-remove": lambda: sums_of(
            **given("value", "broken"), bounds=BOUNDS, ladder=declared
        ),
        "words, other": lambda: cells_of(**given("word", "epsilon"), **some, other="?"),
        "words, error": lambda: cells_of(**given("word", "epsilon"), **some),
        "words of people": lambda: cells_of(**given("word", "epsilon", "who"), **some, other="?"),
        "words, add-remove": lambda: cells_of(**given("word", "own"), **some, ladder=declared),
        "bins, other": lambda: cells_of(**one, **bins, other="?"),
        "bins, error": lambda: cells_of(**one, **bins),
        "unknown range": lambda: open_rows(**one, missing="midpoint").line(),
        "unknown range, error": lambda: open_rows(**one, missing="error").line(),
        "unknown range of people": lambda: open_rows(**people, missing="midpoint").line(),
        "window, add-remove": lambda: open_rows(**many, missing="midpoint", ladder=declared).line(
            line.Window(-20.0, 70.0, 64)
        ),
    }


def answer(question: Callable[[], Any]) -> Any:
    """Return the integers of an answer, or the name of the error."""
    try:
        found = question()
    except EpsilonsError as refusal:
        return type(refusal).__name__
    if isinstance(found, Tally):
        return found.levels.tolist(), found.counts.tolist(), found.cells.tolist()
    # PyArrow puts 0.0 and -0.0 into two groups, but both are in the same bucket.
    people: Counter[tuple[int, int]] = Counter()
    at = zip(found.level_of.tolist(), found.cell_of.tolist(), strict=True)
    for place, more in zip(at, found.people.tolist(), strict=True):
        people[place] += more
    return found.levels.tolist(), found.counts.tolist(), found.missing.tolist(), people


def by_numpy(table: pl.DataFrame) -> dict[str, Any]:
    """Return every answer, computed from arrays without an engine."""

    def given(values: str, epsilon: str, person: str | None = None) -> dict[str, Any]:
        return {
            "values": table[values].to_list() if values == "word" else table[values].to_numpy(),
            "epsilon": table[epsilon].to_numpy(),
            "person": None if person is None else table[person].to_numpy(),
        }

    small = epsilons.door.rows.SMALL
    epsilons.door.rows.SMALL = len(table)
    try:
        return {name: answer(question) for name, question in asked(given).items()}
    finally:
        epsilons.door.rows.SMALL = small


def on_engine(data: Any) -> dict[str, Callable[[], Any]]:
    """Return every question about a frame."""

    def given(values: str, epsilon: str, person: str | None = None) -> dict[str, Any]:
        return {"values": values, "epsilon": epsilon, "person": person, "data": data}

    return asked(given)
