"""How many people stand on which rungs: a private count that pays for a good cap."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from epsilons.frozen import storable
from epsilons.ladder import Ladder
from epsilons.noise import DiscreteLaplace, Source
from epsilons.tally import Tally
from epsilons.tally.line import Lined
from epsilons.types import Floats, Integers

SHARE: Final = Fraction(1, 8)
"""The part of everyone's rung that counting spends."""

_LOWEST: Final = -6
"""The octave below which nobody is counted, if nothing is declared: ε = 1/64."""

_ENOUGH: Final = 1.0
"""A rung above which counting spends no more: its noise is below ten people."""

_NOTICED: Final = 3.0
"""A noisy count that is not above so many times its scale is taken for nobody."""

_MOST: Final = 2**40
"""No more people are expected anywhere."""

_DOUBTS: Final = ((0.0, 0.9), (3.0, 0.09), (6.0, 0.009), (10.0, 0.001))
"""How many scales the noise may have added to the people of a cell, and about how often."""

_BITS: Final = 40


@storable("mechanisms.LevelCounts")
@dataclass(frozen=True, eq=False)
class LevelCounts:
    """The number of people in each cell of the ladder, plus noise that fits their budgets.

    Guarantee:
        A person on a rung is counted in the cell of the rung and nowhere else. The noise of a cell
        changes by at most e^{rate} from one integer to the next, and the rate of a cell is at most
        an eighth of its lowest rung (and of 1). So adding or removing a person costs them at most
        an eighth of their rung, and nothing if their rung is in no cell.

    Attributes:
        levels: the rungs of the public ladder.
        cell_of: the cell of each rung; −1 for rungs that are not counted.
        rates: the rate of the noise of each cell.
    """

    kind = "counts"
    levels: Floats
    cell_of: Integers
    rates: tuple[Fraction, ...]

    @classmethod
    def of(cls, ladder: Ladder, cap: float | None = None) -> LevelCounts:
        """A cell for each declared rung, or one for each octave of a fine ladder.

        Args:
            ladder: the public ladder.
            cap: the most that anyone spends in all: counting spends an eighth of it at most.
        """
        if ladder.fine:
            octave = np.frexp(ladder.levels)[1] - 1
            cell_of = np.where(octave >= _LOWEST, octave - _LOWEST, -1).astype(np.int64)
            lowest = [2.0 ** (_LOWEST + cell) for cell in range(int(cell_of.max()) + 1)]
        else:
            cell_of = np.arange(len(ladder.levels))
            lowest = ladder.levels.tolist()
        most = _ENOUGH if cap is None else min(_ENOUGH, cap)
        rates = (rounded_down(SHARE * Fraction(min(level, most))) for level in lowest)
        return cls(ladder.levels, cell_of, tuple(rates))

    def placed(self, levels: Floats, place: Integers) -> LevelCounts:
        """The same counts, said of finer levels, each of which lies in one of these."""
        return LevelCounts(levels.copy(), self.cell_of[place], self.rates)

    @cached_property
    def losses(self) -> tuple[Fraction, ...]:
        """What a person on each rung loses at most by being counted."""
        rates = (*self.rates, Fraction(0))
        return tuple(rates[cell] for cell in self.cell_of.tolist())

    def total(self, tally: Tally | Lined) -> Integers:
        """The true counts of the cells: the people of each level."""
        cells = self.cell_of[np.searchsorted(self.levels, tally.levels)]
        counted = np.zeros(len(self.rates), dtype=np.int64)
        np.add.at(counted, cells[cells >= 0], tally.counts[cells >= 0])
        return counted

    @property
    def laws(self) -> tuple[DiscreteLaplace, ...]:
        """The law of the noise of each cell."""
        return tuple(DiscreteLaplace(1 / rate) for rate in self.rates)

    def draw(self, source: Source, total: Integers) -> tuple[int, ...]:
        """Draw the noisy counts."""
        pairs = zip(self.laws, total.tolist(), strict=True)
        return tuple(law.draw(source) + count for law, count in pairs)

    def guess(self, drawn: tuple[int, ...]) -> Integers:
        """How many people to expect on each rung: a cell's people on its middle rung."""
        people = np.zeros(len(self.levels), dtype=np.int64)
        for cell, (count, rate) in enumerate(zip(drawn, self.rates, strict=True)):
            if count * rate > _NOTICED:
                rungs = np.flatnonzero(self.cell_of == cell)
                people[rungs[len(rungs) // 2]] = min(count, _MOST)
        return people

    def doubts(self, drawn: tuple[int, ...]) -> tuple[tuple[float, Integers], ...]:
        """How few people there may be on each rung, each case with a part of all chances.

        Where much hangs on people who pay for all others, they must be there. A count of many empty
        cells is the largest of many noises, and the people of a cell may be on its lower rungs: so
        a cell has the people of its count less some scales of its noise, evenly on its rungs.

        Args:
            drawn: the noisy counts.
        """
        sizes = np.bincount(self.cell_of[self.cell_of >= 0], minlength=len(self.rates))
        people = np.clip(np.array(drawn, dtype=np.float64), 0.0, _MOST)
        scales = np.array([1.0 / float(rate) for rate in self.rates])
        cases = []
        for less, chance in _DOUBTS:
            fewer = np.maximum(people - less * scales, 0.0) / np.maximum(sizes, 1)
            each = np.where(self.cell_of >= 0, fewer[self.cell_of], 0.0)
            cases.append((chance, np.floor(each).astype(np.int64)))
        return tuple(cases)

    def heads(self, drawn: tuple[int, ...]) -> Integers:
        """The counts as they came, where each rung has its own, and nobody in place of fewer.

        Who is taken for nobody costs a bias as large as they are many, if budgets tell of values.
        """
        return np.clip(np.array(drawn, dtype=np.int64), 0, _MOST)


def rounded_down(number: Fraction) -> Fraction:
    """Round down to about 40 significant bits: noise of such rates is fast to draw."""
    places = _BITS - (number.numerator.bit_length() - number.denominator.bit_length())
    unit = Fraction(2) ** places
    return Fraction((number * unit).__floor__()) / unit
