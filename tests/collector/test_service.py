"""A collector is bounded, idempotent and durable, and stores nothing that identifies anyone."""

from __future__ import annotations

import dataclasses
import datetime
import secrets
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import collector
from epsilons.collector import store as writer
from epsilons.collector.service import FAILURES
from epsilons.collector.store import Reservation, Submission, SurveyStore, digest
from epsilons.errors import ArgumentError, BudgetError, DataError, FileError
from tests.collector.served import (
    CLOSES,
    SURVEYS,
    VALUES,
    held,
    key_of,
    lock,
    made,
    reserve_all,
)
from tests.local.engines import ENGINES, frame

NAMES = [survey.id for survey in SURVEYS]
UTC = datetime.UTC


def sent(service: collector.Service, name: str, token: str, data: bytes, place: str = "") -> int:
    """Send a report from the device that reserved the invitation; return the status."""
    key = key_of(token)
    service.reserve(name, token, lock(key))
    return service.submit(name, place or secrets.token_hex(16), token, data, key).result(20).status


def now_due(service: collector.Service, name: str) -> dict[str, Any]:
    """Return the estimate, as if the file had last been read long ago."""
    service._live[name]._due = 0.0
    return service.estimate(name)


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    path = tmp_path / "survey.db"
    tokens = {survey.id: list(collector.create(path, survey).tokens) for survey in SURVEYS}
    with collector.Service(path) as service:
        yield service, tokens, path


@pytest.mark.parametrize("survey", SURVEYS, ids=NAMES)
def test_the_live_estimate_is_that_of_the_reports(opened: Any, survey: collector.Survey) -> None:
    service, tokens, _ = opened
    name, data = survey.id, [made(survey, epsilon=level) for level in (0.5, 1.0, 2.0) * 8]
    assert service.estimate(name)["results"] == []
    for each in data:
        assert sent(service, name, tokens[name].pop(), each) == 201
        now_due(service, name)  # the same reports are not added twice
    assert service.shut(name) == "closed early"
    told = service.estimate(name)
    assert told["reports"] == told["used"] == 24
    assert [level["reports"] for level in told["levels"]] == [8, 8, 8]
    alike = dataclasses.replace(survey.mechanism.estimate(data, weights="uniform"), related=True)
    for key, expected in (("results", alike), ("unrelated", survey.mechanism.estimate(data))):
        low, high = expected.interval() if survey.options is None else expected.band()
        for field, value in (("value", expected.value), ("low", low), ("high", high)):
            found = [each[field] for each in told[key]]
            assert found == pytest.approx(np.atleast_1d(value)), (key, field)
    assert "may be related" in service.release(name).assumes


def test_looking_waits_for_a_tick(opened: Any) -> None:
    service, tokens, _ = opened
    now = [0.0]
    live = service._live["lunch"]
    live._clock = lambda: now[0]
    live._due = 0.0
    assert service.estimate("lunch")["reports"] == 0
    for _ in range(20):
        assert sent(service, "lunch", tokens["lunch"].pop(), made(SURVEYS[0])) == 201
    assert service.estimate("lunch")["reports"] == 0
    now[0] = 1.0
    assert service.estimate("lunch")["reports"] == 10


@pytest.mark.parametrize("survey", SURVEYS, ids=NAMES)
def test_what_is_exported_flows_on(opened: Any, survey: collector.Survey, tmp_path: Path) -> None:
    service, tokens, path = opened
    data = [made(survey, epsilon=level) for level in (0.5, 1.0, 2.0) * 5]
    for each in data:
        sent(service, survey.id, tokens[survey.id].pop(), each)
    for other in SURVEYS:
        if other.id != survey.id:
            service.shut(other.id)
            with pytest.raises(DataError, match="no report"):
                service.export(other.id, tmp_path / "none.parquet")
    service.replace(survey.id, [tokens[survey.id].pop() for _ in range(3)])
    file = tmp_path / "reports.parquet"
    with pytest.raises(DataError, match="is open"):
        service.export(survey.id, file)
    assert not file.exists()
    service.shut(survey.id)
    assert service.export(survey.id, file) == 15
    facts = pl.read_parquet_metadata(file)
    assert (facts["status"], facts["invited"], facts["replaced"]) == ("closed early", "100", "3")
    expected = survey.mechanism.estimate(data)
    for engine in ENGINES:
        table = frame(engine, pl.read_parquet(file), tmp_path)
        assert survey.mechanism.estimate(data=table).raw == pytest.approx(expected.raw)
    assert survey.mechanism.estimate(data=file).n == 15
    again = collector.Service(path)  # a new collector reads the existing reports
    assert again.estimate(survey.id)["reports"] == 15
    again.close()


