"""The rules that people use today: all alike, one threshold, in proportion, by sampling."""

from __future__ import annotations

import math

import numpy as np

from epsilons.allocation.rule import Effective, weighing_of
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


def sampling(budgets: Budgets, goal: Goal) -> Effective:
    """Keep a person with probability (e^ε − 1)/(e^t − 1), then use one budget t for all who stay.

    t is the one of least risk among the levels; paper *correlated* always takes the largest.

    Reference:
        Jorgensen, Yu and Cormode 2015 (SM of paper *correlated*, Appendix B). Their proof needs a
        release in which a person who was not kept looks like one who was: here that person counts
        as the middle of the range, and the divisor is the expected number of people. See
        docs/proofs/sampling.md.
    """
    levels = budgets.levels
    finite = np.flatnonzero((levels > 0.0) & np.isfinite(levels)).astype(np.int64)
    limits = levels[_spread(finite, _MOST)].tolist()
    # The error follows from who is kept and from the limit, which is the most that anyone spends:
    # what the others spend is worked out for the limit that is taken, and for no other.
    answers = (
        Effective(np.minimum(levels, limit), keep=keep_probability(levels, limit))
        for limit in limits
    )
    risks = [goal.aim(weighing_of(budgets, answer, goal.noise)) for answer in answers]
    if math.isinf(levels[-1]):
        public = Effective(np.where(np.isinf(levels), math.inf, 0.0))
        risks.append(goal.aim(weighing_of(budgets, public, goal.noise)))
    best = int(np.argmin(risks))
    return _sampling_at(budgets, limits[best]) if best < len(limits) else public


def keep_probability(levels: Floats, limit: float) -> Floats:
    """(e^ε − 1)/(e^limit − 1), at most 1, without overflow, and never rounded up.

    The float64 result is off by a few units in the last place: a thousand of those are taken away.

    Args:
        levels: the budgets, ascending.
        limit: above 0, and finite.
    """
    keep = np.ones(len(levels))
    below = levels[: np.searchsorted(levels, limit)]
    rate = np.exp(below - limit) * np.expm1(-below) / math.expm1(-limit)
    keep[: len(below)] = rate * (1.0 - 2.0**-43)
    return keep


def sampling_loss(keep: Floats, limit: float) -> Floats:
    """The exact loss of a person who is kept with this probability: see docs/proofs/sampling.md."""
    half = limit / 2.0
    if half < 500.0:
        grown = np.log1p(keep * math.expm1(half))
    else:  # keep·(e^{t/2} − 1) may be too large for a float; its logarithm is not
        grown = np.logaddexp(np.log1p(-keep), np.log(keep) + half)
    loss = (grown - np.log1p(keep * math.expm1(-half))) * (1.0 + 2.0**-45)  # rounded up
    return np.asarray(np.minimum(loss, limit), dtype=np.float64)


def _sampling_at(budgets: Budgets, limit: float) -> Effective:
    keep = keep_probability(budgets.levels, limit)
    spent = np.where(keep >= 1.0, limit, 0.0)
    inner = (keep > 0.0) & (keep < 1.0)
    spent[inner] = sampling_loss(keep[inner], limit)
    return Effective(np.minimum(spent, budgets.levels), keep=keep)


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

    tried = _spread(candidates, _MOST)
    risks = [at(int(index)) for index in tried]
    best = int(np.argmin(risks))
    first, last = tried[max(best - 1, 0)], tried[min(best + 1, len(tried) - 1)]
    near = _spread(candidates[(candidates >= first) & (candidates <= last)], _MOST)
    pairs = [*zip(risks, tried.tolist(), strict=True), *((at(int(i)), int(i)) for i in near)]
    return int(min(pairs)[1])


def _spread(indices: Integers, most: int) -> Integers:
    """At most `most` of the indices, evenly spread, both ends among them."""
    if len(indices) <= most:
        return indices
    return indices[np.unique(np.linspace(0, len(indices) - 1, most).astype(np.int64))]
