"""Sheets as HTML for notebooks: the same contents as the text, in paragraphs and tables."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from epsilons.results.report.phrases import LABELS, SEEDED, spending_table
from epsilons.results.report.sheet import Facts, Note, Part, Sheet, SheetTable, SpendingTable

__all__ = ["as_html"]

_ROWS: Final = 50
"""The maximum number of rows of a table that a notebook shows."""


def as_html(sheet: Sheet) -> str:
    """A sheet as HTML, with all text escaped."""
    first = [SEEDED] if sheet.simulated else []
    first += [each for each in (sheet.title, sheet.headline or sheet.name) if each]
    heads = "".join(f"<p><strong>{html.escape(each)}</strong></p>" for each in first)
    return f"<div>{heads}{''.join(map(_part, sheet.parts(whole=False)))}</div>"


def _part(part: Part) -> str:
    match part:
        case Note():
            label = "" if part.set_in else LABELS.get(part.role, "")
            return _paragraph(label + part.words)
        case Facts():
            return "".join(map(_paragraph, part.sentences()))
        case SpendingTable():
            return _table(*spending_table(part))
        case SheetTable():
            rows = part.first(_ROWS if part.most is not None else None)
            hidden = len(part.rows) - len(rows)
            more = _paragraph(f"… and {hidden:,}{part.rest}") if hidden > 0 else ""
            return _table(part.heads, rows) + more
        case _:
            return ""


def _paragraph(words: str) -> str:
    return f"<p>{html.escape(words)}</p>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
