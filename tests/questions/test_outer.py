"""Finding the range of data of any shape: quantiles, their cost, and the odds of a wrong end."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import epsilons as ep
from epsilons.door.count import line
from epsilons.draws.mechanisms import CellsOf, Selection, TheLine
from epsilons.questions.locate import ZOOM, remaining, selection, spent_on
from epsilons.questions.outer import (
    _LINE,
    _NEAREST,
    _PARTS,
    _SURE,
    _TIMES,
    FARTHEST,
    WEIGHT_BITS,
    _odds,
    best_share,
    outer,
)
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE

GOAL = MeanGoal(RELATED, "mse", 0.95)
NEIGHBOURS = ("replace", "add-remove")

BUDGETS: dict[str, list[float]] = {
    "one": [1.0],
    "two": [0.1, 1.0],
    "menu": [0.01, 0.2, 1.0],
    "nothing and some": [0.0, 0.3],
    "nothing": [0.0],
    "public": [0.5, math.inf],
    "all public": [math.inf],
    "tiny": [5e-324, 1.5e-323, 1e-300, 1e-9],
    "smaller than any half": [1.5e-323],
    "huge": [1e6, 2.0**40, 1e300],
    "next to each other": [1.0, math.nextafter(1.0, 2.0)],
    "many": np.geomspace(0.1, 1.0, 400).tolist(),
    "in any order": [1.0, 0.1, 0.4, 0.1],
}


def nobody(levels: Any, counts: Any) -> line.Line:
    """Return the public part of a `Line`, without anyone's bucket."""
    none = np.zeros(0, dtype=np.int64)
    levels = np.array(levels, dtype=np.float64)
    return line.Line(
        levels=levels,
        keys=levels,
        counts=np.array(counts, dtype=np.int64),
        missing=np.zeros(len(levels), dtype=np.int64),
        level_of=none,
        cell_of=none,
        people=none,
    )


def always(counted: line.Line, _: line.Window | None) -> line.Line:
    return counted


def bucket_of(value: float) -> int:
    return int(line.index_of(line.rounded(np.array(value))))


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize(
    "n", [0, 2, 2**35, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 3000))]
)
@pytest.mark.parametrize("name", BUDGETS)
def test_no_share_is_more_than_there_is(name: str, n: int, neighbours: str) -> None:
    """In three rounds, both selections together never spend more than the remaining budget."""
    levels = np.array(BUDGETS[name])
    counts = np.full(len(levels), n)
    counted, stages = nobody(levels, counts), list[Selection]()
    for round_, cells in enumerate(ZOOM):
        left = remaining(levels, spent_on(None, stages, len(levels)))
        odds = math.log(cells) if round_ else _LINE
        share = best_share(left, counts, GOAL, neighbours=neighbours, odds=odds)
        assert (share.each >= 0.0).all()
        assert (2.0 * share.each <= left).all()
        assert share.quantile >= _NEAREST
        far, near = _odds(share.quantile)
        for sought in ((far, near), (near, far)):
            stage = selection(
                counted, share.each, neighbours, TheLine(), "an end", sought, WEIGHT_BITS
            )
            assert ep.verify.exact(stage).losses == stage.losses
            for taken, loss in zip(share.each.tolist(), stage.losses, strict=True):
                assert loss <= Fraction(taken)
            assert int(stage.weights.max()) < 2**17 or n == 0
            stages.append(stage)
    total = spent_on(None, stages, len(levels))
    for level, spent in zip(levels.tolist(), total, strict=True):
        assert math.isinf(level) or spent <= Fraction(level)


@given(
    st.lists(st.floats(0.0, 100.0), min_size=1, max_size=5, unique=True),
    st.integers(0, 10**7),
    st.sampled_from(NEIGHBOURS),
    st.sampled_from([_LINE, math.log(ZOOM[1]), math.log(ZOOM[2])]),
)
@settings(max_examples=60, deadline=None)
def test_whatever_budgets_are_two_shares_fit_in_them(
    levels: list[float], n: int, neighbours: str, odds: float
) -> None:
    given_, counts = np.array(levels), np.full(len(levels), n)
    share = best_share(given_, counts, GOAL, neighbours=neighbours, odds=odds)
    assert all(
        2 * Fraction(r) <= Fraction(e) for r, e in zip(share.each.tolist(), levels, strict=True)
    )


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("goal", [GOAL, MeanGoal(SAMPLE, "mse", 0.95)], ids=["people", "sample"])
def test_with_more_people_quantiles_lie_farther_out(goal: MeanGoal, neighbours: str) -> None:
    """With more people, quantiles are more extreme.

    There is one exception, where half of a budget suffices.
    """
    sizes = np.unique(np.geomspace(20, 10**6, 60).astype(np.int64))
    levels = np.array([0.2, 1.0])
    found = [
        best_share(levels, np.array([n, n]), goal, neighbours=neighbours).quantile for n in sizes
    ]
    steps = list(itertools.pairwise(found))
    assert sum(after > before * 1.001 for before, after in steps) <= 1
    assert all(after <= FARTHEST for before, after in steps if after > before)
    assert found[0] > FARTHEST
    assert found[-1] == _NEAREST


def test_the_generous_pay_and_the_mean_keeps_its_best() -> None:
    levels, counts = np.array([0.1, 0.3, 4.0]), np.array([5000, 5000, 5000])
    share = best_share(levels, counts, GOAL)
    assert share.quantile == _NEAREST
    assert share.each[0] <= 0.02 * levels[0]  # people with small budgets pay little
    assert (np.diff(share.each) >= 0.0).all()
    assert share.each[2] > 20 * share.each[0]
    # Spending is minimal: if there are many people, everyone pays less.
    many = best_share(levels, 100 * counts, GOAL)
    assert float(many.each @ counts) * 100 == pytest.approx(float(share.each @ counts), rel=1e-6)


