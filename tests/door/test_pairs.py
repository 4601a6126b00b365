"""Two columns divide one unit into nine cells, with the same integers on every engine."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import GRID, rows
from epsilons.door.count.tallies import over_grid, squares, three_cells
from epsilons.door.count.units import cut
from epsilons.errors import ArgumentError, ColumnError, MissingValueError
from tests.door.conftest import grid

FIRST, SECOND = (0.0, 10.0), (-1.0, 4.0)


def some_rows(gaps: bool) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    n = 300
    who = rng.integers(0, 90, n)
    x, y = rng.uniform(-1.0, 11.0, n), rng.uniform(-2.0, 5.0, n)
    x[:4], y[:4] = [0.0, 10.0, 0.0, 10.0], [-1.0, 4.0, 4.0, -1.0]
    table = pl.DataFrame({"x": x, "y": y, "e": np.array([0.1, 0.5, 2.0])[who % 3], "who": who})
    if not gaps:
        return table
    numbers = pl.int_range(pl.len())
    return table.with_columns(
        pl.when(numbers % 7 != 3).then("x").alias("x"),
        pl.when(numbers % 5 != 2).then("y").alias("y"),
    )


def thirds(g: int) -> list[int]:
    both = g * g // GRID
    return [both, 2 * g - 2 * both, GRID - 2 * g + both]


def nine(g: int, h: int) -> list[int]:
    found = []
    one, two, _ = thirds(h)
    for part in thirds(g):
        below = [0, part * one // GRID, part * (one + two) // GRID, part]
        found += [below[j + 1] - below[j] for j in range(3)]
    return found


def reference(table: pl.DataFrame, person: bool) -> list[list[int]]:
    """Return the expected cells, computed with dictionaries.

    Missing values are replaced by the midpoint.
    """
    people: dict[Any, list[dict[str, Any]]] = {}
    for index, row in enumerate(table.iter_rows(named=True)):
        people.setdefault(row["who"] if person else index, []).append(row)

    def folded(own: list[dict[str, Any]], name: str, bounds: tuple[float, float]) -> int:
        steps = [grid(row[name], bounds) for row in own if row[name] is not None]
        r = len(steps)
        return (2 * sum(steps) + r) // (2 * r) if r else GRID // 2

    found: dict[float, list[int]] = {}
    for own in people.values():
        cells = nine(folded(own, "x", FIRST), folded(own, "y", SECOND))
        before = found.get(own[0]["e"], [0] * 9)
        found[own[0]["e"]] = [a + b for a, b in zip(before, cells, strict=True)]
    return [found[level] for level in sorted(found)]


def test_large_arrays_are_counted_on_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    table = some_rows(gaps=True)
    monkeypatch.setattr(rows, "SMALL", 10)
    opened = door.open(
        table["x"].to_numpy(), epsilon=table["e"].to_numpy(), y=table["y"].to_numpy(),
        missing="midpoint",
    )  # fmt: skip
    assert opened.count(door.Ask("pairs", FIRST, beside=SECOND)).cells.tolist() == reference(
        table, person=False
    )


def test_the_unit_is_whole_wherever_people_are() -> None:
    """The nine cells always sum to one unit: at the ends, next to them, and at random points."""
    rng = np.random.default_rng(1)
    ends = [
        0,
        1,
        2,
        GRID // 2 - 1,
        GRID // 2,
        GRID // 2 + 1,
        GRID - 2,
        GRID - 1,
        GRID,
        32768,
        32767,
    ]
    places = [*product(ends, ends), *rng.integers(0, GRID + 1, (2000, 2)).tolist()]
    g, h = (np.array(each, dtype=np.int64) for each in zip(*places, strict=True))
    parts = cut(g, h)
    for at, (first, second) in enumerate(places):
        cells = nine(int(first), int(second))
        assert min(cells) >= 0
        assert sum(cells) == GRID
        below = [cells[0], sum(cells[:2]), cells[3], sum(cells[3:5]), cells[6], sum(cells[6:8])]
        assert [int(parts[f"t{i}{j}"][at]) for i in range(3) for j in range(2)] == below
    assert (three_cells(np.ones_like(g), g, squares(g))[:, 0] == g * g // GRID).all()


def test_every_rounding_of_a_product_on_an_engine() -> None:
    """Engines round p·q/GRID correctly just below, at and just above integers, far beyond 2⁵³."""
    rng = np.random.default_rng(2)
    odd = (2 * rng.integers(GRID // 4, GRID // 2, 3000) + 1).tolist()
    # p·q ≡ −k modulo GRID. In float64, p·q can round up to the next multiple.
    short = [(each, -k * pow(each, -1, GRID) % GRID) for each in odd for k in (-1, 0, 1, 2, 9)]
    p, q = (np.array(each, dtype=np.int64) for each in zip(*short, strict=True))
    import narwhals as nw

    from epsilons.door.engines.grid_engine import over_grid as on_engines

    frame = nw.from_native(pl.DataFrame({"p": p, "q": q}).lazy())
    as_floats = [nw.col(name).cast(nw.Float64) for name in ("p", "q")]
    found = frame.select(on_engines(*as_floats).cast(nw.Int64).alias("r")).collect()["r"].to_list()
    exact = [int(a) * int(b) // GRID for a, b in zip(p, q, strict=True)]
    assert found == exact
    assert over_grid(p, q).tolist() == exact
    floats = np.floor(p.astype(np.float64) * q.astype(np.float64) / GRID)
    assert floats.tolist() != exact  # float arithmetic would give another result


def test_on_a_ladder_nothing_is_refused() -> None:
    table = some_rows(gaps=True).with_columns(
        pl.when(pl.int_range(pl.len()) % 11 == 4).then(None).otherwise("e").alias("e")
    )
    ladder = Ladder(np.array([0.1, 0.5, 2.0]), fine=False)
    opened = door.open("x", epsilon="e", data=table, missing="midpoint", ladder=ladder, y="y")
    found = opened.count(door.Ask("pairs", FIRST, beside=SECOND))
    assert found.cells.tolist() == reference(table.filter(pl.col("e").is_not_null()), person=False)
    assert (found.cells.sum(axis=1) == found.counts * GRID).all()


def test_what_does_not_fit_is_refused() -> None:
    table = some_rows(gaps=True)
    with pytest.raises(MissingValueError, match="x='x' or y='y' has missing values"):
        door.open("x", epsilon="e", data=table, y="y").count(
            door.Ask("pairs", FIRST, beside=SECOND)
        )
    for name, other in (("x", "y"), ("y", "x")):  # gaps in one column only
        whole = table.with_columns(pl.col(other).fill_null(1.0))
        for person in (None, "who"):
            opened = door.open("x", epsilon="e", data=whole, person=person, y="y")
            with pytest.raises(MissingValueError, match="x='x' or y='y' has missing"):
                opened.count(door.Ask("pairs", FIRST, beside=SECOND))
        assert whole[name].null_count() > 0
    text = table.with_columns(y=pl.lit("a"))
    with pytest.raises(ColumnError, match="y='y' must be a column of numbers"):
        door.open("x", epsilon="e", data=text, y="y")
    with pytest.raises(ColumnError, match="y='z'"):
        door.open("x", epsilon="e", data=table, y="z")
    with pytest.raises(ArgumentError, match="y must be the name of a column"):
        door.open("x", epsilon="e", data=table, y=[1.0])
    with pytest.raises(ArgumentError, match="x and y have different lengths"):
        door.open([1.0, 2.0], epsilon=1.0, y=[1.0])
    with pytest.raises(ArgumentError, match="y='y' names a column, but data is not given"):
        door.open([1.0, 2.0], epsilon=1.0, y="y")
    with pytest.raises(TypeError, match="one column"):
        door.open([1.0, 2.0], epsilon=1.0).count(door.Ask("pairs", FIRST, beside=SECOND))
