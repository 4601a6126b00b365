"""States: what is kept of reports, additive, so that they merge in any order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ArgumentError
from epsilons.local.people import Menu
from epsilons.results.release import AllOfIt
from epsilons.risk.local import MANY, Sums, response
from epsilons.types import Floats, Integers

# Going over many people in parts that stay in the cache: no large array is made on the way.

ALONE = 9984
"""Of so many numbers no linear algebra library starts threads."""

_HALF = np.full((), 0.5)

_LINE = 64
"""Bytes of a line of the cache."""

SIZE = 3 * ALONE
"""How many people a part holds: few enough for a few arrays of them to stay in the cache."""


def extent_of(epsilon: Floats) -> tuple[float, float]:
    """The least and the largest budget; (0, 0) if there is none."""
    if len(epsilon) == 0:
        return 0.0, 0.0
    return float(np.minimum.reduce(epsilon)), float(np.maximum.reduce(epsilon))


def parts(people: int, size: int = SIZE) -> Iterator[slice]:
    """Slices that cover everyone."""
    for start in range(0, people, size):
        yield slice(start, start + size)


def room(size: int) -> Floats:
    """Numbers to be filled in, from where a line of the cache begins: a tenth quicker to go over.

    NumPy's own arrays begin at a quarter of one, and each wide load takes two lines.
    """
    found = np.empty(size + _LINE // 8)
    skip = -found.ctypes.data % _LINE // 8
    return found[skip : skip + size]


def responses(epsilon: Floats, weights: str) -> Iterator[tuple[slice, Floats, Floats]]:
    """Part by part, the weight w of a randomized response, and w·c, with c = 1/tanh(ε/2).

    Args:
        epsilon: budgets.
        weights: "variance", "paper" or "uniform".

    Yields:
        (part, w, w·c). The arrays are used again for the next part.
    """
    size = min(SIZE, len(epsilon))
    slopes, squares = room(size), room(size)
    for part in parts(len(epsilon)):
        budgets = epsilon[part]
        slope, square = slopes[: len(budgets)], squares[: len(budgets)]
        response(weights, budgets, square, slope)
        yield part, square, slope


def dot(left: Floats, right: Floats) -> float:
    """Σ l·r of one part."""
    found = 0.0
    for start in range(0, len(left), ALONE):
        found += float(np.dot(left[start : start + ALONE], right[start : start + ALONE]))
    return found


def centred(arm: Floats, bits: NDArray[np.bool_], side: Floats) -> float:
    """Σ a·(bit − ½) of one part.

    Args:
        arm: the a of each person.
        bits: what each of them says.
        side: to be written over.
    """
    np.copyto(side, bits.view(np.int8))  # bytes become numbers sooner than booleans do
    if len(arm) < MANY:  # in two sums, as it is on record to the last digit
        return dot(arm, side) - 0.5 * dot(arm, np.ones(len(arm)))
    np.subtract(side, _HALF, side)
    return dot(arm, side)


_SHIFT = 48
"""Budgets whose first 16 bits agree, a sixteenth of an octave, are counted together."""

_BINS = (0x7FF0 << 48 >> _SHIFT) + 1
"""As many bins as there can be: the last one is that of ∞."""

_PART = 1 << 15
"""Budgets that are counted together, in the cache."""


class Bins(NamedTuple):
    """How many people have about which budget: bins of a sixteenth of an octave."""

    keys: Integers
    people: Integers
    budgets: Floats


class Levels:
    """Who had which budget. It is counted when it is asked for, merged or sent, and not before.

    Args:
        found: budgets, one for each person, or counts.
    """

    def __init__(self, found: Floats | Bins) -> None:
        self._found = found

    @property
    def bins(self) -> Bins:
        """People and sums of their budgets, by bin."""
        if not isinstance(self._found, Bins):
            self._found = _binned(self._found)
        return self._found

    def merged(self, other: Levels) -> Levels:
        """Counts of both."""
        mine, theirs = self.bins, other.bins
        keys, place = np.unique(np.concatenate([mine.keys, theirs.keys]), return_inverse=True)
        people = np.zeros(len(keys), dtype=np.int64)
        budgets = np.zeros(len(keys))
        np.add.at(people, place, np.concatenate([mine.people, theirs.people]))
        np.add.at(budgets, place, np.concatenate([mine.budgets, theirs.budgets]))
        return Levels(Bins(keys, people, budgets))

    @property
    def told(self) -> tuple[Floats, Integers]:
        """About which budgets there are, ascending, and how many people have each.

        Budgets of one bin are told by their mean: it is the budget, if all of them have the same.
        """
        found = self.bins
        means = found.budgets / found.people
        # A sum of equal numbers is off in its last digits: twelve are told.
        return np.array([float(f"{mean:.12g}") for mean in means.tolist()]), found.people

    def __reduce__(self) -> tuple[object, ...]:
        return Levels, (self.bins,)


class SpentByReports(AllOfIt):
    """Who spent what, of reports: counted when it is looked at.

    Args:
        budgets: of those who reported.
    """

    def __init__(self, budgets: Levels) -> None:
        object.__setattr__(self, "_budgets", budgets)

    @property
    def levels(self) -> Floats:
        """About which budgets there were, ascending."""
        return self._told[0]

    @property
    def people(self) -> Integers:
        """How many people had each."""
        return self._told[1]

    @cached_property
    def _told(self) -> tuple[Floats, Integers]:
        budgets: Levels = self.__dict__["_budgets"]
        return budgets.told


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
        keys -= least  # few bins, where budgets are alike
        found = np.bincount(keys)
        here = slice(least, least + len(found))
        people[here] += found
        sums[here] += np.bincount(keys, weights=budgets)
    keys = np.flatnonzero(people)
    return Bins(keys, people[keys], sums[keys])


class StateTerms(NamedTuple):
    """On which terms reports are let in. States of different terms do not merge."""

    levels: Menu
    numbers: bool = False


@dataclass(frozen=True, eq=False)
class State:
    """All that an estimate needs from the reports seen so far. It pickles, and merges with `+`.

    Merging is associative and commutative: counts exactly, sums up to the last digits of float64.

    Attributes:
        kind: the mechanism, as in `Reports`.
        parameters: its public parameters.
        weights: the weights that were asked for.
        private: False if any report was drawn from a seed.
        n: how many people.
        total: Σ w·answer: one number, or one for each coordinate, row or cell.
        sums: what intervals and risk need.
        levels: who had which budget.
        terms: how reports were accepted: the declared levels, or None; for means, also whether
            numbers with noise were.
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
        """What two states must agree on to be merged."""
        return self.kind, self.parameters, self.weights, self.terms

    def __add__(self, other: State) -> State:
        if not isinstance(other, State):
            return NotImplemented
        if self.question != other.question:
            raise ArgumentError(
                "These states are of different mechanisms, parameters, weights or levels, or one "
                "took numbers with noise: only states of the same estimate can be merged."
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
