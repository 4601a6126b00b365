"""Compare statistics on a Spark cluster of two executors with those of Polars.

This is a separate program, because a process has only one Spark session. For each statistic it
prints whether the results are the same, with both executors and after one was killed.

    python tests/door/cluster.py FOLDER
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import epsilons as ep

ROWS = 60_000
EXECUTOR = "CoarseGrainedExecutorBackend"
WHO: dict[str, Any] = {"epsilon": "e", "person": "who"}
WORDS: dict[str, Any] = {"categories": ["a", "b", "c"]}
CALLS: dict[str, Callable[..., Any]] = {
    "mean": lambda **more: ep.mean("x", bounds=(0, 10), **WHO, **more),
    "frequencies": lambda **more: ep.frequencies("word", **WORDS, **WHO, **more),
    "groups": lambda **more: ep.mean(
        "x", bounds=(0, 10), by="word", groups=["a", "b", "c"], **WHO, **more
    ),
    "quantile": lambda **more: ep.quantile("x", q=0.5, bounds=(0, 10), **WHO, **more),
    "variance": lambda **more: ep.variance("x", bounds=(0, 10), **WHO, **more),
}


def people() -> pl.DataFrame:
    """Rows of 20,000 people, three each, in random order."""
    rng = np.random.default_rng(1)
    who = rng.permutation(ROWS) // 3
    return pl.DataFrame(
        {
            "x": rng.uniform(0.0, 10.0, ROWS),
            "word": rng.choice(["a", "b", "c"], ROWS),
            "e": np.array([0.2, 1.0, 3.0])[who % 3],
            "who": who,
        }
    )


def cluster() -> Any:
    """Start a Spark session with two executors, each a process with one core and 1 GiB."""
    import pyspark
    from pyspark.sql import SparkSession

    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.executor.memory", "1024m")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )


def executors() -> set[int]:
    """Process ids of this session's executors."""
    # Without -ww, ps cuts lines to the width in COLUMNS, and no executor is found.
    found = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    )
    mine = f"--app-id {_application()}"
    lines = [line for line in found.stdout.splitlines() if EXECUTOR in line and mine in line]
    # The arguments of a shell or a launcher may contain the same words. Only the Java process is
    # the executor.
    return {int(line.split()[0]) for line in lines if "java" in line.split()[1]}


def both() -> set[int]:
    """Wait until two executors run, and return their process ids.

    If one was killed, Spark starts another.
    """
    until = time.monotonic() + 60.0
    while len(found := executors()) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    return found


def _application() -> str:
    from pyspark import SparkContext

    return str(SparkContext.getOrCreate().applicationId)


def kill_one(session: Any, killed: list[int]) -> None:
    """Kill one executor as soon as tasks run."""
    tracker = session.sparkContext.statusTracker()
    while not killed:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage and stage.numActiveTasks for stage in stages):
            victim = min(executors())
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)
        time.sleep(0.01)


def main(folder: str) -> None:
    rows = people()
    rows.write_parquet(f"{folder}/people.parquet")
    session = cluster()
    try:
        data = session.read.parquet(f"{folder}/people.parquet").repartition(16)
        for name, call in CALLS.items():
            expected = call(data=rows, source=ep.Seeded(1))
            for when in ("whole", "one killed"):
                before, killed = both(), list[int]()
                killer = threading.Thread(target=kill_one, args=(session, killed), daemon=True)
                if when == "one killed":
                    killer.start()
                found = call(data=data, source=ep.Seeded(1))
                same = np.array_equal(found.value, expected.value)
                lost = before - executors() if killed else set()
                print(name, when, "same" if same else "DIFFERENT", len(before), len(lost))
    finally:
        session.stop()


if __name__ == "__main__":
    main(sys.argv[1])
