"""The mechanisms of several means: one noise vector for all means, or one sum per public group."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from epsilons.budgets.allocation import Allocation
from epsilons.door import Tally
from epsilons.draws.mechanisms.sums import (
    WEIGHT_BITS,
    Additive,
    around,
    dot,
    lattice,
    points,
    ratio,
    weights_of,
)
from epsilons.draws.noise import Cube, DiscreteLaplace, Source
from epsilons.draws.noise.vectors import can_be_drawn
from epsilons.frozen import storable
from epsilons.risk import CubeNoise, Weighing
from epsilons.types import Floats, Integers, freeze

# The mechanism of several means: sums over the same people, with one noise vector for all sums.


@storable("mechanisms.SeveralSums")
@dataclass(frozen=True, eq=False)
class SeveralSums:
    """Weighted integer sums over the same people, with the same weights, plus one noise vector.

    A person's values are integers g_1, ..., g_d in [0, grid], one for each mean. The mechanism
    draws the lattice points floor(Σ k·g_j / grid), plus integers z with P(z) ∝ e^{−max|z_j|/scale}.
    The object holds no data: the sums are passed to `draw`.

    Guarantee:
        Replacing a person of weight k moves each lattice point by at most m = ceil(k·reach/grid).
        If no entry moves farther than m, the probability of the noise changes by at most a factor
        e^{m/scale}. So the person's loss in all means together is at most m/scale. It is rational,
        and `epsilons.verify.exact` compares it with ε. Nothing is rounded after the sums.

    Reference:
        Hardt and Talwar (2010): noise of the norm whose unit ball is the set of all changes by one
        person; here on integers and for personal weights. Proof: docs/proofs/cube.md (1).

    Attributes:
        levels: budget levels ε.
        counts: the number of people at each level.
        weights: the integer weight k of a person at each level, in every sum.
        reach: the maximum change of one person's g, in each sum.
        grid: the divisor of the sums.
        law: the joint distribution of the noise.
        divisor: D, the denominator of each mean, in lattice steps.
        bounds: the range of the values of each mean.
        keep: None, because everyone is used without sampling.
    """

    kind = "several sums"
    paper = 'Hardt and Talwar, "On the geometry of differential privacy", 2010'
    released = "weighted sums of several columns plus joint noise"
    keep = None
    levels: Floats
    counts: Integers
    weights: Integers
    reach: int
    grid: int
    law: Cube
    divisor: Fraction
    bounds: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        freeze(self.levels, self.counts, self.weights)

    def total(self, tally: Tally) -> tuple[int, ...]:
        """Return the lattice points of the data, before noise.

        The tally has two cells for each mean, one for x and one for 1 − x. Everyone has one unit
        per mean.
        """
        sums = tally.cells[:, ::2].T
        return tuple(self.alone(place).point(each) for place, each in enumerate(sums))

    @overload
    def draw(
        self, source: Source, size: None = None, total: tuple[int, ...] | None = None
    ) -> tuple[int, ...]: ...
    @overload
    def draw(
        self, source: Source, size: int, total: tuple[int, ...] | None = None
    ) -> npt.NDArray[Any]: ...
    def draw(
        self, source: Source, size: int | None = None, total: tuple[int, ...] | None = None
    ) -> tuple[int, ...] | npt.NDArray[Any]:
        """Draw vectors of lattice points.

        Args:
            source: where the randomness comes from.
            size: the number of draws; None for one.
            total: the lattice points of the data; with None the draw is noise only.

        Returns:
            A tuple of Python integers, or an array of such rows: int64 if all values fit.
        """
        centre = (0,) * self.means if total is None else total
        if size is None:
            return tuple(z + t for z, t in zip(self.law.draw(source), centre, strict=True))
        return around(points(centre), self.law.draw(source, size))

    def estimate(self, drawn: tuple[int, ...]) -> tuple[float, ...]:
        """Return the means of a drawn vector, in data units; they can be outside the bounds."""
        return tuple(self.alone(place).estimate(each) for place, each in enumerate(drawn))

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """Return `estimate` for an array of draws: a row for each draw."""
        columns = [self.alone(place).estimates(drawn[:, place]) for place in range(self.means)]
        return np.stack(columns, axis=1)

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """The largest loss of a person at each level, in all means together."""
        return tuple(self.law.loss(-(-k * self.reach // self.grid)) for k in self.weights.tolist())

    @property
    def means(self) -> int:
        """The number of means."""
        return len(self.bounds)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of all sums, in lattice steps."""
        return self.law.scale

    @cached_property
    def weighing(self) -> Weighing:
        """The estimator of each mean on a unit range, with the noise of the joint draw."""
        cube = CubeNoise(self.means)
        return replace(
            self.alone(0).weighing, scale=cube.times * ratio(self.scale, self.divisor), cube=cube
        )

    @cached_property
    def slack(self) -> float:
        """Bound on the rounding error of values, means of rows, sums and noise, on a unit range."""
        return 1.0 / self.grid + ratio(Fraction(5, 2), self.divisor)

    def alone(self, place: int) -> Additive:
        """Return one sum as a separate mechanism, for its estimates only; its noise is unused."""
        return Additive(
            self.levels,
            self.counts,
            self.weights,
            self.reach,
            self.grid,
            DiscreteLaplace(self.scale),
            self.divisor,
            self.bounds[place],
        )


