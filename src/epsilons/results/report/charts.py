"""Draw charts with Altair, which the extra `report` installs; no network is needed.

Charts on a page are narrow enough for a phone, and are rendered as SVG without a browser.
"""

from __future__ import annotations

import importlib
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from epsilons.errors import MissingExtraError
from epsilons.results.report.numbers import budget, distinct, legible
from epsilons.results.report.phrases import (
    BARS,
    BUDGET,
    budget_bins,
    budget_head,
    merged_rows,
    some_places,
)
from epsilons.results.report.sheet import (
    Bars,
    BudgetBars,
    Curve,
    Drawing,
    Interval,
    Points,
    Ranges,
    SpendingTable,
    Stacked,
)

if TYPE_CHECKING:
    import altair

INK = "#1f4e79"
MARK = "#c0504d"
PALE = "#c9d7e6"
SHADE = "#9fb8d1"

_WIDTH = 340
"""The width of a chart in pixels: actual size on a phone, scaled up elsewhere."""

MOST = 40
"""The maximum number of categories, groups or coordinates on a page or in a picture."""

_ROOM = 0.75
"""Space on each side of an interval, relative to its width: the interval fills 40 % of the axis."""

_MOST_OF_IT = 0.6
"""If the axis covers more than this fraction of the possible range, the strip that shows the whole
range is omitted."""

_EDGE = 0.15
"""Labels closer to an end of the axis than this fraction of its length are shifted inwards."""

_GROUP = re.compile(r"<g [^>]*>")
_ROLE = re.compile(r' (role|aria-roledescription)="[^"]*"')


def altair_module() -> Any:
    """Return the module Altair, imported on first use.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    return _extra("altair", "Plots")


def require() -> None:
    """Check that charts can be drawn, before any work is done.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    altair_module()
    _extra("vl_convert", "Pages")


def svg(chart: altair.Chart | altair.LayerChart, *, columns: int = 1) -> str:
    """Render a single or layered chart as SVG, as wide as a phone, with text of at least 11 px.

    Args:
        chart: an Altair chart; its title is dropped, because pages have headings.
        columns: the number of columns in the legend, which is below the chart.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    alt = altair_module()
    _extra("vl_convert", "Pages")
    legend = {"orient": "bottom", "columns": columns, "labelLimit": 290}
    text = {"labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal"}
    drawn: Any = chart.copy()
    drawn.title = alt.Undefined
    drawn = drawn.properties(width=_WIDTH).configure(
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        aria=False,  # the page has a description of each figure
        background="#ffffff",
        axis=alt.AxisConfig(
            **text,
            labelColor="#1b1f24",
            titleColor="#1b1f24",
            gridColor="#e6eaee",
            labelLimit=120,
        ),
        axisX=alt.AxisConfig(tickCount=5, labelSeparation=8),
        legend=alt.LegendConfig(**text, **legend),
        view=alt.ViewConfig(stroke="#d0d7de"),
    )
    out = io.StringIO()
    drawn.save(out, format="svg")
    # Screen readers would read unnamed parts one by one, but a figure has a single label.
    return _GROUP.sub(lambda found: _ROLE.sub("", found[0]), out.getvalue())


def drawn(drawing: Drawing) -> list[Any]:
    """Convert a drawing to charts: one, or two for a single number with a wide possible range."""
    if isinstance(drawing, Interval):
        far = _far(drawing)
        near = _near(drawing).properties(height=70)
        return [near] if far is None else [near, far.properties(height=16)]
    return [_DRAWN[type(drawing)](drawing)]


def columns(drawing: Drawing) -> int:
    """The number of columns in a drawing's legend on a page."""
    return len(drawing.parts) if isinstance(drawing, Stacked) else 1


def window(drawing: Interval) -> tuple[float, float]:
    """The range of the axis: the interval with some space around it, within possible values."""
    value = drawing.row.value
    low, high = min(drawing.row.low, value), max(drawing.row.high, value)
    lo, hi = min(drawing.bounds[0], low), max(drawing.bounds[1], high)
    room = _ROOM * (high - low)
    if room == 0.0:
        wide = hi - lo
        room = 0.05 * wide if 0.0 < wide < math.inf else max(0.05 * abs(value), 1.0)
    first, last = max(lo, low - room), min(hi, high + room)
    return (first, last) if first < last else (low - room, high + room)


def whole_range(drawing: Interval) -> tuple[float, float] | None:
    """The range of the strip below the axis; None if the axis already shows most of this range."""
    lo, hi = min(drawing.bounds[0], drawing.row.low), max(drawing.bounds[1], drawing.row.high)
    first, last = window(drawing)
    if math.isinf(hi - lo) or last - first > _MOST_OF_IT * (hi - lo):
        return None
    return lo, hi


