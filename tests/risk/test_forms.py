"""Bounds on the spread of forms are compared with distributions, also with the worst ones.

Coverage is in `tests/statistical/test_pairs.py`, and for variances and small populations here.
False alarms: statistical tests here fail for correct code with probability below 10⁻⁷ in all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import pytest

from epsilons.risk.margins import Estimated
from epsilons.risk.moments.forms import Sizes, VariedForms, WeighedForms, deviation, squares_near
from epsilons.risk.moments.margins import Function
from epsilons.risk.moments.tested import REST, IntervalInputs, VariedTests, WeighedTests
from epsilons.risk.tails.joint import ClosedNoise
from epsilons.risk.weighing import RELATED, UNRELATED, Assumption, Weighing
from epsilons.types import Floats
from tests import coverage

U = np.array([0.5, 0.0, -0.5])
SQUARE = np.array([0.25, -0.25, 0.25])
POPULATION: Final = Assumption("population", False)


def exact(chances: Floats, s: Floats, t: Floats) -> Sizes:
    """The means of products under a distribution: the smallest valid bounds."""
    x, y, both, mixed = (float(chances @ each) for each in (s * s, t * t, np.square(s * t), s * t))
    return Sizes(x, y, math.sqrt(both), mixed, mixed)


def spread(chances: Floats, values: Floats) -> float:
    return math.sqrt(max(float(chances @ np.square(values - chances @ values)), 0.0))


def test_no_form_spreads_more_than_its_bound() -> None:
    """Random distributions of two to six atoms, many of them at corners and on edges."""
    rng = np.random.default_rng(1)
    tight = np.zeros(2)
    for _ in range(4000):
        atoms = int(rng.integers(2, 7))
        chances = rng.dirichlet(np.full(atoms, 0.3))
        m, k = rng.uniform(-0.5, 0.5, 2)
        ranges = ((-0.5 - m, 0.5 - m), (-0.5 - k, 0.5 - k))
        s, t = (
            np.where(rng.random(atoms) < 0.5, rng.choice(both, atoms), rng.uniform(*both, atoms))
            for both in ranges
        )
        form = tuple(rng.normal(size=3) * (rng.random(3) < 0.7))
        slope = -float(chances @ (s * t)) / max(float(chances @ (s * s)), 1e-9)
        for p, q, r in (form, (slope, 1.0, 0.0), (1.0, 0.0, 0.0)):
            true = spread(chances, p * s * s + q * s * t + r * t * t)
            bound = deviation((p, q, r), ranges, exact(chances, s, t))
            assert true <= bound * (1.0 + 1e-9) + 1e-9
            if bound > 1e-6:
                tight[int(q != 0.0)] = max(tight[int(q != 0.0)], true / bound)
    assert (tight > 0.9).all()


def test_the_worst_distributions_attain_the_bounds() -> None:
    """A square takes its mean at 0 and at an end; a product of two lines is 0 or at a corner."""
    ranges = ((-0.5, 0.5), (-0.5, 0.5))
    chances, s = np.array([0.8, 0.1, 0.1]), np.array([0.0, 0.5, -0.5])
    still = np.zeros(3)
    found = deviation((1.0, 0.0, 0.0), ranges, exact(chances, s, still))
    assert found == pytest.approx(spread(chances, s * s))
    # The line t − s is mostly 0, and −1 or 1 otherwise. Then s is at an end.
    s, t = np.array([0.5, -0.5, 0.5, -0.5]), np.array([0.5, -0.5, -0.5, 0.5])
    chances = np.array([0.49, 0.49, 0.01, 0.01])
    sizes = exact(chances, s, t)
    found = deviation((-1.0, 1.0, 0.0), ranges, sizes)
    assert found == pytest.approx(math.sqrt(float(chances @ np.square(s * (t - s)))))
    # A covariance that is not known can be as large as both variances allow.
    assert deviation((-1.0, 1.0, 0.0), ranges, Sizes(sizes.x, sizes.y)) > 2.0 * found
    larger = deviation((1.0, 1.0, 0.0), ranges, Sizes(0.1, 0.1, low=-0.1, high=0.05))
    assert larger == pytest.approx(0.5 * math.sqrt(0.3))


def test_a_mean_that_may_exceed_half_of_the_range_limits_nothing() -> None:
    ranges = ((-0.5, 0.5), (-0.5, 0.5))
    for mean in (0.125, 0.2, 0.25, 1.0):
        assert deviation((1.0, 0.0, 0.0), ranges, Sizes(mean, mean)) == pytest.approx(0.125)


def test_squares_near_a_mean_are_between_three() -> None:
    rng = np.random.default_rng(2)
    x = rng.random(40)
    cells = np.stack([x * x, 2.0 * x * (1.0 - x), (1.0 - x) ** 2])
    for _ in range(50):
        m, far, z = rng.uniform(-0.5, 0.5), rng.uniform(0.0, 0.3), rng.uniform(-1.0, 1.0)
        parts = np.array([(1.0 + z) ** 2 / 4.0, (1.0 - z) ** 2 / 4.0, (1.0 - z * z) / 2.0])
        assert parts.sum() == pytest.approx(1.0)
        between = parts @ np.array(squares_near(m, far)) @ cells
        assert between == pytest.approx(np.square(x - 0.5 - m - z * far), abs=1e-12)


def people(law: str, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Two columns in [−½, ½]: with atoms at both ends, one rare value, or a strong correlation."""
    if law == "atoms":
        x = rng.choice([-0.5, 0.5], n)
        return x, np.where(rng.random(n) < 0.9, x, -x)
    if law == "rare":
        x = np.where(np.arange(n) == 0, 0.5, -0.5)
        return x, x.copy()
    x = rng.random(n) - 0.5
    return x, np.clip(0.8 * x + 0.05 * rng.standard_normal(n), -0.5, 0.5)


