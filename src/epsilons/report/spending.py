"""Who spends what, in few rows, and how many people have which budget, in few bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from epsilons.report.numbers import budget, distinct, kept_words
from epsilons.report.sheet import Level, Spending

BUDGET: Final = "budget ε"
"""What the column of what people may spend is called."""

OFFERED: Final = "offered ε"
"""The same where a ledger offers a part of everyone's budget to a release."""

BARS: Final = 12
"""Levels that are drawn, of budgets too; of more, neighbouring ones share a bar."""

_ROWS: Final = 8
"""Levels beyond which neighbouring ones are printed as one row."""


class Merged(NamedTuple):
    """Neighbouring levels as one: ranges in words, averages in numbers."""

    epsilon: str
    people: int | None
    spent: float
    kept: float
    spent_words: str
    kept_words: str


def budget_head(part: Spending) -> str:
    """What the column of what people may spend is called: in a ledger not their whole budget."""
    return OFFERED if part.offered else BUDGET


def spending_table(part: Spending) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and the rows of the table of who spends what; people are counted if public."""
    rows, head = merged_rows(part.levels), budget_head(part)
    if any(row.people is None for row in rows):
        heads: tuple[str, ...] = (f"{head} (from)", "spends", "keeps")
        return heads, [(row.epsilon, row.spent_words, row.kept_words) for row in rows]
    return (head, "people", "spent", "kept"), [
        (row.epsilon, f"{row.people:,}", row.spent_words, row.kept_words) for row in rows
    ]


def some_places(count: int, most: int) -> list[int]:
    """The places of the levels that are shown: all, or some from the strictest to the largest."""
    if count <= most:
        return list(range(count))
    return [round(k * (count - 1) / (most - 1)) for k in range(most)]


def merged_rows(rows: Sequence[Level], most: int = _ROWS) -> list[Merged]:
    """At most `most` rows: neighbouring levels become one.

    Its words are ranges, of the budgets and of what is spent and kept: an average next to a budget
    would look like overspending. `spent` and `kept` are averages, for bars.
    """
    size = max(math.ceil(len(rows) / most), 1)
    merged: list[Merged] = []
    for start in range(0, len(rows), size):
        group = rows[start : start + size]
        sizes = [1 if row.people is None else row.people for row in group]
        private = any(row.people is None for row in group)
        spent = [row.spent for row in group]
        kept = [row.kept for row in group]
        merged.append(
            Merged(
                epsilon=_range([row.epsilon for row in group], budget),
                people=None if private else sum(sizes),
                spent=_average(sizes, spent),
                kept=_average(sizes, kept),
                spent_words=_range(spent, budget),
                kept_words=_range(kept, kept_words),
            )
        )
    return merged


def budget_bins(levels: Sequence[tuple[float, int]]) -> list[tuple[str, int]]:
    """Few bars for many budgets, strictest first: equal steps of log ε; 0 and ∞ stay apart.

    Args:
        levels: pairs of a budget and how many people have it, in any order.

    Returns:
        Pairs of a name and a number of people; every person is in one of them.
    """
    ordered = sorted(levels)
    groups = [[each] for each in ordered]
    inner = [each for each in ordered if 0.0 < each[0] < math.inf]
    low, high = (math.log(inner[0][0]), math.log(inner[-1][0])) if inner else (0.0, 0.0)
    if len(ordered) > BARS and low < high:
        count = BARS - 2
        bins: list[list[tuple[float, int]]] = [[] for _ in range(count)]
        for each in inner:
            place = count * (math.log(each[0]) - low) / (high - low)
            bins[min(int(place), count - 1)].append(each)
        zero = [each for each in ordered if each[0] == 0.0]
        public = [each for each in ordered if math.isinf(each[0])]
        groups = [group for group in [zero, *bins, public] if group]
    ends = [(budget(group[0][0], 3), budget(group[-1][0], 3)) for group in groups]
    names = [first if first == last else f"{first} to {last}" for first, last in ends]
    people = [sum(each[1] for each in group) for group in groups]
    return list(zip(distinct(names), people, strict=True))


def _range(numbers: Sequence[float], words: Callable[[float], str]) -> str:
    low, high = words(min(numbers)), words(max(numbers))
    return low if low == high else f"{low} to {high}"


def _average(sizes: Sequence[int], numbers: Sequence[float]) -> float:
    if len(numbers) == 1:
        return numbers[0]
    return sum(size * each for size, each in zip(sizes, numbers, strict=True)) / sum(sizes)
