"""The user's frame and the columns that they named, checked by the schema only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from epsilons.budgets.levels import Ladder
from epsilons.door.count.asks import Names, said
from epsilons.door.count.weights import Weights
from epsilons.door.engines.entries import Spelling, as_declared, bytewise, written
from epsilons.door.engines.floats import on_ladder, rounded_down
from epsilons.door.engines.running import UNUSABLE, Passed, guarded, on_terminal, unknown_column
from epsilons.door.engines.table import engine_of, kind_of_data
from epsilons.door.given import arrays
from epsilons.door.given.categories import OF, LabelKind, wrong_type
from epsilons.door.given.cells import CellFile, Role
from epsilons.door.given.files import FILES, open_file
from epsilons.door.given.frames import called, columns_of, picked, refuse_doubles
from epsilons.door.given.menus import Chosen, Menu
from epsilons.door.given.spellings import NOTES, in_query
from epsilons.door.offers import Offers, joined
from epsilons.errors import (
    ArgumentError,
    ColumnError,
    DataError,
    EpsilonsError,
    FileError,
)
from epsilons.loading import later

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

    from epsilons.door.engines import labels_engine
else:
    labels_engine = later("epsilons.door.engines.labels_engine")

__all__ = [
    "Columns",
    "Mark",
    "moved",
    "of_words",
    "opened",
    "read",
    "with_whole",
]


@dataclass(frozen=True)
class Mark:
    """A further column: the group of a row, a condition (`where`), a second number, or a weight.

    Attributes:
        parameter: the parameter that names it.
        column: its name.
        kind: the required kind of its entries.
        spelling: the form of its text in queries.
    """

    parameter: str
    column: str
    kind: LabelKind
    spelling: Spelling = "text"


@dataclass(frozen=True, eq=False)
class Columns:
    """A frame and the columns in use, and the exception to raise if its engine fails.

    Attributes:
        frame: a lazy frame of any engine.
        values: the column of values.
        epsilon: the column of budgets, or one budget for all.
        person: the column of ids of people, or None.
        types: the type of each of these columns.
        failure: the exception class and its message.
        ladder: the public ladder of budgets, if budgets are private.
        size: the number of rows, if it is known without a query; otherwise None.
        passed: the counter of rows read so far, if progress is shown on a terminal.
        called: the names of the columns in messages, with notes on missing cells; None without
            such notes.
        shown: the user's names of the columns, by parameter. Queries use other names.
        spelling: the form of the text of values in queries.
        marks: further columns, in the order in which they were given.
        recast: the parameters for which text is declared, but whose columns are numbers or
            booleans.
        menu: the menu of the words in the column of budgets; None if it contains numbers.
        units: the column of units, if people have weights; otherwise None. `epsilon` is then the
            column of the budgets of one unit each.
        weights: for weights that are not yet converted to units: their column, the weights, and
            the name of the column in messages; otherwise None.
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
    shown: Mapping[str, str] = field(default_factory=dict)
    spelling: Spelling = "text"
    marks: tuple[Mark, ...] = ()
    recast: frozenset[str] = frozenset()
    menu: Menu | None = None
    units: str | None = None
    weights: tuple[str, Weights, str] | None = None

    @property
    def named(self) -> dict[str, str]:
        """The names of the columns in the frame, by parameter."""
        named = {"values": self.values}
        if isinstance(self.epsilon, str):
            named["epsilon"] = self.epsilon
        if self.person is not None:
            named["person"] = self.person
        for mark in self.marks:
            named[mark.parameter] = mark.column
        return named

    def showing(self, parameter: str) -> str:
        """Return a parameter and the user's name of its column, for messages."""
        column = self.shown.get(parameter, self.named[parameter])
        return f"{said(parameter, self.named)}={column!r}"

    def must(self, parameter: str) -> str:
        """Return the start of a message about the required type of a column."""
        return f"{self.showing(parameter)} must be a column of"

    def pieces(self, rows: int) -> list[Columns]:
        """Return a table in Polars in parts of `rows` rows; in one part if it has no size."""
        import narwhals as nw

        if self.size is None:
            return [self]
        native: pl.LazyFrame = self.frame.to_native()
        return [
            replace(self, frame=nw.from_native(native.slice(start, rows)))
            for start in range(0, max(self.size, 1), rows)
        ]


