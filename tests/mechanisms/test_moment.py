"""A mean drawn with its sum of squares costs no more privacy than the mean alone."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons import frozen
from epsilons.budgets.allocation import RULES, allocate_for
from epsilons.draws.mechanisms import (
    PARTS_OF_A_VARIANCE,
    Additive,
    SumAndSquares,
    build_moments,
)
from epsilons.draws.mechanisms.sums import PARTS_OF_A_MEAN, reach_of
from epsilons.draws.noise import DiscreteLaplace, PointMass, Staircase
from epsilons.errors import PrivacyError
from epsilons.risk.goals import MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED
from tests.profiles import ADVERSARIAL, ORDINARY
from tests.tallied import tallied

GRID = 2**30
LAPLACE = [name for name in RULES if name != "staircase"]


def allocated(budgets: ep.Budgets, method: str = "proportional") -> Any:
    return allocate_for(budgets, MeanGoal(SAMPLE, "mse", 0.95), method)


def made(
    budgets: ep.Budgets, method: str = "proportional", bounds: tuple[float, float] = (0.0, 1.0)
) -> SumAndSquares:
    found = build_moments(allocated(budgets, method), grid=GRID, bounds=bounds)
    assert isinstance(found, SumAndSquares)
    return found


Parts = tuple[Fraction, Fraction]
BOTH = pytest.mark.parametrize("parts", [PARTS_OF_A_MEAN, PARTS_OF_A_VARIANCE])


def test_stairs_are_for_the_mean_alone() -> None:
    budgets = ep.Budgets({2.0: 12, 4.0: 20, 8.0: 8})
    found = build_moments(allocated(budgets, "staircase"), grid=GRID, bounds=(0.0, 1.0))
    assert isinstance(found, Additive)


@BOTH
@pytest.mark.parametrize("epsilon", [(0.5, 1.0), (0.25, 2.0), (1.0, 1.0, 3.0)])
def test_losses_are_those_of_brute_force(epsilon: tuple[float, ...], parts: Parts) -> None:
    """The loss is the largest change of both sums together, over all neighbours on a grid."""
    grid, scale = 4, 4
    levels = np.array(sorted(set(epsilon)))
    counts = np.array([epsilon.count(level) for level in levels])
    reach = reach_of(grid, parts)
    weights = np.maximum(np.floor(levels * scale).astype(np.int64) - 1, 0) * grid // reach
    mechanism = SumAndSquares(
        levels, counts, weights, reach, grid, DiscreteLaplace(scale),
        Fraction(int(weights @ counts)), (0.0, 1.0), parts,
    )  # fmt: skip
    level_of = np.repeat(np.arange(len(levels)), counts)

    def total(data: tuple[int, ...]) -> tuple[int, int]:
        sums, squares = np.zeros(len(levels), dtype=np.int64), np.zeros(len(levels), dtype=np.int64)
        for level, g in zip(level_of, data, strict=True):
            sums[level] += g
            squares[level] += math.floor(Fraction((2 * g - grid) ** 2, 4 * grid))
        return mechanism.total(tallied(sums=sums, squares=squares))

    farthest = [0] * len(levels)
    for data in itertools.product(range(grid + 1), repeat=len(epsilon)):
        here = total(data)
        for person, level in enumerate(level_of.tolist()):
            for other in range(grid + 1):
                there = total((*data[:person], other, *data[person + 1 :]))
                far = sum(abs(a - b) for a, b in zip(here, there, strict=True))
                farthest[level] = max(farthest[level], far)
    for far, loss, level in zip(farthest, mechanism.losses, levels.tolist(), strict=True):
        assert Fraction(far, scale) <= loss <= Fraction(level)
    ep.verify.exact(mechanism).require()


def test_two_roundings_can_move_by_one_more_than_the_weight() -> None:
    """If weights ignore the second rounding, losses exceed the budget, and the checker notices."""
    grid, weight = 8, 3
    places = [(g, (2 * g - grid) ** 2 // (4 * grid)) for g in range(grid + 1)]
    far = 0
    for (g, v), (h, w) in itertools.product(places, places):
        for rest, other in itertools.product(range(grid), repeat=2):
            sums = abs((rest + weight * g) // grid - (rest + weight * h) // grid)
            far = max(far, sums + abs((other + weight * v) // grid - (other + weight * w) // grid))
    assert far == weight + 1
    for budgets in (ADVERSARIAL["dyadic"], ADVERSARIAL["equal"], ORDINARY["half strict"]):
        mechanism = made(budgets)
        broken = dataclasses.replace(mechanism, weights=mechanism.weights + 1)
        assert not ep.verify.exact(broken).holds
        with pytest.raises(PrivacyError):
            ep.verify.exact(broken).require()


def moved(grid: int, parts: Parts) -> Fraction:
    """Return the largest change of a·g + b·v over all pairs of values, before the last rounding.

    Here g is a value on the grid, and v is the square of its distance from the middle.
    """
    a, b = parts
    at = [(g, (2 * g - grid) ** 2 // (4 * grid)) for g in range(grid + 1)]
    return max(a * abs(g - h) + b * abs(v - w) for (g, v), (h, w) in itertools.product(at, at))


@pytest.mark.parametrize("grid", [2, 6, 64, 120])
def test_a_person_moves_both_sums_by_no_more_than_their_reach(grid: int) -> None:
    """For several pairs of factors, the largest change is at most the reach, and close to it."""
    for parts in (
        PARTS_OF_A_MEAN,
        PARTS_OF_A_VARIANCE,
        (Fraction(1), Fraction(1, 2)),
        (Fraction(24, 25), Fraction(36, 25)),
    ):
        far, reach = moved(grid, parts), reach_of(grid, parts)
        assert far <= reach <= far + 2 * parts[1] + 1
    assert reach_of(GRID, PARTS_OF_A_VARIANCE) == GRID + 3
    assert reach_of(GRID, PARTS_OF_A_MEAN) == GRID


def test_what_is_not_of_its_kind_is_refused() -> None:
    mechanism = made(ORDINARY["half strict"])
    assert not ep.verify.exact(dataclasses.replace(mechanism, reach=GRID + 1)).holds
    for wrong, words in (
        ({"reach": GRID - 1}, "by less"),
        ({"law": Staircase(Fraction(1), 8, 4)}, "each cross a stair"),
    ):
        with pytest.raises(PrivacyError, match=words):
            ep.verify.exact(dataclasses.replace(mechanism, **wrong))


@BOTH
def test_estimates_are_those_of_fractions(parts: Parts) -> None:
    budgets = ep.Budgets({0.25: 3, 1.0: 5})
    mechanism = build_moments(allocated(budgets), grid=GRID, bounds=(-10.0, 30.0), parts=parts)
    assert isinstance(mechanism, SumAndSquares)
    assert mechanism.quiet == (1.0 if parts == PARTS_OF_A_MEAN else pytest.approx(1.0 / 3.0))
    alone = float(mechanism.scale / mechanism.all_weights)
    assert mechanism.weighing.scale == pytest.approx(alone / float(parts[0]))
    g = np.array([0, GRID // 4, GRID, GRID // 3, 7, GRID // 2, GRID - 1, 123_456_789])
    level = np.repeat([0, 1], [3, 5])
    v = [math.floor(Fraction((2 * int(each) - GRID) ** 2, 4 * GRID)) for each in g]
    sums = np.array([int(g[level == each].sum()) for each in (0, 1)])
    squares = np.array([sum(v[i] for i in np.flatnonzero(level == each)) for each in (0, 1)])
    total = mechanism.total(tallied(sums=sums, squares=squares))
    weights = [Fraction(int(mechanism.weights[each])) for each in level]
    whole = sum(weights)
    x = [Fraction(int(each), GRID) for each in g]
    mean = sum(w * each for w, each in zip(weights, x, strict=True)) / whole
    second = (
        sum(w * (each - Fraction(1, 2)) ** 2 for w, each in zip(weights, x, strict=True)) / whole
    )
    assert mechanism.estimate(total) == pytest.approx(float(-10 + 40 * mean), rel=1e-9)
    offset, square = mechanism.moments(total)
    assert offset == pytest.approx(float(mean - Fraction(1, 2)), rel=1e-8)
    assert square == pytest.approx(float(second), rel=1e-8)
    pairs = np.array([total, total])
    assert mechanism.estimates(pairs).tolist() == pytest.approx([mechanism.estimate(total)] * 2)


def test_the_mean_is_drawn_as_if_it_were_alone() -> None:
    mechanism = made(ORDINARY["half strict"])
    first, _ = mechanism.draw(ep.Seeded(3), total=(5, 9))
    assert first == 5 + mechanism.law.draw(ep.Seeded(3))
    drawn = mechanism.draw(ep.Seeded(4), 1000, total=(5, 2**70))
    assert drawn.dtype == object
    assert drawn.shape == (1000, 2)
    assert ep.verify.draws(mechanism).passes


def test_public_people_are_as_they_are() -> None:
    mechanism = made(ep.Budgets({0.5: 10, math.inf: 4}))
    assert isinstance(mechanism.law, PointMass)
    assert mechanism.losses == (Fraction(0), math.inf)
    assert ep.verify.exact(mechanism).holds
    values = np.array([0.0] * 10 + [0.2, 0.4, 0.6, 0.8])
    given: dict[str, Any] = {"method": "proportional", "source": ep.Seeded(1)}
    release = ep.mean(values, epsilon=[0.5] * 10 + [math.inf] * 4, bounds=(0, 1), **given)
    assert release.raw == pytest.approx(0.5)
    assert release.spread is not None
    assert release.spread.value == pytest.approx(np.std([0.2, 0.4, 0.6, 0.8]))


@BOTH
def test_it_is_written_and_read_back(parts: Parts) -> None:
    mechanism = build_moments(
        allocated(ORDINARY["wide"]), grid=GRID, bounds=(0.0, 1.0), parts=parts
    )
    again = frozen.from_plain(frozen.to_plain(mechanism))
    assert isinstance(again, SumAndSquares)
    assert again.losses == mechanism.losses
    drawn = [each.draw(ep.Seeded(2), total=(7, 8)) for each in (mechanism, again)]
    assert drawn[0] == drawn[1]


def test_a_total_with_squares_twice_as_large_is_noticed() -> None:
    class Doubled(SumAndSquares):
        def total(self, tally: Any) -> tuple[int, int]:
            return super().total(tallied(sums=tally.sums, squares=2 * tally.squares))

    mechanism = made(ORDINARY["half strict"])
    fields = {each.name: getattr(mechanism, each.name) for each in dataclasses.fields(mechanism)}
    broken = Doubled(**fields)
    assert ep.verify.exact(broken).holds
    with pytest.raises(PrivacyError, match="totals"):
        ep.verify.draws(broken).require()


@pytest.mark.parametrize("fault", ["twice", "rows"])
def test_squares_of_the_tally_that_move_too_far_show_in_a_replay(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count_numpy: Any = importlib.import_module("epsilons.door.given.arrays")
    # People move from a quarter of the range to its upper end, so their squares change.
    values = np.full(90, 0.25)
    question = ep.Mean(values, bounds=(0, 1), about="population", related=False)
    person = np.repeat(np.arange(30), 3)
    given: dict[str, Any] = {"epsilon": np.repeat([0.5, 2.0], 45), "person": person}
    assert ep.verify.replay(question, **given).holds
    real = count_numpy.squares

    def wrong(grid: Any) -> Any:
        # The fault "rows" counts a person once for each of their three rows.
        return 2 * real(grid) if fault == "twice" else 3 * real(grid)

    monkeypatch.setattr(count_numpy, "squares", wrong)
    assert not ep.verify.replay(question, **given).holds


def test_every_assumption_draws_both() -> None:
    for assumption in (SAMPLE, UNRELATED, RELATED):
        release = ep.mean(
            np.linspace(0.0, 1.0, 200),
            epsilon=np.repeat([0.5, 2.0], 100),
            bounds=(0, 1),
            **dataclasses.asdict(assumption),
            method="optimal",
            source=ep.Seeded(1),
        )
        assert release.mechanism.kind == "sum and squares"
        ep.verify.exact(release.mechanism).require()
