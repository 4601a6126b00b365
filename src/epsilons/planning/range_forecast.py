"""What a rehearsal foretells of a mean on a range that has to be found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np

from epsilons.budgets import dot
from epsilons.planning.rehearsal import Rehearsal
from epsilons.release import shown_levels
from epsilons.release.spending import left
from epsilons.risk.goals import MeanGoal
from epsilons.statistics.mean import Mean

__all__ = ["ROUNDED_UP", "RangeForecast", "RangeSpent", "as_plain", "range_forecast", "sigma_of"]

ROUNDED_UP: Final = 2.0**0.25
"""Radii are a quarter of an octave apart: a range around Gaussian data is at most so many times as
wide as the deviation asks for."""


class RangeSpent(NamedTuple):
    """What a person of one level would spend.

    Attributes:
        epsilon: their budget.
        people: how many there are, or are expected.
        on_range: what finds the range, with a count of people if there is one.
        on_mean: what the mean takes.
        kept: the rest.
    """

    epsilon: float
    people: int
    on_range: float
    on_mean: float
    kept: float


@dataclass(frozen=True, eq=False)
class RangeForecast:
    """What a mean on a range that has to be found would have.

    Attributes:
        looks: how often the data are looked at to find the range: once, or more often where values
            lie close together.
        rmse: the typical error: in parts of the width of the range that is found; for Gaussian data
            in standard deviations.
        pac: the error not exceeded with the plan's confidence, in the same units; for Gaussian data
            half of the interval.
        share: the part of all that is spent that finds the range.
        spent: who pays what.
    """

    looks: int
    rmse: float
    pac: float
    share: float
    spent: tuple[RangeSpent, ...]


def range_forecast(found: Rehearsal, asked: Mean, neighbours: str) -> RangeForecast:
    """What a rehearsal foretells."""
    errors = _gaussian_errors if asked.shape == "gaussian" else _ANY_ERRORS[neighbours]
    rmse, pac = errors(found, asked.goal)
    shown, people = shown_levels(found.levels), found.counts
    finite = np.isfinite(found.levels)
    on_range, on_mean = found.on_range, found.on_mean
    ranged = dot(on_range[finite], people[finite])
    total = ranged + dot(on_mean[finite], people[finite])
    rows = zip(shown.tolist(), people.tolist(), on_range.tolist(), on_mean.tolist(), strict=True)
    return RangeForecast(
        looks=found.looks,
        rmse=rmse,
        pac=pac,
        share=ranged / total if total > 0.0 else 0.0,
        spent=tuple(
            RangeSpent(level, count, first, last, left(level, first + last))
            for level, count, first, last in rows
        ),
    )


def _public_errors(found: Rehearsal, goal: MeanGoal) -> tuple[float, float]:
    """The errors of a weighted mean in parts of the range."""
    weighing = found.margin.weighing
    square = replace(goal, loss="mse").risk(weighing)
    return math.sqrt(square), replace(goal, loss="pac").risk(weighing)


def _private_errors(found: Rehearsal, goal: MeanGoal) -> tuple[float, float]:
    """The errors of a ratio in parts of the range, to leading order."""
    square = found.margin.leading(replace(goal, loss="mse"))
    return math.sqrt(square), float(found.margin.leading(replace(goal, loss="pac")))


_ANY_ERRORS: Final[Mapping[str, Callable[[Rehearsal, MeanGoal], tuple[float, float]]]] = (
    MappingProxyType({"replace": _public_errors, "add-remove": _private_errors})
)


def _gaussian_errors(found: Rehearsal, goal: MeanGoal) -> tuple[float, float]:
    """The typical error and half of the interval, in standard deviations."""
    sigma, (lo, hi) = sigma_of(found), found.estimate.bounds
    more = (ROUNDED_UP - 1.0) * found.width / 2.0
    square = found.margin.mse((lo - more, hi + more), sigma)
    margin = found.margin.expecting((lo, hi), sigma)
    low, high = replace(found.estimate, margin=margin).interval(goal.assumption, goal.confidence)
    return math.sqrt(square) / sigma, ROUNDED_UP * (high - low) / 2.0 / sigma


def sigma_of(found: Rehearsal) -> float:
    """The standard deviation that the range of a rehearsal was made from."""
    return math.nan if found.estimate.sigma is None else found.estimate.sigma


def as_plain(forecast: RangeForecast) -> dict[str, Any]:
    """A forecast as plain data."""
    return {
        "looks": forecast.looks,
        "rmse": forecast.rmse,
        "pac": forecast.pac,
        "share": forecast.share,
        "spent": [
            {
                "epsilon": row.epsilon,
                "people": row.people,
                "on_range": row.on_range,
                "on_mean": row.on_mean,
                "spent": row.on_range + row.on_mean,
                "kept": row.kept,
            }
            for row in forecast.spent
        ],
    }
