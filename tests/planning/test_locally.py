"""Forecasts for local reports, compared with formulas by hand, releases and simulations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, BudgetError
from epsilons.risk.weighing import SAMPLE as SAMPLED
from tests.assumed import SAMPLE

PEOPLE = {0.1: 600, 0.5: 400, 1.0: 200, 3.0: 50}
N = sum(PEOPLE.values())
BUDGETS = np.repeat(np.array(list(PEOPLE)), list(PEOPLE.values()))
TAIL = 1e-10


def planned(people: Any = None, **said: Any) -> ep.LocalPlan:
    return ep.plan(PEOPLE if people is None else people, model="local", **SAMPLE | said)


def added(information: Any) -> float:
    """Return the sum over people of a function of their ε."""
    return sum(count * information(level) for level, count in PEOPLE.items())


def test_numbers_by_hand() -> None:
    plan = planned(bounds=(0, 24))
    bit = 24.0 / math.sqrt(4.0 * added(lambda e: math.tanh(e / 2.0) ** 2))
    number = 24.0 / math.sqrt(added(lambda e: 1.0 / (0.25 + 2.0 / e**2)))
    assert plan["bit"].rmse == pytest.approx(bit, rel=1e-6)
    assert plan["laplace"].rmse == pytest.approx(number, rel=1e-6)
    assert [each.method for each in plan.forecasts] == ["piecewise", "bit", "laplace"]
    assert bit < plan["piecewise"].rmse < 1.03 * bit  # piecewise is a little worse here
    few = planned({0.1: 600, 1.0: 200}, bounds=(0, 24))
    assert [each.method for each in few.forecasts] == ["bit", "laplace"]
    public = planned({0.1: 600, 3.0: 200, math.inf: 2}, bounds=(0, 24))
    assert [each.method for each in public.forecasts] == ["bit", "laplace"]
    strict = 24.0 / math.sqrt(4.0 * N * math.tanh(0.05) ** 2)
    assert plan["bit"].gain == pytest.approx(strict / bit, rel=1e-6)


def test_categories_by_hand() -> None:
    plan = planned(statistic="frequencies", categories=5)
    row = math.sqrt((1.0 - 1.0 / 8.0) ** 2 / added(lambda e: math.tanh(e / 2.0) ** 2))
    signs = math.sqrt(1.0 / added(lambda e: math.tanh(e / 2.0) ** 2))
    bits = math.sqrt(1.0 / (4.0 * added(lambda e: math.tanh(e / 4.0) ** 2)))
    assert plan["hadamard"].rmse == pytest.approx(row, rel=1e-9)
    assert plan["projection"].rmse == pytest.approx(signs, rel=1e-9)
    assert plan["rappor"].rmse == pytest.approx(bits, rel=1e-9)
    # For all categories at once: a union of Hoeffding's bounds.
    once = math.sqrt(2.0 * math.log(2.0 * 5 / 0.05)) * row
    assert plan["hadamard"].pac == pytest.approx(once, rel=1e-6)


def test_vectors_by_hand() -> None:
    plan = planned(dimension=3)
    # E|⟨V, u⟩| for a uniform direction V in three dimensions is one half.
    one = math.sqrt(4.0 / added(lambda e: math.tanh(e / 2.0) ** 2))
    assert plan["duchi"].rmse == pytest.approx(one, rel=1e-9)
    assert plan["auto"].rmse < plan["duchi"].rmse  # from ε = 1.3 on, reports have several signs
    assert plan.curator is None
    assert plan.times is None
    assert plan.lower_bound == ep.theory.local_vector_error(PEOPLE, dimension=3)


KINDS: dict[str, tuple[Any, Any]] = {
    "bit": (ep.local.Bit(), np.arange(N) % 2),
    "one bit": (ep.local.Mean((0.0, 24.0)), np.linspace(0.0, 24.0, N)),
    "a number": (ep.local.Mean((0.0, 24.0), "laplace"), np.linspace(0.0, 24.0, N)),
    "piecewise": (ep.local.Mean((0.0, 24.0), "piecewise"), np.linspace(0.0, 24.0, N)),
    "hadamard": (ep.local.Frequencies(5), np.arange(N) % 5),
    "projection": (ep.local.Frequencies(5, "projection"), np.arange(N) % 5),
    "rappor": (ep.local.Frequencies(5, "rappor"), np.arange(N) % 5),
    "vector": (ep.local.Vector(3), np.full((N, 3), 0.1)),
    "duchi": (ep.local.Vector(3, 2.0, "duchi"), np.full((N, 3), 0.1)),
}


@pytest.mark.parametrize("weights", ["variance", "paper", "uniform"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_forecast_is_the_margin_that_a_release_has(kind: str, weights: str) -> None:
    mechanism, values = KINDS[kind]
    reports = mechanism.randomize_many(values, BUDGETS, ep.Seeded(1))
    release = mechanism.estimate(reports, weights=weights)
    foretold = mechanism.forecast(ep.Budgets(PEOPLE), weights=weights)
    drawn = release.estimate.margin
    assert foretold.people == drawn.people == N
    assert list(foretold.sums) == pytest.approx(list(drawn.sums), rel=1e-9)
    assert type(foretold) is type(drawn)


def test_the_plan_is_what_releases_say() -> None:
    mechanism, values = KINDS["one bit"]
    release = mechanism.estimate(mechanism.randomize_many(values, BUDGETS, ep.Seeded(2)))
    plan = planned(bounds=(0, 24), confidence=0.9)
    assert plan["bit"].rmse == pytest.approx(math.sqrt(release.risk), rel=1e-9)
    reach = release.estimate.margin.reach((0.0, 24.0), 0.9)
    assert plan["bit"].pac == pytest.approx(reach, rel=1e-9)
    vectors, values = KINDS["vector"]
    release = vectors.estimate(vectors.randomize_many(values, BUDGETS, ep.Seeded(2)))
    plan = planned(dimension=3)
    assert plan["auto"].rmse == pytest.approx(math.sqrt(release.risk), rel=1e-9)
    radius = release.estimate.margin.radius(SAMPLED, 0.95)
    assert plan["auto"].pac == pytest.approx(radius, rel=1e-9)


def test_a_trusted_curator_stands_beside() -> None:
    plan = planned(bounds=(0, 24))
    central = ep.plan(PEOPLE, bounds=(0, 24), **SAMPLE)
    assert plan.curator is not None
    assert plan.curator.rmse == pytest.approx(central.forecasts[0].rmse)
    assert plan.curator.pac == pytest.approx(central.forecasts[0].pac)
    assert plan.times == pytest.approx(plan["piecewise"].rmse / plan.curator.rmse)
    assert plan.options[0].write == "ep.mean"
    assert f"ep.mean would make the typical error {plan.times:.1f} × smaller" in plan.hint
    pac = planned(bounds=(0, 24), loss="pac")
    seldom = ep.plan(PEOPLE, bounds=(0, 24), loss="pac", **SAMPLE).forecasts[0].pac
    assert pac.times == pytest.approx(pac["piecewise"].pac / seldom)


def test_of_a_share_a_curator_has_the_error_of_one_share() -> None:
    plan = planned(statistic="frequencies", categories=5)
    assert plan.curator is not None
    # Each of the five shares is a fifth. The cap is the best one. The noises of the cells sum to
    # zero, and their scale is twice that of a mean.
    cap = ep.allocate(PEOPLE, statistic="frequencies", categories=5, **SAMPLE)
    square = 0.8 * float(cap.counts @ cap.weights**2) + 4.0 * 9.0 / 6.0 * cap.scale**2
    assert plan.curator.rmse == pytest.approx(math.sqrt(square / 5.0), rel=1e-9)


def test_limits_are_those_of_theory_and_below_all() -> None:
    plan = planned(bounds=(0, 24))
    assert plan.lower_bound == ep.theory.local_error(PEOPLE, bounds=(0, 24))
    for each in (plan, planned(statistic="frequencies", categories=5), planned(dimension=3)):
        assert 0.0 < each.lower_bound < each.forecasts[0].rmse


def test_nobody_and_public_people() -> None:
    plan = planned({0.0: 5, 0.5: 400, math.inf: 20}, bounds=(0, 24))
    fewer = planned({0.5: 400, math.inf: 20}, bounds=(0, 24))
    assert plan["bit"].rmse == pytest.approx(fewer["bit"].rmse)
    assert plan["bit"].gain == math.inf
    with pytest.raises(BudgetError, match="pure noise"):
        planned({1e-9: 400})
    with pytest.raises(BudgetError, match="2²⁰"):
        planned(ep.Budgets.of_levels(np.array([2.0**30]), np.array([400])))  # without validation


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"about": "people"}, 'write about="population", related=False'),
        ({"related": True}, 'write about="population", related=False'),
        ({"neighbours": "add-remove"}, 'needs neighbours="replace"'),
        ({"spread": 0.1}, 'spread is for model="central"'),
        ({"shape": "gaussian"}, 'shape is for model="central"'),
        (
            {"statistic": "frequencies", "categories": 3, "loss": "largest"},
            'loss="largest" is for model="central"',
        ),
        ({"cap": 0.3}, "cap is for"),
        ({"bounds": None}, "bounds"),
        ({"dimension": 0}, "dimension=0"),
        ({"dimension": True}, "dimension=True"),
        ({"dimension": 3, "bounds": (0, 24)}, "dimension is for the mean of vectors"),
        (
            {"dimension": 3, "statistic": "frequencies", "categories": 3},
            "dimension is for the mean of vectors",
        ),
    ],
)
def test_what_means_nothing_is_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        planned(**said)
    with pytest.raises(ArgumentError, match="model='far' is not known"):
        ep.plan(PEOPLE, model="far")  # type: ignore[call-overload]


def test_it_is_shown_in_every_form() -> None:
    for said in (
        {"bounds": (0, 24)},
        {"statistic": "frequencies", "categories": 5},
        {"dimension": 3},
    ):
        plan = planned(**said)
        shown, noted = " ".join(str(plan).split()), plan._repr_html_().replace("&#x27;", "'")
        for words in (plan.advice, plan.hint, *(each.sends for each in plan.forecasts)):
            assert words in shown
            assert words in noted
        data = plan.to_dict()
        assert data["kind"] == "local plan"
        assert data["forecasts"] == [each._asdict() for each in plan.forecasts]
        assert data["times"] == plan.times
        assert ("a trusted curator" in shown) == (plan.curator is not None)
    with pytest.raises(ArgumentError, match="method='rapor' is not known"):
        planned(statistic="frequencies", categories=5)["rapor"]
