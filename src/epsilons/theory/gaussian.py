"""Lower bounds on the error of the mean of a Gaussian with an unknown range."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from epsilons import parameters
from epsilons.budgets.levels import People, as_budgets
from epsilons.errors import ArgumentError
from epsilons.listed import shown
from epsilons.theory.mean import SAFE
from epsilons.theory.worlds import SortedPeople, last_true, log_affinity, people_of
from epsilons.types import Neighbours

_MOST_PEOPLE = 2**52

_FARTHEST = 64.0
"""Distance between two means, in units of σ, at which their overlap is 0 in float precision."""


def gaussian_error(
    epsilon: People,
    *,
    sigma: float,
    reach: float | None = None,
    neighbours: Neighbours = "replace",
    confidence: float = 0.75,
) -> float:
    """Lower bound on the error of every private method for the mean of a Gaussian.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`.
        sigma: the standard deviation; the bound holds even for methods that know it.
        reach: if given, methods can assume that the mean is between −reach and reach, and must work
            for all these means. If None, the bound holds even if the mean is nearly known.
        neighbours: "replace" or "add-remove".
        confidence: a number above ½; 0.75 gives the probability ¼ of paper *gaussian*.

    Returns:
        The bound, in the units of `sigma`; ∞ if budgets are too small for any answer. For every
        method, and for every number below the bound, there is a mean for which the error is at
        least that number with probability at least 1 − confidence.

    Raises:
        ArgumentError: an argument is out of range (also BudgetError).
        DataError: there are fewer than two people.

    Reference:
        Proof: docs/proofs/limits-gaussian.md (1), (2), (3), (4). Paper *gaussian*, Theorems 9 and
        12; their constants do not follow from their proofs. At confidence 0.75 the bound is never
        less than √(π/8)·σ/(Σ_{i≤k} tanh(ε_i/2) + √(n − k)), for any k. Add/remove has 1 − e^{−ε_i}
        in place of tanh(ε_i/2).

    Examples:
        >>> import epsilons as ep
        >>> people = {0.05: 4000, 0.5: 3000, 2.0: 1000}
        >>> round(ep.theory.gaussian_error(people, sigma=15.0), 2)
        0.11
    """
    beta = _beta(confidence)
    parameters.choice("neighbours", neighbours)
    scale = parameters.positive("sigma", sigma)
    wide = None if reach is None else parameters.positive("reach", reach)
    people = people_of(as_budgets(epsilon))
    return _bound(people, scale, wide, neighbours == "replace", beta)


def gaussian_people(
    epsilon: People,
    *,
    error: float,
    sigma: float,
    reach: float | None = None,
    neighbours: Neighbours = "replace",
    confidence: float = 0.75,
) -> int:
    """Lower bound on the number of people that are needed to estimate the mean of a Gaussian.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`; only the share of each ε matters.
        error: the largest acceptable error, in the units of `sigma`.
        sigma: the standard deviation.
        reach: bound on |mean| that methods can assume, as for `gaussian_error`.
        neighbours: "replace" or "add-remove".
        confidence: required probability that the error is at most `error`, above ½.

    Returns:
        A number n ≥ 1. With fewer people, and budgets in these shares, no private method achieves
        the error with this confidence for every mean. Counts of people are rounded in favor of
        larger budgets.

    Raises:
        ArgumentError: an argument is out of range, or even 2⁵² people would not suffice (also
            BudgetError).
        DataError: there are fewer than two people.

    Reference:
        Proof: docs/proofs/limits-gaussian.md (5). Paper *gaussian* requires n of the order of 1/min
        ε. Its range finder needs that, but not every method does.

    Examples:
        >>> import epsilons as ep
        >>> people = {0.05: 4000, 0.5: 3000, 2.0: 1000}
        >>> ep.theory.gaussian_people(people, error=0.1, sigma=15.0)
        10237
    """
    beta = _beta(confidence)
    parameters.choice("neighbours", neighbours)
    scale, wanted = parameters.positive("sigma", sigma), parameters.positive("error", error)
    wide = None if reach is None else parameters.positive("reach", reach)
    replaced = neighbours == "replace"
    shares = people_of(as_budgets(epsilon))

    def enough(n: int) -> bool:
        people = _scaled(shares, n)
        if _alike(people, replaced, beta, wanted / scale) and (wide is None or wanted < wide):
            return False
        return wide is None or _packing(people, wide, replaced, beta) <= wanted

    high = 1
    while not enough(high):
        if high >= _MOST_PEOPLE:
            raise ArgumentError(
                f"error={shown(error)} is out of reach even for 2⁵² people: allow more."
            )
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _bound(
    people: SortedPeople, sigma: float, reach: float | None, replaced: bool, beta: float
) -> float:
    largest = _FARTHEST if reach is None else min(_FARTHEST, reach / sigma)
    near = last_true(lambda tau: _alike(people, replaced, beta, tau), 1e-12, largest)
    if reach is None:
        # If budgets are too small to distinguish any two means, no finite error can be achieved.
        return math.inf if near == largest else SAFE * sigma * near
    return SAFE * max(sigma * near, _packing(people, reach, replaced, beta))


def _alike(people: SortedPeople, replaced: bool, beta: float, tau: float) -> bool:
    """Whether the means ±τ are indistinguishable.

    Proof: docs/proofs/limits-gaussian.md (1), (2).
    """
    pulls = np.tanh(0.5 * people.levels) if replaced else -np.expm1(-people.levels)
    if _variation(people, pulls, tau) < 1.0 - 2.0 * beta:
        return True
    grouped = people if replaced else people.times(2.0)
    differ = math.erf(tau / math.sqrt(2.0))
    return log_affinity(grouped, differ, tau * tau) > math.log(4.0 * beta) + math.log1p(-beta)


def _variation(people: SortedPeople, pulls: npt.NDArray[np.float64], tau: float) -> float:
    """Bound on the total variation distance between releases for means ±τ and σ = 1.

    A person's pull is the factor by which privacy reduces the distance between the two
    distributions of their value: tanh(ε/2) under replace, 1 − e^{−ε} under add/remove. People are
    sorted by ε, ascending.
    The bound is the minimum over k of erf(τ/√2)·(sum of the first k pulls) + erf(√(n − k)·τ/√2).
    Within a budget level it is concave in k, so only the ends of levels are evaluated.
    Proof: docs/proofs/limits-gaussian.md (1).

    Args:
        people: the budget levels, with the number of people at each.
        pulls: the pull of a person at each level.
        tau: the distance τ of each mean from 0.
    """
    one = math.erf(tau / math.sqrt(2.0))
    strict = np.concatenate([np.zeros(1), np.cumsum(people.counts * pulls)])
    rest = people.n - np.concatenate([np.zeros(1), np.cumsum(people.counts)])
    shown = np.array([math.erf(z) for z in (np.sqrt(rest) * (tau / math.sqrt(2.0))).tolist()])
    return float(np.min(one * strict + shown))


def _packing(people: SortedPeople, reach: float, replaced: bool, beta: float) -> float:
    """Packing bound from the number of distinguishable means in ±reach.

    Proof: docs/proofs/limits-gaussian.md (3).
    """
    with np.errstate(over="ignore"):
        worth = float(people.counts @ people.levels)
    log_answers = worth - math.log1p(-beta) + (math.log(beta) if replaced else 0.0)
    if log_answers > 700.0:
        return 0.0
    answers = math.floor(math.exp(log_answers) * (1.0 + 1e-12)) + (1 if replaced else 0)
    return reach / max(answers, 1)


def _scaled(shares: SortedPeople, n: int) -> SortedPeople:
    """Return n people with these shares of budgets.

    For every level, the number of people with at least that budget is rounded up.
    """
    at_least = np.cumsum(shares.counts[::-1])[::-1].tolist()
    total = shares.n
    ranks = np.array([-(-n * each // total) for each in at_least] + [0], dtype=np.int64)
    counts = ranks[:-1] - ranks[1:]
    return SortedPeople(shares.levels[counts > 0], counts[counts > 0])


def _beta(confidence: object) -> float:
    checked = parameters.confidence(confidence)
    if checked <= 0.5:
        raise ArgumentError(f"confidence={shown(confidence)} must be above 0.5 for a bound.")
    return 1.0 - checked
