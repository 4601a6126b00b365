"""The columns of a question, as arrays or as names in a frame, and their selection by position.

A pandas frame can have columns of Python objects. Their type is data: pandas and Narwhals infer it
from the entries. Such columns are removed from the frame and read entry by entry, like a list. The
same holds for columns whose names are not text, which exist only in pandas.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from epsilons.budgets.levels import is_number
from epsilons.door.count.asks import Names, said
from epsilons.door.engines.entries import WITHOUT_COLLATIONS
from epsilons.door.engines.table import DIALECTS, EngineKind, kind_of_data
from epsilons.door.given.arrays import one_budget, unnamed
from epsilons.door.given.categories import LabelKind as Of
from epsilons.door.given.column import INFERRED, family
from epsilons.door.given.menus import Chosen
from epsilons.door.offers import Offers
from epsilons.errors import ArgumentError, ColumnError
from epsilons.listed import shown

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["LABELS", "AskedRows", "asked", "called", "columns_of", "picked", "refuse_doubles"]

LABELS: Final = (str, int, float, tuple, datetime.date, np.generic)
"""Types that the name of a pandas column can have."""


@dataclass(frozen=True, eq=False)
class AskedRows:
    """The user's arguments: arrays, or names of typed columns of `data`.

    Columns that exist only in pandas (of objects, or with names that are not text) are arrays here.

    Attributes:
        values: an array; or the name of a column, if `data` is given. It can be the same `Chosen`
            object as `epsilon`, if only the number of people is asked.
        epsilon: an array, the name of a column, or one number; or a `Chosen` array or name.
        data: a frame or the path of a file; None if the others are arrays.
        person: an array, the name of a column, or None.
        names: the names of the columns in messages.
        marks: further columns by parameter, as arrays or names.
    """

    values: Any
    epsilon: Any
    data: Any
    person: Any
    names: Names
    marks: Mapping[str, Any] = field(default_factory=dict)


def asked(
    values: Any,
    epsilon: Any,
    data: Any,
    person: Any,
    marks: Mapping[str, Any] | None = None,
    *,
    kinds: Mapping[str, Of] | None = None,
    private: bool = False,
) -> AskedRows:
    """Return the user's arguments as arrays or as names of columns.

    Args:
        values: an array, or the name of a column; or `epsilon` itself.
        epsilon: an array, the name of a column, one number, or the words of a menu (`Chosen`).
        data: a frame, the path of a file, or None.
        person: an array, the name of a column, or None.
        marks: further columns, by parameter.
        kinds: the declared kinds of columns, by parameter.
        private: whether refusals must not depend on the data. A type that pandas inferred from all
            cells is then not refused.

    Raises:
        ArgumentError: names are given without data, or columns with it; or the index labels of
            arrays differ; or `epsilon` is a number that is also the name of a column.
        ColumnError: several columns have a given name; or a name that is not text does not exist;
            or a column on Dask has the type object.
    """
    if isinstance(epsilon, Chosen):
        menu, same = epsilon.menu, values is epsilon
        kinds = {**(kinds or {}), "epsilon": menu.words.kind}
        if same:
            values, kinds = epsilon.column, {**kinds, "values": menu.words.kind}
        given = asked(values, epsilon.column, data, person, marks, kinds=kinds, private=private)
        words = Chosen(given.epsilon, menu)
        names = replace(given.names, chosen=True)
        return replace(given, values=words if same else given.values, epsilon=words, names=names)
    marks = marks or {}
    if data is None:
        unnamed({said("values", marks): values, "epsilon": epsilon, "person": person, **marks})
        return AskedRows(
            values, _of_rows(epsilon, person), None, person, Names.of_arrays(marks), marks
        )
    import narwhals as nw

    data = nw.to_native(data, pass_through=True)  # unwrap a Narwhals frame
    kind = kind_of_data(data)
    named, since = LABELS if kind == "pandas" else (str,), "since data is given."
    for parameter, column in {
        "person": "" if person is None else person,
        "values": values,
        **marks,
    }.items():
        if not isinstance(column, named):  # the rows of a column may be those of other people
            name = said(parameter, marks)
            raise ArgumentError(f"{name} must be the name of a column of data, {since}")
    if not isinstance(epsilon, (Offers, *named)) and one_budget(epsilon) is None:
        wanted = "the name of a column of data, or one number for everyone"
        raise ArgumentError(f"epsilon must be {wanted}, {since}")
    names = Names.of_columns(values, epsilon, person, marks)
    given = AskedRows(values, epsilon, data, person, names, marks)
    if kind == "pandas":
        return _of_pandas(given, list(data.columns), kinds or {}, private=private)
    if kind == "dask":
        _refuse_objects(given)
    return given


def _of_rows(epsilon: Any, person: Any) -> Any:
    """Return one budget for each row if budgets were given by person, otherwise `epsilon`."""
    return epsilon.for_rows(person) if isinstance(epsilon, Offers) else epsilon


def _refuse_objects(given: AskedRows) -> None:
    """Refuse columns of objects on Dask, because their entries cannot be read one by one.

    Raises:
        ColumnError: there is such a column.
    """
    types = given.data.dtypes
    for parameter, column in _named(given).items():
        if column in types.index and str(types[column]) == "object":
            raise ColumnError(
                f"{said(parameter, given.marks)}={column!r} is a column of Python objects on Dask, "
                "where the type of an entry is not declared. Give it one "
                "(astype('string[pyarrow]'), astype('float64')), or give a frame of pandas "
                "(compute())."
            )


def _of_pandas(
    given: AskedRows, columns: list[Any], kinds: Mapping[str, Of], *, private: bool
) -> AskedRows:
    """Return pandas columns as arrays, if one contains objects or has a name that is not text."""
    data, epsilon = given.data, given.epsilon
    if isinstance(epsilon, (int, np.integer)) and epsilon in columns:
        raise ArgumentError(
            f"epsilon={epsilon!r} is the name of a column of data, but could also be a number: "
            "the budget of everyone. Rename the columns (data.rename(columns=str)); or, if you "
            f"mean the number, write epsilon={float(epsilon)!r}."
        )
    named = _named(given)
    for parameter, column in named.items():
        if not isinstance(column, str) and column not in columns:
            raise ColumnError(f"{said(parameter, named)}={shown(column)} is not a column of data.")
    for parameter, column in named.items():
        refuse_doubles(said(parameter, named), column, columns)
    if "values" not in named or not all(column in columns for column in named.values()):
        return given  # refused later, when names are looked up
    if all(
        isinstance(column, str)
        and not _entry_by_entry(data[column].dtype, kinds.get(parameter), private=private)
        for parameter, column in named.items()
    ):
        return given
    person = data[given.person] if "person" in named else None
    return replace(
        given,
        values=data[given.values],
        epsilon=data[epsilon] if "epsilon" in named else _of_rows(epsilon, person),
        data=None,
        person=person,
        marks={parameter: data[column] for parameter, column in given.marks.items()},
    )


def _named(given: AskedRows) -> dict[str, Any]:
    """Return the parameters that name columns. Invalid names are refused when columns are read."""
    named = {"values": given.values, "person": given.person, **given.marks}
    if not is_number(given.epsilon):
        named["epsilon"] = given.epsilon
    return {parameter: column for parameter, column in named.items() if isinstance(column, LABELS)}


def _entry_by_entry(dtype: Any, kind: Of | None, *, private: bool) -> bool:
    """Whether a column must be read entry by entry, as pandas does not declare its entries' type.

    This holds for objects, for categoricals of objects, and for columns whose inferred type is text
    although another kind is declared: see `column.INFERRED`. If `private`, it also holds for all
    other categoricals with a declared kind, except for text that is declared as text.
    """
    categories = getattr(dtype, "categories", None)
    name = str(dtype if categories is None else categories.dtype)
    if name == "object":
        return True
    text = family(name) == "text"
    if categories is not None:
        return private and kind is not None and not (text and kind == "text")
    return name == INFERRED and kind not in (None, "text")


def refuse_doubles(parameter: str, column: Any, columns: Sequence[Any]) -> None:
    """Refuse a name that is the name of several columns.

    Raises:
        ColumnError: several columns have this name.
    """
    times = columns.count(column)
    if times > 1:
        raise ColumnError(
            f"{parameter}={column!r} is the name of {times} columns of data. "
            "Rename one of them, or drop it."
        )


def columns_of(data: Any, kind: EngineKind | None) -> list[Any] | None:
    """Return the names of the columns of a frame, in order; None if it is not a frame."""
    import narwhals as nw

    if kind == "pyarrow":
        return list(data.column_names)
    if kind in ("pandas", "dask", "duckdb", "spark"):
        return list(data.columns)
    frame = nw.from_native(data, pass_through=True)
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        return None
    return list(frame.collect_schema())


def called(parameter: str) -> str:
    """Return the name of a column in queries. It does not contain the user's name."""
    return re.sub(r"\W+", "_", parameter)


