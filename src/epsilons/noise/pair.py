"""What every law of noise for two numbers can tell and do."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from epsilons.noise.arguments import natural
from epsilons.noise.bernoulli import CHUNK
from epsilons.noise.law import AnyLaw
from epsilons.noise.magnitude import WIDEST
from epsilons.noise.source import Source, resolve


class PairLaw(AnyLaw):
    """A distribution on pairs of integers: its probabilities, and draws from exactly these.

    Both coordinates have mean 0 and one variance.
    """

    rate: Fraction
    steps: int

    @abstractmethod
    def exponent(self, x: int, y: int) -> Fraction | float:
        """Return log pmf(0, 0) - log pmf(x, y): exact, or infinite where it cannot occur."""

    @abstractmethod
    def log_pmf(self, x: int, y: int) -> float:
        """Return the natural logarithm of the probability of `(x, y)`."""

    @property
    @abstractmethod
    def covariance(self) -> float:
        """The covariance of the two coordinates."""

    @overload
    def draw(self, source: Source | None, size: None = None) -> tuple[int, int]: ...

    @overload
    def draw(self, source: Source | None, size: int) -> NDArray[Any]: ...

    def draw(
        self, source: Source | None, size: int | None = None
    ) -> tuple[int, int] | NDArray[Any]:
        """Draw from the law.

        Args:
            source: where the bits come from; None is the system's entropy.
            size: how many; None for a single pair.

        Returns:
            A pair of Python integers, or an array of shape (size, 2): int64, and of Python integers
            (dtype object) if `steps` or the denominator of the rate is above 2**53 or a draw would
            reach 2**62. Then nothing wraps, and the draws are slower.

        Raises:
            ArgumentError: `source` is not a source, or `size` not an integer of at least 0.

        Guarantee: independent draws, each with exactly the probabilities of `log_pmf`.
        """
        source = resolve(source)
        if size is None:
            return self._one(source)
        size = natural("size", size)
        if max(self.steps, self.rate.denominator) > WIDEST:
            draws = np.empty((size, 2), dtype=object)
            for i in range(size):
                draws[i] = self._one(source)
            return draws
        parts: list[NDArray[Any]] = [np.empty((0, 2), dtype=np.int64)]
        for start in range(0, size, CHUNK):
            x, y = self._chunk(source, min(CHUNK, size - start))
            parts.append(np.stack((x, y), axis=1))
        # One part of Python integers makes the whole array one: nothing is cast down.
        return np.concatenate(parts)

    @abstractmethod
    def _one(self, source: Source) -> tuple[int, int]:
        """Draw one pair of Python integers."""

    @abstractmethod
    def _chunk(self, source: Source, size: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw both coordinates of some pairs, `steps` and the rate being small enough."""
