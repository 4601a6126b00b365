"""The site contains every public name and every page, and nothing from another host."""

from __future__ import annotations

import doctest
import importlib
import inspect
import operator
import re
from collections import Counter
from pathlib import Path

import pytest

import epsilons

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = {
    page.name: re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.M)
    for page in (ROOT / "docs/reference").glob("*.md")
}


@pytest.mark.parametrize(
    "module",
    [
        "epsilons",
        "epsilons.collector",
        "epsilons.errors",
        "epsilons.local",
        "epsilons.papers",
        "epsilons.theory",
        "epsilons.verify",
    ],
)
def test_every_public_name_is_in_the_reference_once(module: str) -> None:
    room = importlib.import_module(module)
    parts = {
        f"epsilons.{name}"
        for name in ("collector", "errors", "local", "papers", "theory", "verify")
    }
    names = {f"{module}.{name}" for name in room.__all__} - parts
    shown = Counter(name for names in REFERENCE.values() for name in names)
    here = {name for name in shown if name.rpartition(".")[0] == module}
    assert here == names
    assert all(shown[name] == 1 for name in names)


def test_every_page_of_the_reference_shows_something() -> None:
    assert all(REFERENCE.values())


def test_nothing_is_asked_of_another_host_by_the_settings() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert "font: false" in settings
    assert "http" not in settings
    own = re.compile(r"https?://(?!www\.w3\.org/)")  # a namespace is not requested
    for file in (ROOT / "docs/assets").glob("*.*"):
        assert not own.search(file.read_text("utf-8")), file


ENTRIES = sorted(name for names in REFERENCE.values() for name in names)


def example(name: str) -> doctest.DocTest:
    """Return the example of an entry, to be run as a reader would, with nothing imported."""
    thing = operator.attrgetter(name.removeprefix("epsilons."))(epsilons)
    finder = doctest.DocTestFinder(recurse=False)
    [found] = finder.find(thing, name, module=False, globs={"__name__": "docs"})
    return found


def test_no_example_is_elsewhere() -> None:
    """Every example is run above: none is in the docstring of anything else."""
    texts = [file.read_text("utf-8") for file in (ROOT / "src/epsilons").rglob("*.py")]
    found = [block for text in texts for block in re.split(r"\n\n", text) if ">>> " in block]
    assert all(block.startswith("    Examples:\n") for block in found)
    assert len(found) == len([name for name in ENTRIES if ".errors." not in name])


def test_every_error_is_in_the_example_of_its_page() -> None:
    text = (ROOT / "docs/reference/errors.md").read_text("utf-8")
    names = set(re.findall(r"ep\.errors\.(\w+)", text.partition("```python")[2]))
    assert names == set(epsilons.errors.__all__)


def test_arguments_are_in_one_group_each() -> None:
    text = (ROOT / "docs/reference/publishing.md").read_text("utf-8")
    table = text.partition("| group | arguments |")[2].partition("\n\n")[0]
    grouped = Counter(re.findall(r"`(\w+)`", table))
    taken = {
        name
        for function in REFERENCE["publishing.md"]
        for name in inspect.signature(operator.attrgetter(function[9:])(epsilons)).parameters
    }
    assert grouped == dict.fromkeys(taken, 1)
