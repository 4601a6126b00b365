"""One question to rows that are opened for it alone, as tests ask it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from epsilons import tally
from epsilons.ladder import Ladder
from epsilons.tally import Tally
from epsilons.tally.line_numpy import Folded
from epsilons.types import Integers


def sums_of(values: Any, *, bounds: tuple[float, float], **given: Any) -> Tally:
    """The sums of rows; the other arguments are those of `tally.open`."""
    return tally.open(values, **given).count(tally.Ask("numbers", bounds))


def moments_of(values: Any, *, bounds: tuple[float, float], **given: Any) -> Tally:
    """The sums of rows and of their squares; the other arguments are those of `tally.open`."""
    return tally.open(values, **given).count(tally.Ask("squares", bounds))


def cells_of(
    values: Any, *, categories: Any = None, edges: Any = None, other: Any = None, **given: Any
) -> Tally:
    """The cells of rows."""
    declared = tally.declare(categories, edges, other)
    return tally.open(values, categories=declared, **given).count(tally.Ask("cells"))


def together(asked: Sequence[tuple[tally.Rows, tally.Ask]]) -> list[Tally]:
    """Several questions, counted in one scan where they can be."""
    tally.scan(asked)
    return [rows.count(ask) for rows, ask in asked]


def grid_of_each(
    values: Any, *, bounds: tuple[float, float], **given: Any
) -> tuple[Tally, Integers, Integers]:
    """Everyone's integer, for a method that samples."""
    return tally.open(values, **given, apart="sampling").each().on_grid(bounds)


def cell_of_each(
    values: Any, *, categories: Any = None, edges: Any = None, other: Any = None, **given: Any
) -> tuple[Tally, Integers, Integers]:
    """Everyone's cell, for a method that samples."""
    declared = tally.declare(categories, edges, other)
    return tally.open(values, categories=declared, **given, apart="sampling").each().in_cells()


def folded(
    values: Any, epsilon: Any, data: Any = None, person: Any = None, ladder: Ladder | None = None
) -> Folded:
    """Everyone's value and budget, for a method that draws for each; nothing that is missing is
    refused."""
    rows = tally.open(
        values,
        epsilon=epsilon,
        data=data,
        person=person,
        missing="midpoint",
        ladder=ladder,
        apart="diffusion",
    )
    return rows.each().folded()
