"""Intervals of differences and ratios of public groups' means have the stated coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

import epsilons as ep
from epsilons import frozen
from epsilons.risk.groups.public import PublicGroups, PublicGroupsEvenly
from epsilons.risk.means import mean
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption, Weighing

UNIT = (0.0, 1.0)
FIRST = Weighing(np.array([0.5, 1.5]) / 400, np.array([200, 200]), 0.01)
SECOND = Weighing(np.array([1.0]) / 300, np.array([300]), 0.02)
WITHIN = Assumption("people", 0.05)
EVERY = [RELATED, UNRELATED, SAMPLE, WITHIN, Assumption("population", 0.05)]


def groups(first: float = 0.3, second: float = 0.4) -> PublicGroups:
    drawn = np.array([first, second, np.nan])
    return PublicGroups((FIRST, SECOND, None), (0.0,) * 3, drawn, np.array([400, 300, 0]))


def half(margin: PublicGroups, assumption: Assumption, confidence: float) -> float:
    low, high = margin.difference(0, 1, UNIT, assumption, confidence)
    assert (low + high) / 2.0 == pytest.approx(-0.1)
    return (high - low) / 2.0


@pytest.mark.parametrize("assumption", EVERY)
def test_jointly_is_never_wider_than_two_intervals_by_hand(assumption: Assumption) -> None:
    margin = groups()
    low, high = margin.intervals(UNIT, assumption, 0.975)
    by_hand = float((high - low)[:2].sum()) / 2.0
    assert half(margin, assumption, 0.95) <= by_hand
    assert half(margin, assumption, 0.95) < half(margin, assumption, 0.99)


@pytest.mark.parametrize("assumption", [RELATED, UNRELATED, SAMPLE])
def test_differences_and_ratios_hold_the_truth(assumption: Assumption) -> None:
    """Intervals cover the true value in 95 % of 20,000 runs on worst-case data.

    The number of misses is binomial with probability at most 0.05. The test fails above 5 % plus
    6.5 standard deviations, so the false-alarm probability is below 10⁻¹⁰.
    """
    rng = np.random.default_rng(7)
    runs = 20_000
    if assumption == RELATED:  # in the first group, people with larger weights have the value 1
        first = np.full(runs, 1.5 * 200 / 400)
    elif assumption == UNRELATED:  # half of the people have the value 1, in random order
        ones = rng.hypergeometric(200, 200, 200, runs)
        first = (0.5 * ones + 1.5 * (200 - ones)) / 400
    else:
        ones, more = rng.binomial(200, 0.5, (2, runs))
        first = (0.5 * ones + 1.5 * more) / 400
    people = rng.binomial(300, 0.25, runs) / 300 if assumption == SAMPLE else np.full(runs, 0.25)
    noise = rng.laplace(0, [[0.01], [0.02]], (2, runs))
    for ratio, true in ((1.0, 0.25), (2.0, 0.0)):  # m₁ − m₂ = ¼, and m₁ − 2·m₂ = 0
        reach = groups()._reach((0, 1), (1.0, ratio), assumption, 0.95)
        error = first + noise[0] - ratio * (people + noise[1]) - true
        missed = int((np.abs(error) > reach).sum())
        assert missed <= 0.05 * runs + 6.5 * math.sqrt(0.05 * 0.95 * runs)


def test_a_difference_without_the_second_noise_would_be_noticed() -> None:
    """Power: if one of the two noises is ignored, far more intervals miss than the limit allows."""
    rng = np.random.default_rng(8)
    runs = 20_000
    alone = mean.quantile(FIRST, RELATED, 0.95)
    errors = FIRST.bias + rng.laplace(0, 0.01, runs) + rng.laplace(0, 0.02, runs)
    missed = int((np.abs(errors) > alone).sum())
    assert missed > 0.05 * runs + 6.5 * math.sqrt(0.05 * 0.95 * runs)


def test_where_nothing_was_drawn_anything_can_be() -> None:
    margin = groups()
    bounds = (10.0, 20.0)
    assert margin.means(bounds)[2] == 15.0
    low, high = margin.intervals(bounds, RELATED, 0.95)
    assert (low[2], high[2]) == bounds
    assert margin.difference(0, 2, bounds, RELATED, 0.95) == (-10.0, 10.0)
    assert margin.ratio(2, 0, bounds, RELATED, 0.95) == (0.5, 2.0)
    assert margin.ratio(0, 2, UNIT, RELATED, 0.95) == (0.0, math.inf)
    assert groups(0.3, 1e-3).ratio(0, 1, UNIT, RELATED, 0.95)[1] == math.inf
    assert groups(-0.3, 0.4).ratio(0, 1, UNIT, RELATED, 0.95)[0] == 0.0


def test_all_groups_at_once_are_a_union_over_those_that_were_drawn() -> None:
    margin = groups()
    low, high = margin.band(UNIT, RELATED, 0.9)
    one, other = margin.intervals(UNIT, RELATED, 0.95)
    assert low == pytest.approx(one)
    assert high == pytest.approx(other)
    assert (low[2], high[2]) == UNIT  # the third group was not released


def test_shares_of_public_groups_are_public() -> None:
    value, low, high = groups().shares(RELATED, 0.95)
    assert value.tolist() == low.tolist() == high.tolist() == [400 / 700, 300 / 700, 0.0]
    value, low, high = groups().shares(SAMPLE, 0.95)
    far = math.sqrt(math.log(2 / 0.05) / 1400)
    assert low.tolist() == pytest.approx([400 / 700 - far, 300 / 700 - far, 0.0])
    assert high.tolist() == pytest.approx([400 / 700 + far, 300 / 700 + far, far])


def test_a_population_with_related_budgets_is_bounded_apart() -> None:
    margin = groups()
    sides = Assumption("population", 0.05)
    low, high = margin.difference(0, 1, UNIT, sides, 0.95)
    errors = [
        mean.quantile(FIRST, sides, 1 - 0.05 * part)
        + mean.quantile(SECOND, sides, 0.95 + 0.05 * part)
        for part in (0.5, 0.4, 0.6, 0.25, 0.75, 0.1, 0.9)
    ]
    assert (high - low) / 2.0 == pytest.approx(min(errors))


def test_it_is_stored_and_read_back() -> None:
    margin = groups()
    again = frozen.from_plain(frozen.to_plain(margin))
    assert again.difference(0, 1, UNIT, RELATED, 0.9) == margin.difference(0, 1, UNIT, RELATED, 0.9)
    assert again.numbers == 3
    assert math.isnan(again.drawn[2])


@pytest.mark.parametrize("assumption", EVERY)
def test_two_groups_count_alike_in_what_lies_between_them(assumption: Assumption) -> None:
    """If two groups are swapped, the difference changes its sign, and the ratio is inverted.

    Only the first group has a bias.
    """
    margin = groups()
    low, high = margin.difference(0, 1, UNIT, assumption, 0.95)
    assert margin.difference(1, 0, UNIT, assumption, 0.95) == pytest.approx((-high, -low))
    low, high = margin.ratio(0, 1, UNIT, assumption, 0.95)
    turned = margin.ratio(1, 0, UNIT, assumption, 0.95)
    assert turned == pytest.approx((1.0 / high, 1.0 / low), rel=1e-6)


@pytest.mark.parametrize("assumption", EVERY)
def test_where_budgets_are_sampled_with_values_the_split_is_fixed(assumption: Assumption) -> None:
    """The error of each of two groups gets half of the error probability, for any weights."""
    old = groups()
    new = PublicGroupsEvenly(old.weighings, old.slacks, old.drawn.copy(), old.people.copy())
    before, after = (half(each, assumption, 0.95) for each in (old, new))
    if not assumption.sampled or assumption.related is False:
        # The two classes differ only in the split of the error probability. Where one bound covers
        # both errors jointly, nothing is split. If budgets are unrelated to values, both classes
        # choose the best split, because the weights then say nothing about values.
        assert after == before
        return
    even = sum(mean.quantile(each, assumption, 0.975) for each in (FIRST, SECOND))
    assert after == pytest.approx(even, rel=1e-12)
    # `PublicGroups` uses the best split, so its interval is narrower. It stays for releases that
    # were published with it.
    assert before < after
    low, high = new.ratio(0, 1, UNIT, assumption, 0.95)
    assert low <= old.ratio(0, 1, UNIT, assumption, 0.95)[0] <= high
    # A single mean gets all of the error probability.
    assert new._apart([FIRST, SECOND], (1.0, 0.0), assumption, 0.05) == pytest.approx(
        mean.quantile(FIRST, assumption, 0.95)
    )


def test_stairs_are_split_by_their_public_widths() -> None:
    margin = PublicGroupsEvenly(*(getattr(groups(), name) for name in _FIELDS))
    assert len(margin._splits(RELATED)) > 1
    assert len(margin._splits(SAMPLE)) > 1
    assert margin._splits(Assumption("population", 0.3)) == (0.5,)


_FIELDS = ("weighings", "slacks", "drawn", "people")


def test_new_releases_have_the_fixed_split() -> None:
    """A stored release keeps its margin. A new release divides the error probability evenly."""
    place = np.repeat(["a", "b"], 50)
    release = ep.mean(
        np.full(100, 0.5),
        epsilon=1.0,
        bounds=(0, 1),
        by=place,
        groups=["a", "b"],
        groups_are="public",
        source=ep.Seeded(1),
    )
    assert type(release.estimate.margin) is PublicGroupsEvenly
    again = ep.Release.from_json(release.to_json())
    assert type(again.estimate.margin) is PublicGroupsEvenly
    assert "risk.PublicGroupsEvenly" in release.to_json()
