"""The share of people in each category, if everyone has their own budget."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, ClassVar, Self, get_args

import numpy as np

from epsilons import door, listed, parameters, words
from epsilons.budgets.allocation import FREQUENCY_RULES
from epsilons.draws.mechanisms import CellSums, CellTable, build_histogram
from epsilons.errors import ArgumentError
from epsilons.questions.question import Answer, Call, Question, Sentences, Steps
from epsilons.questions.steps import grouping, ways
from epsilons.questions.steps.designs import (
    CELL_METHODS,
    Design,
    cell_design,
    cells_of,
    parts_of,
)
from epsilons.questions.steps.ways import Read
from epsilons.results.release import Cells
from epsilons.risk.cells import project as projected
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import CellsGoal, claimed
from epsilons.risk.margins import CellsMargin, RatioCells
from epsilons.risk.means.lorenz import LorenzCells
from epsilons.risk.shares import TotalledCells
from epsilons.types import (
    About,
    Column,
    Edges,
    Floats,
    FrequenciesMethod,
    Label,
    Labels,
    Loss,
    Missing,
)

__all__ = ["Frequencies"]


@dataclass(frozen=True, eq=False)
class Frequencies(Question):
    """The share of people in each category: see `epsilons.frequencies` for the arguments.

    Attributes:
        values: the column of values; the last of several, if a tuple of columns is given.
        categories: the labels of that column, declared without looking at the data; None if `edges`
            are given.
        edges: the edges of bins, if that column has numbers; None if `categories` are given.
        by: the other columns, one or two, if a table of several columns is asked for.
        groups: the labels of these other columns; for two columns, a list for each.
        other: the category for every value that is missing or not declared.
        project: whether shares are projected to the simplex; otherwise they are clipped to [0, 1].
        declared: the checked cells of `values`, computed from these arguments.
        grouping: the checked labels of `by`; None for one column.

    Raises:
        ArgumentError: an argument is invalid.

    Examples:
        >>> import epsilons as ep
        >>> question = ep.Frequencies("minutes", edges=[0, 30, 300])
        >>> asked = {"epsilon": "epsilon", "data": "people.csv", "person": "person"}
        >>> [release] = ep.publish([question], source=ep.Seeded(1), **asked)
        >>> release.value.round(2).tolist()
        [0.63, 0.37]
    """

    statistic: ClassVar[str] = "frequencies"
    KIND: ClassVar[str] = "Frequencies"
    describes: ClassVar[str] = "the share of the people in {file} that is in each category"
    of_shares: ClassVar[bool] = True
    weighable: ClassVar[bool] = True
    every_method: ClassVar[tuple[str, ...]] = get_args(FrequenciesMethod)[1:]

    values: Column | tuple[Column, ...] = field(repr=False)  # it can be an array of people's values
    _: KW_ONLY
    categories: Labels | Sequence[Labels] | None = None
    edges: Edges | None = None
    other: Label | None = None
    project: bool = True
    about: About = "people"
    related: bool | float = True
    loss: Loss = "mse"
    confidence: float = 0.95
    method: FrequenciesMethod = "auto"
    missing: Missing | None = None
    by: Column | None = field(default=None, repr=False)
    groups: Labels | Sequence[Labels] | None = None
    title: str | None = None
    unit: str | None = None
    declared: door.Categories = field(init=False, repr=False)
    grouping: door.Grouping | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        parameters.flag("project", self.project)
        if self.missing is not None:
            door.refuse_midpoint(self.missing)
        if listed.several(self.categories):
            self._split()
        self._set("declared", door.declare(self.categories, self.edges, self.other))
        self._set("grouping", grouping.declared_groups(self.by, self.groups))
        if self.grouping is not None and min(len(e.labels) for e in self.grouping.declared) < 2:
            raise ArgumentError("groups: declare at least two labels for each column of a table.")
        if self.grouping is not None and self.other is not None:
            raise ArgumentError(
                "other is for one column: in a table of several, give missing values a label "
                'first, such as "unknown", and declare it with the categories of their column.'
            )
        if self.categories is not None:
            self._set("categories", self.declared.labels[: len(self.declared.declared)])
        else:
            self._set("edges", listed.bins(self.edges))
        if self.unit is not None and self.declared.kind in ("text", "booleans"):
            raise ArgumentError(
                "unit is for numbers: categories of text or truth values have none. Leave it "
                "out, or declare edges=[…] or integers."
            )

    def _split(self) -> None:
        """Read a tuple of columns, with categories for each, as `values` and `by`.

        Raises:
            ArgumentError: the numbers of columns and of lists differ, or `by` is given as well.
        """
        lists: Any = self.categories
        columns = self.values
        if not isinstance(columns, tuple) or len(columns) != len(lists) or len(columns) > 3:
            raise ArgumentError(
                "categories has several lists, one for each of two or three columns: give as many "
                'columns as a tuple, values=("…", "…"), categories=([…], […]).'
            )
        if self.by is not None or self.edges is not None:
            raise ArgumentError(
                "values is a tuple of columns, so by and edges are not accepted: give one column "
                "of values, and the others as by=… with groups=[…]."
            )
        *by, last = columns
        *groups, own = lists
        self._set("values", last)
        self._set("categories", own)
        self._set("by", by[0] if len(by) == 1 else by)
        self._set("groups", groups[0] if len(by) == 1 else groups)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels of the cells; tuples for a table of several columns."""
        if self.grouping is None:
            return self.declared.labels
        every = (*self.grouping.declared, self.declared)
        return tuple(product(*(each.labels for each in every)))

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that the question uses."""
        return {"values": self.values, **grouping.columns_of(self.grouping, None)}

    @property
    def subject(self) -> Any:
        """The names of all columns on one line, or the values themselves if they are arrays."""
        every = (*(() if self.grouping is None else self.grouping.by), self.values)
        return " × ".join(every) if all(isinstance(each, str) for each in every) else self.values

    def of_columns(self, columns: dict[str, Any]) -> Self:
        """Return the same question about other columns."""
        return replace(self, values=columns["values"], **grouping.as_given(columns))

    @property
    def goal(self) -> CellsGoal:
        """The assumption, and the error to minimize."""
        size = 1 if self.grouping is None else self.grouping.size
        cells = size * len(self.declared.labels)
        return CellsGoal(self.assumption, self.loss, self.confidence, cells)

    def methods(self, neighbours: str) -> Collection[str]:
        """Return the names that `method` can have besides "auto"."""
        return FREQUENCY_RULES if neighbours == "replace" else CELL_METHODS

    def policy(self, neighbours: str) -> str:  # noqa: ARG002
        """Return how missing values are treated if there is no `other` category."""
        return self.missing or "error"

    @property
    def refuses(self) -> str:
        """The values that are rejected under replace, in words; "" if there is `other`."""
        if self.other is not None:
            return ""
        if self.grouping is not None:
            return "missing and undeclared values"
        return 'missing and undeclared values, which other="…" would take'

    def look(self, call: Call) -> door.Look:
        """Count rows that need the curator's attention, such as undeclared labels.

        No row is rejected.
        """
        return door.look(self.values, **call.given, categories=self.declared, lowest=call.lowest)

    def looks_beside(self, call: Call) -> dict[str, door.Look]:
        """Count rows of the columns of `by` that need the curator's attention; reject no row."""
        return grouping.looks(self.columns, self.grouping, None, call)

    def open(self, call: Call) -> door.Rows:
        """Check the arguments and return the rows, with values of the categories' type."""
        return door.open(
            self.values,
            **call.given,
            categories=self.declared,
            ladder=call.ladder,
            groups=self.grouping,
            weights=call.weights,
        )

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return what to count: the people in each declared cell."""
        return door.Ask("cells")

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Return the generator of the draw: a weighted count of each cell, all in one draw."""
        counted, goal = self.counted(rows, call), self.goal
        categories = counted.categories

        def read(mechanism: CellTable, drawn: Any) -> Read:
            margin = LorenzCells(mechanism.weighing, mechanism.slack, goal.cells)
            estimate = self._estimate(mechanism.estimates(drawn), categories, margin, call)
            weighing = mechanism.weighing
            return Read(estimate, claimed(weighing, goal), exact=True, weighing=weighing)

        def read_ratio(chosen: Design[CellSums], counts: LevelCount | None, drawn: Any) -> Read:
            margin = self._ratio(chosen, counts, drawn)
            total = margin.total
            raw = margin.drawn / total if total > 0.0 else np.full(goal.cells, 1.0 / goal.cells)
            estimate = self._estimate(raw, categories, margin, call)
            risk = margin.leading(goal, estimate.value)
            return Read(estimate, risk, total=total, weighing=chosen.weighing)

        if call.neighbours == "replace":
            build = partial(build_histogram, unit=counted.unit)
            return ways.replace(counted, goal, self.method, build, read)
        if self.method == "total":
            counted = counted.with_total(*parts_of(goal.cells))
        choose = partial(cell_design, goal=goal, method=self.method, unit=counted.unit)
        return ways.add_remove(counted, call.terms, goal, choose, read_ratio)

    def _estimate(self, raw: Floats, categories: Any, margin: CellsMargin, call: Call) -> Cells:
        by = () if self.grouping is None else (*self.grouping.by, self.values)
        return Cells(
            value=self.shown(raw),
            raw=raw,
            categories=categories,
            margin=margin,
            other=self.other,
            columns=tuple(map(call.name_of, by)),
        )

    def _ratio(self, chosen: Design[CellSums], counts: LevelCount | None, drawn: Any) -> RatioCells:
        """Return the margin of noisy counts.

        If the method is "total", the last cell counts everyone.
        """
        known = cells_of(chosen, drawn, counts)
        if chosen.method != "total":
            return RatioCells(**known)
        own, shared = parts_of(self.goal.cells)
        part, rest = own / (own + shared), shared / (own + shared)
        every, scale = known.pop("drawn"), known.pop("scale")
        return TotalledCells(
            drawn=every[:-1] / part,
            scale=scale / part,
            whole=float(every[-1] / rest),
            whole_scale=scale / rest,
            **known,
        )

    def shown(self, raw: Floats) -> Floats:
        """Return the published shares: the drawn shares, projected or clipped."""
        return projected(raw) if self.project else np.clip(raw, 0.0, 1.0)

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """Return the sentences in which the release says what it protects and assumes."""
        return Sentences(
            words.PROTECTED[neighbours],
            words.assumed(
                "the share of each category among",
                neighbours,
                self.assumption,
                values="categories",
                differ="The share of any category differs from budget to budget by at most {} of "
                "all people",
            ),
            words.uncounted(self.other, neighbours),
        )
