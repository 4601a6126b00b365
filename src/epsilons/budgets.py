"""Budgets: how much privacy loss each person accepts, as levels with counts."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from epsilons.errors import ArgumentError, BudgetError, DataError

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

_MOST = 2**63 - 1

_HINT = "0 leaves a person out of the sum and math.inf makes their record public."


class Budgets:
    """How many people chose each ε, in [0, ∞].

    ε = 0 means "leave me out of the sum", ε = ∞ means "my record is public". The float64 that is
    given *is* the budget; equal budgets merge into one level.

    Args:
        epsilon: a mapping from ε to the number of people who chose it, or one ε for each person.

    Attributes:
        levels: the distinct budgets, ascending.
        counts: the number of people of each level.
        n: the number of people.

    Raises:
        BudgetError: an ε is negative, NaN or missing, or everyone is at 0.
        DataError: there are fewer than two people.
        ArgumentError: the counts are not whole numbers, or ε is not one column of numbers.
    """

    __slots__ = ("counts", "levels", "n")

    levels: Floats
    counts: Integers
    n: int

    def __init__(self, epsilon: Mapping[float, int] | npt.ArrayLike) -> None:
        if isinstance(epsilon, Mapping):
            self._set(*_from_mapping(epsilon))
        else:
            self._set(*_from_people(epsilon))

    @classmethod
    def of_levels(cls, levels: Floats, counts: Integers) -> Budgets:
        """Budgets from distinct levels, ascending, and how many people are at each."""
        made = cls.__new__(cls)
        made._set(levels.copy(), counts.copy())
        return made

    def _set(self, levels: Floats, counts: Integers) -> None:
        _check(levels, counts)
        levels.flags.writeable = False
        counts.flags.writeable = False
        for name, value in (("levels", levels), ("counts", counts), ("n", int(counts.sum()))):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[object, ...]:
        return Budgets.of_levels, (self.levels, self.counts)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Budgets are fixed: {name} cannot be set. Make new ones.")

    def __len__(self) -> int:
        return len(self.levels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Budgets):
            return NotImplemented
        return np.array_equal(self.levels, other.levels) and np.array_equal(
            self.counts, other.counts
        )

    def __hash__(self) -> int:
        return hash((self.levels.tobytes(), self.counts.tobytes()))

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{level:g}: {count}"
            for level, count in zip(self.levels[:6].tolist(), self.counts[:6].tolist(), strict=True)
        )
        more = f", … {len(self) - 6} more levels" if len(self) > 6 else ""
        return f"Budgets({{{shown}{more}}})"


def as_budgets(epsilon: Budgets | Mapping[float, int] | npt.ArrayLike) -> Budgets:
    """Return `epsilon` as `Budgets`, whatever form the user chose."""
    return epsilon if isinstance(epsilon, Budgets) else Budgets(epsilon)


def summed(counts: Integers, values: Floats, n: int) -> float:
    """Σ count·value over levels that hold n people; levels of one person each need no product."""
    return float(values.sum() if len(counts) == n else counts @ values)


def _from_mapping(epsilon: Mapping[Any, Any]) -> tuple[Floats, Integers]:
    totals: dict[float, int] = {}
    for level, count in epsilon.items():
        if type(level) is bool or not isinstance(level, numbers.Real):
            raise BudgetError(f"epsilon: {level!r} is not a number. {_HINT}")
        try:
            budget = float(level)
        except OverflowError:
            raise BudgetError(f"epsilon: a level is larger than any float64. {_HINT}") from None
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        if not whole or not 0 <= count <= 2**53:
            raise ArgumentError(
                f"epsilon: the number of people at {level!r} must be a whole number from 0, "
                f"but is {count!r}."
            )
        if count:
            totals[budget] = totals.get(budget, 0) + int(count)
    if any(math.isnan(level) for level in totals):
        raise BudgetError(f"epsilon is NaN for somebody. {_HINT}")
    if sum(totals.values()) > _MOST:
        raise ArgumentError("epsilon: there are more people than 64-bit integers can count.")
    ordered = sorted(totals)
    levels = np.array(ordered, dtype=np.float64) + 0.0
    return levels, np.array([totals[level] for level in ordered], dtype=np.int64)


def _from_people(epsilon: npt.ArrayLike) -> tuple[Floats, Integers]:
    given = np.asarray(epsilon)
    if given.dtype.kind not in "fiu" and given.size:
        raise BudgetError(
            f"epsilon must be numbers, one for each person, but is of type {given.dtype}. {_HINT}"
        )
    if given.ndim != 1:
        raise ArgumentError(
            f"epsilon must be one column, one number for each person, but has {given.ndim} "
            "dimensions. To say how many people chose each level, give Budgets({ε: people})."
        )
    # A fresh, sorted copy: NaN sorts to the end and the smallest comes first, so the checks on
    # values cost nothing more than looking at both ends.
    ordered = np.sort(given.astype(np.float64, copy=False))
    ordered += 0.0  # −0.0 and 0.0 are one level
    if len(ordered) == 0:
        return ordered, np.zeros(0, dtype=np.int64)
    fresh = ordered[1:] != ordered[:-1]
    if fresh.all():
        return ordered, np.ones(len(ordered), dtype=np.int64)
    starts = np.flatnonzero(fresh) + 1
    starts = np.concatenate([np.zeros(1, dtype=starts.dtype), starts])
    counts = np.diff(starts, append=len(ordered)).astype(np.int64)
    return ordered[starts], counts


def _check(levels: Floats, counts: Integers) -> None:
    if len(levels) == 0:
        raise DataError("epsilon is empty: there is nobody to speak of.")
    if math.isnan(levels[-1]):
        raise BudgetError(f"epsilon is NaN for somebody. {_HINT}")
    if levels[0] < 0:
        raise BudgetError(f"epsilon is negative for somebody: budgets lie in [0, ∞]. {_HINT}")
    if int(counts.sum()) < 2:
        raise DataError("There are fewer than two people: a mean of one person is that person.")
    if levels[-1] == 0:
        raise BudgetError("epsilon is 0 for everyone: nobody may be used, so nothing can be said.")
