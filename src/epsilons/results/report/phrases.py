"""What results of several kinds share: sentences, and who spends what in few rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from epsilons import made
from epsilons.results.report.numbers import budget, distinct, kept_words, legible, number
from epsilons.results.report.sheet import Role, SpendingLevel, SpendingTable

# Sentences that results of several kinds share.

_NAME = 60
"""Characters of the name of a column that are shown."""

_WEAK = 20.0
"""Beyond this a result may become 485 million times as likely for one person."""

_VISIBLY = 1.005
"""Errors with a larger ratio are printed as different numbers, and one asks why."""

_CHANCE = (
    ' "Not at all" still allows for differences by chance, so it can be worse than a row that sets '
    "a limit."
)

FORECAST = "A forecast from budgets alone: no data was read"
SEEDED = "NOT PRIVATE: drawn from a seed, for simulation only."
SIDES = "if budgets go with values"
"""What the rows of other assumptions are of."""

LABELS: Final[Mapping[Role, str]] = MappingProxyType(
    {
        "warning": "Warning: ",
        "advice": "Advice: ",
        "protected": "Protected: ",
        "assumed": "Assumed: ",
    }
)
"""What stands before a note of some roles, where no heading says it."""


def written_words(what: str) -> str:
    """What a page is that holds no release, and the day and the version that wrote it."""
    return f"{what} · written {made.today()} (UTC) with epsilons {made.VERSION}"


def short(name: str) -> str:
    """A name in a line, cut if it is long."""
    plain = legible(name)
    return plain if len(plain) <= _NAME else plain[: _NAME - 1] + "…"


def related_words(related: bool | float, *, cells: bool = False) -> str:
    """How budgets go with values, in a few words; of cells a share of people stands for a mean."""
    if related is True:
        return "in any way"
    whole = "all people" if cells else "the range"
    return "not at all" if related is False else f"by at most {100.0 * related:.3g} % of {whole}"


def side_name(related: bool | float, assumed: bool | float, *, cells: bool) -> str:
    """The name of a row of what other assumptions would give; a mark for what is assumed."""
    mark = " *" if related == assumed else ""
    return related_words(related, cells=cells) + mark


def why_worse(
    answers: Sequence[bool | float], columns: Sequence[Sequence[float]], otherwise: str
) -> str:
    """Why some row is visibly worse than one above it, which assumes less; "" if none is.

    Args:
        answers: of the rows; they assume more and more.
        columns: the errors that are shown.
        otherwise: what is said where it is not for chance.
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
    """A warning, if a budget is so large that it protects next to nothing; ∞ is meant to.

    Args:
        levels: budgets that are public.

    Returns:
        One sentence or two, or nothing.
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
    """A warning, if earlier claims on a ledger were open and held back what they may ask.

    Args:
        claims: in words; they are public.
    """
    named = ", ".join(map(short, claims))
    if not named:
        return []
    return [
        f"Claims that were opened earlier and not yet drawn held back what they may ask of "
        f"everyone: {named}. So people offered less to this release, or took no part in it."
    ]


def few_at_each(related: bool | float, people: Iterable[int | None]) -> list[str]:
    """A warning, if means of people at different budgets must differ by more than is assumed.

    The mean of m values of a unit range has a standard deviation of up to ½/√m by chance alone,
    which is more than δ/2 for fewer than 1/δ² people.

    Args:
        related: what is assumed of budgets and values.
        people: how many people have each budget; None where that is private.

    Returns:
        One sentence, or nothing.
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


# Who spends what, in few rows, and how many people have which budget, in few bars.

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


def budget_head(part: SpendingTable) -> str:
    """What the column of what people may spend is called: in a ledger not their whole budget."""
    return OFFERED if part.offered else BUDGET


def spending_table(part: SpendingTable) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
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


def merged_rows(rows: Sequence[SpendingLevel], most: int = _ROWS) -> list[Merged]:
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
