"""Weights at the door: the same integers on every engine as with dictionaries and fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons import door
from epsilons.door import rows as rows_module
from epsilons.door.count.weights import MOST_UNITS, Heads
from epsilons.door.engines import count_engine, expressions
from epsilons.errors import DataError, EpsilonsError, PrivacyError
from tests.door.conftest import BACKENDS, STEPS, grid, nine_bits, on_engine

EPSILON = [0.1, 0.5, 2.0, math.inf, 0.0]
BOUNDS = (0.0, 100.0)
LABELS = ("a", "b", "c")
ENGINES = [*(name for name in BACKENDS if name != "numpy"), "dask", "ibis"]
Found = list[tuple[float, int, int, int, list[int]]]  # level, people, most units, units, cells


def table(weights: list[float], rows_each: int = 1) -> pl.DataFrame:
    """Return rows of people with these weights, each with one budget and some rows."""
    chance = np.random.default_rng(len(weights))
    who = np.repeat(np.arange(len(weights)), rows_each)
    budget = np.array([EPSILON[each % 5] for each in range(len(weights))])
    return pl.DataFrame(
        {
            "x": chance.uniform(-10.0, 110.0, who.size),
            "e": budget[who],
            "w": np.array(weights)[who],
            "who": [f"p{each}" for each in who],
            "kind": [LABELS[each] for each in chance.integers(0, 3, who.size)],
            "place": [LABELS[each % 3] for each in who],
            "asked": [bool(each) for each in chance.integers(0, 2, who.size)],
        }
    )


def units_of(weights: list[float]) -> list[int]:
    """Return units as the proof defines them, in rational numbers."""
    if len(set(weights)) == 1:
        return [1] * len(weights)
    unit = Fraction(1)
    whole = all(float(each).is_integer() for each in weights) and sum(weights) <= 2**32
    if not whole:
        bits = 32 - (len(weights) - 1).bit_length()
        unit = Fraction(2) ** (math.frexp(max(weights))[1] - bits)
    return [max(1, math.floor(Fraction(each) / unit + Fraction(1, 2))) for each in weights]


def budget_of(epsilon: float, units: int) -> float:
    if units == 1 or math.isinf(epsilon):
        return epsilon
    return epsilon / units * (1.0 - 2.0**-52)


def by_hand(rows: pl.DataFrame, weights: list[float], *, person: bool, cells: str) -> Found:
    """Count with dictionaries: two cells of numbers, or one for each label."""
    units, own = units_of(weights), list(rows.iter_rows(named=True))
    found: dict[float, Any] = {}
    size = len(own) // len(weights) if person else 1
    for at in range(0, len(own), size):
        mine, d = own[at : at + size], units[at // size]
        level = budget_of(mine[0]["e"], d)
        key = nine_bits(level)
        if cells == "kind":
            part = [0, 0, 0]
            for row in mine:
                part[LABELS.index(row["kind"])] += 720720 // size if person else 1
        else:
            steps = [grid(row["x"], BOUNDS) for row in mine]
            mean = (2 * sum(steps) + size) // (2 * size)
            part = [mean, STEPS - mean]
        least, people, most, count, sums = found.get(key, (math.inf, 0, 0, 0, [0] * len(part)))
        sums = [a + d * b for a, b in zip(sums, part, strict=True)]
        found[key] = (min(least, level), people + 1, max(most, d), count + d, sums)
    return sorted(found.values())


def as_found(tally: door.Tally) -> Found:
    assert tally.heads is not None
    own = (tally.levels, tally.by_level, tally.heads.most, tally.counts, tally.cells)
    return [tuple(each) for each in zip(*(part.tolist() for part in own), strict=True)]  # type: ignore[misc]


def counted(data: Any, *, person: bool, cells: str, where: Any = None) -> door.Tally:
    given = {"epsilon": "e", "data": data, "person": "who" if person else None}
    if cells == "kind":
        declared = door.declare(LABELS, None, None)
        rows = door.open("kind", **given, categories=declared, weights=door.Weights("w"))
        return rows.count(door.Ask("cells"))
    rows = door.open("x", **given, where=where, weights=door.Weights("w"))
    return rows.count(door.Ask("numbers", BOUNDS))


INTEGERS = [float(each % 7 + 1) for each in range(60)]
FRACTIONS = [0.3 + each / 7.0 for each in range(60)]
EQUAL = [0.37] * 60
LARGE = [2.0**31, *(float(3 * each + 1) for each in range(59)), 2.0**32]


@pytest.mark.parametrize(
    "weights", [INTEGERS, FRACTIONS, EQUAL, LARGE], ids=["integers", "fractions", "equal", "large"]
)
@pytest.mark.parametrize("person", [False, True])
@pytest.mark.parametrize("cells", ["x", "kind"])
def test_arrays_give_the_integers_of_dictionaries(
    weights: list[float], person: bool, cells: str
) -> None:
    rows = table(weights, 3 if person else 1)
    arrays = {name: rows[name].to_numpy() for name in ("x", "e", "w")}
    who = rows["who"].to_list() if person else None
    given = {"epsilon": arrays["e"], "person": who, "weights": door.Weights(arrays["w"])}
    if cells == "kind":
        declared = door.declare(LABELS, None, None)
        tally = door.open(rows["kind"].to_list(), **given, categories=declared).count(
            door.Ask("cells")
        )
    else:
        tally = door.open(arrays["x"], **given).count(door.Ask("numbers", BOUNDS))
    assert as_found(tally) == by_hand(rows, weights, person=person, cells=cells)


@given(st.lists(st.floats(1e-25, 1e25) | st.integers(1, 9), min_size=2, max_size=40))
@settings(max_examples=300, deadline=None)
def test_units_are_those_of_the_proof(weights: list[float]) -> None:
    own = door.Weights(weights)
    numbers = np.array(weights, dtype=np.float64)
    units = own.units(numbers, None, "weights")
    assert units.tolist() == units_of(numbers.tolist())
    assert int(units.sum()) <= MOST_UNITS
    again = door.Weights(weights).units(
        np.repeat(numbers, 3), np.repeat(np.arange(len(units)), 3), "w"
    )
    assert again.tolist() == np.repeat(units, 3).tolist()


@given(st.lists(st.floats(1e-3, 1e9) | st.integers(1, 9), min_size=2, max_size=40))
@settings(max_examples=300, deadline=None)
def test_the_rounding_of_weights_is_bounded(weights: list[float]) -> None:
    own, numbers = door.Weights(weights), np.array(weights, dtype=np.float64)
    units = own.units(numbers, None, "weights")
    off = 0.5 * float(np.abs(units / units.sum() - numbers / numbers.sum()).sum())
    if own.rounding is None:
        assert off <= 1e-12
        return
    bound = own.rounding.apart(int(units.sum()))
    assert off <= bound * (1.0 + 1e-6) <= 2.0 * off + 1e-4
    half = len(weights) // 2
    groups = own.rounding.of_groups(
        np.array([units[:half].sum(), units[half:].sum()]), np.array([half, len(weights) - half])
    )
    for some, far in zip((slice(0, half), slice(half, None)), groups.tolist(), strict=True):
        shares = units[some] / units[some].sum(), numbers[some] / numbers[some].sum()
        assert 0.5 * float(np.abs(shares[0] - shares[1]).sum()) <= far * (1.0 + 1e-9)


BAD: dict[str, Any] = {
    "missing": None,
    "not a number": math.nan,
    "zero": 0.0,
    "negative": -1.0,
    "infinite": math.inf,
}


def test_weights_of_other_types_are_refused() -> None:
    rows = table(INTEGERS)
    given: dict[str, Any] = {"epsilon": rows["e"], "bounds": BOUNDS}
    with pytest.raises(EpsilonsError, match="weights must be"):
        ep.mean(rows["x"], weights=["heavy"] * 60, **given)
    with pytest.raises(EpsilonsError, match=r"weights and|and weights have different lengths"):
        ep.mean(rows["x"], weights=INTEGERS[:-1], **given)
    with pytest.raises(EpsilonsError, match=r"weights='who' must be a column of numbers"):
        ep.mean("x", epsilon="e", bounds=BOUNDS, data=rows, weights="who")
    with pytest.raises(EpsilonsError, match=r"weights='nobody' is not a column"):
        ep.mean("x", epsilon="e", bounds=BOUNDS, data=rows, weights="nobody")
    with pytest.raises(DataError, match="extreme"):
        ep.mean([1.0, 2.0], epsilon=1.0, bounds=BOUNDS, weights=[1e-200, 1.0])


def test_people_are_counted_and_not_their_units() -> None:
    with pytest.raises(DataError, match="only one person"):
        ep.mean([5.0], epsilon=1.0, bounds=BOUNDS, weights=[7.0])
    with pytest.raises(DataError, match="only one person"):
        ep.mean([5.0, 6.0], epsilon=1.0, bounds=BOUNDS, weights=[7.0, 7.0], person=["a", "a"])
    found = ep.mean([5.0, 6.0, 9.0], epsilon=1.0, bounds=BOUNDS, weights=[7.0, 1.0, 2.0])
    assert found.n == 3
    assert sum(row.people or 0 for row in found.spent) == 3
    alone = ep.mean(
        [5.0, 6.0, 9.0],
        epsilon=1.0,
        bounds=BOUNDS,
        weights=[7.0, 1.0, 2.0],
        by=["a", "a", "b"],
        groups=["a", "b"],
        groups_are="public",
    )
    # Nothing is drawn for a group of one person, whatever their weight.
    assert alone.mechanism.parts[1] is None
    assert alone.mechanism.parts[0] is not None


def test_how_many_rows_somebody_has_changes_no_unit() -> None:
    """The unit of weights does not depend on the number of rows of a person.

    If it did, a person with many rows would make everyone's weights coarser.
    """
    few, many = table(FRACTIONS, 1), table(FRACTIONS, 1)
    many = pl.concat([many, *[many[:1]] * 5000])
    for rows in (few, many):
        weights = door.Weights("w")
        door.open("x", epsilon="e", data=rows, person="who", weights=weights)
        arrays = door.Weights(rows["w"].to_list())
        who = rows["who"].to_list()
        door.open(rows["x"].to_list(), epsilon=rows["e"].to_list(), person=who, weights=arrays)
        assert weights.unit == arrays.unit == 2.0**-22


def test_counts_that_no_people_with_weights_can_have_are_refused() -> None:
    from dataclasses import replace

    from epsilons.door.count.tallies import sound

    rows = table(INTEGERS)
    good = counted(rows, person=False, cells="x")
    heads = good.heads
    assert heads is not None
    sound(good)
    for wrong in (
        Heads(heads.number + 100, heads.fewest, heads.most),
        Heads(heads.number - 1, heads.fewest, heads.fewest),
        Heads(heads.number, heads.fewest - heads.fewest, heads.most),
    ):
        with pytest.raises(PrivacyError, match="units of weight"):
            sound(replace(good, heads=wrong))


# If there are few pairs of budget and weight, rows are grouped by pair. Otherwise, each row is
# multiplied by its units. Both must give the same integers, whatever the rows are.

HARD_BUDGETS = [0.0, -0.0, 5e-324, 1e-300, 2.0**-60, 0.1, 1 / 3, 2.0, 2.0**20, 1e300, math.inf]
HARD_WEIGHTS = {
    "integers": [1.0, 2.0, 3.0, 7.0, 2.0**20],
    "fractions": [1 / 3, 0.1, 0.30000000000000004, 2.0**-30, 5.5, math.nextafter(5.5, 6.0)],
    "large": [1.0, 2.0**31, 2.0**30 + 1.0],
    "extreme": [1e-30, 1e30],
    "equal": [0.37],
}
HARD_VALUES = [None, math.nan, math.inf, -math.inf, -0.0, 1e308, 5e-324, 0.0, 50.0, 100.0, 33.3]


def hard_rows(weights: list[float], seed: int = 0, size: int = 300) -> pl.DataFrame:
    """Return rows with budgets, weights and values that engines may treat differently."""
    chance = np.random.default_rng(seed)

    def drawn(among: list[Any]) -> list[Any]:
        return [among[each] for each in chance.integers(0, len(among), size)]

    heavy = drawn(weights[:1]) if max(weights) >= 2.0**30 else drawn(weights)
    heavy[: len(weights)] = weights  # the sum of whole weights stays below 2^32
    return pl.DataFrame(
        {
            "x": pl.Series(drawn(HARD_VALUES), dtype=pl.Float64),
            "e": drawn(HARD_BUDGETS),
            "w": heavy,
            "kind": drawn([*LABELS, "other", None, ""]),
            "asked": drawn([True, False]),
        }
    )


def everything(tally: door.Tally) -> list[Any]:
    """Return all facts of a tally of people with weights."""
    assert tally.heads is not None
    own = (tally.levels, tally.counts, tally.cells, *tally.heads)
    return [*(each.tolist() for each in own), tally.weight, tally.people]


def both_ways(
    ask: ep.Mean | ep.Frequencies, data: Any, monkeypatch: pytest.MonkeyPatch, epsilon: Any = "e"
) -> tuple[list[Any], list[Any]]:
    """Return the facts when rows are grouped by pair, and when each row is multiplied."""
    found = []
    for few in (True, False):
        monkeypatch.setattr(count_engine, "few_budgets", lambda _, few=few: few)
        call = ask.call(epsilon=epsilon, data=data, weights="w")
        wanted = ask.asks(call)
        assert wanted is not None
        found.append(everything(ask.open(call).count(wanted)))
    monkeypatch.undo()
    return found[0], found[1]


ASKED: dict[str, Any] = {
    "mean": ep.Mean("x", bounds=BOUNDS, missing="midpoint"),
    "sums": ep.Mean("x", bounds=BOUNDS, missing="midpoint", method="staircase"),
    "some": ep.Mean("x", bounds=BOUNDS, missing="exclude", where="asked"),
    "groups": ep.Mean("x", bounds=BOUNDS, missing="exclude", by="kind", groups=["a", "b"]),
    "shares": ep.Frequencies("kind", categories=LABELS, other="rest"),
}


@pytest.mark.parametrize("name", ["polars", "duckdb"])
@pytest.mark.parametrize("bad", [math.nan, -1.0, None])
def test_pairs_refuse_the_budgets_that_rows_refuse(
    name: str,
    bad: float | None,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = hard_rows(HARD_WEIGHTS["fractions"])
    spoiled = pl.Series("e", [bad, *rows["e"].to_list()[1:]], dtype=pl.Float64)
    data = on_engine(name, rows.with_columns(spoiled), tmp_path, request)
    said = []
    for few in (True, False):
        monkeypatch.setattr(count_engine, "few_budgets", lambda _, few=few: few)
        with pytest.raises(EpsilonsError) as refused:
            ep.mean("x", epsilon="e", bounds=BOUNDS, missing="midpoint", data=data, weights="w")
        said.append(str(refused.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("name", ["polars", "duckdb"])
def test_many_pairs_after_few_are_counted_row_by_row(
    name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first rows decide which way of counting is tried, but never change the integers."""
    chance = np.random.default_rng(3)
    rows = pl.concat(
        [
            hard_rows([1.5, 2.5], size=5000),
            hard_rows([0.3], size=200).with_columns(pl.Series("w", chance.uniform(0.3, 4.0, 200))),
        ]
    )
    data, ask = on_engine(name, rows, tmp_path, request), ASKED["mean"]
    expected = both_ways(ask, data, monkeypatch)[1]
    for most in (2**18, 100):
        monkeypatch.setattr(count_engine, "MOST_AT_HAND", most)
        monkeypatch.setattr(expressions, "MOST_AT_HAND", most)
        call = ask.call(epsilon="e", data=data, weights="w")
        assert everything(ask.open(call).count(ask.asks(call))) == expected


