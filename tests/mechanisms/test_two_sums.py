"""Two noisy sums: their totals under every scheme, their rounding, and the effect of one person."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import epsilons as ep
from epsilons.door import GRID
from epsilons.draws.mechanisms.add_remove import TwoSums
from epsilons.draws.noise import Hourglass, Laplaces
from epsilons.risk.means import ratio
from tests.tallied import of_numbers


def mechanism(law: Any, scheme: Any = ratio.TWO_SUMS, bounds: Any = (0.0, 1.0)) -> TwoSums:
    return TwoSums(np.array([1.0]), np.array([1]), scheme, law, GRID, bounds)


@pytest.mark.parametrize("scheme", ["TWO_SUMS", "CENTRED", "SUM_AND_COUNT"])
def test_sums_are_those_of_the_scheme(scheme: str) -> None:
    made = mechanism(Laplaces(8), getattr(ratio, scheme), (-1.0, 3.0))
    counted = of_numbers(np.array([1.0]), np.array([10]), np.array([7 * GRID]))
    total = made.total(counted)
    assert made.sums(total) == (Fraction(7), Fraction(10))
    assert made.estimate(total) == pytest.approx(-1.0 + 4.0 * 0.7)
    many = made.draw(ep.Seeded(1), 300, total=total)
    assert many.shape == (300, 2)
    one_by_one = [made.estimate((int(p), int(q))) for p, q in many]
    np.testing.assert_allclose(made.estimates(many), one_by_one, rtol=1e-12)
    (a, b), (c, d) = made.matrix
    assert made.estimate((-a - b, -c - d)) == 1.0  # a negative count gives the midpoint
    assert made.sums((a * 3 - b * 2, c * 3 - d * 2)) == (Fraction(3), Fraction(-2))


def test_sums_round_down_once() -> None:
    """The total is rounded down, and never the contribution of one person."""
    made = mechanism(Hourglass.best(1, 8))
    counted = of_numbers(np.array([1.0]), np.array([3]), np.array([GRID - 1]))
    assert made.total(counted) == (7, 3 * 8 - 7)


@settings(deadline=None, max_examples=60)
@given(
    people=st.lists(st.tuples(st.integers(0, 3), st.integers(0, GRID)), max_size=6),
    newcomer=st.tuples(st.integers(0, 3), st.integers(0, GRID)),
    steps=st.sampled_from([1, 3, 2**20]),
)
def test_a_person_moves_both_sums_in_one_direction(
    people: list[tuple[int, int]], newcomer: tuple[int, int], steps: int
) -> None:
    weights = np.array([0, 1, 2, 5])
    made = TwoSums(
        np.array([1.0, 2.0, 3.0, 4.0]),
        weights,
        ratio.TWO_SUMS,
        Hourglass.best(1, steps),
        GRID,
        (0.0, 1.0),
    )

    def total(rows: list[tuple[int, int]]) -> tuple[int, int]:
        counts, sums = np.zeros(4, np.int64), np.zeros(4, np.int64)
        for rung, value in rows:
            counts[rung] += 1
            sums[rung] += value
        return made.total(of_numbers(made.levels, counts, sums))

    before, after = total(people), total([*people, newcomer])
    moved = after[0] - before[0], after[1] - before[1]
    assert min(moved) >= 0
    assert sum(moved) == steps * weights[newcomer[0]]
