"""The rows of the user: opened by `opening.py`, and then counted as often as a release asks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from epsilons.loading import later
from epsilons.tally import counting, line_numpy
from epsilons.tally.arrays import Arrays
from epsilons.tally.asks import Ask, Rules
from epsilons.tally.cells_numpy import CellArrays
from epsilons.tally.columns import Columns
from epsilons.tally.counted import Counted, Names, checked, on_rungs
from epsilons.tally.line import Line, LineGroups, Window, checked_line, line_on_rungs
from epsilons.tally.line_numpy import Folded
from epsilons.tally.lines import Lines
from epsilons.tally.tallies import Tally, sound

if TYPE_CHECKING:
    from epsilons.tally import line_engine
else:
    line_engine = later("epsilons.tally.line_engine")

__all__ = ["ONLY_SHARES", "Held", "Rows"]

G = TypeVar("G", Counted, LineGroups)

Held: TypeAlias = Arrays | CellArrays | Columns
"""Where rows are: in arrays that NumPy counts, or with an engine."""

ONLY_SHARES: Final = "Rows with groups, where, or missing='exclude' are counted by shares alone."

_NO_NUMBERS: Final = "These rows are of categories."


class Rows:
    """The rows of the user, opened and checked once: each question is one pass over them.

    Args:
        held: where they are.
        rules: how they are counted.
    """

    def __init__(self, held: Held, rules: Rules) -> None:
        self._held = held
        self._rules = rules
        self._kept: dict[Ask, Counted] = {}
        self._moved = False

    @property
    def held(self) -> Held:
        """Where they are."""
        return self._held

    @property
    def rules(self) -> Rules:
        """How they are counted."""
        return self._rules

    @property
    def moved(self) -> bool:
        """Whether somebody's budget counted as another one, where budgets are public."""
        return self._moved

    def noted(self, counted: G) -> G:
        """What was counted, once it is noted whether budgets were moved."""
        self._moved = self._moved or counted.moved
        return counted

    def keep(self, ask: Ask, counted: Counted) -> None:
        """Keep what was counted for a question together with others: it is not counted again."""
        self._kept[ask] = counted

    def count(self, ask: Ask) -> Tally:
        """Divide everyone's unit among cells, and add up by budget level, in one pass.

        Of numbers a person counts once, with the mean of their rows on the grid.

        Args:
            ask: what everyone's unit is divided among.

        Returns:
            One row of cells for each budget level. Budgets that agree in 9 significant bits are one
            level, whose budget is the smallest of them; with a ladder, levels are its rungs.

        Raises:
            TypeError: the rows were not opened for such a question.
            BudgetError: a budget is negative, NaN or null, or all are 0.
            DataError: there are fewer than two people, or too many; a row has no person; a value is
                in no category, the group of a row is not declared, or nobody knows if it is asked;
                somebody is in two public groups (`MissingValueError`: a value is missing;
                `ConflictingBudgetsError`: somebody has two budgets). These may depend on private
                data and are for the curator only.
            FileError: the file cannot be read to its end.
        """
        rules, ladder = self._rules, self._rules.ladder
        self._check(ask)
        counted = self._kept.get(ask)
        if counted is None:
            counted = counting.counted(self._held, ask, rules)
        if ladder is None:
            return sound(checked(self.noted(counted), rules, ask, self.names))
        found = on_rungs(counted, rules, ask, ladder.levels, self.names)
        return sound(found, whole=ask.what != "cells")

    def _check(self, ask: Ask) -> None:
        """Refuse a question that these rows were not opened for."""
        rules = self._rules
        if (ask.what == "cells") != (rules.categories is not None):
            raise TypeError("Rows are of numbers, or of the categories that were declared.")
        if ask.apart and rules.ladder is not None:
            raise TypeError("people are counted by group where budgets are public")
        marked = rules.groups is not None or "where" in rules.names.marks
        if marked and ask.what in ("squares", "pairs"):
            raise TypeError(ONLY_SHARES)

    def line(self, window: Window | None = None) -> Line:
        """Count people by budget level and bucket of the float64 line, in one pass.

        A person counts once, halfway between the smallest and the largest of their values: no
        order of rows can change that, as it can change a sum of floats.

        Args:
            window: cells to zoom in on; None for the whole line.

        Raises:
            BudgetError: a budget is negative, NaN or null, or everyone's is 0.
            DataError: there are too few people, a value is missing, somebody has two budgets.
            FileError: the file cannot be read to its end.
        """
        self._check_whole()
        match self._held:
            case Arrays():
                groups = line_numpy.count(self._people, window)
            case Columns():
                groups = line_engine.count(self._held, window)
            case CellArrays():
                raise TypeError(_NO_NUMBERS)
        rules = self._rules
        if rules.ladder is None:
            return checked_line(self.noted(groups), window, rules.names, rules.missing).sound()
        return line_on_rungs(groups, window, rules.ladder).sound()

    def lines(self) -> Lines:
        """The line, and windows of it, where weights by bucket are all that is wanted."""
        self._check_whole()
        return Lines(self, self._held)

    def _check_whole(self) -> None:
        """Refuse a question that would not know of groups, and of who is asked."""
        if self._rules.some:
            raise TypeError(ONLY_SHARES)

    @cached_property
    def _people(self) -> Folded:
        if not isinstance(self._held, Arrays):
            raise TypeError(_NO_NUMBERS)
        return line_numpy.fold(self._held)

    @property
    def names(self) -> Names:
        """What messages call the parameters: of a CSV file there is more to say."""
        called = self._held.called if isinstance(self._held, Columns) else None
        return called or self._rules.names
