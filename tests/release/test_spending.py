"""Spending is a function of ε, shown with a row for each level."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import epsilons as ep
from epsilons.errors import ArgumentError, BudgetError
from epsilons.results.release import AllOfIt, ByLevel, Spending, Spent, shown_levels

LEVELS = np.array([0.1, 0.5, 2.0])
SPENT = np.array([0.1, 0.4, 0.7])
PEOPLE = np.array([3, 0, 5])
PUBLIC = ByLevel(LEVELS, SPENT, PEOPLE)
PRIVATE = ByLevel(LEVELS, SPENT, None)
ALL = AllOfIt(np.array([0.25, 4.0]), np.array([7, 2]))


@pytest.mark.parametrize("rule", [PUBLIC, PRIVATE], ids=["public", "private"])
def test_a_person_spends_what_the_highest_level_up_to_their_budget_spends(rule: ByLevel) -> None:
    given = [0.1, math.nextafter(0.5, 0.0), 0.5, 1.9999, 2.0, 50.0, math.inf]
    expected = [0.1, 0.1, 0.4, 0.4, 0.7, 0.7, 0.7]
    assert rule.for_each(given).tolist() == expected
    assert [rule(each) for each in given] == expected
    assert rule.for_each([]).tolist() == []


@pytest.mark.parametrize("below", [0.0, math.nextafter(0.1, 0.0), -1.0, -math.inf, math.nan])
def test_below_all_levels_nobody_is_asked_where_people_are_public(below: float) -> None:
    """A budget below all levels spends 0 if people are private, and is refused if they are public.

    Under add/remove, people are private, and someone with such a budget is not counted. Where
    people are public, everyone who took part has a level, so nobody has such a budget.
    """
    assert PRIVATE(below) == 0.0
    assert PRIVATE.for_each([0.5, below]).tolist() == [0.4, 0.0]
    with pytest.raises(BudgetError, match="NaN or below every level"):
        PUBLIC(below)
    with pytest.raises(BudgetError, match="took part"):
        PUBLIC.for_each([0.5, below, 2.0])


@pytest.mark.parametrize("rule", [PUBLIC, PRIVATE], ids=["public", "private"])
def test_budgets_that_are_no_floats_are_rounded_down(rule: ByLevel) -> None:
    """A budget that is a fraction just below 0.5 is below the level 0.5.

    It must not be rounded up to the nearest float, which is 0.5.
    """
    half, hair = Fraction(1, 2), Fraction(1, 10**30)
    given = np.array([half - hair, half], dtype=object)
    assert rule.for_each(given).tolist() == [0.1, 0.4]
    assert rule.for_each(np.array([Decimal("2") - Decimal("1e-25")], dtype=object)).tolist() == [
        0.4
    ]


def test_a_row_for_each_level_strictest_first() -> None:
    rows = PUBLIC.rows
    assert [row.epsilon for row in rows] == LEVELS.tolist()
    assert [row.people for row in rows] == [3, 0, 5]
    assert [row.spent for row in rows] == SPENT.tolist()
    assert [row.kept for row in rows] == pytest.approx([0.0, 0.1, 1.3])
    assert list(map(type, rows[0])) == [float, int, float, float]
    private = PRIVATE.rows
    assert [row.people for row in private] == [None] * 3
    assert [row[2:] for row in private] == [row[2:] for row in rows]


def test_it_is_a_sequence_of_its_rows() -> None:
    for rule in (PUBLIC, PRIVATE, ALL):
        assert isinstance(rule, Spending)
        assert len(rule) == len(rule.rows)
        assert tuple(rule) == rule.rows
        assert rule[0] is rule.rows[0]
        assert list(rule)[-1] is rule.rows[-1]
        assert rule[-1:] == rule.rows[-1:]
        assert isinstance(rule[0], Spent)
        assert repr(rule) == repr(rule.rows)


def test_what_rounding_leaves_is_nothing_to_speak_of() -> None:
    rule = ByLevel(np.array([1.0]), np.array([1.0 - 2.0**-40]), np.array([2]))
    assert rule[0].kept == 0.0
    assert rule[0].spent < 1.0
    much = ByLevel(np.array([1.0]), np.array([1.0 - 2.0**-20]), np.array([2]))
    assert much[0].kept == 2.0**-20


def test_of_very_many_rungs_some_are_shown_and_all_are_known() -> None:
    rungs = np.geomspace(2.0**-20, 16.0, 2000)
    rule = ByLevel(rungs, rungs / 2.0, None)
    assert [row.epsilon for row in rule] == pytest.approx(
        [16.0 / 2**k for k in range(7, -1, -1)], rel=0.02
    )
    assert all(row.spent == row.epsilon / 2.0 for row in rule)
    assert rule(rungs[77]) == rungs[77] / 2.0
    assert len(ByLevel(rungs, rungs, np.ones(2000, dtype=np.int64))) == 2000


def test_the_highest_rung_that_can_be_stands_for_public_records() -> None:
    assert shown_levels(np.array([1.0, 2.0**20])).tolist() == [1.0, math.inf]
    rule = ByLevel(np.array([1.0, 2.0**20]), np.array([1.0, 3.0]), None)
    assert [(row.epsilon, row.kept) for row in rule] == [(1.0, 0.0), (math.inf, math.inf)]
    assert rule(math.inf) == 3.0


def test_in_the_local_model_everyone_spends_all_of_it() -> None:
    assert ALL.for_each([0.3, 0.0, 9.0, math.inf]).tolist() == [0.3, 0.0, 9.0, math.inf]
    assert [tuple(row) for row in ALL] == [(0.25, 7, 0.25, 0.0), (4.0, 2, 4.0, 0.0)]
    for wrong in (-1.0, math.nan):
        with pytest.raises(BudgetError, match="negative or NaN"):
            ALL(wrong)


RULES: dict[str, Any] = {
    "public": PUBLIC,
    "private": PRIVATE,
    "all of it": ALL,
    "allocation": ep.allocate([0.1, 0.5, 2.0]),
}
NO_COLUMN_OF_NUMBERS: dict[str, Any] = {
    "text": ["half"],
    "one text": "half",
    "digits": ["0.5"],
    "none": None,
    "missing": [None, 0.5],
    "truth": [True],
    "one number": 0.5,
    "two columns": [[0.5, 0.5]],
    "no rows, two columns": np.zeros((0, 2)),
    "ragged": [[0.5], [0.5, 0.5]],
    "mapping": {0.5: 3},
    "complex": [0.5j],
    "dates": np.array(["2020-01-01"], dtype="datetime64[s]"),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("given", NO_COLUMN_OF_NUMBERS)
def test_what_is_no_column_of_numbers_is_refused(rule: str, given: str) -> None:
    with pytest.raises(ArgumentError, match=r"^epsilon must be "):
        RULES[rule].for_each(NO_COLUMN_OF_NUMBERS[given])


@pytest.mark.parametrize("rule", [PUBLIC, PRIVATE, ALL], ids=["public", "private", "all of it"])
@pytest.mark.parametrize("given", ["half", None, True, [0.5], 1j])
def test_what_is_no_number_is_no_budget(rule: Spending, given: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^epsilon must be "):
        rule(given)


def test_columns_of_other_libraries_are_columns() -> None:
    for column in (pd.Series([0.5, 2.0], index=[7, 3]), pl.Series([0.5, 2.0]), range(2, 4)):
        assert PUBLIC.for_each(column).tolist() == [PUBLIC(each) for each in column]


def test_what_was_spent_is_not_the_array_that_was_given() -> None:
    given = np.array([0.25, 4.0])
    ALL.for_each(given)[0] = 9.0
    assert given[0] == 0.25


VALUES = np.random.default_rng(2).random(600)
GIVEN: dict[str, Any] = {"bounds": (0, 1), "related": False}
BY = {**GIVEN, "by": np.arange(600) % 2, "groups": [0, 1]}

QUESTIONS: dict[str, Any] = {
    "mean": ep.Mean(VALUES, **GIVEN),
    "adaptive mean": ep.Mean(VALUES, method="adaptive", **GIVEN),
    "frequencies": ep.Frequencies(np.arange(600) % 2, categories=[0, 1, 2], related=False),
    "total": ep.Total(VALUES, **GIVEN),
    "variance": ep.Variance(VALUES, **GIVEN),
    "covariance": ep.Covariance(VALUES, VALUES, x_bounds=(0, 1), y_bounds=(0, 1), related=False),
    "quantile": ep.Quantile(VALUES, q=0.5, **GIVEN),
    "groups": ep.Mean(VALUES, **BY),
    "public groups": ep.Mean(VALUES, groups_are="public", **BY),
}

ONLY_REPLACE = ("adaptive mean", "public groups")


@pytest.mark.parametrize(
    ("name", "neighbours"),
    [
        *[(name, "replace") for name in QUESTIONS],
        *[(name, "add-remove") for name in QUESTIONS if name not in ONLY_REPLACE],
    ],
)
def test_everyone_spends_what_the_checker_finds(name: str, neighbours: str) -> None:
    """What a release states is the loss that follows from its mechanism, and no less."""
    levels = np.array([0.2, 1.0, 3.0])
    private = neighbours == "add-remove"
    given = {"neighbours": "add-remove", "levels": levels.tolist()} if private else {}
    [release] = ep.publish(
        [QUESTIONS[name]], epsilon=np.repeat(levels, 200), source=ep.Seeded(1), **given
    )
    losses = np.array([float(loss) for loss in ep.verify.exact(release.mechanism).losses])
    assert losses[0] == pytest.approx(0.2, rel=1e-6)
    assert release.for_each(levels).tolist() == pytest.approx(losses.tolist(), rel=1e-6)
    assert (release.for_each(levels) >= losses * (1.0 - 1e-12)).all()
    assert [row.spent for row in release.spent] == release.for_each(levels).tolist()
    kept = [row.kept for row in release.spent]
    assert kept == pytest.approx((levels - losses).tolist(), rel=1e-6, abs=1e-6)


def test_someone_of_a_weight_spends_the_losses_of_that_many_units() -> None:
    budgets, weights = np.repeat([0.2, 1.0, 3.0], 200), np.tile([1.0, 2.0, 4.0], 200)
    release = ep.mean(
        VALUES, epsilon=budgets, weights=weights, bounds=(0, 1), related=0.05, source=ep.Seeded(1)
    )
    losses = np.array([float(loss) for loss in ep.verify.exact(release.mechanism).losses])
    levels = release.mechanism.levels
    at = [int(np.argmin(np.abs(levels - each))) for each in budgets / weights]
    spent = release.for_each(budgets, weights)
    assert spent.tolist() == pytest.approx((weights * losses[at]).tolist(), rel=1e-6)
    assert (spent >= weights * losses[at] * (1.0 - 1e-12)).all()
    amounts = release.spent.amounts
    assert (min(amounts), max(amounts)) == pytest.approx((spent.min(), spent.max()))
