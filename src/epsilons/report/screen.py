"""Text for the screen: it fits, and needs no knowledge of ε."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from epsilons.report.data import ReleaseData
from epsilons.report.numbers import number
from epsilons.report.phrases import NOTHING, made_words, seeded
from epsilons.report.sides import bought, sides_table
from epsilons.report.spending import budget_head, spending_table

_WIDTH = 96


def table(heads: Sequence[str], rows: Sequence[Sequence[Any]], *, words: bool = False) -> str:
    """Columns aligned: the first to the left, the others to the right unless they hold words."""
    cells = [[cell if isinstance(cell, str) else number(cell) for cell in row] for row in rows]
    widths = [
        max(len(head), *(len(row[k]) for row in cells)) if cells else len(head)
        for k, head in enumerate(heads)
    ]
    lines = []
    for row in [list(heads), *cells]:
        first, *rest = (cell for cell in row)
        put = str.ljust if words else str.rjust
        aligned_rest = [put(cell, width) for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  " + "   ".join([first.ljust(widths[0]), *aligned_rest]).rstrip())
    return "\n".join(lines)


def wrapped(text: str) -> str:
    """A paragraph, broken for the screen."""
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ")


def warning_lines(warnings: Sequence[str]) -> list[str]:
    """What a reader must not overlook."""
    return [wrapped("Warning: " + each) for each in warnings]


def first_lines(data: ReleaseData) -> list[str]:
    """What stands above all others: a warning if it was drawn from a seed, and the title."""
    title = [] if data["title"] is None else [wrapped(data["title"])]
    return [*(line for each in seeded(data) for line in (each, "")), *title]


def treats_lines(data: ReleaseData) -> list[str]:
    """What became of values that do not fit."""
    if not data["treats"]:
        return []
    return [indented(data["treats"])]


def indented(text: str) -> str:
    """A paragraph, broken for the screen and set in."""
    return textwrap.fill(text, _WIDTH, initial_indent="  ", subsequent_indent="  ")


def nothing_lines(whole: bool) -> list[str]:
    """A word on an interval that tells nothing, if it is the whole of what there could be."""
    return [f"  {NOTHING}"] if whole else []


def ending(data: ReleaseData, told: Callable[[float], str]) -> list[str]:
    """Who spent what, what is protected and assumed, what if that is not so, the day."""
    made = made_words(data)
    sides = sides_table(data, told)
    return [
        "",
        table(*spending_table(data["spent"], budget_head(data))),
        "",
        *warning_lines(data["warnings"]),
        wrapped("Protected: " + data["protects"]),
        wrapped("Assumed: " + data["assumes"]),
        *([] if sides is None else ["", table(*sides), wrapped(bought(data))]),
        *([wrapped(data["adds_up"])] if data["adds_up"] else []),
        *([made] if made else []),
    ]