def test_a_closed_survey_takes_nothing_new_and_says_so_of_what_it_has(tmp_path: Path) -> None:
    path, survey = tmp_path / "survey.db", SURVEYS[0]
    tokens = list(collector.create(path, survey).tokens)
    now = [datetime.datetime(2026, 1, 1, tzinfo=UTC)]
    with collector.Service(path, now=lambda: now[0]) as service:
        token, place, data = tokens.pop(), "0" * 32, made(survey)
        assert sent(service, "lunch", token, data, place) == 201
        now[0] = survey.closes - datetime.timedelta(seconds=1)
        assert sent(service, "lunch", tokens.pop(), data) == 201
        now[0] = survey.closes
        assert service.status("lunch") == "closed"
        assert sent(service, "lunch", tokens[-1], data) == 410
        assert sent(service, "lunch", token, data, place) == 200
        assert service.shut("lunch") == "closed", "its time was over: that is not early"
        assert service.estimate("lunch")["used"] == 2
        now[0] = datetime.datetime(2026, 1, 1, tzinfo=UTC)
        assert service.status("lunch") == "closed", "closed is closed, whatever the clock says"
        assert sent(service, "lunch", tokens.pop(), data) == 410
    with collector.Service(path, now=lambda: now[0]) as service:
        assert service.status("lunch") == "closed"
        assert service.reserve("lunch", tokens.pop(), "0" * 64).result(20).status == 410


@pytest.mark.parametrize("seen", ["shut", "take", "nobody"])
def test_a_clock_that_is_set_back_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: str
) -> None:
    """A closed survey stays closed, whether a command, a report or the writer closed it."""
    monkeypatch.setattr(writer, "PAUSE", 0.05)
    path, survey = tmp_path / "survey.db", SURVEYS[0]
    tokens = list(collector.create(path, survey).tokens)
    now = [survey.closes]
    with collector.Service(path, now=lambda: now[0]) as service:
        if seen == "shut":
            assert service.shut("lunch") == "closed"
        elif seen == "take":
            assert sent(service, "lunch", tokens.pop(), made(survey)) == 410
        else:
            for _ in range(200):
                if service._store.closed("lunch")[0]:
                    break
                time.sleep(0.05)
        now[0] -= datetime.timedelta(days=1000)
        assert sent(service, "lunch", tokens.pop(), made(survey)) == 410
        assert service.status("lunch") == "closed"


def test_who_closes_before_the_time_is_written_down(opened: Any) -> None:
    service, tokens, path = opened
    with collector.Service(path) as elsewhere:
        assert elsewhere.shut("lunch") == "closed early"
    assert sent(service, "lunch", tokens["lunch"].pop(), made(SURVEYS[0])) == 410
    assert service.question("lunch")["status"] == "closed early"
    assert service.status("way") == "open"


def test_many_in_one_commit_are_decided_in_their_order(opened: Any) -> None:
    """Requests have the same outcomes in one commit as in several, even if some are repeated."""
    _, tokens, path = opened
    lunch, way = made(SURVEYS[0]), made(SURVEYS[2])
    (one, two), far = (digest(tokens["lunch"].pop()) for _ in "ab"), digest(tokens["way"].pop())
    a, b, c = (secrets.token_bytes(16) for _ in "abc")
    mine, other = digest("my key"), digest("another key")
    batch: list[tuple[Reservation | Submission, bool]] = [
        (Submission("lunch", a, one, lunch, mine), False),  # not reserved yet
        (Reservation("lunch", one, mine), False),
        (Reservation("lunch", one, mine), False),
        (Reservation("lunch", one, other), False),
        (Reservation("lunch", two, other), False),
        (Reservation("way", far, mine), False),
        (Submission("lunch", a, one, lunch, other), False),
        (Submission("lunch", a, one, lunch), False),
        (Submission("lunch", a, one, lunch, mine), False),
        (Submission("way", a, far, way, mine), False),  # ids belong to one survey
        (Submission("lunch", a, one, lunch, mine), False),
        (Reservation("lunch", one, mine), False),
        (Submission("lunch", b, one, lunch, mine), False),
        (Submission("lunch", a, two, lunch, other), False),
        (Submission("lunch", b, digest("0"), lunch, mine), False),
        (Submission("lunch", b, two, lunch, other), False),
        (Submission("way", c, far, way, mine), False),
        (Submission("lunch", c, two, lunch, other), True),
        (Reservation("lunch", two, mine), False),
        (Submission("lunch", b, two, lunch, other), False),
        (Reservation("lunch", two, other), False),
    ]
    expected = [409, 201, 200, 409, 201, 201, 409, 409, 201, 201, 200, 208, 409, 409, 403, 201]
    expected += [409, 410, 410, 200, 208]
    store = SurveyStore(path)
    statuses = [outcome.status for outcome in store.take(batch)]
    assert statuses == expected
    assert sum(store.forms("lunch").values()) == 2
    assert store.take([]) == []
    store.close()


