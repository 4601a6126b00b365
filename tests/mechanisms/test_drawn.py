"""Single draws and array draws have the same distribution. Totals have the declared sensitivity.

The sampling coins have the declared probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import door
from epsilons.budgets.allocation import allocate
from epsilons.budgets.levels import Ladder
from epsilons.door import GRID
from epsilons.draws.mechanisms import build, build_histogram
from epsilons.draws.mechanisms.add_remove import CellSums, LevelCounts, TwoSums
from epsilons.draws.mechanisms.sums import kept, stays, weights_of
from epsilons.draws.noise import DiscreteLaplace
from epsilons.papers.sampling import coins_at
from epsilons.questions.steps.designs import METHODS
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED
from tests.tallied import tallied

_rng = np.random.default_rng(11)
VALUES = _rng.uniform(2.0, 9.0, 240)
EPSILON = _rng.choice([0.13, 0.7, 1.9], 240)
ALLOCATION = allocate({0.13: 80, 0.7: 80, 1.9: 80})
SHARES = allocate({0.13: 80, 0.7: 80, 1.9: 80}, statistic="frequencies", categories=3)
STAIRS = allocate({4.0: 100, 8.0: 100}, method="staircase")
PAIR = ep.Budgets({0.13: 80, 1.9: 80})


def sums_of(method: str) -> TwoSums | CellSums:
    release = ep.mean(
        [], epsilon=[], bounds=(0, 1), levels={2.0: 9}, method=method, neighbours="add-remove"
    )
    mechanism = release.mechanism
    assert isinstance(mechanism, TwoSums | CellSums)
    return mechanism


def cell_sums() -> CellSums:
    mechanism = ep.frequencies(
        [],
        epsilon=[],
        categories=range(4),
        levels={0.13: 80, 0.7: 80, 1.9: 80},
        neighbours="add-remove",
    ).mechanism
    assert isinstance(mechanism, CellSums)
    return mechanism


DRAWN: dict[str, Callable[[], Any]] = {
    "additive": lambda: build(ALLOCATION, grid=GRID, bounds=(0.0, 1.0)),
    "sampled": lambda: coins_at(PAIR, MeanGoal(RELATED, "mse", 0.95), 1.9).sum((0.0, 1.0)),
    "staircase": lambda: build(STAIRS, grid=GRID, bounds=(0.0, 1.0)),
    "histogram": lambda: build_histogram(SHARES, unit=1),
    "cell sums": cell_sums,
    **{method: partial(sums_of, method) for method in METHODS},
}
BULK = 12000
ALPHA = 1e-8


def differ(one: Any, other: Any) -> float:
    """Return an upper bound on the p-value of a two-sample test of equal distributions."""
    points = np.concatenate([one, other])
    gaps = [np.searchsorted(np.sort(x), points, side="right") / len(x) for x in (one, other)]
    distance = float(np.abs(gaps[0] - gaps[1]).max())
    return 2.0 * math.exp(-2.0 * distance**2 * len(one) * len(other) / (len(one) + len(other)))


def test_counts_of_levels_have_noise_of_their_own_rates() -> None:
    stage = LevelCounts.of(Ladder.declare(np.array([0.1, 0.8, 4.0])))
    assert [float(rate) for rate in stage.rates] == pytest.approx([0.0125, 0.1, 0.125])
    total = np.array([100, 200, 300])
    source = ep.Seeded(3)
    found = np.array([stage.draw(source, total) for _ in range(800)], dtype=float) - total
    for column, rate in enumerate(stage.rates):
        theirs = np.asarray(DiscreteLaplace(1 / rate).draw(source, BULK), dtype=float)
        assert differ(found[:, column], theirs) > ALPHA
        assert differ(found[:, column] / 2.0, theirs) < ALPHA
    capped = LevelCounts.of(Ladder.declare(np.array([0.1, 0.8, 4.0])), 0.4)
    assert [float(rate) for rate in capped.rates] == pytest.approx([0.0125, 0.05, 0.05])


# The sensitivity of totals.


def test_a_person_moves_the_totals_by_what_the_mechanism_says() -> None:
    """One person changes totals by exactly `moves`·weight·reach in the ℓ1 norm.

    The factor `moves` is 2 if people are replaced, and 1 if they are added or removed.
    """
    histogram = build_histogram(SHARES, unit=1)
    before = np.zeros((3, 3), dtype=np.int64)
    before[:, 0] = 80
    for level in range(3):
        after = before.copy()
        after[level, 0] -= 1
        after[level, 2] += 1
        first, second = (histogram.total(tallied(cells=each)) for each in (before, after))
        moved = np.abs(second - first).sum()
        assert moved == histogram.moves * histogram.weights[level] * histogram.reach
    assert histogram.moves == 2
    sums = cell_sums()
    for level, weight in zip(sums.levels.tolist(), sums.weights.tolist(), strict=True):
        one = door.Tally(
            np.array([level]), np.array([1]), np.array([[0, 1, 0, 0]]) * sums.reach, 1, (0, 1, 2, 3)
        )
        assert np.abs(sums.total(one)).sum() == sums.moves * weight * sums.reach
    assert sums.moves == 1


def test_weights_are_rounded_down() -> None:
    spent = np.array([0.1, 1.0 / 3.0, 0.7, math.pi])
    for shift in (3, 20, 40, 47):
        for weight, each in zip(weights_of(spent, shift).tolist(), spent.tolist(), strict=True):
            assert weight <= Fraction(each) * 2**shift < weight + 1
    people: dict[str, Any] = {"epsilon": EPSILON, "levels": {0.13: 80, 0.7: 80, 1.9: 80}}
    for words in ({"method": "transformed"}, {"method": "hourglass"}, {"epsilon": 0.7}):
        given = words if "epsilon" in words else {**people, **words}
        mechanism: Any = ep.mean(
            VALUES, bounds=(0, 10), neighbours="add-remove", source=ep.Seeded(5), **given
        ).mechanism
        weights = dict(zip(mechanism.levels.tolist(), mechanism.weights.tolist(), strict=True))
        verdict = ep.verify.exact(mechanism)
        assert all(
            loss <= Fraction(level) for level, loss in zip(weights, verdict.losses, strict=True)
        )


# Sampling coins.


def test_coins_are_rounded_down() -> None:
    given = np.array([1.0, 0.1, 1.0 / 3.0, 2.0**-60, 0.3e-10, 0.0, 1.0 - 2.0**-53])
    for coin, each in zip(kept(given), given.tolist(), strict=True):
        assert coin <= Fraction(each) < coin + Fraction(1, 2**53)
        assert (coin * 2**53).denominator == 1


def test_a_coin_is_tossed_with_its_own_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2⁵³ equally likely integers, exactly those below p·2⁵³ keep a person of probability p."""
    keep = (Fraction(0), Fraction(3, 2**53), Fraction(1, 2), Fraction(1))
    level_of = np.array([0, 1, 1, 2, 2, 3])
    tossed = np.array([0, 2, 3, 2**52 - 1, 2**52, 2**53 - 1])

    def fixed(source: Any, below: int, size: int) -> Any:
        assert below == 2**53
        assert size == len(tossed)
        return tossed

    monkeypatch.setattr("epsilons.draws.mechanisms.sums.below_many", fixed)
    answer = stays(ep.Seeded(1), keep, level_of)
    assert answer.tolist() == [False, True, False, True, False, True]


def test_as_many_stay_as_coins_say() -> None:
    """At each of three levels, the fraction of people kept is near the coin's probability.

    By Hoeffding's inequality, the false-alarm probability is 1e-7.
    """
    keep = (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
    size = 20_000
    level_of = np.repeat(np.arange(3), size)
    answer = stays(ep.Seeded(9), keep, level_of)
    reach = math.sqrt(math.log(2.0 / 1e-7) / (2.0 * size))
    for level, chance in enumerate(keep):
        share = float(answer[level_of == level].mean())
        assert abs(share - chance) < reach
        assert abs(share - (float(chance) + 0.05)) > reach


def test_fractions_are_computed_once() -> None:
    """Losses are computed only once: a ladder can have thousands of rungs (budget levels)."""
    counts = LevelCounts(np.array([1.0, 2.0]), np.array([0, 1]), (Fraction(1), Fraction(2)))
    for mechanism in (sums_of("transformed"), cell_sums(), counts):
        assert mechanism.losses is mechanism.losses
    law = DiscreteLaplace(Fraction(3))
    assert law.pieces is law.pieces
