"""The audit since a head finds direct changes of what was written later, and reads only that."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, LedgerError
from tests.ledger.test_audit import TABLES, Tampered, some_row, tampered
from tests.ledger.test_protocol import claimed
from tests.ledger.work import EPSILON, WHO, X

__all__ = ["tampered"]

KEYS = {"ledger": 1, "accounts": 1, "releases": 1, "charges": 2, "changes": 2, "events": 1}
"""The number of key columns of each table."""

COLUMNS = {"accounts": "number, person, mark, budget, most, spent"}


def heads(ledger: ep.Ledger) -> list[str]:
    """Return the head after each event."""
    store = ledger._book.store
    with store.read():
        events = store.rows("SELECT number, hash FROM events ORDER BY number")
    return [ledger._book.head((number, hashed), fresh=True) for number, hashed in events]


def later(tampered: Tampered, place: int) -> bool:
    """Whether a row that was written after an event differs from what it was.

    This reads whole tables, and shares no code with the audit. Of an account, it asks only for what
    follows from events after this one.
    """
    store = tampered.store
    with store.read():
        was, now = (
            {
                table: {row[: KEYS[table]]: row for row in store.rows(sql.format(table))}
                for table, sql in (
                    (each, f"SELECT {COLUMNS.get(each, '*')} FROM {kept}{{}}") for each in TABLES
                )
            }
            for kept in ("kept_", "")
        )
    events = [row for row in was["events"].values() if row[0] > place]
    opened = [row[2] for row in was["events"].values() if row[1] == "opened" and row[0] <= place]
    releases = {row[2] for row in events if row[2] is not None}

    def is_later(table: str, key: tuple[int, ...]) -> bool:
        if table in ("releases", "charges"):
            return key[0] in releases or key[0] > max(opened, default=0)
        return table in ("events", "changes") and key[0] >= place + (table == "changes")

    for table in TABLES:
        for key in was[table].keys() | now[table].keys():
            if was[table].get(key) != now[table].get(key) and is_later(table, key):
                return True
    changed = {key[1] for key in was["changes"] if key[0] > place}
    paid = {
        number: sum(
            row[2] for row in was["charges"].values() if row[0] in releases and row[1] == number
        )
        for (number,) in was["accounts"]
    }
    for (number,), row in was["accounts"].items():
        found = now["accounts"].get((number,))
        if number not in changed and not paid[number]:
            continue
        if found is None or found[1:3] != row[1:3] or found[4] != max(found[3], found[5]):
            return True
        if found[5] < paid[number] or (number in changed and found[3] != row[3]):
            return True
    return False


def all_later_changes_are_found(tampered: Tampered, pick: random.Random, times: int) -> None:
    known, missed, found = heads(tampered.ledger), [], 0
    kinds = len(some_row(pick))
    for kind in [*range(kinds), *(pick.randrange(kinds) for _ in range(times - kinds))]:
        place = pick.randrange(1, len(known))
        statements = some_row(pick)[kind]
        tampered.run(*statements)
        if later(tampered, place):
            found += 1
            if tampered.ledger.check(since=known[place - 1]).holds:
                missed.append((place, statements))
        tampered.put_back()
    assert not missed
    assert found > times // 4
    assert tampered.ledger.check(since=known[0]).holds


def test_every_change_of_what_came_later_is_found(tampered: Tampered) -> None:
    all_later_changes_are_found(tampered, random.Random(19), 60)


@pytest.mark.slow
def test_all_of_many_changes_of_what_came_later_are_found(tampered: Tampered) -> None:
    all_later_changes_are_found(tampered, random.Random(20), 600)


def test_a_ledger_that_nobody_changed_holds_since_each_head(tampered: Tampered) -> None:
    ledger = tampered.ledger
    every = heads(ledger)
    for place, head in enumerate(every, start=1):
        found = ledger.check(since=head)
        found.require()
        assert (found.events, found.since) == (len(every) - place, head)
        assert "holds since the given head" in str(found)
        assert "before that head was not checked again" in str(found)
    assert found.to_dict()["since"] == every[-1]
    assert ledger.check().since is None


def test_under_add_remove_heads_are_found_by_their_key(private: ep.Ledger) -> None:
    private.enrol(person=WHO, epsilon=EPSILON)
    first = private.head
    release = ep.mean(
        X,
        bounds=(0, 1),
        person=WHO,
        neighbours="add-remove",
        related=False,
        ledger=private.claim("a", share=1 / 10),
    )
    private.withdraw("p1")
    assert release.ledger is not None
    for head in (*heads(private), first, release.ledger.head, private.head):
        found = private.check(since=head)
        found.require()
        assert found.events is None
        assert ": head " in str(found)
    tampered = Tampered(private)
    tampered.run("UPDATE charges SET amount = amount - 1 WHERE account = 1")
    assert not private.check(since=first).holds
    assert "An event (settled)" in str(private.check(since=first))
    assert private.check(since=release.ledger.head).holds
    tampered.put_back()
    tampered.run("UPDATE changes SET consent = 'x' WHERE consent = 'withdrawn'")
    assert not private.check(since=release.ledger.head).holds
    assert private.check(since=private.head).holds


MISSED = {
    "budget before the head": ("UPDATE accounts SET budget = budget + 9, most = most + 9",),
    "spending before the head": ("UPDATE accounts SET spent = spent - 9",),
    "charges before the head": ("UPDATE charges SET amount = amount - 9 WHERE release = 1",),
    "a release before the head": ("UPDATE releases SET question = 'x' WHERE number = 1",),
    "an event before the head": ("UPDATE events SET at = 'x' WHERE number = 2",),
    "an account that nobody enrolled": (
        "INSERT INTO accounts (number, person, mark, budget, most, spent) "
        "SELECT 1000, hash, hash, 5, 5, 0 FROM events WHERE number = 1",
    ),
    "changes before the head": ("UPDATE changes SET now = now + 9 WHERE event = 2",),
    "how the ledger was made": ("UPDATE ledger SET created = 'x'",),
}
"""Changes of what was written before a head, which only the audit of everything finds."""


@pytest.mark.always
@pytest.mark.parametrize("kind", MISSED)
def test_what_was_written_before_the_head_is_left_to_the_whole_audit(
    ledger: ep.Ledger, kind: str
) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    for name in ("first", "second"):
        ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim(name, share=1 / 10))
    head = ledger.head
    ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim("third", share=1 / 10))
    tampered = Tampered(ledger)
    tampered.run(*MISSED[kind])
    assert ledger.check(since=head).holds
    assert not ledger.check().holds
    with pytest.raises(LedgerError):
        ledger.check(head=head).require()


def test_people_who_were_enrolled_later_are_checked_completely(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    head = ledger.head
    ledger.enrol(person=["new", "newer"], epsilon=[50.0, 50.0])
    both = {"person": ["new", "newer"], "bounds": (0, 1)}
    ep.mean([0.25, 0.5], ledger=ledger.claim("a", share=1 / 10), **both)  # type: ignore[arg-type]
    ledger.check(since=head).require()
    tampered, new = Tampered(ledger), len(WHO) + 1
    for change in (
        f"UPDATE accounts SET spent = spent + 1 WHERE number = {new}",
        f"UPDATE accounts SET spent = spent - 1 WHERE number = {new}",
        f"UPDATE accounts SET budget = budget + 1, most = most + 1 WHERE number = {new}",
        f"DELETE FROM accounts WHERE number = {new}",
        "INSERT INTO accounts (number, person, mark, budget, most, spent) "
        "SELECT 1000, hash, hash, 5, 5, 0 FROM events WHERE number = 1",
    ):
        tampered.run(change)
        assert not ledger.check(since=head).holds, change
        tampered.put_back()


def test_a_release_may_not_charge_more_than_its_limit(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    head = ledger.head
    ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim("a", at_most=2))
    tampered = Tampered(ledger)
    tampered.run(
        "UPDATE charges SET amount = amount + 2000000000 WHERE account = 1",
        "UPDATE accounts SET spent = spent + 2000000000 WHERE number = 1",
    )
    tampered.chain_anew()
    for found in (ledger.check(), ledger.check(since=head)):
        assert found.problems == ("A release charged somebody more than its limit.",)


def test_releases_that_were_open_at_the_head(ledger: ep.Ledger) -> None:
    """Somebody is erased while a release is open, which charges them after the head."""
    ledger.enrol(person=WHO, epsilon=EPSILON)
    claim = claimed(ledger, "open", at_most=1)
    claimed(ledger, "given up", at_most=1)
    ledger.withdraw("p0")
    ledger.erase("p0")
    head = ledger.head

    def never() -> Any:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        claim.settle(None, never)
    ledger.abandon("given up")
    ledger.check(since=head).require()
    ledger.check().require()
    tampered = Tampered(ledger)
    for change, problem in (
        ("UPDATE accounts SET person = NULL WHERE number = 2", "without being erased"),
        ("UPDATE releases SET state = 'settled', result = question WHERE number = 1", "Event 8"),
        ("INSERT INTO charges (release, account, amount) VALUES (2, 3, 1)", "charged nobody"),
    ):
        tampered.run(change.replace("question", "(SELECT hash FROM events WHERE number = 1)"))
        assert problem in str(ledger.check(since=head))
        tampered.put_back()


def test_a_chain_without_the_head_is_not_replayed(tampered: Tampered) -> None:
    ledger = tampered.ledger
    head = heads(ledger)[5]
    tampered.run("UPDATE charges SET amount = amount - 5 WHERE release = 1 AND account = 1")
    tampered.chain_anew()
    for wrong in (head, "", "7", "x:y", "4:" + "0" * 64):
        found = ledger.check(since=wrong)
        assert [problem[:33] for problem in found.problems] == ["The chain does not contain the gi"]
        assert "rebuilt" in str(found)
    with pytest.raises(ArgumentError, match="exclude each other"):
        ledger.check(head, since=head)


def statements(ledger: ep.Ledger, since: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the plans of the statements that a check since a head runs, without their data."""
    store: Any = ledger._book.store
    asked: list[tuple[str, tuple[Any, ...]]] = []
    execute = store._execute

    def noted(sql: str, values: tuple[Any, ...]) -> Any:
        asked.append((sql, values))
        return execute(sql, values)

    with monkeypatch.context() as patch:
        patch.setattr(store, "_execute", noted)
        patch.setattr(store, "_stream", noted)
        ledger.check(since=since).require()
    explain = "EXPLAIN QUERY PLAN " if store.hexed.startswith("hex") else "EXPLAIN "
    with store.read():
        if explain == "EXPLAIN ":
            store.rows("SELECT set_config('enable_seqscan', 'off', true)")
        selected = [each for each in asked if each[0].startswith("SELECT")]
        return [
            " ".join(map(str, row))
            for sql, values in selected
            for row in store.rows(explain + sql, *values)
        ]


