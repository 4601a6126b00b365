"""Storage of surveys, invitations and reports in one SQLite file.

It stores no time of a report, no network address, and nothing that links an invitation to a report:
rows of both tables are ordered by random bytes, not by arrival. Several processes can use one file:
every decision is made in a transaction, from the current content of the file.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import logging
import queue
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from epsilons.collector.question import Survey
from epsilons.errors import ArgumentError, FileError

__all__ = [
    "BUSY",
    "Outcome",
    "Reservation",
    "Submission",
    "SurveyStore",
    "Writer",
    "digest",
    "secret",
]


TABLES: Final = """
CREATE TABLE surveys (
    id TEXT PRIMARY KEY,
    question TEXT NOT NULL,
    parameters BLOB NOT NULL,
    levels TEXT NOT NULL,
    opens TEXT NOT NULL,
    closes TEXT NOT NULL,
    organiser BLOB NOT NULL,
    closed_early INTEGER NOT NULL,
    closed INTEGER NOT NULL DEFAULT 0,
    keyless INTEGER NOT NULL DEFAULT 0,
    replaced INTEGER NOT NULL DEFAULT 0,
    shown TEXT NOT NULL DEFAULT '{}'
) WITHOUT ROWID, STRICT;
CREATE TABLE invitations (
    survey TEXT NOT NULL REFERENCES surveys,
    token BLOB NOT NULL,
    used INTEGER NOT NULL,
    lock BLOB,
    PRIMARY KEY (survey, token)
) WITHOUT ROWID, STRICT;
CREATE TABLE reports (
    survey TEXT NOT NULL REFERENCES surveys,
    id BLOB NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (survey, id)
) WITHOUT ROWID, STRICT;
"""
"""Tokens and keys are stored only as hashes: a reader of the file cannot use them.

`lock` is the hash of the key that a device drew to reserve the invitation. It is NULL if the
invitation is not reserved, and empty if the organiser replaced it. `shown` contains the reports
that live estimates have used, by form. `keyless` means that the survey was made by a version
without reservations, so its pages can still send reports without a key.
"""

VERSION: Final = 1
"""The version of the tables, as SQLite's `user_version`. Files of epsilons 0.2.0 have 0."""

RENEW: Final = (
    "ALTER TABLE surveys ADD COLUMN closed INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE surveys ADD COLUMN keyless INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE surveys ADD COLUMN replaced INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE surveys ADD COLUMN shown TEXT NOT NULL DEFAULT '{}'",
    "ALTER TABLE invitations ADD COLUMN lock BLOB",
    "UPDATE surveys SET closed = closed_early, keyless = 1",
)
"""The migration from version 0 to 1, in one transaction."""

PATIENCE: Final = 30.0
"""The longest time that one process waits for another to finish writing, in seconds."""

SECRET: Final = 16
"""The size of a token, of a key and of the id of a report, in bytes."""


def secret() -> str:
    """Draw a random token of 128 bits, in hexadecimal."""
    return secrets.token_hex(SECRET)


def digest(token: str) -> bytes:
    """Return the stored hash of a token or key: SHA-256, which suffices for long random tokens."""
    return hashlib.sha256(token.encode()).digest()


class Reservation(NamedTuple):
    """A device's request to reserve an invitation, before it shows the question.

    Attributes:
        survey: the id of the survey.
        token: the hash of the invitation's token.
        lock: the hash of the key that the device drew.
        opens: the hash of the key that another device passed on to this device; None without one.
    """

    survey: str
    token: bytes
    lock: bytes
    opens: bytes | None = None


class Submission(NamedTuple):
    """A well-formed report with its credentials.

    Attributes:
        survey: the id of the survey.
        report_id: the id drawn by the device.
        token: the hash of the invitation's token.
        data: the report.
        opens: the hash of the key sent with it; None without a key.
    """

    survey: str
    report_id: bytes
    token: bytes
    data: bytes
    opens: bytes | None = None


