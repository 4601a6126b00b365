"""In means by group, one person adds exactly one unit to one level, in any form of data."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import GRID, Grouping, Tally, declare
from tests.door.shares_by_hand import BOUNDS, Line, unit_of
from tests.fuzz.tables import FRAMES, UNTYPED, arguments

FORMS = [form for form in (*FRAMES, *UNTYPED, "arrays", "polars series") if form != "dask"]
LABELS = ["a", "A", "ä", "a "]
WORDS = [*LABELS, "z", "A\u0308", "", None]
VALUES = [0.0, 10.0, 3.3, -5.0, 1e300, float("nan"), float("inf"), None]
ASKED = [True, True, False, None]
LADDER = Ladder.declare(np.array([0.1, 0.5, 1.0]))

Row = tuple[Any, float, int, Any, Any]


def shares(form: str, rows: list[Row], directory: Path, *, private: bool, missing: str) -> Tally:
    value, budget, who, group, asked = (list(each) for each in zip(*rows, strict=True))
    columns = {
        "value": ("float", value),
        "budget": ("float", budget),
        "who": ("int", who),
        "group": ("text", group),
        "asked": ("bool", asked),
    }
    given = arguments(form, columns, None, directory)
    groups = Grouping((given.pop("group"),), (declare(LABELS, None, None),))
    how: dict[str, Any] = {"ladder": LADDER} if private else {}
    opened = door.open(
        given.pop("values"),
        where=given.pop("asked"),
        groups=groups,
        missing="exclude" if not private else missing,
        **given,
        **how,
    )
    return opened.count(door.Ask("numbers", BOUNDS))


def rows_of(draw: random.Random, who: int, budget: float, most: int) -> list[Row]:
    return [
        (
            draw.choice(VALUES),
            budget,
            who,
            draw.choice(WORDS),
            draw.choice([True, True, False, None]),
        )
        for _ in range(draw.randint(1, most))
    ]


@pytest.mark.parametrize("form", FORMS)
def test_one_person_moves_one_unit(form: str, tmp_path: Path) -> None:
    draw = random.Random(form)
    cases = [("exclude", False), ("midpoint", True), ("exclude", True)]
    for missing, private in cases[: 2 if "ibis" in form else 3]:
        budgets = [0.1, 0.5, 0.5, 1.0, *(draw.choice([0.1, 1.0]) for _ in range(4))]
        others = [row for who, e in enumerate(budgets) for row in rows_of(draw, who, e, 3)]
        without = shares(form, others, tmp_path, private=private, missing=missing)
        assert without.levels.tolist() == [0.1, 0.5, 1.0]
        for most in (1, 9):
            mine = rows_of(draw, 99, 0.5, most)
            # Insert their rows at random positions.
            rows = sorted([*others, *mine], key=lambda _: draw.random())
            found = shares(form, rows, tmp_path, private=private, missing=missing)
            assert found.levels.tolist() == without.levels.tolist()
            moved = (found.cells - without.cells).tolist()
            assert moved[0] == moved[2] == [0] * len(moved[0])
            assert sum(moved[1]) == GRID
            assert moved[1] == alone(held(form, mine), missing)


def held(form: str, mine: list[Row]) -> list[Row]:
    """Return the rows as a form stores them.

    A workbook of `xlsx_of` has a date in place of the number 10, so this value is missing.
    """
    dated = form == "xlsx"
    return [(None if dated and value == 10.0 else value, *rest) for value, *rest in mine]


def alone(mine: list[Row], missing: str) -> list[int]:
    """Return one person's cells, computed by hand."""
    lines = [Line(value, e, str(who), group, asked) for value, e, who, group, asked in mine]
    given = unit_of(lines, LABELS, missing)
    cells: list[Any] = [(label, side) for label in LABELS for side in (1, 0)]
    return [given.get(cell, 0) for cell in [*cells, "outside"]]


@pytest.mark.parametrize("form", ["arrays", "polars", "duckdb", "pyarrow by itself"])
@pytest.mark.parametrize("few", [True, False])
def test_the_smaller_of_two_budgets_counts_and_the_smallest_of_a_level(
    form: str, few: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if form == "pyarrow by itself":
        monkeypatch.setattr("epsilons.door.given.columns.moved", lambda table: table)
        form = "pyarrow"
    if not few:
        monkeypatch.setattr("epsilons.door.engines.count_engine.few_budgets", lambda rows: False)
    rows: list[Row] = [(5.0, 1.0, 1, "a", True), (5.0, 0.5, 1, "A", True), (5.0, 0.1, 2, "a", True)]
    found = shares(form, rows, tmp_path, private=True, missing="midpoint")
    assert found.levels.tolist() == [0.1, 0.5]
    near: list[Row] = [(5.0, 1.0 + who / 10_000, who, "a", True) for who in (3, 0, 2)]
    columns = ["x", "e", "who", "town", "yes"]
    table = pl.DataFrame(near, schema=columns, orient="row")
    data: Any = table.to_arrow() if form == "pyarrow" else table
    if form == "duckdb":
        data = duckdb.from_arrow(table.to_arrow())
    for person in ("who", None):
        towns = Grouping(("town",), (declare(LABELS, None, None),))
        if form == "arrays":
            towns = Grouping((table["town"].to_list(),), towns.declared)
            opened = door.open(
                table["x"].to_numpy(),
                epsilon=table["e"].to_numpy(),
                person=person and table["who"].to_numpy(),
                groups=towns,
            )
        else:
            opened = door.open("x", epsilon="e", data=data, person=person, groups=towns)
        levels = opened.count(door.Ask("numbers", BOUNDS))
        assert levels.levels.tolist() == [1.0]
        assert levels.counts.tolist() == [3]
