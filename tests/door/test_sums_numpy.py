"""NumPy, which counts small arrays, returns the same integers as engines."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import epsilons.door.rows
from epsilons.door import Ask, Tally
from epsilons.door.count.asks import Names, Rules
from epsilons.door.rows import Rows
from epsilons.errors import EpsilonsError
from tests.door.asking import sums_of

VALUES = st.one_of(
    st.floats(width=64),
    st.floats(-3.0, 3.0),
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324, -5e-324, 1e308, -1e308, 0.5]),
)
BUDGETS = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, 2.5e-308, 1e308, math.inf, 0.1, 2.0**900, 2.0**901]),
    st.floats(0.0, allow_nan=False),
    st.floats(0.9, 1.1),
)
BAD = st.sampled_from([math.nan, -1.0, -5e-324, -1e308, -math.inf])
BOUNDS = st.sampled_from([(0.0, 1.0), (-3.0, 3.0), (0.1, 0.7), (-1e300, 1e300), (1e-9, 2e-9)])


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[float], Any, list[float] | None]:
    n = draw(st.integers(0, 25))
    values = draw(st.lists(VALUES, min_size=n, max_size=n))
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
    return values, epsilon, who


def outcome(held: Any, ask: Ask, missing: str) -> tuple[Any, ...]:
    rules = Rules(Names(), missing, 1, None, None)
    try:
        tally = Rows(held, rules).count(ask)
    except EpsilonsError as error:
        return type(error), str(error)
    return as_tuple(tally)


def as_tuple(tally: Tally) -> tuple[Any, ...]:
    assert tally.levels.dtype == np.float64
    assert tally.counts.dtype == tally.sums.dtype == np.int64
    assert not np.signbit(tally.levels).any()
    return tally.levels.tolist(), tally.counts.tolist(), tally.cells.tolist()


@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("scalar", [False, True])
def test_large_arrays_give_what_small_ones_give(
    monkeypatch: pytest.MonkeyPatch, scalar: bool, person: bool
) -> None:
    source = np.random.default_rng(11)
    n = epsilons.door.rows.SMALL + 1
    values = source.normal(0.0, 1.0, n)
    who = source.integers(0, n // 3, n) if person else None
    budgets = source.choice([0.1, 0.5, 2.0], n)
    if who is not None:
        budgets = budgets[who]
    epsilon: Any = 0.5 if scalar else budgets
    by_engine = sums_of(values, epsilon=epsilon, bounds=(-1.0, 1.0), person=who)
    monkeypatch.setattr(epsilons.door.rows, "SMALL", n)
    by_numpy = sums_of(values, epsilon=epsilon, bounds=(-1.0, 1.0), person=who)
    assert as_tuple(by_engine) == as_tuple(by_numpy)
    assert by_engine.n == (n if who is None else np.unique(who).size)


def test_small_arrays_import_no_engine() -> None:
    code = (
        "import sys; from epsilons import door;"
        "rows = door.open([0.1, 0.2], epsilon=[1.0, 2.0], person=['a', 'b']);"
        "rows.count(door.Ask('numbers', (0.0, 1.0))), rows.line();"
        "assert not {'polars', 'narwhals', 'pandas', 'pyarrow', 'duckdb'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
