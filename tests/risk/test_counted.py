"""Noisy counts of people give a bound on the distance between the weighted mean and the mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from epsilons.risk.counted import LevelCount


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(0, 60), min_size=1, max_size=4),
    data=st.data(),
)
def test_the_distance_of_the_weighted_mean_is_bounded(counts: list[int], data: Any) -> None:
    """The bound is at least ½Σ|k/Σk − 1/n| over people of weight k, even if counts are noisy."""
    weights = sorted(data.draw(st.lists(st.integers(1, 9), min_size=4, max_size=4)))
    k = np.repeat(weights[: len(counts)], counts).astype(float)
    if len(k) == 0:
        return
    apart = 0.5 * np.abs(k / k.sum() - 1.0 / len(k)).sum()
    noise = data.draw(st.lists(st.integers(-3, 3), min_size=4, max_size=4))
    noisy = tuple(c + e for c, e in zip(counts, noise, strict=False))
    found = LevelCount(noisy, (0.5,) * len(counts), np.array(weights[: len(counts)]))
    assert found.bias(0.05) >= apart - 1e-12
    sharp = LevelCount(tuple(counts), (1e9,) * len(counts), np.array(weights[: len(counts)]))
    assert sharp.bias(0.05) >= apart - 1e-12
