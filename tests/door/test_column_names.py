"""The column that is named is counted, however an engine compares names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import epsilons as ep
from epsilons.door import enrolled, people
from epsilons.errors import ArgumentError, ColumnError
from tests.door.asking import sums_of
from tests.local.test_randomizer import CASES, reports_of

Named = list[tuple[str, list[Any]]]

BOUNDS = (0.0, 1.0)
PEOPLE = [1, 1, 2, 2, 3, 3]
ROWS = [1, 2, 3, 4, 5, 6]
ONES = [1.0] * 6
BUDGETS = [0.5] * 6
OTHERS = [8.0] * 6


def _pandas(named: Named) -> pd.DataFrame:
    frame = pd.DataFrame({place: items for place, (_, items) in enumerate(named)})
    return frame.set_axis([name for name, _ in named], axis=1)


def _pyarrow(named: Named) -> pa.Table:
    return pa.Table.from_arrays([pa.array(items) for _, items in named], [n for n, _ in named])


def _relation(named: Named) -> Any:
    """Return a relation in which a name can occur twice, as after a join."""
    connection = duckdb.connect()
    plain = pa.table({f"c{place}": items for place, (_, items) in enumerate(named)})
    connection.register("given", plain)
    quoted = [name.replace('"', '""') for name, _ in named]
    names = ", ".join(f'c{place} AS "{name}"' for place, name in enumerate(quoted))
    return connection.sql(f"SELECT {names} FROM given")


def _ibis(named: Named) -> Any:
    import ibis

    connection = ibis.duckdb.connect()
    plain = {f"c{place}": items for place, (_, items) in enumerate(named)}
    connection.con.register("given", pa.table(plain))
    table = connection.table("given")
    return table.select(**{name: table[f"c{place}"] for place, (name, _) in enumerate(named)})


def _sqlite(named: Named) -> Any:
    import ibis

    connection = ibis.sqlite.connect()
    declared = ", ".join(
        f"c{place} {type(items[0]).__name__}" for place, (_, items) in enumerate(named)
    )
    connection.raw_sql(f"CREATE TABLE given ({declared.replace('float', 'REAL')})")
    rows = zip(*(items for _, items in named), strict=True)
    connection.con.executemany(f"INSERT INTO given VALUES ({', '.join('?' * len(named))})", rows)
    table = connection.table("given")
    return table.select(**{name: table[f"c{place}"] for place, (name, _) in enumerate(named)})


def _dask(named: Named) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(_pandas(named), npartitions=2)


UNIQUE: dict[str, Callable[[Named], Any]] = {
    "polars": lambda named: pl.DataFrame(dict(named)),
    "polars lazy": lambda named: pl.DataFrame(dict(named)).lazy(),
    "dask": _dask,
}
"""Engines with unique, case-sensitive column names."""

PLACED: dict[str, Callable[[Named], Any]] = {
    "pandas": _pandas,
    "pyarrow": _pyarrow,
    "duckdb": _relation,
    "narwhals": lambda named: nw.from_native(_relation(named)),
}
"""Engines that select columns by position. A name can occur twice."""

NAMED: dict[str, Callable[[Named], Any]] = {"ibis": _ibis, "ibis on sqlite": _sqlite}
"""Databases that select columns only by name."""


@pytest.fixture
def on(request: pytest.FixtureRequest) -> Callable[[str, Named], Any]:
    def make(engine: str, named: Named) -> Any:
        if engine != "spark":
            return {**UNIQUE, **PLACED, **NAMED}[engine](named)
        frame = request.getfixturevalue("spark").createDataFrame(
            pa.table({f"c{place}": items for place, (_, items) in enumerate(named)})
        )
        return frame.toDF(*(name for name, _ in named))

    return make


EXACT = [*UNIQUE, *PLACED, "spark"]


OURS = [
    "values", "epsilon", "person", "the budget, rounded down", "the budget of all", "e", "x", "who",
    "what a ledger offers", "a'", "e'", "key", "c0", "by", "where", "a.b", "a`b", 'a"b', "*", "^v$",
    "#1", " ",
]  # fmt: skip


@pytest.mark.parametrize("engine", NAMED)
@pytest.mark.parametrize(
    ("others", "person"), [(["id", "v", "e"], "ID"), (["ID", "id", "v", "e"], "id_1")]
)
def test_databases_that_are_asked_by_names_refuse_those_that_are_alike(
    engine: str, others: list[str], person: str, on: Any
) -> None:
    columns = {"id": ROWS, "ID": ROWS, "v": ONES, "e": BUDGETS}
    data = on(engine, [*((name, columns[name]) for name in others), (person, PEOPLE)])
    with pytest.raises(ColumnError, match=f"person='{person}' cannot be distinguished from"):
        sums_of("v", epsilon="e", bounds=BOUNDS, data=data, person=person)
    found = sums_of("v", epsilon="e", bounds=BOUNDS, data=data)
    assert found.counts.tolist() == [6]


@pytest.mark.parametrize("engine", PLACED)
def test_a_ledger_knows_the_people_of_the_column_that_is_named(engine: str, on: Any) -> None:
    data = on(engine, [("id", ROWS), ("ID", PEOPLE), ("eps", OTHERS), ("EPS", BUDGETS)])
    assert sorted(people(data, "ID", lenient=False).ids.to_list()) == [1, 2, 3]
    who, budgets = enrolled(data, "ID", "EPS")
    assert sorted(who.ids.to_list()) == [1, 2, 3]
    assert budgets.tolist() == [0.5] * 3


def test_reports_are_those_of_the_columns_that_are_named() -> None:
    mechanism, _ = CASES["bit"]
    reports = reports_of("bit")
    columns = {name: list(column) for name, column in reports.to_columns().items()}
    others: Named = [(name.upper(), column) for name, column in columns.items()]
    data = _relation([*others, *others, *columns.items()])
    assert mechanism.estimate(data=data).value == mechanism.estimate(reports).value


# Names are needed: the rows of a column that is given by itself may be those of other people.

FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda table: table,
    "pandas of objects": lambda table: table.astype(object),
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "narwhals": nw.from_native,
    "duckdb": lambda table: _relation([(name, table[name].tolist()) for name in table]),
    "csv": lambda table: table,
}
COLUMNS: dict[str, Callable[[pd.Series], Any]] = {
    "series": lambda column: column,
    "reordered": lambda column: column.sort_values(),
    "polars": lambda column: pl.Series(column.to_numpy()),
    "arrow": lambda column: pa.array(column.to_numpy()),
    "array": lambda column: column.to_numpy(),
    "list": lambda column: column.tolist(),
    "frame": lambda column: column.to_frame(),
    "expression": lambda column: pl.col("e"),
    "narwhals": lambda column: nw.col("e"),
    "objects": lambda column: column.astype(object),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_with_data_every_column_is_named(frame: str, tmp_path: Path) -> None:
    budgets = [0.5, 8.0, 1.0, 2.0, 0.5, 4.0]
    table = pd.DataFrame({"x": ONES, "e": budgets, "w": budgets, "g": ["a", "b", "c"] * 2})
    table["p"], table["yes"], table["note"] = ROWS, [True, False] * 3, [{}] * 6
    path = tmp_path / "people.csv"
    table.drop(columns="note").to_csv(path, index=False)
    odd = table if frame.startswith("pandas") else table.drop(columns="note")
    data: Any = str(path) if frame == "csv" else FRAMES[frame](odd)
    own: dict[str, Any] = {"epsilon": "e", "data": data}
    mean = {**own, "bounds": BOUNDS, "values": "x"}
    expected, question = ep.mean(**mean, source=ep.Seeded(1)), ep.Mean("x", bounds=BOUNDS)
    for make in COLUMNS.values():
        calls: list[tuple[str, Any]] = [
            ("epsilon", lambda given: ep.mean(**{**mean, "epsilon": given})),
            ("values", lambda given: ep.mean(**{**mean, "values": given})),
            ("person", lambda given: ep.mean(**mean, person=given)),
            ("weights", lambda given: ep.mean(**mean, weights=given)),
            ("where", lambda given: ep.mean(**mean, where=given)),
            ("where", lambda given: ep.mean(**mean, where=(given, "a"))),
            ("by", lambda given: ep.mean(**mean, by=given, groups=["a", "b", "c"])),
            ("y", lambda given: ep.covariance("x", given, x_bounds=(0, 1), y_bounds=(0, 1), **own)),
            ("epsilon", lambda given: ep.mean(**{**mean, "epsilon": given}, menu={"a": 1.0})),
            ("epsilon", lambda given: ep.check(question, data=data, epsilon=given)),
        ]  # fmt: skip
        for name, call in calls:
            column = {"where": "yes", "by": "g", "person": "p"}.get(name, "e")
            with pytest.raises(ArgumentError, match=f"{name} must be the name of a column of data"):
                call(make(table[column]))
    assert ep.mean(**mean, source=ep.Seeded(1)).value == expected.value
    everyone = ep.mean(**{**mean, "epsilon": 1.0}, source=ep.Seeded(1))
    assert ep.mean(ONES, epsilon=ONES, bounds=BOUNDS, source=ep.Seeded(1)).value == everyone.value


def test_a_ledger_needs_names_too(tmp_path: Path) -> None:
    table = pd.DataFrame({"p": ["a", "b", "c"], "e": [0.5, 1.0, 2.0], "note": [{}] * 3})
    ledger = ep.Ledger.create(tmp_path / "ledger.db")
    for given in ({"person": table["p"]}, {"epsilon": table["e"]}, {"epsilon": [0.5, 1.0, 2.0]}):
        with pytest.raises(ArgumentError, match="must be the name of a column of data"):
            ledger.enrol(table, **{"person": "p", "epsilon": "e", **given})
