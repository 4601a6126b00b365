"""Numbers on the grid, as expressions of engines: the same integers as those of `tallies.py`.

These expressions were chosen because all engines agree on them: floor instead of round, comparisons
that put NaN on the same side whether an engine sorts it last or not, casts outside of aggregates,
no division by zero, no integer division. Where an engine is faster with another expression, it is
below: the arithmetic dominates the cost of a query of several numbers. The minimum of two numbers
takes DuckDB ten times as long as their product, and a square in floats has three times the steps of
one in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from epsilons.door.count.tallies import GRID, HALF, Rule
from epsilons.door.count.units import BELOW
from epsilons.door.engines.expressions import Total, floats
from epsilons.door.engines.floats import finite, less_itself_is_0
from epsilons.door.engines.table import DIALECTS, Dialect, EngineKind, engine_of
from epsilons.door.given.columns import Columns

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "SQUARES",
    "Square",
    "both_on_grid",
    "in_sql",
    "is_moderate",
    "lacking",
    "on_grid",
    "over_grid",
    "steps_by_sizes",
    "steps_of",
    "valid_rows",
    "with_parts",
    "with_squares",
    "within_reach",
]

_SPLIT: Final = 2**15
"""The square root of GRID."""

FAR: Final = 2.0**500
"""Values are clipped to ± this: it is beyond all moderate bounds, and nothing overflows."""

MODERATE: Final = 2.0**400
"""Bounds are moderate if they and the steps are at most this, and steps at least one over it."""

Square: TypeAlias = tuple[str, str | None, str]
"""A column of integers on the grid, the one that says where it is valid, and the new column."""


def on_grid(
    table: Columns,
    column: str,
    bounds: tuple[float, float],
    rule: Rule | None = None,
    asked: nw.Expr | None = None,
) -> list[nw.Expr]:
    """Return the number of every row on the grid, `x`.

    Where a value is missing `x` is null, or it is 0, and `valid`, which is 1 elsewhere, is 0.

    Args:
        table: a frame with checked columns.
        column: of numbers.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
        asked: whether a value counts, false or null where it is taken for missing.
    """
    import narwhals as nw

    value = floats(table, column)
    engine = engine_of(table.frame)
    if table.person is None and engine.slow_clip and rule is None and is_moderate(bounds):
        near = within_reach(value)
        near = near if asked is None else nw.when(asked).then(near)
        return [steps_by_sizes(near, bounds).cast(nw.Int64).alias("x")]
    steps = steps_of(table, value, bounds, rule)
    if table.person is None and engine.nullable:
        if engine.truncates:
            steps = _cut(table, value, bounds, rule)
        there = value.is_finite() if engine.finite else less_itself_is_0(value)
        there = there if asked is None else there & asked
        # Cast last: an engine that has the same numbers in two conditions may cast them outside of
        # both, and NaN is no integer.
        return [nw.when(there).then(steps).cast(nw.Int64).alias("x")]
    # Nulls are filled in conditions: an engine need not take null for false.
    valid = finite(value) if asked is None else finite(value) & asked.fill_null(False)
    return [
        nw.when(valid).then(steps).otherwise(0.0).cast(nw.Int64).alias("x"),
        valid.cast(nw.Int64).alias("valid"),
    ]


def steps_of(
    table: Columns, value: nw.Expr, bounds: tuple[float, float], rule: Rule | None = None
) -> nw.Expr:
    """Return a column of numbers on the grid, in floats: of what is missing it is anything."""
    # Clipped before: the floor of any float from 0 to GRID + ½ is a whole number from 0 to GRID, so
    # that no theory of rounding is needed for privacy. Spark's floor cannot take more.
    return _cut(table, value, bounds, rule).floor()


def _cut(
    table: Columns, value: nw.Expr, bounds: tuple[float, float], rule: Rule | None = None
) -> nw.Expr:
    """Return a column of numbers in steps of the grid and a half, from 0 to GRID + ½."""
    lo, hi = bounds
    if rule is None:
        steps = (value - lo) * (GRID / (hi - lo))
    else:
        steps = rule(_clipped(table, (value - lo) * (1.0 / (hi - lo)), 1.0)) * float(GRID)
    return _clipped(table, steps + 0.5, GRID + 0.5)


def _clipped(table: Columns, number: nw.Expr, most: float) -> nw.Expr:
    """Return a number cut to [0, most]."""
    import narwhals as nw

    if not engine_of(table.frame).sql:
        return number.clip(0.0, most)
    return nw.max_horizontal(nw.min_horizontal(number, nw.lit(most)), nw.lit(0.0))


def both_on_grid(
    table: Columns, column: str, bounds: tuple[float, float], name: str
) -> list[nw.Expr]:
    """Return one of two numbers of every row on the grid, and where it `is valid`.

    Where it is missing it is 0; where a row is a person, it is in the middle.
    """
    import narwhals as nw

    value = floats(table, column)
    # Nulls are filled in conditions: an engine need not take null for false.
    valid = finite(value)
    nothing = float(HALF if table.person is None else 0)
    steps = nw.when(valid).then(steps_of(table, value, bounds)).otherwise(nothing)
    return [steps.cast(nw.Int64).alias(name), valid.cast(nw.Int64).alias(f"{name} is valid")]


def lacking(people: nw.LazyFrame[Any], name: str) -> nw.LazyFrame[Any]:
    """Add who `is absent` because they lack one of two numbers: both are in the middle then."""
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
    """Add the parts in `units.cut` for each person's two numbers."""
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
    """Add `tallies.squares` of columns for each person; null or 0 where the value is missing."""
    own = SQUARES.get(engine_of(rows).kind)
    if own is not None:
        return own(rows, squares)
    return rows.with_columns(*(_square(name, valid).alias(new) for name, valid, new in squares))


