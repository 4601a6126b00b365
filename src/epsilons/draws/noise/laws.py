"""Laws of one number: what every law states and does, and those with geometric tails."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise.exact import WIDEST, batch, count, count_candidates
from epsilons.draws.noise.source import Source, integer, natural, positive_rational, resolve
from epsilons.errors import ArgumentError
from epsilons.frozen import storable

# What a law declares of itself: where it is flat, where it falls, and by how much.


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


# How far noise goes: the least distance that it exceeds seldom enough.


def least_beyond(beyond: Callable[[int], float], beta: float) -> int:
    """Return the least distance of at least 0 that is exceeded with probability beta at most.

    Args:
        beyond: the probability of more than a distance, which falls to 0.
        beta: above 0 and below 1.

    Raises:
        ArgumentError: `beta` is not such a number.
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


# What every law of noise can tell and do.


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


# The laws with geometric tails: discrete Laplace, its one-sided half, and no noise at all.


@dataclass(frozen=True, init=False)
class _Scaled(Law):
    """A law whose probabilities fall by a = e^{-1/scale} from each integer to the next."""

    scale: Fraction

    def __init__(self, scale: Fraction | int) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", scale))

    @property
    def _rate(self) -> float:
        """1/scale as a float, which may be 0 or infinite."""
        return as_float(1 / self.scale)

    def _log_one_minus_a(self) -> float:
        """Return log(1 - a) to full precision, for any scale."""
        rate = self._rate
        if rate > 0.5:
            return math.log1p(-math.exp(-rate))
        if rate > 1e-290:
            return math.log(-math.expm1(-rate))
        # 1 - a is 1/scale to more digits than a float has, and may be too small for one.
        return math.log(self.scale.denominator) - math.log(self.scale.numerator)

    def _many(self, source: Source, size: int) -> NDArray[Any]:
        if self.scale.numerator > WIDEST:
            draws = np.empty(size, dtype=object)
            draws[:] = [self._one(source) for _ in range(size)]
            return draws
        parts: list[NDArray[Any]] = [np.empty(0, dtype=np.int64)]
        missing = size
        while missing > 0:
            part = self._candidates(source, batch(missing))[:missing]
            parts.append(part)
            missing -= len(part)
        # One part of Python integers makes the whole array one: nothing is cast down.
        return np.concatenate(parts)

    @abstractmethod
    def _candidates(self, source: Source, candidates: int) -> NDArray[Any]:
        """Draw as many as some candidates give."""


@storable("noise.Geometric")
@dataclass(frozen=True, init=False)
class Geometric(_Scaled):
    """The geometric law on 0, 1, 2, ...

    Guarantee: P(x) = (1 - a) a^x for x >= 0, with a = e^{-1/scale}; draws are exact.

    Args:
        scale: an integer or `Fraction` above zero; floats are refused.

    Raises:
        ArgumentError: the scale is not such a number.

    Reference: Canonne, Kamath and Steinke (2020), Algorithm 2, before its sign is drawn.
    """

    @property
    def pieces(self) -> Pieces:
        """The law falls by 1/scale from each integer to the next, and cannot be below 0."""
        return Pieces("half-line", 1 / self.scale)

    def exponent(self, x: int) -> Fraction | float:
        """Return log pmf(0) - log pmf(x) = x / scale, exactly; infinite below zero.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        x = integer("x", x)
        return x / self.scale if x >= 0 else math.inf

    def log_pmf(self, x: int) -> float:
        """Return the natural logarithm of the probability of `x`.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        return self._log_one_minus_a() - as_float(self.exponent(x))

    @property
    def variance(self) -> float:
        """The variance, a / (1 - a)^2."""
        return _ratio(self._rate)

    def tail(self, x: int) -> float:
        """Return the probability of more than `x`, a^(x + 1).

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not such a number.
        """
        return math.exp(-as_float((natural("x", x) + 1) / self.scale))

    def _farther(self, x: int) -> float:
        return self.tail(x)

    def _one(self, source: Source) -> int:
        return count(source, self.scale.numerator, self.scale.denominator)

    def _candidates(self, source: Source, candidates: int) -> NDArray[Any]:
        return count_candidates(source, self.scale.numerator, self.scale.denominator, candidates)


