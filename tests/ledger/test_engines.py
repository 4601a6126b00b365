"""Budgets are joined to the data on every engine. People pay the same amounts on each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import door
from epsilons.errors import ColumnError
from tests.door.conftest import EVERYWHERE, frame
from tests.door.test_collations import COLLATED, ROWS, dictionary

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


@pytest.mark.parametrize("name", [each for each in EVERYWHERE if each != "numpy"])
def test_everyone_pays_the_same_on_every_engine(
    name: str, tmp_path: Path, request: pytest.FixtureRequest, expected: list[float]
) -> None:
    data = frame(name, (VALUES, BUDGETS, PEOPLE), tmp_path, request)
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        told = ledger.enrol(data, person="who", epsilon="budget")
        assert told.new == len(set(PEOPLE))
        claim = ledger.claim("mean", share=1 / 3)
        given: dict[str, Any] = {"bounds": (0, 9), "data": data, "person": "who"}
        ep.mean("income", **given, method=RULE, ledger=claim)
        claim = ledger.claim("weighed", at_most=0.1)
        ep.mean("income", **given, weights="budget", ledger=claim)
        assert spent(ledger) == expected
        shares = ledger.claim("bins", share=1 / 3)
        ep.frequencies("income", edges=[0, 5, 10], data=data, person="who", ledger=shares)
        ledger.check().require()


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series("who", [1, 2, 3, 2**63 - 1], dtype=pl.Int64),
        pl.Series("who", [1, 2, 3, 2**64 - 1], dtype=pl.UInt64),
        pl.Series("who", [-1, 2, 3, 100], dtype=pl.Int8),
        pl.Series("who", ["a", "A", "á", "a\x00"]),
        pl.Series("who", ["a", "b", "c", "d"], dtype=pl.Categorical),
        pl.Series("who", ["a", "b", "c", "d"], dtype=pl.Enum(["d", "c", "b", "a"])),
    ],
)
def test_ids_are_compared_exactly(ids: pl.Series, tmp_path: Path) -> None:
    data = pl.DataFrame([ids, pl.Series("e", [0.1, 0.2, 0.3, 0.4]), pl.Series("x", [0.0] * 4)])
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(data, person="who", epsilon="e")
        for who, budget in zip(ids.to_list(), [0.1, 0.2, 0.3, 0.4], strict=True):
            assert ledger.account(who).budget == budget
        ep.mean("x", bounds=(0, 1), data=data, person="who", ledger=ledger.claim("a", share=1))


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


def test_rows_of_nobody_are_refused_or_left_out(tmp_path: Path) -> None:
    data = pl.DataFrame({"who": ["a", None, "b"], "x": [0.0, 1.0, 0.5]})
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.enrol(person=["a", "b"], epsilon=1.0)
        with pytest.raises(ep.errors.DataError):
            ep.mean("x", bounds=(0, 1), data=data, person="who", ledger=ledger.claim("a", share=1))
    lists: list[Any] = [data["who"].to_list(), ["a", 1.5, "b"]]
    with ep.Ledger.create(tmp_path / "private.db", neighbours="add-remove") as ledger:
        ledger.enrol(person=["a", "b"], epsilon=1.0)
        for name, people in enumerate(lists):
            ep.mean(
                data["x"].to_list(),
                bounds=(0, 1),
                person=people,
                neighbours="add-remove",
                related=False,
                ledger=ledger.claim(str(name), share=1 / 2),
            )
        assert len(ledger.account("b").lines) == 3


def test_people_of_arrays_are_numbered_once() -> None:
    who = door.people(None, np.array([5, 3, 5]), lenient=False)
    assert [each for batch in who.tagged() for each in batch] == [b"i:3", b"i:5"]
    assert door.Offers(who, np.array([0.25, 0.5])).for_rows(None).tolist() == [0.5, 0.25, 0.5]


BY_COLLATION = [
    pytest.param(each, marks=pytest.mark.always) if each is dictionary else each
    for each in COLLATED
]
"""Only dictionaries are joined in a way of their own."""


@pytest.mark.rotates(4)
@pytest.mark.parametrize("collated", BY_COLLATION)
def test_ids_that_a_collation_calls_equal_are_two_people(
    collated: Callable[[Path], Any], tmp_path: Path
) -> None:
    data = collated(tmp_path)
    people = sorted({person for _, person, _ in ROWS})
    budgets = {who: 0.25 * (1 + place % 4) for place, who in enumerate(people)}
    with ep.Ledger.create(tmp_path / "ledger.db") as ledger:
        assert ledger.enrol(data, person="p", epsilon="e").new == len(people)
        ledger.enrol(person=people, epsilon=list(budgets.values()))
        claim = ledger.claim("a", share=1 / 2)
        release = ep.mean("e", bounds=(0, 2), data=data, person="p", method=RULE, ledger=claim)
        assert release.n == len(people)
        for who, budget in budgets.items():
            assert ledger.account(who).spent == pytest.approx(budget / 2, abs=1e-6)
