"""Exact comparison of entries: text is compared by bytes, and entries of a wrong type are null."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from epsilons.door.engines.table import DIALECTS, EngineKind, engine_of
from epsilons.door.given.categories import LabelKind
from epsilons.errors import ColumnError

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["Spelling", "as_declared", "bytewise", "spelt", "written"]


# Text and ids are compared byte by byte, regardless of the collation of an engine.
#
# Under a collation, different texts can be equal: they can differ in case, accents, trailing spaces
# or the composition of a letter. A group-by then returns one of several spellings, so one person
# can choose the spelling for everyone. If ids are equal under a collation, people are merged. Most
# engines do not report the collation of a column, which can come from the column, from an
# expression or from a setting of the connection. So on engines with collations, text and the labels
# of categories are converted to bytes before any comparison.

Spelling = Literal["text", "bytes", "hex"]
"""The form of text in a query: unchanged, as UTF-8 bytes, or as these bytes in hexadecimal."""

Written: TypeAlias = "tuple[nw.LazyFrame[Any], Spelling]"
"""A frame, and the form of a column of text in it."""

BINARY: Final = "UTF8_BINARY"
"""The Spark collation that compares bytes. Before Spark 4 there was no other."""

PLAIN: Final = ("uuid", "null", "void", "timestamptz_ns", "time_ns")
"""Types in DuckDB, Ibis and Spark that Narwhals does not support and that contain no text."""

WITHOUT_COLLATIONS: Final = ("polars",)
"""Backends of Ibis that always compare text by its bytes."""


def bytewise(
    frame: nw.LazyFrame[Any],
    values: str | None,
    person: str | None,
    types: Mapping[str, nw.dtypes.DType],
    shown: Mapping[str, str],
) -> Written:
    """Rewrite text and ids so that, on any engine, only identical entries are equal.

    Args:
        frame: a frame of any engine.
        values: a column of text, or of dictionary-encoded text; None if values are not text.
        person: a column of ids of any type, or None.
        types: the types of the columns.
        shown: the names of the columns in messages, under `values` and `person`.

    Returns:
        The frame, and the form of the text of values in it.

    Raises:
        ColumnError: a column cannot be compared in this way on this engine.
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
    """Return labels in the form of a column of text."""
    if how == "bytes":
        return [label.encode() for label in labels]
    return [label.encode().hex().upper() if how == "hex" else label for label in labels]


def written(frame: nw.LazyFrame[Any], column: str, shown: str | None = None) -> Written:
    """Rewrite a column of text so that bytes are compared, and return the form of its text.

    Args:
        frame: a frame of any engine.
        column: a column of text.
        shown: its name in messages.

    Raises:
        ColumnError: for this engine, no way to compare bytes is known.
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
    """Whether only identical entries of a column are equal, if the column is not text.

    On engines with collations, nested entries can contain text that the type does not show. In
    DuckDB, an interval of 30 days equals an interval of one month.
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
    """Return the frame unchanged, for engines that always compare bytes."""
    return frame, "text"


def _on_pyarrow(frame: nw.LazyFrame[Any], column: str) -> Written:
    """Decode a dictionary column, because an Arrow dictionary can contain an entry twice."""
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
    """Convert a column to bytes if it has a collation in its schema."""
    import narwhals as nw

    native: Any = frame.to_native()
    if getattr(native.schema[column].dataType, "collation", BINARY) == BINARY:
        return frame, "text"
    return frame.with_columns(nw.col(column).cast(nw.Binary)), "bytes"


def _on_duckdb(frame: nw.LazyFrame[Any], column: str) -> Written:
    """Convert a column of a relation to bytes, without a copy."""
    sql = DIALECTS["duckdb"]
    name = sql.name(column)
    # A cast to BLOB would interpret escapes in the text, and an ENUM cannot be encoded directly.
    return sql.selected(frame, [f"* REPLACE (encode(CAST({name} AS VARCHAR)) AS {name})"]), "bytes"


def _on_ibis(frame: nw.LazyFrame[Any], column: str) -> Written | None:
    """Convert a column of an Ibis table as its backend allows; None if no way is known."""
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
    # In SQLite the hexadecimal form of null is an empty string.
    shown = text.isnull().ifelse(ibis.null(), writer(text))
    return nw.from_native(native.mutate(shown.name(column))), spelling


def _encode(text: Any) -> Any:  # pragma: no cover: it names a function of the engine
    """Placeholder for a function of the engine."""


def _unknown_collation(column: str, engine: str) -> str:
    return (
        f"{column!r} is a column of text, and {engine} may compare text by a collation, in which "
        "different texts are equal. Give the rows on an engine that compares bytes: Polars, "
        "PyArrow, pandas, DuckDB or Spark (a table of Ibis has to_pyarrow)."
    )


# SQLite allows entries whose type differs from the type of their column. Here they become null.
#
# In SQLite the type of an entry is data, as in a CSV file. Text in a column of numbers compares as
# larger than all numbers, so it would be the largest budget. An empty string would be the value 0;
# SQLite's own CSV reader stores empty cells as empty strings. A blob as an id could have the same
# hexadecimal form as another person's text.

_NUMBERS: Final = ("integer", "real")
_WHOLE: Final = ("integers", "booleans")


def as_declared(
    frame: nw.LazyFrame[Any], columns: Mapping[str, LabelKind | None]
) -> nw.LazyFrame[Any]:
    """Replace entries of a wrong type by null, on engines that allow such entries.

    Args:
        frame: a frame of any engine, with checked columns.
        columns: the columns in use, each with the required kind of its entries; None if the type of
            the column is the only requirement.
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
    """Return SQLite's storage classes for the entries of a column, given its declared type."""
    if dtype.is_numeric() or dtype.is_boolean():
        return _NUMBERS
    if dtype.is_string():
        return ("text",)
    return ("blob",) if dtype.is_binary() else (*_NUMBERS, "text")