def test_a_step_looks_at_public_facts_alone() -> None:
    """For two data sets with the same budgets, the first two draws have the same mechanisms."""
    seen: list[list[Any]] = []
    for values in (np.arange(900.0), np.full(900, -1e300)):
        rows = ep.door.open(values, epsilon=np.resize([0.5, 1.0, 4.0], 900))
        steps = outer(rows.line, GOAL, neighbours="replace")
        draws = [next(steps)]
        draws.append(steps.send(0))
        seen.append([draw.mechanism for draw in draws])
    for one, other in zip(*seen, strict=True):
        assert one.weights.tolist() == other.weights.tolist()
        assert (one.scale, one.odds, one.seeks) == (other.scale, other.odds, other.seeks)
        assert type(one.candidates) is type(other.candidates)


# The odds of a wrong end.


@pytest.mark.always
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("name", ["one", "two", "menu", "many"])
@pytest.mark.parametrize("people", [3000, 30_000])
def test_an_end_that_nobody_is_near_is_as_unlikely_as_said(
    name: str, people: int, neighbours: str
) -> None:
    """If all values are in one bucket, an end beyond it has odds of at most e^{−q·Σr/2}."""
    levels = np.array(BUDGETS[name])
    counts = np.full(len(levels), people // len(levels))
    share = best_share(levels, counts, GOAL, neighbours=neighbours)
    far, near = _odds(share.quantile)
    counted = nobody(levels, counts)
    bucket = bucket_of(1e12)
    for odds, side in (((far, near), -1), ((near, far), 1)):
        stage = selection(counted, share.each, neighbours, TheLine(), "an end", odds, WEIGHT_BITS)
        mass = np.array([int(stage.weights @ counts)])
        at = [stage.exponent(bucket + step, np.array([bucket]), mass) for step in (-1, 0, 1)]
        assert at[1] == 0
        spent = sum(loss * int(n) for loss, n in zip(stage.losses, counts, strict=True))
        quantile = Fraction(far, _PARTS)
        if neighbours == "replace":
            assert at[1 + side] == quantile * spent / 2
        else:
            assert at[1 + side] == quantile / (1 - quantile) * spent / 2
        # An end on the other side is even less likely. The odds are as required, up to the rounding
        # of weights.
        assert at[1 - side] >= at[1 + side]
        assert float(at[1 + side]) >= 0.999 * _TIMES[neighbours] * (_LINE + _SURE)


def test_one_bucket_has_as_much_of_the_prior_as_is_counted_on() -> None:
    space = TheLine()
    first, end = (int(each) for each in space.before(np.array([space.first, space.last + 1])))
    for value in (0.0, 1e-12, 1.0, -50.0, 6600.0, 1e12):
        bucket = bucket_of(value)
        start, stop = (int(each) for each in space.before(np.array([bucket, bucket + 1])))
        assert math.log((end - first) / (stop - start)) <= _LINE + 0.01


# Generators that the test drives step by step.


@pytest.mark.parametrize(
    ("low", "high"),
    [(-line.TOP, line.TOP), (line.TOP, line.TOP), (0, line.TOP), (-line.TOP, -line.TOP), (5, -5)],
)
def test_whatever_is_drawn_the_range_is_made_of_floats(low: int, high: int) -> None:
    """Without people, any two ends of the line can be drawn. The widened range is always finite."""
    steps = outer(lambda _: nobody([1.0], [2]), GOAL, neighbours="add-remove")
    answer, drawn = None, iter([low, high] + [0] * 4)
    try:
        while True:
            steps.send(answer)
            answer = next(drawn)
    except StopIteration as end:
        lo, hi = end.value.bounds
    assert -(2.0**1021) <= lo < hi <= 2.0**1021


def test_the_range_is_widened_by_the_quantiles_that_were_asked_for() -> None:
    """For the quantiles of a Gaussian, the range ends 3.5 standard deviations from the mean."""
    normal = NormalDist()
    for n in (700, 900, 1500, 3000, 9000, 40_000):
        counted = nobody([1.0], [n])
        share = best_share(np.array([1.0]), np.array([n]), GOAL)
        far, _ = _odds(share.quantile)
        end = -50.0 * normal.inv_cdf(far / _PARTS)
        steps = outer(partial(always, counted), GOAL, neighbours="replace")
        next(steps)
        steps.send(bucket_of(-end))
        with pytest.raises(StopIteration) as stopped:
            steps.send(bucket_of(end))
        lo, hi = stopped.value.value.bounds
        assert hi == pytest.approx(3.5 * 50.0, rel=2e-3)
        assert lo == -hi


def test_a_closer_look_asks_for_nothing_farther_out() -> None:
    """Later rounds use less extreme quantiles. Extreme ones could be outside the window."""
    counted = nobody([1.0], [30_000])
    steps = outer(lambda _: counted, GOAL, neighbours="replace")
    first: Any = next(steps).mechanism
    steps.send(bucket_of(40.0))
    second: Any = steps.send(bucket_of(40.0)).mechanism
    assert isinstance(second.candidates, CellsOf)
    assert first.odds[0] < second.odds[0] <= _PARTS * 0.46
    third: Any = steps.send(1).mechanism
    assert third.odds == second.odds[::-1]


def test_a_window_has_as_many_cells_as_the_prior_counts_on() -> None:
    """All cells of a window have the same prior, so ln(cells) is the log-odds against one cell."""
    for cells in ZOOM[1:]:
        ends = CellsOf(cells).before(np.array([0, 1, cells]))
        assert math.log((ends[2] - ends[0]) / (ends[1] - ends[0])) == pytest.approx(math.log(cells))
