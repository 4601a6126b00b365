"""One thread that writes: whatever waits is committed together, so that one flush serves many."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from epsilons.collector.store import Asked, Outcome, Store

__all__ = ["BUSY", "Writer"]

WAITING: Final = 4096
"""Requests that wait at most; more are sent away, to come again."""

TOGETHER: Final = 512
"""Requests of one commit at most."""

PAUSE: Final = 1.0
"""Seconds after which a writer looks whether a survey has reached its closing time."""

BUSY: Final = Outcome(503, "Too many reports arrive at once. Send the same report again soon.")
FAILED: Final = Outcome(503, "The report could not be kept. Send the same report again soon.")

_LOG: Final = logging.getLogger(__name__)
"""For what the file refuses, such as a full disk: it holds nothing that anybody sent."""

_Job = tuple[Asked, "Future[Outcome]"]


class Writer:
    """Takes reservations and reports in, one commit for all that wait.

    Args:
        path: of the file.
        over: whether the time of a survey is over, asked when a request is decided on.
        decided: told of every outcome, once it is on the disk; what it returns is answered.
        watch: called about once a second, with the file.
    """

    def __init__(
        self,
        path: Path,
        over: Callable[[str], bool],
        decided: Callable[[Outcome], Outcome],
        watch: Callable[[Store], None],
    ) -> None:
        self._jobs: queue.Queue[_Job | None] = queue.Queue(WAITING)
        self._store = Store(path)
        self._over = over
        self._decided = decided
        self._watch = watch
        self._thread = threading.Thread(target=self._run, name="collector-writer", daemon=True)
        self._thread.start()

    def submit(self, given: Asked) -> Future[Outcome]:
        """Queue a request. The outcome comes when it is on the disk."""
        found: Future[Outcome] = Future()
        found.set_running_or_notify_cancel()  # nobody can cancel it: it may be on the disk
        try:
            self._jobs.put_nowait((given, found))
        except queue.Full:
            found.set_result(BUSY)
        return found

    def close(self) -> None:
        """Write what waits, and end."""
        self._jobs.put(None)
        self._thread.join()
        self._store.close()

    def _run(self) -> None:
        watched = time.monotonic()
        while True:
            jobs, last = self._waiting()
            if jobs:
                self._write(jobs)
            if last:
                return
            if time.monotonic() - watched >= PAUSE:
                self._watched()
                watched = time.monotonic()

    def _watched(self) -> None:
        try:
            self._watch(self._store)
        except Exception as problem:
            _LOG.error("A survey could not be closed: %s", problem)

    def _waiting(self) -> tuple[list[_Job], bool]:
        """All that waits, none if nothing comes for a while; and whether it is the last."""
        jobs: list[_Job] = []
        try:
            job = self._jobs.get(timeout=PAUSE)
        except queue.Empty:
            return jobs, False
        while job is not None:
            jobs.append(job)
            if len(jobs) == TOGETHER:
                break
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
        return jobs, job is None

    def _write(self, jobs: list[_Job]) -> None:
        try:
            outcomes = self._store.take([(given, self._over(given.survey)) for given, _ in jobs])
        except Exception as problem:
            # Nothing of this commit is kept; whoever sent it is told, and sends the same again.
            _LOG.error("Reports could not be kept: %s", problem)
            outcomes = [FAILED] * len(jobs)
        for (_, found), outcome in zip(jobs, outcomes, strict=True):
            found.set_result(self._decided(outcome))
