"""`ep.total` adds up people's rows on the grid. One person changes the total within the bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons import door
from epsilons.budgets.levels import Ladder
from epsilons.door import GRID
from epsilons.errors import ArgumentError, BoundsError, KindError, MissingValueError
from tests.engines import on_engine

BOUNDS = (-100.0, 300.0)
LEVELS = [0.1, 0.5, 2.0]
ENGINES = ("arrays", "polars", "duckdb")


def table(seed: int, people: int = 40) -> dict[str, Any]:
    """Return rows of people.

    Some rows are outside the bounds, and the rows of some people add up to more than a bound.
    """
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, 9, people))
    rng.shuffle(who)
    return {
        "values": rng.normal(40.0, 150.0, who.size).round(1),
        "epsilon": rng.choice(LEVELS, people)[who],
        "person": who,
    }


def given(engine: str, columns: dict[str, Any]) -> dict[str, Any]:
    """Return the same rows as arguments of a call."""
    if engine == "arrays":
        return dict(columns)
    frame = pl.DataFrame({name: list(each) for name, each in columns.items()}, strict=False)
    return {**{name: name for name in columns}, "data": on_engine(engine, frame)}


def tally(engine: str, columns: dict[str, Any], **how: Any) -> door.Tally:
    """Return people's totals on the grid, by budget."""
    rows = given(engine, columns)
    opened = door.open(rows.pop("values"), **rows, **how)
    return opened.count(door.Ask("numbers", BOUNDS, adds=True))


def by_hand(columns: dict[str, Any]) -> float:
    """Return the sum of people's totals.

    Rows are clipped first, and then the total of each person.
    """
    rows = np.clip(columns["values"], *BOUNDS)
    return float(np.clip(np.bincount(columns["person"], weights=rows), *BOUNDS).sum())


@pytest.mark.parametrize("engine", ENGINES)
def test_public_people_have_the_sum_of_their_rows(engine: str) -> None:
    columns = table(1)
    # Each row is off by at most one step of the grid.
    near = len(columns["values"]) * 400.0 / GRID
    columns["epsilon"] = np.full(len(columns["values"]), math.inf)
    rows = given(engine, columns)
    release = ep.total(rows.pop("values"), bounds=BOUNDS, **rows)
    assert release.value == pytest.approx(by_hand(columns), abs=near)
    assert release.bounds == (-4000.0, 12000.0)


def test_every_row_is_a_person_without_person() -> None:
    values = np.array([3.0, 5.0, 900.0, -4.0])
    release = ep.total(values, epsilon=math.inf, bounds=(1.0, 10.0))
    assert release.value == pytest.approx(3.0 + 5.0 + 10.0 + 1.0, abs=1e-6)


@pytest.mark.parametrize("ladder", [None, Ladder.declare(np.array(LEVELS))])
def test_all_engines_count_the_same_integers(ladder: Ladder | None) -> None:
    columns = table(2)
    columns["values"][::5] = np.nan
    found = [tally(each, columns, missing="midpoint", ladder=ladder) for each in ENGINES]
    for other in found[1:]:
        assert other.cells.tolist() == found[0].cells.tolist()
        assert other.counts.tolist() == found[0].counts.tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_other_rows_of_one_person_move_one_integer_by_at_most_the_grid(engine: str) -> None:
    columns, moves = table(3), []
    own = columns["person"] == 7
    budget = columns["epsilon"][own][0]
    others = {name: each[~own] for name, each in columns.items()}
    for values in ([300.0] * 3000, [-100.0] * 3000, [0.0], [math.inf, math.nan], [1e300, -1e300]):
        rows = {"values": values, "epsilon": [budget] * len(values), "person": [7] * len(values)}
        near = {name: np.concatenate([others[name], each]) for name, each in rows.items()}
        found = tally(engine, near, missing="midpoint")
        first = tally(engine, columns, missing="midpoint")
        assert found.counts.tolist() == first.counts.tolist()
        changed = np.abs(found.cells - first.cells)
        assert np.count_nonzero(changed[:, 0]) <= 1
        assert changed.max() <= GRID
        moves.append(int(found.cells[:, 0].sum()))
    assert moves[0] - moves[1] == GRID  # a person moves from the lower end to the upper end
    assert moves[2] == moves[3]  # missing rows add 0
    assert moves[4] - moves[3] == GRID // 2  # rows are clipped: 300 − 100 is half of the range


