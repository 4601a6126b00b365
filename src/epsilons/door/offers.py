"""Distinct people in a table, and budgets by person, for use by a ledger.

Ids are integers or text. They are compared exactly, as in `column.py` and `entries.py`. A ledger
stores them as tagged bytes: `i:` and decimal digits, or `s:` and UTF-8. 17 and "17" are the same
person, because a file reader converts all ids to text if one id is not a number. Either tag finds
the account. A ledger can also have separate accounts for 17 and "17"; then each tag finds its own.

The engine that holds the rows finds the distinct ids and joins the budgets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from epsilons.door.engines.entries import Spelling, written
from epsilons.door.engines.table import EngineKind, engine_of
from epsilons.door.given.column import is_null, opened, whole_in
from epsilons.door.given.spellings import whole_of
from epsilons.errors import ArgumentError, ColumnError, DataError
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import polars as pl

    from epsilons.door.given.columns import Columns

__all__ = ["BUDGET", "Offers", "People", "in_rows", "joined", "other_tag", "tag", "tagged"]

BUDGET: Final = "what a ledger offers"
"""The name of the column of budgets that is joined to a table."""

WEIGHT: Final = "the weight that a ledger charges"
"""The name of the column of weights that is joined to a table, if people have weights."""

BATCH: Final = 50_000
"""The number of ids in a batch."""

_WHOLE: Final = b"i".hex()
"""How the tag of an integer begins, in hexadecimal."""

IDS: Final = (
    "A ledger identifies people by whole numbers or text: convert the column to one of these first."
)


def tag(person: object) -> bytes:
    """Return the tag under which a ledger stores an id.

    Raises:
        ColumnError: the id is neither an integer nor text.
    """
    if isinstance(person, (int, np.integer)) and not isinstance(person, bool):
        return b"i:%d" % int(person)
    if isinstance(person, str):
        try:
            return b"s:" + person.encode()
        except UnicodeEncodeError:
            raise ColumnError("person is not valid text: it has a lone surrogate.") from None
    raise ColumnError(f"person is of type {type(person).__name__}. {IDS}")


def other_tag(who: bytes) -> bytes | None:
    """Return the other tag of an id, if it is an integer or the text of an integer; else None."""
    kind, text = who[:2], who[2:].decode()
    if isinstance(whole_in(text), str):
        return None
    return (b"s:" if kind == b"i:" else b"i:") + who[2:]


@dataclass(frozen=True, eq=False)
class People:
    """The distinct people in the data.

    Attributes:
        ids: distinct ids as in the rows: integers, text, or text as bytes or hexadecimal.
        spelling: the form of text ids.
        rows: for arrays, the index of each row's person among the ids, or −1 if the row has no
            person. None for frames, because budgets are joined to them.
    """

    ids: pl.Series
    spelling: Spelling = "text"
    rows: Integers | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def tagged(self) -> Iterator[list[bytes]]:
        """Yield the tags of the ids, in order, batch by batch."""
        for start in range(0, len(self.ids), BATCH):
            yield tagged(self.ids[start : start + BATCH], self.spelling)

    def plain(self, places: slice | Integers) -> pl.Series:
        """Return some of the ids as bytes, without tags."""
        import polars as pl

        ids = self.ids[places]
        if self.spelling == "hex":
            return ids.str.decode("hex")
        return ids if ids.dtype == pl.Binary else ids.cast(pl.String).cast(pl.Binary)

    def whole(self, places: Integers) -> npt.NDArray[np.bool_]:
        """Return for some of the ids whether their tag is that of integers."""
        return np.full(len(places), self.ids.dtype.is_integer())

    def finder(self) -> Callable[[str], tuple[Integers, npt.NDArray[np.bool_]]]:
        """Return a function that finds many ids among these people, a batch at a time.

        The function takes tags in hexadecimal, separated by blanks. An empty tag is nobody's. For
        each tag, it returns the index of that person among these people, or −1 if the person is not
        among them; and whether the person has the same tag here. An integer and its text are the
        same person with two different tags, so ids are compared without their tags.

        The function holds sixteen bytes for each person. It finds ids by their hashes, and compares
        the ids themselves where hashes agree.
        """
        import polars as pl

        every = range(0, len(self), BATCH)
        parts = [self.plain(slice(start, start + BATCH)).hash().to_numpy() for start in every]
        hashes = np.concatenate([np.empty(0, dtype=np.uint64), *parts])
        order = np.argsort(hashes)
        hashes = hashes[order]

        def found(tags: str) -> tuple[Integers, npt.NDArray[np.bool_]]:
            given = pl.Series([tags]).str.split(" ").explode()
            plain = given.str.slice(4).str.decode("hex")
            keys = plain.hash().to_numpy()
            places = np.full(len(keys), -1)
            left = np.argsort(keys)  # in this order, the search stays in the processor's cache
            left = left[(given != "").to_numpy()[left]]
            at = np.searchsorted(hashes, keys[left])
            while len(left):
                same = at < len(hashes)
                same[same] = hashes[at[same]] == keys[left[same]]
                left, at = left[same], at[same]
                equal = (self.plain(order[at]) == plain[left]).to_numpy()
                places[left[equal]] = order[at[equal]]
                left, at = left[~equal], at[~equal] + 1
            exact = places >= 0
            exact[exact] = (
                self.whole(places[exact]) == given.str.starts_with(_WHOLE).to_numpy()[exact]
            )
            return places, exact

        return found


@dataclass(frozen=True, eq=False)
class Offers:
    """Budgets by person, which replace a column of budgets.

    Attributes:
        people: everyone in the data.
        budgets: one budget for each person, in order; NaN for people without an account.
        weights: one weight for each person, in order, which replaces a column of weights; None if
            everyone counts equally.
    """

    people: People
    budgets: Floats
    weights: Floats | None = None

    def __repr__(self) -> str:
        return "the ledger's"

    def for_rows(self, person: object) -> Floats:
        """Return the budget of each row of arrays; NaN for rows without a person.

        Args:
            person: one id for each row. It can be a column of a frame that was read as an array
                because another column contains objects.
        """
        if self.people.rows is not None:
            return np.append(self.budgets, np.nan)[self.people.rows]
        rows = in_rows(person, "person", lenient=True)
        ids = (each for batch in self.people.tagged() for each in batch)
        found = dict(zip(ids, self.budgets.tolist(), strict=True))
        each = [found.get(one, np.nan) for batch in rows.tagged() for one in batch]
        return np.append(each, np.nan)[rows.rows]


def tagged(ids: pl.Series, spelling: Spelling) -> list[bytes]:
    """Return the tags of ids."""
    import polars as pl

    if ids.dtype.is_integer():
        return ("i:" + ids.cast(pl.String)).cast(pl.Binary).to_list()
    if spelling == "hex":
        ids = ids.str.decode("hex")
    if ids.dtype == pl.Binary:
        return [b"s:" + each for each in ids.to_list()]
    return ("s:" + ids.cast(pl.String)).cast(pl.Binary).to_list()


def in_rows(given: object, name: str, *, lenient: bool) -> People:
    """Return the distinct people in an array, a list or a series.

    Args:
        given: one id for each row.
        name: its name in messages.
        lenient: whether a row with an invalid id has no person; otherwise such ids are refused.

    Raises:
        ArgumentError: it is not a single column.
        ColumnError: ids are neither integers nor text.
    """
    import polars as pl

    column = opened(given, name)
    # Integers with nulls are read as floats.
    found_whole = lenient and column.family in ("float", "decimal")
    if column.family not in (None, "integer", "text") and not found_whole:
        raise ColumnError(f"{name} is of type {column.dtype}. {IDS}")
    entries = column.entries
    if isinstance(entries, np.ndarray) and entries.dtype.kind in "iu":
        whole, rows = np.unique(entries, return_inverse=True)
        return People(pl.Series(whole), rows=rows.astype(np.int64))
    listed = list(entries)
    if lenient:
        listed = [item if isinstance(item, str) else whole_of(item) for item in listed]
    known = [_known(item, name, lenient=lenient) for item in listed]
    # A list can contain both numbers and text. If a number has both tags, the first one is used.
    tags: dict[bytes, bytes] = {}
    places: dict[bytes | None, int] = {None: -1}
    for each in known:
        if each is not None:
            tags.setdefault(_by_number(each), each)
    found = (
        places.setdefault(None if each is None else tags[_by_number(each)], len(places) - 1)
        for each in known
    )
    codes: Integers = np.fromiter(found, np.int64, len(known))
    return Tagged(
        pl.Series([each for each in places if each is not None], dtype=pl.Binary), "bytes", codes
    )


def _by_number(who: bytes) -> bytes:
    """Return a key that is the same for both tags of an integer."""
    return who if who[:2] == b"i:" else other_tag(who) or who


class Tagged(People):
    """People whose ids are already tags."""

    def tagged(self) -> Iterator[list[bytes]]:
        """Yield the ids, batch by batch."""
        for start in range(0, len(self.ids), BATCH):
            yield self.ids[start : start + BATCH].to_list()

    def plain(self, places: slice | Integers) -> pl.Series:
        """Return some of the ids as bytes, without tags."""
        return self.ids[places].bin.encode("hex").str.slice(4).str.decode("hex")

    def whole(self, places: Integers) -> npt.NDArray[np.bool_]:
        """Return for some of the ids whether their tag is that of integers."""
        return self.ids[places].bin.starts_with(b"i:").to_numpy()


def _known(item: Any, name: str, *, lenient: bool) -> bytes | None:
    """Return the tag of a row's id; None if the row has no person."""
    if is_null(item):
        return None
    try:
        return tag(item)
    except ColumnError:
        if lenient:
            return None
    raise ColumnError(f"{name} has entries of type {type(item).__name__}. {IDS}")


