"""The documentation is correct: examples and commands run, and links work.

If printed output has changed on purpose, write it into the pages with EPSILONS_UPDATE_DOCS=1 pytest
-n 0 tests/test_docs.py.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import math
import os
import re
from collections.abc import Iterator
from dataclasses import is_dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import polars as pl
import pytest

import epsilons
from epsilons import Releases
from epsilons.budgets.allocation import FREQUENCY_RULES, TESTED_RULES
from epsilons.draws import corridor
from epsilons.draws.mechanisms import histogram, sums
from epsilons.questions.mean import ADAPTIVE

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    page.relative_to(ROOT).as_posix() for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
)
FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block, and the number of the line before its text."""

    kind: str
    text: str
    line: int
    end: int


def blocks(page: str) -> list[Block]:
    text = (ROOT / page).read_text("utf-8")
    return [
        Block(found["kind"], found["text"], text.count("\n", 0, found.start("text")), found.end())
        for found in FENCE.finditer(text)
    ]


def compare(page: str, shown: str, printed: str) -> None:
    """Assert that a page shows the printed text, or update the page if requested."""
    if os.environ.get("EPSILONS_UPDATE_DOCS") and shown.rstrip() != printed.rstrip():
        text = (ROOT / page).read_text("utf-8")
        assert text.count(shown.rstrip()) == 1
        (ROOT / page).write_text(text.replace(shown.rstrip(), printed.rstrip()), "utf-8")
        return
    assert printed.rstrip() == shown.rstrip()


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the files that the examples read: the bundled data as CSV and Parquet."""
    table = pl.read_csv(ROOT / "src/epsilons/data/commute.csv")
    table.write_csv(tmp_path / "people.csv")
    table.write_parquet(tmp_path / "people.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


LONG = {"docs/tutorials/spark.md"}
"""Pages whose examples take minutes to run."""

ALTERNATIVES = {
    *("docs/mean.md", "docs/shares.md", "docs/totals.md", "docs/quantiles.md", "docs/reports.md"),
    "docs/files.md",
}
"""Pages with alternative questions about the same people. They say that the spending would add up.
"""

ADDS_UP = "Each example stands alone: if you run several on the same people, their spending adds up"
"""The sentence in which these pages say so."""

SPENT: dict[str, Fraction] = {}
"""The largest share of anyone's budget that the examples of each page have spent so far."""


@contextlib.contextmanager
def accounted(page: str) -> Iterator[None]:
    """Add up what a page spends, as if all of its examples were about the same people.

    Releases drawn from a seed are simulations and do not count. Releases with a ledger do not count
    either, because the ledger limits their spending.

    Raises:
        AssertionError: the page spends more than somebody's budget.
    """
    through = corridor.through

    def added(*arguments: Any, **named: Any) -> Releases:
        releases = through(*arguments, **named)
        bound = inspect.signature(through).bind(*arguments, **named).arguments
        if bound.get("account") is None and releases[0].private:
            levels = [each for each in releases.mechanism.levels.tolist() if 0 < each < math.inf]
            parts = [Fraction(releases.spent(level)) / Fraction(level) for level in levels]
            SPENT[page] = SPENT.get(page, Fraction(0)) + max(parts, default=Fraction(0))
        return releases

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corridor, "through", added)
        yield
    spent = SPENT.get(page, Fraction(0))
    assert page in ALTERNATIVES or spent <= 1, f"{page} spends {float(spent)} of somebody's budget"


@pytest.mark.parametrize("page", sorted(ALTERNATIVES))
def test_pages_with_alternatives_say_that_spending_adds_up(page: str) -> None:
    assert "tutorials" not in page
    assert ADDS_UP in (ROOT / page).read_text("utf-8")


