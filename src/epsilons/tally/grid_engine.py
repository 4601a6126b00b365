"""The grid in words that an engine is faster at: the same integers as everywhere.

A query of several numbers costs what its arithmetic costs. The smaller of two numbers takes DuckDB
ten times as long as their product, and a square in floats has three times the steps of one in
integers. `sums_engine.py` has the words that all engines understand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from epsilons.tally.engines import Kind, engine_of
from epsilons.tally.grid import GRID, HALF
from epsilons.tally.sql import DIALECTS, Dialect

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["SQUARES", "Square", "in_sql", "is_moderate", "steps_by_sizes", "within_reach"]

FAR: Final = 2.0**500
"""What is farther from zero is cut to it: beyond all moderate bounds, and nothing overflows."""

MODERATE: Final = 2.0**400
"""Bounds, and steps between them, that are neither larger nor smaller than one over it."""

Square: TypeAlias = tuple[str, str | None, str]
"""A column of integers on the grid, the one that says where it is valid, and the new column."""


def is_moderate(bounds: tuple[float, float]) -> bool:
    """Whether `steps_by_sizes` may be used between bounds."""
    lo, hi = bounds
    step = GRID / (hi - lo)
    return max(abs(lo), abs(hi), step) <= MODERATE and step >= 1.0 / MODERATE


def within_reach(value: nw.Expr) -> nw.Expr:
    """Return finite numbers, cut to ±FAR, and null for all others.

    What is finite is asked first, and by that name: DuckDB answers comparisons from the extremes
    that a Parquet file states, and NaN is not among these.
    """
    import narwhals as nw

    far = nw.when(value > 0.0).then(nw.lit(FAR)).otherwise(nw.lit(-FAR))
    near = nw.when(value.abs() <= FAR).then(value).otherwise(far)
    return nw.when(value.is_finite()).then(near)


def steps_by_sizes(value: nw.Expr, bounds: tuple[float, float]) -> nw.Expr:
    """Return numbers within reach on the grid, in floats, without a minimum or a maximum.

    u + |u| is 2u or 0, so that t, the floor of its steps and a half, is whole and not below 0. Then
    d = t − GRID, and (d − |d|)/2 is d or 0: the smaller one of t and GRID is left, as by a clip.
    docs/proofs/tally.md shows that all of it is exact.
    """
    lo, hi = bounds
    above = value - lo if lo else value
    # Written out, not named: an engine finds what it has twice.
    d = ((above + above.abs()) * (0.5 * (GRID / (hi - lo))) + 0.5).floor() - float(GRID)
    return (d - d.abs()) * 0.5 + float(GRID)


def _in_integers(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """`grid.squares` as it stands, where quotients of integers are whole."""
    import narwhals as nw

    made = []
    for name, valid, new in squares:
        off = nw.col(name) - HALF
        square = (off * off) // GRID
        if valid is not None:
            square = nw.when(nw.col(valid) > 0).then(square).otherwise(0)
        made.append(square.cast(nw.Int64).alias(new))
    return rows.with_columns(*made)


def in_sql(
    rows: nw.LazyFrame[Any], value: str, bounds: tuple[float, float], others: Sequence[str]
) -> nw.LazyFrame[Any]:
    """The step to the grid as one text, between moderate bounds: `x`, null if missing.

    Args:
        rows: of an engine that is asked in SQL.
        value: a column of numbers in double precision, or what makes them so, in SQL.
        bounds: the lower and the upper end of the grid.
        others: what else is kept, in SQL.
    """
    kind = engine_of(rows).kind
    sql, steps = DIALECTS[kind], STEPS[kind]
    return sql.selected(rows, [f"CAST({steps(sql, value, bounds)} AS BIGINT) AS x", *others])


def _by_sizes(sql: Dialect, value: str, bounds: tuple[float, float]) -> str:
    """`steps_by_sizes` of `within_reach` in SQL."""
    (lo, hi), number = bounds, sql.number
    far = f"CASE WHEN {value} > 0 THEN {number(FAR)} ELSE {number(-FAR)} END"
    near = f"CASE WHEN abs({value}) <= {number(FAR)} THEN {value} ELSE {far} END"
    near = f"(CASE WHEN isfinite({value}) THEN {near} END)"
    above = f"({near} - {number(lo)})" if lo else near
    steps = f"({above} + abs({above})) * {number(0.5 * (GRID / (hi - lo)))} + {number(0.5)}"
    d = f"(floor({steps}) - {number(float(GRID))})"
    return f"({d} - abs({d})) * {number(0.5)} + {number(float(GRID))}"


def _clipped(sql: Dialect, value: str, bounds: tuple[float, float]) -> str:
    """Steps of the grid that are clipped before their floor, which Spark takes of 64 bits alone."""
    (lo, hi), number = bounds, sql.number
    steps = f"({value} - {number(lo)}) * {number(GRID / (hi - lo))} + {number(0.5)}"
    cut = f"greatest(least({steps}, {number(GRID + 0.5)}), {number(0.0)})"
    return f"CASE WHEN {value} - {value} = {number(0.0)} THEN floor({cut}) END"


STEPS: Final[dict[Kind, Callable[[Dialect, str, tuple[float, float]], str]]] = {
    "duckdb": _by_sizes,
    "spark": _clipped,
}
"""Numbers on the grid in SQL, by `Engine.kind`."""


def _in_text(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """`grid.squares` in SQL, whose integers are shifted: Narwhals has no word for that."""
    kind = engine_of(rows).kind
    sql, made = DIALECTS[kind], ["*"]
    for name, valid, new in squares:
        off = f"(CAST({sql.name(name)} AS BIGINT) - {HALF})"
        text = SHIFTED[kind].format(f"{off} * {off}", GRID.bit_length() - 1)
        if valid is not None:
            text = f"CASE WHEN {sql.name(valid)} > 0 THEN {text} ELSE 0 END"
        made.append(f"CAST({text} AS BIGINT) AS {sql.name(new)}")
    return sql.selected(rows, made)


SHIFTED: Final[dict[Kind, str]] = {"duckdb": "({}) >> {}", "spark": "shiftright({}, {})"}
"""An integer over a power of two, rounded down, by `Engine.kind`."""

SQUARES: Final[dict[Kind, Callable[[nw.LazyFrame[Any], Sequence[Square]], nw.LazyFrame[Any]]]] = {
    "polars": _in_integers,
    "duckdb": _in_text,
    "spark": _in_text,
}
"""Ways to squares in integers, by `Engine.kind`."""
