"""Run a tool in a separate process, and stop it and all its children if it is too slow."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.peers import protocol
from benchmarks.peers.tools import Tool

__all__ = ["LIMIT", "NoAnswerError", "Outcome", "Process", "in_turns", "measure"]

LIMIT = 60.0
MEMORY = 0.8
"""A tool is stopped at this share of all memory. With less free memory, the system might kill
any process."""
LOOKS = 0.2
"""Seconds between two checks of a tool's memory."""
UP = 120.0
RUNS = 3
ENOUGH = 6.0
BOUNDS = (0.0, 100.0)
CATEGORIES = tuple(f"category {k:02d}" for k in range(100))


@dataclass(frozen=True)
class Outcome:
    """Time and memory of one tool for one task on one file.

    Attributes:
        peer: name of the tool.
        task: "mean" or "frequencies".
        rows: rows of the file.
        status: "ok", "stopped after 60 s", "stopped at 20 GB", "not installed", "failed (kind)", or
            the reason why it was not run.
        seconds: median time from the file to the answer; None unless ok.
        version: version of the tool; empty if it never started.
        runs: number of runs.
        import_seconds: time to import the tool.
        start_seconds: time to start its engine; 0 if there is none.
        peak: peak memory of its processes in bytes; None if the system does not report it.
    """

    peer: str
    task: str
    rows: int
    status: str = "ok"
    seconds: float | None = None
    version: str = ""
    runs: int = 0
    import_seconds: float | None = None
    start_seconds: float | None = None
    peak: int | None = None

    @property
    def stopped(self) -> bool:
        return self.status.startswith("stopped")


class NoAnswerError(Exception):
    """A tool did not answer; the message is the status of its outcome."""


class Process:
    """A job in a separate session that waits for requests.

    Args:
        tool: the tool.
        task: "mean" or "frequencies".
        path: the Parquet file.
        rows: number of rows, which is public here.

    Raises:
        NoAnswerError: the tool is not installed, failed to start, or did not start in time.
    """

    def __init__(self, tool: Tool, task: str, path: Path, rows: int) -> None:
        if not tool.python.exists():
            raise NoAnswerError("not installed")
        self.tool = tool
        question = {
            "path": str(path),
            "rows": rows,
            "bounds": BOUNDS,
            "categories": CATEGORIES,
            "epsilon": tool.epsilon,
        }
        words = [str(tool.job), task, json.dumps(question)]
        # -I: do not import from the folder of the script, because job files there have the same
        # names as packages.
        command = [str(tool.python), "-I", "-W", "ignore", str(protocol.__file__), *words]
        # Spark leaves files in its working directory.
        self._place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            command,
            cwd=self._place.name,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.head = self._next(UP)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        # A read error has the same cause as the end of output: the process was stopped.
        with contextlib.suppress(ValueError, OSError):
            for line in self._process.stdout:
                self._lines.put(line)
        self._lines.put("")

    def _next(self, limit: float, gone: float = 0.0) -> dict[str, Any]:
        line = self._line(limit, time.monotonic() + limit - gone)
        if not line:
            code = self._process.wait()
            raise NoAnswerError(f"failed ({'killed' if code < 0 else f'exit {code}'})")
        words: dict[str, Any] = json.loads(line)
        if "failed" in words:
            raise NoAnswerError(f"failed ({words['failed']})")
        return words

    def _line(self, limit: float, end: float) -> str:
        """Wait for a line until `end`, or until the tool uses too much memory."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=max(min(LOOKS, end - time.monotonic()), 0.0))
            if time.monotonic() >= end:
                raise NoAnswerError(f"stopped after {limit:g} s")
            held = protocol.memory(self._process.pid, "VmRSS") or 0
            if held > MEMORY * all_memory():
                raise NoAnswerError(f"stopped at {held / 1e9:.2g} GB")

    def ask(self, limit: float = LIMIT, gone: float = 0.0) -> dict[str, Any]:
        """Return one answer: seconds, values and peak memory.

        Args:
            limit: the time limit for all requests, in seconds.
            gone: seconds that have already passed.

        Raises:
            NoAnswerError: the job failed, or the time is up.
        """
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # the process has ended, and its last line says why
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        return self._next(limit, gone)

    def close(self) -> None:
        """Kill the process and all its children, and wait until they have ended."""
        session = self._process.pid
        with contextlib.suppress(ProcessLookupError):
            os.killpg(session, signal.SIGKILL)
        # A child can leave the process group (Spark's workers do), but not the session.
        for _ in range(100):
            members = protocol.session_members(session)
            if not members:
                break
            for member in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(member, signal.SIGKILL)
            time.sleep(0.02)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._place.cleanup()


@functools.cache
def all_memory() -> int:
    """Return the total memory of this machine, in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@functools.cache