def _near(one: Interval) -> Any:
    """The close-up chart: the interval with its ends, a dot at the value, and three labels."""
    alt = altair_module()
    value, low, high = one.row.value, one.row.low, one.row.high
    scale = alt.Scale(domain=list(window(one)), nice=False, zero=False)
    x = alt.X("at:Q", scale=scale, title=one.title)
    ends = alt.Chart(alt.Data(values=[{"at": low, "to": high}]))
    rule = ends.mark_rule(color=INK, strokeWidth=3).encode(x=x, x2="to:Q", y=alt.value(45))
    marks = [("low", low), ("high", high)]
    places = alt.Chart(alt.Data(values=[{"end": name, "at": at} for name, at in marks]))
    ticks = places.mark_tick(color=INK, thickness=3, size=14).encode(x=x, y=alt.value(45))
    dot = alt.Chart(alt.Data(values=[{"at": value, "low": low, "high": high}]))
    point = dot.mark_point(color=MARK, filled=True, size=110, opacity=1).encode(
        x=x, y=alt.value(45), tooltip=["at:Q", "low:Q", "high:Q"]
    )
    middle, first, last = one.words
    labels = [
        _written(one, x, low, first, 31, "normal"),
        _written(one, x, high, last, 31, "normal"),
    ]
    if not one.row.informative:  # show the interval without the value
        return alt.layer(rule, ticks, *labels)
    return alt.layer(rule, ticks, point, *labels, _written(one, x, value, middle, 14, "bold"))


def _written(one: Interval, x: Any, at: float, words: str, height: float, weight: str) -> Any:
    """A label above a point of the axis, aligned to stay inside the chart."""
    alt = altair_module()
    first, last = window(one)
    part = (at - first) / (last - first)
    align = "left" if part < _EDGE else "right" if part > 1.0 - _EDGE else "center"
    row = alt.Chart(alt.Data(values=[{"at": at, "words": words}]))
    return row.mark_text(align=align, fontSize=11, fontWeight=weight, color="#1b1f24").encode(
        x=x, y=alt.value(height), text="words:N"
    )


def _far(one: Interval) -> Any:
    """A strip that shows the interval within its possible range; None if the axis shows enough."""
    whole = whole_range(one)
    if whole is None:
        return None
    alt = altair_module()
    lo, hi = whole
    x = alt.X("at:Q", scale=alt.Scale(domain=[lo, hi], nice=False), title="the whole range")
    all_ = alt.Chart(alt.Data(values=[{"at": lo, "to": hi}]))
    own = alt.Chart(alt.Data(values=[{"at": one.row.low, "to": one.row.high}]))
    # A tick marks the position of an interval that is too narrow to be visible.
    places = [{"at": one.row.value}] if one.row.informative else []
    middle = alt.Chart(alt.Data(values=places))
    return alt.layer(
        all_.mark_rule(color=PALE, strokeWidth=9).encode(x=x, x2="to:Q", y=alt.value(8)),
        own.mark_rule(color=INK, strokeWidth=9).encode(x=x, x2="to:Q", y=alt.value(8)),
        middle.mark_tick(color=MARK, thickness=2, size=14).encode(x=x, y=alt.value(8)),
    )


def _ranges(drawing: Ranges) -> Any:
    """Dots or bars with intervals, stacked vertically, with their names on the left."""
    alt = altair_module()
    some = drawing.rows[:MOST]
    own = distinct([legible(row.name) for row in some])
    values = [
        # A value of None leaves a gap.
        {
            "name": name,
            "value": row.value if row.informative else None,
            "low": row.low,
            "high": row.high,
        }
        for name, row in zip(own, some, strict=True)
    ]
    for each, (first, last) in zip(values, drawing.joint, strict=False):
        each |= {"first": first, "last": last}
    for each, group in zip(values, drawing.groups, strict=False):
        each["group"] = legible(group)
    base = alt.Chart(alt.Data(values=values))
    y = alt.Y("name:N", sort=own, title=drawing.of)
    tips = ["name:N", "value:Q", "low:Q", "high:Q"]
    start = "value" if drawing.bars else "first" if drawing.joint else "low"
    x = alt.X(f"{start}:Q", title=drawing.title).scale(zero=drawing.shares)
    x = x.axis(format="%") if drawing.shares else x
    if drawing.bars:
        below = [base.mark_bar(color=PALE).encode(y=y, x=x, tooltip=tips)]
        if drawing.groups:
            names = list(dict.fromkeys(each["group"] for each in values))
            shades = alt.Scale(
                domain=names, range=[(PALE, SHADE)[at % 2] for at in range(len(names))]
            )
            below = [below[0].encode(color=alt.Color("group:N", scale=shades, legend=None))]
    elif drawing.joint:
        below = [base.mark_rule(color=PALE, strokeWidth=6).encode(y=y, x=x, x2="last:Q")]
    else:
        below = []
    low = "low:Q" if below else x
    whiskers = base.mark_rule(color=INK, strokeWidth=2 if below else 3)
    layers = [*below, whiskers.encode(y=y, x=low, x2="high:Q")]
    if not drawing.bars:
        dots = base.mark_point(color=MARK, filled=True, size=80, opacity=1)
        layers.append(dots.encode(y=y, x="value:Q", tooltip=tips))
    chart = alt.layer(*layers)
    return chart if drawing.bars else chart.properties(height=alt.Step(24))


