"""Budgets that are not float64 numbers are rounded down to float64, in every argument."""

from __future__ import annotations

import math
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import epsilons as ep
from epsilons.budgets.allocation.declared import declared_of
from epsilons.budgets.levels import Ladder, float_down, floats_down
from epsilons.door import open as open_rows
from epsilons.door.count.asks import Names
from epsilons.door.engines.floats import misses_decimals
from epsilons.door.given import arrays, columns
from epsilons.errors import BudgetError
from epsilons.local.people import budgets_of
from tests.door.asking import cells_of, folded, sums_of

BOUNDS = (0.0, 1.0)
TENTH = Decimal("0.1")
BELOW = 0.09999999999999999
"""The largest float below one tenth. The float 0.1 is above one tenth."""

NUMBERS: dict[str, tuple[Any, float]] = {
    "a decimal below its float": (TENTH, BELOW),
    "a decimal above its float": (Decimal("0.3"), 0.3),
    "a decimal that is a float": (Decimal("0.75"), 0.75),
    "a fraction": (Fraction(1, 10), BELOW),
    "an integer": (2**53 + 3, 2.0**53 + 2),
    "a large integer": (2**63 + 2**53 - 1, 2.0**63 + 2**53 - 2**11),
    "an integer beyond floats": (10**400, sys.float_info.max),
    "a decimal beyond floats": (Decimal("1e400"), sys.float_info.max),
    "a decimal that is tiny": (Decimal("4e-324"), 0.0),
    "a fraction that is tiny": (Fraction(1, 10**400), 0.0),
    "an infinite decimal": (Decimal("Infinity"), math.inf),
    "a long float": (np.nextafter(np.longdouble(1), np.longdouble(0)), 1.0 - 2.0**-53),
    "a long float beyond floats": (np.longdouble("1e400"), sys.float_info.max),
    "an integer of NumPy": (np.int64(2**53 + 3), 2.0**53 + 2),
    "an unsigned one": (np.uint64(2**64 - 1), 2.0**64 - 2.0**11),
    "a short float": (np.float32(0.1), float(np.float32(0.1))),
}
ABOVE_ZERO = {name: pair for name, pair in NUMBERS.items() if 0.0 < pair[1] < math.inf}


def counts_as(budget: float) -> float:
    """Return a rounded budget clipped to the public range: 0, or from 2⁻⁶⁰ to 2²⁰, or ∞."""
    if budget * 2.0**60 < 1.0:
        return 0.0
    return budget if math.isinf(budget) else min(budget, 1048576.0)


@pytest.mark.parametrize("name", NUMBERS)
def test_the_largest_float_that_is_not_above(name: str) -> None:
    number, expected = NUMBERS[name]
    assert float_down(number) == expected
    for array in (np.array([number]), np.array([number], dtype=object), np.array(number)):
        assert floats_down(array).ravel().tolist() == [expected]
        assert floats_down(array).shape == array.shape


@pytest.mark.parametrize("bad", [Decimal("NaN"), Decimal("sNaN"), np.longdouble("nan"), math.nan])
def test_what_is_no_number_stays_none(bad: Any) -> None:
    assert math.isnan(float_down(bad))


@pytest.mark.parametrize("bad", [Decimal("-1e-400"), Fraction(-1, 10**400), -1])
def test_what_is_negative_stays_negative(bad: Any) -> None:
    assert float_down(bad) < 0.0
    with pytest.raises(BudgetError, match="negative"):
        sums_of([0.0, 1.0], epsilon=bad, bounds=BOUNDS)
    with pytest.raises(BudgetError, match="negative"):
        sums_of([0.0, 1.0], epsilon=[bad, 1.0], bounds=BOUNDS)


def test_decimals_in_a_context_that_forbids_floats() -> None:
    from decimal import FloatOperation

    with localcontext() as context:
        context.traps[FloatOperation] = True
        assert float_down(TENTH) == BELOW


@pytest.mark.parametrize("name", ABOVE_ZERO)
def test_one_budget_for_all(name: str) -> None:
    number, expected = ABOVE_ZERO[name]
    counted = sums_of([0.0, 1.0], epsilon=number, bounds=BOUNDS)
    assert counted.levels.tolist() == [counts_as(expected)]


FORMS: dict[str, Any] = {
    "list": list,
    "objects": lambda budgets: np.array(budgets, dtype=object),
    "pandas": lambda budgets: pd.Series(budgets, dtype=object),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NUMBERS)
def test_budgets_of_everyone(name: str, form: str) -> None:
    number, expected = NUMBERS[name]
    budgets, values = FORMS[form]([number, 0.5, number]), [0.0, 1.0, 1.0]
    levels = sorted({counts_as(expected), 0.5})
    assert sums_of(values, epsilon=budgets, bounds=BOUNDS).levels.tolist() == levels
    cells = cells_of([*"aab"], epsilon=budgets, categories=["a", "b"])
    assert cells.levels.tolist() == levels
    assert open_rows(values, epsilon=budgets).line().levels.tolist() == levels
    assert sorted(set(folded(values, budgets).budgets)) == levels
    assert ep.Budgets(budgets).levels.tolist() == levels
    assert budgets_of(budgets, 3).tolist() == [expected, 0.5, expected]


