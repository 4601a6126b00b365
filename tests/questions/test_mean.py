"""`ep.mean`: rejections, unusual but valid input, and fresh noise in every release."""

from __future__ import annotations

import math
import multiprocessing
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.draws.noise import Source, source as noise_source
from epsilons.errors import (
    ArgumentError,
    BoundsError,
    BudgetError,
    ColumnError,
    ConflictingBudgetsError,
    DataError,
    EpsilonsError,
    FileError,
    MissingValueError,
)
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests import compared

X = [1.0, 2.0, 3.0, 4.0]
E = [0.1, 0.5, 1.0, 2.0]
FRAME = pl.DataFrame({"x": X, "e": E, "who": ["a", "b", "c", "d"], "word": list("wxyz")})


class Dry(Source):
    """A source that raises an error if it is read. All checks must run before anything is drawn."""

    private = True

    def bytes(self, count: int) -> bytes:
        raise AssertionError("something was drawn")


BAD: dict[str, tuple[type[EpsilonsError], str, dict[str, Any]]] = {
    "empty": (DataError, "empty|nobody|no ", {"values": [], "epsilon": []}),
    "NaN": (MissingValueError, "midpoint", {"values": [1.0, math.nan, 2.0, 3.0]}),
    "missing": (MissingValueError, "midpoint", {"values": [1.0, None, 2.0, 3.0]}),
    "infinite": (MissingValueError, "midpoint", {"values": [1.0, -math.inf, 2.0, 3.0]}),
    "text": (EpsilonsError, "values", {"values": ["a", "b", "c", "d"]}),
    "text column": (ColumnError, "word", {"values": "word", "epsilon": "e", "data": FRAME}),
    "ε negative": (BudgetError, "epsilon", {"epsilon": [0.1, -0.5, 1.0, 2.0]}),
    "one ε negative": (BudgetError, "epsilon", {"epsilon": -1.0}),
    "ε NaN": (BudgetError, "epsilon", {"epsilon": [0.1, math.nan, 1.0, 2.0]}),
    "ε null": (BudgetError, "epsilon", {"epsilon": [0.1, None, 1.0, 2.0]}),
    "ε counts": (ArgumentError, "who", {"epsilon": ep.Budgets({0.1: 4})}),
    "lengths": (ArgumentError, "different lengths", {"epsilon": [0.1, 0.2, 0.3]}),
    "matrix": (ArgumentError, "column", {"values": [[1.0, 2.0], [3.0, 4.0]]}),
    "bounds reversed": (BoundsError, "reversed", {"bounds": (10, 0)}),
    "bounds equal": (BoundsError, "equal", {"bounds": (1, 1)}),
    "bounds infinite": (BoundsError, "finite", {"bounds": (0, math.inf)}),
    "bounds NaN": (BoundsError, "finite", {"bounds": (0, math.nan)}),
    "bounds one number": (BoundsError, "two numbers", {"bounds": 10}),
    "bounds text": (BoundsError, "two numbers", {"bounds": "ab"}),
    "bounds too narrow": (BoundsError, "narrow", {"bounds": (0, 5e-324)}),
    "bounds too wide": (BoundsError, "wide", {"bounds": (-1.7e308, 1.7e308)}),
    "bounds None, few people": (BudgetError, "About 73 people", {"bounds": None}),
    "unknown column": (ColumnError, "xx", {"values": "xx", "epsilon": "e", "data": FRAME}),
    "unknown ε column": (ColumnError, "ee", {"values": "x", "epsilon": "ee", "data": FRAME}),
    "unknown person": (
        ColumnError,
        "whom",
        {"values": "x", "epsilon": "e", "person": "whom", "data": FRAME},
    ),
    "unknown method": (ArgumentError, "optimal", {"method": "optimum"}),
    "unknown about": (ArgumentError, "population", {"about": "populace"}),
    "unknown related": (ArgumentError, "a number between 0 and 1", {"related": "no"}),
    "related to all": (ArgumentError, "Write related=True", {"related": 1}),
    "unknown loss": (ArgumentError, "mse", {"loss": "mae"}),
    "unknown neighbours": (ArgumentError, "replace", {"neighbours": "swap"}),
    "unknown missing": (ArgumentError, "midpoint", {"missing": "drop"}),
    "confidence 0": (ArgumentError, "confidence", {"confidence": 0.0}),
    "confidence 1": (ArgumentError, "confidence", {"confidence": 1.0}),
    "confidence NaN": (ArgumentError, "confidence", {"confidence": math.nan}),
    "confidence text": (ArgumentError, "confidence", {"confidence": "high"}),
    "two budgets": (ConflictingBudgetsError, "person", {"person": ["a", "a", "b", "c"]}),
    "all at zero": (BudgetError, "0", {"epsilon": [0.0] * 4}),
    "one person": (DataError, "two", {"values": [1.0], "epsilon": [1.0]}),
    "one person, many rows": (DataError, "two", {"epsilon": 1.0, "person": ["a"] * 4}),
    "column without data": (ArgumentError, "data", {"values": "x"}),
    "no such file": (
        FileError,
        "no/such",
        {"values": "x", "epsilon": "e", "data": "no/such.parquet"},
    ),
    "unknown kind of file": (FileError, "parquet", {"values": "x", "epsilon": "e", "data": "a.z"}),
    "not a source": (ArgumentError, "source", {"source": 42}),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_anything_is_drawn(case: str) -> None:
    kind, words, changes = BAD[case]
    arguments: dict[str, Any] = {"values": X, "epsilon": E, "bounds": (0, 10), "source": Dry()}
    arguments |= changes
    with pytest.raises(kind, match=words) as caught:
        ep.mean(arguments.pop("values"), **arguments)
    assert isinstance(caught.value, (ArgumentError, DataError, FileError))
    assert isinstance(caught.value, ValueError)


def test_bounds_must_be_written_out() -> None:
    with pytest.raises(BoundsError, match="bounds is not given"):
        ep.mean(X, epsilon=E, source=Dry())


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x00\xff secret 12345 \x00" * 50)
    with pytest.raises(EpsilonsError) as caught:
        ep.mean("x", epsilon="e", bounds=(0, 1), data=path, source=Dry())
    assert "12345" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_no_message_shows_a_value() -> None:
    values = [123456.789, math.nan, 2.0, 3.0]
    with pytest.raises(MissingValueError) as caught:
        ep.mean(values, epsilon=E, bounds=(0, 10), source=Dry())
    assert "123456" not in str(caught.value)


ORDINARY: dict[str, Any] = {
    "some at zero": [0.0, 0.5, 1.0, 2.0],
    "some public": [0.1, 0.5, math.inf, math.inf],
    "all public": [math.inf] * 4,
    "one for all": 0.5,
    "one for all, public": math.inf,
    "whole numbers": [1, 2, 3, 4],
    "zero and public": [0.0, 0.0, math.inf, math.inf],
}


def test_public_records_give_their_exact_mean() -> None:
    release = ep.mean(X, epsilon=math.inf, bounds=(0, 10), about="people", related=False)
    assert release.value == pytest.approx(2.5, abs=1e-8)
    assert release.interval() == pytest.approx((2.5, 2.5), abs=1e-7)
    left_out = ep.mean(X, epsilon=[0.0, 0.0, math.inf, math.inf], bounds=(0, 10))
    assert left_out.value == pytest.approx(3.5, abs=1e-8)


@pytest.mark.parametrize("method", ["auto", "sampling", "minimax"])
def test_two_releases_of_the_same_data_differ(method: str) -> None:
    first, second = (compared.mean(X, epsilon=E, bounds=(0, 10), method=method) for _ in range(2))
    assert first.raw != second.raw
    assert first.private
    assert second.private


def test_a_seeded_release_repeats_itself_and_says_that_it_is_not_private() -> None:
    first, second = (ep.mean(X, epsilon=E, bounds=(0, 10), source=ep.Seeded(3)) for _ in range(2))
    assert first.raw == second.raw
    assert not first.private
    assert "NOT PRIVATE" in str(first)
    assert "NOT PRIVATE" in first._repr_html_()
    assert first.to_dict()["private"] is False


def _raw(queue: Any) -> None:
    queue.put(ep.mean(X, epsilon=E, bounds=(0, 10)).raw)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_two_processes_forked_after_import_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_source, "os", os)  # the system's own entropy, not that of tests
    ep.mean(X, epsilon=E, bounds=(0, 10))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_raw, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    drawn = [queue.get(timeout=30) for _ in children]
    for child in children:
        child.join()
    assert drawn[0] != drawn[1]


