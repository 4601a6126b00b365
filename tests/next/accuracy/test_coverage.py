"""Intervals hold as often as they say: on real columns, and on the worst ones.

A table goes through the front door once. What was counted there gets fresh noise many times, in
plain NumPy, and each time the truth is held against the test that makes the interval. The truth is
computed from what the user typed.

Intervals of these people are proven and may miss 5 times in 100. Chance is a normal law and may
miss 7 times in 100; a campaign lists how often. If nothing misses more often, a run of this file
fails with a probability of at most ALARM in all, divided among cells, looks and numbers.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import epsilons_next as ep
from epsilons_next.inference.choice import Drawing
from epsilons_next.inference.noisy import NoisySums
from epsilons_next.inference.rows import Row
from epsilons_next.mechanisms.linear import Linear
from epsilons_next.questions.question import Question
from tests.next import profiles
from tests.next.accuracy.test_laws import closed
from tests.next.columns import MENUS, columns, limits

Floats = NDArray[np.float64]
Table = dict[str, NDArray[Any]]

ALARM = 1e-3
LOOKS = (150, 600, 2_400)
"""After so many runs misses are counted; a cell that misses no more than it may is done."""

LETTERS, PARTS = ("a", "b", "c"), ("low", "high")
RATES = {False: 0.05, True: 0.07}
"""How often an interval may miss: where it is proven, and where chance is in it."""


@dataclass(frozen=True)
class Cell:
    """A question about a table.

    Attributes:
        statistic: "mean" or "shares", those of the values above a quarter of the range.
        field: what else is asked: "plain", "by", "where", "exclude", "at_least" or "weights".
        reading: the name of what is assumed.
        column, menu: what people answer, and which limits they have.
        hidden: whether it is secret who takes part.
    """

    statistic: str
    field: str
    reading: str
    column: str
    menu: str
    hidden: bool = False

    def __str__(self) -> str:
        secret = ", secret" if self.hidden else ""
        return f"{self.statistic} {self.field}, {self.reading}, {self.column}, {self.menu}{secret}"

    @property
    def seed(self) -> int:
        """The same in every run."""
        return zlib.crc32(str(self).encode())

    @property
    def chance(self) -> bool:
        """Whether chance is in it, which is taken as normal."""
        return self.reading not in ("nothing assumed", "within")


READINGS: dict[str, dict[str, Any]] = {
    "nothing assumed": {},
    "within": {},
    "unrelated": {"assume": "unrelated"},
    "population": {"about": "population"},
    "population, unrelated": {"about": "population", "assume": "unrelated"},
}


def question(cell: Cell, bounds: tuple[float, float], apart: float) -> Question:
    """Put a cell into the user's words."""
    words = dict(READINGS[cell.reading])
    if cell.reading == "within":
        words["assume"] = ep.Within(apart)
    gaps = cell.field == "exclude"
    words |= {
        "plain": {},
        "by": {"by": {"g": LETTERS}},
        "where": {"where": {"h": "yes"}},
        "exclude": {"missing": "exclude", "where": {"k": "yes"}},
        "at_least": {"at_least": 0.1},
        "weights": {"about": words.get("about", "people")},
    }[cell.field]
    if cell.statistic == "mean":
        return ep.Mean("y" if gaps else "x", bounds, **words)
    return ep.Shares("t" if gaps else "s", PARTS, **words)


