"""Every case of a long test runs once within a fixed number of turns."""

from __future__ import annotations

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


def test_without_a_word_it_is_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(turns.NAME, raising=False)
    assert turns.current() == 0
