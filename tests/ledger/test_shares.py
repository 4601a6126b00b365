"""Several questions with shares make one claim: everyone pays once for all questions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, ClaimError

NANO = 10**9
WHO = [f"p{k}" for k in range(300)]
EPSILON = np.array([1.63, 2.801, 0.899])[np.arange(300) % 3]
DATA = pl.DataFrame({"who": WHO, "x": np.linspace(0.0, 1.0, 300)})
QUESTIONS = [
    ep.Mean("x", bounds=(0, 1)),
    ep.Frequencies("x", edges=[0, 0.3, 1.01]),
    ep.Mean("x", bounds=(0, 2), method="proportional"),
]


def asked(ledger: ep.Ledger, name: str, **given: Any) -> ep.Releases:
    return ep.publish(
        QUESTIONS, data=DATA, person="who", ledger=ledger.claim(name, at_most=1.5), **given
    )


def paid(ledger: ep.Ledger, person: str) -> int:
    """Return a person's spending, in nano-ε."""
    return round(ledger.account(person).spent * NANO)


def test_other_shares_are_another_question(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    asked(ledger, "a", shares=[2, 3, 1])
    for given in ({}, {"shares": [3, 2, 1]}, {"targets": [0.5, None, None]}):
        with pytest.raises(ClaimError, match="another question"):
            asked(ledger, "a", **given)
    asked(ledger, "a", shares=[4, 6, 2])  # these numbers have the same ratios as before
    even = asked(ledger, "b")
    assert str(asked(ledger, "b", shares=[1, 1, 1])) == str(even)


def test_targets_that_cannot_be_met_cost_nothing(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    with pytest.raises(ArgumentError, match="cannot all be met"):
        asked(ledger, "a", targets=[1e-4, None, None])
    assert paid(ledger, "p0") == 0
    assert ledger.history() == ()
    ledger.check().require()


def test_private_people_pay_for_shares_too(private: ep.Ledger) -> None:
    private.enrol(person=WHO, epsilon=EPSILON)
    releases = ep.publish(
        QUESTIONS[:2],
        data=DATA,
        person="who",
        neighbours="add-remove",
        levels={0.5: 100, 1.5: 200},
        shares=[1, 4],
        ledger=private.claim("a", at_most=1.5),
    )
    verdict = ep.verify.exact(releases.mechanism)
    assert verdict.holds
    assert paid(private, "p0") == math.ceil(verdict.losses[-1] * NANO)
    assert paid(private, "p2") == math.ceil(verdict.losses[0] * NANO)
    private.check().require()
