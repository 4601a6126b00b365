"""Run a tool in a process of its own, and stop it and all its children if it is too slow."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import data
from benchmarks.peers import protocol
from benchmarks.peers.tools import Tool
from benchmarks.timing import seconds

UP = 120.0
"""Seconds that starting a tool may take, besides its limit."""
MEMORY = 0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
"""A tool is stopped at this much memory. With less left, the system might kill any process."""
BOUNDS = (0.0, 100.0)


@dataclass(frozen=True)
class Outcome:
    """Time and memory of one tool for one task on one file.

    Attributes:
        status: "ok", or why there is no answer.
        version: the version of the tool.
        seconds: the median time from the file to the answer.
        peak: the peak memory of its processes, in bytes.
    """

    status: str = "ok"
    version: str = ""
    seconds: float = 0.0
    peak: int = 0

    def __str__(self) -> str:
        return f"{seconds(self.seconds)}, {self.peak / 1e9:.2g} GB" if self.seconds else self.status


def measure(tool: Tool, task: str, rows: int, limit: float) -> Outcome:
    """Run a tool, and check that its answers are plausible: that it was called correctly.

    Args:
        tool: the tool.
        task: "mean" or "frequencies".
        rows: the number of rows of the table, which is public here.
        limit: seconds for all runs, after which the tool is stopped.
    """
    path = data.table(rows)
    question = {
        "path": str(path),
        "rows": rows,
        "bounds": BOUNDS,
        "categories": data.WORDS,
        "epsilon": tool.epsilon,
    }
    status, lines = answers(tool, task, json.dumps(question), UP + limit)
    version = lines[0]["version"] if lines else ""
    if status == "ok" and not all(plausible(task, path, each["values"]) for each in lines[1:]):
        status = "failed (implausible)"
    if status != "ok":
        return Outcome(status, version)
    taken = statistics.median(each["seconds"] for each in lines[1:])
    return Outcome(status, version, taken, lines[-1]["peak"])


def answers(tool: Tool, task: str, question: str, limit: float) -> tuple[str, list[dict[str, Any]]]:
    """Return "ok" or why a job was stopped, and the lines that it wrote."""
    # -I: do not import from the folder of the script, because job files there have the same names
    # as packages.
    command = [str(tool.python), "-I", "-W", "ignore", str(protocol.__file__)]
    command += [str(tool.job), task, question]
    # Spark leaves files in its working directory.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        told, status, end = Path(place) / "answers", "ok", time.monotonic() + limit
        with told.open("w") as file:
            process = subprocess.Popen(
                command,
                cwd=place,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            while status == "ok" and process.poll() is None:
                time.sleep(0.2)
                if time.monotonic() > end:
                    status = f"stopped after {limit:g} s"
                elif (held := protocol.memory(process.pid, "VmRSS")) > MEMORY:
                    status = f"stopped at {held / 1e9:.2g} GB"
        finally:
            stop(process)
        if status == "ok" and process.returncode:
            status = "failed"
        whole = [line for line in told.read_text().splitlines() if line.endswith("}")]
    return status, [json.loads(line) for line in whole]


def stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all its children, and wait until they have ended."""
    # A child can leave the process group (Spark's workers do), but not the session.
    for _ in range(100):
        members = protocol.session_members(process.pid)
        for member in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)
        if not members:
            break
        time.sleep(0.02)
    process.wait()


@functools.cache
def truth(task: str, path: Path) -> list[float]:
    """Return the exact answer, without noise."""
    import polars as pl

    rows = pl.scan_parquet(path)
    if task == "mean":
        return [rows.select(pl.col("value").clip(*BOUNDS).mean()).collect().item()]
    counts = dict(rows.group_by("word").agg(pl.len()).collect(engine="streaming").rows())
    return [counts[word] for word in data.WORDS]


def plausible(task: str, path: Path, values: list[float]) -> bool:
    """Return whether an answer is near the truth: a mean within 0.5, counts within 10⁴."""
    width = 0.5 if task == "mean" else 1e4
    pairs = zip(values, truth(task, path), strict=True)
    return all(abs(value - right) <= width for value, right in pairs)
