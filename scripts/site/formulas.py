"""A Markdown extension that marks the formulas of a page and attaches their TeX.

The text of a formula is not changed. So readers without scripts see the text of the page, and the
search finds it. A script of the site (docs/assets/site.js) renders the TeX.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

from scripts.site.lists import FourSpaces
from scripts.site.prose import Piece, pieces
from scripts.site.tex import FormulaError, display

__all__ = ["FormulaExtension", "is_formula"]

LEFT = frozenset({"code", "pre", "script", "style", "svg", "math", "kbd"})
"""Elements that do not contain prose."""

STASHED = "\x02"
"""The start of a placeholder that Markdown fills in later."""

PROGRAMS = ("──", "│", "=…", "->", "import ", "ep.", "SparkSession", "__init__")
"""Texts that occur only in programs, drawings or lists of names."""


def is_formula(block: str) -> bool:
    """Return whether an indented block is a formula, not a program or a drawing."""
    return any(char in block for char in "=≤≥∝∈·∫Σ^") and not any(
        sign in block for sign in PROGRAMS
    )


class Displayed(Treeprocessor):
    """Mark indented blocks that are formulas, before syntax highlighting."""

    def run(self, root: Element) -> None:
        """Change the tree of a page."""
        for pre in root.iter("pre"):
            code = pre.find("code")
            if code is None or code.text is None or STASHED in code.text:
                continue
            text = _plain(code.text)
            if not is_formula(text):
                continue
            try:
                tex = display(text)
            except FormulaError:
                continue
            pre.clear()
            pre.tag = "div"
            pre.set("class", "formula")
            pre.set("data-tex", tex)
            shown = SubElement(pre, "code")
            shown.text = AtomicString(text.rstrip())


class InProse(Treeprocessor):
    """Mark formulas in sentences, after all other markup is processed."""

    def run(self, root: Element) -> None:
        """Change the tree of a page."""
        self._walk(root)

    def _walk(self, element: Element) -> None:
        if element.tag in LEFT or "formula" in element.get("class", ""):
            return
        children = list(element)
        for child in children:
            self._walk(child)
        for child in reversed(children):
            made = _marked(child.tail)
            if made is not None:
                child.tail, spans = made
                place = list(element).index(child) + 1
                for offset, span in enumerate(spans):
                    element.insert(place + offset, span)
        made = _marked(element.text)
        if made is not None:
            element.text, spans = made
            for offset, span in enumerate(spans):
                element.insert(offset, span)


def _marked(text: str | None) -> tuple[str, list[Element]] | None:
    """Return the text before the first formula, and a span per formula with the text after it."""
    if not text or not text.strip() or STASHED in text:
        return None if not text or STASHED not in text else _around(text)
    found = pieces(text)
    return _spans(found) if any(piece.tex is not None for piece in found) else None


def _around(text: str) -> tuple[str, list[Element]] | None:
    """Do the same as `_marked` for a text with placeholders that Markdown fills in later."""
    found: list[Piece] = []
    for number, part in enumerate(text.split(STASHED)):
        if number == 0:
            found += pieces(part)
            continue
        stashed, end, rest = part.partition("\x03")
        found += [Piece(f"{STASHED}{stashed}{end}", None), *pieces(rest)]
    return _spans(found) if any(piece.tex is not None for piece in found) else None


def _spans(found: list[Piece]) -> tuple[str, list[Element]]:
    before, spans = "", []
    for text, tex in found:
        if tex is not None:
            span = Element("span", {"class": "formula", "data-tex": tex})
            span.text = AtomicString(text)
            spans.append(span)
        elif spans:
            spans[-1].tail = (spans[-1].tail or "") + text
        else:
            before += text
    return before, spans


def _plain(text: str) -> str:
    """Return the text of a code block, with HTML entities decoded."""
    for coded, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(coded, char)
    return text


class FormulaExtension(Extension):
    """Indent lists, and mark formulas with `class="formula" data-tex="…"`."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  (the name that Markdown calls)
        """Register three steps: before all others, before highlighting, and after headings."""
        md.preprocessors.register(FourSpaces(md), "four spaces", 40)
        md.treeprocessors.register(Displayed(md), "formulas displayed", 35)
        md.treeprocessors.register(InProse(md), "formulas in prose", 4)


def makeExtension() -> FormulaExtension:  # noqa: N802  (the name that Markdown calls)
    """Return the extension, for the settings of the site."""
    return FormulaExtension()
