"""Lists as plain Markdown has them, made ready for a Markdown that wants four spaces.

On pages what belongs to an item stands below its first word: two spaces in, or three. Python's
Markdown would take the rest of such an item for a new paragraph, and its list for ended.
"""

from __future__ import annotations

import re

from markdown.preprocessors import Preprocessor

__all__ = ["FourSpaces", "four_spaces"]

ITEM = re.compile(r"(?P<mark>[-*+]|\d{1,3}[.)])(?P<gap> +)\S")
STEP = 4


def four_spaces(lines: list[str]) -> list[str]:
    """The lines of a page, with four spaces for each list that they are in.

    Args:
        lines: The lines of a page.

    Returns:
        The same, with a blank line before each list that has none.
    """
    made: list[str] = []
    open_at: list[int] = []  # for each list that a line is in, where the text of its item begins
    fence, apart = "", False  # apart: a blank line stands between the item and what is here
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
    """Does it before anything else reads the page."""

    def run(self, lines: list[str]) -> list[str]:
        """Change the lines of a page."""
        return four_spaces(lines)
