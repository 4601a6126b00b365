"""Run queries: show their progress, stop them on Ctrl-C, and withhold messages of engines."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TextIO, TypeVar, cast

import numpy as np

from epsilons import listed, parameters
from epsilons.door.engines.table import engine_of
from epsilons.errors import EpsilonsError, MissingExtraError
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

__all__ = [
    "UNUSABLE",
    "Passed",
    "as_floats",
    "as_integers",
    "collected",
    "glanced",
    "guarded",
    "interruptible",
    "on_terminal",
    "share_of",
    "shown",
    "shows_its_own",
    "unknown_column",
]


# Progress of a long query: one line on a terminal, and no output in a pipe or in a notebook.
#
# Progress is for the curator, who has access to the data. It shows only a fraction and seconds: the
# number of rows is private under add/remove neighbours, and terminals can be recorded. Without a
# terminal, no thread is started and no query is changed.

T = TypeVar("T")
Given = ParamSpec("Given")

PATIENCE = 1.0
"""Seconds before progress is shown. Shorter queries show nothing."""

PERIOD = 0.2
"""Seconds between two updates of the line."""

FAREWELL = 1.0
"""Seconds to wait for the thread that shows progress after a query ends. An engine can be slow to
report progress."""

Share = Callable[[], float | None]
"""A function that returns the completed fraction of the work, or None if it is not known yet."""


def on_terminal() -> bool:
    """Whether standard error is a terminal that can overwrite a line."""
    stream: TextIO | None = sys.stderr
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # standard error is closed
        return False


def shown(run: Callable[[], T], text: str, share: Share | None = None) -> T:
    """Return `run()`. Meanwhile show its progress on a terminal, and erase it at the end.

    The work runs in this thread, so Ctrl-C interrupts it as usual.

    Args:
        run: the work.
        text: a description of the work.
        share: a function that returns the completed fraction. Another thread calls it.
    """
    if not on_terminal():
        return run()
    line = _Line(sys.stderr, text, share)
    line.start()
    try:
        return run()
    finally:
        # Polars turns one Ctrl-C into two interrupts. The second one arrives at the next call in
        # this thread. The lock is released before that, so the line is always erased.
        try:
            line.working.release()
        finally:
            line.end()


class _Line:
    """One line of a terminal, which is overwritten while the work runs."""

    def __init__(self, terminal: TextIO, text: str, share: Share | None) -> None:
        self.working = threading.Lock()
        self.working.acquire()
        self._terminal = terminal
        self._text = text
        self._share = share
        self._began = time.monotonic()
        self._width = 0
        self._turn = threading.Lock()
        # A daemon, so Python does not wait for it at exit.
        self._thread = threading.Thread(target=self._run, name="epsilons progress", daemon=True)

    def start(self) -> None:
        """Start the thread that shows the line."""
        self._thread.start()

    def end(self) -> None:
        """Erase the line. The caller has released the lock `working`."""
        self._thread.join(FAREWELL)
        self._erase()

    def _run(self) -> None:
        wait = PATIENCE
        while not self.working.acquire(timeout=wait):
            wait = PERIOD
            line = f"{self._text}{self._percent()}, {time.monotonic() - self._began:.0f} s"
            if self.working.acquire(blocking=False):  # the work has ended meanwhile
                break
            self._write(line)
        self._erase()

    def _percent(self) -> str:
        done = None
        # An engine that is being stopped can fail to answer. The query itself has not failed.
        with contextlib.suppress(Exception):
            done = self._share() if self._share is not None else None
        return "" if done is None else f", {100 * min(max(done, 0.0), 1.0):.0f} %"

    def _write(self, line: str) -> None:
        try:
            columns = os.get_terminal_size(self._terminal.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        # A line as wide as the terminal would wrap, and could not be overwritten. Terminals of
        # unknown width report 0.
        room = (columns or 80) - 1
        line = line[:room]
        with self._turn, contextlib.suppress(OSError, ValueError):  # the terminal is closed
            # Blanks overwrite the rest of a longer line.
            self._terminal.write("\r" + line.ljust(min(self._width, room)))
            self._terminal.flush()
            self._width = len(line)

    def _erase(self) -> None:
        """If the line was written, clear it and move the cursor to its start."""
        with self._turn, contextlib.suppress(OSError, ValueError):
            if self._width:
                self._terminal.write("\r" + " " * self._width + "\r")
                self._terminal.flush()
                self._width = 0


class Passed:
    """A counter of the rows that a Polars scan has read.

    Args:
        total: the number of all rows.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._turn = threading.Lock()

    def __call__(self) -> float | None:
        """Return the fraction of rows that have been read; None if there are no rows."""
        return self._done / self._total if self._total else None

    def begin(self) -> None:
        """Reset the counter to 0 if all rows have been read, because another query starts."""
        with self._turn:
            if self._done >= self._total:
                self._done = 0

    def watched(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """Return the frame with a counter of rows, which is called about every 100,000 rows."""
        return frame.map_batches(
            self._count,
            predicate_pushdown=True,
            projection_pushdown=True,
            slice_pushdown=True,
            validate_output_schema=False,
            streamable=True,
        )

    def _count(self, rows: pl.DataFrame) -> pl.DataFrame:
        with self._turn:
            self._done += rows.height
        return rows


def share_of(query: nw.LazyFrame[Any]) -> Share | None:
    """Return the progress that an engine reports, or None. Call this before the query starts."""
    engine = engine_of(query)
    if engine.kind == "spark" and not engine.remote:
        native: Any = query.to_native()
        # If the engine fails here, the query will report the failure.
        with contextlib.suppress(Exception):
            return _Tasks(native.sparkSession.sparkContext.statusTracker())
    return None


def shows_its_own(query: nw.LazyFrame[Any]) -> bool:
    """Whether an engine shows its own progress. Two progress lines would overwrite each other.

    By default Spark shows progress from Python, and DuckDB in interactive sessions.
    """
    engine, native = engine_of(query), cast(Any, query.to_native())
    # If the engine fails here, the query will report the failure.
    with contextlib.suppress(Exception):
        if engine.kind == "spark" and engine.remote:
            return os.environ.get("SPARK_CONNECT_PROGRESS_BAR_ENABLED") == "1"
        if engine.kind == "spark":
            settings = native.sparkSession.sparkContext.getConf()
            return bool(settings.get("spark.ui.showConsoleProgress") == "true")
        if engine.kind == "duckdb":
            # This reads a setting of the query's own connection, without reading rows.
            setting = "count(*), current_setting('enable_progress_bar')"
            return bool(native.limit(0).aggregate(setting).fetchall()[0][1])
    return False


class _Tasks:
    """The completed fraction of tasks, over the Spark jobs that started after this object."""

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker
        self._others = set(tracker.getActiveJobsIds())
        self._most = 0.0

    def __call__(self) -> float | None:
        done = total = 0
        for job in set(self._tracker.getActiveJobsIds()) - self._others:
            info = self._tracker.getJobInfo(job)
            for stage in info.stageIds if info is not None else ():
                tasks = self._tracker.getStageInfo(stage)
                if tasks is not None:
                    done += tasks.numCompletedTasks
                    total += tasks.numTasks
        if total:
            # A query is a sequence of jobs, and the first job reads the rows.
            self._most = max(self._most, done / total)
        return self._most or None


# Run queries. Only this module reads rows.

AGAIN: Final = 0.05
"""Seconds between two requests to stop a query, which may not have started at the first request."""

INTERRUPTED = "Query interrupted"
"""DuckDB's message after Ctrl-C, in a RuntimeError. It does not indicate a fault of the data."""


def collected(query: nw.LazyFrame[Any], passed: Passed | None = None) -> nw.DataFrame[Any]:
    """Run a query, and show its progress on a terminal. Polars uses its streaming engine.

    Args:
        query: a query of any engine.
        passed: a counter of the rows that the query reads, or None.
    """
    engine = engine_of(query)
    run = partial(query.collect, engine="streaming") if engine.streams else partial(glanced, query)
    if not on_terminal() or shows_its_own(query):
        return run()
    if passed is not None:
        passed.begin()
    text = f"epsilons: reading the data in {engine.name}"
    return shown(run, text, passed or share_of(query))


def glanced(query: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Run a short query without showing progress.

    DuckDB does not check for signals while its worker threads run, so it is stopped on Ctrl-C. Its
    relations have no public attribute for their connection; if the private one does not exist, the
    query is not stopped.
    """
    stop = None
    if engine_of(query).kind == "duckdb":
        stop = getattr(getattr(query.to_native(), "_con", None), "interrupt", None)
    try:
        return interruptible(query.collect, stop)
    except RuntimeError as problem:
        if str(problem) != INTERRUPTED:
            raise
    # This is outside the handler, so DuckDB's exception is neither its cause nor its context.
    raise KeyboardInterrupt


def interruptible(work: Callable[[], T], stop: Callable[[], object] | None) -> T:
    """Return `work()`, and stop it if this thread is interrupted.

    Only the main thread receives signals, so it waits here while another thread works.

    Args:
        work: the work.
        stop: a function that makes the work end soon; None if the work handles signals.
    """
    if stop is None or threading.current_thread() is not threading.main_thread():
        return work()
    found: list[T] = []
    failed: list[BaseException] = []
    ended: list[bool] = []
    given_up = threading.Event()
    working = threading.Lock()
    working.acquire()

    def run() -> None:
        try:
            if not given_up.is_set():
                found.append(work())
        except BaseException as problem:  # raised again in the waiting thread
            failed.append(problem)
        finally:
            ended.append(True)
            working.release()

    # The thread is not a daemon, so Python waits for it at exit, even after two interrupts. A lock
    # replaces `join`: if `join` is interrupted, the thread counts as ended although it still runs.
    worker = threading.Thread(target=run, name="epsilons query")
    try:
        worker.start()
        while not ended:
            working.acquire(timeout=AGAIN)  # without a timeout, some systems deliver no signals
    except BaseException:
        given_up.set()
        # The lock is not sufficient without `ended`: if an interrupt comes just after the lock was
        # acquired, the lock is never released again.
        while worker.ident is not None and not ended:
            stop()
            working.acquire(timeout=AGAIN)
        raise
    if failed:
        raise failed[0]
    return found[0]


def as_floats(series: nw.Series[Any]) -> Floats:
    """Return numbers as a NumPy array, with NaN for null."""
    if series.null_count() == 0:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    return np.array(series.to_list(), dtype=np.float64)


def as_integers(series: nw.Series[Any]) -> Integers:
    """Return integers as a NumPy array."""
    return np.asarray(series.to_numpy(), dtype=np.int64)


# Error messages of engines can contain values, so they are caught here and never passed on. The
# message for an unknown column is also here.

UNUSABLE = (
    "data could not be read by its engine ({kind}). "
    "The engine's own message is withheld, because it may show a private value."
)
"""The message of `guarded` for a frame."""


def guarded(
    failure: tuple[type[EpsilonsError], str],
    run: Callable[Given, T],
    *args: Given.args,
    **named: Given.kwargs,
) -> T:
    """Call a function that uses an engine. If it fails, show only the class of the failure.

    Args:
        failure: the exception to raise if it fails, and a sentence for the user, in which `{kind}`
            is replaced by the class of the failure.
        run: the function.
        *args: its arguments.
        **named: its arguments by name.

    Raises:
        MissingExtraError: the engine needs a package that is not installed.
        EpsilonsError: the exception of `failure`, without a cause or a context.
    """
    error, message = failure
    raised: EpsilonsError
    try:
        return run(*args, **named)
    except (EpsilonsError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except ModuleNotFoundError as problem:
        raised = MissingExtraError(
            f"The engine of data needs the package {problem.name!r}: pip install {problem.name}."
        )
    except BaseException as problem:  # a panic of Polars is not an Exception
        raised = error(message.format(kind=type(problem).__name__))
    # This is outside the handler, so the engine's exception is neither its cause nor its context.
    raise raised


def meant(parameter: str, column: str, columns: Iterable[str]) -> str:
    """Return a sentence that says what an unknown column may stand for, or ""."""
    try:
        if parameter == "epsilon" and float(column) >= 0.0:
            return f" For one budget for everyone, give a number: epsilon={column.strip()}."
    except ValueError:
        pass
    return parameters.did_you_mean(column, columns)


def unknown_column(parameter: str, column: str, columns: list[str]) -> str:
    """Return the message for an unknown column of a frame. It lists the known columns.

    `cells.py` has the message for CSV files: without a header, their first line may be data.
    """
    hint = meant(parameter, column, columns)
    more = ", …" if len(columns) > 20 else ""
    hint += f" The columns are {', '.join(map(repr, columns[:20]))}{more}."
    return f"{parameter}={listed.shown(column)} is not a column of data.{hint}"
