"""Any table in, integers by budget level out: the only door for data."""

from __future__ import annotations

from epsilons.tally.categories import Categories, declare, refuse_midpoint
from epsilons.tally.cells import SHARES, CellTally
from epsilons.tally.curator import Look, look
from epsilons.tally.files import source
from epsilons.tally.grid import GRID, Rule
from epsilons.tally.levels import Tally
from epsilons.tally.rows import Rows, open

__all__ = [
    "GRID",
    "SHARES",
    "Categories",
    "CellTally",
    "Look",
    "Rows",
    "Rule",
    "Tally",
    "declare",
    "look",
    "open",
    "refuse_midpoint",
    "source",
]
