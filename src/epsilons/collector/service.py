"""The collector's operations, from reservation to export, independent of HTTP."""

from __future__ import annotations

import datetime
import hmac
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Final, NamedTuple

from epsilons.collector.live import LARGEST, Door, Live, joined, released
from epsilons.collector.question import CERTAIN, MOST_INVITATIONS, Survey
from epsilons.collector.store import (
    UNKNOWN,
    Outcome,
    Reservation,
    Submission,
    SurveyStore,
    Writer,
    digest,
    secret,
)
from epsilons.door.given.files import write_frame
from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.listed import shown
from epsilons.local import Reports
from epsilons.results.release import Release

__all__ = ["Made", "Service", "create"]

_SECRET: Final = re.compile(r"[0-9a-f]{32}")
_LOCK: Final = re.compile(r"[0-9a-f]{64}")

FAILURES: Final = 200
"""The number of failed tokens per minute that get a reason; further requests get status 429."""

MINUTE: Final = 60.0

ABSENT: Final = Outcome(404, "There is no such survey, or no such page.")
TIRED: Final = Outcome(429, "Too many invitations failed. Open the link as it was sent, later.")


class Made(NamedTuple):
    """The secrets of a new survey. They are shown once: the file contains only their hashes.

    Attributes:
        key: the organiser's key.
        tokens: the tokens of the invitations, each for one report.

    Examples:
        >>> import epsilons as ep
        >>> made = ep.collector.Made(key="0" * 32, tokens=("1" * 32, "2" * 32))
        >>> f"one key for the organiser, {len(made.tokens)} invitations"
        'one key for the organiser, 2 invitations'
    """

    key: str
    tokens: tuple[str, ...]