def joined(table: Columns, offers: Offers) -> Columns:
    """Join budgets, and weights if there are any, to the rows of a frame, on the frame's engine.

    Args:
        table: a table with ids, in a form that engines compare byte by byte.
        offers: the budgets of the same people.

    Raises:
        ArgumentError: the table has no column of ids, or its engine cannot join another table.
    """
    import narwhals as nw
    import polars as pl

    if table.person is None:
        raise ArgumentError("person= must name a column: a ledger keeps an account for everyone.")
    makers: dict[EngineKind, Callable[[Any, pl.DataFrame], Any]] = {
        "polars": lambda _, sheet: sheet.lazy(),
        "pandas": _on_pandas,
        "pyarrow": _on_pyarrow,
        "duckdb": _on_duckdb,
        "spark": _on_spark,
        "ibis": _on_ibis,
        "dask": _on_dask,
    }
    engine = engine_of(table.frame)
    if engine.kind not in makers:
        raise ArgumentError(
            f"ledger: {engine.name} takes no table of budgets. Give data on another engine, such "
            "as Polars, pandas, PyArrow, DuckDB or Spark."
        )
    own = {BUDGET: offers.budgets} | ({} if offers.weights is None else {WEIGHT: offers.weights})
    sheet = pl.DataFrame(
        [offers.people.ids.alias(table.person), *map(pl.Series, own, own.values())]
    )
    beside = nw.from_native(makers[engine.kind](table.frame.to_native(), sheet)).lazy()
    rows = table.frame
    if table.types[table.person] == nw.Enum:
        # Two dictionary columns are compared as text, by a collation if there is one.
        rows, _ = written(rows, table.person)
    frame = rows.join(beside, on=table.person, how="left")
    types = {**table.types, **dict.fromkeys(own, nw.Float64())}
    # People are charged for the weights that were read with their ids. Rows are counted with the
    # same weights, even if the table has changed since.
    marks = tuple(
        replace(mark, column=WEIGHT) if mark.parameter == "weights" and WEIGHT in own else mark
        for mark in table.marks
    )
    # A join does not preserve the order of rows, so they must not be read in parts.
    return replace(table, frame=frame, epsilon=BUDGET, types=types, marks=marks, size=None)


