"""Mutated requests: the server stays up, and only reports that may be counted are counted."""

from __future__ import annotations

import asyncio
import secrets
from pathlib import Path

import numpy as np
import pytest

from epsilons import collector
from epsilons.collector.door import Door
from tests.collector.conftest import needed
from tests.collector.served import SURVEYS, Served, made


class Fuzz:
    """Requests from a seed; it knows which of them must be taken."""

    def __init__(self, served: Served, seed: int) -> None:
        self.served = served
        self.rng = np.random.default_rng(seed)
        self.doors = {name: Door(survey) for name, survey in served.surveys.items()}
        self.reports = {survey.id: made(survey) for survey in SURVEYS}
        self.known = {name: set(each.tokens) for name, each in served.made.items()}
        self.used: set[str] = set()
        self.taken = dict.fromkeys(self.doors, 0)

    def _mutated(self, data: bytes) -> bytes:
        found = bytearray(data)
        for _ in range(int(self.rng.integers(0, 4))):
            what, place = self.rng.integers(4), int(self.rng.integers(len(found) + 1))
            if what == 0 and place < len(found):
                found[place] ^= 1 << int(self.rng.integers(8))
            elif what == 1:
                found[place:place] = self.rng.bytes(int(self.rng.integers(1, 9)))
            elif what == 2:
                del found[place : place + int(self.rng.integers(1, 9))]
            elif place < len(found):
                found[place] = int(self.rng.integers(256))
        return bytes(found)

    def request(self) -> tuple[bytes, int | None]:
        """A request, and the status that it must have; None if its head was mutated."""
        name = str(self.rng.choice(list(self.doors)))
        data = self._mutated(self.reports[name]) if self.rng.random() < 0.9 else self.reports[name]
        token = self.served.made[name].tokens[int(self.rng.integers(100))]
        if self.rng.random() < 0.001:
            token = secrets.token_hex(16)
        place = secrets.token_hex(16)
        head = (
            f"PUT /r/{name}/{place} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {token}\r\nContent-Length: {len(data)}\r\n"
        ).encode()
        if self.rng.random() < 0.1:  # whatever comes of it, its token is not one that is free
            head = head.replace(token.encode(), secrets.token_hex(16).encode())
            return self._mutated(head) + b"\r\n" + data, None
        if self.doors[name].refusal(data) is not None:
            return head + b"\r\n" + data, 422
        if token not in self.known[name]:
            return head + b"\r\n" + data, 403
        if token in self.used:
            return head + b"\r\n" + data, 409
        self.used.add(token)
        self.taken[name] += 1
        return head + b"\r\n" + data, 201

    async def run(self, many: int) -> int:
        """Send them one after the other; how many were answered."""
        answered = 0
        reader: asyncio.StreamReader | None = None
        for _ in range(many):
            data, status = self.request()
            if reader is None or status is None:
                reader, writer = await asyncio.open_connection("127.0.0.1", self.served.port)
            writer.write(data)
            # A head that promises more than comes is waited for by the server, and not by us.
            found = await self._answer(reader, 0.2 if status is None else 20.0)
            answered += found is not None
            assert found is None or found < 500, found
            if status is not None:
                assert found == status or (found, status) == (429, 403)
            else:
                writer.close()
                reader = None
        return answered

    @staticmethod
    async def _answer(reader: asyncio.StreamReader, patience: float) -> int | None:
        try:
            async with asyncio.timeout(patience):
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().split(b"content-length: ")
                if len(length) == 2:
                    await reader.readexactly(int(length[1].split(b"\r\n")[0]))
                return int(head[9:12])
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            return None


def fuzzed(folder: Path, many: int) -> None:
    needed("uvicorn")
    with Served(folder, SURVEYS) as served:
        work = Fuzz(served, seed=19)
        assert asyncio.run(work.run(many)) > 0.9 * many
        assert served.process is not None
        assert served.process.poll() is None
        for name in work.doors:
            assert served.count(name) == work.taken[name]
        with collector.Service(served.path) as service:
            for name, door in work.doors.items():
                assert all(door.refusal(data) is None for data in service._store.reports(name))
        assert sum(work.taken.values()) > 100


def test_mutated_requests(tmp_path: Path) -> None:
    fuzzed(tmp_path, 1_500)


@pytest.mark.slow
def test_a_hundred_thousand_mutated_requests(tmp_path: Path) -> None:
    fuzzed(tmp_path, 100_000)
