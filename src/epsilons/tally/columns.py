"""A frame that the user gave, with the columns that they named: checked from its schema alone."""

from __future__ import annotations

import contextlib
import difflib
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.errors import ArgumentError, ColumnError, DataError, EpsilonsError, FileError
from epsilons.tally import arrays
from epsilons.tally.bytewise import Spelling, bytewise
from epsilons.tally.categories import Kind, wrong_type
from epsilons.tally.cells_twin import entries
from epsilons.tally.failures import guarded
from epsilons.tally.files import rows_of, scan
from epsilons.tally.grid import Floats
from epsilons.tally.identities import numbers_of_objects, people
from epsilons.tally.ladder import Ladder
from epsilons.tally.levels import Names
from epsilons.tally.progress import Passed, on_terminal

if TYPE_CHECKING:
    import narwhals as nw
    import numpy.typing as npt
    import polars as pl

__all__ = ["Table", "in_memory", "of_arrays", "of_values", "read", "read_in_memory"]

BUDGET = "the budget of all"
"""A column of one number, where a budget is needed for each row."""

UNUSABLE = (
    "data could not be read by its engine ({kind}). "
    "The engine's own message is withheld, because it may show a private value."
)


@dataclass(frozen=True, eq=False)
class Table:
    """A frame, the columns that count, and what to raise if its engine fails.

    Attributes:
        frame: lazy, of any engine.
        values: the column of values.
        epsilon: the column of budgets, or one budget for all.
        person: the column of who a row belongs to, or None.
        failure: the exception and its message.
        ladder: the public ladder that budgets stand on, if they are private.
        size: how many rows there are, where that costs nothing to know.
        passed: what counts the rows that are read, where somebody looks on.
        spelling: how the text of values is written.
    """

    frame: nw.LazyFrame[Any]
    values: str
    epsilon: str | float
    person: str | None
    failure: tuple[type[DataError] | type[FileError], str] = (DataError, UNUSABLE)
    ladder: Ladder | None = None
    size: int | None = None
    passed: Passed | None = None
    spelling: Spelling = "text"

    def pieces(self, rows: int) -> list[Table]:
        """Parts of a table in Polars, of so many rows, to be read one after another."""
        import narwhals as nw

        if self.size is None or self.frame.implementation is not nw.Implementation.POLARS:
            return [self]
        native: pl.LazyFrame = self.frame.to_native()
        return [
            replace(self, frame=nw.from_native(native.slice(start, rows)))
            for start in range(0, max(self.size, 1), rows)
        ]

    @property
    def names(self) -> Names:
        """What messages call the columns."""
        return Names.of_columns(self.values, self.epsilon, self.person)


def read(
    values: object,
    epsilon: object,
    data: object,
    person: object,
    kind: Kind = "numbers",
    ladder: Ladder | None = None,
) -> Table:
    """Check that `data` has the columns that are named, and that they are of the right types.

    Args:
        values: the name of a column, of the type that `kind` needs.
        epsilon: the name of a column of numbers, or one number.
        data: a frame, or the path of a file.
        person: the name of a column, or None.
        kind: what values must be.
        ladder: the public ladder that budgets stand on, if they are private.

    Raises:
        ArgumentError: a column is not named by a string, or `data` is not a frame.
        ColumnError: a column is not there, or is not of its type.
        BudgetError: `epsilon` is one number that cannot be a budget.
        FileError: `data` is a path, and the file cannot be read.
    """
    if not isinstance(values, str):
        raise ArgumentError("values must be the name of a column of data, since data is given.")
    budget = epsilon if isinstance(epsilon, str) else arrays.one_budget(epsilon)
    if budget is None:
        raise ArgumentError(
            "epsilon must be the name of a column of data, or one number for everyone, "
            "since data is given."
        )
    if not (person is None or isinstance(person, str)):
        raise ArgumentError("person must be the name of a column of data, since data is given.")
    table = _open(data, values, budget, person, kind)
    _check_types(table, data, kind)
    table = replace(table, frame=_into_polars(table))
    if kind == "text":
        _check_dictionary(table)
    text = values if kind == "text" else None
    frame, spelling = guarded(lambda: bytewise(table.frame, text, person), *table.failure)
    table = replace(table, frame=frame, spelling=spelling)
    return table if ladder is None else _on_ladder(table, ladder)


