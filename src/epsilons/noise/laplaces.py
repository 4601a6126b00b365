"""Two discrete Laplace laws side by side: the noise of a pair of sums."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from epsilons.frozen import storable
from epsilons.noise.arguments import integer, positive_rational
from epsilons.noise.laplace import DiscreteLaplace
from epsilons.noise.pair import PairLaw
from epsilons.noise.pieces import Pieces
from epsilons.noise.source import Source


@storable("noise.Laplaces")
@dataclass(frozen=True, init=False)
class Laplaces(PairLaw):
    """Independent discrete Laplace laws of one scale.

    Guarantee: P(x, y) is proportional to e^{-(|x| + |y|) / scale} on all pairs of integers; draws
    are exact. A shift by (s, t) changes log P by at most (|s| + |t|) / scale.

    Args:
        scale: an integer or `Fraction` above zero.

    Raises:
        ArgumentError: the scale is not such a number.
    """

    scale: Fraction
    rate: Fraction
    steps: int

    def __init__(self, scale: Fraction | int) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", scale))
        object.__setattr__(self, "rate", 1 / self.scale)
        object.__setattr__(self, "steps", 1)

    @property
    def _each(self) -> DiscreteLaplace:
        return DiscreteLaplace(self.scale)

    @property
    def pieces(self) -> Pieces:
        """The law falls by 1/scale from each distance |x| + |y| to the next."""
        return Pieces("rings", self.rate)

    def exponent(self, x: int, y: int) -> Fraction:
        """Return log pmf(0, 0) - log pmf(x, y) = (|x| + |y|) / scale, exactly.

        Args:
            x: an integer.
            y: an integer.

        Raises:
            ArgumentError: `x` or `y` is not an integer.
        """
        return (abs(integer("x", x)) + abs(integer("y", y))) / self.scale

    def log_pmf(self, x: int, y: int) -> float:
        """Return the natural logarithm of the probability of `(x, y)`."""
        return self._each.log_pmf(x) + self._each.log_pmf(y)

    @property
    def variance(self) -> float:
        """The variance of either coordinate."""
        return self._each.variance

    @property
    def covariance(self) -> float:
        """The covariance of the coordinates: 0, for they are independent."""
        return 0.0

    def tail(self, x: int) -> float:
        """Return the probability of more than `x` in one coordinate.

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not such a number.
        """
        return self._each.tail(x)

    def _one(self, source: Source) -> tuple[int, int]:
        return self._each.draw(source), self._each.draw(source)

    def _chunk(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        return self._each.draw(source, size), self._each.draw(source, size)
