"""The choice of weights and noise under add/remove, from public numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from epsilons.budgets.allocation import best_cap
from epsilons.budgets.levels import Budgets, Ladder
from epsilons.door import GRID
from epsilons.draws.mechanisms.add_remove import (
    CellSums,
    TwoSums,
    build_cell_sums,
    rounded_down,
    weights_up_to,
)
from epsilons.draws.mechanisms.sums import lattice
from epsilons.draws.noise import Hourglass, Laplaces, PairLaw, Staircase2D, least_variance
from epsilons.errors import ArgumentError
from epsilons.risk import INDEPENDENT, Moments, Weighing
from epsilons.risk.counted import LevelCount
from epsilons.risk.goals import Goal
from epsilons.risk.margins import MOST_WEIGHTS, Ratio, RatioMean
from epsilons.risk.means import ratio
from epsilons.risk.means.ratio_spread import RatioSpread
from epsilons.types import Floats, Integers

Sums = TypeVar("Sums", TwoSums, CellSums)
Quotient = TypeVar("Quotient", bound=Ratio)

METHODS: Final = ("transformed", "squares", "hourglass", "staircase2d", "shifted", "independent")
"""The methods for a mean under add/remove."""

CELL_METHODS: Final = ("transformed", "total")
"""The methods for frequencies under add/remove."""

_SCHEMES: Final[Mapping[str, ratio.Scheme]] = MappingProxyType(
    {
        "transformed": ratio.TWO_SUMS,
        "hourglass": ratio.TWO_SUMS,
        "staircase2d": ratio.TWO_SUMS,
        "shifted": ratio.CENTRED,
        "independent": ratio.SUM_AND_COUNT,
    }
)

_STAIRS: Final[Mapping[str, Callable[[Fraction, int], PairLaw]]] = MappingProxyType(
    {"hourglass": Hourglass.best, "staircase2d": Staircase2D.best}
)

_MARGIN: Final = 0.99
"""`auto` considers staircase noise only if its variance is at least 1 % below that of Laplace
noise."""

_ALIKE: Final = 1.1
_MOST_LOST: Final = 1.3
"""`auto` draws squares if the weights of rungs differ by more than the first factor, and the
predicted risk grows by at most the second."""

_STEPS: Final = 2**40
_PARTS: Final = 32
"""A unit of weight is a rung (a public budget level) divided by an integer up to this number."""

_WEIGHTS: Final = np.array([1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0])
"""Candidates for the largest weight, in addition to the weights at the rungs."""

_HEAVIEST: Final = 2.0**45
"""The largest possible weight. It has as many bits as the largest weight under Laplace noise."""

_MOST_CAPS: Final = 12
_NOBODY_KNOWS: Final = 1000
"""The number of people assumed on each rung if nothing is known. This only affects which rungs
share a unit of weight."""


@dataclass(frozen=True, eq=False)
class Known:
    """The public information that the choice of a design can depend on.

    Attributes:
        ladder: the public ladder.
        left: the remaining budget of a person on each rung.
        cap: the most that anyone spends here; None if it must be chosen.
        guess: the expected number of people on each rung.
    """

    ladder: Ladder
    left: tuple[Fraction, ...]
    cap: float | None
    guess: Integers

    def people(self, most: float = math.inf) -> tuple[Floats, Integers]:
        """Return distinct remaining budgets, ascending, and the number of people expected at each.

        Args:
            most: the most that anyone can spend; larger budgets are clipped to it.
        """
        totals: dict[float, int] = {}
        for rung in np.flatnonzero(self.guess > 0).tolist():
            left = min(float(self.left[rung]), most)
            totals[left] = totals.get(left, 0) + int(self.guess[rung])
        ordered = dict(sorted(totals.items()))
        return np.array(list(ordered)), np.array(list(ordered.values()), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Design(Generic[Sums]):
    """A mechanism with its name and its predicted error.

    Attributes:
        method: the name of the method.
        mechanism: the frozen mechanism.
        weighing: the weights and the noise for the expected people. They determine the leading term
            of the error.
        goal: the error to minimize.
    """

    method: str
    mechanism: Sums
    weighing: Weighing
    goal: Goal

    @cached_property
    def risk(self) -> float:
        """The predicted risk on a unit range, for the goal."""
        return self.goal.risk(self.weighing)

    @property
    def equal(self) -> bool:
        """Whether all rungs, and therefore all counted people, have the same positive weight."""
        weights = self.mechanism.weights
        return bool(weights.max() > 0) and bool((weights == weights.max()).all())


def two_sums_design(
    known: Known, goal: Goal, method: str, *, bounds: tuple[float, float]
) -> Design[TwoSums]:
    """Return the best design of a method for a mean; "auto" compares Laplace and hourglass noise.

    A staircase or an hourglass needs declared levels: see `require_levels`.
    """
    if method == "auto":
        plain = two_sums_design(known, goal, "transformed", bounds=bounds)
        if known.ladder.fine or not _pays(float(max(known.left))):
            return plain
        stairs = two_sums_design(known, goal, "hourglass", bounds=bounds)
        better = stairs.risk < plain.risk and _pays(float(stairs.mechanism.law.rate))
        return stairs if better else plain
    scheme = _SCHEMES[method]
    if method not in _STAIRS:
        cap = _cap(known, goal) if known.cap is None else known.cap
        moved = 1 if scheme is ratio.TWO_SUMS else 2
        shift = lattice(np.array([cap]), most=45, reserved=moved - 1)
        unit = Fraction(2) ** shift
        weights = weights_up_to(known.left, cap, unit)
        law: PairLaw = Laplaces(moved * unit)
    else:
        rate, most = _best_step(known, goal)
        law = _STAIRS[method](rate, _STEPS)
        weights = [min(math.floor(left / rate), most) for left in known.left]
    mechanism = TwoSums(
        known.ladder.levels, np.array(weights, dtype=np.int64), scheme, law, GRID, bounds
    )
    weighing = mechanism.weighing(known.guess)
    return Design(method, mechanism, weighing, goal)


def mean_design(
    known: Known, goal: Goal, method: str, *, bounds: tuple[float, float]
) -> Design[TwoSums] | Design[CellSums]:
    """Return the best design of a method for a mean whose interval can use the spread of values.

    "auto" draws squares if weights clearly differ and budgets are unrelated to values. Then the
    interval depends on the spread of the values. Proof: docs/proofs/add-remove.md (20).
    """
    if method == "squares":
        return _squares_design(known, goal)
    plain = two_sums_design(known, goal, method, bounds=bounds)
    if method != "auto" or goal.assumption.related is not False or plain.equal:
        return plain
    squares = _squares_design(known, goal)
    # Intervals must allow for people on any rung, also where none are expected.
    weights = squares.mechanism.weights
    alike = weights.max(initial=0) <= _ALIKE * weights.min(initial=weights.max(initial=0))
    return plain if alike or squares.risk > _MOST_LOST * plain.risk else squares


def _squares_design(known: Known, goal: Goal) -> Design[CellSums]:
    """Return the best design of three cells, x², 2x(1 − x) and (1 − x)²."""
    cap = _cap(known, goal) if known.cap is None else known.cap
    mechanism = build_cell_sums(known.ladder, known.left, cap, cells=3, unit=GRID)
    weighing = mechanism.weighing(known.guess)
    total = float(mechanism.weights.astype(np.float64) @ known.guess)
    if total > 0.0:  # the noise has the largest variance if the mean is at an end of the range
        weighing = replace(weighing, scale=mechanism.scale * math.sqrt(1.25) / total)
    return Design("squares", mechanism, weighing, goal)


def ratio_of(
    mechanism: TwoSums,
    sums: tuple[Fraction | float, ...],
    kind: Callable[..., Quotient],
    *,
    equal: bool,
    counted: LevelCount | None = None,
) -> Quotient:
    """Return the margin of the ratio of two sums.

    Args:
        mechanism: the mechanism that produced the sums.
        sums: the drawn or expected sum and count, in units of weight.
        kind: a function that makes the margin: of a total, or of a mean on a given or an estimated
            range.
        equal: whether everyone is certain to have the same weight.
        counted: the noisy count of people on each rung, if it was released.
    """
    t, total = map(float, sums)
    return kind(
        law=mechanism.law,
        scheme=mechanism.scheme,
        drawn=(t, total),
        largest=int(mechanism.weights.max()),
        equal=equal,
        slack=1.0 / mechanism.grid,
        counted=counted,
    )


def mean_ratio(
    chosen: Design[TwoSums], sums: tuple[Fraction | float, ...], counted: LevelCount | None
) -> RatioMean:
    """Return the margin of the mean of everyone.

    Args:
        chosen: the design that produced the sums.
        sums: the drawn or expected sum and count, in units of weight.
        counted: the noisy count of people on each rung, if it was released.
    """
    kind = partial(RatioMean, rungs=_few_weights(chosen.mechanism.weights))
    return ratio_of(chosen.mechanism, sums, kind, equal=chosen.equal, counted=counted)


def spread_ratio(
    chosen: Design[CellSums], drawn: npt.NDArray[Any], counted: LevelCount | None
) -> RatioSpread:
    """Return the margin of the mean of everyone, from three drawn cells.

    Args:
        chosen: the design that produced the cells.
        drawn: the drawn integers, in lattice steps.
        counted: the noisy count of people on each rung, if it was released.
    """
    return RatioSpread(
        **cells_of(chosen, drawn, counted),
        slack=1.0 / GRID,
        rungs=_few_weights(chosen.mechanism.weights),
    )


def _few_weights(weights: Integers) -> Integers:
    """Return the different weights, or none if there are very many."""
    found = np.unique(weights)
    return found if len(found) <= MOST_WEIGHTS else found[:0]


def cells_of(
    chosen: Design[CellSums], drawn: npt.NDArray[Any], counted: LevelCount | None
) -> dict[str, Any]:
    """Return the arguments that all margins of noisy cells need: see `risk.margins.RatioCells`.

    Args:
        chosen: the design that produced the cells.
        drawn: the drawn integers, in lattice steps.
        counted: the noisy count of people on each rung, if it was released.
    """
    mechanism = chosen.mechanism
    return {
        "drawn": mechanism.counts(drawn),
        "scale": mechanism.scale,
        "largest": float(mechanism.weights.max()),
        "equal": chosen.equal,
        "counted": counted,
    }


def as_drawn(margin: Ratio | RatioSpread, bounds: tuple[float, float]) -> float:
    """Return the drawn ratio in data units, or the midpoint if the drawn total is not positive."""
    lo, hi = bounds
    t, total = margin.sums
    return lo + (hi - lo) * (t / total if total > 0.0 else 0.5)


def cell_design(
    known: Known, goal: Goal, method: str = "transformed", *, unit: int = 1
) -> Design[CellSums]:
    """Return the best design for frequencies.

    Args:
        known: the public information that the choice can depend on.
        goal: the goal, with the number of cells.
        method: "total" if everyone is also counted in a separate cell.
        unit: the sum of what a person of weight 1 adds to all cells, including that separate cell.
    """
    cap = _cap(known, goal) if known.cap is None else known.cap
    apart = method == "total"
    cells = goal.numbers + int(apart)
    mechanism = build_cell_sums(known.ladder, known.left, cap, cells=cells, unit=unit)
    weighing = mechanism.weighing(known.guess)
    if apart:
        # The forecast assumes equal shares. The noise of the total then adds almost nothing.
        own, shared = parts_of(goal.numbers)
        scale = math.hypot(1.0 / own, 1.0 / (shared * goal.numbers)) * (own + shared)
        total = float(mechanism.weights.astype(np.float64) @ known.guess)
        if total > 0.0:
            weighing = replace(weighing, scale=mechanism.scale * scale / total)
    return Design("total" if apart else "transformed", mechanism, weighing, goal)


def parts_of(cells: int) -> tuple[int, int]:
    """Return how a person's unit is divided between their own cell and the count of everyone.

    Let `own` and `shared` be the two parts, with sum 1. For k cells with shares p, the sum of
    squared errors is proportional to k/own² + Σp²/shared². The returned parts minimize it if one
    share is nearly 1.

    Args:
        cells: the number of categories.

    Returns:
        The part for their own cell, and the part for the separate count.
    """
    return round(16.0 * cells ** (1.0 / 3.0)), 16


def require_levels(ladder: Ladder, method: str) -> None:
    """Reject staircase noise without declared levels.

    Raises:
        ArgumentError: a staircase or an hourglass is requested without declared levels.
    """
    if method in _STAIRS and ladder.fine:
        raise ArgumentError(
            f"method={method!r} needs levels=: the budgets that people were offered, since its "
            "weights are whole multiples of one of them. Declare them, or use "
            'method="transformed".'
        )


def _pays(rate: float) -> bool:
    """Whether staircase noise of this rate has clearly less variance than Laplace noise."""
    return least_variance(rate) < _MARGIN * 2.0 / rate**2


def tells(counts: Integers) -> bool:
    """Whether a guess is informative: at least two people in total."""
    return int(counts.sum()) >= 2


def expected(counts: Integers) -> Integers:
    """Return numbers of people to plan with: the guess, or equal numbers if it is uninformative."""
    if tells(counts):
        return counts
    return np.full(len(counts), _NOBODY_KNOWS, dtype=np.int64)


def _cap(known: Known, goal: Goal) -> float:
    """Return the cap with the least predicted risk under Laplace noise, for the expected people.

    The noise is that of a single sum, also for frequencies: adding or removing a person changes one
    cell.
    """
    left, guess = known.people()
    return min(best_cap(Budgets.of_levels(left, guess), goal, INDEPENDENT), float(left[-1]))


def _best_step(known: Known, goal: Goal) -> tuple[Fraction, int]:
    """Return the best unit of weight and the best largest weight for staircase noise.

    A unit is a rung divided by an integer. The pair with the least predicted mean squared error
    wins.
    """
    left, guess = known.people()
    highest = math.inf if known.cap is None else known.cap
    spends = np.minimum(left, highest)
    squares = replace(goal, loss="mse")
    best = (math.inf, float(spends[-1]), 1)
    for unit in sorted({rung / part for rung in _few(spends) for part in range(1, _PARTS + 1)}):
        # The factor is slightly above 1, so a rung that is a multiple of the unit is not rounded
        # down.
        whole = np.minimum(np.floor(spends / unit * (1.0 + 1e-12)), _HEAVIEST)
        variance = least_variance(unit)
        heaviest = sorted({*_few(whole[whole > 0.0]), *_WEIGHTS[whole[-1] >= _WEIGHTS].tolist()})
        weights = np.minimum(whole, np.array(heaviest)[:, None])
        total = weights @ guess
        scale = math.sqrt(variance / 2.0) / total
        risks = squares.squares(_moments(weights / total[:, None], guess, scale))
        for risk, most in zip(risks.tolist(), heaviest, strict=True):
            if risk < best[0] * (1.0 - 1e-9):
                best = (risk, unit, int(most))
    return rounded_down(Fraction(best[1])), best[2]


def _moments(weights: Floats, counts: Integers, scale: Floats) -> Moments:
    """Return the moments of several estimators, one for each row of weights."""
    n, people = int(counts.sum()), counts.astype(np.float64)
    total = weights @ people
    spread = np.square(weights - total[:, None] / n) @ people
    return Moments(n, total, spread, 0.5 * np.abs(weights - 1.0 / n) @ people, scale)


def _few(levels: Floats) -> list[float]:
    """Return the distinct levels, or `_MOST_CAPS` of these, evenly spaced by rank."""
    distinct = np.unique(levels)
    if len(distinct) <= _MOST_CAPS:
        return [float(level) for level in distinct]
    chosen = np.linspace(0, len(distinct) - 1, _MOST_CAPS).round().astype(int)
    return [float(level) for level in distinct[chosen]]
