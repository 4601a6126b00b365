"""The checker compares draws and totals with the declared ones, and rejects broken mechanisms.

The tests are seeded. With a new seed, a correct mechanism would fail a test with probability
10⁻⁶. It is tested fewer than twenty times here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.mechanisms.histogram import Histogram
from epsilons.draws.mechanisms.selection import Listed, Selection, TheLine
from epsilons.draws.noise import DiscreteLaplace
from epsilons.errors import ArgumentError, PrivacyError
from epsilons.local import Mean
from epsilons.papers.diffusion import Crossing
from epsilons.results import report
from tests import compared
from tests.assumed import GAUSSIAN, SAMPLE
from tests.tallied import tallied

VALUES = np.linspace(0.0, 1.0, 60)
EPSILON = np.repeat([0.5, 1.0, 2.0], 20)
WORDS = ["a", "b", "c"]


def loose(mechanism: Any) -> Any:
    """Return the same mechanism, with independent noise in each cell."""
    parts = {each.name: getattr(mechanism, each.name) for each in fields(mechanism)}
    return Histogram(**{**parts, "law": DiscreteLaplace(mechanism.scale)})


@cache
def made(name: str) -> Any:
    """Return the mechanism of a release of this kind."""
    kind, _, method = name.partition(", ")
    options: dict[str, Any] = {"epsilon": EPSILON, "source": ep.Seeded(1)}
    if method == "stairs":
        options = {**options, "epsilon": 4.0 * np.ceil(EPSILON), "method": "staircase"}
    elif method:
        options["method"] = method
    if method == "sampling":
        options |= SAMPLE  # with related=True, nearly everybody would be kept with certainty
    if kind.startswith("open"):
        options |= {"neighbours": "add-remove", "levels": [0.5, 1.0, 2.0]}
    release: Any
    if kind.endswith("mean"):
        release = compared.mean(VALUES, bounds=(0, 1), **options)
    elif kind.endswith("cells"):
        release = compared.frequencies(["a", "b", "c"] * 20, categories=WORDS, **options)
        if kind == "loose cells":
            return loose(release.mechanism)
    elif kind == "public":
        release = compared.mean(VALUES, bounds=(0, 1), **{**options, "epsilon": math.inf})
    else:
        assert kind == "line"
        values = np.random.default_rng(1).normal(50.0, 10.0, 900)
        words = GAUSSIAN if method == "diffusion" else {}
        release = compared.mean(values, bounds=None, **{**options, "epsilon": 2.0}, **words)
    return release.mechanism


SELECTION = Selection(
    np.array([0.25, 2.0]),
    np.array([1, 5]),
    64,
    "replace",
    Listed(np.array([1, 3, 2, 1, 2])),
    "a median",
)
CROSSING = Crossing.of(Fraction(1, 4), step=2, end=40)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name",
    [
        "mean",
        "mean, stairs",
        "mean, sampling",
        "public",
        "cells",
        "loose cells",
        "cells, sampling",
        "open mean",
        "open mean, hourglass",
        "open mean, staircase2d",
        "open mean, shifted",
        "open cells",
        "line, diffusion",
    ],
)
def test_right_mechanisms_pass(name: str) -> None:
    found = ep.verify.draws(made(name))
    assert found.passes, str(found)
    assert found.require() is found
    assert found.error == 1e-6
    assert len(found.checks) >= 3
    assert bool(found.unchecked) == (name == "line, diffusion")


@pytest.mark.statistical
@pytest.mark.parametrize(
    "mechanism",
    [SELECTION, replace(SELECTION, candidates=TheLine()), CROSSING],
    ids=lambda m: m.kind,
)
def test_right_stages_pass(mechanism: Any) -> None:
    assert ep.verify.draws(mechanism).passes


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("seed", range(5))
def test_other_seeds_pass_too(seed: int) -> None:
    for name in ("mean", "mean, sampling", "cells", "open mean, hourglass", "open cells", "line"):
        assert ep.verify.draws(made(name), seed=seed).passes


def turned(mechanism: Any, **methods: Any) -> Any:
    """Return the same mechanism, with some methods replaced."""
    kind = type("Turned", (type(mechanism),), methods)
    return kind(**{each.name: getattr(mechanism, each.name) for each in fields(mechanism)})


def right(mechanism: Any) -> Any:
    """Return the original class of a mechanism from `turned`."""
    return type(mechanism).__mro__[1]


def no_noise(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Replace `draw`: add no noise."""
    return total if size is None else np.array([total] * size)


