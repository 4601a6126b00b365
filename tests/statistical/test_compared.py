"""Intervals of differences of releases, of pairs of groups and of weighted sums cover as stated.

The people are readers of a magazine in 1978 (`fair`) and voters in 1996 (`anes96`), 400 of each
table. The second release has the same people, half of them, or others. Budgets are unrelated to
values, larger for larger values, or the same except for one person.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail each
comparison with probability below 10⁻⁹, by exact binomial tails for the misses of 80 % intervals.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.types import Floats

pytestmark = pytest.mark.statistical

TAIL: Final = 1e-9
CONFIDENCE: Final = 0.8
RUNS: Final = 100
FEW: Final = 40
PEOPLE: Final = 400
COLUMNS: Final = {
    "affairs": ("fair", "affairs", (0.0, 20.0)),
    "age": ("fair", "age", (15.0, 45.0)),
    "income": ("anes96", "income", (1.0, 24.0)),
}
OVERLAPS: Final = {"the same people": 0, "half of them": PEOPLE // 2, "others": PEOPLE}


@cache
def table(name: str) -> Any:
    """Return a table of real people, always in the same order."""
    found = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
    return found.sample(frac=1.0, random_state=1).reset_index(drop=True)


def values(name: str, start: int = 0) -> tuple[Floats, tuple[float, float]]:
    """Return the values of some hundred people in a column, and the column's bounds."""
    source, column, bounds = COLUMNS[name]
    found = np.asarray(table(source)[column], dtype=np.float64)[start : start + PEOPLE]
    return np.clip(found, *bounds), bounds


def budgets(x: Floats, way: str, rng: np.random.Generator) -> Floats:
    """Return a budget for everyone, related to values in this way."""
    if way == "alike":
        return np.full(len(x), 0.5)
    if way == "one strict person":
        found = np.full(len(x), 1.0)
        found[int(np.argmax(x))] = 0.01
        return found
    found = np.sort(np.resize([0.1, 0.5, 1.0], len(x)))
    if way == "not related":
        return rng.permutation(found)
    own = np.empty(len(x))
    own[np.argsort(x, kind="stable")] = found
    return own


def holds(covered: list[bool], confidence: float = CONFIDENCE) -> int:
    """Fail if more intervals miss than their confidence allows. Return how many miss."""
    missed = len(covered) - sum(covered)
    assert missed <= binom.isf(TAIL, len(covered), 1.0 - confidence)
    return missed


@pytest.mark.rotates(12)
@pytest.mark.parametrize(
    ("column", "overlap", "way"),
    [
        ("affairs", "the same people", "alike"),
        ("income", "half of them", "alike"),
        ("affairs", "half of them", "one strict person"),
        ("income", "the same people", "one strict person"),
        ("affairs", "others", "larger for larger values"),
        ("income", "the same people", "larger for larger values"),
        ("age", "the same people", "not related"),
    ],
)
def test_the_change_of_a_mean_is_covered(column: str, overlap: str, way: str) -> None:
    rng = np.random.default_rng(7)
    (one, bounds), (other, _) = values(column), values(column, OVERLAPS[overlap])
    changes, factors = [], []
    related = way != "not related"
    given: dict[str, Any] = {"bounds": bounds, "related": related}
    for seed in range(RUNS if related else FEW):
        releases = [
            ep.mean(x, epsilon=budgets(x, way, rng), source=ep.Seeded(2 * seed + at), **given)
            for at, x in enumerate((one, other))
        ]
        change, factor = ep.compare(*releases, CONFIDENCE)
        changes.append(change.low <= other.mean() - one.mean() <= change.high)
        factors.append(factor.low <= other.mean() / one.mean() <= factor.high)
    missed = holds(changes)
    holds(factors)
    if way == "alike":  # noise of a known distribution is the only error, so the interval is exact
        assert missed >= binom.isf(1.0 - 1e-6, RUNS, 1.0 - CONFIDENCE)


def test_an_interval_of_half_the_width_would_be_noticed() -> None:
    x, bounds = values("age")
    covered = []
    for seed in range(RUNS):
        releases = [
            ep.mean(x, epsilon=np.full(PEOPLE, 0.5), bounds=bounds, source=ep.Seeded(2 * seed + at))
            for at in (0, 1)
        ]
        change = ep.compare(*releases, CONFIDENCE)[0]
        covered.append(abs(change.value) <= (change.high - change.low) / 4.0)
    assert sum(covered) < RUNS - binom.isf(TAIL, RUNS, 1.0 - CONFIDENCE)


