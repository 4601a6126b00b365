"""Helpers for tests that open rows for one question and count them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from epsilons import door
from epsilons.budgets.allocation.declared import Declared
from epsilons.budgets.levels import Ladder
from epsilons.door import Tally
from epsilons.door.count.line import Folded
from epsilons.papers import people
from epsilons.questions.question import Call
from epsilons.types import Integers


def sums_of(values: Any, *, bounds: tuple[float, float], **given: Any) -> Tally:
    """Return sums of rows by level. Other arguments are passed to `door.open`."""
    return door.open(values, **given).count(door.Ask("numbers", bounds))


def moments_of(values: Any, *, bounds: tuple[float, float], **given: Any) -> Tally:
    """Return sums of rows and of their squares by level.

    Other arguments are passed to `door.open`.
    """
    return door.open(values, **given).count(door.Ask("squares", bounds))


def cells_of(
    values: Any, *, categories: Any = None, edges: Any = None, other: Any = None, **given: Any
) -> Tally:
    """Return the cells of rows by level."""
    declared = door.declare(categories, edges, other)
    return door.open(values, categories=declared, **given).count(door.Ask("cells"))


def together(asked: Sequence[tuple[door.Rows, door.Ask]]) -> list[Tally]:
    """Return the tallies of several questions, counted in one scan if possible."""
    door.scan(asked)
    return [rows.count(ask) for rows, ask in asked]


def grid_of_each(
    values: Any,
    *,
    epsilon: Any,
    bounds: tuple[float, float],
    person: Any = None,
    missing: str = "error",
) -> tuple[Tally, Integers, Integers]:
    """Return everyone's value as an integer on the grid, for methods that sample people."""
    call = Call.of(epsilon=epsilon, person=person)
    found = people.on_grid(people.numbers(values, call, missing), missing, bounds)
    return found.counted, found.level_of, found.own


def cell_of_each(
    values: Any, *, epsilon: Any, categories: Any = None, edges: Any = None, other: Any = None
) -> tuple[Tally, Integers, Integers]:
    """Return everyone's cell, for methods that sample people."""
    declared = door.declare(categories, edges, other)
    found = people.in_cells(values, Call.of(epsilon=epsilon), declared)
    return found.counted, found.level_of, found.own


def folded(values: Any, epsilon: Any, person: Any = None, ladder: Ladder | None = None) -> Folded:
    """Return everyone's value and budget, for methods that draw for each person.

    Missing values are accepted.
    """
    declared = None if ladder is None else Declared(ladder)
    call = replace(Call.of(epsilon=epsilon, person=person), declared=declared)
    return people.folded(people.numbers(values, call, "midpoint"), "midpoint", call)
