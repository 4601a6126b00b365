"""The mean on a range that is found by diffusion: coins keep people, then all count alike."""

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
from epsilons.questions import Mean
from epsilons.questions.found_range import capped_mean, read_mean
from epsilons.questions.locate import around
from epsilons.questions.question import Call, Draw, Steps
from epsilons.questions.ways import Read, after, replace_end
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
"""Powers of two from 1 up to all floats, and from 1 down to almost nothing: the public ends. No
scale is so small that a quotient by it, or what is left of it in floats, would be lost."""

_RADII = _UP + _DOWN + 4
"""Powers of two of the smallest scale, up to all floats."""

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
    """Publish the mean of a Gaussian population whose range nobody knows, as the paper does.

    A coin decides for each person whether they are kept, and everyone who is kept counts alike.
    `epsilons.mean` with bounds=None has a smaller error, reads tables of any size, and can charge
    a ledger.

    Args:
        values: an array, an entry for each row.
        epsilon: each person's budget: an array, or one number for everyone.
        person: which person a row belongs to; None if a row is a person.
        confidence: of the interval that is printed.
        missing: "error" refuses missing values, "midpoint" counts them as the middle of the range.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `epsilons.verify.exact(release.mechanism)` recomputes everyone's loss.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError, ColumnError).
        DataError: the data cannot be used. It may depend on values, so it is for the curator alone.

    Guarantee:
        Replace-one, pure, for every input: person i loses at most ε_i: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithms 4 to 7, with their faults corrected.
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
    """Coins for everyone, the stages of the paper, then the mean.

    Raises:
        BudgetError: nobody's budget is large enough for any result. Nothing was drawn.
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
    """The picture that diffusion gives: differences of pairs are √2 times as wide as values."""
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
    """The index of the first query that, with noise, is above a threshold with noise.

    Queries are integers, as many as there are public questions. It holds no data.

    Guarantee:
        If one record changes all queries in one direction by at most `step`, or each by at most
        half of it in any direction, the loss is at most step/threshold + step/query, for these two
        scales. For the threshold may be moved by the step (by half of it), which no query before
        the first can notice, and the noise of the first by what is missing, at most the step.

    Reference:
        Paper *gaussian*, Algorithm 1, which needs twice the noise on its queries, since it does not
        use that they are nested; and which has no end.

    Attributes:
        step: how far one record moves a query.
        threshold: the scale of the noise of the threshold.
        query: the scale of the noise of each query.
        end: how many queries there are; if none fires the answer is the last.
    """

    kind = "crossing"
    step: int
    threshold: Fraction
    query: Fraction
    end: int

    @classmethod
    def of(cls, loss: Fraction, *, step: int, end: int) -> Crossing:
        """The crossing that spends a loss, half on the threshold and half on the query."""
        scale = 2 * step / loss
        return cls(step, scale, scale, end)

    @property
    def loss(self) -> Fraction:
        """What a record loses at most."""
        return self.step / self.threshold + self.step / self.query

    def draw(self, source: Source, queries: Integers, level: int) -> int:
        """Draw the index.

        Args:
            source: where the randomness comes from.
            queries: the true answers.
            level: the threshold.
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
    """Five frozen stages on people who were kept by coins.

    Guarantee:
        The stages together lose at most `base` of a record that changes, or that becomes a mark.
        Somebody who is kept with probability p loses at most ln(1 + p(e^base − 1)), and p is at
        most (e^ε − 1)/(e^base − 1) for their share ε: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithms 4 to 6, mended: exact rates, marks in place of zeros, random
        pairs that know neither values nor coins, a second crossing, the radius that fired.

    Attributes:
        levels: the budgets ε.
        counts: how many people have each.
        shares: what each level gives to the range.
        keep: the probability of being kept.
        base: the loss of those who surely are.
        up: finds the scale of differences from 1 upwards.
        down: finds it from 1 downwards.
        wide: finds a radius around 0.
        middle_scale: the scale of the selection of the median within it.
        narrow: finds a radius around that.
    """

    kind = "diffusion"
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
        """1 for everyone who can be kept at all."""
        return np.array([int(p > 0) for p in self.keep], dtype=np.int64)

    @property
    def losses(self) -> tuple[Fraction, ...]:
        """What a person of each level loses at most."""
        pairs = zip(self.shares, self.keep, strict=True)
        return tuple(
            Fraction(min(share, self.base)) if p > 0 else Fraction(0) for share, p in pairs
        )

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """All stages but the median."""
        return self.up, self.down, self.wide, self.narrow

    @property
    def middle_weight(self) -> int:
        """The weight of everyone in the selection of the median."""
        return _WEIGHT

    def draw(self, source: Source, total: tuple[Floats, Integers]) -> DiffusedSpread:
        """Draw an order of the people and their coins, then every stage in its turn.

        Args:
            source: where the randomness comes from.
            total: everyone's value, in any order, NaN where it is missing; and the level of each.

        Guarantee:
            The law of the result depends on who has which value and level, and never on the order
            in which people come: that order is private, for one person's rows can change all of it.
        """
        values, level_of = total
        order = permutation(source, len(values))
        values, level_of = values[order], level_of[order]
        kept = stays(source, self.keep, level_of)
        kept &= ~np.isnan(values)  # a missing value is a mark, whoever it belongs to
        octave = _octave_of_differences(self, values, kept, source)
        step = math.ldexp(1.0, octave - 2)
        people = np.clip(values[kept], -_LIMIT, _LIMIT)
        wide = _radius(self.wide, people, step, source)
        # Finer than floats of that size is not finer; and candidates are counted in 64 bits.
        step = max(step, wide / _FINEST)
        half = math.ceil(wide / step)
        with np.errstate(over="ignore"):  # what is beyond all floats is beyond the last cell
            cells = np.clip(np.floor(people / step), -half - 1, half).astype(np.int64) + half
        centre = (_median(self, cells, 2 * half, source) - half + 0.5) * step
        radius = _radius(self.narrow, people - centre, step, source)
        return DiffusedSpread(centre, radius, math.ldexp(1.0, octave), step, 2 * half)


@dataclass(frozen=True)
class DiffusedSpread:
    """What was found.

    Attributes:
        centre: about the median.
        radius: what leaves few people outside.
        gap: the power of two at or above the median of the differences of pairs.
        step: the width of a cell of the grid.
        cells: how many cells the median was chosen from.
    """

    centre: float
    radius: float
    gap: float
    step: float
    cells: int


def diffuse(levels: Floats, counts: Integers, share: Fraction = Fraction(1, 2)) -> Diffused:
    """The mechanism that spends a share of everyone's budget on the range.

    Args:
        levels: the budgets ε, ascending.
        counts: how many people have each.
        share: the part of ε that it may spend.
    """
    parts = tuple(
        level if math.isinf(level) else Fraction(level) * share for level in levels.tolist()
    )
    found, index = np.unique(levels, return_inverse=True)
    people = np.zeros(found.size, dtype=np.int64)
    np.add.at(people, index, counts)
    # The best cap of a share of all budgets is the share of a cap: no budget is halved to nothing.
    constant = _CONSTANT / float(share) ** 2
    cap = min(square_cap(Budgets.of_levels(found, people), constant), 64.0 / float(share))
    # Sixteen bits, rounded down: fractions of it are quick to work with.
    fraction, exponent = math.frexp(cap)
    base = share * math.floor(fraction * 2**16) * Fraction(2) ** (exponent - 16)
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
    """About the exponent of the median difference of pairs: 2^e is the first not below it.

    Pairs are neighbours in the order that was drawn, whoever is kept: a person touches one pair.
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
    # Both were drawn, so that both are paid for. The first that fires at once knows no more.
    return fired if fired > 0 else 1 - fell


