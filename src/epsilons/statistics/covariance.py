"""How two columns go together: covariance, slope and correlation, from nine cells of one unit."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Final

from epsilons import parameters, tally, words
from epsilons.allocation import Allocation
from epsilons.errors import ArgumentError, BoundsError
from epsilons.mechanisms import Table, build_histogram
from epsilons.release import Pair
from epsilons.risk.goals import CellsGoal
from epsilons.risk.soft import SoftMoments
from epsilons.statistics import soft_cells
from epsilons.statistics.call import Call
from epsilons.statistics.question import Sentences
from epsilons.statistics.steps import Answer

__all__ = ["Covariance"]

CELLS: Final = 9


@dataclass(frozen=True, eq=False)
class Covariance(soft_cells.SoftQuestion):
    """The covariance of two columns: see `epsilons.covariance` for what each argument means.

    Attributes:
        beside: the second column: an array, or the name of a column of the data.
        bounds: the range (lo, hi) that values of the first column can have.
        beside_bounds: the same of the second.

    Raises:
        ArgumentError: an argument is invalid (BoundsError: bounds are).
    """

    statistic: ClassVar[str] = "covariance"
    KIND: ClassVar[str] = "Covariance"
    describes: ClassVar[str] = "how two columns of {file} are related"
    unplanned: ClassVar[str] = (
        'statistic="covariance" has no plan of its own: its weights are those of nine categories. '
        'Plan with statistic="frequencies", categories=9.'
    )
    beside: Any = field(repr=False)  # it may be an array of what people said
    _: KW_ONLY
    bounds: Any = None
    beside_bounds: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        soft_cells.refuse_other_words(self, "the product of both units")
        if self.beside is None:
            raise ArgumentError("beside is not given: name the second column, or give an array.")
        for name in ("bounds", "beside_bounds"):
            if getattr(self, name) is None:
                raise BoundsError(soft_cells.NO_BOUNDS.format(name))
            self._set(name, parameters.bounds(getattr(self, name), power=4, name=name))

    @classmethod
    def mechanism_for(cls, allocation: Allocation) -> Table:
        """Nine cells of one unit."""
        return build_histogram(allocation, unit=tally.GRID)

    @property
    def goal(self) -> CellsGoal:
        """The errors of all nine cells are to be small."""
        return CellsGoal(self.assumption, self.loss, self.confidence, CELLS)

    def look(self, call: Call) -> tally.Look:
        """Look at the rows of the first column."""
        return tally.look(self.values, **call.given, bounds=self.bounds, lowest=call.lowest)

    def looks_beside(self, call: Call) -> dict[str, tally.Look]:
        """Look at the second column."""
        bounds = self.beside_bounds
        found = tally.look(self.beside, **call.given, bounds=bounds, lowest=call.lowest)
        return {"beside": found}

    @property
    def columns(self) -> dict[str, Any]:
        """Both columns."""
        return {"values": self.values, "beside": self.beside}

    def open(self, call: Call) -> tally.Rows:
        """Open the rows, as two columns of numbers."""
        policy = self.policy(call.neighbours)
        return tally.open(
            self.values, **call.given, missing=policy, ladder=call.ladder, beside=self.beside
        )

    def asks(self, call: Call) -> tally.Ask:  # noqa: ARG002
        """The nine cells of both columns."""
        return tally.Ask("pairs", self.bounds, beside=self.beside_bounds)

    def answered(self, margin: SoftMoments) -> tuple[Pair, float]:
        """The estimate, and its risk in data units."""
        (a, b), (c, d) = self.bounds, self.beside_bounds
        unit = (b - a) * (d - c)
        pair = Pair(
            value=margin.covariance(self.assumption, self.confidence).value * unit,
            raw=margin.shares,
            bounds=self.bounds,
            beside=self.beside_bounds,
            margin=margin,
        )
        return pair, margin.risk(0, 1, self.assumption) * unit * unit

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """What the release says in words."""
        midpoint = self.policy(neighbours) == "midpoint"
        first = words.clipped(self.bounds, midpoint=midpoint)
        second = words.clipped(self.beside_bounds, midpoint=midpoint)
        both = first if first == second else f"{first} In the second column: {second}"
        return self.said(neighbours, both)
