"""The tally: all that counting returns; the public grid of its integers; the last look at it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.types import Booleans, Floats, Integers

__all__ = [
    "GRID",
    "HALF",
    "LARGEST",
    "NINE",
    "THREE",
    "TWO",
    "Rule",
    "Tally",
    "masses",
    "over_grid",
    "require",
    "sound",
    "squares",
    "three_cells",
    "to_grid",
]


# The public integer grid, in NumPy.
#
# `grid_engine.py` writes the same rule as an expression; one property test holds them together.

GRID: Final = 2**30
"""The steps between the lower and the upper bound: a value is an integer in [0, GRID]."""

HALF: Final = GRID // 2
"""The middle of the grid: what a missing value becomes under missing="midpoint"."""

_SHIFT: Final = GRID.bit_length() - 1

LARGEST: Final = sys.float_info.max
"""The largest finite float."""


Rule: TypeAlias = Callable[[Any], Any]
"""A public function from [0, 1] to [0, 1], of a value as its share of the range. Nothing is done in
it but +, - and *, so that an array of NumPy and an expression of an engine have the same floats."""


def to_grid(
    values: Floats, bounds: tuple[float, float], rule: Rule | None = None
) -> tuple[Integers, Booleans]:
    """Return every value on the grid (0 where it is missing), and where it is not missing.

    Args:
        values: numbers, NaN or infinite where they are missing.
        bounds: the lower and the upper end of the grid.
        rule: what is put on the grid in place of a value's share of the range.
    """
    lo, hi = bounds
    valid = np.isfinite(values)
    whole = bool(valid.all())
    with np.errstate(over="ignore"):
        steps = values - lo if whole else np.where(valid, values, lo) - lo
        steps *= (GRID if rule is None else 1.0) / (hi - lo)
    if rule is not None:
        steps = rule(np.clip(steps, 0.0, 1.0, out=steps)) * GRID
    steps += 0.5
    # The floor of any float from 0 to GRID + ½ is a whole number from 0 to GRID: no theory of
    # rounding is needed for privacy.
    np.clip(steps, 0.0, GRID + 0.5, out=steps)
    grid = steps.astype(np.int64)  # which leaves out what is after the point
    if not whole:
        grid[~valid] = 0
    return grid, valid


def squares(grid: Integers) -> Integers:
    """Return floor((g − GRID/2)² / GRID) of integers g from 0 to GRID: the squares, on the grid.

    They are from 0 to GRID/4, and two of them and their g differ by GRID at most, taken together:
    docs/proofs/moment.md. `grid_engine.py` writes the same without a quotient of integers.
    """
    off = grid - HALF
    off *= off
    off >>= _SHIFT  # the floor of a quotient by a power of two
    return off


def over_grid(p: Integers, q: Integers) -> Integers:
    """Return floor(p·q / GRID) of whole numbers from 0 to GRID: the products are below 2⁶¹."""
    return p * q // GRID


# The tally: all that counting returns, and the last look at it before anything is drawn.
#
# Everyone divides one unit among public cells, and cells are added up by budget level. A number
# from 0 to 1 is two cells, x and 1 − x; with its square three, two numbers together are nine.
#
# An engine, a function of it that a user shadowed, or a fault of ours may return integers that no
# people add up to. Noise is made for what one person can add, so nothing is drawn around those.

TWO: Final = ("x", "1 - x")
"""What two cells of a number stand for."""

THREE: Final = ("both", "one", "none")
"""What three cells stand for: x of two tosses of a coin, if heads come with the probability x."""

NINE: Final = tuple((first, second) for first in THREE for second in THREE)
"""What nine cells of two numbers stand for, of which the second runs fastest."""

_LOW = 2**32 - 1
"""The lower half of a 64-bit integer."""

_FEW = 2**12
"""Cells that Python adds up as soon as NumPy does."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Integers by budget level and cell: all that a release needs to know of the data.

    Attributes:
        levels: the budget of each level, ascending and distinct: the smallest ε in its group.
        counts: the people in each level.
        cells: by level and cell, the sum over people of their share of the cell, in units of
            1 / `unit`. One person adds exactly `unit` in all; on a ladder, at most that.
        unit: what one person divides: GRID, of numbers. Of categories 1 if a row is a person, and
            `SHARES` if people may have many rows, r of them adding floor(SHARES / r) each, which is
            nothing for more than SHARES rows. What is left of a person's unit, SHARES mod r, is
            spread evenly over all cells; on a ladder it is lost.
        categories: the label of each cell: `TWO`, `THREE` or `NINE` of numbers. Of means by group
            it is the label of each group, which has a cell of x and one of 1 - x. A last cell, if
            there is one more, is of those who are outside of all groups, or have no value.
        people: by level and group, how many people are in it, where that was asked for.
    """

    levels: Floats
    counts: Integers
    cells: Integers
    unit: int
    categories: tuple[Any, ...]
    people: Integers | None = None

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @property
    def sums(self) -> Integers:
        """By level, the sum of integers on the grid, of one number of everyone.

        Raises:
            TypeError: the cells are not those of one number.
        """
        self._require(TWO, THREE)
        first: Integers = self.cells[:, 0]
        return first + self.cells[:, 1] // 2 if self.categories == THREE else first

    @property
    def squares(self) -> Integers:
        """By level, the sum of `grid.squares` of the same integers, of three cells.

        Raises:
            TypeError: the cells are not those of one number with its square.
        """
        self._require(THREE)
        # The inverse of `three_cells`: 2·(Σg − Σa) is the cell in the middle.
        return self.counts * (GRID // 4) - self.cells[:, 1] // 2

    def _require(self, *known: tuple[str, ...]) -> None:
        """Refuse to read a number from cells of another kind."""
        if self.categories not in known or self.cells.shape[1] != len(self.categories):
            raise TypeError(f"the cells of this tally are not {' or '.join(map(str, known))}")

    def with_total(self, own: int, shared: int) -> Tally:
        """The same with one more cell, to which everyone gives a part of what they give.

        Args:
            own: the part that goes to a person's own cells.
            shared: the part that goes to the cell of all.
        """
        total = self.cells.sum(axis=1, keepdims=True)
        cells = np.concatenate([own * self.cells, shared * total], axis=1)
        return replace(self, cells=cells, unit=self.unit * (own + shared))


def three_cells(people: Integers, sums: Integers, squares: Integers) -> Integers:
    """Return the three cells of one number, by level: a, 2g − 2a and GRID − 2g + a of each person.

    Here a = floor(g² / GRID) = floor((g − GRID/2)² / GRID) + g − GRID/4, as GRID is a multiple
    of 4.

    Args:
        people: how many there are.
        sums: Σ g.
        squares: Σ `grid.squares` of g.
    """
    off = people * (GRID // 4) - squares  # Σ g − Σ a
    cells = np.empty((len(people), 3), dtype=np.int64)
    cells[:, 0], cells[:, 1], cells[:, 2] = sums - off, 2 * off, people * GRID - sums - off
    return cells


def sound(counted: Tally, *, whole: bool = True) -> Tally:
    """Return what was counted, if people can add up to it.

    Args:
        counted: on its way to a mechanism.
        whole: whether everyone adds exactly one unit to cells. Of categories on a ladder they may
            add less, and are counted by what they add, to the nearest whole number.

    Raises:
        PrivacyError: they cannot. It is no fact of the data, but a fault on the way.
    """
    levels, cells, unit = counted.levels, counted.cells, counted.unit
    require(not len(levels) or levels[0] >= 0.0, "levels")
    require((levels[1:] > levels[:-1]).all(), "levels")
    require((counted.counts >= 0).all(), "numbers of people")
    require(cells.shape[0] == len(levels) and (cells >= 0).all(), "cells")
    for n, points in zip(counted.counts.tolist(), _points(cells), strict=True):
        require(points == n * unit if whole else 2 * abs(points - n * unit) <= unit, "cells")
    if counted.categories == THREE and cells.shape[1] == len(THREE):
        _check_squares(counted)
    if counted.people is not None:
        people = counted.people
        require((people >= 0).all() and (people.sum(axis=1) <= counted.counts).all(), "groups")
    return counted


def _points(cells: Integers) -> list[int]:
    """The sum of the cells of each level: what no people add up to may not fit 64 bits."""
    if cells.size <= _FEW:
        return list(map(sum, cells.tolist()))
    high, low = ((cells >> 32).sum(axis=1).tolist(), (cells & _LOW).sum(axis=1).tolist())
    return [(first << 32) + last for first, last in zip(high, low, strict=True)]


def _check_squares(counted: Tally) -> None:
    """Squares that some n integers with this sum have.

    With d = g − GRID/2 they are floor(d²/GRID): at most n·GRID/4 together, and more than
    (Σd)²/(n·GRID) − n, by the Cauchy–Schwarz inequality.
    """
    columns = (counted.counts, counted.sums, counted.squares)
    for n, total, square in zip(*(each.tolist() for each in columns), strict=True):
        require(0 <= square <= n * GRID // 4, "squares")
        require((square + n) * n * GRID >= (total - n * HALF) ** 2, "squares")


def masses(found: Sequence[Integers], weights: Sequence[Integers], counts: Integers) -> None:
    """See that weights by bucket are those of people.

    Args:
        found: for each of the weights, their sum in each bucket.
        weights: one or more times the weight of a person of each budget.
        counts: the people who have it.

    Raises:
        PrivacyError: they are not.
    """
    for each, own in zip(found, weights, strict=True):
        most = sum(k * n for k, n in zip(own.tolist(), counts.tolist(), strict=True))
        require((each >= 0).all() and sum(each.tolist()) <= most, "weights by bucket")


def require(holds: bool | np.bool_, what: str) -> None:
    """Refuse what no people add up to.

    Raises:
        PrivacyError: it does not hold.
    """
    if not holds:
        raise PrivacyError(
            f"data: the {what} that were counted cannot be those of any people, so the engine of "
            "data, or a function that it was given another meaning, is at fault. Nothing was "
            "drawn, and nobody was charged. Give the rows on another engine, such as Polars, "
            "PyArrow or DuckDB, without functions of your own."
        )
