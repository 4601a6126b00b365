"""Budgets as levels ε in [0, ∞] with counts, and public ladders of levels for private budgets."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.types import Floats, Integers

__all__ = [
    "HUGE",
    "LARGEST",
    "LEAST",
    "LESS",
    "LESS_THAN_QUOTIENT",
    "SMALLEST",
    "SPLITTER",
    "Budgets",
    "Ladder",
    "Levels",
    "People",
    "as_budgets",
    "budgets_of_people",
    "budgets_of_units",
    "dot",
    "float_down",
    "float_up",
    "floats_down",
    "in_range",
    "is_number",
    "is_number_type",
    "keys",
    "moved",
    "numbers_given",
    "summed",
]


# Budgets: the privacy loss that each person accepts, stored as levels with counts.

LEAST: Final = 2.0**-60
LARGEST: Final = 2.0**20
"""The public range of ε: smaller budgets become 0, and larger finite budgets become 2²⁰."""

_MOST = 2**63 - 1

_EXACT = 2**53
"""All integers up to this value are exact as floats."""

_BLOCK = 8192
"""Longer products are computed in blocks of this length. BLAS would split a long product among
threads, and waiting for these threads is slow when the machine is busy."""

_HINT = "0 leaves a person out of the sum and math.inf makes their record public."


class Budgets:
    """The number of people who chose each ε in [0, ∞].

    ε = 0 means "leave me out of the sum", ε = ∞ means "my record is public". A float64 is used as
    given. Any other number (Decimal, Fraction, long double, an integer above 2⁵³) is rounded down
    to a float64. Equal budgets form one level. A budget below 2⁻⁶⁰ becomes 0, and a finite budget
    above 2²⁰ becomes 2²⁰.

    Args:
        epsilon: a mapping from ε to the number of people who chose it, or one ε for each person.

    Attributes:
        levels: the distinct budgets, ascending.
        counts: the number of people at each level.
        n: the number of people.

    Raises:
        BudgetError: an ε is negative, NaN or missing, or everyone is at 0.
        DataError: there are fewer than two people.
        ArgumentError: the counts are not integers, or ε is not one column of numbers.

    Examples:
        >>> import epsilons as ep
        >>> people = ep.Budgets({0.1: 500, 1.0: 490})
        >>> people.n, people.levels.tolist(), people.counts.tolist()
        (990, [0.1, 1.0], [500, 490])
        >>> ep.Budgets([0.1, 1.0, 0.1]).counts.tolist()
        [2, 1]
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
        """Return `Budgets` with these levels (distinct, ascending) and these numbers of people."""
        made = cls.__new__(cls)
        made._set(levels.copy(), counts.copy())
        return made

    def _set(self, levels: Floats, counts: Integers) -> None:
        if len(levels) == 0:
            raise DataError("epsilon is empty: there are no people.")
        if math.isnan(levels[-1]):
            raise BudgetError(f"epsilon is NaN for somebody. {_HINT}")
        if levels[0] < 0:
            raise BudgetError(f"epsilon is negative for somebody: budgets lie in [0, ∞]. {_HINT}")
        if int(counts.sum()) < 2:
            raise DataError(
                "There are fewer than two people: the mean of one person is that person's value."
            )
        if levels[-1] == 0:
            raise BudgetError(
                "epsilon is 0 for everyone: nobody's value may be used, so nothing can be "
                f"estimated. Somebody must have a budget of at least {LEAST:.2g}: anything below "
                "that counts as 0."
            )
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


class Classes(NamedTuple):
    """The numbers of people with each pair of budget level and weight. Each pair occurs once.

    Attributes:
        level: for each pair, the index of the budget level.
        units: for each pair, the weight of one person: the number of units that they count as.
        people: the number of people with each pair.
    """

    level: Integers
    units: Integers
    people: Integers


People: TypeAlias = Budgets | Mapping[float, int] | npt.ArrayLike
"""The budgets of people: one ε for each person, or a mapping from ε to the number of people."""

Levels: TypeAlias = Budgets | Mapping[float, int] | Iterable[float]
"""The budgets that people are offered, optionally with a guess of how many people choose each."""


def as_budgets(epsilon: People) -> Budgets:
    """Return `epsilon` as `Budgets`, from any accepted form."""
    return epsilon if isinstance(epsilon, Budgets) else Budgets(epsilon)


