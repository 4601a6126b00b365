"""Laws of noise in one direction: tails that are bounds, and tails together with a normal sum.

A form adds up numbers that were drawn, each times a coefficient. Numbers with the same coefficient
are one kind, and those with coefficient 0 are the rest. Units are those of ε, where noise of one
number has scale 1. Proof: docs/proofs/next/laws.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from epsilons_next.inference.sampling import hoeffding, normal_tail

__all__ = ["Law"]

Floats = NDArray[np.float64]

POINTS: Final = np.geomspace(0.05, 60.0, 60)
"""Points to which noise is moved up, where it is added to a sum that is bounded."""

LARGE: Final = 512
"""From so many numbers on, that the rest closes the sum is left out, which makes tails larger."""

EDGES: Final = 801
"""Edges of the grid of one kind, on both sides of 0."""

SAMPLE: Final = 2048
"""Points over which normal mixtures are averaged."""


@dataclass(frozen=True)
class Law:
    """The law of a form of noise.

    Args:
        counts: how many numbers there are of each kind.
        rest: how many others were drawn; only if all together sum to zero.
        closed: whether they do. Then each is one of independent ones of scale 2, given their sum.
        scale: of each number, before coefficients; closed noise has twice as much.
    """

    counts: tuple[int, ...]
    rest: int
    closed: bool
    scale: float = 1.0

    def tail(self, coefficients: Floats, x: Floats) -> Floats:
        """Bound P(noise > x), for each row of coefficients.

        Args:
            coefficients: one for each kind.
            x: how far out; below 0 the bound is 1.
        """
        counts, rest, rows = self._felt(coefficients)
        return np.where(x < 0.0, 1.0, _tail(counts, rest, rows, np.maximum(x, 0.0)))

    def mixed(self, coefficients: Floats, x: Floats, variance: Floats) -> Floats:
        """Return P(S + noise > x) for a normal S of this variance, for each row of coefficients.

        Laplace noise is normal noise whose variance is exponential. So the form is normal, given
        the sum of these variances of each kind; closing the sum takes away what all share.
        """
        counts, rest, rows = self._felt(coefficients)
        sizes, masses = _mixture(counts, rest)
        squares = rows**2 @ sizes[: len(counts)]
        if rest:
            shared = (rows @ sizes[: len(counts)]) ** 2
            squares = np.maximum(squares - shared / sizes.sum(axis=0), 0.0)
        deviation = np.sqrt(np.maximum(variance[:, None] + 2.0 * squares, 1e-300))
        result: Floats = normal_tail(x[:, None] / deviation) @ masses
        return result

    def bounded(self, coefficients: Floats, x: Floats, square: Floats) -> Floats:
        """Bound P(S + noise > x) for a sum S of chance whose terms have ranges with this square.

        Noise is moved up to the next of some points, and Hoeffding's inequality bounds S.
        """
        size = self.scale * np.abs(coefficients).max(axis=1)
        points = np.concatenate([-POINTS[::-1], [0.0], POINTS])
        upper = [self.tail(coefficients, point * size) for point in POINTS]
        beyond = [1.0 - each for each in upper[::-1]] + [np.full_like(x, 0.5)] + upper
        result = np.zeros_like(x)
        for at, after, point in zip([np.ones_like(x), *beyond[:-1]], beyond, points, strict=True):
            result += np.maximum(at - after, 0.0) * hoeffding(x - point * size, square)
        return result + beyond[-1]

    def deviation(self, coefficients: Floats) -> Floats:
        """Return one standard deviation of the noise of each row of coefficients."""
        k, counts = self.rest + sum(self.counts), np.array(self.counts)
        squares: Floats = coefficients**2 @ counts
        if not self.closed:
            return self.scale * np.sqrt(2.0 * squares)
        # Of what is left of a coefficient without its mean.
        each: float = 4.0 * (2 * k - 1) / (k + 1.0)
        left: Floats = np.maximum(squares - (coefficients @ counts) ** 2 / k, 0.0)
        return self.scale * np.sqrt(each * left)

    def _felt(self, coefficients: Floats) -> tuple[tuple[int, ...], int, Floats]:
        """Kinds with a coefficient, how many others close the sum, and coefficients of scale 1."""
        felt = np.flatnonzero(coefficients.any(axis=0))
        felt = felt if len(felt) else np.zeros(1, np.int64)
        counts = tuple(self.counts[kind] for kind in felt)
        others = self.rest + sum(self.counts) - sum(counts)
        unit = self.scale * (2.0 if self.closed else 1.0)
        return (
            counts,
            others if self.closed and others <= LARGE else 0,
            coefficients[:, felt] * unit,
        )


def _tail(counts: tuple[int, ...], rest: int, coefficients: Floats, x: Floats) -> Floats:
    """Bound the tail of one, two or three kinds: independent numbers of scale 1, or closed ones."""
    if len(counts) == 1:
        edges, tails = _one(counts[0], rest)
        at = np.searchsorted(
            edges, x / np.maximum(np.abs(coefficients[:, 0]), 1e-300), side="right"
        )
        return tails[np.maximum(at - 1, 0)]
    if len(counts) == 2:
        return _two(counts, rest, coefficients, x)
    # The quantile of a symmetric log-concave law is convex in the coefficients. A middle one that
    # is the mean of the others is half way between being the first and being the last.
    first, middle, last = counts
    outer = coefficients[:, [0, 2]]
    return np.maximum(
        _two((first + middle, last), rest, outer, x), _two((first, middle + last), rest, outer, x)
    )


def _density(x: Floats, terms: int) -> Floats:
    """The density at x ≥ 0 of a sum of Laplace variables; of none: 1, for no condition."""
    if terms == 0:
        return np.ones_like(x)
    before, now = np.zeros_like(x), 0.5 * np.exp(-x)
    for j in range(1, terms):
        if j == 1:
            before, now = now, 0.5 * (1.0 + x) * now
        else:
            before, now = now, x * x * before / (4.0 * j * (j - 1)) + (j - 0.5) / j * now
    return now


def _edges(terms: int, number: int) -> Floats:
    """Edges from 0 on, dense near 0, which reach beyond every tail that is asked for."""
    edges: Floats = np.sinh(np.linspace(0.0, 6.0, number))
    return edges * float((60.0 + 12.0 * math.sqrt(terms)) / edges[-1])


@lru_cache(maxsize=64)
def _one(terms: int, rest: int) -> tuple[Floats, Floats]:
    """Edges, and the probability beyond each, of a sum of numbers; with a rest, all sum to zero."""
    edges = _edges(terms, 4097)
    middle = (edges[1:] + edges[:-1]) / 2.0
    mass = np.diff(edges) * _density(middle, terms) * _density(middle, rest)
    beyond = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    return edges, 0.5 * beyond / beyond[0]


@lru_cache(maxsize=32)
def _joint(terms: int, others: int, rest: int) -> tuple[Floats, Floats, float]:
    """Two such sums: edges, for each bin of the first the mass beyond each edge of the second."""
    half = _edges(max(terms, others), EDGES // 2 + 1)
    edges = np.concatenate([-half[:0:-1], half])
    middle, width = (edges[1:] + edges[:-1]) / 2.0, np.diff(edges)
    mass = np.outer(
        _density(np.abs(middle), terms) * width, _density(np.abs(middle), others) * width
    )
    mass *= _density(np.abs(np.add.outer(middle, middle)), rest)
    beyond = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1] / mass.sum()
    return edges, np.pad(beyond, ((0, 0), (0, 1))), float(half[-1])


def _two(counts: tuple[int, ...], rest: int, coefficients: Floats, x: Floats) -> Floats:
    """Bound the tail of two kinds: each bin of the first has its worse edge."""
    edges, beyond, last = _joint(counts[0], counts[1], rest)
    # The law is symmetric, so the second coefficient may be taken as positive.
    flipped = np.where(coefficients[:, 1:] < 0.0, -coefficients, coefficients)
    first, second = flipped[:, :1], np.maximum(flipped[:, 1:], 1e-300)
    worse = np.where(first > 0.0, edges[1:], edges[:-1])
    needed = np.clip((x[:, None] - first * worse) / second, -last, last)
    at = np.searchsorted(edges, needed.ravel(), side="right").reshape(needed.shape) - 1
    result: Floats = beyond[np.arange(beyond.shape[0]), at].sum(axis=1)
    return np.minimum(result, 1.0)


@lru_cache(maxsize=64)
def _mixture(counts: tuple[int, ...], rest: int) -> tuple[Floats, Floats]:
    """Points and masses of the summed exponential variances of each kind, and of the rest.

    Points are a lattice of low discrepancy. Given that all sum to zero, a point counts in
    proportion to the density of the sum there.
    """
    kinds = [*counts, *([rest] if rest else [])]
    root = 2.0
    for _ in range(30):  # the positive root of r^(d+1) = r + 1
        root = (1.0 + root) ** (1.0 / (len(kinds) + 1))
    steps = root ** -np.arange(1.0, len(kinds) + 1.0)
    uniform = (0.5 + np.outer(steps, np.arange(SAMPLE))) % 1.0
    sizes = np.stack([_gamma(kind, row) for kind, row in zip(kinds, uniform, strict=True)])
    masses = sizes.sum(axis=0) ** -0.5 if rest else np.ones(SAMPLE)
    return sizes, masses / masses.sum()


def _gamma(shape: int, probability: Floats) -> Floats:
    """Quantiles of a sum of exponential variables."""
    reach = 12.0 * math.sqrt(shape)
    x = np.linspace(max(shape - reach, 0.0), shape + reach + 30.0, 1 << 14)
    logs = (shape - 1) * np.log(np.maximum(x, 1e-300)) - x
    mass = np.cumsum(np.exp(logs - logs.max()))
    result: Floats = np.interp(probability, (mass - mass[0]) / (mass[-1] - mass[0]), x)
    return result