def checked(types: Any, person: str, shown: str) -> bool:
    """Return whether the ids of a frame are text rather than integers.

    Args:
        types: the types of the columns.
        person: the column of ids.
        shown: its name in messages.

    Raises:
        ColumnError: the ids are neither integers nor text.
    """
    import narwhals as nw

    dtype = types[person]
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return True
    if dtype.is_integer():
        return False
    raise ColumnError(f"person={shown!r} is a column of {dtype}. {IDS}")


def _arrow(sheet: pl.DataFrame) -> Any:
    """Return an Arrow table whose types of text and bytes are supported by all engines."""
    import pyarrow as pa

    table = sheet.to_arrow()
    plain = {"large_string": pa.string(), "large_binary": pa.binary(), "string_view": pa.string()}
    fields = [(field.name, plain.get(str(field.type), field.type)) for field in table.schema]
    return table.cast(pa.schema(fields))


def _on_pandas(frame: Any, sheet: pl.DataFrame) -> Any:
    """Return budgets by id, with the frame's type of ids: pandas may convert others to floats."""
    import pandas as pd

    who, *others = sheet.columns
    ids = pd.Series(sheet[who].to_list(), dtype=frame[who].dtype, name=who)
    return pd.DataFrame({who: ids, **{name: sheet[name].to_numpy() for name in others}})


