"""One draw of several means has a privacy loss of at most ε, on any engine.

Two tables differ in one person. Both are published with the same draws. All public output must be
the same, and the totals of all means together can differ only as much as the person's ε allows.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import epsilons as ep
from tests.fuzz.replayed import Drawn, Run, compared, loss, tape

Table = dict[str, Any]


def _duckdb(table: Table) -> Any:
    duckdb = pytest.importorskip("duckdb")
    frame = pl.DataFrame(table)
    return duckdb.connect().from_arrow(frame.to_arrow())


FORMS: dict[str, Callable[[Table], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy polars": lambda table: pl.DataFrame(table).lazy(),
    "arrow": pa.table,
    "duckdb": _duckdb,
}
BUDGETS = np.array([0.1, 0.1, 0.5, 0.5, 2.0, 2.0])
"""Budgets by person. Each person has three rows."""


def tables(who: int, seed: int) -> tuple[Table, Table]:
    """Return a random table, and a copy with other values for one person."""
    chance = np.random.default_rng(seed)
    people = np.repeat(np.arange(len(BUDGETS)), 3)
    first: Table = {"who": people, "ε": BUDGETS[people]}
    second: Table = dict(first)
    for name in "abc":
        values = chance.choice([-3.0, 0.0, 2.5, 7.1, 10.0, 99.0], len(people))
        others = values.copy()
        others[people == who] = chance.choice([0.0, 10.0, 3.3, -1e300, 1e300], 3)
        if seed == 0:  # in every mean, the person moves from the lower to the upper bound
            values[people == who], others[people == who] = [-3.0, 0.0, 0.0], [10.0, 99.0, 1e300]
        first[name], second[name] = values, others
    return first, second


def published(form: str, table: Table, earlier: list[Drawn] | None) -> Run:
    questions = [ep.Mean(name, bounds=(0, 10), method="proportional") for name in "abc"]
    given: Table = {"data": FORMS[form](table), "epsilon": "ε", "person": "who"}
    with tape(earlier) as drawn:
        return Run(ep.publish(questions, source=ep.Seeded(1), **given), drawn, None)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("who", [0, 3, 5])
def test_neighbours_cannot_be_told_apart(form: str, who: int) -> None:
    moved = []
    for seed in range(3):
        one, other = tables(who, seed)
        first = published(form, one, None)
        second = published(form, other, first.drawn)
        assert [drawn[0].kind for drawn in first.drawn] == ["several sums"]
        compared(first, second, Fraction(float(BUDGETS[who])))
        moved.append(loss(first.drawn[0][0], first.drawn[0][1], second.drawn[0][1]))
    # The bound is tight: on one table, the loss is nearly ε.
    assert max(moved) > Fraction(float(BUDGETS[who])) * Fraction(99, 100)
