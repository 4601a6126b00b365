"""Plots for a page: narrow enough to be read on a phone, drawn as SVG without a browser."""

from __future__ import annotations

import importlib
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from epsilons.errors import MissingExtraError
from epsilons.report.page import legible
from epsilons.report.plots import altair_module, plan_plot, release_plot
from epsilons.report.text import budget, distinct, merged_rows

if TYPE_CHECKING:
    import altair

_WIDTH = 340
"""Of a drawing, as on a phone: there it is shown in its own size, elsewhere larger."""

_INK = "#1f4e79"
_MARK = "#c0504d"
_KEPT = "#c9d7e6"

BARS = 12
"""Bars of the histogram of budgets."""

MOST = 40
"""Categories or coordinates that are shown."""


def svg(chart: altair.Chart | altair.LayerChart, *, columns: int = 1) -> str:
    """A single or layered chart as SVG, as wide as a phone, with text of at least 11 px.

    Args:
        chart: an Altair chart; its own title is dropped, since a page has headings.
        columns: of its legend, which stands below.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    alt = altair_module()
    _converter()
    legend = {"orient": "bottom", "columns": columns, "labelLimit": 290}
    text = {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    drawn: Any = chart.copy()
    drawn.title = alt.Undefined
    drawn = drawn.properties(width=_WIDTH).configure(
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        aria=False,  # the page says what a figure shows, in words
        background="#ffffff",
        axis=alt.AxisConfig(
            **text,
            labelColor="#1b1f24",
            titleColor="#1b1f24",
            gridColor="#e6eaee",
            labelLimit=120,
        ),
        axisX=alt.AxisConfig(tickCount=5),
        legend=alt.LegendConfig(**text, **legend),
        view=alt.ViewConfig(stroke="#d0d7de"),
    )
    out = io.StringIO()
    drawn.save(out, format="svg")
    return out.getvalue()


def estimate(data: dict[str, Any]) -> str:
    """A mean with its interval on the range of the data, or wider if the interval is."""
    low, high = data["interval"]
    lo, hi = data["bounds"]
    return svg(release_plot({**data, "bounds": [min(lo, low), max(hi, high)]}).vconcat[0])


def spending(rows: Sequence[dict[str, Any]]) -> str:
    """What a person of each budget spends, and how much that leaves, on a scale of ratios.

    Budgets lie between hundredths and hundreds: bars from zero would show the largest alone.
    """
    alt = altair_module()
    merged = merged_rows(rows, BARS)
    names = distinct([row["epsilon"] for row in merged])
    merged = [row | {"epsilon": name} for row, name in zip(merged, names, strict=True)]
    marks = [
        {"level": row["epsilon"], "what": what, "epsilon": at}
        for row in merged
        for what, at in (("spends", row["spent"]), ("has", row["spent"] + row["kept"]))
        if 0.0 < at < math.inf
    ]
    ends = [
        {"level": row["epsilon"], "epsilon": row["spent"], "all": row["spent"] + row["kept"]}
        for row in merged
        if row["spent"] > 0.0 and row["spent"] + row["kept"] < math.inf
    ]
    y = alt.Y("level:N", sort=names, title="budget ε")
    scale = alt.Scale(type="log", nice=False, padding=10)
    x = alt.X("epsilon:Q", scale=scale, title="ε of each person, on a scale of ratios")
    rules = alt.Chart(alt.Data(values=ends)).mark_rule(color=_KEPT, strokeWidth=7)
    points = alt.Chart(alt.Data(values=marks)).mark_point(filled=True, size=75, opacity=1)
    whats, colours = ["spends", "has"], [_INK, _KEPT]
    return svg(
        alt.layer(
            rules.encode(y=y, x=x, x2="all:Q"),
            points.encode(
                y=y,
                x=x,
                color=alt.Color("what:N", title=None, scale=alt.Scale(domain=whats, range=colours)),
                # Whoever spends all has both marks in one place: the first lies on the second.
                order=alt.Order("what:N", sort="ascending"),
            ),
        ).properties(height=alt.Step(20)),
        columns=2,
    )


def shares(data: dict[str, Any], names: Sequence[str]) -> str:
    """A bar for each category with its interval; names stand beside, so that they can be read."""
    alt = altair_module()
    base, y = _rows(alt, data, names)
    x = alt.X("value:Q", title=f"share of people, {_percent(data)} interval").axis(format="%")
    bars = base.mark_bar(color=_KEPT).encode(y=y, x=x)
    whiskers = base.mark_rule(color=_INK, strokeWidth=2).encode(y=y, x="low:Q", x2="high:Q")
    return svg(alt.layer(bars, whiskers))


def coordinates(data: dict[str, Any], names: Sequence[str]) -> str:
    """A point for each coordinate of a vector, with its interval."""
    alt = altair_module()
    base, y = _rows(alt, data, names)
    x = alt.X("low:Q", title=f"mean, {_percent(data)} interval")
    whiskers = base.mark_rule(color=_INK, strokeWidth=2).encode(y=y, x=x, x2="high:Q")
    points = base.mark_point(color=_MARK, filled=True).encode(y=y, x="value:Q")
    return svg(alt.layer(whiskers, points))


def curve(data: dict[str, Any], limit: float | None) -> str:
    """Risk over the cap, with the rules marked on it, and a dashed line at the limit, if any."""
    alt = altair_module()
    spec = plan_plot(data).to_dict()
    for layer in spec["layer"]:
        for axis in ("x", "y"):
            # To the next power of ten would be mostly empty.
            layer["encoding"][axis]["scale"] |= {"nice": False, "padding": 10}
    for mark in spec["layer"][1]["data"]["values"]:
        first, *others = mark["method"].split(", ")
        mark["method"] = f"{first}, and {len(others)} like it" if others else first
    spec["layer"][1]["encoding"]["color"]["legend"] = {"title": None}
    spec["layer"][1]["encoding"]["shape"]["legend"] = {"title": None}
    if limit is not None:
        spec["layer"].append(
            {
                "data": {"values": [{"error": limit}]},
                "mark": {"type": "rule", "strokeDash": [5, 4], "color": "#57606a"},
                "encoding": {"y": spec["layer"][0]["encoding"]["y"]},
            }
        )
    return svg(alt.LayerChart.from_dict(spec, validate=False).properties(height=260))


def histogram(levels: Sequence[tuple[float, int]]) -> str:
    """How many people have which budget."""
    alt = altair_module()
    bins = budget_bins(levels)
    rows = [{"budget": name, "people": people, "shown": f"{people:,}"} for name, people in bins]
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("budget:N", sort=[name for name, _ in bins], title="budget ε")
    # Room to the right of the longest bar, for its number.
    most = max([1, *(people for _, people in bins)])
    scale = alt.Scale(domain=[0, 1.2 * most], nice=False)
    x = alt.X("people:Q", title="people", scale=scale).axis(
        format=",.0f", tickCount=4, tickMinStep=1
    )
    bars = base.mark_bar(color=_INK).encode(y=y, x=x)
    numbers = base.mark_text(align="left", dx=4, fontSize=11, color="#1b1f24").encode(
        y=y, x=x, text="shown:N"
    )
    return svg(alt.layer(bars, numbers))


def budget_bins(levels: Sequence[tuple[float, int]]) -> list[tuple[str, int]]:
    """Few bars for many budgets, strictest first: equal steps of log ε; 0 and ∞ stay apart.

    Args:
        levels: pairs of a budget and how many people have it, in any order.

    Returns:
        Pairs of a name and a number of people; every person is in one of them.
    """
    ordered = sorted(levels)
    groups = [[each] for each in ordered]
    inner = [each for each in ordered if 0.0 < each[0] < math.inf]
    low, high = (math.log(inner[0][0]), math.log(inner[-1][0])) if inner else (0.0, 0.0)
    if len(ordered) > BARS and low < high:
        count = BARS - 2
        bins: list[list[tuple[float, int]]] = [[] for _ in range(count)]
        for each in inner:
            place = count * (math.log(each[0]) - low) / (high - low)
            bins[min(int(place), count - 1)].append(each)
        zero = [each for each in ordered if each[0] == 0.0]
        public = [each for each in ordered if math.isinf(each[0])]
        groups = [group for group in [zero, *bins, public] if group]
    ends = [(budget(group[0][0], 3), budget(group[-1][0], 3)) for group in groups]
    names = [first if first == last else f"{first} to {last}" for first, last in ends]
    people = [sum(each[1] for each in group) for group in groups]
    return list(zip(distinct(names), people, strict=True))


def _rows(alt: Any, data: dict[str, Any], names: Sequence[str]) -> tuple[Any, Any]:
    """The values with their intervals, one below the other, each with a name of its own."""
    own = distinct([legible(name) for name in names[:MOST]])
    columns = zip(own, data["value"], *data["interval"], strict=False)
    rows = [
        {"name": name, "value": value, "low": low, "high": high}
        for name, value, low, high in columns
    ]
    y = alt.Y("name:N", sort=own, title=None)
    return alt.Chart(alt.Data(values=rows)), y


def _percent(data: dict[str, Any]) -> str:
    return f"{100 * data['confidence']:g} %"


def _converter() -> Any:
    try:
        return importlib.import_module("vl_convert")
    except ImportError:
        raise MissingExtraError(
            "Pages need the extra `report`: run pip install '.[report]' in the folder of epsilons."
        ) from None
