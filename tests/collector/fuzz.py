"""Randomly mutated requests, each with its allowed statuses, and two ways to send them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from epsilons import collector
from epsilons.errors import DataError
from tests.collector.served import key_of, lock, made

REFUSED = frozenset({400, 401, 403, 404, 405, 413, 421, 422, 429})
UNKNOWN = frozenset({403, 429})
PLACES = ("/s/{}", "/s/{}/question.json", "/o/{}", "/o/{}/estimate", "/o/{}/close", "/r/{}/")
HEADERS = ("Authorization", "Host", "Content-Type", "Origin", "Transfer-Encodin", "Cookie", "X")


@dataclass(frozen=True)
class Asked:
    """A request, and the allowed statuses of its response."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    may: frozenset[int]


def raw(asked: Asked) -> bytes:
    """Return a request as bytes on a connection."""
    lines = [f"{asked.method} {asked.path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in asked.headers]
    lines += [f"Content-Length: {len(asked.body)}"]
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1") + b"\r\n" + asked.body


@dataclass
class Fuzz:
    """One sender with separate invitations. It knows which of its reports must be stored."""

    surveys: Mapping[str, collector.Survey]
    tokens: Mapping[str, tuple[str, ...]]
    seed: int
    kept: dict[str, dict[str, bytes]] = field(default_factory=dict)
    used: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.names = list(self.surveys)
        self.kept = {name: {} for name in self.names}
        self.used = {name: {} for name in self.names}
        self.reports = {name: made(survey) for name, survey in self.surveys.items()}

    def mutated(self, data: bytes, most: int = 4) -> bytes:
        """Flip, insert, remove or repeat some bytes."""
        found = bytearray(data)
        for _ in range(int(self.rng.integers(1, most))):
            what, place = self.rng.integers(5), int(self.rng.integers(len(found) + 1))
            several = int(self.rng.integers(1, 9))
            if what == 0 and place < len(found):
                found[place] ^= 1 << int(self.rng.integers(8))
            elif what == 1:
                found[place:place] = self.rng.bytes(several)
            elif what == 2:
                del found[place : place + several]
            elif what == 3:
                found[place:place] = found[place : place + several] * 3
            elif place < len(found):
                found[place] = int(self.rng.integers(256))
        return bytes(found)

    def request(self) -> Asked:
        """Return the next request."""
        kinds = (
            self._body,
            self._body,
            self._body,
            self._whole,
            self._again,
            self._reserve,
            self._head,
            self._page,
        )
        return kinds[int(self.rng.integers(len(kinds)))]()

    def _name(self) -> str:
        return self.names[int(self.rng.integers(len(self.names)))]

    def _put(self, name: str, place: str, token: str, body: bytes, may: frozenset[int]) -> Asked:
        headers = (("Host", "localhost"), ("Authorization", f"Bearer {token}"))
        key = ("Reservation", key_of(token))
        return Asked("PUT", f"/r/{name}/{place}", (*headers, key), body, may)

    def _counts(self, name: str, body: bytes) -> bool:
        """Whether the mechanism accepts the bytes as a private report of one person."""
        try:
            state = self.surveys[name].mechanism.state(body)
        except DataError:
            return False
        return state.private and state.n == 1

    def _sent(self, name: str, body: bytes) -> Asked:
        tokens = self.tokens[name]
        token, place = tokens[int(self.rng.integers(len(tokens)))], secrets.token_hex(16)
        if len(body) > 256:
            return self._put(name, place, token, body, frozenset({413}))
        if not self._counts(name, body):
            return self._put(name, place, token, body, frozenset({422}))
        if token in self.used[name]:
            return self._put(name, place, token, body, frozenset({409}))
        self.used[name][token] = place
        self.kept[name][place] = body
        return self._put(name, place, token, body, frozenset({201}))

    def _body(self) -> Asked:
        """Send a report with mutated bytes, to a valid address with a valid invitation."""
        name = self._name()
        long = self.rng.random() < 0.02
        body = self.mutated(self.reports[name]) * (int(self.rng.integers(2, 60)) if long else 1)
        return self._sent(name, body)

    def _whole(self) -> Asked:
        """Send a valid report, with an invitation that is valid, unknown or from another survey."""
        name, what = self._name(), self.rng.integers(10)
        if what < 7:
            return self._sent(name, made(self.surveys[name]))
        other = self.names[(self.names.index(name) + 1) % len(self.names)]
        strange = (self.tokens[other][0], secrets.token_hex(16), "é' OR 1=1 --", "")
        token = strange[int(self.rng.integers(len(strange)))]
        return self._put(name, secrets.token_hex(16), token, self.reports[name], UNKNOWN)

    def _again(self) -> Asked:
        """Repeat an earlier request, unchanged or with a mutated body."""
        name = self._name()
        if not self.used[name]:
            return self._whole()
        token = list(self.used[name])[int(self.rng.integers(len(self.used[name])))]
        place = self.used[name][token]
        body = self.kept[name][place]
        other = made(self.surveys[name])
        if self.rng.random() < 0.5:
            return self._put(name, place, token, body, frozenset({200}))
        return self._put(name, place, token, other, frozenset({200 if other == body else 409}))

    def _reserve(self) -> Asked:
        """Reserve an invitation a second time, with the same, another or a malformed lock."""
        name = self._name()
        token = self.tokens[name][int(self.rng.integers(len(self.tokens[name])))]
        mine = lock(key_of(token))
        body, may = mine.encode(), frozenset({208 if token in self.used[name] else 200})
        what = int(self.rng.integers(3))
        if what == 0:
            body, may = lock(secrets.token_hex(16)).encode(), frozenset({409})
        elif what == 1:
            body = self.mutated(body)
            malformed = not re.fullmatch(rb"[0-9a-f]{64}", body)
            may = frozenset({422 if malformed else 409}) if body != mine.encode() else may
        headers = (("Host", "localhost"), ("Authorization", f"Bearer {token}"))
        return Asked("PUT", f"/r/{name}", headers, body, may)

    def _text(self, given: str) -> str:
        found = self.mutated(given.encode()).decode("latin-1")
        return "".join(c if c > " " and c != "\x7f" else "_" for c in found)

    def _head(self) -> Asked:
        """Mutate everything except the body.

        The invitation is invalid, so nothing may be stored.
        """
        name = self._name()
        path = f"/r/{name}/{secrets.token_hex(16)}"
        headers = {"Host": "localhost", "Authorization": f"Bearer {secrets.token_hex(16)}"}
        method = "PUT"
        what = int(self.rng.integers(4))
        if what == 0:
            path = "/" + self._text(path).replace("?", "_").replace("#", "_")
        elif what == 1:
            key = ("Host", "Authorization")[int(self.rng.integers(2))]
            headers[key] = self._text(headers[key])
        elif what == 2:
            method = ("POST", "GET", "DELETE", "PATCH", "HEAD", "BREW")[int(self.rng.integers(6))]
        else:
            key = HEADERS[int(self.rng.integers(len(HEADERS)))]
            headers[key] = self._text("localhost, gzip;q=0.5 <script>alert(1)</script>")
        return Asked(method, path, tuple(headers.items()), self.reports[name], REFUSED)

    def _page(self) -> Asked:
        """Request a page without the organiser's key."""
        place = PLACES[int(self.rng.integers(len(PLACES)))].format(self._name())
        method = "POST" if place.endswith("close") else "GET"
        if self.rng.random() < 0.5:
            place = "/" + self._text(place).replace("?", "_").replace("#", "_")
        headers = (("Host", "localhost"), ("Authorization", f"Bearer {secrets.token_hex(16)}"))
        return Asked(method, place, headers, b"", REFUSED | {200})


Carrier = Callable[[Asked], Awaitable[int]]


async def sent_all(senders: list[Fuzz], many: int, carrier: Callable[[], Carrier]) -> None:
    """Run all senders concurrently; each sends one request after another."""

    async def one(sender: Fuzz) -> None:
        carry = carrier()
        for _ in range(many // len(senders)):
            asked = sender.request()
            status = await carry(asked)
            assert status in asked.may, (status, asked)

    await asyncio.gather(*(one(sender) for sender in senders))


def in_process(app: Any) -> Carrier:
    """Send requests directly to the ASGI application, without a connection."""

    async def carry(asked: Asked) -> int:
        path = asked.path.encode("latin-1")
        headers = [(k.lower().encode(), v.encode("latin-1")) for k, v in asked.headers]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": asked.method,
            "scheme": "http",
            "path": asked.path,
            "raw_path": path,
            "root_path": "",
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 2),
            "state": {},
        }
        cut = len(asked.body) // 2
        parts = [(asked.body[:cut], True), (asked.body[cut:], False)]
        statuses: list[int] = []

        async def receive() -> dict[str, Any]:
            if not parts:
                return {"type": "http.disconnect"}
            body, more = parts.pop(0)
            return {"type": "http.request", "body": body, "more_body": more}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        await app(scope, receive, send)
        (status,) = statuses
        return status

    return carry


