"""Replay changes groups and `where` flags in every form of data, and detects faults there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from epsilons.door import rows as tally_rows
from epsilons.door.count import units
from epsilons.door.engines import count_engine, expressions, fold_engine
from epsilons.errors import ArgumentError, PrivacyError
from epsilons.verify import Change, replay
from tests.engines import on_engine
from tests.verify.replayed import ARRAYS, TERMS
from tests.verify.shared import Shared

RNG = np.random.default_rng(7)
SIZE = 24
TOWNS, SEXES = ["a", "ü", "c"], [1, 2]
COLUMNS: dict[str, list[Any]] = {
    "x": RNG.uniform(1.0, 9.0, SIZE).tolist(),
    "e": [[0.1, 0.5, 2.0][i // 2 % 3] for i in range(SIZE)],
    "who": [f"person {i // 2}" for i in range(SIZE)],
    "town": [TOWNS[i % 3] for i in range(SIZE)],
    "sex": [SEXES[i % 2] for i in range(SIZE)],
    "yes": [True] * SIZE,
}
QUESTION = Shared("x", by=("town", "sex"), groups=(TOWNS, SEXES), where="yes")
SLOW = [pytest.param(form, marks=pytest.mark.slow) for form in ("pandas", "duckdb", "parquet")]
FORMS = ["polars", "polars lazy", "pandas of objects", "pyarrow", "csv", *SLOW]


def data_of(form: str, folder: Path) -> Any:
    frame = pl.DataFrame(COLUMNS)
    if form == "pandas of objects":
        return pd.DataFrame(COLUMNS, dtype=object)
    return on_engine(form, frame, folder)


def tried(question: Shared, terms: str, data: Any, **more: Any) -> Any:
    return replay(question, data=data, **{"epsilon": "e", "person": "who", **TERMS[terms], **more})


@pytest.mark.rotates(6)
@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("form", FORMS)
def test_it_holds_with_groups_and_where(form: str, terms: str, tmp_path: Path) -> None:
    found = tried(QUESTION, terms, data_of(form, tmp_path))
    assert found.holds, str(found)
    for role in ("by: ", "by_2: ", "asked: "):
        own = [outcome for outcome in found.outcomes if outcome.change.startswith(role)]
        assert any(outcome.moved for outcome in own)
        assert not any(outcome.refused for outcome in own)


@pytest.mark.rotates(6)
@pytest.mark.parametrize("form", ["lists", "numpy", "series"])
@pytest.mark.parametrize("terms", TERMS)
def test_it_holds_on_arrays(form: str, terms: str) -> None:
    made = {column: ARRAYS[form](items) for column, items in COLUMNS.items()}
    question = Shared(
        made["x"], by=(made["town"],), groups=(TOWNS,), where=made["yes"], missing="midpoint"
    )
    found = replay(question, epsilon=made["e"], person=made["who"], **TERMS[terms])
    assert found.holds, str(found)
    refused = [outcome for outcome in found.outcomes if outcome.refused]
    assert bool(refused) == (terms == "replace")


def test_public_groups_stay_what_they_are() -> None:
    question = Shared("x", by=("town",), groups=(TOWNS,), groups_are="public")
    frame = pl.DataFrame(COLUMNS)
    found = tried(question, "replace", frame, person=None)
    assert found.holds, str(found)
    assert not any(outcome.change.startswith("by") for outcome in found.outcomes)
    change = Change("another town", [{"by": "c"}], row=0)
    with pytest.raises(ArgumentError, match="nobody moves between groups"):
        tried(question, "replace", frame, person=None, changes=[change])


def whole_in_each(totals: dict[str, Any]) -> dict[str, Any]:
    return {**totals, "r": ("own", "max")}


def test_a_person_counted_in_two_groups_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay detects a person who counts in two groups, even if the tally is not checked."""
    kept = expressions.with_totals
    monkeypatch.setattr(
        fold_engine, "with_totals", lambda parts, totals: kept(parts, whole_in_each(totals))
    )
    shows(monkeypatch)


def test_a_unit_that_is_rounded_up_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    import narwhals as nw

    kept = expressions.with_quotient

    def rounded_up(rows: Any, name: str, above: str, below: str) -> Any:
        found = kept(rows, name, above, below)
        own = nw.col(name)
        up = nw.when(own > 0).then(own + 1).otherwise(own)
        return found.with_columns(up.alias(name)) if name == "points" else found

    monkeypatch.setattr(fold_engine, "with_quotient", rounded_up)
    shows(monkeypatch)


def test_a_forgotten_second_cell_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = units.of_groups

    def forgotten(*given: Any) -> Any:
        counted = kept(*given)
        counted.cells[:, 1:-1:2] = 0
        return counted

    monkeypatch.setattr(count_engine, "of_groups", forgotten)
    with pytest.raises(PrivacyError, match="cannot be those of any people"):
        shows(monkeypatch)
    # Without the check of tallies, the check of the mechanism detects the fault.
    monkeypatch.setattr(tally_rows, "sound", lambda counted, **_: counted)
    with pytest.raises(PrivacyError, match="do not sum to one unit"):
        shows(monkeypatch)


def shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Move a person from one town to rows in two others. Check that the fault is detected."""
    monkeypatch.setattr(units, "require", lambda *_: None)
    frame = pl.DataFrame(COLUMNS).with_columns(town=pl.lit("a"))
    rows = [{"by": town, "values": 10.0} for town in ("ü", "c", "c")]
    question = Shared("x", by=("town",), groups=(TOWNS,))
    found = tried(question, "replace", frame, changes=[Change("elsewhere", rows, row=0)])
    assert not found.holds
    assert "the total moved farther" in str(found)


def test_the_faults_are_what_shows() -> None:
    frame = pl.DataFrame(COLUMNS).with_columns(town=pl.lit("a"))
    rows = [{"by": town, "values": 10.0} for town in ("ü", "c", "c")]
    question = Shared("x", by=("town",), groups=(TOWNS,))
    found = tried(question, "replace", frame, changes=[Change("elsewhere", rows, row=0)])
    assert found.holds
    assert found.outcomes[0].moved
