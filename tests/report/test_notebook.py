"""A sheet in a notebook: it contains what the text contains, and all text is escaped."""

from __future__ import annotations

import re

import pytest

from epsilons.results.report.notebook import as_html
from epsilons.results.report.sheet import Sheet, SheetTable
from tests.report.forms import Reader
from tests.report.page_samples import ATTACK, NAMES, nasty, shown


def test_heads_stand_above_tables_and_words() -> None:
    some = SheetTable("rows", ("<i>", "b"), (("a & b", "c"),))
    assert as_html(Sheet("A name", ((some,),), title="a < b", headline="Lead")) == (
        "<div><p><strong>a &lt; b</strong></p><p><strong>Lead</strong></p>"
        "<table><thead><tr><th>&lt;i&gt;</th><th>b</th></tr></thead><tbody>"
        "<tr><td>a &amp; b</td><td>c</td></tr></tbody></table></div>"
    )
    assert as_html(Sheet("A name", ((),))) == "<div><p><strong>A name</strong></p></div>"


@pytest.mark.parametrize("name", NAMES)
def test_it_says_all_that_the_text_says(name: str) -> None:
    result = shown()[name]
    html = Reader(result._repr_html_()).text
    for line in result.details().splitlines():
        if "…" not in line:  # a notebook shows more rows
            for cell in re.split(r" {3,}", line.strip()):
                assert cell.strip() in html, cell


def test_no_word_of_the_caller_is_markup() -> None:
    html = as_html(nasty())
    reader = Reader(html)
    assert {tag for tag, _ in reader.tags} == {
        "div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    assert "".join(reader.words).count(ATTACK) >= 10


def test_of_very_many_rows_some_are_shown() -> None:
    rows = tuple((f"r{k}", "") for k in range(70))
    long = SheetTable("rows", ("", ""), rows, most=12, rest=" more: ask")
    html = as_html(Sheet("A name", ((long,),)))
    assert re.findall(r"<td>(r\d+)</td>", html) == [f"r{k}" for k in range(50)]
    assert "<p>… and 20 more: ask</p>" in html
