"""Two columns: covariance, correlation and slope, each with its interval."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import EstimatedData, PairData
from epsilons.report.numbers import aligned, number, percent
from epsilons.report.one_number import OneNumber, figures, picture
from epsilons.report.parts import FactList, PageTable, Part, Words, unbroken_percent
from epsilons.report.phrases import NOTHING, people_words, plot_title, risk_words, seeded
from epsilons.report.screen import ending, first_lines, indented, nothing_lines, table, treats_lines
from epsilons.report.sections import release_page, treats_parts

if TYPE_CHECKING:
    import altair

_ENDLESS = "any"
"""Said of an end that is not known."""


def text(data: PairData) -> str:
    """Two columns for the screen."""
    return "\n".join(
        [
            *first_lines(data),
            headline(data),
            "",
            table(_heads(percent(data["confidence"])), _rows(data)),
            "",
            f"  {people_words(data)}, values from {_ranges(data)}, method {data['method']}",
            *treats_lines(data),
            indented(risk_words(data, number)),
            *nothing_lines(_tells_nothing(data)),
            *ending(data, number),
        ]
    )


def html(data: PairData) -> str:
    """The same for a notebook."""
    confidence = percent(data["confidence"])
    return notebook.block(
        " ".join([*seeded(data), headline(data)]),
        notebook.html_table(_heads(confidence), _rows(data)),
        notebook.paragraphs(data["treats"]),
        notebook.html_ending(data, number),
        title=data["title"],
    )


def plot(data: PairData) -> altair.VConcatChart:
    """The correlation with its interval, and who spent what below."""
    one = _one(data)
    title = plot_title(data, f"correlation {one.told(one.value)}: {people_words(data)}")
    return charts.above_spending(picture(one), data, title)


def page(data: PairData) -> str:
    """Two columns as a page that stands alone."""
    confidence = unbroken_percent(data["confidence"])
    low, high = data["interval"]
    between = f"between {aligned(low, high - low)} and {aligned(high, high - low)}"
    parts: list[Part] = [
        Words(f"With {confidence} confidence {between}.", "headline"),
        PageTable(
            ("of both columns", *_heads(confidence)[1:]), _rows(data), "Each interval by itself."
        ),
        FactList(
            [
                ("People", people_words(data)),
                ("Values", f"from {_ranges(data)}"),
                ("Error", risk_words(data, number)),
            ]
        ),
        *treats_parts(data),
    ]
    if _tells_nothing(data):
        parts.append(Words(NOTHING))
    parts += figures(_one(data), "correlation")
    title = f"Covariance: {aligned(data['value'], high - low)}"
    return release_page(data, title, parts, number)


def headline(data: PairData) -> str:
    """The covariance and its interval, in a line."""
    low, high = data["interval"]
    wide = high - low
    return (
        f"Covariance: {aligned(data['value'], wide)}"
        f"   ({percent(data['confidence'])} interval {aligned(low, wide)} to {aligned(high, wide)})"
    )


def _heads(confidence: str) -> tuple[str, ...]:
    return "", "estimate", f"from ({confidence})", "to"


def _rows(data: PairData) -> list[tuple[str, ...]]:
    first, second = data["means"]
    named: list[tuple[str, EstimatedData]] = [
        ("correlation", data["correlation"]),
        ("slope of the second column on the first", data["slope"]),
        ("mean of the first column", first),
        ("mean of the second column", second),
    ]
    return [(name, *_shown(found)) for name, found in named]


def _shown(found: EstimatedData) -> tuple[str, str, str]:
    low, high = found["low"], found["high"]
    wide = high - low
    if math.isinf(wide):
        return number(found["value"]), _ENDLESS, _ENDLESS
    return aligned(found["value"], wide), aligned(low, wide), aligned(high, wide)


def _ranges(data: PairData) -> str:
    (a, b), (c, d) = data["bounds"], data["beside"]
    return f"{number(a)} to {number(b)} and from {number(c)} to {number(d)}"


def _tells_nothing(data: PairData) -> bool:
    """Whether the interval is all that a covariance could be."""
    (a, b), (c, d) = data["bounds"], data["beside"]
    low, high = data["interval"]
    return high - low >= 0.999 * (b - a) * (d - c) / 2.0


def _one(data: PairData) -> OneNumber:
    """The correlation, to be drawn."""
    found = data["correlation"]
    title = f"correlation, {percent(data['confidence'])} interval"
    told = functools.partial(aligned, width=found["high"] - found["low"])
    return OneNumber(found["value"], found["low"], found["high"], (-1.0, 1.0), title, told)
