"""What was estimated: several quantiles of one column, with their margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from epsilons.frozen import storable
from epsilons.release.every import Estimate
from epsilons.risk.assumptions import Assumption
from epsilons.risk.quantiles import QuantilesMargin
from epsilons.types import Floats, freeze


@storable("release.Quantiles")
@dataclass(frozen=True, eq=False, kw_only=True)
class Quantiles(Estimate):
    """Several quantiles.

    Attributes:
        value: within the bounds, in the order of the quantiles.
        raw: the same.
        bounds: the range of the values.
        margin: which quantiles they are, and how far the truth may be.
    """

    kind: ClassVar = "quantiles"
    value: Floats
    raw: Floats
    bounds: tuple[float, float]
    margin: QuantilesMargin

    def __post_init__(self) -> None:
        freeze(self.value, self.raw)

    def interval(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """For each quantile by itself, a range that holds it."""
        return self.margin.intervals(self.bounds, assumption, confidence)

    def band(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Ranges that hold all quantiles at once."""
        return self.margin.band(self.bounds, assumption, confidence)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error of the worst of them that is not exceeded with this probability."""
        low, high = self.band(assumption, confidence)
        return float(max((self.value - low).max(), (high - self.value).max()))

    @property
    def unit(self) -> float:
        """What an error of 1 on a unit range is, in data units."""
        lo, hi = self.bounds
        return hi - lo

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As plain data."""
        low, high = self.interval(assumption, confidence)
        band_low, band_high = self.band(assumption, confidence)
        return {
            "quantiles": self.margin.quantiles.tolist(),
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "band": [band_low.tolist(), band_high.tolist()],
            "bounds": list(self.bounds),
        }

    def table(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As columns: a row for each quantile."""
        low, high = self.interval(assumption, confidence)
        first, last = self.band(assumption, confidence)
        ends = {"low": low, "high": high, "band_low": first, "band_high": last}
        return {"quantile": self.margin.quantiles, "value": self.value, **ends}
