"""Odd entries, a row for each that ever went wrong or could: what it means, or why it is refused.

What a column means is written beside it, in plain Python, and the reference says what follows.
Where participation is secret the same tables are all released: only arguments and declared types
are refused.
"""

from __future__ import annotations

import datetime
import gzip
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import epsilons_next as ep
from epsilons_next.errors import (
    ArgumentError,
    BoundsError,
    BudgetError,
    ColumnError,
    DataError,
    EpsilonsError,
    FileError,
    LedgerError,
)
from tests.next import reference
from tests.next.forms import FORMS
from tests.next.reference import Asked, Fault, Terms

inf, nan = math.inf, math.nan
BIG = 2**53
NFC, NFD = "\u00e9", "e\u0301"
DAY = datetime.date(2020, 1, 1)
SECRET: dict[str, Any] = {"secret": "participation", "offered": [2.0**19, inf]}
"""So much that noise does not show."""

FINE = 2.0**30
"""A limit."""

NO = object()
"""An entry that is there, and is no number, no id, no limit or no weight."""


class Cells(tuple[str, ...]):
    """A column of a CSV file, as it is written there."""


@dataclass(frozen=True)
class Odd:
    """A column with odd entries.

    Attributes:
        what: in words.
        role: "x" has numbers, "g" labels, "p" ids, "e" limits and "w" weights.
        held: the column: a list of Python's objects, a typed one, or cells of a file.
        means: what each entry is, in plain Python; if nothing is said, itself.
        labels: which are declared.
        bounds: of x.
        menu: which limits words stand for.
    """

    what: str
    role: str
    held: Any
    means: Sequence[Any] | None = None
    labels: Any = ()
    bounds: tuple[float, float] = (-8.0, 8.0)
    menu: Any = None
    more: Mapping[str, list[Any]] = field(default_factory=dict)

    @property
    def ways(self) -> dict[str, Callable[[Any, Path], Any]]:
        """The sources that can hold it."""
        if isinstance(self.held, Cells):
            return {"csv": FORMS["csv"]}
        if isinstance(self.held, list):
            return {"mapping": lambda columns, _: columns, "objects": objects}
        if isinstance(self.held, pl.Series):
            return {"polars": lambda columns, _: pl.DataFrame(columns), "parquet": parquet}
        return {"array": lambda columns, _: columns, "frame": lambda c, _: pd.DataFrame(c)}

    @property
    def columns(self) -> dict[str, Any]:
        """The table: all other columns are in order, and each row has a number of its own."""
        n = len(self.held)
        own = [2.0**i for i in range(n)]
        plain = {"p": range(n), "e": np.full(n, inf), "w": np.ones(n), "x": own, "y": own}
        return {**plain, **self.more, self.role: self.held}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The same as it is meant."""
        columns = {**self.columns, self.role: self.held if self.means is None else self.means}
        bare = {c: [None if x is NO else x for x in held] for c, held in columns.items()}
        return [dict(zip(bare, row, strict=True)) for row in zip(*bare.values(), strict=True)]

    def asks(self, missing: str) -> Iterator[tuple[Any, Asked]]:
        """What is asked of it, and the same for the reference."""
        low, high = self.bounds if self.role == "x" else (0.0, 2.0 ** len(self.held))
        words: dict[str, Any] = {"missing": missing, "about": "people"}
        number, exclude = [("x", low, high)], missing == "exclude"
        if self.role != "g":
            yield ep.Mean("x", (low, high), **words), Asked(number, exclude=exclude)
            return
        known = {"g": list(entries_of(self.labels))}
        if exclude:
            other = Asked(groups=known, others=frozenset("g"), exclude=True)
            yield ep.Shares("g", self.labels, other="the rest", **words), other
            return
        yield ep.Shares("g", self.labels, **words), Asked(groups=known)
        each = {"g": list(chain(*(x if isinstance(x, list) else [x] for x in known["g"])))}
        filtered = ep.Mean("x", (low, high), where={"g": self.labels}, **words)
        yield filtered, Asked(number, where=each)


def objects(columns: Mapping[str, Any], folder: Path) -> pd.DataFrame:
    own = {
        name: pd.Series(x, dtype=object if isinstance(x, list) else None)
        for name, x in columns.items()
    }
    return pd.DataFrame(own)


def parquet(columns: Mapping[str, Any], folder: Path) -> str:
    path = folder / f"{len(list(folder.iterdir()))}.parquet"
    pl.DataFrame(columns).write_parquet(path)
    return str(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("odd")


def entries_of(labels: Any) -> Iterator[Any]:
    """By label, its entries as the reference has them."""
    if isinstance(labels, ep.Bins):
        for low, high in pairwise(labels.edges):
            last = high == labels.edges[-1]
            yield lambda x, low=low, high=high, last=last: low <= x < high or (last and x == high)
    else:
        yield from labels.values() if isinstance(labels, Mapping) else labels


def alone(role: str, fine: list[Any], odd: Mapping[str, tuple[Any, Any]], **more: Any) -> list[Odd]:
    """Each odd entry by itself among fine ones."""
    return [Odd(what, role, [*fine, x], [*fine, means], **more) for what, (x, means) in odd.items()]


def together(role: str, fine: list[Any], means: Any, **more: Any) -> list[Odd]:
    """All that is no entry in one column, and all that is none of its kind in another."""
    return [
        Odd(what, role, [*fine, *odd.values()], [*fine, *[each] * len(odd)], **more)
        for what, odd, each in (("nothing", NOTHING, None), ("objects", OBJECTS, means))
    ]


def cells(role: str, fine: float, odd: Mapping[str, Any]) -> list[Odd]:
    """Each cell of a CSV file beside a fine one."""
    return [
        Odd(f"{role}: {x[:9]!r}", role, Cells([str(fine), x]), [fine, means])
        for x, means in odd.items()
    ]


OBJECTS: dict[str, Any] = {
    "bytes": b"SENTINEL", "a list": [1.0], "a mapping": {}, "an object": object(), "a date": DAY,
    "complex": 1j, "half a pair": "\ud800", "text": "SENTINEL", "an array": np.array([1.0]),
    "a moment": np.datetime64("2020-01-01"), "a tuple": ("SENTINEL",), "a time": pd.Timestamp(0),
}  # fmt: skip
"""What is neither a number nor a label."""

STRANGE = {what: x for what, x in OBJECTS.items() if not isinstance(x, str)}
"""What is no text, either."""

NOTHING: dict[str, Any] = {
    "None": None, "nan": nan, "NA": pd.NA, "NaT": pd.NaT, "nan of NumPy": np.float32("nan"),
    "nan of decimals": Decimal("NaN"),
}  # fmt: skip
"""What says that there is no entry."""

NONE = ("", "NA", "N/A", "NaN", "nan", "null", ".", "inf", "-inf", "Infinity")
"""Cells that say that there is no number."""

SPELLED = (
    *("NULL", "None", "na", "-", "#N/A", "n/a", "SENTINEL", "true", "1,000", "1_000", "0x10"),
    *("--1", "1d", "1e", "½", "١", "2020-01-01", "1 000", "€1"),
)
"""Cells that say something, and no number."""

NUMBERS = [
    *together("x", [1, 3.5], NO),
    *alone(
        "x",
        [1, 3.5],
        {
            "a decimal": (Decimal("0.25"), 0.25), "a fraction": (Fraction(1, 4), NO),
            "a float of 32 bits": (np.float32(0.5), 0.5), "an integer of 8 bits": (np.uint8(2), 2),
            "True": (True, 1), "False of NumPy": (np.False_, 0), "-0.0": (-0.0, 0),
            "a huge integer": (10**400, 8), "a huge integer below": (-(10**400), -8),
            "a huge decimal": (Decimal("-1e400"), -8), "infinity": (inf, None),
            "minus infinity": (-inf, None), "infinity of decimals": (Decimal("Infinity"), None),
            "a loud nan": (Decimal("sNaN"), None), "text that spells a number": ("1", NO),
        },
    ),
    Odd("none in a file", "x", Cells(["1", *NONE]), [1, *[None] * len(NONE)]),
    Odd("no numbers in a file", "x", Cells(["1", *SPELLED]), [1, *[NO] * len(SPELLED)]),
    Odd(
        "numbers in a file",
        "x",
        Cells(["1e3", "-1E-1", "+2", ".5", "5.", "-0", "1e-999", "02", "1e999", "9" * 400]),
        [8, -0.1, 2, 0.5, 5, 0, 0, 2, None, None],
    ),
    Odd("a top of 64 bits", "x", pl.Series([0, 2**64 - 1], dtype=pl.UInt64), bounds=(0, 2.0**64)),
    Odd("64 bits", "x", pl.Series([-(2**63), 2**63 - 1]), bounds=(-(2.0**63), 2.0**63)),
    Odd("128 bits", "x", pl.Series([0, 2**100], dtype=pl.Int128), bounds=(0, 2.0**100)),
    Odd(
        "38 digits",
        "x",
        pl.Series([Decimal("0." + "7" * 38), Decimal(0)], dtype=pl.Decimal(38, 38)),
        [float("0." + "7" * 38), 0],
    ),
    Odd(
        "38 digits before the point",
        "x",
        pl.Series([Decimal("9" * 38), Decimal(0)], dtype=pl.Decimal(38, 0)),
        [1e38, 0],
        bounds=(0, 1e38),
    ),
    Odd(
        "floats", "x", pl.Series([1.0, nan, None, inf, -inf, -0.0]), [1, None, None, None, None, 0]
    ),
    Odd("short floats", "x", pl.Series([0.1], dtype=pl.Float32), [float(np.float32(0.1))]),
    Odd("truth", "x", pl.Series([True, False, None]), [1, 0, None]),
    Odd("only nulls", "x", pl.Series([None, None]), [None, None]),
    Odd("floats that are all null", "x", pl.Series([None], dtype=pl.Float64), [None]),
    Odd("masked", "x", np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0]), [1, None, 3]),
    Odd("masked integers", "x", np.ma.masked_array([1, BIG + 1], mask=[0, 1]), [1, None]),
    Odd("the other byte order", "x", np.array([1.0, nan, 3.0], ">f8"), [1, None, 3]),
    Odd("integers in it", "x", np.array([1, 3], ">i2"), [1, 3]),
    Odd("every second", "x", np.array([9.0, 1.0, 9.0, 3.0])[1::2], [1, 3]),
    Odd("half floats", "x", np.array([0.5, inf], np.float16), [0.5, None]),
    Odd("booleans", "x", np.array([True, False]), [1, 0]),
    Odd("nullable integers", "x", pd.array([1, None], "Int64"), [1, None]),
    Odd("nullable truth", "x", pd.array([True, None], "boolean"), [1, None]),
    Odd("integers of Arrow", "x", pd.array([1, None], pd.ArrowDtype(pa.int32())), [1, None]),
    Odd("floats of Arrow", "x", pd.array([nan, 2.0], pd.ArrowDtype(pa.float64())), [None, 2]),
    Odd("categories of numbers", "x", pd.Categorical([2.0, 1.0, None]), [2, 1, None]),
    Odd("sparse", "x", pd.arrays.SparseArray([0.0, 2.0, nan]), [0, 2, None]),
    Odd("an end of all floats", "x", pl.Series([8e307, -8e307, 0]), bounds=(-8e307, 8e307)),
    Odd("next to nothing", "x", pl.Series([0.0, 1e-299, 1.0]), bounds=(0, 1e-299)),
]  # fmt: skip

IDS = [
    Odd("beside 2^53", "p", pl.Series([BIG, BIG + 1, BIG + 1])),
    Odd("unsigned", "p", pl.Series([2**63, 2**63 + 1, BIG], dtype=pl.UInt64)),
    Odd("of 128 bits", "p", pl.Series([2**100, 2**100 + 1, 2**100], dtype=pl.Int128)),
    Odd("objects beside 2^53", "p", [BIG, BIG + 1, -BIG, 2**70, 2**70 + 1, 2**70]),
    Odd("an array beside 2^53", "p", np.array([BIG, BIG + 1], np.uint64), [BIG, BIG + 1]),
    Odd("nullable", "p", pd.array([BIG, BIG + 1, None], "Int64"), [BIG, BIG + 1, None]),
    Odd("whole floats", "p", pl.Series([1.0, 1.0, 2.0, -0.0, 0.0]), [1, 1, 2, 0, 0]),
    Odd("floats of some size", "p", pl.Series([1.0, float(BIG)]), [1, None]),
    Odd("the last exact float", "p", pl.Series([BIG - 1.0, BIG - 2.0]), [BIG - 1, BIG - 2]),
    Odd("a float that is not whole", "p", pl.Series([1.0, 1.5]), [1, None]),
    Odd("an infinite float", "p", pl.Series([1.0, inf]), [1, None]),
    Odd("a float that is none", "p", pl.Series([1.0, nan, None]), [1, None, None]),
    Odd("one in several types", "p", [1, 1.0, np.int8(1), np.float64(1), 2], [1, 1, 1, 1, 2]),
    Odd("nothing in several types", "p", [0, -0.0, 0.0, np.uint8(0)], [0, 0, 0, 0]),
    Odd("text is as it is", "p", ["1", "01", "+1", "1.0", "1 ", "A", "a", "a\0", NFC, NFD]),
    Odd("text is as it is, typed", "p", pl.Series(["1", "01", "1.0", " 1", "a", "A", NFC, NFD])),
    Odd("text is as it is, in a file", "p", Cells(["1", "01", "+1", "1.0", "1", NFC, NFD])),
    Odd("a number and its text", "p", [1, "1", 1]),
    Odd("no text", "p", pl.Series(["a", None]), ["a", None]),
    Odd("a word for none", "p", Cells(["a", "NA"]), ["a", None]),
    Odd("an empty cell", "p", Cells(["a", ""]), ["a", None]),
    Odd("only nulls", "p", pl.Series([None, None]), [None, None]),
    Odd("a column of categories", "p", pl.Series(["b", "a", "b"], dtype=pl.Categorical)),
    Odd("an enumeration", "p", pl.Series(["b", "a", "b"], dtype=pl.Enum(["a", "b"]))),
    Odd("categories of pandas", "p", pd.Categorical([BIG, BIG + 1, BIG]), [BIG, BIG + 1, BIG]),
    Odd("text of NumPy", "p", np.array(["b", "a", "b"]), ["b", "a", "b"]),
    Odd("masked", "p", np.ma.masked_array([1, 2], mask=[0, 1]), [1, None]),
    Odd("nothing", "p", [1, 2, 1, *NOTHING.values()], [1, 2, 1, *[NO] * len(NOTHING)]),
    Odd("objects", "p", [1, 2, 1, *STRANGE.values()], [1, 2, 1, *[NO] * len(STRANGE)]),
    *alone(
        "p",
        [1, 2, 1],
        {
            "True": (True, NO), "True of NumPy": (np.True_, NO), "a fraction of 1": (1.5, NO),
            "a large float": (float(BIG), NO), "infinity": (inf, NO),
        },
    ),
]  # fmt: skip

LIMITS = [
    *together("e", [FINE, FINE], NO),
    *alone(
        "e",
        [FINE, FINE],
        {
            "0": (0, 0.0), "-0.0": (-0.0, 0.0), "negative": (-1, NO),
            "as negative as can be": (-inf, NO), "hardly negative": (-5e-324, NO),
            "nearly nothing": (1e-300, 1e-300), "the least float": (5e-324, 5e-324),
            "little": (2.0**-21, 2.0**-21), "much": (2.0**21, 2.0**21),
            "as much as a float": (1.7e308, 1.7e308), "a huge integer": (10**400, 1e300),
            "a decimal": (Decimal("0.5"), 0.5), "True": (True, NO),
            "text that spells a number": ("0.5", NO),
        },
    ),
    Odd("infinity", "e", [FINE, inf]),
    Odd("infinity of decimals", "e", [FINE, Decimal("Infinity")], [FINE, inf]),
    Odd("more than a float, in a file", "e", Cells([str(FINE), "1e999"]), [FINE, NO]),
    *cells("e", FINE, {"0.5": 0.5, "inf": inf, "": None, "nan": None, "-1": NO, "0,5": NO}),
    Odd("nobody", "e", pl.Series([None, None], dtype=pl.Float64), [None, None]),
    Odd("masked", "e", np.ma.masked_array([inf, 50.0], mask=[0, 1]), [inf, None]),
    Odd("integers", "e", pl.Series([2**21, 2**21], dtype=pl.UInt64), [2.0**21] * 2),
    Odd("short floats", "e", pl.Series([2.0**21, nan], dtype=pl.Float32), [2.0**21, None]),
    Odd("two limits", "e", [FINE, 2.0**19, FINE], more={"p": [1, 1, 2]}),
    Odd("two limits, one none", "e", [FINE, None, FINE], more={"p": [1, 1, 2]}),
    Odd("two limits, one 0", "e", [FINE, 0.0, FINE], more={"p": [1, 1, 2]}),
    Odd("two limits that round alike", "e", [1.0, 1 + 2**-52, FINE], more={"p": [1, 1, 2]}),
    Odd("a word", "e", ["a", "a", "SENTINEL"], [inf, inf, NO], menu={"a": inf}),
    Odd("no word", "e", ["a", None, "NA"], [inf, None, None], menu={"a": inf}),
    Odd("silence", "e", ["a", None, ""], [inf, 0.0, 0.0], menu={"a": inf, None: 0.0}),
    Odd("the word None", "e", ["a", "None"], [inf, NO], menu={"a": inf, None: 0.0}),
    Odd("words of another case", "e", Cells(["a", "A"]), [inf, NO], menu={"a": inf}),
    Odd("words that are numbers", "e", Cells(["1", "2"]), [inf, 0.0], menu={1: inf, 2: 0}),
    Odd("words that are integers", "e", [1, 1.0, 2], [inf, inf, 0.0], menu={1: inf, 2: 0}),
    Odd("truth", "e", pl.Series([True, False]), [inf, 0.0], menu={True: inf, False: 0}),
    Odd(
        "categories of words",
        "e",
        pl.Series(["a", "b", None], dtype=pl.Categorical),
        [inf, 0.0, 0.0],
        menu={"a": inf, "b": 0, None: 0},
    ),
    Odd("categories of pandas", "e", pd.Categorical(["a", "b"]), [inf, NO], menu={"a": inf}),
]  # fmt: skip

WEIGHTS = [
    Odd("nothing", "w", [1.0, *NOTHING.values()], [1.0, *[NO] * len(NOTHING)]),
    Odd("objects", "w", [1.0, *OBJECTS.values()], [1.0, *[NO] * len(OBJECTS)]),
    *alone("w", [1.0, 2.0], {str(x): (x, NO) for x in (0, -0.0, -1, inf, -inf)}),
    *cells("w", 1.0, {"0": NO, "-1": NO, "inf": NO, "nan": NO, "1e999": NO, "": NO, "0.5": 0.5}),
    Odd("far apart", "w", [1e269, 1e-269, 1e269]),
    Odd("as far as floats are", "w", [5e-324, 1.0]),
    Odd("not whole", "w", [0.1, 0.7, 1e9]),
    Odd("two weights", "w", [1.0, 2.0, 1.0], more={"p": [1, 1, 2]}),
]

LABELS = [
    Odd("integers and whole floats", "g", pl.Series([1, 2, 1]), labels=[1.0, 2]),
    Odd("floats and integers", "g", pl.Series([1.0, 2.0, 1.5, None]), labels=[1, 2]),
    Odd("floats", "g", pl.Series([0.1, 0.3, -0.0]), labels=[0.1, 0.3, 0]),
    Odd("nearly", "g", pl.Series([0.1 + 0.2, 0.5]), labels=[0.3, 0.5]),
    Odd("unsigned", "g", pl.Series([2**64 - 1, 0], dtype=pl.UInt64), labels=[2**64 - 1, 0]),
    Odd("beside 2^53", "g", pl.Series([BIG, BIG + 1]), labels=[BIG, 5]),
    Odd("beside 2^53, declared", "g", pl.Series([BIG, BIG + 1]), labels=[BIG + 1, BIG]),
    Odd("what no float is", "g", pl.Series([float(BIG), 1.0]), labels=[BIG + 1, 1]),
    Odd("what no integer is", "g", pl.Series([1, 2]), labels=[1, 2, 0.5, 1e300, -1, 2**70]),
    Odd("what a byte cannot hold", "g", pl.Series([1, 44], dtype=pl.UInt8), labels=[1, 300, -1]),
    Odd(
        "decimals",
        "g",
        pl.Series([Decimal("0.10"), Decimal("2.00")], dtype=pl.Decimal(20, 2)),
        [0.1, 2],
        labels=[0.1, 2],
    ),
    Odd(
        "decimals of a database",
        "g",
        pl.Series([Decimal("0.1"), Decimal("0.1") + Decimal(10) ** -18], dtype=pl.Decimal(38, 18)),
        [0.1, -1],
        labels=[0.1, 2],
    ),
    Odd("text that spells", "g", pl.Series(["1", "01", "+1", "1.0", " 1"]), labels=["1", "2"]),
    Odd("numbers in a file", "g", Cells(["1", "2"]), [1, 2], labels=[1, 2]),
    *(
        Odd(f"not 1 in a file: {x}", "g", Cells(["1", "2", x]), [1, 2, "x"], labels=[1, 2])
        for x in ("01", "+1", "1.0", " 1", "1e0", "true", "١")
    ),
    Odd("whole floats in a file", "g", Cells(["1", "1.0"]), [1, "x"], labels=[1.0, 2.0]),
    Odd(
        "objects asked for numbers",
        "g",
        [1, 1.0, np.int8(2), "1", True, 1.5],
        [1, 1, 2, "1", True, 1.5],
        labels=[1, 2],
    ),
    Odd("objects asked for text", "g", ["1", "2", 1], labels=["1", "2"]),
    Odd(
        "objects asked for truth",
        "g",
        [True, np.False_, 1, 0, "True"],
        [True, False, 1, 0, "True"],
        labels=[True, False],
    ),
    Odd("numbers asked for truth", "g", [0, 1, 2], labels=[True, False]),
    Odd("decimals among objects", "g", [Decimal("1.0"), Decimal("0.5")], [1, 0.5], labels=[1, 0.5]),
    Odd("large objects", "g", [BIG, BIG + 1, 2**70], labels=[BIG + 1, 2**70]),
    Odd("truth", "g", pl.Series([True, False, None]), labels=[True, False]),
    Odd(
        "truth of pandas",
        "g",
        pd.array([True, None], "boolean"),
        [True, None],
        labels=[True, False],
    ),
    Odd(
        "text that is declared",
        "g",
        pl.Series(["", "NA", "a"]),
        labels={"none": "", "na": ["NA", "a"]},
    ),
    Odd("text that is not", "g", pl.Series(["a", "", "b"]), ["a", None, "b"], labels=["a", "b"]),
    Odd("a word for none", "g", Cells(["a", "N/A"]), ["a", None], labels=["a", "b"]),
    Odd("two normal forms", "g", pl.Series([NFC, NFD, NFD]), labels=[NFC, NFD]),
    Odd("another normal form", "g", pl.Series([NFC, NFD]), labels=[NFC, "a"]),
    Odd("case and spaces", "g", Cells(["a", "A", "a ", "b"]), labels=["a", "b"]),
    Odd(
        "a long label", "g", pl.Series(["a" * 10**5, "a" * 10**5 + "b"]), labels=["a" * 10**5, "b"]
    ),
    Odd(
        "a comma and a quote",
        "g",
        Cells(["a,b", 'c"d', "e\nf"]),
        labels={"a": "a,b", "c": 'c"d', "e": "e\nf"},
    ),
    Odd("signs of patterns", "g", pl.Series(["^a$", ".*", "a"]), labels=["^a$", ".*"]),
    Odd("merged", "g", pl.Series([1, 4, 5, 4]), labels={"low": 1, "high": [4, 5]}),
    Odd("merged, and not all", "g", pl.Series([1, 4, 6]), labels={"low": 1, "high": [4, 5]}),
    Odd(
        "an enumeration",
        "g",
        pl.Series(["a", "b"], dtype=pl.Enum(["a", "b", "c"])),
        labels=["b", "a"],
    ),
    Odd(
        "what an enumeration lacks", "g", pl.Series(["a"], dtype=pl.Enum(["a"])), labels=["a", "z"]
    ),
    Odd("categories", "g", pl.Series(["b", "a", None], dtype=pl.Categorical), labels=["a", "b"]),
    Odd("categories of pandas", "g", pd.Categorical(["b", None]), ["b", None], labels=["a", "b"]),
    Odd("categories of integers", "g", pd.Categorical([2, 1]), [2, 1], labels=[1, 2]),
    Odd("text of Arrow", "g", pd.array(["a", None], "string"), ["a", None], labels=["a", "b"]),
    Odd("only nulls", "g", pl.Series([None, None]), labels=["a", "b"]),
    Odd("only nulls, and numbers", "g", pl.Series([None, None]), labels=[1, 2]),
    Odd("a range", "g", pl.Series([0, 1, 2, 1]), labels=range(3)),
    Odd("bins", "g", pl.Series([0.0, 18.0, 17.999, 65.0, -0.0]), labels=ep.Bins(0, 18, 65)),
    Odd("outside bins", "g", pl.Series([0, 66, -1]), labels=ep.Bins(0, 18, 65)),
    Odd(
        "bins of objects",
        "g",
        [0, Decimal("17.5"), True, "1"],
        [0, 17.5, 1, "1"],
        labels=ep.Bins(0, 18, 65),
    ),
    Odd(
        "bins of cells",
        "g",
        Cells(["1e1", "60", "-5"]),
        [10, 60, -5],
        labels=ep.Bins(-inf, 30, 60, inf),
    ),
    Odd(
        "bins without ends",
        "g",
        pl.Series([-inf, 29.9, 30.0, 60.0, inf, nan]),
        [-1e308, 29, 30, 60, 1e308, None],
        labels=ep.Bins(-inf, 30, 60, inf),
    ),
    Odd("bins with ends", "g", pl.Series([1.0, inf]), [1, 1e308], labels=ep.Bins(0, 2, 4)),
    Odd(
        "bins as near as floats",
        "g",
        pl.Series([1.0, 1 + 2**-52]),
        labels=ep.Bins(1, 1 + 2**-52, 2),
    ),
    *together("g", ["a", "b"], "z", labels=["a", "b"]),
    *together("g", [1, 2], "z", labels=[1, 2]),
    Odd(
        "nullable beside 2^53",
        "g",
        pd.array([BIG + 1, None], "Int64"),
        [BIG + 1, None],
        labels=[BIG + 1, 1],
    ),
]

ALL = [*NUMBERS, *IDS, *LIMITS, *WEIGHTS, *LABELS]

WORDS = {
    "no person": "no id",
    "no limit": "(no limit|a word that is not in menu)",
    "two limits": "two limits",
    "two weights": "two weights",
    "missing": "no entry",
    "undeclared": "not declared",
    "x": "no number",
    "w": "no weight",
}


def follows(
    odd: Odd, asked: Asked, terms: Terms
) -> tuple[str, list[Fraction], list[reference.Person]]:
    """By the reference: why it is refused, or the numbers, if there are any, and of whom."""
    if terms.offered is None and odd.role in ("x", "w") and NO in (odd.means or ()):
        return odd.role, [], []
    try:
        people = reference.persons(odd.rows, terms, asked)
    except Fault as fault:
        return str(fault), [], []
    size = 2 if asked.numbers else 1 + len(asked.groups["g"])
    keys = [(i,) if asked.numbers else (i, 0) for i in range(size)]
    there = [p for p in people if p.epsilon > 0.0]
    found = [sum(p.cells.get(k, 0) * Fraction(p.weight) for p in there) for k in keys]
    whole = sum(found)
    if not whole:
        return "", [], there
    if asked.numbers:
        _, low, high = asked.numbers[0]
        mean = Fraction(low) + found[0] / whole * (Fraction(high) - Fraction(low))
        return "", [mean], there
    return "", [each / whole for each in found], there


def people_of(data: Any, odd: Odd, **words: Any) -> ep.People:
    if odd.role == "w":
        words["weights"] = "w"
    return ep.People(data, epsilon="e", menu=odd.menu, **words)


def right(
    release: Any, odd: Odd, asked: Asked, truth: Sequence[Fraction], people: list[reference.Person]
) -> None:
    """The numbers are those, as near as noise allows, and of as many people with these limits."""
    low, high = asked.numbers[0][1:] if asked.numbers else (0.0, 1.0)
    near = 1e-4 * (high - low)
    for row, true in zip(release.rows, truth, strict=False):
        assert row.low - near <= true <= row.high + near
        # People with other limits or weights have other weights in the estimate.
        assert odd.role in ("e", "w") or abs(row.value - true) <= near
    if release.facts.public:
        least, most = release.facts.limits
        assert sum(each.people for each in release.facts.spending) == len(people)
        assert least == min(p.epsilon for p in people)
        assert (most == inf) == any(p.epsilon == inf for p in people)


EACH = pytest.mark.parametrize("odd", ALL, ids=[f"{odd.role}: {odd.what}" for odd in ALL])


@EACH
@pytest.mark.parametrize("missing", ["error", "exclude"])
def test_an_entry_means_one_thing_or_is_refused(odd: Odd, missing: str, folder: Path) -> None:
    """In one source with persons and missing="error", in another without and "exclude"."""
    first = missing == "error"
    person = "p" if first or odd.role == "p" or odd.more else None
    data = list(odd.ways.values())[0 if first else -1](odd.columns, folder)
    terms = Terms("e", person, "w" if odd.role == "w" else None)
    for question, asked in odd.asks(missing):
        people = people_of(data, odd, person=person)
        fault, truth, there = follows(odd, asked, terms)
        if not fault and there:
            right(people.publish([question])[0], odd, asked, truth, there)
            continue
        number = sum(x is NO for x in odd.means or ())
        says = WORDS.get(fault, "Nobody")
        says = f": {number} .*{says}" if fault == odd.role else says
        with pytest.raises(DataError, match=says) as refused:
            people.publish([question])
        silent(refused.value, odd.role if fault else "", odd.held)
        if missing == "error":
            untouched(people, odd)


@EACH
def test_where_participation_is_secret_everything_is_released(odd: Odd, folder: Path) -> None:
    if odd.role == "w":
        return  # weights are public, and so is who has one
    person = "p" if odd.role == "p" or odd.more or len(odd.what) % 2 else None
    data = list(odd.ways.values())[len(odd.what) // 2 % len(odd.ways)](odd.columns, folder)
    for question, asked in odd.asks("error"):
        fault, truth, _ = follows(odd, asked, Terms("e", person, offered=SECRET["offered"]))
        assert not fault
        release = people_of(data, odd, person=person, **SECRET).publish([question])[0]
        right(release, odd, asked, truth, [])


def silent(error: BaseException, column: str, held: Any) -> None:
    """An error names the column, ends as it must, has no other behind it, and shows no entry."""
    text = str(error)
    assert not column or f'"{column}"' in text
    assert text.endswith("Nothing was drawn or spent.")
    assert error.__cause__ is None
    assert error.__context__ is None
    assert not any(str(x) in text for x in held if len(str(x)) > 4)


def untouched(people: ep.People, odd: Odd) -> None:
    """What was refused costs nothing, and the next question has all of everybody's limit."""
    assert not people.account.answered
    if odd.role in ("x", "g"):
        fine = people.mean("y", (0, 2.0 ** len(odd.held)))
        assert fine.facts.earlier == 0
        assert max(fine.spent.values()) > 0


