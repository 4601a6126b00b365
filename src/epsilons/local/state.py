"""States: additive summaries of reports, which can be merged in any order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ArgumentError
from epsilons.local.people import Menu
from epsilons.risk.local import MANY, Sums, response
from epsilons.types import Floats, Integers

# Iteration over many people in parts that stay in the cache, without large temporary arrays.

ALONE = 9984
"""The largest array length for which linear algebra libraries do not start threads."""

_HALF = np.full((), 0.5)

_LINE = 64
"""Bytes per cache line."""

SIZE = 3 * ALONE
"""People per part: a few arrays of this size stay in the cache."""


def extent_of(epsilon: Floats) -> tuple[float, float]:
    """Return the smallest and the largest budget; (0, 0) if there are no budgets."""
    if len(epsilon) == 0:
        return 0.0, 0.0
    return float(np.minimum.reduce(epsilon)), float(np.maximum.reduce(epsilon))


def parts(people: int, size: int = SIZE) -> Iterator[slice]:
    """Yield slices that together cover everyone."""
    for start in range(0, people, size):
        yield slice(start, start + size)


def room(size: int) -> Floats:
    """Return an uninitialized array aligned to a cache line, which makes loops about 10 % faster.

    NumPy aligns its own arrays to a quarter of a line, so each wide load touches two lines.
    """
    found = np.empty(size + _LINE // 8)
    skip = -found.ctypes.data % _LINE // 8
    return found[skip : skip + size]


def responses(epsilon: Floats, weights: str) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield the weight w of randomized responses, and w·c with c = 1/tanh(ε/2), part by part.

    Args:
        epsilon: budgets.
        weights: "variance", "paper" or "uniform".

    Yields:
        (part, w, w·c). The arrays are overwritten by the next part.
    """
    size = min(SIZE, len(epsilon))
    slopes, squares = room(size), room(size)
    for part in parts(len(epsilon)):
        budgets = epsilon[part]
        slope, square = slopes[: len(budgets)], squares[: len(budgets)]
        response(weights, budgets, square, slope)
        yield part, square, slope


def dot(left: Floats, right: Floats) -> float:
    """Return Σ left·right of one part."""
    found = 0.0
    for start in range(0, len(left), ALONE):
        found += float(np.dot(left[start : start + ALONE], right[start : start + ALONE]))
    return found


def centred(arm: Floats, bits: NDArray[np.bool_], side: Floats) -> float:
    """Return Σ arm·(bit − ½) of one part.

    Args:
        arm: w·c of each person.
        bits: the bit of each person.
        side: scratch space of the same length.
    """
    np.copyto(side, bits.view(np.int8))  # NumPy converts bytes to floats faster than booleans
    if len(arm) < MANY:  # two sums: the last digit of recorded results depends on this order
        return dot(arm, side) - 0.5 * dot(arm, np.ones(len(arm)))
    np.subtract(side, _HALF, side)
    return dot(arm, side)


_SHIFT = 48
"""The number of low bits of a float64 budget that are dropped to get its bin. Budgets in a bin
agree in the other 16 bits, so a bin is at most 1/16 of an octave wide."""

_BINS = (0x7FF0 << 48 >> _SHIFT) + 1
"""The number of possible bins; the last bin is for ∞."""

_PART = 1 << 15
"""Budgets counted per part, few enough to stay in the cache."""


class Bins(NamedTuple):
    """Histogram of budgets: key, number of people and sum of budgets of each bin."""

    keys: Integers
    people: Integers
    budgets: Floats


