"""Where queries are run: how far they are, and what is said when an engine fails."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeVar, cast

import numpy as np

from epsilons import parameters
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


# How far a long query is: one line on a terminal, and nothing in a pipe or in a notebook.
#
# What is shown is for the curator, who has the data anyway, and it is still no more than a share
# and seconds: how many rows there are is private where neighbours are added and removed, and a
# terminal may be recorded. No thread is started and no query is changed where there is no terminal.

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds before anything is shown: who waits less does not wonder."""

PERIOD = 0.2
"""Seconds between two states of the line."""

FAREWELL = 1.0
"""Seconds that the end of a query waits for its line, if an engine is slow to say how far it is."""

Share = Callable[[], float | None]
"""Says which share of the work is done, from 0 to 1, or None if that is not known yet."""


def on_terminal() -> bool:
    """Whether standard error is a terminal that can rewrite a line."""
    stream: TextIO | None = sys.stderr
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # it was closed
        return False


def shown(run: Callable[[], T], text: str, share: Share | None = None) -> T:
    """Return `run()`, show on a terminal how far it is, and erase that, however it ends.

    The work stays in this thread, so that Ctrl-C interrupts it as if nothing were shown.

    Args:
        run: the work.
        text: what is done.
        share: how much of it is done, asked from another thread.
    """
    if not on_terminal():
        return run()
    line = _Line(sys.stderr, text, share)
    line.start()
    try:
        return run()
    finally:
        # Polars answers one Ctrl-C with two interrupts, and the second strikes at the first call
        # from here. A lock is let go before that: then the line is erased, whoever waits for it.
        try:
            line.working.release()
        finally:
            line.end()


