"""How many people there are, with an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import CountData
from epsilons.report.numbers import number, percent
from epsilons.report.one_number import OneNumber, figures, picture
from epsilons.report.parts import FactList, Part, Words, unbroken_percent
from epsilons.report.phrases import plot_title, risk_words, seeded
from epsilons.report.screen import ending, first_lines, indented
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
            indented(risk_words(data, _people)),
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
    title = plot_title(data, f"about {data['value']:,} people")
    return charts.above_spending(picture(_one(data)), data, title)


def page(data: CountData) -> str:
    """A count as a page that stands alone."""
    low, high = data["interval"]
    words = f"between {low:,} and {high:,} people"
    parts: list[Part] = [
        Words(f"With {unbroken_percent(data['confidence'])} confidence {words}.", "headline"),
        FactList([("Error", risk_words(data, _people))]),
        *figures(_one(data), "number"),
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


def _one(data: CountData) -> OneNumber:
    """The number, to be drawn."""
    low, high = data["interval"]
    title = f"people, {percent(data['confidence'])} interval"
    return OneNumber(data["value"], low, high, (0.0, math.inf), title, lambda at: f"{at:,.0f}")