def _bars(drawing: Bars) -> Any:
    alt = altair_module()
    rows = [{"name": name, "share": share} for name, share in drawing.rows]
    y = alt.Y("name:N", sort=[name for name, _ in drawing.rows], title=None)
    x = alt.X("share:Q", title=drawing.title).axis(format="%")
    return alt.Chart(alt.Data(values=rows)).mark_bar(color=INK).encode(y=y, x=x)


def _points(drawing: Points) -> Any:
    alt = altair_module()
    rows = [{"name": name, "value": value} for name, value in drawing.rows if value > 0.0]
    scale = alt.Scale(type="log", nice=False, padding=10)
    base = alt.Chart(alt.Data(values=rows))
    return base.mark_point(filled=True, size=80, opacity=1, color=INK).encode(
        y=alt.Y("name:N", sort=[name for name, _ in drawing.rows], title=None),
        x=alt.X("value:Q", scale=scale, title=drawing.title),
    )


def _stacked(drawing: Stacked) -> Any:
    """Stacked bars of equal length that show how budgets are divided, for some of the budgets."""
    alt = altair_module()
    chosen = [drawing.levels[k] for k in some_places(len(drawing.levels), BARS)]
    rows = [
        {"level": budget(level, 3), "part": part, "order": order, "epsilon": amount}
        for level, amounts in chosen
        if math.isfinite(level)
        for order, (part, amount) in enumerate(zip(drawing.parts, amounts, strict=True))
    ]
    names = list(dict.fromkeys(row["level"] for row in rows))
    colours = alt.Scale(domain=list(drawing.parts), range=["#bf5b17", INK, PALE])
    base = alt.Chart(alt.Data(values=rows))
    return base.mark_bar().encode(
        y=alt.Y("level:N", sort=names, title=BUDGET),
        x=alt.X("epsilon:Q", stack="normalize", title="part of each budget"),
        color=alt.Color("part:N", title=None, scale=colours),
        order=alt.Order("order:Q"),
    )


def _curve(drawing: Curve) -> Any:
    """A line chart with marks, and dashed lines at lower bounds."""
    alt = altair_module()
    points = alt.Chart(alt.Data(values=[{"x": x, "y": y} for x, y in drawing.points]))
    if not drawing.ratios:
        marked = alt.OverlayMarkDef(color=INK, size=60)
        x = alt.X("x:Q", title=drawing.x).axis(tickMinStep=1)
        y = alt.Y("y:Q", title=drawing.y).scale(domainMin=0)
        line = points.mark_line(color=INK, point=marked).encode(x=x, y=y)
        return line.properties(height=200)
    # nice=False: extending the axes to powers of ten would leave the chart mostly empty.
    scale = alt.Scale(type="log", nice=False, padding=10)
    x, y = (
        alt.X("x:Q", scale=scale, title=drawing.x),
        alt.Y("y:Q", scale=scale, title=drawing.y),
    )
    marks = [
        {"x": at, "y": height, "method": ", ".join(names), "rule": _few(names)}
        for at, height, names in drawing.marks
    ]
    legend = alt.Legend(title=None, labelLimit=290)
    dots = alt.Chart(alt.Data(values=marks)).mark_point(filled=True, size=80, opacity=1)
    dashed = [
        alt.Chart(alt.Data(values=[{"y": limit}]))
        .mark_rule(strokeDash=[5, 4], color="#57606a")
        .encode(y=y)
        for limit in drawing.limits
    ]
    return alt.layer(
        points.mark_line(color=INK).encode(x=x, y=y),
        dots.encode(
            x=x,
            y=y,
            color=alt.Color("rule:N", legend=legend),
            shape=alt.Shape("rule:N", legend=legend),
            tooltip=["method:N", "x:Q", "y:Q"],
        ),
        *dashed,
    ).properties(height=260)