def _on_ladder(table: Table, ladder: Ladder) -> Table:
    """Put budgets on a ladder. One budget for all becomes a column where some rows have nobody."""
    import narwhals as nw

    if isinstance(table.epsilon, str):
        return replace(table, ladder=ladder)
    rung = float(ladder.of(np.array([table.epsilon]))[0])
    if table.person is None:
        return replace(table, epsilon=rung, ladder=ladder)
    frame = table.frame.with_columns(nw.lit(rung).alias(BUDGET))
    return replace(table, frame=frame, epsilon=BUDGET, ladder=ladder)


def _open(data: object, values: str, epsilon: str | float, person: str | None, kind: Kind) -> Table:
    """Return `data` as a lazy Narwhals frame, whatever it is."""
    import narwhals as nw

    if isinstance(data, (str, os.PathLike)):
        types: dict[str, Kind] = {values: kind}
        if isinstance(epsilon, str) and epsilon not in types:
            types[epsilon] = "numbers"
        frame, message = scan(data, types=types, person=person)
        failure = (FileError, message)
        size = passed = None
        if os.fspath(data).lower().endswith(".parquet"):
            size = guarded(lambda: rows_of(frame), *failure)
            if on_terminal():
                passed = Passed(size)
                frame = passed.watched(frame)
        table = Table(nw.from_native(frame), values, epsilon, person, failure)
        return replace(table, size=size, passed=passed)

    def wrap() -> tuple[nw.LazyFrame[Any], int | None] | None:
        wrapped = nw.from_native(data, pass_through=True)
        if isinstance(wrapped, nw.DataFrame):
            return wrapped.lazy(), len(wrapped)
        return (wrapped, None) if isinstance(wrapped, nw.LazyFrame) else None

    opened = guarded(wrap, DataError, UNUSABLE)
    if opened is None:
        raise ArgumentError(
            f"data is of type {type(data).__name__}, which is not a table: give a frame of pandas, "
            "Polars, PyArrow, DuckDB or PySpark, or the path of a .parquet or .csv file."
        )
    return Table(opened[0], values, epsilon, person, size=opened[1])


def _check_types(table: Table, data: object, kind: Kind) -> None:
    """Refuse columns that are not there or not of their type. No row is read, nothing is cast."""
    import narwhals as nw

    schema = guarded(table.frame.collect_schema, *table.failure)
    # The first line of a CSV file without a header is somebody's data: it is not listed.
    listed = not (isinstance(data, (str, os.PathLike)) and os.fspath(data).lower().endswith("csv"))
    named = {"values": table.values}
    if isinstance(table.epsilon, str):
        named["epsilon"] = table.epsilon
    if table.person is not None:
        named["person"] = table.person
    for parameter, column in named.items():
        if column not in schema:
            raise ColumnError(_unknown(parameter, column, list(schema), listed))
        dtype = schema[column]
        number = dtype.is_numeric()
        if parameter == "epsilon" and not number:
            raise wrong_type("numbers", f"epsilon={column!r} must be a column of", dtype)
        fits = {
            "numbers": number or dtype == nw.Boolean,
            "bins": number,
            "text": dtype in (nw.String, nw.Categorical, nw.Enum),
            "integers": dtype.is_integer(),
            "booleans": dtype == nw.Boolean,
        }
        if parameter == "values" and not fits[kind]:
            raise wrong_type(kind, f"values={column!r} must be a column of", dtype)


def _check_dictionary(table: Table) -> None:
    """Refuse a categorical column whose categories are not text, which Narwhals does not tell."""
    import narwhals as nw

    dtype = guarded(table.frame.collect_schema, *table.failure)[table.values]
    text = dtype in (nw.String, nw.Enum)
    if dtype == nw.Categorical:
        native: Any = table.frame.select(table.values).head(0).to_native()
        if table.frame.implementation is nw.Implementation.PANDAS:
            text = native[table.values].dtype.categories.dtype in ("object", "str", "string")
        elif table.frame.implementation is nw.Implementation.PYARROW:
            text = "string" in str(native.schema.field(table.values).type.value_type)
        else:
            text = True
    if not text:
        must = f"values={table.values!r} must be a column of"
        raise wrong_type("text", must, f"{dtype}, but not of text")


def _into_polars(table: Table) -> nw.LazyFrame[Any]:
    """Return the frame, in Polars if it is in memory: four to eight times faster, mostly no copy.

    PyArrow would also refuse integers above 2**53, and show one of them.
    """
    import narwhals as nw

    frame = table.frame
    if frame.implementation not in (nw.Implementation.PANDAS, nw.Implementation.PYARROW):
        return frame
    wanted = {c for c in (table.values, table.epsilon, table.person) if isinstance(c, str)}
    if (who := table.person) is not None and who != table.values:
        frame = guarded(lambda: numbers_of_objects(table.frame, who), *table.failure)

    def convert() -> nw.LazyFrame[Any]:
        return frame.select(*wanted).collect().lazy(backend="polars")

    try:
        return guarded(convert, *table.failure)
    except EpsilonsError:  # without PyArrow, or with people of mixed types: it stays where it is
        return frame


