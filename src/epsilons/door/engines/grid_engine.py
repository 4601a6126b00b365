"""Numbers on the grid, as expressions of engines. The integers are the same as in `tallies.py`.

All engines agree on these expressions. They use floor instead of round, and casts outside of
aggregates. They compare in ways that do not depend on whether an engine sorts NaN last. They never
divide by zero, and use no integer division. For some engines there are faster alternatives, because
arithmetic dominates the cost of a query of several numbers. In DuckDB the minimum of two numbers
takes ten times as long as their product. A square in floats takes three times as many steps as one
in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from epsilons.door.count.tallies import GRID, HALF
from epsilons.door.count.units import BELOW
from epsilons.door.engines.expressions import Aggregate, floats
from epsilons.door.engines.floats import finite, less_itself_is_0
from epsilons.door.engines.table import DIALECTS, EngineKind, engine_of
from epsilons.door.given.columns import Columns

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "NUMBERS",
    "SQUARES",
    "GridNumber",
    "Square",
    "is_moderate",
    "lacking",
    "on_grid",
    "over_grid",
    "steps_by_sizes",
    "valid_rows",
    "with_parts",
    "with_squares",
    "within_reach",
]

_SPLIT: Final = 2**15
"""The square root of GRID."""

FAR: Final = 2.0**500
"""Values are clipped to ± `FAR`, which is beyond all moderate bounds, so nothing overflows."""

MODERATE: Final = 2.0**400
"""Bounds are moderate if they are at most `MODERATE` in magnitude, and the factor from values to
grid steps is from 1 / `MODERATE` to `MODERATE`."""

Square: TypeAlias = tuple[str, str | None, str]
"""A column of integers on the grid; the column of its validity flags; and the name of the
result."""

GridNumber: TypeAlias = tuple[str, str, tuple[float, float]]
"""The name of a number on the grid; a column or SQL expression of doubles; and the ends of the
grid."""


def on_grid(
    table: Columns,
    column: str,
    bounds: tuple[float, float],
    name: str = "x",
    asked: nw.Expr | None = None,
    *,
    paired: bool = False,
) -> list[nw.Expr]:
    """Return columns with the number of every row on the grid, and a validity flag where needed.

    For a missing value the number is null, or it is 0 and the column `{name} is valid` is 0. If
    every row is its own person, missing numbers of a pair are in the middle of the range.

    Args:
        table: a frame with checked columns.
        column: the column of numbers.
        bounds: the lower and the upper end of the grid.
        name: the name of the new column.
        asked: whether a value counts. If it is false or null, the value counts as missing.
        paired: whether the column is one of two columns of numbers.
    """
    import narwhals as nw

    value = floats(table, column)
    engine = engine_of(table.frame)
    in_middle = paired and table.person is None
    if not in_middle and engine.slow_clip and is_moderate(bounds):
        near = within_reach(value)
        near = near if asked is None else nw.when(asked).then(near)
        return [steps_by_sizes(near, bounds).cast(nw.Int64).alias(name)]
    # Values are clipped before the floor. The floor of any float from 0 to GRID + ½ is an integer
    # from 0 to GRID, so privacy does not depend on rounding. Spark's floor returns only 64 bits.
    cut = _cut(table, value, bounds)
    if not in_middle and engine.nullable:
        steps = cut if engine.truncates else cut.floor()
        there = value.is_finite() if engine.finite else less_itself_is_0(value)
        there = there if asked is None else there & asked
        # Cast last: an engine can share a cast between two conditions and evaluate it before both,
        # and a cast of NaN to an integer fails.
        return [nw.when(there).then(steps).cast(nw.Int64).alias(name)]
    # Nulls in conditions are replaced, because not all engines treat null as false.
    valid = finite(value) if asked is None else finite(value) & asked.fill_null(False)
    nothing = float(HALF if in_middle else 0)
    return [
        nw.when(valid).then(cut.floor()).otherwise(nothing).cast(nw.Int64).alias(name),
        valid.cast(nw.Int64).alias(f"{name} is valid"),
    ]


def _cut(table: Columns, value: nw.Expr, bounds: tuple[float, float]) -> nw.Expr:
    """Return numbers in grid steps plus ½, clipped to [0, GRID + ½]."""
    import narwhals as nw

    lo, hi = bounds
    steps, most = (value - lo if lo else value) * (GRID / (hi - lo)) + 0.5, GRID + 0.5
    if not engine_of(table.frame).sql:
        return steps.clip(0.0, most)
    return nw.max_horizontal(nw.min_horizontal(steps, nw.lit(most)), nw.lit(0.0))


def lacking(people: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
    """Mark people without one of two numbers as absent, and set both numbers to the middle."""
    import narwhals as nw

    valid = [nw.col(f"{name}{end} is valid") for end in ("", "2")]
    people = people.with_columns(
        (nw.min_horizontal(*valid) <= 0).cast(nw.Int64).alias(f"{name} is absent")
    )
    gone = nw.col(f"{name} is absent") > 0
    return people.with_columns(
        nw.when(gone).then(HALF).otherwise(nw.col(each)).cast(nw.Int64).alias(each)
        for each in (name, f"{name}2")
    )


def with_parts(people: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
    """Add the parts in `units.cut` of each person's two numbers."""
    import narwhals as nw

    def number(column: str) -> nw.Expr:
        return nw.col(column).cast(nw.Float64)

    g, h = number(name), number(f"{name}2")
    first_name, second_name = f"{name} a", f"{name} b"
    people = people.with_columns(
        over_grid(g, g).alias(first_name), over_grid(h, h).alias(second_name)
    )
    a, b = nw.col(first_name), nw.col(second_name)
    first = (a, 2.0 * (g - a), float(GRID) - 2.0 * g + a)
    second = (b, 2.0 * h - b)
    parts = [over_grid(each, below) for each in first for below in second]
    people = people.with_columns(
        *[
            part.cast(nw.Int64).alias(f"{name} {end}")
            for part, end in zip(parts, BELOW, strict=True)
        ]
    )
    return people.with_columns(a.cast(nw.Int64))


