"""The rules that people use today: all alike, one threshold, in proportion."""

from __future__ import annotations

import math

import numpy as np

from epsilons.allocation.rule import Effective, spread_out, weighing_of
from epsilons.budgets import Budgets
from epsilons.risk import Moments
from epsilons.risk.goals import Goal
from epsilons.types import Floats, Integers

_MOST = 256
"""Candidates that are tried one by one where no formula serves all of them at once."""


def uniform(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """Everyone who takes part is treated as the strictest of them: e_i = min ε.

    Reference:
        UNI of paper *correlated*, Appendix B. People at ε = 0 take no part.
    """
    smallest = budgets.levels[budgets.levels > 0.0][0]
    return Effective(np.where(budgets.levels > 0.0, smallest, 0.0))


def proportional(budgets: Budgets, goal: Goal) -> Effective:  # noqa: ARG001
    """Everyone spends all they have: e_i = ε_i, the least noise. One public person takes it all.

    Reference:
        PROP of paper *correlated*, Appendix B.
    """
    return Effective(budgets.levels.copy(), cap=math.inf)


def threshold(budgets: Budgets, goal: Goal) -> Effective:
    """The best single threshold: e_i = τ if ε_i ≥ τ, else 0.

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
    """Try the candidates; where there are very many, evenly spread ones, then all near the best."""

    def at(index: int) -> float:
        return goal.aim(weighing_of(budgets, _threshold_at(budgets, index), goal.noise))

    tried = spread_out(candidates, _MOST)
    risks = [at(int(index)) for index in tried]
    best = int(np.argmin(risks))
    first, last = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
    near = spread_out(candidates[(candidates >= first) & (candidates <= last)], _MOST)
    pairs = [*zip(risks, tried.tolist(), strict=True), *((at(int(i)), int(i)) for i in near)]
    return int(min(pairs)[1])
