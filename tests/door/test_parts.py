"""A large table with many rows per person is split by person, and scanned once for each part."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import Tally
from epsilons.door.engines import fold_engine
from epsilons.door.engines.fold_engine import by_people
from epsilons.door.given import columns
from epsilons.door.given.columns import Columns
from epsilons.errors import ConflictingBudgetsError, DataError

WORDS = door.declare(["a", "b", "c"], None, None)
RUNGS = Ladder.declare(np.array([0.1, 1.0]))
BOUNDS = (0.0, 10.0)


def table(ids: Callable[[int], Any] = int, dtype: Any = None, seed: int = 0) -> pl.DataFrame:
    """Return a table of 60 people with one to seven rows each."""
    draw = random.Random(seed)
    rows: list[tuple[Any, str, float, float]] = []
    for person in range(60):
        budget = draw.choice([0.1, 0.5, 1.0])
        rows += [
            (ids(person), draw.choice("abc"), draw.choice([0.0, 3.3, 10.0]), budget)
            for _ in range(draw.choice([1, 1, 2, 3, 7]))
        ]
    draw.shuffle(rows)
    names = ["who", "word", "value", "epsilon"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame if dtype is None else frame.with_columns(pl.col("who").cast(dtype))


def cells(data: Any, **more: Any) -> Tally:
    rows = door.open("word", epsilon="epsilon", data=data, person="who", categories=WORDS, **more)
    return rows.count(door.Ask("cells"))


def shares(data: Any, **more: Any) -> Tally:
    groups = door.Grouping(("word",), (WORDS,))
    rows = door.open("value", epsilon="epsilon", data=data, person="who", groups=groups, **more)
    return rows.count(door.Ask("numbers", BOUNDS))


def plain(found: Tally) -> tuple[Any, ...]:
    return found.levels.tolist(), found.counts.tolist(), found.cells.tolist()


def opened(data: Any) -> Columns:
    return columns.read("word", "epsilon", data, "who", "text", None, [])


def written(frame: pl.DataFrame, folder: Path) -> Path:
    path = folder / "rows.parquet"
    frame.write_parquet(path)
    return path


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat tables with very few rows as large."""
    monkeypatch.setattr(fold_engine, "PART", 10)


IDS: dict[str, tuple[Callable[[int], Any], Any]] = {
    "integers": (lambda person: 2**60 + person, None),
    "text": (lambda person: f"person {person}" * (1 + person % 3), None),
    "bytes": (lambda person: bytes([person, 0]), None),
}


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("ids", IDS)
def test_everyone_is_in_one_part_whatever_else_is_in_the_table(ids: str, tmp_path: Path) -> None:
    part_of: dict[Any, int] = {}
    for seed in (1, 2):
        frame = table(*IDS[ids], seed=seed)
        own = opened(frame)
        found = [each.frame.collect().to_polars() for each in by_people(own)]
        assert sum(part.height for part in found) == frame.height
        assert all(part.height for part in found)
        assert own.person is not None
        for place, part in enumerate(found):
            assert all(part_of.setdefault(who, place) == place for who in part[own.person])
    assert len(part_of) == 60


@pytest.mark.usefixtures("few")
def test_what_is_not_hashed_by_its_value_is_read_at_once(tmp_path: Path) -> None:
    floats = table(float)
    assert len(by_people(opened(floats))) == 1
    assert len(by_people(opened(table(str, pl.Categorical)))) == 1
    # A lazy frame is not split, because each part would compute it again.
    assert len(by_people(opened(table().lazy()))) == 1
    assert len(by_people(opened(table()))) == 3


def test_a_small_table_is_read_at_once(tmp_path: Path) -> None:
    assert len(by_people(opened(written(table(), tmp_path)))) == 1


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("ask", [cells, shares])
def test_parts_refuse_what_a_table_at_once_does(ask: Callable[..., Tally], tmp_path: Path) -> None:
    frame = table()
    last = frame.row(0, named=True) | {"epsilon": 0.7}
    conflict = pl.concat([frame, pl.DataFrame([last], schema=frame.schema)])
    with pytest.raises(ConflictingBudgetsError):
        ask(written(conflict, tmp_path))
    lost = frame.row(0, named=True) | {"who": None}
    nobody = pl.concat([frame, pl.DataFrame([lost], schema=frame.schema)])
    with pytest.raises(DataError, match="rows without a person"):
        ask(written(nobody, tmp_path))
    private = plain(ask(written(nobody, tmp_path), ladder=RUNGS))
    assert private == plain(ask(written(frame, tmp_path), ladder=RUNGS))


def test_rows_of_a_person_are_counted_in_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the number of rows is unknown, each person's rows are counted in 64 bits."""
    frame = table()
    right = plain(cells(frame))
    monkeypatch.setattr(nw, "len", lambda: pytest.fail("rows are counted in 32 bits"))
    assert plain(cells(frame.lazy())) == right
