"""The rows of the user: opened by `opening.py`, and then counted as often as a release asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from epsilons.ladder import Ladder
from epsilons.loading import later
from epsilons.tally import cells_numpy, line_numpy, pairs, shares_numpy, sums_numpy
from epsilons.tally.arrays import Arrays
from epsilons.tally.asks import Ask
from epsilons.tally.categories import Categories
from epsilons.tally.cells import CellGroups, CellTally, cells_on_rungs, checked_cells
from epsilons.tally.cells_numpy import CellArrays
from epsilons.tally.columns import Columns
from epsilons.tally.grid import Rule
from epsilons.tally.grouping import Grouping
from epsilons.tally.levels import Names, SumGroups, Tally, checked, on_rungs
from epsilons.tally.line import Line, LineGroups, Window, checked_line, line_on_rungs
from epsilons.tally.line_numpy import Folded
from epsilons.tally.lines import Lines
from epsilons.tally.shares import EVERYBODY, Counting, ShareGroups, shares_of
from epsilons.tally.sound import sound
from epsilons.types import Integers

if TYPE_CHECKING:
    from epsilons.tally import (
        cells_engine,
        line_engine,
        pairs_engine,
        shares_engine,
        sums_engine,
    )
else:
    cells_engine = later("epsilons.tally.cells_engine")
    line_engine = later("epsilons.tally.line_engine")
    pairs_engine = later("epsilons.tally.pairs_engine")
    shares_engine = later("epsilons.tally.shares_engine")
    sums_engine = later("epsilons.tally.sums_engine")

__all__ = ["ONLY_SHARES", "Held", "Rows", "Rules", "WantedSignal"]

T = TypeVar("T")
G = TypeVar("G", SumGroups, CellGroups, ShareGroups, LineGroups)

Held: TypeAlias = Arrays | CellArrays | Columns
"""Where rows are: in arrays that NumPy counts, or with an engine."""

NO_NUMBERS: Final = "These rows are of categories."
NO_CATEGORIES: Final = "These rows are of numbers: no categories were declared."
ONLY_SHARES: Final = "Rows with groups, where, or missing='exclude' are counted by shares alone."


@dataclass(frozen=True, eq=False)
class Rules:
    """How rows are counted, whoever holds them.

    Attributes:
        names: what messages call the parameters.
        missing: what is done with missing values.
        unit: what one person adds to cells.
        categories: what was declared; None for numbers.
        ladder: the public ladder, if budgets are private.
        groups: what was declared; None for one group that holds everybody.
        some: whether not everyone need be in the one group: shares are all that can be asked for.
        source: the table as it was given; None for arrays.
        values: the column of values in it, as it was given.
        epsilon: the budgets, as they were given.
        where: which rows are asked, as it was given.
    """

    names: Names
    missing: str
    unit: int
    categories: Categories | None
    ladder: Ladder | None
    groups: Grouping | None = None
    some: bool = False
    source: Any = None
    values: Any = None
    epsilon: Any = None
    where: Any = None

    @property
    def counting(self) -> Counting:
        """Which rows count, where shares are asked for."""
        private = self.ladder is not None
        where = "where" in self.names.marks
        return Counting(
            labels=EVERYBODY if self.groups is None else self.groups.labels,
            missing=self.missing,
            private=private,
            outside=where or self.missing == "exclude" or (private and self.groups is not None),
        )


class WantedSignal(BaseException):
    """What rows that listen are asked: it ends a question that is led to find that out.

    Args:
        ask: what is asked; None if it is nothing that can be counted together with others.
    """

    def __init__(self, ask: Ask | None) -> None:
        super().__init__()
        self.ask = ask


class Rows:
    """The rows of the user, opened and checked once: each question is one pass over them.

    Args:
        held: where they are.
        rules: how they are counted.
    """

    def __init__(self, held: Held, rules: Rules) -> None:
        self._held = held
        self._rules = rules
        self._kept: dict[Ask, Any] = {}
        self._listens = False
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

    def noted(self, groups: G) -> G:
        """What was counted, once it is noted whether budgets were moved."""
        self._moved = self._moved or groups.moved
        return groups

    def listen(self, listens: bool) -> None:
        """Count nothing from now on, but tell by `WantedSignal` what is asked; or count again."""
        self._listens = listens

    def keep(self, ask: Ask, counted: Any) -> None:
        """Keep what was counted for a question together with others: it is not counted again."""
        self._kept[ask] = counted

    def answer(self, ask: Ask) -> Tally | CellTally:
        """Answer what is asked, by the method of that name."""
        if ask.what == "cells":
            return self.cells()
        if ask.bounds is None:
            raise TypeError("numbers are put on a grid between bounds")
        if ask.what == "shares":
            return self.shares(ask.bounds, ask.rule, apart=ask.apart)
        return (self.sums if ask.what == "sums" else self.moments)(ask.bounds, ask.rule)

    def _counted(self, ask: Ask, count: Callable[[], T]) -> T:
        """Count, unless that was done before, or somebody listens."""
        if self._listens:
            raise WantedSignal(ask)
        found: T = self._kept[ask] if ask in self._kept else count()
        return found

    def sums(self, bounds: tuple[float, float], rule: Rule | None = None) -> Tally:
        """Put everyone's value on the grid, and count and add up by budget level, in one pass.

        A person counts once, with the mean of their rows on the grid.

        Args:
            bounds: the known range, checked by `parameters.bounds`.
            rule: what is added up in place of u, a value as its share of the range, from 0 to 1:
                see `grid.Rule`.

        Returns:
            One entry for each budget level. Budgets that agree in 9 significant bits are one level,
            whose budget is the smallest of them; with a ladder, levels are its rungs.

        Raises:
            BudgetError: a budget is negative, NaN or null, or all are 0.
            DataError: there are fewer than two people, or too many; a row has no person
                (`MissingValueError`: a value is missing; `ConflictingBudgetsError`: somebody has
                two budgets). These may depend on private data and are for the curator only.
            FileError: the file cannot be read to its end.
        """
        groups = self._counted(Ask("sums", bounds, rule), lambda: self._added_up(bounds, rule, 1))
        ladder = self._rules.ladder
        if ladder is None:
            return sound(checked(self.noted(groups), self._names, self._rules.missing))
        return sound(on_rungs(groups, self._names, ladder.levels))

    def moments(self, bounds: tuple[float, float], rule: Rule | None = None) -> Tally:
        """The same as `sums`, and the sums of squares: `grid.squares` of everyone's one integer.

        Args:
            bounds: as in `sums`.
            rule: as in `sums`.

        Raises:
            TypeError: budgets are private; nobody asks for squares then.
            EpsilonsError: as `sums`.
        """
        if self._rules.ladder is not None:
            raise TypeError("squares are added up where budgets are public")
        groups = self._counted(
            Ask("moments", bounds, rule), lambda: self._added_up(bounds, rule, 2)
        )
        return sound(checked(self.noted(groups), self._names, self._rules.missing))

    def shares(
        self, bounds: tuple[float, float], rule: Rule | None = None, *, apart: bool = False
    ) -> CellTally:
        """Divide everyone's unit of GRID points among the groups, and add up by budget level.

        Each group has two cells, of x and of 1 - x, a value as its share of the range: see
        `shares.py`. A last cell is of those who are outside, if somebody may be. With one group
        that holds everybody, the cells of x are the sums of `sums`.

        Args:
            bounds: as in `sums`.
            rule: as in `sums`.
            apart: whether groups are public: people are counted by level and group, too, whatever
                they answer, and whoever is in two groups is refused.

        Raises:
            TypeError: these rows are of categories, or groups are public where budgets are private.
            DataError: the group of a row is not declared, or nobody knows if it is asked; somebody
                is in two public groups. And as `sums`.
        """
        rules = self._rules
        counting = rules.counting
        if apart and rules.ladder is not None:
            raise TypeError("people are counted by group where budgets are public")
        found = self._counted(
            Ask("shares", bounds, rule, apart), lambda: self._divided(bounds, rule, apart=apart)
        )
        rungs = None if rules.ladder is None else rules.ladder.levels
        return sound(shares_of(self.noted(found), self._names, counting, rungs, apart=apart))

    def thirds(self, bounds: tuple[float, float]) -> CellTally:
        """Divide everyone's unit among x², 2x(1 − x) and (1 − x)², by budget level, in one pass.

        Args:
            bounds: as in `sums`.

        Returns:
            Three cells for each level, in points of the grid: a person adds GRID exactly. With
            missing="exclude" a last cell is of those who have no value; on a ladder they are left
            out.

        Raises:
            EpsilonsError: as `sums`.
        """
        self._refuse_to_tell()
        self._check_everybody()
        groups = self._on_grid(bounds, None, 2)
        return self._soft(groups, pairs.of_moments(groups))

    def pairs(self, bounds: tuple[float, float], beside: tuple[float, float]) -> CellTally:
        """Divide everyone's unit among nine cells, those of `thirds` of both columns, in one pass.

        Args:
            bounds: of the values.
            beside: of the second column.

        Returns:
            Nine cells for each level, in points of the grid, the second column running fastest: a
            person adds GRID exactly. With missing="exclude" those who lack one of the two numbers
            are treated as by `thirds`.

        Raises:
            TypeError: the rows were opened for one column.
            EpsilonsError: as `sums`.
        """
        self._refuse_to_tell()
        both, exclude = (bounds, beside), self._rules.missing == "exclude"
        match self._held:
            case Arrays():
                groups, parts = sums_numpy.count_pairs(self._held, *both, exclude=exclude)
            case Columns():
                groups, parts = pairs_engine.count(self._held, *both, exclude=exclude)
            case CellArrays():
                raise TypeError(NO_NUMBERS)
        return self._soft(groups, pairs.nine_cells(groups, parts))

    def _soft(self, groups: SumGroups, cells: Integers) -> CellTally:
        rules = self._rules
        groups = self.noted(groups)
        return sound(pairs.on_cells(groups, cells, self._names, rules.missing, rules.ladder))

    def _divided(
        self, bounds: tuple[float, float], rule: Rule | None, *, apart: bool
    ) -> ShareGroups:
        counting = self._rules.counting
        match self._held:
            case Arrays():
                return shares_numpy.count(self._held, bounds, rule, counting)
            case Columns():
                groups = self._rules.groups
                return shares_engine.count(self._held, bounds, rule, groups, counting, apart=apart)
            case CellArrays():
                raise TypeError(NO_NUMBERS)

    def _added_up(self, bounds: tuple[float, float], rule: Rule | None, moments: int) -> SumGroups:
        self._check_whole()
        return self._on_grid(bounds, rule, moments)

    def _on_grid(self, bounds: tuple[float, float], rule: Rule | None, moments: int) -> SumGroups:
        exclude = self._rules.missing == "exclude"
        match self._held:
            case Arrays():
                return sums_numpy.count(self._held, bounds, rule, moments)
            case Columns():
                return sums_engine.count(self._held, bounds, rule, moments, exclude=exclude)
            case CellArrays():
                raise TypeError(NO_NUMBERS)

    def cells(self) -> CellTally:
        """Count people by budget level and category, in one pass.

        Each of a person's r rows adds floor(SHARES / r) to its cell: nothing if r > SHARES. Without
        a ladder what is left, SHARES mod r, is spread evenly over all cells.

        Returns:
            One row of cells for each budget level: see `sums`.

        Raises:
            BudgetError: a budget is negative, NaN or null, or all are 0.
            DataError: a value is in no category. And as `sums`.
            FileError: the file cannot be read to its end.
        """
        declared, ladder, unit = self._declared, self._rules.ladder, self._rules.unit
        groups = self._counted(Ask("cells"), self._in_cells)
        if ladder is None:
            return sound(checked_cells(self.noted(groups), self._names, declared, unit=unit))
        found = cells_on_rungs(groups, self._names, declared, ladder.levels, unit=unit)
        return sound(found, whole=False)

    def _in_cells(self) -> CellGroups:
        match self._held:
            case CellArrays():
                return cells_numpy.count(self._held, self._declared)
            case Columns():
                return cells_engine.count(self._held, self._declared)
            case Arrays():
                raise TypeError(NO_CATEGORIES)

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
        self._refuse_to_tell()
        match self._held:
            case Arrays():
                groups = line_numpy.count(self._people, window)
            case Columns():
                groups = line_engine.count(self._held, window)
            case CellArrays():
                raise TypeError(NO_NUMBERS)
        rules = self._rules
        if rules.ladder is None:
            return sound(checked_line(self.noted(groups), window, rules.names, rules.missing))
        return sound(line_on_rungs(groups, window, rules.ladder))

    def lines(self) -> Lines:
        """The line, and windows of it, where weights by bucket are all that is wanted."""
        self._check_whole()
        self._refuse_to_tell()
        return Lines(self, self._held)

    def _refuse_to_tell(self) -> None:
        """Tell somebody who listens that this cannot be counted together with others."""
        if self._listens:
            raise WantedSignal(None)

    def _check_everybody(self) -> None:
        """Refuse a question that would not know of groups, nor of who is asked."""
        if self._rules.groups is not None or "where" in self._rules.names.marks:
            raise TypeError(ONLY_SHARES)

    def _check_whole(self) -> None:
        """Refuse a question that would not know of groups, and of who is asked."""
        if self._rules.some:
            raise TypeError(ONLY_SHARES)

    @cached_property
    def _people(self) -> Folded:
        if not isinstance(self._held, Arrays):
            raise TypeError(NO_NUMBERS)
        return line_numpy.fold(self._held)

    @property
    def _declared(self) -> Categories:
        if self._rules.categories is None:
            raise TypeError(NO_CATEGORIES)
        return self._rules.categories

    @property
    def _names(self) -> Names:
        """What messages call the parameters: of a CSV file there is more to say."""
        called = self._held.called if isinstance(self._held, Columns) else None
        return called or self._rules.names
