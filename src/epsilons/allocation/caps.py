"""Caps: the one number τ behind every optimal rule, e_i = min(ε_i, τ), by a sort and a scan.

Two shapes of risk occur. One grows in Σw² and in the scale of the noise, the other in ½Σ|w − 1/n|
and in that scale. Both are smallest at a cap (docs/proofs/allocation.md), and along caps both have
a derivative that changes its sign once, so prefix sums and one search find it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from epsilons.budgets import Budgets, Floats, Integers

_LARGEST = 1e100
"""Budgets above this are treated as this when a cap is sought: their squares would overflow, and no
error that a float64 can show depends on them."""

Slope: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
"""(bias, sum of the budgets that lie below the cap, scale) → derivative of the risk in the scale."""


def capped(budgets: Budgets, cap: float) -> Floats:
    """The effective budgets min(ε, cap)."""
    return np.minimum(budgets.levels, cap)


def square_cap(budgets: Budgets, noise_per_square: float) -> float:
    """The cap that minimises Σw² + c·scale² over all weights on the simplex.

    For budgets capped at τ this is (Σmin(ε,τ)² + c)/(Σmin(ε,τ))². Its derivative has the sign of
    τ·A − B − c, where A and B are the sums of ε and ε² over those below τ; that grows with τ.

    Args:
        budgets: the levels, ascending, with counts.
        noise_per_square: c.

    Returns:
        τ in (0, ∞]: ∞ if only public people should be used.

    Reference:
        Paper *limits* Claim 1; paper *correlated* (154)-(155), with the saturated values.
    """
    levels, counts = _finite(budgets)
    if len(levels) == 0:
        return math.inf
    held = counts * levels
    below = np.cumsum(held)
    held *= levels
    squares = np.cumsum(held)
    first = _first(len(levels), lambda k: levels[k] * below[k] - squares[k] >= noise_per_square)
    if first == len(levels) and not math.isinf(budgets.levels[-1]):
        return float(levels[-1])
    total = float(below[first - 1])
    # Nobody's budget is above what all of it together would allow: public people stand alone.
    return (float(squares[first - 1]) + noise_per_square) / total if total > 0.0 else math.inf


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
    n = budgets.n
    levels, counts = _finite(budgets)
    if len(levels) == 0:
        return 0.0
    held = np.cumsum(counts * levels)
    people = (n - counts.sum() - _public(budgets)) + np.cumsum(counts)
    # Kinks fall as budgets grow. At kink k the levels before k lie below the cap.
    below = np.concatenate([[0.0], held])
    share = np.concatenate([[people[0] - counts[0]], people]) / n

    def falls(k: int) -> bool:
        scale = 1.0 / (n * levels[k])
        bias = np.asarray(share[k] - scale * below[k])
        return bool(slope(bias, np.asarray(below[k]), np.asarray(scale)) <= 0.0)

    piece = _first(len(levels), falls)
    high = 1.0 / (n * levels[piece - 1]) if piece else math.inf
    low = 1.0 / (n * levels[piece]) if piece < len(levels) else 0.0
    floor = 0.0 if not simplex or _public(budgets) else 1.0 / float(held[-1])
    if below[piece] == 0.0:
        return max(low, floor)

    def rises(scale: float) -> bool:
        bias = np.asarray(share[piece] - scale * below[piece])
        return bool(slope(bias, np.asarray(below[piece]), np.asarray(scale)) > 0.0)

    if not math.isfinite(high):
        high = max(2.0 * low, float(share[piece] / below[piece]))
    return max(_turning(rises, low, high), floor)


def cap_of_scale(budgets: Budgets, scale: float) -> float:
    """The cap τ whose effective budgets sum to 1/scale."""
    levels, counts = _finite(budgets)
    if scale <= 0.0 or len(levels) == 0:
        return math.inf
    wanted = 1.0 / scale
    public = _public(budgets)
    above = public + counts.sum() - np.cumsum(counts)
    below = np.cumsum(counts * levels)
    piece = _first(len(levels), lambda k: below[k] + above[k] * levels[k] >= wanted)
    if piece == len(levels):
        return float((wanted - below[-1]) / public) if public else float(levels[-1])
    before = float(below[piece - 1]) if piece else 0.0
    return (wanted - before) / float(above[piece] + counts[piece])


def searched_cap(budgets: Budgets, objective: Callable[[float], float]) -> float:
    """The best cap for an objective without a closed form: a scan, then a golden section.

    Args:
        budgets: the levels, ascending, with counts.
        objective: the risk of a cap.

    Returns:
        The best τ seen; no candidate of the scan is better.
    """
    levels, _ = _finite(budgets)
    if len(levels) == 0:
        return math.inf
    low, high = math.log(float(levels[0])), math.log(float(levels[-1]))
    if _public(budgets):
        high = max(high, math.log(square_cap(budgets, 8.0))) + math.log(64.0)
    spread = levels[np.unique(np.linspace(0, len(levels) - 1, 64).astype(np.int64))]
    candidates = np.unique(np.concatenate([np.log(spread), np.linspace(low, high, 64)]))
    risks = [objective(math.exp(point)) for point in candidates.tolist()]
    best = int(np.argmin(risks))
    left = float(candidates[max(best - 1, 0)])
    right = float(candidates[min(best + 1, len(candidates) - 1)])
    refined = golden(lambda point: objective(math.exp(point)), left, right)
    found = min((objective(math.exp(refined)), refined), (risks[best], float(candidates[best])))
    if _public(budgets) and objective(math.inf) <= found[0]:
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


def _finite(budgets: Budgets) -> tuple[Floats, Integers]:
    """The levels strictly between 0 and ∞, without copies where all of them are."""
    start = int(budgets.levels[0] == 0.0)
    stop = len(budgets) - int(math.isinf(budgets.levels[-1]))
    levels = budgets.levels[start:stop]
    if len(levels) and levels[-1] > _LARGEST:
        levels = np.minimum(levels, _LARGEST)
    return levels, budgets.counts[start:stop]


def _public(budgets: Budgets) -> int:
    return int(budgets.counts[-1]) if math.isinf(budgets.levels[-1]) else 0


def _first(size: int, holds: Callable[[int], bool]) -> int:
    """The first index at which a condition that stays true becomes true; `size` if it never does."""
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
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        low, high = (low, middle) if rises(middle) else (middle, high)
    return 0.5 * (low + high)
