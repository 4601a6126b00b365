"""The mean with an unknown range, end to end: every input, every engine, every loss."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons import door
from epsilons.budgets.allocation.split import best_split
from epsilons.door.count import line
from epsilons.errors import ArgumentError, BudgetError, MissingValueError
from tests.assumed import GAUSSIAN
from tests.plain import plain

ADVERSARIAL: dict[str, Callable[[int], np.ndarray]] = {
    "all equal": lambda n: np.full(n, 7.25),
    "all zero": np.zeros,
    "two far clusters": lambda n: np.where(np.arange(n) % 2, 1e300, -1e300),
    "subnormal": lambda n: np.full(n, 5e-324) * np.arange(n),
    "one outlier": lambda n: np.append(np.zeros(n - 1), 1e308),
    "the ends of floats": lambda n: np.where(np.arange(n) % 2, 1.0, -1.0) * 1.7976931348623157e308,
    "every size": lambda n: np.ldexp(1.0, np.arange(n) % 2000 - 1000),
}


def budgets(n: int, seed: int = 0) -> np.ndarray:
    return np.round(10.0 ** np.random.default_rng(seed).uniform(-1.0, 0.0, n), 1)


def losses(release: Any) -> list[Fraction | float]:
    """Return the loss of each level, computed stage by stage by the checkers."""
    mechanism = release.mechanism
    parts = [ep.verify.exact(stage).losses for stage in mechanism.stages[:-1]]
    last = ep.verify.exact(mechanism.last).losses
    return [sum(each) for each in zip(*parts, last, strict=True)]


def holds(release: Any) -> bool:
    found = losses(release)
    assert found == list(release.mechanism.losses)
    return all(
        loss <= (math.inf if math.isinf(level) else Fraction(level))
        for loss, level in zip(found, release.mechanism.levels.tolist(), strict=True)
    )


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_every_input_has_a_release_and_keeps_every_promise(name: str) -> None:
    n = 3000
    values = ADVERSARIAL[name](n)
    release = ep.mean(values, bounds=None, epsilon=budgets(n), source=ep.Seeded(1))
    lo, hi = release.bounds
    assert lo < hi
    assert math.isfinite(hi - lo)
    assert lo <= release.value <= hi
    mechanism = release.mechanism
    for loss, level in zip(mechanism.losses, mechanism.levels.tolist(), strict=True):
        assert loss <= Fraction(level)
    json.loads(release.to_json())
    assert str(release)


@pytest.mark.parametrize(
    ("mu", "sigma"),
    [
        (1000.0, 2.0),
        (-3.0, 1.0),
        (0.0, 1e-9),
        (5.0, 1e9),
        (1e12, 1.0),
        (-1e12, 1.0),
        (1e300, 1e297),
    ],
)
def test_any_place_and_any_spread(mu: float, sigma: float) -> None:
    n = 10_000
    values = np.random.default_rng(3).normal(mu, sigma, n)
    release = ep.mean(values, bounds=None, epsilon=budgets(n), source=ep.Seeded(2), **GAUSSIAN)
    assert abs(release.value - mu) < 0.2 * sigma
    low, high = release.interval()
    assert low <= mu <= high
    assert release.sigma is not None
    assert 0.5 * sigma < release.sigma < 3.0 * sigma


def test_all_values_equal() -> None:
    release = ep.mean(
        np.full(10_000, 7.25), bounds=None, epsilon=budgets(10_000), source=ep.Seeded(1)
    )
    assert release.value == pytest.approx(7.25, rel=1e-9)


@pytest.mark.parametrize(
    "extra", [[0.0, 0.0, math.inf], [math.inf] * 50, [1e6, 1e-12, 0.0, math.inf]]
)
def test_public_people_and_zeros_among_them(extra: list[float]) -> None:
    epsilon = np.append(budgets(3000), extra)
    values = np.random.default_rng(4).normal(50.0, 5.0, epsilon.size)
    release = ep.mean(values, bounds=None, epsilon=epsilon, source=ep.Seeded(4))
    assert abs(release.value - 50.0) < 2.0
    assert holds(release)
    nobody = [row for row in release.spent if row.epsilon == 0.0]
    assert all(row.spent == 0.0 for row in nobody)


def test_everyone_public() -> None:
    values = np.random.default_rng(4).normal(50.0, 5.0, 500)
    release = ep.mean(values, bounds=None, epsilon=math.inf, source=ep.Seeded(4))
    assert release.value == pytest.approx(values.mean(), abs=0.2)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6),
    st.lists(st.floats(0.01, 3.0), min_size=1, max_size=6),
    st.integers(0, 100),
)
@settings(max_examples=25, deadline=None)
def test_nobody_ever_spends_more_than_they_have(
    some: list[float], levels: list[float], seed: int
) -> None:
    n = 4000
    values = np.resize(np.array(some), n)
    epsilon = np.resize(np.array([*levels, 1.0]), n)
    release = ep.mean(values, bounds=None, epsilon=epsilon, source=ep.Seeded(seed))
    for loss, level in zip(
        release.mechanism.losses, release.mechanism.levels.tolist(), strict=True
    ):
        assert loss <= Fraction(level)


class Untouched(ep.Seeded):
    def words(self, count: int) -> Any:
        raise AssertionError("something was drawn")

    bytes = words


@pytest.mark.parametrize("assumed", [{}, GAUSSIAN], ids=["any", "gaussian"])
def test_too_few_people_are_told_before_anything_is_drawn(assumed: dict[str, Any]) -> None:
    values = np.random.default_rng(1).normal(0.0, 1.0, 100)
    with pytest.raises(BudgetError, match="people with budgets like these") as refusal:
        ep.mean(values, bounds=None, epsilon=0.1, source=Untouched(1), **assumed)
    words = str(refusal.value)
    enough = int(words.split("About ")[1].split()[0])
    assert 100 < enough < 100_000
    more = np.random.default_rng(1).normal(0.0, 1.0, enough)
    # The suggested number is enough.
    ep.mean(more, bounds=None, epsilon=0.1, source=ep.Seeded(1), **assumed)


def test_missing_values() -> None:
    values = np.random.default_rng(2).normal(10.0, 1.0, 3000)
    values[::30] = math.nan
    with pytest.raises(MissingValueError):
        ep.mean(values, bounds=None, epsilon=1.0)
    release = ep.mean(values, bounds=None, epsilon=1.0, missing="midpoint", source=ep.Seeded(2))
    assert release.value == pytest.approx(10.0, abs=0.2)


@pytest.mark.parametrize("engine", ["numpy", "polars", "duckdb"])
def test_somebody_some_of_whose_values_are_missing_is_refused_before_a_draw(engine: str) -> None:
    rng = np.random.default_rng(2)
    values, person = np.append(rng.normal(10.0, 1.0, 3000), math.nan), np.append(np.arange(3000), 0)
    asked: dict[str, Any] = {"values": values, "person": person}
    if engine != "numpy":
        rows = pl.DataFrame(asked)
        data = rows if engine == "polars" else duckdb.sql("SELECT * FROM rows")
        asked = {"values": "values", "person": "person", "data": data}
    for assumed in ({}, GAUSSIAN):
        with pytest.raises(MissingValueError):
            ep.mean(**asked, bounds=None, epsilon=1.0, source=Untouched(2), **assumed)


def test_rows_of_one_person_count_once() -> None:
    rng = np.random.default_rng(2)
    person = np.repeat(np.arange(3000), 3)
    values = np.repeat(rng.normal(10.0, 1.0, 3000), 3) + rng.normal(0.0, 0.1, 9000)
    release = ep.mean(values, bounds=None, epsilon=1.0, person=person, source=ep.Seeded(2))
    assert release.n == 3000
    assert release.value == pytest.approx(10.0, abs=0.2)


def test_a_file_gives_what_arrays_give_in_at_most_five_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from epsilons.door.engines import count_engine, line_engine, running

    passes: list[Any] = []
    real = running.collected

    def watched(query: Any, passed: Any) -> Any:
        if 'col("v")' in query.to_native().explain():  # ignore queries that only count budgets
            passes.append(query)
        return real(query, passed)

    monkeypatch.setattr(line_engine, "collected", watched)
    monkeypatch.setattr(count_engine, "collected", watched)
    rng = np.random.default_rng(5)
    for mu, sigma, most in ((50.0, 20.0, 2), (1000.0, 2.0, 3), (1e12, 1.0, 5)):
        passes.clear()
        table = pl.DataFrame({"v": rng.normal(mu, sigma, 8000), "e": budgets(8000)})
        table.write_parquet(tmp_path / "rows.parquet")
        filed = ep.mean(
            "v", bounds=None, epsilon="e", data=tmp_path / "rows.parquet", source=ep.Seeded(1)
        )
        assert len(passes) == most
        array = ep.mean(
            table["v"].to_numpy(), bounds=None, epsilon=table["e"].to_numpy(), source=ep.Seeded(1)
        )
        assert filed.value == array.value
        assert filed.bounds == array.bounds


def test_words_and_arguments() -> None:
    values = np.random.default_rng(2).normal(10.0, 1.0, 2000)
    release = ep.mean(values, bounds=None, epsilon=1.0, source=ep.Seeded(2), **GAUSSIAN)
    assert "Gaussian" in release.assumes
    assert "range" in release.protects
    assert not release.private
    assert release.method == "weighted"
    assert release.to_dict()["sigma"] == release.sigma
    with pytest.raises(ArgumentError, match="method"):
        ep.mean(values, bounds=None, epsilon=1.0, method="sampling")
    with pytest.raises(ArgumentError, match="levels"):
        ep.mean(values, bounds=None, epsilon=1.0, levels=[1.0])
    with pytest.raises(ArgumentError, match="confidence"):
        release.interval(1.5)


def test_a_split_gives_nobody_more_than_they_have_and_the_generous_pay() -> None:
    levels, counts = np.array([0.0, 0.05, 1.0, math.inf]), np.array([5, 5000, 5000, 3])
    split = best_split(levels, counts, neighbours="replace")
    assert (split.centre + split.deviation <= levels).all()
    assert split.centre[0] == split.centre[1] == 0.0  # people with small budgets do not pay
    assert split.failure < 1e-6
    less = best_split(levels, counts * 100, neighbours="replace")
    assert less.centre[2] < split.centre[2]  # with more people, a smaller share is enough
    few = best_split(np.array([0.1]), np.array([100]), neighbours="replace")
    assert few.failure > 0.01


def test_under_add_remove_nothing_is_refused() -> None:
    for n in (0, 1, 2, 50):
        values = np.full(n, math.nan) if n == 2 else np.arange(float(n))
        epsilon = np.full(n, math.nan) if n == 50 else np.full(n, 0.5)
        release = ep.mean(
            values,
            bounds=None,
            epsilon=epsilon,
            neighbours="add-remove",
            levels=[0.1, 0.5],
            source=ep.Seeded(n),
        )
        assert math.isfinite(release.value)
        assert str(release)


@pytest.mark.parametrize("words", [{}, GAUSSIAN], ids=["any", "gaussian"])
def test_under_add_remove_no_public_number_knows_who_is_there(words: dict[str, Any]) -> None:
    """Under add/remove, the first stage does not depend on who is in the data.

    Its weights, candidates and shares are the same for 10 people as for 5,000.
    """
    declared: dict[str, Any] = {"levels": {0.05: 2500, 1.0: 2500}, **words}
    first = []
    for n in (10, 5000):
        release = ep.mean(
            np.zeros(n),
            bounds=None,
            epsilon=np.full(n, 1.0),
            neighbours="add-remove",
            source=ep.Seeded(1),
            **declared,
        )
        first.append(plain(release.mechanism.stages[0]))
    assert first[0] == first[1]


def test_zooming_keeps_to_released_numbers() -> None:
    """Windows depend on the draws only. They are centred on what was drawn."""
    seen: list[line.Window | None] = []
    real = door.Rows.line

    def watched(self: door.Rows, window: line.Window | None = None) -> line.Line:
        seen.append(window)
        return real(self, window)

    patch = pytest.MonkeyPatch()
    patch.setattr(door.Rows, "line", watched)
    try:
        values = np.random.default_rng(1).normal(1e12, 1.0, 10_000)
        release: Any = ep.mean(values, bounds=None, epsilon=1.0, source=ep.Seeded(1), **GAUSSIAN)
    finally:
        patch.undo()
    assert seen[0] is None
    windows = [window for window in seen if window is not None]
    assert len(windows) == 2
    assert windows[1].hi - windows[1].lo < (windows[0].hi - windows[0].lo) / 100
    assert windows[1].lo < release.estimate.margin.picture.centre < windows[1].hi