def _on_pyarrow(frame: Any, sheet: pl.DataFrame) -> Any:
    import pyarrow as pa

    who, *others = sheet.columns
    table = _arrow(sheet)
    ids = (who, frame.schema.field(who).type)
    return table.cast(pa.schema([ids, *((name, pa.float64()) for name in others)]))


def _on_duckdb(frame: Any, sheet: pl.DataFrame) -> Any:
    """Return budgets as a relation on the frame's connection.

    A relation does not expose its connection, but a query on it runs there. DuckDB resolves the
    name of a table in that query to the Python variable of the same name.
    """
    budgets_of_a_ledger = _arrow(sheet)
    found = frame.query("ours", "SELECT * FROM budgets_of_a_ledger")
    del budgets_of_a_ledger  # the relation has a reference to it
    return found


def _on_spark(frame: Any, sheet: pl.DataFrame) -> Any:
    return frame.sparkSession.createDataFrame(_arrow(sheet))


def _on_ibis(_: Any, sheet: pl.DataFrame) -> Any:
    import ibis

    return ibis.memtable(_arrow(sheet))


def _on_dask(frame: Any, sheet: pl.DataFrame) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(_on_pandas(frame, sheet), npartitions=1)


def as_ids(column: pl.Series, person: str) -> pl.Series:
    """Return the distinct ids that an engine found, without null.

    Raises:
        DataError: the engine returned ids whose type differs from the column's type.
    """
    import polars as pl

    found = column.drop_nulls()
    # Categoricals are not converted, so they are joined to a column of the same type.
    text = (pl.String, pl.Binary, pl.Categorical, pl.Enum)
    if not (found.dtype.is_integer() or found.dtype in text):
        raise DataError(f"person={person!r}: its engine returned ids of another type.")
    return found


def order_of(ids: pl.Series) -> pl.Series:
    """Return the order of ids by their bytes. In this order, a database scans its index once."""
    import polars as pl

    return (ids if ids.dtype == pl.Binary else ids.cast(pl.String)).arg_sort()