def with_squares(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """Add `tallies.squares` of columns for each person; null or 0 if the value is missing."""
    own = SQUARES.get(engine_of(rows).kind)
    if own is not None:
        return own(rows, squares)
    return rows.with_columns(*(_square(name, valid).alias(new) for name, valid, new in squares))


def _square(name: str, valid: str | None) -> nw.Expr:
    """Return `tallies.squares` of a column, in floats.

    This is `over_grid` of a number with itself in half as many operations. If a query takes a few
    milliseconds, parsing it takes nearly as long as running it.
    """
    import narwhals as nw

    off = (nw.col(name) - HALF).cast(nw.Float64).abs()
    a = _over(off, _SPLIT)
    b = off - a * float(_SPLIT)
    square = a * a + _over(a * b * (2.0 * _SPLIT) + b * b, GRID)
    if valid is not None:
        square = nw.when(nw.col(valid) > 0).then(square).otherwise(0.0)
    return square.cast(nw.Int64)


def over_grid(p: nw.Expr, q: nw.Expr) -> nw.Expr:
    """Return floor(p·q / GRID) for integers p and q from 0 to GRID, in floats.

    With p = a·2¹⁵ + b and q = c·2¹⁵ + d the quotient p·q/2³⁰ is a·c + ((a·d + b·c)·2¹⁵ + b·d)/2³⁰.
    Both a·c and the numerator are integers below 2⁵³, so they are exact in floats, and division by
    powers of two is exact.
    """
    a, c = _over(p, _SPLIT), _over(q, _SPLIT)
    b, d = p - a * float(_SPLIT), q - c * float(_SPLIT)
    return a * c + _over((a * d + b * c) * float(_SPLIT) + b * d, GRID)


def _over(number: nw.Expr, power: int) -> nw.Expr:
    """Return the floor of a number divided by a power of two."""
    import narwhals as nw

    return (number / nw.lit(power).cast(nw.Float64)).floor()


def valid_rows(rows: nw.LazyFrame[Any], name: str) -> Aggregate:
    """Return the aggregate that counts rows with a value, for numbers from `on_grid`."""
    valid = f"{name} is valid"
    return (valid, "sum") if valid in rows.collect_schema() else (name, "count")


def is_moderate(bounds: tuple[float, float]) -> bool:
    """Whether `steps_by_sizes` can be used for these bounds."""
    lo, hi = bounds
    step = GRID / (hi - lo)
    return max(abs(lo), abs(hi), step) <= MODERATE and step >= 1.0 / MODERATE


def within_reach(value: nw.Expr) -> nw.Expr:
    """Return finite numbers, clipped to ±FAR, and null for all others.

    Comparisons cannot replace `is_finite`: DuckDB evaluates them from the minimum and maximum in
    the metadata of a Parquet file, and these ignore NaN.
    """
    import narwhals as nw

    far = nw.when(value > 0.0).then(nw.lit(FAR)).otherwise(nw.lit(-FAR))
    near = nw.when(value.abs() <= FAR).then(value).otherwise(far)
    return nw.when(value.is_finite()).then(near)


def steps_by_sizes(value: nw.Expr, bounds: tuple[float, float]) -> nw.Expr:
    """Return numbers from `within_reach` on the grid, in floats, without a minimum or a maximum.

    With u = value − lo, (u + |u|)/2 is max(u, 0). In grid steps, plus ½ and rounded down, it is an
    integer t ≥ 0. Let d = t − GRID. Then (d − |d|)/2 is min(d, 0), and adding GRID gives
    min(t, GRID), as a clip would. docs/proofs/tally.md shows that all operations are exact.
    """
    lo, hi = bounds
    above = value - lo if lo else value
    # Engines detect repeated subexpressions.
    d = ((above + above.abs()) * (0.5 * (GRID / (hi - lo))) + 0.5).floor() - float(GRID)
    return (d - d.abs()) * 0.5 + float(GRID)


def _in_integers(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """Add `tallies.squares` of columns in integers, for engines with integer division."""
    import narwhals as nw

    made = []
    for name, valid, new in squares:
        off = nw.col(name) - HALF
        square = (off * off) // GRID
        if valid is not None:
            square = nw.when(nw.col(valid) > 0).then(square).otherwise(0)
        made.append(square.cast(nw.Int64).alias(new))
    return rows.with_columns(*made)


def _by_sizes(
    rows: nw.LazyFrame[Any], numbers: Sequence[GridNumber], others: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return `steps_by_sizes` in DuckDB's SQL, in two queries.

    DuckDB evaluates a repeated CASE each time, but a repeated difference only once. So lo is
    subtracted even if it is 0. For a value that is not finite, d is null, or d - |d| is NaN, and
    TRY_CAST converts NaN to null. So no missing value depends on a comparison.
    """
    sql = DIALECTS["duckdb"]
    number, whole = sql.number, float(GRID)
    below, within = [], []
    for name, value, (lo, hi) in numbers:
        far = f"CASE WHEN {value} > 0 THEN {number(FAR)} ELSE {number(-FAR)} END"
        near = f"CASE WHEN abs({value}) <= {number(FAR)} THEN {value} "
        near += f"WHEN isfinite({value}) THEN {far} END"
        above = f"({near} - {number(lo)})"
        steps = f"({above} + abs({above})) * {number(0.5 * (GRID / (hi - lo)))} + {number(0.5)}"
        d = sql.name(name)
        below.append(f"floor({steps}) - {number(whole)} AS {d}")
        clipped = f"({d} - abs({d})) * {number(0.5)} + {number(whole)}"
        within.append(f"TRY_CAST({clipped} AS BIGINT) AS {d}")
    rows = sql.selected(rows, [*below, *others])
    return sql.selected(rows, [f"* REPLACE ({', '.join(within)})"]) if within else rows


def _clipped_text(
    rows: nw.LazyFrame[Any], numbers: Sequence[GridNumber], others: Sequence[str]
) -> nw.LazyFrame[Any]:
    """Return grid steps in Spark's SQL, clipped before floor: its floor returns only 64 bits."""
    sql = DIALECTS["spark"]
    number, made = sql.number, []
    for name, value, (lo, hi) in numbers:
        steps = f"({value} - {number(lo)}) * {number(GRID / (hi - lo))} + {number(0.5)}"
        cut = f"greatest(least({steps}, {number(GRID + 0.5)}), {number(0.0)})"
        whole = f"CASE WHEN {value} - {value} = {number(0.0)} THEN floor({cut}) END"
        made.append(f"CAST({whole} AS BIGINT) AS {sql.name(name)}")
    return sql.selected(rows, [*made, *others])


NUMBERS: Final[
    dict[
        EngineKind,
        Callable[[nw.LazyFrame[Any], Sequence[GridNumber], Sequence[str]], nw.LazyFrame[Any]],
    ]
] = {"duckdb": _by_sizes, "spark": _clipped_text}
"""Functions that compute numbers on the grid in SQL, by `Engine.kind`, for moderate bounds; null if
missing. They take rows, the numbers, and SQL expressions of further columns to keep."""


def _in_text(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """Add `tallies.squares` of columns in SQL, by a bit shift, which Narwhals does not support."""
    kind = engine_of(rows).kind
    sql, made = DIALECTS[kind], ["*"]
    for name, valid, new in squares:
        off = f"(CAST({sql.name(name)} AS BIGINT) - {HALF})"
        text = SHIFTED[kind].format(f"{off} * {off}", GRID.bit_length() - 1)
        if valid is not None:
            text = f"CASE WHEN {sql.name(valid)} > 0 THEN {text} ELSE 0 END"
        made.append(f"CAST({text} AS BIGINT) AS {sql.name(new)}")
    return sql.selected(rows, made)


SHIFTED: Final[dict[EngineKind, str]] = {"duckdb": "({}) >> {}", "spark": "shiftright({}, {})"}
"""SQL for an integer divided by a power of two, rounded down, by `Engine.kind`."""

SQUARES: Final[
    dict[EngineKind, Callable[[nw.LazyFrame[Any], Sequence[Square]], nw.LazyFrame[Any]]]
] = {
    "polars": _in_integers,
    "duckdb": _in_text,
    "spark": _in_text,
}
"""Functions that compute squares in integers, by `Engine.kind`."""
