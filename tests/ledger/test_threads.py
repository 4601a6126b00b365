"""If threads or forked processes share a ledger, only the returned answers are charged."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

import epsilons as ep
from epsilons.draws.accounts import Settled
from epsilons.errors import ClaimError, LedgerError
from tests.ledger.test_protocol import claimed, taken
from tests.ledger.work import EPSILON as FEW, WHO, X, mean

NANO = 10**9
EPSILON = [1000 * each for each in FEW]


def ready(where: str) -> ep.Ledger:
    ledger = ep.Ledger.create(where)
    ledger.enrol(person=WHO, epsilon=EPSILON)
    return ledger


def test_a_refused_call_in_one_thread_leaves_the_charges_of_another(where: str) -> None:
    """A refused call and a closed ledger in one thread do not change the charges of another."""
    with ready(where) as ledger:
        release = ep.publish([ep.Mean(X, bounds=(0, 1))], epsilon=EPSILON)
        claim = claimed(ledger, "a", at_most=0.5)

        def released() -> Settled:
            def refused() -> None:
                with pytest.raises(ClaimError):
                    ledger.release("nothing")
                assert ledger.account("p0").spent == 0.0
                ledger.close()

            other = threading.Thread(target=refused)
            other.start()
            other.join()
            return Settled(release, taken(0.25))

        claim.settle(taken(0.25), released)
        assert ledger.account("p0").spent == 0.25
        ledger.check().require()


def test_a_claim_is_used_by_one_thread_at_a_time(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    claim = ledger.claim("a", at_most=0.5)
    claim.open("question")
    with pytest.raises(ClaimError, match=r"another thread is using this claim"):
        claim.open("question")
    claim.let_go()
    assert ledger.history() == ()
    # A claim can be used again after a use that failed, and after one that succeeded.
    first = ep.mean(X, bounds=(0, 1), person=WHO, ledger=claim)
    again = ep.mean(X, bounds=(0, 1), person=WHO, ledger=claim)
    assert again.to_json() == first.to_json()


def test_a_transaction_belongs_to_its_thread(ledger: ep.Ledger) -> None:
    store: Any = ledger._book.store
    with store.write():
        with pytest.raises(LedgerError, match="within another one"), store.read():
            pass
        told: list[BaseException] = []

        def elsewhere() -> None:
            try:
                store.rows("SELECT 1")
            except LedgerError as problem:
                told.append(problem)

        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
        assert "transaction of this thread" in str(told)
    ledger.check().require()


def test_a_process_forked_within_a_transaction_cannot_end_it(where: str) -> None:
    with ready(where) as ledger:
        store: Any = ledger._book.store
        with store.write():
            store.run("UPDATE accounts SET spent = 1 WHERE number = 1")
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    try:
                        store.rows("SELECT 1")
                    except LedgerError:
                        code = 0
                    store._give_up()
                    store.close()
                finally:
                    os._exit(code)
            assert os.waitpid(child, 0)[1] == 0
            # The parent's connection is still in its transaction.
            assert store.rows("SELECT spent FROM accounts WHERE number = 1") == [(1,)]
            store.run("UPDATE accounts SET spent = 0 WHERE number = 1")
        mean(ledger)
        ledger.check().require()


def test_connections_are_few(place: Callable[[], str]) -> None:
    """Finished threads leave no open connections."""
    with ready(place()) as ledger:
        for _ in range(3):
            workers = [threading.Thread(target=ledger.status) for _ in range(8)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        assert len(ledger._book.store._idle) <= 4
        ledger.close()
        assert not ledger._book.store._idle
        assert ledger.status().people == len(WHO)
