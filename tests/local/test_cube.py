"""Caps: sets of sign vectors that differ in few signs.

The tests are about the size of a cap, the distribution of masks, and the choice of the best cap.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from epsilons.draws.noise import Seeded
from epsilons.local.draws import ONE, Cap, caps, ladder

SMALL = [(1, 0), (2, 0), (3, 0), (3, 1), (5, 1), (6, 2), (8, 0), (8, 3)]


def law(cap: Cap, epsilon: float) -> dict[int, float]:
    """Return the distribution of the mask, computed from its definition."""
    near = [m for m in range(cap.answers) if m.bit_count() <= cap.distance]
    inside = (
        len(near) * math.exp(epsilon) / (len(near) * math.exp(epsilon) + cap.answers - len(near))
    )
    outside = (1.0 - inside) / (cap.answers - len(near))
    return {
        m: inside / len(near) if m.bit_count() <= cap.distance else outside
        for m in range(cap.answers)
    }


@pytest.mark.parametrize(("signs", "distance"), SMALL)
@pytest.mark.parametrize("epsilon", [1e-7, 0.1, 1.0, 4.0, 30.0])
def test_moments_by_enumeration(signs: int, distance: int, epsilon: float) -> None:
    cap = Cap(signs, distance)
    table = law(cap, epsilon)
    assert cap.inside == sum(m.bit_count() <= distance for m in table)

    def sign(mask: int, k: int) -> int:
        return 1 - 2 * (mask >> k & 1)

    first = sum(p * sign(m, 0) for m, p in table.items())
    rho, kappa = cap.advantage(np.array([epsilon]))
    assert rho[0] == pytest.approx(first, rel=1e-6 if epsilon < 1e-3 else 1e-12)
    if signs > 1:
        second = sum(p * sign(m, 0) * sign(m, 1) for m, p in table.items())
        assert kappa[0] == pytest.approx(second, rel=1e-5 if epsilon < 1e-3 else 1e-12, abs=1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize(("signs", "distance"), [(1, 0), (3, 1), (5, 1), (6, 2)])
def test_masks_have_their_law(signs: int, distance: int) -> None:
    """Masks have the defined distribution.

    The limit is six standard errors for each of up to 64 masks. The false-alarm probability is
    below 10⁻⁶.
    """
    many, epsilon = 200_000, 1.5
    cap = Cap(signs, distance)
    drawn = np.bincount(cap.turns(Seeded(3), np.full(many, epsilon)), minlength=cap.answers) / many
    for mask, p in law(cap, epsilon).items():
        assert abs(drawn[mask] - p) < 6.0 * math.sqrt(p * (1.0 - p) / many)


def test_masks_of_a_cap_are_listed_once_each() -> None:
    masks = Cap(7, 3)._masks.tolist()
    assert len(set(masks)) == len(masks) == Cap(7, 3).inside
    assert masks == sorted(masks, key=lambda m: (m.bit_count(), m))


def test_many_signs_are_drawn_within_their_bits() -> None:
    drawn = Cap(32, 1).turns(Seeded(4), np.array([0.0, 5.0, 50.0] * 50))
    assert drawn.dtype == np.uint32
    assert int(np.bitwise_count(drawn).max()) > 8


@pytest.mark.parametrize("dimension", [1, 2, 10, 100, 1000])
def test_the_ladder_is_never_worse_than_one_sign(dimension: int) -> None:
    starts, chosen = ladder(dimension)
    assert (np.diff(starts) > 0).all()
    for budget in np.linspace(0.01, 45.0, 300):
        cap = chosen[int(np.searchsorted(starts, budget, side="right")) - 1]
        at = np.array([budget])
        assert cap.variance(at, dimension)[0] <= ONE.variance(at, dimension)[0] * (1 + 1e-12)


def test_the_ladder_is_near_the_best_of_all_caps() -> None:
    starts, chosen = ladder(100)
    for budget in (0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0):
        at = np.array([budget])
        cap = chosen[int(np.searchsorted(starts, budget, side="right")) - 1]
        best = min(float(each.variance(at, 100)[0]) for each in caps())
        assert cap.variance(at, 100)[0] <= 1.35 * best


def test_large_budgets_gain_much() -> None:
    """At ε = 8 and d = 100, several signs per report have less than 1/6 of the variance of one."""
    starts, chosen = ladder(100)
    cap = chosen[int(np.searchsorted(starts, 8.0, side="right")) - 1]
    at = np.array([8.0])
    assert cap.variance(at, 100)[0] < ONE.variance(at, 100)[0] / 6.0


def test_caps_are_distinct_and_less_than_half() -> None:
    assert all(2 * cap.inside <= cap.answers for cap in caps())
    assert all(a != b for a, b in itertools.combinations(caps(), 2))
