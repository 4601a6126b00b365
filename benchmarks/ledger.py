"""Time and memory of releases charged to a ledger, compared with bare SQL and with no ledger.

python -m benchmarks --only ledger
python -m benchmarks.ledger 1000000 5      ratios for so many people, from so many turns
python -m benchmarks.ledger once 10000000  each step once on PostgreSQL, with the server's time
"""

from __future__ import annotations

import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import epsilons as ep
from benchmarks.page import Section
from benchmarks.timing import Ratio, Result, tell
from tests.ledger import server

PEOPLE = 10**6
ROWS = 1.6
"""Rows per person, on average."""

TIMES = 1.2
"""The time limit of a charged release, in multiples of the time of `Bare.charge`."""

MEMORY = 1.0
"""The largest allowed memory for ten million people, in GiB above a mean without a ledger."""

MANY = 50
"""The number of releases after which a release must be as fast as the first ones."""


def table(people: int) -> pl.DataFrame:
    random = np.random.default_rng(17)
    who = random.permutation(people)
    rows = np.concatenate([who, random.choice(who, int((ROWS - 1.0) * people))])
    budgets = np.exp(random.uniform(-3, 1, people)).round(3)
    return pl.DataFrame({"who": rows, "x": random.random(len(rows)), "e": budgets[rows]})


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def plain(data: Any) -> object:
    return ep.mean("x", epsilon="e", bounds=(0, 1), data=data, person="who")


def kept(data: Any, ledger: ep.Ledger, name: str) -> object:
    claim = ledger.claim(name, share=1 / 60)
    return ep.mean("x", bounds=(0, 1), data=data, person="who", ledger=claim)


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
        rows = ((number, person, 10**9, 0) for number, person in enumerate(_ids(data)))
        self.many("accounts", rows)
        self.run("COMMIT")

    def charge(self, data: pl.DataFrame, release: int) -> None:
        """Look up everyone, and charge them, in one transaction."""
        self.run("DELETE FROM wanted")
        self.run("BEGIN")
        self.many("wanted", enumerate(_ids(data)))
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


def _ids(data: pl.DataFrame) -> list[bytes]:
    ids: list[bytes] = (
        ("i:" + data["who"].unique().cast(pl.String)).sort().cast(pl.Binary).to_list()
    )
    return ids


@dataclass
class Times:
    """Times of one database, in seconds.

    Attributes:
        enrolled: the enrolment.
        without: means without a ledger.
        least: the bare statements.
        whole: means that are charged.
    """

    enrolled: float = 0.0
    without: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> Ratio:
        return Ratio(tuple(self.whole), tuple(self.least))

    @property
    def note(self) -> str:
        return (
            f"{np.median(self.whole):.2f} s; without a ledger {np.median(self.without):.2f} s, the "
            f"bare join and update {np.median(self.least):.2f} s; enrolling {self.enrolled:.1f} s"
        )


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
    with server.running() as address:
        import psycopg

        with psycopg.connect(address, autocommit=True) as link:
            link.execute("CREATE SCHEMA bare")
        with postgres_tables(address) as bare:
            yield bare, address


@contextmanager
def postgres_tables(address: str) -> Iterator[Bare]:
    """Yield bare tables in the schema `bare` of a server."""
    import psycopg

    with psycopg.connect(address, autocommit=True) as link:
        link.execute("SET search_path = bare")

        def many(table: str, rows: Iterable[tuple[Any, ...]]) -> None:
            sql: Any = f"COPY {table} FROM STDIN"
            with link.cursor() as cursor, cursor.copy(sql) as copy:
                for row in rows:
                    copy.write_row(row)
            if table == "wanted":
                link.execute("ANALYZE wanted")

        words = {"integer": "BIGINT", "bytes": "BYTEA", "clustered": ""}
        yield Bare(link, many, words)


DATABASES: dict[str, Callable[[], Any]] = {"SQLite": on_sqlite}
if server.missing() is None:
    DATABASES["PostgreSQL"] = on_postgres


def measured(database: str, people: int, turns: int) -> Times:
    """Run all three kinds of release in turns, on one database."""
    data, found = table(people), Times()
    with DATABASES[database]() as (bare, where):
        bare.enrol(data)
        with ep.Ledger.create(where) as ledger:
            found.enrolled = seconds(lambda: ledger.enrol(data, person="who", epsilon="e"))
            for turn in range(turns):
                found.without.append(seconds(lambda: plain(data)))
                found.least.append(seconds(lambda turn=turn: bare.charge(data, turn)))  # type: ignore[misc]
                found.whole.append(seconds(lambda turn=turn: kept(data, ledger, str(turn))))  # type: ignore[misc]
    return found


def late(database: str, people: int) -> Ratio:
    """Return the times of the last five of many releases, against the first five."""
    data = table(people)
    with DATABASES[database]() as (_, where), ep.Ledger.create(where) as ledger:
        ledger.enrol(data, person="who", epsilon="e")
        kept(data, ledger, "warm")
        took = [seconds(lambda turn=turn: kept(data, ledger, str(turn))) for turn in range(MANY)]  # type: ignore[misc]
    return Ratio(tuple(took[-5:]), tuple(took[:5]))


