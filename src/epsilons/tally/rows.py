"""The rows of the user: opened and checked once, and then counted as often as a release asks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from epsilons.errors import ArgumentError
from epsilons.ladder import Ladder
from epsilons.parameters import choice
from epsilons.tally import (
    arrays,
    cells_engine,
    cells_numpy,
    columns,
    line_engine,
    line_numpy,
    pairs,
    pairs_engine,
    sums_engine,
    sums_numpy,
)
from epsilons.tally.arrays import Arrays
from epsilons.tally.categories import Categories, Kind, refuse_midpoint
from epsilons.tally.cells import (
    LARGEST_TABLE,
    SHARES,
    CellTally,
    cells_on_rungs,
    checked_cells,
)
from epsilons.tally.cells_numpy import CellArrays
from epsilons.tally.columns import Columns
from epsilons.tally.everyone import NO_CATEGORIES, NO_NUMBERS, Everyone
from epsilons.tally.frames import Asked, asked, is_in_memory
from epsilons.tally.grid import Rule
from epsilons.tally.levels import Names, SumGroups, Tally, checked, on_rungs
from epsilons.tally.line import Line, Window, checked_line, line_on_rungs
from epsilons.tally.line_numpy import Folded
from epsilons.types import Integers

__all__ = ["SMALL", "Everyone", "Rows", "open"]

Held: TypeAlias = Arrays | CellArrays | Columns
"""Where rows are: in arrays that NumPy counts, or with an engine."""

SMALL = 10**5
"""Rows of arrays up to which NumPy is faster than starting an engine."""


def open(
    values: Any,
    *,
    epsilon: Any,
    data: Any = None,
    person: Any = None,
    missing: str = "error",
    categories: Categories | None = None,
    ladder: Ladder | None = None,
    apart: str | None = None,
    beside: Any = None,
) -> Rows:
    """Check the arguments, the schema and the entries of arrays, and be ready to count.

    Args:
        values: one value for each row, or the name of a column of `data`: a number, or, with
            categories, of their kind. Of numbers, null, NaN and infinities are missing.
        epsilon: one budget for each row, one number for everyone, or the name of a column.
        data: a frame that Narwhals reads, or the path of a Parquet or CSV file: see `source`.
        person: who each row belongs to, or the name of a column; None if a row is a person.
        missing: "error" refuses missing values, "midpoint" puts them in the middle of the range;
            a category has no midpoint.
        categories: what `declare` made of categories or edges; None for numbers.
        ladder: a public ladder of budgets, if budgets and the number of people are private. Then
            no data is refused: a missing number is in the middle, a value that is in no category is
            in no cell, of two budgets the smaller counts, and whoever has none is left out.
        apart: the method that draws for each person, by name, and so needs everyone apart, in
            memory (`Rows.each`); None if sums are enough.
        beside: a second number for each row, or the name of a column, for `Rows.pairs`; None if one
            column is counted.

    Raises:
        ArgumentError: the arguments do not fit together (`ColumnError`: a column is not there or
            not of its type; `BudgetError`: one number cannot be the budget of everyone).
        DataError: an entry of arrays cannot be used.
        FileError: `data` is a path, and the file cannot be read.
    """
    choice("missing", missing)
    if categories is not None:
        _check_cells(categories, person, missing, ladder, apart)
    given = asked(values, epsilon, data, person, beside)
    unit = 1 if person is None else SHARES
    rules = _Rules(given.names, missing, unit, categories, ladder)
    if categories is not None:
        return Rows(_of_categories(given, categories, ladder, apart), rules)
    if given.data is not None and apart is None:
        return Rows(_read(given, ladder=ladder), rules)
    numbers = _in_memory(given, missing, ladder, apart)
    small = numbers.values.size <= SMALL
    return Rows(numbers if small else columns.of_arrays(numbers), rules, numbers)


@dataclass(frozen=True, eq=False)
class _Rules:
    """How rows are counted, whoever holds them.

    Attributes:
        names: what messages call the parameters.
        missing: what is done with missing values.
        unit: what one person adds to cells.
        categories: what was declared; None for numbers.
        ladder: the public ladder, if budgets are private.
    """

    names: Names
    missing: str
    unit: int
    categories: Categories | None
    ladder: Ladder | None


class Rows:
    """The rows of the user, opened and checked once: each question is one pass over them.

    Args:
        held: where they are.
        rules: how they are counted.
        numbers: the same rows as arrays, if they are numbers in memory.
    """

    def __init__(self, held: Held, rules: _Rules, numbers: Arrays | None = None) -> None:
        self._held = held
        self._rules = rules
        self._numbers = numbers

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
        groups = self._added_up(bounds, rule, 1)
        ladder = self._rules.ladder
        if ladder is None:
            return checked(groups, self._names, self._rules.missing)
        return on_rungs(groups, self._names, ladder.levels)

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
        groups = self._added_up(bounds, rule, 2)
        return checked(groups, self._names, self._rules.missing)

    def thirds(self, bounds: tuple[float, float]) -> CellTally:
        """Divide everyone's unit among x², 2x(1 − x) and (1 − x)², by budget level, in one pass.

        Args:
            bounds: as in `sums`.

        Returns:
            Three cells for each level, in points of the grid: a person adds GRID exactly.

        Raises:
            EpsilonsError: as `sums`.
        """
        groups = self._added_up(bounds, None, 2)
        return self._soft(groups, pairs.of_moments(groups))

    def pairs(self, bounds: tuple[float, float], beside: tuple[float, float]) -> CellTally:
        """Divide everyone's unit among nine cells, those of `thirds` of both columns, in one pass.

        Args:
            bounds: of the values.
            beside: of the second column.

        Returns:
            Nine cells for each level, in points of the grid, the second column running fastest: a
            person adds GRID exactly.

        Raises:
            TypeError: the rows were opened for one column.
            EpsilonsError: as `sums`.
        """
        match self._held:
            case Arrays():
                groups, parts = sums_numpy.count_pairs(self._held, bounds, beside)
            case Columns():
                groups, parts = pairs_engine.count(self._held, bounds, beside)
            case CellArrays():
                raise TypeError(NO_NUMBERS)
        return self._soft(groups, pairs.nine_cells(groups, parts))

    def _soft(self, groups: SumGroups, cells: Integers) -> CellTally:
        rules = self._rules
        return pairs.on_cells(groups, cells, self._names, rules.missing, rules.ladder)

    def _added_up(self, bounds: tuple[float, float], rule: Rule | None, moments: int) -> SumGroups:
        match self._held:
            case Arrays():
                return sums_numpy.count(self._held, bounds, rule, moments).groups
            case Columns():
                return sums_engine.count(self._held, bounds, rule, moments)
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
        match self._held:
            case CellArrays():
                groups = cells_numpy.count(self._held, declared)
            case Columns():
                groups = cells_engine.count(self._held, declared)
            case Arrays():
                raise TypeError(NO_CATEGORIES)
        if ladder is None:
            return checked_cells(groups, self._names, declared, unit=unit)
        return cells_on_rungs(groups, self._names, declared, ladder.levels, unit=unit)

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
        match self._held:
            case Arrays():
                groups = line_numpy.count(self._people, window)
            case Columns():
                groups = line_engine.count(self._held, window)
            case CellArrays():
                raise TypeError(NO_NUMBERS)
        rules = self._rules
        if rules.ladder is None:
            return checked_line(groups, window, rules.names, rules.missing)
        return line_on_rungs(groups, window, rules.ladder)

    def each(self) -> Everyone:
        """Everyone apart, of rows that were opened for a method that draws for each person."""
        return Everyone(self)

    @cached_property
    def _people(self) -> Folded:
        if self._numbers is None:
            raise TypeError(NO_NUMBERS)
        return line_numpy.fold(self._numbers)

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


def _check_cells(
    categories: Categories, person: object, missing: str, ladder: Ladder | None, apart: str | None
) -> None:
    """Refuse what does not fit categories, before any data are touched.

    Raises:
        ArgumentError: something does not.
    """
    refuse_midpoint(missing)
    if apart is not None and person is not None:
        raise ArgumentError(
            f'person: method "{apart}" for frequencies takes one row per person. '
            "Leave person out, or choose another method."
        )
    # Beside its rungs, data have at most two levels: on no rung, and no budget. So no table that
    # passes here is refused later, whoever is there.
    if ladder is not None and (len(ladder.levels) + 2) * len(categories.labels) > LARGEST_TABLE:
        raise ArgumentError(
            f"categories: {len(categories.labels):,} cells for each of {len(ladder.levels):,} "
            "public budget levels are too many. Declare fewer categories, or a few levels."
        )


def _read(
    given: Asked, kind: Kind = "numbers", ladder: Ladder | None = None, apart: str | None = None
) -> Columns:
    """Check the columns of a frame or a file.

    Raises:
        ArgumentError: someone needs everyone apart, and the frame is lazy, or is a file.
    """
    lazy = apart is not None and not is_in_memory(given.data)
    own = (given.values, given.epsilon, given.data, given.person)
    table = columns.read(*own, kind, ladder, given.beside)
    if lazy:
        raise _not_in_memory(apart)
    return table


def _not_in_memory(apart: str | None) -> ArgumentError:
    return ArgumentError(
        f'method "{apart}" draws for each person and needs data in memory: '
        "give arrays or an eager frame, not a file or a lazy frame."
    )


def _in_memory(given: Asked, missing: str, ladder: Ladder | None, apart: str | None) -> Arrays:
    """Check numbers, and have them as arrays."""
    lenient = missing == "midpoint"
    if given.data is None:
        own = (given.values, given.epsilon, given.person)
        return arrays.read(*own, given.names, ladder, lenient=lenient, beside=given.beside)
    if ladder is not None and not is_in_memory(given.data):
        raise _not_in_memory(apart)
    # Budgets are put on the ladder after that, as those of arrays are.
    table = _read(given, apart=apart)
    return columns.as_arrays(table, given.names, ladder, lenient=lenient)


def _of_categories(
    given: Asked, declared: Categories, ladder: Ladder | None, apart: str | None
) -> CellArrays | Columns:
    """Check values of categories: as a table for an engine, or as arrays where NumPy counts them.

    NumPy counts small data, and columns whose entries have to be looked at one by one.
    """
    if given.data is not None:
        return _read(given, declared.kind, ladder, apart)
    own = (given.values, given.epsilon, given.person)
    if arrays.length(given.values, given.names.values) > SMALL:
        table = columns.of_values(*own, declared.kind, given.names, ladder)
        if table is not None:
            return table
    return cells_numpy.read(*own, declared, given.names, ladder)
