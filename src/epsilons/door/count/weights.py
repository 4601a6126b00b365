"""Weights of people: public numbers that become whole numbers of units before rows are counted.

A person of d units counts as d people who hold the same data and have the budget ε/d each. So sums
are Σ d·g, and a level is a level of ε/d. Proof: docs/proofs/weights.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from epsilons.budgets.levels import Classes
from epsilons.errors import DataError
from epsilons.types import Floats, Integers

__all__ = [
    "MOST_UNITS",
    "Heads",
    "Rounding",
    "WeightFacts",
    "Weights",
    "classes_of",
    "ends_of",
    "facts_of",
    "rounding_of",
]

MOST_UNITS: Final = 2**32
"""The largest number of units of one person, and of all people if weights are rounded."""

_FEWEST_BITS: Final = 8
"""Weights that are not whole numbers are rounded. The largest keeps at least this many bits."""

FINE: Final = 2.0**20
FINER: Final = 2.0**28
"""Parts of a unit, and parts of these. Their sums over people are exact in floats."""

_REACH: Final = 2.0**100
"""Weights must be from 1 / _REACH to _REACH, so no scaled weight overflows."""


class WeightFacts(NamedTuple):
    """Public facts about the weights of all people, from one pass.

    How many rows a person has is private, so these are facts about people, and not about rows.

    Attributes:
        people: the number of people.
        good: the number of people with a finite weight above 0.
        low: the smallest of these weights.
        high: the largest.
        whole: the number of people whose weight is a whole number.
        total: the sum of all weights, each at most `MOST_UNITS`. It is exact for whole numbers.
    """

    people: int
    good: int
    low: float
    high: float
    whole: int
    total: float


class Rounding(NamedTuple):
    """How far numbers of units are from weights, in units. Proof: docs/proofs/weights.md (5).

    Attributes:
        off: the sum of the differences of all people.
        most: the largest difference of one person.
        total: the sum of all weights.
    """

    off: float
    most: float
    total: float

    def apart(self, units: int) -> float:
        """Return a bound on ½Σ|u/Σu − d/Σd|, for weights d and `units` units u in total."""
        return min(0.5 * (self.off + abs(units - self.total)) / max(units, self.total), 1.0)

    def of_groups(self, units: Integers, people: Integers) -> Floats:
        """Return the same bounds among the people of each group."""
        off = np.minimum(people * self.most, self.off)
        return np.asarray(np.minimum(off / np.maximum(units, 1), 1.0))

    @classmethod
    def of(cls, off: float, most: float, whole: float, rest: float) -> Rounding:
        """Return them for sums of integers, which do not show the order of people.

        Args:
            off: the sum of differences, each rounded up to `FINE` parts of a unit.
            most: the largest of these.
            whole: the sum of weights, each rounded down to such parts.
            rest: the sum of what was rounded off, in `FINER` parts of such a part.
        """
        return cls(off / FINE, most / FINE, (whole + rest / FINER) / FINE)


class Heads(NamedTuple):
    """People who have weights, by level.

    Attributes:
        number: the number of people; by level and group, if the question asks for people by group.
        fewest: the smallest number of units of a person in the level.
        most: the largest.
    """

    number: Integers
    fewest: Integers
    most: Integers

    @property
    def by_level(self) -> Integers:
        """The number of people in each level."""
        return self.number if self.number.ndim == 1 else self.number.sum(axis=1)

    def squares(self, units: Integers) -> Floats:
        """Return an upper bound on Σd² over the people of each level, for people of d units each.

        It follows from Σ(d − low)(high − d) ≥ 0, where low is the smallest and high the largest
        number of units in the level. It is exact if everyone in the level has one of these two.

        Args:
            units: Σd over the people of each level.
        """
        low, high = self.fewest.astype(np.float64), self.most.astype(np.float64)
        return np.asarray(units * (low + high) - self.by_level * low * high)


class Weights:
    """The weights of people, as the user gave them.

    Args:
        column: one weight for each row, or the name of a column of the data.

    Attributes:
        unit: the weight of one unit; None until the weights have been read. It is the weight itself
            if all are equal, 1 for whole numbers, and otherwise a power of two.
        rounding: how far units are from weights; None if they are equal, or not yet read.
    """

    def __init__(self, column: Any) -> None:
        self.column = column
        self.unit: float | None = None
        self.rounding: Rounding | None = None

    def read(
        self,
        facts: Callable[[], WeightFacts],
        rounding: Callable[[float], Rounding],
        name: str,
    ) -> float:
        """Return the weight of one unit. The first call reads the weights of all rows.

        Args:
            facts: a function that reads the weights.
            rounding: a function that compares them with units of the given weight.
            name: the name of the column in messages.

        Raises:
            DataError: a weight is missing, infinite or not above 0, or the weights are too
                different. Weights are public, so this reveals nothing private.
        """
        if self.unit is None:
            found = facts()
            unit = _unit_of(found, name)
            if found.low < found.high and (unit != 1.0 or found.whole < found.people):
                self.rounding = rounding(unit)
            self.unit = unit
        return self.unit

    def units(self, weights: Floats, person: npt.NDArray[Any] | None, name: str) -> Integers:
        """Return the number of units of each row.

        Args:
            weights: the weight of each row.
            person: the person of each row; None if every row is its own person.
            name: the name of the column in messages.

        Raises:
            DataError: as for `read`.
        """
        if self.unit is None:
            own = _of_people(weights, person)
            self.units_of_groups(own, np.ones(own.size, dtype=np.int64), name)
        return _in_units(weights, self.unit or 1.0)

    def units_of_groups(self, weights: Floats, people: Integers, name: str) -> Integers:
        """Return the number of units for each weight, given the number of people who have it.

        Args:
            weights: weights, in any order. A weight may occur more than once.
            people: the number of people with each weight.
            name: the name of the column in messages.

        Raises:
            DataError: as for `read`.
        """
        given = weights, people
        unit = self.read(lambda: facts_of(*given), lambda unit: rounding_of(*given, unit), name)
        return _in_units(weights, unit)


def _in_units(weights: Floats, unit: float) -> Integers:
    units = np.floor(weights * (1.0 / unit) + 0.5)
    return np.fmax(np.fmin(units, MOST_UNITS), 1.0).astype(np.int64)  # NaN must not be cast


def classes_of(level: Integers, units: Integers, people: Integers) -> Classes:
    """Return the number of people for each budget level and number of units.

    Args:
        level: the level of each part of the people.
        units: the number of units of a person in each part.
        people: the number of people in each part. Parts with equal level and units are added up.
    """
    found, place = np.unique(level * (MOST_UNITS + 1) + units, return_inverse=True)
    total = np.zeros(found.size, dtype=np.int64)
    np.add.at(total, place, people)
    return Classes(found // (MOST_UNITS + 1), found % (MOST_UNITS + 1), total)


def ends_of(level_of: Integers, fewest: Integers, most: Integers, size: int) -> list[Integers]:
    """Return the smallest and the largest number of units of a person in each of `size` levels.

    Args:
        level_of: the level of each part of the people.
        fewest: the smallest number of units in each part.
        most: the largest.
        size: the number of levels.
    """
    ends = [np.full(size, MOST_UNITS, dtype=np.int64), np.zeros(size, dtype=np.int64)]
    np.minimum.at(ends[0], level_of, fewest)
    np.maximum.at(ends[1], level_of, most)
    return ends


def facts_of(weights: Floats, people: Integers) -> WeightFacts:
    """Return facts about people's weights, given the number of people with each weight."""
    good = np.isfinite(weights) & (weights > 0.0)
    own, each = weights[good], people[good]
    return WeightFacts(
        people=int(people.sum()),
        good=int(each.sum()),
        low=float(own.min(initial=math.inf)),
        high=float(own.max(initial=0.0)),
        whole=int(each[np.floor(own) == own].sum()),
        total=float((np.minimum(own, MOST_UNITS) * each).sum()),
    )


