"""Sentences and spending tables that several kinds of results share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from epsilons import made
from epsilons.results.report.numbers import budget, distinct, kept_words, legible, number
from epsilons.results.report.sheet import Role, SpendingLevel, SpendingTable

# Sentences.

_NAME = 60
"""If the name of a column has more characters than this, it is shortened."""

_WEAK = 20.0
"""Above this ε, one record can make a result more than e^20 ≈ 485 million times as likely."""

COVERS_ALL: Final = "covers every possible value"
"""The words of a warning about an interval. `print` omits it if the verdict is "Not usable"."""

_VISIBLY = 1.005
"""If the ratio of two errors is larger than this, their difference is visible in print, and a
sentence explains it."""

_CHANCE = (
    ' "Not at all" still allows for differences by chance, so it can be worse than a row that sets '
    "a limit."
)

FORECAST = "A forecast from budgets alone: no data was read"
SEEDED = "NOT PRIVATE: drawn from a seed, for simulation only."
SIDES = "if budgets are related to values"
"""The heading of the first column in the table of other assumptions."""

LABELS: Final[Mapping[Role, str]] = MappingProxyType(
    {
        "warning": "Warning: ",
        "advice": "Advice: ",
        "protected": "Protected: ",
        "assumed": "Assumed: ",
    }
)
"""Labels of notes with these roles, in formats without headings."""


def written_words(what: str) -> str:
    """The byline of a page that is not about a release: its kind, the date and the version."""
    return f"{what} · written {made.today()} (UTC) with epsilons {made.VERSION}"


def short(name: str, most: int = _NAME) -> str:
    """Shorten a name that is longer than `most` characters."""
    plain = legible(name)
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def related_words(related: bool | float, *, cells: bool = False) -> str:
    """Describe how budgets may be related to values. With `cells`, δ is a share of people."""
    if related is True:
        return "in any way"
    whole = "all people" if cells else "the range"
    return "not at all" if related is False else f"by at most {100.0 * related:.3g} % of {whole}"


def side_name(related: bool | float, assumed: bool | float, *, cells: bool) -> str:
    """The name of a row in the table of other assumptions; * marks the assumption of the result."""
    mark = " *" if related == assumed else ""
    return related_words(related, cells=cells) + mark


def why_worse(
    answers: Sequence[bool | float], columns: Sequence[Sequence[float]], otherwise: str
) -> str:
    """Explain why a row has visibly larger errors than a row above it with a weaker assumption.

    Args:
        answers: the assumption `related` of each row, from the weakest to the strongest.
        columns: the errors of all rows, for each column that is shown.
        otherwise: the explanation for differences that are not due to chance.

    Returns:
        The explanation, or "" if no row is visibly worse.
    """
    worse = {
        (answers[above], answers[below])
        for errors in columns
        for below in range(len(errors))
        for above in range(below)
        if errors[below] > _VISIBLY * errors[above]
    }
    chance = any(below is False and above is not True for above, below in worse)
    others = any(below is not False or above is True for above, below in worse)
    return (_CHANCE if chance else "") + (otherwise if others else "")


def weak_budgets(levels: Iterable[float]) -> list[str]:
    """A warning if a finite budget is so large that it gives almost no protection.

    A budget of ∞ causes no warning, because it makes a record public on purpose.

    Args:
        levels: public budgets.

    Returns:
        A list with one warning, or an empty list.
    """
    largest = max((level for level in levels if math.isfinite(level)), default=0.0)
    if largest <= _WEAK:
        return []
    return [
        f"ε above {_WEAK:g} protects almost nothing, and budgets here go up to "
        f"{number(largest)}. An ε is a number such as 0.1 or 1, not a percentage; inf means that "
        "a record is public."
    ]


def held_back(claims: Iterable[str]) -> list[str]:
    """A warning if earlier claims on a ledger were open and reserved part of everyone's budget.

    Args:
        claims: the claims, in words; they are public.
    """
    named = ", ".join(map(short, claims))
    if not named:
        return []
    return [
        f"Claims that were opened earlier and not yet drawn held back what they may ask of "
        f"everyone: {named}. So people offered less to this release, or took no part in it."
    ]


def few_at_each(related: bool | float, people: Iterable[int | None]) -> list[str]:
    """A warning if few people share a budget, so their means may differ by more than δ by chance.

    The mean of m values on a unit range has a standard deviation of up to ½/√m. This exceeds δ/2 if
    m < 1/δ². The warning appears if most people have a budget that fewer than 1/δ² people share.

    Args:
        related: the assumption on how budgets are related to values.
        people: the number of people with each budget; None if this number is private.

    Returns:
        A list with one warning, or an empty list.
    """
    if isinstance(related, bool):
        return []
    counts = [count for count in people if count is not None]
    few = math.ceil(related**-2)
    lonely = sum(count for count in counts if count < few)
    if 2 * lonely <= sum(counts):
        return []
    return [
        f"related={number(related)} is about the mean of the people at each budget, but "
        f"{lonely:,} of {sum(counts):,} people have a budget that fewer than {few:,} share. Such "
        "means differ by more than that by chance alone."
    ]


# Tables of spending with few rows, and histograms of budgets with few bars.

BUDGET: Final = "budget ε"
"""The heading of the column of budgets."""

OFFERED: Final = "offered ε"
"""The heading of the column of budgets if a ledger offers only part of them to a release."""

OF_WEIGHTS: Final = "ε at the average weight"
"""The heading of the column of budgets if people have weights."""

BARS: Final = 12
"""The maximum number of bars in a figure; if there are more levels, adjacent ones are merged."""

_ROWS: Final = 8
"""The maximum number of rows in a table; if there are more levels, adjacent ones are merged."""


class Merged(NamedTuple):
    """Adjacent levels merged into one row: ranges as text, averages as numbers."""

    epsilon: str
    people: int | None
    spent: float
    kept: float
    spent_words: str
    kept_words: str


def budget_head(part: SpendingTable) -> str:
    """The heading of the column of budgets, or of the parts of budgets that a ledger offers."""
    if part.of_weights:
        return OF_WEIGHTS
    return OFFERED if part.offered else BUDGET


def spending_table(part: SpendingTable) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The headings and rows of the spending table. If counts are private, it omits people."""
    rows, head = merged_rows(part.levels), budget_head(part)
    if any(row.people is None for row in rows):
        heads: tuple[str, ...] = (f"{head} (from)", "spends", "keeps")
        return heads, [(row.epsilon, row.spent_words, row.kept_words) for row in rows]
    return (head, "people", "spent", "kept"), [
        (row.epsilon, f"{row.people:,}", row.spent_words, row.kept_words) for row in rows
    ]


def some_places(count: int, most: int) -> list[int]:
    """The indices of at most `most` levels to show: evenly spaced, including both ends."""
    if count <= most:
        return list(range(count))
    return [round(k * (count - 1) / (most - 1)) for k in range(most)]


def merged_rows(rows: Sequence[SpendingLevel], most: int = _ROWS) -> list[Merged]:
    """Merge adjacent levels into at most `most` rows.

    The text shows ranges of budgets and of the amounts spent and kept, because an average next to a
    budget could look like overspending. `spent` and `kept` are averages, for bars.
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
    """Bins for a histogram of budgets, ascending, in equal steps of log ε; 0 and ∞ are separate.

    Args:
        levels: pairs of a budget and the number of people with it, in any order.

    Returns:
        Pairs of a name and a number of people; every person is in exactly one bin.
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
