"""Means by group have the same integers on every engine as a computation with fractions."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from epsilons import door
from epsilons.door import GRID, Grouping, Tally, declare
from epsilons.door.engines import labels_engine
from tests.door.conftest import BACKENDS, declared_as, on_engine
from tests.door.shares_by_hand import BOUNDS, Line, by_hand
from tests.engines import SLOW

LEVELS = [0.1, 0.25, 1.0]
KINDS: dict[str, tuple[list[Any], list[Any], Any]] = {
    "text": (["a", "ü", ""], ["z", "A", None], pl.String),
    "integers": ([3, -1, 2**60 + 1], [4, 2**60, None], pl.Int64),
    "booleans": ([True, False], [None], pl.Boolean),
    "bins": ([(0.0, 1.0), (1.0, 2.5), (3.0, 4.0)], [2.75, 5.0, float("nan"), None], pl.Float64),
}
POLICIES = ["error", "midpoint", "exclude"]

Run = Callable[..., Tally]


def label_of(value: Any, labels: list[Any]) -> Any:
    """Return the declared group of a value, or a label that is not declared."""
    if value is None or value != value:
        return "nothing"
    if isinstance(labels[0], tuple):
        return next((pair for pair in labels if pair[0] <= value < pair[1]), "nothing")
    return value


def rows_of(kind: str, missing: str, *, where: bool, seed: int = 0) -> list[Line]:
    """Return rows of people with one to five rows each. `kind` is the type of the groups."""
    draw = random.Random(f"{kind} {missing} {where} {seed}")
    labels, undeclared, _ = KINDS[kind]
    inside = [pair[0] for pair in labels] if kind == "bins" else labels
    rows = []
    for person in range(40):
        budget = draw.choice(LEVELS)
        for _ in range(draw.choice([1, 1, 2, 3, 5])):
            asked: bool | None = draw.choice([True, True, False]) if where else True
            free = missing == "exclude" or not asked
            value = draw.choice([0.0, 10.0, 1 / 3, 7.7, 12.0, -1.0])
            gap = draw.random() < 0.2 and (free or missing == "midpoint")
            group = draw.choice([*inside, *inside, *undeclared] if free else inside)
            if where and missing == "exclude" and draw.random() < 0.1:
                asked = None
            who = f"p{person}"
            rows.append(Line(None if gap else value, budget, who, group, asked))
    return rows


def without_gaps(engine: str, kind: str, rows: list[Line]) -> list[Line]:
    """Return rows without nulls that would change column types in pandas and Dask."""
    if engine == "dask":
        rows = [replace(row, asked=bool(row.asked)) for row in rows]
    if engine in ("pandas", "pandas by itself") and kind == "integers":
        rows = [replace(row, group=4 if row.group is None else row.group) for row in rows]
    return rows


def table_of(rows: list[Line], kind: str) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "value": [row.value for row in rows],
            "budget": [row.budget for row in rows],
            "who": [row.who for row in rows],
            "group": [row.group for row in rows],
            "asked": [row.asked for row in rows],
        },
        schema_overrides={"value": pl.Float64, "group": KINDS[kind][2], "asked": pl.Boolean},
    )


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Return a function that divides each person's unit into cells, on a given engine."""

    def shares(
        engine: str,
        table: pl.DataFrame,
        groups: list[Any] | None,
        *,
        person: bool,
        missing: str,
        where: bool,
        **given: Any,
    ) -> Tally:
        cells = None if groups is None else declared_as(groups)
        declared = cells and declare(cells.get("categories"), cells.get("edges"), None)
        numpy = engine == "numpy"
        data = None if numpy else on_engine(engine, table, tmp_path, request)

        def column(name: str) -> Any:
            return table[name].to_list() if numpy else name

        rows = door.open(
            column("value"),
            epsilon=column("budget"),
            data=data,
            person=column("who") if person else None,
            missing=missing,
            groups=Grouping((column("group"),), (declared,)) if declared else None,
            where=column("asked") if where else None,
        )
        return rows.count(door.Ask("numbers", BOUNDS, **given))

    return shares


