"""The variance of noise that sums to zero over cells, compared with that of other noise.

Each test compares variances of at least 3·10⁵ draws by the mechanism of a release. The standard
error of the ratio is below 0.35 %, so 2 % is more than 5.5 standard errors. A correct sampler fails
each comparison with probability below 10⁻⁷.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import epsilons as ep
from epsilons.draws.mechanisms import ClosedHistogram, SumAndSquares
from epsilons.draws.noise import DiscreteLaplace

N = 1000
EPSILON = 0.7
WORDS: dict[str, Any] = {"epsilon": EPSILON, "about": "population", "related": False}
WITHIN = 0.02


def table(cells: int) -> ClosedHistogram:
    """Return the mechanism of a release with this many categories."""
    release = ep.frequencies(
        np.arange(N) % cells, categories=range(cells), source=ep.Seeded(1), **WORDS
    )
    assert isinstance(release.mechanism, ClosedHistogram)
    return release.mechanism


def shares(mechanism: Any, size: int, seed: int) -> np.ndarray[Any, Any]:
    return np.asarray(mechanism.estimates(mechanism.draw(ep.Seeded(seed), size)))


@pytest.mark.statistical
def test_a_share_of_two_has_the_variance_of_a_mean() -> None:
    mean = ep.mean(np.arange(N) % 2, bounds=(0, 1), source=ep.Seeded(1), **WORDS).mechanism
    assert isinstance(mean, SumAndSquares)
    of_mean = shares(mean, 10**6, 2).var()
    of_share = shares(table(2), 10**6, 3)[:, 0].var()
    assert abs(of_share / of_mean - 1.0) < WITHIN
    # A share of two categories and a mean both have the variance 2/(nε)², as for Laplace noise.
    assert abs(of_share * (N * EPSILON) ** 2 / 2.0 - 1.0) < WITHIN
    # Power: independent noise in both cells has twice the variance, even after projection.
    loose = independent(table(2), 10**6, 4)[:, 0].var()
    assert abs(loose / of_mean - 2.0) < 2.0 * WITHIN


@pytest.mark.rotates(12)
@pytest.mark.statistical
@pytest.mark.parametrize(("cells", "ratio"), [(3, 0.625), (5, 0.75), (10, 19 / 22)])
def test_closed_noise_beside_independent_noise_that_is_projected(cells: int, ratio: float) -> None:
    """Noise that sums to zero over k cells has a smaller error than projected independent noise.

    The ratio of their squared errors is (2k − 1)/(2k + 2).
    """
    mechanism = table(cells)
    ours = (shares(mechanism, 3 * 10**5, 5) ** 2).sum(axis=1).mean()
    theirs = (independent(mechanism, 3 * 10**5, 6) ** 2).sum(axis=1).mean()
    assert abs(ours / theirs / ratio - 1.0) < WITHIN
    # Each cell has the stated variance.
    exact = mechanism.law.variance / float(mechanism.divisor) ** 2
    for cell in (0, cells - 1):
        assert abs(shares(mechanism, 3 * 10**5, 7)[:, cell].var() / exact - 1.0) < WITHIN


def independent(mechanism: ClosedHistogram, size: int, seed: int) -> np.ndarray[Any, Any]:
    """Draw independent noise of scale 2/Σe in each cell, projected to sum zero."""
    scale = 2 * mechanism.divisor / Fraction(N * EPSILON)
    noise = DiscreteLaplace(Fraction(round(scale))).draw(ep.Seeded(seed), size * mechanism.cells)
    rows = noise.reshape(size, mechanism.cells) / float(mechanism.divisor)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))