def read(
    values: Any,
    epsilon: Any,
    data: object,
    person: str | None,
    kind: LabelKind = "numbers",
    ladder: Ladder | None = None,
    marks: Sequence[Mark] = (),
    *,
    lenient: bool = False,
) -> Columns:
    """Return the named columns of `data`, after checking that they exist and have the right types.

    Args:
        values: the name of a column whose type matches `kind`; or the same `Chosen` object as
            `epsilon`, for the budgets themselves.
        epsilon: the name of a column of numbers, one number, budgets by person, or the words of a
            menu (`Chosen`).
        data: a frame, or the path of a file.
        person: the name of a column, or None.
        kind: the required kind of values.
        ladder: the public ladder of budgets, if budgets are private.
        marks: further columns.
        lenient: whether columns of a frame are parsed cell by cell, regardless of their types. With
            a ladder they always are.

    Raises:
        ArgumentError: `data` is not a frame.
        ColumnError: a column does not exist, or has the wrong type.
        BudgetError: `epsilon` is one number that cannot be a budget.
        FileError: `data` is a path, and the file cannot be read.
    """
    menu: Menu | None = None
    held: LabelKind | None = kind
    if isinstance(epsilon, Chosen):
        if values is epsilon:
            values, held = epsilon.column, None
        menu, epsilon = epsilon.menu, epsilon.column
    offers = epsilon if isinstance(epsilon, Offers) else None
    if offers is not None:
        epsilon = 1.0  # a placeholder until budgets are joined
    budget: Any = epsilon if isinstance(epsilon, str) else arrays.one_budget(epsilon)
    table = _open(data, values, budget, person, held or "text", tuple(marks), menu)
    private = (lenient or ladder is not None) and not isinstance(data, FILES)
    table = _typed(table, held, private=private)
    if offers is not None and ladder is not None and table.person is not None:
        table = guarded(table.failure, with_whole, table, table.person)
    table = guarded(table.failure, _written, table, held)
    if table.menu is not None:
        table = guarded(table.failure, of_words, table)
    if held is None:
        table = replace(table, values=str(table.epsilon))
    if offers is not None:
        table = guarded(table.failure, joined, table, offers)
    table = rounded_down(table, ladder)
    return table if ladder is None else on_ladder(table, ladder)


def _declared(table: Columns, kind: LabelKind | None) -> list[Mark]:
    """Return the columns of a declared kind: values, the words of a menu, and further columns."""
    own = [] if kind is None else [Mark("values", table.values, kind)]
    if table.menu is not None:
        own.append(Mark("epsilon", str(table.epsilon), table.menu.words.kind))
    return [*own, *table.marks]


def of_words(table: Columns) -> Columns:
    """Replace the words of a menu by their budgets, if there is a menu."""
    import narwhals as nw

    if table.menu is None:
        return table
    menu, column = table.menu, str(table.epsilon)
    words = menu.words.recast if "epsilon" in table.recast else menu.words
    frame, spelling = table.frame, table.spelling
    if words.kind == "text":
        frame, spelling = written(frame, column, table.shown.get("epsilon"))
    frame = labels_engine.numbers_of(frame, column, words, spelling, menu.of)
    types = {**table.types, column: nw.Float64()}
    return replace(table, frame=frame, types=types, menu=None)


def _written(table: Columns, kind: LabelKind | None) -> Columns:
    """Convert text and ids to a form that engines compare byte by byte.

    Raises:
        ColumnError: a column of categories holds something other than text.
    """
    held: dict[str, LabelKind | None] = dict.fromkeys(table.named.values())
    for mark in _declared(table, kind):
        held[mark.column] = mark.kind
        if mark.kind == "text":
            _check_dictionary(table, mark.parameter, mark.column)
    frame = as_declared(table.frame, held)
    text = table.values if kind == "text" else None
    frame, spelling = bytewise(frame, text, table.person, table.types, table.shown)
    marks = []
    for mark in table.marks:
        own = mark.spelling
        if mark.kind == "text":
            frame, own = written(frame, mark.column, table.shown.get(mark.parameter))
        marks.append(replace(mark, spelling=own))
    return replace(table, frame=frame, spelling=spelling, marks=tuple(marks))


def opened(
    data: object,
    person: str,
    epsilon: str | float,
    menu: Menu | None = None,
    marks: tuple[Mark, ...] = (),
    *,
    lenient: bool = False,
) -> Columns:
    """Open a table in which the values are people's ids, of any type.

    Args:
        data: a frame, or the path of a file.
        person: the name of the column of ids.
        epsilon: the name of a column of budgets, or one number.
        menu: the menu of the words in the column of budgets, or None. `of_words` replaces them.
        marks: further columns.
        lenient: whether budgets of a frame are parsed cell by cell, regardless of their type.

    Raises:
        ArgumentError: `data` is not a frame.
        ColumnError: a column does not exist, or budgets have the wrong type.
        FileError: `data` is a path, and the file cannot be read.
    """
    table = _open(data, person, epsilon, None, "text", marks, menu)
    return _typed(table, None, private=lenient and not isinstance(data, FILES))