def check(found: Tally, rows: list[Line], groups: list[Any] | None, **how: Any) -> None:
    labels = ["all"] if groups is None else groups
    known = [
        replace(row, group="all" if groups is None else label_of(row.group, labels)) for row in rows
    ]
    where = how.pop("where")
    outside = where or how["missing"] == "exclude"
    levels, counts, cells = by_hand(known, labels, outside=outside, **how)
    assert found.levels.tolist() == levels
    assert found.counts.tolist() == counts
    assert found.cells.tolist() == cells
    assert found.unit == GRID
    assert (found.cells.sum(axis=1) == GRID * found.counts).all()
    assert (found.cells >= 0).all()


@pytest.mark.parametrize(
    ("engine", "missing"),
    [*product(BACKENDS, POLICIES), *((engine, "exclude") for engine in SLOW)],
)
@pytest.mark.parametrize("person", [True, False], ids=["people", "rows"])
def test_every_engine_divides_units_as_fractions_do(
    engine: str, missing: str, person: bool, run: Run
) -> None:
    groups = KINDS["text"][0]
    for where in (True,) if engine in SLOW else (True, False):
        rows = without_gaps(engine, "text", rows_of("text", missing, where=where))
        how: dict[str, Any] = {"person": person, "missing": missing, "where": where}
        check(run(engine, table_of(rows, "text"), groups, **how), rows, groups, **how)


@pytest.mark.parametrize("engine", BACKENDS)
@pytest.mark.parametrize("kind", ["integers", "booleans", "bins"])
@pytest.mark.parametrize("person", [True, False], ids=["people", "rows"])
def test_groups_of_other_kinds_are_found_by_every_engine(
    engine: str, kind: str, person: bool, run: Run
) -> None:
    groups = KINDS[kind][0]
    rows = without_gaps(engine, kind, rows_of(kind, "exclude", where=True))
    how: dict[str, Any] = {"person": person, "missing": "exclude", "where": True}
    check(run(engine, table_of(rows, kind), groups, **how), rows, groups, **how)


@pytest.mark.parametrize("engine", BACKENDS)
@pytest.mark.parametrize("person", [True, False], ids=["people", "rows"])
@pytest.mark.parametrize("missing", POLICIES)
def test_one_group_holds_everybody_or_those_who_are_asked(
    engine: str, person: bool, missing: str, run: Run
) -> None:
    for where in (False, True):
        rows = rows_of("text", missing, where=where)
        if missing != "exclude":  # no groups are declared, so any label is allowed
            rows = [replace(row, group="z") for row in rows]
        how: dict[str, Any] = {"person": person, "missing": missing, "where": where}
        check(run(engine, table_of(rows, "text"), None, **how), rows, None, **how)


@pytest.mark.rotates(5)
@pytest.mark.parametrize("engine", ["numpy", "polars", "pyarrow by itself", "duckdb"])
@pytest.mark.parametrize("person", [True, False], ids=["people", "rows"])
def test_very_many_groups_are_looked_up(
    engine: str, person: bool, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labels_engine, "MOST_LISTED", 1)
    monkeypatch.setattr(labels_engine, "MOST_BREAKS", 1)
    for kind in KINDS:
        groups = KINDS[kind][0]
        rows = rows_of(kind, "exclude", where=True)
        how: dict[str, Any] = {"person": person, "missing": "exclude", "where": True}
        check(run(engine, table_of(rows, kind), groups, **how), rows, groups, **how)


@pytest.mark.parametrize("engine", BACKENDS)
@pytest.mark.parametrize("person", [True, False], ids=["people", "rows"])
def test_with_one_group_the_cells_are_those_of_a_mean(
    engine: str, person: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rows = rows_of("text", "midpoint", where=False)
    table = table_of(rows, "text").with_columns(every=True)
    numpy = engine == "numpy"
    data = None if numpy else on_engine(engine, table, tmp_path, request)

    def counted(**more: Any) -> Tally:
        named = {"values": "value", "epsilon": "budget", **more}
        named |= {"person": "who"} if person else {}
        given = {name: table[own].to_list() for name, own in named.items()} if numpy else named
        opened = door.open(**given, data=data, missing="midpoint")
        return opened.count(door.Ask("numbers", BOUNDS))

    mean, shares = counted(), counted(where="every")
    assert not shares.cells[:, 2].any()
    assert shares.cells[:, 0].tolist() == mean.sums.tolist()
    assert shares.cells[:, 1].tolist() == (GRID * mean.counts - mean.sums).tolist()
    assert shares.levels.tolist() == mean.levels.tolist()
