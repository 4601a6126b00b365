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
        cuts: the largest `at_least` that everybody in the class allows; 0 if none.
        least: the least ε that anybody in the class agreed to.
        limits: the same per unit.
        units: how many units they are; 0 where that is secret.
        people: how many persons; 0 where that is secret.
        squares: the sum of everybody's squared units; 0 where that is secret.
        most: the most units of one person.
    """

    keys: Floats
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
        limits: everybody's ε.
        units: how many units each of them is.
        people: how many they are.
        cuts: every `at_least` that anybody asked for.

    Returns:
        The classes, and for each line its place among them: −1 for who is left out.
    """
    ends = np.unique([0.0, *cuts])
    cut = _below(ends, limits)
    if not roster.public:
        levels = np.array(roster.levels)
        edges = np.unique([*levels, *ends[ends >= levels[0]]])
        offered, none = _below(levels, edges), np.zeros(len(edges), np.int64)
        low = np.nextafter(np.minimum(offered, MOST), 0.0)
        result = Classes(
            offered, _below(ends, edges), edges, low, none, none, none.astype(float), none + 1
        )
        return result, np.searchsorted(edges, limits, side="right") - 1
    # A quotient may have been rounded up, and so may a decimal: the float below it is no more.
    each = np.nextafter(np.minimum(limits, MOST) / units, 0.0)
    nine = each * SPLITTER - (each * SPLITTER - each)
    present = limits > 0.0
    keys, inverse = np.unique(np.stack([nine, cut])[:, present], axis=1, return_inverse=True)
    size, place = keys.shape[1], np.full(len(limits), -1)
    place[present] = inverse
    least, counts, most = np.full((2, size), np.inf), np.zeros((3, size)), np.ones(size, np.int64)
    np.minimum.at(least.T, inverse, np.stack([limits, each]).T[present])
    np.add.at(counts.T, inverse, np.stack([people * units, people, people * units**2.0]).T[present])
    np.maximum.at(most, inverse, units[present])
    number, persons = counts[:2].astype(np.int64)
    return Classes(keys[0], keys[1], least[0], least[1], number, persons, counts[2], most), place


def _below(ends: Floats, values: Floats) -> Floats:
    """Return the largest end that is not above each value; the last one below all."""
    return ends[np.searchsorted(ends, values, side="right") - 1]
