"""The mean in two stages: a tenth of every budget finds the spread, the rest takes the mean."""

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
from epsilons.questions.locate import budgets_of, remaining
from epsilons.questions.question import Draw, Steps
from epsilons.questions.ways import Read, after, replace_end
from epsilons.results.release import Scalar
from epsilons.risk.goals import MeanGoal
from epsilons.risk.spread import Seen, Spreading, WeighedAdaptively, risk_of
from epsilons.risk.weighing import RELATED
from epsilons.types import Floats, Integers

__all__ = ["SPREADS", "Stages", "two_stages"]


SPREADS: Final = tuple(0.5 * 2.0 ** (-step / 2) for step in range(12))
"""What the spread may be found to be, in parts of the range: from one half, the largest there is,
down to about a hundredth. There are few of them, so that an interval can hold for all."""

_PARTS: Final = 10
"""The first stage takes one part of so many."""

_UNLUCKY: Final = 0.1
"""The probability with which the noise of the squares, and that of the mean, may make the spread
look smaller than it is."""


@dataclass(frozen=True, eq=False)
class Stages:
    """Both stages: the first, and every second one that may follow it, from budgets alone.

    Attributes:
        first: what finds the spread.
        seconds: what takes the mean, for each of `SPREADS`.
    """

    first: SumAndSquares
    seconds: tuple[SumAndSquares, ...]

    @classmethod
    def of(
        cls, levels: Floats, counts: Integers, goal: MeanGoal, bounds: tuple[float, float]
    ) -> Stages:
        """The stages of people with these budgets.

        Args:
            levels: the budgets ε, ascending.
            counts: how many people have each.
            goal: what is assumed about the data. Caps make the mean squared error small,
                whatever the loss is: there are many of them, and theirs are fast to find.
            bounds: the range of the mean.

        Raises:
            BudgetError: nobody's part of a budget has a tenth.
        """
        squared = goal.squared
        tenths = np.array([_tenth(level) for level in levels.tolist()])
        first = _built(levels, counts, tenths, squared.worst, bounds)
        # Only people without an end have an infinite loss, and no end of it is left.
        left = remaining(levels, cast(tuple[Fraction, ...], first.losses))
        seconds = (
            _built(levels, counts, left, replace(squared, spread=s), bounds) for s in SPREADS
        )
        return cls(first, tuple(seconds))

    def found(self, pair: tuple[int, int]) -> int:
        """The place of the spread that was found: the smallest that is no smaller than it seems.

        Args:
            pair: what the first stage drew.
        """
        seen = Seen(*self.first.moments(pair), self.first.slack)
        variance = Spreading(self.first.weighing, RELATED).most(seen, _UNLUCKY, _UNLUCKY)
        return max(at for at, each in enumerate(SPREADS) if at == 0 or each * each >= variance)

    @cached_property
    def among(self) -> int:
        """How many different means may follow."""
        return len({tuple(each.weights.tolist()) for each in self.seconds})


def two_stages(counted: Tally, goal: MeanGoal, bounds: tuple[float, float]) -> Steps:
    """A first look at the mean and the squares, then the mean with the cap that suits them.

    Args:
        counted: sums and squares by what people offer.
        goal: what is assumed about the data, and which error is claimed to be small.
        bounds: the range of the mean.

    Guarantee:
        Pure, for every input, replace-one: person i loses at most the sum of what both stages take
        of them, a rational number of at most ε_i. Proof: docs/proofs/adaptive.md.

    Reference:
        New. Both stages are Algorithm HPM of paper *correlated*, on integers, with squares.

    Raises:
        BudgetError: nobody's part of a budget has a tenth. Nothing was drawn.
    """
    stages = Stages.of(counted.levels, counted.counts, goal, bounds)
    first = stages.first
    at = stages.found((yield Draw(first, first.total(counted), more=True)))

    def read(mechanism: SumAndSquares, pair: tuple[int, int]) -> Read:
        margin = WeighedAdaptively(
            mechanism.weighing,
            mechanism.slack,
            *mechanism.moments(pair),
            expected=SPREADS[at],
            among=stages.among,
            choices=len(SPREADS),
        )
        risk, exact = risk_of(goal, margin, [each.weighing for each in stages.seconds])
        raw, (lo, hi) = mechanism.estimate(pair), bounds
        value = min(max(raw, lo), hi)
        estimate = Scalar(value=value, raw=raw, bounds=bounds, margin=margin)
        risk = goal.in_units(risk, bounds)
        return Read(estimate, risk, exact=exact, weighing=mechanism.weighing)

    mechanism = stages.seconds[at]
    spent = after(first.losses, mechanism)
    return (yield from replace_end(counted, mechanism, read, method="adaptive", spent=spent))


def _tenth(level: float) -> float:
    """A tenth of a budget, rounded down; all of one that has no end."""
    return level if math.isinf(level) else float_down(Fraction(level) / _PARTS)


def _built(
    levels: Floats, counts: Integers, offered: Floats, goal: MeanGoal, bounds: tuple[float, float]
) -> SumAndSquares:
    """The mechanism of a stage, said of whole budgets.

    Args:
        levels: the budgets.
        counts: the people of each.
        offered: what they offer to this stage.
        goal: which error its cap makes small.
        bounds: the range of the mean.
    """
    budgets = budgets_of(offered, counts)
    allocation = allocate_for(budgets, goal, "optimal")
    made = cast(SumAndSquares, build_moments(allocation, grid=door.GRID, bounds=bounds))
    place = np.searchsorted(budgets.levels, offered)
    return replace(made, levels=levels, counts=counts, weights=made.weights[place])
