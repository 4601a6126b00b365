"""The mean in two stages: 10 % of every budget pays for the spread, and the rest for the mean."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final, cast

import numpy as np

from epsilons import door
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import float_down
from epsilons.door import Tally
from epsilons.draws.mechanisms import SumAndSquares, build_moments
from epsilons.questions.question import Draw, Steps
from epsilons.questions.steps.locate import budgets_of, remaining
from epsilons.questions.steps.ways import Read, after, replace_end
from epsilons.results.release import Scalar
from epsilons.risk.goals import MeanGoal
from epsilons.risk.means.spread import Seen, Spreading, WeighedInStages, divided, risk_of
from epsilons.risk.weighing import RELATED
from epsilons.types import Floats, Integers

__all__ = ["SPREADS", "Stages", "two_stages"]


SPREADS: Final = tuple(0.5 * 2.0 ** (-step / 2) for step in range(12))
"""Candidates for the spread, as fractions of the range: from one half, the largest possible, to
about a hundredth. They are few, so an interval can be valid for all of them."""

_PARTS: Final = 10
"""The first stage uses a fraction of 1/10 of every budget."""

_UNLUCKY: Final = 0.1
"""The largest probability that noise in the squares makes the upper bound on the spread too small.
The same limit applies to noise in the mean."""


@dataclass(frozen=True, eq=False)
class Stages:
    """The first stage, and all possible second stages. They depend only on budgets.

    Attributes:
        first: the mechanism that estimates the spread.
        seconds: the mechanisms that estimate the mean, one for each of `SPREADS`.
    """

    first: SumAndSquares
    seconds: tuple[SumAndSquares, ...]

    @classmethod
    def of(
        cls, levels: Floats, counts: Integers, goal: MeanGoal, bounds: tuple[float, float]
    ) -> Stages:
        """Build the stages for people with these budgets.

        Args:
            levels: budget levels ε, ascending.
            counts: the number of people at each level.
            goal: the assumption about the data. The loss of the goal is ignored: caps minimize the
                mean squared error. Many caps are computed, and such caps are fast to compute.
            bounds: the range of the mean.

        Raises:
            BudgetError: a tenth of every budget rounds down to 0.
        """
        squared = goal.squared
        tenths = np.array([_tenth(level) for level in levels.tolist()])
        first = _built(levels, counts, tenths, squared.worst, bounds)
        # Only people with an infinite budget have an infinite loss. Their remaining budget is
        # infinite.
        left = remaining(levels, cast(tuple[Fraction, ...], first.losses))
        seconds = (
            _built(levels, counts, left, replace(squared, spread=s), bounds) for s in SPREADS
        )
        return cls(first, tuple(seconds))

    def found(self, pair: tuple[int, int]) -> int:
        """Return the index of the smallest candidate that is at least an upper bound on the spread.

        Args:
            pair: the output of the first stage.
        """
        seen = Seen(*self.first.moments(pair), self.first.slack)
        variance = Spreading(self.first.weighing, RELATED).most(seen, _UNLUCKY, _UNLUCKY)
        return max(at for at, each in enumerate(SPREADS) if at == 0 or each * each >= variance)

    @cached_property
    def among(self) -> int:
        """The number of distinct second stages."""
        return len({tuple(each.weights.tolist()) for each in self.seconds})


def two_stages(counted: Tally, goal: MeanGoal, bounds: tuple[float, float]) -> Steps:
    """Draw the mean and the squares, then draw the mean with the best cap for the estimated spread.

    Args:
        counted: sums of values and of their squares, for each budget that people offer.
        goal: the assumption about the data, and the error to minimize.
        bounds: the range of the mean.

    Guarantee:
        Pure differential privacy under replace-one, for every input: person i loses at most the sum
        of their losses in both stages, a rational number of at most ε_i.
        Proof: docs/proofs/adaptive.md.

    Reference:
        New. Both stages are Algorithm HPM of paper *correlated*, on integers, with squares.

    Raises:
        BudgetError: a tenth of every budget rounds down to 0. Nothing was drawn.
    """
    stages = Stages.of(counted.levels, counted.counts, goal, bounds)
    first = stages.first
    at = stages.found((yield Draw(first, first.total(counted), more=True)))

    def read(mechanism: SumAndSquares, pair: tuple[int, int]) -> Read:
        choices = [each.weighing for each in stages.seconds]
        division = divided(choices, SPREADS, replace(goal.assumption, related=False))[at]
        margin = WeighedInStages(
            mechanism.weighing,
            mechanism.slack,
            *mechanism.moments(pair),
            expected=SPREADS[at],
            among=stages.among,
            choices=len(SPREADS),
            noise=division.noise,
            own=division.own,
        )
        risk, exact = risk_of(goal, margin, choices)
        raw, (lo, hi) = mechanism.estimate(pair), bounds
        value = min(max(raw, lo), hi)
        estimate = Scalar(value=value, raw=raw, bounds=bounds, margin=margin)
        risk = goal.in_units(risk, bounds)
        return Read(estimate, risk, exact=exact, weighing=mechanism.weighing)

    mechanism = stages.seconds[at]
    spent = after(first.losses, mechanism)
    return (yield from replace_end(counted, mechanism, read, method="adaptive", spent=spent))


def _tenth(level: float) -> float:
    """Return a tenth of a budget, rounded down; an infinite budget stays infinite."""
    return level if math.isinf(level) else float_down(Fraction(level) / _PARTS)


def _built(
    levels: Floats, counts: Integers, offered: Floats, goal: MeanGoal, bounds: tuple[float, float]
) -> SumAndSquares:
    """Build the mechanism of one stage. Its levels are people's full budgets.

    Args:
        levels: the full budgets.
        counts: the number of people at each.
        offered: the part of each budget that this stage can use.
        goal: the error that the cap minimizes.
        bounds: the range of the mean.
    """
    budgets = budgets_of(offered, counts)
    allocation = allocate_for(budgets, goal, "optimal")
    made = cast(SumAndSquares, build_moments(allocation, grid=door.GRID, bounds=bounds))
    place = np.searchsorted(budgets.levels, offered)
    return replace(made, levels=levels, counts=counts, weights=made.weights[place])
