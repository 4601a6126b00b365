"""Several means that are drawn together: which error is small, how far all may be at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Final

from epsilons.frozen import storable
from epsilons.risk import mean
from epsilons.risk.assumptions import Assumption
from epsilons.risk.cube import CubeNoise
from epsilons.risk.goals import MeanGoal, Words
from epsilons.risk.margins import Weighed
from epsilons.risk.weighing import SumNoise

_PARTS: Final = (0.1, 0.3, 0.5, 0.7, 0.9)
"""The parts of an error probability that the data may take, beside the noise of all means."""


@dataclass(frozen=True)
class SeveralMeans(MeanGoal):
    """The error of each of several means is to be small, of the same people with the same weights.

    Attributes:
        means: how many are drawn together.
    """

    means: int = 1

    statistic: ClassVar[str] = "several means"

    @property
    def noise(self) -> SumNoise:
        """Of one mean: smaller than Laplace noise of as many parts of everyone's budget."""
        cube = CubeNoise(self.means)
        return SumNoise(cube.times, cube=cube)

    @property
    def by_bias(self) -> bool:
        """Only the quantile of Laplace noise has a closed slope."""
        return False


@storable("risk.WeighedTogether")
@dataclass(frozen=True, eq=False)
class WeighedTogether(Weighed):
    """The margin of one of several means that were drawn together.

    Guarantee:
        As of `Weighed` for each mean; and all of them are at once within `at_once` of the truth, on
        unit ranges, with at least the probability that is asked: docs/proofs/cube.md.

    Attributes:
        place: which of the means it is, from 0, in the order of the mechanism.
    """

    place: int

    def goal(self, words: Words) -> SeveralMeans:
        """What was to be small of each mean, had these words been said."""
        cube = self.weighing.cube
        return SeveralMeans(*words, means=1 if cube is None else cube.means)

    def at_once(self, assumption: Assumption, confidence: float) -> float:
        """The error on a unit range that none of the means exceeds, integers included."""
        cube, beta = self.weighing.cube, 1.0 - confidence
        if cube is None:
            raise ValueError("means that are drawn together have the noise of the cube")
        scale = self.weighing.scale
        if assumption.related is not False and not assumption.sampled:
            # Nothing but noise is random: each mean is off by at most the same bias.
            bias = float(mean.leaning(self.weighing, assumption.apart))
            return cube.largest_quantile(bias, scale, beta) + self.slack
        ways = [mean.quantile(self.weighing, assumption, 1.0 - beta / cube.means)]
        if assumption.related is False:  # else budgets, which choose the way, go with values
            still = replace(self.weighing, scale=0.0, cube=None)
            ways += [
                mean.quantile(still, assumption, 1.0 - part * beta / cube.means)
                + cube.largest_quantile(0.0, scale, (1.0 - part) * beta)
                for part in _PARTS
            ]
        return min(ways) + self.slack
