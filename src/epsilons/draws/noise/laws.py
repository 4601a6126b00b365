"""Noise distributions ("laws") of one number: their interface, and laws with geometric tails."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise.exact import WIDEST, batch, count, count_candidates
from epsilons.draws.noise.source import Source, integer, natural, positive_rational, resolve
from epsilons.errors import ArgumentError
from epsilons.frozen import storable

# The declared form of a law: where its probability is constant, where it falls, and by how much.


class Pieces(NamedTuple):
    """The pieces of a law: four fields that describe it completely, so a checker can verify it.

    Distances 0, ..., inner - 1 form the first piece. After them, every `steps` distances form
    another piece. The probability is constant on a piece. It falls by a factor e^{-rate} from each
    piece to the next and changes nowhere else.

    Attributes:
        shape: the definition of the distance. "point": only 0 can occur. "half-line": x, for x >=
            0. "line": |x|. "rings": |x| + |y|. "hourglass": with j the piece of |x| and x + y = k
            steps, it is j + |k - j| pieces for x >= 0, and j + |k + j| for x < 0; other pairs
            cannot occur. "closed": |z_1| + ... + |z_k| of a table; tables that do not sum to 0
            cannot occur. "cube": the largest of |z_1|, ..., |z_d|.
        rate: the decrease of the log-probability from each piece to the next; infinite for a point.
        steps: the number of distances in a piece, at least 1.
        inner: the number of distances in the first piece, from 1 to `steps`.
    """

    shape: str
    rate: Fraction | float
    steps: int = 1
    inner: int = 1

    @property
    def scale(self) -> Fraction:
        """The scale, in lattice steps, of Laplace noise with the same loss; 0 for a point."""
        return self.steps / self.rate if isinstance(self.rate, Fraction) else Fraction(0)

    def loss(self, points: int) -> Fraction | float:
        """Return the largest log-ratio of probabilities before and after a shift by `points`.

        Args:
            points: at least 0. For a pair: the sum of the distances that both coordinates move, in
                the same direction. For a closed table: the total that some cells lose plus the
                total that others gain. For a cube: the largest distance that any entry moves.

        Returns:
            A rational number, or infinity if an outcome is possible only before or after the shift.
        """
        if points == 0:
            return Fraction(0)
        # In a closed table, some cells gain what others lose, so the total change is even.
        whole = {"hourglass": self.steps, "closed": 2}.get(self.shape, 1)
        off = points % whole
        if self.shape in ("point", "half-line") or off:
            return math.inf
        return self.rate * -(-points // self.steps)


POINT: Final = Pieces("point", math.inf)


# Quantiles of noise: the smallest distance that it exceeds with probability at most beta.


def least_beyond(beyond: Callable[[int], float], beta: float) -> int:
    """Return the smallest distance of at least 0 that is exceeded with probability at most beta.

    Args:
        beyond: the probability of exceeding a distance, a function that falls to 0.
        beta: above 0 and below 1.

    Raises:
        ArgumentError: `beta` is not between 0 and 1.
    """
    if not 0.0 < beta < 1.0:
        raise ArgumentError("beta must be strictly between 0 and 1.")
    if beyond(0) <= beta:
        return 0
    low, high = 0, 1
    while beyond(high) > beta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if beyond(middle) > beta else (low, middle)
    return high


# The interface of every noise law.


One = TypeVar("One")
"""The type of a single draw: an integer, or a tuple of integers."""


class AnyLaw(ABC, Generic[One]):
    """The interface of all laws, of one number or of several identically distributed numbers."""

    @property
    @abstractmethod
    def pieces(self) -> Pieces:
        """The pieces on which the law is constant, declared for checkers."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """The variance of each number."""

    def tail(self, x: int) -> float:
        """Return P(X > x) for one number X.

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not an integer of at least 0.
        """
        return self._tail(natural("x", x))

    @abstractmethod
    def _tail(self, x: int) -> float:
        """Return P(X > x) for one number X and an integer `x` of at least 0."""

    def deviation(self, beta: float) -> int:
        """Return the smallest d >= 0 such that P(|X| > d) is at most beta for one number X.

        Args:
            beta: above 0 and below 1.

        Raises:
            ArgumentError: `beta` is not between 0 and 1.
        """
        return least_beyond(self._farther, beta)

    def _farther(self, x: int) -> float:
        """Return P(|X| > x) for one number X."""
        return 2.0 * self._tail(x)

    def loss(self, points: int) -> Fraction | float:
        """Return the largest log-ratio of probabilities before and after a shift by `points`.

        Args:
            points: an integer of at least 0. For two numbers: the sum of the distances that both
                move, in the same direction. For several: the distance in the norm of the law.

        Raises:
            ArgumentError: `points` is not an integer of at least 0.
        """
        return self.pieces.loss(natural("points", points))

    @overload
    def draw(self, source: Source | None, size: None = None) -> One: ...

    @overload
    def draw(self, source: Source | None, size: int) -> NDArray[Any]: ...

    def draw(self, source: Source | None, size: int | None = None) -> One | NDArray[Any]:
        """Draw from the law.

        Args:
            source: where the bits come from; None is the system's entropy.
            size: the number of draws; None for a single one.

        Returns:
            A Python integer or a tuple of them; or an array of `size` integers, or with a row for
            each of `size` tuples. The array is int64. It has Python integers (dtype object) under
            the conditions that each class documents. Then there is no overflow, and the draws are
            slower.

        Raises:
            ArgumentError: `source` is not a source, or `size` not an integer of at least 0.

        Guarantee: independent draws, each with exactly the probabilities of `log_pmf`.
        """
        source = resolve(source)
        if size is None:
            return self._one(source)
        return self._many(source, natural("size", size))

    @abstractmethod
    def _one(self, source: Source) -> One:
        """Draw once, in Python integers."""

    @abstractmethod
    def _many(self, source: Source, size: int) -> NDArray[Any]:
        """Draw an array of `size` integers or rows."""


class Law(AnyLaw[int]):
    """A distribution on the integers: its probabilities, and exact draws from them."""

    def exponent(self, x: int) -> Fraction | float:
        """Return log pmf(0) - log pmf(x): exact, or infinite if `x` cannot occur.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        return self._exponent(integer("x", x))

    @abstractmethod
    def _exponent(self, x: int) -> Fraction | float:
        """Return log pmf(0) - log pmf(x) for an integer `x`."""

    def log_pmf(self, x: int) -> float:
        """Return the natural logarithm of the probability of `x`.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        return self._log_at_zero - as_float(self.exponent(x))

    @property
    @abstractmethod
    def _log_at_zero(self) -> float:
        """The natural logarithm of the probability of 0."""


# The laws with geometric tails: discrete Laplace, its one-sided half, and no noise.


@dataclass(frozen=True, init=False)
class _Scaled(Law):
    """A law with probabilities that fall by a factor a = e^{-1/scale} per integer.

    Arrays have Python integers if the numerator of the scale is above 2**53 or a draw would reach
    2**62.
    """

    scale: Fraction

    def __init__(self, scale: Fraction | int) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", scale))

    @property
    def _rate(self) -> float:
        """1/scale as a float, which can be 0 or infinite."""
        return as_float(1 / self.scale)

    def _log_one_minus_a(self) -> float:
        """Return log(1 - a) to full precision, for any scale."""
        rate = self._rate
        if rate > 0.5:
            return math.log1p(-math.exp(-rate))
        if rate > 1e-290:
            return math.log(-math.expm1(-rate))
        # Here 1 - a and 1/scale agree to more digits than a float has, and both may underflow.
        return math.log(self.scale.denominator) - math.log(self.scale.numerator)

    def _many(self, source: Source, size: int) -> NDArray[Any]:
        if self.scale.numerator > WIDEST:
            draws = np.empty(size, dtype=object)
            for place in range(size):
                draws[place] = self._one(source)
            return draws
        parts: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
        missing = size
        while missing > 0:
            part = self._candidates(source, batch(missing))[:missing]
            parts.append(part)
            missing -= len(part)
        # If one part has Python integers, so does the whole array, and no value is cast down.
        return np.concatenate(parts)

    @abstractmethod
    def _candidates(self, source: Source, candidates: int) -> NDArray[Any]:
        """Propose this many candidates, and return the accepted draws."""


@storable("noise.Geometric")
@dataclass(frozen=True, init=False)
class Geometric(_Scaled):
    """The geometric law on 0, 1, 2, ...

    Guarantee: P(x) = (1 - a) a^x for x >= 0, with a = e^{-1/scale}; draws are exact.
    Proof: docs/proofs/noise.md (2).

    Args:
        scale: an integer or `Fraction` above zero; floats are refused.

    Raises:
        ArgumentError: the scale is not an integer or a `Fraction` above zero.

    Reference: Canonne, Kamath and Steinke (2020), Algorithm 2, without the sign.
    """

    @property
    def pieces(self) -> Pieces:
        """The pieces: the log-probability falls by 1/scale per integer, from 0 upwards."""
        return Pieces("half-line", 1 / self.scale)

    def _exponent(self, x: int) -> Fraction | float:
        """Return x / scale, exactly; infinite below zero."""
        return x / self.scale if x >= 0 else math.inf

    @property
    def _log_at_zero(self) -> float:
        """The logarithm of 1 - a."""
        return self._log_one_minus_a()

    @property
    def variance(self) -> float:
        """The variance, a / (1 - a)^2."""
        return _ratio(self._rate)

    def _tail(self, x: int) -> float:
        """Return P(X > x) = a^(x + 1)."""
        return math.exp(-as_float((x + 1) / self.scale))

    def _farther(self, x: int) -> float:
        return self._tail(x)

    def _one(self, source: Source) -> int:
        return count(source, self.scale.numerator, self.scale.denominator)

    def _candidates(self, source: Source, candidates: int) -> NDArray[Any]:
        return count_candidates(source, self.scale.numerator, self.scale.denominator, candidates)


@storable("noise.DiscreteLaplace")
@dataclass(frozen=True, init=False)
class DiscreteLaplace(_Scaled):
    """The discrete Laplace law on all integers, also called the two-sided geometric.

    Guarantee: P(x) = (1 - a)/(1 + a) a^|x|, with a = e^{-1/scale}; draws are exact.
    Proof: docs/proofs/noise.md (3).

    Args:
        scale: an integer or `Fraction` above zero; floats are refused.

    Raises:
        ArgumentError: the scale is not an integer or a `Fraction` above zero.

    Reference: Canonne, Kamath and Steinke (2020), Algorithm 2. A single draw uses that algorithm.
    Array draws invert a 64-bit word for V and use a float filter for the coin of U, both with exact
    fallbacks.
    """

    @cached_property
    def pieces(self) -> Pieces:
        """The pieces: the log-probability falls by 1/scale per integer, on both sides of 0."""
        return Pieces("line", 1 / self.scale)

    def _exponent(self, x: int) -> Fraction:
        """Return |x| / scale, exactly."""
        return abs(x) / self.scale

    @property
    def _log_at_zero(self) -> float:
        """The logarithm of tanh(1 / (2 scale)), as two terms of one sign, so nothing cancels."""
        return self._log_one_minus_a() - math.log1p(math.exp(-self._rate))

    @property
    def variance(self) -> float:
        """The variance, 2a / (1 - a)^2 = 1 / (2 sinh^2(1 / (2 scale)))."""
        return 2.0 * _ratio(self._rate)

    def _tail(self, x: int) -> float:
        """Return P(X > x) = a^(x + 1) / (1 + a)."""
        return math.exp(-as_float((x + 1) / self.scale)) / (1.0 + math.exp(-self._rate))

    def _one(self, source: Source) -> int:
        while True:
            size = count(source, self.scale.numerator, self.scale.denominator)
            negative = source.bits(1)
            if size or not negative:  # reject -0, otherwise zero would be twice as likely
                return -size if negative else size

    def _candidates(self, source: Source, candidates: int) -> NDArray[Any]:
        sizes = count_candidates(source, self.scale.numerator, self.scale.denominator, candidates)
        octets = np.frombuffer(source.bytes((len(sizes) + 7) // 8), dtype=np.uint8)
        negative = np.unpackbits(octets, count=len(sizes)).view(np.bool_)
        # As in `_one`: zero with a negative sign is rejected.
        signed: NDArray[Any] = np.where(negative, -sizes, sizes)
        kept: NDArray[Any] = signed[~negative | (sizes != 0)]
        return kept


@storable("noise.PointMass")
@dataclass(frozen=True)
class PointMass(Law):
    """No noise: the value is always 0, for a release in which every record is public.

    Guarantee: P(0) = 1; no entropy is used.
    """

    @property
    def pieces(self) -> Pieces:
        """The pieces: the only possible value is 0."""
        return POINT

    def _exponent(self, x: int) -> Fraction | float:
        """Return 0 for zero, and infinity otherwise."""
        return Fraction(0) if x == 0 else math.inf

    @property
    def _log_at_zero(self) -> float:
        """0, because 0 is certain."""
        return 0.0

    @property
    def variance(self) -> float:
        """The variance, 0."""
        return 0.0

    def _tail(self, x: int) -> float:  # noqa: ARG002
        """Return P(X > x), which is 0."""
        return 0.0

    def _one(self, source: Source) -> int:  # noqa: ARG002
        return 0

    def _many(self, source: Source, size: int) -> NDArray[Any]:  # noqa: ARG002
        return np.zeros(size, dtype=np.int64)


def as_float(number: Fraction | float) -> float:
    """Return the nearest float, or infinity on overflow."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _ratio(rate: float) -> float:
    """Return a / (1 - a)^2 for a = e^{-rate}, or infinity on overflow."""
    if rate == 0.0:
        return math.inf
    inverse = 1.0 / -math.expm1(-rate)
    return math.exp(-rate) * inverse * inverse
