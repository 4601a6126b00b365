"""Weights of people on an engine: the same units, and the same budgets of units, as in NumPy.

If rows have few distinct pairs of budget and weight, they are grouped by these pairs, and NumPy
computes units and budgets of units once for each pair. Otherwise the engine computes them for each
row, after a pass that reads all weights. Both give the same integers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from epsilons.budgets.levels import LESS_THAN_QUOTIENT, Classes
from epsilons.door.count.asks import levels_of
from epsilons.door.count.weights import (
    FINE,
    FINER,
    MOST_UNITS,
    Rounding,
    WeightFacts,
    Weights,
    classes_of,
)
from epsilons.door.engines.expressions import (
    MOST_AT_HAND,
    Aggregate,
    added_up,
    budget_and_person,
    by_person,
    floats,
    grouped,
    with_key,
)
from epsilons.door.engines.floats import exactly, finite
from epsilons.door.engines.running import as_floats, as_integers, collected, guarded
from epsilons.door.given.columns import Columns
from epsilons.errors import ArgumentError

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["classes", "in_units", "marked", "weighed", "weighted_totals"]

BUDGET = "the budget of a unit"
"""The name of the column of budgets of one unit each."""


def marked(table: Columns, weights: Weights) -> Columns:
    """Use the column that a table marks as `weights` as the weights of people: see `weighed`."""
    (mark,) = (mark for mark in table.marks if mark.parameter == "weights")
    others = tuple(each for each in table.marks if each is not mark)
    name = table.showing("weights")
    return weighed(replace(table, marks=others), weights, mark.column, name)


def weighed(table: Columns, weights: Weights, column: str, name: str) -> Columns:
    """Use a column of a table as the weights of people.

    The weights are read when rows are counted. But if people can have many rows, the weights are
    read now, and converted to units.

    Args:
        table: a frame with checked columns.
        weights: the weights of people.
        column: the column of weights.
        name: the name of this column in messages.

    Raises:
        DataError: as for `in_units`.
    """
    table = replace(table, weights=(column, weights, name))
    return table if table.person is None else in_units(table)


def in_units(table: Columns) -> Columns:
    """Replace weights by numbers of units, and budgets by those of one unit, in each row.

    If the weights have not been read yet, this function reads them in one pass. A table without
    weights, or with weights that are already converted, is returned unchanged.

    Raises:
        DataError: a weight is missing, infinite or not above 0, or the engine failed.
    """
    import narwhals as nw

    if table.weights is None:
        return table
    column, weights, name = table.weights
    given = floats(table, column)
    read = partial(guarded, table.failure)
    facts, rounding = partial(read, _facts, table, given), partial(read, _rounding, table, given)
    unit, frame = weights.read(facts, rounding, name), table.frame
    units, epsilon = _units(given * exactly(1.0 / unit, frame)), table.epsilon
    if isinstance(epsilon, str):
        budget = floats(table, epsilon)
    else:
        budget = nw.lit(epsilon) if math.isinf(epsilon) else exactly(epsilon, frame)
    frame = frame.with_columns(units.alias(column))
    own = nw.col(column)
    part = budget / own * exactly(LESS_THAN_QUOTIENT, frame)
    frame = frame.with_columns(
        nw.when(own == 1.0).then(budget).otherwise(part).alias(BUDGET), own.cast(nw.Int64)
    )
    return replace(
        table,
        frame=frame,
        epsilon=BUDGET,
        types={**table.types, column: nw.Int64(), BUDGET: nw.Float64()},
        units=column,
        weights=None,
    )


def _units(own: nw.Expr) -> nw.Expr:
    """Round weights, in units, to numbers of units."""
    import narwhals as nw

    units, most = (own + 0.5).floor(), float(MOST_UNITS)
    units = nw.when(units < 1.0).then(nw.lit(1.0)).otherwise(units)
    return nw.when(units > most).then(nw.lit(most)).otherwise(units)


def _people(table: Columns, given: nw.Expr) -> nw.LazyFrame[Any]:
    """Return the weight of each person, and whether it can be used."""
    import narwhals as nw

    good = finite(given) & (given > 0.0).fill_null(False)
    rows = table.frame.select(
        good.cast(nw.Int64).alias("good"),
        nw.when(good).then(given).otherwise(nw.lit(1.0)).alias("weight"),
        *budget_and_person(replace(table, epsilon=1.0)),
    )
    if table.person is not None:  # the facts must not depend on how many rows somebody has
        rows = grouped(rows, ["who"], {name: (name, "min") for name in ("good", "weight")})
    return rows


def _rounding(table: Columns, given: nw.Expr, unit: float) -> Rounding:
    """Compare the weights of all people with their numbers of units."""
    import narwhals as nw

    rows, weight = _people(table, given), nw.col("weight")
    own = weight * exactly(FINE / unit, table.frame)
    off = _units(weight * exactly(1.0 / unit, table.frame)) * FINE - own
    parts = {"off": -(-off.abs()).floor(), "whole": own.floor()}
    parts["rest"] = ((own - own.floor()) * FINER).floor()
    rows = rows.with_columns(part.alias(name) for name, part in parts.items())
    totals: dict[str, Aggregate] = {"off": ("off", "sum"), "most": ("off", "max")}
    totals |= {name: (name, "sum") for name in ("whole", "rest")}
    found = collected(grouped(rows, [], totals), table.passed)
    return Rounding.of(*(float(found[name].item(0)) for name in totals))


def _facts(table: Columns, given: nw.Expr) -> WeightFacts:
    """Read the weights of all people."""
    import narwhals as nw

    weight, most = nw.col("weight"), float(MOST_UNITS)
    rows = _people(table, given).with_columns(
        (nw.col("good") >= 0).cast(nw.Int64).alias("person"),
        (weight.floor() == weight).cast(nw.Int64).alias("whole"),
        nw.when(weight > most).then(nw.lit(most)).otherwise(weight).alias("capped"),
    )
    totals: dict[str, Aggregate] = {
        "people": ("person", "sum"),
        "good": ("good", "sum"),
        "low": ("weight", "min"),
        "high": ("weight", "max"),
        "whole": ("whole", "sum"),
        "total": ("capped", "sum"),
    }
    found = collected(grouped(rows, [], totals), table.passed)
    facts = {name: found[name].fill_null(0).item(0) for name in totals}
    return WeightFacts(
        people=int(facts["people"]),
        good=int(facts["good"]),
        low=float(facts["low"]),
        high=float(facts["high"]),
        whole=int(facts["whole"]),
        total=float(facts["total"]),
    )


def classes(table: Columns) -> Classes:
    """Count people by budget level and number of units. Values are not read.

    Raises:
        ArgumentError: there are too many different pairs of budget and weight.
        DataError: as for `in_units`.
    """
    table = in_units(table)

    def run() -> nw.DataFrame[Any]:
        rows = table.frame.select(*budget_and_person(table))
        if table.person is not None:
            rows = by_person(rows, {}).select("e", "d")
        totals: dict[str, Aggregate] = {"size": ("", "rows"), "least": ("e", "min")}
        groups = added_up(with_key(rows), ["key", "d"], totals)
        return collected(groups.head(MOST_AT_HAND), table.passed)

    found = guarded(table.failure, run)
    if len(found) == MOST_AT_HAND:
        raise ArgumentError(
            "weights with related=False: there are too many different pairs of budget and weight. "
            "Round weights, or leave related out."
        )
    _, level = levels_of(as_floats(found["least"]), len(found))
    return classes_of(level, as_integers(found["d"]), as_integers(found["size"]))


def weighted_totals(
    rows: nw.LazyFrame[Any], totals: dict[str, Aggregate], *, folded: bool
) -> tuple[nw.LazyFrame[Any], dict[str, Aggregate]]:
    """Multiply counts and sums by the units of each row's person, and count people as `heads`.

    Args:
        rows: rows or entries with a column of units, `d`.
        totals: the aggregates of a query. Minima, maxima and the count of rows that have a person
            are not multiplied.
        folded: whether people can have many rows, which are folded into entries.

    Returns:
        The rows with new columns, and the aggregates to use instead.
    """
    import narwhals as nw

    columns: list[nw.Expr] = []
    found: dict[str, Aggregate] = {
        "heads": ("", "rows"),
        "fewest": ("d", "min"),
        "most units": ("d", "max"),
    }
    if folded:
        found["doubles"] = ("doubles", "max")
    for name, (column, how) in totals.items():
        if how in ("min", "max") or name == "somebody":
            found[name] = (column, how)
        elif how == "rows":
            found[name] = ("d", "sum")
        else:
            part = ~nw.col(column).is_null() if how == "count" else nw.col(column)
            columns.append((part.cast(nw.Int64) * nw.col("d")).alias(f"{name} weighed"))
            found[name] = (f"{name} weighed", "sum")
    return rows.with_columns(*columns) if columns else rows, found
