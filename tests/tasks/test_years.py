"""Tasks 18 to 21: several rows a person, secret participation, twelve months with a ledger."""

from __future__ import annotations

from pathlib import Path

import epsilons as ep
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