def truths(table: Table, cell: Cell, bounds: tuple[float, float]) -> Floats:
    """What is true of a table, number by number; not a number, where nobody is.

    A person's rows that count share what the person weighs.
    """
    kept = table["e"] >= (0.1 if cell.field == "at_least" else 0.0)
    if cell.field == "where":
        kept &= table["h"] == "yes"
    if cell.field == "exclude":
        kept &= ~table["gap"] & (table["k"] == "yes")
    held = {name: column[kept] for name, column in table.items()}
    weigh = held["d"] if cell.field == "weights" else np.ones(kept.sum())
    weigh = weigh / np.bincount(held["p"], minlength=1)[held["p"]]
    groups = LETTERS if cell.field == "by" else (None,)
    found = []
    for group in groups:
        inside = weigh * (True if group is None else held["g"] == group)
        whole = inside.sum() or np.nan
        if cell.statistic == "mean":
            found.append((inside @ np.clip(held["x"], *bounds)) / whole)
        else:
            found += [inside @ (held["s"] == part) / whole for part in PARTS]
    return np.array(found)


def frame(table: Table) -> pl.DataFrame:
    """Return a table with its gaps, as it is handed over."""
    gap = pl.Series(table["gap"])
    held = pl.DataFrame({name: column for name, column in table.items() if name != "gap"})
    empty = pl.when(pl.col("k") == "").then(None).otherwise("k").alias("k")
    gaps = (pl.when(gap).then(None).otherwise(name) for name in ("x", "s"))
    return held.with_columns(empty, *(gap.alias(y) for gap, y in zip(gaps, "yt", strict=True)))


@dataclass(frozen=True)
class Source:
    """Where a table comes from.

    Attributes:
        values, bounds: what everybody would answer, and the possible values.
        e: everybody's limit.
        messy: whether some people have several rows, in several groups; otherwise one person is
            alone in a group, and nobody is in another.
        order: 1 if the strictest have the least values of a sample, -1 if they have the largest.
    """

    values: Floats
    bounds: tuple[float, float]
    e: Floats
    messy: bool
    order: int

    def table(self, rng: np.random.Generator) -> Table:
        """Return rows. The strict have more, whose numbers differ; gaps are in two columns."""
        n = len(self.values)
        place = np.repeat(np.arange(n), 1 + self.messy * (self.e < 0.3) * rng.integers(0, 3, n))
        rows = len(place)
        x = self.values[place] + self.messy * rng.normal(0.0, 0.1 * self.values.std(), rows)
        mixed = np.where(rng.random(rows) < 0.6, "a", rng.choice(LETTERS, rows))
        low, high = self.bounds
        few = np.where(np.arange(n) % 50 == 0, 1e6, 1.0)  # as large firms among small ones
        return {
            "p": place,
            "e": self.e[place],
            "x": x,
            "s": np.where(x < low + (high - low) / 4, *PARTS),
            "g": mixed if self.messy else np.where(place == n - 1, "b", "a"),
            "h": rng.choice(["yes", "no"], rows),
            "k": rng.choice(["yes", "no", ""], rows, p=[0.5, 0.4, 0.1]),
            "gap": rng.random(rows) < 0.1,
            "d": (rng.gamma(0.5, 3.0, n) * few + 1e-3)[place],
        }


@dataclass(frozen=True)
class Asked:
    """A question that went through the front door, and what was held on the way.

    Attributes:
        drawing, mechanism: what is drawn.
        sums: what was counted, by class and cell.
        read: what was concluded from, in the first draw.
        rows: and what was concluded.
    """

    drawing: Drawing
    mechanism: Linear
    sums: NDArray[np.int64]
    read: NoisySums
    rows: tuple[Row, ...]

    def keeps(self, sums: NDArray[Any], truth: Floats, rng: np.random.Generator) -> NDArray[Any]:
        """Draw for each run, and say which truths are kept: each number alone, and at last all.

        Args:
            sums: for each run what was counted, by class and cell.
            truth: for each run and number, in parts of the range.
            rng: where noise comes from.
        """
        runs, numbers = truth.shape
        matrix, reach = self.mechanism.matrix, float(self.drawing.reach)
        weights = np.array(self.mechanism.weights, float) / self.mechanism.noise.scale
        cells = np.einsum("c,rcj->rj", weights, sums.astype(float))
        inner = cells[:, : matrix.cells - matrix.outside].reshape(runs, matrix.groups, -1)
        totals = (inner @ np.array(matrix.block, float).T).reshape(runs, -1)
        totals = np.hstack([totals, cells[:, matrix.cells - matrix.outside :]])
        if self.drawing.law.closed:
            noise = closed(matrix.rows, runs, int(rng.integers(1 << 32)))
        else:
            noise = rng.laplace(size=totals.shape)
        drawn = np.concatenate([self.drawing.numbers.sums(row) for row in reach * (totals + noise)])
        many = replace(self.read, sums=drawn)
        u, way = truth.ravel(), many._chosen()
        miss = self.read.reading.miss
        nobody, u = np.isnan(u), np.nan_to_num(u, nan=0.5)
        alone, together = (
            (many._accepts(u, way, np.full(len(u), each)) | nobody).reshape(truth.shape)
            for each in (miss, miss / numbers)
        )
        return np.column_stack([alone, together.all(axis=1)])


