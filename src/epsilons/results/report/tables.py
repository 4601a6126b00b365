"""Sheets as tables for a paper: LaTeX (`booktabs`) and Markdown, with all text escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from epsilons.results.report.numbers import legible
from epsilons.results.report.phrases import SEEDED
from epsilons.results.report.sheet import Figure, Interval, Sheet, SheetTable
from epsilons.results.report.text import first_tables

__all__ = ["as_latex", "as_markdown"]

_LATEX: Final = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    "ε": r"$\varepsilon$", "τ": r"$\tau$", "δ": r"$\delta$", "∞": r"$\infty$", "±": r"$\pm$",
    "×": r"$\times$", "−": r"$-$", "≤": r"$\le$", "≥": r"$\ge$", "–": "--", "…": r"\dots{}",
    "\u00a0": "~",
}  # fmt: skip
"""The LaTeX source of characters that LaTeX does not print as they are."""

_MARKDOWN: Final = re.compile(r"([\\`*_{}\[\]<>|~&#!$])")
"""A pattern for the characters that have a meaning in Markdown."""

_MINUS: Final = re.compile(r"(?<![\w.,])-(?=[\d∞])")
"""A pattern for the minus sign of a number, unlike a hyphen in a word or a date."""


def as_latex(sheet: Sheet) -> str:
    """Convert the results of a sheet to LaTeX: a `tabular` for each table, for `booktabs`."""
    return "\n".join(_tabular(each, sheet) for each in _tables(sheet))


def as_markdown(sheet: Sheet) -> str:
    """Convert the results of a sheet to Markdown: a pipe table for each table."""
    warning = f"**{SEEDED}**\n\n" if sheet.simulated else ""
    return warning + "\n".join(map(_pipes, _tables(sheet)))


def _tables(sheet: Sheet) -> list[SheetTable]:
    """The tables of results; a single number is a table of one row."""
    found = first_tables(sheet)
    lead = [each.drawing for each in sheet.all(Figure) if each.lead]
    for drawing in lead if not found else ():
        if isinstance(drawing, Interval):
            what, _, interval = drawing.title.rpartition(", ")
            heads = ("", what, f"from ({interval.removesuffix(' interval')})", "to")
            found.append(SheetTable("rows", heads, ((sheet.title or "", *drawing.words),)))
    return found


def _tabular(table: SheetTable, sheet: Sheet) -> str:
    columns = "l" + "r" * (len(table.heads) - 1)
    seeded = [rf"\multicolumn{{{len(columns)}}}{{l}}{{{_latex(SEEDED)}}} \\"]
    lines = [
        f"% {_line(sheet.title or sheet.name)}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        *(seeded if sheet.simulated else []),
        _row(table.heads),
        r"\midrule",
        *map(_row, table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    line = " & ".join(map(_latex, cells))
    # A bracket or a star at the start of a row would be an argument of the end of the row above.
    return ("{}" if line.lstrip()[:1] in ("[", "*") else "") + line + r" \\"


def _latex(text: str) -> str:
    signed = _MINUS.sub("−", _line(text))
    return "".join(_LATEX.get(each, each) for each in signed)


def _pipes(table: SheetTable) -> str:
    rule = ["---", *["---:"] * (len(table.heads) - 1)]
    rows = [list(map(_markdown, row)) for row in (table.heads, *table.rows)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (rows[0], rule, *rows[1:]))


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", _line(text))


def _line(text: str) -> str:
    """Text on one line, without control characters."""
    return re.sub(r"[\n\t]", " ", legible(text))
