"""Tables of real people: intervals of marginal shares and of shares within rows cover as stated.

The people are voters of 1996, by vote and party. Budgets are assigned to cells in the worst order,
differ between cells by a stated amount, or are shuffled. In other cases, the voters are a sample.
The mechanisms draw the noise.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail each
comparison with probability below 10⁻⁹, by exact binomial tails for the misses of 90 % intervals.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import Budgets
from epsilons.draws.mechanisms import build_histogram
from epsilons.risk.goals import CellsGoal
from epsilons.risk.groups import tables
from epsilons.risk.shares import WeighedCells
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Booleans, Floats, Integers
from tests.tallied import tallied

TAIL: Final = 1e-9
CONFIDENCE: Final = 0.9
LEVELS: Final = np.array([0.2, 0.5, 1.0])
VOTES, PARTIES = 2, 7
CELLS: Final = VOTES * PARTIES
BY: Final = {
    "vote": np.repeat(np.arange(VOTES), PARTIES),
    "party": np.tile(np.arange(PARTIES), VOTES),
}
WAYS: Final = (
    RELATED,
    Assumption("people", 0.05),
    UNRELATED,
    SAMPLE,
    Assumption("population", True),
    Assumption("population", 0.05),
)
RUNS: Final = 120


@cache
def voters() -> Integers:
    """Return the cell of each of 944 voters, ascending."""
    found: Any = importlib.import_module("statsmodels.datasets.anes96").load_pandas().data
    return np.sort((found["vote"] * PARTIES + found["PID"]).to_numpy().astype(np.int64))


def levels_of(people: Integers, way: Assumption, rng: np.random.Generator) -> Integers:
    """Return the budget level of each person.

    Levels depend on cells as much as the assumption allows.
    """
    thirds = np.sort(np.arange(len(people)) % len(LEVELS))
    if way.anything:
        return thirds[np.argsort(np.argsort(people, kind="stable"))]
    return rng.permutation(thirds)


def drawn_people(way: Assumption, rng: np.random.Generator) -> tuple[Integers, Integers, Floats]:
    """Return the number of people in each cell at each level, and the true shares."""
    people = voters()
    if way.sampled:
        whole = np.bincount(people, minlength=CELLS) / len(people)
        place = rng.integers(0, len(people), len(people))
        # In the population, the levels of people are fixed.
        level = levels_of(people, way, np.random.default_rng(0))
        people, level = people[place], level[place]
        if way.related is False:
            level = np.sort(np.arange(len(people)) % len(LEVELS))
    else:
        whole = np.bincount(people, minlength=CELLS) / len(people)
        level = levels_of(people, way, np.random.default_rng(0) if way.related else rng)
    cells = np.zeros((len(LEVELS), CELLS), dtype=np.int64)
    np.add.at(cells, (level, people), 1)
    return cells, cells.sum(axis=1), whole


def stated(way: Assumption) -> Assumption:
    """Return the assumption, with the δ that is true of these people or of the population."""
    if isinstance(way.related, bool):
        return way
    people = voters()
    level = levels_of(people, way, np.random.default_rng(0))
    shares = np.array([np.bincount(people[level == at], minlength=CELLS) for at in range(3)])
    shares = shares / shares.sum(axis=1, keepdims=True)
    apart = float((shares.max(axis=0) - shares.min(axis=0)).max())
    assert apart < 0.08
    return Assumption(way.about, apart)


def hold(missed: Booleans) -> bool:
    """Return whether the number of misses is consistent with the stated coverage."""
    return int(missed.sum()) <= binom.isf(TAIL, len(missed), 1.0 - CONFIDENCE)


def truths(whole: Floats, rows: Integers) -> tuple[Floats, Floats]:
    """Return the true sums of cells, and the true shares within rows."""
    sums = tables.added_up(whole, rows)
    return sums, whole / sums[rows]


def check(margin: Any, raw: Floats, whole: Floats, way: Assumption) -> None:
    """Check the intervals of all runs, which share one margin."""
    runs = len(raw)
    for rows in BY.values():
        parts = rows.max() + 1
        sums, inside = truths(whole, rows)
        beside = (rows + parts * np.arange(runs)[:, None]).ravel()
        if isinstance(margin, WeighedCells):
            low, high = tables.sums(margin, raw.ravel(), beside, way, CONFIDENCE)
            missed = (sums < low.reshape(runs, parts)) | (sums > high.reshape(runs, parts))
            assert all(hold(missed[:, part]) for part in range(parts))
        low, high = tables.within(margin, raw.ravel(), beside, way, CONFIDENCE)
        missed = (inside < low.reshape(raw.shape)) | (inside > high.reshape(raw.shape))
        assert all(hold(missed[:, cell]) for cell in range(CELLS))


def closed(way: Assumption, runs: int, seed: int, method: str = "proportional") -> Any:
    """Return the drawn shares of many runs with their margins, and the true shares."""
    rng, source, told = np.random.default_rng(seed), ep.Seeded(seed), stated(way)
    found: dict[Any, list[Floats]] = {}
    margins = {}
    whole = np.zeros(0)
    for _ in range(runs):
        cells, counts, whole = drawn_people(way, rng)
        key = tuple(counts.tolist())
        if key not in margins:
            budgets = Budgets.of_levels(LEVELS, counts)
            goal = CellsGoal(told, "mse", CONFIDENCE, CELLS)
            table = build_histogram(allocate_for(budgets, goal, method), unit=1)
            margins[key] = (table, WeighedCells(table.weighing, table.slack, CELLS))
        table = margins[key][0]
        drawn = table.draw(source, total=table.total(tallied(cells=cells)))
        found.setdefault(key, []).append(table.estimates(drawn))
    return {key: (margins[key][1], np.array(raw)) for key, raw in found.items()}, whole, told


@pytest.mark.parametrize("way", WAYS[:4], ids=lambda way: f"{way.about}-{way.related}")
def test_intervals_hold(way: Assumption) -> None:
    found, whole, told = closed(way, RUNS, 1)
    ((margin, raw),) = found.values()
    check(margin, raw, whole, told)


def test_sums_miss_as_often_as_stated_if_only_noise_is_random() -> None:
    """If weights are equal, the interval of a sum is exact, so it misses as often as stated."""
    found, whole, _ = closed(UNRELATED, 600, 3, "uniform")
    ((margin, raw),) = found.values()
    rows = BY["vote"]
    beside = (rows + 2 * np.arange(600)[:, None]).ravel()
    low, high = (
        end.reshape(600, 2) for end in tables.sums(margin, raw.ravel(), beside, RELATED, CONFIDENCE)
    )
    sums, inside = truths(whole, rows)
    missed = ((sums < low) | (sums > high))[:, 0]
    assert hold(missed)
    assert int(missed.sum()) >= binom.ppf(TAIL, 600, 1.0 - CONFIDENCE)
    low, high = (
        end.reshape(raw.shape) for end in tables.within(margin, raw.ravel(), beside, RELATED, 0.9)
    )
    missed = (inside < low) | (inside > high)
    assert float(missed.mean()) > 0.05  # a part of β is used for the share of the row
