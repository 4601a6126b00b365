"""Margins under add/remove of earlier releases, which keep the intervals that they published.

Noisy counts decide whether weights are equal. In earlier releases, intervals for equal weights used
the whole error probability β, and intervals for different weights used another part of β for the
counts. Together, these intervals could fail with probability up to 1.5·β.
Proof: docs/proofs/add-remove.md (10), (19).
"""

from __future__ import annotations

from dataclasses import replace

from epsilons.frozen import storable
from epsilons.risk.groups.margins import RatioGroups
from epsilons.risk.groups.reach import Reach
from epsilons.risk.margins import (
    Asked,
    Behind,
    Ratio,
    RatioCells,
    RatioCut,
    RatioMean,
    sample_reach,
)
from epsilons.risk.means import mean
from epsilons.risk.moments.margins import RatioMoments
from epsilons.risk.moments.tested import RatioTests
from epsilons.risk.shares import TotalledCells
from epsilons.risk.weighing import Assumption
from epsilons.types import Floats


class Former(Behind):
    """The intervals of earlier releases. Proof: docs/proofs/add-remove.md (19)."""

    def asked(self, assumption: Assumption, confidence: float) -> Asked:
        """Return the interval to compute."""
        largest = self.largest
        if self.equal:
            return Asked(largest if assumption.sampled else 0.0, 0.0, confidence)
        related, sampled = assumption.related is not False, assumption.sampled
        if sampled and not related:
            return Asked(largest, 0.0, confidence)
        varying = 0.0 if assumption.anything or (related and not sampled) else largest
        if self.counted is None:
            return Asked(varying, assumption.apart, confidence)
        beta = (1.0 - confidence) / (3 if sampled else 2)
        far = self.counted.bias(beta)
        if sampled:
            samplings = 1 if assumption.anything else 2
            far += mean.sampling_reach(max(self.counted.fewest(beta), 1), beta, samplings)
        far, apart = min(far, 1.0), assumption.apart
        ways = [
            Asked(0.0, far * (1.0 if sampled or not related else apart), 1.0 - beta),
            Asked(varying, far * apart, 1.0 - beta),
        ]
        total = self.counted.total
        first, second = (
            min(way.apart + sample_reach(way.largest * total, total, beta), 1.0) for way in ways
        )
        return ways[second <= first]


@storable("risk.Ratio")
class FormerRatio(Former, Ratio):
    """The margin `Ratio` of earlier releases. Proof: docs/proofs/add-remove.md (19)."""


@storable("risk.RatioCut")
class FormerCut(Former, RatioCut):
    """The margin `RatioCut` of earlier releases. Proof: docs/proofs/add-remove.md (19)."""


@storable("risk.RatioCells")
class FormerCells(Former, RatioCells):
    """The margin `RatioCells` of earlier releases. Proof: docs/proofs/add-remove.md (19)."""


@storable("risk.TotalledCells")
class FormerTotalled(Former, TotalledCells):
    """The margin `TotalledCells` of earlier releases. Proof: docs/proofs/add-remove.md (19)."""


@storable("risk.RatioMoments")
class FormerMoments(Former, RatioMoments):
    """The margin of moments of earlier releases. Proof: docs/proofs/add-remove.md (19)."""


@storable("risk.RatioTests", since="0.3.0")
class FormerTests(Former, RatioTests):
    """The margin `RatioTests` of earlier releases. Proof: docs/proofs/add-remove.md (19)."""


@storable("risk.OpenGroupedMeans")
class FormerGroups(Former, RatioGroups):
    """The margin `RatioGroups` of earlier releases. Proof: docs/proofs/add-remove.md (19)."""

    def reach(self, assumption: Assumption, beta: float) -> tuple[Reach, float]:
        """Return bounds on T, and the error probability that remains after bounding counts."""
        if self.equal and self.counted is not None:
            return replace(self, counted=None).reach(assumption, beta)
        return super().reach(assumption, beta)


@storable("risk.RatioMean", since="0.3.0")
class FormerMean(RatioMean):
    """The margin `RatioMean` of earlier releases.

    Its upper bounds on counts, and the bounds that limit the bias, need not hold simultaneously.
    Proof: docs/proofs/add-remove.md (19).
    """

    def _heads(self, part: float) -> Floats:
        assert self.counted is not None
        return self.counted.most(part)
