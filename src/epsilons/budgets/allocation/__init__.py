"""Allocation of budgets: all allocation rules by name, and the choice of the best rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from epsilons import parameters
from epsilons.budgets.allocation.baselines import (
    hpm_a,
    hpm_ce,
    hpm_cp,
    hpm_cp_t,
    hpm_ue,
    hpm_up,
    hpm_up_t,
    proportional,
    threshold,
    uniform,
)
from epsilons.budgets.allocation.rules import (
    MARGIN,
    Effective,
    Rule,
    affine,
    best_cap,
    narrowest,
    optimal,
    promising,
    staircase,
    weighing_of,
)
from epsilons.budgets.allocation.shrunk import minimax
from epsilons.budgets.levels import Budgets, People, as_budgets, budgets_of_people
from epsilons.errors import BudgetError
from epsilons.risk import ClosedNoise, CubeNoise, StairNoise, Weighing
from epsilons.risk.goals import Goal, checked, goal_of, guess_for
from epsilons.risk.means.lorenz import curve_of
from epsilons.types import About, Allocated, Edges, Floats, Integers, Labels, Loss, RuleName

__all__ = [
    "FREQUENCY_RULES",
    "NARROWEST",
    "RULES",
    "SEVERAL_RULES",
    "TESTED_RULES",
    "Allocation",
    "allocate",
    "allocate_for",
    "allocation_of",
    "best_cap",
    "rules_for",
]

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "optimal": optimal,
        "minimax": minimax,
        "affine": affine,
        "threshold": threshold,
        "uniform": uniform,
        "proportional": proportional,
        "staircase": staircase,
        "hpm-a": hpm_a,
        "hpm-cp": hpm_cp,
        "hpm-ce": hpm_ce,
        "hpm-up": hpm_up,
        "hpm-ue": hpm_ue,
        "hpm-cp-t": hpm_cp_t,
        "hpm-up-t": hpm_up_t,
    }
)
"""Every rule for a mean, by name."""

_CLEARLY: Final = 0.95
"""`auto` chooses the cap for the interval only if this makes the product of the interval's length
and the risk smaller than this fraction of what it is with the least risk."""

_FEW: Final = 4096
"""Allocations with at most this many levels stay in memory, to be used again."""

NARROWEST: Final = "narrowest"
"""The name of the rule that chooses the cap for the interval."""

TESTED_RULES: Final[Mapping[str, Rule]] = MappingProxyType({**RULES, NARROWEST: narrowest})
"""Every rule for a mean if `auto` may choose the cap for its interval, by name."""

FREQUENCY_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "optimal": optimal,
        "threshold": threshold,
        "uniform": uniform,
        "proportional": proportional,
        "hpf-a": hpm_a,
        "hpf-cp": hpm_cp,
        "hpf-ce": hpm_ce,
        "hpf-up": hpm_up,
        "hpf-ue": hpm_ue,
        "hpf-cp-t": hpm_cp_t,
        "hpf-up-t": hpm_up_t,
    }
)
"""Every rule for frequencies, by name."""

_ALONE = ("minimax", "staircase")
"""Rules that apply only if there is a single sum, with its own noise."""

SEVERAL_RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {name: rule for name, rule in RULES.items() if name not in _ALONE}
)
"""Every rule for several means that share one noise vector, by name."""

_RULES: Final[Mapping[str, Mapping[str, Rule]]] = MappingProxyType(
    {"mean": RULES, "frequencies": FREQUENCY_RULES, "several means": SEVERAL_RULES}
)

_BY_NAME_ONLY = ("minimax",)
"""Rules that `auto` never chooses. `minimax` shrinks estimates towards the middle of the range."""


@dataclass(frozen=True, eq=False)
class Allocation:
    """How much everyone spends, and the resulting error. Both depend on budgets alone.

    Attributes:
        levels: the distinct budgets ε, ascending.
        counts: the number of people at each level.
        spent: the effective budget e ≤ ε at each level; people keep the rest.
        weights: the weight of one person at each level in the mean.
        total: the sum of all weights: 1 for every rule except minimax.
        scale: the scale of the Laplace noise on a unit range. For frequencies: the scale in each
            cell. For staircase noise: the scale of Laplace noise with the same variance.
        risk: the worst-case mean squared error, or the PAC error, on a unit range. For frequencies:
            the expected sum of squared errors over all categories, the expected largest squared
            error, or the PAC error of the worst category.
        aimed: the same error for data with the guessed spread; equal to `risk` without a guess.
        method: the name of the rule.
        cap: the number τ of a rule of the form e = min(ε, τ); None for other rules.
        goal: the assumptions about the data, and the error to minimize.
        exact: whether `risk` is the exact worst case; otherwise it is a proven bound.
        stairs: the distribution of staircase noise on a unit range; None for Laplace noise.
        closed: the noise of the cells if it sums to zero; None if cells have independent noise.
        cube: the joint noise of several means; None if the mean has its own noise.

    Examples:
        >>> import epsilons as ep
        >>> allocation = ep.allocate({0.1: 500, 1.0: 490}, related=False)
        >>> allocation.levels.tolist(), allocation.spent.round(2).tolist()
        ([0.1, 1.0], [0.1, 0.26])
        >>> round(allocation.cap, 2), round(allocation.risk**0.5, 3)
        (0.26, 0.011)
    """

    levels: Floats
    counts: Integers
    spent: Floats
    weights: Floats
    total: float
    scale: float
    risk: float
    aimed: float
    method: str
    cap: float | None
    goal: Goal
    exact: bool
    stairs: StairNoise | None = None
    closed: ClosedNoise | None = None
    cube: CubeNoise | None = None

    @property
    def n(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @cached_property
    def weighing(self) -> Weighing:
        """The weights and the noise of the estimator on a unit range, for functions of `risk`."""
        return Weighing(
            self.weights,
            self.counts,
            self.scale,
            stairs=self.stairs,
            closed=self.closed,
            cube=self.cube,
        )

    def for_each(self, epsilon: npt.ArrayLike) -> Floats:
        """Return the spent budget of each person.

        Args:
            epsilon: one ε for each person, in any order.

        Returns:
            The effective budget of each person, in the same order.

        Raises:
            BudgetError: an ε is not a number, or is below every level of this allocation.
            ArgumentError: `epsilon` is not one column.
        """
        people = budgets_of_people(epsilon)
        index = np.searchsorted(self.levels, people, side="right") - 1
        if np.isnan(people).any() or (index < 0).any():
            raise BudgetError(
                "epsilon: somebody's budget is NaN or below every level of this allocation. "
                "Allocate for the budgets of all the people you ask about."
            )
        return np.asarray(self.spent[index])

    def __repr__(self) -> str:
        return (
            f"Allocation(method={self.method!r}, {self.n} people, {len(self.levels)} levels, "
            f"scale={self.scale:.4g}, risk={self.risk:.4g})"
        )


@parameters.speaks_plainly()
def allocate(
    epsilon: People,
    *,
    statistic: Allocated = "mean",
    categories: int | Labels | None = None,
    edges: Edges | None = None,
    about: About = "people",
    related: bool | float = True,
    spread: float | None = None,
    loss: Loss = "mse",
    confidence: float = 0.95,
    method: RuleName = "auto",
) -> Allocation:
    """Choose how much of each person's budget to spend.

    Args:
        epsilon: one ε for each person, or `Budgets`. ε = 0 leaves a person out; ε = ∞ means public.
        statistic: "mean" or "frequencies".
        categories: for frequencies, the categories or their number; None for a mean.
        edges: for frequencies of bins, the bin edges, instead of `categories`.
        about: "people" or "population": see `epsilons.mean`.
        related: whether budgets can depend on values: True, False, or a limit on the dependence.
        spread: for a mean, a guess of the standard deviation as a fraction of the range. It changes
            the cap. `risk` is the worst case with or without a guess.
        loss: "mse"; "pac", the quantile of the absolute error at probability `confidence`; or, for
            frequencies, "largest": see `epsilons.frequencies`.
        confidence: strictly between 0 and 1.
        method: "auto" for the rule of least risk, or the name of a rule. For "pac" of people with
            `related` True, "auto" is "narrowest", a cap for a short interval, if this makes the
            interval shorter by a clearly larger factor than it makes the risk larger.

    Returns:
        The allocation: spent budgets, weights, noise and risk, on a unit range.

    Raises:
        ArgumentError: an option is unknown, or `epsilon` cannot be read.
        BudgetError: an ε is negative or NaN, or everyone is at 0.
        DataError: there are fewer than two people.

    Guarantee:
        For every rule e_i ≤ ε_i, so a mechanism that spends e_i stays within everyone's budget.

    Examples:
        >>> import epsilons as ep
        >>> allocation = ep.allocate({0.1: 500, 1.0: 490})
        >>> allocation.method, allocation.spent.round(3).tolist()
        ('optimal', [0.1, 0.1])
    """
    cells = parameters.cells(statistic, categories, edges)
    words = checked(about, related, loss, confidence)
    goal = goal_of(words, cells, guess_for(cells, spread))
    parameters.choice("method", method, ("auto", *rules_for(goal)))
    return allocate_for(as_budgets(epsilon), goal, method)


def rules_for(goal: Goal) -> Mapping[str, Rule]:
    """Return the rules for the statistic of a goal."""
    return TESTED_RULES if goal.by_interval else _RULES[goal.statistic]


def allocate_for(budgets: Budgets, goal: Goal, method: str) -> Allocation:
    """Return the allocation, like `allocate`, for arguments that are already checked.

    Allocations with few levels are kept, because a plan, its release and its verdict ask for the
    same ones.
    """
    kept = goal.shared and budgets.levels.size <= _FEW
    return _kept(budgets, goal, method) if kept else _allocated(budgets, goal, method)


@lru_cache(maxsize=16)
def _kept(budgets: Budgets, goal: Goal, method: str) -> Allocation:
    return _allocated(budgets, goal, method)


def _allocated(budgets: Budgets, goal: Goal, method: str) -> Allocation:
    if method != "auto":
        return allocation_of(budgets, goal, method, rules_for(goal)[method](budgets, goal))
    best = _least_risk(budgets, goal)
    if goal.by_interval:
        narrow = allocation_of(budgets, goal, NARROWEST, narrowest(budgets, goal))
        if _price(narrow) < _CLEARLY * _price(best):
            return narrow
    return best


def _price(allocation: Allocation) -> float:
    """Return the forecast half-width of the interval times the risk of the estimate."""
    if not math.isfinite(allocation.scale):
        return math.inf
    width = curve_of(allocation.weighing).half_width(1.0, 1.0 - allocation.goal.confidence)
    return width * allocation.risk


def _least_risk(budgets: Budgets, goal: Goal) -> Allocation:
    """Return the allocation of least risk with Laplace noise or staircase noise."""
    best = _best_laplace(budgets, goal)
    if "staircase" not in rules_for(goal):
        return best
    answer = promising(budgets, goal, best.aimed)
    if answer is not None:
        other = allocation_of(budgets, goal, "staircase", answer)
        if other.aimed < (1.0 - MARGIN) * best.aimed:
            return other
    return best


def _best_laplace(budgets: Budgets, goal: Goal) -> Allocation:
    """Return the allocation of least risk with Laplace noise."""
    best = allocation_of(budgets, goal, "optimal", optimal(budgets, goal))
    if goal.loss != "pac" or (not goal.guessed and best.exact and goal.confidence >= 0.5):
        return best  # no other weights on the simplex are better: docs/proofs/allocation.md
    least = goal.aim(best.weighing)
    for name, rule in rules_for(goal).items():
        if name not in (*_BY_NAME_ONLY, "optimal", "staircase"):
            other = allocation_of(budgets, goal, name, rule(budgets, goal))
            if goal.aim(other.weighing) < least and other.aimed <= best.aimed:
                best, least = other, goal.aim(other.weighing)
    return best


def allocation_of(budgets: Budgets, goal: Goal, method: str, answer: Effective) -> Allocation:
    """Return the allocation for given effective budgets."""
    weighing = weighing_of(budgets, answer, goal.noise)
    # If the largest effective budget is infinite, only public people are used.
    spent = answer.spent
    if math.isinf(spent[-1]):
        spent = np.where(np.isinf(spent), math.inf, 0.0)
    for array in (spent, weighing.weights):
        array.flags.writeable = False
    worst = goal.worst.risk(weighing)
    return Allocation(
        levels=budgets.levels,
        counts=budgets.counts,
        spent=spent,
        weights=weighing.weights,
        total=answer.total,
        scale=weighing.scale,
        risk=worst,
        aimed=goal.risk(weighing) if goal.guessed else worst,
        method=method,
        cap=answer.cap,
        goal=goal,
        exact=goal.worst.is_exact(weighing),
        stairs=weighing.stairs,
        closed=weighing.closed,
        cube=weighing.cube,
    )
