"""Classes: people who are alike in ε, in units, and in which questions may ask them.

A class is a public fact of each person's own limit. Where it is secret who takes part, classes are
the limits that were offered, whoever has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epsilons_next.data.roster import MOST, Roster

__all__ = ["Classes", "classes_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SPLITTER = 2.0**44 + 1.0
"""x·s − (x·s − x) has the nine leading bits of x, rounded."""


@dataclass(frozen=True, eq=False)
class Classes:
    """People who are alike.

    Args:
        keys: nine bits of ε per unit; or the limit that was offered.
        levels: nine bits of ε; or the limit that was offered.
        cuts: the largest `at_least` that everybody in the class allows; 0 if none.
        least: the least ε that anybody in the class agreed to.
        limits: the same per unit.
        units: how many units they are; 0 where that is secret.
        people: how many persons; 0 where that is secret.
        squares: the sum of everybody's squared units; 0 where that is secret.
        most: the most units of one person.
    """

    keys: Floats
    levels: Floats
    cuts: Floats
    least: Floats
    limits: Floats
    units: Integers
    people: Integers
    squares: Floats
    most: Integers


def classes_of(
    roster: Roster, limits: Floats, units: Integers, people: Integers, cuts: Sequence[float]
) -> tuple[Classes, Integers]:
    """Return the classes, and in which of them people of each limit and units are.

    Args:
        roster: who is asked, and what is secret.
        limits: the ε of people on each line, above 0, or at least the lowest that was offered.
        units: how many units each of them is.
        people: how many they are.
        cuts: every `at_least` that anybody asked for.

    Returns:
        The classes, and for each line its place among them.
    """
    ends = np.unique([0.0, *cuts])
    cut = _below(ends, limits)
    if not roster.public:
        levels = np.array(roster.levels)
        edges = np.unique([*levels, *ends[ends >= levels[0]]])
        offered, none = _below(levels, edges), np.zeros(len(edges), np.int64)
        low = np.nextafter(np.minimum(offered, MOST), 0.0)
        counts = (none, none, none.astype(float), none + 1)
        result = Classes(offered, offered, _below(ends, edges), edges, low, *counts)
        return result, np.searchsorted(edges, limits, side="right") - 1
    # A quotient may have been rounded up, and so may a decimal: the float below it is no more.
    used = np.minimum(limits, MOST)
    each = np.nextafter(used / units, 0.0)
    both = np.stack([each, used])
    nine = both * SPLITTER - (both * SPLITTER - both)
    keys, place = np.unique(np.stack([*nine, cut]), axis=1, return_inverse=True)
    size = keys.shape[1]
    least, most = np.full((2, size), np.inf), np.ones(size, np.int64)
    np.minimum.at(least.T, place, np.stack([limits, each]).T)
    np.maximum.at(most, place, units)
    number, persons, squares = np.zeros(size, int), np.zeros(size, int), np.zeros(size)
    np.add.at(number, place, people * units)
    np.add.at(persons, place, people)
    np.add.at(squares, place, people * units**2.0)
    key, level, cut = keys
    return Classes(key, level, cut, least[0], least[1], number, persons, squares, most), place


def _below(ends: Floats, values: Floats) -> Floats:
    """Return the largest end that is not above each value; the last one below all."""
    return ends[np.searchsorted(ends, values, side="right") - 1]