def _exponents(sizes: Floats) -> Integers:
    """The smallest e with size ≤ 2^e; very small for 0."""
    fraction, exponent = np.frexp(sizes)
    return np.where(sizes > 0.0, exponent.astype(np.int64) - (fraction == 0.5), -4000)


def _radius(crossing: Crossing, values: Floats, step: float, source: Source) -> float:
    """A radius 2^i·step around 0 that leaves few outside: that of the question that fired."""
    needed = _exponents(np.abs(values)) - (math.frexp(step)[1] - 1)
    octaves = np.arange(crossing.end)
    outside = len(values) - np.searchsorted(np.sort(needed), octaves, side="right")
    slack = math.floor(Fraction(6.0 * math.log(8.0 / _BETA)) / crossing.loss)
    fired = crossing.draw(source, -outside, -slack)
    with np.errstate(over="ignore"):
        return min(float(np.ldexp(step, fired)), _LIMIT)


def _median(mechanism: Diffused, cells: Integers, count: int, source: Source) -> int:
    """The median cell, by a selection in which everyone who was kept weighs the same."""
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
    """A multiple of 2^−53 that is at most (e^ε − 1)/(e^τ − 1), and 1 where ε ≥ τ.

    Args:
        budget: ε, from 0 to ∞.
        base: τ, the loss of those who are surely kept, above 0.

    Guarantee:
        Keeping a record with this probability p, and leaving a mark in its place otherwise, turns a
        loss of τ into ln(1 + p(e^τ − 1)) ≤ ε. The quotient is e^{−(τ−ε)}·(1 − e^{−ε})/(1 − e^{−τ}),
        and each factor is enclosed in whole numbers.

    Reference:
        Paper *gaussian*, Theorem 10. Its Algorithm 6 takes ε/τ, which is more, and equation (7)
        ε/2τ, which is more where (e^τ − 1)/τ > 2.
    """
    if budget >= base:
        return Fraction(1)
    exact = Fraction(budget)
    if exact <= 0:
        return Fraction(0)
    # A rate is about ε: carry as many bits more as it has zeros.
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
