"""HTML for notebooks: a headline, tables and words."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

from epsilons.report.data import ReleaseData
from epsilons.report.phrases import made_words
from epsilons.report.sides import bought, sides_table
from epsilons.report.spending import budget_head, spending_table


def block(headline: str, *parts: str, title: str | None = None) -> str:
    """A headline, what was measured above it, if that was said, and what stands below it."""
    first = "".join(
        f"<p><strong>{html.escape(each)}</strong></p>" for each in (title, headline) if each
    )
    return f"<div>{first}{''.join(parts)}</div>"


def paragraphs(*sentences: str) -> str:
    """A paragraph for each that says anything."""
    return "".join(f"<p>{html.escape(each)}</p>" for each in sentences if each)


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of words."""
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_ending(data: ReleaseData, told: Callable[[float], str]) -> str:
    """Who spent what, what is protected and assumed, what if that is not so, the day."""
    words = paragraphs(*data["warnings"], data["protects"], data["assumes"])
    sides = sides_table(data, told)
    if sides is not None:
        words += html_table(*sides) + paragraphs(bought(data))
    words += paragraphs(data["adds_up"], made_words(data))
    return html_table(*spending_table(data["spent"], budget_head(data))) + words


def preformatted(text: str) -> str:
    """Text for the screen, as it is."""
    return f"<pre>{html.escape(text)}</pre>"
