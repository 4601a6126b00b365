"""Several means that are released with joint noise: the goal and the margin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final

from epsilons.frozen import storable
from epsilons.risk.goals import MeanGoal, Words
from epsilons.risk.margins import Weighed
from epsilons.risk.means import mean
from epsilons.risk.tails.joint import CubeNoise
from epsilons.risk.weighing import Assumption, SumNoise

_PARTS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Fractions of an error probability that are tried for the sampling error. The rest is for the
joint noise of all means."""


@dataclass(frozen=True)
class SeveralMeans(MeanGoal):
    """The error of each of several means, for the same people and weights.

    Proof: docs/proofs/cube.md (5). Proof: docs/proofs/risk.md (4), (6).

    Attributes:
        means: number of means that are released with joint noise.
    """

    means: int = 1

    statistic: ClassVar[str] = "several means"

    @property
    def noise(self) -> SumNoise:
        """The noise of one mean.

        It is smaller than Laplace noise for 1/`means` of everyone's budget.
        """
        cube = CubeNoise(self.means)
        return SumNoise(cube.times, cube=cube)

    @property
    def by_bias(self) -> bool:
        """False: only the quantile of Laplace noise has a closed-form derivative."""
        return False


@storable("risk.WeighedTogether")
@dataclass(frozen=True, eq=False)
class WeighedTogether(Weighed):
    """Margin of one of several means that were released with joint noise.

    Guarantee:
        The guarantee of `Weighed` for each mean. On unit ranges, all errors are simultaneously at
        most `at_once`, with at least the stated probability. Proof: docs/proofs/cube.md (5), (7).

    Attributes:
        place: index of the mean in the mechanism, from 0.
    """

    place: int

    def goal(self, words: Words) -> SeveralMeans:
        """The goal of each mean, for this assumption, loss and confidence."""
        cube = self.weighing.cube
        return SeveralMeans(*words, means=1 if cube is None else cube.means)

    def at_once(self, assumption: Assumption, confidence: float) -> float:
        """Simultaneous bound on the errors of all means, on a unit range, rounding included."""
        cube, beta = self.weighing.cube, 1.0 - confidence
        if cube is None:
            raise ValueError("means that are drawn together have the noise of the cube")
        scale = self.weighing.scale
        if assumption.related is not False and not assumption.sampled:
            # Only noise is random, and every mean has the same bound on its bias.
            bias = float(mean.leaning(self.weighing, assumption.apart))
            return cube.largest_quantile(bias, scale, beta) + self.slack
        ways = [mean.quantile(self.weighing, assumption, 1.0 - beta / cube.means)]
        # To take the minimum of several bounds is a choice that depends on budgets. It is valid if
        # budgets and values are unrelated.
        if assumption.related is False:
            still = replace(self.weighing, scale=0.0, cube=None)
            ways += [
                mean.quantile(still, assumption, 1.0 - part * beta / cube.means)
                + cube.largest_quantile(0.0, scale, (1.0 - part) * beta)
                for part in _PARTS
            ]
        return min(ways) + self.slack
