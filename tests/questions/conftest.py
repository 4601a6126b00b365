"""A fixture for all tests of statistics: a shorter default ladder, which is faster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def shorter() -> Iterator[None]:
    """Use a ladder of twelve octaves instead of thirty if no levels are declared."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("epsilons.budgets.levels.DEPTH", 2.0**-12)
        yield
