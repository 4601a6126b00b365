"""The mechanisms of a mean: a weighted integer sum, alone or with the sum of squares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from epsilons.budgets.allocation import Allocation
from epsilons.door import Tally
from epsilons.draws.noise import DiscreteLaplace, Law, PointMass, Source, below_many
from epsilons.frozen import shared, storable
from epsilons.risk import StairNoise, Weighing
from epsilons.types import Floats, Integers, freeze

# The immutable mechanisms that are verified. All draws of the central model use such an object.

WEIGHT_BITS = 45
"""The number of bits of the largest weight. Rounding weights down has no measurable cost, and noise
for ordinary budgets fits 64-bit integers."""

_FAST_BITS, _FEWEST_BITS = 53, 36
"""Bulk draws are fast up to a noise scale of 2^53. To stay below it, weights have fewer bits, but
at least 36."""

_KEEP_BITS = 53

_SAFE = 2**62
_HALF = 31
"""Integers beyond 64 bits are summed in two halves; the lower half has this many bits."""

MANY = 10**4
"""With more cells than this, independent noise is used: it is much faster to draw than noise that
sums to zero, and its variance is larger by only 0.025 %."""

COARSE_BITS = 16
"""The minimum number of bits of the largest weight if there are many cells."""


@dataclass(frozen=True, eq=False)
class _WeightedSum:
    """A weighted integer sum with one noise: what `Additive` and `SumAndSquares` share.

    Guarantee:
        See `Additive` and `SumAndSquares`, which say what is drawn and what a person can change.

    Reference:
        docs/proofs/additive.md (1), docs/proofs/moment.md.
    """

    levels: Floats
    counts: Integers
    weights: Integers
    reach: int
    grid: int
    law: Law
    divisor: Fraction
    bounds: tuple[float, float]

    def __post_init__(self) -> None:
        freeze(self.levels, self.counts, self.weights)

    @property
    def keep(self) -> tuple[Fraction, ...] | None:
        """None, because everyone is used without sampling."""
        return None

    @property
    def parts(self) -> tuple[Fraction, Fraction]:
        """The factors of the sum, and of the sum of squares if there is one."""
        return PARTS_OF_A_MEAN

    def point(self, sums: Integers, part: Fraction = Fraction(1)) -> int:
        """Return the lattice point floor(Σ k·part·sum / grid) for given sums by level.

        Args:
            sums: the sum of each level.
            part: a factor of all sums.
        """
        return dot(self.weights, sums) * part.numerator // (self.grid * part.denominator)

    def mean(self, point: int | Fraction) -> float:
        """Return the mean of a lattice point, in data units; it can be outside the bounds."""
        lo, hi = self.bounds
        return (lo + hi) / 2.0 + (hi - lo) * ratio(point - self._middle, self.divisor)

    def means(self, points: npt.NDArray[Any]) -> Floats:
        """Return `mean` for an array of lattice points."""
        lo, hi = self.bounds
        # Python integers are subtracted exactly. The middle may not fit int64, but fits a float.
        middle = int(self._middle) if points.dtype == object else float(self._middle)
        offsets = np.asarray(points - middle, dtype=np.float64)
        return np.asarray((lo + hi) / 2.0 + (hi - lo) * (offsets / float(self.divisor)))

    @property
    def scale(self) -> Fraction:
        """The scale of the Laplace noise, in lattice steps.

        For staircase noise it is steps/rate, the scale of Laplace noise with the same loss.
        """
        return self.law.pieces.scale

    @cached_property
    def weighing(self) -> Weighing:
        """The estimator of the mean on a unit range, with the integer weights of the mechanism."""
        weights, pieces = self.weights / float(self.divisor), self.law.pieces
        freeze(weights)
        if pieces.steps > 1:
            stairs = StairNoise(self.law, ratio(Fraction(pieces.steps), self.divisor))
            return Weighing(weights, self.counts, stairs.scale, stairs=stairs)
        scale = ratio(pieces.scale, self.divisor) / float(self.parts[0])
        return weighed(weights, self.counts, scale, self.keep)

    @cached_property
    def slack(self) -> float:
        """Bound on the rounding error of values, means of rows, sums and noise, on a unit range."""
        return (1.0 / self.grid + ratio(Fraction(2), self.divisor)) / float(min(self.parts))

    @cached_property
    def _middle(self) -> Fraction:
        """The lattice point of the middle of the range."""
        return Fraction(self.all_weights, 2)

    @cached_property
    def all_weights(self) -> int:
        """Σ k over all people."""
        return dot(self.weights, self.counts)


@storable("mechanisms.Additive")
@dataclass(frozen=True, eq=False)
class Additive(_WeightedSum):
    """A weighted integer sum plus integer noise.

    A person's value is an integer g in [0, grid]. The mechanism draws the lattice point floor(Σ k·g
    / grid) + noise. All results are post-processing of this integer. The object holds no data: the
    sum is passed to `draw`.

    Guarantee:
        A person of weight k moves floor(Σ k·g / grid) by at most m = ceil(k·reach/grid) lattice
        steps. The probability of Laplace noise changes by at most a factor e^{1/scale} from one
        lattice point to the next. The probability of staircase noise changes by at most a factor
        e^{rate} over `steps` lattice steps. So the person's loss is at most m/scale, or
        ceil(m/steps)·rate. It is rational, and `epsilons.verify.exact` compares it with ε. Nothing
        is rounded after the sum.

    Reference:
        Algorithm HPM of paper *correlated*, on integers, also with staircase noise. Proof:
        docs/proofs/additive.md (1).

    Attributes:
        levels: budget levels ε.
        counts: the number of people at each level.
        weights: the integer weight k of a person at each level.
        reach: the maximum change of one person's g.
        grid: the divisor of the sum.
        law: the distribution of the noise.
        divisor: D, the denominator of a mean, in lattice steps.
        bounds: the range of the values, to which lattice points are mapped back.
        keep: None without sampling; only the methods in `papers` sample people.
        moves: 1, because a person changes one sum.
    """

    kind = "sum"
    released = "a weighted sum of the values plus noise"
    keep: tuple[Fraction, ...] | None = None
    moves: int = 1

    def total(self, tally: Tally) -> int:
        """Return the lattice point of the data, before noise."""
        return self.point(tally.sums)

    @overload
    def draw(self, source: Source, size: None = None, total: int = 0) -> int: ...
    @overload
    def draw(self, source: Source, size: int, total: int = 0) -> npt.NDArray[Any]: ...
    def draw(
        self, source: Source, size: int | None = None, total: int = 0
    ) -> int | npt.NDArray[Any]:
        """Draw lattice points.

        Args:
            source: where the randomness comes from.
            size: the number of draws; None for one.
            total: the lattice point of the data; with 0 the draw is noise only.

        Returns:
            One Python integer, or an array: int64 if all values fit, otherwise Python integers.
        """
        if size is None:
            return self.law.draw(source) + total
        noise = self.law.draw(source, size)
        if noise.dtype == object or abs(total) >= 2**62:
            return noise.astype(object) + total
        return noise + total  # both are below 2⁶² in absolute value

    def estimate(self, drawn: int) -> float:
        """Return the mean of a drawn lattice point, in data units; it can be outside the bounds."""
        return self.mean(drawn)

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """Return `estimate` for an array of draws."""
        return self.means(drawn)

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """The largest loss of a person at each level; ∞ for people who are used without noise."""
        far = self.reach * self.moves
        return tuple(self.law.loss(-(-k * far // self.grid)) for k in self.weights.tolist())


@shared
def build(allocation: Allocation, *, grid: int, bounds: tuple[float, float]) -> Additive:
    """Build the mechanism of an allocation.

    Weights are e·2^s rounded down, and the scale of the noise is 2^s. So a person's loss is k/2^s ≤
    e ≤ ε for every s. With staircase noise, e is a multiple of the rate, and a weight is
    steps·e/rate. So a person's loss is e.
    """
    spent, counts = allocation.spent, allocation.counts
    if allocation.stairs is not None:
        return _stepped(allocation, allocation.stairs.law, grid=grid, bounds=bounds)
    if math.isinf(spent[-1]):
        weights = np.where(np.isinf(spent), 2**WEIGHT_BITS, 0).astype(np.int64)
        people = int(counts[weights > 0].sum())
        divisor = Fraction(people << WEIGHT_BITS) / Fraction(allocation.total)
        return Additive(
            allocation.levels, counts, weights, grid, grid, PointMass(), divisor, bounds
        )
    shift = lattice(spent, most=WEIGHT_BITS, reserved=0)
    scale = Fraction(2) ** shift
    weights = weights_of(spent, shift)
    divisor = dot(weights, counts) / Fraction(allocation.total)
    law = DiscreteLaplace(scale)
    return Additive(allocation.levels, counts, weights, grid, grid, law, divisor, bounds)


def _stepped(
    allocation: Allocation, law: Law, *, grid: int, bounds: tuple[float, float]
) -> Additive:
    spent, level = np.unique(allocation.spent, return_inverse=True)
    unit_loss, steps = Fraction(law.pieces.rate), law.pieces.steps
    units = [math.floor(Fraction(each) / unit_loss) for each in spent.tolist()]
    weights = np.array([unit * steps for unit in units], dtype=np.int64)[level]
    divisor = Fraction(dot(weights, allocation.counts))
    return Additive(allocation.levels, allocation.counts, weights, grid, grid, law, divisor, bounds)


def lattice(spent: Floats, *, most: int, reserved: int) -> int:
    """Return the exponent s of weights e·2^s: the largest has `most` bits, or fewer for fast noise.

    Args:
        spent: the effective budgets, ascending.
        most: the maximum number of bits of the largest weight.
        reserved: log2 of the ratio of the noise scale to 2^s.
    """
    largest = float(spent[-1])
    if math.isinf(largest):
        return 0
    exponent = math.frexp(largest)[1]
    return max(min(most - exponent, _FAST_BITS - reserved), min(most, _FEWEST_BITS) - exponent)


def weights_of(spent: Floats, shift: int) -> Integers:
    """Return e·2^shift rounded down; the product itself is exact."""
    return np.floor(np.ldexp(spent, shift)).astype(np.int64)


def kept(keep: Floats) -> tuple[Fraction, ...]:
    """Return probabilities as multiples of 2^−53, rounded down."""
    unit = 2**_KEEP_BITS
    return tuple(Fraction(int(p * unit), unit) for p in keep.tolist())


def sampled_losses(
    levels: Floats, losses: tuple[Fraction | float, ...], keep: tuple[Fraction, ...] | None
) -> tuple[Fraction | float, ...]:
    """Return upper bounds on the losses of people who are sampled.

    Proof: docs/proofs/sampling.md (1).

    Args:
        levels: the budgets for which the sampling probabilities were chosen.
        losses: the losses of people who are kept with certainty.
        keep: the probabilities of being kept; None without sampling.
    """
    if keep is None:
        return losses
    each = zip(levels.tolist(), losses, keep, strict=True)
    return tuple(
        Fraction(0) if p == 0 else loss if p == 1 else min(loss, Fraction(level))
        for level, loss, p in each
    )


def stays(source: Source, keep: tuple[Fraction, ...], level_of: Integers) -> npt.NDArray[np.bool_]:
    """Return whether each person is kept, with exactly the probability of their level."""
    unit = 2**_KEEP_BITS
    limits = np.array([int(p * unit) for p in keep], dtype=np.int64)
    return below_many(source, unit, len(level_of)) < limits[level_of]


def weighed(
    weights: Floats, counts: Integers, scale: float, keep: tuple[Fraction, ...] | None
) -> Weighing:
    """Return the estimator for the risk formulas; with sampling, it has the expected weights."""
    if keep is None:
        return Weighing(weights, counts, scale)
    chances = np.array([float(p) for p in keep])
    return Weighing(weights * chances, counts, scale, chances)


def dot(first: Integers, second: Integers) -> int:
    """Return Σ first·second exactly, in Python integers."""
    return int(first.astype(object) @ second.astype(object))


def ratio(numerator: Fraction, denominator: Fraction) -> float:
    """Return numerator/denominator as a float, or ±∞ on overflow."""
    quotient = numerator / denominator
    try:
        return float(quotient)
    except OverflowError:
        return math.inf if quotient > 0 else -math.inf


def noisy_cells(
    law: Law, source: Source, cells: int, size: int | None, total: Any
) -> npt.NDArray[Any]:
    """Return integers by cell with independent noise; by draw and cell if `size` is given."""
    rows = 1 if size is None else size
    noise = law.draw(source, rows * cells).reshape(rows, cells)
    drawn = around(total, noise)
    return np.asarray(drawn[0] if size is None else drawn)


def weighted(weights: Integers, sums: Integers) -> npt.NDArray[Any]:
    """Return Σ weight·sum over levels for each cell, exactly, in 64-bit integers if they fit.

    Args:
        weights: the weight of a person at each level, at least 0.
        sums: the sums by level and cell, at least 0.

    Returns:
        int64, or Python integers if a result could overflow.
    """
    heaviest = int(weights.max())
    whole = sum(sums.sum(axis=1).tolist())  # the sum of one level fits 64 bits
    if heaviest * max(whole, 1) < _SAFE:
        return np.asarray(weights @ sums)
    high, low = sums >> _HALF, sums & (2**_HALF - 1)
    largest = int(high.max(initial=0)) + 1
    if heaviest * len(weights) * max(largest, 2**_HALF) < _SAFE:  # both halves fit
        parts = (weights @ high).astype(object), (weights @ low).astype(object)
        return np.asarray(parts[0] * 2**_HALF + parts[1])
    return np.asarray(weights.astype(object) @ sums.astype(object))


def points(total: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return lattice points as an array: int64 if they still fit after noise is added."""
    return np.array(total, dtype=object if max(map(abs, total)) >= 2**62 else np.int64)