def moved(table: Columns) -> Columns:
    """Move a table to Polars, which is faster than its engine: see `Engine.moved`."""
    own, wanted = table.frame, set(table.named.values())

    def convert() -> nw.LazyFrame[Any]:
        return own.select(*wanted).collect().lazy(backend="polars")

    try:
        frame = guarded(table.failure, convert)
    except EpsilonsError:  # PyArrow is missing, or ids have mixed types: no move
        return table
    return replace(table, frame=frame, types=guarded(table.failure, frame.collect_schema))


def _open(
    data: object,
    values: str,
    epsilon: str | float,
    person: str | None,
    kind: LabelKind,
    marks: tuple[Mark, ...],
    menu: Menu | None,
) -> Columns:
    """Return the named columns of `data`, a file or a frame, as a lazy Narwhals frame."""
    import narwhals as nw

    failure: tuple[type[DataError] | type[FileError], str] = (DataError, UNUSABLE)
    size = passed = None
    if isinstance(data, FILES):
        file = open_file(data)
        if isinstance(file, CellFile):
            return _open_text(file, values, epsilon, person, kind, marks, menu)
        scanned, failure = file.scan(), file.failure
        size = file.rows(scanned)
        if on_terminal():
            passed = Passed(size)
            scanned = passed.watched(scanned)
        data = scanned
    engine = kind_of_data(data)
    columns = guarded(failure, columns_of, data, engine)
    if columns is None:
        raise ArgumentError(
            f"data is of type {type(data).__name__}, which is not a table: give a frame of pandas, "
            "Polars, PyArrow, DuckDB or PySpark, or the path of a .parquet or .csv file."
        )
    shown, own = {"values": values}, []
    for mark in marks:
        shown[mark.parameter] = mark.column
        own.append(replace(mark, column=called(mark.parameter)))
    if isinstance(epsilon, str):
        shown["epsilon"], epsilon = epsilon, called("epsilon")
    if person is not None:
        shown["person"], person = person, called("person")
    for parameter, column in shown.items():
        if column not in columns:
            raise ColumnError(
                unknown_column(said(parameter, shown), column, list(map(str, columns)))
            )
        refuse_doubles(said(parameter, shown), column, columns)
    frame = guarded(failure, picked, data, engine, columns, shown)
    if isinstance(frame, nw.DataFrame):
        size, frame = len(frame), frame.lazy()
    table = Columns(frame, called("values"), epsilon, person, failure=failure, marks=tuple(own))
    return replace(table, size=size, passed=passed, shown=shown, menu=menu)


def _open_text(
    file: CellFile,
    values: str,
    epsilon: str | float,
    person: str | None,
    kind: LabelKind,
    marks: tuple[Mark, ...],
    menu: Menu | None,
) -> Columns:
    """Return the named columns of a CSV file, each under the name of its parameter.

    So one column can be both values and ids. It is then parsed as numbers for the values, and as
    text for the ids.
    """
    import narwhals as nw

    what = f"In {file.called} a cell that is"
    names = replace(
        Names.of_columns(values, epsilon, person, {m.parameter: m.column for m in marks}),
        missing=f" {what} {NOTES[kind]} counts as missing.",
        unusable=f" {what} {NOTES['numbers']} counts as missing. If words stand for budgets, give "
        'menu={"strict": 0.1, "open": 2}.',
        chosen=menu is not None,
    )
    roles = [Role("values", values, kind)]
    if isinstance(epsilon, str):
        roles.append(Role("epsilon", epsilon, "bins" if menu is None else menu.words.kind))
        epsilon = "epsilon"
    if person is not None:
        roles.append(Role("person", person, "text"))
        person = "person"
    roles += [Role(mark.parameter, mark.column, mark.kind) for mark in marks]
    frame = nw.from_native(file.scan(roles))
    own = tuple(replace(mark, column=mark.parameter) for mark in marks)
    table = Columns(frame, "values", epsilon, person, failure=file.failure, called=names)
    return replace(table, marks=own, menu=menu)


