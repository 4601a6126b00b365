"""Budgets are joined to the data on every engine. People pay the same amounts on each of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import door
from epsilons.errors import ColumnError

N = 40
PEOPLE = [f"p{i % 17} é" if i % 3 else f"P{i % 17} é" for i in range(N)]
BUDGETS = [0.25 * (1 + int(who[1:3]) % 4) for who in PEOPLE]
VALUES: list[float | None] = [float(i % 10) for i in range(N)]
RULE = "proportional"


def spent(ledger: ep.Ledger) -> list[float]:
    return [ledger.account(who).spent for who in sorted(set(PEOPLE))]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[float]]:
    """What everyone pays for two means of arrays. The second uses the budgets as weights too."""
    with ep.Ledger.create(tmp_path_factory.mktemp("arrays") / "ledger.db") as ledger:
        ledger.enrol(person=PEOPLE, epsilon=BUDGETS)
        claim = ledger.claim("mean", share=1 / 3)
        ep.mean(VALUES, bounds=(0, 9), person=PEOPLE, method=RULE, ledger=claim)
        claim = ledger.claim("weighed", at_most=0.1)
        ep.mean(VALUES, bounds=(0, 9), person=PEOPLE, weights=BUDGETS, ledger=claim)
        yield spent(ledger)


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series("who", [1.0, 2.0]),
        pl.Series("who", [True, False]),
        pl.Series("who", ["2026-01-01", "2026-01-02"]).str.to_date(),
        pl.Series("who", [b"a", b"b"]),
    ],
)
def test_ids_that_no_ledger_knows_are_refused(ids: pl.Series, tmp_path: Path) -> None:
    data = pl.DataFrame([ids, pl.Series("x", [0.0, 1.0])])
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        with pytest.raises(ColumnError, match="whole numbers or text"):
            ledger.enrol(data, person="who", epsilon=1.0)
        with pytest.raises(ColumnError, match="whole numbers or text"):
            ep.mean("x", bounds=(0, 1), data=data, person="who", ledger=ledger.claim("a", share=1))


def test_a_frame_of_pandas_with_a_column_of_objects(tmp_path: Path) -> None:
    import pandas as pd

    data = pd.DataFrame({"who": [1, 2, 3], "x": pd.Series([0, 1, 0], dtype=object)})
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(data, person="who", epsilon=1.0)
        ep.mean("x", bounds=(0, 1), data=data, person="who", ledger=ledger.claim("a", share=1))
        assert all(ledger.account(who).spent > 0.9 for who in (1, 2, 3))


def test_a_column_that_has_the_name_of_ours_changes_nothing(tmp_path: Path) -> None:
    from epsilons.door.offers import BUDGET

    data = pl.DataFrame({"who": [1, 2], "x": [0.0, 1.0], BUDGET: [50.0, 50.0]})
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(data, person="who", epsilon=1.0)
        for values in ("x", BUDGET):
            claim = ledger.claim(values, share=1 / 2)
            release = ep.mean(values, bounds=(0, 1), data=data, person="who", ledger=claim)
            assert release.spent[0].epsilon == pytest.approx(0.5)


def test_people_of_arrays_are_numbered_once() -> None:
    who = door.people(None, np.array([5, 3, 5]), lenient=False)
    assert [each for batch in who.tagged() for each in batch] == [b"i:3", b"i:5"]
    assert door.Offers(who, np.array([0.25, 0.5])).for_rows(None).tolist() == [0.5, 0.25, 0.5]
