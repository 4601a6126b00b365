"""Estimate the centre and the spread of data: a weighted median, and the median distance to it.

Each round uses a finer grid of buckets. The first round covers all of float64 with 11 significant
bits. If the deviation is as small as its buckets, the next round zooms in on the few buckets around
the centre, and so on. Zooming depends only on numbers that were released earlier.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from epsilons.budgets.allocation.split import TOO_OFTEN, Doubts, Split, best_split
from epsilons.budgets.levels import Budgets, float_down
from epsilons.door.count import line
from epsilons.draws.mechanisms import (
    Candidates,
    CellsOf,
    Octaves,
    Selection,
    TheLine,
    added_up,
    radii,
    spread_of,
)
from epsilons.questions.question import Draw
from epsilons.types import Floats, Integers

__all__ = [
    "ROUNDS",
    "ZOOM",
    "Found",
    "Payers",
    "around",
    "budgets_of",
    "left_of",
    "locate",
    "remaining",
    "selection",
    "spent_on",
    "weights_of",
    "window_at",
]

ROUNDS: Final = 3
"""The maximum number of passes over the rows to estimate the range."""

ZOOM: Final = (0, 2**14, 2**22)
"""The number of buckets into which each round divides its window. The first round has no window.
The second round has fewer buckets than the third, because data may fill all of them."""

_FINE = 2.5
"""A deviation of this many buckets is precise enough."""

_WEIGHT_BITS = 24
_NARROWEST = 2.0**-890

CENTRE = "the weighted median of the values"
DEVIATION = "the weighted median of the distances to the centre"


@dataclass(frozen=True, eq=False)
class Found:
    """A centre and a deviation, and the selections that produced them.

    Attributes:
        centre: an approximate median.
        deviation: an approximate median of the distances to the centre.
        width: the width of a bucket at the centre.
        stages: the frozen mechanisms, in the order in which they were drawn.
        near: the prior probability of the bucket of the centre, in the last round.
        odds: the prior probability of the deviation that was selected, in the last round.
        keys: the rounded budgets of each coarse level.
        levels: the smallest budget of each coarse level; these are the levels of the stages.
        counts: the number of people at each coarse level.
        losses: the exact amount that a person at each coarse level has spent.
    """

    centre: float
    deviation: float
    width: float
    stages: tuple[Selection, ...]
    near: float
    odds: float
    keys: Floats
    levels: Floats
    counts: Integers
    losses: tuple[Fraction, ...]


@dataclass(frozen=True, eq=False)
class Payers:
    """The people who are charged, if their levels differ from those of the selections.

    Attributes:
        levels: the budgets of the people who are charged.
        place: for each budget, its index among the levels of the selections.
    """

    levels: Floats
    place: Integers


def locate(
    count: Callable[[line.Window | None], line.Lined],
    *,
    neighbours: str,
    agree: Callable[[line.Lined, Split], None] | None = None,
    before: tuple[Fraction, ...] | None = None,
    people: Payers | None = None,
    doubts: Doubts = (),
) -> Generator[Draw, Any, Found]:
    """Estimate a centre and a deviation.

    Args:
        count: a function that counts people by level and sums weights by bucket, in one pass.
        neighbours: "replace" or "add-remove".
        agree: a function that can raise an error. It is called with the levels and the first split
            of budgets, before anything is drawn.
        before: the amount that a person at each level has spent already.
        people: the people who are charged, if their levels differ from the counted levels.
        doubts: pessimistic numbers of people with their probabilities, if they were counted with
            noise.

    Guarantee:
        A person at a level spends the sum of the stages' declared losses. A stage uses the data
        only through the integers that it adds noise to. Zooming depends on drawn numbers only.
    """
    levels, place = (None, None) if people is None else (people.levels, people.place)
    stages: list[Selection] = []
    window: line.Window | None = None
    counted = count(window)
    split = best_split(
        left_of(counted, before, stages), counted.counts, neighbours=neighbours, doubts=doubts
    )
    if agree is not None:
        agree(counted, split)
    for step in range(ROUNDS):
        space: Candidates = TheLine() if window is None else CellsOf(window.cells)
        first = selection(counted, split.centre, neighbours, space, CENTRE)
        # Both totals come from one pass. The second total is used only by the second draw.
        places, masses, others = counted.masses(first.weights, weights_of(split.deviation)[0])
        index = yield Draw(first, (places, masses), True, levels, place)
        middle, width = window_at(window, index)
        sizes, listed = radii(1.5 * width, line.LIMIT if window is None else window.hi - window.lo)
        second = selection(counted, split.deviation, neighbours, listed, DEVIATION)
        rings = _rings(_values(window, places), others, middle, sizes)
        ring = yield Draw(second, rings, True, levels, place)
        stages += [first, second]
        deviation = float(sizes[ring])
        if deviation >= _FINE * width or step == ROUNDS - 1:
            break
        cells = ZOOM[step + 1]
        split = best_split(
            left_of(counted, before, stages),
            counted.counts,
            neighbours=neighbours,
            odds=math.log(cells),
            doubts=doubts,
        )
        if split.failure > TOO_OFTEN:
            break  # more rounds would not help: the rest of the budget is spent on the mean
        window = line.Window.around(middle, 4.0 * deviation, cells)
        counted = count(window)
    return Found(
        middle,
        deviation,
        width,
        tuple(stages),
        _share(space, index),
        _share(listed, ring),
        counted.keys,
        counted.levels,
        counted.counts,
        spent_on(before, stages, len(counted.levels)),
    )


def spent_on(
    before: tuple[Fraction, ...] | None, stages: Sequence[Octaves | Selection], levels: int
) -> tuple[Fraction, ...]:
    """Return the exact amount that a person at each level has spent so far."""
    parts = [before or (Fraction(0),) * levels, *(stage.losses for stage in stages)]
    return added_up(parts)


def left_of(
    counted: line.Lined, before: tuple[Fraction, ...] | None, stages: Sequence[Octaves | Selection]
) -> Floats:
    """Return the budget that a person at each level has left after `before` and these stages."""
    return remaining(counted.levels, spent_on(before, stages, len(counted.levels)))


def remaining(levels: Floats, spent: Sequence[Fraction]) -> Floats:
    """Return the remaining budgets, rounded down."""
    left = []
    for level, gone in zip(levels.tolist(), spent, strict=True):
        if math.isinf(level):
            left.append(math.inf)
            continue
        left.append(max(float_down(Fraction(level) - gone), 0.0))
    return np.array(left)


def selection(
    counted: line.Lined,
    shares: Floats,
    neighbours: str,
    candidates: Candidates,
    seeks: str,
    odds: tuple[int, int] = (1, 1),
    bits: int = _WEIGHT_BITS,
) -> Selection:
    """Build the selection that spends these shares: weights are share·2^s, rounded down.

    Args:
        counted: the people, with their levels.
        shares: the amount that a person at each level spends.
        neighbours: "replace" or "add-remove".
        candidates: the candidates to choose from.
        seeks: a description of the quantity to select.
        odds: the odds of the quantile; by default, of the median.
        bits: the bits of the largest weight. The sum over all people, times the odds, must fit an
            int64.
    """
    weights, shift = weights_of(shares, bits)
    scale = spread_of(neighbours, odds) << shift
    return Selection(counted.levels.copy(), weights, scale, neighbours, candidates, seeks, odds)


def weights_of(shares: Floats, bits: int = _WEIGHT_BITS) -> tuple[Integers, int]:
    """Return the weights share·2^s of a selection, rounded down, and s.

    Args:
        shares: the amount that a person at each level spends.
        bits: the bits of the largest weight.
    """
    largest = float(shares.max())
    shift = bits - math.frexp(largest)[1] if largest > 0.0 else 0
    if shift < 0:
        raise ValueError("a share is larger than any stage can use")
    return np.floor(np.ldexp(shares, shift)).astype(np.int64), shift


def window_at(window: line.Window | None, index: int) -> tuple[float, float]:
    """Return the middle and the width of a bucket."""
    if window is None:
        return line.value_of(index), line.width_of(index)
    return window.value_of(index), window.width


def _values(window: line.Window | None, places: Integers) -> Floats:
    """Return the middle of each bucket; −∞ below the window, and +∞ above it."""
    if window is None:
        return line.values_of(places)
    inside = (places >= 0) & (places < window.cells)
    middles = window.lo + (places + 0.5) * window.width
    return np.where(inside, middles, np.where(places < 0, -np.inf, np.inf))


def _rings(
    values: Floats, masses: Integers, centre: float, sizes: Floats
) -> tuple[Integers, Integers]:
    """Sum weights by the smallest radius that reaches them. The last entry is beyond all radii."""
    with np.errstate(over="ignore"):
        ring = np.searchsorted(sizes, np.abs(values - centre), side="left")
    found, place = np.unique(ring, return_inverse=True)
    total = np.zeros(found.size, dtype=np.int64)
    np.add.at(total, place, masses)
    return found.astype(np.int64), total


def _share(candidates: Candidates, index: int) -> float:
    """Return the prior probability of one candidate."""
    ends = candidates.before(np.array([index, index + 1, candidates.first, candidates.last + 1]))
    return float(ends[1] - ends[0]) / float(ends[3] - ends[2])


def around(centre: float, reach: float) -> tuple[float, float]:
    """Return the ends of a range as two distinct floats.

    It lies within ±2^1021, so sums and differences of its ends do not overflow.
    """
    centre = min(max(centre, -line.LIMIT), line.LIMIT)
    reach = min(max(reach, _NARROWEST, 2.0**-44 * abs(centre)), line.LIMIT)
    return max(centre - reach, -line.LIMIT), min(centre + reach, line.LIMIT)


def budgets_of(left: Floats, counts: Integers) -> Budgets:
    """Return the remaining budgets as `Budgets`; levels that have become equal are merged."""
    levels, index = np.unique(left, return_inverse=True)
    people = np.zeros(levels.size, dtype=np.int64)
    np.add.at(people, index, counts)
    return Budgets.of_levels(levels, people)
