"""Convert sheets to text, wrapped for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Final

from epsilons.results.report.numbers import legible, number
from epsilons.results.report.phrases import COVERS_ALL, LABELS, SEEDED, spending_table
from epsilons.results.report.sheet import Facts, Note, Part, Sheet, SheetTable, SpendingTable, shown

__all__ = ["brief", "first_tables", "printed", "table", "wrapped"]

ROWS: Final = 12
"""The maximum number of result rows that `print` shows."""

DETAILS: Final = "More: details(), report(path), to_frame(), to_json()."
"""The last line of a printed result, which names the methods that show more."""

_WIDTH: Final = 96


def printed(sheet: Sheet) -> str:
    """Convert a sheet to text, with a blank line between blocks."""
    blocks = [list(_lines(block)) for block in sheet.blocks]
    title = [] if sheet.title is None else [wrapped(sheet.title)]
    first = [*title, *([sheet.headline] if sheet.headline else []), *blocks[0]]
    seeded = [SEEDED] if sheet.simulated else []
    return "\n\n".join("\n".join(lines) for lines in (seeded, first, *blocks[1:]) if lines)


def brief(sheet: Sheet) -> str:
    """The short text of `print`: numbers, verdict, people, assumption and spending."""
    if not sheet.summary:
        return printed(sheet)
    tables = first_tables(sheet)
    lines = [SEEDED] if sheet.simulated else []
    lines += [wrapped(sheet.title)] if sheet.title is not None else []
    lines += [sheet.headline] if sheet.headline else []
    for part in tables:
        rows = part.first(min(part.most or ROWS, ROWS // len(tables)))
        lines.append(table(part.heads, rows))
        lines += [f"  … {len(part.rows) - len(rows):,} more"] if len(rows) < len(part.rows) else []
    if not any(part.depth == "first" for part in tables):  # add comparisons of groups
        shown = sheet.parts(whole=False)
        lines += [
            _indented(each.words)
            for each in shown
            if isinstance(each, Note) and each.role == "rows"
        ]
    verdicts = [part.words for part in sheet.of("verdict") if isinstance(part, Note)]
    warnings = [f"Warning: {part.words}" for part in sheet.of("warning") if isinstance(part, Note)]
    if any("ot usable" in each for each in verdicts):  # the warning would repeat the verdict
        warnings = [each for each in warnings if COVERS_ALL not in each]
    lines += [wrapped(each) for each in (*verdicts, *warnings, *sheet.summary)]
    return "\n".join([*lines, DETAILS])


def first_tables(sheet: Sheet) -> list[SheetTable]:
    """The tables that `print` shows: those made for `print`, or else the first block of tables."""
    order = ("first", "", "brief", "whole")
    tables = [
        ((order.index(part.depth), place), part)
        for place, block in enumerate(sheet.blocks)
        for part in block
        if isinstance(part, SheetTable) and part.role == "rows"
    ]
    first = min((place for place, _ in tables), default=None)
    return [part for place, part in tables if place == first]


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], *, words: bool = False) -> str:
    """Format a table. The first column is left-aligned.

    The other columns are right-aligned, or left-aligned if `words` is true.
    """
    cells = [
        [_cell(cell if isinstance(cell, str) else number(cell)) for cell in row]
        for row in (heads, *rows)
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    put = str.ljust if words else str.rjust
    lines = []
    for first, *rest in cells:
        aligned_rest = [put(cell, width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  " + "   ".join([first.ljust(widths[0]), *aligned_rest]).rstrip())
    return "\n".join(lines)


def _cell(text: str) -> str:
    """A cell of a table on one line, without characters that a terminal would obey."""
    return legible(text.replace("\n", " "))


def wrapped(text: str) -> str:
    """Wrap a paragraph for the screen."""
    return textwrap.fill(legible(text), _WIDTH, subsequent_indent="  ")


def _lines(block: Sequence[Part]) -> Iterator[str]:
    """The text of a block, part by part."""
    for part in shown(block, whole=False):
        match part:
            case Note(role="made"):
                yield part.words  # not wrapped
            case Note(set_in=True):
                yield _indented(part.words)
            case Note():
                yield wrapped(LABELS.get(part.role, "") + part.words)
            case Facts():
                yield from map(_indented, part.sentences())
            case SpendingTable():
                yield table(*spending_table(part))
            case SheetTable():
                rows = part.first(part.most)
                yield table(part.heads, rows)
                if len(rows) < len(part.rows):
                    yield f"  … and {len(part.rows) - len(rows):,}{part.rest}"


def _indented(text: str) -> str:
    """Wrap a paragraph for the screen and indent it."""
    return textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")
