"""One number with its interval: drawn, and on a page."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

import epsilons as ep
from epsilons import report
from epsilons.report import scalar
from tests.report.forms import Reader
from tests.report.page_samples import data, pages


def test_a_mean_leads_with_its_value_and_interval() -> None:
    each = data()["mean"]
    shown = Reader(pages()["mean"]).text
    low, high = each["interval"]
    assert f"Mean: {each['value']:.2f}" in shown
    assert f"With 95 % confidence between {low:.2f} and {high:.2f}." in shown
    assert "3,000 people" in shown


def test_an_infinite_interval_is_said_and_not_drawn() -> None:
    each = data()["mean"] | {"interval": [-math.inf, math.inf]}
    reader = Reader(report.page(each))
    assert "between -∞ and ∞" in reader.text
    assert "says nothing" in reader.text
    assert len(reader.all("figure")) == 1


def test_an_interval_wider_than_the_range_is_drawn_whole() -> None:
    each = data()["mean"] | {"bounds": [30.0, 40.0], "interval": [10.0, 90.0]}
    first = report.page(each).split("</figure>")[0]
    ticks = [float(x) for x in re.findall(r">(\d+)</text>", first)]
    assert min(ticks) <= 20.0
    assert max(ticks) >= 80.0


def test_a_release_becomes_a_picture_with_its_levels_in_order(tmp_path: Path) -> None:
    release = ep.mean([1.0, 2.0, 3.0, 4.0], epsilon=[0.1, 1.0, 10.0, 2.0], bounds=(0, 10))
    chart = release.plot()
    chart.save(str(tmp_path / "release.png"))
    levels = chart.to_dict()["vconcat"][1]["encoding"]["y"]["sort"]
    assert levels == ["0.1", "1", "2", "10"]


@pytest.mark.parametrize("private", [True, False])
def test_text_and_notebook_have_one_headline(private: bool) -> None:
    each = data()["mean"] | {"private": private}
    low, high = each["interval"]
    words = f"Mean: {each['value']:.2f}   (95 % interval {low:.2f} to {high:.2f})"
    assert scalar.headline(each) == words
    seeded = "" if private else "NOT PRIVATE: drawn from a seed, for simulation only. "
    assert f"<strong>{seeded}{words}</strong>" in report.html(each)
    lines = report.text(each).split("\n")
    assert lines[0 if private else 2] == words
    assert (lines[0] == seeded.strip()) == (not private)


def test_a_picture_shows_the_interval_and_its_place_on_the_whole_range() -> None:
    each = data()["mean"] | {"bounds": [0.0, 120.0], "value": 31.0, "interval": [30.0, 32.0]}
    near, far = report.plot(each).to_dict()["vconcat"][0]["vconcat"]
    assert near["layer"][0]["encoding"]["x"]["scale"]["domain"] == [28.5, 33.5]
    assert far["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.0, 120.0]
    words = [
        row["words"]
        for layer in near["layer"]
        for row in layer["data"]["values"][:1]
        if "words" in row
    ]
    assert words == ["30.00", "32.00", "31.00"]
    wide = report.plot(each | {"interval": [10.0, 90.0]}).to_dict()["vconcat"][0]
    assert wide["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0.0, 120.0]


def test_an_endless_interval_is_left_out_of_the_picture() -> None:
    each = data()["mean"] | {"interval": [-math.inf, math.inf]}
    assert len(report.plot(each).to_dict()["vconcat"]) == 1


def test_an_interval_that_is_the_whole_range_tells_nothing() -> None:
    each = data()["mean"] | {"interval": [0.0, 120.0]}
    for shown in (report.text(each), report.page(each)):
        assert "with these budgets, the result says nothing" in " ".join(shown.split())
    assert "says nothing" not in report.text(data()["mean"])


@pytest.mark.parametrize(
    ("spread", "words"),
    [
        (
            {"value": 0.0, "low": 0.0, "high": 7.31},
            "Standard deviation at most 7.31 minutes (with 95 % confidence)",
        ),
        (
            {"value": 0.001, "low": 0.0, "high": 7.31},
            "Standard deviation at most 7.31 minutes (with 95 % confidence)",
        ),
        (
            {"value": 3.2, "low": 0.0, "high": 7.31},
            "Standard deviation 3.20 minutes (95 % interval 0.00 to 7.31)",
        ),
        (
            {"value": 3.2, "low": 3.2, "high": 7.31},
            "Standard deviation 3.20 minutes (95 % interval 3.20 to 7.31)",
        ),
    ],
)
def test_a_spread_that_noise_hides_is_not_called_0(spread: dict[str, float], words: str) -> None:
    each = data()["mean"] | {"spread": spread, "unit": "minutes"}
    assert f"\n  {words}\n" in report.text(each)
    assert f"<p>{words}</p>" in report.html(each)
    assert words in Reader(report.page(each)).text


def test_a_long_line_about_the_error_is_broken() -> None:
    people: dict[str, Any] = {
        "epsilon": [0.5, 1.0] * 50,
        "neighbours": "add-remove",
        "levels": [0.5, 1.0],
    }
    release = ep.frequencies(["a", "b"] * 50, categories=["a", "b"], **people)
    text = str(release)
    told = "an approximation that takes the noisy number of people as true"
    assert told in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 96
