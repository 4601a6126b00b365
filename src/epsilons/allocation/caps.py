"""Caps: the one number τ behind every optimal rule, e_i = min(ε_i, τ), by a sort and a scan.

Two shapes of risk occur. One grows in Σw² and in the scale of the noise, the other in ½Σ|w − 1/n|
and in that scale. Both are smallest at a cap (docs/proofs/allocation.md), and along caps both have
a derivative that changes its sign once, so prefix sums and one search find it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np

from epsilons.budgets import Budgets, dot
from epsilons.types import Floats, Integers

_LARGEST = 1e100
"""Budgets (or scales) above this are treated as this when a cap is sought: their squares would
overflow, and no error that anyone could tell depends on them."""

Slope: TypeAlias = Callable[[float, float, float], float]
"""(bias, sum of the budgets below the cap, scale) → derivative of the risk in the scale."""


def capped(budgets: Budgets, cap: float) -> Floats:
    """The effective budgets min(ε, cap)."""
    return np.minimum(budgets.levels, cap)


class Prefix:
    """Sums over the levels below a point, for the levels strictly between 0 and ∞.

    Args:
        budgets: the levels, ascending, with counts.
    """

    def __init__(self, budgets: Budgets) -> None:
        start = int(budgets.levels[0] == 0.0)
        stop = len(budgets) - int(math.isinf(budgets.levels[-1]))
        levels = budgets.levels[start:stop]
        if len(levels) and levels[-1] > _LARGEST:
            levels = np.minimum(levels, _LARGEST)
        self.n = budgets.n
        self.levels = levels
        self.unused = int(budgets.counts[0]) if start else 0
        self.public = int(budgets.counts[-1]) if stop < len(budgets) else 0
        self._counts = budgets.counts[start:stop]
        self._alone = len(levels) == self.n - self.unused - self.public

    def __len__(self) -> int:
        return len(self.levels)

    @cached_property
    def _people(self) -> Integers:
        return np.cumsum(self._counts)

    @cached_property
    def _sums(self) -> Floats:
        return np.cumsum(self.levels if self._alone else self._counts * self.levels)

    @cached_property
    def _gaps(self) -> Floats:
        gaps = np.diff(self.levels)
        gaps *= self._sums[:-1]
        return np.cumsum(gaps, out=gaps)

    def people(self, before: int) -> int:
        """How many people are in the first `before` levels, or at ε = 0."""
        if before == 0 or self._alone:
            return self.unused + before
        return self.unused + int(self._people[before - 1])

    def sum(self, before: int) -> float:
        """Σε over the first `before` levels."""
        return float(self._sums[before - 1]) if before else 0.0

    def square(self, before: int) -> float:
        """Σε² over the first `before` levels."""
        levels = self.levels[:before]
        if self._alone:
            return dot(levels, levels)
        return dot(self._counts[:before], levels * levels)

    def gap(self, k: int) -> float:
        """Σ ε·(ε_k − ε) over the levels before k: only sums of what is not negative."""
        return float(self._gaps[k - 1]) if k else 0.0


def square_cap(budgets: Budgets, noise_per_square: float) -> float:
    """The cap that minimises Σw² + c·scale² over all weights on the simplex.

    For budgets capped at τ this is (Σmin(ε,τ)² + c)/(Σmin(ε,τ))². Its derivative has the sign of
    τ·A − B − c = Σ ε·(τ − ε) − c, over those below τ (A and B are the sums of their ε and ε²), and
    that grows with τ.

    Args:
        budgets: the levels, ascending, with counts.
        noise_per_square: c.

    Returns:
        τ in (0, ∞]: ∞ if only public people should be used.

    Reference:
        Paper *limits* Claim 1; paper *correlated* (154)-(155), with the saturated values.
    """
    prefix = Prefix(budgets)

    first = _first(len(prefix), lambda k: prefix.gap(k) >= noise_per_square)
    if first == len(prefix) and len(prefix) and not prefix.public:
        return float(prefix.levels[-1])
    total = prefix.sum(first)
    # Budgets that sum to nothing that a float can hold leave the public people alone.
    return (prefix.square(first) + noise_per_square) / total if total > 0.0 else math.inf


def bias_scale(budgets: Budgets, slope: Slope, *, simplex: bool) -> float:
    """The scale t that minimises a convex risk of the bias Σ(1/n − t·ε_i)₊ and of t.

    For a given scale the weights w_i ≤ t·ε_i nearest to 1/n have this bias (half of it where the
    weights need not sum to one), a convex, piecewise linear function with kinks at t = 1/(n·ε).

    Args:
        budgets: the levels, ascending, with counts.
        slope: the derivative of the risk in t; see `Slope`. It must grow with t.
        simplex: whether the weights sum to one, which asks for t ≥ 1/Σε.

    Returns:
        t ≥ 0; zero if only public people should be used.
    """
    prefix = Prefix(budgets)
    size, n = len(prefix), prefix.n
    if size == 0:
        return 0.0

    def kink(k: int) -> float:
        return min(1.0 / (n * float(prefix.levels[k])), _LARGEST)

    def slope_at(scale: float, below: int) -> float:
        """The derivative where the first `below` levels lie below the cap."""
        total = prefix.sum(below)
        return slope(prefix.people(below) / n - scale * total, total, scale)

    # Kinks fall as budgets grow; at kink k the levels before k lie below the cap.
    piece = _first(size, lambda k: slope_at(kink(k), k) <= 0.0)
    low = kink(piece) if piece < size else 0.0
    total = prefix.sum(piece)
    floor = 0.0 if not simplex or prefix.public else min(1.0 / prefix.sum(size), _LARGEST)
    if total == 0.0:
        return max(low, floor)
    high = kink(piece - 1)
    return max(_turning(lambda scale: slope_at(scale, piece) > 0.0, low, high), floor)


def cap_of_scale(budgets: Budgets, scale: float) -> float:
    """The cap τ whose effective budgets sum to 1/scale."""
    prefix = Prefix(budgets)
    size = len(prefix)
    if scale <= 0.0 or size == 0:
        return math.inf
    wanted = 1.0 / scale
    piece = _first(
        size,
        lambda k: prefix.sum(k) + (prefix.n - prefix.people(k)) * prefix.levels[k] >= wanted,
    )
    if piece == size and not prefix.public:
        return float(prefix.levels[-1])
    return (wanted - prefix.sum(piece)) / (prefix.n - prefix.people(piece))


def searched_cap(budgets: Budgets, objective: Callable[[float], float]) -> float:
    """The best cap for an objective without a closed form: a scan, then a golden section.

    Args:
        budgets: the levels, ascending, with counts.
        objective: the risk of a cap.

    Returns:
        The best τ seen; no candidate of the scan is better.
    """
    prefix = Prefix(budgets)
    levels, public = prefix.levels, prefix.public
    if len(levels) == 0:
        return math.inf
    low, high = math.log(float(levels[0])), math.log(float(levels[-1]))
    if public:
        # Beside budgets that are next to nothing no cap is too large.
        high = max(high, math.log(min(square_cap(budgets, 8.0), _LARGEST))) + math.log(64.0)
    spread = levels[np.unique(np.linspace(0, len(levels) - 1, 64).astype(np.int64))]
    candidates = np.unique(np.concatenate([np.log(spread), np.linspace(low, high, 64)]))
    risks = [objective(math.exp(point)) for point in candidates.tolist()]
    best = int(np.argmin(risks))
    left = float(candidates[max(best - 1, 0)])
    right = float(candidates[min(best + 1, len(candidates) - 1)])
    refined = golden(lambda point: objective(math.exp(point)), left, right)
    found = min((objective(math.exp(refined)), refined), (risks[best], float(candidates[best])))
    if public and objective(math.inf) <= found[0]:
        return math.inf
    return math.exp(found[1])


def golden(objective: Callable[[float], float], left: float, right: float) -> float:
    """The minimum of a unimodal function between two points."""
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    inner, outer = right - ratio * (right - left), left + ratio * (right - left)
    at_inner, at_outer = objective(inner), objective(outer)
    for _ in range(80):
        if right - left <= 1e-12 * max(1.0, abs(left)):
            break
        if at_inner <= at_outer:
            right, outer, at_outer = outer, inner, at_inner
            inner = right - ratio * (right - left)
            at_inner = objective(inner)
        else:
            left, inner, at_inner = inner, outer, at_outer
            outer = left + ratio * (right - left)
            at_outer = objective(outer)
    return inner if at_inner <= at_outer else outer


def _first(size: int, holds: Callable[[int], bool]) -> int:
    """The first index where a condition, once true always true, is true; `size` if none is."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _turning(rises: Callable[[float], bool], low: float, high: float) -> float:
    """Where a function that falls and then rises turns, to the last bits of a float."""
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if rises(middle) else (middle, high)
    return 0.5 * (low + high)
