"""The page, the text and the plot of several releases."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from epsilons import report
from epsilons.report import charts
from epsilons.report.entries import entries_of
from epsilons.report.several import names_of
from tests.report.forms import Reader
from tests.report.page_samples import data, pages


@pytest.fixture
def several() -> dict[str, Any]:
    """Three releases: a mean, shares of three letters, and a mean on a range that was found."""
    found: dict[str, Any] = data()["several"]
    return found


def _tables(page: str) -> list[str]:
    return [each.split("</table>")[0] for each in page.split("<table>")[1:]]


def test_a_page_has_one_table_of_all_numbers(several: dict[str, Any]) -> None:
    page = Reader(pages()["several"])
    numbers, spent = _tables(pages()["several"])
    assert numbers.count("<tr>") == 1 + 5
    assert page.text.count("budget ε people") == 1
    for one, name in zip(several["each"], several["names"], strict=True):
        assert numbers.count(f">{name}</th>") == (3 if one["kind"] == "cells" else 1)
    value = several["each"][0]["value"]
    assert f"<td>{value:.1f}</td>" in numbers
    assert "<td>minutes</td>" in numbers
    assert len(page.all("figure")) == 3 + 1  # small multiples, and who spent what
    assert page.text.count("NOT PRIVATE") == 1
    assert json.loads(page.embedded)["kind"] == "releases"
    assert spent.count("<tr>") >= 2


def test_every_number_stands_on_the_page_with_both_of_its_ranges(several: dict[str, Any]) -> None:
    numbers = _tables(pages()["several"])[0]
    low, high = several["each"][1]["interval"]
    first, last = several["band"][1]
    rows = [row.split("<td>")[1:] for row in numbers.split("<tr>")[2:] if "Letters" in row]
    shown = [[float(cell.split(" %")[0]) for cell in row[1:]] for row in rows]
    for k, row in enumerate(shown):
        exact = [several["each"][1]["value"][k], low[k], high[k], first[k], last[k]]
        assert row == pytest.approx([100.0 * each for each in exact], abs=0.06)


def test_what_is_said_of_all_is_said_once(several: dict[str, Any]) -> None:
    text = report.text(several)  # type: ignore[arg-type]
    protects = {one["protects"] for one in several["each"]}
    assert text.count("Protected:") == len(protects) == 2
    assert text.count("Assumed:") == len({one["assumes"] for one in several["each"]})
    alike = several | {"each": several["each"][:1] * 2, "names": ["a", "b"]}
    alike["band"] = several["band"][:1] * 2
    assert report.text(alike).count("Protected:") == 1  # type: ignore[arg-type]


def test_confidences_of_releases_are_their_own(several: dict[str, Any]) -> None:
    other = several["each"][1] | {"confidence": 0.8}
    mixed: Any = several | {"each": [several["each"][0], other, several["each"][2]]}
    text = report.text(mixed)
    assert "from (80 %)" in text
    assert text.count("95 % interval") == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charts, "svg", lambda *_, **__: "<svg ></svg>")
        page = Reader(report.page(mixed)).text
    assert "from (95 % or 80 %)" in page


def test_a_plot_holds_all_releases_and_who_spent_what(several: dict[str, Any]) -> None:
    drawn = report.plot(several).to_dict()  # type: ignore[arg-type]
    assert len(drawn["vconcat"]) == 2
    assert len(drawn["vconcat"][0]["vconcat"]) == 3


def test_ranges_without_an_end_are_not_drawn(several: dict[str, Any]) -> None:
    endless: Any = several | {"band": [*several["band"][:2], [[-math.inf], [math.inf]]]}
    drawn = report.plot(endless).to_dict()
    assert len(drawn["vconcat"][0]["vconcat"]) == 2
    assert "∞" in report.text(endless)


def test_numbers_of_a_kind_that_nobody_knows_have_their_names() -> None:
    one = {"value": 3.0, "interval": [1.0, 5.0], "unit": "m"}
    found = entries_of(one)
    assert found.single
    assert (found.value, found.low, found.high, found.unit) == ([3.0], [1.0], [5.0], "m")
    several = {"value": [1.0, 2.0], "interval": [[0.0, 1.0], [2.0, 3.0]], "unit": None}
    assert entries_of(several).names == ["0", "1"]
    assert entries_of(several | {"groups": ["north", "south"]}).names == ["north", "south"]
    assert entries_of(several | {"categories": [[0.0, 1.0], "x"]}).names == ["0 to 1", "x"]
    pairs = entries_of(several | {"groups": [["north", "f"], ["north", 3]]})
    assert pairs.names == ["north, f", "north, 3"]
    assert entries_of(several | {"quantiles": [0.5, 0.9]}).names == ["0.5", "0.9"]
    assert entries_of(several | {"groups": ["too few"]}).names == ["0", "1"]


def test_names_are_titles_or_columns_and_no_two_alike() -> None:
    facts: list[Any] = [
        ("Wages", "mean", "w"),
        (None, "mean", "w"),
        (None, "mean", None),
        (None, "mean", "w"),
        ("Wages", "frequencies", None),
    ]
    assert names_of(facts) == ["Wages", "Mean of w", "Mean", "Mean of w (2)", "Wages (2)"]
