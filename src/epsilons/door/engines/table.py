"""The engines that Narwhals reads: what each can do, and how it differs from the others.

Queries are written once for all engines. Where an engine needs another expression for the same
integers, this file has the reason. The expression itself is where it is used, in a dictionary by
`Engine.kind`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import narwhals as nw

__all__ = [
    "DIALECTS",
    "ENGINES",
    "Dialect",
    "Engine",
    "EngineKind",
    "Peek",
    "dialect_of",
    "engine_of",
    "kind_of_data",
]


EngineKind = Literal["polars", "pandas", "pyarrow", "duckdb", "spark", "ibis", "dask", "other"]
"""Kinds of engines. Engines of one kind get the same queries."""

Peek = Literal["always", "if planned", "never"]
"""When to look at the first rows of a query."""


@dataclass(frozen=True)
class Engine:
    """Properties of an engine that matter for counting.

    Attributes:
        name: its name in messages and in the progress line on a terminal.
        kind: the key of its own expressions.
        moved: frames are moved to Polars where possible, which is four to eight times faster and
            mostly needs no copy. PyArrow would also refuse integers above 2**53, and show one.
        sql: queries are SQL. A clip would test for null first, which is not needed here.
        nullable: integers may be null, and a null condition counts as false. Then one column less
            is needed. In pandas, integers with nulls become floats.
        finite: it has its own function for finite floats, which is a fifteenth faster.
        slow_clip: the minimum of two numbers takes ten times as long as their product.
        truncates: a cast from float to integer drops the fraction. Other engines round.
        counts_short: rows are counted in 32 bits, and sums of such counts are also in 32 bits.
        divides: integers are divided as integers, which is three times as fast as with floats.
        floats: a float in a query arrives unchanged. Ibis writes numbers as decimals, and a
            database may read one with many digits as an adjacent float.
        compares_null: a comparison with null yields null, which fails in a cast to a number.
        windows: `over` keeps rows in order. In PyArrow it is a join, which has an order of its own;
            in Dask results are assigned by row labels, which several rows may share.
        joins: a small table may be joined to rows whose people are then aggregated in windows.
        peek: whether the first rows of a query cost next to nothing: always, never, or if the plan
            shows that nothing is joined, sorted or aggregated before them.
        collates: text may be compared by a collation, and nested entries may hold text.
        scales: Narwhals gives the scale of decimals: the number of digits after the point.
        streams: it has a streaming engine, and rows may be read in pieces.
        remote: its session is remote, and does not report progress.
        loose: a backend may allow entries of another type than their column.
        reads: a column of another type can be parsed like cells. Dask has no integers with nulls.
    """

    name: str
    kind: EngineKind
    moved: bool = False
    sql: bool = False
    nullable: bool = False
    finite: bool = False
    slow_clip: bool = False
    truncates: bool = False
    counts_short: bool = False
    divides: bool = False
    floats: bool = True
    compares_null: bool = False
    windows: bool = True
    joins: bool = True
    peek: Peek = "never"
    collates: bool = False
    scales: bool = True
    streams: bool = False
    remote: bool = False
    loose: bool = False
    reads: bool = True


_SPARK: Final = Engine("Spark", "spark", sql=True, nullable=True, collates=True)

ENGINES: Final[dict[str, Engine]] = {
    "POLARS": Engine(
        "Polars",
        "polars",
        nullable=True,
        truncates=True,
        counts_short=True,
        divides=True,
        peek="always",
        streams=True,
    ),
    "PANDAS": Engine("Pandas", "pandas", moved=True, compares_null=True),
    "MODIN": Engine("Modin", "pandas", compares_null=True),
    "CUDF": Engine("Cudf", "pandas", compares_null=True),
    "PYARROW": Engine("PyArrow", "pyarrow", moved=True, windows=False),
    "DUCKDB": Engine(
        "DuckDB",
        "duckdb",
        sql=True,
        nullable=True,
        finite=True,
        slow_clip=True,
        peek="if planned",
        collates=True,
    ),
    "PYSPARK": _SPARK,
    "PYSPARK_CONNECT": replace(_SPARK, remote=True),
    "IBIS": Engine(
        "Ibis",
        "ibis",
        sql=True,
        nullable=True,
        floats=False,
        collates=True,
        scales=False,
        loose=True,
    ),
    "SQLFRAME": Engine("Sqlframe", "other"),
    "DASK": Engine("Dask", "dask", reads=False, compares_null=True, windows=False, joins=False),
}
"""Engines by their names in Narwhals. Any other engine gets the expressions that all understand,
and is refused where it would need its own: see `engine_of`."""


def engine_of(frame: nw.LazyFrame[Any] | nw.DataFrame[Any] | nw.Series[Any]) -> Engine:
    """The engine of a frame or a series."""
    name = frame.implementation.name
    return ENGINES.get(name) or Engine(name.title(), "other")


def kind_of_data(data: object) -> EngineKind | None:
    """The kind of a frame as the user gave it, before Narwhals wraps it; None if it is unknown."""
    from narwhals import dependencies

    known: dict[EngineKind, Callable[[Any], bool]] = {
        "polars": lambda data: (
            dependencies.is_polars_dataframe(data) or dependencies.is_polars_lazyframe(data)
        ),
        "pandas": dependencies.is_pandas_like_dataframe,
        "pyarrow": dependencies.is_pyarrow_table,
        "dask": dependencies.is_dask_dataframe,
        "duckdb": dependencies.is_duckdb_relation,
        "spark": lambda data: (
            dependencies.is_pyspark_dataframe(data)
            or dependencies.is_pyspark_connect_dataframe(data)
        ),
        "ibis": dependencies.is_ibis_table,
    }
    return next((kind for kind, is_one in known.items() if is_one(data)), None)


# Steps of a query as SQL text, for engines that are slow to build a query from expressions.
#
# DuckDB parses the whole chain of steps again at each step, and PySpark calls Java many times for
# every part of an expression. That takes longer than a million rows.


@dataclass(frozen=True)
class Dialect:
    """The SQL dialect of an engine.

    Attributes:
        mark: the quotation mark around names.
        double: a template for a literal in double precision, given its digits.
        select: selects expressions from a native frame.
        add_up: groups a native frame by columns and aggregates expressions.
    """

    mark: str
    double: str
    select: Callable[[Any, Sequence[str]], Any]
    add_up: Callable[[Any, Sequence[str], Sequence[str]], Any]

    def name(self, column: str) -> str:
        """The quoted name of a column, for any characters in it."""
        return self.mark + column.replace(self.mark, 2 * self.mark) + self.mark

    def number(self, value: float) -> str:
        """An exact literal of a float."""
        return f"({self.double.format(repr(float(value)))})"

    def selected(self, rows: nw.LazyFrame[Any], texts: Sequence[str]) -> nw.LazyFrame[Any]:
        """Select expressions from rows."""
        import narwhals as nw

        found: nw.LazyFrame[Any] = nw.from_native(self.select(rows.to_native(), texts))
        return found

    def added_up(
        self, rows: nw.LazyFrame[Any], by: Sequence[str], texts: Sequence[str]
    ) -> nw.LazyFrame[Any]:
        """Group rows by columns, and keep these and the aggregated expressions."""
        import narwhals as nw

        keys = list(map(self.name, by))
        found: nw.LazyFrame[Any] = nw.from_native(self.add_up(rows.to_native(), keys, texts))
        return found


def dialect_of(rows: nw.LazyFrame[Any]) -> Dialect | None:
    """The SQL dialect of the engine of rows; None if its queries are not SQL text."""
    return DIALECTS.get(engine_of(rows).kind)


def _added_up_by_spark(native: Any, keys: Sequence[str], texts: Sequence[str]) -> Any:
    from pyspark.sql import functions

    return native.groupBy(*keys).agg(*map(functions.expr, texts))


DIALECTS: Final[dict[EngineKind, Dialect]] = {
    "duckdb": Dialect(
        '"',
        # Parsed from text: a decimal literal of many digits might be rounded twice.
        "'{}'::DOUBLE",
        lambda native, texts: native.project(", ".join(texts)),
        lambda native, keys, texts: native.aggregate(", ".join([*keys, *texts]), ", ".join(keys)),
    ),
    "spark": Dialect(
        "`", "{}D", lambda native, texts: native.selectExpr(*texts), _added_up_by_spark
    ),
}
