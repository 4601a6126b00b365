"""What was estimated: several quantiles of one column, with their margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from epsilons.frozen import storable
from epsilons.loading import later
from epsilons.release.every import Estimate
from epsilons.report import numbers
from epsilons.risk.assumptions import Assumption
from epsilons.risk.quantiles import QuantilesMargin
from epsilons.types import Floats, freeze

if TYPE_CHECKING:
    from epsilons.release import said
    from epsilons.release.release import Release
    from epsilons.report import sheet
else:
    said = later("epsilons.release.said")
    sheet = later("epsilons.report.sheet")


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

    @property
    def names(self) -> tuple[str, ...]:
        """The share that is at or below each quantile, in percent."""
        return tuple(map(numbers.percent, self.margin.quantiles.tolist()))

    def says(self, release: Release) -> sheet.Sheet:
        """What a release of it says."""
        rows = self.rows(release.assumption, release.confidence)
        confidence, unit = numbers.percent(release.confidence), said.unit_words(release)
        heads = ("share of people", f"is at or below{unit}", f"from ({confidence})", "to")
        table = sheet.Table("rows", heads, tuple(said.cells_of(rows)), "Published quantiles.")
        title = f"at or below{unit}, {confidence} interval"
        drawing = sheet.Ranges(rows, title, "people", "quantiles")
        lo, hi = self.bounds
        nothing = all(row.low <= lo and row.high >= hi for row in rows)
        values = said.with_unit(release, f"{numbers.number(lo)} to {numbers.number(hi)}")
        own = said.Own(
            f"{len(rows)} quantiles",
            said.told_in_units(release),
            first=[[table]],
            people=[said.people_fact(release), said.values_fact(values)],
            nothing=[said.NOTHING] if nothing else [],
            figures=[said.drawn(table, drawing, "quantiles")],
        )
        return said.sheet_of(release, own)
