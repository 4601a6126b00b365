"""The symbols that formulas on the pages use, and the TeX of each."""

from __future__ import annotations

import re

__all__ = [
    "ACCENTS",
    "BARS",
    "BIG",
    "CLOSING",
    "DIFFERENTIAL",
    "EXPECTED",
    "FUNCTIONS",
    "GREEK",
    "LONG",
    "LOWERED",
    "NUMBER",
    "OPENING",
    "OPERATORS",
    "PARTNERS",
    "PLACE",
    "PLAIN",
    "PRIMES",
    "RAISED",
    "RELATIONS",
    "SHORT",
    "SPACES",
    "SYMBOLS",
    "WORD",
]


def _words(text: str) -> list[str]:
    return text.split()


def _table(text: str) -> dict[str, str]:
    """Map symbols to TeX, with a space after commands that end in a letter."""
    pairs = zip(*[iter(_words(text))] * 2, strict=True)
    return {sign: f"{tex} " if re.search(r"\\[a-z]+$", tex) else tex for sign, tex in pairs}


FUNCTIONS = {
    name: rf"\{name}" for name in _words("min max exp ln log sin cos sinh cosh tanh sup")
} | {
    name: rf"\operatorname{{{name}}}"
    for name in _words("floor ceil coth sech asinh erf erfc erfcx clip level Re")
}
RELATIONS = _table(r"""
    = = ≠ \ne ≤ \le ≥ \ge < < > > ∝ \propto ≈ \approx ∈ \in ∋ \ni → \to ↦ \mapsto ⟺ \iff
""")
OPERATORS = RELATIONS | _table(r"""
    + + − - · \cdot × \times ÷ \div / / ± \pm ∩ \cap ∪ \cup ∘ \circ
""")
BIG = _table(r"Σ \sum Π \prod ∫ \int")
SYMBOLS = _table(r"""
    ∞ \infty ℓ \ell ∂ \partial … \ldots ℝ \mathbb{R} # \#
    ½ \tfrac{1}{2} ¼ \tfrac{1}{4} ¾ \tfrac{3}{4} ⅛ \tfrac{1}{8} ⅝ \tfrac{5}{8}
""")
OPENING = {"(": "(", "[": "[", "⌊": r"\lfloor ", "⌈": r"\lceil ", "⟨": r"\langle ", "{": r"\{"}
CLOSING = {")": ")", "]": "]", "⌋": r"\rfloor ", "⌉": r"\rceil ", "⟩": r"\rangle ", "}": r"\}"}
PARTNERS = {"(": ")]", "[": "])", "⌊": "⌋", "⌈": "⌉", "⟨": "⟩", "{": "}"}
BARS = {"|": r"\vert ", "‖": r"\Vert "}
ACCENTS = {"\u0302": "hat", "\u0304": "bar", "\u0303": "tilde", "\u030c": "check"}
PRIMES = {"′": "'", "″": "''", "‴": "'''", "'": "'"}
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿⁱ", "0123456789-+ni", strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+-", strict=True))
GREEK = re.compile(r"[α-ωΓΔΘΛΞΦΨΩϕϑ]")
NUMBER = re.compile(r"\d[\d,]*(?<!,)(?:\.\d+)?")
WORD = re.compile(r"[A-Za-z]+")
DIFFERENTIAL = re.compile(r" ?d[a-zα-ω](?!\w)")
EXPECTED = re.compile(
    r"(?<![A-Za-z])E (?=[|α-ωΣ√∫⌊]|[A-Za-z][̂̄]?[\d_^(²′₁₂]|"
    r"(?:min|max|exp|ln|cosh|sech|sinh)(?![a-z]))"
)
"""The letter E, where it means an expectation."""
PLACE = re.compile(r"\d+|[A-Z]|(?:[a-z](?![\u0302\u0304]))+\d*")
"""A subscript after _. In w_iD, the D is a factor, not part of the subscript."""
SHORT = frozenset(_words("hi lo is of in to if or as on up at so by no"))
"""Two-letter words. All other pairs of letters are products."""
LONG = 72
"""The number of characters of a formula that fit on a line of the site."""
SPACES = re.compile(r" *")
PLAIN = {",": ",", ";": ";", ":": r"\colon ", ".": ".", "!": "!", "%": r"\%", "|": r"\mid "}
