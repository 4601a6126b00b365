"""Parts of a large table in Polars, each with all rows of some of its people."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from epsilons.tally.columns import Columns
from epsilons.tally.engines import engine_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["by_people"]

PART: Final = 2**22
"""Rows of people that Polars holds at a time: it keeps all rows until it knows how many each person
has. More rows are read again for each part of the people, which takes a sixth longer each time."""

MOST_PARTS: Final = 3
"""Into which people are divided: each part reads all rows."""


def by_people(table: Columns) -> list[Columns]:
    """Parts of a large table in Polars, each with all rows of some of its people.

    Everyone is in one part, whatever is read when: their id alone says in which.
    """
    import narwhals as nw
    import polars as pl

    if table.person is None or table.size is None or not engine_of(table.frame).streams:
        return [table]
    parts = min(MOST_PARTS, -(-table.size // PART))
    native: pl.LazyFrame = table.frame.to_native()
    # Of other types equal ids may have different hashes, or those of another time.
    dtype = native.collect_schema()[table.person]
    if parts < 2 or not (dtype.is_integer() or dtype in (pl.String, pl.Binary)):
        return [table]
    place = pl.col(table.person).hash() % parts
    return [
        replace(table, frame=nw.from_native(native.filter(place == part))) for part in range(parts)
    ]
