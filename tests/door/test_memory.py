"""Peak memory depends on the tally and the engine's read-ahead, not on the number of rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchmarks import data

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is read from /proc"
)

MIB = 2**20
GIB = 2**30
LIMIT = 4 * GIB
MEASURE = """
import json, resource, sys, threading

engine, question, path, limit, memory = sys.argv[1:]
# Counts what is private and can be written to. A limit on addresses would also count those that
# engines reserve and never use.
resource.setrlimit(resource.RLIMIT_DATA, (int(limit), int(limit)))

import duckdb, numpy, polars
import epsilons as ep

def now():
    lines = (line.split() for line in open("/proc/self/status"))
    return {words[0][:-1]: 1024 * int(words[1]) for words in lines if words[-1] == "kB"}

words = [f"category {k:02d}" for k in range(100)]
menu = numpy.geomspace(0.01, 10.0, 50)

def ask(data):
    source = ep.Seeded(1)
    if question in ("words", "own words"):
        own = "own" if question == "own words" else "epsilon"
        return ep.frequencies("word", epsilon=own, categories=words, data=data, source=source)
    public = {"neighbours": "add-remove", "levels": menu.tolist()}
    return ep.mean(
        "value",
        epsilon="own" if question == "own" else "epsilon",
        bounds=None if question == "unknown range" else (0.0, 100.0),
        person="person" if question == "person" else None,
        data=data,
        source=source,
        **(public if question == "add-remove" else {}),
    )

connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
if memory:
    connection.execute(f"SET memory_limit = '{memory}'")
draw = numpy.random.default_rng(0)
few = polars.DataFrame({
    "value": draw.normal(50.0, 20.0, 3000),
    "epsilon": draw.choice(menu, 3000),
    "own": draw.choice(menu, 3000),
    "word": draw.choice(words, 3000),
    "person": numpy.arange(3000),
})
ask(few.lazy() if engine == "polars" else connection.from_arrow(few.to_arrow()))
before = now()["RssAnon"]
peak, over = [before], threading.Event()

def watch():
    while not over.wait(0.004):
        peak.append(max(peak.pop(), now()["RssAnon"]))

watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
ask(path if engine == "polars" else connection.read_parquet(path))
over.set()
watcher.join()
print(json.dumps({"more": peak[0] - before, "anonymous": peak[0], "all": now()["VmHWM"]}))
"""
QUESTIONS = ["levels", "own", "words", "own words", "unknown range", "add-remove"]


def measured(
    engine: str, question: str, path: Path, directory: Path, memory: str = ""
) -> dict[str, int]:
    """Return peak memory in bytes.

    `anonymous` is anonymous memory, `more` is how much it grew, and `all` is resident memory.
    """
    run = subprocess.run(
        [sys.executable, "-c", MEASURE, engine, question, str(path), str(LIMIT), memory],
        capture_output=True,
        text=True,
        cwd=directory,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    peak: dict[str, int] = json.loads(run.stdout)
    print(engine, question, path.name, {name: size // MIB for name, size in peak.items()}, "MiB")
    return peak


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_memory_does_not_grow_with_rows(tmp_path: Path, engine: str) -> None:
    more = []
    for millions in (1, 4):
        source = np.random.default_rng(millions)
        size = millions * 10**6
        rows = {
            "value": source.normal(50.0, 20.0, size),
            "epsilon": data.MENU[source.integers(0, 50, size)],
        }
        file = tmp_path / f"{millions}.parquet"
        pl.DataFrame(rows).write_parquet(file, row_group_size=20_000)
        more.append(measured(engine, "levels", file, tmp_path)["more"])
    # If rows were kept in memory, 3·10⁶ additional rows would take 48 MB.
    assert more[1] - more[0] < 24 * MIB
    assert more[1] < 100 * MIB


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write ten million rows of three million people."""
    file = tmp_path_factory.mktemp("data") / "people.parquet"
    source = np.random.default_rng(2)
    budgets, person = source.choice(data.MENU, 3 * 10**6), source.integers(0, 3 * 10**6, 10**7)
    rows = {
        "person": person,
        "value": source.normal(50.0, 20.0, 10**7),
        "epsilon": budgets[person],
    }
    pl.DataFrame(rows).write_parquet(file, row_group_size=10**6)
    return file


SPARK = """
import json, os, sys, threading
from pathlib import Path
from pyspark.sql import SparkSession
import epsilons as ep

builder = SparkSession.builder.master("local[2]")
for key, value in {
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}.items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()

def resident():
    total = 0
    for entry in Path("/proc").iterdir():
        try:
            group = (entry / "stat").read_text().rpartition(")")[2].split()[3]
            lines = (entry / "status").read_text().splitlines()
        except (OSError, IndexError):
            continue
        if int(group) == os.getsid(0):
            total += sum(1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return total

peak, over = [0], threading.Event()

def watch():
    while not over.wait(0.1):
        peak.append(max(peak.pop(), resident()))

watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
data = spark.read.parquet(sys.argv[1])
n = ep.mean("value", epsilon=sys.argv[2], bounds=(0, 100), data=data, source=ep.Seeded(1)).n
over.set()
watcher.join()
print(json.dumps({"n": n, "all": peak[0]}))
spark.stop()
"""
