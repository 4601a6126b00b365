"""A release with an unknown range depends only on draws and public facts, and is correct.

With fixed draws, two neighbouring data sets must give the same release, including every field. The
stated losses must equal the losses that the checkers compute from the mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.mechanisms.add_remove import LevelCounts, TwoSums
from epsilons.draws.mechanisms.selection import CellsOf, Selection, TheLine
from epsilons.draws.mechanisms.sums import Additive, SumAndSquares
from epsilons.draws.noise import Source, System
from epsilons.papers.diffusion import Crossing
from epsilons.risk.ranges import SHARPNESS
from tests import compared
from tests.assumed import GAUSSIAN
from tests.plain import plain

pytestmark = pytest.mark.usefixtures("shorter")

METHODS = ["weighted", "diffusion"]
NEIGHBOURS = ["replace", "add-remove"]


def everything(release: Any) -> Any:
    """Return all fields of a release, and everything that it prints."""
    intervals = [release.interval(confidence) for confidence in (0.5, 0.99)]
    words = [str(release), repr(release), release.to_json(), release._repr_html_()]
    return plain(release), plain(release.to_dict()), intervals, words, plain(list(release.spent))


@pytest.fixture
def fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace every draw by a fixed value that is independent of the data."""

    def select(self: Selection, source: Source, total: Any) -> int:
        if isinstance(self.candidates, TheLine):
            return 924_000  # a few units above 0
        return (3 * self.candidates.last + 2) // 5 if isinstance(self.candidates, CellsOf) else 2

    def cross(self: Crossing, source: Source, queries: Any, level: int) -> int:
        assert len(queries) == self.end
        return 6

    def count(self: LevelCounts, source: Source, total: Any) -> tuple[int, ...]:
        return tuple(2000 + 40 * place for place in range(len(self.rates)))

    def pair(self: TwoSums, source: Source, size: Any = None, total: Any = (0, 0)) -> Any:
        unit = self.steps * int(self.weights.max())
        (a, b), (c, d) = self.matrix
        t, people = 37 * unit + 5, 90 * unit + 3
        return a * t + b * people, c * t + d * people

    def total(self: Additive, source: Source, size: Any = None, total: Any = 0) -> int:
        return int(self.divisor * Fraction(2, 5))

    def squares(self: SumAndSquares, source: Source, size: Any = None, total: Any = 0) -> Any:
        return int(self.divisor * Fraction(2, 5)), int(self.divisor * Fraction(1, 9))

    for kind, draw in (
        (Selection, select), (Crossing, cross), (LevelCounts, count), (TwoSums, pair),
        (Additive, total), (SumAndSquares, squares),
    ):  # fmt: skip
        monkeypatch.setattr(kind, "draw", draw)


Row = tuple[float | None, float, str]

OTHERS: list[Row] = [(100.0 + i, (2.0, 8.0)[i % 2], f"p{i}") for i in range(119)]

VICTIMS: dict[str, list[Row]] = {
    "in the middle": [(140.0, 4.0, "z")],
    "far away": [(1e308, 4.0, "z")],
    "as far on the other side": [(-1.7e308, 4.0, "z")],
    "subnormal": [(5e-324, 4.0, "z")],
    "infinite": [(math.inf, 4.0, "z")],
    "missing": [(None, 4.0, "z")],
    "many rows": [(float(i), 4.0, "z") for i in range(7)],
}

NEWCOMERS: dict[str, list[Row]] = {
    **VICTIMS,
    "nobody": [],
    "the richest": [(140.0, math.inf, "z")],
    "the strictest": [(140.0, 0.5, "z")],
    "below all levels": [(140.0, 1e-13, "z")],
    "two budgets": [(1.0, 0.5, "z"), (2.0, 8.0, "z")],
    "a bad budget": [(1.0, math.nan, "z")],
    "a thousand": [(float(i), 8.0, f"q{i}") for i in range(1000)],
}

FACTS: dict[str, dict[str, Any]] = {
    "levels": {"levels": [0.5, 2.0, 8.0]},
    "a guess": {"levels": {0.5: 300, 2.0: 300, 8.0: 300}},
    "levels and a cap": {"levels": [0.5, 2.0, 8.0], "cap": 3.0},
    "one budget": {"epsilon": 4.0},
    "nothing known": {},
}


