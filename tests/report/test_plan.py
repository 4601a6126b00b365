"""A plan: printed, drawn, and on a page."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest

import epsilons as ep
from epsilons import report
from epsilons.report import number
from epsilons.report.plan import headline
from tests.report.forms import Reader, forms, many
from tests.report.page_samples import NAMES, data, pages

PLANS = [name for name in NAMES if name.startswith("plan") and name != "plan of several"]


BUDGETS = ep.Budgets({0.0: 3, 0.1: 50, 1.0: 20, math.inf: 2})


def test_a_plan_becomes_a_picture(tmp_path: Path) -> None:
    chart = ep.plan(BUDGETS).plot()
    chart.save(str(tmp_path / "plan.svg"))
    chart.save(str(tmp_path / "plan.png"))
    assert "<svg" in (tmp_path / "plan.svg").read_text(encoding="utf-8")
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_every_rule_is_marked_where_it_lies_on_a_finite_plot() -> None:
    plan = ep.plan(ep.Budgets({0.1: 50, 1.0: 20}))
    marks = plan.plot().to_dict()["layer"][1]["data"]["values"]
    names = {name for mark in marks for name in mark["method"].split(", ")}
    assert names == {forecast.method for forecast in plan.forecasts}


def test_a_plan_shows_what_people_of_single_levels_would_spend() -> None:
    plan = ep.plan(many())
    data = plan.to_dict()
    shown = str(plan)
    assert "≈" not in shown
    levels = [row["epsilon"] for row in data["forecasts"][0]["spent"]]
    assert set(levels) < set(many())
    assert f"for 4 of {len(levels)} levels" in " ".join(shown.split())
    lines = shown.splitlines()
    heads = [float(each) for each in re.findall(r"ε ([\d.]+)", lines[3])]
    chosen = np.linspace(0, len(levels) - 1, 4).round().astype(int).tolist()
    assert heads == [float(f"{levels[k]:.2g}") for k in chosen]
    for line, row in zip(lines[4:], data["forecasts"], strict=False):
        spends = [float(each) for each in line.split()[-4:]]
        assert spends == [float(f"{row['spent'][k]['spent']:.2g}") for k in chosen]
        assert all(spent <= has for spent, has in zip(spends, heads, strict=True))


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_shows_every_method_the_advice_and_what_is_protected(plan: str) -> None:
    each = data()[plan]
    reader = Reader(pages()[plan])
    for row in each["forecasts"]:
        assert f"{row['method']} {number(row['rmse'], 3)} {number(row['pac'], 3)}" in reader.text
    assert each["advice"] in reader.text
    assert each["assumption"] in reader.text
    assert "nobody will spend more than their own ε" in reader.text
    assert len(reader.all("figure")) == 3
    assert [attrs for attrs in reader.all("tr") if attrs.get("class") == "marked"]


def test_a_plan_answers_whether_it_is_worth_it() -> None:
    each = data()["plan"]
    shown = Reader(pages()["plan"]).text
    assert (
        "Compared with the best single threshold, the typical error is 1.31 times smaller" in shown
    )
    assert "compared with everyone at the strictest ε, it is zero instead of some." in shown
    assert (
        f"No method can have a typical error below {number(each['lower_bound'])} in the worst case."
        in shown
    )
    assert "within a factor of 3 of it" in shown
    assert "No method can be below the dashed line" in shown
    assert "if 10 % more were <strict> 0.0321 1.07 ×" in shown


def test_where_no_change_was_asked_about_nothing_is_said_of_any() -> None:
    assert "What if" in pages()["plan"]
    each = data()["plan"] | {"sensitivity": []}
    reader = Reader(report.page(each))
    assert "What if" not in reader.text
    label = next(x for x in reader.all("svg"))["aria-label"]
    assert (
        label == "People with each budget: ε 0: 3; ε 0.1: 500; ε 0.3: 1,000; ε 1: 200; ε public: 2"
    )


def test_text_and_notebook_have_one_headline() -> None:
    mean, shares = data()["plan"], data()["plan of private people"]
    assert headline(mean) == "Plan for the mean of 1,705 people, values from 0 to 1"
    words = "Plan for the shares of 700 people in 9 categories: errors as shares"
    assert headline(shares) == words
    for each in (mean, shares):
        assert report.text(each).split("\n")[0] == headline(each)
        assert f"<strong>{headline(each)}</strong>" in report.html(each)


def test_on_a_page_rules_in_one_place_are_named_by_the_first() -> None:
    each = data()["plan"]
    marks = report.plot(each).to_dict()["layer"][1]["data"]["values"]
    several = [mark["method"].split(", ") for mark in marks if ", " in mark["method"]]
    assert several
    for first, *others in several:
        assert f"{first}, and {len(others)} like it" in pages()["plan"]


def test_a_limit_is_drawn_where_it_leaves_room_for_the_curve() -> None:
    each = data()["plan"]
    assert 'stroke-dasharray="5,4"' in pages()["plan"]
    for change in ({"lower_bound": min(each["curve"]["error"]) / 31.0}, {"loss": "pac"}):
        shown = report.page(each | change)
        assert 'stroke-dasharray="5,4"' not in shown
        assert "dashed line" not in shown


@pytest.mark.parametrize("budgets", [{math.inf: 9}, {0.0: 3, 1.0: 2}, {1e-9: 4, 1e9: 1}])
def test_odd_budgets_have_a_page(budgets: dict[float, int]) -> None:
    reader = Reader(report.page(ep.plan(ep.Budgets(budgets)).to_dict()))
    assert "Every method" in reader.text
    assert ("there is no cap" in reader.text) == (budgets == {math.inf: 9})


@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_the_limit_on_a_page_speaks_of_the_loss_that_is_made_small(loss: str) -> None:
    plan = ep.plan({0.1: 100, 1.0: 40}, loss=loss, confidence=0.9)
    best = plan[plan.best]
    error, words = (
        (best.rmse, "a typical error") if loss == "mse" else (best.pac, "an error at 90 %")
    )
    said = forms(plan)
    for name in ("text", "page"):
        shown = said[name].replace("\u00a0", " ")
        assert f"No method can have {words} below {number(plan.lower_bound)}" in shown
    assert f"within a factor of {error / plan.lower_bound:.3g} of it" in said["page"]


GUESS = "The guess: if it is right, the typical error is"


def test_every_form_says_what_a_guess_buys_and_may_cost() -> None:
    plan = ep.plan({0.1: 500, 1.0: 200}, bounds=(0, 120), related=False, spread=0.05)
    guess = plan.guess
    assert guess is not None
    told = (
        f"{GUESS} {number(guess.rmse)} instead of {number(guess.plain_rmse)}; in the worst case "
        f"over all data it is {number(guess.worst)} instead of {number(guess.plain_worst)}. "
        "Privacy and intervals do not depend on it."
    )
    said = forms(plan)
    for name in ("text", "notebook", "page"):
        assert told in " ".join(said[name].replace("\u00a0", " ").split()), name
    for shown in forms(ep.plan({0.1: 500, 1.0: 200}, related=False)).values():
        assert "The guess" not in shown


def test_a_plan_with_a_guess_fits_a_screen() -> None:
    plan = ep.plan({0.1: 500, 1.0: 200}, bounds=(0, 120), related=False, spread=0.05)
    plain = ep.plan({0.1: 500, 1.0: 200}, bounds=(0, 120), related=False)
    assert max(map(len, str(plan).splitlines())) <= 100
    assert len(str(plan).splitlines()) <= len(str(plain).splitlines()) + 4


def test_a_guess_that_changes_nothing_says_so() -> None:
    plan = ep.plan({0.1: 100}, related=False, spread=0.1)
    assert "The guess changes no error here." in str(plan)
    assert GUESS not in str(plan)


def test_errors_of_a_guess_are_not_compared_with_a_limit_of_the_worst_case() -> None:
    """They may be below it."""
    plan = ep.plan({1.0: 50, 2.0: 50}, about="population", related=False, spread=0.001)
    each = plan.to_dict()
    assert plan[plan.best].rmse < plan.lower_bound
    shown = report.page(each)
    assert "The advised method is within a factor" not in shown
    assert "dashed line" not in shown
    assert "No method can have a typical error below" in shown
    assert "dashed line" in report.page(each | {"guess": None})
