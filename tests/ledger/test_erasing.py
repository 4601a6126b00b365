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
