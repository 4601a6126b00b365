"""Budgets: ε in [0, ∞] as levels with counts; and ladders of public levels for private budgets."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from epsilons.errors import ArgumentError, BudgetError, DataError
from epsilons.types import Floats, Integers

__all__ = [
    "HUGE",
    "LARGEST",
    "LEAST",
    "LESS",
    "SMALLEST",
    "SPLITTER",
    "Budgets",
    "Ladder",
    "Levels",
    "People",
    "as_budgets",
    "budgets_of_people",
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


# Budgets: how much privacy loss each person accepts, as levels with counts.

LEAST: Final = 2.0**-60
LARGEST: Final = 2.0**20
"""The public range of ε: smaller budgets count as 0, larger finite ones as its upper end."""

_MOST = 2**63 - 1

_EXACT = 2**53
"""All integers up to this size are exact floats."""

_BLOCK = 8192
"""Longer products are computed block by block. BLAS would split them among threads and wait for
these, which takes far longer than the product when other work is running."""

_HINT = "0 leaves a person out of the sum and math.inf makes their record public."


class Budgets:
    """How many people chose each ε, in [0, ∞].

    ε = 0 means "leave me out of the sum", ε = ∞ means "my record is public". A given float64 *is*
    the budget; any other number (Decimal, Fraction, long double, an integer above 2⁵³) is rounded
    down to one. Equal budgets are merged into one level. A budget below 2⁻⁶⁰ counts as 0, and a
    finite one above 2²⁰ as 2²⁰.

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
        """Return budgets from distinct levels, ascending, and the number of people at each."""
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


People: TypeAlias = Budgets | Mapping[float, int] | npt.ArrayLike
"""The budgets of people: one ε for each person, or how many people have each."""

Levels: TypeAlias = Budgets | Mapping[float, int] | Iterable[float]
"""Budgets that people are offered, perhaps with a guess of how many people choose each."""


def as_budgets(epsilon: People) -> Budgets:
    """Return `epsilon` as `Budgets`, in whatever form the user gave it."""
    return epsilon if isinstance(epsilon, Budgets) else Budgets(epsilon)


def is_number(item: object) -> bool:
    """Whether an object is a real number of Python, NumPy or `decimal`; booleans are not."""
    return is_number_type(type(item))


def is_number_type(type_: type) -> bool:
    """Whether objects of a type are real numbers; a NumPy duration only claims to be an integer."""
    other = (bool, np.bool_, np.timedelta64)
    return issubclass(type_, (numbers.Real, Decimal)) and not issubclass(type_, other)


def float_down(number: Any) -> float:
    """Return the largest float64 that is at most a number, for which `is_number` holds.

    The nearest float may be larger, and a budget larger than the one given would break a promise.
    A positive number below all floats becomes 0, a negative one stays negative; NaN is NaN.
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
    """Return `float_down` of a fraction, by integer arithmetic for speed: there are many."""
    over, under = number.numerator, number.denominator
    try:
        near = over / under
    except OverflowError:
        return sys.float_info.max if over > 0 else -math.inf
    above, below = near.as_integer_ratio()
    return math.nextafter(near, -math.inf) if above * under > over * below else near


def float_up(number: Fraction | float) -> float:
    """Return the smallest float64 that is at least a loss: reported spending is never too low.

    If the loss is at most some float, such as a budget, so is the result.
    """
    return number if isinstance(number, float) else -_fraction_down(-number)


def in_range(epsilon: Floats) -> Floats:
    """Return budgets moved into the public range: 0 below it, its upper end above it, ∞ as is.

    NaN and negative numbers stay as they are, for the checks that refuse them.
    """
    with np.errstate(invalid="ignore"):
        low = (epsilon > 0.0) & (epsilon < LEAST)
        high = (epsilon > LARGEST) & (epsilon < math.inf)
    return np.where(low, 0.0, np.where(high, LARGEST, epsilon))


def moved(epsilon: Floats | float) -> bool:
    """Whether somebody's budget is changed by `in_range`."""
    given = np.asarray(epsilon)
    return bool((in_range(given)[given >= 0.0] != given[given >= 0.0]).any())


