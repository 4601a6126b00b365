"""Tables for notebooks."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from epsilons.report.text import (
    category_name,
    number,
    people_words,
    plan_text,
    points,
    release_text,
    spending,
)

_MOST = 50
"""Categories that a notebook shows."""


def release_html(data: dict[str, Any]) -> str:
    """A release for a notebook: the number, its interval, who spent what, and the words."""
    text = release_text(data).split("\n")
    headline = text[0] if data["private"] else f"{text[0]} {text[2]}"
    related = number(data["error_if_related"])
    return (
        f"<div><p><strong>{html.escape(headline)}</strong></p>{_words(data['treats'])}"
        f"{_table(*spending(data))}{_words(*data['warnings'], data['protects'], data['assumes'])}"
        f"<p>If budgets and values are related, the error can be up to {related}.</p></div>"
    )


def frequencies_html(data: dict[str, Any]) -> str:
    """Frequencies for a notebook: a row for each category, who spent what, and the words."""
    percent = f"{100 * data['confidence']:g} %"
    shares = zip(data["categories"], data["value"], *data["interval"], strict=True)
    rows = [
        (category_name(name), *(f"{100 * share:.3g} %" for share in numbers))
        for name, *numbers in list(shares)[:_MOST]
    ]
    warning = "" if data["private"] else "NOT PRIVATE: drawn from a seed. "
    people = people_words(data["n"])
    title = f"{warning}Shares in {len(data['categories']):,} categories: {people}"
    related = points(data["error_if_related"])
    return (
        f"<div><p><strong>{html.escape(title)}</strong></p>{_words(data['treats'])}"
        f"{_table(('category', 'share', f'from ({percent})', 'to'), rows)}"
        f"{_table(*spending(data))}{_words(*data['warnings'], data['protects'], data['assumes'])}"
        f"<p>If budgets and categories are related, the error can be up to {related}.</p></div>"
    )


def plan_html(data: dict[str, Any]) -> str:
    """A plan for a notebook: one row for each method, and the advice."""
    rows = [
        (row["method"], number(row["rmse"]), number(row["pac"]), f"{row['gain']:,.3g} ×")
        for row in data["forecasts"]
    ]
    percent = f"{100 * data['confidence']:g} %"
    title = plan_text(data).split("\n", maxsplit=1)[0]
    heads = ("method", "typical error", f"error at {percent}", "gain")
    return (
        f"<div><p><strong>{html.escape(title)}</strong></p>{_table(heads, rows)}"
        f"{_words(*data['warnings'], data['advice'])}</div>"
    )


def _words(*sentences: str) -> str:
    """A paragraph for each that says anything."""
    return "".join(f"<p>{html.escape(each)}</p>" for each in sentences if each)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{html.escape(cell)}</th>" for cell in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
