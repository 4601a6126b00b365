"""Frequencies from NumPy equal those from engines, and the sums of everyone's cells."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import epsilons.door.rows
from epsilons.door.count.asks import Ask, Rules
from epsilons.door.rows import Rows
from epsilons.errors import EpsilonsError
from tests.door.asking import cell_of_each, cells_of
from tests.door.conftest import declared_as

POINTS = [-math.inf, -1.0, -0.0, 0.0, 5e-324, 0.5, 1.0, 2.0, 1e308, math.inf]
DECLARED: dict[str, tuple[list[Any], Any]] = {
    "text": (["a", "b", "ü"], st.sampled_from(["a", "b", "ü", "", "B", None])),
    "integers": ([0, 7, -(2**62)], st.sampled_from([0, 7, -(2**62), 5, 2**62, None])),
    "booleans": ([True, False], st.sampled_from([True, False, None])),
    "bins": (
        [(-math.inf, -1), (0, 0.5), (0.5, 2)],
        st.one_of(st.sampled_from([*POINTS, math.nan]), st.floats(width=64)),
    ),
    "edges": (
        [-1.0, 0.0, 0.5, 1e308],
        st.one_of(st.sampled_from([*POINTS, math.nan]), st.floats(-2.0, 2.0)),
    ),
}
TYPES: dict[str, Any] = {
    "text": pl.String,
    "integers": pl.Int64,
    "booleans": pl.Boolean,
    "bins": pl.Float64,
}
BUDGETS = st.sampled_from([0.0, -0.0, 5e-324, 0.1, 1.0, 1.0005, 1.01, 1e308, math.inf])
BAD = st.sampled_from([math.nan, -1.0, -math.inf])


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, list[Any], Any, list[float] | None, str | None]:
    kind = draw(st.sampled_from(list(DECLARED)))
    n = draw(st.integers(0, 25))
    values = draw(st.lists(DECLARED[kind][1], min_size=n, max_size=n))
    who: list[float] | None = None
    if draw(st.booleans()):
        who = draw(st.lists(st.sampled_from([0.0, -0.0, 1.5, -7.0]), min_size=n, max_size=n))
    epsilon: Any
    if draw(st.integers(0, 4)) == 0:
        epsilon = draw(BUDGETS.filter(lambda e: e > 0))
    elif who is not None and draw(st.integers(0, 4)):
        of = {p: draw(BUDGETS) for p in sorted(set(who))}
        epsilon = [of[p] for p in who]
    else:
        budgets = st.one_of(BUDGETS, BAD) if draw(st.integers(0, 5)) == 0 else BUDGETS
        epsilon = draw(st.lists(budgets, min_size=n, max_size=n))
    other = draw(st.sampled_from([None, "rest", "rest"]))
    return kind, values, epsilon, who, other


def outcome(held: Any, rules: Rules) -> tuple[Any, ...]:
    unit = rules.unit
    try:
        tally = Rows(held, rules).count(Ask("cells"))
    except EpsilonsError as error:
        return type(error), str(error)
    assert not np.signbit(tally.levels).any()
    assert (tally.cells.sum(axis=1) == tally.counts * unit).all()
    return tally.levels.tolist(), tally.counts.tolist(), tally.cells.tolist(), tally.unit


@settings(max_examples=60, deadline=None)
@given(table=tables())
def test_everyone_apart_adds_up(
    table: tuple[str, list[Any], Any, list[float] | None, str | None],
) -> None:
    kind, values, epsilon, _, other = table
    categories = DECLARED[kind][0]
    try:
        tally, level, cell = cell_of_each(
            values, epsilon=epsilon, other=other, **declared_as(categories)
        )
    except EpsilonsError:
        return
    assert level.dtype == cell.dtype == np.int64
    table_ = np.zeros_like(tally.cells)
    np.add.at(table_, (level, cell), 1)
    assert table_.tolist() == tally.cells.tolist()
    if isinstance(epsilon, list):
        assert (tally.levels[level] <= np.array(epsilon)).all()


@pytest.mark.parametrize("person", [False, True], ids=["rows", "people"])
@pytest.mark.parametrize(
    "form", ["list", "numpy", "polars", "categorical", "pandas", "pandas category", "pyarrow"]
)
def test_large_arrays_give_what_small_ones_give(
    monkeypatch: pytest.MonkeyPatch, form: str, person: bool
) -> None:
    source = np.random.default_rng(11)
    n = 2000
    text = source.choice(["a", "b", "c"], n)
    values: Any = {
        "list": text.tolist,
        "numpy": lambda: text,
        "polars": lambda: pl.Series(text.tolist()),
        "categorical": lambda: pl.Series(text.tolist(), dtype=pl.Categorical),
        "pandas": lambda: pd.Series(text, index=range(n, 2 * n)),
        "pandas category": lambda: pd.Series(text.tolist()).astype("category"),
        "pyarrow": lambda: pa.chunked_array([text[:7].tolist(), text[7:].tolist()]),
    }[form]()
    who = source.integers(0, n // 3, n) if person else None
    epsilon = source.choice([0.1, 0.5, 2.0], n)
    if who is not None:
        epsilon = epsilon[who]
    given: dict[str, Any] = {"epsilon": epsilon, "categories": ["a", "b"], "other": "x"}
    small = cells_of(values, person=who, **given)
    monkeypatch.setattr(epsilons.door.rows, "SMALL", 10)
    large = cells_of(values, person=who, **given)
    assert small.cells.tolist() == large.cells.tolist()
    assert small.levels.tolist() == large.levels.tolist()
    if not person:
        assert cell_of_each(values, **given)[0].cells.tolist() == large.cells.tolist()


@pytest.mark.parametrize("form", ["polars", "pandas", "pyarrow"])
@pytest.mark.parametrize("categories", [["a", "b"], [0, 1], [True, False], [0.0, 0.5, 1.0]])
def test_people_of_series(form: str, categories: list[Any]) -> None:
    values = [categories[0], categories[1], categories[1]]
    frame = pl.DataFrame({"v": values, "e": [2.0, 0.5, 2.0]})
    data = {"polars": frame, "pandas": frame.to_pandas(), "pyarrow": frame.to_arrow()}[form]
    tally, level, cell = cell_of_each(data["v"], epsilon=data["e"], **declared_as(categories))
    assert level.tolist() == [1, 0, 1]
    assert cell.tolist() == [0, 1, 1]
    assert tally.cells.tolist() == [[0, 1], [1, 1]]


def test_small_arrays_import_no_engine() -> None:
    code = (
        "import sys; from epsilons import door;"
        "words, bins = door.declare(['a', 'b'], None, None), door.declare(None, [0, 5, 9], None);"
        "door.open(['a', 'b'], epsilon=[1.0, 2.0], categories=words).count(door.Ask('cells'));"
        "door.open([1.0, 2.0], epsilon=1.0, categories=bins).count(door.Ask('cells'));"
        "assert not {'polars', 'narwhals', 'pandas', 'pyarrow', 'duckdb'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
