"""Find the centre and the spread of data: a weighted median, and that of the distances to it.

Each round looks at a finer picture of the line. The first sees all of float64 at 11 significant
bits. If the deviation it finds is as small as its buckets, the next round zooms in on the few
buckets around the centre, and so on. This depends only on numbers that were released earlier.
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
"""The most passes over the rows that finding the range may take."""

ZOOM: Final = (0, 2**14, 2**22)
"""The cells of the window in each round after the first: few while data may fill them all."""

_FINE = 2.5
"""A deviation of this many buckets is precise enough."""

_WEIGHT_BITS = 24
_NARROWEST = 2.0**-890

CENTRE = "the weighted median of the values"
DEVIATION = "the weighted median of the distances to the centre"


@dataclass(frozen=True, eq=False)
class Found:
    """A centre and a deviation, and the selections that they were drawn from.

    Attributes:
        centre: an approximate median.
        deviation: an approximate median of the distances to it.
        width: the width of a bucket at the centre.
        stages: the frozen mechanisms, in the order in which they were drawn.
        near: in the last round, the prior share of one bucket at the centre.
        odds: in the last round, the prior share of the deviation.
        keys: the rounded budgets of each coarse level.
        levels: the smallest budget of each coarse level; these are the levels of the stages.
        counts: the number of people at each coarse level.
        losses: what a person at each coarse level has spent, exactly.
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
    """The people who are charged, if the selections use coarser or capped levels.

    Attributes:
        levels: the budgets of the people who are charged.
        place: the index of each among the levels of the selections.
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
    """Find a centre and a deviation.

    Args:
        count: counts people by level, and adds up weights by bucket: one pass over the values.
        neighbours: "replace" or "add-remove".
        agree: receives the levels and the first split before anything is drawn, and may refuse.
        before: what a person at each level has spent already.
        people: the people whom selections charge, if their levels differ from those counted.
        doubts: how few people there may be, if they were counted with noise.

    Guarantee:
        A person at a level spends the sum of the stages' declared losses, and no stage uses the
        data except through the integers that it draws around. Zooming depends on drawn numbers
        only.
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
        # Both totals come from one pass. Only its own draw uses the second.
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
            break  # the rest would find nothing finer, so it goes to the mean
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
    before: tuple[Fraction, ...] | None, stages: Sequence[Selection], levels: int
) -> tuple[Fraction, ...]:
    """Return what a person at each level has spent so far, exactly."""
    parts = [before or (Fraction(0),) * levels, *(stage.losses for stage in stages)]
    return added_up(parts)


def left_of(
    counted: line.Lined, before: tuple[Fraction, ...] | None, stages: Sequence[Selection]
) -> Floats:
    """Return what a person at each level has left after `before` and these stages."""
    return remaining(counted.levels, spent_on(before, stages, len(counted.levels)))


def remaining(levels: Floats, spent: Sequence[Fraction]) -> Floats:
    """Return what is left of budgets, rounded down."""
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
    """Build the selection that takes these shares: weights are share·2^s, rounded down.

    Args:
        counted: the people, with their levels.
        shares: what it takes from a person at each level.
        neighbours: "replace" or "add-remove".
        candidates: the candidates to choose from.
        seeks: what is sought, in words.
        odds: the odds of the quantile; those of the median by default.
        bits: the bits of the largest weight. The sum over all people, times the odds, must fit an
            int64.
    """
    weights, shift = weights_of(shares, bits)
    scale = spread_of(neighbours, odds) << shift
    return Selection(counted.levels.copy(), weights, scale, neighbours, candidates, seeks, odds)


def weights_of(shares: Floats, bits: int = _WEIGHT_BITS) -> tuple[Integers, int]:
    """Return the weights share·2^s of a selection, rounded down, and s.

    Args:
        shares: what it takes from a person at each level.
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
    """Return the middles of buckets; infinite outside the window."""
    if window is None:
        return line.values_of(places)
    inside = (places >= 0) & (places < window.cells)
    middles = window.lo + (places + 0.5) * window.width
    return np.where(inside, middles, np.where(places < 0, -np.inf, np.inf))


def _rings(
    values: Floats, masses: Integers, centre: float, sizes: Floats
) -> tuple[Integers, Integers]:
    """Add up weights by the first radius that reaches them; one more index for those beyond."""
    with np.errstate(over="ignore"):
        ring = np.searchsorted(sizes, np.abs(values - centre), side="left")
    found, place = np.unique(ring, return_inverse=True)
    total = np.zeros(found.size, dtype=np.int64)
    np.add.at(total, place, masses)
    return found.astype(np.int64), total


def _share(candidates: Candidates, index: int) -> float:
    """Return the share of the prior that one candidate has."""
    ends = candidates.before(np.array([index, index + 1, candidates.first, candidates.last + 1]))
    return float(ends[1] - ends[0]) / float(ends[3] - ends[2])


def around(centre: float, reach: float) -> tuple[float, float]:
    """Return the ends of a range: wide enough for floats to distinguish them, and not too wide.

    It lies within ±2^1021, so sums and differences of its ends are floats.
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
