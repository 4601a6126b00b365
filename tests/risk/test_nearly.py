"""The nearly Gaussian bound on a noisy sum is valid, and close to the exact probability."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

from epsilons.risk import ClosedNoise, Weighing
from epsilons.risk.means import mean
from epsilons.risk.tails import gaussian as nearly
from epsilons.risk.tails.gaussian import NearlyGaussian, nearly_gaussian
from epsilons.risk.weighing import SAMPLE
from epsilons.types import Floats

SHARES = np.geomspace(2.0**-9, 0.5, 60)
VARIANCES = SHARES * (1.0 - SHARES)

LAWS = {
    "two points": (np.array([0.0, 1.0]), 1.0),
    "halves": (np.array([0.0, 0.5, 1.0]), 0.6),
    "fifths": (np.linspace(0.0, 1.0, 6), 0.3),
}
"""The values of each distribution, and the total probability of the two end points. The inner
points have the rest of the probability."""


def law_of(name: str, p: float) -> tuple[Floats, Floats]:
    """Return the values of a distribution with mean p, and their probabilities."""
    values, ends = LAWS[name]
    inner = values[1:-1]
    chances = np.zeros(len(values))
    if len(inner):  # inner values are binomial with mean p
        chances += (1.0 - ends) * stats.binom.pmf(np.arange(len(values)), len(values) - 1, p)
    chances[[0, -1]] += (1.0 - chances.sum()) * np.array([1.0 - p, p])
    return values, chances


def sums(values: Floats, chances: Floats, count: int) -> tuple[Floats, Floats]:
    """Return the distribution of a sum of independent draws on a lattice.

    It is computed by powers of the transform.
    """
    size = (len(values) - 1) * count + 1
    wave = np.fft.rfft(chances, size) ** count
    mass: Floats = np.maximum(np.fft.irfft(wave, size), 0.0)
    return np.arange(size, dtype=np.float64) * float(values[1]), mass


def above(x: Floats, weighing: Weighing) -> Floats:
    """Return P(noise > x)."""
    if weighing.closed is not None:
        return np.asarray(weighing.closed.exceeds(x / weighing.scale))
    half = 0.5 * np.exp(-np.abs(x) / weighing.scale)
    return np.where(x >= 0.0, half, 1.0 - half)


def missed(weighing: Weighing, name: str, p: float, a: Floats) -> Floats:
    """Return the exact P(|Σw·(X − p) + noise| > a)."""
    values, chances = law_of(name, p)
    total, mass = np.zeros(1), np.ones(1)
    for weight, count in zip(weighing.weights.tolist(), weighing.counts.tolist(), strict=True):
        own, likely = sums(values, chances, count)
        likely_enough = likely > 1e-13
        own, likely = weight * (own - count * p)[likely_enough], likely[likely_enough]
        total = (total[:, None] + own).ravel()
        mass = (mass[:, None] * likely).ravel()
    far = [float(mass @ (above(x - total, weighing) + above(x + total, weighing))) for x in a]
    return np.array(far)


def made(n: int, noise: float, cells: int | None = None, heavy: float = 4.0) -> Weighing:
    """Return an estimator with two weights.

    The noise is in units of the standard deviation of a coin.
    """
    weights, counts = np.array([1.0, heavy]) / (n * (1.0 + heavy) / 2.0), np.array([n // 2, n // 2])
    scale = noise * 0.5 * math.sqrt(float(counts @ weights**2))
    return Weighing(weights, counts, scale, closed=None if cells is None else ClosedNoise(cells))


WEIGHINGS = {
    "a hundred": made(100, 0.3),
    "a hundred, little noise": made(100, 0.05),
    "six hundred": made(600, 1.0),
    "six hundred, little noise": made(600, 0.1),
    "six hundred, hardly any noise": made(600, 0.01),
    "six hundred, three cells": made(600, 0.3, 3),
    "six hundred, eight cells": made(600, 0.3, 8),
    "six hundred, a hundred cells": made(600, 0.3, 100),
    "equal": Weighing(np.array([0.001]), np.array([1000]), 0.002),
    "lattice": Weighing(np.array([0.001]), np.array([1000]), 0.0004),
}


@pytest.mark.parametrize(
    ("name", "part"),
    [("six hundred", 2e-3), ("six hundred, eight cells", 4e-3), ("equal", 3e-3)],
)
def test_it_is_hardly_more_than_the_truth(name: str, part: float) -> None:
    """The bound is close to the exact value.

    The bin of variances is narrow. So nearly all of the remaining error comes from the bound on
    characteristic functions.
    """
    weighing = WEIGHINGS[name]
    bound = NearlyGaussian(weighing, np.array([0.2499, 0.25]))
    at = 0.5 * math.sqrt(weighing.square) * np.array([0.5, 1.5, 3.0])
    found = np.array([float(bound.beyond(a)[0]) for a in at.tolist()])
    assert (found - missed(weighing, "two points", 0.5, at) <= part).all()


def test_a_lattice_that_noise_does_not_hide_is_counted() -> None:
    """The bound is valid even if the noise is so small that the sum is visibly on a lattice.

    Just below a lattice point, a Gaussian sum has a smaller tail than the lattice sum.
    """
    weighing = Weighing(np.array([0.001]), np.array([1000]), 0.00003)
    at = np.array([0.0099])
    gaussian = 2.0 * float(NearlyGaussian(weighing, np.array([0.2499, 0.25]))._gaussian(330.0)[0])
    exact = float(missed(weighing, "two points", 0.5, at)[0])
    assert exact > gaussian + 0.01
    assert exact <= float(NearlyGaussian(weighing, np.array([0.2499, 0.25])).beyond(0.0099)[0])


def test_waves_of_many_cells_are_an_integral() -> None:
    for k in (65, 300):
        for theta in (0.2, 2.0, 40.0):

            def density(s: float, k: int = k, theta: float = theta) -> float:
                return float((1.0 + s * s) ** (1 - k) / (1.0 + (s + theta) ** 2))

            over = integrate.quad(lambda s, k=k: (1.0 + s * s) ** -k, -2.0, 2.0, limit=400)[0]
            expected = integrate.quad(density, -2.0, 2.0, points=[0.0], limit=400)[0] / over
            found = float(ClosedNoise(k).wave(np.array([theta]))[0])
            assert found == pytest.approx(expected, rel=1e-6)


def test_a_turn_is_averaged() -> None:
    for x in (1e-3, 1.0, 30.0, 499.0, 501.0, 5000.0):
        u = (np.arange(200_000) + 0.5) / 200_000 * math.pi
        exact = float(np.exp(-x * (1.0 - np.cos(u))).mean())
        found = float(nearly._bessel(np.array([x]))[0])
        assert exact * (1.0 - 1e-9) <= found <= exact * (1.0 + 1e-5)


def test_no_noise_smooths_nothing() -> None:
    assert nearly_gaussian(Weighing(np.array([0.01]), np.array([100]), 0.0), VARIANCES) is None
    assert nearly_gaussian(Weighing(np.array([0.01]), np.array([100]), 1e-9), VARIANCES) is None
    assert nearly_gaussian(Weighing(np.array([0.01]), np.array([100]), 1e299), VARIANCES) is None


@pytest.mark.parametrize(
    ("n", "epsilon", "confidence", "over"),
    [
        (100, 1.0, 0.9, 1.02),
        (100, 1.0, 0.95, 1.03),
        (1000, 1.0, 0.95, 1.01),
        (1000, 1.0, 0.99, 1.02),
        (10_000, 5.0, 0.99, 1.05),
        (10_000, 0.5, 0.5, 1.01),
    ],
)
def test_an_interval_is_hardly_wider_than_errors(
    n: int, epsilon: float, confidence: float, over: float
) -> None:
    """For coins of any probability, intervals cover as stated and are hardly wider than needed."""
    weighing = Weighing(np.array([1.0 / n]), np.array([n]), 1.0 / (n * epsilon))
    reach = mean.quantile(weighing, SAMPLE, confidence)
    chances = [
        float(missed(weighing, "two points", p, np.array([reach]))[0])
        for p in (0.5, 0.4, 0.2, 0.05, 0.01)
    ]
    assert max(chances) <= 1.0 - confidence
    least = float(missed(weighing, "two points", 0.5, np.array([reach / over]))[0])
    assert least > 1.0 - confidence


def test_bounds_fall_with_the_distance_and_grow_with_the_pieces() -> None:
    bound = NearlyGaussian(WEIGHINGS["six hundred"], VARIANCES)
    scale = math.sqrt(WEIGHINGS["six hundred"].square)
    found = [bound.beyond(scale * a) for a in np.linspace(0.0, 5.0, 40).tolist()]
    assert all((x >= y).all() for x, y in itertools.pairwise(found))
    # A wide bin has no smaller bound than the narrow bins inside it.
    wide = NearlyGaussian(WEIGHINGS["six hundred"], VARIANCES[[20, 40]])
    inner = NearlyGaussian(WEIGHINGS["six hundred"], VARIANCES[20:41])
    for a in (0.3 * scale, scale):
        assert float(wide.beyond(a)[0]) >= float(inner.beyond(a).max()) * (1.0 - 1e-9)
