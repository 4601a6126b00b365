"""A plan of a mean on a range that has to be found: which range, what it costs, what is left."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.numbers import budget, kept_words, number, percent
from epsilons.report.parts import FactList, Figure, PageTable, Section, Words, whole
from epsilons.report.phrases import FORECAST, written_words
from epsilons.report.plan_data import RangeForecastData, RangePlanData
from epsilons.report.screen import table, warning_lines, wrapped
from epsilons.report.sections import warning_parts
from epsilons.report.spending import some_places

if TYPE_CHECKING:
    import altair

_ROWS = 8
"""Levels that are shown; of more, these are chosen."""

_VALUES = ("spread out", "close together, far from 0")


def text(data: RangePlanData) -> str:
    """The plan for the screen."""
    return "\n".join(
        [
            headline(data),
            wrapped("  " + data["assumption"]),
            "",
            wrapped(_range(data)),
            "",
            table(*_errors(data)),
            "",
            wrapped(_errors_are(data)),
            *warning_lines(data["warnings"]),
            wrapped("Advice: " + data["advice"]),
            wrapped(data["hint"]),
            "",
            table(*_spending(data["forecasts"][0])),
            wrapped(_spenders(data)),
        ]
    )


def html(data: RangePlanData) -> str:
    """The plan for a notebook."""
    return notebook.block(
        headline(data),
        notebook.paragraphs(_range(data)),
        notebook.html_table(*_errors(data)),
        notebook.paragraphs(_errors_are(data), *data["warnings"], data["advice"], data["hint"]),
        notebook.html_table(*_spending(data["forecasts"][0])),
    )


def plot(data: RangePlanData) -> altair.Chart:
    """What people of each budget would spend on the range and on the mean, and keep."""
    alt = charts.altair_module()
    parts = ("on the range", "on the mean", "kept")
    spent = data["forecasts"][0]["spent"]
    chosen = [spent[k] for k in some_places(len(spent), charts.BARS)]
    rows = [
        {"level": budget(row["epsilon"], 3), "part": part, "order": order, "epsilon": amount}
        for row in chosen
        if math.isfinite(row["epsilon"])
        for order, (part, amount) in enumerate(
            zip(parts, (row["on_range"], row["on_mean"], row["kept"]), strict=True)
        )
    ]
    names = list(dict.fromkeys(row["level"] for row in rows))
    colours = alt.Scale(domain=list(parts), range=["#bf5b17", charts.INK, charts.PALE])
    chart: altair.Chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            y=alt.Y("level:N", sort=names, title="budget ε"),
            x=alt.X("epsilon:Q", stack="normalize", title="part of each budget"),
            color=alt.Color("part:N", title=None, scale=colours),
            order=alt.Order("order:Q"),
        )
        .properties(width=480, title=headline(data))
    )
    return chart


def page(data: RangePlanData) -> str:
    """The plan as a page that stands alone."""
    spent = _spending(data["forecasts"][0])
    label = "; ".join(
        f"ε {row[0]}: {row[2]} on the range, {row[3]} on the mean, {row[4]} kept"
        for row in spent[1]
    )
    return whole(
        headline(data),
        [
            *warning_parts(data["warnings"]),
            Words(data["advice"], "advice"),
            Words(data["hint"]),
            FactList([("People", f"{data['n']:,} people"), ("The range", _range(data))]),
            Section(
                "What the error would be",
                [
                    PageTable(*_errors(data), "It depends on how close together the values are."),
                    Words(_errors_are(data)),
                ],
            ),
            Section(
                "Who would spend what",
                [
                    PageTable(*spent, "On the range, and on the mean."),
                    Figure(charts.svg(plot(data), columns=3), label, _spenders(data)),
                ],
            ),
            Section("What is protected", [Words(data["protects"])]),
            Section("What is assumed", [Words(data["assumption"])]),
        ],
        byline=written_words(FORECAST),
        data=data,
    )


def headline(data: RangePlanData) -> str:
    """What the plan is for, in a line."""
    return f"Plan for the mean of {data['n']:,} people, on a range that has to be found"


def _range(data: RangePlanData) -> str:
    """Which range is sought."""
    if data["width"] is not None:
        wrong = number(100.0 * (data["failure"] or 0.0), 2)
        return (
            "The range: roughly around the median, at most "
            f"{number(data['width'], 3)} standard deviations wide. It would be wrong with a "
            f"probability of at most {wrong} %."
        )
    low = data["quantile"] or 0.0
    return (
        f"The range: from about the {percent(round(low, 2))} to about the "
        f"{percent(round(1.0 - low, 2))} quantile of the values, as far out as these budgets "
        f"allow, stretched {number(data['wider'] or 1.0, 3)} times around its middle. "
        "Values outside are clipped to it."
    )


def _errors(data: RangePlanData) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The errors, by how close together values lie."""
    last = f"error at {percent(data['confidence'])}"
    heads = ("values", "looks", "for the range", "typical error", last)
    rows: list[tuple[str, ...]] = [
        (
            name,
            str(row["looks"]),
            f"{100.0 * row['share']:.3g} %",
            _told(data, row["rmse"]),
            _told(data, row["pac"]),
        )
        for name, row in zip(_VALUES, data["forecasts"], strict=True)
    ]
    return heads, rows


def _told(data: RangePlanData, error: float) -> str:
    """An error: in percent of the range, or in standard deviations."""
    if math.isinf(error):
        return "not known"
    return f"{number(error, 3)} σ" if data["shape"] == "gaussian" else f"{number(100 * error, 3)} %"


def _errors_are(data: RangePlanData) -> str:
    """What the columns are."""
    people = ""
    if data["people_needed"] is not None:
        people = f", for {data['people_needed']:,} people, the number that is needed"
    first = (
        f"Errors are for Gaussian data, in standard deviations σ of the population{people}."
        if data["shape"] == "gaussian"
        else "Errors are worst cases for the mean of the values clipped to the range, in percent "
        f"of its width{people}."
    )
    return (
        f"{first} The third column is the share of all spending that goes into finding the range. "
        "Values that lie close together, such as years, may take up to three looks."
    )


def _spending(row: RangeForecastData) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Who would spend what on what, in few rows."""
    spent = row["spent"]
    heads = ("budget ε", "people", "on the range", "on the mean", "kept")
    chosen = [spent[k] for k in some_places(len(spent), _ROWS)]
    return heads, [
        (
            budget(each["epsilon"]),
            f"{each['people']:,}",
            budget(each["on_range"], 3),
            budget(each["on_mean"], 3),
            kept_words(each["kept"]),
        )
        for each in chosen
    ]


def _spenders(data: RangePlanData) -> str:
    """What the table of spending is of."""
    levels = len(data["forecasts"][0]["spent"])
    some = f" {_ROWS} of {levels:,} levels are shown." if levels > _ROWS else ""
    guessed = "" if data["neighbours"] == "replace" else " The numbers of people are a guess."
    return f"What a person with each budget would spend, if values are spread out.{some}{guessed}"