@pytest.mark.parametrize(
    "budgets",
    [
        np.array([2**53 + 3, 1]),
        np.array([2**53 + 3, 1], dtype=np.uint64),
        np.array([2**53 + 3, 1], dtype=np.longdouble) + np.array([0.25, 0], dtype=np.longdouble),
        pl.Series([2**53 + 3, 1]),
        pl.Series([2**53 + 3, 1], dtype=pl.Int128),
        pa.array([2**53 + 3, 1]),
        pa.array([Decimal(2**53 + 3), Decimal(1)]),
        pd.Series([2**53 + 3, 1], dtype="Int64"),
    ],
    ids=lambda budgets: f"{type(budgets).__name__}",
)
def test_typed_arrays_are_rounded_down(budgets: Any) -> None:
    read = arrays.read([0.0, 1.0], budgets, None, Names(), lenient=False)
    assert np.asarray(read.epsilon).tolist() == [2.0**53 + 2, 1.0]
    counted = sums_of([0.0, 1.0], epsilon=budgets, bounds=BOUNDS)
    assert counted.levels.tolist() == [1.0, 2.0**20]  # 2**53 + 2 is clipped to 2²⁰


def test_levels_caps_and_keys() -> None:
    budgets: dict[Any, int] = {TENTH: 3, BELOW: 4, 1: 1}  # TENTH becomes the float BELOW
    assert ep.Budgets(budgets) == ep.Budgets({BELOW: 7, 1.0: 1})
    declared = declared_of("e", budgets, Decimal("0.9"))
    assert declared.ladder.levels.tolist() == [BELOW, 1.0]
    assert declared.guess is not None
    assert declared.guess.tolist() == [7, 1]
    assert declared.cap == math.nextafter(0.9, 0.0)
    assert declared_of(TENTH, None, None).ladder.levels.tolist() == [BELOW]
    assert ep.allocate({0.1: 2, BELOW: 2}).for_each(np.array([TENTH])) <= BELOW


def test_a_tiny_budget_leaves_out() -> None:
    with pytest.raises(BudgetError, match="for everyone"):
        sums_of([0.0, 1.0], epsilon=Decimal("1e-400"), bounds=BOUNDS)
    counted = sums_of([0.0, 1.0], epsilon=[Decimal("1e-400"), 1], bounds=BOUNDS)
    assert counted.levels.tolist() == [0.0, 1.0]


ENGINES: dict[str, Any] = {
    "polars": pl.from_arrow,
    "lazy": lambda table: pl.DataFrame(pl.from_arrow(table)).lazy(),
    "pyarrow": lambda table: table,
    "duckdb": duckdb.from_arrow,
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects": lambda table: table.to_pandas(),
}


def levels_of(engine: str, budgets: pa.Array, ladder: Ladder | None = None) -> list[float]:
    table = pa.table({"v": pa.array(np.zeros(len(budgets))), "e": budgets})
    counted = sums_of("v", epsilon="e", bounds=BOUNDS, data=ENGINES[engine](table), ladder=ladder)
    found: list[float] = counted.levels.tolist()
    return found


def rounded_of(engine: str, budgets: pa.Array) -> list[float]:
    """Return budgets as floats, ascending, before they are clipped to the public range."""
    table = pa.table({"v": pa.array(np.zeros(len(budgets))), "e": budgets})
    data = ENGINES[engine](table)
    found: Any
    if engine == "pandas objects" and data["e"].dtype == object:
        found = arrays.read(data["v"], data["e"], None, Names(), lenient=False).epsilon
        return sorted(found.tolist())
    read = columns.read("v", "e", data, None, "numbers", None, [])
    assert isinstance(read.epsilon, str)
    found = read.frame.select(read.epsilon).collect()[read.epsilon]
    return sorted(map(float, found.to_list()))


def nine_digits() -> tuple[pa.Table, list[float]]:
    """Return random decimals and their floats.

    Polars would replace a division by 10⁹ by a multiplication with its inverse, which rounds
    differently.
    """
    source = np.random.default_rng(4)
    wholes = (10 ** source.uniform(0, 13, 400)).astype(np.int64).tolist()
    budgets = [Decimal(whole).scaleb(-9) for whole in wholes]
    table = pa.table({"v": np.zeros(400), "e": pa.array(budgets, pa.decimal128(18, 9))})
    return table, [float_down(budget) for budget in budgets]


@pytest.mark.parametrize("engine", ENGINES)
def test_random_decimals_on_engines(engine: str) -> None:
    table, exact = nine_digits()
    counted = sums_of("v", epsilon="e", bounds=BOUNDS, data=ENGINES[engine](table))
    assert set(counted.levels.tolist()) <= set(exact)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [pa.int64(), pa.uint64()], ids=str)
def test_large_integers_on_engines(engine: str, dtype: Any) -> None:
    given_ = [1, 2**53, 2**55 + 3, 2**62 + 2**10 - 1]
    found = rounded_of(engine, pa.array(given_, dtype))
    assert found[:2] == [1.0, 2.0**53]
    assert levels_of(engine, pa.array(given_, dtype)) == [1.0, 2.0**20]
    for level, number in zip(found, given_, strict=True):
        assert Fraction(level) <= number
        assert Fraction(level) >= number * (1 - Fraction(1, 2**47))


def test_decimals_of_many_digits_meet_no_declared_level() -> None:
    long = pa.array([Decimal("0.5"), Decimal(1)], pa.decimal128(38, 18))
    with pytest.raises(BudgetError, match="floats of the column first"):
        levels_of("duckdb", long, Ladder.declare(np.array([0.5])))
    assert not misses_decimals(Ladder.declare(np.array([0.5])), 3)
    assert misses_decimals(Ladder.declare(np.array([0.5])), None)
    assert not misses_decimals(Ladder.up_to(1.0), None)
    assert len(levels_of("duckdb", long, Ladder.up_to(4.0))) == 2
