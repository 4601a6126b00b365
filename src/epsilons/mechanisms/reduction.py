"""From add/remove to replace: noisy counts by octaves of budgets, and so many slots for people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from epsilons.frozen import storable
from epsilons.mechanisms.composed import Composed
from epsilons.mechanisms.level_counts import LevelCounts
from epsilons.noise import Source, permutation
from epsilons.types import Floats, Integers

__all__ = ["Reduced", "Seats"]


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
