"""The protocol: concurrent claims, failures, and budgets that change before the settlement."""

from __future__ import annotations

import resource
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.accounts import Charge, Settled
from epsilons.errors import ClaimError, LedgerError, PrivacyError, StorageError
from epsilons.ledger import sqlite
from tests.ledger.work import EPSILON, WHO, X, mean, run_crowd

NANO = 10**9
RULE = "proportional"


def claimed(ledger: ep.Ledger, name: str, **rule: Any) -> Any:
    """Return an open claim that has read its sheet of offers."""
    claim = ledger.claim(name, **rule)
    assert claim.open("question") is None
    claim.sheet(None, WHO)
    return claim


def enrolled(ledger: ep.Ledger, epsilon: float = 1.0) -> ep.Ledger:
    ledger.enrol(person=WHO, epsilon=epsilon)
    return ledger


def taken(part: float) -> Charge:
    """Return a charge of `part` for everyone who offers more than 0."""
    from fractions import Fraction

    return Charge(np.array([0.001]), (Fraction(part).limit_denominator(10**6),))


@pytest.fixture
def release(tmp_path: Path) -> ep.Releases:
    return ep.publish([ep.Mean(X, bounds=(0, 1))], epsilon=EPSILON)


def test_earlier_open_claims_are_held_back_and_later_ones_are_not(ledger: ep.Ledger) -> None:
    enrolled(ledger)
    first = claimed(ledger, "first", at_most=0.7)
    second = claimed(ledger, "second", at_most=0.7)
    offered = [set(claim._offered.tolist()) for claim in (first, second)]
    assert offered == [{7 * 10**8}, {3 * 10**8}]
    with pytest.raises(LedgerError, match="earlier releases that are still open"):
        claimed(ledger, "third", at_most=0.7)


def test_two_large_claims_do_not_starve_each_other(ledger: ep.Ledger, release: Any) -> None:
    enrolled(ledger)
    first = claimed(ledger, "first", at_most=1.0)
    with pytest.raises(LedgerError, match="nobody in the data has anything left"):
        claimed(ledger, "second", at_most=1.0)
    first.settle(taken(0.25), lambda: Settled(release, taken(0.25)))
    second = ledger.claim("second", at_most=1.0)
    second.open("question")
    second.sheet(None, WHO)
    assert set(second._offered.tolist()) == {75 * 10**7}


@pytest.mark.parametrize("database", ["postgres"])  # SQLite does not write while someone reads
def test_what_is_read_is_of_one_moment(ledger: ep.Ledger, where: str) -> None:
    enrolled(ledger)
    store, people = ledger._book.store, "SELECT count(*) FROM accounts"
    with ep.Ledger(where) as other:
        with store.read():
            before = store.rows(people)
            other.enrol(person=["late"], epsilon=1.0)
            assert store.rows(people) == before
        with store.read():
            assert store.rows(people) == [(before[0][0] + 1,)]


def test_any_order_of_settling_overdraws_nobody(ledger: ep.Ledger, release: Any) -> None:
    enrolled(ledger)
    claims = [claimed(ledger, str(number), at_most=0.3) for number in range(3)]
    for claim in (claims[2], claims[0], claims[1]):
        claim.settle(taken(0.3), lambda: Settled(release, taken(0.3)))
    assert ledger.account("p0").spent == 0.9
    ledger.check().require()


def test_abandoning_gives_back_what_was_held(ledger: ep.Ledger) -> None:
    enrolled(ledger)
    claimed(ledger, "first", at_most=0.7)
    assert ledger.budgets(at_most=1).levels.tolist() == [pytest.approx(0.3)]
    ledger.abandon("first")
    assert ledger.budgets(at_most=1).levels.tolist() == [1.0]
    with pytest.raises(ClaimError, match="was abandoned"):
        ledger.claim("first", at_most=0.7).open("question")
    for name in ("first", "never"):
        with pytest.raises(ClaimError, match="nothing to abandon"):
            ledger.abandon(name)
    ledger.check().require()


