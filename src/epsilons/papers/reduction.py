"""Reduction of add/remove to replace: noisy counts per octave of budgets determine slots."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from epsilons.budgets.levels import Levels, float_up
from epsilons.door.count.line import Folded
from epsilons.door.count.tallies import HALF, to_grid
from epsilons.draws import corridor
from epsilons.draws.mechanisms import Composed, LevelCounts
from epsilons.draws.noise import Source, permutation, resolve
from epsilons.frozen import storable
from epsilons.papers import people
from epsilons.papers.diffusion import METHOD, diffuse, picture_of
from epsilons.questions.mean import Mean
from epsilons.questions.question import Answer, Call, Draw, Steps
from epsilons.questions.steps.found_range import capped_mean, read_mean
from epsilons.questions.steps.locate import around
from epsilons.results.release import ByLevel, Release
from epsilons.risk.ranges import Located
from epsilons.types import Column, Floats, Integers

__all__ = ["Reduced", "Seats", "reduced_mean"]

_BETA = 0.01
_MOST_SEATS = 2**24


def reduced_mean(
    values: Column,
    *,
    epsilon: Column,
    person: Column | None = None,
    levels: Levels | None = None,
    cap: float | None = None,
    confidence: float = 0.95,
    source: Source | None = None,
) -> Release:
    """Publish the mean of a Gaussian population with private participation, by the paper's method.

    Noisy counts of people per octave of budgets determine the number of slots. People are assigned
    to slots at random, and `diffused_mean` runs on the slots. `epsilons.mean` with bounds=None has
    a smaller error, reads tables of any size, and can charge a ledger.

    Args:
        values: an array with an entry for each row. A missing value counts as the middle of the
            range.
        epsilon: each person's budget: an array, or one number for everyone.
        person: the person of each row; None if each row is a different person.
        levels: the budgets that people were offered: see `epsilons.mean`.
        cap: the largest ε that anyone spends.
        confidence: confidence level of the printed interval.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `epsilons.verify.exact(release.mechanism)` recomputes everyone's loss.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError, ColumnError). Data are never
            refused.

    Guarantee:
        Add/remove, pure, for every input: adding or removing person i changes the probabilities of
        results by at most a factor e^{e_i}, where e_i ≤ ε_i is the loss that `release.spent`
        states for ε_i: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithm 8. `Reduced` lists the differences.

    Examples:
        >>> import numpy as np
        >>> import epsilons as ep
        >>> heights = np.random.default_rng(1).normal(170, 10, 10_000)
        >>> release = ep.papers.reduced_mean(heights, epsilon=1.0, source=ep.Seeded(1))
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
    )
    entropy = resolve(source)
    call = Call.of(epsilon=epsilon, person=person, neighbours="add-remove", levels=levels, cap=cap)
    missing = question.policy(call.neighbours)
    folded = people.folded(people.numbers(values, call, missing), missing, call)
    return corridor.released(question, _steps(folded, call, entropy), call, entropy, folded)


def _steps(folded: Folded, call: Call, source: Source) -> Steps:
    """Draw noisy counts per octave of budgets, assign people to slots, and run diffusion there."""
    terms = call.terms
    rungs = terms.ladder.levels
    usable = rungs if terms.cap is None else np.minimum(rungs, terms.cap)
    octave = np.unique(np.floor(np.log2(usable / usable[0]) + 1e-9), return_inverse=True)[1]
    ends = np.array([float(usable[octave == j].min()) for j in range(octave[-1] + 1)])
    stage = LevelCounts(rungs, octave, tuple(Fraction(end) / 2 for end in ends.tolist()))
    there = folded.budgets > 0.0
    cell_of = octave[np.searchsorted(rungs, folded.budgets[there])]
    totals = np.bincount(cell_of, minlength=len(ends)).astype(np.int64)
    noisy = yield Draw(stage, totals, more=True)
    seats = _seats(noisy, ends)
    seated = seats.thin(source, cell_of, folded.values[there])
    used = seats.used
    counts = np.array([seats.sizes[cell] for cell in used], dtype=np.int64)
    level_of = np.repeat(np.arange(len(used)), counts)
    levels = np.array([ends[cell] / 2.0 for cell in used])
    where = np.full(len(ends), -1, dtype=np.int64)
    where[used] = np.arange(len(used))
    place = where[octave]
    first = diffuse(levels, counts)
    spread = yield Draw(first, (seated, level_of), True, rungs, place)
    bounds = around(spread.centre, spread.radius)
    last = capped_mean(levels, counts, first.losses, bounds=bounds, aim=0.75 * spread.gap)
    total = last.point(_sums(seated, level_of, bounds, len(used)))
    drawn = yield Draw(last, total, False, rungs, place)
    bounded = Composed(levels, (first, last), (first.losses, last.losses))
    whole = Reduced(rungs, stage, bounded, place)
    margin = Located(picture_of(spread, first), last.weighing, last.slack)
    found = read_mean(last, drawn, margin)
    return Answer(
        estimate=found.estimate,
        method=METHOD,
        n=int(counts.sum()),
        n_is_noisy=True,  # n is the number of slots, which follows from noisy counts
        risk=found.risk,
        exact=False,
        spent=ByLevel(rungs, np.array([float_up(loss) for loss in whole.losses]), None),
        mechanism=whole,
    )


