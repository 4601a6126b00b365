"""The release of a mean whose range had to be found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from epsilons.central.gaussian.diffusion import Diffused, Spread
from epsilons.central.gaussian.locate import Found
from epsilons.release import MeanRelease
from epsilons.risk.located import FOUND, Located, Picture, diffused, selected

__all__ = [
    "GaussianRelease",
    "picture_of",
    "picture_of_spread",
]


@dataclass(frozen=True, eq=False, kw_only=True)
class GaussianRelease(MeanRelease):
    """A published mean on a range that was found privately.

    Attributes:
        bounds: the range that was found; values outside of it were clipped.
        sigma: the standard deviation that the range was made from, about right for Gaussian data.
        picture: what the selections said, and how well they could.
        mechanism: a `Staged`, or a `Reduced` for diffusion under add/remove.
    """

    sigma: float
    picture: Picture
    mechanism: Any

    @property
    def risk_kind(self) -> str:
        """What `risk` is."""
        return FOUND

    @property
    def margin(self) -> Located:
        """How far the truth may be from `raw`."""
        return Located(self.picture, self.mechanism.weighing, self.mechanism.slack)

    def to_dict(self) -> dict[str, Any]:
        """Everything that may be published, as plain data."""
        return {**super().to_dict(), "sigma": self.sigma, "centre": self.picture.centre}


def picture_of(found: Found) -> Picture:
    """The picture that the last two selections give."""
    pairs = [selected(stage.weights, stage.counts, stage.scale) for stage in found.stages[-2:]]
    sharp, alike = zip(*pairs, strict=True)
    return Picture(
        found.centre,
        found.deviation,
        found.width,
        found.near,
        found.odds,
        (sharp[0], sharp[1]),
        (alike[0], alike[1]),
    )


def picture_of_spread(spread: Spread, mechanism: Diffused) -> Picture:
    """The picture that diffusion gives: differences of pairs are √2 times as wide as values."""
    keep = np.array([float(p) for p in mechanism.keep])
    sharp, alike = diffused(keep, mechanism.counts, float(mechanism.base))
    return Picture(
        spread.centre,
        spread.gap / math.sqrt(2.0),
        spread.step,
        1.0 / spread.cells,
        1.0 / mechanism.up.end,
        sharp,
        alike,
    )
