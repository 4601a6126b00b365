"""Selection of a weighted quantile: its probabilities, its draws and its loss."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

import epsilons as ep
from epsilons.draws.mechanisms.selection import CellsOf, Listed
from tests.mechanisms.selections import ODDS, PRIOR, law, masses, probabilities, selection


def law_of(people: list[tuple[int, int]], scale: int, odds: tuple[int, int]) -> list[float]:
    """Return the probabilities of candidates for odds (l, r), by counting people directly."""
    left, right = odds
    shares = []
    for candidate, prior in enumerate(PRIOR):
        # People in the candidate's cell count on the side that makes the distance smaller.
        before = sum(right * k if cell < candidate else -left * k for cell, k in people)
        after = sum(left * k if cell > candidate else -right * k for cell, k in people)
        shares.append((prior, max(0, before, after) / scale))
    least = min(far for _, far in shares)  # a factor common to all candidates cancels
    weights = [prior * math.exp(least - far) for prior, far in shares]
    return [weight / math.fsum(weights) for weight in weights]


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
    if odds[0] == odds[1]:  # with equal odds, the selection is that of the median
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


def others(people: list[tuple[int, int]], i: int, neighbours: str) -> list[list[tuple[int, int]]]:
    """Return the neighbours of a data set that differ in person i."""
    cell, k = people[i]
    rest = people[:i] + people[i + 1 :]
    if neighbours == "add-remove":
        return [rest]
    return [[*rest, (other, k)] for other in range(-1, 5) if other != cell]


def test_the_loss_of_a_quantile_is_nearly_attained_in_probabilities() -> None:
    """The log-ratio of probabilities can be nearly as large as the loss.

    One candidate has nearly all of the prior. A change of one person brings it closer, and moves
    another candidate away.
    """
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


@pytest.mark.parametrize(("odds", "seed"), [((1, 3), 1), ((7, 1), 2), ((3, 5), 3)])
def test_draws_of_a_quantile_follow_the_law(odds: tuple[int, int], seed: int) -> None:
    """Draws have the stated probabilities.

    With another seed, each of three tests would fail with probability 10⁻⁷.
    """
    people = [(0, 5), (1, 2), (3, 4), (4, 1)]
    mechanism, source = selection(12, odds=odds), ep.Seeded(seed)
    drawn = np.bincount([mechanism.draw(source, masses(people)) for _ in range(1500)], minlength=4)
    assert chisquare(drawn, np.array(law_of(people, 12, odds)) * 1500).pvalue > 1e-7
    # Power: swapped odds are detected.
    assert chisquare(drawn, np.array(law_of(people, 12, odds[::-1])) * 1500).pvalue < 1e-7


@pytest.mark.parametrize("odds", [(1, 63), (63, 1), (32, 32)])
def test_no_distance_overflows(odds: tuple[int, int]) -> None:
    """Distances are exact for weights of 2¹⁷ − 1, for 2³⁵ people, and for odds that sum to 64."""
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
