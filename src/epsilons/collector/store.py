"""What is kept: surveys, invitations and reports, in one SQLite file.

No time of a report, no address, and nothing that joins an invitation to a report: rows of both
tables stand in the order of random bytes, not in the order they came.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import secrets
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from epsilons.collector.question import Survey
from epsilons.errors import ArgumentError, FileError

__all__ = ["Outcome", "Store", "Submission", "digest", "secret"]

TABLES: Final = """
CREATE TABLE surveys (
    id TEXT PRIMARY KEY,
    question TEXT NOT NULL,
    parameters BLOB NOT NULL,
    levels TEXT NOT NULL,
    opens TEXT NOT NULL,
    closes TEXT NOT NULL,
    organiser BLOB NOT NULL,
    closed_early INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE invitations (
    survey TEXT NOT NULL REFERENCES surveys,
    token BLOB NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (survey, token)
) WITHOUT ROWID, STRICT;
CREATE TABLE reports (
    survey TEXT NOT NULL REFERENCES surveys,
    id BLOB NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (survey, id)
) WITHOUT ROWID, STRICT;
"""
"""The organiser's key and tokens are kept as hashes alone: who reads the file can use neither."""

PATIENCE: Final = 30.0
"""Seconds that one process waits for another to finish writing."""

SECRET: Final = 16
"""Bytes of a token, of the organiser's key and of the id of a report."""


def secret() -> str:
    """A token that nobody can guess: 128 random bits, in hexadecimal."""
    return secrets.token_hex(SECRET)


def digest(token: str) -> bytes:
    """What is kept of a token. It is random and long, so that one plain hash is enough."""
    return hashlib.sha256(token.encode()).digest()


class Submission(NamedTuple):
    """A report that has passed the door, and what it comes with."""

    survey: str
    report_id: bytes
    token: bytes
    data: bytes


class Outcome(NamedTuple):
    """What became of a submission: an HTTP status, and why."""

    status: int
    reason: str


NEW: Final = Outcome(201, "Your report was received, and is counted.")
AGAIN: Final = Outcome(200, "This report was received earlier: it is counted once.")
USED: Final = Outcome(409, "This invitation was used: it counts for one report.")
OTHER: Final = Outcome(409, "Another report has this id.")
CLOSED: Final = Outcome(410, "This survey is closed.")
UNKNOWN: Final = Outcome(403, "This invitation is not known here. Open the link as it was sent.")


class Store:
    """The file of a collector, for one thread.

    Args:
        path: of the file, which exists.

    Raises:
        FileError: it does not exist, or is not such a file.
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
        except sqlite3.DatabaseError:
            self._connection.close()
            raise FileError(f"{str(path)!r} is not the file of a collector.") from None

    @staticmethod
    def make(path: Path) -> None:
        """Make an empty file that only its owner can read; one that is there is left alone.

        Raises:
            FileError: it cannot be made.
        """
        if path.exists():
            return
        try:
            path.touch(mode=0o600)
            connection = sqlite3.connect(path)
            connection.executescript(TABLES)
            connection.close()
        except (OSError, sqlite3.Error):
            raise FileError(f"{str(path)!r} cannot be made.") from None

    def close(self) -> None:
        """Write everything to the file itself, empty the log beside it, and let go."""
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.close()

    def add(
        self, survey: Survey, organiser: bytes, opens: datetime.datetime, tokens: Sequence[str]
    ) -> None:
        """Keep a survey and its invitations, or nothing of them.

        Raises:
            ArgumentError: there is one of this id.
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
                self._connection.execute("INSERT INTO surveys VALUES (?, ?, ?, ?, ?, ?, ?, 0)", row)
                self._invite(survey.id, tokens)
        except sqlite3.IntegrityError:
            raise ArgumentError(f"id={survey.id!r} is taken in this file.") from None

    def surveys(self) -> dict[str, tuple[Survey, bytes]]:
        """All surveys by id, each with the hash of its organiser's key."""
        rows = self._connection.execute("SELECT id, question, organiser FROM surveys")
        return {name: (Survey.from_dict(json.loads(text)), key) for name, text, key in rows}

    def invite(self, survey: str, tokens: Sequence[str]) -> None:
        """Keep the hashes of new tokens."""
        with self._writing():
            self._invite(survey, tokens)

    def _invite(self, survey: str, tokens: Sequence[str]) -> None:
        rows = ((survey, digest(token)) for token in tokens)
        self._connection.executemany("INSERT INTO invitations VALUES (?, ?, 0)", rows)

    def invited(self, survey: str) -> tuple[int, int]:
        """How many invitations there are, and how many of them were used."""
        sql = "SELECT count(*), coalesce(sum(used), 0) FROM invitations WHERE survey = ?"
        many, used = self._connection.execute(sql, (survey,)).fetchone()
        return int(many), int(used)

    def closed_early(self, survey: str) -> bool:
        """Whether its organiser closed it before its time."""
        sql = "SELECT closed_early FROM surveys WHERE id = ?"
        return bool(self._connection.execute(sql, (survey,)).fetchone()[0])

    def shut(self, survey: str) -> None:
        """Close a survey before its time, for good."""
        self._connection.execute("UPDATE surveys SET closed_early = 1 WHERE id = ?", (survey,))

    def forms(self, survey: str) -> dict[bytes, int]:
        """All reports: their bytes, and how many have them."""
        sql = "SELECT bytes, count(*) FROM reports WHERE survey = ? GROUP BY bytes"
        return dict(self._connection.execute(sql, (survey,)).fetchall())

    def take(self, batch: Sequence[tuple[Submission, bool]]) -> list[Outcome]:
        """Decide on submissions in their order, and keep what is new, all in one transaction.

        Args:
            batch: each with whether the time of its survey is over.

        Returns:
            What became of each. When this returns, it is on the disk.
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
        """One transaction: all of it is on the disk afterwards, or nothing is kept."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _taken(self, survey: str, batch: Sequence[tuple[Submission, bool]]) -> list[Outcome]:
        """What becomes of submissions to one survey; four statements, however many they are."""
        early = self.closed_early(survey)
        used = self._used(survey, {given.token for given, _ in batch})
        held = self._held(survey, {given.report_id for given, _ in batch})
        spent: list[bytes] = []
        new: list[Submission] = []
        found = []
        for given, over in batch:
            token, place = used.get(given.token), held.get(given.report_id)
            outcome = _outcome(given, token, place, over or early)
            if outcome is NEW:
                used[given.token] = 1
                held[given.report_id] = given.data
                spent.append(given.token)
                new.append(given)
            found.append(outcome)
        if new:
            self._keep(survey, spent, new)
        return found

    def _keep(self, survey: str, spent: Sequence[bytes], new: Sequence[Submission]) -> None:
        """Mark invitations as used, and write reports."""
        # Only marks for values are put together: no value stands in a statement.
        update = f"UPDATE invitations SET used = 1 WHERE survey = ? AND token IN {_marks(spent)}"  # noqa: S608
        insert = f"INSERT INTO reports VALUES {', '.join(['(?, ?, ?)'] * len(new))}"  # noqa: S608
        self._connection.execute(update, (survey, *spent))
        rows = [part for each in new for part in (survey, each.report_id, each.data)]
        self._connection.execute(insert, rows)

    def _used(self, survey: str, tokens: Collection[bytes]) -> dict[bytes, int]:
        """Of the tokens that are known: whether they were used."""
        sql = f"SELECT token, used FROM invitations WHERE survey = ? AND token IN {_marks(tokens)}"  # noqa: S608
        return dict(self._connection.execute(sql, (survey, *tokens)).fetchall())

    def _held(self, survey: str, ids: Collection[bytes]) -> dict[bytes, bytes]:
        """Of the ids that are taken: the reports that have them."""
        sql = f"SELECT id, bytes FROM reports WHERE survey = ? AND id IN {_marks(ids)}"  # noqa: S608
        return dict(self._connection.execute(sql, (survey, *ids)).fetchall())


def _marks(values: Collection[bytes]) -> str:
    """A question mark for each value."""
    return f"({', '.join('?' * len(values))})"


def _outcome(given: Submission, used: int | None, held: bytes | None, closed: bool) -> Outcome:
    """What becomes of a submission.

    Args:
        given: what came.
        used: whether its invitation was used; None if there is no such invitation.
        held: the report that has its id; None if none has.
        closed: whether the survey is.
    """
    if used is None:
        return UNKNOWN
    if held is not None:
        # An unused invitation beside a report that is there: somebody knows another's report.
        return AGAIN if used and held == given.data else OTHER
    if closed:
        return CLOSED
    return USED if used else NEW