def _seats(noisy: tuple[int, ...], ends: Floats) -> Seats:
    """Return the number of slots per octave; with high probability, people fill them all."""
    margin = math.log(len(ends) / _BETA)
    sizes = [
        min(max(count - math.ceil(2.0 / end * margin), 0), _MOST_SEATS)
        for count, end in zip(noisy, ends.tolist(), strict=True)
    ]
    if sum(sizes) < 2:
        sizes[-1] = 2  # all noisy counts are small: use two slots, even if both stay empty
    return Seats(tuple(sizes))


def _sums(seated: Floats, level_of: Integers, bounds: tuple[float, float], levels: int) -> Integers:
    """Return the sum of the slots of each level on the grid. Empty slots count as the middle."""
    grid, valid = to_grid(seated, bounds)
    grid[~valid] = HALF
    sums = np.zeros(levels, dtype=np.int64)
    np.add.at(sums, level_of, grid)
    return sums


@storable("mechanisms.Reduced")
@dataclass(frozen=True, eq=False)
class Reduced:
    """Noisy counts per octave of budgets, then a mechanism for public budgets on slots.

    Guarantee:
        Each person is counted in one octave, with noise of scale 2/(its lower end), which costs
        half of that lower end. Adding or removing them changes one slot, which costs at most the
        other half. The sum is at most their budget: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithm 8. Its counts spend the entire lower end of an octave, so with
        the slots, a person could spend 1.5 times their budget. Its samples are not shuffled, so one
        person can change two slots. Here, slots are assigned at random, and one slot changes.

    Attributes:
        levels: the rungs (levels) of the public ladder of budgets.
        counts_stage: counts people per octave.
        bounded: the mechanism on slots; its levels are half of the lower ends of the octaves.
        place: the index of the slot level of each rung; −1 if it has no slots.
    """

    kind = "reduction"
    released = "noisy counts, a range and a sum plus noise, on a sample of the people"
    levels: Floats
    counts_stage: LevelCounts
    bounded: Composed
    place: Integers

    @property
    def losses(self) -> tuple[Fraction, ...]:
        """The total loss of a person on each rung: count plus slots, if the rung has slots."""
        slots = [*self.bounded.losses, Fraction(0)]
        pairs = zip(self.counts_stage.losses, self.place.tolist(), strict=True)
        return tuple(count + Fraction(slots[at]) for count, at in pairs)


@dataclass(frozen=True, eq=False)
class Seats:
    """Random assignment of people to the slots of their cell; empty slots contain marks.

    Nothing is published: only the curator knows the assignment.

    Guarantee:
        All assignments of the people of a cell are equally likely. If one person is removed, their
        slot goes to a person without a slot, or else to a mark, and the assignment is uniform
        again. So the assignments with and without the person can be coupled to differ in at most
        one slot.

    Attributes:
        sizes: the number of slots of each cell, not all 0.
    """

    sizes: tuple[int, ...]

    @property
    def used(self) -> list[int]:
        """The cells with at least one slot."""
        return [cell for cell, size in enumerate(self.sizes) if size]

    def thin(self, source: Source, cell_of: Integers, values: Floats) -> Floats:
        """Assign people to slots without replacement, cell by cell.

        Args:
            source: source of randomness.
            cell_of: the cell of each person.
            values: the value of each person.

        Returns:
            The value in each slot, NaN for a mark.
        """
        return np.concatenate(
            [_seated(values[cell_of == cell], self.sizes[cell], source) for cell in self.used]
        )


def _seated(values: Floats, size: int, source: Source) -> Floats:
    filled = np.full(max(size, len(values)), np.nan)
    filled[: len(values)] = values
    return np.asarray(filled[permutation(source, len(filled))[:size]])
