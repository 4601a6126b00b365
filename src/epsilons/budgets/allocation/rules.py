"""The optimal rules: a cap τ with e_i = min(ε_i, τ) for every goal, and staircase noise."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, TypeAlias, TypeVar

import numpy as np

from epsilons import risk
from epsilons.budgets.levels import Budgets, dot, summed
from epsilons.draws.noise import Staircase
from epsilons.risk import INDEPENDENT, Moments, StairNoise, SumNoise, Weighing
from epsilons.risk.goals import Goal
from epsilons.risk.means.lorenz import curve_of, half_widths
from epsilons.risk.weighing import SAMPLE
from epsilons.types import Floats, Integers

# Caps. Consider all estimators with fixed weights that sum to one and with one Laplace noise. The
# best of them spends e_i = min(ε_i, τ). The cap τ is found by a sort and a scan.
#
# A risk has one of two forms: a function of Σw² and the noise scale, or of ½Σ|w − 1/n| and the
# noise scale. A cap minimizes both (docs/proofs/allocation.md). The derivative of either risk with
# respect to the cap changes sign once, so prefix sums and one search find the minimum.

_LARGEST = 1e100
"""The search for a cap replaces larger budgets (or scales) by this value. Their squares would
overflow, and the exact value has no noticeable effect on any error."""

Entries = TypeVar("Entries", Floats, Integers)

Slope: TypeAlias = Callable[[float, float, float], float]
"""Type of a function of the bias, the sum of budgets below the cap, and the scale. It returns the
derivative of the risk with respect to the scale."""


class Prefix:
    """Prefix sums over levels: sums over all levels before an index, for levels in (0, ∞).

    Args:
        budgets: the levels, ascending, with counts.
    """

    def __init__(self, budgets: Budgets) -> None:
        start = int(budgets.levels[0] == 0.0)
        stop = len(budgets.levels) - int(math.isinf(budgets.levels[-1]))
        levels = budgets.levels[start:stop]
        if len(levels) and levels[-1] > _LARGEST:
            levels = np.minimum(levels, _LARGEST)
        self.n = budgets.n
        self.levels, self.size = levels, len(levels)
        self.unused = int(budgets.counts[0]) if start else 0
        self.public = int(budgets.counts[-1]) if stop < len(budgets.levels) else 0
        self._counts = counts = budgets.counts[start:stop]
        # If everyone has their own level, counting people needs no sums.
        self._alone = len(levels) == self.n - self.unused - self.public
        self._people = None if self._alone else np.cumsum(counts)
        self._sums = np.cumsum(levels if self._alone else counts * levels)

    @cached_property
    def _gaps(self) -> Floats:
        gaps = np.diff(self.levels)
        gaps *= self._sums[:-1]
        return np.cumsum(gaps, out=gaps)

    def people(self, before: int) -> int:
        """Return the number of people in the first `before` levels, plus the people at ε = 0."""
        if before == 0 or self._people is None:
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

    For budgets capped at τ the objective is (Σmin(ε,τ)² + c)/(Σmin(ε,τ))². Its derivative has the
    sign of τ·A − B − c = Σ ε·(τ − ε) − c, which grows with τ. Here A and B are the sums of ε and
    ε², and all sums are over people with budgets below τ.

    Args:
        budgets: the levels, ascending, with counts.
        noise_per_square: the coefficient c.

    Returns:
        τ in (0, ∞]: ∞ if only public people should be used.

    Reference:
        Paper *limits* Claim 1; paper *correlated* (154)-(155), with capped budgets in the sums.
    """
    prefix = Prefix(budgets)
    size = prefix.size
    first = bisect_left(range(size), True, key=lambda k: prefix.gap(k) >= noise_per_square)
    if first == size and size and not prefix.public:
        return float(prefix.levels[-1])
    total = prefix.sum(first)
    # If the budgets below the cap sum to 0 in floating point, only public people are used.
    return (prefix.square(first) + noise_per_square) / total if total > 0.0 else math.inf