def create(path: str | Path, survey: Survey) -> Made:
    """Create a survey and its invitations.

    Args:
        path: the path of its file; it is created if it does not exist.
        survey: the survey.

    Raises:
        ArgumentError: the survey's closing time is past, or its id is taken.
        BudgetError: a level is so large that the participant's page would say that 100 of 100
            people send their true answer.
        FileError: the file cannot be created or used.

    Examples:
        >>> import datetime
        >>> import epsilons as ep
        >>> closes = datetime.datetime(2036, 1, 31, 18, tzinfo=datetime.UTC)
        >>> asked = {"question": "Did you sleep well?", "kind": "yes-no", "organiser": "the union"}
        >>> survey = ep.collector.Survey(id="sleep", closes=closes, invitations=3, **asked)
        >>> made = ep.collector.create("sleep.db", survey)
        >>> len(made.tokens)
        3
    """
    now = _now()
    if survey.closed_at(now):
        raise ArgumentError("closes is in the past: give a moment in the future.")
    for level in survey.levels:
        if level.truly == CERTAIN:
            raise BudgetError(
                f"level {level.name!r}: at epsilon={level.epsilon:g}, {CERTAIN} of {CERTAIN} "
                "people would send their true answer, and nothing would be hidden. Give at most "
                "5.29."
            )
    SurveyStore.make(Path(path))
    store = SurveyStore(Path(path))
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
    """A running collector on one file. Several processes can use the same file concurrently.

    Args:
        path: the path of the file.
        now: the clock, for tests of closing times.

    Raises:
        FileError: the file does not exist, or does not belong to a collector.

    Examples:
        >>> import datetime
        >>> import epsilons as ep
        >>> closes = datetime.datetime(2036, 1, 31, 18, tzinfo=datetime.UTC)
        >>> asked = {"question": "Did you sleep well?", "kind": "yes-no", "organiser": "the union"}
        >>> survey = ep.collector.Survey(id="sleep", closes=closes, invitations=3, **asked)
        >>> made = ep.collector.create("sleep.db", survey)
        >>> with ep.collector.Service("sleep.db") as service:
        ...     service.reserve("sleep", made.tokens[0], "0" * 64).result().status
        ...     service.shut("sleep")
        201
        'closed early'
    """

    def __init__(
        self, path: str | Path, now: Callable[[], datetime.datetime] | None = None
    ) -> None:
        self._now = now or _now
        self._store = SurveyStore(Path(path))
        self._eyes = SurveyStore(Path(path))
        self._reading = threading.Lock()
        self._looking = threading.Lock()
        held = self._store.surveys()
        self._surveys = {name: survey for name, (survey, _) in held.items()}
        self._keys = {name: key for name, (_, key) in held.items()}
        self._doors = {name: Door(survey) for name, survey in self._surveys.items()}
        self._live = {name: self._looked_at(survey) for name, survey in self._surveys.items()}
        self._failures: deque[float] = deque(maxlen=FAILURES)
        self._writer = Writer(Path(path), self._over, self._counted, self._watch)

    def _looked_at(self, survey: Survey) -> Live:
        # Use a separate connection, so aggregating a large survey does not delay other requests.
        def forms() -> dict[bytes, int]:
            with self._looking:
                return self._eyes.forms(survey.id)

        def shown(choose: Callable[[dict[bytes, int]], None]) -> None:
            with self._looking:
                self._eyes.shown(survey.id, choose)

        return Live(survey, forms, shown)

    def _over(self, name: str) -> bool:
        return self._surveys[name].closed_at(self._now())

    def _watch(self, store: SurveyStore) -> None:
        """Close surveys at their closing time, so they stay closed if the clock is set back."""
        for name in self._surveys:
            if self._over(name) and not store.closed(name)[0]:
                store.shut(name, early=False)

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write queued requests, and close the file."""
        self._writer.close()
        self._eyes.close()
        self._store.close()

    @property
    def surveys(self) -> dict[str, Survey]:
        """Return all surveys of the file, by id."""
        return dict(self._surveys)

    def survey(self, name: str) -> Survey:
        """Return the survey with this id.

        Raises:
            ArgumentError: there is no such survey.
        """
        if name not in self._surveys:
            raise ArgumentError(f"survey={shown(name)} is not in this file.")
        return self._surveys[name]

    def reserve(self, name: str, token: str, lock: str, key: str = "") -> Future[Outcome]:
        """Reserve an invitation for the device that drew a key, before it asks the question.

        Args:
            name: the id of the survey.
            token: the token of the invitation.
            lock: the SHA-256 of the key, in hexadecimal. The key is 32 hexadecimal digits, drawn on
                the device, independently of the report.
            key: the previous key, if another device passed it on; the new key replaces it.

        Returns:
            201 if it is now reserved; 200 if it was already reserved with this lock; 208 if a
            report was already sent with this lock; 409 if it is in use elsewhere, whether or not a
            report was sent from there; 410 if the survey is closed; 403 if the invitation is
            unknown; 404 if the survey is; 422 if `lock` is not a hash; 429 after too many failed
            tokens; 503 if the request must be sent again later.
        """
        if name not in self._surveys:
            return _done(ABSENT)
        if not _SECRET.fullmatch(token):
            return _done(self._counted(UNKNOWN))
        if not _LOCK.fullmatch(lock):
            return _done(Outcome(422, "A reservation is the SHA-256 of a key, in hexadecimal."))
        opens = digest(key) if key else None
        return self._writer.submit(Reservation(name, digest(token), bytes.fromhex(lock), opens))

    def submit(
        self, name: str, report_id: str, token: str, data: bytes, key: str = ""
    ) -> Future[Outcome]:
        """Receive a report.

        Args:
            name: the id of the survey.
            report_id: 32 hexadecimal digits, drawn by the browser; a retry sends the same digits.
            token: the token of the invitation.
            data: the report.
            key: the key with which the invitation was reserved. Surveys made by epsilons 0.2.0
                also accept reports without a key, for invitations that are not reserved.

        Returns:
            201 if a new report is on disk; 200 if the same report was sent again; 409 if the
            invitation was used or is not reserved with this key, or if another report has this id;
            410 if the survey is closed; 422 if the bytes are not a report of this survey, or 413 if
            they are too many; 403 if the invitation is unknown; 404 if the survey is unknown, or
            `report_id` is malformed; 429 after too many failed tokens; 503 if the report must be
            sent again later.
        """
        early = self._refused(name, report_id, token, data)
        if early is not None:
            return _done(early)
        opens = digest(key) if key else None
        known = Submission(name, bytes.fromhex(report_id), digest(token), data, opens)
        return self._writer.submit(known)

    def _refused(self, name: str, report_id: str, token: str, data: bytes) -> Outcome | None:
        """Return a refusal that does not depend on the file; None if the report is not refused."""
        if name not in self._surveys or not _SECRET.fullmatch(report_id):
            return ABSENT
        if len(data) > LARGEST:
            return Outcome(413, f"A report has at most {LARGEST} bytes.")
        if not _SECRET.fullmatch(token):
            return self._counted(UNKNOWN)
        why = self._doors[name].refusal(data)
        return None if why is None else Outcome(422, why)

    def _counted(self, outcome: Outcome) -> Outcome:
        """Limit the rate of failed tokens, over all clients; valid tokens are never limited."""
        if outcome is not UNKNOWN:
            return outcome
        now = time.monotonic()
        full = len(self._failures) == FAILURES and now - self._failures[0] < MINUTE
        if full:
            return TIRED
        self._failures.append(now)
        return outcome

    def is_organiser(self, name: str, key: str) -> bool:
        """Whether this is the organiser's key of a survey."""
        held = self._keys.get(name)
        return held is not None and hmac.compare_digest(held, digest(key))

    def status(self, name: str) -> str:
        """Return "open", "closed" or "closed early". A closed survey is never reopened."""
        with self._reading:
            closed, early = self._store.closed(self.survey(name).id)
            if not closed and self._over(name):
                self._store.shut(name, early=False)
                closed = True
        if early:
            return "closed early"
        return "closed" if closed else "open"

    def question(self, name: str) -> dict[str, Any]:
        """Return the survey as plain data, for the participant's page."""
        found = self.survey(name).to_dict()
        del found["invitations"]
        return {**found, "status": self.status(name)}

    def estimate(self, name: str) -> dict[str, Any]:
        """Return the data of the organiser's page: number of reports, estimate and interval.

        An open survey adds at least ten reports at a time and withholds at least ten, so the
        difference of two estimates never shows a single report. The 95 % interval is valid at the
        closing time, which was fixed in advance. It is not valid at a time that was chosen because
        of the estimates.

        Returns:
            `status`: "open", "closed" or "closed early". `reports`: the number of reports;
            `levels`: the number at each level. `used`, `invited`, `replaced`: the numbers of used,
            original and replacement invitations. `results`: estimates with intervals that are
            valid even if levels depend on answers. `unrelated`: the same with narrower intervals,
            which assume that levels are independent of answers. `influence`: the influence of
            dishonest reports.
        """
        status = self.status(name)
        found = self._live[name].estimate(status != "open")
        with self._reading:
            many, replaced = self._store.invited(name)
        used = found["reports"]
        return {**found, "invited": many, "used": used, "replaced": replaced, "status": status}

    def release(self, name: str) -> Release:
        """Return the estimate as a release, with the reports and the interval of `estimate`.

        Raises:
            DataError: no report may be shown yet.
        """
        closed = self.status(name) != "open"
        seen = self._live[name].seen(closed)
        if not seen:
            raise DataError("There is no report to be shown yet.")
        return released(self.survey(name), joined(seen))

    def shut(self, name: str) -> str:
        """Close a survey permanently. Before its closing time, it is recorded as closed early.

        Returns:
            Its status.
        """
        if self.status(name) == "open":
            with self._reading:
                self._store.shut(name, early=True)
        return self.status(name)

    def invite(self, name: str, many: int) -> tuple[str, ...]:
        """Create more invitations.

        Args:
            name: the id of the survey.
            many: the number of invitations.

        Returns:
            Their tokens, which cannot be shown again.

        Raises:
            ArgumentError: there is no such survey, or `many` is not a valid number.
        """
        if type(many) is not int or not 1 <= many <= MOST_INVITATIONS:
            raise ArgumentError(f"many={shown(many)} must be a whole number from 1 up.")
        tokens = tuple(secret() for _ in range(many))
        with self._reading:
            self._store.invite(self.survey(name).id, tokens)
        return tokens

    def replace(self, name: str, tokens: Sequence[str]) -> tuple[str, ...]:
        """Create new invitations for people whose invitations are in use elsewhere.

        Unused old invitations become invalid. This does not reveal which were used. Replacements
        are counted, because each allows one person to answer twice.

        Args:
            name: the id of the survey.
            tokens: the tokens of the invitations to replace.

        Returns:
            The tokens of the new invitations, which cannot be shown again.

        Raises:
            ArgumentError: there is no such survey, or a token is not one of its invitations.
        """
        new = tuple(secret() for _ in tokens)
        with self._reading:
            self._store.replace(self.survey(name).id, tokens, new)
        return new

    def reports(self, name: str) -> Reports:
        """Return all reports of a closed survey, as one batch.

        Raises:
            DataError: the survey is open, or there are no reports.
        """
        if self.status(name) == "open":
            raise DataError(
                f"Survey {name!r} is open: its reports are available when it is closed. Until then "
                "they would show what each person sent."
            )
        with self._reading:
            held = self._store.forms(self.survey(name).id)
        if not held:
            raise DataError("There is no report.")
        return joined(held)

    def export(self, name: str, path: str | Path) -> int:
        """Write all reports of a closed survey as a Parquet file.

        `survey.mechanism.estimate(data=…)` can read it. Its metadata record whether the survey was
        closed early, the number of invitations and the number of replacements.

        Returns:
            The number of reports.

        Raises:
            DataError: the survey is open, or there are no reports.
            FileError: the file cannot be written.
        """
        found = self.reports(name)
        with self._reading:
            many, replaced = self._store.invited(name)
        facts = {"survey": name, "status": self.status(name)}
        facts |= {"invited": str(many), "replaced": str(replaced)}
        write_frame(Path(path), found.to_columns(), facts)
        return len(found)


def _done(outcome: Outcome) -> Future[Outcome]:
    found: Future[Outcome] = Future()
    found.set_result(outcome)
    return found