_DIGITS: Final = 6
"""People type numbers of few digits. Longer ones may have been copied from data."""


def is_number(item: object) -> bool:
    """Whether an object is a real number of Python, NumPy or `decimal`; False for booleans."""
    return is_number_type(type(item))


def is_number_type(type_: type) -> bool:
    """Whether a type is a real number; False for NumPy durations, which register as integers."""
    other = (bool, np.bool_, np.timedelta64)
    return issubclass(type_, (numbers.Real, Decimal)) and not issubclass(type_, other)


def typed(item: object) -> str:
    """Return an entry of declared numbers as messages show it: one of few digits, or its type."""
    text = repr(item) if type(item) in (int, float) else ""
    return text if 0 < len(text) <= _DIGITS else f"<{type(item).__name__}>"


def float_down(number: Any) -> float:
    """Return the largest float64 that is at most `number`, an object for which `is_number` is true.

    Rounding to nearest could exceed the given budget, and people would lose more than they allowed.
    A number between 0 and the smallest positive float becomes 0. Negative numbers stay negative,
    and NaN stays NaN.
    """
    if isinstance(number, float):
        return float(number)
    if type(number) is Fraction:
        return _fraction_down(number)
    if isinstance(number, np.integer):
        number = int(number)  # Python compares integers with floats exactly, NumPy does not
    if isinstance(number, Decimal) and number.is_nan():
        return math.nan  # a signalling NaN cannot be converted
    try:
        near = float(number)
    except OverflowError:  # an integer or a fraction
        near = math.inf if number > 0 else -math.inf
    if isinstance(number, Decimal):
        above = Decimal.from_float(near) > number
    elif isinstance(number, np.floating):
        above = bool(np.longdouble(near) > number)
    else:
        above = near > number
    return math.nextafter(near, -math.inf) if above else near


def _fraction_down(number: Fraction) -> float:
    """Return `float_down` of a fraction, in integer arithmetic for speed."""
    over, under = number.numerator, number.denominator
    try:
        near = over / under
    except OverflowError:
        return sys.float_info.max if over > 0 else -math.inf
    above, below = near.as_integer_ratio()
    return math.nextafter(near, -math.inf) if above * under > over * below else near


def float_up(number: Fraction | float) -> float:
    """Return the smallest float64 that is at least a privacy loss, so reports never understate it.

    If the loss is at most some float, for example a budget, so is the result.
    """
    return number if isinstance(number, float) else -_fraction_down(-number)


def in_range(epsilon: Floats) -> Floats:
    """Return budgets moved into the public range: 0 below it, 2²⁰ above it; ∞ is unchanged.

    NaN and negative numbers are unchanged, so later checks can reject them.
    """
    with np.errstate(invalid="ignore"):
        high = (epsilon > LARGEST) & (epsilon < math.inf)
        return np.where((epsilon > 0.0) & (epsilon < LEAST), 0.0, np.where(high, LARGEST, epsilon))


def moved(epsilon: Floats | float) -> bool:
    """Whether `in_range` changes any budget."""
    budgets: Floats = np.asarray(epsilon)
    if budgets.size and budgets.min() >= LEAST and budgets.max() <= LARGEST:
        return False  # the usual case, and NaN is not in it
    with np.errstate(invalid="ignore"):
        low, high = (budgets > 0.0) & (budgets < LEAST), (budgets > LARGEST) & (budgets < math.inf)
    return bool(low.any() or high.any())