def bias_scale(prefix: Prefix, slope: Slope, *, simplex: bool) -> float:
    """Return the scale t that minimizes a convex risk of t and of the bias Σ(1/n − t·ε_i)₊.

    For a given scale, this is the bias of the weights w_i ≤ t·ε_i that are nearest to 1/n. If the
    weights need not sum to one, the bias is half of this sum. The bias is convex and piecewise
    linear in t, with kinks at t = 1/(n·ε).

    Args:
        prefix: sums over the levels.
        slope: the derivative of the risk with respect to t; see `Slope`. It must increase with t.
        simplex: whether the weights sum to one, which requires t ≥ 1/Σε.

    Returns:
        t ≥ 0; zero if only public people should be used.
    """
    size, n = prefix.size, prefix.n
    if size == 0:
        return 0.0

    with np.errstate(over="ignore"):  # of subnormal budgets
        kinks = np.minimum(1.0 / (n * prefix.levels), _LARGEST)

    def falls(k: int) -> bool:
        """Whether the risk falls at kink k, where the levels before k are below the cap."""
        scale, total = float(kinks[k]), prefix.sum(k)
        return slope(prefix.people(k) / n - scale * total, total, scale) <= 0.0

    piece = bisect_left(range(size), True, key=falls)  # kinks decrease as budgets grow
    low = float(kinks[piece]) if piece < size else 0.0
    total = prefix.sum(piece)
    floor = 0.0 if not simplex or prefix.public else min(1.0 / prefix.sum(size), _LARGEST)
    if total == 0.0:
        return max(low, floor)
    share, high = prefix.people(piece) / n, float(kinks[piece - 1])
    while low < (middle := 0.5 * (low + high)) < high:  # until no float is between them
        rises = slope(share - middle * total, total, middle) > 0.0
        low, high = (low, middle) if rises else (middle, high)
    return max(0.5 * (low + high), floor)


def bias_cap(budgets: Budgets, slope: Slope) -> float:
    """Return the cap that minimizes a convex risk, a function of ½Σ|w − 1/n| and the scale.

    It is the cap for which the effective budgets sum to the inverse of the best scale.
    """
    prefix = Prefix(budgets)
    scale = bias_scale(prefix, slope, simplex=True)
    if scale <= 0.0 or prefix.size == 0:
        return math.inf
    wanted = 1.0 / scale

    def reaches(k: int) -> bool:
        return prefix.sum(k) + (prefix.n - prefix.people(k)) * float(prefix.levels[k]) >= wanted

    piece = bisect_left(range(prefix.size), True, key=reaches)
    if piece == prefix.size and not prefix.public:
        return float(prefix.levels[-1])
    return (wanted - prefix.sum(piece)) / (prefix.n - prefix.people(piece))


def searched_cap(budgets: Budgets, objective: Callable[[float], float]) -> float:
    """Return the best cap for an objective without closed form: grid scan, then golden section.

    Args:
        budgets: the levels, ascending, with counts.
        objective: the risk as a function of the cap.

    Returns:
        The best τ that was evaluated; no point of the grid is better.
    """
    prefix = Prefix(budgets)
    public = prefix.public
    if prefix.size == 0:
        return math.inf
    candidates = _grid(budgets, prefix)
    risks = [objective(math.exp(point)) for point in candidates.tolist()]
    best = int(np.argmin(risks))
    left = float(candidates[max(best - 1, 0)])
    right = float(candidates[min(best + 1, len(candidates) - 1)])
    refined = golden(lambda point: objective(math.exp(point)), left, right)
    found = min((objective(math.exp(refined)), refined), (risks[best], float(candidates[best])))
    if public and objective(math.inf) <= found[0]:
        return math.inf
    return math.exp(found[1])


