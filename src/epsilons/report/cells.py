"""A share for each category, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import CellsData
from epsilons.report.entries import Entries
from epsilons.report.numbers import (
    aligned_share,
    category_name,
    percent,
    points,
    widest,
)
from epsilons.report.parts import FactList, Figure, PageTable, Part, Words, unbroken_percent
from epsilons.report.phrases import (
    NOTHING,
    people_words,
    plot_title,
    risk_words,
    unit_words,
)
from epsilons.report.screen import ending, first_lines, indented, nothing_lines, table, treats_lines
from epsilons.report.sections import cut_words, release_page, treats_parts

if TYPE_CHECKING:
    import altair

_PRINTED = 12
"""Categories that are printed; the others are counted."""

_IN_NOTEBOOK = 50
"""Categories that a notebook shows."""


def text(data: CellsData) -> str:
    """Shares for the screen."""
    confidence = percent(data["confidence"])
    rows = _rows(data)
    hidden = len(rows) - _PRINTED
    more = (
        [f"  … and {hidden:,} more: value, interval() and JSON have them all"] if hidden > 0 else []
    )
    lines = [
        *first_lines(data),
        table(_heads(data, confidence), rows[:_PRINTED]),
        *more,
        "",
        f"  {people_words(data)} in {len(rows):,} categories, method {data['method']}",
        *treats_lines(data),
        indented(risk_words(data, points)),
        f"  All categories at once: within {points(data['error_at_once'])} of the raw shares "
        f"with probability {confidence}",
        *nothing_lines(_tells_nothing(data)),
        *ending(data, points),
    ]
    return "\n".join(lines)


def html(data: CellsData) -> str:
    """Shares for a notebook: a row for each category, who spent what, and the words."""
    shares = zip(data["categories"], data["value"], *data["interval"], strict=True)
    rows = [
        (category_name(name), *(f"{100 * share:.3g} %" for share in numbers))
        for name, *numbers in list(shares)[:_IN_NOTEBOOK]
    ]
    return notebook.block(
        headline(data),
        notebook.paragraphs(data["treats"]),
        notebook.html_table(_heads(data, percent(data["confidence"])), rows),
        notebook.html_ending(data, points),
        title=data["title"],
    )


def plot(data: CellsData) -> altair.VConcatChart:
    """A bar with its interval for each category, and who spent what below."""
    cut = charts.cut_title(len(data["categories"]), "categories")
    title = plot_title(data, f"shares, {people_words(data)}{cut}")
    return charts.above_spending(_drawn(data).properties(width=480), data, title)


def page(data: CellsData) -> str:
    """Shares as a page that stands alone."""
    confidence = unbroken_percent(data["confidence"])
    rows = _rows(data)
    at_once = (
        f"within {points(data['error_at_once'])} of the raw shares with probability {confidence}"
    )
    facts = [
        ("People", people_words(data)),
        ("Error", risk_words(data, points)),
        ("All at once", f"all categories {at_once}"),
    ]
    cut = cut_words(len(rows), "categories")
    label = "Shares with intervals: " + "; ".join(f"{row[0]} {row[1]}" for row in rows[:12])
    parts: list[Part] = [
        FactList(facts),
        *treats_parts(data),
        *([Words(NOTHING)] if _tells_nothing(data) else []),
        Figure(
            charts.svg(_drawn(data)),
            label,
            f"Bars show the published shares, lines the interval of each by itself.{cut}",
        ),
        PageTable(_heads(data, confidence), rows[: charts.MOST], "Published shares."),
    ]
    return release_page(data, f"Shares of {len(rows):,} categories", parts, points)


def entries(data: CellsData) -> Entries:
    """The shares, each with its category."""
    names = [category_name(each) for each in data["categories"]]
    low, high = data["interval"]
    return Entries(names, data["value"], low, high, data["unit"], aligned_share, shares=True)


def headline(data: CellsData) -> str:
    """What is shared by how many, in a line."""
    warning = "" if data["private"] else "NOT PRIVATE: drawn from a seed. "
    count = len(data["categories"])
    return f"{warning}Shares in {count:,} categories: {people_words(data)}"


def _heads(data: CellsData, confidence: str) -> tuple[str, ...]:
    return f"category{unit_words(data)}", "share", f"from ({confidence})", "to"


def _rows(data: CellsData) -> list[tuple[str, ...]]:
    """The name of each category, its share, and the ends of its interval."""
    lows, highs = data["interval"]
    wide = widest(lows, highs)
    shares = zip(data["categories"], data["value"], lows, highs, strict=True)
    return [
        (category_name(name), *(aligned_share(each, wide) for each in numbers))
        for name, *numbers in shares
    ]


def _tells_nothing(data: CellsData) -> bool:
    lows, highs = data["interval"]
    return min(lows) <= 0.0 and max(highs) >= 1.0 and widest(lows, highs) >= 1.0


def _drawn(data: CellsData) -> altair.LayerChart:
    """A bar for each category with its interval; names stand beside, so that they can be read."""
    alt = charts.altair_module()
    names = [category_name(each) for each in data["categories"]]
    base, y = charts.named_rows(data, names, data["unit"])
    words = f"share of people, {percent(data['confidence'])} interval"
    x = alt.X("value:Q", title=words).axis(format="%")
    shown = ["name:N", "value:Q", "low:Q", "high:Q"]
    bars = base.mark_bar(color=charts.PALE).encode(y=y, x=x, tooltip=shown)
    whiskers = base.mark_rule(color=charts.INK, strokeWidth=2).encode(y=y, x="low:Q", x2="high:Q")
    drawn: altair.LayerChart = alt.layer(bars, whiskers)
    return drawn