def floats_down(array: npt.NDArray[Any]) -> Floats:
    """Return numbers as float64, each rounded down.

    Args:
        array: integers or floats of any size, or objects for which `is_number` holds.
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
    """Return numbers as an array, with none of them rounded.

    NumPy would turn a list with floats, or with integers beyond 64 bits, into floats.
    """
    plain = not isinstance(given, (list, tuple)) or set(map(type, given)) <= {float, np.float64}
    if not plain and all(map(is_number, given)):
        return np.fromiter(given, dtype=object, count=len(given))
    return np.asarray(given)


def budgets_of_people(epsilon: Any) -> Floats:
    """Return one ε for each person as float64, rounded down, in order and unchecked.

    Raises:
        BudgetError: they are not numbers.
        ArgumentError: they are not one column.
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


def summed(counts: Integers, values: Floats, n: int) -> float:
    """Return Σ count·value over levels of n people; if each has one person, a plain sum."""
    return float(values.sum()) if len(counts) == n else dot(counts, values)


def dot(first: Floats | Integers, second: Floats | Integers) -> float:
    """Return Σ first·second, in one thread."""
    if len(first) <= _BLOCK:
        return float(first @ second)
    starts = range(0, len(first), _BLOCK)
    return sum(float(first[at : at + _BLOCK] @ second[at : at + _BLOCK]) for at in starts)


def _from_mapping(epsilon: Mapping[Any, Any]) -> tuple[Floats, Integers]:
    totals: dict[float, int] = {}
    for level, count in epsilon.items():
        if not is_number(level):
            raise BudgetError(f"epsilon: {level!r} is not a number. {_HINT}")
        budget = float(in_range(np.array(float_down(level))))
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
    # A sorted copy: NaN is at the end and the smallest number at the start, so checks of values
    # need only look at both ends.
    ordered = np.sort(in_range(budgets_of_people(epsilon)))
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
            "epsilon is 0 for everyone: nobody's value may be used, so nothing can be estimated. "
            f"Somebody must have a budget of at least {LEAST:.2g}: anything below that counts as 0."
        )


# A public ladder of budgets: where budgets are private, everyone stands on the rung below theirs.
#
# Under add/remove nothing may depend on which budgets are present. A rung is a function of a
# person's own ε and of public numbers alone, and is never above ε. No two rungs share a key, so a
# level of the tally is a rung, regardless of who is in the data.
#
# The tally also writes `keys` and `Ladder.of` as expressions of engines; property tests keep both
# forms equal.

SPLITTER: Final = 2.0**44 + 1.0
"""Veltkamp's constant that leaves 53 - 44 = 9 significant bits."""

HUGE: Final = 2.0**900
"""Larger budgets, including infinity, are their own keys: times SPLITTER they may overflow."""

MOST_DECLARED: Final = 256
"""The most rungs that a caller may declare."""

SMALLEST: Final = 2.0**-40
"""The lowest cap and the lowest level that may be declared: far above LEAST, so every rung of every
ladder is above LEAST."""

DEPTH: Final = 2.0**-20
"""The lowest fine rung relative to the highest; people below it are left out of the sum."""

LESS: Final = 1.0 - 2.0**-9
"""A number times this, rounded to 9 significant bits, is below the number: see `_down`."""


def keys(epsilon: Floats) -> Floats:
    """Return `epsilon`, which must be nonnegative, rounded to 9 significant bits."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = epsilon * SPLITTER
        rounded: Floats = product - (product - epsilon)
    return np.where(epsilon <= HUGE, rounded, epsilon)


@dataclass(frozen=True, eq=False)
class Ladder:
    """Public rungs, ascending.

    Attributes:
        levels: the rungs, all above 0 and finite.
        fine: whether they are all numbers of 9 significant bits between the ends; otherwise they
            were declared.

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
            levels: numbers above 0, in any order; those above 2²⁰, including ∞, count as 2²⁰.

        Raises:
            BudgetError: there are none or too many, one is not a number above 0, or two are so
                close that the tally would merge them.
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
        """Return the ladder of all numbers of 9 significant bits up to a cap."""
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
        """Return the rung of each ε; 0 for people without a rung."""
        with np.errstate(invalid="ignore"):
            usable = (epsilon >= self.levels[0]) & (epsilon <= math.inf)
        capped = np.minimum(np.where(usable, epsilon, 0.0), self.top)
        if self.fine:
            return _down(capped)
        place = np.searchsorted(self.levels, capped, side="right")
        return np.concatenate([[0.0], self.levels])[place]


def _down(epsilon: Floats) -> Floats:
    """Round down to 9 significant bits.

    If rounding to nearest went up, ε·(1 − 2⁻⁹) is rounded instead. The result is below ε, because
    (1 − 2⁻⁹)(1 + 2⁻⁹) < 1.
    """
    near = keys(epsilon)
    return np.where(near <= epsilon, near, keys(epsilon * LESS))
