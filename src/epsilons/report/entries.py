"""The numbers of a release, whatever its kind: each with its name, its value and its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from epsilons.report.numbers import aligned, category_name

__all__ = ["Entries", "entries_of", "label_of"]

_NAMES: Final = ("categories", "groups", "quantiles", "names")
"""Where data of a kind may say what its numbers are of."""


@dataclass(frozen=True)
class Entries:
    """The numbers of one release, all lists in their order.

    Attributes:
        names: what each is of; one "" if there is one number.
        value: as published.
        low, high: the ends of the interval of each by itself.
        unit: of all of them, or None.
        told: words for a number, of which as many digits are worth reading as a width allows.
        shares: whether they are shares of people.
    """

    names: list[str]
    value: list[float]
    low: list[float]
    high: list[float]
    unit: str | None
    told: Callable[[float, float], str]
    shares: bool = False

    @property
    def single(self) -> bool:
        """Whether there is but one number."""
        return self.names == [""]


def entries_of(data: Mapping[str, Any]) -> Entries:
    """The numbers of data with a `value` and an `interval`, in the unit of the data."""
    value, (low, high) = data["value"], data["interval"]
    if not isinstance(value, list):
        return Entries([""], [value], [low], [high], data["unit"], aligned)
    named: list[Any] = next(
        (data[key] for key in _NAMES if len(data.get(key, ())) == len(value)),
        list(range(len(value))),
    )
    return Entries([label_of(each) for each in named], value, low, high, data["unit"], aligned)


def label_of(named: Any) -> str:
    """What a number is of, in words: a bin by its ends, labels of two columns side by side."""
    if isinstance(named, (list, tuple)) and any(isinstance(each, str) for each in named):
        return ", ".join(map(str, named))
    return category_name(named)
