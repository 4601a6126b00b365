"""Estimate the range of any data from a low and a high quantile, as extreme as budgets allow.

Nothing is assumed about the shape. Columns that mostly have one value, are skewed, or have two
clusters get a range that contains nearly all values. Public facts determine how extreme the
quantile can be. If each person spends r on the selection of the quantile q, the odds of selecting a
point far from all data are e^{−q·Σr/2}. So q is the smallest quantile with negligible odds.

Budget that the mean cannot use is spent first. Each round uses a finer grid of buckets, as in
`locate`. The grid depends only on numbers that were released earlier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from epsilons.budgets.allocation import best_cap
from epsilons.door.count import line
from epsilons.draws.mechanisms import Candidates, CellsOf, Selection, TheLine
from epsilons.questions.locate import (
    ROUNDS,
    ZOOM,
    Payers,
    around,
    budgets_of,
    left_of,
    selection,
    spent_on,
    weights_of,
    window_at,
)
from epsilons.questions.question import Draw
from epsilons.risk.goals import MeanGoal
from epsilons.risk.tails.gaussian import quantile
from epsilons.types import Floats, Integers

__all__ = ["FARTHEST", "Ends", "Share", "best_share", "outer"]

FARTHEST: Final = 0.25
"""No range is reported if its low end would be a larger quantile than this: more than a quarter of
the weight would be below the range, and as much above it."""

_NEAREST: Final = 1 / 64
"""The most extreme quantile that is used. A more extreme one would depend on single people."""

_LINE: Final = 14.0
"""ln of the prior weight of the whole line, divided by the prior weight of one bucket near 10¹²
that may contain all data."""

_SURE: Final = 8.0
"""ln of the required odds, 3000 to 1, against a wrong end of the range."""

_TIMES: Final = {"replace": 1.0, "add-remove": 1.5}
"""A factor on the required log-odds. It is larger under add/remove, because the numbers of people
are only expected numbers there."""

_HOPELESS: Final = 0.45
"""The quantile above which another round is not worth its budget."""

_INWARDS: Final = 1.5
"""The next round searches for a quantile that is this many times as large, and so less extreme. So
the quantile stays inside the window of that round."""

_KEPT: Final = np.linspace(1.0, 0.5, 11)
"""How much of everyone's budget to reserve for the mean, as fractions of the mean's best cap. They
are tried in this order."""

_LEAST: Final = 0.02
"""The fraction of everyone's budget that is always spent on the range. The range thus also
represents people with small budgets."""

_TINY: Final = 2.0**-1000
"""Smaller budgets count as 0. Parts of such a budget can be subnormal, and rounding could make
their sum exceed the budget."""

_HALF: Final = 3.5
"""The range is widened by a factor that, for Gaussian data, gives this many σ on either side."""

WEIGHT_BITS: Final = 17
"""The number of bits of weights: 64 times the sum of all weights fits an int64."""

_FINE: Final = 8.0
"""A range of at least this many buckets is precise enough."""

_PARTS: Final = 64
_WIDER: Final = 4.0
LOW, HIGH = "a low quantile of the values", "a high quantile of the values"


@dataclass(frozen=True, eq=False)
class Share:
    """The amount that each of the two selections takes from a person at each level.

    Attributes:
        each: the part of a person's budget at each level that one selection takes.
        quantile: the most extreme quantile that a selection can find; above one half if it cannot
            find any.
    """

    each: Floats
    quantile: float


@dataclass(frozen=True, eq=False)
class Ends:
    """An estimated range, and what people spent to estimate it.

    Attributes:
        bounds: the two ends; always finite floats.
        alike: whether both quantiles are in one bucket of the finest grid that was used.
        keys: the rounded budgets of each coarse level.
        levels: the smallest budget of each coarse level.
        counts: the number of people at each coarse level.
        losses: the exact amount that a person at each coarse level has spent.
    """

    bounds: tuple[float, float]
    alike: bool
    keys: Floats
    levels: Floats
    counts: Integers
    losses: tuple[Fraction, ...]


def best_share(
    levels: Floats,
    counts: Integers,
    goal: MeanGoal,
    *,
    neighbours: str = "replace",
    odds: float = _LINE,
) -> Share:
    """Return the smallest share that finds an extreme quantile.

    It is taken first from budget that the mean does not use.

    Args:
        levels: the remaining budget at each level, from 0 to ∞, in any order.
        counts: the number of people at each level, present or expected.
        goal: the goal of the mean.
        neighbours: "replace" or "add-remove". Under add/remove, the counts are a guess.
        odds: ln of the prior weight of all candidates, divided by the prior weight of a correct
            candidate.
    """
    people = counts.astype(np.float64)
    cap = math.inf
    if int(counts.sum()) >= 2 and float(levels.max()) > 0.0:
        cap = best_cap(budgets_of(levels, counts), goal, goal.noise)
    finite = np.where(np.isinf(levels), 64.0, np.where(levels < _TINY, 0.0, levels))
    best = Share(np.zeros(len(levels)), math.inf)
    # Two selections that take a quarter of the budget each leave half of it for another round. If
    # they take half each, nothing is left.
    for parts in (4.0, 2.0):
        for kept in _KEPT.tolist():
            most = np.maximum((finite - kept * min(cap, 1e6)) / parts, _LEAST * finite)
            share = _least(np.minimum(most, 4.0), people, _TIMES[neighbours] * (odds + _SURE))
            if share.quantile <= _NEAREST:
                return share
            if share.quantile < best.quantile:
                best = share
        if best.quantile <= FARTHEST:
            break
    return best


def _least(most: Floats, people: Floats, odds: float) -> Share:
    """Return the shares with the lowest cap that finds the quantile `_NEAREST`.

    If even the uncapped shares cannot find it, return these, with the best quantile that they find.
    """
    wanted = 2.0 * odds / _NEAREST
    if float(most @ people) <= wanted:
        total = float(most @ people)
        return Share(most, 2.0 * odds / total if total > 0.0 else math.inf)
    low, high = 0.0, float(most.max())
    for _ in range(40):
        middle = (low + high) / 2.0
        if float(np.minimum(most, middle) @ people) >= wanted:
            high = middle
        else:
            low = middle
    return Share(np.minimum(most, high), _NEAREST)


def outer(
    count: Callable[[line.Window | None], line.Lined],
    goal: MeanGoal,
    *,
    neighbours: str,
    agree: Callable[[line.Lined, Share], None] | None = None,
    before: tuple[Fraction, ...] | None = None,
    people: Payers | None = None,
) -> Generator[Draw, Any, Ends]:
    """Estimate a range that contains nearly all values of any data.

    Args:
        count: a function that counts people by level and sums weights by bucket, in one pass.
        goal: the goal of the mean, which gets the remaining budget.
        neighbours: "replace" or "add-remove".
        agree: a function that can raise an error. It is called with the levels and the first share,
            before anything is drawn.
        before: the amount that a person at each level has spent already.
        people: the people who are charged, if their levels differ from the counted levels.

    Guarantee:
        A person at a level spends the sum of the stages' declared losses. A stage uses the data
        only through the integers that it adds noise to. Zooming depends on drawn numbers only.
    """
    levels, place = (None, None) if people is None else (people.levels, people.place)
    stages: list[Selection] = []
    window: line.Window | None = None
    counted = count(window)
    left = left_of(counted, before, stages)
    share = best_share(left, counted.counts, goal, neighbours=neighbours)
    if agree is not None:
        agree(counted, share)
    for step in range(ROUNDS):
        space: Candidates = TheLine() if window is None else CellsOf(window.cells)
        ends = []
        far, near = _odds(share.quantile)
        total = counted.masses(weights_of(share.each, WEIGHT_BITS)[0])  # both ends spend the same
        for odds, seeks in (((far, near), LOW), ((near, far), HIGH)):
            stage = selection(counted, share.each, neighbours, space, seeks, odds, WEIGHT_BITS)
            index = yield Draw(stage, total, True, levels, place)
            stages.append(stage)
            ends.append(window_at(window, index))
        (low, width), (high, other) = sorted(ends)
        width = max(width, other)
        if high - low >= _FINE * width or step == ROUNDS - 1:
            break
        cells = ZOOM[step + 1]
        left = left_of(counted, before, stages)
        closer = best_share(left, counted.counts, goal, neighbours=neighbours, odds=math.log(cells))
        if closer.quantile > _HOPELESS or low == high == 0.0:
            break  # more rounds would not help: the rest of the budget is spent on the mean
        inner = min(_INWARDS * share.quantile, _HOPELESS)
        share = replace(closer, quantile=max(closer.quantile, inner))
        reach = (high - low) / 2.0 + _WIDER * width
        window = line.Window.around((low + high) / 2.0, reach, cells)
        counted = count(window)
    half = max((high - low) / 2.0, width / 2.0) * _wider(far / _PARTS)
    return Ends(
        around(low / 2.0 + high / 2.0, half),
        high - low < width / 2.0,
        counted.keys,
        counted.levels,
        counted.counts,
        spent_on(before, stages, len(counted.levels)),
    )


def _odds(part: float) -> tuple[int, int]:
    """Return the odds of a low quantile as two integers. The quantile is at most the median."""
    left = max(math.ceil(min(part, 0.5) * _PARTS), 1)
    return left, _PARTS - left


def _wider(part: float) -> float:
    """Return the ratio of the range to the distance between two quantiles, for Gaussian data.

    Args:
        part: the quantile that was used; never more extreme than budgets allow.
    """
    return max(_HALF / quantile(1.0 - min(part, 0.49)), 1.0)
