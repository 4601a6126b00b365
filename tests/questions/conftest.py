"""Shared by tests of statistics: a shorter ladder, which is faster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def shorter() -> Iterator[None]:
    """With no declared levels, use a ladder of twelve octaves rather than thirty: it is faster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("epsilons.budgets.levels.DEPTH", 2.0**-12)
        yield
