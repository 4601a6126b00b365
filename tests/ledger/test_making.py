"""Ledgers are created exactly once, even if interrupted; invalid names and ids are refused."""

from __future__ import annotations

import math
import secrets
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, ClaimError, ColumnError, LedgerError
from tests.ledger.test_ledger import EPSILON, WHO, X, mean


def usable(where: str) -> None:
    """Check that an interrupted creation left a ledger, or that the error says how to create it."""
    try:
        ledger = ep.Ledger(where)
    except LedgerError as error:
        assert "ep.Ledger.create(" in str(error)  # noqa: PT017
        ledger = ep.Ledger.create(where)
    with ledger:
        ledger.enrol(person=[1], epsilon=1.0)
        ledger.check().require()
    with pytest.raises(LedgerError, match="already"):
        ep.Ledger.create(where)


def test_an_empty_file_becomes_a_ledger_of_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"")
    path.chmod(0o644)
    usable(str(path))
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database at all, and longer than the head of one: " * 20)
    before = path.read_bytes()
    for use in (ep.Ledger, ep.Ledger.create):
        with pytest.raises(LedgerError, match="is a file of another kind"):
            use(path)
    assert path.read_bytes() == before


def test_blanks_around_a_name_do_not_count(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    first = mean(ledger, "jan ", at_most=0.1)
    assert first.ledger is not None
    assert first.ledger.name == "jan"
    for name in ("jan", " jan", "jan  "):
        assert mean(ledger, name, at_most=0.1).to_json() == first.to_json()
        assert ledger.release(name)[0].to_json() == first.to_json()
    ledger.claim(" open", at_most=0.1).open("question")
    ledger.abandon("open ")
    assert [each.name for each in ledger.history()] == ["jan", "open"]
    with pytest.raises(ClaimError, match="was abandoned"):
        ledger.claim("open", at_most=0.1).open("question")


def test_names_that_differ_in_blanks_stay_two_where_they_were(ledger: ep.Ledger) -> None:
    """In a ledger of version 0.2.0, two names that differ only in spaces are still two releases."""
    ledger.enrol(person=WHO, epsilon=EPSILON)
    answers = {name: mean(ledger, name, at_most=0.1).value for name in ("jan", "feb", "march")}
    store: Any = ledger._book.store
    with store.write():
        store.run("UPDATE releases SET name = 'jan ' WHERE name = 'feb'")
        store.run("UPDATE releases SET name = ' march' WHERE name = 'march'")
    assert mean(ledger, "jan", at_most=0.1).value == answers["jan"]
    assert mean(ledger, " jan", at_most=0.1).value == answers["jan"]
    assert mean(ledger, "jan ", at_most=0.1).value == answers["feb"]
    assert mean(ledger, "march", at_most=0.1).value == answers["march"]


def test_a_raise_is_no_withdrawal_whatever_its_reason(ledger: ep.Ledger) -> None:
    ledger.enrol(person=[1, 2], epsilon=[1.0, 1.0])
    for reason in ("withdrawn", "erased"):
        ledger.enrol(person=[1], epsilon=[ledger.account(1).budget + 1], consent=reason)
        assert ledger.account(1).lines[-1].what == f"raised: {reason}"
    ledger.enrol(person=[3], epsilon=[1.0], consent="withdrawn")
    assert ledger.account(3).lines[-1].what == "enrolled"
    ledger.enrol(person=[2], epsilon=[0.5], consent="erased")
    assert ledger.account(2).lines[-1].what == "lowered"
    ledger.withdraw(2)
    assert ledger.account(2).lines[-1].what == "withdrawn"


@pytest.mark.parametrize("consent", ["a\0b", "half \ud800", "", " ", 7])
def test_reasons_that_no_database_stores_are_refused(ledger: ep.Ledger, consent: Any) -> None:
    with pytest.raises(ArgumentError, match="consent must say in words"):
        ledger.enrol(person=[1], epsilon=[1.0], consent=consent)
    assert ledger.status().people == 0
    ledger.enrol(person=[1], epsilon=[1.0], consent="wörtlich\nund 😀")


def test_an_id_that_is_no_text_is_named_so(ledger: ep.Ledger) -> None:
    for call in (ledger.withdraw, ledger.erase, ledger.account):
        with pytest.raises(ColumnError, match="is not valid text"):
            call("half \ud800")


def test_very_long_ids(ledger: ep.Ledger, database: str) -> None:
    """SQLite accepts very long ids. PostgreSQL refuses them, because it cannot index them."""
    long = [secrets.token_hex(5000), secrets.token_hex(5000)]
    if database == "sqlite":
        ledger.enrol(person=long, epsilon=1.0)
        assert ledger.account(long[1]).budget == 1.0
        return
    with pytest.raises(ColumnError, match="an id is too long for PostgreSQL") as told:
        ledger.enrol(person=[1, *long], epsilon=1.0)
    assert long[0][:20] not in str(told.value)
    assert told.value.__context__ is None
    assert ledger.status().people == 0
    ledger.enrol(person=["x" * 2000, 1], epsilon=1.0)
    with pytest.raises(LedgerError, match="2 people of the data have no account"):
        ep.mean([0, 1], bounds=(0, 1), person=long, ledger=ledger.claim("a", at_most=1))
    ledger.check().require()


def test_under_add_remove_no_row_of_an_enrolment_is_refused(
    private: ep.Ledger, tmp_path: Path
) -> None:
    """Under add/remove, invalid rows are ignored. A refusal would depend on one person's rows."""
    who = ["a", "b", "b", None, "c", "d", "e"]
    epsilon = [1.0, 2.0, 0.5, 1.0, -1.0, math.nan, None]
    told = private.enrol(person=who, epsilon=epsilon)
    assert str(told) == "Enrolled."
    frame = pl.DataFrame({"who": who, "e": epsilon}).with_columns(
        ("in " + pl.col("who")).alias("who")
    )
    private.enrol(frame, person="who", epsilon="e")
    for start in ("", "in "):
        budgets = {each: private.account(start + each).budget for each in "abcde"}
        assert budgets == {"a": 1.0, "b": 0.5, "c": 0.0, "d": 0.0, "e": 0.0}
    private.enrol(person=["f", 1.5, None, secrets.token_hex(5000)], epsilon=1.0)
    assert private.account("f").budget == 1.0
    whole = pl.DataFrame({"who": ["g", "h", "h"], "e": [3, 2, 1]})
    private.enrol(whole, person="who", epsilon="e")
    private.enrol(whole.cast({"e": pl.Decimal(10, 2)}), person="who", epsilon="e")
    assert [private.account(each).budget for each in "gh"] == [3.0, 1.0]
    with pytest.raises(ColumnError):
        private.enrol(whole, person="nobody", epsilon="e")
    # The column types of a frame may be inferred from data. Those of a Parquet file are declared.
    spelt = pl.DataFrame({"who": ["i", "j", "j", "k"], "e": ["3", "2", " 1.0 ", "n.a."]})
    private.enrol(spelt, person="who", epsilon="e")
    assert [private.account(each).budget for each in "ijk"] == [3.0, 1.0, 0.0]
    spelt.write_parquet(tmp_path / "spelt.parquet")
    with pytest.raises(ColumnError, match="a column of numbers"):
        private.enrol(tmp_path / "spelt.parquet", person="who", epsilon="e")
    private.check().require()


def test_a_release_says_from_which_data_it_was_drawn(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    asked = {"bounds": (0, 1), "person": "who"}
    first = ep.mean(
        "x",
        data=pl.DataFrame({"who": WHO, "x": X}),
        ledger=ledger.claim("a", at_most=0.2),
        **asked,  # type: ignore[arg-type]
    )
    again = ep.mean(
        "x",
        data=pl.DataFrame({"who": WHO, "x": X[::-1]}),
        ledger=ledger.claim("a", at_most=0.2),
        **asked,  # type: ignore[arg-type]
    )
    assert again.to_json() == first.to_json()
    assert first.ledger is not None
    (past,) = ledger.history()
    assert first.ledger.drawn == past.closed
    said = " ".join(again.details().split())
    assert 'from the column "x", charged to a ledger as "a"' in said
    assert f"Drawn at {past.closed} from the data that were given then" in said
    assert "whichever data are given with it later" in said


def test_a_stored_release_is_there_without_its_question(ledger: ep.Ledger) -> None:
    ledger.enrol(person=WHO, epsilon=EPSILON)
    first = mean(ledger, "a", at_most=0.2)
    both = ep.publish(
        [ep.Mean(X, bounds=(0, 1)), ep.Frequencies(X, edges=[0, 0.5, 1.01])],
        person=WHO,
        ledger=ledger.claim("both", at_most=0.2),
    )
    store: Any = ledger._book.store
    with store.write():  # a hash that no question of this version has
        store.run("UPDATE releases SET question = 'of another time'")
    with pytest.raises(ClaimError, match="another question"):
        mean(ledger, "a", at_most=0.2)
    (kept,) = ledger.release("a")
    assert kept.to_json() == first.to_json()
    assert ledger.release("both").to_json() == both.to_json()
    for name, why in {"never": "is not in the ledger", "open": "is open"}.items():
        if name == "open":
            ledger.claim("open", at_most=0.1).open("question")
        with pytest.raises(ClaimError, match=why):
            ledger.release(name)
    with pytest.raises(ArgumentError, match="name"):
        ledger.release("two\nlines")