def _unknown(parameter: str, column: str, columns: list[str], listed: bool) -> str:
    """Say that a column is not there, and which are."""
    close = difflib.get_close_matches(column, columns, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    if listed:
        more = ", …" if len(columns) > 20 else ""
        hint += f" The columns are {', '.join(map(repr, columns[:20]))}{more}."
    elif not close:
        hint = " The first line of a CSV file must name its columns."
    return f"{parameter}={column!r} is not a column of data.{hint}"


def read_in_memory(
    values: object, epsilon: object, data: object, person: object, kind: Kind = "numbers"
) -> Table:
    """Check the columns of a frame in memory.

    Raises:
        ArgumentError: the frame is lazy, or is a file. And as `read`.
    """
    import narwhals as nw

    lazy = isinstance(data, (str, os.PathLike)) or not isinstance(
        guarded(lambda: nw.from_native(data, pass_through=True), DataError, UNUSABLE),
        nw.DataFrame,
    )
    table = read(values, epsilon, data, person, kind)
    if lazy:
        raise ArgumentError(
            'method "sampling" draws for each person and needs data in memory: '
            "give arrays or an eager frame, not a file or a lazy frame."
        )
    return table


def in_memory(values: object, epsilon: object, data: object, person: object) -> arrays.Arrays:
    """Return the columns of a frame in memory as arrays.

    Raises:
        ArgumentError: the frame is lazy, or is a file. And as `read`.
    """
    table = read_in_memory(values, epsilon, data, person)

    def take() -> list[Any]:
        eager = table.frame.collect()
        numbers = [
            eager[c].to_numpy() if isinstance(c, str) else c for c in (table.values, table.epsilon)
        ]
        return [*numbers, None if table.person is None else people(eager[table.person])]

    names = table.names
    v, e, p = guarded(take, *table.failure)
    return arrays.read(v, e, p, (names.values, names.epsilon, names.person))


def of_arrays(rows: arrays.Arrays) -> Table:
    """Hand arrays to Polars, without a copy."""
    import polars as pl

    return _of_series(pl.Series("values", rows.values), rows.epsilon, rows.person)


def of_values(
    values: object, epsilon: object, person: object, kind: Kind, ladder: Ladder | None = None
) -> Table:
    """Hand arrays of values of any kind to Polars, without a copy where that can be.

    Raises:
        ArgumentError: something is not one column, or the lengths differ.
        ColumnError: something is not of the type that it must be.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    import polars as pl

    series: pl.Series | None = None
    if kind == "bins":
        series = pl.Series("values", arrays.floats(values, "values", booleans=False))
    elif hasattr(values, "to_list") or hasattr(values, "to_pylist"):

        def convert() -> pl.Series:
            given: Any = values
            return pl.Series("values", given)

        with contextlib.suppress(EpsilonsError):  # then entry by entry, below
            series = guarded(convert, DataError, UNUSABLE)
    if series is None:
        types = {"text": pl.String, "integers": pl.Int64, "booleans": pl.Boolean}
        items = entries(values, kind)
        if kind == "integers" and any(i is not None and not -(2**63) <= i < 2**63 for i in items):
            # No category is beyond 64 bits: what is stays out of all of them, and is not refused.
            types["integers"] = pl.Int128
            items = [None if i is None else min(max(int(i), -(2**127)), 2**127 - 1) for i in items]

        def build() -> pl.Series:
            return pl.Series("values", items, dtype=types[kind])

        series = guarded(build, ColumnError, "values could not be handed to Polars ({kind}).")
    names = ("values", "epsilon", "person")
    budgets, who = arrays.budgets_and_people(epsilon, person, names, len(series), ladder)
    table = _of_series(series, budgets, who)
    _check_types(table, None, kind)
    return table


def _of_series(
    values: pl.Series, epsilon: Floats | float, person: npt.NDArray[np.generic] | None
) -> Table:
    """Make a table of checked columns."""
    import narwhals as nw
    import polars as pl

    series = [values]
    if not isinstance(epsilon, float):
        series.append(pl.Series("epsilon", epsilon))
    if person is not None:
        series.append(pl.Series("person", person))
    return Table(
        nw.from_native(pl.LazyFrame(series)),
        "values",
        epsilon if isinstance(epsilon, float) else "epsilon",
        None if person is None else "person",
        size=len(values),
    )
