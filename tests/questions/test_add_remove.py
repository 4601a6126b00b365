"""Add/remove: values within bounds, losses within budgets, methods, guesses and counts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.draws.mechanisms.add_remove import SHARE, CellSums, LevelCounts, TwoSums
from epsilons.draws.mechanisms.composed import Composed
from epsilons.draws.noise import Hourglass, Laplaces, Staircase2D
from epsilons.errors import ArgumentError, BudgetError
from epsilons.questions.steps.designs import METHODS
from epsilons.results.release import ByLevel, Release
from epsilons.risk.means import ratio
from tests.assumed import SAMPLE
from tests.plain import plain
from tests.questions.add_remove_cases import BASE, FACTS, NEWCOMERS, behind, cells_of, mean_of
from tests.tallied import tallied

pytestmark = pytest.mark.usefixtures("shorter")


# Values.


# Properties that must hold for all budgets.


@settings(deadline=None, max_examples=15)
@given(
    budgets=st.lists(st.floats(0.0, 40.0), min_size=1, max_size=5),
    levels=st.one_of(
        st.none(),
        st.lists(st.floats(0.01, 20.0), min_size=1, max_size=4),
        st.dictionaries(st.floats(0.01, 20.0), st.integers(0, 10**6), min_size=1, max_size=4),
    ),
    cap=st.one_of(st.none(), st.floats(1e-6, 50.0)),
    method=st.sampled_from(["auto", *METHODS]),
    seed=st.integers(0, 10**6),
)
def test_nobody_ever_spends_more_than_their_budget(
    budgets: list[float], levels: Any, cap: float | None, method: str, seed: int
) -> None:
    arguments = {"levels": levels, "cap": cap, "method": method, "source": ep.Seeded(seed)}
    try:
        release = mean_of([(0.5, e, None) for e in budgets], person=False, **arguments)
    except (BudgetError, ArgumentError):
        return  # the levels are too close together, or the method needs declared levels
    assert ep.verify.exact(release.mechanism).holds
    assert isinstance(release.spent, ByLevel)
    assert (release.spent.spent <= release.spent.levels).all()
    for e in budgets:
        assert 0.0 <= release.spent(e) <= e
        if cap is not None:
            assert release.spent(e) <= cap
    for bad in (-1.0, math.nan, -math.inf):
        assert release.spent(bad) == 0.0


@settings(deadline=None, max_examples=12)
@given(
    guess=st.dictionaries(
        st.sampled_from([0.1, 0.5, 1.0, 2.0, 4.0, 8.0]), st.integers(0, 10**7), min_size=1
    ),
    method=st.sampled_from(["auto", *METHODS]),
)
def test_a_wrong_guess_costs_no_privacy(guess: dict[float, int], method: str) -> None:
    release = mean_of(BASE, levels=guess, method=method)
    assert ep.verify.exact(release.mechanism).holds
    cells = cells_of(BASE, levels=guess)
    assert ep.verify.exact(cells.mechanism).holds


@pytest.mark.parametrize("facts", FACTS)
def test_order_shift_and_scale_change_nothing_but_the_units(facts: str) -> None:
    rows = BASE[:5]
    one = mean_of(rows, **FACTS[facts])
    turned = mean_of(rows[::-1], **FACTS[facts])
    assert plain(turned) == plain(one)
    scaled = [(100.0 + 64.0 * v, e, who) for v, e, who in rows]
    other = mean_of(scaled, bounds=(100, 164), **FACTS[facts])
    assert other.value == pytest.approx(100.0 + 64.0 * one.value, rel=1e-12)
    assert other.risk == pytest.approx(64.0**2 * one.risk)
    np.testing.assert_allclose(other.interval(), [100.0 + 64.0 * x for x in one.interval()])
    assert plain(other.spent) == plain(one.spent)


def test_people_who_stand_on_one_rung_are_alike() -> None:
    facts = {"levels": [0.5, 2.0], "person": False}
    one = mean_of([(0.2, 0.6, 1), (0.9, 1.99, 2), (0.4, 2.0, 3)], **facts)
    other = mean_of([(0.2, 0.5, 1), (0.9, 0.5, 2), (0.4, math.inf, 3)], **facts)
    assert plain(one) == plain(other)
    assert one.spent(1.99) == one.spent(0.5)


# Methods, guesses and counts.


def auto(epsilon: Any, **facts: Any) -> Release:
    return mean_of(BASE, epsilon=epsilon, **facts)


def test_auto_takes_the_hourglass_where_budgets_are_large() -> None:
    large, small = auto(4.0), auto(0.1)
    assert large.method == "hourglass"
    assert isinstance(large.mechanism.law, Hourglass)
    assert small.method == "transformed"
    assert isinstance(small.mechanism.law, Laplaces)
    assert isinstance(auto(4.0, method="staircase2d").mechanism.law, Staircase2D)


def test_one_budget_is_spent_whole() -> None:
    for epsilon in (0.1, 1.0, 4.0, 7.3):
        for method in METHODS:
            release = auto(epsilon, method=method)
            assert release.spent(epsilon) <= epsilon
            assert release.spent(epsilon) == pytest.approx(epsilon, rel=1e-9)


def test_a_personal_hourglass_has_little_noise() -> None:
    half = {4.0: 500, 8.0: 500}
    facts = {"levels": half, "cap": 8.0}
    stairs, laplace = (mean_of(BASE, method=m, **facts) for m in ("hourglass", "transformed"))
    assert stairs.mechanism.law.rate == 4
    noise = [
        ratio.noise_variance(each.mechanism.law, each.mechanism.scheme)
        / float(each.mechanism.weights @ np.array([500, 500])) ** 2
        for each in (stairs, laplace)
    ]
    personal = ratio.noise_variance(Hourglass.best(4, 2**40), ratio.TWO_SUMS) / 1500.0**2
    assert stairs.mechanism.weights[0] == 1
    # `personal` is for weights 1 and 2, which sum to 1,500. With weights 1 for everyone, the sum is
    # 1,000, so the variance is at most 1.5² times as large.
    assert noise[0] <= 1.5**2 * personal
    assert personal <= 0.6 * noise[1]


def test_counting_spends_an_eighth_at_most() -> None:
    known: dict[str, Any]
    for known in ({"related": False}, {"levels": [0.01, 0.5, 1.0, 4.0, math.inf]}):
        release = mean_of(BASE, **known)
        assert isinstance(release.mechanism, Composed)
        counts, sums = release.mechanism.stages
        assert isinstance(counts, LevelCounts)
        assert isinstance(sums, (TwoSums, CellSums))
        for rung, spent in zip(counts.levels.tolist(), counts.losses, strict=True):
            assert 0 <= spent <= SHARE * Fraction(rung)
            assert spent <= SHARE
    # If budgets are unrelated to values, low rungs spend half of their ε on counts. The interval
    # must allow for all strict people that a count does not exclude, so this count must be precise.
    release = mean_of(BASE, levels=[0.01, 0.5, 1.0, 4.0], related=False)
    spent = release.mechanism.stages[0].losses
    assert float(spent[0]) == pytest.approx(0.005)
    assert [float(each) for each in spent[1:]] == pytest.approx([0.0625, 0.125, 0.125])
    assert ep.verify.exact(release.mechanism).holds
    for known in ({"cap": 1.0, "related": False}, {"levels": {1.0: 5}}, {"epsilon": 1.0}):
        assert not isinstance(mean_of(BASE, **known).mechanism, Composed)


def test_counts_are_noisy_counts_of_their_rungs() -> None:
    release = mean_of(BASE, levels=[0.5, 1.0, 4.0])
    counts = release.mechanism.stages[0]
    truth = counts.total(tallied(levels=np.array([0.5, 4.0]), counts=np.array([3, 2])))
    assert truth.tolist() == [3, 0, 2]
    drawn = np.array([counts.draw(ep.Seeded(seed), truth) for seed in range(3000)])
    for place, rate in enumerate(counts.rates):
        law_variance = 2.0 * math.exp(-float(rate)) / math.expm1(-float(rate)) ** 2
        error = drawn[:, place] - truth[place]
        assert abs(error.mean()) < 6.0 * math.sqrt(law_variance / len(error))
        assert error.var() == pytest.approx(law_variance, rel=0.3)


def test_a_guess_from_counts_is_that_of_people_who_are_noticed() -> None:
    counts = mean_of(BASE, levels=[0.5, 1.0, 4.0]).mechanism.stages[0]
    assert counts.guess((10**4, -5, 700)).tolist() == [10**4, 0, 700]
    assert counts.guess((0, 0, 0)).tolist() == [0, 0, 0]
    fine = mean_of(BASE, related=False).mechanism.stages[0]
    guess = fine.guess((10**5,) * len(fine.rates))
    assert int(guess.sum()) == 10**5 * len(fine.rates)
    lowest = fine.levels[fine.cell_of >= 0].min()
    assert lowest == 2.0**-6
    assert set(fine.losses[: int((fine.cell_of < 0).sum())]) == {Fraction(0)}


def test_the_number_of_people_is_noisy_or_untold() -> None:
    people = [(0.5, 2.0, i) for i in range(400)]
    assert mean_of(people, related=False).n is None
    assert mean_of(people, cap=1.0, related=False).n is None
    guessed: dict[str, Any] = {"levels": {0.1: 9, 2.0: 400}, "method": "transformed"}
    assert mean_of(people, **guessed, **SAMPLE).n is None
    assert mean_of(people, **guessed).n is not None  # counted, because budgets may be related
    counted = mean_of(people, levels=[1.0, 2.0], related=0.001)
    assert counted.n == sum(behind(counted).counted.counts)
    assert counted.n is not None
    assert counted.n != 400
    assert abs(counted.n - 400) < 300
    for alone in ({"epsilon": 0.5}, {"levels": [0.5]}, {"levels": {0.5: 400}}):
        # Everyone has the same weight, so the noisy sum of weights is a noisy count.
        equal = {mean_of(people, **alone, source=ep.Seeded(seed)).n for seed in range(9)}
        assert len(equal) > 3
        assert all(n is not None and abs(n - 400) < 100 for n in equal)
    assert "An undisclosed number" in str(mean_of(people, related=False))


def test_related_budgets_are_bounded_by_the_counts_alone() -> None:
    people = [(0.5, e, f"{i} {e}") for i in range(3000) for e in (1.0, 2.0)]
    untold = mean_of(people, cap=2.0, related=False)
    assert untold.sides[0].error == max(untold.value, 1.0 - untold.value)
    assert replace(untold, related=True).interval() == (0.0, 1.0)
    counted = mean_of(people, levels=[1.0, 2.0], about="people", related=True)
    assert counted.sides[0].error < 0.3
    low, high = counted.interval()
    assert low <= 0.5 <= high
    assert high - low < 0.6
    assert mean_of(people, epsilon=1.0, about="people", related=True).sides[0].error < 0.01


# Frequencies.


def test_frequencies_of_many_people_are_right() -> None:
    rows = [(v, 1.0, i) for i, v in enumerate([0.1] * 6000 + [0.4] * 3000 + [0.9] * 1000)]
    for facts in ({}, {"epsilon": 1.0}, {"levels": [0.5, 1.0]}, {"cap": 1.0}):
        release = cells_of(rows, person=False, **facts, **SAMPLE)
        np.testing.assert_allclose(release.value, [0.6, 0.3, 0.1], atol=0.02)
        low, high = release.band()
        assert (low <= [0.6, 0.3, 0.1]).all()
        assert (high >= [0.6, 0.3, 0.1]).all()
        assert (high - low).max() < 0.1
        assert release.method == "transformed"


def test_what_is_in_no_category_is_in_no_share() -> None:
    rows = [(v, 1.0, i) for i, v in enumerate([0.1] * 3000 + [0.9] * 3000 + [0.77] * 6000)]
    release = cells_of(rows, person=False, epsilon=1.0)
    np.testing.assert_allclose(release.value, [0.5, 0.0, 0.5], atol=0.02)
    caught = cells_of(rows, person=False, epsilon=1.0, other="rest")
    np.testing.assert_allclose(caught.value, [0.25, 0.0, 0.25, 0.5], atol=0.02)


def test_cells_move_by_one_person() -> None:
    release = cells_of(BASE, levels={0.5: 10, 4.0: 10})
    made = release.mechanism
    assert isinstance(made, CellSums)
    for added in NEWCOMERS.values():
        other = cells_of([*BASE, *added], levels={0.5: 10, 4.0: 10})
        moved = np.abs(behind(other).drawn - behind(release).drawn).sum()
        smallest = min((0.0 if e is None or not e > 0 else e) for _, e, _ in added)
        rung = int(np.searchsorted(made.levels, smallest, side="right")) - 1
        weight = int(made.weights[rung]) if rung >= 0 else 0
        assert moved <= weight * (1.0 + 1e-9)
        loss = Fraction(weight * made.reach) / made.law.scale
        assert loss <= Fraction(smallest) if math.isfinite(smallest) else True


def test_no_one_is_left_with_even_shares() -> None:
    for seed in range(40):
        release = cells_of([], epsilon=1.0, source=ep.Seeded(seed))
        if behind(release).total <= 0.0:
            np.testing.assert_allclose(release.raw, np.full(3, 1 / 3))
            assert release.interval()[0].tolist() == [0.0] * 3
            return
    pytest.fail("no total was below 0 in forty draws")