def test_large_arrays_give_the_integers_of_small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = hard_rows(HARD_WEIGHTS["fractions"])
    given: dict[str, Any] = {"epsilon": rows["e"].to_numpy(), "weights": rows["w"].to_numpy()}
    numbers = ep.Mean(rows["x"].to_numpy(), bounds=BOUNDS, missing="midpoint")
    shares = ep.Frequencies(rows["kind"], categories=LABELS, other="rest")
    who = [f"p{each % 40}" for each in range(300)]
    same = {"epsilon": np.full(300, 0.5), "weights": np.arange(300) % 40 + 0.5, "person": who}
    for ask in (numbers, shares):
        for more in (given, same):
            found = []
            for small in (10**5, 10):
                monkeypatch.setattr(rows_module, "SMALL", small)
                call = ask.call(**more)
                opened = ask.open(call)
                found.append(everything(opened.count(ask.asks(call))))  # type: ignore[arg-type]
            assert found[0] == found[1]
    with pytest.raises(EpsilonsError, match="different lengths"):
        ep.mean(rows["x"], epsilon=0.5, bounds=BOUNDS, weights=[1.0] * 299)
    with pytest.raises(DataError, match=r"^weights has entries that are missing"):
        ep.mean(rows["w"], epsilon=0.5, bounds=BOUNDS, weights=[math.nan] * 300)
