"""The tally, which is the complete result of counting; its public integer grid; its last check."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from epsilons.door.count.weights import Heads, Rounding
from epsilons.errors import PrivacyError
from epsilons.types import Booleans, Floats, Integers

__all__ = [
    "GRID",
    "HALF",
    "LARGEST",
    "NINE",
    "THREE",
    "TWO",
    "Tally",
    "masses",
    "origin",
    "over_grid",
    "require",
    "sound",
    "squares",
    "three_cells",
    "to_grid",
]


# The public integer grid, in NumPy. `grid_engine.py` expresses the same rounding for engines, and a
# property test checks that they agree.

GRID: Final = 2**30
"""The number of steps from the lower to the upper bound. A value becomes an integer in [0,
GRID]."""

HALF: Final = GRID // 2
"""The middle of the grid: the integer of a missing value under missing="midpoint"."""

_SHIFT: Final = GRID.bit_length() - 1

LARGEST: Final = sys.float_info.max
"""The largest finite float."""


def to_grid(values: Floats, bounds: tuple[float, float]) -> tuple[Integers, Booleans]:
    """Return values rounded to the grid (0 if missing), and a mask of the values that are present.

    Args:
        values: numbers; NaN and infinite ones are missing.
        bounds: the lower and the upper end of the grid.
    """
    lo, hi = bounds
    valid = np.isfinite(values)
    whole = bool(valid.all())
    with np.errstate(over="ignore"):
        steps = values - lo if whole else np.where(valid, values, lo) - lo
        steps *= GRID / (hi - lo)
    steps += 0.5
    # The floor of any float from 0 to GRID + ½ is an integer from 0 to GRID, so privacy does not
    # depend on how floats are rounded.
    np.clip(steps, 0.0, GRID + 0.5, out=steps)
    grid = steps.astype(np.int64)  # truncates, which is the floor here
    if not whole:
        grid[~valid] = 0
    return grid, valid


def origin(bounds: tuple[float, float]) -> int:
    """Return the grid point of the value 0, or of the nearest bound if 0 is not in the range."""
    return int(to_grid(np.zeros(1), bounds)[0][0])


def squares(grid: Integers) -> Integers:
    """Return floor((g − GRID/2)² / GRID) for integers g from 0 to GRID: squares on the grid.

    Squares lie between 0 and GRID/4. For any g and g′, |g − g′| plus the distance of their squares
    is at most GRID: docs/proofs/moment.md. `grid_engine.py` computes the same without integer
    division.
    """
    off = grid - HALF
    off *= off
    off >>= _SHIFT  # floor division by a power of two
    return off


def over_grid(p: Integers, q: Integers) -> Integers:
    """Return floor(p·q / GRID) for integers p and q from 0 to GRID. Products are below 2⁶¹."""
    return p * q // GRID


# The tally, which is the complete result of counting, and its last check before noise is drawn.
#
# Each person divides one unit among public cells. Cells are added up by budget level. A number from
# 0 to 1 has two cells, x and 1 − x; a number and its square have three; two numbers have nine.
#
# A faulty engine, a function that a user redefined in it, or a bug of ours can return integers that
# cannot be sums over people. Noise is calibrated to the largest contribution of one person, so such
# integers are refused.

TWO: Final = ("x", "1 - x")
"""Labels of the two cells of one number."""

THREE: Final = ("both", "one", "none")
"""Labels of the three cells of a number x with its square: for two coin tosses, each with
probability x of heads, the probabilities that both, one or none are heads."""

NINE: Final = tuple((first, second) for first in THREE for second in THREE)
"""Labels of the nine cells of two numbers. The second number varies fastest."""

_LOW = 2**32 - 1
"""A mask for the lower half of a 64-bit integer."""

_FEW = 2**12
"""Up to this number of cells, Python adds up as fast as NumPy."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Integers by budget level and cell. A release uses no other function of the data.

    Attributes:
        levels: the budget of each level, ascending and distinct: the smallest ε of its people.
        counts: the number of people in each level; with weights, the number of their units.
        cells: by level and cell, the sum over people of their share of the cell, in units of
            1 / `unit`. One person adds exactly `unit` in total; on a ladder, at most `unit`.
        unit: the integer that each person divides among cells. For numbers it is GRID. For
            categories it is 1 if every row is its own person, and `SHARES` if people can have
            several rows. Each of r rows then adds floor(SHARES / r), which is 0 for more than
            SHARES rows. The remainder, SHARES mod r, is spread evenly over all cells; on a ladder
            it is dropped.
        categories: the label of each cell. For numbers these are `TWO`, `THREE` or `NINE`. For
            means by group they are the labels of groups, and each group has a cell for x and one
            for 1 - x. An additional last cell is for people who are outside all groups, or who have
            no value.
        people: by level and group, the number of people in the group, if the question needs it;
            with weights, the number of their units.
        heads: if people have weights, the number of people in each level; otherwise None.
        weight: the weight of one unit; 1 without weights.
        rounded: how far units are from weights; None if they are equal.
    """

    levels: Floats
    counts: Integers
    cells: Integers
    unit: int
    categories: tuple[Any, ...]
    people: Integers | None = None
    heads: Heads | None = None
    weight: float = 1.0
    rounded: Rounding | None = None

    @property
    def rounding(self) -> float:
        """A bound on the difference between means with weights and with units: weights.md (5)."""
        return 0.0 if self.rounded is None else self.rounded.apart(int(self.counts.sum()))

    @property
    def mean_weight(self) -> float:
        """The sum of everyone's weight, divided by the number of units; 1 without weights."""
        if self.rounded is None:
            return self.weight
        return self.weight * self.rounded.total / int(self.counts.sum())

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.by_level.sum())

    @property
    def by_level(self) -> Integers:
        """The number of people in each level."""
        return self.counts if self.heads is None else self.heads.by_level

    @property
    def unit_squares(self) -> Floats | None:
        """A bound on Σd² in each level, for people of d units; None if everyone is one unit."""
        if self.heads is None or int(self.heads.most.max(initial=1)) <= 1:
            return None
        return self.heads.squares(self.counts)

    @property
    def sums(self) -> Integers:
        """The sum of people's integers on the grid by level, for one number per person.

        Raises:
            TypeError: the cells are not the cells of one number.
        """
        self._require(TWO, THREE)
        first: Integers = self.cells[:, 0]
        return first + self.cells[:, 1] // 2 if self.categories == THREE else first

    @property
    def squares(self) -> Integers:
        """The sum of `squares` of people's integers on the grid by level, from three cells.

        Raises:
            TypeError: the cells are not the three cells of a number and its square.
        """
        self._require(THREE)
        # The inverse of `three_cells`: the middle cell is 2·(Σg − Σa).
        return self.counts * (GRID // 4) - self.cells[:, 1] // 2

    def _require(self, *known: tuple[str, ...]) -> None:
        """Refuse to read sums from cells of another kind."""
        if self.categories not in known or self.cells.shape[1] != len(self.categories):
            raise TypeError(f"the cells of this tally are not {' or '.join(map(str, known))}")

    def with_total(self, own: int, shared: int) -> Tally:
        """Return the tally with an additional cell, to which everyone gives part of their unit.

        Args:
            own: the weight of a person's own cells.
            shared: the weight of the shared cell. Everyone's unit is divided own : shared.
        """
        total = self.cells.sum(axis=1, keepdims=True)
        cells = np.concatenate([own * self.cells, shared * total], axis=1)
        return replace(self, cells=cells, unit=self.unit * (own + shared))


def three_cells(people: Integers, sums: Integers, squares: Integers) -> Integers:
    """Return the three cells of one number by level: the sums of a, 2g − 2a and GRID − 2g + a.

    Here a = floor(g² / GRID) = floor((g − GRID/2)² / GRID) + g − GRID/4, because GRID is a multiple
    of 4.

    Args:
        people: the number of people.
        sums: Σ g over people.
        squares: Σ `squares` of g over people.
    """
    off = people * (GRID // 4) - squares  # Σ g − Σ a
    cells = np.empty((len(people), 3), dtype=np.int64)
    cells[:, 0], cells[:, 1], cells[:, 2] = sums - off, 2 * off, people * GRID - sums - off
    return cells


def sound(counted: Tally, *, whole: bool = True) -> Tally:
    """Return a tally, after checking that it is possible for some people.

    Args:
        counted: a tally, before a mechanism uses it.
        whole: whether each person adds exactly one unit to cells. With categories on a ladder they
            can add less; then the number of people is the sum of all units, rounded.

    Raises:
        PrivacyError: no group of people can have this tally. The cause is a fault in counting,
            never the data.
    """
    levels, cells, unit = counted.levels, counted.cells, counted.unit
    require(not len(levels) or levels[0] >= 0.0, "levels")
    require((levels[1:] > levels[:-1]).all(), "levels")
    require((counted.counts >= 0).all(), "numbers of people")
    require(cells.shape[0] == len(levels) and (cells >= 0).all(), "cells")
    # Cells are added up in Python integers, because faulty sums can exceed 64 bits.
    if cells.size <= _FEW:
        units = list(map(sum, cells.tolist()))
    else:
        high, low = (cells >> 32).sum(axis=1).tolist(), (cells & _LOW).sum(axis=1).tolist()
        units = [(first << 32) + last for first, last in zip(high, low, strict=True)]
    for n, points in zip(counted.counts.tolist(), units, strict=True):
        require(points == n * unit if whole else 2 * abs(points - n * unit) <= unit, "cells")
    if counted.categories == THREE and cells.shape[1] == len(THREE):
        # With d = g − GRID/2 the squares are floor(d²/GRID). Their sum is at most n·GRID/4, and
        # more than (Σd)²/(n·GRID) − n by the Cauchy–Schwarz inequality.
        sums, squares = counted.sums.tolist(), counted.squares.tolist()
        for n, total, square in zip(counted.counts.tolist(), sums, squares, strict=True):
            require(0 <= square <= n * GRID // 4, "squares")
            require((square + n) * n * GRID >= (total - n * HALF) ** 2, "squares")
    if counted.people is not None:
        people = counted.people
        require((people >= 0).all() and (people.sum(axis=1) <= counted.counts).all(), "groups")
    if counted.heads is not None:
        number, fewest, most = counted.by_level, counted.heads.fewest, counted.heads.most
        require((counted.heads.number >= 0).all() and (fewest >= 1).all(), "units of weight")
        possible = (number * fewest <= counted.counts) & (counted.counts <= number * most)
        require(possible.all(), "units of weight")
    return counted


def masses(found: Sequence[Integers], weights: Sequence[Integers], counts: Integers) -> None:
    """Require sums of weights by bucket that are possible for these numbers of people.

    Args:
        found: for each array of weights, the sum in each bucket.
        weights: arrays; each holds a person's weight by budget.
        counts: the number of people with each budget.

    Raises:
        PrivacyError: the sums are not possible.
    """
    for each, own in zip(found, weights, strict=True):
        most = sum(k * n for k, n in zip(own.tolist(), counts.tolist(), strict=True))
        require((each >= 0).all() and sum(each.tolist()) <= most, "weights by bucket")


def require(holds: bool | np.bool_, what: str) -> None:
    """Refuse counts that no group of people can have.

    Raises:
        PrivacyError: the condition `holds` is false.
    """
    if not holds:
        raise PrivacyError(
            f"data: the {what} that were counted cannot be those of any people. The engine of data "
            "is at fault, or a function that was redefined in it. Nothing was "
            "drawn, and nobody was charged. Give the rows on another engine, such as Polars, "
            "PyArrow or DuckDB, without functions of your own."
        )
