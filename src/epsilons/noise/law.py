"""What every law of noise can tell and do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, overload

from numpy.typing import NDArray

from epsilons.noise.arguments import natural
from epsilons.noise.deviation import least_beyond
from epsilons.noise.pieces import Pieces
from epsilons.noise.source import Source, resolve


class AnyLaw(ABC):
    """What every law tells, of one number or of several that are distributed alike."""

    @property
    @abstractmethod
    def pieces(self) -> Pieces:
        """Where the law is flat and where it falls: a declaration, which checkers read."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of each number."""

    @abstractmethod
    def tail(self, x: int) -> float:
        """Return the probability of more than `x` in one number, for `x` of at least 0."""

    def deviation(self, beta: float) -> int:
        """Return the least distance from 0 that one number exceeds with probability beta at most.

        Args:
            beta: above 0 and below 1.

        Raises:
            ArgumentError: `beta` is not such a number.
        """
        return least_beyond(self._farther, beta)

    def _farther(self, x: int) -> float:
        """Return the probability of a distance from 0 of more than `x`: of both sides."""
        return 2.0 * self.tail(x)

    def loss(self, points: int) -> Fraction | float:
        """Return the largest log-ratio of the law and itself, shifted by so many points.

        Args:
            points: an integer of at least 0. Of two numbers, what both move together, in one
                direction; of several, how far they move in the norm of the law.

        Raises:
            ArgumentError: `points` is not such a number.
        """
        return self.pieces.loss(natural("points", points))


class Law(AnyLaw):
    """A distribution on the integers: its probabilities, and draws from exactly these."""

    @abstractmethod
    def exponent(self, x: int) -> Fraction | float:
        """Return log pmf(0) - log pmf(x): exact, or infinite where `x` cannot occur."""

    @abstractmethod
    def log_pmf(self, x: int) -> float:
        """Return the natural logarithm of the probability of `x`."""

    @overload
    def draw(self, source: Source | None, size: None = None) -> int: ...

    @overload
    def draw(self, source: Source | None, size: int) -> NDArray[Any]: ...

    def draw(self, source: Source | None, size: int | None = None) -> int | NDArray[Any]:
        """Draw from the law.

        Args:
            source: where the bits come from; None is the system's entropy.
            size: how many; None for a single integer.

        Returns:
            A Python integer, or an array of `size` of them: int64, and of Python integers (dtype
            object) if the numerator of the scale is above 2**53 or a draw would reach 2**62. Then
            nothing wraps, and the draws are slower.

        Raises:
            ArgumentError: `source` is not a source, or `size` not an integer of at least 0.

        Guarantee: independent draws, each with exactly the probabilities of `log_pmf`.
        """
        source = resolve(source)
        if size is None:
            return self._one(source)
        return self._many(source, natural("size", size))

    @abstractmethod
    def _one(self, source: Source) -> int:
        """Draw one Python integer."""

    @abstractmethod
    def _many(self, source: Source, size: int) -> NDArray[Any]:
        """Draw an array."""
