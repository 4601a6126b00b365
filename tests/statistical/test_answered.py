"""Intervals of quantiles, variance and covariance cover as stated if values are missing.

Values are missing at random, or above a limit, or mostly for people with small budgets. Cases
include budgets in the worst order, samples, both neighbour models and several rows per person.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁷: fewer than 100 exact binomial tests at 10⁻⁹ each.
"""

from __future__ import annotations

import zlib
from typing import Any, Final, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons.risk.quantiles import Way, chance, closed_tail
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import Weighing
from epsilons.types import Booleans, Floats

TAIL: Final = 1e-9
CONFIDENCE: Final = 0.8
TIMES: Final = 60
LEVELS: Final = (0.5, 2.0)

pytestmark = pytest.mark.statistical


class Case(NamedTuple):
    """One combination of parameters to test."""

    statistic: str
    missing: str
    neighbours: str
    about: str = "people"
    related: bool | float = True
    rows: int = 1
    n: int = 300


class People(NamedTuple):
    """Two values for each person, whether both are present, and the budget."""

    x: Floats
    y: Floats
    there: Booleans
    epsilon: Floats


def drawn(case: Case, rng: np.random.Generator) -> People:
    """Draw people. If budgets are related in any way, people with small budgets have low values."""
    x = rng.beta(2.0, 5.0, case.n)
    y = np.clip(0.7 * x + 0.2 * rng.random(case.n), 0.0, 1.0)
    epsilon = np.where(np.arange(case.n) < case.n // 2, *LEVELS)
    if case.related is True:
        order = np.argsort(x)
        x, y = x[order], y[order]
    there = {
        "at random": rng.random(case.n) < 0.7,
        "above": x < 0.4,
        "strict": (epsilon > 1.0) | (rng.random(case.n) < 0.3),
    }[case.missing]
    return People(x, y, there, epsilon)


def truth(case: Case, people: People) -> float:
    x, y = people.x[people.there], people.y[people.there]
    if case.statistic == "quantile":
        return float(np.quantile(x, 0.3, method="inverted_cdf"))
    return float(x.var()) if case.statistic == "variance" else float(((x - x.mean()) * y).mean())


def asked(case: Case, people: People, source: ep.Seeded) -> ep.Release:
    x, y = (np.where(people.there, each, np.nan) for each in (people.x, people.y))
    given: dict[str, Any] = {
        "epsilon": people.epsilon,
        "neighbours": case.neighbours,
        "about": case.about,
        "related": case.related,
        "missing": "exclude",
        "confidence": CONFIDENCE,
        "source": source,
    }
    if case.neighbours == "add-remove":
        given["levels"] = LEVELS
    if case.rows > 1:  # a person's rows are equal
        given |= {
            "epsilon": np.repeat(people.epsilon, case.rows),
            "person": np.repeat(np.arange(case.n), case.rows),
        }
        x, y = np.repeat(x, case.rows), np.repeat(y, case.rows)
    unit = (0.0, 1.0)
    if case.statistic == "quantile":
        return ep.quantile(x, 0.3, bounds=unit, **given)
    if case.statistic == "variance":
        return ep.variance(x, bounds=unit, **given)
    return ep.covariance(x, y, x_bounds=unit, y_bounds=unit, **given)


CASES = [
    *(
        Case(statistic, missing, neighbours)
        for statistic in ("quantile", "variance", "covariance")
        for missing in ("at random", "above", "strict")
        for neighbours in ("replace", "add-remove")
    ),
    # If budgets are unrelated to values, whether a person answers depends on values only.
    *(
        Case(statistic, missing, neighbours, related=related)
        for statistic in ("quantile", "variance")
        for neighbours in ("replace", "add-remove")
        for missing, related in (("above", False), ("strict", 0.5))
    ),
    Case("quantile", "at random", "replace", related=False),
    Case("variance", "at random", "replace", related=False),
    Case("variance", "at random", "replace", rows=3),
    Case("quantile", "at random", "add-remove", rows=2),
    Case("quantile", "above", "replace", n=40),
    Case("covariance", "above", "replace", n=40),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_an_interval_holds_as_often_as_stated(case: Case) -> None:
    seed = zlib.crc32(repr(case).encode())
    rng = np.random.default_rng(seed)
    people = drawn(case, rng)
    held = 0
    for time in range(TIMES):
        if case.related is False:
            people = people._replace(epsilon=rng.permutation(people.epsilon))
        low, high = asked(case, people, ep.Seeded(seed + time)).interval()
        held += low <= truth(case, people) <= high
    assert binom.cdf(held, TIMES, CONFIDENCE) > TAIL


@pytest.mark.rotates(12)
@pytest.mark.parametrize("statistic", ["quantile", "variance"])
def test_the_interval_of_a_sample_holds_the_truth_of_the_population(statistic: str) -> None:
    """The interval from a sample covers the value of all people in the population who would answer.

    People with large values do not answer.
    """
    case = Case(statistic, "above", "replace", about="population", related=False)
    rng = np.random.default_rng(zlib.crc32(statistic.encode()))
    wanted = truth(case, drawn(case._replace(n=400_000), rng))
    held = 0
    for time in range(TIMES):
        low, high = asked(case, drawn(case, rng), ep.Seeded(time)).interval()
        held += low <= wanted <= high
    assert binom.cdf(held, TIMES, CONFIDENCE) > TAIL


@pytest.mark.rotates(12)
@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("added", [1, 3, 6])
def test_noise_with_a_part_of_one_more_cell_is_bounded_by_none_and_by_all_of_it(
    added: int, q: float
) -> None:
    """The noise of some cells plus a fraction of one more exceeds its bound as rarely as stated.

    The noise is that of a closed table with eight cells.
    """
    cells, rng = 8, np.random.default_rng(added)
    z = _closed_noise(rng, cells, 200_000)
    noise = z[:, :added].sum(axis=1) + q * z[:, -1]
    weighing = Weighing(np.full(1, 0.1), np.full(1, 10), 1.0, closed=ClosedNoise(cells))
    for x in (0.5, 2.0, 4.0):
        bound = chance(weighing, cells, Way(0.0, None, 0.5), added, x, outside=True)
        beyond = int((noise > x).sum())
        assert binom.sf(beyond - 1, len(noise), min(bound, 1.0)) > TAIL
        alone = float(closed_tail(cells, added)(np.array(x)))
        assert bound >= alone


def _closed_noise(rng: np.random.Generator, cells: int, size: int) -> Floats:
    """Draw Laplace noise conditioned to sum to zero, by rejection.

    The last component is minus the sum of the others. The density is proportional to e^{−|z_1| − …
    − |z_{k−1}| − |Σ z|}, and the last factor is the acceptance probability.
    """
    found: list[Floats] = []
    while sum(len(each) for each in found) < size:
        z = rng.laplace(size=(8 * size, cells - 1))
        rest = -z.sum(axis=1)
        kept = rng.random(len(z)) < np.exp(-np.abs(rest))
        found.append(np.column_stack([z, rest])[kept])
    return np.concatenate(found)[:size]