TABLE: dict[str, Any] = {"p": [1, 2], "e": [inf, inf], "x": [1.0, 3.0], "g": ["a", "SENTINEL"]}
BOTH = pytest.mark.parametrize("words", [{}, SECRET], ids=["public", "secret"])


def dates(unit: str) -> Any:
    return np.array([0, 1], f"datetime64[{unit}]")


NO_NUMBERS: dict[str, Any] = {
    "text": pl.Series(["SENTINEL", "2"]),
    "text of categories": pl.Series(["SENTINEL", "2"], dtype=pl.Categorical),
    "lists": pl.Series([[1.0], [2.0]]),
    "records": pl.Series([{"a": 1}, {"a": 2}]),
    "pairs": pl.Series([[1, 2], [1, 2]], dtype=pl.Array(pl.Int64, 2)),
    "dates": pl.Series([DAY, DAY]),
    "moments": pl.Series([datetime.datetime(2020, 1, 1)] * 2),
    "durations": pl.Series([datetime.timedelta(1)] * 2),
    "times": pl.Series([datetime.time(1)] * 2),
    "bytes": pl.Series([b"SENTINEL", b"b"]),
    "objects": pl.Series([OBJECTS, OBJECTS], dtype=pl.Object),
    "dates of NumPy": dates("D"),
    "durations of NumPy": dates("s") - dates("s"),
    "bytes of NumPy": np.array([b"SENTINEL", b"b"]),
    "complex": np.array([1j, 2.0]),
    "two dimensions": np.ones((2, 1)),
    "records of NumPy": np.array([(1, 2)] * 2, [("a", int), ("b", int)]),
    "dates of pandas": pd.array(dates("s")),
    "dates of Arrow": pd.array([DAY, DAY], pd.ArrowDtype(pa.date32())),
    "a generator": (x for x in (1.0, 2.0)),
    "one number": 5.0,
    "one text": "SENTINEL",
    "a set": {1.0, 2.0},
    "nothing": None,
}


