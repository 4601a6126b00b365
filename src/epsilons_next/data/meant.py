"""What a row says: whose it is, its limit and weight, its group, and where its numbers stand.

Each is an expression of this row alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from epsilons_next.data.labels import declare
from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Number, Split
from epsilons_next.data.tables import Table
from epsilons_next.errors import ColumnError
from epsilons_next.grid import GRID

__all__ = ["asked", "group", "limit", "on_grid", "parts", "weight", "zero"]

HEAVY: Final = 1e270
"""Every survey weight is less, so that they can be added up."""

WIDE: Final = 1 << 62
"""Where a number is cut before numbers are added up: four billion ranges away from 0."""


def limit(roster: Roster, table: Table) -> pl.Expr:
    """The ε of a row, null if it is none; where it is secret who took part, none is 0."""
    if not isinstance(roster.epsilon, str):
        return pl.lit(float(roster.epsilon))
    column = table.columns[roster.epsilon]
    if roster.menu is None and column.kind in ("text", "truth"):
        raise ColumnError(
            f'"{column.name}" holds no numbers: menu={{"strict": 0.1, "open": 2}} says which limit '
            "each word stands for."
        )
    if roster.menu is None:
        number = column.number
        valid = number >= 0.0
        if column.kind in ("file text", "objects"):  # 1e999 is no ∞, and True is no limit
            text = column.entry.str
            valid &= (number.is_finite() | text.contains("(?i)inf")) & ~text.starts_with("b")
        result: pl.Expr = pl.when(valid).then(number)
    else:
        words = {word: float(each) for word, each in roster.menu.items() if word is not None}
        labels = declare("menu", column.name, list(words))
        result = column.place(labels).replace_strict(
            list(range(len(words))), list(words.values()), default=None, return_dtype=pl.Float64
        )
        if None in roster.menu:
            silent = pl.lit(float(roster.menu[None]))
            result = pl.when(column.is_missing(labels)).then(silent).otherwise(result)
    return result if roster.public else result.fill_null(0.0)


def weight(roster: Roster, table: Table) -> pl.Expr:
    """The survey weight of a row, null if it is none."""
    if roster.weights is None:
        return pl.lit(1.0)
    result = table.columns[roster.weights].number
    return pl.when((result > 0.0) & (result < HEAVY)).then(result)


def asked(split: Split, table: Table) -> pl.Expr:
    """Whether a row passes the filter, null if it has no entry that would tell."""
    passes = [pl.lit(value=True)]
    for labels in split.where:
        column = table.columns[labels.column]
        declared = column.place(labels).is_not_null()
        passes.append(pl.when(~column.is_missing(labels)).then(declared))
    return pl.all_horizontal(passes)


def group(roster: Roster, split: Split, table: Table) -> pl.Expr:
    """The group of a row, null if a label is missing, left out or not declared."""
    exclude = split.missing == "exclude" or not roster.public
    result = pl.lit(0, pl.Int64)
    for labels in split.groups:
        column = table.columns[labels.column]
        place = column.place(labels)
        if labels.other is not None:
            place = pl.when(~(column.is_missing(labels) & exclude)).then(
                place.fill_null(pl.lit(len(labels.names), pl.Int64))
            )
        result = result * len(labels.all_names) + place
    return result


def on_grid(number: Number, table: Table, *, adds: bool) -> pl.Expr:
    """Where a finite number stands on the grid, null if there is none.

    It is cut to the bounds, if the numbers of a person are not added up first.
    """
    value, step = table.columns[number.column].number, GRID / (number.high - number.low)
    if adds:
        steps = (value * step).round().clip(-WIDE, WIDE)
    else:
        steps = ((value - number.low) * step + 0.5).clip(0.0, GRID + 0.5)
    return pl.when(value.is_finite()).then(steps).cast(pl.Int64)


def zero(number: Number) -> int:
    """Where 0 stands on the grid, seen from the lower bound."""
    return round(min(max(-number.low / (number.high - number.low) * GRID, -2.0 * WIDE), 2.0 * WIDE))


def parts(share: pl.Expr | None, values: Sequence[pl.Expr]) -> list[pl.Expr]:
    """Divide a share, or a whole unit, by each number, as x to 1 − x, without a remainder."""
    result = [pl.lit(GRID) if share is None else share]
    for i, x in enumerate(values):
        inner = [x if share is None and i == 0 else part * x // GRID for part in result]
        halves = zip(result, inner, strict=True)
        result = [half for part, x_part in halves for half in (x_part, part - x_part)]
    return result