def nine(x: Floats, y: Floats) -> Floats:
    first, second = (
        np.stack([z * z, 2.0 * z * (1.0 - z), (1.0 - z) ** 2]) for z in (x + 0.5, y + 0.5)
    )
    return np.asarray((first[:, None, :] * second[None, :, :]).reshape(9, -1))


def weighed(n: int, strict: int, scale: float) -> Weighing:
    """Weights that are small for a few strict people, and sum to one."""
    weights = np.array([0.1, 1.0]) / (n - 0.9 * strict)
    return Weighing(weights, np.array([strict, n - strict]), scale, closed=ClosedNoise(9))


def closed_noise(rng: np.random.Generator, draws: int) -> Floats:
    """Draws of nine Laplace noises that sum to zero, by rejection."""
    first = rng.laplace(size=(8 * draws, 8))
    rest = -first.sum(axis=1)
    kept = rng.random(len(rest)) < np.exp(-np.abs(rest))
    return np.concatenate([first[kept], rest[kept, None]], axis=1)[:draws]


class Case(NamedTuple):
    """People, how many of them are strict, and whether they are a sample."""

    law: str
    n: int
    strict: int
    sampled: bool = False


def drawn(case: Case, runs: int, scale: float) -> Iterator[tuple[WeighedForms, Floats, Floats]]:
    """Yield the margin of each run, with both columns."""
    law, n, strict, sampled = case
    rng = np.random.default_rng([5, n, strict, sampled])
    whole = weighed(n, strict, scale)
    each = np.repeat(whole.weights, whole.counts)
    x, y = people(law, n, rng)
    for noise in closed_noise(rng, runs):
        mixed = rng.integers(0, n, n) if sampled else rng.permutation(n)
        shares = nine(x[mixed], y[mixed]) @ each + scale * noise
        yield WeighedForms(whole, 0.0, 0.0, shares), x, y


CASES: Final = [
    Case("atoms", 20, 1),
    Case("rare", 20, 1),
    Case("rare", 200, 20, sampled=True),
    Case("line", 300, 30),
]


def accepted(margin: WeighedForms, known: IntervalInputs, form: tuple[float, float, float]) -> bool:
    """Whether a form that is zero for the true value is accepted. `test_tested.py` has the ends."""
    value = margin._value(form)
    sign = 1.0 if value < 0.0 else -1.0
    signed = (sign * form[0], sign * form[1], sign * form[2])
    return abs(value) <= margin._reach([signed], known, REST) + 1e-12


def covers(interval: Callable[..., Estimated], *given: Any, true: float) -> bool:
    found = interval(*given)
    return found.low - 1e-12 <= true <= found.high + 1e-12


def all_bounds_hold(margin: WeighedForms, known: IntervalInputs, x: Floats, y: Floats) -> bool:
    sizes = Sizes(*known.squares)
    m, k = (min(max(each, -0.5), 0.5) for each in margin._means)
    real = exact(np.full(len(x), 1.0 / len(x)), x - m, y - k)
    return (
        real.x <= sizes.x
        and real.y <= sizes.y
        and real.both <= sizes.both + 1e-12
        and sizes.low <= real.low <= sizes.high
        and abs(margin._means[0] - x.mean()) <= known.off[0]
        and abs(margin._means[1] - y.mean()) <= known.off[1]
    )


