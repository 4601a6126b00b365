"""Time of a release charged to a ledger, compared with a release without one and with bare SQL.

python -m benchmarks --only ledger
"""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import epsilons as ep
from benchmarks.page import Section
from benchmarks.timing import Result

PEOPLE = 10**6
ROWS = 1.6
"""Rows per person, on average."""

TIMES = 3.0
"""The time limit of a release with a ledger is this many times the time of a release without one,
plus the time of the bare SQL."""

MEMORY = 4.0
"""The largest allowed memory for ten million people, in GiB."""


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


def plain(data: pl.DataFrame) -> object:
    return ep.mean("x", epsilon="e", bounds=(0, 1), data=data, person="who")


def kept(data: pl.DataFrame, ledger: ep.Ledger, name: str) -> object:
    claim = ledger.claim(name, share=1 / 12)
    return ep.mean("x", bounds=(0, 1), data=data, person="who", ledger=claim)


def bare(path: Path, data: pl.DataFrame) -> Callable[[int], None]:
    """Return a function that runs only the necessary SQL: look up people, charge them."""
    link = sqlite3.connect(path, isolation_level=None)
    link.execute("PRAGMA synchronous = FULL")
    link.execute("PRAGMA cache_size = -200000")
    link.execute(
        "CREATE TABLE accounts (number INTEGER PRIMARY KEY, person BLOB UNIQUE, budget, spent)"
    )
    link.execute(
        "CREATE TABLE charges (release, account, amount, PRIMARY KEY (release, account))"
        " WITHOUT ROWID"
    )
    link.execute("CREATE TEMP TABLE wanted (place INTEGER PRIMARY KEY, person BLOB)")
    people = ("i:" + data["who"].unique().cast(pl.String)).sort().cast(pl.Binary)
    rows = ((number, person, 10**9, 0) for number, person in enumerate(people.to_list()))
    link.execute("BEGIN")
    link.executemany("INSERT INTO accounts VALUES (?, ?, ?, ?)", rows)
    link.execute("COMMIT")

    def run(release: int) -> None:
        ids = ("i:" + data["who"].unique().cast(pl.String)).sort().cast(pl.Binary).to_list()
        link.execute("DELETE FROM wanted")
        link.execute("BEGIN IMMEDIATE")
        link.executemany("INSERT INTO wanted VALUES (?, ?)", enumerate(ids))
        found = link.execute(
            "SELECT wanted.place, number, budget, spent FROM wanted "
            "JOIN accounts ON accounts.person = wanted.person"
        ).fetchall()
        charges = ((release, row[1], 1) for row in found)
        link.executemany("INSERT INTO charges VALUES (?, ?, ?)", charges)
        link.execute(
            "UPDATE accounts SET spent = spent + charges.amount FROM charges "
            "WHERE charges.release = ? AND charges.account = accounts.number",
            (release,),
        )
        link.execute("COMMIT")

    return run


def measured(people: int, turns: int) -> tuple[list[float], list[float], list[float], float]:
    """Return times without a ledger, of bare SQL and with a ledger, and the time of enrolment."""
    data = table(people)
    with tempfile.TemporaryDirectory() as folder:
        work = bare(Path(folder) / "bare.db", data)
        with ep.Ledger.create(Path(folder) / "ledger.db") as ledger:
            enrolled = seconds(lambda: ledger.enrol(data, person="who", epsilon="e"))
            rows = [_turn(data, work, ledger, turn) for turn in range(turns)]
    without, least, whole = (list(each) for each in zip(*rows, strict=True))
    return without, least, whole, enrolled


def _turn(
    data: pl.DataFrame, work: Callable[[int], None], ledger: ep.Ledger, turn: int
) -> tuple[float, float, float]:
    first, second = seconds(lambda: plain(data)), seconds(lambda: work(turn))
    return first, second, seconds(lambda: kept(data, ledger, str(turn)))


def memory(people: int) -> float:
    """Return the peak memory, in GiB, of a process that enrols people and charges one release."""
    code = f"from benchmarks.ledger import alone; alone({people})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def alone(people: int) -> None:
    data = table(people)
    with (
        tempfile.TemporaryDirectory() as folder,
        ep.Ledger.create(Path(folder) / "ledger.db") as ledger,
    ):
        ledger.enrol(data, person="who", epsilon="e")
        kept(data, ledger, "a")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def section(*, quick: bool) -> Section:
    """Return the section on releases with and without a ledger."""
    without, least, whole, enrolled = measured(PEOPLE, 2 if quick else 5)
    limits = [TIMES * one + other for one, other in zip(without, least, strict=True)]
    ratio = float(np.median([took / limit for took, limit in zip(whole, limits, strict=True)]))
    note = (
        f"{np.median(whole):.2f} s; without a ledger {np.median(without):.2f} s, the bare join and "
        f"update {np.median(least):.2f} s; enrolling {enrolled:.1f} s"
    )
    found = [Result("a mean of a million people, charged to a ledger", ratio, "×", 1.0, True, note)]
    if not quick:
        found.append(
            Result("memory for ten million people", memory(10**7), "GiB", MEMORY, at_most=True)
        )
    text = (
        "A mean that is charged to people's accounts (SQLite), as a fraction of three times the "
        "same mean without a ledger plus the bare statements that look people up and charge them."
    )
    if quick:
        text += " Only in the long form: the memory for ten million people."
    return Section("Ledger", text, tuple(found))
