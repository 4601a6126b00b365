"""A plan of means by group: how wide the intervals of groups of several sizes will be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.numbers import number, percent
from epsilons.report.parts import (
    FactList,
    Figure,
    PageTable,
    Part,
    Section,
    Words,
    unbroken_percent,
    whole,
)
from epsilons.report.phrases import FORECAST, written_words
from epsilons.report.plan_data import GroupsPlanData
from epsilons.report.screen import table, warning_lines, wrapped
from epsilons.report.sections import spending_parts, warning_parts
from epsilons.report.spending import spending_table

if TYPE_CHECKING:
    import altair

_MOST = 0.4
"""An interval that extends to either side by this part of the range says almost nothing."""

_SPENT = "In a group of an even share of the people, a person with each budget would spend:"


def text(data: GroupsPlanData) -> str:
    """The plan for the screen."""
    return "\n".join(
        [
            headline(data),
            "",
            table(_heads(percent(data["confidence"])), _rows(data)),
            "",
            f"  {_explained(data)}",
            f"  {data['assumption']}",
            *warning_lines(data["warnings"]),
            *map(wrapped, _helps(data)),
            "",
            table(*spending_table(data["spent"])),
            "",
            wrapped("Protected: " + data["protects"]),
        ]
    )


def html(data: GroupsPlanData) -> str:
    """The plan for a notebook."""
    return notebook.block(
        headline(data),
        notebook.html_table(_heads(percent(data["confidence"])), _rows(data)),
        notebook.paragraphs(_explained(data), *data["warnings"], *_helps(data)),
        notebook.html_table(*spending_table(data["spent"])),
        notebook.paragraphs(data["assumption"], data["protects"]),
    )


def plot(data: GroupsPlanData) -> altair.VConcatChart:
    """How far intervals extend by the size of a group, and below it who would spend what."""
    return charts.above_spending(
        _drawn(data).properties(width=480, height=200), data, headline(data)
    )


def page(data: GroupsPlanData) -> str:
    """The plan as a page that stands alone."""
    confidence = unbroken_percent(data["confidence"])
    rows = _rows(data)
    lo, hi = data["bounds"]
    label = "Half of an interval by the size of a group: " + "; ".join(
        f"{row[1]} people: {row[2]}" for row in rows
    )
    cost: list[Part] = [Words(_SPENT)] if _apart(data) else []
    return whole(
        headline(data),
        [
            *warning_parts(data["warnings"]),
            *[Words(each, "advice") for each in _helps(data)],
            FactList(
                [
                    ("People", f"{data['n']:,} people"),
                    ("Values", f"from {number(lo)} to {number(hi)}"),
                    ("Groups", f"{data['groups']:,}; group membership is {data['groups_are']}"),
                ]
            ),
            PageTable(_heads(confidence), rows, "How wide intervals will be."),
            Words(_explained(data)),
            Figure(charts.svg(_drawn(data)), label, "The smaller a group, the wider its interval."),
            Section("Who would spend what", [*cost, *spending_parts(data["spent"])]),
            Section("What is protected", [Words(data["protects"])]),
            Section("What is assumed", [Words(data["assumption"])]),
        ],
        byline=written_words(FORECAST),
        data=data,
    )


def headline(data: GroupsPlanData) -> str:
    """Of how many groups, and whether it is a secret who is in which."""
    return f"Means of {data['groups']:,} groups; group membership is {data['groups_are']}"


def _heads(confidence: str) -> tuple[str, ...]:
    return "share of the people", "people", f"half of a {confidence} interval"


def _rows(data: GroupsPlanData) -> list[tuple[str, ...]]:
    return [
        (f"{100 * each['share']:.3g} %", f"{each['people']:,}", number(each["half_width"], 3))
        for each in data["forecasts"]
    ]


def _apart(data: GroupsPlanData) -> bool:
    """Whether each group is a release of its own, so that it depends on it what people spend."""
    return data["groups_are"] == "public" and data["groups"] > 1


def _explained(data: GroupsPlanData) -> str:
    lo, hi = data["bounds"]
    words = f"The first row is an even share. Values from {number(lo)} to {number(hi)}."
    return f"{words} The last table is for one group of that size." if _apart(data) else words


def _helps(data: GroupsPlanData) -> list[str]:
    """What would help where intervals will tell next to nothing."""
    lo, hi = data["bounds"]
    if data["forecasts"][0]["half_width"] < _MOST * (hi - lo):
        return []
    return [
        "Intervals will say almost nothing: fewer groups, larger budgets, or another answer to "
        "related would help."
    ]


def _drawn(data: GroupsPlanData) -> altair.Chart:
    """How far intervals extend to either side, by the size of a group."""
    alt = charts.altair_module()
    rows = [{"people": each["people"], "half": each["half_width"]} for each in data["forecasts"]]
    confidence = percent(data["confidence"])
    chart: altair.Chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(color=charts.INK, point=alt.OverlayMarkDef(color=charts.INK, size=60))
        .encode(
            x=alt.X("people:Q", title="people in the group").axis(tickMinStep=1),
            y=alt.Y("half:Q", title=f"half of a {confidence} interval").scale(domainMin=0),
        )
    )
    return chart
