"""The local model: bias, forecast errors, coverage, and the experiment of paper *local*.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁶: about 400 comparisons at 10⁻⁹ each (six standard errors,
or the exact binomial tail). Ratios of measured errors have a larger tolerance.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep
from epsilons import local
from epsilons.local.draws import directions
from epsilons.local.reports import Reports
from epsilons.risk.local import ReportedVector, Sums, mean_dot

BUDGETS = [0.05, 0.5, 1.0, 3.0, 8.0]
TAIL = 1e-9
SIX = 6.0


def off(estimate: Any, truth: Any, risk: float, cells: int = 1) -> float:
    """Return the largest error over all coordinates, divided by the worst-case standard error."""
    return float(np.max(np.abs(np.asarray(estimate) - truth)) / math.sqrt(risk / cells))


def sums_of(release: ep.Release) -> Sums:
    margin = release.estimate.margin
    assert isinstance(margin, ReportedVector)
    return margin.sums


@pytest.mark.parametrize("dimension", [1, 10, 100])
def test_the_printed_radius_fails_the_test_of_bias(dimension: int) -> None:
    """The printed radius of Algorithm 4 is twice the correct one, and fails the test above."""
    d = dimension
    log = math.lgamma((d - 1) / 2 + 1) - math.lgamma(d / 2 + 1)
    printed = d * math.sqrt(math.pi) * math.exp(log)
    assert printed * mean_dot(d) == pytest.approx(2.0)
    many, epsilon = 40_000, 3.0
    x = np.zeros(d)
    x[0] = 0.9
    vector = local.Vector(d, radius=0.9, method="duchi")
    release = vector.estimate(vector.randomize_many(np.tile(x, (many, 1)), epsilon, ep.Seeded(1)))
    sums = sums_of(release)
    proxy = 0.81 * sums.proxy / sums.weight**2
    wrong = release.raw * (printed * mean_dot(d))
    assert np.max(np.abs(wrong - x)) > 2.0 * SIX * math.sqrt(4.0 * proxy)


@pytest.mark.parametrize("epsilon", BUDGETS)
@pytest.mark.parametrize("method", ["hadamard", "projection", "rappor"])
@pytest.mark.parametrize("cells", [2, 3, 10, 16])
def test_frequencies_are_unbiased(epsilon: float, method: str, cells: int) -> None:
    many = 30_000
    shares = local.Frequencies(cells, method, public_seed=5)
    values = np.minimum(np.arange(many) % (2 * cells), cells - 1)
    release = shares.estimate(shares.randomize_many(values, epsilon, ep.Seeded(cells)))
    truth = np.bincount(values, minlength=cells) / many
    assert off(release.raw, truth, release.risk) < SIX


MIXED = np.concatenate([np.full(150, 0.1), np.full(120, 1.0), np.full(30, 4.0), [0.0, math.inf]])


def errors(name: str, weights: str, runs: int, seed: int) -> tuple[np.ndarray, Any]:
    """Return the errors of many estimates from samples of a population, and the last release."""
    rng = np.random.default_rng(seed)
    n = len(MIXED)
    found = []
    menu = MIXED.tolist()
    release: Any = None
    for run in range(runs):
        source = ep.Seeded(1000 * seed + run)
        mechanism: Any
        values: Any
        truth: Any
        if name == "bit":
            mechanism, values, truth = local.Bit(levels=menu), rng.random(n) < 0.5, 0.5
        elif name == "mean":
            mechanism = local.Mean((0, 1), levels=menu)
            values, truth = (rng.random(n) < 0.5) * 1.0, 0.5
        elif name == "laplace":
            mechanism = local.Mean((0, 1), method="laplace", levels=menu)
            values, truth = (rng.random(n) < 0.5) * 1.0, 0.5
        elif name == "vector":
            mechanism, truth = local.Vector(4, levels=menu), np.array([0.2, 0, 0, 0])
            values = np.zeros((n, 4))
            values[np.arange(n), rng.integers(0, 4, n)] = rng.choice([-1.0, 1.0], n)
            values[rng.random(n) < 0.2] = [1.0, 0, 0, 0]
        else:
            mechanism = local.Frequencies(4, name, levels=menu)
            truth = np.array([0.5, 0.5, 0.0, 0.0])
            values = rng.integers(0, 2, n)
        reports = mechanism.randomize_many(values, MIXED, source)
        release = mechanism.estimate(reports, weights=weights)
        found.append(np.asarray(release.raw) - truth)
    return np.array(found), release


def reach(release: Any, confidence: float) -> float:
    proxy = release.estimate.margin.sums.proxy + release.estimate.margin.sums.bounded
    return (
        math.sqrt(2.0 * proxy * math.log(2.0 / (1.0 - confidence)))
        / release.estimate.margin.sums.weight
    )


def test_a_radius_without_its_constant_would_be_noticed() -> None:
    """The test of coverage has power: intervals of half the width would fail it."""
    found, release = errors("bit", "variance", 400, seed=3)
    missed = np.abs(found) > 0.5 * release.estimate.margin.reach(release.bounds, 0.9)
    assert missed.sum() > float(binom.ppf(1.0 - TAIL, 400, 0.1))


def test_the_server_and_the_person_see_the_same_directions() -> None:
    """The server computes the directions of a report from its public seed alone."""
    vector = local.Vector(6, method="duchi")
    report = vector.randomize([0.5] * 4 + [0.0] * 2, 2.0, ep.Seeded(2))
    assert isinstance(report, Reports)
    seed, answer = report.columns[2], report.columns[3]
    side = directions(seed, 1, 6)[0, 0] * (1.0 if answer[0] else -1.0)
    raw = vector.estimate(report).raw
    length = 1.0 / (mean_dot(6) * math.tanh(1.0))
    np.testing.assert_allclose(raw, length * side, rtol=1e-5, atol=1e-6)


def law_of(channel: Any) -> dict[Any, np.ndarray]:
    """Return the distribution of the answer for each input of a channel."""
    return {
        value: np.array([chance / channel.total for chance in row])
        for value, row in zip(channel.inputs, channel.chances, strict=True)
    }


def near(counts: np.ndarray, law: np.ndarray) -> bool:
    """Return whether shares are within six standard errors of a distribution, in every cell."""
    many = counts.sum()
    return bool(
        np.all(np.abs(counts / many - law) < SIX * np.sqrt(law * (1.0 - law) / many) + 1e-12)
    )


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_what_is_drawn_is_what_the_checker_reads(epsilon: float) -> None:
    """Complete reports have the distribution in the tables that the checker verified."""
    many = 60_000
    law = law_of(local.Bit().channel(epsilon))
    for value in (0, 1):
        (bits,) = local.Bit().randomize_many(np.full(many, value), epsilon, ep.Seeded(5)).columns
        assert near(np.bincount(bits, minlength=2), law[value])
        assert not near(np.bincount(bits, minlength=2), law[1 - value])
    mean = local.Mean((0, 1), method="bit")
    for value, row in law_of(mean.channel(epsilon)).items():
        values = np.full(many, value / 2.0**30)
        bits, _ = mean.randomize_many(values, epsilon, ep.Seeded(6)).columns
        assert near(np.bincount(bits, minlength=2), row)
    shares = local.Frequencies(5)
    for value, row in law_of(shares.channel(epsilon)).items():
        index, bits = shares.randomize_many(np.full(many, value), epsilon, ep.Seeded(7)).columns
        answers = 2 * (index.astype(np.int64) - 1) + bits
        assert near(np.bincount(answers, minlength=14), row)
    rappor = local.Frequencies(3, "rappor")
    for value, row in law_of(rappor.channel(epsilon)).items():
        (bits,) = rappor.randomize_many(np.full(many, value), epsilon, ep.Seeded(8)).columns
        assert near(np.bincount(bits @ np.array([1, 2, 4]), minlength=8), row)
    projection = local.Frequencies(4, "projection", 3)
    index, bits = projection.randomize_many(np.full(many, 2), epsilon, ep.Seeded(9)).columns
    right = projection._minus(index, np.full(many, 2)) == bits
    assert near(np.bincount(right, minlength=2), law[1])
    vector = local.Vector(3)
    cap = vector.cap(epsilon)
    x = np.array([0.6, 0.0, -0.8])
    columns = vector.randomize_many(np.tile(x, (many, 1)), epsilon, ep.Seeded(10)).columns
    dots = directions(columns[2], cap.signs, 3) @ x
    plain = ((dots >= 0.0) << np.arange(cap.signs)).sum(axis=1)
    masks = np.bincount(plain ^ columns[3].astype(np.int64), minlength=cap.answers)
    assert near(masks, law_of(cap.channel(epsilon))[0])
