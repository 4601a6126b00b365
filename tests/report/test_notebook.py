"""HTML for notebooks: every word is escaped, and nothing empty is shown."""

from __future__ import annotations

from epsilons.report.notebook import block, html_table, paragraphs, preformatted


def test_a_headline_stands_above_its_parts() -> None:
    assert block("a < b", "<p>x</p>", "<p>y</p>") == (
        "<div><p><strong>a &lt; b</strong></p><p>x</p><p>y</p></div>"
    )


def test_a_sentence_that_says_nothing_has_no_paragraph() -> None:
    assert paragraphs("one", "", "<b>two</b>") == "<p>one</p><p>&lt;b&gt;two&lt;/b&gt;</p>"
    assert paragraphs("") == ""


def test_heads_and_cells_are_words() -> None:
    assert html_table(["<i>"], [["a & b"], ["c"]]) == (
        "<table><thead><tr><th>&lt;i&gt;</th></tr></thead><tbody>"
        "<tr><td>a &amp; b</td></tr><tr><td>c</td></tr></tbody></table>"
    )


def test_text_keeps_its_lines() -> None:
    assert preformatted("a\n  <b>") == "<pre>a\n  &lt;b&gt;</pre>"
