"""The optimal rules: one cap τ, e_i = min(ε_i, τ), for every goal; and staircase noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from epsilons import risk
from epsilons.budgets.levels import Budgets, dot, summed
from epsilons.draws.noise import Staircase
from epsilons.risk import OPEN, Moments, StairNoise, SumNoise, Weighing
from epsilons.risk.goals import Goal
from epsilons.risk.weighing import SAMPLE
from epsilons.types import Floats, Integers

# Caps: the single number τ behind every optimal rule, e_i = min(ε_i, τ), by a sort and a scan.
#
# There are two shapes of risk. One grows with Σw² and the scale of the noise, the other with
# ½Σ|w − 1/n| and that scale. Both are minimized by a cap (docs/proofs/allocation.md). Along caps,
# the derivative of both changes sign once, so prefix sums and one search find it.

_LARGEST = 1e100
"""Larger budgets (or scales) are treated as this in the search for a cap: their squares would
overflow, and they have no noticeable effect on any error."""

Slope: TypeAlias = Callable[[float, float, float], float]
"""(bias, sum of the budgets below the cap, scale) → derivative of the risk in the scale."""


def capped(budgets: Budgets, cap: float) -> Floats:
    """Return the effective budgets min(ε, cap)."""
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
        """Return how many people are in the first `before` levels, or at ε = 0."""
        if before == 0 or self._alone:
            return self.unused + before
        return self.unused + int(self._people[before - 1])

    def sum(self, before: int) -> float:
        """Return Σε over the first `before` levels."""
        return float(self._sums[before - 1]) if before else 0.0

    def square(self, before: int) -> float:
        """Return Σε² over the first `before` levels."""
        levels = self.levels[:before]
        if self._alone:
            return dot(levels, levels)
        return dot(self._counts[:before], levels * levels)

    def gap(self, k: int) -> float:
        """Return Σ ε·(ε_k − ε) over the levels before k; all terms are nonnegative."""
        return float(self._gaps[k - 1]) if k else 0.0


def square_cap(budgets: Budgets, noise_per_square: float) -> float:
    """Return the cap that minimizes Σw² + c·scale² over all weights on the simplex.

    For budgets capped at τ this is (Σmin(ε,τ)² + c)/(Σmin(ε,τ))². Its derivative has the sign of
    τ·A − B − c = Σ ε·(τ − ε) − c, where A, B and the last sum are over people below τ (A and B are
    the sums of ε and ε²). That grows with τ.

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
    # If the budgets below the cap sum to 0 in floats, only public people are used.
    return (prefix.square(first) + noise_per_square) / total if total > 0.0 else math.inf


def bias_scale(budgets: Budgets, slope: Slope, *, simplex: bool) -> float:
    """Return the scale t that minimizes a convex risk of the bias Σ(1/n − t·ε_i)₊ and of t.

    For a given scale, the weights w_i ≤ t·ε_i nearest to 1/n have this bias (half of it if the
    weights need not sum to one). It is convex and piecewise linear, with kinks at t = 1/(n·ε).

    Args:
        budgets: the levels, ascending, with counts.
        slope: the derivative of the risk in t; see `Slope`. It must grow with t.
        simplex: whether the weights sum to one, which requires t ≥ 1/Σε.

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
        """Return the derivative where the first `below` levels are below the cap."""
        total = prefix.sum(below)
        return slope(prefix.people(below) / n - scale * total, total, scale)

    # Kinks decrease as budgets grow; at kink k the levels before k are below the cap.
    piece = _first(size, lambda k: slope_at(kink(k), k) <= 0.0)
    low = kink(piece) if piece < size else 0.0
    total = prefix.sum(piece)
    floor = 0.0 if not simplex or prefix.public else min(1.0 / prefix.sum(size), _LARGEST)
    if total == 0.0:
        return max(low, floor)
    high = kink(piece - 1)
    return max(_turning(lambda scale: slope_at(scale, piece) > 0.0, low, high), floor)


def cap_of_scale(budgets: Budgets, scale: float) -> float:
    """Return the cap τ for which the effective budgets sum to 1/scale."""
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
    """Return the best cap for an objective without a closed form: a scan, then golden section.

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
        # If the other budgets are tiny, even a very large cap may be best.
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
    """Return the minimum of a unimodal function between two points."""
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
    """Return the first index where a monotone condition holds; `size` if it never does."""
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _turning(rises: Callable[[float], bool], low: float, high: float) -> float:
    """Return where a function stops falling and starts rising, to the last bits of a float."""
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if rises(middle) else (middle, high)
    return 0.5 * (low + high)


