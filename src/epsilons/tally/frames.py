"""What is asked for: columns as arrays, or by their names in a frame.

A frame of pandas may have columns of Python objects, whose type is data: pandas and Narwhals tell
it from the entries. Such columns are taken out of the frame, and read entry by entry as a list is.
So are columns whose names are not text, which other libraries do not know.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from epsilons.budgets import is_number
from epsilons.errors import ArgumentError, ColumnError, DataError
from epsilons.tally.arrays import unnamed
from epsilons.tally.engines import kind_of_data
from epsilons.tally.failures import UNUSABLE, guarded
from epsilons.tally.levels import Names
from epsilons.tally.offers import Offers

__all__ = ["LABELS", "Asked", "asked"]

LABELS: Final = (str, int, float, tuple, datetime.date, np.generic)
"""What the columns of a frame of pandas are called."""


DOTS: Final = {".": "·", "`": "ˋ"}
"""What a name may not have in it where Narwhals asks Spark for a column, and what stands for it."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What the user gave, without what only frames of pandas have.

    Attributes:
        values: an array; or the name of a column, if there is data.
        epsilon: an array, or the name of a column; or one number.
        data: a frame or the path of a file; or None, if the others are arrays.
        person: an array, or the name of a column; or None.
        names: what messages call them.
        marks: further columns by parameter, as arrays or by their names.
    """

    values: Any
    epsilon: Any
    data: Any
    person: Any
    names: Names
    marks: Mapping[str, Any] = field(default_factory=dict)


def asked(
    values: Any, epsilon: Any, data: Any, person: Any, marks: Mapping[str, Any] | None = None
) -> Asked:
    """Find out whether arrays are given, or names of columns.

    Args:
        values: an array, or the name of a column.
        epsilon: an array, the name of a column, or one number.
        data: a frame, the path of a file, or None.
        person: an array, the name of a column, or None.
        marks: further columns, by parameter.

    Raises:
        ArgumentError: names are given without data; or the labels of arrays differ; or one number
            as a budget is also the name of a column.
        ColumnError: a name stands for two columns, or, if it is not text, for none; or a column on
            Dask is one of objects.
        DataError: the engine does not say which columns there are.
    """
    marks = marks or {}
    if data is None:
        unnamed({"values": values, "epsilon": epsilon, "person": person, **marks})
        return Asked(values, _of_rows(epsilon, person), None, person, Names.of_arrays(marks), marks)
    names = Names.of_columns(values, epsilon, person, marks)
    given = Asked(values, epsilon, data, person, names, marks)
    kind = kind_of_data(data)
    if kind == "pandas":
        return _of_pandas(given, list(data.columns))
    if kind == "pyarrow":
        wanted = _wanted(given, list(data.column_names))
        return replace(given, data=data.select(wanted)) if wanted else given
    if kind == "dask":
        _refuse_objects(given)
    if kind in ("duckdb", "spark"):
        columns = guarded(lambda: list(data.columns), DataError, UNUSABLE)
        wanted = _wanted(given, columns)
        if kind == "spark" and wanted:
            return _without_dots(given, columns, wanted)
    return given


def _without_dots(given: Asked, columns: list[str], wanted: list[str]) -> Asked:
    """Rename columns of Spark that it would take for parts of others: a.b for the b of a."""
    new: dict[str, str] = {}
    taken = {column.casefold() for column in columns}  # Spark takes small letters for large ones
    for column in wanted:
        if any(sign in column for sign in DOTS):
            plain = "".join(DOTS.get(sign, sign) for sign in column)
            while plain.casefold() in taken:
                plain += "'"
            taken.add(plain.casefold())
            new[column] = plain
    if not new:
        return given

    def called(column: Any) -> Any:
        return new.get(column, column) if isinstance(column, str) else column

    return replace(
        given,
        values=called(given.values),
        epsilon=called(given.epsilon),
        person=called(given.person),
        marks={parameter: called(column) for parameter, column in given.marks.items()},
        data=given.data.toDF(*map(called, columns)),
    )


def _of_rows(epsilon: Any, person: Any) -> Any:
    """Budgets by person as those of each row, where rows are arrays."""
    return epsilon.for_rows(person) if isinstance(epsilon, Offers) else epsilon


def _refuse_objects(given: Asked) -> None:
    """Refuse columns of objects on Dask, whose entries cannot be looked at one by one here.

    Raises:
        ColumnError: there is one.
    """
    types = given.data.dtypes
    for parameter, column in _named(given).items():
        if column in types.index and str(types[column]) == "object":
            raise ColumnError(
                f"{parameter}={column!r} is a column of Python objects on Dask, where the type of "
                "an entry is not declared. Give it one (astype('string[pyarrow]'), "
                "astype('float64')), or give a frame of pandas (compute())."
            )


def _of_pandas(given: Asked, columns: list[Any]) -> Asked:
    """Take columns of objects, and those whose names are not text, out of a frame of pandas."""
    data, epsilon = given.data, given.epsilon
    if isinstance(epsilon, (int, np.integer)) and epsilon in columns:
        raise ArgumentError(
            f"epsilon={epsilon!r} is the name of a column of data, but could also be a number: "
            "the budget of everyone. Rename the columns (data.rename(columns=str)); or, if you "
            f"mean the number, write epsilon={float(epsilon)!r}."
        )
    for parameter, column in _named(given).items():
        if not isinstance(column, str) and column not in columns:
            raise ColumnError(f"{parameter}={column!r} is not a column of data.")
    wanted = _wanted(given, columns)
    if wanted is None:
        return given
    if all(isinstance(column, str) and not _of_objects(data[column].dtype) for column in wanted):
        # Narwhals refuses a frame in which any name comes twice: the others are left behind.
        return replace(given, data=data[wanted])
    named = _named(given)
    person = data[given.person] if "person" in named else None
    return replace(
        given,
        values=data[given.values],
        epsilon=data[epsilon] if "epsilon" in named else _of_rows(epsilon, person),
        data=None,
        person=person,
        marks={parameter: data[column] for parameter, column in given.marks.items()},
    )


def _named(given: Asked) -> dict[str, Any]:
    """The parameters that name columns. What is no name at all is refused where it is read."""
    named = {"values": given.values, "person": given.person, **given.marks}
    if not is_number(given.epsilon):
        named["epsilon"] = given.epsilon
    return {parameter: column for parameter, column in named.items() if isinstance(column, LABELS)}


def _wanted(given: Asked, columns: list[Any]) -> list[Any] | None:
    """The columns that are named, each once; None if they are not all there.

    Raises:
        ColumnError: a name stands for more than one of them.
    """
    named = _named(given)
    for parameter, column in named.items():
        if columns.count(column) > 1:
            raise ColumnError(
                f"{parameter}={column!r} is the name of {columns.count(column)} columns of data. "
                "Rename one of them, or drop it."
            )
    # A parameter that names nothing (a list, say) is refused where names are looked up.
    complete = "values" in named and all(column in columns for column in named.values())
    return list(dict.fromkeys(named.values())) if complete else None


def _of_objects(dtype: Any) -> bool:
    """Whether a type of pandas is that of objects, or of categories that are objects."""
    categories = getattr(dtype, "categories", None)
    return str(dtype if categories is None else categories.dtype) == "object"