class _Line:
    """One line of a terminal, rewritten while the work goes on."""

    def __init__(self, terminal: TextIO, text: str, share: Share | None) -> None:
        self.working = threading.Lock()
        self.working.acquire()
        self._terminal = terminal
        self._text = text
        self._share = share
        self._began = time.monotonic()
        self._width = 0
        self._turn = threading.Lock()
        # A daemon: no program waits for it.
        self._thread = threading.Thread(target=self._run, name="epsilons progress", daemon=True)

    def start(self) -> None:
        """Show the line from now on."""
        self._thread.start()

    def end(self) -> None:
        """Erase the line, after `working` was let go."""
        self._thread.join(FAREWELL)
        self._erase()

    def _run(self) -> None:
        wait = PATIENCE
        while not self.working.acquire(timeout=wait):
            wait = PERIOD
            line = f"{self._text}{self._percent()}, {time.monotonic() - self._began:.0f} s"
            if self.working.acquire(blocking=False):  # it ended while the engine was asked
                break
            self._write(line)
        self._erase()

    def _percent(self) -> str:
        done = None
        # An engine that is being stopped may fail to answer. That is no failure of the query.
        with contextlib.suppress(Exception):
            done = self._share() if self._share is not None else None
        return "" if done is None else f", {100 * min(max(done, 0.0), 1.0):.0f} %"

    def _write(self, line: str) -> None:
        try:
            columns = os.get_terminal_size(self._terminal.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        # A line as wide as the terminal would wrap, and could not be rewritten. A terminal that
        # does not tell its width says 0.
        room = (columns or 80) - 1
        line = line[:room]
        with self._turn, contextlib.suppress(OSError, ValueError):  # the terminal is gone
            # Blanks over what is left of a longer line.
            self._terminal.write("\r" + line.ljust(min(self._width, room)))
            self._terminal.flush()
            self._width = len(line)

    def _erase(self) -> None:
        """Leave the cursor at the start of an empty line, if something was written."""
        with self._turn, contextlib.suppress(OSError, ValueError):
            if self._width:
                self._terminal.write("\r" + " " * self._width + "\r")
                self._terminal.flush()
                self._width = 0


class Passed:
    """The rows of a Polars scan that have passed, counted as they do.

    Args:
        total: how many rows there are.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._turn = threading.Lock()

    def __call__(self) -> float | None:
        """The share of the rows that have passed."""
        return self._done / self._total if self._total else None

    def begin(self) -> None:
        """Count from nothing, if all rows have passed: another query reads them again."""
        with self._turn:
            if self._done >= self._total:
                self._done = 0

    def watched(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """The same rows, counted as they pass: about one call for each 100,000 of them."""
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
    """How far the engine of a query says that it is, if it says it, asked before it starts."""
    engine = engine_of(query)
    if engine.kind == "spark" and not engine.remote:
        native: Any = query.to_native()
        # An engine that does not answer this will say more when the query is run.
        with contextlib.suppress(Exception):
            return _Tasks(native.sparkSession.sparkContext.statusTracker())
    return None


def shows_its_own(query: nw.LazyFrame[Any]) -> bool:
    """Whether an engine shows progress by itself: two lines would write over each other.

    Spark does so from Python, and DuckDB where Python is interactive, unless they are told not to.
    """
    engine, native = engine_of(query), cast(Any, query.to_native())
    # An engine that does not answer this will say more when the query is run.
    with contextlib.suppress(Exception):
        if engine.kind == "spark" and engine.remote:
            return os.environ.get("SPARK_CONNECT_PROGRESS_BAR_ENABLED") == "1"
        if engine.kind == "spark":
            settings = native.sparkSession.sparkContext.getConf()
            return bool(settings.get("spark.ui.showConsoleProgress") == "true")
        if engine.kind == "duckdb":
            # Of the connection of the query, without a row of it.
            setting = "count(*), current_setting('enable_progress_bar')"
            return bool(native.limit(0).aggregate(setting).fetchall()[0][1])
    return False


class _Tasks:
    """The share of tasks that are done, of the Spark jobs that began after this was made."""

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
            # A query is one job after another, of which the first reads the rows.
            self._most = max(self._most, done / total)
        return self._most or None


# Where queries are run: the one place at which rows are read.

AGAIN: Final = 0.05
"""Seconds between two looks at a query that is to stop: it may not have begun when first told."""

INTERRUPTED = "Query interrupted"
"""What DuckDB says after Ctrl-C, in a RuntimeError: no failure of the data."""


def collected(query: nw.LazyFrame[Any], passed: Passed | None = None) -> nw.DataFrame[Any]:
    """Run a query, in Polars by its streaming engine, and show progress on a terminal.

    Args:
        query: of any engine.
        passed: what counts the rows that the query reads, if something does.
    """
    engine = engine_of(query)

    def run() -> nw.DataFrame[Any]:
        return query.collect(engine="streaming") if engine.streams else glanced(query)

    if not on_terminal() or shows_its_own(query):
        return run()
    if passed is not None:
        passed.begin()
    text = f"epsilons: reading the data in {engine.name}"
    return shown(run, text, passed or share_of(query))


def glanced(query: nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """Run a query that is expected to be quick: nothing is shown."""
    try:
        return interruptible(query.collect, _stop(query))
    except RuntimeError as problem:
        if str(problem) != INTERRUPTED:
            raise
    # Out here, so that DuckDB's exception is neither its cause nor its context.
    raise KeyboardInterrupt


def _stop(query: nw.LazyFrame[Any]) -> Callable[[], object] | None:
    """What stops a query of an engine that does not hear Ctrl-C; None if there is no need.

    While its other threads work DuckDB does not ask whether there was a signal. Its relations have
    no public name for their connection; those that have none at all are run as they are.
    """
    if engine_of(query).kind != "duckdb":
        return None
    return getattr(getattr(query.to_native(), "_con", None), "interrupt", None)


def interruptible(work: Callable[[], T], stop: Callable[[], object] | None) -> T:
    """Return `work()`, and stop it if this thread is interrupted.

    Signals reach the main thread alone: it waits here, and another one works.

    Args:
        work: what is done.
        stop: what makes it end soon; None if it hears of signals itself.
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
        except BaseException as problem:  # whatever it is, it is raised where somebody waits
            failed.append(problem)
        finally:
            ended.append(True)
            working.release()

    # No daemon: Python waits for it at its end, also if there are two interrupts. And a lock of its
    # own: a thread whose `join` is interrupted is taken for ended, though it works on.
    worker = threading.Thread(target=run, name="epsilons query")
    try:
        worker.start()
        while not ended:
            working.acquire(timeout=AGAIN)  # a wait without end hears of no signal on some systems
    except BaseException:
        given_up.set()
        # What has ended is written down: an interrupt may come when the lock was just acquired, and
        # nobody would release it again.
        while worker.ident is not None and not ended:
            stop()
            working.acquire(timeout=AGAIN)
        raise
    if failed:
        raise failed[0]
    return found[0]


def as_floats(series: nw.Series[Any]) -> Floats:
    """Return numbers in NumPy, NaN for null."""
    if series.null_count() == 0:
        return np.asarray(series.to_numpy(), dtype=np.float64)
    return np.array(series.to_list(), dtype=np.float64)


def as_integers(series: nw.Series[Any]) -> Integers:
    """Return integers in NumPy."""
    return np.asarray(series.to_numpy(), dtype=np.int64)


# What an engine says when it fails may show a value: here it is caught and never passed on.
#
# And what is said of a column that is not there.

UNUSABLE = (
    "data could not be read by its engine ({kind}). "
    "The engine's own message is withheld, because it may show a private value."
)
"""What to say of a frame: for `guarded`."""


def guarded(run: Callable[[], T], error: type[EpsilonsError], message: str) -> T:
    """Return `run()`, or raise `error` with nothing of what the engine said but its kind.

    Args:
        run: something that asks an engine.
        error: what to raise if it fails.
        message: a sentence for the user, in which `{kind}` stands for the class of the failure.

    Raises:
        MissingExtraError: the engine needs a package that is not installed.
        EpsilonsError: `error`, without cause and without context.
    """
    failure: EpsilonsError
    try:
        return run()
    except (EpsilonsError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except ModuleNotFoundError as problem:
        failure = MissingExtraError(
            f"The engine of data needs the package {problem.name!r}: pip install {problem.name}."
        )
    except BaseException as problem:  # a panic of Polars is not an Exception
        failure = error(message.format(kind=type(problem).__name__))
    # Raised out here, so that the engine's exception is neither its cause nor its context.
    raise failure


def unknown_column(parameter: str, column: str, columns: list[str]) -> str:
    """Say that a column is not there, and which are: those of a schema, never of a CSV file."""
    hint = parameters.did_you_mean(column, columns)
    more = ", …" if len(columns) > 20 else ""
    hint += f" The columns are {', '.join(map(repr, columns[:20]))}{more}."
    return f"{parameter}={column!r} is not a column of data.{hint}"
