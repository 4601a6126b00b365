"""Accounts are found even if ids or budgets have another type in the next table."""

from __future__ import annotations

import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons.ledger.book import FEW

NUMBERS = "who,v,e\n1,3,1\n2,4,1\n3,5,1\n9007199254740993,5,1\n"
READERS: dict[str, Callable[[str], Any]] = {
    "pandas": lambda text: pd.read_csv(io.StringIO(text)),
    "pandas before 3": lambda text: pd.read_csv(io.StringIO(text)).astype({"who": object}),
    "polars": lambda text: pl.read_csv(io.StringIO(text)),
    "polars lazy": lambda text: pl.read_csv(io.StringIO(text)).lazy(),
    "pyarrow": lambda text: pl.read_csv(io.StringIO(text)).to_arrow(),
    "duckdb": lambda text: duckdb.from_arrow(pl.read_csv(io.StringIO(text)).to_arrow()),
}


def published(ledger: ep.Ledger, name: str, data: Any) -> None:
    ep.mean(
        "v",
        bounds=(0, 9),
        data=data,
        person="who",
        neighbours="add-remove",
        levels=[0.25],
        ledger=ledger.claim(name, at_most=0.25),
    )


@pytest.mark.parametrize(
    "odd",
    [
        "n.a.",
        True,
        None,
        -1,
        Decimal("NaN"),
        Decimal("sNaN"),
        np.datetime64("2026-01-01", "ns"),
        [1.0],
    ],
    ids=repr,
)
def test_one_entry_that_is_no_budget_closes_nobodys_account(odd: Any, tmp_path: Path) -> None:
    budgets = ["0.25", 1, Decimal("0.5"), odd]
    with ep.Ledger.create(tmp_path / "ledger.db", neighbours="add-remove") as ledger:
        ledger.enrol(person=[1, 2, 3, 4], epsilon=budgets)
        assert [ledger.account(who).budget for who in (1, 2, 3, 4)] == [0.25, 1.0, 0.5, 0.0]


def test_dates_are_no_budgets(tmp_path: Path) -> None:
    """A date as a budget becomes 0. As nanoseconds since 1970, it would be a huge budget."""
    days = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[ns]")
    with ep.Ledger.create(tmp_path / "ledger.db", neighbours="add-remove") as ledger:
        ledger.enrol(person=[1, 2], epsilon=days)
        ledger.enrol(pl.DataFrame({"who": [3, 4], "e": days}), person="who", epsilon="e")
        assert [ledger.account(who).budget for who in (1, 2, 3, 4)] == [0.0] * 4


def test_a_few_people_are_found_by_text_and_by_number(tmp_path: Path) -> None:
    """A few people of many are looked up in the database, if need be under the other type."""
    with ep.Ledger.create(tmp_path / "ledger.db", neighbours="add-remove") as ledger:
        ledger.enrol(pl.DataFrame({"who": range(FEW * 10)}), person="who", epsilon=1.0)
        ledger.enrol(person=["70", "80"], epsilon=1.0)
        published(ledger, "text", pl.DataFrame({"who": ["x", "7", "70"], "v": [1.0, 2.0, 3.0]}))
        published(ledger, "numbers", pl.DataFrame({"who": [99, 7, 70], "v": [1.0, 2.0, 3.0]}))
        assert [ledger.account(who).spent for who in (7, "70", 8, 80)] == [0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("others", [0, FEW * 10], ids=["all are read", "a few are looked up"])
def test_accounts_of_both_kinds_stay_apart(others: int, tmp_path: Path) -> None:
    """An integer id and the same id as text stay two accounts if an earlier version made both."""
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(
            person=[17, 18, *range(100, 100 + others)], epsilon=[1.0, 2.0, *[1.0] * others]
        )
        assert ledger.enrol(person=["17", "x"], epsilon=[1.0, 2.0]).new == 1
        store = ledger._book.store
        with store.write():
            store.run("UPDATE accounts SET person = ? WHERE person = ?", b"s:18", b"s:x")
        ledger.enrol(pl.DataFrame({"who": [18]}), person="who", epsilon=1.5)
        assert [ledger.account(who).budget for who in (18, "18")] == [1.5, 2.0]
        ledger.withdraw("18")
        assert ledger.account("18").budget == 0.0
        assert ledger.account(18).budget == 1.5
        ledger.withdraw("17")
        assert ledger.account(17).budget == 0.0


def test_a_list_of_both_kinds_names_everyone_once(tmp_path: Path) -> None:
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        told = ledger.enrol(person=[1, "1", 2, "02", "2"], epsilon=[1.0] * 5)
        assert told.people == 3
