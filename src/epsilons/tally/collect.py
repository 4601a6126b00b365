"""Where queries are run: the one place at which rows are read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from epsilons.tally.engines import engine_of
from epsilons.tally.progress import Passed, on_terminal, share_of, shown, shows_its_own

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["collected", "glanced", "interruptible"]

T = TypeVar("T")

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
