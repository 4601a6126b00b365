"""A release as a table of Polars, in one schema for every release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from epsilons_next.inference.rows import Row
from epsilons_next.releases.facts import Facts
from epsilons_next.releases.numbers import Written

if TYPE_CHECKING:
    import polars as pl

__all__ = ["frame"]

HEAD: Final = ("name", "value", "low", "high", "band_low", "band_high", "unit", "text")
"""Columns of every frame; one of groups that is called so has another name."""


def frame(rows: Sequence[Row], facts: Facts) -> pl.DataFrame:
    """Return the rows as a table."""
    import polars as pl

    written = Written(rows, share=facts.share)
    percent = " %" if facts.share else ""
    held: dict[str, list[str] | list[float]] = {
        f"by {column}" if column in HEAD else column: [row.names[place] for row in rows]
        for place, column in enumerate(facts.columns)
    }
    held["name"] = [", ".join(row.names[len(facts.columns) :]) or facts.title for row in rows]
    for name in HEAD[1:6]:
        held[name] = [getattr(row, name) for row in rows]
    held["unit"] = [facts.unit for _ in rows]
    held["text"] = [
        f"{written.number(row.value)}{percent} ({written.low(row.low)} to {written.high(row.high)})"
        for row in rows
    ]
    return pl.DataFrame(held)
