"""A number with its interval, or an array of them."""

from __future__ import annotations

from typing import Generic, NamedTuple, Self, TypeVar

__all__ = ["Bracketed", "Estimated"]

Number = TypeVar("Number")


class Bracketed(NamedTuple, Generic[Number]):
    """A number with its interval; or an array of numbers, each with its own.

    Attributes:
        value: the estimate.
        low: the lower end of its interval.
        high: the upper end.
    """

    value: Number
    low: Number
    high: Number

    @property
    def interval(self) -> tuple[Number, Number]:
        """A range that holds the truth with the confidence of the release."""
        return self.low, self.high


class Estimated(Bracketed[float]):
    """A number with its interval."""

    __slots__ = ()

    def times(self, unit: float) -> Self:
        """The same in another unit."""
        return type(self)(self.value * unit, self.low * unit, self.high * unit)
