"""Margins of means by group agree with the margin of a mean and with brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from epsilons.frozen import from_plain, to_plain
from epsilons.risk.counted import LevelCount
from epsilons.risk.groups.margins import GroupedMeans, RatioGroups
from epsilons.risk.groups.pairs import GroupPair, PairSide
from epsilons.risk.groups.reach import ROWS, Heights, Reach, binned, grown, inverted, least_refuted
from epsilons.risk.means import mean
from epsilons.risk.tails.combined import EDGES, PARTS, of_four, of_means
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption, Weighing

UNIT = (0.0, 1.0)
LITTLE = Assumption("people", 0.05)
ANSWERS = [RELATED, LITTLE, UNRELATED, SAMPLE]
ANSWERS += [Assumption("population", True), Assumption("population", 0.05)]
NAMES = [f"{each.about}-{each.related}" for each in ANSWERS]
CONSENT = np.array([0.1, 0.5, 2.0])


def weighing(cells: int | None, cap: float = 0.5, n: int = 4002) -> Weighing:
    """Return the estimator for three budget levels, with a third of the people at each."""
    counts = np.full(3, n // 3)
    spent = np.minimum(CONSENT, cap)
    total = float(spent @ counts)
    closed = None if cells is None else ClosedNoise(cells)
    return Weighing(spent / total, counts, 2.0 / total, closed=closed)


def groups(*means: float, cap: float = 0.5, n: int = 4002, outside: bool = False) -> GroupedMeans:
    """Return a margin of groups of equal size, without noise."""
    cells = 2 * len(means) + outside
    share = 1.0 / (len(means) + outside)
    drawn = [each for m in means for each in (share * m, share * (1.0 - m))] + [share] * outside
    return GroupedMeans(weighing(cells, cap, n), 1e-9, np.array(drawn), outside)


def width(ends: Any) -> Any:
    return np.asarray(ends[1]) - np.asarray(ends[0])


# A single group of all people has the margin of a mean.


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_one_group_of_everybody_has_the_interval_of_a_mean(confidence: float) -> None:
    whole = groups(0.5)
    alone = replace(whole.weighing, closed=None, scale=whole.weighing.scale / 2.0)
    far = mean.quantile(alone, LITTLE, confidence)
    low, high = whole.intervals(UNIT, LITTLE, confidence)
    assert width((low, high))[0] / 2.0 == pytest.approx(far, rel=5e-3)
    for answer in ANSWERS if confidence > 0.9 else ():
        far = mean.quantile(alone, answer, confidence)
        assert width(whole.intervals(UNIT, answer, confidence))[0] / 2.0 <= 1.35 * far


def test_its_share_is_one() -> None:
    assert [each.tolist() for each in groups(0.2).shares(RELATED, 0.95)] == [[1.0]] * 3


def test_means_near_an_end_of_the_range_have_less_bias() -> None:
    low, high = (width(groups(m).intervals(UNIT, RELATED, 0.95))[0] for m in (0.02, 0.5))
    assert low < 0.5 * high


# Properties of every margin of groups.


@pytest.mark.parametrize("answer", ANSWERS, ids=NAMES)
def test_intervals_are_nested_and_bands_hold_them(answer: Assumption) -> None:
    margin = groups(0.2, 0.5, 0.9, outside=True)
    ends = [margin.intervals(UNIT, answer, confidence) for confidence in (0.5, 0.9, 0.99)]
    for (low, high), (lower, higher) in pairwise(ends):
        assert np.all(lower <= low)
        assert np.all(high <= higher)
    low, high = margin.band(UNIT, answer, 0.9)
    lower, higher = margin.intervals(UNIT, answer, 1.0 - 0.1 / 3)
    assert (low.tolist(), high.tolist()) == (lower.tolist(), higher.tolist())


@pytest.mark.parametrize("answer", ANSWERS, ids=NAMES)
def test_data_units_change_nothing(answer: Assumption) -> None:
    margin = groups(0.2, 0.5)
    low, high = margin.intervals(UNIT, answer, 0.95)
    lower, higher = margin.intervals((-30.0, 90.0), answer, 0.95)
    assert lower == pytest.approx(120.0 * low - 30.0)
    assert higher == pytest.approx(120.0 * high - 30.0)
    assert margin.means((-30.0, 90.0)) == pytest.approx([-6.0, 30.0])
    first, second = margin.difference(0, 1, UNIT, answer, 0.95)
    assert margin.difference(0, 1, (-30.0, 90.0), answer, 0.95) == pytest.approx(
        (120.0 * first, 120.0 * second)
    )


@pytest.mark.parametrize("answer", ANSWERS, ids=NAMES)
def test_turning_the_range_around_turns_intervals_around(answer: Assumption) -> None:
    low, high = groups(0.2, 0.7).intervals(UNIT, answer, 0.95)
    lower, higher = groups(0.8, 0.3).intervals(UNIT, answer, 0.95)
    assert lower == pytest.approx(1.0 - high)
    assert higher == pytest.approx(1.0 - low)


@pytest.mark.parametrize("answer", ANSWERS, ids=NAMES)
def test_heights_never_fall_as_a_group_weighs_more(answer: Assumption) -> None:
    """The heavier a group is in the release, the larger are both critical values of its test.

    With little noise, there are two sets of critical values, and neither is smaller for all groups.
    """
    budgets, counts = np.array([0.1, 1.0]), ((10, 10), (100, 10))
    for people, noise, beta in product(map(np.array, counts), (2.0, 0.2), (0.05, 0.5)):
        total = float(budgets @ people)
        whole = Weighing(budgets / total, people, noise / total, closed=ClosedNoise(5))
        found = Reach(whole, answer, of_means(5), ROWS).heights(np.geomspace(1e-3, 1, 40), beta)
        for side in (found.up, found.down):
            assert np.all(np.diff(side, axis=0) >= -1e-9 * whole.scale)


def test_the_same_groups_read_back_say_the_same() -> None:
    margin = groups(0.2, 0.5)
    again = from_plain(to_plain(margin))
    assert again.difference(0, 1, UNIT, LITTLE, 0.95) == margin.difference(0, 1, UNIT, LITTLE, 0.95)


def test_of_a_group_without_people_nothing_is_said() -> None:
    drawn = np.array([0.3, 0.2, 1e-5, -2e-5, 0.25, 0.25 + 1e-5])
    margin = GroupedMeans(weighing(6), 1e-9, drawn, False)
    for answer in ANSWERS:
        low, high = margin.intervals((0.0, 10.0), answer, 0.95)
        assert (low[1], high[1]) == (0.0, 10.0)
        least, most = margin.difference(0, 1, UNIT, answer, 0.95)
        assert least <= -0.4
        assert most - least >= 1.0
    assert margin.means((0.0, 10.0))[1] == 5.0


def test_public_people_have_no_noise_and_infinite_noise_says_nothing() -> None:
    drawn = np.array([0.2, 0.3, 0.1, 0.4])
    exact = replace(weighing(None), scale=0.0, weights=np.full(3, 1.0 / 4002))
    low, high = GroupedMeans(exact, 0.0, drawn, False).intervals(UNIT, RELATED, 0.95)
    assert low == pytest.approx([0.4, 0.2], abs=1e-9)
    assert high == pytest.approx([0.4, 0.2], abs=1e-9)
    nothing = replace(weighing(None), scale=math.inf)
    for answer in ANSWERS:
        low, high = GroupedMeans(nothing, 0.0, drawn, False).intervals(UNIT, answer, 0.95)
        assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_integers_make_intervals_wider() -> None:
    margin = groups(0.2, 0.5)
    wider = replace(margin, rounding=0.01)
    grown_by = width(wider.intervals(UNIT, LITTLE, 0.9)) - width(
        margin.intervals(UNIT, LITTLE, 0.9)
    )
    assert grown_by == pytest.approx([0.04, 0.04], rel=0.15)


def test_closed_noise_is_narrower_than_independent_noise() -> None:
    closed = groups(0.5, 0.5)
    alone = replace(closed, weighing=replace(closed.weighing, closed=None))
    equal = np.full(3, 1.0 / 4002)
    ends = [
        width(
            replace(each, weighing=replace(each.weighing, weights=equal)).intervals(
                UNIT, RELATED, 0.95
            )
        )
        for each in (closed, alone)
    ]
    assert np.all(ends[0] < 0.87 * ends[1])


# Intervals by inverting a test.


def test_what_is_not_refuted_is_found_by_brute_force() -> None:
    rng = np.random.default_rng(1)
    up = 0.05 + 0.1 * rng.random((40, PARTS))
    heights = Heights(up, up[:, ::-1])
    first, total = 0.5 * rng.random(40), 0.3 + 0.7 * rng.random(40)
    low, high = inverted(first, total, heights)
    m = np.linspace(0.0, 1.0, 20_001)
    part = np.clip(np.searchsorted(EDGES, m, side="right") - 1, 0, PARTS - 1)
    for row in range(40):
        t = first[row] - m * total[row]
        left = m[(t <= heights.up[row, part]) & (t >= -heights.down[row, part])]
        assert low[row] == pytest.approx(left[0], abs=1e-4)
        assert high[row] == pytest.approx(left[-1], abs=1e-4)


def test_shares_are_rounded_up_a_little() -> None:
    shares = np.geomspace(1e-6, 1.0, 500)
    found, index = binned(shares)
    assert np.all(found[index] >= shares * (1.0 - 1e-12))
    assert np.all(found[index] <= 1.021 * shares)


def test_moments_are_those_of_the_worst_mean_in_a_part() -> None:
    x = np.array([0.01, 1.0, 7.0])
    found = grown(x)
    for part in (0, 20, 40, 63):
        m = np.linspace(EDGES[part], EDGES[part + 1], 200)[:, None]
        exact = ((1.0 - m) * np.exp(-x * m) + m * np.exp(x * (1.0 - m)) - 1.0).max(axis=0)
        assert found[part] == pytest.approx(exact, rel=1e-3)
        assert np.all(found[part] >= exact * (1.0 - 1e-9))


# Two groups.


@pytest.mark.parametrize("answer", ANSWERS, ids=NAMES)
def test_a_difference_is_narrower_than_two_intervals(answer: Assumption) -> None:
    margin = groups(0.3, 0.5, n=12_000)
    low, high = margin.intervals(UNIT, answer, 0.975)
    crude = width((low, high)).sum()
    least, most = margin.difference(0, 1, UNIT, answer, 0.95)
    assert least < -0.2 < most
    assert most - least <= (0.85 if answer in (LITTLE, SAMPLE, UNRELATED) else 1.05) * crude
    other = margin.difference(1, 0, UNIT, answer, 0.95)
    assert other == pytest.approx((-most, -least), abs=2e-3)


@pytest.mark.parametrize("answer", ANSWERS[1:4:2], ids=NAMES[1:4:2])
def test_a_ratio_holds_what_the_difference_says(answer: Assumption) -> None:
    margin = groups(0.3, 0.5, n=12_000)
    low, high = margin.ratio(0, 1, UNIT, answer, 0.95)
    assert 0.0 <= low < 0.6 < high
    ends = margin.intervals(UNIT, answer, 0.975)
    assert high - low <= 1.1 * (ends[1][0] / ends[0][1] - ends[0][0] / ends[1][1])


def test_ratios_of_what_may_be_zero_or_negative() -> None:
    margin = groups(0.3, 0.5, n=12_000)
    assert margin.ratio(0, 1, (-0.5, 0.5), LITTLE, 0.95) == (-math.inf, math.inf)
    low, high = margin.ratio(0, 1, (-2.0, -1.0), LITTLE, 0.95)
    assert low < 1.7 / 1.5 < high
    low, high = margin.ratio(0, 1, (-0.4, 0.6), LITTLE, 0.95)
    assert low < -1.0 < high < 0.0
    assert margin.ratio(1, 1, UNIT, LITTLE, 0.95) == (1.0, 1.0)
    assert margin.difference(1, 1, UNIT, LITTLE, 0.95) == (0.0, 0.0)


def test_a_pair_has_the_noise_of_all_that_it_may_be() -> None:
    """If everyone has the same weight, the error of a difference of two means has two parts.

    One is the noise of the cells. The other is due to the noisy total weights of the two groups.
    Each group adds the largest relative error of its weight, times the largest error of its mean.
    """
    equal = Weighing(np.array([1e-3]), np.array([1000]), 0.01, closed=ClosedNoise(4))
    reach = Reach(equal, RELATED, of_means(4), ROWS)
    first = PairSide(0.3, 0.2, (0.25, 0.4), (0.1, 0.4))
    second = PairSide(0.6, 0.7, (0.5, 0.65), (0.6, 0.9))
    found = GroupPair(reach, 4, (first, second), 0.0).error(((1.0, 1.0), (1.0, 1.0)), 0.1)
    # The first group's true weight is in [0.25, 0.4], and the noisy one is 0.3, so its relative
    # error is at most 0.25. For the second group, with 0.6 and [0.5, 0.65], it is at most 0.2. The
    # error of each mean is at most 0.2.
    least = 0.2 * 0.25 + 0.2 * 0.2
    worst = 0.0
    for m, other in product((0.1, 0.25, 0.4), (0.6, 0.9)):
        v = ((1.0 - m) / 0.25, -m / 0.25, -(1.0 - other) / 0.5, other / 0.5)
        law, unit = of_four(4, v)
        worst = max(worst, 0.01 * unit * float(law.reach(0, 0.0, 0.1)))
    assert found == pytest.approx(worst + least, rel=1e-6)


# An unknown number of people.


def opened(**changed: Any) -> RatioGroups:
    said: dict[str, Any] = {
        "largest": 5.0,
        "equal": False,
        "counted": LevelCount((2000, 2000), (0.2, 0.2), np.array([1, 5])),
        "weights_of": np.array([1, 5]),
        "drawn": np.array([1800.0, 4200.0, 3000.0, 3000.0, 0.0]),
        "scale": 10.0,
        "slack": 1e-9,
        "outside": True,
    }
    return RatioGroups(**said | changed)


@pytest.mark.parametrize("answer", ANSWERS, ids=NAMES)
def test_an_unknown_number_of_people_has_wider_intervals(answer: Assumption) -> None:
    margin = opened()
    low, high = margin.intervals(UNIT, answer, 0.95)
    assert np.all(low < [0.3, 0.5])
    assert np.all(high > [0.3, 0.5])
    unheard = opened(counted=None).intervals(UNIT, answer, 0.95)
    if answer.related is True:
        assert np.all(width(unheard) >= width((low, high)) - 0.02)
    again = from_plain(to_plain(margin))
    assert again.difference(0, 1, UNIT, answer, 0.95) == margin.difference(0, 1, UNIT, answer, 0.95)
    first, second = margin.difference(0, 1, UNIT, answer, 0.95)
    assert first < -0.2 < second
    value, low, high = margin.shares(answer, 0.95)
    assert value == pytest.approx([0.5, 0.5])
    assert np.all((low < 0.5) & (high > 0.5))


def test_equal_weights_have_no_bias_and_no_chance() -> None:
    equal = opened(equal=True, largest=1.0, weights_of=np.array([1, 1]), counted=None)
    ends = [equal.intervals(UNIT, answer, 0.95) for answer in (RELATED, LITTLE, UNRELATED)]
    assert width(ends[0]) == pytest.approx(width(ends[1]))
    assert width(ends[0]) == pytest.approx(width(ends[2]))
    assert np.all(width(ends[0]) < 0.03)
    assert np.all(width(equal.intervals(UNIT, SAMPLE, 0.95)) > width(ends[0]))


def test_nobody_at_all() -> None:
    nobody = opened(drawn=np.array([-3.0, 1.0, 2.0, -4.0, 0.0]))
    for answer in ANSWERS:
        low, high = nobody.intervals(UNIT, answer, 0.95)
        assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [1.0, 1.0])
        _, low, high = nobody.shares(answer, 0.95)
        assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [1.0, 1.0])
        assert nobody.difference(0, 1, UNIT, answer, 0.95) == (-1.0, 1.0)


# Random permutations, by brute force.


@pytest.mark.parametrize("light", [3, 27])
def test_shuffled_people_are_within_heights_on_either_side(light: int) -> None:
    """If people are permuted at random, statistics exceed each critical value as rarely as stated.

    The data have few light or few heavy people, and a few values 1 among zeros. There are 20,000
    permutations. If a critical value is exceeded with probability exactly β/2, the test fails with
    probability below 10⁻⁹.
    """
    n, beta = 30, 0.2
    each = np.repeat([0.1, 1.0], [light, n - light])
    whole = Weighing(np.array([0.1, 1.0]) / each.sum(), np.array([light, n - light]), 0.0)
    reach = Reach(whole, UNRELATED, of_means(4), ROWS, whole=True)
    values = np.zeros(n)
    values[:2] = 1.0
    part = int(np.searchsorted(EDGES, values.mean(), side="right")) - 1
    heights = reach.heights(np.ones(1), beta)
    rng = np.random.default_rng(1)
    weights = rng.permuted(np.tile(each / each.sum(), (20_000, 1)), axis=1)
    off = weights @ values - values.mean()
    most = binom.isf(1e-9, len(off), beta / 2.0)
    assert (off > heights.up[0, part]).sum() <= most
    assert (off < -heights.down[0, part]).sum() <= most
    # Rare values of 1 cause large errors in one direction. The critical value there is larger.
    wider = heights.up > heights.down if light == 27 else heights.down > heights.up
    assert wider[0, part]


def test_a_sample_is_within_heights_on_either_side() -> None:
    n, beta, share = 400, 0.1, 0.1
    whole = Weighing(np.array([0.5, 2.0]) / 500.0, np.array([200, 200]), 0.0)
    reach = Reach(whole, SAMPLE, of_means(4), ROWS)
    rng = np.random.default_rng(2)
    inside = rng.random((20_000, n)) < share
    values = rng.random((20_000, n)) < 0.3
    off = (inside * (values - 0.3)) @ np.repeat(whole.weights, 200)
    weight = inside.astype(np.float64) @ np.repeat(whole.weights, 200)
    shares, index = binned(weight)
    heights = reach.heights(shares, beta)
    part = int(np.searchsorted(EDGES, 0.3, side="right")) - 1
    missed = (off > heights.up[index, part]) | (off < -heights.down[index, part])
    assert missed.sum() <= binom.isf(1e-9, len(off), beta)


# The published mean is inside its interval.


def test_the_least_refuted_mean_is_that_of_a_fine_grid() -> None:
    """The mean that the test refutes least minimizes statistic/critical value over a fine grid."""
    rng = np.random.default_rng(11)
    parts = len(EDGES) - 1
    first = np.concatenate([-rng.uniform(0.01, 1.0, 20), 1.0 + rng.uniform(0.01, 1.0, 20)])
    total = rng.uniform(0.05, 1.0, 40)
    heights = Heights(rng.uniform(0.1, 1.0, (40, parts)), rng.uniform(0.1, 1.0, (40, parts)))
    found = least_refuted(first, total, heights)
    grid = np.linspace(0.0, 1.0, 1001)

    def refuted(group: int, m: float) -> float:
        off = first[group] - m * total[group]
        # Critical values differ between parts of the unit range. A mean on the edge between two
        # parts has the larger of their critical values.
        at = {
            min(int(np.searchsorted(EDGES, m, side=side)) - 1, parts - 1)
            for side in ("left", "right")
        }
        height = heights.up if off > 0.0 else heights.down
        return min(abs(off) / height[group, part] for part in at if part >= 0)

    for group in range(40):
        least = min(refuted(group, m) for m in grid)
        assert refuted(group, float(found[group])) <= least + 1e-12


def test_a_mean_within_its_interval_replaces_one_that_was_clipped_out_of_it() -> None:
    """A clipped quotient outside its interval is replaced by a mean inside the interval."""
    rng = np.random.default_rng(3)
    outside = 0
    for assumption, n in product(ANSWERS, (9, 30, 300)):
        margin = groups(*[0.0] * 40, n=n)
        noise = rng.laplace(0.0, 2.0 * margin.weighing.scale, len(margin.drawn))
        drawn = replace(margin, drawn=margin.drawn + noise - noise.mean())
        low, high = drawn.intervals((0.0, 100.0), assumption, 0.95)
        clipped = drawn.means((0.0, 100.0))
        within = drawn.within((0.0, 100.0), assumption, 0.95)
        assert ((low <= within) & (within <= high)).all()
        held = (low <= clipped) & (clipped <= high)
        np.testing.assert_array_equal(within[held], clipped[held])
        outside += int((~held).sum())
    assert outside > 0
