"""Ask a tool in a process of its own, and stop it, with all its children, when it is too slow."""

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
"""The share of all memory at which a tool is stopped: beyond it the system stops anyone."""
LOOKS = 0.2
"""Seconds between two looks at the memory of a tool."""
UP = 120.0
RUNS = 3
ENOUGH = 6.0
BOUNDS = (0.0, 100.0)
CATEGORIES = tuple(f"category {k:02d}" for k in range(100))


@dataclass(frozen=True)
class Outcome:
    """What one tool took for one task on one file.

    Attributes:
        peer: the name of the tool.
        task: "mean" or "frequencies".
        rows: rows of the file.
        status: "ok", "stopped after 60 s", "stopped at 20 GB", "not installed", "failed (kind)", or
            why it was not asked.
        seconds: from the file to the answer, the median of the runs; None unless ok.
        version: of the tool, empty where it never came up.
        runs: how many runs there were.
        import_seconds: to import the tool.
        start_seconds: to start what it runs on, 0 where there is nothing to start.
        peak: the most bytes that its processes held, None where the system does not tell.
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
    """A tool that did not answer; its text is the status."""


class Process:
    """A job that waits to be asked, in a session of its own.

    Args:
        tool: who is asked.
        task: "mean" or "frequencies".
        path: the Parquet file.
        rows: its rows, a public fact here.

    Raises:
        NoAnswerError: it is not there, it did not come up, or not in time.
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
        # Isolated: the folder of the script, where jobs are named like packages, is not searched.
        command = [str(tool.python), "-I", "-W", "ignore", str(protocol.__file__), *words]
        # Spark leaves a folder where it runs.
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
        # A line that cannot be read any more is the same as the end: the process was stopped.
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
        """Wait for a line until `end`, or until there is no memory left."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._lines.get(timeout=max(min(LOOKS, end - time.monotonic()), 0.0))
            if time.monotonic() >= end:
                raise NoAnswerError(f"stopped after {limit:g} s")
            held = protocol.memory(self._process.pid, "VmRSS") or 0
            if held > MEMORY * all_memory():
                raise NoAnswerError(f"stopped at {held / 1e9:.2g} GB")

    def ask(self, limit: float = LIMIT, gone: float = 0.0) -> dict[str, Any]:
        """Return one answer: seconds, values and the peak of memory.

        Args:
            limit: the most seconds for all that is asked.
            gone: how many of them have gone.

        Raises:
            NoAnswerError: it failed, or the time is over.
        """
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended: what it said last tells why
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        return self._next(limit, gone)

    def close(self) -> None:
        """End the process and everything that it started, and wait until it is gone."""
        session = self._process.pid
        with contextlib.suppress(ProcessLookupError):
            os.killpg(session, signal.SIGKILL)
        # A child may have left the group (Spark's workers do), but not the session.
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
    """The bytes of memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@functools.cache
def rows_of(path: Path) -> int:
    """Return the rows of a Parquet file, from its footer."""
    import polars as pl

    return int(pl.scan_parquet(path).select(pl.len()).collect().item())


@functools.cache
def truth(task: str, path: Path) -> tuple[float, ...]:
    """Return what a tool that adds no noise would say."""
    import polars as pl

    rows = pl.scan_parquet(path)
    if task == "mean":
        mean = rows.select(pl.col("value").clip(*BOUNDS).mean())
        return (float(mean.collect(engine="streaming").item()),)
    counts = dict(rows.group_by("word").agg(pl.len()).collect(engine="streaming").rows())
    return tuple(float(counts.get(word, 0)) for word in CATEGORIES)


def plausible(task: str, rows: int, values: list[float], expected: tuple[float, ...]) -> bool:
    """Whether a tool was asked rightly: a mean within 0.5, counts within a few thousand.

    Above 3·10⁷ rows counts may be off by 10⁻⁴ of all rows: where people weigh by their budgets,
    that is what sampling them costs.
    """
    width = 0.5 if task == "mean" else max(3000.0, rows / 10**4)
    return len(values) == len(expected) and all(
        abs(value - right) <= width for value, right in zip(values, expected, strict=True)
    )


def measure(tool: Tool, task: str, path: Path, limit: float = LIMIT) -> Outcome:
    """Ask a tool until there are three runs or 6 s have gone, and return the median.

    Args:
        tool: who is asked.
        task: "mean" or "frequencies".
        path: the Parquet file.
        limit: seconds after which the tool is stopped, with all its children. To come up, which
            is no part of its time, it has two minutes.

    Returns:
        The outcome; nothing is raised for what a tool does.
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
    """Ask several tools in turns, all of them warm, each first in some of the turns.

    Args:
        tools: who is asked.
        task: "mean" or "frequencies".
        path: the Parquet file.
        turns: how many turns; three are enough when they take long.
        limit: seconds that one answer may take.

    Returns:
        The seconds of each tool by its name; None where one of them does not answer.
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
