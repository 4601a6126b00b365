"""How many people there are, with an interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import CountData
from epsilons.report.numbers import number, percent
from epsilons.report.parts import FactList, Figure, Part, Words, unbroken_percent
from epsilons.report.phrases import plot_title, risk_words, seeded
from epsilons.report.screen import ending, first_lines
from epsilons.report.sections import release_page

if TYPE_CHECKING:
    import altair


def text(data: CountData) -> str:
    """A count for the screen."""
    return "\n".join(
        [
            *first_lines(data),
            headline(data),
            "",
            f"  {risk_words(data, _people)}",
            *ending(data, _people),
        ]
    )


def html(data: CountData) -> str:
    """A count for a notebook."""
    return notebook.block(
        " ".join([*seeded(data), headline(data)]),
        notebook.html_ending(data, _people),
        title=data["title"],
    )


def plot(data: CountData) -> altair.VConcatChart:
    """The number with its interval, and who spent what below."""
    shown = _drawn(data).properties(width=480, height=50)
    title = plot_title(data, f"about {data['value']:,} people")
    return charts.above_spending(shown, data["spent"], title)


def page(data: CountData) -> str:
    """A count as a page that stands alone."""
    low, high = data["interval"]
    words = f"between {low:,} and {high:,} people"
    parts: list[Part] = [
        Words(f"With {unbroken_percent(data['confidence'])} confidence {words}.", "headline"),
        FactList([("Error", risk_words(data, _people))]),
        Figure(
            charts.svg(_drawn(data).properties(height=50)),
            f"About {data['value']:,} people, with an interval {words}",
            "The dot is the published number, the line its interval.",
        ),
    ]
    return release_page(data, f"About {data['value']:,} people", parts, _people)


def headline(data: CountData) -> str:
    """The number and its interval, in a line."""
    low, high = data["interval"]
    return (
        f"Count: {data['value']:,} people   "
        f"({percent(data['confidence'])} interval {low:,} to {high:,})"
    )


def _people(error: float) -> str:
    """An error, in people."""
    return f"{number(error)} people"


def _drawn(data: CountData) -> altair.LayerChart:
    """The number with its interval."""
    alt = charts.altair_module()
    low, high = data["interval"]
    base = alt.Chart(alt.Data(values=[{"low": low, "high": high, "value": data["value"]}]))
    scale = alt.Scale(domain=[0, max(high, 1)])
    title = f"people, {percent(data['confidence'])} interval"
    rule = base.mark_rule(color=charts.INK, strokeWidth=3).encode(
        x=alt.X("low:Q", scale=scale, title=title), x2="high:Q"
    )
    point = base.mark_point(color=charts.MARK, filled=True, size=90).encode(
        x=alt.X("value:Q", scale=scale)
    )
    return alt.layer(rule, point)
