"""Joint ranges of several releases cover all values simultaneously, as often as stated.

Each test fails with probability below 10⁻⁹ if the ranges cover as stated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import epsilons as ep

pytestmark = pytest.mark.statistical

N = 500
VALUES = np.random.default_rng(5).uniform(0.0, 100.0, N)
MEAN = ep.Mean(VALUES, bounds=(0, 100))
SHARES = ep.Frequencies(
    [("a", "b", "c", "d")[k % 4] for k in range(N)], categories=["a", "b", "c", "d"]
)
RUNS = 300


def _missed(ranges: Any, truth: list[Any]) -> bool:
    return any(
        bool(np.any((np.asarray(low) > true) | (np.asarray(high) < true)))
        for (low, high), true in zip(ranges, truth, strict=True)
    )


def test_all_ranges_hold_at_once() -> None:
    """Joint ranges cover all values simultaneously, and separate ranges do not.

    Everyone has the same budget, so only the noise is random. The confidence is 50 %.
    """
    truth = [float(VALUES.mean()), np.full(4, 0.25)]
    joint = apart = 0
    for seed in range(RUNS):
        releases = ep.publish([MEAN, SHARES], epsilon=0.2, source=ep.Seeded(seed))
        joint += _missed([each[1:] for each in releases.band(0.5)], truth)
        apart += _missed([releases[0].interval(0.5), releases[1].band(0.5)], truth)
    most = int(binom.isf(1e-9, RUNS, 0.5))
    assert joint <= most
    assert apart > most
