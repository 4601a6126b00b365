"""The curator's counts are the same on every engine as in plain Python. No data is refused."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from epsilons import door
from epsilons.door import Look
from epsilons.door.engines import running
from epsilons.errors import ArgumentError, BudgetError, ColumnError, FileError
from tests.door.conftest import on_engine

BOUNDS = (-20.0, 70.3)
BINS = [(-5.0, 0.0), (0.0, 25.15), (30.0, 70.3)]
WORDS = ["a", "b", "ü"]
ODD: list[float | None] = [None, math.nan, math.inf, -math.inf, -20.0, 70.3, -0.0, 1e300, -20.1]
BUDGETS: list[float | None] = [0.0, -0.0, 0.1, 0.25, 7.5, math.inf, None, math.nan, -1.0, 1e-300]


def rows(n: int = 400, *, csv: bool = False) -> pl.DataFrame:
    """Return people with one to nine rows each.

    Some people have two budgets, and some rows have no person.
    """
    draw = random.Random(n)
    own = {k: draw.choice(BUDGETS) for k in range(n // 3)}
    who: list[str | None] = []
    table: dict[str, list[Any]] = {"value": [], "whole": [], "word": [], "epsilon": []}
    for _ in range(n):
        k = min(int(draw.expovariate(8.0) * n / 3), n // 3 - 1)
        who.append(None if draw.random() < 0.05 else f"p{k}")
        odd = draw.random() < 0.2
        table["value"].append(draw.choice(ODD) if odd else draw.gauss(25.0, 40.0))
        table["whole"].append(None if draw.random() < 0.1 else draw.randrange(6))
        table["word"].append(draw.choice([*WORDS, "A", "a ", None, *([] if csv else [""])]))
        budget = own[k] if draw.random() < 0.95 else draw.choice(BUDGETS)
        # The rows without a person have budgets outside the range of all other budgets.
        table["epsilon"].append(draw.choice([1e-305, 80.0]) if who[-1] is None else budget)
    numbers = {"value": pl.Float64, "epsilon": pl.Float64, "whole": pl.Int64}
    return pl.DataFrame({**table, "who": who}, schema_overrides=numbers)


def is_one(number: float | None) -> bool:
    return number is not None and not math.isnan(number)


def usable(budget: float | None) -> bool:
    return budget is not None and budget >= 0.0


def in_bin(value: float) -> bool:
    return any(lo <= value < hi for lo, hi in BINS) or value == BINS[-1][1]


def reference(
    values: list[Any],
    budgets: list[float | None],
    people: list[Any],
    *,
    kind: str,
    lowest: float = 0.0,
) -> Look:
    """Return the same counts, computed in plain Python with dictionaries."""
    own: dict[Any, list[int]] = {}
    for row, who in enumerate(people):
        if who is not None:
            own.setdefault(who, []).append(row)
    least: dict[Any, float] = {
        who: min(budget if usable(budget := budgets[row]) and budget is not None else -1.0
                 for row in mine)
        for who, mine in own.items()
    }  # fmt: skip
    numbers = kind in ("numbers", "range", "bins")
    gone = [not is_one(value) if numbers else value is None for value in values]
    out: list[bool] = []
    if kind == "bins":
        out = [is_one(value) and not in_bin(value) for value in values]
    elif not numbers:
        labels: list[Any] = WORDS if kind == "words" else [1, 2, 3]
        out = [value is not None and value not in labels for value in values]
    endless = [is_one(value) and math.isinf(value) for value in values] if numbers else []
    mean = kind in ("numbers", "range")
    ranged = [value for value in values if is_one(value) and math.isfinite(value)] if mean else []
    silent = [g or (mean and endless[row]) for row, g in enumerate(gone)]
    between = [each for each in least.values() if 0.0 < each < math.inf]
    sizes = [len(mine) for mine in own.values()]
    bad = [b if usable(b) else -1.0 for b in budgets]
    return Look(
        rows=len(values),
        people=len(own),
        nobody=people.count(None),
        missing=sum(gone),
        infinite=sum(endless) if mean else None,
        below=sum(value < BOUNDS[0] for value in ranged) if kind == "numbers" else None,
        above=sum(value > BOUNDS[1] for value in ranged) if kind == "numbers" else None,
        undeclared=None if mean else sum(out),
        silent=sum(all(silent[row] for row in mine) for mine in own.values()),
        conflicts=sum(len({bad[row] for row in mine}) > 1 for mine in own.values()),
        unusable=sum(each < 0.0 for each in least.values()),
        zero=sum(each == 0.0 for each in least.values()),
        public=sum(each == math.inf for each in least.values()),
        short=sum(0.0 < each < lowest for each in least.values()),
        least=min(between, default=None),
        largest=max(between, default=None),
        median_rows=statistics.median(sizes) if sizes else 0.0,
        most_rows=max(sizes, default=0),
    )


KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "numbers": ("value", {"bounds": BOUNDS}),
    "range": ("value", {}),
    "bins": ("value", {"categories": door.declare(None, BINS, None)}),
    "words": ("word", {"categories": door.declare(WORDS, None, "?")}),
    "integers": ("whole", {"categories": door.declare([1, 2, 3], None, None)}),
}


def compared(data: Any, table: pl.DataFrame, kind: str, *, person: bool) -> None:
    """Fail if the counts of `data` differ from the reference's counts for the same rows."""
    column, more = KINDS[kind]
    people = table["who"].to_list() if person else list(range(len(table)))
    found = door.look(
        column if data is not None else table[column].to_list(),
        epsilon="epsilon" if data is not None else table["epsilon"].to_list(),
        data=data,
        person=("who" if data is not None else people) if person else None,
        lowest=0.2,
        **more,
    )
    own = (table[column].to_list(), table["epsilon"].to_list(), people)
    assert found == reference(*own, kind=kind, lowest=0.2)


