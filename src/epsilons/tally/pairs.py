"""Two numbers of each person, as shares of nine cells: the integers, and the checks they pass.

A person's numbers are g and h on the grid. Their squares, with what is left of the unit, are three
cells each: a = floor(g²/G), 2g − 2a and G − 2g + a, which stand for x², 2x(1 − x) and (1 − x)². All
three of the first, each divided as the second is, are nine cells that sum to G exactly, whatever g
and h are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from epsilons.ladder import Ladder
from epsilons.tally.cells import CellTally
from epsilons.tally.grid import GRID, of_squares, over_grid
from epsilons.tally.levels import Names, SumGroups, check_size, standing, usable
from epsilons.types import Integers

__all__ = ["BELOW", "NINE", "THREE", "cut", "nine_cells", "on_cells", "three_cells"]

THREE: Final = ("both", "one", "none")
"""What three cells stand for: x of two tosses of a coin, if heads come with the probability x."""

NINE: Final = tuple((first, second) for first in THREE for second in THREE)

_MIDDLE: Final = GRID // 4 * np.array([1, 2, 1])
_CENTRE: Final = GRID // 16 * np.outer([1, 2, 1], [1, 2, 1]).ravel()
"""What someone in the middle adds to three cells, and to nine: exactly, for GRID is a power of 2.
Who is absent was counted there, and is taken out again."""

BELOW: Final = tuple(f"t{i}{j}" for i in range(3) for j in range(2))
"""The names of what is counted: of each of the three cells of the first number, its parts in the
first cell of the second number, and in the first two."""


def cut(g: Integers, h: Integers) -> dict[str, Integers]:
    """Return the parts of everyone's unit from which nine cells follow, by name.

    Args:
        g: the first number of each person, from 0 to GRID.
        h: the second.
    """
    a, b = over_grid(g, g), over_grid(h, h)
    first = (a, 2 * g - 2 * a, GRID - 2 * g + a)
    second = (b, 2 * h - b)
    parts = [over_grid(each, below) for each in first for below in second]
    return {"a": a, **dict(zip(BELOW, parts, strict=True))}


def three_cells(people: Integers, sums: Integers, both: Integers) -> Integers:
    """Return the three cells of one number, by level.

    Args:
        people: how many there are.
        sums: Σ g.
        both: Σ floor(g² / GRID).
    """
    none = people * GRID - 2 * sums + both
    return np.stack([both, 2 * sums - 2 * both, none], axis=1)


def nine_cells(groups: SumGroups, parts: Mapping[str, Integers]) -> Integers:
    """Return the nine cells of two numbers, by level, the second number running fastest.

    Args:
        groups: with the sums of the first number.
        parts: the sums of what `cut` says.
    """
    rows = three_cells(groups.people, groups.sums, parts["a"])
    found = []
    for i in range(3):
        one, two = parts[BELOW[2 * i]], parts[BELOW[2 * i + 1]]
        found += [one, two - one, rows[:, i] - two]
    return np.stack(found, axis=1)


def of_moments(groups: SumGroups) -> Integers:
    """Return the three cells of one number whose squares were added up."""
    if groups.squares is None:
        raise TypeError("squares were not added up")
    both = of_squares(groups.squares, groups.sums, groups.people)
    return three_cells(groups.people, groups.sums, both)


def on_cells(
    groups: SumGroups, cells: Integers, names: Names, missing: str, ladder: Ladder | None
) -> CellTally:
    """Return the tally of soft cells, if it can be used: on a ladder, whatever the data.

    Args:
        groups: what was counted.
        cells: a row of cells for each group.
        names: what messages call the parameters.
        missing: "error" refuses missing values; "midpoint" has already put them in the middle;
            "exclude" puts who lacks one into a last cell, or on a ladder into none.
        ladder: the public ladder, if budgets are private.

    Raises:
        EpsilonsError: as `levels.checked`.
    """
    if ladder is None:
        order = usable(groups, replace(names, values=names.either), missing)
    else:
        check_size(groups, names, GRID)
        order = standing(groups, ladder.levels)
    counts, categories = groups.people, NINE if cells.shape[1] == len(NINE) else THREE
    if missing == "exclude":
        if groups.absent is None:
            raise TypeError("people without a value were not counted")
        cells = cells - groups.absent[:, None] * (_MIDDLE if len(categories) == 3 else _CENTRE)
        if ladder is None:
            cells = np.column_stack([cells, GRID * groups.absent])
        else:
            counts = counts - groups.absent
    return CellTally(
        levels=groups.levels[order] + 0.0,
        counts=counts[order],
        cells=cells[order],
        unit=GRID,
        categories=categories,
    )