@BOTH
@pytest.mark.parametrize("what", NO_NUMBERS)
def test_a_declared_type_that_means_no_number_is_refused(what: str, words: Any) -> None:
    people = ep.People({**TABLE, "x": NO_NUMBERS[what]}, "e", "p", **words)
    with pytest.raises(ColumnError, match='"x"') as refused:
        people.mean("x", (0, 10))
    silent(refused.value, "x", ["SENTINEL"])
    assert not people.account.answered


truths, decimals = pl.Series([True, False]), pl.Series(["1", "2"]).cast(pl.Decimal(9, 0))
SCHEMAS: dict[str, tuple[dict[str, Any], Callable[[ep.People], Any], str]] = {
    "ids of truth": ({"p": truths}, lambda p: p.mean("x", (0, 9)), '"p" holds no ids'),
    "ids of NumPy's truth": ({"p": np.array([True, False])}, lambda p: p.mean("x", (0, 9)), '"p"'),
    "ids of decimals": ({"p": decimals}, lambda p: p.mean("x", (0, 9)), '"p" holds no ids'),
    "ids that are dates": ({"p": dates("D")}, lambda p: p.mean("x", (0, 9)), '"p"'),
    "limits of text": ({"e": pl.Series(["1", "2"])}, lambda p: p.mean("x", (0, 9)), '"e".*menu='),
    "limits of truth": ({"e": truths}, lambda p: p.mean("x", (0, 9)), '"e" holds no numbers'),
    "truth of integers": ({"g": pl.Series([0, 1])}, lambda p: p.shares("g", [True, False]), '"g"'),
    "integers of truth": ({"g": truths}, lambda p: p.shares("g", [0, 1]), '"g" holds True'),
    "text of integers": ({"g": pl.Series([0, 1])}, lambda p: p.shares("g", ["0", "1"]), '"g"'),
    "integers of text": ({"g": pl.Series(["0"] * 2)}, lambda p: p.shares("g", [0, 1]), '"g" holds'),
    "bins of text": ({"g": pl.Series(["0"] * 2)}, lambda p: p.shares("g", ep.Bins(0, 1, 2)), '"g"'),
    "a filter of dates": ({"g": dates("D")}, lambda p: p.mean("x", (0, 9), where={"g": 1}), '"g"'),
    "another name": ({}, lambda p: p.mean("X", (0, 9)), '"X" is no column.*"p", "e", "x", "g"'),
    "groups by no column": ({}, lambda p: p.mean("x", (0, 9), by={"h": ["a"]}), '"h" is no column'),
    "a filter on no column": ({}, lambda p: p.mean("x", (0, 9), where={"h": "a"}), '"h" is no col'),
}