def test_a_claim_that_was_abandoned_meanwhile_draws_nothing(
    ledger: ep.Ledger, where: str, release: Any
) -> None:
    enrolled(ledger)
    claim = claimed(ledger, "a", at_most=0.5)
    with ep.Ledger(where) as other:
        other.abandon("a")
    drawn: list[int] = []

    def released() -> Settled:
        drawn.append(1)
        return Settled(release, taken(0.5))

    for charge in (taken(0.5), None):
        with pytest.raises(ClaimError, match="abandoned"):
            claim.settle(charge, released)
    assert not drawn
    assert ledger.account("p0").spent == 0.0


def test_two_processes_of_one_release_draw_once(
    ledger: ep.Ledger, where: str, release: Any
) -> None:
    enrolled(ledger)
    first = claimed(ledger, "a", at_most=0.5)
    with ep.Ledger(where) as other:
        second = claimed(other, "a", at_most=0.5)
        kept = first.settle(taken(0.5), lambda: Settled(release, taken(0.5))).releases

        def never() -> Settled:
            raise AssertionError("drawn twice")

        again = second.settle(taken(0.5), never).releases
    assert again[0].to_json() == kept[0].to_json()
    assert ledger.account("p0").spent == 0.5


def test_a_charge_of_another_mechanism_is_refused(ledger: ep.Ledger, release: Any) -> None:
    enrolled(ledger)
    claim = claimed(ledger, "a", at_most=0.5)
    with pytest.raises(PrivacyError, match="another mechanism"):
        claim.settle(taken(0.25), lambda: Settled(release, taken(0.5)))
    other = claimed(ledger, "b", at_most=0.25)
    with pytest.raises(PrivacyError, match="more than was offered"):
        other.settle(taken(0.5), lambda: Settled(release, taken(0.5)))
    assert ledger.account("p0").spent == 0.5  # a failed release costs everything that was offered


def test_lowering_counts_from_the_next_sheet_on(ledger: ep.Ledger, release: Any) -> None:
    enrolled(ledger)
    claim = claimed(ledger, "a", at_most=0.5)
    ledger.withdraw("p0")
    ledger.check().require()
    assert ledger.account("p0").left == 0.0
    later = claimed(ledger, "b", at_most=0.5)
    assert later._offered[0] == 0
    claim.settle(taken(0.375), lambda: Settled(release, taken(0.375)))
    ledger.check().require()
    later.settle(taken(0.5), lambda: Settled(release, taken(0.5)))
    assert (ledger.account("p0").spent, ledger.account("p0").left) == (0.375, 0.0)
    assert ledger.account("p1").spent == 0.875
    ledger.check().require()


def test_whoever_withdraws_while_it_is_drawn_keeps_what_comes_back(
    ledger: ep.Ledger, release: Any, where: str
) -> None:
    enrolled(ledger)
    claim = claimed(ledger, "a", at_most=0.5)

    def released() -> Settled:
        with ep.Ledger(where) as other:
            other.withdraw("p0")
            assert other.account("p0").spent == 0.5  # the whole offer is charged before the draw
        return Settled(release, taken(0.25))

    claim.settle(None, released)
    assert (ledger.account("p0").spent, ledger.account("p0").left) == (0.25, 0.0)
    assert ledger.account("p1").left == 0.75
    ledger.check().require()


