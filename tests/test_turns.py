"""Every case of a long test has its turn, and has it soon."""

from __future__ import annotations

import pytest

from tests import turns


@pytest.mark.parametrize("fewer", [1, 2, 5, 12])
@pytest.mark.parametrize("many", [1, 3, 11, 12, 13, 24, 100, 703])
def test_all_within_so_many_commits(many: int, fewer: int) -> None:
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


def test_commits_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"--is-shallow-repository": "false", "HEAD": "1234"}
    monkeypatch.setattr(turns, "_git", lambda *words: said[words[-1]])
    monkeypatch.delenv(turns.NAME)
    assert turns.current() == 1234


def test_a_clone_without_history_takes_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"--is-shallow-repository": "true", "HEAD": "000000ff" + 32 * "0"}
    monkeypatch.setattr(turns, "_git", lambda *words: said[words[-1]])
    monkeypatch.delenv(turns.NAME)
    assert turns.current() == 255


def test_a_folder_that_is_no_clone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_git", lambda *_: "")
    monkeypatch.delenv(turns.NAME)
    assert turns.current() == 0
