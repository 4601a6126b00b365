"""Lower bounds on the error of a mean on a known range, and of frequencies."""

from __future__ import annotations

import math

import numpy as np

from epsilons import parameters
from epsilons.budgets.levels import Budgets, People, as_budgets
from epsilons.draws.noise import least_variance
from epsilons.errors import ArgumentError
from epsilons.listed import shown
from epsilons.risk.weighing import Assumption, assumption_of
from epsilons.theory.worlds import (
    SortedPeople,
    central_square,
    chain_reach,
    chain_square,
    dealt_square,
    golden,
    log_coins,
    people_of,
    sample_square,
    shuffled_reach,
    shuffled_square,
    strict_part_square,
    widest_gap,
)
from epsilons.types import About, Allocated, Edges, Labels, Loss, Neighbours

SAFE = 1.0 - 1e-9
"""Factor that covers rounding errors: a lower bound must not exceed the exact value."""


@parameters.speaks_plainly()
def least_error(
    epsilon: People,
    *,
    bounds: tuple[float, float] = (0, 1),
    statistic: Allocated = "mean",
    categories: int | Labels | None = None,
    edges: Edges | None = None,
    neighbours: Neighbours = "replace",
    about: About = "people",
    related: bool | float = True,
    loss: Loss = "mse",
    confidence: float = 0.95,
) -> float:
    """Lower bound on the worst-case error of every private method.

    The arguments are those of `epsilons.plan`. The bound holds for all budgets in [0, ∞].

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`.
        bounds: the range (lo, hi) of the values of a mean.
        statistic: "mean" or "frequencies".
        categories: for frequencies, the categories or their number; None for a mean.
        edges: for frequencies of bins, their edges, in place of categories.
        neighbours: "replace" or "add-remove". In both cases the budgets are known to be exactly
            these; without this knowledge the error can only be larger.
        about: "people" or "population": the target of the estimate.
        related: True if budgets may be related to values in any way, False if they are unrelated,
            or the largest difference δ between means at different budgets.
        loss: "mse" for the root mean square error (for frequencies, averaged over all categories);
            "largest" for the root mean square of the largest error of any category; "pac" for an
            error that is exceeded with probability above 1 − confidence.
        confidence: confidence level of the PAC error.

    Returns:
        The bound, in data units (for frequencies in shares). For every method there are data (or a
        population) for which its root mean square error is at least the bound. For "pac", every
        smaller error is exceeded with probability above 1 − confidence. The bound is 0 if no
        positive bound is proven. For a population with related budgets it is the bound for
        unrelated budgets, which are a special case. For `about="people"` and a number δ, the bound
        is computed for some of the data that meet the assumption. For a mean, these are values in
        an interval whose length is δ times that of the range. For frequencies, a fraction δ of the
        people at each budget can be in any category, and all others are in the first one.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError).
        DataError: there are fewer than two people.

    Reference:
        Proof: docs/proofs/limits.md (1), (4), (7), (9), (10), (11), (12), (17), (18), (19). The PAC
        bounds follow paper *correlated*, (31)-(36), with explicit constants. (35) is wrong as
        printed, and (36) is vacuous.

    Examples:
        >>> import epsilons as ep
        >>> people = {0.05: 4000, 0.5: 3000, 2.0: 1000}
        >>> bound = ep.theory.least_error(people, bounds=(0, 120))
        >>> best = ep.plan(people, bounds=(0, 120)).forecasts[0].rmse
        >>> round(bound, 2), round(best, 2)
        (0.25, 0.42)
    """
    parameters.choice("neighbours", neighbours)
    assumption = assumption_of(about, related)
    parameters.choice("loss", loss)
    beta = 1.0 - parameters.confidence(confidence)
    cells = parameters.cells(statistic, categories, edges)
    if cells is None:
        parameters.loss_of_a_mean(loss)
    lo, hi = parameters.bounds(bounds)
    if cells is not None and (lo, hi) != (0.0, 1.0):
        raise ArgumentError("bounds is for a mean: leave it out for frequencies, which are shares.")
    budgets = as_budgets(epsilon)
    replaced = neighbours == "replace"
    factor = 1.0
    if not assumption.sampled and not assumption.anything and assumption.related is not False:
        # If all values are in an interval of length δ, means differ by at most δ. A person has only
        # one category. So for categories, a fraction δ of the people at each budget can be in any
        # category, and all others are in the first one.
        factor = assumption.apart
        if cells is not None:
            free = np.floor(factor * budgets.counts).astype(np.int64)
            if int(free[budgets.levels > 0.0].sum()) < 2:
                return 0.0
            factor = float(free.sum()) / budgets.n
            budgets = Budgets.of_levels(budgets.levels[free > 0], free[free > 0])
    people = people_of(budgets)
    if loss == "pac":
        unit = _quantile(people, assumption, beta, cells or 2, replaced)
    else:
        unit = math.sqrt(_square(people, assumption, replaced))
        if cells is not None and loss == "mse":
            # If people are in only two categories, with errors e and f, then e² + f² ≥ 2·((e −
            # f)/2)².
            unit *= math.sqrt(2.0 / cells)
    return SAFE * (hi - lo) * factor * unit


