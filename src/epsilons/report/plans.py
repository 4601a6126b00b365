"""A plan of several questions: what each gives with its share of everyone's budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.numbers import number, percent
from epsilons.report.parts import PageTable, Part, Section, Words, whole
from epsilons.report.phrases import FORECAST, written_words
from epsilons.report.plan_data import PlannedRow, PlansData
from epsilons.report.screen import table, warning_lines, wrapped
from epsilons.report.sections import spending_parts, warning_parts
from epsilons.report.spending import spending_table

if TYPE_CHECKING:
    import altair

_ERRORS = (
    "The typical error is a root mean square in the worst case; for shares it is in percentage "
    "points. The interval extends this far to either side for any data: the draw can only make it "
    "narrower."
)
_EVENLY = (
    "For a variance, a covariance and quantiles, both are forecasts for values that are spread "
    "evenly over the range."
)
_FOUND = "If a range has to be found, the typical error is a fraction of that range."


def text(data: PlansData) -> str:
    """The plan for the screen."""
    return "\n".join(
        [
            headline(data),
            "",
            table(_HEADS, _rows(data)),
            "",
            wrapped(_explained(data)),
            *warning_lines(data["warnings"]),
            "",
            table(*spending_table(data["spent"])),
            "",
            wrapped("Protected: " + data["protects"]),
        ]
    )


def html(data: PlansData) -> str:
    """The plan for a notebook."""
    return notebook.block(
        headline(data),
        notebook.html_table(_HEADS, _rows(data)),
        notebook.paragraphs(_explained(data), *data["warnings"]),
        notebook.html_table(*spending_table(data["spent"])),
        notebook.paragraphs(data["protects"]),
    )


def plot(data: PlansData) -> altair.VConcatChart:
    """The share of each question, and below it who would spend what."""
    alt = charts.altair_module()
    rows = [{"name": row["name"], "share": row["part"]} for row in data["rows"]]
    shown = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(color=charts.INK)
        .encode(
            y=alt.Y("name:N", sort=[row["name"] for row in rows], title=None),
            x=alt.X("share:Q", title="share of everyone's budget").axis(format="%"),
        )
        .properties(width=480)
    )
    return charts.above_spending(shown, data, headline(data))


def page(data: PlansData) -> str:
    """The plan as a page that stands alone."""
    parts: list[Part] = [
        *warning_parts(data["warnings"]),
        PageTable(_HEADS, _rows(data), "What each question would give."),
        Words(_explained(data)),
        Section("Who would spend what", spending_parts(data["spent"])),
        Section("What is protected", [Words(data["protects"])]),
    ]
    return whole(headline(data), parts, byline=written_words(FORECAST), data=data)


def headline(data: PlansData) -> str:
    """How many questions, and of how many people."""
    who = "people" if data["neighbours"] == "replace" else "people, as expected"
    return f"Plan for {len(data['rows'])} questions about {data['n']:,} {who}"


_HEADS = ("question", "share", "method", "typical error", "interval ±", "target ±")


def _rows(data: PlansData) -> list[tuple[str, ...]]:
    return [_row(row) for row in data["rows"]]


def _row(row: PlannedRow) -> tuple[str, ...]:
    def told(error: float | None) -> str:
        if error is None:
            return "–"
        if row["shares"]:
            return f"{number(100.0 * error, 3)} %"
        return number(error) if row["unit"] is None else f"{number(error)} {row['unit']}"

    typical = told(row["rmse"])
    if row["found"] and row["rmse"] is not None:
        typical = f"{number(row['rmse'])} of the range"
    reach = told(row["half_width"])
    if row["half_width"] is not None:
        reach += f" ({percent(row['confidence'])})"
    share = f"{number(100.0 * row['part'], 3)} %"  # the exact one is in the data
    return row["name"], share, row["method"], typical, reach, told(row["target"])


def _explained(data: PlansData) -> str:
    found = any(row["found"] for row in data["rows"])
    evenly = any(row["statistic"] in ("variance", "covariance", "quantile") for row in data["rows"])
    return " ".join([_ERRORS, *([_EVENLY] if evenly else []), *([_FOUND] if found else [])])
