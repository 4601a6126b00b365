"""The tally: everybody's unit, divided among public cells, and added up by class, in integers.

This is where privacy is lost if anything is decided from data. What is public of a tally is what
both of two neighbouring tables have: under replace, who is there and with which limit.
Proof: docs/proofs/next/tally.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from epsilons_next.data import meant
from epsilons_next.data.classes import Classes, classes_of
from epsilons_next.data.faults import Fault, Faults
from epsilons_next.data.roster import Roster
from epsilons_next.data.split import Split
from epsilons_next.data.tables import Table, open_table, quietly
from epsilons_next.data.weights import UNITS, one_unit, rounding, units_of
from epsilons_next.errors import PrivacyError
from epsilons_next.grid import GRID

__all__ = ["Tally", "tallies"]

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """What was counted. It is secret, apart from what `classes` say; only the curator has it.

    Args:
        classes: everybody with an ε above 0.
        asked: which classes the question asks.
        sums: for each class that is asked and each cell, what its people put there.
        left_out: how many people set ε = 0; None where that is secret.
        limits: the least and the largest ε.
        rounding: how far rounding the weights moves a mean over everyone asked, of the range.
        faults: what is wrong with the table; nothing is said of it where that is secret.
        stamp: what is another where files were changed.
    """

    classes: Classes
    asked: NDArray[np.bool_]
    sums: Integers
    left_out: int | None
    limits: tuple[float, float]
    rounding: float
    faults: tuple[Fault, ...]
    stamp: object

    @property
    def people(self) -> Integers:
        """How many people are in each class that is asked; 0 where that is secret."""
        return self.classes.people[self.asked]


def tallies(roster: Roster, splits: Sequence[Split], cuts: Sequence[float]) -> list[Tally]:
    """Count everyone once, for several splits.

    Args:
        roster: the rows, and whose they are.
        splits: what is counted.
        cuts: every `at_least` that anybody asked for so far: classes lie on one side of each.

    Raises:
        ArgumentError: the table has not what is asked.
        DataError: something is wrong with the rows, or an engine stopped.
        FileError: a file cannot be read.
        PrivacyError: an engine counted wrongly.
    """
    names = [*roster.columns, *(name for split in splits for name in split.columns)]
    table = open_table(roster.data, names)
    counts = [_Count(roster, table, split, cuts) for split in splits]
    queries = [count.query.with_columns(split=pl.lit(i)) for i, count in enumerate(counts)]
    # One query, so that what is common is read once.
    together = pl.concat(queries, how="diagonal")
    result = quietly(lambda: together.collect(engine="streaming"), "The table cannot be counted")
    return [count.tally(result.filter(pl.col("split") == i)) for i, count in enumerate(counts)]


class _Count:
    """One split as a query, and what becomes of its result."""

    def __init__(self, roster: Roster, table: Table, split: Split, cuts: Sequence[float]) -> None:
        self.roster, self.table, self.split, self.cuts = roster, table, split, cuts
        self.faults = Faults(roster, table, split)
        self.adds = roster.rows == "sum" and roster.person is not None

    @property
    def query(self) -> pl.LazyFrame:
        """Count people by limit, weight and group, what they put into cells, and what is wrong."""
        roster, table, columns = self.roster, self.table, self.table.columns
        alike = self._alike().with_columns(
            meant.limit(roster, table).alias("limit"),
            meant.weight(roster, table).alias("weight"),
            meant.asked(self.split, table).alias("asked"),
            meant.group(roster, self.split, table).alias("group"),
            *([columns[roster.person].id.alias("person")] if roster.person is not None else []),
        )
        if roster.person is not None and not roster.public:
            alike = alike.filter(pl.col("person").is_not_null())  # a row that is nobody's
        takes = pl.col("asked").fill_null(value=False)
        alike = alike.with_columns(
            pl.when(takes).then("group").alias("group"), *self.faults.counted()
        )
        entries = self._people(alike) if roster.person is None else self._persons(alike)
        keys = ["limit", "weight", "group"]
        counts = entries.select(*keys, "people", pl.col("^(part|fault) .*$"))
        return counts.group_by(keys).agg(pl.all().sum())

    def _alike(self) -> pl.LazyFrame:
        """Group rows by what says whose they are and where they count, and add their numbers up.

        Labels and limits are grouped as they are, and mean something only afterwards: it is faster.
        """
        roster, split, columns = self.roster, self.split, self.table.columns
        labels = [each.column for each in (*split.groups, *split.where)]
        keys = [pl.col(columns[name].inner) for name in dict.fromkeys((*roster.columns, *labels))]
        xs = [meant.on_grid(number, self.table, adds=self.adds) for number in split.numbers]
        each = [*keys, *(x.alias(f"x{i}") for i, x in enumerate(xs)), *self.faults.in_rows()]
        numbers = [pl.col(f"x{i}") for i in range(len(xs))]
        full = pl.all_horizontal(pl.lit(value=True), *(x.is_not_null() for x in numbers))
        xs = [pl.when(full).then(x) for x in numbers] if len(xs) > 1 else list(numbers)
        full_rows = xs[0].count() if xs else pl.len()
        # Of rows that are people parts are added up; the last part is what the others leave.
        sums = [x.cast(pl.Int128) for x in xs] if roster.person else meant.parts(None, xs)[:-1]
        counted = [
            pl.len().cast(pl.Int64).alias("rows"),
            full_rows.cast(pl.Int64).alias("full"),
            *(x.sum().alias(f"sum {i}") for i, x in enumerate(sums)),
            *(x.count().cast(pl.Int64).alias(f"numbers {i}") for i, x in enumerate(numbers)),
            pl.col("^none .*$").cast(pl.Int64).sum(),
        ]
        rows = self.table.frame.select(each) if each else self.table.frame
        return rows.group_by(keys).agg(counted) if keys else rows.select(counted)

    def _people(self, alike: pl.LazyFrame) -> pl.LazyFrame:
        """What rows put into the parts of their group, where each is one person."""
        sums = [pl.col(f"sum {i}") for i in range(self.split.parts - 1)]
        parts = [*sums, pl.col("full") * GRID - pl.sum_horizontal(pl.lit(0), *sums)]
        named = (part.alias(f"part {i}") for i, part in enumerate(parts))
        return alike.with_columns(pl.col("rows").alias("people"), *named)

    def _persons(self, alike: pl.LazyFrame) -> pl.LazyFrame:
        """One entry for each person, who is counted, and one for each of their groups.

        A person's rows share one unit and one limit, the least. What is averaged, or added up and
        then cut, are the rows in a group.
        """
        takes, full_rows = pl.col("group").is_not_null(), pl.col("full")
        persons = alike.group_by("person").agg(
            pl.col("limit", "weight").min(),
            pl.when(takes).then(full_rows).sum().alias("all full"),
            pl.col("^fault .*$").sum(),
            *self.faults.of_persons(),
        )
        persons = persons.with_columns(people=pl.lit(1, pl.Int64))
        inside = alike.filter(takes).group_by("person", "group")
        shares = inside.agg(pl.col("^(full|sum .*)$").sum())
        shares = shares.join(persons, on="person", nulls_equal=True)
        xs = []
        for i, number in enumerate(self.split.numbers):
            added = (pl.col(f"sum {i}") + meant.zero(number)).clip(0, GRID)
            mean = (2 * pl.col(f"sum {i}") + full_rows) // (2 * pl.max_horizontal(full_rows, 1))
            xs.append((added if self.adds else mean).cast(pl.Int64))
        share = full_rows * GRID // pl.max_horizontal("all full", 1)
        parts = [part.alias(f"part {i}") for i, part in enumerate(meant.parts(share, xs))]
        shares = shares.select("limit", "weight", "group", *parts)
        return pl.concat(
            [persons.with_columns(group=pl.lit(None, pl.Int64)), shares], how="diagonal"
        )

    def tally(self, entries: pl.DataFrame) -> Tally:
        """Put everybody into classes, check the sums, and say what is public."""
        roster, split = self.roster, self.split
        entries = entries.with_columns(pl.col("group").fill_null(-1)).fill_null(0)
        faults = self.faults.counts(entries) if roster.public else ()
        # ε = 0 is a person's own word: leave me out.
        counts = pl.col("limit") >= min(roster.levels) if roster.levels else pl.col("limit") > 0.0
        everyone, entries = int(entries["people"].sum()), entries.filter(counts)
        # What is public is computed of public lines: even how a sum is rounded tells of its terms.
        pairs = entries["limit", "weight"].to_numpy()
        lines, line = np.unique(pairs, axis=0, return_inverse=True)
        limits, weights, people = *lines.T, np.zeros(len(lines), np.int64)
        np.add.at(people, line, entries["people"].to_numpy())
        one = one_unit(weights, people) if roster.weights is not None else 1.0
        units, chosen = units_of(weights, one), limits >= split.at_least
        classes, place = classes_of(roster, limits, units, people, self.cuts)
        asked = classes.cuts >= split.at_least
        number = np.zeros(len(asked), np.int64)
        np.add.at(number, place[chosen], (people * units)[chosen])
        sums = self._sums(entries.filter(chosen[line]), place, units, line[chosen[line]], number)
        ends = float(limits.min(initial=np.inf)), float(limits.max(initial=0.0))
        return Tally(
            classes=classes,
            asked=asked,
            sums=sums[asked],
            left_out=everyone - int(people.sum()) if roster.public else None,
            limits=ends if roster.public else (roster.levels[0], roster.levels[-1]),
            rounding=rounding(weights[chosen], units[chosen], people[chosen]),
            faults=faults,
            stamp=self.table.stamp,
        )

    def _sums(
        self,
        entries: pl.DataFrame,
        place: Integers,
        units: Integers,
        line: Integers,
        number: Integers,
    ) -> Integers:
        """Add up what everybody puts into cells, by class, and check it once more.

        Args:
            entries: who is asked.
            place, units: for each public line its class, and the units of one person.
            line: the public line of each entry.
            number: how many units each class has.

        Raises:
            PrivacyError: somebody gives more than a unit for each of their units.
        """
        split, group = self.split, entries["group"].to_numpy()
        sums = np.zeros((len(number), split.cells), np.int64)
        inside = (group >= 0) & (group < split.size)
        cell, own_class = group[inside] * split.parts, place[line][inside]
        for i in range(split.parts):
            part = entries[f"part {i}"].to_numpy() * units[line]
            np.add.at(sums, (own_class, cell + i), part[inside])
        if split.outside or self.roster.public:  # and what rounding left of a unit
            sums[:, -1] += number * GRID - sums.sum(axis=1)
        fits = int(number.sum()) <= UNITS and bool((sums >= 0).all())
        if not fits or bool((sums.sum(axis=1) > number * GRID).any()):
            raise PrivacyError(
                "The table was not counted as it must be: an engine added up wrongly."
            )
        return sums