def with_late_release(place: str, people: int, releases: int) -> tuple[ep.Ledger, str]:
    """Return a ledger of many people with a few releases, and the head before one of ten people."""
    ledger = ep.Ledger.create(place)
    who = np.arange(people)
    ledger.enrol(person=who, epsilon=10.0)
    x = np.linspace(0, 1, people)
    for each in range(releases):
        ep.mean(x, bounds=(0, 1), person=who, ledger=ledger.claim(f"{each}", share=1 / 50))
    head = ledger.head
    ep.mean(x[:10], bounds=(0, 1), person=who[:10], ledger=ledger.claim("late", share=1 / 50))
    return ledger, head


def test_no_table_of_people_is_read_as_a_whole(
    place: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every statement finds its rows by a key. PostgreSQL plans without scans where it can."""
    ledger, head = with_late_release(place(), 500, 1)
    plans = statements(ledger, head, monkeypatch)
    assert any("accounts" in line and ("ndex" in line or "PRIMARY KEY" in line) for line in plans)
    for table in ("accounts", "charges", "changes"):
        assert not [line for line in plans if f"SCAN {table}" in line and "COVERING" not in line]
        assert not [line for line in plans if f"Seq Scan on {table}" in line]
    ledger.close()


@pytest.mark.slow
def test_time_depends_on_what_came_later(place: Callable[[], str]) -> None:
    ledger, head = with_late_release(place(), 10**5, 5)

    def seconds(run: Callable[[], Any]) -> float:
        start = time.process_time()
        run().require()
        return time.process_time() - start

    whole = min(seconds(ledger.check) for _ in range(3))
    late = min(seconds(lambda: ledger.check(since=head)) for _ in range(3))
    assert late < whole / 20
    ledger.close()
