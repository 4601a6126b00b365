"""What tests of statistics share: a ladder that takes less time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def shorter() -> Iterator[None]:
    """A ladder of twelve octaves where nothing is declared, not of thirty: this takes less time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("epsilons.budgets.levels.DEPTH", 2.0**-12)
        yield