def _few(names: Sequence[str]) -> str:
    """Shorten a list of names to fit the legend of a narrow chart."""
    first, *others = names
    return f"{first}, and {len(others)} like it" if others else first


def _histogram(drawing: BudgetBars) -> Any:
    """A histogram of budgets: a bar for each bin, labelled with its number of people."""
    alt = altair_module()
    bins = budget_bins(drawing.levels)
    rows = [{"budget": name, "people": people, "shown": f"{people:,}"} for name, people in bins]
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("budget:N", sort=[name for name, _ in bins], title=BUDGET)
    # Space to the right of the longest bar, for its label.
    most = max([1, *(people for _, people in bins)])
    scale = alt.Scale(domain=[0, 1.2 * most], nice=False)
    x = alt.X("people:Q", title="people", scale=scale).axis(
        format=",.0f", tickCount=4, tickMinStep=1
    )
    bars = base.mark_bar(color=INK).encode(y=y, x=x)
    numbers = base.mark_text(align="left", dx=4, fontSize=11, color="#1b1f24").encode(
        y=y, x=x, text="shown:N"
    )
    return alt.layer(bars, numbers)


def spending_bars(part: SpendingTable) -> Any:
    """Bars of the amounts that a person at each level spends and keeps."""
    alt = altair_module()
    finite = [row for row in merged_rows(part.levels, BARS) if math.isfinite(row.spent)]
    names = distinct([row.epsilon for row in finite])
    bars = [
        {"level": name, "part": what, "epsilon": epsilon}
        for name, row in zip(names, finite, strict=True)
        for what, epsilon in (("spent", row.spent), ("kept", row.kept))
        if math.isfinite(epsilon)
    ]
    average = ", on average" if len(part.levels) > BARS else ""
    colours = alt.Scale(domain=["spent", "kept"], range=[INK, PALE])
    base = alt.Chart(alt.Data(values=bars))
    return base.mark_bar().encode(
        y=alt.Y("level:N", sort=names, title=budget_head(part)),
        x=alt.X("epsilon:Q", title=f"ε of {part.whose}{average}: spent and kept"),
        color=alt.Color("part:N", title=None, scale=colours),
    )


def spending(part: SpendingTable) -> Any:
    """A chart of the budget and the spending of a person at each level, on a log scale.

    Budgets range from hundredths to hundreds. On a linear scale only the largest would be visible.

    Returns:
        A chart; None if nobody spends a positive, finite amount.
    """
    if not any(0.0 < row.spent < math.inf for row in part.levels):
        return None
    alt = altair_module()
    all_of_it = "is offered" if part.offered else "has"
    merged = merged_rows(part.levels, BARS)
    names = distinct([row.epsilon for row in merged])
    levels = [
        (name, row.spent, row.spent + row.kept) for name, row in zip(names, merged, strict=True)
    ]
    marks = [
        {"level": name, "what": what, "epsilon": at}
        for name, spends, has in levels
        for what, at in (("spends", spends), (all_of_it, has))
        if 0.0 < at < math.inf
    ]
    ends = [
        {"level": name, "epsilon": spends, "all": has}
        for name, spends, has in levels
        if spends > 0.0 and has < math.inf
    ]
    y = alt.Y("level:N", sort=names, title=budget_head(part))
    scale = alt.Scale(type="log", nice=False, padding=10)
    x = alt.X("epsilon:Q", scale=scale, title=f"ε of {part.whose} (log scale)")
    rules = alt.Chart(alt.Data(values=ends)).mark_rule(color=PALE, strokeWidth=7)
    points = alt.Chart(alt.Data(values=marks)).mark_point(filled=True, size=75, opacity=1)
    colours = alt.Scale(domain=["spends", all_of_it], range=[INK, PALE])
    return alt.layer(
        rules.encode(y=y, x=x, x2="all:Q"),
        points.encode(
            y=y,
            x=x,
            color=alt.Color("what:N", title=None, scale=colours),
            # If the whole budget is spent, both marks coincide: draw "spends" on top.
            order=alt.Order("what:N", sort="ascending"),
        ),
    ).properties(height=alt.Step(20))


_DRAWN: Final[Mapping[type[Any], Callable[[Any], Any]]] = MappingProxyType(
    {
        Ranges: _ranges,
        Bars: _bars,
        BudgetBars: _histogram,
        Stacked: _stacked,
        Points: _points,
        Curve: _curve,
    }
)
"""The function that draws each class of drawing, except `Interval`."""


def _extra(name: str, things: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(
            f"{things} need the extra `report`: run pip install '.[report]' in the folder of "
            "epsilons."
        ) from None
