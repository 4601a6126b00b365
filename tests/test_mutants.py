"""The text that each planted fault replaces is in the source, so every fault can be planted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from scripts.mutants import PAGES, Copy, Fault, main, read

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "epsilons"
WITHOUT = {"data", "theory"}
"""Packages without code, and packages that no release uses."""


def test_every_fault_can_be_planted() -> None:
    assert [(fault.name, fault.problem(ROOT)) for fault in read() if fault.problem(ROOT)] == []


def test_there_are_many_in_every_room() -> None:
    faults = read()
    assert len(faults) >= 120
    assert max(Counter(fault.name for fault in faults).values()) == 1
    held = {room.name for room in SOURCE.iterdir() if room.is_dir()} - WITHOUT - {"__pycache__"}
    for room in held:
        assert any(fault.file.startswith(f"src/epsilons/{room}/") for fault in faults), room


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"old": "not there"}, "occurs 0 times"),
        ({"old": "a"}, "occurs 2 times"),
        ({"new": "b"}, "changes nothing"),
        ({"file": "src/none.py"}, "does not exist"),
        ({"tests": ()}, "names no tests"),
        ({"tests": (PAGES[0],)}, "does not count"),
        ({"tests": ("tests/none.py",)}, "does not exist"),
    ],
)
def test_a_fault_that_cannot_be_planted_is_told(
    tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    (tmp_path / "one.py").write_text("a, b = a\n")
    (tmp_path / "test_one.py").write_text("")
    whole = {"room": "r", "name": "n", "file": "one.py", "old": "b", "new": "c"}
    fault = Fault(**{**whole, "tests": ("test_one.py",), **change})  # type: ignore[arg-type]
    assert problem in (fault.problem(tmp_path) or "")


@pytest.mark.long
def test_planting_tells_what_is_noticed_and_leaves_the_copy_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/counted.py").write_text("def add(a, b):\n    return a + b\n")
    test = """import pytest
from counted import add

def test_it():
    assert add(2, 0) == 2

@pytest.mark.slow
def test_more():
    assert add(2, 1) == 3
"""
    (tmp_path / "test_it.py").write_text(test)
    given = {"room": "r", "file": "src/counted.py", "old": "a + b", "tests": ("test_it.py",)}
    copy = Copy(tmp_path)
    minus = Fault(name="minus", new="b - a", **given)  # type: ignore[arg-type]
    assert copy.noticed(minus, None) == ("test_it.py::test_it", True)
    assert copy.noticed(minus, "test_it.py::test_gone") == ("test_it.py::test_it", True)
    other = Fault(name="other", new="a - b", **given)  # type: ignore[arg-type]
    assert copy.noticed(other, "test_it.py::test_it") == ("test_it.py::test_more", False)
    same = Fault(name="same", new="b + a", **given)  # type: ignore[arg-type]
    assert copy.noticed(same, "test_it.py::test_more") == (None, False)
    copy.close()
    assert (tmp_path / "src/counted.py").read_text().endswith("a + b\n")


def test_the_list_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(read())} faults"
