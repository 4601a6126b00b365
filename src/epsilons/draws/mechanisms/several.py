"""The frozen mechanisms of several means: one noise for all, or a sum for each public group."""

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
from epsilons.draws.mechanisms.sums import Additive, around, lattice, points, ratio, weights_of
from epsilons.draws.noise import Cube, DiscreteLaplace, Source
from epsilons.draws.noise.vectors import can_be_drawn
from epsilons.frozen import storable
from epsilons.risk import CubeNoise, Weighing
from epsilons.types import Floats, Integers, freeze

# The frozen mechanism of several means at once: sums of the same people, one noise for all.

_BITS = 45
"""The bits of the largest weight."""


@storable("mechanisms.SeveralSums")
@dataclass(frozen=True, eq=False)
class SeveralSums:
    """Weighted integer sums of the same people, with the same weights, plus noise of the cube.

    A person's values are integers g_1, ..., g_d in [0, grid], one for each mean. The mechanism is
    the vector of lattice points floor(Σ k·g_j / grid), plus integers z with
    P(z) ∝ e^{−max|z_j|/scale}. It holds no data: the sums come in when it is drawn.

    Guarantee:
        A person of weight k who is replaced moves each of the lattice points by at most
        m = ceil(k·reach/grid), whatever they do to the others. Noise of the cube changes by at most
        e^{m/scale} if no number moves farther than m, so their loss in all means together is at
        most m/scale, a rational number, which `epsilons.verify.exact` compares with ε. Nothing is
        rounded after the sums.

    Reference:
        Hardt and Talwar (2010): the noise of the norm whose unit ball is all that one person can
        change; here on integers and for personal weights. Proof: docs/proofs/cube.md.

    Attributes:
        levels: the budgets ε.
        counts: how many people have each.
        weights: the integer weight k of a person of each level, in every sum.
        reach: how far one person's g can move, in each of the sums.
        grid: the divisor of the sums.
        law: the law of the noise of all of them together.
        divisor: D, in lattice points: what each mean is divided by.
        bounds: the range of the values of each mean.
        keep: None: everyone is surely used.
    """

    kind = "several sums"
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
        """The lattice points of the data, before noise: a cell of x and one of 1 − x of each mean.

        Everyone has one unit for each mean.
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
            size: how many; None for one.
            total: the lattice points of the data; with None the noise alone is drawn.

        Returns:
            A tuple of Python integers, or an array of such rows: int64 where everything fits.
        """
        centre = (0,) * self.means if total is None else total
        if size is None:
            return tuple(z + t for z, t in zip(self.law.draw(source), centre, strict=True))
        return around(points(centre), self.law.draw(source, size))

    def estimate(self, drawn: tuple[int, ...]) -> tuple[float, ...]:
        """The means, in data units, that a vector stands for; perhaps outside the bounds."""
        return tuple(self.alone(place).estimate(each) for place, each in enumerate(drawn))

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """`estimate`, for many at once: a row for each draw."""
        columns = [self.alone(place).estimates(drawn[:, place]) for place in range(self.means)]
        return np.stack(columns, axis=1)

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """What a person of each level loses at most, in all means together."""
        return tuple(self.law.loss(-(-k * self.reach // self.grid)) for k in self.weights.tolist())

    @property
    def means(self) -> int:
        """How many means there are."""
        return len(self.bounds)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of all sums, in lattice points."""
        return self.law.scale

    @cached_property
    def weighing(self) -> Weighing:
        """The estimator of each of the means on a unit range, beside the others."""
        cube = CubeNoise(self.means)
        return replace(
            self.alone(0).weighing, scale=cube.times * ratio(self.scale, self.divisor), cube=cube
        )

    @cached_property
    def slack(self) -> float:
        """What integers may add to an error on a unit range: grid, fold, floor and lattice."""
        return 1.0 / self.grid + ratio(Fraction(5, 2), self.divisor)

    def alone(self, place: int) -> Additive:
        """One of the sums by itself, which knows what a mean is; its noise says nothing here."""
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
    """The mechanism of an allocation for several means that are drawn together.

    Weights are e·2^s rounded down and the scale of the noise is 2^s: a person's loss in all means
    together is k/2^s ≤ e ≤ ε, whatever s is and whatever was rounded.

    Returns:
        The mechanism; None where public people alone are used, who need no noise, and where budgets
        are so large that the noise has too few points for so many means.
    """
    spent, counts = allocation.spent, allocation.counts
    if math.isinf(spent[-1]):
        return None
    shift = lattice(spent, most=_BITS, reserved=len(bounds).bit_length())
    scale = Fraction(2) ** shift
    if not can_be_drawn(scale, len(bounds)):
        return None
    weights = weights_of(spent, shift)
    people = zip(weights.tolist(), counts.tolist(), strict=True)
    divisor = Fraction(sum(k * n for k, n in people)) / Fraction(allocation.total)
    law = Cube(scale, len(bounds))
    return SeveralSums(allocation.levels, counts, weights, grid, grid, law, divisor, bounds)


# The frozen mechanism of means of groups whose members are public: a sum for each of them.


@storable("mechanisms.Parallel")
@dataclass(frozen=True, eq=False)
class Parallel:
    """A weighted sum for each group, each with its own weights and its own noise.

    Who is in which group is public, everyone is in one of them, and nobody moves between them. It
    holds no data: the sums come in when it is drawn.

    Guarantee:
        Replacing a person's value changes the sum of their own group alone. So a person loses what
        the mechanism of that group takes of their level, and a person of a level at most the
        largest of these over the groups, which `epsilons.verify.exact` compares with ε.

    Reference:
        McSherry (2009), parallel composition, Theorem 4; here a person's group is public, so that
        it also holds for replaced people. Proof: docs/proofs/parallel.md.

    Attributes:
        levels: the budgets ε of all people.
        parts: the mechanism of each group, on those of these levels that it has people of; None for
            a group of whose values nothing is drawn.
        keep: None: everyone is surely used.
    """

    kind = "parallel"
    keep = None
    levels: Floats
    parts: tuple[Additive | None, ...]

    def __post_init__(self) -> None:
        self.levels.flags.writeable = False

    def total(self, tally: Tally) -> tuple[int, ...]:
        """The lattice point of each group, before noise: each has a cell of x and one of 1 − x."""
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
            size: how many times; None for once.
            total: the lattice points of the data; without them the noise alone is drawn.

        Returns:
            Python integers by group, 0 where nothing is drawn; or an array of such rows.
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
        """The mean of each group, in data units, perhaps outside the bounds; NaN for no draw."""
        each = zip(self.parts, drawn, strict=True)
        return np.array([np.nan if part is None else part.estimate(at) for part, at in each])

    @cached_property
    def losses(self) -> tuple[Fraction | float, ...]:
        """What a person of each level loses at most, in whichever group they are."""
        most: list[Fraction | float] = [Fraction(0)] * len(self.levels)
        for part in self.parts:
            if part is not None:
                for row, loss in zip(self._rows(part).tolist(), part.losses, strict=True):
                    most[row] = max(most[row], loss)
        return tuple(most)

    @cached_property
    def weights(self) -> Integers:
        """The largest weight of a person of each level, in whichever group they are."""
        most = np.zeros(len(self.levels), dtype=np.int64)
        for part in self.parts:
            if part is not None:
                np.maximum.at(most, self._rows(part), part.weights)
        return most

    def of_budgets(self, levels: Floats) -> Parallel:
        """The same, said of other budgets of the same people."""
        parts = (
            part if part is None else replace(part, levels=levels[self._rows(part)])
            for part in self.parts
        )
        return Parallel(levels, tuple(parts))

    def _rows(self, part: Additive) -> Integers:
        """Where the levels of a group are among those of all people."""
        return np.searchsorted(self.levels, part.levels)
