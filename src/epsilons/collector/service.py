"""What a collector does, whatever carries its requests: submit, estimate, close, export."""

from __future__ import annotations

import datetime
import hmac
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple

from epsilons.collector.door import LARGEST, Door
from epsilons.collector.live import Live, joined
from epsilons.collector.question import MOST_INVITATIONS, Survey
from epsilons.collector.store import NEW, UNKNOWN, Outcome, Store, Submission, digest, secret
from epsilons.collector.writer import Writer
from epsilons.errors import ArgumentError, DataError
from epsilons.local import Reports
from epsilons.tally.parquet import write_frame

__all__ = ["Made", "Service", "create"]

_SECRET: Final = re.compile(r"[0-9a-f]{32}")

FAILURES: Final = 200
"""Failed tokens that are answered with the reason, within a minute; more are answered with 429."""

MINUTE: Final = 60.0

ABSENT: Final = Outcome(404, "There is no such survey, or no such page.")
TIRED: Final = Outcome(429, "Too many invitations failed. Open the link as it was sent, later.")


class Made(NamedTuple):
    """What a new survey comes with. Both are shown once: the file holds only their hashes.

    Attributes:
        key: of the organiser.
        tokens: of the invitations, each for one report.
    """

    key: str
    tokens: tuple[str, ...]


def create(path: str | Path, survey: Survey) -> Made:
    """Make a survey, and its invitations.

    Args:
        path: of the file that keeps it; it is created if it does not exist.
        survey: what is asked.

    Raises:
        ArgumentError: the survey has closed already, or its id is taken.
        FileError: the file cannot be made or used.
    """
    now = _now()
    if survey.closed_at(now):
        raise ArgumentError("closes is in the past: give a moment in the future.")
    Store.make(Path(path))
    store = Store(Path(path))
    try:
        key = secret()
        tokens = tuple(secret() for _ in range(survey.invitations))
        store.add(survey, digest(key), now, tokens)
    finally:
        store.close()
    return Made(key, tokens)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


