"""Minimal tallies for tests: they have only the fields that a mechanism reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from epsilons.door import GRID, Tally
from epsilons.door.count.tallies import THREE, TWO, three_cells


def tallied(**given: Any) -> Any:
    """Return a tally with the given fields only: levels, counts, cells, sums or squares."""
    return SimpleNamespace(**given)


def halves(*sums: Any) -> Any:
    """Return a tally with two cells for each sum. Mechanisms read only the first of the two."""
    return tallied(cells=np.stack([each for own in sums for each in (own, own)], axis=1))


def of_numbers(levels: Any, counts: Any, sums: Any, squares: Any = None) -> Tally:
    """Return a tally of numbers on the grid, with two cells, or three if squares are given."""
    if squares is None:
        return Tally(levels, counts, np.stack([sums, counts * GRID - sums], axis=1), GRID, TWO)
    return Tally(levels, counts, three_cells(counts, sums, squares), GRID, THREE)
