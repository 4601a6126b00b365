"""Plans of a range that has to be found, and of the local model: printed, drawn, and on a page."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

import epsilons as ep
from epsilons import report
from epsilons.report import number
from tests.report.forms import Reader
from tests.report.page_samples import NAMES, data, pages

PLANS = [name for name in NAMES if name.startswith(("range plan", "local plan"))]


@pytest.mark.parametrize("name", PLANS)
def test_a_page_says_what_to_do_what_would_help_and_what_is_protected(name: str) -> None:
    each, shown = data()[name], Reader(pages()[name]).text
    for key in ("advice", "hint", "protects", "assumption"):
        assert each[key] in shown
    assert f"{each['n']:,} people" in shown


@pytest.mark.parametrize("name", PLANS)
def test_lines_fit_the_screen(name: str) -> None:
    assert max(map(len, report.text(data()[name]).splitlines())) <= 96


@pytest.mark.parametrize("name", PLANS)
def test_it_becomes_a_picture(name: str, tmp_path: Path) -> None:
    report.plot(data()[name]).save(str(tmp_path / "plan.svg"))
    drawn = (tmp_path / "plan.svg").read_text(encoding="utf-8")
    assert "<svg" in drawn
    assert ("on the range" if name.startswith("range") else "error") in drawn


def test_of_many_levels_some_are_shown() -> None:
    shown = report.text(data()["range plan"])
    assert re.search(r" 8 of [\d,]+ levels are shown\.", " ".join(shown.split()))
    rows = [line for line in shown.splitlines() if line.startswith("  ")]
    heads = next(k for k, line in enumerate(rows) if "on the range" in line)
    assert len(rows[heads + 1 : heads + 9]) == 8


def test_a_bar_is_the_whole_of_a_budget() -> None:
    chart = report.plot(data()["range plan"]).to_dict()
    parts: dict[str, float] = {}
    for row in chart["data"]["values"]:
        parts[row["level"]] = parts.get(row["level"], 0.0) + row["epsilon"]
    for level, total in parts.items():
        assert total == pytest.approx(float(level), rel=6e-3)


def test_a_local_plan_draws_the_error_that_is_to_be_small() -> None:
    each = data()["local plan of shares"]
    values = report.plot(each).to_dict()["data"]["values"]
    drawn = {row["kind"]: row["error"] for row in values}
    assert drawn["a trusted curator"] == each["curator"]["pac"]
    assert drawn["hadamard"] == next(
        row["pac"] for row in each["forecasts"] if row["method"] == "hadamard"
    )


def test_errors_are_in_the_units_of_what_is_asked() -> None:
    shares = " ".join(report.text(data()["local plan of shares"]).split())
    assert "They are in percentage points" in shares
    assert "percentage points in the" in shares
    assert " σ" in report.text(data()["range plan"])
    assert "in percent of its width" in " ".join(
        report.text(data()["range plan of too few"]).split()
    )


def test_errors_are_printed_as_they_are() -> None:
    shares, few = data()["local plan of shares"], data()["range plan of too few"]
    first = shares["forecasts"][0]
    assert f" {number(100 * first['rmse'], 3)}   " in report.text(shares)
    spread_out = few["forecasts"][0]
    assert f" {number(100 * spread_out['rmse'], 3)} % " in report.text(few)


def test_a_plan_of_groups_has_a_page_a_picture_and_a_notebook() -> None:
    each = data()["groups plan"]
    shown = Reader(pages()["groups plan"]).text
    for key in ("protects", "assumption"):
        assert each[key] in shown
        assert html.escape(each[key]) in report.html(each)
    assert "Means of 4 groups; group membership is public" in shown
    assert "In a group of an even share of the people, a person with each budget" in shown
    for row in each["forecasts"]:
        for form in (shown, report.text(each), report.html(each)):
            assert f"{number(row['half_width'], 3)}" in form
            assert f"{row['people']:,}" in form
    drawn = report.plot(each).to_dict()["vconcat"][0]
    assert drawn["data"]["values"] == [
        {"people": row["people"], "half": row["half_width"]} for row in each["forecasts"]
    ]


def test_every_level_of_a_plan_of_groups_is_in_its_table() -> None:
    budgets = ep.Budgets({0.01 * k: 50 for k in range(1, 21)})
    text = str(ep.plan(budgets, groups=2, related=False))
    spent = text[text.index("budget ε") :].split("\n\n")[0].splitlines()[1:]
    assert sum(int(re.split(r" {3,}", line.strip())[1].replace(",", "")) for line in spent) == 1000
    assert "0.2 " in spent[-1]


def test_a_plan_of_groups_says_where_intervals_tell_nothing() -> None:
    poor = ep.plan(ep.Budgets({0.01: 20, 0.02: 20}), groups=3)
    assert "Intervals will say almost nothing" in str(poor)
    assert "Intervals will say almost nothing" in report.page(poor.to_dict())
    rich = ep.plan(ep.Budgets({1.0: 20_000}), groups=3, related=False)
    assert "Intervals will say" not in str(rich)
    assert "for one group of that size" not in str(rich)