def memory(people: int, *, charged: bool) -> float:
    """Return the peak memory, in GiB, of a process that reads a file and makes one release."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        table(people).write_parquet(path)
        code = f"from benchmarks.ledger import alone; alone({str(path)!r}, {charged})"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def alone(path: str, charged: bool) -> None:
    if not charged:
        plain(path)
    else:
        with on_sqlite() as (_, where), ep.Ledger.create(where) as ledger:
            ledger.enrol(path, person="who", epsilon="e")
            kept(path, ledger, "a")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def ratios(people: int, turns: int) -> Iterator[Result]:
    """Yield the charged mean over the bare statements, on each database."""
    for database in DATABASES:
        found = measured(database, people, turns)
        low, high, confidence = found.ratio.interval
        name = f"a mean of {people:,} people on {database}, over bare statements"
        if (people, database) == (PEOPLE, "SQLite"):
            name = "a mean of a million people, charged to a ledger"
        figure = found.ratio.figure
        yield tell(Result(name, figure, "×", TIMES, True, found.note, low, high, confidence))


def once(people: int) -> None:
    """Print what each step takes once on PostgreSQL, each in its own process.

    Autovacuum is off: it would work for one step during another.
    """
    import psycopg

    with tempfile.TemporaryDirectory() as folder, server.running("autovacuum=off") as address:
        path = Path(folder) / "people.parquet"
        table(people).write_parquet(path)
        with psycopg.connect(address, autocommit=True) as link:
            link.execute("CREATE SCHEMA bare")
            link.execute("CREATE SCHEMA ledger")
            main = int(_fields(Path(f"/proc/{link.info.backend_pid}/stat"))[1])
        for step in STEPS:
            words = ", ".join(map(repr, (step, str(path), address, main)))
            command = [sys.executable, "-c", f"from benchmarks.ledger import take; take({words})"]
            subprocess.run(command, check=True)


def take(step: str, path: str, address: str, main: int) -> None:
    """Take a step of `once`, and print its times and the peak memory of this process."""

    def told(name: str, run: Callable[[], object]) -> None:
        before, mine = server_seconds(main), time.process_time()
        wall = seconds(run)
        mine, served = time.process_time() - mine, server_seconds(main) - before
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name:>8}: {wall:7.1f} s, Python {mine:6.1f} s, server {served:6.1f} s, "
            f"peak {peak:.2f} GiB",
            flush=True,
        )

    STEPS[step](path, address, told)


def server_seconds(main: int) -> float:
    """Return the processor time of a server: of its main process, and of its children."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = _fields(stat)
        except OSError:  # the process has ended
            continue
        if stat.parent.name == str(main):
            ticks += sum(map(int, fields[11:15]))  # with children that have ended
        elif fields[1] == str(main):
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _fields(stat: Path) -> list[str]:
    """Return the fields of /proc/…/stat after the name of the program."""
    return stat.read_text().rpartition(")")[2].split()


Told = Callable[[str, Callable[[], object]], None]


def _mean_step(path: str, _: str, told: Told) -> None:
    told("mean", lambda: plain(path))


def _ledger_step(path: str, address: str, told: Told) -> None:
    where = f"{address}&options=-csearch_path%3Dledger"
    try:
        ledger = ep.Ledger(where)
    except ep.errors.LedgerError:
        with ep.Ledger.create(where) as ledger:
            told("enrol", lambda: ledger.enrol(path, person="who", epsilon="e"))
            with ledger._book.store.write():
                ledger._book.store.run("ANALYZE")
        return
    with ledger:
        told("charge", lambda: kept(path, ledger, "a"))


def _bare_step(path: str, address: str, told: Told) -> None:
    data = pl.read_parquet(path)
    with postgres_tables(address) as bare:
        told("bare in", lambda: bare.enrol(data))
        bare.run("ANALYZE")
        told("bare", lambda: bare.charge(data, 1))


STEPS = {"mean": _mean_step, "enrol": _ledger_step, "charge": _ledger_step, "bare": _bare_step}


def section(*, quick: bool) -> Section:
    """Return the section on releases with and without a ledger."""
    found = [*ratios(PEOPLE, 2 if quick else 5), *ratios(PEOPLE // 10, 5)]
    if not quick:
        found += ratios(10 * PEOPLE, 1)
        for database in DATABASES:
            name = f"the {MANY}th release of 100,000 people on {database}, over the first"
            found.append(tell(late(database, 10**5).result(name, TIMES)))
    text = (
        "A mean that is charged to people's accounts, over the bare statements that look the same "
        "people up and charge them."
    )
    if quick:
        text += " Only in the long form: ten million people, and fifty releases."
    else:
        least, whole = (memory(10**7, charged=charged) for charged in (False, True))
        note = f"{least:.3g} GiB without a ledger"
        name = "memory for ten million people"
        found.append(tell(Result(name, whole, "GiB", least + MEMORY, True, note)))
    return Section("Ledger", text, tuple(found))


if __name__ == "__main__" and sys.argv[1] == "once":
    for count in sys.argv[2:]:
        print(f"{int(count):,} people", flush=True)
        once(int(count))
elif __name__ == "__main__":
    for each in ratios(int(sys.argv[1]), int(sys.argv[2])):
        assert each.name