@storable("noise.DiscreteLaplace")
@dataclass(frozen=True, init=False)
class DiscreteLaplace(_Scaled):
    """The discrete Laplace law on all integers, also called the two-sided geometric.

    Guarantee: P(x) = (1 - a)/(1 + a) a^|x|, with a = e^{-1/scale}; draws are exact.

    Args:
        scale: an integer or `Fraction` above zero; floats are refused.

    Raises:
        ArgumentError: the scale is not such a number.

    Reference: Canonne, Kamath and Steinke (2020), Algorithm 2. One draw is that algorithm; many
    at once invert a 64-bit word for V and filter the coin of U, both with exact fallbacks.
    """

    @cached_property
    def pieces(self) -> Pieces:
        """The law falls by 1/scale from each integer to the next, on both sides of 0."""
        return Pieces("line", 1 / self.scale)

    def exponent(self, x: int) -> Fraction:
        """Return log pmf(0) - log pmf(x) = |x| / scale, exactly.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        return abs(integer("x", x)) / self.scale

    def log_pmf(self, x: int) -> float:
        """Return the natural logarithm of the probability of `x`.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        # log tanh(1 / (2 scale)) in two terms of one sign, so that nothing cancels.
        at_zero = self._log_one_minus_a() - math.log1p(math.exp(-self._rate))
        return at_zero - as_float(self.exponent(x))

    @property
    def variance(self) -> float:
        """The variance, 2a / (1 - a)^2 = 1 / (2 sinh^2(1 / (2 scale)))."""
        return 2.0 * _ratio(self._rate)

    def tail(self, x: int) -> float:
        """Return the probability of more than `x`, a^(x + 1) / (1 + a).

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not such a number.
        """
        beyond = math.exp(-as_float((natural("x", x) + 1) / self.scale))
        return beyond / (1.0 + math.exp(-self._rate))

    def _one(self, source: Source) -> int:
        while True:
            size = count(source, self.scale.numerator, self.scale.denominator)
            negative = source.bits(1)
            if size or not negative:  # else zero would have two signs, and be drawn twice as often
                return -size if negative else size

    def _candidates(self, source: Source, candidates: int) -> NDArray[Any]:
        sizes = count_candidates(source, self.scale.numerator, self.scale.denominator, candidates)
        octets = np.frombuffer(source.bytes((len(sizes) + 7) // 8), dtype=np.uint8)
        negative = np.unpackbits(octets, count=len(sizes)).view(np.bool_)
        # As in `_one`: zero is kept with one sign only.
        signed: NDArray[Any] = np.where(negative, -sizes, sizes)
        kept: NDArray[Any] = signed[~negative | (sizes != 0)]
        return kept


@storable("noise.PointMass")
@dataclass(frozen=True)
class PointMass(Law):
    """No noise: always 0. For a release in which everybody is public.

    Guarantee: P(0) = 1; no entropy is used.
    """

    @property
    def pieces(self) -> Pieces:
        """Only 0 can occur."""
        return POINT

    def exponent(self, x: int) -> Fraction | float:
        """Return 0 for zero, and infinity for all else.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        return Fraction(0) if integer("x", x) == 0 else math.inf

    def log_pmf(self, x: int) -> float:
        """Return 0 for zero, and minus infinity for all else.

        Args:
            x: an integer.

        Raises:
            ArgumentError: `x` is not an integer.
        """
        return 0.0 if integer("x", x) == 0 else -math.inf

    @property
    def variance(self) -> float:
        """The variance, 0."""
        return 0.0

    def tail(self, x: int) -> float:
        """Return the probability of more than `x`, 0.

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not such a number.
        """
        natural("x", x)
        return 0.0

    def _one(self, source: Source) -> int:  # noqa: ARG002
        return 0

    def _many(self, source: Source, size: int) -> NDArray[Any]:  # noqa: ARG002
        return np.zeros(size, dtype=np.int64)


def as_float(number: Fraction | float) -> float:
    """Return the nearest float, infinity if it is beyond them all."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _ratio(rate: float) -> float:
    """Return a / (1 - a)^2 for a = e^{-rate}, infinity if it is beyond all floats."""
    if rate == 0.0:
        return math.inf
    inverse = 1.0 / -math.expm1(-rate)
    return math.exp(-rate) * inverse * inverse
