"""Ctrl-C stops a long query, and the waiting thread receives its result or error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from epsilons.door.engines import running
from epsilons.door.engines.running import interruptible

LONG = """
import duckdb, epsilons as ep, sys, time
connection = duckdb.connect()
connection.execute("SET threads = 4")
connection.execute("CREATE TABLE many AS SELECT i FROM range(3000000) t(i)")
rows = connection.sql("SELECT sin(a.i + b.i) AS v, (a.i % 50 + 1) / 50.0::DOUBLE AS e {of}")
stopped = None
print("ready", flush=True)
for turn in range(4):
    try:
        if stopped is not None:
            print(connection.sql("SELECT 42").fetchall()[0][0], stopped, flush=True)
            break
        {asked}
    except KeyboardInterrupt:  # with Polars loaded one Ctrl-C is two interrupts
        stopped = stopped or time.time()
"""
"""A script that stops a query over 9·10¹² rows, and then uses the connection again."""


def test_what_is_found_or_raised_arrives() -> None:
    workers = []

    def work() -> int:
        workers.append(threading.current_thread())
        return 3

    assert interruptible(work, lambda: None) == 3
    assert workers[-1] is not threading.main_thread()
    assert interruptible(work, None) == 3
    assert workers[-1] is threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0, lambda: None)


IN_A_CHILD = """
import os, signal
from epsilons.door.engines.running import interruptible

asked = [interruptible(lambda: 3, lambda: None)]
child = os.fork()
if child == 0:
    signal.alarm(20)
    asked.append(interruptible(lambda: 4, lambda: None))
    os._exit(asked[-1])
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_the_child_of_a_process_has_a_worker_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", IN_A_CHILD], capture_output=True, timeout=60)
    assert done.stdout.split() == [b"4"], done.stderr


def test_another_thread_than_the_main_one_works_itself() -> None:
    """Threads other than the main thread run the work directly, because they get no signals."""
    seen = []

    def ask() -> None:
        here = threading.current_thread()
        seen.append(interruptible(threading.current_thread, lambda: None) is here)

    other = threading.Thread(target=ask)
    other.start()
    other.join()
    assert seen == [True]


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Enable Ctrl-C, even if the tests run in the background with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_work_that_had_not_begun_is_stopped_once_more() -> None:
    """Work is stopped a second time if the first request came before the work had started."""
    told: list[int] = []
    end = threading.Event()

    def stop() -> None:
        told.append(len(told))
        if len(told) == 3:
            end.set()

    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        end.wait(20)

    with pytest.raises(KeyboardInterrupt):
        interruptible(work, stop)
    assert told == [0, 1, 2]
    assert end.is_set()


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_at_the_very_end_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread never waits for a lock that it holds, even if a signal comes as it acquires it."""

    class Interrupted:
        """A lock. Immediately after a timed acquire, it raises a signal."""

        def __init__(self) -> None:
            self._lock = threading.Lock()

        def acquire(self, timeout: float = -1) -> bool:
            found = self._lock.acquire(timeout=timeout)
            if found and timeout > 0:
                signal.raise_signal(signal.SIGINT)
            return found

        def release(self) -> None:
            self._lock.release()

    def stop() -> Any:
        pytest.fail("what has ended is not stopped")

    own = {name: getattr(threading, name) for name in threading.__all__}
    monkeypatch.setattr(running, "threading", SimpleNamespace(**{**own, "Lock": Interrupted}))
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: time.sleep(0.01), stop)
