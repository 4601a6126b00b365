"""The joint noise of several means in `risk` agrees with simulations and direct sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special

from epsilons import Seeded
from epsilons.budgets.allocation import allocate_for
from epsilons.budgets.levels import Budgets
from epsilons.draws.mechanisms import build_several
from epsilons.draws.noise import Cube
from epsilons.risk import CubeNoise, Weighing
from epsilons.risk.goals import MeanGoal
from epsilons.risk.means.together import SeveralMeans, WeighedTogether
from epsilons.risk.tails import laplace
from epsilons.risk.weighing import Assumption

DRAWS = 200_000
FAR = 6.0 * math.sqrt(0.25 / DRAWS)
"""Six standard errors of a frequency. It is exceeded with probability below 1e-8."""


def simulated(means: int, seed: int = 1) -> Any:
    """Draw points with P(z) ∝ e^{−max|z|}, in units of Laplace noise with the same variance.

    The radius is a gamma variable of shape d, and the direction is a point on the cube's surface.
    """
    chance = np.random.default_rng(seed)
    radius = chance.gamma(means, size=(DRAWS, 1))
    at = chance.uniform(-1.0, 1.0, (DRAWS, means))
    at[np.arange(DRAWS), chance.integers(means, size=DRAWS)] = chance.choice([-1.0, 1.0], DRAWS)
    return radius * at / math.sqrt((means + 1) * (means + 2) / 6.0)


@pytest.mark.parametrize("means", [1, 2, 5, 40, 400])
def test_the_variance_is_that_of_laplace_noise(means: int) -> None:
    noise = CubeNoise(means)
    square = integrate.quad(lambda a: 4.0 * a * float(noise.exceeds(a)), 0.0, 80.0, limit=400)[0]
    assert square == pytest.approx(2.0, rel=1e-7)
    assert float(noise.exceeds(0.0)) == pytest.approx(0.5)
    assert float(noise.exceeds(-0.3)) == pytest.approx(1.0 - float(noise.exceeds(0.3)))


@pytest.mark.parametrize("means", [1, 2, 5, 60, 400])
def test_a_table_is_never_below_the_tail(means: int) -> None:
    """The tabulated tail is an upper bound, less than 1e-9 too large even between its points."""
    noise = CubeNoise(means)
    at = np.random.default_rng(3).uniform(-44.0, 44.0, 4000) * np.repeat([1.0, 0.05], 2000)
    over = noise.tabled(at) - noise.exceeds(at)
    assert (over >= -1e-16).all()
    assert over.max() < 1e-9
    a = noise.times * np.abs(at)
    terms = special.gammaincc(means + 1, a) - a / means * special.gammaincc(means, a)
    tail = np.where(at < 0.0, 1.0 - 0.5 * terms, 0.5 * terms)
    np.testing.assert_allclose(noise.exceeds(at), tail, atol=1e-11)


def test_one_mean_has_laplace_noise() -> None:
    noise = CubeNoise(1)
    at = np.array([0.1, 1.0, 7.0])
    np.testing.assert_allclose(noise.exceeds(at), 0.5 * np.exp(-at), rtol=1e-12)
    for shift, square in ((0.0, 0.0), (0.3, 0.0), (0.3, 0.2)):
        assert noise.deviation(shift, square, 0.1, 0.05) == laplace.deviation(
            shift, square, 0.1, 0.05
        )
    expected = laplace.laplace_quantile(0.3, 0.1, 0.05)
    assert noise.largest_quantile(0.3, 0.1, 0.05) == pytest.approx(expected, rel=1e-9)


@pytest.mark.statistical
@pytest.mark.parametrize("means", [2, 3, 7])
def test_tails_are_those_of_points(means: int) -> None:
    noise, points = CubeNoise(means), simulated(means)
    chance = np.random.default_rng(2)
    for alpha in (0.2, 1.0, 2.5):
        assert abs(float(noise.exceeds(alpha)) - np.mean(points[:, 0] > alpha)) < FAR
        assert abs(noise.largest_beyond(alpha) - np.mean(np.abs(points).max(1) > alpha)) < FAR
        for shift in (0.1 * alpha, alpha):
            seen = np.mean(np.abs(points + shift).max(axis=1) > alpha)
            assert abs(noise.largest_beyond(alpha, shift) - seen) < FAR
        for sigma in (0.05, 0.8, 5.0):
            sums = chance.rayleigh(sigma, DRAWS)
            assert abs(noise.tail(alpha, sigma) - np.mean(points[:, 1] + sums > alpha)) < FAR


@pytest.mark.statistical
@pytest.mark.parametrize("shifts", [(0.5, -0.5), (0.5, 0.5), (0.5, 0.0), (0.2, -0.4)])
def test_no_shift_is_worse_than_all_at_an_end(shifts: tuple[float, float]) -> None:
    noise, points = CubeNoise(2), simulated(2)
    for alpha in (0.6, 1.5):
        seen = np.mean(np.abs(points + np.array(shifts)).max(axis=1) > alpha)
        assert noise.largest_beyond(alpha, 0.5) > seen - FAR


@pytest.mark.parametrize("means", [1, 2, 5, 50])
def test_the_largest_is_a_gamma_variable(means: int) -> None:
    noise = CubeNoise(means)
    for part in (0.2, 1.0, 2.0):
        beyond = float(special.gammaincc(means, part * means))
        assert noise.largest_beyond(part * means / noise.times) == pytest.approx(beyond, rel=1e-8)


@pytest.mark.parametrize("means", [2, 5, 30])
@pytest.mark.parametrize("shift", [0.0, 0.02, 3.0])
def test_deviations_are_exceeded_just_as_often_as_asked(means: int, shift: float) -> None:
    noise, scale = CubeNoise(means), 0.04
    for beta in (0.3, 0.05, 1e-6):
        far = noise.deviation(shift, 0.0, scale, beta) / scale
        miss = float(noise.exceeds(far - shift / scale) + noise.exceeds(far + shift / scale))
        assert miss == pytest.approx(beta, rel=1e-6)
        all_of_them = noise.largest_quantile(shift, scale, beta) / scale
        assert noise.largest_beyond(all_of_them, shift / scale) == pytest.approx(beta, rel=1e-5)
        assert far <= all_of_them
        each = noise.deviation(shift, 0.0, scale, beta / means) / scale
        assert all_of_them <= each * (1.0 + 1e-9)
        wider = noise.deviation(shift, 1e-4, scale, beta) / scale
        assert far < wider


@pytest.mark.parametrize("means", [2, 6])
def test_the_lattice_is_within_one_and_a_half_points(means: int) -> None:
    """Noise on the lattice is at most continuous noise plus `slack` (docs/proofs/cube.md)."""
    noise = CubeNoise(means)
    for scale in (1, 4, 30):
        law = Cube(scale, means)
        r = np.arange(80.0 * means * scale)
        shells = ((2.0 * r + 1.0) ** means - (2.0 * r - 1.0) ** means) * np.exp(-r / scale)
        shells[0] = 1.0
        beyond = shells[:0:-1].cumsum()[::-1] / shells.sum()
        for x in range(0, 6 * means * scale, max(scale // 2, 1)):
            below, above = (
                float(noise.exceeds((x + off) / (scale * noise.times))) for off in (-1.5, 1.5)
            )
            assert above <= law.tail(x) <= below
            largest = [
                noise.largest_beyond(max(x + off, 0.0) / (scale * noise.times))
                for off in (-1.5, 1.5)
            ]
            assert largest[1] <= beyond[x] <= largest[0]


def test_noise_of_splitting_is_larger_everywhere() -> None:
    """One of d entries of joint noise has lighter tails than Laplace noise of d times the scale."""
    for means in (2, 3, 10, 100):
        noise = CubeNoise(means)
        at = np.linspace(0.0, 12.0, 200)
        assert (noise.exceeds(at) <= 0.5 * np.exp(-at * noise.times / means) + 1e-15).all()


PEOPLE = [Assumption("people", True), Assumption("people", 0.05), Assumption("people", False)]
POPULATION = [Assumption("population", related) for related in (True, 0.05, False)]
BUDGETS = Budgets.of_levels(np.array([0.1, 0.5, 2.0]), np.array([300, 300, 400]))


@pytest.mark.long
@pytest.mark.parametrize("assumption", [*PEOPLE, *POPULATION], ids=str)
@pytest.mark.parametrize("loss", ["mse", "pac"])
def test_a_cap_for_several_means_is_the_best_of_all_caps(assumption: Assumption, loss: str) -> None:
    goal = SeveralMeans(assumption, loss, 0.9, means=4)
    best = allocate_for(BUDGETS, goal, "auto")
    risks = []
    for cap in [*np.geomspace(0.08, 2.0, 40).tolist(), float(best.spent.max())]:
        spent = np.minimum(BUDGETS.levels, cap)
        total = float(BUDGETS.counts @ spent)
        # For d = 4 means, joint noise has (d + 1)(d + 2)/6 = 5 times the variance of the noise of
        # one mean.
        scale = math.sqrt(5.0) / total
        weighing = Weighing(spent / total, BUDGETS.counts, scale, cube=CubeNoise(4))
        risks.append(goal.risk(weighing))
    assert best.aimed <= min(risks) * (1.0 + 1e-9)
    assert best.aimed == pytest.approx(risks[-1], rel=1e-9)
    # For every rule, joint noise is never worse than splitting the budget between the means.
    apart = Budgets.of_levels(BUDGETS.levels / 4, BUDGETS.counts)
    assert best.aimed < allocate_for(apart, MeanGoal(assumption, loss, 0.9), "optimal").aimed


@pytest.mark.parametrize("assumption", [*PEOPLE, *POPULATION], ids=str)
def test_all_at_once_is_between_one_and_a_union(assumption: Assumption) -> None:
    goal = SeveralMeans(assumption, "mse", 0.95, means=5)
    mechanism = build_several(
        allocate_for(BUDGETS, goal, "auto"), grid=2**30, bounds=((0.0, 1.0),) * 5
    )
    assert mechanism is not None
    margin = WeighedTogether(mechanism.weighing, mechanism.slack, 0)
    for confidence in (0.5, 0.95, 0.999):
        union = margin.error(assumption, 1.0 - (1.0 - confidence) / 5)
        at_once = margin.at_once(assumption, confidence)
        assert margin.error(assumption, confidence) <= at_once <= union * (1.0 + 1e-9)
        if assumption.related is not False and not assumption.sampled and confidence < 0.99:
            assert at_once < 0.98 * union  # better than a union bound


@pytest.mark.parametrize("related", [True, 0.05])
def test_budgets_that_go_with_values_do_not_choose_the_way(related: Any) -> None:
    """If budgets may be related to values, the choice between two bounds must not use budgets.

    Noise dominates here, so the other bound would be smaller, but it must not be used.
    """
    counts = np.array([100, 100])
    cube = CubeNoise(5)
    weighing = Weighing(np.array([0.001, 0.009]), counts, 50.0, cube=cube)
    margin = WeighedTogether(weighing, 0.0, 0)
    apart = Assumption("population", related)
    assert margin.at_once(apart, 0.95) == margin.error(apart, 0.99)
    unrelated = Assumption("population", False)
    assert margin.at_once(unrelated, 0.95) < 0.98 * margin.error(unrelated, 0.99)


@pytest.mark.statistical
def test_the_largest_noise_of_draws_is_what_is_said() -> None:
    """The largest noise in draws has the stated distribution.

    With equal weights, noise is the only error of a release.
    """
    goal = SeveralMeans(Assumption("people", True), "mse", 0.95, means=5)
    one = Budgets.of_levels(np.array([0.5]), np.array([1000]))
    mechanism = build_several(allocate_for(one, goal, "auto"), grid=2**30, bounds=((0.0, 1.0),) * 5)
    assert mechanism is not None
    margin = WeighedTogether(mechanism.weighing, mechanism.slack, 0)
    drawn = mechanism.estimates(mechanism.draw(Seeded(4), DRAWS))
    off = np.abs(drawn - np.array(mechanism.estimate((0,) * 5)))
    for confidence in (0.5, 0.95):
        held = np.mean(off.max(axis=1) <= margin.at_once(Assumption("people", True), confidence))
        assert abs(held - confidence) < FAR
        each = np.mean(off[:, 2] <= margin.error(Assumption("people", True), confidence))
        assert abs(each - confidence) < FAR