Asked = Reservation | Submission


class Outcome(NamedTuple):
    """The outcome of a request: an HTTP status and the reason.

    Examples:
        >>> import epsilons as ep
        >>> outcome = ep.collector.Outcome(410, "This survey is closed.")
        >>> outcome.status, outcome.reason
        (410, 'This survey is closed.')
    """

    status: int
    reason: str


class _Invited(NamedTuple):
    """An invitation as stored in the file."""

    used: int
    lock: bytes | None


NEW: Final = Outcome(201, "Your report was received, and is counted.")
AGAIN: Final = Outcome(200, "This report was received earlier: it is counted once.")
USED: Final = Outcome(409, "This invitation was used: it counts for one report.")
OTHER: Final = Outcome(409, "Another report has this id.")
CLOSED: Final = Outcome(410, "This survey is closed.")
UNKNOWN: Final = Outcome(403, "This invitation is not known here. Open the link as it was sent.")
LOCKED: Final = Outcome(
    409, "This invitation is not reserved with that key. Send from where it was reserved."
)
"""The outcome for every wrong key, which does not reveal if the invitation is reserved or used."""
RESERVED: Final = Outcome(201, "This invitation is reserved here.")
HELD: Final = Outcome(200, "This invitation was reserved here earlier.")
SENT: Final = Outcome(208, "Your report was received earlier, and is counted.")
ELSEWHERE: Final = Outcome(
    409,
    "This invitation is in use elsewhere: in another browser, on another device, in the file, or "
    "under another address. Answer there. If that is impossible, ask for a new invitation.",
)
"""The outcome for a reservation elsewhere, which does not reveal if a report was sent there."""


