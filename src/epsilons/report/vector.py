"""A mean of vectors: a number for each coordinate."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from epsilons.report import charts, notebook
from epsilons.report.data import VectorData
from epsilons.report.numbers import aligned, number, percent, widest
from epsilons.report.parts import FactList, Figure, PageTable, Part, unbroken_percent
from epsilons.report.phrases import people_words, plot_title, risk_words
from epsilons.report.screen import ending, first_lines, table, treats_lines
from epsilons.report.sections import cut_words, release_page, treats_parts

if TYPE_CHECKING:
    import altair

_PRINTED = 10
"""Coordinates that are printed; the others are counted."""


def text(data: VectorData) -> str:
    """A mean of vectors for the screen."""
    confidence = percent(data["confidence"])
    rows = _rows(data)
    hidden = len(rows) - _PRINTED
    more = [f"  … and {hidden:,} more: value and interval() have them all"] if hidden > 0 else []
    nothing = data["radius"] >= 2.0 * data["ball"]
    return "\n".join(
        [
            *first_lines(data),
            table(_heads(confidence), rows[:_PRINTED]),
            *more,
            "",
            f"  {people_words(data)}, {len(rows):,} coordinates, vectors of length up to "
            f"{number(data['ball'])}, method {data['method']}",
            *treats_lines(data),
            f"  Typical error (root mean square, all coordinates together) "
            f"{number(math.sqrt(data['risk']))}, proven bound over all data",
            f"  All coordinates at once: {_at_once(data, confidence)}",
            *(["  That is the whole ball: with these budgets it says nothing."] if nothing else []),
            *ending(data, number),
        ]
    )


def html(data: VectorData) -> str:
    """The same for a notebook."""
    return notebook.preformatted(text(data))


def plot(data: VectorData) -> altair.LayerChart:
    """Each coordinate with its interval."""
    cut = charts.cut_title(len(data["value"]), "coordinates")
    title = plot_title(data, f"mean vector of {people_words(data)}{cut}")
    return _drawn(data).properties(width=480, title=title)


def page(data: VectorData) -> str:
    """A mean of vectors as a page that stands alone."""
    confidence = unbroken_percent(data["confidence"])
    rows = _rows(data)
    facts = [
        ("People", people_words(data)),
        ("Vectors", f"of length up to {number(data['ball'])}"),
        ("Error", risk_words(data, number)),
        ("All at once", _at_once(data, confidence)),
    ]
    cut = cut_words(len(rows), "coordinates")
    label = "Coordinates with intervals: " + "; ".join(f"{r[0]}: {r[1]}" for r in rows[:12])
    parts: list[Part] = [
        FactList(facts),
        *treats_parts(data),
        Figure(
            charts.svg(_drawn(data)),
            label,
            f"Dots show the published means, lines the interval of each by itself.{cut}",
        ),
        PageTable(_heads(confidence), rows[: charts.MOST], "Published means."),
    ]
    return release_page(data, f"Mean of vectors with {len(rows):,} coordinates", parts, number)


def _heads(confidence: str) -> tuple[str, ...]:
    return "coordinate", "mean", f"from ({confidence})", "to"


def _rows(data: VectorData) -> list[tuple[str, ...]]:
    """Each coordinate, its mean, and the ends of its interval."""
    lows, highs = data["interval"]
    wide = widest(lows, highs)
    return [
        (str(k), *(aligned(each, wide) for each in row))
        for k, row in enumerate(zip(data["value"], lows, highs, strict=True))
    ]


def _at_once(data: VectorData, confidence: str) -> str:
    return f"within {number(data['radius'])} (ℓ2) of the raw mean with probability {confidence}"


def _drawn(data: VectorData) -> altair.LayerChart:
    """A point for each coordinate of a vector, with its interval."""
    alt = charts.altair_module()
    names = [str(k) for k in range(len(data["value"]))]
    base, y = charts.named_rows(data, names, "coordinate")
    x = alt.X("low:Q", title=f"mean, {percent(data['confidence'])} interval")
    return charts.dots_and_whiskers(base, y, x)