def _square(name: str, valid: str | None) -> nw.Expr:
    """Return `tallies.squares` of a column, in floats.

    It is `over_grid` of a number with itself, in half as many operations: if a query runs for a few
    milliseconds, engines take nearly as long to parse it.
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
    """Return floor(p·q / GRID) for integers from 0 to GRID, all in floats.

    With p = a·2¹⁵ + b and q = c·2¹⁵ + d the quotient p·q/2³⁰ is a·c + ((a·d + b·c)·2¹⁵ + b·d)/2³⁰.
    Both a·c and the numerator are integers below 2⁵³, so floats hold them exactly, and division by
    powers of two is exact.
    """
    a, c = _over(p, _SPLIT), _over(q, _SPLIT)
    b, d = p - a * float(_SPLIT), q - c * float(_SPLIT)
    return a * c + _over((a * d + b * c) * float(_SPLIT) + b * d, GRID)


def _over(number: nw.Expr, power: int) -> nw.Expr:
    """Return the floor of a quotient by a power of two."""
    import narwhals as nw

    return (number / nw.lit(power).cast(nw.Float64)).floor()


def valid_rows(rows: nw.LazyFrame[Any], name: str = "x", valid: str = "valid") -> Total:
    """How many rows have a value, as `on_grid` says it of a number."""
    return (valid, "sum") if valid in rows.collect_schema() else (name, "count")


def is_moderate(bounds: tuple[float, float]) -> bool:
    """Whether `steps_by_sizes` may be used between bounds."""
    lo, hi = bounds
    step = GRID / (hi - lo)
    return max(abs(lo), abs(hi), step) <= MODERATE and step >= 1.0 / MODERATE


def within_reach(value: nw.Expr) -> nw.Expr:
    """Return finite numbers, clipped to ±FAR, and null for all others.

    `is_finite` is needed, and not comparisons: DuckDB answers comparisons from the extremes that a
    Parquet file states, and these leave out NaN.
    """
    import narwhals as nw

    far = nw.when(value > 0.0).then(nw.lit(FAR)).otherwise(nw.lit(-FAR))
    near = nw.when(value.abs() <= FAR).then(value).otherwise(far)
    return nw.when(value.is_finite()).then(near)


def steps_by_sizes(value: nw.Expr, bounds: tuple[float, float]) -> nw.Expr:
    """Return numbers from `within_reach` on the grid, in floats, without a minimum or a maximum.

    u + |u| is 2u or 0, so t, the floor of its steps plus ½, is an integer and at least 0. Then
    d = t − GRID, and (d − |d|)/2 is d or 0. Adding GRID gives the minimum of t and GRID, as a clip
    would. docs/proofs/tally.md shows that all of it is exact.
    """
    lo, hi = bounds
    above = value - lo if lo else value
    # Repeated subexpressions are not named: engines find them.
    d = ((above + above.abs()) * (0.5 * (GRID / (hi - lo))) + 0.5).floor() - float(GRID)
    return (d - d.abs()) * 0.5 + float(GRID)


def _in_integers(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """`tallies.squares` as it is there, for engines with integer division."""
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
    rows: nw.LazyFrame[Any],
    numbers: Sequence[tuple[str, str, tuple[float, float]]],
    others: Sequence[str],
) -> nw.LazyFrame[Any]:
    """The step to the grid as one text, between moderate bounds, null if missing.

    Args:
        rows: of an engine that is asked in SQL.
        numbers: the new name of each; a column of numbers in double precision, or what makes them
            so, in SQL; and the lower and the upper end of the grid.
        others: what else is kept, in SQL.
    """
    kind = engine_of(rows).kind
    sql, steps = DIALECTS[kind], STEPS[kind]
    made = [
        f"CAST({steps(sql, value, bounds)} AS BIGINT) AS {sql.name(name)}"
        for name, value, bounds in numbers
    ]
    return sql.selected(rows, [*made, *others])


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


def _clipped_text(sql: Dialect, value: str, bounds: tuple[float, float]) -> str:
    """Steps of the grid that are clipped before their floor, which Spark takes of 64 bits alone."""
    (lo, hi), number = bounds, sql.number
    steps = f"({value} - {number(lo)}) * {number(GRID / (hi - lo))} + {number(0.5)}"
    cut = f"greatest(least({steps}, {number(GRID + 0.5)}), {number(0.0)})"
    return f"CASE WHEN {value} - {value} = {number(0.0)} THEN floor({cut}) END"


STEPS: Final[dict[EngineKind, Callable[[Dialect, str, tuple[float, float]], str]]] = {
    "duckdb": _by_sizes,
    "spark": _clipped_text,
}
"""Numbers on the grid in SQL, by `Engine.kind`."""


def _in_text(rows: nw.LazyFrame[Any], squares: Sequence[Square]) -> nw.LazyFrame[Any]:
    """`tallies.squares` in SQL by a shift of integers, which Narwhals does not have."""
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
"""An integer over a power of two, rounded down, by `Engine.kind`."""

SQUARES: Final[
    dict[EngineKind, Callable[[nw.LazyFrame[Any], Sequence[Square]], nw.LazyFrame[Any]]]
] = {
    "polars": _in_integers,
    "duckdb": _in_text,
    "spark": _in_text,
}
"""Ways to squares in integers, by `Engine.kind`."""
