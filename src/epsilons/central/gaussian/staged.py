"""The whole frozen mechanism of an unknown range: selections first, then a capped mean."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from epsilons.allocation.caps import square_cap
from epsilons.allocation.split import best_half
from epsilons.budgets import Budgets, Floats, Integers
from epsilons.central.gaussian.locate import Found, remaining
from epsilons.central.gaussian.selection import Selection
from epsilons.central.mechanism import Additive
from epsilons.noise import DiscreteLaplace, PointMass
from epsilons.risk import Weighing
from epsilons.risk.located import SIGMA

__all__ = ["Staged", "around", "budgets_left", "build_staged", "on_levels", "range_of"]

_WEIGHT_BITS = 45
_LIMIT = 2.0**1021
_NARROWEST = 2.0**-890


@dataclass(frozen=True, eq=False)
class Staged:
    """Several frozen mechanisms, drawn one after the other on the same people.

    What is read of a mechanism elsewhere (weights, law, draw, …) is read of the last stage, the
    capped mean. All stages speak of the same levels.

    Guarantee:
        Person i loses at most the sum of what the stages and the mean take, each of which is an
        exact rational number, and that sum is at most ε_i: docs/proofs/gaussian.md.

    Attributes:
        levels: the budgets ε.
        counts: how many people have each.
        stages: the selections in the order in which they were drawn, and the capped mean.
        charges: for every stage that was drawn, what it took of a person of each level.
    """

    kind = "composition"
    levels: Floats
    counts: Integers
    stages: tuple[Any, ...]
    charges: tuple[tuple[Fraction | float, ...], ...]

    def __post_init__(self) -> None:
        for array in (self.levels, self.counts):
            array.flags.writeable = False

    @property
    def selections(self) -> tuple[Any, ...]:
        """All stages but the mean."""
        return self.stages[:-1]

    @property
    def last(self) -> Additive:
        """The capped mean on the range that was found."""
        mean: Additive = self.stages[-1]
        return mean

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """What a person of each level spends in all, ∞ for those who are used without noise."""
        return tuple(sum(each, Fraction(0)) for each in zip(*self.charges, strict=True))

    @property
    def weights(self) -> Integers:
        """The integer weights in the mean."""
        return self.last.weights

    @property
    def reach(self) -> int:
        """How far one person's integer can move in the mean."""
        return self.last.reach

    @property
    def grid(self) -> int:
        """The divisor of the sum."""
        return self.last.grid

    @property
    def law(self) -> Any:
        """The law of the noise of the mean."""
        return self.last.law

    @property
    def keep(self) -> tuple[Fraction, ...] | None:
        """None: everyone is surely used."""
        return self.last.keep

    @property
    def moves(self) -> int:
        """In how many sums of the mean a person can move: one."""
        return self.last.moves

    @property
    def draw(self) -> Callable[..., Any]:
        """Draw the mean: the selections were drawn before it, and shaped it."""
        return self.last.draw

    @property
    def weighing(self) -> Weighing:
        """The mean on a unit range."""
        return self.last.weighing

    @property
    def slack(self) -> float:
        """What integers may add to an error on a unit range."""
        return self.last.slack


def range_of(found: Found) -> tuple[float, float]:
    """The range of the mean: the centre, and as many σ to either side as are worth their noise."""
    half = best_half(budgets_left(found))
    return around(found.centre, half * SIGMA * found.deviation + found.width / 2.0)


def budgets_left(found: Found) -> Budgets:
    """What the people of the coarse levels have left for the mean."""
    return _budgets(remaining(found.levels, found.losses), found.counts)


def around(centre: float, reach: float) -> tuple[float, float]:
    """The ends of a range: not so narrow that floats cannot tell them apart, nor too wide.

    It lies within ±2^1021, so that sums and differences of its ends are floats.
    """
    centre = min(max(centre, -_LIMIT), _LIMIT)
    reach = min(max(reach, _NARROWEST, 2.0**-44 * abs(centre)), _LIMIT)
    return max(centre - reach, -_LIMIT), min(centre + reach, _LIMIT)


def on_levels(
    stages: tuple[Selection, ...], levels: Floats, counts: Integers, place: Integers
) -> tuple[Selection, ...]:
    """The same selections, said of finer levels, each of which lies in one of theirs."""
    return tuple(
        replace(stage, levels=levels.copy(), counts=counts.copy(), weights=stage.weights[place])
        for stage in stages
    )


def build_staged(
    stages: tuple[Any, ...],
    levels: Floats,
    counts: Integers,
    bounds: tuple[float, float],
    sigma: float,
    grid: int,
) -> Staged:
    """The mechanism that spends on the mean what the stages before it left.

    Args:
        stages: what was drawn before; each says what people of each level lost.
        levels: the budgets ε, ascending.
        counts: how many people have each.
        bounds: the range of the mean.
        sigma: about the standard deviation, for the cap.
        grid: the steps of the grid.
    """
    charges = tuple(stage.losses for stage in stages)
    spent = [sum(each, Fraction(0)) for each in zip(*charges, strict=True)]
    left = remaining(levels, spent)
    cap = square_cap(_budgets(left, counts), 2.0 * min((bounds[1] - bounds[0]) / sigma, 1e9) ** 2)
    law: DiscreteLaplace | PointMass
    if math.isinf(cap):
        weights = np.where(np.isinf(left), 2**_WEIGHT_BITS, 0).astype(np.int64)
        law = PointMass()
    else:
        effective = np.minimum(left, cap)
        shift = min(_WEIGHT_BITS - math.frexp(float(effective.max()))[1], 53)
        weights = np.floor(np.ldexp(effective, shift)).astype(np.int64)
        law = DiscreteLaplace(Fraction(2) ** shift)
    most = tuple(law.loss(k) for k in weights.tolist())
    total = sum(k * n for k, n in zip(weights.tolist(), counts.tolist(), strict=True))
    last = Additive(levels.copy(), counts.copy(), weights, grid, grid, law, Fraction(total), bounds)
    return Staged(levels.copy(), counts.copy(), (*stages, last), (*charges, most))


def _budgets(left: Floats, counts: Integers) -> Budgets:
    """What is left as budgets: levels that have become equal are one."""
    levels, index = np.unique(left, return_inverse=True)
    people = np.zeros(levels.size, dtype=np.int64)
    np.add.at(people, index, counts)
    return Budgets.of_levels(levels, people)