def rounding_of(weights: Floats, people: Integers, unit: float) -> Rounding:
    """Return how far numbers of units are from weights, with the number of people of each."""
    own = weights * (FINE / unit)
    off, whole = np.ceil(np.abs(_in_units(weights, unit) * FINE - own)), np.floor(own)
    sums = (float(each @ people) for each in (whole, np.floor((own - whole) * FINER)))
    return Rounding.of(float(off @ people), float(off.max()), *sums)


def _of_people(weights: Floats, person: npt.NDArray[Any] | None) -> Floats:
    if person is not None:
        found, who = np.unique(person, return_inverse=True)
        rows, weights = weights, np.full(found.size, math.inf)
        np.minimum.at(weights, who, np.where(rows > 0.0, rows, 0.0))  # NaN is not above 0
        np.maximum.at(weights, who, np.where(np.isinf(rows), math.inf, 0.0))
    return weights


def _unit_of(facts: WeightFacts, name: str) -> float:
    """Return the weight of one unit: see `Weights.unit`.

    Raises:
        DataError: as for `Weights.read`.
    """
    if facts.good < facts.people:
        raise DataError(
            f"{name} has entries that are missing, infinite, or not above 0. A weight says how "
            "many people somebody stands for: leave people of weight 0 out, or give them the "
            "budget 0."
        )
    if facts.people == 0:
        return 1.0  # refused later
    if facts.low == facts.high:
        return facts.low
    if facts.low < 1.0 / _REACH or facts.high > _REACH:
        raise DataError(f"{name} has extreme entries: give weights from 1e-30 to 1e30.")
    if facts.whole == facts.people and facts.total <= MOST_UNITS:
        return 1.0
    # The sum of n weights of at most 2^p is at most 2^(p + log2 n), whatever their order.
    bits = MOST_UNITS.bit_length() - 1 - (facts.people - 1).bit_length()
    if bits < _FEWEST_BITS:
        raise DataError(
            f"{name}: so many weights can be added up only if they are whole numbers with a sum of "
            f"at most {MOST_UNITS:,}. Round them first."
        )
    return 2.0 ** (math.frexp(facts.high)[1] - bits)
