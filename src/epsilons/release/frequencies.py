"""The release of frequencies: a share for each category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilons import parameters, risk, words
from epsilons.budgets import Floats
from epsilons.release.base import Mechanism, Release


@dataclass(frozen=True, eq=False, kw_only=True)
class FrequencyRelease(Release):
    """Published frequencies.

    Attributes:
        categories: the labels, in the order of `value` and `raw`.
        other: the category that caught what is missing or not declared; None if there was none.
    """

    value: Floats
    raw: Floats
    categories: tuple[Any, ...]
    other: Any = None

    def interval(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """For each category, a range that holds its share with at least this probability.

        Each by itself: use `band` to speak of all categories at once.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories, cut to [0, 1].

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, each interval misses with a probability of at
            most 1 − confidence.
        """
        return self._around(self._error(self.assume, parameters.confidence(confidence)))

    def band(self, confidence: float = 0.95) -> tuple[Floats, Floats]:
        """Ranges that hold all shares at once with at least this probability.

        Args:
            confidence: strictly between 0 and 1.

        Returns:
            (low, high), arrays in the order of the categories, cut to [0, 1].

        Raises:
            ArgumentError: the confidence is not strictly between 0 and 1.

        Guarantee:
            Over all data that the assumption allows, the probability that any of them misses is at
            most 1 − confidence.
        """
        return self._around(self._worst(self.assume, parameters.confidence(confidence)))

    @property
    def error_at_once(self) -> float:
        """The error of the worst category that is not exceeded with `confidence`."""
        return min(self._worst(self.assume, self.confidence), 1.0)

    @property
    def error_if_related(self) -> float:
        """The error of the worst category, not exceeded with `confidence`, if budgets tell values.

        It speaks of these very people, whatever else was assumed.
        """
        return min(self._worst("correlated", self.confidence), 1.0)

    @property
    def treats(self) -> str:
        """What became of values that do not fit, in words: of the call, never of the data."""
        return words.uncounted(self.other, self.neighbours)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        low, high = self.interval(self.confidence)
        band_low, band_high = self.band(self.confidence)
        shares = {
            "kind": "cells",
            "categories": [list(c) if isinstance(c, tuple) else c for c in self.categories],
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "band": [band_low.tolist(), band_high.tolist()],
            "error_at_once": self.error_at_once,
        }
        return {**shares, **super().to_dict()}

    def _error(self, assume: str, confidence: float) -> float:
        """The error of one share, integers included."""
        mechanism: Mechanism = self.mechanism
        return risk.share_error(mechanism.weighing, assume, confidence) + mechanism.slack

    def _worst(self, assume: str, confidence: float) -> float:
        mechanism: Mechanism = self.mechanism
        cells = len(self.categories)
        return risk.band(mechanism.weighing, assume, confidence, cells) + mechanism.slack

    def _around(self, reach: float) -> tuple[Floats, Floats]:
        return np.clip(self.raw - reach, 0.0, 1.0), np.clip(self.raw + reach, 0.0, 1.0)
