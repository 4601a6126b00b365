"""The grid in words that an engine is faster at: the same integers as everywhere.

A query of several numbers costs what its arithmetic costs. The smaller of two numbers takes DuckDB
ten times as long as their product, and a square in floats has three times the steps of one in
integers. `sums_engine.py` has the words that all engines understand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from epsilons.tally.engines import Kind
from epsilons.tally.grid import GRID, HALF

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["SQUARES", "Square", "is_moderate", "steps_by_sizes", "within_reach"]

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


def _on_duckdb(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """`grid.squares` in DuckDB, whose integers are shifted: Narwhals has no word for that."""
    import narwhals as nw

    made = _texts(squares, '"', "(({0} - {1}) * ({0} - {1})) >> {2}")
    native: Any = rows.to_native()
    found: nw.LazyFrame[Any] = nw.from_native(native.project(", ".join(made)))
    return found


def _on_spark(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """Products of integers that are shifted, in one text.

    PySpark asks Java for each word of an expression, half a dozen times: the words in floats took
    1,500 questions, which is a tenth of a second and more before a row is read.
    """
    import narwhals as nw

    off = "(CAST({0} AS BIGINT) - {1}L)"
    made = _texts(squares, "`", f"shiftright({off} * {off}, {{2}})")
    native: Any = rows.to_native()
    found: nw.LazyFrame[Any] = nw.from_native(native.selectExpr(*made))
    return found


def _texts(squares: Sequence[Square], mark: str, square: str) -> list[str]:
    """All columns, and squares, in SQL.

    Args:
        squares: of which columns.
        mark: what names stand between.
        square: of a column {0}, less {1}, shifted by {2}.
    """
    made = ["*"]
    for name, valid, new in squares:
        text = square.format(f"{mark}{name}{mark}", HALF, GRID.bit_length() - 1)
        if valid is not None:
            text = f"CASE WHEN {mark}{valid}{mark} > 0 THEN {text} ELSE 0 END"
        made.append(f"CAST({text} AS BIGINT) AS {mark}{new}{mark}")
    return made


SQUARES: Final[dict[Kind, Callable[[nw.LazyFrame[Any], Sequence[Square]], nw.LazyFrame[Any]]]] = {
    "polars": _in_integers,
    "duckdb": _on_duckdb,
    "spark": _on_spark,
}
"""Ways to squares in integers, by `Engine.kind`."""
