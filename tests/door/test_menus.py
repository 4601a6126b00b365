"""Words that stand for budgets give the same integers as these budgets, on every engine.

Words are compared like categories: exactly, whatever the collation of an engine, and whatever type
a reader found.
"""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.door import Ask, chosen, enrolled, open as open_rows
from epsilons.door.given.menus import Chosen
from epsilons.errors import ColumnError
from tests.door.conftest import on_engine
from tests.engines import SPARK

BOUNDS = (0.0, 10.0)
LADDER = Ladder.declare(np.array([0.1, 0.5, 2.0]))
MENU = {"strict": 0.1, "medium": 0.5, "open": 2.0, "none": 0.0, "all": math.inf, "it's": 0.1 + 0.2}
ODD = ["STRICT", "strict ", "strict\u0301", "stri\u0301ct", "", None, "0.5"]
"""Words that some collation, some reader or some user takes for a word of the menu, or for ε."""

SIZE = 240
WORDS = [[*MENU][place % len(MENU)] for place in range(SIZE)]
TABLE = pl.DataFrame(
    {
        "v": [float(place % 11) for place in range(SIZE)],
        "word": WORDS,
        "code": [place % 3 + 1 for place in range(SIZE)],
        "truth": [place % 2 == 0 for place in range(SIZE)],
        "who": [f"p{place % 120}" for place in range(SIZE)],
    }
).with_columns(
    e=pl.col("word").replace_strict(MENU, return_dtype=pl.Float64),
    c=pl.col("code").replace_strict({1: 0.1, 2: 0.5, 3: 2.0}, return_dtype=pl.Float64),
    t=pl.col("truth").replace_strict({True: 2.0, False: 0.1}, return_dtype=pl.Float64),
)


def tallied(epsilon: Any, data: Any, **more: Any) -> Any:
    ask = Ask("cells") if "categories" in more else Ask("numbers", BOUNDS)
    found = open_rows("v", epsilon=epsilon, data=data, **more).count(ask)
    return found.levels.tolist(), found.counts.tolist(), found.cells.tolist()


def words(column: Any, menu: dict[Any, float]) -> Chosen:
    found = chosen(column, menu)
    assert isinstance(found, Chosen)
    return found


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("form", ["numpy", "lists", "objects", "category", "series"])
def test_words_in_arrays(form: str, person: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    own: Any = {
        "numpy": np.array(WORDS),
        "lists": WORDS,
        "objects": np.array(WORDS, dtype=object),
        "category": pd.Series(WORDS, dtype="category"),
        "series": TABLE["word"],
    }[form]
    who = None if person is None else TABLE["who"].to_list()
    values = TABLE["v"].to_numpy()
    for small in (10**5, 0):
        monkeypatch.setattr("epsilons.door.rows.SMALL", small)
        for ladder in (None, LADDER):
            rows = open_rows(values, epsilon=words(own, MENU), person=who, ladder=ladder)
            found = rows.count(Ask("numbers", BOUNDS))
            again = tallied("e", TABLE, person=person, ladder=ladder)
            assert (found.levels.tolist(), found.counts.tolist(), found.cells.tolist()) == again


def on_sqlite(table: pl.DataFrame, directory: Path) -> Any:
    """Return a table in which the type of an entry is data, with a collation that ignores case."""
    import ibis

    file = directory / "rows.db"
    file.unlink(missing_ok=True)
    with sqlite3.connect(file) as own:
        own.execute("CREATE TABLE r (v REAL, word TEXT COLLATE NOCASE, code INTEGER, who TEXT)")
        rows = table.select("v", "word", "code", "who").rows()
        own.executemany("INSERT INTO r VALUES (?, ?, ?, ?)", rows)
        own.execute("INSERT INTO r VALUES (1, ?, 1.5, 'x')", [b"strict"])
    return ibis.sqlite.connect(file).table("r")


ENGINES = ["polars", "pandas", "pyarrow", "duckdb", "nocase", "sqlite", "csv", "parquet"]


def test_public_words_have_a_type(tmp_path: Path) -> None:
    for data, menu in (
        (TABLE, {1: 0.1}),
        (TABLE.with_columns(word=pl.col("v")), MENU),
        (TABLE.with_columns(word=pl.col("v")), {1: 0.1}),
        (TABLE.with_columns(word=pl.lit([1.0])), MENU),
        (TABLE.to_pandas().assign(word=[[1.0]] * SIZE), MENU),
        (pd.DataFrame({"v": 1.0, "word": pd.Series([1, 2], dtype="category")}), MENU),
    ):
        with pytest.raises(ColumnError, match="the words of menu"):
            tallied(words("word", menu), data)


@pytest.mark.parametrize("engine", ["polars", "pandas", "duckdb", SPARK])
def test_text_is_no_budget_not_even_inf(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """If a column of budgets contains "inf", a CSV reader reads it as text.

    All engines refuse public budgets that are text. Private ones are read as numbers.
    """
    text = pl.DataFrame({"v": [1.0, 2.0, 3.0], "e": ["0.5", "inf", "inf"]})
    data = on_engine(engine, text, tmp_path, request)
    with pytest.raises(ColumnError, match=r'That includes "inf"\. If its words stand for budgets'):
        tallied("e", data)
    found = tallied("e", data, ladder=LADDER)
    assert found[:2] == ([0.5, 2.0], [1, 2])


def test_two_words_for_one_budget_are_one_level() -> None:
    same = {"a": 0.5, "b": 0.5}
    rows = open_rows([1.0, 2.0, 3.0], epsilon=words(["a", "b", "a"], same), person=[1, 1, 2])
    assert rows.count(Ask("numbers", BOUNDS)).levels.tolist() == [0.5]


def test_an_entry_of_another_type_opens_no_account(tmp_path: Path) -> None:
    """In SQLite, bytes in a column of text are no word, and 1.5 is not the word 1."""
    for given in (words("word", MENU), words("code", {1: 0.1, 2: 0.5, 3: 2.0})):
        who, _ = enrolled(on_sqlite(TABLE, tmp_path), "who", given, lenient=True)
        tags = {tag for batch in who.tagged() for tag in batch}
        assert tags == {f"s:p{place}".encode() for place in range(120)}
