"""Estimate the range of any data: its octaves first, then a closer look if values lie together.

Nothing is assumed about the shape. An octave contains the numbers between two neighbouring powers
of 2, or their negatives. One draw shows the noisy weight of the people in every octave. The range
reaches from the first to the last octave in which people were found. The more an octave would widen
the range, the more people must be in it. So the range of a column without negative values starts at
0 or above, and a long tail on one side does not widen the other side.

If people were found only in a few octaves of one sign, values may lie close together, as years do.
Then a low and a high quantile are selected within these octaves, as extreme as budgets allow. If
each person spends r on the selection of the quantile q, the odds of selecting a point far from all
data are e^{−q·Σr/2}. So q is the smallest quantile for which these odds are negligible.

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
import numpy.typing as npt

from epsilons.budgets.allocation import best_cap
from epsilons.door.count import line
from epsilons.draws.mechanisms import CellsOf, Octaves, Selection
from epsilons.draws.mechanisms.octaves import HIGHS, LOWS, RARE, ZERO
from epsilons.draws.noise import DiscreteLaplace
from epsilons.questions.question import Draw
from epsilons.questions.steps.locate import (
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
from epsilons.risk.goals import MeanGoal
from epsilons.risk.tails.gaussian import quantile
from epsilons.types import Floats, Integers

__all__ = ["FARTHEST", "Ends", "Share", "best_share", "first_share", "outer", "reached"]

FARTHEST: Final = 0.5
"""The people in an octave are found only if they have a large enough fraction of all weight. The
smaller the budgets, the larger this fraction must be. If it must be above this limit, there are too
few people to find a range."""

_LINE: Final = 7.0
"""−ln of the prior probability of the octave that contains 10¹². Even if all values are in that
octave, they must be found."""

_SURE: Final = 8.0
"""ln of the required odds, 3000 to 1, that an octave that was surely found is not empty, and that a
selected quantile is not wrong."""

_BASE: Final = 1.0
_STEP: Final = 0.5
_WIDEN: Final = 2.0
"""An octave that is j steps beyond the octaves that were surely found needs a noisy weight above
`_BASE` + `_STEP`·j + `_WIDEN`·ln(width with it / width without it), in multiples of the noise
scale. The noise of an empty octave exceeds this threshold with probability ½·e^{−threshold}. So
empty octaves add little to the mean square of the width, and to the noise of the mean."""

_TO_ZERO: Final = 4
"""The cell of the number 0 counts as at most this many steps away, although there are many tiny
octaves in between."""

_TAKEN: Final = np.linspace(0.25, 0.5, 6)
"""The draw of the octaves may take these fractions of the mean's best cap from the part of a budget
below that cap. They are tried in this order. Under add/remove the fractions are halved. The noise
is still the same relative to the weights, because one person changes only one octave."""

_USEFUL: Final = 4.0
"""Nobody spends more than this many times the mean's best cap on the octaves, unless too few people
would be found. If everyone spends this much, the octaves that are missed have so few people that
their effect on the mean is about as large as its noise."""

_NARROW: Final = 4.0
"""Values may lie close together if the larger end of the octaves that were surely found is at most
this many times the smaller end."""

_TOGETHER: Final = 2.0
"""Values lie close together if they are in one octave: its larger end is this many times the
smaller end."""

_NARROWER: Final = 0.6
"""The range from a closer look is used if its width is at most this fraction of the width of the
octaves. A wider range would cut off long tails, but hardly reduce the noise."""

_CLOSE: Final = 1 / 8
"""The least extreme quantile for which a closer look is taken if values may lie close together."""

_ENOUGH: Final = 1 / 4
"""If a round can find a quantile at least as extreme as this and leave budget for another round, it
does not spend more. If values may lie close together, `_CLOSE` is used instead."""

_NEAREST: Final = 1 / 64
"""The most extreme quantile that is used. A more extreme one would depend on single people."""

_TIMES: Final = {"replace": 1.0, "add-remove": 1.5}
"""A factor on the required log-odds. It is larger under add/remove, because the numbers of people
are only expected numbers there."""

_HOPELESS: Final = 0.45
"""The quantile above which another round is not worth its budget."""

_INWARDS: Final = 1.5
"""The next round searches for a quantile that is this many times as large, and so less extreme. So
the quantile stays inside the window of that round."""

_KEPT: Final = np.linspace(1.0, 0.5, 11)
"""The part of everyone's budget that a closer look leaves for the mean, as fractions of the mean's
best cap. They are tried in this order, the last ones only if values surely lie close together."""

_KEPT_MAYBE: Final = 5
"""The number of fractions in `_KEPT` that are tried if it is uncertain whether values lie close
together: those down to 0.8."""

_LEAST: Final = 0.02
"""The smallest fraction of everyone's budget that a draw spends. So the range also represents
people with small budgets."""

_TINY: Final = 2.0**-1000
"""Smaller budgets count as 0. Parts of such a budget can be subnormal, and rounding could make
their sum exceed the budget."""

_HALF: Final = 3.5
"""After a closer look, the range is widened by a factor that, for Gaussian data, gives this many σ
on either side. It stays within the octaves that were found."""

WEIGHT_BITS: Final = 17
"""The number of bits of weights: 64 times the sum of all weights fits an int64."""

_FINE: Final = 8.0
"""A range of at least this many buckets is precise enough."""

_PARTS: Final = 64
_WIDER: Final = 4.0
LOW, HIGH = "a low quantile of the values", "a high quantile of the values"


@dataclass(frozen=True, eq=False)
class Share:
    """The amount that one draw takes from a person at each level.

    Attributes:
        each: the amount taken from a person at each level.
        quantile: for octaves, the smallest fraction of all weight that is found if it is in one
            octave; for a selection, the most extreme quantile that is found. It is above 1 if
            nothing can be found.
    """

    each: Floats
    quantile: float


@dataclass(frozen=True, eq=False)
class Ends:
    """An estimated range, and what people spent to estimate it.

    Attributes:
        bounds: the two ends; always finite floats.
        alike: whether nearly all values seem to be the same: only 0 was found, or both quantiles
            are in one bucket of the finest grid that was used.
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


