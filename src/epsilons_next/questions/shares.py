"""The share of people in each category."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from epsilons_next.checks import column
from epsilons_next.data.labels import Labels, LabelSet, declare
from epsilons_next.errors import ArgumentError
from epsilons_next.inference.estimand import Estimand
from epsilons_next.inference.rows import Reading, Row
from epsilons_next.questions.question import Question
from epsilons_next.questions.requests import Reader, Steps

__all__ = ["Shares"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shares(Question):
    """The share of people in each category; with `by`, in each group.

    Args:
        column: the column.
        categories: its labels, in the order of the result, known without looking at these people.
        by: columns of groups with their labels: shares for each combination.
        other: the name of every entry that is not declared; without it, they are refused.
        where: columns with the entries that are asked about; all must hold.
        at_least: only people who allowed so much ε are asked, and nothing is said of the others.
        missing: whether a row without an entry is an "error", or the person is left out
            ("exclude").
        about: these very "people", or the "population" that they were drawn from at random.
        assume: how limits and answers may be related: in any way (None), `Within(0.05)`,
            "unrelated".
        title: what is measured, in words.
        unit: of what people are counted, if not of people.

    Raises:
        ArgumentError: words are not known, or make no sense together.
    """

    column: str
    categories: Labels

    statistic: ClassVar = "shares"
    noun: ClassVar = "Shares"
    needs: ClassVar = {
        "categories": 'Shares: categories=["yes", "no"], please: the possible entries, known '
        "without looking at these people."
    }
    share: ClassVar = True
    method: ClassVar = {
        True: "weighted frequencies, weights capped (HPF, Algorithm 1 of the paper on correlated "
        "data and demands), with noise that sums to zero in place of independent noise",
        False: "frequencies with independent Laplace noise, everyone at the lowest limit",
    }

    def check(self) -> None:
        """Refuse what could not be asked, whatever the data."""
        column("column", self.column)
        if len(self._labels.all_names) < 2:
            raise ArgumentError('categories: at least two, or one and other="other".')
        super().check()

    @property
    def measures(self) -> str:
        """The column whose entries are counted."""
        return self.column

    @cached_property
    def _labels(self) -> LabelSet:
        return declare("categories", self.column, self.categories, self.other)

    def steps(self, *, public: bool) -> Steps[Reader]:
        """Ask for the categories of each group."""
        split, size = self.split(further=(self._labels,)), len(self._labels.all_names)
        groups = split.size // size
        everybody = public and groups == 1 and not split.outside

        def sums(drawn: Floats) -> Floats:
            cells = drawn[: split.size].reshape(groups, size)
            others = cells.sum(axis=1, keepdims=True) - cells
            kinds = [cells.ravel()] if everybody else [cells.ravel(), others.ravel()]
            return np.stack(kinds, axis=1)

        numbers = Estimand(
            tuple(split.names),
            (1,) if everybody else (1, size - 1),
            sums,
            np.array([1.0]) if everybody else np.array([1.0, 0.0]),
            None if everybody else np.ones(2),
        )
        read = yield from self.measured(split, ((1,),), numbers)
        return projected(read, size)


def projected(read: Reader, size: int) -> Reader:
    """Move the shares of each whole until they add up to 1, each inside its interval."""

    def moved(reading: Reading) -> list[Row]:
        rows = read(reading)
        for start in range(0, len(rows), size):
            group = rows[start : start + size]
            value, low, high = (
                np.array([getattr(row, name) for row in group]) for name in ("value", "low", "high")
            )
            shifts = np.array([-1.0, 1.0])
            for _ in range(60):
                shift = shifts.mean()
                shifts[int(np.clip(value + shift, low, high).sum() > 1.0)] = shift
            values = np.clip(value + shifts.mean(), low, high).tolist()
            rows[start : start + size] = [
                replace(row, value=each) for row, each in zip(group, values, strict=True)
            ]
        return rows

    return moved