def test_a_population_is_covered_where_the_same_people_are_asked_twice() -> None:
    source, column, bounds = COLUMNS["age"]
    everyone = np.asarray(table(source)[column], dtype=np.float64)
    rng, covered = np.random.default_rng(3), []
    given: dict[str, Any] = {"bounds": bounds, "about": "population", "related": False}
    for seed in range(FEW):
        x = rng.choice(everyone, PEOPLE)
        later = bounds[0] + bounds[1] - x  # values are reversed
        epsilon = budgets(x, "not related", rng)
        releases = [
            ep.mean(each, epsilon=epsilon, source=ep.Seeded(2 * seed + at), **given)
            for at, each in enumerate((x, later))
        ]
        change = ep.compare(*releases, CONFIDENCE)[0]
        truth = bounds[0] + bounds[1] - 2.0 * everyone.mean()
        covered.append(change.low <= truth <= change.high)
    holds(covered)


@pytest.mark.rotates(12)
@pytest.mark.parametrize("way", ["alike", "larger for larger values"])
@pytest.mark.parametrize("column", ["vote", "PID"])
def test_changes_of_shares_and_all_their_differences_are_covered(column: str, way: str) -> None:
    labels = np.asarray(table("anes96")[column], dtype=np.int64)
    one, other = labels[:PEOPLE], labels[PEOPLE // 2 : PEOPLE // 2 + PEOPLE]
    categories = list(range(7 if column == "PID" else 2))
    shares = [np.array([(each == c).mean() for c in categories]) for each in (one, other)]
    rng = np.random.default_rng(8)
    weights = {c: float(c % 3) for c in categories}
    truth = sum(weights[c] * shares[0][c] for c in categories)
    changes, pairs, sums = [], [], []
    for seed in range(FEW):
        first, second = (
            ep.frequencies(
                each,
                epsilon=budgets(each.astype(np.float64), way, rng),
                categories=categories,
                source=ep.Seeded(2 * seed + at),
            )
            for at, each in enumerate((one, other))
        )
        rows = [row for row in ep.compare(first, second, CONFIDENCE) if row.what == "change"]
        apart = (shares[1] - shares[0]).tolist()
        changes.append(all(r.low <= each <= r.high for r, each in zip(rows, apart, strict=True)))
        pairs.append(
            all(
                row.low <= shares[0][row.first] - shares[0][row.second] <= row.high
                for row in first.differences(CONFIDENCE)
            )
        )
        found = first.combine(weights, CONFIDENCE)
        sums.append(found.low <= truth <= found.high)
    for covered in (changes, pairs, sums):
        holds(covered)


@pytest.mark.rotates(12)
@pytest.mark.parametrize("way", ["alike", "larger for larger values", "not related"])
@pytest.mark.parametrize("groups_are", ["public", "private"])
def test_all_pairs_of_groups_and_weighted_sums_are_covered(groups_are: str, way: str) -> None:
    x, bounds = values("affairs")
    by = np.minimum(np.asarray(table("fair")["rate_marriage"], dtype=np.int64)[:PEOPLE], 4) // 2
    means = [float(x[by == group].mean()) for group in range(3)]
    weights = {0: 0.5, 1: -0.25, 2: 2.0}
    rng = np.random.default_rng(9)
    given: dict[str, Any] = {"bounds": bounds, "groups_are": groups_are, "groups": [0, 1, 2]}
    pairs, sums = [], []
    for seed in range(FEW):
        epsilon = 4.0 * budgets(x, way, rng)
        related = way != "not related"
        source = ep.Seeded(seed)
        release = ep.mean(x, epsilon=epsilon, by=by, related=related, source=source, **given)
        found = release.differences(CONFIDENCE)
        pairs.append(
            all(row.low <= means[row.first] - means[row.second] <= row.high for row in found)
        )
        total = release.combine(weights, CONFIDENCE)
        truth = sum(weight * means[group] for group, weight in weights.items())
        sums.append(total.low <= truth <= total.high)
    holds(pairs)
    holds(sums)