class Service:
    """A collector at work on one file. One process serves a file; others may close and export.

    Args:
        path: of the file.
        now: the moment, for tests of closing times.

    Raises:
        FileError: the file does not exist, or does not belong to a collector.
    """

    def __init__(
        self, path: str | Path, now: Callable[[], datetime.datetime] | None = None
    ) -> None:
        self._now = now or _now
        self._store = Store(Path(path))
        self._reading = threading.Lock()
        held = self._store.surveys()
        self._surveys = {name: survey for name, (survey, _) in held.items()}
        self._keys = {name: key for name, (_, key) in held.items()}
        self._doors = {name: Door(survey) for name, survey in self._surveys.items()}
        self._live = {
            name: Live(survey, self._store.forms(name)) for name, survey in self._surveys.items()
        }
        self._failures: deque[float] = deque(maxlen=FAILURES)
        self._writer = Writer(
            Path(path),
            lambda name: self._surveys[name].closed_at(self._now()),
            self._decided,
        )

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is waiting, and release the file."""
        self._writer.close()
        self._store.close()

    @property
    def surveys(self) -> dict[str, Survey]:
        """All surveys of the file, by id."""
        return dict(self._surveys)

    def survey(self, name: str) -> Survey:
        """The survey of this id.

        Raises:
            ArgumentError: there is none.
        """
        if name not in self._surveys:
            raise ArgumentError(f"survey={name!r} is not in this file.")
        return self._surveys[name]

    def submit(self, name: str, report_id: str, token: str, data: bytes) -> Future[Outcome]:
        """Take in a report.

        Args:
            name: the id of the survey.
            report_id: 32 hexadecimal digits, drawn by the browser; the same if it tries again.
            token: of the invitation.
            data: the report.

        Returns:
            201 for a new report that is on the disk; 200 for the same one again; 409 if the
            invitation was used, or the id is another report's; 410 if the survey is closed; 422 if
            the bytes are no report of it; 403 if the invitation is not known; 404, 413, 429, 503.
        """
        early = self._refused(name, report_id, token, data)
        if early is not None:
            return _done(early)
        known = Submission(name, bytes.fromhex(report_id), digest(token), data)
        return self._writer.submit(known)

    def _decided(self, given: Submission, outcome: Outcome) -> Outcome:
        """A submission was decided on, and what is new is on the disk."""
        if outcome is NEW:
            self._live[given.survey].add(given.data)
        return self._counted(outcome)

    def _refused(self, name: str, report_id: str, token: str, data: bytes) -> Outcome | None:
        """What can be said without asking the file."""
        if name not in self._surveys or not _SECRET.fullmatch(report_id):
            return ABSENT
        if len(data) > LARGEST:
            return Outcome(413, f"A report has at most {LARGEST} bytes.")
        if not _SECRET.fullmatch(token):
            return self._counted(UNKNOWN)
        why = self._doors[name].refusal(data)
        return None if why is None else Outcome(422, why)

    def _counted(self, outcome: Outcome) -> Outcome:
        """Count failed tokens, whoever they come from: a good one is never turned away for them."""
        if outcome is not UNKNOWN:
            return outcome
        now = time.monotonic()
        full = len(self._failures) == FAILURES and now - self._failures[0] < MINUTE
        if full:
            return TIRED
        self._failures.append(now)
        return outcome

    def is_organiser(self, name: str, key: str) -> bool:
        """Whether a key opens the organiser's page of a survey."""
        held = self._keys.get(name)
        return held is not None and hmac.compare_digest(held, digest(key))

    def status(self, name: str) -> str:
        """Of a survey: "open", "closed", or "closed early"."""
        with self._reading:
            early = self._store.closed_early(self.survey(name).id)
        if early:
            return "closed early"
        return "closed" if self._surveys[name].closed_at(self._now()) else "open"

    def question(self, name: str) -> dict[str, Any]:
        """The survey as plain data, for a participant's page."""
        found = self.survey(name).to_dict()
        del found["invitations"]
        return {**found, "status": self.status(name)}

    def estimate(self, name: str) -> dict[str, Any]:
        """What the organiser's page shows: how many answered, the estimate and how far off it is.

        The 95 % interval holds at the closing time, which was fixed in advance; not for a moment
        that was chosen because the numbers looked good.
        """
        found = self._live[self.survey(name).id].estimate()
        with self._reading:
            many, used = self._store.invited(name)
        return {**found, "invited": many, "used": used, "status": self.status(name)}

    def shut(self, name: str) -> str:
        """Close a survey for good. If it is before its closing time, that is recorded.

        Returns:
            Its status.
        """
        if self.status(name) == "open":
            with self._reading:
                self._store.shut(name)
        return self.status(name)

    def invite(self, name: str, many: int) -> tuple[str, ...]:
        """Make more invitations.

        Args:
            name: the id of the survey.
            many: how many.

        Returns:
            Their tokens, which are shown once.

        Raises:
            ArgumentError: there is no such survey, or `many` is not a number of invitations.
        """
        if type(many) is not int or not 1 <= many <= MOST_INVITATIONS:
            raise ArgumentError(f"many={many!r} must be a whole number from 1 up.")
        tokens = tuple(secret() for _ in range(many))
        with self._reading:
            self._store.invite(self.survey(name).id, tokens)
        return tokens

    def reports(self, name: str) -> Reports:
        """All reports of a survey, as one batch.

        Raises:
            DataError: there is none.
        """
        with self._reading:
            held = self._store.forms(self.survey(name).id)
        if not held:
            raise DataError("There is no report yet.")
        return joined(held)

    def export(self, name: str, path: str | Path) -> int:
        """Write all reports as a Parquet file, which `survey.mechanism.estimate(data=…)` reads.

        Returns:
            How many there are.

        Raises:
            DataError: there is no report.
            FileError: the file cannot be written.
        """
        found = self.reports(name)
        write_frame(Path(path), found.to_columns())
        return len(found)


def _done(outcome: Outcome) -> Future[Outcome]:
    found: Future[Outcome] = Future()
    found.set_result(outcome)
    return found
