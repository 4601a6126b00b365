"""The share of people in each category, if everyone has their own budget."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, get_args

import numpy as np

from epsilons import door, listed, words
from epsilons.budgets.allocation import FREQUENCY_RULES, Allocation
from epsilons.draws.mechanisms import CellSums, CellTable, build_histogram
from epsilons.errors import ArgumentError
from epsilons.questions import ways
from epsilons.questions.designs import CELL_METHODS, Design, Known, cell_design, cells_of, parts_of
from epsilons.questions.question import Answer, Call, Question, Sentences, Steps
from epsilons.questions.ways import Read
from epsilons.results.release import Cells
from epsilons.risk.cells import project as projected
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import CellsGoal
from epsilons.risk.margins import CellsMargin, RatioCells
from epsilons.risk.shares import TotalledCells, WeighedCells
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
        categories: the labels, declared without looking at the data; None if `edges` are given.
        edges: the edges of bins of numbers; None if `categories` are given.
        other: the category for every value that is missing or not declared.
        project: whether shares are projected to the simplex; otherwise they are clipped to [0, 1].
        declared: the checked cells, computed from these arguments.

    Raises:
        ArgumentError: an argument is invalid.
    """

    statistic: ClassVar[str] = "frequencies"
    KIND: ClassVar[str] = "Frequencies"
    describes: ClassVar[str] = "the share of the people in {file} that is in each category"
    of_shares: ClassVar[bool] = True
    every_method: ClassVar[tuple[str, ...]] = get_args(FrequenciesMethod)[1:]

    values: Column = field(repr=False)  # not printed: it can be an array of people's values
    _: KW_ONLY
    categories: Labels | None = None
    edges: Edges | None = None
    other: Label | None = None
    project: bool = True
    about: About = "people"
    related: bool | float = True
    loss: Loss = "mse"
    confidence: float = 0.95
    method: FrequenciesMethod = "auto"
    missing: Missing | None = None
    title: str | None = None
    unit: str | None = None
    declared: door.Categories = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.project, bool):
            raise ArgumentError(f"project={self.project!r} must be True or False.")
        if self.missing is not None:
            door.refuse_midpoint(self.missing)
        self._set("declared", door.declare(self.categories, self.edges, self.other))
        if self.categories is not None:
            self._set("categories", self.declared.labels[: len(self.declared.declared)])
        else:
            self._set("edges", listed.bins(self.edges))
        if self.unit is not None and self.declared.kind in ("text", "booleans"):
            raise ArgumentError(
                "unit is for numbers: categories of text or truth values have none. Leave it "
                "out, or declare edges=[…] or integers."
            )

    @property
    def goal(self) -> CellsGoal:
        """The assumption, and the error to minimize."""
        return CellsGoal(self.assumption, self.loss, self.confidence, len(self.declared.labels))

    def methods(self, neighbours: str) -> Collection[str]:
        """Return the names that `method` can have besides "auto"."""
        return FREQUENCY_RULES if neighbours == "replace" else CELL_METHODS

    def policy(self, neighbours: str) -> str:  # noqa: ARG002
        """Return how missing values are treated without `other`; categories have no midpoint."""
        return self.missing or "error"

    @property
    def refuses(self) -> str:
        """The values that are rejected under replace, in words; "" if there is `other`."""
        if self.other is not None:
            return ""
        return 'missing and undeclared values, which other="…" would take'

    def look(self, call: Call) -> door.Look:
        """Inspect the rows as values of the type of the categories."""
        return door.look(self.values, **call.given, categories=self.declared, lowest=call.lowest)

    def open(self, call: Call) -> door.Rows:
        """Open the rows as values of the type of the categories."""
        return door.open(
            self.values,
            **call.given,
            categories=self.declared,
            ladder=call.ladder,
        )

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return the quantities to count: the declared cells."""
        return door.Ask("cells")

    def steps(self, rows: door.Rows, call: Call) -> Steps:
        """Yield one weighted count of each cell, under replace or add/remove."""
        counted, goal = self.counted(rows, call), self.goal
        categories = counted.categories

        def build(allocation: Allocation) -> CellTable:
            return build_histogram(allocation, unit=counted.unit)

        def read(mechanism: CellTable, drawn: Any) -> Read:
            margin = WeighedCells(mechanism.weighing, mechanism.slack, goal.cells)
            estimate = self._estimate(mechanism.estimates(drawn), categories, margin)
            weighing = mechanism.weighing
            return Read(estimate, goal.risk(weighing), exact=True, weighing=weighing)

        def choose(known: Known) -> Design[CellSums]:
            return cell_design(known, goal, self.method, unit=counted.unit)

        def read_open(chosen: Design[CellSums], counts: LevelCount | None, drawn: Any) -> Read:
            margin = self._ratio(chosen, counts, drawn)
            total = margin.total
            raw = margin.drawn / total if total > 0.0 else np.full(goal.cells, 1.0 / goal.cells)
            estimate = self._estimate(raw, categories, margin)
            risk = margin.leading(goal, estimate.value)
            return Read(estimate, risk, total=total, weighing=chosen.weighing)

        if call.neighbours == "replace":
            return ways.replace(counted, goal, self.method, build, read)
        if self.method == "total":
            counted = counted.with_total(*parts_of(goal.cells))
        return ways.add_remove(counted, call.terms, goal, choose, read_open)

    def _estimate(self, raw: Floats, categories: Any, margin: CellsMargin) -> Cells:
        value = self.shown(raw)
        return Cells(value=value, raw=raw, categories=categories, margin=margin, other=self.other)

    def _ratio(self, chosen: Design[CellSums], counts: LevelCount | None, drawn: Any) -> RatioCells:
        """Return the margin of noisy counts; for "total", the last cell counts everyone."""
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
        """Return the sentences of the release."""
        return Sentences(
            words.protected(neighbours),
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
