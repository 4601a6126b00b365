"""A sheet as text on the screen: blocks, labels, and tables that fit the width."""

from __future__ import annotations

import pytest

from epsilons.results.report.sheet import BudgetBars, Fact, Facts, Figure, Note, Sheet, SheetTable
from epsilons.results.report.text import printed, table
from tests.report.page_samples import NAMES, shown

FITS = [name for name in NAMES if not name.endswith(("groups", "shares", "frequencies", "several"))]
"""Results with names that are shorter than a line."""


def test_tables_are_aligned() -> None:
    lines = table(("name", "x"), [("a", 1.0), ("long name", 123.0)]).splitlines()
    assert lines == ["  name          x", "  a             1", "  long name   123"]


def test_blocks_are_apart_and_their_parts_are_not() -> None:
    sheet = Sheet(
        "A name",
        (
            (Note("assumed", "What is so.", set_in=True),),
            (),
            (
                Facts("people", (Fact("A", "a", "so many"), Fact("B", "b")), joined=True),
                Facts("error", (Fact("C", "small"), Fact("D", "at most 2", "D: at most 2"))),
                Figure(BudgetBars(()), "nothing on a screen"),
                Note("note", "on a page alone", depth="whole"),
            ),
            (Note("warning", "look"), Note("advice", "do"), Note("help", "this", depth="brief")),
            (Note("protected", "p"), Note("assumed", "q"), Note("made", "x " * 90)),
        ),
        title="A title",
        headline="A headline",
        simulated=True,
    )
    assert printed(sheet).split("\n") == [
        "NOT PRIVATE: drawn from a seed, for simulation only.",
        "",
        "A title",
        "A headline",
        "  What is so.",
        "",
        "  so many",
        "  small",
        "  D: at most 2",
        "",
        "Warning: look",
        "Advice: do",
        "this",
        "",
        "Protected: p",
        "Assumed: q",
        "x " * 90,
    ]


def test_of_many_rows_those_that_matter_are_printed_and_the_others_counted() -> None:
    rows = tuple((f"r{k}", str(k)) for k in range(9))
    some = SheetTable(
        "rows", ("", "k"), rows, ranked=(8, 1, *range(2, 8), 0), most=2, rest=" more: ask"
    )
    text = printed(Sheet("A name", ((some,),)))
    assert text.split("\n") == ["       k", "  r1   1", "  r8   8", "  … and 7 more: ask"]
    assert "more" not in printed(Sheet("A name", ((SheetTable("rows", ("", "k"), rows),),)))


@pytest.mark.parametrize("name", FITS)
def test_lines_fit_the_screen(name: str) -> None:
    lines = str(shown()[name]).splitlines()
    assert max(len(line) for line in lines if not line.startswith("Released")) <= 104
