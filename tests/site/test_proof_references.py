"""Every cited proof statement exists, and every bound in risk/ cites a proof."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE: Final = ROOT / "src/epsilons"
PROOFS: Final = ROOT / "docs/proofs"

REFERENCE: Final = re.compile(r"Proof: docs/proofs/([\w-]+\.md)((?: \(\d+\),?)*)")
"""Matches a citation of a page and its statements: `Proof: docs/proofs/risk.md (4), (6).`"""

STATEMENT: Final = re.compile(r"^(?:(\d+)\. |(?:- )?\((\d+)\) (?![a-z]))", re.M)
"""Matches a numbered statement at the start of a line: `4. …`, `(4) …` or `- (4) …`."""

NAMED: Final = re.compile(r"^\W*(?:Bound|Lemma|Theorem) (\d+)\b", re.M)
"""Matches a statement with a name and a number, such as `*Bound 15.*`."""

CLAIM: Final = re.compile(
    r"\b(bounds?|at most|worst[ -]case|intervals?|tails?|margins?)\b", re.IGNORECASE
)
"""Words in the first line of a docstring that claim a fact. Such a fact needs a proof."""

EXCEPTIONS: Final = {
    "groups.margins.scaled": "converts interval ends that it is given",
    "groups.pairs.PairSide": "holds bounds that were computed elsewhere",
    "means.spread.Spread": "holds an interval that was computed elsewhere",
    "tails.gaussian.nearly_gaussian": "chooses a bound, which cites its proof",
    "goals.Goal": "an interface: the goals that implement it cite proofs",
    "margins.Bracketed": "holds an interval that was computed elsewhere",
    "margins.CellsMargin": "an interface: the margins that implement it cite proofs",
    "margins.Estimated": "holds an interval that was computed elsewhere",
    "margins.Margin": "an interface: the margins that implement it cite proofs",
    "margins.ScalarMargin": "an interface: the margins that implement it cite proofs",
    "shares.around": "clips intervals of a half-width that it is given",
    "tails.laplace.interpolated": "the textbook error of cubic interpolation",
}
"""Names in risk/ that have such a word but cite no proof, and the reason.

A class stands for its methods as well.
"""


class Reference(NamedTuple):
    """A cited statement, and the file that cites it.

    Attributes:
        place: the file that cites it.
        page: file name of the proof page.
        number: number of the statement; None if the citation gives no number.
    """

    place: str
    page: str
    number: int | None


def references_in(text: str, place: str) -> Iterator[Reference]:
    """Yield all citations in a module, including citations that continue on the next line."""
    joined = re.sub(r"\s*\n\s*(?:# ?)?", " ", text)
    for page, numbers in REFERENCE.findall(joined):
        found = re.findall(r"\d+", numbers)
        for number in found or [None]:
            yield Reference(place, page, None if number is None else int(number))


def without_programs(text: str) -> str:
    """Return a proof page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def statements_in(text: str) -> Counter[int]:
    """Count how often each statement number occurs on a proof page."""
    found = STATEMENT.findall(without_programs(text))
    return Counter(int(listed or written) for listed, written in found)


def problems(references: Iterator[Reference], pages: dict[str, str]) -> Iterator[str]:
    """Yield the problems of citations, given the texts of all pages by file name."""
    for each in references:
        if each.page not in pages:
            yield f"{each.place}: there is no page {each.page}"
        elif each.number is not None:
            text = without_programs(pages[each.page])
            known = {*statements_in(text), *(int(number) for number in NAMED.findall(text))}
            if each.number not in known:
                yield f"{each.place}: {each.page} has no statement ({each.number})"


def documented(module: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Yield public functions, classes and methods.

    Each has its name, its docstring and the docstring of its class.
    """
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            own = ast.get_docstring(node) or ""
            yield node.name, own, ""
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", ast.get_docstring(inner) or "", own


def unproven(text: str, room: str) -> Iterator[str]:
    """Yield public names that claim a bound but cite no proof, not even in their class."""
    for name, doc, around in documented(ast.parse(text)):
        first = doc.split("\n", maxsplit=1)[0]
        if CLAIM.search(first) and "Proof: " not in doc and "Proof: " not in around:
            yield f"{room}.{name}"


def excepted(name: str) -> str:
    """Return the class of a method if the class is an exception, otherwise the name itself."""
    owner = name.rpartition(".")[0]
    return owner if owner in EXCEPTIONS else name


def modules(folder: Path) -> list[Path]:
    """Return all modules in a folder."""
    return sorted(folder.rglob("*.py"))


def room_of(path: Path) -> str:
    """Return the name of a module within risk/, such as `tails.laplace`."""
    return ".".join(path.relative_to(SOURCE / "risk").with_suffix("").parts)


PAGES: Final = {page.name: page.read_text("utf-8") for page in PROOFS.glob("*.md")}


def test_every_cited_statement_exists() -> None:
    cited = (
        reference
        for path in modules(SOURCE)
        for reference in references_in(path.read_text("utf-8"), path.name)
    )
    assert list(problems(cited, PAGES)) == []


@pytest.mark.parametrize("folder", ["risk", "theory"])
def test_citations_of_formulas_give_a_number(folder: str) -> None:
    for path in modules(SOURCE / folder):
        for reference in references_in(path.read_text("utf-8"), path.name):
            assert reference.number is not None, reference


def test_numbers_of_statements_are_unique() -> None:
    for page, text in PAGES.items():
        twice = [number for number, times in statements_in(text).items() if times > 1]
        assert twice == [], page


def test_every_bound_in_risk_cites_a_proof() -> None:
    found = {
        excepted(name)
        for path in modules(SOURCE / "risk")
        for name in unproven(path.read_text("utf-8"), room_of(path))
    }
    assert found - EXCEPTIONS.keys() == set()
    assert EXCEPTIONS.keys() - found == set()  # every exception is still needed


def test_wrong_citations_are_noticed() -> None:
    page = "# Page\n\n1. *One.* So.\n\n(2) **Two.** So.\n\n(1) and (2) are used.\n\n*Bound 15.* So."
    text = '''
    """First. Proof: docs/proofs/page.md (1), (2).

    # Proof: docs/proofs/page.md
    # (15).
    """
    '''
    pages = {"page.md": page}
    assert list(problems(references_in(text, "a.py"), pages)) == []
    assert statements_in(page) == {1: 1, 2: 1}
    wrong = "Proof: docs/proofs/page.md (2), (3). Proof: docs/proofs/none.md (1)."
    assert list(problems(references_in(wrong, "b.py"), pages)) == [
        "b.py: page.md has no statement (3)",
        "b.py: there is no page none.md",
    ]
    assert list(references_in("Proof: docs/proofs/page.md.", "c.py")) == [
        Reference("c.py", "page.md", None)
    ]


def test_a_number_in_a_program_is_no_statement() -> None:
    assert not statements_in("```python\n1. = 2\n(3) P\n```\n")


def test_bounds_without_a_proof_are_noticed() -> None:
    text = '''
def far(x):
    """Bound on the error."""

def near(x):
    """Bound on the error. Proof: docs/proofs/page.md (1)."""

def _own(x):
    """Bound on the error."""

class Proven:
    """A sum. Proof: docs/proofs/page.md (1)."""

    def tail(self):
        """The tail of the sum."""

class Other:
    """A sum."""

    def tail(self):
        """The tail of the sum."""

    def mean(self):
        """The mean of the sum."""
'''
    assert list(unproven(text, "room")) == ["room.far", "room.Other.tail"]