def released(rows: list[Row], method: str, **arguments: Any) -> Any:
    values, epsilon, person = ([row[i] for row in rows] for i in range(3))
    arguments = {"epsilon": epsilon, "source": ep.Seeded(5), **GAUSSIAN, **arguments}
    return compared.mean(values, person=person, bounds=None, method=method, **arguments)


@pytest.mark.usefixtures("fixed")
def test_the_number_of_people_is_the_one_that_was_drawn() -> None:
    """The number of people in a release is computed from the drawn counts.

    These are fixed at 2000, 2040 and 2080. Diffusion subtracts a margin from each.
    """
    counted = released(OTHERS, "weighted", neighbours="add-remove", levels=[0.5, 2.0, 8.0])
    assert counted.n == 2000 + 2040 + 2080
    slots = released(OTHERS, "diffusion", neighbours="add-remove", levels=[0.5, 2.0, 8.0])
    margin = math.log(3 / 0.01)
    expected = sum(
        2000 + 40 * i - math.ceil(2.0 / level * margin) for i, level in enumerate((0.5, 2.0, 8.0))
    )
    assert slots.n == expected
    guessed = released(OTHERS, "weighted", neighbours="add-remove", levels={0.5: 9, 8.0: 9})
    assert guessed.n is None


# Privacy losses.

PEOPLE = 3000


def people(method: str, neighbours: str, **arguments: Any) -> Any:
    rng = np.random.default_rng(4)
    epsilon = np.resize([0.3, 1.0, 4.0], PEOPLE)
    public = {"levels": [0.3, 1.0, 4.0]} if neighbours == "add-remove" else {}
    arguments = {"source": ep.Seeded(5), **GAUSSIAN, **public, **arguments}
    return compared.mean(
        rng.normal(50.0, 3.0, PEOPLE),
        epsilon=epsilon,
        bounds=None,
        method=method,
        neighbours=neighbours,
        **arguments,
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_what_is_said_to_be_spent_is_what_the_checkers_find(method: str, neighbours: str) -> None:
    release = people(method, neighbours)
    verdict = ep.verify.exact(release.mechanism)
    assert verdict.holds
    rows = list(release.spent)
    assert len(rows) == len(verdict.losses)
    for row, budget, loss in zip(rows, verdict.budgets, verdict.losses, strict=True):
        assert row.epsilon == pytest.approx(float(budget))
        # Coins and integer divisors are rounded down. The relative error is below 2⁻²⁰.
        assert float(loss) <= row.spent * (1 + 1e-12)
        assert row.spent == pytest.approx(float(loss), rel=1e-6)
        assert row.spent <= row.epsilon
        assert row.spent > 0.9 * min(row.epsilon, rows[1].spent)


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"cap": 0.5},
        {"levels": {0.3: 900, 1.0: 900, 4.0: 9}},
        {"levels": [0.3, 1.0, 4.0], "cap": 0.05},
    ],
)
def test_so_it_is_for_whatever_is_declared(declared: dict[str, Any]) -> None:
    release = people("weighted", "add-remove", **{"levels": None, **declared})
    # There are thousands of rungs (budget levels), so only a few are checked.
    losses = dict(zip(release.mechanism.levels.tolist(), total(release.mechanism), strict=True))
    for epsilon in (0.3, 0.5, 1.0, 4.0):
        rung = max(level for level in losses if level <= epsilon)
        assert release.spent(epsilon) == pytest.approx(float(losses[rung]), rel=1e-9)
        assert 0 < losses[rung] <= Fraction(min(rung, declared.get("cap", math.inf)))


def total(mechanism: Any) -> list[Fraction]:
    """Return the loss of each level, as the frozen stages state it."""
    parts = []
    for stage in mechanism.stages:
        if hasattr(stage, "rates") or hasattr(stage, "candidates"):
            parts.append(stage.losses)
        else:
            assert (stage.weights >= 0).all()
            parts.append(tuple(Fraction(int(k)) / stage.law.scale for k in stage.weights.tolist()))
    return [sum(each, Fraction(0)) for each in zip(*parts, strict=True)]


