"""How alike two worlds look through a private release: the affinity that every budget leaves.

docs/proofs/limits.md holds the proofs.
"""

from __future__ import annotations

import math

import numpy as np

from epsilons.theory.prefix import Crowd, best_split, last_true, log_cosh
from epsilons.types import Floats

_LN2 = math.log(2.0)


def log_affinity(people: Crowd, differ: float, reveal: float) -> float:
    """The logarithm of ρ, a lower bound on the affinity of two worlds of independent records.

    Args:
        people: who there is; the release is private for each of them under replace.
        differ: how likely one record differs, if both worlds are drawn together.
        reveal: −ln of the squared affinity of one record that is public; it may be infinite.

    Returns:
        ln of the largest over k of e^{−reveal·(n − k)}·2/(1 + E cosh D), where D is the sum of the
        budgets of those of the k strictest whose records differ.
    """
    n = people.n
    with np.errstate(divide="ignore"):
        up = np.logaddexp(np.log1p(-differ), np.log(differ) + people.levels)
        down = np.log1p(differ * np.expm1(-people.levels))

    def score(k: Floats, grown: Floats, shrunk: Floats) -> Floats:
        shown = np.where(k < n, np.maximum(n - k, 1.0) * reveal, 0.0)
        cosh = np.logaddexp(grown, shrunk) - _LN2
        return np.asarray(_LN2 - np.logaddexp(0.0, cosh) - shown)

    return best_split(people, (up, down), score)


def log_coins(people: Crowd, gap: float) -> float:
    """The logarithm of ρ for records that are 1 with probability ½ ± gap."""
    square = 4.0 * gap * gap
    return log_affinity(people, 2.0 * gap, math.inf if square >= 1.0 else -math.log1p(-square))


def chain_square(people: Crowd, *, replaced: bool) -> float:
    """Le Cam's mean squared error for the mean of these very people, whose values budgets may tell.

    The largest over k of (k/2n)²·Λ, on a unit range: the strictest k of n people all have 0, or all
    have 1, and Λ bounds from below how alike these data look.
    """
    n = people.n
    log_alike = _log_alike_replaced if replaced else _log_alike_removed

    def score(k: Floats, spent: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(2.0 * np.log(k / (2.0 * n)) + log_alike(spent))

    return math.exp(best_split(people, (people.levels,), score))


def _log_alike_replaced(spent: Floats) -> Floats:
    """The logarithm of sech²(s/2): two laws within e^{±s} of each other."""
    return np.asarray(-2.0 * log_cosh(0.5 * spent))


def _log_alike_removed(spent: Floats) -> Floats:
    """The same for two laws within e^{±s} of a third: b·(2·sech s + 1 − b)/(1 + b), b = e^{−s}."""
    b = np.exp(-spent)
    return np.asarray(np.log(4.0 * b / (1.0 + b * b) + 1.0 - b) - np.log1p(b) - spent)


def chain_reach(people: Crowd, worth: float) -> int:
    """The largest k for which the k strictest budgets add up to less than `worth`."""
    if worth <= 0.0:
        return 0
    ends = np.cumsum(people.counts)
    with np.errstate(over="ignore"):
        spent = np.concatenate([np.zeros(1), np.cumsum(people.counts * people.levels)])
    whole = int(np.searchsorted(spent[1:], worth, side="left"))  # levels that fit as a whole
    reached = int(ends[whole - 1]) if whole else 0
    if whole == len(people.levels) or math.isinf(people.levels[whole]):
        return reached
    more = math.ceil((worth - float(spent[whole])) / float(people.levels[whole])) - 1
    return reached + min(max(more, 0), int(people.counts[whole]))


def widest_gap(people: Crowd, beta: float) -> float:
    """The largest gap for which coins of probability ½ ± gap cannot be told apart with 1 − β."""
    if beta >= 0.5:
        return 0.0
    need = math.log(4.0 * beta) + math.log1p(-beta)
    return last_true(lambda gap: log_coins(people, gap) > need, 1e-12, 0.5)
