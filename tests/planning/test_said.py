"""What each kind of plan prints."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.results.report import number
from epsilons.results.report.sheet import (
    Curve,
    Facts,
    Figure,
    Note,
    Sheet,
    SheetTable,
    SpendingTable,
)
from tests.report.forms import forms, many
from tests.report.page_samples import ATTACK, NAMES, shown

PLANS = [name for name in NAMES if "plan" in name]
CENTRAL = [
    "plan", "plan of many", "plan of shares", "plan of private people", "plan with a guess",
]  # fmt: skip
GUESS = "The guess: if it is right, the typical error is"


def facts(sheet: Sheet) -> dict[str, str]:
    """Return all facts by name."""
    return {fact.name: fact.words for part in sheet.all(Facts) for fact in part.facts}


def tables(sheet: Sheet, *, whole: bool) -> list[SheetTable]:
    return [part for part in sheet.parts(whole=whole) if isinstance(part, SheetTable)]


def notes(sheet: Sheet) -> list[str]:
    return [part.words for part in sheet.all(Note)]


def curve(sheet: Sheet) -> Curve:
    (found,) = (each.drawing for each in sheet.all(Figure) if isinstance(each.drawing, Curve))
    return found


def altered(plan: Any, **answers: Any) -> Any:
    """Return the same plan, with some cached properties replaced."""
    made = replace(plan)
    made.__dict__.update(answers)
    return made


@pytest.mark.parametrize("name", PLANS)
def test_every_plan_says_what_to_do_what_would_help_and_what_is_protected(name: str) -> None:
    plan = shown()[name]
    data, sheet = plan.to_dict(), plan.sheet()
    said = notes(sheet)
    for key in ("advice", "hint", "protects", "assumption", "aside"):
        assert data.get(key, "") in ("", *said), key
    assert [part.words for part in sheet.of("warning")] == data["warnings"]
    assert sheet.headline == sheet.name
    assert not sheet.simulated
    assert any(each.lead for each in sheet.all(Figure))
    assert "no data was read · written" in sheet.byline


@pytest.mark.parametrize("name", CENTRAL)
def test_a_plan_shows_every_method(name: str) -> None:
    plan = shown()[name]
    for table in (tables(plan.sheet(), whole=False)[0], tables(plan.sheet(), whole=True)[0]):
        for row, forecast in zip(table.rows, plan.forecasts, strict=True):
            mark = " *" if forecast.method == plan.best else ""
            assert row[:3] == (forecast.method + mark, number(forecast.rmse), number(forecast.pac))
    assert table.marked == [each.method for each in plan.forecasts].index(plan.best)
    marks = {each for _, _, methods in curve(plan.sheet()).marks for each in methods}
    drawn = {each.method for each in plan.forecasts if 0 < each.rmse < math.inf}
    assert marks <= drawn


def test_the_name_of_a_plan_says_what_is_planned() -> None:
    assert shown()["plan"].sheet().name == "Plan for the mean of 1,705 people, values from 0 to 1"
    words = "Plan for the shares of 700 people in 9 categories: errors as shares"
    assert shown()["plan of private people"].sheet().name == words


def test_a_plan_shows_what_people_of_single_levels_would_spend() -> None:
    plan = ep.plan(many())
    (table, _) = tables(plan.sheet(), whole=False)
    levels = [row.epsilon for row in plan.forecasts[0].spent]
    assert set(levels) < set(many())
    assert any(f"for 4 of {len(levels)} levels" in each for each in notes(plan.sheet()))
    places = np.linspace(0, len(levels) - 1, 4).round().astype(int).tolist()
    heads = [float(each.removeprefix("ε ")) for each in table.heads[5:]]
    assert heads == [float(f"{levels[k]:.2g}") for k in places]
    for row, forecast in zip(table.rows, plan.forecasts, strict=True):
        spends = [float(each) for each in row[5:]]
        assert spends == [float(f"{forecast.spent[k].spent:.2g}") for k in places]
        assert all(spent <= has for spent, has in zip(spends, heads, strict=True))


def test_a_plan_says_how_close_it_is_to_the_limit() -> None:
    plan = shown()["plan"]
    bound = plan[plan.best].rmse / 3.0
    said = facts(altered(plan, lower_bound=bound).sheet())
    limit = f"No method can have a typical error below {number(bound)} in the worst case."
    assert said["The limit"] == f"{limit} The advised method is within a factor of 3 of it."
    assert limit in " ".join(altered(plan, lower_bound=bound).details().split())


@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_the_limit_speaks_of_the_loss_that_is_made_small(loss: str) -> None:
    plan = ep.plan({0.1: 100, 1.0: 40}, loss=loss, confidence=0.9)
    best = plan[plan.best]
    error, words = (
        (best.rmse, "a typical error") if loss == "mse" else (best.pac, "an error at 90 %")
    )
    limit = facts(plan.sheet())["The limit"]
    assert limit.startswith(f"No method can have {words} below {number(plan.lower_bound)}")
    assert f"within a factor of {error / plan.lower_bound:.3g} of it" in limit


def test_a_limit_is_drawn_where_it_leaves_room_for_the_curve() -> None:
    plan = shown()["plan"]
    least = min(plan.curve["error"])
    for bound, drawn in ((least / 2.0, True), (least / 31.0, False)):
        sheet = altered(plan, lower_bound=bound).sheet()
        assert curve(sheet).limits == ((bound,) if drawn else ())
        captions = " ".join(each.caption for each in sheet.all(Figure))
        assert ("dashed line" in captions) == drawn
    pac = shown()["plan of many"]  # its loss is "pac", so no limit is drawn
    assert curve(altered(pac, lower_bound=min(pac.curve["error"]) / 2.0).sheet()).limits == ()


def test_where_no_change_was_asked_about_nothing_is_said_of_any() -> None:
    plan = shown()["plan"]
    sections = [part.section for part in plan.sheet().all(SheetTable)]
    assert "What if" in sections
    sections = [part.section for part in altered(plan, sensitivity=()).sheet().all(SheetTable)]
    assert "What if" not in sections


@pytest.mark.parametrize("budgets", [{math.inf: 9}, {0.0: 3, 1.0: 2}, {1e-9: 4, 1e9: 1}])
def test_odd_budgets_have_a_page_and_a_picture(budgets: dict[float, int]) -> None:
    plan = ep.plan(ep.Budgets(budgets))
    text = forms(plan)["page"]
    assert "Every method" in text
    assert ("there is no cap" in text) == (budgets == {math.inf: 9})
    assert plan.plot().to_dict()["layer"]


def test_every_form_says_what_a_guess_buys_and_may_cost() -> None:
    plan = shown()["plan with a guess"]
    guess = plan.guess
    told = (
        f"{GUESS} {number(guess.rmse)} instead of {number(guess.plain_rmse)}; in the worst case "
        f"over all data it is {number(guess.worst)} instead of {number(guess.plain_worst)}. "
        "Privacy and intervals do not depend on it."
    )
    said = forms(plan)
    for name in ("text", "notebook", "page"):
        assert told in said[name], name
    for text in forms(ep.plan({0.1: 500, 1.0: 200}, related=False)).values():
        assert "The guess" not in text
    same = ep.plan({0.1: 100}, related=False, spread=0.1)
    assert "The guess changes no error here." in notes(same.sheet())


def test_errors_of_a_guess_are_not_compared_with_a_limit_of_the_worst_case() -> None:
    """If the guess is right, an error may be below the worst-case limit."""
    plan = ep.plan({1.0: 50, 2.0: 50}, about="population", related=False, spread=0.001)
    assert plan[plan.best].rmse < plan.lower_bound
    limit = facts(plan.sheet())["The limit"]
    assert limit.startswith("No method can have a typical error below")
    assert "The advised method is within a factor" not in limit
    assert curve(plan.sheet()).limits == ()
    assert curve(altered(plan, guess=None).sheet()).limits


CHANCE = '"Not at all" still allows for differences by chance'
OTHER = "The best cap is for the typical error: the error at 95 % may be smaller in a row above."


@pytest.mark.parametrize(
    ("rmse", "pac", "said"),
    [
        ([3.0, 2.0, 1.0], [3.0, 2.0, 1.0], []),
        ([3.0, 2.0, 1.0], [3.0, 2.0, 2.2], [CHANCE]),
        ([3.0, 2.0, 2.2], [3.0, 2.0, 1.0], [CHANCE]),
        ([3.0, 2.0, 1.0], [3.0, 3.2, 1.0], [OTHER]),
        ([3.0, 2.0, 1.0], [3.0, 2.0, 3.2], [CHANCE, OTHER]),
    ],
)
def test_a_row_that_is_worse_than_one_above_it_is_explained(
    rmse: list[float], pac: list[float], said: list[str]
) -> None:
    plan = shown()["plan"]
    sides = tuple(
        side._replace(rmse=typical, pac=error)
        for side, typical, error in zip(plan.sides, rmse, pac, strict=True)
    )
    table, note = altered(plan, sides=sides).sheet().of("sides")
    assert note.words.startswith("The row with * is what this plan assumes.")
    assert table.rows[0][0] == "in any way *"
    for each in (CHANCE, OTHER):
        assert (each in note.words) == (each in said)


def test_the_error_that_a_cap_is_for_is_that_of_the_plan() -> None:
    plan = shown()["plan of many"]  # its loss is "pac"
    sides = tuple(side._replace(rmse=1.0 + k, pac=1.0) for k, side in enumerate(plan.sides))
    _, note = altered(plan, sides=sides).sheet().of("sides")
    assert "The best cap is for the error at 95 %: the typical error may be smaller" in note.words


def test_a_plan_of_shares_speaks_of_shares() -> None:
    plan = shown()["plan of shares"]
    said = forms(plan)
    assert "by at most 5 % of all people" in said["text"]
    least = f"{100 * plan.lower_bound:.3g} percentage points in the worst case"
    assert least in said["text"]
    assert least in said["page"]


def test_a_plan_of_a_range_says_which_and_what_it_takes() -> None:
    few, gaussian = shown()["plan of a range"], shown()["plan of a Gaussian"]
    (errors, spent) = tables(few.sheet(), whole=False)
    assert [row[0] for row in errors.rows] == ["spread out", "close together, far from 0"]
    assert errors.rows[0][3] == f"{number(100 * few.forecasts[0].rmse, 3)} %"
    assert spent.heads == ("budget ε", "people", "on the range", "on the mean", "kept")
    text = " ".join(few.details().split())
    assert "in percent of its width" in text
    assert f"for {few.people_needed:,} people, the number that is needed" in text
    assert facts(few.sheet())["The range"] in text
    (errors, spent) = tables(gaussian.sheet(), whole=False)
    assert errors.rows[0][3].endswith(" σ")
    assert len(spent.rows) == 8
    assert re.search(r" 8 of [\d,]+ levels are shown\.", " ".join(gaussian.details().split()))
    (drawn,) = (each.drawing for each in gaussian.sheet().all(Figure))
    for level, parts in drawn.levels:
        assert sum(parts) == pytest.approx(level, rel=1e-6)


def test_a_plan_of_reports_compares_them_with_a_curator() -> None:
    plan = shown()["plan of reported shares"]
    (table,) = tables(plan.sheet(), whole=False)
    assert table.rows[0][2] == number(100 * plan.forecasts[0].rmse, 3)
    assert table.rows[-1][0] == "a trusted curator"
    assert any("They are in percentage points" in each for each in notes(plan.sheet()))
    assert "percentage points in the" in " ".join(plan.details().split())
    drawn = next(each.drawing for each in plan.sheet().all(Figure) if each.lead)
    assert dict(drawn.rows)["a trusted curator"] == plan.curator.pac  # its loss is "pac"
    vectors = shown()["plan of vectors"]
    assert tables(vectors.sheet(), whole=False)[0].rows[0][2].endswith(" %")


def test_a_plan_of_groups_says_how_wide_intervals_will_be() -> None:
    plan = shown()["plan of public groups"]
    sheet = plan.sheet()
    assert sheet.name == "Means of 4 groups; group membership is public"
    (table,) = tables(sheet, whole=False)
    for row, forecast in zip(table.rows, plan.forecasts, strict=True):
        assert row[1:] == (f"{forecast.people:,}", number(forecast.half_width, 3))
    assert curve(sheet).points == tuple((each.people, each.half_width) for each in plan.forecasts)
    (spent,) = sheet.all(SpendingTable)
    assert spent.words.startswith("In a group of an even share of the people, a person with each")
    assert any("for one group of that size" in each for each in notes(sheet))
    private = shown()["plan of groups"].sheet()
    assert private.all(SpendingTable)[0].words == ""
    assert not any("for one group of that size" in each for each in notes(private))


def test_a_plan_of_groups_says_where_intervals_tell_nothing() -> None:
    poor = ep.plan(ep.Budgets({0.01: 20, 0.02: 20}), groups=3)
    for name in ("text", "notebook", "page"):
        assert "Not usable: almost any value fits, in all 3 groups" in forms(poor)[name]
        assert "What would help: fewer or larger groups" in forms(poor)[name]
    rich = ep.plan(ep.Budgets({1.0: 20_000}), groups=3, related=False)
    assert "What would help" not in str(rich)


def test_a_plan_of_several_questions_has_a_row_for_each() -> None:
    plan = shown()["plan of several"]
    (table,) = tables(plan.sheet(), whole=False)
    assert [row[0] for row in table.rows] == [ATTACK, "Mean of y", "Frequencies of z"]
    assert table.rows[0][3].endswith("<b>minutes</b>")
    assert table.rows[1][3].endswith(" of the range")
    assert table.rows[1][4] == "–"
    assert table.rows[2][3].endswith(" %")
    shares = next(each.drawing for each in plan.sheet().all(Figure))
    assert [share for _, share in shares.rows] == [pytest.approx(1 / 3)] * 3
