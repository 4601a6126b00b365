"""Indent Markdown lists by four spaces, as Python-Markdown requires.

On our pages, the content of a list item is indented by two or three spaces, to align with its first
word. Python-Markdown would read such content as a new paragraph, and end the list.
"""

from __future__ import annotations

import re

from markdown.preprocessors import Preprocessor

__all__ = ["FourSpaces", "four_spaces"]

ITEM = re.compile(r"(?P<mark>[-*+]|\d{1,3}[.)])(?P<gap> +)\S")
STEP = 4


def four_spaces(lines: list[str]) -> list[str]:
    """Indent the lines of a page by four spaces per enclosing list.

    Args:
        lines: The lines of a page.

    Returns:
        The indented lines, with a blank line before each list.
    """
    made: list[str] = []
    open_at: list[int] = []  # for each enclosing list, the column where the item's text begins
    fence, apart = "", False  # apart: a blank line follows the last item
    for line in lines:
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if not text:
            made.append("")
            apart = True
            continue
        within = bool(open_at)
        if not fence:
            while open_at and indent < open_at[-1]:
                open_at.pop()
        inside = len(open_at)
        extra = max(indent - (open_at[-1] if open_at else 0), 0)
        if text.startswith("```"):
            fence = "" if fence else "```"
        elif not fence and extra < STEP and (item := ITEM.match(text)):
            if made and made[-1] and (apart or not within):
                made.append("")
            apart = False
            open_at.append(indent + len(item["mark"]) + len(item["gap"]))
            text = f"{item['mark']} {text[item.end() - 1 :]}"
            extra = 0
        made.append(" " * (STEP * inside + extra) + text)
    return made


class FourSpaces(Preprocessor):
    """A preprocessor that indents lists before all other processing of the page."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the indented lines of a page."""
        return four_spaces(lines)
