"""Properties of noise that sums to zero over cells agree with integrals, sampling and formulas.

The `witness` draws k − 1 Laplace noises, sets the last to minus their sum, and accepts all with
probability e^{−|last|}. Tests are seeded. With a new seed, each test would fail for correct code
with probability below 1e-8.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from epsilons.frozen import from_plain, to_plain
from epsilons.risk import ClosedNoise, Weighing, cells
from epsilons.risk.means import mean
from epsilons.risk.shares import WeighedCells
from epsilons.risk.tails import joint
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from epsilons.types import Floats

FEW = (2, 3, 4, 5, 9)


def witness(k: int, size: int, seed: int) -> Floats:
    """Draw at least `size` samples of the noise, by rejection sampling."""
    rng = np.random.default_rng(seed)
    kept: list[Floats] = []
    while sum(map(len, kept)) < size:
        first = rng.laplace(size=(size, k - 1))
        last = -first.sum(axis=1)
        stays = rng.random(size) < np.exp(-np.abs(last))
        kept.append(np.column_stack([first, last])[stays])
    return np.concatenate(kept)


def density(x: float, k: int) -> float:
    """Return the unnormalized density of the noise of one cell at x.

    It is a Laplace density times the density of the sum of the other noises at −x.

    Given its variance, the sum of k − 1 Laplace noises is Gaussian. The variance is twice a Gamma
    variable.
    """

    def joint(v: float) -> float:
        gamma = v ** (k - 2) * math.exp(-v) / math.gamma(k - 1)
        return gamma * math.exp(-x * x / (4.0 * v)) / math.sqrt(4.0 * math.pi * v)

    return math.exp(-abs(x)) * float(integrate.quad(joint, 0.0, math.inf, limit=400)[0])


@pytest.mark.parametrize("k", [6])
def test_a_cell_is_laplace_noise_times_the_density_of_what_it_lacks(k: int) -> None:
    noise = ClosedNoise(k)
    whole = 2.0 * integrate.quad(density, 0.0, 40.0, args=(k,), limit=400)[0]
    square = 2.0 * integrate.quad(lambda x: x * x * density(x, k), 0.0, 40.0, limit=400)[0]
    assert noise.variance == pytest.approx(square / whole, rel=1e-5)
    for a in (0.1, 1.0, 4.0):
        beyond = integrate.quad(density, a, 40.0, args=(k,), limit=400)[0] / whole
        assert float(noise.exceeds(a)) == pytest.approx(beyond, rel=1e-5)
        assert float(noise.exceeds(-a)) == pytest.approx(1.0 - beyond, rel=1e-5)


def test_two_cells_are_one_laplace_noise_of_half_the_scale() -> None:
    noise = ClosedNoise(2)
    assert noise.square == 2 * 2 * 0.25
    assert float(noise.exceeds(0.7)) == pytest.approx(0.5 * math.exp(-1.4), rel=1e-12)
    assert noise.within(0.8, ((0.5, 1),)) == pytest.approx(
        1.0 - 0.5 * math.exp(-0.6) - 0.5 * math.exp(-2.6), rel=1e-12
    )


@pytest.mark.parametrize("k", [3, 5, 10, 20])
def test_squares_are_the_known_part_of_projected_noise(k: int) -> None:
    """E Σz² is (2k − 1)/(2k + 2) times that of projected independent noise, which is 2(k − 1)."""
    part = (2 * k - 1) / (2 * k + 2)
    assert ClosedNoise(k).square == pytest.approx(part * 2.0 * (k - 1), rel=1e-12)


@pytest.mark.parametrize("k", [3, 4, 5, 7])
def test_the_largest_cell_is_the_largest_of_two_compositions(k: int) -> None:
    """P(max|z| ≤ a/2) equals E[G_j(a/r)·G_{k−j}(a/r)].

    Here r = Σ|z| ~ Gamma(k − 1), j is the number of positive cells, and G_j is the function
    `spaced`.
    """
    for alpha in (0.4, 1.3, 3.1):
        total = 0.0
        for j in range(1, k):
            part = math.comb(k, j) * math.comb(k - 2, j - 1) / math.comb(2 * k - 2, k - 1)
            total += (
                part
                * integrate.quad(
                    lambda r, j=j, a=2.0 * alpha: (
                        stats.gamma.pdf(r, k - 1) * spaced(j, a / r) * spaced(k - j, a / r)
                    ),
                    0.0,
                    60.0,
                    points=[2.0 * alpha * m for m in range(1, k + 1)],
                    limit=400,
                )[0]
            )
        assert ClosedNoise(k).within(alpha) == pytest.approx(total, abs=1e-7)


def spaced(j: int, x: float) -> float:
    """Return P(all j coordinates are at most x) for a uniform point on the simplex."""
    cut = (math.comb(j, i) * (-1) ** i * (1.0 - i * x) ** (j - 1) for i in range(j) if i * x < 1.0)
    return sum(cut) if x * j >= 1.0 else 0.0


@pytest.mark.parametrize("k", [2, 3, 12, 64, 65, 300])
def test_an_envelope_lies_above_the_tail_and_touches_it(k: int) -> None:
    noise, at = ClosedNoise(k), np.linspace(-8.0, 199.0, 40_001)
    rates = np.array([0.1, 0.5, 0.9, 1.0, 1.3, 1.9, 2.0])
    tail = noise.exceeds(at)
    for rate, log in zip(rates, noise.log_envelope(rates), strict=True):
        if rate > noise.steepest or (rate == 2.0 and k > 2):
            assert log == math.inf
            continue
        ratio = tail * np.exp(rate * at - log)
        assert ratio.max() <= 1.0
        if k < 60 or rate <= 1.0:  # otherwise the largest ratio is farther out than `at`
            assert ratio.max() >= math.exp(-0.05)


@pytest.mark.parametrize("k", [3, 5, 12])
@pytest.mark.parametrize("shift", [0.0, 0.5, 3.0])
def test_closed_noise_is_within_wherever_independent_noise_is(k: int, shift: float) -> None:
    """Noise that sums to zero is within a bound at least as often as independent noise.

    This also holds with a bias. The reason is that a sum of two truncated noises is concentrated at
    0.
    """
    off = ((shift, 1),) if shift else ()
    for alpha in (0.2, 1.0, 2.9, 6.0):
        apart = float(cells._cdf(np.array(alpha), shift, k, 1.0))
        assert ClosedNoise(k).within(alpha, off) >= apart - 1e-12


@pytest.mark.parametrize("k", [3, 8, 64, 65])
@pytest.mark.parametrize("sigma", [0.05, 0.6, 4.0])
def test_the_tail_beside_a_sum_is_that_of_a_rayleigh_variable(k: int, sigma: float) -> None:
    """The tail of noise plus a Rayleigh variable is exact up to 64 cells.

    With more cells it is a close upper bound.
    """
    noise, terms = ClosedNoise(k), joint._coefficients(k)

    def beyond(a: float) -> float:
        if a < 0.0:
            return 1.0 - beyond(-a)
        return math.exp(-2.0 * a) * math.fsum(q * (2.0 * a) ** i for i, q in enumerate(terms))

    for alpha in (0.3, 2.0, 7.0):
        knots = sorted({min(alpha, 12.0 * sigma), sigma, 3.0 * sigma})
        expected = integrate.quad(
            lambda u, alpha=alpha: stats.rayleigh.pdf(u, scale=sigma) * beyond(alpha - u),
            0.0,
            12.0 * sigma,
            points=knots,
            limit=400,
        )[0]
        found = noise.tail(alpha, sigma)
        assert expected * (1.0 - 1e-6) <= found
        assert found <= expected * (1.0 + 1e-6 if k <= 64 else 1.3)


@pytest.mark.parametrize("assumption", [SAMPLE, UNRELATED, RELATED, Assumption("people", 0.1)])
def test_a_share_of_two_categories_is_the_mean_of_its_indicator(assumption: Assumption) -> None:
    """Two noises of scale 2t that sum to zero are ± Laplace noise of scale t."""
    weights, counts = np.array([0.01, 0.03]), np.array([40, 20])
    table = Weighing(weights, counts, 0.02, closed=ClosedNoise(2))
    one = Weighing(weights, counts, 0.01)
    for confidence in (0.3, 0.9, 0.999):
        found = cells.share_error(table, assumption, confidence)
        assert found == pytest.approx(mean.quantile(one, assumption, confidence), rel=1e-9)
    squares = float(cells.squares(table, assumption, 2))
    assert squares == pytest.approx(2.0 * float(mean.mse(one, assumption)), rel=1e-12)


def test_integers_take_their_part_of_the_error_probability() -> None:
    made = Weighing(np.array([0.1]), np.array([10]), 0.02, closed=ClosedNoise(40))
    fine, coarse = (WeighedCells(made, slack, 40) for slack in (1e-12, 1e-4))
    beta = 0.05 * math.exp(-40 * 1e-4 / 0.02)
    assert coarse.worst(RELATED, 0.95) == pytest.approx(
        cells.band(made, RELATED, 40, 1.0 - beta) + 1e-4, rel=1e-9
    )
    assert coarse.error(RELATED, 0.95) == pytest.approx(
        cells.share_error(made, RELATED, 1.0 - beta) + 1e-4, rel=1e-9
    )
    assert fine.worst(RELATED, 0.95) < coarse.worst(RELATED, 0.95) - 1e-4


def test_it_is_written_and_read_back() -> None:
    made = Weighing(np.array([0.5]), np.array([2]), 0.1, closed=ClosedNoise(7))
    again = from_plain(to_plain(made))
    assert again.closed == ClosedNoise(7)


@pytest.mark.parametrize(("k", "joined"), [(3, False), (8, False), (400, True)])
def test_the_largest_square_is_a_part_of_the_sum(k: int, joined: bool) -> None:
    """The bound on the largest square is 1 − 1/k times the sum of squares.

    If there are many cells, the triangle inequality gives a smaller bound.
    """
    made = Weighing(np.array([0.01, 0.03]), np.array([40, 20]), 0.02, closed=ClosedNoise(k))
    part = (1.0 - 1.0 / k) * float(cells.squares(made, SAMPLE, k))
    found = cells.largest_square(made, SAMPLE, k)
    assert found < part if joined else found == part
