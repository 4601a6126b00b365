"""The release of a mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from epsilons import parameters, risk, words
from epsilons.release.base import Mechanism, Release


@dataclass(frozen=True, eq=False, kw_only=True)
class MeanRelease(Release):
    """A published mean.

    Attributes:
        bounds: the range of the values.
    """

    value: float
    raw: float
    bounds: tuple[float, float]

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """A range that holds the true mean with at least this probability.

        It comes from budgets and public facts alone, never from the spread of the data.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), cut to the bounds.

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, the probability that the interval misses is at
            most 1 − confidence. It is exact for correlated data if everyone is surely used, and
            otherwise a proven bound.
        """
        lo, hi = self.bounds
        reach = (hi - lo) * self._error(self.assume, parameters.confidence(confidence))
        # Where the noise drowned everything the raw value may lie outside: the nearest bound.
        return min(max(self.raw - reach, lo), hi), max(min(self.raw + reach, hi), lo)

    @property
    def error_if_related(self) -> float:
        """The error not exceeded with `confidence` if budgets and values are related.

        It speaks of the mean of these very people, whatever else was assumed.
        """
        lo, hi = self.bounds
        return (hi - lo) * min(self._error("correlated", self.confidence), 1.0)

    @property
    def treats(self) -> str:
        """What became of values that do not fit, in words: of the call, never of the data."""
        return words.clipped(self.bounds, midpoint=self.missing == "midpoint")

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        mean = {"kind": "scalar", "value": self.value, "raw": self.raw, "interval": [low, high]}
        return {**mean, "bounds": list(self.bounds), **super().to_dict()}

    def _error(self, assume: str, confidence: float) -> float:
        """The error on a unit range, integers included."""
        mechanism: Mechanism = self.mechanism
        return risk.error(mechanism.weighing, assume, confidence) + mechanism.slack
