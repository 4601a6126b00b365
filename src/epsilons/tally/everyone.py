"""People apart, for methods that draw for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from epsilons.loading import later
from epsilons.tally import cells_numpy, sums_numpy
from epsilons.tally.arrays import Arrays
from epsilons.tally.cells import CellTally, checked_cells
from epsilons.tally.cells_numpy import CellArrays
from epsilons.tally.columns import Columns
from epsilons.tally.grid import GRID, Rule
from epsilons.tally.levels import Tally, checked
from epsilons.tally.line_numpy import Folded
from epsilons.tally.sound import sound, within
from epsilons.types import Integers

if TYPE_CHECKING:
    from epsilons.tally import cells_engine
    from epsilons.tally.rows import Rows
else:
    cells_engine = later("epsilons.tally.cells_engine")

__all__ = ["NO_CATEGORIES", "NO_NUMBERS", "Everyone"]

NO_NUMBERS: Final = "These rows are of categories, or were not opened with everyone apart."
NO_CATEGORIES: Final = "These rows are of numbers: no categories were declared."


class Everyone:
    """People apart, in memory, for methods that draw for each of them.

    Args:
        rows: opened for such a method.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def on_grid(
        self, bounds: tuple[float, float], rule: Rule | None = None
    ) -> tuple[Tally, Integers, Integers]:
        """Everyone's integer: see `Rows.sums`.

        Args:
            bounds: as in `Rows.sums`.
            rule: as in `Rows.sums`.

        Returns:
            The tally, the index of each person's level, and each person's integer in [0, GRID].
        """
        rows = self._rows
        if rows._numbers is None:
            raise TypeError(NO_NUMBERS)
        counted = sums_numpy.count(rows._numbers, bounds, rule)
        tally = checked(rows.noted(counted.groups), rows._names, rows._rules.missing)
        # Groups of arrays ascend by level, as those of the tally do.
        level_of = within(counted.group_of, len(tally.levels) - 1)
        return sound(tally), level_of, within(counted.grid, GRID)

    def in_cells(self) -> tuple[CellTally, Integers, Integers]:
        """Everyone's cell, where a row is a person: see `Rows.cells`.

        Returns:
            The tally, the index of each person's level, and of each person's cell.
        """
        rows = self._rows
        match rows._held:
            case CellArrays():
                groups = cells_numpy.count(rows._held, rows._declared)
            case Columns():
                groups = cells_engine.each(rows._held, rows._declared)
            case Arrays():
                raise TypeError(NO_CATEGORIES)
        tally = checked_cells(rows.noted(groups), rows._names, rows._declared, unit=1)
        level_of = within(groups.level_of, len(tally.levels) - 1)
        return sound(tally), level_of, within(groups.cell_of, len(tally.categories) - 1)

    def folded(self) -> Folded:
        """Everyone's value and budget, unchecked: `Rows.line` refuses what cannot be used."""
        return self._rows._people