# What a rule takes and what it returns.


@dataclass(frozen=True, eq=False)
class Effective:
    """The effective budgets that a rule chooses, level by level.

    Attributes:
        spent: e ≤ ε for each level.
        total: the sum of all weights, Σe/D: 1 unless the rule chooses D.
        cap: the number τ, if the rule is a cap.
        law: the law of the noise if it is staircase noise; then e is a multiple of its rate.
    """

    spent: Floats
    total: float = 1.0
    cap: float | None = None
    law: Staircase | None = None


_LARGE = 1e250

Rule: TypeAlias = Callable[[Budgets, Goal], Effective]


def weighing_of(budgets: Budgets, answer: Effective, noise: SumNoise = OPEN) -> Weighing:
    """Return the estimator on a unit range for effective budgets.

    If some effective budget is ∞, only public people are used, and no noise is needed.

    Args:
        budgets: the levels, ascending, with counts.
        answer: the effective budgets.
        noise: the noise of the sums.
    """
    spent, counts = answer.spent, budgets.counts
    if math.isinf(spent[-1]):
        used = np.isinf(spent)
        return Weighing(used * (answer.total / float(counts[used].sum())), counts, 0.0)
    if answer.law is not None:
        units = np.rint(spent / float(answer.law.rate))
        together = summed(counts, units, budgets.n)
        stairs = StairNoise(answer.law, 1.0 / together)
        return Weighing(units / together, counts, stairs.scale, stairs=stairs)
    largest = float(spent[-1])
    # Very large budgets are taken relative to the largest, because their sum may overflow.
    unit = largest if largest > _LARGE else 1.0
    shares = spent / unit if unit != 1.0 else spent
    with np.errstate(over="ignore"):
        total = float(np.float64(summed(counts, shares, budgets.n)) / answer.total)
    scale = noise.moves * inverse(unit, total)
    return Weighing(shares / total, counts, scale, closed=noise.closed, cube=noise.cube)


