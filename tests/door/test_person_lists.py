"""Ids of people in lists, arrays and series are compared exactly as given."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import epsilons.door.rows
from epsilons.budgets.levels import Ladder
from epsilons.door import open as open_rows
from epsilons.door.given.column import people as identified
from epsilons.errors import ColumnError, DataError
from tests.door.asking import cells_of, folded, grid_of_each, sums_of

LADDER = Ladder.declare(np.array([0.5, 1.0]))
LARGE = 2**53
CLOSE = [LARGE, LARGE + 1, 5, LARGE + 1]
HUGE = [2**63 + 1, 2**63 + 2, 5, 2**63 + 2]
WIDE = [2**70, 2**70 + 1, 5, 2**70 + 1]

FORMS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "objects": lambda ids: np.array(ids, dtype=object),
    "pandas objects": lambda ids: pd.Series(ids, dtype=object),
}
TYPED: dict[str, Callable[[list[Any]], Any]] = {
    "pandas Int64": lambda ids: pd.Series(ids, dtype="Int64"),
    "pandas on arrow": lambda ids: pd.Series(ids, dtype="int64[pyarrow]"),
    "array of pandas": lambda ids: pd.array(ids, dtype="Int64"),
    "unsigned array of pandas": lambda ids: pd.array(ids, dtype="UInt64"),
    "array of pandas on arrow": lambda ids: pd.array(ids, dtype="int64[pyarrow]"),
    "index of pandas": lambda ids: pd.Index(ids, dtype="Int64"),
    "categories of pandas": lambda ids: pd.Categorical(ids, categories=[*dict.fromkeys(ids[:3])]),
    "decimals of pandas": lambda ids: pd.array(
        [None if i is None else Decimal(i) for i in ids], dtype=pd.ArrowDtype(pa.decimal128(20))
    ),
    "polars": lambda ids: pl.Series(ids, dtype=pl.Int64),
    "polars, 128 bits": lambda ids: pl.Series(ids, dtype=pl.Int128),
    "arrow": lambda ids: pa.array(ids, pa.int64()),
    "arrow decimals": lambda ids: pa.array([None if i is None else Decimal(i) for i in ids]),
    "arrow dictionary": lambda ids: pa.array(ids, pa.int64()).dictionary_encode(),
    "arrow chunks": lambda ids: pa.chunked_array([ids[:2], ids[2:]], pa.int64()),
    "masked": lambda ids: np.ma.masked_array(
        [0 if i is None else i for i in ids], mask=[i is None for i in ids]
    ),
}


class Text(str):
    """A subclass of `str`."""

    __slots__ = ()


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "ids",
    [CLOSE, HUGE, WIDE, [float(LARGE), LARGE + 1, "5", LARGE + 1]],
    ids=["2⁵³", "2⁶³", "2⁷⁰", "mixed"],
)
def test_integers_do_not_meet_in_a_float(
    ids: list[Any], form: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr(epsilons.door.rows, "SMALL", 0)
    who = FORMS[form](ids)
    values, bounds = [0.0, 1.0, 1.0, 0.0], (0.0, 1.0)
    counted = sums_of(values, epsilon=1.0, bounds=bounds, person=who)
    assert counted.counts.tolist() == [3]
    assert counted.sums.tolist() == [2**30 + 2**29]
    assert grid_of_each(values, epsilon=1.0, bounds=bounds, person=who)[0].counts.tolist() == [3]
    cells = cells_of([*"abba"], epsilon=1.0, categories=["a", "b"], person=who)
    assert cells.counts.tolist() == [3]
    assert (cells.cells * 2 // cells.unit).tolist() == [[3, 3]]
    rows = open_rows(values, epsilon=1.0, person=who)
    assert rows.line().counts.tolist() == [3]
    assert len(folded(values, 1.0, who).values) == 3


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("form", [*FORMS, *TYPED])
def test_a_gap_makes_no_floats_of_the_others(
    form: str, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A null does not convert the other ids to floats.

    As floats, two of them would be one person.
    """
    if large:
        monkeypatch.setattr(epsilons.door.rows, "SMALL", 0)
    who = {**FORMS, **TYPED}[form]([LARGE, LARGE + 1, 5, None])
    values, budgets, bounds = [0.0, 1.0, 1.0, 1.0], [0.5, 1.0, 1.0, 1.0], (0.0, 1.0)
    counted = sums_of(values, epsilon=budgets, bounds=bounds, person=who, ladder=LADDER)
    assert counted.counts.tolist() == [1, 2]
    assert counted.sums.tolist() == [0, 2**31]
    categories = ["a", "b"]
    cells = cells_of([*"abbb"], epsilon=budgets, categories=categories, person=who, ladder=LADDER)
    assert cells.counts.tolist() == [1, 2]
    with pytest.raises(DataError, match="without a person"):
        sums_of(values, epsilon=budgets, bounds=bounds, person=who)