def _grid(budgets: Budgets, prefix: Prefix) -> Floats:
    """Return the logarithms of caps to try first: some levels, and points in between."""
    levels = prefix.levels
    low, high = math.log(float(levels[0])), math.log(float(levels[-1]))
    if prefix.public:
        # If the other budgets are tiny, the best cap can be very large.
        high = max(high, math.log(min(square_cap(budgets, 8.0), _LARGEST))) + math.log(64.0)
    spread = np.log(spread_out(levels, 64))
    return np.unique(np.concatenate([spread, np.linspace(low, high, 64)]))


def golden(objective: Callable[[float], float], left: float, right: float) -> float:
    """Return the minimizer of a unimodal function between two points."""
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


# The inputs and outputs of a rule.


@dataclass(frozen=True, eq=False)
class Effective:
    """The effective budgets that a rule chooses, one for each level.

    Attributes:
        spent: e ≤ ε for each level.
        total: the sum of all weights: 1, unless the rule shrinks to the middle of the range.
        cap: the cap τ, if the rule is a cap.
        law: the distribution of staircase noise, if used. Every e is then a multiple of its rate.
    """

    spent: Floats
    total: float = 1.0
    cap: float | None = None
    law: Staircase | None = None


def capped(budgets: Budgets, cap: float, total: float = 1.0) -> Effective:
    """Return the effective budgets min(ε, cap). If public people alone are used, the cap is ∞."""
    return Effective(np.minimum(budgets.levels, cap), total=total, cap=cap)


_LARGE = 1e250

Rule: TypeAlias = Callable[[Budgets, Goal], Effective]


def weighing_of(budgets: Budgets, answer: Effective, noise: SumNoise = INDEPENDENT) -> Weighing:
    """Return the estimator on a unit range for effective budgets.

    If an effective budget is ∞, only public people are used, and no noise is needed.

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
    # Very large budgets are divided by the largest, because their sum could overflow.
    unit = largest if largest > _LARGE else 1.0
    shares = spent / unit if unit != 1.0 else spent
    with np.errstate(over="ignore"):
        total = float(np.float64(summed(counts, shares, budgets.n)) / answer.total)
    scale = noise.moves * inverse(unit, total)
    return Weighing(shares / total, counts, scale, closed=noise.closed, cube=noise.cube)


def inverse(first: float, second: float) -> float:
    """Return 1/(first·second), or ∞ if the result overflows."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(np.float64(1.0) / first / second)


def spread_out(entries: Entries, most: int) -> Entries:
    """Return at most `most` of the entries, evenly spaced, including the first and the last."""
    if len(entries) <= most:
        return entries
    return entries[np.unique(np.linspace(0, len(entries) - 1, most).astype(np.int64))]


# The exact minimizers: one cap for each assumption and loss.

_MANY = 4096
"""With more levels than this, a search without closed form merges adjacent levels."""


