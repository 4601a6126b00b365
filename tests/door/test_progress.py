"""Progress is one line on a terminal, and is always erased. In a pipe there is no output."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pytest

from epsilons.door.engines import running
from epsilons.door.engines.running import collected, guarded
from epsilons.errors import DataError
from tests.door.terminals import Console, on_console

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
LINE = "epsilons: reading the data in Polars"


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