@pytest.mark.parametrize(
    "times",
    [
        pa.array([1, 2, None], pa.int64()).cast(pa.time64("ns")),
        pa.array([1, 2, None], pa.int64()).cast(pa.timestamp("ns", tz="UTC")),
        pl.Series([1, 2, None], dtype=pl.Int64).cast(pl.Time),
        pl.Series([1, 2, None], dtype=pl.Int64).cast(pl.Duration("ns")),
        pd.array([1, 2, None], dtype="int64[pyarrow]").astype(pd.ArrowDtype(pa.time64("ns"))),
        pd.array([1, 2, None], dtype="int64[pyarrow]").astype(pd.ArrowDtype(pa.duration("ns"))),
        pd.Series([1, 2, None], dtype="datetime64[ns, UTC]"),
    ],
    ids=lambda times: str(getattr(times, "dtype", getattr(times, "type", None))),
)
def test_ids_of_times_keep_their_nanoseconds(times: Any) -> None:
    who, nobody = identified(times, "person", lenient=True)
    assert len(set(who[~nobody].tolist())) == 2
    assert nobody.tolist() == [False, False, True]


@pytest.mark.parametrize(
    "frame",
    [
        lambda ids: pl.DataFrame({"who": pl.Series(ids, dtype=pl.Int64)}),
        lambda ids: pa.table({"who": pa.array(ids, pa.int64())}),
        lambda ids: pd.DataFrame({"who": pd.Series(ids, dtype="Int64")}),
        lambda ids: pd.DataFrame({"who": pd.Series(ids, dtype=object)}),
    ],
    ids=["polars", "arrow", "pandas", "pandas objects"],
)
def test_frames_in_memory_keep_ids_apart(frame: Any) -> None:
    ids = [LARGE, LARGE + 1, 5]
    data = frame([*ids, None])
    given = np.arange(4.0)
    data = (
        data.append_column("v", pa.array(given))
        if isinstance(data, pa.Table)
        else data.with_columns(v=given)
        if isinstance(data, pl.DataFrame)
        else data.assign(v=given)
    )
    with pytest.raises(DataError, match="without a person"):
        sums_of("v", epsilon=1.0, bounds=(0.0, 3.0), data=data, person="who")


ONE: dict[str, list[Any]] = {
    "numbers": [
        1,
        1.0,
        True,
        np.int64(1),
        np.float32(1),
        Decimal(1),
        Fraction(1),
        np.longdouble(1),
    ],
    "text": ["a", Text("a"), np.str_("a")],
    "numbers and their text": [17, "17", 17.0, np.str_("17"), Decimal(17)],
    "large numbers and their text": [2**70, str(2**70)],
    "bytes": [b"a", np.bytes_(b"a")],
    "days": [np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00", "ns")],
    "months": [np.datetime64("1967-03"), np.datetime64("1967-03-01", "s")],
    "years": [np.datetime64("1571"), np.datetime64("1571-01-01")],
    "spans": [np.timedelta64(48, "h"), np.timedelta64(2, "D")],
    "terms": [np.timedelta64(2, "Y"), np.timedelta64(24, "M")],
    "pairs": [(1, "a"), (np.int64(1), Text("a"))],
    "nobody": [
        None,
        float("nan"),
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        Decimal("NaN"),
    ],
}
DIFFERENT: dict[str, list[Any]] = {
    "text and numbers": ["01", 1, b"1", (1,), "+1", "1.0", " 1", "1 ", "\u0661", "-1"],
    "zeros": ["-0", 0, "00", "+0", "0.0"],
    "NumPy's numbers": [np.int64(LARGE + 1), float(LARGE), np.uint64(LARGE + 2)],
    "longer floats": [np.longdouble(LARGE) + 1, LARGE, np.longdouble(LARGE) * 2 + 2],
    "in pairs": [(np.int64(LARGE + 1),), (float(LARGE),)],
    "days": [np.datetime64("2020-01-01"), np.datetime64("2020-01-01T00:00:00.000000001")],
    "days and spans": [np.datetime64(1, "D"), np.timedelta64(1, "D"), 1, datetime.date(1970, 1, 2)],
    "forms of one letter": ["é", "e\u0301", "E"],
    "half a pair": ["\ud800", "\udc00", "?", "\ufffd"],
    "blanks": ["", " ", "\0", "a", "a\0", "a "],
}


@pytest.mark.parametrize("ids", ONE.values(), ids=ONE)
def test_equal_ids_are_one_person(ids: list[Any]) -> None:
    who, nobody = identified(ids, "person", lenient=False)
    assert len(set(who.tolist())) == 1
    assert nobody.tolist() == [ids[0] is None] * len(ids)


@pytest.mark.parametrize("ids", DIFFERENT.values(), ids=DIFFERENT)
def test_different_ids_are_different_people(ids: list[Any]) -> None:
    who, nobody = identified(ids, "person", lenient=False)
    assert len(set(who.tolist())) == len(ids)
    assert not nobody.any()


def test_arrays_of_long_floats_stay_apart() -> None:
    who, nobody = identified(np.longdouble(LARGE) + np.array([0, 1, 1, np.nan]), "p", lenient=False)
    assert who[0] != who[1] == who[2]
    assert nobody.tolist() == [False, False, False, True]


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("odd", [[1], {}, np.array([1]), ([1],)], ids=repr)
def test_what_cannot_be_compared_is_nobody(
    odd: Any, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if large:
        monkeypatch.setattr(epsilons.door.rows, "SMALL", 0)
    who, values, bounds = ["a", "b", "c", odd], [1.0] * 4, (0.0, 1.0)
    counted = sums_of(values, epsilon=1.0, bounds=bounds, person=who, ladder=LADDER)
    assert counted.counts.tolist() == [3]
    with pytest.raises(ColumnError, match="cannot be compared"):
        sums_of(values, epsilon=1.0, bounds=bounds, person=who)