def test_what_cannot_be_written_is_sent_again(opened: Any, caplog: Any) -> None:
    """If a commit fails, none of it is stored, its senders get 503, and the next one works."""
    service, tokens, path = opened
    token, place, data = tokens["lunch"].pop(), "0" * 32, made(SURVEYS[0])
    store = service._writer._store
    store._connection.execute("PRAGMA query_only = ON")
    assert sent(service, "lunch", token, data, place) == 503
    assert held(path, "lunch") == {}
    assert "could not be kept" in caplog.text
    assert token not in caplog.text
    store._connection.execute("PRAGMA query_only = OFF")
    assert sent(service, "lunch", token, data, place) == 201


def test_too_many_at_once_are_sent_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "WAITING", 3)
    path, survey = tmp_path / "survey.db", SURVEYS[0]
    begun, go = threading.Event(), threading.Event()
    tokens = list(collector.create(path, survey).tokens)
    reserve_all(path, "lunch", tokens)
    with collector.Service(path) as service:
        take = service._writer._store.take

        def waiting(batch: Any) -> Any:
            begun.set()
            go.wait(20)
            return take(batch)

        monkeypatch.setattr(service._writer._store, "take", waiting)

        def submitted() -> Any:
            token, place = tokens.pop(), secrets.token_hex(16)
            return service.submit("lunch", place, token, made(survey), key_of(token))

        found = [submitted()]
        assert begun.wait(20)  # the writer no longer reads the queue
        found += [submitted() for _ in range(19)]
        running = found[0].running()
        go.set()
        statuses = [each.result(20).status for each in found]
        assert statuses == [201] * 4 + [503] * 16
        assert running, "what may be on the disk already cannot be cancelled"
        assert len(held(path, "lunch")) == statuses.count(201)


def test_failed_tokens_are_limited_and_good_ones_are_not(opened: Any) -> None:
    service, tokens, _ = opened
    data = made(SURVEYS[0])
    given = ("lunch", "1" * 32, "0" * 32, data)
    found = [service.submit(*given).result(20).status for _ in range(FAILURES + 20)]
    assert found == [403] * FAILURES + [429] * 20
    assert sent(service, "lunch", tokens["lunch"].pop(), data) == 201