class OnConnections:
    """Sends requests on one connection, which is reused until it is closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __call__(self, asked: Asked) -> int:
        found = await self.told(raw(asked), asked.method == "HEAD", 30.0)
        assert found is not None, asked
        return found

    async def told(self, data: bytes, bodiless: bool, patience: float) -> int | None:
        """Send bytes; return the status of the response, or None if there is no response."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(data)
        try:
            async with asyncio.timeout(patience):
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.split(b"content-length: ")
                if len(length) == 2 and not bodiless:
                    await reader.readexactly(int(length[1].split(b"\r\n")[0]))
                if b"connection: close" in head:
                    self.drop()
                return int(head[9:12])
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            self.drop()
            return None

    def drop(self) -> None:
        """Close the connection; the next request opens a new connection."""
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


def right(path: Any, senders: list[Fuzz], keys: Mapping[str, str]) -> int:
    """Check that the file contains exactly the reports of all senders; return their number."""
    with collector.Service(path) as service:
        look = service._store._connection
        for name in senders[0].names:
            rows = look.execute("SELECT id, bytes FROM reports WHERE survey = ?", (name,))
            kept = {place.hex(): data for place, data in rows}
            assert kept == {
                place: data for each in senders for place, data in each.kept[name].items()
            }
            rows = look.execute("SELECT token FROM invitations WHERE survey = ? AND used", (name,))
            tokens = {
                hashlib.sha256(token.encode()).digest() for s in senders for token in s.used[name]
            }
            assert {token for (token,) in rows} == tokens
            assert service.status(name) == "open"
            assert service.is_organiser(name, keys[name])
            json.dumps(service.question(name))
    return sum(len(kept) for each in senders for kept in each.kept.values())
