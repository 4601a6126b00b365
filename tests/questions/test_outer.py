"""Finding the range of data of any shape: octaves, quantiles, their cost, and the odds of error."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.budgets.allocation import best_cap
from epsilons.budgets.levels import Budgets
from epsilons.door.count import line
from epsilons.draws.mechanisms import CellsOf, Octaves
from epsilons.draws.mechanisms.octaves import HIGHS, LOWS, RARE, ZERO, octaves_of
from epsilons.draws.noise import DiscreteLaplace
from epsilons.questions.steps.locate import ZOOM, remaining, selection, weights_of
from epsilons.questions.steps.outer import (
    _BASE,
    _LINE,
    _NEAREST,
    _PARTS,
    _STEP,
    _SURE,
    _TIMES,
    _TO_ZERO,
    _WIDEN,
    FARTHEST,
    WEIGHT_BITS,
    _odds,
    best_share,
    first_share,
    outer,
    reached,
)
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE
from tests.plain import plain

GOAL = MeanGoal(RELATED, "mse", 0.95)
NEIGHBOURS = ("replace", "add-remove")
OCTAVE = line.CELLS + 1
"""The number of buckets that a closer look at one octave chooses from, with both ends."""
ODDS = math.log(OCTAVE)

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


def octaves(each: Any, neighbours: str, levels: Any = (1.0,)) -> Octaves:
    """Return the mechanism of the octaves, in which everyone spends these amounts."""
    weights, shift = weights_of(np.array(each, dtype=np.float64), WEIGHT_BITS)
    moves = 2 if neighbours == "replace" else 1
    law = DiscreteLaplace(Fraction(moves) * 2**shift)
    return Octaves(np.array(levels, dtype=np.float64), weights, law, neighbours)


def noisy(mechanism: Octaves, weights: dict[float, float]) -> np.ndarray:
    """Return drawn octaves: weights at these values, in units of the noise scale, else 0."""
    drawn = np.zeros(mechanism.cells)
    for value, weight in weights.items():
        drawn[octaves_of(np.array([bucket_of(value)]))] = weight * float(mechanism.law.scale)
    return drawn


@given(
    st.lists(st.floats(0.0, 100.0), min_size=1, max_size=5, unique=True),
    st.integers(0, 10**7),
    st.sampled_from(NEIGHBOURS),
    st.sampled_from([ODDS, math.log(ZOOM[1]), math.log(ZOOM[2])]),
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
    first = first_share(given_, counts, GOAL, neighbours=neighbours)
    assert all(0.0 <= r <= e for r, e in zip(first.each.tolist(), levels, strict=True))


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("goal", [GOAL, MeanGoal(SAMPLE, "mse", 0.95)], ids=["people", "sample"])
def test_with_more_people_fewer_of_them_are_found(goal: MeanGoal, neighbours: str) -> None:
    """With more people, a smaller fraction is found, and quantiles are more extreme."""
    sizes = np.unique(np.geomspace(20, 10**6, 60).astype(np.int64))
    levels = np.array([0.2, 1.0])
    found = [first_share(levels, np.array([n, n]), goal, neighbours=neighbours) for n in sizes]
    quantiles = [each.quantile for each in found]
    steps = list(itertools.pairwise(quantiles))
    # The fraction can grow where a smaller part of budgets suffices. Then it is still small enough.
    assert all(after <= FARTHEST for before, after in steps if after > before * 1.001)
    assert quantiles[0] > FARTHEST
    assert quantiles[-1] < 1e-3
    looks = [best_share(levels, np.array([n, n]), goal, neighbours=neighbours, odds=ODDS).quantile
             for n in sizes]  # fmt: skip
    assert looks[0] > 0.5
    assert looks[-1] == _NEAREST


def test_the_generous_pay_and_the_mean_keeps_its_best() -> None:
    levels, counts = np.array([0.1, 0.3, 4.0]), np.array([5000, 5000, 5000])
    share = best_share(levels, counts, GOAL, odds=ODDS)
    assert share.quantile == _NEAREST
    assert share.each[0] <= 0.02 * levels[0]  # people with small budgets pay little
    assert (np.diff(share.each) >= 0.0).all()
    assert share.each[2] > 20 * share.each[0]
    # Spending is minimal: if there are many people, everyone pays less.
    many = best_share(levels, 100 * counts, GOAL, odds=ODDS)
    assert float(many.each @ counts) * 100 == pytest.approx(float(share.each @ counts), rel=1e-6)
    # People above the cap spend a quarter of the cap on octaves, plus half of what is above it, but
    # at most four caps. Others spend what they have above three quarters of the cap, or a fiftieth
    # of their budget if that is more.
    cap = best_cap(Budgets.of_levels(levels, counts), GOAL, GOAL.noise)
    first = first_share(levels, counts, GOAL)
    wanted = [cap / 4 + (e - cap) / 2 if e > cap else max(e - 0.75 * cap, e / 50) for e in levels]
    assert first.each == pytest.approx(np.minimum(wanted, 4 * cap))
    people = first_share(np.array([1.0]), np.array([5000]), GOAL)
    assert people.each == pytest.approx([0.25])
    assert people.quantile == pytest.approx(2.0 * (_LINE + _SURE) / 1250.0)
    private = first_share(np.array([1.0]), np.array([5000]), GOAL, neighbours="add-remove")
    assert private.each == pytest.approx([0.125])
    assert private.quantile == pytest.approx(1.5 * (_LINE + _SURE) / 625.0)


def test_a_step_looks_at_public_facts_alone() -> None:
    """If two data sets have the same budgets and the same draws, their mechanisms are the same."""
    seen: list[list[Any]] = []
    for values in (np.arange(900.0), np.full(900, -1e300)):
        rows = ep.door.open(values, epsilon=np.resize([0.5, 1.0, 4.0], 900))
        steps = outer(rows.line, GOAL, neighbours="replace")
        draws = [next(steps)]
        draws.append(steps.send(noisy(draws[0].mechanism, {5.0: 1000.0})))  # type: ignore[arg-type]
        draws.append(steps.send(3))
        seen.append([draw.mechanism for draw in draws])
    for one, other in zip(*seen, strict=True):
        assert plain(one) == plain(other)


# Which octaves are in the range.


def test_octaves_are_those_of_the_line() -> None:
    """An octave is the range between two powers of two. It includes the larger one."""
    values = [0.0, 0.3, -0.3, 1.0, 1.5, -2.0, 2.1, 64.0, 65.0, 1e300, -1e300, 1.7e308, -1e-300]
    cells = octaves_of(np.array([bucket_of(value) for value in values]))
    for value, cell in zip(values, cells.tolist(), strict=True):
        inside = min(max(value, -(2.0**1021)), 2.0**1021) if abs(value) > 1e-200 else 0.0
        assert LOWS[cell] <= inside <= HIGHS[cell]
        if 1e-200 < abs(value) < 1e300:
            assert HIGHS[cell] - LOWS[cell] == 2.0 ** (math.ceil(math.log2(abs(value))) - 1)
    assert cells[0] == ZERO
    everything = octaves_of(np.array([-line.TOP, line.TOP]))
    assert everything.tolist() == [0, 2 * ZERO]
    assert len(LOWS) == len(HIGHS) == len(RARE) == Octaves.cells == 2 * ZERO + 1
    assert np.exp(-RARE).sum() == pytest.approx(1.0)


def test_one_octave_has_as_much_of_the_prior_as_is_counted_on() -> None:
    for value in (0.0, 1e-12, 1.0, -50.0, 6600.0, 1e12):
        assert RARE[octaves_of(np.array([bucket_of(value)]))] <= _LINE + 0.1


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_an_octave_needs_the_weight_that_its_distance_asks_for(neighbours: str) -> None:
    """With 1 % less than the required weight, an octave is not found. With 1 % more, it is."""
    stage = octaves([0.25], neighbours)
    rare = float(RARE[octaves_of(np.array([bucket_of(1000.0)]))][0])
    width = 64.0 - 16.0
    core = {20.0: 500.0, 50.0: 500.0}
    for value, bounds, wider, steps in (
        (100.0, (16.0, 128.0), 112.0, 1),
        (200.0, (16.0, 256.0), 240.0, 2),
        (10.0, (8.0, 64.0), 56.0, 1),
        (3.0, (2.0, 64.0), 62.0, 3),
        (0.0, (0.0, 64.0), 64.0, _TO_ZERO),
    ):
        need = _BASE + _STEP * steps + _WIDEN * math.log(wider / width)
        for part, expected in ((0.99, (16.0, 64.0)), (1.01, bounds)):
            sure, found = reached(stage, noisy(stage, {**core, value: part * need}))
            assert sure == (16.0, 64.0)
            assert found == expected
    # Whether the range starts above 0 or at 0, an octave on the other side of 0 widens it only if
    # the octave is found with certainty.
    for start, low in ((core, 16.0), ({0.0: 500.0, **core}, 0.0)):
        for part, end in ((0.99, low), (1.01, -1024.0)):
            drawn = noisy(stage, {**start, -1000.0: part * (rare + _SURE)})
            assert reached(stage, drawn)[1][0] == end
    # If no octave is found with certainty, the range is the octave that is most certain.
    assert reached(stage, noisy(stage, {-1000.0: 4.3, 50.0: 4.0})) == ((32.0, 64.0),) * 2


# The odds of a wrong end.


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("name", ["one", "two", "menu", "many"])
@pytest.mark.parametrize("people", [3000, 30_000])
def test_an_end_that_nobody_is_near_is_as_unlikely_as_said(
    name: str, people: int, neighbours: str
) -> None:
    """If all values are in one bucket, an end beyond it has odds of at most e^{−q·Σr/2}."""
    levels = np.array(BUDGETS[name])
    counts = np.full(len(levels), people // len(levels))
    share = best_share(levels, counts, GOAL, neighbours=neighbours, odds=ODDS)
    far, near = _odds(share.quantile)
    counted = nobody(levels, counts)
    bucket, space = 700, CellsOf(OCTAVE)
    for odds, side in (((far, near), -1), ((near, far), 1)):
        stage = selection(counted, share.each, neighbours, space, "an end", odds, WEIGHT_BITS)
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
        assert float(at[1 + side]) >= 0.999 * _TIMES[neighbours] * (ODDS + _SURE)


# Generators that the test drives step by step.


@pytest.mark.parametrize("at", [(0,), (0, -1), (-1,), (ZERO,), (ZERO - 1,), (1, 2)], ids=str)
@pytest.mark.parametrize("ends", [(0, 0), (0, OCTAVE - 1), (OCTAVE - 1, 0)], ids=str)
def test_whatever_is_drawn_the_range_is_made_of_floats(
    at: tuple[int, ...], ends: tuple[int, int]
) -> None:
    """Without people, noise can select any octave and any two ends. The range is always finite."""
    steps = outer(lambda _: nobody([1.0], [2000]), GOAL, neighbours="add-remove")
    first: Any = next(steps).mechanism
    drawn = np.zeros(first.cells)
    drawn[list(at)] = 1e6 * float(first.law.scale)
    answer: Any = drawn
    picked = itertools.cycle(ends)
    try:
        while True:
            steps.send(answer)
            answer = next(picked)
    except StopIteration as end:
        lo, hi = end.value.bounds
    assert -(2.0**1021) <= lo < hi <= 2.0**1021


def looking(n: int, octaves_: dict[float, float], *picked: float) -> Any:
    """Return the result of a closer look at octaves, if the buckets of these values are drawn."""
    counted = nobody([1.0], [n])
    steps = outer(partial(always, counted), GOAL, neighbours="replace")
    first: Any = next(steps).mechanism
    answers = [noisy(first, octaves_), *(bucket_of(each) - bucket_of(1024.0) for each in picked)]
    try:
        for answer in answers:
            steps.send(answer)
    except StopIteration as end:
        return end.value
    raise AssertionError("something else is asked for")


def test_the_range_is_widened_by_the_quantiles_that_were_asked_for() -> None:
    """For the quantiles of a Gaussian, the range ends 3.5 standard deviations from the mean."""
    normal = NormalDist()
    for n in (900, 3000, 9000, 40_000):
        left = remaining(np.array([1.0]), [Fraction(1, 4)])
        share = best_share(left, np.array([n]), GOAL, odds=ODDS)
        far, _ = _odds(share.quantile)
        end = -50.0 * normal.inv_cdf(far / _PARTS)
        lo, hi = looking(n, {1500.0: 1e6}, 1500.0 - end, 1500.0 + end).bounds
        assert hi - 1500.0 == pytest.approx(3.5 * 50.0, rel=1e-2)
        assert 1500.0 - lo == pytest.approx(3.5 * 50.0, rel=1e-2)


def test_a_closer_look_is_used_if_it_is_much_narrower() -> None:
    """A closer look replaces the range of the octaves only if its own range is much narrower.

    Otherwise it is not used, because it could cut a long tail.
    """
    far = 40_000
    for ends in ((1100.0, 1900.0), (1300.0, 1700.0)):
        assert looking(far, {1500.0: 1e6}, *ends).bounds == (1024.0, 2048.0)
    assert looking(far, {1500.0: 1e6}, 1450.0, 1550.0).bounds != (1024.0, 2048.0)
    # The range stays within the octaves.
    low, high = looking(far, {1500.0: 1e6, 3000.0: 1e6}, 1030.0, 1500.0).bounds
    assert low == 1024.0
    assert 1500.0 < high < 2048.0


@pytest.mark.parametrize(
    "weights", [{3.0: 1e6, 20.0: 1e6}, {0.0: 1e6, 3.0: 1e6}, {-3.0: 1e6, 3.0: 1e6}, {0.0: 1e6}]
)
def test_there_is_no_closer_look_at_values_far_apart(weights: dict[float, float]) -> None:
    """Octaves are drawn once, and all of the remaining budget goes into the mean."""
    counted = nobody([1.0], [30_000])
    steps = outer(partial(always, counted), GOAL, neighbours="replace")
    first: Any = next(steps).mechanism
    with pytest.raises(StopIteration) as stopped:
        steps.send(noisy(first, weights))
    found = stopped.value.value
    assert found.losses == first.losses
    assert found.alike is (len(weights) == 1)


def test_a_closer_look_asks_for_nothing_farther_out() -> None:
    """Later rounds use less extreme quantiles. Extreme ones could be outside the window."""
    counted = nobody([1.0], [30_000])
    steps = outer(lambda _: counted, GOAL, neighbours="replace")
    begun: Any = next(steps).mechanism
    first: Any = steps.send(noisy(begun, {40.0: 1e6})).mechanism
    assert first.candidates.count == OCTAVE
    steps.send(300)
    second: Any = steps.send(300).mechanism
    assert isinstance(second.candidates, CellsOf)
    assert first.odds[0] < second.odds[0] <= _PARTS * 0.46
    third: Any = steps.send(1).mechanism
    assert third.odds == second.odds[::-1]


def test_everyone_pays_for_the_selections_of_all_rounds() -> None:
    counted = nobody([0.5, 1.0], [15_000, 15_000])
    steps = outer(partial(always, counted), GOAL, neighbours="replace")
    drawn: list[Any] = [next(steps).mechanism]
    answer: Any = noisy(drawn[0], {40.0: 1e6})
    try:
        while True:  # both ends are in one bucket, so there is another round
            drawn.append(steps.send(answer).mechanism)
            answer = 300
    except StopIteration as end:
        losses = end.value.losses
    assert len(drawn) >= 5
    assert losses == tuple(map(sum, zip(*(each.losses for each in drawn), strict=True)))


def test_a_window_has_as_many_cells_as_the_prior_counts_on() -> None:
    """All cells of a window have the same prior, so ln(cells) is the log-odds against one cell."""
    for cells in ZOOM[1:]:
        ends = CellsOf(cells).before(np.array([0, 1, cells]))
        assert math.log((ends[2] - ends[0]) / (ends[1] - ends[0])) == pytest.approx(math.log(cells))
