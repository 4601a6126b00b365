"""People with groups, answers and several rows, and their table of shares computed by hand."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

import epsilons as ep
from epsilons.results.release import Release

GRID = 2**30
LABELS = ["north", "south", "east"]
SIZES = [1, 2]
BOUNDS = (0.0, 100.0)
BY = {"by": "place", "groups": LABELS}
TWO = {"by": ["place", "size"], "groups": [LABELS, SIZES]}
SOME: dict[str, dict[str, Any]] = {
    "groups": {**BY, "missing": "midpoint"},
    "answers": {"missing": "exclude"},
    "subset": {"where": "asked", "missing": "midpoint"},
    "groups of answers": {**BY, "missing": "exclude", "where": "asked"},
    "two columns": {**TWO, "missing": "exclude"},
}
PRIVATE: dict[str, Any] = {"neighbours": "add-remove", "levels": {0.25: 40, 0.5: 40, 2.0: 40}}

_WORDS = ["--by", "word", "--group", "a", "--group", "b", "--group", "c"]
_PAIRS = ["--by", "word", "--by", "whole", "--group", "a", "--group2", "1", "--group2", "2"]
_NAMED: dict[str, Any] = {"by": "word", "groups": ["a", "b", "c"]}
COMMANDS: list[tuple[list[str], dict[str, Any]]] = [
    (_WORDS, _NAMED),
    ([*_WORDS, "--groups-are", "public"], {**_NAMED, "groups_are": "public"}),
    ([*_WORDS, "--shrink"], {**_NAMED, "shrink": True}),
    (
        [*_PAIRS, "--missing", "exclude"],
        {"by": ["word", "whole"], "groups": [["a"], [1, 2]], "missing": "exclude"},
    ),
    (["--where", "here"], {"where": "here"}),
]
"""Command-line options, and the equivalent arguments."""


def people(count: int = 120, seed: int = 0) -> pl.DataFrame:
    """Return rows of `count` people.

    Each person has up to four rows, and a fifth of the values are missing.
    """
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(count), rng.integers(1, 5, count))
    size = len(person)
    minutes = rng.choice([0.0, 12.5, 33.25, 80.0, 100.0, 130.0], size)
    return pl.DataFrame(
        {
            "person": person,
            "minutes": pl.Series(np.where(rng.random(size) < 0.2, np.nan, minutes)).fill_nan(None),
            "place": rng.choice(LABELS, size, p=[0.6, 0.3, 0.1]),
            "size": rng.choice(SIZES, size),
            "asked": rng.random(size) < 0.7,
            "epsilon": np.array([0.25, 0.5, 2.0])[person % 3],
        }
    )


def answered(count: int = 120, seed: int = 0) -> pl.DataFrame:
    """Return the same people. Each has one row, with a value."""
    one = people(count, seed).unique("person", keep="first", maintain_order=True)
    return one.with_columns(pl.col("minutes").fill_null(12.5))


def shares(frame: pl.DataFrame, groups: list[Any], policy: str, *, where: bool) -> Any:
    """Add up everyone's unit, in grid steps, by budget and cell, person by person.

    Returns:
        For each budget: the cells of x and 1 − x of each group, and the cell of people in no group.
    """
    table: dict[float, list[int]] = defaultdict(lambda: [0] * (2 * len(groups) + 1))
    for _, rows in frame.group_by("person", maintain_order=True):
        held = rows.to_dicts()
        counted = [
            row
            for row in held
            if (row["asked"] or not where)
            and row["place"] in groups
            and (row["minutes"] is not None or policy == "midpoint")
        ]
        values = [row for row in counted if row["minutes"] is not None]
        own = table[held[0]["epsilon"]]
        if not counted:
            own[-1] += GRID
            continue
        # A missing value is replaced by the midpoint only if all values of that person are missing.
        used = values or counted
        left = GRID
        for at, label in enumerate(groups):
            there = [_point(row["minutes"]) for row in used if row["place"] == label]
            if not there:
                continue
            points = GRID * len(there) // len(used)
            nearest = (2 * sum(there) + len(used)) // (2 * len(used))
            above = min(nearest, points)
            own[2 * at] += above
            own[2 * at + 1] += points - above
            left -= points
        own[1] += left
    return dict(sorted(table.items()))


def _point(value: float | None) -> int:
    if value is None:
        return GRID // 2
    share = Fraction(min(max(value, 0.0), 100.0)) / 100
    return int(share * GRID + Fraction(1, 2))


def question(**given: Any) -> ep.Mean:
    return ep.Mean("minutes", **{"bounds": BOUNDS, **given})


def asked(frame: Any, given: dict[str, Any], **terms: Any) -> Release:
    return ep.mean(
        "minutes", epsilon="epsilon", data=frame, bounds=BOUNDS,
        **{"person": "person", "source": ep.Seeded(3), **terms}, **given,
    )  # fmt: skip
