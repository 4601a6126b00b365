"""Entries as they are stored: compared byte by byte, and null where they are of another type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from epsilons.door.engines.table import DIALECTS, EngineKind, engine_of
from epsilons.door.given.categories import LabelKind
from epsilons.errors import ColumnError

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["Spelling", "as_declared", "bytewise", "spelt", "written"]


# Text and people are compared byte by byte, whatever collation an engine would use.
#
# A collation calls different texts equal: by case, accents, trailing spaces, or the way a letter is
# composed. A group-by then returns one spelling of many, which one person can choose for all, and
# ids that are equal in this sense merge people. Most engines do not say which collation a column
# has: it may come from the column, from an expression or from a setting of the connection. So on
# engines that have collations text becomes bytes before anything is compared, and the labels of
# categories are written alike.

Spelling = Literal["text", "bytes", "hex"]
"""How the text of a column is written in a query: as it is, in UTF-8, or that in hexadecimal."""

Written: TypeAlias = "tuple[nw.LazyFrame[Any], Spelling]"
"""A frame, and how the text of a column is written in it."""

BINARY: Final = "UTF8_BINARY"
"""The collation of Spark that compares bytes, and the only one before Spark 4."""

PLAIN: Final = ("uuid", "null", "void", "timestamptz_ns", "time_ns")
"""What DuckDB, Ibis and Spark call types that Narwhals does not know, and that hold no text."""

WITHOUT_COLLATIONS: Final = ("polars",)
"""Backends of Ibis that compare text by its bytes, and have no other way."""


def bytewise(
    frame: nw.LazyFrame[Any],
    values: str | None,
    person: str | None,
    types: Mapping[str, nw.dtypes.DType],
    shown: Mapping[str, str],
) -> Written:
    """Make text and people equal only if they are the same, on whatever engine.

    Args:
        frame: of any engine.
        values: a column of text, or of a dictionary of text; None if values are no text.
        person: a column of any type, or None.
        types: those of the columns.
        shown: what messages call the two, as `values` and `person`.

    Returns:
        The frame, and how the text of values is written in it from now on.

    Raises:
        ColumnError: a column cannot be compared so on this engine.
    """
    import narwhals as nw

    spelling: Spelling = "text"
    if values is not None:
        frame, spelling = written(frame, values, shown.get("values"))
    if person is None or (person == values and spelling != "text"):
        return frame, spelling
    name = shown.get("person", person)
    if types[person] in (nw.String, nw.Categorical):
        frame = written(frame, person, name)[0]
    elif not _comparable(frame, person, types[person]):
        raise ColumnError(
            f"person={name!r} must be a column of text, numbers, dates or bytes; its type is "
            f"{types[person]}, in which different entries may compare as equal. Convert it first."
        )
    return frame, spelling


def spelt(labels: Iterable[str], how: Spelling) -> list[str] | list[bytes]:
    """Return labels as the text of a column is written."""
    if how == "bytes":
        return [label.encode() for label in labels]
    return [label.encode().hex().upper() if how == "hex" else label for label in labels]


def written(frame: nw.LazyFrame[Any], column: str, shown: str | None = None) -> Written:
    """Write a column of text so that bytes are compared, and say how it is written.

    Args:
        frame: of any engine.
        column: of text.
        shown: what messages call it.

    Raises:
        ColumnError: the engine is not known to compare bytes.
    """
    writers: dict[EngineKind, Callable[[nw.LazyFrame[Any], str], Written | None]] = {
        "polars": _as_it_is,
        "pandas": _as_it_is,
        "dask": _as_it_is,
        "pyarrow": _on_pyarrow,
        "duckdb": _on_duckdb,
        "spark": _on_spark,
        "ibis": _on_ibis,
    }
    engine = engine_of(frame)
    found = writers[engine.kind](frame, column) if engine.kind in writers else None
    if found is None:
        native: Any = frame.to_native()
        on = f" on {native.get_backend().name}" if engine.kind == "ibis" else ""
        raise ColumnError(_unknown_collation(shown or column, f"{engine.name}{on}"))
    return found


def _comparable(frame: nw.LazyFrame[Any], column: str, dtype: nw.dtypes.DType) -> bool:
    """Whether the entries of a column, which is no text, are equal only if they are the same.

    On engines that have collations nested entries may hold text, which nobody sees; and in DuckDB
    an interval of 30 days equals one of a month.
    """
    import narwhals as nw

    engine = engine_of(frame)
    if not engine.collates or not (dtype.is_nested() or dtype in (nw.Unknown, nw.Duration)):
        return True
    native: Any = frame.to_native()
    if engine.kind == "duckdb":
        name = dict(zip(native.columns, native.types, strict=True))[column].id
    elif engine.kind == "ibis":
        name = type(native.schema()[column]).__name__.lower()
    else:
        name = native.schema[column].dataType.typeName()
    return name in PLAIN


def _as_it_is(frame: nw.LazyFrame[Any], _: str) -> Written:
    """Bytes are compared, and nothing else."""
    return frame, "text"


def _on_pyarrow(frame: nw.LazyFrame[Any], column: str) -> Written:
    """Write a dictionary out: in Arrow an entry may stand in it twice."""
    import narwhals as nw
    import pyarrow as pa

    native: Any = frame.to_native()
    kept = native[column]
    if not pa.types.is_dictionary(kept.type):
        return frame, "text"
    place = native.column_names.index(column)
    plain = native.set_column(place, column, kept.cast(kept.type.value_type))
    return nw.from_native(plain).lazy(), "text"


def _on_spark(frame: nw.LazyFrame[Any], column: str) -> Written:
    """Write a column as bytes if it has a collation, which its schema tells."""
    import narwhals as nw

    native: Any = frame.to_native()
    if getattr(native.schema[column].dataType, "collation", BINARY) == BINARY:
        return frame, "text"
    return frame.with_columns(nw.col(column).cast(nw.Binary)), "bytes"


def _on_duckdb(frame: nw.LazyFrame[Any], column: str) -> Written:
    """Write a column of a relation as bytes, which is no copy."""
    sql = DIALECTS["duckdb"]
    name = sql.name(column)
    # A cast to BLOB would read escapes in the text, and an ENUM has no bytes of its own.
    return sql.selected(frame, [f"* REPLACE (encode(CAST({name} AS VARCHAR)) AS {name})"]), "bytes"


def _on_ibis(frame: nw.LazyFrame[Any], column: str) -> Written | None:
    """Write a column of a table of Ibis as its backend can; None if nobody knows how it can."""
    import ibis
    import narwhals as nw

    native: Any = frame.to_native()
    backend: str = native.get_backend().name
    if backend in WITHOUT_COLLATIONS:
        return frame, "text"
    spelling: Spelling
    writer: Callable[[Any], Any]
    text = native[column]
    if backend == "duckdb":
        spelling = "bytes"
        writer = ibis.udf.scalar.builtin(_encode, name="encode", signature=(("string",), "binary"))
    elif backend == "sqlite":
        spelling = "hex"
        writer = ibis.udf.scalar.builtin(_encode, name="hex", signature=(("string",), "string"))
    else:
        return None
    # The hexadecimal form of null is an empty text in SQLite.
    shown = text.isnull().ifelse(ibis.null(), writer(text))
    return nw.from_native(native.mutate(shown.name(column))), spelling


def _encode(text: Any) -> Any:  # pragma: no cover: it names a function of the engine
    """Stand for a function of the engine."""


def _unknown_collation(column: str, engine: str) -> str:
    return (
        f"{column!r} is a column of text, and {engine} may compare text by a collation, in which "
        "different texts are equal. Give the rows on an engine that compares bytes: Polars, "
        "PyArrow, pandas, DuckDB or Spark (a table of Ibis has to_pyarrow)."
    )


# SQLite lets an entry be of another type than its column: such an entry is null here.
#
# There the type of an entry is data, as in a CSV file. A text in a column of numbers is above all
# numbers, and so would be the largest of budgets; an empty one, which is what SQLite's own reader
# of CSV files leaves of an empty cell, would be the value 0; and an id that is a blob would have
# the same hexadecimal form as another person's text.

_NUMBERS: Final = ("integer", "real")
_WHOLE: Final = ("integers", "booleans")


def as_declared(
    frame: nw.LazyFrame[Any], columns: Mapping[str, LabelKind | None]
) -> nw.LazyFrame[Any]:
    """Make null of entries that are not of the type of their column, where an engine has such.

    Args:
        frame: of any engine, with checked columns.
        columns: those that count, and what their entries are; None where the type alone says it.
    """
    import narwhals as nw

    if not engine_of(frame).loose:
        return frame
    import ibis

    native: Any = frame.to_native()
    if native.get_backend().name != "sqlite":
        return frame
    held = {
        column: ("integer",) if kind in _WHOLE else _storage(native.schema()[column])
        for column, kind in columns.items()
    }
    written = [
        native[column].typeof().isin(types).ifelse(native[column], ibis.null()).name(column)
        for column, types in held.items()
    ]
    declared: nw.LazyFrame[Any] = nw.from_native(native.mutate(*written))
    return declared


def _storage(dtype: Any) -> tuple[str, ...]:
    """What SQLite calls the entries that a column of a type declares to have."""
    if dtype.is_numeric() or dtype.is_boolean():
        return _NUMBERS
    if dtype.is_string():
        return ("text",)
    return ("blob",) if dtype.is_binary() else (*_NUMBERS, "text")