def _typed(table: Columns, kind: LabelKind | None, *, private: bool) -> Columns:
    """Refuse columns of the wrong type. No row is read.

    Args:
        table: a table with all columns.
        kind: the required kind of values; None if any kind is allowed.
        private: whether refusals must not depend on the data. A type can be inferred from all cells
            together. Such a type depends on the data, so the column is parsed cell by cell instead.

    Returns:
        The table with the types of its columns, so the engine computes these only once. If Polars
        is faster than its engine, it is moved there.
    """
    import narwhals as nw

    schema = guarded(table.failure, table.frame.collect_schema)
    needed: dict[str, LabelKind] = {} if table.menu is not None else {"epsilon": "bins"}
    for mark in _declared(table, kind):
        needed[mark.parameter] = mark.kind
    types: dict[str, nw.dtypes.DType] = {}
    odd: dict[str, LabelKind] = {}
    for parameter, column in table.named.items():
        dtype = types[column] = schema[column]
        number = dtype.is_numeric()
        fits = {
            "numbers": number or dtype == nw.Boolean,
            "bins": number,
            "text": dtype in (nw.String, nw.Categorical, nw.Enum),
            "integers": dtype.is_integer(),
            "booleans": dtype == nw.Boolean,
        }
        if parameter not in needed or fits[needed[parameter]]:
            continue
        if private and _is_of_cells(table, dtype):
            odd[parameter] = needed[parameter]
            continue
        budgets = parameter == "epsilon" and table.menu is None
        wanted = "numbers" if budgets else needed[parameter]
        of = "budgets" if budgets else OF.get(parameter, "groups")
        raise wrong_type(wanted, table.must(parameter), dtype, of)
    table = replace(table, types=types)
    table = moved(table) if engine_of(table.frame).moved else table
    return guarded(table.failure, _as_cells, table, odd) if odd else table


def _is_of_cells(table: Columns, dtype: nw.dtypes.DType) -> bool:
    """Whether a file reader may have inferred this type from cells that can be parsed again."""
    import narwhals as nw

    found = dtype.is_numeric() or dtype.is_temporal() or dtype in (nw.Boolean, nw.Unknown)
    return engine_of(table.frame).reading and (
        found or dtype in (nw.String, nw.Categorical, nw.Enum)
    )


def _as_cells(table: Columns, odd: Mapping[str, LabelKind]) -> Columns:
    """Parse the cells of the columns in `odd` as the given kinds."""
    import narwhals as nw

    named = table.named
    frame = as_declared(table.frame, {named[parameter]: None for parameter in odd})
    frame = frame.with_columns(
        *(
            in_query(named[parameter], table.types[named[parameter]], kind).alias(named[parameter])
            for parameter, kind in odd.items()
        )
    )
    types: dict[LabelKind, nw.dtypes.DType] = {
        "numbers": nw.Float64(),
        "bins": nw.Float64(),
        "integers": nw.Int64(),
        "booleans": nw.Boolean(),
        "text": nw.String(),
    }
    own = {**table.types, **{named[parameter]: types[kind] for parameter, kind in odd.items()}}
    recast = frozenset(parameter for parameter, kind in odd.items() if kind == "text")
    return replace(table, frame=frame, types=own, recast=recast)


def with_whole(table: Columns, column: str) -> Columns:
    """Convert ids from floats to integers. File readers use floats if some ids are missing.

    If an id is not an integer, its row has no person.
    """
    import narwhals as nw

    dtype = table.types[column]
    if not (dtype.is_float() or dtype.is_decimal()) or not engine_of(table.frame).reading:
        return table
    frame = table.frame.with_columns(in_query(column, dtype, "integers").alias(column))
    return replace(table, frame=frame, types={**table.types, column: nw.Int64()})


def _check_dictionary(table: Columns, parameter: str, column: str) -> None:
    """Refuse a categorical column whose categories are not text, which Narwhals does not report."""
    import narwhals as nw

    dtype = table.types[column]
    text = dtype in (nw.String, nw.Enum)
    if dtype == nw.Categorical:
        native: Any = table.frame.select(column).head(0).to_native()
        kind = engine_of(table.frame).kind
        if kind == "pandas":
            text = native[column].dtype.categories.dtype in ("object", "str", "string")
        elif kind == "pyarrow":
            text = "string" in str(native.schema.field(column).type.value_type)
        else:
            text = True
    if not text:
        what = f"{dtype}, but not of text"
        raise wrong_type("text", table.must(parameter), what, OF.get(parameter, "groups"))
