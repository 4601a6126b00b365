"""After an error, the message is true of the ledger, and the advice that it gives works."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import epsilons as ep
from epsilons.draws import corridor
from epsilons.errors import (
    ArgumentError,
    BudgetError,
    ClaimError,
    EpsilonsError,
    LedgerError,
    StorageError,
)
from tests.ledger.test_audit import Tampered
from tests.ledger.test_protocol import claimed, enrolled
from tests.ledger.work import EPSILON, WHO, X, found, mean, run_doomed


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


@pytest.mark.rotates(4)
@pytest.mark.parametrize("step", LAST)
def test_what_could_not_be_stored_is_stored_when_it_is_asked_for_again(
    ledger: ep.Ledger, where: str, drawn: list[int], step: str
) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    Failing(ledger, step, 4)
    with pytest.raises(StorageError, match="ask again under the same name in this process") as told:
        found(ledger)
    assert "Everyone has paid what they offered" in str(told.value)
    assert told.value.__context__ is None
    draws = len(drawn)
    assert draws > 0
    ledger.check().require()
    if step != "after commit":
        assert [each.state for each in ledger.history()] == ["drawing"]
        assert ledger.account("p1").spent == 50.0
        with ep.Ledger(where) as other, pytest.raises(ClaimError, match="its process ended"):
            found(other)
    answer = found(ledger)
    assert len(drawn) == draws  # nothing was drawn again
    assert ledger.release("a")[0].to_json() == answer == found(ledger)
    assert ledger.account("p1").spent < 50.0
    assert [each.state for each in ledger.history()] == ["settled"]
    ledger.check().require()


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


def _stranger(ledger: ep.Ledger) -> None:
    ep.mean(X, bounds=(0, 1), person=["stranger", *WHO[1:]], ledger=ledger.claim("a", at_most=1))


def _column(ledger: ep.Ledger) -> None:
    data = pl.DataFrame({"who": WHO, "x": X})
    ep.mean("y", bounds=(0, 1), data=data, person="who", ledger=ledger.claim("a", at_most=1))


def _nobody(ledger: ep.Ledger) -> None:
    ep.mean(X, bounds=(0, 1), ledger=ledger.claim("a", at_most=1))


def _too_little(ledger: ep.Ledger) -> None:
    ep.mean(X, bounds=None, person=WHO, ledger=ledger.claim("a", at_most=0.01))


@pytest.mark.rotates(4)
@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (_stranger, LedgerError),
        (_column, EpsilonsError),
        (_nobody, ArgumentError),
        (_too_little, BudgetError),
    ],
)
def test_an_error_before_anything_was_drawn_lets_its_claim_go(
    ledger: ep.Ledger, wrong: Any, error: type[Exception]
) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    for _ in range(2):
        with pytest.raises(error):
            wrong(ledger)
        assert ledger.history() == ()
        ledger.check().require()
    assert set(ledger.budgets(share=1).levels.tolist()) == set(EPSILON)
    mean(ledger, "a", part=1.0)  # the name is free for another question
    mean_of_all = ledger.account("p0").spent
    assert 0 < mean_of_all <= 50
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


@pytest.mark.rotates(4)
def test_an_open_claim_is_named_in_the_releases_after_it(
    ledger: ep.Ledger, private: ep.Ledger
) -> None:
    for book, neighbours in ((ledger, "replace"), (private, "add-remove")):
        book.enrol(person=WHO, epsilon=EPSILON)
        alone = ep.mean(
            X,
            bounds=(0, 1),
            person=WHO,
            neighbours=neighbours,
            related=False,
            ledger=book.claim("before", at_most=1),
        )
        assert "held" not in alone.to_dict()["ledger"]
        assert "not yet drawn" not in str(alone)
        book.claim("large", share=1 if book is private else 0.5).open("question")
        after = ep.mean(
            X,
            bounds=(0, 1),
            person=WHO,
            neighbours=neighbours,
            related=False,
            ledger=book.claim("after", at_most=1),
        )
        assert after.ledger is not None
        named = "large (share=1)" if book is private else "large (share=1/2)"
        assert after.ledger.held == (named,)
        assert after.to_dict()["ledger"]["held"] == [named]
        assert f"held back what they may ask of everyone: {named}" in " ".join(after.warnings)
        assert ep.Release.from_json(after.to_json()).to_json() == after.to_json()
        assert named in " ".join(str(book.status()).split())
        assert "ledger.abandon(name)" in str(book.status())
        book.abandon("large")
        assert "ledger.abandon" not in str(book.status())


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


@pytest.mark.rotates(4)
def test_a_release_whose_process_was_killed_can_be_closed(ledger: ep.Ledger, where: str) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    assert run_doomed(where, "found", between=1) is None
    assert [each.state for each in ledger.history()] == ["drawing"]
    assert "a (share=1/2)" in str(ledger.status())
    with pytest.raises(ClaimError, match="wait, and ask again under the same name"):
        found(ledger)
    # An open release does not weaken the check. All of its rules still apply.
    tampered = Tampered(ledger)
    ledger.enrol(person=["p1"], epsilon=1.0)
    ledger.check().require()
    tampered.run("UPDATE accounts SET most = most + 1 WHERE number = 1")
    assert "beyond its budget" in str(ledger.check())
    tampered.run("UPDATE accounts SET most = most - 1 WHERE number = 1")
    ledger.abandon("a")
    assert [each.state for each in ledger.history()] == ["failed"]
    assert ledger.account("p1").spent == 50.0
    ledger.check().require()


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
