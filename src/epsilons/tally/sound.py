"""What a tally can be: the last look at integers before anything is drawn.

An engine, a function of it that a user shadowed, or a fault of ours may return integers that no
people add up to. Noise is made for what one person can add, so nothing is drawn around those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from epsilons.errors import PrivacyError
from epsilons.tally.cells import CellTally
from epsilons.tally.grid import GRID, HALF
from epsilons.tally.levels import Tally
from epsilons.tally.line import Line
from epsilons.types import Integers

__all__ = ["masses", "sound"]

_LOW = 2**32 - 1
"""The lower half of a 64-bit integer."""

Counted = TypeVar("Counted", Tally, CellTally, Line)


def sound(counted: Counted, *, whole: bool = True) -> Counted:
    """Return what was counted, if people can add up to it.

    Args:
        counted: on its way to a mechanism.
        whole: whether everyone adds exactly one unit to cells. On a ladder they may add less, and
            are counted by what they add, to the nearest whole number.

    Raises:
        PrivacyError: they cannot. It is no fact of the data, but a fault on the way.
    """
    levels = counted.levels
    _require((levels >= 0.0).all() and (np.diff(levels) > 0.0).all(), "levels")
    _require((counted.counts >= 0).all(), "numbers of people")
    if isinstance(counted, Tally):
        _check_sums(counted)
    elif isinstance(counted, CellTally):
        _check_cells(counted, whole=whole)
    else:
        there = np.zeros_like(counted.counts)
        np.add.at(there, counted.level_of, counted.people)
        _require((counted.people >= 0).all() and (counted.missing >= 0).all(), "buckets")
        _require(np.array_equal(there + counted.missing, counted.counts), "buckets")
    return counted


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
        _require((each >= 0).all() and sum(each.tolist()) <= most, "weights by bucket")


def _check_sums(counted: Tally) -> None:
    """0 ≤ Σ ≤ n·GRID, and squares that some n integers with this sum have.

    With d = g − GRID/2 they are floor(d²/GRID): at most n·GRID/4 together, and more than
    (Σd)²/(n·GRID) − n, by the Cauchy–Schwarz inequality.
    """
    for n, total in zip(counted.counts.tolist(), counted.sums.tolist(), strict=True):
        _require(0 <= total <= n * GRID, "sums")
    if counted.squares is None:
        return
    columns = (counted.counts, counted.sums, counted.squares)
    for n, total, square in zip(*(each.tolist() for each in columns), strict=True):
        _require(0 <= square <= n * GRID // 4, "squares")
        _require((square + n) * n * GRID >= (total - n * HALF) ** 2, "squares")


def _check_cells(counted: CellTally, *, whole: bool) -> None:
    """Cells from 0 up that hold one unit of everyone; and groups that hold no more than all."""
    cells, unit = counted.cells, counted.unit
    _require(cells.shape[0] == len(counted.levels) and (cells >= 0).all(), "cells")
    # In halves: what no people add up to may not fit 64 bits.
    high, low = ((cells >> 32).sum(axis=1), (cells & _LOW).sum(axis=1))
    for n, first, last in zip(counted.counts.tolist(), high.tolist(), low.tolist(), strict=True):
        points = (first << 32) + last
        _require(points == n * unit if whole else 2 * abs(points - n * unit) <= unit, "cells")
    if counted.people is not None:
        people = counted.people
        _require((people >= 0).all() and (people.sum(axis=1) <= counted.counts).all(), "groups")


def _require(holds: bool | np.bool_, what: str) -> None:
    if not holds:
        raise PrivacyError(
            f"data: the {what} that were counted cannot be those of any people, so the engine of "
            "data, or a function that it was given another meaning, is at fault. Nothing was "
            "drawn, and nobody was charged. Give the rows on another engine, such as Polars, "
            "PyArrow or DuckDB, without functions of your own."
        )
