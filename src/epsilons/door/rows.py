"""The user's rows. They are opened and checked once, then counted as often as a release needs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from epsilons.budgets.levels import Classes, Ladder
from epsilons.door.count import line as line_numpy
from epsilons.door.count.asks import (
    Ask,
    Counted,
    Faults,
    Names,
    Rules,
    check_people,
    check_size,
    checked,
    levels_of,
    on_rungs,
    summed,
)
from epsilons.door.count.line import (
    Folded,
    Line,
    LineGroups,
    Lines,
    Window,
    checked_line,
    coarse,
    line_on_rungs,
)
from epsilons.door.count.tallies import GRID, HALF, Tally, sound, squares
from epsilons.door.count.units import LARGEST_TABLE, SHARES, check_table, cut, number_cells
from epsilons.door.count.weights import Weights
from epsilons.door.engines.running import UNUSABLE, guarded
from epsilons.door.given import arrays, column, columns, weighing
from epsilons.door.given.arrays import FAMILY, Arrays, CellArrays, check_declared
from epsilons.door.given.categories import Categories, Grouping, LabelKind, refuse_midpoint
from epsilons.door.given.columns import Columns, Mark
from epsilons.door.given.frames import AskedRows, asked, asked as named
from epsilons.door.given.menus import Chosen
from epsilons.errors import ArgumentError, DataError, EpsilonsError
from epsilons.loading import later
from epsilons.parameters import MISSING, choice
from epsilons.types import Floats, Integers

if TYPE_CHECKING:
    import narwhals as nw
    import numpy.typing as npt
    import polars as pl

    from epsilons.door.engines import (
        count_engine,
        labels_engine,
        line_engine,
        plan,
        weights_engine,
    )
else:
    count_engine = later("epsilons.door.engines.count_engine")
    labels_engine = later("epsilons.door.engines.labels_engine")
    line_engine = later("epsilons.door.engines.line_engine")
    plan = later("epsilons.door.engines.plan")
    weights_engine = later("epsilons.door.engines.weights_engine")

__all__ = [
    "ONLY_SHARES",
    "SMALL",
    "WIDEST",
    "Absent",
    "AbsentRows",
    "Held",
    "Rows",
    "of_arrays",
    "of_values",
    "open",
    "scan",
]


# All counting starts here. One of three backends counts the rows for a question. NumPy counts
# arrays. Engines count tables, either by expressions that give the same integers on all engines, or
# by SQL where an engine is faster with it.
#
# Several questions about the same table share a scan if every row is its own person and one of two
# conditions holds: the labels of all questions together have few combinations, or one of the
# questions has all of these labels. Otherwise the shared scan would have too many groups, because
# each combination of labels is a group. All other questions have a scan of their own.

MOST_CELLS: Final = 128
"""The largest number of combinations of labels in one scan, unless one question has all labels."""


def scan(asked: Sequence[tuple[Rows, Ask]]) -> None:
    """Count rows for several questions in shared scans where possible, and store the counts.

    Checks and refusals are left to `Rows.count`.

    Args:
        asked: pairs of a question and the rows that were opened for it.

    Raises:
        FileError: the file cannot be read to its end.
        DataError: the engine failed.
    """
    for bundle in _bundles([pair for pair in asked if _may_share(pair[0])]):
        if len(bundle) > 1:
            for (rows, ask), found in zip(bundle, _together(bundle), strict=True):
                rows.keep(ask, found)


def _together(bundle: Sequence[tuple[Rows, Ask]]) -> list[Counted]:
    """Open the table again with the columns of all questions, and count its rows in one query."""
    first = bundle[0][0].rules
    pairs = list(dict.fromkeys(pair for rows, _ in bundle for pair in rows.rules.columns))
    (values, kind), *others = pairs
    further = {f"column {i}": column for i, (column, _) in enumerate(others)}
    weights = first.weights
    if weights is not None:
        further["weights"] = weights.column
        others = [*others, (weights.column, "numbers")]
    given = named(values, first.epsilon, first.source, None, further)
    marks = [
        Mark(name, column, own)
        for (name, column), (_, own) in zip(given.marks.items(), others, strict=True)
    ]
    table = columns.read(given.values, given.epsilon, given.data, None, kind, first.ladder, marks)
    if weights is not None:
        table = weights_engine.marked(table, weights)
    own = Mark("values", table.values, kind, table.spelling)
    held = dict(zip(pairs, [own, *table.marks], strict=True))

    def wanted(ask: Ask, rules: Rules) -> plan.Wanted:
        labels = tuple((held[column, each.kind], each) for column, each in rules.labelled)
        values = labels[-1][0] if rules.categories is not None else held[rules.values, "numbers"]
        beside = None if rules.beside is None else held[rules.beside, "numbers"]
        where = None if rules.where is None else held[rules.where, "booleans"]
        return plan.Wanted(ask, rules, values, labels, beside, where)

    return count_engine.count([wanted(ask, rows.rules) for rows, ask in bundle], table)


def _may_share(rows: Rows) -> bool:
    """Whether these rows are a table on an engine, and every row is its own person."""
    held = rows.held
    return isinstance(held, Columns) and held.person is None and rows.rules.source is not None


def _same_table(first: Rules, second: Rules) -> bool:
    same = first.source is second.source
    same = same or (isinstance(first.source, str) and first.source == second.source)
    return (
        same
        and first.ladder is second.ladder
        and first.weights is second.weights
        and type(first.epsilon) is type(second.epsilon)
        and bool(first.epsilon == second.epsilon)
    )


def _bundles(asked: Sequence[tuple[Rows, Ask]]) -> list[list[tuple[Rows, Ask]]]:
    """Group questions that one query can answer, starting with the question with most labels."""
    made: list[tuple[list[tuple[Rows, Ask]], dict[Any, int]]] = []
    ordered = sorted(asked, key=lambda pair: -math.prod(_labels(pair[0].rules).values()))
    for rows, ask in ordered:
        own = _labels(rows.rules)
        for bundle, labels in made:
            joint = {**labels, **own}
            cheap = len(joint) == len(labels) or math.prod(joint.values()) <= MOST_CELLS
            if cheap and _same_table(rows.rules, bundle[0][0].rules):
                bundle.append((rows, ask))
                labels.update(own)
                break
        else:
            made.append(([(rows, ask)], own))
    return [bundle for bundle, _ in made]


def _labels(rules: Rules) -> dict[Any, int]:
    """Return the columns of labels of a question, and their numbers of labels."""
    return {
        (column, declared.kind, declared.breaks.tobytes()): len(declared.labels)
        for column, declared in rules.labelled
    }


# The user's rows. `open` creates them, and a release counts them as often as it needs.


Held: TypeAlias = Arrays | CellArrays | Columns
"""The data structure that holds rows: arrays, which NumPy counts, or a table on an engine."""

ONLY_SHARES: Final = "Rows with groups, where, or missing='exclude' are counted by shares alone."


class Rows:
    """The user's rows, opened and checked once. Each question is one pass over them.

    Args:
        held: the table or arrays that hold the rows.
        rules: how rows are counted.
    """

    def __init__(self, held: Held, rules: Rules) -> None:
        self.held = held
        self.rules = rules
        self._kept: dict[Ask, Counted] = {}
        self.moved = False
        """Whether `levels.in_range` changed somebody's budget, if budgets are public."""

    def keep(self, ask: Ask, counted: Counted) -> None:
        """Store the counts for a question that was counted in a shared scan."""
        self._kept[ask] = counted

    def count(self, ask: Ask) -> Tally:
        """Divide each person's unit among cells, and add up cells by budget level, in one pass.

        For numbers, a person's value is the mean of their rows on the grid.

        Args:
            ask: the question, which determines the cells.

        Returns:
            One row of cells for each budget level. Budgets that are equal after rounding to 9
            significant bits form a level, and its budget is the smallest of them. With a ladder,
            levels are its rungs.

        Raises:
            TypeError: the rows were not opened for such a question.
            BudgetError: a budget is negative, NaN or null, or all are 0.
            DataError: there are fewer than two people, or too many; a row has no person; a value is
                in no category, the group of a row is not declared, or `where` is neither true nor
                false; somebody is in two public groups (`MissingValueError`: a value is missing;
                `ConflictingBudgetsError`: somebody has two budgets). These errors can depend on
                private data and are for the curator only.
            FileError: the file cannot be read to its end.
        """
        held, rules, ladder = self.held, self.rules, self.rules.ladder
        self._check(ask)
        counted = self._kept.get(ask)
        if counted is None:
            if isinstance(held, Columns):
                [counted] = count_engine.count([plan.wanted(ask, rules, held)], held)
            else:
                counted = arrays.count(held, ask, rules)
        if ladder is None:
            self.moved |= counted.moved
            return sound(checked(counted, rules, ask, self.names))
        found = on_rungs(counted, rules, ask, ladder.levels, self.names)
        return sound(found, whole=ask.what != "cells" or ask.adds)

    def weigh(self) -> None:
        """Read and check the weights of a table, if it has any: see `weights_engine.in_units`."""
        if isinstance(self.held, Columns):
            weights_engine.in_units(self.held)

    def classes(self) -> Classes:
        """Count people by budget level and number of units: see `weights_engine.classes`."""
        if isinstance(self.held, Columns):
            return weights_engine.classes(self.held)
        return arrays.classes(cast(Arrays, self.held))

    def _check(self, ask: Ask) -> None:
        """Refuse a question that these rows were not opened for."""
        rules = self.rules
        if (ask.what == "cells") != (rules.categories is not None):
            raise TypeError("Rows are of numbers, or of the categories that were declared.")
        if ask.apart and rules.ladder is not None:
            raise TypeError("people are counted by group where budgets are public")
        marked = rules.groups is not None or "where" in rules.names.marks
        if marked and ask.what in ("squares", "pairs"):
            raise TypeError(ONLY_SHARES)

    def line(self, window: Window | None = None) -> Line:
        """Count people by budget level and bucket of the float64 line, in one pass.

        A person's value is the midpoint of their smallest and largest value. Unlike a sum of
        floats, it does not depend on the order of rows.

        Args:
            window: the cells to count in; None for the whole line.

        Raises:
            BudgetError: a budget is negative, NaN or null, or everyone's is 0.
            DataError: there are too few people, a value is missing, somebody has two budgets.
            FileError: the file cannot be read to its end.
        """
        self._check_whole()
        if isinstance(self.held, Columns):
            groups = line_engine.count(self.held, window)
        else:
            groups = line_numpy.count(self._people, window)
        rules = self.rules
        if rules.ladder is None:
            self.moved |= groups.moved
            return checked_line(groups, window, rules.names, rules.missing).sound()
        return line_on_rungs(groups, window, rules.ladder).sound()

    def lines(self) -> Lines:
        """Return an object that counts people by level, and adds up weights by bucket."""
        self._check_whole()
        return Lines(self)

    def _check_whole(self) -> None:
        """Refuse a question that would ignore groups, `where`, or missing="exclude"."""
        if self.rules.some:
            raise TypeError(ONLY_SHARES)

    @cached_property
    def _people(self) -> Folded:
        if not isinstance(self.held, Arrays):
            raise TypeError("These rows are of categories.")
        return line_numpy.fold(self.held)

    @property
    def names(self) -> Names:
        """The names of columns in messages; for a CSV file, also which cells count as missing."""
        called = self.held.called if isinstance(self.held, Columns) else None
        return called or self.rules.names


