"""Time of means that are charged to a ledger, compared with bare SQL and with no ledger."""

from __future__ import annotations

import sqlite3
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import epsilons as ep
from benchmarks import page
from benchmarks.timing import alternate, once, seconds
from tests.ledger import server

TITLE = "Ledger"
TEXT = (
    "A mean that is charged to people's accounts, 1.6 rows for each, over the bare statements that "
    "look the same people up and charge them."
)
HEADS = ["people", "database", "bare", "ours", "ours / bare", "interval", "without", "enrolling"]


def section(*, quick: bool) -> str:
    """Return the section of the page."""
    databases: dict[str, Callable[[], Any]] = {"SQLite": on_sqlite}
    if server.missing() is None:
        databases["PostgreSQL"] = on_postgres
    sizes = {10**5: 5, 10**6: 2 if quick else 5} | ({} if quick else {10**7: 1})
    rows = [
        [f"{people:,}", name, *measured(opened, people, turns)]
        for people, turns in sizes.items()
        for name, opened in databases.items()
    ]
    return f"{TEXT}\n\n{page.table(HEADS, rows)}"


def table(people: int) -> pl.DataFrame:
    """Return the rows of these people."""
    random = np.random.default_rng(17)
    who = random.permutation(people)
    rows = np.concatenate([who, random.choice(who, int(0.6 * people))])
    budgets = np.exp(random.uniform(-3, 1, people)).round(3)
    return pl.DataFrame({"who": rows, "x": random.random(len(rows)), "e": budgets[rows]})


def measured(opened: Callable[[], Any], people: int, turns: int) -> list[str]:
    """Time charged means and bare statements alternately, and means without a ledger."""
    data, names = table(people), iter(range(10**9))
    given: dict = {"bounds": (0, 1), "data": data, "person": "who"}
    with opened() as (bare, where), ep.Ledger.create(where) as ledger:
        bare.enrol(data)
        enrolled = once(lambda: ledger.enrol(data, person="who", epsilon="e"))
        without = [once(lambda: ep.mean("x", epsilon="e", **given)) for _ in range(turns)]

        def charged() -> None:
            ep.mean("x", ledger=ledger.claim(str(next(names)), share=1 / 60), **given)

        ratio = alternate(charged, lambda: bare.charge(data, next(names)), turns)
    return [*ratio.cells, seconds(statistics.median(without)), seconds(enrolled)]


@dataclass(frozen=True)
class Bare:
    """Only the necessary SQL: look up everyone in the data, and charge them.

    Attributes:
        link: a connection in autocommit mode.
        many: inserts rows into a table.
        words: words that differ between databases.
    """

    link: Any
    many: Callable[[str, Iterable[tuple[Any, ...]]], object]
    words: dict[str, str]

    def run(self, sql: str) -> Any:
        return self.link.execute(sql.format(**self.words))

    def enrol(self, data: pl.DataFrame) -> None:
        """Create the tables."""
        self.run(
            "CREATE TABLE accounts (number {integer} PRIMARY KEY, person {bytes} UNIQUE, "
            "budget {integer}, spent {integer})"
        )
        self.run(
            "CREATE TABLE charges (release {integer}, account {integer}, amount {integer}, "
            "PRIMARY KEY (release, account)) {clustered}"
        )
        self.run("CREATE TEMP TABLE wanted (place {integer} PRIMARY KEY, person {bytes})")
        self.run("BEGIN")
        rows = ((number, person, 10**9, 0) for number, person in enumerate(ids(data)))
        self.many("accounts", rows)
        self.run("COMMIT")

    def charge(self, data: pl.DataFrame, release: int) -> None:
        """Look up everyone, and charge them, in one transaction."""
        self.run("DELETE FROM wanted")
        self.run("BEGIN")
        self.many("wanted", enumerate(ids(data)))
        found = self.run(
            "SELECT wanted.place, number, budget, spent FROM wanted "
            "JOIN accounts ON accounts.person = wanted.person"
        ).fetchall()
        self.many("charges", ((release, row[1], 1) for row in found))
        self.run(
            "UPDATE accounts SET spent = spent + charges.amount FROM charges "
            f"WHERE charges.release = {release} AND charges.account = accounts.number"
        )
        self.run("COMMIT")


def ids(data: pl.DataFrame) -> list[bytes]:
    """Return everyone's id once, as bytes."""
    text = "i:" + data["who"].unique().cast(pl.String)
    return text.sort().cast(pl.Binary).to_list()


@contextmanager
def on_sqlite() -> Iterator[tuple[Bare, Path]]:
    """Yield bare tables, and the place for a ledger, on SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        link = sqlite3.connect(Path(folder) / "bare.db", isolation_level=None)
        link.execute("PRAGMA synchronous = FULL")
        link.execute("PRAGMA cache_size = -200000")

        def many(table: str, rows: Iterable[tuple[Any, ...]]) -> None:
            marks = {"accounts": "?, ?, ?, ?", "wanted": "?, ?", "charges": "?, ?, ?"}[table]
            link.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)

        words = {"integer": "INTEGER", "bytes": "BLOB", "clustered": "WITHOUT ROWID"}
        yield Bare(link, many, words), Path(folder) / "ledger.db"


@contextmanager
def on_postgres() -> Iterator[tuple[Bare, str]]:
    """Yield bare tables, and the place for a ledger, on PostgreSQL."""
    import psycopg

    with server.running() as address, psycopg.connect(address, autocommit=True) as link:
        link.execute("CREATE SCHEMA bare")
        link.execute("SET search_path = bare")

        def many(table: str, rows: Iterable[tuple[Any, ...]]) -> None:
            sql: Any = f"COPY {table} FROM STDIN"
            with link.cursor() as cursor, cursor.copy(sql) as copy:
                for row in rows:
                    copy.write_row(row)
            if table == "wanted":
                link.execute("ANALYZE wanted")

        words = {"integer": "BIGINT", "bytes": "BYTEA", "clustered": ""}
        yield Bare(link, many, words), address
