"""People apart, for methods that draw for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from epsilons.tally import count_numpy
from epsilons.tally.arrays import Arrays
from epsilons.tally.asks import Ask
from epsilons.tally.cells_numpy import CellArrays
from epsilons.tally.columns import Columns
from epsilons.tally.counted import Faults, checked, levels_of
from epsilons.tally.failures import guarded
from epsilons.tally.grid import GRID, Rule
from epsilons.tally.line_numpy import Folded
from epsilons.tally.tallies import Tally, sound, within
from epsilons.tally.units import Parts, caught, of_categories
from epsilons.types import Integers

if TYPE_CHECKING:
    import narwhals as nw

    from epsilons.tally.rows import Rows

__all__ = ["Everyone"]


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
        """Everyone's integer.

        Args:
            bounds: as in `Ask`.
            rule: as in `Ask`.

        Returns:
            The tally, the index of each person's level, and each person's integer in [0, GRID].
        """
        arrays = self._rows.numbers
        people = count_numpy.fold(arrays.epsilon, arrays.person, arrays.values.size)
        grid, _ = people.on_grid(arrays.values, bounds, rule)
        ask = Ask("numbers", bounds, rule)
        counted = count_numpy.count(arrays, ask, self._rows.rules)
        tally = checked(self._rows.noted(counted), self._rows.rules, ask, self._rows.names)
        # Groups of arrays ascend by level, as those of the tally do.
        level_of = within(people.level_of, len(tally.levels) - 1)
        return sound(tally), level_of, within(grid, GRID)

    def in_cells(self) -> tuple[Tally, Integers, Integers]:
        """Everyone's cell, where a row is a person.

        Returns:
            The tally, the index of each person's level, and of each person's cell.
        """
        rows, categories = self._rows, self._rows.rules.categories
        if categories is None or isinstance(rows.held, Arrays):
            raise TypeError("These rows are of numbers: no categories were declared.")
        held, cell = rows.held, np.zeros(0, dtype=np.int64)
        if isinstance(held, CellArrays):
            epsilon, cell = held.epsilon, held.cell
        else:
            epsilon, cell = _each(held, categories)
        one = np.ones(cell.size, dtype=np.int64)
        counted = of_categories(Parts(epsilon, cell, one, None, Faults(most=1)), rows.rules)
        tally = checked(rows.noted(counted), rows.rules, Ask("cells"), rows.names)
        level_of = within(levels_of(epsilon, cell.size)[1], len(tally.levels) - 1)
        return sound(tally), level_of, within(caught(cell, categories), len(tally.categories) - 1)

    def folded(self) -> Folded:
        """Everyone's value and budget, unchecked: `Rows.line` refuses what cannot be used."""
        return self._rows.people


def _each(table: Columns, categories: Any) -> tuple[Any, Integers]:
    """The budget and the cell of every row of a frame in memory, in order."""
    from epsilons.tally.expressions import budget_and_person
    from epsilons.tally.labels_engine import as_floats, cells_in, labels_of, sorted_out, values

    labels = labels_of(categories, table.spelling)

    def run() -> nw.DataFrame[Any]:
        value = values(table, table.values, categories, "v", indexed=False)
        rows = table.frame.select(*value, *budget_and_person(table))
        return sorted_out(rows, labels, categories, indexed=False).collect()

    result = guarded(run, *table.failure)
    grouped = isinstance(table.epsilon, str)
    epsilon = as_floats(result["e"]) if grouped else float(table.epsilon)
    cell = guarded(lambda: cells_in(result, labels, categories, indexed=False), *table.failure)
    return epsilon, cell
