"""The minimax affine estimator: its divisor D shrinks estimates to the middle."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from epsilons import risk
from epsilons.budgets.allocation.rules import (
    Effective,
    Prefix,
    bias_scale,
    capped,
    golden,
    laplace_quantile,
    merged,
    optimal,
    square_cap,
    squares,
    weighing_of,
)
from epsilons.budgets.levels import Budgets, summed
from epsilons.risk import Moments
from epsilons.risk.goals import Goal
from epsilons.risk.weighing import RELATED, Assumption
from epsilons.types import Floats

_LEVELS = 256
_CAPS = 48
_FACTORS = 33
_ROUNDS = 10
"""Limits of the search: the levels, the caps and factors in one grid, and the number of rounds.
Each round uses a finer grid around the best point."""

_LARGEST = 1e75
"""Larger budgets are replaced by this value, because their fourth powers would overflow."""


def minimax(budgets: Budgets, goal: Goal) -> Effective:
    """Minimize the worst-case risk over all nonnegative weights, which need not sum to one.

    The result is a capped release, shrunk by a factor below one towards the middle of the range.
    Privacy is the same and the worst case is smaller, but data far from the middle are biased.

    The result is exact for the mean squared error in two cases: budgets are independent of values,
    or the budgets of these people can depend on values in any way. In the second case it is also
    exact for the PAC error at confidence ½ or more. If budgets are related to values within δ, or
    in a population with budgets related to values, it is the best result of a search over caps and
    factors, and never worse than the best cap. For other PAC errors, the weights for the mean
    squared error are used.

    Reference:
        docs/proofs/allocation.md.
    """
    if goal.assumption == RELATED:
        return _related(budgets, goal)
    if goal.assumption.related is False:
        return _centred(budgets, goal.assumption)
    return _searched(budgets, goal)


def _related(budgets: Budgets, goal: Goal) -> Effective:
    # Weights below 1/n have bias ½Σ(1/n − w), half of the bias on the simplex.
    if goal.loss == "mse" or goal.confidence < 0.5:
        slope = squares(8.0)
    else:
        halved = laplace_quantile(1.0 - goal.confidence)

        def slope(bias: float, below: float, scale: float) -> float:
            return halved(0.5 * bias, 0.5 * below, scale)

    scale = _positive(bias_scale(Prefix(budgets), slope, simplex=False))
    cap = 1.0 / (budgets.n * scale)
    if math.isinf(cap) and math.isinf(budgets.levels[-1]):  # use public people only, without noise
        return capped(budgets, cap, float(budgets.counts[-1]) / budgets.n)
    spent = capped(budgets, cap).spent
    return capped(budgets, cap, _positive(scale * summed(budgets.counts, spent, budgets.n)))


def _positive(total: float) -> float:
    """Return the total, or the smallest positive float if it underflowed to 0.

    With such a total, the estimate is nearly the middle of the range.
    """
    return max(total, math.ulp(0.0))


def _centred(budgets: Budgets, assumption: Assumption) -> Effective:
    """Return the cap and total of least mean squared error if budgets are independent of values."""
    levels = budgets.levels
    finite = np.minimum(levels[(levels > 0.0) & np.isfinite(levels)], _LARGEST)
    public = int(budgets.counts[-1]) if math.isinf(levels[-1]) else 0
    alone = None
    if public:
        alone = capped(budgets, math.inf, _best_total(budgets.n, public, assumption))
    if len(finite) == 0 and alone is not None:
        return alone
    kinks = _filled(
        finite, square_cap(budgets, risk.noise_per_square(assumption, budgets.n)), public
    )
    risks, _ = _at_caps(budgets, kinks, assumption)
    best = int(np.argmin(risks))
    left = math.log(float(kinks[max(best - 1, 0)]))
    right = math.log(float(kinks[min(best + 1, len(kinks) - 1)]))

    def objective(log_cap: float) -> float:
        return float(_at_caps(budgets, np.array([math.exp(log_cap)]), assumption)[0][0])

    points = [math.log(float(kinks[best]))]
    # The risk has a kink at the middle point and is smooth on either side of it.
    points += [golden(objective, left, points[0]), golden(objective, points[0], right)]
    cap = min(math.exp(min(points, key=objective)), float(kinks[-1]))
    least, scales = _at_caps(budgets, np.array([cap]), assumption)
    if alone is not None and risk.mse(weighing_of(budgets, alone), assumption) <= least[0]:
        return alone
    total = float(scales[0] * _sums(budgets, np.array([cap]))[0][0])
    # The cap is at most `_LARGEST`, so budgets above `_LARGEST` all get the same effective budget.
    return capped(budgets, cap, _positive(min(total, 1.0)))


def _searched(budgets: Budgets, goal: Goal) -> Effective:
    """Return the cap and the sum of weights of least mean squared error, by a search."""
    assumption = goal.assumption
    coarse = merged(budgets, _LEVELS)
    levels = coarse.levels
    finite = np.minimum(levels[(levels > 0.0) & np.isfinite(levels)], _LARGEST)
    public = math.isinf(levels[-1])
    answers = [optimal(budgets, replace(goal, loss="mse"))]
    if public:
        factors = np.linspace(0.0, 1.0, _CAPS * _FACTORS)[1:]
        answers += [capped(budgets, math.inf, factor) for factor in factors.tolist()]
    if len(finite):
        # If only noise mattered, effective budgets that sum to A would have the best total A²/(A² +
        # 8).
        together = min(float(coarse.n * finite[0]), 1.0)
        least = math.log(_positive(together * together / 64.0))
        ranges = [
            (math.log(float(finite[0])), math.log(float(finite[-1]) * (1e3 if public else 1.0))),
            (least, 0.0),
        ]
        for _ in range(_ROUNDS):
            caps, factors = np.linspace(*ranges[0], _CAPS), np.linspace(*ranges[1], _FACTORS)
            risks = _at_factors(coarse, np.exp(caps), np.exp(factors), assumption)
            row, column = np.unravel_index(int(np.argmin(risks)), risks.shape)
            best = float(caps[row]), float(factors[column])
            ranges = [
                (max(at - (high - low) / 8.0, low), min(at + (high - low) / 8.0, high))
                for at, (low, high) in zip(best, ranges, strict=True)
            ]
        cap, factor = math.exp(best[0]), _positive(math.exp(best[1]))
        answers.append(capped(budgets, cap, min(factor, 1.0)))
    return min(answers, key=lambda each: float(risk.mse(weighing_of(budgets, each), assumption)))


def _at_factors(budgets: Budgets, caps: Floats, factors: Floats, assumption: Assumption) -> Floats:
    """Return the risk for each cap and each sum of weights."""
    n = budgets.n
    spent = np.minimum(np.minimum(budgets.levels, _LARGEST), caps[:, None])
    sums = spent @ budgets.counts
    weights = (spent / sums[:, None])[:, None, :] * factors[:, None]
    mean = factors / n
    people = budgets.counts.astype(np.float64)
    spread: Floats = np.square(weights - mean[:, None]) @ people
    bias: Floats = 0.5 * (np.abs(weights - 1.0 / n) @ people)
    with np.errstate(over="ignore"):
        scale = factors / sums[:, None]
    total = np.broadcast_to(factors, scale.shape)
    return risk.mse(Moments(n, total, spread, bias, scale), assumption)


def _best_total(n: int, public: int, assumption: Assumption) -> float:
    """Return the best Σw for equal weights on public people: it balances shrinkage and sampling."""
    square = 1.0 / public
    if not assumption.sampled:
        square = (1.0 / public - 1.0 / n) * n / (n - 1)
    return 1.0 / (1.0 + math.sqrt(square))


def _filled(finite: Floats, cap: float, public: int) -> Floats:
    """Return the levels with points between them: the ratio of adjacent points is at most 2."""
    top = float(finite[-1])
    if public:
        # The best cap can be above all levels: near the best cap on the simplex, or near 1.
        top = min(max(top, 1.0, cap if math.isfinite(cap) else top) * 1e3, _LARGEST)
    octaves = math.log2(top) - math.log2(float(finite[0]))
    between = np.geomspace(float(finite[0]), top, 2 + min(int(octaves), 2000))
    ours = [float(finite[-1]) if math.isinf(cap) else min(cap, top)]
    return np.unique(np.concatenate([finite, between, ours]))


def _at_caps(budgets: Budgets, caps: Floats, assumption: Assumption) -> tuple[Floats, Floats]:
    """Return, for each cap τ, the least risk over all divisors D, and the best 1/D.

    The risk is the maximum of two convex quadratics in 1/D. Its minimum is at the minimum of one of
    them or where they cross. `risk.mse` compares these three candidates.
    """
    n = budgets.n
    A, B = _sums(budgets, caps)
    spread = np.maximum(B - A * A / n, 0.0)
    square = B if assumption.sampled else spread * n / (n - 1)
    odd = (n % 2) / n**2 if not assumption.sampled else 0.0
    candidates = (
        A / (A * A + 8.0),
        1.0 / np.maximum(A + np.sqrt(square), 1e-100),  # avoids division by 0
        odd * A / (odd * A * A + (1.0 - odd) * square + 8.0),
    )
    risks = np.stack(
        [
            risk.mse(Moments(n, t * A, t * t * spread, np.zeros(len(caps)), t), assumption)
            for t in candidates
        ]
    )
    chosen = np.argmin(risks, axis=0)
    pick = np.arange(len(caps))
    return risks[chosen, pick], np.stack(candidates)[chosen, pick]


def _sums(budgets: Budgets, caps: Floats) -> tuple[Floats, Floats]:
    """Return Σ min(ε, τ) and Σ min(ε, τ)² for each cap, from prefix sums."""
    finite = np.isfinite(budgets.levels)
    levels = np.minimum(budgets.levels[finite], _LARGEST)
    counts = budgets.counts[finite]
    first = np.concatenate([[0.0], np.cumsum(counts * levels)])
    second = np.concatenate([[0.0], np.cumsum(counts * levels * levels)])
    people = np.concatenate([[0], np.cumsum(counts)])
    below = np.searchsorted(levels, caps, side="right")
    above = budgets.n - people[below]
    return first[below] + above * caps, second[below] + above * caps * caps
