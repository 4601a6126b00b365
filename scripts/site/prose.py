"""Find formulas in sentences, and separate them from the surrounding words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scripts.site.notation import BIG, FUNCTIONS, GREEK, LOWERED, RAISED
from scripts.site.tex import FormulaError, Reader, normal

__all__ = ["Piece", "pieces"]

SIGNS = frozenset("^_√≤≥≠∝≈∈∋∞½¼¾⅛⅝‖⌊⌈⟨−·×±∂ℓ′″\u0302\u0304") | {*BIG, *RAISED, *LOWERED}
"""A text with one of these symbols is a formula."""

ALONE = re.compile(
    r"(?<![\w.'’\-/+])(?<!\w\()(?![aAI]\b)[A-Za-z](?=$|[\s)\],;:?!…]|\.(?!\w)|'s\b|-)"
)
"""A single letter that is not an English word."""


NAMES = re.compile(r"[a-z]{2}[a-z_]*(/[a-z]{2}[a-z_]*)+|\(?[a-z]+\d+_\d+\)?")
"""Names of files and machines: src/epsilons, x86_64."""


class Piece(NamedTuple):
    """A part of a sentence, with its TeX if it is a formula."""

    text: str
    tex: str | None


def pieces(text: str) -> list[Piece]:
    """Split a text into formulas and the text between them.

    Args:
        text: The text of a sentence, without code and without markup.

    Returns:
        Pieces. Their texts, joined, are the original text.
    """
    text = normal(text)
    made, at, done = [], 0, 0
    for start in _starts(text):
        if start < at:
            continue
        end, tex = _formula(text, start)
        if tex is None:
            continue
        if start > done:
            made.append(Piece(text[done:start], None))
        made.append(Piece(text[start:end], tex))
        at = done = end
    if done < len(text):
        made.append(Piece(text[done:], None))
    return made


def _starts(text: str) -> Iterator[int]:
    """Yield positions where a formula can begin: at a word, or after a bracket, quote or dash."""
    for found in re.finditer(r"\S+", text):
        begin = found.start()
        yield begin
        for inner in re.finditer(r"[(\[“\"'‘—–,;:-]", found[0]):
            yield begin + inner.end()


def _formula(text: str, start: int) -> tuple[int, str | None]:
    """Return the end and the TeX of the longest formula that begins at `start`, or None."""
    reader = Reader(text, start)
    try:
        tex = reader.expression(prose=_named(text, start))
    except FormulaError:
        return start, None
    end = reader.at
    while text[end - 1] == " ":
        end -= 1
    if text[start] in "([{" and not _is_bracket(text, start):
        return start, None
    return (end, tex) if _is_formula(text, start, end) else (start, None)


def _is_bracket(text: str, start: int) -> bool:
    """Return whether a bracket is in a formula: it has no words, or is multiplied or divided."""
    reader = Reader(text, start)
    reader.operand(prose=False)
    return not reader.words or text[reader.at : reader.at + 1] in ("·", "/")


def _named(text: str, start: int) -> bool:
    """Return whether a word begins a formula because an operator follows, as in «spent ≤ ε»."""
    return bool(re.match(r"−?[A-Za-z]{2,}(?: [=≤≥<>+−·∝] |[_^/·²₀′])", text[start:]))


def _is_formula(text: str, start: int, end: int) -> bool:
    """Return whether a part of the text is a formula, not only a word or a number."""
    part = text[start:end]
    if re.match(r"\w", text[end:]) or (start and re.match(r"\w", text[start - 1])):
        return False
    if any(char in SIGNS or GREEK.match(char) for char in part):
        return not NAMES.fullmatch(part)
    if (alone := ALONE.match(text, start)) and alone.end() == end:
        return True
    lone = re.search(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", part)
    plural = re.match(r"[A-Za-z]{3,}\(", part) and part.partition("(")[0] not in FUNCTIONS
    return bool(lone and len(part) > 1 and not plural and re.search(r"[=<>+/(|]|\[.*,", part))
