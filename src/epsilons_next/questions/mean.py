"""The mean of a column of numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from epsilons_next.checks import column
from epsilons_next.data.split import Number, Split
from epsilons_next.inference.estimand import Estimand
from epsilons_next.inference.rows import Reading, Within
from epsilons_next.questions.question import Question, ranged
from epsilons_next.questions.requests import Reader, Steps

__all__ = ["Mean"]

Floats = NDArray[np.float64]

APART: Final = ((1, 0), (0, 1))
"""Of the parts x and 1 − x: both."""

SQUARES: Final = ((1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 1))
"""Of the parts of (x, x): x², 2x(1 − x) and (1 − x)²."""

MOMENTS: Final = ((4, 2, 2, 0), (1, -1, -1, 1))
"""Of the same, over everybody: 4x and 4(x − ½)². The second costs nothing (THEORY 4)."""


@dataclass(frozen=True, eq=False)
class Mean(Question):
    """The mean of a column of numbers. Values outside the bounds count as the nearest bound.

    Args:
        column: the column.
        bounds: the possible values, known without looking at these people.
        by: columns of groups with their labels: a number for each combination.
        other: the name of every entry that is not declared; without it, they are refused.
        where: columns with the entries that are asked about; all must hold.
        at_least: only people who allowed so much ε are asked, and nothing is said of the others.
        missing: whether a row without an entry is an "error", or the person is left out
            ("exclude").
        about: these very "people", or the "population" that they were drawn from at random.
        assume: how limits and answers may be related: in any way (None), `Within(6)`, "unrelated".
        title: what is measured, in words.
        unit: of the numbers.

    Raises:
        ArgumentError: words are not known, or make no sense together.
        BoundsError: the bounds are no range.
    """

    column: str
    bounds: tuple[float, float]

    statistic: ClassVar = "mean"
    noun: ClassVar = "Mean"
    needs: ClassVar = {
        "bounds": "Mean: bounds=(0, 120), please: the possible values, known without looking at "
        "these people."
    }
    method: ClassVar = {
        True: "weighted mean with Laplace noise, weights capped (HPM, Algorithm 2 of the paper "
        "on correlated data and demands; the cap is the one with the narrowest interval)",
        False: "transformed noise, Kulesza et al., Algorithm 3",
    }

    def check(self) -> None:
        """Refuse what could not be asked, whatever the data."""
        column("column", self.column)
        ranged(self.column, self.bounds)
        super().check()

    @property
    def measures(self) -> str:
        """The column that is averaged."""
        return self.column

    def cut(self, *, added: bool) -> str:
        """Say what became of values outside the bounds."""
        low, high = self._ends
        what = "a person's sum" if added else "values"
        return f"{what} outside {low} to {high}{self._unit} counted as {low} or {high}"

    @property
    def span(self) -> str:
        """Say between which numbers anybody can be."""
        return f", from {' to '.join(self._ends)}{self._unit}"

    @property
    def _ends(self) -> tuple[str, str]:
        return f"{self._number.low:,.12g}", f"{self._number.high:,.12g}"

    @property
    def _unit(self) -> str:
        return f" {self.unit}" if self.unit else ""

    @cached_property
    def _number(self) -> Number:
        return ranged(self.column, self.bounds)

    def scaled(self, reading: Reading) -> Reading:
        """Return a reading whose assumption is in parts of the range."""
        if not isinstance(reading.assume, Within):
            return reading
        width = self._number.high - self._number.low
        return replace(reading, assume=Within(reading.assume.apart / width))

    def steps(self, *, public: bool) -> Steps[Reader]:
        """Ask for numbers; where chance matters, also for their squares, which say how much."""
        x = self._number
        squares = public and self.reading.chance
        split = self.split(x, x) if squares else self.split(x)
        everybody = public and split.size == 1 and not split.outside
        if not squares:
            return self.measured(split, APART, self._estimand(split, 2, everybody))
        if everybody:
            return self.measured(split, MOMENTS, self._moments(split))
        return self.measured(split, SQUARES, self._estimand(split, 3, everybody))

    def _estimand(self, split: Split, kinds: int, everybody: bool) -> Estimand:
        """The means of x, of what is drawn of x and 1 − x, or of the parts of (x, x)."""
        part = np.linspace(1.0, 0.0, kinds)

        def sums(drawn: Floats) -> Floats:
            return drawn[: split.size * kinds].reshape(split.size, kinds)

        square = np.array([[1.0, -2.0, 1.0], [0.0, -1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
        return Estimand(
            tuple(split.names),
            (1,) * kinds,
            sums,
            part,
            None if everybody else np.ones(kinds),
            self._number.low,
            self._number.high,
            square if kinds == 3 else None,
        )

    def _moments(self, split: Split) -> Estimand:
        """The mean of everybody, of what is drawn of 4x and 4(x − ½)²."""
        square = np.array([[0.25, -0.5, 0.0], [0.25, 0.0, 0.0], [-0.25, 0.0, 1.0]])
        return Estimand(
            tuple(split.names),
            (1, 1),
            lambda drawn: drawn[None, :],
            np.array([0.25, 0.0]),
            None,
            self._number.low,
            self._number.high,
            square,
        )
