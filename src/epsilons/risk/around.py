"""Margins of shares that are all within one distance of what was released."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from epsilons.risk.assumptions import Assumption
from epsilons.risk.margins import Margin
from epsilons.types import Floats


class AroundCells(Margin, ABC):
    """What such margins share."""

    @abstractmethod
    def worst(self, assumption: Assumption, confidence: float) -> float:
        """The largest error of any share not exceeded with this probability."""

    def band(self, raw: Floats, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Ranges that hold all shares at once, cut to [0, 1]."""
        return around(raw, self.worst(assumption, confidence))

    def at_once(self, raw: Floats, assumption: Assumption, confidence: float) -> float:  # noqa: ARG002
        """The error of the worst category that is not exceeded with this probability."""
        return min(self.worst(assumption, confidence), 1.0)


def around(raw: Floats, reach: float) -> tuple[Floats, Floats]:
    """Ranges around shares, cut to [0, 1]."""
    return np.clip(raw - reach, 0.0, 1.0), np.clip(raw + reach, 0.0, 1.0)
