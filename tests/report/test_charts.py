"""Charts and pictures of results, and a clear message if the extra is not installed."""

from __future__ import annotations

import importlib
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import epsilons as ep
from epsilons.errors import MissingExtraError
from epsilons.results.release import Spent
from epsilons.results.report import charts
from epsilons.results.report.page import as_page
from epsilons.results.report.phrases import budget_bins
from epsilons.results.report.plot import as_chart
from epsilons.results.report.sheet import (
    BudgetBars,
    Curve,
    Figure,
    Interval,
    Points,
    Ranges,
    Row,
    Sheet,
    SpendingTable,
    Stacked,
)
from tests.report.page_samples import shown

SOME = st.floats(-1e9, 1e9)

BUDGETS = ep.Budgets({0.0: 3, 0.1: 50, 1.0: 20, math.inf: 2})


@given(
    st.dictionaries(
        st.one_of(st.floats(0.0, 1e9), st.just(math.inf)), st.integers(0, 10**9), min_size=1
    )
)
def test_every_person_is_in_one_bar_of_few(levels: dict[float, int]) -> None:
    bins = budget_bins(list(levels.items()))
    assert len(bins) <= 12
    assert sum(people for _, people in bins) == sum(levels.values())
    assert len({name for name, _ in bins}) == len(bins)


def test_zero_and_public_stay_apart_from_the_bars_of_many_budgets() -> None:
    levels = [(0.0, 7), (math.inf, 9), *((0.01 * 1.1**k, 1) for k in range(100))]
    bins = budget_bins(levels)
    assert bins[0] == ("0", 7)
    assert bins[-1] == ("public", 9)
    assert sum(people for _, people in bins[1:-1]) == 100


def test_levels_that_read_alike_do_not_share_a_bar() -> None:
    """Levels with equal labels have separate bars.

    If stacked, they would seem to exceed budgets.
    """
    alike = [Spent(0.50001, 1, 0.5, 0.0), Spent(0.50002, 1, 0.5, 0.0)]
    values = charts.spending_bars(SpendingTable(alike)).to_dict()["data"]["values"]
    assert len({row["level"] for row in values}) == 2


def test_bars_for_many_levels_are_averages() -> None:
    levels = [Spent(0.1 * k, 1, 0.1 * k, 0.0) for k in range(1, 14)]
    few, lots = (charts.spending_bars(SpendingTable(levels[:n])).to_json() for n in (12, 13))
    assert "on average" not in few
    assert "on average" in lots


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_a_page_without_the_extra_the_error_says_how_to_get_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == missing:
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    for name in ("mean", "plan"):
        with pytest.raises(MissingExtraError, match=r"pip install '\.\[report\]'"):
            as_page(shown()[name].sheet(), None)


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, *rest: Any) -> Any:
        if name == "altair":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[report\]'"):
        ep.plan(BUDGETS).plot()


def test_no_page_and_no_message_sends_anyone_to_an_index_that_has_no_epsilons() -> None:
    root = Path(ep.__file__).parents[2]
    files = [*root.glob("src/**/*.py"), *root.glob("docs/**/*.md"), root / "README.md"]
    assert len(files) > 100
    for path in files:
        assert not re.search(r"pip install\W+epsilons", path.read_text("utf-8")), path


def test_a_drawing_has_no_parts_that_are_read_aloud_without_a_name() -> None:
    words = ' role="x" of <b>&amp; more'
    some = (Row(words, 0.5, 0.1, 0.9), Row("1", 0.5, 0.1, 0.9))
    drawn = charts.svg(charts.drawn(Ranges(some, "x"))[0])
    assert "<g " in drawn
    for tag in re.findall(r"<[^>]*>", drawn):
        assert "role=" not in tag
        assert "aria-roledescription" not in tag
    assert drawn.count('role="x"') == 1  # the caller's text is not changed


def _one(value: float, low: float, high: float, bounds: tuple[float, float]) -> Interval:
    words = f"{value:,.0f}", f"{low:,.0f}", f"{high:,.0f}"
    return Interval(Row("", value, low, high), bounds, "minutes", words)


