"""Load generator: reports of many people at a fixed rate, on persistent connections."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.collector.served import key_of


@contextmanager
def cores_of_our_own() -> Iterator[None]:
    """Raise the priority of this process, if Linux allows it.

    The time limits assume two free cores.
    """
    place = Path("/proc/self/autogroup")
    try:
        place.write_text("-19", "utf-8")
    except OSError:
        yield
        return
    try:
        yield
    finally:
        place.write_text("0", "utf-8")


@dataclass
class Sending:
    """Reports to send, and the responses.

    Attributes:
        port: the port of the server.
        name: the id of the survey.
        reports: each person's token and report.
        statuses: the status of each response, by index; 0 if there was no response.
        seconds: the time from the scheduled start of each report to its response.
    """

    port: int
    name: str
    reports: list[tuple[str, bytes]]
    places: list[str] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.places = [secrets.token_hex(16) for _ in self.reports]
        self.statuses = [0] * len(self.reports)
        self.seconds = [0.0] * len(self.reports)

    def run(self, rate: float, workers: int = 64) -> None:
        """Send each report at its scheduled time, independently of the others."""
        asyncio.run(self._run(rate, workers))

    async def _run(self, rate: float, workers: int) -> None:
        began = time.perf_counter()
        mine = [range(first, len(self.reports), workers) for first in range(workers)]
        await asyncio.gather(*(self._worker(places, began, rate) for places in mine))

    async def _worker(self, places: range, began: float, rate: float) -> None:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            for place in places:
                due = began + place / rate
                await asyncio.sleep(max(due - time.perf_counter(), 0.0))
                writer.write(self._request(place))
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                self.statuses[place] = int(head[9:12])
                self.seconds[place] = time.perf_counter() - due
            writer.close()
        except (OSError, asyncio.IncompleteReadError):
            return  # the server was killed: reports without a status are sent again

    def _request(self, place: int) -> bytes:
        token, data = self.reports[place]
        head = (
            f"PUT /r/{self.name}/{self.places[place]} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {token}\r\nReservation: {key_of(token)}\r\n"
            f"Content-Length: {len(data)}\r\n\r\n"
        )
        return head.encode() + data