def inverse(first: float, second: float) -> float:
    """Return 1/(first·second), ∞ if no float is large enough."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(np.float64(1.0) / first / second)


def spread_out(indices: Integers, most: int) -> Integers:
    """Return at most `most` of the indices, evenly spread, including both ends."""
    if len(indices) <= most:
        return indices
    return indices[np.unique(np.linspace(0, len(indices) - 1, most).astype(np.int64))]


# The exact minimizers: one cap for every assumption and loss.

_MANY = 4096
"""With more levels than this, a search without a closed form merges neighbouring levels."""


def affine(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """Use the best affine estimator of paper *limits*: least mean squared error of a sample.

    Reference:
        Paper *limits*, Claim 1 and equation (2).
    """
    return _cap(budgets, square_cap(budgets, risk.noise_per_square(SAMPLE, budgets.n)))


def optimal(budgets: Budgets, goal: Goal) -> Effective:
    """Use the rule of least worst-case risk for the goal.

    It is exact over all weights on the simplex for the mean squared error of a mean, for the sum of
    the squared errors of frequencies, and for the PAC error of a mean, at confidence ½ and more,
    where the budgets of these very people are related to values. Otherwise it minimizes the goal's
    objective over caps, which are best for every convex loss; or it gives everyone equal weights if
    that has the smaller claimed risk.
    """
    found = _cap(budgets, best_cap(budgets, goal, goal.noise))
    if goal.by_moments or goal.by_bias:
        return found
    alike = _cap(budgets, float(budgets.levels[budgets.levels > 0.0][0]))
    claims = [goal.risk(weighing_of(budgets, each, goal.noise)) for each in (found, alike)]
    return found if claims[0] <= claims[1] else alike


def best_cap(budgets: Budgets, goal: Goal, noise: SumNoise) -> float:
    """Return the cap of least risk for noise without stairs.

    Args:
        budgets: the levels, ascending, with counts.
        goal: what is assumed, and which error to minimize.
        noise: the noise of the sums.
    """
    closed = _closed_cap(budgets, goal, noise)
    if closed is not None:
        return closed
    coarse = merged(budgets, _MANY)

    def bound(cap: float) -> float:
        return goal.aim(weighing_of(coarse, Effective(capped(coarse, cap)), noise))

    return searched_cap(coarse, bound)


def _closed_cap(budgets: Budgets, goal: Goal, noise: SumNoise) -> float | None:
    """Return the cap by a sort and a scan if the risk has a closed form; otherwise None."""
    assumption = goal.assumption
    if goal.by_moments and assumption.related is False:
        return square_cap(budgets, goal.noise_per_square(budgets.n, noise))
    if goal.guessed:
        return None
    if goal.by_moments:
        if assumption.sampled and not assumption.anything:
            return None
        # For a population, the offset next to the bias is the sampling error.
        square = goal.squared_bias
        beside = goal.drawn_square(budgets.n) / square if assumption.sampled else 0.0
        slope = squares(goal.noise_square(noise), told=square, beside=math.sqrt(beside))
        return bias_cap(budgets, slope)
    if goal.by_bias:
        return bias_cap(budgets, laplace_quantile(1.0 - goal.confidence, assumption.apart))
    return None


def bias_cap(budgets: Budgets, slope: Slope) -> float:
    """Return the cap that minimizes a convex risk of ½Σ|w − 1/n| and the scale, on the simplex."""
    return cap_of_scale(budgets, bias_scale(budgets, slope, simplex=True))


def squares(noise: float, *, told: float = 1.0, beside: float = 0.0) -> Slope:
    """Return the slope of a·(bias + b)² + noise·scale²; the keyword arguments are a and b."""

    def slope(bias: float, below: float, scale: float) -> float:
        return 2.0 * (noise * scale - told * (bias + beside) * below)

    return slope


def laplace_quantile(beta: float, apart: float = 1.0) -> Slope:
    """Return the slope of scale·ln(cosh(apart·bias/scale)/β), the exact PAC error of people."""

    def slope(bias: float, below: float, scale: float) -> float:
        z = apart * max(bias, 0.0) / scale
        log_cosh = z + math.log1p(math.exp(-2.0 * z)) - math.log(2.0)
        return log_cosh - math.log(beta) - (z + apart * below) * math.tanh(z)

    return slope


def merged(budgets: Budgets, most: int) -> Budgets:
    """Return at most about `most` levels: neighbours are merged into the smallest of them."""
    if len(budgets) <= most:
        return budgets
    starts = np.unique(np.linspace(0, len(budgets) - 1, most).astype(np.int64))
    if math.isinf(budgets.levels[-1]):  # public people are never merged with others
        starts = np.unique(np.append(starts, len(budgets) - 1))
    counts = np.add.reduceat(budgets.counts, starts)
    return Budgets.of_levels(budgets.levels[starts], counts)


def _cap(budgets: Budgets, cap: float) -> Effective:
    return Effective(capped(budgets, cap), cap=cap)


# The staircase rule: multiples of one budget e0, and noise that falls in stairs of one unit.
#
# A person with a weight of k units loses at most k·e0, by k moves of one unit each. If budgets are
# large, staircase noise is much smaller than Laplace noise. If they are small, it is nearly the
# same, and rounding budgets down to multiples of e0 costs more than it gains.

MARGIN: Final = 1e-3
"""`auto` prefers staircase noise only if its risk is smaller by this part, …"""

LEAST: Final = 0.7
"""… and only if its rate is at least this. σ²(e0) ≥ (2/e0²)·e^{−e0²/12}: below it at most 4 % of
the variance of the noise could be gained (in fact 2 %), which is not worth a second kind of noise.
"""

STEPS: Final = 2**30
"""Lattice points of one unit: as fine as the grid of the values."""

_MOST_LEVELS: Final = 32
_MOST_UNITS: Final = 32
_CELLS: Final = 8192
"""The most levels that a search distinguishes, the largest weight, and the most pairs of rate and
weight that are evaluated: with many levels the largest weight is smaller, down to 16."""

_LARGEST_MULTIPLE: Final = 64.0
"""The largest rate: beyond it the noise is finer than the lattice."""

_ROUNDING: Final = 1e-12
"""ε/e0 is often an integer, which floats may miss."""

_COARSE: Final = -12
"""The binary exponent above which the bits of a rate below 2^−53 may be dropped."""

_NOISES: Final = (0.5, 1.0, 2.0)
_EACH: Final = 2
"""For the PAC error: factors on the scale of the noise, and how many of the best of each to try."""


def staircase(budgets: Budgets, goal: Goal) -> Effective:
    """Use weights k_i = floor(min(ε_i, τ)/e0) and staircase noise, with the best e0 and τ found.

    For the mean squared error all e0 = ε/m are tried, which are the only ones that can be best,
    with weights up to 32 (16 with many levels), and above 32 levels on merged neighbours. For the
    PAC error, the proven bound of `risk` chooses among the best candidates for several factors on
    the noise.

    Guarantee:
        e_i = k_i·e0 ≤ ε_i, exactly; e0 is a rational number.

    Reference:
        Geng and Viswanath (2014) for the noise; group privacy for the rest:
        docs/proofs/additive.md.
    """
    return _best(budgets, goal, _choices(merged(budgets, _MOST_LEVELS), goal))


def _best(budgets: Budgets, goal: Goal, choices: list[tuple[float, int]]) -> Effective:
    """Return the best of some pairs of rate and largest weight, and of using public people only."""
    answers = [_answer(budgets, *choice) for choice in choices]
    if math.isinf(budgets.levels[-1]):
        alone = np.where(np.isinf(budgets.levels), math.inf, 0.0)
        answers.append(Effective(alone, cap=math.inf))
    if len(answers) == 1:
        return answers[0]
    return min(answers, key=lambda answer: goal.risk(weighing_of(budgets, answer)))


def promising(budgets: Budgets, goal: Goal, than: float) -> Effective | None:
    """Return the answer of `staircase` if its risk may be clearly below a known one.

    Args:
        budgets: the levels, ascending, with counts.
        goal: the goal of a mean.
        than: the least risk with Laplace noise.

    Returns:
        The answer, or None if it cannot be better. The check is cheap where nothing can be gained:
        only people from the least rate on would be used, and even without noise their data may err
        too much.
    """
    start = int(np.searchsorted(budgets.levels, LEAST))
    users = int(budgets.counts[start:].sum())
    target = (1.0 - MARGIN) * than
    if users == 0 or not target > 0.0:
        return None
    people = np.array([budgets.n - users, users], dtype=np.int64)
    some = people > 0
    without_noise = Weighing(np.array([0.0, 1.0 / users])[some], people[some], 0.0)
    if goal.risk(without_noise) >= target:
        return None
    coarse = merged(budgets, _MOST_LEVELS)
    choices = _choices(coarse, goal)
    if all(rate < LEAST for rate, _ in choices):
        return None
    answer = _best(coarse, goal, choices)
    if goal.risk(weighing_of(coarse, answer)) >= target:
        return None
    if coarse is not budgets:
        answer = _best(budgets, goal, choices)
    return answer if answer.law is not None and answer.law.rate >= LEAST else None


def variance(rate: Floats) -> Floats:
    """Return σ²(rate), the least variance for one unit: (1 + cosh(rate/2)^⅔)/(4·sinh²(rate/2)).

    Reference:
        Paper *add-remove*, equation (2), in which b = e^{−rate}.
    """
    half = rate / 2.0
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray((1.0 + np.cosh(half) ** (2.0 / 3.0)) / np.square(2.0 * np.sinh(half)))


def _choices(budgets: Budgets, goal: Goal) -> list[tuple[float, int]]:
    """Return pairs of rate and largest weight to compare; empty if nobody has a finite budget."""
    levels = budgets.levels[(budgets.levels > 0.0) & np.isfinite(budgets.levels)]
    if len(levels) == 0:
        return []
    most = min(math.isqrt(_CELLS // len(levels)), _MOST_UNITS)
    rates = _rates(levels, most)
    moments = _moments(budgets, rates, most)
    if goal.loss == "mse":
        best = [int(np.argmin(goal.squares(moments)))]
    else:
        noisy = (replace(moments, scale=moments.scale * noise) for noise in _NOISES)
        tables = [goal.squares(each).ravel() for each in noisy]
        best = [int(i) for table in tables for i in np.argsort(table, kind="stable")[:_EACH]]
    chosen = dict.fromkeys(divmod(index, most) for index in best)
    return [(float(rates[row]), column + 1) for row, column in chosen]


def _rates(levels: Floats, most: int) -> Floats:
    """Return ε/m for all levels and small m, descending: the best rate for given weights is one."""
    rates = np.unique(np.minimum(levels[:, None] / np.arange(1, most + 1), _LARGEST_MULTIPLE))[::-1]
    return np.asarray(rates[rates > 0.0])


def _moments(budgets: Budgets, rates: Floats, most: int) -> Moments:
    """Return the moments for every rate (rows) and every largest weight 1, 2, … (columns)."""
    n, width = budgets.n, most + 1
    with np.errstate(over="ignore"):
        quotients = np.minimum(budgets.levels / (rates[:, None] * (1.0 - _ROUNDING)), most)
    units = np.floor(quotients).astype(np.int64)
    keys = units + width * np.arange(len(rates))[:, None]
    people = np.broadcast_to(budgets.counts.astype(np.float64), units.shape)
    table = np.bincount(keys.ravel(), people.ravel(), width * len(rates))
    table = table.reshape(len(rates), width)
    # Columns: people with weight at most 0, 1, …, and people with weight at least 1, 2, … units.
    at_most = np.cumsum(table, axis=1)[:, :-1]
    at_least = np.cumsum(table[:, ::-1], axis=1)[:, -2::-1]  # summed: a difference is inexact
    total = np.cumsum(at_least, axis=1)
    square = np.cumsum(at_least * (2.0 * np.arange(1, width) - 1.0), axis=1)
    # The bias is Σ(1/n − w)₊, over people with less than the average weight.
    light = np.clip(np.ceil(total / n).astype(np.int64) - 1, 0, width - 2)
    held = np.cumsum(table * np.arange(width), axis=1)[:, :-1]
    few = np.take_along_axis(at_most, light, axis=1) / n
    bias = few - np.take_along_axis(held, light, axis=1) / total
    return Moments(
        n=n,
        total=np.ones_like(total),
        spread=np.maximum(square / np.square(total) - 1.0 / n, 0.0),
        bias=np.maximum(bias, 0.0),
        scale=np.sqrt(variance(rates) / 2.0)[:, None] / total,
    )


def _answer(budgets: Budgets, near: float, most: int) -> Effective:
    """Return the weights for a rate, and the largest rate that they allow.

    Levels ascend, so the strictest person of each weight is the first one with it.
    """
    levels = budgets.levels
    units = np.arange(most + 1)
    first = np.searchsorted(levels, near * units[1:] * (1.0 - _ROUNDING))
    sizes = np.diff(first, prepend=0, append=len(levels))
    used = np.flatnonzero(sizes[1:])
    strictest, weights = levels[first[used]], units[1 + used]
    rate = _round_down(min(float(np.min(strictest / weights)), _LARGEST_MULTIPLE), most)
    while np.any(weights * rate > strictest):  # exact products: see `_round_down`
        rate = _round_down(math.nextafter(rate, 0.0), most)
    law = Staircase.best(Fraction(rate), STEPS)
    return Effective(np.repeat(units * rate, sizes), cap=most * rate, law=law)


def _round_down(rate: float, most: int) -> float:
    """Round a rate down to so few bits that its multiples up to `most` are exact.

    A denominator of at most 2^53 is fast to draw with; rates too small for it may exceed that.
    """
    exponent = math.frexp(rate)[1]
    last = exponent - 53 + (most - 1).bit_length()
    last = max(last, -53 if exponent > _COARSE else -1074)
    return math.ldexp(math.floor(math.ldexp(rate, -last)), last)
