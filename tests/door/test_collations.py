"""Text is compared byte by byte, whatever the collation of the engine.

A collation treats different texts as equal. A group-by then returns one of several spellings, so
one person can choose the spelling for everyone. If a collation treats two ids as equal, two people
are merged.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pytest

from epsilons.budgets.levels import Ladder
from epsilons.door import open as open_rows
from epsilons.errors import ColumnError, DataError
from tests.door.asking import cells_of, sums_of

Row = tuple[str | None, str, float]

ALIKE = ("bike", "BIKE", "bike ", "bïke", "bi\u0308ke", "b\u0131ke", "")
"""Texts that some collation treats as equal to the first one, and the empty string."""

ROWS: list[Row] = [
    *[(text, f"{person}{text}", 1.0) for text in ALIKE for person in ("p", "P", "é", "e\u0301")],
    *[("bike", "p", 1.0)] * 3,
    (None, "nothing", 1.0),
    ("it's \\x62ike", "backslash", 1.0),
]
"""People whose ids differ only in ways that collations ignore. One person has several rows."""

CATEGORIES = ["bike", "BIKE", "bïke", "it's \\x62ike"]


def in_duckdb(collation: str) -> Any:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (v VARCHAR {collation}, p VARCHAR {collation}, e DOUBLE)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
    return connection


def column(_: Path) -> Any:
    return in_duckdb("COLLATE NOCASE.NOACCENT").table("t")


def expression(_: Path) -> Any:
    return in_duckdb("").table("t").project("v COLLATE NOCASE AS v, p COLLATE NOACCENT AS p, e")


def default(_: Path) -> Any:
    connection = in_duckdb("")
    connection.execute("SET default_collation = 'nocase.noaccent'")
    return connection.table("t")


def dictionary(_: Path) -> Any:
    connection = in_duckdb("")
    for name in "vp":
        connection.execute(f"CREATE TYPE of_{name} AS ENUM (SELECT DISTINCT {name} FROM t)")
    connection.execute("SET default_collation = 'nocase.noaccent'")
    return connection.sql("SELECT v::of_v AS v, p::of_p AS p, e FROM t")


def ibis_on_duckdb(_: Path) -> Any:
    import ibis

    return ibis.duckdb.from_connection(in_duckdb("COLLATE NOCASE.NOACCENT")).table("t")


def ibis_on_sqlite(directory: Path, collation: str = "NOCASE") -> Any:
    import ibis

    with sqlite3.connect(directory / "t.db") as file:
        file.execute(f"CREATE TABLE t (v TEXT COLLATE {collation}, p TEXT COLLATE NOCASE, e REAL)")
        file.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
    return ibis.sqlite.connect(directory / "t.db").table("t")


def ibis_on_sqlite_by_trailing_spaces(directory: Path) -> Any:
    return ibis_on_sqlite(directory, "RTRIM")


COLLATED = [
    column,
    expression,
    default,
    dictionary,
    ibis_on_duckdb,
    ibis_on_sqlite,
    ibis_on_sqlite_by_trailing_spaces,
]


def check(data: Any) -> None:
    """Compare frequencies by row and by person, and counts of people, with plain Python."""
    people = {person for _, person, _ in ROWS}
    for person in (None, "p"):
        on: dict[str, Any] = {"epsilon": "e", "data": data, "person": person}
        found = cells_of("v", categories=CATEGORIES, other="?", **on)
        own = dict.fromkeys([*CATEGORIES, "?"], 0)
        rows = [who for _, who, _ in ROWS]
        for text, who, _ in ROWS:
            share = found.unit // rows.count(who) if person else 1
            own[text if text in CATEGORIES else "?"] += share
        assert found.cells.tolist() == [list(own.values())]
        assert found.counts.tolist() == [len(people) if person else len(ROWS)]
    assert sums_of("e", bounds=(0.0, 2.0), **on).counts.tolist() == [len(people)]
    line = open_rows("e", **on).line()
    assert line.counts.tolist() == [len(people)]


@pytest.mark.parametrize("collated", [column, default, ibis_on_sqlite])
def test_one_person_who_spells_otherwise_moves_nobody_else(
    collated: Callable[[Path], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cells(mine: str) -> list[int]:
        rows: list[Row] = [(mine, "me", 0.5), *[("bike", f"{k}", 0.5) for k in range(100)]]
        directory = tmp_path / mine
        directory.mkdir()
        monkeypatch.setattr("tests.door.test_collations.ROWS", rows)
        found = cells_of(
            "v", epsilon="e", categories=["bike", "bus"], other="?", data=collated(directory)
        )
        counted: list[int] = found.cells[0].tolist()
        return counted

    assert cells("bus") == [100, 1, 0]
    assert cells("BIKE") == [100, 0, 1]


def test_a_strict_person_whose_id_looks_alike_pulls_nobody_down() -> None:
    connection = in_duckdb("COLLATE NOCASE")
    rows = connection.sql(
        "SELECT e AS x, p, CASE WHEN encode(p) = encode('P') THEN 0.25 ELSE e END AS budget FROM t"
    )
    ladder = Ladder.declare(np.array([0.25, 1.0]))
    tally = sums_of("x", epsilon="budget", bounds=(0.0, 1.0), data=rows, person="p", ladder=ladder)
    assert tally.counts.sum() == len({person for _, person, _ in ROWS})
    assert dict(zip(tally.levels.tolist(), tally.counts.tolist(), strict=True))[0.25] == 1


@pytest.mark.parametrize(
    ("entries", "type_"),
    [
        ("['a'], ['A']", "VARCHAR[]"),
        ("{'id': 'a'}, {'id': 'A'}", "STRUCT(id VARCHAR)"),
        ("MAP {'a': 1}, MAP {'A': 1}", "MAP(VARCHAR, INTEGER)"),
        ("INTERVAL 30 DAY, INTERVAL 1 MONTH", "INTERVAL"),
    ],
)
def test_ids_whose_equality_nobody_can_see_are_refused_by_their_type(
    entries: str, type_: str
) -> None:
    data = duckdb.sql(f"SELECT unnest([{entries}])::{type_} AS p, 1.0::DOUBLE AS x")
    with pytest.raises(ColumnError, match="person='p' must be a column of text"):
        sums_of("x", epsilon=1.0, bounds=(0.0, 1.0), data=data, person="p")


@pytest.mark.parametrize("backend", ["mysql", "postgres"])
def test_text_is_refused_where_ibis_speaks_to_a_database_of_unknown_collation(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ibis_on_sqlite(tmp_path)
    monkeypatch.setattr(type(data.get_backend()), "name", backend)
    assert sums_of("e", epsilon=1.0, bounds=(0.0, 1.0), data=data).n == len(ROWS)
    for run in (
        lambda: sums_of("e", epsilon=1.0, bounds=(0.0, 1.0), data=data, person="p"),
        lambda: cells_of("v", epsilon=1.0, categories=CATEGORIES, other="?", data=data),
    ):
        with pytest.raises(ColumnError, match=f"Ibis on {backend} may compare text by a collation"):
            run()


def test_ibis_on_polars_has_no_collations() -> None:
    import ibis
    import polars as pl

    frame = pl.DataFrame(ROWS, schema=["v", "p", "e"], orient="row")
    data = ibis.polars.connect({"t": frame}).table("t")
    found = cells_of("v", epsilon="e", categories=CATEGORIES, other="?", data=data)
    texts = [text for text, _, _ in ROWS]
    assert found.cells[0, :-1].tolist() == [texts.count(label) for label in CATEGORIES]
    people = sums_of("e", epsilon="e", bounds=(0.0, 2.0), data=data, person="p")
    assert people.n == len({person for _, person, _ in ROWS})


def test_engines_that_nobody_looked_at_are_refused() -> None:
    from epsilons.door.engines.entries import bytewise

    class Frame:
        implementation = nw.Implementation.SQLFRAME

        def collect_schema(self) -> dict[str, Any]:
            return {"p": nw.String()}

        def to_native(self) -> None:
            return None

    frame: Any = Frame()
    with pytest.raises(ColumnError, match="'p' is a column of text, and Sqlframe"):
        bytewise(frame, None, "p", frame.collect_schema(), {})


def test_a_row_of_nobody_in_sqlite_does_not_become_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In SQLite, a row with a null id is refused, and not read as the empty id.

    The hex form of null is empty, like the hex form of the empty id.
    """
    rows: list[Any] = [("bike", None, 1.0), ("bike", "", 1.0), ("bus", "a", 1.0)]
    monkeypatch.setattr("tests.door.test_collations.ROWS", rows)
    data = ibis_on_sqlite(tmp_path)
    with pytest.raises(DataError, match="without a person"):
        sums_of("e", epsilon=1.0, bounds=(0.0, 2.0), data=data, person="p")


def test_columns_of_duckdb_may_have_any_name() -> None:
    data = duckdb.sql(
        "SELECT unnest(['x', 'X', 'y']) AS \"a.b\", unnest([1.0, 1.0, 1.0]) AS \"E é\", "
        "unnest(['p', 'P', 'p']) AS \"it's \"\"who\"\"\""
    )
    found = cells_of(
        "a.b", epsilon="E é", categories=["x", "y"], other="?", data=data, person='it\'s "who"'
    )
    assert found.counts.tolist() == [2]
    assert (found.cells / found.unit).tolist() == [[0.5, 0.5, 1.0]]
    both = cells_of("a.b", epsilon=1.0, categories=["x", "y"], data=data, other="?", person="a.b")
    assert both.counts.tolist() == [3]