def one_budget_error(epsilon: float, n: int, *, bounds: tuple[float, float] = (0, 1)) -> float:
    """The smallest possible root mean square error if all n people have the same budget.

    It is asymptotic, for the mean of the given people under replace and add/remove. For fixed ε the
    ratio to the true minimax error tends to 1 as n grows. For a bound that holds for every n, and
    for personal budgets, use `least_error`.

    Args:
        epsilon: the common budget, above 0; math.inf gives 0.
        n: number of people, at least 2.
        bounds: the range (lo, hi) of the values.

    Returns:
        (hi − lo)·σ/n, in data units, where σ² is the smallest variance of noise that makes a number
        ε-private if a person changes it by at most 1. The best staircase law has this variance.

    Raises:
        ArgumentError: an argument is out of range (also BoundsError).

    Reference:
        Geng and Viswanath (2014), Theorem 7; paper *add-remove*, equation (2) and Corollary 5.3.
        For ε = 16 and 32, Table 1 of that paper differs from its formula.
        Proof: docs/proofs/limits.md (16).

    Examples:
        >>> import epsilons as ep
        >>> [round(ep.theory.one_budget_error(epsilon, 1000), 5) for epsilon in (0.1, 1.0, 4.0)]
        [0.01414, 0.00138, 0.00025]
    """
    lo, hi = parameters.bounds(bounds)
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float)) or not epsilon > 0.0:
        raise ArgumentError(f"epsilon={shown(epsilon)} must be one number above 0, for everyone.")
    if isinstance(n, bool) or not isinstance(n, int) or n < 2:
        raise ArgumentError(f"n={shown(n)} must be a whole number of people, at least 2.")
    if epsilon < 1e-100:  # the square would overflow
        return (hi - lo) * math.sqrt(2.0) / epsilon / n
    return (hi - lo) * math.sqrt(least_variance(float(epsilon))) / n


def _square(people: SortedPeople, assumption: Assumption, replaced: bool) -> float:
    """Lower bound on the mean squared error on a unit range."""
    # ε-privacy under add/remove implies 2ε-privacy under replace.
    exchanged = people if replaced else people.times(2.0)
    population = _population_square(exchanged)
    if assumption.sampled:
        return population
    off_sample = max(math.sqrt(population) - 0.5 / math.sqrt(people.n), 0.0) ** 2
    dealt = max(shuffled_square(exchanged), dealt_square(exchanged))
    found = max(off_sample, sample_square(exchanged), dealt)
    if assumption.related is not False:
        chain = chain_square(people, replaced=replaced)
        found = max(found, chain, strict_part_square(exchanged))
    return found


def _population_square(people: SortedPeople) -> float:
    heard = int(people.counts[people.levels > 0.0].sum())
    sampling = 0.25 / (1.0 + math.sqrt(heard)) ** 2
    pairs = golden(lambda gap: 2.0 * math.log(gap) + log_coins(people, gap), 1e-10, 0.5)
    return max(sampling, math.exp(pairs), central_square(people))


def _quantile(
    people: SortedPeople, assumption: Assumption, beta: float, cells: int, replaced: bool
) -> float:
    """An error on a unit range that every method exceeds with probability above β."""
    if assumption.sampled:
        exchanged = people if replaced else people.times(2.0)
        return widest_gap(lambda gap: log_coins(exchanged, gap), beta)
    if assumption.related is not False:
        worth = math.log(cells - 1.0) + math.log1p(-beta) - math.log(beta)
        if not replaced:
            worth = max(0.5 * worth, math.log1p(-1.0 / cells) - math.log(beta))
        reach = chain_reach(people, worth)
    else:
        reach = shuffled_reach(people, cells, beta, replaced=replaced)
    return reach / (2.0 * people.n)
