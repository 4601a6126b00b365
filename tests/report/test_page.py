"""The order, the headings and the maximal length of a sheet that is shown as a page."""

from __future__ import annotations

import json
import re

import pytest

from epsilons.results.report import charts
from epsilons.results.report.page import as_page
from epsilons.results.report.sheet import (
    BudgetBars,
    Fact,
    Facts,
    Figure,
    Interval,
    Note,
    Part,
    Ranges,
    Row,
    Sheet,
    SheetTable,
    SpendingTable,
)
from tests.report.forms import Reader
from tests.report.page_samples import nasty, shown


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(charts, "svg", lambda *_, **__: "<svg ></svg>")


def page(*parts: Part, **given: object) -> Reader:
    return Reader(as_page(Sheet("A name", (parts,), **given), None))  # type: ignore[arg-type]


def test_parts_stand_where_their_roles_put_them() -> None:
    read = page(
        SheetTable("rows", ("a", "b"), (("t", "1"),)),
        Note("made", "in a line", depth="brief"),
        Facts("people", (Fact("One", "1", "said"), Fact("", "", "said alone")), joined=True),
        Note("note", "then words"),
        Facts("error", (Fact("Two", "2"),)),
        Note("assumed", "that", set_in=True),
        Note("warning", "look first"),
        Figure(BudgetBars(((1.0, 2),)), "drawn", "a figure"),
        Note("note", "of its own", section="A section"),
        SheetTable("sides", ("c", "d"), (("s", "2"),)),
        Note("protected", "this"),
        Facts("made", (Fact("How", "so"),), depth="whole"),
        title="A title",
        claim="A claim.",
        byline="By line",
        simulated=True,
    )
    assert read.text == (
        "A title A title By line NOT PRIVATE: drawn from a seed, for simulation only. look first "
        "A name. A claim. One 1 Two 2 then words a figure a b t 1 A section of its own What is "
        "protected this What is assumed that c d s 2 How it was made How so Made with epsilons. "
        "This page stands alone: it loads nothing and runs nothing."
    )


def test_small_figures_stand_side_by_side_with_their_names() -> None:
    one = Figure(BudgetBars(((1.0, 2),)), "drawn", name="First", words="Some.")
    read = page(one, Figure(None, "nothing to draw", name="Second", words="None."))
    assert "First Some. Second None." in read.text
    assert len(read.all("figure")) == 1
    assert {"class": "grid"} in read.all("div")


def test_what_is_not_all_drawn_or_listed_says_so() -> None:
    rows = tuple(Row(f"r{k}", 0.1, 0.0, 0.2) for k in range(70))
    table = SheetTable("rows", ("", "x"), tuple((row.name, "1") for row in rows), most=12)
    for count in (40, 70):
        some = Figure(Ranges(rows[:count], "x", things="names"), "drawn", "Dots.")
        read = page(table, some)
        assert ("The first 40 of 70 names are shown; to_json()" in read.text) == (count == 70)
    assert len(re.findall(r" r\d+ 1", read.text)) == 40


def test_one_number_is_drawn_on_all_that_it_could_be_where_it_is_small() -> None:
    one = Row("", 5.0, 4.9, 5.1)
    small = Figure(Interval(one, (0.0, 10.0), "x", ("5", "4.9", "5.1")), "drawn", "A dot.")
    read = page(small)
    assert len(read.all("figure")) == 2
    assert "A dot. The axis shows the part of the range around it." in read.text
    labels = [each["aria-label"] for each in read.all("svg")]
    assert labels == ["drawn", "The interval from 4.9 to 5.1, on the whole range"]
    wide = Figure(Interval(Row("", 5.0, 3.0, 7.0), (0.0, 10.0), "x", ("", "", "")), "drawn")
    assert len(page(wide).all("figure")) == 1


def test_who_spends_what_is_drawn_if_anybody_does() -> None:
    spent = shown()["mean"].spent
    read = page(SpendingTable(spent, words="So they would:", section="The price"))
    assert "The price So they would: What each person spends of their own ε" in read.text
    assert "budget ε people spent kept" in read.text
    offered = page(SpendingTable(spent, offered=True)).text
    assert "What people spent What each person spends of the ε offered to this release" in offered
    nothing = shown()["plan"].forecasts[0].spent[:1]  # the level ε = 0, which spends nothing
    assert not page(SpendingTable(nothing)).all("figure")


def test_numbers_are_not_broken_from_their_percent_signs() -> None:
    text = as_page(nasty(), None) + as_page(shown()["mean"].sheet(), None)
    assert "With 95\u00a0% confidence" in text
    assert not re.search(r"<(p|dd)[^>]*>[^<]*\d %", text)


def test_the_numbers_are_there_for_programs() -> None:
    result = shown()["several"]
    embedded = json.loads(Reader(as_page(result.sheet(), result.to_dict())).embedded)
    assert embedded["names"] == list(result.names)
