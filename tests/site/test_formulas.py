"""Formulas in sentences are found and converted to TeX, and lists are rendered as intended."""

from __future__ import annotations

import re
from pathlib import Path

import markdown
import pytest
from scripts.site.formulas import FormulaExtension, is_formula
from scripts.site.lists import four_spaces
from scripts.site.prose import pieces
from scripts.site.tex import FormulaError, display, normal

ROOT = Path(__file__).resolve().parents[2]
PROOFS = sorted((ROOT / "docs/proofs").glob("*.md"))
PROSE = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize(
    ("written", "tex"),
    [
        ("e^{−|x|/s}", r"e^{-\vert x\vert /s}"),
        ("Σ_{i≤k} ε_i", r"\sum _{i\le k}ε_{i}"),
        ("√(pq)", r"\sqrt{pq}"),
        ("√n₊", r"\sqrt{n_{+}}"),
        ("½Σ|w_i − 1/n|", r"\tfrac{1}{2}\sum \vert w_{i}-1/n\vert"),
        ("10⁻⁹", "10^{-9}"),
        ("Â − m·Ŵ", r"\hat{A}-m\cdot \hat{W}"),
        ("γ_gW_g", "γ_{g}W_{g}"),
        ("g_ij", "g_{ij}"),
        ("w_max", r"w_{\text{max}}"),
        ("y′² ≤ min(ε, τ)", r"y'^{2}\le \min(ε, τ)"),
        ("∫_a^∞ P(S > u) du", r"\int _{a}^{\infty }P(S>u)\,du"),
        ("1,000,000·k", r"1{,}000{,}000\cdot k"),
        ("k_i·reach/G", r"k_{i}\cdot \text{reach}/G"),
        ("(hi − lo)/2", r"(\mathit{hi}-\mathit{lo})/2"),
        ("P(r | x)", r"P(r \mid  x)"),
        ("j≠i", r"j\ne i"),
    ],
)
def test_the_notation_of_the_house(written: str, tex: str) -> None:
    assert display(written) == tex


def test_lines_are_aligned_where_their_first_signs_are() -> None:
    assert display("a  = 1\nbb = 2") == r"\begin{aligned} a & = 1 \\ bb & = 2 \end{aligned}"
    assert display("a = 1\nbb = 2").startswith(r"\begin{aligned}  & a=1 \\")


def test_a_long_line_has_a_row_for_each_formula() -> None:
    one = "x_1 + x_2 + x_3 + x_4 + x_5 + x_6 = 0,"
    assert display(f"{one}     {one}").count(r"\\") == 1
    assert r"\\" not in display("x = 0,     y = 0")


@pytest.mark.parametrize("written", ["a = «b»", "x @ y = 1", "(a = b"])
def test_what_is_no_formula_is_refused(written: str) -> None:
    with pytest.raises(FormulaError):
        display(written)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("Replace g_i by any g_i′ in [0, G].", ["g_i", "g_i′", "[0, G]"]),
        ("A mean of a person: for every r, and a weight k.", ["r", "k"]),
        ("By construction k_i/s ≤ e_i ≤ ε_i, where", ["k_i/s ≤ e_i ≤ ε_i"]),
        ("then P(Y = r) changes (see Σk_i), i.e. by 3 of 4.", ["P(Y = r)", "Σk_i"]),
        ("the rooms add/remove and src/epsilons/risk_of, on x86_64", []),
        ("all weight(s), e.g. those of 10 % or (1) and (2)", []),
        ("(near + 1)·2r < 2⁶³. Fewer", ["(near + 1)·2r < 2⁶³"]),
        ("spent ≤ ε for each", ["spent ≤ ε"]),
        ("So E max² ≤ a·√Σw² holds", ["E max² ≤ a·√Σw²"]),
        ("the k-th of n people's", ["k", "n"]),
        ("related = True of people", []),
    ],
)
def test_formulas_are_found_in_sentences(sentence: str, found: list[str]) -> None:
    made = pieces(sentence)
    assert [piece.text for piece in made if piece.tex is not None] == found
    assert "".join(piece.text for piece in made) == sentence


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_no_text_is_lost_between_formulas(page: Path) -> None:
    for line in prose(page).splitlines():
        assert "".join(piece.text for piece in pieces(line)) == normal(line)