def floats_down(array: npt.NDArray[Any]) -> Floats:
    """Return numbers as float64, rounded down.

    Args:
        array: integers or floats of any size, or objects for which `is_number` is true.
    """
    if array.dtype.kind == "O":
        found = np.fromiter(map(float_down, array.ravel().tolist()), np.float64, array.size)
        return found.reshape(array.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        near: Floats = array.astype(np.float64, copy=False)
        if array.dtype.kind == "f" and array.dtype.itemsize > 8:
            above = near > array
            near[above] = np.nextafter(near[above], -np.inf)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        for row in np.flatnonzero(np.abs(near) >= _EXACT).tolist():
            near.flat[row] = float_down(array.flat[row])
    return near


def numbers_given(given: Any) -> npt.NDArray[Any]:
    """Return numbers as an array without rounding.

    NumPy would convert a list with floats, or with integers beyond 64 bits, to floats.
    """
    plain = not isinstance(given, (list, tuple)) or set(map(type, given)) <= {float, np.float64}
    if not plain and all(map(is_number, given)):
        return np.fromiter(given, dtype=object, count=len(given))
    return np.asarray(given)


def budgets_of_people(epsilon: Any) -> Floats:
    """Return one ε for each person as float64, rounded down, in the given order, unchecked.

    Raises:
        BudgetError: a budget is not a number.
        ArgumentError: `epsilon` is not one column.
    """
    try:
        given = numbers_given(epsilon)
    except (ValueError, TypeError):
        raise ArgumentError("epsilon must be one column, one number for each person.") from None
    objects = given.dtype.kind == "O" and all(map(is_number, given.ravel().tolist()))
    if given.dtype.kind not in "fiu" and given.size and not objects:
        raise BudgetError(
            f"epsilon must be numbers, one for each person, but is of type {given.dtype}. {_HINT}"
        )
    if given.ndim != 1:
        raise ArgumentError(
            f"epsilon must be one column, one number for each person, but has {given.ndim} "
            "dimensions. To say how many people chose each level, give Budgets({ε: people})."
        )
    return floats_down(given)


LESS_THAN_QUOTIENT: Final = 1.0 - 2.0**-52
"""A quotient of floats, rounded to nearest, times this is below the exact quotient.
Proof: docs/proofs/weights.md (2)."""


def budgets_of_units(epsilon: Floats | float, units: Floats | Integers) -> Floats:
    """Return ε/d rounded down, where d is the number of units of each person: d·result ≤ ε.

    `weights_engine.py` computes the same floats. Proof: docs/proofs/weights.md (2).
    """
    quotient = np.asarray(epsilon / np.asarray(units, dtype=np.float64))
    return np.where(units == 1, epsilon, quotient * LESS_THAN_QUOTIENT)


def summed(counts: Integers, values: Floats, n: int) -> float:
    """Return Σ count·value over levels of n people; a plain sum if each level has one person."""
    return float(values.sum()) if len(counts) == n else dot(counts, values)


def dot(first: Floats | Integers, second: Floats | Integers) -> float:
    """Return Σ first·second, computed in one thread."""
    if len(first) <= _BLOCK:
        return float(first @ second)
    starts = range(0, len(first), _BLOCK)
    return sum(float(first[at : at + _BLOCK] @ second[at : at + _BLOCK]) for at in starts)


def _from_mapping(epsilon: Mapping[Any, Any]) -> tuple[Floats, Integers]:
    totals: dict[float, int] = {}
    for level, count in epsilon.items():
        if not is_number(level):
            raise BudgetError(f"epsilon has a level that is not a number. {_HINT}")
        budget = float(in_range(np.array(float_down(level))))
        whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
        if not whole or not 0 <= count <= 2**53:
            raise ArgumentError(
                f"epsilon: the number of people at {typed(level)} must be a whole number from 0, "
                f"but is {typed(count)}."
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
    # After sorting, NaN is at the end and the smallest number at the start. So the checks need only
    # look at both ends.
    ordered = np.sort(in_range(budgets_of_people(epsilon)))
    ordered += 0.0  # −0.0 and 0.0 are the same level
    if len(ordered) == 0:
        return ordered, np.zeros(0, dtype=np.int64)
    fresh = ordered[1:] != ordered[:-1]
    if fresh.all():
        return ordered, np.ones(len(ordered), dtype=np.int64)
    starts = np.flatnonzero(fresh) + 1
    starts = np.concatenate([np.zeros(1, dtype=starts.dtype), starts])
    counts = np.diff(starts, append=len(ordered)).astype(np.int64)
    return ordered[starts], counts


# A public ladder of budgets, for private budgets: each budget is rounded down to a public rung.
#
# Under add/remove, nothing can depend on which budgets are present. A rung is a function of a
# person's own ε and of public numbers alone, and is never above ε. The key of a number is the
# number rounded to 9 significant bits. No two rungs have the same key, so each level of the tally
# is a rung for any data.
#
# The tally also computes `keys` and `Ladder.of` as engine expressions. Property tests check that
# both forms agree.

SPLITTER: Final = 2.0**44 + 1.0
"""Veltkamp's splitting constant: it leaves 53 - 44 = 9 significant bits."""

HUGE: Final = 2.0**900
"""Larger budgets, including infinity, are their own keys: their product with SPLITTER overflows."""

MOST_DECLARED: Final = 256
"""The maximum number of rungs that a caller can declare."""

SMALLEST: Final = 2.0**-40
"""The lowest cap and the lowest level that can be declared. It is far above LEAST, so every rung of
every ladder is above LEAST."""

DEPTH: Final = 2.0**-20
"""The ratio of the lowest to the highest fine rung. Budgets below the lowest rung are left out."""

LESS: Final = 1.0 - 2.0**-9
"""A number times this, rounded to 9 significant bits, is below the original number: see `_down`."""

_AT_ONCE: Final = 8192
"""The number of budgets that are rounded at once."""


def keys(epsilon: Floats) -> Floats:
    """Return `epsilon`, which must be nonnegative, rounded to 9 significant bits."""
    found: Floats = np.empty(epsilon.size)
    # New memory takes longer than arithmetic, so intermediate results are small.
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, epsilon.size, _AT_ONCE):
            part = epsilon[start : start + _AT_ONCE]
            product = part * SPLITTER
            rounded = product - (product - part)
            found[start : start + _AT_ONCE] = np.where(part <= HUGE, rounded, part)
    return found


@dataclass(frozen=True, eq=False)
class Ladder:
    """Public rungs of budgets, ascending.

    Attributes:
        levels: the rungs, all above 0 and finite.
        fine: True if the rungs are all numbers with 9 significant bits between the lowest and the
            highest rung; False if they were declared.

    Guarantee:
        The rung of ε is at most ε. It is 0 if ε is below the lowest rung, missing, NaN or negative.
        It depends on ε and the ladder alone.
    """

    levels: Floats
    fine: bool

    @classmethod
    def declare(cls, levels: Floats) -> Ladder:
        """Return the ladder of declared levels.

        Args:
            levels: numbers above 0, in any order; those above 2²⁰, including ∞, become 2²⁰.

        Raises:
            BudgetError: there are no levels or too many, a level is not a number above 0, or two
                levels are so close that the tally would merge them.
        """
        rungs = np.unique(np.minimum(levels, LARGEST))
        if not 1 <= len(rungs) <= MOST_DECLARED or not (rungs >= SMALLEST).all():
            raise BudgetError(
                f"levels must be 1 to {MOST_DECLARED} budgets, numbers from {SMALLEST:.2g} up: "
                "the budgets that people were offered."
            )
        if len(np.unique(keys(rungs))) < len(rungs):
            raise BudgetError(
                "levels: two of them agree in nine significant bits, which is a difference of less "
                "than 0.4 %. Leave one of them out."
            )
        return cls(rungs, fine=False)

    @classmethod
    def up_to(cls, cap: float) -> Ladder:
        """Return the ladder of all numbers with 9 significant bits up to a cap."""
        top = float(_down(np.array([min(cap, LARGEST)]))[0])
        steps = np.arange(256.0, 512.0)
        _, exponent = math.frexp(top)
        octaves = np.arange(-31, 1) + (exponent - 9)
        rungs = np.ldexp(steps[None, :], octaves[:, None]).ravel()
        return cls(rungs[(rungs <= top) & (rungs >= top * DEPTH)], fine=True)

    @property
    def top(self) -> float:
        """The highest rung."""
        return float(self.levels[-1])

    def of(self, epsilon: Floats) -> Floats:
        """Return the rung of each ε; 0 if ε is below all rungs or invalid."""
        with np.errstate(invalid="ignore"):
            usable = (epsilon >= self.levels[0]) & (epsilon <= math.inf)
        capped = np.minimum(np.where(usable, epsilon, 0.0), self.top)
        if self.fine:
            return _down(capped)
        place = np.searchsorted(self.levels, capped, side="right")
        return np.concatenate([[0.0], self.levels])[place]


def _down(epsilon: Floats) -> Floats:
    """Round down to 9 significant bits.

    If rounding to nearest rounds up, ε·(1 − 2⁻⁹) is rounded instead. That result is below ε,
    because (1 − 2⁻⁹)(1 + 2⁻⁹) < 1.
    """
    near = keys(epsilon)
    return np.where(near <= epsilon, near, keys(epsilon * LESS))