# The user's arrays and series, moved to Polars.


def of_arrays(rows: arrays.Arrays) -> Columns:
    """Move arrays to Polars, without a copy."""
    import narwhals as nw
    import polars as pl

    table = _of_series(pl.Series("values", rows.values), rows.epsilon, rows.person)
    if rows.beside is None:
        return table
    frame = table.frame.with_columns(nw.new_series("beside", rows.beside, backend="polars"))
    second = (Mark("y", "beside", "numbers"),)
    return replace(table, frame=frame, types=frame.collect_schema(), marks=second)


def of_values(
    values: object,
    epsilon: object,
    person: object,
    kind: LabelKind,
    names: Names,
    ladder: Ladder | None = None,
) -> Columns | None:
    """Move arrays of values of any kind to Polars, without a copy where possible.

    Returns:
        The table; None if the type of values is not declared (a list or objects), or Polars does
        not accept them. In that case `arrays.py` reads their entries one by one.

    Raises:
        ArgumentError: an argument is not a single column, or the lengths differ.
        ColumnError: a column has the wrong type.
        BudgetError: `epsilon` is one number that cannot be a budget.
        DataError: a row has no person.
    """
    import polars as pl

    series: pl.Series | None = None
    held, dtype = column.declared(values)
    if held is None or (kind != "bins" and isinstance(values, np.ma.MaskedArray)):
        return None
    if kind == "bins":
        private = ladder is not None
        numbers = arrays.floats(values, names.values, lenient=private, kind="bins", private=private)
        series = pl.Series("values", numbers)
    else:
        if ladder is None or held == "nested":
            check_declared(held, dtype, kind, names.values)
        if held != FAMILY[kind]:
            return None

        def convert() -> pl.Series:
            typed: Any = values
            if isinstance(typed, np.ndarray) and held == "text":  # a list takes half the time
                return pl.Series("values", typed.tolist(), dtype=pl.String)
            return pl.Series("values", typed)

        with contextlib.suppress(EpsilonsError):
            series = guarded((DataError, UNUSABLE), convert)
        if series is None or column.family(series.dtype) != held:
            return None
    budgets, who = arrays.budgets_and_people(epsilon, person, names, len(series), ladder)
    return _of_series(series, budgets, who)


