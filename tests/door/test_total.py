"""Under add/remove no data is refused, because limits depend only on declarations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import SHARES
from epsilons.door.count.tallies import HALF
from epsilons.errors import ArgumentError, DataError
from tests.door.asking import cells_of, sums_of
from tests.engines import on_engine

LADDER = Ladder.declare(np.array([0.5, 1.0]))
CATEGORIES = ["a", "b", "c"]
BUDGETS: dict[str, list[float]] = {
    "nobody": [],
    "one rung": [0.5],
    "both rungs": [0.5, 1.0, 3.0],
    "and below all": [0.5, 1.0, 0.1],
    "and bad ones": [0.5, 1.0, 0.1, math.nan, -1.0],
}


def of_arrays(epsilon: list[float], person: list[int] | None) -> Any:
    return cells_of(
        ["a"] * len(epsilon),
        epsilon=np.array(epsilon),
        categories=CATEGORIES,
        person=person,
        ladder=LADDER,
    )


def of_frames(epsilon: list[float], person: list[int] | None) -> Any:
    schema = {"v": pl.String, "e": pl.Float64, "p": pl.Int64}
    columns = {"v": ["a"] * len(epsilon), "e": epsilon, "p": person or [0] * len(epsilon)}
    return cells_of(
        "v",
        epsilon="e",
        categories=CATEGORIES,
        data=pl.DataFrame(columns, schema=schema),
        person=None if person is None else "p",
        ladder=LADDER,
    )


@pytest.mark.parametrize("people", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize("make", [of_arrays, of_frames])
@pytest.mark.parametrize("most", range(5, 17))
def test_whether_a_table_of_cells_is_too_large_depends_on_the_ladder_alone(
    most: int, make: Callable[..., Any], people: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("epsilons.door.rows.LARGEST_TABLE", most)
    monkeypatch.setattr("epsilons.door.count.units.LARGEST_TABLE", most)

    def refused(epsilon: list[float]) -> bool:
        try:
            make(epsilon, list(range(len(epsilon))) if people else None)
        except ArgumentError as error:
            assert "public budget levels" in str(error)  # noqa: PT017
            return True
        return False

    answers = {name: refused(epsilon) for name, epsilon in BUDGETS.items()}
    assert set(answers.values()) == {most < 4 * len(CATEGORIES)}


@pytest.mark.parametrize("engine", ["polars", "polars lazy", "pandas", "pyarrow", "duckdb"])
def test_a_person_of_very_many_rows_is_in_the_middle(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr("epsilons.door.count.asks.MOST_ROWS", 3)
    monkeypatch.setattr("epsilons.door.engines.fold_engine.MOST_ROWS", 3, raising=False)
    frame = pl.DataFrame(
        {
            "x": [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0],
            "e": [1.0] * 7,
            "p": [1, 2, 2, 3, 3, 3, 3],
        }
    )
    given: dict[str, Any] = {"epsilon": "e", "bounds": (0.0, 1.0), "person": "p"}
    given["data"] = on_engine(engine, frame)
    tally = sums_of("x", **given, ladder=LADDER)
    assert tally.counts.tolist() == [3]
    assert tally.sums.tolist() == [0 + 2 * HALF + HALF]
    release = ep.mean("x", **given, neighbours="add-remove", levels=[0.5, 1.0])
    assert 0.0 <= release.value <= 1.0
    with pytest.raises(DataError, match="too many rows"):
        sums_of("x", **given)


def test_frequencies_have_no_limit_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilons.door.count.asks.MOST_ROWS", 3)
    given: dict[str, Any] = {
        "epsilon": [1.0] * 5,
        "categories": ["a", "b"],
        "person": [1] * 4 + [2],
    }
    tally = cells_of([*"aaab", "b"], ladder=LADDER, **given)
    assert tally.cells.tolist() == [[3 * SHARES // 4, SHARES // 4 + SHARES]]
    with pytest.raises(DataError, match="too many rows"):
        cells_of([*"aaab", "b"], **given)


@pytest.mark.parametrize("engine", ["arrays", "polars"])
@pytest.mark.parametrize("most", range(9, 18))
def test_whether_a_table_of_groups_is_too_large_depends_on_the_ladder_alone(
    most: int, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("epsilons.door.rows.LARGEST_TABLE", most)
    monkeypatch.setattr("epsilons.door.count.units.LARGEST_TABLE", most)
    declared = (door.declare_groups(["a", "b"]),)

    def refused(epsilon: list[float]) -> bool:
        columns = {"v": [0.5] * len(epsilon), "e": epsilon, "g": ["a"] * len(epsilon)}
        frame = pl.DataFrame(columns, schema={"v": pl.Float64, "e": pl.Float64, "g": pl.String})
        given: Any = columns if engine == "arrays" else {name: name for name in columns}
        data = None if engine == "arrays" else frame
        groups = door.Grouping((given["g"],), declared)
        try:
            rows = door.open(
                given["v"], epsilon=given["e"], data=data, groups=groups, ladder=LADDER
            )
            rows.count(door.Ask("numbers", (0.0, 1.0)))
        except ArgumentError as error:
            assert "public budget levels" in str(error)  # noqa: PT017
            return True
        return False

    answers = {name: refused(epsilon) for name, epsilon in BUDGETS.items()}
    assert set(answers.values()) == {most < 4 * 2 * 2}
