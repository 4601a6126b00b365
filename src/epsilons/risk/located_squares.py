"""The margin of a mean on a range that was found, with the squares that were drawn beside it."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Self

from epsilons.frozen import storable
from epsilons.risk.located import SIDE, Located
from epsilons.risk.margins import Bounds
from epsilons.risk.normal import upper_tail

_FINE: Final = 2.0 ** (-1.0 / 32.0)
_PIECES: Final = 96
"""Pieces of σ below the bound of the selections, each so fine: three octaves."""

_STEP: Final = 1.0 / 32.0
"""Between middles of ranges that are told apart, half of it, in σ."""

_PARTS: Final = 12
"""Parts of how far a middle may be off."""

_LENGTHS: Final = 65
_SHORTER: Final = 2.0 ** (-1.0 / 8.0)
"""Lengths of ranges that are told apart: eighths of an octave, from a quarter of σ to 64 σ."""


@storable("risk.LocatedSquares")
@dataclass(frozen=True, eq=False)
class LocatedSquares(Located):
    """The margin of a weighted mean on a range that was found, with its second moment.

    The squares of cut values say how large σ can be, whichever range was found.

    Guarantee:
        As of `Located`: docs/proofs/gaussian.md.

    Attributes:
        square: Σ w·(x − ½)² of the values cut to the range, on a unit range, with its noise.
    """

    square: float

    parts: ClassVar[int] = 4

    def expecting(self, bounds: Bounds, sigma: float) -> Self:
        """The same with the squares that a Gaussian of this σ in the middle has."""
        half = (bounds[1] - bounds[0]) / 2.0
        return replace(self, square=(sigma / half) ** 2 * _cut_square(half / sigma) / 4.0)

    def _largest(self, bounds: Bounds, beta: float) -> float:
        """The bound on σ of the selections, or that of the squares, if it is smaller."""
        high = super()._largest(bounds, beta)
        part = SIDE * beta / 2.0
        noise = -self.weighing.scale * math.log(2.0 * part)
        seen = (bounds[1] - bounds[0]) * math.sqrt(max(self.square + self.slack + noise, 0.0))
        if not (math.isfinite(high) and math.isfinite(seen)):
            return high
        for _ in range(_PIECES):
            low = _FINE * high
            if not self._least(bounds, low, high, beta) > seen:
                return high
            high = low
        return high

    def _least(self, bounds: Bounds, low: float, high: float, beta: float) -> float:
        """The root of the least weighted squares of cut values, for any σ between these two."""
        half, width = (bounds[1] - bounds[0]) / 2.0, self.picture.width
        off = (self.picture.off(low, SIDE * beta) - width) * high / low + width
        off += abs((bounds[0] + bounds[1]) / 2.0 - self.picture.centre)
        if not math.isfinite(off) or half < 0.25 * high:
            return 0.0
        ranges = _LENGTHS * (off / (_STEP * low) + 2.0)
        wrong = math.log(ranges) - math.log(SIDE * beta / 2.0)
        # In units of σ, whose powers may be beyond all floats. The farther off, and the longer, the
        # larger squares are, but the more they vary.
        reach, far = min(_SHORTER * half / high, 64.0), off / low + _STEP
        longest, most = min(half / low, 64.0), 2.0 * self.weighing.square * wrong
        ends = [far * i / _PARTS for i in range(_PARTS + 1)]
        least = min(
            _cut_square(reach, near) - math.sqrt(most * _cut_fourth(longest, next_))
            for near, next_ in itertools.pairwise(ends)
        )
        return low * math.sqrt(max(least, 0.0)) - _STEP * high


def _cut_square(reach: float, off: float = 0.0) -> float:
    """E min((Z + off)², reach²) of a standard normal Z: it grows with both."""
    below, above = -reach - off, reach - off
    inside = upper_tail(below) - upper_tail(above)
    bells = [math.exp(-min(x * x / 2.0, 745.0)) / math.sqrt(2.0 * math.pi) for x in (below, above)]
    square = (1.0 + off * off) * inside + below * bells[0] - above * bells[1]
    square += 2.0 * off * (bells[0] - bells[1])
    return square + reach * reach * (1.0 - inside)


def _cut_fourth(reach: float, off: float) -> float:
    """A bound on E min((Z + off)⁴, reach⁴), which grows with both."""
    whole = 3.0 + off * off * (6.0 + off * off)
    return min(whole, reach * reach * _cut_square(reach, off))
