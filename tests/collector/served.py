"""A collector served by a separate process, which can be killed and restarted."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import http.client
import json
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from epsilons import collector
from epsilons.collector.store import Reservation, SurveyStore, digest

CLOSES = datetime.datetime(2099, 12, 1, 18, tzinfo=datetime.UTC)
SURVEYS = (
    collector.Survey(
        id="lunch", question="Did you skip lunch?", kind="yes-no", closes=CLOSES, organiser="We"
    ),
    collector.Survey(
        id="sleep",
        question="How long did you sleep?",
        kind="number",
        bounds=(0.0, 12.0),
        unit="hours",
        closes=CLOSES,
        organiser="We",
    ),
    collector.Survey(
        id="way",
        question="How did you come here?",
        kind="one-of",
        options=("on foot", "by bus", "by car", "by train", "otherwise"),
        closes=CLOSES,
        organiser="We",
    ),
    collector.Survey(
        id="nap",
        question="How long did you nap?",
        kind="number",
        bounds=(0.0, 12.0),
        unit="hours",
        reports="piecewise",
        closes=CLOSES,
        organiser="We",
    ),
)
VALUES: dict[str, Any] = {"lunch": True, "sleep": 7.5, "way": "by bus", "nap": 0.5}


class Answer(NamedTuple):
    status: int
    held: Any
    headers: dict[str, str]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def made(survey: collector.Survey, value: Any = None, epsilon: float = 1.0) -> bytes:
    given = VALUES[survey.id] if value is None else value
    return survey.mechanism.randomize(given, epsilon).to_bytes()


class Served:
    """A process that serves surveys."""

    def __init__(self, folder: Path, surveys: Sequence[collector.Survey]) -> None:
        self.path = folder / "survey.db"
        self.port = free_port()
        self.surveys = {survey.id: survey for survey in surveys}
        self.made = {survey.id: collector.create(self.path, survey) for survey in surveys}
        self._tokens = {name: list(each.tokens) for name, each in self.made.items()}
        self.errors = folder / "errors.txt"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Served:
        self.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self.stop(signal.SIGTERM)

    def start(self) -> None:
        command = [sys.executable, "-m", "epsilons", "survey", "serve"]
        command += ["--file", str(self.path), "--port", str(self.port)]
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(command, stdout=errors, stderr=errors)
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self.process.poll() is None, self.errors.read_text("utf-8")
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def stop(self, how: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(20)

    def token(self, name: str) -> str:
        """Return an unused token."""
        return self._tokens[name].pop()

    def link(self, name: str) -> str:
        return f"http://localhost:{self.port}/s/{name}#{self.token(name)}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection("localhost", self.port, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            found = connection.getresponse()
            text = found.read()
            given = {key.lower(): value for key, value in found.getheaders()}
            held = json.loads(text) if "json" in given.get("content-type", "") else text
            return Answer(found.status, held, given)
        finally:
            connection.close()

    def reserve(self, name: str, token: str, lock: str, key: str = "") -> Answer:
        headers = {"Authorization": f"Bearer {token}", **({"Reservation": key} if key else {})}
        return self.ask("PUT", f"/r/{name}", lock.encode(), headers)

    def put(self, name: str, data: bytes, token: str, report_id: str | None = None) -> Answer:
        """Reserve the invitation as a page does, and send a report."""
        self.reserve(name, token, lock(key_of(token)))
        place = secrets.token_hex(16) if report_id is None else report_id
        headers = {"Authorization": f"Bearer {token}", "Reservation": key_of(token)}
        return self.ask("PUT", f"/r/{name}/{place}", data, headers)

    def count(self, name: str) -> int:
        """Return the number of reports in the file."""
        return len(held(self.path, name))


def key_of(token: str) -> str:
    """Return a device key for tests, derived from the token."""
    return hashlib.sha256(f"device of {token}".encode()).hexdigest()[:32]


def lock(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def reserve_all(path: Path, name: str, tokens: Sequence[str]) -> None:
    """Reserve invitations with the keys of `key_of`, without a server."""
    store = SurveyStore(path)
    for first in range(0, len(tokens), 500):
        some = tokens[first : first + 500]
        asked = [Reservation(name, digest(each), digest(key_of(each))) for each in some]
        assert {found.status for found in store.take([(each, False) for each in asked])} == {201}
    store.close()


def held(path: Path, name: str) -> dict[str, bytes]:
    """Return the reports in the file, by id."""
    with contextlib.closing(sqlite3.connect(path)) as look:
        rows = look.execute("SELECT id, bytes FROM reports WHERE survey = ?", (name,))
        return {place.hex(): data for place, data in rows}