def ask(people: ep.People, question: Question) -> Asked:
    """Ask at the front door, and hold what passes."""
    held: dict[str, Any] = {}
    draw, read = Linear.draw, Drawing.read

    def drawn(self: Linear, sums: Any, source: Any) -> tuple[int, ...]:
        held.update(mechanism=self, sums=sums)
        return draw(self, sums, source)

    def reads(self: Drawing, *words: Any) -> NoisySums:
        held.update(drawing=self, read=read(self, *words))
        found: NoisySums = held["read"]
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Linear, "draw", drawn)
        patch.setattr(Drawing, "read", reads)
        rows = people.publish([question])[0].rows
    return Asked(rows=rows, **held)


def apart(held: Table, cell: Cell, bounds: tuple[float, float]) -> float:
    """How far people with different limits lie apart on average, in truth."""
    given = np.clip(held["x"], *bounds) if cell.statistic == "mean" else held["s"] == "low"
    own = np.bincount(held["p"], given) / np.bincount(held["p"])
    e = held["e"][np.unique(held["p"], return_index=True)[1]]
    means = [own[e == level].mean() for level in np.unique(e)]
    return float(np.ptp(means)) * (1.0 + 1e-9) + 1e-9


def kept(cell: Cell, source: Source) -> Iterator[NDArray[Any]]:
    """Whether each truth is kept, in so many runs as there are between two looks."""
    bounds, rng = source.bounds, np.random.default_rng(cell.seed)
    held = source.table(rng)
    asked = question(cell, bounds, apart(held, cell, bounds))
    words: dict[str, Any] = {"weights": "d"} if cell.field == "weights" else {}
    if cell.hidden:
        words |= {"secret": "participation", "offered": sorted({0.02, *source.e.tolist()})}
    found = ask(ep.People(frame(held), "e", "p", **words), asked)
    dealt = cell.reading == "unrelated" and cell.field == "at_least"
    # Limits and weights say nothing of the population that people were drawn from.
    speaks = replace(cell, field="plain") if cell.field in ("at_least", "weights") else cell
    truth = truths(held, speaks if "population" in cell.reading else cell, bounds)
    again = resampled(cell, source, held, asked, found) if cell.chance else None
    for runs in np.diff([0, *LOOKS]).tolist():
        each = np.tile(truth, (runs, 1))
        if again is None:
            sums: NDArray[Any] = np.broadcast_to(found.sums, (runs, *found.sums.shape))
        else:
            sums, limits_of = again(runs, rng)
            if dealt:
                tables = (held | {"e": e[held["p"]]} for e in limits_of)
                each = np.array([truths(table, cell, bounds) for table in tables])
        if cell.statistic == "mean":
            each = (each - bounds[0]) / (bounds[1] - bounds[0])
        yield found.keeps(sums, np.clip(each, 0.0, 1.0), rng)


def one_unit(weights: Floats, units: Sequence[int]) -> float:
    """The weight of one unit, a power of two, from how many there are."""
    return float(2.0 ** np.round(np.log2(weights.sum() / sum(units))))