@given(SOME, SOME, SOME, SOME, SOME)
def test_the_axis_holds_the_interval_and_is_not_much_longer(
    value: float, a: float, b: float, c: float, d: float
) -> None:
    one = _one(value, min(a, b), max(a, b), (min(c, d), max(c, d)))
    first, last = charts.window(one)
    assert first < last
    assert first <= min(one.row.low, value) <= max(one.row.high, value) <= last
    wide = max(one.row.high, value) - min(one.row.low, value)
    if wide > 1e-3:
        # The interval takes up at least 40 % of the axis, up to rounding.
        assert last - first <= 2.5 * wide * (1 + 1e-6)


def test_the_axis_stays_within_what_can_be() -> None:
    assert charts.window(_one(1.0, 0.0, 2.0, (0.0, 10.0))) == (0.0, 3.5)
    assert charts.window(_one(9.0, 8.0, 10.0, (0.0, 10.0))) == (6.5, 10.0)
    assert charts.window(_one(756, 726, 786, (0.0, math.inf))) == (681.0, 831.0)


def test_a_number_without_an_interval_has_an_axis_too() -> None:
    assert charts.window(_one(5.0, 5.0, 5.0, (0.0, 10.0))) == (4.5, 5.5)
    assert charts.window(_one(0.0, 0.0, 0.0, (0.0, 0.0))) == (-1.0, 1.0)
    assert charts.window(_one(100.0, 100.0, 100.0, (0.0, math.inf))) == (95.0, 105.0)


@pytest.mark.parametrize(
    ("low", "high", "bounds", "whole"),
    [
        (4.9, 5.1, (0.0, 10.0), (0.0, 10.0)),
        (3.0, 7.0, (0.0, 10.0), None),  # the axis already shows the range
        (4.9, 5.1, (0.0, math.inf), None),  # there is no finite range
        (-90.0, -89.0, (0.0, 10.0), (-90.0, 10.0)),
    ],
)
def test_a_strip_shows_where_a_small_interval_lies(
    low: float, high: float, bounds: tuple[float, float], whole: tuple[float, float] | None
) -> None:
    one = _one((low + high) / 2, low, high, bounds)
    assert charts.whole_range(one) == whole
    near, *far = (each.to_dict() for each in charts.drawn(one))
    assert near["layer"][0]["encoding"]["x"]["scale"]["domain"] == list(charts.window(one))
    domains = [each["layer"][0]["encoding"]["x"]["scale"]["domain"] for each in far]
    assert domains == ([] if whole is None else [list(whole)])


def test_numbers_at_the_end_of_the_axis_stand_inside() -> None:
    drawn = charts.drawn(_one(0.0, 0.0, 10.0, (0.0, 10.0)))[0].to_dict()
    marks = [layer for layer in drawn["layer"] if layer["mark"]["type"] == "text"]
    assert [mark["mark"]["align"] for mark in marks] == ["left", "right", "left"]
    assert [mark["data"]["values"][0]["words"] for mark in marks] == ["0", "10", "0"]
    middle = charts.drawn(_one(5.0, 4.0, 6.0, (2.0, 8.0)))[0].to_dict()["layer"]
    assert [each["mark"].get("align") for each in middle][3:] == ["center"] * 3


def test_ranges_are_drawn_as_dots_or_bars_with_all_that_is_known() -> None:
    rows = (Row("a", 0.5, 0.1, 0.9), Row("a", 0.4, 0.0, 0.8))
    chart = charts.drawn(Ranges(rows, "x", "of"))[0].to_dict()
    line, dots = chart["layer"]
    assert (line["encoding"]["x"]["field"], line["encoding"]["x2"]["field"]) == ("low", "high")
    assert dots["encoding"]["x"]["field"] == "value"
    assert chart["data"]["values"][1] == {"name": "a (2)", "value": 0.4, "low": 0.0, "high": 0.8}
    bars, line = charts.drawn(Ranges(rows, "x", bars=True, shares=True))[0].to_dict()["layer"]
    assert bars["mark"]["type"] == "bar"
    assert bars["encoding"]["x"]["axis"]["format"] == "%"
    joint = charts.drawn(Ranges(rows, "x", joint=((0.0, 1.0), (0.1, 0.9))))[0].to_dict()
    assert len(joint["layer"]) == 3
    assert joint["data"]["values"][1]["last"] == 0.9


