"""A share for each category, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import CellsData
from epsilons.report.entries import Entries
from epsilons.report.numbers import (
    aligned_share,
    category_name,
    distinct,
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
from epsilons.report.screen import ending, first_lines, nothing_lines, table, treats_lines
from epsilons.report.sections import cut_words, release_page, treats_parts

if TYPE_CHECKING:
    import altair

_PRINTED = 12
"""Categories that are printed; the others are counted."""

_IN_NOTEBOOK = 50
"""Categories that a notebook shows."""

_PLOTTED = 60
"""Categories that a plot shows."""


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
        f"  {risk_words(data, points)}",
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
    """Bars with error whiskers, in the order of the categories, and who spent what below."""
    alt = charts.altair_module()
    names = distinct([category_name(category) for category in data["categories"]])
    shares = zip(names, data["value"], *data["interval"], strict=True)
    rows = [
        {"category": name, "share": value, "low": low, "high": high}
        for name, value, low, high in list(shares)[:_PLOTTED]
    ]
    base = alt.Chart(alt.Data(values=rows))
    x = alt.X("category:N", sort=names[:_PLOTTED], title=data["unit"])
    words = f"share of people, {percent(data['confidence'])} interval"
    bars = base.mark_bar(color=charts.PALE).encode(
        x=x,
        y=alt.Y("share:Q", title=words).axis(format="%"),
        tooltip=["category:N", "share:Q", "low:Q", "high:Q"],
    )
    whiskers = base.mark_rule(color=charts.INK, strokeWidth=2).encode(x=x, y="low:Q", y2="high:Q")
    shown = alt.layer(bars, whiskers).properties(width=480, height=260)
    many = len(names) > _PLOTTED
    cut = f", the first {_PLOTTED} of {len(names):,} categories" if many else ""
    title = plot_title(data, f"shares, {people_words(data)}{cut}")
    return charts.above_spending(shown, data["spent"], title)


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
            _drawn(data),
            label,
            f"Bars are the published shares, lines their intervals, each by itself.{cut}",
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


def _drawn(data: CellsData) -> str:
    """A bar for each category with its interval; names stand beside, so that they can be read."""
    alt = charts.altair_module()
    base, y = charts.named_rows(data, [category_name(each) for each in data["categories"]])
    words = f"share of people, {percent(data['confidence'])} interval"
    x = alt.X("value:Q", title=words).axis(format="%")
    bars = base.mark_bar(color=charts.PALE).encode(y=y, x=x)
    whiskers = base.mark_rule(color=charts.INK, strokeWidth=2).encode(y=y, x="low:Q", x2="high:Q")
    return charts.svg(alt.layer(bars, whiskers))
