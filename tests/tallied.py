"""Minimal tallies for tests: just the fields that a mechanism reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from epsilons.door import GRID, Tally
from epsilons.door.count.tallies import THREE, TWO, three_cells


def tallied(**given: Any) -> Any:
    """A tally with some of levels, counts, cells, sums and squares, on any grid."""
    return SimpleNamespace(**given)


def halves(*sums: Any) -> Any:
    """The tally of several sums: for each a cell of x and one of 1 − x; only the first is read."""
    return tallied(cells=np.stack([each for own in sums for each in (own, own)], axis=1))


def of_numbers(levels: Any, counts: Any, sums: Any, squares: Any = None) -> Tally:
    """The tally of numbers on the grid, of two cells, or of three where squares are given."""
    if squares is None:
        return Tally(levels, counts, np.stack([sums, counts * GRID - sums], axis=1), GRID, TWO)
    return Tally(levels, counts, three_cells(counts, sums, squares), GRID, THREE)