def resampled(
    cell: Cell, source: Source, held: Table, asked: Question, found: Asked
) -> Callable[[int, np.random.Generator], tuple[Floats, Floats]]:
    """Return what draws people anew, or deals their limits anew: what is counted, and who has what.

    People come with all their rows. In each sample the strictest may have the largest values.
    """
    n, counts = len(source.e), found.drawing.budgets.counts
    assert counts is not None
    # Everybody is a class of their own once, which shows what one person is counted as.
    alone = frame(held | {"e": np.geomspace(1e-3, 1e3, n)[held["p"]]})
    single = ask(ep.People(alone, "e", "p"), replace(asked, at_least=0.0)).sums.astype(float)
    assert len(single) == n
    first = np.unique(held["p"], return_index=True)[1]
    weights = held["d"][first] if cell.field == "weights" else np.ones(n)
    units = np.maximum(np.rint(weights / one_unit(weights, counts.units)), 1.0)
    classes = np.array(found.drawing.budgets.offered)  # the least of a class, and ascending
    place = np.searchsorted(classes, source.e / units * (1.0 + 1e-12), side="right") - 1
    place[source.e < asked.at_least] = -1
    slots = np.argsort(place, kind="stable")
    slots = slots[place[slots] >= 0]
    ends = np.searchsorted(place[slots], np.arange(len(classes) + 1))

    def counted(who: NDArray[np.int64]) -> Floats:
        """By class and cell, if these people have the limits, from the strictest on."""
        cells = np.cumsum(single[who[slots]] * units[slots, None], axis=0)
        return np.diff(np.vstack([np.zeros_like(single[:1]), cells])[ends], axis=0)

    weigh = np.array(found.mechanism.weights, float)
    off = weigh @ counted(np.arange(n)) - weigh @ found.sums
    assert np.abs(off).max() <= weigh.max() * 2 * units.sum(), "people are not what was counted"
    value = np.bincount(held["p"], held["x"]) / np.bincount(held["p"])

    def drawn(runs: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        if cell.reading == "unrelated":
            who = rng.permuted(np.tile(np.arange(n), (runs, 1)), axis=1)
        else:
            who = rng.integers(0, n, (runs, n))
        if source.order:
            noisy = value[who] + 0.3 * value.std() * rng.standard_normal((runs, n))
            ranked = np.take_along_axis(who, np.argsort(source.order * noisy, axis=1), axis=1)
            who = ranked[:, np.argsort(np.argsort(source.e, kind="stable"), kind="stable")]
        sums = np.stack([counted(own) for own in who])
        limits_of = np.empty((runs, n))
        np.put_along_axis(limits_of, who, np.tile(source.e, (runs, 1)), axis=1)
        return sums, limits_of

    return drawn


def holds(cell: Cell, source: Source, cells: int) -> None:
    """Count misses until there are no more than there may be, or for all runs of a campaign."""
    rate, runs, missed = RATES[cell.chance], 0, np.zeros(1)
    for more in kept(cell, source):
        missed, runs = missed + (~more).sum(axis=0), runs + len(more)
        alarm = ALARM / cells / len(LOOKS) / len(missed)
        assert binom.sf(missed.max() - 1, runs, rate) >= alarm, f"{missed} of {runs} miss"
        if missed.max() <= rate * runs and not profiles.CAMPAIGN:
            break
    profiles.figure(f"{1.0 - missed.max() / runs:.4f}  of {runs}  {cell}")


FIELDS = ("plain", "by", "where", "exclude", "at_least", "weights")


def sensible(cell: Cell) -> bool:
    """Whether a question has an answer, and its assumption is true."""
    related = "related" in cell.menu.replace("unrelated", "")
    return not (
        (cell.hidden and (cell.chance or cell.field == "weights"))
        or (cell.reading == "within" and cell.field not in ("plain", "at_least"))
        or ("unrelated" in cell.reading and (related or cell.field == "weights"))
        or (cell.reading == "population" and related and cell.field in ("at_least", "weights"))
    )


def grid(fields: Any, columns: Any, menus: Any, some: int) -> list[Cell]:
    """Return all cells that make sense, or some of them."""
    every = itertools.product(("mean", "shares"), fields, READINGS, columns, menus, (False, True))
    cells = [cell for each in every if sensible(cell := Cell(*each))]
    return cells if profiles.CAMPAIGN else random.Random(20261119).sample(cells, some)


REAL = grid(FIELDS, columns(), MENUS, 50)


@pytest.mark.parametrize("cell", REAL, ids=str)
def test_real_columns(cell: Cell) -> None:
    values, bounds = columns()[cell.column]
    rng = np.random.default_rng(cell.seed)
    some = rng.choice(values, 700)
    related = "related" in cell.menu.replace("unrelated", "")
    e = limits(some, cell.menu, rng)
    holds(cell, Source(some, bounds, e, messy=True, order=-related), len(REAL) + len(WORST))


ANSWERS: dict[str, Callable[[Floats], NDArray[Any]]] = {
    "the strictest say 1": lambda e: e == e.min(),
    "the freest say 1": lambda e: e == e.max(),
    "all say 0": np.zeros_like,
    "all say 1": np.ones_like,
    "every other says 1": lambda e: np.arange(len(e)) % 2,
    "1 in 100 says 1": lambda e: np.arange(len(e)) % 100 == len(e) // 2 % 100,
    "1 in 1000 says 1": lambda e: np.arange(len(e)) % 1_000 == len(e) // 2 % 1_000,
    "a few extremes": lambda e: np.where(np.arange(len(e)) % 300 == 1, 1.0, skewed(len(e), 0.02)),
    "a long tail": lambda e: skewed(len(e), 0.1) ** 2,
}
LIMITS: dict[str, dict[float, int]] = {
    "1 person": {0.5: 1},
    "2 people": {0.1: 1, 1.0: 1},
    "3 people": {0.1: 1, 0.5: 1, 2.0: 1},
    "30 alike": {1.0: 30},
    "20/50/30 of 100": {0.1: 20, 0.5: 50, 2.0: 30},
    "20/50/30 of 1000": {0.1: 200, 0.5: 500, 2.0: 300},
    "4 of 400 are strict": {0.05: 4, 1.0: 396},
    "10 of 1000 are strict": {0.05: 10, 1.0: 990},
    "1000 alike": {5.0: 1_000},
    "10 of 400 are free": {0.05: 390, 5.0: 10},
    "26 of 400 are free": {0.05: 374, 5.0: 26},
}
RELATED = [
    f"{menu}, {order}"
    for menu in ("3 people", "20/50/30 of 1000", "10 of 1000 are strict", "26 of 400 are free")
    for order in ("related", "related the other way")
]


def skewed(n: int, size: float) -> Floats:
    """Return values of a skew column."""
    return np.minimum(size * np.random.default_rng(n).lognormal(0.0, 1.0, n), 1.0)


WORST = grid(("plain", "by", "where", "weights"), ANSWERS, [*LIMITS, *RELATED], 90)


@pytest.mark.parametrize("cell", WORST, ids=str)
def test_worst_columns(cell: Cell) -> None:
    menu, _, order = cell.menu.partition(", ")
    e = np.repeat(list(LIMITS[menu]), list(LIMITS[menu].values()))
    values = ANSWERS[cell.column](e).astype(float)
    if order and cell.column not in ("the strictest say 1", "the freest say 1"):
        values = np.sort(values)[:: -1 if order == "related" else 1]  # limits ascend
    rank = {"": 0, "related": -1, "related the other way": 1}[order]
    holds(cell, Source(values, (0.0, 1.0), e, False, rank), len(REAL) + len(WORST))
