"""What each engine can do, and how it differs: one row for each that Narwhals reads.

Queries are written once for all. Where an engine needs other words for the same integers, the
reason stands here, and what is one engine's own way of doing it stands where it is done, in a
dictionary by `Engine.kind`.
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
"""Engines that are asked in the same way."""

Peek = Literal["always", "if planned", "never"]
"""When the first rows of a query are looked at."""


@dataclass(frozen=True)
class Engine:
    """What the tally must know of an engine.

    Attributes:
        name: what messages and the line on a terminal call it.
        kind: by which its own ways of doing things are found.
        moved: frames are handed to Polars, where that can be: four to eight times faster, mostly no
            copy. PyArrow would also refuse integers above 2**53, and show one of them.
        sql: a query is one of SQL. A clip asks for null first there, and here that is known.
        nullable: integers may be null, and a condition that is null is not met. Then one column
            less is needed. In pandas integers with null become floats.
        finite: it has its own function for what is finite, which is a fifteenth faster.
        slow_clip: the smaller of two numbers takes ten times as long as their product.
        truncates: a cast of a float to an integer leaves out what is after the point. Others round.
        counts_short: rows are counted in 32 bits, and such counts are added up in 32 bits, too.
        divides: integers are divided as integers, which is three times as fast as with floats.
        floats: a float in a query arrives as it is. Ibis writes numbers as decimals: what a
            database makes of one with many digits may be the float beside it.
        compares_null: what is null is no number after a comparison, either, and fails in a cast.
        windows: `over` keeps rows in order. In PyArrow each is a join, with an order of its own; in
            Dask it is put beside its rows by their labels, which rows may share.
        joins: a small table may be joined to rows whose people are looked at in windows.
        peek: whether the first rows of a query cost next to nothing: where a plan says so, and
            nothing is joined, sorted or added up before.
        collates: text may be compared by a collation, and nested entries may hold text.
        scales: Narwhals tells how many digits decimals have after the point.
        streams: it has a streaming engine, and rows may be taken in pieces.
        remote: its session is elsewhere, and does not tell how far it is.
        loose: a backend may let entries be of another type than their column.
        reads: a column of another type can be read as cells are. Dask has no integers with gaps.
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
"""By the names of Narwhals. An engine that is not here is asked in the words that all understand,
and is refused what needs its own: see `engine_of`."""


def engine_of(frame: nw.LazyFrame[Any] | nw.DataFrame[Any] | nw.Series[Any]) -> Engine:
    """The engine of a frame or a series."""
    name = frame.implementation.name
    return ENGINES.get(name) or Engine(name.title(), "other")


def kind_of_data(data: object) -> EngineKind | None:
    """The kind of a frame as the user gave it, before Narwhals wraps it, where that matters."""
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


# Steps of a query as texts of SQL, for engines that take long to read a query word by word.
#
# DuckDB reads the whole chain of steps anew at each of them, and Spark's Python asks Java for every
# word of an expression, many times: that is more than a million rows take.


@dataclass(frozen=True)
class Dialect:
    """What differs between the engines that are asked in SQL.

    Attributes:
        mark: what names stand between.
        double: a number in double precision, of its digits.
        select: the step that keeps some expressions, of a frame as its engine has it.
        add_up: the step that groups by some columns and keeps expressions.
    """

    mark: str
    double: str
    select: Callable[[Any, Sequence[str]], Any]
    add_up: Callable[[Any, Sequence[str], Sequence[str]], Any]

    def name(self, column: str) -> str:
        """The name of a column, whatever stands in it."""
        return self.mark + column.replace(self.mark, 2 * self.mark) + self.mark

    def number(self, value: float) -> str:
        """A float, to its last digit."""
        return f"({self.double.format(repr(float(value)))})"

    def selected(self, rows: nw.LazyFrame[Any], texts: Sequence[str]) -> nw.LazyFrame[Any]:
        """Keep expressions of rows."""
        import narwhals as nw

        found: nw.LazyFrame[Any] = nw.from_native(self.select(rows.to_native(), texts))
        return found

    def added_up(
        self, rows: nw.LazyFrame[Any], by: Sequence[str], texts: Sequence[str]
    ) -> nw.LazyFrame[Any]:
        """Group rows by some columns, and keep these and expressions."""
        import narwhals as nw

        keys = list(map(self.name, by))
        found: nw.LazyFrame[Any] = nw.from_native(self.add_up(rows.to_native(), keys, texts))
        return found


def dialect_of(rows: nw.LazyFrame[Any]) -> Dialect | None:
    """The dialect of the engine of rows, if it is asked in SQL."""
    return DIALECTS.get(engine_of(rows).kind)


def _added_up_by_spark(native: Any, keys: Sequence[str], texts: Sequence[str]) -> Any:
    from pyspark.sql import functions

    return native.groupBy(*keys).agg(*map(functions.expr, texts))


DIALECTS: Final[dict[EngineKind, Dialect]] = {
    "duckdb": Dialect(
        '"',
        # Read as text: a decimal of many digits might be rounded twice.
        "'{}'::DOUBLE",
        lambda native, texts: native.project(", ".join(texts)),
        lambda native, keys, texts: native.aggregate(", ".join([*keys, *texts]), ", ".join(keys)),
    ),
    "spark": Dialect(
        "`", "{}D", lambda native, texts: native.selectExpr(*texts), _added_up_by_spark
    ),
}
