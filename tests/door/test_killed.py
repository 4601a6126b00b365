"""A killed process releases nothing and leaves no values in files. The next run works.

Every row contains recognizable values: a float64, its integer on the grid, and text. An engine that
groups rows by person spills to disk if memory is short. These tests verify the statements of
docs/scale.md about each engine.
"""

from __future__ import annotations

import json
import math
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="processes are watched in /proc"
)

VALUE = 33.91827364551
STEPS = math.floor(VALUE * (2**30 / 100) + 0.5)
NAME = "sentinel-person-"
MARKS = [
    NAME.encode(),
    repr(VALUE).encode(),
    struct.pack("<d", VALUE),
    struct.pack(">d", VALUE),
    *[struct.pack(order, rows * STEPS) for order in ("<q", ">q") for rows in (1, 2, 3)],
]
"""Byte patterns of the values and names, which must not be in any file.

People have up to three rows.
"""

PEOPLE = f"select '{NAME}' || lpad((range % 1000000)::varchar, 9, '0')"


class Place:
    """A directory that is the home, temporary and working directory of a process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        for name in ("home", "temporary", "here"):
            (path / name).mkdir()

    def start(self, *command: str, **environment: str) -> subprocess.Popen[str]:
        own = {"HOME": str(self.path / "home"), "TMPDIR": str(self.path / "temporary")}
        own["PYTHONPATH"] = os.pathsep.join(sys.path)
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=self.path / "here",
            env={**os.environ, **own, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *command: str, **environment: str) -> str:
        """Run a command to its end, and return its standard output."""
        process = self.start(*command, **environment)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        return out

    def files(self) -> list[Path]:
        return [path for path in self.path.rglob("*") if path.is_file()]

    def written(self) -> int:
        """Return the total size of all files. Files that disappear meanwhile are skipped."""
        total = 0
        for path in self.files():
            try:
                total += path.stat().st_size
            except FileNotFoundError:
                continue
        return total

    def marked(self) -> list[Path]:
        """Return the files that contain somebody's value or name."""
        return [path for path in self.files() if any(m in path.read_bytes() for m in MARKS)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def fields(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat, starting with the state."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def busy(pid: int) -> float:
    """Return the seconds of processor time used so far."""
    user, system = fields(pid)[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def session(leader: int) -> Iterator[int]:
    """Yield the running processes of a session, without zombies."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, _, leading, *_ = fields(int(entry.name))
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(leading) == leader and state not in "ZX":
                yield int(entry.name)


def until(happened: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until a condition is true, while a process is running."""
    end = time.monotonic() + 180
    while not happened():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def in_the_middle(process: subprocess.Popen[str], seconds: float = 0.3) -> None:
    """Wait until a process has printed "go" and then used this many seconds of processor time."""
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    go_on(process, seconds)


def go_on(process: subprocess.Popen[str], seconds: float) -> None:
    """Wait until a process has used this many more seconds of processor time."""
    start = busy(process.pid)
    until(lambda: busy(process.pid) > start + seconds, process)


def reads(pid: int, path: Path) -> bool:
    """Whether a process has a file open, or mapped into memory."""
    proc = Path(f"/proc/{pid}")
    if str(path) in (proc / "maps").read_text():
        return True
    try:
        return any(entry.readlink() == path for entry in (proc / "fd").iterdir())
    except FileNotFoundError:  # a file was closed meanwhile
        return False


def kill(process: subprocess.Popen[str], number: int) -> tuple[str, str]:
    """Send a signal, wait until the whole session has ended, and return the output."""
    process.send_signal(number)
    printed = process.communicate(timeout=30)
    end = time.monotonic() + 30
    while alive := list(session(process.pid)):
        assert time.monotonic() < end, alive
        time.sleep(0.05)
    return printed


SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
COMMAND = "print('go', flush=True); from epsilons.__main__ import main; main()"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a file of some kilobytes with rows that keep an engine busy for seconds."""
    path = tmp_path_factory.mktemp("data") / "rows.parquet"
    row = {"v": VALUE, "e": 1.0}
    part = pa.table({name: pa.repeat(entry, 10**6) for name, entry in row.items()})
    with pq.ParquetWriter(path, part.schema) as writer:
        for _ in range(40):
            writer.write_table(part)
    return path


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_a_killed_command(place: Place, large: Path, number: int) -> None:
    def arguments(file: Path) -> list[str]:
        options = ["--value", "v", "--epsilon", "e", "--unknown-range", "--json"]
        return ["-c", COMMAND, "mean", str(file), *options]

    process = place.start(*arguments(large))
    in_the_middle(process, seconds=0)
    until(lambda: reads(process.pid, large), process)
    go_on(process, 0.2)
    out, err = kill(process, number)
    assert out == ""
    if number == signal.SIGINT:  # the command line handles Ctrl-C itself
        assert (process.returncode, err.strip()) == (1, "Aborted!")
    else:
        assert (process.returncode, err) == (-number, "")
    assert place.files() == []
    small = place.path / "small.parquet"
    pl.DataFrame({"v": [VALUE] * 900, "e": [1.0] * 900}).write_parquet(small)
    said, _, release = place.run(*arguments(small)).partition("\n")
    assert said == "go"
    assert json.loads(release)["n"] == 900


DUCKDB = f"""
import sys
import duckdb
import epsilons as ep

statistic, a, b = sys.argv[1:]
con = duckdb.connect()
con.execute("SET enable_progress_bar = false")  # which `python -c` has on, and on standard output
row = "{VALUE!r}::double v, '{NAME}' w, 1.0 + b.range % 7 e"
data = con.sql(f"select {{row}} from range({{a}}) a, range({{b}}) b")
print("go", flush=True)
if statistic == "mean":
    release = ep.mean("v", epsilon="e", bounds=(0, 100), data=data)
else:
    release = ep.frequencies("w", epsilon="e", categories=["{NAME}", "x"], data=data)
print(release.n, flush=True)
"""


# DuckDB's built-in encryption uses a random generator that DuckDB itself calls unsafe. After `LOAD
# httpfs`, which needs a network, it uses OpenSSL's generator. Both write the same files.
@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a file of a million people with three rows each."""
    path = tmp_path_factory.mktemp("data") / "people.parquet"
    rows = pl.select(i=pl.int_range(0, 3 * 10**6))
    name = NAME + (pl.col("i") % 10**6).cast(pl.String).str.zfill(9)
    rows.select(w=name, v=pl.lit(VALUE), e=pl.lit(1.0)).write_parquet(path, row_group_size=10**5)
    return path


SPARK = f"""
import sys
from pyspark.sql import SparkSession
import epsilons as ep

encrypted, rows = sys.argv[1:]
settings = {{
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.io.encryption.enabled": encrypted,
    "spark.shuffle.compress": "false",  # so that values can be recognised
}}
builder = SparkSession.builder.master("local[2]")
for key, value in settings.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
name = "concat('{NAME}', lpad(cast(id % 1000000 as string), 9, '0')) w"
data = spark.range(0, int(rows), 1, 2 if int(rows) < 10**6 else 5000)
data = data.selectExpr(name, "cast({VALUE!r} as double) v", "cast(1 as double) e")
print("go", flush=True)
print(ep.mean("v", epsilon="e", bounds=(0, 100), person="w", data=data).n, flush=True)
spark.stop()
"""
