"""Everyone apart, from arrays: what a method needs to know that draws for each person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

import numpy as np

from epsilons.statistics.call import Call
from epsilons.tally import Categories, CellTally, Tally, cells_numpy, line_numpy, sums_numpy
from epsilons.tally.arrays import Arrays, read
from epsilons.tally.cells import checked_cells
from epsilons.tally.levels import Names, checked, levels_of
from epsilons.tally.line import checked_line
from epsilons.tally.line_numpy import Folded
from epsilons.tally.sound import sound
from epsilons.types import Integers

__all__ = ["Everyone", "folded", "in_cells", "numbers", "on_grid"]

_NAMES: Final = Names.of_arrays({})

Counted = TypeVar("Counted", Tally, CellTally)


@dataclass(frozen=True, eq=False)
class Everyone(Generic[Counted]):
    """People one by one, and what they add up to.

    Attributes:
        counted: by budget level, with all checks of data that any question has.
        level_of: the index of each person's level.
        own: each person's integer on the grid, or the index of their cell.
        moved: whether somebody's budget counts as another one.
    """

    counted: Counted
    level_of: Integers
    own: Integers
    moved: bool


def numbers(values: Any, call: Call, missing: str) -> Arrays:
    """Check arrays of numbers, budgets and people: see `epsilons.mean` for what they can be."""
    lenient = missing != "error"
    return read(values, call.epsilon, call.person, _NAMES, call.ladder, lenient=lenient)


def on_grid(held: Arrays, missing: str, bounds: tuple[float, float]) -> Everyone[Tally]:
    """Put everyone's value, the mean of their rows, on the grid between bounds."""
    people = sums_numpy.fold(held)
    own, gaps = people.on_grid(held.values, bounds)
    counted = sound(checked(people.groups(own, gaps), _NAMES, missing))
    # Groups of arrays ascend by level, as those of the tally do.
    return Everyone(counted, people.group_of, own, people.moved)


def in_cells(values: Any, call: Call, declared: Categories) -> Everyone[CellTally]:
    """Find everyone's cell, where a row is a person."""
    held = cells_numpy.read(values, call.epsilon, None, declared, _NAMES)
    groups = cells_numpy.count(held, declared)
    counted = sound(checked_cells(groups, _NAMES, declared, unit=1))
    own = held.cell
    if declared.other is not None:
        own = np.where(own < 0, declared.other, own)
    return Everyone(counted, levels_of(held.epsilon, own.size)[1], own, groups.moved)


def folded(held: Arrays, missing: str, call: Call) -> Folded:
    """Everyone's value, halfway between their extremes, and budget; under replace, checked."""
    people = line_numpy.fold(held)
    if call.ladder is None:
        sound(checked_line(line_numpy.count(people, None), None, _NAMES, missing))
    return people