def each_run(case: Case, runs: int, confidence: float) -> Iterator[dict[str, Callable[[], bool]]]:
    asked = POPULATION if case.sampled else UNRELATED, confidence
    for margin, x, y in drawn(case, runs, 0.5 / case.n):
        true = float(np.mean(x * y) - x.mean() * y.mean())
        slope = (-true / x.var(), 1.0, 0.0)
        correlation = (-0.5 * true / x.var(), 1.0, -0.5 * true / y.var())
        known = margin._known(asked[0], 1.0 - confidence)
        yield {
            "bounds": partial(all_bounds_hold, margin, known, x, y),
            "covariance": partial(covers, margin.covariance, *asked, true=true),
            "variance": partial(covers, margin.variance, 0, *asked, true=float(x.var())),
            "slope": partial(accepted, margin, known, slope),
            "correlation": partial(accepted, margin, known, correlation),
        }


def check(case: Case, runs: int, confidence: float = 0.8) -> None:
    """Intervals cover as often as stated, and so do all bounds that tests use, at once.

    All bounds together fail with a tenth of the error probability.
    """
    stated = dict.fromkeys(("covariance", "variance", "slope", "correlation"), confidence)
    stated["bounds"] = 1.0 - 0.1 * (1.0 - confidence)
    coverage.check(each_run(case, runs, confidence), runs, stated, 1e-9)


def test_the_error_of_a_mean_is_that_of_values_with_its_variance() -> None:
    """A bound on a mean and a bound on a variance make each other smaller."""
    whole = replace(weighed(2000, 200, 2e-4), closed=None)
    margin = VariedForms(whole, 0.0, 0.0, np.array([0.1, 0.01 + 0.1**2]), 1.0 / 3.0)
    former = VariedTests(whole, 0.0, 0.0, margin.drawn, 1.0 / 3.0)
    for assumption in (UNRELATED, POPULATION):
        known, plain = (each._known(assumption, 0.05) for each in (margin, former))
        off, square = known.off[0], known.squares[0]
        assert off < 0.5 * plain.off[0]
        assert 0.01 < square < plain.squares[0]
        # The bound is that of a function in a unit range with the standard deviation it allows.
        line = Function(np.array([1.0, 0.0]), 1.0, -0.5, math.sqrt(square - off * off))
        assert margin.far(line, assumption, 0.01 * 0.05) <= off * (1.0 + 1e-9)
        new, old = (each.variance(0, assumption, 0.95) for each in (margin, former))
        assert new.high - new.low < 0.95 * (old.high - old.low)


def test_equal_weights_of_these_people_need_no_squares() -> None:
    whole = Weighing(np.array([1.0 / 900]), np.array([900]), 0.001, closed=ClosedNoise(9))
    rng = np.random.default_rng(6)
    shares = nine(*people("line", 900, rng)).mean(axis=1)
    new, old = (kind(whole, 0.0, 0.0, shares) for kind in (WeighedForms, WeighedTests))
    assert new._known(RELATED, 0.05) == old._known(RELATED, 0.05)
    wide = [np.ptp(each.covariance(RELATED, 0.95).interval) for each in (new, old)]
    assert wide[0] == pytest.approx(wide[1], rel=0.01)


def noisy(scale: float, seen: tuple[float, float]) -> VariedForms:
    """A variance of people with equal weights: only noise is random."""
    whole = Weighing(np.array([1.0 / 500]), np.array([500]), scale)
    return VariedForms(whole, 0.0, 0.0, np.array(seen), 1.0 / 3.0)


MEANS: Final = pytest.mark.parametrize("m", [0.0, 0.15, -0.47])


def test_impossible_draws_have_intervals_within_the_range() -> None:
    for seen in ((0.0, -0.5), (0.0, 0.9), (3.0, 0.1), (-3.0, 9.2), (0.0, math.inf), (1e200, 0.0)):
        for scale in (0.001, 0.5, math.inf):
            low, high = noisy(scale, seen).variance(0, RELATED, 0.95).interval
            assert 0.0 <= low <= high <= 0.25
    assert noisy(0.001, (0.0, math.inf)).variance(0, RELATED, 0.95).interval == (0.0, 0.25)
    assert noisy(math.inf, (0.0, 0.1)).variance(0, RELATED, 0.95).interval == (0.0, 0.25)