def affine(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """Use the best affine estimator of paper *limits*: it has the least squared error for a sample.

    Reference:
        Paper *limits*, Claim 1 and equation (2).
    """
    return capped(budgets, square_cap(budgets, risk.noise_per_square(SAMPLE, budgets.n)))


def optimal(budgets: Budgets, goal: Goal) -> Effective:
    """Use the rule of least worst-case risk for the goal.

    The result is exact over all weights on the simplex in three cases: the mean squared error of a
    mean; the sum of squared errors of frequencies; and the PAC error of a mean at confidence ½ or
    more, for these people, with budgets related to values. Otherwise it minimizes the goal's
    objective over caps, which are optimal for every convex loss. If equal weights have a smaller
    claimed risk, it uses equal weights.
    """
    found = capped(budgets, best_cap(budgets, goal, goal.noise))
    if goal.by_moments or goal.by_bias:
        return found
    least = float(budgets.levels[budgets.levels > 0.0][0])
    alike = capped(budgets, least)
    claims = [goal.risk(weighing_of(budgets, each, goal.noise)) for each in (found, alike)]
    return found if claims[0] <= claims[1] else alike


_LONGER: Final = 1.01
"""An interval may be longer than the shortest by this factor, for a smaller cap: near the shortest,
its length hardly depends on the cap, and people keep what they do not spend."""

_ROUNDS: Final = 2
_POINTS: Final = 33
"""How often the grid of caps below the chosen one is refined, and the number of caps each time."""


def narrowest(budgets: Budgets, goal: Goal) -> Effective:
    """Use the smallest cap for which the interval of a mean is within 1 % of the shortest.

    The forecast is for an estimate in the middle of the range, and for budgets that are related to
    values in any way: then an interval tests each possible mean. If public people alone have such
    an interval, nobody else is used. Proof: docs/proofs/lorenz.md (11).
    """
    prefix, beta = Prefix(budgets), 1.0 - goal.confidence
    alone = capped(budgets, math.inf)
    if prefix.size == 0:
        return alone
    caps = np.exp(_grid(budgets, prefix))
    widths = half_widths(budgets.levels, budgets.counts, caps, beta)
    best = int(np.argmin(widths))
    ends = caps[max(best - 1, 0)], caps[min(best + 1, len(caps) - 1)]
    caps = np.union1d(caps, np.geomspace(*ends, _POINTS))
    widths = half_widths(budgets.levels, budgets.counts, caps, beta)
    most = _LONGER * float(widths.min())
    if prefix.public and curve_of(weighing_of(budgets, alone)).half_width(1.0, beta) <= most:
        return alone
    for _ in range(_ROUNDS):
        first = int(np.argmax(widths <= most))
        caps = np.geomspace(caps[max(first - 1, 0)], caps[first], _POINTS)
        widths = half_widths(budgets.levels, budgets.counts, caps, beta)
    cap = float(caps[np.argmax(widths <= most)])
    return capped(budgets, cap)


def best_cap(budgets: Budgets, goal: Goal, noise: SumNoise) -> float:
    """Return the cap of least risk for noise other than staircase noise.

    Args:
        budgets: the levels, ascending, with counts.
        goal: the assumptions, and the error to minimize.
        noise: the noise of the sums.
    """
    assumption = goal.assumption
    if goal.by_moments and assumption.related is False:
        return square_cap(budgets, goal.noise_per_square(budgets.n, noise))
    searched = assumption.sampled and not assumption.anything
    if goal.by_moments and not goal.guessed and not searched:
        # For a population, the sampling error adds to the bias.
        square = goal.squared_bias
        beside = goal.drawn_square(budgets.n) / square if assumption.sampled else 0.0
        slope = squares(goal.noise_square(noise), told=square, beside=math.sqrt(beside))
        return bias_cap(budgets, slope)
    if goal.by_bias:
        return bias_cap(budgets, laplace_quantile(1.0 - goal.confidence, assumption.apart))
    return _cap_by_search(merged(budgets, _MANY), goal, noise)


@lru_cache(maxsize=64)
def _cap_by_search(budgets: Budgets, goal: Goal, noise: SumNoise) -> float:
    """Return the cap of least risk by search.

    Results are cached, because a release, its verdict and a plan repeat the same searches.
    """

    def bound(cap: float) -> float:
        return goal.aim(weighing_of(budgets, capped(budgets, cap), noise))

    return searched_cap(budgets, bound)


def squares(noise: float, *, told: float = 1.0, beside: float = 0.0) -> Slope:
    """Return the slope of a·(bias + b)² + noise·scale², where a is `told` and b is `beside`."""

    def slope(bias: float, below: float, scale: float) -> float:
        return 2.0 * (noise * scale - told * (bias + beside) * below)

    return slope


def laplace_quantile(beta: float, apart: float = 1.0) -> Slope:
    """Return the slope of scale·ln(cosh(apart·bias/scale)/β).

    That expression is the exact PAC error for the given people.
    """

    def slope(bias: float, below: float, scale: float) -> float:
        z = apart * max(bias, 0.0) / scale
        log_cosh = z + math.log1p(math.exp(-2.0 * z)) - math.log(2.0)
        return log_cosh - math.log(beta) - (z + apart * below) * math.tanh(z)

    return slope


def merged(budgets: Budgets, most: int) -> Budgets:
    """Return about `most` levels: each group of adjacent levels is merged to its minimum."""
    if len(budgets) <= most:
        return budgets
    starts = spread_out(np.arange(len(budgets)), most)
    if math.isinf(budgets.levels[-1]):  # public people are never merged with others
        starts = np.unique(np.append(starts, len(budgets) - 1))
    counts = np.add.reduceat(budgets.counts, starts)
    return Budgets.of_levels(budgets.levels[starts], counts)


# The staircase rule: effective budgets are multiples of one rate e0, with staircase noise.
#
# A person with a weight of k units loses at most k·e0 (group privacy over k moves of one unit).
# For large budgets, staircase noise is much smaller than Laplace noise. For small budgets it is
# nearly the same, and rounding budgets down to multiples of e0 costs more than it gains.

MARGIN: Final = 1e-3
"""`auto` prefers staircase noise only if its risk is smaller by at least this fraction."""

LEAST: Final = 0.7
"""`auto` prefers staircase noise only if its rate is at least this.

σ²(e0) ≥ (2/e0²)·e^{−e0²/12}: at smaller rates the noise variance would fall by at most 4 % (in fact
2 %), which does not justify a second kind of noise.
"""

STEPS: Final = 2**30
"""Number of lattice points per unit. The lattice is as fine as the grid of the values."""

_MOST_LEVELS: Final = 32
_MOST_UNITS: Final = 32
_CELLS: Final = 8192
"""Limits of the search: the number of levels, the largest weight, and the number of pairs of rate
and weight to evaluate. With many levels the largest weight is smaller, down to 16."""

_LARGEST_MULTIPLE: Final = 64.0
"""The largest rate. Above it, the noise would be finer than the lattice."""

_ROUNDING: Final = 1e-12
"""Relative tolerance when ε/e0 is rounded down: in floats, an integer ratio can be slightly too
small."""

_COARSE: Final = -12
"""For rates with a binary exponent above this, bits below 2^−53 are dropped, so draws are fast."""

_NOISES: Final = (0.5, 1.0, 2.0)
_EACH: Final = 2
"""For the PAC error: the factors on the noise scale that are tried, and how many of the best
candidates are kept for each factor."""


def staircase(budgets: Budgets, goal: Goal) -> Effective:
    """Use weights k_i = floor(min(ε_i, τ)/e0) and staircase noise, with a search for e0 and τ.

    For the mean squared error, the search tries all e0 = ε/m, because no other e0 can be optimal.
    Weights go up to 32 (16 with many levels). With more than 32 levels, adjacent levels are merged.
    For the PAC error, the search repeats with the noise scaled by several factors, and keeps the
    best candidates of each. The candidate with the smallest proven bound from `risk` is used.

    Guarantee:
        e_i = k_i·e0 ≤ ε_i, exactly; e0 is a rational number.

    Reference:
        Geng and Viswanath (2014) for the noise; group privacy for the rest:
        docs/proofs/additive.md.
    """
    return _best(budgets, goal, _choices(merged(budgets, _MOST_LEVELS), goal))


def _best(budgets: Budgets, goal: Goal, choices: list[tuple[float, int]]) -> Effective:
    """Return the best effective budgets: for one of the choices, or with public people alone.

    Args:
        budgets: the levels, ascending, with counts.
        goal: the assumptions, and the error to minimize.
        choices: pairs of rate and largest weight.
    """
    answers = [_answer(budgets, *choice) for choice in choices]
    if math.isinf(budgets.levels[-1]):
        answers.append(capped(budgets, math.inf))
    if len(answers) == 1:
        return answers[0]
    return min(answers, key=lambda answer: goal.risk(weighing_of(budgets, answer)))


def promising(budgets: Budgets, goal: Goal, than: float) -> Effective | None:
    """Return the result of `staircase` if its risk can be clearly below a known risk.

    Args:
        budgets: the levels, ascending, with counts.
        goal: the goal of a mean.
        than: the least risk with Laplace noise.

    Returns:
        The result, or None if it cannot be better. Only people with ε ≥ `LEAST` would be used. If
        the mean of these people has too large a risk even without noise, the search is skipped.
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
    """Return σ²(rate), the least variance per unit: (1 + cosh(rate/2)^⅔)/(4·sinh²(rate/2)).

    Reference:
        Paper *add-remove*, equation (2), in which b = e^{−rate}.
    """
    half = rate / 2.0
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray((1.0 + np.cosh(half) ** (2.0 / 3.0)) / np.square(2.0 * np.sinh(half)))


def _choices(budgets: Budgets, goal: Goal) -> list[tuple[float, int]]:
    """Return pairs of rate and largest weight to compare; empty if all budgets are 0 or ∞."""
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
    """Return ε/m for all levels and small m, descending; the best rate is always one of these."""
    every = np.minimum(levels[:, None] / np.arange(1, most + 1), _LARGEST_MULTIPLE)
    # Without `return_counts`, `np.unique` would import numpy.ma, which takes long.
    rates = np.unique(every, return_counts=True)[0][::-1]
    return np.asarray(rates[rates > 0.0])


def _moments(budgets: Budgets, rates: Floats, most: int) -> Moments:
    """Return the moments of estimators, by rate (rows) and largest weight 1, 2, … (columns)."""
    n, width = budgets.n, most + 1
    with np.errstate(over="ignore"):
        quotients = np.minimum(budgets.levels / (rates[:, None] * (1.0 - _ROUNDING)), most)
    units = np.floor(quotients).astype(np.int64)
    keys = units + width * np.arange(len(rates))[:, None]
    people = np.broadcast_to(budgets.counts.astype(np.float64), units.shape)
    table = np.bincount(keys.ravel(), people.ravel(), width * len(rates))
    table = table.reshape(len(rates), width)
    # Columns: people with a weight of at most 0, 1, … units, and of at least 1, 2, … units. Both
    # are sums of counts, because a subtraction would add rounding errors.
    at_most = np.cumsum(table, axis=1)[:, :-1]
    at_least = np.cumsum(table[:, ::-1], axis=1)[:, -2::-1]
    total = np.cumsum(at_least, axis=1)
    square = np.cumsum(at_least * (2.0 * np.arange(1, width) - 1.0), axis=1)
    # The bias is Σ(1/n − w)₊, summed over people whose weight is below average.
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
    """Return the weights for a rate, and the largest rate that these weights allow.

    Levels ascend, so the first person with a given weight has the smallest budget of all people
    with this weight.
    """
    levels = budgets.levels
    units = np.arange(most + 1)
    first = np.searchsorted(levels, near * units[1:] * (1.0 - _ROUNDING))
    sizes = np.diff(first, prepend=0, append=len(levels))
    used = np.flatnonzero(sizes[1:])
    strictest, weights = levels[first[used]], units[1 + used]
    rate = _round_down(min(float(np.min(strictest / weights)), _LARGEST_MULTIPLE), most)
    while np.any(weights * rate > strictest):  # the products are exact: see `_round_down`
        rate = _round_down(math.nextafter(rate, 0.0), most)
    law = Staircase.best(Fraction(rate), STEPS)
    return Effective(np.repeat(units * rate, sizes), cap=most * rate, law=law)


def _round_down(rate: float, most: int) -> float:
    """Round a rate down to few enough bits that all its multiples up to `most` are exact.

    The denominator is at most 2^53 for fast draws; for very small rates it can be larger.
    """
    exponent = math.frexp(rate)[1]
    last = exponent - 53 + (most - 1).bit_length()
    last = max(last, -53 if exponent > _COARSE else -1074)
    return math.ldexp(math.floor(math.ldexp(rate, -last)), last)
