"""Rows are opened and checked once, and can be counted as often as a release needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.door import GRID, Ask, declare, open as open_rows
from epsilons.door.count import line
from epsilons.door.engines import running
from epsilons.door.given import arrays
from epsilons.errors import ArgumentError, FileError
from tests.door.asking import folded, grid_of_each, sums_of
from tests.door.conftest import as_lists

TABLE = pl.DataFrame(
    {
        "v": [0.5, 3.0, 1.25, 2.0, 0.5, -1.0],
        "e": [0.1, 1.0, 0.1, 1.0, 1.0, 0.1],
        "w": [*"abcdea"],
    }
)
BOUNDS = (0.0, 2.0)
LADDER = Ladder.declare(np.array([0.1, 1.0]))
WORDS = declare(["a", "b"], None, "else")


def counting(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, seen: list[str]) -> None:
    """Record each call of a function, and then call it."""
    real = getattr(owner, name)

    def noted(*args: Any, **kwargs: Any) -> Any:
        seen.append(name)
        return real(*args, **kwargs)

    monkeypatch.setattr(owner, name, noted)


def on_disk(kind: str, directory: Path) -> Any:
    file = directory / f"rows.{kind}"
    if kind == "csv":
        TABLE.write_csv(file)
    else:
        TABLE.write_parquet(file)
    return file


@pytest.mark.parametrize("person", [None, "w"])
@pytest.mark.parametrize("categories", [None, WORDS])
def test_a_schema_is_collected_once(
    categories: Any, person: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The schema of a frame is collected only once. A derived frame has another schema."""
    seen: list[set[str]] = []
    real = nw.LazyFrame.collect_schema

    def noted(self: Any) -> Any:
        schema = real(self)
        seen.append(set(schema.names()))
        return schema

    monkeypatch.setattr(nw.LazyFrame, "collect_schema", noted)
    values = "v" if categories is None else "w"
    rows = open_rows(
        values, epsilon="e", data=TABLE.lazy(), person=person, categories=categories, ladder=LADDER
    )
    if categories is None:
        rows.line()
        rows.count(Ask("numbers", BOUNDS))
    else:
        rows.count(Ask("cells"))
    assert seen.count(set(TABLE.columns)) == 1


@pytest.mark.parametrize("size", ["small", "large"])
def test_entries_of_arrays_are_checked_once(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if size == "large":
        monkeypatch.setattr("epsilons.door.rows.SMALL", 0)
    seen: list[str] = []
    for owner, name in ((arrays, "floats"), (arrays, "people"), (arrays, "_budgets")):
        counting(monkeypatch, owner, name, seen)
    own = {name: TABLE[name].to_list() for name in TABLE.columns}
    rows = open_rows(own["v"], epsilon=own["e"], person=own["w"], missing="midpoint")
    rows.line()
    rows.count(Ask("numbers", BOUNDS))
    assert sorted(seen) == ["_budgets", "floats", "people"]


def test_cells_of_arrays_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    counting(monkeypatch, arrays, "cells_of", seen)
    rows = open_rows(TABLE["w"].to_list(), epsilon=1.0, categories=WORDS)
    assert (
        rows.count(Ask("cells")).cells.tolist()
        == rows.count(Ask("cells")).cells.tolist()
        == [[2, 1, 3]]
    )
    assert seen == ["cells_of"]


def test_each_pass_over_a_file_is_counted_from_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal, the progress of each pass starts at zero and ends at the number of rows."""
    made: list[running.Passed] = []
    ends: list[float | None] = []

    def shown(run: Callable[[], Any], text: str, share: Any = None) -> Any:
        result = run()
        made.append(share)
        ends.append(share())
        return result

    for room in ("given.columns", "engines.running"):
        monkeypatch.setattr(f"epsilons.door.{room}.on_terminal", lambda: True)
    monkeypatch.setattr("epsilons.door.engines.running.shown", shown)
    rows = open_rows("v", epsilon=1.0, data=on_disk("parquet", tmp_path))
    rows.line()
    rows.line(line.Window(0.0, 2.0, 8))
    rows.count(Ask("numbers", (-1.0, 3.0)))
    assert len(set(map(id, made))) == 1
    assert ends == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("missing", ["error", "midpoint"])
@pytest.mark.parametrize("form", ["lists", "polars", "pandas"])
def test_everyone_apart_is_everyone_together(form: str, missing: str) -> None:
    table: Any = TABLE.to_pandas() if form == "pandas" else TABLE
    given = {key: table[name] for key, name in (("epsilon", "e"), ("person", "w"))}
    values = table["v"].to_list() if form == "lists" else table["v"]
    rows = open_rows(values, **given, missing=missing)
    found, level_of, grid = grid_of_each(values, **given, bounds=BOUNDS, missing=missing)
    assert as_lists(found) == as_lists(rows.count(Ask("numbers", BOUNDS)))
    assert np.bincount(level_of, weights=grid).tolist() == found.sums.tolist()
    people = folded(values, **given)
    assert len(people.values) == found.n == rows.line().counts.sum()


def test_numbers_are_rounded_to_the_grid() -> None:
    rng = np.random.default_rng(9)
    values = rng.normal(0.0, 1.0, 1000)
    plain = sums_of(values, epsilon=1.0, bounds=(-1.0, 1.3))
    steps = np.floor(np.clip((values + 1.0) * (GRID / 2.3) + 0.5, 0.0, GRID + 0.5))
    assert plain.sums.tolist() == [int(steps.sum())]


def test_which_refusal_comes_first(tmp_path: Path) -> None:
    """Arguments are checked before the file is opened."""
    with pytest.raises(FileError, match="does not exist"):
        open_rows("v", epsilon="e", data=tmp_path / "none.csv")
    with pytest.raises(ArgumentError, match="missing"):
        open_rows("v", epsilon="e", missing="never")
    with pytest.raises(ArgumentError, match="categories have no middle"):
        open_rows("v", epsilon="e", missing="midpoint", categories=WORDS)


def test_rows_of_one_kind_are_not_asked_for_the_other() -> None:
    numbers = open_rows([0.0, 1.0], epsilon=1.0)
    words = open_rows([*"ab"], epsilon=1.0, categories=WORDS)
    table = open_rows("v", epsilon="e", data=TABLE)
    questions: list[Callable[[], Any]] = [
        lambda: numbers.count(Ask("cells")),
        lambda: table.count(Ask("cells")),
        words.line,
        lambda: words.count(Ask("numbers", BOUNDS)),
    ]
    for question in questions:
        with pytest.raises(TypeError, match="ows"):
            question()