def test_the_median_of_an_even_number_of_people_is_between_the_two_in_the_middle() -> None:
    people = ["a", "b", "c", "c", "c", "d", "d", "d"]
    found = door.look([0.5] * 8, epsilon=[1.0] * 8, person=people, bounds=BOUNDS)
    assert found.median_rows == 2.0


@pytest.mark.parametrize("epsilon", [0.1, 0.5, math.inf])
@pytest.mark.parametrize("data", [False, True], ids=["arrays", "frame"])
def test_one_budget_for_all(epsilon: float, data: bool) -> None:
    table = rows()
    given: dict[str, Any] = {"person": table["who"].to_list(), "values": table["value"].to_list()}
    if data:
        given = {"person": "who", "values": "value", "data": table}
    found = door.look(**given, epsilon=epsilon, lowest=0.2)
    same: list[float | None] = [epsilon] * len(table)
    own = (table["value"].to_list(), same, table["who"].to_list())
    assert found == reference(*own, kind="range", lowest=0.2)


@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("engine", ["numpy", "polars", "duckdb", "pandas"])
def test_nobody_at_all(
    engine: str, person: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = rows().head(0)
    data: Any = None if engine == "numpy" else on_engine(engine, table, tmp_path, request)
    if engine == "pandas":
        data = data.astype({"who": "string", "word": "string"})
    compared(data, table, "numbers", person=person)


@pytest.mark.parametrize("engine", ["numpy", "polars", "duckdb"])
def test_however_many_rows_no_one_has_they_are_no_person(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    table = rows().head(30)
    alone = pl.when(pl.int_range(pl.len()) > 3).then(None).otherwise(pl.col("who"))
    table = table.with_columns(alone.alias("who"))
    data = None if engine == "numpy" else on_engine(engine, table, tmp_path, request)
    compared(data, table, "numbers", person=True)


def test_entries_of_lists_are_data_and_nothing_of_them_is_refused() -> None:
    found = door.look(
        [1.0, "x", None, {}, True],
        epsilon=[1.0, "much", None, 0.5, 0.5],
        person=["a", "a", [1], None, 3],
        bounds=(0, 1),
    )
    assert (found.rows, found.people, found.nobody) == (5, 2, 2)
    assert (found.missing, found.unusable, found.conflicts) == (3, 1, 1)
    words = door.declare(["a", "b"], None, None)
    told = door.look(["a", 3, None, "c"], epsilon=1.0, categories=words)
    assert (told.missing, told.undeclared) == (1, 2)
    frame = pd.DataFrame({"v": ["a", 3, None, "c"], "e": [1.0, 1.0, 2.0, 2.0]}).astype(object)
    assert door.look("v", epsilon="e", data=frame, categories=words).undeclared == 2


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"values": "nowhere"}, ColumnError),
        ({"values": "word"}, ColumnError),
        ({"epsilon": "word"}, ColumnError),
        ({"epsilon": -1.0}, BudgetError),
        ({"person": "nowhere"}, ColumnError),
        ({"data": "nowhere.parquet"}, FileError),
        ({"data": None}, ArgumentError),
        ({"values": [1.0, 2.0], "epsilon": [1.0], "data": None}, ArgumentError),
        ({"values": np.zeros((2, 2)), "epsilon": 1.0, "data": None}, ArgumentError),
    ],
)
def test_arguments_and_schemas_are_refused(given: dict[str, Any], error: type[Exception]) -> None:
    usual: dict[str, Any] = {"values": "value", "epsilon": "epsilon", "data": rows()}
    with pytest.raises(error):
        door.look(**usual | given)


def test_one_pass_and_few_lines_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    real: Callable[..., Any] = running.collected

    def counting(*given: Any) -> Any:
        found = real(*given)
        seen.append(len(found))
        return found

    monkeypatch.setattr("epsilons.door.curator.collected", counting)
    n = 20_000
    data = pl.DataFrame({"v": np.arange(n), "e": np.arange(n) + 0.5, "who": np.arange(n) // 2})
    found = door.look("v", epsilon="e", data=data, person="who", bounds=(0, 9))
    assert seen == [1]
    assert (found.people, found.conflicts, found.above) == (n // 2, n // 2, n - 10)
