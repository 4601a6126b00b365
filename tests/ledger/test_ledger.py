"""Accounts: enrolment, what people offer and are charged, and which calls are refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import (
    ArgumentError,
    ClaimError,
    LedgerError,
)

N = 60
WHO = [f"p{i}" for i in range(N)]
X = [(7 * i % 11) / 10 for i in range(N)]
EPSILON = [0.5, 1.0, 2.0] * (N // 3)
NANO = 10**9


def units(ledger: ep.Ledger, person: Any) -> tuple[int, int, int]:
    """Return a person's budget, spending and remaining budget, in nano-ε."""
    found = ledger.account(person)
    return tuple(round(each * NANO) for each in (found.budget, found.spent, found.left))  # type: ignore[return-value]


def mean(ledger: ep.Ledger, name: str, **claim: Any) -> ep.Release:
    return ep.mean(X, bounds=(0, 1), person=WHO, ledger=ledger.claim(name, **claim))


def test_what_is_left_is_the_budget_of_the_next_release(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    for number in range(2):
        mean(ledger, f"first {number}", at_most=0.2)
    release = mean(
        ledger,
        "last",
        at_most=5,
    )
    left = 0.5 - math.fsum(line.spent for line in ledger.account("p0").lines[:-1])
    assert release.spent[0].epsilon == pytest.approx(left, abs=1e-8)
    assert units(ledger, "p0")[1] <= 5 * 10**8


def test_another_question_under_a_name_is_refused(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    mean(ledger, "a", at_most=0.2)
    with pytest.raises(ClaimError, match="another question"):
        ep.mean(X, bounds=(0, 2), person=WHO, ledger=ledger.claim("a", at_most=0.2))
    with pytest.raises(ClaimError, match=r"at_most=0.2, not with share=1/2"):
        mean(ledger, "a", share=0.5)
    data = pl.DataFrame({"who": WHO, "x": X[::-1]})
    # Here, the column is given by name. In the first call, it is an array.
    with pytest.raises(ClaimError, match="another question"):
        ep.mean("x", bounds=(0, 1), data=data, person="who", ledger=ledger.claim("a", at_most=0.2))


def test_changed_data_are_no_other_question(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    first = mean(ledger, "a", at_most=0.2)
    again = ep.mean(X[::-1], bounds=(0, 1), person=WHO, ledger=ledger.claim("a", at_most=0.2))
    assert again.to_json() == first.to_json()


def test_titles_and_units_are_no_part_of_a_question(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    first = mean(ledger, "a", at_most=0.2)
    again = ep.mean(
        X, bounds=(0, 1), person=WHO, title="Wages", ledger=ledger.claim("a", at_most=0.2)
    )
    assert (again.title, again.value) == ("Wages", first.value)


CENTRAL: dict[str, Callable[[Any], Any]] = {
    "mean": lambda claim: ep.mean(X, bounds=(0, 1), person=WHO, ledger=claim),
    "frequencies": lambda claim: ep.frequencies(X, edges=[0, 0.5, 1.01], person=WHO, ledger=claim),
    "several": lambda claim: ep.publish(
        [ep.Mean(X, bounds=(0, 1)), ep.Frequencies(X, edges=[0, 0.5, 1.01])],
        person=WHO,
        ledger=claim,
    ),
    "unknown range": lambda claim: ep.mean(X, bounds=None, person=WHO, ledger=claim),
    "total": lambda claim: ep.total(X, bounds=(0, 1), person=WHO, ledger=claim),
    "count": lambda claim: ep.count(
        where=[each > 0.5 for each in X], neighbours="replace", person=WHO, ledger=claim
    ),
}


def test_a_ledger_is_made_once_and_where_it_is(where: str, tmp_path: Any) -> None:
    with pytest.raises(LedgerError):
        ep.Ledger(where)
    ep.Ledger.create(where).close()
    with pytest.raises(LedgerError):
        ep.Ledger.create(where)
    with pytest.raises(ArgumentError):
        ep.Ledger(7)  # type: ignore[arg-type]
    (tmp_path / "other.db").write_bytes(b"")
    with pytest.raises(LedgerError, match="holds no ledger"):
        ep.Ledger(tmp_path / "other.db")
