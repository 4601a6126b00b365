"""After an error, the message is true of the ledger, and the advice that it gives works."""

from __future__ import annotations

from typing import Any

import pytest

import epsilons as ep
from epsilons.draws import corridor
from epsilons.errors import (
    ClaimError,
    LedgerError,
    StorageError,
)
from tests.ledger.test_audit import Tampered
from tests.ledger.test_protocol import claimed, enrolled
from tests.ledger.work import EPSILON, WHO, X, found, mean


class Failing:
    """Makes the database fail once, at one step of one transaction of a call."""

    def __init__(self, ledger: ep.Ledger, step: str, transaction: int) -> None:
        self.left, self.step = transaction, step
        self.store: Any = ledger._book.store
        self.store.watch = self

    def __call__(self, step: str) -> None:
        if step == "before begin":
            self.left -= 1
        if self.left == 0 and step == self.step:
            self.left = -1
            raise StorageError("The database of the ledger failed.")


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets an entry for every draw."""
    draws: list[int] = []
    following = corridor._Way._next

    def next_(way: Any, sent: Any) -> Any:
        if sent is not None:
            draws.append(1)
        return following(way, sent)

    monkeypatch.setattr(corridor._Way, "_next", next_)
    return draws


LAST = ["before begin", "before UPDATE accounts SET", "before commit", "after commit"]
"""Steps of the fourth transaction of a call. It stores a release that was drawn in stages."""


def test_what_could_not_be_stored_can_be_given_up(ledger: ep.Ledger, where: str) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    Failing(ledger, "before commit", 4)
    with pytest.raises(StorageError, match=r"ledger.abandon\('a'\) closes the release"):
        found(ledger)
    with ep.Ledger(where) as other:
        other.abandon("a")
        assert [each.state for each in other.history()] == ["failed"]
        assert other.account("p1").spent == 50.0
    with pytest.raises(ClaimError, match="failed after drawing had begun"):
        found(ledger)
    with pytest.raises(ClaimError, match="is failed: there is no answer"):
        ledger.release("a")
    ledger.check().require()


@pytest.mark.parametrize("step", ["before UPDATE accounts SET", "before commit", "after commit"])
def test_where_the_database_fails_before_the_first_draw_nothing_stays_paid(
    ledger: ep.Ledger, drawn: list[int], step: str
) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    Failing(ledger, step, 3)
    with pytest.raises(StorageError):
        found(ledger)
    assert not drawn
    answer = found(ledger)
    assert ledger.account("p1").spent < 50.0
    assert [(each.name, each.state) for each in ledger.history()] == [("a", "settled")]
    assert found(ledger) == answer
    ledger.check().require()


def test_a_failure_that_could_not_be_written_down_is_written_when_asked_again(
    ledger: ep.Ledger, where: str
) -> None:
    enrolled(ledger)
    claim = claimed(ledger, "a", at_most=0.5)

    def released() -> Any:
        Failing(ledger, "before begin", 1)  # the transaction that records the failure also fails
        raise RuntimeError

    with pytest.raises(StorageError):
        claim.settle(None, released)
    with pytest.raises(ClaimError, match="failed after drawing had begun"):
        ledger.claim("a", at_most=0.5).open("question")
    assert ledger.account("p0").spent == 0.5
    ledger.check().require()


def test_a_claim_that_was_open_before_stays_open(ledger: ep.Ledger, where: str) -> None:
    """A claim that was already open stays open, because another process may be about to draw."""
    ledger.enrol(person=WHO, epsilon=EPSILON)
    claim: Any = ledger.claim("a", at_most=1)
    claim.open("question")
    with ep.Ledger(where) as other:
        late: Any = other.claim("a", at_most=1)
        late.open("question")
        late.let_go()
    assert [each.state for each in ledger.history()] == ["open"]
    claim.let_go()
    assert ledger.history() == ()


def test_people_who_were_erased_are_not_to_be_enrolled(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    ledger.withdraw("p0")
    ledger.erase("p0")
    with pytest.raises(LedgerError, match=r"Of these, 1 withdrew and had their ids erased: leave"):
        mean(ledger)
    with pytest.raises(
        LedgerError, match=r"1 people of the data have no account in the ledger. En"
    ):
        ep.mean(X, bounds=(0, 1), person=["x", *WHO[1:]], ledger=ledger.claim("a", at_most=1))
    assert ledger.history() == ()


def test_what_version_0_2_0_left_of_a_killed_release_is_no_change_from_outside(
    ledger: ep.Ledger, where: str
) -> None:
    """The audit accepts the limits that 0.2.0 left if a budget was lowered during a release."""
    ledger.enrol(person=WHO, epsilon=EPSILON)
    claim: Any = ledger.claim("a", share=1 / 2)
    claim.open("question")
    claim.sheet(None, WHO)
    ledger.withdraw("p0")
    ledger.withdraw("p1")

    def killed() -> Any:
        raise SystemExit

    claim._fail = lambda _: None
    with pytest.raises(SystemExit):
        claim.settle(None, killed)
    tampered = Tampered(ledger)
    tampered.run("UPDATE accounts SET most = 50000000000 WHERE number = 1")
    ledger.check().require()
    tampered.run("UPDATE accounts SET most = most + 1 WHERE number = 3")
    assert "beyond its budget" in str(ledger.check())