class Levels:
    """The distribution of budgets. Reading, merging or pickling it computes a histogram.

    Args:
        found: one budget for each person, or a histogram.
    """

    def __init__(self, found: Floats | Bins) -> None:
        self._found = found

    @property
    def bins(self) -> Bins:
        """The histogram of budgets."""
        if not isinstance(self._found, Bins):
            self._found = _binned(self._found)
        return self._found

    def merged(self, other: Levels) -> Levels:
        """Return the combined distribution of both sets of budgets."""
        mine, theirs = self.bins, other.bins
        keys, place = np.unique(np.concatenate([mine.keys, theirs.keys]), return_inverse=True)
        people = np.zeros(len(keys), dtype=np.int64)
        budgets = np.zeros(len(keys))
        np.add.at(people, place, np.concatenate([mine.people, theirs.people]))
        np.add.at(budgets, place, np.concatenate([mine.budgets, theirs.budgets]))
        return Levels(Bins(keys, people, budgets))

    def means(self) -> Floats:
        """Return the mean of the budgets in each bin, ascending: exact if they are all equal."""
        means = self.bins.budgets / self.bins.people
        # The mean of equal floats can be wrong in its last digits: round to twelve digits.
        return np.array([float(f"{mean:.12g}") for mean in means.tolist()])

    def people(self) -> Integers:
        """Return the number of people in each bin."""
        return self.bins.people

    def __reduce__(self) -> tuple[object, ...]:
        return Levels, (self.bins,)


def _binned(epsilon: Floats) -> Bins:
    people = np.zeros(_BINS, dtype=np.int64)
    sums = np.zeros(_BINS)
    words = np.ascontiguousarray(epsilon).view(np.int64)
    bins = np.empty(min(_PART, len(epsilon)), dtype=np.int64)
    for part in parts(len(epsilon), _PART):
        budgets = epsilon[part]
        keys = bins[: len(budgets)]
        np.right_shift(words[part], _SHIFT, out=keys)
        least = int(keys.min())
        if least < 0:  # −0.0 is 0.0
            np.maximum(keys, 0, out=keys)
            least = 0
        keys -= least  # keeps `bincount` short if budgets are similar
        found = np.bincount(keys)
        here = slice(least, least + len(found))
        people[here] += found
        sums[here] += np.bincount(keys, weights=budgets)
    keys = np.flatnonzero(people)
    return Bins(keys, people[keys], sums[keys])


class StateTerms(NamedTuple):
    """The conditions on which reports are accepted. States with different terms cannot be merged.

    Attributes:
        levels: the declared menu of budgets; None without a menu.
        numbers: for means, whether numbers with noise are accepted.
    """

    levels: Menu
    numbers: bool = False


@dataclass(frozen=True, eq=False)
class State:
    """The sums and counts that an estimate needs. States can be pickled, and merged with `+`.

    Merging is associative and commutative: exactly for counts, and up to the rounding of float64
    for sums.

    Attributes:
        kind: the kind of mechanism, as in `Reports`.
        parameters: its public parameters.
        weights: the weights that were requested.
        private: False if any report was drawn from a seed.
        n: the number of people.
        total: Σ w·answer: one number, or one number for each coordinate, row or cell.
        sums: the sums for intervals and risk.
        levels: the distribution of budgets.
        terms: the terms on which reports were accepted: the declared levels, or None; for means,
            also whether numbers with noise were accepted.

    Examples:
        >>> import epsilons as ep
        >>> question = ep.local.Bit(levels=[0.5, 1.0])
        >>> answers = [True] * 60, [False] * 40
        >>> states = [question.state(question.randomize_many(each, 1.0)) for each in answers]
        >>> state = states[0] + states[1]
        >>> state
        State('bit', 100 people, weights='variance')
    """

    kind: str
    parameters: bytes
    weights: str
    private: bool
    n: int
    total: Floats
    sums: Sums
    levels: Levels
    terms: StateTerms

    @property
    def question(self) -> tuple[str, bytes, str, StateTerms]:
        """The fields in which two states must agree to be merged."""
        return self.kind, self.parameters, self.weights, self.terms

    def __add__(self, other: State) -> State:
        if not isinstance(other, State):
            return NotImplemented
        if self.question != other.question:
            raise ArgumentError(
                "These states have different mechanisms, parameters, weights or levels, or only "
                "one accepts numbers with noise. Merge only states of the same estimate."
            )
        return State(
            self.kind,
            self.parameters,
            self.weights,
            self.private and other.private,
            self.n + other.n,
            self.total + other.total,
            self.sums.merged(other.sums),
            self.levels.merged(other.levels),
            self.terms,
        )

    def __repr__(self) -> str:
        return f"State({self.kind!r}, {self.n:,} people, weights={self.weights!r})"
