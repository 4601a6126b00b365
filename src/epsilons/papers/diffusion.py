"""Mean of people sampled by budget and weighted equally, on a range found by diffusion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from epsilons import parameters
from epsilons.budgets.allocation.rules import square_cap
from epsilons.budgets.levels import SMALLEST, Budgets
from epsilons.door.count.line import Folded
from epsilons.door.given.arrays import Arrays
from epsilons.draws import corridor
from epsilons.draws.mechanisms import Additive, CellsOf, Selection
from epsilons.draws.mechanisms.sums import stays
from epsilons.draws.noise import DiscreteLaplace, Source, permutation, resolve
from epsilons.draws.noise.exact import enclose
from epsilons.errors import BudgetError
from epsilons.frozen import storable
from epsilons.papers import people
from epsilons.questions.mean import Mean
from epsilons.questions.question import Call, Draw, Steps
from epsilons.questions.steps.found_range import capped_mean, read_mean
from epsilons.questions.steps.locate import around
from epsilons.questions.steps.ways import Read, after, replace_end
from epsilons.results.release import Release
from epsilons.risk import ranges
from epsilons.risk.ranges import Located, Picture
from epsilons.types import Column, Floats, Integers, LocalMissing

__all__ = [
    "Crossing",
    "Diffused",
    "DiffusedSpread",
    "diffuse",
    "diffused_mean",
    "picture_of",
    "rate",
]

METHOD = "diffusion"

_BETA = 0.01
_UP, _DOWN = 1021, 880
"""The numbers of powers of two that are tried upwards and downwards from 1. Both are public.

