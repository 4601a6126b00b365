"""Sampling: the probabilities of the paper, the privacy losses, and the releases."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.door import GRID
from epsilons.draws.mechanisms import Additive, Histogram
from epsilons.draws.noise import DiscreteLaplace
from epsilons.errors import ArgumentError, BoundsError, MissingValueError
from epsilons.papers.sampling import (
    Coins,
    Sampled,
    best_coins,
    keep_probability,
    sampling_loss,
)
from epsilons.risk.goals import CellsGoal, Goal, MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests.profiles import ORDINARY

GOALS = [MeanGoal(a, loss, 0.95) for a in (SAMPLE, UNRELATED, RELATED) for loss in ("mse", "pac")]


def log_ratio(first: dict[int, float], second: dict[int, float]) -> float:
    return max(abs(math.log(first[y]) - math.log(second[y])) for y in first)


def coins(people: Any, goal: Goal = GOALS[-2]) -> Coins:
    found = best_coins(people if isinstance(people, ep.Budgets) else ep.Budgets(people), goal)
    assert isinstance(found, Coins)
    return found


pairs = st.tuples(st.floats(1e-12, 300.0), st.floats(1e-12, 300.0))


def kept(epsilon: float, limit: float) -> Decimal:
    return min(Decimal(1), (Decimal(epsilon).exp() - 1) / (Decimal(limit).exp() - 1))


@settings(max_examples=300)
@given(pairs)
def test_people_are_kept_with_the_probability_of_jorgensen_yu_and_cormode(
    pair: tuple[float, float],
) -> None:
    epsilon, limit = pair
    found = float(keep_probability(np.array([epsilon]), limit)[0])
    with localcontext() as context:
        context.prec = 200
        exact = kept(epsilon, limit)
        # The rate is lowered by the fraction 2⁻⁴³. This is more than all rounding errors together,
        # so the rate is never too large. Rounding ε − t, where t is the limit, changes e^{ε − t} by
        # at most the fraction |ε − t|·2⁻⁵³. The other rounding errors are a few units in the last
        # place.
        slack = Decimal("1.2e-13") + Decimal(abs(epsilon - limit)) * Decimal("2.3e-16")
        assert exact * (1 - slack) <= Decimal(found) <= exact


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.floats(0.01, 20.0), min_size=2, max_size=8),
    st.sampled_from((SAMPLE, UNRELATED, RELATED)),
    st.sampled_from(("mse", "pac")),
)
def test_sampling_keeps_nobody_more_often_than_their_budget_allows(
    epsilon: list[float], assumption: Assumption, loss: str
) -> None:
    found = coins(epsilon, MeanGoal(assumption, loss, 0.95))
    limit = found.limit
    assert limit == found.spent.max()
    assert limit in found.levels
    with localcontext() as context:
        context.prec = 60
        for level, keep in zip(found.levels.tolist(), found.keep.tolist(), strict=True):
            assert Decimal(keep) <= kept(level, limit) * (1 + Decimal("1e-14"))
    expected = float(found.counts @ found.keep)
    assert found.weighing.scale == pytest.approx(1.0 / (limit * expected), rel=1e-12)
    np.testing.assert_allclose(found.weighing.weights, found.keep / expected, rtol=1e-12)


def test_sampling_takes_the_best_limit_among_the_levels() -> None:
    epsilon = [0.2] * 30 + [1.0] * 10 + [6.0]
    goal = MeanGoal(SAMPLE, "mse", 0.95)
    least = goal.risk(coins(epsilon, goal).weighing)
    for limit in (0.2, 1.0, 6.0):
        lower = [min(e, limit) for e in epsilon]
        keep = np.array([float(kept(e, limit)) for e in lower])
        weights = keep / keep.sum()
        # The people are a random sample of the population: this has variance ¼Σw². Each of them is
        # kept with probability p: this adds ¼Σw²(1 − p)/p. The sum is ¼Σw²/p. Noise is added last.
        risk = 0.25 * float(np.sum(weights**2 / keep)) + 2.0 / (limit * float(keep.sum())) ** 2
        assert least <= risk * (1.0 + 1e-9)


def test_a_person_kept_too_often_is_caught() -> None:
    mechanism = coins(ORDINARY["half strict"]).sum((0.0, 1.0))
    goal = MeanGoal(SAMPLE, "mse", 0.95)
    sampled = coins({0.5: 30, 1.0: 30, 2.0: 400}, goal).sum((0.0, 1.0))
    for each in (mechanism, sampled):
        assert ep.verify.exact(each).holds
    assert sampled.keep is not None
    assert sampled.keep[0] < 1
    # The printed rate p = ε/t ignores amplification by sampling, and is too large.
    t = float(sampled.weights.max() / sampled.scale)
    naive = tuple(min(Fraction(level) / Fraction(t), Fraction(1)) for level in (0.5, 1.0, 2.0))
    broken = dataclasses.replace(sampled, keep=naive)
    assert any(a > b for a, b in zip(naive, sampled.keep, strict=True))
    assert not ep.verify.exact(broken).holds


def test_revealing_who_was_kept_would_break_the_promise() -> None:
    """Publishing the sample size breaks the guarantee, although the printed proof allows it."""
    t, epsilon, weight, grid = 2.0, 0.2, 6, 4
    keep = float(keep_probability(np.array([epsilon]), t)[0])
    law = DiscreteLaplace(Fraction(weight) / Fraction(t))

    def law_of(value: int) -> dict[str, dict[int, float]]:
        total = weight * (2 * value - grid) // (2 * grid)
        kept, left = (
            {y: chance * math.exp(law.log_pmf(y - at)) for y in range(-60, 61)}
            for chance, at in ((keep, total), (1.0 - keep, 0))
        )
        return {"size 1": kept, "size 0": left, "hidden": {y: kept[y] + left[y] for y in kept}}

    low, high = law_of(0), law_of(grid)
    loss = {shown: log_ratio(low[shown], high[shown]) for shown in low}
    hidden = float(sampling_loss(np.array([keep]), t)[0])
    assert loss == pytest.approx({"size 1": t, "size 0": 0.0, "hidden": hidden})
    assert loss["hidden"] <= epsilon < loss["size 1"]


def test_who_is_not_kept_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    staying = np.array([True, False, True, False, False])
    for room in ("papers.sampling", "draws.mechanisms.histogram"):
        monkeypatch.setattr(f"epsilons.{room}.stays", lambda *_: staying)
    chosen = coins({0.13: 80, 1.9: 80})
    sampled = chosen.sum((0.0, 1.0))
    level_of = np.array([0, 0, 1, 1, 1])
    grid = np.array([GRID, GRID, 0, GRID // 4, GRID])
    weight = int(sampled.weights.max())
    # Two people are kept. Their values are at opposite ends of the range, so they cancel.
    assert sampled.thin(ep.Seeded(1), level_of, grid) == 0
    grid[2] = GRID
    assert sampled.thin(ep.Seeded(1), level_of, grid) == weight
    histogram = chosen.cells(3)
    counted = histogram.thin(ep.Seeded(1), level_of, np.array([0, 1, 2, 2, 1]))
    assert counted.tolist() == [int(histogram.weights.max()) * each for each in (1, 0, 1)]


def test_it_is_never_better_than_the_best_cap() -> None:
    budgets = ep.Budgets({0.1: 500, 1.0: 200, 5.0: 40})
    for goal in (*GOALS, CellsGoal(SAMPLE, "mse", 0.95, 4), CellsGoal(RELATED, "pac", 0.95, 4)):
        least = allocate_for(budgets, goal, "optimal").risk
        assert least <= goal.risk(coins(budgets, goal).weighing)


def test_the_noise_of_cells_is_independent() -> None:
    """With sampling, noises of cells do not sum to zero: the number of people kept is private."""
    goal = CellsGoal(RELATED, "mse", 0.95, 4)
    found = coins({0.2: 50, 0.5: 30, 2.0: 20}, goal)
    assert found.weighing.closed is None
    mechanism = found.cells(4)
    assert mechanism.weighing.closed is None
    assert mechanism.draw(ep.Seeded(1)).sum() != 0


VALUES = np.linspace(0.0, 10.0, 60)
EPSILON = np.repeat([0.5, 1.0, 2.0], 20)
SAMPLED: dict[str, Any] = {"about": "population", "related": False}


def test_a_release_is_what_its_mechanism_draws() -> None:
    release = ep.papers.sampled_mean(
        VALUES, epsilon=EPSILON, bounds=(0, 10), source=ep.Seeded(4), **SAMPLED
    )
    mechanism: Any = release.mechanism
    assert type(mechanism) is Sampled
    assert release.method == "sampling"
    assert ep.Release.from_json(release.to_json()).value == release.value
    shares = ep.papers.sampled_frequencies(
        ["a", "b", "c"] * 20,
        epsilon=EPSILON,
        categories=list("abc"),
        source=ep.Seeded(4),
        **SAMPLED,
    )
    assert type(shares.mechanism) is Histogram
    assert shares.mechanism.keep is not None
    for each in (release, shares):
        assert ep.verify.exact(each.mechanism).holds
        assert (each.for_each(EPSILON) <= EPSILON).all()


@pytest.mark.parametrize("to", [0.0, 10.0])
def test_one_person_moves_one_sum_under_the_same_coins(to: float) -> None:
    """With the same seed, other people's coins and the noise do not depend on one person."""

    def drawn(values: Any) -> tuple[float, Any]:
        release = ep.papers.sampled_mean(
            values, epsilon=EPSILON, bounds=(0, 10), source=ep.Seeded(4), **SAMPLED
        )
        return release.raw, release.mechanism

    before, mechanism = drawn(VALUES)
    for row in range(0, 60, 7):
        other = VALUES.copy()
        other[row] = to
        after, same = drawn(other)
        assert same.weights.tolist() == mechanism.weights.tolist()
        most = 10.0 * int(mechanism.weights.max()) / float(mechanism.divisor)
        assert abs(after - before) <= most * (1.0 + 1e-9)


