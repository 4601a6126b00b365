"""Several questions in one scan get the same integers as in separate scans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import Ask, Grouping, Rows, Tally, declare
from epsilons.door.engines import count_engine
from epsilons.errors import EpsilonsError, MissingValueError
from tests.door.asking import together
from tests.door.conftest import BACKENDS, on_engine

RNG = np.random.default_rng(3)
SIZE = 500
TOWNS, MODES = ["a", "ü", "c", ""], ["bike", "car"]
LADDER = Ladder.declare(np.array([0.1, 0.5, 2.0]))
TOWN, MODE = declare(TOWNS, None, None), declare(MODES, None, "none of these")
AGES = declare(None, [0.0, 18.0, 30.0, 65.0], None)
NUMBERS = declare([1, 2, 3], None, "none")
COLUMNS: dict[str, Any] = {
    "minutes": [None if i % 17 == 0 else float(x) for i, x in enumerate(RNG.normal(5, 3, SIZE))],
    "wage": RNG.uniform(0, 50, SIZE).tolist(),
    "e": [[0.1, 0.5, 2.0, 2.0005][i % 4] for i in range(SIZE)],
    "town": [[*TOWNS, "z", None][i % 6] for i in RNG.integers(0, 60, SIZE)],
    "mode": [[*MODES, "boat"][i] for i in RNG.integers(0, 3, SIZE)],
    "age": RNG.integers(0, 65, SIZE).astype(float).tolist(),
    "number": RNG.integers(0, 5, SIZE).tolist(),
    "yes": (RNG.random(SIZE) < 0.7).tolist(),
    "who": [f"p{i // 2}" for i in range(SIZE)],
}


def questions() -> list[tuple[dict[str, Any], Ask]]:
    """Return each question, as the arguments of `open` and the `Ask`."""
    by_town: dict[str, Any] = {"groups": Grouping(("town",), (TOWN,)), "missing": "exclude"}
    pair = Grouping(("mode", "number"), (declare(MODES, None, None), declare([1, 2], None, None)))
    minutes = (0.0, 10.0)
    return [
        ({"values": "minutes", "missing": "midpoint"}, Ask("numbers", minutes)),
        ({"values": "minutes", **by_town}, Ask("numbers", minutes)),
        ({"values": "minutes", **by_town, "where": "yes"}, Ask("numbers", minutes, apart=True)),
        ({"values": "wage"}, Ask("squares", (0.0, 50.0))),
        ({"values": "wage"}, Ask("numbers", (0.0, 40.0))),
        ({"values": "mode", "categories": MODE}, Ask("cells")),
        ({"values": "age", "categories": AGES}, Ask("cells")),
        ({"values": "age", "missing": "exclude", "groups": pair}, Ask("numbers", (0.0, 65.0))),
        ({"values": "number", "categories": NUMBERS}, Ask("cells")),
        ({"values": "town", "categories": declare([*TOWNS, "z"], None, "others")}, Ask("cells")),
        ({"values": "wage", "where": "yes", "missing": "midpoint"}, Ask("numbers", (0.0, 50.0))),
    ]


def opened(data: Any, **terms: Any) -> list[tuple[Rows, Ask]]:
    given = {"epsilon": "e", **terms}
    found = []
    for arguments, ask in questions():
        if ask.apart and "ladder" in terms:
            ask = Ask("numbers", ask.bounds)
        found.append((door.open(data=data, **arguments, **given), ask))
    return found


def plain(found: Tally) -> Any:
    arrays = {name: each for name, each in vars(found).items() if isinstance(each, np.ndarray)}
    return {name: each.tolist() for name, each in arrays.items()}


def frame(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    table = pl.DataFrame(COLUMNS)
    return on_engine(engine, table, tmp_path, request)


ENGINES = [engine for engine in BACKENDS if engine != "numpy"]


@pytest.mark.parametrize("engine", ["polars scan", "duckdb"])
def test_everyone_may_have_a_budget_of_their_own(
    engine: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_engine, "few_budgets", lambda rows: False)
    monkeypatch.setattr(count_engine, "PIECE", 100)
    data = frame(engine, tmp_path, request)
    found = together(opened(data))
    alone = [rows.count(ask) for rows, ask in opened(data)]
    assert [plain(one) for one in found] == [plain(one) for one in alone]


@pytest.mark.parametrize("few", [True, False])
def test_a_level_has_the_smallest_budget_of_its_people(
    few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(count_engine, "few_budgets", lambda rows: few)
    data = pl.DataFrame({"x": [1.0, 2.0, 3.0], "e": [1.0003, 1.0, 1.0002]})
    pairs = [(door.open("x", epsilon="e", data=data), Ask("numbers", (0.0, m))) for m in (5.0, 9.0)]
    for found in together(pairs):
        assert found.levels.tolist() == [1.0]
        assert found.counts.tolist() == [3]


def test_what_cannot_be_shared_is_counted_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pl.DataFrame(COLUMNS).with_columns(e=pl.lit(1.0))

    def never(every: Any, table: Any) -> Any:
        assert len(every) == 1, "these rows are not shared"
        return counted(every, table)

    counted = count_engine.count

    monkeypatch.setattr(count_engine, "count", never)
    found = together([pair for pair in opened(data, person="who") if not pair[1].apart])
    alone = [rows.count(ask) for rows, ask in opened(data, person="who") if not ask.apart]
    assert [plain(one) for one in found] == [plain(one) for one in alone]
    # These questions cannot share a scan: another table, other budgets, another ladder, and arrays.
    other = data.clone()
    asks = [
        (door.open("wage", epsilon="e", data=data), Ask("numbers", (0.0, 50.0))),
        (door.open("wage", epsilon="e", data=other), Ask("numbers", (0.0, 50.0))),
        (door.open("wage", epsilon=1.0, data=data), Ask("numbers", (0.0, 50.0))),
        (door.open("wage", epsilon="e", data=data, ladder=LADDER), Ask("numbers", (0.0, 50.0))),
        (door.open(COLUMNS["wage"], epsilon=1.0), Ask("numbers", (0.0, 50.0))),
    ]
    assert len(together(asks)) == 5


def test_questions_of_one_column_differ() -> None:
    data = pl.DataFrame(COLUMNS)
    asks = [
        Ask("numbers", (0.0, 50.0)),
        Ask("numbers", (0.0, 20.0)),
        Ask("numbers", (0.0, 20.0)),
        Ask("squares", (0.0, 20.0)),
    ]
    pairs = [(door.open("wage", epsilon="e", data=data), ask) for ask in asks]
    found = [plain(each) for each in together(pairs)]
    alone = [plain(door.open("wage", epsilon="e", data=data).count(ask)) for ask in asks]
    assert found == alone
    assert found[0] != found[1] == found[2] != found[3]


def test_refusals_come_when_the_question_asks() -> None:
    data = pl.DataFrame(COLUMNS)
    bad = door.open("minutes", epsilon="e", data=data)
    good = door.open("wage", epsilon="e", data=data)
    door.scan([(bad, Ask("numbers", (0.0, 10.0))), (good, Ask("squares", (0.0, 50.0)))])
    assert good.count(Ask("squares", (0.0, 50.0))).n == SIZE
    with pytest.raises(MissingValueError, match="minutes"):
        bad.count(Ask("numbers", (0.0, 10.0)))
    with pytest.raises(MissingValueError, match="minutes"):
        together([(bad, Ask("numbers", (0.0, 10.0))), (good, Ask("numbers", (0.0, 50.0)))])


def test_what_was_scanned_is_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pl.DataFrame(COLUMNS)
    first = door.open("wage", epsilon="e", data=data)
    second = door.open("age", epsilon="e", data=data)
    asked = [(first, Ask("numbers", (0.0, 50.0))), (second, Ask("numbers", (0.0, 99.0)))]
    expected = [plain(rows.count(ask)) for rows, ask in asked]
    door.scan(asked)
    monkeypatch.setattr(count_engine, "count", None)
    assert [plain(rows.count(ask)) for rows, ask in asked] == expected
    with pytest.raises(TypeError):
        first.count(Ask("numbers", (0.0, 40.0)))  # not counted yet, so the data are read


def test_an_engine_that_fails_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pl.DataFrame(COLUMNS).write_parquet(path)
    pairs = opened(path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(EpsilonsError) as told:
        together(pairs)
    assert "people.parquet" in str(told.value) or "data" in str(told.value)
    assert told.value.__cause__ is None


def test_columns_of_objects_are_no_table_to_ask_again(monkeypatch: pytest.MonkeyPatch) -> None:
    # Columns of objects are taken out of the frame as arrays. Large arrays are counted by an
    # engine.
    monkeypatch.setattr("epsilons.door.rows.SMALL", 0)
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [4.0, 5.0, 6.0], "e": [1.0, 1.0, 2.0]})
    frame["a"] = frame["a"].astype(object)
    pairs = [
        (door.open(name, epsilon="e", data=frame), Ask("numbers", (0.0, 10.0)))
        for name in ("a", "b", "a")
    ]
    alone = [
        door.open(name, epsilon="e", data=frame).count(Ask("numbers", (0.0, 10.0)))
        for name in ("a", "b", "a")
    ]
    assert [plain(each) for each in together(pairs)] == [plain(each) for each in alone]


@pytest.mark.parametrize("missing", [np.nan, np.inf, None])
@pytest.mark.parametrize("engine", ["polars", "csv"])
def test_numbers_that_two_questions_share_may_be_missing(
    engine: str, missing: float | None, tmp_path: Path
) -> None:
    # If two expressions share a subexpression, Polars computes it before it applies their
    # conditions. So Polars also computes it for missing numbers.
    frame = pl.DataFrame(
        {"x": [missing, 1.0], "e": [1.0, 1.0], "yes": [False, True]},
        schema_overrides={"x": pl.Float64},
    )
    data: Any = frame
    if engine == "csv":
        data = tmp_path / "rows.csv"
        frame.write_csv(data)
    given: dict[str, Any] = {"epsilon": "e", "data": data, "ladder": LADDER}
    some, every = door.open("x", where="yes", **given), door.open("x", **given)
    shares, sums = together(
        [(some, Ask("numbers", (0.0, 2.0))), (every, Ask("numbers", (0.0, 2.0)))]
    )
    assert shares.cells.tolist() == [[2**29, 2**29, 2**30]]
    assert sums.sums.tolist() == [2**30]
