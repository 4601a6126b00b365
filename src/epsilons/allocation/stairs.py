"""The staircase: whole multiples of one budget e0, and noise that falls in stairs of one unit.

A person who weighs k units loses at most k·e0, by k moves of one unit each. Where budgets are large
the noise of such stairs is much smaller than Laplace noise; where they are small it is nearly the
same, and rounding budgets down to multiples of e0 costs more than it gains.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from epsilons.allocation.best import merged
from epsilons.allocation.rule import Effective, weighing_of
from epsilons.budgets import Budgets
from epsilons.noise import Staircase
from epsilons.risk import Moments, Weighing
from epsilons.risk.goals import Goal
from epsilons.types import Floats

MARGIN: Final = 1e-3
"""`auto` leaves Laplace noise only for a risk that is smaller by this part, …"""

LEAST: Final = 0.7
"""… and only for a rate from here on. σ²(e0) ≥ (2/e0²)·e^{−e0²/12}: below it no more than 4 % of
the variance of the noise is at stake (in truth 2 %), and one kind of noise for all is worth more.
"""

STEPS: Final = 2**30
"""Lattice points of one unit: as fine as the grid of the values."""

_MOST_LEVELS: Final = 32
_MOST_UNITS: Final = 32
_CELLS: Final = 8192
"""The levels that a search tells apart, the largest weight, and the most rates times weights that
are looked at: with many levels the largest weight is smaller, down to 16."""

_LARGEST: Final = 64.0
"""A rate beyond which the noise is finer than the lattice."""

_ROUNDING: Final = 1e-12
"""ε/e0 is often a whole number, which a float may miss."""

_COARSE: Final = -12
"""The binary exponent above which a rate may lose what is below 2^−53."""

_NOISES: Final = (0.5, 1.0, 2.0)
_EACH: Final = 2
"""For the PAC error: by how much noise counts beside data, and how many of the best of each."""


def staircase(budgets: Budgets, goal: Goal) -> Effective:
    """Weights k_i = floor(min(ε_i, τ)/e0) and staircase noise: the best e0 and τ that were found.

    For the mean squared error all e0 = ε/m are tried, which are the only ones that can be best,
    with weights up to 32 (16 where there are many levels), and beyond 32 levels on groups of
    neighbours. For the PAC error the proven bound of `risk` chooses among those that are good for
    several shares of noise.

    Guarantee:
        e_i = k_i·e0 ≤ ε_i, exactly; e0 is a rational number.

    Reference:
        Geng and Viswanath (2014) for the noise; group privacy for the rest:
        docs/proofs/additive.md.
    """
    return _best(budgets, goal, _choices(merged(budgets, _MOST_LEVELS), goal))


def _best(budgets: Budgets, goal: Goal, choices: list[tuple[float, int]]) -> Effective:
    """The best of some rates with their largest weights, and of public people alone."""
    answers = [_answer(budgets, *choice) for choice in choices]
    if math.isinf(budgets.levels[-1]):
        alone = np.where(np.isinf(budgets.levels), math.inf, 0.0)
        answers.append(Effective(alone, cap=math.inf))
    if len(answers) == 1:
        return answers[0]
    return min(answers, key=lambda answer: goal.risk(weighing_of(budgets, answer)))


def promising(budgets: Budgets, goal: Goal, than: float) -> Effective | None:
    """The answer of `staircase`, if it may have a risk clearly below one that is known.

    Args:
        budgets: the levels, ascending, with counts.
        goal: of a mean.
        than: the least risk with Laplace noise.

    Returns:
        None where that is out of the question. It costs next to nothing where nothing can be won:
        only people from the least rate on would be used, and perhaps their data alone err too much.
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
    """σ²(rate), the least variance for one unit: (1 + cosh(rate/2)^⅔)/(4·sinh²(rate/2)).

    Reference:
        Paper *add-remove*, equation (2), in which b = e^{−rate}.
    """
    half = rate / 2.0
    with np.errstate(over="ignore", divide="ignore"):
        return np.asarray((1.0 + np.cosh(half) ** (2.0 / 3.0)) / np.square(2.0 * np.sinh(half)))


def _choices(budgets: Budgets, goal: Goal) -> list[tuple[float, int]]:
    """Rates and largest weights that are worth a look; empty if nobody has a budget to round."""
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
    """ε/m for all levels and small m, descending: the largest that given weights allow is one."""
    rates = np.unique(np.minimum(levels[:, None] / np.arange(1, most + 1), _LARGEST))[::-1]
    return np.asarray(rates[rates > 0.0])


def _moments(budgets: Budgets, rates: Floats, most: int) -> Moments:
    """What risk depends on, for every rate (rows) and every largest weight 1, 2, … (columns)."""
    n, width = budgets.n, most + 1
    with np.errstate(over="ignore"):
        quotients = np.minimum(budgets.levels / (rates[:, None] * (1.0 - _ROUNDING)), most)
    units = np.floor(quotients).astype(np.int64)
    keys = units + width * np.arange(len(rates))[:, None]
    people = np.broadcast_to(budgets.counts.astype(np.float64), units.shape)
    table = np.bincount(keys.ravel(), people.ravel(), width * len(rates))
    table = table.reshape(len(rates), width)
    # Columns: the people who weigh at most 0, 1, …, and those who weigh at least 1, 2, … units.
    at_most = np.cumsum(table, axis=1)[:, :-1]
    at_least = np.cumsum(table[:, ::-1], axis=1)[:, -2::-1]  # no difference: few beside many
    total = np.cumsum(at_least, axis=1)
    square = np.cumsum(at_least * (2.0 * np.arange(1, width) - 1.0), axis=1)
    # The bias is Σ(1/n − w)₊, over those who weigh less than the average.
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
    """The weights of a rate, and the largest rate that they allow.

    Levels ascend, so the strictest person of each weight is the first who has it.
    """
    levels = budgets.levels
    units = np.arange(most + 1)
    first = np.searchsorted(levels, near * units[1:] * (1.0 - _ROUNDING))
    sizes = np.diff(first, prepend=0, append=len(levels))
    used = np.flatnonzero(sizes[1:])
    strictest, weights = levels[first[used]], units[1 + used]
    rate = _round_down(min(float(np.min(strictest / weights)), _LARGEST), most)
    while np.any(weights * rate > strictest):  # exact: see `_round_down`
        rate = _round_down(math.nextafter(rate, 0.0), most)
    law = Staircase.best(Fraction(rate), STEPS)
    return Effective(np.repeat(units * rate, sizes), cap=most * rate, law=law)


def _round_down(rate: float, most: int) -> float:
    """A rate of so few bits that its multiples up to `most` are exact, and fast to draw with.

    A denominator of at most 2^53 draws fast. Rates that are too small for it are left as they are.
    """
    exponent = math.frexp(rate)[1]
    last = exponent - 53 + (most - 1).bit_length()
    last = max(last, -53 if exponent > _COARSE else -1074)
    return math.ldexp(math.floor(math.ldexp(rate, -last)), last)
