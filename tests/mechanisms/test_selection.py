"""A weighted quantile among candidates: its law, its draws, its loss, and the checker of it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import epsilons as ep
from epsilons.mechanisms.candidates import CellsOf, Listed, TheLine, radii
from epsilons.mechanisms.selection import Selection
from epsilons.tally import line
from epsilons.verify.selection import selection_losses

PRIOR = [1, 3, 2, 1]


ODDS = [(1, 1), (1, 3), (3, 1), (2, 5), (1, 63), (32, 32)]


def selection(
    scale: int = 8,
    neighbours: str = "replace",
    candidates: Any = None,
    weights: Any = (1, 2, 5),
    odds: tuple[int, int] = (1, 1),
) -> Selection:
    return Selection(
        np.array([0.25, 0.5, 2.0]),
        np.array(weights),
        scale,
        neighbours,
        Listed(np.array(PRIOR)) if candidates is None else candidates,
        "a median",
        odds,
    )


def law(people: list[tuple[int, int]], scale: int | Fraction) -> list[float]:
    """Reference: the probabilities of four candidates, from a list of (cell, weight)."""
    shares = []
    for candidate, prior in enumerate(PRIOR):
        below = sum(k for cell, k in people if cell < candidate)
        upto = sum(k for cell, k in people if cell <= candidate)
        total = sum(k for _, k in people)
        shares.append(prior * math.exp(-max(0, 2 * below - total, total - 2 * upto) / scale))
    return [share / sum(shares) for share in shares]


def masses(people: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    cells = sorted({cell for cell, _ in people})
    return np.array(cells, dtype=np.int64), np.array(
        [sum(k for at, k in people if at == cell) for cell in cells], dtype=np.int64
    )


def probabilities(mechanism: Selection, people: list[tuple[int, int]]) -> list[float]:
    """The law that the mechanism states, by its exponents."""
    cells, sums = masses(people)
    shares = [
        prior * math.exp(-float(mechanism.exponent(candidate, cells, sums)))
        for candidate, prior in enumerate(PRIOR)
    ]
    return [share / sum(shares) for share in shares]


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 6)), max_size=6), st.integers(1, 20))
def test_exponents_are_those_of_the_law(people: list[tuple[int, int]], scale: int) -> None:
    stated = probabilities(selection(scale), people)
    assert stated == pytest.approx(law(people, scale), rel=1e-12)


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_nobody_loses_more_than_their_weight_says(neighbours: str) -> None:
    """All data sets of three people in six places, all neighbours, all outcomes."""
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
        assert worst[k] > 0.45 * float(loss)  # and it is not far from it, either


@pytest.mark.statistical
def test_draws_follow_the_law() -> None:
    """Seeded; for a new seed a right sampler fails with probability 10⁻⁷, thrice."""
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
    # A sampler with a tenth of the scale would be noticed.
    assert chisquare(drawn, np.array(law(people, 3)) * 1500).pvalue < 1e-7


def test_far_candidates_are_drawn_as_seldom_as_they_should_be() -> None:
    """With distances of thousands of scales the envelope is one unit, and is rejected."""
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


# Other quantiles than the median.


def law_of(people: list[tuple[int, int]], scale: int, odds: tuple[int, int]) -> list[float]:
    """Reference: l parts of the weight to the left for r parts to the right, person by person."""
    left, right = odds
    shares = []
    for candidate, prior in enumerate(PRIOR):
        # Whoever is in the candidate may count as on either side of it, as suits it best.
        before = sum(right * k if cell < candidate else -left * k for cell, k in people)
        after = sum(left * k if cell > candidate else -right * k for cell, k in people)
        shares.append(prior * math.exp(-max(0, before, after) / scale))
    return [share / math.fsum(shares) for share in shares]


@given(
    st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 6)), max_size=6),
    st.integers(1, 200),
    st.sampled_from(ODDS),
    st.sampled_from(["replace", "add-remove"]),
)
def test_exponents_of_a_quantile_are_those_of_the_law(
    people: list[tuple[int, int]], scale: int, odds: tuple[int, int], neighbours: str
) -> None:
    stated = probabilities(selection(scale, neighbours, odds=odds), people)
    assert stated == pytest.approx(law_of(people, scale, odds), rel=1e-12)
    if odds[0] == odds[1]:  # the median, in steps of as many
        assert stated == pytest.approx(law(people, Fraction(scale, odds[0])), rel=1e-12)


@given(
    st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 6)), max_size=6),
    st.sampled_from(ODDS),
)
def test_a_quantile_of_the_mirrored_people_is_mirrored(
    people: list[tuple[int, int]], odds: tuple[int, int]
) -> None:
    def exponents(people: list[tuple[int, int]], odds: tuple[int, int]) -> list[Fraction]:
        mechanism = selection(odds=odds)
        return [mechanism.exponent(each, *masses(people)) for each in range(4)]

    mirrored = [(3 - cell, k) for cell, k in people]
    assert exponents(mirrored, odds[::-1]) == exponents(people, odds)[::-1]


def test_a_candidate_with_the_quantile_in_it_is_at_no_distance() -> None:
    people = [(0, 10), (1, 10), (2, 60), (3, 20)]
    for odds, there in (((1, 9), {0, 1}), ((1, 4), {1, 2}), ((1, 1), {2}), ((9, 1), {3})):
        mechanism = selection(odds=odds)
        zero = {c for c in range(4) if mechanism.exponent(c, *masses(people)) == 0}
        assert zero == there


WEIGHTS = (1, 2, 5)
SPREADS = {
    "replace": lambda odds: 2 * (odds[0] + odds[1]),
    "add-remove": lambda odds: 2 * max(odds),
}


def others(people: list[tuple[int, int]], i: int, neighbours: str) -> list[list[tuple[int, int]]]:
    """The neighbours of a data set in person i."""
    cell, k = people[i]
    rest = people[:i] + people[i + 1 :]
    if neighbours == "add-remove":
        return [rest]
    return [[*rest, (other, k)] for other in range(-1, 5) if other != cell]


@pytest.mark.parametrize("odds", [(1, 1), (1, 3), (3, 1), (1, 7)])
@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
def test_the_loss_of_a_quantile_is_that_of_the_worst_neighbours(
    neighbours: str, odds: tuple[int, int]
) -> None:
    """All data sets of four people in six places: exponents move apart by the spread, and no more.

    Where priors are far apart, so do probabilities, nearly.
    """
    scale = 64
    prior = np.array([1, 2**40, 2**40, 1])
    mechanism = selection(scale, neighbours, Listed(prior), odds=odds)
    spread = SPREADS[neighbours](odds)
    assert mechanism.spread == spread
    assert mechanism.losses == tuple(Fraction(k * spread, scale) for k in WEIGHTS)
    farthest = dict.fromkeys(WEIGHTS, Fraction(0))
    for places in itertools.product(range(-1, 5), repeat=3):
        people = [*zip(places, WEIGHTS, strict=True), (2, 6)]
        before = [mechanism.exponent(each, *masses(people)) for each in range(4)]
        for i in range(3):
            for other in others(people, i, neighbours):
                after = [mechanism.exponent(each, *masses(other)) for each in range(4)]
                moved = [b - a for a, b in zip(before, after, strict=True)]
                k = people[i][1]
                farthest[k] = max(farthest[k], max(moved) - min(moved))
    for k, loss in zip(WEIGHTS, mechanism.losses, strict=True):
        assert farthest[k] <= loss
    assert farthest[1] == mechanism.losses[0]  # it is attained


def test_the_loss_of_a_quantile_is_nearly_attained_in_probabilities() -> None:
    """One candidate has nearly all of the prior, and moves one way; another moves the other way."""
    for neighbours in ("replace", "add-remove"):
        mechanism = selection(4, neighbours, Listed(np.array([2**50, 1, 1, 1])), odds=(1, 3))
        worst = 0.0
        for places in itertools.product(range(-1, 5), repeat=3):
            people = list(zip(places, (1, 4, 4), strict=True))
            for other in others(people, 0, neighbours):
                shares = []
                for each in (people, other):
                    weighed = [
                        prior * math.exp(-float(mechanism.exponent(c, *masses(each))))
                        for c, prior in enumerate((2**50, 1, 1, 1))
                    ]
                    shares.append([w / math.fsum(weighed) for w in weighed])
                worst = max(worst, *(abs(math.log(a / b)) for a, b in zip(*shares, strict=True)))
        loss = float(mechanism.losses[0])
        assert 0.99 * loss < worst <= loss + 1e-12


@pytest.mark.statistical
@pytest.mark.parametrize(("odds", "seed"), [((1, 3), 1), ((7, 1), 2), ((3, 5), 3)])
def test_draws_of_a_quantile_follow_the_law(odds: tuple[int, int], seed: int) -> None:
    """Seeded; for a new seed a right sampler fails with probability 10⁻⁷, thrice."""
    people = [(0, 5), (1, 2), (3, 4), (4, 1)]
    mechanism, source = selection(12, odds=odds), ep.Seeded(seed)
    drawn = np.bincount([mechanism.draw(source, masses(people)) for _ in range(1500)], minlength=4)
    assert chisquare(drawn, np.array(law_of(people, 12, odds)) * 1500).pvalue > 1e-7
    # Odds that are turned around would be noticed.
    assert chisquare(drawn, np.array(law_of(people, 12, odds[::-1])) * 1500).pvalue < 1e-7


@pytest.mark.parametrize("odds", [(1, 63), (63, 1), (32, 32)])
def test_no_distance_overflows(odds: tuple[int, int]) -> None:
    """Weights of 2¹⁷ − 1, 2³⁵ people and 64 parts: the exponents are those of whole numbers."""
    mass = (2**17 - 1) * 2**35
    cells, sums = np.array([100, 500, 900]), np.array([mass // 4, mass // 2, mass // 4])
    mechanism = selection(64 << 30, candidates=CellsOf(1000), weights=(1, 2, 2**17 - 1), odds=odds)
    left, right = odds
    for candidate in (0, 100, 300, 500, 700, 900, 999):
        below = sum(int(m) for c, m in zip(cells, sums, strict=True) if c < candidate)
        inside = sum(int(m) for c, m in zip(cells, sums, strict=True) if c == candidate)
        above = int(sums.sum()) - below - inside
        far = max(
            0, right * below - left * (inside + above), left * above - right * (inside + below)
        )
        assert mechanism.exponent(candidate, cells, sums) == Fraction(far, 64 << 30)
    drawn = [mechanism.draw(ep.Seeded(seed), (cells, sums)) for seed in range(5)]
    low, high = {(1, 63): (0, 100), (63, 1): (900, 999), (32, 32): (500, 500)}[odds]
    assert all(low <= each <= high for each in drawn)


# The checker.


@pytest.mark.parametrize("neighbours", ["replace", "add-remove"])
@pytest.mark.parametrize(
    "candidates", [TheLine(), CellsOf(1000), Listed(np.array([5, 1, 2, 3, 9]))]
)
def test_the_checker_finds_the_loss(neighbours: str, candidates: Any) -> None:
    mechanism = selection(64, neighbours, candidates)
    spread = 4 if neighbours == "replace" else 2
    expected = tuple(Fraction(k * spread, 64) for k in (1, 2, 5))
    assert selection_losses(mechanism) == mechanism.losses == expected
    for odds in ODDS:
        spread = SPREADS[neighbours](odds)
        expected = tuple(Fraction(k * spread, 64) for k in (1, 2, 5))
        other = replace(mechanism, odds=odds)
        assert selection_losses(other) == other.losses == expected
