"""Means by private groups: intervals cover as stated, with noise drawn by the mechanisms.

Values are two-point, skewed, or mostly zeros. Budgets are related to values in the worst way that
an assumption allows, or not at all. One group has half of the people, one has 5 %, and one is
empty. All runs of a case share one margin, which treats each group separately.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail each
comparison with probability below 10⁻⁹, by exact binomial tails for the misses of 90 % intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from scipy.stats import binom

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import Budgets, Ladder
from epsilons.door import GRID
from epsilons.draws.mechanisms import CellTable, build_histogram
from epsilons.draws.mechanisms.add_remove import CellSums, build_cell_sums
from epsilons.risk.goals import CellsGoal
from epsilons.risk.groups.margins import GroupedMeans
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Booleans, Floats, Integers
from tests.tallied import tallied

TAIL: Final = 1e-9
CONFIDENCE: Final = 0.9
LEVELS: Final = np.array([0.1, 0.5, 1.0])
APART: Final = 0.05
GROUPS: Final = 3
SHARES: Final = np.array([0.5, 0.05, 0.0, 0.45])
"""The fractions of people in three groups and in no group. The third group is empty."""

ANSWERS: Final = (
    RELATED,
    Assumption("people", APART),
    UNRELATED,
    SAMPLE,
    Assumption("population", True),
    Assumption("population", APART),
)
KINDS: Final = ("two values", "skewed", "mostly zeros")
Generator = np.random.Generator


def some(kind: str, people: int, rng: Generator) -> Floats:
    """Draw values from one of the populations. `AVERAGE` contains their means."""
    if kind == "two values":
        return np.asarray(rng.random(people) < 0.3, dtype=np.float64)
    if kind == "skewed":
        return rng.beta(0.3, 2.7, people)
    return np.where(rng.random(people) < 0.8, 0.0, rng.random(people))


AVERAGE: Final = {"two values": 0.3, "skewed": 0.1, "mostly zeros": 0.1}


@dataclass(frozen=True, eq=False)
class Case:
    """People, and an assumption that is true for them.

    Attributes:
        kind: the distribution of their values.
        n: the number of people.
        answer: the assumption.
    """

    kind: str
    n: int
    answer: Assumption

    @property
    def levels(self) -> Integers:
        """Return the level of each person. A third of the people have each level."""
        return np.sort(np.arange(self.n) % len(LEVELS))

    def people(self, rng: Generator) -> tuple[Any, Floats, Any, Floats]:
        """Draw groups and values of people, ordered by level.

        Also return the true means and shares.
        """
        level = self.levels
        groups = np.resize(np.repeat(np.arange(4), (100 * SHARES).astype(int)), self.n)
        groups = rng.permutation(groups)
        values: Any = some(self.kind, self.n, rng)
        if self.answer.sampled:
            groups = rng.choice(4, size=self.n, p=SHARES)
            truth: Any = AVERAGE[self.kind]
            if self.answer.related is not False:
                by_level = np.array([0.1, 0.9, 0.9] if self.answer.anything else [0.4, 0.45, 0.45])
                values = (rng.random(self.n) < by_level[level]).astype(np.float64)
                truth = float(by_level[level].mean())
            return groups, values, np.full(GROUPS, truth), SHARES[:GROUPS]
        if self.answer.anything:  # people with larger values have larger budgets
            values = (
                (level > 0).astype(np.float64) if self.kind == "two values" else np.sort(values)
            )
        elif self.answer.related is not False:
            values = AVERAGE[self.kind] + APART * (level > 0)
        values = np.rint(values * GRID) / GRID
        truth = np.array(
            [values[groups == j].mean() if (groups == j).any() else 0.5 for j in (0, 1, 2)]
        )
        shares = np.bincount(groups, minlength=4)[:GROUPS] / self.n
        return groups, values, truth, shares

    def cells(self, level: Any, groups: Any, values: Floats) -> Integers:
        """Return the sum for each level and cell, on the grid."""
        grid = np.rint(values * GRID).astype(np.int64)
        found = np.zeros((len(LEVELS), 2 * GROUPS + 1), dtype=np.int64)
        inside = groups < GROUPS
        np.add.at(found, (level[inside], 2 * groups[inside]), grid[inside])
        np.add.at(found, (level[inside], 2 * groups[inside] + 1), GRID - grid[inside])
        np.add.at(found[:, 2 * GROUPS], level[~inside], GRID)
        return found


def closed(case: Case) -> CellTable:
    """Return the table of a release in which everyone spends their entire budget."""
    budgets = Budgets(LEVELS[case.levels])
    goal = CellsGoal(case.answer, "mse", CONFIDENCE, 2 * GROUPS + 1)
    return build_histogram(allocate_for(budgets, goal, "proportional"), unit=GRID)


def opened() -> CellSums:
    """Return the mechanism of a release under add/remove."""
    rungs = tuple(Fraction(level) for level in LEVELS.tolist())
    return build_cell_sums(Ladder.declare(LEVELS), rungs, 1.0, cells=2 * GROUPS + 1, unit=GRID)


def simulated(case: Case, runs: int, seed: int, table: Any, weigh: Any) -> tuple[Any, ...]:
    """Simulate many runs. Return the drawn cells, the true means and the true shares."""
    rng, source = np.random.default_rng(seed), ep.Seeded(seed)
    first = case.people(rng)
    rows, truths, shares = [], [], []
    for _ in range(runs):
        groups, values, truth, share = case.people(rng) if case.answer.sampled else first
        if case.answer == UNRELATED:  # budgets are assigned at random
            order = rng.permutation(case.n)
            groups, values = groups[order], values[order]
        total = weigh(tallied(cells=case.cells(case.levels, groups, values)))
        rows.append(table.draw(source, total=total))
        truths.append(truth)
        shares.append(share)
    return np.array(rows), np.array(truths), np.array(shares)


def side_by_side(rows: Floats) -> Floats:
    """Return the cells of the groups in all runs, in one row."""
    return np.ascontiguousarray(rows[:, : 2 * GROUPS]).ravel()


def hold(missed: Booleans) -> bool:
    """Return whether the number of misses is consistent with the stated coverage."""
    return int(missed.sum()) <= binom.isf(TAIL, len(missed), 1.0 - CONFIDENCE)


def check(case: Case, runs: int, seed: int) -> None:
    table = closed(case)
    rows, truth, share = simulated(case, runs, seed, table, table.total)
    cells = side_by_side(table.estimates(rows))
    margin = GroupedMeans(table.weighing, table.slack, cells, False, 1.0 / GRID)
    low, high = (end.reshape(runs, GROUPS) for end in margin.unit(case.answer, CONFIDENCE))
    for group in (0, 1):
        assert hold((truth[:, group] < low[:, group]) | (truth[:, group] > high[:, group]))
    each = 1.0 - (1.0 - CONFIDENCE) / GROUPS
    least, most = (end.reshape(runs, GROUPS) for end in margin.unit(case.answer, each))
    assert hold(((truth < least) | (truth > most))[:, :2].any(axis=1))
    # The interval of an empty group is almost uninformative. Only noise can exclude both bounds.
    assert hold((low[:, 2] > 0.0) & (high[:, 2] < 1.0))
    _, low, high = (end.reshape(runs, GROUPS) for end in margin.shares(case.answer, CONFIDENCE))
    for group in range(GROUPS):
        assert hold((share[:, group] < low[:, group]) | (share[:, group] > high[:, group]))


def test_less_than_is_true_is_noticed() -> None:
    """Power: if a small δ is stated, but budgets determine values, too many intervals miss."""
    case = Case("two values", 3000, RELATED)
    table = closed(case)
    rows, truth, _ = simulated(case, 150, 3, table, table.total)
    cells = side_by_side(table.estimates(rows))
    margin = GroupedMeans(table.weighing, table.slack, cells, False, 1.0 / GRID)
    low, high = (end.reshape(150, GROUPS) for end in margin.unit(ANSWERS[1], CONFIDENCE))
    assert not hold((truth[:, 0] < low[:, 0]) | (truth[:, 0] > high[:, 0]))


# Means by group under add/remove.


# Two groups.


def test_the_error_of_a_difference_is_about_as_large_as_it_says() -> None:
    """If only noise is random, 90 % intervals of a difference miss in 5 % to 10 % of the runs."""
    goal = CellsGoal(RELATED, "mse", CONFIDENCE, 4)
    table = build_histogram(allocate_for(Budgets({0.3: 4000}), goal, "optimal"), unit=GRID)
    total = table.total(tallied(cells=np.array([[600, 1400, 1000, 1000]]) * GRID))
    exact = GroupedMeans(table.weighing, table.slack, table.estimates(total), False)
    low, high = exact.difference(0, 1, (0.0, 1.0), RELATED, CONFIDENCE)
    drawn = table.estimates(table.draw(ep.Seeded(7), 4000, total))
    between = drawn[:, 0] / (drawn[:, 0] + drawn[:, 1]) - drawn[:, 2] / (drawn[:, 2] + drawn[:, 3])
    missed = np.abs(between + 0.2) > (high - low) / 2.0
    assert hold(missed)
    assert missed.mean() > 0.05
