"""Frequencies: bias, coverage of intervals and bands, and measured errors of all rules.

Seeds are fixed, so results are reproducible. With random seeds, correct code would fail at least
one test here with probability below 10⁻⁶: about 60 comparisons at 10⁻⁹ each (six standard errors,
or the exact binomial tail). Ratios of measured errors have a larger tolerance.
"""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
from scipy.stats import binom

import epsilons as ep
from epsilons import risk
from epsilons.papers.sampling import coins_at
from epsilons.results.release import Release
from epsilons.risk import ClosedNoise
from epsilons.risk.goals import CellsGoal
from epsilons.risk.shares import WeighedCells
from epsilons.risk.weighing import RELATED, SAMPLE, UNRELATED, Assumption
from tests.profiles import ORDINARY

RUNS = 10_000
TAIL = 1e-9


SHARES = {
    "two heavy": (0.5, 0.5, 0.0, 0.0),
    "even": (0.25,) * 4,
    "one rare": (0.9, 0.06, 0.04, 0.0),
}


def released(profile: str, assumption: Assumption) -> Release:
    budgets = ORDINARY[profile]
    epsilon = np.repeat(budgets.levels, budgets.counts)
    values = np.arange(len(epsilon)) % 4
    return ep.frequencies(
        values, epsilon=epsilon, categories=range(4), source=ep.Seeded(1), **asdict(assumption)
    )


def errors_of(
    release: Release, assumption: Assumption, shares: tuple[float, ...], seed: int
) -> np.ndarray:
    """Return the errors by run and category, with noise drawn by the mechanism."""
    mechanism = release.mechanism
    noise = mechanism.draw(ep.Seeded(seed), RUNS).astype(np.float64) / float(mechanism.divisor)
    return noise + data_errors(release, assumption, shares, seed)


def data_errors(
    release: Release, assumption: Assumption, shares: tuple[float, ...], seed: int
) -> np.ndarray:
    """Return the errors without noise. If budgets are related, people are in the worst order."""
    mechanism = release.mechanism
    rng = np.random.default_rng(seed)
    counts = mechanism.counts
    n = int(counts.sum())
    people = np.floor(np.array(shares) * n).astype(np.int64)
    people[0] += n - people.sum()
    truth = people / n
    if assumption == SAMPLE:
        truth = np.array(shares)
        cells = rng.multinomial(counts[None, :].repeat(RUNS, axis=0), shares)
    elif assumption == UNRELATED:
        cells = np.zeros((RUNS, len(counts), 4), dtype=np.int64)
        left = np.broadcast_to(counts, (RUNS, len(counts))).copy()
        for j, size in enumerate(people.tolist()):
            # Draw without replacement, level by level, for all runs simultaneously.
            wanted, others = np.full(RUNS, size), left.sum(axis=1)
            for level in range(len(counts)):
                own = left[:, level]
                others = others - own
                taken = rng.hypergeometric(own, others, wanted)
                cells[:, level, j] = taken
                wanted = wanted - taken
            assert not wanted.any()
            left -= cells[:, :, j]
    else:  # the worst order: people with large weights in one category, the others in another
        heavy = mechanism.weighing.weights > 1.0 / n
        one = np.zeros((len(counts), 4), dtype=np.int64)
        one[:, 0], one[:, 1] = np.where(heavy, counts, 0), np.where(heavy, 0, counts)
        truth = one.sum(axis=0) / n
        cells = np.broadcast_to(one, (RUNS, *one.shape))
    total = np.einsum("rlc,l->rc", cells.astype(np.float64), mechanism.weights.astype(np.float64))
    return np.asarray(total / float(mechanism.divisor) - truth)


def closed_noise(k: int, seed: int) -> np.ndarray:
    """Draw noise of scale 1 that sums to zero, by rejection.

    The last of k components is minus the sum of the others, and is accepted with probability
    e^{−|last|}.
    """
    rng = np.random.default_rng(seed)
    first = rng.laplace(size=(20 * RUNS, k - 1))
    last = -first.sum(axis=1)
    kept = rng.random(len(last)) < np.exp(-np.abs(last))
    return np.column_stack([first, last])[kept][:RUNS]


def test_noise_of_its_own_in_each_cell_is_not_covered_by_bands_that_sum_to_zero() -> None:
    """Power: bands for noise that sums to zero do not cover independent noise of the same scale."""
    release = released("half strict", RELATED)
    weighing = replace(release.mechanism.weighing, closed=ClosedNoise(4))
    noise = np.random.default_rng(5).laplace(0.0, weighing.scale, (RUNS, 4))
    errors = noise + data_errors(release, RELATED, SHARES["even"], seed=4)
    worst = WeighedCells(weighing, release.mechanism.slack, 4).worst(RELATED, 0.9)
    assert (np.abs(errors).max(axis=1) > worst).sum() > binom.isf(TAIL, RUNS, 0.1)


def test_intervals_of_sampled_people_cover() -> None:
    """Intervals cover if sampling keeps half of the people.

    Here, budgets determine people's categories.
    """
    budgets = ep.Budgets({1.0: 2000, 1.7: 2000})
    mechanism = coins_at(budgets, CellsGoal(RELATED, "mse", 0.95, 2), 1.7).cells(2)
    assert mechanism.keep is not None
    keep, weight = float(mechanism.keep[0]), int(mechanism.weights.max())
    rng = np.random.default_rng(9)
    kept = rng.binomial(2000, keep, RUNS)
    noise = mechanism.draw(ep.Seeded(9), RUNS)[:, 0].astype(np.float64)
    error = (weight * kept + noise) / float(mechanism.divisor) - 0.5
    reach = risk.share_error(mechanism.weighing, RELATED, 0.95) + mechanism.slack
    assert (np.abs(error) > reach).sum() <= binom.isf(TAIL, RUNS, 0.05)
