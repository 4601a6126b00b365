"""Replay detects faults of reading data that existed in earlier versions, and other faults."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons import door
from epsilons.budgets.allocation import allocate
from epsilons.door import GRID
from epsilons.door.given import arrays, column
from epsilons.draws.mechanisms import SumAndSquares, build
from epsilons.errors import ArgumentError, DataError, PrivacyError
from epsilons.verify import Replay, replay
from epsilons.verify.replaying.runs import Person, moved
from tests.assumed import SAMPLE
from tests.verify.replayed import (
    BUDGETS,
    COLUMNS,
    SIZE,
    TERMS,
    WHO,
    asked,
    frame,
    held,
)

# Faults of reading data that existed in earlier versions, planted again.


def shows(found: Replay, words: str) -> None:
    """Check that the named change fails, and that the report shows no one's values."""
    wrong = [outcome.change for outcome in found.outcomes if not outcome.holds]
    assert any(words in change for change in wrong), wrong
    assert not any(word in str(found) for word in ("person 1", "bike", "walk"))
    with pytest.raises(PrivacyError, match="reveals one person"):
        found.require()


def test_pairing_by_the_order_of_rows_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    values = pd.Series(np.linspace(1, 9, 60), index=np.arange(60))
    budgets = pd.Series([0.1] * 30 + [2.0] * 30, index=np.arange(60))[::-1]
    question = ep.Mean(values, bounds=(0, 10), **SAMPLE)  # with these budgets, weights differ
    with pytest.raises(ArgumentError, match="labels"):
        replay(question, epsilon=budgets)
    monkeypatch.setattr(arrays, "same_labels", lambda **_: None)
    shows(replay(question, epsilon=budgets), "value: the lower end")


def test_a_collated_column_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay detects ids that are grouped without regard to case, as under a collation."""
    people = column.people

    def collated(given: Any, name: str, *, lenient: bool) -> Any:
        return people([str(each).lower() for each in given], name, lenient=lenient)

    question = ep.Mean(COLUMNS["minutes"], bounds=(0, 10))
    held(replay(question, epsilon=BUDGETS, person=WHO))
    monkeypatch.setattr(arrays, "people", collated)
    shows(replay(question, epsilon=BUDGETS, person=WHO), "another's id in other letters")


@pytest.mark.long
def test_a_collated_table_of_duckdb_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = duckdb.connect()
    connection.register("given", frame().to_arrow())
    connection.execute(
        "CREATE TABLE people (minutes DOUBLE, mode VARCHAR, epsilon DOUBLE, "
        "person VARCHAR COLLATE NOCASE)"
    )
    connection.execute("INSERT INTO people SELECT * FROM given")
    held(asked("mean", "replace", connection.table("people")))
    from epsilons.door.given import columns

    monkeypatch.setattr(columns, "bytewise", lambda table, *_: (table, "text"))
    shows(asked("mean", "replace", connection.table("people")), "another's id in other letters")


def test_ids_as_floats_show(monkeypatch: pytest.MonkeyPatch) -> None:
    who = [2**53 + 4 * (i // 2) for i in range(SIZE)]
    people = column.people

    def floats(given: Any, name: str, *, lenient: bool) -> Any:
        return people([float(each) for each in given], name, lenient=lenient)

    question = ep.Mean(COLUMNS["minutes"], bounds=(0, 10))
    held(replay(question, epsilon=BUDGETS, person=np.array(who)))
    monkeypatch.setattr(arrays, "people", floats)
    shows(replay(question, epsilon=BUDGETS, person=np.array(who)), "another's id and 1")


@pytest.mark.rotates(6)
@pytest.mark.parametrize("terms", TERMS)
def test_a_type_that_is_inferred_from_cells_shows(
    terms: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    frame().write_csv(path)
    opened = door.open

    def inferred(*columns: Any, data: Any, **given: Any) -> Any:
        return opened(*columns, data=pl.read_csv(data, infer_schema_length=None), **given)

    held(asked("mean, midpoint", terms, path))
    monkeypatch.setattr(door, "open", inferred)
    # Under add/remove, text columns are read cell by cell. So replay detects the fault by another
    # change, which is in the bytes of the file.
    shown = "text that is no number" if terms == "replace" else "bytes that are no UTF-8"
    shows(asked("mean, midpoint", terms, path), shown)


def test_a_mechanism_that_moves_too_far_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    point = SumAndSquares.point
    monkeypatch.setattr(SumAndSquares, "point", lambda *given: 3 * point(*given))
    shows(asked("mean", "replace", frame()), "value: the upper end")


def test_weights_that_depend_on_who_is_there_show(monkeypatch: pytest.MonkeyPatch) -> None:
    mean: Any = importlib.import_module("epsilons.questions.mean")
    build = mean.build_moments

    def leaning(allocation: Any, *, grid: int, bounds: Any) -> Any:
        made = build(allocation, grid=grid, bounds=bounds)
        weights = made.weights - (seen[-1] != seen[0])
        return dataclasses.replace(made, weights=weights)

    seen: list[int] = []
    sums = door.Rows.count

    def watched(self: Any, *given: Any) -> Any:
        found = sums(self, *given)
        seen.append(int(found.sums.sum()))
        return found

    monkeypatch.setattr(door.Rows, "count", watched)
    monkeypatch.setattr(mean, "build_moments", leaning)
    found = asked("mean", "replace", frame())
    shows(found, "value")
    assert "draw 1 (sum and squares): mechanism.weights" in str(found)


def test_a_refusal_that_depends_on_a_value_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = door.Rows.count

    def picky(self: Any, *given: Any) -> Any:
        found = sums(self, *given)
        if found.n % 2:
            raise DataError("an odd number of people")
        return found

    monkeypatch.setattr(door.Rows, "count", picky)
    found = asked("mean", "add-remove", frame())
    shows(found, "somebody goes")
    assert "refused (DataError)" in str(found)


def test_nobody_may_move_a_sum_as_far_as_somebody_with_a_larger_weight() -> None:
    mechanism = build(allocate({0.1: 50, 1.0: 50}, method="proportional"), grid=GRID, bounds=(0, 1))
    step = SimpleNamespace(mechanism=mechanism, levels=None, place=None)
    light, heavy = (-(-int(k) * int(mechanism.reach) // GRID) for k in mechanism.weights)
    assert light < heavy
    for epsilon, most in ((0.1, light), (1.0, heavy)):
        person = Person(epsilon, epsilon)
        assert moved(step, 0, -most, person) == (True, True)
        assert moved(step, 0, most + 1, person) == (True, False)
