"""Tasks 18 to 21: several rows a person, secret participation, twelve months with a ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

import epsilons as ep
from epsilons.errors import LedgerError
from tests.tasks.people import readers, shell, workers, written

WAGE = {"values": "wage", "bounds": (0, 60), "data": workers()}


def test_18_several_rows_for_each_person(tmp_path: Path) -> None:
    release = ep.mean(person="nr", epsilon="consent", **WAGE)
    assert release.n == 545
    truth = workers().groupby("nr")["wage"].mean().mean()
    assert release.interval(0.9999)[0] < truth < release.interval(0.9999)[1]
    assert "each row counted as one person" in str(ep.mean(epsilon="consent", **WAGE))
    file = written(workers(), tmp_path)
    asked = "--value wage --bounds 0 60 --epsilon consent --person nr"
    assert "545 people" in shell("mean", file, *asked.split())


def test_19_who_takes_part_is_secret() -> None:
    asked = {"values": "age", "bounds": (15, 50), "epsilon": "consent", "data": readers()}
    release = ep.mean(**asked, neighbours="add-remove", levels=[0.1, 0.3, 1.0, 2.0])
    assert release.n_is_noisy or release.n is None
    low, high = release.interval(0.9999)
    assert low < readers()["age"].mean() < high
    assert release.verdict.worth != "useless"


def test_20_twelve_months_with_a_ledger(tmp_path: Path) -> None:
    with ep.Ledger.create(tmp_path / "wages.db") as ledger:
        people = workers().drop_duplicates("nr")
        ledger.enrol(people, person="nr", epsilon="consent")
        for month in range(1, 13):
            claim = ledger.claim(f"2026-{month:02}", share=1 / 12)
            ep.mean(person="nr", ledger=claim, **WAGE)
        first = int(people["nr"].iloc[0])
        account = ledger.account(first)
        assert len(account.lines) == 13
        assert account.spent <= account.budget
        ledger.enrol(person=[first], epsilon=[account.spent])
        assert ledger.account(first).left == 0.0
        ledger.withdraw(first)
        ledger.erase(first)
        assert ledger.check().holds
        with pytest.raises(LedgerError, match="erased"):
            ep.mean(person="nr", ledger=ledger.claim("2027-01", at_most=0.01), **WAGE)
        others = workers()[workers()["nr"] != first]
        claim = ledger.claim("2027-01", at_most=0.01)
        assert ep.mean(person="nr", ledger=claim, **{**WAGE, "data": others}).n == 544


def test_21_publish_again_and_correct_a_title(tmp_path: Path) -> None:
    with ep.Ledger.create(tmp_path / "wages.db") as ledger:
        ledger.enrol(workers().drop_duplicates("nr"), person="nr", epsilon="consent")

        def asked(title: str) -> ep.Release:
            claim = ledger.claim("wages", at_most=0.1)
            return ep.mean(person="nr", ledger=claim, title=title, **WAGE)

        first, again = asked("Wagse"), asked("Wages")
        assert again.value == first.value
        assert again.title == "Wages"
        assert len(ledger.history()) == 1
