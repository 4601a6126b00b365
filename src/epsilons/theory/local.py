"""Lower bounds on the error in the local model, in which nobody receives raw records."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from epsilons import parameters
from epsilons.budgets.levels import People, as_budgets
from epsilons.errors import ArgumentError
from epsilons.listed import shown
from epsilons.theory.mean import SAFE
from epsilons.theory.worlds import (
    SortedPeople,
    golden,
    local_square,
    people_of,
    pull,
    widest_gap,
)
from epsilons.types import Floats, LossOfOne

_WIDTHS = np.concatenate([np.geomspace(1e-4, 0.1, 8), np.linspace(0.15, 0.95, 17)])
"""Widths (deviations from fair coins) that are tried for a hypercube; each gives a bound."""

_SHARES = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3, 1.6, 2.0, math.inf)
"""Widths that are tried for Assouad's method, in units of the width at which reports begin to
distinguish the corners of the hypercube."""


def local_error(
    epsilon: People,
    *,
    bounds: tuple[float, float] = (0, 1),
    loss: LossOfOne = "mse",
    confidence: float = 0.95,
) -> float:
    """Lower bound on the error of every locally private method for a mean.

    For every method there is a population for which the error is at least this bound. It holds for
    all budgets in [0, ∞] and for interactive methods, where queries depend on earlier reports. It
    also holds for the share of one category.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`.
        bounds: the range (lo, hi) of the values.
        loss: "mse" for the root mean square error; "pac" for an error that is exceeded with
            probability above 1 − confidence.
        confidence: confidence level of the PAC error; if it is at most ½, the bound is 0.

    Returns:
        The bound, in data units.

    Raises:
        ArgumentError: an argument is invalid (also BoundsError, BudgetError).
        DataError: there are fewer than two people.

    Reference:
        Proof: docs/proofs/limits-local.md (1), (2), (3). Paper *local*, Theorem 2.3, bounds the
        squared error. It requires ε ≤ 1, and does not specify its constant.

    Examples:
        >>> import epsilons as ep
        >>> people = {0.05: 4000, 0.5: 3000, 2.0: 1000}
        >>> round(ep.theory.local_error(people, bounds=(0, 120)), 2)
        2.11
    """
    lo, hi = parameters.bounds(bounds)
    people, beta = _checked(epsilon, loss, confidence)
    return SAFE * (hi - lo) * (_unit_rmse(people) if beta is None else _unit_gap(people, beta))


def local_vector_error(
    epsilon: People,
    *,
    dimension: int,
    radius: float = 1.0,
    loss: LossOfOne = "mse",
    confidence: float = 0.95,
) -> float:
    """Lower bound on the ℓ2 error of every locally private method for a mean of vectors in a ball.

    Args:
        epsilon: one ε for each person, or `Budgets({ε: people})`.
        dimension: dimension of the vectors, at least 1.
        radius: radius of the ball around 0 that contains the vectors.
        loss: "mse" for the root mean square ℓ2 error; "pac" for an ℓ2 error that is exceeded with
            probability above 1 − confidence.
        confidence: confidence level of the PAC error.

    Returns:
        The bound, in the units of `radius`. It holds for non-interactive methods: no report depends
        on other people's reports.

    Raises:
        ArgumentError: an argument is invalid (also BudgetError).
        DataError: there are fewer than two people.

    Reference:
        Proof: docs/proofs/limits-local.md (4), (5), (6). Paper *local*, Theorem 3.2, bounds the
        squared error. It requires ε ≤ 1 and β < 3/20, and does not specify its constant.

    Examples:
        >>> import epsilons as ep
        >>> people = {0.05: 4000, 0.5: 3000, 2.0: 1000}
        >>> round(ep.theory.local_vector_error(people, dimension=50), 3)
        0.072
    """
    if isinstance(dimension, bool) or not isinstance(dimension, int) or dimension < 1:
        raise ArgumentError(f"dimension={shown(dimension)} must be a whole number, at least 1.")
    size = parameters.positive("radius", radius)
    people, beta = _checked(epsilon, loss, confidence)
    line = 2.0 * (_unit_rmse(people) if beta is None else _unit_gap(people, beta))
    return SAFE * size * max(line, math.sqrt(_cube_square(people, dimension, beta)))


def _checked(epsilon: Any, loss: str, confidence: float) -> tuple[SortedPeople, float | None]:
    """Return the people and the error probability, which is None for the loss "mse"."""
    checked = parameters.confidence(confidence)
    word = parameters.loss_of_a_mean(parameters.choice("loss", loss))
    beta = 1.0 - checked if word == "pac" else None
    return people_of(as_budgets(epsilon)), beta


def _unit_rmse(people: SortedPeople) -> float:
    pairs = golden(lambda gap: 2.0 * math.log(gap) + _log_affinity(people, gap), 1e-10, 0.5)
    return math.sqrt(max(math.exp(pairs), local_square(people)))


def _unit_gap(people: SortedPeople, beta: float) -> float:
    """The largest gap at which reports on coins of probability ½ ± gap are indistinguishable."""
    return widest_gap(lambda gap: _log_affinity(people, gap), beta)


def _log_affinity(people: SortedPeople, gap: float) -> float:
    """The log of Π(1 − 4·gap²·tanh²(ε/2)), a lower bound on (affinity of reports on two coins)²."""
    with np.errstate(divide="ignore"):
        return float(people.counts @ np.log1p(-np.square(2.0 * gap * pull(people.levels))))


def _cube_square(people: SortedPeople, dimension: int, beta: float | None) -> float:
    """Lower bound on the squared error in a unit ball, from priors on hypercubes.

    Each record is plus or minus one of k unit vectors, and the sign is a coin with a separate
    probability for each axis. With van Trees' inequality this probability has a prior on ½ ±
    ½·width. With Assouad's method it is one of the two ends.
    Proof: docs/proofs/limits-local.md (4), (5), (6).
    """
    axes = np.unique(np.round(np.geomspace(1.0, dimension, 32)).astype(np.int64)).astype(np.float64)
    best = 0.0
    if beta is None:
        for width in _WIDTHS.tolist():
            square = axes / (_told(people, axes, width) + (math.pi * axes / width) ** 2)
            best = max(best, float(square.max()))
    around = math.sqrt(float(people.counts @ np.square(pull(people.levels))))
    for k in axes.tolist():
        for share in _SHARES:
            width = min(1.0, share * k / max(around, 1e-300))
            alike = math.exp(-float(people.counts @ _each_apart(people, k, width)))
            if beta is not None:
                alike = (alike - 4.0 * beta) / (1.0 - beta)
            best = max(best, width * width / k * alike)
    return best


def _each_told(people: SortedPeople, width: float) -> Floats:
    """κ for each level: k·κ bounds the trace of one report's Fisher information on k axes."""
    with np.errstate(over="ignore", invalid="ignore"):
        half = 0.5 * np.expm1(people.levels)
        damped = (1.0 - width) * half
        few = np.square(half / (1.0 + damped))
        return np.where(damped <= 1.0, few, 0.25 * half / max(1.0 - width, 1e-300))


def _told(people: SortedPeople, axes: Floats, width: float) -> Floats:
    """Trace of the Fisher information of all reports, divided by k, for each number k of axes."""
    each = _each_told(people, width)
    # Σ min(each, k/(1 − width²)). `each` increases with the level, up to the information of an
    # unprotected record.
    most = axes / (1.0 - width * width)
    finite = np.where(np.isfinite(each), each, 0.0)
    sums = np.concatenate([np.zeros(1), np.cumsum(people.counts * finite)])
    ends = np.concatenate([np.zeros(1), np.cumsum(people.counts)])
    below = np.searchsorted(each, most, side="right")
    return np.asarray(sums[below] + (ends[-1] - ends[below]) * most)


def _each_apart(people: SortedPeople, k: float, width: float) -> Floats:
    """Bound on −ln of the squared affinity of one report between two adjacent corners.

    It is an average over the k axes, and at most the value for the record itself.
    Proof: docs/proofs/limits-local.md (5).
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        half = 0.5 * np.expm1(people.levels)
        steep = np.square(width / (1.0 + k / half))  # η²
        slope = np.where(steep > 0.0, -np.log1p(-steep) / steep, 1.0)
        private = width * width * _each_told(people, width) * slope / (k * k)
        public = -2.0 * np.log1p(-(1.0 - math.sqrt(1.0 - width * width)) / k)
    return np.asarray(np.fmin(private, public))
