"""Means by group, computed with dictionaries and fractions, without code from the tally."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.door.conftest import STEPS, grid, nine_bits

BOUNDS = (0.0, 10.0)


@dataclass(frozen=True)
class Line:
    """One row: a value, a budget, a person, a group, and the `where` flag."""

    value: float | None
    budget: float
    who: str
    group: Any = "a"
    asked: bool | None = True


@dataclass
class Level:
    """The totals of one budget level."""

    least: float = math.inf
    people: int = 0
    cells: dict[Any, int] = field(default_factory=dict)


def unit_of(rows: list[Line], labels: list[Any], missing: str) -> dict[Any, int]:
    """Return one person's unit by cell.

    The cell (group, 1) has x, (group, 0) has 1 − x, and "outside" has the rest.
    """
    asked = [row for row in rows if row.asked and row.group in labels]
    valued = [row for row in asked if row.value is not None and math.isfinite(row.value)]
    steps = {id(row): Fraction(grid(row.value, BOUNDS)) for row in valued if row.value is not None}
    if not valued and missing != "exclude":
        valued = asked
        steps = {id(row): Fraction(STEPS, 2) for row in asked}
    if not valued:
        return {"outside": STEPS}
    given: dict[Any, int] = {}
    for label in dict.fromkeys(row.group for row in valued):
        own = [row for row in valued if row.group == label]
        points = math.floor(Fraction(STEPS * len(own), len(valued)))
        mean = sum((steps[id(row)] for row in own), Fraction(0)) / len(valued)
        above = min(points, math.floor(mean + Fraction(1, 2)))
        given[label, 1] = above
        given[label, 0] = points - above
    given[labels[0], 0] = given.get((labels[0], 0), 0) + STEPS - sum(given.values())
    return given


def by_hand(
    rows: list[Line], labels: list[Any], *, person: bool, missing: str, outside: bool
) -> tuple[list[float], list[int], list[list[int]]]:
    """Return the levels, the number of people at each, and the cells as in the tally."""
    people: dict[Any, list[Line]] = {}
    for place, row in enumerate(rows):
        people.setdefault(row.who if person else place, []).append(row)
    levels: dict[float, Level] = {}
    for own in people.values():
        level = levels.setdefault(nine_bits(own[0].budget), Level())
        level.least = min(level.least, own[0].budget)
        level.people += 1
        for cell, points in unit_of(own, labels, missing).items():
            level.cells[cell] = level.cells.get(cell, 0) + points
    order: list[Any] = [(label, side) for label in labels for side in (1, 0)]
    if outside:
        order.append("outside")
    found = sorted(levels.values(), key=lambda level: level.least)
    return (
        [level.least for level in found],
        [level.people for level in found],
        [[level.cells.get(cell, 0) for cell in order] for level in found],
    )