@pytest.mark.parametrize("processes", [2, 4, 8])
def test_releases_at_once_overdraw_nobody(place: Callable[[], str], processes: int) -> None:
    where = place()
    with ep.Ledger.create(where) as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
    told = run_crowd(where, processes, 3)
    released = sum(each == "released" for results in told for each in results)
    refused = {each for results in told for each in results if each != "released"}
    assert released >= 3  # in any order, at least three releases succeed
    # A release is refused only if the accounts are empty.
    assert all("anything left" in each or "0 for everyone" in each for each in refused)
    with ep.Ledger(where) as ledger:
        ledger.check().require()
        assert sum(each.state == "settled" for each in ledger.history()) == released
        for who, budget in zip(WHO, EPSILON, strict=True):
            assert ledger.account(who).spent <= budget


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time that a write waits for a lock."""
    monkeypatch.setattr(sqlite, "PATIENCE", 0.2)


def test_a_locked_database(tmp_path: Path, hurried: None) -> None:
    path = tmp_path / "ledger.db"
    with ep.Ledger.create(path) as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        lock = sqlite3.connect(path, isolation_level=None)
        lock.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="ask again under the same name") as told:
            mean(ledger)
        assert told.value.__cause__ is None
        assert told.value.__context__ is None
        lock.execute("ROLLBACK")
        lock.close()
        mean(ledger)
        assert [each.state for each in ledger.history()] == ["settled"]
        ledger.check().require()


def until_refused(ledger: ep.Ledger) -> tuple[str, float]:
    """Make releases until the database is full.

    Return the name that was refused, and what p0 has spent.
    """
    for number in range(30):
        spent = ledger.account("p0").spent
        try:
            mean(ledger, str(number), part=1 / 40)
        except StorageError:
            return str(number), spent
    raise AssertionError("never full")


def afterwards(path: Path, name: str, spent: float) -> None:
    """Check that no charge is incomplete. When there is space again, a retry succeeds."""
    with ep.Ledger(path) as ledger:
        ledger.check().require()
        assert ledger.account("p0").spent == spent
        first = mean(ledger, name, part=1 / 40)
        assert mean(ledger, name, part=1 / 40) == first
        assert {each.state for each in ledger.history()} == {"settled"}
        ledger.check().require()


@pytest.mark.parametrize("pages", range(4))
def test_a_full_disk(tmp_path: Path, pages: int) -> None:
    path = tmp_path / "ledger.db"
    with ep.Ledger.create(path) as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        (connection,) = ledger._book.store._idle
        used = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {used + pages}")
        told = until_refused(ledger)
    afterwards(path, *told)


def test_a_file_that_may_not_grow(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with ep.Ledger.create(path) as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limits[1]))
            told = until_refused(ledger)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, ignored)
    afterwards(path, *told)


@pytest.fixture
def on_postgres(place: Callable[[], str]) -> Iterator[ep.Ledger]:
    """A ledger on a server, for tests of connections."""
    with ep.Ledger.create(place()) as ledger:
        ledger.enrol(person=WHO, epsilon=EPSILON)
        yield ledger


def lost(ledger: ep.Ledger) -> None:
    """Terminate all sessions of a ledger on the server."""
    import psycopg

    store: Any = ledger._book.store
    used = getattr(store._own, "connection", None)
    sessions = [each.info.backend_pid for each in (*store._idle, used) if each is not None]
    with psycopg.connect(store._address, autocommit=True) as other:
        for session in sessions:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", (session,))


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_a_connection_that_is_lost_while_it_is_drawn(on_postgres: ep.Ledger, release: Any) -> None:
    ledger = on_postgres
    claim = claimed(ledger, "a", at_most=0.5)

    def released() -> Settled:
        lost(ledger)
        return Settled(release, taken(0.25))

    with pytest.raises(StorageError, match="Nothing was released"):
        claim.settle(taken(0.25), released)
    # The next transaction opens a new connection.
    assert ledger.account("p0").spent == 0.0
    assert [each.state for each in ledger.history()] == ["open"]
    ledger.check().require()


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_connections_that_are_lost_between_transactions_are_replaced(
    on_postgres: ep.Ledger, release: Any
) -> None:
    ledger = on_postgres
    claim = claimed(ledger, "a", at_most=0.5)

    def released() -> Settled:
        lost(ledger)
        return Settled(release, taken(0.25))

    claim.settle(None, released)
    assert ledger.account("p0").spent == 0.25
    lost(ledger)
    ledger.check().require()


def test_an_account_is_never_overdrawn_even_by_a_sheet_that_is_wrong(
    ledger: ep.Ledger, release: Any
) -> None:
    enrolled(ledger)
    claim = claimed(ledger, "a", at_most=0.5)
    claim._offered = claim._offered * 4
    claim._budgets = claim._budgets * 4
    drawn: list[int] = []

    def released() -> Settled:
        drawn.append(1)
        return Settled(release, taken(1.5))

    with pytest.raises(PrivacyError, match="overdrawn"):
        claim.settle(taken(1.5), released)
    assert not drawn
    assert ledger.account("p0").spent == 0.0


def test_a_retry_of_the_first_is_not_starved_by_later_ones(ledger: ep.Ledger) -> None:
    enrolled(ledger)
    claimed(ledger, "first", at_most=0.7)
    claimed(ledger, "second", at_most=0.7)
    again = claimed(ledger, "first", at_most=0.7)
    assert set(again._offered.tolist()) == {7 * 10**8}
