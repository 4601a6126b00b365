"""The frozen mechanism of means of groups whose members are public: a sum for each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from epsilons.frozen import storable
from epsilons.mechanisms.additive import Additive
from epsilons.noise import Source
from epsilons.tally import Tally
from epsilons.types import Floats, Integers


@storable("mechanisms.Parallel")
@dataclass(frozen=True, eq=False)
class Parallel:
    """A weighted sum for each group, each with its own weights and its own noise.

    Who is in which group is public, everyone is in one of them, and nobody moves between them. It
    holds no data: the sums come in when it is drawn.

    Guarantee:
        Replacing a person's value changes the sum of their own group alone. So a person loses what
        the mechanism of that group takes of their level, and a person of a level at most the
        largest of these over the groups, which `epsilons.verify.exact` compares with ε.

    Reference:
        McSherry (2009), parallel composition, Theorem 4; here a person's group is public, so that
        it also holds for replaced people. Proof: docs/proofs/parallel.md.

    Attributes:
        levels: the budgets ε of all people.
        parts: the mechanism of each group, on those of these levels that it has people of; None for
            a group of whose values nothing is drawn.
        keep: None: everyone is surely used.
    """

    kind = "parallel"
    keep = None
    levels: Floats
    parts: tuple[Additive | None, ...]

    def __post_init__(self) -> None:
        self.levels.flags.writeable = False

    def total(self, tally: Tally) -> tuple[int, ...]:
        """The lattice point of each group, before noise: each has a cell of x and one of 1 − x."""
        return tuple(
            0 if part is None else part.point(tally.cells[self._rows(part), 2 * group])
            for group, part in enumerate(self.parts)
        )

    def draw(
        self, source: Source, size: int | None = None, total: tuple[int, ...] | None = None
    ) -> Any:
        """Draw a lattice point for each group.

        Args:
            source: where the randomness comes from.
            size: how many times; None for once.
            total: the lattice points of the data; without them the noise alone is drawn.

        Returns:
            Python integers by group, 0 where nothing is drawn; or an array of such rows.
        """
        if size is not None:
            rows = [self.draw(source, total=total) for _ in range(size)]
            table: npt.NDArray[Any] = np.array(rows, dtype=object).reshape(size, len(self.parts))
            return table
        points = (0,) * len(self.parts) if total is None else total
        return tuple(
            0 if part is None else part.draw(source, total=point)
            for part, point in zip(self.parts, points, strict=True)
        )

    def estimates(self, drawn: tuple[int, ...]) -> Floats:
        """The mean of each group, in data units, perhaps outside the bounds; NaN for no draw."""
        each = zip(self.parts, drawn, strict=True)
        return np.array([np.nan if part is None else part.estimate(at) for part, at in each])

    @cached_property
    def losses(self) -> tuple[Fraction | float, ...]:
        """What a person of each level loses at most, in whichever group they are."""
        most: list[Fraction | float] = [Fraction(0)] * len(self.levels)
        for part in self.parts:
            if part is not None:
                for row, loss in zip(self._rows(part).tolist(), part.losses, strict=True):
                    most[row] = max(most[row], loss)
        return tuple(most)

    @cached_property
    def weights(self) -> Integers:
        """The largest weight of a person of each level, in whichever group they are."""
        most = np.zeros(len(self.levels), dtype=np.int64)
        for part in self.parts:
            if part is not None:
                np.maximum.at(most, self._rows(part), part.weights)
        return most

    def of_budgets(self, levels: Floats) -> Parallel:
        """The same, said of other budgets of the same people."""
        parts = (
            part if part is None else replace(part, levels=levels[self._rows(part)])
            for part in self.parts
        )
        return Parallel(levels, tuple(parts))

    def _rows(self, part: Additive) -> Integers:
        """Where the levels of a group are among those of all people."""
        return np.searchsorted(self.levels, part.levels)