class SurveyStore:
    """The file of a collector, for use by one thread.

    Args:
        path: the path of an existing file.

    Raises:
        FileError: it does not exist, or is not a collector's file.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise FileError(f"{str(path)!r} does not exist: epsilons survey new makes it.")
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("SELECT token, used FROM invitations LIMIT 0")
            self._renew()
        except sqlite3.DatabaseError:
            self._connection.close()
            raise FileError(f"{str(path)!r} is not the file of a collector.") from None
        if self._version() > VERSION:
            self._connection.close()
            raise FileError(f"{str(path)!r} was made by a later version of epsilons.")

    def _version(self) -> int:
        return int(self._connection.execute("PRAGMA user_version").fetchone()[0])

    def _renew(self) -> None:
        """Migrate a file of an earlier version, in one transaction."""
        if self._version() >= VERSION:
            return
        with self._writing():
            if self._version() < VERSION:  # unless another process has migrated it meanwhile
                for statement in RENEW:
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {VERSION}")

    @staticmethod
    def make(path: Path) -> None:
        """Create an empty file that only its owner can read; keep an existing file unchanged.

        Raises:
            FileError: it cannot be created.
        """
        if path.exists():
            return
        try:
            path.touch(mode=0o600)
            connection = sqlite3.connect(path)
            connection.executescript(f"BEGIN;{TABLES}PRAGMA user_version = {VERSION};COMMIT;")
            connection.close()
        except (OSError, sqlite3.Error):
            raise FileError(f"{str(path)!r} cannot be made.") from None

    def close(self) -> None:
        """Checkpoint the write-ahead log into the file, truncate the log, and disconnect."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def add(
        self, survey: Survey, organiser: bytes, opens: datetime.datetime, tokens: Sequence[str]
    ) -> None:
        """Store a survey and its invitations in one transaction.

        Raises:
            ArgumentError: there is already a survey with this id.
        """
        row = (
            survey.id,
            json.dumps(survey.to_dict(), ensure_ascii=False),
            survey.mechanism.parameters,
            json.dumps([each.epsilon for each in survey.levels]),
            opens.strftime("%Y-%m-%dT%H:%M:%SZ"),
            survey.to_dict()["closes"],
            organiser,
        )
        try:
            with self._writing():
                self._connection.execute(
                    "INSERT INTO surveys (id, question, parameters, levels, opens, closes, "
                    "organiser, closed_early) VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
                    row,
                )
                self._invite(survey.id, tokens)
        except sqlite3.IntegrityError:
            raise ArgumentError(f"id={survey.id!r} is taken in this file.") from None

    def surveys(self) -> dict[str, tuple[Survey, bytes]]:
        """Return all surveys by id, each with the hash of its organiser's key."""
        rows = self._connection.execute("SELECT id, question, organiser FROM surveys")
        return {name: (Survey.from_dict(json.loads(text)), key) for name, text, key in rows}

    def invite(self, survey: str, tokens: Sequence[str]) -> None:
        """Store the hashes of new tokens."""
        with self._writing():
            self._invite(survey, tokens)

    def _invite(self, survey: str, tokens: Sequence[str]) -> None:
        rows = ((survey, digest(token)) for token in tokens)
        self._connection.executemany("INSERT INTO invitations VALUES (?, ?, 0, NULL)", rows)

    def replace(self, survey: str, old: Sequence[str], new: Sequence[str]) -> None:
        """Replace old invitations by new invitations, and count the replacements.

        Unused old invitations become invalid. This does not reveal which were used.

        Raises:
            ArgumentError: an old invitation is unknown; then nothing is changed.
        """
        hashes = [digest(token) for token in old]
        with self._writing():
            known = self._invited(survey, hashes)
            if len(known) < len(hashes):
                raise ArgumentError(
                    "An invitation to be replaced is not one of this survey, or it is there twice."
                )
            shut = "UPDATE invitations SET lock = x'' WHERE survey = ? AND token = ? AND NOT used"
            self._connection.executemany(shut, [(survey, each) for each in hashes])
            more = "UPDATE surveys SET replaced = replaced + ? WHERE id = ?"
            self._connection.execute(more, (len(new), survey))
            self._invite(survey, new)

    def invited(self, survey: str) -> tuple[int, int]:
        """Return the number of original invitations, and the number of replacements."""
        sql = (
            "SELECT (SELECT count(*) FROM invitations WHERE survey = id), replaced FROM surveys "
            "WHERE id = ?"
        )
        many, replaced = self._connection.execute(sql, (survey,)).fetchone()
        return int(many - replaced), int(replaced)

    def closed(self, survey: str) -> tuple[bool, bool]:
        """Whether a survey is closed, and whether its organiser closed it early."""
        sql = "SELECT closed, closed_early FROM surveys WHERE id = ?"
        closed, early = self._connection.execute(sql, (survey,)).fetchone()
        return bool(closed), bool(early)

    def shut(self, survey: str, early: bool) -> None:
        """Close a survey permanently, even if the clock is set back later."""
        self._connection.execute(
            "UPDATE surveys SET closed = 1, closed_early = ? WHERE id = ? AND NOT closed",
            (int(early), survey),
        )

    def forms(self, survey: str) -> dict[bytes, int]:
        """Return each distinct sequence of report bytes (a form), with its number of people."""
        sql = "SELECT bytes, count(*) FROM reports WHERE survey = ? GROUP BY bytes"
        return dict(self._connection.execute(sql, (survey,)).fetchall())

    def shown(self, survey: str, choose: Callable[[dict[bytes, int]], None]) -> None:
        """Let a live estimate choose which further reports to show, and store its choice.

        Args:
            survey: the id of the survey.
            choose: function that adds reports to the reports shown so far, by form.
        """
        sql = "SELECT shown FROM surveys WHERE id = ?"
        with self._writing():
            (text,) = self._connection.execute(sql, (survey,)).fetchone()
            held = {bytes.fromhex(form): int(many) for form, many in json.loads(text).items()}
            choose(held)
            new = json.dumps({form.hex(): many for form, many in sorted(held.items())})
            if new != text:
                self._connection.execute("UPDATE surveys SET shown = ? WHERE id = ?", (new, survey))

    def take(self, batch: Sequence[tuple[Asked, bool]]) -> list[Outcome]:
        """Decide on requests in order, and store accepted requests, in one transaction.

        Args:
            batch: requests, each with whether its survey's closing time is reached.

        Returns:
            The outcome of each request. When this returns, all changes are on disk.
        """
        places: dict[str, list[int]] = {}
        for place, (given, _) in enumerate(batch):
            places.setdefault(given.survey, []).append(place)
        found: dict[int, Outcome] = {}
        with self._writing():
            for survey, mine in places.items():
                outcomes = self._taken(survey, [batch[place] for place in mine])
                found.update(zip(mine, outcomes, strict=True))
        return [found[place] for place in range(len(batch))]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Return a context for a transaction: afterwards all changes are on disk, or none."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _taken(self, survey: str, batch: Sequence[tuple[Asked, bool]]) -> list[Outcome]:
        """Decide on the requests of one survey, with a fixed number of SQL statements."""
        sql = "SELECT closed, keyless FROM surveys WHERE id = ?"
        closed, keyless = self._connection.execute(sql, (survey,)).fetchone()
        invited = self._invited(survey, {given.token for given, _ in batch})
        sent = {given.report_id for given, _ in batch if isinstance(given, Submission)}
        held = self._held(survey, sent)
        bound: list[Reservation] = []
        new: list[Submission] = []
        found = []
        for given, over in batch:
            row = invited.get(given.token)
            if over and not closed:  # from now on it is closed, even if the clock is set back
                self.shut(survey, early=False)
                closed = 1
            if isinstance(given, Reservation):
                outcome = _reserved(given, row, bool(closed))
                if outcome is RESERVED:
                    invited[given.token] = _Invited(0, given.lock)
                    bound.append(given)
            else:
                place = held.get(given.report_id)
                outcome = _outcome(given, row, place, (bool(closed), bool(keyless)))
                if outcome is NEW and row is not None:
                    invited[given.token] = row._replace(used=1)
                    held[given.report_id] = given.data
                    new.append(given)
            found.append(outcome)
        self._bind(survey, bound)
        self._keep(survey, new)
        return found

    def _bind(self, survey: str, bound: Sequence[Reservation]) -> None:
        """Write reservations in order: the last reservation of an invitation counts."""
        sql = "UPDATE invitations SET lock = ? WHERE survey = ? AND token = ?"
        self._connection.executemany(sql, [(each.lock, survey, each.token) for each in bound])

    def _keep(self, survey: str, new: Sequence[Submission]) -> None:
        """Mark invitations as used, and write reports."""
        if not new:
            return
        spent = [each.token for each in new]
        # The f-strings insert only placeholders: no value becomes part of a statement.
        update = f"UPDATE invitations SET used = 1 WHERE survey = ? AND token IN {_marks(spent)}"  # noqa: S608
        insert = f"INSERT INTO reports VALUES {', '.join(['(?, ?, ?)'] * len(new))}"  # noqa: S608
        self._connection.execute(update, (survey, *spent))
        rows = [part for each in new for part in (survey, each.report_id, each.data)]
        self._connection.execute(insert, rows)

    def _invited(self, survey: str, tokens: Collection[bytes]) -> dict[bytes, _Invited]:
        """Return the invitations that exist, by token hash."""
        marks = _marks(tokens)
        sql = f"SELECT token, used, lock FROM invitations WHERE survey = ? AND token IN {marks}"  # noqa: S608
        rows = self._connection.execute(sql, (survey, *tokens)).fetchall()
        return {token: _Invited(used, lock) for token, used, lock in rows}

    def _held(self, survey: str, ids: Collection[bytes]) -> dict[bytes, bytes]:
        """Return the stored reports with these ids, by id."""
        sql = f"SELECT id, bytes FROM reports WHERE survey = ? AND id IN {_marks(ids)}"  # noqa: S608
        return dict(self._connection.execute(sql, (survey, *ids)).fetchall())


