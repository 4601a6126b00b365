"""Erased ids are no longer readable in the file. If a person comes back, an event records it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import epsilons as ep
from tests.ledger.test_audit import Tampered
from tests.ledger.work import EPSILON, WHO

SECRET = "a name that nobody else has"


def readable(path: Path) -> bool:
    return SECRET.encode() in path.read_bytes()


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_an_erased_id_is_nowhere_in_the_file(tmp_path: Path, neighbours: str) -> None:
    path = tmp_path / "ledger.db"
    with ep.Ledger.create(path, neighbours) as ledger:
        ledger.enrol(person=[SECRET, *WHO], epsilon=1.0)
        assert readable(path)
        ledger.withdraw(SECRET)
        ledger.erase(SECRET)
        assert not readable(path)
        ledger.check().require()


def left_readable(path: Path) -> None:
    """Make a ledger like those of older versions, in which erased ids are still readable."""
    many = [f"{number} is {SECRET}" for number in range(40)]
    with ep.Ledger.create(path) as ledger:
        ledger.enrol(person=[*WHO, *many], epsilon=1.0)
        (connection,) = ledger._book.store._idle
        connection.execute("PRAGMA secure_delete = OFF")
        for who in many:
            ledger.withdraw(who)
            ledger.erase(who)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 0")
    connection.close()
    assert readable(path)


def test_what_older_versions_left_is_overwritten_by_the_first_write(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    left_readable(path)
    with ep.Ledger(path) as ledger:
        head = ledger.head
        assert readable(path)  # reading does not change the file
        ledger.enrol(person=["new"], epsilon=1.0)
        assert not readable(path)
        ledger.check(head=head).require()
    changed = path.stat().st_mtime_ns
    with ep.Ledger(path) as ledger, ledger._book.store.write():
        pass
    assert path.stat().st_mtime_ns == changed  # a later write does not overwrite the file again


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE events (kind TEXT)")
        connection.execute("INSERT INTO events VALUES ('erased')")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(ep.errors.LedgerError, match="already exists"):
        ep.Ledger.create(path)
    with pytest.raises(ep.errors.LedgerError, match="holds no ledger"):
        ep.Ledger(path)
    assert path.read_bytes() == before


def test_an_id_that_is_written_back_from_outside_is_found(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    ledger.withdraw("p0")
    tampered = Tampered(ledger)
    ledger.erase("p0")
    head = ledger.head
    ledger.check(head=head).require()
    tampered.run(
        "UPDATE accounts SET person = (SELECT person FROM kept_accounts WHERE number = 1) "
        "WHERE number = 1"
    )
    assert "written back" in str(ledger.check())
    assert not ledger.check(head=head).holds


def test_a_return_is_written_down(ledger: ep.Ledger, private: ep.Ledger) -> None:
    for book in (ledger, private):
        book.enrol(person=WHO, epsilon=EPSILON)
        for _ in range(2):
            book.withdraw("p0")
            book.erase("p0")
            book.enrol(person=["p0"], epsilon=0.0)  # the budget stays 0
            book.check().require()
            assert book.account("p0").lines[-1].what == "came back"
        tampered = Tampered(book)
        tampered.run("UPDATE accounts SET person = NULL WHERE number = 1")
        assert "removed without being erased" in str(book.check())
        tampered.put_back()
        book.enrol(person=["p0"], epsilon=3.0, consent="a letter")
        assert book.account("p0").lines[-1].what == "raised: a letter"
        book.check().require()


def test_what_version_0_2_0_wrote_of_a_return_is_no_change_from_outside(
    ledger: ep.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit accepts how 0.2.0 recorded erasures.

    It wrote the reason "erased", and no event when a person came back.
    """
    from epsilons.ledger import enrolment

    write = enrolment._write

    def as_before(book, changes, consent, kind, marks=b""):  # type: ignore[no-untyped-def]
        if kind != "returned":
            write(book, changes, "erased" if kind == "erased" else consent, kind, marks)

    monkeypatch.setattr(enrolment, "_write", as_before)
    ledger.enrol(person=WHO, epsilon=EPSILON)
    for who in ("p0", "p1"):
        ledger.withdraw(who)
        ledger.erase(who)
    ledger.enrol(person=["p0"], epsilon=0.0)
    monkeypatch.undo()
    ledger.check().require()
    assert [line.what for line in ledger.account("p0").lines] == ["enrolled", "withdrawn", "erased"]
