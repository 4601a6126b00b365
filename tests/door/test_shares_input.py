"""Means by group: refused and accepted input, two columns, public groups and private budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import GRID, Grouping, Tally, declare
from epsilons.door.count.asks import Names
from epsilons.door.rows import ONLY_SHARES
from epsilons.errors import (
    ArgumentError,
    ColumnError,
    DataError,
    PrivacyError,
)
from tests.door.shares_by_hand import BOUNDS
from tests.engines import on_engine

ENGINES = ["arrays", "polars", "duckdb", "csv"]
PEOPLE: dict[str, list[Any]] = {
    "x": [10.0, 0.0, 10.0, 10.0, 0.0, 5.0],
    "e": [1.0, 1.0, 1.0, 0.5, 0.5, 0.5],
    "who": ["i", "i", "j", "k", "k", "l"],
    "town": ["a", "b", "a", "b", "b", "a"],
    "sex": [1, 2, 2, 1, 1, 2],
    "yes": [True, True, True, False, True, False],
}


def group(by: Any = "town", labels: Any = ("a", "b")) -> Grouping:
    return Grouping((by,), (declare(labels, None, None),))


def opened(engine: str, table: dict[str, Any], tmp_path: Path, **given: Any) -> door.Rows:
    """Open the rows of a table. `given` names the columns for `person`, `where` and `groups`."""
    frame = pl.DataFrame(table)
    if engine == "arrays":
        groups, where = given.pop("groups", None), given.pop("where", None)
        if groups is not None:
            groups = Grouping(tuple(table[name] for name in groups.by), groups.declared)
        person = given.pop("person", None)
        return door.open(
            table["x"],
            epsilon=table["e"],
            person=person and table[person],
            groups=groups,
            where=where and table[where],
            **given,
        )
    return door.open("x", epsilon="e", data=on_engine(engine, frame, tmp_path), **given)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_person_of_two_groups_is_half_in_each(engine: str, tmp_path: Path) -> None:
    rows = opened(engine, PEOPLE, tmp_path, person="who", groups=group())
    found = rows.count(door.Ask("numbers", BOUNDS))
    assert found.categories == ("a", "b")
    half = GRID // 2
    # The first level has the people k and l. The second level has i, with half a unit in each
    # group, and j.
    assert found.cells.tolist() == [[half, half, half, half], [half + GRID, 0, 0, half]]
    assert found.counts.tolist() == [2, 2]
    assert found.people is None


@pytest.mark.parametrize("engine", ENGINES)
def test_two_columns_make_pairs_of_which_the_second_runs_fastest(
    engine: str, tmp_path: Path
) -> None:
    pairs = Grouping(
        ("town", "sex"), (declare(["a", "b"], None, None), declare([2, 1], None, None))
    )
    assert pairs.labels == (("a", 2), ("a", 1), ("b", 2), ("b", 1))
    found = opened(engine, PEOPLE, tmp_path, person="who", groups=pairs).count(
        door.Ask("numbers", BOUNDS)
    )
    assert found.categories == pairs.labels
    half = GRID // 2
    assert found.cells.tolist() == [
        [half, half, 0, 0, 0, 0, half, half],
        [GRID, 0, half, 0, 0, half, 0, 0],
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_thirds_leave_is_in_the_first_group(engine: str, tmp_path: Path) -> None:
    table = {"x": [10.0] * 3 + [0.0], "e": [1.0] * 4, "who": [1, 1, 1, 2], "town": [*"bcbb"]}
    rows = opened(engine, table, tmp_path, person="who", groups=group(labels=["a", "b", "c"]))
    found = rows.count(door.Ask("numbers", BOUNDS)).cells
    third = GRID // 3
    assert GRID % 3 == 1
    assert found.tolist() == [[0, 1, 2 * GRID // 3, GRID, third, 0]]
    assert third + 2 * GRID // 3 == GRID - 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("person", ["who", None])
def test_public_groups_are_counted_whatever_people_answer(
    engine: str, person: str | None, tmp_path: Path
) -> None:
    table = {**PEOPLE, "town": ["a", "a", "b", "b", "b", "a"]}
    rows = opened(engine, table, tmp_path, person=person, groups=group(), where="yes")
    found = rows.count(door.Ask("numbers", BOUNDS, apart=True))
    assert found.people is not None
    if person is None:
        assert found.people.tolist() == [[1, 2], [2, 1]]
    else:
        assert found.people.tolist() == [[1, 1], [1, 1]]
        assert found.cells[0].tolist() == [0, 0, 0, GRID, GRID]


@pytest.mark.parametrize("engine", ENGINES)
def test_somebody_in_two_public_groups_is_refused(engine: str, tmp_path: Path) -> None:
    rows = opened(engine, PEOPLE, tmp_path, person="who", groups=group(), missing="exclude")
    name = "by" if engine == "arrays" else "by='town'"
    with pytest.raises(DataError, match=f"^{name}: somebody is in two groups"):
        rows.count(door.Ask("numbers", BOUNDS, apart=True))
    # Undeclared groups do not count: somebody may also be in one of them.
    only = group(labels=["b", "z"])
    rows = opened(engine, PEOPLE, tmp_path, person="who", groups=only, missing="exclude")
    people = rows.count(door.Ask("numbers", BOUNDS, apart=True)).people
    assert people is not None
    assert people.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("person", ["who", None])
def test_under_private_budgets_nothing_is_refused(
    engine: str, person: str | None, tmp_path: Path
) -> None:
    table = {
        "x": [None, 0.0, 10.0, 10.0, float("nan"), 5.0],
        "e": [1.0, 1.0, 0.1, 0.5, 0.5, None],
        "who": ["i", "i", "j", "k", "k", None],
        "town": ["a", "b", None, "z", "b", "a"],
        "yes": [True, None, True, True, True, False],
    }
    ladder = Ladder.declare(np.array([0.5, 1.0]))
    how: dict[str, Any] = {"person": person, "groups": group(), "ladder": ladder}
    half = GRID // 2
    if person is None:
        found = opened(engine, table, tmp_path, **how).count(door.Ask("numbers", BOUNDS))
        assert found.counts.tolist() == [2, 2]
        assert found.cells.tolist() == [[0, 0, half, half, GRID], [half, half, 0, GRID, 0]]
        found = opened(engine, table, tmp_path, where="yes", **how).count(
            door.Ask("numbers", BOUNDS)
        )
        assert found.cells.tolist() == [[0, 0, half, half, GRID], [half, half, 0, 0, GRID]]
        found = opened(engine, table, tmp_path, missing="exclude", **how).count(
            door.Ask("numbers", BOUNDS)
        )
        assert found.cells.tolist() == [[0, 0, 0, 0, 2 * GRID], [0, 0, 0, GRID, GRID]]
        return
    found = opened(engine, table, tmp_path, **how).count(door.Ask("numbers", BOUNDS))
    assert found.counts.tolist() == [1, 1]
    assert found.cells.tolist() == [[0, 0, half, half, 0], [0, 0, 0, GRID, 0]]
    found = opened(engine, table, tmp_path, where="yes", **how).count(door.Ask("numbers", BOUNDS))
    assert found.cells.tolist() == [[0, 0, half, half, 0], [half, half, 0, 0, 0]]
    found = opened(engine, table, tmp_path, missing="exclude", **how).count(
        door.Ask("numbers", BOUNDS)
    )
    assert found.cells.tolist() == [[0, 0, 0, 0, GRID], [0, 0, 0, GRID, 0]]
    with pytest.raises(TypeError, match="where budgets are public"):
        opened(engine, table, tmp_path, **how).count(door.Ask("numbers", BOUNDS, apart=True))


def test_columns_must_be_there_and_of_their_types(tmp_path: Path) -> None:
    frame = pl.DataFrame(PEOPLE)

    def refused(error: type[Exception], words: str, **given: Any) -> None:
        with pytest.raises(error, match=words):
            door.open("x", epsilon="e", data=frame, **given)

    refused(ColumnError, "by='twon' is not a column of data. Did you mean", groups=group("twon"))
    refused(ColumnError, "where='town' must be a column of booleans", where="town")
    refused(ColumnError, "by='sex' must be a column of text, since groups", groups=group("sex"))
    refused(ArgumentError, "where must be the name of a column", where=[True] * 6)
    refused(ArgumentError, "by must be the name of a column", groups=group(PEOPLE["town"]))
    two = Grouping(("town", "x"), (declare(["a", "b"], None, None), declare([1, 2], None, None)))
    refused(ColumnError, r"by\[1\]='x' must be a column of integers", groups=two)
    csv = tmp_path / "rows.csv"
    csv.write_text("x,e,town,town\n1,1,a,a\n")
    with pytest.raises(ColumnError, match="by='town' is the name of 2 columns"):
        door.open("x", epsilon="e", data=csv, groups=group())
    with pytest.raises(ColumnError, match="where='yes' is not a column of data"):
        door.open("x", epsilon="e", data=csv, where="yes")


def test_arrays_must_fit_together() -> None:
    def refused(error: type[Exception], words: str, **given: Any) -> None:
        with pytest.raises(error, match=words):
            door.open(PEOPLE["x"], epsilon=1.0, **given)

    refused(ArgumentError, "values and where have different lengths", where=[True])
    refused(ArgumentError, "values and by have different lengths", groups=group(["a"]))
    refused(ArgumentError, "by='town' names a column, but data is not given", groups=group())
    refused(ColumnError, "where must be booleans", where=["yes"] * 6)
    refused(ColumnError, "where must be booleans", where=np.ones(6))
    refused(ColumnError, "by must be text, since groups are", groups=group([1, 2, 3, 4, 5, 6]))
    two = Grouping((["a"], ["a", "b"]), (declare(["a", "b"], None, None),) * 2)
    refused(ArgumentError, "its two columns have different lengths", groups=two)
    # The types of excluded entries are not checked.
    rows = door.open(PEOPLE["x"], epsilon=1.0, where=["yes", *[True] * 5], missing="exclude")
    assert rows.count(door.Ask("numbers", BOUNDS)).cells[0, -1] == GRID


def test_a_grouping_says_what_it_cannot_be() -> None:
    towns = declare(["a", "b"], None, None)
    with pytest.raises(ArgumentError, match="one column or two"):
        Grouping(("town",), (towns, towns))
    with pytest.raises(ArgumentError, match="groups have no other"):
        Grouping(("town",), (declare(["a", "b"], None, "others"),))
    many = declare(list(range(400)), None, None)
    with pytest.raises(ArgumentError, match="160,000 are too many"):
        Grouping(("town", "sex"), (many, many))


def test_one_column_may_be_value_group_and_person() -> None:
    frame = pl.DataFrame({"x": [1, 2, 3, 3], "e": [1.0] * 4, "t": [*"abbb"]})
    numbers = declare([1, 2, 3], None, None)
    for data in (frame, duckdb.from_arrow(frame.to_arrow())):
        found = door.open(
            "x", epsilon="e", data=data, person="x", groups=Grouping(("x",), (numbers,))
        ).count(door.Ask("numbers", (1.0, 3.0)))
        assert found.cells.tolist() == [[0, GRID, GRID // 2, GRID // 2, GRID, 0]]
        text = declare(["a", "b"], None, None)
        twice = Grouping(("t", "t"), (text, text))
        found = door.open("x", epsilon="e", data=data, person="t", groups=twice).count(
            door.Ask("numbers", (1.0, 3.0))
        )
        assert found.counts.tolist() == [2]
        assert found.cells[0, :2].tolist() == [0, GRID]
        assert found.cells[0, 6:].sum() == GRID


def test_nothing_else_can_be_asked_of_rows_with_groups() -> None:
    rows = door.open(PEOPLE["x"], epsilon=1.0, groups=group(PEOPLE["town"]))
    with pytest.raises(TypeError, match=ONLY_SHARES):
        rows.count(door.Ask("squares", BOUNDS))
    with pytest.raises(TypeError, match=ONLY_SHARES):
        rows.line()
    words = declare(["a", "b"], None, None)
    with pytest.raises(TypeError, match=ONLY_SHARES):
        door.open(PEOPLE["x"], epsilon=1.0, missing="exclude", categories=words)


@pytest.mark.parametrize("engine", ["arrays", "polars", "duckdb"])
@pytest.mark.parametrize("somewhere", [True, False], ids=["outside", "inside"])
def test_somebody_of_too_many_rows_counts_for_nothing_and_is_no_failure(
    engine: str, somewhere: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("engines.fold_engine", "given.arrays"):
        monkeypatch.setattr(f"epsilons.door.{module}.MOST_ROWS", 2)
    ladder = Ladder.declare(np.array([0.5, 1.0]))
    groups = {"groups": group()} if somewhere else {}
    found = opened(engine, PEOPLE, tmp_path, person="who", ladder=ladder, **groups).count(
        door.Ask("numbers", BOUNDS)
    )
    half = GRID // 2
    if somewhere:
        assert found.cells.tolist() == [[half, half, 0, 0, GRID], [GRID, 0, 0, 0, GRID]]
    else:
        assert found.cells.tolist() == [[GRID, GRID], [half + GRID, half]]


def test_a_table_that_does_not_add_up_is_never_released() -> None:
    """A tally is released only if everyone's cells sum to one unit, on any engine."""
    from dataclasses import replace

    from epsilons.door.count.asks import Faults, Rules, checked
    from epsilons.door.count.units import UnitParts, of_groups

    declared = group(PEOPLE["town"])
    rules = Rules(Names(), "error", 1, None, None, declared, some=True)
    one = np.ones(2, dtype=np.int64)
    points, above = GRID * one, np.array([0, GRID])
    parts = UnitParts(1.0, np.array([0, 1]), one, None, Faults(), one, points, above)

    def cells(**changed: Any) -> Tally:
        ask = door.Ask("numbers", BOUNDS)
        return checked(of_groups(replace(parts, **changed), rules, ask), rules, ask, Names())

    assert cells().cells.sum() == 2 * GRID
    for changed in (
        {"points": points + 2},
        {"points": points - 3},
        {"above": above + GRID},
        {"above": above - GRID},
        {"inside": one + 1, "points": points + GRID // 2},
    ):
        with pytest.raises(PrivacyError, match="parts of units that were counted"):
            cells(**changed)


def test_very_many_levels_and_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("epsilons.door.count.units.LARGEST_TABLE", 3)
    rows = door.open(PEOPLE["x"], epsilon=1.0, groups=group(PEOPLE["town"]))
    with pytest.raises(ArgumentError, match="groups: 4 cells for each of 1 budget levels"):
        rows.count(door.Ask("numbers", BOUNDS))