def half_when(single: bool) -> Callable[..., Any]:
    """Return a `draw` with half of the noise, in single draws only or in array draws only."""

    def draw(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
        drawn = right(self).draw(self, source, size, total)
        if (size is None) != single:
            return drawn
        where = np.array(total, dtype=object)
        halved = where + (np.array(drawn, dtype=object) - where) // 2
        return tuple(halved.tolist()) if isinstance(drawn, tuple) else halved

    return draw


def in_both(self: Any, source: Any, size: Any = None, total: Any = (0, 0)) -> Any:
    """Replace `draw`: use the same noise for both sums of a pair, in single draws."""
    if size is not None:
        return right(self).draw(self, source, size, total)
    first, _ = self.law.draw(source)
    return total[0] + first, total[1] + first


def in_all_cells(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Replace `draw`: use the same noise for all cells."""
    drawn = right(self).draw(self, source, size, total) - np.asarray(total)
    drawn[..., 1:] = drawn[..., :1]
    return drawn + np.asarray(total)


def not_in_the_last(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Replace `draw`: add no noise in the last cell."""
    drawn = right(self).draw(self, source, size, total)
    drawn[..., -1] = np.asarray(total)[..., -1]
    return drawn


def coarse(self: Any, source: Any, size: Any = None, total: Any = 0) -> Any:
    """Replace `draw`: add noise of the right scale that is always even."""
    zero = (0, 0) if isinstance(total, tuple) else 0
    noise = np.asarray(right(self).draw(self, source, size, zero))
    return noise // 2 * 2 + np.asarray(total)


def times(factor: int) -> Callable[..., Any]:
    """Return a replacement for `total` that multiplies the result, so it is too sensitive."""

    def total(self: Any, *given: Any) -> Any:
        found = right(self).total(self, *given)
        return tuple(factor * x for x in found) if isinstance(found, tuple) else factor * found

    return total


def rounded_up(self: Any, *given: Any) -> Any:
    """Replace `total`: use weights that are larger by one than declared."""
    whole: Any = object.__new__(right(self))
    for each in fields(self):
        object.__setattr__(whole, each.name, getattr(self, each.name))
    object.__setattr__(whole, "weights", self.weights + 1)
    return whole.total(*given)


def two_up(self: Any, *given: Any) -> Any:
    """Replace `total`: use weights that are larger by two than declared.

    The checker allows one for rounding, so it must notice two.
    """
    return right(self).total(replace(self, weights=self.weights + 2), *given)


def all_stay(self: Any, source: Any, level_of: Any, places: Any) -> Any:
    """Replace sampling: keep everyone."""
    whole = replace(self, keep=(Fraction(1),) * len(self.weights))
    return right(self).thin(whole, source, level_of, places)


def counted_twice(self: Any, tally: Any) -> Any:
    return right(self).total(self, tallied(levels=tally.levels, counts=2 * tally.counts))


def counted_beside(self: Any, tally: Any) -> Any:
    """Replace `total`: also count everyone in the next cell."""
    found = right(self).total(self, tally)
    return found + np.roll(found, 1)


def counts_as_they_are(self: Any, source: Any, total: Any) -> Any:
    return tuple(total.tolist())


SAMPLED = [("mean, sampling", "coins"), ("cells, sampling", "coins")]
BROKEN: list[tuple[str, dict[str, Any], str]] = [
    *(
        (name, {"draw": each}, "noise drawn")
        for name in ("mean", "mean, stairs", "cells", "loose cells")
        for each in (no_noise, half_when(single=True), half_when(single=False))
    ),
    ("mean", {"draw": coarse}, "even"),
    ("mean", {"total": times(1000)}, "totals"),
    ("mean", {"total": two_up}, "totals"),
    ("mean, stairs", {"total": rounded_up}, "totals"),
    *(
        each
        for name in ("cells", "loose cells")
        for each in (
            (name, {"total": times(2)}, "totals"),
            (name, {"total": rounded_up}, "totals"),
            (name, {"draw": in_all_cells}, "noise drawn"),
            (name, {"draw": not_in_the_last}, "noise drawn"),
        )
    ),
    *((name, {"thin": all_stay}, words) for name, words in SAMPLED),
]


@pytest.mark.parametrize(
    ("name", "methods", "words"),
    BROKEN,
    ids=[f"{name}-{next(iter(m.values())).__name__}-{i}" for i, (name, m, _) in enumerate(BROKEN)],
)
def test_broken_mechanisms_are_noticed(name: str, methods: dict[str, Any], words: str) -> None:
    broken = turned(made(name), **methods)
    assert ep.verify.exact(broken).holds  # the check of declared losses cannot find the fault
    found = ep.verify.draws(broken)
    assert not found.passes
    assert str(found).startswith("DRAWS OR TOTALS ARE NOT AS DECLARED.")
    with pytest.raises(PrivacyError, match=words):
        found.require()


OPEN: list[tuple[str, int, dict[str, Any], str]] = [
    ("open mean", 0, {"draw": counts_as_they_are}, "counts: noise"),
    ("open mean", 0, {"total": counted_twice}, "counts: totals"),
    ("open mean", 0, {"total": counted_beside}, "counts: totals"),
    ("open mean", 1, {"draw": in_both}, "two sums: noise"),
    ("open mean", 1, {"draw": half_when(single=True)}, "two sums: noise"),
    ("open mean", 1, {"draw": half_when(single=False)}, "two sums: noise"),
    ("open mean", 1, {"total": times(2)}, "two sums: totals"),
    ("open mean", 1, {"total": rounded_up}, "two sums: totals"),
    ("open mean, hourglass", 1, {"draw": in_both}, "two sums: noise"),
    ("open mean, staircase2d", 1, {"draw": in_both}, "two sums: noise"),
    ("open cells", 1, {"total": times(2)}, "open cells: totals"),
    ("open cells", 1, {"draw": no_noise}, "open cells: noise"),
]


@pytest.mark.parametrize(
    ("name", "place", "methods", "words"),
    OPEN,
    ids=[f"{n}-{next(iter(m.values())).__name__}-{i}" for i, (n, _, m, _) in enumerate(OPEN)],
)
def test_a_broken_stage_is_noticed(
    name: str, place: int, methods: dict[str, Any], words: str
) -> None:
    broken = turned(made(name).stages[place], **methods)
    assert ep.verify.exact(broken).holds
    with pytest.raises(PrivacyError, match=words):
        ep.verify.draws(broken).require()


def test_a_stage_that_is_not_drawn_spoils_the_whole() -> None:
    composed = made("open cells")
    counts, cells = composed.stages
    for stages in (
        (turned(counts, draw=counts_as_they_are), cells),
        (counts, turned(cells, draw=no_noise)),
    ):
        broken = replace(composed, stages=stages)
        assert ep.verify.exact(broken).holds
        assert not ep.verify.draws(broken).passes


def test_broken_selections_and_crossings_are_noticed() -> None:
    def by_prior(self: Any, source: Any, total: Any) -> int:
        cells, masses = total
        return Selection.draw(self, source, (cells[:0], masses[:0]))

    def sharper(self: Any, source: Any, total: Any) -> int:
        cells, masses = total
        return Selection.draw(self, source, (cells, 3 * masses))

    for draw in (by_prior, sharper):
        broken = turned(SELECTION, draw=draw)
        assert ep.verify.exact(broken).losses == ep.verify.exact(SELECTION).losses
        assert not ep.verify.draws(broken).passes

    def bare(self: Any, source: Any, queries: Any, level: int) -> int:
        noise = DiscreteLaplace(self.query).draw(source, self.end)
        fired = np.flatnonzero(noise + queries > level)  # wrong: no noise on the threshold
        return int(fired[0]) if fired.size else self.end - 1

    def never(self: Any, source: Any, queries: Any, level: int) -> int:
        fired = np.flatnonzero(queries > level)
        return int(fired[0]) if fired.size else self.end - 1

    for other in (bare, never):
        assert not ep.verify.draws(turned(CROSSING, draw=other)).passes


def test_crossings_with_other_noises_are_left_out_in_words() -> None:
    odd = replace(CROSSING, threshold=CROSSING.query * 2)
    found = ep.verify.draws(Two(odd, made("mean")))
    assert "crossing" in found.unchecked[0]


class Two:
    """A composition of the given stages."""

    kind = "composition"

    def __init__(self, *stages: Any) -> None:
        self.stages = stages


def test_what_cannot_be_drawn_alone_is_refused() -> None:
    for mechanism in (object(), Mean((0, 1), method="laplace").channel(1.0)):
        with pytest.raises(PrivacyError, match="cannot be drawn alone"):
            ep.verify.draws(mechanism)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1", None])
def test_the_seed_is_an_integer(seed: Any) -> None:
    with pytest.raises(ArgumentError, match="seed"):
        ep.verify.draws(made("mean"), seed=seed)


def test_it_repeats_itself_prints_and_is_plain_data() -> None:
    one, two = ep.verify.draws(made("mean"), seed=4), ep.verify.draws(made("mean"), seed=4)
    assert one == two != ep.verify.draws(made("mean"), seed=5)
    text = str(one)
    assert text.startswith("Draws and totals are as declared.")
    assert "1e-06" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    data = json.loads(report.to_json(one.to_dict()))
    assert data["passes"] is True
    assert [each["trials"] for each in data["checks"]] == [each.trials for each in one.checks]
