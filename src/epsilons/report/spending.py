"""Who spends what, in few rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypedDict

from epsilons.report.data import SpentRow
from epsilons.report.numbers import budget, kept_words

BUDGET: Final = "budget ε"
"""What the column of what people may spend is called."""

OFFERED: Final = "offered ε"
"""The same where a ledger offers a part of everyone's budget to a release."""

_ROWS = 8
"""Levels beyond which neighbouring ones are printed as one row."""


class MergedRow(TypedDict):
    """Neighbouring levels as one: ranges in words, averages in numbers."""

    epsilon: str
    people: int | None
    spent: float
    kept: float
    spent_words: str
    kept_words: str


def budget_head(data: Mapping[str, Any]) -> str:
    """What the column of what people may spend is called: in a ledger not their whole budget.

    Args:
        data: of a release, of several, or of a plan.
    """
    each = data.get("each", [data])
    return OFFERED if any("ledger" in one for one in each) else BUDGET


def spending_table(
    spent: Sequence[SpentRow], head: str = BUDGET
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and the rows of the table of who spent what; people are counted if public.

    Args:
        spent: a row for each level.
        head: what the first column is called.
    """
    rows = merged_rows(spent)
    if any(row["people"] is None for row in rows):
        heads: tuple[str, ...] = (f"{head} (from)", "spends", "keeps")
        return heads, [(row["epsilon"], row["spent_words"], row["kept_words"]) for row in rows]
    return (head, "people", "spent", "kept"), [
        (row["epsilon"], f"{row['people']:,}", row["spent_words"], row["kept_words"])
        for row in rows
    ]


def some_places(count: int, most: int) -> list[int]:
    """The places of the levels that are shown: all, or some from the strictest to the largest."""
    if count <= most:
        return list(range(count))
    return [round(k * (count - 1) / (most - 1)) for k in range(most)]


def merged_rows(rows: Sequence[SpentRow], most: int = _ROWS) -> list[MergedRow]:
    """At most `most` rows: neighbouring levels become one.

    Its words are ranges, of the budgets and of what is spent and kept: an average beside a budget
    would look like overspending. `spent` and `kept` are averages, for bars.
    """
    size = max(math.ceil(len(rows) / most), 1)
    merged: list[MergedRow] = []
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        sizes = [1 if row["people"] is None else row["people"] for row in group]
        private = any(row["people"] is None for row in group)
        spent = [row["spent"] for row in group]
        kept = [row["kept"] for row in group]
        merged.append(
            {
                "epsilon": _range([row["epsilon"] for row in group], budget),
                "people": None if private else sum(sizes),
                "spent": _average(sizes, spent),
                "kept": _average(sizes, kept),
                "spent_words": _range(spent, budget),
                "kept_words": _range(kept, kept_words),
            }
        )
    return merged


def _range(numbers: Sequence[float], words: Callable[[float], str]) -> str:
    low, high = words(min(numbers)), words(max(numbers))
    return low if low == high else f"{low} to {high}"


def _average(sizes: Sequence[int], numbers: Sequence[float]) -> float:
    if len(numbers) == 1:
        return numbers[0]
    return sum(size * each for size, each in zip(sizes, numbers, strict=True)) / sum(sizes)
