"""What every law of noise for several numbers can tell and do: tries are kept, or drawn again."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from epsilons.noise.arguments import natural
from epsilons.noise.laplace import Geometric
from epsilons.noise.law import AnyLaw
from epsilons.noise.source import Source, resolve

TOGETHER: Final = 1 << 16
"""Numbers that are worked on together."""


class Tries(NamedTuple):
    """What a law tries to make vectors of.

    Attributes:
        entries: of a vector.
        law: of the variables that are added up.
        width: how many of them are.
        fits: the largest sum for which int64 is used.
    """

    entries: int
    law: Geometric
    width: int
    fits: float


class VectorLaw(AnyLaw):
    """A distribution on vectors of integers, and draws from exactly these probabilities.

    A sum of geometric variables is tried as the size of a vector, coins keep it or not, and a
    vector of that size is drawn.
    """

    @property
    @abstractmethod
    def acceptance(self) -> float:
        """The share of tries that a draw keeps."""

    @overload
    def draw(self, source: Source | None, size: None = None) -> tuple[int, ...]: ...

    @overload
    def draw(self, source: Source | None, size: int) -> NDArray[Any]: ...

    def draw(
        self, source: Source | None, size: int | None = None
    ) -> tuple[int, ...] | NDArray[Any]:
        """Draw from the law.

        Args:
            source: where the bits come from; None is the system's entropy.
            size: how many; None for a single vector.

        Returns:
            A tuple of Python integers, or an array with a row for each vector: int64, and of Python
            integers (dtype object) where the class says that they are needed. Then nothing wraps,
            and the draws are slower.

        Raises:
            ArgumentError: `source` is not a source, or `size` not an integer of at least 0.

        Guarantee: independent draws, each with exactly the probabilities of `log_pmf`.
        """
        source = resolve(source)
        if size is None:
            one: list[int] = self._many(source, 1)[0].tolist()
            return tuple(one)
        return self._many(source, natural("size", size))

    def _many(self, source: Source, size: int) -> NDArray[Any]:
        entries, law, width, fits = self._tries
        parts: list[NDArray[Any]] = [np.empty((0, entries), dtype=np.int64)]
        most = max(TOGETHER // max(entries, width), 1)
        missing = size
        while missing > 0:
            # How many are tried is a matter of speed: each is kept or not for itself.
            tries = min(int(missing / self.acceptance) + 1, most)
            sizes = law.draw(source, tries * width).reshape(tries, width)
            # A float sum of so few numbers is right to a millionth: what is below the limit fits.
            if sizes.dtype == object or sizes.sum(axis=1, dtype=np.float64).max() > fits:
                part = self._slowly(source, [sum(map(int, row)) for row in sizes.tolist()])
            else:
                part = self._kept(source, sizes.sum(axis=1))
            parts.append(part[:missing])
            missing -= len(parts[-1])
        # One part of Python integers makes the whole array one: nothing is cast down.
        return np.concatenate(parts)

    @property
    @abstractmethod
    def _tries(self) -> Tries:
        """What is tried."""

    @abstractmethod
    def _kept(self, source: Source, r: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the vectors of those tries that are kept, `r` being their sizes."""

    @abstractmethod
    def _slowly(self, source: Source, sizes: list[int]) -> NDArray[Any]:
        """Return the same, on Python integers of any size."""
