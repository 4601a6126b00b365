"""Dishonest reports: some are refused, and those that are accepted have limited influence."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons import local
from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.local.people import GRID
from epsilons.local.reports import Reports
from epsilons.risk.local import Reported
from tests.local.engines import ENGINES, frame

MENU = (0.0, 0.25, 1.0, 3.0)
WEIGHTS = ("variance", "paper", "uniform")
RNG = np.random.default_rng(8)
MAKERS: dict[str, Any] = {
    "bit": (local.Bit, RNG.random(120) < 0.3),
    "mean": (lambda **k: local.Mean((-1, 3), "bit", **k), RNG.uniform(-1, 3, 120)),
    "laplace": (lambda **k: local.Mean((-1, 3), "laplace", **k), RNG.uniform(-1, 3, 120)),
    "vector": (lambda **k: local.Vector(2, 2.0, **k), RNG.normal(size=(120, 2))),
    "line": (lambda **k: local.Vector(1, **k), RNG.uniform(-1, 1, (120, 1))),
    "duchi": (lambda **k: local.Vector(2, 2.0, "duchi", **k), RNG.normal(size=(120, 2))),
    "hadamard": (lambda **k: local.Frequencies(3, **k), RNG.integers(0, 3, 120)),
    "projection": (lambda **k: local.Frequencies(3, "projection", **k), RNG.integers(0, 3, 120)),
    "rappor": (lambda **k: local.Frequencies(3, "rappor", **k), RNG.integers(0, 3, 120)),
    "piecewise": (lambda **k: local.Mean((-1, 3), "piecewise", **k), RNG.uniform(-1, 3, 120)),
}


def claimed(report: Reports, epsilon: float) -> Reports:
    """Return the same answers with a false claim about the budget."""
    budgets = np.full(len(report), epsilon)
    return Reports(report.kind, report.parameters, report.private, budgets, report.columns)


@pytest.mark.parametrize("name", MAKERS)
def test_only_budgets_of_the_menu_are_taken(name: str) -> None:
    make, values = MAKERS[name]
    mechanism = make(levels=MENU)
    assert mechanism.levels == MENU
    honest = mechanism.randomize_many(values, np.tile(MENU, 30), ep.Seeded(1))
    before = mechanism.state(honest)
    for bad in (0.5, math.nextafter(1.0, 2.0), 1e-310, 2.9, 1e300, math.inf):
        with pytest.raises(BudgetError, match=r"not one of the declared levels \(0, 0.25, 1, 3\)"):
            mechanism.randomize(values[0], bad)
        lie = claimed(mechanism.randomize(values[0], 1.0, ep.Seeded(2)), bad)
        for sent in (lie, lie.to_bytes()):
            with pytest.raises(DataError, match="not one of the declared levels"):
                before + mechanism.state(sent)
            with pytest.raises(DataError, match="not one of the declared levels"):
                mechanism.estimate([honest, sent])
    assert mechanism.estimate(before).n == 120
    everyone = make(levels=(*MENU, math.inf))
    assert everyone.estimate(everyone.randomize_many(values, math.inf)).n == 120


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bad", [0.5, 1e-310, math.inf])
def test_tables_are_held_to_the_menu_on_every_engine(
    engine: str, bad: float, tmp_path: Path
) -> None:
    bit = local.Bit(levels=[1.0, 2.0])
    good = bit.randomize_many([True] * 60, [1.0, 2.0] * 30, ep.Seeded(1))
    table = pl.DataFrame(good.to_columns())
    assert bit.state(data=frame(engine, table, tmp_path)).n == 60
    here = pl.int_range(pl.len()) == 41
    broken = table.with_columns(
        pl.when(here).then(pl.lit(bad)).otherwise(pl.col("epsilon")).alias("epsilon")
    )
    sent = [bit.randomize(True, 1.0).to_bytes() for _ in range(20)]
    sent.insert(7, claimed(bit.randomize(True, 1.0), bad).to_bytes())
    for column, rows in ((None, broken), ("sent", pl.DataFrame({"sent": sent}))):
        with pytest.raises(DataError, match="not one of the declared levels"):
            bit.estimate(column, data=frame(engine, rows, tmp_path))


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_not_declared_is_never_public(name: str) -> None:
    make, values = MAKERS[name]
    with pytest.raises(BudgetError, match=r"only where it is declared: give levels="):
        make().randomize(values[0], math.inf)
    opened = make(levels=[math.inf]).randomize(values[0], math.inf)
    with pytest.raises(DataError, match=r"only where it is declared: give levels="):
        make().estimate(opened)
    with pytest.raises(DataError, match="above 2²⁰"):
        make().state(claimed(make().randomize(values[0], 1.0), 1e300))


def test_a_claim_of_infinity_no_longer_takes_over_a_mean_of_vectors() -> None:
    vector = local.Vector(100)
    values = np.zeros((1000, 100))
    reports = vector.randomize_many(values, 1.0, ep.Seeded(3))
    push = np.zeros((1, 100))
    push[0, 0] = 1.0
    lie = local.Vector(100, levels=[math.inf]).randomize_many(push, math.inf)
    with pytest.raises(DataError, match="declared"):
        vector.estimate([reports, lie])
    # If ∞ is a declared level, the release states the influence of such a report.
    declared = local.Vector(100, levels=[1.0, math.inf])
    release = declared.estimate([reports, lie])
    alone = vector.estimate(reports)
    moved = float(np.linalg.norm(release.raw - alone.raw))
    assert moved > 0.3
    assert moved <= release.influence(1)
    assert "anywhere" in release.assumes or "by up to" in release.assumes


@pytest.mark.parametrize(
    "levels", ["0.1", 1.0, [], [0.0], [-1.0], [math.nan], [1e-9, 1.0], [1e300], [True], [None]]
)
def test_menus_that_are_invalid_are_refused(levels: Any) -> None:
    for make, _ in MAKERS.values():
        with pytest.raises(BudgetError, match="levels"):
            make(levels=levels)


def test_a_menu_is_a_set() -> None:
    assert local.Bit(levels=[2, 1.0, np.float64(2.0), -0.0]).levels == (0.0, 1.0, 2.0)
    assert local.Bit(levels={0.5: 10, math.inf: 1}).levels == (0.5, math.inf)
    many = local.Bit(levels=np.arange(1, 40) / 8)
    with pytest.raises(BudgetError, match=r"0.875, 1 and 31 more\)"):
        many.randomize(True, 7.0)


def test_states_of_other_menus_do_not_merge() -> None:
    one, two = local.Bit(levels=[1.0, 2.0]), local.Bit(levels=[1.0])
    for a, b in itertools.permutations([one, two, local.Bit()], 2):
        mine, theirs = (m.state(m.randomize(True, 1.0)) for m in (a, b))
        with pytest.raises(ArgumentError, match="levels"):
            mine + theirs
        with pytest.raises(DataError, match="levels"):
            a.estimate(theirs)
        assert a.estimate(mine + mine).n == 2


EXTREMES = [0.0, 5e-324, 1e-310, 2.3e-308, 1e-160, 1e-9, 2.0**-21, 2.0**-20, 60.0, 2.0**20]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_row_of_a_table_makes_an_estimate_infinite(engine: str, tmp_path: Path) -> None:
    bit = local.Bit()
    good = bit.randomize_many([True, False] * 30, 1.0, ep.Seeded(1)).to_columns()
    for epsilon in EXTREMES:
        budgets = np.where(np.arange(60) == 33, epsilon, 1.0)
        table = frame(engine, pl.DataFrame(good | {"epsilon": budgets}), tmp_path)
        assert math.isfinite(bit.estimate(data=table, weights="uniform").raw)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_reports_that_are_nearly_noise_weigh_nothing(weights: str) -> None:
    for make, values in MAKERS.values():
        mechanism = make()
        report = mechanism.randomize(values[0], 2.0, ep.Seeded(1))
        noise = mechanism.randomize_many(values, math.nextafter(2.0**-20, 0.0), ep.Seeded(2))
        alone = mechanism.estimate(report, weights=weights)
        both = mechanism.estimate([report, noise], weights=weights)
        assert np.array_equal(alone.raw, both.raw)
        with pytest.raises(BudgetError, match="pure noise"):
            mechanism.estimate(noise, weights=weights)
        least = mechanism.randomize_many(values, 2.0**-20, ep.Seeded(2))
        assert mechanism.state(least, weights=weights).sums.weight > 0.0


def numbers_of(mean: local.Mean, numbers: list[int], epsilon: float) -> Reports:
    columns = (np.empty(0, dtype=np.bool_), np.array(numbers, dtype=np.int64))
    return Reports("mean", mean.parameters, True, np.full(len(numbers), epsilon), columns)


def test_numbers_with_noise_are_taken_from_trusted_people_only() -> None:
    mean, trusting = local.Mean((0, 1)), local.Mean((0, 1), method="laplace")
    number = trusting.randomize(0.5, 1.0, ep.Seeded(1))
    with pytest.raises(DataError, match=r"one bit is asked for. Mean\(method='laplace'\)"):
        mean.estimate(number)
    with pytest.raises(DataError, match="numbers with noise"):
        mean.estimate(trusting.state(number))
    with pytest.raises(ArgumentError, match="numbers with noise"):
        mean.state(mean.randomize(0.5, 1.0)) + trusting.state(number)
    # Bits and numbers can be mixed if numbers are accepted at all.
    bits = mean.randomize_many(np.full(4000, 0.5), 1.0, ep.Seeded(2))
    both = trusting.estimate([bits, number])
    assert both.n == 4001
    weight = 4000 * math.tanh(0.5) ** 2 + 1.0 / 9.0
    margin = both.estimate.margin
    assert isinstance(margin, Reported)
    assert margin.sums.weight == pytest.approx(weight, rel=1e-12)


def test_open_numbers_are_on_the_grid() -> None:
    for method in ("bit", "laplace"):
        mean = local.Mean((0, 1), method=method, levels=[1.0, math.inf])
        assert mean.estimate(numbers_of(mean, [0, GRID], math.inf)).raw == pytest.approx(0.5)
        for bad in (-1, GRID + 1, 2**62):
            with pytest.raises(DataError, match="further out"):
                mean.state(numbers_of(mean, [3, bad], math.inf))


def test_open_vectors_are_in_the_ball() -> None:
    vector = local.Vector(2, radius=2.0, levels=[math.inf])
    opened = vector.randomize_many([[1.2, 1.6]], math.inf)
    vector.state(opened)
    for bad in ([1.21, 1.6], [0.0, -2.1], [math.nan, 0.0], [math.inf, 0.0], [1e308, 1e308]):
        columns = (*opened.columns[:4], np.array([bad]))
        with pytest.raises(DataError, match="not in the ball"):
            vector.state(Reports("vector", vector.parameters, True, opened.epsilon, columns))


def test_signs_that_are_worth_less_than_one_are_refused() -> None:
    """Reports of several signs are refused if they are less informative than one sign.

    Otherwise, their weight would dominate.
    """
    vector = local.Vector(3)
    for signs, distance in ((32, 0), (32, 2), (16, 0), (5, 0)):
        lie = Reports(
            "vector",
            vector.parameters,
            True,
            np.ones(1),
            (
                np.array([signs], dtype=np.uint8),
                np.array([distance], dtype=np.uint8),
                np.array([5], dtype=np.uint64),
                np.array([0], dtype=np.uint32),
                np.empty((0, 3)),
            ),
        )
        with pytest.raises(DataError, match="less than one sign would"):
            vector.state(lie, weights="uniform")
        vector.state(claimed(lie, 30.0))


def test_labelled_columns_that_differ_are_refused() -> None:
    values = pd.Series([1.0, 0.0, 1.0], index=["a", "b", "c"])
    budgets = pd.Series([1.0, 2.0, 0.0], index=["b", "c", "a"])
    bit = local.Bit()
    with pytest.raises(ArgumentError, match="different labels"):
        bit.randomize_many(values, budgets)
    with pytest.raises(ArgumentError, match="different labels"):
        local.Vector(1).randomize_many(values.to_frame(), budgets)
    aligned = bit.randomize_many(values, budgets[values.index], ep.Seeded(1))
    assert aligned.epsilon.tolist() == [0.0, 1.0, 2.0]
    assert len(bit.randomize_many(values, [1.0, 1.0, 1.0])) == 3
    assert len(bit.randomize_many(values.to_numpy(), budgets)) == 3


def test_budgets_with_more_digits_are_rounded_down() -> None:
    third = np.longdouble(1) / 3
    if np.longdouble(float(third)) == third:
        pytest.skip("long double is float64 here")
    tenth = np.longdouble(1) / 10
    assert float(tenth) > tenth, "the nearest float64 is above it"
    for given in (third, tenth):
        (budget,) = local.Bit().randomize_many([True], np.array([given])).epsilon.tolist()
        assert budget <= given < np.nextafter(budget, 1.0)
