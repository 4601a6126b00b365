"""The law of a closed table: noise in every cell that sums to zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from epsilons.errors import ArgumentError
from epsilons.frozen import storable
from epsilons.noise.arguments import integer, natural, positive_rational
from epsilons.noise.compositions import composition, compositions
from epsilons.noise.laplace import Geometric, as_float
from epsilons.noise.magnitude import LIMIT
from epsilons.noise.pieces import Pieces
from epsilons.noise.source import Source
from epsilons.noise.uniform import below, below_each, permutation, permutations
from epsilons.noise.vector import Tries, VectorLaw

FEW: Final = 6
"""So many cells can be drawn at any scale: at least one try in C(10, 5) = 252 is kept."""

TRIES: Final = 7
"""More cells are drawn if there are at most so many times the scale of them: then at least e^{-7},
one try in 1,097, is kept."""

HALF: Final = LIMIT / 2
"""What positive cells may sum to where int64 is used."""


@storable("noise.Closed")
@dataclass(frozen=True, init=False)
class Closed(VectorLaw):
    """Tables of integers that sum to zero, each the less likely the larger its entries are.

    Guarantee: P(z) is proportional to e^{-(|z_1| + ... + |z_k|) / scale} on all integer vectors of
    k = `cells` entries with the sum 0, and no other occurs; draws are exact. A shift by d with
    d_1 + ... + d_k = 0 changes log P by at most (|d_1| + ... + |d_k|) / scale. So `loss` is of what
    some cells lose and others gain, together: if that is odd, the sum cannot have stayed 0, and the
    loss is infinite.

    What all positive cells sum to is tried as a sum of k - 1 geometric variables, and how many
    cells are positive as a share of a random subset; coins of whole numbers keep a try with the
    ratio of its true probability and that one. Tables are of Python integers if the numerator of
    scale/2 is above 2**53 or a draw could reach 2**62.

    Args:
        scale: an integer or `Fraction` above zero.
        cells: how many entries, at least 2.

    Raises:
        ArgumentError: the scale or the number of cells is not such a number; or there are more than
            `FEW` cells, and more than `TRIES` times the scale: hardly any try would be kept.

    Reference: Hardt and Talwar (2010), On the geometry of differential privacy: the noise of the
    norm whose unit ball is all that one person can change. Proof: docs/proofs/closed.md.
    """

    scale: Fraction
    cells: int

    def __init__(self, scale: Fraction | int, cells: int) -> None:
        object.__setattr__(self, "scale", positive_rational("scale", scale))
        object.__setattr__(self, "cells", natural("cells", cells, 2))
        if self.cells > FEW and self.cells - 1 > TRIES * self.scale:
            raise ArgumentError(
                f"cells={self.cells} are too many for noise of so small a scale: at most {FEW}, or "
                f"{TRIES} times the scale and one."
            )

    @property
    def pieces(self) -> Pieces:
        """The law falls by 1/scale from each distance |z_1| + ... + |z_k| to the next."""
        return Pieces("closed", 1 / self.scale)

    def exponent(self, z: Sequence[int]) -> Fraction | float:
        """Return log pmf(0) - log pmf(z) = (|z_1| + ... + |z_k|) / scale; infinite off the plane.

        Args:
            z: an integer for each cell.

        Raises:
            ArgumentError: `z` is something else.
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
            ArgumentError: `z` is something else.
        """
        return (self.cells - 1) * self._log_p - self._log_ratios - as_float(self.exponent(z))

    @cached_property
    def variance(self) -> float:
        """The variance of a cell: (k - 1)/(k + 1) (x P_k(x)/P_{k-1}(x) - 1), x = coth(1/scale).

        P_k is the polynomial of Legendre; for large scales that is (k - 1)(2k - 1)/(k(k + 1))
        times scale^2.
        """
        p, k = self._p, self.cells
        if p == 0.0:
            return math.inf
        q2, v = 2.0 * self._q, float(self._excess[-1])
        # x = 1 + 2q/p and P_k/P_{k-1} = 1 + v/p: the ones cancel, and nothing else does.
        return (k - 1) / (k + 1) * ((q2 + v) * p + q2 * v) / p / p

    @property
    def covariance(self) -> float:
        """The covariance of two cells: what makes the variance of their sum over all cells 0."""
        return -self.variance / (self.cells - 1)

    @cached_property
    def acceptance(self) -> float:
        """The share of tries that a draw keeps: at least e^{-(cells - 1)/scale}."""
        n = np.arange(1.0, self.cells)
        return math.exp(self._log_ratios - float(np.log(2.0 * (2.0 * n - 1.0) / n).sum()))

    def tail(self, x: int) -> float:
        """Return the probability of more than `x` in one cell: exact, but for rounding of floats.

        Args:
            x: an integer of at least 0.

        Raises:
            ArgumentError: `x` is not such a number.
        """
        m, h = self.cells - 1, 2 / self.scale
        fall = as_float((natural("x", x) + 1) * h)
        if fall > 6.0 * m + 2000.0:
            return 0.0  # less than e^{-1000}
        step = as_float(h)
        per = self._p / step if step > 0.0 else 1.0
        n = np.arange(m)
        # log C(2m - 1 - n, m), and log(C(m + x, n) p^n) in terms that are not large.
        ways = np.concatenate([[0.0], np.cumsum(np.log((m + n[1:]) / n[1:]))])[::-1]
        beside = (as_float((m + x) * h) * per - n[:-1] * self._p) / n[1:]
        logs = ways + np.concatenate([[0.0], np.cumsum(np.log(beside))]) - (m - 1 - n) * step
        top = float(logs.max())
        return math.exp(top + math.log(np.exp(logs - top).sum()) - self._log_ratios - fall)

    @property
    def _tries(self) -> Tries:
        return Tries(self.cells, Geometric(self.scale / 2), self.cells - 1, HALF)

    def _kept(self, source: Source, r: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tables of those tries that are kept, `r` being what positive cells sum to."""
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
        # In the order of the tries: how long it takes to keep one says nothing, nor does its place.
        order = np.argsort(np.concatenate([good, np.array(zeros, dtype=np.int64)]), kind="stable")
        return np.concatenate([tables, np.zeros((len(zeros), k), dtype=np.int64)])[order]

    def _stays_empty(self, source: Source) -> bool:
        """Toss the coin of a try in which nothing is positive: C(2k - 2, k - 1) ways are one."""
        return below(source, math.comb(2 * self.cells - 2, self.cells - 1)) == 0

    def _slowly(self, source: Source, sizes: list[int]) -> NDArray[Any]:
        """Return the same, on Python integers of any size."""
        found = [table for r in sizes if (table := self._tried(source, r)) is not None]
        tables = np.empty((len(found), self.cells), dtype=object)
        for row, table in enumerate(found):
            tables[row] = table
        return tables

    def _tried(self, source: Source, r: int) -> list[int] | None:
        """Return one table whose positive cells sum to `r`; None if the try is not kept."""
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
        """The ratio e^{-2/scale} by which tables fall when one point moves to another cell."""
        return math.exp(-as_float(2 / self.scale))

    @cached_property
    def _p(self) -> float:
        """1 - e^{-2/scale} to full precision; 0 if that is below all floats."""
        return -math.expm1(-as_float(2 / self.scale))

    @cached_property
    def _log_p(self) -> float:
        if self._p > 1e-290:
            return math.log(self._p)
        return math.log(2 * self.scale.denominator) - math.log(self.scale.numerator)

    @cached_property
    def _excess(self) -> NDArray[np.float64]:
        """What P_n/P_{n-1} exceeds 1 by, times p, for n = 1, ..., cells: Legendre's recursion."""
        p, q2 = self._p, 2.0 * self._q
        found = np.empty(self.cells)
        excess = found[0] = q2
        for n in range(1, self.cells):
            kept = p * excess / (p + excess) if excess > 0.0 else 0.0
            excess = found[n] = ((2 * n + 1) * q2 + n * kept) / (n + 1)
        return found

    @cached_property
    def _log_ratios(self) -> float:
        """log(p^{k-1} Z), Z = P_{k-1}(coth(1/scale)) being what all e^{-|z|/scale} sum to."""
        return float(np.log(self._p + self._excess[:-1]).sum())