def test_public_people_alone_need_no_coins() -> None:
    epsilon = np.append(np.full(30, 0.01), [math.inf] * 30)
    release = ep.papers.sampled_mean(VALUES, epsilon=epsilon, bounds=(0, 10), **SAMPLED)
    assert type(release.mechanism) is Additive
    assert release.value == pytest.approx(VALUES[30:].mean(), abs=1e-6)


def test_what_does_not_fit_is_refused_before_anything_is_drawn() -> None:
    class Dry(ep.Seeded):
        def bytes(self, size: int) -> bytes:
            raise AssertionError("something was drawn")

    source, gaps = Dry(1), np.append(VALUES[:-1], np.nan)
    with pytest.raises(BoundsError, match="bounds"):
        ep.papers.sampled_mean(VALUES, epsilon=EPSILON, bounds=None, source=source)
    with pytest.raises(ArgumentError, match="missing='exclude' is not known"):
        ep.papers.sampled_mean(
            gaps, epsilon=EPSILON, bounds=(0, 10), missing="exclude", source=source
        )
    with pytest.raises(MissingValueError):
        ep.papers.sampled_mean(gaps, epsilon=EPSILON, bounds=(0, 10), source=source)
    with pytest.raises(ArgumentError, match="names a column"):
        ep.papers.sampled_mean("x", epsilon=EPSILON, bounds=(0, 10), source=source)
    with pytest.raises(ArgumentError, match="categories"):
        ep.papers.sampled_frequencies(VALUES, epsilon=EPSILON, source=source)
