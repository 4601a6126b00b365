"""Projection onto the simplex satisfies its optimality conditions. It never increases the error."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from epsilons.risk.cells import project

points = st.lists(st.floats(-5, 5), min_size=1, max_size=30).map(np.array)


@given(points)
def test_it_is_the_nearest_point(point: np.ndarray) -> None:
    """The result satisfies the Karush–Kuhn–Tucker conditions.

    All shares that stay positive are shifted by the same amount.
    """
    shares = project(point)
    assert shares.min() >= 0.0
    assert shares.sum() == pytest.approx(1.0)
    shift = point - shares
    inner = shares > 1e-12
    assert np.ptp(shift[inner]) < 1e-9
    assert (shift[~inner] <= shift[inner].min() + 1e-9).all()


@settings(max_examples=300)
@given(points, st.integers(0, 2**32 - 1))
def test_it_never_increases_the_distance_to_a_point_of_the_simplex(
    point: np.ndarray, seed: int
) -> None:
    truth = np.random.default_rng(seed).dirichlet(np.ones(len(point)))
    before, after = np.linalg.norm(point - truth), np.linalg.norm(project(point) - truth)
    assert after <= before + 1e-9


@given(points)
def test_points_of_the_simplex_stay(point: np.ndarray) -> None:
    shares = project(point)
    np.testing.assert_allclose(project(shares), shares, atol=1e-12)


@pytest.mark.parametrize("size", [1e16, 1e200, 1e300])
def test_noise_that_drowned_everything_still_gives_shares(size: float) -> None:
    assert project(np.array([size, 0.0, 0.0])).tolist() == [1.0, 0.0, 0.0]
    assert project(np.array([size, -size, size])).tolist() == [0.5, 0.0, 0.5]


def test_a_million_cells() -> None:
    point = np.random.default_rng(1).laplace(1e-6, 1e-4, 10**6)
    shares = project(point)
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() >= 0.0


def test_projection_is_the_one_for_frequencies() -> None:
    point = np.array([0.6, 0.7, -0.2])
    np.testing.assert_allclose(project(point), [0.45, 0.55, 0.0])