def around(total: Any, noise: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the total plus noise, in Python integers if either operand has them."""
    given = np.asarray(total)
    if object in (noise.dtype, given.dtype):  # Python integers on both sides, so neither wraps
        noise, given = noise.astype(object), given.astype(object)
    return np.asarray(noise + given)


# The mechanism of a mean and its spread: two integer sums, at the privacy loss of one.

PARTS_OF_A_MEAN: Final = (Fraction(1), Fraction(1))
"""The factors of both sums for a mean: the sum of squares then adds no privacy loss."""

PARTS_OF_A_VARIANCE: Final = (Fraction(3, 4), Fraction(9, 4))
"""The factors of both sums for a variance. Compared with a mean, the factor of squares is larger,
that of values is smaller, and the privacy loss is the same."""


@storable("mechanisms.SumAndSquares")
@dataclass(frozen=True, eq=False)
class SumAndSquares(_WeightedSum):
    """A weighted sum of integers, and a weighted sum of their centred squares, each with noise.

    A person's value is an integer g in [0, grid], and their square is v = floor((g − grid/2)² /
    grid). The mechanism draws the lattice points floor(Σ k·a·g / grid) and floor(Σ k·b·v / grid),
    plus independent noise for each. Each noise has the same distribution as for a single sum. The
    factors a and b are `parts`: both 1 for a mean. The object holds no data: the sums are passed to
    `draw`.

    Guarantee:
        Replacing a person changes a·g and b·v together by at most `reach`, because a large change
        of g is between values with similar squares. If a = b = 1, this is the grid. So a person of
        weight k moves the two lattice points together by at most m = ceil(k·reach/grid) + 1, where
        the 1 is for the second rounding; if k is 0, by 0. The loss is at most m/scale. It is
        rational, and `epsilons.verify.exact` compares it with ε. Nothing is rounded after the sums.

    Reference:
        Algorithm HPM of paper *correlated*, on integers; the second sum is new. Proof:
        docs/proofs/moment.md (1).

    Attributes:
        levels: budget levels ε.
        counts: the number of people at each level.
        weights: the integer weight k of a person at each level.
        reach: the maximum change of one person's a·g and b·v together.
        grid: the divisor of both sums.
        law: the distribution of each noise.
        divisor: D = Σ k over all people, divided by the sum of the estimator's weights.
        bounds: the range of the values, to which lattice points are mapped back.
        keep: None, because everyone is used without sampling.
        parts: the factors a and b of both sums.
    """

    kind = "sum and squares"
    released = "weighted sums of the values and of their squares plus noise"
    parts: tuple[Fraction, Fraction] = PARTS_OF_A_MEAN

    def total(self, tally: Tally) -> tuple[int, int]:
        """Return the lattice points of Σ k·a·g and Σ k·b·v, before noise."""
        first, second = self.parts
        return self.point(tally.sums, first), self.point(tally.squares, second)

    @overload
    def draw(
        self, source: Source, size: None = None, total: tuple[int, int] = (0, 0)
    ) -> tuple[int, int]: ...
    @overload
    def draw(
        self, source: Source, size: int, total: tuple[int, int] = (0, 0)
    ) -> npt.NDArray[Any]: ...
    def draw(
        self, source: Source, size: int | None = None, total: tuple[int, int] = (0, 0)
    ) -> tuple[int, int] | npt.NDArray[Any]:
        """Draw pairs of lattice points.

        Args:
            source: where the randomness comes from.
            size: the number of draws; None for one.
            total: the lattice points of the data; with (0, 0) the draw is noise only.

        Returns:
            A pair of Python integers, or an array of pairs: int64 if all values fit.
        """
        if size is None:
            return self.law.draw(source) + total[0], self.law.draw(source) + total[1]
        return noisy_cells(self.law, source, 2, size, points(total))

    def estimate(self, drawn: tuple[int, int]) -> float:
        """Return the mean of a drawn pair, in data units; it can be outside the bounds."""
        return self.mean(int(drawn[0]) / self.parts[0])

    def estimates(self, drawn: npt.NDArray[Any]) -> Floats:
        """Return `estimate` for an array of draws."""
        first = drawn[:, 0]
        return self.means(first if self.parts[0] == 1 else first / float(self.parts[0]))

    def moments(self, drawn: tuple[int, int]) -> tuple[float, float]:
        """Return the noisy first and second moment around the middle, on a unit range.

        Returns:
            Σ w·(x − ½) and Σ w·(x − ½)² plus noise, with weights w = k/Σk.
        """
        whole = Fraction(self.all_weights)
        first, second = int(drawn[0]) / self.parts[0], int(drawn[1]) / self.parts[1]
        return ratio(first - whole / 2, whole), ratio(second, whole)

    @property
    def quiet(self) -> float:
        """The noise scale of the second moment divided by that of the first moment."""
        return float(self.parts[0] / self.parts[1])

    @property
    def losses(self) -> tuple[Fraction | float, ...]:
        """The largest loss of a person at each level; ∞ for people who are used without noise."""
        return tuple(
            self.law.loss(-(-k * self.reach // self.grid) + 1) if k else Fraction(0)
            for k in self.weights.tolist()
        )

    @property
    def alone(self) -> Additive:
        """The mechanism of the first sum by itself, which gives the mean."""
        own = self.levels, self.counts, self.weights, self.reach, self.grid
        return Additive(*own, self.law, self.divisor, self.bounds)


def reach_of(grid: int, parts: tuple[Fraction, Fraction]) -> int:
    """Return a bound on the change of a·g plus the change of b·v, if one person is replaced.

    If two values differ by D, their squares differ by at most D·(grid − D)/grid before rounding.
    Proof: docs/proofs/moment.md (1), (13).
    """
    a, b = parts
    return math.ceil(a * grid if b <= a else (a + b) ** 2 / (4 * b) * grid + b)


@shared
def build_moments(
    allocation: Allocation,
    *,
    grid: int,
    bounds: tuple[float, float],
    parts: tuple[Fraction, Fraction] = PARTS_OF_A_MEAN,
) -> SumAndSquares | Additive:
    """Build the mechanism of an allocation, with a sum of squares if it costs no privacy.

    Weights are e·2^s rounded down, minus one for the second rounding, so a person's loss is (k +
    1)/2^s ≤ e ≤ ε. With staircase noise there is no sum of squares, because each of the two sums
    could cross a stair.
    """
    alone = build(allocation, grid=grid, bounds=bounds)
    if allocation.stairs is not None:
        return alone
    return with_squares(alone, Fraction(allocation.total), parts)


def with_squares(
    alone: Additive,
    total: Fraction = Fraction(1),
    parts: tuple[Fraction, Fraction] = PARTS_OF_A_MEAN,
) -> SumAndSquares:
    """Return the mechanism of a mean and its squares, with smaller weights than those of `alone`.

    Each weight is smaller by one, for the second rounding. If a person can change both sums
    together by more than the grid, weights are then also multiplied by grid/reach.

    Args:
        alone: the mechanism of the sum, with Laplace noise or without noise.
        total: the sum of the weights of the estimator.
        parts: the factors of both sums.
    """
    weights, divisor, grid = alone.weights, alone.divisor, alone.grid
    reach = reach_of(grid, parts)
    if alone.law.pieces.scale:  # without noise, the second rounding costs no privacy
        weights = np.maximum(weights - 1, 0)
        if reach != grid:
            smaller = [k * grid // reach for k in weights.tolist()]
            weights = np.array(smaller, dtype=np.int64)
        divisor = dot(weights, alone.counts) / total
    return SumAndSquares(
        alone.levels,
        alone.counts,
        weights,
        reach,
        grid,
        alone.law,
        divisor,
        alone.bounds,
        parts,
    )
