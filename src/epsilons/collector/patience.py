"""How long a connection may take: until its request has come, and until its report is kept."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import Future
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from epsilons.collector.store import Outcome

__all__ = ["SLOW", "Bell", "Patient"]

SLOW: Final = 10.0
"""Seconds in which the head of a request must have come, and then its body."""


class Patient(H11Protocol):
    """A connection that is ended if no whole head of a request comes, however slowly it drips."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """It has so long to ask."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """A head that is whole has come in time."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop()

    def on_response_complete(self) -> None:
        """It has so long to ask again."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop()
        self._late = self.loop.call_later(SLOW, self._given_up)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _given_up(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self.transport.close()


class Bell:
    """Rings once for all outcomes of a commit: to wake the loop for each of them takes longer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done: list[tuple[asyncio.Future[Outcome], Outcome]] = []

    async def outcome(self, waiting: Future[Outcome]) -> Outcome:
        """Wait for what another thread finds."""
        if waiting.done():
            return waiting.result()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Outcome] = loop.create_future()

        def told(done: Future[Outcome]) -> None:
            with self._lock:
                first = not self._done
                self._done.append((found, done.result()))
            if first:
                with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody waits
                    loop.call_soon_threadsafe(self._rung)

        waiting.add_done_callback(told)
        return await found

    def _rung(self) -> None:
        with self._lock:
            done, self._done = self._done, []
        for found, outcome in done:
            if not found.done():  # whoever waited may be gone
                found.set_result(outcome)
