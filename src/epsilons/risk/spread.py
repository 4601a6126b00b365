"""The margin of a mean that was released with its spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import ClassVar

from epsilons.frozen import storable
from epsilons.risk.assumptions import Assumption
from epsilons.risk.estimated import Estimated
from epsilons.risk.margins import Bounds, Weighed
from epsilons.risk.moment import EXPECTED, Seen, Spreading, Way
from epsilons.risk.weighing import Weighing


class Spread(Estimated):
    """The standard deviation of the data, of people as they are weighted, in data units."""

    __slots__ = ()


@storable("risk.WeighedSpread")
@dataclass(frozen=True, eq=False)
class WeighedSpread(Weighed):
    """The margin of a weighted mean of people whose budgets are public, with their spread.

    Guarantee:
        Over all data that the assumption allows, the interval misses with a probability of at most
        1 − confidence, and so does that of the standard deviation. Whether the spread is used for
        the first follows from weights and noise alone: docs/proofs/moment.md.

    Attributes:
        offset: Σ w·(x − ½) on a unit range as it was drawn, of weights that add up to one.
        square: Σ w·(x − ½)² of the same.
        expected: the standard deviation, in parts of the range, at which intervals are forecast.
    """

    offset: float
    square: float
    expected: float = EXPECTED

    kind: ClassVar[str | None] = None

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error on a unit range not exceeded with this probability, integers included."""
        times = self.times(assumption)
        way = _way(self.weighing, assumption, times, self.expected)
        if way is None:
            return super().error(assumption, confidence)
        spreading = Spreading(self.weighing, assumption, times)
        return spreading.error(way, self._seen, 1.0 - confidence) + self.slack

    def times(self, assumption: Assumption) -> int:  # noqa: ARG002
        """Among how many estimators this one was chosen by what may go with the data: itself."""
        return 1

    def uses_spread(self, assumption: Assumption) -> bool:
        """Whether intervals come from the spread that was drawn: public facts alone decide."""
        return _way(self.weighing, assumption, self.times(assumption), self.expected) is not None

    def spread(self, bounds: Bounds, assumption: Assumption, confidence: float) -> Spread:
        """The standard deviation, with a range that holds it with at least this probability."""
        spreading = Spreading(self._alike, assumption, self.times(assumption))
        low, high = spreading.deviation(self._seen, 1.0 - confidence)
        # The square of a noisy mean is larger than that of the mean, by the variance of the noise.
        noise = 2.0 * self._alike.scale * self._alike.scale
        found = self.square - self.offset * self.offset + noise
        variance = min(max(found, 0.0), 0.25) if math.isfinite(found) else 0.25
        unit = bounds[1] - bounds[0]
        value = min(max(math.sqrt(variance), low), high)
        return Spread(value, low, high).times(unit)

    @cached_property
    def _alike(self) -> Weighing:
        """The weights that add up to one: those of a mean may be smaller."""
        whole = self.weighing
        if abs(whole.total - 1.0) < 1e-9:
            return whole
        return Weighing(whole.weights / whole.total, whole.counts, whole.scale / whole.total)

    @property
    def _seen(self) -> Seen:
        return Seen(self.offset, self.square, self.slack / min(self.weighing.total, 1.0))


@lru_cache(maxsize=64)
def _way(weighing: Weighing, assumption: Assumption, times: int, expected: float) -> Way | None:
    """See `Spreading.way`, which a release asks again and again."""
    return Spreading(weighing, assumption, times).way(expected)
