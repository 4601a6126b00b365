"""Covariance, slope and correlation of two columns, from nine noisy weighted sums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, Final

from epsilons import door, parameters, words
from epsilons.errors import ArgumentError
from epsilons.questions.question import Answer, Call, Sentences
from epsilons.questions.steps import soft_cells
from epsilons.questions.steps.ways import Read
from epsilons.results.release.kinds import Pair
from epsilons.risk.goals import CellsGoal
from epsilons.risk.moments.margins import SoftMoments
from epsilons.types import About, Column, Missing, SoftMethod

__all__ = ["Covariance"]

CELLS: Final = 9


@dataclass(frozen=True, eq=False)
class Covariance(soft_cells.SoftQuestion):
    """The covariance of two columns: see `epsilons.covariance` for the arguments.

    Attributes:
        x: the first column: an array, or the name of a column of the data.
        y: the second column: an array, or the name of a column of the data.
        x_bounds: the range (lo, hi) of the first column.
        y_bounds: the range (lo, hi) of the second column.

    Raises:
        ArgumentError: an argument is invalid (BoundsError for bounds).

    Examples:
        >>> import epsilons as ep
        >>> hours, sleep = [3.5, 8.0, 1.0, 6.5] * 500, [8.0, 6.0, 9.0, 7.0] * 500
        >>> question = ep.Covariance(hours, sleep, x_bounds=(0, 12), y_bounds=(0, 12))
        >>> [release] = ep.publish([question], epsilon=1.0, source=ep.Seeded(1))
        >>> round(release.slope.value, 1)
        -0.4
    """

    statistic: ClassVar[str] = "covariance"
    KIND: ClassVar[str] = "Covariance"
    describes: ClassVar[str] = "how two columns of {file} are related"
    truth: ClassVar[str] = "the covariance, the slope and the correlation of"
    moments: ClassVar[str] = "both columns, their squares and their product"
    NOT_TAKEN: ClassVar[Mapping[str, str]] = soft_cells.not_taken(
        statistic, "the product of both units"
    )
    ADVICE: ClassVar[Mapping[str, str]] = {
        "x": "name the first column, or give an array.",
        "y": "name the second column, or give an array.",
    }

    x: Column = field(repr=False)  # not printed: it can be an array of people's values
    y: Column = field(repr=False)
    _: KW_ONLY
    x_bounds: tuple[float, float]
    y_bounds: tuple[float, float]
    about: About = "people"
    related: bool | float = True
    confidence: float = 0.95
    method: SoftMethod = "auto"
    missing: Missing | None = None
    title: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("x", "y"):
            if getattr(self, name) is None:
                raise ArgumentError(f"{name} is None: name a column, or give an array.")
        for name in ("x_bounds", "y_bounds"):
            self._set(name, parameters.bounds(getattr(self, name), power=4, name=name))

    @property
    def goal(self) -> CellsGoal:
        """The error to minimize: the sum of squared errors of all nine cells."""
        return CellsGoal(self.assumption, self.loss, self.confidence, CELLS)

    def look(self, call: Call) -> door.Look:
        """Count rows of the first column that need the curator's attention. No row is rejected."""
        return door.look(self.x, **call.given, bounds=self.x_bounds, lowest=call.lowest)

    def looks_beside(self, call: Call) -> dict[str, door.Look]:
        """Count rows of the second column that need the curator's attention. No row is rejected."""
        found = door.look(self.y, **call.given, bounds=self.y_bounds, lowest=call.lowest)
        return {"y": found}

    @property
    def columns(self) -> dict[str, Any]:
        """The two columns, by the names of their fields."""
        return {"x": self.x, "y": self.y}

    @property
    def subject(self) -> Any:
        """The names of both columns on one line, or the first column if one of them is an array."""
        both = (self.x, self.y)
        return " × ".join(map(str, both)) if all(isinstance(one, str) for one in both) else self.x

    def open(self, call: Call) -> door.Rows:
        """Check the arguments and return the rows, with numbers from both columns."""
        policy = self.policy(call.neighbours)
        return door.open(self.x, **call.given, missing=policy, ladder=call.ladder, y=self.y)

    def asks(self, call: Call) -> door.Ask:  # noqa: ARG002
        """Return the sums to compute: nine cells, from which all moments of both columns follow."""
        return door.Ask("pairs", self.x_bounds, beside=self.y_bounds)

    def answered(self, margin: SoftMoments) -> Read:
        """Return the covariance that follows from the drawn cells, with its risk in data units."""
        (a, b), (c, d) = self.x_bounds, self.y_bounds
        unit = (b - a) * (d - c)
        names = [" ".join(one.split()) for one in (self.x, self.y) if isinstance(one, str)]
        pair = Pair(
            value=margin.covariance(self.assumption, self.confidence).value * unit,
            raw=margin.shares,
            bounds=self.x_bounds,
            beside=self.y_bounds,
            margin=margin,
            columns=tuple(names) if len(names) == 2 else (),
        )
        return Read(pair, margin.risk(0, 1, self.assumption) * unit * unit)

    def sentences(self, answer: Answer, neighbours: str) -> Sentences:  # noqa: ARG002
        """Return the sentences in which the release says what it protects and assumes."""
        midpoint = self.policy(neighbours) == "midpoint"
        second = None if self.y_bounds == self.x_bounds else self.y_bounds
        return self.said(neighbours, words.clipped(self.x_bounds, midpoint=midpoint, second=second))
