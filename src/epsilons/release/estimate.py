"""What was estimated: one number, the shares of cells, or a vector, each with its margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from epsilons.frozen import storable
from epsilons.loading import later
from epsilons.release.every import Reportable
from epsilons.risk.assumptions import Assumption
from epsilons.risk.located import Located, LocatedRatio
from epsilons.risk.margins import CellsMargin, ScalarMargin
from epsilons.risk.reported import VectorMargin
from epsilons.risk.spread import Spread, WeighedSpread
from epsilons.types import Floats, freeze

if TYPE_CHECKING:
    from epsilons.release import grouped
else:
    grouped = later("epsilons.release.grouped")

_ENDS: Final = ("from", "to")
"""What the ends of a bin are called in a table."""


@storable("release.Scalar")
@dataclass(frozen=True, eq=False, kw_only=True)
class Scalar(Reportable):
    """One number.

    Attributes:
        value: within the bounds.
        raw: as it was drawn.
        bounds: the range of the values, known or found.
        margin: how far the truth may be.
        sigma: the standard deviation that the range was made from, where it was found so.
        alike: whether nearly all values seemed to be in one place when the range was found.
    """

    kind: ClassVar = "scalar"
    value: float
    raw: float
    bounds: tuple[float, float]
    margin: ScalarMargin
    sigma: float | None = None
    alike: bool = False

    def interval(self, assumption: Assumption, confidence: float) -> tuple[float, float]:
        """A range that holds the truth with at least this probability."""
        return self.margin.interval(self.raw, self.bounds, assumption, confidence)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error not exceeded with this probability."""
        low, high = self.interval(assumption, confidence)
        return max(self.value - low, high - self.value)

    @property
    def unit(self) -> float:
        """What an error of 1 on a unit range is, in data units."""
        lo, hi = self.bounds
        return hi - lo

    @property
    def _place(self) -> tuple[float, tuple[float, float]]:
        return self.raw, self.bounds

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As plain data."""
        low, high = self.interval(assumption, confidence)
        return {
            "value": self.value,
            "raw": self.raw,
            "interval": [low, high],
            "bounds": list(self.bounds),
            **self._spread(assumption, confidence),
            **self._share(assumption, confidence),
            **self._influence_of_one(),
        }

    def table(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As columns: one row."""
        low, high = self.interval(assumption, confidence)
        columns = {"value": [self.value], "low": [low], "high": [high]}
        share = self.share(assumption, confidence)
        if share is None:
            return columns
        named = zip(("share", "share_low", "share_high"), share, strict=True)
        return {**columns, **{name: [each] for name, each in named}}

    def share(self, assumption: Assumption, confidence: float) -> grouped.Shares | None:
        """The share of those whose mean it is among all people; None if it is of everybody."""
        found = getattr(self.margin, "share", None)
        return None if found is None else grouped.Shares(*found(assumption, confidence))

    def spread(self, assumption: Assumption, confidence: float) -> Spread | None:
        """The standard deviation of the data, if it was released."""
        if not isinstance(self.margin, WeighedSpread):
            return None
        return self.margin.spread(self.bounds, assumption, confidence)

    def _share(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        found = self.share(assumption, confidence)
        return {} if found is None else {"share": found._asdict()}

    def _spread(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        found = self.spread(assumption, confidence)
        return {} if found is None else {"spread": found._asdict()}

    def found(self) -> dict[str, float]:
        """What was found beside it, as plain data: where values are, and how far they spread."""
        if self.sigma is None or not isinstance(self.margin, (Located, LocatedRatio)):
            return {}
        return {"sigma": self.sigma, "centre": self.margin.picture.centre}


@storable("release.Cells")
@dataclass(frozen=True, eq=False, kw_only=True)
class Cells(Reportable):
    """The share of people in each category.

    Attributes:
        value: on the simplex, or in [0, 1].
        raw: as it was drawn.
        categories: the labels, in the order of both.
        margin: how far the truth may be.
        other: the category that caught what is missing or not declared; None if there was none.
    """

    kind: ClassVar = "cells"
    value: Floats
    raw: Floats
    categories: tuple[Any, ...]
    margin: CellsMargin
    other: Any = None

    def __post_init__(self) -> None:
        freeze(self.value, self.raw)

    def interval(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """For each category by itself, a range that holds its share."""
        return self.margin.intervals(self.raw, assumption, confidence)

    def band(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """Ranges that hold all shares at once."""
        return self.margin.band(self.raw, assumption, confidence)

    def at_once(self, assumption: Assumption, confidence: float) -> float:
        """The error of the worst category."""
        return self.margin.at_once(self.raw, assumption, confidence)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error of the worst category that is not exceeded with this probability."""
        return self.at_once(assumption, confidence)

    unit: ClassVar[float] = 1.0

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As plain data."""
        low, high = self.interval(assumption, confidence)
        band_low, band_high = self.band(assumption, confidence)
        return {
            "categories": [list(c) if isinstance(c, tuple) else c for c in self.categories],
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "band": [band_low.tolist(), band_high.tolist()],
            "error_at_once": self.at_once(assumption, confidence),
            **self._influence_of_one(),
        }

    def table(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As columns: a row for each category; a bin has two ends."""
        low, high = self.interval(assumption, confidence)
        band_low, band_high = self.band(assumption, confidence)
        bins = all(isinstance(each, tuple) for each in self.categories)
        names: dict[str, Any] = {"category": list(self.categories)}
        if bins:
            names = {end: [each[at] for each in self.categories] for at, end in enumerate(_ENDS)}
        ends = {"low": low, "high": high, "band_low": band_low, "band_high": band_high}
        return {**names, "share": self.value, **ends}


@storable("release.Vector")
@dataclass(frozen=True, eq=False, kw_only=True)
class Vector(Reportable):
    """The mean of vectors in a ball.

    Attributes:
        value: within the ball.
        raw: as it was estimated.
        ball: the radius of the ball that holds all vectors.
        margin: how far the truth may be.
    """

    kind: ClassVar = "vector"
    value: Floats
    raw: Floats
    ball: float
    margin: VectorMargin

    def __post_init__(self) -> None:
        freeze(self.value, self.raw)

    def interval(self, assumption: Assumption, confidence: float) -> tuple[Floats, Floats]:
        """For each coordinate by itself, a range that holds its mean."""
        return self.margin.intervals(self.raw, assumption, confidence)

    def radius(self, assumption: Assumption, confidence: float) -> float:
        """How far the true mean is from `raw` at most, in ℓ2."""
        return self.margin.radius(assumption, confidence)

    def error(self, assumption: Assumption, confidence: float) -> float:
        """The error in ℓ2 that is not exceeded with this probability."""
        return min(self.radius(assumption, confidence), 2.0 * self.ball)

    unit: ClassVar[float] = 1.0

    def to_dict(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As plain data."""
        low, high = self.interval(assumption, confidence)
        return {
            "value": self.value.tolist(),
            "raw": self.raw.tolist(),
            "interval": [low.tolist(), high.tolist()],
            "ball": self.ball,
            "radius": self.radius(assumption, confidence),
            **self._influence_of_one(),
        }

    def table(self, assumption: Assumption, confidence: float) -> dict[str, Any]:
        """As columns: a row for each coordinate."""
        low, high = self.interval(assumption, confidence)
        places = list(range(len(self.value)))
        return {"coordinate": places, "value": self.value, "low": low, "high": high}