def _of_series(
    values: pl.Series, epsilon: Floats | float, person: npt.NDArray[np.generic] | None
) -> Columns:
    """Return a table with the given columns, which are already checked."""
    import narwhals as nw
    import polars as pl

    series = [values.alias("values")]
    if not isinstance(epsilon, float):
        series.append(pl.Series("epsilon", epsilon))
    if person is not None:
        series.append(pl.Series("person", person))
    frame: nw.LazyFrame[Any] = nw.from_native(pl.LazyFrame(series))
    return Columns(
        frame,
        "values",
        epsilon if isinstance(epsilon, float) else "epsilon",
        None if person is None else "person",
        types=frame.collect_schema(),
        size=len(values),
    )


# People with budgets but without values, for planning: a question can be tried without data.

WIDEST: Final = 0.5
"""The largest possible standard deviation of values, as a fraction of their range."""


@dataclass(frozen=True, eq=False)
class Absent:
    """People with known budgets and no values. `open` accepts them in place of budgets.

    Attributes:
        levels: their budgets.
        counts: the number of people with each budget.
        spread: the distance of all values from the middle of the range, as a fraction of the range:
            half of the people are above the middle, half below. None for the question's default.
        first: the fraction of all people in the first group; None if all groups are equally large.
        middle: the mean of each group, as a fraction of the range.
    """

    levels: Floats
    counts: Integers
    spread: float | None = field(default=None, kw_only=True)
    first: float | None = field(default=None, kw_only=True)
    middle: float = field(default=0.5, kw_only=True)


