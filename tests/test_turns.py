"""Every case of a long test runs exactly once within a fixed number of turns."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests import conftest, turns

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("fewer", [1, 2, 5, 12])
@pytest.mark.parametrize("many", [1, 3, 11, 12, 13, 24, 100, 703])
def test_all_within_so_many_turns(many: int, fewer: int) -> None:
    cases = list(range(many))
    for first in (0, 7, 1234):
        seen: set[int] = set()
        for turn in range(first, first + fewer):
            taken = set(cases) - set(turns.waiting(cases, fewer, turn))
            assert len(taken) == -(-many // fewer)
            seen |= taken
        assert seen == set(cases)


@pytest.mark.parametrize("turn", [0, 5])
def test_marks_say_which_cases_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, turn: int
) -> None:
    """A turn runs cases of each engine, all marked `always`, and a twelfth of many others."""
    monkeypatch.setattr(conftest, "TURN", turn)
    pytester.makeconftest("""
        from tests.conftest import pytest_collection_modifyitems
    """)
    pytester.makepyfile("""
        import pytest

        @pytest.mark.rotates(4, each="engine")
        @pytest.mark.parametrize("size", range(8))
        @pytest.mark.parametrize("engine", ["a", "b"])
        def test_engines(engine, size): pass

        @pytest.mark.rotates(4)
        @pytest.mark.parametrize("case", [*range(7), pytest.param(99, marks=pytest.mark.always)])
        def test_some(case): pass

        @pytest.mark.parametrize("case", [*range(24), pytest.param(99, marks=pytest.mark.always)])
        def test_many(case): pass

        @pytest.mark.always
        @pytest.mark.parametrize("case", range(30))
        def test_refusals(case): pass

        @pytest.mark.parametrize("case", range(10))
        def test_few(case): pass

        @pytest.mark.statistical
        @pytest.mark.parametrize("case", range(5))
        def test_simulated(case): pass

        @pytest.mark.long
        @pytest.mark.parametrize("case", range(4))
        def test_killed(case): pass
    """)
    options = ("--collect-only", "-q", "-p", "no:cacheprovider", "-n", "0", "-m", "not rest")
    found = pytester.runpytest_inprocess(*options).outlines
    count = {name: sum(f"::test_{name}[" in line for line in found) for name in NAMES}
    assert count.pop("simulated") + count.pop("killed") == 2
    assert count.pop("some") in (2, 3)
    assert any("::test_some[99]" in line for line in found)
    assert count == {"engines": 4, "many": 3, "refusals": 30, "few": 10}
    assert sum("::test_engines[a" in line for line in found) == 2
    assert any("::test_many[99]" in line for line in found)


NAMES = ("engines", "some", "many", "refusals", "few", "simulated", "killed")


def test_no_case_waits_for_more_than_a_dozen_turns() -> None:
    here = Path(__file__).parent
    texts = [path.read_text("utf-8") for path in here.rglob("test_*.py") if path != Path(__file__)]
    given = [int(each) for text in texts for each in re.findall(r"mark\.rotates\((\d+)", text)]
    assert len(given) > 100
    assert max(given) <= conftest.KEPT


def test_the_turn_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(turns.NAME, "17")
    assert turns.current() == 17


def test_the_turn_is_the_number_of_commits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each commit has the next turn.

    In a shallow clone, the turn is computed from the hash of the commit. Without a repository, it
    is 0.
    """

    def git(*words: str, folder: Path = tmp_path) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        run = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True)
        return run.stdout.strip()

    def turn(folder: Path = tmp_path) -> int:
        monkeypatch.delenv(turns.NAME, raising=False)
        monkeypatch.setattr(turns, "__file__", str(folder / "turns.py"))
        return turns.current()

    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert turn() == 0
    git("init", "--quiet")
    for commits in (1, 2):
        git("commit", "--quiet", "--allow-empty", "--message", "a change")
        assert turn() == commits
    git("clone", "--quiet", "--depth", "1", f"file://{tmp_path}", "shallow")
    assert turn(tmp_path / "shallow") == int(git("rev-parse", "HEAD")[:8], 16)
    monkeypatch.delenv(turns.NAME, raising=False)
