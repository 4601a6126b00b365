"""The engines that Narwhals supports: their capabilities, and the differences between them.

Queries are written once for all engines. If an engine needs a different expression for the same
integers, this file states the reason. The expression is defined where it is used, in a dictionary
by `Engine.kind`.
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
"""Kinds of engines. All engines of a kind run the same queries."""

Peek = Literal["always", "if planned", "never"]
"""When to read the first rows of a query before choosing between two queries."""


@dataclass(frozen=True)
class Engine:
    """The properties of an engine that affect counting.

    Attributes:
        name: its name in messages and in the progress line on a terminal.
        kind: the key of its expressions in dictionaries.
        moved: whether frames are moved to Polars where possible. This is four to eight times faster
            and usually needs no copy. PyArrow would also refuse integers above 2**53, and its
            message shows one of them.
        sql: whether queries are SQL. A clip in SQL would first test for null, which is not needed.
        nullable: whether integers can be null, and a null condition counts as false. Then one
            column fewer is needed. pandas converts integers with nulls to floats.
        finite: whether it has a test for finite floats, which makes a query a fifteenth faster.
        slow_clip: whether the minimum of two numbers takes ten times as long as their product.
        truncates: whether a cast from float to integer truncates. Other engines round.
        counts_short: whether counts of rows, and sums of these counts, have 32 bits.
        divides: whether it has integer division, which is three times as fast as with floats.
        floats: whether a float in a query is unchanged. Ibis writes numbers as decimals, and a
            database can parse a decimal with many digits as an adjacent float.
        compares_null: whether a comparison with null is null, which cannot be cast to a number.
        windows: whether `over` preserves the order of rows. In PyArrow it is a join, which reorders
            rows. Dask assigns results by row labels, which can be the same for several rows.
        joins: whether a small table can be joined to rows before window functions over people.
        peek: whether the first rows of a query are cheap to read: always, never, or only if the
            plan shows that nothing is joined, sorted or aggregated before them.
        collates: whether text can have a collation, and nested entries can contain text.
        scales: whether Narwhals reports the scale of decimals, which is their number of digits
            after the decimal point.
        streams: whether it has a streaming engine, and rows can be read in parts.
        remote: whether its session is remote and does not report progress.
        loose: whether a backend can allow entries whose type differs from their column's type.
        reading: whether a column that does not have the required type can be parsed again, like the
            cells of a text file. Invalid cells become null, and Dask has no integers with nulls.
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
    reading: bool = True


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
    "DASK": Engine("Dask", "dask", reading=False, compares_null=True, windows=False, joins=False),
}
"""Engines by their names in Narwhals. All other engines run the common expressions. They are
refused if a step needs an expression that is specific to an engine: see `engine_of`."""


def engine_of(frame: nw.LazyFrame[Any] | nw.DataFrame[Any] | nw.Series[Any]) -> Engine:
    """Return the engine of a frame or a series."""
    name = frame.implementation.name
    return ENGINES.get(name) or Engine(name.title(), "other")


def kind_of_data(data: object) -> EngineKind | None:
    """Return the kind of a frame before Narwhals wraps it; None if it is unknown."""
    from narwhals import dependencies

    known: tuple[tuple[EngineKind, Callable[[Any], bool]], ...] = (
        ("polars", dependencies.is_polars_dataframe),
        ("polars", dependencies.is_polars_lazyframe),
        ("pandas", dependencies.is_pandas_like_dataframe),
        ("pyarrow", dependencies.is_pyarrow_table),
        ("dask", dependencies.is_dask_dataframe),
        ("duckdb", dependencies.is_duckdb_relation),
        ("spark", dependencies.is_pyspark_dataframe),
        ("spark", dependencies.is_pyspark_connect_dataframe),
        ("ibis", dependencies.is_ibis_table),
    )
    for kind, is_one in known:
        if is_one(data):
            return kind
    return None


# Steps of a query as SQL strings, for engines that are slow to build a query from expressions.
#
# DuckDB parses the whole chain of steps again at each step, and PySpark calls Java many times for
# each part of an expression. That takes longer than counting a million rows.


@dataclass(frozen=True)
class Dialect:
    """The SQL dialect of an engine.

    Attributes:
        mark: the quotation mark around names.
        double: a template for a literal in double precision, given its digits.
        select: a function that selects expressions from a native frame.
        add_up: a function that groups a native frame by columns and aggregates expressions.
    """

    mark: str
    double: str
    select: Callable[[Any, Sequence[str]], Any]
    add_up: Callable[[Any, Sequence[str], Sequence[str]], Any]

    def name(self, column: str) -> str:
        """Return the quoted name of a column. It can contain any characters."""
        return self.mark + column.replace(self.mark, 2 * self.mark) + self.mark

    def number(self, value: float) -> str:
        """Return an exact literal for a float."""
        return f"({self.double.format(repr(float(value)))})"

    def selected(self, rows: nw.LazyFrame[Any], texts: Sequence[str]) -> nw.LazyFrame[Any]:
        """Select expressions from rows."""
        import narwhals as nw

        found: nw.LazyFrame[Any] = nw.from_native(self.select(rows.to_native(), texts))
        return found


def dialect_of(rows: nw.LazyFrame[Any]) -> Dialect | None:
    """Return the SQL dialect of the engine of rows; None if its queries are not SQL."""
    return DIALECTS.get(engine_of(rows).kind)


def _added_up_by_spark(native: Any, keys: Sequence[str], texts: Sequence[str]) -> Any:
    from pyspark.sql import functions

    return native.groupBy(*keys).agg(*map(functions.expr, texts))


DIALECTS: Final[dict[EngineKind, Dialect]] = {
    "duckdb": Dialect(
        '"',
        # Cast from a string, because a decimal literal with many digits could be rounded twice.
        "'{}'::DOUBLE",
        lambda native, texts: native.project(", ".join(texts)),
        lambda native, keys, texts: native.aggregate(", ".join([*keys, *texts]), ", ".join(keys)),
    ),
    "spark": Dialect(
        "`", "{}D", lambda native, texts: native.selectExpr(*texts), _added_up_by_spark
    ),
}