def test_a_page_that_spends_more_than_budgets_is_noticed() -> None:
    """A page fails the check if two questions each spend the entire budget."""
    asked = epsilons.Mean([0.5, 0.25], bounds=(0, 1))
    with accounted("one"):
        epsilons.publish([asked, asked], epsilon=[0.01, 0.01])
    with accounted("two"):
        epsilons.publish([asked], epsilon=[0.01, 0.01])
    with pytest.raises(AssertionError, match=r"spends 2\.0 of"), accounted("two"):
        epsilons.publish([asked], epsilon=[0.01, 0.01])
    with accounted("simulated"):
        for seed in range(2):
            source = epsilons.Seeded(seed)
            epsilons.mean([0.5, 0.25], epsilon=[0.01, 0.01], bounds=(0, 1), source=source)
    assert SPENT.keys() & {"one", "simulated"} == {"one"}


def test_every_block_says_what_it_is() -> None:
    kinds = {"python", "text", "console", "json", "toml"}
    assert {block.kind for page in PAGES for block in blocks(page)} <= kinds


def test_studies_and_surveys_that_are_shown_are_the_bundled_ones() -> None:
    """Studies and surveys on the pages are the bundled files, which the commands use."""
    shown = [block.text for page in PAGES for block in blocks(page) if block.kind == "toml"]
    bundled = (ROOT / "src/epsilons/data/study.toml").read_text("utf-8")
    survey = (ROOT / "src/epsilons/data/question.toml").read_text("utf-8")
    assert shown == [survey[survey.index("id =") :], bundled[bundled.index("[study]") :]]


@pytest.mark.parametrize("page", PAGES)
def test_links_resolve(page: str) -> None:
    text = FENCE.sub("", (ROOT / page).read_text("utf-8"))
    # Screen readers, and the checks of pages in a browser, take one letter for a link without text.
    assert not re.findall(r"\[.\]\([^)]*\)", text)
    for target in LINK.findall(text):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), f"{page} links to {target}"
        if anchor:
            heads = re.findall(r"^#+ (.*)$", file.read_text("utf-8"), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in slugs, f"{page} links to {target}"


def test_every_rule_is_on_the_page_of_methods() -> None:
    page = (ROOT / "docs/methods.md").read_text("utf-8")
    names = {*TESTED_RULES, *FREQUENCY_RULES, *ADAPTIVE}
    assert all(f"| `{name}` |" in page for name in names)


def test_every_error_is_on_the_page_of_refusals() -> None:
    page = (ROOT / "docs/mistakes.md").read_text("utf-8")
    assert all(f"| `{name}` |" in page for name in epsilons.errors.__all__)


@pytest.mark.parametrize("module", ["epsilons", "epsilons.theory", "epsilons.verify"])
def test_public_names_are_documented(module: str) -> None:
    """Functions document Args, Returns and Raises, and classes Args and Raises, or Attributes."""
    room = importlib.import_module(module)
    for name in room.__all__:
        thing = getattr(room, name)
        text = inspect.getdoc(thing)
        assert text, f"{name} has no docstring"
        if inspect.isfunction(thing):
            sections = ["Args:", "Returns:", "Raises:"]
        elif isinstance(thing, ModuleType):
            sections = []
        else:
            sections = ["Attributes:"] if is_dataclass(thing) else ["Args:", "Raises:"]
        assert [section for section in sections if section not in text] == [], name


def test_mechanisms_state_their_guarantee() -> None:
    classes = [
        thing
        for module in (sums, histogram)
        for _, thing in inspect.getmembers(module, inspect.isclass)
        if thing.__module__ == module.__name__
    ]
    assert len(classes) >= 3
    for thing in [*classes, epsilons.mean, epsilons.frequencies]:
        text = inspect.getdoc(thing) or ""
        assert "Guarantee:" in text, thing
        assert "Reference:" in text, thing


def test_proofs_name_files_that_exist() -> None:
    folders = ("src", "tests", "benchmarks")
    files = [
        f"/{each.relative_to(ROOT).as_posix()}" for f in folders for each in (ROOT / f).rglob("*.*")
    ]
    for page in sorted((ROOT / "docs/proofs").glob("*.md")):
        for named in re.findall(r"`([\w./-]+\.(?:py|js|toml))`", page.read_text("utf-8")):
            assert any(file.endswith(f"/{named}") for file in files), f"{page.name}: {named}"
