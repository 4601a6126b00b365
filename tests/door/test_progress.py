"""Progress is one line on a terminal, and is always erased. In a pipe there is no output."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

from epsilons.door.count.asks import Ask, Names, Rules
from epsilons.door.engines import running
from epsilons.door.engines.running import collected, guarded
from epsilons.door.given import columns
from epsilons.door.rows import Rows
from epsilons.errors import DataError
from tests.door.terminals import Console, Terminal, on_console, run

SLOW = """
import sys, time
import polars as pl
import epsilons as ep

def wait(rows):
    time.sleep(float(sys.argv[1]))
    if sys.argv[2] == "fail":
        raise OSError("no such disk")
    return rows

rows = pl.LazyFrame({"v": [0.25, 0.5, 0.75]})
data = rows.map_batches(wait, streamable=True)
release = ep.mean("v", epsilon=1.0, bounds=(0, 1), data=data, source=ep.Seeded(1))
print("n =", release.n)
"""
ENDLESS = """
import sys
import polars as pl
import epsilons as ep

one = pl.LazyFrame({"v": [float(i) for i in range(100_000)]})
two = pl.LazyFrame({"e": [1.0 + i % 7 for i in range(100_000)]})
ep.mean("v", epsilon="e", bounds=(0, 1), data=one.join(two, how="cross"))
print("it ended")
"""
LINE = "epsilons: reading the data in Polars"


@pytest.mark.long
def test_a_slow_query_shows_one_line_and_erases_it() -> None:
    code, out, terminal = run(SLOW, "2.2", "")
    assert (code, out) == (0, "n = 3\n")
    assert f"{LINE}, 1 s" in terminal.states
    assert f"{LINE}, 2 s" in terminal.states
    assert len([state for state in terminal.states if state]) >= 3
    assert all(state.startswith(LINE) for state in terminal.states if state)
    assert "\n" not in terminal.told
    assert terminal.told.endswith("\r")
    assert terminal.screen == [""]


def test_a_quick_query_shows_nothing() -> None:
    code, out, terminal = run(SLOW, "0.2", "")
    assert (code, out, terminal.told) == (0, "n = 3\n", "")


@pytest.mark.long
def test_nothing_in_a_pipe() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SLOW, "1.6", ""], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("n = 3\n", "")


@pytest.mark.long
def test_a_failure_leaves_a_clean_line() -> None:
    code, out, terminal = run(SLOW, "1.6", "fail")
    assert (code, out) == (1, "")
    assert f"{LINE}, 1 s" in terminal.states
    assert terminal.screen[0] == "Traceback (most recent call last):"
    assert "epsilons.errors.DataError" in terminal.told
    assert not any(line.startswith(LINE) for line in terminal.screen)


@pytest.mark.long
def test_an_interrupt_is_prompt_and_leaves_a_clean_line() -> None:
    sent = 0.0

    def interrupt(process: subprocess.Popen[str], terminal: Terminal) -> None:
        nonlocal sent
        end = time.monotonic() + 40
        while LINE not in terminal.told:
            assert time.monotonic() < end
            time.sleep(0.05)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)

    code, out, terminal = run(ENDLESS, meanwhile=interrupt)
    assert time.monotonic() - sent < 10
    assert (code, out) == (-signal.SIGINT, "")
    assert terminal.screen[0] == "Traceback (most recent call last):"
    assert "KeyboardInterrupt" in terminal.told
    assert not any(line.startswith(LINE) for line in terminal.screen)


@pytest.mark.long
def test_the_line_is_cut_to_the_terminal() -> None:
    _, _, terminal = run(SLOW, "1.6", "", columns=20)
    assert {state for state in terminal.states if state} == {LINE[:19]}
    assert max(map(len, terminal.told.split("\r"))) == 19


def test_what_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    for stream in (None, io.StringIO(), closed := io.StringIO()):
        closed.close()
        monkeypatch.setattr(sys, "stderr", stream)
        assert not running.on_terminal()
    monkeypatch.setattr(sys, "stderr", Console())
    assert running.on_terminal()
    monkeypatch.setenv("TERM", "dumb")
    assert not running.on_terminal()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(running, "PATIENCE", 0.02)
    monkeypatch.setattr(running, "PERIOD", 0.02)


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "epsilons progress"]


def test_the_thread_is_a_daemon_and_gone_at_the_end(quick: None) -> None:
    def work() -> int:
        time.sleep(0.2)
        assert [thread.daemon for thread in ours()] == [True]
        return 5

    done, told = on_console(work, lambda: 0.434)
    assert done == 5
    assert not ours()
    assert "\rworking, 43 %, 0 s" in told
    assert told.endswith("\r")


def test_no_thread_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert running.shown(ours, "working") == []


def test_an_engine_that_does_not_say_how_far_it_is(quick: None) -> None:
    def broken() -> float:
        raise ConnectionError("the other side is gone")

    _, told = on_console(lambda: time.sleep(0.2), broken)
    assert "\rworking, 0 s" in told
    assert "gone" not in told
    assert not ours()


def test_an_engine_that_is_slow_to_say_it(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FAREWELL", 0.05)
    asked, answer = threading.Event(), threading.Event()

    def slow() -> float:
        asked.set()
        answer.wait(20)
        return 0.5

    start = time.monotonic()
    console = Console()
    with contextlib.redirect_stderr(console):
        running.shown(lambda: asked.wait(20), "working", slow)
    assert time.monotonic() - start < 10
    (thread,) = ours()
    answer.set()
    thread.join(10)
    assert console.getvalue() == ""


def test_a_narrower_line_covers_a_longer_one(quick: None) -> None:
    shares = iter([1.0, 0.0])
    _, told = on_console(lambda: time.sleep(0.3), lambda: next(shares))
    assert told.split("\r")[1:4] == [
        "working, 100 %, 0 s",
        "working, 0 %, 0 s  ",
        "working, 0 s     ",
    ]


def parquet(path: Path) -> Path:
    rows = 250_000
    pl.DataFrame(
        {"v": [i % 1000 / 1000 for i in range(rows)], "e": [1.0, 2.0] * (rows // 2), "w": "unused"}
    ).write_parquet(path, row_group_size=50_000)
    return path


def test_the_share_of_a_scan(tmp_path: Path, quick: None) -> None:
    """Counting rows for progress changes neither the query plan nor the integers."""
    file = parquet(tmp_path / "rows.parquet")
    passed = running.Passed(250_000)
    table = columns.read("v", "e", file, None)
    ask, rules = Ask("numbers", (0.0, 1.0)), Rules(Names(), "error", 1, None, None)
    bare = Rows(table, rules).count(ask)
    watched = passed.watched(pl.scan_parquet(file))
    query = nw.from_native(watched).group_by("e").agg(nw.col("v").sum()).sort("e")
    assert "PROJECT 2/3 COLUMNS" in query.to_native().explain()
    assert "PROJECT 1/3 COLUMNS" in watched.select("v").head(7).explain()
    for _ in range(2):  # the second pass starts from zero
        with contextlib.redirect_stderr(Console()):
            collected(query, passed)
        assert passed() == 1.0
    assert watched.head(7).collect().height == 7
    again = Rows(columns.read("v", "e", watched, None), rules).count(ask)
    assert bare.cells.tolist() == again.cells.tolist()
    assert running.Passed(0)() is None


class Tracker:
    """A replacement for Spark's status tracker.

    It has one job of another user, and our job in two stages.
    """

    def __init__(self) -> None:
        self.jobs = [3]

    def getActiveJobsIds(self) -> list[int]:
        return self.jobs

    def getJobInfo(self, job: int) -> Any:
        return {3: pl, 4: type("Job", (), {"stageIds": [7, 8, 9]}), 5: None}[job]

    def getStageInfo(self, stage: int) -> Any:
        done = {7: (8, 6), 8: (2, 0), 9: None}[stage]
        return done and type("Stage", (), {"numTasks": done[0], "numCompletedTasks": done[1]})


def test_the_share_of_a_spark_job() -> None:
    tracker = Tracker()
    share = running._Tasks(tracker)
    assert share() is None
    tracker.jobs = [3, 4, 5]
    assert share() == 0.6
    tracker.jobs = [3, 5]  # one job of the query has ended, and the next has started
    assert share() == 0.6


class Interrupted:
    """A DuckDB query that fails, because of Ctrl-C or another error."""

    implementation = nw.Implementation.DUCKDB

    def __init__(self, said: str) -> None:
        self.said = said

    def collect(self) -> Any:
        raise RuntimeError(self.said)

    def to_native(self) -> None:
        pass


def test_an_interrupt_of_duckdb_is_no_failure_of_the_data() -> None:
    query: Any = Interrupted("Query interrupted")
    with pytest.raises(KeyboardInterrupt) as caught:
        guarded((DataError, "({kind})"), collected, query)
    assert caught.value.__context__ is None
    other: Any = Interrupted("no disk")
    with pytest.raises(DataError, match="RuntimeError"):
        guarded((DataError, "({kind})"), collected, other)


@pytest.mark.parametrize("own", [False, True])
def test_duckdb_shows_its_own(own: bool, tmp_path: Path) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET enable_progress_bar = {own}")
    data = connection.read_parquet(str(parquet(tmp_path / "rows.parquet")))
    query = nw.from_native(data).group_by("e").agg(nw.col("v").sum())
    assert running.shows_its_own(query) == own


SPARK = """
import sys, time
from pyspark.sql import SparkSession
import epsilons as ep
builder = SparkSession.builder.master("local[1]")
for key, value in {"spark.ui.enabled": "false", "spark.log.level": "OFF",
                   "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
                   "spark.sql.shuffle.partitions": "1",
                   "spark.ui.showConsoleProgress": sys.argv[1]}.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
rows = spark.range(0, 400_000_000, 1, 40)
data = rows.selectExpr("cast(id % 1000 as double) v", "1.0 + cast(id % 7 as double) e")
print("go", flush=True)
release = ep.mean("v", epsilon="e", bounds=(0, 1000), data=data, source=ep.Seeded(1))
print("n =", release.n)
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not (shutil.which("java") and importlib.util.find_spec("pyspark"))
    and not os.environ.get("EPSILONS_SKIP_NOTHING"),
    reason="PySpark needs Java 17 and the package pyspark, and one of them is not here",
)
@pytest.mark.parametrize("own", ["false", "true"])
def test_spark_says_how_far_it_is(own: str) -> None:
    code, out, terminal = run(SPARK, own)
    assert (code, out) == (0, "go\nn = 400000000\n")
    lines = [state for state in terminal.states if state.startswith("epsilons:")]
    if own == "true":  # Spark shows its own progress bar
        assert "[Stage" in terminal.told
        assert not lines
    else:
        assert any(" %, " in line for line in lines)
        assert "[Stage" not in terminal.told
        assert not any(line.startswith("epsilons:") for line in terminal.screen)
