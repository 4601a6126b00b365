"""The best split of people into the strictest k and the others, for scores that are concave in k.

Every bound here treats the k strictest people by what privacy lets through, and the others as if
their records were public. A score of k that is concave has its best k by a look at the ends of the
levels and one bisection inside a level, so a bound costs one pass over the levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from epsilons.budgets import Budgets
from epsilons.types import Floats, Integers

Score: TypeAlias = Callable[..., Floats]
"""From k and sums over the k strictest people to a number that is to be large."""


_TRIED = 40
"""How many k inside a level are looked at together."""


_MANY = 4096
_PER_E = 256
"""Of more levels than `_MANY`, those within a factor e^{1/256} count as the highest of them."""


class Crowd(NamedTuple):
    """Levels, ascending, with the number of people at each: one person is allowed here."""

    levels: Floats
    counts: Integers

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    def times(self, factor: float) -> Crowd:
        """The same people with budgets `factor` times as large."""
        with np.errstate(over="ignore"):
            return Crowd(self.levels * factor, self.counts)


def people_of(budgets: Budgets) -> Crowd:
    """Everyone, as levels and counts; of very many levels, neighbours move up to one of them.

    To give people larger budgets can only lower a bound, so it stays one.
    """
    levels, counts = budgets.levels, budgets.counts
    if len(levels) <= _MANY:
        return Crowd(levels, counts)
    with np.errstate(divide="ignore"):
        keys = np.ceil(np.log(levels) * _PER_E)
    last = np.append(keys[1:] != keys[:-1], True)
    ends = np.cumsum(counts)[last]
    return Crowd(levels[last], np.diff(ends, prepend=0))


def best_split(people: Crowd, columns: tuple[Floats, ...], score: Score) -> float:
    """The largest score over k = 0, …, n.

    Args:
        people: who there is.
        columns: for each sum that the score needs, what one person of each level adds to it.
        score: called with k and the sums, as arrays; concave in k, or −∞.

    Returns:
        The score of the best k. If the score is not concave, it is that of some k.
    """
    counts = people.counts
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    sums = [np.concatenate([np.zeros(1), np.cumsum(counts * column)]) for column in columns]
    scores = np.asarray(score(ends.astype(np.float64), *sums))
    top = int(np.argmax(scores))
    best = float(scores[top])
    for level in (top - 1, top):  # the best k is beside the best end
        if not 0 <= level < len(counts):
            continue
        low, high = 1, int(counts[level]) - 1
        while low <= high:
            j = np.unique(np.linspace(low, high, _TRIED).astype(np.int64))
            at = [
                part[level] + j * column[level] for part, column in zip(sums, columns, strict=True)
            ]
            inner = np.asarray(score((ends[level] + j).astype(np.float64), *at))
            found = int(np.argmax(inner))
            best = max(best, float(inner[found]))
            if len(j) == high - low + 1:
                break
            low, high = int(j[max(found - 1, 0)]), int(j[min(found + 1, len(j) - 1)])
    return best


def sizes(n: int) -> Integers:
    """Some numbers of people from 1 to n, dense near both ends; all of them where n is small.

    They depend on n alone, so a bound that looks at these does not jump when a level is split.
    """
    few = np.unique(np.minimum(np.round(np.geomspace(1.0, n, 48)).astype(np.int64), n))
    return np.unique(np.concatenate([few, n - few[few < n]]))


def sums_of(people: Crowd, column: Floats, some: Integers) -> Floats:
    """Σ over the strictest k people of what one person of each level adds, for some k."""
    ends = np.concatenate([np.zeros(1), np.cumsum(people.counts)])
    sums = np.concatenate([np.zeros(1), np.cumsum(people.counts * column)])
    return np.asarray(np.interp(some, ends, sums))


def log_sums_of(people: Crowd, column: Floats, some: Integers) -> Floats:
    """The logarithm of Σ e^{column} over the strictest k people, for some k ≥ 1."""
    ends = np.cumsum(people.counts)
    whole = np.concatenate([[-math.inf], np.logaddexp.accumulate(np.log(people.counts) + column)])
    level = np.searchsorted(ends, some, side="left")
    before = np.concatenate([np.zeros(1, np.int64), ends])[level]
    return np.asarray(np.logaddexp(whole[level], np.log(some - before) + column[level]))


def log_cosh(x: Floats) -> Floats:
    """The logarithm of cosh x for x ≥ 0, without overflow."""
    return np.asarray(x + np.log1p(np.exp(-2.0 * x)) - math.log(2.0))


def golden(value: Callable[[float], float], low: float, high: float) -> float:
    """The largest `value` met while looking for a maximum on [low, high]: a grid, then narrower.

    Every point gives a bound, so one that is not the best is only a weaker one.
    """
    best = -math.inf
    for tried in (24, 9, 9):
        points = np.geomspace(low, high, tried).tolist()
        values = [value(point) for point in points]
        top = int(np.argmax(values))
        best = max(best, values[top])
        low, high = points[max(top - 1, 0)], points[min(top + 1, len(points) - 1)]
    return best


def last_true(holds: Callable[[float], bool], low: float, high: float) -> float:
    """A point where `holds` is true, next to where it turns false; 0 if it is false at `low`."""
    if not holds(low):
        return 0.0
    if holds(high):
        return high
    while high > low * (1.0 + 1e-10):
        middle = math.sqrt(low * high) if high > 4.0 * low else 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
