"""Every sentence that a print or an error can say is true, and a lie behind it is noticed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import epsilons_next
from epsilons_next.errors import EpsilonsError
from tests.next.promises import arguments, data, faults, interval, layout, privacy, refusals, who
from tests.next.promises.table import PRINTED, PROMISES, Patch, Promise, flat

ROOM = Path(str(epsilons_next.__file__)).parent

SPEAKING = (
    "checks.py",
    "errors.py",
    "people.py",
    "store.py",
    "data",
    "questions",
    "inference/rows.py",
    "releases",
    "running",
)
"""What has sentences for readers."""

UNSAID = {
    # of an engine that is broken, which no table brings about
    "The table was not counted as it must be: an engine added up wrongly.",
    # on a terminal, while one waits
    "reading the table …",
}
"""Sentences that no row can bring about."""

KINDS = (who, data, interval, privacy, layout, arguments, faults, refusals)


CHECKED: set[int] = set()
"""Rows whose prints are known already, in this process."""


def named(promise: Promise) -> str:
    return f"{promise.kind}: {promise.says[:60]}"


@pytest.mark.parametrize("promise", PROMISES, ids=named)
def test_what_is_said_is_so(promise: Promise) -> None:
    CHECKED.add(id(promise))
    promise.check(promise.says)


@pytest.mark.parametrize("promise", PROMISES, ids=named)
def test_a_lie_is_noticed(promise: Promise, monkeypatch: Patch) -> None:
    promise.lie(monkeypatch)
    # Anything else is a lie that breaks the package, and proves nothing of the check.
    with pytest.raises((AssertionError, EpsilonsError)):
        promise.check(promise.says)


def sentences() -> Iterator[tuple[str, str]]:
    """Every literal of the package of three words or more that is no docstring."""
    places = [ROOM / each for each in SPEAKING]
    files = [file for each in places for file in ([each] if each.is_file() else each.glob("*.py"))]
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if id(node) in silent:
                    continue
                for piece in re.split(r"\{[^}]*\}", flat(node.value)):
                    if len(re.findall(r"[^\W\d_]{2,}", piece)) >= 3:
                        yield file.name, piece.strip()


def test_every_sentence_has_a_row() -> None:
    for promise in (each for each in PROMISES if id(each) not in CHECKED):
        with suppress(AssertionError):  # it fails above
            promise.check(promise.says)
    everything = "\n".join(PRINTED)
    missing = {(file, each) for file, each in sentences() if each not in everything}
    assert {(file, each) for file, each in missing if each not in UNSAID} == set()
