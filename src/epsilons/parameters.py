"""What each parameter may be, declared once as data: validation and its tests both read it."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Collection
from typing import Final

from epsilons.errors import ArgumentError, BoundsError

CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "assume": ("iid", "shuffled", "correlated"),
    "loss": ("mse", "pac"),
    "missing": ("error", "midpoint"),
    "neighbours": ("replace", "add-remove"),
    "statistic": ("mean", "frequencies"),
}
"""The words that a parameter takes."""


def choice(name: str, value: object, allowed: Collection[str] | None = None) -> str:
    """Return `value` if parameter `name` takes it.

    Args:
        name: the parameter, as the user types it.
        value: what the user gave.
        allowed: the words it takes; those of `CHOICES` unless given.

    Raises:
        ArgumentError: it is not one of the words, which the message lists.
    """
    words = CHOICES[name] if allowed is None else tuple(allowed)
    if isinstance(value, str) and value in words:
        return value
    close = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ArgumentError(
        f"{name}={value!r} is not known. It can be {', '.join(map(repr, words))}.{hint}"
    )


def confidence(value: object) -> float:
    """Return `value` as a confidence strictly between 0 and 1."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 < value < 1.0:
        return float(value)
    raise ArgumentError(
        f"confidence={value!r} must be a number strictly between 0 and 1, such as 0.95."
    )


def cells(statistic: object, categories: object) -> int:
    """How many categories `statistic` has: 0 for a mean.

    Args:
        statistic: "mean" or "frequencies".
        categories: for frequencies, the categories or how many there are. Floats are edges of
            bins, of which there is one less.

    Raises:
        ArgumentError: the two do not fit together.
    """
    if choice("statistic", statistic) == "mean":
        if categories is not None:
            raise ArgumentError("categories is for frequencies: leave it out for a mean.")
        return 0
    count = categories
    if isinstance(categories, Collection) and not isinstance(categories, (str, bytes)):
        edges = any(
            isinstance(each, numbers.Real) and not isinstance(each, numbers.Integral)
            for each in categories
        )
        count = len(categories) - edges
    if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= 10**6:
        raise ArgumentError(
            "categories must be the categories or how many there are, from 2 to 1,000,000, "
            "since frequencies are asked for. "
            + ("It is not given." if categories is None else f"It stands for {count!r}.")
        )
    return count


def bounds(value: object) -> tuple[float, float]:
    """Return `value` as a known range (lo, hi) with lo < hi, both finite."""
    if value is None:
        raise BoundsError(
            "bounds=None means that the range is unknown, which only a mean can deal with. Give "
            "bounds=(lo, hi): the range that values can have whatever the data, such as (0, 100) "
            "for a percentage."
        )
    try:
        lo, hi = (float(side) for side in value)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        raise BoundsError(f"bounds={value!r} must be two numbers (lo, hi).") from None
    if not (math.isfinite(lo) and math.isfinite(hi)):
        raise BoundsError(f"bounds={value!r} must be finite: give the widest range you can defend.")
    if lo >= hi:
        what = "equal" if lo == hi else "reversed"
        raise BoundsError(f"bounds={value!r} are {what}: give (lo, hi) with lo < hi.")
    if not math.isfinite(hi - lo) or not math.isfinite(2.0**30 / (hi - lo)):
        raise BoundsError(
            f"bounds={value!r} are too wide or too narrow for 64-bit floating point: rescale them."
        )
    return lo, hi
