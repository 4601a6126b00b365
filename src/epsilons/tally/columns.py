"""A frame that the user gave, with the columns that they named: checked from its schema alone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.errors import (
    ArgumentError,
    ColumnError,
    DataError,
    EpsilonsError,
    FileError,
)
from epsilons.ladder import Ladder
from epsilons.tally import arrays, given
from epsilons.tally.budget_columns import on_ladder, rounded_down
from epsilons.tally.bytewise import Spelling, bytewise, check_dictionary
from epsilons.tally.categories import Kind, wrong_type
from epsilons.tally.cells_numpy import check_declared
from epsilons.tally.csv_files import Role, TextFile
from epsilons.tally.engines import engine_of
from epsilons.tally.failures import UNUSABLE, guarded, unknown_column
from epsilons.tally.files import Separated, open_file
from epsilons.tally.identity import numbered
from epsilons.tally.levels import Names
from epsilons.tally.offers import Offers, joined
from epsilons.tally.progress import Passed, on_terminal
from epsilons.tally.spellings import NOTES
from epsilons.tally.storage import as_declared
from epsilons.types import Floats

if TYPE_CHECKING:
    import narwhals as nw
    import numpy.typing as npt
    import polars as pl

__all__ = [
    "Columns",
    "as_arrays",
    "moved",
    "of_arrays",
    "of_values",
    "opened",
    "read",
]

_UNNAMED: Final = "{} must be the name of a column of data, since data is given."


@dataclass(frozen=True, eq=False)
class Columns:
    """A frame, the columns that count, and what to raise if its engine fails.

    Attributes:
        frame: lazy, of any engine.
        values: the column of values.
        epsilon: the column of budgets, or one budget for all.
        person: the column of who a row belongs to, or None.
        types: the type of each of these columns.
        failure: the exception and its message.
        ladder: the public ladder that budgets stand on, if they are private.
        size: how many rows there are, where that costs nothing to know.
        passed: what counts the rows that are read, where somebody looks on.
        called: what messages call the columns, where the frame calls them otherwise.
        spelling: how the text of values is written.
        beside: a second column of numbers, or None.
    """

    frame: nw.LazyFrame[Any]
    values: str
    epsilon: str | float
    person: str | None
    types: Mapping[str, nw.dtypes.DType] = field(default_factory=dict)
    failure: tuple[type[DataError] | type[FileError], str] = (DataError, UNUSABLE)
    ladder: Ladder | None = None
    size: int | None = None
    passed: Passed | None = None
    called: Names | None = None
    spelling: Spelling = "text"
    beside: str | None = None

    def pieces(self, rows: int) -> list[Columns]:
        """Parts of a table in Polars, of so many rows, to be read one after another."""
        import narwhals as nw

        if self.size is None or not engine_of(self.frame).streams:
            return [self]
        native: pl.LazyFrame = self.frame.to_native()
        return [
            replace(self, frame=nw.from_native(native.slice(start, rows)))
            for start in range(0, max(self.size, 1), rows)
        ]


def read(
    values: object,
    epsilon: object,
    data: object,
    person: object,
    kind: Kind = "numbers",
    ladder: Ladder | None = None,
    beside: object = None,
) -> Columns:
    """Check that `data` has the columns that are named, and that they are of the right types.

    Args:
        values: the name of a column, of the type that `kind` needs.
        epsilon: the name of a column of numbers, one number, or budgets by person.
        data: a frame, or the path of a file.
        person: the name of a column, or None.
        kind: what values must be.
        ladder: the public ladder that budgets stand on, if they are private.
        beside: the name of a second column of numbers, or None.

    Raises:
        ArgumentError: a column is not named by a string, or `data` is not a frame.
        ColumnError: a column is not there, or is not of its type.
        BudgetError: `epsilon` is one number that cannot be a budget.
        FileError: `data` is a path, and the file cannot be read.
    """
    first, second, who = _name("values", values), _name("beside", beside), _name("person", person)
    if first is None:
        raise ArgumentError(_UNNAMED.format("values"))
    offers = epsilon if isinstance(epsilon, Offers) else None
    if offers is not None:
        epsilon = 1.0  # until budgets are joined
    budget = epsilon if isinstance(epsilon, str) else arrays.one_budget(epsilon)
    if budget is None:
        raise ArgumentError(
            "epsilon must be the name of a column of data, or one number for everyone, "
            "since data is given."
        )
    table = _open(data, first, budget, who, kind, second)
    table = moved(_typed(table, kind))
    if kind == "text":
        check_dictionary(table.frame, table.values, table.types[table.values])
    text = table.values if kind == "text" else None
    own = (table.values, table.epsilon, table.person)

    def written() -> tuple[nw.LazyFrame[Any], Spelling]:
        frame = as_declared(table.frame, *own, kind, table.beside)
        return bytewise(frame, text, table.person, table.types)

    frame, spelling = guarded(written, *table.failure)
    table = replace(table, frame=frame, spelling=spelling)
    if offers is not None:
        table = guarded(lambda: joined(table, offers), *table.failure)
    table = rounded_down(table, ladder)
    return table if ladder is None else on_ladder(table, ladder)


def _name(parameter: str, given: object) -> str | None:
    if given is None or isinstance(given, str):
        return given
    raise ArgumentError(_UNNAMED.format(parameter))


def opened(data: object, person: str, epsilon: str | float) -> Columns:
    """Open a table for its people, of whatever type: they are its values."""
    return _typed(_open(data, person, epsilon, None, "text"), None)


def moved(table: Columns) -> Columns:
    """Hand a table to Polars, if its engine is one that frames are moved from."""
    frame = _into_polars(table)
    if frame is table.frame:
        return table
    return replace(table, frame=frame, types=guarded(frame.collect_schema, *table.failure))


def _open(
    data: object, values: str, epsilon: str | float, person: str | None, kind: Kind,
    beside: str | None = None,
) -> Columns:  # fmt: skip
    """Return `data` as a lazy Narwhals frame, whatever it is."""
    import narwhals as nw

    if isinstance(data, (str, os.PathLike, Separated)):
        file = open_file(data)
        if isinstance(file, TextFile):
            return _open_text(file, values, epsilon, person, kind, beside)
        frame = file.scan()
        size = file.rows(frame)
        passed = None
        if on_terminal():
            passed = Passed(size)
            frame = passed.watched(frame)
        table = Columns(nw.from_native(frame), values, epsilon, person, failure=file.failure)
        return replace(table, size=size, passed=passed, beside=beside)

    def wrap() -> tuple[nw.LazyFrame[Any], int | None] | None:
        wrapped = nw.from_native(data, pass_through=True)
        if isinstance(wrapped, nw.DataFrame):
            return wrapped.lazy(), len(wrapped)
        return (wrapped, None) if isinstance(wrapped, nw.LazyFrame) else None

    wrapped = guarded(wrap, DataError, UNUSABLE)
    if wrapped is None:
        raise ArgumentError(
            f"data is of type {type(data).__name__}, which is not a table: give a frame of pandas, "
            "Polars, PyArrow, DuckDB or PySpark, or the path of a .parquet or .csv file."
        )
    return Columns(wrapped[0], values, epsilon, person, size=wrapped[1], beside=beside)


def _open_text(
    file: TextFile, values: str, epsilon: str | float, person: str | None, kind: Kind,
    beside: str | None,
) -> Columns:  # fmt: skip
    """Return a table of a CSV file. Its columns are called as the parameters that named them.

    So one column may be values and people, of which the first are numbers and the others text.
    """
    import narwhals as nw

    what = "In a CSV file a cell that is"
    called = replace(
        Names.of_columns(values, epsilon, person, beside),
        missing=f" {what} {NOTES[kind]} counts as missing.",
        unusable=f" {what} {NOTES['numbers']} counts as missing.",
    )
    roles = [Role("values", values, kind)]
    if beside is not None:
        roles.append(Role("beside", beside, kind))
        beside = "beside"
    if isinstance(epsilon, str):
        roles.append(Role("epsilon", epsilon, "bins"))
        epsilon = "epsilon"
    if person is not None:
        roles.append(Role("person", person, "text"))
        person = "person"
    frame = nw.from_native(file.scan(roles))
    made = Columns(frame, "values", epsilon, person, failure=file.failure, called=called)
    return replace(made, beside=beside)


def _typed(table: Columns, kind: Kind | None) -> Columns:
    """Refuse columns that are not there or not of their type. No row is read, nothing is cast.

    Returns:
        The table with the types of its columns, so that the engine is asked for them once.
    """
    import narwhals as nw

    schema = guarded(table.frame.collect_schema, *table.failure)
    named = {"values": table.values}
    if isinstance(table.epsilon, str):
        named["epsilon"] = table.epsilon
    for name in ("beside", "person"):
        if (column := getattr(table, name)) is not None:
            named[name] = column
    for parameter, column in named.items():
        if column not in schema:
            raise ColumnError(unknown_column(parameter, column, list(schema)))
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
        if parameter in ("values", "beside") and kind is not None and not fits[kind]:
            raise wrong_type(kind, f"{parameter}={column!r} must be a column of", dtype)
    return replace(table, types={column: schema[column] for column in named.values()})


def _into_polars(table: Columns) -> nw.LazyFrame[Any]:
    """Return the frame, in Polars if its engine is one that frames are moved from."""
    frame = table.frame
    if not engine_of(frame).moved:
        return frame
    own = (table.values, table.beside, table.epsilon, table.person)
    wanted = {column for column in own if isinstance(column, str)}

    def convert() -> nw.LazyFrame[Any]:
        return frame.select(*wanted).collect().lazy(backend="polars")

    try:
        return guarded(convert, *table.failure)
    except EpsilonsError:  # without PyArrow, or with people of mixed types: it stays where it is
        return frame


def as_arrays(
    table: Columns, names: Names, ladder: Ladder | None = None, *, lenient: bool
) -> arrays.Arrays:
    """Return the columns of a frame in memory as arrays, as `arrays.read` does."""

    def take() -> list[Any]:
        eager = table.frame.collect()
        # As series: in NumPy integers with gaps are floats, and so may ids be.
        numbers = [
            eager[c].to_native() if isinstance(c, str) else c for c in (table.values, table.epsilon)
        ]
        return [*numbers, None if table.person is None else numbered(eager[table.person])]

    v, e, p = guarded(take, *table.failure)
    return arrays.read(v, e, p, names, ladder, lenient=lenient)


def of_arrays(rows: arrays.Arrays) -> Columns:
    """Hand arrays to Polars, without a copy."""
    import narwhals as nw
    import polars as pl

    table = _of_series(pl.Series("values", rows.values), rows.epsilon, rows.person)
    if rows.beside is None:
        return table
    frame = table.frame.with_columns(nw.new_series("beside", rows.beside, backend="polars"))
    return replace(table, frame=frame, types=frame.collect_schema(), beside="beside")


def of_values(
    values: object,
    epsilon: object,
    person: object,
    kind: Kind,
    names: Names,
    ladder: Ladder | None = None,
) -> Columns | None:
    """Hand arrays of values of any kind to Polars, without a copy where that can be.

    Returns:
        None where the type of values declares nothing, or Polars does not take them: then their
        entries are looked at one by one, in `cells_numpy.py`.

    Raises:
        ArgumentError: something is not one column, or the lengths differ.
        ColumnError: something is not of the type that it must be.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    import polars as pl

    series: pl.Series | None = None
    held, _ = given.declared(values)
    if held is None or (kind != "bins" and isinstance(values, np.ma.MaskedArray)):
        return None
    if kind == "bins":
        numbers = arrays.floats(values, names.values, lenient=False, kind="bins")
        series = pl.Series("values", numbers)
    else:
        check_declared(values, kind, names.values)

        def convert() -> pl.Series:
            typed: Any = values
            if isinstance(typed, np.ndarray) and held == "text":  # twice as fast from a list
                return pl.Series("values", typed.tolist(), dtype=pl.String)
            return pl.Series("values", typed)

        with contextlib.suppress(EpsilonsError):
            series = guarded(convert, DataError, UNUSABLE)
        if series is None or given.family(series.dtype) != held:
            return None
    budgets, who = arrays.budgets_and_people(epsilon, person, names, len(series), ladder)
    return _of_series(series, budgets, who)


def _of_series(
    values: pl.Series, epsilon: Floats | float, person: npt.NDArray[np.generic] | None
) -> Columns:
    """Make a table of checked columns."""
    import narwhals as nw
    import polars as pl

    series = [values.alias("values")]
    if not isinstance(epsilon, float):
        series.append(pl.Series("epsilon", epsilon))
    if person is not None:
        series.append(pl.Series("person", person))
    frame: nw.LazyFrame[Any] = nw.from_native(pl.LazyFrame(series))
    return Columns(
        frame,
        "values",
        epsilon if isinstance(epsilon, float) else "epsilon",
        None if person is None else "person",
        types=frame.collect_schema(),
        size=len(values),
    )