def _marks(values: Collection[bytes]) -> str:
    """Return SQL placeholders, one for each value."""
    return f"({', '.join('?' * len(values))})"


def _reserved(given: Reservation, row: _Invited | None, closed: bool) -> Outcome:
    """Decide on a reservation.

    Args:
        given: the reservation.
        row: its invitation; None if there is no such invitation.
        closed: whether the survey is closed.
    """
    if row is None:
        return UNKNOWN
    if row.lock == given.lock:
        return SENT if row.used else HELD
    if closed:
        return CLOSED
    # The first device to reserve gets the invitation. It can pass its key on to another device,
    # which then reserves with that key and replaces it by a new key.
    free = row.lock is None or row.lock == given.opens
    return RESERVED if free and not row.used else ELSEWHERE


def _outcome(
    given: Submission, row: _Invited | None, held: bytes | None, survey: tuple[bool, bool]
) -> Outcome:
    """Decide on a submission.

    Args:
        given: the submission.
        row: its invitation; None if there is no such invitation.
        held: the stored report with the same id; None if there is no such report.
        survey: whether the survey is closed, and whether it accepts reports without a key.
    """
    closed, keyless = survey
    if row is None:
        return UNKNOWN
    if row.lock != given.opens if row.lock is not None else not keyless:
        return CLOSED if closed else LOCKED
    if held is not None:
        # If the report is stored but this invitation is unused, it is another person's report.
        return AGAIN if row.used and held == given.data else OTHER
    if closed:
        return CLOSED
    return USED if row.used else NEW


