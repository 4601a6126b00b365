"""Drawings, by Altair: they need the extra `report`, and no network.

For a page they are narrow enough to be read on a phone, and drawn as SVG without a browser.
"""

from __future__ import annotations

import importlib
import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from epsilons.errors import MissingExtraError
from epsilons.report.data import (
    CellsData,
    GroupsData,
    QuantilesData,
    ReleaseData,
    ReleasesData,
    SpentRow,
    VectorData,
)
from epsilons.report.numbers import budget, distinct
from epsilons.report.parts import legible
from epsilons.report.plan_data import GroupsPlanData, PlansData
from epsilons.report.spending import OFFERED, budget_head, merged_rows

if TYPE_CHECKING:
    import altair

INK = "#1f4e79"
MARK = "#c0504d"
PALE = "#c9d7e6"

_WIDTH = 340
"""Of a drawing, as on a phone: there it is shown in its own size, elsewhere larger."""

BARS = 12
"""Levels that are drawn, of budgets too; of more, neighbouring ones share a bar."""

MOST = 40
"""Categories, groups or coordinates that a page or a picture shows."""

_GROUP = re.compile(r"<g [^>]*>")
_ROLE = re.compile(r' (role|aria-roledescription)="[^"]*"')


def altair_module() -> Any:
    """Altair, which only those who plot need.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    return _extra("altair", "Plots")


def require() -> None:
    """Refuse to begin what will end in a page that cannot be drawn.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    altair_module()
    _extra("vl_convert", "Pages")


def svg(chart: altair.Chart | altair.LayerChart, *, columns: int = 1) -> str:
    """A single or layered chart as SVG, as wide as a phone, with text of at least 11 px.

    Args:
        chart: an Altair chart; its own title is dropped, since a page has headings.
        columns: of its legend, which stands below.

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
        aria=False,  # the page says what a figure shows, in words
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
    # Parts without a name would be read aloud one by one: a figure is one picture with one label.
    return _GROUP.sub(lambda found: _ROLE.sub("", found[0]), out.getvalue())


def above_spending(
    shown: Any,
    data: ReleaseData | ReleasesData | PlansData | GroupsPlanData,
    title: str | list[str],
) -> altair.VConcatChart:
    """A chart, if there is one, and below it bars of what people of each level spent and kept."""
    alt = altair_module()
    spent = data["spent"]
    finite = [row for row in merged_rows(spent, BARS) if math.isfinite(row["spent"])]
    names = distinct([row["epsilon"] for row in finite])
    bars = [
        {"level": name, "part": part, "epsilon": epsilon}
        for name, row in zip(names, finite, strict=True)
        for part, epsilon in (("spent", row["spent"]), ("kept", row["kept"]))
        if math.isfinite(epsilon)
    ]
    average = ", on average" if len(spent) > BARS else ""
    below = (
        alt.Chart(alt.Data(values=bars))
        .mark_bar()
        .encode(
            y=alt.Y("level:N", sort=names, title=budget_head(data)),
            x=alt.X("epsilon:Q", title=f"ε of each person{average}: spent and kept"),
            color=alt.Color(
                "part:N",
                title=None,
                scale=alt.Scale(domain=["spent", "kept"], range=[INK, PALE]),
            ),
        )
        .properties(width=480)
    )
    return alt.vconcat(*([] if shown is None else [shown]), below).properties(title=title)


def spending_svg(rows: Sequence[SpentRow], head: str) -> str:
    """What a person of each budget spends, and how much that leaves, on a scale of ratios.

    Budgets lie between hundredths and hundreds: bars from zero would show the largest alone.

    Args:
        rows: one for each level.
        head: what the budgets are called.
    """
    alt = altair_module()
    all_of_it = "is offered" if head == OFFERED else "has"
    merged = merged_rows(rows, BARS)
    names = distinct([row["epsilon"] for row in merged])
    levels = [
        (name, row["spent"], row["spent"] + row["kept"])
        for name, row in zip(names, merged, strict=True)
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
    y = alt.Y("level:N", sort=names, title=head)
    scale = alt.Scale(type="log", nice=False, padding=10)
    x = alt.X("epsilon:Q", scale=scale, title="ε of each person (log scale)")
    rules = alt.Chart(alt.Data(values=ends)).mark_rule(color=PALE, strokeWidth=7)
    points = alt.Chart(alt.Data(values=marks)).mark_point(filled=True, size=75, opacity=1)
    whats, colours = ["spends", all_of_it], [INK, PALE]
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


def named_rows(
    data: CellsData | GroupsData | VectorData | QuantilesData,
    names: Sequence[str],
    title: str | None,
) -> tuple[Any, Any]:
    """The values with their intervals, one below the other, each with a name of its own.

    Args:
        data: the values, and their intervals.
        names: of the values; they stand beside, so that they can be read.
        title: what the names are of, or None.

    Returns:
        A chart without marks, with the fields "value", "low" and "high"; and its axis of names.
    """
    alt = altair_module()
    own = distinct([legible(name) for name in names[:MOST]])
    columns = zip(own, data["value"], *data["interval"], strict=False)
    rows = [
        {"name": name, "value": value, "low": low, "high": high}
        for name, value, low, high in columns
    ]
    return alt.Chart(alt.Data(values=rows)), alt.Y("name:N", sort=own, title=title)


def dots_and_whiskers(base: Any, y: Any, x: Any) -> altair.LayerChart:
    """A dot with its interval for each of `named_rows`.

    Args:
        base: the chart without marks.
        y: its axis of names.
        x: the axis of numbers, encoding "low".
    """
    alt = altair_module()
    shown = ["name:N", "value:Q", "low:Q", "high:Q"]
    whiskers = base.mark_rule(color=INK, strokeWidth=3).encode(y=y, x=x, x2="high:Q")
    dots = base.mark_point(color=MARK, filled=True, size=80, opacity=1).encode(
        y=y, x="value:Q", tooltip=shown
    )
    drawn: altair.LayerChart = alt.layer(whiskers, dots).properties(height=alt.Step(24))
    return drawn


def cut_title(count: int, things: str) -> str:
    """What the title of a picture says where there are more things than it shows."""
    return f", the first {MOST} of {count:,} {things}" if count > MOST else ""


def histogram_svg(bins: Sequence[tuple[str, int]]) -> str:
    """How many people have which budget: a bar for each pair of a name and a number of people."""
    alt = altair_module()
    rows = [{"budget": name, "people": people, "shown": f"{people:,}"} for name, people in bins]
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("budget:N", sort=[name for name, _ in bins], title="budget ε")
    # Room to the right of the longest bar, for its number.
    most = max([1, *(people for _, people in bins)])
    scale = alt.Scale(domain=[0, 1.2 * most], nice=False)
    x = alt.X("people:Q", title="people", scale=scale).axis(
        format=",.0f", tickCount=4, tickMinStep=1
    )
    bars = base.mark_bar(color=INK).encode(y=y, x=x)
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


def _extra(name: str, things: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(
            f"{things} need the extra `report`: run pip install '.[report]' in the folder of "
            "epsilons."
        ) from None
