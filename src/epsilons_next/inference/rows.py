"""What is concluded: rows of numbers, each with its interval; and how draws are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from epsilons_next.checks import finite, one_of, typed
from epsilons_next.errors import ArgumentError

__all__ = ["About", "Assume", "Kind", "Reading", "Row", "Within", "assumed"]

About = Literal["people", "population"]
Kind = Literal["proven", "normal", "bounded"]

LEAST, MOST = 0.5, 1.0 - 1e-9
"""Between which confidences draws can be read."""


@dataclass(frozen=True)
class Within:
    """The assumption that people with different limits differ by at most this on average.

    Args:
        apart: in the unit of the column; for shares as a fraction, such as 0.05.

    Raises:
        ArgumentError: this is no distance.
    """

    apart: float

    def __post_init__(self) -> None:
        if finite("Within", self.apart) < 0.0:
            raise ArgumentError("Within: a distance is a number from 0.")


Assume = Literal["unrelated"] | Within | None


def assumed(plain: Any) -> Assume:
    """Return an assumption that was stored as plain data."""
    return Within(float(plain["apart"])) if isinstance(plain, dict) else plain


@dataclass(frozen=True)
class Reading:
    """How draws are read. It costs nothing to read them in another way.

    Args:
        confidence: how often an interval holds.
        about: these very people, or the population that they were drawn from at random.
        assume: of limits and answers: nothing, how far averages lie apart, or that they are
            "unrelated", as if limits had been dealt at random.

    Raises:
        ArgumentError: the words are not known, or make no sense together.
    """

    confidence: float = 0.95
    about: About = "people"
    assume: Assume = None

    def __post_init__(self) -> None:
        number = finite("confidence", self.confidence)
        if not LEAST <= number <= MOST:
            raise ArgumentError("confidence: a share between 0.5 and 1, such as 0.9.")
        one_of("about", self.about, ("people", "population"))
        text = isinstance(self.assume, str)
        if not (
            self.assume is None
            or isinstance(self.assume, Within)
            or (text and self.assume == "unrelated")
        ):
            raise ArgumentError(
                'assume: None for nothing, ep.Within(6), or "unrelated"; this is '
                f"{typed(self.assume)}."
            )
        if isinstance(self.assume, Within) and self.about == "population":
            raise ArgumentError(
                'assume: Within is about="people": averages of a sample lie farther apart than '
                "those of its population."
            )

    @property
    def miss(self) -> float:
        """How often an interval may miss."""
        return 1.0 - self.confidence

    @property
    def chance(self) -> bool:
        """Whether it matters who was drawn, or which limit was dealt to whom."""
        return self.about == "population" or self.assume == "unrelated"


@dataclass(frozen=True)
class Row:
    """One published number.

    Args:
        names: which number it is: its group by column, and its category.
        value: the number.
        low, high: its interval.
        band_low, band_high: the same, where all rows together hold so often.
        kind: whether the interval is a bound, a normal approximation, or a bound on chance where
            too few people carry the result.
    """

    names: tuple[str, ...]
    value: float
    low: float
    high: float
    band_low: float
    band_high: float
    kind: Kind = "proven"

    @property
    def name(self) -> str:
        """The names in one text."""
        return ", ".join(self.names)

    @property
    def half(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2.0
