"""Selection of a weighted median: its probabilities, its draws, its loss and its checker."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import chisquare

import epsilons as ep
from epsilons.door.count import line
from epsilons.draws.mechanisms.selection import CellsOf, Listed, Selection, TheLine, radii
from epsilons.errors import PrivacyError
from epsilons.verify.losses.selection import selection_losses
from tests.mechanisms.selections import PRIOR, SPREADS, law, masses, probabilities, selection


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 6)), max_size=6), st.integers(1, 20))
def test_exponents_are_those_of_the_law(people: list[tuple[int, int]], scale: int) -> None:
    stated = probabilities(selection(scale), people)
    assert stated == pytest.approx(law(people, scale), rel=1e-12)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_nobody_loses_more_than_their_weight_says(neighbours: str) -> None:
    """Losses are at most as stated for all neighbouring data of three people in six cells."""
    scale = 8
    mechanism = selection(scale, neighbours)
    worst = {1: 0.0, 2: 0.0, 5: 0.0}
    for places in itertools.product(range(-1, 5), repeat=3):
        people = list(zip(places, (1, 2, 5), strict=True))
        before = probabilities(mechanism, people)
        for i, (cell, k) in enumerate(people):
            rest = people[:i] + people[i + 1 :]
            others = (
                [rest]
                if neighbours == "add-remove"
                else [[*rest, (other, k)] for other in range(-1, 5) if other != cell]
            )
            for other in others:
                after = probabilities(mechanism, other)
                moved = max(abs(math.log(a / b)) for a, b in zip(before, after, strict=True))
                worst[k] = max(worst[k], moved)
    for k, loss in zip((1, 2, 5), mechanism.losses, strict=True):
        assert worst[k] <= float(loss) + 1e-12
        assert worst[k] > 0.45 * float(loss)  # the bound is not too loose


def test_draws_follow_the_law() -> None:
    """Draws have the stated probabilities.

    With another seed, each of three tests would fail with probability 10⁻⁷.
    """
    people = [(0, 5), (1, 2), (3, 4), (4, 1)]
    for scale, seed in ((1, 1), (4, 2), (30, 3)):
        mechanism = selection(scale)
        cells, sums = masses(people)
        source = ep.Seeded(seed)
        drawn = np.bincount(
            [mechanism.draw(source, (cells, sums)) for _ in range(1500)], minlength=4
        )
        expected = np.array(law(people, scale)) * 1500
        assert chisquare(drawn, expected).pvalue > 1e-7
    # Power: a sampler with a tenth of the scale is rejected.
    assert chisquare(drawn, np.array(law(people, 3)) * 1500).pvalue < 1e-7


def test_far_candidates_are_drawn_as_seldom_as_they_should_be() -> None:
    """Candidates that are thousands of scales away are never drawn."""
    mechanism = selection(1, weights=(1, 1, 1))
    source = ep.Seeded(5)
    cells, sums = np.array([1]), np.array([10**6])
    assert {mechanism.draw(source, (cells, sums)) for _ in range(50)} == {1}


def test_with_nobody_the_prior_is_drawn() -> None:
    source, nobody = ep.Seeded(6), np.zeros(0, dtype=np.int64)
    mechanism = selection()
    drawn = np.bincount(
        [mechanism.draw(source, (nobody, nobody)) for _ in range(2000)], minlength=4
    )
    assert chisquare(drawn, np.array(PRIOR) / sum(PRIOR) * 2000).pvalue > 1e-7


def test_a_median_outside_of_all_candidates_gives_the_near_side() -> None:
    mechanism = selection(1, candidates=CellsOf(100))
    cells, sums = np.array([-1, 50]), np.array([10_000, 10])
    assert all(mechanism.draw(ep.Seeded(seed), (cells, sums)) < 50 for seed in range(20))


@given(st.integers(-line.TOP, line.TOP))
@settings(max_examples=200)
def test_every_bucket_of_the_line_owns_its_prior(index: int) -> None:
    space = TheLine()
    start, end = (int(each) for each in space.before(np.array([index, index + 1])))
    assert start < end
    assert space.at(start) == space.at(end - 1) == index
    if index < line.TOP:
        assert space.at(end) == index + 1


def test_the_prior_of_the_line_fits_64_bits_and_is_even() -> None:
    space = TheLine()
    ends = space.before(np.array([-line.TOP, 0, 1, line.TOP + 1]))
    assert ends[0] == 0
    assert ends[-1] < 2**62
    assert ends[1] == ends[-1] - ends[2]


def test_radii_ascend_from_the_least() -> None:
    sizes, listed = radii(0.3, 1000.0)
    assert sizes[0] == 0.3
    assert (np.diff(sizes) > 0).all()
    assert sizes[-1] <= 1000.0
    assert len(listed.weights) == len(sizes)
    assert (listed.weights >= 1).all()
    assert (sizes[2:] / sizes[1:-1]).max() < 1.21


# The checker.


@dataclass(frozen=True, eq=False)
class Careless(Selection):
    """A faulty mechanism: it doubles all distances, so a person changes them by twice as much."""

    def exponent(self, candidate: int, cells: Any, masses: Any) -> Fraction:
        return 2 * super().exponent(candidate, cells, masses)


@dataclass(frozen=True, eq=False)
class Boastful(Selection):
    """A faulty mechanism: it uses only the weight below a candidate.

    That would suffice if people were added, but they are replaced.
    """

    def exponent(self, candidate: int, cells: Any, masses: Any) -> Fraction:
        below = int(masses[cells < candidate].sum())
        return Fraction(below, self.scale)


@dataclass(frozen=True, eq=False)
class Turned(Selection):
    """A faulty mechanism: it declares one quantile but selects another."""

    def exponent(self, candidate: int, cells: Any, masses: Any) -> Fraction:
        return replace(as_other(Selection, self), odds=self.odds[::-1]).exponent(
            candidate, cells, masses
        )

    def draw(self, source: Any, total: Any) -> int:
        return replace(as_other(Selection, self), odds=self.odds[::-1]).draw(source, total)


@dataclass(frozen=True, eq=False)
class Outside(Selection):
    """A faulty mechanism: it ignores people in the candidate's cell."""

    def exponent(self, candidate: int, cells: Any, masses: Any) -> Fraction:
        left, right = self.odds
        below, above = (int(masses[side].sum()) for side in (cells < candidate, cells > candidate))
        return Fraction(abs(right * below - left * above), self.scale)

    def draw(self, source: Any, total: Any) -> int:
        cells, masses = total
        alone = [Outside.exponent(self, each, cells, masses) for each in range(4)]
        weights = [p * math.exp(-float(far)) for p, far in zip(PRIOR, alone, strict=True)]
        chance = np.random.default_rng(list(source.bytes(8)))
        return int(chance.choice(4, p=np.array(weights) / sum(weights)))


