"""Make the notebooks of the tutorials from their Markdown pages.

Python blocks become code cells, everything else becomes Markdown cells. The output of blocks is
left out, because a notebook shows its own. Links are unchanged, because a notebook is in the same
folder as its page.

    python scripts/make_notebooks.py
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

__all__ = ["TUTORIALS", "main", "notebook"]

TUTORIALS = Path(__file__).resolve().parent.parent / "docs/tutorials"

PYTHON = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\s+^```text\n(?P<text>.*?)^```$)?", re.M | re.S
)
"""A Python block, and its output if the page shows it."""


def notebook(name: str, page: str) -> str:
    """Return the notebook for a page.

    Args:
        name: name of the page, without extension.
        page: its text, which links to the notebook on a separate line.

    Returns:
        JSON of nbformat 4.5 without outputs, deterministic for a page.

    Raises:
        ValueError: the page does not link to its notebook.
    """
    link = f"\n[This page as a notebook]({name}.ipynb)\n"
    if page.count(link) != 1:
        raise ValueError(f"{name}.md must have one line that is {link.strip()!r}.")
    text = page.replace(link, f"\n[This notebook as a page]({name}.md)\n")
    cells: list[dict[str, Any]] = []
    at = 0
    for block in PYTHON.finditer(text):
        cells += [*_told(text[at : block.start()]), _run(block["code"])]
        at = block.end()
    cells += _told(text[at:])
    for number, cell in enumerate(cells):
        cell["id"] = f"{name}-{number}"
    made = {
        "cells": [dict(sorted(cell.items())) for cell in cells],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _told(text: str) -> list[dict[str, Any]]:
    """Return a Markdown cell, or no cell for blank lines."""
    if not text.strip():
        return []
    return [{"cell_type": "markdown", "metadata": {}, "source": _lines(text)}]


def _run(code: str) -> dict[str, Any]:
    """Return a code cell that was not run."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": _lines(code),
    }


def _lines(text: str) -> list[str]:
    """Split a text into lines as notebooks store them: all but the last end with a line break."""
    return text.strip("\n").splitlines(keepends=True)


def main(folder: Path = TUTORIALS) -> int:
    """Write the notebooks for all pages of a folder."""
    for page in sorted(folder.glob("*.md")):
        made = notebook(page.stem, page.read_text("utf-8"))
        page.with_suffix(".ipynb").write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