def test_values_that_say_nothing_are_left_out_and_their_intervals_are_not() -> None:
    rows = (Row("a", 0.5, 0.1, 0.9), Row("b", 0.4, 0.0, 1.0, informative=False))
    for bars in (False, True):
        chart = charts.drawn(Ranges(rows, "x", bars=bars))[0].to_dict()
        assert [each["value"] for each in chart["data"]["values"]] == [0.5, None]
        assert [each["high"] for each in chart["data"]["values"]] == [0.9, 1.0]
    one = replace(_one(5.0, 4.9, 5.1, (0.0, 10.0)), row=Row("", 5.0, 4.9, 5.1, informative=False))
    near, far = (each.to_dict()["layer"] for each in charts.drawn(one))
    assert [layer["mark"]["type"] for layer in near] == ["rule", "tick", "text", "text"]
    assert [layer["data"]["values"][0]["words"] for layer in near[2:]] == [*one.words[1:]]
    assert far[-1]["data"]["values"] == []


def test_a_bar_is_the_whole_of_a_budget_and_the_public_ones_have_none() -> None:
    stacked = Stacked(("x", "y"), ((0.5, (0.2, 0.3)), (math.inf, (1.0, math.inf))))
    values = charts.drawn(stacked)[0].to_dict()["data"]["values"]
    assert [(row["level"], row["part"], row["epsilon"]) for row in values] == [
        ("0.5", "x", 0.2),
        ("0.5", "y", 0.3),
    ]
    assert charts.columns(stacked) == 2


def test_what_lies_in_one_place_of_a_curve_is_one_mark() -> None:
    marks = ((0.1, 0.2, ("one", "two", "three")), (0.3, 0.4, ("four",)))
    curve = Curve(((0.1, 0.2), (1.0, 0.3)), "x", "y", marks, (0.05,), ratios=True)
    line, dots, limit = charts.drawn(curve)[0].to_dict()["layer"]
    assert line["data"]["values"] == [{"x": 0.1, "y": 0.2}, {"x": 1.0, "y": 0.3}]
    rows = dots["data"]["values"]
    assert [row["rule"] for row in rows] == ["one, and 2 like it", "four"]
    assert rows[0]["method"] == "one, two, three"
    assert limit["mark"]["strokeDash"] == [5, 4]
    plain = charts.drawn(Curve(((1, 0.2), (2, 0.3)), "x", "y"))[0].to_dict()
    assert plain["data"]["values"] == [{"x": 1, "y": 0.2}, {"x": 2, "y": 0.3}]


def test_points_are_on_a_scale_of_ratios() -> None:
    chart = charts.drawn(Points((("a", 0.5), ("b", 0.0)), "error"))[0].to_dict()
    assert chart["data"]["values"] == [{"name": "a", "value": 0.5}]
    assert chart["encoding"]["x"]["scale"]["type"] == "log"


def test_a_picture_is_the_leading_figure_above_who_spends_what() -> None:
    rows = tuple(Row(f"r{k}", 0.1, 0.0, 0.2) for k in range(70))
    lead = Figure(Ranges(rows, "x", things="names"), "", lead=True)
    other = Figure(BudgetBars(((1.0, 2),)), "")
    spent = SpendingTable([Spent(0.5, 1, 0.5, 0.0)])
    drawn = as_chart(Sheet("Some", ((lead, other), (spent,)), simulated=True)).to_dict()
    assert len(drawn["vconcat"]) == 2
    assert drawn["title"] == "NOT PRIVATE (seeded): Some, the first 40 of 70 names"
    assert len(drawn["vconcat"][0]["layer"][0]["encoding"]["y"]["sort"]) == 40
    alone = as_chart(Sheet("Some", ((lead,),), title="T", picture="P", simulated=True)).to_dict()
    assert alone["title"] == [
        "NOT PRIVATE (seeded): T",
        "P, the first 40 of 70 names",
    ]
    aside = SpendingTable([Spent(0.5, 1, 0.5, 0.0)], depth="whole")
    assert "vconcat" not in as_chart(Sheet("Some", ((lead, aside),))).to_dict()


def test_small_figures_are_drawn_one_below_the_other() -> None:
    one = Figure(Ranges((Row("a", 0.1, 0.0, 0.2),), "x"), "", lead=True, name="One")
    nothing = Figure(None, "", lead=True, name="Nothing")
    spent = SpendingTable([Spent(0.5, 1, 0.5, 0.0)])
    drawn = as_chart(Sheet("Some", ((one, nothing, one), (spent,)))).to_dict()
    assert [each["title"] for each in drawn["vconcat"][0]["vconcat"]] == ["One", "One"]
    assert drawn["title"] == "Some"
