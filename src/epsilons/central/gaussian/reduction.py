"""From add/remove to replace: noisy counts by octaves of budgets, and so many slots for people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from epsilons.budgets import Floats, Integers
from epsilons.central.facts import Facts
from epsilons.central.gaussian.diffusion import Spread, diffuse, find_range
from epsilons.central.gaussian.staged import Staged, around, build_staged
from epsilons.central.level_counts import LevelCounts
from epsilons.noise import Source, permutation
from epsilons.tally.grid import GRID, HALF, to_grid
from epsilons.tally.line_numpy import Folded

__all__ = ["Reduced", "reduce", "seats"]

_BETA = 0.01


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
    bounded: Staged
    place: Integers

    @property
    def losses(self) -> tuple[Fraction, ...]:
        """What a person on each rung spends in all; nothing on slots where there are none."""
        slots = [*self.bounded.losses, Fraction(0)]
        pairs = zip(self.counts_stage.spent, self.place.tolist(), strict=True)
        return tuple(count + Fraction(slots[at]) for count, at in pairs)

    @property
    def weighing(self) -> Any:
        """The mean on a unit range, of the slots."""
        return self.bounded.weighing

    @property
    def slack(self) -> float:
        """What integers may add to an error on a unit range."""
        return self.bounded.slack


def reduce(people: Folded, facts: Facts, source: Source) -> tuple[Reduced, int, Spread]:
    """Draw the counts, seat people, and run diffusion and the mean on the slots.

    Args:
        people: everyone's value and rung.
        facts: what is public.
        source: where the randomness comes from.

    Returns:
        The mechanism, the lattice point that was drawn, and the range that was found.
    """
    rungs = facts.ladder.levels
    usable = rungs if facts.cap is None else np.minimum(rungs, facts.cap)
    octave = np.unique(np.floor(np.log2(usable / usable[0]) + 1e-9), return_inverse=True)[1]
    ends = np.array([float(usable[octave == j].min()) for j in range(octave[-1] + 1)])
    halves = tuple(Fraction(end) / 2 for end in ends.tolist())
    stage = LevelCounts(rungs, octave, halves)
    there = people.budgets > 0.0
    cell = octave[np.searchsorted(rungs, people.budgets[there])]
    totals = np.bincount(cell, minlength=len(ends)).astype(np.int64)
    margin = math.log(len(ends) / _BETA)
    drawn_counts = stage.draw(source, totals)
    sizes = [
        min(max(noisy - math.ceil(2.0 / end * margin), 0), 2**24)
        for noisy, end in zip(drawn_counts, ends.tolist(), strict=True)
    ]
    if sum(sizes) < 2:
        sizes[-1] = 2  # nobody knows of anybody: two slots, perhaps of marks
    used = [j for j, size in enumerate(sizes) if size]
    counts = np.array([sizes[j] for j in used], dtype=np.int64)
    own = people.values[there]
    seated = np.concatenate([seats(own[cell == j], sizes[j], source) for j in used])
    levels = np.array([ends[j] / 2.0 for j in used])
    level_of = np.repeat(np.arange(len(used)), counts)
    first = diffuse(levels, counts)
    spread = find_range(first, seated, level_of, source)
    bounds = around(spread.centre, spread.radius)
    last = build_staged((first,), levels, counts, bounds, 0.75 * spread.gap, GRID)
    grid, valid = to_grid(seated, bounds)
    grid[~valid] = HALF
    sums = np.zeros(len(used), dtype=np.int64)
    np.add.at(sums, level_of, grid)
    drawn = last.draw(source, total=last.last.total(sums))
    where = np.full(len(ends), -1, dtype=np.int64)
    where[used] = np.arange(len(used))
    return Reduced(rungs, stage, last, where[octave]), drawn, spread


def seats(values: Floats, size: int, source: Source) -> npt.NDArray[np.float64]:
    """So many slots in random order, filled with people without replacement; the rest are marks.

    Guarantee:
        Every way to seat people is as likely as any other. So if one person leaves, whoever takes
        their slot (somebody who had none, or nobody) makes it again a uniform seating: the two
        differ in one slot at most.
    """
    filled = np.full(max(size, len(values)), np.nan)
    filled[: len(values)] = values
    return filled[permutation(source, len(filled))[:size]]