The powers reach up to the largest floats. Dividing by the smallest one neither overflows nor loses
digits.
"""

_RADII = _UP + _DOWN + 4
"""The number of radii that are tried: the smallest scale times powers of two, up to the largest
floats."""

_FINEST = 2**52
_WEIGHT = 2**24
_CONSTANT = 8.0
_LIMIT = 2.0**1020

KEEP_BITS = 53
_GUARD = 40


def diffused_mean(
    values: Column,
    *,
    epsilon: Column,
    person: Column | None = None,
    confidence: float = 0.95,
    missing: LocalMissing = "error",
    source: Source | None = None,
) -> Release:
    """Publish the mean of a Gaussian population with an unknown range, by the paper's method.

    Each person is kept with some probability, and everyone who is kept has the same weight.
    `epsilons.mean` with bounds=None has a smaller error, reads tables of any size, and can charge
    a ledger.

    Args:
        values: an array with an entry for each row.
        epsilon: each person's budget: an array, or one number for everyone.
        person: the person of each row; None if each row is a different person.
        confidence: confidence level of the printed interval.
        missing: "error" refuses missing values, "midpoint" counts them as the middle of the range.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `epsilons.verify.exact(release.mechanism)` recomputes everyone's loss.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError, ColumnError).
        DataError: the data cannot be used. The error can depend on values, so only the curator may
            see it.

    Guarantee:
        Replace-one, pure, for every input: person i loses at most ε_i: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithms 4 to 7, with their faults corrected.

    Examples:
        >>> import numpy as np
        >>> import epsilons as ep
        >>> heights = np.random.default_rng(1).normal(170, 10, 10_000)
        >>> release = ep.papers.diffused_mean(heights, epsilon=1.0, source=ep.Seeded(1))
        >>> round(release.value), ep.verify.exact(release.mechanism).holds
        (170, True)
    """
    question = Mean(
        values,
        bounds=None,
        shape="gaussian",
        about="population",
        related=False,
        confidence=confidence,
        missing=parameters.choice("missing", missing),
    )
    call = Call.of(epsilon=epsilon, person=person)
    held = people.numbers(values, call, missing)
    folded = people.folded(held, missing, call)
    return corridor.released(question, _steps(held, folded, missing), call, resolve(source), folded)


def _steps(held: Arrays, folded: Folded, missing: str) -> Steps:
    """Sample people, run the paper's stages to find a range, then draw the mean.

    Raises:
        BudgetError: all budgets are too small for any result. Nothing was drawn.
    """
    levels, counts, level_of = folded.levels()
    if levels[-1] < SMALLEST:
        raise BudgetError(
            f"epsilon is below {SMALLEST:.2g} for everyone: too small for any result. "
            "Nothing was drawn."
        )
    first = diffuse(levels, counts)
    spread = yield Draw(first, (folded.values, level_of), more=True)
    lo, hi = spread.centre - spread.radius, spread.centre + spread.radius
    bounds = around((lo + hi) / 2.0, (hi - lo) / 2.0)
    counted = people.on_grid(held, missing, bounds).counted
    mechanism = capped_mean(levels, counts, first.losses, bounds=bounds, aim=0.75 * spread.gap)

    def read(mechanism: Additive, drawn: int) -> Read:
        picture = picture_of(spread, first)
        return read_mean(mechanism, drawn, Located(picture, mechanism.weighing, mechanism.slack))

    spent = after(first.losses, mechanism)
    return (yield from replace_end(counted, mechanism, read, method=METHOD, spent=spent))


def picture_of(spread: DiffusedSpread, mechanism: Diffused) -> Picture:
    """Return the centre and spread of the population, as estimated by diffusion.

    The difference of two people has √2 times the standard deviation of one person.
    """
    keep = np.array([float(p) for p in mechanism.keep])
    sharp, alike = ranges.diffused(keep, mechanism.counts, float(mechanism.base))
    return Picture(
        spread.centre,
        spread.gap / math.sqrt(2.0),
        spread.step,
        1.0 / spread.cells,
        1.0 / mechanism.up.end,
        sharp,
        alike,
    )


@storable("mechanisms.Crossing")
@dataclass(frozen=True)
class Crossing:
    """Mechanism for the index of the first noisy query above a noisy threshold (sparse vector).

    A query fires if it exceeds the threshold. Queries are integers; their number is public. The
    mechanism contains no data.

    Guarantee:
        Suppose one record changes all queries in one direction by at most `step`, or each query by
        at most step/2 in any direction. Then the loss is at most step/threshold + step/query, for
        these two noise scales. Proof idea: shift the threshold by step (or step/2), so no earlier
        query fires. Shift the noise of the query that fired by the rest, at most step.

    Reference:
        Paper *gaussian*, Algorithm 1. That algorithm may not terminate. It needs twice the noise on
        queries, because it does not exploit that queries are nested.

    Attributes:
        step: the largest change of a query by one record.
        threshold: noise scale of the threshold.
        query: noise scale of each query.
        end: number of queries; if none exceeds the threshold, the result is the last index.
    """

    kind = "crossing"
    released = "a quantile by a noisy search"
    step: int
    threshold: Fraction
    query: Fraction
    end: int

    @classmethod
    def of(cls, loss: Fraction, *, step: int, end: int) -> Crossing:
        """Return the crossing that spends `loss`, half on the threshold and half on the query."""
        scale = 2 * step / loss
        return cls(step, scale, scale, end)

    @property
    def loss(self) -> Fraction:
        """An upper bound on the privacy loss of a record."""
        return self.step / self.threshold + self.step / self.query

    def draw(self, source: Source, queries: Integers, level: int) -> int:
        """Draw the index of the first query above the threshold.

        Args:
            source: source of randomness.
            queries: the true answers.
            level: the threshold without noise.
        """
        if len(queries) != self.end:
            raise ValueError("the questions are public, and so is their number")
        bar = level + DiscreteLaplace(self.threshold).draw(source)
        noise = DiscreteLaplace(self.query).draw(source, self.end)
        fired = np.flatnonzero(noise + queries > bar)
        return int(fired[0]) if fired.size else self.end - 1


@storable("mechanisms.Diffused")
@dataclass(frozen=True, eq=False)
class Diffused:
    """Five stages on sampled people that find a centre and a range.

    A record that is not kept, or is missing, becomes a mark: a placeholder without a value.

    Guarantee:
        The stages together lose at most `base` if a record changes or becomes a mark. A person who
        is kept with probability p loses at most ln(1 + p(e^base − 1)), and p is at most
        (e^ε − 1)/(e^base − 1) for their share ε: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithms 4 to 6, corrected: exact probabilities, marks instead of zeros,
        random pairs independent of values and sampling, a second crossing, and the radius of the
        query that fired.

    Attributes:
        levels: budget levels ε.
        counts: number of people at each level.
        shares: the ε that each level may spend on the range.
        keep: the probability of being kept, for each level.
        base: the loss of a person who is kept with certainty.
        up: finds the scale of differences among powers of two from 1 upwards.
        down: finds the scale of differences among powers of two from 1 downwards.
        wide: finds a radius around 0.
        middle_scale: scale of the selection of the median within that radius.
        narrow: finds a radius around the median.
    """

    kind = "diffusion"
    released = "a range by noisy searches on a sample of the people"
    levels: Floats
    counts: Integers
    shares: tuple[Fraction | float, ...]
    keep: tuple[Fraction, ...]
    base: Fraction
    up: Crossing
    down: Crossing
    wide: Crossing
    middle_scale: int
    narrow: Crossing

    @property
    def weights(self) -> Integers:
        """1 for each level with a positive probability of being kept, otherwise 0."""
        return np.array([int(p > 0) for p in self.keep], dtype=np.int64)

    @property
    def losses(self) -> tuple[Fraction, ...]:
        """Upper bounds on the privacy loss of a person at each level."""
        pairs = zip(self.shares, self.keep, strict=True)
        return tuple(
            Fraction(min(share, self.base)) if p > 0 else Fraction(0) for share, p in pairs
        )

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """All stages except the median."""
        return self.up, self.down, self.wide, self.narrow

    @property
    def middle_weight(self) -> int:
        """The weight of every person in the selection of the median."""
        return _WEIGHT

    def draw(self, source: Source, total: tuple[Floats, Integers]) -> DiffusedSpread:
        """Draw a random order of people, decide at random who is kept, and run the five stages.

        Args:
            source: source of randomness.
            total: everyone's value in any order, NaN if it is missing; and everyone's level.

        Guarantee:
            The distribution of the result depends on values and levels, but not on the order of
            people. That order is private, because one person's rows can change everyone's position.
        """
        values, level_of = total
        order = permutation(source, len(values))
        values, level_of = values[order], level_of[order]
        kept = stays(source, self.keep, level_of)
        kept &= ~np.isnan(values)  # a missing value is a mark, whether kept or not
        octave = _octave_of_differences(self, values, kept, source)
        step = math.ldexp(1.0, octave - 2)
        people = np.clip(values[kept], -_LIMIT, _LIMIT)
        wide = _radius(self.wide, people, step, source)
        # A smaller step would be finer than floats of this size, and give too many candidates for
        # 64-bit indices.
        step = max(step, wide / _FINEST)
        half = math.ceil(wide / step)
        with np.errstate(over="ignore"):  # a value that overflows is beyond the last cell
            cells = np.clip(np.floor(people / step), -half - 1, half).astype(np.int64) + half
        centre = (_median(self, cells, 2 * half, source) - half + 0.5) * step
        radius = _radius(self.narrow, people - centre, step, source)
        return DiffusedSpread(centre, radius, math.ldexp(1.0, octave), step, 2 * half)


@dataclass(frozen=True)
class DiffusedSpread:
    """The noisy results of diffusion.

    Attributes:
        centre: the approximate median.
        radius: a radius around the centre, with few people outside.
        gap: about the median difference of pairs, rounded up to a power of two.
        step: the width of a cell of the grid.
        cells: number of cells from which the median was chosen.
    """

    centre: float
    radius: float
    gap: float
    step: float
    cells: int


def diffuse(levels: Floats, counts: Integers) -> Diffused:
    """Return the diffusion that spends half of everyone's budget on the range.

    Args:
        levels: budget levels ε, ascending.
        counts: number of people at each level.
    """
    parts = tuple(level if math.isinf(level) else Fraction(level) / 2 for level in levels.tolist())
    found, index = np.unique(levels, return_inverse=True)
    people = np.zeros(found.size, dtype=np.int64)
    np.add.at(people, index, counts)
    # The best cap for budgets ε/2 is half of a cap for ε. Scaling the cap instead of the budgets
    # avoids underflow.
    cap = min(square_cap(Budgets.of_levels(found, people), 4.0 * _CONSTANT), 128.0)
    # Round down to sixteen bits: fractions with small numerators are fast.
    fraction, exponent = math.frexp(cap)
    base = math.floor(fraction * 2**16) * Fraction(2) ** (exponent - 17)
    quarter = base / 4
    return Diffused(
        levels.copy(),
        counts.copy(),
        parts,
        tuple(rate(part, base) for part in parts),
        base,
        Crossing.of(quarter / 2, step=2, end=_UP),
        Crossing.of(quarter / 2, step=2, end=_DOWN),
        Crossing.of(quarter, step=1, end=_RADII),
        math.ceil(4 * _WEIGHT / quarter),
        Crossing.of(quarter, step=1, end=_RADII),
    )


def _octave_of_differences(
    mechanism: Diffused, values: Floats, kept: npt.NDArray[np.bool_], source: Source
) -> int:
    """Draw a noisy exponent e: 2^e is the smallest power of two ≥ the median difference of pairs.

    Pairs are adjacent in the drawn order, regardless of who is kept, so a person affects one pair.
    """
    even = len(values) // 2 * 2
    first, second = values[:even:2], values[1:even:2]
    whole = kept[:even:2] & kept[1:even:2]
    with np.errstate(over="ignore"):
        gaps = np.minimum(np.abs(first[whole] - second[whole]), _LIMIT)
    exponents = np.sort(_exponents(gaps))
    size = int(whole.sum())
    within = np.searchsorted(exponents, np.arange(_UP), side="right")
    fired = mechanism.up.draw(source, 2 * within - size, 0)
    without = size - np.searchsorted(exponents, -np.arange(_DOWN), side="right")
    fell = mechanism.down.draw(source, 2 * without - size, 0)
    # Both crossings are always drawn and charged. If the first fires at its first query, the scale
    # is at most 1, and the second crossing finds it.
    return fired if fired > 0 else 1 - fell


def _exponents(sizes: Floats) -> Integers:
    """Return the smallest e with size ≤ 2^e for each size; −4000 for 0."""
    fraction, exponent = np.frexp(sizes)
    return np.where(sizes > 0.0, exponent.astype(np.int64) - (fraction == 0.5), -4000)


def _radius(crossing: Crossing, values: Floats, step: float, source: Source) -> float:
    """Draw a radius 2^i·step around 0 with few values outside, where i is the query that fired."""
    needed = _exponents(np.abs(values)) - (math.frexp(step)[1] - 1)
    octaves = np.arange(crossing.end)
    outside = len(values) - np.searchsorted(np.sort(needed), octaves, side="right")
    slack = math.floor(Fraction(6.0 * math.log(8.0 / _BETA)) / crossing.loss)
    fired = crossing.draw(source, -outside, -slack)
    with np.errstate(over="ignore"):
        return min(float(np.ldexp(step, fired)), _LIMIT)


def _median(mechanism: Diffused, cells: Integers, count: int, source: Source) -> int:
    """Draw the median cell by a noisy selection; everyone who was kept has the same weight."""
    selection = Selection(
        mechanism.levels.copy(),
        np.full(len(mechanism.levels), _WEIGHT, dtype=np.int64),
        mechanism.middle_scale,
        "replace",
        CellsOf(count),
        "the median of those who were kept",
    )
    found, people = np.unique(cells, return_counts=True)
    return selection.draw(source, (found, people.astype(np.int64) * _WEIGHT))


def rate(budget: Fraction | float, base: Fraction) -> Fraction:
    """Return the probability of being kept: (e^ε − 1)/(e^τ − 1), or 1 if ε ≥ τ.

    The quotient is rounded down to a multiple of 2⁻⁵³.

    Args:
        budget: ε, from 0 to ∞.
        base: τ, the loss of a person who is kept with certainty, above 0.

    Guarantee:
        Keeping a record with this probability p, and leaving a mark in its place otherwise, turns a
        loss of τ into ln(1 + p(e^τ − 1)) ≤ ε. The quotient is e^{−(τ−ε)}·(1 − e^{−ε})/(1 − e^{−τ}),
        and each factor is enclosed between integers.

    Reference:
        Paper *gaussian*, Theorem 10. Its Algorithm 6 uses ε/τ, which is larger. Its equation (7)
        uses ε/2τ, which is larger if (e^τ − 1)/τ > 2.
    """
    if budget >= base:
        return Fraction(1)
    exact = Fraction(budget)
    if exact <= 0:
        return Fraction(0)
    # If ε is small, the probability is about ε: use extra bits for its leading zeros.
    bits = (
        KEEP_BITS + _GUARD + max(0, exact.denominator.bit_length() - exact.numerator.bit_length())
    )
    unit = 1 << bits
    gap = base - exact
    fall = enclose(gap.numerator, gap.denominator, bits)[0]
    some = unit - enclose(exact.numerator, exact.denominator, bits)[1]
    most = unit - enclose(base.numerator, base.denominator, bits)[0]
    low = Fraction(max(fall, 0) * max(some, 0), unit * most)
    return Fraction(math.floor(low * 2**KEEP_BITS), 2**KEEP_BITS)