def signs(text: str) -> list[str]:
    """Return the letters and digits of a formula, without Σ and Π, which are commands in TeX."""
    return sorted(char for char in normal(text) if char.isalnum() and char not in "ΣΠ")


def test_every_letter_of_a_formula_is_in_its_tex() -> None:
    """Apart from TeX commands, the TeX of a formula has the same letters as the formula."""
    added = re.compile(
        r"\\(?:operatorname|text|mathit|hat|bar|tilde|check|sum|prod|int|cdot|times|div|le|ge|ne|pm|"
        r"propto|approx|in|ni|to|mapsto|iff|partial|infty|ldots|vert|Vert|mid|sqrt|quad|colon|"
        r"lfloor|rfloor|lceil|rceil|langle|rangle|cap|cup|circ)(?![a-z])"
    )
    raised = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹ⁿⁱ₀₁₂₃₄₅₆₇₈₉", "0123456789ni0123456789")
    twice = re.compile(r"_(\{[^{}]*\}|\w)_|\^(\{[^{}]*\}|\w)\^")
    halves = {"½": "12", "¼": "14", "¾": "34", "⅛": "18", "⅝": "58"}
    many = 0
    for page in PROOFS:
        for line in prose(page).splitlines():
            for text, tex in pieces(line):
                if tex is None:
                    continue
                many += 1
                if "<!--" not in line:
                    assert not twice.search(tex), (page.name, text, "TeX has no index of an index")
                plain = tex.replace(r"\ell", "ℓ").replace(r"\mathbb{R}", "ℝ").replace(r"\tfrac", "")
                said = re.sub(r"\\(?=[a-z]+)", "", added.sub(" ", plain))
                for half, digits in halves.items():
                    text = text.replace(half, digits)
                assert signs(said) == signs(text.translate(raised)), (page.name, text, tex)
    assert many > 4000


def html(text: str) -> str:
    return markdown.markdown(text, extensions=[FormulaExtension(), "tables"])


def test_pages_are_marked() -> None:
    page = html(
        "# ε\n\nLet `x_i` be e^{x_i} or **ε_i**.\n\n    y = x_i < 1\n\nand\n\n    ep.mean(x)\n"
    )
    assert page.count('class="formula"') == 4
    assert "<code>x_i</code>" in page
    assert '<div class="formula" data-tex="y=x_{i}&lt;1"><code>y = x_i &lt; 1</code></div>' in page
    assert '<span class="formula" data-tex="e^{x_{i}}">e^{x_i}</span> or <strong>' in page
    assert "<pre><code>ep.mean(x)" in page


def test_a_link_and_a_table_keep_what_they_are() -> None:
    page = html("See [the ε](a_b.md) of k.\n\n| x | y |\n| --- | --- |\n| ε_i | `a_i` |\n")
    assert '<a href="a_b.md">the <span class="formula" data-tex="ε">ε</span></a> of <span' in page
    assert '<td><span class="formula" data-tex="ε_{i}">ε_i</span></td>' in page
    assert "<td><code>a_i</code></td>" in page


@pytest.mark.parametrize("page", PROOFS, ids=lambda page: page.name)
def test_every_formula_that_stands_alone_is_set(page: Path) -> None:
    """On proof pages, every indented block is rendered as a formula."""
    assert "<pre>" not in html(prose(page))


def test_programs_and_drawings_are_no_formulas() -> None:
    page = html(prose(ROOT / "docs/architecture.md"))
    assert page.count('<div class="formula"') == 2
    assert page.count("<pre>") >= 6
    assert not is_formula("ep.mean(values, *, epsilon) -> Release")


def test_lists_go_on_below_their_first_word() -> None:
    text = "Words:\n1. one\n\n       y = 1\n\n   more\n2. two\n   - inner\n     goes on\n\nend"
    page = html(text)
    assert page.count("<ol>") == page.count("<ul>") == 1
    assert page.index("<ol>") < page.index('<div class="formula"') < page.index("more")
    assert page.index("goes on") < page.index("</ol>") < page.index("<p>end")
    assert four_spaces(["- a", "- b"]) == ["- a", "- b"]
    assert four_spaces(["```", "- a", "  b", "```"]) == ["```", "- a", "  b", "```"]
