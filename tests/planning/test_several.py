"""A plan of several questions forecasts each with its share of everyone's budget."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, BudgetError
from epsilons.planning import SeveralPlans
from tests.report.forms import forms

PEOPLE = {0.1: 300, 0.3: 500, 1.0: 400, 2.5: 100}
MEAN = ep.Mean("minutes", bounds=(0, 120), unit="minutes", title="On the way")
SHARES = ep.Frequencies("mode", categories=["a", "b", "c"], confidence=0.9)
FOUND = ep.Mean("wage", bounds=None)
GUESS: dict[str, Any] = {"neighbours": "add-remove"}


def data(n: int = 1300) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    return {
        "minutes": rng.gamma(4.0, 8.0, n),
        "mode": rng.choice(["a", "b", "c"], n),
        "wage": rng.normal(3000.0, 300.0, n),
    }


@pytest.mark.parametrize("terms", [{}, GUESS], ids=["replace", "add-remove"])
def test_each_question_is_planned_for_its_part(terms: Any) -> None:
    found = ep.plan([MEAN, SHARES], epsilon=PEOPLE, shares=[3, 1], **terms)
    assert isinstance(found, SeveralPlans)
    assert found.shares == (Fraction(3, 4), Fraction(1, 4))
    three = ep.plan({0.75 * level: n for level, n in PEOPLE.items()}, bounds=(0, 120), **terms)
    one = ep.plan(
        {0.25 * level: n for level, n in PEOPLE.items()},
        statistic="frequencies",
        categories=3,
        confidence=0.9,
        **terms,
    )
    for planned, alone in zip(found, (three, one), strict=True):  # type: ignore[call-overload]
        best = alone[alone.best]
        assert planned.method == alone.best
        assert planned.rmse == pytest.approx(best.rmse, rel=1e-9)
        assert planned.plan.budgets.n == 1300
    # The error of a ratio is forecast by its leading term only. Other intervals are slightly
    # shorter than twice the forecast error.
    near = 0.02 if terms else 0.01
    assert found[0].half_width == pytest.approx(three[three.best].pac, rel=near)
    spent = [
        first.spent + second.spent
        for first, second in zip(three[three.best].spent, one[one.best].spent, strict=True)
    ]
    assert [row.spent for row in found.spent] == pytest.approx(spent, rel=1e-9)
    assert all(row.spent <= row.epsilon for row in found.spent)


@pytest.mark.parametrize("close", [False, True])
def test_a_plan_foretells_what_is_published(close: bool) -> None:
    """A plan does not know how far values are apart, so it forecasts two cases of a found range.

    If `close`, values are the wages: all are in one octave, and more is spent to find their range.
    Otherwise values are spread out.
    """
    people = np.repeat(list(PEOPLE), list(PEOPLE.values()))
    given = data()
    spread_out = np.random.default_rng(3).uniform(0.0, 1000.0, 1300)
    questions = [MEAN, SHARES, FOUND]
    found = ep.plan(questions, epsilon=people, shares=[1, 2, 5])
    releases = ep.publish(
        [
            ep.Mean(given["minutes"], bounds=(0, 120)),
            ep.Frequencies(given["mode"], categories=["a", "b", "c"], confidence=0.9),
            ep.Mean(given["wage"] if close else spread_out, bounds=None),
        ],
        epsilon=people,
        shares=found.shares,
        source=ep.Seeded(1),
    )
    plan: Any = found[2].plan
    on_wage = [row.on_range + row.on_mean for row in plan.forecasts[close].spent]
    np.testing.assert_allclose(on_wage, [row.spent for row in releases[2].spent], rtol=1e-3)
    spent = np.array([row.spent for row in found.spent])
    # A plan states the larger spending of the two cases, which is that of close values.
    assert (spent >= releases.for_each(list(PEOPLE)) - 1e-3).all()
    if not close:
        spent += on_wage - found[2].spending.spent
    np.testing.assert_allclose(spent, releases.for_each(list(PEOPLE)), rtol=1e-3)
    assert found[0].rmse == pytest.approx(math.sqrt(releases[0].risk), rel=1e-3)
    low, high = releases[1].interval(0.9)
    raw: Any = releases[1].raw
    # The two sides of an interval can differ, and so can the intervals of different shares.
    longer = float(np.maximum(raw - low, high - raw).max())
    assert found[1].half_width == pytest.approx(longer, rel=0.02)
    assert found[2].half_width is None
    assert found[2].method == "weighted"


def test_targets_are_met_as_in_publish() -> None:
    found = ep.plan([MEAN, SHARES], epsilon=PEOPLE, targets=[10.0, None])
    assert found[0].half_width is not None
    assert found[0].half_width <= 10.0 < found[0].half_width * (1 + 1e-4)
    assert found[0].target == 10.0
    assert found[1].target is None
    assert sum(found.shares) == 1
    people = np.repeat(list(PEOPLE), list(PEOPLE.values()))
    given = data()
    releases = ep.publish(
        [
            ep.Mean(given["minutes"], bounds=(0, 120)),
            ep.Frequencies(given["mode"], categories=["a", "b", "c"]),
        ],
        epsilon=people,
        targets=[10.0, None],
        source=ep.Seeded(1),
    )
    parts = releases[0].mechanism.levels / np.array(list(PEOPLE))
    np.testing.assert_allclose(parts, float(found.shares[0]), rtol=1e-12)
    with pytest.raises(ArgumentError, match="could be"):
        ep.plan([MEAN, SHARES], epsilon=PEOPLE, targets=[0.1, 0.001])


def test_a_plan_is_shown_in_every_form() -> None:
    found = ep.plan([MEAN, SHARES, FOUND], epsilon=PEOPLE, shares=[1, 1, 4])
    lines = str(found).splitlines()
    assert all(len(line) <= 100 for line in lines)
    assert len(lines) <= 24
    shown = forms(found)
    for words in shown.values():
        for name in ("On the way", "Frequencies of mode", "Mean of wage"):
            assert name in words
    assert "of the range" in shown["text"]
    told = json.loads(found.to_json())
    assert told["kind"] == "plans"
    assert [row["share"] for row in told["rows"]] == ["1/6", "1/6", "2/3"]
    assert told["rows"][2]["half_width"] is None
    assert len(found) == 3
    drawn = found.plot().to_dict()
    assert len(drawn["vconcat"]) == 2


def test_budgets_by_name_are_budgets() -> None:
    first, second = ep.plan(PEOPLE), ep.plan(epsilon=PEOPLE)
    assert str(first) == str(second)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"bounds": (0, 2)}, "bounds belongs to a question"),
        ({"loss": "pac"}, "loss belongs to a question"),
        ({"related": False}, "related belongs to a question"),
        ({"model": "local"}, "model belongs to a question"),
        ({"cap": 1.0}, "cap is for"),
        ({"shares": [1]}, "shares"),
        ({"neighbours": "both"}, "neighbours"),
    ],
    ids=str,
)
def test_what_does_not_belong_beside_questions_is_refused(given: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        ep.plan([MEAN, SHARES], epsilon=PEOPLE, **given)


def test_what_is_given_twice_or_not_at_all_is_refused() -> None:
    plan: Any = ep.plan
    with pytest.raises(ArgumentError, match="epsilon is not given"):
        plan([MEAN, SHARES])
    for wrong in ((), (PEOPLE,), ([MEAN, "x"],)):
        with pytest.raises(ArgumentError, match="given once"):
            plan(*wrong, **({"epsilon": PEOPLE} if wrong else {}))
    for name in ("shares", "targets"):
        with pytest.raises(ArgumentError, match="for several questions"):
            plan(PEOPLE, **{name: [1]})
    tiny = ep.Budgets.of_levels(np.array([5e-324, 1.0]), np.array([3, 4]))  # without validation
    with pytest.raises(BudgetError, match="divided"):
        plan([MEAN, SHARES], epsilon=tiny)


def test_what_depends_on_the_data_is_left_out_and_who_pays_for_it_is_not() -> None:
    found = ep.plan([ep.Mean("x", bounds=(0, 1), method="adaptive"), SHARES], epsilon=PEOPLE)
    assert (found[0].method, found[0].rmse, found[0].half_width) == ("adaptive", None, None)
    assert 0.0 < found[0].spending.spent.max() <= 1.25


def test_a_question_with_a_method_of_its_own_is_planned_with_it() -> None:
    uniform = ep.Mean("x", bounds=(0, 1), method="uniform")
    found = ep.plan([uniform, uniform], epsilon=PEOPLE)
    assert [one.method for one in found] == ["uniform", "uniform"]  # type: ignore[attr-defined]
    assert all(row.spent == pytest.approx(0.1) for row in found.spent)


def test_means_that_are_drawn_together_are_planned_together() -> None:
    people = np.repeat(list(PEOPLE), list(PEOPLE.values()))
    values = np.random.default_rng(2).random((3, len(people)))
    ends = [(0.0, 1.0), (0.0, 2.0), (-1.0, 1.0)]
    named = [ep.Mean(name, bounds=end) for name, end in zip("xyz", ends, strict=True)]
    given = [ep.Mean(column, bounds=end) for column, end in zip(values, ends, strict=True)]
    other = ep.Mean("w", bounds=(0, 1), method="uniform")
    plan = ep.plan([*named, other], epsilon=PEOPLE)
    releases = ep.publish(
        [*given, ep.Mean(values[0], bounds=(0, 1), method="uniform")],
        epsilon=people,
        source=ep.Seeded(1),
    )
    assert [one.together for one in plan.each] == [3, 3, 3, 1]
    for one, release in zip(plan.each, releases, strict=True):
        low, high = release.interval()
        assert one.half_width == pytest.approx((high - low) / 2.0, rel=1e-6)
        assert one.method == release.method
        assert one.rmse == pytest.approx(math.sqrt(release.risk), rel=1e-6)
    spent = [row.spent for row in plan.spent]
    assert spent == pytest.approx(releases.for_each(list(PEOPLE)), rel=1e-6)
    assert "drawn together" in plan.details()


@pytest.mark.parametrize("shares", [(0.98, 0.01, 0.01), (0.55, 0.3, 0.15), (0.34, 0.33, 0.33)])
def test_shares_of_unknown_people_are_planned_for_their_worst_case(shares: Any) -> None:
    """A plan does not know the shares, so it assumes the worst: one category has nearly everyone.

    The share of such a category has the largest error.
    """
    n = 20_000
    plan = ep.plan([SHARES], epsilon={0.5: n}, **GUESS)
    modes = np.repeat(["a", "b", "c"], [round(n * share) for share in shares])
    release = ep.frequencies(
        modes,
        epsilon=0.5,
        categories=["a", "b", "c"],
        confidence=0.9,
        neighbours="add-remove",
        source=ep.Seeded(2),
    )
    low, high = release.interval(0.9)
    half = float((high - low).max()) / 2.0
    assert plan[0].half_width is not None
    assert half < 1.02 * plan[0].half_width
    if shares[0] > 0.9:
        assert half > 0.9 * plan[0].half_width
