"""The sampling auditor: its bounds, its power, and its error rate.

The tests are seeded, so results are reproducible. With a new seed, correct code would fail any test
here or in test_auditing_outputs.py with probability below 10⁻⁶. Each check that a loss is at most
the budget has false-alarm probability 10⁻⁹. The number of false flags is compared with a binomial
tail of 10⁻⁸. Every required power is at least five standard errors below the expected one, with one
exception: at ε = 0.1, an audit finds less than 0.8·ε with probability about 3·10⁻⁴ (3.4 standard
errors, from 200 runs). So there, three of four audits must find 0.8·ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import binom

import epsilons as ep
from epsilons.draws.mechanisms import SumAndSquares
from epsilons.draws.noise import DiscreteLaplace
from epsilons.verify.auditing import Audit, audit
from epsilons.verify.fit import lower_log_odds
from tests.tallied import tallied

Sampler = Callable[[int], Any]
SURE = 1e-9


def laplace(source: ep.Seeded, scale: int, centre: int = 0) -> Sampler:
    law = DiscreteLaplace(Fraction(scale))
    return lambda size: law.draw(source, size) + centre


def audited(budget: float, loss: float, seed: int, **options: Any) -> Audit:
    """Return the audit of a Laplace release with the given loss and a claimed budget."""
    source, scale = ep.Seeded(seed), 2**20
    far = round(loss * scale)
    first, second = laplace(source, scale), laplace(source, scale, far)
    return audit(first, second, epsilon=budget, seed=seed, **options)


def within(found: Audit, loss: float) -> bool:
    """Return whether the guesses are consistent with a loss, with false-alarm probability 10⁻⁹."""
    return lower_log_odds(found.right, found.guesses, SURE) <= loss


LEVELS = (0.3, 1.0, 3.0)


def neighbours(mechanism: SumAndSquares, level: int, seed: int) -> tuple[Sampler, Sampler]:
    """Return samplers for two data sets in which one person is at opposite bounds.

    At both bounds, the square of the value is the same.
    """
    source, sums = ep.Seeded(seed), mechanism.counts * (mechanism.grid // 3)
    other = sums.copy()
    other[level] += mechanism.grid
    squares = mechanism.counts * (mechanism.grid // 9)
    one, two = (mechanism.total(tallied(sums=each, squares=squares)) for each in (sums, other))
    return (
        lambda size: mechanism.draw(source, size, total=one),
        lambda size: mechanism.draw(source, size, total=two),
    )


def told(rng: np.random.Generator, quarters: int) -> Sampler:
    return lambda size: rng.integers(0, 4, size) < quarters


def test_a_randomized_bit() -> None:
    rng = np.random.default_rng(1)
    found = audit(told(rng, 3), told(rng, 1), epsilon=math.log(3), samples=100_000)
    assert found.event == "guess first if the output is 1, second if it is 0"
    assert found.guesses == 50_000
    assert 0.95 * math.log(3) <= found.loss
    assert within(found, math.log(3))
    assert not audit(told(rng, 3), told(rng, 1), epsilon=0.9, samples=100_000).passes


FLAGS = 0.1


def flags(play: Callable[[int], Audit], repeats: int = 400) -> tuple[int, int]:
    """Return the number of audits that raise a flag, and the largest allowed number."""
    most = int(binom.isf(1e-8, repeats, FLAGS))
    return sum(not play(seed).passes for seed in range(repeats)), most


def test_leaks_are_found() -> None:
    rng, source = np.random.default_rng(5), ep.Seeded(5)
    second, size = laplace(source, 1000, centre=100), 400_000

    def rare(count: int) -> Any:
        return np.where(rng.random(count) < 1e-3, 77_777, laplace(source, 1000)(count))

    assert audit(rare, second, epsilon=0.1, samples=size).loss > 1.0

    def coarse(centre: int) -> Sampler:
        return lambda count: 2 * laplace(source, 1000)(count) + centre

    found = audit(coarse(0), coarse(1), epsilon=0.1, samples=size)
    assert found.loss > 8.0
    assert "last binary digits" in found.event

    def floating(centre: float) -> Sampler:
        return lambda count: rng.laplace(centre, 1.0, count)

    found = audit(floating(0.0), floating(1.0), epsilon=1.0, samples=size)
    assert found.loss > 5.0
    assert "last binary digits" in found.event

    def gaussian(centre: float) -> Sampler:
        return lambda count: np.rint(rng.normal(centre, 1e5, count)).astype(np.int64)

    assert audit(gaussian(0.0), gaussian(1e5), epsilon=1.0, samples=size).loss > 2.0

    def failing(chance: float) -> Sampler:
        return lambda count: np.where(rng.random(count) < chance, np.nan, 0.5)

    found = audit(failing(0.1), failing(0.0), epsilon=1.0, samples=size)
    assert found.loss > 5.0