def first_share(
    levels: Floats, counts: Integers, goal: MeanGoal, *, neighbours: str = "replace"
) -> Share:
    """Return what everyone spends on the octaves.

    A person with a budget above the mean's best cap spends a quarter of the cap, and half of the
    budget above it. If too few people would be found, they spend up to half of the cap, and all of
    the budget above it. People with smaller budgets spend less. Under add/remove, the noise is half
    as large, so the part of the cap is halved.

    Args:
        levels: the remaining budget at each level, from 0 to ∞, in any order.
        counts: the number of people at each level, present or expected.
        goal: the goal of the mean.
        neighbours: "replace" or "add-remove". Under add/remove, the counts are a guess.
    """
    cap, finite = _cap_of(levels, counts, goal), _usable(levels)
    moves = 2.0 if neighbours == "replace" else 1.0
    share = Share(np.zeros(len(levels)), math.inf)
    for taken, useful in [*((each, _USEFUL) for each in _TAKEN.tolist()), (0.5, math.inf)]:
        below = np.minimum(finite, cap) - (1.0 - taken * moves / 2.0) * min(cap, 1e6)
        above = np.maximum(finite - cap, 0.0) * (2.0 * taken)
        each = np.minimum(np.maximum(below + above, _LEAST * finite), min(useful * cap, 4.0))
        total = float(each @ counts.astype(np.float64))
        found = moves * _TIMES[neighbours] * (_LINE + _SURE) / total if total > 0.0 else math.inf
        share = Share(each, found)
        if found <= FARTHEST:
            break
    return share


def _cap_of(levels: Floats, counts: Integers, goal: MeanGoal) -> float:
    """Return the best cap of a mean that gets all remaining budgets; ∞ if there is none."""
    if int(counts.sum()) < 2 or float(levels.max()) <= 0.0:
        return math.inf
    return best_cap(budgets_of(levels, counts), goal, goal.noise)


def _usable(levels: Floats) -> Floats:
    """Return budgets as finite numbers: ∞ becomes 64, and budgets too small to divide become 0."""
    return np.where(np.isinf(levels), 64.0, np.where(levels < _TINY, 0.0, levels))


