"""Plans of a range that has to be found, and of the local model: printed, drawn, and on a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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
