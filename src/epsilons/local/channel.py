"""Randomizers as tables: exact probabilities that `epsilons.verify` reads, and nothing else."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from epsilons.local.coins import WORD, threshold
from epsilons.noise import DiscreteLaplace, PointMass
from epsilons.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Channel:
    """A randomizer with finitely many answers: for each input, the probability of each output.

    Attributes:
        epsilon: the budget that it must keep.
        inputs: the values that a person may have.
        outputs: the answers.
        chances: a row for each input: whole numbers, which `total` divides.
        total: what each row sums to.
    """

    epsilon: float
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    chances: tuple[tuple[int, ...], ...]
    total: int

    @classmethod
    def response(cls, epsilon: float) -> Channel:
        """Randomized response to one bit."""
        flip = threshold(epsilon)
        return cls(epsilon, (0, 1), (0, 1), ((WORD - flip, flip), (flip, WORD - flip)), WORD)


@dataclass(frozen=True, eq=False)
class Shifted:
    """One person's integer plus noise: what `epsilons.verify.exact` reads, for one level.

    Attributes:
        levels: the budget.
        law: the law of the noise.
        reach: how far the integer can move.
    """

    kind = "report"
    levels: Floats
    law: DiscreteLaplace | PointMass
    reach: int

    grid: int = 1
    moves: int = 1
    keep: tuple[Fraction, ...] | None = None

    @classmethod
    def of(cls, epsilon: float, reach: int) -> Shifted:
        """Discrete Laplace noise of scale reach/ε, none for ε = ∞."""
        levels = np.array([epsilon])
        if np.isinf(epsilon):
            return cls(levels, PointMass(), reach)
        return cls(levels, DiscreteLaplace(Fraction(reach) / Fraction(epsilon)), reach)

    @cached_property
    def weights(self) -> Integers:
        """One: the integer stands for itself."""
        return np.ones(1, dtype=np.int64)
