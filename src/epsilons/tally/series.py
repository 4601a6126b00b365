"""Arrays and series of a user, handed to Polars."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.errors import DataError, EpsilonsError
from epsilons.ladder import Ladder
from epsilons.tally import arrays, given
from epsilons.tally.categories import Kind
from epsilons.tally.cells_numpy import FAMILY, check_declared
from epsilons.tally.columns import Columns, Mark
from epsilons.tally.counted import Names
from epsilons.tally.failures import UNUSABLE, guarded
from epsilons.types import Floats

if TYPE_CHECKING:
    import narwhals as nw
    import numpy.typing as npt
    import polars as pl

__all__ = ["of_arrays", "of_values"]


def of_arrays(rows: arrays.Arrays) -> Columns:
    """Hand arrays to Polars, without a copy."""
    import narwhals as nw
    import polars as pl

    table = _of_series(pl.Series("values", rows.values), rows.epsilon, rows.person)
    if rows.beside is None:
        return table
    frame = table.frame.with_columns(nw.new_series("beside", rows.beside, backend="polars"))
    second = (Mark("y", "beside", "numbers"),)
    return replace(table, frame=frame, types=frame.collect_schema(), marks=second)


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
        private = ladder is not None
        numbers = arrays.floats(values, names.values, lenient=private, kind="bins", private=private)
        series = pl.Series("values", numbers)
    else:
        if ladder is None or held == "nested":
            check_declared(values, kind, names.values)
        if held != FAMILY[kind]:
            return None

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
