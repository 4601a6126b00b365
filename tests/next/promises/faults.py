"""What is wrong with a table: counted exactly, for the curator, and no entry is shown."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

import epsilons_next as ep
from epsilons_next.errors import ArgumentError, ColumnError, DataError, EpsilonsError
from tests.next.promises.table import counts, drops, filters, folds, mends, refuses

FINE = {
    "p": [1, 2, 3, 4, 5],
    "x": [10.0, 20.0, 30.0, 40.0, 7391.0],
    "g": ["a", "b", "a", "b", "a"],
    "e": [0.5, 0.5, 1.0, 1.0, 0.5],
    "w": [1.0, 1.0, 2.0, 2.0, 1.0],
}


ANOTHER_TABLE = counts(roster=lambda people: replace(people, data=FINE))


def fault(
    says: str,
    broken: dict[str, Any],
    ask: Callable[[Any], Any],
    error: type[EpsilonsError] = DataError,
    mended: dict[str, Any] | None = None,
    **words: Any,
) -> None:
    """Keep a row: a table with faults, and somebody who mends it in silence before the count."""
    data = {**FINE, **broken}
    mend = {name: FINE.get(name) for name in broken} if mended is None else mended
    refuses(
        "fault",
        error,
        says,
        mends(**mend),
        lambda: ask(ep.People(data, **{"epsilon": "e", "person": None, **words})),
    )


def mean(people: Any, **words: Any) -> Any:
    return people.mean("x", (0, 100), **words)


def shares(people: Any, **words: Any) -> Any:
    return people.shares("g", ["a", "b"], **words)


MEND = "Everyone needs exactly one: mend the table, or set it to 0 to leave them out."

# Limits.

fault(
    f'"e": 1 person has no limit, or none that can be one. {MEND}',
    {"e": [0.5, None, 1, 1, 1]},
    mean,
)
fault('"e": 2 people have no limit, or none', {"e": [0.5, None, -1.0, 1.0, 1.0]}, mean)
fault(
    '"e": 1 row has no limit, or none that', {"e": [0.5, 0.5, np.nan, 1.0, 1.0]}, mean, person="p"
)
fault('"e": 2 rows have no limit', {"e": [0.5, "7391 %", "kwyjibo", 1, 1]}, mean, person="p")
fault(
    '"e": 2 people have a word that is not in menu (strict, open).',
    {"e": ["strict", "kwyjibo", "Open", "open", "open"]},
    mean,
    menu={"strict": 0.1, "open": 2},
    mended={"e": ["strict", "open", "open", "open", "open"]},
)
fault(
    '"e": 1 row has a word that is not in menu (strict, open, None).',
    {"e": ["strict", "kwyjibo", None, "open", "open"]},
    mean,
    menu={"strict": 0.1, "open": 2, None: 0.1},
    person="p",
    mended={"e": ["strict", "open", None, "open", "open"]},
)
fault(
    '"e": 1 person has two limits. Everyone needs exactly one: mend the table.',
    {"p": [1, 1, 2, 3, 4], "e": [0.5, 0.6, 1.0, 1.0, 1.0]},
    mean,
    person="p",
)
fault(
    '"e": 2 people have two limits.',
    {"p": [1, 1, 2, 2, 4], "e": [0.5, 0.6, 1.0, 0.0, 1.0]},
    shares,
    person="p",
)

# Ids and weights.

fault(
    '"p": 1 row has no id, or one that is neither an integer nor text.',
    {"p": ["a", None, "b", "c", "kwyjibo"]},
    mean,
    person="p",
)
fault('"p": 2 rows have no id', {"p": np.array([1.5, 2.0, 9000017.5, 3.0, 4.0])}, mean, person="p")
fault(
    '"w": 1 person has no weight, or one that is not between 0 and 10²⁷⁰.',
    {"w": [1.0, 0.0, 1.0, 1.0, 1.0]},
    lambda people: mean(people, about="people"),
    weights="w",
)
fault(
    '"w": 3 rows have no weight',
    {"w": [1.0, None, float("inf"), -7391.0, 1.0]},
    lambda people: mean(people, about="people"),
    weights="w",
    person="p",
)
fault(
    '"w": 1 person has two weights. Everyone has exactly one: mend the table.',
    {"p": [1, 1, 2, 3, 4], "w": [1.0, 2.0, 1.0, 1.0, 1.0], "e": [0.5] * 5},
    lambda people: mean(people, about="people"),
    weights="w",
    person="p",
    mended={"w": [1.0] * 5},
)
fault(
    '"w": 5 people have no weight, or one that is not between 0 and 10²⁷⁰.',
    {"w": np.array([1e308] * 5)},
    lambda people: mean(people, about="people"),
    weights="w",
)

# Entries.

EXCLUDE = (
    'missing="exclude" leaves them out, and the result says so; do not drop them from the table, '
    "since how many people there are is published."
)

fault(f'"x": 1 of 5 people has no entry. {EXCLUDE}', {"x": [1.0, None, 3.0, 4.0, 7391.0]}, mean)
fault('"x": 2 of 5 people have no entry.', {"x": [1.0, None, np.nan, 4.0, 7391.0]}, mean)
fault('"x": 2 rows have no entry.', {"x": [1.0, None, np.inf, 4.0, 7391.0]}, mean, person="p")
fault('"g": 1 of 5 people has no entry.', {"g": ["a", None, "b", "a", "b"]}, shares)
fault(
    '"g": 2 of 5 people have no entry.',
    {"g": ["a", None, "b", "NA", "b"]},
    lambda people: mean(people, by={"g": ["a", "b"]}),
)
fault(
    '"g": 1 of 5 people has no entry.',
    {"g": ["a", None, "b", "a", "b"]},
    lambda people: mean(people, where={"g": "a"}),
)
fault(
    '"g": 2 people have an entry that is not declared; other="other" takes them all.',
    {"g": ["a", "kwyjibo", "b", "A", "b"]},
    shares,
)
fault('"g": 1 row has an entry that is not', {"g": ["a", "a ", "b", "a", "b"]}, shares, person="p")
fault(
    '"x": 2 entries are text that is no number (thousands separators?). They are not "missing": '
    "mend the column first.",
    {"x": [1, "7,391", "kwyjibo", "NA", ""]},
    lambda people: mean(people, missing="exclude"),
)
fault(
    '"x": 1 entry is text that is no number',
    {"x": [1, "7,391", 3, 4, 5]},
    mean,
    person="p",
)
refuses(
    "fault",
    DataError,
    "Nobody in the table allows any ε, or as much as at_least.",
    filters(at_least=0.0),
    lambda: mean(ep.People(FINE, "e", None), at_least=2),
)
refuses(
    "fault",
    DataError,
    "Nobody in the table allows any ε, or as much as at_least.",
    folds(epsilon=1.0),
    lambda: mean(ep.People({**FINE, "e": [0.0] * 5}, "e", None)),
)
refuses(  # only of whom is asked it matters what they say
    "fault",
    DataError,
    '"x": 1 of 5 people has no entry.',
    drops(2),
    lambda: mean(ep.People({**FINE, "x": [None, None, None, 1.0, 2.0]}, "e", None), at_least=0.7),
)

# Columns.

fault(
    '"minutes" is no column of the data. Its columns are "p", "x", "g", "e", "w".',
    {},
    lambda people: people.mean("minutes", (0, 1)),
    ColumnError,
    mended={"minutes": FINE["x"]},
)
fault(
    '"x" holds text, and numbers are needed. For the share of each answer: people.shares("x", '
    '["yes", "no"]).',
    {"x": pl.Series(["kwyjibo"] * 5)},
    mean,
    ColumnError,
)
fault(
    '"g" holds text, and its labels are numbers: a label is written as the column has it.',
    {"g": pl.Series(["7391"] * 5)},
    lambda people: people.shares("g", [1, 2]),
    ColumnError,
    mended={"g": [1, 2, 1, 2, 1]},
)
fault(
    '"x" holds numbers, and its labels are text',
    {"x": np.array([7391.0] * 5)},
    lambda people: people.shares("x", ["a", "b"]),
    ColumnError,
    mended={"x": FINE["g"]},
)
fault(
    '"x" holds numbers, and its labels are True and False',
    {"x": np.array([0, 1, 1, 0, 1])},
    lambda people: people.shares("x", [True, False]),
    ColumnError,
    mended={"x": [False, True, True, False, True]},
)
fault(
    '"e" holds no numbers: menu={"strict": 0.1, "open": 2} says which limit each word stands for.',
    {"e": pl.Series(["kwyjibo"] * 5)},
    mean,
    ColumnError,
)
fault(
    '"p" holds no ids, which are integers or text.',
    {"p": np.array([True] * 5)},
    mean,
    ColumnError,
    person="p",
)
fault(
    '"x" holds neither numbers nor text (Date): convert it first.',
    {"x": pl.Series([datetime.date(2026, 1, 1)] * 5)},
    mean,
    ColumnError,
)
fault(
    '"x" is no column of numbers or text (float64).',
    {"x": np.full((5, 2), 7391.0)},
    mean,
    ColumnError,
)
fault(
    "data: the arrays of a mapping are equally long.",
    {"x": [7391.0] * 6},
    mean,
    ArgumentError,
)


def two_of_a_name() -> Any:
    frame = pd.DataFrame(FINE)
    frame.columns = pd.Index(["p", "x", "x", "e", "w"])
    return mean(ep.People(frame, "e", None))


refuses(
    "fault",
    ColumnError,
    '"x" is the name of two columns: rename one of them.',
    ANOTHER_TABLE,
    two_of_a_name,
)
refuses(
    "fault",
    ArgumentError,
    "data: a frame of Polars or pandas, the path of a Parquet or CSV file, or a mapping of "
    "arrays; this is of type list.",
    ANOTHER_TABLE,
    lambda: mean(ep.People([[7391]], "e", None)),
)
