"""What every release has: a value, who spent what, and the words."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from epsilons import report, words
from epsilons.budgets import Floats, Integers
from epsilons.report import Data
from epsilons.risk import Weighing

if TYPE_CHECKING:
    import altair


class Spent(NamedTuple):
    """What the people of one level gave, and what they kept; how many, if that is public."""

    epsilon: float
    people: int | None
    spent: float
    kept: float

    @classmethod
    def rows(cls, levels: Floats, counts: Integers, spent: Floats) -> tuple[Spent, ...]:
        """One row for each level, strictest first."""
        columns = zip(levels.tolist(), counts.tolist(), spent.tolist(), strict=True)
        return tuple(cls(level, people, gave, left(level, gave)) for level, people, gave in columns)


def left(level: float, spent: float) -> float:
    """What is left of a budget; what rounding down to integers leaves is nothing to speak of."""
    return level - spent if spent < level * _NEARLY else 0.0


_NEARLY = 1.0 - 2.0**-30


class Mechanism(Protocol):
    """What a mechanism for public budgets offers: all that a checker and intervals read."""

    @property
    def levels(self) -> Floats:
        """The budgets ε."""

    @property
    def counts(self) -> Integers:
        """How many people have each."""

    @property
    def weights(self) -> Integers:
        """The integer weight of a person of each level."""

    @property
    def reach(self) -> int:
        """How far one person's integer can move."""

    @property
    def grid(self) -> int:
        """The divisor of the sum."""

    @property
    def law(self) -> Any:
        """The law of the noise."""

    @property
    def keep(self) -> tuple[Fraction, ...] | None:
        """The probability of being used, level by level; None if everyone surely is."""

    @property
    def moves(self) -> int:
        """In how many sums a person can move by their reach."""

    @property
    def draw(self) -> Callable[..., Any]:
        """Draw lattice points around those of the data; with none given, the noise alone."""

    @property
    def weighing(self) -> Weighing:
        """The estimator on a unit range."""

    @property
    def slack(self) -> float:
        """What integers may add to an error on a unit range."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """A published statistic. It holds no data: only what was drawn, and public facts.

    Attributes:
        statistic: what was estimated.
        value: the estimate, within the bounds or on the simplex; an array in the order of the
            categories for frequencies.
        raw: the estimate as it was drawn.
        n: the number of people, public under replace; under add/remove noisy, or None.
        method: the rule that chose who spends what.
        neighbours: what counts as a change of one person.
        assume: what was assumed of the data, in a word.
        loss: which error was made small.
        confidence: of the interval that is printed.
        risk: worst-case mean squared error of `raw` in squared data units, or for loss "pac" the
            error not exceeded with probability `confidence`, in data units (for frequencies, of the
            worst category). It bounds the error of a mean's `value`, too.
        exact: whether `risk` is the exact worst case, or a proven bound on it.
        spent: for each level, strictest first: ε, people, what each of them spent and kept. Under
            add/remove a rule from ε to what was spent, with such rows for the public levels.
        protects: what is protected, in words.
        assumes: what was assumed, in words.
        missing: what a missing value got: "error" if it was refused, or "midpoint".
        private: False if it was drawn from a seed.
        mechanism: the frozen object it was drawn from, without data; `epsilons.verify.exact`
            reads it.
    """

    statistic: str
    value: Any
    raw: Any
    n: float | None
    method: str
    neighbours: str
    assume: str
    loss: str
    confidence: float
    risk: float
    exact: bool
    spent: Iterable[Spent]
    protects: str
    assumes: str
    private: bool
    mechanism: Any = field(repr=False)
    missing: str = "error"

    @abstractmethod
    def interval(self, confidence: float = 0.95) -> tuple[Any, Any]:
        """A range that holds the truth with at least this probability.

        It comes from budgets and public facts alone, never from the spread of the data.
        """

    @property
    @abstractmethod
    def error_if_related(self) -> float:
        """The error not exceeded with `confidence` if budgets and values are related.

        It speaks of these very people, whatever else was assumed.
        """

    def plot(self) -> altair.TopLevelMixin:
        """A picture: the estimate with its interval, and who spent what.

        Raises:
            MissingExtraError: the extra `report` is not installed.
        """
        return report.plot(self._data)

    @property
    def risk_kind(self) -> str:
        """What `risk` is: the exact worst case, or a proven bound on it."""
        return "worst case over all data" if self.exact else "proven bound over all data"

    @property
    def treats(self) -> str:
        """What became of values that do not fit, in words: of the call, never of the data."""
        return ""

    @property
    def warnings(self) -> list[str]:
        """What a reader must not overlook, from public facts alone: budgets that are very large."""
        return report.weak_budgets(row.epsilon for row in self.spent)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        return {
            "statistic": self.statistic,
            "confidence": self.confidence,
            "n": self.n,
            "n_is_noisy": isinstance(self.n, float),
            "method": self.method,
            "neighbours": self.neighbours,
            "neighbours_are": words.neighbours_are(self.neighbours),
            "assume": self.assume,
            "loss": self.loss,
            "risk": self.risk,
            "risk_is_exact": self.exact,
            "risk_kind": self.risk_kind,
            "error_if_related": self.error_if_related,
            "spent": [row._asdict() for row in self.spent],
            "protects": self.protects,
            "assumes": self.assumes,
            "treats": self.treats,
            "warnings": self.warnings,
            "private": self.private,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON, in which ∞ is written as "inf"."""
        return report.to_json(self.to_dict())

    @property
    def _data(self) -> Data:
        return cast(Data, self.to_dict())

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write the release as an HTML page that stands alone.

        Args:
            path: of the file; one that is there is replaced.

        Returns:
            The path.

        Raises:
            MissingExtraError: the extra `report` is not installed.
            FileError: the file cannot be written.
        """
        return report.write_page(path, report.page(self._data))

    def __str__(self) -> str:
        return report.text(self._data)

    def _repr_html_(self) -> str:
        return report.html(self._data)
