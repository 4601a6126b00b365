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

__all__ = ["LONGEST_HEAD", "SLOW", "Bell", "Patient"]

SLOW: Final = 10.0
"""Seconds in which the head of a request must have come, and then its body."""

LONGEST_HEAD: Final = 16_384
"""Bytes that the head of a request may have."""

LONGEST: Final = 120.0
"""Seconds in which an answer must have been made, and taken."""


class Patient(H11Protocol):
    """A connection that is ended if head, body or answer take too long, however they drip."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """It has so long to ask."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """What comes next has its own time, which begins when what was before it is whole."""
        before = self.conn.their_state
        # In pieces, so that a head is never whole before it is seen to be too long.
        while data and not self.transport.is_closing():
            room = LONGEST_HEAD - len(self.conn.trailing_data[0])
            size = room if room > 0 else LONGEST_HEAD
            piece, data = data[:size], data[size:]
            super().data_received(piece)
        if self.conn.their_state is not before:
            self._wait()

    def on_response_complete(self) -> None:
        """It has so long to ask again."""
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        super().connection_lost(exc)
        self._stop()

    def _wait(self) -> None:
        self._stop()
        # A second more for a body: a report that is late is told so first.
        seconds = {h11.IDLE: SLOW, h11.SEND_BODY: SLOW + 1.0}.get(self.conn.their_state, LONGEST)
        self._late = self.loop.call_later(seconds, self.transport.abort)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


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