@BOTH
@pytest.mark.parametrize("what", SCHEMAS)
def test_a_schema_that_does_not_fit_is_refused(what: str, words: Any) -> None:
    columns, ask, says = SCHEMAS[what]
    people = ep.People({**TABLE, **columns}, "e", "p", **words)
    with pytest.raises(ColumnError, match=says) as refused:
        ask(people)
    silent(refused.value, "", ["SENTINEL"])
    assert not people.account.answered


def twice(columns: list[Any]) -> pd.DataFrame:
    return pd.DataFrame([[1.0, 3.0, inf]] * 2, columns=columns)


DATA: dict[str, tuple[Any, type[EpsilonsError], str]] = {
    "unequal arrays": ({**TABLE, "x": [1.0]}, ArgumentError, "equally long"),
    "a name twice": (twice(["x", "x", "e"]), ColumnError, '"x" is the name of two columns'),
    "a name that is no text": (twice([0, 1, "e"]), ColumnError, '"x" is no column'),
    "no columns": ({}, ColumnError, '"e" is no column'),
    "a list": ([TABLE], ArgumentError, "data: a frame .* of type list"),
    "a column": (pl.Series([1.0]), ArgumentError, "data: a frame .* of type Series"),
    "nothing": (None, ArgumentError, "data: a frame .* None"),
    "a number": (5, ArgumentError, "data: a frame .* of type int"),
}


