"""Any table in, integers by budget level out: the only door for data."""

from __future__ import annotations

from epsilons.tally.categories import Categories, declare, refuse_midpoint
from epsilons.tally.cells import SHARES, CellTally
from epsilons.tally.files import source
from epsilons.tally.grid import GRID, Rule
from epsilons.tally.levels import Tally
from epsilons.tally.rows import Rows, open

__all__ = [
    "GRID",
    "SHARES",
    "Categories",
    "CellTally",
    "Rows",
    "Rule",
    "Tally",
    "declare",
    "open",
    "refuse_midpoint",
    "source",
]