def test_a_missing_row_adds_nothing() -> None:
    values, who = [5.0, None, 7.0, None], ["a", "a", "b", "c"]
    told: dict[str, Any] = {"bounds": (-10.0, 10.0), "epsilon": math.inf, "missing": "exclude"}
    release = ep.total(values, person=who, **told)
    assert release.value == pytest.approx(12.0, abs=1e-6)
    assert release.n == 3
    assert ep.total(values, **told).value == pytest.approx(12.0, abs=1e-6)
    assert "missing values add 0" in release.treats
    assert "who answered" not in release.statement()
    with pytest.raises(MissingValueError, match='missing="exclude" lets such values add 0'):
        ep.total(values, epsilon=1.0, bounds=(0, 10))


def test_a_total_is_the_number_of_people_times_the_mean() -> None:
    rng = np.random.default_rng(4)
    values, budgets = rng.uniform(0.0, 10.0, 500), rng.choice(LEVELS, 500)
    told: dict[str, Any] = {"epsilon": budgets, "bounds": (0.0, 10.0), "method": "staircase"}
    total = ep.total(values, source=ep.Seeded(6), **told)
    mean = ep.mean(values, source=ep.Seeded(6), **told)  # the same mechanism, and the same draw
    assert total.value == pytest.approx(500.0 * mean.value)
    assert total.interval() == pytest.approx([500.0 * end for end in mean.interval()])
    assert total.risk == pytest.approx(500.0**2 * mean.risk)
    assert total.bounds == (0.0, 5000.0)
    assert total.verdict.worth == mean.verdict.worth
    for one, other in zip(total.sides, mean.sides, strict=True):
        assert one.error == pytest.approx(500.0 * other.error)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_nobody_loses_more_than_their_budget_and_a_file_follows(neighbours: Any) -> None:
    told: dict[str, Any] = {"levels": LEVELS} if neighbours == "add-remove" else {}
    rows = given("polars", table(5))
    release = ep.total(
        rows.pop("values"),
        bounds=BOUNDS,
        neighbours=neighbours,
        source=ep.Seeded(1),
        **told,
        **rows,
    )
    assert ep.verify.exact(release.mechanism).holds
    assert ep.verify.published(release.to_json()).holds
    again = ep.Release.from_json(release.to_json())
    assert again.details() == release.details()
    assert release.interval(0.9)[0] < release.value < release.interval(0.9)[1]
    assert (release.n == 40) == (neighbours == "replace")
    assert release.n_is_noisy == (neighbours == "add-remove")
    with pytest.raises(KindError, match="this release is of a total"):
        release.total()


def test_private_people_all_spend_the_lowest_level() -> None:
    rows = given("polars", table(5))
    values, told = rows.pop("values"), {"neighbours": "add-remove", "levels": LEVELS}
    release = ep.total(values, bounds=(0, 300), source=ep.Seeded(1), **told, **rows)
    assert len(set(release.mechanism.weights.tolist())) == 1
    assert [release.spent(each) for each in LEVELS] == [pytest.approx(0.1)] * 3
    # If the bounds start at 0, the noise is that of one sum: twice the square of its scale.
    assert release.risk == pytest.approx(2.0 * (300.0 / 0.1) ** 2, rel=1e-6)
    capped = ep.total(values, bounds=(0, 300), cap=0.05, source=ep.Seeded(1), **told, **rows)
    assert capped.spent(2.0) == pytest.approx(0.05)


def test_a_plan_says_what_a_release_will_be_worth() -> None:
    budgets = {0.1: 100, 1.0: 400}
    people = np.repeat(list(budgets), list(budgets.values()))
    plan = ep.plan(ep.Budgets(budgets), statistic="total", bounds=(0, 300))
    release = ep.total(np.full(500, 150.0), epsilon=people, bounds=(0, 300), source=ep.Seeded(2))
    assert plan.verdict.each[0].half == pytest.approx(release.verdict.each[0].half)
    assert plan[plan.best].rmse == pytest.approx(math.sqrt(release.risk))
    assert plan.lower_bound <= plan[plan.best].rmse
    assert plan.lower_bound == pytest.approx(
        500 * ep.plan(ep.Budgets(budgets), bounds=(0, 300)).lower_bound
    )
    few = {0.1: 20, 1.0: 40}
    alike = np.repeat(list(few), list(few.values()))
    rough = ep.total(np.full(60, 150.0), epsilon=alike, bounds=(0, 300), source=ep.Seeded(2))
    assert rough.verdict.worth != "precise"
    assert "as many people" not in str(rough)
    # More people do not make the error of a sum smaller, so no verdict proposes them.
    assert "more people" not in str(plan)
    assert "as many people" not in str(release)
    private = ep.plan(
        ep.Budgets(budgets), statistic="total", bounds=(0, 300), neighbours="add-remove"
    )
    assert private[private.best].rmse == pytest.approx(math.sqrt(2.0) * 300.0 / 0.1, rel=1e-6)


