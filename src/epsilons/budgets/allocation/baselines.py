"""Rules for comparison: the rules in common use, and the families of paper *correlated*."""

from __future__ import annotations

import math

import numpy as np

from epsilons.budgets.allocation.rules import (
    Effective,
    bias_cap,
    capped,
    spread_out,
    square_cap,
    squares,
    weighing_of,
)
from epsilons.budgets.levels import Budgets
from epsilons.risk import Moments
from epsilons.risk.goals import Goal
from epsilons.types import Floats, Integers

# The rules in common use: the same budget for everyone, a single threshold, and proportional.

_MOST = 256
"""The maximum number of candidates to evaluate if there is no closed formula for all of them."""


def uniform(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """Give everyone the smallest positive budget: e_i = min ε.

    Reference:
        UNI of paper *correlated*, Appendix B. People with ε = 0 are left out.
    """
    smallest = budgets.levels[budgets.levels > 0.0][0]
    return Effective(np.where(budgets.levels > 0.0, smallest, 0.0))


def proportional(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """Spend every budget in full: e_i = ε_i. This gives the least noise.

    If anyone is public, only public people are used.

    Reference:
        PROP of paper *correlated*, Appendix B.
    """
    return capped(budgets, math.inf)


def threshold(budgets: Budgets, goal: Goal) -> Effective:
    """Use the best single threshold: e_i = τ if ε_i ≥ τ, else 0.

    Reference:
        Paper *limits*, Definition 6 and equation (3), for any goal.
    """
    levels = budgets.levels
    people = np.cumsum(budgets.counts[::-1])[::-1]
    candidates = np.flatnonzero(levels > 0.0).astype(np.int64)
    if goal.by_moments:
        risks = _threshold_mse(budgets.n, levels[candidates], people[candidates], goal)
        best = int(candidates[np.argmin(risks)])
    else:
        best = _threshold_search(budgets, candidates, goal)
    return _threshold_at(budgets, best)


def _threshold_at(budgets: Budgets, index: int) -> Effective:
    at = budgets.levels[index]
    return Effective(np.where(budgets.levels >= at, at, 0.0))


def _threshold_mse(n: int, at: Floats, people: Integers, goal: Goal) -> Floats:
    with np.errstate(over="ignore"):
        moments = Moments(
            n=n,
            total=np.ones(len(at)),
            spread=1.0 / people - 1.0 / n,
            bias=1.0 - people / n,
            scale=np.where(np.isinf(at), 0.0, goal.noise.moves / at / people),
            closed=goal.noise.closed,
        )
        return goal.squares(moments)


def _threshold_search(budgets: Budgets, candidates: Integers, goal: Goal) -> int:
    """Return the best candidate. If there are many, search a coarse grid, then around its best."""

    def at(index: int) -> float:
        return goal.aim(weighing_of(budgets, _threshold_at(budgets, index), goal.noise))

    tried = spread_out(candidates, _MOST)
    risks = [at(int(index)) for index in tried]
    best = int(np.argmin(risks))
    first, last = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
    near = spread_out(candidates[(candidates >= first) & (candidates <= last)], _MOST)
    pairs = [*zip(risks, tried.tolist(), strict=True), *((at(int(i)), int(i)) for i in near)]
    return int(min(pairs)[1])


# The HPM and HPF families of paper *correlated*: minimizers of its surrogate risks, and rule A.
#
# Let L = ln(k/β), with k = 1 for the mean. Up to a square root, the paper's surrogates are
#
#     rC = ‖w − 1/n‖₁² + L²·scale²        rU = min(‖w − 1/n‖₁², L·‖w‖²) + L²·scale²
#
# in its equations (6) and (7). For mean squared error, L = 1 for a mean and L = ln k for
# frequencies. The fast variants replace ‖w − 1/n‖₁² by n·‖w − 1/n‖².


def hpm_a(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """HPM-A, with weights proportional to 1 − e^{−ε}.

    Reference:
        Paper *correlated*, Table 3.
    """
    share = -np.expm1(-budgets.levels)
    smallest = int(np.flatnonzero(budgets.levels > 0.0)[0])
    # ε/(1 − e^{−ε}) grows with ε, so the smallest budget determines the noise.
    unit = float(budgets.levels[smallest]) / float(share[smallest])
    spent = np.multiply(unit, share, out=np.zeros(len(share)), where=share > 0.0)
    return Effective(np.minimum(spent, budgets.levels))


def hpm_cp(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-CP, for budgets related to values and PAC errors. Paper *correlated*, Table 3, (6)."""
    return _bias(budgets, goal.log_pac)


def hpm_ce(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-CE, for budgets related to values and squared errors. Paper *correlated*, Table 3."""
    return _bias(budgets, goal.log_mse)


def hpm_up(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-UP, for budgets unrelated to values and PAC errors. Paper *correlated*, Table 3, (7)."""
    log = goal.log_pac
    return _better(budgets, log, _bias(budgets, log), _square(budgets, log), sharp=True)


def hpm_ue(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-UE, for budgets unrelated to values and squared errors. Paper *correlated*, Table 3."""
    log = goal.log_mse
    return _better(budgets, log, _bias(budgets, log), _square(budgets, log), sharp=True)


def hpm_cp_t(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-CP-T: the fast variant of HPM-CP. Reference: paper *correlated*, Algorithm 3."""
    return _square(budgets, goal.log_pac**2 / budgets.n)


def hpm_up_t(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-UP-T: the fast variant of HPM-UP. Reference: paper *correlated*, Algorithm 3."""
    log = goal.log_pac
    wide = _square(budgets, log**2 / budgets.n)
    return _better(budgets, log, wide, _square(budgets, log), sharp=False)


def _bias(budgets: Budgets, log: float) -> Effective:
    # ‖w − 1/n‖₁ is twice the bias.
    return capped(budgets, bias_cap(budgets, squares(log**2 / 4.0)))


def _square(budgets: Budgets, noise_per_square: float) -> Effective:
    return capped(budgets, square_cap(budgets, noise_per_square))


def _better(
    budgets: Budgets, log: float, near: Effective, small: Effective, *, sharp: bool
) -> Effective:
    """Return the minimizer of rU: the better of the minimizers for the two terms of its minimum.

    Args:
        budgets: the levels, ascending, with counts.
        log: the logarithm L.
        near: the minimizer for the first term, the squared distance of the weights from 1/n.
        small: the minimizer for the second term, L·‖w‖².
        sharp: True if that distance is ‖w − 1/n‖₁; False for the fast variants, which use √n·‖w −
            1/n‖ instead.
    """
    first, second = weighing_of(budgets, near), weighing_of(budgets, small)
    distance = first.bias * 2.0 if sharp else math.sqrt(budgets.n * first.spread)
    # Products, not powers: Python raises when a float power overflows, but a product becomes ∞.
    noise_near, noise_small = log * first.scale, log * second.scale
    value_near = distance * distance + noise_near * noise_near
    value_small = log * second.square + noise_small * noise_small
    return near if value_near <= value_small else small
