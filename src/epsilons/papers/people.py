"""Per-person data from arrays, for methods that draw for each person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from epsilons.door import Ask, Categories, Tally
from epsilons.door.count import line
from epsilons.door.count.asks import Names, Rules, checked, levels_of
from epsilons.door.count.line import Folded, checked_line
from epsilons.door.count.tallies import sound
from epsilons.door.count.units import caught
from epsilons.door.given import arrays
from epsilons.door.given.arrays import Arrays, read, unnamed
from epsilons.questions.question import Call
from epsilons.types import Integers

__all__ = ["Everyone", "folded", "in_cells", "numbers", "on_grid"]

_NAMES: Final = Names.of_arrays({})


@dataclass(frozen=True, eq=False)
class Everyone:
    """The data of each person, and their tally.

    Attributes:
        counted: the tally by budget level, after the same data checks as for any question.
        level_of: the index of each person's budget level.
        own: each person's integer on the grid, or the index of their cell.
        moved: whether any budget was clipped to the public range.
    """

    counted: Tally
    level_of: Integers
    own: Integers
    moved: bool


def numbers(values: Any, call: Call, missing: str) -> Arrays:
    """Check arrays of numbers, budgets and people, in the forms that `epsilons.mean` accepts."""
    unnamed({"values": values, "epsilon": call.epsilon, "person": call.person})
    lenient = missing != "error"
    return read(values, call.epsilon, call.person, _NAMES, call.ladder, lenient=lenient)


def on_grid(held: Arrays, missing: str, bounds: tuple[float, float]) -> Everyone:
    """Map everyone's value, the mean of their rows, to the grid between bounds."""
    people = arrays.fold(held.epsilon, held.person, held.values.size)
    own, _ = people.on_grid(held.values, bounds)
    ask, rules = Ask("numbers", bounds), Rules(_NAMES, missing, 1, None, None)
    found = arrays.count(held, ask, rules)
    # Levels are ascending both in the arrays and in the tally, so indices agree.
    tally = sound(checked(found, rules, ask, _NAMES))
    return Everyone(tally, people.by_level[1], own, found.moved)


def in_cells(values: Any, call: Call, declared: Categories) -> Everyone:
    """Find everyone's cell; each row is a different person."""
    unnamed({"values": values, "epsilon": call.epsilon})
    held = arrays.read_labels(values, call.epsilon, None, declared, _NAMES)
    ask, rules = Ask("cells"), Rules(_NAMES, "error", 1, declared, None)
    found = arrays.count(held, ask, rules)
    tally, own = sound(checked(found, rules, ask, _NAMES)), caught(held.cell, declared)
    return Everyone(tally, levels_of(held.epsilon, own.size)[1], own, found.moved)


def folded(held: Arrays, missing: str, call: Call) -> Folded:
    """Return everyone's budget, and the midpoint of their smallest and largest value.

    Under replace, the data are checked first.
    """
    people = line.fold(held)
    if call.ladder is None:
        checked_line(line.count(people, None), None, _NAMES, missing).sound()
    return people
