"""Noise distributions of several numbers: tables of noise that sums to zero, and cube noise."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epsilons.draws.noise.exact import (
    LIMIT,
    below,
    below_each,
    composition,
    compositions,
    permutation,
    permutations,
)
from epsilons.draws.noise.laws import AnyLaw, Geometric, Pieces, as_float
from epsilons.draws.noise.source import Source, integer, natural, positive_rational
from epsilons.errors import ArgumentError
from epsilons.frozen import storable

# The interface of noise laws of several numbers, which are drawn by rejection sampling.

TOGETHER: Final = 1 << 16
"""The number of integers to draw in one batch."""


class Tries(NamedTuple):
    """The proposal distribution of a vector law: a sum of geometric variables.

    Attributes:
        entries: the number of entries of a vector.
        law: the distribution of the summands.
        width: the number of summands.
        fits: the largest sum for which int64 is used.
    """

    entries: int
    law: Geometric
    width: int
    fits: float


class VectorLaw(AnyLaw[tuple[int, ...]]):
    """A distribution on vectors of integers, and exact draws from it.

    A sum of geometric variables proposes the size of a vector. Coins accept or reject the size, and
    then a vector of that size is drawn.
    """

    @property
    @abstractmethod
    def acceptance(self) -> float:
        """The fraction of proposals that are accepted."""

    def _one(self, source: Source) -> tuple[int, ...]:
        one: list[int] = self._many(source, 1)[0].tolist()
        return tuple(one)

    def _many(self, source: Source, size: int) -> NDArray[Any]:
        entries, law, width, fits = self._tries
        parts: list[NDArray[Any]] = [np.empty((0, entries), dtype=np.int64)]
        most = max(TOGETHER // max(entries, width), 1)
        missing = size
        while missing > 0:
            # The number of proposals affects speed only: each is accepted or rejected
            # independently.
            tries = min(int(missing / self.acceptance) + 1, most)
            sizes = law.draw(source, tries * width).reshape(tries, width)
            # The relative error of this float sum is below 1e-6, so sums below `fits` fit int64.
            if sizes.dtype == object or sizes.sum(axis=1, dtype=np.float64).max() > fits:
                part = self._slowly(source, [sum(map(int, row)) for row in sizes.tolist()])
            else:
                part = self._kept(source, sizes.sum(axis=1))
            parts.append(part[:missing])
            missing -= len(parts[-1])
        # If one part has Python integers, so does the whole array, and no value is cast down.
        return np.concatenate(parts)

    @property
    @abstractmethod
    def _tries(self) -> Tries:
        """The proposal distribution."""

    @abstractmethod
    def _kept(self, source: Source, r: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the vectors of the accepted proposals; `r` contains the sizes of all proposals."""

    @abstractmethod
    def _slowly(self, source: Source, sizes: list[int]) -> NDArray[Any]:
        """Return the same as `_kept`, with Python integers of any size."""


# Closed tables: noise in every cell that sums to zero over all cells.

FEW: Final = 6
"""Up to this number of cells, any scale is allowed: at least 1 proposal in C(10, 5) = 252 is
accepted."""

TRIES: Final = 7
"""A table with more than `FEW` cells requires (cells - 1)/scale of at most this. Then at least a
fraction e^{-7} = 1/1,097 of the proposals is accepted."""

HALF: Final = LIMIT / 2
"""The largest sum of positive cells for which int64 is used."""