# The draws use the same mechanisms that were checked.


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_every_draw_is_of_a_stage_that_is_published(
    method: str, neighbours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []

    def watch(kind: Any) -> None:
        real: Callable[..., Any] = kind.draw

        def draw(self: Any, *given: Any, **named: Any) -> Any:
            drawn.append(self)
            return real(self, *given, **named)

        monkeypatch.setattr(kind, "draw", draw)

    for kind in (Selection, Crossing, LevelCounts, TwoSums, Additive, SumAndSquares):
        watch(kind)
    mechanism = people(method, neighbours).mechanism
    if method == "diffusion":
        bounded = mechanism.bounded if neighbours == "add-remove" else mechanism
        first = bounded.stages[0]
        median = drawn.pop(-3)
        assert isinstance(median, Selection)
        assert median.scale == first.middle_scale
        assert set(median.weights.tolist()) == {first.middle_weight}
        assert median.neighbours == "replace"
        expected = [first.up, first.down, first.wide, first.narrow, bounded.last]
        if neighbours == "add-remove":
            expected = [mechanism.counts_stage, *expected]
        assert [id(each) for each in drawn] == [id(each) for each in expected]
        return
    assert len(drawn) == len(mechanism.stages)
    assert drawn[-1] is mechanism.stages[-1]
    for one, stage in zip(drawn[:-1], mechanism.stages[:-1], strict=True):
        assert type(one) is type(stage)
        if isinstance(one, LevelCounts):
            assert one.rates == stage.rates
            continue
        # The published stage has finer levels. Each is contained in one level of the drawn stage.
        assert (one.scale, one.neighbours, one.candidates) == (
            stage.scale, stage.neighbours, stage.candidates
        )  # fmt: skip
        assert one.neighbours == neighbours
        assert set(stage.losses) <= set(one.losses)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_only_the_systems_entropy_makes_a_release_private(method: str, neighbours: str) -> None:
    for source, private in ((ep.Seeded(1), False), (System(), True), (None, True)):
        release = people(method, neighbours, source=source)
        assert release.private is private
        assert ("simulation" in str(release).lower()) is not private


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("side", [-1, 1])
def test_a_value_is_cut_to_the_range_that_was_found(
    method: str, side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def far(self: Additive, source: Source, size: Any = None, total: int = 0) -> int:
        return side * int(self.divisor * 1000)

    def both(self: SumAndSquares, source: Source, size: Any = None, total: Any = 0) -> Any:
        return side * int(self.divisor * 1000), 0

    monkeypatch.setattr(Additive, "draw", far)
    monkeypatch.setattr(SumAndSquares, "draw", both)
    release = people(method, "replace")
    lo, hi = release.bounds
    assert release.value == (hi if side > 0 else lo)
    assert abs(release.raw - (lo + hi) / 2) > 500 * (hi - lo)


# The precision of the draws, from which intervals are computed.


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_a_picture_is_as_sharp_as_what_its_stages_spend(
    neighbours: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The precision `sharp` is correct for a known number of people and for noisy counts."""
    counts = np.full(3, PEOPLE // 3)
    real = LevelCounts.draw

    def counted(self: LevelCounts, source: Source, total: Any) -> tuple[int, ...]:
        drawn = real(self, source, total)
        counts[:] = drawn
        return drawn

    monkeypatch.setattr(LevelCounts, "draw", counted)
    release = people("weighted", neighbours)
    assert (counts == PEOPLE // 3).all() == (neighbours == "replace")
    picture = release.estimate.margin.picture
    stages = [s for s in release.mechanism.stages if isinstance(s, Selection)][-2:]
    for stage, sharp, alike in zip(stages, picture.sharp, picture.alike, strict=True):
        spent = np.array([float(loss) for loss in stage.losses])
        total = float(spent @ counts)
        assert sharp == pytest.approx(SHARPNESS[neighbours] * total)
        assert alike == pytest.approx(total**2 / float(spent**2 @ counts))


def test_a_picture_of_diffusion_counts_those_who_are_kept() -> None:
    release = people("diffusion", "replace")
    picture = release.estimate.margin.picture
    first = release.mechanism.stages[0]
    kept = sum(float(p) * n for p, n in zip(first.keep, first.counts.tolist(), strict=True))
    base = float(first.base)
    # The precision `sharp` is half of the rate, divided by the step. The median has rate base/4.
    # Pairs have rate base/8 and steps of 2.
    assert picture.sharp[0] == pytest.approx(kept * base / 8)
    pairs = kept * kept / PEOPLE / 2
    assert picture.sharp[1] == pytest.approx(pairs * base / 32)
    assert picture.alike == pytest.approx((kept, pairs))