# One thread writes. It commits all queued requests together, with a single flush to disk.

WAITING: Final = 4096
"""The largest number of queued requests; further requests get status 503 and must be retried."""

TOGETHER: Final = 512
"""The largest number of requests in one commit."""

PAUSE: Final = 1.0
"""Seconds between two checks of whether a survey has reached its closing time."""

BUSY: Final = Outcome(503, "Too many reports arrive at once. Send the same report again soon.")
FAILED: Final = Outcome(503, "The report could not be kept. Send the same report again soon.")

_LOG: Final = logging.getLogger(__name__)
"""Logger for failures of the file, such as a full disk. It never logs the content of requests."""

_Job = tuple[Asked, "Future[Outcome]"]


class Writer:
    """A thread that writes reservations and reports, with one commit for all queued requests.

    Args:
        path: the path of the file.
        over: function that returns whether a survey has reached its closing time. It is called
            when a request is decided.
        decided: function called with every outcome once it is on disk. It returns the response.
        watch: function called with the store about once a second.
    """

    def __init__(
        self,
        path: Path,
        over: Callable[[str], bool],
        decided: Callable[[Outcome], Outcome],
        watch: Callable[[SurveyStore], None],
    ) -> None:
        self._jobs: queue.Queue[_Job | None] = queue.Queue(WAITING)
        self._store = SurveyStore(path)
        self._over = over
        self._decided = decided
        self._watch = watch
        self._thread = threading.Thread(target=self._run, name="collector-writer", daemon=True)
        self._thread.start()

    def submit(self, given: Asked) -> Future[Outcome]:
        """Queue a request. The future gets the outcome once changes are on disk."""
        found: Future[Outcome] = Future()
        found.set_running_or_notify_cancel()  # prevents cancelling a request already on disk
        try:
            self._jobs.put_nowait((given, found))
        except queue.Full:
            found.set_result(BUSY)
        return found

    def close(self) -> None:
        """Write queued requests, and end the thread."""
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
        """Wait up to `PAUSE` for requests; return them, and whether the writer is closing."""
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
            # No part of this commit was stored. The senders get FAILED, and retry.
            _LOG.error("Reports could not be kept: %s", problem)
            outcomes = [FAILED] * len(jobs)
        for (_, found), outcome in zip(jobs, outcomes, strict=True):
            found.set_result(self._decided(outcome))