def rows_of(path: Path) -> int:
    """Return the number of rows of a Parquet file, from its footer."""
    import polars as pl

    return int(pl.scan_parquet(path).select(pl.len()).collect().item())


@functools.cache
def truth(task: str, path: Path) -> tuple[float, ...]:
    """Return the exact answer, without noise."""
    import polars as pl

    rows = pl.scan_parquet(path)
    if task == "mean":
        mean = rows.select(pl.col("value").clip(*BOUNDS).mean())
        return (float(mean.collect(engine="streaming").item()),)
    counts = dict(rows.group_by("word").agg(pl.len()).collect(engine="streaming").rows())
    return tuple(float(counts.get(word, 0)) for word in CATEGORIES)


def plausible(task: str, rows: int, values: list[float], expected: tuple[float, ...]) -> bool:
    """Return whether the answer is plausible, which shows that the tool was called correctly.

    A mean must be within 0.5 and counts within 3,000. Above 3·10⁷ rows, counts can differ by 10⁻⁴
    of all rows. That is the sampling error if people are weighted by their budgets.
    """
    width = 0.5 if task == "mean" else max(3000.0, rows / 10**4)
    return len(values) == len(expected) and all(
        abs(value - right) <= width for value, right in zip(values, expected, strict=True)
    )


def measure(tool: Tool, task: str, path: Path, limit: float = LIMIT) -> Outcome:
    """Run a tool up to three times, or until 6 s have passed, and return the median.

    Args:
        tool: the tool.
        task: "mean" or "frequencies".
        path: the Parquet file.
        limit: seconds after which the tool is stopped, with all its children. Starting the tool is
            not included, and can take up to two minutes.

    Returns:
        The outcome. Failures of a tool are outcomes, not exceptions.
    """
    rows, expected = rows_of(path), truth(task, path)
    head: dict[str, Any] = {}
    answers: list[dict[str, Any]] = []
    status = "ok"
    try:
        with Process(tool, task, path, rows) as process:
            head, begin = process.head, time.monotonic()
            while True:
                answers.append(process.ask(limit, time.monotonic() - begin))
                if not plausible(task, rows, answers[-1]["values"], expected):
                    raise NoAnswerError("failed (implausible)")
                gone = time.monotonic() - begin
                if len(answers) >= RUNS or gone + answers[-1]["seconds"] > min(ENOUGH, limit):
                    break
    except NoAnswerError as failure:
        status = str(failure)
    well = status == "ok"
    return Outcome(
        peer=tool.name,
        task=task,
        rows=rows,
        status=status,
        seconds=statistics.median(each["seconds"] for each in answers) if well else None,
        version=head.get("version", ""),
        runs=len(answers) if well else 0,
        import_seconds=head.get("import_seconds"),
        start_seconds=head.get("start_seconds"),
        peak=answers[-1]["peak"] if well else None,
    )


def in_turns(
    tools: Sequence[Tool], task: str, path: Path, turns: int = 7, limit: float = LIMIT
) -> dict[str, tuple[float, ...]] | None:
    """Run several warm tools alternately, and rotate which one is first.

    Args:
        tools: the tools.
        task: "mean" or "frequencies".
        path: the Parquet file.
        turns: number of turns; three are enough if they take long.
        limit: time limit of one answer, in seconds.

    Returns:
        The seconds of each tool, by name; None if any tool does not answer.
    """
    rows = rows_of(path)
    times: dict[str, list[float]] = {tool.name: [] for tool in tools}
    try:
        with contextlib.ExitStack() as stack:
            processes = [stack.enter_context(Process(tool, task, path, rows)) for tool in tools]
            for process in processes:
                process.ask(limit)
            begin = time.monotonic()
            for turn in range(turns):
                first = turn % len(processes)
                for process in processes[first:] + processes[:first]:
                    times[process.tool.name].append(process.ask(limit)["seconds"])
                if turn + 1 >= RUNS and time.monotonic() - begin > ENOUGH:
                    break
    except NoAnswerError:
        return None
    return {name: tuple(each) for name, each in times.items()}