def build_several(
    allocation: Allocation, *, grid: int, bounds: tuple[tuple[float, float], ...]
) -> SeveralSums | None:
    """Build the mechanism of an allocation for several means that are drawn together.

    Weights are e·2^s rounded down, and the scale of the noise is 2^s. So a person's loss in all
    means together is k/2^s ≤ e ≤ ε for every s.

    Returns:
        The mechanism, or None if only public people are used, who need no noise. It is also None if
        budgets are so large that the scale of the noise is too small for this many means.
    """
    spent, counts = allocation.spent, allocation.counts
    if math.isinf(spent[-1]):
        return None
    shift = lattice(spent, most=WEIGHT_BITS, reserved=len(bounds).bit_length())
    scale = Fraction(2) ** shift
    if not can_be_drawn(scale, len(bounds)):
        return None
    weights = weights_of(spent, shift)
    divisor = dot(weights, counts) / Fraction(allocation.total)
    law = Cube(scale, len(bounds))
    return SeveralSums(allocation.levels, counts, weights, grid, grid, law, divisor, bounds)


# The mechanism of group means with public groups: one sum per group.


@storable("mechanisms.Parallel")
@dataclass(frozen=True, eq=False)
class Parallel:
    """A weighted sum for each group, each with its own weights and its own noise.

    The groups are public. Everyone is in exactly one group, and nobody moves between groups. The
    object holds no data: the sums are passed to `draw`.

    Guarantee:
        Replacing a person's value changes only the sum of their own group. So a person loses only
        what that group's mechanism charges at their level. The loss at a level is at most the
        maximum over all groups, which `epsilons.verify.exact` compares with ε.

    Reference:
        McSherry (2009), parallel composition, Theorem 4. Here a person's group is public, so the
        theorem also applies under replacement. Proof: docs/proofs/parallel.md (1).

    Attributes:
        levels: budget levels ε of all people.
        parts: the mechanism of each group, on the levels of its people; None for a group without a
            draw.
        keep: None, because everyone is used without sampling.
    """

    kind = "parallel"
    released = "a weighted sum of the values plus noise for each public group"
    keep = None
    levels: Floats
    parts: tuple[Additive | None, ...]

    def __post_init__(self) -> None:
        self.levels.flags.writeable = False

    def total(self, tally: Tally) -> tuple[int, ...]:
        """Return each group's lattice point before noise; each group has the cells x and 1 − x."""
        return tuple(
            0 if part is None else part.point(tally.cells[self._rows(part), 2 * group])
            for group, part in enumerate(self.parts)
        )

    def draw(
        self, source: Source, size: int | None = None, total: tuple[int, ...] | None = None
    ) -> Any:
        """Draw a lattice point for each group.

        Args:
            source: where the randomness comes from.
            size: the number of draws; None for one.
            total: the lattice points of the data; with None the draw is noise only.

        Returns:
            Python integers by group, 0 for a group without a draw; or an array of such rows.
        """
        if size is not None:
            rows = [self.draw(source, total=total) for _ in range(size)]
            table: npt.NDArray[Any] = np.array(rows, dtype=object).reshape(size, len(self.parts))
            return table
        points = (0,) * len(self.parts) if total is None else total
        return tuple(
            0 if part is None else part.draw(source, total=point)
            for part, point in zip(self.parts, points, strict=True)
        )

    def estimates(self, drawn: tuple[int, ...]) -> Floats:
        """Return the mean of each group, not clipped, in data units.

        It is NaN for a group without a draw.
        """
        each = zip(self.parts, drawn, strict=True)
        return np.array([np.nan if part is None else part.estimate(at) for part, at in each])

    @cached_property
    def losses(self) -> tuple[Fraction | float, ...]:
        """The largest loss of a person at each level, over all groups."""
        most: list[Fraction | float] = [Fraction(0)] * len(self.levels)
        for part in self.parts:
            if part is not None:
                for row, loss in zip(self._rows(part).tolist(), part.losses, strict=True):
                    most[row] = max(most[row], loss)
        return tuple(most)

    @cached_property
    def weights(self) -> Integers:
        """The largest weight of a person at each level, over all groups."""
        most = np.zeros(len(self.levels), dtype=np.int64)
        for part in self.parts:
            if part is not None:
                np.maximum.at(most, self._rows(part), part.weights)
        return most

    def of_budgets(self, levels: Floats) -> Parallel:
        """Return the same mechanism for the same people, with other budget levels."""
        parts = (
            part if part is None else replace(part, levels=levels[self._rows(part)])
            for part in self.parts
        )
        return Parallel(levels, tuple(parts))

    def _rows(self, part: Additive) -> Integers:
        """Return the indices of a group's levels among the levels of all people."""
        return np.searchsorted(self.levels, part.levels)
