"""The algorithm "reduction": its counts and slots fail as printed, and our versions work."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import epsilons as ep
from epsilons.papers.reduction import Reduced, Seats

# 7. The counts of Algorithm 8 spend too much.


def test_fault_7_the_printed_reduction_overspends() -> None:
    """The printed reduction overspends the smallest ε of an octave.

    The count spends 1/scale, which is that ε, and the mean spends another ε/2.
    """
    lower = 0.1
    printed = 1 / (1 / lower) + 2 * lower / 4
    assert printed == pytest.approx(1.5 * lower)
    rng = np.random.default_rng(1)
    epsilon = rng.choice([0.1, 0.15, 0.3, 1.0], 3000)
    mechanism = reduced(rng.normal(5.0, 1.0, 3000), epsilon)
    for spent, level in zip(mechanism.losses, mechanism.levels.tolist(), strict=True):
        assert 0 < spent <= Fraction(level)
    # The octaves that may have people begin at 0.1, at 0.3 and at 1.
    rates = mechanism.counts_stage.rates
    assert [float(2 * each) for each in rates] == [0.1, 0.3, 1.0]
    assert all(size == int(size) for size in mechanism.bounded.last.counts)


def reduced(values: np.ndarray, epsilon: np.ndarray) -> Reduced:
    release = ep.papers.reduced_mean(
        values, epsilon=epsilon, levels=[0.1, 0.15, 0.3, 1.0], source=ep.Seeded(3)
    )
    mechanism: Reduced = release.mechanism
    return mechanism


# 8. One person changes more than one slot.


def printed_seatings(people: tuple[int, ...], slots: int) -> list[tuple[int, ...]]:
    """Return all seatings of the printed algorithm: people in order, then empty slots (0)."""
    chosen = itertools.combinations(people, min(slots, len(people)))
    return [each + (0,) * (slots - len(each)) for each in chosen]


@pytest.mark.parametrize("slots", [2, 3, 4])
def test_fault_8_one_person_changes_more_than_one_printed_slot(slots: int) -> None:
    """In the printed algorithm one person changes several slots.

    `test_pairs.py` tests our version.
    """
    farthest = 0
    for gone in (1, 2, 3):
        rest = tuple(each for each in (1, 2, 3) if each != gone)
        left, right = printed_seatings((1, 2, 3), slots), printed_seatings(rest, slots)
        size = math.lcm(len(left), len(right))
        left, right = left * (size // len(left)), right * (size // len(right))
        apart = np.array(
            [[sum(a != b for a, b in zip(x, y, strict=True)) for y in right] for x in left]
        )
        rows, columns = linear_sum_assignment((apart > 1).astype(int))
        farthest = max(farthest, int(apart[rows, columns].max()))
    assert farthest > 1


def test_seats_are_uniform() -> None:
    """All 24 seatings are equally frequent, within six standard errors."""
    source, values = ep.Seeded(1), np.array([1.0, 2.0, 3.0])
    one_cell = np.zeros(3, dtype=np.int64)
    runs = 4800
    drawn = [
        tuple(np.nan_to_num(Seats((4,)).thin(source, one_cell, values)).astype(int))
        for _ in range(runs)
    ]
    expected = set(itertools.permutations((0, 1, 2, 3)))
    assert set(drawn) == expected
    for seat in expected:
        assert abs(drawn.count(seat) / runs - 1 / 24) < 6 * math.sqrt(1 / 24 * 23 / 24 / runs)
    sampled = [tuple(Seats((2,)).thin(source, one_cell, values).astype(int)) for _ in range(runs)]
    for seat in itertools.permutations((1, 2, 3), 2):
        assert abs(sampled.count(seat) / runs - 1 / 6) < 6 * math.sqrt(1 / 6 * 5 / 6 / runs)