def test_the_file_holds_no_time_no_token_and_no_link(opened: Any) -> None:
    service, tokens, path = opened
    used = [tokens["lunch"].pop() for _ in range(20)]
    places = [secrets.token_hex(16) for _ in used]
    for token, place in zip(used, places, strict=True):
        assert sent(service, "lunch", token, made(SURVEYS[0]), place) == 201
    with sqlite3.connect(path) as look:
        columns = {
            table: [row[1] for row in look.execute(f"PRAGMA table_info({table})")]
            for table in ("invitations", "reports")
        }
        rows = [row[0].hex() for row in look.execute("SELECT id FROM reports")]
        kept = [row[0] for row in look.execute("SELECT token FROM invitations WHERE used")]
        with pytest.raises(sqlite3.OperationalError):
            look.execute("SELECT rowid FROM reports")
    look.close()
    assert columns == {
        "invitations": ["survey", "token", "used", "lock"],
        "reports": ["survey", "id", "bytes"],
    }
    assert rows == sorted(places), "in the order of random ids, not of arrival"
    assert kept == sorted(kept)
    service.close()
    content = path.read_bytes()
    for each in (*used, *map(key_of, used)):
        assert each.encode() not in content
        assert bytes.fromhex(each) not in content
    assert path.stat().st_mode & 0o077 == 0
    log = path.with_name("survey.db-wal")
    assert not log.exists() or log.stat().st_size == 0
    service.__init__(path)  # the fixture will close it again


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"id": "A"}, "id="),
    ({"id": "../x"}, "id="),
    ({"kind": "text"}, "kind="),
    ({"question": ""}, "question"),
    ({"question": "a\nb"}, "question"),
    ({"organiser": None}, "organiser"),
    ({"closes": "2026-12-01T18:00:00"}, "time zone"),
    ({"closes": 3}, "time zone"),
    ({"options": ["a", "b"]}, "options"),
    ({"bounds": [0, 1]}, "bounds"),
    ({"unit": "hours"}, "unit"),
    ({"kind": "one-of"}, "options"),
    ({"kind": "one-of", "options": ["a"]}, "options"),
    ({"kind": "one-of", "options": ["a", "a"]}, "distinct"),
    ({"kind": "number", "bounds": [1, 0]}, "bounds"),
    ({"invitations": 0}, "invitations"),
    ({"invitations": True}, "invitations"),
    ({"levels": [{"name": "a", "epsilon": 1.0}]}, "levels"),
    ({"levels": [{"name": "a", "epsilon": 2.0}, {"name": "b", "epsilon": 1.0}]}, "ascend"),
    ({"levels": [{"name": "a", "epsilon": 1.0}, {"name": "a", "epsilon": 2.0}]}, "distinct"),
    (
        {"levels": [{"name": "a", "epsilon": 1.0}, {"name": "b", "epsilon": float("inf")}]},
        "epsilon",
    ),
    ({"levels": [{"name": "a", "epsilon": 0.0}, {"name": "b", "epsilon": 1.0}]}, "epsilon"),
    ({"levels": [{"name": "a"}, {"name": "b"}]}, "epsilon"),
    ({"colour": "red"}, "colour"),
]
RIGHT = {
    "id": "a", "question": "Q?", "kind": "yes-no", "closes": CLOSES, "organiser": "We"
}  # fmt: skip


@pytest.mark.parametrize(("wrong", "says"), WRONG)
def test_what_is_no_survey(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ArgumentError, match=says):
        collector.Survey.from_dict({**RIGHT, **wrong})


@pytest.mark.parametrize("survey", SURVEYS, ids=NAMES)
def test_a_survey_as_plain_data_and_back(survey: collector.Survey) -> None:
    assert collector.Survey.from_dict(survey.to_dict()) == survey
    menu = survey.mechanism.levels
    assert menu == (0.5, 1.0, 2.0)
    assert ep.local.Bit(levels=menu).levels == menu
    assert survey.mechanism.randomize(VALUES[survey.id], 1.0)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist"):
        collector.Service(tmp_path / "none.db")
    other = tmp_path / "other.db"
    other.write_text("no database", "utf-8")
    with pytest.raises(FileError, match="not the file"):
        collector.Service(other)
    with pytest.raises(FileError):
        collector.Survey.read(tmp_path / "none.toml")
    over = collector.Survey.from_dict({**RIGHT, "closes": "2020-01-01T00:00:00Z"})
    with pytest.raises(ArgumentError, match="in the past"):
        collector.create(tmp_path / "a.db", over)
    survey = collector.Survey.from_dict(RIGHT)
    collector.create(tmp_path / "a.db", survey)
    with pytest.raises(ArgumentError, match="taken"):
        collector.create(tmp_path / "a.db", survey)


@pytest.mark.parametrize("epsilon", [5.3, 8.0, 16.0])
def test_levels_that_hide_nothing_are_refused_for_new_surveys(
    tmp_path: Path, epsilon: float
) -> None:
    """A new survey refuses levels at which "100 of 100" people would send the truth."""
    levels = [{"name": "a", "epsilon": 1.0}, {"name": "none", "epsilon": epsilon}]
    survey = collector.Survey.from_dict({**RIGHT, "levels": levels})
    with pytest.raises(BudgetError, match=r"'none'.*at most 5\.29"):
        collector.create(tmp_path / "a.db", survey)
    assert not (tmp_path / "a.db").exists()
    levels[1]["epsilon"] = 5.29
    survey = collector.Survey.from_dict({**RIGHT, "levels": levels})
    assert [level.truly for level in survey.levels] == [73, 99]
    assert collector.create(tmp_path / "a.db", survey).key
