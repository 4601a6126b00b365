"""Data, people to add and public facts for add/remove tests, and helpers that release them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import epsilons as ep
from epsilons.draws.noise import Source
from epsilons.results.release import Release
from epsilons.risk.margins import Ratio, RatioCells
from epsilons.risk.means.ratio_spread import RatioSpread
from tests.plain import plain

Row = tuple[Any, Any, Any]  # value, budget, person

BASE: list[Row] = [
    (0.1, 0.5, "a"), (0.9, 1.0, "b"), (0.4, 4.0, "c"), (0.4, 4.0, "c"), (0.7, 8.0, "d"),
    (None, 1.0, "e"), (0.2, None, "f"), (0.5, 0.01, "g"), (0.3, 0.7, None),
]  # fmt: skip

NEWCOMERS: dict[str, list[Row]] = {
    "ordinary": [(0.3, 1.0, "z")],
    "the richest": [(1.0, 1e300, "z")],
    "public": [(1.0, math.inf, "z")],
    "the strictest": [(0.0, 0.02, "z")],
    "between levels": [(0.6, 2.3, "z")],
    "below all levels": [(0.6, 1e-13, "z")],
    "zero": [(0.6, 0.0, "z")],
    "negative": [(0.6, -3.0, "z")],
    "NaN budget": [(0.6, math.nan, "z")],
    "no budget": [(0.6, None, "z")],
    "no value": [(None, 1.0, "z")],
    "NaN value": [(math.nan, 1.0, "z")],
    "infinite value": [(math.inf, 4.0, "z")],
    "huge value": [(1e300, 4.0, "z")],
    "nothing at all": [(None, None, "z")],
    "two rows": [(0.0, 4.0, "z"), (1.0, 4.0, "z")],
    "two budgets": [(0.0, 4.0, "z"), (1.0, 0.5, "z")],
    "two budgets, one bad": [(0.0, 4.0, "z"), (1.0, None, "z")],
    "twenty rows": [(0.5, 8.0, "z")] * 20,
}
FACTS: dict[str, dict[str, Any]] = {
    "nothing known": {"related": False},
    "a cap": {"cap": 2.0, "related": False},
    "levels": {"levels": [0.5, 1.0, 4.0]},
    "levels, public": {"levels": [1.0, math.inf]},
    "a guess": {"levels": {4.0: 500, 8.0: 500}},
    "levels and cap": {"levels": [0.5, 1.0, 4.0], "cap": 1.5},
    "one budget": {"epsilon": 4.0},
}


class Dry(Source):
    """A source that raises an error if it is read. All checks must run before anything is drawn."""

    private = True

    def bytes(self, count: int) -> bytes:
        raise AssertionError("something was drawn")


def columns(rows: list[Row]) -> tuple[list[Any], list[Any], list[Any]]:
    return [r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows]


def mean_of(rows: list[Row], **arguments: Any) -> Release:
    """Release the mean. With `person=False`, each row is a person."""
    values, budgets, people = columns(rows)
    person: bool = arguments.pop("person", True)
    arguments = {"epsilon": budgets, "source": ep.Seeded(7), "bounds": (0, 1), **arguments}
    return ep.mean(values, person=people if person else None, neighbours="add-remove", **arguments)


def word(value: float | None) -> str | None:
    return None if value is None else {0.1: "low", 0.4: "middle", 0.9: "high"}.get(value, "else")


def cells_of(rows: list[Row], **arguments: Any) -> Release:
    """Release the frequencies of 0.1, 0.4 and 0.9 as words. Other values are undeclared."""
    values, budgets, people = columns(rows)
    person: bool = arguments.pop("person", True)
    words = [word(v) for v in values]
    arguments = {
        "epsilon": budgets,
        "source": ep.Seeded(7),
        "categories": ["low", "middle", "high"],
        **arguments,
    }
    return ep.frequencies(
        words, person=people if person else None, neighbours="add-remove", **arguments
    )


RELEASES: dict[str, Callable[..., Any]] = {"mean": mean_of, "frequencies": cells_of}


def behind(release: Release) -> Any:
    """Return the noisy sums from which a release is computed."""
    margin = release.estimate.margin
    assert isinstance(margin, (Ratio, RatioCells, RatioSpread))
    return margin


def held(release: Any) -> Any:
    """Return all fields of a release, and its dictionary."""
    return plain(release), plain(release.to_dict())


def everything(release: Any) -> Any:
    """Return all fields of a release, and everything that it prints."""
    return (
        *held(release),
        release.to_json(),
        str(release),
        release._repr_html_(),
        repr(release),
        plain(release.interval(0.5)),
        plain(release.interval(0.99)),
        [plain(release.spent(e)) for e in (0.0, 0.3, 1.0, 5.0, math.inf)],
        plain(list(release.spent)),
    )
