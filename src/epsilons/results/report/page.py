"""Sheets as self-contained HTML pages: text, tables and figures under headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from epsilons.results.report import charts, parts
from epsilons.results.report.phrases import BARS, SEEDED, spending_table
from epsilons.results.report.sheet import (
    Facts,
    Figure,
    Interval,
    Note,
    Part,
    Ranges,
    Role,
    Sheet,
    SheetTable,
    SpendingTable,
)

__all__ = ["as_page"]

_ENDING: Final[dict[Role, str]] = {
    "protected": "What is protected",
    "assumed": "What is assumed",
    "sides": "What is assumed",
    "made": "How it was made",
    "statement": "To copy",
}
"""The headings of the last sections of a page, by the role of the parts in each section."""


def as_page(sheet: Sheet, data: Any) -> str:
    """Convert a sheet to an HTML page.

    Args:
        sheet: the contents.
        data: the same contents as plain data, embedded in the page for programs.

    Raises:
        MissingExtraError: the extra `report` is not installed.
    """
    shown = list(sheet.parts(whole=True))
    below: dict[str, list[Part]] = {}
    for part in shown:
        below.setdefault(_heading(part), []).append(part)
    last = [head for head in dict.fromkeys(_ENDING.values()) if head in below]
    heads = [*(head for head in below if head and head not in last), *last]
    return parts.whole(
        sheet.title or sheet.name,
        [
            *_first(sheet, below.get("", [])),
            *(parts.section(head, _parts(below[head])) for head in heads),
        ],
        byline=sheet.byline,
        data=data,
    )


def _heading(part: Part) -> str:
    """The heading of a part; "" for the top of the page."""
    return part.section or _ENDING.get(part.role, "")


def _first(sheet: Sheet, shown: list[Part]) -> Iterator[parts.Html]:
    """The top of the page: warnings, headline, notes and facts, followed by figures and tables."""
    warned = [part for part in shown if part.role == "warning"]
    if sheet.simulated:
        yield parts.paragraph(SEEDED, "warning")
    yield from _parts(warned)
    if sheet.title is not None:
        yield parts.paragraph(f"{sheet.name}.", "headline")
    if sheet.claim:
        yield parts.paragraph(_unbroken(sheet.claim), "headline")
    rest = [part for part in shown if part.role != "warning"]
    yield from _parts(part for part in rest if isinstance(part, (Note, Facts)))
    yield from _parts(part for part in rest if isinstance(part, Figure))
    yield from _parts(part for part in rest if isinstance(part, (SheetTable, SpendingTable)))


def _parts(shown: Iterable[Part]) -> Iterator[parts.Html]:
    """Convert parts of a sheet to parts of a page.

    All facts become one list, and small figures are placed side by side.
    """
    each = list(shown)
    facts = [fact for part in each if isinstance(part, Facts) for fact in part.facts if fact.name]
    for small, some in groupby(each, lambda part: isinstance(part, Figure) and bool(part.name)):
        if small:
            yield parts.grid([_small(part) for part in some if isinstance(part, Figure)])
            continue
        for part in some:
            match part:
                case Note():
                    kind = part.role if part.role in ("advice", "warning") else ""
                    yield parts.paragraph(_unbroken(part.words), kind)
                case Facts():
                    if facts:
                        yield parts.fact_list([(one.name, _unbroken(one.words)) for one in facts])
                    facts = []
                case SheetTable():
                    heads = [_unbroken(head) for head in part.heads]
                    rows = part.rows if part.most is None else part.rows[: charts.MOST]
                    yield parts.table(heads, rows, part.caption, part.marked)
                case SpendingTable():
                    yield from _spending(part)
                case Figure():
                    yield from _figures(part)


def _small(figure: Figure) -> parts.Html:
    """A small figure: a heading, a line of text, and the drawing."""
    return parts.section(figure.name, [parts.paragraph(_unbroken(figure.words)), *_figures(figure)])


def _figures(figure: Figure) -> Iterator[parts.Html]:
    """One figure or, for a single number, two: a close-up, and the whole possible range."""
    drawing, caption = figure.drawing, figure.caption
    if drawing is None:
        return
    if isinstance(drawing, Ranges) and len(drawing.rows) > charts.MOST:
        of = f"{len(drawing.rows):,} {drawing.things}"
        caption += f" The first {charts.MOST} of {of} are shown; to_json() has them all."
    near, *far = charts.drawn(drawing)
    if far:
        caption += " The axis shows the part of the range around it."
    columns = charts.columns(drawing)
    yield parts.figure(charts.svg(near, columns=columns), figure.label, caption.strip())
    if far and isinstance(drawing, Interval):
        _, low, high = drawing.words
        label = f"The interval from {low} to {high}, on the whole range"
        yield parts.figure(charts.svg(far[0]), label, "The same interval on the whole range.")


def _spending(part: SpendingTable) -> Iterator[parts.Html]:
    """The spending section: a figure, if there is anything to draw, and a table."""
    if part.words:
        yield parts.paragraph(part.words)
    heads, cells = spending_table(part)
    drawn = charts.spending(part)
    if drawn is not None:
        label = "Spent of each budget: " + "; ".join(f"ε {row[0]}: {row[-2]}" for row in cells)
        of = "the ε offered to this release" if part.offered else "their own ε"
        caption = f"What each person spends of {of}; the light bar is what they keep."
        if part.of_weights:
            caption += " Both are in proportion to weights, and shown for the average weight."
        if len(part.levels) > BARS:
            caption += " Levels that share a line are shown by their averages."
        yield parts.figure(charts.svg(drawn, columns=2), label, caption)
    many = len(part.levels)
    combined = f"{many:,} levels, neighboring ones combined." if len(cells) < many else ""
    yield parts.table(heads, cells, combined)


def _unbroken(words: str) -> str:
    """Text with no-break spaces between numbers and percent signs."""
    return words.replace(" %", "\u00a0%")