class AbsentRows(Rows):
    """Rows of `Absent` people. Every question counts the people of each level.

    All categories are equally large. The sizes of groups are set in `Absent`.

    Args:
        people: the people and their budgets.
        rules: how rows would be counted.
    """

    def __init__(self, people: Absent, rules: Rules) -> None:
        super().__init__(cast(Any, None), rules)  # there is no table and no array
        self._absent = people

    @cached_property
    def _standing(self) -> Floats:
        """People's budgets, placed on the ladder if there is one."""
        ladder = self.rules.ladder
        return self._absent.levels if ladder is None else ladder.of(self._absent.levels)

    @cached_property
    def _by_level(self) -> tuple[Floats, Integers]:
        """The levels, and the number of people in each level."""
        levels, place = levels_of(self._standing, self._standing.size)
        people = summed(place, self._absent.counts, levels.size)
        if not self.rules.private:
            check_people(levels, people, Faults(), self.names, GRID)
            return levels, people
        check_size(people, self.names, GRID)
        return levels[levels > 0.0], people[levels > 0.0]

    def count(self, ask: Ask) -> Tally:
        """Return the tally of these people, divided among cells as `Absent` says: see `Rows.count`.

        Raises:
            ArgumentError: the table of levels and cells would be too large.
            EpsilonsError: as for `Rows.count`.
        """
        self._check(ask)
        rules, (levels, people) = self.rules, self._by_level
        labels, unit = rules.labels(ask), rules.unit_of(ask)
        if ask.what == "cells":
            check_table("categories", len(labels), levels.size)
            cells = _evenly(unit * people, len(labels))
        elif ask.what == "numbers" and rules.some:
            cells = self._grouped(len(labels))
        else:
            cells = number_cells(ask.what, people, self._numbers(ask, people), rules)
        apart = self._among(len(labels), people) if ask.apart else None
        return Tally(levels, people, cells, unit, labels, apart, weight=rules.weight)

    def _numbers(self, ask: Ask, people: Integers) -> dict[str, Integers]:
        """Return the sums of numbers: half of the people are above the middle, half below.

        If budgets are private and each person has one number, all numbers are at the upper end of
        the range, where the noise of a ratio has the largest effect. Two columns are uncorrelated.
        """
        off = round((WIDEST if self._absent.spread is None else self._absent.spread) * GRID)
        low, high = HALF - off, HALF + off
        found = {"x": HALF * people, "absent": np.zeros_like(people)}
        if ask.what == "numbers":
            return {"x": GRID * people} if self.rules.private else found
        if ask.what == "squares":
            return {**found, "v": squares(np.array([low]))[0] * people}
        four = cut(np.array([low, low, high, high]), np.array([low, high, low, high]))
        return {**found, **{name: people * int(each.sum()) // 4 for name, each in four.items()}}

    def _grouped(self, groups: int) -> Integers:
        """Return two cells for each group, and an empty last cell if people can be outside."""
        levels, people = self._by_level
        check_table("groups", 2 * groups, levels.size)
        points = self._among(groups, GRID * people)
        above = np.floor(self._absent.middle * points).astype(np.int64)
        cells = np.zeros((len(people), 2 * groups + self.rules.outside), dtype=np.int64)
        cells[:, 0 : 2 * groups : 2] = above
        cells[:, 1 : 2 * groups : 2] = points - above
        return cells

    def _among(self, groups: int, whole: Integers) -> Integers:
        """Divide `whole`, one integer for each level, among groups in proportion to their sizes."""
        if self._absent.first is None or groups == 1:
            return _evenly(whole, groups)
        own = np.floor(self._absent.first * whole).astype(np.int64)
        return np.column_stack([own, _evenly(whole - own, groups - 1)])

    def line(self, window: Window | None = None) -> Line:
        """Return the line with the people of all levels at 0: see `Rows.line`."""
        levels, ladder = self._standing, self.rules.ladder
        none = np.zeros(len(levels), dtype=np.int64)
        groups = LineGroups(
            keys=coarse(levels),
            budgets=levels,
            cells=none.astype(np.float64) if window is None else none,
            people=self._absent.counts,
            faults=Faults(),
        )
        if ladder is None:
            return checked_line(groups, window, self.names, "error")
        return line_on_rungs(groups, window, ladder)


def _evenly(whole: Integers, parts: int) -> Integers:
    """Divide each integer into `parts` parts, with remainders spread as evenly as possible."""
    each, over = np.divmod(whole, parts)
    return np.asarray(each[:, None] + np.diff(np.arange(parts + 1) * over[:, None] // parts))


# All rows are opened here. The arguments, the schema and the entries of arrays are checked once.

SMALL = 10**5
"""The number of rows of arrays up to which NumPy is faster than an engine."""


def open(
    values: Any,
    *,
    epsilon: Any,
    data: Any = None,
    person: Any = None,
    missing: str = "error",
    categories: Categories | None = None,
    ladder: Ladder | None = None,
    groups: Grouping | None = None,
    where: Any = None,
    label: Categories | None = None,
    y: Any = None,
    weights: Weights | None = None,
) -> Rows:
    """Check the arguments, the schema and the entries of arrays, and return rows to count.

    Args:
        values: one value for each row, or the name of a column of `data`: numbers, or values of the
            kind of `categories`. For numbers, null, NaN and infinities are missing.
        epsilon: one budget for each row, one number for everyone, or the name of a column; or the
            words of a menu (see `chosen`), which can then also be the values; or `Absent` people
            without values, in which case no value is read.
        data: a frame that Narwhals supports, or the path of a Parquet or CSV file: see `source`.
        person: an id for each row, or the name of a column; None if every row is its own person.
        missing: "error" refuses missing values, "midpoint" replaces them by the middle of the
            range, "exclude" leaves out rows with missing values or undeclared groups. Categories
            allow only "error".
        categories: the categories from `declare`; None for numbers.
        ladder: a public ladder of budgets, if budgets and the number of people are private. Then
            no data is refused: a missing number is at the middle, a value in no category is in no
            cell, the smaller of two budgets counts, and anyone without a budget is left out.
        groups: the groups of numbers; None for one group that holds everybody. With categories,
            each category of each group is a cell.
        where: for each row whether to select it, or the name of a column of booleans; None to
            select all rows.
        label: the label that selects a row, if `where` is a column of labels: see `declare_label`.
        y: a second number for each row, or the name of a column, for pairs; None if one
            column is counted.
        weights: the weights of people, for numbers and categories of one column under replace; None
            if everyone counts equally.

    Raises:
        ArgumentError: the arguments do not fit together (`ColumnError`: a column does not exist or
            has the wrong type; `BudgetError`: one number cannot be the budget of everyone).
        DataError: an entry of arrays cannot be used.
        FileError: `data` is a path, and the file cannot be read.
    """
    choice("missing", missing, MISSING)
    marked = groups is not None or where is not None
    some = marked or (missing == "exclude" and y is None)
    of_numbers = where is not None or missing == "exclude"
    if (of_numbers and categories is not None) or (marked and y is not None):
        raise TypeError(ONLY_SHARES)
    if categories is not None:
        refuse_midpoint(missing)
        some = False
    if ladder is not None and (categories is not None or groups is not None):
        name, each = ("groups", 2) if categories is None else ("categories", len(categories.labels))
        _check_table(name, each * (1 if groups is None else groups.size), ladder)
    marks = {} if groups is None else groups.columns
    marks = marks if where is None else {**marks, "where": where}
    marks = marks if y is None else {**marks, "y": y}
    marks = marks if weights is None else {**marks, "weights": weights.column}
    unit = 1 if person is None else SHARES
    if isinstance(epsilon, Absent):
        names = Names.of_arrays(marks)
        rules = Rules(names, missing, unit, categories, ladder, groups, some, weights=weights)
        return AbsentRows(epsilon, rules)
    kinds: dict[str, LabelKind] = {"values": "numbers" if categories is None else categories.kind}
    kinds |= {"epsilon": "bins", "where": "booleans", "y": "numbers", "weights": "numbers"}
    kinds |= {} if label is None else {"where": label.kind}
    if groups is not None:
        for parameter, declared in zip(groups.columns, groups.declared, strict=True):
            kinds[parameter] = declared.kind
    private = ladder is not None
    given = asked(values, epsilon, data, person, marks, kinds=kinds, private=private)
    chosen = isinstance(values, Chosen)  # values are the words of budgets: no scan is shared
    rules = Rules(
        given.names,
        missing,
        unit,
        categories,
        ladder,
        groups,
        some,
        # A scan cannot be shared if columns were converted to arrays, or if `where` has labels.
        source=None if given.data is None or label is not None or chosen else data,
        values=values,
        epsilon=epsilon,
        where=where,
        beside=y,
        weights=weights,
    )
    if given.data is not None:
        further = []
        for name, column_ in given.marks.items():
            further.append(Mark(name, column_, kinds[name]))
        table = (given.values, given.epsilon, given.data, given.person)
        held = columns.read(*table, kinds["values"], ladder, further)
        held = held if weights is None else weights_engine.marked(held, weights)
        held = held if label is None else _selected(held, label)
        return Rows(held, _recast(held, rules) if held.recast else rules)
    if categories is not None:
        return Rows(_of_categories(given, categories, rules), rules)
    own = (given.values, given.epsilon, given.person)
    second, lenient = given.marks.get("y"), missing != "error"
    numbers = arrays.read(*own, given.names, ladder, lenient=lenient, y=second)
    if not some and numbers.values.size > SMALL:
        return Rows(weighing.in_table(of_arrays(numbers), weights, given), rules)
    if weights is not None:
        numbers = weighing.in_arrays(numbers, weights, given)
    return Rows(_with_marks(numbers, given, rules, label) if some else numbers, rules)


def _recast(held: Columns, rules: Rules) -> Rules:
    """Respell labels as numbers where text is declared for a column of numbers."""
    categories, groups = rules.categories, rules.groups
    if categories is not None and "values" in held.recast:
        categories = categories.recast
    if groups is not None:
        pairs = zip(groups.columns, groups.declared, strict=True)
        declared = (each.recast if name in held.recast else each for name, each in pairs)
        groups = replace(groups, declared=tuple(declared))
    return replace(rules, categories=categories, groups=groups)


def _check_table(name: str, cells: int, ladder: Ladder) -> None:
    """Refuse a table of levels and cells that would be too large, before any data is read.

    In addition to the rungs, data has at most two levels: people on no rung, and people without a
    budget. So a table that passes this check is never refused later.

    Raises:
        ArgumentError: there are too many cells.
    """
    if (len(ladder.levels) + 2) * cells > LARGEST_TABLE:
        raise ArgumentError(
            f"{name}: {cells:,} cells for each of {len(ladder.levels):,} public budget levels are "
            f"too many. Declare fewer {name}, or a few levels."
        )


def _selected(held: Columns, label: Categories) -> Columns:
    """Replace the labels in the column `where` by Booleans: whether an entry is `label`."""
    import narwhals as nw

    (mark,) = (mark for mark in held.marks if mark.parameter == "where")
    label = label.recast if "where" in held.recast else label
    own = labels_engine.labels_of(label, mark.spelling)
    frame = labels_engine.sorted_out(held.frame, own, label, mark.column, "out")
    frame = frame.with_columns((nw.col("out") == 0).alias(mark.column)).drop("out")
    marks = tuple(replace(each, kind="booleans") if each is mark else each for each in held.marks)
    return replace(held, frame=frame, types=frame.collect_schema(), marks=marks)


def _with_marks(
    numbers: Arrays, given: AskedRows, rules: Rules, label: Categories | None
) -> Arrays:
    """Add the groups of rows, and the rows that `where` selects, after checking them."""
    groups, private = rules.groups, rules.private
    lenient = private or rules.missing == "exclude"
    by = _labels_of(given)
    group = asked_ = None
    if groups is not None:
        group = arrays.groups_of(groups, by, given.names, lenient=lenient, private=private)
    if "where" in given.marks:
        flags = given.marks["where"]
        asked_ = arrays.asked_of(flags, given.names, label, lenient=lenient, private=private)
    for name, mark in (("by", group), ("where", asked_)):
        if mark is not None and mark.size != numbers.values.size:
            raise arrays.other_length(given.names.values, name)
    return replace(numbers, group=group, asked=asked_)


def _labels_of(given: AskedRows) -> dict[str, Any]:
    """Return the columns of groups, by parameter."""
    others = ("where", "weights")
    return {name: column for name, column in given.marks.items() if name not in others}


def _of_categories(given: AskedRows, declared: Categories, rules: Rules) -> CellArrays | Columns:
    """Return values of categories after checks: a table for an engine, or arrays for NumPy.

    NumPy counts small data, several columns, and columns whose entries must be read one by one.
    """
    own, ladder, weights = (given.values, given.epsilon, given.person), rules.ladder, rules.weights
    if rules.groups is None and arrays.length(given.values, given.names.values) > SMALL:
        table = of_values(*own, declared.kind, given.names, ladder)
        if table is not None:
            return weighing.in_table(table, weights, given)
    by = {} if rules.groups is None else _labels_of(given)
    held = arrays.read_labels(*own, declared, given.names, ladder, rules.groups, by)
    return held if weights is None else weighing.in_arrays(held, weights, given)