@dataclass(frozen=True, eq=False)
class Narrow(Selection):
    """A faulty mechanism: it declares half of the largest change that a person causes."""

    @property
    def spread(self) -> int:
        return super().spread // 2

    @property
    def losses(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(int(k) * self.spread, self.scale) for k in self.weights.tolist())


def as_other(kind: type[Selection], mechanism: Selection) -> Selection:
    fields = {name: getattr(mechanism, name) for name in mechanism.__dataclass_fields__}
    return kind(**fields)


@pytest.mark.parametrize("kind", [Careless, Boastful, Turned, Outside])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_checker_believes_no_other_exponents(kind: type[Selection], neighbours: str) -> None:
    broken = as_other(kind, selection(64, neighbours, odds=(1, 3)))
    with pytest.raises(PrivacyError, match="exponent"):
        ep.verify.exact(broken)
    assert ep.verify.exact(as_other(Selection, broken)).losses == selection_losses(
        as_other(Selection, broken)
    )


@pytest.mark.parametrize("kind", [Turned, Outside])
def test_draws_of_another_quantile_are_noticed(kind: type[Selection]) -> None:
    right = selection(4, odds=(1, 3))
    assert ep.verify.draws(right).passes
    assert not ep.verify.draws(as_other(kind, right)).passes


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_checker_finds_the_spread_by_itself(neighbours: str) -> None:
    """If a mechanism loses twice what it declares, the checker finds the true loss."""
    honest = selection(2 * SPREADS[neighbours]((1, 3)), neighbours, odds=(1, 3))
    broken = as_other(Narrow, honest)
    said = zip(broken.losses, broken.levels.tolist(), strict=True)
    assert all(loss <= Fraction(level) for loss, level in said)
    found = ep.verify.exact(broken)
    assert found.losses == tuple(2 * loss for loss in broken.losses)
    assert not found.holds


def test_the_checker_notices_what_is_not_said_right() -> None:
    with pytest.raises(PrivacyError, match="counts as a change"):
        selection_losses(replace(selection(64), neighbours="swap"))
    with pytest.raises(PrivacyError, match="whole number"):
        selection_losses(replace(selection(64), scale=0))
    with pytest.raises(PrivacyError, match="one weight"):
        selection_losses(replace(selection(64), weights=np.array([1, 2])))
    wrong: list[Any] = [(1, 1, 1), (0, 1), (0.5, 1)]
    for odds in wrong:
        with pytest.raises(PrivacyError, match="odds of a quantile"):
            selection_losses(replace(selection(64), odds=odds))
    with pytest.raises(PrivacyError, match="prior"):
        selection_losses(selection(64, candidates=Listed(np.array([1, 0, 1, 1]))))
    with pytest.raises(PrivacyError, match="one weight"):
        selection_losses(replace(selection(64), weights=np.array([1, 2, -1])))