@storable("noise.Closed")
@dataclass(frozen=True, init=False)
class Closed(VectorLaw):
    """Tables of integers that sum to zero; the probability falls with the sum of absolute entries.

    Guarantee: P(z) is proportional to e^{-(|z_1| + ... + |z_k|) / scale} on all integer vectors of
    k = `cells` entries that sum to 0, and no other vector occurs; draws are exact. A shift by d
    with d_1 + ... + d_k = 0 changes log P by at most (|d_1| + ... + |d_k|) / scale. The argument of
    `loss` is |d_1| + ... + |d_k|. If it is odd, the sum cannot be 0 after the shift, and the loss
    is infinite.

    A sum of k - 1 geometric variables proposes the sum of the positive cells, and a random subset
    proposes the number of positive cells. Coins with rational probabilities accept a proposal with
    the ratio of its true probability to its proposal probability. Tables have Python integers if
    the numerator of scale/2 is above 2**53 or a draw could reach 2**62.

    Args:
        scale: an integer or `Fraction` above zero.
        cells: the number of entries, at least 2.

    Raises:
        ArgumentError: `scale` or `cells` is out of range, or there are more than `FEW` cells and
            nearly all proposals would be rejected (see `TRIES`).

    Reference: Hardt and Talwar (2010), On the geometry of differential privacy: noise of the norm
    whose unit ball is the set of all changes by one person.
    Proof: docs/proofs/closed.md (1), (3), (4), (5).
    """

    scale: Fraction
    cells: int

    def __init__(self, scale: Fraction | int, cells: int) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", scale))
        object.__setattr__(self, "cells", natural("cells", cells, 2))
        if self.cells > FEW and self.cells - 1 > TRIES * self.scale:
            raise ArgumentError(
                f"cells={self.cells} are too many for noise of so small a scale: at most {FEW}, or "
                f"1 + {TRIES} times the scale."
            )

    @property
    def pieces(self) -> Pieces:
        """The pieces: the log-probability falls by 1/scale per unit of |z_1| + ... + |z_k|."""
        return Pieces("closed", 1 / self.scale)

    def exponent(self, z: Sequence[int]) -> Fraction | float:
        """Return log pmf(0) - log pmf(z) = (|z_1| + ... + |z_k|) / scale; infinite if sum(z) != 0.

        Args:
            z: an integer for each cell.

        Raises:
            ArgumentError: `z` is not such a sequence.
        """
        numbers = [integer("z", each) for each in z]
        if len(numbers) != self.cells:
            raise ArgumentError(f"z must have {self.cells} numbers, one for each cell.")
        return sum(map(abs, numbers)) / self.scale if sum(numbers) == 0 else math.inf

    def log_pmf(self, z: Sequence[int]) -> float:
        """Return the natural logarithm of the probability of `z`.

        Args:
            z: an integer for each cell.

        Raises:
            ArgumentError: `z` is not such a sequence.
        """
        return (self.cells - 1) * self._log_p - self._log_ratios - as_float(self.exponent(z))

    @cached_property
    def variance(self) -> float:
        """The variance of a cell: (k - 1)/(k + 1) (x P_k(x)/P_{k-1}(x) - 1), x = coth(1/scale).

        P_k is the k-th Legendre polynomial. For large scales this is (k - 1)(2k - 1)/(k(k + 1))
        times scale^2.
        """
        p, k = self._p, self.cells
        if p == 0.0:
            return math.inf
        q2, v = 2.0 * self._q, float(self._excess[-1])
        # x = 1 + 2q/p and P_k/P_{k-1} = 1 + v/p. Only the ones cancel, and they cancel exactly.
        return (k - 1) / (k + 1) * ((q2 + v) * p + q2 * v) / p / p

    @property
    def covariance(self) -> float:
        """The covariance of two cells. All variances and covariances of cells sum to 0."""
        return -self.variance / (self.cells - 1)

    @cached_property
    def acceptance(self) -> float:
        """The fraction of proposals that are accepted: at least e^{-(cells - 1)/scale}."""
        n = np.arange(1.0, self.cells)
        return math.exp(self._log_ratios - float(np.log(2.0 * (2.0 * n - 1.0) / n).sum()))

    def _tail(self, x: int) -> float:
        """Return P(X > x) for one cell X, exact up to float rounding."""
        m, h = self.cells - 1, 2 / self.scale
        fall = as_float((x + 1) * h)
        if fall > 6.0 * m + 2000.0:
            return 0.0  # less than e^{-1000}
        step = as_float(h)
        per = self._p / step if step > 0.0 else 1.0
        n = np.arange(m)
        # log C(2m - 1 - n, m), and log(C(m + x, n) p^n) as a sum of terms of moderate size.
        ways = np.concatenate([[0.0], np.cumsum(np.log((m + n[1:]) / n[1:]))])[::-1]
        beside = (as_float((m + x) * h) * per - n[:-1] * self._p) / n[1:]
        logs = ways + np.concatenate([[0.0], np.cumsum(np.log(beside))]) - (m - 1 - n) * step
        top = float(logs.max())
        return math.exp(top + math.log(np.exp(logs - top).sum()) - self._log_ratios - fall)

    @property
    def _tries(self) -> Tries:
        return Tries(self.cells, Geometric(self.scale / 2), self.cells - 1, HALF)

    def _kept(self, source: Source, r: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tables of the accepted proposals; `r` are the sums of positive cells."""
        k, d = self.cells, self.cells - 1
        j = (permutations(source, len(r), 2 * d)[:, :d] < k).sum(axis=1)
        zeros = [i for i in np.flatnonzero(r == 0).tolist() if self._stays_empty(source)]
        tried = np.flatnonzero(r >= j)
        a = np.arange(1, k - 1)
        tossed = a < j[tried, np.newaxis]
        coins = (r[tried, np.newaxis] + k - 1 - j[tried, np.newaxis] + a)[tossed]
        heads = np.ones(tossed.shape, dtype=np.bool_)
        heads[tossed] = below_each(source, coins) < (r[tried, np.newaxis] - a)[tossed]
        good = tried[heads.all(axis=1)]
        r, j = r[good], j[good]
        tables = np.zeros((len(good), k), dtype=np.int64)
        up = compositions(source, r, j, k)
        down = compositions(source, r + k - j, k - j, k)
        place = np.arange(k) - j[:, np.newaxis]
        entries = np.where(place < 0, up, 1 - np.take_along_axis(down, np.maximum(place, 0), 1))
        np.put_along_axis(tables, permutations(source, len(good), k), entries, axis=1)
        # Keep the order of the proposals. Otherwise, taking only the first tables would favour some
        # tables.
        order = np.argsort(np.concatenate([good, np.array(zeros, dtype=np.int64)]), kind="stable")
        return np.concatenate([tables, np.zeros((len(zeros), k), dtype=np.int64)])[order]

    def _stays_empty(self, source: Source) -> bool:
        """Accept a proposal without positive cells, with probability 1 / C(2k - 2, k - 1)."""
        return below(source, math.comb(2 * self.cells - 2, self.cells - 1)) == 0

    def _slowly(self, source: Source, sizes: list[int]) -> NDArray[Any]:
        """Return the same as `_kept`, with Python integers of any size."""
        found = [table for r in sizes if (table := self._tried(source, r)) is not None]
        tables = np.empty((len(found), self.cells), dtype=object)
        for row, table in enumerate(found):
            tables[row] = table
        return tables

    def _tried(self, source: Source, r: int) -> list[int] | None:
        """Return a table with positive cells that sum to `r`, or None if it is rejected."""
        k, d = self.cells, self.cells - 1
        if r == 0:
            return [0] * k if self._stays_empty(source) else None
        j = int((permutation(source, 2 * d)[:d] < k).sum())
        if r < j or any(below(source, r + k - j - 1 + a) >= r - a for a in range(1, j)):
            return None
        entries = composition(source, r, j)
        entries += [1 - part for part in composition(source, r + k - j, k - j)]
        table = [0] * k
        for place, entry in zip(permutation(source, k).tolist(), entries, strict=True):
            table[place] = entry
        return table

    @cached_property
    def _q(self) -> float:
        """The ratio e^{-2/scale} of probabilities if one point moves to another cell."""
        return math.exp(-as_float(2 / self.scale))

    @cached_property
    def _p(self) -> float:
        """1 - e^{-2/scale} to full precision; 0 if it underflows."""
        return -math.expm1(-as_float(2 / self.scale))

    @cached_property
    def _log_p(self) -> float:
        if self._p > 1e-290:
            return math.log(self._p)
        return math.log(2 * self.scale.denominator) - math.log(self.scale.numerator)

    @cached_property
    def _excess(self) -> NDArray[np.float64]:
        """The numbers p (P_n/P_{n-1} - 1) for n = 1, ..., cells, by the recursion of Legendre."""
        p, q2 = self._p, 2.0 * self._q
        found = np.empty(self.cells)
        excess = found[0] = q2
        for n in range(1, self.cells):
            kept = p * excess / (p + excess) if excess > 0.0 else 0.0
            excess = found[n] = ((2 * n + 1) * q2 + n * kept) / (n + 1)
        found.flags.writeable = False
        return found

    @cached_property
    def _log_ratios(self) -> float:
        """log(p^{k-1} Z); Z = P_{k-1}(coth(1/scale)) is Σ e^{-|z|/scale} over all tables z."""
        return float(np.log(self._p + self._excess[:-1]).sum())


# Cube noise, for several sums: its probability falls with the largest entry.

FEW_SUMS: Final = 5
"""Up to this number of entries, any scale is allowed: at least 1 proposal in 2^5·5! = 3,840 is
accepted."""

CUBE_TRIES: Final = 14
"""A vector of more than `FEW_SUMS` entries requires dimension/scale of at most this. Then at least
a fraction e^{-7} = 1/1,097 of the proposals is accepted."""

QUARTER: Final = LIMIT / 4
"""Half the side length of the largest cube for which int64 is used."""


@storable("noise.Cube")
@dataclass(frozen=True, init=False)
class Cube(VectorLaw):
    """Vectors of integers with a probability that falls with the largest absolute entry.

    Guarantee: P(z) is proportional to e^{-max(|z_1|, ..., |z_d|) / scale} on all integer vectors of
    d = `dimension` entries; draws are exact. A shift by at most m in every entry changes log P by
    at most m / scale. The argument of `loss` is the largest shift of any entry.

    A sum of d + 1 geometric variables proposes half the side length of a cube. Coins with rational
    probabilities accept a proposal with the ratio of its true probability to its proposal
    probability. Then every entry is uniform within the cube. Vectors have Python integers if the
    numerator of the scale is above 2**53 or a draw could reach 2**60.

    Args:
        scale: an integer or `Fraction` above zero.
        dimension: the number of entries, at least 1. With one entry it is the discrete Laplace law.

    Raises:
        ArgumentError: `scale` or `dimension` is out of range, or `dimension` is above both
            `FEW_SUMS` and `CUBE_TRIES` times the scale, where nearly all proposals would be
            rejected.

    Reference: Hardt and Talwar (2010), On the geometry of differential privacy: noise of the norm
    whose unit ball is the set of all changes by one person.
    Proof: docs/proofs/cube.md (1), (2), (3), (4).
    """

    scale: Fraction
    dimension: int

    def __init__(self, scale: Fraction | int, dimension: int) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", scale))
        object.__setattr__(self, "dimension", natural("dimension", dimension, 1))
        if not can_be_drawn(self.scale, self.dimension):
            raise ArgumentError(
                f"dimension={self.dimension} is too large for noise of so small a scale: at most "
                f"{FEW_SUMS}, or {CUBE_TRIES} times the scale."
            )

    @property
    def pieces(self) -> Pieces:
        """The pieces: the log-probability falls by 1/scale from each cube around 0 to the next."""
        return Pieces("cube", 1 / self.scale)

    def exponent(self, z: Sequence[int]) -> Fraction:
        """Return log pmf(0) - log pmf(z) = max(|z_1|, ..., |z_d|) / scale, exactly.

        Args:
            z: an integer for each entry.

        Raises:
            ArgumentError: `z` is not such a sequence.
        """
        numbers = [integer("z", each) for each in z]
        if len(numbers) != self.dimension:
            raise ArgumentError(f"z must have {self.dimension} numbers.")
        return max(map(abs, numbers)) / self.scale

    def log_pmf(self, z: Sequence[int]) -> float:
        """Return the natural logarithm of the probability of `z`.

        Args:
            z: an integer for each entry.

        Raises:
            ArgumentError: `z` is not such a sequence.
        """
        return self.dimension * self._log_p - self._log_whole - as_float(self.exponent(z))

    @cached_property
    def variance(self) -> float:
        """The variance of an entry; for large scales it is about (d + 1)(d + 2)/3 times scale^2."""
        if self._p == 0.0:
            return math.inf
        # The variance is E[R(R + 1)]/3, where R is half the side length. Start from
        # Σ R(R + 1) a^R = 2a/(1 - a)^3 and multiply the terms by 2R + 1, d times.
        above = _powers(self._a, [0.0, 2.0], 3, self.dimension)[-1]
        return above / math.exp(self._log_kept) / 3.0 / self._p / self._p

    @property
    def acceptance(self) -> float:
        """The fraction of proposals that are accepted: at least e^{-dimension/(2 scale)}."""
        return math.exp(self._log_kept)

    def _tail(self, x: int) -> float:
        """Return P(X > x) for one entry X, exact up to float rounding.

        The sum over R = x + t of t (2x + 2t + 1)^(d - 1) a^R is expanded in powers of 2xp, where
        p = 1 - a. The other powers of p, in `_coefficients` and in `_log_whole`, cancel.
        """
        fall = as_float(x / self.scale)
        if fall > 6.0 * self.dimension + 2000.0:
            return 0.0  # less than e^{-1000}
        step = as_float(1 / self.scale)
        # 2xp, computed without overflow of x and without underflow of p.
        far = 2.0 * fall * (self._p / step if step > 0.0 else 1.0)
        power_of = np.arange(self.dimension - 1.0, -1.0, -1.0)
        with np.errstate(divide="ignore"):
            beside = np.where(power_of > 0.0, power_of * np.log(far) if far > 0.0 else -np.inf, 0.0)
        terms = beside + self._coefficients
        top = float(terms.max())
        if top == -math.inf:
            return 0.0
        return math.exp(top + math.log(np.exp(terms - top).sum()) - self._log_whole - fall)

    @property
    def _tries(self) -> Tries:
        return Tries(self.dimension, Geometric(self.scale), self.dimension + 1, QUARTER)

    def _kept(self, source: Source, r: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the vectors of the accepted proposals; `r` contains half the side lengths."""
        side = 2 * r[:, np.newaxis] + 1
        coins = side + 2 * np.arange(1, self.dimension + 1) - 1
        heads = below_each(source, coins.ravel()).reshape(coins.shape) < side
        good = r[heads.all(axis=1)]
        sides = np.repeat(2 * good + 1, self.dimension)
        drawn = below_each(source, sides).reshape(len(good), self.dimension)
        return np.asarray(drawn - good[:, np.newaxis])

    def _slowly(self, source: Source, sizes: list[int]) -> NDArray[Any]:
        """Return the same as `_kept`, with Python integers of any size."""
        d = self.dimension
        kept = [
            r
            for r in sizes
            if all(below(source, 2 * r + 2 * i) < 2 * r + 1 for i in range(1, d + 1))
        ]
        vectors = np.empty((len(kept), d), dtype=object)
        for row, r in enumerate(kept):
            vectors[row] = [below(source, 2 * r + 1) - r for _ in range(d)]
        return vectors

    @cached_property
    def _a(self) -> float:
        """The factor e^{-1/scale} by which the probability falls from each cube to the next."""
        return math.exp(-as_float(1 / self.scale))

    @cached_property
    def _p(self) -> float:
        """1 - e^{-1/scale} to full precision; 0 if it underflows."""
        return -math.expm1(-as_float(1 / self.scale))

    @cached_property
    def _log_p(self) -> float:
        if self._p > 1e-290:
            return math.log(self._p)
        return math.log(self.scale.denominator) - math.log(self.scale.numerator)

    @cached_property
    def _log_kept(self) -> float:
        """The log of (1 - a)^(d + 1) Σ_R (2R + 1)^d a^R / (2^d d!)."""
        return math.log(_powers(self._a, [1.0], 1, self.dimension)[-1])

    @cached_property
    def _log_whole(self) -> float:
        """The log of (1 - a)^(d + 1) Σ_R (2R + 1)^d a^R."""
        return math.lgamma(self.dimension + 1) + self.dimension * math.log(2.0) + self._log_kept

    @cached_property
    def _coefficients(self) -> NDArray[np.float64]:
        """The logs of C(d - 1, j) (1 - a)^(j + 2) Σ_t t (2t + 1)^j a^t, for j below d."""
        j = np.arange(self.dimension)
        sums = _powers(self._a, [0.0, 1.0], 2, self.dimension - 1)
        factorials = np.array([math.lgamma(each + 1.0) for each in j.tolist()])
        with np.errstate(divide="ignore"):
            logs = np.log(sums) + j * math.log(2.0) + factorials
        ways = np.cumsum(np.log((self.dimension - j) / np.maximum(j, 1.0)))
        return np.asarray(ways - ways[0] + logs)


def can_be_drawn(scale: Fraction, dimension: int) -> bool:
    """Whether the acceptance rate is sufficient for this scale and number of entries."""
    return dimension <= FEW_SUMS or dimension <= CUBE_TRIES * scale


def _powers(a: float, start: list[float], order: int, times: int) -> list[float]:
    """Return (1 - a)^(order + n) Σ_R f(R) (2R + 1)^n a^R, divided by 2^n n!, for n = 0, ..., times.

    Let Σ f(R) x^R be a polynomial with coefficients c_k, divided by (1 - x)^m. Then the sum with
    f(R) (2R + 1) in place of f(R) is a polynomial divided by (1 - x)^(m + 1). Its coefficients are
    (2k + 1) c_k + (2m - 2k + 1) c_(k - 1), so all coefficients stay positive.

    Args:
        a: a number of at most 1; for 1, the result is the limit.
        start: the coefficients of the polynomial of f.
        order: the exponent m of f.
        times: the largest number of factors 2R + 1.
    """
    found = []
    c = np.array(start)
    for n in range(times + 1):
        if n:
            k, m = np.arange(len(c) + 1.0), order + n - 1
            wide = np.append(c, 0.0)
            below_it = np.concatenate([[0.0], c])
            c = ((2.0 * k + 1.0) * wide + (2.0 * m - 2.0 * k + 1.0) * below_it) / (2.0 * n)
        found.append(float(c @ np.power(a, np.arange(len(c)))))
    return found