def test_a_sum_over_people_is_judged_by_the_number_itself() -> None:
    """A total is called precise, rough or useless by its half-width as a fraction of the total.

    Releases and plans use the same rule.
    """
    told: dict[str, Any] = {"epsilon": [1.0] * 500, "bounds": (0, 300), "source": ep.Seeded(2)}
    worths = [ep.total(np.full(500, x), **told).verdict for x in (150.0, 12.0, 1.0)]
    assert [each.worth for each in worths] == ["precise", "rough", "useless"]
    half = worths[0].each[0].half
    assert worths[0].each[0].part == pytest.approx(half / 75_000, rel=0.02)
    assert "of the number)" in worths[1].words[0]
    assert "Not usable: ±" in worths[2].words[0]
    assert "everything possible" not in ep.total(np.full(500, 1.0), **told).details()
    # A number that may be negative is compared with its absolute value.
    signed = ep.total(np.full(500, -150.0), **{**told, "bounds": (-300, 0)})
    assert signed.verdict.each[0].part == pytest.approx(worths[0].each[0].part, rel=0.05)
    # A plan does not know the number: it says for which numbers the result would be precise.
    plan = ep.plan(ep.Budgets({1.0: 500}), statistic="total", bounds=(0, 300))
    assert "precise if the number is 17,974 or more" in plan.verdict.words[0]
    assert "not usable if it is 1,797 or less" in plan.verdict.words[0]
    few = ep.plan(ep.Budgets({0.1: 100}), statistic="total", bounds=(0, 300))
    assert "rough, not usable if the number is" in few.verdict.words[0]
    none = ep.plan(ep.Budgets({0.01: 20}), statistic="total", bounds=(0, 300))
    assert none.verdict.worth == "useless"
    some = ep.Count(where=("a", "yes"))
    [count] = ep.plan([some], epsilon=ep.Budgets({1.0: 500})).each
    assert "precise if the number is" in count.plan.verdict.words[0]


def test_a_plan_refuses_what_a_total_does_not_take() -> None:
    with pytest.raises(ArgumentError, match="about='population' is invalid for a total"):
        ep.plan(ep.Budgets({1.0: 50}), statistic="total", bounds=(0, 3), about="population")
    with pytest.raises(ArgumentError, match="related=False means nothing for a count"):
        ep.plan(ep.Budgets({1.0: 5}), statistic="count", neighbours="add-remove", related=False)


def test_a_variance_has_no_total() -> None:
    release = ep.variance([0.0, 1.0] * 50, epsilon=1.0, bounds=(0, 1), source=ep.Seeded(1))
    with pytest.raises(ep.errors.KindError, match=r"sum of variances means nothing.*ep\.total"):
        release.total()


@pytest.mark.parametrize(
    ("told", "error", "words"),
    [
        ({"bounds": (1, 5), "person": [1, 1, 2]}, BoundsError, "a person's total must include 0"),
        ({"bounds": (1, 5), "missing": "exclude"}, BoundsError, "must include 0 where a missing"),
        ({"bounds": (0, 5), "missing": "midpoint"}, ArgumentError, "then it adds 0"),
        ({"bounds": (0, 5), "about": "population"}, ArgumentError, "exactly these people"),
        ({"bounds": None}, BoundsError, "which only a mean supports"),
        ({"bounds": (0, 5), "neighbours": "add-remove"}, ArgumentError, "levels"),
    ],
)
def test_refusals_say_what_to_do(told: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ep.total([1.0, 2.0, 3.0], epsilon=[0.5, 0.5, 1.0], **told)