def reached(
    mechanism: Octaves, drawn: npt.NDArray[Any]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the ends of the octaves in which people were surely found, and those of the range.

    Octaves are surely found if the odds are 3000 to 1 that their noisy weight is not only noise,
    taking all octaves together. If there are none, the octave that is closest to this is used. From
    there, the range can grow on each side, toward 0 or away from it. It never grows from an end at
    0, or across 0.

    Args:
        mechanism: the mechanism.
        drawn: the noisy weight of each octave.
    """
    noisy = np.asarray(drawn, dtype=np.float64) / float(mechanism.law.scale)
    certain = noisy - RARE
    found = np.flatnonzero(certain >= min(_SURE, float(certain.max())))
    first, last = int(found[0]), int(found[-1])
    width = max(float(HIGHS[last] - LOWS[first]), float(np.finfo(np.float64).tiny))

    def walk(start: int, step: int) -> int:
        """Return the farthest cell on this side whose noisy weight is above its threshold."""
        if start == ZERO:
            return start
        inwards = (start - ZERO) * step < 0
        stop = ZERO if inwards else ZERO + step * ZERO
        cells = np.arange(start + step, stop + step, step)
        steps = np.arange(1.0, len(cells) + 1.0)
        if inwards:
            steps[-1] = min(steps[-1], _TO_ZERO)
        ends = HIGHS[last] - LOWS[cells] if step < 0 else HIGHS[cells] - LOWS[first]
        wider = np.log(np.maximum(ends, width)) - math.log(width)
        passed = cells[noisy[cells] > _BASE + _STEP * steps + _WIDEN * wider]
        return int(passed[-1]) if passed.size else start

    sure = float(LOWS[first]), float(HIGHS[last])
    return sure, (float(LOWS[walk(first, -1)]), float(HIGHS[walk(last, 1)]))


def best_share(
    levels: Floats,
    counts: Integers,
    goal: MeanGoal,
    *,
    neighbours: str = "replace",
    odds: float,
    certain: bool = True,
) -> Share:
    """Return what each of two selections takes from everyone to find an extreme quantile.

    The amount is as small as possible, and is taken first from budget that the mean does not use.

    Args:
        levels: the remaining budget at each level, from 0 to ∞, in any order.
        counts: the number of people at each level, present or expected.
        goal: the goal of the mean.
        neighbours: "replace" or "add-remove". Under add/remove, the counts are a guess.
        odds: ln of a quotient: the prior weight of all candidates, divided by the prior weight of a
            correct candidate.
        certain: whether values surely lie close together. If so, a closer look may take half of the
            budget of the mean; otherwise it may take a fifth.
    """
    people = counts.astype(np.float64)
    cap, finite = _cap_of(levels, counts, goal), _usable(levels)
    best = Share(np.zeros(len(levels)), math.inf)
    # Two selections that take a quarter of the budget each leave half of it for another round. If
    # they take half each, nothing is left.
    for parts in (4.0, 2.0):
        for kept in _KEPT[: None if certain else _KEPT_MAYBE].tolist():
            most = np.maximum((finite - kept * min(cap, 1e6)) / parts, _LEAST * finite)
            share = _least(np.minimum(most, 4.0), people, _TIMES[neighbours] * (odds + _SURE))
            if share.quantile <= _NEAREST:
                return share
            if share.quantile < best.quantile:
                best = share
        if best.quantile <= (_ENOUGH if certain else _CLOSE):
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
        only through the integers that it adds noise to. Every choice depends only on drawn numbers,
        on arguments, and on the levels and numbers of people from `count`, which must be public.
        Proof: docs/proofs/gaussian.md (5), (11).
    """
    payers = (None, None) if people is None else (people.levels, people.place)
    counted = count(None)
    share = first_share(left_of(counted, before, []), counted.counts, goal, neighbours=neighbours)
    if agree is not None:
        agree(counted, share)
    weights, shift = weights_of(share.each, WEIGHT_BITS)
    moves = 2 if neighbours == "replace" else 1
    law = DiscreteLaplace(Fraction(moves) * 2**shift)
    octaves = Octaves(counted.levels.copy(), weights, law, neighbours)
    drawn = yield Draw(octaves, octaves.total(counted.masses(weights)), True, *payers)
    (low, high), bounds = reached(octaves, drawn)
    stages: list[Octaves | Selection] = [octaves]
    alike = False
    if low * high > 0.0 and max(low / high, high / low) <= _NARROW:
        near, alike, counted = yield from _closer(
            count, counted, goal, neighbours, (low, high), stages, before, payers
        )
        near = max(near[0], bounds[0]), min(near[1], bounds[1])
        if 0.0 < near[1] - near[0] <= _NARROWER * (bounds[1] - bounds[0]):
            bounds = near
    low, high = bounds
    return Ends(
        bounds if low < high else around(low, 0.0),
        alike or low == high,
        counted.keys,
        counted.levels,
        counted.counts,
        spent_on(before, stages, len(counted.levels)),
    )


def _closer(
    count: Callable[[line.Window | None], line.Lined],
    counted: line.Lined,
    goal: MeanGoal,
    neighbours: str,
    found: tuple[float, float],
    stages: list[Octaves | Selection],
    before: tuple[Fraction, ...] | None,
    payers: tuple[Floats | None, Integers | None],
) -> Generator[Draw, Any, tuple[tuple[float, float], bool, line.Lined]]:
    """Select two quantiles within octaves of one sign, if the budgets are large enough.

    Args:
        count: a function that counts people by level and sums weights by bucket, in one pass.
        counted: the result of the first pass.
        goal: the goal of the mean, which gets the remaining budget.
        neighbours: "replace" or "add-remove".
        found: the ends of the octaves in which people were surely found.
        stages: the mechanisms that were drawn; those of the closer look are appended.
        before: the amount that a person at each level had spent before all these mechanisms.
        payers: the levels and the places of `Payers`; both are None if there are none.

    Returns:
        The range, whether nearly all values seem to be the same, and the last counts. If
        budgets are too small, the range is the whole line.
    """
    start, end = (int(each) for each in line.index_of(line.rounded(np.array(found))))
    cells, window = end - start + 1, None
    certain = max(map(abs, found)) <= _TOGETHER * min(map(abs, found))
    share = _closer_share(counted, before, stages, goal, neighbours, cells, certain=certain)
    if share.quantile > (_HOPELESS if certain else _CLOSE):
        return (-math.inf, math.inf), False, counted
    for step in range(ROUNDS):
        ends = []
        far, near = _odds(share.quantile)
        places, masses = counted.masses(weights_of(share.each, WEIGHT_BITS)[0])
        total = places - start, masses  # both ends spend the same
        for odds, seeks in (((far, near), LOW), ((near, far), HIGH)):
            stage = selection(
                counted, share.each, neighbours, CellsOf(cells), seeks, odds, WEIGHT_BITS
            )
            index = yield Draw(stage, total, True, *payers)
            stages.append(stage)
            ends.append(window_at(window, index + start))
        (low, width), (high, other) = sorted(ends)
        width = max(width, other)
        if high - low >= _FINE * width or step == ROUNDS - 1:
            break
        closer = _closer_share(counted, before, stages, goal, neighbours, ZOOM[step + 1])
        if closer.quantile > _HOPELESS:
            break  # more rounds would not help: the rest of the budget is spent on the mean
        inner = min(_INWARDS * share.quantile, _HOPELESS)
        share = replace(closer, quantile=max(closer.quantile, inner))
        reach = (high - low) / 2.0 + _WIDER * width
        start, cells = 0, ZOOM[step + 1]
        window = line.Window.around((low + high) / 2.0, reach, cells)
        counted = count(window)
    half = max((high - low) / 2.0, width / 2.0) * _wider(far / _PARTS)
    return around(low / 2.0 + high / 2.0, half), high - low < width / 2.0, counted


def _closer_share(
    counted: line.Lined,
    before: tuple[Fraction, ...] | None,
    stages: list[Octaves | Selection],
    goal: MeanGoal,
    neighbours: str,
    cells: int,
    *,
    certain: bool = True,
) -> Share:
    """Return what a selection among this many cells takes from the remaining budgets."""
    left = left_of(counted, before, stages)
    return best_share(
        left, counted.counts, goal, neighbours=neighbours, odds=math.log(cells), certain=certain
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
