"""The HPM and HPF families of paper *correlated*: minimizers of its surrogates, and rule A.

With L = ln(k/β), k = 1 for the mean, the paper's surrogates are, up to a square root,

    rC = ‖w − 1/n‖₁² + L²·scale²        rU = min(‖w − 1/n‖₁², L·‖w‖²) + L²·scale²

(6) and (7). For mean squared error L = 1, and L = ln k for frequencies. The fast variants put
n·‖w − 1/n‖² for ‖w − 1/n‖₁².
"""

from __future__ import annotations

import math

import numpy as np

from epsilons.allocation.best import bias_cap, squares
from epsilons.allocation.caps import capped, square_cap
from epsilons.allocation.rule import Effective, weighing_of
from epsilons.budgets import Budgets
from epsilons.risk.goals import Goal


def hpm_a(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """HPM-A: weights proportional to 1 − e^{−ε}.

    Reference:
        Paper *correlated*, Table 3.
    """
    share = -np.expm1(-budgets.levels)
    smallest = int(np.flatnonzero(budgets.levels > 0.0)[0])
    # ε/(1 − e^{−ε}) grows, so the strictest person decides how much noise there is.
    unit = float(budgets.levels[smallest]) / float(share[smallest])
    spent = np.multiply(unit, share, out=np.zeros(len(share)), where=share > 0.0)
    return Effective(np.minimum(spent, budgets.levels))


def hpm_cp(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-CP: related budgets, PAC error. Reference: paper *correlated*, Table 3 and (6)."""
    return _bias(budgets, goal.log_pac)


def hpm_ce(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-CE: related budgets, mean squared error. Reference: paper *correlated*, Table 3."""
    return _bias(budgets, goal.log_mse)


def hpm_up(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-UP: shuffled budgets, PAC error. Reference: paper *correlated*, Table 3 and (7)."""
    log = goal.log_pac
    return _better(budgets, log, _bias(budgets, log), _square(budgets, log), sharp=True)


def hpm_ue(budgets: Budgets, goal: Goal) -> Effective:
    """HPM-UE: shuffled budgets, mean squared error. Reference: paper *correlated*, Table 3."""
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
    cap = bias_cap(budgets, squares(log**2 / 4.0))
    return Effective(capped(budgets, cap), cap=cap)


def _square(budgets: Budgets, noise_per_square: float) -> Effective:
    cap = square_cap(budgets, noise_per_square)
    return Effective(capped(budgets, cap), cap=cap)


def _better(
    budgets: Budgets, log: float, near: Effective, small: Effective, *, sharp: bool
) -> Effective:
    """The minimizer of min(f, g) + h is that of f + h or that of g + h."""
    first, second = weighing_of(budgets, near), weighing_of(budgets, small)
    distance = first.bias * 2.0 if sharp else math.sqrt(budgets.n * first.spread)
    # Products, not powers: a power that overflows raises, a product is ∞.
    noise_near, noise_small = log * first.scale, log * second.scale
    value_near = distance * distance + noise_near * noise_near
    value_small = log * second.square + noise_small * noise_small
    return near if value_near <= value_small else small
