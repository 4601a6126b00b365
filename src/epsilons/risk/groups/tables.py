"""Intervals for results computed from a table of several columns: sums of cells, shares in rows."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from epsilons.errors import KindError
from epsilons.risk.groups.margins import GroupedMeans, GroupMargins, RatioGroups
from epsilons.risk.margins import Behind, CellsMargin, RatioCells
from epsilons.risk.shares import TotalledCells, WeighedCells
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats, Integers

MOST_IN_A_ROW = 256
"""The largest number of cells in a row for which intervals of shares within the row exist."""


def sums(
    margin: CellsMargin,
    raw: Floats,
    parts: Integers,
    assumption: Assumption,
    confidence: float,
    rounding: float = 0.0,
) -> tuple[Floats, Floats]:
    """An interval for the share of each part of a table. All parts have equally many cells.

    Args:
        margin: the margin of the cells.
        raw: the drawn share of each cell.
        parts: the index of the part that contains each cell, from 0.
        assumption: the assumption about the cells.
        confidence: the confidence of each interval separately.
        rounding: the error of each share that is due to rounded weights.

    Raises:
        KindError: the margin does not belong to such a table.

    Guarantee:
        For all data that the assumption allows, each interval fails to cover the true share with
        probability at most 1 − confidence. Proof: docs/proofs/frequencies.md (12).
    """
    cells, added = len(parts), int(np.bincount(parts)[0])
    assumption = _of_sums(assumption, min(added, cells - added))
    if isinstance(margin, RatioCells):
        return margin.sums(added_up(margin.drawn, parts), added, assumption, confidence)
    pairs = _pairs(raw, added_up(raw, parts)[parts])
    first = np.unique(parts, return_index=True)[1]
    _, low, high = _closed(margin, pairs, added - 1, rounding).sums(assumption, confidence)
    return low[first], high[first]


def within(
    margin: CellsMargin,
    raw: Floats,
    rows: Integers,
    assumption: Assumption,
    confidence: float,
    rounding: float = 0.0,
) -> tuple[Floats, Floats]:
    """An interval for the share of each cell within its row.

    The share is the mean of an indicator in a group. The first cell of the group is the given cell,
    and the second is the sum of all other cells of the row.

    Args:
        margin: the margin of the cells.
        raw: the drawn share of each cell.
        rows: the index of the row that contains each cell, from 0. All rows have equally many
            cells.
        assumption: the assumption about the cells. A number δ does not limit shares within a row,
            so it is treated like True: budgets may be related to these shares in any way.
        confidence: the confidence of each interval separately.
        rounding: the error of each share that is due to rounded weights.

    Raises:
        KindError: the margin does not belong to such a table, or a row has too many cells.

    Guarantee:
        For all data that the assumption allows, each interval fails to cover the true share with
        probability at most 1 − confidence. Proof: docs/proofs/frequencies.md (13).
    """
    others = int(np.bincount(rows)[0]) - 1
    if others >= MOST_IN_A_ROW:
        raise KindError(
            f"within: a row has {others + 1:,} cells, and at most {MOST_IN_A_ROW} are supported. "
            "Publish a table with fewer categories."
        )
    drawn = margin.drawn if isinstance(margin, RatioCells) else raw
    pairs = _pairs(drawn, added_up(drawn, rows)[rows])
    means: GroupMargins
    if isinstance(margin, RatioCells):
        weights = np.array([margin.largest]) if margin.counted is None else margin.counted.weights
        known = {each.name: getattr(margin, each.name) for each in fields(Behind)}
        means = RatioGroups(
            **known,
            weights_of=weights,
            drawn=pairs,
            scale=margin.scale,
            slack=_lattice_point(margin),
            outside=False,
            others=others,
        )
        if margin.counted is None and not margin.equal and assumption.related is not False:
            # Nothing limits the bias: it is unknown how many people have which weight.
            return np.zeros(len(drawn)), np.ones(len(drawn))
    else:
        means = _closed(margin, pairs, others, rounding)
    return means.unit(assumption.of_membership, confidence)


def added_up(cells: Floats, parts: Integers) -> Floats:
    """The sum of the cells in each part."""
    return np.bincount(parts, cells).astype(np.float64)


def _lattice_point(margin: RatioCells) -> float:
    """An upper bound on the length of one lattice step of the noise, in units of weight.

    Proof: docs/proofs/frequencies.md (13).
    """
    return 1.0 + (margin.scale / margin.whole_scale if isinstance(margin, TotalledCells) else 0.0)


def _pairs(cells: Floats, wholes: Floats) -> Floats:
    """Each cell, followed by the sum of all other cells of its row or part."""
    return np.column_stack([cells, wholes - cells]).ravel()


def _closed(margin: CellsMargin, pairs: Floats, others: int, rounding: float) -> GroupedMeans:
    """The margin of groups, each of one cell and `others` other cells, if budgets are public."""
    if not isinstance(margin, WeighedCells) or margin.weighing.keep is not None:
        raise KindError("Sums and shares within rows are for tables of several columns.")
    slack = (
        margin.slack if margin.weighing.scale > 0.0 else 0.0
    )  # without noise, nothing is rounded
    off = rounding * margin.weighing.heaviest
    return GroupedMeans(margin.weighing, slack, pairs, outside=False, rounding=off, others=others)


def _of_sums(assumption: Assumption, added: int) -> Assumption:
    """The assumption about sums of cells: at different budgets they differ by at most `added`·δ."""
    if isinstance(assumption.related, bool):
        return assumption
    apart = added * assumption.related
    return Assumption(assumption.about, True if apart >= 1.0 else apart)
