"""Several quantiles of one column, each with its interval."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import QuantilesData
from epsilons.report.entries import Entries
from epsilons.report.numbers import aligned, number, percent, widest
from epsilons.report.parts import FactList, Figure, PageTable, Part, Words, unbroken_percent
from epsilons.report.phrases import (
    NOTHING,
    people_words,
    plot_title,
    risk_words,
    seeded,
    unit_words,
    with_unit,
)
from epsilons.report.screen import ending, first_lines, indented, nothing_lines, table, treats_lines
from epsilons.report.sections import release_page, treats_parts

if TYPE_CHECKING:
    import altair


def text(data: QuantilesData) -> str:
    """Quantiles for the screen."""
    told = functools.partial(_told, data)
    return "\n".join(
        [
            *first_lines(data),
            table(_heads(data, percent(data["confidence"])), _rows(data)),
            "",
            f"  {people_words(data)}, values {_range(data)}, method {data['method']}",
            *treats_lines(data),
            indented(risk_words(data, told)),
            *nothing_lines(_tells_nothing(data)),
            *ending(data, told),
        ]
    )


def html(data: QuantilesData) -> str:
    """Quantiles for a notebook: a row for each, who spent what, and the words."""
    return notebook.block(
        " ".join([*seeded(data), f"{_name(data)}: {people_words(data)}"]),
        notebook.paragraphs(data["treats"]),
        notebook.html_table(_heads(data, percent(data["confidence"])), _rows(data)),
        notebook.html_ending(data, functools.partial(_told, data)),
        title=data["title"],
    )


def plot(data: QuantilesData) -> altair.VConcatChart:
    """Each quantile with its interval, and who spent what below."""
    shown = _drawn(data).properties(width=480)
    title = plot_title(data, f"quantiles, {people_words(data)}")
    return charts.above_spending(shown, data, title)


def page(data: QuantilesData) -> str:
    """Quantiles as a page that stands alone."""
    confidence = unbroken_percent(data["confidence"])
    told = functools.partial(_told, data)
    rows = _rows(data)
    label = "Quantiles with intervals: " + "; ".join(f"{row[0]} {row[1]}" for row in rows[:12])
    parts: list[Part] = [
        FactList(
            [
                ("People", people_words(data)),
                ("Values", _range(data)),
                ("Error", risk_words(data, told)),
            ]
        ),
        *treats_parts(data),
        *([Words(NOTHING)] if _tells_nothing(data) else []),
        Figure(
            charts.svg(_drawn(data)),
            label,
            "Dots show the published quantiles, lines the interval of each by itself.",
        ),
        PageTable(_heads(data, confidence), rows, "Published quantiles."),
    ]
    return release_page(data, _name(data), parts, told)


def _name(data: QuantilesData) -> str:
    return f"{len(data['value'])} quantiles"


def _range(data: QuantilesData) -> str:
    lo, hi = data["bounds"]
    return f"from {with_unit(data, f'{number(lo)} to {number(hi)}')}"


def _heads(data: QuantilesData, confidence: str) -> tuple[str, ...]:
    return "share of people", f"is at or below{unit_words(data)}", f"from ({confidence})", "to"


def _rows(data: QuantilesData) -> list[tuple[str, ...]]:
    """Each share, its quantile, and the ends of its interval."""
    lows, highs = data["interval"]
    wide = widest(lows, highs)
    shown = zip(data["quantiles"], data["value"], lows, highs, strict=True)
    return [(percent(q), *(aligned(each, wide) for each in row)) for q, *row in shown]


def _tells_nothing(data: QuantilesData) -> bool:
    lows, highs = data["interval"]
    lo, hi = data["bounds"]
    return all(low <= lo and high >= hi for low, high in zip(lows, highs, strict=True))


def _told(data: QuantilesData, error: float) -> str:
    """An error, with its unit."""
    return with_unit(data, number(error))


def _drawn(data: QuantilesData) -> altair.LayerChart:
    """A point for each quantile, with its interval."""
    alt = charts.altair_module()
    base, y = charts.named_rows(data, [percent(q) for q in data["quantiles"]], "people")
    words = f"at or below{unit_words(data)}, {percent(data['confidence'])} interval"
    return charts.dots_and_whiskers(base, y, alt.X("low:Q", title=words).scale(zero=False))


def entries(data: QuantilesData) -> Entries:
    """The quantiles, each with the share of people that is at or below it."""
    names = [percent(q) for q in data["quantiles"]]
    low, high = data["interval"]
    return Entries(names, data["value"], low, high, data["unit"], aligned)
