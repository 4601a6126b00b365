"""The audit detects every direct change of a ledger's database, in any row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import LedgerError
from epsilons.ledger import audit, store
from tests.ledger.test_protocol import claimed
from tests.ledger.work import EPSILON, WHO, X

TABLES = ("ledger", "accounts", "releases", "charges", "changes", "events")
N = len(WHO)


class Tampered:
    """A ledger whose database is changed directly, and can be restored afterwards."""

    def __init__(self, ledger: ep.Ledger) -> None:
        self.ledger = ledger
        self.store: Any = ledger._book.store
        with self.store.write():
            for table in TABLES:
                self.store.run(f"CREATE TABLE kept_{table} AS SELECT * FROM {table}")

    def put_back(self) -> None:
        with self.store.write():
            for table in TABLES:
                self.store.run(f"DELETE FROM {table}")
                self.store.run(f"INSERT INTO {table} SELECT * FROM kept_{table}")

    def run(self, *statements: str) -> None:
        with self.store.write():
            for sql in statements:
                assert self.store.run(sql) != 0, sql

    def chain_anew(self) -> None:
        """Recompute the hash chain, as an attacker with the database and the code can."""
        book, before = self.ledger._book, store.START
        with self.store.write():
            last: Any = dict(
                self.store.rows("SELECT release, max(number) FROM events GROUP BY release")
            )
            for number, kind, release, at in self.store.rows(
                "SELECT number, kind, release, at FROM events ORDER BY number"
            ):
                content = audit._done(book, number, kind, release, last)
                before = store.link(before, (number, kind, release, content, at))
                self.store.run(
                    "UPDATE events SET content = ?, hash = ? WHERE number = ?",
                    *(content, before, number),
                )


@pytest.fixture
def tampered(ledger: ep.Ledger) -> Tampered:
    """A ledger with events of every kind."""
    ledger.enrol(person=WHO, epsilon=EPSILON)
    ledger.enrol(person=["p1", "p3"], epsilon=[200.0, 20.0], consent="letter")
    for name in ("first", "second"):
        ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim(name, share=1 / 10))
    ep.mean(X, bounds=None, person=WHO, ledger=ledger.claim("range", share=1 / 2))
    failing = claimed(ledger, "failed", at_most=1)

    def never() -> Any:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        failing.settle(None, never)
    claimed(ledger, "given up", at_most=1)
    ledger.abandon("given up")
    for who in ("p5", "p7"):
        ledger.withdraw(who)
        ledger.erase(who)
    ledger.enrol(person=["p7"], epsilon=EPSILON[7], consent="came back")
    given_back: Any = ledger.claim("let go", at_most=1)
    given_back.open("question")
    given_back.let_go()
    return Tampered(ledger)


def test_a_chain_that_was_made_anew_does_not_hold_the_heads_of_releases(
    tampered: Tampered,
) -> None:
    ledger = tampered.ledger
    heads = [each.head for each in ledger.history()]
    assert all(ledger.check(head=head).holds for head in heads)
    tampered.run(
        "UPDATE charges SET amount = amount - 5 WHERE release = 1 AND account = 1",
        "UPDATE accounts SET spent = spent - 5 WHERE number = 1",
    )
    tampered.chain_anew()
    assert ledger.check().holds  # without the hash of an earlier state, the change is not detected
    for head in heads:
        found = ledger.check(head=head)
        assert not found.holds
        with pytest.raises(LedgerError, match="rebuilt"):
            found.require()


def test_a_tail_that_was_removed_is_found_by_a_head(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    first = ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim("first", share=1 / 10))
    assert first.ledger is not None
    tampered = Tampered(ledger)
    second = ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim("second", share=1 / 10))
    assert second.ledger is not None
    assert ledger.check(head=second.ledger.head).holds
    tampered.put_back()  # restore the database, as from a backup
    assert ledger.check().holds
    assert ledger.check(head=first.ledger.head).holds
    assert not ledger.check(head=second.ledger.head).holds
    for wrong in ("", "7", "x:y", "4:" + "0" * 64):
        assert not ledger.check(head=wrong).holds


def test_under_add_remove_the_chain_tells_nobody_who_is_a_member(
    ledger: ep.Ledger, private: ep.Ledger
) -> None:
    """Under add/remove, hashes are salted.

    Without a salt, anyone could test a guess of who was charged what.
    """
    for book, neighbours in ((ledger, "replace"), (private, "add-remove")):
        book.enrol(person=WHO, epsilon=EPSILON)
        ep.mean(
            X,
            bounds=(0, 1),
            person=WHO,
            neighbours=neighbours,
            related=False,
            ledger=book.claim("a", share=1 / 10),
        )
        inside: Any = book._book
        with inside.store.read():
            row = inside.store.rows(
                "SELECT name, question, state, at_most, part, whole, result, opened, closed "
                "FROM releases"
            )[0]
            content = bytes(
                inside.store.rows("SELECT content FROM events WHERE kind = 'settled'")[0][0]
            )
            guessed = store.release_digest(b"", row, inside.charges(1))
        assert (guessed == content) == (neighbours == "replace")
        book.check().require()


def test_an_export_holds_every_table_but_no_secret(ledger: ep.Ledger, tmp_path: Path) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim("a", share=1 / 10))
    paths = ledger.export(tmp_path / "out")
    assert sorted(path.stem for path in paths) == sorted(set(TABLES) - {"ledger"})
    charges = pl.read_parquet(tmp_path / "out" / "charges.parquet")
    accounts = pl.read_parquet(tmp_path / "out" / "accounts.parquet")
    assert charges["amount"].sum() == accounts["spent"].sum() > 0
    assert accounts["person"].to_list()[0] == b"s:p0"
    secret = ledger._book.secret
    assert not any(secret in path.read_bytes() for path in paths)
    (tmp_path / "file").write_text("")
    with pytest.raises(ep.errors.FileError):
        ledger.export(tmp_path / "file")


def test_a_result_of_the_same_length_is_noticed(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim("a", share=1 / 10))
    tampered = Tampered(ledger)
    with tampered.store.write():
        ((result,),) = tampered.store.rows("SELECT result FROM releases")
        tampered.store.run("UPDATE releases SET result = ?", result[::-1])
    assert not ledger.check().holds


def test_a_release_may_not_charge_more_than_its_limit(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim("a", at_most=2))
    tampered = Tampered(ledger)
    tampered.run(
        "UPDATE charges SET amount = amount + 2000000000 WHERE account = 1",
        "UPDATE accounts SET spent = spent + 2000000000 WHERE number = 1",
    )
    tampered.chain_anew()
    assert ledger.check().problems == ("A release charged somebody more than its limit.",)


def test_releases_that_failed_after_somebody_was_erased(ledger: ep.Ledger) -> None:
    """Somebody is erased while a release is open, which charges them afterwards."""
    ledger.enrol(person=WHO, epsilon=EPSILON)
    claim = claimed(ledger, "open", at_most=1)
    claimed(ledger, "given up", at_most=1)
    ledger.withdraw("p0")
    ledger.erase("p0")

    def never() -> Any:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        claim.settle(None, never)
    ledger.abandon("given up")
    ledger.check().require()
    tampered = Tampered(ledger)
    for change, problem in (
        ("UPDATE accounts SET person = NULL WHERE number = 2", "without being erased"),
        ("UPDATE accounts SET number = 1000 WHERE number = 3", "nobody enrolled"),
        ("UPDATE releases SET state = 'settled', result = question WHERE number = 1", "Event 8"),
        ("INSERT INTO charges (release, account, amount) VALUES (2, 3, 1)", "charged nobody"),
    ):
        tampered.run(change.replace("question", "(SELECT hash FROM events WHERE number = 1)"))
        assert problem in str(ledger.check())
        tampered.put_back()
