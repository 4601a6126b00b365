"""The sum of squared errors of a table agrees with an enumeration of all data."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import epsilons as ep
from epsilons.budgets.allocation import FREQUENCY_RULES, allocate_for
from epsilons.budgets.allocation.rules import weighing_of
from epsilons.budgets.levels import Budgets
from epsilons.risk import ClosedNoise, Moments, Weighing, cells
from epsilons.risk.goals import CellsGoal, MeanGoal
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats
from tests.profiles import ORDINARY

WEIGHTS = {
    4: (0.05, 0.15, 0.3, 0.5),
    5: (0.05, 0.1, 0.15, 0.3, 0.4),
    6: (0.02, 0.08, 0.1, 0.2, 0.25, 0.35),
}


def made(n: int, scale: float, closed: ClosedNoise | None = None) -> Weighing:
    return Weighing(np.array(WEIGHTS[n]), np.ones(n, dtype=np.int64), scale, closed=closed)


def every_table(n: int, k: int) -> Floats:
    """Return all tables in which each of n people is in one of k cells.

    The shape is (tables, people, cells). An entry is 1 if the person is in the cell, and 0 if not.
    """
    data = np.array(list(itertools.product(range(k), repeat=n)))
    return np.eye(k)[data]


@pytest.mark.parametrize(("n", "k"), [(4, 2), (5, 2), (5, 3), (6, 3), (4, 4), (5, 4), (4, 5)])
def test_all_data_of_few_people(n: int, k: int) -> None:
    """The risk equals the worst case over all data of a few people.

    If budgets are unrelated to values, the error is averaged over all permutations of the people
    before the worst case is taken.
    """
    weights, tables = np.array(WEIGHTS[n]), every_table(n, k)
    errors = np.einsum("i,dij->dj", weights - 1.0 / n, tables)
    squares = np.square(errors).sum(axis=1)
    assert float(cells.squares(made(n, 0.0), RELATED, k)) == pytest.approx(squares.max(), rel=1e-12)
    # Data with the same counts are permutations of one another.
    groups: dict[tuple[float, ...], list[float]] = {}
    for counts, square in zip(tables.sum(axis=1).tolist(), squares.tolist(), strict=True):
        groups.setdefault(tuple(counts), []).append(square)
    worst = max(float(np.mean(each)) for each in groups.values())
    assert float(cells.squares(made(n, 0.0), UNRELATED, k)) == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_all_samples_of_few_people(k: int) -> None:
    """The risk is the mean squared error over all samples from the worst population.

    In the worst population, all cells have the same share.
    """
    n = 4
    weights, tables = np.array(WEIGHTS[n]), every_table(n, k)
    said = float(cells.squares(made(n, 0.0), SAMPLE, k))
    found = []
    rng = np.random.default_rng(1)
    for shares in (np.full(k, 1.0 / k), *rng.dirichlet(np.ones(k), 30)):
        chance = np.prod(np.einsum("dij,j->di", tables, shares), axis=1)
        errors = np.einsum("i,dij->dj", weights, tables) - shares
        found.append(float(chance @ np.square(errors).sum(axis=1)))
    assert found[0] == pytest.approx(said, rel=1e-12)
    assert max(found) <= said * (1.0 + 1e-12)


@pytest.mark.parametrize("keep", [0.3, 0.8])
def test_coins_add_the_variance_of_whole_weights(keep: float) -> None:
    """With coins, the risk equals an enumeration of all data and coin tosses.

    A person's coin keeps or drops their entire weight in a cell. (A mean is different: values are
    measured from the middle of the range, so a coin changes the sum by at most half a weight.)
    """
    n, k = 4, 3
    weights, tables = np.array(WEIGHTS[n]), every_table(n, k)
    coins = np.array(list(itertools.product((0.0, 1.0), repeat=n)))
    chance = np.prod(np.where(coins > 0, keep, 1.0 - keep), axis=1)
    truth = tables.mean(axis=1)
    errors = np.einsum("ci,dij->cdj", coins * weights / keep, tables) - truth
    squares = chance @ np.square(errors).sum(axis=2)
    thinned = Weighing(weights, np.ones(n, dtype=np.int64), 0.0, np.full(n, keep))
    assert float(cells.squares(thinned, RELATED, k)) == pytest.approx(squares.max(), rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5, 6])
@pytest.mark.parametrize("apart", [0.1, 0.34, 0.5, 0.75, 1.0])
def test_the_squared_bias_is_the_largest_of_a_grid(k: int, apart: float) -> None:
    steps = {0.1: 2, 0.34: 2, 0.5: 2, 0.75: 6, 1.0: 2}[apart]
    axis = np.linspace(-apart, apart, 2 * steps + 1)
    grid = np.array(list(itertools.product(axis, repeat=k - 1))) if k < 6 else np.zeros((1, k - 1))
    if k == 6:
        rng = np.random.default_rng(2)
        grid = rng.choice(axis, size=(200_000, k - 1))
    grid = np.column_stack([grid, -grid.sum(axis=1)])
    grid = grid[np.abs(grid[:, -1]) <= apart + 1e-12]
    grid = grid[np.abs(grid).sum(axis=1) <= 2.0 + 1e-12]
    found = cells.squared_bias(k, apart)
    most = float(np.square(grid).sum(axis=1).max())
    assert most <= found + 1e-12
    if apart in (0.1, 0.5, 1.0):
        assert most == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("k", [2, 3, 7, 100])
def test_noise_adds_its_own_squares(k: int) -> None:
    still = float(cells.squares(made(5, 0.0), SAMPLE, k))
    apart = float(cells.squares(made(5, 0.1), SAMPLE, k))
    closed = float(cells.squares(made(5, 0.1, ClosedNoise(k)), SAMPLE, k))
    assert apart - still == pytest.approx(2 * k * 0.01, rel=1e-9)
    assert closed - still == pytest.approx((k - 1) * (2 * k - 1) / (k + 1) * 0.01, rel=1e-9)


N = 30
BUDGETS = np.array([0.4, 2.0])
# Strict people have the smaller budget, and generous people the larger one. Each population has the
# fraction of generous people, the share of each cell among strict people, and the share of each
# cell among generous people.
POPULATIONS = {
    "apart": (0.5, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "near": (0.5, (0.5, 0.5, 0.0), (0.4, 0.6, 0.0)),
    "many cells": (0.3, (0.3, 0.3, 0.2, 0.2), (0.2, 0.2, 0.3, 0.3)),
}


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("related", [True, 0.1])
def test_squares_hold_in_populations_of_pairs(name: str, related: bool | float) -> None:
    """Bounds hold in 20,000 seeded samples.

    With an allowance of six standard errors, the false-alarm probability is below 1e-8.
    """
    part, strict, generous = POPULATIONS[name]
    if related is not True and name == "apart":
        return
    k, runs, rng = len(strict), 20_000, np.random.default_rng(7)
    truth = (1.0 - part) * np.array(strict) + part * np.array(generous)
    drawn = rng.binomial(N, part, runs)
    counts = np.column_stack([N - drawn, drawn])
    total = counts @ BUDGETS
    weights = BUDGETS / total[:, None]
    hits = rng.multinomial(N - drawn, strict) * weights[:, :1]
    hits = hits + rng.multinomial(drawn, generous) * weights[:, 1:]
    squares = np.square(hits - truth).sum(axis=1)
    assumption = Assumption("population", related)
    bound = np.array(
        [
            float(cells.squares(Weighing(w, c, 0.0), assumption, k))
            for w, c in zip(weights[:400], counts[:400], strict=True)
        ]
    )
    assert squares.mean() - 6.0 * squares.std() / math.sqrt(runs) <= bound.mean()


def test_many_at_once_are_as_one() -> None:
    one = made(5, 0.1, ClosedNoise(4))
    many = Moments(
        5,
        np.ones(2),
        np.full(2, one.spread),
        np.full(2, one.bias),
        np.array([0.1, 0.2]),
        closed=ClosedNoise(4),
    )
    for about, related in itertools.product(("people", "population"), (True, 0.2, False)):
        assumption = Assumption(about, related)
        found = cells.squares(many, assumption, 4)
        assert found[0] == pytest.approx(float(cells.squares(one, assumption, 4)), rel=1e-12)
        assert found[1] > found[0]


@pytest.mark.parametrize("profile", ORDINARY)
@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED, Assumption("people", 0.05)])
def test_two_categories_have_the_cap_of_the_mean(profile: str, assumption: Assumption) -> None:
    budgets = ORDINARY[profile]
    table = allocate_for(budgets, CellsGoal(assumption, "mse", 0.95, 2), "optimal")
    one = allocate_for(budgets, MeanGoal(assumption, "mse", 0.95), "optimal")
    assert table.cap is not None
    assert table.cap == pytest.approx(one.cap, rel=1e-9)
    assert table.risk == pytest.approx(2.0 * one.risk, rel=1e-9)


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED])
@pytest.mark.parametrize("name", FREQUENCY_RULES)
def test_the_noise_of_a_rule_sums_to_zero(name: str, assumption: Assumption) -> None:
    budgets = Budgets({0.2: 50, 0.5: 30, 2.0: 20})
    found = allocate_for(budgets, CellsGoal(assumption, "mse", 0.95, 6), name)
    assert found.closed is not None
    assert found.weighing.closed == found.closed
    assert found.risk == pytest.approx(float(cells.squares(found.weighing, assumption, 6)))
    assert weighing_of(budgets, FREQUENCY_RULES["uniform"](budgets, found.goal)).closed is None


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED])
@pytest.mark.parametrize("k", [2, 5, 40])
def test_the_threshold_of_fewest_squares(assumption: Assumption, k: int) -> None:
    budgets = Budgets({0.05: 400, 0.3: 300, 1.0: 200, 3.0: 100})
    goal = CellsGoal(assumption, "mse", 0.95, k)
    found = allocate_for(budgets, goal, "threshold")
    risks = []
    for at in budgets.levels.tolist():
        people = int(budgets.counts[budgets.levels >= at].sum())
        weights = np.where(budgets.levels >= at, 1.0 / people, 0.0)
        one = Weighing(weights, budgets.counts, 2.0 / (at * people), closed=ClosedNoise(k))
        risks.append(float(cells.squares(one, assumption, k)))
    assert found.risk == pytest.approx(min(risks), rel=1e-9)


def test_exact_where_it_is_said_to_be() -> None:
    one = made(5, 0.1, ClosedNoise(3))
    for loss, exact in (("mse", 3), ("largest", 1), ("pac", 1)):
        answers = (RELATED, SAMPLE, UNRELATED, Assumption("population", True))
        said = [CellsGoal(each, loss, 0.9, 3).is_exact(one) for each in answers]
        assert sum(said) == exact
        assert said[0]
        assert not said[-1]


def test_largest_is_refused_for_a_mean() -> None:
    people = {0.1: 5, 1.0: 5}
    calls = (
        lambda: ep.allocate(people, loss="largest"),
        lambda: ep.plan(people, loss="largest"),
        lambda: ep.Mean("x", bounds=(0, 1), loss="largest"),
        lambda: ep.theory.least_error(people, loss="largest"),
    )
    for call in calls:
        with pytest.raises(ep.errors.ArgumentError, match=r"loss='largest' is for frequencies"):
            call()
