"""From add/remove to replace: noisy counts by octaves of budgets, and so many slots for people."""

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
from epsilons.questions import Mean
from epsilons.questions.found_range import capped_mean, read_mean
from epsilons.questions.locate import around
from epsilons.questions.question import Answer, Call, Draw, Steps
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
    """Publish the mean of a Gaussian population if it is private who takes part, as the paper does.

    People are counted by octaves of budgets, with noise; so many of them are seated in slots, and
    `diffused_mean` is taken of these. `epsilons.mean` with bounds=None has a smaller error, reads
    tables of any size, and can charge a ledger.

    Args:
        values: an array, an entry for each row. A missing value counts as the middle of the range.
        epsilon: each person's budget: an array, or one number for everyone.
        person: which person a row belongs to; None if a row is a person.
        levels: the budgets that people were offered: see `epsilons.mean`.
        cap: the most that anyone spends.
        confidence: of the interval that is printed.
        source: None for the system's entropy; `epsilons.Seeded` for simulations, which are never
            private.

    Returns:
        The release: `epsilons.verify.exact(release.mechanism)` recomputes everyone's loss.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError, ColumnError). No data is refused.

    Guarantee:
        Add/remove, pure, for every input: with person i and without them the probabilities of
        results differ by at most a factor e^{e_i}, where e_i ≤ ε_i is what `release.spent` says of
        ε_i: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithm 8: see `Reduced` for how this differs.
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
    """Noisy counts by octaves of budgets, so many slots for people, and then diffusion on these."""
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
        n_is_noisy=True,  # the noisy number of slots
        risk=found.risk,
        exact=False,
        spent=ByLevel(rungs, np.array([float_up(loss) for loss in whole.losses]), None),
        mechanism=whole,
    )


def _seats(noisy: tuple[int, ...], ends: Floats) -> Seats:
    """So many seats for the people of each octave that most likely none stays empty."""
    margin = math.log(len(ends) / _BETA)
    sizes = [
        min(max(count - math.ceil(2.0 / end * margin), 0), _MOST_SEATS)
        for count, end in zip(noisy, ends.tolist(), strict=True)
    ]
    if sum(sizes) < 2:
        sizes[-1] = 2  # nobody knows of anybody: two slots, perhaps of marks
    return Seats(tuple(sizes))


def _sums(seated: Floats, level_of: Integers, bounds: tuple[float, float], levels: int) -> Integers:
    """The sums of the slots of each level on the grid, marks in the middle."""
    grid, valid = to_grid(seated, bounds)
    grid[~valid] = HALF
    sums = np.zeros(levels, dtype=np.int64)
    np.add.at(sums, level_of, grid)
    return sums


@storable("mechanisms.Reduced")
@dataclass(frozen=True, eq=False)
class Reduced:
    """Counts of octaves of budgets, and a mechanism for public budgets on as many slots.

    Guarantee:
        A person is counted in one octave, with noise of the scale 2/(its lower end), and what they
        are seated in changes in one slot if they come or go, which costs at most half of that lower
        end. Together that is at most their budget: docs/proofs/gaussian.md.

    Reference:
        Paper *gaussian*, Algorithm 8, whose counts spend all of the lower end, and whose samples
        must be shuffled; then one slot changes, not two.

    Attributes:
        levels: the rungs of the public ladder.
        counts_stage: counts people by octave.
        bounded: the mechanism on slots; its levels are half of the lower ends of the octaves.
        place: the level of the slots of each rung.
    """

    kind = "reduction"
    levels: Floats
    counts_stage: LevelCounts
    bounded: Composed
    place: Integers

    @property
    def losses(self) -> tuple[Fraction, ...]:
        """What a person on each rung spends in all; nothing on slots where there are none."""
        slots = [*self.bounded.losses, Fraction(0)]
        pairs = zip(self.counts_stage.losses, self.place.tolist(), strict=True)
        return tuple(count + Fraction(slots[at]) for count, at in pairs)


@dataclass(frozen=True, eq=False)
class Seats:
    """So many slots for the people of each cell, in random order; the rest of them are marks.

    It publishes nothing: who sits where is private, and stays with those who draw.

    Guarantee:
        Every way to seat the people of a cell is as likely as any other. So if one person leaves,
        whoever takes their slot (somebody who had none, or nobody) makes it again a uniform
        seating: the two differ in one slot at most.

    Attributes:
        sizes: the slots of each cell, of which some are above 0.
    """

    sizes: tuple[int, ...]

    @property
    def used(self) -> list[int]:
        """The cells that have slots."""
        return [cell for cell, size in enumerate(self.sizes) if size]

    def thin(self, source: Source, cell_of: Integers, values: Floats) -> Floats:
        """Seat people without replacement, cell by cell.

        Args:
            source: where the order comes from.
            cell_of: the cell of each person.
            values: the value of each person.

        Returns:
            What is in the slots, NaN for a mark.
        """
        return np.concatenate(
            [_seated(values[cell_of == cell], self.sizes[cell], source) for cell in self.used]
        )


def _seated(values: Floats, size: int, source: Source) -> Floats:
    filled = np.full(max(size, len(values)), np.nan)
    filled[: len(values)] = values
    return np.asarray(filled[permutation(source, len(filled))[:size]])