@BOTH
@pytest.mark.parametrize("what", DATA)
def test_what_is_no_table_is_refused(what: str, words: Any) -> None:
    data, error, says = DATA[what]
    with pytest.raises(error, match=says) as refused:
        ep.People(data, "e", None, **words).mean("x", (0, 10))
    silent(refused.value, "", ["SENTINEL"])


NAMES = [
    *("^v$", "^.*$", "*", "^v", "v.*", "v", "V", "", " ", 'a"b', "a.b", "a\nb", NFC, NFD),
    *("column 0", "column 1", "person", "limit", "weight", "x0", "fault 0", "part 0", "sum 0"),
    *("cut 0.5", "nine bits", "kept", "rows", "split", "group", "asked", "literal", "len", "top"),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", [pl.DataFrame, dict])
def test_a_name_is_a_name(name: str, form: Any) -> None:
    """Other columns have nearly the same, or are what a pattern would find."""
    others = {each: [9.0, 9.0] for each in ("v", "V", "x", NFC, NFD, f"{name} ") if each != name}
    people = ep.People(form({**others, name: [1.0, 3.0], "id": [1, 2]}), inf, "id")
    assert people.mean(name, (0, 10)).value == pytest.approx(2.0, abs=1e-3)


def test_an_index_is_no_column() -> None:
    frame = pd.DataFrame({"p": [1, 1, 2], "x": [2.0, 4.0, 9.0]}, index=[7, 7, 0])
    assert ep.People(frame, inf, "p").mean("x", (0, 10)).value == pytest.approx(6.0, abs=1e-3)
    with pytest.raises(ColumnError, match='"p" is no column'):
        ep.People(frame.set_index("p"), inf, "p").mean("x", (0, 10))


@pytest.mark.parametrize("form", [pl.DataFrame, pl.LazyFrame, dict, pd.DataFrame])
@pytest.mark.parametrize("size", [0, 1])
def test_nobody_and_one_person(size: int, form: Any) -> None:
    columns: dict[str, list[Any]] = {"p": ["a"], "x": [3.0], "g": ["a"]}
    few = {name: held[:size] for name, held in columns.items()}
    data = few if form is dict else form(columns).head(size)
    asks: list[Callable[[Any], Any]] = [
        lambda people: people.mean("x", (0, 10)),
        lambda people: people.shares("g", ["a", "b"]),
        lambda people: people.mean("x", (0, 10), where={"g": "a"}, missing="exclude"),
    ]
    for ask, person in zip(asks, ("p", None, "p"), strict=True):
        assert ask(ep.People(data, inf, person, **SECRET)).rows
        people = ep.People(data, inf, person)
        if size:
            assert "1 people" not in str(ask(people))
            continue
        with pytest.raises(DataError, match=r"[Nn]obody"):
            ask(people)
        assert not people.account.answered


RIGHT_BOUNDS: list[tuple[Any, Any]] = [
    (-8e307, 8e307),
    (float(BIG), BIG + 2.0**24),
    (0, Decimal(10)),
    (0, np.float32(10)),
    (0, Fraction(1, 3)),
]
"""Far apart, near, and numbers of other types."""

WRONG_BOUNDS: list[tuple[Any, Any]] = [
    *(
        (-1e308, 1e308),
        (0, 1e-300),
        (0, 5e-324),
        (BIG, BIG + 2),
        (1, 1 + 2**-52),
        (0, 10**400),
        (1, 1),
        (2, 1),
    ),
    *((0, inf), (nan, 1), (-0.0, 0.0), (0, "9"), (0, None), (False, True), (0, 1j)),
    (0, np.array([1.0])),
]


@pytest.mark.parametrize("bounds", [*RIGHT_BOUNDS, *WRONG_BOUNDS], ids=lambda x: repr(x)[:24])
def test_bounds_are_right_or_refused(bounds: tuple[Any, Any]) -> None:
    """Of four people, three are at the upper end; beside noise the interval has the truth in it."""
    if not any(bounds is each for each in RIGHT_BOUNDS):
        with pytest.raises(BoundsError, match="bounds"):
            ep.Mean("x", bounds)
        return
    low, high = map(float, bounds)
    release = ep.People({"x": [low, high, high, high]}, inf, None, seed=1).mean("x", bounds)
    truth = Fraction(low) + Fraction(3, 4) * (Fraction(high) - Fraction(low))
    near = (Fraction(high) - Fraction(low)) / 10**3
    assert Fraction(release.low) - near <= truth <= Fraction(release.high) + near


def limits_of(epsilon: Any) -> Any:
    return ep.People(TABLE, epsilon, "p")


def persons_of(person: Any) -> Any:
    return ep.People(TABLE, 1.0, person)


def offers_of(offered: Any) -> Any:
    return ep.People(TABLE, "e", None, secret="participation", offered=offered)


def menu_of(menu: Any) -> Any:
    return ep.People(TABLE, "e", None, menu=menu)


def column_of(column: Any) -> Any:
    return ep.Mean(column, (0, 1))


def labels_of(labels: Any) -> Any:
    return ep.Shares("g", labels)


def filter_of(labels: Any) -> Any:
    return ep.Mean("x", (0, 1), where={"g": labels})


def bins_of(edges: Any) -> Any:
    return ep.Bins(*edges)


def least_of(at_least: Any) -> Any:
    return ep.Mean("x", (0, 1), at_least=at_least)


def other_of(other: Any) -> Any:
    return ep.Shares("g", ["a", "b"], other=other)


TWO: list[Any] = ["a", "b"]
REFUSED: list[tuple[Callable[[Any], Any], type[EpsilonsError], str, dict[str, Any]]] = [
    (limits_of, ArgumentError, "epsilon: ", {"True": True}),
    (limits_of, BudgetError, "epsilon", {"-1": -1, "nan": nan, "-inf": -inf, "10^400": 10**400}),
    (
        limits_of,
        ArgumentError,
        "epsilon: give the name",
        {
            "None": None, "a list": [0.5], "an expression": pl.col("e"), "pandas": pd.Series([1.0]),
            "Polars": pl.Series([1.0]), "a generator": iter([1]),
        },
    ),
    (
        persons_of,
        ArgumentError,
        "person: give the name",
        {"a number": 0, "False": False, "pandas": pd.Series([1]), "names": ["p"]},
    ),
    (
        column_of,
        ArgumentError,
        "column: give the name",
        {"Polars": pl.Series([1]), "an expression": pl.col("x"), "a place": 0, "None": None},
    ),
    (
        offers_of,
        ArgumentError,
        "offered",
        {
            "-1": [-1], "nan": [nan], "2^-21": [2.0**-21], "text": ["1"], "True": [True],
            "a set": {1.0}, "none": [], "0 alone": [0.0],
        },
    ),
    (
        menu_of,
        ArgumentError,
        "menu",
        {
            "nothing": {}, "a list": ["a"], "text": {"a": "1"}, "two types": {"a": 1, 1: 2},
            "-1": {"a": -1}, "nan": {"a": nan}, "a word that is nan": {nan: 1},
            "1 and True": {"a": True}, "a pair": {("a",): 1},
        },
    ),
    (
        labels_of,
        ArgumentError,
        "categories",
        {
            "none": [], "one": ["a"], "None": ["a", None], "nan": [1.0, nan], "a text": "ab",
            "empty": ["", "a"], "twice": ["a", "a"], "1 and 1.0": [1, 1.0], "0s": [0.0, -0.0],
            "1 and True": [1, True], "1 and its text": [1, "1"], "a name": {1: ["a"], 2: "b"},
            "merged twice": {"a": [1, 2], "b": 2}, "a set": set(TWO), "a generator": iter(TWO),
            "pandas": pd.Series(TWO), "nested": [["a"], ["b"]], "half a pair": ["\ud800", "a"],
        },
    ),
    (filter_of, ArgumentError, "where", {"None": None, "none": [], "nan": nan, "a set": set(TWO)}),
    (other_of, ArgumentError, "categories|other", {"a label": "a", "empty": "", "a number": 1}),
    (
        bins_of,
        ArgumentError,
        "Bins",
        {
            "one edge": [1], "none": [], "falling": [2, 1], "twice": [1, 1], "nan": [0, nan],
            "text": TWO, "truth": [False, True], "zeros": [-0.0, 0.0], "huge": [0, 10**400],
        },
    ),
    (
        least_of,
        ArgumentError,
        "at_least",
        {"-1": -1, "nan": nan, "text": "1", "inf": inf, "True": True},
    ),
]  # fmt: skip
ARGUMENTS = [
    pytest.param(call, error, says, x, id=f"{call.__name__} {what}")
    for call, error, says, each in REFUSED
    for what, x in each.items()
]


@pytest.mark.parametrize(("call", "error", "says", "given"), ARGUMENTS)
def test_an_odd_argument_is_refused_in_our_words(
    call: Callable[[Any], Any], error: type[EpsilonsError], says: str, given: Any
) -> None:
    with pytest.raises(error, match=f"^({says})") as refused:
        call(given)
    silent(refused.value, "", ["SENTINEL"])


@pytest.mark.parametrize("epsilon", [0, -0.0, 5e-324, 1e-300, 2.0**-21, 2.0**-20, 2.0**21, 1e299])
def test_one_limit_for_everyone(epsilon: float) -> None:
    """Too little for noise is refused; little says nothing, and much is right."""
    people = ep.People(TABLE, epsilon, "p")
    if epsilon > 1.0:
        assert people.mean("x", (0, 10)).value == pytest.approx(2.0, abs=1e-2)
        return
    if epsilon < 2.0**-22:
        with pytest.raises((DataError, LedgerError), match="Nobody"):
            people.mean("x", (0, 10))
        assert not people.account.answered
        return
    release = people.mean("x", (0, 10)).at(1 - 1e-9)
    assert (release.low, release.high) == (0.0, 10.0)
    assert max(release.spent.values()) <= Fraction(epsilon)


PLAIN = b"x,e\n1,inf\n3,inf\n"
RIGHT: dict[str, bytes] = {
    "plain.csv": PLAIN,
    "upper.CSV": PLAIN,
    "quoted.csv": b'"x","e"\n"1","inf"\n3,inf\n',
    "comma.csv": b'n,x,e\n"a,b",1,inf\n"c""d\n,",3,inf\n',
    "bom.csv": b"\xef\xbb\xbf" + PLAIN,
    "windows.csv": PLAIN.replace(b"\n", b"\r\n"),
    "no last end.csv": PLAIN[:-1],
    "zipped.csv.gz": gzip.compress(PLAIN),
    "a name of another case.csv": b"X, x,x,e\n9,9,1,inf\n9,9,3,inf\n",
    "other names twice.csv": b"y,y,x,e\n9,9,1,inf\n9,9,3,inf\n",
    "zeros.csv": b"n,x,e\n\x00,1,inf\na,3,inf\n",
    "white space.csv": b"n,x,e\n \t,1,inf\n  ,3,inf\n",
}


@BOTH
@pytest.mark.parametrize("name", RIGHT)
def test_a_file_says_what_it_says(name: str, words: Any, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(RIGHT[name])
    release = ep.People(str(tmp_path / name), "e", None, **words).mean("x", (0, 10))
    assert release.value == pytest.approx(2.0, abs=1e-2)


DAMAGED: dict[str, bytes] = {
    "a line that is too short.csv": b"x,e,n\n1,inf,a\n3,inf,b\nSENTINEL\n",
    "a line that is empty.csv": b"x,e\n1,inf\n\n3,inf\n",
    "a line that is too long.csv": b"x,e\n1,inf\n3,inf\n5,,SENTINEL,SENTINEL\n",
    "no letters.csv": b"x,e,n\n1,inf,a\n3,inf,b\n5,,SENTINEL\xff\n",
}


NO_CSV = ("a line that is too long.csv", "no letters.csv")
"""What no line means anything in: it is no table with a schema, and refused whatever is secret."""


@BOTH
@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_line_is_somebodys_and_refuses_nothing_that_is_secret(
    name: str, words: Any, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(DAMAGED[name])
    people = ep.People(str(tmp_path / name), "e", None, **words)
    if words and name not in NO_CSV:
        assert people.mean("x", (0, 10)).value == pytest.approx(2.0, abs=1e-2)
        return
    with pytest.raises((DataError, FileError)) as refused:
        people.mean("x", (0, 10))
    silent(refused.value, "", ["SENTINEL"])
    assert not people.account.answered


NO_FILES: dict[str, tuple[dict[str, bytes], str, str]] = {
    "no file": ({}, "people.csv", "no file 'people.csv'"),
    "an empty folder": ({"t/note.txt": b""}, "t", "'t' is neither Parquet"),
    "no pattern": ({}, "*.parquet", "no file"),
    "another kind": ({"t.xlsx": PLAIN}, "t.xlsx", "'t.xlsx' is neither Parquet"),
    "no Parquet": ({"t.parquet": b"SENTINEL" * 9}, "t.parquet", "cannot be opened"),
    "nothing in it": ({"t.csv": b""}, "t.csv", "cannot be opened"),
    "semicolons": ({"t.csv": b"x;e\n1;2\n"}, "t.csv", '"e" is no column of the data. A file'),
    "a name twice": ({"t.csv": b"x,x,e\n1,2,3\n"}, "t.csv", '"x" is the name of two columns'),
}


@BOTH
@pytest.mark.parametrize("what", NO_FILES)
def test_what_is_no_file_of_people_is_refused(what: str, words: Any, tmp_path: Path) -> None:
    files, path, says = NO_FILES[what]
    for name, held in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(held)
    with pytest.raises((FileError, DataError, ColumnError), match=says) as refused:
        ep.People(str(tmp_path / path), "e", None, **words).mean("x", (0, 10))
    assert "SENTINEL" not in str(refused.value)
    assert refused.value.__context__ is None


FIRST = {"x": [1.0], "e": [inf]}
FOLDERS: dict[str, tuple[dict[str, Any], float | None]] = {
    "the same": ({"x": [3.0], "e": [inf]}, 2.0),
    "another order": ({"e": [inf], "x": [3.0]}, 2.0),
    "another type": ({"x": ["SENTINEL"], "e": [inf]}, None),
    "no such column": ({"e": [inf]}, None),
    "nobody in it": (
        {"x": pl.Series([], dtype=pl.Float64), "e": pl.Series([], dtype=pl.Float64)},
        1.0,
    ),
}


@pytest.mark.parametrize("what", FOLDERS)
def test_files_of_a_folder_are_one_table(what: str, tmp_path: Path) -> None:
    """A folder called `x=7` declares no column."""
    columns, value = FOLDERS[what]
    for name, held in {"x=7/a": FIRST, "x=8/b": columns}.items():
        (tmp_path / name).parent.mkdir()
        pl.DataFrame(held).write_parquet(tmp_path / f"{name}.parquet")
    people = ep.People(str(tmp_path), "e", None)
    if value is not None:
        assert people.mean("x", (0, 10)).value == pytest.approx(value, abs=1e-2)
        return
    with pytest.raises((DataError, FileError)) as refused:
        people.mean("x", (0, 10))
    silent(refused.value, "", ["SENTINEL"])
    assert not people.account.answered


def test_pandas_needs_nothing_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow a frame with text, gaps and categories is read entry by entry."""
    frame = pd.DataFrame(
        {
            "p": pd.Series(["a", "b", "b"], dtype=object),
            "x": pd.array([1, None, 3], "Int64"),
            "g": pd.Categorical(["u", "v", None]),
        }
    )
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    people = ep.People(frame, inf, "p")
    assert people.mean("x", (0, 10), missing="exclude").value == pytest.approx(2.0, abs=1e-2)
    fresh = ep.People(frame, inf, "p").shares("g", ["u", "v"], missing="exclude")
    assert fresh["u"].value == pytest.approx(0.5, abs=1e-3)
