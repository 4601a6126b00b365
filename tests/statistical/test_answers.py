"""Intervals cover as often as stated, for every assumption that is true for the data.

Two choices give six assumptions. The mean is about these people, or about the population from which
they are drawn. Budgets are related to values in any way, by at most δ, or not at all. The columns
are real data. Budgets are of four kinds: the smallest go to the people with the highest values, to
those with the lowest values, slightly more often to people with high values, or to random people.
Every release is made by the public function. For `about="people"`, the noise is random. If budgets
are unrelated to values, their assignment is random as well. For `about="population"`, people are
drawn from the column with their budgets, with replacement. δ is exactly the actual difference.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁶: fewer than 4,000 exact binomial tests at 10⁻¹⁰ each.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.types import Floats
from tests.statistical.people import MENU, WAYS, Column, apart, budgets, column, shares_apart

TAIL: Final = 1e-10
CONFIDENCES: Final = (0.5, 0.95)
RUNS: Final = {"mean": 150, "frequencies": 100}
MANY: Final = 300

COLUMNS: Final = {
    "mean": ("wages", "affairs", "visits", "votes"),
    "frequencies": ("votes", "affairs", "parties"),
}
FEW: Final = {"mean": ("wages", "affairs", "votes"), "frequencies": ("votes",)}

TRUE_OF: Final = {"any": WAYS, "own": WAYS[:3], "none": WAYS[3:]}
"""The relations between budgets and values for which each assumption is true."""
FEW_WAYS: Final = {"any": (WAYS[0], WAYS[3]), "own": (WAYS[0], WAYS[2]), "none": WAYS[3:]}

pytestmark = pytest.mark.statistical


@dataclass(frozen=True)
class Cell:
    """One combination of parameters to test."""

    statistic: str
    neighbours: str
    about: str
    related: str
    name: str
    way: str

    def __str__(self) -> str:
        return ", ".join(
            (self.statistic, self.neighbours, self.about, self.related, self.name, self.way)
        )


def table(
    columns: dict[str, tuple[str, ...]], true_of: dict[str, tuple[str, ...]]
) -> Iterator[Cell]:
    for statistic, names in columns.items():
        for neighbours in ("replace", "add-remove"):
            for about in ("people", "population"):
                for related, ways in true_of.items():
                    for name in names:
                        for way in ways:
                            yield Cell(statistic, neighbours, about, related, name, way)


def ask(cell: Cell, values: Floats, epsilon: Floats, related: Any, source: ep.Seeded) -> ep.Release:
    """Publish with the public function, as users do.

    Each test names the rule that `auto` would choose, because trying all rules takes ten times as
    long.
    """
    found = column(cell.name)
    said: dict[str, Any] = {"about": cell.about, "related": related, "source": source}
    if cell.neighbours == "add-remove":
        said |= {"neighbours": "add-remove", "levels": MENU, "method": "transformed"}
    elif cell.statistic == "frequencies":
        said["method"] = "optimal"
    if cell.statistic == "mean":
        return ep.mean(values, epsilon=epsilon, bounds=found.bounds, **said)
    return ep.frequencies(
        values.astype(np.int64), epsilon=epsilon, categories=found.categories, **said
    )


def truth_of(cell: Cell, found: Column) -> Floats:
    if cell.statistic == "mean":
        return np.array([found.values.mean()])
    return np.array([(found.values == each).mean() for each in found.categories])


def missed(release: ep.Release, truth: Floats, confidence: float) -> list[bool]:
    """Return whether each interval misses its true value, and whether the band misses any."""
    room = 1e-12 * float(np.abs(truth).max())
    low, high = (np.atleast_1d(end) for end in release.interval(confidence))
    found = ((truth < low - room) | (truth > high + room)).tolist()
    if len(truth) > 1:
        low, high = release.band(confidence)
        found.append(bool(((truth < low - room) | (truth > high + room)).any()))
    return found


@cache
def misses(cell: Cell, runs: int) -> np.ndarray:
    """Count the runs in which each interval missed, by confidence."""
    found = column(cell.name)
    seed = zlib.crc32(str(cell).encode())
    rng, source = np.random.default_rng(seed), ep.Seeded(seed)
    epsilon = budgets(found.unit, cell.way, rng)
    difference = apart(found.unit, epsilon)
    if cell.statistic == "frequencies":
        difference = shares_apart(found, epsilon)
    # Differences are at most 1, so δ = 1 allows any relation.
    own_answer = difference if difference < 1.0 else True
    related: bool | float = {"any": True, "own": own_answer, "none": False}[cell.related]
    truth = truth_of(cell, found)
    counted: list[list[list[bool]]] = []
    for _ in range(runs):
        values, own = found.values, epsilon
        if cell.about == "population":
            drawn = rng.integers(0, len(values), len(values))
            values, own = values[drawn], own[drawn]
            if cell.related == "none":  # budgets are independent of the drawn people
                own = rng.permutation(epsilon)
        elif cell.related == "none":
            own = rng.permutation(epsilon)
        release = ask(cell, values, own, related, source)
        counted.append([missed(release, truth, confidence) for confidence in CONFIDENCES])
    return np.array(counted).sum(axis=0)


def allowed(runs: int) -> Floats:
    """Return the largest number of misses that the test allows, by confidence.

    Correct intervals exceed it with probability `TAIL`.
    """
    return np.array([float(binom.isf(TAIL, runs, 1.0 - confidence)) for confidence in CONFIDENCES])


ALL: Final = tuple(table(COLUMNS, TRUE_OF))
QUICK: Final = tuple(table(FEW, FEW_WAYS))


def hold_together(cells: tuple[Cell, ...], runs: Callable[[Cell], int]) -> None:
    """Test the total number of misses under one assumption, which is more sensitive."""
    answers: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        key = (cell.statistic, cell.neighbours, cell.about, cell.related)
        answers.setdefault(key, []).append(cell)
    for answer, same in answers.items():
        number = sum(map(runs, same))
        # Of all results, test the first, which is the interval of the first category, and the last,
        # which is the band.
        for place in (0, -1):
            total = np.sum([misses(cell, runs(cell))[:, place] for cell in same], axis=0)
            print(*answer, "held", np.round(1.0 - total / number, 3))
            assert (total <= allowed(number)).all(), answer


@pytest.mark.parametrize("cell", QUICK, ids=str)
def test_intervals_hold_as_often_as_stated(cell: Cell) -> None:
    runs = RUNS[cell.statistic]
    assert (misses(cell, runs) <= allowed(runs)[:, None]).all()


@pytest.mark.slow
def test_and_so_they_do_on_all_columns_together() -> None:
    hold_together(QUICK, lambda cell: RUNS[cell.statistic])


@pytest.mark.slow
@pytest.mark.parametrize("cell", ALL, ids=str)
def test_intervals_hold_as_often_as_stated_on_every_column(cell: Cell) -> None:
    assert (misses(cell, MANY) <= allowed(MANY)[:, None]).all()


@pytest.mark.slow
def test_and_so_they_do_on_every_column_together() -> None:
    hold_together(ALL, lambda _: MANY)
