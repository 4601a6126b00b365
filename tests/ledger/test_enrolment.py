"""Enrolment: new accounts, raised and lowered budgets, people who withdraw."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path

import pytest

import epsilons as ep
from epsilons.errors import (
    LedgerError,
)
from tests.ledger.test_ledger import EPSILON, WHO, mean, units


def test_nobody_is_enrolled_twice_or_raised_without_consent(ledger: ep.Ledger) -> None:
    told = ledger.enrol(person=[1, 2, 2, "2", "02"], epsilon=[0.5, 1, 1, 1, 2])
    assert (told.people, told.new) == (3, 3)
    assert ledger.account(2).budget == ledger.account("2").budget == 1.0
    assert ledger.account("02").budget == 2.0
    with pytest.raises(LedgerError, match="consent="):
        ledger.enrol(person=[1, 2], epsilon=[0.4, 1.5])
    assert ledger.account(1).budget == 0.5
    told = ledger.enrol(person=[1, 2], epsilon=[0.4, 1.5], consent="letter of 3 May")
    assert (told.raised, told.lowered, told.new) == (1, 1, 0)
    lines = [line.what for line in ledger.account(2).lines]
    assert lines == ["enrolled", "raised: letter of 3 May"]
    assert ledger.account(1).lines[-1].what == "lowered"
    ledger.check().require()


def test_under_add_remove_a_raise_without_consent_is_passed_over(private: ep.Ledger) -> None:
    private.enrol(person=[1, 2], epsilon=[0.5, 0.5])
    told = private.enrol(person=[1, 3], epsilon=[1.0, 1.0])
    assert (told.new, told.raised, told.lowered) == (None, None, None)
    assert (private.account(1).budget, private.account(3).budget) == (0.5, 1.0)


def test_budgets_are_decimals_rounded_down(ledger: ep.Ledger) -> None:
    budgets = [0.1, 1e-9, 0.1234567899, 2.0**-30, math.inf, 0.0]
    ledger.enrol(person=list(range(6)), epsilon=budgets)
    found = [units(ledger, who)[0] for who in (0, 1, 2, 3, 5)]
    assert found == [10**8, 1, 123456789, 0, 0]
    assert ledger.account(4).budget == math.inf
    ledger.enrol(person=[7], epsilon=[Decimal("0.3")])
    assert units(ledger, 7)[0] == 3 * 10**8


def test_a_public_person_is_recorded_without_a_limit(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=[math.inf, *EPSILON[1:]])
    for number in range(3):
        mean(ledger, str(number), at_most=0.5)
    assert ledger.account("p0").left == math.inf
    assert 0 < ledger.account("p0").spent <= 1.5
    assert len(ledger.account("p0").lines) == 4
    mean(ledger, "share", share=1 / 2)
    ledger.check().require()


def test_whoever_withdraws_is_left_out(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    mean(ledger, "a", at_most=0.2)
    spent = ledger.account("p0").spent
    with pytest.raises(LedgerError, match="only people who withdrew"):
        ledger.erase("p0")
    ledger.withdraw("p0")
    assert (ledger.account("p0").left, ledger.account("p0").spent) == (0.0, spent)
    release = mean(ledger, "b", at_most=0.2)
    assert release.spent[0].epsilon == 0.0
    ledger.erase("p0")
    with pytest.raises(LedgerError, match="no such account"):
        ledger.account("p0")
    with pytest.raises(LedgerError, match="no such account"):
        ledger.withdraw("p0")
    with pytest.raises(LedgerError, match="have no account"):
        mean(ledger, "c", at_most=0.2)
    # People who come back get their old account, including its spending.
    with pytest.raises(LedgerError, match="consent"):
        ledger.enrol(person=["p0"], epsilon=[0.5])
    ledger.enrol(person=["p0"], epsilon=[0.5], consent="came back")
    assert ledger.account("p0").spent == spent
    ledger.check().require()


def test_under_add_remove_erasing_tells_nobody_who_is_a_member(private: ep.Ledger) -> None:
    private.enrol(person=WHO, epsilon=EPSILON)
    for who in ("p0", "stranger"):
        private.erase(who)
        assert private.account(who).budget == 0.0
    private.check().require()
    private.enrol(person=["p0"], epsilon=1.0)  # this would raise a budget without consent
    assert private.account("p0").left == 0.0


def test_a_file_is_its_owners_alone(tmp_path: Path) -> None:
    ep.Ledger.create(tmp_path / "ledger.db").close()
    assert (tmp_path / "ledger.db").stat().st_mode & 0o077 == 0
    with pytest.raises(LedgerError, match="cannot be created"):
        ep.Ledger.create(tmp_path / "nowhere" / "ledger.db")
