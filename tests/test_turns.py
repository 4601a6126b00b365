"""Every case of a long test runs exactly once within a fixed number of turns."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests import turns


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
