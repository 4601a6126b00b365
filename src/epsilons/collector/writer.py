"""One thread that writes: whatever waits is committed together, so that one flush serves many."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from epsilons.collector.store import Outcome, Store, Submission

__all__ = ["BUSY", "Writer"]

WAITING: Final = 4096
"""Submissions that wait at most; more are sent away, to come again."""

TOGETHER: Final = 512
"""Submissions of one commit at most."""

BUSY: Final = Outcome(503, "Too many reports arrive at once. Send the same report again soon.")
FAILED: Final = Outcome(503, "The report could not be kept. Send the same report again soon.")

_LOG: Final = logging.getLogger(__name__)
"""For what the file refuses, such as a full disk: it holds nothing that anybody sent."""

_Job = tuple[Submission, "Future[Outcome]"]


class Writer:
    """Takes submissions in, one commit for all that wait.

    Args:
        path: of the file.
        over: whether the time of a survey is over, asked when its report is written.
        decided: told of every outcome, once it is on the disk; what it returns is answered.
    """

    def __init__(
        self,
        path: Path,
        over: Callable[[str], bool],
        decided: Callable[[Submission, Outcome], Outcome],
    ) -> None:
        self._jobs: queue.Queue[_Job | None] = queue.Queue(WAITING)
        self._store = Store(path)
        self._over = over
        self._decided = decided
        self._thread = threading.Thread(target=self._run, name="collector-writer", daemon=True)
        self._thread.start()

    def submit(self, given: Submission) -> Future[Outcome]:
        """Queue a submission. The outcome comes when it is on the disk."""
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
        while True:
            jobs, last = self._waiting()
            if jobs:
                self._write(jobs)
            if last:
                return

    def _waiting(self) -> tuple[list[_Job], bool]:
        """All that waits, at least one; and whether it is the last."""
        jobs: list[_Job] = []
        job = self._jobs.get()
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
        for (given, found), outcome in zip(jobs, outcomes, strict=True):
            found.set_result(self._decided(given, outcome))
