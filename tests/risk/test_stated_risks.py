"""The risk that a release states is the noise plus the error of people, for every assumption.

Both are written out here: the noise from what everyone spends, and the largest error that people's
values can cause, as docs/proofs/risk.md (4) has it. Moments take the published means as true.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import epsilons as ep
from epsilons import theory
from epsilons.draws.noise import Laplaces
from epsilons.risk import cells
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import MeanGoal
from epsilons.risk.local import bounded_norm
from epsilons.risk.margins import RatioCells
from epsilons.risk.means import ratio
from epsilons.risk.ranges import Picture
from epsilons.risk.weighing import SAMPLE, Assumption
from epsilons.types import Floats

N = 400
EPSILON = np.repeat([0.5, 2.0], [300, 100])
X = np.random.default_rng(3).beta(2.0, 4.0, N)
Y = np.clip(X + np.random.default_rng(4).normal(0.0, 0.1, N), 0.0, 1.0)
ASSUMED = list(itertools.product(["people", "population"], [True, 0.1, False]))

CASES: dict[str, Any] = {
    "mean": lambda **on: ep.mean(40.0 * X - 10.0, bounds=(-10, 30), method="optimal", **on),
    "variance": lambda **on: ep.variance(40.0 * X - 10.0, bounds=(-10, 30), **on),
    "covariance": lambda **on: ep.covariance(
        40.0 * X - 10.0, 5.0 * Y, x_bounds=(-10, 30), y_bounds=(0, 5), **on
    ),
    "public groups": lambda **on: ep.mean(
        40.0 * X - 10.0,
        bounds=(-10, 30),
        by=np.arange(N) % 2,
        groups=[0, 1],
        groups_are="public",
        method="optimal",
        **on,
    ),
}


def of_people(weights: Floats, about: str, related: Any) -> float:
    """Return the largest squared error of a weighted mean on a unit range, without noise."""
    n = len(weights)
    bias = float(np.abs(weights - 1.0 / n).sum()) / 2.0
    square, apart = float(weights @ weights), float(np.sum((weights - 1.0 / n) ** 2))
    sample = 0.5 / math.sqrt(n)
    if about == "people":
        # The variance is largest if half of the values are at each end of the range. This is not
        # possible for an odd number of values.
        largest = 0.25 * (1.0 - (n % 2) / n**2)
        return largest * n / (n - 1) * apart if related is False else (related * bias) ** 2
    if related is False:
        return 0.25 * square
    within = 0.25 * square + (related * (bias + sample)) ** 2
    return (bias + sample) ** 2 if related is True else min((bias + sample) ** 2, within)


def noise_and_reach(case: str, release: ep.Release, spent: float) -> tuple[float, float]:
    """Return the variance of the noise, and the length of the range of what is averaged."""
    margin: Any = release.estimate.margin
    if case == "mean":
        return 2.0 / spent**2, 1.0
    if case == "variance":
        # The sum has 4/3 of the noise of a mean alone, and the sum of squares has a third of that.
        off = float(margin.moments.drawn[0])
        return 2.0 * (4.0 / 3.0 / spent) ** 2 * (1.0 / 9.0 + 4.0 * off**2), (0.5 + abs(off)) ** 2
    line, even = np.array([0.5, 0.0, -0.5]), np.ones(3)
    a, b = np.kron(line, even), np.kron(even, line)
    first, second = float(a @ margin.shares), float(b @ margin.shares)
    # Nine noises that sum to zero, each with this variance; one person changes two cells.
    each = (2.0 / spent) ** 2 * (8.0 * 17.0) / (9.0 * 10.0)
    values = (a - first) * (b - second)
    noise = each * 9.0 / 8.0 * float(np.sum((values - values.mean()) ** 2))
    ends = [(x - first) * (y - second) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    return noise, max(ends) - min(ends)


@pytest.mark.always
@pytest.mark.parametrize(("about", "related"), ASSUMED)
@pytest.mark.parametrize("case", CASES)
def test_risks_are_noise_and_people(case: str, about: str, related: Any) -> None:
    release = CASES[case](epsilon=EPSILON, about=about, related=related, source=ep.Seeded(2))
    unit = {"mean": 40.0, "variance": 1600.0, "covariance": 200.0, "public groups": 40.0}[case] ** 2
    if case == "public groups":
        expected = 0.0
        for part in release.mechanism.parts:
            own = np.repeat(part.weights / float(part.divisor), part.counts)
            scale = float(part.scale) / float(part.divisor)
            expected += 2.0 * scale**2 + of_people(own, about, related)
        assert release.risk == pytest.approx(unit * expected, rel=1e-6)
        assert np.clip(release.raw, -10.0, 30.0).tolist() == release.value.tolist()
        return
    spent = release.for_each(EPSILON)
    weights = spent / spent.sum()
    noise, reach = noise_and_reach(case, release, float(spent.sum()))
    expected = noise + reach**2 * of_people(weights, about, related)
    assert release.risk == pytest.approx(unit * expected, rel=1e-4)


BETA = 0.05


@pytest.mark.parametrize(
    ("about", "related", "apart", "sampled"),
    [
        ("population", False, 0.0, True),
        ("people", False, 0.0, True),
        ("population", 0.1, 0.1, True),
        ("people", 0.1, 0.1, False),
    ],
)
def test_unequal_weights_of_an_unknown_number_of_people(
    about: str, related: Any, apart: float, sampled: bool
) -> None:
    """Without noise, the error of a share has two parts, each of which depends on the assumption.

    One is the sampling error if everyone has the largest weight. The other is δ. A twentieth of β
    is for the total.
    """
    margin = RatioCells(largest=3.0, equal=False, drawn=np.array([300.0, 600.0]), scale=1e-9)
    low, high = margin.intervals(np.empty(0), Assumption(about, related), 1.0 - BETA)
    far = apart
    if sampled:
        far += math.sqrt(3.0 * 900.0 * math.log(2.0 / (0.95 * BETA)) / 2.0) / 900.0
    assert low.tolist() == pytest.approx([1.0 / 3.0 - far, 2.0 / 3.0 - far], rel=0.01)
    assert high.tolist() == pytest.approx([1.0 / 3.0 + far, 2.0 / 3.0 + far], rel=0.01)


def test_ends_of_counts_are_quantiles_of_their_noise() -> None:
    counted = LevelCount((60, 45, 1), (0.8, 1.0, 2.0), np.array([1, 2, 3]))
    far = [math.log(3.0 / BETA) / rate + 1.0 for rate in (0.8, 1.0, 2.0)]
    low, high = counted.ends(BETA)
    assert low.tolist() == pytest.approx([60.0 - far[0], 45.0 - far[1], 0.0])
    assert high.tolist() == pytest.approx([60.0 + far[0], 45.0 + far[1], 1.0 + far[2]])


def test_what_is_known_without_any_noise() -> None:
    assert cells.largest_quantile(0.2, 0.0, 5, BETA) == pytest.approx(0.2)
    assert cells.largest_quantile(0.2, 0.0, 5, BETA, apart=0.5) == pytest.approx(0.1)
    assert cells.mean_square(0.2, 0.0, 5, apart=0.5) == pytest.approx(0.01)
    assert MeanGoal(SAMPLE, "pac", 0.95).typical(0.3) == 0.3
    assert bounded_norm(4.0, BETA) == pytest.approx(2.0 * (1.0 + math.sqrt(-2.0 * math.log(BETA))))
    release = ep.frequencies([0, 1, 1, 0], epsilon=1.0, categories=[0, 1], source=ep.Seeded(1))
    assert release.combine({0: 2.0, 1: 2.0}).low == 2.0
    assert release.combine({0: 2.0, 1: 2.0}).high == 2.0


def test_what_nothing_is_known_about() -> None:
    """A noisy number of people that is not positive leaves the whole range."""
    given = {"largest": 1.0, "confidence": 0.5}
    assert ratio.interval(Laplaces(3), ratio.TWO_SUMS, (1.0, 0.0), **given) == (0.0, 1.0)
    noises = ratio.OwnTotal(1.0, 2)
    low, high = ratio.share_intervals(np.array([-1.0, 0.5]), -0.5, noises, **given)
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [1.0, 1.0])


@pytest.mark.parametrize("sharp", [80.0, 2000.0])
def test_how_far_a_found_centre_and_deviation_may_be_off(sharp: float) -> None:
    """Bounds on ranks by a search for the best rate, as docs/proofs/gaussian.md (9) has them."""
    picture = Picture(50.0, 5.6, 0.03, 1e-5, 0.0145, (sharp, 3.0 * sharp), (3000.0, 2000.0))
    sigma = 8.0

    def rank(odds: float, sharp: float, alike: float) -> float:
        rates = np.linspace(0.0, sharp, 100_001)[1:]
        return float((odds / rates + rates / (8.0 * alike)).min())

    best = []
    for inner in (0.005, 0.01, 0.02, 0.05, 0.1):
        fit = max(2.0 * stats.norm.ppf(0.5 + inner) * sigma / 0.03, 1.0)
        odds = math.log(6.0 / BETA / min(1e-5 * fit / 2.0, 0.125))
        best.append(inner + rank(odds, sharp, 750.0))
    far = sigma * stats.norm.ppf(0.5 + min(best)) + 0.03
    assert picture.off(sigma, BETA) == pytest.approx(far, rel=1e-3)
    share = 0.5 - rank(math.log(64.0 / (0.0145 / 2.0) / BETA), 3.0 * sharp, 2000.0)
    most = 1.0625 * 5.6 / stats.norm.ppf((1.0 + share) / 2.0)
    assert picture.sigma(BETA) == pytest.approx(most, rel=1e-3)


PEOPLE = {0.2: 300, 1.0: 100}


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_what_a_plan_compares_with(neighbours: Any) -> None:
    """A gain compares a plan with one in which everyone has the smallest ε.

    The lower bound of a plan is that of `theory`, in data units.
    """
    given: dict[str, Any] = {"neighbours": neighbours, "related": False, "about": "population"}
    alike = {0.2: 400}
    for statistic in ("quantile", "variance"):
        own = {**given, "statistic": statistic, "bounds": (0, 24)}
        plan, strict = ep.plan(PEOPLE, **own), ep.plan(alike, **own)
        over = min(each.rmse for each in strict.forecasts)
        assert plan[plan.best].gain == pytest.approx(over / plan[plan.best].rmse, rel=0.01)
    plan = ep.plan(PEOPLE, bounds=(0, 24), **given)
    budgets = np.repeat([0.2, 1.0], [300, 100])
    least = theory.least_error(budgets, bounds=(0, 24), **given)
    assert plan.lower_bound == pytest.approx(least, rel=1e-9)
    assert 0.0 < plan.lower_bound <= plan[plan.best].rmse
    guessed = ep.plan(PEOPLE, bounds=(0, 24), spread=0.1, **given)
    assert guessed.spread == 0.1