def picked(
    data: Any,
    kind: EngineKind | None,
    columns: Sequence[Any],
    wanted: Mapping[str, str],
    new: Callable[[str], str] = called,
) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Select columns of a frame by position, and rename them.

    Engines can confuse names. Some ignore case, read a dotted name as a field of a column, or read
    a name as a pattern. Some rename duplicates in a subquery. Positions have the same meaning in
    every engine.

    Args:
        data: the frame as the user gave it.
        kind: the kind of its engine.
        columns: the names of all of its columns, in order.
        wanted: the columns to select, by parameter. Each name occurs once among `columns`.
        new: a function from a parameter to the new name of its column.

    Raises:
        ColumnError: the engine selects columns only by name, and could confuse one of these names
            with another.
    """
    import narwhals as nw

    places: dict[str, int] = {}
    for each, column in wanted.items():
        places[new(each)] = columns.index(column)
    frame: Any
    if kind == "polars":
        import polars as pl

        frame = data.select(pl.nth(place).alias(name) for name, place in places.items())
    elif kind == "pandas":
        frame = data.iloc[:, list(places.values())].set_axis(list(places), axis=1)
    elif kind == "pyarrow":
        frame = data.select(list(places.values())).rename_columns(list(places))
    elif kind == "duckdb" or kind == "spark":
        own, texts = DIALECTS[kind], []
        if kind == "spark":
            data = data.toDF(*(f"c{place + 1}" for place in range(len(columns))))
        for name, place in places.items():
            texts.append(f"{'#' if kind == 'duckdb' else 'c'}{place + 1} AS {own.name(name)}")
        frame = own.select(data, texts)
    else:
        if kind == "dask":
            data = data[list(dict.fromkeys(wanted.values()))]
        else:
            _refuse_alike(data, columns, wanted)
        named = [nw.col(column).alias(new(each)) for each, column in wanted.items()]
        frame = nw.from_native(data).select(*named)
    found: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(frame)
    return found


def _refuse_alike(data: Any, columns: Sequence[str], wanted: Mapping[str, str]) -> None:
    """Refuse names that a database behind a frame could confuse.

    A database can also append a number to names that it treats as duplicates.

    Raises:
        ColumnError: there is such a name.
    """
    backend = getattr(data, "get_backend", None)
    if callable(backend) and backend().name in WITHOUT_COLLATIONS:
        return
    alike = Counter(map(_folded, columns))
    doubles = [re.escape(name) for name, times in alike.items() if times > 1]
    numbered = re.compile(f"({'|'.join(doubles)})([_:][0-9]+)*") if doubles else None
    for parameter, column in wanted.items():
        if column == "*" or (column[:1] == "^" and column[-1:] == "$"):
            raise ColumnError(
                f"{parameter}={column!r} would be read as a pattern of names, and another column "
                "might be counted: it is *, or it begins with ^ and ends with $. Rename the column."
            )
        if numbered is not None and numbered.fullmatch(_folded(column)):
            raise ColumnError(
                f"{parameter}={column!r} cannot be distinguished from another column of data: a "
                "database ignores case in names, and appends numbers to duplicate ones. Select the "
                "columns that are needed, and give each a unique name."
            )


def _folded(name: str) -> str:
    """Return a name in a normal form that is equal for all names that some engine confuses."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
