"""Minimal tallies for tests: just the fields that a mechanism reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np


def tallied(**given: Any) -> Any:
    """A tally with some of levels, counts, cells, sums and squares, on any grid."""
    return SimpleNamespace(**given)


def halves(*sums: Any) -> Any:
    """The tally of several sums: for each a cell of x and one of 1 − x; only the first is read."""
    return tallied(cells=np.stack([each for own in sums for each in (own, own)], axis=1))
