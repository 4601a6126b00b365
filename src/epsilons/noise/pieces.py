"""What a law declares of itself: where it is flat, where it falls, and by how much."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, NamedTuple


class Pieces(NamedTuple):
    """All pieces of a law, in four plain facts that a checker can read to the end.

    Distances 0, ..., inner - 1 are one flat piece, and every `steps` distances after them another.
    From each to the next the probability falls by e^{-rate}, and nowhere else: there is no room for
    a hole or a bump between two points.

    Attributes:
        shape: what the distance is. "point": only 0 can occur. "half-line": x, from 0 up. "line":
            |x|. "rings": |x| + |y|. "hourglass": with j the piece of |x| and x + y = k steps it is
            j + |k - j| pieces for x >= 0, and j + |k + j| for x < 0; other pairs cannot occur.
            "closed": |z_1| + ... + |z_k| of a table; one that does not sum to 0 cannot occur.
            "cube": the largest of |z_1|, ..., |z_d|.
        rate: by how much the logarithm of the probability falls; infinite for a point.
        steps: how many distances make a piece, at least 1.
        inner: how many make the first one, from 1 to `steps`.
    """

    shape: str
    rate: Fraction | float
    steps: int = 1
    inner: int = 1

    @property
    def scale(self) -> Fraction:
        """The scale, in points, of the Laplace noise that costs the same; 0 for a point."""
        return self.steps / self.rate if isinstance(self.rate, Fraction) else Fraction(0)

    def loss(self, points: int) -> Fraction | float:
        """The largest log-ratio of the law and itself, shifted by so many points.

        Args:
            points: at least 0. Of a pair, what both coordinates move together, in one direction; of
                a closed table, what some cells lose and others gain, together; of a cube, the
                farthest that any number moves.

        Returns:
            A rational number, or infinity: where an outcome becomes possible that was not.
        """
        if points == 0:
            return Fraction(0)
        # What a closed table loses in some cells it gains in others: never an odd number in all.
        whole = {"hourglass": self.steps, "closed": 2}.get(self.shape, 1)
        off = points % whole
        if self.shape in ("point", "half-line") or off:
            return math.inf
        return self.rate * -(-points // self.steps)


POINT: Final = Pieces("point", math.inf)
