"""The mean when nobody knows the range: find one privately, then take the capped mean on it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from epsilons import tally
from epsilons.allocation.split import TOO_OFTEN, Split, best_split
from epsilons.budgets import float_up
from epsilons.errors import BudgetError, DataError
from epsilons.mechanisms import Additive, added_up, with_squares
from epsilons.release import ByLevel, Scalar
from epsilons.risk.located import SIGMA, Located, finite
from epsilons.risk.located_squares import LocatedSquares
from epsilons.statistics.call import Call
from epsilons.statistics.capped import capped_mean, picture_of, range_of
from epsilons.statistics.locate import Found, locate
from epsilons.statistics.outer import Ends
from epsilons.statistics.steps import Answer, Draw, Losses, Steps
from epsilons.tally import line
from epsilons.types import Floats, Integers

__all__ = [
    "answer",
    "enough_times",
    "people_needed",
    "place_of",
    "two_digits",
    "weighted",
]


CHANGED = (
    "data changed while they were read: the budgets of the last pass are not those of the first. "
    "Read data that do not change."
)


def weighted(rows: tally.Rows, call: Call) -> Steps:
    """Two selections (or more, where data lie close together), then the mean.

    Guarantee:
        Pure, for every input, replace-one: person i loses at most the sum of what the stages take
        of them, a rational number of at most ε_i. Proof: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithms 5 to 7, with weights min(ε, τ) in place of sampling, and the
        constant 2·(width/σ)² in the cap of the mean.

    Raises:
        BudgetError: the budgets are too small for so few people. Nothing was drawn.
    """
    lines = rows.lines()

    def agree(counted: line.Lined, split: Split) -> None:
        _enough(counted, split)
        if call.divided:  # the levels of the mean are finer: they must be divisible, too
            call.offered(lines.levels())

    found = yield from locate(
        lambda window: call.part(lines.line(window)), neighbours="replace", agree=agree
    )
    bounds = range_of(found)
    counted = rows.count(tally.Ask("squares", bounds))
    levels = call.offered(counted.levels)
    place = place_of(found, counted.levels, levels)
    spent = tuple(found.losses[at] for at in place.tolist())
    sigma = SIGMA * found.deviation
    alone = capped_mean(levels, counted.counts, spent, bounds=bounds, aim=sigma)
    mechanism = with_squares(alone)
    pair = yield Draw(mechanism, mechanism.total(counted))
    lost, picture = added_up((spent, mechanism.losses)), picture_of(found)
    margin = LocatedSquares(
        picture, mechanism.weighing, mechanism.slack, mechanism.moments(pair)[1]
    )
    return answer(mechanism.alone, pair[0], margin, "weighted", lost)


def answer(mechanism: Additive, drawn: int, margin: Located, method: str, lost: Losses) -> Answer:
    """The answer of a mean on a range that was found.

    Args:
        mechanism: of the mean.
        drawn: its lattice point.
        margin: how far the truth may be.
        method: by name.
        lost: what a person of each level lost in all stages.
    """
    lo, hi = mechanism.bounds
    raw = finite(mechanism.estimate(drawn))
    sigma = SIGMA * margin.picture.deviation
    spent = np.minimum(np.array([float_up(loss) for loss in lost]), mechanism.levels)
    return Answer(
        estimate=Scalar(
            value=min(max(raw, lo), hi), raw=raw, bounds=(lo, hi), margin=margin, sigma=sigma
        ),
        method=method,
        n=int(mechanism.counts.sum()),
        risk=margin.mse((lo, hi), sigma),
        exact=False,
        spent=ByLevel(mechanism.levels, spent, mechanism.counts),
    )


def _enough(counted: line.Lined, split: Split) -> None:
    """Refuse, before anything is drawn, where the range would be a guess.

    Raises:
        BudgetError: it would; the message says how many people would do.
    """
    if split.failure <= TOO_OFTEN:
        return
    n = int(counted.counts.sum())
    counts = counted.counts.astype(np.float64)
    times = _enough_people(counted.levels, counts, "replace")
    people = two_digits(n * times)
    also = ""
    if _failure(times * counted.levels, counts, "replace") <= TOO_OFTEN:
        also = f"or budgets {times:.1f} times as large, "
    raise BudgetError(
        f"epsilon is too small for {n} people to find the range of the values: it would be wrong "
        f"with a probability of up to {split.failure:.0%}. About {people} people with budgets "
        f"like these would be enough, {also}or give bounds=(lo, hi). Nothing was drawn."
    )


def enough_times(failure: Callable[[float], float], most: float = TOO_OFTEN) -> float:
    """About the smallest factor at which the range would be found."""
    low, high = 1.0, 2.0
    while failure(high) > most and high < 2.0**40:
        low, high = high, 2.0 * high
    for _ in range(12):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if failure(middle) > most else (low, middle)
    return high


def two_digits(people: float) -> int:
    """A number of people, rounded up to two digits, which tell enough."""
    wanted = math.ceil(people)
    digit = int(10 ** max(len(str(wanted)) - 2, 0))
    return -(-wanted // digit) * digit


def people_needed(levels: Floats, counts: Integers, *, neighbours: str = "replace") -> int:
    """About how many people with budgets like these find a range that is seldom wrong.

    Args:
        levels: the budgets of coarse levels.
        counts: the people of each, present or expected: too few.
        neighbours: "replace" or "add-remove".
    """
    times = _enough_people(levels, counts.astype(np.float64), neighbours)
    return two_digits(int(counts.sum()) * times)


def _enough_people(levels: Floats, counts: Floats, neighbours: str) -> float:
    """About how many times as many people would find the range."""
    return enough_times(lambda factor: _failure(levels, factor * counts, neighbours))


def _failure(levels: Floats, people: Floats, neighbours: str) -> float:
    """The forecast probability of a wrong range."""
    return best_split(levels, np.ceil(people).astype(np.int64), neighbours=neighbours).failure


def place_of(found: Found | Ends, budgets: Floats, offered: Floats) -> Integers:
    """The place of each level among the coarse ones that the stages speak of.

    Args:
        found: what the stages found.
        budgets: the levels of the last pass.
        offered: what people of these offer here.

    Raises:
        DataError: there are levels that no stage has seen.
    """
    keys = line.coarse(budgets)
    place = np.minimum(np.searchsorted(found.keys, keys), len(found.keys) - 1)
    if not (found.keys[place] == keys).all() or not (found.levels[place] <= offered).all():
        raise DataError(CHANGED)
    return place