def test_values_are_clipped_to_the_bounds() -> None:
    inside = ep.mean([0.0, 0.0, 1.0, 1.0], epsilon=math.inf, bounds=(0, 1))
    outside = ep.mean([-1e300, -5.0, 7.0, 1e300], epsilon=math.inf, bounds=(0, 1))
    assert inside.value == outside.value == 0.5


def test_missing_values_may_count_as_the_middle() -> None:
    release = ep.mean(
        [0.0, math.nan, None, math.inf], epsilon=math.inf, bounds=(0, 8), missing="midpoint"
    )
    assert release.value == pytest.approx(3.0, abs=1e-7)


def test_a_person_with_many_rows_counts_once() -> None:
    rows = {"who": ["a"] * 1000 + ["b"], "x": [0.0] * 1000 + [1.0]}
    release = ep.mean("x", epsilon=math.inf, bounds=(0, 1), data=pl.DataFrame(rows), person="who")
    assert release.n == 2
    assert release.value == 0.5


@settings(deadline=None, max_examples=40)
@given(st.permutations(range(8)), st.floats(-50, 50), st.floats(0.01, 100))
def test_order_shift_and_scale_change_nothing_but_the_units(
    order: list[int], shift: float, scale: float
) -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    epsilon = np.array([0.1, 0.1, 0.5, 0.5, 1.0, 2.0, 2.0, math.inf])
    unit = ep.mean(values, epsilon=epsilon, bounds=(0, 8), source=ep.Seeded(1))
    moved = ep.mean(
        shift + scale * values[order],
        epsilon=epsilon[order],
        bounds=(shift, shift + 8 * scale),
        source=ep.Seeded(1),
    )
    assert moved.raw == pytest.approx(shift + scale * unit.raw, rel=1e-6, abs=1e-6 * scale)
    assert moved.risk == pytest.approx(scale**2 * unit.risk, rel=1e-9)


def test_very_many_budgets_cost_under_half_a_percent() -> None:
    rng = np.random.default_rng(0)
    for low, high in ((-5.0, 5.0), (math.log(0.1), 0.0), (-0.01, 0.01)):
        epsilon = np.exp(rng.uniform(low, high, 50_000))
        for words in map(asdict, (SAMPLE, UNRELATED, RELATED, Assumption("people", 0.05))):
            release = ep.mean(np.zeros(50_000), epsilon=epsilon, bounds=(0, 1), **words)
            assert release.risk <= 1.005 * ep.allocate(epsilon, **words).risk


@pytest.mark.parametrize("make", [list, tuple, np.array, pl.Series])
def test_any_kind_of_array_will_do(make: Callable[[Any], Any]) -> None:
    release = ep.mean(make(X), epsilon=make(E), bounds=(0, 10), source=ep.Seeded(1))
    assert release.raw == ep.mean(X, epsilon=E, bounds=(0, 10), source=ep.Seeded(1)).raw
