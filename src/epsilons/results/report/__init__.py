"""Output formats: convert sheets to text, HTML, pages and pictures.

A `Sheet` is the contents of a result. Each kind of release and each kind of plan makes its own
sheet. Each format (`text`, `notebook`, `page`, `plot`) shows any sheet without knowing the kind of
result, and is loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from epsilons.loading import names

if TYPE_CHECKING:
    from epsilons.results.report.files import picture_ready, ready, write_page, write_picture
    from epsilons.results.report.numbers import (
        aligned,
        group_name,
        names_of,
        number,
        percent,
        points,
        to_json,
    )
    from epsilons.results.report.phrases import few_at_each, held_back, weak_budgets
    from epsilons.results.report.sheet import Row, Sheet
    from epsilons.results.report.text import table, wrapped
else:
    __getattr__, __dir__ = names(__name__)

__all__ = [
    "Row",
    "Sheet",
    "aligned",
    "few_at_each",
    "group_name",
    "held_back",
    "names_of",
    "number",
    "percent",
    "picture_ready",
    "points",
    "ready",
    "table",
    "to_json",
    "weak_budgets",
    "wrapped",
    "write_page",
    "write_picture",
]
